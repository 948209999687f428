/* Packets of an SDMA engine: what their words say. See kfd_sdma_packet.c. */
#ifndef HEDDLE_COMPONENTS_KFD_SERVER_QUEUES_KFD_SDMA_PACKET_H
#define HEDDLE_COMPONENTS_KFD_SERVER_QUEUES_KFD_SDMA_PACKET_H

#include <stdbool.h>
#include <stdint.h>

enum sdma_kind {
    SDMA_NOP,
    SDMA_COPY,
    SDMA_FILL,
    SDMA_FENCE,
    SDMA_POLL,
    SDMA_ATOMIC,
    SDMA_TIMESTAMP,
    SDMA_TRAP,
    SDMA_INDIRECT
};

enum { SDMA_WORDS_MAX = 13 }; /* that a packet has, but for what a NOP skips */

/* Distances of rows and of slices of one side of a copy, in bytes. */
struct sdma_pitch {
    uint64_t row, slice;
};

struct sdma_packet {
    enum sdma_kind kind;
    uint32_t words;    /* length of the packet */
    uint64_t to, from; /* addresses; of an indirect buffer: from */
    uint64_t bytes;    /* size of a row, a fill, an indirect buffer */
    uint32_t rows, slices;
    struct sdma_pitch to_pitch, from_pitch;
    uint32_t data;       /* pattern, value of a fence, reference of a poll, number of an event */
    uint32_t data_bytes; /* size of a pattern, or of an atomic's operands */
    uint32_t mask;       /* bits that a poll compares */
    uint8_t operation;   /* enum sdma_compare or enum sdma_atomic */
    bool is_retried;     /* an atomic that is tried until its comparison holds */
    uint64_t operand, compare;
};

enum sdma_compare {
    SDMA_ALWAYS,
    SDMA_LESS,
    SDMA_LESS_OR_EQUAL,
    SDMA_EQUAL,
    SDMA_UNEQUAL,
    SDMA_GREATER_OR_EQUAL,
    SDMA_GREATER
};

/* The lower five bits of an atomic's operation. */
enum sdma_atomic {
    SDMA_SWAP = 0x07,
    SDMA_COMPARE_SWAP = 0x08,
    SDMA_ADD = 0x0f,
    SDMA_SUBTRACT = 0x10,
    SDMA_AND = 0x15,
    SDMA_OR = 0x16,
    SDMA_XOR = 0x17
};

/* The packet at `word`, of which `words` are there; SDMA_WORDS_MAX of them are readable. From gfx9
 * on, counts of bytes are one less than they mean. NULL, or what is wrong with it. */
const char *kfd_sdma_decode(bool gfx9, const uint32_t word[SDMA_WORDS_MAX], uint64_t words,
                            struct sdma_packet *p);

#endif
