/* "insts = " stands in front of what it counts, so a warp's lines wait in a buffer; what does not
 * fit into it goes to a nameless file. */
#include "components/traces/instruction_trace/tools/itrace_filter.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "components/traces/instruction_trace/reader/itrace_memory.h"
#include "components/traces/instruction_trace/tools/itrace_output.h"

#define BUFFER_SIZE ((size_t)1 << 20)

struct filter {
    struct itrace *trace;
    const char *path;
    FILE *out, *overflow;
    char *buffer;
    size_t used;
    uint64_t overflow_size;
    uint64_t lines; /* of this warp */
    bool in_warp, in_block;
    uint64_t kept;
};

bool itrace_filter_keeps(const struct itrace_inst *inst)
{
    return inst->width > 0 || inst->opcode.unit == SASS_CLASS_EXIT;
}

static bool keep_line(struct filter *f, const char *text, size_t size)
{
    f->lines++;
    f->kept++;
    if (f->used + size + 1 > BUFFER_SIZE) {
        if (!f->overflow && !(f->overflow = itrace_output_scratch(f->path)))
            return false;
        if (fwrite(f->buffer, 1, f->used, f->overflow) != f->used)
            return false;
        f->overflow_size += f->used;
        f->used = 0;
    }
    if (size + 1 > BUFFER_SIZE)
        return false;
    memcpy(f->buffer + f->used, text, size);
    f->buffer[f->used + size] = '\n';
    f->used += size + 1;
    return true;
}

static bool copy_overflow(struct filter *f)
{
    char part[16384];
    rewind(f->overflow);
    for (uint64_t left = f->overflow_size; left > 0;) {
        size_t want = left < sizeof part ? (size_t)left : sizeof part;
        if (fread(part, 1, want, f->overflow) != want)
            return false;
        fwrite(part, 1, want, f->out);
        left -= want;
    }
    rewind(f->overflow);
    f->overflow_size = 0;
    return true;
}

static bool end_warp(struct filter *f)
{
    if (!f->in_warp)
        return true;
    fprintf(f->out, "insts = %" PRIu64 "\n", f->lines);
    if (f->overflow_size && !copy_overflow(f))
        return false;
    fwrite(f->buffer, 1, f->used, f->out);
    f->used = 0;
    f->lines = 0;
    f->in_warp = false;
    return true;
}

static void write_notes(struct filter *f)
{
    fwrite(f->trace->notes, 1, f->trace->notes_size, f->out);
    f->trace->notes_size = 0;
}

static bool take(struct filter *f, enum itrace_event event)
{
    struct itrace *t = f->trace;
    switch (event) {
    case ITRACE_BLOCK:
        fprintf(f->out, "\n#BEGIN_TB\n\nthread block = %" PRIu32 ",%" PRIu32 ",%" PRIu32 "\n",
                t->block[0], t->block[1], t->block[2]);
        return true;
    case ITRACE_WARP:
        if (!end_warp(f))
            return false;
        write_notes(f);
        fprintf(f->out, "\nwarp = %" PRIu32 "\n", t->warp);
        f->in_warp = true;
        return true;
    case ITRACE_STEP:
        if (!itrace_filter_keeps(t->step.inst))
            return true;
        if (!t->is_raw)
            return keep_line(f, t->text, t->text_size);
        f->kept++;
        fprintf(f->out, "%s\n", t->line); /* with the numbers of its block and warp */
        return true;
    case ITRACE_BLOCK_END:
        if (!end_warp(f))
            return false;
        write_notes(f);
        fputs("\n#END_TB\n", f->out);
        return true;
    default:
        return true;
    }
}

static void write_header(const struct itrace *t, FILE *out)
{
    const char *format = t->header_text ? strstr(t->header_text, "#traces") : NULL;
    size_t fields = format ? (size_t)(format - t->header_text) : t->header_size;
    fwrite(t->header_text, 1, fields, out);
    if (itrace_header_is_amd(&t->header) && !itrace_header_is_memory_only(&t->header))
        fputs("-steps = memory\n", out);
    putc('\n', out);
    if (format)
        fwrite(format, 1, t->header_size - fields, out);
    putc('\n', out);
}

static bool write_all(struct filter *f)
{
    enum itrace_event event;
    write_header(f->trace, f->out);
    while ((event = itrace_next(f->trace)) != ITRACE_END) {
        if (event == ITRACE_ERROR)
            return false;
        if (!take(f, event)) {
            itrace_fail(f->trace, 0, "the temporary file fails: %s", strerror(errno));
            return false;
        }
    }
    return true;
}

bool itrace_filter(struct itrace *trace, const char *path, struct itrace_filter_result *result)
{
    struct filter f = {.trace = trace, .path = path};
    struct itrace_output output;
    bool ok = itrace_output_open(&output, path);
    if (!ok)
        itrace_fail(trace, 0, "'%s' cannot be written: %s", path, strerror(errno));
    f.buffer = itrace_allocate(BUFFER_SIZE, 1);
    f.out = output.file;
    ok = ok && write_all(&f);
    if (ok && !itrace_output_commit(&output)) {
        itrace_fail(trace, 0, "'%s' cannot be written: %s", path, strerror(errno));
        ok = false;
    }
    itrace_output_abandon(&output);
    if (f.overflow)
        fclose(f.overflow);
    itrace_free(f.buffer);
    result->kept = f.kept;
    return ok;
}
