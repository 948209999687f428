/* Where registers stand: nobody sees it, and nobody has those of another, also where there is room
 * for a wavefront only where the dispatcher has placed it. */
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
    bool second; /* its work-group has another one, on the next SIMD, which ends at once */
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
    load(number, words, sizeof words / sizeof words[0]);
}

static void check_keepers(const struct keeper *keepers, unsigned count)
{
    set_up();
    for (unsigned i = 0; i < count; i++) {
        load_keeper(i, &keepers[i]);
        launch_vgprs = keepers[i].vgprs;
        struct work_wavefront places[2] = {keepers[i].place, keepers[i].place};
        places[1].simd++;
        launch(keepers[i].cycle, (uint16_t)i, i, keepers[i].second ? 2 : 1, places, i);
    }
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    for (unsigned i = 0; i < count; i++) {
        uint32_t words[64];
        memcpy(words, harness_memory + DATA + 512 * i, sizeof words);
        for (unsigned lane = 0; lane < 64; lane++)
            cr_assert_eq(words[lane], 0x1000 + i, "number %u, lane %u: %x", i, lane, words[lane]);
    }
}

/* Three of the first twelve fill a bank. When those of SIMD 0 have ended each bank has room for 84,
 * and SIMD 0 for 256. */
Test(registers, a_wavefront_without_room_in_one_piece_has_what_the_dispatcher_placed)
{
    struct keeper keepers[15] = {
        [12] = {1000, 168, {.simd = 0, .slot = 0}, 40, false},
        [13] = {1500, 84, {.simd = 0, .slot = 4, .vgpr = 168}, 90, false},
        [14] = {5000, 160, {.simd = 0, .slot = 0}, 10, false},
    };
    for (unsigned i = 0; i < 12; i++)
        keepers[i] = (struct keeper){.cycle = 40 + i,
                                     .vgprs = 84,
                                     .place = {.simd = (uint8_t)(i % 4),
                                               .slot = (uint8_t)(i / 4),
                                               .vgpr = (uint16_t)(i / 4 * 84)},
                                     .sleep = i % 4 ? 99 : 0};
    check_keepers(keepers, 15);
}

/* Where one of its wavefronts has ended another may begin (cu_lend.c). */
Test(registers, a_work_group_keeps_its_registers_until_all_of_it_has_ended)
{
    static const struct keeper keepers[] = {
        {40, 84, {.simd = 0, .slot = 0}, 60, true},
        {1000, 84, {.simd = 2, .slot = 0}, 20, false},
        {1100, 84, {.simd = 3, .slot = 0}, 20, false},
    };
    check_keepers(keepers, sizeof keepers / sizeof keepers[0]);
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
