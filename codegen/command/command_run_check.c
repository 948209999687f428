/* Options of `heddle run`: what each may be, and which belong together. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codegen/command/command_run.h"
#include "codegen/command/command_run_play.h"
#include "codegen/command/command_run_trace.h"
#include "components/sampling/sampling_options.h"

const char *run_absolute(struct command *c, const char *path)
{
    char folder[PATH_MAX];
    if (!path || path[0] == '/' || !getcwd(folder, sizeof folder))
        return path;
    return arena_printf(c->arena, "%s/%s", folder, path);
}

static const char *const *absolute_all(struct command *c, const struct options_list *paths)
{
    const char **all = arena_alloc(c->arena, (paths->count + 1) * sizeof *all);
    for (size_t i = 0; i < paths->count; i++)
        all[i] = run_absolute(c, paths->items[i]);
    return all;
}

/* "ascending", "descending", "random:SEED". */
static bool parse_order(const char *text, struct heddle_options *options)
{
    char *end;
    if (!text || strcmp(text, "ascending") == 0)
        return true;
    options->tick_order = ENGINE_DESCENDING;
    if (strcmp(text, "descending") == 0)
        return true;
    options->tick_order = ENGINE_RANDOM;
    errno = 0;
    if (strncmp(text, "random:", 7) == 0 && text[7] >= '0' && text[7] <= '9') {
        options->seed = strtoull(text + 7, &end, 10);
        if (errno == 0 && *end == '\0')
            return true;
    }
    fprintf(stderr, "heddle run: '--tick-order %s': it is ascending, descending or random:SEED\n",
            text);
    return false;
}

/* --mode sampled. */
static bool check_sampled(const struct options *o)
{
    const struct {
        bool wanted;
        const char *name;
    } refused[] = {{o->kernels, "--kernels"},       {o->interval, "--interval"},
                   {o->checkpoint, "--checkpoint"}, {o->restore, "--restore"},
                   {o->report, "--report"},         {o->play_instructions, "--play instructions"}};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        if (!refused[i].wanted)
            continue;
        fprintf(stderr,
                "heddle run: '--mode sampled' chooses itself what is simulated, and goes on for a "
                "whole run of a program; without '%s'\n",
                refused[i].name);
        return false;
    }
    if (!o->program && !o->play_sass)
        fprintf(stderr, "heddle run: '--mode sampled' executes a program; name one: heddle run "
                        "PLATFORM --mode sampled -- PROGRAM ARGS...\n");
    return o->program || o->play_sass;
}

/* "timing", "functional", "sampled". */
static bool parse_mode(const struct options *o, struct heddle_options *options)
{
    bool sampled = o->mode && strcmp(o->mode, "sampled") == 0;
    if (o->error && !sampled) {
        fprintf(stderr,
                "heddle run: '--error %s' is for '--mode sampled'; of launches that are "
                "chosen while a program runs, '--interval' says it\n",
                o->error);
        return false;
    }
    if (sampled) {
        options->mode = PLATFORM_SAMPLED;
        return check_sampled(o);
    }
    if (!o->mode || strcmp(o->mode, "timing") == 0)
        return true;
    if (strcmp(o->mode, "functional") != 0) {
        fprintf(stderr, "heddle run: '--mode %s': it is timing, functional or sampled\n", o->mode);
        return false;
    }
    options->mode = PLATFORM_FUNCTIONAL;
    bool has_program = o->program || o->play_api || o->play_sass;
    if (!has_program)
        fprintf(stderr, "heddle run: '--mode functional' executes a program; name one: heddle run "
                        "PLATFORM --mode functional -- PROGRAM ARGS...\n");
    else if (o->record_perfetto)
        fprintf(stderr,
                "heddle run: '--record perfetto' shows messages between components; there are none "
                "with '--mode functional'\n");
    else if (o->report)
        fprintf(stderr, "heddle run: '--report' tells where time went; there is none with '--mode "
                        "functional'\n");
    return has_program && !o->record_perfetto && !o->report;
}

bool run_profiles_instructions(const struct options *o)
{
    return o->profile
           && (strcmp(o->profile, "instructions") == 0
               || (strncmp(o->profile, "instructions=", 13) == 0 && o->profile[13]));
}

static bool check_profile(const struct options *o, const struct heddle_options *options)
{
    bool instructions = run_profiles_instructions(o);
    bool functional = options->mode == PLATFORM_FUNCTIONAL;
    if (o->profile && strcmp(o->profile, "blocks") != 0 && strcmp(o->profile, "memory") != 0
        && !instructions)
        fprintf(stderr,
                "heddle run: '--profile %s': it is blocks, memory, instructions or "
                "instructions=FILE\n",
                o->profile);
    else if (instructions && functional)
        fprintf(stderr, "heddle run: '--profile instructions' tells where cycles went; there are "
                        "none with '--mode functional'\n");
    else if (o->profile && !functional && !instructions)
        fprintf(stderr,
                "heddle run: '--profile %s' looks at kernels as they are executed with '--mode "
                "functional'; give that, too\n",
                o->profile);
    else
        return true;
    return false;
}

/* Chosen kernels and their warm-up; a profile. */
static bool parse_sampling(const struct options *o, struct heddle_options *options)
{
    struct sampling sampling;
    char mistake[512];
    bool sampled = options->mode == PLATFORM_SAMPLED;
    options->kernels = sampled ? "auto" : o->kernels;
    options->warmup = o->warmup;
    options->interval = !sampled ? o->interval : o->error ? o->error : "2";
    options->addresses = o->addresses;
    options->profile = !o->profile || run_profiles_instructions(o) ? PLATFORM_PROFILE_NONE
                       : strcmp(o->profile, "blocks") == 0         ? PLATFORM_PROFILE_BLOCKS
                                                                   : PLATFORM_PROFILE_MEMORY;
    if (!sampling_parse(options->kernels, o->warmup, &sampling, mistake, sizeof mistake)
        || !sampling_parse_interval(options->interval, &sampling, mistake, sizeof mistake)) {
        fprintf(stderr, "heddle run: %s\n", mistake);
        return false;
    }
    if (!check_profile(o, options))
        return false;
    if (o->kernels && !o->program && !o->play_instructions && !o->play_sass)
        fprintf(stderr, "heddle run: '--kernels' chooses launches of a program, or kernels of "
                        "'--play sass' or '--play instructions'; name one: heddle run PLATFORM "
                        "--kernels LIST -- PROGRAM ARGS...\n");
    else if (sampling.automatic && !o->stats && !sampled)
        fprintf(stderr, "heddle run: '--kernels auto' tells what all launches take in the "
                        "statistics; give '--stats FILE', too, or use heddle sample\n");
    else if (sampling.automatic && o->play_instructions)
        fprintf(stderr, "heddle run: '--kernels auto' executes all launches of a program; of a "
                        "trace, choose launches by number or name\n");
    else if (sampling.automatic && (o->checkpoint || o->restore))
        fprintf(stderr,
                "heddle run: '--kernels auto' goes on for a whole run; without '--checkpoint' "
                "and '--restore'\n");
    else if (o->kernels && options->mode == PLATFORM_FUNCTIONAL)
        fprintf(stderr, "heddle run: '--kernels' chooses what is simulated in detail; nothing is "
                        "with '--mode functional'\n");
    else if (o->addresses && options->profile != PLATFORM_PROFILE_MEMORY)
        fprintf(stderr, "heddle run: '--addresses FILE' is written by a profile; give '--mode "
                        "functional --profile memory', too\n");
    else
        return true;
    return false;
}

/* "0,1,2,3"; whether these GPUs are there is found out when the platform stands. */
static bool parse_unified(const struct options *o, struct heddle_options *options)
{
    const char *text = options->unified = o->unified;
    if (!text)
        return true;
    size_t length = strlen(text), digits = strspn(text, "0123456789,");
    if (digits < length || !length || text[0] == ',' || text[length - 1] == ','
        || strstr(text, ",,")) {
        fprintf(stderr, "heddle run: '--unified %s': it is a list of GPU numbers such as 0,1,2,3\n",
                text);
        return false;
    }
    for (const char *at = text, *end; *at; at = *end ? end + 1 : end) {
        end = at + strcspn(at, ",");
        for (const char *before = text; before < at; before += strcspn(before, ",") + 1)
            if (strtoull(before, NULL, 10) == strtoull(at, NULL, 10)) {
                fprintf(stderr, "heddle run: '--unified %s': GPU %.*s is named twice\n", text,
                        (int)(end - at), at);
                return false;
            }
    }
    if (!o->program && !o->play_api)
        fprintf(stderr,
                "heddle run: '--unified' is for programs; name one: heddle run PLATFORM "
                "--unified %s -- PROGRAM ARGS...\n",
                text);
    return o->program || o->play_api;
}

/* "exact", "page". */
static bool parse_bounds(const char *text, struct heddle_options *options)
{
    options->page_bounds = text && strcmp(text, "page") == 0;
    if (!text || options->page_bounds || strcmp(text, "exact") == 0)
        return true;
    fprintf(stderr, "heddle run: '--bounds %s': it is exact or page\n", text);
    return false;
}

/* "sum", "all", "none". */
static bool parse_kernel_stats(const char *text, struct heddle_options *options)
{
    static const char *const names[] = {[PLATFORM_SPAN_STATS_SUM] = "sum",
                                        [PLATFORM_SPAN_STATS_ALL] = "all",
                                        [PLATFORM_SPAN_STATS_NONE] = "none"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!text || strcmp(text, names[i]) == 0) {
            options->span_stats = (int)i;
            return true;
        }
    }
    fprintf(stderr, "heddle run: '--kernel-stats %s': it is sum, all or none\n", text);
    return false;
}

/* One kernel, as --kernels names it. */
static bool check_kernel(const char *text, const char *kernel)
{
    struct sampling sampling;
    char mistake[512];
    bool good = *kernel && !strchr(kernel, ',')
                && sampling_parse(kernel, NULL, &sampling, mistake, sizeof mistake)
                && !sampling.automatic;
    if (!good)
        fprintf(stderr,
                "heddle run: '--checkpoint-at %s': behind kernel: comes the number of a launch, "
                "from 1, or the name of a kernel\n",
                text);
    return good;
}

/* "5000" or "5000cy": a cycle of the fastest clock; "25us": a time; "kernel:3", "kernel:NAME": the
 * beginning of a launch. */
static bool parse_when(const char *text, struct heddle_options *options)
{
    static const struct {
        const char *name;
        uint64_t ps;
    } units[] = {
        {"ps", 1}, {"ns", 1000}, {"us", 1000000}, {"ms", 1000000000}, {"s", 1000000000000u},
        {"cy", 0}, {"", 0}};
    static const char kernel[] = "kernel:";
    char *end;
    errno = 0;
    if (strncmp(text, kernel, sizeof kernel - 1) == 0) {
        options->checkpoint_kernel = text + sizeof kernel - 1;
        return check_kernel(text, options->checkpoint_kernel);
    }
    uint64_t n = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
    for (size_t i = 0; n && errno == 0 && i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(end, units[i].name) != 0 || (units[i].ps && n > UINT64_MAX / 2 / units[i].ps))
            continue;
        if (units[i].ps)
            options->checkpoint_ps = n * units[i].ps;
        else
            options->checkpoint_cycle = n;
        return true;
    }
    fprintf(stderr,
            "heddle run: '--checkpoint-at %s': it is a cycle of the fastest clock (5000), a time "
            "with its unit (25us), above 0, or a kernel (kernel:NAME, kernel:3)\n",
            text);
    return false;
}

/* "0x1240": each names a line. */
static bool parse_watch(const struct options *o, struct platform_lines *watch)
{
    if (o->watch.count && o->program) {
        fprintf(stderr, "heddle run: '--watch' is for platforms that drive themselves\n");
        return false;
    }
    if (o->watch.count > PLATFORM_LINES) {
        fprintf(stderr, "heddle run: at most %d lines can be watched\n", PLATFORM_LINES);
        return false;
    }
    for (size_t i = 0; i < o->watch.count; i++) {
        const char *text = o->watch.items[i];
        char *end = NULL;
        errno = 0;
        watch->address[watch->count++] =
            text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 0) : 0;
        if (!end || *end || errno) {
            fprintf(stderr, "heddle run: '--watch %s': it is an address, as in 0x1240\n", text);
            return false;
        }
    }
    return true;
}

/* A trace takes the place of a program. */
static bool parse_sass_trace(const struct options *o)
{
    if (o->allow_incomplete && !o->play_sass) {
        fprintf(stderr, "heddle run: '--allow-incomplete' is for '--play sass'; give that, too\n");
        return false;
    }
    if (!o->play_sass || (!o->program && access(o->play_sass, R_OK) == 0))
        return true;
    if (o->program)
        fprintf(stderr, "heddle run: '--play sass' plays a trace instead of a program; leave out "
                        "what stands behind '--'\n");
    else
        fprintf(stderr, "heddle run: cannot read '--play sass=%s': %s\n", o->play_sass,
                strerror(errno));
    return false;
}

/* State in files: what belongs together, and what cannot be. */
static bool parse_dump(const struct options *o, struct heddle_options *options)
{
    const char *named = o->checkpoint      ? "--checkpoint"
                        : o->checkpoint_at ? "--checkpoint-at"
                        : o->restore       ? "--restore"
                                           : NULL;
    if (!named)
        return true;
    if (o->program) {
        fprintf(
            stderr,
            "heddle run: '%s' is for platforms that drive themselves and for '--play api': half "
            "of the state of a program's run is the program's own; record its calls first "
            "(--record api=DIR)\n",
            named);
        return false;
    }
    if (options->mode == PLATFORM_FUNCTIONAL) {
        fprintf(stderr,
                "heddle run: '%s' is about simulated time; there is none with '--mode "
                "functional'\n",
                named);
        return false;
    }
    if (!o->checkpoint != !o->checkpoint_at) {
        fprintf(stderr,
                "heddle run: '--checkpoint FILE' and '--checkpoint-at WHEN' belong together\n");
        return false;
    }
    if (o->checkpoint_at && !parse_when(o->checkpoint_at, options))
        return false;
    if (!options->checkpoint_kernel || o->play_api)
        return true;
    fprintf(stderr,
            "heddle run: '--checkpoint-at %s' is for '--play api'; give a cycle or a time\n",
            o->checkpoint_at);
    return false;
}

/* More than any machine has; the platform takes as many as it has use for. */
#define THREADS_MOST 1024

/* "auto", "lines", "none". */
static bool parse_progress(const char *text, struct heddle_options *options)
{
    if (!text || strcmp(text, "auto") == 0)
        options->progress = isatty(STDERR_FILENO) ? PLATFORM_PROGRESS_LINE : PLATFORM_QUIET;
    else if (strcmp(text, "lines") == 0)
        options->progress = PLATFORM_PROGRESS_LINES;
    else if (strcmp(text, "none") == 0)
        options->progress = PLATFORM_QUIET;
    else
        fprintf(stderr, "heddle run: '--progress %s': it is auto, lines or none\n", text);
    return !text || strcmp(text, "auto") == 0 || strcmp(text, "none") == 0 || options->progress;
}

/* --set as a text, a line each. */
static const char *join_set(struct command *c)
{
    const struct options_list *set = &c->options->set;
    const char *text = NULL;
    for (size_t i = 0; i < set->count; i++)
        text = text ? arena_printf(c->arena, "%s\n%s", text, set->items[i]) : set->items[i];
    return text;
}

int run_options(struct command *c, struct heddle_options *options)
{
    const struct options *o = c->options;
    *options = (struct heddle_options){
        .abi = PLATFORM_ABI,
        .stats_path = run_absolute(c, o->stats),
        .stats_no_host = o->stats_no_host,
        .trace_path = run_absolute(c, o->record_perfetto),
        .series_path = run_absolute(c, o->series),
        .set = join_set(c),
        .max_cycles = o->max_cycles,
        .stall_limit = o->stall_limit,
        .tick_all = o->tick_all,
        .threads = 1,
        .checkpoint_path = run_absolute(c, o->checkpoint),
        .restore_path = run_absolute(c, o->restore),
        .api_trace = run_absolute(c, o->play_api),
        .modules = absolute_all(c, &o->module),
        .module_count = (uint32_t)o->module.count,
        .sass_trace_path = run_absolute(c, o->play_sass),
        .sass_no_cache = o->no_cache,
        .allow_incomplete = o->allow_incomplete,
    };
    if (!parse_progress(o->progress, options))
        return EXIT_USAGE;
    if (o->threads)
        options->threads = o->threads < THREADS_MOST ? (int)o->threads : THREADS_MOST;
    if (!run_play_parse(o) || !run_trace_parse(o) || !run_record_parse(c, options)
        || !parse_mode(o, options) || !run_series_parse(c, options)
        || !parse_bounds(o->bounds, options) || !parse_unified(o, options)
        || !parse_sampling(o, options))
        return EXIT_USAGE;
    if (!parse_order(o->tick_order, options) || !parse_kernel_stats(o->kernel_stats, options)
        || !parse_dump(o, options) || !parse_sass_trace(o) || !parse_watch(o, &options->watch))
        return EXIT_USAGE;
    return -1;
}
