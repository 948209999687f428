/* LDS instructions, addresses and data of vector and scalar memory, atomics. */
#include "machine.h"

static uint32_t lds_word(const struct machine *m, unsigned address)
{
    uint32_t word;
    memcpy(&word, m->lds + address, 4);
    return word;
}

static void set_lds(struct machine *m, unsigned address, uint32_t word)
{
    memcpy(m->lds + address, &word, 4);
}

/* ---- LDS ---- */

Test(isa_lds, writes_and_reads_of_every_width)
{
    static const struct {
        const char *write, *read;
        unsigned bytes;
        uint32_t expected;
    } rows[] = {{"ds_write_b8", "ds_read_u8", 1, 0x000000f4},
                {"ds_write_b8", "ds_read_i8", 1, 0xfffffff4},
                {"ds_write_b16", "ds_read_u16", 2, 0x0000f2f4},
                {"ds_write_b16", "ds_read_i16", 2, 0xfffff2f4},
                {"ds_write_b32", "ds_read_b32", 4, 0x1234f2f4},
                {"ds_write_b64", "ds_read_b64", 8, 0x1234f2f4},
                {"ds_write_b96", "ds_read_b96", 12, 0x1234f2f4},
                {"ds_write_b128", "ds_read_b128", 16, 0x1234f2f4}};
    static struct machine m;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t word[3] = {0};
        machine_init(&m);
        for (unsigned lane = 0; lane < 64; lane++)
            m.vgpr[64 + lane] = lane * 16;
        for (unsigned dword = 0; dword < 4; dword++)
            machine_set(&m, 2 + dword, 0x1234f2f4 + dword);
        encode_ds(word, rows[i].write, 0, 1, 2, 0, 32);
        machine_run(&m, word);
        cr_expect_eq(m.lds[32 + 16 * 63 + rows[i].bytes], 0, "%s wrote too much", rows[i].write);
        encode_ds(word, rows[i].read, 10, 1, 0, 0, 32);
        machine_run(&m, word);
        cr_expect_eq(m.vgpr[10 * 64 + 63], rows[i].expected, "%s gave %08x", rows[i].read,
                     m.vgpr[10 * 64 + 63]);
        for (unsigned dword = 1; dword < rows[i].bytes / 4; dword++)
            cr_expect_eq(m.vgpr[(10 + dword) * 64 + 5], 0x1234f2f4 + dword, "%s dword %u",
                         rows[i].read, dword);
    }
}

Test(isa_lds, two_element_forms)
{
    static struct machine m;
    uint32_t word[3] = {0};
    machine_init(&m);
    for (unsigned lane = 0; lane < 64; lane++) {
        m.vgpr[64 + lane] = lane * 4;
        m.vgpr[2 * 64 + lane] = lane;
        m.vgpr[3 * 64 + lane] = 1000 + lane;
    }
    encode_ds(word, "ds_write2st64_b32", 0, 1, 2, 3, 1 | 3 << 8);
    machine_run(&m, word);
    cr_expect_eq(lds_word(&m, 256 + 4 * 7), 7);
    cr_expect_eq(lds_word(&m, 768 + 4 * 7), 1007);
    encode_ds(word, "ds_read2_b32", 1, 1, 0, 0,
              64 | 192 << 8); /* overwrites its own address register */
    machine_run(&m, word);
    cr_expect_eq(m.vgpr[64 + 7], 7);
    cr_expect_eq(m.vgpr[2 * 64 + 7], 1007);
}

Test(isa_lds, out_of_range_reads_zero_and_writes_nothing)
{
    static struct machine m;
    uint32_t word[3] = {0};
    machine_init(&m);
    m.ctx.lds_size = 256;
    for (unsigned lane = 0; lane < 64; lane++)
        m.vgpr[64 + lane] = lane * 8;
    machine_set(&m, 2, 0xabcd);
    encode_ds(word, "ds_write_b32", 0, 1, 2, 0, 0);
    machine_run(&m, word);
    cr_expect_eq(lds_word(&m, 31 * 8), 0xabcd);
    cr_expect_eq(lds_word(&m, 32 * 8), 0);
    machine_set(&m, 3, 0x7777);
    encode_ds(word, "ds_read_b32", 3, 1, 0, 0, 0);
    machine_run(&m, word);
    cr_expect_eq(m.vgpr[3 * 64 + 31], 0xabcd);
    cr_expect_eq(m.vgpr[3 * 64 + 32], 0);
}

Test(isa_lds, atomics_serve_lanes_in_order)
{
    static struct machine m;
    uint32_t word[3] = {0};
    machine_init(&m);
    set_lds(&m, 64, 5);
    machine_set(&m, 1, 64);
    machine_set(&m, 2, 3);
    isa_wave_set_pair(&m.wave, ISA_EXEC, UINT64_C(0x8000000000000011));
    encode_ds(word, "ds_add_rtn_u32", 4, 1, 2, 0, 0);
    machine_run(&m, word);
    cr_expect_eq(lds_word(&m, 64), 14);
    cr_expect_eq(m.vgpr[4 * 64], 5);
    cr_expect_eq(m.vgpr[4 * 64 + 4], 8);
    cr_expect_eq(m.vgpr[4 * 64 + 63], 11);
    cr_expect_eq(m.vgpr[4 * 64 + 1], 0);
    machine_set(&m, 3, 99);
    machine_set(&m, 2, 14);
    encode_ds(word, "ds_cmpst_rtn_b32", 4, 1, 2, 3, 0);
    machine_run(&m, word);
    cr_expect_eq(lds_word(&m, 64), 99, "data0 is compared, data1 stored");
    cr_expect_eq(m.vgpr[4 * 64 + 4], 99);
    encode_ds(word, "ds_rsub_u32", 0, 1, 2, 0, 0);
    isa_wave_set_pair(&m.wave, ISA_EXEC, 1);
    machine_run(&m, word);
    cr_expect_eq(lds_word(&m, 64), 14 - 99u);
}

struct ds_atomic {
    const char *name;
    uint32_t memory, data, expected;
};

Test(isa_lds, atomic_operations)
{
    static const struct ds_atomic rows[] = {{"ds_add_u32", 5, 7, 12},
                                            {"ds_sub_u32", 5, 7, 0xfffffffe},
                                            {"ds_inc_u32", 5, 5, 0},
                                            {"ds_inc_u32", 4, 5, 5},
                                            {"ds_dec_u32", 0, 5, 5},
                                            {"ds_dec_u32", 6, 5, 5},
                                            {"ds_dec_u32", 5, 5, 4},
                                            {"ds_min_i32", 5, 0xffffffff, 0xffffffff},
                                            {"ds_min_u32", 5, 0xffffffff, 5},
                                            {"ds_max_i32", 5, 0xffffffff, 5},
                                            {"ds_max_u32", 5, 0xffffffff, 0xffffffff},
                                            {"ds_and_b32", 0xff, 0x0f, 0x0f},
                                            {"ds_or_b32", 0xf0, 0x0f, 0xff},
                                            {"ds_xor_b32", 0xff, 0x0f, 0xf0},
                                            {"ds_min_f32", 0x3f800000, 0xbf800000, 0xbf800000},
                                            {"ds_max_f32", 0x3f800000, 0x7fc00000, 0x3f800000},
                                            {"ds_add_f32", 0x3f800000, 0x3f800000, 0x40000000}};
    static struct machine m;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t word[3] = {0};
        machine_init(&m);
        isa_wave_set_pair(&m.wave, ISA_EXEC, 1);
        set_lds(&m, 8, rows[i].memory);
        machine_set(&m, 1, 8);
        machine_set(&m, 2, rows[i].data);
        encode_ds(word, rows[i].name, 0, 1, 2, 0, 0);
        machine_run(&m, word);
        cr_expect_eq(lds_word(&m, 8), rows[i].expected, "%s(%x, %x) = %x", rows[i].name,
                     rows[i].memory, rows[i].data, lds_word(&m, 8));
    }
}

Test(isa_lds, lane_moves)
{
    static struct machine m;
    uint32_t word[3] = {0};
    machine_init(&m);
    for (unsigned lane = 0; lane < 64; lane++) {
        m.vgpr[64 + lane] = (63 - lane) * 4;
        m.vgpr[2 * 64 + lane] = 100 + lane;
    }
    isa_wave_set_pair(&m.wave, ISA_EXEC, ~UINT64_C(2));
    encode_ds(word, "ds_bpermute_b32", 3, 1, 2, 0, 0);
    machine_run(&m, word);
    cr_expect_eq(m.vgpr[3 * 64], 163);
    cr_expect_eq(m.vgpr[3 * 64 + 62], 0, "its source lane is inactive");
    encode_ds(word, "ds_permute_b32", 3, 1, 2, 0, 4);
    machine_run(&m, word);
    cr_expect_eq(m.vgpr[3 * 64], 100, "(63 + 1) mod 64");
    cr_expect_eq(m.vgpr[3 * 64 + 2], 162);
    encode_ds(word, "ds_swizzle_b32", 3, 2, 0, 0, 0x041f); /* xor 1 */
    machine_run(&m, word);
    cr_expect_eq(m.vgpr[3 * 64 + 33], 132);
    encode_ds(word, "ds_swizzle_b32", 3, 2, 0, 0, 0x801b); /* quad 3,2,1,0 */
    machine_run(&m, word);
    cr_expect_eq(m.vgpr[3 * 64 + 4], 107);
}

/* ---- vector memory ---- */

static struct isa_inst decoded(const uint32_t *word)
{
    struct isa_inst inst;
    cr_assert_gt(isa_decode(ISA_GFX803, word, 12, &inst), 0, "%08x %08x", word[0], word[1]);
    return inst;
}

static void set_addresses(struct machine *m, unsigned reg, uint64_t base, uint64_t step)
{
    for (unsigned lane = 0; lane < 64; lane++) {
        m->vgpr[reg * 64 + lane] = (uint32_t)(base + step * lane);
        m->vgpr[(reg + 1) * 64 + lane] = (uint32_t)((base + step * lane) >> 32);
    }
}

Test(isa_memory, flat_loads_extend)
{
    static const struct {
        const char *name;
        unsigned bytes;
        uint32_t expected;
    } rows[] = {{"flat_load_ubyte", 1, 0xf1},       {"flat_load_sbyte", 1, 0xfffffff1},
                {"flat_load_ushort", 2, 0xf2f1},    {"flat_load_sshort", 2, 0xfffff2f1},
                {"flat_load_dword", 4, 0xf4f3f2f1}, {"flat_load_dwordx4", 16, 0xf4f3f2f1}};
    static const uint8_t data[16] = {0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8,
                                     1,    2,    3,    4,    5,    6,    7,    8};
    static struct machine m;
    static struct isa_memory memory;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t word[3] = {0};
        machine_init(&m);
        isa_wave_set_pair(&m.wave, ISA_EXEC, 0xff);
        set_addresses(&m, 2, UINT64_C(0x7fff12340000), 16);
        encode_flat(word, rows[i].name, 10, 2, 0, false);
        struct isa_inst inst = decoded(word);
        cr_expect(inst.flags & ISA_RAISES_VM && inst.flags & ISA_RAISES_LGKM
                  && inst.flags & ISA_IS_LOAD);
        cr_assert_eq(isa_memory_addresses(&m.ctx, &m.wave, &inst, &memory), ISA_OK);
        cr_expect_eq(memory.kind, ISA_MEMORY_LOAD);
        cr_expect_eq(memory.bytes, rows[i].bytes);
        cr_expect_eq(memory.mask, 0xff);
        cr_expect_eq(memory.address[7], UINT64_C(0x7fff12340070));
        memory.mask = 1 << 3;
        isa_memory_load(&m.ctx, &inst, &memory, data, 0);
        cr_expect_eq(m.vgpr[10 * 64 + 3], rows[i].expected, "%s", rows[i].name);
        if (rows[i].bytes == 16)
            cr_expect_eq(m.vgpr[13 * 64 + 3], 0x08070605);
        cr_expect_eq(m.vgpr[10 * 64 + 2], 0);
        cr_expect_eq(isa_execute(&m.ctx, &m.wave, &inst), ISA_IS_MEMORY);
        cr_expect_eq(m.wave.pc, 0);
    }
}

Test(isa_memory, flat_atomics_have_operand_and_compare)
{
    static struct machine m;
    static struct isa_memory memory;
    uint32_t word[3] = {0};
    uint64_t operand[64] = {0}, compare[64] = {0};
    machine_init(&m);
    set_addresses(&m, 2, 0x1000, 8);
    for (unsigned reg = 4; reg < 8; reg++)
        machine_set(&m, reg, reg);
    encode_flat(word, "flat_atomic_cmpswap_x2", 10, 2, 4, true);
    struct isa_inst inst = decoded(word);
    cr_assert_eq(isa_memory_addresses(&m.ctx, &m.wave, &inst, &memory), ISA_OK);
    cr_expect_eq(memory.kind, ISA_MEMORY_ATOMIC);
    cr_expect_eq(memory.atomic, ISA_ATOMIC_CMPSWAP);
    cr_expect_eq(memory.bytes, 8);
    cr_expect(memory.returns);
    isa_memory_store(&m.ctx, &inst, &memory, operand, 8);
    isa_memory_compare_data(&m.ctx, &inst, memory.mask, compare, 8);
    cr_expect_eq(operand[9], UINT64_C(0x0000000500000004));
    cr_expect_eq(compare[9], UINT64_C(0x0000000700000006));
    encode_flat(word, "flat_atomic_umax", 10, 2, 4, false);
    inst = decoded(word);
    isa_memory_addresses(&m.ctx, &m.wave, &inst, &memory);
    cr_expect_eq(memory.atomic, ISA_ATOMIC_UMAX);
    cr_expect_not(memory.returns);
}

Test(isa_memory, flat_addresses_in_apertures)
{
    static struct machine m;
    static struct isa_memory memory;
    uint32_t word[3] = {0};
    machine_init(&m);
    m.ctx.shared_aperture = UINT64_C(0x1000000000000);
    m.ctx.private_aperture = UINT64_C(0x2000000000000);
    m.ctx.scratch_base = UINT64_C(0x500000);
    m.wave.sgpr[ISA_FLAT_SCRATCH + 1] = 0x10; /* 4 KiB into scratch */
    set_addresses(&m, 2, 0x9000, 4);
    m.vgpr[2 * 64 + 1] = 0x40, m.vgpr[3 * 64 + 1] = 0x10000; /* lane 1: LDS offset 0x40 */
    m.vgpr[2 * 64 + 2] = 0x0e, m.vgpr[3 * 64 + 2] = 0x20000; /* lane 2: private offset 14 */
    set_lds(&m, 0x40, 0xfeedface);
    encode_flat(word, "flat_load_dword", 10, 2, 0, false);
    struct isa_inst inst = decoded(word);
    isa_memory_addresses(&m.ctx, &m.wave, &inst, &memory);
    cr_expect_eq(memory.lds_mask, 2);
    cr_expect_eq(memory.mask, ~UINT64_C(2));
    cr_expect_eq(memory.swizzle_mask, 4);
    cr_expect_eq(memory.address[2], 0x500000 + 0x1000 + 3 * 256 + 2 * 4 + 2);
    cr_expect_eq(memory.address[1], 0x40);
    cr_expect_eq(memory.straddle_mask, 4);
    cr_expect_eq(isa_memory_byte(&memory, 2, 1), 0x501000 + 3 * 256 + 2 * 4 + 3);
    cr_expect_eq(isa_memory_byte(&memory, 2, 2), 0x501000 + 4 * 256 + 2 * 4, "its next dword");
    isa_memory_lds(&m.ctx, &inst, &memory);
    cr_expect_eq(m.vgpr[10 * 64 + 1], 0xfeedface);
    cr_expect_eq(m.vgpr[10 * 64 + 2], 0);
}

/* The private segment's resource as the runtime builds it: swizzled, 4-byte elements, 64 lanes
 * interleaved, thread id added. */
static void set_scratch_resource(struct machine *m, unsigned sgpr, uint64_t base, uint32_t size)
{
    m->wave.sgpr[sgpr] = (uint32_t)base;
    m->wave.sgpr[sgpr + 1] = (uint32_t)(base >> 32) | 0x80000000u;
    m->wave.sgpr[sgpr + 2] = size;
    m->wave.sgpr[sgpr + 3] = 1u << 19 | 3u << 21 | 1u << 23;
}

Test(isa_memory, scratch_through_the_buffer_resource)
{
    static struct machine m;
    static struct isa_memory memory;
    uint32_t word[3] = {0};
    machine_init(&m);
    set_scratch_resource(&m, 0, UINT64_C(0x700000000), 1 << 20);
    m.wave.sgpr[20] = 0x4000;
    encode_mubuf(word, "buffer_store_dword", 4, 0, 0, 20, 0, 12);
    struct isa_inst inst = decoded(word);
    cr_assert_eq(isa_memory_addresses(&m.ctx, &m.wave, &inst, &memory), ISA_OK);
    cr_expect_eq(memory.kind, ISA_MEMORY_STORE);
    cr_expect_eq(memory.address[0], UINT64_C(0x700004000) + 3 * 256);
    cr_expect_eq(memory.address[63], UINT64_C(0x700004000) + 3 * 256 + 63 * 4);
    machine_set(&m, 5, 6);
    encode_mubuf(word, "buffer_load_ubyte", 4, 5, 0, 20, 1 << 12, 12); /* offen: 12 + 6 */
    inst = decoded(word);
    isa_memory_addresses(&m.ctx, &m.wave, &inst, &memory);
    cr_expect_eq(memory.address[2], UINT64_C(0x700004000) + 4 * 256 + 2 * 4 + 2);
    encode_mubuf(word, "buffer_load_dwordx2", 4, 5, 0, 20, 1 << 12, 2);
    inst = decoded(word);
    isa_memory_addresses(&m.ctx, &m.wave, &inst, &memory);
    cr_expect_eq(memory.swizzle_mask, ~UINT64_C(0));
    cr_expect_eq(memory.dword_stride, 256);
    cr_expect_eq(memory.straddle_mask, 0);
    m.vgpr[5 * 64 + 9] = 7;
    encode_mubuf(word, "buffer_load_ushort", 4, 5, 0, 20, 1 << 12, 0);
    inst = decoded(word);
    isa_memory_addresses(&m.ctx, &m.wave, &inst, &memory);
    cr_expect_eq(memory.straddle_mask, UINT64_C(1) << 9);
    cr_expect_eq(isa_memory_byte(&memory, 9, 1), UINT64_C(0x700004000) + 2 * 256 + 9 * 4);
    m.wave.sgpr[3] += 1u << 19; /* elements of 8 bytes */
    cr_expect_eq(isa_memory_addresses(&m.ctx, &m.wave, &inst, &memory), ISA_BAD_RESOURCE);
    m.vgpr[5 * 64 + 9] = 5;
    cr_expect_eq(isa_memory_addresses(&m.ctx, &m.wave, &inst, &memory), ISA_OK);
}

Test(isa_memory, raw_buffers_check_their_range)
{
    static struct machine m;
    static struct isa_memory memory;
    uint32_t word[3] = {0};
    machine_init(&m);
    m.wave.sgpr[8] = 0x1000;
    m.wave.sgpr[10] = 64;
    for (unsigned lane = 0; lane < 64; lane++)
        m.vgpr[64 + lane] = lane * 4;
    machine_set(&m, 2, 0xffff);
    encode_mubuf(word, "buffer_load_dword", 2, 1, 8, 128, 1 << 12, 0);
    struct isa_inst inst = decoded(word);
    cr_assert_eq(isa_memory_addresses(&m.ctx, &m.wave, &inst, &memory), ISA_OK);
    cr_expect_eq(memory.mask, 0xffff);
    cr_expect_eq(memory.address[15], 0x1000 + 60);
    cr_expect_eq(m.vgpr[2 * 64 + 16], 0, "out of range reads 0");
    cr_expect_eq(m.vgpr[2 * 64 + 15], 0xffff);
    m.wave.sgpr[11] = 1u << 30;
    cr_expect_eq(isa_memory_addresses(&m.ctx, &m.wave, &inst, &memory), ISA_BAD_RESOURCE);
}

/* ---- scalar memory ---- */

Test(isa_memory, scalar_loads)
{
    static struct machine m;
    struct isa_scalar scalar;
    uint32_t word[3] = {0}, data[4] = {1, 2, 3, 4};
    machine_init(&m);
    isa_wave_set_pair(&m.wave, 4, UINT64_C(0x700000001001));
    encode_smem(word, "s_load_dwordx4", 8, 4, true, 0x12);
    struct isa_inst inst = decoded(word);
    cr_expect(inst.flags & ISA_RAISES_LGKM);
    cr_expect_not(inst.flags & ISA_RAISES_VM);
    cr_assert_eq(isa_scalar_address(&m.ctx, &m.wave, &inst, &scalar), ISA_OK);
    cr_expect_eq(scalar.kind, ISA_SCALAR_LOAD);
    cr_expect_eq(scalar.dwords, 4);
    cr_expect_eq(scalar.address, UINT64_C(0x700000001010), "aligned down to a dword");
    isa_scalar_load(&m.wave, &inst, data);
    cr_expect_eq(m.wave.sgpr[11], 4);
    m.wave.sgpr[20] = 0x100;
    encode_smem(word, "s_load_dword", 8, 4, false, 20);
    inst = decoded(word);
    isa_scalar_address(&m.ctx, &m.wave, &inst, &scalar);
    cr_expect_eq(scalar.address, UINT64_C(0x700000001100));
    encode_smem(word, "s_memtime", 8, 0, false, 0);
    inst = decoded(word);
    isa_scalar_address(&m.ctx, &m.wave, &inst, &scalar);
    cr_expect_eq(scalar.kind, ISA_SCALAR_TIME);
}

Test(isa_memory, scalar_buffer_loads_are_limited)
{
    static struct machine m;
    struct isa_scalar scalar;
    uint32_t word[3] = {0};
    machine_init(&m);
    m.wave.sgpr[8] = 0x2000;
    m.wave.sgpr[10] = 24;
    encode_smem(word, "s_buffer_load_dwordx4", 16, 8, true, 16);
    struct isa_inst inst = decoded(word);
    cr_assert_eq(isa_scalar_address(&m.ctx, &m.wave, &inst, &scalar), ISA_OK);
    cr_expect_eq(scalar.address, 0x2010);
    cr_expect_eq(scalar.valid, 2);
}

/* ---- atomic arithmetic ---- */

Test(isa_atomic, every_operation_on_both_widths)
{
    static const struct {
        enum isa_atomic op;
        uint64_t memory, operand, compare, narrow, wide;
    } rows[] = {{ISA_ATOMIC_SWAP, 1, 2, 0, 2, 2},
                {ISA_ATOMIC_CMPSWAP, 1, 2, 1, 2, 2},
                {ISA_ATOMIC_CMPSWAP, 1, 2, 3, 1, 1},
                {ISA_ATOMIC_ADD, 0xffffffff, 1, 0, 0, 0x100000000},
                {ISA_ATOMIC_SUB, 0, 1, 0, 0xffffffff, UINT64_C(0xffffffffffffffff)},
                {ISA_ATOMIC_SMIN, 0xffffffff, 1, 0, 0xffffffff, 1},
                {ISA_ATOMIC_UMIN, 0xffffffff, 1, 0, 1, 1},
                {ISA_ATOMIC_SMAX, 0xffffffff, 1, 0, 1, 0xffffffff},
                {ISA_ATOMIC_UMAX, 0xffffffff, 1, 0, 0xffffffff, 0xffffffff},
                {ISA_ATOMIC_AND, 0xff, 0x0f, 0, 0x0f, 0x0f},
                {ISA_ATOMIC_OR, 0xf0, 0x0f, 0, 0xff, 0xff},
                {ISA_ATOMIC_XOR, 0xff, 0x0f, 0, 0xf0, 0xf0},
                {ISA_ATOMIC_INC, 7, 7, 0, 0, 0},
                {ISA_ATOMIC_INC, 6, 7, 0, 7, 7},
                {ISA_ATOMIC_DEC, 0, 7, 0, 7, 7},
                {ISA_ATOMIC_DEC, 9, 7, 0, 7, 7},
                {ISA_ATOMIC_DEC, 7, 7, 0, 6, 6}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t memory32[2] = {(uint32_t)rows[i].memory, 0x5a5a5a5a}, old32 = 0;
        uint64_t memory64 = rows[i].memory, old64 = 0;
        isa_atomic_apply(rows[i].op, 4, memory32, &rows[i].operand, &rows[i].compare, &old32);
        isa_atomic_apply(rows[i].op, 8, &memory64, &rows[i].operand, &rows[i].compare, &old64);
        cr_expect_eq(memory32[0], (uint32_t)rows[i].narrow, "atomic %d", (int)rows[i].op);
        cr_expect_eq(memory32[1], 0x5a5a5a5a);
        cr_expect_eq(memory64, rows[i].wide, "atomic %d, 64 bits", (int)rows[i].op);
        cr_expect_eq(old32, (uint32_t)rows[i].memory);
        cr_expect_eq(old64, rows[i].memory);
    }
}
