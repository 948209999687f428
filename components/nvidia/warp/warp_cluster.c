/* Clusters of blocks.
 *
 * The blocks of a cluster have numbers in a row, so each of them is begun before the first of the
 * next cluster, and a cluster whose blocks wait for each other comes to its end where there is room
 * for all of them. A block counts how often all of its threads have arrived. A block that waits
 * checks whether the other blocks have the same count, or are over. */
#include "warp_cluster.h"

#include "warp_schedule.h"

void warp_block_place(const struct warp_launch *l, uint64_t number, uint32_t id[3])
{
    const uint32_t blocks = (uint32_t)warp_cluster_blocks(l);
    uint64_t cluster = number / blocks;
    uint32_t rank = (uint32_t)(number % blocks);
    for (unsigned i = 0; i < 3; i++) {
        uint32_t size = warp_cluster_size(l, i), clusters = l->grid[i] / size;
        id[i] = (uint32_t)(cluster % clusters) * size + rank % size;
        cluster /= clusters;
        rank /= size;
    }
}

void warp_cluster_place(const struct warp_launch *l, struct warp_block *b)
{
    b->cluster_blocks = (uint32_t)warp_cluster_blocks(l);
    for (unsigned i = 0; i < 3; i++)
        b->cluster[i] = warp_cluster_size(l, i);
    b->rank = (uint32_t)(b->number % b->cluster_blocks);
    warp_block_place(l, b->number, b->id);
}

const struct warp_block *warp_cluster_block(const struct warp_launch *l, const struct warp_block *b,
                                            u64 address)
{
    u64 rank = address >> WARP_RANK_SHIFT;
    struct warp_block *peer = NULL;
    if (!rank || rank == b->rank + 1)
        return b;
    bool begun = rank <= b->cluster_blocks
                 && l->find_block(l->blocks, b->number - b->rank + rank - 1, &peer);
    return begun ? peer : NULL;
}

struct warp_region warp_cluster_region(const struct warp_machine *m, u64 address, u64 window)
{
    const struct warp_block *peer = warp_cluster_block(m->launch, m->block, address - window);
    if (!peer)
        return (struct warp_region){.host = NULL};
    return (struct warp_region){(char *)(uintptr_t)peer + peer->shared_offset,
                                address & ~(u64)WARP_RANK_OFFSET,
                                peer->shared,
                                0,
                                PTX_SPACE_SHARED,
                                window};
}

bool warp_cluster_wake(struct warp_block *b)
{
    struct warp_state *w = warp_states(b);
    bool any = false;
    for (uint32_t i = 0; i < b->warps; i++)
        for (uint32_t k = 0; k < w[i].count; k++)
            if (w[i].split[k].state == WARP_AT_CLUSTER) {
                w[i].split[k].state = WARP_READY;
                any = true;
            }
    return any;
}

/* Opens the barrier if all threads of the block have arrived. */
static void open_barrier(struct warp_block *b)
{
    if (!b->cluster_arrived || b->cluster_arrived < b->alive)
        return;
    b->cluster_arrived = 0;
    b->cluster_phase++;
    for (uint32_t i = 0; i < b->warps; i++)
        warp_states(b)[i].cluster = 0;
    warp_cluster_wake(b);
}

void warp_cluster_leave(struct warp_machine *m, uint32_t mask)
{
    m->block->cluster_arrived -= (uint32_t)__builtin_popcount(m->warp->cluster & mask);
    m->warp->cluster &= ~mask;
    open_barrier(m->block);
}

/* The block of that rank, NULL: it is over. False: it has not begun. */
static bool find_member(const struct warp_machine *m, uint32_t rank, struct warp_block **block)
{
    const struct warp_launch *l = m->launch;
    *block = rank == m->block->rank ? m->block : NULL;
    return *block || l->find_block(l->blocks, m->block->number - m->block->rank + rank, block);
}

static bool have_all_arrived(const struct warp_machine *m)
{
    struct warp_block *peer;
    for (uint32_t rank = 0; rank < m->block->cluster_blocks; rank++)
        if (!find_member(m, rank, &peer)
            || (peer && (int32_t)(peer->cluster_phase - m->block->cluster_phase) < 0))
            return false;
    return true;
}

bool warp_cluster_can_continue(const struct warp_machine *m)
{
    const struct warp_state *w = m->warp;
    bool any = false;
    for (uint32_t i = 0; i < w->count; i++)
        any |= w->split[i].state == WARP_AT_CLUSTER && !(w->cluster & w->split[i].mask);
    return any && have_all_arrived(m);
}

/* In simulated time, a block arrives when all instructions before it are over. */
bool warp_cluster_barrier(struct warp_machine *m, const struct warp_op *op, uint32_t mask)
{
    struct warp_split *s = m->split;
    bool waits = op->written == WARP_BARRIER_WAITS;
    uint8_t then = WARP_READY;
    if (waits && (m->warp->cluster & mask || !have_all_arrived(m)))
        then = WARP_AT_CLUSTER;
    else if (!waits && m->launch->clock && s->state != WARP_GRANTED)
        then = WARP_AT_CLOCK;
    s->state = then;
    if (then != WARP_READY) {
        s->pc--; /* it executes this operation later */
        return false;
    }
    if (!waits) {
        m->block->cluster_arrived += (uint32_t)__builtin_popcount(mask & ~m->warp->cluster);
        m->warp->cluster |= mask;
        open_barrier(m->block);
    }
    return true;
}

uint32_t warp_cluster_phase(const struct warp_machine *m, const struct warp_op *op, uint32_t mask)
{
    bool was_last = op->written != WARP_BARRIER_WAITS && !(m->warp->cluster & mask);
    return m->block->cluster_phase - was_last;
}
