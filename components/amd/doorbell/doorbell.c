/* A page of doorbells: one word each, and a bit that says it was written and not handed on.
 *
 * Invariant: the packet processor gets the largest value written to each doorbell, in bounded time:
 * doorbells take turns. */
#include "doorbell.gen.h"

#define UNIT_COLD

#include "runtime/engine/bug.h"
#include "runtime/observe/hang.h"

struct doorbell {
    struct doorbell_io io;
    uint32_t values_at;     /* uint64_t[doorbells] */
    uint32_t written_at;    /* bool[doorbells]: written and not handed on */
    uint32_t written_count; /* doorbells that are written */
    uint32_t next_slot;     /* doorbell whose turn is next */
};

static void doorbell_init(struct doorbell *c)
{
    size_t count = doorbell_params(c)->doorbells;
    c->values_at = arena_allocate(count * sizeof(uint64_t));
    c->written_at = arena_allocate(count * sizeof(bool));
}

static bool receive_writes(struct doorbell *c)
{
    const struct queue_doorbell_request *m;
    bool received = false;
    while ((m = doorbell_host_peek(c))) {
        uint32_t slot = m->ring.slot;
        if (slot >= doorbell_params(c)->doorbells)
            bug("doorbell: there is no doorbell %u", slot);
        bool *is_written = arena_at(bool, c->written_at) + slot;
        uint64_t *value = arena_at(uint64_t, c->values_at) + slot;
        *value = !*is_written || m->ring.value > *value ? m->ring.value : *value;
        c->io.stats.merged += *is_written;
        c->io.stats.rings++;
        c->written_count += !*is_written;
        *is_written = true;
        doorbell_host_pop(c);
        received = true;
    }
    return received;
}

static bool send_ring(struct doorbell *c)
{
    uint32_t count = doorbell_params(c)->doorbells;
    if (!c->written_count || !doorbell_queues_can_send(c))
        return false;
    while (!arena_at(bool, c->written_at)[c->next_slot])
        c->next_slot = c->next_slot + 1 == count ? 0 : c->next_slot + 1;
    doorbell_queues_send_ring(c, 0, arena_at(uint64_t, c->values_at)[c->next_slot],
                              (uint16_t)c->next_slot);
    arena_at(bool, c->written_at)[c->next_slot] = false;
    c->written_count--;
    return true;
}

static bool doorbell_tick(struct doorbell *c)
{
    bool progress = receive_writes(c);
    return send_ring(c) || progress;
}

static unsigned doorbell_outstanding(const struct doorbell *c, struct hang_report *report)
{
    if (c->written_count && report)
        hang_note(report, "%u doorbells are not handed on", c->written_count);
    return c->written_count;
}
