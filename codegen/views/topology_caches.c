/* Caches of a GPU, as far as its compute units reach them through interconnects: what `vmem`,
 * `smem` and `imem` lead to is the first level, what follows the second. Banks of one composite are
 * one cache. Memory-side caches are the third. See topology.h. */
#include <string.h>

#include "base/wide.h"

#include "topology.h"

/* linux/kfd_sysfs.h */
enum { TYPE_DATA = 1, TYPE_INSTRUCTIONS = 2, TYPE_GPU = 8 };

struct walk {
    struct topology *t;
    struct topology_node *node;
    bool *counted; /* by instance: banks */
    uint32_t unit; /* the compute unit from which */
    uint32_t level, type;
};

static struct topology_cache *find_bank(const struct walk *w, const struct model_instance *bank)
{
    for (uint32_t i = w->node->caches.count; i-- > 0;) {
        struct topology_cache *cache = &w->node->caches.items[i];
        bool same = w->level == 1 ? cache->bank == bank : cache->bank->parent == bank->parent;
        if (cache->level == w->level && cache->type == w->type && same)
            return cache;
    }
    return NULL;
}

static void add_bank(struct walk *w, const struct model_instance *bank)
{
    struct topology_cache *cache = find_bank(w, bank);
    uint64_t hz = w->t->model->domains[bank->domain].hz;
    if (!cache) {
        const struct topology_cache made = {
            .first = w->node->simd_id_base + w->unit,
            .level = w->level,
            .line = (uint32_t)topology_of(bank, "line", 64),
            .ways = (uint32_t)topology_of(bank, "ways", 1),
            .type = w->type,
            .latency_ns = (uint64_t)topology_of(bank, "latency", 0) * (PS_PER_S / hz) / 1000,
            .bank = bank,
        };
        vector_push(w->t->region, &w->node->caches, made);
        cache = &w->node->caches.items[w->node->caches.count - 1];
    }
    cache->units = w->node->simd_id_base + w->unit - cache->first + 1;
    cache->bytes += w->counted[bank->id] ? 0 : (uint64_t)topology_of(bank, "size", 0);
    w->counted[bank->id] = true;
}

/* Caches that requests of these ports come to, and the caches below them when `level` is above
 * 1. */
static void reach(struct walk *w, const struct model_port_group *ports, uint32_t level)
{
    for (uint32_t i = 0; ports && i < ports->count; i++) {
        const struct model_connection *connection = ports->ports[i].connection;
        const struct model_instance *to = connection ? connection->to->owner : NULL;
        if (!to || ports->decl->is_in || !topology_owns(w->node->root, to))
            continue;
        bool is_cache = strcmp(to->type->name, "cache") == 0;
        if (is_cache && level == 1)
            add_bank(w, to);
        else if (is_cache)
            reach(w, topology_ports(to, "bottom"), level - 1);
        else if (to->is_interconnect)
            for (uint32_t g = 0; g < to->port_group_count; g++)
                reach(w, &to->port_groups[g], level);
    }
}

static void walk_units(struct walk *w, const char *port, uint32_t level, uint32_t type)
{
    const struct model *model = w->t->model;
    w->level = level;
    w->type = type;
    w->unit = 0;
    for (uint32_t i = w->node->root->id; topology_inside(model, w->node->root, i); i++) {
        const struct model_instance *leaf = model->instances[i];
        if (strcmp(leaf->type->name, "compute_unit") != 0)
            continue;
        reach(w, topology_ports(leaf, port), level);
        w->unit++;
    }
}

static void add_memory_side(struct walk *w)
{
    const struct model *model = w->t->model;
    struct topology_cache sum = {.first = w->node->simd_id_base,
                                 .units = w->node->compute_units,
                                 .level = 3,
                                 .line = 128,
                                 .type = TYPE_DATA | TYPE_GPU};
    for (uint32_t i = 0; i < model->part_count; i++) {
        const struct model_part *part = model->parts[i];
        if (strcmp(part->type->name, "infinity_cache") != 0
            || !topology_has_part(w->node->root, part))
            continue;
        sum.bytes += (uint64_t)topology_param(part->params, part->param_count, "size", 0);
        sum.ways = (uint32_t)topology_param(part->params, part->param_count, "ways", 1);
        sum.latency_ns = (uint64_t)topology_param(part->params, part->param_count, "latency", 0)
                         * (PS_PER_S / w->node->hz) / 1000;
    }
    if (sum.bytes)
        vector_push(w->t->region, &w->node->caches, sum);
}

void topology_collect_caches(struct topology *t, struct topology_node *node)
{
    struct walk w = {
        .t = t, .node = node, .counted = region_take(t->region, t->model->instance_count)};
    walk_units(&w, "vmem", 1, TYPE_DATA | TYPE_GPU);
    walk_units(&w, "smem", 1, TYPE_DATA | TYPE_GPU);
    walk_units(&w, "imem", 1, TYPE_INSTRUCTIONS | TYPE_GPU);
    walk_units(&w, "vmem", 2, TYPE_DATA | TYPE_GPU);
    add_memory_side(&w);
}
