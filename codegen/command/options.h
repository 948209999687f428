/* The command line of `heddle`: one table of commands and options, from which parsing, --help, the
 * man page and the table in docs/ come. Strings point into argv. */
#ifndef HEDDLE_CODEGEN_OPTIONS_H
#define HEDDLE_CODEGEN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/session/exit_status.h"

enum options_command {
    COMMAND_CHECK,
    COMMAND_GEN,
    COMMAND_DOT,
    COMMAND_DUMP,
    COMMAND_PARAMS,
    COMMAND_FMT,
    COMMAND_DOC,
    COMMAND_EXPLAIN,
    COMMAND_NEW,
    COMMAND_BUILD,
    COMMAND_RUN,
    COMMAND_EXPERIMENT,
    COMMAND_SAMPLE,
    COMMAND_CALIBRATE,
    COMMAND_SWEEP,
    COMMAND_STATS,
    COMMAND_REPORT,
    COMMAND_API_TRACE,
    COMMAND_DISASM,
    COMMAND_TRACE,
    COMMAND_LSP,
    COMMAND_HELP,
    COMMAND_COUNT
};

struct options_list {
    const char **items; /* room for all of argv */
    size_t count;
};

struct options {
    enum options_command command;
    struct options_list arguments; /* files, codes, names */
    char **program;                /* behind `--`, NULL-terminated; NULL: none */
    struct options_list set, include, expand, watch, module, record_path, record_kernel, fit, plot;
    struct options_list series_counter, vary, constraint, read;
    const char *platform, *output, *level, *only, *layout;
    const char *kernels, *warmup, *interval, *error, *profile, *addresses;
    const char *mode, *bounds, *unified, *place, *stats, *kernel_stats, *report, *tick_order, *mcpu;
    const char *progress, *measure, *kernel, *description;
    const char *record_perfetto, *record_api, *record_instructions, *record_window;
    const char *series, *every, *view;
    const char *play_api, *play_instructions, *play_sass;
    const char *checkpoint, *checkpoint_at, *restore;
    const char *labels, *method, *engine;
    uint64_t max_cycles, stall_limit, threads, ranks, jobs, memory, line, scale;
    uint64_t points, limit, budget, folds, seed, evaluations, sample;
    bool full, corrections, json, svg, controls, check, csv, sources, generic, tick_all,
        stats_no_host, verbose;
    bool view_paused, retry, estimate, keep;
    bool lines, markdown, man, no_cache, allow_incoherent, allow_incomplete;
    const char *html_folder, *completion, *paths;
};

/* The nearest of `count` candidates, or NULL (compile_suggest() of the front end, or NULL in
 * tests). */
typedef const char *options_suggest(const char *word, const char *const *candidates, size_t count);

/* Fills `options`. Returns -1 to go on, or an exit status: help was printed, or the mistake was on
 * stderr. */
int options_parse(struct options *options, int argc, char **argv, options_suggest *suggest);
void options_release(struct options *options);

/* "heddle check": for messages. */
const char *options_command_name(enum options_command command);

/* What a shell completes: option number `index` of the table; false: there are no more. */
struct option_shown {
    const char *name;
    const char *argument; /* NULL: a flag */
    const char *help;
    const char *values; /* words that may follow, with spaces between; "": none are known */
    unsigned commands;  /* bit c: it belongs to command c */
};
bool options_shown(size_t index, struct option_shown *shown);
const char *options_command_summary(enum options_command command);
/* Words that the command begins with, "" when these are files. */
const char *options_command_words(enum options_command command);

/* The text of --help for one command, or of all (COMMAND_COUNT). */
void options_print_help(FILE *out, enum options_command command);
/* The page build/docs/reference/cli.md of `./dev docs`, and the man page heddle.1. */
void options_print_markdown(FILE *out);
void options_print_man(FILE *out);

#endif
