/* Three tables for people: instructions by class, memory, reuse. CSV has one row for each kernel
 * with everything. A ratio has six digits after the point, which all hosts print alike. */
#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "codegen/views/escape.h"
#include "dsl/source.h"

#include "command_trace.h"

static int file_width(const struct itrace_stats_run *run)
{
    int width = 6;
    for (size_t i = 0; i < run->count; i++) {
        int size = (int)strlen(source_base_name(run->kernels[i].file));
        width = max(size, width);
    }
    return width;
}

/* The sums of all kernels; sets are not summed up, kernels share lines. */
static struct itrace_stats total_of(const struct itrace_stats_run *run)
{
    struct itrace_stats total = {0};
    for (size_t i = 0; i < run->count; i++) {
        const struct itrace_stats *s = &run->kernels[i];
        total.steps += s->steps;
        total.lanes += s->lanes;
        for (int c = 0; c < SASS_CLASS_COUNT; c++)
            total.by_class[c] += s->by_class[c];
        for (int p = 0; p < ITRACE_SPACE_COUNT; p++)
            total.references[p] += s->references[p];
    }
    return total;
}

static void print_class_row(const struct itrace_stats *s, const struct itrace_stats *total,
                            const char *name, int width, FILE *out)
{
    fprintf(out, "  %-*s %10" PRIu64 " %11" PRIu64, width, name, s->steps, s->lanes);
    for (int c = 0; c < SASS_CLASS_COUNT; c++)
        if (total->by_class[c])
            fprintf(out, " %9" PRIu64, s->by_class[c]);
    fputc('\n', out);
}

static void print_classes(const struct itrace_stats_run *run, int width, FILE *out)
{
    struct itrace_stats total = total_of(run);
    fprintf(out, "instructions of warps (all classes), of threads, and of warps by class\n");
    fprintf(out, "  %-*s %10s %11s", width, "kernel", "warps", "threads");
    for (int c = 0; c < SASS_CLASS_COUNT; c++)
        if (total.by_class[c])
            fprintf(out, " %9s", sass_class_name((enum sass_class)c));
    fputc('\n', out);
    for (size_t i = 0; i < run->count; i++)
        print_class_row(&run->kernels[i], &total, source_base_name(run->kernels[i].file), width,
                        out);
    if (run->count > 1)
        print_class_row(&total, &total, "all", width, out);
}

static void print_memory(const struct itrace_stats_run *run, int width, FILE *out)
{
    fprintf(out,
            "\nreferences of threads, and what they touch of global memory in lines of %" PRIu32
            " bytes\n",
            run->line_bytes);
    fprintf(out, "  %-*s %10s %10s %10s %10s %10s %10s %12s\n", width, "kernel", "shared", "local",
            "global", "addresses", "line refs", "lines", "footprint");
    for (size_t i = 0; i < run->count; i++) {
        const struct itrace_stats *s = &run->kernels[i];
        fprintf(out,
                "  %-*s %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64
                " %10" PRIu64 " %12" PRIu64 "\n",
                width, source_base_name(s->file), s->references[ITRACE_SPACE_SHARED],
                s->references[ITRACE_SPACE_LOCAL], s->references[ITRACE_SPACE_GLOBAL], s->addresses,
                s->line_references, s->lines, s->lines * run->line_bytes);
    }
}

static void print_reuse(const struct itrace_stats_run *run, int width, FILE *out)
{
    fprintf(out, "\nreuse: degree (references / addresses), lines shared with the kernel after and "
                 "before / lines\n");
    fprintf(out, "  %-*s %10s %10s %10s  %s\n", width, "kernel", "degree", "forward", "backward",
            "name");
    for (size_t i = 0; i < run->count; i++) {
        const struct itrace_stats *s = &run->kernels[i];
        fprintf(out, "  %-*s %10.4f %10.4f %10.4f  %s\n", width, source_base_name(s->file),
                itrace_stats_degree(s), itrace_stats_forward(s), itrace_stats_backward(s),
                s->kernel);
    }
}

void command_trace_print(const struct itrace_stats_run *run, FILE *out)
{
    int width = file_width(run);
    print_classes(run, width, out);
    print_memory(run, width, out);
    print_reuse(run, width, out);
}

void command_trace_print_csv(const struct itrace_stats_run *run, FILE *out)
{
    fputs("file,kernel,id,architecture,blocks,warps,static,warp_instructions,thread_instructions",
          out);
    for (int c = 0; c < SASS_CLASS_COUNT; c++)
        fprintf(out, ",%s", sass_class_name((enum sass_class)c));
    fputs(",global_references,shared_references,local_references,addresses,line_references,lines,"
          "footprint_bytes,common_forward,common_backward,degree_of_reuse,forward_reuse,"
          "backward_reuse\n",
          out);
    for (size_t i = 0; i < run->count; i++) {
        const struct itrace_stats *s = &run->kernels[i];
        escape_csv(out, source_base_name(s->file), ",");
        escape_csv(out, s->kernel, "");
        fprintf(out, ",%" PRIu64 ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
                s->kernel_id, itrace_arch_name(s->arch), s->blocks, s->warps, s->static_count,
                s->steps, s->lanes);
        for (int c = 0; c < SASS_CLASS_COUNT; c++)
            fprintf(out, ",%" PRIu64, s->by_class[c]);
        fprintf(out,
                ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
                ",%" PRIu64 ",%" PRIu64 ",%.6f,%.6f,%.6f\n",
                s->references[ITRACE_SPACE_GLOBAL], s->references[ITRACE_SPACE_SHARED],
                s->references[ITRACE_SPACE_LOCAL], s->addresses, s->line_references, s->lines,
                s->lines * run->line_bytes, s->common_behind, s->common_before,
                itrace_stats_degree(s), itrace_stats_forward(s), itrace_stats_backward(s));
    }
}
