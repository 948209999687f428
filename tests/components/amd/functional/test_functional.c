/* The functional executor on kernels of a few instructions: order of work-groups, barriers, memory
 * whose pages are scattered, faults, limits. Whole programs run in tests/system. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "base/number.h"
#include "components/amd/functional/functional.h"
#include "components/memory/page_table/host_view.h"
#include "runtime/engine/arena.h"
#include "runtime/state/memory.h"

enum { PAGE = 4096, DATA_PAGES = 3 };
#define CODE           ((uint64_t)0x20 << 40)
#define DATA           (CODE + 16 * PAGE)
#define FIRST_PHYSICAL ((uint64_t)1 << 20)

/* Words as printed by llvm-mc 19 for gfx803. Work-group 0 waits until work-group 1 has written. */
static const uint32_t handshake[] = {
    0xbf078002,             /* s_cmp_lg_u32 s2, 0 */
    0xbf850006,             /* s_cbranch_scc1 setter */
    0xc00200c0, 0x00000000, /* loop: s_load_dword s3, s[0:1], 0x0 */
    0xbf8c007f,             /* s_waitcnt lgkmcnt(0) */
    0xbf068003,             /* s_cmp_eq_u32 s3, 0 */
    0xbf85fffb,             /* s_cbranch_scc1 loop */
    0xbf810000,             /* s_endpgm */
    0xbe840081,             /* setter: s_mov_b32 s4, 1 */
    0xc0420100, 0x00000000, /* s_store_dword s4, s[0:1], 0x0 */
    0xbf810000,             /* s_endpgm */
};

/* data[i] = i; barrier; data[i] += 7. */
static const uint32_t store_and_add[] = {
    0x24020082,             /* v_lshlrev_b32 v1, 2, v0 */
    0x7e040201,             /* v_mov_b32 v2, s1 */
    0x32020200,             /* v_add_u32 v1, vcc, s0, v1 */
    0x38040480,             /* v_addc_u32 v2, vcc, 0, v2, vcc */
    0xdc700000, 0x00000001, /* flat_store_dword v[1:2], v0 */
    0xbf8c0f70,             /* s_waitcnt vmcnt(0) */
    0xbf8a0000,             /* s_barrier */
    0xdc500000, 0x03000001, /* flat_load_dword v3, v[1:2] */
    0xbf8c0070,             /* s_waitcnt vmcnt(0) lgkmcnt(0) */
    0x32060687,             /* v_add_u32 v3, vcc, 7, v3 */
    0xdc700000, 0x00000301, /* flat_store_dword v[1:2], v3 */
    0xbf810000,             /* s_endpgm */
};
enum { STORE_AND_ADD_INSTRUCTIONS = 12 };

/* out[i] = data[i] through a buffer of 32 words, by a load into its own address register; out lies
 * 256 bytes behind. */
static const uint32_t load_into_address[] = {
    0xbe840000,             /* s_mov_b32 s4, s0 */
    0xbe850001,             /* s_mov_b32 s5, s1 */
    0xb0060080,             /* s_movk_i32 s6, 0x80 */
    0xbe8700ff, 0x00027000, /* s_mov_b32 s7, 0x27000 */
    0x24020082,             /* v_lshlrev_b32 v1, 2, v0 */
    0x32040200,             /* v_add_u32 v2, vcc, s0, v1 */
    0x7e060201,             /* v_mov_b32 v3, s1 */
    0x38060680,             /* v_addc_u32 v3, vcc, 0, v3, vcc */
    0xe0501000, 0x80010101, /* buffer_load_dword v1, v1, s[4:7], 0 offen */
    0xbf8c0f70,             /* s_waitcnt vmcnt(0) */
    0x320404ff, 0x00000100, /* v_add_u32 v2, vcc, 0x100, v2 */
    0x38060680,             /* v_addc_u32 v3, vcc, 0, v3, vcc */
    0xdc700000, 0x00000102, /* flat_store_dword v[2:3], v1 */
    0xbf810000,             /* s_endpgm */
};

/* data[16 * group + i] = 7 + data[16 * group + i + distance]; the distance, an operand code, is to
 * be put in. */
enum { ADD_FROM = 6, SUBTRACT_FROM = 11, ADD_FROM_INSTRUCTIONS = 13, ADD_FROM_ITEMS = 16 };
static const uint32_t add_from[] = {
    0x8e038402,             /* s_lshl_b32 s3, s2, 4 */
    0x32020003,             /* v_add_u32 v1, vcc, s3, v0 */
    0x24020282,             /* v_lshlrev_b32 v1, 2, v1 */
    0x7e040201,             /* v_mov_b32 v2, s1 */
    0x32020200,             /* v_add_u32 v1, vcc, s0, v1 */
    0x38040480,             /* v_addc_u32 v2, vcc, 0, v2, vcc */
    0x32020200,             /* v_add_u32 v1, vcc, distance, v1 */
    0xdc500000, 0x03000001, /* flat_load_dword v3, v[1:2] */
    0xbf8c0070,             /* s_waitcnt vmcnt(0) lgkmcnt(0) */
    0x32060687,             /* v_add_u32 v3, vcc, 7, v3 */
    0x36020200,             /* v_subrev_u32 v1, vcc, distance, v1 */
    0xdc700000, 0x00000301, /* flat_store_dword v[1:2], v3 */
    0xbf810000,             /* s_endpgm */
};

/* All work-groups change data[0..15] by an atomic operation; its code is to be put in. */
enum { CHANGE_BY = 6 };
static const uint32_t change[] = {
    0x8e038402,             /* s_lshl_b32 s3, s2, 4 */
    0x32060003,             /* v_add_u32 v3, vcc, s3, v0 */
    0x24020082,             /* v_lshlrev_b32 v1, 2, v0 */
    0x7e040201,             /* v_mov_b32 v2, s1 */
    0x32020200,             /* v_add_u32 v1, vcc, s0, v1 */
    0x38040480,             /* v_addc_u32 v2, vcc, 0, v2, vcc */
    0xdd000000, 0x00000301, /* flat_atomic_* v0, v[1:2], v3 */
    0xbf810000,             /* s_endpgm */
};

/* Each work-item takes numbers from data[0] until they are 12 and more. */
enum { TAKE_ONCE = 4, TAKE_NUMBERS = 12 };
static const uint32_t take_numbers[] = {
    0x7e020200,             /* v_mov_b32 v1, s0 */
    0x7e040201,             /* v_mov_b32 v2, s1 */
    0x7e000281,             /* v_mov_b32 v0, 1 */
    0xdd090000, 0x03000001, /* loop: flat_atomic_add v3, v[1:2], v0 glc */
    0xbf8c0070,             /* s_waitcnt vmcnt(0) lgkmcnt(0) */
    0x7d98068c,             /* v_cmp_gt_u32 vcc, 12, v3 */
    0xbf87fffb,             /* s_cbranch_vccnz loop */
    0xbf810000,             /* s_endpgm */
};

static const uint32_t broken[] = {0xffffffff, 0xffffffff, 0xffffffff};

static struct program_table program;
static struct page_table *pages;
static bool touching;
static uint32_t threads;
static struct sampler_work *counts;

static void put_memory(uint64_t physical, const void *from, size_t bytes)
{
    memcpy(memory_span(physical, bytes), from, bytes);
}

/* One page of code, and data whose pages lie in physical memory as 5, 3, 4. */
static void open_memory(const uint32_t *code, size_t bytes)
{
    static const uint32_t places[DATA_PAGES] = {5, 3, 4};
    arena_open();
    memory_reserve(FIRST_PHYSICAL, 64 * PAGE);
    pages = arena_at(struct page_table, arena_allocate(sizeof *pages));
    page_table_init(pages, 12, 64);
    memset(&program, 0, sizeof program);
    program_kernel(&program, "kernel", "kernel");
    program_add_allocation(&program,
                           &(struct program_allocation){
                               .start = CODE, .end = CODE + PAGE, .use = PROGRAM_CODE, .pid = 1});
    program_add_allocation(&program, &(struct program_allocation){
                                         .start = DATA, .end = DATA + DATA_PAGES * PAGE, .pid = 1});
    page_table_map(pages, 1, CODE, FIRST_PHYSICAL, true);
    for (uint32_t i = 0; i < DATA_PAGES; i++)
        page_table_map(pages, 1, DATA + i * PAGE, FIRST_PHYSICAL + places[i] * PAGE, true);
    put_memory(FIRST_PHYSICAL, code, bytes);
}

/* Work-groups of one item, `groups` of them from `first` on. */
static struct functional_result run_some(uint64_t kernarg, uint32_t grid, uint64_t first,
                                         uint64_t groups)
{
    const struct aql_descriptor descriptor = {.rsrc2 = 2u << 1 | 1u << 7, .properties = 1u << 3};
    const struct aql_packet packet = {
        .work_group = {1, 1, 1}, .grid = {grid, 1, 1}, .kernarg = kernarg};
    const struct functional_launch launch = {.program = &program,
                                             .pages = pages,
                                             .target = ISA_GFX803,
                                             .pid = 1,
                                             .first_group = first,
                                             .groups = groups,
                                             .resident = 1,
                                             .entry = CODE,
                                             .packet = &packet,
                                             .descriptor = &descriptor,
                                             .others = FUNCTIONAL_ANYTHING};
    static struct functional_result result;
    functional_run(&launch, &result);
    return result;
}

static struct functional_result run(uint64_t kernarg, uint32_t grid, uint16_t block,
                                    uint32_t resident, uint64_t limit)
{
    /* s[0:1] = address of the arguments, s2 = number of the work-group. */
    const struct aql_descriptor descriptor = {.rsrc2 = 2u << 1 | 1u << 7, .properties = 1u << 3};
    const struct aql_packet packet = {
        .work_group = {block, 1, 1}, .grid = {grid, 1, 1}, .kernarg = kernarg};
    const struct functional_launch launch = {.program = &program,
                                             .pages = pages,
                                             .target = ISA_GFX803,
                                             .pid = 1,
                                             .resident = resident,
                                             .entry = CODE,
                                             .packet = &packet,
                                             .descriptor = &descriptor,
                                             .most_instructions = limit,
                                             .touches = touching,
                                             .threads = threads,
                                             .executed = counts};
    static struct functional_result result;
    functional_run(&launch, &result);
    return result;
}

static struct host_view *table(void)
{
    static struct host_view view;
    memset(&view, 0, sizeof view);
    host_view_refresh(&view, &program, pages, 1);
    return &view;
}

Test(functional, a_work_group_that_waits_gives_way_to_the_one_it_waits_for)
{
    open_memory(handshake, sizeof handshake);
    struct functional_result r = run(DATA, 2, 1, 2, 1 << 24);
    cr_assert_eq(r.end, FUNCTIONAL_DONE, "%s", r.text);
    cr_assert_eq(r.work_groups, 2);
    cr_assert_gt(r.instructions, FUNCTIONAL_SLICE);
}

Test(functional, launches_that_wait_yield_to_the_one_they_wait_for)
{
    static struct functional_result waiting[FUNCTIONAL_LAUNCHES_MAX];
    uint64_t executed = 0;
    open_memory(handshake, sizeof handshake);
    for (uint32_t i = 0; i < FUNCTIONAL_LAUNCHES_MAX - 1; i++) {
        waiting[i] = run_some(DATA, 2, 0, 1);
        cr_assert_eq(waiting[i].end, FUNCTIONAL_YIELDED);
        executed += waiting[i].instructions;
    }
    cr_assert(functional_has_room(1));
    struct functional_result last = run_some(DATA, 2, 0, 1);
    cr_assert_not(functional_has_room(1));
    functional_resume(last.number, executed + last.instructions, FUNCTIONAL_ANYTHING, &last);
    cr_assert_eq(last.end, FUNCTIONAL_YIELDED, "nobody has written yet");
    cr_assert_gt(last.instructions, waiting[0].instructions);
    uint32_t one = 1;
    put_memory(FIRST_PHYSICAL + 5 * PAGE, &one, sizeof one);
    functional_resume(last.number, executed + last.instructions, FUNCTIONAL_NONE, &last);
    cr_assert_eq(last.end, FUNCTIONAL_DONE, "%s", last.text);
    cr_assert(functional_has_room(1));
    cr_assert_eq(run_some(DATA, 2, 1, 1).work_groups, 1); /* beside those that have yielded */
    for (uint32_t i = 0; i < FUNCTIONAL_LAUNCHES_MAX - 1; i++) {
        uint64_t before = waiting[i].instructions;
        functional_resume(waiting[i].number, executed, FUNCTIONAL_ANYTHING, &waiting[i]);
        cr_assert_eq(waiting[i].end, FUNCTIONAL_DONE, "%s", waiting[i].text);
        cr_assert_eq(waiting[i].work_groups, 1);
        cr_assert(waiting[i].instructions > before && waiting[i].instructions < before + 16,
                  "it goes on where it was");
    }
}

Test(functional, a_kernel_that_never_ends_ends_at_the_limit)
{
    open_memory(handshake, sizeof handshake);
    struct functional_result r = run(DATA, 2, 1, 1, 1 << 20); /* the second one has no room */
    cr_assert_eq(r.end, FUNCTIONAL_LIMIT);
    cr_assert_eq(r.work_groups, 0);
    cr_assert_not_null(strstr(r.text, "--max-instructions"), "%s", r.text);
    cr_assert_not_null(strstr(r.text, "work-group (0,0,0)"), "%s", r.text);
}

Test(functional, lanes_reach_scattered_pages_and_only_active_ones_store)
{
    enum { ITEMS = 1000 };
    uint32_t got[1024];
    open_memory(store_and_add, sizeof store_and_add);
    uint64_t start = DATA + PAGE / 2 + 4; /* a wavefront's run crosses from page 5 to page 3 */
    struct functional_result r = run(start, ITEMS, 1024, 1, 0);
    cr_assert_eq(r.end, FUNCTIONAL_DONE, "%s", r.text);
    cr_assert_eq(r.instructions, divide_up(ITEMS, 64) * STORE_AND_ADD_INSTRUCTIONS);
    host_view_read(table(), start, got, sizeof got);
    for (uint32_t i = 0; i < 1024; i++)
        cr_assert_eq(got[i], i < ITEMS ? i + 7 : 0, "element %u is %u", i, got[i]);
}

Test(functional, lanes_out_of_a_buffer_load_nothing_touched_or_not)
{
    uint32_t data[128], got[64];
    open_memory(load_into_address, sizeof load_into_address);
    for (uint32_t i = 0; i < 128; i++)
        data[i] = i + 1;
    for (int t = 0; t < 2; t++) {
        touching = t;
        put_memory(FIRST_PHYSICAL + 5 * PAGE, data, sizeof data);
        struct functional_result r = run(DATA, 64, 64, 1, 0);
        cr_assert_eq(r.end, FUNCTIONAL_DONE, "%s", r.text);
        memcpy(got, memory_span(FIRST_PHYSICAL + 5 * PAGE + 256, sizeof got), sizeof got);
        for (uint32_t i = 0; i < 64; i++)
            cr_assert_eq(got[i], i < 32 ? i + 1 : 0, "touches %d: element %u is %u", t, i, got[i]);
    }
}

Test(functional, an_access_behind_an_allocation_names_the_lane)
{
    open_memory(store_and_add, sizeof store_and_add);
    struct functional_result r = run(DATA + DATA_PAGES * PAGE - 100, 64, 64, 1, 0);
    cr_assert_eq(r.end, FUNCTIONAL_FAULT);
    cr_assert_not_null(strstr(r.text, "kernel 'kernel': store of 4 bytes"), "%s", r.text);
    cr_assert_not_null(strstr(r.text, "0 bytes behind the end of the allocation"), "%s", r.text);
    cr_assert_not_null(strstr(r.text, "flat_store_dword"), "%s", r.text);
    cr_assert_not_null(strstr(r.text, "lane 25"), "%s", r.text);
}

Test(functional, words_that_are_no_instruction_and_code_that_is_not_there_are_faults)
{
    open_memory(broken, sizeof broken);
    struct functional_result r = run(DATA, 1, 1, 1, 0);
    cr_assert_eq(r.end, FUNCTIONAL_FAULT);
    cr_assert_not_null(strstr(r.text, "0xffffffff is no instruction of gfx803"), "%s", r.text);
    program_remove_allocation(&program, CODE);
    r = run(DATA, 1, 1, 1, 0);
    cr_assert_eq(r.end, FUNCTIONAL_FAULT);
    cr_assert_not_null(strstr(r.text, "instruction fetch outside of any allocation"), "%s", r.text);
}

Test(functional, code_that_was_replaced_between_launches_is_seen)
{
    open_memory(broken, sizeof broken);
    cr_assert_eq(run(DATA, 1, 1, 1, 0).end, FUNCTIONAL_FAULT);
    put_memory(FIRST_PHYSICAL, store_and_add, sizeof store_and_add);
    cr_assert_eq(run(DATA, 1, 1, 1, 0).end, FUNCTIONAL_DONE);
    put_memory(FIRST_PHYSICAL, handshake, sizeof handshake);
    cr_assert_eq(run(DATA, 2, 1, 2, 0).end, FUNCTIONAL_DONE);
}

/* Runs add_from with a distance of `bytes` on `sharing` threads; `got` is the data behind it. */
static struct functional_result run_add_from(uint32_t bytes, uint32_t groups, uint32_t sharing,
                                             uint32_t got[DATA_PAGES * PAGE / 4])
{
    uint32_t code[sizeof add_from / 4];
    memcpy(code, add_from, sizeof code);
    code[ADD_FROM] |= 128 + bytes; /* the operand code of a small integer */
    code[SUBTRACT_FROM] |= 128 + bytes;
    if (!threads)
        open_memory(code, sizeof code);
    for (uint32_t i = 0; i < DATA_PAGES * PAGE / 4; i++)
        got[i] = i * i;
    host_view_write(table(), DATA, got, DATA_PAGES * PAGE);
    threads = sharing;
    struct functional_result r = run(DATA, groups * ADD_FROM_ITEMS, ADD_FROM_ITEMS, 2 * groups, 0);
    host_view_read(table(), DATA, got, DATA_PAGES * PAGE);
    return r;
}

Test(functional, threads_share_work_groups_that_do_not_depend_on_each_other)
{
    enum { GROUPS = DATA_PAGES * PAGE / 4 / ADD_FROM_ITEMS };
    static uint32_t got[DATA_PAGES * PAGE / 4];
    struct functional_result r = run_add_from(0, GROUPS, 4, got);
    cr_assert_eq(r.end, FUNCTIONAL_DONE, "%s", r.text);
    cr_assert_eq(r.threads, 4);
    cr_assert_eq(r.instructions, GROUPS * ADD_FROM_INSTRUCTIONS);
    cr_assert_eq(r.work_groups, GROUPS);
    for (uint32_t i = 0; i < DATA_PAGES * PAGE / 4; i++)
        cr_assert_eq(got[i], i * i + 7, "element %u is %u", i, got[i]);
}

/* data[0..15] after 64 work-groups. */
static struct functional_result run_update(uint32_t sharing, uint32_t got[ADD_FROM_ITEMS])
{
    for (uint32_t i = 0; i < ADD_FROM_ITEMS; i++)
        got[i] = i % 2 ? 500 : 0;
    host_view_write(table(), DATA, got, ADD_FROM_ITEMS * sizeof *got);
    threads = sharing;
    struct functional_result r = run(DATA, 64 * ADD_FROM_ITEMS, ADD_FROM_ITEMS, 128, 0);
    host_view_read(table(), DATA, got, ADD_FROM_ITEMS * sizeof *got);
    return r;
}

enum { ADD = 66, XOR = 74, DEC = 76, OPERATIONS = DEC - ADD + 1 };

ParameterizedTestParameters(functional, threads_share_updates_whose_order_does_not_matter)
{
    static uint32_t cases[2 * OPERATIONS]; /* with and without the old value */
    for (uint32_t i = 0; i < 2 * OPERATIONS; i++)
        cases[i] = i;
    return cr_make_param_array(uint32_t, cases, 2 * OPERATIONS);
}

ParameterizedTest(const uint32_t *number, functional,
                  threads_share_updates_whose_order_does_not_matter)
{
    uint32_t operation = ADD + *number / 2, returns = *number % 2, one[ADD_FROM_ITEMS],
             four[ADD_FROM_ITEMS], code[sizeof change / 4];
    memcpy(code, change, sizeof code);
    code[CHANGE_BY] |= operation << 18 | returns << 16;
    open_memory(code, sizeof code);
    struct functional_result r = run_update(4, four);
    run_update(1, one);
    cr_assert_eq(r.end, FUNCTIONAL_DONE, "%s", r.text);
    cr_assert_eq(r.threads, operation <= XOR && !returns ? 4 : 1, "operation %u", operation);
    cr_assert(!memcmp(one, four, sizeof one), "operation %u", operation);
}

/* Each work-group reads what the next one writes, and none writes what another one does. */
Test(functional, one_thread_does_again_what_depends_on_the_order_of_work_groups)
{
    enum { GROUPS = DATA_PAGES * PAGE / 4 / ADD_FROM_ITEMS - 1 };
    static uint32_t got[DATA_PAGES * PAGE / 4];
    struct functional_result r = run_add_from(64, GROUPS, 4, got);
    cr_assert_eq(r.end, FUNCTIONAL_DONE, "%s", r.text);
    cr_assert_eq(r.instructions, GROUPS * ADD_FROM_INSTRUCTIONS);
    cr_assert_eq(r.work_groups, GROUPS);
    for (uint32_t i = 0; i < GROUPS * ADD_FROM_ITEMS; i++)
        cr_assert_eq(got[i], (i + ADD_FROM_ITEMS) * (i + ADD_FROM_ITEMS) + 7, "element %u is %u", i,
                     got[i]);
}

Test(functional, a_fault_is_that_of_one_thread_however_many_share_the_launch)
{
    enum { GROUPS = DATA_PAGES * PAGE / 4 / ADD_FROM_ITEMS };
    static uint32_t got[2][DATA_PAGES * PAGE / 4];
    struct functional_result one = run_add_from(0, GROUPS + 8, 1, got[0]);
    struct functional_result four = run_add_from(0, GROUPS + 8, 4, got[1]);
    cr_assert_eq(one.end, FUNCTIONAL_FAULT);
    cr_assert_eq(four.end, FUNCTIONAL_FAULT);
    cr_assert_str_eq(one.text, four.text);
    cr_assert_eq(one.address, four.address);
    cr_assert_eq(one.instructions, four.instructions);
    cr_assert(!memcmp(got[0], got[1], sizeof got[0]));
}

/* The first would take all numbers if it went on alone, as no simulated launch does. */
Test(functional, wavefronts_that_compete_are_about_as_long_as_in_a_simulated_launch)
{
    enum { GROUPS = 4, LONGEST = 4 + 5 * TAKE_ONCE };
    static const uint32_t zero;
    open_memory(take_numbers, sizeof take_numbers);
    for (uint32_t i = 0; i < 2; i++) {
        struct sampler_work work = {0};
        counts = &work;
        threads = 1 + 3 * i;
        host_view_write(table(), DATA, &zero, sizeof zero);
        struct functional_result r = run(DATA, GROUPS, 1, GROUPS, 0);
        cr_assert_eq(r.end, FUNCTIONAL_DONE, "%s", r.text);
        cr_assert_eq(r.instructions, 4 * GROUPS + (TAKE_NUMBERS + GROUPS) * TAKE_ONCE);
        cr_assert_eq(work.longest, LONGEST, "%u threads: %lu", threads,
                     (unsigned long)work.longest);
    }
}

/* Work-group 0 waits for others, which write without waiting. */
Test(functional, one_thread_does_again_what_waits_for_other_work_groups)
{
    static const uint32_t zero;
    struct functional_result r[2];
    open_memory(handshake, sizeof handshake);
    for (uint32_t i = 0; i < 2; i++) {
        host_view_write(table(), DATA, &zero, sizeof zero);
        threads = 1 + 3 * i;
        r[i] = run(DATA, 128, 1, 128, 0);
        cr_assert_eq(r[i].end, FUNCTIONAL_DONE, "%s", r[i].text);
        cr_assert_eq(r[i].threads, 1);
    }
    cr_assert_eq(r[0].instructions, r[1].instructions);
}

Test(functional, windows_are_runs_of_neighbouring_pages_of_one_allocation)
{
    open_memory(broken, sizeof broken);
    struct host_view *t = table();
    const struct host_span *w = host_view_find(t, DATA + 12);
    cr_assert_eq(w->start, DATA);
    cr_assert_eq(w->size, PAGE);
    w = host_view_find(t, DATA + 2 * PAGE + 1);
    cr_assert_eq(w->start, DATA + PAGE);
    cr_assert_eq(w->size, 2 * PAGE);
    cr_assert_eq(w->host, memory_at(FIRST_PHYSICAL + 3 * PAGE));
    cr_assert_null(host_view_find(t, DATA + DATA_PAGES * PAGE));
    cr_assert(host_view_is_allocated(t, DATA, DATA_PAGES * PAGE));
    cr_assert_not(host_view_is_allocated(t, DATA + 1, DATA_PAGES * PAGE));
    program_remove_allocation(&program, DATA);
    host_view_refresh(t, &program, pages, 1);
    cr_assert_null(host_view_find(t, DATA + 12));
}
