/* Chooses the lanes of a warp that execute next.
 *
 * A warp's living lanes are divided into splits. Splits at the same place become one. The deepest
 * frame goes first, then the lowest program counter: splits that are ahead wait, so lanes meet
 * again at the first place that all of them reach. A split that spins gets a later turn, so that
 * lanes which wait for other lanes of their warp let these go first. A split that has branched
 * backward WARP_PATIENCE times while others could execute gets a later turn, too: it may be
 * counting while it waits. */
#include "warp_schedule.h"

#include "base/hash.h"

#include "warp_cluster.h"

static bool is_same_place(const struct warp_split *a, const struct warp_split *b)
{
    return a->pc == b->pc && a->narrow == b->narrow && a->wide == b->wide && a->local == b->local
           && a->state == b->state && a->barrier == b->barrier
           && ((a->state != WARP_AT_SYNC && a->state != WARP_GRANTED) || a->wait == b->wait);
}

static void join_splits(struct warp_state *w)
{
    for (uint32_t i = 0; i < w->count; i++) {
        for (uint32_t k = i + 1; k < w->count;) {
            if (!is_same_place(&w->split[i], &w->split[k])) {
                k++;
                continue;
            }
            w->split[i].mask |= w->split[k].mask;
            if (w->split[k].turn < w->split[i].turn)
                w->split[i].turn = w->split[k].turn;
            w->split[k] = w->split[--w->count];
        }
    }
}

static bool is_before(const struct warp_split *a, const struct warp_split *b)
{
    if (a->turn != b->turn)
        return a->turn < b->turn;
    if (a->narrow != b->narrow)
        return a->narrow > b->narrow;
    return a->pc < b->pc;
}

static bool can_execute(const struct warp_split *s)
{
    return s->state == WARP_READY || s->state == WARP_GRANTED;
}

void warp_use_frame(struct warp_machine *m)
{
    m->base[WARP_NARROW] = m->narrow + (size_t)m->split->narrow * WARP_NARROW_BYTES;
    m->base[WARP_WIDE] = m->wide + (size_t)m->split->wide * WARP_WIDE_BYTES;
    m->predicate = m->predicates + m->split->narrow;
}

bool warp_schedule(struct warp_machine *m)
{
    struct warp_state *w = m->warp;
    struct warp_split *best = NULL;
    if (w->count > 1)
        join_splits(w);
    for (uint32_t i = 0; i < w->count; i++) {
        struct warp_split *s = &w->split[i];
        if (can_execute(s) && (!best || is_before(s, best)))
            best = s;
    }
    m->split = best;
    if (!best)
        return false;
    if (w->count == 1)
        best->turn = 0;
    warp_use_frame(m);
    return true;
}

uint32_t warp_ready_count(const struct warp_state *w)
{
    uint32_t ready = 0;
    for (uint32_t i = 0; i < w->count; i++)
        ready += can_execute(&w->split[i]);
    return ready;
}

/* A hash of the registers of the warp's lanes. */
static uint64_t registers_state(const struct warp_machine *m)
{
    const struct warp_block *b = m->block;
    uint64_t state = (uint64_t)m->split->mask << 32 | m->warp->carry;
    const uint64_t *word = (const uint64_t *)(const void *)m->narrow;
    for (size_t i = 0; i < (size_t)b->narrow_capacity * WARP_NARROW_BYTES / 8; i++)
        state = hash_multiply(state ^ word[i]);
    word = (const uint64_t *)(const void *)m->wide;
    for (size_t i = 0; i < (size_t)b->wide * WARP_WIDE_BYTES / 8; i++)
        state = hash_multiply(state ^ word[i]);
    for (uint32_t i = 0; i < b->narrow_capacity; i++)
        state = hash_multiply(state ^ m->predicates[i]);
    return state;
}

bool warp_spins(struct warp_machine *m)
{
    struct warp_watch *w = &m->warp->watch;
    if (++w->branches < w->from)
        return false;
    uint32_t pc = m->split->pc;
    if (w->branches == w->from) {
        w->pc = pc;
        w->state = registers_state(m);
        return false;
    }
    bool same = pc == w->pc;
    if (!same && w->branches < 2 * w->from)
        return false;
    w->branches = 0;
    if (same && registers_state(m) == w->state)
        return true;
    if (w->from < WARP_WATCH_MAX)
        w->from *= 2;
    return false;
}

void warp_split_off(struct warp_machine *m, uint32_t mask, uint32_t pc)
{
    struct warp_split *fresh = &m->warp->split[m->warp->count++];
    *fresh = *m->split;
    fresh->mask = mask;
    fresh->pc = pc;
    fresh->state = WARP_READY;
    m->split->mask &= ~mask;
}

/* Lanes that wait for the same lanes as the split. */
static uint32_t waiting_with(const struct warp_state *w, const struct warp_split *s)
{
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        const struct warp_split *candidate = &w->split[i];
        if (candidate->state == WARP_AT_SYNC && !((candidate->wait ^ s->wait) & w->alive))
            lanes |= candidate->mask;
    }
    return lanes;
}

/* Grants every split that waits for lanes which all wait with it, or have ended. */
static void grant(struct warp_state *w)
{
    uint32_t granted = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        const struct warp_split *s = &w->split[i];
        if (s->state == WARP_AT_SYNC && !(s->wait & w->alive & ~waiting_with(w, s)))
            granted |= 1u << i;
    }
    for (; granted; granted &= granted - 1)
        w->split[__builtin_ctz(granted)].state = WARP_GRANTED;
}

bool warp_wait_for(struct warp_machine *m, uint32_t need)
{
    struct warp_split *s = m->split;
    if (s->state == WARP_GRANTED) {
        s->state = WARP_READY;
        return true;
    }
    need &= m->warp->alive;
    if (!(need & ~s->mask))
        return true;
    s->state = WARP_AT_SYNC;
    s->wait = need;
    grant(m->warp);
    return false;
}

static void release_split(struct warp_machine *m, uint32_t number)
{
    struct warp_barrier *b = &m->block->barrier[number];
    struct warp_state *warps = m->warp - m->number;
    b->result_all = b->all, b->result_any = b->any, b->result_count = b->count;
    b->arrived = b->count = b->any = 0;
    b->all = 1;
    b->expected = 0;
    for (uint32_t i = 0; i < m->block->warps; i++) {
        for (uint32_t k = 0; k < warps[i].count; k++) {
            struct warp_split *s = &warps[i].split[k];
            if (s->state != WARP_AT_BARRIER || s->barrier != number)
                continue;
            s->state = WARP_READY;
            s->barrier = 0;
            s->turn = 0;
        }
    }
}

void warp_arrive(struct warp_machine *m, uint32_t number, uint32_t threads, bool waits)
{
    struct warp_barrier *b = &m->block->barrier[number];
    b->arrived += (uint32_t)__builtin_popcount(m->split->mask);
    b->expected = threads;
    if (waits) {
        m->split->state = WARP_AT_BARRIER;
        m->split->barrier = (uint8_t)number;
    }
    if (b->arrived >= (threads ? threads : m->block->alive))
        release_split(m, number);
}

/* After lanes have ended: grants what waits only for them. */
static void grant_again(struct warp_machine *m)
{
    grant(m->warp);
    for (uint32_t i = 0; i <= WARP_BARRIERS + WARP_WARPGROUPS; i++) {
        const struct warp_barrier *b = &m->block->barrier[i];
        if (b->arrived && b->arrived >= (b->expected ? b->expected : m->block->alive))
            release_split(m, i);
    }
}

void warp_leave(struct warp_machine *m, uint32_t mask)
{
    struct warp_state *w = m->warp;
    w->alive &= ~mask;
    m->block->alive -= (uint32_t)__builtin_popcount(mask);
    warp_cluster_leave(m, mask);
    m->split->mask &= ~mask;
    if (!m->split->mask) {
        *m->split = w->split[--w->count];
        m->split = NULL;
    }
    grant_again(m);
}
