/* What a front end (HIP, later others) asks of the driver component: a table of functions that the
 * platform's shared object hands out (heddle_platform.driver()). The front end is compiled once for
 * all platforms and knows only this file.
 *
 * Threads: calls may come from any host thread; the driver serialises them with one lock. Calls
 * that wait run the engine in the calling thread; the engine is never entered twice at once.
 *
 * Addresses: device addresses are virtual, inside the reservation given by set_window(). Sizes in
 * bytes. Copies read host memory when they are executed, not when they are enqueued.
 *
 * Errors are enum driver_status; error_text() explains the last one of this thread in words (what,
 * where, fix).
 */
#ifndef HEDDLE_DRIVER_API_H
#define HEDDLE_DRIVER_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define DRIVER_API_VERSION 26

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
    uint32_t lanes;                    /* of a wavefront or warp: 64 or 32 */
    uint32_t registers_per_cu;         /* of 32 bits, of a lane each; where they are one file */
    uint32_t lds_bytes_per_work_group; /* at most */
    uint32_t lds_bytes_unasked;        /* of these, what a program gets without asking for more */
    uint32_t lds_bytes_reserved;       /* of each work-group, for the system */
    uint32_t process;                  /* as in struct driver_page */
};

/* Does the device execute PTX? Its compute units are streaming multiprocessors then, wavefronts are
 * warps and LDS is shared memory. Code is registered by register_ptx(). */
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
    uint32_t registers;      /* of a thread, after allocation by live ranges */
    uint32_t shared_bytes;   /* static */
    uint32_t local_bytes;    /* of a thread */
    uint32_t constant_bytes; /* of the module */
    uint32_t parameter_bytes;
    uint32_t max_threads; /* of a block, as the kernel or the device says */
    uint32_t sm;          /* .target: 80 */
    uint32_t ptx_version; /* .version: 85 for 8.5 */
};

/* What a launch makes consistent with others' memory, before it and behind it. */
enum driver_scope {
    DRIVER_SCOPE_DEFAULT, /* as the driver's parameters say */
    DRIVER_SCOPE_NONE,
    DRIVER_SCOPE_AGENT,
    DRIVER_SCOPE_SYSTEM
};

/* What a kernel in PTX did by which the run ended. */
enum driver_ptx_fault {
    DRIVER_PTX_NO_FAULT,
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
    const char *symbol; /* what the code object calls it, in statistics; copied */
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

/* Where the pages of an allocation lie. */
enum driver_place {
    DRIVER_PLACE_DEVICE,
    DRIVER_PLACE_MANAGED, /* as those of allocate_unified() */
    DRIVER_PLACE_HOST     /* in memory of the host, which all GPUs reach over their links */
};

struct driver_allocation {
    uint64_t address;
    uint64_t size;
};

/* What a kernel did wrong in a process whose faults are contained. */
struct driver_fault {
    uint32_t gpu;
    bool by_access;
    uint64_t address; /* of the access */
    char text[512];   /* what and where */
};

/* A kernel is executed without timing, and its wavefronts wait: for each other, or for the host.
 * read() and write() access device memory at once; false: the range is not in one allocation. They
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
    DRIVER_STREAM_COPY, /* that the program waits for */
    DRIVER_STREAM_COPY_ASYNC,
    DRIVER_STREAM_FILL,
    DRIVER_STREAM_LAUNCH,
    DRIVER_STREAM_EVENT_RECORD,
    DRIVER_STREAM_WAIT_EVENT
};

/* What the driver's stream rules leave to the front end. */
enum driver_stream_flags {
    DRIVER_STREAMS_FRONT_END = 1,    /* all order between queues, by wait_for(); call_begin() and
                                        call_end() need not be called */
    DRIVER_STREAMS_FILL_WAITS = 2,   /* the program waits for fills that are not asynchronous */
    DRIVER_STREAMS_COPY_RETURNS = 4, /* not for copies inside of a device: they are queued */
    DRIVER_STREAMS_TELL_CALLS = 8    /* see enter_call() */
};

/* What a program says about pages: of managed ones, to GPUs that wait for pages which lie
 * elsewhere; and the type of their memory (mem_types.h), which managed ones are fine-grained
 * without. */
enum driver_advice {
    DRIVER_ADVICE_REMOTE,      /* GPUs do not wait for them: they access them where they are */
    DRIVER_ADVICE_READ_MOSTLY, /* a GPU gets a copy for reading */
    DRIVER_ADVICE_FINE,
    DRIVER_ADVICE_UNCACHED
};

/* Mistakes in the calls of a program that is checked. */
enum driver_mistake {
    DRIVER_MISTAKE_LEAK,
    DRIVER_MISTAKE_FREED_TWICE,
    DRIVER_MISTAKE_FREED_WRONG, /* what was freed is not the start of an allocation */
    DRIVER_MISTAKE_USED_FREED,
    DRIVER_MISTAKE_CAPTURE_UNJOINED,
    DRIVER_MISTAKE_CAPTURE_OPEN
};

/* A call of the program. */
struct driver_call {
    const char *name;   /* "hipFree()" */
    const char *source; /* where it stands, if there are no lines of a source: "saxpy+0x1234" */
    uint64_t code;      /* where the program goes on behind it; 0: unknown, as the rest */
    const char *file;   /* of this code, loaded at `base` */
    uint64_t base;
};

#define DRIVER_HOST_DEVICE UINT32_MAX

/* Where a page lies. */
struct driver_page {
    uint64_t physical; /* of its first byte */
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

/* A `device` is a number below device_count(), which is a GPU in the first process, or what
 * context_create() or unify() made. */
/* Queues execute their commands in order. Queue 0 of a device always exists. A ticket names a
 * command of a queue. */
struct driver_api {
    uint32_t version;
    uint32_t (*device_count)(void);
    enum driver_status (*device_info)(uint32_t device, struct driver_device_info *info);
    /* Called once, before anything else: device addresses are taken from [base, base + size). */
    enum driver_status (*set_window)(uint64_t base, uint64_t size);

    enum driver_status (*allocate)(uint32_t device, uint64_t size, uint64_t align,
                                   uint64_t *address);
    enum driver_status (*release)(uint64_t address); /* waits for queued work first */
    /* Allocates at an address that no allocation of the device's process has. Other processes may
     * have it: what kernels and commands of a queue mean by it is then their own process' memory.
     * Addresses outside of the window are those of host memory that kernels use, too: when they are
     * released, TLBs forget them at once. */
    enum driver_status (*allocate_at)(uint32_t device, uint64_t address, uint64_t size,
                                      enum driver_place place);
    bool (*find)(uint64_t address,
                 struct driver_allocation *allocation); /* the allocation that holds it */
    enum driver_status (*memory_info)(uint32_t device, uint64_t *free_bytes, uint64_t *total_bytes);

    /* Managed memory: its pages may be moved to other GPUs. */
    enum driver_status (*allocate_unified)(uint32_t device, uint64_t size, uint64_t align,
                                           uint64_t *address);
    /* These wait for queued work first, and TLBs forget what was. remap: all pages that touch the
     * range, which lies in one allocation, lie on `gpu` then; only the page table changes, contents
     * are lost. remove_page: the page's memory is free, its address stays with the allocation;
     * using it is an error. allocate_page_at: a page on the (first) GPU of `device` at a given
     * address, in place of one that is there or was removed, or at an address that is free. */
    enum driver_status (*remap)(uint64_t address, uint64_t size, uint32_t gpu);
    enum driver_status (*remove_page)(uint64_t address);
    enum driver_status (*allocate_page_at)(uint32_t device, uint64_t address, bool unified);
    enum driver_status (*page_info)(uint64_t address, struct driver_page *page);
    uint64_t (*pages_moved)(void); /* how often a page of managed memory has changed its place */
    /* For front ends whose programs see device memory themselves. share_memory(): before anything
     * is allocated; the bytes of the GPUs' memory become a file, whose descriptor stays the
     * driver's. alias(): the pages of the host at `host`, all of [address, address + size), show
     * these bytes from now on, with all rights. extent(): where in the file the byte at `address`
     * is, and how many of the `size` bytes follow it there. clear(): they become zeros. What
     * kernels have written is there behind a launch that releases at system scope, or a fence. */
    enum driver_status (*share_memory)(int *file);
    enum driver_status (*extent)(uint64_t address, uint64_t size, uint64_t *offset,
                                 uint64_t *bytes);
    enum driver_status (*alias)(uint64_t address, uint64_t size, void *host);
    enum driver_status (*clear)(uint64_t address, uint64_t size);
    /* Calls without a device or queue take this for an address that several processes use: the one
     * of the device's process. The address itself where there is no doubt. */
    uint64_t (*name)(uint32_t device, uint64_t address);
    /* The pages of [address, address + size) become those from `from` on, in the same process, and
     * their own are free: one memory at two addresses. Waits for queued work first. An allocation
     * that others are joined to has to be joined to one of them before it is released. */
    enum driver_status (*join)(uint64_t address, uint64_t size, uint64_t from);
    /* The GPU that has the physical address. */
    enum driver_status (*device_at)(uint64_t physical, uint32_t *device);

    /* The GPUs of `device` in a process of its own: memory, code and queues of others cannot be
     * used in it. `process`: 0, or a device made by this call whose process it joins. */
    enum driver_status (*context_create)(uint32_t device, uint32_t process, uint32_t *context);
    /* Waits for queued work; the queues are gone, and with the last device of a process all of its
     * memory. Also for what unify() made. */
    enum driver_status (*context_destroy)(uint32_t context);
    /* One device made of several GPUs: memory and work-groups are spread over them. A GPU may be
     * part of several. */
    enum driver_status (*unify)(const uint32_t *gpus, uint32_t count, uint32_t *device);

    /* `flags`: of enum driver_queue_flags. */
    enum driver_status (*queue_create)(uint32_t device, uint32_t flags, uint32_t *queue);
    enum driver_status (*queue_destroy)(uint32_t queue);
    /* Enqueue. The host buffer must stay until the ticket is done. ticket may be NULL. */
    enum driver_status (*write)(uint32_t queue, uint64_t device_address, const void *host,
                                uint64_t size, uint64_t *ticket);
    enum driver_status (*read)(uint32_t queue, void *host, uint64_t device_address, uint64_t size,
                               uint64_t *ticket);
    /* Enqueue, for memory that the program and the GPU both see: no time passes where they share
     * memory. */
    enum driver_status (*write_shared)(uint32_t queue, uint64_t device_address, const void *host,
                                       uint64_t size, uint64_t *ticket);
    enum driver_status (*read_shared)(uint32_t queue, void *host, uint64_t device_address,
                                      uint64_t size, uint64_t *ticket);
    enum driver_status (*copy)(uint32_t queue, uint64_t to, uint64_t from, uint64_t size,
                               uint64_t *ticket);
    enum driver_status (*fill)(uint32_t queue, uint64_t address, const void *pattern,
                               uint32_t pattern_bytes, uint64_t count,
                               uint64_t *ticket); /* pattern of 1, 2 or 4 bytes */
    enum driver_status (*launch)(uint32_t queue, const struct driver_launch *launch,
                                 uint64_t *ticket);
    /* All caches in which kernels of the queue's process have left bytes are written back and hold
     * nothing of them any more. */
    enum driver_status (*fence)(uint32_t queue, uint64_t *ticket);
    /* Completes when everything before it in the queue has; records the simulated time. `fences`:
     * the L2 does what `event_fence` says. */
    enum driver_status (*mark)(uint32_t queue, bool fences, uint64_t *ticket);
    /* Work enqueued on `queue` from now on starts after `ticket` of any queue. */
    enum driver_status (*wait_for)(uint32_t queue, uint64_t ticket);

    /* Stream rules (stream_rules.h): enum driver_stream_flags. */
    uint32_t (*stream_flags)(void);
    /* Before the commands of a call on `queue`, which is that of a default stream or not.
     * DRIVER_NOT_READY: the call may not begin before `*blocker`, the ticket of a pending command,
     * is done; then ask again. Otherwise call_end() follows. */
    enum driver_status (*call_begin)(uint32_t queue, enum driver_stream_call call, bool is_default,
                                     uint64_t *blocker);
    /* `ticket`: of the call's last command; 0: it has none. */
    enum driver_status (*call_end)(uint32_t queue, uint64_t ticket);

    /* Run the simulation until done. */
    enum driver_status (*wait)(uint64_t ticket);
    enum driver_status (*wait_queue)(uint32_t queue);
    /* Runs the simulation until any command is done, with `poll` at most for poll_cost; for front
     * ends that wait for several tickets. Without commands it returns at once. */
    enum driver_status (*advance)(bool poll);
    /* Runs the simulation as long as it takes for any command to be done, at most for `most_ps`,
     * and until nudge() is called, which any thread and handler of signals may do.
     * DRIVER_NOT_READY: it has come back for one of the latter. */
    enum driver_status (*step)(uint64_t most_ps);
    void (*nudge)(void);
    /* For front ends that serve several programs, by step(). programs(): where their bytes are.
     * waited(): the program has waited for the ticket, and it is done. switch_program(): another
     * one makes the next calls; `progress` is what this returned when that was switched from last,
     * or 0. */
    void (*programs)(const struct driver_programs *programs);
    enum driver_status (*waited)(uint64_t ticket);
    uint64_t (*switch_program)(uint64_t progress);
    /* Kernels on `gpu` may, or may not, access memory of `peer` from now on; both are GPUs of the
     * platform. At first they may not: an access ends the run with DRIVER_FAULT. Unified memory is
     * open to all GPUs anyway. Copies need no leave. */
    enum driver_status (*set_peer)(uint32_t gpu, uint32_t peer, bool on);
    /* GPUs whose bits, by number, are not in `gpus` may not access the allocation that begins at
     * `address`, whatever else allows it; GPUs from 64 on are not concerned. */
    enum driver_status (*limit_to)(uint64_t address, uint64_t gpus);
    /* Simulated time in picoseconds, as it was when a call came back last. Takes no lock. */
    uint64_t (*now)(void);
    /* Lets so much simulated time pass, whether or not anything is under way. */
    enum driver_status (*pass)(uint64_t span_ps);
    /* The ticket of the last command of the queue that is not done yet; 0 when there is none. */
    enum driver_status (*last)(uint32_t queue, uint64_t *ticket);
    /* Is the ticket done? Advances time by poll_cost first, so that polling programs end. */
    enum driver_status (*query)(uint64_t ticket);
    /* Simulated time at which a ticket was done. */
    enum driver_status (*time_of)(uint64_t ticket, uint64_t *time_ps);

    /* Tell the driver about loaded code, for reports: [address, address + size) is module `name`;
     * `symbols` sorted by address. Called at module load; the driver decodes all kernels and warns
     * of instructions it lacks. Copied. */
    enum driver_status (*register_code)(uint32_t device, const char *name, uint64_t address,
                                        const void *bytes, uint64_t size);
    enum driver_status (*unregister_code)(uint64_t address);
    /* For `--check`, of what is loaded until it is unregistered: the ELF file of registered code,
     * with lines of source; a variable that only the host changes. */
    enum driver_status (*describe_code)(uint64_t address, const void *file, uint64_t size);
    enum driver_status (*describe_constant)(uint64_t address, uint64_t size);
    /* For a unified device: the registered code at `address` has no variables, so each GPU may run
     * a copy of its own, which is made now. No effect on other devices. */
    enum driver_status (*copy_code)(uint32_t device, uint64_t address);
    /* A kernel in that code: decodes what it reaches; a warning on stderr for each instruction that
     * is missing; launching such a kernel is DRIVER_FAULT before any cycle. */
    enum driver_status (*register_kernel)(uint32_t device, const char *name, uint64_t entry);

    /* Code for a device that executes PTX, in place of register_code(): the module's text, which is
     * copied and parsed. Its image (ptx_layout(), components/nvidia/ptx) lies at `address`, where
     * the caller has written it; the addresses of its instructions are those that launches and
     * register_kernel() name. unregister_code(address) drops it. DRIVER_INVALID_VALUE: error_text()
     * has file and line. */
    enum driver_status (*register_ptx)(uint32_t device, const char *name, uint64_t address,
                                       const char *text, uint64_t size);
    enum driver_status (*ptx_kernel)(uint64_t entry, struct driver_ptx_kernel *kernel);
    /* How many blocks of the kernel one streaming multiprocessor of the device holds. */
    enum driver_status (*ptx_blocks)(uint32_t device, uint64_t entry, uint32_t threads,
                                     uint64_t dynamic_shared_bytes, uint32_t *blocks);
    /* What kernels print (vprintf) goes to this function, in whole lines or as they come, when the
     * launch is over or waits for others, by the thread that runs the simulation; `device`: that of
     * the launch's queue. NULL: to the standard output. */
    void (*set_printer)(void (*print)(uint32_t device, const char *text, size_t size));
    /* Bytes of the heap from which kernels on the device allocate (malloc); before the first
     * launch of a kernel that does. 8 MiB when nothing is said. */
    enum driver_status (*set_kernel_heap)(uint32_t device, uint64_t bytes);

    /* Sets the function that is called, in any thread of the simulation, when a kernel waits that
     * is executed without timing. NULL: none. */
    void (*set_attendant)(void (*attend)(const struct driver_attention *now));
    /* Sets the function that says, while the engine runs, whether no thread of the program can go
     * on before it comes back. NULL: that is not known. */
    void (*set_alone)(bool (*is_alone)(void));

    const char *(*error_text)(void); /* of the last failure in this thread */
    /* The program has ended and sets nothing any more, so a kernel that waits for it waits for
     * ever: from here on a wait answers DRIVER_STALL when no command and no work-group has come to
     * its end for as many cycles as --stall-limit says. In any thread, inside of other calls, too.
     * `ends` is false when another program has come, for front ends of several. */
    void (*program_ends)(bool ends);
    /* The run may differ from others: several threads have asked for work at the same simulated
     * time. `host.unordered` of the statistics says so. */
    void (*note_unordered)(void);
    /* End of the program: writes statistics and traces, and what is known of a run that was
     * interrupted (heddle_platform.interrupt). Idempotent. Returns an exit status; if it is not
     * EXIT_CLEAN, a message is on stderr. */
    int (*finish)(void);
    /* Queues that the program writes itself. */
    const struct driver_queue_api *user_queues;
    /* The calling thread leaves the front end for code of the program: a wrong pointer of the
     * program must not change the simulation. Where the processor has keys for pages, the addresses
     * of the simulation's state fault until the next call. Without effect while another thread is
     * in a call. */
    void (*hide)(void);
    /* Does the address belong to the simulation's state, or to the guards around it? Also from a
     * signal handler. */
    bool (*is_hidden)(const void *address);
    /* Do work-groups of the kernel at `entry` meet at the global wave sync (register_kernel)? */
    bool (*meets)(uint64_t entry);
    /* Managed pages that touch the range, which lies in one allocation, come to the (first) GPU of
     * `device`, DRIVER_HOST_DEVICE: to the host's memory, before what is enqueued next begins.
     * Without memory of the host nothing happens. */
    enum driver_status (*prefetch)(uint32_t device, uint64_t address, uint64_t size);
    /* What the program says of such pages, or of the memory of any, until it says otherwise. All
     * but types of memory wait for queued work first; a type holds for TLBs that have not met the
     * page. */
    enum driver_status (*advise)(uint64_t address, uint64_t size, enum driver_advice advice,
                                 bool on);
    /* Around a call of the front end's own interface, by its thread, under a lock of the front end:
     * what it takes is `host.call_cpu_seconds` of the statistics. `function`: its name. With
     * DRIVER_STREAMS_TELL_CALLS, the driver is told of every call; otherwise not of those that ask
     * it for nothing. */
    void (*enter_call)(void);
    void (*leave_call)(const char *function);
    /* From now on what kernels of the device's process do wrong ends their wavefronts, and not the
     * simulation. take_fault(): the first such fault of the process, told once. */
    enum driver_status (*contain)(uint32_t device);
    bool (*take_fault)(uint32_t device, struct driver_fault *fault);
    /* Such a process was killed: its kernels reach no memory any more, and their wavefronts end at
     * their next access or branch. Also for attendants. */
    enum driver_status (*abandon)(uint32_t device);
    /* The access by which a kernel has ended the simulation, DRIVER_FAULT: its address, and the
     * GPU. False: it has not, or not by an access. */
    bool (*fault_address)(uint64_t *address, uint32_t *gpu);
    enum driver_ptx_fault (*ptx_fault)(void);
    /* A mistake of the program, for the findings of the run: one or two calls, and what more there
     * is to say. NULL: nothing is checked here. `address`: of device memory, or 0. */
    void (*mistake)(enum driver_mistake kind, const struct driver_call *calls, uint32_t count,
                    uint64_t address, const char *text);
    /* Sets the function that names the call which the calling thread is in, for findings about the
     * copies and fills that it makes; false: the library makes them for itself. The texts stay
     * until its next call in the thread. NULL: calls are not known. */
    void (*set_caller)(bool (*caller)(struct driver_call *call));
};

#endif
