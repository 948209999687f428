/* Queues: packets that the program writes into a ring, in the format of HSA (AQL), with those of
 * AMD's runtime beside them.
 *
 * Each queue has one of the driver's, in which its launches execute in order, so a packet never
 * overtakes another one of its queue, with the barrier bit or without. A packet that only waits for
 * signals holds up its own queue. Signals change when the driver says that a launch is done, at
 * that moment of simulated time, before anything else begins.
 *
 * Caches: a launch acquires and releases as its packet says. Memory that the program sees is never
 * stale, whatever the packet says: the first launch after the program ran acquires at system scope,
 * and before the program goes on behind launches that have released less, a fence follows. */
#include <errno.h>
#include <linux/kfd_ioctl.h>
#include <stdlib.h>
#include <string.h>

#include "components/protocols/user_queue/aql_queue.h"
#include "kfd_machine.h"

enum {
    FLIGHTS = 4096, /* packets of a queue that are begun and not over */
    ROOM_LEFT = 8,  /* packets of a ring: a program with less waits for room, which is not seen */
    /* Vendor packets (amd_hsa_queue.h, hsa_ext_amd.h): the format in byte 2. */
    VENDOR_PM4 = 1,
    VENDOR_BARRIER_VALUE = 2,
    /* Commands of the processor, of type 3 (PM4): their operation in bits 8..15, their length less
     * 2 in bits 16..29 (amdgpu, vid.h, soc15d.h). */
    PM4_NOP = 0x10,
    PM4_INDIRECT_BUFFER = 0x3f,
    PM4_ACQUIRE_MEM = 0x58,
    PM4_JUMP_DWORDS = 4,
    PM4_BUFFER_DWORDS = 0xfffff
};

/* 0: it is none of type 3. */
static uint32_t pm4_operation(uint32_t word)
{
    return word >> 30 == 3 ? word >> 8 & 0xff : 0;
}

/* amd_signal_t (amd_hsa_signal.h). */
struct amd_signal {
    int64_t kind, value;
    uint64_t event_mailbox;
    uint32_t event_id, reserved;
    uint64_t start_ts, end_ts;
    uint64_t queue, reserved_too;
};

struct barrier_value_packet {
    uint16_t header;
    uint8_t format, reserved0;
    uint32_t reserved1;
    uint64_t signal;
    int64_t value, mask;
    uint32_t condition, reserved2;
    uint64_t reserved3, reserved4;
    uint64_t completion;
};
_Static_assert(sizeof(struct barrier_value_packet) == AQL_PACKET_BYTES, "a packet has 64 bytes");

/* A packet that was begun. */
struct flight {
    uint64_t ticket; /* of the driver; 0: nothing is with the driver */
    uint64_t completion;
    uint64_t begun_ps;
};

struct queue {
    bool used, stopped; /* stopped: it made a mistake, or the program asked for it */
    uint32_t gpu, slot; /* its doorbell */
    uint32_t driver;    /* the driver's queue */
    uint64_t ring, packets;
    uint64_t read_pointer, write_pointer; /* addresses */
    uint64_t next;                        /* packet to begin */
    uint64_t announced;                   /* packets before it are there */
    uint64_t rung;                        /* value of the doorbell */
    uint64_t last_end_ps;
    struct flight flight[FLIGHTS]; /* a ring */
    uint32_t first, count;
};

static struct {
    struct queue *queue[KFD_QUEUES_MAX];
    uint32_t end;
    bool host_ran;     /* since the last launch on a GPU: may have written anything */
    bool unreleased;   /* launches have released less than system scope */
    uint64_t settling; /* ticket of the fence */
    bool acquired[KFD_GPUS_MAX];
} own;

/* ---- signals ---- */

static struct amd_signal *signal_at(uint32_t gpu, uint64_t address)
{
    return address % 8 ? NULL : kfd_bytes(gpu, address, sizeof(struct amd_signal));
}

/* Why a queue has stopped, as the processor's firmware writes it to the queue's signal for that
 * (AqlQueue::DynamicScratchHandler of ROCr). */
enum stop_reason {
    STOP_DIMENSION = 2,
    STOP_GROUP_MEMORY = 4,
    STOP_CODE = 8,
    STOP_PACKET = 32,
    STOP_GROUP_SIZE = 64,
    STOP_OTHER = 0x80000000
};

/* The signal of the queue object (amd_queue_t, amd_hsa_queue.h), in which the read pointer is. */
static struct amd_signal *inactive_signal(const struct queue *q)
{
    enum { READ_TO_INACTIVE = 192 - 128 };
    const uint64_t *handle = kfd_bytes(q->gpu, q->read_pointer + READ_TO_INACTIVE, sizeof *handle);
    return handle && *handle ? signal_at(q->gpu, *handle) : NULL;
}

static void tell_stopped(struct queue *q, enum stop_reason reason)
{
    struct amd_signal *s = inactive_signal(q);
    q->stopped = true;
    if (!s) {
        kfd_events_fail(q->gpu, 0, false);
        return;
    }
    __atomic_store_n(&s->value, (int64_t)reason, __ATOMIC_SEQ_CST);
    if (s->event_mailbox)
        kfd_event_signal(s->event_id);
}

static void stop(struct queue *q, enum stop_reason reason, const char *why)
{
    kfd_say("queue %u of GPU %u has stopped at packet %llu: %s", q->slot, q->gpu,
            (unsigned long long)q->next, why);
    tell_stopped(q, reason);
}

void kfd_queues_fail(void)
{
    for (uint32_t i = 0; i < own.end; i++) {
        if (own.queue[i] && own.queue[i]->count)
            tell_stopped(own.queue[i], STOP_OTHER);
    }
}

/* A packet is over: its signal says so, and when it ran. */
static void complete(struct queue *q, const struct flight *f, uint64_t end_ps)
{
    struct amd_signal *s = f->completion ? signal_at(q->gpu, f->completion) : NULL;
    uint64_t begun_ps = f->begun_ps > q->last_end_ps ? f->begun_ps : q->last_end_ps;
    q->last_end_ps = end_ps;
    if (!s && f->completion)
        stop(q, STOP_PACKET, "its completion signal is not in memory of the GPU");
    if (!s)
        return;
    s->start_ts = kfd_clock_at(begun_ps < end_ps ? begun_ps : end_ps);
    s->end_ts = kfd_clock_at(end_ps);
    __atomic_sub_fetch(&s->value, 1, __ATOMIC_SEQ_CST);
    if (s->event_mailbox)
        kfd_event_signal(s->event_id);
}

/* ---- packets ---- */

enum turn { TURN_BEGUN, TURN_WAITS, TURN_OVER /* of the queue, which has stopped */ };

static void add_flight(struct queue *q, uint64_t ticket, uint64_t completion)
{
    q->flight[(q->first + q->count++) % FLIGHTS] =
        (struct flight){.ticket = ticket, .completion = completion, .begun_ps = kfd.api->now()};
}

static uint8_t scope_of(uint16_t header, unsigned shift)
{
    static const uint8_t scopes[] = {[AQL_SCOPE_NONE] = DRIVER_SCOPE_NONE,
                                     [AQL_SCOPE_AGENT] = DRIVER_SCOPE_AGENT,
                                     [AQL_SCOPE_SYSTEM] = DRIVER_SCOPE_SYSTEM,
                                     DRIVER_SCOPE_SYSTEM};
    return scopes[aql_scope(header, shift)];
}

/* A packet that runs nothing is over behind a fence, if its fences ask for one and kernels have
 * left something in caches. */
static enum turn begin_empty(struct queue *q, uint16_t header, uint64_t completion)
{
    uint64_t ticket = 0;
    if (own.unreleased && aql_scope(header, AQL_RELEASE_SHIFT) >= AQL_SCOPE_SYSTEM) {
        if (kfd_status(kfd.api->fence(q->driver, &ticket), "a fence") != 0)
            return TURN_OVER;
        own.unreleased = false;
    }
    add_flight(q, ticket, completion);
    return TURN_BEGUN;
}

/* Where caches of other GPUs may hold what the program has written, a fence empties all. */
static int acquire_all(struct queue *q)
{
    memset(own.acquired, false, sizeof own.acquired);
    own.host_ran = false;
    return kfd.gpu_count > 1 ? kfd_status(kfd.api->fence(q->driver, NULL), "a fence") : 0;
}

/* Why the driver has not taken a launch. */
static enum stop_reason reason_of(const struct queue *q, const struct driver_launch *l)
{
    const struct driver_device_info *info = &kfd.gpu[q->gpu].info;
    uint64_t items = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    if (!items || !l->grid[0] || !l->grid[1] || !l->grid[2])
        return STOP_DIMENSION;
    return l->group_bytes > info->lds_bytes_per_cu ? STOP_GROUP_MEMORY
           : items > info->max_work_group          ? STOP_GROUP_SIZE
                                                   : STOP_CODE;
}

static enum turn begin_dispatch(struct queue *q, const struct aql_packet *p, uint64_t completion)
{
    const struct aql_descriptor *d = kfd_bytes(q->gpu, p->kernel_object, sizeof *d);
    unsigned dimensions = p->setup & 3;
    uint64_t ticket = 0;
    if (!d || !dimensions) {
        stop(q, d ? STOP_DIMENSION : STOP_CODE,
             d ? "a dispatch packet of no dimension"
               : "its kernel is not in memory that the GPU has mapped");
        return TURN_OVER;
    }
    if (own.host_ran && acquire_all(q) != 0)
        return TURN_OVER;
    struct driver_launch launch = {.kernel_object = p->kernel_object,
                                   .entry = p->kernel_object + (uint64_t)d->entry_offset,
                                   .group_bytes = p->group_bytes,
                                   .private_bytes = p->private_bytes,
                                   .kernarg_address = p->kernarg,
                                   .acquire = own.acquired[q->gpu]
                                                  ? scope_of(p->header, AQL_ACQUIRE_SHIFT)
                                                  : DRIVER_SCOPE_SYSTEM,
                                   .release = scope_of(p->header, AQL_RELEASE_SHIFT)};
    for (unsigned i = 0; i < 3; i++) {
        launch.grid[i] = i < dimensions ? p->grid[i] : 1;
        launch.block[i] = i < dimensions ? p->work_group[i] : 1;
    }
    memcpy(launch.descriptor, d, sizeof launch.descriptor);
    const struct kfd_kernel *kernel = kfd_code_find(q->gpu, launch.kernel_object, launch.entry);
    launch.name = kernel->name;
    launch.symbol = kernel->symbol;
    if (kfd_status(kfd.api->launch(q->driver, &launch, &ticket), "a kernel dispatch packet") != 0) {
        stop(q, reason_of(q, &launch), "the kernel cannot be launched");
        return TURN_OVER;
    }
    own.acquired[q->gpu] = true;
    bool others = kfd.gpu_count > 1; /* whose caches may hold what it has written to their memory */
    own.unreleased |= launch.release != DRIVER_SCOPE_SYSTEM || others;
    if (!completion || !others || launch.release != DRIVER_SCOPE_SYSTEM) {
        add_flight(q, ticket, completion);
        return TURN_BEGUN;
    }
    add_flight(q, ticket, 0);
    return begin_empty(q, p->header, completion);
}

/* Barrier packets wait here, not with the driver: signals are the program's, too. */
static enum turn begin_barrier(struct queue *q, const struct aql_barrier_packet *p, bool all)
{
    bool met = all, any = false;
    for (unsigned i = 0; i < AQL_DEPENDENCIES; i++) {
        const struct amd_signal *s = p->dependency[i] ? signal_at(q->gpu, p->dependency[i]) : NULL;
        if (!p->dependency[i])
            continue;
        if (!s) {
            stop(q, STOP_PACKET,
                 "a barrier packet names a signal that is not in memory of the GPU");
            return TURN_OVER;
        }
        bool zero = __atomic_load_n(&s->value, __ATOMIC_SEQ_CST) == 0;
        met = all ? met && zero : met || zero;
        any = true;
    }
    return any && !met ? TURN_WAITS : begin_empty(q, p->header, p->completion);
}

bool kfd_signal_compare(uint32_t condition, int64_t a, int64_t b)
{
    switch (condition) {
    case KFD_SIGNAL_EQUAL:
        return a == b;
    case KFD_SIGNAL_UNEQUAL:
        return a != b;
    case KFD_SIGNAL_LESS:
        return a < b;
    default:
        return a >= b;
    }
}

static enum turn begin_barrier_value(struct queue *q, const struct barrier_value_packet *p)
{
    const struct amd_signal *s = p->signal ? signal_at(q->gpu, p->signal) : NULL;
    if ((p->signal && !s) || p->condition > KFD_SIGNAL_NOT_LESS) {
        stop(q, STOP_PACKET, "a barrier-value packet is not sound");
        return TURN_OVER;
    }
    if (s
        && !kfd_signal_compare(p->condition, __atomic_load_n(&s->value, __ATOMIC_SEQ_CST) & p->mask,
                               p->value))
        return TURN_WAITS;
    return begin_empty(q, p->header, p->completion);
}

/* Is all of an indirect buffer of commands the invalidation of caches? `jump`: INDIRECT_BUFFER,
 * address, size. */
static bool only_invalidates(const struct queue *q, const uint32_t *jump)
{
    uint64_t address = jump[1] | (uint64_t)(jump[2] & 0xffff) << 32;
    uint32_t count = jump[3] & PM4_BUFFER_DWORDS, length;
    const uint32_t *word = address % 4 ? NULL : kfd_bytes(q->gpu, address, count * sizeof *word);
    if (pm4_operation(jump[0]) != PM4_INDIRECT_BUFFER || !word)
        return false;
    for (uint32_t i = 0; i < count; i += length) {
        uint32_t operation = pm4_operation(word[i]);
        length = (word[i] >> 16 & 0x3fff) + 2;
        if (operation != PM4_ACQUIRE_MEM && operation != PM4_NOP)
            return false;
    }
    return true;
}

/* The runtime has caches of instructions and data invalidated by commands of the processor
 * (AqlQueue::ExecutePM4), which a fence does. Others than those stop the queue. `completion`: a
 * signal, or 0. */
static enum turn begin_pm4(struct queue *q, const uint32_t *jump, uint64_t completion)
{
    uint64_t ticket = 0;
    if (!only_invalidates(q, jump)) {
        stop(q, STOP_PACKET, "it has commands (PM4) other than those that invalidate caches");
        return TURN_OVER;
    }
    if (kfd_status(kfd.api->fence(q->driver, &ticket), "a vendor packet") != 0)
        return TURN_OVER;
    add_flight(q, ticket, completion);
    return TURN_BEGUN;
}

/* On gfx8 the whole slot is commands: one that is skipped, the jump to the buffer, and one that
 * frees the slot. */
static enum turn begin_vendor(struct queue *q, const void *packet)
{
    const uint32_t *word = packet;
    uint8_t format = ((const uint8_t *)packet)[2];
    if (pm4_operation(word[0]) == PM4_NOP && kfd.gpu[q->gpu].doorbell_bytes == 4) {
        uint32_t skipped = (word[0] >> 16 & 0x3fff) + 2;
        if (skipped + PM4_JUMP_DWORDS <= AQL_PACKET_BYTES / sizeof *word)
            return begin_pm4(q, word + skipped, 0);
    } else if (format == VENDOR_PM4) {
        return begin_pm4(q, word + 1, ((const struct aql_barrier_packet *)packet)->completion);
    } else if (format == VENDOR_BARRIER_VALUE) {
        return begin_barrier_value(q, packet);
    }
    stop(q, STOP_PACKET, "a vendor packet of an unknown format");
    return TURN_OVER;
}

static enum turn begin_packet(struct queue *q, const void *packet, uint16_t header)
{
    struct aql_packet dispatch;
    switch ((enum aql_type)(header & 0xff)) {
    case AQL_INVALID:
        return TURN_WAITS; /* announced, and not written yet */
    case AQL_DISPATCH:
        memcpy(&dispatch, packet, sizeof dispatch);
        return begin_dispatch(q, &dispatch, dispatch.scratch_groups);
    case AQL_BARRIER_AND:
    case AQL_BARRIER_OR:
        return begin_barrier(q, packet, (header & 0xff) == AQL_BARRIER_AND);
    case AQL_VENDOR:
        return begin_vendor(q, packet);
    case AQL_AGENT:
        break;
    }
    stop(q, STOP_PACKET, "a packet of a type that a GPU does not take");
    return TURN_OVER;
}

/* ---- steps ---- */

static bool end_flights(struct queue *q)
{
    bool ended = false;
    for (; q->count; q->count--, q->first = (q->first + 1) % FLIGHTS) {
        const struct flight f = q->flight[q->first];
        uint64_t end_ps = kfd.api->now();
        if (f.ticket && kfd.api->time_of(f.ticket, &end_ps) != DRIVER_OK)
            break;
        complete(q, &f, end_ps);
        ended = true;
    }
    return ended;
}

static bool begin_packets(struct queue *q)
{
    bool begun = false;
    while (!q->stopped && q->next < q->announced && q->count < FLIGHTS) {
        char *packet =
            kfd_bytes(q->gpu, q->ring + q->next % q->packets * AQL_PACKET_BYTES, AQL_PACKET_BYTES);
        uint64_t *read = kfd_bytes(q->gpu, q->read_pointer, sizeof *read);
        if (!packet || !read) {
            stop(q, STOP_OTHER, "its ring is not in memory of the GPU any more");
            break;
        }
        uint16_t *header = (uint16_t *)(void *)packet;
        if (begin_packet(q, packet, __atomic_load_n(header, __ATOMIC_ACQUIRE)) != TURN_BEGUN)
            break;
        __atomic_store_n(header, AQL_INVALID, __ATOMIC_RELEASE);
        __atomic_store_n(read, ++q->next, __ATOMIC_RELEASE);
        begun = true;
    }
    return begun;
}

bool kfd_queues_step(void)
{
    bool progress = false;
    for (uint32_t i = 0; i < own.end && !kfd.lost; i++) {
        struct queue *q = own.queue[i];
        if (q && q->used) {
            progress |= end_flights(q);
            progress |= begin_packets(q);
        }
    }
    return progress;
}

bool kfd_queues_busy(void)
{
    bool busy = own.settling != 0;
    for (uint32_t i = 0; i < own.end; i++)
        busy |= own.queue[i] && own.queue[i]->count;
    uint64_t end_ps;
    if (own.settling && kfd.api->time_of(own.settling, &end_ps) == DRIVER_OK)
        own.settling = 0;
    return busy;
}

bool kfd_queues_settle(void)
{
    bool settled = !own.unreleased;
    if (!settled && kfd_status(kfd.api->fence(0, &own.settling), "a fence") != 0)
        return true;
    own.unreleased = false;
    return settled;
}

/* ---- calls ---- */

/* No thread can wait by an event for a packet with a signal that has none. */
static bool has_event(const struct queue *q, uint64_t number)
{
    const struct aql_packet *p =
        kfd_bytes(q->gpu, q->ring + number % q->packets * AQL_PACKET_BYTES, AQL_PACKET_BYTES);
    /* The completion signal is the last word of all packets. */
    const struct amd_signal *s = p ? signal_at(q->gpu, p->scratch_groups) : NULL;
    return !p || !p->scratch_groups || !s || s->event_mailbox;
}

bool kfd_queues_rung(uint32_t gpu)
{
    bool waits = false;
    own.host_ran = true;
    for (uint32_t i = 0; i < own.end; i++) {
        struct queue *q = own.queue[i];
        if (!q || q->gpu != gpu)
            continue;
        uint64_t value = kfd_doorbell_value(gpu, q->slot);
        if (value == q->rung)
            continue;
        q->rung = value;
        uint64_t announced = value + 1;
        if (kfd.gpu[gpu].doorbell_bytes == 4) /* the number of packets, its lower half */
            announced = q->announced + (uint32_t)((uint32_t)value - (uint32_t)q->announced);
        if (announced > q->next + q->packets) {
            stop(q, STOP_OTHER, "its doorbell announces more packets than its ring has");
            continue;
        }
        for (; q->announced < announced; q->announced++)
            waits |= !has_event(q, q->announced);
        waits |= q->announced - q->next + ROOM_LEFT > q->packets;
    }
    return waits;
}

void kfd_queues_exchange(void)
{
    kfd_status(kfd.api->fence(0, NULL), "a fence");
}

/* The counters of the global wave sync belong to a GPU, and a launch that uses them has them alone,
 * so each queue may have all of them. */
int kfd_queue_allocate_gws(struct kfd_request *request)
{
    struct kfd_ioctl_alloc_queue_gws_args *call = request->argument;
    const struct queue *q = call->queue_id < KFD_QUEUES_MAX ? own.queue[call->queue_id] : NULL;
    if (!q)
        return -EINVAL;
    if (kfd.gpu[q->gpu].traits->encoding == ISA_ENCODING_GFX8)
        return -ENODEV; /* as of the driver, which has it from gfx9 on (kfd_chardev.c) */
    call->first_gws = 0;
    return 0;
}

/* A doorbell of the GPU that no queue has. */
static uint32_t free_slot(uint32_t gpu)
{
    bool taken[KFD_DOORBELLS] = {false};
    uint32_t slot = 0;
    for (uint32_t i = 0; i < own.end; i++) {
        if (own.queue[i] && own.queue[i]->gpu == gpu)
            taken[own.queue[i]->slot] = true;
    }
    while (slot < KFD_DOORBELLS && taken[slot])
        slot++;
    return slot;
}

static int check_create(const struct kfd_ioctl_create_queue_args *call, int gpu)
{
    uint64_t packets = call->ring_size / AQL_PACKET_BYTES;
    if (gpu < 0)
        return -ENODEV;
    /* Nothing speaks PM4 to a queue, and the topology has no SDMA engines. */
    if (call->queue_type != KFD_IOC_QUEUE_TYPE_COMPUTE_AQL)
        return -EINVAL;
    if (call->queue_percentage > KFD_MAX_QUEUE_PERCENTAGE
        || call->queue_priority > KFD_MAX_QUEUE_PRIORITY || packets < 2 || packets & (packets - 1)
        || call->ring_size % AQL_PACKET_BYTES)
        return -EINVAL;
    if (!kfd_bytes((uint32_t)gpu, call->ring_base_address, call->ring_size)
        || call->read_pointer_address % 8 || call->write_pointer_address % 8
        || !kfd_bytes((uint32_t)gpu, call->read_pointer_address, 8)
        || !kfd_bytes((uint32_t)gpu, call->write_pointer_address, 8))
        return -EFAULT;
    return 0;
}

int kfd_queue_create(struct kfd_request *request)
{
    struct kfd_ioctl_create_queue_args *call = request->argument;
    int gpu = kfd_find_gpu(call->gpu_id), result = check_create(call, gpu);
    uint32_t number = 0;
    if (result != 0)
        return result;
    while (number < KFD_QUEUES_MAX && own.queue[number])
        number++;
    uint32_t slot = free_slot((uint32_t)gpu), driver;
    if (number == KFD_QUEUES_MAX || slot == KFD_DOORBELLS)
        return -ENOSPC;
    result = kfd_status(kfd.api->queue_create((uint32_t)gpu, &driver), "creating a queue");
    if (result != 0)
        return result;
    struct queue *q = kfd_new(sizeof *q);
    const uint64_t *read = kfd_bytes((uint32_t)gpu, call->read_pointer_address, 8);
    *q = (struct queue){.used = true,
                        .stopped = call->queue_percentage == 0,
                        .gpu = (uint32_t)gpu,
                        .slot = slot,
                        .driver = driver,
                        .ring = call->ring_base_address,
                        .packets = call->ring_size / AQL_PACKET_BYTES,
                        .read_pointer = call->read_pointer_address,
                        .write_pointer = call->write_pointer_address,
                        .next = *read,
                        .announced = *read};
    kfd_doorbell_clear(q->gpu, slot);
    q->rung = kfd_doorbell_value(q->gpu, slot);
    own.queue[number] = q;
    own.end = number < own.end ? own.end : number + 1;
    call->queue_id = number;
    call->doorbell_offset = kfd_map_offset(KFD_MAP_DOORBELL, call->gpu_id)
                            | (uint64_t)slot * kfd.gpu[gpu].doorbell_bytes;
    return 0;
}

static struct queue *find(uint32_t id)
{
    return id < KFD_QUEUES_MAX ? own.queue[id] : NULL;
}

/* What was begun comes to its end; the other packets are dropped. */
int kfd_queue_destroy(struct kfd_request *request)
{
    const struct kfd_ioctl_destroy_queue_args *call = request->argument;
    struct queue *q = find(call->queue_id);
    if (!q)
        return -EINVAL;
    own.queue[call->queue_id] = NULL;
    int result = kfd.lost || kfd.finished
                     ? 0
                     : kfd_status(kfd.api->queue_destroy(q->driver), "destroying a queue");
    while (q->count && end_flights(q))
        ;
    free(q);
    return result;
}

int kfd_queue_update(struct kfd_request *request)
{
    const struct kfd_ioctl_update_queue_args *call = request->argument;
    struct queue *q = find(call->queue_id);
    if (!q || call->queue_percentage > KFD_MAX_QUEUE_PERCENTAGE
        || call->queue_priority > KFD_MAX_QUEUE_PRIORITY)
        return -EINVAL;
    uint64_t packets = call->ring_size / AQL_PACKET_BYTES;
    if (call->queue_percentage
        && (packets < 2 || packets & (packets - 1)
            || !kfd_bytes(q->gpu, call->ring_base_address, call->ring_size)))
        return -EINVAL;
    q->stopped = call->queue_percentage == 0;
    if (!q->stopped) {
        q->ring = call->ring_base_address;
        q->packets = packets;
    }
    return 0;
}
