/* Reads what GPUs the driver is connected to from the tables of the platform.
 *
 * A GPU is all that lies beside the component that a `gpu` port leads to: "gpu[2].cp" makes
 * everything below "gpu[2]." belong to that device. Where memory that the platform maps lies
 * further out, as "gpu.local" does beside "gpu.xcd[0].cp", the GPU reaches that far. The last port
 * may lead to a DMA engine in place of a command processor: what lies beside that is memory of
 * the host, where managed pages lie that no GPU has. */

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/wide.h"
#include "components/nvidia/program/sm_occupancy.h"
#include "runtime/engine/component_failure.h"

#include "driver_state.h"

static const char *table_string(uint32_t offset)
{
    return engine_base.platform->strings + offset;
}

/* Shared memory of compute capabilities 8.0 to 9.0: NVIDIA, "CUDA C++ Programming Guide", technical
 * specifications, and the shared memory that the system takes of each block. */
enum { SHARED_RESERVED = 1024, SHARED_UNASKED = 48 << 10 };

static bool device_owns(const char *path, const char *prefix)
{
    return !strncmp(path, prefix, strlen(prefix));
}

/* The longest "gpu." of "gpu.xcd[0]." that has mapped memory below it; else the prefix stays. */
static void device_prefix_of_memory(char *prefix)
{
    const struct platform_table *table = engine_base.platform;
    size_t longest = 0;
    for (uint32_t i = 0; i < table->map_count; i++) {
        const char *name = table_string(table->spaces[table->maps[i].space].name);
        const char *dot = strrchr(name, '.');
        size_t length = dot ? (size_t)(dot + 1 - name) : 0;
        if (length > longest && !strncmp(prefix, name, length))
            longest = length;
    }
    if (longest)
        prefix[longest] = 0;
}

/* "gpu." of "gpu.cp": everything up to the last dot. */
static void device_prefix(const struct driver *d, uint32_t number, char *prefix, size_t size)
{
    uint32_t ring = engine_base.port_rings[2 * (driver_io(d)->gpu_first + number)];
    const struct platform_instance *cp =
        &engine_base.platform->instances[engine_base.platform->rings[ring].receiver];
    snprintf(prefix, size, "%s", table_string(cp->path));
    char *dot = strrchr(prefix, '.');
    if (dot)
        dot[1] = 0;
    else
        prefix[0] = 0;
    device_prefix_of_memory(prefix);
}

static bool device_is_memory(const struct driver *d, uint32_t number)
{
    uint32_t ring = engine_base.port_rings[2 * (driver_io(d)->gpu_first + number)];
    uint32_t receiver = engine_base.platform->rings[ring].receiver;
    return !strcmp(table_string(engine_base.platform->instances[receiver].type), "dma_engine");
}

/* True if it is a bank of the first L2 of the GPU. Runtimes tell the size of the L2 of one
 * die. Slices of sectors are all of one L2. `first`: the path up to there, or NULL. */
static bool device_is_l2(const struct platform_instance *instance, const char *rest,
                         const char **first)
{
    const char *dot = strrchr(rest, '.'), *name = dot ? dot + 1 : rest;
    if (strncmp(name, "l2", 2) != 0)
        return false;
    if (!strcmp(table_string(instance->type), "sector_cache"))
        return true;
    if (strcmp(table_string(instance->type), "cache") != 0)
        return false;
    if (!*first)
        *first = rest;
    const char *first_dot = strrchr(*first, '.');
    size_t length = dot ? (size_t)(dot - rest) : 0;
    return length == (first_dot ? (size_t)(first_dot - *first) : 0)
           && !strncmp(rest, *first, length);
}

static void device_add_instance(struct driver_device_info *info,
                                const struct platform_instance *instance, uint64_t hz,
                                const char *rest, const char **l2)
{
    const char *type = table_string(instance->type);
    if (!strcmp(type, "compute_unit")) {
        info->compute_units++;
        info->simds_per_cu = (uint32_t)platform_parameter(instance, "simds", 4);
        info->wavefronts_per_simd = (uint32_t)platform_parameter(instance, "wavefronts", 10);
        info->vgprs_per_simd = (uint32_t)platform_parameter(instance, "vgprs", 256);
        info->sgprs_per_simd = (uint32_t)platform_parameter(instance, "sgprs", 800);
        info->lds_bytes_per_cu = (uint32_t)platform_parameter(instance, "lds", 65536);
        info->clock_hz = hz;
        snprintf(info->isa, sizeof info->isa, "%s",
                 isa_target_name((enum isa_target)platform_parameter(instance, "isa", 0)));
    } else if (!strcmp(type, "streaming_multiprocessor")) {
        info->compute_units++;
        info->clock_hz = hz;
    } else if (device_is_l2(instance, rest, l2)) {
        info->l2_bytes += (uint64_t)platform_parameter(instance, "size", 0);
    } else if (!strcmp(type, "rdma_engine")) {
        info->has_fabric = true;
    } else if (!strcmp(type, "dma_engine")) {
        info->dma_engines++;
    } else if (!strcmp(type, "dram")) {
        info->memory_bandwidth_bytes_per_s += (uint64_t)platform_parameter(instance, "width", 1)
                                              * (uint64_t)platform_parameter(instance, "line", 64)
                                              * hz;
    }
}

/* The trace player places the blocks, so it says what its streaming multiprocessors have. */
static void device_add_player(struct driver_device *device, const struct platform_instance *player)
{
    struct driver_device_info *info = &device->info;
    struct sm_shape *sm = &device->sm;
    if (strcmp(table_string(player->type), "trace_player") != 0)
        return;
    sm->room = (struct sm_room){.threads = (uint32_t)platform_parameter(player, "threads", 0),
                                .blocks = (uint32_t)platform_parameter(player, "blocks", 0),
                                .registers = (uint32_t)platform_parameter(player, "registers", 0),
                                .shared = (uint32_t)platform_parameter(player, "shared", 0)};
    sm->register_unit = (uint32_t)platform_parameter(player, "register_unit", 256);
    sm->sub_cores = (uint32_t)platform_parameter(player, "sub_cores", 4);
    sm->shared_unit = (uint32_t)platform_parameter(player, "shared_unit", 128);
    sm->shared_system = (uint32_t)platform_parameter(player, "shared_system", 0);
    device->takes_copies |= info->has_fabric = platform_parameter(player, "nvlink", 0) > 0;
    snprintf(info->isa, sizeof info->isa, "sm_%u",
             (unsigned)platform_parameter(player, "capability", 0));
    info->lanes = SM_WARP_THREADS;
    info->simds_per_cu = sm->sub_cores;
    info->wavefronts_per_simd = sm->room.threads / SM_WARP_THREADS / sm->sub_cores;
    info->registers_per_cu = sm->room.registers;
    info->vgprs_per_simd = sm->room.registers / 64 / sm->sub_cores;
    info->lds_bytes_per_cu = sm->room.shared;
    info->lds_bytes_reserved = SHARED_RESERVED;
    info->lds_bytes_per_work_group = sm->room.shared - SHARED_RESERVED;
    info->lds_bytes_unasked = SHARED_UNASKED;
    info->work_groups_per_cu = sm->room.blocks;
}

/* True if a port of this name, or an array of them, is wired in the GPU, from a component of the
 * type (NULL: of any). */
static bool device_has_port(const char *prefix, const char *port, const char *sender)
{
    const struct platform_table *table = engine_base.platform;
    size_t length = strlen(port);
    for (uint32_t i = 0; i < table->ring_count; i++) {
        const struct platform_ring *ring = &table->rings[i];
        const char *name = table_string(ring->name), *last = strrchr(name, '.');
        if (!ring->is_reply && device_owns(name, prefix) && last && !strncmp(last, port, length)
            && (!last[length] || last[length] == '[')
            && (!sender || !strcmp(table_string(table->instances[ring->sender].type), sender)))
            return true;
    }
    return false;
}

/* True if the L2 keeps lines that other GPUs do not see: the scope is the second enumerator. */
static bool needs_system_scope(const struct platform_instance *instance)
{
    return !strcmp(table_string(instance->type), "command_processor")
           && platform_parameter(instance, "scope", 0) == 1;
}

/* True if a launch drops the lines of the L2. */
static bool drops_at_launch(const struct platform_instance *instance)
{
    return !strcmp(table_string(instance->type), "command_processor")
           && (platform_parameter(instance, "scope", 0) == 1
               || platform_parameter(instance, "dies", 0) == 1);
}

/* Sets the least distance between packets and arguments of two launches: the longest line of a
 * cache that keeps its lines when kernels begin. Otherwise a launch that reads its arguments brings
 * a line into a cache in which the arguments of the next launch are written later. */
static void device_note_line(struct driver_device *device, const struct platform_instance *instance)
{
    if (!strcmp(table_string(instance->type), "cache")
        && (uint32_t)platform_parameter(instance, "line", 0) > device->line)
        device->line = (uint32_t)platform_parameter(instance, "line", 0);
    device->drops_l2 |= drops_at_launch(instance);
}

/* Bytes a second of memory with channels and banks. */
static uint64_t device_hbm_bandwidth(const struct platform_instance *hbm)
{
    uint64_t bytes = (uint64_t)platform_parameter(hbm, "channels", 1)
                     * (uint64_t)platform_parameter(hbm, "burst", 64);
    return bytes * PS_PER_S / (uint64_t)platform_parameter(hbm, "tburst", 1);
}

static void device_read_parts(struct driver_device_info *info, const char *prefix)
{
    const struct platform_table *table = engine_base.platform;
    uint64_t bandwidth = 0;
    for (uint32_t i = 0; i < table->part_count; i++) {
        const struct platform_part *part = &table->parts[i];
        const char *type = table_string(part->type);
        const struct platform_instance as = {.params = part->params,
                                             .param_count = part->param_count};
        if (!device_owns(table_string(part->path), prefix))
            continue;
        if (!strcmp(type, "cu_resource_pool"))
            info->work_groups_per_cu = (uint32_t)platform_parameter(&as, "work_groups", 16);
        if (!strcmp(type, "hbm"))
            bandwidth += device_hbm_bandwidth(&as);
    }
    if (bandwidth)
        info->memory_bandwidth_bytes_per_s = bandwidth;
}

static void device_read_info(struct driver *d, uint32_t number, const char *prefix)
{
    const struct platform_table *table = engine_base.platform;
    struct driver_device_info *info = &d->device[number].info;
    const char *l2 = NULL;
    int length = (int)strlen(prefix) - 1;
    snprintf(info->name, sizeof info->name, "%s%s%.*s", table_string(table->name),
             length > 0 ? " " : "", max(length, 0), prefix);
    info->work_groups_per_cu = 16;
    info->lanes = 64;
    for (uint32_t g = 0; g < table->group_count; g++) {
        for (uint32_t i = 0; i < table->groups[g].count; i++) {
            const struct platform_instance *instance =
                &table->instances[table->groups[g].first + i];
            const char *path = table_string(instance->path);
            if (!device_owns(path, prefix))
                continue;
            device_add_instance(info, instance, table->domains[table->groups[g].domain].hz,
                                path + strlen(prefix), &l2);
            device_add_player(&d->device[number], instance);
            d->device[number].caches_all_memory |= needs_system_scope(instance);
            device_note_line(&d->device[number], instance);
            if (table->groups[g].first + i >= PROGRAM_INSTANCES_MAX)
                engine_die(&d->io.base,
                           "'%s' is one component more than the %d that a platform with GPUs can "
                           "have",
                           path, PROGRAM_INSTANCES_MAX);
            driver_program(d)->gpu_of[table->groups[g].first + i] = (uint16_t)number;
        }
    }
    device_read_parts(info, prefix);
    if (!info->lds_bytes_per_work_group)
        info->lds_bytes_per_work_group = info->lds_bytes_unasked = info->lds_bytes_per_cu;
    info->max_work_group = DRIVER_WORK_GROUP_MAX;
    info->pages_move = driver_move_count(d) > 0;
    info->reaches_host = driver_has_host(d);
    info->shares_memory = driver_params(d)->host_memory == DRIVER_HOST_MEMORY_SHARED;
    /* the RDMA engine's way past the caches, for copies of peers */
    d->device[number].takes_copies |= device_has_port(prefix, ".copy_in", "rdma_engine");
    /* caches that are told when others write keep their lines over launches */
    d->device[number].drops_l2 &= !device_has_port(prefix, ".probe", NULL);
    info->page_bytes = (uint32_t)driver_page_bytes(d);
    info->memory_bytes = d->device[number].size;
}

/* The device's memory: the mapped space below its prefix, or the one of the same number. */
static bool device_find_memory(struct driver_device *device, uint32_t number, const char *prefix,
                               uint64_t *base)
{
    const struct platform_table *table = engine_base.platform;
    uint32_t map = table->map_count;
    for (uint32_t i = 0; i < table->map_count && map == table->map_count; i++)
        if (*prefix && device_owns(table_string(table->spaces[table->maps[i].space].name), prefix))
            map = i;
    if (map == table->map_count)
        map = number;
    if (map >= table->map_count)
        return false;
    *base = platform_map_base(map);
    device->size = platform_map_size(map);
    return true;
}

/* Pages that no allocation gets; a GPU without others has no free page. */
static void device_leave_pages(struct driver *d, uint32_t number)
{
    uint64_t page;
    for (uint64_t i = 0; i < driver_params(d)->first_page; i++)
        memory_hold_page(&d->memory, number, &page);
}

static void device_init(struct driver *d, uint32_t number)
{
    struct driver_device *device = &d->device[number];
    size_t slots = driver_params(d)->in_flight + DRIVER_SPARE_SLOTS;
    char prefix[256];
    uint64_t base = 0;
    device_prefix(d, number, prefix, sizeof prefix);
    if (!device_find_memory(device, number, prefix, &base))
        engine_die(&d->io.base, "GPU %u ('%s') has no memory; say `map %slocal;` in the platform",
                   number, prefix, prefix);
    if (memory_register_device(&d->memory, base, device->size) != MEMORY_OK)
        engine_die(&d->io.base,
                   "the memory of GPU %u ('%s') overlaps that of another one; `map` gives each "
                   "its own addresses",
                   number, prefix);
    device_leave_pages(d, number);
    driver_program(d)->memory_base[number] = base;
    driver_program(d)->memory_size[number] = device->size;
    device->bandwidth =
        ring_link_bandwidth(ring_placed(port_place(2 * (driver_io(d)->gpu_first + number))));
    device->slots = arena_allocate(slots * sizeof(struct driver_slot));
    for (uint32_t i = 0; i < slots; i++)
        driver_slot_at(device, i)->command = DRIVER_NONE;
    device_read_info(d, number, prefix);
}
