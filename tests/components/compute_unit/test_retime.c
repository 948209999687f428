/* Re-timing (components/compute_unit/retime.h) against the oracle that it stands for: the same
 * program once more, with memory that loses nothing. Memory answers after a fixed time, part of
 * which its notes say is lost; the run is asked when it would have ended, and then it is run. */
#include <criterion/criterion.h>
#include <string.h>

#include "components/driver/program_table.h"
#include "components/work/work_cycles.h"
#include "components/work/work_placement.h"
#include "compute_unit.gen.h"
#include "runtime/message_note.h"
#include "runtime/sampling.h"
#include "work.gen.h"

#define OWNER_STORE  struct program_table
#define OWNER_SOURCE "test_retime.c"
#include "tests/components/owner.h"

extern const struct unit_type compute_unit__generic;

enum { CODE = 0x20000, DATA = 0x10000, ARRIVAL = 41, FETCH = 20, SCALAR = 32, VECTOR = 60 };

/* gfx803, as llvm-mc encodes it. */
enum {
    S_ENDPGM = 0xbf810000u,
    S_BARRIER = 0xbf8a0000u,
    S_WAIT_VM = 0xbf8c0f70u,
    S_WAIT_VM_1 = 0xbf8c0f71u,
    S_WAIT_LGKM = 0xbf8c007fu,
    V_MOV = 0x7e040280u, /* v_mov_b32 v2, 0 */
    V_ZERO = 0x7e020280u,
    V_ADDRESS = 0x7e0002ffu, /* v_mov_b32 v0, literal */
    V_SHIFT_6 = 0x24000086u, /* v_lshlrev_b32 v0, 6, v0 */
    V_ADD = 0x320000ffu,     /* v_add_u32 v0, vcc, literal, v0 */
    V_FROM_S4 = 0x7e060204u, /* v_mov_b32 v3, s4 */
    FLAT_LOAD = 0xdc500000u, /* flat_load_dword v2, v[0:1] */
    LOADED = 0x02000000u,
    FLAT_STORE = 0xdc700000u,
    STORED = 0x00000200u,
    S_LOAD = 0xc0020100u /* s_load_dword s4, s[0:1], 0 */
};

static void owner_fill(struct program_table *table)
{
    program_add(table, &(struct program_allocation){.start = DATA, .end = DATA + 0x10000});
    program_add(table, &(struct program_allocation){.start = CODE, .end = CODE + 0x10000});
    program_kernel(table, "test", "test");
}

/* Cycles that answers of a port have lost in lines and in pages. */
static const struct message_note vector_lost = {100, 200}, scalar_lost = {60, 0},
                                 code_lost = {0, 80};
static bool with_lines, with_pages;

static uint64_t lost(struct message_note note)
{
    return (with_lines ? note.line : 0u) + (with_pages ? note.page : 0u);
}

static void answer(const struct harness_message *request, struct harness_message *reply,
                   struct message_note note)
{
    note.line = with_lines ? note.line : 0;
    note.page = with_pages ? note.page : 0;
    harness_answer_memory(request, reply);
    memcpy(reply->fields + MESSAGE_NOTE_AT, &note, sizeof note);
}

static void answer_vector(const struct harness_message *request, struct harness_message *reply)
{
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

static uint32_t dispatcher;

static void set_up(bool lines, bool pages)
{
    static const struct build_port ports[] = {{"work", BUILD_IN, false},
                                              {"vmem", BUILD_OUT, false},
                                              {"smem", BUILD_OUT, false},
                                              {"imem", BUILD_OUT, false}};
    static const struct build_type type = {
        .unit = &compute_unit__generic, .ports = ports, .port_count = 4, .store_count = 1};
    static const struct compute_unit_params params = {.simds = 4,
                                                      .wavefronts = 10,
                                                      .vgprs = 256,
                                                      .sgprs = 800,
                                                      .lds = 65536,
                                                      .full_rate = 4,
                                                      .quarter_rate = 16,
                                                      .transcendental = 16,
                                                      .f64_add = 32,
                                                      .f64_multiply = 64,
                                                      .f64_transcendental = 72,
                                                      .scalar_latency = 4,
                                                      .branch_latency = 16,
                                                      .branch_not_taken = 4,
                                                      .lds_latency = 14,
                                                      .vmem_latency = 6,
                                                      .vmem_width = 1,
                                                      .vmem_queue = 64,
                                                      .instruction_buffer = 64};
    int64_t values[sizeof params / sizeof(int64_t)];
    memcpy(values, &params, sizeof params);
    with_lines = lines;
    with_pages = pages;
    /* It is kept in runs with chosen kernels. */
    ((struct sampling *)(uintptr_t)platform_sampling())->kernels = "1";
    harness_start();
    build_instance(&owner_type, 0, "owner", NULL, NULL, 0);
    uint32_t unit = build_instance(&type, 0, "cu", values, NULL, sizeof values / sizeof values[0]);
    dispatcher = harness_requester();
    uint32_t server[] = {harness_server(VECTOR + lost(vector_lost), answer_vector),
                         harness_server(SCALAR + lost(scalar_lost), answer_scalar),
                         harness_server(FETCH + lost(code_lost), answer_code)};
    harness_wire(HARNESS_WORK, (struct build_end){dispatcher, 0, 0}, (struct build_end){unit, 0, 0},
                 20, 1, 1);
    for (uint8_t i = 0; i < 3; i++)
        harness_wire(HARNESS_MEM, (struct build_end){unit, (uint8_t)(i + 1), 0},
                     (struct build_end){server[i], 0, 0}, 64, 4, 1);
    harness_build();
}

/* ---- programs ---- */

enum { WORDS = 512, GROUPS = 4 };

struct program {
    const char *name;
    unsigned groups, wavefronts; /* of a work-group; they start together */
    unsigned loads, moves;       /* in a row: loads that wait for each other, ALU behind each */
    bool scalar, barrier, store, overlapped, spread;
    unsigned tolerance; /* cycles */
};

static uint32_t words[WORDS];

static unsigned write_program(const struct program *p)
{
    unsigned n = 0;
    words[n++] = V_ZERO;
    if (p->spread)
        words[n++] = V_SHIFT_6;
    words[n++] = p->spread ? V_ADD : V_ADDRESS;
    words[n++] = DATA;
    if (p->scalar) {
        words[n++] = S_LOAD;
        words[n++] = 0;
        words[n++] = S_WAIT_LGKM;
        words[n++] = V_FROM_S4;
    }
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
        for (unsigned m = 0; m < p->moves; m++)
            words[n++] = V_MOV;
    }
    if (p->store) {
        words[n++] = FLAT_STORE;
        words[n++] = STORED;
    }
    words[n++] = S_ENDPGM;
    cr_assert_leq(n, WORDS);
    return n;
}

static struct work_account run(const struct program *p, bool lines, bool pages)
{
    struct work_account last = {0};
    set_up(lines, pages);
    memcpy(harness_memory + CODE, words, write_program(p) * sizeof words[0]);
    for (unsigned g = 0; g < p->groups; g++) {
        struct work_placement place = {.entry = CODE,
                                       .kernarg = DATA,
                                       .properties = 1u << 3,
                                       .rsrc2 = 2u << 1,
                                       .pid = 1,
                                       .grid = {64 * p->wavefronts, 1, 1},
                                       .block = {(uint16_t)(64 * p->wavefronts), 1, 1},
                                       .items = {(uint16_t)(64 * p->wavefronts), 1, 1},
                                       .vgprs = 8,
                                       .sgprs = 16,
                                       .wavefronts = (uint16_t)p->wavefronts,
                                       .work_group_slot = (uint16_t)g,
                                       .dispatch_id = 7};
        struct harness_message m = {.cycle = ARRIVAL - 1, .tag = (uint16_t)g, .kind = WORK_MAP};
        for (unsigned i = 0; i < p->wavefronts; i++) {
            unsigned slot = (g * p->wavefronts + i) / 4;
            place.wavefront[i] = (struct work_wavefront){
                .simd = (uint8_t)(i % 4), .slot = (uint8_t)slot, .vgpr = (uint16_t)(8 * slot)};
        }
        memcpy(m.payload, &place, sizeof place);
        harness_send(dispatcher, &m);
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
    {"and arithmetic", 1, 1, 12, 9, .scalar = true, .store = true, .tolerance = 0},
    {"two loads under way", 1, 1, 12, 9, .overlapped = true, .tolerance = 8},
    {"a work-group", 1, 4, 8, 4, .scalar = true, .store = true, .tolerance = 8},
    {"with barriers", 1, 4, 8, 4, .scalar = true, .barrier = true, .tolerance = 8},
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
