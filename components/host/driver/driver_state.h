/* State of the driver component, for all of its files.
 *
 * A command waits in the list of its queue until it is the first; then it is worked on in phases
 * until it is done. Its ticket is its number since start, so "done" is a look into a table of
 * recent tickets. Messages in flight to a GPU have a slot each, whose number is the tag. Host
 * buffers are the one thing that is not state of the simulation: commands refer to them by address,
 * as the program does. */
#ifndef HEDDLE_COMPONENTS_HOST_DRIVER_DRIVER_STATE_H
#define HEDDLE_COMPONENTS_HOST_DRIVER_DRIVER_STATE_H

#include "driver.gen.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/number.h"
#include "components/amd/isa/isa.h"
#include "components/host/device_memory/memory_manager.h"
#include "components/host/driver/commands/driver_command.h"
#include "components/memory/page_table/page_table.h"
#include "components/memory/page_table/program_table.h"
#include "components/nvidia/program/sm_occupancy.h"
#include "components/protocols/work/work_placement.h"
#include "runtime/engine/bug.h"
#include "runtime/observe/hang.h"
#include "runtime/state/platform.h"

#include "driver_api.h"

enum {
    DRIVER_DEVICES = GPU_SET_MAX, /* other sets of GPUs hold as many */
    DRIVER_QUEUES_MAX = 4096,
    DRIVER_COMMANDS_MAX = 1 << 16, /* not done at the same time */
    DRIVER_TICKETS = 1 << 20,      /* whose times are remembered; those of marks always are */
    DRIVER_PID = 1,                /* process of the devices that the platform has */
    DRIVER_ALL_PIDS = UINT32_MAX,  /* a shoot-down is for all processes */
    DRIVER_HANDLES_MAX = 1024, /* devices as the program sees them: GPUs, contexts, unified ones */
    /* The ring of packets and kernel arguments, which is smaller on small devices. */
    DRIVER_RING_BYTES_MAX = 4 << 20,
    DRIVER_PAGE_REQUESTS = 4096,   /* requests for pages that wait */
    DRIVER_BLOCK_PAGES = 512,      /* pages of 4 KiB in the largest block that is evicted */
    DRIVER_WRITTEN = 1024,         /* pages that have lost their copies to a write, remembered */
    DRIVER_LATE_PIECES = 64,       /* pieces of a ring that its head goes around */
    DRIVER_SCRATCH_POOLS_MAX = 16, /* a device, kept for the next launch */
    DRIVER_SPARE_SLOTS = 1,        /* slots for other messages when launches have all others */
    DRIVER_WORK_GROUP_MAX = 1024,
    DRIVER_NONE = UINT32_MAX
};

struct driver_queue {
    bool is_used;
    bool wants_scratch;   /* the first command waits for a pool to be made */
    uint32_t flags;       /* enum driver_queue_flags */
    uint32_t device;      /* GPU; the first one of a unified device */
    uint32_t handle;      /* handle that it was made for */
    uint32_t first, last; /* commands */
    uint32_t current; /* command in work: the first, or the first after launches in a user queue */
    uint32_t user;    /* user queue for launches; DRIVER_NONE: not made */
};

/* A device as the program sees it: number 0 .. gpu_count - 1 are the GPUs, in process
 * DRIVER_PID; others are made by the program: a GPU in another process (a context), or several GPUs
 * as one (unified). */
struct driver_handle {
    bool is_used;
    uint32_t pid;
    uint32_t count; /* GPUs; 0: destroyed or never made */
    uint32_t member[DRIVER_DEVICES];
    uint32_t part_queue[DRIVER_DEVICES]; /* unified: where the parts of launches wait; DRIVER_NONE:
                                            not made yet */
};

struct driver_slot {
    uint32_t command; /* DRIVER_NONE: free */
    uint32_t size;
    uint64_t offset; /* in the command's data */
};

/* A piece of the ring of arguments; see driver_argument_ring.c. */
struct driver_piece {
    uint64_t start; /* position */
    uint32_t bytes;
    bool is_held;
    bool is_written; /* to the device's memory */
};

/* Packets and arguments of a GPU's launches: one ring for the program with all its contexts, and
 * one for each process that shares the GPU with others (contain()), out of reach of the others'
 * kernels. */
struct driver_ring {
    uint32_t pid;     /* its process; 0: none any more */
    uint32_t next;    /* arena: the ring of the next such process */
    uint64_t address; /* virtual; 0: not allocated yet */
    uint32_t bytes;
    uint64_t head; /* position of the next byte to hand out */
    uint64_t head_round;
    uint32_t mirror;                   /* arena: what launches want written there */
    uint32_t pieces;                   /* arena: struct driver_piece[DRIVER_COMMANDS_MAX], a ring */
    uint32_t first_piece, pieces_held; /* numbers count on, places in the table are remainders */
    uint32_t late_pieces;
    struct driver_late_piece {
        uint32_t number, offset, bytes;
    } late_piece[DRIVER_LATE_PIECES];
    struct driver_piece last_piece; /* the one taken last, held or not; bytes 0: none */
    uint32_t last_piece_queue;
};

struct driver_scratch {
    uint64_t address;
    uint64_t bytes; /* 0: no pool */
    uint32_t pid;
    bool is_used;
};

/* A GPU as the driver keeps it. */
struct driver_device {
    uint64_t size;  /* bytes of memory */
    uint32_t slots; /* arena: struct driver_slot[in_flight + DRIVER_SPARE_SLOTS] */
    uint32_t slots_used;
    uint32_t slots_of_launches;
    uint64_t bandwidth;  /* bytes a second over the link to it; 0: no limit */
    uint64_t link_ps[2]; /* when what has been asked for is over the link, there and back */
    uint64_t flushed_at, left_at; /* see driver_l2_flush.c */
    uint32_t meeting_queue;       /* queue of the last launch whose work-groups meet */
    uint64_t meeting_ticket;      /* its ticket; 0: none */
    uint32_t line;                /* bytes of the longest line of its caches */
    bool drops_l2;                /* a launch drops what the L2 holds */
    bool has_wrapped_ring;  /* lines of the ring may be in caches: flush before the next launch */
    bool caches_all_memory; /* its L2 keeps lines of all memory, which others do not see */
    struct gpu_set reached; /* caches_all_memory: GPUs whose memory its kernels could access */
    bool takes_copies;      /* from and to other GPUs, directly */
    bool has_shared_line;   /* kernels may have cached a line that a copy changed: flush, too */
    uint32_t flushing;      /* flushes that are not answered */
    uint32_t kernels_running;
    uint32_t launches; /* functional mode: number of the next dispatch */
    struct driver_ring ring;
    struct driver_scratch scratch[DRIVER_SCRATCH_POOLS_MAX];
    struct sm_shape sm;
    uint64_t heap_bytes; /* heap of kernels that allocate; 0: the default */
    struct driver_device_info info;
};

enum migrate_state {
    MIGRATE_NONE,
    MIGRATE_DRAIN, /* copies end, nothing begins */
    MIGRATE_PAUSE,
    MIGRATE_NEXT,
    MIGRATE_COPY,
    MIGRATE_SWAP,
    MIGRATE_SHOOT,
    MIGRATE_ANSWER,
    MIGRATE_RESUME
};

/* The outcome of a request for a page: nothing, the page is noted as placed, it moves, it gets its
 * first copy or a further one, its copies go, or it stays. */
enum migrate_work {
    MIGRATE_WORK_NONE,
    MIGRATE_WORK_PLACE,
    MIGRATE_WORK_MOVE,
    MIGRATE_WORK_COPY,
    MIGRATE_WORK_COPY_MORE,
    MIGRATE_WORK_WRITE,
    MIGRATE_WORK_STAY /* there is no room for it: it is accessed where it is from now on */
};

/* A page that was written to and gets no copies for a while. */
struct driver_written {
    uint64_t page;  /* number */
    uint64_t until; /* cycle */
    uint32_t pid;
};

/* A GPU has asked for a page, or the host wants to write to it. */
struct driver_page_request {
    uint64_t address;
    uint32_t pid;
    uint32_t gpu;
    uint32_t port; /* port that the request came by; DRIVER_NONE: the host's */
    uint8_t wish;  /* enum page_wish */
    bool is_later; /* the page has come to another GPU in this pause */
    uint16_t tag;
};

/* See driver_residence.c. */
struct driver_residence {
    uint32_t frames; /* arena: struct driver_frame[], one for each page of the GPU's memory */
    uint32_t oldest, youngest; /* 1 + frame, 0: none */
    uint32_t count;
};

/* See driver_sampling.c. */
struct driver_sample {
    bool has_waiting;     /* a command has PHASE_UNTIMED */
    bool has_live_caches; /* caches hold bytes; else they are only tags */
    bool has_skipped;     /* launches have left no trace in caches since they were touched last */
    uint32_t timed;       /* timed launches under way: 0 or 1 */
    bool has_ended;       /* `perfect`: the last chosen launch is over, the rest takes no time */
    uint64_t prepared;    /* number of the launch that the platform was made ready for */
    uint64_t flushes;     /* flushes of caches that took no time */
    bool is_quiet;        /* nothing was under way, and nothing has been begun since */
    bool has_warned;      /* a warning told of a simulated launch while another one waits */
    uint64_t chosen; /* `--kernels auto`: launch that is to be simulated or is being; 0: none */
};

/* See driver_migration.c. */
struct driver_migrate {
    uint32_t requests; /* arena: struct driver_page_request[DRIVER_PAGE_REQUESTS], a ring */
    uint32_t first, count;
    uint32_t state; /* enum migrate_state, of the first request */
    uint32_t sent;  /* GPUs that were sent the message of the state */
    struct gpu_set paused;
    uint64_t paused_at;            /* cycle */
    uint64_t not_before;           /* cycle of the next pause */
    bool is_ready;                 /* managed memory is not in use */
    uint32_t work;                 /* enum migrate_work, of the first request */
    uint64_t moved;                /* pages that have changed their place */
    uint32_t written;              /* arena: struct driver_written[DRIVER_WRITTEN], by page */
    uint64_t from, to;             /* physical */
    uint32_t port[DRIVER_DEVICES]; /* `move` port of each GPU */
};

struct driver_ticket {
    uint64_t ticket;
    uint64_t done_ps; /* 1 + time, 0: not done; with DRIVER_TICKET_MARK, DRIVER_TICKET_MOVE */
};

/* The command was a mark, whose time may be asked for at any time. */
#define DRIVER_TICKET_MARK ((uint64_t)1 << 63)
/* The command was a copy or a fill. */
#define DRIVER_TICKET_MOVE ((uint64_t)1 << 62)

struct driver {
    struct driver_io io;
    uint32_t device_count; /* GPUs, and after them the host's memory if there is such */
    uint32_t gpu_count;
    uint32_t commands; /* arena: struct driver_command[DRIVER_COMMANDS_MAX + 2]; the last two stand
                          for migrations and releases */
    struct index_pool command_numbers;
    uint32_t undone; /* commands */
    uint32_t queues; /* arena: struct driver_queue[DRIVER_QUEUES_MAX] */
    uint32_t queue_count;
    uint32_t dirty; /* arena: uint64_t[device_count][PAGE_TABLE_PIDS] */
    uint64_t dirty_clock;
    uint32_t turn;    /* queue that is looked at first */
    uint32_t tickets; /* arena: struct driver_ticket[DRIVER_TICKETS] */
    uint64_t last_ticket;
    uint32_t old_marks; /* arena: struct driver_ticket[old_mark_capacity], by number: marks that
                           have left the table of tickets */
    uint32_t old_mark_count, old_mark_capacity;
    uint64_t awaited;      /* stop the engine when this ticket is done; 0: none */
    bool awaits_any;       /* stop when any command is done */
    bool awaits_migration; /* stop when no page is on its way */
    struct driver_migrate migrate;
    struct driver_sample sample;
    uint64_t launches_asked; /* numbers of launches */
    uint64_t stop_at;        /* stop the engine at this cycle; 0: no */
    uint64_t host_cycle;     /* the program has got this far */
    uint32_t user;           /* arena: struct driver_user */
    uint32_t calls_state;    /* arena: struct driver_calls */
    struct memory_manager memory;
    uint32_t handles; /* arena: struct driver_handle[DRIVER_HANDLES_MAX] */
    uint32_t handle_count;
    uint32_t direct; /* arena: struct driver_direct, bytes to move at the end of the window */
    uint32_t direct_count;
    bool has_near_gpu;    /* a GPU is nearer than a window is long */
    uint32_t bounces;     /* arena: struct driver_bounce[2 * in_flight], copies between GPUs */
    uint32_t bounce_data; /* arena: char[2 * in_flight][COPY_MESSAGE_BYTES] */
    uint32_t free_bounce; /* list; DRIVER_NONE: all have a piece */
    struct driver_device device[DRIVER_DEVICES];
    struct driver_residence residence[DRIVER_DEVICES];
};

/* NULL: the program's calls are the driver's at once. */
static inline const struct call_path_ops *call_path(const struct driver *d)
{
    return platform_mode() != PLATFORM_FUNCTIONAL ? driver_call_path_ops(d) : NULL;
}

static inline struct driver_command *driver_command_at(const struct driver *d, uint32_t number)
{
    return arena_at(struct driver_command, d->commands) + number;
}

static inline struct driver_queue *driver_queue_at(const struct driver *d, uint32_t number)
{
    return arena_at(struct driver_queue, d->queues) + number;
}

static inline struct driver_slot *driver_slot_at(const struct driver_device *device,
                                                 uint32_t number)
{
    return arena_at(struct driver_slot, device->slots) + number;
}

static inline struct driver_ticket *driver_ticket_at(const struct driver *d, uint64_t ticket)
{
    return arena_at(struct driver_ticket, d->tickets) + ticket % DRIVER_TICKETS;
}

/* A ticket that was overwritten in the table has been done for long. */
static inline bool driver_ticket_done(const struct driver *d, uint64_t ticket)
{
    const struct driver_ticket *t = driver_ticket_at(d, ticket);
    return ticket == 0 || t->ticket != ticket || t->done_ps;
}

/* The time at which a ticket was done, which it is. */
static inline uint64_t driver_ticket_ps(const struct driver_ticket *t)
{
    return (t->done_ps & ~(DRIVER_TICKET_MARK | DRIVER_TICKET_MOVE)) - 1;
}

static inline struct driver_handle *driver_handle_at(const struct driver *d, uint32_t number)
{
    return arena_at(struct driver_handle, d->handles) + number;
}

/* True if there is memory of the host. */
static inline bool driver_has_host(const struct driver *d)
{
    return d->gpu_count < d->device_count;
}

/* True if managed pages begin there and are evicted to it. */
static inline bool driver_evicts(const struct driver *d)
{
    return driver_has_host(d) && driver_eviction_ops(d);
}

static inline uint64_t driver_page_bytes(const struct driver *d)
{
    return driver_params(d)->page_size;
}

/* The GPUs that the driver is connected to, as the platform's tables describe them. See
 * driver_devices.c. */

static const char *table_string(uint32_t offset);

/* True if port `number` of `gpu` leads to memory of the host. */
static bool device_is_memory(const struct driver *d, uint32_t number);

static void device_init(struct driver *d, uint32_t number);

#endif
