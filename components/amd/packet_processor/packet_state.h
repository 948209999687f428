/* State of a packet processor: user queues, and packets in flight.
 *
 * A packet goes through phases. In most of them one command is under way to the command processor,
 * and the command's tag names the packet. Packets of a queue are fetched in order, one at a time:
 * the packet that is not launched yet is the queue's front. Launched packets end in any order; the
 * read index follows the oldest packet that is not over. */
#ifndef HEDDLE_COMPONENTS_AMD_PACKET_PROCESSOR_PACKET_STATE_H
#define HEDDLE_COMPONENTS_AMD_PACKET_PROCESSOR_PACKET_STATE_H

#include <inttypes.h>
#include <string.h>

#include "components/memory/page_table/page_table.h"
#include "components/memory/page_table/program_table.h"
#include "components/protocols/command/aql_packet.h"
#include "components/protocols/user_queue/aql_queue.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/engine.h"
#include "runtime/observe/hang.h"

#include "run_list.h"

enum {
    PACKET_NONE = UINT32_MAX,
    PACKET_TAG = 0x8000 /* first tag of the component's own commands; the driver's are below */
};

enum packet_phase {
    PACKET_FREE,
    /* The front. */
    PACKET_FETCH,      /* reads it */
    PACKET_EARLIER,    /* its barrier bit: waits for those before it in the queue */
    PACKET_DEPEND,     /* reads a signal */
    PACKET_ACQUIRE,    /* flushes, or invalidates first-level caches */
    PACKET_DESCRIPTOR, /* reads the kernel's descriptor */
    PACKET_SCRATCH,    /* asks the driver for private memory */
    PACKET_LAUNCH,
    /* The packet has left the front. */
    PACKET_RUNNING,
    PACKET_UNUSED,        /* returns the private memory to the driver */
    PACKET_RELEASE,       /* flushes */
    PACKET_RELEASE_PEERS, /* lets the driver flush other GPUs */
    PACKET_SIGNAL,        /* changes its completion signal */
    PACKET_INTERRUPT,     /* interrupts the driver */
    PACKET_RETIRE,        /* marks its place in the ring as free */
    PACKET_ADVANCE        /* writes the read index */
};

struct packet {
    uint8_t phase;     /* enum packet_phase */
    bool is_released;  /* its release fence did something */
    bool is_under_way; /* the command of its phase */
    uint8_t dependency;
    uint32_t queue;
    uint64_t number; /* in its queue */
    uint64_t value;  /* value of its signal */
    union {
        struct aql_packet dispatch;
        struct aql_barrier_packet barrier;
        uint8_t bytes[AQL_PACKET_BYTES];
    } aql;
    struct aql_descriptor descriptor;
    uint64_t scratch; /* virtual address of its private memory; 0: none */
    uint32_t scratch_groups;
};

struct user_queue {
    bool is_used;
    bool is_dying;     /* true from the command that destroys it on */
    bool is_advancing; /* its read index is being written */
    bool is_waiting;   /* `next_packet` waits for an event */
    uint8_t error;     /* enum queue_error */
    uint16_t gpu;
    uint16_t destroy_tag;
    uint32_t pid;
    uint32_t packets;
    uint32_t front;          /* packet, or PACKET_NONE */
    uint32_t active_packets; /* packets in flight */
    uint64_t base;           /* virtual */
    uint64_t read_index;     /* all before are over */
    uint64_t next_packet;    /* the next to be fetched */
    uint64_t write_index;    /* one past the last that was announced */
    uint64_t events_seen;    /* events when its front was begun */
    uint64_t awaited_signal; /* waiting: the signal; 0: for the packet to be written */
};

struct packet_processor {
    struct packet_processor_io io;
    uint32_t queues_at;  /* struct user_queue[] */
    uint32_t packets_at; /* struct packet[] */
    uint32_t packet_count, used_packets;
    uint32_t fronts; /* packets in front of their queues */
    uint32_t running_kernels;
    uint32_t queue_end;      /* no queue from here on was ever used */
    uint32_t dying_queues;   /* queues that are to be destroyed */
    bool has_dirty_caches;   /* a kernel ran since the last flush was sent */
    uint64_t events;         /* signals that may have changed, packets that may have been written */
    uint64_t driver_events;  /* as the driver counts them, as far as is known */
    bool has_reported_waits; /* the driver knows that queues wait */
    uint64_t slice_end;      /* the scheduler wants to be called; ENGINE_NEVER */
    bool is_scheduled;       /* nothing has changed for the scheduler since it was called */
};

static inline struct user_queue *queue_at(const struct packet_processor *c, uint32_t number)
{
    return arena_at(struct user_queue, c->queues_at) + number;
}

static inline struct packet *packet_at(const struct packet_processor *c, uint32_t number)
{
    return arena_at(struct packet, c->packets_at) + number;
}

/* The address of a packet in its queue's ring. */
static inline uint64_t packet_address(const struct packet_processor *c, const struct packet *p)
{
    const struct user_queue *q = queue_at(c, p->queue);
    return q->base + p->number % q->packets * AQL_PACKET_BYTES;
}

static inline unsigned packet_type(const struct packet *p)
{
    return p->aql.dispatch.header & 0xff;
}

static inline bool packet_is_front(const struct packet *p)
{
    return p->phase < PACKET_RUNNING;
}

/* The signal that the packet changes at its end. */
static inline uint64_t packet_completion(const struct packet *p)
{
    return p->aql.barrier.completion; /* at the same place in a dispatch packet */
}

/* ---- functions that the files share; the definitions have the comments ---- */

/* packet_commands.c */
static bool send_read(struct packet_processor *c, struct packet *p, uint32_t number,
                      uint64_t address, uint32_t bytes);
static bool send_write(struct packet_processor *c, struct packet *p, uint32_t number,
                       uint64_t address, const void *from, uint32_t bytes);
static bool send_signal(struct packet_processor *c, struct packet *p, uint32_t number);
static bool send_flush(struct packet_processor *c, struct packet *p, uint32_t number);
static bool send_invalidate(struct packet_processor *c, struct packet *p, uint32_t number);
static uint32_t packet_items(const struct packet *p);
static bool send_scratch(struct packet_processor *c, struct packet *p, uint32_t number);
static bool send_unused(struct packet_processor *c, struct packet *p);
static bool send_release(struct packet_processor *c, struct packet *p, uint32_t number);
static bool send_interrupt(struct packet_processor *c, struct packet *p, uint32_t number);
static bool send_launch(struct packet_processor *c, struct packet *p, uint32_t number);

/* packet_phases.c */
static void packet_enter(struct packet *p, enum packet_phase phase);
static void packet_leave_front(struct packet_processor *c, struct packet *p);
static void queue_fail(struct packet_processor *c, struct user_queue *q, enum queue_error error);
static void packet_fail(struct packet_processor *c, struct packet *p, enum queue_error error);
static void packets_retry(struct packet_processor *c);
static void packet_complete(struct packet *p);
static const char *packet_activity(const struct packet *p);
static bool packet_step(struct packet_processor *c, uint32_t number);
static void packet_answer(struct packet_processor *c, struct packet *p, const void *data);

#endif
