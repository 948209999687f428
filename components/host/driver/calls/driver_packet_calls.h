/* The program's calls as packets through a simulated host, and their trips. See
 * driver_packet_calls.c. */
#ifndef HEDDLE_DRIVER_PACKET_CALLS_H
#define HEDDLE_DRIVER_PACKET_CALLS_H

#include "components/packets/api_packet/api_request.h"
#include "components/host/driver/driver_state.h"

enum { TRIPS = 4 * DRIVER_COMMANDS, TRIPS_SPARE = 256 };

enum trip_kind {
    TRIP_NOTE,    /* has been done already; takes its time */
    TRIP_COMMAND, /* a command waits for it */
    TRIP_READ,    /* a read waits for it, and ends when it comes back with the bytes */
    TRIP_WAIT     /* the program waits for a command */
};

struct driver_trip {
    uint32_t blob; /* the packet */
    uint32_t data; /* blob: bytes of a copy, for the core or from it; 0: none */
    uint32_t read; /* blob: what has been read from a GPU, for the device; 0: none */
    uint32_t command;
    uint64_t ticket;
    uint8_t kind; /* enum trip_kind */
    bool executed, done;
};

struct driver_packets {
    uint32_t trips;             /* arena: struct driver_trip[TRIPS], a ring */
    uint64_t first, sent, last; /* numbers: not done; not sent; behind the last */
    bool sending;               /* one that others wait for is under way */
    uint64_t awaited;           /* stop the engine when fewer than this are not done, + 1; 0: no */
};

static inline bool packets_used(const struct driver *d)
{
    return driver_host_is_connected(d) && platform_mode() != PLATFORM_FUNCTIONAL;
}

static inline struct driver_packets *packets_of(const struct driver *d)
{
    return arena_at(struct driver_packets, d->packets);
}

static inline struct driver_trip *trip_at(const struct driver *d, uint64_t number)
{
    return arena_at(struct driver_trip, packets_of(d)->trips) + number % TRIPS;
}

static void packets_init(struct driver *d);
static struct api_request packet_of(enum api_call call);

/* There is room: TRIPS are more than commands, and host_wait_trips() has been called. */
static uint64_t trip_add(struct driver *d, enum trip_kind kind, struct api_request *r,
                         uint32_t command, uint64_t ticket);

/* Adds a trip for a call that has no command. */
static void packet_note(struct driver *d, struct api_request r);

/* A command that was enqueued waits for its packet. */
static void packet_command(struct driver *d, uint32_t number);

/* Adds the trips in front of a launch: its geometry, and its arguments as they lie in memory. */
static void packet_launch(struct driver *d, uint32_t queue, const struct driver_launch *l);

static bool packets_tick(struct driver *d);

/* The device hands over the packet, with the bytes of a copy to a GPU in blob `data`: what it says
 * is done. false: it is none that was sent. `*ticket`: what its answer waits for; `*read`: of a
 * copy from a GPU, the blob that its bytes go to. */
static bool packets_execute(struct driver *d, const struct api_request *r, uint32_t data,
                            uint64_t *ticket, uint32_t *read);
/* Are the bytes of the copy with that ticket in their blob? */
static bool packet_has_read(const struct driver *d, uint64_t ticket, uint32_t read);
/* The command is over: its bytes go to the program, its blob goes. */
static void packet_end_data(struct driver *d, struct driver_command *k);

static unsigned packets_outstanding(const struct driver *d, struct hang_report *report);

#endif
