/* Choosing launches online (components/sampling/stratified_sampler.h) on programs that are made up:
 * what is simulated, and what the estimate says, against closed forms and against the truth. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "components/sampling/stratified_sampler.h"

enum { MOST = 4096 };

static struct sampler sampler;
static struct sampler_launch launches[MOST];
static char ways[MOST + 1];
static double truth;
static uint64_t flushes;
static double aim = 0.01;

struct made_up {
    struct sampler_shape shape;
    uint64_t instructions, loop; /* the second: of one bucket, by which vectors differ */
    double rate;
    double bytes;     /* that memory reads; it writes twice as many */
    uint64_t longest; /* 0: not known */
};

/* It is over. */
static void note(enum sampling_way way, const struct sampler_work *work, double cycles,
                 double bytes)
{
    const struct sampler_measure measure = {.amount = {cycles, bytes, 2 * bytes}};
    sampler_note(&sampler, work, way == SAMPLING_DETAILED ? &measure : NULL);
}

static void begin(uint64_t depth)
{
    sampler_init(&sampler, launches, MOST, depth, aim);
    truth = 0;
    flushes = 0;
}

static enum sampling_way launch(const struct made_up *m)
{
    const struct sampler_work work = {{[3] = m->instructions - m->loop, [7] = m->loop}, m->longest};
    uint64_t cycles = (uint64_t)llround(m->rate * (double)m->instructions);
    uint32_t number = sampler.launches;
    enum sampling_way way = sampler_choose(&sampler, &m->shape, flushes);
    note(way, &work, (double)cycles, m->bytes);
    truth += (double)cycles;
    ways[number] = "d?ts"[way];
    ways[number + 1] = 0;
    return way;
}

static struct made_up plain(uint32_t kernel, double rate)
{
    return (struct made_up){.shape = {.kernel = kernel, .work_items = 64, .work_groups = 100},
                            .instructions = 100000,
                            .loop = 40000,
                            .rate = rate};
}

/* Numbers in a group of those that were simulated. */
static uint32_t positions(uint32_t group, uint32_t *found)
{
    uint32_t at = 0, n = 0;
    for (uint32_t i = sampler.group[group].first; i != SAMPLER_NONE; i = launches[i].next) {
        at++;
        if (launches[i].simulated)
            found[n++] = at;
    }
    return n;
}

static double off(void)
{
    return fabs(sampler_estimate_all(&sampler, SAMPLER_CYCLES).value / truth - 1);
}

Test(stratified_sampler, launches_that_are_all_alike_are_simulated_ever_more_seldom)
{
    uint32_t found[MOST];
    struct made_up m = plain(1, 0.5);
    begin(SAMPLING_ALL);
    for (unsigned i = 0; i < 2000; i++)
        launch(&m);
    uint32_t n = positions(0, found);
    cr_expect_eq(found[0], 1);
    cr_expect_eq(found[1], 2);
    for (uint32_t i = 6; i < n; i++)
        cr_expect_gt(found[i] - found[i - 1], 2 * (found[i - 1] - found[i - 2]), "at %u", i);
    cr_expect_lt(n, 13);
    cr_expect_gt(n, 4);
    struct sampler_estimate e = sampler_estimate_all(&sampler, SAMPLER_CYCLES);
    cr_expect_float_eq(e.value, truth, 1);
    /* What is assumed of all launches, 1 %, counts like one of n - 1 differences. */
    double least = sampler_student(n - 1.0) * 0.01 / sqrt(n - 1.0) * (truth - 50000.0 * n);
    cr_expect_geq(e.half, least, "%f, at least %f", e.half, least);
    cr_expect_lt(e.half, 1.5 * least);
    cr_expect_float_eq(e.bias, 0, 1);
}

/* Launches take 1, 1.01, 1.02 or 1.03 times as long, as the moment has it at which they begin. It
 * differs from launch to launch in a sample. In a run of all it may be the same for all of them,
 * and the interval has to hold wherever that is. */
Test(stratified_sampler, the_interval_holds_if_all_launches_begin_at_one_kind_of_moment)
{
    enum { RUNS = 400 };
    uint64_t state = 1;
    unsigned inside = 0;
    double width = 0;
    for (unsigned run = 0; run < RUNS; run++) {
        struct made_up m = plain(1, 0);
        begin(SAMPLING_ALL);
        for (unsigned i = 0; i < 100; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            m.rate = i ? 1 + 0.01 * (double)(state >> 62) : 2;
            launch(&m);
        }
        double all = 200000 + 99 * 100000 * (1 + 0.01 * (double)(state >> 32 & 3));
        struct sampler_estimate e = sampler_estimate_all(&sampler, SAMPLER_CYCLES);
        inside += fabs(e.value - all) <= sampler_interval(&e);
        width += sampler_interval(&e) / all / RUNS;
    }
    cr_expect_geq(inside, RUNS * 95 / 100, "inside in %u", inside);
    cr_expect_lt(width, 0.05, "%f", width);
}

/* Where there are fewer work-groups than units that keep their code, the second launch is cold. */
Test(stratified_sampler, a_second_launch_on_other_units_stands_for_itself)
{
    struct made_up m = plain(1, 0.5);
    m.shape.few = true;
    begin(SAMPLING_ALL);
    for (unsigned i = 0; i < 500; i++) {
        m.rate = i > 1 ? 0.5 : 5;
        launch(&m);
    }
    cr_expect_float_eq(sampler_estimate_all(&sampler, SAMPLER_CYCLES).value, truth, 1);
}

Test(stratified_sampler, a_first_launch_that_was_cold_stands_for_itself)
{
    struct made_up m = plain(1, 0.5);
    begin(SAMPLING_ALL);
    for (unsigned i = 0; i < 500; i++) {
        m.rate = i ? 0.5 : 5;
        launch(&m);
    }
    cr_expect_float_eq(sampler_estimate_all(&sampler, SAMPLER_CYCLES).value, truth, 1);
}

/* Cycles stay as they are, and bytes drift; the first launch, whose caches are cold, moves most. */
Test(stratified_sampler, bytes_are_estimated_apart_from_cycles)
{
    struct made_up m = plain(1, 0.5);
    double bytes = 0;
    begin(SAMPLING_ALL);
    for (unsigned i = 0; i < 1000; i++) {
        m.bytes = i ? 4000 + i : 50000;
        bytes += m.bytes;
        launch(&m);
    }
    struct sampler_estimate cycles = sampler_estimate_all(&sampler, SAMPLER_CYCLES);
    struct sampler_estimate read = sampler_estimate_all(&sampler, SAMPLER_READ);
    struct sampler_estimate written = sampler_estimate_all(&sampler, SAMPLER_WRITTEN);
    cr_expect_float_eq(cycles.value, truth, 1);
    cr_expect_lt(cycles.half, 0.01 * truth);
    cr_expect_float_eq(read.value, bytes, sampler_interval(&read));
    cr_expect_gt(sampler_interval(&read), 0.01 * bytes);
    cr_expect_lt(sampler_interval(&read), 0.2 * bytes);
    cr_expect_float_eq(written.value, 2 * read.value, 1);
    cr_expect_float_eq(sampler_interval(&written), 2 * sampler_interval(&read), 1);
}

Test(stratified_sampler, launches_that_move_nothing_have_no_interval_of_bytes)
{
    struct made_up m = plain(1, 0.5), other = plain(2, 0.7);
    begin(SAMPLING_ALL);
    for (unsigned i = 0; i < 100; i++)
        launch(i % 7 ? &m : &other);
    struct sampler_estimate read = sampler_estimate_all(&sampler, SAMPLER_READ);
    cr_expect_eq(read.value, 0);
    cr_expect_eq(sampler_interval(&read), 0);
}

/* A group that has been seen to differ by 10 % is simulated again soon, unless what it may be
 * wrong by is little beside everything else. */
Test(stratified_sampler, what_matters_little_is_simulated_less)
{
    uint32_t count[2];
    for (unsigned heavy = 0; heavy < 2; heavy++) {
        uint32_t found[MOST];
        struct made_up m = plain(1, 0.5), other = plain(2, 500);
        begin(SAMPLING_ALL);
        for (unsigned i = 0; i < 120; i++) {
            m.rate = i < 3 ? 0.55 : 0.5;
            launch(&m);
            if (heavy)
                launch(&other);
        }
        count[heavy] = positions(0, found);
    }
    cr_expect_lt(2 * count[1], count[0], "%u, and %u", count[1], count[0]);
}

/* Between two simulated launches the estimate is a line; the last ones take the mean of two. */
Test(stratified_sampler, a_drift_is_followed)
{
    uint32_t found[MOST];
    struct made_up m = plain(1, 0);
    begin(SAMPLING_ALL);
    for (unsigned i = 0; i < 1000; i++) {
        m.rate = 1 + i / 1000.0;
        launch(&m);
    }
    uint32_t n = positions(0, found), last = found[n - 1], before = found[n - 2];
    double rest = 0, mean = 1 + ((last - 1) + (before - 1)) / 2000.0;
    for (uint32_t i = last; i < 1000; i++)
        rest += 100000 * (mean - (1 + i / 1000.0));
    struct sampler_estimate e = sampler_estimate_all(&sampler, SAMPLER_CYCLES);
    cr_expect_float_eq(e.value - truth, rest, 1000, "%f, expected %f", e.value - truth, rest);
    cr_expect_geq(e.half + e.bias + e.trend, fabs(rest));
}

/* Kernels with one group and with two: their estimates, alone, are those of their groups, and all
 * of them the whole. */
Test(stratified_sampler, each_kernel_has_an_estimate_of_its_own)
{
    struct made_up few = plain(1, 0.5), many = few, other = plain(2, 2);
    double own = 0;
    begin(SAMPLING_ALL);
    many.instructions *= 2;
    for (unsigned i = 0; i < 90; i++) {
        struct made_up m = i % 3 == 0 ? few : i % 3 == 1 ? many : other;
        m.rate *= 1 + 0.01 * (i % 7);
        launch(&m);
        own += i % 3 == 2 ? m.rate * 100000 : 0;
    }
    struct sampler_estimate one = sampler_estimate_kernel(&sampler, 1, SAMPLER_CYCLES);
    struct sampler_estimate two = sampler_estimate_kernel(&sampler, 2, SAMPLER_CYCLES);
    struct sampler_estimate all = sampler_estimate_all(&sampler, SAMPLER_CYCLES);
    double groups = 0;
    for (uint32_t i = 0; i < sampler.group_count; i++)
        groups += sampler.group[i].shape.kernel == 1
                      ? sampler_estimate_group(&sampler, i, SAMPLER_CYCLES).value
                      : 0;
    cr_expect_float_eq(one.value, groups, 1);
    cr_expect_float_eq(one.value + two.value, all.value, 1);
    cr_expect_float_eq(one.variance + two.variance, all.variance, 1e-6 * all.variance);
    cr_expect_leq(fabs(two.value - own), sampler_interval(&two) + 1);
    cr_expect_gt(sampler_interval(&one) + sampler_interval(&two), sampler_interval(&all));
}

/* By hand: launch 1 is cold, 2 and 6 stand for the others. */
Test(stratified_sampler, the_interval_is_that_of_the_formula)
{
    static const double rates[] = {9, 1, 7, 7, 7, 1.02, 7, 7, 7, 7, 7, 7};
    struct made_up m = plain(1, 0);
    struct sampler_estimate e;
    double x = 100000;
    aim = 0.5; /* three are enough */
    begin(SAMPLING_ALL);
    for (unsigned i = 0; i < 12; i++) {
        m.rate = rates[i];
        cr_expect_eq(launch(&m) == SAMPLING_DETAILED, i == 0 || i == 1 || i == 5, "launch %u",
                     i + 1);
        if (i != 4)
            continue;
        e = sampler_estimate_group(&sampler, 0,
                                   SAMPLER_CYCLES); /* one tells nothing of the others: 5 % */
        cr_expect_float_eq(e.value, (9 + 4) * x, 1);
        cr_expect_float_eq(e.variance, 0.05 * 0.05 * (3 * 3 + 3) * x * x, 1e4);
        cr_expect_float_eq(e.half, 1.959964 * sqrt(e.variance), 1);
    }
    e = sampler_estimate_group(&sampler, 0, SAMPLER_CYCLES);
    cr_expect_float_eq(e.value, (9 + 1 + 3 + 0.03 + 1.02 + 6 * 1.01) * x, 1);
    /* One difference, and 1 % that counts like another; nine launches may share all of it. */
    double spread = (0.02 * 0.02 / 2 + 0.01 * 0.01 * 1.02 * 1.02) / 2;
    cr_expect_float_eq(e.variance, spread * (4.5 * 4.5 + 4.5 * 4.5 + 9 * 9) * x * x, 1e4);
    cr_expect_float_eq(e.half, sampler_student(e.freedom) * sqrt(e.variance), 1);
    double own = 4.5 * 4.5 + 4.5 * 4.5 + 9, shared = 9 * 9 - 9;
    cr_expect_float_eq(e.freedom,
                       2 * (own + shared) * (own + shared) / (own * own + shared * shared), 1e-6);
    cr_expect_float_eq(e.trend, 0.02 / 4 * (3 + 4 + 5 + 6 + 7 + 8) * x, 1);
    cr_expect_float_eq(e.allowance, 0.005 * 9.09 * x, 1);
}

/* Tables: W. S. Gosset's distribution at 97.5 %. */
Test(stratified_sampler, students_t)
{
    static const struct {
        double freedom, t;
    } rows[] = {{1, 12.706}, {2, 4.303},  {3, 3.182},  {4, 2.776},  {5, 2.571},
                {7, 2.365},  {10, 2.228}, {20, 2.086}, {60, 2.000}, {INFINITY, 1.960}};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        cr_expect_float_eq(sampler_student(rows[i].freedom), rows[i].t, 0.01 * rows[i].t, "%f",
                           rows[i].freedom);
}

/* One kernel with one shape does two things in turn: history tells them apart. */
Test(stratified_sampler, kinds_that_take_turns_are_told_apart)
{
    static const char *const orders[] = {"ab", "aab", "aabab", "abcacb", "aaaab"};
    for (size_t o = 0; o < ARRAY_COUNT(orders); o++) {
        uint32_t found[MOST];
        begin(SAMPLING_ALL);
        for (unsigned i = 0; i < 1200; i++) {
            unsigned kind = (unsigned)(orders[o][i % strlen(orders[o])] - 'a');
            struct made_up m = plain(1, 0.5 + kind);
            m.loop = 10000 * (kind + 1);
            launch(&m);
        }
        cr_expect_lt(off(), 1e-6, "%s: %f", orders[o], off());
        for (uint32_t g = 0; g < sampler.group_count; g++) {
            uint32_t n = positions(g, found);
            cr_expect(n >= 4 && n < 30, "%s: %u of group %u are simulated", orders[o], n, g);
        }
    }
}

/* A kernel that executes something else each time is put into few groups. */
Test(stratified_sampler, groups_of_a_kernel_stay_few)
{
    struct made_up m = plain(1, 0.5);
    unsigned simulated = 0;
    begin(SAMPLING_ALL);
    for (unsigned i = 0; i < 3000; i++) {
        m.instructions = 1000000 - 300 * i;
        m.loop = m.instructions / 2;
        m.shape.work_groups = m.instructions / 1000;
        simulated += launch(&m) == SAMPLING_DETAILED;
    }
    cr_expect_lt(sampler.group_count, 40, "%u groups", sampler.group_count);
    cr_expect_lt(simulated, 300, "%u simulated", simulated);
    cr_expect_lt(off(), 0.01);
}

/* The longest wavefront decides how long launches take, whose instructions differ by up to three
 * times: a launch stands for another as it is, so few say how long all take. */
Test(stratified_sampler, cycles_that_do_not_follow_instructions_are_not_told_by_them)
{
    uint64_t state = 1;
    unsigned simulated = 0;
    begin(SAMPLING_ALL);
    for (unsigned i = 0; i < 1000; i++) {
        struct made_up m = plain(1, 0);
        state = state * 6364136223846793005u + 1442695040888963407u;
        m.instructions = 50000 + (state >> 33) % 100000;
        m.loop = m.instructions / 2;
        m.rate = 7000.0 / (double)m.instructions;
        simulated += launch(&m) == SAMPLING_DETAILED;
    }
    struct sampler_estimate e = sampler_estimate_all(&sampler, SAMPLER_CYCLES);
    cr_expect_lt(simulated, 50, "%u simulated", simulated);
    cr_expect_lt(off(), 0.003, "off by %f", off());
    cr_expect_lt(sampler_interval(&e), 0.03 * truth, "%f", sampler_interval(&e) / truth);
    cr_expect_lt(fabs(e.value - truth), sampler_interval(&e));
}

/* Searches of graphs: a hub among the vertices makes a wavefront long, whatever the launch executes
 * in all, and few launches say how long all take. Where the longest wavefront is not known, the
 * interval says so. */
Test(stratified_sampler, the_longest_wavefront_tells_what_instructions_do_not)
{
    double width[2];
    for (unsigned known = 0; known < 2; known++) {
        uint64_t state = 1;
        unsigned simulated = 0;
        begin(SAMPLING_ALL);
        for (unsigned i = 0; i < 1000; i++) {
            struct made_up m = plain(1, 0);
            state = state * 6364136223846793005u + 1442695040888963407u;
            uint64_t longest = 80 + (state >> 60 ? 0 : (state >> 33) % 4000);
            m.instructions = 20000 + (state >> 20) % 200000;
            m.loop = m.instructions / 2;
            m.longest = known ? longest : 0;
            m.rate = (3000 + 0.02 * (double)m.instructions + 40 * (double)longest)
                     / (double)m.instructions;
            simulated += launch(&m) == SAMPLING_DETAILED;
        }
        struct sampler_estimate e = sampler_estimate_all(&sampler, SAMPLER_CYCLES);
        width[known] = sampler_interval(&e) / truth;
        cr_expect_lt(simulated, known ? 150 : 500, "%u simulated", simulated);
        cr_expect_lt(off(), known ? 0.002 : 0.1, "off by %f", off());
        cr_expect_lt(fabs(e.value - truth), sampler_interval(&e));
    }
    cr_expect_lt(10 * width[1], width[0], "%f, and %f", width[1], width[0]);
}

/* What comes unforeseen and once is estimated from the nearest, and the interval is wide. */
Test(stratified_sampler, what_nothing_represents_is_taken_for_the_nearest)
{
    struct made_up m = plain(1, 0.5), far = m;
    far.instructions = 150000;
    far.rate = 0.6;
    begin(SAMPLING_ALL);
    for (unsigned i = 0; i < 100; i++)
        cr_expect(launch(i == 50 ? &far : &m) != SAMPLING_DETAILED || i != 50);
    struct sampler_estimate e = sampler_estimate_group(&sampler, 1, SAMPLER_CYCLES);
    cr_assert_eq(sampler.group[1].simulated, 0);
    /* By instructions 75000, as it is 50000. */
    cr_expect_float_eq(e.value, 62500, 1);
    cr_expect_float_eq(e.half, 1.959964 * (0.25 * 62500 + 12500), 1);
}

/* What is simulated executes more than what is not, as kernels do that try again: the groups that
 * come of it get one, and not everything is simulated. */
Test(stratified_sampler, a_kernel_that_waits_by_executing_is_not_simulated_all_the_time)
{
    unsigned simulated = 0;
    begin(SAMPLING_ALL);
    for (unsigned i = 0; i < 600; i++) {
        struct made_up m = plain(1, 0.5);
        struct sampler_work work = {.vector = {[3] = 100000}};
        enum sampling_way way = sampler_choose(&sampler, &m.shape, 0);
        work.vector[7] = way == SAMPLING_DETAILED ? 6000 : 0;
        note(way, &work, 53000, 0);
        simulated += way == SAMPLING_DETAILED;
    }
    cr_expect_lt(simulated, 25, "%u simulated", simulated);
    cr_expect_float_eq(sampler_estimate_all(&sampler, SAMPLER_CYCLES).value, 600 * 53000.0,
                       0.07 * 600 * 53000);
}

/* What leaves no trace executes less than what touches or is simulated: the group that comes of it
 * is joined to the other, and a launch stands for a launch, whatever it executed. */
Test(stratified_sampler, a_group_that_nothing_can_represent_is_joined)
{
    begin(4);
    for (unsigned i = 0; i < 900; i++) {
        struct made_up m = plain(i % 3, 0.5);
        struct sampler_work work = {.vector = {[3] = 100000}};
        enum sampling_way way = sampler_choose(&sampler, &m.shape, 0);
        work.vector[7] = i % 3 == 1 && way != SAMPLING_SKIPPED ? 80000 : 0;
        work.longest = work.vector[7] ? 8000 : 500;
        note(way, &work, 53000, 0);
    }
    cr_expect_float_eq(sampler_estimate_all(&sampler, SAMPLER_CYCLES).value, 900 * 53000.0,
                       0.01 * 900 * 53000);
}

/* What is simulated tries again, as time has it, what touches does so less often, and what leaves
 * no trace never: the groups that come of it are joined, also for the launches before. */
Test(stratified_sampler, groups_that_are_never_simulated_are_joined)
{
    static const uint64_t again[] = {[SAMPLING_DETAILED] = 90000, [SAMPLING_TOUCHING] = 70000};
    begin(4);
    for (unsigned i = 0; i < 60; i++) {
        struct made_up m = plain(i % 3, 0.5);
        struct sampler_work work = {.vector = {[3] = 100000}};
        enum sampling_way way = sampler_choose(&sampler, &m.shape, 0);
        work.vector[7] = i % 3 == 1 && way != SAMPLING_SKIPPED ? again[way] : 0;
        work.longest = 500 + work.vector[7] / 100;
        note(way, &work, 53000, 0);
    }
    struct sampler_estimate e = sampler_estimate_all(&sampler, SAMPLER_CYCLES);
    cr_expect_float_eq(e.value, 60 * 53000.0, 0.01 * 60 * 53000);
    cr_expect_lt(sampler_interval(&e), 0.02 * 60 * 53000, "%f", sampler_interval(&e));
}

/* The first launch of each kernel behind a flush is another kind, whatever it executes; and the
 * first of the program is, which is behind none. */
Test(stratified_sampler, what_follows_a_flush_is_a_group_of_its_own)
{
    begin(SAMPLING_ALL);
    for (unsigned i = 0; i < 1600; i++) {
        struct made_up m = plain(i % 2, i % 16 < 2 ? 0.9 : 0.5);
        flushes += i % 16 == 0;
        launch(&m);
    }
    cr_expect_eq(sampler.group_count, 5);
    cr_expect_lt(off(), 1e-6);
}

/* Two layers of a network launch one kernel in turn, behind others, which leave other lines in
 * caches: what it executes is the same. */
Test(stratified_sampler, what_follows_another_kernel_is_a_group_of_its_own)
{
    static const uint32_t order[] = {1, 3, 2, 3};
    unsigned simulated = 0;
    begin(4);
    for (unsigned i = 0; i < 800; i++) {
        struct made_up m = plain(order[i % 4], i % 4 == 3 ? 0.9 : 0.7);
        simulated += launch(&m) == SAMPLING_DETAILED;
    }
    cr_expect_lt(simulated, 60, "%u simulated", simulated);
    cr_expect_lt(off(), 1e-6, "off by %f", off());
}

/* Any order of kinds: a launch is simulated behind `depth` that touched caches, or as the first of
 * a shape, or while nothing has been left out; and of long programs most leave no trace. */
Test(stratified_sampler, what_is_simulated_was_warmed_up)
{
    for (unsigned seed = 1; seed <= 40; seed++) {
        uint64_t depth = 1 + seed % 13, state = seed, kinds = 1 + seed % 9, left = 0;
        begin(depth);
        for (unsigned i = 0; i < 3000; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            unsigned kind = (unsigned)(seed % 4 ? i % kinds : (state >> 40) % kinds);
            struct made_up m = plain(kind, 0.5);
            launch(&m);
            left += ways[i] == 's';
        }
        uint64_t warm = SAMPLING_ALL, seen = 0;
        for (unsigned i = 0; i < 3000; i++) {
            uint64_t kind = (uint64_t)1 << launches[i].group;
            cr_assert(ways[i] != 'd' || warm >= depth || !(seen & kind), "seed %u, launch %u", seed,
                      i + 1);
            seen |= kind;
            warm = ways[i] == 's' ? 0 : warm + (warm < SAMPLING_ALL);
        }
        cr_expect_gt(left, seed % 4 ? 2000 : 100, "seed %u: %u left no trace", seed,
                     (unsigned)left);
    }
}

static double normal(uint64_t *state)
{
    double sum = 0;
    for (unsigned i = 0; i < 12; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(*state >> 11) / 9007199254740992.0;
    }
    return sum - 6;
}

/* Noise of 1 to 10 per cent, alone, with a drift, with a walk: how often the truth is inside. */
Test(stratified_sampler, the_interval_covers_the_truth)
{
    static const struct {
        const char *name;
        double noise, drift, walk;
        double aim;
        unsigned least; /* per cent */
    } rows[] = {{"noise of 1 %", 0.01, 0, 0, 0.01, 99},
                {"noise of 1 %, 3 % is enough", 0.01, 0, 0, 0.03, 99},
                {"noise of 3 %, 5 % is enough", 0.03, 0, 0, 0.05, 99},
                {"noise of 10 %", 0.1, 0, 0, 0.01, 98},
                {"noise of 10 %, 50 % is enough", 0.1, 0, 0, 0.5, 99},
                {"drift", 0.02, 0.5, 0, 0.01, 99},
                {"drift, 5 % is enough", 0.02, 0.5, 0, 0.05, 98},
                {"drift of 5 %, hardly any noise", 0.001, 0.05, 0, 0.01, 99},
                {"drift of 10 %, 3 % is enough", 0.01, 0.1, 0, 0.03, 96},
                {"walk", 0.01, 0, 0.01, 0.01, 97},
                {"walk, 5 % is enough", 0.01, 0, 0.01, 0.05, 93}};
    enum { TRIALS = 400 };
    unsigned all = 0;
    for (size_t r = 0; r < ARRAY_COUNT(rows); r++) {
        unsigned inside = 0, simulated = 0;
        double width = 0;
        aim = rows[r].aim;
        for (unsigned t = 0; t < TRIALS; t++) {
            uint64_t state = 77 + t;
            double walk = 1;
            begin(SAMPLING_ALL);
            for (unsigned i = 0; i < 600; i++) {
                walk *= 1 + rows[r].walk * normal(&state);
                struct made_up m = plain(i % 3, 0);
                m.rate =
                    walk * (1 + rows[r].drift * i / 600) * (1 + rows[r].noise * normal(&state));
                simulated += launch(&m) == SAMPLING_DETAILED;
            }
            struct sampler_estimate e = sampler_estimate_all(&sampler, SAMPLER_CYCLES);
            inside += fabs(e.value - truth) <= sampler_interval(&e);
            width += sampler_interval(&e) / truth / TRIALS;
        }
        cr_log_info("%s: %u of %u inside, +- %.2f %%, %u simulated", rows[r].name, inside, TRIALS,
                    100 * width, simulated / TRIALS);
        cr_expect_geq(inside * 100, rows[r].least * TRIALS, "%s: %u of %u inside, +- %.2f %%",
                      rows[r].name, inside, TRIALS, 100 * width);
        all += inside;
    }
    cr_expect_geq(all * 100, 98 * TRIALS * ARRAY_COUNT(rows));
}
