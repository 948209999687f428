/* State of a command processor: the kernels that run, and the operation on caches that is under
 * way. */
#ifndef HEDDLE_COMPONENTS_AMD_COMMAND_PROCESSOR_COMMAND_PROCESSOR_STATE_H
#define HEDDLE_COMPONENTS_AMD_COMMAND_PROCESSOR_COMMAND_PROCESSOR_STATE_H

#include "components/amd/execute/wave_sync_unit.h"
#include "components/memory/page_table/program_table.h"
#include "components/protocols/command/aql_packet.h"
#include "components/protocols/work/work_cycles.h"
#include "components/statistics/slot_account.h"
#include "runtime/engine/engine.h"

#include "cu_resource_pool.h"

/* ---- kernels: kernel_account.c ---- */

/* One a dispatcher. */
struct kernel_account {
    struct slot_account slots;
    struct work_account units;
    uint32_t active_at; /* uint64_t[compute units]: the share of each in units.active */
};

/* A work-group on a compute unit. */
struct placed_group {
    uint16_t dispatcher;
    uint16_t wavefronts;
};

/* Resources that one launch needs and can get: they determine its occupancy. */
struct kernel_shape {
    struct resource_request request;
    struct resource_limits limits;
    uint64_t work_groups;         /* on all dies */
    uint32_t units, simds, slots; /* compute units; SIMDs and wavefront slots of each */
    uint32_t dies;                /* dies that run the kernel together, each with as many units */
    bool is_shared;               /* the command processor of each die reports its share */
};

/* ---- caches: cache_control.c ---- */

enum control_kind {
    CONTROL_NONE,
    CONTROL_INVALIDATE,
    CONTROL_ACQUIRE, /* acquire of system scope: a flush of the L2, then an invalidation */
    CONTROL_RELEASE, /* release of system scope: a flush that drops nothing */
    CONTROL_FLUSH,
    CONTROL_SHOOTDOWN,
    CONTROL_PAUSE,
    CONTROL_RESUME
};

/* The caches under control: (name, port, level, request). A level is asked when all caches of the
 * level before have answered. Caches without data of their own go first, lower ones before upper
 * ones, so that no upper cache takes stale lines from below after its own turn; an invalidation
 * ends there. A flush then writes back from the top down, since the L2's lines go to the L3, and
 * has the L2 drop its lines once more when the L3 has dropped its own. A shoot-down is for the
 * shared TLBs, then for the first-level TLBs, which forget everything: in the other order, a
 * first-level TLB could take an old page from the shared TLB after its own turn. An acquire of
 * system scope flushes and drops from the L2 on, then invalidates the caches above it. A pause is
 * for the first-level data caches, which drop everything and then take nothing until resumed; then
 * for the caches in the middle, which may hold lines of a page that goes. */
#define CONTROL_PORTS(X)                                                                           \
    X(TLB, tlb_control, 0,                                                                         \
      forget(c, i, 0, c->shootdown.address, c->shootdown.size, c->shootdown.pid))                  \
    X(MID, mid_control, 0, invalidate(c, i, 0))                                                    \
    X(L1V, l1v_control, 1, invalidate(c, i, 0))                                                    \
    X(L1S, l1s_control, 1, invalidate(c, i, 0))                                                    \
    X(L1I, l1i_control, 1, invalidate(c, i, 0))                                                    \
    X(L2, l2_control, 2,                                                                           \
      flush(c, i, 0, c->control != CONTROL_RELEASE, c->control == CONTROL_ACQUIRE))                \
    X(L3, l3_control, 3,                                                                           \
      flush(c, i, 0, c->control != CONTROL_RELEASE, c->control == CONTROL_ACQUIRE))
enum { CONTROL_LAST_INVALIDATED = 1, CONTROL_LAST_PAUSED = 2, CONTROL_LAST_FLUSHED = 3 };

#define CONTROL_NAME(NAME, PORT, LEVEL, REQUEST) CONTROL_##NAME,
enum control_cache { CONTROL_PORTS(CONTROL_NAME) CONTROL_CACHES };

struct command_processor {
    struct command_processor_io io;
    uint32_t control; /* enum control_kind: the operation under way */
    uint32_t control_level;
    uint32_t control_next[CONTROL_CACHES]; /* ports that have been asked */
    uint32_t control_awaited;
    bool flush_is_repeated; /* the L2 is asked for the second time, by a flush */
    bool flush_answered;    /* false while a flush is done but not answered */
    bool flush_wanted;      /* a flush or invalidate command waits for the caches */
    bool flush_drops;       /* it is an invalidate command */
    bool flush_code;        /* instruction caches forget, too */
    bool flush_under_way;
    uint16_t flush_tag;
    struct {
        uint64_t address, size;
        uint32_t pid;
        uint16_t tag;
        bool is_wanted, is_done; /* waits for the caches; is to be answered */
    } shootdown;                 /* the shoot-down */
    struct {
        uint64_t since; /* cycle in which the pause was wanted */
        uint16_t tag;
        bool is_wanted, is_done; /* as above, for a pause or its end */
        bool is_on;              /* between the two no kernel begins */
    } pause;
    uint32_t launches;          /* number of the next dispatch */
    uint32_t groups_at;         /* struct placed_group[cus][WORK_GROUP_SLOTS_MAX] */
    uint32_t accounts_at;       /* struct kernel_account[dispatchers] */
    struct slot_use total_use;  /* use by the work-groups of all dispatchers */
    struct wave_sync_unit sync; /* the GPU's, unless it has several dies */
};

/* ---- functions that the files share; the definitions have the comments ---- */

/* command_processor.c */
static struct kernel_account *account_of(const struct command_processor *c, uint32_t dispatcher);

/* kernel_account.c */
static void account_begin(struct kernel_account *k, const struct slot_use *total_use, uint64_t now,
                          uint32_t units);
static void account_finish(struct kernel_account *k, struct slot_use *total_use, uint64_t now,
                           uint32_t wavefronts, uint32_t unit, const void *from_unit);
static void account_end(const struct kernel_account *k, const struct kernel_shape *shape,
                        const struct slot_use *total_use, uint64_t now, uint32_t record);

/* kernel_preload.c */
static void preload_begin(const struct command_processor *c, struct dispatcher *d,
                          const struct aql_descriptor *descriptor);
static bool preload_is_done(const struct dispatcher *d);
static bool preload_step(struct command_processor *c, uint32_t number);
static bool preload_receive(struct command_processor *c, const struct command_reply *m);

/* cache_control.c */
static bool control_is_pause(const struct command_processor *c);
static bool control_step(struct command_processor *c);
static bool control_receive(struct command_processor *c);
static void control_init(struct command_processor *c);

#endif
