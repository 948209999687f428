/* The `heddle` command: parses the command line, finds the toolkit's files, calls the command. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codegen/emit/emit.h"

#include "command.h"
#include "command_say.h"
#include "supervise.h"

int command_help(struct command *c)
{
    const struct options *o = c->options;
    if (o->markdown) {
        options_print_markdown(stdout);
    } else if (o->man) {
        options_print_man(stdout);
    } else if (o->completion) {
        completion_print(stdout);
    } else if (o->arguments.count == 0) {
        options_print_help(stdout, COMMAND_COUNT);
        if (toolkit_find(c->region, &c->toolkit))
            printf("The guide begins with %s/docs/guide/start.md.\n", c->toolkit.home);
    } else {
        enum options_command command = options_find_command(o->arguments.items[0]);
        if (command == COMMAND_COUNT)
            return EXIT_USAGE;
        options_print_help(stdout, command);
    }
    return EXIT_CLEAN;
}

static const struct {
    int (*run)(struct command *c);
    bool needs_toolkit;
} commands[COMMAND_COUNT] = {
#define COMMAND(NAME, word, function, toolkit, arguments, least, most, words, summary, text)       \
    {function, toolkit},
#include "commands.def"
#undef COMMAND
};

struct compilation *command_open(const struct command *c)
{
    const struct options *o = c->options;
    struct compile_options options = {
        .library_root = c->toolkit.library,
        .include_paths = o->include.items,
        .include_count = o->include.count,
        .overrides = o->set.items,
        .override_count = o->set.count,
        .allow_incoherent = o->allow_incoherent,
    };
    return compile_open(&options);
}

bool command_wants_colour(void)
{
    const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(STDERR_FILENO) && !(no_colour && *no_colour)
           && !(terminal && strcmp(terminal, "dumb") == 0);
}

void command_print_diagnostics(const struct compilation *compilation)
{
    compile_print_diagnostics(compilation, stderr, command_wants_colour());
}

const struct model *command_platform(const struct command *c, struct compilation *compilation,
                                     const char *file)
{
    const struct model *model = compile_platform(compilation, file, c->options->platform);
    command_print_diagnostics(compilation);
    return model;
}

bool command_output_open(struct command_output *output)
{
    *output = (struct command_output){0};
    output->file = open_memstream(&output->text, &output->size);
    if (!output->file)
        command_say("out of memory for what the command prints");
    return output->file != NULL;
}

int command_output_close(struct command_output *output, const char *path, bool ok)
{
    int status = ok ? EXIT_CLEAN : EXIT_ERRORS;
    if (fclose(output->file) != 0) {
        command_say("out of memory for what the command prints");
        status = EXIT_ERRORS;
    } else if (ok && path && strcmp(path, "-") != 0) {
        if (emit_write_bytes(path, output->text, output->size) == EMIT_FAILED)
            status = EXIT_ERRORS;
    } else if (ok
               && (fwrite(output->text, 1, output->size, stdout) != output->size
                   || fflush(stdout) != 0)) {
        command_say("cannot write to standard output: %s", strerror(errno));
        status = EXIT_ERRORS;
    }
    free(output->text);
    return status;
}

/* A file that grows beyond the user's limit is reported as one that cannot be written, and the
 * other files are written; also in the programs and compilers that we start. */
static void survive_limits_of_files(void)
{
    struct sigaction before;
    if (sigaction(SIGXFSZ, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        signal(SIGXFSZ, SIG_IGN);
}

int main(int argc, char **argv)
{
    struct options options;
    struct region region;
    supervise_end_with_parent();
    survive_limits_of_files();
    region_init(&region, "a description");
    int status = options_parse(&options, argc, argv);
    if (status < 0) {
        struct command c = {.region = &region, .options = &options, .words = argv + 2};
        status = EXIT_ERRORS;
        bool ready =
            command_files_check(&options)
            && (!commands[options.command].needs_toolkit || toolkit_find(&region, &c.toolkit));
        if (ready)
            status = commands[options.command].run(&c);
    }
    options_release(&options);
    region_release(&region);
    return status;
}
