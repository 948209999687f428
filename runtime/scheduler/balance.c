/* What the shards have to do, and what follows from it: which thread prefers which shard, and
 * whether several threads pay at all.
 *
 * Work is counted in ticks, of TICK_NS in the mean; an instruction in one takes about as long as
 * six. From what the shards did in a window we know what several threads take for it: the largest
 * share of one of them, and what it takes to publish the window, to wait for its end and to move
 * what shards tell each other. That depends on the machine (rounds of 0.25 to 0.7 us were seen) and
 * is measured once, before the first decision. A window is given to several threads when the one
 * before would have gained by that: neighbours are much alike, and programs with little work in a
 * window have phases of a few windows that pay, and others that do not.
 *
 * Nothing else is asked about threads, only counts of the simulation. Decisions have no influence
 * on results. Called by window.c, between windows. */
#include <string.h>

#include "balance.h"
#include "crew.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/shard.h"

#define SAMPLED           8u  /* with one thread, one window in so many is counted */
#define TURNS             64u /* counted windows for which each thread has the same turn */
#define INSTRUCTION_TICKS 6u
#define TICK_NS           16u
#define HANDING_OVER      60u /* ticks, unless the crew says how long it takes here */
#define LINES             7u  /* that a window moves one after the other, each as long as a round */

static struct {
    uint64_t ticks[ENGINE_MAX_DOMAINS]; /* by shard, fading: of the last looks */
    uint32_t turns[ENGINE_MAX_DOMAINS][ENGINE_MAX_DOMAINS]; /* by thread: crew.c */
    uint32_t threads;
    uint32_t handing_over; /* ticks; 0: not known yet */
    uint32_t window_threads;
    uint32_t samples; /* since turns were chosen */
    bool together;    /* the last window that several shards had something to do in was shared */
    uint64_t alone;   /* ticks of the last window that several shards had something to do in, */
    uint64_t longest; /* and of the thread that had most of them */
    struct stats_threads report;
} load;

/* The shards by their ticks, most first; equal ones by number. */
static void order_shards(const uint64_t *ticks, uint32_t shard_count, uint32_t *order)
{
    for (uint32_t i = 0; i < shard_count; i++) {
        uint32_t at = i;
        for (; at && ticks[order[at - 1]] < ticks[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

/* Longest first, each to the thread with the least so far. */
static void share(const uint64_t *ticks, uint32_t shard_count, uint32_t threads,
                  const uint32_t *order, uint32_t *thread_of)
{
    uint64_t sums[ENGINE_MAX_DOMAINS] = {0};
    for (uint32_t i = 0; i < shard_count; i++) {
        uint32_t least = 0;
        for (uint32_t t = 1; t < threads; t++)
            least = sums[t] < sums[least] ? t : least;
        sums[least] += ticks[order[i]];
        thread_of[order[i]] = least;
    }
}

void balance_turns(const uint64_t *ticks, uint32_t shard_count, uint32_t threads,
                   uint32_t (*turns)[ENGINE_MAX_DOMAINS])
{
    uint32_t order[ENGINE_MAX_DOMAINS];
    uint32_t thread_of[ENGINE_MAX_DOMAINS];
    order_shards(ticks, shard_count, order);
    share(ticks, shard_count, threads, order, thread_of);
    for (uint32_t t = 0; t < threads; t++) {
        uint32_t next = 0;
        for (uint32_t others = 0; others < 2; others++) {
            for (uint32_t i = 0; i < shard_count; i++) {
                if ((thread_of[order[i]] != t) == others)
                    turns[t][next++] = order[i];
            }
        }
    }
}

uint64_t balance_longest(const uint64_t *ticks, uint32_t shard_count, uint32_t threads,
                         uint32_t (*turns)[ENGINE_MAX_DOMAINS])
{
    uint64_t busy[ENGINE_MAX_DOMAINS]; /* until then */
    uint32_t at[ENGINE_MAX_DOMAINS];   /* looks at the shards in its turn behind that */
    uint64_t claimed = 0, longest = 0;
    memset(busy, 0, threads * sizeof *busy);
    memset(at, 0, threads * sizeof *at);
    for (uint32_t i = 0; i < shard_count; i++) {
        uint32_t t = 0;
        for (uint32_t k = 1; k < threads; k++)
            t = busy[k] < busy[t] ? k : t;
        while (claimed >> turns[t][at[t]] & 1)
            at[t]++;
        claimed |= (uint64_t)1 << turns[t][at[t]];
        busy[t] += ticks[turns[t][at[t]]];
        longest = busy[t] > longest ? busy[t] : longest;
    }
    return longest;
}

static void choose_turns(void)
{
    balance_turns(load.ticks, engine.shard_count, load.threads, load.turns);
    crew_take_turns(load.turns);
    for (uint32_t i = 0; i < engine.shard_count; i++)
        load.ticks[i] /= 2;
    load.samples = 0;
}

/* Several threads must win a sixteenth before they are used, and are used until they win less than
 * half of that: what they share is also moved between processors, which nobody counts. */
static bool wins(uint32_t windows)
{
    uint64_t alone = load.alone * windows, shared = load.longest * windows + load.handing_over;
    return alone > shared && (alone - shared) * (load.together ? 32 : 16) >= alone;
}

uint32_t balance_begin(uint64_t due, uint32_t windows)
{
    uint32_t shards_due = shards_in(due);
    uint32_t threads = shards_due < load.threads ? shards_due : load.threads;
    load.window_threads = 1;
    if (shards_due > 1) {
        load.together = wins(windows);
        load.window_threads = load.together ? threads : 1;
    }
    load.report.together += load.window_threads > 1;
    window_plan.counts = load.threads > 1 || load.report.windows % SAMPLED == 0;
    load.report.windows++;
    return load.window_threads;
}

static uint32_t handing_over(void)
{
    uint64_t round_ns = crew_round_ns();
    return round_ns ? (uint32_t)(round_ns * (1 + LINES) / TICK_NS) + 1 : HANDING_OVER;
}

void balance_count(uint64_t due, uint32_t windows)
{
    uint64_t ticks[ENGINE_MAX_DOMAINS];
    uint64_t sum = 0;
    memset(ticks, 0, engine.shard_count * sizeof *ticks);
    for (uint64_t bits = due; bits; bits &= bits - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(bits);
        ticks[i] = shards[i].ticks + shards[i].instructions * INSTRUCTION_TICKS;
        load.ticks[i] += ticks[i];
        sum += ticks[i];
    }
    uint64_t shared = sum;
    if (!load.handing_over)
        load.handing_over = handing_over();
    if (due & (due - 1)) {
        uint64_t longest = balance_longest(ticks, engine.shard_count, load.threads, load.turns);
        shared = longest + load.handing_over;
        load.alone = sum / windows;
        load.longest = longest / windows;
    }
    load.report.alone_ticks += sum;
    load.report.ticks += load.window_threads > 1 ? shared : sum;
    if (++load.samples == TURNS)
        choose_turns();
}

const struct stats_threads *balance_reported(void)
{
    return &load.report;
}

void balance_open(uint32_t threads)
{
    memset(&load, 0, sizeof load);
    load.threads = threads;
    balance_turns(load.ticks, engine.shard_count, threads, load.turns);
    crew_take_turns(load.turns);
}
