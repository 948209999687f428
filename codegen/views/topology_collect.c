/* Collects the machine's GPUs: walks the instances of each. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/wide.h"

#include "topology.h"

/* HBM of four stacks, or eight where four of HBM3 (JESD238: 819 GB/s each) would not do: as the HIP
 * library says, too. */
#define STACK_BITS          1024u
#define STACK_BANDWIDTH_MAX UINT64_C(819200000000)
#define ASSUMED_HOST_MEMORY (UINT64_C(64) << 30)
#define GPUS_MAX            128u        /* libdrm, drmGetMinorBase(): minor numbers 128 to 255 */
#define FIRST_SIMD          0x80001000u /* kernel, kfd_crat.c: gpu_processor_id_low */

/* linux/kfd_sysfs.h */
enum {
    CAPABILITY_DOORBELL_4 = 1 << 12,
    CAPABILITY_DOORBELL_8 = 2 << 12,
    CAPABILITY_SRAM_ECC = 0x04000000,
    CAPABILITY_SVM = 0x08000000,
    CAPABILITY_COHERENT_HOST = 0x10000000
};

static const struct topology_chip chips[] = {
#define CHIP(isa, name, device, firmware, ecc) {isa, name, device, firmware, ecc},
#include "topology_chips.def"
#undef CHIP
};

bool topology_owns(const struct model_instance *root, const struct model_instance *instance)
{
    while (instance && instance != root)
        instance = instance->parent;
    return instance != NULL;
}

bool topology_inside(const struct model *model, const struct model_instance *root, uint32_t id)
{
    return id < model->instance_count && topology_owns(root, model->instances[id]);
}

bool topology_has_part(const struct model_instance *root, const struct model_part *part)
{
    size_t length = strlen(root->path);
    return strncmp(part->path, root->path, length) == 0 && (!length || part->path[length] == '.');
}

int64_t topology_param(const struct model_param *params, uint32_t count, const char *name,
                       int64_t otherwise)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(params[i].decl->name, name) == 0)
            return params[i].value.integer;
    return otherwise;
}

static const char *choice_of(const struct model_instance *instance, const char *name)
{
    for (uint32_t i = 0; i < instance->param_count; i++) {
        const struct model_value *value = &instance->params[i].value;
        if (strcmp(instance->params[i].decl->name, name) == 0 && value->choice)
            return value->choice->names[value->integer];
    }
    return "";
}

const struct model_port_group *topology_ports(const struct model_instance *instance,
                                              const char *name)
{
    for (uint32_t i = 0; i < instance->port_group_count; i++)
        if (strcmp(instance->port_groups[i].decl->name, name) == 0)
            return &instance->port_groups[i];
    return NULL;
}

static bool is_a(const struct model_instance *instance, const char *type)
{
    return strcmp(instance->type->name, type) == 0;
}

/* ---- which instances are a GPU ---- */

/* The mapped memory whose statement is in this composite. */
static const struct model_space *memory_of(const struct model *model,
                                           const struct model_instance *composite)
{
    for (uint32_t i = 0; i < model->space_count; i++) {
        const struct model_space *space = model->spaces[i];
        const char *dot = strrchr(space->path, '.');
        size_t length = dot ? (size_t)(dot - space->path) : 0;
        if (space->mapped && strlen(composite->path) == length
            && strncmp(space->path, composite->path, length) == 0)
            return space;
    }
    return NULL;
}

static const struct model_instance *root_of(const struct model *model,
                                            const struct model_instance *beside,
                                            const struct model_space **memory)
{
    const struct model_instance *out = beside;
    for (; out; out = out->parent) {
        *memory = memory_of(model, out);
        if (*memory)
            return out;
    }
    return beside;
}

/* Isa 90a is 9.0.10: two hexadecimal digits behind the decimal major version. */
static uint32_t version_of(const char *isa)
{
    const char *digits = isa + strlen("gfx");
    size_t major = strlen(digits) - 2;
    unsigned long low = strtoul(digits + major, NULL, 16), high = 0;
    for (size_t i = 0; i < major; i++)
        high = 10 * high + (unsigned long)(digits[i] - '0');
    return (uint32_t)(high * 10000 + (low >> 4) * 100 + (low & 15));
}

static const struct topology_chip *chip_of(const char *isa)
{
    for (size_t i = 0; i < ARRAY_COUNT(chips); i++)
        if (strcmp(chips[i].isa, isa) == 0)
            return &chips[i];
    return NULL;
}

/* ---- what a GPU is made of ---- */

/* Bytes a second, as the driver tells the HIP library. */
static uint64_t bandwidth_of(const struct model *model, const struct topology_node *node)
{
    uint64_t ideal = 0, timed = 0;
    for (uint32_t i = node->root->id; topology_inside(model, node->root, i); i++) {
        const struct model_instance *leaf = model->instances[i];
        if (is_a(leaf, "dram"))
            ideal += (uint64_t)topology_of(leaf, "width", 1)
                     * (uint64_t)topology_of(leaf, "line", 64) * model->domains[leaf->domain].hz;
    }
    for (uint32_t i = 0; i < model->part_count; i++) {
        const struct model_part *part = model->parts[i];
        if (topology_has_part(node->root, part) && strcmp(part->type->name, "hbm") == 0)
            timed += (uint64_t)topology_param(part->params, part->param_count, "channels", 1)
                     * (uint64_t)topology_param(part->params, part->param_count, "burst", 64)
                     * PS_PER_S
                     / (uint64_t)topology_param(part->params, part->param_count, "tburst", 1);
    }
    return timed ? timed : ideal;
}

static void fill_bank(const struct model *model, struct topology_node *node,
                      const struct model_space *memory)
{
    uint64_t bandwidth = bandwidth_of(model, node);
    uint32_t stacks = bandwidth > 4 * STACK_BANDWIDTH_MAX ? 8 : 4;
    node->bank.bytes = memory ? memory->each_bytes * memory->target_count : 0;
    node->bank.bits = stacks * STACK_BITS;
    node->bank.mhz = (uint32_t)(bandwidth / (2 * node->bank.bits / 8) / 1000000);
}

static void add_unit(const struct model *model, struct topology_node *node,
                     const struct model_instance *unit, const struct model_instance **array,
                     uint32_t *units_of_array)
{
    const char *isa = choice_of(unit, "isa");
    node->compute_units++;
    node->arrays += unit->parent != *array;
    *units_of_array = unit->parent == *array ? *units_of_array + 1 : 1;
    *array = unit->parent;
    if (*units_of_array > node->units_of_array)
        node->units_of_array = *units_of_array;
    node->simds = (uint32_t)topology_of(unit, "simds", 4);
    node->wavefronts = (uint32_t)topology_of(unit, "wavefronts", 10);
    node->lds_bytes = (uint64_t)topology_of(unit, "lds", 65536);
    node->hz = model->domains[unit->domain].hz;
    node->chip = chip_of(isa);
    node->target_version = node->chip ? version_of(isa) : 0;
}

static void fill_gpu(const struct model *model, struct topology_node *node)
{
    const struct model_instance *array = NULL;
    uint32_t units_of_array = 0;
    for (uint32_t i = node->root->id; topology_inside(model, node->root, i); i++) {
        const struct model_instance *leaf = model->instances[i];
        if (is_a(leaf, "compute_unit"))
            add_unit(model, node, leaf, &array, &units_of_array);
        node->dies += is_a(leaf, "command_processor");
        node->dma_engines += is_a(leaf, "dma_engine");
    }
}

static void fill_capability(struct topology_node *node, bool shares_memory)
{
    node->capability = node->target_version < 90000 ? CAPABILITY_DOORBELL_4 : CAPABILITY_DOORBELL_8;
    node->capability |= node->target_version < 90000 ? 0 : CAPABILITY_SVM;
    node->capability |= node->chip->ecc ? CAPABILITY_SRAM_ECC : 0;
    node->capability |= shares_memory ? CAPABILITY_COHERENT_HOST : 0;
}

static const struct model_instance *find_driver(const struct model *model)
{
    for (uint32_t i = 0; i < model->leaf_count; i++)
        if (is_a(model->leaves[i], "driver") && topology_ports(model->leaves[i], "gpu"))
            return model->leaves[i];
    return NULL;
}

/* The processor. One cache, as runtimes give up when a processor has none. */
static void fill_processor(struct topology *t, const struct model_instance *driver)
{
    t->nodes[0].cores = 1;
    t->nodes[0].bank.bytes = ASSUMED_HOST_MEMORY;
    t->nodes[0].host_hz = t->model->domains[driver->domain].hz;
    const struct topology_cache first_level = {
        .units = 1, .level = 1, .line = 64, .ways = 8, .type = 1 | 4, .bytes = 32 << 10};
    vector_push(t->region, &t->nodes[0].caches, first_level);
}

static bool add_gpu(struct topology *t, const struct model_connection *connection)
{
    const struct model_space *memory = NULL;
    struct topology_node *node = &t->nodes[t->count];
    node->root = root_of(t->model, connection->to->owner->parent, &memory);
    if (is_a(connection->to->owner, "dma_engine")) { /* memory of the host */
        t->nodes[0].bank.bytes = memory ? memory->each_bytes * memory->target_count : 0;
        return true;
    }
    fill_gpu(t->model, node);
    if (!node->compute_units || !node->chip)
        return false;
    const struct topology_node *before = &t->nodes[t->count - 1];
    node->number = t->count++;
    node->host_link = connection;
    node->host_hz = t->nodes[0].host_hz;
    node->simd_id_base = before->compute_units
                             ? before->simd_id_base + before->compute_units * before->simds
                             : FIRST_SIMD;
    fill_bank(t->model, node, memory);
    topology_collect_caches(t, node);
    return true;
}

bool topology_collect(struct topology *t, struct view_error *error)
{
    const struct model_instance *driver = find_driver(t->model);
    const struct model_port_group *gpus = driver ? topology_ports(driver, "gpu") : NULL;
    bool shares_memory = driver && strcmp(choice_of(driver, "host_memory"), "shared") == 0;
    if (gpus && gpus->count > GPUS_MAX) {
        snprintf(error->text, sizeof error->text,
                 "platform %s has %u GPUs; AMD's kernel driver has render nodes for %u",
                 t->model->name, gpus->count, GPUS_MAX);
        return false;
    }
    t->nodes = region_take(t->region, (1 + (gpus ? gpus->count : 0)) * sizeof *t->nodes);
    t->count = 1;
    if (driver)
        fill_processor(t, driver);
    for (uint32_t i = 0; gpus && i < gpus->count; i++)
        if (gpus->ports[i].connection && !add_gpu(t, gpus->ports[i].connection))
            break;
    if (t->count == 1) {
        snprintf(error->text, sizeof error->text,
                 "platform %s has no GPU of AMD that runs programs: a driver whose `gpu` leads to "
                 "compute units, as in r9nano",
                 t->model->name);
        return false;
    }
    for (uint32_t i = 1; i < t->count; i++)
        fill_capability(&t->nodes[i], shares_memory);
    topology_collect_links(t, shares_memory);
    return true;
}
