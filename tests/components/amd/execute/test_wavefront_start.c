/* What a wavefront finds in its registers when it begins, on each target (LLVM, "User Guide for
 * AMDGPU Backend": Initial Kernel Execution State). */
#include <criterion/criterion.h>
#include <string.h>

#include "base/number.h"
#include "components/amd/execute/wavefront_start.h"
#include "components/amd/execute/work_groups.h"

enum {
    KERNARG = 0x10000,
    PACKET = 0x20000,
    SCRATCH = 0x5000000,
    PRIVATE_BYTES = 24, /* a wavefront: 2 KiB */
    GROUP_X = 5,
    GROUP_Y = 7,
    GROUP_Z = 9,
};

/* Work-groups of 70 x 3 x 2 work-items; all that a descriptor can ask for is enabled. */
static struct aql_descriptor everything(void)
{
    return (struct aql_descriptor){.rsrc1 = 4u | 3u << 6 | 0xc0u << 12 | 1u << 21 | 1u << 26,
                                   .rsrc2 = 1u | 16u << 1 | 7u << 7 | 1u << 10 | 2u << 11,
                                   .rsrc3 = 2,
                                   .properties = 0x7f};
}

static struct aql_packet packet_of_70_3_2(void)
{
    return (struct aql_packet){.work_group = {70, 3, 2},
                               .grid = {700, 33, 24},
                               .private_bytes = PRIVATE_BYTES,
                               .kernarg = KERNARG,
                               .scratch = SCRATCH};
}

struct started {
    struct work_placement placement;
    struct isa_wave wave;
    uint32_t vgpr[8 * 64];
};

static struct work_placement common_of(enum isa_target target, const struct aql_packet *packet,
                                       const struct aql_descriptor *descriptor)
{
    return work_common(&(struct work_launch){target, packet, descriptor, 0x1000, PACKET, 1, 77});
}

/* Wavefront 1 of work-group (5, 7, 9), third in the scratch pool. */
static struct started start(enum isa_target target, const struct aql_descriptor *descriptor)
{
    static const uint32_t id[3] = {GROUP_X, GROUP_Y, GROUP_Z};
    const struct aql_packet packet = packet_of_70_3_2();
    struct started s = {.placement = common_of(target, &packet, descriptor)};
    work_cut_group(id, &s.placement);
    s.placement.scratch_wavefront = 2;
    for (uint32_t i = 0; i < WORK_PRELOADED_MAX; i++)
        s.placement.preloaded[i] = 100 + i;
    memset(s.vgpr, 0xee, sizeof s.vgpr);
    wavefront_start(target, &s.wave, s.vgpr, &s.placement, id, 1);
    return s;
}

/* The user registers come in the order of the guide; where FLAT_SCRATCH is architected, nothing of
 * scratch stands in a register. */
Test(wavefront_start, fills_scalar_registers_in_the_order_of_the_guide)
{
    for (unsigned target = 0; target < ISA_TARGET_COUNT; target++) {
        const struct aql_descriptor descriptor = everything();
        const struct started s = start(target, &descriptor);
        const uint32_t *sgpr = s.wave.sgpr;
        const char *name = isa_target_name(target);
        uint64_t area = 3 * 2048;
        cr_expect_eq(sgpr[0], SCRATCH, "%s", name);
        cr_expect_eq(sgpr[4], PACKET, "%s", name);
        cr_expect_eq(sgpr[6], PACKET + WORK_QUEUE_OFFSET, "%s", name);
        cr_expect_eq(sgpr[8], KERNARG, "%s", name);
        cr_expect(sgpr[10] == 77 && sgpr[11] == 0, "%s", name);
        if (isa_traits[target].scratch == ISA_SCRATCH_OFFSET)
            cr_expect(sgpr[12] == 0 && sgpr[13] == PRIVATE_BYTES, "%s", name);
        else
            cr_expect(sgpr[12] == SCRATCH && sgpr[13] == 0, "%s", name);
        cr_expect_eq(sgpr[14], PRIVATE_BYTES, "%s", name);
        cr_expect(sgpr[16] == GROUP_X && sgpr[17] == GROUP_Y && sgpr[18] == GROUP_Z, "%s", name);
        cr_expect_eq(sgpr[19], 1u << 6 | 7, "%s", name);
        bool architected = isa_traits[target].scratch == ISA_SCRATCH_ARCHITECTED;
        cr_expect_eq(sgpr[20], architected ? 0 : area, "%s", name);
        cr_expect_eq(isa_wave_pair(&s.wave, ISA_FLAT_SCRATCH), architected ? SCRATCH + area : 0,
                     "%s", name);
        cr_expect_eq(s.wave.mode, 0xc0u | 1u << 8 | (uint32_t)isa_is_gfx9(target) << 23, "%s",
                     name);
    }
}

/* Lane 10 of wavefront 1 is work-item 74: (4, 1, 0). */
Test(wavefront_start, numbers_work_items_in_one_register_or_three)
{
    for (unsigned target = 0; target < ISA_TARGET_COUNT; target++) {
        for (unsigned dimensions = 1; dimensions <= 3; dimensions++) {
            struct aql_descriptor descriptor = everything();
            descriptor.rsrc2 = (descriptor.rsrc2 & ~(3u << 11)) | (dimensions - 1) << 11;
            const struct started s = start(target, &descriptor);
            bool packed = isa_traits[target].packed_work_items;
            uint32_t y = dimensions > 1 ? 1 : 0;
            cr_expect_eq(s.vgpr[10], packed ? 4 | y << 10 : 4);
            cr_expect_eq(s.vgpr[64 + 10], packed || !y ? 0xeeeeeeee : 1);
            cr_expect_eq(s.vgpr[128 + 10], packed || dimensions < 3 ? 0xeeeeeeee : 0);
            cr_expect_eq(isa_wave_exec(&s.wave), UINT64_MAX);
        }
    }
}

/* Fields of rsrc1 and rsrc3: 4 granules of vector registers and one, accumulators from (2 + 1) * 4
 * on, 3 granules of 8 scalar registers and one, or 1 of 16 and one. */
Test(wavefront_start, counts_registers_in_the_granules_of_the_target)
{
    static const struct {
        enum isa_target target;
        uint32_t vgprs, sgprs, accum_offset, registers;
    } rows[] = {{ISA_GFX803, 20, 32, 20, 20}, {ISA_GFX900, 20, 32, 20, 20},
                {ISA_GFX906, 20, 32, 20, 20}, {ISA_GFX908, 20, 32, 20, 40},
                {ISA_GFX90A, 40, 32, 12, 40}, {ISA_GFX942, 40, 32, 12, 40}};
    const struct aql_packet packet = packet_of_70_3_2();
    const struct aql_descriptor descriptor = everything();
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const struct work_placement p = common_of(rows[i].target, &packet, &descriptor);
        const char *name = isa_target_name(rows[i].target);
        cr_expect_eq(p.vgprs, rows[i].vgprs, "%s", name);
        cr_expect_eq(p.sgprs, rows[i].sgprs, "%s", name);
        cr_expect_eq(p.accum_offset, rows[i].accum_offset, "%s", name);
        cr_expect_eq(work_registers(rows[i].target, p.vgprs), rows[i].registers, "%s", name);
    }
}

/* GPR_ALLOC as Linux' amdkfd reads it (cwsr_trap_handler_gfx9.asm): sizes less one granule. Where
 * vector registers and accumulators share a file, its granules are 8, and there is a field for
 * where accumulators begin, in units of 4. */
Test(wavefront_start, tells_the_place_of_registers_in_the_granules_of_the_file)
{
    for (unsigned target = 0; target < ISA_TARGET_COUNT; target++) {
        static const uint32_t id[3] = {0};
        const struct aql_packet packet = packet_of_70_3_2();
        struct aql_descriptor most = everything();
        bool unified = isa_traits[target].accumulators == ISA_ACCUMULATORS_UNIFIED;
        most.rsrc1 |= 63;
        most.rsrc3 = 63;
        struct work_placement p = common_of(target, &packet, &most);
        struct isa_wave wave;
        uint32_t vgpr[8 * 64];
        work_cut_group(id, &p);
        p.wavefront[0].vgpr = 16;
        p.wavefront[0].sgpr = 48;
        wavefront_start(target, &wave, vgpr, &p, id, 0);
        uint32_t expected = unified ? 2 | 63 << 6 | 63 << 12 | 3 << 18 : 4 | 63 << 8 | 3 << 16;
        cr_expect_eq(wave.gpr_alloc, expected | (p.sgprs / 16 - 1) << 24, "%s: %#x, not %#x",
                     isa_target_name(target), wave.gpr_alloc, expected);
    }
}

/* Three dwords behind the pointer to the arguments; the code for hardware that does not preload is
 * left out. Targets that cannot do it begin as ever. */
Test(wavefront_start, finds_preloaded_arguments_behind_user_registers)
{
    for (unsigned target = 0; target < ISA_TARGET_COUNT; target++) {
        const struct aql_descriptor descriptor = {
            .rsrc2 = 5u << 1 | 1u << 7, .properties = 1u << 3, .preload = 3};
        const struct started s = start(target, &descriptor);
        bool preloads = isa_traits[target].registers == KERNEL_GFX9_UNIFIED;
        cr_expect_eq(s.wave.pc, preloads ? 0x1100 : 0x1000);
        cr_expect_eq(s.wave.sgpr[0], KERNARG);
        for (uint32_t i = 0; i < 3; i++)
            cr_expect_eq(s.wave.sgpr[2 + i], preloads ? 100 + i : 0);
        cr_expect_eq(s.wave.sgpr[5], GROUP_X);
    }
}
