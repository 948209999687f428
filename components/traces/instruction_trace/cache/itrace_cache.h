/* A binary form of a grouped trace beside its text, PATH.heddle-cache: what sass_trace_next()
 * gives, without parsing. It names the content of the text (size and digest of the file's bytes),
 * its own version and the digest of its own bytes; one that does not fit, or is damaged, is ignored
 * and written anew. It appears whole (rename) or not at all; where it cannot be written there is
 * none. Register values (tracer 6) are not kept. */
#ifndef HEDDLE_COMPONENTS_SASS_CACHE_H
#define HEDDLE_COMPONENTS_SASS_CACHE_H

#include "components/traces/instruction_trace/reader/itrace.h"

#define SASS_CACHE_SUFFIX ".heddle-cache"

/* The cache of trace->path if it fits, with trace->header filled; NULL otherwise. A damaged one is
 * a warning. */
struct sass_cache_reader *sass_cache_open(struct sass_trace *trace);
/* The same from memory, without a check of what it belongs to: for tests. NULL: damaged. */
struct sass_cache_reader *sass_cache_open_memory(struct sass_trace *trace, const void *bytes,
                                                 size_t size);
enum sass_event sass_cache_next(struct sass_trace *trace);
void sass_cache_close(struct sass_cache_reader *reader);

/* Begins a cache for trace->path; NULL when it cannot be written. */
struct sass_cache_writer *sass_cache_create(struct sass_trace *trace);
/* Adds an event; SASS_END completes the file, SASS_ERROR removes it. false: the writer is gone. */
bool sass_cache_add(struct sass_trace *trace, enum sass_event event);
void sass_cache_abandon(struct sass_cache_writer *writer);

#endif
