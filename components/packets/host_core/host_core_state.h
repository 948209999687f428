/* State of the core, and the functions that its files share. */
#ifndef HEDDLE_COMPONENTS_PACKETS_HOST_CORE_HOST_CORE_STATE_H
#define HEDDLE_COMPONENTS_PACKETS_HOST_CORE_HOST_CORE_STATE_H

#include "host_core.gen.h"

#include <string.h>

#include "components/packets/api_packet/api_answer.h"
#include "components/packets/api_packet/api_request.h"
#include "components/protocols/host_call/host_call_data.h"
#include "components/protocols/mem/mem_mask.h"
#include "runtime/engine/bug.h"
#include "runtime/observe/hang.h"
#include "runtime/observe/timeline.h"
#include "runtime/state/blob.h"

enum { CORE_LINE = 64, CORE_LINES = 32, CORE_PACKET_BYTES = 4096, CORE_DEVICE = 31 };
_Static_assert(API_REQUEST_BYTES_MAX < CORE_DEVICE * CORE_LINE, "a tag for each line of a packet");

/* Lines of data have tags of their own. */
enum { CORE_DATA_TAG = 0x8000, CORE_DATA_LINES = HOST_CALL_DATA / CORE_LINE };
_Static_assert(64 * CORE_DATA_LINES <= CORE_DATA_TAG, "a tag for each line of data of each call");

enum core_phase {
    CORE_FREE,
    CORE_PUT, /* data to memory */
    CORE_WRITE,
    CORE_RING, /* its access of the registers: the packet's address */
    CORE_READ,
    CORE_WAIT, /* until the next look */
    CORE_LOOK, /* its access of the registers: the status */
    CORE_GET,  /* data from memory */
    CORE_DONE
};

/* An access of the device's registers, one at a time (host_core_access.c). */
enum core_step {
    STEP_NONE,
    STEP_FENCE,
    STEP_MAP,
    STEP_MAPPING,
    STEP_SEND,
    STEP_SENT,
    STEP_OVER, /* the access; from here back to the state before it */
    STEP_FENCE_AFTER,
    STEP_UNMAP,
    STEP_UNMAPPING
};

struct core_call {
    uint32_t phase; /* enum core_phase */
    uint32_t blob;
    uint32_t data, data_bytes;        /* bytes of a copy; 0: none */
    bool is_from_device;              /* the data of the copy come from the device */
    uint32_t bytes, issued, finished; /* bytes of the packet, in this phase */
    uint16_t tag;
    uint16_t call; /* enum api_call */
    bool waits;
    bool is_over; /* as the status shows */
    uint64_t order, since;
    uint64_t turn_number; /* its place among the calls that wait for the registers */
    uint64_t answer_cy;   /* when the answer came */
    uint64_t look_cy;     /* when it looks at the status again */
};

struct host_core {
    struct host_core_io io;
    uint32_t calls_at; /* arena */
    uint32_t used_calls;
    bool is_busy; /* with a call that others wait for */
    uint64_t calls_taken;
    uint32_t step;  /* enum core_step: how far the access of the registers is */
    uint32_t owner; /* slot of the call that accesses the registers */
    uint64_t due;   /* cycle in which a fence ends */
    uint64_t turns; /* calls that have wanted the registers */
};

static inline uint32_t call_count(const struct host_core *c)
{
    return host_core_params(c)->calls;
}

static inline struct core_call *call_at(const struct host_core *c, uint32_t i)
{
    return arena_at(struct core_call, c->calls_at) + i;
}

static inline uint32_t pid_of(const struct host_core *c)
{
    return host_core_params(c)->pid;
}

static inline uint64_t address_of(const struct host_core *c, uint32_t slot)
{
    return host_core_params(c)->memory + (uint64_t)slot * CORE_PACKET_BYTES;
}

/* ---- host_core_access.c ---- */

/* The call wants the registers: they are its own when its turn comes. */
static void access_request(struct host_core *c, struct core_call *k, enum core_phase phase);
static bool access_step(struct host_core *c);

/* The device has answered the access: the write of an address, or a read of the status. */
static void access_accept_answer(struct host_core *c);

/* ---- host_core.c ---- */

/* The access is over, and the registers are unmapped. */
static void access_end(struct host_core *c, struct core_call *k);

#endif
