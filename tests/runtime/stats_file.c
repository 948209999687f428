/* Builds a run of tickers, and reads the statistics that a run has written. */
#include "stats_file.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/engine/engine.h"
#include "runtime/engine/run_control.h"
#include "runtime/observe/stats.h"

#include "builder.h"
#include "probe.h"

static char folder[32];
char stats_file_path[64];

void stats_file_begin(void)
{
    snprintf(folder, sizeof folder, "/tmp/heddle_stats_XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    snprintf(stats_file_path, sizeof stats_file_path, "%s/out.json", folder);
}

void stats_file_end(void)
{
    unlink(stats_file_path);
    rmdir(folder);
}

void stats_file_run_tickers(struct engine_limits limits)
{
    build_options("stats>%s;stats-no-host=1", stats_file_path);
    build_start("tickers");
    uint32_t core = build_domain("core", 1000000000);
    probe_protocol(16, false);
    probe_instance(core, "long", PROBE_TICKER, 100, 0, false);
    probe_instance(core, "short", PROBE_TICKER, 30, 0, false);
    probe_build();
    engine_set_limits(&limits);
    cr_assert(stats_open(engine_base.platform));
    cr_assert_eq(engine_run(), ENGINE_IDLE);
    cr_assert(stats_write());
}

json_t *stats_file_load(void)
{
    json_error_t error;
    json_t *root = json_load_file(stats_file_path, JSON_REJECT_DUPLICATES, &error);
    cr_assert_not_null(root, "line %d: %s", error.line, error.text);
    return root;
}

char *stats_file_text(void)
{
    FILE *f = fopen(stats_file_path, "rb");
    cr_assert_not_null(f);
    char *text = calloc(1, 1 << 20);
    cr_assert_lt(fread(text, 1, (1 << 20) - 1, f), (1 << 20) - 1);
    fclose(f);
    return text;
}

long long stats_file_number(json_t *root, const char *first, const char *second, const char *third)
{
    json_t *value = json_object_get(json_object_get(json_object_get(root, first), second), third);
    cr_assert(json_is_integer(value), "%s.%s.%s is no integer", first, second, third);
    return json_integer_value(value);
}
