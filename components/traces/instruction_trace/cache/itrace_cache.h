/* A binary form of a trace next to its text, PATH.heddle-cache: what itrace_next() gives, without
 * parsing. It names the content of the text (size and digest of the file's bytes), its own version
 * and the digest of its own bytes; one that does not fit, or is damaged, is ignored and written
 * anew. It appears whole (rename) or not at all; where it cannot be written there is none. Register
 * values (tracer 6) are not kept. */
#ifndef HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_CACHE_ITRACE_CACHE_H
#define HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_CACHE_ITRACE_CACHE_H

#include "components/traces/instruction_trace/reader/itrace.h"

#define ITRACE_CACHE_SUFFIX ".heddle-cache"

/* The cache of trace->path if it fits, with trace->header filled; NULL otherwise. A damaged one is
 * a warning. */
struct itrace_cache_reader *itrace_cache_open(struct itrace *trace);
/* Opens a cache in memory, without a check of what it belongs to: for tests. NULL: damaged. */
struct itrace_cache_reader *itrace_cache_open_memory(struct itrace *trace, const void *bytes,
                                                     size_t size);
enum itrace_event itrace_cache_next(struct itrace *trace);
void itrace_cache_close(struct itrace_cache_reader *reader);

/* Begins a cache for trace->path; NULL when it cannot be written. */
struct itrace_cache_writer *itrace_cache_create(struct itrace *trace);
/* Adds an event; ITRACE_END completes the file, ITRACE_ERROR removes it. False: the writer is gone.
 */
bool itrace_cache_add(struct itrace *trace, enum itrace_event event);
void itrace_cache_abandon(struct itrace_cache_writer *writer);

#endif
