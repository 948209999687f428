/* Changes of the program table, kernels, and words for reports; see program_table.h. */
#include "program_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/engine/store_log.h"

#include "host_pointer.h"

/* All numbers in front of what GPUs may access. */
static void wrote_head(const struct program_table *table)
{
    store_wrote(table, offsetof(struct program_table, reach));
}

static void wrote_allocations(const struct program_table *table, uint32_t first)
{
    if (table->allocation_count > first)
        store_wrote(&table->allocation[first],
                    (table->allocation_count - first) * sizeof table->allocation[0]);
    wrote_head(table);
}

const struct program_allocation *program_overlap(const struct program_table *table, uint64_t start,
                                                 uint64_t end)
{
    uint32_t rank = program_rank(table, end - 1);
    return rank && table->allocation[rank - 1].end > start ? &table->allocation[rank - 1] : NULL;
}

void program_set_reach(struct program_table *table, uint32_t gpu, uint32_t peer, bool on)
{
    (on ? gpu_set_put : gpu_set_drop)(&table->reach[gpu], peer);
    store_wrote(&table->reach[gpu], sizeof table->reach[gpu]);
    table->version++;
    wrote_head(table);
}

void program_open(struct program_table *table, uint64_t address)
{
    uint32_t rank = program_rank(table, address);
    if (!rank || address >= table->allocation[rank - 1].end)
        return;
    table->allocation[rank - 1].open = true;
    table->opened = true;
    table->version++;
    store_wrote(&table->allocation[rank - 1], sizeof table->allocation[0]);
    wrote_head(table);
}

static void set_killed(struct program_table *table, uint32_t pid, bool on)
{
    uint64_t bit = (uint64_t)1 << pid % 64, *word = &table->killed[pid / 64];
    table->killed_count += (uint32_t)on - (uint32_t)((*word & bit) != 0);
    *word = on ? *word | bit : *word & ~bit;
}

void program_contain(struct program_table *table, uint32_t pid, bool on)
{
    uint64_t bit = (uint64_t)1 << pid % 64, *word = &table->contained[pid / 64];
    *word = on ? *word | bit : *word & ~bit;
    if (!on)
        set_killed(table, pid, false);
    wrote_head(table);
}

void program_bar(struct program_table *table, uint64_t address, uint64_t gpus)
{
    uint32_t rank = program_rank(table, address);
    if (!rank || address >= table->allocation[rank - 1].end)
        return;
    table->allocation[rank - 1].barred = gpus;
    table->version++;
    store_wrote(&table->allocation[rank - 1], sizeof table->allocation[0]);
    wrote_head(table);
}

void program_kill(struct program_table *table, uint32_t pid)
{
    for (uint32_t i = 0; i < table->allocation_count; i++) {
        struct program_allocation *a = &table->allocation[i];
        if (a->pid != pid)
            continue;
        a->barred = UINT64_MAX;
        store_wrote(a, sizeof *a);
    }
    set_killed(table, pid, true);
    table->version++;
    wrote_head(table);
}

void program_set_use(struct program_table *table, uint64_t address, enum program_use use)
{
    uint32_t rank = program_rank(table, address);
    if (rank && address < table->allocation[rank - 1].end)
        table->allocation[rank - 1].use = use;
    if (rank)
        store_wrote(&table->allocation[rank - 1], sizeof table->allocation[0]);
}

bool program_add_allocation(struct program_table *table, const struct program_allocation *added)
{
    uint32_t rank = program_rank(table, added->start);
    if (table->allocation_count == PROGRAM_ALLOCATIONS_MAX)
        return false;
    memmove(&table->allocation[rank + 1], &table->allocation[rank],
            (table->allocation_count - rank) * sizeof table->allocation[0]);
    table->allocation[rank] = *added;
    table->allocation[rank].number = added->use == PROGRAM_BUFFER ? ++table->allocated : 0;
    table->allocation_count++;
    table->named += page_table_is_name(added->start);
    table->version++;
    wrote_allocations(table, rank);
    return true;
}

bool program_remove_allocation(struct program_table *table, uint64_t start)
{
    uint32_t rank = program_rank(table, start);
    if (!rank || table->allocation[rank - 1].start != start)
        return false;
    const struct program_allocation *a = &table->allocation[rank - 1];
    if (a->use == PROGRAM_BUFFER)
        table->freed_buffer[++table->freed % PROGRAM_FREED] =
            (struct program_freed){.start = a->start, .end = a->end, .number = a->number};
    memmove(&table->allocation[rank - 1], &table->allocation[rank],
            (table->allocation_count - rank) * sizeof table->allocation[0]);
    table->allocation_count--;
    table->named -= page_table_is_name(start);
    table->version++;
    wrote_allocations(table, rank - 1);
    store_wrote(&table->freed_buffer[table->freed % PROGRAM_FREED], sizeof table->freed_buffer[0]);
    return true;
}

const char *program_kernel_name(const struct program_table *table, uint32_t kernel)
{
    return kernel < table->kernel_count ? table->names + table->kernel_name[kernel] : "?";
}

const char *program_kernel_symbol(const struct program_table *table, uint32_t kernel)
{
    const char *name = program_kernel_name(table, kernel);
    return kernel < table->kernel_count ? name + strlen(name) + 1 : name;
}

uint32_t program_kernel(struct program_table *table, const char *name, const char *symbol)
{
    size_t name_bytes = strlen(name) + 1, symbol_bytes = strlen(symbol) + 1;
    for (uint32_t i = 0; i < table->kernel_count; i++)
        if (strcmp(program_kernel_symbol(table, i), symbol) == 0
            && strcmp(program_kernel_name(table, i), name) == 0)
            return i;
    if (table->kernel_count == PROGRAM_KERNELS_MAX
        || name_bytes + symbol_bytes > PROGRAM_NAME_BYTES_MAX - table->name_bytes)
        return PROGRAM_KERNELS_MAX;
    table->kernel_name[table->kernel_count] = table->name_bytes;
    memcpy(table->names + table->name_bytes, name, name_bytes);
    memcpy(table->names + table->name_bytes + name_bytes, symbol, symbol_bytes);
    store_wrote(&table->kernel_name[table->kernel_count], sizeof table->kernel_name[0]);
    store_wrote(table->names + table->name_bytes, name_bytes + symbol_bytes);
    table->name_bytes += (uint32_t)(name_bytes + symbol_bytes);
    table->kernel_count++;
    wrote_head(table);
    return table->kernel_count - 1;
}

uint32_t program_kernel_of(const struct program_table *table, uint64_t object)
{
    uint32_t i = 0;
    while (i < table->object_count && table->object[i] != object)
        i++;
    return i < table->object_count ? table->object_kernel[i] : PROGRAM_KERNELS_MAX;
}

void program_set_object(struct program_table *table, uint64_t object, uint32_t kernel)
{
    uint32_t i = 0;
    while (i < table->object_count && table->object[i] != object)
        i++;
    if (i == PROGRAM_KERNELS_MAX)
        return;
    table->object[i] = object;
    table->object_kernel[i] = kernel;
    table->object_count += i == table->object_count;
    store_wrote(&table->object_count, sizeof table->object_count);
    store_wrote(&table->object[i], sizeof table->object[i]);
    store_wrote(&table->object_kernel[i], sizeof table->object_kernel[i]);
}

const struct program_freed *program_find_freed(const struct program_table *table, uint64_t address,
                                               uint32_t *number)
{
    if (program_find(table, address))
        return NULL;
    for (uint32_t i = 0; i < PROGRAM_FREED && i < table->freed; i++) {
        const struct program_freed *freed =
            &table->freed_buffer[(table->freed - i) % PROGRAM_FREED];
        *number = table->freed - i;
        if (address >= freed->start && address < freed->end)
            return freed;
    }
    return NULL;
}

#define FAR_BYTES (UINT64_C(1) << 40) /* no simulated memory is as large */

/* From the nearest byte of an allocation to an address. */
static uint64_t distance_to(const struct program_allocation *a, uint64_t address)
{
    return address < a->start ? a->start - address : address >= a->end ? address - a->end + 1 : 0;
}

/* The address is of no buffer, and nearer to private memory than to all buffers: a stack that is
 * larger than the compiler has said leaves it. */
static bool describe_stack(const struct program_table *table, uint64_t address, uint64_t nearest,
                           char *text, size_t size)
{
    uint32_t rank = program_rank(table, address);
    for (uint32_t i = rank ? rank - 1 : 0; i <= rank && i < table->allocation_count; i++) {
        const struct program_allocation *a = &table->allocation[i];
        if (a->use != PROGRAM_SCRATCH || distance_to(a, address) >= nearest
            || distance_to(a, address) >= FAR_BYTES)
            continue;
        snprintf(text, size,
                 "%" PRIu64 " bytes outside of the private memory of wavefronts: does a kernel "
                 "recurse, or need more stack than the compiler has counted?",
                 distance_to(a, address));
        return true;
    }
    return false;
}

static bool describe_freed(const struct program_table *table, uint64_t address, char *text,
                           size_t size)
{
    uint32_t number;
    const struct program_freed *freed = program_find_freed(table, address, &number);
    if (freed)
        snprintf(text, size,
                 "%" PRIu64 " bytes into allocation %" PRIu64 " of the program, %" PRIu64
                 " bytes at 0x%" PRIx64 ", which its free %" PRIu32 " gave back",
                 address - freed->start, freed->number, freed->end - freed->start, freed->start,
                 number);
    return freed != NULL;
}

/* `before` is NULL when `after` is nearer. Both are NULL: nothing is allocated. */
static void describe_near(const struct program_allocation *before,
                          const struct program_allocation *after, uint64_t address, char *text,
                          size_t size)
{
    if (before && address < before->end)
        snprintf(text, size,
                 "%" PRIu64 " bytes into the allocation of %" PRIu64 " bytes at 0x%" PRIx64,
                 address - before->start, before->end - before->start,
                 page_table_address(before->start));
    else if (before)
        snprintf(
            text, size,
            "%" PRIu64 " bytes behind the end of the allocation of %" PRIu64 " bytes at 0x%" PRIx64,
            address - before->end, before->end - before->start, page_table_address(before->start));
    else if (after)
        snprintf(text, size,
                 "%" PRIu64 " bytes before the allocation of %" PRIu64 " bytes at 0x%" PRIx64,
                 after->start - address, after->end - after->start,
                 page_table_address(after->start));
    else
        snprintf(text, size, "nothing is allocated");
}

void program_describe(const struct program_table *table, uint64_t address, char *text, size_t size)
{
    if (describe_freed(table, address, text, size))
        return;
    uint32_t rank = program_rank(table, address), low = rank, high = rank,
             end = table->allocation_count - (page_table_is_name(address) ? 0 : table->named);
    while (low && table->allocation[low - 1].use != PROGRAM_BUFFER)
        low--;
    while (high < end && table->allocation[high].use != PROGRAM_BUFFER)
        high++;
    const struct program_allocation *before = low ? &table->allocation[low - 1] : NULL;
    const struct program_allocation *after = high < end ? &table->allocation[high] : NULL;
    if (before && after && address >= before->end && after->start - address < address - before->end)
        before = NULL;
    const struct program_allocation *near = before ? before : after;
    uint64_t nearest = near ? distance_to(near, address) : UINT64_MAX;
    if (nearest > 0 && describe_stack(table, address, nearest, text, size))
        return;
    bool far = !near || nearest >= FAR_BYTES;
    if (far && host_pointer_describe(address, text, size))
        return;
    if (near && far)
        snprintf(text, size, "far from all allocations: is it a pointer of the host?");
    else
        describe_near(before, after, address, text, size);
}
