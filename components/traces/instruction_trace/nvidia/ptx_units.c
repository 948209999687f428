/* Searches the table from front to back, which happens once for each static instruction. */
#include "ptx_units.h"

#include <string.h>

#include "base/number.h"

static const struct row {
    const char *stem;
    uint8_t integer, single, twice;
} rows[] = {
#define P(stem, integer, single, twice)                                                            \
    {stem, SASS_CLASS_##integer, SASS_CLASS_##single, SASS_CLASS_##twice},
#include "ptx_units.def"
};

/* True if one of the parts between dots, after the first, is `part`. */
static bool has_part(const char *name, const char *part)
{
    size_t size = strlen(part);
    for (const char *at = strchr(name, '.'); at; at = strchr(at + 1, '.'))
        if (strncmp(at + 1, part, size) == 0 && (!at[1 + size] || strchr(".:", at[1 + size])))
            return true;
    return false;
}

static enum itrace_space space_of(const char *name, unsigned unit)
{
    if (unit != SASS_CLASS_LOAD && unit != SASS_CLASS_STORE && unit != SASS_CLASS_ATOMIC)
        return ITRACE_SPACE_NONE;
    if (strncmp(name, "cp.async", 8) == 0 || has_part(name, "global"))
        return ITRACE_SPACE_GLOBAL;
    if (has_part(name, "shared"))
        return ITRACE_SPACE_SHARED;
    return has_part(name, "local") ? ITRACE_SPACE_LOCAL : ITRACE_SPACE_GENERIC;
}

static uint8_t class_of(const struct row *row, const char *name)
{
    static const char *const singles[] = {"f32", "f16", "f16x2", "bf16", "f32x2", "bf16x2", "tf32"};
    if (has_part(name, "f64"))
        return row->twice;
    for (size_t i = 0; i < ARRAY_COUNT(singles); i++)
        if (has_part(name, singles[i]))
            return row->single;
    return row->integer;
}

bool ptx_opcode_find(const char *name, struct sass_opcode *opcode)
{
    *opcode = (struct sass_opcode){SASS_CLASS_UNKNOWN, ITRACE_SPACE_NONE};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        size_t size = strlen(rows[i].stem);
        if (strncmp(rows[i].stem, name, size) != 0 || (name[size] && !strchr(".:", name[size])))
            continue;
        opcode->unit = (enum sass_class)class_of(&rows[i], name);
        opcode->space = space_of(name, opcode->unit);
        return true;
    }
    return false;
}

bool ptx_name_is_barrier(const char *name)
{
    return (strncmp(name, "bar.", 4) == 0 || strncmp(name, "barrier.", 8) == 0)
           && strncmp(name, "bar.warp.", 9) != 0 && strncmp(name, "barrier.cluster", 15) != 0;
}

bool ptx_name_is_at_mbarrier(const char *name)
{
    static const char *const names[] = {"mbarrier.arrive", "mbarrier.test_wait",
                                        "mbarrier.try_wait", "cp.async.mbarrier"};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

bool ptx_name_bypasses(const char *name)
{
    bool strong = has_part(name, "relaxed") || has_part(name, "acquire");
    return has_part(name, "volatile") || has_part(name, "cg") || has_part(name, "cv")
           || (strong && (has_part(name, "gpu") || has_part(name, "sys")));
}
