/* Sends the commands of packets to the command processor, and to the driver if only the driver can
 * do them. Each function sends one command on behalf of a packet, if the port has room and the
 * packet's addresses are mapped. */
#include "packet_processor.gen.h"

#include "base/number.h"
#include "components/memory/page_table/aql_preload_pages.h"

#include "packet_state.h"

/* Finds the physical address of `bytes` bytes that do not cross a page. False: the process does not
 * have them. */
static bool physical_of(const struct packet_processor *c, const struct packet *p, uint64_t address,
                        uint32_t bytes, uint64_t *physical)
{
    const struct page_table *table = packet_processor_page_table(c);
    uint64_t page = (uint64_t)1 << table->page_bits, start;
    bool writable;
    if (address % bytes
        || !page_table_find(table, queue_at(c, p->queue)->pid, address, &start, &writable))
        return false;
    *physical = start + address % page;
    return true;
}

/* These return true when something happened. */

static bool send_read(struct packet_processor *c, struct packet *p, uint32_t number,
                      uint64_t address, uint32_t bytes)
{
    uint64_t physical;
    if (!physical_of(c, p, address, bytes, &physical)) {
        packet_fail(c, p, QUEUE_ADDRESS);
        return true;
    }
    if (!packet_processor_cp_can_send(c))
        return false;
    packet_processor_cp_send_read(c, (uint16_t)(PACKET_TAG | number), physical, bytes);
    p->is_under_way = true;
    return true;
}

static bool send_write(struct packet_processor *c, struct packet *p, uint32_t number,
                       uint64_t address, const void *from, uint32_t bytes)
{
    uint64_t physical;
    if (!physical_of(c, p, address, bytes, &physical)) {
        packet_fail(c, p, QUEUE_ADDRESS);
        return true;
    }
    if (!packet_processor_cp_can_send(c))
        return false;
    void *payload =
        packet_processor_cp_send_write(c, (uint16_t)(PACKET_TAG | number), physical, bytes);
    memcpy(command_write_data(payload), from, bytes);
    p->is_under_way = true;
    return true;
}

/* Counts the packet's completion signal down, wherever it lies, in one step. */
static bool send_signal(struct packet_processor *c, struct packet *p, uint32_t number)
{
    uint64_t physical, address = packet_completion(p) + AQL_SIGNAL_VALUE;
    if (!physical_of(c, p, address, sizeof p->value, &physical)) {
        packet_fail(c, p, QUEUE_ADDRESS);
        return true;
    }
    if (!packet_processor_cp_can_send(c))
        return false;
    packet_processor_cp_send_atomic(c, (uint16_t)(PACKET_TAG | number), physical, UINT64_MAX);
    p->is_under_way = true;
    return true;
}

static bool send_flush(struct packet_processor *c, struct packet *p, uint32_t number)
{
    if (!packet_processor_cp_can_send(c))
        return false;
    packet_processor_cp_send_flush(c, (uint16_t)(PACKET_TAG | number));
    c->has_dirty_caches = c->running_kernels > 0;
    c->io.stats.flushes++;
    p->is_under_way = true;
    return true;
}

static bool send_invalidate(struct packet_processor *c, struct packet *p, uint32_t number)
{
    if (!packet_processor_cp_can_send(c))
        return false;
    packet_processor_cp_send_invalidate(c, (uint16_t)(PACKET_TAG | number));
    p->is_under_way = true;
    return true;
}

/* The fences of the packet that are left to the command processor: those of system scope are
 * flushes before and after the command. */
static uint16_t agent_scopes(uint16_t header)
{
    return aql_scopes(aql_scope(header, AQL_ACQUIRE_SHIFT) != AQL_SCOPE_NONE,
                      aql_scope(header, AQL_RELEASE_SHIFT) != AQL_SCOPE_NONE);
}

/* The work-groups that the packet is to run, and their wavefronts. */
static uint32_t packet_groups(const struct packet *p)
{
    const struct aql_packet *d = &p->aql.dispatch;
    uint64_t groups = 1;
    for (unsigned i = 0; i < 3; i++)
        groups *= (d->grid[i] + (uint64_t)d->work_group[i] - 1) / d->work_group[i];
    groups = p->descriptor.groups ? p->descriptor.groups : groups;
    return groups < UINT32_MAX ? (uint32_t)groups : UINT32_MAX;
}

static uint32_t packet_items(const struct packet *p)
{
    const struct aql_packet *d = &p->aql.dispatch;
    return (uint32_t)d->work_group[0] * d->work_group[1] * d->work_group[2];
}

static uint32_t packet_kernel(const struct packet_processor *c, const struct packet *p)
{
    return p->descriptor.kernel
               ? p->descriptor.kernel - 1
               : program_kernel_of(packet_processor_program(c), p->aql.dispatch.kernel_object);
}

static bool send_scratch(struct packet_processor *c, struct packet *p, uint32_t number)
{
    if (!packet_processor_interrupt_can_send(c))
        return false;
    packet_processor_interrupt_send_scratch(c, (uint16_t)number, p->aql.dispatch.private_bytes,
                                            packet_groups(p), queue_at(c, p->queue)->pid,
                                            (uint16_t)packet_kernel(c, p),
                                            (uint16_t)divide_up(packet_items(p), 64));
    c->io.stats.scratch_requests++;
    p->is_under_way = true;
    return true;
}

/* The private memory is the driver's again. */
static bool send_unused(struct packet_processor *c, struct packet *p)
{
    if (!packet_processor_interrupt_can_send(c))
        return false;
    packet_processor_interrupt_send_unused(c, 0, p->scratch);
    p->scratch = 0;
    return true;
}

/* Kernels write to the memory of other GPUs, too, where it stays in their caches. */
static bool send_release(struct packet_processor *c, struct packet *p, uint32_t number)
{
    if (!packet_processor_interrupt_can_send(c))
        return false;
    packet_processor_interrupt_send_release(c, (uint16_t)number, queue_at(c, p->queue)->pid);
    c->io.stats.releases++;
    p->is_under_way = true;
    return true;
}

static bool send_interrupt(struct packet_processor *c, struct packet *p, uint32_t number)
{
    (void)number;
    const struct user_queue *q = queue_at(c, p->queue);
    if (!packet_processor_interrupt_can_send(c))
        return false;
    if (packet_completion(p))
        packet_processor_interrupt_send_signal(c, 0, packet_completion(p), p->value, q->pid,
                                               (uint16_t)p->queue);
    else
        packet_processor_interrupt_send_visible(c, 0, q->pid);
    packet_enter(p, PACKET_RETIRE);
    return true;
}

/* The packet that the kernel sees: this one or its copy. */
static uint64_t packet_seen(const struct packet_processor *c, const struct packet *p)
{
    return p->aql.dispatch.scratch ? p->aql.dispatch.scratch : packet_address(c, p);
}

/* Lines from there to the queue object; 0: it follows a copy. */
static uint32_t packet_queue_lines(const struct packet_processor *c, const struct packet *p)
{
    const struct user_queue *q = queue_at(c, p->queue);
    uint64_t object = q->base + (uint64_t)q->packets * AQL_PACKET_BYTES + AQL_QUEUE_OBJECT;
    return p->aql.dispatch.scratch ? 0 : (uint32_t)((object - packet_address(c, p)) / 64);
}

/* Sends the packet as a launch command. Packets of the command protocol carry other things in
 * fields that queues use or reserve: see aql_packet.h. */
static bool send_launch(struct packet_processor *c, struct packet *p, uint32_t number)
{
    const struct user_queue *q = queue_at(c, p->queue);
    struct aql_descriptor descriptor = p->descriptor;
    uint32_t launched = c->used_packets - c->fronts;
    if (c->running_kernels >= packet_processor_params(c)->kernels
        || launched >= c->packet_count - packet_processor_params(c)->slots
        || !packet_processor_cp_can_send(c))
        return false;
    if (!aql_set_preload(&descriptor, packet_processor_page_table(c), q->pid,
                         p->aql.dispatch.kernarg)) {
        packet_fail(c, p, QUEUE_ADDRESS);
        return true;
    }
    struct aql_packet packet = p->aql.dispatch;
    packet.gpu = q->gpu;
    packet.header = (uint16_t)((packet.header & ~aql_scopes(3, 3)) | agent_scopes(packet.header));
    uint64_t entry = packet.kernel_object + (uint64_t)p->descriptor.entry_offset;
    aql_set_scratch(&packet, p->scratch, p->scratch_groups, packet_queue_lines(c, p));
    aql_set_groups(&packet, p->descriptor.first_group, p->descriptor.groups);
    void *payload =
        packet_processor_cp_send_launch(c, (uint16_t)(PACKET_TAG | number), packet_seen(c, p),
                                        entry, q->pid, (uint16_t)packet_kernel(c, p));
    memcpy(command_launch_packet(payload), &packet, sizeof packet);
    memcpy(command_launch_descriptor(payload), &descriptor, sizeof descriptor);
    c->has_dirty_caches = true;
    c->running_kernels++;
    c->io.stats.dispatches++;
    packet_leave_front(c, p);
    packet_enter(p, PACKET_RUNNING);
    p->is_under_way = true;
    return true;
}
