/* The queue of wake-ups against the plainest model of it: an array of wake-up times, searched from
 * end to end. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <string.h>

#include "base/number.h"
#include "base/splitmix64.h"
#include "runtime/engine/wake_queue.h"

#define IDS 300

static struct wake_queue queue;
static uint64_t now;
static struct wake_node nodes[IDS];
static uint32_t heap[IDS];
static uint64_t expected[IDS]; /* ENGINE_NEVER: not queued */
static uint64_t random_state;

static uint64_t expected_next(void)
{
    uint64_t next = ENGINE_NEVER;
    for (int i = 0; i < IDS; i++)
        next = min(expected[i], next);
    return next;
}

static void set(uint64_t horizon)
{
    uint32_t id = (uint32_t)(splitmix64(&random_state) % IDS);
    uint64_t cycle = now + 1 + splitmix64(&random_state) % horizon;
    wake_queue_set(&queue, id, cycle);
    if (cycle < expected[id])
        expected[id] = cycle;
}

static void take(uint64_t cycle)
{
    uint64_t bitmap[(IDS + 63) / 64] = {0};
    now = cycle;
    wake_queue_pop(&queue, cycle, bitmap);
    for (uint32_t i = 0; i < IDS; i++) {
        bool due = expected[i] == cycle;
        cr_assert_eq(bitmap[i / 64] >> (i % 64) & 1, due, "component %u at cycle %lu", i,
                     (unsigned long)cycle);
        if (due)
            expected[i] = ENGINE_NEVER;
    }
}

ParameterizedTestParameters(wake_queue, behaves_like_a_sorted_list)
{
    static uint64_t horizons[] = {3, 60, 1000, 4095, 4096, 4097, 20000, 10000000};
    return cr_make_param_array(uint64_t, horizons, ARRAY_COUNT(horizons));
}

ParameterizedTest(uint64_t *horizon, wake_queue, behaves_like_a_sorted_list)
{
    random_state = *horizon;
    memset(expected, 0xff, sizeof expected);
    wake_queue_open(&queue, nodes, heap);
    for (int i = 0; i < 60000; i++) {
        if (splitmix64(&random_state) % 3) {
            set(splitmix64(&random_state) % 8 ? *horizon : 50000);
        } else {
            uint64_t next = wake_queue_next(&queue);
            cr_assert_eq(next, expected_next());
            if (next != ENGINE_NEVER)
                take(splitmix64(&random_state) % 4 || next == now + 1 ? next : now + 1);
        }
        if (i % 64 == 0)
            cr_assert_eq(wake_queue_has_node(&queue), expected_next() != ENGINE_NEVER);
    }
}

Test(wake_queue, an_earlier_wake_up_moves_the_node_and_a_later_one_does_not)
{
    uint64_t bitmap = 0;
    wake_queue_open(&queue, nodes, heap);
    wake_queue_set(&queue, 5, 100);
    wake_queue_set(&queue, 5, 200);
    cr_assert_eq(wake_queue_next(&queue), 100);
    wake_queue_set(&queue, 5, 7);
    cr_assert_eq(wake_queue_next(&queue), 7);
    wake_queue_pop(&queue, 7, &bitmap);
    cr_assert_eq(bitmap, 1 << 5);
    cr_assert_eq(wake_queue_next(&queue), ENGINE_NEVER);
}
