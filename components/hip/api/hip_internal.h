/* The state that the files of the HIP library share, and what each offers the others.
 *
 * The library is the same for all platforms. It opens the shared object named by HEDDLE_PLATFORM at
 * the first call that needs a device, and speaks to its driver through struct driver_api. It adds
 * what HIP has and the driver lacks: modules, functions, streams, events, errors per thread, and a
 * map of allocations.
 *
 * Threads: `hip.lock` guards everything below. Each API function holds it for its whole body,
 * through HIP_DEFINE(). hip_wait_*() release it while the simulation runs, so that other host
 * threads can enqueue; a pointer to a stream, event or module must not be used after a wait. Which
 * thread takes the lock first is decided by turns (hip_turns.h). */
#ifndef HEDDLE_COMPONENTS_HIP_API_HIP_INTERNAL_H
#define HEDDLE_COMPONENTS_HIP_API_HIP_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "components/amd/isa/object/bundle.h"
#include "components/hip/common/hip_common.h"
#include "components/host/driver/driver_api.h"

#include "hip_objects.h"

struct hip_device {
    bool is_open;    /* and was not destroyed */
    uint32_t number; /* the driver's number of the device */
    struct driver_device_info info;
    bool uses_xnack, uses_sramecc; /* features as code objects of this architecture find them */
    bool has_xnack;                /* code objects name the feature */
    uint32_t queue;                /* takes commands of the null stream and of the library itself */
    uint8_t peers[HIP_DEVICES_MAX]; /* 1: peer access to that device is enabled */
};

enum hip_state {
    HIP_CLOSED,
    HIP_OPEN,
    HIP_FAILED,
    HIP_FINISHED,
    HIP_FORKED /* the child of a process that had opened the platform (hip_process.h) */
};

struct hip_library {
    pthread_mutex_t lock;
    enum hip_state state;
    const struct driver_api *api;
    struct hip_device devices[HIP_DEVICES_MAX];
    int platform_devices; /* devices of the platform; those that the program makes follow them */
    int device_count;     /* entries that have been used; hip_is_device() says whether one is */
    uint64_t device_base, device_size; /* the reservation that device addresses come from */
    uint64_t pinned_base, pinned_size; /* and, after it, those of pinned memory */
    uint64_t page_bytes;               /* the largest of all devices */
    bool orders_streams;   /* by HIP's rules; otherwise the driver has rules of its own */
    bool fill_waits;       /* the program waits for fills */
    bool copy_returns;     /* and not for copies inside of a device */
    bool is_functional;    /* kernels run at once, when their turn comes, without simulated time */
    bool reports_calls;    /* the driver wants to know of each call */
    bool executes_ptx;     /* the devices are NVIDIA's: they run programs of CUDA, not of HIP */
    bool plays_trace;      /* calls are the same, whichever interface they were recorded from */
    bool has_unseen_error; /* a kernel has no code for its device; the program has not asked */
    hipError_t device_error; /* not hipSuccess: a kernel broke the device, and every later call
                                returns this error */
};
extern struct hip_library hip;

/* ---- hip_library.c: the lock, and the begin and end of calls ---- */

/* Lock and unlock; between them the thread is inside of the library for hip_turns.h. */
void hip_lock(void);
void hip_unlock(void);
/* True while the calling thread has the lock. */
bool hip_is_inside(void);
/* Around a wait of the thread inside of the library: others may enter meanwhile. */
void hip_lock_pause(void);
void hip_lock_resume(void);
/* The simulated state is out of the reach of the program from now on. */
void hip_hide_state(void);
/* Locks, and opens the platform if it is not open. From now on messages name `function`.
 * hipErrorNoDevice: there is none for the interface that the program uses. hip_leave() must follow
 * in any case. */
hipError_t hip_enter(const char *function);
/* The function that the program has called in this thread, by its name in the program's interface;
 * NULL: the library does something by itself. */
const char *hip_current_call(void);
/* Reports a call that needs nothing of the driver, if the driver wants to know of each call. */
void hip_report_call(const char *function);
/* Begin and end a function of another interface that consists of functions of HIP. The first is
 * hip_set_outer_call(); the second reports the call unless one of these functions has done so. */
const char *hip_begin_outer_call(const char *function);
void hip_end_outer_call(const char *before);
/* Unlocks, keeps the error for hipGetLastError() and returns it. */
hipError_t hip_leave(hipError_t error);
/* Defines a function of HIP, as SYSCALL_DEFINE() does in Linux: the body that follows runs between
 * hip_enter() and hip_leave(). `arguments`: the names of its parameters, in parentheses. */
#define HIP_DEFINE(name, arguments, ...)                                                           \
    HIP_DEFINE_AS(hipError_t, hip.device_error, name, arguments, __VA_ARGS__)
/* Defines one that works also after the device is lost. */
#define HIP_DEFINE_ALWAYS(name, arguments, ...)                                                    \
    HIP_DEFINE_AS(hipError_t, hipSuccess, name, arguments, __VA_ARGS__)
/* `type`: int for the functions of heddle_hip.h, whose users may lack HIP's headers. `refusal`: not
 * hipSuccess, the body does not run. */
#define HIP_DEFINE_AS(type, refusal, name, arguments, ...)                                         \
    static hipError_t name##_body(__VA_ARGS__);                                                    \
    type name(__VA_ARGS__)                                                                         \
    {                                                                                              \
        hipError_t entry_error = hip_enter(__func__);                                              \
        if (entry_error == hipSuccess)                                                             \
            entry_error = refusal;                                                                 \
        return hip_leave(entry_error == hipSuccess ? name##_body arguments : entry_error);         \
    }                                                                                              \
    static hipError_t name##_body(__VA_ARGS__)

/* The calling thread's device number. */
int hip_current_device(void);
hipError_t hip_set_current_device(int device);

/* ---- hip_platform.c ---- */

/* Opens the platform and its devices, by the first call that needs one. */
enum hip_state hip_open_platform(void);
/* Sets which features code objects find on the device. */
void hip_set_features(struct hip_device *device);

/* ---- hip_error.c ---- */

void hip_set_last_error(hipError_t error);
/* Writes a message as hip_say_call() does and returns `error`. */
__attribute__((format(printf, 2, 3))) hipError_t hip_fail(hipError_t error, const char *format,
                                                          ...);
/* Translates a driver's answer into an error of HIP. For a failure it writes the driver's message
 * after the call or step that the thread is in; hip_status_of() names a step for that. */
hipError_t hip_status(enum driver_status status);
hipError_t hip_status_of(enum driver_status status, const char *step);

/* ---- hip_wait.c ---- */

/* True if the command is done, or if nothing will be done any more. */
bool hip_is_ticket_done(uint64_t ticket);
/* A wait for a command or a device releases the lock and runs the simulation. It returns what
 * hip_status() does. */
hipError_t hip_wait_ticket(uint64_t ticket);
hipError_t hip_wait_device(int device);
hipError_t hip_wait_all_devices(void);
/* Waits for a ticket without giving other threads their turn. */
hipError_t hip_wait_alone(uint64_t ticket);
/* Waits for a ticket without releasing the lock: what the caller has found stays. */
hipError_t hip_wait_here(uint64_t ticket);
/* Gives other host threads their turn until the ticket is done or, with `polls`, the simulation
 * went on a little. False: this thread is not ordered, and nothing was done. */
bool hip_yield_turn(uint64_t ticket, bool polls);

/* ---- hip_allocation_map.c ---- */

/* The allocation that holds `address`, or NULL. Valid until the map changes. */
const struct hip_allocation *hip_find_allocation(uint64_t address);
/* Finds an allocation after a wait, which has released the lock. NULL: another thread has freed it
 * meanwhile. */
const struct hip_allocation *hip_find_allocation_again(uint64_t address, uint32_t number);
/* The number of the allocation that holds `address`; 0: none does. */
uint32_t hip_allocation_number(uint64_t address);
/* The last allocation of device memory at or below `address`, or NULL. */
const struct hip_allocation *hip_find_allocation_below(uint64_t address);
/* The last allocation in memory of the device, or NULL. */
const struct hip_allocation *hip_last_allocation_of(int device);
/* Adds an allocation and gives it its number. The second function takes an address that other
 * contexts have, too, and that means this allocation while its context is the current device. */
void hip_add_allocation(struct hip_allocation allocation);
void hip_add_context_allocation(struct hip_allocation allocation);
void hip_remove_allocation(const struct hip_allocation *allocation);
void hip_each_allocation(void (*visit)(const struct hip_allocation *allocation));
/* The allocation at `address` was made from a pool; and the bytes that were made from it. */
void hip_set_pool(uint64_t address, const void *pool);
uint64_t hip_pool_bytes(const void *pool);
bool hip_is_device_address(uint64_t address);
/* True if the address is in the range that pinned memory comes from. */
bool hip_is_pinned_address(uint64_t address);
/* An allocation that overlaps `size` bytes at `address`, or NULL. */
const struct hip_allocation *hip_find_overlap(uint64_t address, uint64_t size);
/* The first address of pinned memory from which on `size` bytes are free; 0: there is none. */
uint64_t hip_find_pinned_gap(uint64_t size);
/* The words of hip_host_memory.h. The host memory at `address` is mapped from now on: it gets a
 * second number, which is returned. */
uint32_t hip_set_mapped(uint64_t address);
/* The first allocation, in the order of addresses, that is wanted, or NULL. */
const struct hip_allocation *hip_find_wanted(void);
/* The allocation that holds `address` is wanted if it is host memory that is not mapped. */
void hip_set_wanted(uint64_t address);
/* All host memory that is not mapped lies in this range, which is empty if there is none. */
struct hip_address_range {
    uint64_t low, high;
};
struct hip_address_range hip_unmapped_range(void);

/* ---- hip_malloc_free.c ---- */

/* Allocates device memory that the map lists as `kind`. */
hipError_t hip_allocate_device(int device, uint64_t size, uint64_t align,
                               enum hip_allocation_kind kind, uint64_t *address);
hipError_t hip_release_device(uint64_t address);
/* Releases the memory of a device that is going to be destroyed. */
void hip_release_memory_of(int device);
/* hipMalloc and hipMallocPitch for a caller that has the lock. */
hipError_t hip_allocate_for_program(void **pointer, size_t size);
hipError_t hip_allocate_pitch(void **pointer, size_t *pitch, size_t width, size_t rows);

/* ---- hip_copy.c ---- */

/* Copies with all checks of hipMemcpy; `is_blocking` waits until done. */
hipError_t hip_copy(void *to, const void *from, size_t size, hipMemcpyKind kind, hipStream_t stream,
                    bool is_blocking);

/* `rows` rows of `width` bytes; the pitches are from row to row. A plain copy has one row. */
struct hip_copy_area {
    uint64_t to, from;
    size_t to_pitch, from_pitch, width, rows;
    hipMemcpyKind kind;
};

hipError_t hip_copy_2d(struct hip_copy_area area, hipStream_t stream, bool is_blocking);
/* Returns what hip_copy_2d() would return for a copy that it refuses, and copies nothing. */
hipError_t hip_check_copy_2d(struct hip_copy_area area);

/* ---- hip_memory_3d.c ---- */

/* hipMemcpy3DAsync for a caller that has the lock. */
hipError_t hip_copy_3d(const hipMemcpy3DParms *p, hipStream_t stream, bool is_blocking);

/* ---- hip_fill.c ---- */

/* `rows` rows of `count` elements of `width` bytes, `pitch` bytes apart. */
struct hip_fill_area {
    uint64_t address;
    uint32_t value, width;
    size_t count, rows, pitch;
};

/* Fills the area with all checks of hipMemset2D. */
hipError_t hip_fill(struct hip_fill_area area, hipStream_t stream, bool is_blocking);
/* Returns what hip_fill() would return for an area that it refuses, and fills nothing. */
hipError_t hip_check_fill(struct hip_fill_area area);

/* ---- hip_module.c ---- */

/* Loads the bundle, ELF file or PTX that lies in at most `size` bytes; `name` is for messages. */
hipError_t hip_load_module(const void *bytes, size_t size, int device, const char *name,
                           struct hip_module **loaded);
hipError_t hip_unload_module(struct hip_module *module);
/* Puts a module that is loaded to the others. */
void hip_add_module(struct hip_module *module);
/* Device address and size of a module's variable, or hipErrorNotFound. */
hipError_t hip_find_variable(const struct hip_module *module, const char *name, uint64_t *address,
                             uint64_t *size);
/* The module whose image begins at `base`, or NULL. */
const struct hip_module *hip_module_at(uint64_t base);
/* The function of the handle, or NULL if no loaded module has it. */
const struct hip_function *hip_check_function(hipFunction_t function);
/* A launch may have so many bytes of dynamic LDS. */
void hip_set_dynamic_lds(const struct hip_function *function, uint32_t bytes);
void hip_allow_large_clusters(const struct hip_function *function, bool allows);
/* True for the first refusal of the driver to launch the function, whose reason is written; false
 * for later ones. */
bool hip_is_first_refusal(const struct hip_function *function);

/* ---- hip_ptx.c ---- */

/* Loads PTX on a device that executes it. */
hipError_t hip_load_ptx(const char *text, size_t size, int device, const char *name,
                        struct hip_module **loaded);

/* ---- hip_function.c ---- */

/* The function of a handle or, for the calls without "Module", of a registered host function. */
hipError_t hip_find_function(const void *either, bool is_handle,
                             const struct hip_function **function);

/* ---- hip_occupancy.c ---- */

/* Work-items that a work-group of the kernel may have. */
unsigned hip_threads_limit(const struct hip_function *function);
/* The number of work-groups of `threads` work-items that a compute unit holds at a time; `either`:
 * a handle or a host function. */
hipError_t hip_active_blocks(int *count, const void *either, bool is_handle, int threads,
                             size_t dynamic_lds);

/* ---- hip_registration.c ---- */

/* A binary that a program contains; load() finds its code for a device when that is first used
 * there. Returns the handle that __hipRegisterFunction() and its kind take. Without the lock. */
void **hip_register_binary(const void *wrapper, hipError_t (*load)(const void *wrapper, int device,
                                                                   struct hip_module **loaded));
bool hip_is_embedded(const struct hip_module *module);
/* Unloads what a device that is going to be destroyed has of the program's embedded code. */
void hip_unload_embedded(int device);
/* The kernel of a host function that a program registered, loaded on `device` when it was not.
 */
hipError_t hip_find_host_function(const void *host_function, int device,
                                  const struct hip_function **function);
/* Device address and size of a registered host variable on `device`. */
hipError_t hip_find_host_variable(const void *host_variable, int device, uint64_t *address,
                                  uint64_t *size);

/* Unloads all modules of a device that is going to be destroyed. */
void hip_unload_device(int device);

/* ---- hip_virtual_devices.c ---- */

/* The driver's device `number` becomes device `slot`. */
hipError_t hip_open_device(int slot, uint32_t number);
/* Opens the devices that HIP_VISIBLE_DEVICES or CUDA_VISIBLE_DEVICES lists, in its order, or all
 * `count` of the platform. False: a message was printed. */
bool hip_open_visible_devices(uint32_t count);
/* True if there is such a list. */
bool hip_environment_chooses_devices(void);
/* Makes one device 0 of the GPUs in `list`, "0,1,2,3". False: the reason was written. */
bool hip_unify_all(const char *list);

/* ---- hip_device.c ---- */

bool hip_is_device(int device);
/* Waits for all work of the current device. */
hipError_t hip_synchronize_device(void);

/* ---- hip_fault.c ---- */

/* Reserves the device addresses. Prints why and returns false when it cannot. */
bool hip_reserve_addresses(uint64_t size);
/* The handler explains host accesses to device memory before the program dies of them. */
void hip_install_fault_handler(void);

/* ---- hip_steady_addresses.c ---- */

/* Calls run(path). The program finds its own memory at the same addresses whatever that takes. */
bool hip_run_apart(bool (*run)(const char *path), const char *path);

/* ---- hip_process_map.c ---- */

/* The number of bytes from `start` on that can be read, by the process' memory map; 0 for a bad
 * address. */
size_t hip_readable_bytes(const void *start);
/* True if all `size` bytes at `address` can be read or, with `written`, written. If not, `*end` is
 * the first that cannot. Cheap if they can. */
bool hip_is_accessible(uint64_t address, uint64_t size, bool is_written, uint64_t *end);

#endif
