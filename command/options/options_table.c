/* The rows of commands.def and options.def as tables. */
#include "options_table.h"

#include <inttypes.h>
#include <string.h>

#include "base/number.h"

#define ON(command) (1u << COMMAND_##command)
#define MODEL_COMMANDS                                                                             \
    (ON(CHECK) | ON(GEN) | ON(DOT) | ON(DUMP) | ON(PARAMS) | ON(TOPOLOGY) | ON(DOC) | ON(BUILD)    \
     | ON(RUN))
#define TRIAL_COMMANDS    ON(EXPERIMENT)
#define POINT_COMMANDS    (ON(CALIBRATE) | ON(SWEEP) | ON(WHATIF))
#define PLATFORM_COMMANDS ((MODEL_COMMANDS & ~ON(DOC)) | TRIAL_COMMANDS | POINT_COMMANDS)
#define BUILD_COMMANDS    (ON(GEN) | ON(BUILD) | ON(RUN) | TRIAL_COMMANDS)

const struct command_spec command_specs[COMMAND_COUNT] = {
#define COMMAND(NAME, word, function, toolkit, arguments, least, most, words, summary, text)       \
    {word, arguments, words, summary, text, least, most},
#include "command/commands.def"
#undef COMMAND
};

const struct option_spec option_specs[] = {
#define OPTION(field, name, argument, type, purpose, commands, handed, help)                       \
    {                                                                                              \
        name,                                                                                      \
        argument,                                                                                  \
        OPTION_##type,                                                                             \
        PURPOSE_##purpose,                                                                         \
        offsetof(struct options, field),                                                           \
        commands,                                                                                  \
        handed,                                                                                    \
        help,                                                                                      \
        #field},
#define AGAIN OPTION
#include "options.def"
#undef OPTION
#undef AGAIN
};
const size_t option_spec_count = ARRAY_COUNT(option_specs);

const char *option_purpose_title(enum option_purpose purpose)
{
    static const char *const titles[PURPOSE_COUNT] = {
        [PURPOSE_PLATFORM] = "Platform",
        [PURPOSE_PROGRAMS] = "Programs and traces",
        [PURPOSE_SAMPLING] = "Simulating a part",
        [PURPOSE_RESULTS] = "Results",
        [PURPOSE_RECORDING] = "Recording",
        [PURPOSE_STATE] = "Saving and restoring the state",
        [PURPOSE_WATCHING] = "Watching the run",
        [PURPOSE_LIMITS] = "Limits and processors",
        [PURPOSE_CHECKING] = "Checking the simulator",
        [PURPOSE_DRAWING] = "Drawing",
        [PURPOSE_POINTS] = "Points",
        [PURPOSE_FITTING] = "Fitting",
        [PURPOSE_OUTPUT] = "Output",
    };
    return titles[purpose];
}

bool option_is_file(const struct option_spec *spec)
{
    return spec->type >= OPTION_READ;
}

bool option_is_written(const struct option_spec *spec)
{
    return spec->type >= OPTION_WRITE;
}

bool option_is_list(const struct option_spec *spec)
{
    return spec->type == OPTION_LIST || spec->type == OPTION_READ_LIST
           || spec->type == OPTION_READ_FOLDERS;
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

bool option_is_kind(const struct option_spec *spec)
{
    return option_is_file(spec) && is_lower(spec->argument[0]) && strchr(spec->argument, '=');
}

void option_title(const struct option_spec *spec, char *text, size_t size)
{
    bool kind = option_is_kind(spec);
    snprintf(text, size, "%s%s%.*s", spec->name, kind ? " " : "",
             kind ? (int)strcspn(spec->argument, "=") : 0, kind ? spec->argument : "");
}

void option_usage(const struct option_spec *spec, char *text, size_t size)
{
    bool apart = spec->argument && spec->argument[0] != '[';
    snprintf(text, size, "%s%s%s", spec->name, apart ? " " : "",
             spec->argument ? spec->argument : "");
}

static void add_word(char *text, size_t size, const char *word, size_t length)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%.*s", used ? " " : "", (int)length, word);
}

void option_words(const struct option_spec *spec, enum options_command command, char *text,
                  size_t size)
{
    text[0] = '\0';
    if (!spec->argument || !is_lower(spec->argument[0]))
        return;
    if (option_is_kind(spec)) {
        for (size_t i = 0; i < option_spec_count; i++)
            if (strcmp(option_specs[i].name, spec->name) == 0
                && option_belongs(&option_specs[i], command))
                add_word(text, size, option_specs[i].argument,
                         strcspn(option_specs[i].argument, "=") + 1);
        return;
    }
    for (const char *word = spec->argument; *word;) {
        size_t length = strcspn(word, "|");
        if (strcspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") >= length)
            add_word(text, size, word, length);
        word += length + (word[length] == '|');
    }
}

void option_given(const struct options *options, const struct option_spec *spec,
                  struct option_given *given)
{
    const void *field = (const char *)options + spec->field;
    given->value = NULL;
    if (option_is_list(spec)) {
        const struct options_list *list = field;
        given->values = list->items;
        given->count = list->count;
        return;
    }
    if (spec->type == OPTION_FLAG)
        given->value = *(const bool *)field ? "1" : NULL;
    else if (spec->type != OPTION_NUMBER)
        given->value = *(const char *const *)field;
    else if (*(const uint64_t *)field) {
        snprintf(given->number, sizeof given->number, "%" PRIu64, *(const uint64_t *)field);
        given->value = given->number;
    }
    given->values = &given->value;
    given->count = given->value != NULL;
}
