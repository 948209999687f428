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
 * Where windows are handed on (relay.c) the time of a relay decides instead (pace.c); there what
 * threads would gain is counted, if they do not exist (crew.c). Decisions have no influence on
 * results. Called by window.c, between windows. */
#include <string.h>

#include "balance.h"
#include "crew.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/shard.h"

#define SAMPLED           8u  /* with one thread, one window in so many is counted */
#define TURNS             64u /* counted windows for which each thread has the same turn */
#define INSTRUCTION_TICKS 6u
#define WORD_TICKS        2u
#define TICK_NS           16u
#define HANDING_OVER      60u /* ticks, unless the crew says how long it takes here */
#define HANDING_ON        10u /* ticks that a shard costs in a relay: claims, and news of its end */
#define DEAL_TICKS        (1u << 17) /* shards are dealt anew after that much work, about 2 ms */
#define LINE_WINDOWS      32u        /* that are lined up before one thread or all are chosen */
#define LINES             7u /* that a window moves one after the other, each as long as a round */

static struct {
    uint64_t ticks[ENGINE_MAX_DOMAINS]; /* by shard, fading: of the last looks */
    uint32_t turns[ENGINE_MAX_DOMAINS][ENGINE_MAX_DOMAINS]; /* by thread: crew.c */
    uint64_t dealt[ENGINE_MAX_DOMAINS]; /* by thread: the shards that it runs in relays */
    uint64_t work[ENGINE_MAX_DOMAINS];  /* by shard, ticks, fading: what these follow from */
    uint64_t dealt_for;                 /* of these, since they were dealt */
    uint32_t threads;
    uint32_t handing_over; /* ticks; 0: not known yet */
    uint32_t window_threads;
    uint32_t samples; /* since turns were chosen */
    bool together;    /* the last window that several shards had something to do in was shared */
    uint64_t alone;   /* ticks of the last window that several shards had something to do in, */
    uint64_t longest; /* and of the thread that had most of them */
    bool handed_on;
    struct stats_threads report;
} load;

/* Windows that would be handed on: when each thread is done with its share of them. */
static struct line {
    uint64_t done[ENGINE_MAX_DOMAINS]; /* by thread */
    uint64_t main_done;
    uint64_t end; /* of all threads */
    uint64_t alone, shared;
    uint32_t windows;
} line;

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

void balance_deal(const uint64_t *ticks, uint32_t shard_count, uint32_t threads, uint64_t *dealt)
{
    uint32_t order[ENGINE_MAX_DOMAINS];
    uint64_t sums[ENGINE_MAX_DOMAINS] = {ticks[0] ? ticks[0] + HANDING_ON : 0};
    order_shards(ticks + 1, shard_count - 1, order);
    memset(dealt, 0, threads * sizeof *dealt);
    dealt[0] = 1;
    for (uint32_t i = 0; i + 1 < shard_count; i++) {
        uint32_t shard = 1 + order[i], least = 0;
        for (uint32_t t = 1; t < threads; t++)
            least = sums[t] < sums[least] ? t : least;
        sums[least] += ticks[shard] + HANDING_ON;
        dealt[least] |= (uint64_t)1 << shard;
    }
}

static uint64_t most_dealt(const uint64_t *ticks, uint32_t threads, const uint64_t *dealt)
{
    uint64_t most = 0;
    for (uint32_t t = 0; t < threads; t++) {
        uint64_t sum = 0;
        for (uint64_t bits = dealt[t]; bits; bits &= bits - 1)
            sum += ticks[__builtin_ctzll(bits)];
        most = sum > most ? sum : most;
    }
    return most;
}

/* After enough work. A shard stays with its thread, in whose processor's caches it is, unless it is
 * clearly worth it to move some. */
static void deal_anew(void)
{
    uint64_t dealt[ENGINE_MAX_DOMAINS];
    if (load.dealt_for < DEAL_TICKS)
        return;
    balance_deal(load.work, engine.shard_count, load.threads, dealt);
    uint64_t before = most_dealt(load.work, load.threads, load.dealt);
    if (most_dealt(load.work, load.threads, dealt) + before / 8 < before)
        memcpy(load.dealt, dealt, load.threads * sizeof *dealt);
    for (uint32_t i = 0; i < engine.shard_count; i++)
        load.work[i] /= 2;
    load.dealt_for = 0;
}

static void note_work(uint32_t shard, uint64_t ticks)
{
    load.work[shard] += ticks;
    load.dealt_for += ticks;
}

const uint64_t *balance_dealt(void)
{
    return load.dealt;
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
static bool wins(void)
{
    uint64_t alone = load.alone, shared = load.longest + load.handing_over;
    return alone > shared && (alone - shared) * (load.together ? 32 : 16) >= alone;
}

uint32_t balance_begin(uint64_t due)
{
    uint32_t shards_due = shards_in(due);
    uint32_t threads = shards_due < load.threads ? shards_due : load.threads;
    load.window_threads = 1;
    if (shards_due > 1) {
        load.together = wins();
        load.window_threads = load.together ? threads : 1;
    }
    load.report.together += load.window_threads > 1 && !load.handed_on;
    window_plan.counts = load.threads > 1 || load.report.windows % SAMPLED == 0;
    load.report.windows++;
    return load.window_threads;
}

static uint32_t handing_over(void)
{
    uint64_t round_ns = crew_round_ns();
    return round_ns ? (uint32_t)(round_ns * (1 + LINES) / TICK_NS) + 1 : HANDING_OVER;
}

/* Of a shard whose ticks were counted, or not: that takes a tenth of the time of nbody. */
static uint64_t work_of(uint32_t shard)
{
    uint64_t ticks = window_plan.counts ? shards[shard].ticks : shards[shard].walked * WORD_TICKS;
    return ticks + shards[shard].instructions * INSTRUCTION_TICKS;
}

/* The shards of the thread but the main one, one after the other, behind what it has done and none
 * before the main shard is through the last window; returns when they are done. */
static uint64_t run_in_line(const uint64_t *ticks, uint32_t thread, uint64_t from)
{
    uint64_t at = from > line.main_done ? from : line.main_done;
    for (uint64_t bits = load.dealt[thread] & ~(uint64_t)1; bits; bits &= bits - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(bits);
        at += ticks[i] ? ticks[i] + HANDING_ON : 0;
    }
    return at;
}

/* One window more, as relay.c hands them on: the main shard waits for all in the last window, the
 * others only for the main one. Returns by how much that moves the end. */
static uint64_t hand_on(const uint64_t *ticks)
{
    uint64_t all_done = line.main_done, main_done, end = 0;
    uint64_t mains = ticks[0] ? ticks[0] + HANDING_ON : 0;
    for (uint32_t t = 0; t < load.threads; t++)
        all_done = line.done[t] > all_done ? line.done[t] : all_done;
    if (line.done[0] >= all_done) { /* the main shard can run at once, and goes first */
        main_done = line.done[0] + mains;
        line.done[0] = run_in_line(ticks, 0, main_done);
    } else {
        line.done[0] = run_in_line(ticks, 0, line.done[0]);
        main_done = (line.done[0] > all_done ? line.done[0] : all_done) + mains;
        line.done[0] = main_done;
    }
    for (uint32_t t = 1; t < load.threads; t++)
        line.done[t] = run_in_line(ticks, t, line.done[t]);
    line.main_done = main_done;
    for (uint32_t t = 0; t < load.threads; t++)
        end = line.done[t] > end ? line.done[t] : end;
    uint64_t moved = end > line.end ? end - line.end : 0;
    line.end = end;
    return moved;
}

/* As many windows as a relay has: one thread or all, whichever is faster. */
static void end_line(void)
{
    load.report.ticks += line.shared < line.alone ? line.shared : line.alone;
    load.report.together += line.shared < line.alone ? line.windows : 0;
    line = (struct line){0};
}

static void count_in_line(const uint64_t *ticks, uint64_t sum, bool several)
{
    if (!several) {
        end_line();
        load.report.ticks += sum;
        return;
    }
    for (uint32_t i = 0; i < engine.shard_count; i++)
        note_work(i, ticks[i]);
    line.alone += sum;
    line.shared += hand_on(ticks);
    if (++line.windows < LINE_WINDOWS)
        return;
    end_line();
    deal_anew();
}

void balance_count(uint64_t due)
{
    uint64_t ticks[ENGINE_MAX_DOMAINS];
    uint64_t sum = 0;
    memset(ticks, 0, engine.shard_count * sizeof *ticks);
    for (uint64_t bits = due; bits; bits &= bits - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(bits);
        ticks[i] = work_of(i);
        load.ticks[i] += ticks[i];
        sum += ticks[i];
    }
    uint64_t shared = sum;
    if (!load.handing_over)
        load.handing_over = handing_over();
    if (due & (due - 1)) {
        uint64_t longest = balance_longest(ticks, engine.shard_count, load.threads, load.turns);
        shared = longest + load.handing_over;
        load.alone = sum;
        load.longest = longest;
    }
    load.report.alone_ticks += sum;
    if (load.handed_on)
        count_in_line(ticks, sum, due & (due - 1));
    else
        load.report.ticks += load.window_threads > 1 ? shared : sum;
    if (++load.samples == TURNS)
        choose_turns();
}

uint64_t balance_count_relay(uint64_t seen, uint32_t windows)
{
    uint64_t work = 0;
    for (; seen; seen &= seen - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(seen);
        uint64_t own = work_of(i);
        note_work(i, own);
        work += own;
    }
    deal_anew();
    load.report.windows += windows;
    load.report.handed_on += windows;
    load.report.alone_ticks += work;
    return work;
}

void balance_report_relay(uint64_t work, uint32_t windows, double gain)
{
    load.report.together += windows;
    load.report.ticks += (uint64_t)((double)work / gain);
}

uint64_t balance_count_united(uint32_t windows)
{
    uint64_t work = work_of(0);
    load.report.windows += windows;
    load.report.alone_ticks += work;
    load.report.ticks += work;
    return work;
}

void balance_hand_on(bool handed_on)
{
    load.handed_on = handed_on;
}

const struct stats_threads *balance_reported(void)
{
    end_line();
    return &load.report;
}

void balance_open(uint32_t threads)
{
    memset(&load, 0, sizeof load);
    load.threads = threads;
    balance_turns(load.ticks, engine.shard_count, threads, load.turns);
    balance_deal(load.ticks, engine.shard_count, threads, load.dealt);
    crew_take_turns(load.turns);
}
