/* State of the functional executor: a launch under way, its work-groups and wavefronts. A launch
 * keeps the work-groups that have begun in a list of slots. Each slot has registers and LDS of its
 * own in the arena, made at its first use and used again. */
#ifndef HEDDLE_COMPONENTS_AMD_FUNCTIONAL_FUNCTIONAL_STATE_H
#define HEDDLE_COMPONENTS_AMD_FUNCTIONAL_FUNCTIONAL_STATE_H

#include "components/amd/execute/decode_cache.h"
#include "components/amd/execute/wave_sync.h"
#include "components/amd/execute/work_groups.h"
#include "components/amd/isa/execute/isa_ready.h"
#include "components/sampling/stratified_sampler.h"
#include "runtime/engine/arena.h"

#include "footprint.h"
#include "functional.h"
#include "livelock_watch.h"
#include "touch.h"

enum { FUNCTIONAL_SLOTS = 1 << 16 };

enum wave_state { WAVE_RUNS, WAVE_AT_BARRIER, WAVE_AT_SYNC, WAVE_ENDED };

struct wave {
    struct isa_wave scalars;
    enum wave_state state;
    struct wave_sync_wait sync; /* WAVE_AT_SYNC */
    uint32_t vgprs_at;          /* uint32_t[stored][64] */
    uint32_t block;             /* profiles: bucket of the present basic block */
    uint64_t next_block_pc;     /* profiles: the pc at which that block continues */
    uint64_t instructions;
    struct livelock livelock;
};

/* A work-group that has begun. */
struct group {
    struct work_placement placement;
    uint32_t id[3];
    uint32_t slot;
    uint32_t unit; /* touches: the compute unit whose part it takes */
    uint32_t waves, ended, at_barrier;
    uint32_t vgprs_at; /* uint32_t[waves][stored][64], with room for the most */
    uint32_t lds_at;   /* uint8_t[lds_capacity] */
    uint32_t lds_capacity;
    struct wave wave[WORK_WAVEFRONTS_MAX];
};

enum step_kind { STEP_REGISTERS, STEP_BRANCH, STEP_SPECIAL, STEP_VECTOR, STEP_SCALAR };

/* A decoded instruction, ready for being executed. Valid for the launch that compared its bytes
 * with memory. */
struct step {
    _Alignas(128) uint64_t address;
    uint32_t launch;
    uint8_t kind;   /* enum step_kind */
    uint8_t hint;   /* span that it hit last */
    uint16_t split; /* registers that it was made ready for: registers_split() */
    uint64_t count; /* executed so often in this launch; for `executed` */
    struct isa_ready ready;
};
_Static_assert(sizeof(struct step) <= 128, "a step should lie in two lines of the host's caches");

/* The memory instructions in one variant. */
struct access {
    const char *(*vector)(struct host_view *, struct isa_context *, struct isa_wave *,
                          const struct isa_ready *, uint8_t *, uint32_t *);
    const char *(*scalar)(struct host_view *, struct isa_context *, struct isa_wave *,
                          const struct isa_ready *, uint8_t *, uint32_t *);
};

/* A launch that has begun and not ended. */
struct run {
    struct functional_launch own_launch; /* with the packet and the descriptor below */
    struct aql_packet packet;
    struct aql_descriptor descriptor;
    const struct functional_launch *launch; /* the caller's, or own_launch */
    struct worker *worker;                  /* worker of the thread that runs it */
    const struct access *access;
    struct functional_result result;
    struct work_placement common;
    uint32_t stored; /* vector registers and accumulators of a wavefront */
    uint32_t groups[3], next_id[3];
    uint64_t remaining;              /* work-groups that have not begun */
    uint32_t first, slots;           /* its part of the lists of slots */
    uint32_t live_count, free_count; /* entries of live_groups and free_slots, from `first` on */
    uint32_t abreast;       /* work-groups that take turns at each wait for memory; 0: none */
    uint32_t idle_turns;    /* turns of all since a work-group began or ended: rounds, but see */
    uint64_t turn_end;      /* end_turn(); and `instructions` at which the next one ends */
    uint64_t instructions;  /* executed by this launch */
    uint64_t limit;         /* value of `instructions` at which the run ends */
    const char *limited_by; /* the option that sets `limit` */
    uint64_t patient_to;    /* the limit after the end of the program; 0: none */
    bool is_observed;       /* each instruction is counted, recorded or watched */
    struct livelock_watch watch;
    uint32_t repeated_lap; /* lap in which it repeated itself before it yielded; 0: none */
    struct touch_launch touch;
};

/* Tools of a thread that executes; not state. */
struct worker {
    struct host_view view;
    struct isa_workspace workspace;
    struct decoded decode_cache[DECODE_ENTRIES];
    struct step steps[DECODE_ENTRIES];
    uint32_t counted_steps[DECODE_ENTRIES],
        counted_count; /* steps of this launch; for `executed` */
    struct run run;    /* the thread's part of a launch that it shares */
    struct sampler_work executed;
};

/* Kept from launch to launch. */
struct functional_state {
    struct worker *workers[FOOTPRINT_THREADS]; /* NULL: not needed yet */
    uint32_t groups_at[FUNCTIONAL_SLOTS];      /* struct group; 0: not made yet */
    uint32_t live_groups[FUNCTIONAL_SLOTS];    /* slots of a launch, oldest first */
    uint32_t free_slots[FUNCTIONAL_SLOTS];
    struct run runs[FUNCTIONAL_LAUNCHES_MAX];
    bool is_run_used[FUNCTIONAL_LAUNCHES_MAX]; /* `runs` in use; apart, as a run takes a page or so
                                                */
    uint32_t launches;
    uint32_t yields; /* turns of launches since one of them ended or began */
    struct wave_sync syncs[GPU_SET_MAX];
};
extern struct functional_state functional __attribute__((visibility("hidden")));

static inline struct group *functional_group_at(uint32_t slot)
{
    return arena_at(struct group, functional.groups_at[slot]);
}

static inline void functional_count_progress(struct run *r)
{
    r->idle_turns = 0;
    r->turn_end = r->instructions + (uint64_t)FUNCTIONAL_SLICE * r->live_count;
}

/* functional_steps.c: a turn of a work-group. False: the run has failed. */
bool functional_group_run(struct run *r, struct group *g);
void functional_fault(struct run *r, const struct group *g, const struct wave *w,
                      const struct isa_inst *inst, uint64_t pc, uint32_t lane, const char *cause);
struct isa_context functional_context(const struct run *r, const struct group *g,
                                      const struct wave *w);
/* Counts of instructions go to the launch, for its vector of sampling. */
void functional_collect_counts(const struct run *r);

/* functional.c */
struct worker *functional_worker(uint32_t thread);
void functional_worker_begin(struct worker *k, const struct functional_launch *launch);
/* Begins a turn of the launch: other launches may have changed memory and page tables since its
 * last turn. */
void functional_begin_turn(struct run *r);
/* The work-group of a slot, with room for the launch's registers and LDS. */
struct group *functional_slot_group(const struct run *r, uint32_t slot);
/* Begins the next work-group. `slot` numbers its area of private memory, too. */
void functional_group_start(struct run *r, uint32_t slot);

/* functional_waits.c: no wavefront has run in a round, and no work-group can begin: only another
 * launch can help. */
void functional_all_wait(struct run *r);
/* Launches that wait in turns are watched together, now and then. */
void functional_begin_watch(struct run *r);
void functional_set_watch(struct run *r, bool turn_is_over);
/* After a round: true if the launch repeats it for ever. */
bool functional_is_stuck(struct run *r);
/* Ends the run at the wavefront that explains most, and counts what the others do. */
void functional_deadlock(struct run *r);
/* The end of a turn in which the launch only waited. */
enum functional_end functional_yield(struct run *r);

/* functional_share.c: shares the work-groups among threads. False: nothing has been done. */
bool functional_run_shared(struct run *r);
/* A launch has ended, after so many instructions. */
void functional_record_length(const struct functional_launch *launch, uint64_t instructions);

#endif
