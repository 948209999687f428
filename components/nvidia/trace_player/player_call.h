/* A launch that is executed, in host memory: see player_execute.c. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_TRACE_PLAYER_PLAYER_CALL_H
#define HEDDLE_COMPONENTS_NVIDIA_TRACE_PLAYER_PLAYER_CALL_H

#include "components/nvidia/program/ptx_services.h"

#include "trace_player_state.h"

enum { WATCH_PLACES = 4096 }; /* that accesses are remembered in */

struct cuda_trace;

/* Instructions that a warp has executed: records without links. */
struct player_warp {
    uint32_t *words;
    size_t word_count, capacity;
    uint32_t count;
};

/* Lanes of a warp that have ended, and lanes that wait at a barrier for the rest of the warp. */
struct player_lanes {
    uint32_t exited, arrived;
};

/* Barriers in shared memory of a block that is executed, by number: see player_mbarrier.c. */
struct player_mbarriers {
    struct player_mbarrier {
        uint32_t done, over; /* copies and arrivals so far; those when its last phase was over */
        bool phase;          /* the one that it is in: odd */
    } number[TRACE_PHASES];
};

/* Finds blocks that only wait for other blocks. A block does when each of its warps has loaded from
 * global memory in its last piece, at the addresses of the piece before alone, and has stored
 * nothing. An atomic counts as a load. */
struct player_watch {
    uint64_t key[WATCH_PLACES]; /* a hash of warp, instruction and address */
    uint32_t piece[WATCH_PLACES];
    uint32_t now; /* piece */
    uint32_t loads, fresh, stores;
};

/* A block that is over before an earlier one: a trace has them in the order of the grid. */
struct player_recorded {
    struct player_recorded *next;
    uint64_t number;
    uint32_t warps;
    struct player_warp warp[TRACE_WARPS];
};

struct player_call {
    struct ptx_call call; /* first: the context of the executor's hooks */
    bool is_checked;      /* --check races looks at it, too */
    struct trace_player *player;
    struct player_kernel *kernel;
    bool runs;     /* it is under way */
    void *block;   /* memory of the block that is executed */
    bool has_more; /* it is not over */
    /* Static instructions in the kernel's table, and static instructions by which lanes end. */
    uint64_t decoded[TRACE_INSTS_MAX / 64], exits[TRACE_INSTS_MAX / 64];
    struct player_warp warp[TRACE_WARPS]; /* warps of the block that is executed */
    struct player_lanes lanes[TRACE_WARPS];
    struct player_mbarriers mbarriers;
    struct player_watch watch;
    struct cuda_trace *trace;     /* trace that is recorded; NULL: none */
    uint64_t recorded;            /* the next block of the recording */
    struct player_recorded *over; /* later blocks that are over, by number */
    struct itrace_inst *insts;    /* by number in the module, of a recording */
    struct player_call *next;
};

/* ---- player_execute.c ---- */

/* True if no launch is under way. The executed part of a launch is not in the simulated state. */
static bool execute_is_over(void);

/* ---- player_mbarrier.c ---- */

/* Makes a record of an instruction at a barrier in shared memory, or of a bulk copy; returns its
 * length. */
static unsigned mbarrier_record(struct player_call *c, uint32_t words[TRACE_RECORD], uint8_t kind,
                                const struct warp_step *step);
/* Contents of such a record. */
static void mbarrier_decode(const uint32_t *record, struct itrace_bulk *to);

/* ---- player_observe.c ---- */

/* Room for so many more words. */
static void warp_reserve(struct player_warp *w, size_t words);

/* The lanes that the warp has in a block of the launch. */
static uint32_t lanes_of(const struct player_call *c, uint32_t warp);

/* A piece of a block is over. True if it has done nothing but wait. */
static bool watch_waits(struct player_watch *w);

/* The executor's hook; the context is the call. */
static void observe_step(void *context, const struct warp_step *step);

#endif
