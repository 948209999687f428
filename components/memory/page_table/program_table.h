/* The table of the simulated program: its allocations of device memory and the names of its
 * kernels.
 *
 * A store: written by the driver, in host calls between edges; read by compute units (bounds
 * checks, reports) and the command processors (names in statistics). Invariant: allocations are
 * sorted by address and do not overlap, so that one binary search answers for an address; `version`
 * changes whenever one is added or removed, so that readers may keep the last answer. Everything is
 * in place: the struct may be written out and loaded elsewhere. */
#ifndef HEDDLE_COMPONENTS_MEMORY_PAGE_TABLE_PROGRAM_TABLE_H
#define HEDDLE_COMPONENTS_MEMORY_PAGE_TABLE_PROGRAM_TABLE_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "gpu_set.h"
#include "page_table.h"

enum {
    PROGRAM_ALLOCATIONS_MAX = 1 << 16,
    PROGRAM_KERNELS_MAX = 1 << 14,
    PROGRAM_NAME_BYTES_MAX = 4 << 20,
    PROGRAM_FREED = 1024, /* allocations that were freed, remembered for reports */
    PROGRAM_GPUS = GPU_SET_MAX,
    PROGRAM_INSTANCES_MAX = 1 << 16
};

/* Buffers and code are the program's own; the others are the driver's. */
enum program_use { PROGRAM_BUFFER, PROGRAM_CODE, PROGRAM_ARGUMENTS, PROGRAM_SCRATCH };

struct program_allocation {
    uint64_t start;    /* virtual, or a name: page_table_name() */
    uint64_t end;      /* first byte after the bytes asked for, not after the last page */
    uint32_t device;   /* the first, when its pages are spread over several or have moved */
    uint32_t use;      /* enum program_use */
    uint32_t pid;      /* process; names of different processes do not overlap */
    uint32_t open;     /* to all GPUs: unified and managed memory */
    uint32_t number;   /* from 1, among the program's own */
    uint32_t in_block; /* its pages are a part of a block (memory_manager.h) */
    uint64_t barred;   /* a bit for each GPU below 64 that may not access it */
};

struct program_freed {
    uint64_t start, end;
    uint64_t number; /* the allocation's number */
};

struct program_table {
    uint32_t version;
    uint32_t allocation_count;
    uint32_t page_bytes;       /* 0: not said */
    uint32_t allocated, freed; /* buffers of the program, so far */
    uint32_t kernel_count;
    uint32_t name_bytes;
    uint32_t opened; /* some allocation is or was open */
    uint32_t named;  /* allocations at an address that another process uses, too */
    uint64_t memory_base[PROGRAM_GPUS], memory_size[PROGRAM_GPUS]; /* physical */
    uint64_t contained[PAGE_TABLE_PIDS / 64]; /* processes whose faults end only themselves */
    uint64_t killed[PAGE_TABLE_PIDS / 64];    /* processes whose wavefronts are to end */
    uint32_t killed_count;                    /* number of bits in `killed` */
    struct gpu_set reach[PROGRAM_GPUS];       /* GPUs whose memory kernels on GPU i may access */
    /* The GPU that a component belongs to, by its number in the platform. */
    uint16_t gpu_of[PROGRAM_INSTANCES_MAX];
    struct program_allocation allocation[PROGRAM_ALLOCATIONS_MAX];
    struct program_freed freed_buffer[PROGRAM_FREED]; /* the n-th at n modulo their number */
    uint32_t object_count;
    /* Number of the kernel whose descriptor is at the address of the same index. */
    uint32_t object_kernel[PROGRAM_KERNELS_MAX];
    uint64_t object[PROGRAM_KERNELS_MAX];
    /* Offsets in names, of a name and after it its symbol. */
    uint32_t kernel_name[PROGRAM_KERNELS_MAX];
    char names[PROGRAM_NAME_BYTES_MAX];
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

/* By what the tables know `address` of a process: its own name for it, or the address itself. */
static inline uint64_t program_name(const struct program_table *table, uint32_t pid,
                                    uint64_t address)
{
    uint64_t name = page_table_name(pid, page_table_address(address));
    return table->named && program_find(table, name) ? name : address;
}

/* Finds the allocation of `address` in a process: the process' own allocation there, or another
 * process' allocation, which this process cannot access. */
static inline const struct program_allocation *program_find_in(const struct program_table *table,
                                                               uint32_t pid, uint64_t address)
{
    return program_find(table, program_name(table, pid, address));
}

/* The last allocation that begins before `end`, if it reaches beyond `start`; or NULL. */
const struct program_allocation *program_overlap(const struct program_table *table, uint64_t start,
                                                 uint64_t end);

/* True if kernels on the GPU may access the allocation. It may lie in memory of the GPU itself, in
 * open memory, or in memory of a peer to which access is enabled, and the GPU must not be barred
 * from it. */
static inline bool program_reaches(const struct program_table *table, uint32_t gpu,
                                   const struct program_allocation *a)
{
    if (gpu < 64 && a->barred >> gpu & 1)
        return false;
    return a->open || a->device == gpu || gpu_set_has(&table->reach[gpu % PROGRAM_GPUS], a->device);
}

/* True if faults of the process leave others alone. */
static inline bool program_contains(const struct program_table *table, uint32_t pid)
{
    return table->contained[pid / 64 % (PAGE_TABLE_PIDS / 64)] >> pid % 64 & 1;
}

/* True if wavefronts of the process are to end. */
static inline bool program_is_killed(const struct program_table *table, uint32_t pid)
{
    return table->killed_count
           && (table->killed[pid / 64 % (PAGE_TABLE_PIDS / 64)] >> pid % 64 & 1);
}

/* True if the platform has several GPUs. */
static inline bool program_has_peers(const struct program_table *table)
{
    return table->memory_size[1] != 0;
}

/* The GPU of the compute unit that is instance `leaf` of the platform. */
static inline uint32_t program_gpu_of(const struct program_table *table, uint32_t leaf)
{
    return leaf < PROGRAM_INSTANCES_MAX ? table->gpu_of[leaf] : 0;
}

/* Kernels on `gpu` may, or may not, access memory of `peer`. */
void program_set_reach(struct program_table *table, uint32_t gpu, uint32_t peer, bool on);

/* Every GPU may access the allocation that holds `address`. */
void program_open(struct program_table *table, uint64_t address);

/* Faults of the process leave others alone, or do not. */
void program_contain(struct program_table *table, uint32_t pid, bool on);

/* These GPUs, a bit for each, may not access the allocation that holds `address`. */
void program_bar(struct program_table *table, uint64_t address, uint64_t gpus);

/* No GPU may access any memory of the process, whose wavefronts are to end, until
 * program_contain(table, pid, false). */
void program_kill(struct program_table *table, uint32_t pid);

/* Says what the allocation that holds `address`, if there is one, is for. */
void program_set_use(struct program_table *table, uint64_t address, enum program_use use);

/* False when the table is full; the range must be free. */
bool program_add_allocation(struct program_table *table, const struct program_allocation *added);

/* Removes the allocation that starts at `start`. False: there is none. */
bool program_remove_allocation(struct program_table *table, uint64_t start);

/* The name that people give a kernel, and the one in its code object. */
const char *program_kernel_name(const struct program_table *table, uint32_t kernel);
const char *program_kernel_symbol(const struct program_table *table, uint32_t kernel);

/* Number of the kernel of that name and symbol, added when it is new; PROGRAM_KERNELS_MAX: there is
 * no room for it. */
uint32_t program_kernel(struct program_table *table, const char *name, const char *symbol);

/* Number of the kernel whose descriptor is at `object`; PROGRAM_KERNELS_MAX: unknown. */
uint32_t program_kernel_of(const struct program_table *table, uint64_t object);

/* The kernel whose descriptor is at `object` is that number; the first that are told are kept.
 */
void program_set_object(struct program_table *table, uint64_t object, uint32_t kernel);

/* The last allocation that begins at or before `address`, or NULL. */
static inline const struct program_allocation *
program_find_before(const struct program_table *table, uint64_t address)
{
    uint32_t rank = program_rank(table, address);
    return rank ? &table->allocation[rank - 1] : NULL;
}

/* The buffer freed last that held `address`, if it is remembered, and the number of its free from
 * 1; NULL: there is none, or the address is in use again. */
const struct program_freed *program_find_freed(const struct program_table *table, uint64_t address,
                                               uint32_t *number);

/* Says in words where `address` lies relative to the program's own allocations: "12 bytes after
 * the end of the allocation of 4096 bytes at 0x...", in one that was freed, outside of wavefronts'
 * private memory, or far from all as pointers of the host are. */
void program_describe(const struct program_table *table, uint64_t address, char *text, size_t size);

#endif
