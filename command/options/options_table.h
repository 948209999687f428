/* The rows of commands.def and options.def as tables: for the parser, the help, completion, the
 * look at files, and what is handed to Python and to a platform. */
#ifndef HEDDLE_COMMAND_OPTIONS_OPTIONS_TABLE_H
#define HEDDLE_COMMAND_OPTIONS_OPTIONS_TABLE_H

#include "options.h"

struct command_spec {
    const char *name;
    const char *arguments;
    const char *words; /* words that may come first, with spaces between; "": arguments are files */
    const char *summary;
    const char *text;
    unsigned least, most; /* arguments */
};
extern const struct command_spec command_specs[COMMAND_COUNT];

/* options.def says what they mean. */
enum option_type {
    OPTION_FLAG,
    OPTION_NUMBER,
    OPTION_TEXT,
    OPTION_WORD,
    OPTION_MAYBE,
    OPTION_LIST,
    OPTION_READ, /* the first use of a file */
    OPTION_READ_ANY,
    OPTION_READ_LIST,
    OPTION_READ_FOLDERS,
    OPTION_WRITE, /* the first of those that write */
    OPTION_WRITE_WHOLE,
    OPTION_WRITE_INTO,
    OPTION_WRITE_NEW
};

/* In the order of the help. */
enum option_purpose {
    PURPOSE_PLATFORM,
    PURPOSE_PROGRAMS,
    PURPOSE_SAMPLING,
    PURPOSE_RESULTS,
    PURPOSE_RECORDING,
    PURPOSE_STATE,
    PURPOSE_WATCHING,
    PURPOSE_LIMITS,
    PURPOSE_CHECKING,
    PURPOSE_DRAWING,
    PURPOSE_POINTS,
    PURPOSE_FITTING,
    PURPOSE_OUTPUT,
    PURPOSE_COUNT
};
const char *option_purpose_title(enum option_purpose purpose);

struct option_spec {
    const char *name;
    const char *argument; /* NULL: a flag */
    enum option_type type;
    enum option_purpose purpose;
    size_t field; /* offset in struct options */
    unsigned commands;
    char handed; /* '=' or ':'; 0: not */
    const char *help;
    const char *key; /* its field in struct options, and its attribute in Python */
};
extern const struct option_spec option_specs[];
extern const size_t option_spec_count;

static inline bool option_belongs(const struct option_spec *spec, enum options_command command)
{
    /* A server and a debugger have the options of a run. */
    bool runs = command == COMMAND_SERVE || command == COMMAND_DEBUG;
    return (spec->commands >> command | (runs ? spec->commands >> COMMAND_RUN : 0)) & 1;
}

/* One kind of an option, whose argument is KIND=PATH. */
bool option_is_kind(const struct option_spec *spec);
bool option_is_list(const struct option_spec *spec);
bool option_is_file(const struct option_spec *spec);
bool option_is_written(const struct option_spec *spec);
/* As messages name it: "--stats", "--record api". */
void option_title(const struct option_spec *spec, char *text, size_t size);
/* As the help shows it: "--stats FILE", "--view[=PORT]". */
void option_usage(const struct option_spec *spec, char *text, size_t size);
/* Words that may follow it in this command, with spaces between; "": none are known. */
void option_words(const struct option_spec *spec, enum options_command command, char *text,
                  size_t size);

/* The values that were given: `count` of them, 0 when the option was not given; `number` is a text
 * for numbers and flags. */
struct option_given {
    const char *const *values;
    size_t count;
    const char *value; /* what `values` points to when it is no list */
    char number[24];
};
void option_given(const struct options *options, const struct option_spec *spec,
                  struct option_given *given);

#endif
