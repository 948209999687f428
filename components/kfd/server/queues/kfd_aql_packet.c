/* Packets in the format of HSA (AQL), with those of AMD's runtime beside them: how each begins and
 * ends.
 *
 * Caches: a launch acquires and releases as its packet says. Memory that the program sees is never
 * stale, whatever the packet says: the first launch after the program rang acquires at system
 * scope, and a packet that releases there is over after a fence where launches before it have
 * released less. */
#include "kfd_aql_packet.h"

#include <string.h>

#include "base/number.h"

#include "kfd_sdma_queue.h"

enum {
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

/* ---- signals ---- */

struct amd_signal *kfd_signal_at(const struct kfd_queue *q, uint64_t address)
{
    return address % 8 ? NULL : kfd_queue_bytes(q, address, sizeof(struct amd_signal));
}

/* The signal of the queue object (amd_queue_t, amd_hsa_queue.h), in which the read pointer is. */
static struct amd_signal *inactive_signal(const struct kfd_queue *q)
{
    enum { READ_TO_INACTIVE = 192 - 128 };
    const uint64_t *handle = kfd_queue_bytes(q, q->read_pointer + READ_TO_INACTIVE, sizeof *handle);
    return handle && *handle ? kfd_signal_at(q, *handle) : NULL;
}

void kfd_queue_report(struct kfd_queue *q, enum kfd_stop reason)
{
    if (kfd_sdma_is_type(q->type)) {
        q->is_stopped = true;
        kfd_events_fail(q->process, q->gpu, 0, false);
        kfd_queues_reset(q->process, q->gpu);
        return;
    }
    struct amd_signal *s = inactive_signal(q);
    q->is_stopped = true;
    if (!s) {
        kfd_events_fail(q->process, q->gpu, 0, false);
        return;
    }
    __atomic_store_n(&s->value, (int64_t)reason, __ATOMIC_SEQ_CST);
    if (s->event_mailbox)
        kfd_event_signal(q->process, s->event_id);
}

static void warn_stopped(const struct kfd_queue *q, const char *text)
{
    kfd_say("queue %u of GPU %u has stopped at %s %llu: %s", q->slot, q->gpu,
            kfd_sdma_is_type(q->type) ? "byte" : "packet", (unsigned long long)q->next, text);
}

void kfd_queue_stop(struct kfd_queue *q, enum kfd_stop reason, const char *text)
{
    warn_stopped(q, text);
    kfd_queue_report(q, reason);
}

void kfd_queue_fault(struct kfd_queue *q, const char *text, uint64_t address)
{
    warn_stopped(q, text);
    q->is_stopped = true;
    kfd_events_fail(q->process, q->gpu, round_down(address, KFD_PAGE), true);
}

void kfd_packet_end(struct kfd_queue *q, const struct kfd_flight *f, uint64_t end_ps)
{
    struct amd_signal *s = f->completion ? kfd_signal_at(q, f->completion) : NULL;
    uint64_t begun_ps = max(f->begun_ps, q->last_end_ps);
    q->last_end_ps = end_ps;
    if (!s && f->completion)
        kfd_queue_stop(q, STOP_PACKET, "its completion signal is not in memory of the GPU");
    if (!s)
        return;
    s->start_ts = kfd_clock_at(q->process, min(begun_ps, end_ps));
    s->end_ts = kfd_clock_at(q->process, end_ps);
    __atomic_sub_fetch(&s->value, 1, __ATOMIC_SEQ_CST);
    if (s->event_mailbox)
        kfd_event_signal(q->process, s->event_id);
}

/* ---- packets ---- */

void kfd_packet_track(struct kfd_queue *q, uint64_t ticket, uint64_t completion)
{
    q->flight[(q->first + q->count++) % KFD_FLIGHTS] =
        (struct kfd_flight){.ticket = ticket, .completion = completion, .begun_ps = kfd.api->now()};
}

static uint8_t scope_of(uint16_t header, unsigned shift)
{
    static const uint8_t scopes[] = {[AQL_SCOPE_NONE] = DRIVER_SCOPE_NONE,
                                     [AQL_SCOPE_AGENT] = DRIVER_SCOPE_AGENT,
                                     [AQL_SCOPE_SYSTEM] = DRIVER_SCOPE_SYSTEM,
                                     DRIVER_SCOPE_SYSTEM};
    return scopes[aql_scope(header, shift)];
}

/* A packet that runs nothing is over after a fence, if its fences ask for one and kernels have
 * left something in caches. */
static enum kfd_turn begin_empty(struct kfd_queue *q, uint16_t header, uint64_t completion)
{
    uint64_t ticket = 0;
    if (kfd_queues_unreleased(q->process)
        && aql_scope(header, AQL_RELEASE_SHIFT) >= AQL_SCOPE_SYSTEM) {
        if (kfd_status(kfd.api->fence(q->driver, &ticket), "a fence") != 0)
            return TURN_OVER;
        kfd_queues_released(q->process, q);
    }
    kfd_packet_track(q, ticket, completion);
    return TURN_BEGUN;
}

/* Where caches of other GPUs may hold what the program has written, a fence empties all. */
static int acquire_all(struct kfd_queue *q)
{
    q->process->caches->acquisitions++;
    q->process->caches->has_host_run = false;
    return kfd.gpu_count > 1 ? kfd_status(kfd.api->fence(q->driver, NULL), "a fence") : 0;
}

/* The reason why the driver has not taken a launch. */
static enum kfd_stop reason_of(const struct kfd_queue *q, const struct driver_launch *l)
{
    const struct driver_device_info *info = &kfd.gpu[q->gpu].info;
    uint64_t items = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    if (!items || !l->grid[0] || !l->grid[1] || !l->grid[2])
        return STOP_DIMENSION;
    return l->group_bytes > info->lds_bytes_per_cu ? STOP_GROUP_MEMORY
           : items > info->max_work_group          ? STOP_GROUP_SIZE
                                                   : STOP_CODE;
}

static struct driver_launch launch_of(const struct kfd_queue *q, const struct aql_packet *p,
                                      const struct aql_descriptor *d, unsigned dimensions)
{
    struct driver_launch launch = {.kernel_object = p->kernel_object,
                                   .entry = p->kernel_object + (uint64_t)d->entry_offset,
                                   .group_bytes = p->group_bytes,
                                   .private_bytes = p->private_bytes,
                                   .kernarg_address = p->kernarg,
                                   .acquire = q->acquisitions == q->process->caches->acquisitions
                                                  ? scope_of(p->header, AQL_ACQUIRE_SHIFT)
                                                  : DRIVER_SCOPE_SYSTEM,
                                   .release = scope_of(p->header, AQL_RELEASE_SHIFT)};
    for (unsigned i = 0; i < 3; i++) {
        launch.grid[i] = i < dimensions ? p->grid[i] : 1;
        launch.block[i] = i < dimensions ? p->work_group[i] : 1;
    }
    memcpy(launch.descriptor, d, sizeof launch.descriptor);
    const struct kfd_kernel *kernel =
        kfd_kernel_name_find(q->process, q->gpu, launch.kernel_object, launch.entry);
    launch.name = kernel->name;
    launch.symbol = kernel->symbol;
    return launch;
}

static enum kfd_turn begin_dispatch(struct kfd_queue *q, const struct aql_packet *p,
                                    uint64_t completion)
{
    const struct aql_descriptor *d = kfd_queue_bytes(q, p->kernel_object, sizeof *d);
    unsigned dimensions = p->setup & 3;
    uint64_t ticket = 0;
    if (!d || !dimensions) {
        kfd_queue_stop(q, d ? STOP_DIMENSION : STOP_CODE,
                       d ? "a dispatch packet of no dimension"
                         : "its kernel is not in memory that the GPU has mapped");
        return TURN_OVER;
    }
    if (q->process->caches->has_host_run && acquire_all(q) != 0)
        return TURN_OVER;
    struct driver_launch launch = launch_of(q, p, d, dimensions);
    if (kfd_status(kfd.api->launch(q->driver, &launch, &ticket), "a kernel dispatch packet") != 0) {
        kfd_queue_stop(q, reason_of(q, &launch), "the kernel cannot be launched");
        return TURN_OVER;
    }
    q->acquisitions = q->process->caches->acquisitions;
    bool others = kfd.gpu_count > 1; /* whose caches may hold what it has written to their memory */
    q->is_unreleased |= launch.release != DRIVER_SCOPE_SYSTEM || others;
    if (!completion || !others || launch.release != DRIVER_SCOPE_SYSTEM) {
        kfd_packet_track(q, ticket, completion);
        return TURN_BEGUN;
    }
    kfd_packet_track(q, ticket, 0);
    return begin_empty(q, p->header, completion);
}

/* Barrier packets wait here, not with the driver: signals are the program's, too. */
static enum kfd_turn begin_barrier(struct kfd_queue *q, const struct aql_barrier_packet *p,
                                   bool all)
{
    bool is_met = all, has_signals = false;
    for (unsigned i = 0; i < AQL_DEPENDENCIES; i++) {
        const struct amd_signal *s = p->dependency[i] ? kfd_signal_at(q, p->dependency[i]) : NULL;
        if (!p->dependency[i])
            continue;
        if (!s) {
            kfd_queue_stop(q, STOP_PACKET,
                           "a barrier packet names a signal that is not in memory of the GPU");
            return TURN_OVER;
        }
        bool zero = __atomic_load_n(&s->value, __ATOMIC_SEQ_CST) == 0;
        is_met = all ? is_met && zero : is_met || zero;
        has_signals = true;
    }
    return has_signals && !is_met ? TURN_WAITS : begin_empty(q, p->header, p->completion);
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

static enum kfd_turn begin_barrier_value(struct kfd_queue *q, const struct barrier_value_packet *p)
{
    const struct amd_signal *s = p->signal ? kfd_signal_at(q, p->signal) : NULL;
    if ((p->signal && !s) || p->condition > KFD_SIGNAL_NOT_LESS) {
        kfd_queue_stop(q, STOP_PACKET, "a barrier-value packet is not sound");
        return TURN_OVER;
    }
    if (s
        && !kfd_signal_compare(p->condition, __atomic_load_n(&s->value, __ATOMIC_SEQ_CST) & p->mask,
                               p->value))
        return TURN_WAITS;
    return begin_empty(q, p->header, p->completion);
}

/* True if an indirect buffer of commands does nothing but invalidate caches. `jump`:
 * INDIRECT_BUFFER, address, size. */
static bool only_invalidates(const struct kfd_queue *q, const uint32_t *jump)
{
    uint64_t address = jump[1] | (uint64_t)(jump[2] & 0xffff) << 32;
    uint32_t count = jump[3] & PM4_BUFFER_DWORDS, length;
    const uint32_t *word = address % 4 ? NULL : kfd_queue_bytes(q, address, count * sizeof *word);
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
static enum kfd_turn begin_pm4(struct kfd_queue *q, const uint32_t *jump, uint64_t completion)
{
    uint64_t ticket = 0;
    if (!only_invalidates(q, jump)) {
        kfd_queue_stop(q, STOP_PACKET,
                       "it has commands (PM4) other than those that invalidate caches");
        return TURN_OVER;
    }
    if (kfd_status(kfd.api->fence(q->driver, &ticket), "a vendor packet") != 0)
        return TURN_OVER;
    kfd_packet_track(q, ticket, completion);
    return TURN_BEGUN;
}

/* On gfx8 the whole slot is commands: one that is skipped, the jump to the buffer, and one that
 * frees the slot. */
static enum kfd_turn begin_vendor(struct kfd_queue *q, const void *packet)
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
    kfd_queue_stop(q, STOP_PACKET, "a vendor packet of an unknown format");
    return TURN_OVER;
}

enum kfd_turn kfd_packet_begin(struct kfd_queue *q, const void *packet, uint16_t header)
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
    kfd_queue_stop(q, STOP_PACKET, "a packet of a type that a GPU does not take");
    return TURN_OVER;
}
