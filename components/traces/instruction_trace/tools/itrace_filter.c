/* "insts = " is in front of what it counts, so a warp's lines wait in memory. */
#include "itrace_filter.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/grow.h"
#include "components/traces/instruction_trace/reader/itrace_memory.h"

#include "itrace_output.h"

struct filter {
    struct itrace *trace;
    FILE *out;
    char *lines; /* lines of this warp */
    size_t used, capacity;
    uint64_t count, kept;
    bool in_warp;
};

bool itrace_filter_keeps(const struct itrace_inst *inst)
{
    return inst->width > 0 || inst->opcode.unit == SASS_CLASS_EXIT;
}

static void keep_line(struct filter *f, const char *text, size_t size)
{
    grow_list(f->lines, f->used + size + 1, f->capacity, ITRACE_MEMORY);
    memcpy(f->lines + f->used, text, size);
    f->lines[f->used + size] = '\n';
    f->used += size + 1;
    f->count++;
    f->kept++;
}

/* The notes of the block follow the warp that they came after. */
static void end_warp(struct filter *f)
{
    if (f->in_warp) {
        fprintf(f->out, "insts = %" PRIu64 "\n", f->count);
        fwrite(f->lines, 1, f->used, f->out);
    }
    f->used = f->count = 0;
    f->in_warp = false;
    fwrite(f->trace->notes, 1, f->trace->notes_size, f->out);
    f->trace->notes_size = 0;
}

static void take_event(struct filter *f, enum itrace_event event)
{
    struct itrace *t = f->trace;
    switch (event) {
    case ITRACE_BLOCK:
        fprintf(f->out, "\n#BEGIN_TB\n\nthread block = %" PRIu32 ",%" PRIu32 ",%" PRIu32 "\n",
                t->block[0], t->block[1], t->block[2]);
        break;
    case ITRACE_WARP:
        end_warp(f);
        fprintf(f->out, "\nwarp = %" PRIu32 "\n", t->warp);
        f->in_warp = true;
        break;
    case ITRACE_STEP:
        if (itrace_filter_keeps(t->step.inst))
            keep_line(f, t->text, t->text_size);
        break;
    case ITRACE_BLOCK_END:
        end_warp(f);
        fputs("\n#END_TB\n", f->out);
        break;
    default:
        break;
    }
}

static void write_header(const struct itrace *t, FILE *out)
{
    const char *format = t->header_text ? strstr(t->header_text, "#traces") : NULL;
    size_t fields = format ? (size_t)(format - t->header_text) : t->header_size;
    fwrite(t->header_text, 1, fields, out);
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
        take_event(f, event);
    }
    return true;
}

bool itrace_filter(struct itrace *trace, const char *path, uint64_t *kept)
{
    struct itrace_output output;
    bool written = itrace_output_open(&output, path);
    struct filter f = {.trace = trace, .out = output.file};
    bool ok = written && write_all(&f);
    if (ok)
        written = itrace_output_commit(&output);
    if (!written)
        itrace_fail(trace, 0, "'%s' cannot be written: %s", path, strerror(errno));
    itrace_output_abandon(&output);
    itrace_free(f.lines);
    *kept = f.kept;
    return ok && written;
}
