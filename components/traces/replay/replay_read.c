/* Work-groups out of a trace: each step is checked against the machine code once it is read, so
 * that units that play it meet only instructions that follow each other, unless the trace says that
 * it has accesses of memory only. */
#include "replay_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "components/traces/instruction_trace/reader/itrace_memory.h"

void replay_say(char text[REPLAY_TEXT], const char *path, const char *format, ...)
{
    va_list args;
    int used = snprintf(text, REPLAY_TEXT, "%s: ", path);
    va_start(args, format);
    if (used >= 0 && used < REPLAY_TEXT)
        vsnprintf(text + used, REPLAY_TEXT - (size_t)used, format, args);
    va_end(args);
}

static void replay_note(void *context, bool is_error, const char *path, uint64_t line,
                        const char *text)
{
    struct replay_complaint *complaint = context;
    if (!is_error || !complaint || *complaint->text)
        return;
    if (line)
        snprintf(complaint->text, REPLAY_TEXT, "%s:%" PRIu64 ": %s", path, line, text);
    else
        snprintf(complaint->text, REPLAY_TEXT, "%s: %s", path, text);
}

void replay_block_free(struct replay_block *block)
{
    if (block)
        itrace_free(block->words);
    itrace_free(block);
}

bool replay_reader_open(struct replay_kernel *kernel, struct replay_reader *reader,
                        char text[REPLAY_TEXT])
{
    struct replay_complaint complaint = {""};
    bool first = reader == &kernel->reader[0];
    const struct itrace_options options = {.report = replay_note,
                                           .context = &complaint,
                                           .use_cache = kernel->use_cache && first,
                                           .demand = ITRACE_GAPS_REFUSED};
    replay_reader_close(reader);
    reader->open = true;
    if (itrace_open(&reader->trace, kernel->path, &options)) {
        reader->trace.options.context = NULL; /* set for each read */
        return true;
    }
    memcpy(text, complaint.text, REPLAY_TEXT);
    replay_reader_close(reader);
    return false;
}

void replay_reader_close(struct replay_reader *reader)
{
    while (reader->kept) {
        struct replay_block *block = reader->kept;
        reader->kept = block->next;
        replay_block_free(block);
    }
    itrace_free(reader->inst);
    if (reader->open)
        itrace_close(&reader->trace);
    *reader = (struct replay_reader){0};
}

/* The work-group that is read at the moment. */
struct reading {
    struct replay_kernel *kernel;
    struct replay_reader *reader;
    struct replay_block *block; /* NULL: this one is passed over */
    unsigned wave;
    uint64_t next; /* PC that must come; UINT64_MAX: any */
    bool ended;    /* s_endpgm was there */
    struct replay_complaint *complaint;
};

static bool complain(const struct reading *r, const char *what)
{
    const struct itrace *t = &r->reader->trace;
    char place[320];
    snprintf(place, sizeof place,
             "thread block %" PRIu32 ",%" PRIu32 ",%" PRIu32 ", warp %" PRIu32 ": %s", t->block[0],
             t->block[1], t->block[2], t->warp, what);
    replay_note(r->complaint, true, r->kernel->path, t->is_cached ? 0 : t->input.line, place);
    return false;
}

/* ---- steps ---- */

static struct replay_inst *static_inst(struct replay_reader *reader, uint32_t id)
{
    if (id >= reader->inst_capacity) {
        size_t old = reader->inst_capacity;
        reader->inst =
            itrace_reserve(reader->inst, id + 1, &reader->inst_capacity, sizeof *reader->inst);
        memset(reader->inst + old, 0, (reader->inst_capacity - old) * sizeof *reader->inst);
    }
    return &reader->inst[id];
}

static uint64_t pc_of(const struct replay_kernel *kernel, const struct itrace_inst *inst)
{
    return kernel->header.base + inst->pc;
}

/* The mnemonic, or the first word of the instruction's text, which may have a suffix. */
static bool same_name(const struct isa_inst *decoded, const char *name)
{
    char text[ISA_MAX_TEXT];
    size_t length = strlen(name);
    if (strcmp(isa_mnemonic(decoded), name) == 0)
        return true;
    isa_format(decoded, UINT64_MAX, text, sizeof text);
    return strncmp(text, name, length) == 0 && (text[length] == ' ' || !text[length]);
}

/* Looks an instruction up in the machine code when it comes for the first time. */
static bool learn(const struct reading *r, const struct itrace_inst *inst,
                  struct replay_inst *known)
{
    const struct replay_kernel *kernel = r->kernel;
    char what[160];
    uint64_t pc = pc_of(kernel, inst);
    const struct replay_range *range = replay_header_code(&kernel->header, pc);
    struct isa_inst decoded;
    if (!range || pc % 4) {
        snprintf(what, sizeof what,
                 "PC %04" PRIx32 " is 0x%" PRIx64 ", where the header's '-code' has nothing",
                 inst->pc, pc);
        return complain(r, what);
    }
    int size = isa_decode(kernel->header.target, range->bytes + (pc - range->address),
                          (size_t)(range->address + range->size - pc), &decoded);
    if (size < 0 && size != ISA_ERROR_UNIMPLEMENTED) {
        snprintf(what, sizeof what,
                 "PC %04" PRIx32 ": the bytes of '-code' there are no instruction of %s", inst->pc,
                 isa_target_name(kernel->header.target));
        return complain(r, what);
    }
    if (!same_name(&decoded, inst->name)) {
        snprintf(what, sizeof what, "PC %04" PRIx32 ": '%s' in the trace, but '%s' in '-code'",
                 inst->pc, inst->name, isa_mnemonic(&decoded));
        return complain(r, what);
    }
    *known = (struct replay_inst){.known = true,
                                  .size = decoded.size,
                                  .scalar = decoded.unit == ISA_UNIT_SMEM,
                                  .flow = decoded.flags & ISA_IS_ENDPGM   ? REPLAY_ENDS
                                          : decoded.flags & ISA_IS_BRANCH ? REPLAY_JUMPS
                                                                          : REPLAY_GOES_ON};
    return true;
}

/* How the addresses of a step are written with least: *stride of REPLAY_STRIDE. */
static unsigned mode_of(const struct itrace_step *step, int64_t *stride)
{
    bool even = true, near = true;
    *stride = step->count > 1 ? (int64_t)(step->address[1] - step->address[0]) : 0;
    for (unsigned i = 1; i < step->count; i++) {
        int64_t difference = (int64_t)(step->address[i] - step->address[i - 1]);
        even &= difference == *stride;
        near &= difference == (int32_t)difference;
    }
    if (!step->count)
        return REPLAY_NONE;
    return !near ? REPLAY_LIST : even ? REPLAY_STRIDE : REPLAY_DELTA;
}

static void put(struct replay_block *block, uint32_t word)
{
    block->words[block->count++] = word;
}

static void put_wide(struct replay_block *block, uint64_t value)
{
    put(block, (uint32_t)value);
    put(block, (uint32_t)(value >> 32));
}

static void put_step(struct replay_block *block, const struct itrace_step *step, bool scalar)
{
    int64_t stride;
    unsigned mode = mode_of(step, &stride);
    uint32_t head = step->inst->pc >> 2 & REPLAY_PC;
    if (scalar && mode)
        mode = REPLAY_STRIDE;
    bool masked = mode && !scalar && step->mask != UINT64_MAX;
    block->words = itrace_reserve(block->words, block->count + 3 + 2 * ISA_LANES, &block->capacity,
                                  sizeof *block->words);
    put(block, head | mode << REPLAY_MODE_SHIFT | (masked ? 0 : REPLAY_FULL));
    if (masked)
        put_wide(block, step->mask);
    if (mode)
        put_wide(block, step->address[0]);
    if (mode == REPLAY_STRIDE)
        put(block, scalar ? step->inst->width : (uint32_t)(int32_t)stride);
    for (unsigned i = 1; i < step->count && mode == REPLAY_DELTA; i++)
        put(block, (uint32_t)(step->address[i] - step->address[i - 1]));
    for (unsigned i = 1; i < step->count && mode == REPLAY_LIST; i++)
        put_wide(block, step->address[i]);
}

/* ---- work-groups ---- */

static bool end_wave(struct reading *r)
{
    bool good = r->ended || r->wave == REPLAY_WAVES;
    r->wave = REPLAY_WAVES;
    return good || !r->block || complain(r, "its steps end before s_endpgm");
}

static bool take_step(struct reading *r)
{
    const struct itrace_step *step = &r->reader->trace.step;
    if (!r->block)
        return true;
    struct replay_inst *inst = static_inst(r->reader, step->inst->id);
    if (!inst->known && !learn(r, step->inst, inst))
        return false;
    uint64_t pc = pc_of(r->kernel, step->inst);
    if (r->ended || (r->next != UINT64_MAX && r->next != pc)) {
        char what[160];
        if (r->ended)
            return complain(r, "steps behind s_endpgm");
        snprintf(what, sizeof what,
                 "PC %04" PRIx32
                 " (%s) does not follow the step before, which goes on at %04" PRIx32,
                 step->inst->pc, step->inst->name, (uint32_t)(r->next - r->kernel->header.base));
        return complain(r, what);
    }
    if (!r->kernel->header.memory_only)
        r->next = inst->flow == REPLAY_GOES_ON ? pc + inst->size : UINT64_MAX;
    r->ended = inst->flow == REPLAY_ENDS;
    r->block->wave[r->wave].steps++;
    put_step(r->block, step, inst->scalar);
    return true;
}

static bool begin_wave(struct reading *r)
{
    const struct itrace *t = &r->reader->trace;
    if (!end_wave(r))
        return false;
    if (!r->block)
        return true;
    r->wave = t->warp;
    if (t->warp >= REPLAY_WAVES)
        return complain(r, "a work-group has at most 16 wavefronts");
    if (!t->warp_steps)
        return complain(r, "it has no steps");
    r->block->wave[r->wave].at = (uint32_t)r->block->count;
    r->block->wavefronts++;
    r->next = r->kernel->header.memory_only ? UINT64_MAX : r->kernel->header.entry;
    r->ended = false;
    return true;
}

static void begin_block(struct reading *r, uint64_t wanted)
{
    uint64_t index = itrace_block_index(&r->reader->trace);
    bool keep = index <= wanted && wanted - index <= REPLAY_KEPT;
    r->block = keep ? itrace_allocate(1, sizeof *r->block) : NULL;
    if (keep) {
        r->block->kernel = r->kernel;
        r->block->index = index;
    }
    r->wave = REPLAY_WAVES;
    r->reader->position = index + 1;
}

static void keep_block(struct replay_reader *reader, struct replay_block *block)
{
    struct replay_block **link = &reader->kept;
    if (reader->kept_count == REPLAY_KEPT) {
        struct replay_block *oldest = reader->kept;
        reader->kept = oldest->next;
        replay_block_free(oldest);
        reader->kept_count--;
    }
    while (*link)
        link = &(*link)->next;
    *link = block;
    reader->kept_count++;
}

/* One event. true: go on; false: the work-group that was looked for is r->block, or NULL. */
static bool take_event(struct reading *r, enum itrace_event event, uint64_t wanted, bool *good)
{
    switch (event) {
    case ITRACE_BLOCK:
        begin_block(r, wanted);
        return true;
    case ITRACE_WARP:
        return *good = begin_wave(r);
    case ITRACE_STEP:
        return *good = take_step(r);
    case ITRACE_BLOCK_END:
        if (!(*good = end_wave(r)) || (r->block && r->block->index == wanted))
            return false;
        if (r->block)
            keep_block(r->reader, r->block);
        r->block = NULL;
        return true;
    case ITRACE_END:
    case ITRACE_ERROR:
        break;
    }
    return *good = false;
}

/* Nothing may stand behind the last work-group of the grid. */
static bool ends_here(const struct reading *r, uint64_t index)
{
    struct itrace *t = &r->reader->trace;
    const uint32_t *grid = t->header.grid;
    enum itrace_event event = ITRACE_END;
    if (index + 1 == (uint64_t)grid[0] * grid[1] * grid[2])
        event = itrace_next(t);
    return event == ITRACE_END
           || (event != ITRACE_ERROR && complain(r, "it stands behind the last one of the grid"));
}

struct replay_block *replay_read_block(struct replay_kernel *kernel, struct replay_reader *reader,
                                       uint64_t index, char text[REPLAY_TEXT])
{
    struct replay_complaint complaint = {""};
    struct reading r = {
        .kernel = kernel, .reader = reader, .wave = REPLAY_WAVES, .complaint = &complaint};
    bool good = true;
    reader->trace.options.context = &complaint;
    while (take_event(&r, itrace_next(&reader->trace), index, &good)) {
    }
    good = good && (!r.block || ends_here(&r, index));
    reader->trace.options.context = NULL;
    if (good)
        return r.block;
    replay_block_free(r.block);
    memcpy(text, complaint.text, REPLAY_TEXT);
    return NULL;
}
