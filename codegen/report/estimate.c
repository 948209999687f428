/* See estimate.h. Components are told apart by their statistics, not by their names: memory counts
 * bytes_read, a shared TLB lookups, a page walker walks; a first-level cache is one that has a
 * translation inside. */
#include "codegen/report/estimate.h"

#include <string.h>

#include "codegen/report/statistics_read.h"

static double number(json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), tail = strlen(end);
    return size >= tail && strcmp(text + size - tail, end) == 0;
}

/* The parameter `name` of the first instance that has all of `names`; 0: there is none. */
static double parameter(json_t *run, const char *const *names, const char *name)
{
    const char *path;
    json_t *values;
    json_object_foreach(json_object_get(json_object_get(run, "stamp"), "parameters"), path, values)
    {
        const char *const *each = names;
        while (*each && json_object_get(values, *each))
            each++;
        if (!*each)
            return number(values, name);
    }
    return 0;
}

/* Cycles of the fastest clock. */
static double cycles_of(json_t *run, double ps)
{
    const char *name;
    json_t *clock;
    double hz = 0;
    json_object_foreach(json_object_get(run, "clocks"), name, clock) hz =
        number(clock, "hz") > hz ? number(clock, "hz") : hz;
    return ps * hz / 1e12;
}

static void read_latencies(struct estimate_input *in, json_t *run)
{
    static const char *const dram[] = {"latency", "line", "width", NULL};
    static const char *const timed[] = {"tburst", "trcd_read", "tcl", "controller", NULL};
    static const char *const l2[] = {"write", "mshrs", "ports", NULL};
    static const char *const mmu[] = {"walk_latency", NULL};
    const char *path, *name;
    json_t *values, *link;
    double largest = 0;
    unsigned crossed = 0;
    in->line = parameter(run, dram, "line");
    in->dram = parameter(run, dram, "latency");
    double ps = parameter(run, timed, "controller") + parameter(run, timed, "trcd_read")
                + parameter(run, timed, "tcl") + parameter(run, timed, "tburst");
    if (ps > 0)
        in->dram = cycles_of(run, ps);
    in->l2 = parameter(run, l2, "latency");
    in->hit = parameter(run, l2, "latency");
    json_object_foreach(json_object_get(json_object_get(run, "stamp"), "parameters"), path, values)
    {
        if (strstr(path, "xbar"))
            in->hit += 2 * number(values, "latency") * !crossed++;
        if (strstr(path, "l2") && json_object_get(values, "mshrs")
            && json_object_get(values, "write"))
            in->l2 = number(values, "latency");
    }
    in->hit += in->l2;
    json_object_foreach(json_object_get(run, "links"), name, link)
    {
        double ps_one = number(link, "latency_ps");
        largest = ps_one > largest ? ps_one : largest;
    }
    in->walk = parameter(run, mmu, "walk_latency") + 2 * cycles_of(run, largest);
    in->dram += in->l2; /* an access that misses pays for both */
}

static void read_component(struct estimate_input *in, json_t *components, const char *path,
                           json_t *stats, double *lookups, double *tlb_misses, double *busiest)
{
    double reads = number(stats, "reads");
    if (json_object_get(stats, "bytes_read")) {
        in->dram_reads += reads;
        *busiest = most(reads, *busiest);
    } else if (json_object_get(stats, "lookups")) {
        *lookups += number(stats, "lookups");
        *tlb_misses += number(stats, "misses");
    } else if (json_object_get(stats, "walks")) {
        in->walks += number(stats, "walks");
    } else if (ends_with(path, ".translation")) {
        char owner[512];
        size_t size = strlen(path) - strlen(".translation");
        if (size >= sizeof owner)
            return;
        memcpy(owner, path, size);
        owner[size] = '\0';
        json_t *cache = json_object_get(components, owner);
        double misses = number(cache, "misses");
        bool scalar = strstr(owner, "l1s") != NULL, code = strstr(owner, "l1i") != NULL;
        if (!scalar && !code)
            in->vector_pages += number(stats, "misses");
        *(scalar ? &in->scalar_misses : code ? &in->code_misses : &in->vector_misses) += misses;
    }
}

void estimate_read(struct estimate_input *in, json_t *run, json_t *kernel, json_t *profile,
                   json_t *before)
{
    const char *path;
    json_t *stats, *components = json_object_get(kernel, "components");
    json_t *slots = json_object_get(kernel, "slot_cycles");
    json_t *waiting = json_object_get(slots, "waiting"), *units = json_object_get(kernel, "units");
    json_t *achieved = json_object_get(json_object_get(kernel, "occupancy"), "achieved");
    json_t *own = json_object_get(profile, "profile");
    double lookups = 0, tlb_misses = 0, busiest = 0;
    *in = (struct estimate_input){.cycles = number(kernel, "cycles")};
    json_object_foreach(components, path, stats)
        read_component(in, components, path, stats, &lookups, &tlb_misses, &busiest);
    in->controllers = busiest > 0 ? in->dram_reads / busiest : 1;
    in->walked = lookups > 0 ? tlb_misses / lookups : 0;
    read_latencies(in, run);
    double lines_before = number(json_object_get(before, "profile"), "lines");
    in->reuse = lines_before > 0 ? number(own, "reused") / lines_before : 0;
    in->unique_reads = least(in->dram_reads, number(own, "lines_read"));
    in->warm_reads = number(own, "memory_reads");
    in->warm_walks = number(own, "page_walks");
    in->wait_vector = number(waiting, "vmcnt") + number(waiting, "vector_memory_busy")
                      + number(waiting, "vector_memory_full") + number(waiting, "stores");
    in->wait_scalar = number(waiting, "lgkmcnt_scalar_memory");
    in->wait_code = number(waiting, "fetch");
    json_t *cold = json_object_get(kernel, "cold");
    in->retimed = cold != NULL;
    in->kept = json_object_get(cold, "kept") != NULL;
    in->saved_lines = number(cold, "lines");
    in->saved_pages = number(cold, "pages");
    in->saved_both = number(cold, "both");
    in->held = number(achieved, "wavefront_cycles");
    in->active = number(achieved, "longest_unit_cycles");
    in->vector_instructions = number(units, "vector_memory_instructions");
    in->vector_cycles = number(units, "vector_memory_cycles");
}

double estimate_formula(const struct estimate_input *in)
{
    /* Unique accesses to DRAM are a number of lines, the line a number of bytes: so it is printed.
     */
    double accesses = in->unique_reads;
    double delta = accesses / (in->controllers * in->line) * in->reuse * (in->dram - in->l2);
    return in->cycles - delta;
}

/* The part of what missed cold that does not miss behind the launches before. */
static double avoided(double cold, double warm)
{
    return cold > 0 ? most(0, 1 - warm / cold) : 0;
}

double estimate_retimed(const struct estimate_input *in)
{
    double lines = avoided(in->dram_reads, in->warm_reads);
    double pages = avoided(in->walks, in->warm_walks);
    double saved = lines * (1 - pages) * in->saved_lines + pages * (1 - lines) * in->saved_pages
                   + lines * pages * in->saved_both;
    if (in->kept)
        saved = in->saved_both;
    return in->cycles - most(0, least(saved, in->cycles));
}

double estimate_waits(const struct estimate_input *in)
{
    double line = avoided(in->dram_reads, in->warm_reads) * (in->dram - in->l2);
    double page = avoided(in->walks, in->warm_walks) * in->walk * in->walked;
    double all = in->vector_misses + in->scalar_misses + in->code_misses;
    line *= all > 0 ? least(1, in->dram_reads / all) : 0; /* the others find it in the L2 */
    double mean = in->vector_instructions > 0 ? in->vector_cycles / in->vector_instructions : 0;
    double paged =
        in->vector_instructions > 0 ? least(1, in->vector_pages / in->vector_instructions) : 0;
    double vector = mean > in->hit ? least(paged * page + line, mean - in->hit) / mean : 0;
    double other = page + line > 0 ? (page + line) / (page + line + in->hit) : 0;
    double saved = in->wait_vector * vector + (in->wait_scalar + in->wait_code) * other;
    double wavefronts = in->active > 0 ? in->held / in->active : 0;
    saved = wavefronts > 0 ? saved / wavefronts : 0;
    return in->cycles - most(0, least(saved, least(in->active, in->cycles)));
}

double estimate_cold(const struct estimate_input *in)
{
    return in->retimed ? estimate_retimed(in) : estimate_waits(in);
}
