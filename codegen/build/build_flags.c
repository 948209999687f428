/* Options of the compiler, for every build and for units that ask for more. */
#include "build_flags.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "codegen/emit/input.h"

/* Levels of optimisation. A run spends most of its time in a few units. Units with the line
 * COLD_LINE take less than a hundredth of it, and are compiled with less effort, in half the
 * time. */
#define WARM_UNIT "-O3"
#define COLD_UNIT "-Og"
#define COLD_LINE "#define UNIT_COLD"

void words_add(struct region *region, struct words *list, const char *text)
{
    while (text && *text) {
        text += strspn(text, " \t");
        size_t size = strcspn(text, " \t");
        if (size > 0)
            vector_push(region, list, region_strndup(region, text, size));
        text += size;
    }
}

static const char *const common[] = {
    "-std=c17",
    WARM_UNIT,
    "-fPIC",
    "-fvisibility=hidden",
    "-ffp-contract=off",
#ifdef __x86_64__
    "-march=x86-64-v2",
#endif
    "-Wall",
    "-Wextra",
    "-D_POSIX_C_SOURCE=200809L",
    "-D_DEFAULT_SOURCE",
};

#define PROFILE_MACRO "HEDDLE_PROFILE"

static bool has_word(const char *text, const char *word)
{
    return strstr(text, word);
}

/* A comment that names the macro is no such line. */
static bool has_line(const char *text, const char *line)
{
    size_t size = strlen(line);
    for (const char *at = text; (at = strstr(at, line)); at += size)
        if ((at == text || at[-1] == '\n') && at[size + strspn(at + size, " \t\r")] == '\n')
            return true;
    return false;
}

/* True if a C file of the unit's behaviour has it. */
static bool has_source(struct region *region, const struct layout_unit *unit,
                       bool (*is_in)(const char *text, const char *what), const char *what)
{
    size_t size;
    bool has = false;
    for (uint32_t i = 0; unit && !has && i < unit->type->behaviour_count; i++) {
        const char *text = input_read(region, unit->type->behaviour[i], &size);
        has = text && is_in(text, what);
    }
    return has;
}

struct words build_flags(struct region *region, const struct layout_unit *unit, bool profile)
{
    struct words flags = {0};
    bool is_cold = has_source(region, unit, has_line, COLD_LINE);
    for (size_t i = 0; i < ARRAY_COUNT(common); i++) {
        bool is_level = is_cold && strcmp(common[i], WARM_UNIT) == 0;
        vector_push(region, &flags, is_level ? COLD_UNIT : common[i]);
    }
    words_add(region, &flags, getenv("HEDDLE_CFLAGS"));
    /* A profile compiles only the units anew that count by instruction. */
    if (profile && has_source(region, unit, has_word, PROFILE_MACRO))
        vector_push(region, &flags, "-D" PROFILE_MACRO);
    return flags;
}
