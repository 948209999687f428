/* The map of allocations: everything that HIP has allocated or that was registered with it, by
 * address. It decides which addresses a call may use. Invariant: entries do not overlap. Memory
 * that a context has at an address that another process uses (heddleAllocateAt) is in a second
 * list, and counts while that context is the current device. */
#include "base/grow.h"
#include "base/number.h"
#include "components/hip/api/hip_findings.h"

static struct {
    struct hip_allocation *list;
    size_t count, capacity;
    size_t wanted_count;
    /* Host memory that is not mapped: how many entries, all of which lie in [low, high). */
    size_t unmapped_count;
    uint64_t unmapped_low, unmapped_high;
    uint32_t last_number;
    struct hip_allocation *context_list; /* allocations that count for one context only */
    size_t context_count, context_capacity;
} map;

/* The number of entries that begin at or below `address`. */
static size_t count_below(uint64_t address)
{
    size_t low = 0, high = map.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (map.list[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct hip_allocation *find_in_context(uint64_t address)
{
    for (size_t i = 0; i < map.context_count; i++) {
        const struct hip_allocation *entry = &map.context_list[i];
        if (address - entry->address < entry->size && entry->device == hip_current_device())
            return entry;
    }
    return NULL;
}

const struct hip_allocation *hip_find_allocation(uint64_t address)
{
    const struct hip_allocation *in_context =
        map.context_count > 0 ? find_in_context(address) : NULL;
    if (in_context)
        return in_context;
    size_t below = count_below(address);
    const struct hip_allocation *entry = below > 0 ? &map.list[below - 1] : NULL;
    return entry && address - entry->address < entry->size ? entry : NULL;
}

const struct hip_allocation *hip_find_allocation_again(uint64_t address, uint32_t number)
{
    const struct hip_allocation *allocation = hip_find_allocation(address);
    return allocation && allocation->number == number ? allocation : NULL;
}

uint32_t hip_allocation_number(uint64_t address)
{
    const struct hip_allocation *allocation = hip_find_allocation(address);
    return allocation ? allocation->number : 0;
}

const struct hip_allocation *hip_find_allocation_below(uint64_t address)
{
    size_t below = count_below(address);
    return below > 0 && hip_is_device_address(map.list[below - 1].address) ? &map.list[below - 1]
                                                                           : NULL;
}

bool hip_is_device_address(uint64_t address)
{
    return address >= hip.device_base && address - hip.device_base < hip.device_size;
}

bool hip_is_pinned_address(uint64_t address)
{
    return address >= hip.pinned_base && address - hip.pinned_base < hip.pinned_size;
}

const struct hip_allocation *hip_find_overlap(uint64_t address, uint64_t size)
{
    size_t below = count_below(address + size - 1);
    const struct hip_allocation *entry = below > 0 ? &map.list[below - 1] : NULL;
    return entry && entry->address + entry->size > address ? entry : NULL;
}

uint64_t hip_find_pinned_gap(uint64_t size)
{
    uint64_t start = hip.pinned_base, end = hip.pinned_base + hip.pinned_size;
    size_t i = start > 0 ? count_below(start - 1) : 0;
    for (; i < map.count && map.list[i].address < end; i++) {
        if (map.list[i].address - start >= size)
            return start;
        uint64_t next = map.list[i].address + map.list[i].size;
        start = round_up(next, hip.page_bytes);
    }
    return end - start >= size ? start : 0;
}

static bool is_host_memory(const struct hip_allocation *allocation)
{
    return allocation->kind == HIP_PINNED_MEMORY || allocation->kind == HIP_REGISTERED_MEMORY;
}

static void count_unmapped(const struct hip_allocation *allocation)
{
    uint64_t start = allocation->address, end = start + allocation->size;
    bool is_first = map.unmapped_count == 0;
    map.unmapped_low = is_first ? start : min(start, map.unmapped_low);
    map.unmapped_high = is_first ? end : max(end, map.unmapped_high);
    map.unmapped_count++;
}

struct hip_address_range hip_unmapped_range(void)
{
    return map.unmapped_count > 0 ? (struct hip_address_range){map.unmapped_low, map.unmapped_high}
                                  : (struct hip_address_range){0};
}

uint32_t hip_set_mapped(uint64_t address)
{
    struct hip_allocation *allocation = &map.list[count_below(address) - 1];
    map.wanted_count -= allocation->is_wanted;
    map.unmapped_count--;
    allocation->is_wanted = false;
    return allocation->mapped_number = ++map.last_number;
}

void hip_set_pool(uint64_t address, const void *pool)
{
    size_t below = count_below(address);
    if (below > 0)
        map.list[below - 1].pool = pool;
}

uint64_t hip_pool_bytes(const void *pool)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < map.count; i++)
        sum += map.list[i].pool == pool ? map.list[i].size : 0;
    return sum;
}

const struct hip_allocation *hip_find_wanted(void)
{
    size_t i = 0;
    while (map.wanted_count > 0 && i < map.count && !map.list[i].is_wanted)
        i++;
    return map.wanted_count > 0 && i < map.count ? &map.list[i] : NULL;
}

void hip_set_wanted(uint64_t address)
{
    const struct hip_allocation *found = hip_find_allocation(address);
    if (found && is_host_memory(found) && !found->mapped_number && !found->is_wanted) {
        map.list[found - map.list].is_wanted = true;
        map.wanted_count++;
    }
}

void hip_add_allocation(struct hip_allocation allocation)
{
    grow_list(map.list, map.count + 1, map.capacity, HIP_LIBRARY);
    size_t index = count_below(allocation.address);
    memmove(&map.list[index + 1], &map.list[index], (map.count - index) * sizeof *map.list);
    map.list[index] = allocation;
    map.list[index].number = ++map.last_number;
    map.list[index].origin = hip_origin_here();
    map.count++;
    if (is_host_memory(&allocation))
        count_unmapped(&allocation);
}

void hip_add_context_allocation(struct hip_allocation allocation)
{
    grow_list(map.context_list, map.context_count + 1, map.context_capacity, HIP_LIBRARY);
    allocation.number = ++map.last_number;
    allocation.origin = hip_origin_here();
    map.context_list[map.context_count++] = allocation;
}

void hip_each_allocation(void (*visit)(const struct hip_allocation *allocation))
{
    for (size_t i = 0; i < map.count; i++)
        visit(&map.list[i]);
    for (size_t i = 0; i < map.context_count; i++)
        visit(&map.context_list[i]);
}

void hip_remove_allocation(const struct hip_allocation *allocation)
{
    hip_remember_free(allocation);
    if (map.context_count > 0 && allocation >= map.context_list
        && allocation < map.context_list + map.context_count) {
        map.context_list[allocation - map.context_list] = map.context_list[--map.context_count];
        return;
    }
    size_t index = (size_t)(allocation - map.list);
    map.wanted_count -= allocation->is_wanted;
    map.unmapped_count -= is_host_memory(allocation) && !allocation->mapped_number;
    map.count--;
    memmove(&map.list[index], &map.list[index + 1], (map.count - index) * sizeof *map.list);
}

const struct hip_allocation *hip_last_allocation_of(int device)
{
    for (size_t i = map.context_count; i-- > 0;)
        if (map.context_list[i].device == device)
            return &map.context_list[i];
    for (size_t i = map.count; i-- > 0;) {
        const struct hip_allocation *entry = &map.list[i];
        if (entry->device == device && hip_is_device_address(entry->address))
            return entry;
    }
    return NULL;
}
