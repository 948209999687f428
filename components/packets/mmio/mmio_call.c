/* The table of calls, and what every function that executes one uses: how a call ends, and how it
 * asks the driver for something. */
#include "base/number.h"

#include "mmio_state.h"

static bool (*const mmio_functions[])(struct mmio *, struct mmio_call *) = {
#define MMIO_CALL_ENTRY(CALL, function) [API_CALL_##CALL] = function,
    MMIO_CALLS(MMIO_CALL_ENTRY)
#undef MMIO_CALL_ENTRY
};

static bool call_is_known(uint16_t call)
{
    return call < ARRAY_COUNT(mmio_functions) && mmio_functions[call];
}

static bool call_step(struct mmio *c, struct mmio_call *k)
{
    return mmio_functions[k->request.call](c, k);
}

static uint32_t slot_of(const struct mmio *c, const struct mmio_call *k)
{
    return (uint32_t)(k - call_at(c, 0));
}

static bool end_call(struct mmio *c, struct mmio_call *k, int32_t error)
{
    call_end(c, k, error);
    return true;
}

static bool end_blocked(struct mmio *c, struct mmio_call *k)
{
    uint32_t sequence = k->answer.sequence;
    uint16_t call = k->answer.call;
    memset(&k->answer, 0, sizeof k->answer);
    k->answer.sequence = sequence;
    k->answer.call = call;
    k->answer.state = API_STATE_BLOCKED;
    c->io.stats.blocked++;
    return end_call(c, k, MMIO_SUCCESS);
}

static struct mmio_post *ask_driver(struct mmio *c, struct mmio_call *k,
                                    enum device_call_request_kind kind)
{
    k->step++;
    k->pending++;
    return post_driver(c, OWNER_STEP, slot_of(c, k), kind);
}

static uint32_t device_of(const struct mmio *c, const struct mmio_call *k)
{
    return thread_of(c, k->request.thread)->device;
}
