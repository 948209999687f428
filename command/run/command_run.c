/* Commands that make or use platform.so: build and run. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/command_say.h"
#include "command/python.h"

#include "hand_over.h"
#include "run.h"
#include "run_rocm.h"

/* Compilers at a time, more than any machine has room for. */
#define JOBS_MAX 1024

static enum jobs_progress build_progress(const struct options *o)
{
    if (o->progress && strcmp(o->progress, "auto") != 0)
        return strcmp(o->progress, "none") == 0 ? JOBS_QUIET : JOBS_LINES;
    return isatty(STDERR_FILENO) ? JOBS_LINE : JOBS_LINES;
}

/* Functional mode executes kernels in the toolkit's libraries, and next to nothing of components.
 * So it takes code for any parameters, which comes compiled with the toolkit, unless the platform
 * is compiled for its own already. */
static bool build_any(struct command *c, struct build_request *request, struct build_result *result)
{
    bool current = build_is_current(c->region, request, result);
    if (!current && !request->generic && run_is_functional(c->options)) {
        request->generic = true;
        current = build_is_current(c->region, request, result);
    }
    return current || build_platform(c->region, request, result);
}

static bool build(struct command *c, struct build_result *result)
{
    const struct options *o = c->options;
    struct build_request request = {
        .toolkit = &c->toolkit,
        .file = o->arguments.items[0],
        .platform = o->platform,
        .overrides = o->set.items,
        .override_count = o->set.count,
        .allow_incoherent = o->allow_incoherent,
        .include = o->include.items,
        .include_count = o->include.count,
        .folder = o->output,
        .accept = o->command == COMMAND_RUN ? run_accepts : NULL,
        .context = c->options,
        .generic = o->generic,
        .profile = run_profiles_instructions(o),
        .verbose = o->verbose,
        .progress = build_progress(o),
        .colour = command_wants_colour(),
        .jobs = o->jobs < JOBS_MAX ? (uint32_t)o->jobs : JOBS_MAX,
    };
    return build_any(c, &request, result);
}

/* Length of an interval of --report limits: about a load's way, so that what moves with the loads
 * is seen. */
#define REPORT_CYCLES "200"

int command_build(struct command *c)
{
    struct build_result result;
    if (!build(c, &result))
        return EXIT_ERRORS;
    if (c->options->verbose)
        command_say("%u compiled, %s", result.compiled,
                    result.linked ? "linked" : "nothing to link");
    printf("%s\n%s\n", result.platform_so, result.tables);
    return EXIT_CLEAN;
}

/* A run that has ended. */
struct ended_run {
    struct command *c;
    const char *platform_so;
    const struct run_outcome *outcome;
    int status;
};

/* A table that Python prints of the file of each process. */
struct printed_table {
    const char *name;
    const char *path;    /* the file of the first process */
    const char *beside;  /* NULL, or another file of the first process that the table needs */
    const char *program; /* NULL, or the program that the table is about */
};

/* A process that failed before it wrote its file has said why. Returns the status of all so far. */
static int print_each(const struct ended_run *run, const struct printed_table *table, int status)
{
    struct stat file;
    unsigned count = (unsigned)run->outcome->processes.count;
    for (unsigned i = 1; i <= (count ? count : 1); i++) {
        const char *of_process = run_numbered_path(run->c, table->path, i, false);
        if (status != 0 && (stat(of_process, &file) != 0 || file.st_size == 0))
            continue;
        if (count > 1)
            fprintf(stderr, "process %u (%s)\n", i, run->outcome->processes.items[i - 1].name);
        const char *about =
            table->beside ? run_numbered_path(run->c, table->beside, i, false) : table->program;
        int printed = python_print(run->c, table->name, of_process, run->platform_so, about);
        status = status != 0 ? status : printed;
    }
    return status;
}

/* --mode sampled, --kernels auto: what was estimated, of each process that has launched kernels. */
static void print_samples(const struct ended_run *run, const char *path)
{
    struct stat file;
    unsigned count = (unsigned)run->outcome->processes.count;
    for (unsigned i = 1; i <= (count ? count : 1); i++) {
        const char *of_process = run_numbered_path(run->c, path, i, false);
        if (stat(of_process, &file) == 0 && file.st_size != 0)
            python_print(run->c, "sample", of_process, run->platform_so, NULL);
    }
}

/* Files that this command alone reads; NULL: the user has named one, or nothing needs it. */
struct own_files {
    const char *stats, *series, *profile;
};

static bool make_file(struct command *c, struct handed *handed, const char *key, const char **file)
{
    *file = command_temporary(c);
    if (*file)
        hand_over(handed, key, '>', *file);
    return *file != NULL;
}

static bool is_sampled(const struct options *o)
{
    return run_is_sampled(o) || (o->kernels && strcmp(o->kernels, "auto") == 0);
}

/* Hands over the files that reports, tables and the page read. */
static bool hand_over_files(struct command *c, struct handed *handed, struct own_files *own)
{
    const struct options *o = c->options;
    bool limits = run_reports_limits(o);
    if ((o->report || o->view || is_sampled(o)) && !o->stats
        && !make_file(c, handed, "stats", &own->stats))
        return false;
    if (limits && !o->series) {
        if (!make_file(c, handed, "series", &own->series))
            return false;
        hand_over(handed, "series-use", '=', "1");
    }
    if (limits && !o->every)
        hand_over(handed, "every-cycles", '=', REPORT_CYCLES);
    if (!run_profiles_instructions(o))
        return true;
    const char *named = strchr(o->profile, '=');
    if (!named)
        return make_file(c, handed, "profile instructions", &own->profile);
    hand_over(handed, "profile instructions", '>', run_absolute(c, named + 1));
    return true;
}

static void remove_each(struct command *c, const char *path, const struct run_outcome *outcome)
{
    for (unsigned i = 1; path && (i == 1 || i <= outcome->processes.count); i++)
        unlink(run_numbered_path(c, path, i, false));
}

/* A file of the run that the report reads beside the statistics; NULL: none. */
static const char *beside_statistics(const struct options *o, const struct handed *handed)
{
    if (run_reports_limits(o))
        return handed_value(handed, "series");
    if (strcmp(o->report, "counters") == 0 && run_profiles_instructions(o))
        return handed_value(handed, "profile instructions");
    return NULL;
}

/* Prints reports, estimates and the profile, and returns the status of all. */
static int print_all(const struct ended_run *run, const struct handed *handed, const char *profile,
                     const char *program)
{
    const struct options *o = run->c->options;
    const char *stats = handed_value(handed, "stats");
    int status = run->status;
    if (o->report)
        status = print_each(run,
                            &(struct printed_table){.name = o->report,
                                                    .path = stats,
                                                    .beside = beside_statistics(o, handed)},
                            status);
    if (is_sampled(o))
        print_samples(run, stats);
    if (profile)
        status = print_each(
            run, &(struct printed_table){.name = "profile", .path = profile, .program = program},
            status);
    return status;
}

/* A run whose platform is built. */
struct prepared_run {
    struct build_result built;
    struct handed handed;
    const char *program; /* NULL: the platform drives itself */
    char **arguments;
};

static int run_prepared(struct command *c, struct prepared_run *r, struct run_outcome *outcome)
{
    struct own_files own = {0};
    if (!hand_over_files(c, &r->handed, &own))
        return EXIT_ERRORS;
    if (r->program && !run_rocm_begin(c))
        return EXIT_UNABLE;
    if (!run_view_start(c, &r->handed)) {
        run_rocm_end();
        return EXIT_ERRORS;
    }
    struct ended_run run = {.c = c, .platform_so = r->built.platform_so, .outcome = outcome};
    run.status = r->program
                     ? run_program(c, &r->built, &r->handed, r->program, r->arguments, outcome)
                     : run_platform(c, &r->built, &r->handed);
    run_view_end();
    run_rocm_end();
    int status = print_all(&run, &r->handed, own.profile, r->program);
    remove_each(c, own.stats, outcome);
    remove_each(c, own.series, outcome);
    remove_each(c, own.profile, outcome);
    return status;
}

/* The steps of a run return an exit status, or OPTIONS_FINE to continue. */

static int find_program(struct command *c, const char **program)
{
    *program = NULL;
    if (!c->options->program)
        return OPTIONS_FINE;
    if (!c->options->program[0]) {
        command_say("there is no program after '--'");
        return EXIT_USAGE;
    }
    *program = run_find_program(c, c->options->program[0]);
    return *program ? OPTIONS_FINE : EXIT_ERRORS;
}

/* Checks what the command line asks for, and builds the platform. */
static int prepare_run(struct command *c, struct prepared_run *r)
{
    r->arguments = c->options->program;
    int status = run_options(c, &r->handed);
    if (status == OPTIONS_FINE && !run_recording_allowed(c->options))
        status = EXIT_ERRORS;
    if (status == OPTIONS_FINE)
        status = find_program(c, &r->program);
    if (status != OPTIONS_FINE)
        return status;
    run_rocm_give_memory(c);
    if (!build(c, &r->built)) {
        bool is_misuse = r->built.refused && !c->options->program && !c->options->play_sass;
        return !r->built.refused ? EXIT_ERRORS : is_misuse ? EXIT_USAGE : EXIT_UNABLE;
    }
    hand_over(&r->handed, "tables", '=', run_absolute(c, r->built.tables));
    return OPTIONS_FINE;
}

/* Ranks but the first do their whole part here. Their platform has to be built. */
static int join_ranks(struct command *c, struct prepared_run *r, struct run_ranks *launched)
{
    if (!run_ranks_takes_part(launched, c->options))
        return EXIT_CLEAN;
    if (!run_ranks_announce(c, launched))
        return EXIT_UNABLE;
    return launched->number > 0 ? run_ranks_serve(c, &r->built, &r->handed) : OPTIONS_FINE;
}

/* The program that makes the calls of a trace, unless the platform plays them itself. */
static int find_player(struct command *c, struct prepared_run *r)
{
    if (!c->options->play_api)
        return OPTIONS_FINE;
    if (!run_plays_itself(c, &r->built)) {
        int status = run_play_api(c, &r->program, &r->arguments);
        return status == EXIT_CLEAN ? OPTIONS_FINE : status;
    }
    return command_api_trace_check(c, c->options->play_api) ? OPTIONS_FINE : EXIT_ERRORS;
}

int command_run(struct command *c)
{
    struct prepared_run run = {0};
    struct run_ranks launched = run_ranks_of_launcher();
    int status = prepare_run(c, &run);
    if (status == OPTIONS_FINE)
        status = join_ranks(c, &run, &launched);
    if (status == OPTIONS_FINE)
        status = find_player(c, &run);
    if (status != OPTIONS_FINE)
        return status;
    struct run_recording recording;
    struct run_outcome outcome = {0};
    if (!run_recording_begin(c, &run.handed, &recording))
        return EXIT_ERRORS;
    int end = run_prepared(c, &run, &outcome);
    if (launched.count > 1 && run.program)
        end = run_ranks_outcome(&outcome, run.program, end);
    return run_recording_end(c, &recording, &outcome, end);
}
