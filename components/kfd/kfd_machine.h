/* The machine behind /dev/kfd: what its files share.
 *
 * One thread, the machine's, owns all of it: the driver of the platform, memory, queues and events.
 * Threads of the program hand it requests and wait for the answers (kfd_machine.c), so nothing here
 * needs a lock, and nothing of the engine runs in a thread of the program or in its handlers of
 * signals. Functions below are called in the machine's thread unless they say otherwise. Those of
 * calls return 0 or a negative errno, as a kernel's do. */
#ifndef HEDDLE_KFD_MACHINE_H
#define HEDDLE_KFD_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "components/amd/isa/isa_target.h"
#include "components/host/driver/driver_api.h"
#include "kfd.h"

enum {
    KFD_GPUS_MAX = 64,
    KFD_PAGE = 4096,
    KFD_DOORBELLS = 1024, /* of a process on a GPU (kfd_priv.h: one page or two) */
    KFD_QUEUES_MAX = 1024,
    KFD_EVENTS_MAX = 4096 /* KFD_SIGNAL_EVENT_LIMIT */
};

/* Offsets for mmap() of /dev/kfd (kfd_priv.h): the type in bits 62..63, the GPU in 46..61. */
enum { KFD_MAP_TYPE_SHIFT = 62, KFD_MAP_GPU_SHIFT = 46 };
enum kfd_map_type { KFD_MAP_MMIO, KFD_MAP_RESERVED, KFD_MAP_EVENTS, KFD_MAP_DOORBELL };

static inline uint64_t kfd_map_offset(enum kfd_map_type type, uint32_t gpu_id)
{
    return (uint64_t)type << KFD_MAP_TYPE_SHIFT | (uint64_t)gpu_id << KFD_MAP_GPU_SHIFT;
}

/* ---- kfd_machine.c: the thread, requests, the devices ---- */

struct kfd_gpu {
    struct driver_device_info info;
    const struct isa_traits *traits;
    uint32_t doorbell_bytes;
};

struct kfd_machine {
    const struct driver_api *api; /* NULL: it could not be opened */
    uint32_t gpu_count;
    struct kfd_gpu gpu[KFD_GPUS_MAX];
    bool lost;     /* a kernel broke the device */
    bool finished; /* the program ends: statistics are written, nothing is simulated any more */
};
extern struct kfd_machine kfd;

/* What a process of the program has: an address space, memory, queues, events. Files keep what is
 * theirs in tables that only they know. */
struct kfd_process {
    struct kfd_process *next;      /* by number */
    uint32_t device[KFD_GPUS_MAX]; /* the driver's, in the address space of the process */
    uint32_t fences;               /* the driver's queue of fences that belong to no packet */
    struct kfd_memory *memory;
    struct kfd_queues *queues;
    struct kfd_events *events;
    struct kfd_kernel *kernels; /* that were dispatched */
    struct kfd_cache_state *caches;
    struct kfd_ranges *ranges;
    struct kfd_shared *shared;
    struct kfd_listener *listeners;
    bool announced; /* RUNTIME_ENABLE */
};
/* The process whose request is done, or whose queues are looked at. The machine's thread. */
extern struct kfd_process *kfd_now;

/* What the driver calls an address of this process. */
static inline uint64_t kfd_name(uint64_t address)
{
    return kfd.api->name(kfd_now->device[0], address);
}

/* What a thread of the program asks for. It stays that thread's, which waits for the answer. */
struct kfd_request {
    struct kfd_process *process;
    int (*run)(struct kfd_request *request); /* KFD_LATER: another function will answer */
    void *argument;
    bool until_idle; /* the answer waits until the machine cannot go on by itself */
    bool aside;  /* it needs nothing of the driver, so it can be done in the middle of a kernel */
    bool drives; /* its thread has rung doorbells: what it waits for is simulated */
    struct kfd_request *next;
    int result;
    uint32_t answered; /* futex */
};
#define KFD_LATER 1

/* Any thread, and handlers of signals: hands over a request and waits for its answer. */
int kfd_ask(struct kfd_request *request);
/* With a time limit: 0 when it is over, and the request is still the machine's. */
bool kfd_ask_for(struct kfd_request *request, uint64_t limit_ms);
void kfd_answer(struct kfd_request *request, int result);
/* Any thread: opens the platform, once. False: it was said on stderr why not. */
bool kfd_machine_open(void);
/* A message on stderr, "heddle: " in front. Any thread. */
__attribute__((format(printf, 1, 2))) void kfd_say(const char *format, ...);
/* Any thread: memory of the library, zeroed; the program ends when there is none. */
void *kfd_new(size_t bytes);
void *kfd_grow(void *old, size_t bytes);
/* Translates an answer of the driver, and says what went wrong. The end of the simulation makes
 * `kfd.lost` true, and events tell the program. */
int kfd_status(enum driver_status status, const char *what);
/* The number of the GPU with this gpu_id, or -ENODEV... */
int kfd_find_gpu(uint32_t gpu_id);
/* Any thread: is the platform open? */
bool kfd_machine_is_open(void);
/* Any thread: nanoseconds of simulated time. Each reading is later than the one before. */
uint64_t kfd_read_clock(void);
uint64_t kfd_clock_at(uint64_t time_ps);

/* ---- kfd_threads.c ---- */

/* The calling thread has rung a doorbell: it is looked after from now on. */
void kfd_note_ringer(void);
bool kfd_is_ringer(void);
/* Do all threads sleep that have rung? */
bool kfd_ringers_sleep(void);
/* Processor time of the process. */
uint64_t kfd_spent_ns(void);

/* ---- kfd_memory.c ---- */

struct kfd_allocation {
    uint64_t handle, offset; /* the latter is for mmap() of a render node */
    uint64_t address, size;
    uint64_t span; /* of addresses that are taken: the size, or twice that */
    uint64_t host; /* where the program sees memory of its own that GPUs use; 0: none */
    uint32_t gpu, flags;
    bool in_device;  /* the driver has memory for it */
    bool has_code;   /* it is registered as code */
    char *bytes;     /* where the machine sees it */
    uint64_t mapped; /* a bit for each GPU */
};

/* `size` bytes at a device address, where the machine sees them; NULL: not inside of an allocation
 * that the GPU has mapped. */
void *kfd_bytes(uint32_t gpu, uint64_t address, uint64_t size);
struct kfd_allocation *kfd_find_allocation(uint64_t address);
struct kfd_allocation *kfd_find_handle(uint64_t handle);
void kfd_memory_open(void);
void kfd_memory_close(void); /* the driver's memory is freed, too */
int kfd_memory_allocate(struct kfd_request *request);
int kfd_memory_free(struct kfd_request *request);
int kfd_memory_map(struct kfd_request *request);
int kfd_memory_unmap(struct kfd_request *request);
/* A call of mmap(), as a request's argument. */
struct kfd_mapping {
    bool render;
    void *address; /* and the result */
    size_t length;
    int protection, flags;
    uint64_t offset;
};
int kfd_memory_show(struct kfd_request *request);

/* ---- kfd_doorbell.c ---- */

/* Maps the doorbells of a GPU for the program, and watches them. */
int kfd_doorbell_map(uint32_t gpu, struct kfd_mapping *mapping);
/* What was written last to doorbell number `slot`. */
uint64_t kfd_doorbell_value(uint32_t gpu, uint32_t slot);
void kfd_doorbell_clear(uint32_t gpu, uint32_t slot);

/* ---- kfd_queue.c ---- */

void kfd_queues_open(void);
void kfd_queues_close(void); /* those of the driver are not touched */
int kfd_queue_create(struct kfd_request *request);
int kfd_queue_destroy(struct kfd_request *request);
int kfd_queue_update(struct kfd_request *request);
/* hsa_signal_condition_t. */
enum { KFD_SIGNAL_EQUAL, KFD_SIGNAL_UNEQUAL, KFD_SIGNAL_LESS, KFD_SIGNAL_NOT_LESS };
bool kfd_signal_compare(uint32_t condition, int64_t a, int64_t b);
/* The simulation has ended: queues with work tell the program that they have stopped. */
void kfd_queues_fail(void);
/* The GPU is reset: its queues of kernels stop, and tell the program. */
void kfd_queues_reset(uint32_t gpu);
/* Looks which doorbells of the GPU were rung. True: no thread will wait for what they announce by
 * an event, or there may be no room for more, so that the thread has to wait at its doorbell. */
bool kfd_queues_rung(uint32_t gpu);
/* Kernels that wait for the program, and it for them, see what the other has written. */
void kfd_queues_exchange(void);
int kfd_queue_allocate_gws(struct kfd_request *request);
/* Begins packets and ends those that are over, as far as that can be done now. */
bool kfd_queues_step(void);
/* Is anything with the driver? */
bool kfd_queues_busy(void);
/* Before the program goes on: what kernels have written must be in memory. False: that is under
 * way. */
bool kfd_queues_settle(void);

/* ---- kfd_event.c ---- */

void kfd_events_open(void);
void kfd_events_close(void);
int kfd_event_create(struct kfd_request *request);
int kfd_event_destroy(struct kfd_request *request);
int kfd_event_set(struct kfd_request *request);
int kfd_event_reset(struct kfd_request *request);
int kfd_event_wait(struct kfd_request *request);
/* Gives up a wait, whose time is over. */
int kfd_event_give_up(struct kfd_request *request);
int kfd_event_map(struct kfd_mapping *mapping);
void kfd_event_signal(uint32_t id);
/* An interrupt signals the event, and empties its mailbox. */
void kfd_event_interrupt(uint32_t id);
/* Events whose mailbox a kernel has written to. False: there was none. */
bool kfd_events_look(void);
/* Does a thread that has asked for work wait for an event? */
bool kfd_events_awaited(void);
/* The simulation has ended: tells the program by its memory exception and hardware events. */
void kfd_events_fail(uint32_t gpu, uint64_t address, bool memory);

/* ---- kfd_wait.c ---- */

/* Simulated time that passes while a thread looks at a signal. */
#define KFD_POLL_PS UINT64_C(1000000)

/* Lets go the threads whose waits for signals are over, or all of them. */
void kfd_waits_look(bool all);
/* Is there any? *polls becomes true where one only looks. */
bool kfd_waits_any(bool *polls);

/* ---- kfd_code.c ---- */

/* What a kernel is called, by the code object and by people. Both stay until its memory is freed.
 */
struct kfd_kernel {
    struct kfd_kernel *next;
    uint64_t object; /* address of the descriptor */
    char *symbol, *name;
};
/* The kernel with this descriptor. Registers its code with the driver the first time. */
const struct kfd_kernel *kfd_code_find(uint32_t gpu, uint64_t object, uint64_t entry);
/* The memory is given back. */
void kfd_code_forget(const struct kfd_allocation *a);

#endif
