/* Launches in parts, on a made-up machine: `SLOTS` places, each of which takes the next work-group
 * when the one before it ends. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "components/sampling/launch_parts.h"

enum { SLOTS = 64, WORK = 100, MOST = 200 * SLOTS };

struct machine {
    double scatter; /* scatter of a generation's rate, a share */
    double drift;   /* from the first work-group to the last, a share */
    double ramp;    /* cycles that the first generation of a launch takes more */
    double begin;   /* that the first two generations of each part take more */
    double fill;    /* bytes that caches keep of what the launch writes first */
    double wobble;  /* scatter of a part's bytes per instruction, a share */
    uint32_t seed;
    uint64_t groups;
};

static struct launch_parts parts;
static struct work_group_end ends[MOST];

static double uniform(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) / 16777216.0;
}

/* About normal, with a variance of 1. */
static double normal(uint32_t *seed)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += uniform(seed);
    return sum;
}

static int by_cycle(const void *a, const void *b)
{
    const struct work_group_end *x = a, *y = b;
    return x->cycle < y->cycle ? -1 : x->cycle > y->cycle;
}

/* Work-groups first .. first + count - 1 begin on an empty machine. */
static struct launch_part_record run(const struct machine *m, uint64_t first, uint32_t count,
                                     uint32_t *seed)
{
    double free_at[SLOTS] = {0}, end = 0, placed = 0, pace[2 + MOST / SLOTS];
    for (uint32_t i = 0; i < ARRAY_COUNT(pace); i++)
        pace[i] = 1 + m->scatter * normal(seed);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t best = 0;
        for (uint32_t s = 1; s < SLOTS; s++)
            best = free_at[s] < free_at[best] ? s : best;
        placed = free_at[best];
        double at = (double)(first + i) / (double)m->groups;
        double time = 1000 * pace[i / SLOTS] * (1 + m->drift * at) * (0.95 + 0.1 * uniform(seed));
        free_at[best] += time + (first + i < SLOTS ? m->ramp : 0) + (i < 2 * SLOTS ? m->begin : 0);
        ends[i] = (struct work_group_end){(uint64_t)free_at[best], WORK};
        end = fmax(end, free_at[best]);
    }
    qsort(ends, count, sizeof *ends, by_cycle);
    double bytes = 0.25 * WORK * count * (1 + m->wobble * normal(seed));
    return (struct launch_part_record){.end = (uint64_t)end,
                                       .placed = (uint64_t)placed,
                                       .resident = SLOTS,
                                       .count = count,
                                       .ends = ends,
                                       .bytes = {0, 2 * bytes, bytes - (first ? 0 : m->fill)}};
}

/* Executes the launch in parts. Each work-group is executed once, and in order. */
static struct cut_estimate sample(const struct machine *m, double aim)
{
    struct sampled_launch_part next;
    uint64_t done = 0;
    uint32_t seed = m->seed;
    launch_parts_begin(&parts, m->groups, SLOTS, aim);
    while (launch_parts_next(&parts, &next)) {
        cr_assert_eq(next.first_group, done);
        cr_assert(next.groups > 0 && next.groups <= m->groups - done);
        done += next.groups;
        if (next.way == SAMPLING_DETAILED) {
            struct launch_part_record record =
                run(m, next.first_group, (uint32_t)next.groups, &seed);
            launch_parts_add_timed(&parts, &record);
        } else {
            launch_parts_add_untimed(&parts, next.groups, next.groups * WORK);
        }
    }
    cr_assert_eq(done, m->groups);
    cr_assert_eq(parts.instructions, m->groups * WORK);
    return launch_parts_estimate(&parts);
}

/* What everything takes, with other luck. */
static double truth(const struct machine *m)
{
    uint32_t seed = m->seed ^ 0x5eed;
    return (double)run(m, 0, (uint32_t)m->groups, &seed).end;
}

Test(launch_parts, steady_launch_is_estimated_from_a_small_part_of_it)
{
    const struct machine m = {.ramp = 700, .seed = 1, .groups = MOST};
    struct cut_estimate e = sample(&m, 0.02);
    double error = e.value / truth(&m) - 1;
    cr_assert(fabs(error) < 0.005, "%.2f %% off", 100 * error);
    cr_assert(parts.detailed_groups < m.groups / 4, "%llu in detail",
              (unsigned long long)parts.detailed_groups);
    cr_assert(e.half + e.allowance < 0.02 * e.value);
}

Test(launch_parts, what_each_part_loses_at_its_begin_does_not_count)
{
    const struct machine m = {.begin = 900, .seed = 5, .groups = MOST};
    struct cut_estimate e = sample(&m, 0.02);
    double error = e.value / truth(&m) - 1;
    cr_assert(fabs(error) < 0.006, "%.2f %% off", 100 * error);
}

Test(launch_parts, small_launch_is_one_part)
{
    const struct machine m = {.seed = 1, .groups = SLOTS * (LAUNCH_PARTS_WORTH - 1)};
    struct cut_estimate e = sample(&m, 0.02);
    cr_assert_eq(parts.window_count, 1);
    cr_assert_eq(parts.detailed_groups, m.groups);
    cr_assert_eq(e.value, parts.windows[0].cycles);
    cr_assert(e.half > 0, "it is not what a run of all would have taken, to the cycle");
}

Test(launch_parts, more_is_simulated_where_generations_scatter)
{
    struct machine m = {.scatter = 0.005, .seed = 3, .groups = MOST};
    sample(&m, 0.03);
    uint64_t quiet = parts.detailed_groups;
    m.scatter = 0.06;
    sample(&m, 0.03);
    uint64_t loud = parts.detailed_groups;
    cr_assert(loud > quiet);
    sample(&m, 0.3);
    cr_assert(parts.detailed_groups < loud, "a wide interval is enough");
}

/* Of 200 launches of each kind. */
Test(launch_parts, truth_is_inside_the_interval)
{
    static const struct machine kinds[] = {{.scatter = 0.002, .groups = 40 * SLOTS},
                                           {.scatter = 0.02, .groups = 100 * SLOTS},
                                           {.scatter = 0.08, .groups = 60 * SLOTS},
                                           {.scatter = 0.01, .drift = 0.5, .groups = MOST},
                                           {.scatter = 0.01, .ramp = 5000, .groups = 30 * SLOTS}};
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        uint32_t inside = 0;
        for (uint32_t seed = 1; seed <= 200; seed++) {
            struct machine m = kinds[i];
            m.seed = seed * 7919;
            struct cut_estimate e = sample(&m, 0.02);
            inside += fabs(e.value - truth(&m)) <= e.half + e.allowance;
        }
        cr_expect(inside >= 186, "kind %zu: %u of 200 inside", i, inside);
    }
}

Test(launch_parts, first_part_stands_for_no_bytes_but_its_own)
{
    const struct machine m = {.fill = 5000, .seed = 11, .groups = MOST};
    double all = 0.25 * WORK * MOST;
    sample(&m, 0.02);
    cr_assert_gt(parts.window_count, 2);
    cr_expect_float_eq(launch_parts_bytes(&parts, SAMPLER_READ).value, 2 * all, 1);
    cr_expect_float_eq(launch_parts_bytes(&parts, SAMPLER_WRITTEN).value, all - m.fill, 1);
}

Test(launch_parts, bytes_are_inside_their_interval)
{
    static const struct machine kinds[] = {{.wobble = 0.005, .fill = 3000, .groups = 40 * SLOTS},
                                           {.wobble = 0.03, .groups = 100 * SLOTS},
                                           {.wobble = 0.15, .scatter = 0.02, .groups = MOST}};
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        uint32_t inside = 0;
        for (uint32_t seed = 1; seed <= 200; seed++) {
            struct machine m = kinds[i];
            m.seed = seed * 7919;
            sample(&m, 0.02);
            struct cut_estimate e = launch_parts_bytes(&parts, SAMPLER_WRITTEN);
            double all = 0; /* the rest is as the mean of all */
            for (uint32_t k = 0; k < parts.window_count; k++)
                all += parts.windows[k].bytes[SAMPLER_WRITTEN]
                       + 0.25 * parts.windows[k].skipped_instructions;
            inside += fabs(e.value - all) <= e.half + e.allowance;
        }
        cr_expect(inside >= 186, "kind %zu: %u of 200 inside", i, inside);
    }
}

Test(launch_parts, launch_that_moves_nothing_has_no_interval_of_bytes)
{
    const struct machine m = {.groups = MOST, .fill = 0, .wobble = 0};
    sample(&m, 0.02);
    for (uint32_t i = 0; i < parts.window_count; i++)
        parts.windows[i].bytes[SAMPLER_READ] = 0;
    struct cut_estimate e = launch_parts_bytes(&parts, SAMPLER_READ);
    cr_assert_eq(e.value, 0);
    cr_assert_eq(e.half + e.allowance, 0);
}

Test(launch_parts, launches_without_room_to_write_them_down_do_not_fit)
{
    cr_assert(launch_parts_fit(1000, 100));
    cr_assert(launch_parts_fit((uint64_t)1 << 31, LAUNCH_PARTS_RESIDENT_MAX));
    cr_assert_not(launch_parts_fit((uint64_t)1 << 31, LAUNCH_PARTS_RESIDENT_MAX + 1));
    cr_assert_not(launch_parts_fit(LAUNCH_PARTS_GROUPS_MAX + 1, LAUNCH_PARTS_RESIDENT_MAX));
}
