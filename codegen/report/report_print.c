/* Tables of kernels, with what limits each in words (report_words.c), and the same as CSV. */
#include "codegen/report/report.h"

#include <inttypes.h>
#include <string.h>

/* One line; `group` of what is printed, for the share among the wavefronts' slot-cycles. */
static void print_line(const struct report *report, const struct report_kernel *k, FILE *out,
                       const char *label, const char *group, const uint64_t value[2])
{
    fprintf(out, "  %-26s %16" PRIu64 " %6.1f %%", label, value[0],
            report_per_cent(value[0], k->total[0]));
    if (report->two) {
        fprintf(out, " %16" PRIu64 " %6.1f %% %+16" PRId64, value[1],
                report_per_cent(value[1], k->total[1]), (int64_t)(value[1] - value[0]));
    } else if (report_is_of_wavefronts(group)) {
        fprintf(out, " %6.1f %%", report_per_cent(value[0], k->wavefronts[0]));
    }
    fputc('\n', out);
}

static void print_rows(const struct report *report, const struct report_kernel *k, FILE *out)
{
    const char *group = "";
    for (uint32_t i = 0; i < k->rows.count; i++) {
        const struct report_row *row = &k->rows.items[i];
        if (strcmp(row->group, group) != 0) {
            group = row->group;
            uint64_t sums[2] = {report_value(k, 0, group, NULL), report_value(k, 1, group, NULL)};
            if (sums[0] || sums[1])
                print_line(report, k, out, group, group, sums);
        }
        if (row->value[0] || row->value[1]) {
            const char *label = arena_printf(report->arena, "  %s", row->kind);
            print_line(report, k, out, label, group, row->value);
        }
    }
    print_line(report, k, out, "all", "", k->total);
}

static void print_occupancy(const struct report_kernel *k, unsigned run, FILE *out)
{
    const struct report_occupancy *o = &k->occupancy[run];
    double simd_cycles = (double)o->unit_cycles * (double)o->simds;
    double all = (double)o->all_unit_cycles * (double)o->simds;
    double most = (double)(o->work_groups_per_unit * o->wavefronts_per_work_group);
    fprintf(out,
            "  occupancy: %.2f wavefronts a SIMD while its compute unit had any, %.2f over all; "
            "%.2f of %" PRIu64 " fit; limited by %s\n",
            simd_cycles > 0 ? (double)o->wavefront_cycles / simd_cycles : 0,
            all > 0 ? (double)o->wavefront_cycles / all : 0, o->simds ? most / (double)o->simds : 0,
            o->slots_per_simd, o->limited_by ? o->limited_by : "nothing known");
    fprintf(out,
            "  a work-group: %" PRIu64 " wavefronts with %" PRIu64 " vector and %" PRIu64
            " scalar registers each, %" PRIu64 " bytes of LDS\n",
            o->wavefronts_per_work_group, o->vgprs, o->sgprs, o->lds_bytes);
}

static void print_units(const struct report_kernel *k, unsigned run, FILE *out)
{
    const struct report_occupancy *o = &k->occupancy[run];
    fprintf(
        out,
        "  units, while their compute unit had wavefronts: vector ALUs work %.1f %%, LDS %.1f %%\n",
        report_valu_share(k, run), report_per_cent(o->lds_busy, o->unit_cycles));
    if (o->memory_instructions)
        fprintf(out,
                "  vector memory: %" PRIu64
                " instructions of %.2f lines, %.0f cycles from issue to "
                "return; %.2f lines a cycle and compute unit\n",
                o->memory_instructions, (double)o->lines / (double)o->memory_instructions,
                (double)o->memory_cycles / (double)o->memory_instructions,
                o->unit_cycles ? (double)o->lines / (double)o->unit_cycles : 0);
}

static void print_caches(const struct report_kernel *k, unsigned run, FILE *out)
{
    for (uint32_t i = 0; i < k->caches.count; i++) {
        const struct report_cache *c = &k->caches.items[i];
        uint64_t all = c->hits[run] + c->misses[run];
        if (!all)
            continue;
        fprintf(out, "  %-34s %12" PRIu64 " accesses, %5.1f %% hit", c->path, all,
                report_per_cent(c->hits[run], all));
        if (c->merged[run])
            fprintf(out, ", %5.1f %% merged into a pending miss, %5.1f %% missed",
                    report_per_cent(c->merged[run], all),
                    report_per_cent(c->misses[run] - c->merged[run], all));
        putc('\n', out);
    }
}

static void print_head(const struct report *report, const struct report_kernel *k, FILE *out)
{
    fprintf(out, "%s\n", k->name);
    for (unsigned run = 0; run < (report->two ? 2u : 1u); run++) {
        fprintf(out,
                "  %s%" PRIu64 " launch%s, %" PRIu64 " cycles, %" PRIu64 " work-groups, %" PRIu64
                " instructions, %.2f wavefront-cycles an instruction\n",
                !report->two ? ""
                : run == 0   ? "a: "
                             : "b: ",
                k->launches[run], k->launches[run] == 1 ? "" : "es", k->cycles[run],
                k->work_groups[run], k->instructions[run],
                k->instructions[run] ? (double)k->wavefronts[run] / (double)k->instructions[run]
                                     : 0);
        if (k->overlapping[run])
            fprintf(out,
                    "  %" PRIu64 " of them while another kernel ran, whose work is in the numbers "
                    "of caches below\n",
                    k->overlapping[run]);
    }
}

void report_print(const struct report *report, FILE *out)
{
    if (!report->kernels.count)
        fprintf(out, "no kernel has ended\n");
    for (uint32_t i = 0; i < report->kernels.count; i++) {
        const struct report_kernel *k = &report->kernels.items[i];
        if (i)
            fputc('\n', out);
        print_head(report, k, out);
        fprintf(out, "\n  %-26s %16s %8s", "slot-cycles", report->two ? "a" : "", "of all");
        if (report->two)
            fprintf(out, " %16s %8s %16s\n", "b", "of all", "difference");
        else
            fprintf(out, " %8s\n", "of waves");
        print_rows(report, k, out);
        for (unsigned run = 0; run < (report->two ? 2u : 1u); run++) {
            if (!k->launches[run])
                continue;
            fprintf(out, "%s\n", !report->two ? "" : run == 0 ? "\n  a" : "\n  b");
            print_occupancy(k, run, out);
            print_units(k, run, out);
            print_caches(k, run, out);
            report_print_words(k, run, "  ", out);
        }
    }
}

static void print_csv_name(const char *name, FILE *out)
{
    fputc('"', out);
    for (; *name; name++) {
        if (*name == '"')
            fputc('"', out);
        fputc(*name, out);
    }
    fputc('"', out);
}

void report_print_csv(const struct report *report, FILE *out)
{
    fputs(report->two ? "kernel,group,kind,a,b,difference\n" : "kernel,group,kind,slot_cycles\n",
          out);
    for (uint32_t i = 0; i < report->kernels.count; i++) {
        const struct report_kernel *k = &report->kernels.items[i];
        for (uint32_t r = 0; r < k->rows.count; r++) {
            const struct report_row *row = &k->rows.items[r];
            print_csv_name(k->name, out);
            fprintf(out, ",%s,%s,%" PRIu64, row->group, row->kind, row->value[0]);
            if (report->two)
                fprintf(out, ",%" PRIu64 ",%" PRId64, row->value[1],
                        (int64_t)(row->value[1] - row->value[0]));
            fputc('\n', out);
        }
    }
}
