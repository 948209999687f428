/* Only the sets grow, with the lines and pages that a kernel touches. The sets of one kernel are
 * kept until the next kernel is read. */
#include "itrace_stats.h"

#include <string.h>

#include "base/grow.h"
#include "components/traces/instruction_trace/reader/itrace_memory.h"

struct collector {
    struct itrace_stats stats;
    struct itrace_set lines;
    struct itrace_set chunks; /* 64 bytes each; a bit for each address referred to */
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
        itrace_set_add(&c->lines, lines[i]);
    }
}

static void add_accesses(struct collector *c, const struct itrace *t)
{
    const struct itrace_step *step = &t->step;
    uint64_t lines[2 * ITRACE_LANES_MAX];
    unsigned count = 0;
    for (unsigned i = 0; i < step->count; i++) {
        uint64_t address = step->address[i];
        enum itrace_space space = itrace_space(t, step->inst, address);
        c->stats.references[space]++;
        if (space != ITRACE_SPACE_GLOBAL)
            continue;
        *itrace_set_add(&c->chunks, address >> 6) |= UINT64_C(1) << (address & 63);
        uint64_t first = address >> c->line_bits;
        uint64_t last = (address + step->inst->width - 1) >> c->line_bits;
        lines[count++] = first;
        if (last != first)
            lines[count++] = last;
    }
    add_lines(c, lines, count);
}

static void add_step(struct collector *c, const struct itrace *t)
{
    c->stats.steps++;
    c->stats.lanes += (uint64_t)__builtin_popcountll(t->step.mask);
    c->stats.by_class[t->step.inst->opcode.unit]++;
    if (t->step.count)
        add_accesses(c, t);
}

static bool collect(struct collector *c, struct itrace *t)
{
    enum itrace_event event;
    while ((event = itrace_next(t)) != ITRACE_END) {
        if (event == ITRACE_ERROR)
            return false;
        if (event == ITRACE_STEP)
            add_step(c, t);
        c->stats.warps += event == ITRACE_WARP;
        c->stats.blocks += event == ITRACE_BLOCK;
    }
    return true;
}

bool itrace_stats_add(struct itrace_stats_run *run, struct itrace *t)
{
    struct collector c = {.line_bits = (unsigned)__builtin_ctz(run->line_bytes)};
    bool ok = collect(&c, t);
    if (ok) {
        struct itrace_stats *s = &c.stats;
        s->kernel = itrace_copy_text(t->header.kernel_name, strlen(t->header.kernel_name));
        s->file = itrace_copy_text(t->path, strlen(t->path));
        s->arch = t->program.arch;
        s->kernel_id = t->header.kernel_id;
        s->static_count = t->program.count;
        s->lines = c.lines.entries.count;
        s->addresses = itrace_set_bits(&c.chunks);
        s->common_before = itrace_set_common(&c.lines, &run->before);
        if (run->count)
            run->kernels[run->count - 1].common_behind = s->common_before;
        grow_list(run->kernels, run->count + 1, run->capacity, ITRACE_MEMORY);
        run->kernels[run->count++] = *s;
        itrace_set_release(&run->before);
        run->before = c.lines;
    } else {
        itrace_set_release(&c.lines);
    }
    itrace_set_release(&c.chunks);
    return ok;
}

void itrace_stats_release(struct itrace_stats_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        itrace_free(run->kernels[i].kernel);
        itrace_free(run->kernels[i].file);
    }
    itrace_free(run->kernels);
    itrace_set_release(&run->before);
    *run = (struct itrace_stats_run){0};
}

static double ratio(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

double itrace_stats_forward(const struct itrace_stats *stats)
{
    return ratio(stats->common_behind, stats->lines);
}

double itrace_stats_backward(const struct itrace_stats *stats)
{
    return ratio(stats->common_before, stats->lines);
}

double itrace_stats_degree(const struct itrace_stats *stats)
{
    return ratio(stats->references[ITRACE_SPACE_GLOBAL], stats->addresses);
}
