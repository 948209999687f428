/* The streaming multiprocessor through its ports: a block arrives, memory answers after a fixed
 * time, and everything that happens in between follows from the parameters. Expected cycles are
 * closed forms of the pipeline: an instruction that issues at t is in its unit at t + 3, its result
 * can be used `latency` + 2 cycles later; the memory unit begins with one at t + 4. */
#include "sector_control.gen.h"
#include "sector_mem.gen.h"
#include "streaming_multiprocessor.gen.h"
#include "thread_block.gen.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/number.h"
#include "components/nvidia/trace_player/trace_writer.c"

#define OWNER_STORE  struct trace_stream
#define OWNER_SOURCE "test_streaming_multiprocessor.c"
#include "runtime/engine/run_control.h"
#include "tests/components/owner.h"

extern const struct unit_type streaming_multiprocessor__generic;

enum {
    ARRIVAL = 41,        /* sent in cycle 40 over a wire of one cycle */
    FIRST = ARRIVAL + 2, /* fetched in the cycle behind the arrival, issued behind that */
    MEMORY = 100,        /* cycles from a request's arrival to its answer */
    LINE = 0x10000,
    ALU = 2,
    OVER = 5, /* what an instruction takes beside its latency */
    INSTS_MAX = 64,
    STEPS_MAX = 400
};

/* ---- programs: what the store holds ---- */

struct step {
    uint16_t inst;
    uint32_t mask;
    enum trace_space space;
    unsigned count; /* addresses */
    uint64_t address[32];
};

struct program {
    uint32_t threads, carve;
    struct {
        unsigned count;
        struct step step[STEPS_MAX];
    } warp[TRACE_WARPS];
};

static struct trace_inst insts[INSTS_MAX];
static uint16_t inst_count;
static struct program programs[4];

static uint16_t inst(unsigned unit, unsigned kind, int destination, int a, int b, int c)
{
    const int from[] = {a, b, c};
    struct trace_inst *i = &insts[inst_count];
    unsigned n = 0;
    *i = (struct trace_inst){.unit = (uint8_t)unit, .kind = (uint8_t)kind, .width = 4};
    i->destination = destination < 0 ? TRACE_REGISTER_NONE : (uint16_t)destination;
    for (unsigned s = 0; s < 3; s++)
        if (from[s] >= 0)
            i->source[n++] = (uint16_t)from[s];
    while (n < TRACE_SOURCES)
        i->source[n++] = TRACE_REGISTER_NONE;
    return inst_count++;
}

static struct step *add(unsigned program, unsigned warp, uint16_t instruction)
{
    struct step *s = &programs[program].warp[warp].step[programs[program].warp[warp].count++];
    *s = (struct step){.inst = instruction, .mask = UINT32_MAX};
    if (programs[program].threads < 32 * (warp + 1))
        programs[program].threads = 32 * (warp + 1);
    return s;
}

/* All 32 lanes, `stride` bytes apart. */
static struct step *add_access(unsigned program, unsigned warp, uint16_t instruction,
                               enum trace_space space, uint64_t base, uint64_t stride)
{
    struct step *s = add(program, warp, instruction);
    s->space = space;
    s->count = 32;
    for (unsigned i = 0; i < 32; i++)
        s->address[i] = base + i * stride;
    return s;
}

static void write_warp(struct trace_writer *w, struct trace_stream *stream, struct trace_block *b,
                       uint32_t *at, const struct program *p, unsigned warp)
{
    for (unsigned i = 0; i < p->warp[warp].count; i++) {
        const struct step *from = &p->warp[warp].step[i];
        struct itrace_step s = {.mask = from->mask, .mode = ITRACE_MODE_LIST, .count = from->count};
        uint32_t words[TRACE_RECORD];
        memcpy(s.address, from->address, sizeof from->address);
        unsigned length = trace_writer_record(words, from->inst, &s, from->space);
        uint32_t to = trace_writer_room(w, stream, b, *at, length);
        memcpy(trace_writer_word(stream, to), words, length * sizeof words[0]);
        if (!b->warp[warp].count++)
            b->warp[warp].at = to;
        *at = to + length;
    }
}

static void owner_fill(struct trace_stream *stream)
{
    struct trace_writer w = {0};
    trace_writer_init(&w, stream, 1 << 20, 4);
    uint32_t table = arena_allocate(sizeof insts);
    memcpy(arena_at(struct trace_inst, table), insts, sizeof insts);
    for (unsigned i = 0; i < 4; i++) {
        struct trace_block *b = arena_at(struct trace_block, stream->blocks_at) + i;
        *b = (struct trace_block){.insts_at = table,
                                  .carve = programs[i].carve,
                                  .threads = programs[i].threads,
                                  .warps = programs[i].threads / 32};
        b->first = b->last = trace_writer_copy(&w, stream);
        uint32_t at = b->first * TRACE_CHUNK;
        for (unsigned k = 0; k < b->warps; k++)
            write_warp(&w, stream, b, &at, &programs[i], k);
    }
}

/* ---- the bench ---- */

static const struct build_port ports[] = {
    {"work", BUILD_IN, false}, {"mem", BUILD_OUT, false}, {"control", BUILD_OUT, false}};
static const char *const parts[] = {"loose_round_robin"};
static const struct build_type type = {.unit = &streaming_multiprocessor__generic,
                                       .ports = ports,
                                       .port_count = 3,
                                       .parts = parts,
                                       .part_count = 1,
                                       .store_count = 1};

static const struct streaming_multiprocessor_params defaults = {.sub_cores = 4,
                                                                .warps = 64,
                                                                .buffer = 2,
                                                                .fetch = 4,
                                                                .collectors = 2,
                                                                .banks = 2,
                                                                .bank_reads = 2,
                                                                .fp32_latency = ALU,
                                                                .fp32_interval = 1,
                                                                .int_latency = ALU,
                                                                .int_interval = 2,
                                                                .sfu_latency = 21,
                                                                .sfu_interval = 8,
                                                                .fp64_latency = 64,
                                                                .fp64_interval = 64,
                                                                .tensor_latency = 32,
                                                                .tensor_interval = 32,
                                                                .branch_latency = 4,
                                                                .branch_interval = 4,
                                                                .texture_latency = 200,
                                                                .texture_interval = 4,
                                                                .uniform_latency = 4,
                                                                .uniform_interval = 1,
                                                                .shared_latency = 29,
                                                                .shared_banks = 32,
                                                                .memory_queue = 4,
                                                                .in_flight = 256,
                                                                .requests = 4};

static uint32_t unit, player, memory, control;

static void answer_memory(const struct harness_message *request, struct harness_message *reply)
{
    bool data = request->kind == SECTOR_MEM_LOAD || request->kind == SECTOR_MEM_ATOMIC;
    reply->kind = data ? SECTOR_MEM_DATA : SECTOR_MEM_DONE;
}

static void answer_control(const struct harness_message *request, struct harness_message *reply)
{
    (void)request;
    reply->kind = SECTOR_CONTROL_FINISHED;
}

static void forget(void)
{
    memset(programs, 0, sizeof programs);
    inst_count = 0;
}

static void set_up(const struct streaming_multiprocessor_params *params)
{
    int64_t values[sizeof *params / sizeof(int64_t)];
    memcpy(values, params, sizeof *params);
    harness_start();
    build_instance(&owner_type, 0, "owner", NULL, NULL, 0);
    unit = build_instance(&type, 0, "sm", values, NULL, ARRAY_COUNT(values));
    player = harness_requester();
    memory = harness_server(MEMORY, answer_memory);
    control = harness_server(10, answer_control);
    harness_wire(HARNESS_BLOCK, (struct build_end){player, 0, 0}, (struct build_end){unit, 0, 0},
                 64, 1, 1);
    harness_wire(HARNESS_SECTOR, (struct build_end){unit, 1, 0}, (struct build_end){memory, 0, 0},
                 256, 4, 1);
    harness_wire(HARNESS_SECTOR_CONTROL, (struct build_end){unit, 2, 0},
                 (struct build_end){control, 0, 0}, 4, 1, 1);
    harness_build();
}

static void launch(uint64_t arrival, uint32_t program)
{
    struct thread_block_request r = {0};
    struct harness_message m = {
        .cycle = arrival - 1, .tag = (uint16_t)program, .kind = THREAD_BLOCK_RUN};
    r.run.block = program;
    memcpy(m.fields, r.fields, sizeof m.fields);
    harness_send(player, &m);
}

static void run(void)
{
    cr_assert_eq(harness_run(), ENGINE_IDLE);
}

/* The cycle in which block `program` was over. */
static uint64_t ended(uint32_t program)
{
    const struct harness_message *reply = harness_reply(player, (uint16_t)program);
    cr_assert_not_null(reply, "block %u has not ended", program);
    return reply->cycle - 1; /* the wire */
}

static const struct streaming_multiprocessor_stats *stats(void)
{
    return &((const struct streaming_multiprocessor_io *)harness_instance(unit))->stats;
}

/* Runs block 0 with the parameters given; the cycles from its first issue to its end. */
static uint64_t run_alone(const struct streaming_multiprocessor_params *params)
{
    set_up(params);
    launch(ARRIVAL, 0);
    run();
    return ended(0) - FIRST;
}

/* ---- units ---- */

static const struct rate {
    const char *name;
    enum trace_unit unit;
    unsigned latency, interval;
} rates[] = {{"fp32", TRACE_FP32, ALU, 1},       {"int", TRACE_INT, ALU, 2},
             {"sfu", TRACE_SFU, 21, 8},          {"fp64", TRACE_FP64, 64, 64},
             {"tensor", TRACE_TENSOR, 32, 32},   {"branch", TRACE_BRANCH, 4, 4},
             {"texture", TRACE_TEXTURE, 200, 4}, {"uniform", TRACE_UNIFORM, 4, 1}};

Test(streaming_multiprocessor, a_chain_takes_the_latency_of_its_unit_each_time)
{
    enum { LENGTH = 13 };
    for (size_t r = 0; r < ARRAY_COUNT(rates); r++) {
        forget();
        uint16_t next = inst(rates[r].unit, TRACE_COMPUTE, 4, 4, 5, -1);
        for (unsigned i = 0; i < LENGTH; i++)
            add(0, 0, next);
        uint64_t step = rates[r].latency + OVER;
        step = max(step, rates[r].interval);
        cr_expect_eq(run_alone(&defaults), (LENGTH - 1) * step + rates[r].latency + OVER, "%s",
                     rates[r].name);
        cr_expect_eq(stats()->instructions, LENGTH);
        cr_expect_eq(stats()->thread_instructions, 32 * LENGTH);
    }
}

/* With latencies that were measured the stages do not count, however many operands there are. */
Test(streaming_multiprocessor, a_chain_takes_what_was_measured_when_it_is_told)
{
    static const struct {
        enum trace_unit unit;
        uint64_t chain;
    } cases[] = {{TRACE_FP32, 4}, {TRACE_INT, 6}, {TRACE_SFU, 21 + OVER}};
    enum { LENGTH = 13 };
    struct streaming_multiprocessor_params params = defaults;
    params.dependent = STREAMING_MULTIPROCESSOR_DEPENDENT_MEASURED;
    params.fp32_chain = 4;
    params.int_chain = 6;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        forget();
        int third = cases[i].unit == TRACE_SFU ? -1 : 6;
        uint16_t next = inst(cases[i].unit, TRACE_COMPUTE, 4, 4, 5, third);
        for (unsigned n = 0; n < LENGTH; n++)
            add(0, 0, next);
        cr_expect_eq(run_alone(&params), LENGTH * cases[i].chain, "case %zu", i);
    }
}

/* What does not depend on each other issues each cycle, and is served each interval. */
Test(streaming_multiprocessor, independent_instructions_take_the_interval_of_their_unit)
{
    enum { LENGTH = 40 };
    for (size_t r = 0; r < ARRAY_COUNT(rates); r++) {
        forget();
        for (unsigned i = 0; i < LENGTH; i++)
            add(0, 0, inst(rates[r].unit, TRACE_COMPUTE, (int)(10 + i), 2, -1, -1));
        cr_expect_eq(run_alone(&defaults),
                     (LENGTH - 1) * rates[r].interval + rates[r].latency + OVER, "%s",
                     rates[r].name);
    }
}

/* Four warps on four sub-cores take no longer than one; two on one sub-core share its units. */
Test(streaming_multiprocessor, sub_cores_have_units_of_their_own)
{
    enum { LENGTH = 32 };
    for (unsigned warps = 1; warps <= 8; warps++) {
        forget();
        uint16_t move = inst(TRACE_INT, TRACE_COMPUTE, 3, 2, -1, -1);
        for (unsigned w = 0; w < warps; w++)
            for (unsigned i = 0; i < LENGTH; i++)
                add(0, w,
                    inst_count < 40 ? inst(TRACE_INT, TRACE_COMPUTE, (int)(10 + i), 2, -1, -1)
                                    : (uint16_t)(move + 1 + i));
        unsigned most = divide_up(warps, 4); /* warps of a sub-core */
        uint64_t taken = run_alone(&defaults);
        uint64_t expected = (most * LENGTH - 1) * 2 + ALU + OVER;
        /* The fifth warp is fetched a cycle behind the first four. */
        cr_expect(taken >= expected && taken <= expected + 1, "%u warps: %llu cycles, not %llu",
                  warps, (unsigned long long)taken, (unsigned long long)expected);
    }
}

/* ---- scoreboard ---- */

static const struct hazard {
    const char *name;
    int destination, source;
    bool waits;
} hazards[] = {{"reads what is written", 6, 4, true},
               {"writes what is written", 4, 7, true},
               {"writes what is read", 5, 7, false},
               {"reads what is read", 6, 5, false},
               {"uniform registers are others", 6, 256 + 4, false}};

Test(streaming_multiprocessor, registers_that_are_pending_are_waited_for)
{
    for (size_t h = 0; h < ARRAY_COUNT(hazards); h++) {
        forget();
        add(0, 0, inst(TRACE_SFU, TRACE_COMPUTE, 4, 5, -1, -1));
        add(0, 0,
            inst(TRACE_FP32, TRACE_COMPUTE, hazards[h].destination, hazards[h].source, -1, -1));
        uint64_t expected = hazards[h].waits ? 21 + OVER + ALU + OVER : 21 + OVER;
        cr_expect_eq(run_alone(&defaults), expected, "%s", hazards[h].name);
    }
}

Test(streaming_multiprocessor, a_uniform_register_is_waited_for)
{
    forget();
    add(0, 0, inst(TRACE_UNIFORM, TRACE_COMPUTE, 256 + 63, -1, -1, -1));
    add(0, 0, inst(TRACE_FP32, TRACE_COMPUTE, 2, 256 + 63, -1, -1));
    /* Without operands to read, an instruction is in its unit a cycle earlier. */
    cr_expect_eq(run_alone(&defaults), 4 + OVER - 1 + ALU + OVER);
}

/* ---- operand collector ---- */

/* A collector takes an operand, and a bank gives one, a step; two steps a cycle: the cycle in which
 * the third operand of one bank is there is one later. */
Test(streaming_multiprocessor, operands_take_the_steps_of_their_collector)
{
    static const struct {
        int a, b, c;
        int64_t banks, reads;
        unsigned more; /* cycles, than with one operand and two reads a cycle */
    } cases[] = {{2, -1, -1, 2, 2, 0}, {2, 3, -1, 2, 2, 0}, {2, 3, 4, 2, 2, 1}, {2, 4, 6, 2, 2, 1},
                 {2, -1, -1, 2, 1, 1}, {2, 3, 4, 2, 1, 3},  {2, 3, 4, 8, 4, 0}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct streaming_multiprocessor_params params = defaults;
        params.banks = cases[i].banks;
        params.bank_reads = cases[i].reads;
        forget();
        add(0, 0, inst(TRACE_FP32, TRACE_COMPUTE, 9, cases[i].a, cases[i].b, cases[i].c));
        cr_expect_eq(run_alone(&params), ALU + OVER + cases[i].more, "case %zu", i);
    }
}

/* Instructions that all read three registers of one bank: it gives two a cycle. */
Test(streaming_multiprocessor, one_bank_limits_what_all_read_from_it)
{
    enum { LENGTH = 20 };
    struct streaming_multiprocessor_params params = defaults;
    uint64_t taken[2];
    for (int spread = 0; spread < 2; spread++) {
        forget();
        for (int i = 0; i < LENGTH; i++)
            add(0, 0, inst(TRACE_FP32, TRACE_COMPUTE, 100 + i, 2, 4 + spread, 6));
        params.banks = 2;
        taken[spread] = run_alone(&params);
    }
    cr_expect_eq(taken[0], divide_up(LENGTH * 3, 2) - 1 + ALU + OVER, "%llu",
                 (unsigned long long)taken[0]);
    cr_expect_lt(taken[1], taken[0]);
}

/* ---- shared memory ---- */

Test(streaming_multiprocessor, shared_memory_takes_a_cycle_for_each_word_of_its_fullest_bank)
{
    static const struct {
        uint64_t stride;
        unsigned cycles;
    } cases[] = {{4, 1}, {0, 1}, {8, 2}, {12, 1}, {16, 4}, {32, 8}, {64, 16}, {128, 32}, {132, 1}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        forget();
        add_access(0, 0, inst(TRACE_MEMORY, TRACE_LOAD, 4, 2, -1, -1), TRACE_SHARED, 0,
                   cases[i].stride);
        cr_expect_eq(run_alone(&defaults), 4 + cases[i].cycles + 29, "stride %llu",
                     (unsigned long long)cases[i].stride);
        cr_expect_eq(stats()->bank_conflicts, cases[i].cycles - 1);
        cr_expect_eq(harness_count(memory), 0);
    }
}

/* ---- memory ---- */

static const struct sector_mem_request *request(uint32_t i)
{
    static struct sector_mem_request r;
    memcpy(r.fields, harness_log(memory, i)->fields, sizeof r.fields);
    return &r;
}

Test(streaming_multiprocessor, a_load_is_there_when_its_last_line_is)
{
    static const struct {
        uint64_t stride;
        unsigned lines;
    } cases[] = {{4, 1}, {0, 1}, {8, 2}, {16, 4}, {128, 32}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        forget();
        add_access(0, 0, inst(TRACE_MEMORY, TRACE_LOAD, 4, 2, -1, -1), TRACE_GLOBAL, LINE,
                   cases[i].stride);
        add(0, 0, inst(TRACE_FP32, TRACE_COMPUTE, 5, 4, -1, -1));
        /* Four requests a cycle; a wire each way. */
        uint64_t loaded = 4 + (cases[i].lines - 1) / 4 + 1 + MEMORY;
        cr_expect_eq(run_alone(&defaults), loaded + ALU + OVER, "stride %llu",
                     (unsigned long long)cases[i].stride);
        cr_expect_eq(harness_count(memory), cases[i].lines);
        for (uint32_t r = 0; r < harness_count(memory); r++)
            cr_expect_eq(request(r)->load.address, LINE + 128 * r);
    }
}

/* Loads of four sub-cores that issue in one cycle are served from the sub-core on whose turn it is
 * in that cycle: four cycles behind, over a wire of one. */
Test(streaming_multiprocessor, sub_cores_take_turns_at_the_memory_unit)
{
    unsigned begun = 0;
    for (unsigned before = 0; before < 4; before++) {
        forget();
        for (unsigned w = 0; w < 4; w++) {
            for (unsigned i = 0; i < before; i++)
                add(0, w, inst(TRACE_FP32, TRACE_COMPUTE, (int)(10 + i), 2, -1, -1));
            add_access(0, w, inst(TRACE_MEMORY, TRACE_LOAD, 4, 3, -1, -1), TRACE_GLOBAL,
                       LINE + w * 4096, 4);
        }
        run_alone(&defaults);
        cr_assert_eq(harness_count(memory), 4);
        uint64_t first = (harness_log(memory, 0)->cycle - 5) % 4;
        for (uint32_t i = 0; i < 4; i++)
            cr_expect_eq(request(i)->load.address, LINE + (first + i) % 4 * 4096, "%u: %u", before,
                         i);
        begun |= 1u << first;
    }
    cr_expect_neq(begun & (begun - 1), 0, "more than one has been first");
}

Test(streaming_multiprocessor, what_no_lane_does_asks_memory_for_nothing)
{
    forget();
    struct step *s = add(0, 0, inst(TRACE_MEMORY, TRACE_LOAD, 4, 2, -1, -1));
    s->mask = 0;
    s->space = TRACE_GLOBAL;
    cr_expect_eq(run_alone(&defaults), 4 + 1);
    cr_expect_eq(harness_count(memory), 0);
    cr_expect_eq(stats()->thread_instructions, 0);
}

/* A block is over when its stores are acknowledged; the warp itself does not wait. */
Test(streaming_multiprocessor, stores_are_waited_for_by_the_end_of_the_block_only)
{
    forget();
    add_access(0, 0, inst(TRACE_MEMORY, TRACE_STORE, -1, 2, 3, -1), TRACE_GLOBAL, LINE, 4);
    add(0, 0, inst(TRACE_FP32, TRACE_COMPUTE, 2, 3, -1, -1));
    cr_expect_eq(run_alone(&defaults), 4 + 1 + MEMORY);
    cr_expect_eq(harness_log(memory, 0)->kind, SECTOR_MEM_STORE);
    cr_expect_eq(request(0)->store.sectors, 0xf);
    cr_expect_eq(request(0)->store.partial, 0);
}

Test(streaming_multiprocessor, a_memory_barrier_waits_for_what_the_warp_has_under_way)
{
    for (unsigned stores = 0; stores < 2; stores++) {
        forget();
        if (stores)
            add_access(0, 0, inst(TRACE_MEMORY, TRACE_STORE, -1, 2, 3, -1), TRACE_GLOBAL, LINE, 4);
        add(0, 0, inst(TRACE_INT, TRACE_MEMBAR, -1, -1, -1, -1));
        add(0, 0, inst(TRACE_FP32, TRACE_COMPUTE, 2, 3, -1, -1));
        uint64_t issued = stores ? 4 + 1 + MEMORY : 1; /* the cycle of the third instruction */
        cr_expect_eq(run_alone(&defaults), issued + ALU + OVER, "%u stores", stores);
    }
}

Test(streaming_multiprocessor, atomics_go_out_with_the_number_of_their_lanes)
{
    forget();
    add_access(0, 0, inst(TRACE_MEMORY, TRACE_ATOMIC, 4, 2, 3, -1), TRACE_GLOBAL, LINE, 8);
    add_access(0, 0, inst(TRACE_MEMORY, TRACE_ATOMIC, -1, 2, 3, -1), TRACE_GLOBAL, LINE, 0);
    run_alone(&defaults);
    cr_assert_eq(harness_count(memory), 3);
    for (uint32_t i = 0; i < 3; i++) {
        cr_expect_eq(harness_log(memory, i)->kind, SECTOR_MEM_ATOMIC);
        cr_expect_eq(request(i)->atomic.count, i < 2 ? 16 : 32);
        cr_expect_eq(request(i)->atomic.sectors, i < 2 ? 0xf : 1);
    }
}

/* Word w of all lanes is one line, whatever the lane's own address is. */
Test(streaming_multiprocessor, local_memory_is_interleaved_by_words)
{
    forget();
    add_access(0, 0, inst(TRACE_MEMORY, TRACE_STORE, -1, 2, 3, -1), TRACE_LOCAL, 0x7f00fffd00, 0);
    add_access(0, 1, inst(TRACE_MEMORY, TRACE_STORE, -1, 2, 3, -1), TRACE_LOCAL, 0x7f00fffd00, 0);
    insts[0].width = insts[1].width = 8;
    run_alone(&defaults);
    cr_assert_eq(harness_count(memory), 4);
    for (uint32_t i = 0; i < 4; i++) {
        cr_expect_eq(request(i)->store.sectors, 0xf);
        cr_expect_eq(request(i)->store.partial, 0);
    }
    uint64_t first = request(0)->store.address, other = request(2)->store.address;
    cr_expect_eq(request(1)->store.address, first + 128);
    cr_expect_neq(other, first, "warps have local memory of their own");
    cr_expect_neq(other, first + 128);
}

/* ---- barriers ---- */

Test(streaming_multiprocessor, a_barrier_is_passed_when_all_warps_have_come)
{
    enum { CHAIN = 9, WARPS = 5 };
    forget();
    uint16_t next = inst(TRACE_FP32, TRACE_COMPUTE, 4, 4, -1, -1);
    uint16_t bar = inst(TRACE_INT, TRACE_BARRIER, -1, -1, -1, -1);
    uint16_t read = inst(TRACE_FP32, TRACE_COMPUTE, 5, 4, -1, -1);
    for (unsigned i = 0; i < CHAIN; i++)
        add(0, 0, next);
    for (unsigned w = 0; w < WARPS; w++) {
        if (w == WARPS - 1)
            continue; /* has ended before the others come */
        add(0, w, bar);
        add(0, w, read);
    }
    add(0, WARPS - 1, read);
    cr_expect_eq(run_alone(&defaults),
                 (CHAIN - 1) * (ALU + OVER) + 1 /* the barrier behind the chain */
                     + ALU + OVER /* its last result, for `read` */ - 1 + ALU + OVER);
    cr_expect_eq(stats()->barriers, WARPS - 1);
}

/* Who came first goes on when the last one issues its barrier, not before. */
Test(streaming_multiprocessor, a_barrier_holds_until_the_last_warp_has_come)
{
    forget();
    uint16_t bar = inst(TRACE_INT, TRACE_BARRIER, -1, -1, -1, -1);
    add(0, 0, inst(TRACE_SFU, TRACE_COMPUTE, 4, 4, -1, -1));
    add(0, 0, inst(TRACE_SFU, TRACE_COMPUTE, 4, 4, -1, -1));
    for (unsigned w = 0; w < 3; w++) {
        add(0, w, bar);
        add_access(0, w, inst(TRACE_MEMORY, TRACE_STORE, -1, 2, -1, -1), TRACE_GLOBAL, LINE, 4);
    }
    run_alone(&defaults);
    uint64_t last = FIRST + 21 + OVER + 1; /* behind the second of the chain */
    cr_assert_eq(harness_count(memory), 3);
    cr_expect_eq(harness_log(memory, 0)->cycle, last + 4 + 1);
}

Test(streaming_multiprocessor, who_arrives_only_does_not_wait_at_the_barrier)
{
    forget();
    uint16_t slow = inst(TRACE_FP64, TRACE_COMPUTE, 4, 4, -1, -1);
    uint16_t bar = inst(TRACE_INT, TRACE_BARRIER, -1, 4, -1, -1);
    uint16_t arrive = inst(TRACE_INT, TRACE_ARRIVE, -1, -1, -1, -1);
    uint16_t store = inst(TRACE_MEMORY, TRACE_STORE, -1, 2, -1, -1);
    add(0, 0, slow);
    add(0, 0, bar);
    add(0, 1, arrive);
    add_access(0, 1, store, TRACE_GLOBAL, LINE, 4);
    run_alone(&defaults);
    cr_expect_eq(harness_log(memory, 0)->cycle, FIRST + 1 + 4 + 1, "it went on at once");
}

/* ---- blocks, fetch and schedulers ---- */

Test(streaming_multiprocessor, warps_get_instructions_in_turn)
{
    enum { WARPS = 16 };
    for (int64_t fetch = 1; fetch <= 16; fetch *= 2) {
        struct streaming_multiprocessor_params params = defaults;
        params.fetch = fetch;
        forget();
        uint16_t one = inst(TRACE_FP32, TRACE_COMPUTE, 4, 5, -1, -1);
        for (unsigned w = 0; w < WARPS; w++)
            add(0, w, one);
        /* The last warp's sub-core has had three before it, one a cycle at most. */
        uint64_t last = WARPS / (uint64_t)fetch - 1;
        last = max(last, 3);
        cr_expect_eq(run_alone(&params), last + ALU + OVER, "%lld", (long long)fetch);
    }
}

Test(streaming_multiprocessor, blocks_run_beside_each_other_and_leave_their_slots)
{
    enum { CHAIN = 10 };
    forget();
    for (unsigned p = 0; p < 3; p++) {
        uint16_t next = inst(TRACE_FP32, TRACE_COMPUTE, 4, 4, -1, -1);
        for (unsigned w = 0; w < 20; w++)
            for (unsigned i = 0; i < CHAIN; i++)
                add(p, w, next);
    }
    set_up(&defaults);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned p = 0; p < 3; p++)
            launch(ARRIVAL + 1000 * round + p, p);
    run();
    cr_expect_eq(stats()->blocks, 9);
    cr_expect_eq(stats()->warps_run, 180);
    cr_expect_eq(stats()->instructions, 1800);
    cr_expect_eq(harness_count(player), 9);
    cr_expect_eq(harness_count(control), 3, "the L1 forgets when the SM has nothing to do");
    for (uint32_t i = 0; i < 3; i++)
        cr_expect_eq(harness_log(control, i)->kind, SECTOR_CONTROL_INVALIDATE);
}

Test(streaming_multiprocessor, the_l1_gives_shared_memory_before_the_first_block_begins)
{
    forget();
    add(0, 0, inst(TRACE_FP32, TRACE_COMPUTE, 4, 4, -1, -1));
    programs[0].carve = 8192;
    set_up(&defaults);
    launch(ARRIVAL, 0);
    launch(ARRIVAL + 500, 0);
    run();
    cr_assert_eq(harness_count(control), 3);
    cr_expect_eq(harness_log(control, 0)->kind, SECTOR_CONTROL_CARVE);
    cr_expect_eq(harness_log(control, 1)->kind, SECTOR_CONTROL_INVALIDATE);
    cr_expect_eq(harness_log(control, 2)->kind, SECTOR_CONTROL_INVALIDATE);
    /* There and back over wires of a cycle, and ten to carve. */
    cr_expect_eq(harness_log(player, 0)->cycle - 1, FIRST + 11 + ALU + OVER);
}

/* The order in which warps issue, from the order of their requests. */
static void order_of(const char *scheduler, unsigned *order, unsigned warps, unsigned each)
{
    const char *const chosen[] = {scheduler};
    struct build_type with = type;
    int64_t values[sizeof defaults / sizeof(int64_t) + 1];
    const uint32_t places[] = {sizeof defaults / sizeof(int64_t)};
    with.parts = chosen;
    with.part_params = places;
    forget();
    for (unsigned w = 0; w < warps; w++)
        for (unsigned i = 0; i < each; i++)
            add_access(0, w, inst(TRACE_MEMORY, TRACE_STORE, -1, -1, -1, -1), TRACE_GLOBAL,
                       LINE + 128 * (w * each + i), 4);
    struct streaming_multiprocessor_params params = defaults;
    params.sub_cores = 1;
    params.memory_queue = 16;
    params.fetch = 64;
    params.buffer = 16;
    memcpy(values, &params, sizeof params);
    values[places[0]] = 2; /* active warps of two_level */
    harness_start();
    build_instance(&owner_type, 0, "owner", NULL, NULL, 0);
    unit = build_instance(&with, 0, "sm", values, NULL, ARRAY_COUNT(values));
    player = harness_requester();
    memory = harness_server(MEMORY, answer_memory);
    harness_wire(HARNESS_BLOCK, (struct build_end){player, 0, 0}, (struct build_end){unit, 0, 0},
                 64, 1, 1);
    harness_wire(HARNESS_SECTOR, (struct build_end){unit, 1, 0}, (struct build_end){memory, 0, 0},
                 256, 4, 1);
    harness_build();
    launch(ARRIVAL, 0);
    run();
    cr_assert_eq(harness_count(memory), warps * each);
    for (uint32_t i = 0; i < warps * each; i++)
        order[i] = (unsigned)((request(i)->store.address - LINE) / 128 / each);
}

Test(streaming_multiprocessor, schedulers_choose_in_their_order)
{
    enum { WARPS = 4, EACH = 3 };
    unsigned order[WARPS * EACH];
    order_of("loose_round_robin", order, WARPS, EACH);
    for (unsigned i = 0; i < WARPS * EACH; i++)
        cr_expect_eq(order[i], i % WARPS, "round robin, %u", i);
    order_of("greedy_then_oldest", order, WARPS, EACH);
    for (unsigned i = 0; i < WARPS * EACH; i++)
        cr_expect_eq(order[i], i / EACH, "greedy, %u", i);
    order_of("two_level", order, WARPS, EACH);
    cr_expect_neq(order[WARPS * EACH - 1], 0, "two active warps go first");
}

/* Nothing depends on the order of ticks. */
Test(streaming_multiprocessor, ticks_without_a_reason_change_nothing)
{
    uint64_t end[3];
    for (int variant = 0; variant < 3; variant++) {
        forget();
        uint16_t load = inst(TRACE_MEMORY, TRACE_LOAD, 4, 4, -1, -1);
        uint16_t use = inst(TRACE_INT, TRACE_COMPUTE, 4, 4, -1, -1);
        for (unsigned w = 0; w < 24; w++)
            for (unsigned i = 0; i < 10; i++) {
                add_access(0, w, load, TRACE_GLOBAL, LINE + 4096 * w + 512 * i, 24);
                add(0, w, use);
            }
        set_up(&defaults);
        harness_tick_order(variant ? ENGINE_RANDOM : ENGINE_ASCENDING, variant == 2);
        launch(ARRIVAL, 0);
        run();
        end[variant] = ended(0);
        cr_expect_eq(stats()->active_cycles, end[variant] - ARRIVAL);
    }
    cr_expect_eq(end[0], end[1]);
    cr_expect_eq(end[0], end[2]);
}

/* ---- asynchronous work ---- */

static uint16_t counted(unsigned unit_of, unsigned kind, uint16_t count)
{
    uint16_t i = inst(unit_of, kind, -1, -1, -1, -1);
    insts[i].count = count;
    return i;
}

/* Three copies in groups of their own, a wait, and a chain that is over behind all copies. */
static uint64_t copies_until(uint16_t most)
{
    forget();
    uint16_t copy = inst(TRACE_MEMORY, TRACE_COPY, -1, 3, -1, -1);
    uint16_t commit = counted(TRACE_INT, TRACE_COPY_COMMIT, 0);
    uint16_t wait = counted(TRACE_INT, TRACE_COPY_WAIT, most);
    uint16_t next = inst(TRACE_FP32, TRACE_COMPUTE, 4, 4, 5, -1);
    for (unsigned i = 0; i < 3; i++) {
        add_access(0, 0, copy, TRACE_GLOBAL, LINE + 4096 * i, 4);
        add(0, 0, commit);
    }
    add(0, 0, wait);
    for (unsigned i = 0; i < 40; i++)
        add(0, 0, next);
    return run_alone(&defaults);
}

Test(streaming_multiprocessor, a_wait_leaves_as_many_groups_of_copies_as_it_says)
{
    uint64_t all = copies_until(0), two = copies_until(1), one = copies_until(2);
    uint64_t none = copies_until(3);
    cr_expect(all > two && all - two == two - one, "%llu %llu %llu", (unsigned long long)all,
              (unsigned long long)two, (unsigned long long)one);
    cr_expect(one > none + MEMORY / 2, "%llu %llu", (unsigned long long)one,
              (unsigned long long)none);
}

Test(streaming_multiprocessor, data_of_a_copy_takes_shared_memory_when_it_comes)
{
    uint64_t taken[2];
    for (unsigned i = 0; i < 2; i++) {
        forget();
        uint16_t copy = inst(TRACE_MEMORY, TRACE_COPY, -1, 3, -1, -1);
        add_access(0, 0, copy, TRACE_SHARED, 0, i ? 128 : 4); /* one bank, or all */
        add_access(0, 0, copy, TRACE_GLOBAL, LINE, 4);
        taken[i] = run_alone(&defaults);
    }
    cr_expect_eq(taken[1] - taken[0], 31);
}

Test(streaming_multiprocessor, products_take_their_cycles_one_behind_the_other)
{
    enum { PRODUCTS = 6, CYCLES = 96 };
    forget();
    uint16_t product = counted(TRACE_TENSOR, TRACE_MATRIX, CYCLES);
    for (unsigned w = 0; w < 4; w++)
        for (unsigned i = 0; i < PRODUCTS; i++)
            add(0, w, product);
    cr_expect_eq(run_alone(&defaults), PRODUCTS * CYCLES + OVER);
}
