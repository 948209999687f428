/* Reader of one trace file of Accel-Sim's NVBit tracer, grouped by thread block (*.traceg), plain,
 * xz or zstd. Streams: memory does not grow with the file, only with the number of static
 * instructions. A raw trace (*.trace), as it is before the tracer's post-processing, is refused.
 *
 *     itrace_open(&trace, path, &options)
 *     while ((event = itrace_next(&trace)) != ITRACE_END) ...
 *     itrace_close(&trace)
 *
 * BLOCK, then for each of its warps WARP and its STEPs, then BLOCK_END. ERROR: a malformed line was
 * reported and skipped; the next call continues after it. After a damaged file ERROR is followed by
 * END.
 *
 * With a cache (itrace_cache.h) the events come from it and no text is read; there are no line
 * numbers then, and no `text`. */
#ifndef HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_READER_ITRACE_H
#define HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_READER_ITRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "itrace_gaps.h"
#include "itrace_header.h"
#include "itrace_input.h"
#include "itrace_program.h"

/* Blocks of a cluster, at most (NVIDIA, "CUDA C++ Programming Guide": 16 where a kernel asks for
 * it). */
enum { ITRACE_CLUSTER = 16 };

enum itrace_event {
    ITRACE_END,
    ITRACE_ERROR,
    ITRACE_BLOCK,
    ITRACE_WARP,
    ITRACE_STEP,
    ITRACE_BLOCK_END
};

/* `line` 0: the file as a whole. */
typedef void itrace_report(void *context, bool is_error, const char *path, uint64_t line,
                           const char *text);

struct itrace_options {
    itrace_report *report; /* NULL: none */
    void *context;
    bool use_cache;            /* read it if it fits the file, write it otherwise */
    enum itrace_demand demand; /* that the trace is whole */
    const char *remedy;        /* how the line of a refused gap ends; NULL: as it is */
    unsigned *said; /* what a run was told of once (enum itrace_oddity); NULL: each trace tells */
};

struct itrace_cache_reader;
struct itrace_cache_writer;

struct itrace {
    struct itrace_header header;
    struct itrace_layout layout;
    bool is_cached;
    /* The location of the last event. */
    uint32_t block[3];
    int32_t cluster_rank; /* the block's place in its cluster; -1: the trace does not say */
    bool has_clusters;    /* with more than one block; known when the first such has come */
    uint32_t warp;
    uint64_t warp_steps; /* WARP: what "insts = " says */
    uint32_t part;       /* STEP: of the block, 0 at first */
    bool has_parts;      /* blocks with more than one; known when the first such has come */
    struct itrace_step step;
    const char *text; /* STEP: the line, without the ids in front; until the next call */
    size_t text_size;

    char notes[512]; /* the "cluster ..." lines of the block so far, as they are */
    size_t notes_size;

    char *header_text; /* the lines of the header as they are, "#traces format" included */
    size_t header_size, header_capacity;
    uint64_t errors, warnings, steps, blocks;

    struct itrace_gaps gaps;
    unsigned said; /* where the options have none */

    struct itrace_program program;
    struct itrace_options options;
    char *path;
    struct itrace_input input;
    struct itrace_cache_reader *cached;
    struct itrace_cache_writer *writer;
    char *line; /* read and not yet used: the first after the header */
    size_t line_size;
    bool has_line, has_layout, ended;
    enum { ITRACE_OUTSIDE, ITRACE_BEGUN, ITRACE_IN_BLOCK, ITRACE_WARP_NAMED, ITRACE_IN_WARP } state;
    uint64_t warp_left;  /* instructions that are still to come by "insts = " */
    uint64_t warps_seen; /* this block's, as bits */
};

/* Reads the header and the first line after it. False: reported; the trace must be closed all the
 * same. */
bool itrace_open(struct itrace *trace, const char *path, const struct itrace_options *options);
/* `bytes` must outlive the trace; no cache. */
bool itrace_open_memory(struct itrace *trace, const char *name, const void *bytes, size_t size,
                        const struct itrace_options *options);
/* The payload of a cache (itrace_cache.h), without a check of what it belongs to: for tests. */
bool itrace_open_cache(struct itrace *trace, const char *name, const void *bytes, size_t size,
                       const struct itrace_options *options);
enum itrace_event itrace_next(struct itrace *trace);
/* Reports each unknown opcode once, with how often it was executed. */
void itrace_report_unknown(struct itrace *trace);
void itrace_close(struct itrace *trace);

/* For the tools. */
void itrace_warn(struct itrace *trace, uint64_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void itrace_fail(struct itrace *trace, uint64_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The space that one address of the current step lies in; NONE for what has no addresses. */
enum itrace_space itrace_space(const struct itrace *trace, const struct itrace_inst *inst,
                               uint64_t address);
/* z * gy * gx + y * gx + x */
uint64_t itrace_block_index(const struct itrace *trace);

#endif
