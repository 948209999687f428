/* The store of a trace player: thread blocks and the instructions of their warps, as streaming
 * multiprocessors read them.
 *
 * Instructions are in chunks of words; a warp's begin at word `at` and follow each other. A
 * record:
 *
 *   word 0    TRACE_ID: number of the static instruction, TRACE_FULL: all 32 lanes are active,
 *             TRACE_MODE: how addresses are written, TRACE_SPACE: where they lie
 *   mask      unless TRACE_FULL
 *   addresses TRACE_STRIDE: base (2 words), stride;  TRACE_DELTA: base (2 words), a difference for
 *             each further active lane;  TRACE_LIST: 2 words for each active lane
 *   bulk      TRACE_BULK, instead of addresses: a word of the barrier's number * 256 + runs, what a
 *             wait is for, where the barrier is, then for each run base (2 words), stride, rows,
 * bytes of a row (bulk.h)
 *
 *   part      TRACE_PART alone, and in the next word the number of the block's part that follows
 *
 * No record crosses the end of a chunk; TRACE_LINK in place of word 0 leads to the chunk whose
 * number is in the last word of this one.
 *
 * The player writes a block before it sends the message that names it, and does not write the block
 * again until it has been told that the block has ended, or that the parts written so far are over
 * (trace_block.more). So a reader never sees a change, in whichever lane it runs. */
#ifndef HEDDLE_COMPONENTS_PROTOCOLS_THREAD_BLOCK_TRACE_STREAM_H
#define HEDDLE_COMPONENTS_PROTOCOLS_THREAD_BLOCK_TRACE_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/engine/engine.h"

enum {
    TRACE_CHUNK = 1024,    /* words */
    TRACE_WARPS = 32,      /* warps in a block: 1,024 threads */
    TRACE_SOURCES = 5,     /* registers that an instruction reads, at most */
    TRACE_REGISTERS = 320, /* 256 of a thread, 64 uniform ones after them */
    TRACE_REGISTER_NONE = 0xffff,
    TRACE_INSTS_MAX = 65536,   /* static instructions of a kernel, at most */
    TRACE_RECORD = 2 + 2 * 32, /* words, at most */
    TRACE_RUNS = 12, /* most runs of a bulk copy, so that its record is no longer than others */
    TRACE_RUN = 5,   /* words, behind */
    TRACE_BULK_HEAD = 3,
    TRACE_BARRIERS = 16, /* barriers of a block */
    TRACE_PHASES = 32    /* barriers in shared memory that a block tells apart */
};

enum {
    TRACE_ID = 0xffff,
    TRACE_FULL = 1 << 16,
    TRACE_MODE_SHIFT = 17,
    TRACE_SPACE_SHIFT = 19,
    TRACE_FIELD = 3, /* bits of mode and of space */
    TRACE_LINK = 1 << 21,
    TRACE_BULK = 1 << 22,
    TRACE_PART = 1 << 23
};

enum trace_mode { TRACE_NONE, TRACE_STRIDE, TRACE_DELTA, TRACE_LIST };
enum trace_space { TRACE_NOWHERE, TRACE_GLOBAL, TRACE_SHARED, TRACE_LOCAL };

/* The unit that executes an instruction. */
enum trace_unit {
    TRACE_FP32,
    TRACE_INT,
    TRACE_SFU,
    TRACE_FP64,
    TRACE_TENSOR,
    TRACE_BRANCH,
    TRACE_TEXTURE,
    TRACE_UNIFORM,
    TRACE_MEMORY,
    TRACE_COPIER, /* the unit of bulk copies: the tensor memory accelerator */
    TRACE_UNITS
};

enum trace_kind {
    TRACE_COMPUTE,
    TRACE_LOAD,
    TRACE_STORE,
    TRACE_ATOMIC,
    TRACE_BARRIER, /* waits for the block's other warps */
    TRACE_ARRIVE,  /* counts for such a barrier and goes on */
    TRACE_MEMBAR,  /* waits for the warp's own memory accesses */
    /* Asynchronous instructions join the warp's open group of copies or of products. */
    TRACE_COPY,          /* global to shared memory, lane by lane */
    TRACE_COPY_COMMIT,   /* closes the open group of copies */
    TRACE_COPY_ARRIVE,   /* closes it, and lets the barrier in its address wait for it */
    TRACE_COPY_WAIT,     /* until at most `count` groups are under way */
    TRACE_COPY_WAIT_ALL, /* until no copy is under way, of the open group either */
    /* A quarter of a product of four warps: `count` cycles of the tensor unit, `width` of shared
     * memory. */
    TRACE_MATRIX,
    TRACE_MATRIX_COMMIT, /* such a product, and closes the group */
    TRACE_MATRIX_CLOSE,  /* closes it, too */
    TRACE_MATRIX_GATHER, /* waits for the other warps of the four; `count` 0: closes a group */
    TRACE_MATRIX_WAIT,
    TRACE_BULK_LOAD, /* a copy by the copier to shared memory, announced at a barrier */
    TRACE_BULK_PREFETCH,
    TRACE_BULK_STORE, /* these two join a group of copies */
    TRACE_BULK_REDUCE,
    TRACE_PHASE_ARRIVE, /* at the barrier in its address */
    TRACE_PHASE_WAIT    /* for copies and arrivals there */
};

/* A static instruction. The zero register is no register. */
struct trace_inst {
    uint16_t destination,
        source[TRACE_SOURCES]; /* TRACE_REGISTER_NONE: none; sources from the front */
    uint8_t unit, kind, width; /* width: bytes of a lane's access */
    bool bypass;               /* a load that does not look into the L1 */
    /* A number that depends on `kind`; for a barrier its number, and 16 times the warps it is for
     * (0: all of the block). */
    uint16_t count;
};

struct trace_block {
    uint32_t insts_at; /* arena: struct trace_inst of its kernel, by id */
    uint32_t carve;    /* bytes of the L1 that are shared memory while the kernel runs */
    uint32_t kernel;   /* slot of the player */
    uint32_t threads;
    uint32_t warps;
    uint32_t rank;        /* in its cluster */
    uint32_t asks;        /* for an account of its warps' time (warp_cycles.h) */
    uint32_t profile;     /* number of its kernel in a profile of instructions */
    uint32_t pcs_at;      /* arena: uint32_t of each static instruction, by id */
    uint32_t more;        /* there will be more instructions when these are over */
    uint32_t ended;       /* bits of warps that have no more then */
    uint32_t first, last; /* chunks */
    uint32_t next;        /* list of the player */
    uint32_t part, sm;    /* for the player: which of several parts this is, and where */
    uint64_t placed;      /* how many blocks were before it */
    uint64_t local_base;
    struct {
        uint32_t at, count; /* first word of its instructions, and how many there are */
        uint32_t rest;      /* records after them, of later parts */
    } warp[TRACE_WARPS];
};

struct trace_stream {
    uint32_t words_at;  /* arena: uint32_t [chunks][TRACE_CHUNK] */
    uint32_t blocks_at; /* arena: struct trace_block */
};

static inline const uint32_t *trace_words(const struct trace_stream *stream)
{
    return arena_at(const uint32_t, stream->words_at);
}

static inline const struct trace_block *trace_block(const struct trace_stream *stream,
                                                    uint32_t block)
{
    return arena_at(const struct trace_block, stream->blocks_at) + block;
}

static inline unsigned trace_record_mode(uint32_t word)
{
    return word >> TRACE_MODE_SHIFT & TRACE_FIELD;
}

static inline unsigned trace_record_space(uint32_t word)
{
    return word >> TRACE_SPACE_SHIFT & TRACE_FIELD;
}

/* The record at `at`, which may be a link: its position. */
static inline uint32_t trace_record(const uint32_t *words, uint32_t at)
{
    return words[at] == TRACE_LINK ? words[at | (TRACE_CHUNK - 1)] * TRACE_CHUNK : at;
}

static inline uint32_t trace_record_mask(const uint32_t *record)
{
    return *record & TRACE_FULL ? UINT32_MAX : record[1];
}

/* Position after the record at `at`. */
static inline uint32_t trace_record_end(const uint32_t *words, uint32_t at)
{
    uint32_t word = words[at], lanes = 32;
    unsigned mode = trace_record_mode(word);
    at++;
    if (!(word & TRACE_FULL))
        lanes = (uint32_t)__builtin_popcount(words[at++]);
    switch (mode) {
    case TRACE_STRIDE:
        return at + 3;
    case TRACE_DELTA:
        return at + 1 + lanes;
    case TRACE_LIST:
        return at + 2 * lanes;
    default:
        return word & TRACE_BULK ? at + TRACE_BULK_HEAD + TRACE_RUN * (words[at] & 0xff) : at;
    }
}

/* True if records of this kind have TRACE_BULK. */
static inline bool trace_has_phase(unsigned kind)
{
    return kind >= TRACE_BULK_LOAD || kind == TRACE_COPY_ARRIVE;
}

static inline uint64_t trace_wide(const uint32_t *words)
{
    return words[0] | (uint64_t)words[1] << 32;
}

/* The addresses of a record's active lanes, in their order; returns how many. */
static inline unsigned trace_addresses(const uint32_t *record, uint64_t address[32])
{
    const uint32_t *at = record + (*record & TRACE_FULL ? 1 : 2);
    unsigned lanes = (unsigned)__builtin_popcount(trace_record_mask(record));
    uint64_t here;
    switch (trace_record_mode(*record)) {
    case TRACE_STRIDE:
        here = trace_wide(at);
        for (unsigned i = 0; i < lanes; i++, here += (uint64_t)(int64_t)(int32_t)at[2])
            address[i] = here;
        return lanes;
    case TRACE_DELTA:
        address[0] = here = trace_wide(at);
        for (unsigned i = 1; i < lanes; i++)
            address[i] = here += (uint64_t)(int64_t)(int32_t)at[1 + i];
        return lanes;
    case TRACE_LIST:
        for (unsigned i = 0; i < lanes; i++)
            address[i] = trace_wide(at + 2 * i);
        return lanes;
    default:
        return 0;
    }
}

#endif
