/* Re-timing (components/amd/compute_unit/cu_retime.c) against the oracle that it stands for: the
 * same program once more, with memory that loses nothing. Memory answers after a fixed time, part
 * of which its notes say is lost; the run is asked when it would have ended, and then it is run. */
#include "components/amd/compute_unit/cu_retime_port.h"
#include "cu_fixture.h"
#include "components/sampling/message_note.h"
#include "components/sampling/sampling_options.h"

enum { SCALAR_WARM = 32, VECTOR_WARM = 60 }; /* cycles of memory that loses nothing */

/* gfx803, as llvm-mc encodes it. */
enum {
    S_WAIT_VM_1 = 0xbf8c0f71u,
    V_ADDRESS = 0x7e0002ffu,   /* v_mov_b32 v0, literal */
    V_SHIFT_6 = 0x24000086u,   /* v_lshlrev_b32 v0, 6, v0 */
    V_CMP_FIRST = 0x7d9800c0u, /* v_cmp_gt_u32 vcc, 64, v0 */
    S_CBRANCH_VCCZ = 0xbf860000u,
    S_CBRANCH_VCCNZ = 0xbf870000u,
    V_FROM_S4 = 0x7e060204u, /* v_mov_b32 v3, s4 */
    LOADED = 0x02000000u,
    STORED = 0x00000200u
};

/* Cycles that answers of a port have lost in lines and in pages: no multiples of a turn. */
static const struct message_note vector_lost = {98, 199}, scalar_lost = {61, 0},
                                 code_lost = {0, 83};
static bool with_lines, with_pages;

static uint64_t lost(struct message_note note)
{
    return (uint64_t)((with_lines ? note.line : 0) + (with_pages ? note.page : 0));
}

static void answer(const struct harness_message *request, struct harness_message *reply,
                   struct message_note note)
{
    note.line = (int16_t)(with_lines ? note.line : 0);
    note.page = (int16_t)(with_pages ? note.page : 0);
    harness_answer_memory(request, reply);
    memcpy(reply->fields + MESSAGE_NOTE_AT, &note, sizeof note);
}

static uint16_t last_lead; /* of requests of vector memory */

static void answer_vector(const struct harness_message *request, struct harness_message *reply)
{
    memcpy(&last_lead, request->fields + MESSAGE_LEAD_AT, sizeof last_lead);
    answer(request, reply, vector_lost);
}

static void answer_scalar(const struct harness_message *request, struct harness_message *reply)
{
    answer(request, reply, scalar_lost);
}

static void answer_code(const struct harness_message *request, struct harness_message *reply)
{
    answer(request, reply, code_lost);
}

static void set_up_lossy(bool lines, bool pages)
{
    with_lines = lines;
    with_pages = pages;
    const struct cu_server servers[3] = {{VECTOR_WARM + lost(vector_lost), answer_vector},
                                         {SCALAR_WARM + lost(scalar_lost), answer_scalar},
                                         {FETCH + lost(code_lost), answer_code}};
    /* It is kept in runs with chosen kernels. */
    ((struct sampling *)(uintptr_t)platform_sampling())->kernels = "1";
    set_up_behind(&defaults, servers);
}

/* ---- programs ---- */

enum { WORDS = 512, GROUPS = 4 };

struct program {
    const char *name;
    unsigned groups, wavefronts; /* of a work-group; they start together */
    unsigned loads, moves;       /* in a row: loads that wait for each other, ALU behind each */
    bool scalar, barrier, store, overlapped, spread;
    bool uneven; /* the first wavefront loads, the others have the arithmetic behind a barrier */
    unsigned tolerance; /* cycles */
};

static uint32_t words[WORDS];

static unsigned write_program(const struct program *p)
{
    unsigned n = 0;
    words[n++] = V_MOV_V1;
    if (p->uneven)
        words[n++] = V_CMP_FIRST;
    if (p->spread)
        words[n++] = V_SHIFT_6;
    words[n++] = p->spread ? V_ADD_DATA : V_ADDRESS;
    words[n++] = DATA;
    if (p->scalar) {
        words[n++] = S_LOAD;
        words[n++] = 0;
        words[n++] = S_WAIT_LGKM;
        words[n++] = V_FROM_S4;
    }
    unsigned around = n;
    n += p->uneven;
    for (unsigned i = 0; i < p->loads; i++) {
        if (!p->spread) {
            words[n++] = V_ADDRESS;
            words[n++] = DATA + 64 * i;
        }
        words[n++] = FLAT_LOAD;
        words[n++] = LOADED;
        words[n++] = p->overlapped ? S_WAIT_VM_1 : S_WAIT_VM;
        words[n++] = p->overlapped ? V_MOV : S_WAIT_LGKM;
        if (p->barrier)
            words[n++] = S_BARRIER;
        for (unsigned m = 0; m < p->moves && !p->uneven; m++)
            words[n++] = V_MOV;
    }
    if (p->uneven) {
        words[around] = S_CBRANCH_VCCZ + (n - around - 1);
        words[n++] = S_BARRIER;
        words[n++] = S_CBRANCH_VCCNZ + p->moves;
        for (unsigned m = 0; m < p->moves; m++)
            words[n++] = V_MOV;
    }
    if (p->store) {
        words[n++] = FLAT_STORE;
        words[n++] = STORED;
    }
    cr_assert_leq(n, WORDS);
    return n;
}

static struct work_account run(const struct program *p, bool lines, bool pages)
{
    struct work_account last = {0};
    set_up_lossy(lines, pages);
    load(0, words, write_program(p));
    for (unsigned g = 0; g < p->groups; g++) {
        struct work_wavefront places[WORK_MAX_WAVEFRONTS] = {{0}};
        for (unsigned i = 0; i < p->wavefronts; i++)
            places[i] = (struct work_wavefront){.simd = (uint8_t)(i % 4),
                                                .slot = (uint8_t)((g * p->wavefronts + i) / 4)};
        launch(ARRIVAL - 1, (uint16_t)g, 0, p->wavefronts, places, 7);
    }
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_assert_eq(harness_count(dispatcher), p->groups);
    for (uint32_t i = 0; i < p->groups; i++) {
        struct work_account part;
        memcpy(&part, harness_log(dispatcher, i)->payload, sizeof part);
        last.ended = part.ended > last.ended ? part.ended : last.ended;
        for (unsigned s = 0; s < WORK_RETIMES; s++)
            if (part.retimed[s] > last.retimed[s])
                last.retimed[s] = part.retimed[s];
    }
    cr_assert_gt(last.ended, ARRIVAL, "%s: it keeps no account", p->name);
    return last;
}

static const struct program programs[] = {
    {"nothing but code", 1, 1, 0, 0, .tolerance = 0},
    {"a chain of loads", 1, 1, 12, 0, .tolerance = 0},
    {"with a scalar one", 1, 1, 12, 0, .scalar = true, .tolerance = 0},
    {"and arithmetic", 1, 1, 12, 9, .scalar = true, .store = true, .tolerance = 3},
    {"two loads under way", 1, 1, 12, 9, .overlapped = true, .tolerance = 8},
    {"a work-group", 1, 4, 8, 4, .scalar = true, .store = true, .tolerance = 8},
    {"with barriers", 1, 4, 8, 4, .scalar = true, .barrier = true, .tolerance = 8},
    {"one that the others wait for", 1, 4, 8, 60, .uneven = true, .tolerance = 8},
    {"all SIMDs", 4, 8, 8, 4, .scalar = true, .store = true, .tolerance = 32},
    {"arithmetic hides most loads", 2, 16, 4, 60, .tolerance = 32},
    {"a stream of 64 lines a load, the port is the limit", 1, 16, 12, 0, .spread = true,
     .tolerance = 128},
};

Test(retime, ends_when_memory_that_loses_nothing_would_have_had_it_end)
{
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        const struct program *p = &programs[i];
        struct work_account cold = run(p, true, true);
        const uint64_t truth[WORK_RETIMES] = {[WORK_RETIME_LINES] = run(p, false, true).ended,
                                              [WORK_RETIME_PAGES] = run(p, true, false).ended,
                                              [WORK_RETIME_BOTH] = run(p, false, false).ended};
        for (unsigned s = 0; s < WORK_RETIMES; s++) {
            cr_expect(cold.retimed[s] <= truth[s] + p->tolerance
                          && truth[s] <= cold.retimed[s] + p->tolerance,
                      "%s, %u: cold %llu, re-timed %llu, in truth %llu", p->name, s,
                      (unsigned long long)cold.ended, (unsigned long long)cold.retimed[s],
                      (unsigned long long)truth[s]);
            cr_expect_leq(cold.retimed[s], cold.ended, "%s", p->name);
        }
    }
}

Test(retime, a_run_that_lost_nothing_stays_as_it_is)
{
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        struct work_account warm = run(&programs[i], false, false);
        for (unsigned s = 0; s < WORK_RETIMES; s++)
            cr_expect_eq(warm.retimed[s], warm.ended, "%s", programs[i].name);
    }
}

/* What the last of a chain of loads leads by, and loses itself, is what the program ends earlier.
 */
Test(retime, requests_carry_the_lead_of_their_wavefront)
{
    const struct program p = {"a chain of loads", 1, 1, 12, 0, .tolerance = 0};
    for (unsigned lossy = 0; lossy < 2; lossy++) {
        struct work_account cold = run(&p, lossy, lossy);
        uint64_t early = cold.ended - cold.retimed[WORK_RETIME_BOTH];
        uint64_t own = lossy ? (uint64_t)(vector_lost.line + vector_lost.page) : 0;
        cr_expect(early <= last_lead + own + 4 && last_lead + own <= early + 4, /* a turn */
                  "%llu earlier, the last request %u, and it loses %llu", (unsigned long long)early,
                  last_lead, (unsigned long long)own);
        cr_expect(lossy == (last_lead > 0));
    }
}

/* Closed form: a port whose answers take 50 cycles, then one that lost 100, and one behind it. */
Test(retime, who_stood_behind_an_answer_is_as_early_as_it)
{
    static const struct {
        const char *name;
        uint64_t front, own; /* leads of who stands in front, and behind */
        uint64_t lost;
    } cases[] = {
        {"nobody leads", 0, 0, 100},
        {"who was behind has asked that much earlier", 0, 100, 0},
        {"or more", 0, 300, 0},
        {"or half of it", 0, 50, 50},
        {"both have", 30, 30, 100},
        {"the other has: but no more than was waited for him", 1000, 0, 110},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cu_retime_port p = {0};
        struct retime_lead none = {{0}}, front, own;
        for (unsigned s = 0; s < WORK_RETIMES; s++) {
            front.by[s] = cases[i].front;
            own.by[s] = cases[i].own;
        }
        const struct message_note loss = {100, 0}, nothing = {0, 0};
        cr_assert_eq(retime_lost(&p, 1000, &none, nothing, 1050).by[WORK_RETIME_BOTH], 0);
        cr_assert_eq(retime_lost(&p, 2000, &front, loss, 2150).by[WORK_RETIME_BOTH], 100);
        uint64_t lost = retime_lost(&p, 2000, &own, nothing, 2160).by[WORK_RETIME_BOTH];
        cr_expect_eq(lost, cases[i].lost, "%s: %llu", cases[i].name, (unsigned long long)lost);
    }
}
