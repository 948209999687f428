/* The kernel dispatch packet of the HSA architecture (HSA Platform System Architecture 1.2,
 * section 2.9.5), payload of command.launch. Kernels read it through their dispatch pointer. Four
 * fields that the hardware of this toolkit does not need for their purpose carry what a real queue
 * holds elsewhere; in the copy that kernels see they are as HSA says. */
#ifndef HEDDLE_COMPONENTS_PROTOCOLS_COMMAND_AQL_PACKET_H
#define HEDDLE_COMPONENTS_PROTOCOLS_COMMAND_AQL_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/number.h"

struct aql_packet {
    uint16_t header;
    uint16_t setup;         /* number of dimensions. Command only: AQL_MEETS, aql_cluster() */
    uint16_t work_group[3]; /* work-items */
    uint16_t gpu;           /* reserved in HSA. Command only: number of the GPU, for statistics */
    uint32_t grid[3];       /* work-items */
    uint32_t private_bytes; /* a work-item */
    uint32_t group_bytes;   /* a work-group */
    /* Command only: the first work-group to be run, and how many, in its halves. */
    uint64_t kernel_object;
    uint64_t kernarg; /* virtual address */
    /* Reserved in HSA. Command: virtual address of the pool of private memory, 0: none. In a user
     * queue: of the copy of the packet that the kernel is to see, with a queue object after it
     * (WORK_QUEUE_OFFSET); 0: it sees the one in the queue. */
    uint64_t scratch;
    /* Completion signal in HSA. Command only: aql_set_scratch(), aql_set_launch(). */
    uint64_t scratch_groups;
};
_Static_assert(sizeof(struct aql_packet) == 64, "a packet has 64 bytes");

/* Bits 9..10 and 11..12 of a header: how far memory is to be consistent before and after (HSA
 * Platform System Architecture 1.2, section 2.9.1). */
enum { AQL_ACQUIRE_SHIFT = 9, AQL_RELEASE_SHIFT = 11 };
enum aql_scope { AQL_SCOPE_NONE = 0, AQL_SCOPE_AGENT = 1, AQL_SCOPE_SYSTEM = 2 };

static inline unsigned aql_scope(uint16_t header, unsigned shift)
{
    return header >> shift & 3;
}

static inline uint16_t aql_scopes(unsigned acquire, unsigned release)
{
    return (uint16_t)(acquire << AQL_ACQUIRE_SHIFT | release << AQL_RELEASE_SHIFT);
}

/* Makes a command run work-groups first .. first + count - 1, in the order x, y, z; count 0: all of
 * them. */
static inline void aql_set_groups(struct aql_packet *packet, uint32_t first, uint32_t count)
{
    packet->kernel_object = first | (uint64_t)count << 32;
}

static inline uint32_t aql_first_group(const struct aql_packet *packet)
{
    return (uint32_t)packet->kernel_object;
}

static inline uint32_t aql_groups(const struct aql_packet *packet)
{
    return (uint32_t)(packet->kernel_object >> 32);
}

/* Gives a command its scratch: the pool has room for `groups` work-groups. The queue object is
 * `lines` times 64 bytes after the packet; 0: there is none. */
static inline void aql_set_scratch(struct aql_packet *packet, uint64_t address, uint32_t groups,
                                   uint32_t lines)
{
    packet->scratch = address;
    packet->scratch_groups = groups | (uint64_t)lines << 32;
}

static inline uint32_t aql_scratch_groups(const struct aql_packet *packet)
{
    return (uint32_t)packet->scratch_groups;
}

/* Bits of a command's setup for a launch in clusters of blocks (PTX): their size in each direction,
 * less 1, and whether there is one. */
#define AQL_IN_CLUSTERS ((uint16_t)(1 << 2))

static inline uint16_t aql_of_cluster(const uint32_t size[3])
{
    uint32_t bits = (size[0] - 1) | (size[1] - 1) << 4 | (size[2] - 1) << 8;
    return (uint16_t)(AQL_IN_CLUSTERS | bits << 3);
}

/* The cluster's size in direction `i`; 0: the launch does not say. */
static inline uint32_t aql_cluster(const struct aql_packet *packet, unsigned i)
{
    return packet->setup & AQL_IN_CLUSTERS ? (packet->setup >> (3 + 4 * i) & 15u) + 1 : 0;
}

/* A bit in the setup of a command: its work-groups meet at resource 0 of the global wave sync,
 * whose counter is set for all of them when the launch begins (components/amd/execute/wave_sync.h).
 */
#define AQL_MEETS ((uint16_t)(1 << 15))

static inline bool aql_meets(const struct aql_packet *packet)
{
    return (packet->setup & AQL_MEETS) != 0;
}

/* Work-groups of the whole grid, whatever part of it is to be run. */
static inline uint64_t aql_all_groups(const struct aql_packet *packet)
{
    uint64_t groups = 1;
    for (unsigned i = 0; i < 3; i++)
        groups *= divide_up_ulong(packet->grid[i], packet->work_group[i]);
    return groups;
}

/* Bits of a command without a queue object, set after its scratch: it has the number of the launch
 * (0: the number does not matter), and only its memory instructions take time. */
#define AQL_HAS_LAUNCH  ((uint64_t)1 << 63)
#define AQL_MEMORY_ONLY ((uint64_t)1 << 62)
#define AQL_LAUNCH_MAX  ((uint32_t)INT32_MAX >> 2)

static inline void aql_set_launch(struct aql_packet *packet, uint32_t launch, bool memory_only)
{
    packet->scratch_groups = (uint32_t)packet->scratch_groups
                             | (uint64_t)(launch & AQL_LAUNCH_MAX) << 32 | AQL_HAS_LAUNCH
                             | (memory_only ? AQL_MEMORY_ONLY : 0);
}

static inline uint32_t aql_launch(const struct aql_packet *packet)
{
    return packet->scratch_groups & AQL_HAS_LAUNCH
               ? (uint32_t)(packet->scratch_groups >> 32) & AQL_LAUNCH_MAX
               : 0;
}

static inline bool aql_memory_only(const struct aql_packet *packet)
{
    return packet->scratch_groups & AQL_HAS_LAUNCH && packet->scratch_groups & AQL_MEMORY_ONLY;
}

static inline uint32_t aql_queue_lines(const struct aql_packet *packet)
{
    return packet->scratch_groups & AQL_HAS_LAUNCH ? 0 : (uint32_t)(packet->scratch_groups >> 32);
}

/* The kernel descriptor of code objects v3 and later (LLVM, "User Guide for AMDGPU Backend", Kernel
 * Descriptor). */
struct aql_descriptor {
    uint32_t group_bytes, private_bytes, kernarg_bytes, reserved0;
    int64_t entry_offset;
    /* Reserved there, and 0. The driver's own descriptors, for packets in user queues: the
     * work-groups to be run (`groups` 0: all), and the kernel's number, counted from 1. */
    uint32_t first_group, groups, kernel;
    uint32_t preload_low, preload_high; /* reserved, too. Command only: aql_preload.h */
    uint32_t rsrc3, rsrc1, rsrc2;
    uint16_t properties, preload;
    uint32_t preload_page; /* reserved. Command only */
};
_Static_assert(sizeof(struct aql_descriptor) == 64, "a descriptor has 64 bytes");

/* Private memory of a wavefront of 64: areas begin at multiples of 1 KiB, the granularity of
 * COMPUTE_TMPRING_SIZE. */
static inline uint64_t aql_scratch_bytes(uint32_t private_bytes)
{
    return round_up_ulong((uint64_t)private_bytes * 64, 1024);
}

#endif
