/* The compute unit through its ports: a work-group arrives, memory answers after a fixed time, and
 * everything that happens in between follows from the parameters. Expected cycles are closed forms
 * of the issue rules (one turn of a SIMD every `simds` cycles) and of latencies. */
#include "base/number.h"
#include "runtime/engine/run_control.h"

#include "cu_fixture.h"

/* ---- rates ---- */

struct rate {
    const char *name;
    uint32_t word[2];
    unsigned words, cycles;
    enum work_cycles_kind issued, executing;
};

Test(compute_unit, each_class_of_instruction_takes_its_time)
{
    static const struct rate rates[] = {
        {"full rate", {V_MOV}, 1, 4, WORK_ISSUED_VALU, WORK_EXECUTING_VALU},
        {"quarter rate",
         {V_MUL_LO, 0x00020100},
         2,
         16,
         WORK_ISSUED_VALU_QUARTER,
         WORK_EXECUTING_VALU},
        {"transcendental", {V_RCP_F32}, 1, 16, WORK_ISSUED_VALU_TRANS, WORK_EXECUTING_VALU},
        {"f64 add", {V_ADD_F64, 0x00020904}, 2, 32, WORK_ISSUED_VALU_F64_ADD, WORK_EXECUTING_VALU},
        {"f64 multiply",
         {V_MUL_F64, 0x00020904},
         2,
         64,
         WORK_ISSUED_VALU_F64_MUL,
         WORK_EXECUTING_VALU},
        {"f64 rcp", {V_RCP_F64}, 1, 72, WORK_ISSUED_VALU_F64_TRANS, WORK_EXECUTING_VALU},
        {"scalar", {S_MOV}, 1, 4, WORK_ISSUED_SALU, WORK_EXECUTING_SALU},
        {"branch", {S_BRANCH_1, S_NOP}, 2, 16, WORK_ISSUED_BRANCH, WORK_EXECUTING_BRANCH},
        {"branch not taken",
         {S_CBRANCH_SCC0 & ~1u},
         1,
         4,
         WORK_ISSUED_BRANCH,
         WORK_EXECUTING_BRANCH},
        {"nop", {S_NOP}, 1, 4, WORK_ISSUED_OTHER, WORK_EXECUTING_SLEEP},
        {"four nops", {S_NOP | 3}, 1, 16, WORK_ISSUED_OTHER, WORK_EXECUTING_SLEEP},
        {"sleep", {S_SLEEP_1}, 1, 68, WORK_ISSUED_OTHER, WORK_EXECUTING_SLEEP},
    };
    enum { COUNT = 7 };
    for (size_t r = 0; r < ARRAY_COUNT(rates); r++) {
        uint32_t words[2 * COUNT];
        size_t n = 0;
        for (unsigned i = 0; i < COUNT; i++)
            for (unsigned w = 0; w < rates[r].words; w++)
                words[n++] = rates[r].word[w];
        set_up();
        load(0, words, n);
        launch(ARRIVAL - 1, 0, 0, 1, one, 0);
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        uint64_t first = first_issue(ARRIVAL, 0), end = first + COUNT * rates[r].cycles;
        cr_expect_eq(ended(0), end, "%s: ended in %llu, not %llu", rates[r].name,
                     (unsigned long long)ended(0), (unsigned long long)end);
        struct work_account a = accounts();
        cr_expect_eq(a.held, end - ARRIVAL, "%s", rates[r].name);
        cr_expect_eq(a.active, end - ARRIVAL, "%s", rates[r].name);
        cr_expect_eq(a.slot_cycles[rates[r].issued], COUNT * 4, "%s", rates[r].name);
        cr_expect_eq(a.slot_cycles[rates[r].executing], COUNT * (rates[r].cycles - 4), "%s",
                     rates[r].name);
        cr_expect_eq(a.slot_cycles[WORK_WAITING_FETCH], first - ARRIVAL, "%s", rates[r].name);
    }
}

/* ---- wavefronts beside each other ---- */

enum { MOVES = 8 };

static void load_moves(unsigned number, uint32_t first_word)
{
    uint32_t words[1 + MOVES] = {first_word};
    for (unsigned i = 1; i <= MOVES; i++)
        words[i] = V_MOV;
    load(number, words, 1 + MOVES);
}

Test(compute_unit, wavefronts_of_one_simd_share_its_alu_and_those_of_two_do_not)
{
    static const struct work_wavefront same[] = {{.simd = 0, .slot = 0}, {.simd = 0, .slot = 1}};
    static const struct work_wavefront apart[] = {{.simd = 0, .slot = 0}, {.simd = 1, .slot = 0}};
    uint64_t first = first_issue(ARRIVAL, 0);
    set_up();
    load_moves(0, S_MOV);
    launch(ARRIVAL - 1, 0, 0, 2, same, 0);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    /* The scalar instructions of both, one a turn; then 2 * MOVES turns of the ALU, the first
     * beside the second scalar instruction; then s_endpgm. */
    cr_expect_eq(ended(0), first + 4 + 4 * 2 * MOVES);
    struct work_account a = accounts();
    cr_expect_eq(a.slot_cycles[WORK_WAITING_SCALAR], 4);
    cr_expect_gt(a.slot_cycles[WORK_WAITING_VALU], 4 * (2 * MOVES - 3));
    cr_expect_eq(a.slot_cycles[WORK_ISSUED_VALU], 4 * 2 * MOVES);

    set_up();
    load_moves(0, S_MOV);
    launch(ARRIVAL - 1, 0, 0, 2, apart, 0);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    uint64_t second = first_issue(ARRIVAL + 1, 1); /* its line is the second to be asked for */
    cr_expect_eq(ended(0), max(second, first) + 4 + 4 * MOVES);
    cr_expect_eq(accounts().slot_cycles[WORK_WAITING_VALU], 0);
}

/* Cycles from first issue to the end of a program of gfx90a. */
static uint64_t matrix_cycles(const uint32_t *words, size_t count, unsigned wavefronts)
{
    static const struct work_wavefront places[] = {{.simd = 0, .slot = 0}, {.simd = 0, .slot = 1}};
    struct compute_unit_params p = defaults;
    p.isa = COMPUTE_UNIT_ISA_GFX90A;
    p.matrix_pass = 4;
    set_up_with(&p);
    load(0, words, count);
    launch(ARRIVAL - 1, 0, 0, wavefronts, places, 0);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    return ended(0) - first_issue(ARRIVAL, 0);
}

Test(compute_unit, the_matrix_unit_leaves_the_alu_to_others)
{
    const uint32_t eight_passes[2] = {V_MFMA_16X16, V_MFMA_SOURCES}; /* 32 cycles */
    const uint32_t two_passes[2] = {V_MFMA_4X4, V_MFMA_SOURCES};     /* 8 */
    uint32_t words[64];
    for (unsigned i = 0; i < 8; i++)
        memcpy(words + 2 * i, eight_passes, 8);
    cr_expect_eq(matrix_cycles(words, 8, 1), 3 * 32 + 4, "one after the other");
    cr_expect_eq(matrix_cycles(words, 8, 2), 7 * 32 + 4, "of two wavefronts, too");
    for (unsigned i = 0; i < 8; i++)
        memcpy(words + 2 * i, two_passes, 8);
    cr_expect_eq(matrix_cycles(words, 16, 1), 7 * 8 + 4);
    for (unsigned i = 0; i < 2; i++) { /* seven moves in between: nothing waits */
        memcpy(words + 9 * i, eight_passes, 8);
        for (unsigned move = 2; move < 9; move++)
            words[9 * i + move] = V_MOV;
    }
    cr_expect_eq(matrix_cycles(words, 18, 1), 2 * 32);
    struct work_account a = accounts();
    cr_expect_eq(a.slot_cycles[WORK_WAITING_VALU], 0);
}

/* Two work-groups on one SIMD; the later one asks for a priority. */
static void run_with_priority(uint32_t word)
{
    static const struct work_wavefront other[] = {{.simd = 0, .slot = 1}};
    set_up();
    load_moves(0, S_NOP);
    load_moves(1, word);
    launch(ARRIVAL - 1, 0, 0, 1, one, 0);
    launch(ARRIVAL - 1, 1, 1, 1, other, 0);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    accounts();
}

Test(compute_unit, a_raised_priority_issues_first)
{
    run_with_priority(S_SETPRIO_0);
    uint64_t fair[2] = {ended(0), ended(1)};
    cr_expect_lt(fair[0], fair[1]);
    cr_expect_leq(fair[1] - fair[0], 8, "they take turns");
    run_with_priority(S_SETPRIO_3);
    cr_expect_lt(ended(1), ended(0));
    /* From its first move on it has every turn: MOVES of them, then s_endpgm. The other one has had
     * those before, and gets the rest. */
    cr_expect_eq(ended(0), fair[1]);
    cr_expect_geq(ended(0) - ended(1), 4 * (MOVES - 2));
}

/* ---- waiting ---- */

Test(compute_unit, vector_memory_waits_for_vmcnt)
{
    static const uint32_t words[] = {V_MOV_V1,  V_SHIFT_2,  V_ADD_DATA, DATA,
                                     FLAT_LOAD, 0x02000000, S_WAIT_VM};
    enum { LINES = 4 };
    set_up();
    load(0, words, sizeof words / 4);
    launch(ARRIVAL - 1, 0, 0, 1, one, 0);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    uint64_t load_at = first_issue(ARRIVAL, 0) + 3 * 4;
    /* The first request leaves vmem_latency later, the others a cycle behind each other. */
    uint64_t back = load_at + 6 + (LINES - 1) + 1 + VECTOR;
    uint64_t end = next_turn(back + 1, 0);
    cr_expect_eq(ended(0), end);
    struct work_account a = accounts();
    cr_expect_eq(a.slot_cycles[WORK_WAITING_VMCNT], end - (load_at + 8));
    cr_expect_eq(a.slot_cycles[WORK_ISSUED_VMEM], 4);
    cr_expect_eq(a.slot_cycles[WORK_ISSUED_OTHER], 4, "s_waitcnt");
    cr_expect_eq(a.vmem_lines, LINES);
    cr_expect_eq(a.vmem_issued, 1);
    cr_expect_eq(a.vmem_cycles, back - load_at);
}

Test(compute_unit, a_wavefront_that_ends_waits_for_its_stores)
{
    static const uint32_t words[] = {V_MOV_V1, V_SHIFT_2, V_ADD_DATA, DATA, FLAT_STORE, 0x00000200};
    set_up();
    load(0, words, sizeof words / 4);
    launch(ARRIVAL - 1, 0, 0, 1, one, 0);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    uint64_t store_at = first_issue(ARRIVAL, 0) + 3 * 4, end = store_at + 6 + 3 + 1 + VECTOR;
    cr_expect_eq(ended(0), end);
    cr_expect_eq(accounts().slot_cycles[WORK_WAITING_STORES], end - (store_at + 4));
}

Test(compute_unit, scalar_memory_waits_for_lgkmcnt)
{
    static const uint32_t words[] = {S_LOAD, 0, S_WAIT_LGKM};
    set_up();
    load(0, words, sizeof words / 4);
    launch(ARRIVAL - 1, 0, 0, 1, one, 0);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    uint64_t load_at = first_issue(ARRIVAL, 0), end = next_turn(load_at + 1 + SCALAR + 1, 0);
    cr_expect_eq(ended(0), end);
    struct work_account a = accounts();
    cr_expect_eq(a.slot_cycles[WORK_WAITING_LGKMCNT_SMEM], end - (load_at + 8));
    cr_expect_eq(a.slot_cycles[WORK_WAITING_LGKMCNT_LDS], 0);
}

Test(compute_unit, bank_conflicts_keep_the_lds)
{
    /* Lanes 128 bytes apart: all in one bank, so each half of the wavefront takes 32 cycles. */
    static const uint32_t words[] = {V_SHIFT_7, DS_WRITE,   0x00000100,
                                     DS_WRITE,  0x00000100, S_WAIT_LGKM};
    enum { BUSY = 64, CONFLICTS = 62 };
    set_up();
    load(0, words, sizeof words / 4);
    launch(ARRIVAL - 1, 0, 0, 1, one, 0);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    uint64_t first = first_issue(ARRIVAL, 0) + 4, second = first + BUSY;
    uint64_t end = next_turn(second + 14 + BUSY - 1 + 1, 0);
    cr_expect_eq(ended(0), end);
    struct work_account a = accounts();
    cr_expect_eq(a.lds_busy, 2 * BUSY);
    cr_expect_eq(a.lds_conflict, 2 * CONFLICTS);
    cr_expect_eq(a.slot_cycles[WORK_WAITING_LDS_CONFLICT], BUSY - 4,
                 "ready one turn after the first");
    cr_expect_eq(a.slot_cycles[WORK_WAITING_LDS], 0);
    cr_expect_eq(a.slot_cycles[WORK_WAITING_LGKMCNT_LDS], end - (second + 8));
}

Test(compute_unit, the_lds_works_for_one_at_a_time)
{
    static const struct work_wavefront two[] = {{.simd = 0, .slot = 0}, {.simd = 1, .slot = 0}};
    static const uint32_t words[] = {V_SHIFT_2, DS_WRITE, 0x00000100};
    enum { BUSY = 2 };
    set_up();
    load(0, words, sizeof words / 4);
    launch(ARRIVAL - 1, 0, 0, 2, two, 0);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    /* The second wavefront has its turn a cycle after the first, when the LDS still works: what it
     * issues begins a cycle later. */
    uint64_t first = first_issue(ARRIVAL, 0) + 4;
    cr_assert_eq(first_issue(ARRIVAL + 1, 1), first_issue(ARRIVAL, 0) + 1);
    cr_expect_eq(ended(0), first + BUSY + 14 + BUSY - 1);
    struct work_account a = accounts();
    cr_expect_eq(a.lds_busy, 2 * BUSY);
    cr_expect_eq(a.lds_conflict, 0);
    cr_expect_eq(a.slot_cycles[WORK_WAITING_LDS], 0);
    cr_expect_eq(a.slot_cycles[WORK_WAITING_LDS_CONFLICT], 0);
}

Test(compute_unit, all_simds_get_the_lds_in_turn)
{
    /* A wavefront on each SIMD writes twice with conflicts, 64 cycles each: nobody is served twice
     * before all were served once, so the first one to be done is so after five. */
    static const uint32_t words[] = {V_SHIFT_7, DS_WRITE,   0x00000100,
                                     DS_WRITE,  0x00000100, S_WAIT_LGKM};
    enum { SIMDS = 4, BUSY = 64 };
    set_up();
    load(0, words, sizeof words / 4);
    for (uint16_t s = 0; s < SIMDS; s++)
        launch(ARRIVAL - 1 + s, s, 0, 1, &(struct work_wavefront){.simd = (uint8_t)s}, 0);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    uint64_t first = first_issue(ARRIVAL, 0) + 4;
    for (uint16_t s = 0; s < SIMDS; s++) {
        uint64_t served = first + (uint64_t)(SIMDS + 1 + s) * BUSY;
        cr_expect_eq(ended(s), next_turn(served + 14, s), "SIMD %u ended at %llu", s,
                     (unsigned long long)ended(s));
    }
    cr_expect_eq(accounts().lds_busy, 2 * SIMDS * BUSY);
}

Test(compute_unit, a_barrier_waits_for_the_last)
{
    static const struct work_wavefront two[] = {{.simd = 0, .slot = 0}, {.simd = 0, .slot = 1}};
    static const uint32_t words[] = {S_BARRIER, S_NOP};
    set_up();
    load(0, words, sizeof words / 4);
    launch(ARRIVAL - 1, 0, 0, 2, two, 0);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    uint64_t first = first_issue(ARRIVAL, 0);
    struct work_account a = accounts();
    /* Six instructions of the same kind, one a turn: the first wavefront waits a turn at the
     * barrier, and holds its slot for a turn behind its end. */
    cr_expect_eq(a.slot_cycles[WORK_WAITING_BARRIER], 4);
    cr_expect_eq(ended(0), first + 5 * 4);
    cr_expect_eq(a.slot_cycles[WORK_ISSUED_OTHER], 4 * 4);
    cr_expect_eq(a.slot_cycles[WORK_WAITING_OTHER], 4 * 4,
                 "all but the first two were kept by another");
    cr_expect_eq(a.slot_cycles[WORK_WAITING_STORES], 0);
    cr_expect_eq(a.slot_cycles[WORK_ENDED], 4);
}

/* ---- the unit as a whole ---- */

Test(compute_unit, code_in_place_of_other_code_executes)
{
    /* Each lane stores the result of s_mov_b32 s4, 0, then of s_not_b32 s4, 0. */
    enum { TO_NOT = 4 << 8, V_MOV_S4 = 0x7e040204 };
    uint32_t words[] = {V_MOV_V1, V_SHIFT_2,  V_ADD_DATA, DATA,     S_MOV,
                        V_MOV_S4, FLAT_STORE, 0x00000200, S_WAIT_VM};
    set_up();
    for (uint16_t run = 0; run < 2; run++) {
        uint32_t stored[64];
        words[4] = S_MOV + run * TO_NOT;
        load(0, words, sizeof words / 4);
        launch(ARRIVAL - 1 + run * 1000u, run, 0, 1, one, run);
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        ended(run);
        memcpy(stored, harness_memory + DATA, sizeof stored);
        for (unsigned lane = 0; lane < 64; lane++)
            cr_assert_eq(stored[lane], run ? UINT32_MAX : 0, "lane %u has %u in run %u", lane,
                         stored[lane], run);
    }
}

Test(compute_unit, kernels_that_share_it_have_accounts_of_their_own)
{
    static const struct work_wavefront other[] = {{.simd = 1, .slot = 0}};
    enum { LATER = 100 };
    set_up();
    load_moves(0, S_SLEEP_1);
    launch(ARRIVAL - 1, 0, 0, 1, one, 5);
    launch(ARRIVAL - 1 + LATER, 1, 0, 1, other, 6);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    for (uint16_t tag = 0; tag < 2; tag++) {
        struct work_account a;
        memcpy(&a, harness_reply(dispatcher, tag)->payload, sizeof a);
        uint64_t arrival = ARRIVAL + (tag ? LATER : 0);
        cr_expect_eq(a.held, ended(tag) - arrival);
        cr_expect_eq(a.active, ended(tag) - arrival);
        cr_expect_eq(a.slot_cycles[WORK_ISSUED_VALU], 4 * MOVES);
    }
}

Test(compute_unit, no_order_of_ticks_changes_anything)
{
    static const struct work_wavefront four[] = {{.simd = 0, .slot = 0},
                                                 {.simd = 1, .slot = 0},
                                                 {.simd = 0, .slot = 1},
                                                 {.simd = 3, .slot = 0}};
    static const uint32_t words[] = {V_MOV_V1,   V_SHIFT_2, V_ADD_DATA, DATA,       FLAT_LOAD,
                                     0x02000000, S_LOAD,    0,          S_WAIT_VM,  S_BARRIER,
                                     V_RCP_F32,  DS_WRITE,  0x00000100, S_WAIT_LGKM};
    static struct harness_message expected;
    static const struct {
        int order;
        bool all;
    } runs[] = {{ENGINE_ASCENDING, false},
                {ENGINE_DESCENDING, false},
                {ENGINE_RANDOM, false},
                {ENGINE_ASCENDING, true}};
    for (size_t i = 0; i < ARRAY_COUNT(runs); i++) {
        set_up();
        harness_tick_order(runs[i].order, runs[i].all);
        load(0, words, sizeof words / 4);
        launch(ARRIVAL - 1, 0, 0, 4, four, 0);
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        accounts();
        if (i == 0)
            expected = *harness_reply(dispatcher, 0);
        cr_expect_arr_eq(harness_reply(dispatcher, 0), &expected, sizeof expected);
    }
}
