/* Whole grids, block by block.
 *
 * One block executes at a time. Blocks that wait stay in a list while further ones begin, as many
 * as the device holds; the list goes round, oldest first. So most launches have one block's memory,
 * which stays in the host's caches. */
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/number.h"

#include "warp_cluster.h"
#include "warp_livelock.h"

struct live {
    struct warp_block **block; /* the first of them wait, oldest first */
    uint32_t count;
    void **free_memory;
    uint32_t free_count;
    size_t bytes;
    uint64_t next; /* the first that has not begun */
};

bool warp_launch_check(const struct warp_launch *l, char *text, size_t size)
{
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    uint64_t cluster = warp_cluster_blocks(l);
    bool fits = true;
    for (unsigned i = 0; i < 3; i++)
        fits &= l->grid[i] % warp_cluster_size(l, i) == 0;
    if (!threads || threads > l->kernel->threads_max)
        snprintf(text, size, "kernel %s: a block of %llu threads, where 1 to %u are allowed",
                 l->kernel->name, (unsigned long long)threads, l->kernel->threads_max);
    else if (!blocks)
        snprintf(text, size, "kernel %s: a grid without blocks", l->kernel->name);
    else if (cluster > WARP_CLUSTER_MAX || !fits)
        snprintf(text, size,
                 "kernel %s: a grid of %u x %u x %u blocks in clusters of %u x %u x %u, which have "
                 "to divide it and may have %d blocks",
                 l->kernel->name, l->grid[0], l->grid[1], l->grid[2], l->cluster[0], l->cluster[1],
                 l->cluster[2], WARP_CLUSTER_MAX);
    else
        return !warp_code_missing(l->code, l->kernel->function, text, size);
    return false;
}

static void *pop_memory(struct live *live)
{
    if (live->free_count)
        return live->free_memory[--live->free_count];
    return grow_sized(aligned_alloc(64, live->bytes), live->bytes, "a block");
}

static void release_live(struct live *live)
{
    for (uint32_t i = 0; i < live->count; i++)
        free(live->block[i]);
    for (uint32_t i = 0; i < live->free_count; i++)
        free(live->free_memory[i]);
    free(live->block);
    free(live->free_memory);
}

/* Removes entry i, the others keep their order. */
static void end_block(struct live *live, uint32_t i)
{
    live->free_memory[live->free_count++] = live->block[i];
    for (live->count--; i < live->count; i++)
        live->block[i] = live->block[i + 1];
}

static bool find_live(void *blocks, uint64_t number, struct warp_block **block)
{
    const struct live *live = blocks;
    *block = NULL;
    for (uint32_t i = 0; i < live->count && !*block; i++)
        *block = live->block[i]->number == number ? live->block[i] : NULL;
    return number < live->next;
}

/* After a round in which no block began or ended, `still` of them by now: is that what the launch
 * does for ever? All blocks that could continue are looked at. */
static bool is_stuck(struct warp_grid *g, const struct live *live, bool more,
                     struct livelock_watch *watch, uint64_t still)
{
    bool all = watch->on && !more;
    if (watch->on)
        for (uint32_t i = 0; i < live->count; i++)
            all &= warp_livelock_block(&g->launch, live->block[i]);
    livelock_round(watch, still);
    g->launch.is_watched = watch->on;
    return all && g->is_alone && g->is_alone();
}

static bool describe_fault(struct warp_grid *g, const struct live *live, struct warp_fault *fault)
{
    uint32_t i = 0;
    while (i < live->count && !warp_livelock_describe(&g->launch, live->block[i], fault))
        i++;
    return i < live->count;
}

enum warp_end warp_grid_run(struct warp_grid *g, struct warp_fault *fault)
{
    struct warp_launch *l = &g->launch;
    uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    uint64_t last = g->count && g->first + g->count < blocks ? g->first + g->count : blocks;
    uint32_t room = (uint32_t)warp_cluster_blocks(l), sms = l->sms ? l->sms : 1;
    uint32_t most = max(l->resident, room);
    struct live live = {.bytes = warp_block_bytes(l), .next = g->first};
    l->find_block = find_live;
    l->blocks = &live;
    live.block = grow_zeroed(most * sizeof(void *), "a list of blocks");
    live.free_memory = grow_zeroed(most * sizeof(void *), "a list of blocks");
    enum warp_end end = WARP_DONE;
    struct livelock_watch watch = {0};
    uint64_t still = 0;
    while (end == WARP_DONE && (live.next < last || live.count)) {
        if (live.next < last && live.count < most) {
            uint32_t sm = (uint32_t)(live.next % sms);
            live.block[live.count++] = warp_block_begin(l, live.next++, sm, pop_memory(&live));
            still = 0;
        }
        uint32_t before = live.count;
        for (uint32_t i = 0; end == WARP_DONE && i < live.count;) {
            enum warp_end one = warp_block_run(l, live.block[i], 0, fault);
            if (one == WARP_FAULT)
                end = WARP_FAULT;
            else if (one == WARP_DONE)
                end_block(&live, i);
            else
                i++;
            if (end == WARP_DONE
                && ((g->limit && l->instructions >= g->limit) || (g->stop && g->stop(l->context))))
                end = WARP_INTERRUPTED;
        }
        still = live.count < before ? 0 : still + 1;
        if (end == WARP_DONE
            && is_stuck(g, &live, live.next < last && live.count < most, &watch, still)
            && describe_fault(g, &live, fault))
            end = WARP_DEADLOCK;
    }
    release_live(&live);
    return end;
}
