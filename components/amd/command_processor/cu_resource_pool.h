/* The resource pool of a GPU: it knows on which compute units a work-group can run.
 *
 * One pool holds the free resources of all compute units of a GPU. All dispatchers share the pool,
 * so no two of them take the same resource (Sun, "Refactoring MGPUSim's Work-Group Dispatching
 * Mechanism", 2020). Calls come from the command processor's tick. */
#ifndef HEDDLE_COMPONENTS_AMD_COMMAND_PROCESSOR_CU_RESOURCE_POOL_H
#define HEDDLE_COMPONENTS_AMD_COMMAND_PROCESSOR_CU_RESOURCE_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct cu_resource_pool;
struct work_placement;

/* Resources that one work-group needs. */
struct resource_request {
    uint32_t wavefronts; /* at least 1 */
    uint32_t vgprs;      /* registers of 64 lanes a wavefront */
    uint32_t sgprs;      /* a wavefront */
    uint32_t lds_bytes;  /* a work-group */
};

/* Work-groups of a kind that fit on an empty compute unit by each resource alone; UINT32_MAX: it
 * limits nothing. Registers are given to wavefronts, and a work-group's wavefronts may lie on any
 * SIMDs, so for these and for wavefront slots it is simds * (wavefronts that fit on a SIMD) /
 * (wavefronts of the work-group), rounded down. */
struct resource_limits {
    uint32_t wavefront_slots, vgprs, sgprs, lds, work_group_slots;
};

/* Once, before anything else. */
static void pool_init(struct cu_resource_pool *p, uint32_t compute_units);

/* True if an empty compute unit can hold it. */
static bool pool_possible(const struct cu_resource_pool *p, const struct resource_request *request);

static void pool_limits(const struct cu_resource_pool *p, const struct resource_request *request,
                        struct resource_limits *limits);

/* Quick answer from counters: false means that pool_place() would fail. */
static bool pool_may_fit(struct cu_resource_pool *p, uint32_t cu,
                         const struct resource_request *request);

/* Reserves the resources and writes work_group_slot, lds_offset and wavefront[] of `placement`.
 * False: there is no room, and nothing is reserved. */
static bool pool_place(struct cu_resource_pool *p, uint32_t cu,
                       const struct resource_request *request, struct work_placement *placement);

/* Frees the resources of the work-group in that slot. */
static void pool_release(struct cu_resource_pool *p, uint32_t cu, uint32_t work_group_slot);

/* Number of releases so far: a refused dispatcher need not ask again before it changes. */
static uint64_t pool_releases(const struct cu_resource_pool *p);

#endif
