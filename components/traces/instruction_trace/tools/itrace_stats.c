/* Sets are the only thing that grows, with what a kernel touches; those of one kernel are kept
 * until the next one is read. */
#include "components/traces/instruction_trace/tools/itrace_stats.h"

#include <string.h>

#include "components/traces/instruction_trace/reader/itrace_memory.h"

struct collector {
    struct sass_stats stats;
    struct sass_set lines;
    struct sass_set chunks; /* 64 bytes each; a bit for each address referred to */
    unsigned line_bits;
};

/* Lines that one instruction touches, each once. An access may lie on both sides of a line's end.
 */
static void add_lines(struct collector *c, const uint64_t *lines, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        bool is_new = true;
        for (unsigned j = i; j > 0 && is_new; j--)
            is_new = lines[j - 1] != lines[i];
        if (!is_new)
            continue;
        c->stats.line_references++;
        sass_set_add(&c->lines, lines[i]);
    }
}

static void add_accesses(struct collector *c, const struct sass_trace *t)
{
    const struct sass_step *step = &t->step;
    uint64_t lines[2 * SASS_MAX_LANES];
    unsigned count = 0;
    for (unsigned i = 0; i < step->count; i++) {
        uint64_t address = step->address[i];
        enum sass_space space = sass_trace_space(t, step->inst, address);
        c->stats.references[space]++;
        if (space != SASS_SPACE_GLOBAL)
            continue;
        *sass_set_add(&c->chunks, address >> 6) |= UINT64_C(1) << (address & 63);
        uint64_t first = address >> c->line_bits;
        uint64_t last = (address + step->inst->width - 1) >> c->line_bits;
        lines[count++] = first;
        if (last != first)
            lines[count++] = last;
    }
    add_lines(c, lines, count);
}

static void add_step(struct collector *c, const struct sass_trace *t)
{
    c->stats.steps++;
    c->stats.lanes += (uint64_t)__builtin_popcountll(t->step.mask);
    c->stats.by_class[t->step.inst->opcode.unit]++;
    uint64_t before = c->stats.line_references;
    if (t->step.count)
        add_accesses(c, t);
    if (!sass_arch_is_amd(t->program.arch) || !t->step.inst->known)
        return;
    c->stats.by_unit[t->step.inst->opcode.amd_unit]++;
    if (t->step.inst->opcode.amd_unit == ISA_UNIT_VMEM)
        c->stats.vector_line_references += c->stats.line_references - before;
}

static bool collect(struct collector *c, struct sass_trace *t)
{
    enum sass_event event;
    while ((event = sass_trace_next(t)) != SASS_END) {
        if (event == SASS_ERROR)
            return false;
        if (event == SASS_STEP)
            add_step(c, t);
        c->stats.warps += event == SASS_WARP;
        c->stats.blocks += event == SASS_BLOCK;
    }
    return true;
}

bool sass_stats_add(struct sass_stats_run *run, struct sass_trace *t)
{
    struct collector c = {.line_bits = (unsigned)__builtin_ctz(run->line_bytes)};
    bool ok = collect(&c, t);
    if (ok) {
        struct sass_stats *s = &c.stats;
        s->kernel = sass_copy_text(t->header.kernel_name, strlen(t->header.kernel_name));
        s->file = sass_copy_text(t->path, strlen(t->path));
        s->arch = t->program.arch;
        s->kernel_id = t->header.kernel_id;
        s->static_count = t->program.count;
        s->lines = c.lines.count;
        s->addresses = sass_set_bits(&c.chunks);
        s->common_before = sass_set_common(&c.lines, &run->before);
        if (run->count)
            run->kernels[run->count - 1].common_behind = s->common_before;
        run->kernels =
            sass_reserve(run->kernels, run->count + 1, &run->capacity, sizeof *run->kernels);
        run->kernels[run->count++] = *s;
        sass_set_release(&run->before);
        run->before = c.lines;
    } else {
        sass_set_release(&c.lines);
    }
    sass_set_release(&c.chunks);
    return ok;
}

void sass_stats_release(struct sass_stats_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        sass_free(run->kernels[i].kernel);
        sass_free(run->kernels[i].file);
    }
    sass_free(run->kernels);
    sass_set_release(&run->before);
    *run = (struct sass_stats_run){0};
}

static double ratio(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

double sass_stats_forward(const struct sass_stats *stats)
{
    return ratio(stats->common_behind, stats->lines);
}

double sass_stats_backward(const struct sass_stats *stats)
{
    return ratio(stats->common_before, stats->lines);
}

double sass_stats_degree(const struct sass_stats *stats)
{
    return ratio(stats->references[SASS_SPACE_GLOBAL], stats->addresses);
}
