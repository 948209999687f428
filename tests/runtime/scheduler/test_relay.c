/* Windows that are handed on: whoever runs a shard, everything it can hear of has happened, and
 * nothing that would hear of it later. The shards are played, so that each rule can be looked at by
 * itself; test_window.c has runs with messages. */
#define _GNU_SOURCE /* processors of the process */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>

#include "runtime/engine/engine.h"
#include "runtime/engine/shard.h"
#include "runtime/scheduler/crew.h"
#include "runtime/scheduler/relay.h"
#include "tests/runtime/probe.h"
#include "tests/sanitized.h"

#define SHARDS  6
#define NS      1000u /* length of a window, ps */
#define RELAYS  (SANITIZED ? 20u : 150u)
#define WINDOWS 40u /* of a relay, at most */

static uint64_t first_end;
static uint32_t last_allowed; /* windows of this relay, by follow() */
static uint32_t done[SHARDS]; /* windows that the shard is through with; of this relay */
static uint32_t begun[SHARDS];
static uint32_t skipped_until[SHARDS]; /* sleeps before that window */
static uint32_t wrong, runs;
static uint32_t sleep_one_in; /* shards sleep for some windows now and then; 0: never */
static uint32_t dies_in;      /* no shard has anything left behind that window */
static bool anybody_ran_dead; /* behind that */
static uint64_t seeds[SHARDS];

static uint32_t number_of(const struct window_plan *plan)
{
    return (uint32_t)((plan->end_ps - first_end) / NS);
}

static uint32_t get(const uint32_t *p)
{
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);
}

static void expect(bool holds)
{
    if (!holds)
        __atomic_add_fetch(&wrong, 1, __ATOMIC_SEQ_CST);
}

/* Is the shard through with all it has to do before window `n`? */
static bool is_through(uint32_t shard, uint32_t n)
{
    return get(&done[shard]) >= n || get(&skipped_until[shard]) >= n;
}

static void check_order(uint32_t shard, uint32_t n)
{
    expect(get(&begun[shard]) == get(&done[shard])); /* nobody else has it */
    expect(get(&done[shard]) <= n);
    if (shard)
        expect(is_through(0, n)); /* the main shard through the window before */
    for (uint32_t i = 1; i < SHARDS && !shard; i++)
        expect(is_through(i, n));
    for (uint32_t i = 1; i < SHARDS && !shard; i++)
        expect(get(&begun[i]) <= n + 1); /* and nobody beyond the main shard */
    anybody_ran_dead |= n > dies_in;
}

static void run(uint32_t shard, const struct window_plan *plan)
{
    uint32_t n = number_of(plan), sleeps = 0;
    check_order(shard, n);
    __atomic_store_n(&begun[shard], n + 1, __ATOMIC_SEQ_CST);
    uint64_t *state = &seeds[shard];
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    for (volatile uint32_t i = 0; i < (*state >> 40 & 0x3ff); i++)
        ;
    if (sleep_one_in && (*state >> 50) % sleep_one_in == 0)
        sleeps = 1 + (*state >> 33) % 3;
    shards[shard].next_ps = plan->end_ps + sleeps * NS;
    shards[shard].live = n < dies_in;
    shards[shard].written[plan->writing] = 0;
    __atomic_store_n(&skipped_until[shard], n + 1 + sleeps, __ATOMIC_SEQ_CST);
    __atomic_store_n(&done[shard], n + 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&begun[shard], n + 1, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&runs, 1, __ATOMIC_SEQ_CST);
}

static bool follow(const struct window_plan *plan, struct window_plan *next)
{
    uint32_t n = number_of(plan);
    for (uint32_t i = 0; i < SHARDS; i++)
        expect(is_through(i, i ? n : n + 1));
    if (n + 1 >= last_allowed)
        return false;
    *next = *plan;
    next->end_ps = next->until_ps = plan->end_ps + NS;
    return true;
}

static void build(uint32_t threads)
{
    build_start("relay");
    uint32_t core = build_domain("core", 1000000000);
    uint32_t protocol = probe_protocol(16, false);
    uint32_t a = probe_instance(core, "a", PROBE_SOURCE, 0, 0, false);
    for (uint32_t i = 1; i < SHARDS; i++) {
        uint32_t b = probe_instance(core, "b", PROBE_SINK, 0, 1, false);
        build_partition(b, i);
        build_connect((struct build_end){a, PROBE_OUT, i - 1}, (struct build_end){b, PROBE_IN, 0},
                      probe_wire(protocol, 4, 1, 5));
    }
    cr_assert(platform_build_threads(build_finish(), SHARDS));
    cr_assert_eq(engine.shard_count, SHARDS);
    crew_open(threads);
}

/* One relay, in which all have something to do at first; returns its windows. */
static uint32_t relay(uint32_t threads, uint64_t *seen)
{
    static const struct relay_work work = {.run = run, .follow = follow};
    uint32_t windows;
    for (uint32_t i = 0; i < SHARDS; i++) {
        done[i] = begun[i] = skipped_until[i] = 0;
        shards[i].next_ps = window_plan.end_ps;
        shards[i].live = true;
        shards[i].written[0] = shards[i].written[1] = 0;
    }
    window_plan.end_ps += NS;
    window_plan.until_ps = first_end = window_plan.end_ps;
    uint64_t dealt[SHARDS] = {1};
    for (uint32_t i = 1; i < SHARDS; i++)
        dealt[(i + first_end / NS) % threads] |= (uint64_t)1 << i;
    relay_begin(&work, (1u << SHARDS) - 1, threads, dealt);
    crew_relay(threads);
    *seen = relay_end(&windows);
    return windows;
}

struct relay_case {
    uint32_t threads, wanted, sleep_one_in;
    bool delays;
};

ParameterizedTestParameters(relay, a_shard_runs_when_all_that_it_hears_of_is_over)
{
    static struct relay_case cases[] = {
        {1, 1, 0, false}, {2, 2, 0, false}, {4, 4, 3, false}, {4, 2, 2, false},
        {6, 6, 0, false}, {2, 1, 2, false}, {3, 3, 2, true},  {2, 2, 0, true},
    };
    return cr_make_param_array(struct relay_case, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(struct relay_case *k, relay, a_shard_runs_when_all_that_it_hears_of_is_over)
{
    uint64_t seen, most = 0;
    unsetenv("HEDDLE_THREAD_DELAYS");
    if (k->delays)
        setenv("HEDDLE_THREAD_DELAYS", "3", 1);
    build(k->threads);
    for (uint32_t i = 0; i < SHARDS; i++)
        seeds[i] = i;
    sleep_one_in = k->sleep_one_in;
    dies_in = UINT32_MAX;
    for (uint32_t i = 0; i < (k->delays ? RELAYS / 10 : RELAYS); i++) {
        last_allowed = 1 + i * 7 % WINDOWS;
        runs = 0;
        uint32_t windows = relay(k->wanted, &seen);
        cr_assert_eq(wrong, 0, "relay %u", i);
        cr_assert_eq(seen, (1u << SHARDS) - 1);
        cr_assert(windows >= 1 && windows <= last_allowed);
        cr_assert_eq(window_plan.end_ps, first_end + (windows - 1) * NS);
        if (!sleep_one_in)
            cr_assert_eq(windows, last_allowed);
        if (!sleep_one_in)
            cr_assert_eq(runs, windows * SHARDS);
        for (uint32_t s = 0; s < SHARDS; s++)
            cr_assert(is_through(s, windows), "shard %u of relay %u", s, i);
        most = windows > most ? windows : most;
    }
    if (!sleep_one_in && !k->delays)
        cr_assert_eq(most, WINDOWS);
}

/* When nobody has more than periodic work left, the run is over, and nobody goes on with it. */
Test(relay, nobody_goes_on_when_nothing_is_left)
{
    uint64_t seen;
    build(2);
    sleep_one_in = 0;
    for (uint32_t i = 0; i < RELAYS; i++) {
        last_allowed = WINDOWS;
        dies_in = i % 9;
        cr_assert_eq(relay(1 + i % 2, &seen), dies_in + 1);
        cr_assert_not(anybody_ran_dead, "relay %u", i);
    }
    cr_assert_eq(wrong, 0);
}
