/* The account of the cycles of warp slots: what a streaming multiprocessor tells the player about
 * the warps it ran, with the end of each block (payload of thread_block.finished).
 *
 * The quantity is the slot-cycle of components/statistics/slot_account.h. Each warp of a block
 * holds a slot from the beginning of the block to the report of its end. Every slot-cycle is in
 * exactly one of the kinds below, by the warp's next instruction:
 *
 * - Issued: the cycle in which one issues, by the unit that it goes to.
 * - Executing: it needs a result of an earlier one that a unit other than memory works on.
 * - Waiting: the rest. *_busy: it can issue, but its unit takes no more, or another warp goes
 *   first.
 * - Ended: the warp has ended, and its block has not.
 *
 * Nothing is counted for a kernel that has no record in the statistics. */
#ifndef HEDDLE_COMPONENTS_PROTOCOLS_THREAD_BLOCK_WARP_CYCLES_H
#define HEDDLE_COMPONENTS_PROTOCOLS_THREAD_BLOCK_WARP_CYCLES_H

#include <stdint.h>

/* X(identifier, group, name): group and name are those of the statistics. The first ones are in the
 * order of enum trace_unit. */
#define WARP_CYCLES(X)                                                                             \
    X(ISSUED_FP32, "issued", "fp32")                                                               \
    X(ISSUED_INT, "issued", "int")                                                                 \
    X(ISSUED_SFU, "issued", "sfu")                                                                 \
    X(ISSUED_FP64, "issued", "fp64")                                                               \
    X(ISSUED_TENSOR, "issued", "tensor")                                                           \
    X(ISSUED_BRANCH, "issued", "branch")                                                           \
    X(ISSUED_TEXTURE, "issued", "texture")                                                         \
    X(ISSUED_UNIFORM, "issued", "uniform")                                                         \
    X(ISSUED_MEMORY, "issued", "memory") /* global and local */                                    \
    X(ISSUED_COPIER, "issued", "copier")                                                           \
    X(ISSUED_SHARED, "issued", "shared")                                                           \
    X(EXECUTING_RESULT, "executing", "result")                                                     \
    X(WAITING_MEMORY, "waiting", "memory") /* for a register that a load brings */                 \
    X(WAITING_SHARED, "waiting", "shared") /* for one that shared memory brings */                 \
    X(WAITING_BARRIER, "waiting", "barrier")                                                       \
    X(WAITING_FENCE, "waiting", "fence") /* for the warp's own accesses */                         \
    X(WAITING_COPIES, "waiting", "copies")                                                         \
    X(WAITING_PRODUCTS, "waiting", "products")                                                     \
    X(WAITING_FETCH, "waiting", "fetch") /* the buffer does not have the next one */               \
    X(WAITING_UNIT, "waiting", "unit_busy")                                                        \
    X(WAITING_MEMORY_BUSY, "waiting", "memory_busy")                                               \
    X(WAITING_SHARED_BUSY, "waiting", "shared_busy")                                               \
    X(WAITING_BLOCKS, "waiting", "other_blocks") /* trace_block.more */                            \
    X(WAITING_END, "waiting", "end")             /* after the last one, for what is under way */   \
    X(ENDED, "ended", "block")

enum warp_cycles_kind {
#define X(identifier, group, name) WARP_##identifier,
    WARP_CYCLES(X)
#undef X
        WARP_CYCLES_KINDS
};

/* Contents of finished.account, of a block. */
struct warp_account {
    uint64_t slot_cycles[WARP_CYCLES_KINDS]; /* by enum warp_cycles_kind */
    uint64_t held;                           /* sum over its warps of end - begin */
    uint64_t unit_busy[8]; /* cycles of the units of a sub-core, by enum trace_unit */
    uint64_t shared_busy;  /* cycles of shared memory, conflicts included */
    uint64_t shared_conflict;
    uint64_t memory_issued; /* instructions of global and local memory */
    uint64_t memory_cycles; /* cycles from issue to the last answer, summed over them */
    uint64_t memory_lines;  /* requests of these instructions */
    uint64_t local_lines;   /* requests of local memory among these */
};
_Static_assert(sizeof(struct warp_account) <= 352, "fits the payload of thread_block.finished");

#endif
