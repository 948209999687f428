/* State of a streaming multiprocessor. Warps are kept in an array by slot; sets of warps are words
 * of 64 bits. Warp slot w belongs to sub-core w % sub_cores.
 *
 * Invariant: a warp is in ready[] of its sub-core under the unit of its next instruction exactly
 * when that instruction is in the buffer, no register of it is pending, and the warp waits for
 * nothing else (enum sm_wait). Code that changes one of these three conditions calls warp_check().
 */
#ifndef HEDDLE_COMPONENTS_NVIDIA_STREAMING_MULTIPROCESSOR_SM_STATE_H
#define HEDDLE_COMPONENTS_NVIDIA_STREAMING_MULTIPROCESSOR_SM_STATE_H

#include "streaming_multiprocessor.gen.h"

#include "components/protocols/thread_block/trace_stream.h"
#include "components/protocols/thread_block/warp_cycles.h"

#include "bulk.h"
#include "coalesce.h"
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
    SM_GROUPS = 16,     /* groups of copies, or of products, that a warp keeps apart */
    SM_BULK_QUEUE = 16, /* instructions that wait for the copier */
    SM_WRITEBACK = 2 /* from the end of a unit's latency until a dependent instruction can issue */
};

/* Things that a warp waits for beside registers. */
enum sm_wait {
    SM_WAITS_NOT,
    SM_WAITS_BARRIER,
    SM_WAITS_MEMORY,
    SM_WAITS_COPIES,   /* until at most `limit` groups of copies are under way */
    SM_WAITS_PRODUCTS, /* until at most `limit` groups of products are under way */
    SM_WAITS_GATHER,   /* for the other warps of its warpgroup */
    SM_WAITS_PHASE     /* for bulk copies to a barrier */
};

struct sm_warp {
    uint32_t record;            /* record of the next instruction */
    uint32_t instructions_left; /* instructions not issued */
    uint32_t insts_at;          /* arena: static instructions of its kernel */
    uint16_t id;                /* number of the next instruction */
    uint16_t last_id;   /* number of the instruction that issued last; only with an account */
    uint16_t in_flight; /* instructions issued and not over */
    uint16_t accesses;  /* memory instructions of these */
    uint8_t block;
    uint8_t buffered;    /* instructions not issued that are in the buffer */
    uint8_t number;      /* in the block */
    uint8_t waits;       /* enum sm_wait */
    uint8_t barrier;     /* the one it waits at */
    uint16_t limit;      /* groups that may be open; for SM_WAITS_PHASE: the barrier */
    uint32_t need;       /* copies or arrivals that the barrier needs; 0: those under way */
    uint8_t cycles_kind; /* enum warp_cycles_kind, since the cycle `since`; only with an account */
    bool is_used;
    bool has_account; /* its block asks for an account */
    uint64_t since;
    uint64_t pending[TRACE_REGISTERS / 64]; /* registers to be written */
    uint64_t memory[TRACE_REGISTERS / 64];  /* pending registers that memory writes */
};

struct sm_block {
    uint64_t warps; /* slots of the warps that are not over */
    uint32_t number;
    uint32_t count;    /* warps */
    uint32_t barriers; /* bits of the barriers that warps wait at */
    uint32_t running;  /* warps with instructions to issue */
    uint8_t arrived[TRACE_BARRIERS], wanted[TRACE_BARRIERS]; /* wanted 0: all that run */
    /* Bits of the warps of each warpgroup that wait for the rest. */
    uint8_t gathered[TRACE_WARPS / 4];
    uint8_t warpgroup[TRACE_WARPS / 4]; /* bits of the warps of each warpgroup that run */
    uint16_t phase[TRACE_PHASES + 1]; /* bulk copies under way, by barrier; last: to any of them */
    uint32_t phases;                  /* bulk copies under way */
    uint32_t phase_counts[TRACE_PHASES]; /* copies that have come, or arrivals, by barrier */
    uint16_t tag;
    bool is_used, is_over;
    bool is_partial; /* the store has not all of it */
    bool has_asked;  /* the rest has been asked for */
    uint32_t ended;  /* bits of the warps, by number, that have no more instructions */
    uint64_t warp_instructions, thread_instructions;
    uint64_t start; /* cycle */
    bool has_account;
};

/* An instruction ends: its register is written. */
struct sm_event {
    uint16_t next, destination;
    uint8_t warp;
    bool memory;
};

/* Parameters of a unit, in cycles. If `chain` is 0, a result takes the stages and `latency`. */
struct sm_times {
    uint32_t latency, interval, chain;
};

/* A register bank: its reads are numbered cycle * bank_reads + read; bit i: read `first` + i is
 * taken. */
struct sm_bank {
    uint64_t first, taken;
};

/* Units and registers of a sub-core. A stage or unit is the cycle from which on it is free.
 */
struct sm_sub_core {
    uint64_t ready[TRACE_UNITS];   /* warps by the unit of their next instruction */
    uint64_t ready_warps;          /* warps in one of ready[] */
    uint32_t ready_units;          /* bits of the units for which ready[] has a warp */
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
    uint64_t ready_cycle; /* cycle in which the memory unit can begin with it */
    uint64_t issued;      /* grows in the order of issue */
    uint32_t record;      /* record of the instruction */
    uint16_t destination;
    uint8_t warp, kind, width;
    uint8_t writes; /* cycles that shared memory takes to store the data */
    bool bypass;
};

/* Answers that a memory instruction waits for; its index is their tag. */
struct sm_pending {
    uint32_t answers_left;
    uint32_t issued; /* lower bits of the cycle; 0: a bulk copy, or there is no account */
    uint16_t destination, next;
    uint8_t warp, writes;
    bool writes_each_answer; /* shared memory takes `writes` cycles for each answer */
    uint16_t id;             /* number of the instruction; only with an account */
};

struct sm_memory {
    struct sm_access access; /* the instruction whose requests are being sent */
    bool is_active;
    uint16_t tag;
    uint32_t sent;
    uint64_t free_at; /* cycle until which shared memory is busy */
    uint16_t free_pending;
    struct sm_lines lines;
};

/* Groups of asynchronous work of one warp. Group n has place n % SM_GROUPS. The open group is
 * `open`; all groups before `oldest` are over. */
struct sm_groups {
    uint8_t oldest, open;
    uint8_t phase[SM_GROUPS]; /* the barrier that waits for the group; above TRACE_PHASES: none */
    uint16_t under_way[SM_GROUPS];
};

enum sm_group_kind { SM_COPIES, SM_PRODUCTS, SM_GROUP_KINDS };

struct sm_async {
    struct sm_groups groups[SM_GROUP_KINDS];
    uint8_t writes; /* cycles that shared memory takes for the next copy, as its line says */
};

/* The copier, which moves one line a cycle, one instruction after another. */
struct sm_copier {
    struct sm_access queue[SM_BULK_QUEUE];
    uint32_t head, count;
    bool is_active; /* the first one is under way */
    uint16_t tag;
    struct bulk_cursor cursor;
    struct sm_request request;
};

/* Registers of a warp that shared memory writes; kept only with an account. */
struct sm_shared_registers {
    uint64_t pending[TRACE_REGISTERS / 64];
};

struct streaming_multiprocessor {
    struct streaming_multiprocessor_io io;
    uint64_t now;               /* cycle of the tick */
    uint64_t free_warps, fetch; /* slots without a warp; warps whose buffer is empty */
    uint32_t next_fetch;
    uint32_t resident;    /* blocks */
    uint32_t phase_waits; /* warps in SM_WAITS_PHASE */
    uint64_t active_since;
    uint64_t blocks_over;     /* those whose end is not reported yet */
    uint64_t blocks_ask;      /* those that need more instructions */
    uint32_t carve;           /* bytes of shared memory that the L1 has made room for */
    uint32_t control_answers; /* answers of the L1's control that are to come */
    bool must_forget;         /* the L1 has still to be sent an invalidation */
    uint32_t events_at, pending_at, queues_at, accounts_at; /* arena */
    uint16_t free_event, events_used; /* events that were used once; SM_NONE: none is free */
    uint32_t event_words;             /* bit i: word i of event_bits is not 0 */
    uint64_t event_bits[SM_WHEEL / 64];
    uint16_t wheel[SM_WHEEL]; /* events of a cycle, SM_NONE: none */
    uint32_t queued; /* bits of the sub-cores whose queue to the memory unit is not empty */
    struct sm_times times[TRACE_UNITS];
    struct sm_sub_core sub[SM_SUB_CORES];
    struct sm_block block[SM_BLOCKS];
    struct sm_warp warp[SM_WARPS];
    struct sm_memory memory;
    struct sm_copier copier;
    struct sm_async async[SM_WARPS];
    struct sm_shared_registers shared[SM_WARPS];
};

_Static_assert(SM_WHEEL / 64 == 32, "event_words has a bit for each word");

static inline uint64_t sm_bit(uint32_t n)
{
    return (uint64_t)1 << n;
}

static inline uint32_t sm_sub_cores(const struct streaming_multiprocessor *c)
{
    return streaming_multiprocessor_params(c)->sub_cores;
}

static inline struct sm_event *sm_event(const struct streaming_multiprocessor *c, uint16_t i)
{
    return arena_at(struct sm_event, c->events_at) + i;
}

static inline struct sm_pending *sm_pending(const struct streaming_multiprocessor *c, uint16_t i)
{
    return arena_at(struct sm_pending, c->pending_at) + i;
}

static inline struct sm_access *sm_queue(const struct streaming_multiprocessor *c, uint32_t sub)
{
    return arena_at(struct sm_access, c->queues_at) + sub * SM_QUEUE;
}

static inline struct warp_account *sm_account(const struct streaming_multiprocessor *c,
                                              uint32_t block)
{
    return arena_at(struct warp_account, c->accounts_at) + block;
}

static inline const uint32_t *sm_words(const struct streaming_multiprocessor *c)
{
    return trace_words(streaming_multiprocessor_stream(c));
}

static inline const struct trace_inst *sm_inst(const struct sm_warp *w)
{
    return arena_at(const struct trace_inst, w->insts_at) + w->id;
}

/* True if the warp's next instruction, which is one of memory, accesses shared memory. */
static inline bool sm_is_shared(const struct streaming_multiprocessor *c, const struct sm_warp *w)
{
    return trace_record_space(sm_words(c)[w->record]) == TRACE_SHARED;
}

/* `cycle`, or the last cycle of the wheel if `cycle` is after that. */
static inline uint64_t sm_soon(uint64_t now, uint64_t cycle)
{
    return cycle < now + SM_WHEEL ? cycle : now + SM_WHEEL - 1;
}

/* ---- sm_event.c ---- */

static void sm_event_add(struct streaming_multiprocessor *c, uint64_t cycle, uint32_t warp,
                         uint16_t destination, bool memory);
static uint64_t sm_event_next(const struct streaming_multiprocessor *c, uint64_t now);

/* ---- sm_scoreboard.c ---- */

static void warp_check(struct streaming_multiprocessor *c, uint32_t slot);
static void warp_decode(const struct streaming_multiprocessor *c, struct sm_warp *w);
static bool warps_fetch(struct streaming_multiprocessor *c);
static void warp_wake(struct streaming_multiprocessor *c, uint32_t slot);

/* ---- sm_warp.c ---- */

static void barrier_pass(struct streaming_multiprocessor *c, struct sm_block *b);
static void warp_retire(struct streaming_multiprocessor *c, uint32_t slot, uint16_t destination,
                        bool memory);
static bool events_end(struct streaming_multiprocessor *c, uint64_t now);
static void block_start(struct streaming_multiprocessor *c, uint32_t block, uint16_t tag,
                        uint64_t now);
static bool blocks_report(struct streaming_multiprocessor *c, uint64_t now);

static void warp_leave_block(struct sm_block *b, const struct sm_warp *w);
static bool warp_is_whole(const struct sm_block *b, const struct sm_warp *w);
static void block_go_on(struct streaming_multiprocessor *c, uint32_t block);

/* ---- sm_memory.c ---- */

static bool memory_step(struct streaming_multiprocessor *c, uint64_t now, uint64_t *at);
static bool memory_receive(struct streaming_multiprocessor *c, uint64_t now);
static bool memory_tag(struct streaming_multiprocessor *c, const struct sm_access *a,
                       uint32_t requests, uint16_t *tag);
static uint64_t memory_occupy_shared(struct streaming_multiprocessor *c, uint64_t now,
                                     unsigned cycles);
static void memory_request(struct streaming_multiprocessor *c, const struct sm_access *a,
                           uint16_t tag, const struct sm_request *r);

/* ---- sm_async.c ---- */

/* Destinations of instructions that write no register; their numbers are above all registers. */
enum { SM_GROUP = 0x1000, SM_PHASE = 0x2000, SM_DESTINATION_NONE = 0x4000 };

static inline bool sm_is_async(uint16_t destination)
{
    return destination >= SM_GROUP && destination != TRACE_REGISTER_NONE;
}

static void async_start(struct streaming_multiprocessor *c, uint32_t slot);
static uint16_t async_destination(struct streaming_multiprocessor *c, uint32_t slot,
                                  const struct trace_inst *inst, const uint32_t *record);
static void async_issued(struct streaming_multiprocessor *c, uint32_t slot,
                         const struct trace_inst *inst, const uint32_t *record);
static void async_over(struct streaming_multiprocessor *c, uint32_t slot, uint16_t destination);
static void gather_pass(struct streaming_multiprocessor *c, struct sm_block *b, uint32_t four);
static void copier_push(struct streaming_multiprocessor *c, const struct sm_access *a);
static bool phases_release(struct streaming_multiprocessor *c);
static bool copier_step(struct streaming_multiprocessor *c, uint64_t now, uint64_t *at);

/* ---- sm_issue.c ---- */

static bool warps_issue(struct streaming_multiprocessor *c, uint64_t now, uint64_t *at);

/* ---- sm_account.c: for blocks that ask for an account ---- */

static void account_begin(struct streaming_multiprocessor *c, uint32_t number);
static void account_change(struct streaming_multiprocessor *c, uint32_t slot);
static void account_issue(struct streaming_multiprocessor *c, uint32_t slot);
static void account_memory(struct streaming_multiprocessor *c, const struct sm_access *a,
                           uint32_t lines);
static void account_answer(struct streaming_multiprocessor *c, const struct sm_pending *p);
static void account_shared(struct streaming_multiprocessor *c, uint32_t slot, unsigned cycles,
                           unsigned conflicts);
static const struct warp_account *account_end(struct streaming_multiprocessor *c, uint32_t number);

#endif
