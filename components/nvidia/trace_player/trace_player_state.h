/* State of a trace player. What the simulation depends on lies in the arena; open files and the
 * profile of the kernel that is being read lie in host memory. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_TRACE_PLAYER_TRACE_PLAYER_STATE_H
#define HEDDLE_COMPONENTS_NVIDIA_TRACE_PLAYER_TRACE_PLAYER_STATE_H

#include "trace_player.gen.h"

#include <stdio.h>

#include "components/nvidia/program/sm_occupancy.h"
#include "components/nvidia/streaming_multiprocessor/bulk.h"
#include "components/nvidia/streaming_multiprocessor/coalesce.h"
#include "components/protocols/command/aql_packet.h"
#include "components/protocols/thread_block/warp_cycles.h"
#include "components/sampling/sampling_options.h"
#include "components/sampling/stratified_sampler.h"
#include "components/sampling/warmup.h"
#include "components/statistics/kernel_stats.h"
#include "components/statistics/slot_account.h"
#include "components/traces/instruction_trace/reader/itrace.h"
#include "components/traces/instruction_trace/reader/itrace_list.h"
#include "components/traces/instruction_trace/reader/itrace_set.h"
#include "runtime/engine/options.h"
#include "runtime/state/platform.h"

#include "trace_writer.h"

/* ---- host memory ---- */

enum { TRACE_FILES = 32, SAMPLE_NAME = 512 /* bytes of a kernel's name */ };

struct trace_file {
    bool is_open;
    uint32_t command;
    uint64_t events;
    const char *span; /* in the trace of the run; NULL: there is none */
    struct itrace trace;
    struct sampler_shape shape; /* --kernels auto */
};

/* Outside of the simulation's state: trace_files.c defines the one of the process. */
struct trace_files {
    const char *path; /* --play sass, or NULL */
    bool skips_cache, allows_incomplete;
    unsigned reported; /* oddities of traces that were reported in this run */
    struct itrace_list list;
    bool has_list;
    char error[400]; /* the first one */
    struct trace_file file[TRACE_FILES];
};

enum { PROFILE_DETAILS = 8 };

/* ---- state ---- */

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

/* A barrier in shared memory, while a block is read: see trace_phase.c. */
struct player_barrier {
    uint64_t address;
    uint32_t copies;
    uint32_t arrivals[TRACE_WARPS], waits[TRACE_WARPS]; /* each warp's */
};

struct player_phases {
    uint32_t count;
    uint32_t last; /* the barrier that the warp has just tried, TRACE_PHASES: none */
    struct player_barrier barrier[TRACE_PHASES];
};

struct player_kernel {
    uint32_t phase;
    uint32_t command;        /* number in the list */
    uint32_t launch;         /* kernels of the list are numbered from 1 */
    uint32_t record;         /* in the statistics */
    uint8_t way;             /* enum sampling_way */
    bool is_program;         /* a launch of a program: player_execute.c */
    bool has_block_at_hand;  /* its next block has been executed and waits for room in the store */
    uint16_t tag;            /* tag of the launch */
    uint32_t program_kernel; /* number in the program table */
    uint64_t at_block, end_block; /* to be executed */
    bool touches;                 /* without timing: accesses touch the caches */
    bool is_read;                 /* the trace is at its end */
    uint64_t events;              /* events of its trace, taken so far */
    uint64_t stream;              /* CUDA's */
    uint64_t start_at; /* cycle of the first block; before that: of the next attempt to begin */
    uint64_t ended_before, delay; /* when it is launched: see launch_time() */
    uint64_t local_base;
    uint32_t insts_at;      /* arena: struct trace_inst [TRACE_INSTS_MAX] */
    uint32_t phases_at;     /* arena: struct player_phases */
    uint32_t inst_count;    /* number of these that are there */
    uint32_t reading_block; /* block that is being read, TRACE_INDEX_NONE: none */
    uint32_t warp;          /* warp that is read of that block */
    uint32_t part;          /* the part of that block */
    uint32_t write_at;
    uint32_t next_block; /* block to be placed, TRACE_INDEX_NONE: none */
    uint32_t running_blocks;
    uint32_t last_block, blocks_ahead; /* the last block from `next_block` on, and their number */
    uint32_t cluster;                  /* blocks of a cluster, 0: not known yet */
    uint32_t carve, per_sm;
    struct sm_room block;
    uint64_t blocks, warp_instructions, thread_instructions;
    uint32_t registers; /* registers of a thread */
    uint32_t uses_at;   /* arena: struct player_use [count(work)] */
    uint32_t pcs_at;    /* arena: uint32_t [TRACE_INSTS_MAX], of a profile of instructions */
    uint32_t profile;   /* its number there */
    bool accounts;      /* SMs account for its warps */
    struct slot_account slots;
    struct warp_account sums;
};

/* A copy or a fill inside of the GPU that is under way. */
struct player_move {
    uint64_t to, from, until; /* physical addresses; cycle */
    uint32_t size;            /* 0: none */
    uint32_t pattern;
    uint16_t tag;
    bool is_fill;
};

/* Sizes that decide how much of an SM a block takes. */
struct player_needs {
    const char *name;
    uint64_t threads, registers, shared;
};

struct trace_player {
    struct trace_player_io io;
    struct trace_writer writer;
    struct sm_shape sm;
    uint32_t rooms_at; /* arena: struct sm_room [count(work)] */
    uint32_t command;  /* the next one of the list */
    uint32_t launches; /* kernels taken */
    uint64_t ended;    /* kernels that have ended; the cycle in which the last one did */
    uint64_t ended_at;
    uint32_t copied; /* functional mode: commands whose copies were repeated */
    /* Kernels were skipped: what caches hold is older than the warm-up asked for. */
    bool has_stale_caches;
    uint32_t order[TRACE_FILES]; /* kernels that are not free, oldest first */
    uint32_t order_count;
    uint64_t placed;            /* blocks so far */
    uint32_t asking;            /* those that want their next part, first placed first */
    uint32_t next_sm, first_sm; /* first_sm: where the placing of this cycle began */
    uint64_t turn;              /* time of the next block, in hundredths of a cycle: block_cost */
    uint32_t cluster_rest;      /* blocks of the cluster placed last that are still to be placed */
    uint64_t fill_at, fill_end; /* next line and end of the copy under way; 0: none */
    uint32_t fills;             /* not answered */
    struct player_move move;
    struct slot_use all; /* warp slots that blocks of all kernels hold */
    struct player_kernel kernel[TRACE_FILES];
};

static inline struct sm_room *player_room(const struct trace_player *p, uint32_t sm)
{
    return arena_at(struct sm_room, p->rooms_at) + sm;
}

static inline struct trace_block *player_block(const struct trace_player *p, uint32_t block)
{
    return arena_at(struct trace_block, trace_player_stream(p)->blocks_at) + block;
}

static inline struct player_phases *player_phases(const struct player_kernel *k)
{
    return arena_at(struct player_phases, k->phases_at);
}

/* True if sectors that the host has copied are in the L2 afterwards. */
static inline bool player_fills(const struct trace_player *p)
{
    return trace_player_params(p)->copies == TRACE_PLAYER_COPIES_FILL
           && trace_player_l2_is_connected(p);
}

/* ---- trace_player.c ---- */

/* TRACE_INDEX_NONE: none. */
static uint32_t player_free_slot(const struct trace_player *p);
static struct player_kernel *kernel_begin_slot(struct trace_player *p, uint32_t slot);
static bool kernel_measure(struct trace_player *p, struct player_kernel *k,
                           const struct player_needs *needs);

/* ---- player_account.c ---- */

static void account_init(struct trace_player *p);
/* The kernel has a record. */
static void account_begin(struct trace_player *p, struct player_kernel *k);
static void account_place(struct trace_player *p, struct player_kernel *k, uint32_t sm);
static void account_finish(struct trace_player *p, struct player_kernel *k, uint32_t sm);
static void account_describe(const struct trace_player *p, const struct player_kernel *k,
                             bool is_timed, struct slot_details *to);
/* Names a static instruction for the profile of instructions, with a remark that follows its
 * opcode, or NULL. */
static void account_name(const struct trace_player *p, const struct player_kernel *k,
                         const struct itrace_inst *inst, const char *place);
/* A kernel, and the place of its first instruction. */
static void account_name_kernel(const struct trace_player *p, struct player_kernel *k,
                                const char *name, const char *symbol, uint32_t gpu, uint32_t pc);
static uint32_t sample_kernel_number(const char *symbol);

/* ---- trace_copies.c ---- */

/* False: the copy cannot begin yet. */
static bool copy_accept(struct trace_player *p, const struct itrace_command *command);
static bool copy_fill(struct trace_player *p);

/* ---- player_host.c ---- */

static bool host_step(struct trace_player *p);
/* False: there is no room yet for the answer to the driver. */
static bool host_launch_end(struct trace_player *p, const struct player_kernel *k);

/* ---- player_execute.c ---- */

/* The kernel's arguments and code, and what its blocks need. False: trace_files_get()->error has
 * the reason. */
static bool execute_begin(struct trace_player *p, struct player_kernel *k,
                          const struct aql_packet *packet, const struct command_request *m);
static void execute_end(struct trace_player *p, struct player_kernel *k);
/* Executes the next block for the SM: k->next. False: there is no room for it, or the run has
 * failed. */
static bool execute_block(struct trace_player *p, struct player_kernel *k, uint32_t sm);
/* The block, on the SM, needs more instructions. */
static void execute_ask(struct trace_player *p, uint32_t sm, uint32_t block);
/* Executes blocks that have asked for it, as far as there is room. */
static bool execute_asked(struct trace_player *p);

/* ---- trace_files.c ---- */

static struct trace_files *trace_files_get(void);
/* True if a program launches kernels, in place of a list. */
static bool player_has_host(const struct trace_player *p);
static void trace_files_report(void *context, bool is_error, const char *path, uint64_t line,
                               const char *text);
static void trace_file_close(struct trace_file *f);
static void trace_files_open(void); /* reads the options */
static void trace_files_close(void);
static bool trace_files_list(const char *path);
static struct itrace *trace_file_open(uint32_t slot, uint32_t command, bool plainly);
static struct itrace *trace_file_at(uint32_t slot, uint32_t command, uint64_t events);
static enum itrace_event trace_file_next(uint32_t slot);

/* ---- trace_async.c ---- */

static void trace_async_begin(void);
static void trace_async_decode(const struct itrace_inst *from, struct trace_inst *to);
static void trace_async_step(const struct itrace_step *step);

/* ---- trace_phase.c ---- */

enum { PHASE_NONE = TRACE_PHASES + 1 /* the record counts and waits for nothing */ };

static void phases_begin(struct player_kernel *k);
static void phases_begin_warp(struct player_kernel *k);
static void phases_pass(struct player_kernel *k, const struct itrace_inst *inst, uint8_t kind);
/* A record of a bulk copy, or of what has a barrier, whose number is `number`; returns its length.
 */
static unsigned phase_record(uint32_t words[TRACE_RECORD], uint8_t kind, uint32_t number,
                             const struct itrace_step *step);
static unsigned phase_read(struct player_kernel *k, uint32_t words[TRACE_RECORD], uint8_t kind,
                           const struct itrace_step *step);
static void phases_end(const struct trace_player *p, const struct player_kernel *k,
                       const struct trace_block *block);

/* ---- player_mbarrier.c ---- */

/* The number of a barrier of PTX in records. */
static uint32_t mbarrier_number(uint8_t kind, const struct itrace_bulk *at);

/* ---- trace_profile.c ---- */

static void profile_begin(void);
static void profile_close(void);
static void profile_step(const struct itrace_inst *inst);
static void profile_lines(const struct sm_lines *lines, enum warm_kind kind);
static unsigned profile_details(struct kernel_detail details[PROFILE_DETAILS]);

/* ---- trace_read.c ---- */

static void player_too_small(const struct trace_player *p, const struct player_kernel *k);
static void player_fail(const struct trace_player *p);
static bool read_begin(struct trace_player *p, struct player_kernel *k);
static bool read_wants(const struct player_kernel *k);
static void read_block(struct trace_player *p, struct player_kernel *k);
static void read_block_placed(struct trace_player *p, struct player_kernel *k);
/* The block, on the SM, needs its next part. */
static void read_ask(struct trace_player *p, uint32_t sm, uint32_t block);
/* Goes on with blocks that have asked for it. */
static bool read_asked(struct trace_player *p);

/* ---- trace_touch.c ---- */

static void touch_close(void);
static void touch_copies(const struct trace_player *p, uint32_t first, uint32_t end);
static bool touch_kernel(struct trace_player *p, struct player_kernel *k);

/* ---- trace_signature.c ---- */

static void signature_close(void);
static uint32_t signature_age(const struct itrace *trace);

/* ---- trace_sample.c ---- */

static bool sample_in_turn(void);
static void sample_enter(struct trace_player *p, struct player_kernel *k, const char *symbol);
static uint32_t sample_begin(struct trace_player *p, struct player_kernel *k);
static void sample_describe(const struct trace_player *p, const struct player_kernel *k,
                            const struct itrace *trace);
static void sample_over(const struct player_kernel *k, const struct trace_file *file);

#endif
