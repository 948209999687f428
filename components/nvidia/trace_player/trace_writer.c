/* Appends records to the chunks of a block. A chunk's last word names the next chunk of its block,
 * or of the free list. */
#include "trace_writer.h"

#include <string.h>

#include "base/number.h"
#include "components/traces/instruction_trace/nvidia/ptx_units.h"

static inline void trace_writer_init(struct trace_writer *w, struct trace_stream *s, uint64_t bytes,
                                     uint32_t blocks)
{
    w->chunks = w->free_count = (uint32_t)(bytes / (TRACE_CHUNK * sizeof(uint32_t)));
    w->free_chunk = TRACE_INDEX_NONE;
    s->words_at = arena_allocate((size_t)w->chunks * TRACE_CHUNK * sizeof(uint32_t));
    s->blocks_at = arena_allocate(blocks * sizeof(struct trace_block));
    for (uint32_t i = 0; i < blocks; i++)
        arena_at(struct trace_block, s->blocks_at)[i].next =
            i + 1 < blocks ? i + 1 : TRACE_INDEX_NONE;
}

static inline uint32_t *trace_writer_word(const struct trace_stream *s, uint32_t at)
{
    return arena_at(uint32_t, s->words_at) + at;
}

static inline uint32_t trace_writer_copy(struct trace_writer *w, const struct trace_stream *s)
{
    uint32_t chunk = w->free_chunk;
    w->free_count--;
    if (chunk == TRACE_INDEX_NONE)
        return w->chunks_used++;
    w->free_chunk = *trace_writer_word(s, chunk * TRACE_CHUNK + TRACE_CHUNK - 1);
    return chunk;
}

static inline void trace_writer_drop(struct trace_writer *w, const struct trace_stream *s,
                                     const struct trace_block *b)
{
    uint32_t chunk = b->first;
    for (;;) {
        uint32_t *link = trace_writer_word(s, chunk * TRACE_CHUNK + TRACE_CHUNK - 1);
        uint32_t next = *link;
        w->free_count++;
        *link = w->free_chunk;
        w->free_chunk = chunk;
        if (chunk == b->last)
            break;
        chunk = next;
    }
}

static inline void trace_writer_restart(struct trace_writer *w, const struct trace_stream *s,
                                        struct trace_block *b)
{
    trace_writer_drop(w, s, b);
    b->first = b->last = trace_writer_copy(w, s);
}

static inline void trace_writer_release(struct trace_writer *w, const struct trace_stream *s,
                                        struct trace_block *b)
{
    trace_writer_drop(w, s, b);
    b->next = w->blocks_free;
    w->blocks_free = (uint32_t)(b - arena_at(struct trace_block, s->blocks_at));
}

static inline uint16_t trace_writer_register(uint16_t number)
{
    return number == 255 || number >= TRACE_REGISTERS ? TRACE_REGISTER_NONE : number;
}

static inline bool trace_writer_is(const struct itrace_inst *from, const char *part)
{
    return strstr(from->name, part) != NULL;
}

/* The number of a barrier, and of the warps it is for: the immediates are its number and threads.
 * Where the number is in a register, the only one is threads. */
static inline uint16_t trace_writer_barrier(const struct itrace_inst *from)
{
    uint64_t number = from->immediate_count ? (uint64_t)from->immediates[0] : 0;
    uint64_t threads = from->immediate_count > 1 ? (uint64_t)from->immediates[1] : 0;
    if (number >= TRACE_BARRIERS) {
        threads = number;
        number = 0;
    }
    threads = threads % 32 || threads > 32 * TRACE_WARPS ? 0 : threads;
    return (uint16_t)(number | threads / 32 * TRACE_BARRIERS);
}

static inline struct trace_inst trace_writer_decode(const struct itrace_inst *from)
{
    static const struct {
        uint8_t unit, kind;
    } classes[SASS_CLASS_COUNT] = {
#define SASS_CLASS(NAME, name, unit, kind) [SASS_CLASS_##NAME] = {TRACE_##unit, TRACE_##kind},
#include "components/traces/instruction_trace/nvidia/opcode_classes.def"
    };
    struct trace_inst to = {.unit = classes[from->opcode.unit].unit,
                            .kind = classes[from->opcode.unit].kind,
                            .width = min(from->width, 32),
                            .destination = TRACE_REGISTER_NONE};
    unsigned sources = 0;
    if (strncmp(from->name, "BAR.", 4) == 0 || ptx_name_is_barrier(from->name)) {
        bool arrives = trace_writer_is(from, ".ARV") || trace_writer_is(from, ".arrive");
        to.kind = arrives ? TRACE_ARRIVE : TRACE_BARRIER;
        to.count = trace_writer_barrier(from);
    }
    /* As Accel-Sim's trace_driven.cc: what the whole GPU must see is not looked for in the L1. */
    bool strong = trace_writer_is(from, ".STRONG.")
                  && (trace_writer_is(from, ".GPU") || trace_writer_is(from, ".SYS"));
    to.bypass = to.kind == TRACE_LOAD && (strong || ptx_name_bypasses(from->name));
    if (from->destination_count)
        to.destination = trace_writer_register(from->destinations[0]);
    for (unsigned i = 0; i < from->source_count; i++) {
        to.source[sources] = trace_writer_register(from->sources[i]);
        sources += to.source[sources] != TRACE_REGISTER_NONE;
    }
    while (sources < TRACE_SOURCES)
        to.source[sources++] = TRACE_REGISTER_NONE;
    return to;
}

static inline void trace_writer_wide(uint32_t **to, uint64_t value)
{
    *(*to)++ = (uint32_t)value;
    *(*to)++ = (uint32_t)(value >> 32);
}

/* True if all differences of neighbours are 32-bit numbers. */
static inline bool trace_writer_near(const struct itrace_step *step)
{
    for (unsigned i = 1; i < step->count; i++) {
        int64_t d = (int64_t)(step->address[i] - step->address[i - 1]);
        if (d != (int32_t)d)
            return false;
    }
    return true;
}

static inline enum trace_mode trace_writer_mode(const struct itrace_step *step)
{
    if (!step->count)
        return TRACE_NONE;
    if (step->mode == ITRACE_MODE_STRIDE && step->stride == (int32_t)step->stride)
        return TRACE_STRIDE;
    return trace_writer_near(step) ? TRACE_DELTA : TRACE_LIST;
}

static inline unsigned trace_writer_record(uint32_t words[TRACE_RECORD], uint32_t id,
                                           const struct itrace_step *step, enum trace_space space)
{
    enum trace_mode mode = trace_writer_mode(step);
    uint32_t *to = words + 1;
    words[0] = id | (uint32_t)mode << TRACE_MODE_SHIFT | (uint32_t)space << TRACE_SPACE_SHIFT;
    if ((uint32_t)step->mask == UINT32_MAX)
        words[0] |= TRACE_FULL;
    else
        *to++ = (uint32_t)step->mask;
    if (mode == TRACE_STRIDE || mode == TRACE_DELTA)
        trace_writer_wide(&to, step->address[0]);
    if (mode == TRACE_STRIDE)
        *to++ = (uint32_t)step->stride;
    if (mode == TRACE_DELTA)
        for (unsigned i = 1; i < step->count; i++)
            *to++ = (uint32_t)(step->address[i] - step->address[i - 1]);
    if (mode == TRACE_LIST)
        for (unsigned i = 0; i < step->count; i++)
            trace_writer_wide(&to, step->address[i]);
    return (unsigned)(to - words);
}

static inline uint32_t trace_writer_room(struct trace_writer *w, const struct trace_stream *s,
                                         struct trace_block *b, uint32_t at, unsigned length)
{
    if (at % TRACE_CHUNK + length < TRACE_CHUNK - 1)
        return at;
    uint32_t chunk = trace_writer_copy(w, s);
    *trace_writer_word(s, at) = TRACE_LINK;
    *trace_writer_word(s, at | (TRACE_CHUNK - 1)) = chunk;
    b->last = chunk;
    return chunk * TRACE_CHUNK;
}
