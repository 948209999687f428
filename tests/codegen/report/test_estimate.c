/* Corrections of cold cycles: bounds, and closed forms of what the estimate is made of. */
#include "codegen/report/estimate.h"

#include <criterion/criterion.h>
#include <jansson.h>

struct form {
    const char *name;
    double warm_reads, warm_walks; /* of 100 and 10 cold ones */
    double lines, pages, both;     /* cycles of the re-timed run */
    double expected;               /* of 1000 */
};

Test(estimate, what_warm_would_not_have_missed_is_what_is_saved)
{
    static const struct form forms[] = {
        {"nothing is warm", 100, 10, 200, 300, 500, 1000},
        {"all is", 0, 0, 200, 300, 500, 500},
        {"all lines", 0, 10, 200, 300, 500, 800},
        {"all pages", 100, 0, 200, 300, 500, 700},
        {"half of the lines, all pages", 50, 0, 200, 300, 500, 600},
        {"half of both", 50, 5, 200, 300, 500, 750},
        {"warm misses more than cold", 150, 20, 200, 300, 500, 1000},
        {"a stream whose misses are hidden", 0, 0, 0, 0, 0, 1000},
        {"more than there is", 0, 0, 0, 0, 2000, 0},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        const struct form *f = &forms[i];
        const struct estimate_input in = {.cycles = 1000,
                                          .retimed = true,
                                          .dram_reads = 100,
                                          .walks = 10,
                                          .warm_reads = f->warm_reads,
                                          .warm_walks = f->warm_walks,
                                          .saved_lines = f->lines,
                                          .saved_pages = f->pages,
                                          .saved_both = f->both};
        cr_expect_float_eq(estimate_cold(&in), f->expected, 1e-9, "%s: %g", f->name,
                           estimate_cold(&in));
    }
}

/* A run that knew what was kept has re-timed nothing else: there is nothing to take a part of. */
Test(estimate, a_run_that_knew_what_was_kept_is_believed)
{
    const struct estimate_input in = {.cycles = 1000,
                                      .retimed = true,
                                      .kept = true,
                                      .dram_reads = 100,
                                      .walks = 10,
                                      .warm_reads = 50,
                                      .warm_walks = 10,
                                      .saved_lines = 100,
                                      .saved_pages = 200,
                                      .saved_both = 250};
    cr_expect_float_eq(estimate_cold(&in), 750, 1e-9);
}

/* One wavefront, which waits for one load after the other: each takes the hit and what the miss
 * costs more, so the waits add up and the estimate from waits alone is exact, too. */
Test(estimate, waits_of_one_wavefront_add_up)
{
    struct estimate_input in = {.cycles = 16100,
                                .dram_reads = 100,
                                .dram = 110,
                                .l2 = 10,
                                .hit = 60,
                                .vector_misses = 100,
                                .vector_instructions = 100,
                                .vector_cycles = 16000,
                                .wait_vector = 16000,
                                .held = 16100,
                                .active = 16100};
    cr_expect_float_eq(estimate_cold(&in), 16100 - 100 * 100, 1e-6);
    in.warm_reads = 100;
    cr_expect_float_eq(estimate_cold(&in), 16100, 1e-6);
}

Test(estimate, corrected_cycles_are_between_nothing_and_the_cold_run)
{
    uint64_t state = 1;
    for (unsigned i = 0; i < 20000; i++) {
        double value[24];
        for (unsigned v = 0; v < 24; v++) { /* splitmix64 */
            uint64_t z = (state += 0x9e3779b97f4a7c15u);
            z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
            z = (z ^ z >> 27) * 0x94d049bb133111ebu;
            z ^= z >> 31;
            value[v] = z & 7 ? (double)(z >> 40) : 0;
        }
        const struct estimate_input in = {.cycles = value[0],
                                          .retimed = i & 1,
                                          .saved_lines = value[1],
                                          .saved_pages = value[2],
                                          .saved_both = value[3],
                                          .dram_reads = value[4],
                                          .dram = value[5],
                                          .l2 = value[6] / 16,
                                          .walks = value[7],
                                          .walk = value[8],
                                          .warm_reads = value[9],
                                          .warm_walks = value[10],
                                          .wait_vector = value[11],
                                          .wait_scalar = value[12],
                                          .wait_code = value[13],
                                          .held = value[14],
                                          .active = value[15],
                                          .vector_instructions = value[16],
                                          .vector_cycles = value[17],
                                          .hit = value[18],
                                          .vector_pages = value[19],
                                          .vector_misses = value[20],
                                          .scalar_misses = value[21],
                                          .code_misses = value[22],
                                          .walked = value[23]};
        double cycles = estimate_cold(&in);
        cr_assert(cycles >= 0 && cycles <= in.cycles, "%u: %g of %g", i, cycles, in.cycles);
    }
}

Test(estimate, numbers_come_from_the_records_of_kernel_and_profile)
{
    json_t *run = json_pack("{s{}s{}}", "stamp", "links");
    json_t *kernel = json_pack(
        "{sIs{sIsIsI}s{s{sIsI}s{sIsI}s{sI}}}", "cycles", (json_int_t)5000, "cold", "lines",
        (json_int_t)100, "pages", (json_int_t)700, "both", (json_int_t)900, "components",
        "gpu.dram[0]", "reads", (json_int_t)30, "bytes_read", (json_int_t)1920, "gpu.dram[1]",
        "reads", (json_int_t)10, "bytes_read", (json_int_t)640, "mmu", "walks", (json_int_t)8);
    json_t *profile = json_pack("{s{sIsI}}", "profile", "memory_reads", (json_int_t)20,
                                "page_walks", (json_int_t)0);
    struct estimate_input in;
    estimate_read(&in, run, kernel, profile, NULL);
    cr_expect(in.retimed);
    cr_expect_float_eq(in.dram_reads, 40, 1e-9);
    cr_expect_float_eq(in.controllers, 40.0 / 30, 1e-9);
    cr_expect_float_eq(in.walks, 8, 1e-9);
    /* All pages and half of the lines are warm. */
    cr_expect_float_eq(estimate_cold(&in), 5000 - (0.5 * 700 + 0.5 * 900), 1e-9);
    json_object_del(kernel, "cold");
    estimate_read(&in, run, kernel, profile, NULL);
    cr_expect_not(in.retimed);
    json_decref(run);
    json_decref(kernel);
    json_decref(profile);
}

/* Lines that are read again because the L2 is too small are no cold misses. */
Test(estimate, the_formula_takes_unique_accesses)
{
    struct estimate_input in = {.cycles = 10000,
                                .dram_reads = 6400,
                                .unique_reads = 1600,
                                .controllers = 2,
                                .line = 64,
                                .reuse = 0.5,
                                .dram = 300,
                                .l2 = 100};
    cr_expect_float_eq(estimate_formula(&in), 10000 - 1600 / (2 * 64.0) * 0.5 * 200, 1e-9);
    in.dram_reads = 1600;
    cr_expect_float_eq(estimate_formula(&in), 10000 - 1600 / (2 * 64.0) * 0.5 * 200, 1e-9);
}
