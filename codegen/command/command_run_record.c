/* What of a run `--record perfetto` shows: --record-window, --record-path, --record-kernel. */
#include <stdio.h>
#include <string.h>

#include "codegen/command/command.h"
#include "codegen/command/command_run.h"
#include "dsl/quantity.h"

/* "2us", or nothing: then `missing`. */
static bool parse_time(const char *text, size_t length, uint64_t missing, uint64_t *time_ps)
{
    int64_t value;
    enum model_dimension dimension;
    *time_ps = missing;
    if (!length)
        return true;
    if (quantity_parse(text, length, &value, &dimension) != QUANTITY_FINE
        || dimension != MODEL_DIM_SECONDS || value < 0)
        return false;
    *time_ps = (uint64_t)value;
    return true;
}

/* "2us..5us" */
static bool parse_window(const char *text, struct heddle_options *options)
{
    const char *dots = strstr(text, "..");
    bool good = dots && parse_time(text, (size_t)(dots - text), 0, &options->trace_from_ps)
                && parse_time(dots + 2, strlen(dots + 2), UINT64_MAX, &options->trace_to_ps)
                && options->trace_from_ps < options->trace_to_ps;
    if (good && (dots != text || dots[2]))
        return true;
    fprintf(stderr,
            "heddle run: '--record-window %s': it is two times, the earlier one first, as in "
            "2us..5us; one of them may be left out\n",
            text);
    return false;
}

const char *run_lines(struct command *c, const struct options_list *list)
{
    const char *text = NULL;
    for (size_t i = 0; i < list->count; i++)
        text = text ? arena_printf(c->arena, "%s\n%s", text, list->items[i]) : list->items[i];
    return text;
}

bool run_has_empty(const char *option, const struct options_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (!list->items[i][0] || strchr(list->items[i], '\n')) {
            fprintf(stderr, "heddle run: '%s' needs a name\n", option);
            return true;
        }
    return false;
}

bool run_record_parse(struct command *c, struct heddle_options *options)
{
    const struct options *o = c->options;
    const char *given = o->record_window         ? "--record-window"
                        : o->record_path.count   ? "--record-path"
                        : o->record_kernel.count ? "--record-kernel"
                                                 : NULL;
    if (given && !o->record_perfetto) {
        fprintf(stderr,
                "heddle run: '%s' says what '--record perfetto=FILE' shows, which is missing\n",
                given);
        return false;
    }
    if (o->record_window && !parse_window(o->record_window, options))
        return false;
    if (run_has_empty("--record-path", &o->record_path)
        || run_has_empty("--record-kernel", &o->record_kernel))
        return false;
    options->trace_instances = run_lines(c, &o->record_path);
    options->trace_launches = run_lines(c, &o->record_kernel);
    return true;
}
