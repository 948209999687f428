/* Queues: rings of packets that the program writes.
 *
 * Launches of a queue go to a queue of the driver and execute in order, so no packet overtakes
 * another one of its queue, with the barrier bit or without. A packet that only waits for signals
 * holds up its own queue. Signals change when the driver says that a launch is done, at that moment
 * of simulated time, before anything else begins.
 *
 * A GPU works on SLOTS queues of kernels at a time, of all processes. More of them take turns, as
 * the driver's run list has it: a queue of the highest priority goes first, among these the one
 * that has waited longest, and one that is at work begins no more packets meanwhile. */
#include <errno.h>
#include <linux/kfd_ioctl.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "components/kfd/channel/program_memory.h"
#include "components/kfd/server/kfd_ioctl.h"

#include "kfd_aql_packet.h"
#include "kfd_sdma_queue.h"

/* Packets of a ring: a program with less waits for room, which is not seen. */
enum { ROOM_LEFT = 8 };
enum { SLOTS = 24 }; /* num_cp_queues of the topology */

struct kfd_queues {
    struct kfd_queue *queue[KFD_QUEUES_MAX];
    uint32_t end;
    uint64_t settling; /* ticket of the fence */
};

/* ---- the run list ---- */

static uint64_t wait_count; /* of queues for a slot, so far */

static bool has_packets(const struct kfd_queue *q)
{
    return !q->is_stopped && q->next < q->announced_end;
}

/* The queues of kernels of a GPU, of all processes: how many are at work, and which of those that
 * wait for a slot is the next. */
static uint32_t count_slots(uint32_t gpu, const struct kfd_queue **next)
{
    uint32_t used = 0;
    *next = NULL;
    for (const struct kfd_process *p = kfd.processes; p; p = p->next) {
        uint32_t end = p->queues ? p->queues->end : 0;
        for (uint32_t i = 0; i < end; i++) {
            const struct kfd_queue *q = p->queues->queue[i];
            if (!q || q->gpu != gpu || kfd_sdma_is_type(q->type))
                continue;
            used += q->count != 0;
            if (q->waits_since && has_packets(q)
                && (!*next || q->priority > (*next)->priority
                    || (q->priority == (*next)->priority && q->waits_since < (*next)->waits_since)))
                *next = q;
        }
    }
    return used;
}

/* False: the queue, which has packets, may not begin one yet; its turn comes later. */
static bool claim_slot(struct kfd_queue *q)
{
    const struct kfd_queue *next;
    uint32_t used = count_slots(q->gpu, &next);
    if (q->count)
        return !next || next->priority < q->priority;
    bool may_begin = used < SLOTS && (!next || next == q || next->priority < q->priority);
    q->waits_since = may_begin ? 0 : q->waits_since ? q->waits_since : ++wait_count;
    return may_begin;
}

/* ---- steps ---- */

static bool end_flights(struct kfd_queue *q)
{
    bool ended = false;
    for (; q->count; q->count--, q->first = (q->first + 1) % KFD_FLIGHTS) {
        const struct kfd_flight f = q->flight[q->first];
        uint64_t end_ps = kfd.api->now();
        if (f.ticket && kfd.api->time_of(f.ticket, &end_ps) != DRIVER_OK)
            break;
        if (!q->process->has_faulted)
            kfd_packet_end(q, &f, end_ps);
        q->process->caches->has_host_run |=
            kfd_sdma_is_type(q->type); /* it has written past the caches */
        ended = true;
    }
    return ended;
}

static bool begin_packets(struct kfd_queue *q)
{
    bool begun = false;
    while (has_packets(q) && q->count < KFD_FLIGHTS && claim_slot(q)) {
        char *packet =
            kfd_queue_bytes(q, q->ring + q->next % q->packets * AQL_PACKET_BYTES, AQL_PACKET_BYTES);
        uint64_t *read = kfd_queue_bytes(q, q->read_pointer, sizeof *read);
        if (!packet || !read) {
            kfd_queue_stop(q, STOP_OTHER, "its ring is not in memory of the GPU any more");
            break;
        }
        uint16_t *header = (uint16_t *)(void *)packet;
        if (kfd_packet_begin(q, packet, __atomic_load_n(header, __ATOMIC_ACQUIRE)) != TURN_BEGUN)
            break;
        __atomic_store_n(header, AQL_INVALID, __ATOMIC_RELEASE);
        __atomic_store_n(read, ++q->next, __ATOMIC_RELEASE);
        begun = true;
    }
    return begun;
}

bool kfd_queues_step(struct kfd_process *p)
{
    struct kfd_queues *queues = p->queues;
    bool progress = false;
    for (uint32_t i = 0; i < queues->end && !kfd.has_ended; i++) {
        struct kfd_queue *q = queues->queue[i];
        if (q) {
            progress |= end_flights(q);
            progress |= kfd_sdma_is_type(q->type) ? kfd_sdma_begin(q) : begin_packets(q);
        }
    }
    return progress;
}

bool kfd_queues_in_flight(const struct kfd_process *p)
{
    struct kfd_queues *queues = p->queues;
    bool fly = false;
    for (uint32_t i = 0; i < queues->end; i++)
        fly |= queues->queue[i] && queues->queue[i]->count;
    return fly;
}

bool kfd_queues_poll(struct kfd_process *p)
{
    struct kfd_queues *queues = p->queues;
    bool busy = queues->settling != 0 || kfd_queues_in_flight(p);
    uint64_t end_ps;
    if (queues->settling && kfd.api->time_of(queues->settling, &end_ps) == DRIVER_OK)
        queues->settling = 0;
    return busy;
}

bool kfd_queues_release_caches(struct kfd_process *p)
{
    bool settled = !kfd_queues_unreleased(p);
    if (!settled && kfd_status(kfd.api->fence(p->fences, &p->queues->settling), "a fence") != 0)
        return true;
    kfd_queues_released(p, NULL);
    return settled;
}

bool kfd_queues_unreleased(const struct kfd_process *p)
{
    struct kfd_queues *queues = p->queues;
    bool is_unreleased = p->caches->is_unreleased;
    for (uint32_t i = 0; i < queues->end; i++)
        is_unreleased |= queues->queue[i] && queues->queue[i]->is_unreleased;
    return is_unreleased;
}

void kfd_queues_released(struct kfd_process *p, const struct kfd_queue *q)
{
    struct kfd_queues *queues = p->queues;
    p->caches->is_unreleased = false;
    for (uint32_t i = 0; i < queues->end; i++) {
        struct kfd_queue *other = queues->queue[i];
        if (other && (!q || other == q || !other->count))
            other->is_unreleased = false;
    }
}

/* ---- calls ---- */

void kfd_queues_fail(const struct kfd_process *p)
{
    struct kfd_queues *queues = p->queues;
    for (uint32_t i = 0; i < queues->end; i++)
        if (queues->queue[i] && queues->queue[i]->count)
            kfd_queue_report(queues->queue[i], STOP_OTHER);
}

void kfd_queues_reset(const struct kfd_process *p, uint32_t gpu)
{
    struct kfd_queues *queues = p->queues;
    for (uint32_t i = 0; i < queues->end; i++) {
        struct kfd_queue *q = queues->queue[i];
        if (q && q->gpu == gpu && !kfd_sdma_is_type(q->type) && !q->is_stopped)
            kfd_queue_report(q, STOP_OTHER);
    }
}

/* No thread can wait by an event for a packet with a signal that has none. */
static bool has_event(const struct kfd_queue *q, uint64_t number)
{
    const struct aql_packet *packet =
        kfd_queue_bytes(q, q->ring + number % q->packets * AQL_PACKET_BYTES, AQL_PACKET_BYTES);
    /* The completion signal is the last word of all packets. */
    const struct amd_signal *s = packet ? kfd_signal_at(q, packet->scratch_groups) : NULL;
    return !packet || !packet->scratch_groups || !s || s->event_mailbox;
}

static bool read_doorbell(struct kfd_queue *q, uint64_t value)
{
    uint64_t announced = value + 1;
    bool waits = false;
    if (kfd.gpu[q->gpu].doorbell_bytes == 4) /* the number of packets, its lower half */
        announced = q->announced_end + (uint32_t)((uint32_t)value - (uint32_t)q->announced_end);
    if (announced > q->next + q->packets) {
        kfd_queue_stop(q, STOP_OTHER, "its doorbell announces more packets than its ring has");
        return false;
    }
    for (; q->announced_end < announced; q->announced_end++)
        waits |= !has_event(q, q->announced_end);
    return waits || q->announced_end - q->next + ROOM_LEFT > q->packets;
}

bool kfd_queues_read_doorbells(struct kfd_process *p, uint32_t gpu, uint32_t *queue)
{
    struct kfd_queues *queues = p->queues;
    bool waits = false;
    p->caches->has_host_run = true;
    for (uint32_t i = 0; i < queues->end; i++) {
        struct kfd_queue *q = queues->queue[i];
        if (!q || q->gpu != gpu)
            continue;
        uint64_t value = kfd_doorbell_value(p, gpu, q->slot);
        if (value == q->doorbell_value)
            continue;
        q->doorbell_value = value;
        *queue = i;
        waits |=
            kfd_sdma_is_type(q->type) ? kfd_sdma_read_doorbell(q, value) : read_doorbell(q, value);
    }
    return waits;
}

bool kfd_queue_is_done(const struct kfd_process *p, uint32_t queue)
{
    const struct kfd_queue *q = p->queues->queue[queue];
    return !q || (!q->count && (q->is_stopped || q->next == q->announced_end));
}

void kfd_queues_sync_memory(struct kfd_process *p)
{
    kfd_status(kfd.api->fence(p->fences, NULL), "a fence");
}

static struct kfd_queue *find_queue(const struct kfd_process *p, uint32_t id)
{
    return id < KFD_QUEUES_MAX ? p->queues->queue[id] : NULL;
}

/* The counters of the global wave sync belong to a GPU, and a launch that uses them has them alone,
 * so each queue may have all of them. */
int kfd_queue_allocate_gws(struct kfd_process *p, struct kfd_request *request)
{
    struct kfd_ioctl_alloc_queue_gws_args *call = request->argument;
    const struct kfd_queue *q = find_queue(p, call->queue_id);
    if (!q)
        return -EINVAL;
    if (kfd.gpu[q->gpu].traits->encoding == ISA_ENCODING_GFX8)
        return -ENODEV; /* as of the driver, which has it from gfx9 on (kfd_chardev.c) */
    call->first_gws = 0;
    return 0;
}

static bool ring_is_possible(uint32_t type, uint64_t bytes)
{
    if (kfd_sdma_is_type(type))
        return kfd_sdma_ring_size(bytes);
    uint64_t packets = bytes / AQL_PACKET_BYTES;
    return packets >= 2 && !(packets & (packets - 1)) && bytes % AQL_PACKET_BYTES == 0;
}

static uint32_t count_queues(const struct kfd_process *p, uint32_t gpu, uint32_t type)
{
    struct kfd_queues *queues = p->queues;
    uint32_t count = 0;
    for (uint32_t i = 0; i < queues->end; i++)
        count += queues->queue[i] && queues->queue[i]->gpu == gpu && queues->queue[i]->type == type;
    return count;
}

static int check_create(const struct kfd_process *p, const struct kfd_ioctl_create_queue_args *call,
                        int gpu)
{
    bool copies = kfd_sdma_is_type(call->queue_type);
    if (gpu < 0)
        return -ENODEV;
    /* Nothing speaks PM4 to a queue. */
    if (call->queue_type != KFD_IOC_QUEUE_TYPE_COMPUTE_AQL && !copies)
        return -EINVAL;
    if (call->queue_percentage > KFD_MAX_QUEUE_PERCENTAGE
        || call->queue_priority > KFD_MAX_QUEUE_PRIORITY
        || !ring_is_possible(call->queue_type, call->ring_size))
        return -EINVAL;
    if (copies
        && count_queues(p, (uint32_t)gpu, call->queue_type) >= kfd_sdma_queues((uint32_t)gpu))
        return -ENOMEM; /* as of the driver (allocate_sdma_queue() of Linux) */
    if (!kfd_bytes(p, (uint32_t)gpu, call->ring_base_address, call->ring_size)
        || call->read_pointer_address % 8 || call->write_pointer_address % 8
        || !kfd_bytes(p, (uint32_t)gpu, call->read_pointer_address, 8)
        || !kfd_bytes(p, (uint32_t)gpu, call->write_pointer_address, 8))
        return -EFAULT;
    return 0;
}

int kfd_queue_create(struct kfd_process *p, struct kfd_request *request)
{
    struct kfd_queues *queues = p->queues;
    struct kfd_ioctl_create_queue_args *call = request->argument;
    int gpu = kfd_find_gpu(call->gpu_id), result = check_create(p, call, gpu);
    const bool copies = kfd_sdma_is_type(call->queue_type); /* kernels may wait for those */
    const uint32_t flags = DRIVER_QUEUE_SIGNALLED | (copies ? DRIVER_QUEUE_ATTENDS : 0);
    uint32_t slot = 0, driver; /* ROCt of gfx8 takes the queue's number for its doorbell */
    if (result != 0)
        return result;
    while (slot < KFD_QUEUES_MAX && queues->queue[slot])
        slot++;
    if (slot == KFD_QUEUES_MAX)
        return -ENOSPC;
    result = kfd_status(kfd.api->queue_create(p->device[gpu], flags, &driver), "creating a queue");
    if (result != 0)
        return result;
    struct kfd_queue *q = grow_zeroed(sizeof *q, KFD_SERVER);
    const uint64_t *read = kfd_bytes(p, (uint32_t)gpu, call->read_pointer_address, 8);
    uint64_t first = copies ? 0 : *read;
    *q = (struct kfd_queue){.process = p,
                            .type = call->queue_type,
                            .is_stopped = call->queue_percentage == 0,
                            .priority = call->queue_priority,
                            .gpu = (uint32_t)gpu,
                            .slot = slot,
                            .driver = driver,
                            .ring = call->ring_base_address,
                            .packets = call->ring_size / AQL_PACKET_BYTES,
                            .read_pointer = call->read_pointer_address,
                            .next = first,
                            .announced_end = first,
                            .sdma.ring_bytes = call->ring_size};
    kfd_doorbell_clear(p, q->gpu, slot);
    q->doorbell_value = kfd_doorbell_value(p, q->gpu, slot);
    queues->queue[slot] = q;
    queues->end = slot < queues->end ? queues->end : slot + 1;
    call->queue_id = slot;
    call->doorbell_offset = kfd_map_offset(KFD_MAP_DOORBELL, call->gpu_id);
    if (kfd.gpu[gpu].doorbell_bytes == 8)
        call->doorbell_offset |= (uint64_t)slot * kfd.gpu[gpu].doorbell_bytes;
    return 0;
}

/* Packets that have begun come to their end; the others are dropped. */
int kfd_queue_destroy(struct kfd_process *p, struct kfd_request *request)
{
    const struct kfd_ioctl_destroy_queue_args *call = request->argument;
    struct kfd_queue *q = find_queue(p, call->queue_id);
    if (!q)
        return -EINVAL;
    p->queues->queue[call->queue_id] = NULL;
    int result =
        kfd.has_ended ? 0 : kfd_status(kfd.api->queue_destroy(q->driver), "destroying a queue");
    kfd_has_faulted(p);
    while (q->count && end_flights(q))
        ;
    p->caches->is_unreleased |= q->is_unreleased;
    free(q);
    return result;
}

int kfd_queue_update(struct kfd_process *p, struct kfd_request *request)
{
    const struct kfd_ioctl_update_queue_args *call = request->argument;
    struct kfd_queue *q = find_queue(p, call->queue_id);
    if (!q || call->queue_percentage > KFD_MAX_QUEUE_PERCENTAGE
        || call->queue_priority > KFD_MAX_QUEUE_PRIORITY)
        return -EINVAL;
    if (call->queue_percentage
        && (!ring_is_possible(q->type, call->ring_size)
            || !kfd_queue_bytes(q, call->ring_base_address, call->ring_size)))
        return -EINVAL;
    q->is_stopped = call->queue_percentage == 0;
    q->priority = call->queue_priority;
    if (!q->is_stopped) {
        q->ring = call->ring_base_address;
        q->packets = call->ring_size / AQL_PACKET_BYTES;
        q->sdma.ring_bytes = call->ring_size;
    }
    return 0;
}

void kfd_queues_open(struct kfd_process *p)
{
    p->queues = grow_zeroed(sizeof *p->queues, KFD_SERVER);
}

void kfd_queues_process_ended(const struct kfd_process *p)
{
    struct kfd_queues *queues = p->queues;
    for (uint32_t i = 0; i < queues->end; i++)
        if (queues->queue[i])
            queues->queue[i]->is_stopped = true;
}

void kfd_queues_close(struct kfd_process *p)
{
    struct kfd_queues *queues = p->queues;
    for (uint32_t i = 0; i < queues->end; i++) {
        struct kfd_queue *q = queues->queue[i];
        queues->queue[i] = NULL;
        if (q && !kfd.has_ended)
            kfd_status(kfd.api->queue_destroy(q->driver), "destroying a queue");
        free(q);
    }
    free(queues);
    p->queues = NULL;
}

bool kfd_queues_any(const struct kfd_process *p)
{
    struct kfd_queues *queues = p->queues;
    bool has_queue = false;
    for (uint32_t i = 0; i < queues->end; i++)
        has_queue |= queues->queue[i] != NULL;
    return has_queue;
}

bool kfd_queues_have_packets(struct kfd_process *p)
{
    struct kfd_queues *queues = p->queues;
    bool have_packets = false;
    for (uint32_t i = 0; i < queues->end; i++) {
        const struct kfd_queue *q = queues->queue[i];
        have_packets |= q && has_packets(q);
    }
    return have_packets;
}

/* Work-groups of a queue may go to all compute units, so a mask that leaves one out is refused. */
int kfd_queue_mask(struct kfd_process *p, struct kfd_request *request)
{
    enum { BITS_MAX = 1024 }; /* as many as Linux reads */
    const struct kfd_ioctl_set_cu_mask_args *call = request->argument;
    const struct kfd_queue *q = find_queue(p, call->queue_id);
    uint32_t words[BITS_MAX / 32] = {0};
    uint32_t bits = min(call->num_cu_mask, BITS_MAX);
    if (!bits || call->num_cu_mask % 32)
        return -EINVAL;
    if (!program_read(p->pid, words, call->cu_mask_ptr, bits / 8))
        return -EFAULT;
    if (!q)
        return -EINVAL;
    for (uint32_t i = 0; i < kfd.gpu[q->gpu].info.compute_units && i < BITS_MAX; i++) {
        if (!(words[i / 32] >> i % 32 & 1)) {
            kfd_say("a mask of compute units leaves out number %u; queues use all of them here", i);
            return -EINVAL;
        }
    }
    return 0;
}

/* Work is not saved in the middle, so there is no state of wavefronts, as on GPUs without CWSR. */
int kfd_queue_wave_state(struct kfd_process *p, struct kfd_request *request)
{
    (void)p, (void)request;
    return -EINVAL;
}
