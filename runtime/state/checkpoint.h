/* The state of a simulation in a file: `heddle run --checkpoint` writes it between two steps,
 * `--restore` continues from it in another process, whose statistics are those of an unbroken run,
 * byte for byte.
 *
 * State is what lies in the arena, in simulated DRAM, and in the clocks of the engine; tables of
 * pointers are not state and lie elsewhere (arena_derive()). A file belongs to one model (the hash
 * that stamps statistics), one version of the toolkit and one layout of instances; it does not
 * depend on the order of ticks, on options for statistics and traces, or on whether the build is
 * generic. That a component's C file has changed without changing its size is not noticed.
 *
 * Platforms with a driver are refused: half of their state is the host program's.
 *
 * File: struct checkpoint_header, struct checkpoint_engine, then `page_count` times struct
 * checkpoint_page in ascending order, the pages that hold anything but zeros. Integers are the
 * host's, little-endian.
 */
#ifndef HEDDLE_RUNTIME_CHECKPOINT_H
#define HEDDLE_RUNTIME_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/engine/engine.h"
#include "platform.h"

#define CHECKPOINT_VERSION 5
#define CHECKPOINT_PAGE    4096
#define CHECKPOINT_MEMORY  ((uint64_t)1 << 63) /* page of simulated DRAM, not of the arena */

struct checkpoint_header {
    char magic[8];
    uint32_t version; /* of this format */
    uint32_t abi;
    char toolkit[16];
    char model[72];
    uint64_t layout; /* hash of the sizes of everything in the arena */
    uint64_t time_ps;
    uint64_t instructions;
    uint64_t front_bytes; /* of the arena, in use: struct arena_ends */
    uint64_t arena_bytes;
    uint64_t memory_first;
    uint64_t memory_bytes;
    uint64_t page_count;
    uint64_t checksum; /* checkpoint_checksum() of what follows, then of the header with 0 here */
};

struct checkpoint_engine {
    struct {
        uint64_t cycle;
        uint64_t time_ps;
        uint64_t fraction;
    } domains[ENGINE_MAX_CLOCKS]; /* of the only shard */
};

struct checkpoint_page {
    uint64_t number; /* address / CHECKPOINT_PAGE from the start of the arena; or of DRAM, +
                        CHECKPOINT_MEMORY */
    uint8_t bytes[CHECKPOINT_PAGE];
};

/* Continues `sum` (0 to begin) over `size` bytes, a multiple of 8. */
uint64_t checkpoint_checksum(uint64_t sum, const void *bytes, size_t size);

/* At the end of the start of a platform: remembers what is wanted, and loads `load_path` if there
 * is one. false: message on stderr. */
bool checkpoint_open(const struct platform_table *table, const struct heddle_options *options);

/* Replaces the state by that in `bytes`; `name` is for messages. Checks everything first: false
 * (message on stderr) has changed nothing. */
bool checkpoint_apply(const void *bytes, size_t size, const char *name);

/* Runs to the end; on the way writes the state when its time has come. `*written` false: the run
 * ended before (the result says how), or the file could not be written (ENGINE_PAUSED); a message
 * is on stderr. */
enum engine_result checkpoint_run(bool *written);

#endif
