/* Registers stand where the dispatcher has placed them: no wavefront has those of another. */
#include "base/number.h"
#include "runtime/engine/run_control.h"

#include "cu_fixture.h"

enum {
    S_SLEEP = 0xbf8e0000u,     /* 64 cycles for each 1 */
    V_CMP_GT_64 = 0x7d9800c0u, /* v_cmp_gt_u32 vcc, 64, v0 */
    S_CBRANCH_VCCZ = 0xbf860000u
};

/* A wavefront whose last register keeps a value while it sleeps. */
struct keeper {
    uint64_t cycle;
    uint16_t vgprs;
    struct work_wavefront place;
    uint16_t sleep;
};

/* ... and is stored then, at DATA + 512 * number. */
static void load_keeper(unsigned number, const struct keeper *k)
{
    unsigned last = k->vgprs - 1u;
    const uint32_t words[] = {
        V_CMP_GT_64,
        S_CBRANCH_VCCZ | 10, /* to the end */
        V_SHIFT_2,
        V_ADD_DATA,
        DATA + 512 * number,
        V_MOV_V1,
        0x7e0002ffu | last << 17,
        0x1000 + number, /* v_mov_b32 v[last] */
        S_SLEEP | k->sleep,
        0x7e040300u | last, /* v_mov_b32 v2, v[last] */
        FLAT_STORE,
        0x00000200u,
    };
    load(number, words, ARRAY_COUNT(words));
}

static void check_keepers(const struct keeper *keepers, unsigned count)
{
    set_up();
    for (unsigned i = 0; i < count; i++) {
        load_keeper(i, &keepers[i]);
        launch_vgprs = keepers[i].vgprs;
        launch(keepers[i].cycle, (uint16_t)i, i, 1, &keepers[i].place, i);
    }
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    for (unsigned i = 0; i < count; i++) {
        uint32_t words[64];
        memcpy(words, harness_memory + DATA + 512 * i, sizeof words);
        for (unsigned lane = 0; lane < 64; lane++)
            cr_assert_eq(words[lane], 0x1000 + i, "number %u, lane %u: %x", i, lane, words[lane]);
    }
}

Test(registers, wavefronts_of_all_sizes_follow_each_other)
{
    struct keeper keepers[15];
    for (unsigned i = 0; i < 15; i++)
        keepers[i] = (struct keeper){.cycle = 40 + 150 * (uint64_t)i,
                                     .vgprs = (uint16_t)(i % 5 == 4 ? 128 : 4 + i * 11),
                                     .place = {.simd = (uint8_t)(i % 4),
                                               .slot = (uint8_t)(i / 4),
                                               .vgpr = (uint16_t)(i / 4 % 2 * 128)},
                                     .sleep = (uint16_t)(3 + i % 3)};
    check_keepers(keepers, 15);
}
