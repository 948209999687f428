/* Appends a record for each event; the head is written when all is known, and the file then gets
 * its name. Any failure means that there is no cache. */
#include <stdio.h>
#include <string.h>

#include "components/traces/instruction_trace/reader/itrace_memory.h"
#include "components/traces/instruction_trace/tools/itrace_output.h"

#include "itrace_cache.h"
#include "itrace_cache_format.h"

struct itrace_cache_writer {
    struct itrace_output output;
    struct itrace_cache_coder coder;
    struct itrace_digest digest; /* digest of the bytes that were written */
    size_t used;
    uint8_t buffer[ITRACE_CACHE_BUFFER + ITRACE_CACHE_RECORD];
};

static void put_byte(struct itrace_cache_writer *w, unsigned byte)
{
    w->buffer[w->used++] = (uint8_t)byte;
}

static void put_number(struct itrace_cache_writer *w, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put_byte(w, (unsigned)(value & 0x7f) | 0x80);
    put_byte(w, (unsigned)value);
}

static void put_signed(struct itrace_cache_writer *w, uint64_t value)
{
    put_number(w, value << 1 ^ (0 - (value >> 63)));
}

static void put_text(struct itrace_cache_writer *w, const char *text)
{
    size_t size = strlen(text);
    put_number(w, size);
    memcpy(w->buffer + w->used, text, size);
    w->used += size;
}

static bool write_out(struct itrace_cache_writer *w);

static void put_header(struct itrace_cache_writer *w, const struct itrace_header *h)
{
    put_text(w, h->kernel_name);
    put_text(w, h->nvbit_version);
    put_number(w, h->kernel_id);
    for (unsigned i = 0; i < 3; i++) {
        put_number(w, h->grid[i]);
        put_number(w, h->block[i]);
    }
    put_number(w, h->shared_bytes);
    put_number(w, h->registers);
    put_number(w, h->binary_version);
    put_number(w, h->stream);
    put_number(w, h->shared_base);
    put_number(w, h->local_base);
    put_number(w, h->launch_behind);
    put_number(w, h->launch_delay);
    put_number(w, h->tracer_version);
    put_number(w, h->tracer_minor);
    put_number(w, h->has_line_info);
    put_number(w, h->present);
}

static void put_inst(struct itrace_cache_writer *w, const struct itrace_inst *inst)
{
    put_byte(w, RECORD_INST);
    put_number(w, inst->pc);
    put_number(w, inst->source_line);
    put_text(w, inst->name);
    put_number(w, inst->width);
    put_number(w, inst->destination_count);
    for (unsigned i = 0; i < inst->destination_count; i++)
        put_number(w, inst->destinations[i]);
    put_number(w, inst->source_count);
    for (unsigned i = 0; i < inst->source_count; i++)
        put_number(w, inst->sources[i]);
    put_number(w, inst->immediate_count);
    for (unsigned i = 0; i < inst->immediate_count; i++)
        put_signed(w, (uint64_t)inst->immediates[i]);
    itrace_cache_define(&w->coder);
}

static void put_addresses(struct itrace_cache_writer *w, const struct itrace_step *step)
{
    struct itrace_inst *inst = step->inst;
    uint64_t base = inst->base;
    put_byte(w, step->mode);
    if (step->mode == ITRACE_MODE_STRIDE)
        put_signed(w, (uint64_t)step->stride);
    unsigned count = step->mode == ITRACE_MODE_STRIDE && step->count > 1 ? 1 : step->count;
    for (unsigned i = 0; i < count; i++) {
        put_signed(w, step->address[i] - base);
        base = step->address[i];
    }
}

static void put_step(struct itrace_cache_writer *w, const struct itrace_step *step)
{
    struct itrace_inst *inst = step->inst;
    while (w->coder.known <= inst->id)
        put_inst(w, inst);
    unsigned flags = 0;
    if (itrace_cache_predicted(&w->coder) == inst->id + 1)
        flags |= STEP_PREDICTED;
    if (step->mask == w->coder.mask)
        flags |= STEP_SAME_MASK;
    if (step->mode == ITRACE_MODE_STRIDE && step->count && step->stride == inst->stride)
        flags |= STEP_STRIDE;
    else if (step->mode != ITRACE_MODE_NONE)
        flags |= STEP_ADDRESSES;
    put_byte(w, flags);
    if (!(flags & STEP_PREDICTED))
        put_number(w, inst->id);
    if (!(flags & STEP_SAME_MASK))
        put_number(w, step->mask);
    if (flags & STEP_STRIDE)
        put_signed(w, step->address[0] - inst->base);
    if (flags & STEP_ADDRESSES)
        put_addresses(w, step);
    itrace_cache_follow(&w->coder, inst->id);
    w->coder.mask = step->mask;
    if (step->count)
        inst->base = step->address[0];
    if (step->mode == ITRACE_MODE_STRIDE)
        inst->stride = step->stride;
}

static bool write_out(struct itrace_cache_writer *w)
{
    itrace_digest_add(&w->digest, w->buffer, w->used);
    bool ok = fwrite(w->buffer, 1, w->used, w->output.file) == w->used;
    w->used = 0;
    return ok;
}

struct itrace_cache_writer *itrace_cache_create(struct itrace *trace)
{
    struct itrace_cache_writer *w = itrace_allocate(1, sizeof *w);
    char *path = itrace_cache_path(trace->path);
    bool ok = itrace_output_open(&w->output, path);
    itrace_free(path);
    if (!ok) {
        itrace_free(w);
        return NULL;
    }
    static const struct itrace_cache_head none;
    fwrite(&none, sizeof none, 1, w->output.file);
    put_header(w, &trace->header);
    return w;
}

static void free_writer(struct itrace_cache_writer *w)
{
    itrace_free(w->coder.successor);
    itrace_free(w);
}

void itrace_cache_abandon(struct itrace_cache_writer *w)
{
    if (!w)
        return;
    itrace_output_abandon(&w->output);
    free_writer(w);
}

/* The trace was read to its end without an error: so was every byte of its file. */
static void complete(struct itrace_cache_writer *w, struct itrace *trace)
{
    const struct itrace_gaps *gaps = &trace->gaps;
    struct itrace_cache_head head = {.version = ITRACE_CACHE_VERSION,
                                     .whole =
                                         itrace_gaps_total(gaps) == gaps->count[ITRACE_GAP_HEADER],
                                     .text = trace->input.digest};
    put_byte(w, RECORD_END);
    bool ok = write_out(w);
    memcpy(head.magic, ITRACE_CACHE_MAGIC, 8);
    head.payload = w->digest;
    ok = ok && fseek(w->output.file, 0, SEEK_SET) == 0
         && fwrite(&head, sizeof head, 1, w->output.file) == 1;
    if (ok)
        itrace_output_commit(&w->output); /* a disk that is full: no cache, no harm */
    else
        itrace_output_abandon(&w->output);
    free_writer(w);
}

bool itrace_cache_add(struct itrace *trace, enum itrace_event event)
{
    struct itrace_cache_writer *w = trace->writer;
    bool ok =
        event != ITRACE_ERROR && trace->errors == 0 && !trace->has_clusters && !trace->has_parts;
    /* Records have no place for transfers, groups, clusters and parts: such a trace is read as text
     * each time. */
    if (event == ITRACE_STEP)
        ok = ok && !trace->step.copy.runs && !trace->step.inst->closes_group
             && !trace->step.inst->at_barrier;
    if (ok && event == ITRACE_END) {
        complete(w, trace);
        return false;
    }
    if (ok && event == ITRACE_STEP) {
        put_step(w, &trace->step);
    } else if (ok && event == ITRACE_BLOCK) {
        put_byte(w, RECORD_BLOCK);
        for (unsigned i = 0; i < 3; i++)
            put_number(w, trace->block[i]);
    } else if (ok && event == ITRACE_WARP) {
        put_byte(w, RECORD_WARP);
        put_number(w, trace->warp);
        put_number(w, trace->warp_steps);
    } else if (ok) {
        put_byte(w, RECORD_BLOCK_END);
    }
    if (ok && w->used >= ITRACE_CACHE_BUFFER)
        ok = write_out(w);
    if (!ok)
        itrace_cache_abandon(w);
    return ok;
}
