/* Windows that are handed on.
 *
 * On a platform whose partitions reach each other only by way of the main one, shards need not wait
 * for all others at the end of each window. What a shard does in window n depends on the main shard
 * in window n - 1, and what the main shard does in window n on all of them in window n - 1:
 *
 *     window          n - 1            n            n + 1
 *     main shard      [ ] ----.------> [ ] ---.---> [ ]        an arrow: has to be over before
 *                        .    '-.    ^    .   '-.  ^
 *     other shards    [  ] -----'>[ ]----------'>[   ]
 *
 * So a shard may be a window ahead of another one, and a thread that is through with its share of a
 * window goes on with the next. Whoever runs two shards that hear of each other at the same time
 * runs them in the same window, as ever: rings and outboxes need to know nothing of it.
 *
 * A window stands in one of two places. `open` has the shards in it that nobody has begun to run,
 * `pending` those that have not been run to the end, both with the number of the window, so that
 * a thread that was away for long claims nothing in a window that came into the same place. Bit 0
 * of `pending`, the main shard, falls when it has run and the next window stands open or none is to
 * come. Bit 0 of `open` is set when the main shard may run: when nothing is pending in the window
 * before. If it has nothing to do then, whoever finds that out opens the next window.
 *
 * Nobody begins a window before it is known that the run goes on to it: that some shard, at the end
 * of the window before, had more to do than what is periodic (`lively`), or, when all are through
 * it and none had, that a message is under way that wakes somebody.
 *
 * Each shard has a thread that runs it, the main one the leader, so that all have about as much to
 * do (balance.c); others take it only when that pays (relay_take_part()). When whoever was free
 * first ran it, two threads took 1.7 times the work of one for matmul, since its state moved
 * between their caches.
 *
 * Called by crew.c and window.c. */
#include "runtime/engine/engine.h"
#include "runtime/engine/shard.h"
#include "runtime/link/exchange.h"
#include "crew.h"
#include "relay.h"

/* In the lower half bits of shards, in the upper one the number of a window. */
typedef uint64_t place;

#define ALL_SHARDS (~(uint32_t)0)
#define PATIENCE   50000u /* ticks of the host's clock, 15 to 25 us: see relay_take_part() */
#define LONG       4u     /* times that */

static struct {
    _Alignas(64) place open[2];
    place pending[2];
    uint32_t lively; /* the last window that is known to be run */
    uint32_t last;   /* the last window of the relay, when it is over */
    bool over;
    struct counter news; /* for those who wait: something was opened, or all is over */
    _Alignas(64) struct window_plan plans[2];
    const struct relay_work *work;
    uint32_t mine[ENGINE_MAX_DOMAINS]; /* by thread: the shards that it runs */
    uint32_t closed;                   /* window that no other follows, or none of this relay */
    uint32_t first;
    uint64_t seen; /* shards that have had something to do */
} relay;

static place place_of(uint32_t window, uint32_t bits)
{
    return (place)window << 32 | bits;
}

static uint32_t bits_of(place p)
{
    return (uint32_t)p;
}

static uint32_t window_of(place p)
{
    return (uint32_t)(p >> 32);
}

/* Windows are numbered on from relay to relay, and round and round. */
static bool is_before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

static place look(const place *p)
{
    return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static uint32_t lively_until(void)
{
    return __atomic_load_n(&relay.lively, __ATOMIC_ACQUIRE);
}

static void make_lively(uint32_t window)
{
    uint32_t known = lively_until();
    while (is_before(known, window)
           && !__atomic_compare_exchange_n(&relay.lively, &known, window, false, __ATOMIC_ACQ_REL,
                                           __ATOMIC_ACQUIRE))
        ;
}

static bool is_over(void)
{
    return __atomic_load_n(&relay.over, __ATOMIC_ACQUIRE);
}

uint64_t relay_end(uint32_t *windows)
{
    window_plan = relay.plans[relay.last & 1];
    window_plan.handed_on = false;
    window_tell();
    *windows = relay.last - relay.first + 1;
    return relay.seen;
}

static void tell_all(void)
{
    crew_tell(&relay.news);
}

static void end_with(uint32_t window)
{
    relay.last = window;
    __atomic_store_n(&relay.over, true, __ATOMIC_RELEASE);
    tell_all();
}

/* Of the shards but the main one: those that are still in the window before, or have something to
 * do in this one. */
static uint32_t find_due(const struct window_plan *plan, uint32_t behind)
{
    uint32_t due = behind & ~1u;
    for (uint32_t i = 1; i < engine.shard_count; i++) {
        if (!(due >> i & 1) && exchange_has_work(i, plan))
            due |= 1u << i;
    }
    return due;
}

/* The main shard is through the window, and all others through the one before. */
static void open_next(uint32_t window)
{
    const struct window_plan *plan = &relay.plans[window & 1];
    struct window_plan *next = &relay.plans[~window & 1];
    if (!relay.work->follow(plan, next)) {
        relay.closed = window;
        return;
    }
    next->writing = plan->writing ^ 1;
    next->waiting = shards[0].written[plan->writing];
    uint32_t due = find_due(next, bits_of(look(&relay.pending[window & 1])));
    if (!due) {
        relay.closed = window; /* the main shard alone goes on faster by itself */
        return;
    }
    relay.seen |= due;
    __atomic_store_n(&relay.pending[~window & 1], place_of(window + 1, due | 1), __ATOMIC_RELAXED);
    __atomic_store_n(&relay.open[~window & 1], place_of(window + 1, due), __ATOMIC_RELEASE);
    if (shards[0].live)
        make_lively(window + 1);
    tell_all();
}

/* true: nothing is pending in the window any more. */
static bool clear(uint32_t window, uint32_t shard)
{
    place bit = (place)1 << shard;
    return bits_of(__atomic_fetch_and(&relay.pending[window & 1], ~bit, __ATOMIC_ACQ_REL)) == bit;
}

/* All shards are through the window: is there anything to do behind it? */
static bool goes_on(uint32_t window)
{
    if (!is_before(lively_until(), window + 1))
        return true;
    if (!exchange_wakes(&relay.plans[window & 1]))
        return false;
    make_lively(window + 1);
    tell_all();
    return true;
}

/* All shards are through the window. */
static void complete(uint32_t window)
{
    for (;; window++) {
        struct window_plan *next = &relay.plans[~window & 1];
        if (relay.closed == window || !goes_on(window)) {
            end_with(window);
            return;
        }
        if (exchange_has_work(0, next)) {
            relay.seen |= 1;
            __atomic_fetch_or(&relay.open[~window & 1], 1, __ATOMIC_RELEASE);
            tell_all();
            return;
        }
        open_next(window + 1);
        if (!clear(window + 1, 0))
            return;
    }
}

static void deal(uint32_t threads, const uint64_t *dealt)
{
    for (uint32_t t = 0; t < ENGINE_MAX_DOMAINS; t++) {
        uint32_t mine = threads == 1 && t == 0 ? ALL_SHARDS : t < threads ? (uint32_t)dealt[t] : 0;
        if (relay.mine[t] != mine)
            __atomic_store_n(&relay.mine[t], mine, __ATOMIC_RELAXED);
    }
}

void relay_begin(const struct relay_work *work, uint64_t due, uint32_t threads,
                 const uint64_t *dealt)
{
    uint32_t first = relay.last + 2; /* the number before may have been opened in vain */
    relay.work = work;
    deal(threads, dealt);
    relay.first = first;
    relay.closed = first - 1;
    relay.seen = due;
    window_plan.handed_on = true;
    relay.plans[first & 1] = window_plan;
    /* Before anything can be claimed: who has not noticed that the last relay is over may do so. */
    __atomic_store_n(&window_told.relays, true, __ATOMIC_RELAXED);
    __atomic_store_n(&relay.lively, first, __ATOMIC_RELAXED);
    __atomic_store_n(&relay.over, false, __ATOMIC_RELAXED);
    __atomic_store_n(&relay.pending[~first & 1], place_of(first - 1, 0), __ATOMIC_RELAXED);
    __atomic_store_n(&relay.open[~first & 1], place_of(first - 1, 0), __ATOMIC_RELAXED);
    __atomic_store_n(&relay.pending[first & 1], place_of(first, (uint32_t)due | 1),
                     __ATOMIC_RELAXED);
    __atomic_store_n(&relay.open[first & 1], place_of(first, (uint32_t)due), __ATOMIC_RELEASE);
    if (due & 1)
        return;
    open_next(first);
    if (clear(first, 0))
        complete(first);
}

static void finish(uint32_t window, uint32_t shard)
{
    if (shards[shard].live)
        make_lively(window + 1);
    if (shard == 0)
        open_next(window);
    if (clear(window, shard))
        complete(window);
}

/* The shards of a place that may be run now. */
static uint32_t find_ready(uint32_t at, place p)
{
    uint32_t bits = bits_of(p);
    if (!bits || is_before(lively_until(), window_of(p)))
        return 0;
    place other = look(&relay.pending[~at & 1]);
    return window_of(other) == window_of(p) - 1 ? bits & ~bits_of(other) : bits;
}

/* Claims one of these shards and runs it: of the older window if there is one, and the main shard
 * first, since all wait for it. false: none is ready. */
static bool run_one(uint32_t mine)
{
    place p[2] = {look(&relay.open[0]), look(&relay.open[1])};
    uint32_t older = is_before(window_of(p[1]), window_of(p[0]));
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t at = older ^ k;
        uint32_t ready = find_ready(at, p[at]) & mine;
        if (!ready)
            continue;
        uint32_t shard = (uint32_t)__builtin_ctz(ready), window = window_of(p[at]);
        if (!__atomic_compare_exchange_n(&relay.open[at], &p[at], p[at] & ~((place)1 << shard),
                                         false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return true; /* somebody was faster */
        relay.work->run(shard, &relay.plans[at]);
        finish(window, shard);
        return true;
    }
    return false;
}

/* 0: the thread is not wanted. */
static uint32_t shards_of(uint32_t thread)
{
    return __atomic_load_n(&relay.mine[thread], __ATOMIC_RELAXED);
}

/* A thread that finds none of its own shards ready waits for about as long as it takes to move
 * another one here before it does that: so it waits at most twice as long as it had to, whether its
 * neighbour has more to do or no processor to run on. Where shards take much longer than a move,
 * it does so at once. */
void relay_take_part(uint32_t thread, uint64_t *delays)
{
    uint32_t looks = 0, mine;
    uint64_t since = 0, patience = PATIENCE;
    while ((mine = shards_of(thread)) != 0) {
        uint32_t news = crew_news(&relay.news);
        if (engine_unlikely(*delays))
            crew_delay(delays);
        uint64_t now = __builtin_ia32_rdtsc();
        if (run_one(mine)) {
            patience = __builtin_ia32_rdtsc() - now > LONG * PATIENCE || *delays ? 0 : PATIENCE;
            looks = 0;
            continue;
        }
        if (is_over())
            return;
        since = looks ? since : now;
        if (now - since >= patience && run_one(ALL_SHARDS))
            continue;
        crew_wait(&relay.news, news, looks++);
    }
}
