/* The machine behind /dev/kfd: what the files of its server share.
 *
 * One thread, the machine's, owns all of it: the driver of the platform, memory, queues and events
 * of all processes. Another one receives messages of the program's processes and hands them over as
 * requests (kfd_server.c). Functions below are called in the machine's thread unless they say
 * otherwise. Those of calls return 0 or a negative errno, as a kernel's do. */
#ifndef HEDDLE_COMPONENTS_KFD_SERVER_KFD_MACHINE_H
#define HEDDLE_COMPONENTS_KFD_SERVER_KFD_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "components/amd/isa/isa_target.h"
#include "components/host/driver/driver_api.h"
#include "components/kfd/channel/kfd_channel.h"

enum { KFD_QUEUES_MAX = 1024 /* queues of a process */ };

/* ---- kfd_machine.c: the thread, requests, the devices ---- */

struct kfd_gpu {
    struct driver_device_info info;
    const struct isa_traits *traits;
    uint32_t doorbell_bytes;
    bool retries; /* XNACK: an access whose page is not there asks for it, and is tried again */
};

struct kfd_machine {
    const struct driver_api *api; /* NULL: it is not open, or could not be opened */
    uint32_t minor_version;       /* N of the interface's version 1.N (--kfd-version) */
    uint32_t gpu_count;
    struct kfd_gpu gpu[KFD_GPUS_MAX];
    int memory;                    /* the file of the GPUs' memory */
    bool has_ended;                /* the simulation has ended by an error or a limit */
    char end_reason[256];          /* reason of the end, for processes that come later */
    struct kfd_process *processes; /* by number */
};
extern struct kfd_machine kfd;

enum kfd_life {
    KFD_LIVES,
    KFD_LEAVES, /* it has called exit(): it sets nothing any more that kernels wait for */
    KFD_ENDED   /* its kernels come to their end */
};

/* The activity of a process, as the machine's loop sees it. The last state of any process decides
 * what the loop does (`state_rules` in kfd_machine.c). */
enum kfd_state {
    KFD_IDLE,
    KFD_WAITS,          /* for simulated time to pass */
    KFD_COMPUTES,       /* and may ask for something before time passes */
    KFD_COMPUTES_BESIDE /* some of its threads compute, and another one waits */
};

/* Functions of a kind of processes: those with AMD's runtime, and guests. */
struct kfd_process_kind {
    /* One process of the kind has the turn: all threads are submitters, and a process that has lost
     * its turn is not ordered with the others. */
    bool takes_turns;
    enum kfd_state (*state)(struct kfd_process *p);
    bool (*is_asleep)(const struct kfd_process *p); /* one that computes */
    /* True if the driver has work of it, or one of its calls. */
    bool (*has_work)(struct kfd_process *p);
    /* True if it has begun something that its end cuts off. */
    bool (*is_executing)(struct kfd_process *p);
    /* True if threads that have waited may run. */
    bool (*may_resume)(struct kfd_process *p);
    /* Kernels and the program see each other's writes. NULL: calls of the program see to that. */
    void (*exchange_writes)(struct kfd_process *p);
    /* A kernel of the process has done something wrong. */
    void (*report_fault)(struct kfd_process *p, const struct driver_fault *fault);
    /* The simulation has ended. NULL: the next call of the process reports it. */
    void (*report_end)(struct kfd_process *p);
};
extern const struct kfd_process_kind kfd_rocm_process;  /* kfd_rocm_process.c */
extern const struct kfd_process_kind kfd_guest_process; /* kfd_guest.c */

/* A process of the program: an address space, memory, queues, events. Files keep what is theirs in
 * tables that only they know. */
struct kfd_process {
    struct kfd_process *next;
    const struct kfd_process_kind *kind;
    uint32_t number; /* from 1, in the order of their first calls */
    pid_t pid;
    uint64_t code; /* address of ROCr's list of what it has loaded; 0: none */
    enum kfd_life life;
    bool has_faulted;      /* a kernel has done something wrong, and its queues have stopped */
    bool has_lost_turn;    /* the engine runs beside it until a submitter asks for something */
    bool has_free_threads; /* its threads that have waited do not wait for those that compute */
    bool is_quiescent;     /* all its threads wait or sleep, until it gets an answer */
    bool has_runtime;      /* its runtime has announced itself; a second one may not */
    bool retries;          /* XNACK is on: pages by attributes go where they are used */
    uint64_t spent_ns;     /* processor time of the process when it asked last */
    int file;              /* file that holds the page and what follows it */
    struct kfd_page *page;
    uint32_t device[KFD_GPUS_MAX]; /* the driver's, in the address space of the process */
    uint32_t contexts[16];         /* devices that it has created; guests do */
    uint32_t context_count;
    uint32_t fences; /* the driver's queue of fences that belong to no packet */
    struct kfd_memory *memory;
    struct kfd_queues *queues;
    struct kfd_events *events;
    struct kfd_wait *waits;
    struct kfd_request *delayed_answers; /* answers that wait until it has no work */
    struct kfd_kernel *kernels;          /* kernels that were dispatched */
    struct kfd_cache_state *caches;
    struct kfd_ranges *ranges;
    struct kfd_shared *shared;
    struct kfd_listener *listeners;
    struct kfd_guest *guest; /* NULL: it uses the kernel driver */
};

/* The driver's name of an address of the process. */
static inline uint64_t kfd_name(const struct kfd_process *p, uint64_t address)
{
    return kfd.api->name(p->device[0], address);
}

/* A request of a thread of the program. */
struct kfd_request {
    struct kfd_request *next;
    struct kfd_connection *connection;       /* NULL: the server's own */
    int (*run)(struct kfd_request *request); /* KFD_LATER: another function will answer */
    void *argument;
    bool waits_until_idle; /* the answer waits until the process has no work */
    bool waits_until_done; /* or the queue whose doorbell it wrote */
    uint32_t queue;        /* that one */
    bool runs_mid_kernel;  /* it needs nothing of the driver */
    int result;
};
#define KFD_LATER 1

/* Any thread: hands over a request. */
void kfd_hand_over(struct kfd_request *request);
/* The machine's thread: does what is handed over, until kfd_machine_end(). */
void kfd_machine_run(void);
void kfd_machine_end(void);
/* Removes a request, which may wait for something or for its turn, from all lists. */
void kfd_drop(const struct kfd_request *request);
/* Opens the platform, once. False: it cannot be opened, or was opened for guests and not for the
 * kernel driver; a message on stderr says which. */
bool kfd_machine_open(bool for_kernel_driver);
/* The user of memory in messages of base/grow.h, for any thread. */
#define KFD_SERVER "the kernel driver's server"
/* Translates an answer of the driver, and says what went wrong. The end of the simulation makes
 * `kfd.has_ended` true, and events tell the program. */
int kfd_status(enum driver_status status, const char *what);
/* The simulation has ended, if it has: makes `kfd.has_ended` true, and tells it. */
void kfd_note_end_of_simulation(enum driver_status status);
/* True in the middle of a kernel that is executed without timing. The driver accepts no calls then
 * but abandon(). */
bool kfd_is_mid_kernel(void);
/* In the middle of a kernel: runs the requests that can run then, or waits a moment. */
void kfd_serve_mid_kernel(void);
/* True if a kernel of this process has failed. All its queues stop then, and it gets an event. */
bool kfd_has_faulted(struct kfd_process *p);
/* The number of the GPU with this gpu_id, or -ENODEV. */
int kfd_find_gpu(uint32_t gpu_id);
/* Nanoseconds of simulated time. Each reading of a process is later than the one before. */
uint64_t kfd_read_clock(struct kfd_process *p);
uint64_t kfd_clock_at(const struct kfd_process *p, uint64_t time_ps);

/* ---- kfd_connection.c ---- */

/* The process of the connection; NULL: it has none. */
struct kfd_process *kfd_process_of(const struct kfd_request *request);
/* Sends the answer of a request. */
void kfd_answer(struct kfd_request *request, int result);
/* The submitters of a process: its threads that have written to a doorbell. There are none, all
 * run, or one waits for an answer. */
enum kfd_submitters { KFD_SUBMITTERS_NONE, KFD_SUBMITTERS_RUN, KFD_SUBMITTER_WAITS };
enum kfd_submitters kfd_submitters(const struct kfd_process *p);
/* True if all submitters sleep. */
bool kfd_submitters_sleep(const struct kfd_process *p);
/* True if a message of this process is on its way. A thread that has sent one sleeps, too. What was
 * handed over meanwhile is to be looked at after this. */
bool kfd_messages_pending(const struct kfd_process *p);
/* True if the predicate holds for all threads of this process. */
bool kfd_all_threads(const struct kfd_process *p,
                     bool (*is)(const struct kfd_process *p, int thread));
/* True if all threads of this process sleep or wait for an answer. */
bool kfd_is_quiescent(struct kfd_process *p);
/* True if a submitter makes the request. */
bool kfd_is_submitter(const struct kfd_request *request);
/* The process is taken out of the list: no connection is its any more. */
void kfd_connections_detach(const struct kfd_process *p);

/* ---- kfd_process.c ---- */

void kfd_each_process(void (*look)(struct kfd_process *p));
/* True if the predicate holds for any process. */
bool kfd_any_process(bool (*is)(struct kfd_process *p));
/* An address space and empty tables for a process; NULL: a message on stderr has the reason. */
struct kfd_process *kfd_process_open(pid_t pid, uint64_t code, bool is_guest);
/* A guest has an address space from now on, and is the last in the order of processes. */
bool kfd_process_enter(struct kfd_process *p);
/* A process has ended: its queues begin nothing more, its waits are over. */
void kfd_process_leave(struct kfd_process *p);
/* All that it has is free. Nothing of it is with the driver any more, unless `kfd.has_ended`. */
void kfd_process_close(struct kfd_process *p);
/* The program sees what time it is. */
void kfd_publish_time(void);
/* Processor time of this process. */
uint64_t kfd_spent_ns(const struct kfd_process *p);
/* A submitter of this process asks for something. */
void kfd_process_asked(struct kfd_process *p);
/* True if a process that has ended is left as it is until another one comes. */
bool kfd_process_stays(const struct kfd_process *p);
/* Says how many there were and what is left of them. */
void kfd_processes_report(void);
/* The value that the process has written last to doorbell number `slot`. */
uint64_t kfd_doorbell_value(const struct kfd_process *p, uint32_t gpu, uint32_t slot);
void kfd_doorbell_clear(struct kfd_process *p, uint32_t gpu, uint32_t slot);

/* ---- kfd_memory.c ---- */

struct kfd_allocation {
    uint64_t handle, offset; /* the latter is for mmap() of a render node */
    uint64_t address, size;
    uint64_t span; /* length of the addresses that are taken: the size, or twice that */
    uint64_t host; /* where the program sees memory of its own that GPUs use; 0: none */
    uint32_t gpu, flags;
    bool is_in_device; /* the driver has memory for it */
    bool is_at_host;   /* memory of the host */
    bool moves;        /* its pages go to the GPUs that use them */
    bool has_code;     /* it is registered as code */
    bool is_described; /* so is the file that it was loaded from */
    char *bytes;       /* where the machine sees it */
    uint64_t mapped;   /* a bit for each GPU */
    uint64_t origin;   /* all with the same one, above 0, are one memory at several addresses */
};

/* `size` bytes at a device address, where the machine sees them; NULL: not inside of an allocation
 * that the GPU has mapped. */
void *kfd_bytes(const struct kfd_process *p, uint32_t gpu, uint64_t address, uint64_t size);
struct kfd_allocation *kfd_find_allocation(const struct kfd_process *p, uint64_t address);
struct kfd_allocation *kfd_find_handle(const struct kfd_process *p, uint64_t handle);
void kfd_memory_open(struct kfd_process *p);
void kfd_memory_close(struct kfd_process *p); /* the driver's memory is freed, too */
/* Allocates memory of the program that is to lie on GPU `gpu` or, with `at_host`, at the host. With
 * XNACK its pages move from there on. */
int kfd_memory_give_to_gpu(struct kfd_process *p, uint64_t start, uint64_t end, uint32_t gpu,
                           bool at_host);
/* Lets these GPUs, a bit for each, reach the allocation. */
int kfd_memory_map_to_gpus(const struct kfd_process *p, struct kfd_allocation *a, uint64_t gpus);
/* Frees the memory of an allocation. */
void kfd_memory_release(struct kfd_process *p, struct kfd_allocation *a);
int kfd_memory_allocate(struct kfd_process *p, struct kfd_request *request);
int kfd_memory_free(struct kfd_process *p, struct kfd_request *request);
int kfd_memory_map(struct kfd_process *p, struct kfd_request *request);
int kfd_memory_unmap(struct kfd_process *p, struct kfd_request *request);
/* The handle of what is shown at an offset of a render node, all of `length` bytes. */
int kfd_memory_find(const struct kfd_process *p, uint64_t offset, uint64_t length,
                    uint64_t *handle);
/* The first allocation that touches [start, end) and that the program has at the same address. */
const struct kfd_allocation *kfd_memory_find_given(const struct kfd_process *p, uint64_t start,
                                                   uint64_t end);
/* The extents of bytes [first, end) of an allocation, as far as there is room. */
int kfd_memory_extent_at(const struct kfd_process *p, uint64_t handle, uint64_t first, uint64_t end,
                         struct kfd_extent *part, size_t capacity, size_t *count);

/* ---- kfd_queue.c ---- */

void kfd_queues_open(struct kfd_process *p);
void kfd_queues_close(struct kfd_process *p);
/* The process has ended: nothing more begins. */
void kfd_queues_process_ended(const struct kfd_process *p);
int kfd_queue_create(struct kfd_process *p, struct kfd_request *request);
int kfd_queue_destroy(struct kfd_process *p, struct kfd_request *request);
int kfd_queue_update(struct kfd_process *p, struct kfd_request *request);
/* hsa_signal_condition_t. */
enum { KFD_SIGNAL_EQUAL, KFD_SIGNAL_UNEQUAL, KFD_SIGNAL_LESS, KFD_SIGNAL_NOT_LESS };
bool kfd_signal_compare(uint32_t condition, int64_t a, int64_t b);
/* The simulation has ended: queues with work tell the program that they have stopped. */
void kfd_queues_fail(const struct kfd_process *p);
/* The GPU is reset: its queues of kernels stop, and tell the program. */
void kfd_queues_reset(const struct kfd_process *p, uint32_t gpu);
/* Reads which doorbells of the GPU were written, the last of them is *queue. True: no thread will
 * wait for what they announce by an event, or there may be no room for more, so that the thread has
 * to wait at its doorbell. */
bool kfd_queues_read_doorbells(struct kfd_process *p, uint32_t gpu, uint32_t *queue);
/* True if the queue has done all that it can do. */
bool kfd_queue_is_done(const struct kfd_process *p, uint32_t queue);
/* Kernels that wait for the program, and it for them, see what the other has written. */
void kfd_queues_sync_memory(struct kfd_process *p);
int kfd_queue_allocate_gws(struct kfd_process *p, struct kfd_request *request);
/* Begins packets and ends those that are over, as far as that can be done now. */
bool kfd_queues_step(struct kfd_process *p);
/* Asks whether the last fence is done. False: the driver had no commands of the queues. */
bool kfd_queues_poll(struct kfd_process *p);
/* True if packets have begun that are not over. */
bool kfd_queues_in_flight(const struct kfd_process *p);
/* Brings kernels' writes to memory before the program runs. False: that is under way. */
bool kfd_queues_release_caches(struct kfd_process *p);

/* ---- kfd_event.c ---- */

void kfd_events_open(struct kfd_process *p);
void kfd_events_close(struct kfd_process *p);
int kfd_event_create(struct kfd_process *p, struct kfd_request *request);
int kfd_event_destroy(struct kfd_process *p, struct kfd_request *request);
int kfd_event_set(struct kfd_process *p, struct kfd_request *request);
int kfd_event_reset(struct kfd_process *p, struct kfd_request *request);
int kfd_event_wait(struct kfd_process *p, struct kfd_request *request);
/* Ends the wait of a request, whose time is over; it may have been answered. */
void kfd_event_give_up(const struct kfd_process *p, const struct kfd_request *wait);
void kfd_event_signal(struct kfd_process *p, uint32_t id);
/* An interrupt signals the event, and empties its mailbox. */
void kfd_event_interrupt(struct kfd_process *p, uint32_t id);
/* Events whose mailbox a kernel has written to. False: there was none. */
bool kfd_events_read_mailboxes(struct kfd_process *p);
/* True if a thread that has asked for work waits for an event. */
bool kfd_events_have_waiters(const struct kfd_process *p);
/* All waits are over. */
void kfd_events_end_waits(struct kfd_process *p);
/* The simulation has ended: tells the program by its memory exception and hardware events. */
void kfd_events_fail(struct kfd_process *p, uint32_t gpu, uint64_t address, bool memory);

/* ---- kfd_signal_wait.c ---- */

/* Simulated time that passes while a thread looks at a signal. */
#define KFD_POLL_PS UINT64_C(1000000)

/* `conditions`: in the message of the request, which stays until it is answered. */
int kfd_signal_wait_begin(struct kfd_process *p, struct kfd_request *request,
                          const struct kfd_condition *conditions, size_t count, bool polls);
/* True if one of them is over. */
bool kfd_signal_waits_are_over(const struct kfd_process *p);
/* Lets go the threads whose waits for signals are over, or all of them. */
void kfd_signal_waits_end(struct kfd_process *p, bool all);
void kfd_signal_wait_give_up(struct kfd_process *p, const struct kfd_request *request);
/* True if one of them only polls. */
bool kfd_signal_waits_poll(struct kfd_process *p);

/* ---- kfd_kernel_name.c ---- */

/* The names of a kernel, in the code object and for people. Both stay until its memory is freed.
 */
struct kfd_kernel {
    struct kfd_kernel *next;
    uint64_t object; /* address of the descriptor */
    char *symbol, *name;
};
/* The kernel with this descriptor. Registers its code with the driver the first time. */
const struct kfd_kernel *kfd_kernel_name_find(struct kfd_process *p, uint32_t gpu, uint64_t object,
                                              uint64_t entry);
/* The memory is given back. */
void kfd_kernel_name_release(struct kfd_process *p, const struct kfd_allocation *a);

#endif
