/* The side of the driver that the program calls: checks, tickets, and commands at the ends of queues. Included by driver.c.
 * Called with the lock held. */
#ifndef HEDDLE_DRIVER_ENQUEUE_H
#define HEDDLE_DRIVER_ENQUEUE_H

#include "components/amd/isa/kernel_registers.h"
#include "components/traces/replay/replay.h"
#include "driver_code_copies.h"
#include "driver_handles.h"
#include "driver_host.h"
#include "driver_ring.h"
#include "driver_user_state.h"

/* ---- commands ---- */

/* A queue for the GPU, on behalf of the handle; DRIVER_NONE: there are too many. */
static uint32_t queue_new(struct driver *d, uint32_t device, uint32_t handle)
{
    uint32_t number = 0;
    while (number < d->queue_count && driver_queue_at(d, number)->used)
        number++;
    if (number == DRIVER_QUEUES)
        return DRIVER_NONE;
    if (number == d->queue_count)
        d->queue_count++;
    *driver_queue_at(d, number) = (struct driver_queue){
        .used = true, .device = device, .handle = handle, .first = DRIVER_NONE, .last = DRIVER_NONE, .at = DRIVER_NONE,
        .user = DRIVER_NONE};
    return number;
}

static enum driver_status queue_check(const struct driver *d, uint32_t queue)
{
    if (queue >= d->queue_count || !driver_queue_at(d, queue)->used)
        return driver_fail(DRIVER_INVALID_VALUE, "there is no queue %u", queue);
    return host_usable();
}

/* Appends a command; waits for others to end when there are too many. */
static enum driver_status enqueue(struct driver *d, uint32_t queue, const struct driver_command *command,
                                  uint64_t *ticket)
{
    enum driver_status status = host_wait_some(d, (uint32_t)driver_params(d)->commands);
    if (status == DRIVER_OK)
        status = host_wait_trips(d);
    if (status != DRIVER_OK)
        return status;
    struct driver_queue *q = driver_queue_at(d, queue);
    bool fresh = d->free_command == DRIVER_NONE;
    uint32_t number = fresh ? d->used_commands++ : d->free_command;
    struct driver_command *k = driver_command_at(d, number);
    uint64_t now = driver_now(d);
    if (!fresh)
        d->free_command = k->next;
    *k = *command;
    k->ticket = ++d->last_ticket;
    k->launch = k->kind == DRIVER_LAUNCH ? ++d->launches_asked : 0;
    k->queue = queue;
    k->next = DRIVER_NONE;
    k->phase = PHASE_QUEUED;
    d->host_cycle = (d->host_cycle > now ? d->host_cycle : now) + (uint64_t)driver_params(d)->api_cost;
    k->not_before = d->host_cycle;
    *driver_ticket_at(d, k->ticket) = (struct driver_ticket){k->ticket, 0};
    if (q->at == DRIVER_NONE)
        q->at = number;
    if (q->first == DRIVER_NONE)
        q->first = number;
    else
        driver_command_at(d, q->last)->next = number;
    q->last = number;
    d->undone++;
    packet_command(d, number);
    record_enqueued(k);
    if (ticket)
        *ticket = k->ticket;
    return DRIVER_OK;
}

static enum driver_status enqueue_move(struct driver *d, uint32_t queue, enum driver_kind kind, char *host,
                                       uint64_t address, uint64_t size, uint64_t *ticket)
{
    uint32_t device;
    enum driver_status status = queue_check(d, queue);
    if (status == DRIVER_OK)
        status = memory_check(d, address, size, driver_kind_names[kind], &device);
    if (status != DRIVER_OK)
        return status;
    struct driver_command k = {.kind = (uint8_t)kind, .host = host, .device_address = address, .size = size};
    if (kind == DRIVER_WRITE && program_find(driver_program(d), address)->use == PROGRAM_CODE)
        k.span = SPAN_CODE;
    return enqueue(d, queue, &k, ticket);
}

static enum driver_status enqueue_fill(struct driver *d, uint32_t queue, uint64_t address, const uint8_t *pattern,
                                       uint32_t bytes, uint64_t count, uint64_t *ticket)
{
    uint32_t device;
    uint8_t word[4];
    if (bytes != 1 && bytes != 2 && bytes != 4)
        return driver_fail(DRIVER_INVALID_VALUE, "a pattern has 1, 2 or 4 bytes, not %u", bytes);
    enum driver_status status = queue_check(d, queue);
    if (status == DRIVER_OK && count > UINT64_MAX / 4)
        status = driver_fail(DRIVER_INVALID_VALUE, "fill of %" PRIu64 " elements", count);
    if (status == DRIVER_OK)
        status = memory_check(d, address, count * bytes, "fill", &device);
    if (status != DRIVER_OK)
        return status;
    for (uint32_t i = 0; i < 4; i++)
        word[i] = pattern[(i + 4 - address % 4) % bytes];
    struct driver_command k = {.kind = DRIVER_FILL, .device_address = address, .size = count * bytes};
    memcpy(&k.pattern, word, sizeof word);
    return enqueue(d, queue, &k, ticket);
}

/* ---- launches ---- */

static enum driver_status launch_check(const struct driver *d, uint32_t number, const struct driver_launch *l)
{
    const struct driver_device_info *info = &d->device[number].info;
    uint64_t items = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    const struct code_lack *lack = code_find_lack(l->entry);
    if (lack)
        return driver_fail(DRIVER_FAULT, "%s", lack->text);
    if (!items || !l->grid[0] || !l->grid[1] || !l->grid[2])
        return driver_fail(DRIVER_INVALID_VALUE, "kernel '%s': empty grid or work-group", l->name);
    if (items > info->max_work_group)
        return driver_fail(DRIVER_TOO_LARGE, "kernel '%s': work-groups of %" PRIu64 " work-items; at most %u run on %s",
                           l->name, items, info->max_work_group, info->name);
    if (l->group_bytes > info->lds_bytes_per_cu)
        return driver_fail(DRIVER_TOO_LARGE, "kernel '%s': %u bytes of LDS a work-group; a compute unit of %s has %u",
                           l->name, l->group_bytes, info->name, info->lds_bytes_per_cu);
    if (!program_find(driver_program(d), l->entry))
        return driver_fail(DRIVER_INVALID_ADDRESS, "kernel '%s': its code at 0x%" PRIx64 " is not allocated", l->name,
                           l->entry);
    return DRIVER_OK;
}

/* Is there a compute unit with room for one work-group's registers? */
static enum driver_status launch_check_registers(const struct driver *d, uint32_t number,
                                                 const struct driver_launch *l, uint32_t waves)
{
    const struct driver_device_info *info = &d->device[number].info;
    struct aql_descriptor descriptor;
    memcpy(&descriptor, l->descriptor, sizeof descriptor);
    struct kernel_registers registers;
    kernel_registers_decode(&registers, KERNEL_GFX8, descriptor.rsrc1, descriptor.rsrc2, descriptor.properties);
    uint32_t vgprs = registers.vgprs, sgprs = registers.sgprs;
    uint32_t simd = info->wavefronts_per_simd;
    simd = info->vgprs_per_simd / vgprs < simd ? info->vgprs_per_simd / vgprs : simd;
    sgprs = (sgprs + 15) / 16 * 16;
    simd = info->sgprs_per_simd / sgprs < simd ? info->sgprs_per_simd / sgprs : simd;
    if (waves <= simd * info->simds_per_cu)
        return DRIVER_OK;
    return driver_fail(DRIVER_TOO_LARGE,
                       "kernel '%s': a work-group has %u wavefronts with %u vector and %u scalar registers each; a "
                       "compute unit of %s holds %u of them",
                       l->name, waves, vgprs, sgprs, info->name, simd * info->simds_per_cu);
}

/* For a packet in a user queue that the descriptor in the code object does not describe. */
static void launch_write_descriptor(const struct driver_device *device, struct driver_command *k, char *at)
{
    struct aql_descriptor own;
    k->object = device->ring_address + k->ring_offset + k->own_descriptor;
    memcpy(&own, k->descriptor, sizeof own);
    own.entry_offset = (int64_t)(k->entry - k->object);
    own.first_group = k->first_group;
    own.groups = launch_count(k);
    own.kernel = k->kernel + 1;
    memcpy(at + k->own_descriptor, &own, sizeof own);
}

/* Packet, queue object and arguments side by side, for position `start` of the ring; see WORK_QUEUE_OFFSET. */
static void launch_write_arguments(const struct driver_device *device, const struct driver_launch *l,
                                   struct driver_command *k, uint32_t kernarg_offset, uint64_t start, char *at)
{
    bool gfx8 = !strcmp(device->info.isa, "gfx803");
    uint32_t shared = gfx8 ? WORK_SHARED_APERTURE_GFX8 : WORK_SHARED_APERTURE_GFX9;
    uint32_t private = gfx8 ? WORK_PRIVATE_APERTURE_GFX8 : WORK_PRIVATE_APERTURE_GFX9;
    k->ring_offset = (uint32_t)(start % device->ring_bytes);
    k->packet.kernarg = device->ring_address + k->ring_offset + kernarg_offset;
    struct aql_packet seen = k->packet;
    seen.gpu = 0;
    memset(at, 0, kernarg_offset);
    memcpy(at, &seen, sizeof seen);
    if (k->own_descriptor)
        launch_write_descriptor(device, k, at);
    if (kernarg_offset > WORK_QUEUE_OFFSET) {
        memcpy(at + WORK_QUEUE_OFFSET + WORK_QUEUE_SHARED_APERTURE, &shared, sizeof shared);
        memcpy(at + WORK_QUEUE_OFFSET + WORK_QUEUE_PRIVATE_APERTURE, &private, sizeof private);
    }
    if (l->kernarg_bytes)
        memcpy(at + kernarg_offset, l->kernarg, l->kernarg_bytes);
}

static uint32_t launch_dimensions(const struct driver_launch *l)
{
    return l->grid[2] > 1 ? 3 : l->grid[1] > 1 ? 2 : 1;
}

/* A piece of the ring with the launch's packet and arguments: the last one, when it contains just these, or a new one. */
static enum driver_status launch_take_piece(struct driver *d, struct driver_device *device, const struct driver_launch *l,
                                            struct driver_command *k, uint32_t queue, uint32_t kernarg_offset, uint32_t align)
{
    uint32_t bytes = kernarg_offset + l->kernarg_bytes;
    char *content = code_new(bytes);
    launch_write_arguments(device, l, k, kernarg_offset, device->last_piece.start, content);
    if (ring_is_last(device, content, bytes, queue)) {
        k->piece = ring_hold(device, device->last_piece.start, bytes, true);
        d->io.stats.launch_copies_saved += 2;
        free(content);
        return DRIVER_OK;
    }
    uint64_t start = 0;
    enum driver_status status = ring_find(d, device, bytes, align, &start);
    if (status == DRIVER_OK) {
        launch_write_arguments(device, l, k, kernarg_offset, start, content);
        k->piece = ring_take(device, start, content, bytes, queue);
        k->size = bytes;
        d->io.stats.launch_copies += 2;
    }
    free(content);
    return status;
}

/* Copies of arguments and packet as commands of their own, in front of the launch. */
static enum driver_status enqueue_stages(struct driver *d, uint32_t queue, struct driver_command *launch, uint32_t kernarg_offset)
{
    struct driver_command arguments = {.kind = DRIVER_STAGE, .span = SPAN_ARGUMENTS, .piece = DRIVER_NONE,
                                       .ring_offset = launch->ring_offset + kernarg_offset,
                                       .size = launch->size - kernarg_offset};
    struct driver_command packet = {.kind = DRIVER_STAGE, .span = SPAN_PACKET, .piece = launch->piece,
                                    .ring_offset = launch->ring_offset, .size = kernarg_offset};
    enum driver_status status = arguments.size ? enqueue(d, queue, &arguments, NULL) : DRIVER_OK;
    launch->size = 0;
    return status == DRIVER_OK ? enqueue(d, queue, &packet, NULL) : status;
}

/* The code object has been copied when it was loaded; each further launch finds it. */
static void launch_count_code(struct driver *d, uint64_t entry)
{
    if (code_first_launch(entry))
        d->io.stats.launch_copies++;
    else
        d->io.stats.launch_copies_saved++;
}

/* Work-groups of the launch; the grid is not empty. */
static uint64_t launch_groups(const struct driver_launch *l)
{
    uint64_t groups = 1;
    for (unsigned i = 0; i < 3; i++)
        groups *= (l->grid[i] + l->block[i] - 1) / l->block[i];
    return groups;
}

/* What can be said before anything is enqueued. */
static enum driver_status launch_check_all(const struct driver *d, uint32_t number, const struct driver_launch *l)
{
    enum driver_status status = launch_check(d, number, l);
    uint32_t items = (uint32_t)l->block[0] * l->block[1] * l->block[2];
    return status == DRIVER_OK ? launch_check_registers(d, number, l, (items + 63) / 64) : status;
}

static enum driver_status user_for_launches(struct driver *d, uint32_t queue);

/* Launches work-groups first .. first + count - 1 on the GPU of the queue. */
static enum driver_status enqueue_part(struct driver *d, uint32_t queue, const struct driver_launch *l, uint64_t first,
                                       uint64_t count, uint64_t *ticket)
{
    enum { QUEUE_BYTES = 128, LINE = 64 };
    enum driver_status status;
    uint32_t number = driver_queue_at(d, queue)->device;
    struct driver_device *device = &d->device[number];
    uint32_t items = (uint32_t)l->block[0] * l->block[1] * l->block[2];
    struct driver_command k = {.kind = DRIVER_LAUNCH, .entry = l->entry, .scratch_pool = DRIVER_NONE, .user = DRIVER_NONE,
                               .waves_per_group = (items + 63) / 64,
                               .first_group = (uint32_t)first, .groups = count,
                               .pid = driver_handle_at(d, driver_queue_at(d, queue)->handle)->pid};
    struct aql_descriptor descriptor;
    memcpy(&descriptor, l->descriptor, sizeof descriptor);
    memcpy(k.descriptor, l->descriptor, sizeof k.descriptor);
    if ((status = launch_check_all(d, number, l)) != DRIVER_OK || (status = ring_open(d, number)) != DRIVER_OK)
        return status;
    uint32_t align = l->kernarg_align > LINE ? l->kernarg_align : LINE;
    uint64_t distance = code_copy_distance(driver_queue_at(d, queue)->handle, number, l->entry);
    k.entry += distance;
    k.object = l->kernel_object ? l->kernel_object + distance : 0;
    uint32_t kernarg_offset = sizeof k.packet + (descriptor.properties & 1u << 2 ? QUEUE_BYTES : 0);
    if (user_launches(d) && l->trace)
        return driver_fail(DRIVER_INVALID_VALUE, "a recorded trace cannot be played through user queues: build the platform "
                                                 "with its driver's launches by command");
    if (user_launches(d)) {
        if ((status = user_for_launches(d, queue)) != DRIVER_OK)
            return status;
        k.user = driver_queue_at(d, queue)->user;
        if (count != launch_groups(l) || k.object + (uint64_t)descriptor.entry_offset != k.entry || k.object % LINE) {
            k.own_descriptor = (uint16_t)kernarg_offset;
            kernarg_offset += sizeof descriptor;
        }
    }
    if (align & (align - 1) || align > device->ring_bytes)
        return driver_fail(DRIVER_INVALID_VALUE, "kernel '%s': arguments aligned to %u", l->name, align);
    kernarg_offset = (kernarg_offset + align - 1) / align * align;
    if (l->kernarg_bytes > device->ring_bytes - kernarg_offset)
        return driver_fail(DRIVER_INVALID_VALUE, "kernel '%s': %u bytes of kernel arguments do not fit into %u", l->name,
                           l->kernarg_bytes, device->ring_bytes - kernarg_offset);
    k.kernel = program_kernel(driver_program(d), l->name, l->symbol);
    k.packet = (struct aql_packet){.header = 2 /* kernel dispatch */, .setup = (uint16_t)launch_dimensions(l),
                                   .gpu = (uint16_t)number, .private_bytes = l->private_bytes,
                                   .group_bytes = l->group_bytes, .kernel_object = k.object};
    for (unsigned i = 0; i < 3; i++) {
        k.packet.work_group[i] = l->block[i];
        k.packet.grid[i] = l->grid[i];
    }
    if (k.user != DRIVER_NONE && !k.own_descriptor)
        program_set_object(driver_program(d), k.object, k.kernel);
    status = launch_take_piece(d, device, l, &k, queue, kernarg_offset, align);
    if (status == DRIVER_OK && k.size && driver_params(d)->staging == DRIVER_STAGING_SEPARATE)
        status = enqueue_stages(d, queue, &k, kernarg_offset);
    if (status != DRIVER_OK)
        return status;
    launch_count_code(d, l->entry);
    packet_launch(d, queue, l);
    if (l->trace) {
        k.played = true;
        replay_launch((uint32_t)d->launches_asked + 1, l->trace, !platform_sass_no_cache());
    }
    status = enqueue(d, queue, &k, ticket);
    if (status == DRIVER_OK)
        record_launch(d, queue, l);
    return status;
}

static enum driver_status enqueue_barrier(struct driver *d, uint32_t queue, uint64_t awaited, uint64_t *ticket)
{
    struct driver_command k = {.kind = DRIVER_BARRIER, .awaited = awaited};
    return enqueue(d, queue, &k, ticket);
}

/* The ticket of the last command of the queue that is not done; 0: there is none. */
static uint64_t queue_last(const struct driver *d, uint32_t queue)
{
    uint32_t last = driver_queue_at(d, queue)->last;
    return last == DRIVER_NONE ? 0 : driver_command_at(d, last)->ticket;
}

/* The parts of a launch wait in queues of their own, one a GPU: each begins when what stood before the launch in `queue` is
 * done, and `queue` goes on when all parts are. */
static enum driver_status enqueue_unified(struct driver *d, uint32_t queue, const struct driver_launch *l, uint64_t *ticket)
{
    struct driver_handle *h = driver_handle_at(d, driver_queue_at(d, queue)->handle);
    uint64_t before = queue_last(d, queue), groups, first = 0, parts[DRIVER_DEVICES], ignored;
    enum driver_status status = DRIVER_OK;
    uint32_t used = 0;
    for (uint32_t i = 0; i < h->count && status == DRIVER_OK; i++)
        status = launch_check_all(d, h->member[i], l);
    if (status != DRIVER_OK)
        return status;
    if ((groups = launch_groups(l)) > UINT32_MAX)
        return driver_fail(DRIVER_TOO_LARGE, "kernel '%s': %" PRIu64 " work-groups; a unified device takes %u", l->name,
                           groups, UINT32_MAX);
    for (uint32_t i = 0; i < h->count && status == DRIVER_OK; i++) {
        uint64_t count = memory_share_of(groups, h->count, i);
        if (!count)
            break;
        if (h->part_queue[i] == DRIVER_NONE
            && (h->part_queue[i] = queue_new(d, h->member[i], driver_queue_at(d, queue)->handle)) == DRIVER_NONE)
            return driver_fail(DRIVER_OUT_OF_MEMORY, "more than %d queues", DRIVER_QUEUES);
        if (before)
            status = enqueue_barrier(d, h->part_queue[i], before, NULL);
        if (status == DRIVER_OK)
            status = enqueue_part(d, h->part_queue[i], l, first, count, &parts[used]);
        used += status == DRIVER_OK;
        stat_histogram_add(&d->io.stats.unified_groups, count);
        first += count;
    }
    for (uint32_t i = 0; i < used && status == DRIVER_OK; i++)
        status = enqueue_barrier(d, queue, parts[i], ticket ? ticket : &ignored);
    d->io.stats.unified_launches++;
    return status;
}

static enum driver_status enqueue_launch(struct driver *d, uint32_t queue, const struct driver_launch *l, uint64_t *ticket)
{
    enum driver_status status = queue_check(d, queue);
    if (status != DRIVER_OK)
        return status;
    if (driver_handle_at(d, driver_queue_at(d, queue)->handle)->count > 1)
        return enqueue_unified(d, queue, l, ticket);
    status = launch_check_all(d, driver_queue_at(d, queue)->device, l);
    return status == DRIVER_OK ? enqueue_part(d, queue, l, 0, launch_groups(l), ticket) : status;
}

#endif
