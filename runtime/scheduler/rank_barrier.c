/* The end of a window with several ranks. One exchange carries a word of decisions, the messages
 * and credits of cut rings, and the writes to stores. Each rank says when its first message arrives
 * at which rank, so each rank knows without a second exchange when the others have something to do
 * next.
 *
 * The order makes this exact: first a rank empties its outboxes to other ranks, then it delivers
 * the messages between its own shards, and only then it knows its own next edge. */
#include "rank_barrier.h"

#include <stddef.h>
#include <string.h>

#include "base/number.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/extension.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/rank_channel.h"
#include "runtime/engine/shard.h"
#include "runtime/link/exchange.h"
#include "runtime/link/rank_rings.h"
#include "runtime/link/shared_wire.h"
#include "runtime/observe/series.h"
#include "runtime/observe/stats_log.h"

struct word {
    struct rank_barrier state;
    bool has_waiting_sender; /* a sender waits for room, which another rank may make at any time */
    struct rank_rings_arrivals arrivals;
};

static struct word words[RANK_MAX];

static size_t word_bytes(void)
{
    return offsetof(struct word, arrivals.rank_ps) + ranks.count * sizeof(uint64_t);
}

static void plan_all(struct rank_barrier *m)
{
    m->next_ps = shared_wire_mixed_next();
    m->is_live = m->next_ps != ENGINE_NEVER;
    for (uint32_t i = 0; i < engine.shard_count; i++) {
        shard_plan(i);
        m->is_live |= shards[i].is_live;
        m->next_ps = min(m->next_ps, shards[i].next_ps);
        m->now_ps = max(shards[i].now_ps, m->now_ps);
    }
}

static void send_messages(struct rank_barrier *m, uint64_t limit_ps)
{
    struct word *w = &words[ranks.number];
    rank_rings_send(&w->arrivals);
    exchange_deliver_all(min(m->end_ps, limit_ps));
    plan_all(m);
    m->is_live |= w->arrivals.messages != 0;
    m->decision_ps = min(m->decision_ps, w->arrivals.main_ps);
    if (rank_is_first())
        m->decision_ps = min(m->decision_ps, shards[0].next_ps);
    w->state = *m;
    w->has_waiting_sender = exchange_has_waiting_sender();
    rank_channels_encode(RANK_CHANNEL_BARRIER, m->end_ps);
    rank_put_others(w, word_bytes());
    rank_exchange();
    for (uint32_t i = rank_other(0); i < ranks.count; i = rank_other(i + 1))
        memcpy(&words[i], rank_read_last(i, word_bytes()), word_bytes());
}

/* Combines the words of all ranks into what holds for each of them. */
static void agree(struct rank_barrier *m)
{
    m->next_ps = m->others_ps = ENGINE_NEVER;
    for (uint32_t i = 0; i < ranks.count; i++) {
        const struct rank_barrier *state = &words[i].state;
        uint64_t arrives_ps = ENGINE_NEVER;
        for (uint32_t from = 0; from < ranks.count; from++)
            arrives_ps = min(arrives_ps, words[from].arrivals.rank_ps[i]);
        uint64_t next_ps = min(state->next_ps, arrives_ps);
        m->next_ps = min(m->next_ps, next_ps);
        m->end_ps = max(state->end_ps, m->end_ps);
        m->now_ps = max(state->now_ps, m->now_ps);
        m->decision_ps = min(m->decision_ps, state->decision_ps);
        m->is_live |= state->is_live || (words[i].has_waiting_sender && arrives_ps != ENGINE_NEVER);
        m->must_stop |= state->must_stop;
        m->has_failed |= state->has_failed;
        m->settle_windows |= state->settle_windows;
        if (i != ranks.number)
            m->others_ps = words[i].has_waiting_sender ? 0 : min(m->others_ps, next_ps);
    }
    m->is_interrupted = words[0].state.is_interrupted;
}

static void take_messages(const struct rank_barrier *m, uint64_t start_ps)
{
    for (uint32_t i = 0; i < engine.shard_count; i++)
        shard_move_clocks(i, start_ps);
    for (uint32_t i = rank_other(0); i < ranks.count; i = rank_other(i + 1)) {
        rank_rings_receive(i);
        rank_channels_merge(RANK_CHANNEL_BARRIER, i);
    }
    if (rank_is_first() && series_has_tracks())
        series_sample_until(m->now_ps);
    series_join_ranks();
    exchange_retry_senders();
    for (uint32_t i = 0; i < engine.shard_count; i++)
        shard_plan(i);
}

void rank_barrier_wait(struct rank_barrier *m, uint64_t limit_ps)
{
    send_messages(m, limit_ps);
    agree(m);
    take_messages(m, min(m->end_ps, limit_ps));
}

/* From now on statistics read as at the end of the window; RANK_BARRIER_LAST: as they are. */
static void show(uint32_t window)
{
    if (!stats_log_ticked)
        return;
    if (window == RANK_BARRIER_LAST)
        stats_log_hide();
    else
        stats_log_show(window);
}

static void merge_and_settle(enum rank_channel_time time, uint64_t end_ps)
{
    for (uint32_t i = 1; i < ranks.count; i++)
        rank_channels_merge(time, i);
    extensions_settle(end_ps);
}

void rank_barrier_settle(uint64_t windows, uint64_t (*end_of)(uint32_t window))
{
    for (uint64_t bits = rank_is_first() ? 0 : windows; bits; bits &= bits - 1) {
        uint32_t window = (uint32_t)__builtin_ctzll(bits);
        show(window);
        rank_channels_encode(RANK_CHANNEL_SETTLE, end_of(window));
    }
    rank_exchange();
    for (uint64_t bits = rank_is_first() ? windows : 0; bits; bits &= bits - 1) {
        uint32_t window = (uint32_t)__builtin_ctzll(bits);
        show(window);
        merge_and_settle(RANK_CHANNEL_SETTLE, end_of(window));
    }
    show(RANK_BARRIER_LAST);
}

void rank_barrier_settle_last(void)
{
    rank_channels_encode(RANK_CHANNEL_END, ENGINE_NEVER);
    rank_exchange();
    if (rank_is_first())
        merge_and_settle(RANK_CHANNEL_END, ENGINE_NEVER);
}
