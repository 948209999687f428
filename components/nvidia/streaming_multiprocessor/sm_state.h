/* State of a streaming multiprocessor. Warps are kept in an array by slot; sets of warps are words
 * of 64 bits. Warp slot w belongs to sub-core w % sub_cores.
 *
 * Invariant: a warp stands in ready[] of its sub-core under the unit of its next instruction
 * exactly when that instruction is in the buffer, no register of it is pending, and the warp waits
 * neither at a barrier nor for its memory. Only what changes one of these looks at the warp again.
 */
#ifndef HEDDLE_SM_STATE_H
#define HEDDLE_SM_STATE_H

#include "streaming_multiprocessor.gen.h"

#include "components/protocols/thread_block/coalesce.h"
#include "warp_scheduler.h"

enum {
    SM_SUB_CORES = 8,
    SM_BLOCKS = 64,
    SM_COLLECTORS = 8,
    SM_BANKS = 32,
    SM_QUEUE = 16,
    SM_WHEEL = 2048, /* cycles ahead: more than all that can queue before a unit, and its latency */
    SM_EVENTS = 16384,
    SM_NONE = 0xffff,
    SM_WRITEBACK = 2 /* from the end of a unit's latency until a dependent instruction can issue */
};

struct sm_warp {
    uint32_t at;                  /* record of the next instruction */
    uint32_t left;                /* instructions not issued */
    uint32_t insts;               /* arena: static instructions of its kernel */
    uint16_t id;                  /* of the next instruction */
    uint16_t in_flight, accesses; /* instructions issued and not over; those to memory among them */
    uint8_t block;
    uint8_t buffered; /* of `left`, those at hand */
    bool used, waits_barrier, waits_memory;
    uint64_t pending[TRACE_REGISTERS / 64]; /* registers to be written */
    uint64_t memory[TRACE_REGISTERS / 64];  /* of these, by memory */
};

struct sm_block {
    uint64_t warps; /* slots of those that are not over */
    uint32_t number;
    uint32_t barrier; /* warps that have come to it */
    uint32_t running; /* warps with instructions to issue */
    uint16_t tag;
    bool used, over;
    uint64_t warp_instructions, thread_instructions;
};

/* An instruction ends: its register is written. */
struct sm_event {
    uint16_t next, destination;
    uint8_t warp;
    bool memory;
};

/* A register bank: its reads are numbered cycle * bank_reads + read; bit i: read `first` + i is
 * taken. */
struct sm_bank {
    uint64_t first, taken;
};

/* Units and registers of a sub-core: cycles from which on they can be used. */
struct sm_sub_core {
    uint64_t ready[TRACE_UNITS];   /* warps by the unit of their next instruction */
    uint64_t any;                  /* all of them */
    uint64_t memory;               /* warps whose next instruction waits for an answer of memory */
    uint64_t latch[TRACE_UNITS];   /* between issue and collectors */
    uint64_t operand[TRACE_UNITS]; /* between collectors and unit */
    uint64_t unit[TRACE_UNITS];
    uint64_t collector[SM_COLLECTORS];
    struct sm_bank bank[SM_BANKS];
    uint32_t queue_head, queue_count;
};

/* A memory instruction on its way through the memory unit. */
struct sm_access {
    uint64_t ready; /* cycle in which the memory unit can begin with it */
    uint32_t at;    /* its record */
    uint16_t destination;
    uint8_t warp, kind, width;
    bool bypass;
};

/* Answers that a memory instruction waits for; its index is their tag. */
struct sm_pending {
    uint16_t left, destination, next;
    uint8_t warp;
};

struct sm_memory {
    struct sm_access now; /* whose requests are being sent */
    bool active;
    uint16_t tag;
    uint32_t sent;
    uint64_t free_at; /* shared memory is busy until then */
    uint16_t free_pending;
    struct sm_lines lines;
};

struct streaming_multiprocessor {
    struct streaming_multiprocessor_io io;
    uint64_t free_warps, fetch; /* slots without a warp; warps whose buffer is empty */
    uint32_t next_fetch;
    uint32_t resident; /* blocks */
    uint64_t active_since;
    uint64_t blocks_over; /* those whose end is not reported yet */
    uint32_t carve;       /* bytes of shared memory that the L1 has made room for */
    uint32_t asked;       /* answers of the L1's control that are to come */
    bool forget;          /* the L1 is to be told */
    uint32_t event_table, pending_table, queue_table; /* arena */
    uint16_t free_event, events_used; /* events that were used once; SM_NONE: none is free */
    uint64_t event_bits[SM_WHEEL / 64];
    uint16_t wheel[SM_WHEEL]; /* events of a cycle, SM_NONE: none */
    struct sm_sub_core sub[SM_SUB_CORES];
    struct sm_block block[SM_BLOCKS];
    struct sm_warp warp[SM_WARPS];
    struct sm_memory memory;
};

static inline uint64_t sm_bit(uint32_t n)
{
    return (uint64_t)1 << n;
}

static inline uint32_t sm_sub_cores(const struct streaming_multiprocessor *c)
{
    return (uint32_t)streaming_multiprocessor_params(c)->sub_cores;
}

static inline struct sm_event *sm_event(const struct streaming_multiprocessor *c, uint16_t i)
{
    return arena_at(struct sm_event, c->event_table) + i;
}

static inline struct sm_pending *sm_pending(const struct streaming_multiprocessor *c, uint16_t i)
{
    return arena_at(struct sm_pending, c->pending_table) + i;
}

static inline struct sm_access *sm_queue(const struct streaming_multiprocessor *c, uint32_t sub)
{
    return arena_at(struct sm_access, c->queue_table) + sub * SM_QUEUE;
}

static inline const uint32_t *sm_words(const struct streaming_multiprocessor *c)
{
    return trace_words(streaming_multiprocessor_stream(c));
}

static inline const struct trace_inst *sm_inst(const struct sm_warp *w)
{
    return arena_at(const struct trace_inst, w->insts) + w->id;
}

/* ---- sm_event.c ---- */

static void sm_event_add(struct streaming_multiprocessor *c, uint64_t cycle, uint32_t warp,
                         uint16_t destination, bool memory);
static uint64_t sm_event_next(const struct streaming_multiprocessor *c, uint64_t now);

/* ---- sm_warp.c ---- */

static void warp_look(struct streaming_multiprocessor *c, uint32_t slot);
static void warp_decode(const struct streaming_multiprocessor *c, struct sm_warp *w);
static bool warps_fetch(struct streaming_multiprocessor *c);
static void barrier_pass(struct streaming_multiprocessor *c, struct sm_block *b);
static void warp_retire(struct streaming_multiprocessor *c, uint32_t slot, uint16_t destination,
                        bool memory);
static bool events_end(struct streaming_multiprocessor *c, uint64_t now);
static void block_start(struct streaming_multiprocessor *c, uint32_t block, uint16_t tag,
                        uint64_t now);
static bool blocks_report(struct streaming_multiprocessor *c, uint64_t now);

/* ---- sm_memory.c ---- */

static bool memory_step(struct streaming_multiprocessor *c, uint64_t now, uint64_t *at);
static bool memory_receive(struct streaming_multiprocessor *c);

/* ---- sm_issue.c ---- */

static bool warps_issue(struct streaming_multiprocessor *c, uint64_t now, uint64_t *at);

#endif
