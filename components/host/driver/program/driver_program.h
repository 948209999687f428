/* The program's side of the driver. Everything here is called with the driver's lock held. */
#ifndef HEDDLE_COMPONENTS_HOST_DRIVER_PROGRAM_DRIVER_PROGRAM_H
#define HEDDLE_COMPONENTS_HOST_DRIVER_PROGRAM_DRIVER_PROGRAM_H

#include "components/host/driver/driver_state.h"

/* The table of calls that the platform hands to front ends, and what its parts share. */

/* Begin and end of every call: the driver's lock. api_leave() passes the status on. */
static void api_enter(void);
static enum driver_status api_leave(enum driver_status status);

static const struct driver_api *driver_api_table(void);

/* For a row `name` of driver_calls.def: call_name(), with the lock held, or api_name(). */
#define UNPACKED(...) __VA_ARGS__
#define DRIVER_CALL(name, form, parameters, ...)                                                   \
    static enum driver_status call_##name(struct driver *d, UNPACKED parameters);
#define DRIVER_FUNCTION(type, name, form, parameters) static type api_##name parameters;
#include "components/host/driver/driver_calls.def"

/* Devices as the program sees them. See driver_handles.c. */

static enum driver_status handle_check(const struct driver *d, uint32_t number);
static bool handle_has(const struct driver_handle *h, uint32_t gpu);

/* Makes a handle. DRIVER_NONE: there are too many. */
static uint32_t handle_open(struct driver *d, uint32_t pid, const uint32_t *member, uint32_t count);

/* The number of handles of a process. */
static uint32_t handle_count_pid(const struct driver *d, uint32_t pid);

/* Makes the GPUs known as handles 0 .. gpu_count - 1. */
static void handles_init(struct driver *d);

/* Describes a device to the program. A unified one has sums of what its GPUs have, and the least of
 * what each has. */
static void handle_info(const struct driver *d, const struct driver_handle *h,
                        struct driver_device_info *info);

/* Checks that a shoot-down reaches every shared TLB of the platform; otherwise says what to
 * connect. */
static enum driver_status shootdown_check(void);

/* Commands at the ends of queues. See driver_enqueue.c. */

/* A queue for the GPU, on behalf of the handle; DRIVER_NONE: there are too many. */
static uint32_t queue_open(struct driver *d, uint32_t device, uint32_t handle);

static enum driver_status queue_check(const struct driver *d, uint32_t queue);

/* A mark whose slot in the table another command has now. NULL: it is not known. */
static const struct driver_ticket *find_mark(const struct driver *d, uint64_t ticket);

/* Appends a command; waits for others to end when there are too many. */
static enum driver_status enqueue_command(struct driver *d, uint32_t queue,
                                          const struct driver_command *command, uint64_t *ticket);

/* Writes to the device or reads from it. The caller sets `address`, `host` and `of_library` of the
 * move. */
static enum driver_status enqueue_move(struct driver *d, uint32_t queue, enum driver_kind kind,
                                       struct command_move move, uint64_t size, uint64_t *ticket);

/* Waits for the command of another queue that has this ticket. */
static enum driver_status enqueue_barrier(struct driver *d, uint32_t queue, uint64_t awaited,
                                          uint64_t *ticket);

/* The ticket of the last command of the queue that is not done; 0: there is none. */
static uint64_t queue_last(const struct driver *d, uint32_t queue);

/* The name of `address` in the queue's process, which differs where others use the address, too. */
static uint64_t queue_name(const struct driver *d, uint32_t queue, uint64_t address);

/* Running the engine for a thread of the program that waits. See driver_wait.c. */

/* Runs the engine until the tick asks it to stop. The front end prints what the status text says;
 * reports of hangs have been printed by the engine. */
static enum driver_status run_until_stopped(struct driver *d);

static enum driver_status run_usable(void);

static enum driver_status await_ticket(struct driver *d, uint64_t ticket);

/* Waits until fewer than `most` commands are undone. */
static enum driver_status await_some(struct driver *d, uint32_t most);

/* Waits until no page is on its way to another GPU. */
static enum driver_status await_migration(struct driver *d);

static enum driver_status await_queue(struct driver *d, uint32_t queue);

/* Device memory, its mappings, and contexts. See driver_mapping.c. */

static enum driver_status mapping_allocate(struct driver *d, uint32_t number, uint64_t size,
                                           uint64_t align, enum driver_place place,
                                           uint64_t *address);

/* See driver_calls.def. */
static enum driver_status mapping_allocate_at(struct driver *d, uint32_t number, uint64_t address,
                                              uint64_t size, enum driver_place place);

static enum driver_status mapping_release(struct driver *d, uint64_t address);

/* Evicts managed pages until each device of the request has its share of `pages`. False: it cannot.
 */
static bool mapping_make_room(struct driver *d, const struct memory_request *q, uint64_t pages);

/* Code, as calls of the program and of devices have it; see driver_calls.def. */
static enum driver_status code_register(struct driver *d, uint32_t device, const char *name,
                                        uint64_t address, const void *bytes, uint64_t size);
static enum driver_status code_unregister(struct driver *d, uint64_t address);
static enum driver_status code_register_kernel(struct driver *d, uint32_t device, const char *name,
                                               uint64_t entry);

/* Makes the same GPUs known in another process. `pid`: that of a living process, or 0 for a new
 * one. */
static enum driver_status context_create(struct driver *d, uint32_t like, uint32_t pid,
                                         uint32_t *context);

static enum driver_status context_destroy(struct driver *d, uint32_t number);

/* Loaded code, and kernels that must not be launched. See driver_unimplemented_code.c. */

struct code_module {
    struct code_module *next;
    uint64_t address, size;
    uint8_t *bytes;
    bool was_launched;
    char name[256];
};

/* A kernel that must not be launched. */
struct code_lack {
    struct code_lack *next;
    uint64_t entry;
    char text[512];
};

/* The instructions that a kernel reaches lie in [start, end). */
struct code_extent {
    struct code_extent *next;
    uint64_t entry, start, end;
    bool meets; /* its wavefronts meet at the global wave sync, and do not set its counters */
};

#define CODE_MEMORY "registered code" /* the user of memory in messages of base/grow.h */
static void code_add(const char *name, uint64_t address, const void *bytes, uint64_t size);
static bool code_remove(uint64_t address);
static const struct code_module *code_find(uint64_t address);

/* True if this is the first launch of a kernel of the module that holds `entry`. */
static bool code_first_launch(uint64_t entry);

static const struct code_lack *code_find_lack(uint64_t entry);
/* The extent of a kernel's instructions. NULL: the kernel was not registered. */
static const struct code_extent *code_find_extent(uint64_t entry);
static bool code_meets(uint64_t entry);

/* Decodes what the kernel reaches; says and remembers what is missing. False: the entry is in no
 * module. */
static bool code_check_kernel(enum isa_target target, const char *name, uint64_t entry);

/* Copies of code for the GPUs of unified devices. See driver_code_copies.c. */

struct code_copy {
    struct code_copy *next;
    uint64_t address, size; /* those of the original */
    uint32_t handle, gpu;
    uint64_t copy;
};

/* The distance from the original to the code of `entry` lies for a part on GPU `gpu`; 0: there is
 * no copy. */
static uint64_t code_copy_distance(uint32_t handle, uint32_t gpu, uint64_t entry);

/* Gives back the copies of the module at `address` (UINT64_MAX: of any) for the handle
 * (DRIVER_NONE: for any). Nothing uses them any more. */
static void code_copies_release(struct driver *d, uint64_t address, uint32_t handle);

/* Notes the program's commands for recordings and checks. See driver_record.c. */

static void record_init(void);

/* A command was appended to its queue. */
static void record_enqueued(const struct driver *d, const struct driver_command *k);

/* A copy begins, which kernels in PTX may find in caches. */
static void record_copy(const struct driver_command *k);

/* A launch goes to GPU `number`. */
static void record_start(const struct driver *d, const struct driver_command *k, uint32_t number);

static void record_completed(const struct driver *d, const struct driver_command *k);

/* The host knows that the ticket is done. */
static void record_wait(uint64_t ticket);
static void record_idle(uint32_t queue);

/* The end of the program. False: a file could not be written. */
static bool record_finish(void);

#endif
