/* Names that the compiler of the build finds in headers (reserved_names.py), and a pattern of names
 * that other compilers and C libraries may have; see reserved.h. */
#include "reserved.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"

#include "reserved_names.h"

/* Macros that come in families, most of which C reserves: capital letters behind this beginning,
 * or before this end. */
static const char *const beginnings[] = {
    "E",    "SIG",    "FLT_", "DBL_", "LDBL_", "LC_",   "FE_", "FP_", "FPE_",
    "CLD_", "CLOCK_", "ILL_", "BUS_", "SEGV_", "POLL_", "SI_", "SA_", "M_",
};
static const char *const ends[] = {"_MAX", "_MIN", "_ENDIAN"};

static int compare(const void *name, const void *entry)
{
    return strcmp(name, *(const char *const *)entry);
}

#define HAS(list, name) (bsearch(name, list, ARRAY_COUNT(list), sizeof(list)[0], compare) != NULL)

static bool is_capital(const char *text)
{
    return text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] == '\0';
}

/* "PRIx64", "SCNdMAX" */
static bool is_format(const char *name)
{
    return (strncmp(name, "PRI", 3) == 0 || strncmp(name, "SCN", 3) == 0) && name[3] != '\0'
           && strchr("dioux", name[3]);
}

static bool is_of_family(const char *name)
{
    size_t length = strlen(name);
    if (is_format(name))
        return true;
    if (!is_capital(name))
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(ends); i++)
        if (length > strlen(ends[i]) && strcmp(name + length - strlen(ends[i]), ends[i]) == 0)
            return true;
    for (size_t i = 0; i < ARRAY_COUNT(beginnings); i++)
        if (length > strlen(beginnings[i]) + 1
            && strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* True if the name begins as only the compiler's own names do. */
static bool begins_as_of_compiler(const char *name)
{
    return name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z'));
}

bool reserved_word(const char *name)
{
    return begins_as_of_compiler(name) || HAS(words, name) || is_of_family(name);
}

bool reserved_tag(const char *name)
{
    return HAS(tags, name);
}

bool reserved_symbol(const char *name)
{
    return HAS(symbols, name);
}

const char *reserved_besides(struct region *region, const char *name, const char *const *others)
{
    size_t length = strlen(name);
    while (length > 1 && name[length - 1] == '_')
        length--;
    const char *stem = region_strndup(region, name, length);
    bool is_taken = reserved_word(stem);
    for (; others && *others; others++)
        is_taken |= strcmp(*others, stem) == 0;
    return is_taken ? region_printf(region, "%s_", name) : name;
}
