/* Fills the store of trace_stream.h: static instructions, chunks of words, blocks. Everything is
 * state in the arena. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_TRACE_PLAYER_TRACE_WRITER_H
#define HEDDLE_COMPONENTS_NVIDIA_TRACE_PLAYER_TRACE_WRITER_H

#include "components/protocols/thread_block/trace_stream.h"
#include "components/traces/instruction_trace/reader/itrace.h"

#define TRACE_INDEX_NONE UINT32_MAX

struct trace_writer {
    uint32_t chunks, chunks_used, free_chunk; /* never used ones come last */
    uint32_t blocks_free;
    uint32_t free_count; /* chunks that can be had */
};

/* `bytes` of host memory for chunks, and room for `blocks` blocks. */
static void trace_writer_init(struct trace_writer *w, struct trace_stream *s, uint64_t bytes,
                              uint32_t blocks);
static uint32_t *trace_writer_word(const struct trace_stream *s, uint32_t at);

/* A free chunk; there is one. */
static uint32_t trace_writer_copy(struct trace_writer *w, const struct trace_stream *s);

/* The block is over: its chunks and its place are free. */
static void trace_writer_release(struct trace_writer *w, const struct trace_stream *s,
                                 struct trace_block *b);

/* The block's records in the store are over: its chunks are free, and one is taken for the next
 * records.
 */
static void trace_writer_restart(struct trace_writer *w, const struct trace_stream *s,
                                 struct trace_block *b);

static struct trace_inst trace_writer_decode(const struct itrace_inst *from);

/* A record in `words`; returns its length. */
static unsigned trace_writer_record(uint32_t words[TRACE_RECORD], uint32_t id,
                                    const struct itrace_step *step, enum trace_space space);

/* The place of a block's next record: `at`, or after a link. There are two free chunks. */
static uint32_t trace_writer_room(struct trace_writer *w, const struct trace_stream *s,
                                  struct trace_block *b, uint32_t at, unsigned length);

#endif
