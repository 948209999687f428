/* See limits.h. Kinds of components are those of diagrams (dot_kind.h), so a machine of somebody
 * else's components is judged, too.
 *
 * Statistics of a kernel are usually sums over arrays, those of the run are not. What one element
 * did in a kernel is then known only from below: what it did in the run less all that other kernels
 * did to its array. A hot channel is claimed on that bound alone. */
#include "codegen/report/limits.h"

#include <string.h>

#include "codegen/emit/intern.h"
#include "codegen/views/dot_kind.h"
#include "codegen/views/params_value.h"

/* Chosen, not measured, as in report_words.c. HOT: times the mean of the array. */
#define WORTH_SAYING 33.0
#define BUSY         60.0
#define HOT          4.0
#define FEWEST       4 /* elements of an array in which one can be hot */

/* The instances of one array, in all elements of the arrays around it. */
struct group {
    const char *path;
    enum dot_kind kind;
    uint32_t count;
    struct view_share kernel, run; /* sums of the measure that is judged */
    struct view_share hottest;     /* in the run */
    const char *hottest_path;
};

struct groups {
    VECTOR(struct group) v;
    struct intern index;
};

static double per_cent(const struct view_share *s)
{
    return s->whole > 0 ? s->part / s->whole * 100 : 0;
}

static struct group *group_of(const struct limits *l, struct groups *groups,
                              const struct model_instance *instance)
{
    const char *path = params_collapse(l->arena, instance->path);
    const struct intern_entry *known = intern_find(&groups->index, path);
    if (!known) {
        intern_add(&groups->index, path, (uint32_t)groups->v.count);
        vector_push(l->arena, &groups->v,
                    ((struct group){.path = path, .kind = dot_kind_of(instance->type)}));
        known = intern_find(&groups->index, path);
    }
    return &groups->v.items[known->value];
}

static struct groups make_groups(const struct limits *l)
{
    struct groups groups = {.v = {0}};
    intern_init(&groups.index, l->arena);
    for (uint32_t i = 0; i < l->model->instance_count; i++) {
        const struct model_instance *instance = l->model->instances[i];
        const struct view_share *run = &l->of_run->instances[MODEL_MEASURE_UTILISATION][i];
        const struct view_share *kernel = &l->of_kernel->instances[MODEL_MEASURE_UTILISATION][i];
        if (instance->type->is_composite || run->whole <= 0)
            continue;
        struct group *g = group_of(l, &groups, instance);
        g->count++;
        g->run.part += run->part;
        g->run.whole += run->whole;
        g->kernel.part += kernel->part;
        g->kernel.whole += kernel->whole;
        if (!g->hottest_path || run->part > g->hottest.part) {
            g->hottest = *run;
            g->hottest_path = instance->path;
        }
    }
    return groups;
}

static bool is_memory(enum dot_kind kind)
{
    return kind == DOT_KIND_CACHE || kind == DOT_KIND_MEMORY;
}

/* Of the wavefronts' cycles, those that wait for memory. */
static double memory_wait(const struct limits *l)
{
    static const char *const kinds[] = {"vmcnt", "stores", "vector_memory_full", "counter_full",
                                        "lgkmcnt_scalar_memory"};
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        sum += report_value(l->kernel, 0, "waiting", kinds[i]);
    return report_per_cent(sum, l->kernel->wavefronts[0]);
}

/* Of all parts that translate, which components keep beside their tags. */
static struct view_share translations(const struct limits *l)
{
    struct view_share sum = {0, 0};
    for (uint32_t i = 0; i < l->model->part_count; i++) {
        const struct model_part *part = l->model->parts[i];
        const struct view_share *s =
            &l->of_kernel->own[MODEL_MEASURE_HIT_RATE][l->model->instance_count + i];
        if (!part->type->interface || strcmp(part->type->interface->name, "address_translation"))
            continue;
        sum.part += s->part;
        sum.whole += s->whole;
    }
    return sum;
}

static bool say_translation(const struct limits *l, const struct group *g, const char *indent,
                            FILE *out)
{
    if (g->kind != DOT_KIND_TRANSLATION || per_cent(&g->kernel) < WORTH_SAYING)
        return false;
    struct view_share first = translations(l);
    fprintf(out,
            "%slimited by address translation, the reach of the TLBs: %s is %.0f %% busy, and "
            "wavefronts wait for memory for %.0f %% of their cycles",
            indent, g->path, per_cent(&g->kernel), memory_wait(l));
    if (first.whole > 0)
        fprintf(out, "; %.0f %% of translations hit in the first TLB", per_cent(&first));
    fputs("; the kernel uses more pages than the TLBs hold, or few lines of each: larger pages, or "
          "work on one page at a time, would help\n",
          out);
    return true;
}

/* The least that the hottest element did in the kernel. */
static struct view_share hottest_in_kernel(const struct group *g)
{
    double others = g->run.part - g->kernel.part;
    double part = g->hottest.part - (others > 0 ? others : 0);
    double whole = g->kernel.whole / g->count;
    return (struct view_share){part > 0 ? part : 0, whole};
}

static bool say_hot(const struct group *g, const char *indent, FILE *out)
{
    struct view_share hot = hottest_in_kernel(g);
    if (!is_memory(g->kind) || g->count < FEWEST || per_cent(&hot) < WORTH_SAYING
        || per_cent(&hot) < HOT * per_cent(&g->kernel))
        return false;
    fprintf(
        out,
        "%sone hot channel: %s is %.0f %% busy, while the %u of %s are %.0f %% on average; it "
        "carries %.0f %% of their traffic, so addresses differ by multiples of what they are "
        "interleaved by: rows with some bytes more, or a hashed interleave, would spread them\n",
        indent, g->hottest_path, per_cent(&hot), g->count, g->path, per_cent(&g->kernel),
        hot.part / g->kernel.part * 100);
    return true;
}

static bool say_bandwidth(const struct group *g, const char *indent, FILE *out)
{
    if (!is_memory(g->kind) || per_cent(&g->kernel) < BUSY)
        return false;
    fprintf(out, "%slimited by bandwidth: %s moves %.0f %% of what it can\n", indent, g->path,
            per_cent(&g->kernel));
    return true;
}

static const struct group *fullest(const struct groups *groups)
{
    const struct group *best = NULL;
    for (uint32_t i = 0; i < groups->v.count; i++) {
        const struct group *g = &groups->v.items[i];
        if (g->kind != DOT_KIND_COMPUTE
            && (!best || per_cent(&g->kernel) > per_cent(&best->kernel)))
            best = g;
    }
    return best;
}

void limits_print(const struct limits *l, const char *indent, FILE *out)
{
    bool said = false;
    bool waits = memory_wait(l) >= WORTH_SAYING;
    struct groups groups = {.v = {0}};
    if (waits)
        groups = make_groups(l);
    for (uint32_t i = 0; i < groups.v.count; i++) {
        const struct group *g = &groups.v.items[i];
        said |= say_translation(l, g, indent, out) || say_hot(g, indent, out)
                || say_bandwidth(g, indent, out);
    }
    report_print_words(l->kernel, 0, indent, out); /* what follows from the cause comes behind it */
    if (!waits)
        return;
    if (report_per_cent(report_value(l->kernel, 0, "empty", "launch"), l->kernel->total[0])
        >= WORTH_SAYING)
        return; /* too short for anything to be busy */
    const struct group *most = fullest(&groups);
    if (!said && most && per_cent(&most->kernel) < WORTH_SAYING)
        fprintf(out,
                "%slatency-bound: nothing on the way to memory is busier than %s, %.1f %%; more "
                "wavefronts, or more independent accesses in each, would hide the waiting\n",
                indent, most->path, per_cent(&most->kernel));
}
