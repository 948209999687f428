/* A compute unit with its dispatcher and memory, for tests of it through its ports. Instruction
 * words are llvm-mc's. Included by the tests. */
#ifndef HEDDLE_TESTS_COMPONENTS_AMD_COMPUTE_UNIT_CU_FIXTURE_H
#define HEDDLE_TESTS_COMPONENTS_AMD_COMPUTE_UNIT_CU_FIXTURE_H

#include "compute_unit.gen.h"
#include "work.gen.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/number.h"
#include "components/memory/page_table/program_table.h"
#include "components/protocols/work/work_cycles.h"
#include "components/protocols/work/work_placement.h"

#define OWNER_STORE  struct program_table
#define OWNER_SOURCE "cu_fixture.h"
#include "tests/components/owner.h"

extern const struct unit_type compute_unit__generic;

enum {
    CODE = 0x20000,
    DATA = 0x10000,
    FETCH = 20, /* cycles that memory takes for instructions, scalars, vectors */
    SCALAR = 30,
    VECTOR = 100,
    ARRIVAL = 40 + 1, /* sent in cycle 40 over a wire of one cycle */
    PROGRAM_STRIDE = 0x1000
};

/* gfx803, as llvm-mc encodes it. */
enum {
    S_NOP = 0xbf800000u,
    S_ENDPGM = 0xbf810000u,
    S_BARRIER = 0xbf8a0000u,
    S_WAIT_VM = 0xbf8c0f70u,   /* s_waitcnt vmcnt(0) */
    S_WAIT_LGKM = 0xbf8c007fu, /* s_waitcnt lgkmcnt(0) */
    S_SETPRIO_3 = 0xbf8f0003u,
    S_SETPRIO_0 = 0xbf8f0000u,
    S_SLEEP_1 = 0xbf8e0001u,
    S_MOV = 0xbe840080u,      /* s_mov_b32 s4, 0 */
    S_BRANCH_1 = 0xbf820001u, /* over the next word */
    S_CMP_EQ = 0xbf060404u,   /* s_cmp_eq_u32 s4, s4 */
    S_CBRANCH_SCC0 = 0xbf840001u,
    V_MOV = 0x7e040280u,    /* v_mov_b32 v2, 0 */
    V_MOV_V1 = 0x7e020280u, /* v_mov_b32 v1, 0 */
    V_RCP_F32 = 0x7e044500u,
    V_MUL_LO = 0xd2850002u,
    V_ADD_F64 = 0xd2800002u,
    V_MUL_F64 = 0xd2810002u,
    V_RCP_F64 = 0x7e044b04u,
    V_SHIFT_7 = 0x24000087u, /* v_lshlrev_b32 v0, 7, v0 */
    V_SHIFT_2 = 0x24000082u,
    V_ADD_DATA = 0x320000ffu, /* v_add_u32 v0, vcc, literal, v0 */
    DS_WRITE = 0xd81a0000u,   /* ds_write_b32 v0, v1 */
    FLAT_LOAD = 0xdc500000u,  /* flat_load_dword v2, v[0:1] */
    FLAT_STORE = 0xdc700000u,
    S_LOAD = 0xc0020100u /* s_load_dword s4, s[0:1], 0 */
};

/* gfx90a: v_mfma_f32_... v[4:7], v[0:1], v[2:3], v[4:7] */
enum {
    V_MFMA_16X16 = 0xd3cd0004u, /* 16x16x16f16: 8 passes */
    V_MFMA_4X4 = 0xd3ca0004u,   /* 4x4x4f16: 2 passes */
    V_MFMA_SOURCES = 0x04120500u
};

/* ---- who owns the table of allocations ---- */

static inline void owner_fill(struct program_table *table)
{
    program_add_allocation(table,
                           &(struct program_allocation){.start = DATA, .end = DATA + 0x10000});
    program_add_allocation(table,
                           &(struct program_allocation){.start = CODE, .end = CODE + 0x10000});
    program_kernel(table, "test", "test");
}

static const struct build_port ports[] = {{"work", BUILD_IN, false},
                                          {"vmem", BUILD_OUT, false},
                                          {"smem", BUILD_OUT, false},
                                          {"imem", BUILD_OUT, false}};
static const struct build_type type = {
    .unit = &compute_unit__generic, .ports = ports, .port_count = 4, .store_count = 1};

static const struct compute_unit_params defaults = {.simds = 4,
                                                    .wavefronts = 10,
                                                    .vgprs = 256,
                                                    .sgprs = 800,
                                                    .lds = 65536,
                                                    .full_rate = 4,
                                                    .conversion = 4,
                                                    .integer_multiply = 16,
                                                    .quarter_rate = 16,
                                                    .transcendental = 16,
                                                    .f64_add = 32,
                                                    .f64_multiply = 64,
                                                    .f64_transcendental = 72,
                                                    .fetch_latency = 1,
                                                    .scalar_latency = 4,
                                                    .branch_latency = 16,
                                                    .branch_not_taken = 4,
                                                    .lds_latency = 14,
                                                    .lds_write_cycles = 1,
                                                    .vmem_latency = 6,
                                                    .vmem_width = 1,
                                                    .vmem_queue = 64,
                                                    .instruction_buffer = 64};

static uint32_t unit, dispatcher;

/* Owners of nothing, which have no state: with many, the platform is a large one. */
static inline void bystander_init(void *instance)
{
    (void)instance;
}

static const struct unit_type bystander_unit = {
    .name = "bystander",
    .source = OWNER_SOURCE,
    .instance_bytes = sizeof(struct owner),
    .io_words_offset = sizeof(struct component),
    .init = bystander_init,
    .tick = owner_tick_one,
    .walk = owner_walk,
    .outstanding = owner_outstanding_one,
};
static const struct build_type bystander_type = {.unit = &bystander_unit};
static uint32_t bystanders;

/* Memory as one of the ports sees it. */
struct cu_server {
    uint64_t latency;
    harness_answer *answer;
};

/* `servers` stand behind vmem, smem, imem. */
static inline void set_up_behind(const struct compute_unit_params *params,
                                 const struct cu_server servers[3])
{
    int64_t values[sizeof *params / sizeof(int64_t)];
    memcpy(values, params, sizeof *params);
    harness_start();
    build_instance(&owner_type, 0, "owner", NULL, NULL, 0);
    unit = build_instance(&type, 0, "cu", values, NULL, ARRAY_COUNT(values));
    dispatcher = harness_requester();
    for (uint32_t i = 0; i < bystanders; i++)
        build_instance(&bystander_type, 0, "bystander", NULL, NULL, 0);
    harness_wire(HARNESS_WORK, (struct build_end){dispatcher, 0, 0}, (struct build_end){unit, 0, 0},
                 20, 1, 1);
    for (uint8_t i = 0; i < 3; i++) {
        uint32_t server = harness_server(servers[i].latency, servers[i].answer);
        harness_wire(HARNESS_MEM, (struct build_end){unit, (uint8_t)(i + 1), 0},
                     (struct build_end){server, 0, 0}, 64, 4, 1);
    }
    harness_build();
}

static inline void set_up_with(const struct compute_unit_params *params)
{
    static const struct cu_server servers[3] = {{VECTOR, harness_answer_memory},
                                                {SCALAR, harness_answer_memory},
                                                {FETCH, harness_answer_memory}};
    set_up_behind(params, servers);
}

static inline void set_up(void)
{
    set_up_with(&defaults);
}

/* Program `number`, ended by s_endpgm. */
static inline void load(unsigned number, const uint32_t *words, size_t count)
{
    uint8_t *to = harness_memory + CODE + number * PROGRAM_STRIDE;
    const uint32_t end = S_ENDPGM;
    memcpy(to, words, count * 4);
    memcpy(to + count * 4, &end, 4);
}

/* Registers of a wavefront. */
static unsigned launch_vgprs = 8, launch_agprs;

/* One work-group of `wavefronts` on the SIMDs and slots given, running program `number`. */
static inline void launch(uint64_t cycle, uint16_t tag, unsigned number, unsigned wavefronts,
                          const struct work_wavefront *places, uint32_t dispatch)
{
    struct work_placement p = {.entry = CODE + number * PROGRAM_STRIDE,
                               .kernarg = DATA,
                               .properties = 1u << 3,
                               .rsrc2 = 2u << 1,
                               .pid = 1,
                               .grid = {64 * wavefronts, 1, 1},
                               .block = {(uint16_t)(64 * wavefronts), 1, 1},
                               .items = {(uint16_t)(64 * wavefronts), 1, 1},
                               .lds_bytes = 16384,
                               .vgprs = (uint16_t)(launch_vgprs + launch_agprs),
                               .accum_offset = launch_vgprs,
                               .sgprs = 16,
                               .wavefronts = (uint16_t)wavefronts,
                               .work_group_slot = tag,
                               .dispatch_id = dispatch};
    struct harness_message m = {.cycle = cycle, .tag = tag, .kind = WORK_MAP};
    for (unsigned i = 0; i < wavefronts; i++) {
        p.wavefront[i] = places[i];
        if (!places[i].vgpr)
            p.wavefront[i].vgpr = (uint16_t)(p.vgprs * places[i].slot);
    }
    p.lds_offset = 16384u * tag;
    memcpy(m.payload, &p, sizeof p);
    harness_send(dispatcher, &m);
}

static inline uint64_t ended(uint16_t tag)
{
    const struct harness_message *reply = harness_reply(dispatcher, tag);
    cr_assert_not_null(reply, "work-group %u has not ended", tag);
    return reply->cycle - 1; /* the wire */
}

/* What all replies have told, after checking that it adds up to the time the work-groups were
 * there. */
static inline struct work_account accounts(void)
{
    struct work_account all = {0};
    uint64_t sum = 0;
    for (uint32_t i = 0; i < harness_count(dispatcher); i++) {
        struct work_account part;
        memcpy(&part, harness_log(dispatcher, i)->payload, sizeof part);
        for (unsigned k = 0; k < WORK_CYCLES_KINDS; k++)
            all.slot_cycles[k] += part.slot_cycles[k];
        all.held += part.held;
        all.active += part.active;
        all.lds_busy += part.lds_busy;
        all.lds_conflict += part.lds_conflict;
        all.vmem_lines += part.vmem_lines;
        all.vmem_issued += part.vmem_issued;
        all.vmem_cycles += part.vmem_cycles;
        all.scratch_lines += part.scratch_lines;
        all.valu_idle_lanes += part.valu_idle_lanes;
    }
    for (unsigned k = 0; k < WORK_CYCLES_KINDS; k++)
        sum += all.slot_cycles[k];
    cr_assert_eq(sum, all.held, "%llu slot-cycles of %llu", (unsigned long long)sum,
                 (unsigned long long)all.held);
    return all;
}

static inline uint64_t next_turn(uint64_t cycle, unsigned simd)
{
    return cycle + (4 + simd - cycle % 4) % 4;
}

/* First issue of a wavefront: its line is asked for in the cycle of its arrival, goes over a wire
 * and back, and is decoded in the cycle before the turn. */
static inline uint64_t first_issue(uint64_t arrival, unsigned simd)
{
    return next_turn(arrival + 1 + FETCH + 1, simd);
}

static const struct work_wavefront one[] = {{.simd = 0, .slot = 0}};

#endif
