/* Every flat, global, scratch, buffer and scalar memory instruction on every target, with random
 * addresses, offsets, bases and resources, against bytes that the test moves itself, lane by lane.
 *
 * Device addresses are host addresses, as in test_isa_kernels.c. Flat addresses lie in memory, LDS
 * and scratch; some buffer accesses outside their resource. */
#include "memory_model.h"

enum { TRIES = 5, MEMORY = 8192, PRIVATE = 256, SCRATCH = PRIVATE * 64 };

/* Registers: addresses in v0 and v1, data from v4 on, results from v8 on. */
enum { ADDRESS = 0, DATA = 4, RESULT = 8, BASE = 20, RESOURCE = 24, OFFSET = 30 };

static _Alignas(64) uint8_t memory[MEMORY + SCRATCH], before[MEMORY + SCRATCH],
    expected[MEMORY + SCRATCH];
static struct rows_machine start, end, actual;

/* What a mnemonic says, and what the test chose. */
struct access_form {
    enum isa_target target;
    enum isa_format format;
    unsigned opcode;
    char operation[16], type; /* of atomics, else "" */
    struct memory_element element;
    bool is_load, returns;
    int offset;
    bool has_base;                                /* global and scratch: a scalar register */
    bool offen, idxen, is_scratch, is_structured; /* buffers */
    unsigned scalar_offset;                       /* operand code */
};

/* Where one lane's bytes are. */
struct place {
    enum { NOWHERE, DEVICE, LDS } where;
    uint64_t at;
    unsigned step;  /* from a dword to the next */
    unsigned bytes; /* so many of them; the others read 0 and are not written */
};

static bool parse(const char *mnemonic, struct access_form *f)
{
    char space[16], verb[16], rest[24], name[16];
    uint64_t unused;
    if (sscanf(mnemonic, "%15[a-z]_%15[a-z]_%23s", space, verb, rest) != 3)
        return false;
    f->is_load = !strcmp(verb, "load");
    if (f->is_load || !strcmp(verb, "store"))
        return memory_element_of(rest, &f->element);
    if (strcmp(verb, "atomic") != 0)
        return false;
    f->element.bytes = strstr(rest, "_x2") ? 8 : 4;
    if (sscanf(rest, "%15[a-z]", name) != 1
        || (strcmp(rest + strlen(name), "") != 0 && strcmp(rest + strlen(name), "_x2") != 0))
        return false;
    f->type = 'u';
    if (strstr(name, "min") == name + 1 || strstr(name, "max") == name + 1) {
        f->type = name[0] == 's' ? 'i' : 'u';
        memmove(name, name + 1, 4);
    }
    strcpy(f->operation, name);
    return memory_atomic(name, f->type, 32, 0, 0, 0, &unused);
}

/* ---- the expected result ---- */

static uint8_t *byte_of(const struct place *p, unsigned i)
{
    unsigned begin = p->at % 4, in_dwords = begin + i;
    uint64_t at = p->at - begin + (uint64_t)(in_dwords / 4) * p->step + in_dwords % 4;
    if (p->where == LDS)
        return end.lds + at;
    return expected + (at - (uint64_t)(uintptr_t)memory);
}

static uint64_t two_words(const uint32_t *v, unsigned bytes)
{
    return v[0] + (bytes == 8 ? (uint64_t)(v[64] * power(32)) : 0);
}

static void expect_atomic(const struct access_form *f, uint8_t *bytes, const uint32_t *v,
                          uint32_t *result)
{
    uint64_t old = 0, after = 0, data = two_words(v, f->element.bytes);
    uint64_t compared = two_words(v + 64 * (f->element.bytes / 4), f->element.bytes);
    memcpy(&old, bytes, f->element.bytes);
    memory_atomic(f->operation, f->type, 8 * f->element.bytes, old, data, compared, &after);
    memcpy(bytes, &after, f->element.bytes);
    result[0] = (uint32_t)old;
    result[1] = (uint32_t)(old >> 32);
}

static void expect_lane(const struct access_form *f, unsigned lane, const struct place *p)
{
    uint8_t bytes[16] = {0};
    uint32_t *to = end.vgpr + 64 * RESULT + lane, result[2] = {0};
    const uint32_t *data = start.vgpr + 64 * DATA + lane;
    unsigned inside = p->where == NOWHERE ? 0 : p->bytes;
    for (unsigned i = 0; i < f->element.bytes && i < inside; i++)
        bytes[i] = *byte_of(p, i);
    if (f->is_load) {
        memory_load(&f->element, bytes, to);
        return;
    }
    if (f->operation[0] && p->where != NOWHERE)
        expect_atomic(f, bytes, data, result);
    else if (!f->operation[0])
        memory_store(&f->element, data, bytes);
    for (unsigned i = 0; i < f->element.bytes && i < inside; i++)
        *byte_of(p, i) = bytes[i];
    for (unsigned i = 0; i < f->element.bytes / 4 && f->returns; i++)
        to[64 * i] = result[i];
}

/* ---- addresses ---- */

static void set_address(unsigned lane, uint64_t address)
{
    start.vgpr[64 * ADDRESS + lane] = (uint32_t)address;
    start.vgpr[64 * (ADDRESS + 1) + lane] = (uint32_t)(address >> 32);
}

static uint64_t host(unsigned at)
{
    return (uint64_t)(uintptr_t)memory + at;
}

static unsigned aligned_below(const struct access_form *f, unsigned room)
{
    unsigned align = f->element.bytes == 12 ? 4 : f->element.bytes;
    return random_below(room - 16) / align * align;
}

/* A lane's dwords are 256 bytes apart, aligned or not. */
static unsigned private_below(const struct access_form *f, unsigned room)
{
    return random_below(2) ? aligned_below(f, room) : random_below(room - 16);
}

static struct place private_place(unsigned at, unsigned lane)
{
    return (struct place){DEVICE, host(MEMORY + at / 4 * 256 + lane * 4 + at % 4), 256, 16};
}

static void aim_scratch_base(const struct access_form *f)
{
    uint64_t base = host(MEMORY);
    if (isa_is_gfx9(f->target)) {
        isa_wave_set_pair(&start.wave, ISA_FLAT_SCRATCH, base);
    } else {
        start.wave.sgpr[ISA_FLAT_SCRATCH + 1] = 3;
        start.ctx.scratch_base = base - 3 * 256;
    }
}

static struct place aim_flat(const struct access_form *f, unsigned lane)
{
    uint64_t offset = (uint64_t)(int64_t)f->offset;
    unsigned kind = random_below(8);
    if (kind == 0) {
        unsigned at = 64 + aligned_below(f, ROWS_LDS - 64);
        set_address(lane, start.ctx.shared_aperture + at - offset);
        return (struct place){LDS, at, 4, 16};
    }
    if (kind == 1 && !f->operation[0]) { /* no atomics on scratch: it is not contiguous */
        unsigned at = 64 + private_below(f, PRIVATE - 64);
        set_address(lane, start.ctx.private_aperture + at - offset);
        return private_place(at, lane);
    }
    unsigned at = aligned_below(f, MEMORY);
    set_address(lane, host(at) - offset);
    return (struct place){DEVICE, host(at), 4, 16};
}

static struct place aim_global(const struct access_form *f, unsigned lane)
{
    uint64_t offset = (uint64_t)(int64_t)f->offset;
    unsigned at = aligned_below(f, MEMORY);
    if (f->has_base)
        start.vgpr[64 * ADDRESS + lane] = at;
    else
        set_address(lane, host(at) - offset);
    return (struct place){DEVICE, host(at), 4, 16};
}

static struct place aim_scratch(const struct access_form *f, unsigned lane, unsigned common)
{
    unsigned at = common;
    if (!f->has_base) {
        at = private_below(f, PRIVATE);
        start.vgpr[64 * ADDRESS + lane] = at - (uint32_t)f->offset;
    }
    return private_place(at, lane);
}

/* Raw: offset and scalar offset against the size. Structured: 64 bytes a record. */
static struct place aim_buffer(const struct access_form *f, unsigned lane, unsigned common,
                               unsigned scalar, unsigned records)
{
    unsigned at = common, index = 0;
    if (f->is_structured) {
        index = random_below(32);
        at = aligned_below(f, 64 + 16) % 64 / f->element.bytes * f->element.bytes;
        start.vgpr[64 * ADDRESS + lane] = index;
        start.vgpr[64 * (ADDRESS + 1) + lane] = at;
        at += 64 * index + (unsigned)f->offset;
    } else if (f->offen) {
        at = f->is_scratch ? private_below(f, PRIVATE) : aligned_below(f, MEMORY - 1024);
        start.vgpr[64 * ADDRESS + lane] = at - (uint32_t)f->offset;
    }
    if (f->is_scratch)
        return private_place(at, lane);
    unsigned chunk = f->element.bytes < 4 ? f->element.bytes : 4; /* that is inside or not */
    if (at + scalar + chunk > records)
        return (struct place){NOWHERE, 0, 0, 0};
    unsigned inside = (records - at - scalar) / chunk * chunk;
    return (struct place){DEVICE, host(at + scalar), 4, inside};
}

static void aim_resource(const struct access_form *f, unsigned records)
{
    uint64_t base = host(f->is_scratch ? MEMORY : 0);
    start.wave.sgpr[RESOURCE] = (uint32_t)base;
    start.wave.sgpr[RESOURCE + 1] = (uint32_t)(base >> 32) | (f->is_structured ? 64u << 16 : 0);
    start.wave.sgpr[RESOURCE + 2] = records;
    start.wave.sgpr[RESOURCE + 3] = 0;
    if (f->is_scratch) {
        start.wave.sgpr[RESOURCE + 1] |= 1u << 31;
        start.wave.sgpr[RESOURCE + 3] = 1u << 19 | 3u << 21 | 1u << 23;
    }
}

static void aim(struct access_form *f, struct place places[64])
{
    unsigned common = aligned_below(f, PRIVATE), scalar = 0;
    unsigned records = f->format == ISA_MUBUF && !f->is_scratch && !f->is_structured
                           ? 2048 + 16 * random_below(300)
                           : MEMORY;
    if (f->scalar_offset == OFFSET)
        scalar = start.wave.sgpr[OFFSET] = f->is_scratch ? 0 : 16 * random_below(8);
    else
        scalar = f->scalar_offset - 128;
    if (f->format == ISA_MUBUF && !f->offen && !f->is_structured)
        f->offset = (int)common;
    if (f->format == ISA_GLOBAL && f->has_base)
        isa_wave_set_pair(&start.wave, BASE, host(0) - (uint64_t)(int64_t)f->offset);
    if (f->format == ISA_SCRATCH && f->has_base)
        start.wave.sgpr[BASE] = common - (uint32_t)f->offset;
    aim_scratch_base(f);
    aim_resource(f, records);
    for (unsigned lane = 0; lane < 64; lane++)
        places[lane] = f->format == ISA_FLAT      ? aim_flat(f, lane)
                       : f->format == ISA_GLOBAL  ? aim_global(f, lane)
                       : f->format == ISA_SCRATCH ? aim_scratch(f, lane, common)
                                                  : aim_buffer(f, lane, common, scalar, records);
}

/* ---- the library's result ---- */

static void move_lane(const struct isa_memory *m, unsigned lane, uint8_t data[16],
                      const uint8_t *compare)
{
    bool is_short = m->short_mask >> lane & 1;
    unsigned bytes = is_short ? 4u * m->dwords[lane] : m->bytes;
    for (unsigned i = 0; i < bytes; i++) {
        uint8_t *at = (uint8_t *)(uintptr_t)isa_memory_byte(m, lane, i);
        cr_assert(at >= memory && at < memory + sizeof memory, "an address is outside");
        if (m->kind == ISA_MEMORY_ATOMIC) {
            isa_atomic_apply((enum isa_atomic)m->atomic, m->bytes, at, data, compare, data);
            return;
        }
        if (m->kind == ISA_MEMORY_LOAD)
            data[i] = *at;
        else
            *at = data[i];
    }
}

static void execute(const struct isa_inst *inst)
{
    static struct isa_memory m;
    uint8_t data[64][16] = {0}, compare[64][16] = {0};
    cr_assert_eq(isa_memory_addresses(&actual.ctx, &actual.wave, inst, &m), ISA_OK);
    if (m.kind != ISA_MEMORY_LOAD)
        isa_memory_store(&actual.ctx, inst, &m, data, 16);
    if (m.kind == ISA_MEMORY_ATOMIC && m.atomic == ISA_ATOMIC_CMPSWAP)
        isa_memory_compare_data(&actual.ctx, inst, m.mask, compare, 16);
    for (unsigned lane = 0; lane < 64; lane++)
        if (m.mask >> lane & 1)
            move_lane(&m, lane, data[lane], compare[lane]);
    if (m.kind == ISA_MEMORY_LOAD || m.returns)
        isa_memory_load(&actual.ctx, inst, &m, data, 16);
    if (m.lds_mask)
        isa_memory_lds(&actual.ctx, inst, &m);
    actual.wave.pc += inst->size;
}

/* ---- one instruction ---- */

static void encode(const struct access_form *f, uint32_t word[3])
{
    bool is_atomic = f->operation[0];
    unsigned data = f->format == ISA_MUBUF && f->is_load ? RESULT : DATA;
    unsigned glc = is_atomic && f->returns;
    if (f->format == ISA_MUBUF) {
        word[0] = 0xe0000000u | f->opcode << 18 | glc << 14 | (unsigned)f->idxen << 13
                  | (unsigned)f->offen << 12 | (unsigned)f->offset;
        word[1] = ADDRESS | data << 8 | RESOURCE / 4 << 16 | f->scalar_offset << 24;
        return;
    }
    unsigned segment = f->format == ISA_SCRATCH ? 1 : f->format == ISA_GLOBAL ? 2 : 0;
    unsigned base = f->has_base ? BASE : segment && isa_is_gfx9(f->target) ? 0x7f : 0;
    /* where scratch is architected, a bit says whether it has an address register */
    bool has_address = f->format == ISA_SCRATCH && !f->has_base
                       && isa_traits[f->target].scratch == ISA_SCRATCH_ARCHITECTED;
    word[0] = 0xdc000000u | f->opcode << 18 | glc << 16 | segment << 14
              | (unsigned)has_address << 13 | ((unsigned)f->offset & (segment ? 0x1fff : 0xfff));
    word[1] = ADDRESS | data << 8 | base << 16 | (unsigned)RESULT << 24;
}

static void random_form(struct access_form *f)
{
    f->returns = f->operation[0] && random_below(2) && f->format != ISA_MUBUF;
    f->offset = 0;
    f->has_base = f->offen = f->idxen = f->is_scratch = f->is_structured = false;
    f->scalar_offset = 128;
    switch (f->format) {
    case ISA_FLAT:
        f->offset = isa_is_gfx9(f->target) ? (int)random_below(4) * 16 : 0;
        break;
    case ISA_MUBUF:
        f->is_structured = random_below(3) == 0;
        f->is_scratch = !f->is_structured && !f->operation[0] && random_below(2);
        f->idxen = f->is_structured;
        f->offen = f->is_structured || random_below(4);
        f->offset = f->is_structured ? (int)random_below(2) * 64 : (int)random_below(4) * 16;
        f->scalar_offset = random_below(2) && !f->is_structured ? OFFSET : 128;
        break;
    default:
        f->has_base = random_below(2);
        f->offset = (int)random_below(64) * 16 - 512;
        break;
    }
}

static void check(struct access_form *f)
{
    struct place places[64];
    struct isa_inst inst;
    uint32_t word[3] = {0};
    random_form(f);
    rows_machine_init(&start);
    for (unsigned i = 0; i < ROWS_LDS; i++)
        start.lds[i] = (uint8_t)random_bits();
    for (unsigned i = 0; i < sizeof memory; i++)
        before[i] = (uint8_t)random_bits();
    aim(f, places);
    rows_machine_copy(&end, &start);
    memcpy(expected, before, sizeof memory);
    /* Device memory first, as the test's own executor does; then LDS. */
    for (unsigned pass = DEVICE; pass <= LDS; pass++)
        for (unsigned lane = 0; lane < 64; lane++)
            if (isa_wave_exec(&start.wave) >> lane & 1
                && (places[lane].where == pass || (places[lane].where == NOWHERE && pass == LDS)))
                expect_lane(f, lane, &places[lane]);
    encode(f, word);
    cr_assert_eq(isa_decode(f->target, word, 12, &inst), 8, "%s: %08x %08x",
                 isa_target_name(f->target), word[0], word[1]);
    end.wave.pc += 8;
    rows_machine_copy(&actual, &start);
    memcpy(memory, before, sizeof memory);
    execute(&inst);
    if (!rows_equal(&end, &actual) || memcmp(memory, expected, sizeof memory) != 0) {
        rows_fail(&start, &end, &actual, &inst);
        for (unsigned i = 0; i < sizeof memory; i++)
            if (memory[i] != expected[i])
                cr_assert_fail("byte %u is %02x, expected %02x", i, memory[i], expected[i]);
        cr_assert_fail("as above");
    }
    covered_mark(&inst);
}

Test(isa_rows_memory, vector_loads_stores_and_atomics)
{
    unsigned checked = 0;
    for (unsigned target = 0; target < ISA_TARGET_COUNT; target++) {
        for (size_t i = 0; i < isa_row_count(); i++) {
            struct isa_row row = isa_row(i);
            struct access_form f = {.target = (enum isa_target)target, .format = row.format};
            if (!row.is_implemented || row.unit != ISA_UNIT_VMEM || row.opcode[target] < 0
                || !parse(row.mnemonic, &f))
                continue;
            f.opcode = (unsigned)row.opcode[target];
            for (unsigned k = 0; k < TRIES; k++)
                check(&f);
            checked++;
        }
    }
    cr_assert_gt(checked, 6 * 80);
}

/* ---- scalar memory ---- */

struct scalar_form {
    enum isa_target target;
    unsigned opcode, dwords;
    bool is_buffer, is_scratch, is_load, immediate, has_soffset, returns;
    char operation[16], type; /* of atomics, else "" */
    int offset;
    unsigned valid; /* dwords inside the buffer */
};

static bool parse_scalar(const char *mnemonic, struct scalar_form *f)
{
    unsigned count = 1;
    char verb[16], name[16];
    f->is_buffer = !strncmp(mnemonic, "s_buffer_", 9);
    f->is_scratch = !strncmp(mnemonic, "s_scratch_", 10);
    const char *rest = mnemonic + (f->is_buffer ? 9 : f->is_scratch ? 10 : 2);
    if (sscanf(rest, "atomic_%15[a-z]", name) == 1) {
        uint64_t unused;
        bool has_sign = strstr(name, "min") == name + 1 || strstr(name, "max") == name + 1;
        f->type = has_sign && name[0] == 's' ? 'i' : 'u';
        f->dwords = strstr(rest, "_x2") ? 2 : 1;
        strcpy(f->operation, name + has_sign);
        return memory_atomic(f->operation, f->type, 32, 0, 0, 0, &unused);
    }
    if (sscanf(rest, "%15[a-z]_dwordx%u", verb, &count) < 1
        || strncmp(rest + strlen(verb), "_dword", 6) != 0)
        return false;
    f->dwords = count;
    f->is_load = !strcmp(verb, "load");
    return f->is_load || !strcmp(verb, "store");
}

/* Base 20, resource 24, offset register 30, data from 40 on. */
static uint32_t *aim_scalar(struct scalar_form *f)
{
    unsigned at = 64 + 4 * random_below(1000), records = at + 4 * (1 + random_below(20));
    unsigned low = random_below(4); /* of base and offset are ignored */
    f->immediate = random_below(2);
    f->has_soffset = isa_is_gfx9(f->target) && random_below(3) == 0;
    f->offset = f->immediate ? (int)random_below(16) * 4 : 0;
    if (f->immediate && isa_is_gfx9(f->target) && !f->is_buffer)
        f->offset = (int)random_below(32) * 4 - 64;
    unsigned unit = f->is_scratch ? 64 : 1; /* that an offset in a register counts */
    unsigned extra = f->has_soffset || !f->immediate ? 64 * random_below(4) : 0;
    uint64_t base = host(at) - (uint64_t)(int64_t)f->offset - extra;
    start.wave.sgpr[OFFSET] = extra / unit + (f->immediate || f->is_scratch ? 0 : low);
    isa_wave_set_pair(&start.wave, BASE, base);
    isa_wave_set_pair(&start.wave, RESOURCE, base);
    start.wave.sgpr[RESOURCE + 2] = records - at + (unsigned)f->offset + extra;
    start.wave.sgpr[RESOURCE + 3] = 0;
    f->valid = f->is_buffer && (records - at) / 4 < f->dwords ? (records - at) / 4 : f->dwords;
    if (f->operation[0] && f->valid < f->dwords)
        f->valid = 0; /* all or nothing */
    f->returns = f->operation[0] && random_below(2);
    return (uint32_t *)(void *)(expected + at);
}

static void encode_scalar(const struct scalar_form *f, uint32_t word[3])
{
    unsigned base = f->is_buffer ? RESOURCE : BASE;
    word[0] = 0xc0000000u | f->opcode << 18 | (unsigned)f->immediate << 17
              | (unsigned)f->returns << 16 | (unsigned)f->has_soffset << 14 | 40 << 6 | base / 2;
    uint32_t mask = isa_is_gfx9(f->target) ? 0x1fffff : 0xfffff;
    word[1] = f->immediate ? (uint32_t)f->offset & mask : f->has_soffset ? 0 : OFFSET;
    word[1] |= f->has_soffset ? (unsigned)OFFSET << 25 : 0;
}

static void execute_scalar(const struct isa_inst *inst)
{
    struct isa_scalar s;
    uint32_t data[16] = {0};
    cr_assert_eq(isa_scalar_address(&actual.ctx, &actual.wave, inst, &s), ISA_OK);
    uint8_t *at = (uint8_t *)(uintptr_t)s.address;
    cr_assert(at >= memory && at + 64 <= memory + sizeof memory, "an address is outside");
    if (s.kind == ISA_SCALAR_LOAD) {
        memcpy(data, at, 4 * s.valid);
        isa_scalar_load(&actual.wave, inst, data);
    } else if (s.kind == ISA_SCALAR_ATOMIC) {
        uint32_t old[2] = {0, 0};
        isa_scalar_store_data(&actual.wave, inst, data);
        if (s.valid)
            isa_atomic_apply((enum isa_atomic)s.atomic, 4 * s.dwords, at, data, data + s.dwords,
                             old);
        if (s.glc)
            isa_scalar_load(&actual.wave, inst, old);
    } else {
        isa_scalar_store_data(&actual.wave, inst, data);
        memcpy(at, data, 4 * s.valid);
    }
    actual.wave.pc += inst->size;
}

static void expect_scalar_atomic(const struct scalar_form *f, uint32_t *at)
{
    const uint32_t *data = start.wave.sgpr + 40;
    uint64_t old = 0, after = 0, first = 0, second = 0;
    unsigned bytes = 4 * f->dwords;
    if (!f->operation[0])
        return;
    memcpy(&first, data, bytes);
    memcpy(&second, data + f->dwords, bytes);
    if (f->valid) {
        memcpy(&old, at, bytes);
        memory_atomic(f->operation, f->type, 8 * bytes, old, first, second, &after);
        memcpy(at, &after, bytes);
    }
    if (f->returns)
        memcpy(end.wave.sgpr + 40, &old, bytes);
}

static void check_scalar(struct scalar_form *f)
{
    struct isa_inst inst;
    uint32_t word[3] = {0};
    rows_machine_init(&start);
    for (unsigned i = 0; i < sizeof memory; i++)
        before[i] = (uint8_t)random_bits();
    memcpy(expected, before, sizeof memory);
    uint32_t *at = aim_scalar(f);
    rows_machine_copy(&end, &start);
    expect_scalar_atomic(f, at);
    for (unsigned i = 0; i < f->dwords && !f->operation[0]; i++)
        if (f->is_load)
            end.wave.sgpr[40 + i] = i < f->valid ? at[i] : 0;
        else if (i < f->valid)
            at[i] = start.wave.sgpr[40 + i];
    encode_scalar(f, word);
    cr_assert_eq(isa_decode(f->target, word, 12, &inst), 8, "%08x %08x", word[0], word[1]);
    end.wave.pc += 8;
    rows_machine_copy(&actual, &start);
    memcpy(memory, before, sizeof memory);
    execute_scalar(&inst);
    if (!rows_equal(&end, &actual) || memcmp(memory, expected, sizeof memory) != 0) {
        rows_fail(&start, &end, &actual, &inst);
        cr_assert_fail("%u of %u dwords inside", f->valid, f->dwords);
    }
    covered_mark(&inst);
}

Test(isa_rows_memory, scalar_loads_and_stores)
{
    unsigned checked = 0;
    for (unsigned target = 0; target < ISA_TARGET_COUNT; target++) {
        for (size_t i = 0; i < isa_row_count(); i++) {
            struct isa_row row = isa_row(i);
            struct scalar_form f = {.target = (enum isa_target)target};
            if (!row.is_implemented || row.format != ISA_SMEM || row.opcode[target] < 0
                || !parse_scalar(row.mnemonic, &f))
                continue;
            f.opcode = (unsigned)row.opcode[target];
            for (unsigned k = 0; k < 20; k++)
                check_scalar(&f);
            checked++;
        }
    }
    cr_assert_gt(checked, 6 * 12);
}

/* ---- the clock, and what only caches act on ---- */

static void check_time(enum isa_target target, unsigned opcode)
{
    struct isa_inst inst;
    struct isa_scalar s;
    const uint32_t now[2] = {0x01234567, 0x89abcdef};
    const uint32_t word[3] = {0xc0000000u | opcode << 18 | 40 << 6, 0, 0};
    rows_machine_init(&actual);
    cr_assert_eq(isa_decode(target, word, 12, &inst), 8);
    cr_assert_eq(isa_scalar_address(&actual.ctx, &actual.wave, &inst, &s), ISA_OK);
    cr_assert_eq(s.kind, ISA_SCALAR_TIME);
    cr_assert_eq(s.dwords, 2);
    isa_scalar_load(&actual.wave, &inst, now);
    cr_assert(!memcmp(actual.wave.sgpr + 40, now, sizeof now));
    covered_mark(&inst);
}

static void check_cache_op(enum isa_target target, const struct isa_row *row)
{
    struct isa_inst inst;
    bool is_scalar = row->format == ISA_SMEM,
         writes = strstr(row->mnemonic, "_wb_vol") || strstr(row->mnemonic, "dcache_wb");
    unsigned opcode = (unsigned)row->opcode[target];
    const uint32_t word[3] = {(is_scalar ? 0xc0000000u : 0xe0000000u) | opcode << 18, 0, 0};
    static struct isa_memory m;
    struct isa_scalar s;
    rows_machine_init(&actual);
    cr_assert_eq(isa_decode(target, word, 12, &inst), 8, "%s", row->mnemonic);
    cr_assert(inst.flags & ISA_IS_CACHE_OP);
    cr_assert_eq(inst.cache_op,
                 is_scalar ? writes ? ISA_CACHE_WRITEBACK_SCALAR : ISA_CACHE_INVALIDATE_SCALAR
                           : ISA_CACHE_INVALIDATE_VECTOR);
    if (is_scalar) {
        cr_assert_eq(isa_scalar_address(&actual.ctx, &actual.wave, &inst, &s), ISA_OK);
        cr_assert_eq(s.kind, ISA_SCALAR_CACHE_OP);
    } else {
        cr_assert_eq(isa_memory_addresses(&actual.ctx, &actual.wave, &inst, &m), ISA_OK);
        cr_assert_eq(m.kind, ISA_MEMORY_CACHE_OP);
        cr_assert_eq(m.mask | m.lds_mask | m.zero_mask, 0);
    }
    covered_mark(&inst);
}

Test(isa_rows_memory, clock_and_cache_operations)
{
    static const char *const caches[] = {"s_dcache_inv",    "s_dcache_wb",    "s_dcache_inv_vol",
                                         "s_dcache_wb_vol", "buffer_wbinvl1", "buffer_wbinvl1_vol"};
    for (unsigned target = 0; target < ISA_TARGET_COUNT; target++) {
        for (size_t i = 0; i < isa_row_count(); i++) {
            struct isa_row row = isa_row(i);
            if (!row.is_implemented || row.opcode[target] < 0)
                continue;
            if (!strcmp(row.mnemonic, "s_memtime") || !strcmp(row.mnemonic, "s_memrealtime"))
                check_time((enum isa_target)target, (unsigned)row.opcode[target]);
            for (size_t k = 0; k < sizeof caches / sizeof *caches; k++)
                if (!strcmp(row.mnemonic, caches[k]))
                    check_cache_op((enum isa_target)target, &row);
        }
    }
}
