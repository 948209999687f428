/* A dispatcher cuts one kernel at a time into work-groups and places them by three parts. The order
 * proposes a compute unit for each work-group (dispatch_order.h), the resource pool knows whether
 * there is room (cu_resource_pool.h), and the protocol agrees with the compute unit
 * (dispatch_protocol.h).
 *
 * The command processor drives it: dispatcher_begin() with a launch, then dispatcher_next()
 * whenever it may have a work-group to send, dispatcher_finished() for each that came back. */
#ifndef HEDDLE_COMPONENTS_AMD_COMMAND_PROCESSOR_DISPATCHER_H
#define HEDDLE_COMPONENTS_AMD_COMMAND_PROCESSOR_DISPATCHER_H

#include "dispatcher.gen.h"

#include "components/amd/execute/work_groups.h"
#include "components/protocols/command/aql_packet.h"
#include "components/protocols/work/work_placement.h"

#include "cu_resource_pool.h"
#include "dispatch_order.h"
#include "dispatch_protocol.h"

enum dispatcher_state {
    DISPATCHER_IDLE,
    DISPATCHER_STARTING, /* kernel overhead and invalidation of the L1 caches */
    DISPATCHER_RUNNING,
    DISPATCHER_RELEASING, /* all work-groups have ended; the L2 writes back */
    DISPATCHER_DONE       /* all work-groups have ended; the command is not answered yet */
};

struct dispatcher {
    struct dispatcher_io io;
    uint32_t state;
    uint16_t host_tag;        /* tag of the launch command */
    uint8_t acquire, release; /* scopes of the launch, enum aql_scope */
    bool waits_for_caches;    /* for the invalidation or release that is under way */
    bool is_released;         /* the L2 has written the kernel's lines back */
    bool is_invalidated;      /* the caches hold nothing that the kernel must not find */
    uint64_t start_at;        /* cycle at which the kernel overhead is over */
    uint64_t answer_at;       /* cycle at which its completion has been signalled */
    /* Arguments for registers, in dwords: missing, loaded, requested (kernel_preload.c). */
    uint8_t preload_missing, preload_loaded, preload_requested;
    struct aql_descriptor descriptor;
    uint32_t record;                 /* handle of the kernel in the statistics */
    uint32_t shares;                 /* dies that run it together; 0: it is not shared */
    uint32_t kernel;                 /* number of its name */
    struct resource_request request; /* resources of a whole work-group */
    struct work_placement common;    /* fields that all work-groups share */
    uint32_t groups[3];              /* work-groups in each direction */
    uint32_t next_id[3];             /* the next work-group */
    uint64_t next_number;            /* its number among those to be run, in the order x, y, z */
    uint64_t first_number; /* the first of these; not 0 for a part of a launch on several GPUs */
    uint32_t stride;       /* distance of two of these; not 1 if dies share a launch */
    uint64_t total;        /* work-groups to be run: all, or this GPU's or die's share */
    uint64_t launched;     /* work-groups to be run by all dies of the GPU */
    uint64_t remaining;    /* work-groups to be placed */
    uint64_t running;      /* work-groups on compute units */
    uint64_t busy_until_centi_cy; /* dispatching takes time */
    bool is_refused;              /* no place since refused_at */
    uint64_t refused_at;
    uint64_t refused_releases; /* releases that the pool had seen at the last attempt */
    uint32_t scratch_groups;   /* blocks of private memory of the launch */
    uint32_t scratch_free_at;  /* uint32_t[scratch_capacity], stack of free scratch blocks */
    uint32_t scratch_capacity;
    uint32_t scratch_free_count;
    uint32_t scratch_used_at; /* uint32_t[cus][WORK_GROUP_SLOTS_MAX]: block of a work-group */
};

/* Hundredths of a cycle in a cycle: dispatching takes fractions of one. */
enum { DISPATCHER_CENTI_CY = 100 };

/* Hundredths of a cycle that dispatching one work-group takes. */
struct dispatch_cost {
    uint32_t small;         /* up to 4 wavefronts */
    uint32_t per_wavefront; /* each, above that */
};

/* The compute units that work-groups go to. */
struct dispatch_units {
    uint32_t count;
    struct dispatch_cost cost;
    bool (*can_send)(const void *owner, uint32_t cu); /* True if the unit's port takes a message */
    const void *owner;
};

/* A work-group that has its place. */
struct dispatched_group {
    uint32_t cu;
    uint32_t id[3];
    struct work_placement placement;
};

/* Once, before anything else. `round_trip`: cycles to a compute unit and back. */
static void dispatcher_setup(struct dispatcher *d, uint32_t compute_units, uint32_t round_trip);

/* Takes a launch. False: no compute unit can ever hold its work-groups. */
static bool dispatcher_begin(struct dispatcher *d, const struct work_launch *launch);

/* After dispatcher_begin(): runs only work-groups first .. first + count - 1, in the order x, y, z.
 */
static void dispatcher_limit(struct dispatcher *d, uint64_t first, uint64_t count);

/* After dispatcher_begin() and dispatcher_limit(): runs only work-group number `share` of these and
 * each `shares`th after it. Other dies run the others, and keep to the same private memory. */
static void dispatcher_divide(struct dispatcher *d, uint32_t share, uint32_t shares);

/* True if all blocks of private memory have work-groups, or if there are none. */
static bool dispatcher_lacks_scratch(const struct dispatcher *d);

/* Places the next work-group if one is due at `now`. True: *out is filled, and the time that it
 * costs is accounted. */
static bool dispatcher_next(struct dispatcher *d, uint64_t now, const struct dispatch_units *units,
                            struct dispatched_group *out);

/* A work-group in `slot` of `cu` has ended. True: it was the last of the kernel. */
static bool dispatcher_finished(struct dispatcher *d, uint32_t cu, uint32_t slot);

/* A work-group of another dispatcher has ended on `cu`. */
static void dispatcher_other_finished(struct dispatcher *d, uint32_t cu);

/* Cycle at which the next work-group can be placed if nothing else happens; ENGINE_NEVER while
 * something must be freed. */
static uint64_t dispatcher_due(const struct dispatcher *d);

#endif
