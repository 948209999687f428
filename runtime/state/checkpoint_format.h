/* The bytes of a file that holds a state (checkpoint.h): struct checkpoint_header, struct
 * checkpoint_engine, then `page_count` times struct checkpoint_page in ascending order, the pages
 * that hold anything but zeros, then the parts, each after a struct checkpoint_part_header and
 * filled up to a multiple of 8 bytes. Integers are the host's, little-endian. */
#ifndef HEDDLE_RUNTIME_STATE_CHECKPOINT_FORMAT_H
#define HEDDLE_RUNTIME_STATE_CHECKPOINT_FORMAT_H

#include <stdint.h>

#include "runtime/engine/engine.h"

#define CHECKPOINT_VERSION 18
#define CHECKPOINT_PAGE    4096
/* A page of the arena as it was at the start, if it has changed since. */
#define CHECKPOINT_START   ((uint64_t)1 << 62)
/* A page of simulated DRAM, not of the arena. */
#define CHECKPOINT_MEMORY  ((uint64_t)1 << 63)

struct checkpoint_header {
    char magic[8];
    uint32_t version; /* this format's version */
    uint32_t abi;
    char toolkit[16];
    char model[72];
    uint64_t layout; /* hash of the sizes of everything in the arena */
    uint64_t time_ps;
    uint64_t instructions;
    uint64_t front_bytes; /* bytes of the arena in use: struct arena_ends */
    uint64_t arena_bytes;
    uint64_t memory_first;
    uint64_t memory_bytes;
    uint64_t page_count;
    uint64_t parts_bytes;
    uint64_t checksum; /* hash_bytes() of what follows, then of the header with 0 here */
};

struct checkpoint_engine {
    struct {
        uint64_t cycle;
        uint64_t time_ps;
        uint64_t fraction;
    } domains[ENGINE_DOMAINS_MAX];
};

struct checkpoint_page {
    /* The index of the page in the arena, or in DRAM with CHECKPOINT_MEMORY. */
    uint64_t number;
    uint8_t bytes[CHECKPOINT_PAGE];
};

#define CHECKPOINT_PART_NAME 16

struct checkpoint_part_header {
    char name[CHECKPOINT_PART_NAME];
    uint64_t bytes; /* size of the part that follows, without its filling */
};

#endif
