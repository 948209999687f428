/* What the simulated program owns: its allocations of device memory and the names of its kernels.
 *
 * A store: written by the driver, in host calls between edges; read by compute units (bounds
 * checks, reports) and the command processors (names in statistics). Invariant: allocations are
 * sorted by address and do not overlap, so that one binary search answers for an address; `version`
 * changes whenever one is added or removed, so that readers may keep the last answer. Everything is
 * in place: the struct may be written out and loaded elsewhere. */
#ifndef HEDDLE_PROGRAM_TABLE_H
#define HEDDLE_PROGRAM_TABLE_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    PROGRAM_ALLOCATIONS = 1 << 16,
    PROGRAM_KERNELS = 1 << 14,
    PROGRAM_NAME_BYTES = 4 << 20,
    PROGRAM_GPUS = 64,
    PROGRAM_INSTANCES = 1 << 16
};

/* Buffers and code are the program's own; the others are the driver's. */
enum program_use { PROGRAM_BUFFER, PROGRAM_CODE, PROGRAM_ARGUMENTS, PROGRAM_SCRATCH };

struct program_allocation {
    uint64_t start;  /* virtual */
    uint64_t end;    /* first byte behind what was asked for, not behind the last page */
    uint32_t device; /* the first, when its pages are spread over several or have moved */
    uint32_t use;    /* enum program_use */
    uint32_t pid;    /* process; addresses of different processes do not overlap */
    uint32_t open;   /* to all GPUs: unified and managed memory */
};

struct program_table {
    uint32_t version;
    uint32_t allocation_count;
    uint32_t kernel_count;
    uint32_t name_bytes;
    uint32_t opened;              /* some allocation is or was open */
    uint64_t reach[PROGRAM_GPUS]; /* bit j of i: kernels on GPU i may access memory of GPU j */
    uint64_t memory_base[PROGRAM_GPUS], memory_size[PROGRAM_GPUS]; /* physical */
    uint8_t gpu_of[PROGRAM_INSTANCES]; /* the GPU that a component belongs to, by its number in the
                                          platform */
    struct program_allocation allocation[PROGRAM_ALLOCATIONS];
    uint32_t object_count;
    uint32_t
        object_kernel[PROGRAM_KERNELS]; /* of the descriptor at the address of the same index */
    uint64_t object[PROGRAM_KERNELS];
    uint32_t
        kernel_name[PROGRAM_KERNELS]; /* offsets in names, of a name and behind it its symbol */
    char names[PROGRAM_NAME_BYTES];
};

/* Number of allocations that start at or before `address`. */
static inline uint32_t program_rank(const struct program_table *table, uint64_t address)
{
    uint32_t low = 0, high = table->allocation_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (table->allocation[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The allocation that holds `address`, or NULL. */
static inline const struct program_allocation *program_find(const struct program_table *table,
                                                            uint64_t address)
{
    uint32_t rank = program_rank(table, address);
    if (!rank || address >= table->allocation[rank - 1].end)
        return NULL;
    return &table->allocation[rank - 1];
}

/* The last allocation that begins before `end`, if it reaches beyond `start`; or NULL. */
static inline const struct program_allocation *program_overlap(const struct program_table *table,
                                                               uint64_t start, uint64_t end)
{
    uint32_t rank = program_rank(table, end - 1);
    return rank && table->allocation[rank - 1].end > start ? &table->allocation[rank - 1] : NULL;
}

/* May kernels on the GPU access the allocation? The own memory, open one, and that of peers whose
 * access is enabled. */
static inline bool program_reaches(const struct program_table *table, uint32_t gpu,
                                   const struct program_allocation *a)
{
    return a->open || a->device == gpu || (table->reach[gpu % PROGRAM_GPUS] >> a->device & 1);
}

/* Has the platform several GPUs? */
static inline bool program_has_peers(const struct program_table *table)
{
    return table->memory_size[1] != 0;
}

/* The GPU of the compute unit that is instance `leaf` of the platform. */
static inline uint32_t program_gpu_of(const struct program_table *table, uint32_t leaf)
{
    return leaf < PROGRAM_INSTANCES ? table->gpu_of[leaf] : 0;
}

/* Kernels on `gpu` may, or may not, access memory of `peer`. */
static inline void program_set_reach(struct program_table *table, uint32_t gpu, uint32_t peer,
                                     bool on)
{
    uint64_t bit = (uint64_t)1 << peer;
    table->reach[gpu] = on ? table->reach[gpu] | bit : table->reach[gpu] & ~bit;
    table->version++;
}

/* Every GPU may access the allocation that holds `address`. */
static inline void program_open(struct program_table *table, uint64_t address)
{
    uint32_t rank = program_rank(table, address);
    if (!rank || address >= table->allocation[rank - 1].end)
        return;
    table->allocation[rank - 1].open = true;
    table->opened = true;
    table->version++;
}

/* Says what the allocation that holds `address`, if there is one, is for. */
static inline void program_set_use(struct program_table *table, uint64_t address,
                                   enum program_use use)
{
    uint32_t rank = program_rank(table, address);
    if (rank && address < table->allocation[rank - 1].end)
        table->allocation[rank - 1].use = use;
}

/* False when the table is full; the range must be free. */
static inline bool program_add(struct program_table *table, const struct program_allocation *added)
{
    uint32_t rank = program_rank(table, added->start);
    if (table->allocation_count == PROGRAM_ALLOCATIONS)
        return false;
    memmove(&table->allocation[rank + 1], &table->allocation[rank],
            (table->allocation_count - rank) * sizeof table->allocation[0]);
    table->allocation[rank] = *added;
    table->allocation_count++;
    table->version++;
    return true;
}

/* Removes the allocation that starts at `start`; false: there is none. */
static inline bool program_remove(struct program_table *table, uint64_t start)
{
    uint32_t rank = program_rank(table, start);
    if (!rank || table->allocation[rank - 1].start != start)
        return false;
    memmove(&table->allocation[rank - 1], &table->allocation[rank],
            (table->allocation_count - rank) * sizeof table->allocation[0]);
    table->allocation_count--;
    table->version++;
    return true;
}

/* What people call a kernel, and what its code object does. */
static inline const char *program_kernel_name(const struct program_table *table, uint32_t kernel)
{
    return kernel < table->kernel_count ? table->names + table->kernel_name[kernel] : "?";
}

static inline const char *program_kernel_symbol(const struct program_table *table, uint32_t kernel)
{
    const char *name = program_kernel_name(table, kernel);
    return kernel < table->kernel_count ? name + strlen(name) + 1 : name;
}

/* Number of the kernel of that name and symbol, added when it is new; kernels beyond the limits
 * share number 0. */
static inline uint32_t program_kernel(struct program_table *table, const char *name,
                                      const char *symbol)
{
    size_t name_bytes = strlen(name) + 1, symbol_bytes = strlen(symbol) + 1;
    for (uint32_t i = 0; i < table->kernel_count; i++) {
        if (strcmp(program_kernel_symbol(table, i), symbol) == 0
            && strcmp(program_kernel_name(table, i), name) == 0)
            return i;
    }
    if (table->kernel_count == PROGRAM_KERNELS
        || name_bytes + symbol_bytes > PROGRAM_NAME_BYTES - table->name_bytes)
        return 0;
    table->kernel_name[table->kernel_count] = table->name_bytes;
    memcpy(table->names + table->name_bytes, name, name_bytes);
    memcpy(table->names + table->name_bytes + name_bytes, symbol, symbol_bytes);
    table->name_bytes += (uint32_t)(name_bytes + symbol_bytes);
    return table->kernel_count++;
}

/* Number of the kernel whose descriptor stands at `object`; PROGRAM_KERNELS: nobody told. */
static inline uint32_t program_kernel_of(const struct program_table *table, uint64_t object)
{
    uint32_t i = 0;
    while (i < table->object_count && table->object[i] != object)
        i++;
    return i < table->object_count ? table->object_kernel[i] : PROGRAM_KERNELS;
}

/* The kernel whose descriptor stands at `object` is that number; the first that are told are kept.
 */
static inline void program_set_object(struct program_table *table, uint64_t object, uint32_t kernel)
{
    uint32_t i = 0;
    while (i < table->object_count && table->object[i] != object)
        i++;
    if (i == PROGRAM_KERNELS)
        return;
    table->object[i] = object;
    table->object_kernel[i] = kernel;
    table->object_count += i == table->object_count;
}

/* Says in words where `address` lies relative to the program's own allocations: "12 bytes behind
 * the end of the allocation of 4096 bytes at 0x...". */
static inline void program_describe(const struct program_table *table, uint64_t address, char *text,
                                    size_t size)
{
    uint32_t rank = program_rank(table, address), low = rank, high = rank;
    while (low && table->allocation[low - 1].use != PROGRAM_BUFFER)
        low--;
    while (high < table->allocation_count && table->allocation[high].use != PROGRAM_BUFFER)
        high++;
    const struct program_allocation *before = low ? &table->allocation[low - 1] : NULL;
    const struct program_allocation *after =
        high < table->allocation_count ? &table->allocation[high] : NULL;
    if (before && after && after->start - address < address - before->end)
        before = NULL;
    if (before && address < before->end)
        snprintf(text, size,
                 "%" PRIu64 " bytes into the allocation of %" PRIu64 " bytes at 0x%" PRIx64,
                 address - before->start, before->end - before->start, before->start);
    else if (before)
        snprintf(text, size,
                 "%" PRIu64 " bytes behind the end of the allocation of %" PRIu64
                 " bytes at 0x%" PRIx64,
                 address - before->end, before->end - before->start, before->start);
    else if (after)
        snprintf(text, size,
                 "%" PRIu64 " bytes before the allocation of %" PRIu64 " bytes at 0x%" PRIx64,
                 after->start - address, after->end - after->start, after->start);
    else
        snprintf(text, size, "nothing is allocated");
}

#endif
