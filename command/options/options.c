/* Parsing: a row of options_table.c belongs to the commands in its mask; an option that is with
 * the wrong command is an error that says where it belongs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "command/command_say.h"
#include "dsl/compile.h"
#include "runtime/engine/version.h"

#include "options_table.h"

enum { TITLE_BYTES = 64 };

const char *options_command_name(enum options_command command)
{
    return command_specs[command].name;
}

static const char *name_of(const struct options *options)
{
    return options_command_name(options->command);
}

static int usage(const char *command)
{
    fprintf(stderr, "help: `heddle help%s%s` lists what there is\n", command ? " " : "",
            command ? command : "");
    return EXIT_USAGE;
}

static void did_you_mean(const char *word, const char *const *candidates, size_t count)
{
    const char *near = compile_suggest(word, candidates, count);
    if (near)
        fprintf(stderr, "help: did you mean '%s'?\n", near);
}

enum options_command options_find_command(const char *word)
{
    const char *names[COMMAND_COUNT];
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(command_specs[i].name, word) == 0)
            return (enum options_command)i;
        names[i] = command_specs[i].name;
    }
    command_say("unknown command '%s'", word);
    did_you_mean(word, names, COMMAND_COUNT);
    usage(NULL);
    return COMMAND_COUNT;
}

/* True if `word` names the option: "--set", "--set=x" and "-Ix" do; `*value` is what is after it,
 * or NULL. */
static bool names_option(const struct option_spec *spec, const char *word, const char **value)
{
    size_t size = strlen(spec->name);
    if (strncmp(word, spec->name, size) != 0)
        return false;
    bool is_short = word[1] != '-';
    *value = word[size] == '\0' ? NULL : is_short ? word + size : word + size + 1;
    return is_short || word[size] == '\0' || word[size] == '=';
}

/* The row that belongs to the command, else the first of another one. */
static const struct option_spec *find_option(const struct options *options, const char *word,
                                             const char **value)
{
    const struct option_spec *match = NULL;
    const char *behind;
    for (size_t i = 0; i < option_spec_count; i++) {
        const struct option_spec *spec = &option_specs[i];
        bool belongs = option_belongs(spec, options->command);
        if ((match && !belongs) || !names_option(spec, word, &behind))
            continue;
        match = spec;
        *value = behind;
        if (belongs)
            break;
    }
    return match;
}

static int unknown_option(const struct options *options, const char *word)
{
    const char *names[option_spec_count];
    size_t count = 0;
    for (size_t i = 0; i < option_spec_count; i++)
        if (option_belongs(&option_specs[i], options->command))
            names[count++] = option_specs[i].name;
    command_say("unknown option '%s'", word);
    did_you_mean(word, names, count);
    return usage(name_of(options));
}

/* Options whose name means something else with other commands. */
static const struct {
    enum options_command command;
    const char *was, *is;
} renamed[] = {{COMMAND_DUMP, "--only", "--part"},
               {COMMAND_STATS, "--only", "--below"},
               {COMMAND_REPORT, "--only", "--below"}};

static int wrong_command(const struct options *options, const struct option_spec *spec)
{
    char title[TITLE_BYTES];
    unsigned commands = 0;
    option_title(spec, title, sizeof title);
    for (size_t i = 0; i < ARRAY_COUNT(renamed); i++)
        if (renamed[i].command == options->command && strcmp(renamed[i].was, title) == 0) {
            command_say("'%s' is called '%s' now", title, renamed[i].is);
            return EXIT_USAGE;
        }
    for (size_t i = 0; i < option_spec_count; i++) {
        char other[TITLE_BYTES];
        option_title(&option_specs[i], other, sizeof other);
        if (strcmp(title, other) == 0)
            commands |= option_specs[i].commands;
    }
    command_say_begin("'%s' does not belong to this command; it does to", title);
    for (int c = 0; c < COMMAND_COUNT; c++)
        if (commands >> c & 1)
            fprintf(stderr, " %s", command_specs[c].name);
    fputc('\n', stderr);
    return usage(name_of(options));
}

/* The length of the kind with which the argument of a kind begins. */
static size_t kind_length(const struct option_spec *spec)
{
    return strcspn(spec->argument, "=");
}

/* The row of an option whose value is KIND=PATH; NULL: no such kind. */
static const struct option_spec *find_kind(const struct option_spec *any, const char *value)
{
    size_t size = strcspn(value, "=");
    for (size_t i = 0; i < option_spec_count; i++) {
        const struct option_spec *spec = &option_specs[i];
        if (strcmp(spec->name, any->name) == 0 && kind_length(spec) == size
            && strncmp(spec->argument, value, size) == 0)
            return spec;
    }
    return NULL;
}

/* `--record api` without a path, and kinds that there are not. */
static int wrong_kind(const struct options *options, const struct option_spec *any,
                      const char *value)
{
    command_say_begin("'%s %s' is not one of", any->name, value);
    for (size_t i = 0; i < option_spec_count; i++)
        if (strcmp(option_specs[i].name, any->name) == 0
            && option_belongs(&option_specs[i], options->command))
            fprintf(stderr, " '%s %s'", any->name, option_specs[i].argument);
    fputc('\n', stderr);
    return usage(name_of(options));
}

static int given_twice(const struct option_spec *spec)
{
    char usage[TITLE_BYTES];
    option_usage(spec, usage, sizeof usage);
    command_say("'%s' is given twice", option_is_kind(spec) ? usage : spec->name);
    return EXIT_USAGE;
}

static int store_number(struct options *options, const struct option_spec *spec, const char *value)
{
    uint64_t *field = (void *)((char *)options + spec->field);
    char *end;
    errno = 0;
    unsigned long long number = strtoull(value, &end, 10);
    bool is_digit = *value >= '0' && *value <= '9';
    if (errno != 0 || !is_digit || *end || number == 0) {
        command_say("'%s' wants a positive whole number, not '%s'", spec->name, value);
        return EXIT_USAGE;
    }
    if (*field)
        return given_twice(spec);
    *field = number;
    return OPTIONS_FINE;
}

/* The words of an argument like "sum|all|none". */
static bool is_word(const char *words, const char *value)
{
    size_t size = strlen(value);
    for (const char *word = words; word; word = strchr(word, '|')) {
        word += *word == '|';
        if (strcspn(word, "|") == size && strncmp(word, value, size) == 0)
            return true;
    }
    return false;
}

/* "it is sum, all or none" */
static int wrong_word(const struct option_spec *spec, const char *value)
{
    command_say_begin("'%s %s': it is ", spec->name, value);
    for (const char *word = spec->argument; *word;) {
        size_t size = strcspn(word, "|");
        const char *next = word + size + (word[size] == '|');
        fprintf(stderr, "%.*s%s", (int)size, word,
                !*next              ? "\n"
                : strchr(next, '|') ? ", "
                                    : " or ");
        word = next;
    }
    return EXIT_USAGE;
}

static int store_text(struct options *options, const struct option_spec *spec, const char *value)
{
    const char **field = (void *)((char *)options + spec->field);
    if (spec->type == OPTION_WORD && !is_word(spec->argument, value))
        return wrong_word(spec, value);
    if (*field)
        return given_twice(spec);
    *field = !value ? "" : option_is_kind(spec) ? value + kind_length(spec) + 1 : value;
    return OPTIONS_FINE;
}

static int store_value(struct options *options, const struct option_spec *spec, const char *value)
{
    void *field = (char *)options + spec->field;
    if (spec->type == OPTION_NUMBER)
        return store_number(options, spec, value);
    if (option_is_list(spec)) {
        struct options_list *list = field;
        list->items[list->count++] = value;
    } else if (spec->type == OPTION_FLAG) {
        *(bool *)field = true;
    } else {
        return store_text(options, spec, value);
    }
    return OPTIONS_FINE;
}

/* The name of a missing value: "FILE"; "value", where the argument lists them. */
static const char *value_name(const struct option_spec *spec)
{
    return strchr(spec->argument, '|') && !option_is_file(spec) ? "value" : spec->argument;
}

/* The value of an option that takes one, which may be the next word. -1 to go on. */
static int read_value(const struct option_spec *spec, int argc, char **argv, int *at,
                      const char **value)
{
    if (!*value) {
        if (*at + 1 >= argc) {
            command_say("'%s' needs a %s", spec->name, value_name(spec));
            return EXIT_USAGE;
        }
        *value = argv[++*at];
        if ((*value)[0] == '-' && (*value)[1] == '-') {
            command_say("'%s' needs a %s, and '%s' is an option", spec->name, value_name(spec),
                        *value);
            return EXIT_USAGE;
        }
    }
    if (**value)
        return OPTIONS_FINE;
    command_say("the %s of '%s' is empty", value_name(spec), spec->name);
    return EXIT_USAGE;
}

/* One option at argv[*at]; moves past its value. */
static int parse_option(struct options *options, int argc, char **argv, int *at)
{
    const char *value, *word = argv[*at];
    const struct option_spec *spec = find_option(options, word, &value);
    if (!spec)
        return unknown_option(options, word);
    bool kind = option_is_kind(spec);
    if (!option_belongs(spec, options->command) && !kind)
        return wrong_command(options, spec);
    if (spec->type == OPTION_FLAG && value) {
        command_say("'%s' takes no value", spec->name);
        return EXIT_USAGE;
    }
    if (spec->type != OPTION_FLAG && spec->type != OPTION_MAYBE) {
        int status = read_value(spec, argc, argv, at, &value);
        if (status != OPTIONS_FINE)
            return status;
    }
    if (kind) {
        const struct option_spec *named = find_kind(spec, value);
        if (named && !option_belongs(named, options->command))
            return wrong_command(options, named);
        size_t size = named ? kind_length(named) : 0;
        if (!named || value[size] != '=' || !value[size + 1])
            return wrong_kind(options, spec, value);
        spec = named;
    }
    return store_value(options, spec, value);
}

static bool is_given(const struct options *options, const char *name)
{
    struct option_given given = {.count = 0};
    for (size_t i = 0; i < option_spec_count && !given.count; i++)
        if (strcmp(option_specs[i].name, name) == 0)
            option_given(options, &option_specs[i], &given);
    return given.count > 0;
}

/* Pairs of options that contradict each other, so that one would be ignored. */
static int check_pairs(const struct options *options)
{
    static const char *const pairs[][2] = {
        {"--json", "--csv"},      {"--svg", "--html"},    {"-o", "--html"},
        {"--level", "--html"},    {"--expand", "--html"}, {"--only", "--html"},
        {"--controls", "--html"}, {"--layout", "--html"}, {"--scale", "--html"}};
    for (size_t i = 0; i < ARRAY_COUNT(pairs); i++)
        if (is_given(options, pairs[i][0]) && is_given(options, pairs[i][1])) {
            command_say("either '%s' or '%s', not both", pairs[i][0], pairs[i][1]);
            return EXIT_USAGE;
        }
    return OPTIONS_FINE;
}

static int check_arguments(const struct options *options)
{
    const struct command_spec *command = &command_specs[options->command];
    size_t count = options->arguments.count;
    if (count >= command->least && count <= command->most)
        return check_pairs(options);
    if (count < command->least)
        command_say("%s expected: heddle %s %s",
                    command->least == 1 ? "an argument is" : "more arguments are", command->name,
                    command->arguments);
    else
        command_say("'%s' is one argument too many%s", options->arguments.items[command->most],
                    options->command == COMMAND_RUN ? "; the program comes after `--`" : "");
    return usage(command->name);
}

static int parse_words(struct options *options, int argc, char **argv)
{
    for (int i = 2; i < argc; i++) {
        const char *word = argv[i];
        int status = OPTIONS_FINE;
        if (strcmp(word, "--") == 0) {
            if (!strstr(command_specs[options->command].arguments, "-- PROGRAM")) {
                command_say("'--' belongs to `run` and commands that run programs");
                return EXIT_USAGE;
            }
            options->program = argv + i + 1;
            break;
        }
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            options_print_help(stdout, options->command);
            return EXIT_CLEAN;
        }
        if (word[0] == '\0') {
            command_say("argument %d is empty", i - 1);
            return EXIT_USAGE;
        }
        if (word[0] == '-' && word[1] != '\0')
            status = parse_option(options, argc, argv, &i);
        else
            options->arguments.items[options->arguments.count++] = word;
        if (status != OPTIONS_FINE)
            return status;
    }
    return check_arguments(options);
}

static struct options_list *list_of(struct options *options, const struct option_spec *spec)
{
    return (void *)((char *)options + spec->field);
}

static void make_list(struct options_list *list, int room)
{
    if (!list->items)
        list->items = grow_zeroed((size_t)room * sizeof *list->items, "the arguments");
}

static void make_lists(struct options *options, int room)
{
    make_list(&options->arguments, room);
    for (size_t i = 0; i < option_spec_count; i++)
        if (option_is_list(&option_specs[i]))
            make_list(list_of(options, &option_specs[i]), room);
}

/* The words of a compiler, whose options are not ours. */
static int read_all_words(struct options *options, int argc, char **argv)
{
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            options_print_help(stdout, options->command);
            return EXIT_CLEAN;
        }
        options->arguments.items[options->arguments.count++] = argv[i];
    }
    return check_arguments(options);
}

int options_parse(struct options *options, int argc, char **argv)
{
    *options = (struct options){0};
    if (argc < 2) {
        options_print_help(stderr, COMMAND_COUNT);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        options_print_help(stdout, COMMAND_COUNT);
        return EXIT_CLEAN;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("heddle " HEDDLE_VERSION "\n");
        return EXIT_CLEAN;
    }
    options->command = options_find_command(argv[1]);
    if (options->command == COMMAND_COUNT)
        return EXIT_USAGE;
    command_say_as(options_command_name(options->command));
    make_lists(options, argc);
    if (options->command == COMMAND_CUDA_CC)
        return read_all_words(options, argc, argv);
    return parse_words(options, argc, argv);
}

void options_release(struct options *options)
{
    free(options->arguments.items);
    for (size_t i = 0; i < option_spec_count; i++)
        if (option_is_list(&option_specs[i])) {
            struct options_list *list = list_of(options, &option_specs[i]);
            free(list->items);
            list->items = NULL;
        }
    *options = (struct options){0};
}
