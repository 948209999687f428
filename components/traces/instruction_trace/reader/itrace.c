/* A line is one of a handful of structure lines, or an instruction. What may follow what is the
 * state; a line that may not be here is reported and left out. */
#include "itrace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "components/traces/instruction_trace/cache/itrace_cache.h"

#include "itrace_memory.h"
#include "itrace_text.h"

#define HEADER_MAX  65536
/* Unknown opcodes that are named one by one. */
#define UNKNOWN_MAX 64

static void report(struct itrace *t, bool is_error, uint64_t line, const char *format, va_list args)
{
    char text[400];
    vsnprintf(text, sizeof text, format, args);
    *(is_error ? &t->errors : &t->warnings) += 1;
    if (t->options.report)
        t->options.report(t->options.context, is_error, t->path, line, text);
}

void itrace_warn(struct itrace *t, uint64_t line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report(t, false, line, format, args);
    va_end(args);
}

void itrace_fail(struct itrace *t, uint64_t line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report(t, true, line, format, args);
    va_end(args);
}

/* Reports at the line read last. */
__attribute__((format(printf, 2, 3))) static enum itrace_event bad(struct itrace *t,
                                                                   const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report(t, true, t->input.line, format, args);
    va_end(args);
    return ITRACE_ERROR;
}

enum itrace_space itrace_space(const struct itrace *t, const struct itrace_inst *inst,
                               uint64_t address)
{
    return inst->opcode.space == ITRACE_SPACE_GENERIC ? itrace_header_space(&t->header, address)
                                                      : inst->opcode.space;
}

uint64_t itrace_block_index(const struct itrace *t)
{
    const uint32_t *grid = t->header.grid, *at = t->block;
    return ((uint64_t)at[2] * grid[1] + at[1]) * grid[0] + at[0];
}

enum line {
    LINE_READ,
    LINE_NONE,   /* the file ends */
    LINE_BROKEN, /* the file cannot be read on; reported */
    LINE_BAD     /* this line is no text; reported, and the next one can be read */
};

/* The next line that is not empty. */
static enum line next_line(struct itrace *t)
{
    int got;
    do {
        got = itrace_input_line(&t->input, &t->line, &t->line_size);
        if (got > 0 && strlen(t->line) != t->line_size) {
            bad(t, "a zero byte in the line");
            t->line[0] = '\0';
            return LINE_BAD;
        }
    } while (got > 0 && *itrace_skip_blanks(t->line) == '\0');
    if (got < 0)
        bad(t, "%s", t->input.error);
    return got > 0 ? LINE_READ : got == 0 ? LINE_NONE : LINE_BROKEN;
}

static bool keep_header_line(struct itrace *t)
{
    if (t->header_size + t->line_size + 1 > HEADER_MAX)
        return false;
    grow_list(t->header_text, t->header_size + t->line_size + 1, t->header_capacity, ITRACE_MEMORY);
    memcpy(t->header_text + t->header_size, t->line, t->line_size);
    t->header_size += t->line_size;
    t->header_text[t->header_size++] = '\n';
    return true;
}

static bool starts_with(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) == 0;
}

/* Everything up to the first line of the body, which stays in `line`. */
static bool read_header(struct itrace *t)
{
    char error[200];
    enum line got;
    bool any = false;
    while ((got = next_line(t)) == LINE_READ) {
        if (t->line[0] != '-' && !starts_with(t->line, "#traces")) {
            t->has_line = true;
            break;
        }
        any = true;
        int taken = t->line[0] == '-' ? itrace_header_take(&t->header, t->line, error) : 1;
        if (taken >= 0 && !keep_header_line(t)) {
            bad(t, "the header is longer than %d bytes", HEADER_MAX);
            return false;
        }
        if (taken < 0) {
            bad(t, "%s", error);
            return false;
        }
        if (taken == 0)
            itrace_warn(t, t->input.line, "%s", error);
    }
    if (got == LINE_BROKEN || got == LINE_BAD)
        return false;
    if (!any)
        itrace_fail(t, 0, "this is no trace of Accel-Sim: it begins without '-kernel name = ...'");
    return any;
}

static bool check_header(struct itrace *t)
{
    char text[200];
    enum itrace_complaint kind;
    bool ok = true;
    for (unsigned n = 0; itrace_header_complaint(&t->header, n, &kind, text); n++) {
        bool gap = kind == ITRACE_COMPLAINT_MISSING || kind == ITRACE_COMPLAINT_IMPOSSIBLE;
        if (gap)
            ok = itrace_gap_found(t, ITRACE_GAP_HEADER, 0, "%s", text) && ok;
        if (kind == ITRACE_COMPLAINT_ERROR)
            itrace_fail(t, 0, "%s", text);
        else if (!gap
                 || (kind == ITRACE_COMPLAINT_IMPOSSIBLE
                     && t->options.demand == ITRACE_GAPS_COUNTED))
            itrace_warn(t, 0, "%s", text);
        ok = ok && kind != ITRACE_COMPLAINT_ERROR;
    }
    t->layout = itrace_header_layout(&t->header);
    itrace_program_init(&t->program, itrace_header_arch(&t->header));
    return ok;
}

static bool open_text(struct itrace *t)
{
    if (!read_header(t))
        return false;
    /* Nothing but an instruction begins with a digit, and a block begins before it does. */
    if (t->has_line && itrace_hex_digit(t->line[0]) < 10) {
        bad(t, "a raw trace: group it first, by `heddle trace group`");
        return false;
    }
    return check_header(t);
}

static void begin_trace(struct itrace *t, const char *name, const struct itrace_options *options)
{
    *t = (struct itrace){
        .options = *options, .path = itrace_copy_text(name, strlen(name)), .cluster_rank = -1};
    t->input.fd = -1;
}

bool itrace_open(struct itrace *t, const char *path, const struct itrace_options *options)
{
    begin_trace(t, path, options);
    if (options->use_cache)
        t->cached = itrace_cache_open(t);
    if (t->cached) {
        t->is_cached = true;
        return check_header(t);
    }
    if (!itrace_input_open(&t->input, path)) {
        itrace_fail(t, 0, "cannot be read: %s", t->input.error);
        return false;
    }
    if (!open_text(t))
        return false;
    if (options->use_cache)
        t->writer = itrace_cache_create(t);
    return true;
}

bool itrace_open_memory(struct itrace *t, const char *name, const void *bytes, size_t size,
                        const struct itrace_options *options)
{
    begin_trace(t, name, options);
    if (!itrace_input_open_memory(&t->input, bytes, size)) {
        itrace_fail(t, 0, "cannot be read: %s", t->input.error);
        return false;
    }
    return open_text(t);
}

bool itrace_open_cache(struct itrace *t, const char *name, const void *bytes, size_t size,
                       const struct itrace_options *options)
{
    begin_trace(t, name, options);
    t->cached = itrace_cache_open_memory(t, bytes, size);
    t->is_cached = true;
    return t->cached && check_header(t);
}

static bool inside_grid(const struct itrace *t)
{
    for (unsigned i = 0; i < 3; i++)
        if (t->block[i] >= t->header.grid[i])
            return false;
    return true;
}

static enum itrace_event outside_grid(struct itrace *t)
{
    return bad(t, "thread block %" PRIu32 ",%" PRIu32 ",%" PRIu32 " lies outside of the grid",
               t->block[0], t->block[1], t->block[2]);
}

/* A warp ends: are its instructions all there? */
static bool warp_is_whole(struct itrace *t)
{
    if (t->state == ITRACE_WARP_NAMED)
        bad(t, "warp %" PRIu32 " has no 'insts = '", t->warp);
    else if (t->state == ITRACE_IN_WARP && t->warp_left)
        bad(t, "warp %" PRIu32 " ends %" PRIu64 " instructions before what its 'insts = ' says",
            t->warp, t->warp_left);
    else
        return true;
    return false;
}

static enum itrace_event take_begin(struct itrace *t, const char *at)
{
    (void)at;
    bool ok = t->state == ITRACE_OUTSIDE;
    t->state = ITRACE_BEGUN;
    t->warps_seen = 0;
    return ok ? ITRACE_END : bad(t, "#BEGIN_TB before the #END_TB of the block before");
}

static enum itrace_event take_end(struct itrace *t, const char *at)
{
    (void)at;
    bool ok = warp_is_whole(t), had = t->state >= ITRACE_IN_BLOCK;
    if (!had)
        bad(t, t->state == ITRACE_BEGUN ? "#END_TB before a 'thread block = x,y,z'"
                                        : "#END_TB without a #BEGIN_TB");
    t->state = ITRACE_OUTSIDE;
    return ok && had ? ITRACE_BLOCK_END : ITRACE_ERROR;
}

static enum itrace_event take_block(struct itrace *t, const char *at)
{
    if (!itrace_is_triple(at, t->block))
        return bad(t, "'thread block =' wants x,y,z, not '%.40s'", at);
    if (t->state != ITRACE_BEGUN)
        return bad(t, "'thread block =' stands behind #BEGIN_TB only");
    if (!inside_grid(t))
        return outside_grid(t);
    t->state = ITRACE_IN_BLOCK;
    t->notes_size = 0;
    t->cluster_rank = -1;
    t->blocks++;
    return ITRACE_BLOCK;
}

/* Numbers of clusters (Hopper). Of these only the rank of a block is used. */
static enum itrace_event take_cluster(struct itrace *t, const char *at)
{
    uint32_t triple[3];
    uint64_t number;
    const char *p = at;
    bool ok = itrace_is_triple(at, triple) || (itrace_parse_decimal(&p, &number) && !*p);
    if (!ok)
        return bad(t, "'cluster ...' wants x,y,z or a number, not '%.40s'", at);
    if (t->state == ITRACE_OUTSIDE)
        return bad(t, "'cluster ...' stands in a thread block only");
    if (starts_with(t->line, "cluster rank")) {
        p = at;
        if (!itrace_parse_decimal(&p, &number) || number >= ITRACE_CLUSTER)
            return bad(t, "'cluster rank =' wants a number below %d, not '%.40s'", ITRACE_CLUSTER,
                       at);
        t->cluster_rank = (int32_t)number;
        t->has_clusters = t->has_clusters || number;
    }
    if (t->notes_size + t->line_size + 1 < sizeof t->notes) {
        memcpy(t->notes + t->notes_size, t->line, t->line_size);
        t->notes_size += t->line_size;
        t->notes[t->notes_size++] = '\n';
    }
    return ITRACE_END;
}

static enum itrace_event take_warp(struct itrace *t, const char *at)
{
    uint64_t number;
    if (!itrace_parse_decimal(&at, &number) || *at)
        return bad(t, "'warp =' wants a number, not '%.40s'", at);
    if (t->state < ITRACE_IN_BLOCK)
        return bad(t, "'warp =' stands in a thread block only");
    if (!warp_is_whole(t)) {
        t->state = ITRACE_IN_BLOCK;
        return ITRACE_ERROR;
    }
    t->state = ITRACE_IN_BLOCK;
    if (number >= itrace_header_warps(&t->header))
        return bad(t, "warp %" PRIu64 ": a block of this kernel has %" PRIu64, number,
                   itrace_header_warps(&t->header));
    if (t->warps_seen >> number & 1)
        return bad(t, "warp %" PRIu64 " stands in this block twice", number);
    t->warps_seen |= UINT64_C(1) << number;
    t->warp = (uint32_t)number;
    t->state = ITRACE_WARP_NAMED;
    return ITRACE_END;
}

static enum itrace_event take_insts(struct itrace *t, const char *at)
{
    uint64_t number;
    if (!itrace_parse_decimal(&at, &number) || *at)
        return bad(t, "'insts =' wants a number, not '%.40s'", at);
    if (t->state != ITRACE_WARP_NAMED)
        return bad(t, "'insts =' stands behind 'warp =' only");
    t->warp_left = t->warp_steps = number;
    t->part = 0;
    t->state = ITRACE_IN_WARP;
    return ITRACE_WARP;
}

/* The lines that follow are of a later part of the block (docs/reference/traces.md). */
static enum itrace_event take_part(struct itrace *t, const char *at)
{
    uint64_t number;
    if (!itrace_parse_decimal(&at, &number) || *at || number <= t->part || number > UINT32_MAX)
        return bad(t, "'part =' wants a number above that of the part before, not '%.40s'", at);
    if (t->state != ITRACE_IN_WARP)
        return bad(t, "'part =' stands between the instructions of a warp only");
    t->part = (uint32_t)number;
    t->has_parts = true;
    return ITRACE_END;
}

static const struct {
    const char *key;
    enum itrace_event (*take)(struct itrace *t, const char *value);
} structure[] = {
    {"#BEGIN_TB", take_begin},       {"#END_TB", take_end},
    {"thread block =", take_block},  {"cluster id =", take_cluster},
    {"cluster cta =", take_cluster}, {"cluster rank =", take_cluster},
    {"warp =", take_warp},           {"insts =", take_insts},
    {"part =", take_part},
};

/* The layout of the lines from the first instruction: the mask is where 8 or 16 hexadecimal digits
 * are after so many numbers and a PC, and registers or an opcode follow. Since a count of
 * registers is no mask and a PC no opcode, at most one of the layouts fits. */
static bool find_layout(struct itrace *t)
{
    for (unsigned ids = 0; ids <= 4; ids += 4) {
        const char *at = t->line;
        uint64_t value;
        unsigned digits;
        bool fits = true;
        for (unsigned n = 0; n < ids + t->layout.has_line && fits; n++)
            fits = itrace_parse_decimal(&at, &value);
        fits = fits && itrace_parse_hex(&at, &value, &digits)
               && itrace_parse_hex(&at, &value, &digits) && (digits == 16 || digits == 8);
        if (!fits)
            continue;
        t->layout.ids = ids;
        t->layout.mask_digits = digits;
        return true;
    }
    return false;
}

/* The numbers of block and warp in front of an instruction. */
static bool take_ids(struct itrace *t, const char **at)
{
    uint64_t number[4];
    for (unsigned i = 0; i < 4; i++)
        if (!itrace_parse_decimal(at, &number[i]) || number[i] > UINT32_MAX) {
            bad(t, "number %u of the 4 in front of an instruction expected, not '%.20s'", i + 1,
                *at);
            return false;
        }
    if (number[0] == t->block[0] && number[1] == t->block[1] && number[2] == t->block[2]
        && number[3] == t->warp)
        return true;
    bad(t, "the instruction belongs to another block or warp than the one it stands in");
    return false;
}

static enum itrace_event take_instruction(struct itrace *t)
{
    if (t->state != ITRACE_IN_WARP)
        return bad(t, "an instruction, or what should be one, outside of a warp: '%.40s'", t->line);
    if (t->warp_left == 0)
        return bad(t, "warp %" PRIu32 " has more instructions than its 'insts = %" PRIu64 "'",
                   t->warp, t->warp_steps);
    t->warp_left--;
    t->has_layout = t->has_layout || find_layout(t);
    if (!t->has_layout)
        return bad(t, "neither an instruction nor anything else of a trace: '%.60s'", t->line);
    const char *at = t->line;
    if (t->layout.ids && !take_ids(t, &at))
        return ITRACE_ERROR;
    if (!itrace_program_step(&t->program, &t->layout, at, &t->step))
        return bad(t, "%s", t->program.error);
    t->text = at;
    t->text_size = t->line_size - (size_t)(at - t->line);
    t->steps++;
    return ITRACE_STEP;
}

/* One line. ITRACE_END: it is no event. */
static enum itrace_event take_line(struct itrace *t)
{
    char first = t->line[0];
    if (first && strchr("#twicp", first))
        for (size_t i = 0; i < ARRAY_COUNT(structure); i++)
            if (starts_with(t->line, structure[i].key))
                return structure[i].take(t, itrace_skip_blanks(t->line + strlen(structure[i].key)));
    return take_instruction(t);
}

static enum itrace_event at_end(struct itrace *t, bool ok)
{
    bool inside = t->state != ITRACE_OUTSIDE, in_block = t->state >= ITRACE_IN_BLOCK;
    bool whole = t->warps_seen
                 && (t->state == ITRACE_IN_BLOCK || (t->state == ITRACE_IN_WARP && !t->warp_left));
    t->ended = true;
    t->state = ITRACE_OUTSIDE;
    if (ok && whole) {
        itrace_odd(t, ITRACE_ODD_END, t->input.line, "the last #END_TB is missing");
        return ITRACE_BLOCK_END;
    }
    if (ok && in_block && t->options.demand == ITRACE_GAPS_ALLOWED) {
        itrace_warn(t, t->input.line, "the file ends inside of a thread block");
        return ITRACE_BLOCK_END;
    }
    if (ok && inside)
        return bad(t, "the file ends inside of a thread block%s",
                   t->options.remedy ? t->options.remedy : "");
    return ok ? ITRACE_END : ITRACE_ERROR;
}

enum itrace_event itrace_next(struct itrace *t)
{
    enum itrace_event event = ITRACE_END;
    t->text = NULL;
    if (t->cached) {
        event = itrace_cache_next(t);
        t->steps += event == ITRACE_STEP;
        t->blocks += event == ITRACE_BLOCK;
        return itrace_gaps_take(t, event) ? event : ITRACE_ERROR;
    }
    bool more = !t->ended;
    while (event == ITRACE_END && more) {
        enum line got = t->has_line ? LINE_READ : next_line(t);
        t->has_line = false;
        if (got == LINE_BAD)
            event = ITRACE_ERROR;
        else
            event = got == LINE_READ ? take_line(t) : at_end(t, got == LINE_NONE);
        more = got == LINE_READ && !t->ended;
    }
    if (!itrace_gaps_take(t, event))
        event = ITRACE_ERROR;
    if (t->writer && !itrace_cache_add(t, event))
        t->writer = NULL;
    return event;
}

void itrace_report_unknown(struct itrace *t)
{
    struct {
        const struct itrace_inst *first;
        size_t size; /* length of its opcode without modifiers */
        uint64_t steps;
    } unknown[UNKNOWN_MAX];
    size_t count = 0;
    uint64_t more = 0;
    for (size_t i = 0; i < t->program.count; i++) {
        const struct itrace_inst *inst = t->program.insts[i];
        size_t size = strcspn(inst->name, "."), n = 0;
        if (inst->known)
            continue;
        while (
            n < count
            && (unknown[n].size != size || strncmp(unknown[n].first->name, inst->name, size) != 0))
            n++;
        if (n == UNKNOWN_MAX) {
            more += inst->steps;
            continue;
        }
        if (n == count) {
            unknown[count].first = inst;
            unknown[count].size = size;
            unknown[count++].steps = 0;
        }
        unknown[n].steps += inst->steps;
    }
    for (size_t n = 0; n < count; n++)
        itrace_warn(t, 0,
                    "opcode '%.*s' is in no table and counted as unknown: executed %" PRIu64
                    " times, first at PC %04" PRIx32,
                    (int)unknown[n].size, unknown[n].first->name, unknown[n].steps,
                    unknown[n].first->pc);
    if (more)
        itrace_warn(t, 0, "more unknown opcodes: executed %" PRIu64 " times", more);
}

void itrace_close(struct itrace *t)
{
    itrace_cache_close(t->cached);
    itrace_cache_abandon(t->writer);
    itrace_input_close(&t->input);
    itrace_program_release(&t->program);
    itrace_set_release(&t->gaps.blocks);
    itrace_free(t->header_text);
    itrace_free(t->path);
    *t = (struct itrace){.input = {.fd = -1}};
}
