/* Launches: checks, the dispatch packet, and the command that waits in a queue. Called by the
 * program's side with the lock held. Packet and arguments lie side by side in the GPU's ring
 * (driver_argument_ring.c); a launch on a unified device is cut into one part a GPU. */
#include "driver_launch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "components/amd/isa/kernel_registers.h"
#include "components/host/driver/commands/driver_commands.h"
#include "components/host/driver/driver_process.h"
#include "components/host/driver/driver_state.h"
#include "components/host/driver/program/driver_program.h"
#include "components/host/driver/unified_split.h"
#include "components/host/driver/user_queues/driver_user_queue.h"
#include "components/protocols/user_queue/aql_queue.h"

#include "driver_ptx.h"

enum {
    /* Arguments begin at a line of the caches; HSA asks for 16 bytes at least. */
    ARGUMENTS_ALIGN = 64,
    DESCRIPTOR_ALIGN = 64, /* LLVM AMDGPU usage, "Code Object Kernel Descriptor" */
    /* ENABLE_SGPR_QUEUE_PTR of the kernel code properties in that descriptor. */
    DESCRIPTOR_QUEUE_POINTER = 1 << 2
};

/* The address of the first instruction in the driver's tables. */
static uint64_t launch_code(const struct driver *d, uint32_t queue, const struct driver_launch *l)
{
    return queue_name(d, queue, l->entry);
}

static enum driver_status launch_check(const struct driver *d, uint32_t number, uint64_t code,
                                       const struct driver_launch *l)
{
    const struct driver_device_info *info = &d->device[number].info;
    uint64_t items = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    const struct code_lack *lack = code_find_lack(code);
    if (lack)
        return driver_fail(DRIVER_FAULT, "%s", lack->text);
    if (!items || !l->grid[0] || !l->grid[1] || !l->grid[2])
        return driver_fail(DRIVER_INVALID_VALUE, "empty grid or work-group (kernel '%s')", l->name);
    if (l->acquire > DRIVER_SCOPE_SYSTEM || l->release > DRIVER_SCOPE_SYSTEM)
        return driver_fail(DRIVER_INVALID_VALUE,
                           "acquire scope %u, release scope %u: scopes are 0 to %d "
                           "(kernel '%s')",
                           l->acquire, l->release, DRIVER_SCOPE_SYSTEM, l->name);
    if (items > info->max_work_group)
        return driver_fail(DRIVER_TOO_LARGE,
                           "work-groups of %" PRIu64
                           " work-items; at most %u run on %s (kernel '%s')",
                           items, info->max_work_group, info->name, l->name);
    if (l->group_bytes > info->lds_bytes_per_work_group)
        return driver_fail(
            DRIVER_TOO_LARGE,
            "%u bytes of LDS a work-group; a compute unit of %s has %u (kernel '%s')",
            l->group_bytes, info->name, info->lds_bytes_per_work_group, l->name);
    if (!program_find(driver_program(d), code))
        return driver_fail(DRIVER_INVALID_ADDRESS,
                           "code at 0x%" PRIx64 " is not allocated (kernel '%s')", l->entry,
                           l->name);
    return DRIVER_OK;
}

static uint32_t launch_waves_per_simd(const struct driver_device_info *info, const void *descriptor,
                                      struct kernel_registers *registers)
{
    const struct kernel_words words = kernel_words_read(descriptor);
    kernel_registers_decode(registers, isa_traits_of(info->isa)->registers, &words);
    uint32_t sgprs = round_up(registers->sgprs, 16);
    uint64_t by_registers =
        min(info->vgprs_per_simd / registers->vgprs, info->sgprs_per_simd / sgprs);
    return (uint32_t)min(info->wavefronts_per_simd, by_registers);
}

/* DRIVER_TOO_LARGE if a compute unit has no room for the registers of one work-group. */
static enum driver_status launch_check_registers(const struct driver *d, uint32_t number,
                                                 const struct driver_launch *l, uint32_t waves)
{
    const struct driver_device_info *info = &d->device[number].info;
    struct kernel_registers registers;
    uint32_t waves_max =
        launch_waves_per_simd(info, l->descriptor, &registers) * info->simds_per_cu;
    if (waves <= waves_max)
        return DRIVER_OK;
    return driver_fail(DRIVER_TOO_LARGE,
                       "a work-group has %u wavefronts with %u vector and %u scalar registers "
                       "each; a compute unit of %s holds %u of them (kernel '%s')",
                       waves, registers.vgprs, round_up(registers.sgprs, 16), info->name, waves_max,
                       l->name);
}

static uint32_t launch_dimensions(const struct driver_launch *l)
{
    return l->grid[2] > 1 ? 3 : l->grid[1] > 1 ? 2 : 1;
}

/* Enqueues copies of arguments and packet as commands of their own, before the launch. */
static enum driver_status enqueue_stages(struct driver *d, uint32_t queue,
                                         struct driver_command *launch, uint32_t kernarg_offset)
{
    struct driver_command arguments = {.kind = DRIVER_STAGE,
                                       .pid = launch->pid,
                                       .span = SPAN_ARGUMENTS,
                                       .piece = DRIVER_NONE,
                                       .ring_offset = launch->ring_offset + kernarg_offset,
                                       .size = launch->size - kernarg_offset};
    struct driver_command packet = {.kind = DRIVER_STAGE,
                                    .pid = launch->pid,
                                    .span = SPAN_PACKET,
                                    .piece = launch->piece,
                                    .ring_offset = launch->ring_offset,
                                    .size = kernarg_offset};
    enum driver_status status =
        arguments.size ? enqueue_command(d, queue, &arguments, NULL) : DRIVER_OK;
    launch->size = 0;
    return status == DRIVER_OK ? enqueue_command(d, queue, &packet, NULL) : status;
}

/* The code object has been copied when it was loaded; each further launch finds it. */
static void launch_count_code(struct driver *d, uint64_t entry)
{
    bool always = driver_params(d)->staging == DRIVER_STAGING_ALWAYS;
    if (code_first_launch(entry) || always)
        d->io.stats.launch_copies++;
    else
        d->io.stats.launch_copies_saved++;
}

/* The number of work-groups; the grid is not empty. */
static uint64_t launch_groups(const struct driver_launch *l)
{
    uint64_t groups = 1;
    for (unsigned i = 0; i < 3; i++)
        groups *= divide_up(l->grid[i], l->block[i]);
    return groups;
}

/* The wavefronts of a work-group. */
static uint32_t launch_waves(const struct driver_device *device, const struct driver_launch *l)
{
    uint32_t items = (uint32_t)l->block[0] * l->block[1] * l->block[2];
    return divide_up(items, device->info.lanes);
}

/* Every launch is checked before anything is enqueued. */
static enum driver_status launch_check_all(const struct driver *d, uint32_t queue, uint32_t number,
                                           const struct driver_launch *l)
{
    const struct driver_device *device = &d->device[number];
    uint64_t code = launch_code(d, queue, l);
    enum driver_status status = launch_check(d, number, code, l);
    if (status != DRIVER_OK)
        return status;
    return device_executes_ptx(device)
               ? ptx_check(device, code, l)
               : launch_check_registers(d, number, l, launch_waves(device, l));
}

/* A part of a launch that is being made into a command. */
struct launch_part {
    const struct driver_launch *launch;
    uint64_t code; /* launch_code() */
    uint32_t queue, gpu;
    uint32_t arguments; /* their offset from the packet */
    uint32_t align;     /* alignment of the arguments */
    struct driver_command command;
};

/* Begins the part with work-groups first .. first + count - 1, on the GPU of the queue. */
static struct launch_part part_of(const struct driver *d, uint32_t queue,
                                  const struct driver_launch *l, uint64_t first, uint64_t count)
{
    const struct driver_queue *q = driver_queue_at(d, queue);
    uint64_t distance = code_copy_distance(q->handle, q->device, launch_code(d, queue, l));
    struct aql_descriptor descriptor;
    memcpy(&descriptor, l->descriptor, sizeof descriptor);
    struct launch_part p = {
        .launch = l, .code = launch_code(d, queue, l), .queue = queue, .gpu = q->device};
    p.align = max(l->kernarg_align, ARGUMENTS_ALIGN);
    p.arguments = sizeof(struct aql_packet)
                  + (descriptor.properties & DESCRIPTOR_QUEUE_POINTER ? AQL_QUEUE_BYTES : 0);
    p.command = (struct driver_command){
        .kind = DRIVER_LAUNCH,
        .pid = driver_handle_at(d, q->handle)->pid,
        .launch = {.entry = l->entry + distance,
                   .object = l->kernel_object ? l->kernel_object + distance : 0,
                   .scratch_pool = DRIVER_NONE,
                   .user = DRIVER_NONE,
                   .waves_per_group = launch_waves(&d->device[q->device], l),
                   .first_group = (uint32_t)first,
                   .groups = count}};
    memcpy(p.command.launch.descriptor, l->descriptor, sizeof p.command.launch.descriptor);
    return p;
}

/* With `launch_by = queue` the part gets the user queue, and a descriptor of its own where that of
 * the code object does not say what is to be run. */
static enum driver_status part_use_queue(struct driver *d, struct launch_part *p)
{
    struct command_launch *k = &p->command.launch;
    struct aql_descriptor descriptor;
    if (!user_queue_launches(d))
        return DRIVER_OK;
    enum driver_status status = user_queue_for_launches(d, p->queue);
    if (status != DRIVER_OK)
        return status;
    memcpy(&descriptor, k->descriptor, sizeof descriptor);
    k->user = driver_queue_at(d, p->queue)->user;
    if (k->groups != launch_groups(p->launch)
        || k->object + (uint64_t)descriptor.entry_offset != k->entry
        || k->object % DESCRIPTOR_ALIGN) {
        k->own_descriptor = (uint16_t)p->arguments;
        p->arguments += sizeof descriptor;
    }
    return DRIVER_OK;
}

/* Decides at which offset from the packet the arguments lie. */
static enum driver_status part_place_arguments(const struct driver *d, struct launch_part *p)
{
    const struct driver_launch *l = p->launch;
    const struct driver_ring *r = argument_ring_seen(d, p->gpu, p->command.pid);
    if (p->align & (p->align - 1) || p->align > r->bytes)
        return driver_fail(DRIVER_INVALID_VALUE, "arguments aligned to %u (kernel '%s')", p->align,
                           l->name);
    p->arguments = round_up(p->arguments, p->align);
    if (l->kernarg_bytes > r->bytes - p->arguments)
        return driver_fail(DRIVER_INVALID_VALUE,
                           "%u bytes of kernel arguments do not fit into %u (kernel '%s')",
                           l->kernarg_bytes, r->bytes - p->arguments, l->name);
    return DRIVER_OK;
}

/* The launch's own choice, or else that of the driver's parameters. */
static unsigned launch_scope(uint8_t scope, unsigned otherwise)
{
    static const unsigned scopes[] = {[DRIVER_SCOPE_NONE] = AQL_SCOPE_NONE,
                                      [DRIVER_SCOPE_AGENT] = AQL_SCOPE_AGENT,
                                      [DRIVER_SCOPE_SYSTEM] = AQL_SCOPE_SYSTEM};
    return scope == DRIVER_SCOPE_DEFAULT ? otherwise : scopes[scope];
}

/* The fences of a launch on the device, as bits of its packet's header. */
static uint16_t launch_scopes(const struct driver *d, const struct driver_device *device,
                              const struct driver_launch *l)
{
    const unsigned needed = device->caches_all_memory ? AQL_SCOPE_SYSTEM : AQL_SCOPE_AGENT;
    const unsigned acquires[] = {[DRIVER_ACQUIRE_NEEDED] = needed,
                                 [DRIVER_ACQUIRE_NONE] = AQL_SCOPE_NONE,
                                 [DRIVER_ACQUIRE_AGENT] = AQL_SCOPE_AGENT,
                                 [DRIVER_ACQUIRE_SYSTEM] = AQL_SCOPE_SYSTEM};
    const unsigned releases[] = {[DRIVER_RELEASE_NEEDED] = needed,
                                 [DRIVER_RELEASE_NONE] = AQL_SCOPE_NONE,
                                 [DRIVER_RELEASE_AGENT] = AQL_SCOPE_AGENT,
                                 [DRIVER_RELEASE_SYSTEM] = AQL_SCOPE_SYSTEM};
    return aql_scopes(launch_scope(l->acquire, acquires[driver_params(d)->acquire]),
                      launch_scope(l->release, releases[driver_params(d)->release]));
}

static void part_make_packet(struct driver *d, struct launch_part *p)
{
    const struct driver_launch *l = p->launch;
    struct command_launch *k = &p->command.launch;
    k->packet =
        (struct aql_packet){.header = AQL_DISPATCH | launch_scopes(d, &d->device[p->gpu], l),
                            .setup = (uint16_t)(launch_dimensions(l) | l->cluster),
                            .gpu = (uint16_t)p->gpu,
                            .private_bytes = l->private_bytes,
                            .group_bytes = l->group_bytes,
                            .kernel_object = k->object};
    for (unsigned i = 0; i < 3; i++) {
        k->packet.work_group[i] = l->block[i];
        k->packet.grid[i] = l->grid[i];
    }
    if (code_meets(p->code))
        k->packet.setup |= AQL_MEETS;
    if (k->user != DRIVER_NONE && !k->own_descriptor)
        program_set_object(driver_program(d), k->object, k->kernel);
}

/* Writes a descriptor for a packet in a user queue that that of the code object does not describe.
 */
static void part_write_descriptor(const struct driver_ring *r, struct driver_command *k, char *at)
{
    struct aql_descriptor descriptor;
    k->launch.object = r->address + k->ring_offset + k->launch.own_descriptor;
    memcpy(&descriptor, k->launch.descriptor, sizeof descriptor);
    descriptor.entry_offset = (int64_t)(k->launch.entry - k->launch.object);
    descriptor.first_group = k->launch.first_group;
    descriptor.groups = launch_count(k);
    descriptor.kernel = k->launch.kernel + 1;
    memcpy(at + k->launch.own_descriptor, &descriptor, sizeof descriptor);
}

/* Writes packet, queue object and arguments side by side, for position `start` of the ring; see
 * WORK_QUEUE_OFFSET. */
static void part_write_arguments(const struct driver *d, struct launch_part *p,
                                 const struct driver_ring *r, uint64_t start, char *content)
{
    const struct driver_launch *l = p->launch;
    struct driver_command *k = &p->command;
    k->ring_offset = (uint32_t)(start % r->bytes);
    k->launch.packet.kernarg =
        l->kernarg_address ? l->kernarg_address : r->address + k->ring_offset + p->arguments;
    struct aql_packet visible = k->launch.packet; /* to the kernel */
    visible.gpu = 0;
    visible.setup &= (uint16_t)~AQL_MEETS;
    memset(content, 0, p->arguments);
    memcpy(content, &visible, sizeof visible);
    if (k->launch.own_descriptor)
        part_write_descriptor(r, k, content);
    const struct isa_traits *traits = isa_traits_of(d->device[p->gpu].info.isa);
    if (traits && p->arguments > WORK_QUEUE_OFFSET) {
        char *object = content + WORK_QUEUE_OFFSET;
        memcpy(object + WORK_QUEUE_SHARED_APERTURE, &traits->shared_aperture, 4);
        memcpy(object + WORK_QUEUE_PRIVATE_APERTURE, &traits->private_aperture, 4);
    }
    if (l->kernarg_bytes)
        memcpy(content + p->arguments, l->kernarg, l->kernarg_bytes);
}

/* Takes a piece of the ring for the part's packet and arguments: the last one, when it contains
 * just these, or a new one. */
static enum driver_status part_take_piece(struct driver *d, struct launch_part *p)
{
    struct driver_device *device = &d->device[p->gpu];
    struct driver_command *k = &p->command;
    struct driver_ring *r = argument_ring_of(d, p->gpu, k->pid);
    uint32_t bytes = p->arguments + p->launch->kernarg_bytes;
    char *content = grow_zeroed(bytes, "the arguments of a launch");
    part_write_arguments(d, p, r, r->last_piece.start, content);
    bool always = driver_params(d)->staging == DRIVER_STAGING_ALWAYS;
    if (!always && argument_ring_is_last(r, content, bytes, p->queue)) {
        k->piece = argument_ring_hold(r, r->last_piece.start, bytes, true);
        d->io.stats.launch_copies_saved += 2;
        free(content);
        return DRIVER_OK;
    }
    uint64_t start = 0;
    uint32_t align = !device->drops_l2 && device->line > p->align ? device->line : p->align;
    enum driver_status status = argument_ring_find(d, device, r, bytes, align, &start);
    if (status == DRIVER_OK) {
        part_write_arguments(d, p, r, start, content);
        k->piece = argument_ring_acquire(device, r, start, content, bytes, p->queue);
        k->size = bytes;
        d->io.stats.launch_copies += 2;
    }
    free(content);
    return status;
}

/* `staging = always` copies the kernel's code before its arguments and packet. */
static enum driver_status enqueue_code(struct driver *d, const struct launch_part *p)
{
    const struct code_extent *x = code_find_extent(p->code);
    const struct code_module *m = code_find(p->code);
    if (driver_params(d)->staging != DRIVER_STAGING_ALWAYS || !x || !m)
        return DRIVER_OK;
    uint64_t distance = p->command.launch.entry - p->launch->entry;
    const struct command_move move = {.address = x->start + distance,
                                      .host = (char *)m->bytes + (x->start - m->address)};
    return enqueue_move(d, p->queue, DRIVER_WRITE, move, x->end - x->start, NULL);
}

/* Enqueues the command, with its packet and arguments in the ring. */
static enum driver_status part_enqueue(struct driver *d, struct launch_part *p, uint64_t *ticket)
{
    struct driver_command *k = &p->command;
    enum driver_status status = part_take_piece(d, p);
    if (status == DRIVER_OK)
        status = enqueue_code(d, p);
    if (status == DRIVER_OK && k->size && driver_params(d)->staging != DRIVER_STAGING_TOGETHER)
        status = enqueue_stages(d, p->queue, k, p->arguments);
    if (status != DRIVER_OK)
        return status;
    launch_count_code(d, p->code);
    if (call_path(d))
        call_path(d)->launch(d, p->queue, p->launch);
    return enqueue_command(d, p->queue, k, ticket);
}

/* Launches work-groups first .. first + count - 1 on the GPU of the queue, for which the launch was
 * checked. */
static enum driver_status enqueue_part(struct driver *d, uint32_t queue,
                                       const struct driver_launch *l, uint64_t first,
                                       uint64_t count, uint64_t *ticket)
{
    const struct driver_queue *q = driver_queue_at(d, queue);
    enum driver_status status =
        argument_ring_open(d, q->device, driver_handle_at(d, q->handle)->pid);
    if (status != DRIVER_OK)
        return status;
    struct launch_part part = part_of(d, queue, l, first, count);
    part.command.launch.kernel = program_kernel(driver_program(d), l->name, l->symbol);
    if (part.command.launch.kernel == PROGRAM_KERNELS_MAX)
        return driver_fail(DRIVER_OUT_OF_MEMORY,
                           "kernel '%.200s': more than %d kernels, or %d bytes of their names",
                           l->name, PROGRAM_KERNELS_MAX, PROGRAM_NAME_BYTES_MAX);
    status = ptx_prepare(d, part.gpu, part.command.pid, part.code);
    if (status == DRIVER_OK)
        status = part_use_queue(d, &part);
    if (status == DRIVER_OK)
        status = part_place_arguments(d, &part);
    if (status != DRIVER_OK)
        return status;
    part_make_packet(d, &part);
    return part_enqueue(d, &part, ticket);
}

/* Opens the queue of the parts on a GPU, which wait for what stood before the launch (`before`; 0:
 * for nothing more). */
static enum driver_status unified_part_queue(struct driver *d, uint32_t queue, uint32_t place,
                                             uint64_t before)
{
    uint32_t handle = driver_queue_at(d, queue)->handle;
    struct driver_handle *h = driver_handle_at(d, handle);
    if (h->part_queue[place] == DRIVER_NONE)
        h->part_queue[place] = queue_open(d, h->member[place], handle);
    if (h->part_queue[place] == DRIVER_NONE)
        return driver_fail(DRIVER_OUT_OF_MEMORY, "more than %d queues", DRIVER_QUEUES_MAX);
    return before ? enqueue_barrier(d, h->part_queue[place], before, NULL) : DRIVER_OK;
}

/* The parts of a launch wait in queues of their own, one a GPU: each begins when what stood before
 * the launch in `queue` is done, and `queue` continues when all parts are. The split says which run
 * of work-groups goes where. */
static enum driver_status enqueue_unified(struct driver *d, uint32_t queue,
                                          const struct driver_launch *l, uint64_t *ticket)
{
    struct driver_handle *h = driver_handle_at(d, driver_queue_at(d, queue)->handle);
    uint64_t before = queue_last(d, queue), groups, length, ignored;
    uint64_t last[DRIVER_DEVICES] = {0}, share[DRIVER_DEVICES] = {0};
    enum driver_status status = DRIVER_OK;
    for (uint32_t i = 0; i < h->count && status == DRIVER_OK; i++)
        status = launch_check_all(d, queue, h->member[i], l);
    if (status != DRIVER_OK)
        return status;
    groups = launch_groups(l);
    if (groups > UINT32_MAX)
        return driver_fail(DRIVER_TOO_LARGE,
                           "%" PRIu64 " work-groups; a unified device takes %u (kernel '%s')",
                           groups, UINT32_MAX, l->name);
    for (uint64_t first = 0; first < groups && status == DRIVER_OK; first += length) {
        uint32_t i;
        length = driver_split_ops(d)->groups(driver_split(d), first, groups, h->count, &i);
        length = min(length, groups - first);
        status = unified_part_queue(d, queue, i, share[i] ? 0 : before);
        if (status == DRIVER_OK)
            status = enqueue_part(d, h->part_queue[i], l, first, length, &last[i]);
        share[i] += length;
    }
    for (uint32_t i = 0; i < h->count && status == DRIVER_OK; i++) {
        if (!share[i])
            continue;
        stat_histogram_add(&d->io.stats.unified_groups, share[i]);
        status = enqueue_barrier(d, queue, last[i], ticket ? ticket : &ignored);
    }
    d->io.stats.unified_launches++;
    return status;
}

/* Launches whose work-groups meet go one after another on a device, as they do on hardware, where
 * one queue has the global wave sync: they need its resource 0 for themselves, and two of them
 * could wait for each other's room. */
static enum driver_status enqueue_meeting(struct driver *d, uint32_t queue,
                                          const struct driver_launch *l, uint64_t *ticket)
{
    struct driver_device *device = &d->device[driver_queue_at(d, queue)->device];
    enum driver_status status = DRIVER_OK;
    uint64_t launched = 0;
    if (device->meeting_ticket && device->meeting_queue != queue)
        status = enqueue_barrier(d, queue, device->meeting_ticket, NULL);
    if (status == DRIVER_OK)
        status = enqueue_part(d, queue, l, 0, launch_groups(l), &launched);
    if (status == DRIVER_OK) {
        device->meeting_ticket = launched;
        device->meeting_queue = queue;
    }
    if (ticket)
        *ticket = launched;
    return status;
}

static enum driver_status call_launch(struct driver *d, uint32_t queue,
                                      const struct driver_launch *l, uint64_t *ticket)
{
    enum driver_status status = queue_check(d, queue);
    if (status != DRIVER_OK)
        return status;
    bool unified = driver_handle_at(d, driver_queue_at(d, queue)->handle)->count > 1;
    if (unified && code_meets(launch_code(d, queue, l)))
        return driver_fail(DRIVER_INVALID_VALUE,
                           "the kernel lets its work-groups meet at the global wave sync of a GPU "
                           "(ds_gws_barrier), and this device is made of several: launch it on one "
                           "(kernel '%s')",
                           l->name);
    if (unified)
        return enqueue_unified(d, queue, l, ticket);
    status = launch_check_all(d, queue, driver_queue_at(d, queue)->device, l);
    if (status == DRIVER_OK && code_meets(launch_code(d, queue, l)))
        return enqueue_meeting(d, queue, l, ticket);
    return status == DRIVER_OK ? enqueue_part(d, queue, l, 0, launch_groups(l), ticket) : status;
}
