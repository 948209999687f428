/* Messages that move data: writes, reads, copies and fills in pieces, through slots.
 *
 * Data that cross the link are sent, or asked for, at the pace of the link: it stays full, and what
 * another queue sends waits for a page or two and not for all of a copy. */
#include <string.h>

#include "base/number.h"
#include "base/wide.h"
#include "components/host/driver/driver_memory.h"
#include "components/host/driver/driver_process.h"
#include "components/host/driver/driver_state.h"

#include "driver_commands.h"

/* ---- slots: messages in flight ---- */

/* Kernels may wait for copies and for pages, so launches leave one slot to other messages. */
static int slot_find(const struct driver *d, const struct driver_device *device)
{
    uint32_t count = driver_params(d)->in_flight;
    if (device->slots_used >= count && device->slots_used != device->slots_of_launches)
        return -1;
    for (uint32_t i = 0; i < count + DRIVER_SPARE_SLOTS; i++)
        if (driver_slot_at(device, i)->command == DRIVER_NONE)
            return (int)i;
    return -1;
}

static int slot_for(struct driver *d, uint32_t number)
{
    int slot = slot_find(d, &d->device[number]);
    return slot >= 0 && driver_gpu_can_send(d, number) ? slot : -1;
}

static int slot_for_launch(struct driver *d, uint32_t number)
{
    const struct driver_device *device = &d->device[number];
    return device->slots_used < driver_params(d)->in_flight ? slot_for(d, number) : -1;
}

enum { LINK_HEADER = 20 }; /* bytes beside the data of a write: frame, address and size */

static bool link_busy(struct driver *d, uint32_t number, enum link_way way)
{
    const struct driver_device *device = &d->device[number];
    uint64_t now_ps = engine.domains[d->io.base.domain].time_ps;
    uint64_t page_ps =
        device->bandwidth ? (uint64_t)COPY_MESSAGE_BYTES * PS_PER_S / device->bandwidth : 0;
    if (device->link_ps[way] <= now_ps + page_ps)
        return false;
    driver_wake_at(d, engine_cycle_at(d->io.base.domain, device->link_ps[way] - page_ps));
    return true;
}

static void link_take(struct driver *d, uint32_t number, enum link_way way, uint32_t bytes)
{
    struct driver_device *device = &d->device[number];
    uint64_t now_ps = engine.domains[d->io.base.domain].time_ps;
    if (!device->bandwidth)
        return;
    if (device->link_ps[way] < now_ps)
        device->link_ps[way] = now_ps;
    device->link_ps[way] += (uint64_t)(bytes + LINK_HEADER) * PS_PER_S / device->bandwidth;
}

static void slot_acquire(struct driver *d, uint32_t number, int slot, uint32_t command,
                         uint64_t offset, uint32_t size)
{
    struct driver_device *device = &d->device[number];
    *driver_slot_at(device, (uint32_t)slot) = (struct driver_slot){command, size, offset};
    device->slots_used++;
    driver_command_at(d, command)->in_flight++;
}

/* ---- moving data ---- */

static void *send_write(struct driver *d, uint32_t number, int slot, uint64_t physical,
                        uint32_t size)
{
    void *payload = driver_gpu_send_write(d, number, (uint16_t)slot, physical, size);
    d->io.stats.bytes_to_gpu += size;
    return command_write_data(payload);
}

static void program_read(const struct driver *d, const struct driver_command *k, void *to,
                         uint64_t offset, uint64_t size)
{
    const struct driver_programs *programs = driver_process()->programs;
    if (programs)
        programs->take(driver_queue_at(d, k->queue)->handle, to, k->move.host + offset, size);
    else
        memcpy(to, k->move.host + offset, size);
}

static void program_write(const struct driver *d, const struct driver_command *k, uint64_t offset,
                          const void *from, uint64_t size)
{
    const struct driver_programs *programs = driver_process()->programs;
    if (programs)
        programs->give(driver_queue_at(d, k->queue)->handle, k->move.host + offset, from, size);
    else
        memcpy(k->move.host + offset, from, size);
}

static enum copy_kind command_copy_kind(const struct driver_command *k)
{
    switch ((enum driver_kind)k->kind) {
    case DRIVER_READ:
        return COPY_FROM_GPU;
    case DRIVER_COPY:
        return k->move.way == COPY_INSIDE     ? COPY_ON_GPU
               : k->move.way == COPY_TO_PEERS ? COPY_TO_PEER
                                              : COPY_BETWEEN_GPUS;
    case DRIVER_FILL:
        return COPY_FILL;
    default:
        return COPY_TO_GPU;
    }
}

static uint32_t copy_cut(struct driver *d, uint32_t command, uint64_t physical, uint64_t most)
{
    const struct driver_command *k = driver_command_at(d, command);
    return driver_copy_ops(d)->cut(driver_copy(d), command_copy_kind(k), physical, most);
}

/* Sends the next piece of the command's bytes, which go to `address` and on; `from` NULL: they are
 * the program's. */
static bool move_write(struct driver *d, uint32_t command, uint32_t number, uint64_t address,
                       const char *from)
{
    struct driver_command *k = driver_command_at(d, command);
    uint64_t rest, physical = memory_physical(d, address + k->sent, &rest);
    int slot = link_busy(d, number, LINK_THERE) ? -1 : slot_for(d, number);
    if (slot < 0)
        return false;
    uint32_t bytes = copy_cut(d, command, physical, min(rest, k->size - k->sent));
    void *data = send_write(d, number, slot, physical, bytes);
    if (from)
        memcpy(data, from + k->sent, bytes);
    else
        program_read(d, k, data, k->sent, bytes);
    link_take(d, number, LINK_THERE, bytes);
    slot_acquire(d, number, slot, command, k->sent, bytes);
    k->sent += bytes;
    return true;
}

static bool send_writes(struct driver *d, uint32_t command, uint32_t gpu)
{
    const struct driver_command *k = driver_command_at(d, command);
    uint32_t owner = memory_owner(d, k->move.address + k->sent);
    (void)gpu;
    return move_write(d, command, owner, k->move.address, NULL);
}

static bool send_stages(struct driver *d, uint32_t command, uint32_t gpu)
{
    const struct driver_command *k = driver_command_at(d, command);
    const struct driver_ring *r = argument_ring_seen(d, gpu, k->pid);
    return move_write(d, command, gpu, r->address + k->ring_offset,
                      arena_at(char, r->mirror) + k->ring_offset);
}

static bool send_reads(struct driver *d, uint32_t command, uint32_t gpu)
{
    struct driver_command *k = driver_command_at(d, command);
    uint64_t rest, physical = memory_physical(d, k->move.address + k->sent, &rest);
    uint32_t number = memory_owner(d, k->move.address + k->sent);
    int slot = link_busy(d, number, LINK_BACK) ? -1 : slot_for(d, number);
    (void)gpu;
    if (slot < 0)
        return false;
    uint32_t bytes = copy_cut(d, command, physical, min(rest, k->size - k->sent));
    link_take(d, number, LINK_BACK, bytes);
    driver_gpu_send_read(d, number, (uint16_t)slot, physical, bytes);
    slot_acquire(d, number, slot, command, k->sent, bytes);
    k->sent += bytes;
    return true;
}

/* True if the DMA engine of `gpu` may use the allocation that holds `address` on GPU `owner`. As
 * kernels there may. */
static bool copy_reaches(const struct driver *d, uint32_t gpu, uint32_t owner, uint64_t address)
{
    const struct program_table *program = driver_program(d);
    return gpu_set_has(&program->reach[gpu], owner) || program_find(program, address)->open;
}

/* The GPU whose DMA engine copies between memory at `from` on GPU `source` and memory at `to` on
 * GPU `target`: the one that has the source, if it can, since writes need no answer with data; or
 * DRIVER_NONE. */
static uint32_t copy_engine(const struct driver *d, uint32_t source, uint32_t target, uint64_t from,
                            uint64_t to)
{
    if (source == target)
        return source;
    if (!d->device[source].takes_copies || !d->device[target].takes_copies)
        return DRIVER_NONE;
    return copy_reaches(d, source, target, to)     ? source
           : copy_reaches(d, target, source, from) ? target
                                                   : DRIVER_NONE;
}

static enum copy_way copy_find_way(const struct driver *d, const struct driver_command *k)
{
    struct gpu_set sources = memory_owners(d, k->move.source, k->size),
                   targets = memory_owners(d, k->move.address, k->size),
                   all = gpu_set_join(sources, &targets);
    if (gpu_set_next(&all, gpu_set_next(&all, 0) + 1) == GPU_SET_NONE)
        return COPY_INSIDE;
    for (int s = GPU_SET_NONE; (s = gpu_set_next(&sources, s + 1)) != GPU_SET_NONE;) {
        for (int t = GPU_SET_NONE; (t = gpu_set_next(&targets, t + 1)) != GPU_SET_NONE;)
            if (copy_engine(d, (uint32_t)s, (uint32_t)t, k->move.source, k->move.address)
                == DRIVER_NONE)
                return COPY_BY_HOST;
    }
    return COPY_TO_PEERS;
}

static bool send_copies(struct driver *d, uint32_t command, uint32_t gpu)
{
    struct driver_command *k = driver_command_at(d, command);
    (void)gpu;
    if (k->move.way == COPY_BY_HOST)
        return send_between(d, command);
    if (k->sent == k->size)
        return false;
    uint64_t rest_to, rest_from;
    uint64_t (*translate)(const struct driver *, uint64_t, uint64_t *) =
        k->move.way == COPY_INSIDE ? memory_run : memory_physical;
    uint64_t to = translate(d, k->move.address + k->sent, &rest_to);
    uint64_t from = translate(d, k->move.source + k->sent, &rest_from);
    uint32_t number =
        copy_engine(d, memory_device_of(&d->memory, from), memory_device_of(&d->memory, to),
                    k->move.source, k->move.address);
    if (number == DRIVER_NONE)
        number = memory_device_of(
            &d->memory,
            from); /* access was taken back meanwhile: a move that has begun continues */
    int slot = slot_for(d, number);
    if (slot < 0)
        return false;
    uint32_t bytes = copy_cut(d, command, to, min(min(rest_to, rest_from), k->size - k->sent));
    driver_gpu_send_copy(d, number, (uint16_t)slot, to, from, bytes);
    slot_acquire(d, number, slot, command, k->sent, bytes);
    k->sent += bytes;
    return true;
}

/* Words at aligned addresses go as fills, the bytes at the ends as writes. */
static bool send_fills(struct driver *d, uint32_t command, uint32_t gpu)
{
    struct driver_command *k = driver_command_at(d, command);
    uint64_t rest, address = k->move.address + k->sent, left = k->size - k->sent;
    uint32_t number = memory_owner(d, address);
    (void)gpu;
    uint64_t physical = memory_run(d, address, &rest);
    int slot = slot_for(d, number);
    uint32_t bytes;
    if (slot < 0)
        return false;
    if (address % 4 == 0 && left >= 4) {
        bytes = copy_cut(d, command, physical, min(rest, left & ~(uint64_t)3)) & ~3u;
        driver_gpu_send_fill(d, number, (uint16_t)slot, physical, bytes, k->move.pattern);
    } else {
        bytes = (uint32_t)min(4 - address % 4, left);
        memcpy(send_write(d, number, slot, physical, bytes),
               (const char *)&k->move.pattern + address % 4, bytes);
    }
    slot_acquire(d, number, slot, command, k->sent, bytes);
    k->sent += bytes;
    return true;
}

/* Each message is a shoot-down to GPU number `sent`. */
static bool send_shootdowns(struct driver *d, uint32_t command, uint32_t gpu)
{
    struct driver_command *k = driver_command_at(d, command);
    uint32_t number = (uint32_t)k->sent;
    int slot = slot_for(d, number);
    (void)gpu;
    if (slot < 0)
        return false;
    driver_gpu_send_shootdown(d, number, (uint16_t)slot, k->shootdown.address, k->shootdown.bytes,
                              k->pid);
    slot_acquire(d, number, slot, command, 0, 1);
    d->io.stats.shootdowns++;
    k->sent++;
    return true;
}
