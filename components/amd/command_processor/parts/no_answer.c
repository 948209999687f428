/* No protocol: the pool says that the work-group fits, so the dispatcher sends it and continues
 * with the next one. */
#include "no_answer.gen.h"

#include "components/amd/command_processor/dispatch_protocol.h"

struct no_answer {
    struct no_answer_io io;
};

static void no_answer_setup(struct part *self, uint32_t compute_units, uint32_t round_trip)
{
    (void)self;
    (void)compute_units;
    (void)round_trip;
}

static void no_answer_start(struct part *self)
{
    (void)self;
}

static bool no_answer_may_try(const struct part *self, uint32_t cu)
{
    (void)self;
    (void)cu;
    return true;
}

static enum dispatch_result no_answer_tried(struct part *self, uint32_t cu, bool room,
                                            uint32_t *cycles)
{
    (void)self;
    (void)cu;
    *cycles = 0;
    return room ? DISPATCH_PLACED : DISPATCH_NEXT;
}

static void no_answer_ended(struct part *self, uint32_t cu, bool is_own)
{
    (void)self;
    (void)cu;
    (void)is_own;
}

/* True after each end of a work-group: resources that one kernel frees are free for all. */
static bool no_answer_may_retry(const struct part *self, uint64_t ends, uint64_t now)
{
    (void)self;
    return now != ends;
}

static const struct dispatch_protocol_ops no_answer_ops = {.setup = no_answer_setup,
                                                           .start = no_answer_start,
                                                           .may_try = no_answer_may_try,
                                                           .tried = no_answer_tried,
                                                           .ended = no_answer_ended,
                                                           .may_retry = no_answer_may_retry};
