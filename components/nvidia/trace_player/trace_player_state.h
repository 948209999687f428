/* State of a trace player, all of it in the arena. */
#ifndef HEDDLE_COMPONENTS_TRACE_PLAYER_STATE_H
#define HEDDLE_COMPONENTS_TRACE_PLAYER_STATE_H

#include "trace_player.gen.h"

#include "components/sampling/kernel_stats.h"
#include "components/sampling/sampling_options.h"
#include "sm_room.h"
#include "trace_files.h"
#include "trace_writer.h"

/* ASKED: waits for the end of a window; READY: is launched next; UNTIMED: is over, in no time. */
enum player_phase {
    PLAYER_FREE,
    PLAYER_WAITING,
    PLAYER_ASKED,
    PLAYER_READY,
    PLAYER_UNTIMED,
    PLAYER_LAUNCHING,
    PLAYER_RUNNING
};

struct player_kernel {
    uint32_t phase;
    uint32_t command;  /* of the list */
    uint32_t launch;   /* kernels of the list are numbered from 1 */
    uint8_t way;       /* enum sampling_way */
    bool touches;      /* without timing: accesses touch the caches */
    bool read_all;     /* the trace is at its end */
    uint64_t events;   /* of its trace, taken so far */
    uint64_t stream;   /* CUDA's */
    uint64_t start_at; /* cycle of the first block; before that: of the next attempt to begin */
    uint64_t next_since;
    uint64_t local_base;
    uint32_t insts;   /* arena: struct trace_inst [TRACE_INSTS] */
    uint32_t known;   /* of these */
    uint32_t reading; /* block that is being read, TRACE_NOTHING: none */
    uint32_t warp;    /* of that block */
    uint32_t write_at;
    uint32_t next; /* block to be placed, TRACE_NOTHING: none */
    uint32_t running;
    uint32_t carve, per_sm;
    struct sm_room block;
    uint64_t blocks, warp_instructions, thread_instructions;
};

struct trace_player {
    struct trace_player_io io;
    struct trace_writer writer;
    struct sm_room whole;      /* of an SM without blocks */
    uint32_t rooms;            /* arena: struct sm_room [count(work)] */
    uint32_t command;          /* the next one of the list */
    uint32_t launches, chosen; /* kernels taken; those of them that --kernels names */
    uint32_t copied;           /* functional mode: commands whose copies were repeated */
    bool stale; /* kernels were skipped: what caches hold is older than the warm-up asked for */
    uint32_t order[TRACE_FILES]; /* kernels that are not free, oldest first */
    uint32_t order_count;
    uint32_t next_sm;
    uint64_t fill_at, fill_end; /* of the copy under way: next line; 0: none */
    uint32_t fills;             /* not answered */
    struct player_kernel kernel[TRACE_FILES];
};

static inline struct sm_room *player_room(const struct trace_player *p, uint32_t sm)
{
    return arena_at(struct sm_room, p->rooms) + sm;
}

static inline struct trace_block *player_block(const struct trace_player *p, uint32_t block)
{
    return arena_at(struct trace_block, trace_player_stream(p)->blocks) + block;
}

/* What the host copies stands in the L2 afterwards. */
static inline bool player_fills(const struct trace_player *p)
{
    return trace_player_params(p)->copies == TRACE_PLAYER_COPIES_FILL
           && trace_player_l2_is_connected(p);
}

static inline void player_too_small(const struct trace_player *p, const struct player_kernel *k)
{
    snprintf(trace_files.error, sizeof trace_files.error,
             "%s: a thread block does not fit into 'memory' of the trace_player, %lld MiB",
             trace_files.list.commands[k->command].name,
             (long long)(trace_player_params(p)->memory >> 20));
}

/* The simulation ends: what the readers said. */
static inline void player_fail(const struct trace_player *p)
{
    engine_fail(&p->io.base, "%s", trace_files.error);
}

#endif
