/* The dispatcher asks a compute unit, waits for its answer, and asks no further before it has it.
 * ACK: the work-group runs there. NAK: the dispatcher takes that compute unit for busy until a
 * work-group ends on it (Sun, "Refactoring MGPUSim's Work-Group Dispatching Mechanism", 2020, the
 * previous scheme).
 *
 * The answer is computed from the resource pool when the question leaves; the round trip takes the
 * time. A compute unit that frees something while the question is under way says NAK here where it
 * could say ACK.
 *
 * Whether several kernels can run depends on which dispatchers learn of the end of a work-group. In
 * "Refactoring MGPUSim's Work-Group Dispatching Mechanism" only the dispatcher that placed the
 * work-group learns of it (`hears = own`). A dispatcher without running work-groups then keeps its
 * marks for ever, and the run ends in a deadlock. */
#include "ack_nak.gen.h"

#include <string.h>

#include "components/amd/command_processor/dispatch_protocol.h"
#include "runtime/engine/engine.h"

struct ack_nak {
    struct ack_nak_io io;
    uint32_t compute_units;
    uint32_t round_trip;
    uint32_t busy_count;
    uint32_t busy_at; /* bool[compute_units] */
};

static bool *ack_nak_busy(const struct ack_nak *p)
{
    return arena_at(bool, p->busy_at);
}

static struct ack_nak *ack_nak_of(struct part *self)
{
    return (struct ack_nak *)(void *)self;
}

static void ack_nak_setup(struct part *self, uint32_t compute_units, uint32_t round_trip)
{
    struct ack_nak *p = ack_nak_of(self);
    p->compute_units = compute_units;
    p->round_trip = round_trip;
    p->busy_at = arena_allocate(compute_units * sizeof(bool));
}

static void ack_nak_start(struct part *self)
{
    struct ack_nak *p = ack_nak_of(self);
    memset(ack_nak_busy(p), 0, p->compute_units * sizeof(bool));
    p->busy_count = 0;
}

static bool ack_nak_may_try(const struct part *self, uint32_t cu)
{
    return !ack_nak_busy((const struct ack_nak *)(const void *)self)[cu];
}

static enum dispatch_result ack_nak_tried(struct part *self, uint32_t cu, bool room,
                                          uint32_t *cycles)
{
    struct ack_nak *p = ack_nak_of(self);
    *cycles = p->round_trip;
    if (room) {
        p->io.stats.acks++;
        return DISPATCH_PLACED;
    }
    p->io.stats.naks++;
    ack_nak_busy(p)[cu] = true;
    p->busy_count++;
    return DISPATCH_REFUSED;
}

static void ack_nak_ended(struct part *self, uint32_t cu, bool is_own)
{
    struct ack_nak *p = ack_nak_of(self);
    if (!is_own && ack_nak_params(p)->hears == ACK_NAK_HEARS_OWN)
        return;
    p->busy_count -= ack_nak_busy(p)[cu];
    ack_nak_busy(p)[cu] = false;
}

static bool ack_nak_may_retry(const struct part *self, uint64_t ends, uint64_t now)
{
    const struct ack_nak *p = (const struct ack_nak *)(const void *)self;
    (void)ends;
    (void)now;
    return p->busy_count < p->compute_units;
}

static const struct dispatch_protocol_ops ack_nak_ops = {.setup = ack_nak_setup,
                                                         .start = ack_nak_start,
                                                         .may_try = ack_nak_may_try,
                                                         .tried = ack_nak_tried,
                                                         .ended = ack_nak_ended,
                                                         .may_retry = ack_nak_may_retry};
