/* What limits a kernel, in words. See report.h.
 *
 * Each rule is a record: the share of what decides it, the least share in per cent at which it
 * speaks, and its sentence. Rules are asked in order, from the outside to the inside of the
 * machine, and all that apply speak; the last one speaks when no other of the inner ones did. A
 * suggestion is only made where the numbers contain it. */
#include "codegen/report/report.h"

#include <inttypes.h>
#include <string.h>

/* Shares below which nothing is said, in per cent. Chosen, not measured: a third of the time is
 * worth a sentence, a tenth is when it is a known mistake (bank conflicts). */
enum { WORTH_SAYING = 33, WORTH_FIXING = 10, BUSY = 60, IDLE_UNITS = 50, UNBALANCED = 20 };

struct judged {
    const struct report_kernel *k;
    const struct report_occupancy *o;
    unsigned run;
};

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole * 100 : 0;
}

static uint64_t waiting(const struct judged *j, const char *kind)
{
    return report_value(j->k, j->run, "waiting", kind);
}

static double of_wavefronts(const struct judged *j, uint64_t part)
{
    return share(part, j->k->wavefronts[j->run]);
}

/* ---- shares ---- */

static double launch_share(const struct judged *j)
{
    return share(report_value(j->k, j->run, "empty", "launch"), j->k->total[j->run]);
}

static double idle_units_share(const struct judged *j)
{
    const struct report_occupancy *o = j->o;
    bool grid = o->limited_by && strstr(o->limited_by, "grid");
    return grid ? 100 - share(o->unit_cycles, o->all_unit_cycles) - launch_share(j) : 0;
}

/* How much shorter than the longest of the compute units the average of all had wavefronts. Of a
 * grid that leaves units idle anyway, idle_units_share() tells. */
static double unbalanced_share(const struct judged *j)
{
    const struct report_occupancy *o = j->o;
    uint64_t all = o->longest_unit_cycles * o->compute_units;
    return idle_units_share(j) < IDLE_UNITS && all ? 100 - share(o->unit_cycles, all) : 0;
}

static double valu_share(const struct judged *j)
{
    return report_valu_share(j->k, j->run);
}

static double lds_share(const struct judged *j)
{
    return share(j->o->lds_busy, j->o->unit_cycles);
}

/* Bank conflicts matter as much as wavefronts wait for the LDS because of them. */
static double conflict_share(const struct judged *j)
{
    return of_wavefronts(j, waiting(j, "lds_conflict"));
}

static double vmcnt_share(const struct judged *j)
{
    return of_wavefronts(j, waiting(j, "vmcnt"));
}

static double stores_share(const struct judged *j)
{
    return of_wavefronts(j, waiting(j, "stores"));
}

static double scalar_share(const struct judged *j)
{
    return of_wavefronts(j, waiting(j, "lgkmcnt_scalar_memory"));
}

/* Behind an LDS that is busy, wavefronts wait for their turn and not for its latency. */
static double lds_wait_share(const struct judged *j)
{
    return lds_share(j) >= BUSY ? 0 : of_wavefronts(j, waiting(j, "lgkmcnt_lds"));
}

static double barrier_share(const struct judged *j)
{
    return of_wavefronts(j, waiting(j, "barrier"));
}

static double fetch_share(const struct judged *j)
{
    return of_wavefronts(j, waiting(j, "fetch"));
}

static double full_share(const struct judged *j)
{
    return of_wavefronts(j, waiting(j, "vector_memory_full") + waiting(j, "counter_full"));
}

/* Issue and execution, where the ALUs have room: then it is the length of each wavefront's chain of
 * instructions that counts. */
static double own_work_share(const struct judged *j)
{
    uint64_t work =
        report_value(j->k, j->run, "issued", NULL) + report_value(j->k, j->run, "executing", NULL);
    return valu_share(j) < BUSY ? of_wavefronts(j, work) : 0;
}

/* ---- sentences ---- */

/* Hits, and accesses merged into pending misses, of the first cache whose name, without its index,
 * ends a path and is `name`. */
static bool cache_shares(const struct judged *j, const char *name, double *hits, double *merged)
{
    for (uint32_t i = 0; i < j->k->caches.count; i++) {
        const struct report_cache *c = &j->k->caches.items[i];
        const char *dot = strrchr(c->path, '.'), *last = dot ? dot + 1 : c->path;
        uint64_t all = c->hits[j->run] + c->misses[j->run];
        if (strcspn(last, "[") != strlen(name) || strncmp(last, name, strlen(name)) != 0 || !all)
            continue;
        *hits = share(c->hits[j->run], all);
        *merged = share(c->merged[j->run], all);
        return true;
    }
    return false;
}

static bool cache_hits(const struct judged *j, const char *name, double *hits)
{
    double merged;
    return cache_shares(j, name, hits, &merged);
}

/* Would more wavefronts hide the latency, and what keeps them out? Only when slots are left and the
 * grid would fill them. */
static void say_more_wavefronts(const struct judged *j, FILE *out)
{
    const struct report_occupancy *o = j->o;
    static const struct {
        const char *limiter, *words;
        bool plural;
    } reasons[] = {{"vgprs", "vector registers", true},
                   {"sgprs", "scalar registers", true},
                   {"lds", "the LDS", false},
                   {"work_group_slots", "the number of work-groups", false}};
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        if (o->limited_by && strcmp(o->limited_by, reasons[i].limiter) == 0)
            fprintf(out,
                    "; more wavefronts could hide it, but %s let%s only %.1f of %" PRIu64
                    " onto a SIMD",
                    reasons[i].words, reasons[i].plural ? "" : "s",
                    (double)(o->work_groups_per_unit * o->wavefronts_per_work_group)
                        / (double)o->simds,
                    o->slots_per_simd);
    }
}

static void say_launch(const struct judged *j, double value, FILE *out)
{
    (void)j;
    fprintf(out,
            "short for what a launch costs: %.0f %% of the slot-cycles pass before the first "
            "work-group can be placed",
            value);
}

/* "32 work-groups a launch"; a mean that is no whole number has a decimal. */
static void say_work_groups(const struct judged *j, FILE *out)
{
    uint64_t groups = j->k->work_groups[j->run], launches = j->k->launches[j->run];
    fprintf(out, "%.*f work-group%s a launch", groups % launches != 0,
            (double)groups / (double)launches, groups == launches ? "" : "s");
}

static void say_idle_units(const struct judged *j, double value, FILE *out)
{
    fputs("limited by the grid: ", out);
    say_work_groups(j, out);
    fprintf(out, " for %" PRIu64 " compute units, which have none for %.0f %% of the time",
            j->o->compute_units, value);
}

static void say_unbalanced(const struct judged *j, double value, FILE *out)
{
    const struct report_occupancy *o = j->o;
    fprintf(out,
            "unbalanced: one compute unit had wavefronts for %" PRIu64 " cycles, all of them on "
            "average for %.0f %% less; ",
            o->longest_unit_cycles / j->k->launches[j->run], value);
    say_work_groups(j, out);
    fprintf(out, ", of which %" PRIu64 " fit on each", o->work_groups_per_unit);
}

static void say_valu(const struct judged *j, double value, FILE *out)
{
    (void)j;
    fprintf(out,
            "limited by the vector ALUs: they work for %.0f %% of the time in which their "
            "compute unit has wavefronts",
            value);
}

static void say_own_work(const struct judged *j, double value, FILE *out)
{
    double simd_cycles = (double)(j->o->unit_cycles * j->o->simds);
    fprintf(out,
            "limited by the length of the program: wavefronts issue or execute for %.0f %% of "
            "their cycles, while the vector ALUs work for %.0f %% of the time; %.2f wavefronts a "
            "SIMD are too few to fill them",
            value, valu_share(j),
            simd_cycles > 0 ? (double)j->o->wavefront_cycles / simd_cycles : 0);
}

static void say_lds(const struct judged *j, double value, FILE *out)
{
    fprintf(out,
            "limited by the LDS: it works for %.0f %% of the time in which its compute unit "
            "has wavefronts, %.0f %% of that for bank conflicts; for %.0f %% of their cycles "
            "wavefronts wait for it",
            value, share(j->o->lds_conflict, j->o->lds_busy),
            of_wavefronts(j, waiting(j, "lgkmcnt_lds") + waiting(j, "lds_conflict")
                                 + waiting(j, "lds_busy")));
}

static void say_conflicts(const struct judged *j, double value, FILE *out)
{
    fprintf(out,
            "bank conflicts of the LDS cost %.0f %% of the wavefronts' cycles (%.0f %% of the "
            "cycles in which it works): lanes use addresses that differ by multiples of 128 "
            "bytes; rows with a word more would spread them",
            value, share(j->o->lds_conflict, j->o->lds_busy));
}

static void say_vmcnt(const struct judged *j, double value, FILE *out)
{
    double l1, l2, merged;
    fprintf(out, "limited by vector memory: %.0f %% of the wavefronts' cycles wait on vmcnt",
            value);
    if (j->o->memory_instructions)
        fprintf(out, "; an instruction takes %.0f cycles",
                (double)j->o->memory_cycles / (double)j->o->memory_instructions);
    if (cache_shares(j, "l1v", &l1, &merged))
        fprintf(out, "; %.0f %% of the accesses hit in the L1", l1);
    else
        merged = 0;
    if (merged >= 0.5)
        fprintf(out, ", %.0f %% merged there into a pending miss", merged);
    if (cache_hits(j, "l2", &l2))
        fprintf(out, ", %.0f %% of the rest in the L2", l2);
    say_more_wavefronts(j, out);
}

static void say_stores(const struct judged *j, double value, FILE *out)
{
    (void)j;
    fprintf(out,
            "limited by stores: for %.0f %% of their cycles wavefronts are behind s_endpgm and "
            "wait for their stores",
            value);
}

static void say_scalar(const struct judged *j, double value, FILE *out)
{
    double hits;
    fprintf(out,
            "limited by scalar memory: %.0f %% of the wavefronts' cycles wait on lgkmcnt for "
            "scalar loads",
            value);
    if (cache_hits(j, "l1s", &hits))
        fprintf(out, "; %.0f %% of them hit in the scalar cache", hits);
    say_more_wavefronts(j, out);
}

static void say_lds_wait(const struct judged *j, double value, FILE *out)
{
    fprintf(out,
            "limited by the latency of the LDS: %.0f %% of the wavefronts' cycles wait on "
            "lgkmcnt for it",
            value);
    say_more_wavefronts(j, out);
}

static void say_barrier(const struct judged *j, double value, FILE *out)
{
    (void)j;
    fprintf(out,
            "limited by barriers: %.0f %% of the wavefronts' cycles wait at s_barrier for the "
            "slowest of the work-group",
            value);
}

static void say_fetch(const struct judged *j, double value, FILE *out)
{
    double hits;
    fprintf(out, "limited by instruction fetch: %.0f %% of the wavefronts' cycles", value);
    if (cache_hits(j, "l1i", &hits))
        fprintf(out, "; %.0f %% of the fetches hit in the instruction cache", hits);
}

static void say_full(const struct judged *j, double value, FILE *out)
{
    (void)j;
    fprintf(out,
            "limited by the number of vector memory instructions in flight: %.0f %% of the "
            "wavefronts' cycles",
            value);
}

static const struct rule {
    double (*share)(const struct judged *j);
    double least;
    void (*say)(const struct judged *j, double value, FILE *out);
    bool inner; /* about what the wavefronts do */
} rules[] = {
    {launch_share, WORTH_SAYING, say_launch, false},
    {idle_units_share, IDLE_UNITS, say_idle_units, false},
    {unbalanced_share, UNBALANCED, say_unbalanced, false},
    {valu_share, BUSY, say_valu, true},
    {own_work_share, BUSY, say_own_work, true},
    {lds_share, BUSY, say_lds, true},
    {vmcnt_share, WORTH_SAYING, say_vmcnt, true},
    {stores_share, WORTH_SAYING, say_stores, true},
    {scalar_share, WORTH_SAYING, say_scalar, true},
    {lds_wait_share, WORTH_SAYING, say_lds_wait, true},
    {barrier_share, WORTH_SAYING, say_barrier, true},
    {fetch_share, WORTH_SAYING, say_fetch, true},
    {full_share, WORTH_SAYING, say_full, true},
    {conflict_share, WORTH_FIXING, say_conflicts, false},
};

/* The two kinds with most of the wavefronts' cycles. */
static void say_largest(const struct judged *j, const char *indent, FILE *out)
{
    const struct report_row *first = NULL, *second = NULL;
    for (uint32_t i = 0; i < j->k->rows.count; i++) {
        const struct report_row *row = &j->k->rows.items[i];
        if (strcmp(row->group, "issued") && strcmp(row->group, "executing")
            && strcmp(row->group, "waiting"))
            continue;
        if (!first || row->value[j->run] > first->value[j->run]) {
            second = first;
            first = row;
        } else if (!second || row->value[j->run] > second->value[j->run]) {
            second = row;
        }
    }
    if (second && first->value[j->run])
        fprintf(out,
                "%sno single limit: of the wavefronts' cycles %.0f %% are %s.%s, %.0f %% %s.%s\n",
                indent, of_wavefronts(j, first->value[j->run]), first->group, first->kind,
                of_wavefronts(j, second->value[j->run]), second->group, second->kind);
}

void report_print_words(const struct report_kernel *k, unsigned run, const char *indent, FILE *out)
{
    const struct judged j = {k, &k->occupancy[run], run};
    bool inner = false;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        double value = rules[i].share(&j);
        if (value < rules[i].least)
            continue;
        fputs(indent, out);
        rules[i].say(&j, value, out);
        fputc('\n', out);
        inner |= rules[i].inner;
    }
    if (!inner)
        say_largest(&j, indent, out);
}
