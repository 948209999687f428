/* A command: what every kind has, and a union of what the kinds need. It waits in the list of its
 * queue until it is the first; then it goes through phases until it is done. What a kind does in
 * its phases is in one table, driver_command_kinds.c. */
#ifndef HEDDLE_COMPONENTS_HOST_DRIVER_COMMANDS_DRIVER_COMMAND_H
#define HEDDLE_COMPONENTS_HOST_DRIVER_COMMANDS_DRIVER_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "components/memory/page_table/gpu_set.h"
#include "components/protocols/command/aql_packet.h"

enum driver_kind {
    DRIVER_WRITE,
    DRIVER_READ,
    DRIVER_COPY,
    DRIVER_FILL,
    DRIVER_STAGE, /* arguments or packet of a launch, as a copy of its own */
    DRIVER_LAUNCH,
    DRIVER_MARK,
    DRIVER_BARRIER, /* waits for a command of another queue */
    DRIVER_SHOOTDOWN,
    DRIVER_OPEN,  /* makes a user queue known to its GPU */
    DRIVER_FENCE, /* flushes what kernels of its process have left in caches */
    DRIVER_KINDS
};

/* The name of a command in the trace, where its kind does not say enough. */
enum driver_span { SPAN_KIND, SPAN_CODE, SPAN_ARGUMENTS, SPAN_PACKET };

/* The way of a copy on GPUs: by the DMA engine of a GPU, for which its own memory is one end at
 * least; or through the host. */
enum copy_way { COPY_BY_HOST, COPY_INSIDE, COPY_TO_PEERS };

enum driver_phase {
    PHASE_QUEUED,
    PHASE_FLUSHING,     /* a flush is under way; then it is queued again */
    PHASE_DIRECT,       /* has begun and takes no time */
    PHASE_MOVE,         /* messages of a copy, or the arguments of a launch, go out */
    PHASE_LAUNCH_FIRST, /* the arguments are there, the launch is to be sent */
    PHASE_RUNNING,      /* launches and opened queues: the GPU is to answer */
    PHASE_UNTIMED,      /* to be done, or made ready, at the end of the window: driver_sampling.c */
    PHASE_UNTIMED_RETRY, /* there was something under way */
    PHASE_UNTIMED_DONE,
    PHASE_YIELDED /* a launch without time that only waits, so that other queues work */
};

/* Writes, reads, copies and fills. */
struct command_move {
    uint64_t address;         /* destination of writes, fills and copies, source of reads */
    uint64_t source;          /* copies */
    char *host;               /* writes and reads: the program's buffer, or the bytes of `data` */
    char *program;            /* reads with `data`: the program's buffer */
    uint32_t data;            /* blob: bytes on their way through a simulated host; 0: none */
    uint32_t pattern;         /* fills: the bytes for addresses 0 .. 3 modulo 4 */
    uint32_t launches_before; /* launches of all devices before it began */
    bool is_beside_kernels;   /* kernels ran when it began */
    uint8_t way;              /* copies: enum copy_way */
    bool is_of_library; /* the library moves contents of managed or registered memory for itself */
    bool is_shared;     /* host and GPU share the memory: it moves in no time */
    uint32_t first_ready, last_ready; /* COPY_BY_HOST: pieces that have been read */
};

struct command_launch {
    uint64_t number; /* the launch's, from 1 */
    uint64_t entry;
    uint64_t object;      /* virtual address of the descriptor */
    uint64_t groups;      /* to be run, from first_group on */
    uint32_t first_group; /* in the order x, y, z */
    uint32_t kernel;
    uint32_t waves_per_group;
    uint32_t scratch_pool;   /* number, or DRIVER_NONE */
    uint32_t user;           /* user queue that it goes to, or DRIVER_NONE */
    uint16_t own_descriptor; /* offset after the packet; 0: that of the code object is used */
    uint8_t way;             /* enum sampling_way, with `--kernels auto` once it is chosen */
    bool is_timed;           /* counted in sample.timed */
    bool in_parts;   /* executed part after part, driver_launch_parts.c; then its packet's */
    uint16_t header; /* header as a whole */
    uint64_t done_groups, done_instructions; /* launches that took no time */
    bool has_yielded;                        /* a launch without time that is not over: */
    uint32_t yielded;                        /* its number among those */
    struct aql_packet packet;
    uint8_t descriptor[64];
};

struct command_shootdown {
    uint64_t address, bytes; /* `size` and `sent` of the head count GPUs */
};

struct driver_command {
    uint64_t ticket;
    uint64_t not_before; /* cycle: when the host had called */
    uint64_t size;       /* bytes to move */
    uint64_t sent, received;
    struct gpu_set flushed; /* devices whose caches have been flushed for this command */
    uint32_t next;          /* in its queue, or in the list of free ones */
    uint32_t queue;
    uint32_t in_flight;   /* messages */
    uint32_t pid;         /* process of a launch, shoot-down, opened queue or fence */
    uint32_t ring_offset; /* launches and stages: in the device's ring of arguments */
    uint32_t piece;       /* its piece of that ring; DRIVER_NONE: another command holds it */
    uint8_t kind;         /* enum driver_kind */
    uint8_t phase;        /* enum driver_phase */
    uint8_t span;         /* enum driver_span */
    bool fences;          /* marks: as `event_fence` says */
    bool is_gated;        /* its packet is still to come */
    bool is_set_up;       /* not_before has what its set-up takes; driver_host_costs.c */
    union {
        struct command_move move;
        struct command_launch launch;
        struct command_shootdown shootdown;
        struct {
            uint64_t awaited; /* the other ticket */
        } barrier;
        struct {
            uint32_t user; /* user queue */
        } open;
    };
};

struct driver;
struct driver_queue;

/* True if it moves the bytes of a program's call. */
static inline bool command_is_move(const struct driver_command *k)
{
    return k->kind <= DRIVER_FILL;
}

/* Work-groups of a launch. 0 means all, of which there may be more than the field holds. */
static inline uint32_t launch_count(const struct driver_command *k)
{
    return k->launch.first_group == 0 && k->launch.groups > UINT32_MAX ? 0
                                                                       : (uint32_t)k->launch.groups;
}

/* The name of a command for people, and in the trace. */
static const char *command_name(const struct driver_command *k);
static const char *command_span(const struct driver_command *k);

/* The GPUs whose memory a copy or a fill touches. */
static struct gpu_set command_owners(const struct driver *d, const struct driver_command *k);

/* True if it touches the memory of any GPU. */
static bool command_touches(const struct driver *d, const struct driver_command *k);

/* Ends the first command of the queue. */
static void command_complete(struct driver *d, struct driver_queue *q);

#endif
