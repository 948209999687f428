/* The watch over launches that only repeat themselves: when it lasts, what ends a lap, and when a
 * wavefront has come back to a state of its own. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "base/number.h"
#include "components/livelock/livelock.h"

Test(livelock, watch_lasts_32_rounds_from_round_8_and_from_each_power_of_two_after_it)
{
    struct livelock_watch w = {0};
    for (uint64_t round = 0; round < 200; round++) {
        bool expected = (round >= 8 && round < 40) || (round >= 64 && round < 96)
                        || (round >= 128 && round < 160);
        livelock_round(&w, round);
        cr_expect_eq(w.on, expected, "round %llu", (unsigned long long)round);
    }
}

Test(livelock, watch_ends_early_when_memory_changes_often)
{
    struct livelock_watch w = {0};
    livelock_round(&w, LIVELOCK_PATIENCE);
    for (int i = 0; i <= LIVELOCK_CHANGES; i++)
        livelock_change();
    livelock_round(&w, LIVELOCK_PATIENCE + 1);
    cr_expect_not(w.on);
}

struct turns {
    uint32_t turn, turns;
    bool is_watched;
};

ParameterizedTestParameters(livelock, a_turn_is_watched_after_each_power_of_two_from_64_on)
{
    static struct turns all[] = {{0, 4, false},   {63, 4, false},  {64, 4, true},  {67, 4, true},
                                 {68, 4, false},  {127, 4, false}, {128, 4, true}, {131, 4, true},
                                 {132, 4, false}, {128, 1, true},  {129, 1, false}};
    return cr_make_param_array(struct turns, all, ARRAY_COUNT(all));
}

ParameterizedTest(struct turns *t, livelock, a_turn_is_watched_after_each_power_of_two_from_64_on)
{
    cr_expect_eq(livelock_turn(t->turn, t->turns), t->is_watched, "turn %u of %u", t->turn,
                 t->turns);
}

static void begin_watch(void)
{
    struct livelock_watch w = {0};
    livelock_round(&w, LIVELOCK_PATIENCE);
}

static bool store_ends_lap(uint64_t key, uint64_t value, size_t size)
{
    uint32_t lap = livelock_lap();
    livelock_store(key, &value, size);
    return livelock_lap() != lap;
}

Test(livelock, store_of_the_bytes_that_are_there_leaves_the_lap)
{
    begin_watch();
    cr_expect(store_ends_lap(0x100, 7, 4), "what was there is not known");
    cr_expect_not(store_ends_lap(0x100, 7, 4));
    cr_expect(store_ends_lap(0x100, 8, 4));
    cr_expect(store_ends_lap(0x100, 7, 4));
    cr_expect(store_ends_lap(0x200, UINT64_C(0x100000002), 8));
    cr_expect_not(store_ends_lap(0x200, UINT64_C(0x100000002), 8));
    cr_expect(store_ends_lap(0x200, UINT64_C(0x300000002), 8), "the upper half differs");
    cr_expect(store_ends_lap(0x300, 1, 1));
    cr_expect_not(store_ends_lap(0x300, 1, 1));
}

Test(livelock, each_watch_forgets_what_the_one_before_has_seen)
{
    begin_watch();
    store_ends_lap(0x100, 7, 4);
    begin_watch();
    cr_expect(store_ends_lap(0x100, 7, 4));
}

Test(livelock, state_that_comes_back_in_one_lap_is_found)
{
    struct livelock wave = {0};
    begin_watch();
    cr_expect_not(livelock_state(&wave, 5));
    cr_expect(livelock_state(&wave, 5));
    cr_expect(livelock_state(&wave, 6), "it stays so for the rest of the lap");
    livelock_change();
    cr_expect_not(livelock_state(&wave, 5), "memory may differ now");
}

Test(livelock, loops_of_any_length_are_found_within_three_times_their_length)
{
    for (uint64_t length = 1; length < 100; length++) {
        struct livelock wave = {0};
        begin_watch();
        uint64_t step = 0;
        while (step <= 3 * length + 1 && !livelock_state(&wave, step % length))
            step++;
        cr_expect_leq(step, 3 * length, "a loop of %llu states", (unsigned long long)length);
    }
}

Test(livelock, states_that_all_differ_are_no_loop)
{
    struct livelock wave = {0};
    begin_watch();
    for (uint64_t step = 0; step < 1000; step++)
        cr_assert_not(livelock_state(&wave, step));
}

Test(livelock, report_names_the_last_of_the_likeliest_accesses)
{
    struct livelock wave = {0};
    livelock_read(&wave, LIVELOCK_PLAIN, 1, 0x10);
    livelock_read(&wave, LIVELOCK_OWN, 2, 0x20);
    cr_expect_eq(wave.address, 0x10);
    livelock_read(&wave, LIVELOCK_PLAIN, 3, 0x30);
    cr_expect_eq(wave.address, 0x30);
    livelock_read(&wave, LIVELOCK_COHERENT, 4, 0x40);
    cr_expect_eq(wave.pc, 4);
}
