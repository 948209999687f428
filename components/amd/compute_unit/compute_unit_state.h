/* State of a compute unit. Everything is index or arena offset; tables whose size depends on
 * parameters are in the arena.
 *
 * A wavefront is in one state at a time. A wavefront that executes until a known cycle is in the
 * wheel. A wavefront whose next instruction is decoded and may issue has one bit in `ready` of its
 * SIMD, by kind of instruction. compute_unit.c lists the files that work on this state. cu_fetch.h,
 * cu_scalar_memory.h and cu_vector_memory.h add the structures of their files, and
 * compute_unit_internal.h the functions that files share. */
#ifndef HEDDLE_COMPONENTS_AMD_COMPUTE_UNIT_COMPUTE_UNIT_STATE_H
#define HEDDLE_COMPONENTS_AMD_COMPUTE_UNIT_COMPUTE_UNIT_STATE_H

#include "base/likely.h"
#include "components/amd/execute/coalescer.h"
#include "components/amd/execute/decode_cache.h"
#include "components/amd/execute/wavefront_start.h"
#include "components/amd/execute/work_fault.h"
#include "components/amd/execute/work_groups.h"
#include "components/amd/execute/work_record.h"
#include "components/amd/isa/isa.h"
#include "components/memory/page_table/program_table.h"
#include "components/protocols/work/work_cycles.h"
#include "components/protocols/work/work_placement.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/index_pool.h"
#include "runtime/observe/hang.h"

enum {
    CU_SIMDS_MAX = 16,
    CU_LDS_PORTS_MAX = 4,
    CU_WHEEL = 64, /* cycles; longer waits go round */
    CU_LINE = 64,
    CU_BLOCK = 32,      /* bytes of code that come together; see fetch_latency */
    CU_STALE_LINES = 2, /* lines still on their way that a branch has made useless */
    CU_LINE_SLOTS_MAX = 1024 / CU_LINE + 1 + CU_STALE_LINES,
    CU_DEFERRED_SHARES = 6,
    CU_SMEM = 64,           /* scalar memory instructions in flight */
    CU_SMEM_DATA = 16 + 16, /* dwords: operands of an atomic and its compare values */
    CU_LGKM_MAX = 15,       /* lgkmcnt has 4 bits (GCN3 and Vega ISA manuals, s_waitcnt) */
    CU_NONE = 0xffff
};

enum cu_wave_state {
    WAVE_FREE,
    WAVE_EXECUTING, /* in the wheel until ready_at */
    WAVE_READY,     /* bit in ready[simd][kind] */
    WAVE_FETCH,     /* the bytes of the next instruction are not there */
    /* Until its counters are at most limit_vm, limit_lgkm; the pc is the next instruction's. */
    WAVE_WAITCNT,
    WAVE_BARRIER,
    WAVE_ENDING, /* s_endpgm was reached, memory operations are outstanding */
    WAVE_FAULTED
};

/* Result of an attempt to issue. BLOCKED: to be tried later. FAULT: the run has failed. */
enum cu_issue { ISSUE_DONE, ISSUE_BLOCKED, ISSUE_FAULT };

/* A wavefront. The first cache line holds what each turn needs; then comes the rest, with the
 * directory of the instruction buffer, whose bytes lie elsewhere (cu_line_bytes()). */
struct cu_wave {
    _Alignas(64) uint64_t ready_at;
    uint64_t accounted_until; /* in cycles; may be the next turn */
    uint64_t line_address;    /* address of the line that holds the pc */
    uint32_t decoded;         /* entry of the decode cache for the next instruction */
    uint32_t instructions;
    uint32_t account_at; /* uint64_t[WORK_CYCLES_KINDS]: its time, in the ledger of its kernel */
    uint8_t state;       /* enum cu_wave_state */
    uint8_t kind;        /* enum cu_kind of the next instruction */
    uint8_t simd, slot;
    uint8_t group;
    uint8_t line_slot; /* slot of line_address in the buffer */
    uint8_t vm, lgkm;  /* outstanding: vmcnt, lgkmcnt */
    uint8_t limit_vm, limit_lgkm;
    uint8_t number;    /* in its work-group */
    uint8_t time_kind; /* enum work_cycles_kind: account of its time from accounted_until on */
    uint8_t ledger;
    uint8_t lds, flat;     /* parts of lgkm: LDS, vector memory; the remainder is scalar memory */
    uint8_t priority;      /* 0 .. 3: s_setprio */
    uint8_t ahead;         /* instructions after the last one issued that have been executed, too */
    bool is_memory_only;   /* only its memory instructions take time: cu_memory_only.c */
    uint32_t ahead_epoch;  /* epoch of the code when these were found in the decode cache */
    uint32_t code_version; /* version of the code in line_address; 0: the line is not there */
    uint32_t vgprs_at;     /* uint32_t[][ISA_LANES] */
    uint16_t vmem_first;   /* its vector memory instructions in flight, oldest first, or CU_NONE */
    uint16_t vmem_last;
    uint32_t line_version[CU_LINE_SLOTS_MAX]; /* version of the code in each line of the buffer */
    uint8_t line_state[CU_LINE_SLOTS_MAX];
    /* 1 + version of the program table with which all lines of the window, as far as they are code,
     * were last found in the buffer or on their way; 0: not since the window moved. */
    uint32_t complete_version;
    uint64_t conflict_cycles; /* of the LDS, up to when the wavefront became ready for that */
    /* The last write to the LDS is over in the cycle `lds_write_end`, and its registers are needed
     * until `held_until`: address, data, more data. */
    uint64_t held_until, lds_write_end;
    uint16_t held_registers[3];
    uint8_t held_dwords; /* registers of each data operand */
    /* With sgpr_order: the scalar register that a vector instruction wrote last, and the cycle from
     * which on another may write it. */
    uint16_t sgpr;
    uint64_t sgpr_until;
    /* Address of the last vector memory instruction, and its operand: address and compare value. */
    uint64_t accessed_pc, accessed_operand;
    uint64_t start_number; /* number of the unit's wavefronts that began before it */
    uint64_t line[CU_LINE_SLOTS_MAX];
    /* With fetch_latency: code up to `code_end` is in the buffer, the block after it comes in the
     * cycle `block_due`; the next instruction begins at `code_pc` and ends at `code_next`. */
    uint64_t code_end, block_due, code_pc, code_next;
#ifdef HEDDLE_PROFILE
    uint64_t issuing_pc; /* pc of the instruction in its turn */
    uint64_t waiting_pc; /* pc of the instruction that waits */
#endif
};

/* A work-group that is resident. */
struct cu_group {
    uint16_t tag; /* tag of the request to answer */
    bool is_used;
    uint8_t waves, ended, at_barrier;
    uint8_t ledger;
    uint32_t instructions;
    uint32_t kernel;
    uint32_t id[3];
    uint32_t pid;
    uint32_t lds_offset, lds_bytes;
    uint32_t vgprs, agprs;
    uint64_t scratch;
    uint64_t scratch_begin, scratch_bytes; /* the work-group's range of it */
    bool is_memory_only;                   /* see cu_memory_only.c */
    uint64_t arrived;                      /* cycle */
    uint64_t end_cycles;                   /* sum of the cycles in which its wavefronts ended */
    uint16_t wave[WORK_WAVEFRONTS_MAX];
};

/* The account of the time of one kernel's wavefronts, sent and cleared with each work-group that
 * ends. In use while the unit has unanswered work-groups of the kernel. */
struct cu_ledger {
    uint32_t dispatch;
    uint32_t groups;  /* not answered */
    uint32_t running; /* not ended */
    uint64_t active_since;
    struct work_account account;
};

/* Turns that are deferred together, of instructions that only change registers; see
 * cu_deferred_issue.c. */
struct cu_deferred {
    uint8_t ahead;     /* instructions that were executed together; 0: nothing is known */
    uint8_t count;     /* turns that can be deferred: as many, or one less */
    uint8_t valu;      /* vector instructions among `count`; the others are scalar */
    uint8_t bytes;     /* bytes of code of all of them */
    uint8_t last_kind; /* enum cu_kind of the last one */
    /* Cycles from the first turn on: to the last one, to when the vector ALU is free again, to the
     * turn after them. */
    uint8_t last_turn, valu_end, cycles;
    /* Account of their time: `shares` pairs of enum work_cycles_kind and cycles. */
    uint8_t shares;
    uint8_t share[CU_DEFERRED_SHARES], share_cycles[CU_DEFERRED_SHARES];
};

/* State of a SIMD. The first cache line has all that a turn needs while no wavefront waits for a
 * unit. */
struct cu_simd {
    _Alignas(64) uint8_t kinds; /* bit k: ready[k] is not 0 */
    uint8_t turn[CU_KINDS];     /* slot after the one that issued last */
    uint64_t valu_free;         /* cycle */
    uint64_t matrix_free;       /* cycle; the unit may be busy while VALU instructions issue */
    uint64_t lds_done;          /* cycle: the LDS is done with this SIMD's instructions */
    uint64_t prioritised;       /* wavefronts with a priority above 0 */
    uint64_t fetch_wanted;      /* wavefronts that may need a line */
    uint32_t lds_conflicts;     /* the last cycles of lds_done, for bank conflicts */
    uint8_t deferred_count;     /* deferred turns of a wavefront */
    uint8_t deferred_slot;      /* slot of that wavefront */
    _Alignas(64) uint64_t ready[CU_KINDS];
};

/* Deferred turns of a SIMD's wavefront, which the wheel has for the turn after them. `run`
 * describes them if its count is not 0. */
struct cu_deferred_turns {
    uint64_t until;
    struct cu_deferred run;
};

struct compute_unit {
    struct compute_unit_io io;
    /* First cache line: state that every tick uses. */
    _Alignas(64) uint64_t wheel_used; /* cycles in which a wavefront or a SIMD has work */
    uint64_t lds_next;                /* cycle in which the first LDS operation ends */
    uint64_t groups_to_answer;        /* a bit for each group that has ended */
    uint32_t vmem_send_count, smem_send_count;
    uint32_t retired;           /* instructions of this tick */
    uint32_t longest_wavefront; /* its instructions, since the statistics were last read */
    uint32_t fetch_simds;       /* SIMDs whose fetch_wanted is not 0 */
    uint32_t deferred_simds;    /* SIMDs with deferred turns */
    uint32_t code_at;           /* struct cu_code, shared */
    uint32_t waves_at;          /* struct cu_wave[simds * wavefronts] */
    uint32_t scalars_at;        /* struct isa_wave, alike */
    /* Second cache line, with four SIMDs: state that every turn uses. */
    uint16_t valu_cycles[ISA_TIMING_COUNT]; /* cycles of the vector ALU for an instruction */
    bool may_defer;                         /* turns may be deferred: cu_deferred_issue.c */
    uint8_t execute_domain;                 /* index of its tables in cu_execute.c */
    uint64_t retry_at[CU_SIMDS_MAX]; /* next turn at which issue is worth a try; in the wheel */
    /* State of memory operations. */
    _Alignas(64) uint32_t vmem_send_head;
    uint32_t vmem_order_at;   /* uint16_t[vmem_queue]: those with unsent lines, a ring */
    uint32_t vmem_table_at;   /* struct cu_vmem[vmem_queue] */
    uint32_t lines_at;        /* struct cu_line[CU_LINES] */
    uint32_t groups_at;       /* struct cu_group[WORK_GROUP_SLOTS_MAX] */
    uint32_t ledgers_at;      /* struct cu_ledger[WORK_GROUP_SLOTS_MAX] */
    uint32_t buffers_at;      /* uint8_t[simds * wavefronts][line_slots][64] */
    uint32_t lane_offsets_at; /* uint8_t[vmem_queue][ISA_LANES]: places of lanes in lines */
    uint32_t stages_at;       /* uint8_t[vmem_queue][CU_STAGE] */
    uint32_t line_slots;      /* lines that the instruction buffer of a wavefront holds */
    uint32_t lines_ahead;     /* lines fetched ahead of that of the pc */
    struct index_pool free_lines;
    struct cu_simd simd[CU_SIMDS_MAX];
    struct cu_deferred_turns deferred[CU_SIMDS_MAX];
    uint64_t wheel[CU_WHEEL]; /* wavefront slots; a cycle belongs to one SIMD */
    /* The LDS works in the order of issue, on one instruction at a time, or on one of each port.
     * Each SIMD has at most one there, so that none can keep the others out. */
    uint64_t lds_free;                   /* cycle: the LDS is done with all instructions */
    uint64_t lds_banks;                  /* cycle: its banks are done with them */
    uint64_t lds_port[CU_LDS_PORTS_MAX]; /* cycle: the port is done with its own */
    uint32_t fetch_simd; /* the wavefront that is first in the next search for one to fetch for */
    uint8_t fetch_slot;
    bool has_whole_turns;   /* all instructions on registers take whole turns */
    uint64_t started_waves; /* wavefronts that have begun so far */
    uint64_t failed_at;     /* cycle in which it has ended the run; or 0 */
    uint32_t lds_end_head, lds_end_count;
    uint32_t vgprs_at;       /* uint32_t[simds][cu_registers_of_simd()][64] */
    uint32_t lds_at;         /* uint8_t[lds] */
    uint32_t vmem_rest_at;   /* struct cu_vmem_rest[vmem_queue] */
    uint32_t wide_stages_at; /* uint8_t[vmem_queue][CU_WIDE_STAGE]: of more than a dword a lane */
    uint32_t lds_ends_at;    /* struct cu_lds_end[lds_end_slots], a ring */
    uint32_t lds_end_slots;
    uint32_t smem_at;      /* struct cu_smem[CU_SMEM] */
    uint32_t smem_data_at; /* uint32_t[CU_SMEM][CU_SMEM_DATA] */
    /* Vector memory. */
    uint64_t addresses_free; /* cycle: the addresses of the last instruction are worked out */
    struct index_pool free_vmem, free_rests;
    /* Scalar memory. */
    struct index_pool free_smem;
    uint8_t smem_order[CU_SMEM];
    uint32_t smem_send_head;
    uint64_t ledgers_used; /* ledgers with work-groups that are not answered */
    uint32_t resident_waves;
    uint64_t active_since;
    /* The allocations that data and code were last found in, with that version of the program
     * table. */
    uint64_t span_start, span_end, code_start, code_end;
    uint32_t span_table_version, code_table_version;
    uint64_t at_sync[CU_SIMDS_MAX]; /* wavefronts of each that wait for the global wave sync */
};

static inline struct cu_wave *cu_wave_at(const struct compute_unit *c, unsigned number)
{
    return arena_at(struct cu_wave, c->waves_at) + number;
}

/* First slots of all SIMDs lie side by side, so that tables are dense while programs use few. */
static inline struct cu_wave *cu_wave_in(const struct compute_unit *c, unsigned simd, unsigned slot)
{
    return cu_wave_at(c, slot * compute_unit_params(c)->simds + simd);
}

static inline unsigned cu_wave_number(const struct compute_unit *c, const struct cu_wave *w)
{
    return w->slot * compute_unit_params(c)->simds + w->simd;
}

/* The number of a wavefront outside of the unit, SIMD by SIMD. */
static inline unsigned cu_wave_name(const struct compute_unit *c, const struct cu_wave *w)
{
    return w->simd * compute_unit_params(c)->wavefronts + w->slot;
}

static inline struct isa_wave *cu_scalars(const struct compute_unit *c, const struct cu_wave *w)
{
    return arena_at(struct isa_wave, c->scalars_at) + cu_wave_number(c, w);
}

static inline struct cu_group *cu_group_at(const struct compute_unit *c, unsigned slot)
{
    return arena_at(struct cu_group, c->groups_at) + slot;
}

static inline unsigned cu_group_slot(const struct compute_unit *c, const struct cu_group *g)
{
    return (unsigned)(g - cu_group_at(c, 0));
}

static inline struct cu_ledger *cu_ledger_at(const struct compute_unit *c, unsigned number)
{
    return arena_at(struct cu_ledger, c->ledgers_at) + number;
}

#define REGISTER_BYTES (ISA_LANES * sizeof(uint32_t)) /* bytes of all lanes */

/* Vector registers of a SIMD, accumulators of the unified file included. */
static inline uint32_t cu_registers_of_simd(const struct compute_unit *c)
{
    return work_registers((enum isa_target)compute_unit_params(c)->isa,
                          compute_unit_params(c)->vgprs);
}

/* The registers of a wavefront lie where the dispatcher has placed it: register `first` of the
 * SIMD, as a kernel counts them. Arena offset. */
static inline uint32_t cu_registers_at(const struct compute_unit *c, unsigned simd, unsigned first)
{
    uint32_t number = simd * cu_registers_of_simd(c)
                      + work_registers((enum isa_target)compute_unit_params(c)->isa, first);
    return c->vgprs_at + number * (uint32_t)(REGISTER_BYTES / ARENA_UNIT);
}

static inline enum isa_target cu_target(const struct compute_unit *c)
{
    return (enum isa_target)compute_unit_params(c)->isa;
}

/* First cycle not before `cycle` that belongs to `simd`. */
static inline uint64_t cu_turn(const struct compute_unit *c, unsigned simd, uint64_t cycle)
{
    uint64_t simds = compute_unit_params(c)->simds;
    return cycle + (simd + simds - cycle % simds) % simds;
}

/* Notes in the wheel that `simd` has something to do in its turn `turn`, which is not over.
 * Returns where that is, the last turn that the wheel can reach when it is further away. */
static inline unsigned cu_mark_turn(struct compute_unit *c, unsigned simd, uint64_t turn,
                                    uint64_t now)
{
    if (unlikely(turn - now >= CU_WHEEL))
        turn = cu_turn(c, simd, now + CU_WHEEL - compute_unit_params(c)->simds);
    c->wheel_used |= (uint64_t)1 << turn % CU_WHEEL;
    return turn % CU_WHEEL;
}

/* Issue of `simd` is worth a try in its turn `turn`, which is not over. */
static inline void cu_retry(struct compute_unit *c, unsigned simd, uint64_t turn, uint64_t now)
{
    if (turn >= c->retry_at[simd])
        return;
    c->retry_at[simd] = turn;
    cu_mark_turn(c, simd, turn, now);
}

/* Registers and memory that an execution of the wavefront may touch. */
static inline struct isa_context cu_context(const struct compute_unit *c, const struct cu_wave *w)
{
    const struct cu_group *g = cu_group_at(c, w->group);
    struct isa_context context = {.vgpr = arena_at(uint32_t, w->vgprs_at),
                                  .vgpr_count = g->vgprs,
                                  .agpr_count = g->agprs,
                                  .lds = arena_at(uint8_t, c->lds_at) + g->lds_offset,
                                  .lds_size = g->lds_bytes,
                                  .time = component_now(&c->io.base)};
    wavefront_set_apertures(cu_target(c), g->scratch, &context);
    return context;
}

#endif
