/* PTX on warps of 32 lanes: the library that executes kernels of a module (components/nvidia/ptx).
 *
 * warp_prepare() makes flat operations of a module, once for each address at which its image lies.
 * A launch names a kernel of such code and where its arguments and memory are. Blocks of a launch
 * are executed one by one, by warp_grid_run() (functional mode) or by a caller that decides when
 * each of them begins (timing mode): warp_block_begin(), then warp_block_run() until it is done.
 * All of a block, registers, shared and local memory, lies in memory of the caller, has no pointers
 * and may be copied, kept and moved between calls.
 *
 * Blocks of a cluster have numbers in a row, in the order of their ranks, and so have clusters.
 * Blocks of a cluster wait for each other and reach each other's memory: find_block() knows where
 * the blocks are.
 *
 * Threads are scheduled independently: each lane has a program counter, and lanes with the same
 * program counter execute together. Lanes that were separated meet again early, because lanes that
 * are earlier in the order of the program go first. Lanes that spin give way to the other lanes of
 * their warp, warps that spin to the other warps of their block, blocks that spin to other blocks.
 * Nothing depends on the host: the same launch gives the same bytes and the same order of
 * instructions.
 *
 * Addresses are virtual. Generic addresses in the windows below lead to shared memory, local memory
 * and parameters; all other addresses are global, found through the host view. A constant variable
 * lies in the module's image, so its address in .const is its global address. Addresses in .shared,
 * .local and .param count from 0: offsets in their windows. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_WARP_WARP_H
#define HEDDLE_COMPONENTS_NVIDIA_WARP_WARP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "components/livelock/livelock.h"
#include "components/nvidia/ptx/ptx.h"

struct host_view;
struct warp_code;
struct warp_block;

enum {
    WARP_LANES = 32,
    WARP_BLOCK_THREADS = 1024, /* the most of a block */
    WARP_FAULT_BYTES = 512,
    WARP_MISSING_BYTES = 256
};

/* Windows of generic addresses, below the driver's (DRIVER_WINDOW of driver_api.h). */
#define WARP_WINDOW_BYTES ((uint64_t)1 << 32)
#define WARP_SHARED       ((uint64_t)0x100000000000)
#define WARP_LOCAL        ((uint64_t)0x110000000000)
#define WARP_PARAM        ((uint64_t)0x120000000000)

/* The first address of a space's window; 0: addresses of the space are generic ones. */
static inline uint64_t warp_window_begin(unsigned space)
{
    switch (space) {
    case PTX_SPACE_SHARED:
        return WARP_SHARED;
    case PTX_SPACE_LOCAL:
        return WARP_LOCAL;
    case PTX_SPACE_PARAM:
        return WARP_PARAM;
    default:
        return 0;
    }
}

/* ---- code ---- */

/* Needs of a kernel, for occupancy. */
struct warp_kernel {
    const char *name;      /* as in the PTX: mangled */
    uint32_t function;     /* number in the module */
    uint32_t registers;    /* a thread's, 32 bits each, callees included; at least 16 */
    uint32_t shared_bytes; /* static */
    uint32_t local_bytes;  /* a thread's, callees included */
    uint32_t parameter_bytes;
    uint32_t threads_max; /* a block's, by .maxntid or .reqntid; else WARP_BLOCK_THREADS */
    bool is_recursive;    /* or calls through pointers: the stack limit bounds its depth */
};

/* Operations of all functions of `module`, whose image lies at device address `base`. The module
 * must have its layout and stay while the code is used. Never fails: what the executor does not
 * have is an error of the launch whose kernel reaches it (warp_code_missing()). */
struct warp_code *warp_prepare(const struct ptx_module *module, uint64_t base);
void warp_release(struct warp_code *code);

/* The entry whose first instruction has the device address; NULL: none. */
const struct warp_kernel *warp_kernel_at(const struct warp_code *code, uint64_t address);
const struct warp_kernel *warp_kernel_named(const struct warp_code *code, const char *name);

/* True if the kernel, or a function that it calls, has an instruction that the executor has not;
 * `text` then names it, with file and line. function PTX_NONE: anywhere in the module. */
bool warp_code_missing(const struct warp_code *code, uint32_t function, char *text, size_t size);

/* Registers of an instruction after allocation, as `registers` of a kernel counts them: the first
 * of a pair or vector. Predicates are left out. */
enum { WARP_SOURCES = 5, WARP_REGISTER_NONE = 0xffff };
struct warp_operands {
    uint16_t destination, source[WARP_SOURCES]; /* WARP_REGISTER_NONE: none */
};
void warp_operands(const struct warp_code *code, uint32_t instruction,
                   struct warp_operands *operands);

/* ---- launches ---- */

/* A warp instruction, when it is executed, in the order of each warp. */
struct warp_step {
    uint32_t block;       /* number in the grid: x first */
    uint32_t warp;        /* in the block */
    uint32_t instruction; /* number in the module; its address: warp_instruction_address() */
    uint32_t active;      /* lanes that execute it: neither elsewhere nor guarded off */
    uint32_t bytes;       /* that a lane accesses; 0: no access to memory */
    uint8_t space;        /* enum ptx_space that the address is in, once generic is resolved */
    /* [WARP_LANES], of active lanes: virtual (global) or offsets in their window; NULL: no
     * access. Valid during the call. */
    const uint64_t *addresses;
    struct warp_block *block_memory; /* memory of the block */
    uint32_t phase;                  /* barrier.cluster: how often the block had arrived before */
    uint32_t passed; /* mbarrier.test_wait and try_wait: lanes whose phase is over */
    /* A cp.async.bulk comes lane by lane, in steps of 1 KiB: bytes of the whole copy in the first
     * of these, 0 in the others. */
    uint32_t bulk;
    uint64_t barrier; /* address of such a copy's barrier in shared memory, or WARP_BARRIER_NONE */
};

#define WARP_BARRIER_NONE UINT64_MAX

/* An address of shared memory of the block with rank r of a cluster has r + 1 from this bit on;
 * without, it is in the block's own. */
enum { WARP_RANK_SHIFT = 24, WARP_RANK_OFFSET = (1 << WARP_RANK_SHIFT) - 1, WARP_CLUSTER_MAX = 16 };

/* Calls to a debugger: before an instruction, for the lanes that execute it next, after each
 * access, and at the end of an instruction. */
struct warp_debug {
    void (*before)(void *context, const struct warp_step *step);
    void (*after)(void *context, const struct warp_step *step);
};

/* The use of a value that was never written. */
enum warp_use { WARP_USE_ADDRESS, WARP_USE_BRANCH, WARP_USE_STORE };
struct warp_undefined_use {
    enum warp_use use;
    uint32_t block, warp, lane, instruction;
    uint32_t origin; /* the instruction that has read it; PTX_NONE: not known */
};

/* Functions of the caller for `--check uninitialised`: they keep global memory. Blocks follow
 * values through registers, shared and local memory. */
struct warp_undefined {
    /* True if all of the bytes are undefined. */
    bool (*is_undefined)(uint64_t address, uint32_t bytes);
    void (*set)(uint64_t address, uint64_t bytes, bool undefined);
    /* Something in the allocation of the address is written: all of it is defined. */
    void (*set_around)(void *context, uint64_t address);
    /* An instruction reads undefined memory; a block's own by its offset. */
    void (*note)(uint32_t instruction, uint8_t space, uint64_t address);
    void (*report)(void *context, const struct warp_undefined_use *use);
};

struct warp_launch {
    const struct warp_code *code;
    const struct warp_kernel *kernel;
    const char *title; /* name of the kernel in messages; NULL: as in the PTX */
    uint32_t grid[3], block[3];
    uint32_t cluster[3];      /* blocks of a cluster: 0 is taken as 1 */
    uint32_t dynamic_shared;  /* bytes */
    uint32_t stack_bytes;     /* cudaLimitStackSize; 0: 1024 */
    uint32_t sms;             /* %nsmid */
    uint32_t resident;        /* blocks that the device holds at once, at least 1 */
    uint64_t number;          /* %gridid */
    uint32_t environment[32]; /* %envreg0 to %envreg31 */
    const void *parameters;   /* the parameter block; readable while the launch runs */
    struct host_view *view;   /* refreshed by the caller */
    /* %clock64. Where there is one, threads wait before they read it, or %globaltimer, for
     * warp_block_grant_clock(). NULL: it counts the launch's warp instructions, from `before` on.
     */
    uint64_t (*clock)(void *context);
    uint64_t before;
    uint64_t (*nanoseconds)(void *context); /* %globaltimer; NULL: the same as the clock */
    /* vprintf: the format's address and that of the packed arguments, as the ABI has them, in the
       window of the thread (read them by warp_read()). The result is what vprintf returns. */
    int (*print)(void *context, const struct warp_block *block, uint32_t thread, uint64_t format,
                 uint64_t arguments);
    uint64_t (*allocate)(void *context, uint64_t bytes);          /* malloc(); NULL: none is left */
    void (*release)(void *context, uint64_t address);             /* free() */
    void (*observe)(void *context, const struct warp_step *step); /* or NULL */
    const struct warp_debug *debug;                               /* or NULL */
    const struct warp_undefined *undefined; /* or NULL; the same from the first block to the last */
    void *context;                          /* argument of the functions above */
    /* For clusters: the block of that number, NULL: it is over. False: it has not begun. */
    bool (*find_block)(void *blocks, uint64_t number, struct warp_block **block);
    void *blocks;
    bool is_watched;       /* warp_grid_run() watches it, as it may wait for ever */
    uint64_t instructions; /* warp instructions executed so far; set it to 0 at first */
};

static inline uint32_t warp_cluster_size(const struct warp_launch *launch, unsigned dimension)
{
    return launch->cluster[dimension] ? launch->cluster[dimension] : 1;
}

static inline uint64_t warp_cluster_blocks(const struct warp_launch *launch)
{
    return (uint64_t)warp_cluster_size(launch, 0) * warp_cluster_size(launch, 1)
           * warp_cluster_size(launch, 2);
}

/* False: the launch cannot begin, and `text` has the reason (sizes, missing instructions). */
bool warp_launch_check(const struct warp_launch *launch, char *text, size_t size);

enum warp_end {
    WARP_DONE,
    WARP_WAITS, /* every warp left spins or sleeps, or the budget is used up */
    WARP_CLOCK, /* every warp left waits for warp_block_grant_clock(), or for those that do */
    WARP_FAULT,
    WARP_DEADLOCK,   /* warp_grid_run(): every warp only repeats itself */
    WARP_INTERRUPTED /* warp_grid_run(): `stop` returned true, or the limit is reached */
};

enum warp_fault_kind {
    WARP_FAULT_NONE,
    WARP_FAULT_ADDRESS,    /* cudaErrorIllegalAddress */
    WARP_FAULT_MISALIGNED, /* cudaErrorMisalignedAddress */
    WARP_FAULT_TRAP,       /* cudaErrorLaunchFailure */
    WARP_FAULT_ASSERT,     /* cudaErrorAssert */
    WARP_FAULT_STACK,      /* cudaErrorIllegalAddress on cards */
    WARP_FAULT_INSTRUCTION /* cudaErrorIllegalInstruction, also deadlocks of .sync */
};

struct warp_fault {
    enum warp_fault_kind kind;
    uint64_t address; /* address of an access */
    uint32_t block[3], thread[3];
    uint32_t instruction;        /* number in the module */
    char text[WARP_FAULT_BYTES]; /* kernel, file:line, thread, what is wrong */
};

/* ---- blocks ---- */

/* The place in the grid of the block of that number. */
void warp_block_place(const struct warp_launch *launch, uint64_t number, uint32_t id[3]);

/* Bytes of a block of the launch: the same for all of them. */
size_t warp_block_bytes(const struct warp_launch *launch);

/* Makes the memory, aligned to 64 bytes, the block `number` of the grid, on the SM. Numbers go in
 * the order of x, y and z of clusters, and in each of them. */
struct warp_block *warp_block_begin(const struct warp_launch *launch, uint64_t number, uint32_t sm,
                                    void *memory);

/* Executes about `budget` warp instructions; 0: until the block is done or waits. `fault` is filled
 * with WARP_FAULT. */
enum warp_end warp_block_run(struct warp_launch *launch, struct warp_block *block, uint64_t budget,
                             struct warp_fault *fault);

/* Threads that wait to read a clock read it when the block is run next: in simulated time, all that
 * they have executed before is over. */
void warp_block_grant_clock(const struct warp_launch *launch, struct warp_block *block);

/* Reads bytes at an address as a thread of the block sees it, for `print`. False: they are not
 * there. */
bool warp_read(const struct warp_launch *launch, const struct warp_block *block, uint32_t thread,
               uint64_t address, void *to, size_t bytes);

/* ---- whole grids ---- */

struct warp_grid {
    struct warp_launch launch;
    uint64_t first, count;       /* blocks; count 0: all from `first` on */
    uint64_t limit;              /* warp instructions; 0: none */
    bool (*stop)(void *context); /* asked now and then; or NULL */
    bool (*is_alone)(void);      /* nothing else can change memory; NULL: it may */
};

/* Runs the grid in order. `fault` is filled with WARP_FAULT and WARP_DEADLOCK. Blocks that wait
 * keep their place while others begin, as many as are resident. Takes and frees host memory for
 * blocks. */
enum warp_end warp_grid_run(struct warp_grid *grid, struct warp_fault *fault);

/* Device address of an instruction, and back; PTX_NONE: outside. */
uint64_t warp_instruction_address(const struct warp_code *code, uint32_t instruction);
uint32_t warp_instruction_at(const struct warp_code *code, uint64_t address);

/* ---- blocks that are not executed at the moment, for debuggers ---- */

/* The number of the instruction that the warp executes next, with the lanes that execute it;
 * PTX_NONE: all lanes have ended. */
uint32_t warp_inspect_place(const struct warp_block *block, const struct warp_launch *launch,
                            uint32_t warp, uint32_t *lanes);

/* The values of a register of the function, low 64 bits. Returns the lanes that have one: lanes
 * that are in the function, at a place where the register is live. */
uint32_t warp_inspect_register(const struct warp_block *block, const struct warp_launch *launch,
                               uint32_t warp, uint32_t function, uint32_t number,
                               uint64_t value[WARP_LANES]);

/* The host's memory at a generic address of shared, local or parameter memory, and the number of
 * bytes from there on. NULL for an address elsewhere, or with *bytes 0. */
const void *warp_look_memory(const struct warp_block *block, const struct warp_launch *launch,
                             uint32_t thread, uint64_t address, uint64_t *bytes);

/* The place of the block in the grid. */
void warp_inspect_block(const struct warp_block *block, uint32_t id[3]);

#endif
