/* User queues in the driver: which there are, on which GPU and in which process, and their doorbells. Included by driver.c.
 *
 * The program's side fills `call` (one request to a packet processor at a time; the caller runs the engine until it is answered)
 * and `rings` (doorbells that were written); the ticking side sends them. Doorbell numbers are per GPU, so queues of different
 * GPUs may have the same one; `queue` is the table from queues to GPUs. */
#ifndef HEDDLE_DRIVER_QUEUES_H
#define HEDDLE_DRIVER_QUEUES_H

#include "components/driver/queue_api.h"
#include "components/user_queue/aql_queue.h"
#include "driver_enqueue.h"
#include "driver_handles.h"
#include "driver_memory.h"

enum {
    USER_QUEUES = 4096,
    USER_PAGES = 1024,   /* mapped at the same time */
    USER_RINGS = 1024,   /* doorbells written and not sent */
    USER_DOORBELLS = 512 /* of a GPU: a page */
};

struct user_queue_entry {
    bool used;
    uint32_t gpu, pid;
    uint32_t device; /* as the program calls it */
    uint32_t slot; /* doorbell */
    uint32_t packets;
    uint64_t ring, read_index;
    uint64_t written; /* by user_write() */
    uint64_t read;    /* as far as is known */
};

struct user_page {
    bool used;
    uint32_t gpu, pid;
    uint32_t device; /* that mapped it */
};

struct user_ring {
    uint32_t gpu, slot;
    uint64_t number;
};

struct driver_user {
    struct user_queue_entry queue[USER_QUEUES];
    struct user_page page[USER_PAGES];
    struct user_ring rings[USER_RINGS]; /* first come, first sent, for each GPU */
    uint32_t ring_count;
    struct {
        bool wanted, sent, answered;
        uint8_t kind; /* enum queue_control_request_kind */
        uint32_t queue;
        uint64_t read;
        uint8_t error;
    } call;
};

static struct driver_user *user_of(const struct driver *d)
{
    return arena_at(struct driver_user, d->user);
}

static void user_init(struct driver *d)
{
    d->user = arena_allocate(sizeof(struct driver_user));
}

/* ---- the ticking side ---- */

static bool user_send_call(struct driver *d)
{
    struct driver_user *u = user_of(d);
    const struct user_queue_entry *q = &u->queue[u->call.queue];
    if (!u->call.wanted || u->call.sent || !driver_queues_can_send(d, q->gpu))
        return false;
    if (u->call.kind == QUEUE_CONTROL_CREATE)
        driver_queues_send_create(d, q->gpu, 0, q->ring, q->pid, q->packets, (uint16_t)q->slot, (uint16_t)q->gpu);
    else if (u->call.kind == QUEUE_CONTROL_DESTROY)
        driver_queues_send_destroy(d, q->gpu, 0, (uint16_t)q->slot);
    else
        driver_queues_send_status(d, q->gpu, 0, (uint16_t)q->slot);
    u->call.sent = true;
    return true;
}

/* All that can be sent, in order for each GPU. */
static bool user_send_rings(struct driver *d)
{
    struct driver_user *u = user_of(d);
    uint32_t kept = 0;
    uint64_t full = 0; /* GPUs */
    bool sent = false;
    for (uint32_t i = 0; i < u->ring_count; i++) {
        struct user_ring r = u->rings[i];
        if (full >> r.gpu & 1 || !driver_doorbell_can_send(d, r.gpu)) {
            full |= (uint64_t)1 << r.gpu;
            u->rings[kept++] = r;
            continue;
        }
        driver_doorbell_send_ring(d, r.gpu, 0, r.number, (uint16_t)r.slot);
        sent = true;
    }
    u->ring_count = kept;
    return sent;
}

static bool user_receive(struct driver *d)
{
    struct driver_user *u = user_of(d);
    const struct queue_control_reply *m;
    bool received = false;
    for (uint32_t i = 0; i < driver_queues_count(d); i++) {
        while ((m = driver_queues_peek_reply(d, i))) {
            u->call.answered = true;
            u->call.read = m->done.read;
            u->call.error = m->done.error;
            driver_queues_pop_reply(d, i);
            engine_stop();
            received = true;
        }
    }
    return received;
}

static bool user_tick(struct driver *d)
{
    bool progress = user_receive(d);
    progress |= user_send_call(d);
    progress |= user_send_rings(d);
    return progress;
}

/* What the simulation owes the program. */
static unsigned user_outstanding(const struct driver *d, struct hang_report *report)
{
    const struct driver_user *u = user_of(d);
    if (u->call.wanted && report)
        hang_note(report, "waits for an answer about user queue %u of GPU %u", u->call.queue,
                  u->queue[u->call.queue].gpu);
    return u->call.wanted + u->ring_count;
}

/* ---- the program's side ---- */

/* GPU and process that a device stands for. */
static enum driver_status user_place(const struct driver *d, uint32_t device, uint32_t *gpu, uint32_t *pid)
{
    enum driver_status status = handle_check(d, device);
    if (status != DRIVER_OK)
        return status;
    const struct driver_handle *h = driver_handle_at(d, device);
    if (h->count != 1)
        return driver_fail(DRIVER_INVALID_DEVICE, "device %u is made of %u GPUs; a user queue belongs to one", device,
                           h->count);
    *gpu = h->member[0];
    *pid = h->pid;
    return DRIVER_OK;
}

static enum driver_status user_check(const struct driver *d, uint32_t queue)
{
    if (queue >= USER_QUEUES || !user_of(d)->queue[queue].used)
        return driver_fail(DRIVER_INVALID_VALUE, "there is no user queue %u", queue);
    return host_usable();
}

/* Asks the packet processor of the queue's GPU, and waits. */
static enum driver_status user_call(struct driver *d, uint32_t queue, enum queue_control_request_kind kind)
{
    struct driver_user *u = user_of(d);
    enum driver_status status = host_usable();
    memset(&u->call, 0, sizeof u->call);
    u->call.wanted = status == DRIVER_OK;
    u->call.queue = queue;
    u->call.kind = (uint8_t)kind;
    while (status == DRIVER_OK && !u->call.answered)
        status = host_run(d);
    u->call.wanted = false;
    return status;
}

static enum driver_status user_supported(const struct driver *d)
{
    if (driver_queues_count(d) != d->device_count || driver_doorbell_count(d) != d->device_count)
        return driver_fail(DRIVER_INVALID_DEVICE, "the GPUs of this platform have no user queues: connect `queues` and "
                           "`doorbell` of the driver to a packet_processor and a doorbell of each (`--set queues=true` "
                           "where the platform has that parameter)");
    if (platform_mode() == PLATFORM_FUNCTIONAL)
        return driver_fail(DRIVER_INVALID_VALUE, "user queues need timing mode");
    return host_usable();
}

/* An unused doorbell of the GPU, or USER_DOORBELLS. */
static uint32_t user_find_slot(const struct driver *d, uint32_t gpu)
{
    bool used[USER_DOORBELLS] = {false};
    uint32_t slot = 0;
    for (uint32_t i = 0; i < USER_QUEUES; i++) {
        const struct user_queue_entry *q = &user_of(d)->queue[i];
        if (q->used && q->gpu == gpu)
            used[q->slot] = true;
    }
    while (slot < USER_DOORBELLS && used[slot])
        slot++;
    return slot;
}

/* A packet that is not written says so, and the read index is 0. */
static enum driver_status user_clear(struct driver *d, uint32_t gpu, uint64_t address, uint32_t packets)
{
    static const uint16_t invalid = AQL_INVALID, zero = 0;
    uint64_t ticket, end = address + (uint64_t)packets * AQL_PACKET_BYTES;
    enum driver_status status = enqueue_fill(d, gpu, address, (const uint8_t *)&invalid, sizeof invalid,
                                             (end - address) / sizeof invalid, &ticket);
    if (status == DRIVER_OK)
        status = enqueue_fill(d, gpu, end, (const uint8_t *)&zero, sizeof zero, sizeof(uint64_t) / sizeof zero, &ticket);
    return status == DRIVER_OK ? host_wait(d, ticket) : status;
}

static enum driver_status user_create(struct driver *d, uint32_t device, uint32_t packets, struct queue_info *info)
{
    struct driver_user *u = user_of(d);
    uint32_t gpu = 0, pid = 0, id = 0;
    uint64_t ring;
    enum driver_status status = user_supported(d);
    if (status == DRIVER_OK)
        status = user_place(d, device, &gpu, &pid);
    if (status != DRIVER_OK)
        return status;
    if (packets < 2 || packets > 65536 || packets & (packets - 1))
        return driver_fail(DRIVER_INVALID_VALUE, "a queue of %u packets: a power of two from 2 to 65536 is possible",
                           packets);
    while (id < USER_QUEUES && u->queue[id].used)
        id++;
    uint32_t slot = user_find_slot(d, gpu);
    if (id == USER_QUEUES || slot == USER_DOORBELLS)
        return driver_fail(DRIVER_OUT_OF_MEMORY, "GPU %u has no doorbell left: %d queues are possible; destroy one", gpu,
                           USER_DOORBELLS);
    uint64_t bytes = (uint64_t)packets * AQL_PACKET_BYTES + AQL_PACKET_BYTES;
    status = memory_allocate_own(d, gpu, pid, bytes, PROGRAM_BUFFER, &ring);
    if (status == DRIVER_OK)
        status = user_clear(d, gpu, ring, packets);
    if (status != DRIVER_OK)
        return status;
    u->queue[id] = (struct user_queue_entry){.used = true, .gpu = gpu, .pid = pid, .device = device, .slot = slot, .packets = packets,
                                             .ring = ring, .read_index = ring + (uint64_t)packets * AQL_PACKET_BYTES};
    status = user_call(d, id, QUEUE_CONTROL_CREATE);
    *info = (struct queue_info){.id = id, .packets = packets, .ring = ring, .read_index = u->queue[id].read_index,
                                .offset = QUEUE_OFFSET_TYPE << QUEUE_OFFSET_TYPE_SHIFT
                                          | (uint64_t)gpu << QUEUE_OFFSET_GPU_SHIFT | slot * QUEUE_DOORBELL_BYTES};
    return status;
}

static enum driver_status user_destroy(struct driver *d, uint32_t queue)
{
    enum driver_status status = user_check(d, queue);
    if (status == DRIVER_OK)
        status = user_call(d, queue, QUEUE_CONTROL_DESTROY);
    if (status != DRIVER_OK)
        return status;
    if (user_of(d)->call.error == QUEUE_NOT_THERE)
        bug("driver: GPU %u does not know its user queue %u", user_of(d)->queue[queue].gpu, queue);
    memory_release(d, user_of(d)->queue[queue].ring);
    user_of(d)->queue[queue] = (struct user_queue_entry){0};
    return DRIVER_OK;
}

/* Before a device is destroyed: what is left of its queues and pages of doorbells. */
static enum driver_status user_leave(struct driver *d, uint32_t device)
{
    struct driver_user *u = user_of(d);
    enum driver_status status = handle_check(d, device);
    for (uint32_t i = 0; i < USER_QUEUES && status == DRIVER_OK && device >= d->device_count; i++) {
        if (u->queue[i].used && u->queue[i].device == device)
            status = user_destroy(d, i);
    }
    for (uint32_t i = 0; i < USER_PAGES && status == DRIVER_OK && device >= d->device_count; i++)
        u->page[i].used &= u->page[i].device != device;
    return status;
}

static enum driver_status user_state(struct driver *d, uint32_t queue, struct queue_state *state)
{
    static const char *const texts[QUEUE_ERRORS] = {
        [QUEUE_GOOD] = "no error",
        [QUEUE_NOT_THERE] = "the GPU does not know the queue",
        [QUEUE_OVERFLOW] = "its doorbell was rung for a packet that has no room: wait until the read index has gone on",
        [QUEUE_PACKET] = "a packet is of a type, or has fields, that are not supported",
        [QUEUE_ADDRESS] = "a packet names memory that the process does not have"};
    struct driver_user *u = user_of(d);
    enum driver_status status = user_check(d, queue);
    if (status == DRIVER_OK)
        status = user_call(d, queue, QUEUE_CONTROL_STATUS);
    if (status != DRIVER_OK)
        return status;
    u->queue[queue].read = u->call.read;
    *state = (struct queue_state){u->call.read, u->call.error, u->queue[queue].gpu, texts[u->call.error]};
    return DRIVER_OK;
}

static enum driver_status user_map(struct driver *d, uint32_t device, uint64_t offset, uint32_t *page)
{
    struct driver_user *u = user_of(d);
    uint32_t gpu = (uint32_t)(offset >> QUEUE_OFFSET_GPU_SHIFT) & QUEUE_OFFSET_GPU_MASK, of_device = 0, pid = 0,
             number = 0;
    enum driver_status status = user_supported(d);
    if (status == DRIVER_OK)
        status = user_place(d, device, &of_device, &pid);
    if (status != DRIVER_OK)
        return status;
    uint64_t in_type = offset & (((uint64_t)1 << QUEUE_OFFSET_GPU_SHIFT) - 1);
    if (offset >> QUEUE_OFFSET_TYPE_SHIFT != QUEUE_OFFSET_TYPE || gpu >= d->device_count || in_type >= QUEUE_PAGE_BYTES)
        return driver_fail(DRIVER_INVALID_ADDRESS, "0x%" PRIx64 " is no offset of doorbells: take what creating a queue "
                           "gives", offset);
    while (number < USER_PAGES && u->page[number].used)
        number++;
    if (number == USER_PAGES)
        return driver_fail(DRIVER_OUT_OF_MEMORY, "%d pages of doorbells are mapped; unmap one", USER_PAGES);
    u->page[number] = (struct user_page){true, gpu, pid, device};
    *page = number;
    return DRIVER_OK;
}

static enum driver_status user_unmap(struct driver *d, uint32_t page)
{
    if (page >= USER_PAGES || !user_of(d)->page[page].used)
        return driver_fail(DRIVER_INVALID_ADDRESS, "page %u of doorbells is not mapped", page);
    user_of(d)->page[page].used = false;
    return DRIVER_OK;
}

static const struct user_queue_entry *user_by_doorbell(const struct driver *d, const struct user_page *page, uint32_t slot)
{
    for (uint32_t i = 0; i < USER_QUEUES; i++) {
        const struct user_queue_entry *q = &user_of(d)->queue[i];
        if (q->used && q->gpu == page->gpu && q->pid == page->pid && q->slot == slot)
            return q;
    }
    return NULL;
}

static enum driver_status user_ring(struct driver *d, uint32_t page, uint64_t offset, uint64_t number)
{
    struct driver_user *u = user_of(d);
    uint32_t at = (uint32_t)(offset % QUEUE_PAGE_BYTES);
    enum driver_status status = host_usable();
    if (status != DRIVER_OK)
        return status;
    if (page >= USER_PAGES || !u->page[page].used)
        return driver_fail(DRIVER_INVALID_ADDRESS, "page %u of doorbells is not mapped", page);
    if (at % QUEUE_DOORBELL_BYTES || !user_by_doorbell(d, &u->page[page], at / QUEUE_DOORBELL_BYTES))
        return driver_fail(DRIVER_INVALID_ADDRESS, "no queue of this process has the doorbell at offset %u of GPU %u", at,
                           u->page[page].gpu);
    while (status == DRIVER_OK && u->ring_count == USER_RINGS) { /* the link is slower than the program */
        d->stop_at = driver_now(d) + (uint64_t)driver_params(d)->poll_cost;
        status = host_run(d);
        d->stop_at = 0;
    }
    if (status != DRIVER_OK)
        return status;
    u->rings[u->ring_count++] = (struct user_ring){u->page[page].gpu, at / QUEUE_DOORBELL_BYTES, number};
    engine_wake_from_host(d->io.base.id);
    return DRIVER_OK;
}

static enum driver_status user_move(struct driver *d, uint32_t gpu, enum driver_kind kind, void *host, uint64_t address,
                                    uint64_t size)
{
    uint64_t ticket;
    enum driver_status status = enqueue_move(d, gpu, kind, host, address, size, &ticket);
    return status == DRIVER_OK ? host_wait(d, ticket) : status;
}

static enum driver_status user_write(struct driver *d, uint32_t queue, const void *packet, uint64_t *number)
{
    char copy[AQL_PACKET_BYTES];
    enum driver_status status = user_check(d, queue);
    if (status != DRIVER_OK)
        return status;
    struct user_queue_entry *q = &user_of(d)->queue[queue];
    if (q->written - q->read == q->packets)
        status = user_move(d, q->gpu, DRIVER_READ, &q->read, q->read_index, sizeof q->read);
    if (status == DRIVER_OK && q->written - q->read == q->packets)
        status = driver_fail(DRIVER_NOT_READY, "user queue %u is full: none of its %u packets is over", queue, q->packets);
    if (status != DRIVER_OK)
        return status;
    memcpy(copy, packet, sizeof copy);
    status = user_move(d, q->gpu, DRIVER_WRITE, copy, q->ring + q->written % q->packets * AQL_PACKET_BYTES, sizeof copy);
    if (status == DRIVER_OK)
        *number = q->written++;
    return status;
}

static enum driver_status user_signal_wait(struct driver *d, uint32_t device, uint64_t signal, int64_t value,
                                           uint64_t cycles)
{
    uint32_t gpu = 0, pid = 0;
    enum driver_status status = user_place(d, device, &gpu, &pid);
    uint64_t end = driver_now(d) + cycles;
    int64_t now = 0;
    while (status == DRIVER_OK) {
        status = user_move(d, gpu, DRIVER_READ, &now, signal + AQL_SIGNAL_VALUE, sizeof now);
        if (status != DRIVER_OK || now == value)
            return status;
        if (driver_now(d) >= end)
            return driver_fail(DRIVER_NOT_READY, "the signal at 0x%" PRIx64 " is %" PRId64 ", not %" PRId64, signal, now,
                               value);
        d->stop_at = driver_now(d) + (uint64_t)driver_params(d)->poll_cost;
        status = host_run(d);
        d->stop_at = 0;
    }
    return status;
}

static enum driver_status user_name_kernel(struct driver *d, uint64_t kernel_object, const char *name)
{
    struct program_table *table = driver_program(d);
    program_set_object(table, kernel_object, program_kernel(table, name, name));
    return DRIVER_OK;
}

#endif
