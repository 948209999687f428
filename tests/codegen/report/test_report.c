/* codegen/report/report.c: reading kernels, adding launches up, and what the words say for which
 * numbers.
 */
#include "codegen/report/report.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

/* One kernel as in a statistics file: 64 compute units with 40 slots, 1,000 cycles. */
struct kernel {
    const char *name, *limiter;
    json_int_t vmcnt, barrier, conflict, stores, valu, launch; /* slot-cycles */
    json_int_t unit_cycles;
    json_int_t longest; /* 0: all are alike */
    json_int_t l1_hits, l1_misses, l1_merged;
    int groups; /* 0: 32 */
};

enum { UNITS = 64, SLOTS = UNITS * 40, CYCLES = 1000 };

static json_t *make_kernel(const struct kernel *k)
{
    json_int_t used = k->vmcnt + k->barrier + k->conflict + k->stores + k->valu + k->launch;
    json_int_t rest = (json_int_t)SLOTS * CYCLES - used;
    json_t *kernel = json_pack(
        "{s:s, s:i, s:i, s:i, s:i, s:i, s:b, s:{s:{s:I}, s:{s:I, s:I, s:I, s:I}, s:{s:I, s:I}}}",
        "name", k->name, "gpu", 0, "cycles", CYCLES, "slots", SLOTS, "wavefront_instructions", 100,
        "work_groups", k->groups ? k->groups : 32, "overlaps", 0, "slot_cycles", "issued", "valu",
        k->valu, "waiting", "vmcnt", k->vmcnt, "barrier", k->barrier, "lds_conflict", k->conflict,
        "stores", k->stores, "empty", "launch", k->launch, "draining", rest);
    json_object_set_new(
        kernel, "occupancy",
        json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:s, s:{s:I, s:I, s:I}}",
                  "compute_units", UNITS, "simds", 4, "slots_per_simd", 10,
                  "wavefronts_per_work_group", 4, "work_groups_per_unit", 3, "vgprs", 84, "sgprs",
                  16, "lds_bytes", 0, "limited_by", k->limiter, "achieved", "wavefront_cycles",
                  used - k->launch, "unit_cycles", k->unit_cycles, "longest_unit_cycles",
                  k->longest ? k->longest : k->unit_cycles / UNITS));
    json_object_set_new(kernel, "units",
                        json_pack("{s:i, s:i, s:i, s:i, s:i}", "lds_busy", 100, "lds_conflict", 50,
                                  "vector_memory_instructions", 10, "vector_memory_cycles", 1230,
                                  "vector_memory_lines", 25));
    json_object_set_new(kernel, "components",
                        json_pack("{s:{s:I, s:I, s:I}, s:{s:i}}", "gpu.sa[0].l1v[3]", "hits",
                                  k->l1_hits, "misses", k->l1_misses, "mshr_hits", k->l1_merged,
                                  "gpu.sa[0].cu[3]", "valu", 3));
    return kernel;
}

static json_t *make_run(const struct kernel *kernels, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, make_kernel(&kernels[i]));
    return json_pack("{s:o, s:{}}", "kernels", list, "components");
}

static const struct kernel plain = {
    .name = "plain", .limiter = "wavefront_slots", .valu = 1000, .unit_cycles = UNITS * CYCLES};

static struct arena arena;
static struct report report;

static void set_up(void)
{
    arena_init(&arena);
    report = (struct report){.arena = &arena};
}

static void tear_down(void)
{
    arena_release(&arena);
}

TestSuite(report, .init = set_up, .fini = tear_down);

/* What the words, or with `k` NULL the whole report, say. */
static char *text(const struct kernel *k)
{
    char *out = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&out, &size);
    if (k) {
        json_t *root = make_run(k, 1);
        report = (struct report){.arena = &arena};
        cr_assert(report_read(&report, 0, root, "file"));
        report_print_words(&report.kernels.items[0], 0, "", file);
        json_decref(root);
    } else {
        report_print(&report, file);
    }
    fclose(file);
    return out;
}

Test(report, launches_of_the_same_kernel_are_added)
{
    struct kernel kernels[] = {plain, plain, plain};
    kernels[1].name = "other";
    kernels[2].valu = 500;
    kernels[2].limiter = "grid";
    json_t *root = make_run(kernels, 3);
    cr_assert(report_read(&report, 0, root, "file"));
    cr_assert_eq(report.kernels.count, 2);
    const struct report_kernel *k = &report.kernels.items[0];
    cr_expect_eq(k->launches[0], 2);
    cr_expect_eq(k->cycles[0], 2 * CYCLES);
    cr_expect_eq(k->total[0], 2 * (uint64_t)SLOTS * CYCLES);
    cr_expect_eq(k->wavefronts[0], 1500);
    cr_expect_eq(report_value(k, 0, "issued", "valu"), 1500);
    cr_expect_eq(report_value(k, 0, "empty", NULL), k->total[0] - 1500);
    cr_expect_str_eq(k->occupancy[0].limited_by, "wavefront_slots, grid");
    json_decref(root);
}

Test(report, slot_cycles_that_do_not_add_up_are_refused, .init = cr_redirect_stderr)
{
    set_up();
    json_t *root = make_run(&plain, 1);
    json_object_set_new(json_array_get(json_object_get(root, "kernels"), 0), "cycles",
                        json_integer(CYCLES + 1));
    cr_expect_not(report_read(&report, 0, root, "file"));
    json_decref(root);
    root = json_pack("{s:[{s:s}]}", "kernels", "name", "functional");
    report = (struct report){.arena = &arena};
    cr_expect_not(report_read(&report, 0, root, "file"), "nothing to report");
    json_decref(root);
}

Test(report, two_runs_are_compared_by_kernel_and_kind)
{
    struct kernel second[] = {plain, plain};
    second[0].valu = 400;
    second[0].vmcnt = 1600;
    second[1].name = "new";
    json_t *a = make_run(&plain, 1), *b = make_run(second, 2);
    cr_assert(report_read(&report, 0, a, "a"));
    cr_assert(report_read(&report, 1, b, "b"));
    char *out = NULL;
    size_t size;
    FILE *file = open_memstream(&out, &size);
    report_print_csv(&report, file);
    fclose(file);
    cr_expect_eq(strstr(out, "kernel,group,kind,a,b,difference\n"), out);
    cr_expect_not_null(strstr(out, "\"plain\",issued,valu,1000,400,-600\n"));
    cr_expect_not_null(strstr(out, "\"plain\",waiting,vmcnt,0,1600,1600\n"));
    cr_expect_not_null(strstr(out, "\"new\",issued,valu,0,1000,1000\n"));
    free(out);
    out = text(NULL);
    cr_expect_not_null(strstr(out, "+1600"));
    cr_expect_not_null(strstr(out, "  a: 1 launch, 1000 cycles"));
    cr_expect_not_null(strstr(out, "  b: 1 launch, 1000 cycles"));
    free(out);
    json_decref(a);
    json_decref(b);
}

Test(report, work_groups_a_launch_are_a_mean)
{
    struct kernel kernels[] = {plain, plain};
    kernels[0].groups = 1;
    kernels[1].groups = 2;
    kernels[0].unit_cycles = kernels[1].unit_cycles = CYCLES;
    kernels[0].limiter = kernels[1].limiter = "grid";
    char *out = text(&kernels[0]);
    cr_expect_not_null(strstr(out, "limited by the grid: 1 work-group a launch for"));
    free(out);
    json_t *root = make_run(kernels, 2);
    size_t size;
    FILE *file = open_memstream(&out, &size);
    report = (struct report){.arena = &arena};
    cr_assert(report_read(&report, 0, root, "file"));
    report_print_words(&report.kernels.items[0], 0, "", file);
    fclose(file);
    cr_expect_not_null(strstr(out, "limited by the grid: 1.5 work-groups a launch for"));
    free(out);
    json_decref(root);
}

Test(report, words_say_what_the_numbers_say)
{
    const json_int_t all = (json_int_t)SLOTS * CYCLES, units = UNITS * CYCLES;
    const struct {
        struct kernel kernel;
        const char *says, *says_not;
    } cases[] = {
        {{"k", "wavefront_slots", .vmcnt = 610, .valu = 390, .unit_cycles = units, .l1_hits = 1,
          .l1_misses = 3},
         "limited by vector memory: 61 % of the wavefronts' cycles wait on vmcnt; an instruction "
         "takes 123 cycles; 25 % of the "
         "accesses hit in the L1",
         "could hide it"},
        {{"k", "wavefront_slots", .vmcnt = 610, .valu = 390, .unit_cycles = units, .l1_hits = 1,
          .l1_misses = 3, .l1_merged = 2},
         "25 % of the accesses hit in the L1, 50 % merged there into a pending miss",
         "could hide"},
        {{"k", "vgprs", .vmcnt = 610, .valu = 390, .unit_cycles = units},
         "more wavefronts could hide it, but vector registers let only 3.0 of 10 onto a SIMD",
         "grid"},
        {{"k", "grid", .vmcnt = 610, .valu = 390, .unit_cycles = units / 4},
         "limited by the grid: 32 work-groups a launch for 64 compute units, which have none for "
         "75 % of the time",
         "could hide it"},
        {{"k", "wavefront_slots", .valu = units * 4 * 8 / 10, .vmcnt = units * 4,
          .unit_cycles = units},
         "limited by the vector ALUs: they work for 80 % of the time",
         "no single limit"},
        {{"k", "wavefront_slots", .valu = 900, .vmcnt = 100, .unit_cycles = units},
         "limited by the length of the program: wavefronts issue or execute for 90 %",
         "no single limit"},
        {{"k", "wavefront_slots", .barrier = 500, .valu = 500, .unit_cycles = units},
         "limited by barriers: 50 %",
         "vmcnt"},
        {{"k", "wavefront_slots", .stores = 500, .valu = 500, .unit_cycles = units},
         "limited by stores: for 50 %",
         "vmcnt"},
        {{"k", "wavefront_slots", .conflict = 200, .vmcnt = 500, .valu = 300, .unit_cycles = units},
         "bank conflicts of the LDS cost 20 % of the wavefronts' cycles (50 %",
         "no single limit"},
        {{"k", "wavefront_slots", .launch = all / 2, .valu = 1000, .unit_cycles = units / 2},
         "short for what a launch costs: 50 %",
         "grid"},
        {{"k", "wavefront_slots", .valu = 900, .vmcnt = 100, .unit_cycles = units * 6 / 10,
          .longest = CYCLES},
         "unbalanced: one compute unit had wavefronts for 1000 cycles, all of them on average for "
         "40 % less; 32 work-groups a launch, of which 3 fit on each",
         "limited by the grid"},
        {{"k", "wavefront_slots", .vmcnt = 300, .barrier = 300, .stores = 300, .valu = 100,
          .unit_cycles = units},
         "no single limit: of the wavefronts' cycles 30 % are waiting.vmcnt, 30 % waiting.barrier",
         "limited by"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *said = text(&cases[i].kernel);
        cr_expect_not_null(strstr(said, cases[i].says), "case %zu says: %s", i, said);
        cr_expect_null(strstr(said, cases[i].says_not), "case %zu says: %s", i, said);
        free(said);
    }
}
