/* Every LDS instruction on every target, with random addresses (some outside), offsets and data,
 * against bytes that the test moves itself, lane by lane. */
#include "encode.h"
#include "memory_model.h"

enum { TRIES = 6 };

/* Registers: addresses in v0, data in v2 and v4, results from v8 on. */
enum { ADDRESS = 0, DATA0 = 2, DATA1 = 4, RESULT = 8 };

struct lds_form {
    char operation[16], type; /* of atomics; "" for loads and stores */
    unsigned bits;
    bool returns;
    struct memory_element element;
    unsigned count, unit; /* elements a lane; bytes that an offset counts in two-element forms */
    bool is_load, is_exchange;
    unsigned offset;
};

/* ---- mnemonics ---- */

static bool parse_transfer(const char *mnemonic, struct lds_form *f)
{
    char verb[16] = "", rest[24] = "";
    if (sscanf(mnemonic, "ds_%15[a-z0-9]_%23s", verb, rest) != 2)
        return false;
    f->is_exchange = !strncmp(rest, "rtn_", 4) && !strncmp(verb, "wrxchg2", 7);
    f->is_load = !strncmp(verb, "read", 4);
    if (!f->is_load && !f->is_exchange && strncmp(verb, "write", 5) != 0)
        return false;
    f->count = strchr(verb, '2') ? 2 : 1;
    if (!memory_element_of(f->is_exchange ? rest + 4 : rest, &f->element))
        return false;
    f->unit = f->count == 1 ? 1 : f->element.bytes * (strstr(verb, "st64") ? 64 : 1);
    return true;
}

static bool parse_atomic(const char *mnemonic, struct lds_form *f)
{
    char extra[2];
    f->returns = strstr(mnemonic, "_rtn_");
    if (sscanf(mnemonic, f->returns ? "ds_%15[a-z]_rtn_%c%2u%1s" : "ds_%15[a-z]_%c%2u%1s",
               f->operation, &f->type, &f->bits, extra)
        != 3)
        return false;
    if (!strcmp(f->operation, "wrxchg"))
        strcpy(f->operation, "swap");
    if (!strcmp(f->operation, "cmpst"))
        strcpy(f->operation, "cmpswap");
    uint64_t unused;
    return memory_atomic(f->operation, f->type, f->bits, 0, 0, 0, &unused);
}

/* ---- lanes ---- */

static uint64_t value_at(const uint32_t *registers, unsigned bits)
{
    return registers[0] + (bits == 64 ? (uint64_t)(registers[64] * power(32)) : 0);
}

static void put_value(uint32_t *registers, unsigned bits, uint64_t value)
{
    registers[0] = (uint32_t)value;
    if (bits == 64)
        registers[64] = (uint32_t)(value >> 32);
}

static uint8_t *bytes_at(struct rows_machine *m, uint64_t address, unsigned bytes)
{
    return address + bytes <= ROWS_LDS ? m->lds + address : NULL;
}

static void expect_atomic(const struct lds_form *f, struct rows_machine *m, unsigned lane)
{
    uint32_t *v = m->vgpr + lane;
    uint8_t *at = bytes_at(m, (uint64_t)v[64 * ADDRESS] + f->offset, f->bits / 8);
    uint64_t old = 0, after = 0;
    uint64_t first = value_at(v + 64 * DATA0, f->bits), second = value_at(v + 64 * DATA1, f->bits);
    bool compares = !strcmp(f->operation, "cmpswap"); /* the new value is the second */
    if (at) {
        memcpy(&old, at, f->bits / 8);
        memory_atomic(f->operation, f->type, f->bits, old, compares ? second : first,
                      compares ? first : second, &after);
        memcpy(at, &after, f->bits / 8);
    }
    if (f->returns)
        put_value(v + 64 * RESULT, f->bits, old);
}

static void expect_transfer(const struct lds_form *f, struct rows_machine *m, unsigned i,
                            unsigned lane)
{
    static const uint8_t zero[16];
    uint32_t *v = m->vgpr + lane, *data = v + 64 * (i ? DATA1 : DATA0);
    unsigned words = f->element.bytes / 4 ? f->element.bytes / 4 : 1;
    uint32_t *to = v + 64 * (RESULT + i * words);
    unsigned offset = f->count == 1 ? f->offset : (f->offset >> 8 * i & 255) * f->unit;
    uint8_t *at = bytes_at(m, (uint64_t)v[64 * ADDRESS] + offset, f->element.bytes);
    if (f->is_load || f->is_exchange)
        memory_load(&f->element, at ? at : zero, to);
    if (!f->is_load && at)
        memory_store(&f->element, data, at);
}

static void expect(const struct lds_form *f, struct rows_machine *m)
{
    uint64_t exec = isa_wave_exec(&m->wave);
    unsigned passes = f->is_exchange ? 1 : f->operation[0] ? 1 : f->count;
    for (unsigned pass = 0; pass < passes; pass++) {
        for (unsigned lane = 0; lane < 64; lane++) {
            if (!(exec >> lane & 1))
                continue;
            if (f->operation[0])
                expect_atomic(f, m, lane);
            else
                expect_transfer(f, m, pass, lane);
            if (f->is_exchange)
                expect_transfer(f, m, 1, lane);
        }
    }
}

/* ---- one instruction ---- */

static struct rows_machine start, end;

static void encode(uint32_t word[3], unsigned opcode, unsigned offset)
{
    word[0] = 0xd8000000u | opcode << 17 | offset;
    word[1] = ADDRESS | DATA0 << 8 | DATA1 << 16 | (unsigned)RESULT << 24;
}

static void finish(enum isa_target target, const uint32_t *word)
{
    static struct rows_machine actual;
    struct isa_inst inst;
    cr_assert_eq(isa_decode(target, word, 12, &inst), 8, "%08x %08x", word[0], word[1]);
    end.wave.pc += 8;
    rows_machine_copy(&actual, &start);
    rows_next_variant();
    cr_assert_eq(isa_execute(&actual.ctx, &actual.wave, &inst), ISA_OK);
    if (!rows_equal(&end, &actual)) {
        rows_fail(&start, &end, &actual, &inst);
        cr_assert_fail("as above");
    }
    covered_mark(&inst);
}

/* Numbers that neither add up to NaNs nor are denormal, many of them equal. */
static uint32_t float_word(bool is_high)
{
    static const uint32_t words[] = {0x3ff00000, 0xbff80000, 0x40100000, 0x3f800000,
                                     0xc0a00000, 0x3f8ccccd, 0x4b7fffff, 0x3fb99999};
    return is_high || random_below(2) ? words[random_below(sizeof words / sizeof *words)]
                                      : words[random_below(2)];
}

/* Addresses as the rows of a tile have them: runs of lanes share one or have dwords that follow
 * each other. */
static void lay_rows(uint32_t address[64])
{
    unsigned width = 4u << random_below(4);
    for (unsigned lane = 0; lane < 64; lane += width) {
        uint32_t first = 4 * random_below(400), step = random_below(3) ? 4 : 0;
        for (unsigned i = 0; i < width; i++)
            address[lane + i] = first + i * step;
    }
    address[random_below(64)] += 4 * !random_below(4);
    start.wave.sgpr[ISA_EXEC] = start.wave.sgpr[ISA_EXEC + 1] = ~0u;
}

static void begin(const struct lds_form *f)
{
    unsigned size = f->operation[0] ? f->bits / 8 : f->element.bytes;
    unsigned align = size == 12 ? 4 : size, spread = random_below(4) ? 1800 : 24;
    rows_machine_init(&start);
    for (unsigned i = 0; i < ROWS_LDS; i++)
        start.lds[i] = (uint8_t)random_bits();
    for (unsigned lane = 0; lane < 64; lane++)
        start.vgpr[64 * ADDRESS + lane] =
            (random_below(40) ? random_below(spread) : 4000 + random_below(200)) / align * align;
    if (align == 4 && !random_below(3))
        lay_rows(start.vgpr + 64 * ADDRESS);
    if (f->type == 'f') {
        for (unsigned i = 0; i < 64 * 4; i++)
            start.vgpr[64 * DATA0 + i] = float_word(true);
        for (unsigned i = 0; i < ROWS_LDS; i += 4) {
            uint32_t word = float_word(true);
            memcpy(start.lds + i, &word, 4);
        }
    }
    rows_machine_copy(&end, &start);
}

static bool check_row(const struct isa_row *row, enum isa_target target)
{
    struct lds_form f = {0};
    uint32_t word[3] = {0};
    if (!parse_transfer(row->mnemonic, &f)) {
        f = (struct lds_form){0};
        if (!parse_atomic(row->mnemonic, &f))
            return false;
    }
    for (unsigned i = 0; i < TRIES; i++) {
        f.offset = f.count == 2 ? random_below(4) | random_below(4) << 8 : random_below(8) * 16;
        begin(&f);
        expect(&f, &end);
        encode(word, (unsigned)row->opcode[target], f.offset);
        finish(target, word);
    }
    return true;
}

Test(isa_rows_lds, loads_stores_and_atomics)
{
    unsigned checked = 0;
    for (unsigned target = 0; target < ISA_TARGET_COUNT; target++) {
        for (size_t i = 0; i < isa_row_count(); i++) {
            struct isa_row row = isa_row(i);
            if (row.is_implemented && row.format == ISA_DS && row.opcode[target] >= 0)
                checked += check_row(&row, (enum isa_target)target);
        }
    }
    cr_assert_gt(checked, ISA_TARGET_COUNT * 100);
}

/* ---- moves between lanes, counters, addresses of threads ---- */

/* The lane that ds_swizzle's offset names (GCN3 ISA manual, 12.13). */
static unsigned swizzled(unsigned offset, unsigned lane)
{
    if (offset >= 0x8000)
        return lane / 4 * 4 + (offset >> 2 * (lane % 4)) % 4;
    unsigned out = 0;
    for (unsigned i = 0; i < 5; i++) {
        unsigned bit = lane >> i & 1;
        bit = bit && (offset >> i & 1);
        bit = bit || (offset >> (5 + i) & 1);
        bit = bit != (offset >> (10 + i) & 1);
        out |= bit << i;
    }
    return lane / 32 * 32 + out;
}

static void check_swizzle(enum isa_target target)
{
    uint32_t word[3] = {0};
    struct lds_form f = {.element = {4, false, MEMORY_WHOLE}};
    begin(&f);
    uint64_t exec = isa_wave_exec(&start.wave);
    unsigned offset = random_below(2) ? random_below(0x8000) : 0x8000 + random_below(256);
    for (unsigned lane = 0; lane < 64; lane++) {
        unsigned from = swizzled(offset, lane);
        if (exec >> lane & 1)
            end.vgpr[64 * RESULT + lane] = exec >> from & 1 ? start.vgpr[64 * ADDRESS + from] : 0;
    }
    encode(word, (unsigned)encode_opcode("ds_swizzle_b32", target), offset);
    finish(target, word);
}

/* Forward: a lane sends to the lane that it names, and the highest sender wins. Backward: it reads
 * from there. The offset is added to the address. */
static void check_permute(enum isa_target target, bool forward)
{
    uint32_t word[3] = {0}, out[64] = {0};
    struct lds_form f = {.element = {4, false, MEMORY_WHOLE}};
    begin(&f);
    uint64_t exec = isa_wave_exec(&start.wave);
    unsigned offset = 4 * random_below(80);
    for (unsigned lane = 0; lane < 64; lane++) {
        unsigned other = (start.vgpr[64 * ADDRESS + lane] + offset) / 4 % 64;
        if (forward && exec >> lane & 1)
            out[other] = start.vgpr[64 * DATA0 + lane];
        if (!forward && exec >> other & 1)
            out[lane] = start.vgpr[64 * DATA0 + other];
    }
    for (unsigned lane = 0; lane < 64; lane++)
        if (exec >> lane & 1)
            end.vgpr[64 * RESULT + lane] = out[lane];
    encode(word, (unsigned)encode_opcode(forward ? "ds_permute_b32" : "ds_bpermute_b32", target),
           offset);
    finish(target, word);
}

static void check_counter(enum isa_target target, bool append)
{
    uint32_t word[3] = {0}, old, lanes = 0;
    struct lds_form f = {.element = {4, false, MEMORY_WHOLE}};
    begin(&f);
    uint32_t base = 4 * random_below(100), offset = 4 * random_below(100);
    start.wave.sgpr[ISA_M0] = end.wave.sgpr[ISA_M0] = base | random_below(4) << 16;
    memcpy(&old, start.lds + base + offset, 4);
    for (unsigned lane = 0; lane < 64; lane++) {
        if (!(isa_wave_exec(&start.wave) >> lane & 1))
            continue;
        lanes++;
        end.vgpr[64 * RESULT + lane] = old;
    }
    old = append ? old + lanes : old - lanes;
    memcpy(end.lds + base + offset, &old, 4);
    encode(word, (unsigned)encode_opcode(append ? "ds_append" : "ds_consume", target), offset);
    finish(target, word);
}

static void check_thread_addresses(enum isa_target target, bool is_load)
{
    uint32_t word[3] = {0};
    struct lds_form f = {.element = {4, false, MEMORY_WHOLE}};
    int opcode = encode_opcode(is_load ? "ds_read_addtid_b32" : "ds_write_addtid_b32", target);
    if (opcode < 0)
        return;
    begin(&f);
    uint32_t base = 4 * random_below(100), offset = 4 * random_below(100);
    start.wave.sgpr[ISA_M0] = end.wave.sgpr[ISA_M0] = base;
    for (unsigned lane = 0; lane < 64; lane++) {
        uint8_t *at = end.lds + base + offset + 4 * lane;
        if (!(isa_wave_exec(&start.wave) >> lane & 1))
            continue;
        if (is_load)
            memory_load(&f.element, at, end.vgpr + 64 * RESULT + lane);
        else
            memory_store(&f.element, end.vgpr + 64 * DATA0 + lane, at);
    }
    encode(word, (unsigned)opcode, offset);
    finish(target, word);
}

Test(isa_rows_lds, moves_between_lanes_counters_and_thread_addresses)
{
    for (unsigned i = 0; i < ISA_TARGET_COUNT * 20; i++) {
        enum isa_target target = (enum isa_target)(i % ISA_TARGET_COUNT);
        uint32_t word[3] = {0};
        check_swizzle(target);
        check_permute(target, true);
        check_permute(target, false);
        check_counter(target, true);
        check_counter(target, false);
        check_thread_addresses(target, true);
        check_thread_addresses(target, false);
        int opcode = encode_opcode("ds_nop", target);
        begin(&(struct lds_form){.element = {4, false, MEMORY_WHOLE}});
        encode(word, (unsigned)opcode, 0);
        if (opcode >= 0)
            finish(target, word);
    }
}
