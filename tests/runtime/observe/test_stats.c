/* Statistics and traces as files: well-formed, complete, the same for every order of ticks, and
 * never half-written. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/run_control.h"
#include "runtime/engine/stat.h"
#include "runtime/observe/stats.h"
#include "runtime/observe/timeline.h"
#include "runtime/scheduler/run.h"
#include "runtime/state/platform.h"
#include "tests/runtime/builder.h"
#include "tests/runtime/network.h"
#include "tests/runtime/stats_file.h"
#include "tests/sanitized.h"

TestSuite(stats, .init = stats_file_begin, .fini = stats_file_end);
TestSuite(trace, .init = stats_file_begin, .fini = stats_file_end);

static void run_network(struct engine_limits limits, bool no_host)
{
    const struct platform_table *table = network_describe(21);
    build_options("stats>%s;stats-no-host=%d;program:cafe", stats_file_path, no_host);
    cr_assert(platform_build(table));
    engine_set_limits(&limits);
    cr_assert(stats_open(table));
    cr_assert_eq(engine_run(), ENGINE_IDLE);
    cr_assert(stats_write());
}

struct bucket {
    uint64_t value;
    unsigned bucket;
};

ParameterizedTestParameters(stats, a_value_has_its_bucket)
{
    static struct bucket all[] = {{0, 0},         {1, 1},          {2, 2},        {3, 2},
                                  {4, 3},         {7, 3},          {8, 4},        {1023, 10},
                                  {1024, 11},     {4194303, 22},   {4194304, 23}, {8388608, 23},
                                  {1u << 31, 23}, {UINT64_MAX, 23}};
    return cr_make_param_array(struct bucket, all, ARRAY_COUNT(all));
}

/* Bucket 0: the value 0; bucket i: 2^(i-1) .. 2^i - 1; the last takes the rest. */
ParameterizedTest(struct bucket *b, stats, a_value_has_its_bucket)
{
    struct stat_histogram h = {0};
    stat_histogram_add(&h, b->value);
    stat_histogram_add(&h, b->value);
    for (unsigned i = 0; i < STAT_BUCKETS; i++)
        cr_expect_eq(h.bucket[i], i == b->bucket ? 2 : 0, "bucket %u", i);
    cr_expect_eq(h.min, b->value);
    cr_expect_eq(h.max, b->value);
    cr_expect_eq(h.count, 2);
    cr_expect_eq(h.sum, b->value * 2);
}

Test(stats, the_file_has_all_its_parts)
{
    run_network((struct engine_limits){0}, false);
    json_t *root = stats_file_load();
    cr_assert_str_eq(json_string_value(json_object_get(root, "platform")), "network");
    cr_assert_str_eq(json_string_value(json_object_get(json_object_get(root, "stamp"), "program")),
                     "cafe");
    cr_assert_eq(json_integer_value(json_object_get(root, "time_ps")), (long long)engine.time_ps);
    cr_assert_eq(
        stats_file_number(json_object_get(root, "stamp"), "parameters", "node[3]", "count"), 300);
    cr_assert_eq(stats_file_number(root, "components", "node[3]", "received"),
                 (long long)probe_received(3));
    cr_assert_eq(
        stats_file_number(json_object_get(root, "components"), "node[3]", "values", "count"),
        (long long)probe_received(3));
    cr_assert_eq(stats_file_number(root, "clocks", "clock[1]", "hz"), 1132000000);
    cr_assert_geq(stats_file_number(json_object_get(root, "links"), "wire[0]", "forward", "bytes"),
                  48);
    cr_assert_str_eq(json_object_iter_key(json_object_iter_at(root, "host")), "host");
    cr_assert_null(json_object_iter_next(root, json_object_iter_at(root, "host")),
                   "host is the last");
    json_decref(root);
}

Test(stats, requests_of_connections_add_up_to_what_was_received)
{
    run_network((struct engine_limits){0}, true);
    json_t *root = stats_file_load();
    long long sent = 0, received = 0;
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(root, "connections"), key, value) sent +=
        json_integer_value(json_object_get(value, "requests"));
    json_object_foreach(json_object_get(root, "components"), key, value) received +=
        json_integer_value(json_object_get(value, "received"));
    cr_assert_gt(sent, 10000);
    cr_assert_eq(sent, received);
    json_decref(root);
}

Test(stats, an_unwritable_path_is_refused_at_the_start)
{
    build_options("stats>/nowhere/at/all.json;record perfetto>/nowhere/at/all.json");
    const struct platform_table *table = network_describe(1);
    int null = open("/dev/null", O_WRONLY);
    dup2(null, 2);
    cr_assert(platform_build(table));
    cr_assert_not(stats_open(table));
    cr_assert_not(timeline_open(table));
    cr_assert_eq(engine.tracing, 0);
}

/* The times of all events "b" and "e" of a name, in picoseconds, from the exact text of the file.
 */
static size_t trace_times(const char *text, const char *name, uint64_t *begins, uint64_t *ends,
                          size_t limit)
{
    char wanted[64];
    size_t count[2] = {0, 0};
    snprintf(wanted, sizeof wanted, "\"name\": \"%s\", \"ts\": ", name);
    for (const char *at = text; (at = strstr(at, wanted)); at++) {
        const char *event = at;
        while (strncmp(event, "\"ph\"", 4) != 0)
            event--;
        bool end = event[7] == 'e';
        unsigned long long us, ps;
        cr_assert_eq(sscanf(at + strlen(wanted), "%llu.%6llu", &us, &ps), 2);
        if (count[end] < limit)
            (end ? ends : begins)[count[end]++] = us * 1000000 + ps;
    }
    cr_assert_eq(count[0], count[1]);
    return count[0];
}

Test(trace, messages_stand_at_their_exact_times)
{
    uint64_t begins[64], ends[64];
    build_start("traced");
    uint32_t core = build_domain("core", 1132000000);
    uint32_t protocol = probe_protocol(16, true);
    uint32_t a = probe_instance(core, "a", PROBE_SOURCE, 5, 0, true);
    uint32_t b = probe_instance(core, "b", PROBE_SINK, 0, 1, true);
    build_connect((struct build_end){a, PROBE_OUT, 0}, (struct build_end){b, PROBE_IN, 0},
                  probe_wire(protocol, 8, 1, 3));
    probe_build();
    build_options("record perfetto>%s", stats_file_path);
    cr_assert(timeline_open(engine_base.platform));
    cr_assert_eq(engine_run(), ENGINE_IDLE);
    cr_assert(timeline_close());
    json_decref(stats_file_load());
    char *text = stats_file_text();
    cr_assert_eq(trace_times(text, "ask", begins, ends, 64), 5);
    for (uint64_t i = 0; i < 5; i++) {
        cr_assert_eq(begins[i], engine_time_of(0, 1 + i));
        cr_assert_eq(ends[i], engine_time_of(0, 4 + i));
    }
    cr_assert_eq(trace_times(text, "answer", begins, ends, 64), 5);
    cr_assert_eq(begins[0], engine_time_of(0, 4));
    free(text);
}

Test(trace, spans_of_components_and_no_change_of_results)
{
    uint64_t begins[4], ends[4];
    stats_file_run_tickers((struct engine_limits){0});
    uint64_t expected = engine.time_ps;
    build_start("tickers");
    uint32_t core = build_domain("core", 1000000000);
    probe_instance(core, "long", PROBE_TICKER, 100, 0, false);
    probe_build();
    build_options("record perfetto>%s", stats_file_path);
    cr_assert(stats_open(engine_base.platform));
    cr_assert(timeline_open(engine_base.platform));
    cr_assert_eq(engine_run(), ENGINE_IDLE);
    cr_assert(timeline_close());
    cr_assert_eq(engine.time_ps, expected);
    json_decref(stats_file_load());
    char *text = stats_file_text();
    cr_assert_eq(trace_times(text, "ticking", begins, ends, 4), 1);
    cr_assert_eq(begins[0], 1000);
    cr_assert_eq(ends[0], 100000);
    free(text);
}

Test(stats, they_do_not_depend_on_the_order_of_ticks)
{
    run_network((struct engine_limits){0}, true);
    char *expected = stats_file_text();
    cr_assert_null(strstr(expected, "\"host\""));
    for (int order = SANITIZED ? ENGINE_RANDOM : ENGINE_DESCENDING; order <= ENGINE_RANDOM;
         order++) {
        run_network((struct engine_limits){.tick_order = order, .seed = 5}, true);
        char *text = stats_file_text();
        cr_assert_str_eq(text, expected);
        free(text);
    }
    free(expected);
}
