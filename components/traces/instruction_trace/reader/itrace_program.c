/* A line is compared with the instruction that followed its predecessor the last time, then with
 * the instructions of its PC. Only a line that equals none of them is parsed. The text of an
 * instruction is checked once, the parts that change from line to line each time. */
#include "itrace_program.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "components/traces/instruction_trace/nvidia/ptx_units.h"

#include "itrace_memory.h"
#include "itrace_text.h"

/* The largest kernels have some 100,000 instructions; a file that needs more than this is none. */
#define INST_MAX      (1u << 22)
#define FIRST_BUCKETS 1024

void itrace_program_init(struct itrace_program *program, enum itrace_arch arch)
{
    *program = (struct itrace_program){.arch = arch, .bucket_count = FIRST_BUCKETS};
    program->buckets = itrace_allocate(FIRST_BUCKETS, sizeof(struct itrace_inst *));
}

void itrace_program_release(struct itrace_program *program)
{
    for (size_t i = 0; i < program->count; i++) {
        itrace_free(program->insts[i]->head);
        itrace_free(program->insts[i]->tail);
        itrace_free(program->insts[i]);
    }
    itrace_free(program->insts);
    itrace_free(program->buckets);
    *program = (struct itrace_program){0};
}

__attribute__((format(printf, 2, 3))) static bool fail(struct itrace_program *program,
                                                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(program->error, sizeof program->error, format, args);
    va_end(args);
    return false;
}

/* Length of the token at `at`, at most what a message should show. */
static int shown(const char *at)
{
    int size = 0;
    while (size < 32 && !itrace_ends_token(at[size]))
        size++;
    return size;
}

static bool expected(struct itrace_program *program, const char *what, const char *at)
{
    if (*at)
        return fail(program, "%s expected, not '%.*s'", what, shown(at), at);
    return fail(program, "%s expected, but the line ends", what);
}

static struct itrace_inst **bucket_of(const struct itrace_program *program, uint32_t pc)
{
    return &program->buckets[hash_multiply_32(pc) & (program->bucket_count - 1)];
}

static void grow_buckets(struct itrace_program *program)
{
    itrace_free(program->buckets);
    program->bucket_count *= 4;
    program->buckets = itrace_allocate(program->bucket_count, sizeof(struct itrace_inst *));
    for (size_t i = 0; i < program->count; i++) {
        struct itrace_inst **bucket = bucket_of(program, program->insts[i]->pc);
        program->insts[i]->chain = *bucket;
        *bucket = program->insts[i];
    }
}

bool itrace_program_add(struct itrace_program *program, const struct itrace_inst *inst,
                        struct itrace_inst **added)
{
    if (program->count == INST_MAX)
        return fail(program, "more than %u different instructions: this is no trace of one kernel",
                    INST_MAX);
    if (program->count >= program->bucket_count)
        grow_buckets(program);
    struct itrace_inst *copy = itrace_allocate(1, sizeof *copy);
    *copy = *inst;
    copy->id = (uint32_t)program->count;
    copy->steps = 0;
    copy->successor = NULL;
    const char *dot = strchr(copy->name, '.');
    size_t size = dot ? (size_t)(dot - copy->name) : strlen(copy->name);
    copy->known = sass_opcode_find(program->arch, copy->name, size, &copy->opcode);
    /* An unknown instruction with addresses reads or writes memory somewhere. */
    if (!copy->known && copy->width)
        copy->opcode.space = ITRACE_SPACE_GENERIC;
    grow_list(program->insts, program->count + 1, program->capacity, ITRACE_MEMORY);
    program->insts[program->count++] = copy;
    struct itrace_inst **bucket = bucket_of(program, copy->pc);
    copy->chain = *bucket;
    *bucket = copy;
    *added = copy;
    return true;
}

void itrace_program_count(struct itrace_program *program, struct itrace_step *step)
{
    step->inst->steps++;
    if (program->last)
        program->last->successor = step->inst;
    program->last = step->inst;
}

/* "R12" or "UR4". The newest tracers write predicates, too: they are read as the zero register.
 * Where an operand is no register, tracers write what they find there, "R1744830": nothing waits
 * for such a number. */
static bool take_register(const char **at, uint16_t *number)
{
    const char *p = *at;
    bool is_uniform = *p == 'U';
    uint64_t value;
    p += is_uniform;
    if (*p == 'P') {
        p++;
        if (!itrace_parse_decimal(&p, &value) || value > 15)
            return false;
        *number = 255;
        *at = p;
        return true;
    }
    if (*p++ != 'R' || !itrace_parse_decimal(&p, &value))
        return false;
    *number = value > 255 ? SASS_REGISTER_NONE
                          : (uint16_t)(value + (is_uniform ? SASS_UNIFORM_REGISTER : 0));
    *at = p;
    return true;
}

/* A count and so many registers. */
static bool take_registers(struct itrace_program *program, const char **at, const char *what,
                           unsigned limit, uint8_t *count, uint16_t *registers)
{
    uint64_t value;
    if (!itrace_parse_decimal(at, &value)) {
        char text[64];
        snprintf(text, sizeof text, "the number of %s registers", what);
        return expected(program, text, *at);
    }
    if (value > limit)
        return fail(program, "%llu %s registers: there are at most %u", (unsigned long long)value,
                    what, limit);
    *count = (uint8_t)value;
    for (unsigned i = 0; i < value; i++)
        if (!take_register(at, &registers[i]))
            return expected(program, "a register (R0 to R255, UR0 ...)", *at);
    return true;
}

static bool take_opcode(struct itrace_program *program, const char **at, char *name)
{
    size_t size = 0;
    const char *p = *at;
    for (; !itrace_ends_token(p[size]); size++) {
        char c = p[size];
        bool is_small = c >= 'a' && c <= 'z', is_capital = c >= 'A' && c <= 'Z';
        bool fits = is_small || is_capital || (c >= '0' && c <= '9') || c == '.' || c == '_'
                    || (c == ':' && ptx_name_is_ptx(p));
        if (!fits || (size == 0 && !is_small && !is_capital))
            return expected(program, "an opcode", p);
    }
    if (size == 0)
        return expected(program, "an opcode", p);
    if (size > SASS_OPCODE_MAX)
        return fail(program, "the opcode has %zu characters; at most %d are allowed", size,
                    SASS_OPCODE_MAX);
    memcpy(name, p, size);
    name[size] = '\0';
    *at = itrace_skip_blanks(p + size);
    return true;
}

/* A product of four warps may have a number before its width: whether it closes its group. */
static void take_group(const char **at, struct itrace_inst *inst)
{
    unsigned numbers = 0;
    const char *p = *at;
    int64_t value;
    if (!strstr(inst->name, "GMMA"))
        return;
    while (itrace_parse_signed(&p, &value))
        numbers++;
    if (numbers < 4 && !(numbers == 3 && **at == '1'))
        return;
    inst->closes_group = **at == '1';
    *at = itrace_skip_blanks(*at + 1);
}

/* The width of a bulk copy's transfers, which may be any. */
static bool take_bulk_width(struct itrace_program *program, uint64_t width,
                            struct itrace_inst *inst)
{
    if (width > ITRACE_BULK_BYTES)
        return fail(program, "transfers of %llu bytes: there are at most 256 KiB",
                    (unsigned long long)width);
    inst->bulk = (uint32_t)width;
    inst->width = width <= 128 ? (uint8_t)width : 128;
    return true;
}

/* From ndst to mem_width. */
static bool take_head(struct itrace_program *program, const char **at, struct itrace_inst *inst)
{
    uint64_t width;
    if (!take_registers(program, at, "destination", ITRACE_DESTINATIONS_MAX,
                        &inst->destination_count, inst->destinations)
        || !take_opcode(program, at, inst->name)
        || !take_registers(program, at, "source", ITRACE_SOURCES_MAX, &inst->source_count,
                           inst->sources))
        return false;
    take_group(at, inst);
    if (!itrace_parse_decimal(at, &width))
        return expected(program, "the width of the access in bytes", *at);
    if (itrace_bulk_names(inst->name))
        return take_bulk_width(program, width, inst);
    if (width > 128 || (width & (width - 1)))
        return fail(program, "an access %llu bytes wide: there are 1, 2, 4, 8, 16, ... 128",
                    (unsigned long long)width);
    inst->width = (uint8_t)width;
    inst->at_barrier = width && ptx_name_is_at_mbarrier(inst->name);
    return true;
}

/* True if the text at `at` is that of `inst` from ndst to mem_width. */
static bool has_head(const struct itrace_inst *inst, const char *at)
{
    return strncmp(inst->head, at, inst->head_size) == 0 && itrace_ends_token(at[inst->head_size]);
}

static bool take_list(struct itrace_program *program, const char **at, struct itrace_step *step)
{
    for (unsigned i = 0; i < step->count; i++)
        if (!itrace_parse_base(at, &step->address[i])) {
            char text[80];
            snprintf(text, sizeof text, "address %u of %u (one for each active lane)", i + 1,
                     step->count);
            return expected(program, text, *at);
        }
    return true;
}

/* One base and a stride. Addresses wrap around as in the tracer, where they are 64 bits. */
static bool take_stride(struct itrace_program *program, const char **at, struct itrace_step *step)
{
    uint64_t base;
    if (!itrace_parse_base(at, &base))
        return expected(program, "the base address (0x...)", *at);
    if (!itrace_parse_signed(at, &step->stride))
        return expected(program, "the stride", *at);
    uint64_t mask = step->mask;
    if (mask) {
        mask >>= __builtin_ctzll(mask);
        if (mask & (mask + 1))
            return fail(program, "a stride, but the active lanes are not contiguous (mask %llx)",
                        (unsigned long long)step->mask);
    }
    for (unsigned i = 0; i < step->count; i++)
        step->address[i] = base + (uint64_t)step->stride * i;
    return true;
}

static bool take_deltas(struct itrace_program *program, const char **at, struct itrace_step *step)
{
    uint64_t base;
    if (!itrace_parse_base(at, &base))
        return expected(program, "the base address (0x...)", *at);
    for (unsigned i = 0; i < step->count; i++) {
        int64_t delta;
        step->address[i] = base;
        if (i + 1 == step->count)
            break;
        if (!itrace_parse_signed(at, &delta)) {
            char text[80];
            snprintf(text, sizeof text, "difference %u of %u (active lanes but one)", i + 1,
                     step->count - 1);
            return expected(program, text, *at);
        }
        base += (uint64_t)delta;
    }
    return true;
}

/* Accesses end before the last line of 64 bits of addresses: after that there is nothing, and no
 * card has memory there. An access is at most some kilobytes wide. */
static bool addresses_exist(struct itrace_program *program, const struct itrace_step *step)
{
    for (unsigned i = 0; i < step->count; i++)
        if (step->address[i] >= UINT64_MAX - (1u << 16))
            return fail(program, "the address 0x%llx of active lane %u: no memory lies there",
                        (unsigned long long)step->address[i], i);
    return true;
}

static bool take_addresses(struct itrace_program *program, const char **at,
                           struct itrace_step *step)
{
    uint64_t mode;
    step->count = (unsigned)__builtin_popcountll(step->mask);
    const char *written = *at;
    if (!itrace_parse_decimal(at, &mode) || mode > ITRACE_MODE_DELTA)
        return expected(program, "how addresses are written (0 all, 1 stride, 2 differences)",
                        written);
    step->mode = (enum itrace_mode)mode;
    switch (step->mode) {
    case ITRACE_MODE_LIST:
        return take_list(program, at, step) && addresses_exist(program, step);
    case ITRACE_MODE_STRIDE:
        return take_stride(program, at, step) && addresses_exist(program, step);
    default:
        return take_deltas(program, at, step) && addresses_exist(program, step);
    }
}

/* The transfers of a bulk copy, a barrier, or addresses. */
static bool take_accesses(struct itrace_program *program, const char **at,
                          const struct itrace_inst *inst, struct itrace_step *step)
{
    uint32_t bulk = inst->bulk;
    if (inst->at_barrier) {
        const char *missing = itrace_bulk_take_barrier(at, &step->copy);
        return !missing || expected(program, missing, *at);
    }
    if (!bulk || !itrace_bulk_follows(*at)) {
        if (!take_addresses(program, at, step))
            return false;
        if (bulk && step->count)
            step->copy = (struct itrace_bulk){.runs = 1, .run = {{step->address[0], 0, 1, bulk}}};
        step->count = bulk ? 0 : step->count;
        return true;
    }
    const char *what = itrace_bulk_take(at, bulk, &step->copy);
    return !what || expected(program, what, *at);
}

/* Up to `most` immediates; decimal, or hexadecimal with 0x. */
static bool take_immediates(struct itrace_program *program, const struct itrace_layout *layout,
                            const char **at, struct itrace_inst *inst)
{
    while (**at && **at != 'N' && **at != 'V') {
        int64_t value;
        uint64_t bits;
        if (itrace_parse_signed(at, &value))
            ;
        else if (itrace_parse_address(at, &bits))
            value = (int64_t)bits;
        else
            return expected(program, "an immediate or the end of the line", *at);
        if (inst->immediate_count == layout->immediates)
            return fail(program, "more than %u immediates behind the instruction",
                        layout->immediates);
        inst->immediates[inst->immediate_count++] = value;
    }
    return true;
}

/* "NoVal", or "Val" and for each register a count and values. Values are checked, not kept. */
static bool take_values(struct itrace_program *program, const struct itrace_layout *layout,
                        const char **at)
{
    if (**at == '\0')
        return true;
    if (!layout->has_values)
        return expected(program, "the end of the line", *at);
    bool has_values = strncmp(*at, "Val", 3) == 0 && itrace_ends_token((*at)[3]);
    bool has_none = strncmp(*at, "NoVal", 5) == 0 && itrace_ends_token((*at)[5]);
    if (!has_values && !has_none)
        return expected(program, "Val or NoVal", *at);
    *at = itrace_skip_blanks(*at + (has_values ? 3 : 5));
    while (has_values && **at) {
        uint64_t count, value;
        unsigned digits;
        if (!itrace_parse_decimal(at, &count) || count > ITRACE_LANES_MAX)
            return expected(program, "how many values of a register follow", *at);
        for (unsigned i = 0; i < count; i++)
            if (!itrace_parse_address(at, &value) && !itrace_parse_hex(at, &value, &digits))
                return expected(program, "a register's value", *at);
    }
    return !**at || expected(program, "the end of the line", *at);
}

/* The immediates at `at` as text: up to Val, NoVal or the end, without blanks after. */
static size_t tail_size(const char *at)
{
    size_t size = 0;
    while (at[size] && at[size] != 'N' && at[size] != 'V')
        size++;
    while (size > 0 && itrace_is_blank(at[size - 1]))
        size--;
    return size;
}

/* True if the text at `at` is that of `inst` after the addresses; moves past it. */
static bool take_same_tail(const struct itrace_inst *inst, const char **at)
{
    if (strncmp(inst->tail, *at, inst->tail_size) != 0
        || !itrace_ends_token((*at)[inst->tail_size]))
        return false;
    const char *p = itrace_skip_blanks(*at + inst->tail_size);
    if (*p && *p != 'N' && *p != 'V')
        return false;
    *at = p;
    return true;
}

/* The location of an instruction. */
struct place {
    uint32_t pc, source_line;
};

/* The instruction of this place, head and tail, or NULL; `first` is tried before the others. */
static struct itrace_inst *find_instruction(const struct itrace_program *program,
                                            const struct place *key, const char *head,
                                            const char **tail, struct itrace_inst *first)
{
    struct itrace_inst *inst = first ? first : *bucket_of(program, key->pc);
    while (inst) {
        if (inst->pc == key->pc && inst->source_line == key->source_line && inst->head
            && has_head(inst, head) && take_same_tail(inst, tail))
            return inst;
        inst = inst == first ? *bucket_of(program, key->pc) : inst->chain;
        if (inst == first && first)
            inst = inst->chain;
    }
    return NULL;
}

/* [line_num] PC mask, into key and step. */
static bool take_place(struct itrace_program *program, const struct itrace_layout *layout,
                       const char **at, struct place *key, struct itrace_step *step)
{
    uint64_t value;
    unsigned digits;
    if (layout->has_line) {
        if (!itrace_parse_decimal(at, &value) || value > UINT32_MAX)
            return expected(program, "the line of the source", *at);
        key->source_line = (uint32_t)value;
    }
    if (!itrace_parse_hex(at, &value, &digits) || value > UINT32_MAX)
        return expected(program, "the PC (hexadecimal)", *at);
    key->pc = (uint32_t)value;
    const char *mask = *at;
    if (!itrace_parse_hex(at, &step->mask, &digits) || digits != layout->mask_digits) {
        char text[64];
        snprintf(text, sizeof text, "the mask (%u hexadecimal digits)", layout->mask_digits);
        return expected(program, text, mask);
    }
    return true;
}

/* Any instruction with this PC and head: it says where the addresses begin and how wide they are.
 * The instruction that followed the last one the time before is tried first; *hint then is it. */
static const struct itrace_inst *find_head(const struct itrace_program *program, uint32_t pc,
                                           const char *head, struct itrace_inst **hint)
{
    struct itrace_inst *inst = program->last ? program->last->successor : NULL;
    *hint = inst && inst->pc == pc && inst->head && has_head(inst, head) ? inst : NULL;
    if (*hint)
        return inst;
    inst = *bucket_of(program, pc);
    while (inst && (inst->pc != pc || !inst->head || !has_head(inst, head)))
        inst = inst->chain;
    return inst;
}

/* The instruction is new: decodes all of it. */
static bool add_new(struct itrace_program *program, const struct itrace_layout *layout,
                    const struct place *place, const char *head, const char *tail,
                    struct itrace_step *step)
{
    struct itrace_inst inst = {.pc = place->pc, .source_line = place->source_line};
    const char *head_end = head, *tail_end = tail;
    if (!take_head(program, &head_end, &inst) || !take_immediates(program, layout, &tail_end, &inst)
        || !take_values(program, layout, &tail_end))
        return false;
    while (itrace_is_blank(head_end[-1]))
        head_end--;
    inst.head_size = (uint32_t)(head_end - head);
    inst.tail_size = (uint32_t)tail_size(tail);
    inst.head = itrace_copy_text(head, inst.head_size);
    inst.tail = itrace_copy_text(tail, inst.tail_size);
    if (itrace_program_add(program, &inst, &step->inst))
        return true;
    itrace_free(inst.head);
    itrace_free(inst.tail);
    return false;
}

bool itrace_program_step(struct itrace_program *program, const struct itrace_layout *layout,
                         const char *text, struct itrace_step *step)
{
    struct place place = {0};
    struct itrace_inst *hint, fresh = {0};
    step->mode = ITRACE_MODE_NONE;
    step->count = 0;
    step->copy.runs = step->copy.need = 0;
    step->copy.barrier = 0;
    if (!take_place(program, layout, &text, &place, step))
        return false;
    const char *head = text;
    const struct itrace_inst *inst = find_head(program, place.pc, head, &hint);
    if (inst)
        text = itrace_skip_blanks(head + inst->head_size);
    else if (!take_head(program, &text, &fresh))
        return false;
    const struct itrace_inst *known = inst ? inst : &fresh;
    if (known->width && !take_accesses(program, &text, known, step))
        return false;
    const char *tail = text;
    step->inst = inst ? find_instruction(program, &place, head, &text, hint) : NULL;
    if (step->inst ? !take_values(program, layout, &text)
                   : !add_new(program, layout, &place, head, tail, step))
        return false;
    itrace_program_count(program, step);
    return true;
}
