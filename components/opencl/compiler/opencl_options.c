/* Translates options of clBuildProgram() to those of clang.
 *
 * Options of the specification (OpenCL 3.0, "Compiler Options" and "Linker Options") go to clang
 * under their own names. What is beyond it, but in old programs' strings because AMD's compiler
 * takes it, is in the table as well: -O0 to -O3, -g and warnings. Everything else is refused. */
#include "opencl_options.h"

#include <string.h>

#include "base/number.h"

enum option_use { COMPILE = 1, LINK = 2 };
enum option_form {
    PASSED,   /* unchanged */
    IGNORED,  /* says nothing here */
    PREFIX,   /* the option begins so, and continues in the same word */
    SEPARATE, /* a value follows, in the same word or the next */
};

static const struct option {
    const char *name;
    enum option_form form;
    unsigned use;
    uint32_t math;
} table[] = {
    {"-cl-single-precision-constant", PASSED, COMPILE, 0},
    {"-cl-denorms-are-zero", PASSED, COMPILE | LINK, OPENCL_MATH_DENORMS_ARE_ZERO},
    {"-cl-fp32-correctly-rounded-divide-sqrt", PASSED, COMPILE, OPENCL_MATH_ROUNDED_SQRT},
    {"-cl-opt-disable", PASSED, COMPILE, OPENCL_MATH_UNOPTIMISED},
    {"-cl-strict-aliasing", IGNORED, COMPILE, 0},
    {"-cl-mad-enable", PASSED, COMPILE, 0},
    {"-cl-no-signed-zeros", PASSED, COMPILE | LINK, 0},
    {"-cl-unsafe-math-optimizations", PASSED, COMPILE | LINK, OPENCL_MATH_UNSAFE},
    {"-cl-finite-math-only", PASSED, COMPILE | LINK, OPENCL_MATH_FINITE},
    {"-cl-fast-relaxed-math", PASSED, COMPILE | LINK, OPENCL_MATH_UNSAFE | OPENCL_MATH_FINITE},
    {"-cl-uniform-work-group-size", PASSED, COMPILE, 0},
    {"-cl-no-subgroup-ifp", IGNORED, COMPILE | LINK, 0},
    {"-cl-kernel-arg-info", PASSED, COMPILE, 0},
    {"-cl-std=CL1.0", PASSED, COMPILE, 0},
    {"-cl-std=CL1.1", PASSED, COMPILE, 0},
    {"-cl-std=CL1.2", PASSED, COMPILE, 0},
    {"-cl-std=CL2.0", PASSED, COMPILE, 0},
    {"-cl-std=CL3.0", PASSED, COMPILE, 0},
    {"-w", PASSED, COMPILE, 0},
    {"-Werror", PASSED, COMPILE, 0},
    {"-create-library", IGNORED, LINK, 0},
    {"-enable-link-options", IGNORED, LINK, 0},
    {"-g", PASSED, COMPILE, 0},
    {"-O0", PASSED, COMPILE, OPENCL_MATH_UNOPTIMISED},
    {"-O1", IGNORED, COMPILE, 0},
    {"-O2", IGNORED, COMPILE, 0},
    {"-O3", IGNORED, COMPILE, 0},
    {"-Wl,", PREFIX, 0, 0}, /* not a warning, as the next two are none */
    {"-Wa,", PREFIX, 0, 0},
    {"-Wp,", PREFIX, 0, 0},
    {"-W", PREFIX, COMPILE, 0},
    {"-D", SEPARATE, COMPILE, 0},
    {"-I", SEPARATE, COMPILE, 0},
};

static const struct option *find_option(const char *word, bool is_link)
{
    for (size_t i = 0; i < ARRAY_COUNT(table); i++) {
        bool is_whole = table[i].form == PASSED || table[i].form == IGNORED;
        size_t length = strlen(table[i].name);
        if (is_whole ? strcmp(word, table[i].name) == 0 : strncmp(word, table[i].name, length) == 0)
            return table[i].use & (is_link ? LINK : COMPILE) ? &table[i] : NULL;
    }
    return NULL;
}

/* Reads a word from *text: spaces end it, but not between quotes; a backslash before a quote or
 * another backslash keeps that. NULL: there is none. */
static char *read_word(const char **text)
{
    const char *next = *text + strspn(*text, " \t\r\n");
    char *word = clang_allocate(strlen(next) + 1), *end = word, quote = '\0';
    bool has_word = *next != '\0';
    for (; *next && (quote || !strchr(" \t\r\n", *next)); next++)
        if (*next == '\\' && next[1] && strchr("\"'\\", next[1]))
            *end++ = *++next;
        else if (*next == quote)
            quote = '\0';
        else if (!quote && (*next == '"' || *next == '\''))
            quote = *next;
        else
            *end++ = *next;
    *text = next;
    if (has_word)
        return word;
    clang_release(word);
    return NULL;
}

/* Adds one option, whose value may be the next word of *text. */
static char *add_option(struct opencl_options *options, const char *word, const char **text,
                        bool is_link)
{
    const struct option *option = find_option(word, is_link);
    if (!option) {
        char *message = clang_join("unknown option '", word);
        char *quoted = clang_join(message, "'");
        clang_release(message);
        return quoted;
    }
    options->math |= option->math;
    options->creates_library |= strcmp(word, "-create-library") == 0;
    if (option->form == IGNORED)
        return NULL;
    if (option->form != SEPARATE || word[strlen(option->name)]) {
        clang_add(&options->words, word, "");
        return NULL;
    }
    char *value = read_word(text);
    if (!value || !*value) {
        clang_release(value);
        return clang_join("nothing follows the option ", word);
    }
    clang_add(&options->words, word, value);
    clang_release(value);
    return NULL;
}

char *opencl_options_read(struct opencl_options *options, const char *text, bool is_link)
{
    char *message = NULL, *word;
    *options = (struct opencl_options){0};
    for (const char *rest = text ? text : ""; !message && (word = read_word(&rest));) {
        message = add_option(options, word, &rest, is_link);
        clang_release(word);
    }
    return message;
}

void opencl_options_release(struct opencl_options *options)
{
    clang_release_command(&options->words);
}
