/* The global wave sync; see wave_sync.h. */
#include "wave_sync.h"

#include <inttypes.h>
#include <stdio.h>

/* Lets wavefronts that wait at the semaphore pass, as many as its counter allows. */
static void serve(struct wave_sync_resource *r)
{
    uint64_t waiting = r->queued - r->served;
    uint32_t pass = waiting < r->counter ? (uint32_t)waiting : r->counter;
    r->served += pass;
    r->counter -= pass;
}

static void signal_to(struct wave_sync_resource *r, uint32_t times)
{
    r->counter = r->counter > UINT32_MAX - times ? UINT32_MAX : r->counter + times;
    serve(r);
}

static bool meet(struct wave_sync_resource *r, uint32_t value, struct wave_sync_wait *wait)
{
    *wait = (struct wave_sync_wait){.number = r->releases, .is_barrier = true};
    if (r->counter) {
        r->counter--;
        return true;
    }
    r->counter = value;
    r->releases++;
    return false;
}

static bool pass_semaphore(struct wave_sync_resource *r, struct wave_sync_wait *wait)
{
    *wait = (struct wave_sync_wait){.number = r->queued++};
    serve(r);
    return r->served <= wait->number;
}

bool wave_sync_do(struct wave_sync *s, const struct isa_sync *request, struct wave_sync_wait *wait)
{
    struct wave_sync_resource *r = &s->resource[request->resource];
    bool waits = false;
    switch ((enum isa_sync_operation)request->operation) {
    case ISA_SYNC_INIT:
        r->counter = request->value;
        serve(r);
        break;
    case ISA_SYNC_BARRIER:
        waits = meet(r, request->value, wait);
        break;
    case ISA_SYNC_SIGNAL:
        signal_to(r, 1);
        break;
    case ISA_SYNC_SIGNAL_MANY:
        signal_to(r, request->value);
        break;
    case ISA_SYNC_WAIT:
        waits = pass_semaphore(r, wait);
        break;
    case ISA_SYNC_RELEASE_ALL: /* nothing is left for later wavefronts */
        if (r->served < r->queued)
            r->counter = 0;
        r->served = r->queued;
        break;
    }
    wait->resource = request->resource;
    return waits;
}

bool wave_sync_is_over(const struct wave_sync *s, const struct wave_sync_wait *wait)
{
    const struct wave_sync_resource *r = &s->resource[wait->resource];
    return (wait->is_barrier ? r->releases : r->served) > wait->number;
}

void wave_sync_text(const struct wave_sync *s, const struct wave_sync_wait *wait, char *buf,
                    size_t n)
{
    const struct wave_sync_resource *r = &s->resource[wait->resource];
    if (wait->is_barrier)
        snprintf(
            buf, n,
            "waits for ever: barrier %u of the global wave sync (ds_gws_barrier) expects %" PRIu64
            " more",
            wait->resource, (uint64_t)r->counter + 1);
    else
        snprintf(buf, n,
                 "waits for ever: nobody signals semaphore %u of the global wave sync "
                 "(ds_gws_sema_p)",
                 wait->resource);
}

void wave_sync_begin_launch(struct wave_sync *s, uint64_t work_groups)
{
    s->resource[0].counter = work_groups ? (uint32_t)(work_groups - 1) : 0;
}
