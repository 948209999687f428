/* The streams' rules (components/host/api_stream/api_stream.h): the table of balar's document,
 * the defects known of its implementation, and random calls against a model that keeps, for
 * everything that waits, the explicit set of what it waits for. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "components/host/api_stream/api_stream.c"

static const struct api_stream_point none;

/* ---- the table ---- */

#define NOW     API_STREAM_NOW
#define LATER   API_STREAM_LATER
#define BLOCKED API_STREAM_BLOCKED

/* What becomes of a call on the default stream and on stream 3: with nothing pending, with work
 * pending in stream 1, and with that in launch-blocking mode. */
static const struct {
    enum api_call call;
    bool queues;
    struct {
        enum api_stream_verdict idle, busy, blocking;
    } on_default, on_other;
} rules[] = {
    /* blocked at issue, answered on completion */
    {API_CALL_MEMCPY, true, {LATER, BLOCKED, BLOCKED}, {LATER, LATER, BLOCKED}},
    {API_CALL_MEMCPY_TO_SYMBOL, true, {LATER, BLOCKED, BLOCKED}, {LATER, LATER, BLOCKED}},
    {API_CALL_MEMCPY_FROM_SYMBOL, true, {LATER, BLOCKED, BLOCKED}, {LATER, LATER, BLOCKED}},
    /* blocked at issue, answered at once */
    {API_CALL_LAUNCH, true, {NOW, BLOCKED, BLOCKED}, {NOW, NOW, BLOCKED}},
    {API_CALL_MEMCPY_ASYNC, true, {NOW, BLOCKED, BLOCKED}, {NOW, NOW, BLOCKED}},
    {API_CALL_EVENT_RECORD, true, {NOW, BLOCKED, BLOCKED}, {NOW, NOW, BLOCKED}},
    /* never blocked, answered on completion (of nothing, where nothing is pending) */
    {API_CALL_DEVICE_SYNCHRONIZE, false, {NOW, LATER, LATER}, {NOW, LATER, LATER}},
    {API_CALL_STREAM_SYNCHRONIZE, false, {NOW, NOW, NOW}, {NOW, NOW, NOW}},
    /* the rest */
    {API_CALL_MALLOC, false, {NOW, NOW, NOW}, {NOW, NOW, NOW}},
    {API_CALL_FREE, false, {NOW, NOW, NOW}, {NOW, NOW, NOW}},
    {API_CALL_REGISTER_MODULE, false, {NOW, NOW, NOW}, {NOW, NOW, NOW}},
    {API_CALL_CONFIGURE_CALL, false, {NOW, NOW, NOW}, {NOW, NOW, NOW}},
    {API_CALL_SET_ARGUMENT, false, {NOW, NOW, NOW}, {NOW, NOW, NOW}},
    {API_CALL_GET_LAST_ERROR, false, {NOW, NOW, NOW}, {NOW, NOW, NOW}},
    {API_CALL_STREAM_CREATE, false, {NOW, NOW, NOW}, {NOW, NOW, NOW}},
    {API_CALL_EVENT_CREATE, false, {NOW, NOW, NOW}, {NOW, NOW, NOW}},
    {API_CALL_EVENT_ELAPSED_TIME, false, {NOW, NOW, NOW}, {NOW, NOW, NOW}},
};

static void expect_rule(size_t i, uint16_t stream, bool is_busy, bool launch_blocking,
                        enum api_stream_verdict expected)
{
    static struct api_streams s, before;
    api_streams_init(&s, launch_blocking);
    if (is_busy)
        cr_assert_eq(api_stream_issue(&s, API_CALL_LAUNCH, 1, 1, none), API_STREAM_NOW);
    before = s;
    enum api_stream_verdict got = api_stream_issue(&s, rules[i].call, stream, 2, none);
    cr_expect_eq(got, expected, "row %zu, stream %u, busy %d, blocking %d: %d", i, stream, is_busy,
                 launch_blocking, got);
    if (got == API_STREAM_BLOCKED)
        cr_expect_eq(memcmp(&s, &before, sizeof s), 0, "row %zu: blocked, but changed", i);
    else
        cr_expect_eq(s.pending - before.pending, rules[i].queues, "row %zu", i);
}

Test(api_stream, calls_are_taken_and_answered_as_in_the_table)
{
    for (size_t i = 0; i < ARRAY_COUNT(rules); i++) {
        expect_rule(i, 0, false, false, rules[i].on_default.idle);
        expect_rule(i, 0, true, false, rules[i].on_default.busy);
        expect_rule(i, 0, true, true, rules[i].on_default.blocking);
        expect_rule(i, 3, false, false, rules[i].on_other.idle);
        expect_rule(i, 3, true, false, rules[i].on_other.busy);
        expect_rule(i, 3, true, true, rules[i].on_other.blocking);
    }
}

/* ---- one by one ---- */

static struct api_streams streams;

static enum api_stream_verdict issue(enum api_call call, uint16_t stream, uint64_t ticket)
{
    return api_stream_issue(&streams, call, stream, ticket, none);
}

/* Completes the head of a stream; its ticket, negative when it is not to be answered. */
static int64_t complete(uint16_t stream)
{
    uint64_t ticket;
    cr_assert_not_null(api_stream_head(&streams, stream));
    return api_stream_complete(&streams, stream, &ticket) ? (int64_t)ticket : -(int64_t)ticket;
}

static int64_t next_waiter(void)
{
    uint64_t ticket;
    return api_stream_next_waiter(&streams, &ticket) ? (int64_t)ticket : 0;
}

Test(api_stream, operations_leave_in_the_order_they_came)
{
    api_streams_init(&streams, false);
    for (uint64_t i = 1; i <= 5; i++)
        cr_expect_eq(issue(API_CALL_MEMCPY_ASYNC, 7, i), API_STREAM_NOW);
    cr_expect_null(api_stream_head(&streams, 6));
    for (int64_t i = 1; i <= 5; i++) {
        cr_expect_eq(api_stream_head(&streams, 7)->ticket, (uint64_t)i);
        cr_expect_eq(complete(7), -i);
    }
    cr_expect_null(api_stream_head(&streams, 7));
    cr_expect_eq(streams.pending, 0);
}

Test(api_stream, a_copy_in_a_program_without_streams_is_answered_when_it_is_complete)
{
    api_streams_init(&streams, false);
    cr_expect_eq(issue(API_CALL_MEMCPY, 0, 1), API_STREAM_LATER);
    cr_expect_eq(issue(API_CALL_LAUNCH, 0, 2), API_STREAM_BLOCKED);
    cr_expect_eq(complete(0), 1);
    cr_expect_eq(issue(API_CALL_LAUNCH, 0, 2), API_STREAM_NOW);
    cr_expect_eq(issue(API_CALL_MEMCPY, 0, 3), API_STREAM_BLOCKED);
    cr_expect_eq(complete(0), -2);
    cr_expect_eq(issue(API_CALL_MEMCPY, 0, 3), API_STREAM_LATER);
}

/* A front end that waited inside issue() for the queue to empty could never get here. */
Test(api_stream, one_loop_that_takes_calls_and_drains_queues_does_not_wait_for_itself)
{
    api_streams_init(&streams, false);
    issue(API_CALL_LAUNCH, 1, 1);
    issue(API_CALL_LAUNCH, 2, 2);
    int turns = 0;
    while (issue(API_CALL_MEMCPY, 0, 3) == API_STREAM_BLOCKED && turns < 10)
        complete((uint16_t)++turns);
    cr_expect_eq(turns, 2);
    cr_expect_eq(complete(0), 3);
}

Test(api_stream, synchronising_a_stream_waits_for_that_stream)
{
    api_streams_init(&streams, false);
    issue(API_CALL_LAUNCH, 1, 1);
    issue(API_CALL_LAUNCH, 2, 2);
    cr_expect_eq(issue(API_CALL_STREAM_SYNCHRONIZE, 2, 3), API_STREAM_LATER);
    issue(API_CALL_LAUNCH, 2, 4); /* by another thread: not waited for */
    complete(1);
    cr_expect_eq(next_waiter(), 0);
    complete(2);
    cr_expect_eq(next_waiter(), 3);
    cr_expect_eq(next_waiter(), 0);
    cr_expect_eq(streams.pending, 1);
}

Test(api_stream, synchronising_the_device_waits_for_all_of_them)
{
    api_streams_init(&streams, false);
    issue(API_CALL_LAUNCH, 1, 1);
    issue(API_CALL_LAUNCH, 63, 2);
    cr_expect_eq(issue(API_CALL_DEVICE_SYNCHRONIZE, 0, 3), API_STREAM_LATER);
    issue(API_CALL_LAUNCH, 1, 4);
    complete(63);
    cr_expect_eq(next_waiter(), 0);
    complete(1);
    cr_expect_eq(next_waiter(), 3);
}

Test(api_stream, an_event_is_what_came_before_it_in_its_stream)
{
    api_streams_init(&streams, false);
    issue(API_CALL_LAUNCH, 1, 1);
    issue(API_CALL_EVENT_RECORD, 1, 2);
    struct api_stream_point event = api_stream_now(&streams, 1);
    issue(API_CALL_LAUNCH, 1, 3);
    cr_expect_eq(api_stream_issue(&streams, API_CALL_EVENT_SYNCHRONIZE, 0, 4, event),
                 API_STREAM_LATER);
    cr_expect_eq(api_stream_issue(&streams, API_CALL_STREAM_WAIT_EVENT, 2, 5, event),
                 API_STREAM_NOW);
    issue(API_CALL_LAUNCH, 2, 6);
    cr_expect_null(api_stream_head(&streams, 2), "it does not run before the event");
    complete(1);
    cr_expect_eq(next_waiter(), 0);
    complete(1);
    cr_expect_eq(next_waiter(), 4);
    cr_expect_eq(complete(2), -5);
    cr_expect_eq(complete(2), -6);
    cr_expect_eq(api_stream_issue(&streams, API_CALL_EVENT_SYNCHRONIZE, 0, 7, event),
                 API_STREAM_NOW, "it has happened");
}

Test(api_stream, an_event_that_was_never_recorded_is_not_waited_for)
{
    api_streams_init(&streams, false);
    issue(API_CALL_LAUNCH, 0, 1);
    cr_expect_eq(issue(API_CALL_EVENT_SYNCHRONIZE, 0, 2), API_STREAM_NOW);
    cr_expect_eq(issue(API_CALL_STREAM_WAIT_EVENT, 1, 3), API_STREAM_NOW);
    cr_expect_not_null(api_stream_head(&streams, 1));
}

Test(api_stream, a_full_table_blocks_and_goes_on)
{
    api_streams_init(&streams, false);
    for (uint64_t i = 1; i <= API_STREAM_OPERATIONS_MAX; i++)
        cr_assert_eq(issue(API_CALL_LAUNCH, (uint16_t)(1 + i % 5), i), API_STREAM_NOW);
    cr_expect_eq(issue(API_CALL_LAUNCH, 1, 999), API_STREAM_BLOCKED);
    cr_expect_eq(streams.pending, API_STREAM_OPERATIONS_MAX);
    complete(3);
    cr_expect_eq(issue(API_CALL_LAUNCH, 1, 999), API_STREAM_NOW);
    for (uint64_t i = 0; i < API_STREAM_WAITERS_MAX; i++)
        cr_assert_eq(issue(API_CALL_STREAM_SYNCHRONIZE, 1, i), API_STREAM_LATER);
    cr_expect_eq(issue(API_CALL_STREAM_SYNCHRONIZE, 1, 1000), API_STREAM_BLOCKED);
}

/* ---- random calls against explicit sets ---- */

#define MOST    4096 /* operations of a run */
#define TURNS   6000
#define STREAMS 5
#define EVENTS  4

static struct {
    bool is_complete[MOST];
    uint16_t stream[MOST];
    uint16_t call[MOST];
    uint32_t count;
} ops;

struct set { /* of operations that were not complete */
    uint32_t items[MOST];
    uint32_t count;
};

static struct set op_waits[MOST], event_sets[EVENTS];
static struct {
    struct set set;
    uint64_t ticket;
    bool is_open;
} waits[API_STREAM_WAITERS_MAX];

static uint64_t random_state = 88172645463325252u;

static uint32_t random_below(uint32_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 33) % limit;
}

/* What is not complete in a stream (or all). */
static void collect(struct set *set, uint16_t stream, bool all)
{
    set->count = 0;
    for (uint32_t i = 0; i < ops.count; i++)
        if (!ops.is_complete[i] && (all || ops.stream[i] == stream))
            set->items[set->count++] = i;
}

static bool is_over(const struct set *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (!ops.is_complete[set->items[i]])
            return false;
    return true;
}

static int32_t first_open(uint16_t stream)
{
    for (uint32_t i = 0; i < ops.count; i++)
        if (!ops.is_complete[i] && ops.stream[i] == stream)
            return (int32_t)i;
    return -1;
}

static uint32_t open_count(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < ops.count; i++)
        count += !ops.is_complete[i];
    return count;
}

static void add_op(enum api_call call, uint16_t stream, const struct set *after)
{
    op_waits[ops.count].count = 0;
    if (after)
        op_waits[ops.count] = *after;
    ops.stream[ops.count] = stream;
    ops.call[ops.count++] = (uint16_t)call;
}

static void issue_random(struct api_stream_point *points, bool launch_blocking)
{
    static const enum api_call calls[] = {API_CALL_MEMCPY,
                                          API_CALL_LAUNCH,
                                          API_CALL_MEMCPY_ASYNC,
                                          API_CALL_EVENT_RECORD,
                                          API_CALL_MALLOC,
                                          API_CALL_DEVICE_SYNCHRONIZE,
                                          API_CALL_STREAM_SYNCHRONIZE,
                                          API_CALL_EVENT_SYNCHRONIZE,
                                          API_CALL_STREAM_WAIT_EVENT};
    enum api_call call = calls[random_below(ARRAY_COUNT(calls))];
    uint16_t stream = (uint16_t)random_below(STREAMS);
    uint32_t event = random_below(EVENTS);
    bool checked = call == API_CALL_MEMCPY || call == API_CALL_LAUNCH
                   || call == API_CALL_MEMCPY_ASYNC || call == API_CALL_EVENT_RECORD;
    bool queued = checked || call == API_CALL_STREAM_WAIT_EVENT;
    static struct set set;
    enum api_stream_verdict expected = API_STREAM_NOW;
    uint32_t slot = 0;
    set.count = 0;
    if (checked && (stream == 0 || launch_blocking) && open_count() > 0)
        expected = API_STREAM_BLOCKED;
    else if (call == API_CALL_MEMCPY)
        expected = API_STREAM_LATER;
    if (call == API_CALL_DEVICE_SYNCHRONIZE || call == API_CALL_STREAM_SYNCHRONIZE)
        collect(&set, stream, call == API_CALL_DEVICE_SYNCHRONIZE);
    if (call == API_CALL_EVENT_SYNCHRONIZE)
        set = event_sets[event];
    if (!is_over(&set)) {
        expected = API_STREAM_LATER;
        while (slot < API_STREAM_WAITERS_MAX && waits[slot].is_open)
            slot++;
        if (slot == API_STREAM_WAITERS_MAX)
            return; /* fullness has a test of its own */
        waits[slot].set = set;
        waits[slot].is_open = true;
        waits[slot].ticket = 1000000 + slot;
    }
    uint64_t ticket = queued ? ops.count : 1000000 + slot;
    enum api_stream_verdict got = api_stream_issue(&streams, call, stream, ticket, points[event]);
    cr_assert_eq(got, expected, "call %d on stream %u: %d, not %d", (int)call, stream, (int)got,
                 (int)expected);
    if (got == API_STREAM_BLOCKED || !queued)
        return;
    add_op(call, stream, call == API_CALL_STREAM_WAIT_EVENT ? &event_sets[event] : NULL);
    if (call == API_CALL_EVENT_RECORD) {
        points[event] = api_stream_now(&streams, stream);
        collect(&event_sets[event], stream, false);
    }
}

static void complete_random(void)
{
    uint16_t stream = (uint16_t)random_below(STREAMS);
    int32_t expected = first_open(stream);
    if (expected >= 0 && !is_over(&op_waits[expected]))
        expected = -1;
    const struct api_stream_operation *head = api_stream_head(&streams, stream);
    cr_assert_eq(!head, expected < 0, "stream %u", stream);
    if (!head)
        return;
    uint64_t ticket;
    bool answers = api_stream_complete(&streams, stream, &ticket);
    cr_assert_eq(ticket, (uint64_t)expected);
    cr_assert_eq(answers, ops.call[expected] == API_CALL_MEMCPY);
    ops.is_complete[expected] = true;
    while (api_stream_next_waiter(&streams, &ticket)) {
        cr_assert(waits[ticket - 1000000].is_open && is_over(&waits[ticket - 1000000].set),
                  "answered too early");
        waits[ticket - 1000000].is_open = false;
    }
    for (uint32_t i = 0; i < API_STREAM_WAITERS_MAX; i++)
        cr_assert(!waits[i].is_open || !is_over(&waits[i].set), "not answered");
}

Test(api_stream, random_calls_agree_with_explicit_sets)
{
    for (int round = 0; round < 6; round++) {
        struct api_stream_point points[EVENTS] = {{0}};
        bool launch_blocking = round == 5;
        memset(&ops, 0, sizeof ops);
        memset(event_sets, 0, sizeof event_sets);
        memset(waits, 0, sizeof waits);
        api_streams_init(&streams, launch_blocking);
        for (int turn = 0; turn < TURNS && ops.count < MOST - 1; turn++)
            if (random_below(10) < 5 && open_count() < 100)
                issue_random(points, launch_blocking);
            else
                complete_random();
        cr_assert_eq(streams.pending, open_count());
        cr_expect_gt(ops.count, launch_blocking ? 200 : 1000);
    }
}
