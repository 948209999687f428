/* The format of a cache of a trace, for its writer and its reader. File: 48 bytes (struct
 * itrace_cache_head), then the payload: the header's fields, then one record for each event.
 * Numbers are LEB128, signed ones zigzag, like DWARF's. A step is one byte when the warp executes
 * what followed last time, with the same mask and no addresses; addresses are differences from the
 * instruction's last ones. The coder's state (what followed what, last mask) is rebuilt by the
 * reader from the records, so nothing but the records is stored. */
#ifndef HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_CACHE_ITRACE_CACHE_FORMAT_H
#define HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_CACHE_ITRACE_CACHE_FORMAT_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "components/traces/instruction_trace/reader/itrace_input.h"
#include "components/traces/instruction_trace/reader/itrace_memory.h"

#include "itrace_cache.h"

#define ITRACE_CACHE_VERSION 8
#define ITRACE_CACHE_BUFFER  65536
/* More than the longest record: 64 addresses of 10 bytes, or the header with its name. */
#define ITRACE_CACHE_RECORD  4096

#define ITRACE_CACHE_MAGIC "HDLSASS" /* and its zero byte */

struct itrace_cache_head {
    char magic[8];
    uint32_t version;
    uint32_t whole; /* 1: the trace lacks nothing (reader/itrace_gaps.h) */
    struct itrace_digest text, payload;
};
_Static_assert(sizeof(struct itrace_cache_head) == 48, "no padding in the file");

/* First byte of a record. Steps are below 0x80: flags. */
enum {
    STEP_PREDICTED = 0x01, /* else the instruction's id follows */
    STEP_SAME_MASK = 0x02, /* else the mask follows */
    STEP_STRIDE = 0x04,    /* addresses with the stride of last time: base follows */
    STEP_ADDRESSES = 0x08, /* mode and addresses follow */
    STEP_FLAGS = 0x0f,
    RECORD_BLOCK = 0x80,
    RECORD_WARP,
    RECORD_BLOCK_END,
    RECORD_END,
    RECORD_INST,
};

struct itrace_cache_coder {
    uint32_t *successor; /* by id: 1 + the id that followed, 0: none */
    size_t capacity;
    uint32_t last;  /* 1 + id */
    uint32_t known; /* instructions defined so far */
    uint64_t mask;
};

static inline uint32_t itrace_cache_predicted(const struct itrace_cache_coder *coder)
{
    return coder->last ? coder->successor[coder->last - 1] : 0;
}

static inline void itrace_cache_define(struct itrace_cache_coder *coder)
{
    size_t need = coder->known + 1;
    grow_list(coder->successor, need, coder->capacity, ITRACE_MEMORY);
    coder->successor[coder->known++] = 0;
}

static inline void itrace_cache_follow(struct itrace_cache_coder *coder, uint32_t id)
{
    if (coder->last)
        coder->successor[coder->last - 1] = id + 1;
    coder->last = id + 1;
}

/* The path of the cache next to a trace, to be freed. */
static inline char *itrace_cache_path(const char *path)
{
    size_t size = strlen(path) + sizeof ITRACE_CACHE_SUFFIX;
    char *name = itrace_allocate(size, 1);
    snprintf(name, size, "%s%s", path, ITRACE_CACHE_SUFFIX);
    return name;
}

#endif
