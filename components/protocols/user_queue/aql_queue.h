/* Packets of user queues beside the kernel dispatch packet (aql_packet.h), signals, and what can go
 * wrong with a queue.
 *
 * Formats: HSA Platform System Architecture Specification 1.2, sections 2.8 (queues), 2.9
 * (packets); signals as the AMD runtime lays them out (amd_signal_t: kind, then value). All numbers
 * are little-endian. */
#ifndef HEDDLE_COMPONENTS_PROTOCOLS_USER_QUEUE_AQL_QUEUE_H
#define HEDDLE_COMPONENTS_PROTOCOLS_USER_QUEUE_AQL_QUEUE_H

#include <stdint.h>

#include "components/protocols/command/aql_packet.h"

enum {
    AQL_PACKET_BYTES = 64,
    AQL_SIGNAL_BYTES = 64,
    AQL_SIGNAL_VALUE = 8, /* offset of the 64-bit value in a signal */
    AQL_DEPENDENCIES = 5,
    AQL_QUEUE_OBJECT =
        64, /* offset of the queue object from the read index, which is behind the ring */
    AQL_QUEUE_BYTES = 128 /* as much of amd_queue_t as kernels read */
};

/* Bits 0..7 of a header. */
enum aql_type {
    AQL_VENDOR = 0,
    AQL_INVALID = 1,
    AQL_DISPATCH = 2,
    AQL_BARRIER_AND = 3,
    AQL_AGENT = 4,
    AQL_BARRIER_OR = 5
};

/* Bit 8: begins when all packets before it in the queue are over. Bits 9..12: aql_packet.h. */
enum { AQL_BARRIER = 1 << 8 };

struct aql_barrier_packet {
    uint16_t header, reserved0;
    uint32_t reserved1;
    uint64_t dependency[AQL_DEPENDENCIES]; /* addresses of signals; 0: none */
    uint64_t reserved2;
    uint64_t completion; /* address of a signal; 0: none */
};
_Static_assert(sizeof(struct aql_barrier_packet) == AQL_PACKET_BYTES, "a packet has 64 bytes");

/* The reason why a queue has stopped. */
enum queue_error {
    QUEUE_GOOD,
    QUEUE_NOT_THERE, /* no such queue */
    QUEUE_OVERFLOW,  /* its doorbell announced more packets than it has room for */
    QUEUE_PACKET,    /* a packet of a type, or with fields, that are not supported */
    QUEUE_ADDRESS,   /* a packet names memory that the process does not have */
    QUEUE_ERRORS
};

#endif
