/* The warp that issued last, as long as it can; after it, the oldest warp that can issue, and among
 * warps that came together the one with the lowest number (Rogers, O'Connor, Aamodt,
 * "Cache-Conscious Wavefront Scheduling", MICRO 2012). */
#include "greedy_then_oldest.gen.h"

#include "components/nvidia/streaming_multiprocessor/warp_scheduler.h"

struct greedy_then_oldest {
    struct greedy_then_oldest_io io;
    uint64_t arrivals;
    uint64_t arrived[64];
    uint64_t last[WARP_SCHEDULER_SUB_CORES]; /* bit of the warp that issued last, 0: it has left */
};

static void greedy_then_oldest_arrive(struct part *self, uint32_t sub_core, uint32_t warp)
{
    struct greedy_then_oldest *p = (struct greedy_then_oldest *)(void *)self;
    (void)sub_core;
    p->arrived[warp] = p->arrivals++;
}

static void greedy_then_oldest_leave(struct part *self, uint32_t sub_core, uint32_t warp)
{
    struct greedy_then_oldest *p = (struct greedy_then_oldest *)(void *)self;
    p->last[sub_core] &= ~((uint64_t)1 << warp);
}

static uint32_t greedy_then_oldest_pick(struct part *self, uint32_t sub_core, uint64_t ready,
                                        uint64_t memory)
{
    struct greedy_then_oldest *p = (struct greedy_then_oldest *)(void *)self;
    uint64_t same = ready & p->last[sub_core];
    uint32_t best = (uint32_t)__builtin_ctzll(same ? same : ready);
    (void)memory;
    for (uint64_t rest = same ? 0 : ready; rest; rest &= rest - 1) {
        uint32_t warp = (uint32_t)__builtin_ctzll(rest);
        best = p->arrived[warp] < p->arrived[best] ? warp : best;
    }
    p->last[sub_core] = (uint64_t)1 << best;
    return best;
}

static const struct warp_scheduler_ops greedy_then_oldest_ops = {.arrive =
                                                                     greedy_then_oldest_arrive,
                                                                 .leave = greedy_then_oldest_leave,
                                                                 .pick = greedy_then_oldest_pick};
