/* Functions that the files of a compute unit call in one another, by file. Fetching, scalar and
 * vector memory have headers of their own, with their state. */
#ifndef HEDDLE_COMPONENTS_AMD_COMPUTE_UNIT_COMPUTE_UNIT_INTERNAL_H
#define HEDDLE_COMPONENTS_AMD_COMPUTE_UNIT_COMPUTE_UNIT_INTERNAL_H

#include "compute_unit_state.h"

/* Work-groups from their arrival to their answer; see cu_work_group.c. */

static void group_start(struct compute_unit *c, uint64_t now);
static void group_answer(struct compute_unit *c);
static void group_release_barrier(struct compute_unit *c, struct cu_group *g, uint64_t now);
static void wave_end(struct compute_unit *c, struct cu_wave *w, uint64_t now);

/* A wavefront between two instructions; see cu_wavefront.c, and for wave_skip() cu_memory_only.c.
 */

static inline uint64_t *wave_account(const struct cu_wave *w);
static inline void wave_charge(struct compute_unit *c, const struct cu_wave *w,
                               enum work_cycles_kind kind, uint64_t cycles);
static inline void wave_begin_wait(struct compute_unit *c, struct cu_wave *w, uint64_t now,
                                   enum work_cycles_kind cause);
static inline void wave_charge_turn(struct compute_unit *c, struct cu_wave *w, unsigned issued,
                                    uint64_t now);
static inline void wave_charge_executing(struct compute_unit *c, struct cu_wave *w,
                                         enum work_cycles_kind executing, uint64_t now,
                                         uint64_t cycles);
static int wave_find_line(const struct compute_unit *c, const struct cu_wave *w, uint64_t line);
static void wave_want_lines(struct compute_unit *c, const struct cu_wave *w);
static bool wave_decode(struct compute_unit *c, struct cu_wave *w);
static inline void wave_continue(struct compute_unit *c, struct cu_wave *w, uint64_t now,
                                 uint64_t at);
static void wave_receive_code(struct compute_unit *c, struct cu_wave *w, uint64_t now);
static void wave_sleep(struct compute_unit *c, struct cu_wave *w, uint64_t now);
static inline void wave_begin_ready(struct compute_unit *c, struct cu_wave *w, uint64_t now);
static inline void wave_set_ready(struct cu_simd *s, struct cu_wave *w);
static inline uint64_t wave_next_expiry(const struct compute_unit *c, uint64_t now);
static bool wave_skip(struct compute_unit *c, struct cu_wave *w);

/* vmcnt and lgkmcnt; see cu_counters.c. */

static bool wave_counters_are_full(struct compute_unit *c, struct cu_wave *w,
                                   const struct isa_inst *inst);
static inline void wave_check_counters(struct compute_unit *c, struct cu_wave *w, uint64_t now);
static inline void wave_wait_counters(struct compute_unit *c, struct cu_wave *w,
                                      const struct isa_inst *inst, uint64_t now);

/* Execution on registers, and deferred turns; see cu_execute.c and cu_deferred_issue.c. */

static void execute_init(struct compute_unit *c);
static inline enum isa_status execute(const struct compute_unit *c, struct cu_wave *w,
                                      struct isa_context *context, struct isa_wave *s);
static bool execute_early(const struct compute_unit *c, struct cu_wave *w);
static struct cu_deferred *execute_deferred(const struct compute_unit *c, const struct cu_wave *w);
static inline void execute_count_deferral(const struct compute_unit *c, const struct cu_wave *w);
static void execute_count(const struct compute_unit *c, uint64_t first, uint64_t end);

static void deferred_init(struct compute_unit *c);
static void deferred_flush_all(struct compute_unit *c, uint64_t cycle);
static void deferred_end(struct compute_unit *c, unsigned simd, uint64_t now);
static void deferred_begin(struct compute_unit *c, struct cu_wave *w, uint64_t now);

/* The turn of a SIMD; see cu_issue.c. */

static void issue_init(struct compute_unit *c);
static void issue_simd(struct compute_unit *c, unsigned simd, uint64_t now);
static inline void issue_alone(struct compute_unit *c, struct cu_wave *w, uint64_t now);

/* Ends of LDS instructions; see cu_local_memory.c. */

struct cu_lds_end {
    uint64_t cycle;
    uint16_t wave;
};

static inline uint64_t lds_conflicts_until(const struct compute_unit *c, uint64_t now);
static void lds_start(struct compute_unit *c, struct cu_wave *w, const struct isa_inst *inst,
                      const uint32_t *address, uint64_t active, uint64_t now);
static void lds_finish(struct compute_unit *c, uint64_t now);

/* Faults of the simulated program; see cu_fault.c. */

static void cu_fault(struct compute_unit *c, struct cu_wave *w, const struct isa_inst *inst,
                     uint64_t pc, unsigned lane, const char *cause);
static bool bounds_hold(struct compute_unit *c, const struct cu_wave *w, uint64_t start,
                        uint64_t end);
static void bounds_fault(struct compute_unit *c, struct cu_wave *w, const struct isa_inst *inst,
                         uint64_t pc, unsigned lane, const struct work_fault_access *access);

#endif
