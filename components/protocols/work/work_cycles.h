/* The account of the cycles of wavefront slots: what a compute unit tells the command processor
 * about the wavefronts it ran, with the end of each work-group (payload of work.finished).
 *
 * The quantity is the *slot-cycle*: one wavefront slot of one SIMD for one cycle. Each wavefront of
 * a work-group holds a slot from the arrival of the work-group at the compute unit to the end of
 * its last wavefront. Every slot-cycle is in exactly one of the kinds below. So for every kernel,
 * exactly and in integers:
 *
 *   sum of all kinds = sum over its work-groups of wavefronts * (cycle of the end - cycle of the
 *   arrival)
 *
 * which the command processor checks at the end of each kernel. All durations are differences of
 * time stamps.
 *
 * - Issued: the turn of its SIMD (`simds` cycles) that an instruction takes to issue, by the class
 *   of the instruction. Count of instructions = slot-cycles / simds; s_endpgm, which has no turn
 *   after it, counts none.
 * - Executing: after that turn until the next instruction of the wavefront may issue, because this
 *   one takes longer than a turn or its result is needed (the model lets a wavefront go on when its
 *   instruction is over).
 * - Waiting: the rest. A wavefront that can go on between two turns of its SIMD waits for the same
 *   thing until the turn. *_busy: decoded and ready, but the unit works for, or was given to,
 *   another wavefront; lds_conflict is the part of waiting for the LDS in which it served bank
 *   conflicts. When several counters are too high, vmcnt comes first, then scalar memory.
 * - Ended: after s_endpgm, until the last wavefront of the work-group has ended. */
#ifndef HEDDLE_COMPONENTS_PROTOCOLS_WORK_WORK_CYCLES_H
#define HEDDLE_COMPONENTS_PROTOCOLS_WORK_WORK_CYCLES_H

#include <stdint.h>

/* X(identifier, group, name): group and name are those of the statistics. */
#define WORK_CYCLES(X)                                                                             \
    X(ISSUED_VALU, "issued", "valu")                                                               \
    X(ISSUED_VALU_QUARTER, "issued", "valu_quarter")                                               \
    X(ISSUED_VALU_TRANS, "issued", "valu_transcendental")                                          \
    X(ISSUED_VALU_F64_ADD, "issued", "valu_f64_add")                                               \
    X(ISSUED_VALU_F64_MUL, "issued", "valu_f64_multiply")                                          \
    X(ISSUED_VALU_F64_TRANS, "issued", "valu_f64_transcendental")                                  \
    X(ISSUED_SALU, "issued", "salu")                                                               \
    X(ISSUED_SMEM, "issued", "scalar_memory")                                                      \
    X(ISSUED_VMEM, "issued", "vector_memory")                                                      \
    X(ISSUED_LDS, "issued", "lds")                                                                 \
    X(ISSUED_BRANCH, "issued", "branch")                                                           \
    X(ISSUED_OTHER, "issued", "other") /* s_waitcnt, s_barrier, s_nop, s_sleep ... */              \
    X(EXECUTING_VALU, "executing", "valu")                                                         \
    X(EXECUTING_SALU, "executing", "salu")                                                         \
    X(EXECUTING_BRANCH, "executing", "branch")                                                     \
    X(EXECUTING_SLEEP, "executing", "sleep") /* s_sleep, s_nop */                                  \
    X(WAITING_VMCNT, "waiting", "vmcnt")                                                           \
    X(WAITING_LGKMCNT_SMEM, "waiting", "lgkmcnt_scalar_memory")                                    \
    X(WAITING_LGKMCNT_LDS, "waiting", "lgkmcnt_lds")                                               \
    X(WAITING_BARRIER, "waiting", "barrier")                                                       \
    X(WAITING_FETCH, "waiting", "fetch") /* the instruction buffer does not have the next one */   \
    X(WAITING_VALU, "waiting", "valu_busy")                                                        \
    X(WAITING_SCALAR, "waiting", "scalar_busy")                                                    \
    X(WAITING_VMEM, "waiting", "vector_memory_busy")                                               \
    X(WAITING_LDS, "waiting", "lds_busy")                                                          \
    X(WAITING_LDS_CONFLICT, "waiting", "lds_conflict")                                             \
    X(WAITING_BRANCH, "waiting", "branch_busy")                                                    \
    X(WAITING_OTHER, "waiting", "other_busy")                                                      \
    X(WAITING_VMEM_FULL, "waiting", "vector_memory_full") /* no entry for another instruction */   \
    X(WAITING_SMEM_FULL, "waiting", "scalar_memory_full")                                          \
    X(WAITING_COUNTER_FULL, "waiting", "counter_full") /* vmcnt or lgkmcnt cannot count more */    \
    X(WAITING_STORES, "waiting", "stores")             /* after s_endpgm, for memory operations */ \
    X(ENDED, "ended", "work_group")

enum work_cycles_kind {
#define X(identifier, group, name) WORK_##identifier,
    WORK_CYCLES(X)
#undef X
        WORK_CYCLES_KINDS
};

/* Contents of finished.account: what has been added up since the last work-group of the kernel that
 * ended on the same compute unit. */
struct work_account {
    uint64_t slot_cycles[WORK_CYCLES_KINDS]; /* by enum work_cycles_kind */
    uint64_t held;     /* sum of wavefronts * (end - arrival) of the work-groups that ended */
    uint64_t active;   /* cycles in which at least one work-group of the kernel was there */
    uint64_t lds_busy; /* cycles of the LDS, conflicts included */
    uint64_t lds_conflict;
    uint64_t vmem_lines;  /* line requests of vector memory instructions */
    uint64_t vmem_issued; /* these instructions, and the cycles from issue to return of all */
    uint64_t vmem_cycles;
    uint64_t scratch_lines;   /* those of vmem_lines that lie in the scratch of the work-group */
    uint64_t valu_idle_lanes; /* lanes that were off, summed over vector ALU instructions */
    /* Vector memory reads of what the wavefront's last one has read, by the same instruction:
     * nothing else was accessed between. */
    uint64_t polls;
};
_Static_assert(sizeof(struct work_account) <= 352, "fits the payload of work.finished");

#endif
