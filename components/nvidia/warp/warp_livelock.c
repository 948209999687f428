/* Hands the words that a warp instruction has read and changed to the watch, and describes what a
 * block waits for. */
#include "warp_livelock.h"

#include <stdio.h>

#include "base/hash.h"
#include "components/memory/page_table/host_view.h"

#include "warp_cluster.h"
#include "warp_schedule.h"

/* Names a lane's place in memory: a virtual address, or one in the window of its block or thread.
 */
static uint64_t key_of(const struct warp_machine *m, unsigned lane)
{
    uint64_t block = (m->block->number + 1) << 40;
    uint64_t thread = (uint64_t)(m->number * WARP_LANES + lane) * m->block->local;
    switch (m->space) {
    case PTX_SPACE_SHARED:
        return (block | WARP_SHARED) + m->address[lane];
    case PTX_SPACE_LOCAL:
        return (block | WARP_LOCAL) + thread + m->address[lane];
    default:
        return m->address[lane];
    }
}

static enum livelock_access access_of(const struct warp_machine *m)
{
    return m->space == PTX_SPACE_SHARED   ? LIVELOCK_SHARED
           : m->space == PTX_SPACE_GLOBAL ? LIVELOCK_PLAIN
                                          : LIVELOCK_OWN;
}

/* Loads are reported as well: a load finds what the last store left. */
void warp_livelock_step(struct warp_machine *m, const struct warp_op *op, uint32_t mask)
{
    uint8_t bytes[16];
    struct warp_state *w = m->warp;
    if (op->kind == WARP_SYSTEM || (op->kind == WARP_MEMORY && mask && !m->bytes))
        livelock_change();
    if (w->lap != livelock_lap())
        w->lap_lanes = 0;
    w->lap = livelock_lap();
    w->lap_lanes |= m->split ? m->split->mask : 0;
    if (!m->bytes || !mask || m->space == PTX_SPACE_PARAM)
        return;
    livelock_read(&w->livelock, access_of(m), op->instruction, m->address[__builtin_ctz(mask)]);
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        uint64_t window = m->space == PTX_SPACE_SHARED  ? WARP_SHARED
                          : m->space == PTX_SPACE_LOCAL ? WARP_LOCAL
                                                        : 0;
        for (uint32_t done = 0, part; done < m->bytes; done += part) {
            part = m->bytes - done < sizeof bytes ? m->bytes - done : (uint32_t)sizeof bytes;
            if (warp_read(m->launch, m->block, m->number * WARP_LANES + i,
                          window + m->address[i] + done, bytes, part))
                livelock_store(key_of(m, i) + done, bytes, part);
            else
                livelock_change();
        }
    }
}

static uint64_t state_of(struct warp_machine *m)
{
    const struct warp_state *w = m->warp;
    const struct warp_block *b = m->block;
    uint64_t state = hash_bytes(w->count, &w->carry, sizeof w->carry);
    for (uint32_t i = 0; i < w->count; i++) {
        const struct warp_split *s = &w->split[i];
        const uint32_t words[] = {s->pc,   s->narrow, s->wide,  s->local,
                                  s->mask, s->wait,   s->state, s->barrier};
        state = hash_bytes(state, words, sizeof words);
    }
    state = hash_bytes(state, m->narrow, (size_t)b->narrow_capacity * WARP_NARROW_BYTES);
    state = hash_bytes(state, m->wide, (size_t)b->wide * WARP_WIDE_BYTES);
    return hash_bytes(state, m->predicates, (size_t)b->narrow_capacity * sizeof *m->predicates);
}

/* Lanes that can execute. */
static uint32_t lanes_ready(const struct warp_state *w)
{
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < w->count; i++)
        lanes |= w->split[i].state <= WARP_GRANTED ? w->split[i].mask : 0;
    return lanes;
}

bool warp_livelock_block(struct warp_launch *l, struct warp_block *b)
{
    struct warp_machine m;
    bool all = true;
    warp_machine_init(&m, l, b);
    for (uint32_t i = 0; i < b->warps; i++) {
        warp_machine_choose(&m, i);
        uint32_t ready = lanes_ready(m.warp);
        all &= !warp_cluster_can_continue(&m);
        if (!ready)
            continue;
        all &= livelock_state(&m.warp->livelock, state_of(&m));
        all &= m.warp->lap == livelock_lap() && !(ready & ~m.warp->lap_lanes);
    }
    return all;
}

/* No warp of any block can execute, and a warp waits for its cluster. */
static bool describe_cluster(struct warp_machine *m, struct warp_fault *fault)
{
    for (uint32_t i = 0; i < m->block->warps; i++) {
        warp_machine_choose(m, i);
        for (uint32_t k = 0; k < m->warp->count; k++) {
            m->split = &m->warp->split[k];
            if (m->split->state != WARP_AT_CLUSTER)
                continue;
            m->fault_op = &m->code->ops[m->split->pc];
            warp_fault_at(m, WARP_FAULT_INSTRUCTION, (uint32_t)__builtin_ctz(m->split->mask), 0,
                          "deadlock: it waits for threads of its cluster, which wait elsewhere");
            warp_describe_fault(m, fault);
            return true;
        }
    }
    return false;
}

bool warp_livelock_describe(struct warp_launch *l, struct warp_block *b, struct warp_fault *fault)
{
    struct warp_machine m;
    const struct livelock *latest = NULL;
    uint32_t number = 0;
    warp_machine_init(&m, l, b);
    for (uint32_t i = 0; i < b->warps; i++) {
        warp_machine_choose(&m, i);
        if (!lanes_ready(m.warp) || (latest && m.warp->livelock.access <= latest->access))
            continue;
        latest = &m.warp->livelock;
        number = i;
    }
    if (!latest)
        return describe_cluster(&m, fault);
    warp_machine_choose(&m, number);
    uint32_t ready = lanes_ready(m.warp);
    m.split = &m.warp->split[0];
    struct warp_op at = l->code->ops[m.split->pc];
    if (latest->access != LIVELOCK_NONE)
        at.instruction = (uint32_t)latest->pc;
    m.fault_op = &at;
    const char *end = "and no warp changes anything any more";
    if (latest->access == LIVELOCK_NONE)
        snprintf(m.text, sizeof m.text, "deadlock: it loops and reads no memory, %s", end);
    else
        snprintf(m.text, sizeof m.text, "deadlock: it waits for a change %s 0x%llx, %s",
                 latest->access == LIVELOCK_SHARED ? "of shared memory at" : "at",
                 (unsigned long long)latest->address, end);
    warp_fault_at(&m, WARP_FAULT_INSTRUCTION, (uint32_t)__builtin_ctz(ready), 0, m.text);
    warp_describe_fault(&m, fault);
    return true;
}
