/* A machine with the platform's GPUs as the kernel driver of AMD describes it: a node for the
 * processor, then one for each GPU, in the driver's order. view_topology() writes it as files.
 *
 * A GPU is what the driver component takes for one (components/host/driver/driver_devices.c): what
 * stands beside the component that a `gpu` port leads to, as far out as memory that the platform
 * maps. */
#ifndef HEDDLE_CODEGEN_VIEWS_TOPOLOGY_H
#define HEDDLE_CODEGEN_VIEWS_TOPOLOGY_H

#include "base/region.h"

#include "view.h"

/* A chip for each target. */
struct topology_chip {
    const char *isa;
    const char *name; /* as the kernel calls it */
    uint32_t device_id;
    uint32_t firmware;
    bool ecc; /* its SRAMs have ECC; part of the target's name */
};

struct topology_bank {
    uint64_t bytes;
    uint32_t bits, mhz;
};

struct topology_cache {
    uint32_t first, units; /* compute units: number of the first, and how many follow */
    uint32_t level, line, ways, type;
    uint64_t bytes, latency_ns;
    const struct model_instance *bank; /* one of them; NULL: a part of the memory, or assumed */
};

struct topology_link {
    uint32_t to; /* node */
    bool pcie;
    uint32_t weight;
    uint64_t latency_ps, bytes_per_s; /* 0: unlimited */
};

struct topology_node {
    uint32_t number;
    const struct model_instance *root; /* all of the GPU; NULL: processor */
    const struct model_connection *host_link;
    const struct topology_chip *chip;
    uint32_t cores;
    uint32_t compute_units, simds, wavefronts, arrays, units_of_array, dies, dma_engines;
    uint64_t lds_bytes, hz, host_hz;
    uint32_t simd_id_base, target_version, capability;
    uint32_t hive; /* 0: none */
    struct topology_bank bank;
    VECTOR(struct topology_cache) caches;
    VECTOR(struct topology_link) links;
    VECTOR(struct topology_link) peers; /* other GPUs, by way of the processor's links */
};

struct topology {
    struct region *region;
    const struct model *model;
    struct topology_node *nodes;
    uint32_t count;
};

/* False: the platform has no GPU of AMD that a driver reaches, as `error` says. */
bool topology_collect(struct topology *t, struct view_error *error);
/* Called by it: caches of a GPU, and links of all. */
void topology_collect_caches(struct topology *t, struct topology_node *node);
void topology_collect_links(struct topology *t, bool shares_memory);

/* Below `root`, or itself. */
bool topology_owns(const struct model_instance *root, const struct model_instance *instance);
/* Instances below `root` follow it without a gap. */
bool topology_inside(const struct model *model, const struct model_instance *root, uint32_t id);
bool topology_has_part(const struct model_instance *root, const struct model_part *part);
/* The value of a parameter that the type has, or `otherwise`. */
int64_t topology_param(const struct model_param *params, uint32_t count, const char *name,
                       int64_t otherwise);
static inline int64_t topology_of(const struct model_instance *instance, const char *name,
                                  int64_t otherwise)
{
    return topology_param(instance->params, instance->param_count, name, otherwise);
}
/* Neighbours in memory: `out` ports lead to servers. */
const struct model_port_group *topology_ports(const struct model_instance *instance,
                                              const char *name);

#endif
