/* Time series of `heddle run`: --series, --every, --series-counter. */
#include <stdio.h>
#include <string.h>

#include "codegen/command/command.h"
#include "codegen/command/command_run.h"
#include "dsl/quantity.h"

/* "10us", "1000cy" or "1000". */
static bool parse_interval(const char *text, struct heddle_options *options)
{
    int64_t value = 0;
    enum model_dimension dimension = MODEL_DIM_NONE;
    bool good = quantity_parse(text, strlen(text), &value, &dimension) == QUANTITY_FINE && value > 0
                && value <= INT64_MAX / 2;
    if (good && dimension == MODEL_DIM_SECONDS)
        options->series_ps = (uint64_t)value;
    else if (good && (dimension == MODEL_DIM_CYCLES || dimension == MODEL_DIM_NONE))
        options->series_cycles = (uint64_t)value;
    if (options->series_ps || options->series_cycles)
        return true;
    fprintf(stderr,
            "heddle run: '--every %s': it is a time with its unit (10us) or a number of cycles of "
            "the fastest clock (1000cy), above 0\n",
            text);
    return false;
}

bool run_series_parse(struct command *c, struct heddle_options *options)
{
    const struct options *o = c->options;
    if (!o->every && (o->series || o->series_counter.count))
        fprintf(stderr,
                "heddle run: '%s' needs an interval of simulated time; give '--every 10us', too\n",
                o->series ? "--series" : "--series-counter");
    else if (o->every && !o->series && !o->record_perfetto)
        fprintf(stderr, "heddle run: '--every' says how often '--series FILE' and '--record "
                        "perfetto=FILE' tell counters; give either, too\n");
    else if (o->every && options->mode == PLATFORM_FUNCTIONAL)
        fprintf(stderr, "heddle run: '--every' tells what happens over time; there is none with "
                        "'--mode functional'\n");
    else if (!o->every || parse_interval(o->every, options)) {
        options->series_counters = run_lines(c, &o->series_counter);
        return !run_has_empty("--series-counter", &o->series_counter);
    }
    return false;
}
