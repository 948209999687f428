/* A few active warps of each sub-core issue in turn. When no active warp can issue, an inactive
 * warp that can takes the place of an active warp that waits for memory; with free places, the
 * inactive warp simply comes in. */
#include "two_level.gen.h"

#include "components/nvidia/streaming_multiprocessor/warp_scheduler.h"

struct two_level {
    struct two_level_io io;
    uint64_t active[WARP_SCHEDULER_SUB_CORES];
    uint8_t next[WARP_SCHEDULER_SUB_CORES];         /* among the active ones */
    uint8_t next_pending[WARP_SCHEDULER_SUB_CORES]; /* among the others */
};

static void two_level_arrive(struct part *self, uint32_t sub_core, uint32_t warp)
{
    (void)self;
    (void)sub_core;
    (void)warp;
}

static void two_level_leave(struct part *self, uint32_t sub_core, uint32_t warp)
{
    struct two_level *p = (struct two_level *)(void *)self;
    p->active[sub_core] &= ~((uint64_t)1 << warp);
}

static uint32_t two_level_turn(uint8_t *next, uint64_t warps)
{
    uint64_t behind = warps & ~(((uint64_t)1 << *next) - 1);
    uint32_t warp = (uint32_t)__builtin_ctzll(behind ? behind : warps);
    *next = (uint8_t)((warp + 1) % 64);
    return warp;
}

/* Active warps that wait for memory leave; then warps that can issue come in while there is room.
 * An active warp that only waits for a unit keeps its place. If such warps hold all places, an
 * inactive warp that can issue does so as a guest. */
static uint32_t two_level_pick(struct part *self, uint32_t sub_core, uint64_t ready,
                               uint64_t memory)
{
    struct two_level *p = (struct two_level *)(void *)self;
    uint64_t *active = &p->active[sub_core];
    if (*active & ready)
        return two_level_turn(&p->next[sub_core], *active & ready);
    p->io.stats.swaps += (uint64_t)__builtin_popcountll(*active & memory);
    *active &= ~memory;
    uint32_t warp = two_level_turn(&p->next_pending[sub_core], ready);
    if (__builtin_popcountll(*active) < (int)two_level_params(p)->active)
        *active |= (uint64_t)1 << warp;
    return warp;
}

static const struct warp_scheduler_ops two_level_ops = {
    .arrive = two_level_arrive, .leave = two_level_leave, .pick = two_level_pick};
