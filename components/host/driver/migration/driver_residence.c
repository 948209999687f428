/* The managed pages that lie in the memory of each GPU, and the choice of those that leave for the
 * host's memory when another page needs room.
 *
 * A frame is a page of a GPU's memory. Frames that hold managed pages are a list from the oldest to
 * the youngest. A page that comes is the youngest; with a policy that `refreshes`, a fault makes
 * all resident pages of its block the youngest, in the order of their addresses. The driver knows
 * nothing of accesses that do not fault, as the driver of NVIDIA's UVM does not (Allen, Ge, SC
 * 2021). All resident pages of the victim's block leave together.
 *
 * The page table has the truth: a frame whose page is no longer mapped there, since it was freed or
 * remapped, leaves the list when it is met. */
#include "base/number.h"
#include "components/host/driver/eviction_policy.h"
#include "runtime/engine/component_failure.h"

#include "driver_migration.h"

struct driver_frame {
    uint64_t address;
    uint32_t pid;            /* 0: no managed page is here */
    uint32_t older, younger; /* 1 + frame, 0: none */
    uint64_t pause;          /* number of that in which the page came */
};

static void residence_init(struct driver *d)
{
    if (!driver_move_count(d))
        return;
    if (driver_has_host(d) && !driver_eviction_ops(d))
        engine_die(&d->io.base, "there is memory of the host for managed pages, and nothing says "
                                "which leave a GPU: set `eviction = lru_eviction` of the driver");
    for (uint32_t i = 0; i < d->gpu_count; i++)
        d->residence[i].frames = arena_allocate(d->memory.device[i].size / driver_page_bytes(d)
                                                * sizeof(struct driver_frame));
}

static struct driver_frame *frame_at(const struct driver_residence *r, uint32_t frame)
{
    return arena_at(struct driver_frame, r->frames) + frame;
}

static uint32_t frame_of(const struct driver *d, uint32_t gpu, uint64_t physical)
{
    return (uint32_t)((physical - d->memory.device[gpu].base) / driver_page_bytes(d));
}

static uint64_t frame_physical(const struct driver *d, uint32_t gpu, uint32_t frame)
{
    return d->memory.device[gpu].base + frame * driver_page_bytes(d);
}

static void frame_unlink(struct driver_residence *r, uint32_t frame)
{
    struct driver_frame *f = frame_at(r, frame);
    *(f->older ? &frame_at(r, f->older - 1)->younger : &r->oldest) = f->younger;
    *(f->younger ? &frame_at(r, f->younger - 1)->older : &r->youngest) = f->older;
    f->older = f->younger = 0;
}

static void frame_append(struct driver_residence *r, uint32_t frame)
{
    struct driver_frame *f = frame_at(r, frame);
    f->older = r->youngest;
    *(r->youngest ? &frame_at(r, r->youngest - 1)->younger : &r->oldest) = frame + 1;
    r->youngest = frame + 1;
}

static void frame_leave(struct driver_residence *r, uint32_t frame)
{
    frame_unlink(r, frame);
    frame_at(r, frame)->pid = 0;
    r->count--;
}

static void residence_went(struct driver *d, uint64_t physical)
{
    uint32_t gpu = memory_device_of(&d->memory, physical);
    if (gpu >= d->gpu_count)
        return;
    uint32_t frame = frame_of(d, gpu, physical);
    if (frame_at(&d->residence[gpu], frame)->pid)
        frame_leave(&d->residence[gpu], frame);
}

static void residence_came(struct driver *d, uint32_t pid, uint64_t address, uint64_t physical)
{
    uint32_t gpu = memory_device_of(&d->memory, physical);
    if (gpu >= d->gpu_count)
        return;
    residence_went(d, physical);
    struct driver_residence *r = &d->residence[gpu];
    uint32_t frame = frame_of(d, gpu, physical);
    *frame_at(r, frame) =
        (struct driver_frame){.address = address, .pid = pid, .pause = d->io.stats.pauses};
    frame_append(r, frame);
    r->count++;
}

static void residence_free(struct driver *d, uint32_t pid, uint64_t address, uint64_t size)
{
    uint64_t page = driver_page_bytes(d), physical, flags;
    if (!driver_move_count(d))
        return;
    for (uint64_t at = address; at < address + size; at += page)
        if (page_table_look_up(driver_page_table(d), pid, at, &physical, &flags))
            residence_went(d, physical);
}

/* True if the page of the frame is still there and may go. */
static bool frame_holds(const struct driver *d, uint32_t gpu, uint32_t frame)
{
    const struct driver_frame *f = frame_at(&d->residence[gpu], frame);
    uint64_t physical, flags;
    return f->pid && page_table_look_up(driver_page_table(d), f->pid, f->address, &physical, &flags)
           && physical == frame_physical(d, gpu, frame) && (flags & PAGE_TABLE_UNIFIED);
}

static uint64_t block_start(const struct driver *d, uint64_t address)
{
    uint64_t block = driver_eviction_ops(d)->block(driver_eviction(d));
    block = max(block, driver_page_bytes(d));
    return address / block * block;
}

/* True if the page of the block lies in the memory of `gpu`. */
static bool block_page(const struct driver *d, uint32_t gpu, uint32_t pid, uint64_t address,
                       uint32_t *frame)
{
    uint64_t physical, flags;
    if (!page_table_look_up(driver_page_table(d), pid, address, &physical, &flags)
        || memory_device_of(&d->memory, physical) != gpu)
        return false;
    *frame = frame_of(d, gpu, physical);
    return frame_at(&d->residence[gpu], *frame)->pid != 0 && !(flags & PAGE_TABLE_COPIED);
}

static void residence_faulted(struct driver *d, uint32_t gpu, uint32_t pid, uint64_t address)
{
    uint64_t page = driver_page_bytes(d), first = block_start(d, address);
    if (!driver_evicts(d) || gpu >= d->gpu_count || !driver_eviction_ops(d)->refreshes)
        return;
    for (uint64_t at = first; block_start(d, at) == first; at += page) {
        uint32_t frame;
        if (!block_page(d, gpu, pid, at, &frame))
            continue;
        frame_unlink(&d->residence[gpu], frame);
        frame_append(&d->residence[gpu], frame);
    }
}

/* The frame that goes first. False: there is none. */
static bool residence_choose(struct driver *d, uint32_t gpu, uint32_t *frame)
{
    struct driver_residence *r = &d->residence[gpu];
    const struct eviction_policy_ops *policy = driver_eviction_ops(d);
    uint64_t frames = d->memory.device[gpu].size / driver_page_bytes(d);
    while (r->count) {
        *frame = r->oldest - 1;
        if (policy->pick) {
            *frame = (uint32_t)policy->pick(driver_eviction(d), frames);
            while (!frame_at(r, *frame)->pid)
                *frame = (uint32_t)((*frame + 1) % frames);
        }
        if (frame_holds(d, gpu, *frame))
            return true;
        frame_leave(r, *frame);
    }
    return false;
}

static bool residence_is_new(const struct driver *d, uint64_t physical)
{
    uint32_t gpu = memory_device_of(&d->memory, physical);
    if (gpu >= d->gpu_count || !gpu_set_any(&d->migrate.paused))
        return false;
    const struct driver_frame *f = frame_at(&d->residence[gpu], frame_of(d, gpu, physical));
    return f->pid && f->pause == d->io.stats.pauses;
}

static bool residence_evict(struct driver *d, uint32_t gpu)
{
    uint64_t page = driver_page_bytes(d);
    uint64_t free_pages = driver_evicts(d) ? d->memory.device[d->gpu_count].pages.free_pages : 0;
    uint32_t frame, count = 0;
    if (!free_pages || gpu >= d->gpu_count || !residence_choose(d, gpu, &frame))
        return false;
    const struct driver_frame *f = frame_at(&d->residence[gpu], frame);
    uint64_t first = block_start(d, f->address), at = first;
    for (; block_start(d, at) == first && count < free_pages; at += page) {
        const struct driver_page_request r = {.address = at,
                                              .pid = f->pid,
                                              .gpu = d->gpu_count,
                                              .port = DRIVER_NONE,
                                              .wish = PAGE_WISH_MOVE};
        if (!block_page(d, gpu, f->pid, at, &frame))
            continue;
        migrate_add_first(d, &r);
        count++;
    }
    return count > 0;
}
