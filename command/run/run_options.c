/* The options of `heddle run` whose values are more than a word or a number: the values that each
 * may have, and the part that is handed over. run_rules.c knows which options belong together. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "command/command_say.h"
#include "components/sampling/sampling_options.h"
#include "dsl/quantity.h"
#include "runtime/engine/options.h"

#include "hand_over.h"
#include "run.h"

const char *run_absolute(struct command *c, const char *path)
{
    char folder[PATH_MAX];
    if (!path || path[0] == '/' || !getcwd(folder, sizeof folder))
        return path;
    return region_printf(c->region, "%s/%s", folder, path);
}

const char *run_numbered_path(struct command *c, const char *path, unsigned number, bool folder)
{
    size_t size = options_number_path(path, number, folder, NULL, 0) + 1;
    char *text = region_take(c->region, size);
    options_number_path(path, number, folder, text, size);
    return text;
}

bool run_is_functional(const struct options *o)
{
    return o->mode && strcmp(o->mode, "functional") == 0;
}

bool run_is_sampled(const struct options *o)
{
    return o->mode && strcmp(o->mode, "sampled") == 0;
}

/* ---- time ---- */

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
static bool parse_window(const struct options *o, struct handed *handed)
{
    const char *text = o->record_window, *dots = text ? strstr(text, "..") : NULL;
    uint64_t from_ps, to_ps;
    if (!text)
        return true;
    if (!dots || !parse_time(text, (size_t)(dots - text), 0, &from_ps)
        || !parse_time(dots + 2, strlen(dots + 2), UINT64_MAX, &to_ps) || from_ps >= to_ps
        || (dots == text && !dots[2])) {
        command_say("'--record-window %s': it is two times, the earlier one first, as in 2us..5us; "
                    "one of them may be left out",
                    text);
        return false;
    }
    hand_over(handed, "record-window", '=',
              region_printf(handed->region, "%" PRIu64 "..%" PRIu64, from_ps, to_ps));
    return true;
}

/* Hands over "10us" as picoseconds, "1000cy" or "1000" as cycles of the fastest clock. False: the
 * text is neither, or not above 0. */
static bool hand_over_time(struct handed *handed, const char *text, const char *ps_key,
                           const char *cycles_key)
{
    int64_t value = 0;
    enum model_dimension dimension = MODEL_DIM_NONE;
    if (quantity_parse(text, strlen(text), &value, &dimension) != QUANTITY_FINE || value <= 0
        || value > INT64_MAX / 2)
        return false;
    bool cycles = dimension == MODEL_DIM_CYCLES || dimension == MODEL_DIM_NONE;
    if (!cycles && dimension != MODEL_DIM_SECONDS)
        return false;
    hand_over_number(handed, cycles ? cycles_key : ps_key, (uint64_t)value);
    return true;
}

static bool parse_interval(const struct options *o, struct handed *handed)
{
    bool ok = !o->every || hand_over_time(handed, o->every, "every-ps", "every-cycles");
    if (!ok)
        command_say("'--every %s': it is a time with its unit (10us) or a number of cycles of the "
                    "fastest clock (1000cy), above 0",
                    o->every);
    return ok;
}

/* One kernel, as --kernels names it. */
static bool check_kernel(const char *text, const char *kernel)
{
    struct sampling sampling;
    char mistake[512];
    bool ok = *kernel && !strchr(kernel, ',')
              && sampling_parse(kernel, NULL, &sampling, mistake, sizeof mistake)
              && !sampling.automatic;
    if (!ok)
        command_say("'--checkpoint-at %s': after kernel: comes the number of a launch, from 1, or "
                    "the name of a kernel",
                    text);
    return ok;
}

/* "5000" or "5000cy": a cycle of the fastest clock; "25us": a time; "kernel:3", "kernel:NAME": the
 * beginning of a launch. */
static bool parse_when(const struct options *o, struct handed *handed)
{
    static const char kernel[] = "kernel:";
    const char *text = o->checkpoint_at;
    if (!text)
        return true;
    if (strncmp(text, kernel, sizeof kernel - 1) == 0) {
        hand_over(handed, "checkpoint-kernel", '=', text + sizeof kernel - 1);
        return check_kernel(text, text + sizeof kernel - 1);
    }
    bool ok = hand_over_time(handed, text, "checkpoint-ps", "checkpoint-cycle");
    if (!ok)
        command_say("'--checkpoint-at %s': it is a cycle of the fastest clock (5000), a time with "
                    "its unit (25us), above 0, or a kernel (kernel:NAME, kernel:3)",
                    text);
    return ok;
}

/* ---- reports, sampling and profiles ---- */

bool run_reports_limits(const struct options *o)
{
    return o->report && strcmp(o->report, "limits") == 0;
}

bool run_profiles_instructions(const struct options *o)
{
    return o->profile
           && (strcmp(o->profile, "instructions") == 0
               || (strncmp(o->profile, "instructions=", 13) == 0 && o->profile[13]));
}

static bool parse_profile(const struct options *o, struct handed *handed)
{
    if (o->profile && (strcmp(o->profile, "memory") == 0 || strcmp(o->profile, "blocks") == 0))
        hand_over(handed, "profile", '=', o->profile);
    else if (o->profile && !run_profiles_instructions(o)) {
        command_say("'--profile %s': it is blocks, memory, instructions or instructions=FILE",
                    o->profile);
        return false;
    }
    return true;
}

static bool parse_sampling(const struct options *o, struct sampling *sampling)
{
    char mistake[512];
    const char *kernels = run_is_sampled(o) ? "auto" : o->kernels;
    if (sampling_parse(kernels, o->warmup, sampling, mistake, sizeof mistake)
        && sampling_parse_error(o->error, sampling, mistake, sizeof mistake))
        return true;
    command_say("%s", mistake);
    return false;
}

/* ---- others ---- */

/* "ascending", "descending", "random:SEED". */
static bool parse_order(const struct options *o, struct handed *handed)
{
    static const char random_with[] = "random:";
    const char *text = o->tick_order;
    char *end;
    if (!text || strcmp(text, "ascending") == 0)
        return true;
    if (strcmp(text, "descending") == 0) {
        hand_over(handed, "tick-order", '=', text);
        return true;
    }
    const char *seed = text + sizeof random_with - 1;
    if (strncmp(text, random_with, sizeof random_with - 1) == 0 && *seed >= '0' && *seed <= '9') {
        errno = 0;
        hand_over(handed, "tick-order", '=', "random");
        hand_over_number(handed, "tick-seed", strtoull(seed, &end, 10));
        if (errno == 0 && *end == '\0')
            return true;
    }
    command_say("'--tick-order %s': it is ascending, descending or random:SEED", text);
    return false;
}

/* "0,1,2,3"; whether these GPUs are there is found out when the platform stands. */
static bool check_unified(const struct options *o)
{
    const char *text = o->unified;
    if (!text)
        return true;
    size_t length = strlen(text), digits = strspn(text, "0123456789,");
    if (digits < length || text[0] == ',' || text[length - 1] == ',' || strstr(text, ",,")) {
        command_say("'--unified %s': it is a list of GPU numbers such as 0,1,2,3", text);
        return false;
    }
    for (const char *at = text, *end; *at; at = *end ? end + 1 : end) {
        end = at + strcspn(at, ",");
        for (const char *before = text; before < at; before += strcspn(before, ",") + 1)
            if (strtoull(before, NULL, 10) == strtoull(at, NULL, 10)) {
                command_say("'--unified %s': GPU %.*s is named twice", text, (int)(end - at), at);
                return false;
            }
    }
    return true;
}

/* "0x1240": each names a line. */
static bool check_watch(const struct options *o)
{
    if (o->watch.count > PLATFORM_LINES_MAX) {
        command_say("at most %d lines can be watched", PLATFORM_LINES_MAX);
        return false;
    }
    for (size_t i = 0; i < o->watch.count; i++) {
        const char *text = o->watch.items[i];
        char *end = NULL;
        errno = 0;
        if (text[0] >= '0' && text[0] <= '9')
            strtoull(text, &end, 0);
        if (!end || *end || errno) {
            command_say("'--watch %s': it is an address, as in 0x1240", text);
            return false;
        }
    }
    return true;
}

static bool check_names(const struct options *o)
{
    const struct {
        const char *option;
        const struct options_list *list;
    } lists[] = {{"--record-path", &o->record_path},
                 {"--record-kernel", &o->record_kernel},
                 {"--series-counter", &o->series_counter}};
    for (size_t i = 0; i < ARRAY_COUNT(lists); i++)
        for (size_t k = 0; k < lists[i].list->count; k++)
            if (strchr(lists[i].list->items[k], '\n')) {
                command_say("'%s' needs a name", lists[i].option);
                return false;
            }
    return true;
}

/* A word as a shell reads it. */
static const char *quoted(struct command *c, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "%+,-./:=@_[]*{}";
    const char *text = "'";
    if (*word && strspn(word, plain) == strlen(word))
        return word;
    for (const char *quote; (quote = strchr(word, '\'')); word = quote + 1)
        text = region_printf(c->region, "%s%.*s'\\''", text, (int)(quote - word), word);
    return region_printf(c->region, "%s%s'", text, word);
}

/* The run's stamp for the statistics: the description as it was given, the whole command, and the
 * folder from which its paths are seen. */
static void hand_over_command(struct command *c, struct handed *handed)
{
    char folder[PATH_MAX];
    const char *command = "heddle run";
    for (char **word = c->words; *word; word++)
        command = region_printf(c->region, "%s %s", command, quoted(c, *word));
    hand_over(handed, "description", ':', c->options->arguments.items[0]);
    hand_over(handed, "command", ':', command);
    hand_over(handed, "folder", ':',
              getcwd(folder, sizeof folder) ? region_strdup(c->region, folder) : NULL);
}

int run_options(struct command *c, struct handed *handed)
{
    const struct options *o = c->options;
    struct sampling sampling;
    hand_over_options(c, handed);
    if (o->stats || o->report)
        hand_over_command(c, handed);
    bool draws = (!o->progress || strcmp(o->progress, "auto") == 0) && isatty(STDERR_FILENO);
    hand_over(handed, "progress", ':', draws ? "line" : o->progress);
    if (o->progress && strcmp(o->progress, "auto") == 0 && !draws)
        hand_over(handed, "progress", ':', "none");
    bool ok = parse_sampling(o, &sampling) && parse_profile(o, handed)
              && run_keeps_rules(o, &sampling) && parse_window(o, handed)
              && parse_interval(o, handed) && parse_order(o, handed) && parse_when(o, handed)
              && check_unified(o) && check_watch(o) && check_names(o);
    return ok ? OPTIONS_FINE : EXIT_USAGE;
}
