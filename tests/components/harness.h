/* Drives components through their ports, message by message. A test builds a small platform:
 * components under test, and ends that the test owns. A *requester* sits at an `in` port: it sends
 * what the test has queued, each message not before its cycle, and logs the answers. A *server*
 * sits at an `out` port: it answers each request after a fixed time with what a function of the
 * test says, and logs the requests. Both can be told to take nothing before a cycle.
 *
 * Order: harness_start(); components (those of one type together), requesters and servers;
 * harness_wire(); harness_build(); then queue messages and harness_run(), as often as wanted.
 * Everything is static, one platform at a time. */
#ifndef HEDDLE_TESTS_COMPONENTS_HARNESS_H
#define HEDDLE_TESTS_COMPONENTS_HARNESS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/engine/engine.h"
#include "runtime/engine/run_control.h"
#include "runtime/link/ring.h"
#include "tests/runtime/builder.h"

#define HARNESS_PAYLOAD 352
#define HARNESS_LOG     32768

/* One message; `cycle` is when it is to be sent, or was seen. `fields` are as in the header. */
struct harness_message {
    uint64_t cycle;
    uint8_t kind;
    uint8_t fields[RING_FIELD_BYTES];
    uint16_t tag;
    _Alignas(16) uint8_t payload[HARNESS_PAYLOAD];
};

/* Fills `reply` (zeroed; the tag is set) for `request`. */
typedef void harness_answer(const struct harness_message *request, struct harness_message *reply);

/* In the order of the ports in harness.heddle. */
enum harness_protocol {
    HARNESS_MEM,
    HARNESS_TRANSLATE,
    HARNESS_CONTROL,
    HARNESS_COMMAND,
    HARNESS_WORK,
    HARNESS_TLB_CONTROL,
    HARNESS_SECTOR,
    HARNESS_SECTOR_CONTROL,
    HARNESS_BLOCK,
    HARNESS_PROBE,
    HARNESS_PROTOCOLS
};

void harness_start(void);
uint32_t harness_requester(void);
/* `answer` NULL: requests are logged and never answered. */
uint32_t harness_server(uint64_t latency, harness_answer *answer);
/* A server whose type is dma_engine, by which the driver knows memory of the host. */
uint32_t harness_dma_engine(uint64_t latency, harness_answer *answer);
/* Connects two leaves; ports as in their build_type, port 0 for requesters and servers. */
void harness_wire(enum harness_protocol protocol, struct build_end from, struct build_end to,
                  uint32_t depth, uint32_t width, uint32_t latency);
/* The same over link `link` (number of build_link()). Returns the request ring. */
uint32_t harness_wire_link(enum harness_protocol protocol, struct build_end from,
                           struct build_end to, uint32_t depth, uint32_t link);
void harness_build(void);
void harness_tick_order(int order, bool tick_all);

/* Queues a message at the requester, behind those queued before. */
void harness_send(uint32_t requester, const struct harness_message *m);
void harness_take_nothing_before(uint32_t leaf, uint64_t cycle);
/* Until nothing is left to do, or 10 million cycles have passed. */
enum engine_result harness_run(void);

/* What an end has seen since harness_build(), oldest first. */
uint32_t harness_count(uint32_t leaf);
const struct harness_message *harness_log(uint32_t leaf, uint32_t i);
/* The reply to the message with this tag that was seen last, or NULL. */
const struct harness_message *harness_reply(uint32_t requester, uint16_t tag);

/* The component of a leaf. */
void *harness_instance(uint32_t leaf);

/* Memory of 1 MiB behind servers of `mem`, and such a server's answers. */
extern uint8_t harness_memory[1 << 20];
harness_answer harness_answer_memory;

/* Messages of `mem` with lines of 64 bytes. */
struct harness_message harness_read(uint64_t cycle, uint16_t tag, uint64_t address, uint32_t size);
struct harness_message harness_coherent_read(uint64_t cycle, uint16_t tag, uint64_t address,
                                             uint32_t size);
struct harness_message harness_write(uint64_t cycle, uint16_t tag, uint64_t line, uint64_t mask,
                                     const void *bytes);
struct harness_message harness_atomic(uint64_t cycle, uint16_t tag, uint64_t line, uint64_t mask,
                                      unsigned op, unsigned size, const void *operand,
                                      const void *compare);
struct harness_message harness_fence(uint64_t cycle, uint16_t tag, unsigned scope, bool acquire,
                                     bool release);

/* A generator of random numbers with a period of 2^64. */
uint64_t harness_random(uint64_t *state);

#endif
