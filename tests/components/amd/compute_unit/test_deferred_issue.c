/* Turns that are left out and made up for are seen by nobody: a unit that leaves out turns answers
 * as one that takes each in its cycle, and its statistics are the same whenever anybody looks at
 * them. Programs and arrivals are random. */
#include "base/number.h"
#include "runtime/engine/run_control.h"
#include "runtime/observe/hang.h"
#include "runtime/scheduler/run.h"
#include "tests/sanitized.h"

#include "cu_fixture.h"

enum { PROGRAMS = 4, WORDS = 120, GROUPS = 6, LOOKS = 12 };

/* Instructions of one word, and of two. What uses memory begins with an address in v[0:1]. */
static const uint32_t singles[] = {V_MOV,       V_MOV,          V_MOV,     V_MOV_V1 + 0x20000,
                                   V_RCP_F32,   S_MOV,          S_MOV,     S_CMP_EQ,
                                   S_NOP,       S_WAIT_VM,      S_SLEEP_1, S_BARRIER,
                                   S_WAIT_LGKM, S_CBRANCH_SCC0, S_BRANCH_1};
static const uint32_t doubles[][2] = {{V_MUL_LO, 0x00020502},   {V_ADD_F64, 0x00020502},
                                      {V_MUL_F64, 0x00020502},  {FLAT_LOAD, 0x02000000},
                                      {FLAT_STORE, 0x00000200}, {S_LOAD, 0},
                                      {DS_WRITE, 0x00000200}};

static uint64_t state;

static unsigned below(unsigned limit)
{
    return (unsigned)(harness_random(&state) >> 33) % limit;
}

/* A branch goes over one word, which therefore is an instruction. */
static void load_random(unsigned number)
{
    uint32_t words[WORDS + 4] = {V_MOV_V1, V_SHIFT_2, V_ADD_DATA, DATA};
    size_t count = 4, moves = below(12);
    while (count < WORDS - 4) {
        bool branched = words[count - 1] == S_BRANCH_1 || words[count - 1] == S_CBRANCH_SCC0;
        if (branched || below(16) < 4 + moves) {
            words[count++] = below(8) ? V_MOV : S_MOV;
        } else if (below(2)) {
            words[count++] = singles[below(ARRAY_COUNT(singles))];
        } else {
            unsigned which = below(ARRAY_COUNT(doubles));
            words[count++] = doubles[which][0];
            words[count++] = doubles[which][1];
        }
    }
    words[count++] = S_WAIT_VM & S_WAIT_LGKM;
    load(number, words, count);
}

static struct {
    struct work_account account[GROUPS];
    uint64_t ended[GROUPS];
    struct compute_unit_stats stats;
} first;

/* A run of case `seed` up to `cycles`, 0: to its end. Returns the unit. */
static const struct compute_unit_io *run_case(uint64_t seed, bool keeps_up, uint64_t cycles)
{
    struct work_wavefront places[2];
    uint64_t cycle = ARRIVAL - 1;
    state = seed;
    engine_defer_nothing(keeps_up);
    set_up();
    for (unsigned i = 0; i < PROGRAMS; i++)
        load_random(i);
    for (uint16_t tag = 0; tag < GROUPS; tag++) {
        unsigned simd = below(2) ? 0 : below(4);
        for (unsigned i = 0; i < 2; i++)
            places[i] = (struct work_wavefront){.simd = (uint8_t)(i ? below(4) : simd),
                                                .slot = (uint8_t)tag};
        launch(cycle, tag, below(PROGRAMS), places[0].simd == places[1].simd ? 1 : 2, places,
               tag / 3u);
        cycle += 1 + below(400);
    }
    engine_set_limits(&(struct engine_limits){.max_cycles = cycles});
    enum engine_result result = harness_run();
    cr_assert(result == (cycles ? ENGINE_LIMIT : ENGINE_IDLE), "seed %u ends with %d",
              (unsigned)seed, (int)result);
    return harness_instance(unit);
}

Test(deferred_issue, answers_are_the_same)
{
    for (uint64_t seed = 1; seed <= tests_amount(60, 20, 10); seed++) {
        first.stats = run_case(seed, true, 0)->stats;
        for (uint16_t tag = 0; tag < GROUPS; tag++) {
            first.ended[tag] = ended(tag);
            memcpy(&first.account[tag], harness_reply(dispatcher, tag)->payload,
                   sizeof first.account[tag]);
        }
        const struct compute_unit_io *deferred = run_case(seed, false, 0);
        cr_expect_arr_eq(&deferred->stats, &first.stats, sizeof first.stats, "seed %u",
                         (unsigned)seed);
        for (uint16_t tag = 0; tag < GROUPS; tag++) {
            cr_expect_eq(ended(tag), first.ended[tag], "seed %u: group %u", (unsigned)seed, tag);
            cr_expect_arr_eq(harness_reply(dispatcher, tag)->payload, &first.account[tag],
                             sizeof first.account[tag], "seed %u: group %u", (unsigned)seed, tag);
        }
    }
}

Test(deferred_issue, whoever_looks_sees_the_same)
{
    for (uint64_t seed = 1; seed <= tests_amount(60, 12, 6); seed++) {
        for (unsigned look = 0; look < LOOKS; look++) {
            uint64_t cycles = 80 + 67 * look + seed % 7;
            static char report[8192];
            uint64_t retired;
            first.stats = run_case(seed, true, cycles)->stats;
            retired = engine_instructions();
            snprintf(report, sizeof report, "%s", hang_last_report());
            const struct compute_unit_io *deferred = run_case(seed, false, cycles);
            cr_expect_arr_eq(&deferred->stats, &first.stats, sizeof first.stats,
                             "seed %u, cycle %u", (unsigned)seed, (unsigned)cycles);
            cr_expect_eq(engine_instructions(), retired);
            cr_expect_str_eq(hang_last_report(), report);
        }
    }
}
