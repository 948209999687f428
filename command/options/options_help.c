/* The text of `heddle help`, the man page and build/docs/reference/cli.md, from the tables. Options
 * are below their purpose; on a terminal, lines are as long as it is wide. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/number.h"
#include "runtime/engine/version.h"

#include "options_table.h"

enum { WIDTH = 80, NARROWEST = 50, WIDEST = 110, INDENT = 22, USAGE_BYTES = 80 };

/* ---- lines ---- */

static unsigned width_of(FILE *out)
{
    struct winsize size;
    int file = fileno(out);
    if (file < 0 || !isatty(file) || ioctl(file, TIOCGWINSZ, &size) != 0 || !size.ws_col)
        return WIDTH;
    return size.ws_col < NARROWEST ? NARROWEST : size.ws_col > WIDEST ? WIDEST : size.ws_col;
}

/* Text that begins in column `at`, in lines of at most `width`, the others behind `indent`. */
static void print_wrapped(FILE *out, const char *text, unsigned at, unsigned indent, unsigned width)
{
    bool first = true;
    while (*text) {
        size_t length = strcspn(text, " ");
        if (!first && at + 1 + length > width) {
            fprintf(out, "\n%*s", (int)indent, "");
            at = indent;
            first = true;
        }
        fprintf(out, "%s%.*s", first ? "" : " ", (int)length, text);
        at += (unsigned)length + !first;
        first = false;
        text += length + (text[length] == ' ');
    }
    fputc('\n', out);
}

static void print_option(FILE *out, const struct option_spec *spec, unsigned width)
{
    char usage[USAGE_BYTES];
    option_usage(spec, usage, sizeof usage);
    unsigned used = (unsigned)fprintf(out, "  %s", usage);
    if (used + 2 > INDENT) {
        fputc('\n', out);
        used = 0;
    }
    fprintf(out, "%*s", (int)(INDENT - used), "");
    print_wrapped(out, spec->help, INDENT, INDENT, width);
}

/* ---- what all texts go through ---- */

/* The options of a command, by purpose; `begin` comes before the first one of each. */
struct printer {
    FILE *out;
    unsigned width;
    void (*begin)(const struct printer *p, const char *title);
    void (*option)(const struct printer *p, const struct option_spec *spec);
};

static void print_options(const struct printer *p, enum options_command command)
{
    for (int purpose = 0; purpose < PURPOSE_COUNT; purpose++) {
        bool begun = false;
        for (size_t i = 0; i < option_spec_count; i++) {
            const struct option_spec *spec = &option_specs[i];
            if (spec->purpose != (enum option_purpose)purpose || !option_belongs(spec, command))
                continue;
            if (!begun)
                p->begin(p, option_purpose_title((enum option_purpose)purpose));
            begun = true;
            p->option(p, spec);
        }
    }
}

/* ---- help ---- */

static void help_begin(const struct printer *p, const char *title)
{
    fprintf(p->out, "\n%s:\n", title);
}

static void help_option(const struct printer *p, const struct option_spec *spec)
{
    print_option(p->out, spec, p->width);
}

void options_print_help(FILE *out, enum options_command command)
{
    struct printer p = {out, width_of(out), help_begin, help_option};
    if (command == COMMAND_COUNT) {
        fprintf(out, "usage: heddle COMMAND [OPTIONS] ARGUMENTS\n\nCommands:\n");
        for (int i = 0; i < COMMAND_COUNT; i++)
            fprintf(out, "  %-10s %s\n", command_specs[i].name, command_specs[i].summary);
        fprintf(out,
                "\n`heddle help COMMAND` tells more. `heddle --version` prints the version.\n");
        return;
    }
    const struct command_spec *c = &command_specs[command];
    fprintf(out, "usage: heddle %s %s\n\n", c->name, c->arguments);
    print_wrapped(out, c->text, 0, 0, p.width);
    print_options(&p, command);
}

/* ---- Markdown ---- */

static void markdown_begin(const struct printer *p, const char *title)
{
    fprintf(p->out, "\n**%s**\n\n", title);
}

static void markdown_option(const struct printer *p, const struct option_spec *spec)
{
    char usage[USAGE_BYTES];
    option_usage(spec, usage, sizeof usage);
    unsigned used = (unsigned)fprintf(p->out, "- `%s`: ", usage);
    print_wrapped(p->out, spec->help, used, 2, p->width);
}

void options_print_markdown(FILE *out)
{
    struct printer p = {out, 100, markdown_begin, markdown_option};
    fprintf(out, "# The command line\n\nMade by `heddle help --markdown` from the tables that "
                 "parse the command line.\n\n");
    fprintf(out, "Exit status: 0 clean, 1 errors, 2 wrong usage; `run` has more.\n");
    for (int c = 0; c < COMMAND_COUNT; c++) {
        const struct command_spec *command = &command_specs[c];
        fprintf(out, "\n## heddle %s\n\n```\nheddle %s %s\n```\n\n", command->name, command->name,
                command->arguments);
        print_wrapped(out, command->text, 0, 0, p.width);
        print_options(&p, (enum options_command)c);
    }
}

/* ---- the man page ---- */

static void man_begin(const struct printer *p, const char *title)
{
    fprintf(p->out, ".PP\n.I %s\n", title);
}

static void man_option(const struct printer *p, const struct option_spec *spec)
{
    char usage[USAGE_BYTES];
    option_usage(spec, usage, sizeof usage);
    fprintf(p->out, ".TP\n.B \\%s\n%s\n", usage, spec->help);
}

static const char *const environment[][2] = {
    {"HEDDLE_HOME", "an installation prefix or a build folder to use instead of the command's own"},
    {"HEDDLE_PYTHON", "the Python of commands that are written in it (default /usr/bin/python3)"},
    {"HEDDLE_PARENT", "if it is the number of the process that starts the command, the command is "
                      "killed when that ends"},
    {"HEDDLE_CACHE", "where built platforms are kept (default $XDG_CACHE_HOME/heddle or "
                     "~/.cache/heddle)"},
    {"HEDDLE_CACHE_LIMIT", "how large that may become before what was used longest ago is removed "
                           "(default 2GiB; 0: no bound)"},
    {"HEDDLE_CC, HEDDLE_CFLAGS, HEDDLE_LDFLAGS",
     "the compiler (default cc), and flags for it and for linking after the default ones"},
    {"HEDDLE_HOST_THREADS, HEDDLE_HOST_PATIENCE",
     "how threads of a program take turns (docs/design/host-threads.md)"},
};

void options_print_man(FILE *out)
{
    struct printer p = {out, 0, man_begin, man_option};
    fprintf(out, ".TH HEDDLE 1 \"\" \"heddle " HEDDLE_VERSION
                 "\"\n.SH NAME\nheddle \\- describe, check, build and run GPU platforms\n");
    fprintf(out, ".SH SYNOPSIS\n.B heddle\n.I COMMAND\n[OPTIONS] ARGUMENTS\n.SH COMMANDS\n");
    for (int c = 0; c < COMMAND_COUNT; c++) {
        const struct command_spec *command = &command_specs[c];
        fprintf(out, ".SS heddle %s %s\n%s\n", command->name, command->arguments, command->text);
        print_options(&p, (enum options_command)c);
    }
    fprintf(out, ".SH EXIT STATUS\n0 clean, 1 errors, 2 wrong usage; of\n.B heddle run\n"
                 "as it says above.\n.SH ENVIRONMENT\n");
    for (size_t i = 0; i < ARRAY_COUNT(environment); i++)
        fprintf(out, ".TP\n.B %s\n%s\n", environment[i][0], environment[i][1]);
}
