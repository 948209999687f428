/* Kernels in the statistics: a record each, with a share of the components' statistics. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>

#include "runtime/engine/engine.h"
#include "runtime/engine/run_control.h"
#include "runtime/observe/stats.h"
#include "runtime/scheduler/run.h"
#include "tests/runtime/builder.h"
#include "tests/runtime/probe.h"
#include "tests/runtime/stats_file.h"

TestSuite(kernel_stats, .init = stats_file_begin, .fini = stats_file_end);

Test(kernel_stats, a_kernel_has_its_own_share_of_the_statistics)
{
    stats_file_run_tickers((struct engine_limits){0});
    json_t *root = stats_file_load();
    json_t *kernels = json_object_get(root, "kernels");
    cr_assert_eq(json_array_size(kernels), 2);
    json_t *longer = json_array_get(kernels, 0);
    json_t *shorter = json_array_get(kernels, 1);
    cr_assert_str_eq(json_string_value(json_object_get(longer, "name")), "ticking \"kernel\"");
    cr_assert_eq(json_integer_value(json_object_get(longer, "start_ps")), 1000);
    cr_assert_eq(json_integer_value(json_object_get(longer, "end_ps")), 100000);
    cr_assert_eq(json_integer_value(json_object_get(longer, "cycles")), 99);
    cr_assert_eq(json_integer_value(json_object_get(longer, "wavefront_instructions")), 100);
    cr_assert_eq(json_integer_value(json_object_get(longer, "work_groups")), 3);
    cr_assert_eq(json_integer_value(json_object_get(shorter, "gpu")), 1);
    cr_assert_eq(stats_file_number(shorter, "components", "short", "received"), 2 * 29,
                 "from the end of its first edge on");
    cr_assert_eq(stats_file_number(shorter, "components", "long", "received"), 2 * 29);
    cr_assert_eq(stats_file_number(longer, "components", "long", "received"), 2 * 99);
    cr_assert_eq(stats_file_number(root, "components", "long", "received"), 2 * 100);
    json_decref(root);
}

Test(kernel_stats, a_kernel_has_what_it_was_described_with)
{
    stats_file_run_tickers((struct engine_limits){0});
    json_t *root = stats_file_load();
    json_t *longer = json_array_get(json_object_get(root, "kernels"), 0);
    cr_expect_eq(json_integer_value(json_object_get(longer, "slots")), 7);
    cr_expect_eq(stats_file_number(longer, "time", "spent", "well"), 5);
    cr_expect_eq(stats_file_number(longer, "time", "spent", "badly"), 100);
    cr_expect_eq(stats_file_number(longer, "time", "lost", "all"), 2);
    cr_expect_str_eq(json_string_value(json_object_get(json_object_get(longer, "time"), "of")),
                     "day");
    cr_expect(json_is_true(json_object_get(longer, "overlaps")));
    json_decref(root);
}

/* Tickers in arrays: two of a kind inside each of two top-level instances. */
static json_t *run_arrays(const char *what)
{
    build_options("stats>%s;stats-no-host=1;kernel-stats=%s", stats_file_path, what);
    static const char *const paths[] = {"gpu[0].cu[0]", "gpu[0].cu[1]", "gpu[1].cu[0]",
                                        "gpu[1].cu[1]"};
    build_start("arrays");
    uint32_t core = build_domain("core", 1000000000);
    probe_protocol(16, false);
    for (int i = 0; i < 4; i++)
        probe_instance(core, paths[i], PROBE_TICKER, 10 * (i + 1), 0, false);
    probe_build();
    engine_set_limits(&(struct engine_limits){0});
    cr_assert(stats_open(engine_base.platform));
    cr_assert_eq(engine_run(), ENGINE_IDLE);
    cr_assert(stats_write());
    return stats_file_load();
}

Test(kernel_stats, shares_of_a_kernel_are_sums_over_arrays_inside_of_top_level_instances)
{
    json_t *root = run_arrays("sum");
    json_t *last = json_array_get(json_object_get(root, "kernels"), 3);
    cr_expect_eq(json_object_size(json_object_get(last, "components")), 2);
    /* From the end of the first edge on; the others end at edges 10, 20, 30. */
    cr_expect_eq(stats_file_number(last, "components", "gpu[0].cu[*]", "received"), 2 * (9 + 19));
    cr_expect_eq(stats_file_number(last, "components", "gpu[1].cu[*]", "received"), 2 * (29 + 39));
    json_decref(root);
    root = run_arrays("all");
    last = json_array_get(json_object_get(root, "kernels"), 3);
    cr_expect_eq(json_object_size(json_object_get(last, "components")), 4);
    cr_expect_eq(stats_file_number(last, "components", "gpu[1].cu[0]", "received"), 2 * 29);
    json_decref(root);
    root = run_arrays("none");
    last = json_array_get(json_object_get(root, "kernels"), 3);
    cr_expect_null(json_object_get(last, "components"));
    cr_expect_eq(stats_file_number(last, "time", "spent", "badly"), 40);
    json_decref(root);
}

Test(kernel_stats, kernels_that_overlap_do_not_depend_on_the_order_of_ticks)
{
    stats_file_run_tickers((struct engine_limits){0});
    char *expected = stats_file_text();
    stats_file_run_tickers((struct engine_limits){.tick_order = ENGINE_DESCENDING});
    char *text = stats_file_text();
    cr_assert_str_eq(text, expected);
    free(text);
    free(expected);
}
