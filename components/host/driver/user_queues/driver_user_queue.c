/* User queues in the driver: which there are, on which GPU and in which process, and their
 * doorbells. For launches through them see driver_user_queue_launch.c.
 *
 * The program's side fills `call` (one request to a packet processor at a time; the caller runs the
 * engine until it is answered) and `rings` (doorbells that were written); the ticking side sends
 * them. Doorbell numbers are per GPU, so queues of different GPUs may have the same one; `queue` is
 * the table from queues to GPUs. */
#include "driver_user_queue.h"

#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "components/host/driver/driver_memory.h"
#include "components/host/driver/driver_process.h"
#include "components/host/driver/driver_state.h"
#include "components/host/driver/program/driver_program.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/run_control.h"

/* ---- the ticking side ---- */

static bool user_queue_send_call(struct driver *d)
{
    struct driver_user *u = user_queues_of(d);
    const struct user_queue_entry *q = &u->queue[u->call.queue];
    if (!u->call.is_pending || u->call.is_sent || !driver_queues_can_send(d, q->gpu))
        return false;
    if (u->call.kind == QUEUE_CONTROL_DESTROY)
        driver_queues_send_destroy(d, q->gpu, 0, (uint16_t)q->slot);
    else
        driver_queues_send_status(d, q->gpu, 0, (uint16_t)q->slot);
    u->call.is_sent = true;
    return true;
}

/* All that can be sent, in order for each GPU. */
static bool user_queue_send_rings(struct driver *d)
{
    struct driver_user *u = user_queues_of(d);
    uint32_t kept = 0;
    struct gpu_set full = {{0}};
    bool sent = false;
    for (uint32_t i = 0; i < u->ring_count; i++) {
        struct user_queue_ring r = u->rings[i];
        if (gpu_set_has(&full, r.gpu) || !driver_doorbell_can_send(d, r.gpu)) {
            gpu_set_put(&full, r.gpu);
            u->rings[kept++] = r;
            continue;
        }
        driver_doorbell_send_ring(d, r.gpu, 0, r.number, (uint16_t)r.slot);
        sent = true;
    }
    u->ring_count = kept;
    return sent;
}

static bool user_queue_receive(struct driver *d)
{
    struct driver_user *u = user_queues_of(d);
    const struct queue_control_reply *m;
    bool received = false;
    for (uint32_t i = 0; i < driver_queues_count(d); i++) {
        while ((m = driver_queues_peek_reply(d, i))) {
            if (m->tag) {
                user_queue_opened(d, i, m->tag - 1u);
            } else {
                u->call.is_answered = true;
                u->call.read = m->done.read;
                u->call.error = m->done.error;
                engine_stop();
            }
            driver_queues_pop_reply(d, i);
            received = true;
        }
    }
    return received;
}

static bool user_queue_tick(struct driver *d)
{
    bool progress = user_queue_receive(d);
    progress |= user_queue_interrupts(d);
    progress |= user_queue_serve_wants(d);
    progress |= user_queue_release(d);
    progress |= user_queue_send_events(d);
    progress |= user_queue_send_call(d);
    progress |= user_queue_send_rings(d);
    return progress;
}

static unsigned user_queue_outstanding(const struct driver *d, struct hang_report *report)
{
    const struct driver_user *u = user_queues_of(d);
    if (u->call.is_pending && report)
        hang_note(report, "waits for an answer about user queue %u of GPU %u", u->call.queue,
                  u->queue[u->call.queue].gpu);
    if (u->stops_at_event && report)
        hang_note(report, "the program waits for the signal at 0x%" PRIx64, u->awaited);
    return u->call.is_pending + u->ring_count + u->want_count + u->release_count
           + u->stops_at_event;
}

/* ---- the program's side ---- */

/* Finds the GPU and the process of a device. */
static enum driver_status user_queue_resolve(const struct driver *d, uint32_t device, uint32_t *gpu,
                                             uint32_t *pid)
{
    enum driver_status status = handle_check(d, device);
    if (status != DRIVER_OK)
        return status;
    const struct driver_handle *h = driver_handle_at(d, device);
    if (h->count != 1)
        return driver_fail(DRIVER_INVALID_DEVICE,
                           "device %u is made of %u GPUs; a user queue belongs to one", device,
                           h->count);
    *gpu = h->member[0];
    *pid = h->pid;
    return DRIVER_OK;
}

static enum driver_status user_queue_check(const struct driver *d, uint32_t queue)
{
    if (queue >= USER_QUEUES_MAX || !user_queues_of(d)->queue[queue].is_used
        || user_queues_of(d)->queue[queue].owner != DRIVER_NONE)
        return driver_fail(DRIVER_INVALID_VALUE, "there is no user queue %u", queue);
    return run_usable();
}

/* Asks the packet processor of the queue's GPU, and waits. */
static enum driver_status user_queue_call(struct driver *d, uint32_t queue,
                                          enum queue_control_request_kind kind)
{
    struct driver_user *u = user_queues_of(d);
    enum driver_status status = run_usable();
    memset(&u->call, 0, sizeof u->call);
    u->call.is_pending = status == DRIVER_OK;
    u->call.queue = queue;
    u->call.kind = (uint8_t)kind;
    while (status == DRIVER_OK && !u->call.is_answered)
        status = run_until_stopped(d);
    u->call.is_pending = false;
    return status;
}

static bool user_queue_connected(const struct driver *d)
{
    return driver_queues_count(d) == d->gpu_count && driver_doorbell_count(d) == d->gpu_count
           && driver_interrupt_count(d) == d->gpu_count;
}

#define USER_NOT_CONNECTED                                                                         \
    "the GPUs of this platform have no user queues: connect `queues`, `doorbell` and `interrupt` " \
    "of the driver to a "                                                                          \
    "packet_processor and a doorbell of each (`--set queues=true` where the platform has that "    \
    "parameter)"

static enum driver_status user_queue_supported(const struct driver *d)
{
    if (!user_queue_connected(d))
        return driver_fail(DRIVER_INVALID_DEVICE, USER_NOT_CONNECTED);
    if (platform_mode() == PLATFORM_FUNCTIONAL)
        return driver_fail(DRIVER_INVALID_VALUE, "user queues need timing mode");
    return run_usable();
}

/* An unused doorbell of the GPU, or USER_DOORBELLS. */
static uint32_t user_queue_find_slot(const struct driver *d, uint32_t gpu)
{
    bool is_used[USER_DOORBELLS] = {false};
    uint32_t slot = 0;
    for (uint32_t i = 0; i < user_queues_of(d)->queue_end; i++) {
        const struct user_queue_entry *q = &user_queues_of(d)->queue[i];
        if (q->is_used && q->gpu == gpu)
            is_used[q->slot] = true;
    }
    while (slot < USER_DOORBELLS && is_used[slot])
        slot++;
    return slot;
}

/* Enqueues fills on the driver's queue: a packet that is not written says so, and the memory behind
 * the ring is 0 but for the apertures. */
static enum driver_status user_queue_clear(struct driver *d, uint32_t queue,
                                           const struct user_queue_entry *u)
{
    static const uint16_t invalid = AQL_INVALID;
    static const uint32_t zero = 0;
    const struct isa_traits *traits = isa_traits_of(d->device[u->gpu].info.isa);
    uint64_t object = u->read_index + AQL_QUEUE_OBJECT;
    const struct {
        uint64_t address;
        const void *pattern;
        uint32_t bytes;
        uint64_t count;
    } fills[] = {{u->ring, &invalid, sizeof invalid,
                  u->packets * (uint64_t)AQL_PACKET_BYTES / sizeof invalid},
                 {u->read_index, &zero, sizeof zero, USER_TAIL_BYTES / sizeof zero},
                 {object + WORK_QUEUE_SHARED_APERTURE, &traits->shared_aperture, sizeof zero, 1},
                 {object + WORK_QUEUE_PRIVATE_APERTURE, &traits->private_aperture, sizeof zero, 1}};
    enum driver_status status = DRIVER_OK;
    for (unsigned i = 0; i < ARRAY_COUNT(fills) && status == DRIVER_OK; i++)
        status = call_fill(d, queue, fills[i].address, fills[i].pattern, fills[i].bytes,
                           fills[i].count, NULL);
    return status;
}

/* Makes a user queue on the GPU of the driver's queue: it is there when what this enqueues there is
 * done. The caller sets `device`, `pid`, `packets` and `owner` of the entry. */
static enum driver_status user_queue_open(struct driver *d, uint32_t queue,
                                          struct user_queue_entry entry, uint32_t *id,
                                          uint64_t *ticket)
{
    struct driver_user *u = user_queues_of(d);
    uint32_t number = 0, gpu = driver_queue_at(d, queue)->device;
    while (number < USER_QUEUES_MAX && u->queue[number].is_used)
        number++;
    entry.is_used = true;
    entry.gpu = gpu;
    entry.slot = user_queue_find_slot(d, gpu);
    if (number == USER_QUEUES_MAX || entry.slot == USER_DOORBELLS)
        return driver_fail(DRIVER_OUT_OF_MEMORY,
                           "GPU %u has no doorbell left: %d queues are possible; destroy one", gpu,
                           USER_DOORBELLS);
    uint64_t ring_bytes = (uint64_t)entry.packets * AQL_PACKET_BYTES;
    enum driver_status status = memory_allocate_own(d, gpu, entry.pid, ring_bytes + USER_TAIL_BYTES,
                                                    PROGRAM_BUFFER, &entry.ring);
    entry.read_index = entry.ring + ring_bytes;
    if (status == DRIVER_OK)
        status = user_queue_clear(d, queue, &entry);
    if (status != DRIVER_OK)
        return status;
    u->queue[number] = entry;
    u->queue_end = number < u->queue_end ? u->queue_end : number + 1;
    *id = number;
    const struct driver_command open = {.kind = DRIVER_OPEN, .pid = entry.pid, .open.user = number};
    return enqueue_command(d, queue, &open, ticket);
}

static enum driver_status user_queue_create(struct driver *d, uint32_t device, uint32_t packets,
                                            struct queue_info *info)
{
    uint32_t gpu = 0, pid = 0, id = 0;
    uint64_t ticket = 0;
    enum driver_status status = user_queue_supported(d);
    if (status == DRIVER_OK)
        status = user_queue_resolve(d, device, &gpu, &pid);
    if (status != DRIVER_OK)
        return status;
    if (platform_sampling()->kernels)
        return driver_fail(DRIVER_INVALID_VALUE,
                           "kernels of user queues cannot be chosen: run without --kernels");
    if (packets < 2 || packets > 65536 || packets & (packets - 1))
        return driver_fail(DRIVER_INVALID_VALUE,
                           "a queue of %u packets: a power of two from 2 to 65536 is possible",
                           packets);
    status =
        user_queue_open(d, gpu,
                        (struct user_queue_entry){
                            .device = device, .pid = pid, .packets = packets, .owner = DRIVER_NONE},
                        &id, &ticket);
    if (status == DRIVER_OK)
        status = await_ticket(d, ticket);
    if (status != DRIVER_OK)
        return status;
    const struct user_queue_entry *q = &user_queues_of(d)->queue[id];
    *info = (struct queue_info){.id = id,
                                .packets = packets,
                                .ring = q->ring,
                                .read_index = q->read_index,
                                .offset = QUEUE_OFFSET_TYPE << QUEUE_OFFSET_TYPE_SHIFT
                                          | (uint64_t)gpu << QUEUE_OFFSET_GPU_SHIFT
                                          | q->slot * QUEUE_DOORBELL_BYTES};
    return DRIVER_OK;
}

static enum driver_status user_queue_for_launches(struct driver *d, uint32_t queue)
{
    struct driver_queue *q = driver_queue_at(d, queue);
    if (q->user != DRIVER_NONE)
        return DRIVER_OK;
    return user_queue_open(d, queue,
                           (struct user_queue_entry){.device = q->handle,
                                                     .pid = driver_handle_at(d, q->handle)->pid,
                                                     .packets = driver_params(d)->queue_packets,
                                                     .owner = queue},
                           &q->user, NULL);
}

static enum driver_status user_queue_remove(struct driver *d, uint32_t queue)
{
    enum driver_status status = user_queue_call(d, queue, QUEUE_CONTROL_DESTROY);
    if (status != DRIVER_OK)
        return status;
    if (user_queues_of(d)->call.error == QUEUE_NOT_THERE)
        bug("driver: GPU %u does not know its user queue %u", user_queues_of(d)->queue[queue].gpu,
            queue);
    memory_release(d, user_queues_of(d)->queue[queue].ring);
    user_queues_of(d)->queue[queue] = (struct user_queue_entry){0};
    return DRIVER_OK;
}

static enum driver_status user_queue_destroy(struct driver *d, uint32_t queue)
{
    enum driver_status status = user_queue_check(d, queue);
    return status == DRIVER_OK ? user_queue_remove(d, queue) : status;
}

static void user_queue_init(struct driver *d)
{
    d->user = arena_allocate(sizeof(struct driver_user));
    if (driver_params(d)->launch_by != DRIVER_LAUNCH_BY_QUEUE)
        return;
    if (!user_queue_connected(d))
        engine_die(&d->io.base, "launch_by = queue, but " USER_NOT_CONNECTED);
    if (platform_sampling()->kernels)
        engine_die(&d->io.base,
                   "launch_by = queue, but only some kernels are to be timed; take launch_by = "
                   "command for that");
}

static enum driver_status user_queue_close(struct driver *d, uint32_t queue)
{
    uint32_t id = driver_queue_at(d, queue)->user;
    driver_queue_at(d, queue)->user = DRIVER_NONE;
    return id == DRIVER_NONE ? DRIVER_OK : user_queue_remove(d, id);
}

static enum driver_status user_queue_leave(struct driver *d, uint32_t device)
{
    struct driver_user *u = user_queues_of(d);
    enum driver_status status = handle_check(d, device);
    if (status != DRIVER_OK || device < d->gpu_count)
        return status;
    for (uint32_t i = 0; i < USER_QUEUES_MAX && status == DRIVER_OK; i++) {
        if (!u->queue[i].is_used || u->queue[i].device != device)
            continue;
        uint32_t owner = u->queue[i].owner;
        if (owner == DRIVER_NONE) {
            status = user_queue_destroy(d, i);
        } else {
            status = await_queue(d, owner);
            if (status == DRIVER_OK)
                status = user_queue_close(d, owner);
        }
    }
    if (status != DRIVER_OK)
        return status;
    for (uint32_t i = 0; i < USER_PAGES_MAX; i++)
        u->page[i].is_used &= u->page[i].device != device;
    return DRIVER_OK;
}

static enum driver_status user_queue_state(struct driver *d, uint32_t queue,
                                           struct queue_state *state)
{
    static const char *const texts[QUEUE_ERRORS] = {
        [QUEUE_GOOD] = "no error",
        [QUEUE_NOT_THERE] = "the GPU does not know the queue",
        [QUEUE_OVERFLOW] = ("its doorbell was rung for a packet that has no room: wait until "
                            "the read index has gone on"),
        [QUEUE_PACKET] = "a packet is of a type, or has fields, that are not supported",
        [QUEUE_ADDRESS] = "a packet names memory that the process does not have"};
    struct driver_user *u = user_queues_of(d);
    enum driver_status status = user_queue_check(d, queue);
    if (status == DRIVER_OK)
        status = user_queue_call(d, queue, QUEUE_CONTROL_STATUS);
    if (status != DRIVER_OK)
        return status;
    u->queue[queue].read = u->call.read;
    *state = (struct queue_state){u->call.read, u->call.error, u->queue[queue].gpu,
                                  texts[u->call.error]};
    return DRIVER_OK;
}

/* Finds the GPU whose doorbells an offset is about. */
static enum driver_status user_queue_offset(const struct driver *d, uint64_t offset, uint32_t *gpu)
{
    *gpu = (uint32_t)(offset >> QUEUE_OFFSET_GPU_SHIFT) & QUEUE_OFFSET_GPU_MASK;
    uint64_t within = offset & (((uint64_t)1 << QUEUE_OFFSET_GPU_SHIFT) - 1);
    if (offset >> QUEUE_OFFSET_TYPE_SHIFT == QUEUE_OFFSET_TYPE && *gpu < d->gpu_count
        && within < QUEUE_PAGE_BYTES)
        return DRIVER_OK;
    return driver_fail(DRIVER_INVALID_ADDRESS,
                       "0x%" PRIx64
                       " is not an offset of doorbells: use the one that creating a queue gives",
                       offset);
}

static enum driver_status user_queue_map(struct driver *d, uint32_t device, uint64_t offset,
                                         uint32_t *page)
{
    struct driver_user *u = user_queues_of(d);
    uint32_t gpu = 0, of_device = 0, pid = 0, number = 0;
    enum driver_status status = user_queue_supported(d);
    if (status == DRIVER_OK)
        status = user_queue_resolve(d, device, &of_device, &pid);
    if (status != DRIVER_OK)
        return status;
    if ((status = user_queue_offset(d, offset, &gpu)) != DRIVER_OK)
        return status;
    while (number < USER_PAGES_MAX && u->page[number].is_used)
        number++;
    if (number == USER_PAGES_MAX)
        return driver_fail(DRIVER_OUT_OF_MEMORY, "%d pages of doorbells are mapped; unmap one",
                           USER_PAGES_MAX);
    u->page[number] = (struct user_queue_page){true, gpu, pid, device};
    *page = number;
    return DRIVER_OK;
}

static enum driver_status user_queue_unmap(struct driver *d, uint32_t page)
{
    if (page >= USER_PAGES_MAX || !user_queues_of(d)->page[page].is_used)
        return driver_fail(DRIVER_INVALID_ADDRESS, "page %u of doorbells is not mapped", page);
    user_queues_of(d)->page[page].is_used = false;
    return DRIVER_OK;
}

static const struct user_queue_entry *
user_queue_by_doorbell(const struct driver *d, const struct user_queue_page *page, uint32_t slot)
{
    for (uint32_t i = 0; i < USER_QUEUES_MAX; i++) {
        const struct user_queue_entry *q = &user_queues_of(d)->queue[i];
        if (q->is_used && q->owner == DRIVER_NONE && q->gpu == page->gpu && q->pid == page->pid
            && q->slot == slot)
            return q;
    }
    return NULL;
}

/* The queue whose doorbell is at the offset in the page. */
static enum driver_status user_queue_find(const struct driver *d, uint32_t page, uint64_t offset,
                                          const struct user_queue_entry **queue)
{
    const struct driver_user *u = user_queues_of(d);
    uint32_t at = (uint32_t)(offset % QUEUE_PAGE_BYTES), gpu;
    if (page >= USER_PAGES_MAX || !u->page[page].is_used)
        return driver_fail(DRIVER_INVALID_ADDRESS, "page %u of doorbells is not mapped", page);
    enum driver_status status = user_queue_offset(d, offset, &gpu);
    if (status != DRIVER_OK)
        return status;
    if (gpu != u->page[page].gpu)
        return driver_fail(DRIVER_INVALID_ADDRESS,
                           "the offset is of GPU %u, page %u has the doorbells of GPU %u", gpu,
                           page, u->page[page].gpu);
    *queue = at % QUEUE_DOORBELL_BYTES
                 ? NULL
                 : user_queue_by_doorbell(d, &u->page[page], at / QUEUE_DOORBELL_BYTES);
    if (*queue)
        return DRIVER_OK;
    return driver_fail(DRIVER_INVALID_ADDRESS,
                       "no queue of this process has the doorbell at offset %u of GPU %u", at, gpu);
}

static enum driver_status user_queue_ring(struct driver *d, uint32_t page, uint64_t offset,
                                          uint64_t number)
{
    struct driver_user *u = user_queues_of(d);
    const struct user_queue_entry *queue = NULL;
    enum driver_status status = run_usable();
    if (status == DRIVER_OK)
        status = user_queue_find(d, page, offset, &queue);
    if (status != DRIVER_OK)
        return status;
    const struct user_queue_ring ring = {queue->gpu, queue->slot, number};
    while (status == DRIVER_OK
           && u->ring_count == USER_RINGS) { /* the link is slower than the program */
        d->stop_at = driver_now(d) + driver_params(d)->poll_cost;
        status = run_until_stopped(d);
        d->stop_at = 0;
    }
    if (status != DRIVER_OK)
        return status;
    u->rings[u->ring_count++] = ring;
    engine_wake_from_host(d->io.base.id);
    return DRIVER_OK;
}

static enum driver_status user_queue_move(struct driver *d, uint32_t gpu, enum driver_kind kind,
                                          void *host, uint64_t address, uint64_t size)
{
    uint64_t ticket;
    const struct command_move move = {.address = address, .host = host};
    enum driver_status status = enqueue_move(d, gpu, kind, move, size, &ticket);
    return status == DRIVER_OK ? await_ticket(d, ticket) : status;
}

static enum driver_status user_queue_write(struct driver *d, uint32_t queue, const void *packet,
                                           uint64_t *number)
{
    char copy[AQL_PACKET_BYTES];
    enum driver_status status = user_queue_check(d, queue);
    if (status != DRIVER_OK)
        return status;
    struct user_queue_entry *q = &user_queues_of(d)->queue[queue];
    if (q->written - q->read == q->packets)
        status = user_queue_move(d, q->gpu, DRIVER_READ, &q->read, q->read_index, sizeof q->read);
    if (status == DRIVER_OK && q->written - q->read == q->packets)
        status =
            driver_fail(DRIVER_NOT_READY, "user queue %u is full: none of its %u packets is over",
                        queue, q->packets);
    if (status != DRIVER_OK)
        return status;
    memcpy(copy, packet, sizeof copy);
    status = user_queue_move(d, q->gpu, DRIVER_WRITE, copy,
                             q->ring + q->written % q->packets * AQL_PACKET_BYTES, sizeof copy);
    if (status == DRIVER_OK)
        *number = q->written++;
    return status;
}

/* Lets the simulation run until an event that comes after the first `known_events`, or until cycle
 * `end`; UINT64_MAX: as long as it takes. */
static enum driver_status user_queue_wait_event(struct driver *d, uint64_t known_events,
                                                uint64_t end)
{
    struct driver_user *u = user_queues_of(d);
    enum driver_status status = run_usable();
    u->stops_at_event = true;
    while (status == DRIVER_OK && u->events == known_events && driver_now(d) < end) {
        d->stop_at = end == UINT64_MAX ? 0 : end;
        status = run_until_stopped(d);
    }
    d->stop_at = 0;
    u->stops_at_event = false;
    return status;
}

static enum driver_status user_queue_signal_wait(struct driver *d, uint32_t device, uint64_t signal,
                                                 int64_t value, uint64_t cycles)
{
    uint32_t gpu = 0, pid = 0;
    enum driver_status status = user_queue_resolve(d, device, &gpu, &pid);
    uint64_t end = cycles > UINT64_MAX - driver_now(d) ? UINT64_MAX : driver_now(d) + cycles;
    int64_t now = 0;
    while (status == DRIVER_OK) {
        uint64_t known = user_queues_of(d)->events;
        status = user_queue_move(d, gpu, DRIVER_READ, &now, signal + AQL_SIGNAL_VALUE, sizeof now);
        if (status != DRIVER_OK || now == value)
            return status;
        if (driver_now(d) >= end)
            return driver_fail(DRIVER_NOT_READY,
                               "the signal at 0x%" PRIx64 " is %" PRId64 ", not %" PRId64, signal,
                               now, value);
        user_queues_of(d)->awaited = signal;
        status = user_queue_wait_event(d, known, end);
    }
    return status;
}

static enum driver_status user_queue_name_kernel(struct driver *d, uint64_t kernel_object,
                                                 const char *name)
{
    struct program_table *table = driver_program(d);
    uint32_t kernel = program_kernel(table, name, name);
    if (kernel == PROGRAM_KERNELS_MAX)
        return driver_fail(DRIVER_OUT_OF_MEMORY, "more than %d kernels, or %d bytes of their names",
                           PROGRAM_KERNELS_MAX, PROGRAM_NAME_BYTES_MAX);
    program_set_object(table, kernel_object, kernel);
    return DRIVER_OK;
}
