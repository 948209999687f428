/* Commands that make or use platform.so: build and run. */
#include <sys/stat.h>
#include <unistd.h>

#include "codegen/command/command_run.h"
#include "codegen/command/command_run_play.h"
#include "codegen/command/command_run_trace.h"

/* Compilers at a time, more than any machine has room for. */
#define JOBS_MOST 1024

static bool build(struct command *c, bool arena_anywhere, struct build_result *result)
{
    const struct options *o = c->options;
    struct build_request request = {
        .toolkit = &c->toolkit,
        .file = o->arguments.items[0],
        .platform = o->platform,
        .overrides = o->set.items,
        .override_count = o->set.count,
        .include = o->include.items,
        .include_count = o->include.count,
        .folder = o->output,
        .accept = o->command == COMMAND_RUN ? run_accepts : NULL,
        .context = c->options,
        .generic = o->generic,
        .arena_anywhere = arena_anywhere,
        .verbose = o->verbose,
        .colour = command_wants_colour(),
        .jobs = o->jobs < JOBS_MOST ? (uint32_t)o->jobs : JOBS_MOST,
    };
    return build_is_current(c->arena, &request, result)
           || build_platform(c->arena, &request, result);
}

int command_build(struct command *c)
{
    struct build_result result;
    if (!build(c, false, &result))
        return EXIT_ERRORS;
    if (c->options->verbose)
        fprintf(stderr, "heddle: %u compiled, %s\n", result.compiled,
                result.linked ? "linked" : "nothing to link");
    printf("%s\n", result.platform_so);
    if (result.tables)
        printf("%s\n", result.tables);
    return EXIT_CLEAN;
}

/* A run that failed before it had statistics has said why. */
static int print_report(struct command *c, const char *path, int status)
{
    struct stat file;
    if (status != 0 && (stat(path, &file) != 0 || file.st_size == 0))
        return status;
    int report = command_report_run(c, path);
    return status != 0 ? status : report;
}

static int run(struct command *c, const struct build_result *built, struct heddle_options *options,
               const char *program, char **arguments)
{
    char file[] = COMMAND_TEMPORARY; /* for statistics that only the report reads */
    bool own_file = c->options->report && !options->stats_path;
    if (own_file && !command_temporary(c, file))
        return EXIT_ERRORS;
    if (own_file)
        options->stats_path = file;
    int status = program ? run_program(c, built, options, program, arguments)
                         : run_platform(c, built, options);
    if (c->options->report)
        status = print_report(c, options->stats_path, status);
    if (own_file)
        unlink(file);
    return status;
}

int command_run(struct command *c)
{
    struct heddle_options options;
    struct build_result built;
    const char *program = NULL;
    int status = run_options(c, &options);
    if (status >= 0)
        return status;
    if (!command_report_known(c))
        return EXIT_USAGE;
    if (!run_recording_allowed(c->options))
        return EXIT_ERRORS;
    if (c->options->program) {
        if (!c->options->program[0]) {
            fprintf(stderr, "heddle run: there is no program behind '--'\n");
            return EXIT_USAGE;
        }
        program = run_find_program(c, c->options->program[0]);
        if (!program)
            return EXIT_ERRORS;
    }
    if (!build(c, program && run_program_is_fixed(program), &built))
        return !built.refused                                 ? EXIT_ERRORS
               : c->options->program || c->options->play_sass ? EXIT_NOT_STARTED
                                                              : EXIT_USAGE;
    options.tables_path = run_absolute(c, built.tables);
    char **arguments = c->options->program;
    if (c->options->play_instructions) {
        status = run_play_trace(c, &program, &arguments);
        if (status != EXIT_CLEAN)
            return status;
    }
    struct run_recording recording;
    if (c->options->play_api && !run_plays_itself(c, &built)) {
        status = run_trace_player(c, &program, &arguments);
        if (status != EXIT_CLEAN)
            return status;
    }
    if (!run_recording_begin(c, &options, &recording))
        return EXIT_ERRORS;
    return run_recording_end(c, &recording, run(c, &built, &options, program, arguments));
}
