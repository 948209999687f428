/* A component for tests of the runtime: any number of in and out ports and one of several simple
 * behaviours, chosen by a parameter. What it sees goes into a hash and, up to a limit, into a log.
 */
#ifndef HEDDLE_TESTS_RUNTIME_PROBE_H
#define HEDDLE_TESTS_RUNTIME_PROBE_H

#include "runtime/link/ring.h"

#include "builder.h"

enum probe_behaviour {
    PROBE_SOURCE,   /* sends `count` requests on out[0] as fast as it may, awaiting replies if
                       `answers` */
    PROBE_SINK,     /* takes a request of each port every `period` cycles; replies if `answers` */
    PROBE_MIXER,    /* `count` requests over all out ports at random times; takes and answers what
                       comes */
    PROBE_RELAY,    /* takes a request of in[0] only when out[0] takes it; at first sends `count` of
                       its own */
    PROBE_SILENT,   /* takes requests and owes the reply for ever */
    PROBE_STUBBORN, /* takes nothing */
    PROBE_TICKER, /* makes progress in `count` ticks, which are a kernel; counts 2 received in each
                   */
    PROBE_CLOCK,  /* wakes `count` times, every `period` cycles; never has anything to do */
    PROBE_RESTLESS, /* wakes every `period` cycles for ever, with one thing outstanding */
    PROBE_DAWDLER,  /* one thing outstanding, and no reason to wake */
    PROBE_FAILER    /* engine_fail() at cycle `period` */
};

enum probe_param {
    PROBE_BEHAVIOUR,
    PROBE_COUNT,
    PROBE_PERIOD,
    PROBE_ANSWERS,
    PROBE_BYTES,
    PROBE_PARAMS
};

enum probe_port { PROBE_IN, PROBE_OUT };

enum probe_event { PROBE_SENT, PROBE_RECEIVED, PROBE_REPLIED, PROBE_WOKE };

struct probe_entry {
    uint64_t cycle;
    uint64_t value;
    uint32_t leaf;
    uint32_t event;
};

#define PROBE_LOG 65536

extern struct probe_entry probe_log[PROBE_LOG];
extern uint32_t probe_logged;
extern bool probe_quiet; /* no log: several threads would write it at once */

extern const struct build_type probe_type;
extern const char *const probe_param_names[PROBE_PARAMS];

/* A protocol with one request and one reply, and an instance with these parameters. */
uint32_t probe_protocol(uint32_t wire_bytes, bool awaited);
uint32_t probe_instance(uint32_t domain, const char *path, enum probe_behaviour behaviour,
                        int64_t count, int64_t period, bool answers);
struct build_wire probe_wire(uint32_t protocol, uint32_t depth, uint32_t width, uint32_t latency);

/* Builds the described platform or fails the test program. Forgets the log. */
void probe_build(void);

/* Of everything that all probes saw and when. */
uint64_t probe_hash(void);
uint64_t probe_received(uint32_t leaf);
uint64_t probe_ticks(uint32_t leaf);

#endif
