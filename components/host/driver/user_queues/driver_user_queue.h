/* User queues: state, life, launches through them, and what packet processors say. */
#ifndef HEDDLE_COMPONENTS_HOST_DRIVER_USER_QUEUES_DRIVER_USER_QUEUE_H
#define HEDDLE_COMPONENTS_HOST_DRIVER_USER_QUEUES_DRIVER_USER_QUEUE_H

#include "components/host/driver/driver_state.h"
#include "components/host/driver/launch/driver_launch.h"
#include "components/host/driver/user_queue_api.h"
#include "components/protocols/user_queue/aql_queue.h"
#include "runtime/engine/run_control.h"

/* State of user queues in the driver; see driver_user_queue.c. */

enum {
    USER_QUEUES_MAX = 4096,
    USER_PAGES_MAX = 1024, /* mapped at the same time */
    USER_RINGS = 1024,     /* doorbells written and not sent */
    USER_DOORBELLS = 512,  /* doorbells of a GPU: a page */
    USER_WANTS = 4096,     /* kernels that wait for private memory */
    /* Behind the ring: the read index, the queue object, and a signal for launches of the driver.
     */
    USER_SIGNAL = AQL_QUEUE_OBJECT + AQL_QUEUE_BYTES,
    USER_TAIL_BYTES = USER_SIGNAL + AQL_SIGNAL_BYTES
};

struct user_queue_entry {
    bool is_used;
    uint32_t gpu, pid;
    uint32_t device; /* as the program calls it */
    uint32_t slot;   /* doorbell */
    uint32_t packets;
    uint64_t ring, read_index;
    uint64_t written; /* by user_queue_write(), or launches of the driver */
    uint64_t read;    /* as far as is known */
    uint32_t owner; /* the driver's queue whose launches go here; DRIVER_NONE: the program's own */
    uint64_t done;  /* launches of the driver that have ended */
};

struct user_queue_page {
    bool is_used;
    uint32_t gpu, pid;
    uint32_t device; /* device that mapped it */
};

struct user_queue_ring {
    uint32_t gpu, slot;
    uint64_t number;
};

/* A packet processor waits for private memory. */
struct user_queue_want {
    uint32_t gpu;
    uint16_t tag;
    bool needs_pool; /* one is to be made at the end of the window */
    bool has_pool;
    struct scratch_want want;
};

/* A packet processor waits until what kernels of the process wrote to other GPUs is visible. */
struct user_queue_release {
    uint32_t gpu, pid;
    uint16_t tag;
};

struct driver_user {
    struct user_queue_entry queue[USER_QUEUES_MAX];
    uint32_t queue_end; /* none from here on was ever used */
    struct user_queue_page page[USER_PAGES_MAX];
    struct user_queue_ring rings[USER_RINGS]; /* first come, first sent, for each GPU */
    uint32_t ring_count;
    struct user_queue_want wants[USER_WANTS]; /* first come, first served */
    uint32_t want_count;
    struct user_queue_release releases[USER_WANTS]; /* first come, first served */
    uint32_t release_count;
    struct gpu_set release_left; /* GPUs that the first packet has still to flush */
    bool is_releasing;           /* it has begun */
    uint64_t events;             /* signals and packets that may have changed */
    bool stops_at_event;         /* the program waits for one */
    uint64_t awaited;            /* by it: a signal */
    struct user_queue_listener {
        bool waits;
        uint64_t events; /* as its packet processor knows them */
    } listener[DRIVER_DEVICES];
    struct {
        bool is_pending, is_sent, is_answered;
        uint8_t kind; /* enum queue_control_request_kind */
        uint32_t queue;
        uint64_t read;
        uint8_t error;
    } call;
};

static inline struct driver_user *user_queues_of(const struct driver *d)
{
    return arena_at(struct driver_user, d->user);
}

static inline uint64_t user_queue_signal(const struct user_queue_entry *q)
{
    return q->read_index + USER_SIGNAL;
}

/* Signals may have changed, or packets have been written. */
static inline void user_queue_event(struct driver *d)
{
    struct driver_user *u = user_queues_of(d);
    u->events++;
    if (u->stops_at_event)
        engine_stop();
}

static inline bool user_queue_launches(const struct driver *d)
{
    return driver_params(d)->launch_by == DRIVER_LAUNCH_BY_QUEUE
           && platform_mode() != PLATFORM_FUNCTIONAL;
}

/* Life of a user queue: creating it, ringing its doorbell, waiting for its signals. See
 * driver_user_queue.c. */

static bool user_queue_tick(struct driver *d);

/* The number of answers that the simulation owes the program. */
static unsigned user_queue_outstanding(const struct driver *d, struct hang_report *report);

static enum driver_status user_queue_create(struct driver *d, uint32_t device, uint32_t packets,
                                            struct queue_info *info);

/* The user queue for launches of the driver's queue; made before the first. */
static enum driver_status user_queue_for_launches(struct driver *d, uint32_t queue);

static void user_queue_init(struct driver *d);

/* Destroys the user queue for launches of a queue of the driver. The launches are done. */
static enum driver_status user_queue_close(struct driver *d, uint32_t queue);

/* Destroys the queues and pages of doorbells that a device still has, before it is destroyed. */
static enum driver_status user_queue_leave(struct driver *d, uint32_t device);

static enum driver_status user_queue_ring(struct driver *d, uint32_t page, uint64_t offset,
                                          uint64_t number);

/* Launches of the driver through user queues. See driver_user_queue_launch.c. */

/* True if the queue's command may begin while launches before it run. Pages move only when no
 * kernel runs, so where they do, none is announced early. */
static bool submit_beside(const struct driver *d, const struct driver_queue *q,
                          const struct driver_command *k);

/* Tells the packet processor of the queue that it is there; the answer ends the command. */
static bool submit_open(struct driver *d, struct driver_command *k);

/* Makes the pools that packets wait for, at the end of a window. */
static void user_queue_make_pools(struct driver *d);

/* Takes one step of a launch whose arguments are sent. False: it has to wait. */
static bool submit_step(struct driver *d, uint32_t command, struct driver_queue *q);

/* Messages of packet processors. See driver_user_queue_interrupts.c. */

/* The packet processor knows the queue. */
static void user_queue_opened(struct driver *d, uint32_t gpu, uint32_t slot);

/* Sends waiting packet processors the events that they do not know. */
static bool user_queue_send_events(struct driver *d);

/* Works on the first release: flushes one GPU after the other, then answers. Command number
 * DRIVER_COMMANDS_MAX + 1 represents it. */
static bool user_queue_release(struct driver *d);

static bool user_queue_interrupts(struct driver *d);

/* Gives pools to the packets that wait, the oldest first; one that must be made is made at the end
 * of the window. */
static bool user_queue_serve_wants(struct driver *d);

/* The table of user-queue calls that struct driver_api leads to. */

static const struct driver_queue_api driver_queue_api_table; /* constant; defined in the .c file */

#endif
