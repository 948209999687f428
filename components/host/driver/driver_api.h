/* The interface of the driver component for front ends (HIP and others): a table of functions that
 * the platform's shared object hands out (heddle_platform.driver()). The front end is compiled once
 * for all platforms and knows only this file and driver_calls.def, where each call is described.
 *
 * Threads: calls may come from any host thread; the driver serialises them with one lock. Calls
 * that wait run the engine in the calling thread; the engine is never entered twice at once.
 *
 * Addresses: device addresses are virtual, inside the reservation given by set_window(). Sizes in
 * bytes. Copies read host memory when they are executed, not when they are enqueued.
 *
 * Errors are enum driver_status; error_text() explains the last one of this thread in words (what,
 * where, fix). An error ends one of three things:
 *   the call        it is refused: DRIVER_OUT_OF_MEMORY to DRIVER_TOO_LARGE
 *   the simulation  the device is lost, and later calls fail alike: DRIVER_FAULT to DRIVER_LIMIT
 *   the process     the platform's description or an option cannot be met: a message on stderr
 *                   says which, and the call does not return
 */
#ifndef HEDDLE_COMPONENTS_HOST_DRIVER_DRIVER_API_H
#define HEDDLE_COMPONENTS_HOST_DRIVER_DRIVER_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "components/protocols/host_call/program_call.h"

#define DRIVER_API_VERSION 27

/* Device addresses of programs in C, and of devices that call the driver on behalf of a program
 * that ran elsewhere, so that addresses in recorded data are right: 1 TiB where neither apertures
 * of local memory nor host memory on the map of a platform are. */
#define DRIVER_WINDOW       ((uint64_t)0x200000000000)
#define DRIVER_WINDOW_BYTES ((uint64_t)1 << 40)

enum driver_status {
    DRIVER_OK,
    DRIVER_NOT_READY, /* queries only */
    DRIVER_OUT_OF_MEMORY,
    DRIVER_INVALID_DEVICE,
    DRIVER_INVALID_ADDRESS, /* not, or no longer, an allocation; or the range leaves it */
    DRIVER_INVALID_VALUE,
    DRIVER_TOO_LARGE, /* launch: work-group or LDS beyond what a compute unit has */
    DRIVER_FAULT,     /* the kernel did something wrong; the device is lost, the text says where */
    /* The simulation was ended; the report was printed. The device is lost. */
    DRIVER_DEADLOCK,
    DRIVER_STALL,
    DRIVER_LIMIT /* --max-cycles, --max-instructions */
};

struct driver_device_info {
    char name[64]; /* "r9nano gpu" */
    char isa[16];  /* "gfx803"; "sm_80" of one that executes PTX: driver_executes_ptx() */
    uint64_t memory_bytes;
    uint64_t clock_hz;
    uint32_t compute_units;
    uint32_t simds_per_cu;
    uint32_t wavefronts_per_simd;
    uint32_t vgprs_per_simd; /* registers of 64 lanes */
    uint32_t sgprs_per_simd;
    uint32_t lds_bytes_per_cu;
    uint32_t work_groups_per_cu;
    uint32_t max_work_group; /* work-items */
    uint64_t l2_bytes;
    uint64_t memory_bandwidth_bytes_per_s;
    uint32_t page_bytes;
    bool has_fabric;    /* an RDMA engine that joins it to other GPUs */
    bool shares_memory; /* with the host */
    bool pages_move;    /* managed memory goes to the GPUs that use it */
    bool reaches_host;  /* memory of the host, DRIVER_PLACE_HOST */
    uint32_t dma_engines;
    uint32_t lanes;                    /* work-items of a wavefront: 64, or 32 */
    uint32_t registers_per_cu;         /* those of 32 bits for one lane; where they are one file */
    uint32_t lds_bytes_per_work_group; /* at most */
    uint32_t lds_bytes_unasked;        /* those that a program gets without asking for more */
    uint32_t lds_bytes_reserved;       /* those of each work-group that the system takes */
    uint32_t process;                  /* as in struct driver_page */
};

/* True if the device executes PTX. Its compute units are streaming multiprocessors then, wavefronts
 * are warps and LDS is shared memory. Code is registered by register_ptx(). */
static inline bool driver_executes_ptx(const struct driver_device_info *info)
{
    return info->isa[0] == 's' && info->isa[1] == 'm' && info->isa[2] == '_';
}

/* Compute capability of a device that executes PTX: 80 of "sm_80". */
static inline uint32_t driver_capability(const struct driver_device_info *info)
{
    return (uint32_t)strtoul(info->isa + sizeof "sm_" - 1, NULL, 10);
}

/* A kernel in a registered PTX module. */
struct driver_ptx_kernel {
    uint32_t registers;      /* registers of a thread, after allocation by live ranges */
    uint32_t shared_bytes;   /* static */
    uint32_t local_bytes;    /* local memory of a thread */
    uint32_t constant_bytes; /* constants of the whole module */
    uint32_t parameter_bytes;
    uint32_t max_threads; /* limit of a block, set by the kernel or the device */
    uint32_t sm;          /* .target: 80 */
    uint32_t ptx_version; /* .version: 85 for 8.5 */
};

/* The scope in which a launch makes memory consistent before it begins and after it ends. */
enum driver_scope {
    DRIVER_SCOPE_DEFAULT, /* as the driver's parameters say */
    DRIVER_SCOPE_NONE,
    DRIVER_SCOPE_AGENT,
    DRIVER_SCOPE_SYSTEM
};

/* The fault of a kernel in PTX that ended the run. */
enum driver_ptx_fault {
    DRIVER_PTX_FAULT_NONE,
    DRIVER_PTX_ADDRESS,
    DRIVER_PTX_MISALIGNED,
    DRIVER_PTX_TRAP,
    DRIVER_PTX_ASSERT,
    DRIVER_PTX_STACK,
    DRIVER_PTX_INSTRUCTION
};

/* All of a kernel launch that the hardware needs. */
struct driver_launch {
    const char *name;   /* for people, in statistics and reports; copied */
    const char *symbol; /* its name in the code object, for statistics; copied */
    uint64_t entry;     /* device address of the first instruction */
    /* Where the device executes PTX, `descriptor`, `kernel_object` and `private_bytes` are 0,
     * `grid` counts threads as elsewhere (a multiple of `block`), `kernarg` has the parameters as
     * the ABI of PTX lays them out, and `group_bytes` is static and dynamic shared memory together.
     */
    uint8_t
        descriptor[64]; /* amdhsa kernel descriptor (for code objects v2 the front end makes one) */
    uint64_t
        kernel_object; /* device address of the descriptor, for the dispatch packet; 0: unknown */
    uint32_t grid[3];  /* work-items */
    uint16_t block[3];
    uint16_t cluster;       /* aql_of_cluster(), where PTX is launched so; else 0 */
    uint32_t group_bytes;   /* static + dynamic LDS */
    uint32_t private_bytes; /* scratch a work-item */
    const void *kernarg;    /* copied at once */
    uint32_t kernarg_bytes;
    uint32_t kernarg_align;
    uint64_t kernarg_address; /* in device memory, where they are; 0: `kernarg` is copied */
    uint8_t acquire, release; /* enum driver_scope */
};

/* The places where the pages of an allocation lie. */
enum driver_place {
    DRIVER_PLACE_DEVICE,
    DRIVER_PLACE_MANAGED, /* as those of allocate_unified() */
    DRIVER_PLACE_HOST     /* in memory of the host, which all GPUs reach over their links */
};

struct driver_allocation {
    uint64_t address;
    uint64_t size;
};

/* A kernel's fault in a process whose faults are contained. */
struct driver_fault {
    uint32_t gpu;
    bool by_access;
    uint64_t address; /* address of the access */
    char text[512];   /* the mistake and its place */
};

/* A kernel is executed without timing, and its wavefronts wait: for each other, or for the host.
 * read() and write() access device memory at once. False: the range is not in one allocation. They
 * may be called until the attendant returns; no other function of the driver may be. */
struct driver_attention {
    uint32_t gpu;
    bool (*read)(uint64_t address, void *bytes, uint64_t size);
    bool (*write)(uint64_t address, const void *bytes, uint64_t size);
};

/* Programs in other processes than the driver's. What write() and read() are given as the host's
 * pointers are addresses in the program that has `device`, the one of the queue, and these move the
 * bytes, in any thread of the simulation. They are lost where the program has no such memory. */
struct driver_programs {
    void (*take)(uint32_t device, void *to, const void *from, size_t size);
    void (*give)(uint32_t device, void *to, const void *from, size_t size);
};

struct driver_queue_api; /* user_queue_api.h */

/* Calls of an API that make commands in a queue. */
enum driver_stream_call {
    DRIVER_STREAM_COPY, /* copy that the program waits for */
    DRIVER_STREAM_COPY_ASYNC,
    DRIVER_STREAM_FILL,
    DRIVER_STREAM_LAUNCH,
    DRIVER_STREAM_EVENT_RECORD,
    DRIVER_STREAM_WAIT_EVENT
};

/* Duties that the driver's stream rules leave to the front end. */
enum driver_stream_flags {
    DRIVER_STREAMS_FRONT_END = 1,    /* all order between queues, by wait_for(); call_begin() and
                                        call_end() need not be called */
    DRIVER_STREAMS_FILL_WAITS = 2,   /* the program waits for fills that are not asynchronous */
    DRIVER_STREAMS_COPY_RETURNS = 4, /* not for copies inside of a device: they are queued */
    DRIVER_STREAMS_TELL_CALLS = 8    /* see enter_call() */
};

/* A program's advice about pages: of managed ones, to GPUs that wait for pages which lie
 * elsewhere; and the type of their memory (mem_types.h), which managed ones are fine-grained
 * without. */
enum driver_advice {
    DRIVER_ADVICE_REMOTE,      /* GPUs do not wait for them: they access them where they are */
    DRIVER_ADVICE_READ_MOSTLY, /* a GPU gets a copy for reading */
    DRIVER_ADVICE_FINE,
    DRIVER_ADVICE_UNCACHED
};

#define DRIVER_HOST_DEVICE UINT32_MAX

/* The place of a page. */
struct driver_page {
    uint64_t physical; /* address of its first byte */
    uint32_t device;   /* GPU; DRIVER_HOST_DEVICE: in the host's memory */
    uint32_t process;
    bool unified; /* may be moved */
};

enum driver_queue_flags {
    /* The queue has copies only, which kernels wait for: also when some kernels are executed
     * without timing, the others run beside them. */
    DRIVER_QUEUE_ATTENDS = 1,
    /* The queue is a ring of packets: signals in memory order its packets and those of other
     * queues, and --check takes the packets for ordered. */
    DRIVER_QUEUE_SIGNALLED = 2
};

struct driver_api {
    uint32_t version;
    const struct driver_queue_api *user_queues; /* queues that the program writes itself */
#define DRIVER_CALL(name, form, parameters, arguments) enum driver_status(*name) parameters;
#define DRIVER_FUNCTION(type, name, form, parameters)  type(*name) parameters;
#include "driver_calls.def"
};

#endif
