/* The machine that operations work on, and the macros that handlers are written with. Private to
 * components/nvidia/warp.
 *
 * A struct warp_block lies in the caller's memory and has offsets only; a struct warp_machine lives
 * as long as a call of warp_block_run() and has the pointers. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_WARP_WARP_MACHINE_H
#define HEDDLE_COMPONENTS_NVIDIA_WARP_WARP_MACHINE_H

#include <string.h>

#include "warp_code.h"

/* Lanes of a warp at one place: same program counter, same frame. */
enum warp_split_state {
    WARP_READY,
    WARP_GRANTED,    /* its operation has waited for the others and may run */
    WARP_AT_BARRIER, /* waits at `barrier`; its program counter is after it */
    WARP_AT_SYNC,    /* waits for the lanes of `wait` */
    WARP_AT_CLOCK,   /* waits for warp_block_grant_clock() */
    WARP_AT_CLUSTER  /* waits for other blocks of its cluster */
};

struct warp_split {
    uint32_t pc;
    uint32_t narrow, wide, local; /* frame: rows, rows, bytes */
    uint32_t mask;
    uint32_t wait;
    uint32_t turn; /* splits with the lowest go first */
    uint8_t state;
    uint8_t barrier;
};

/* Finds splits that spin, for warp_spins(). */
struct warp_watch {
    uint32_t branches; /* branches backward since the watch was reset */
    uint32_t from;     /* number of them that are only counted */
    uint32_t pc;       /* a place in the loop */
    uint64_t state;    /* hash of the registers at that place */
};

/* State of a warp. Turns may be short, so loops are counted over several of them. */
struct warp_state {
    uint32_t alive;
    uint32_t carry;    /* condition code CC.CF of each lane */
    uint32_t cluster;  /* lanes that have arrived at the cluster's barrier */
    uint32_t count;    /* splits */
    uint32_t patience; /* branches backward of splits while others wait */
    struct warp_watch watch;
    struct livelock livelock; /* if the launch is watched */
    uint32_t lap_lanes, lap;  /* lanes that have executed something in that lap */
    struct warp_split split[WARP_LANES];
};

struct warp_barrier {
    uint32_t arrived;         /* threads */
    uint32_t expected;        /* 0: all of the block */
    uint32_t all, any, count; /* operands of bar.red, so far */
    uint32_t result_all, result_any, result_count;
};

struct warp_block {
    uint64_t number;
    uint32_t id[3];
    uint32_t cluster[3], cluster_blocks; /* size of the block's cluster */
    uint32_t rank;                       /* place in the cluster */
    uint32_t cluster_arrived;            /* threads */
    uint32_t cluster_phase;              /* how often all threads had arrived */
    uint32_t sm;
    uint32_t warps, threads, alive;
    uint32_t next;            /* warp that executes next */
    uint32_t narrow, wide;    /* rows of a warp that frames may use */
    uint32_t narrow_capacity; /* narrow rows, with those for arguments of a call after the frames */
    uint32_t local;           /* bytes of a thread */
    uint32_t shared;          /* bytes */
    uint64_t warps_offset, narrow_offset, wide_offset, predicates_offset, shared_offset,
        local_offset, bytes;
    uint64_t undefined_offset; /* 0: undefined bytes are not followed */
    struct warp_barrier barrier[WARP_BARRIERS + 1 + WARP_WARPGROUPS];
};

static inline struct warp_state *warp_states(struct warp_block *b)
{
    return (struct warp_state *)(void *)((char *)b + b->warps_offset);
}

enum { WARP_HINTS = 32, WARP_BULK_PART = 32 };

struct warp_machine {
    char *base[3]; /* by enum warp_bank: frame's narrow rows, wide rows, constants */
    uint32_t *predicate;
    struct warp_state *warp;
    struct warp_split *split; /* the one that executes */
    struct warp_block *block;
    struct warp_launch *launch;
    const struct warp_code *code;
    char *narrow, *wide; /* the warp's rows */
    uint32_t *predicates;
    char *shared, *local; /* local memory of the warp's first thread */
    uint32_t number;      /* warp in the block */
    uint32_t sync;        /* lanes that WARP_SYNC has gathered */
    uint64_t counted;     /* instructions of this turn */
    uint32_t yields;      /* how often splits gave way in this turn */
    enum warp_fault_kind fault;
    uint32_t fault_lane;
    uint64_t fault_address;
    const char *fault_what;
    const struct warp_op *fault_op;
    char text[256];  /* the bytes of fault_what, if it is composed */
    uint32_t passed; /* lanes whose wait at an mbarrier is over */
    uint32_t bulk;   /* lanes with a bulk copy, its bytes and barrier */
    uint32_t bulk_bytes[WARP_LANES];
    uint64_t bulk_barrier[WARP_LANES];
    uint8_t space; /* enum ptx_space of the last access */
    uint32_t bytes;
    uint8_t hint[WARP_HINTS];                  /* spans of the view */
    _Alignas(64) uint64_t address[WARP_LANES]; /* addresses of the last access */
    _Alignas(64) char *at[WARP_LANES];
    _Alignas(64) uint64_t temp[2 * WARP_LANES];
};

static inline const void *warp_source(const struct warp_machine *m, const struct warp_op *op,
                                      unsigned i)
{
    return m->base[op->bank[i]] + op->at[i];
}

static inline void *warp_target(const struct warp_machine *m, const struct warp_op *op)
{
    return m->base[op->bank[0]] + op->at[0];
}

/* Predicate that is an input, as lanes. */
static inline uint32_t warp_predicate(const struct warp_machine *m, const struct warp_op *op,
                                      unsigned i)
{
    uint32_t bits = op->bank[i] == WARP_PREDICATE ? m->predicate[op->at[i]] : op->at[i];
    return op->flags & WARP_NOT_INPUT ? ~bits : bits;
}

static inline void warp_put_predicate(const struct warp_machine *m, uint32_t number, uint32_t bits,
                                      uint32_t mask)
{
    m->predicate[number] = (m->predicate[number] & ~mask) | (bits & mask);
}

void warp_fault_at(struct warp_machine *m, enum warp_fault_kind kind, uint32_t lane,
                   uint64_t address, const char *what);

/* Handlers by number, of the best x86-64 level that this build and machine have. */
enum warp_run {
    WARP_RUN_NONE,
#define LANE1(id, D, A, value)       WARP_RUN_##id,
#define LANE2(id, D, A, B, value)    WARP_RUN_##id,
#define LANE3(id, D, A, B, C, value) WARP_RUN_##id,
#define COMPARE(id, A, value)        WARP_RUN_##id,
#define CARRY(id, T, sum, out)       WARP_RUN_##id,
#define ATOMIC(id, T, value)         WARP_RUN_##id,
#define HANDLER(id)                  WARP_RUN_##id,
#include "components/nvidia/warp/handlers/warp_convert.def"
#include "components/nvidia/warp/handlers/warp_exchange.def"
#include "components/nvidia/warp/handlers/warp_float.def"
#include "components/nvidia/warp/handlers/warp_half.def"
#include "components/nvidia/warp/handlers/warp_integer.def"
#include "components/nvidia/warp/handlers/warp_matrix.def"
#include "components/nvidia/warp/handlers/warp_memory.def"
#include "components/nvidia/warp/handlers/warp_special.def"
#include "components/nvidia/warp/handlers/warp_texture.def"
#undef LANE1
#undef LANE2
#undef LANE3
#undef COMPARE
#undef CARRY
#undef ATOMIC
#undef HANDLER
    WARP_RUN_COUNT
};

warp_handler *warp_handler_of(enum warp_run run);

#endif
