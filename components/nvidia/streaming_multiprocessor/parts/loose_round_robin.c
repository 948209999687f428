/* Warps in turn: the next warp that can issue, after the warp that issued last. */
#include "loose_round_robin.gen.h"

#include "components/nvidia/streaming_multiprocessor/warp_scheduler.h"

struct loose_round_robin {
    struct loose_round_robin_io io;
    uint8_t next[WARP_SCHEDULER_SUB_CORES];
};

static void loose_round_robin_change(struct part *self, uint32_t sub_core, uint32_t warp)
{
    (void)self;
    (void)sub_core;
    (void)warp;
}

static uint32_t loose_round_robin_pick(struct part *self, uint32_t sub_core, uint64_t ready,
                                       uint64_t memory)
{
    struct loose_round_robin *p = (struct loose_round_robin *)(void *)self;
    uint64_t behind = ready & ~(((uint64_t)1 << p->next[sub_core]) - 1);
    uint32_t warp = (uint32_t)__builtin_ctzll(behind ? behind : ready);
    (void)memory;
    p->next[sub_core] = (uint8_t)((warp + 1) % 64);
    return warp;
}

static const struct warp_scheduler_ops loose_round_robin_ops = {.arrive = loose_round_robin_change,
                                                                .leave = loose_round_robin_change,
                                                                .pick = loose_round_robin_pick};
