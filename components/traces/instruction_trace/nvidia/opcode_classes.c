/* The table is searched from front to back: this happens once for each static instruction. */
#include "opcode_classes.h"

#include <string.h>

#include "base/number.h"

#include "ptx_units.h"

#define KEPLER       (1u << ITRACE_KEPLER)
#define MAXWELL      (1u << ITRACE_MAXWELL)
#define PASCAL       (1u << ITRACE_PASCAL)
#define HOPPER       (1u << ITRACE_HOPPER)
#define BLACKWELL    (1u << ITRACE_BLACKWELL)
#define ALL          ((1u << ITRACE_ARCH_COUNT) - 1)
#define FROM(arch)   (ALL & ~((1u << (arch)) - 1))
#define FROM_MAXWELL FROM(ITRACE_MAXWELL)
#define FROM_PASCAL  FROM(ITRACE_PASCAL)
#define FROM_VOLTA   FROM(ITRACE_VOLTA)
#define FROM_TURING  FROM(ITRACE_TURING)
#define FROM_AMPERE  FROM(ITRACE_AMPERE)
#define FROM_ADA     FROM(ITRACE_ADA)
#define FROM_HOPPER  FROM(ITRACE_HOPPER)
#define OLD          (ALL & ~FROM_VOLTA) /* before Volta */

static const struct row {
    const char *name;
    unsigned archs;
    struct sass_opcode opcode;
} rows[] = {
#define X(name, unit, space, archs) {#name, archs, {SASS_CLASS_##unit, ITRACE_SPACE_##space}},
#include "opcode_classes.def"
};

static const struct {
    const char *name;
    unsigned least, most; /* binary versions */
} archs[ITRACE_ARCH_COUNT] = {
    [ITRACE_KEPLER] = {"Kepler", 30, 37},
    [ITRACE_MAXWELL] = {"Maxwell", 50, 53},
    [ITRACE_PASCAL] = {"Pascal", 60, 62},
    [ITRACE_VOLTA] = {"Volta", 70, 72},
    [ITRACE_TURING] = {"Turing", 75, 75},
    [ITRACE_AMPERE] = {"Ampere", 80, 88},
    [ITRACE_ADA] = {"Ada", 89, 89},
    [ITRACE_HOPPER] = {"Hopper", 90, 90},
    [ITRACE_BLACKWELL] = {"Blackwell", 100, 121},
};

enum itrace_arch itrace_arch_of(uint64_t binary_version)
{
    for (unsigned i = 0; i < ITRACE_ARCH_COUNT; i++)
        if (binary_version >= archs[i].least && binary_version <= archs[i].most)
            return (enum itrace_arch)i;
    return ITRACE_ARCH_UNKNOWN;
}

const char *itrace_arch_name(enum itrace_arch arch)
{
    return arch < ITRACE_ARCH_COUNT ? archs[arch].name : "unknown";
}

const char *sass_class_name(enum sass_class unit)
{
    static const char *const names[SASS_CLASS_COUNT] = {
#define SASS_CLASS(NAME, name, unit, kind) #name,
#include "opcode_classes.def"
    };
    return names[unit];
}

/* The distance of a row from what is asked for: 0 this architecture, then newer ones, then older
 * ones. */
static unsigned distance(unsigned row_archs, enum itrace_arch arch)
{
    unsigned newest = ITRACE_ARCH_COUNT - 1, best = 2 * ITRACE_ARCH_COUNT;
    for (unsigned a = 0; a < ITRACE_ARCH_COUNT; a++) {
        if (!(row_archs >> a & 1))
            continue;
        unsigned far = arch == ITRACE_ARCH_UNKNOWN ? newest - a
                       : a >= arch                 ? a - arch
                                                   : ITRACE_ARCH_COUNT + arch - a;
        best = min(far, best);
    }
    return best;
}

bool sass_opcode_find(enum itrace_arch arch, const char *name, size_t size,
                      struct sass_opcode *opcode)
{
    unsigned best = UINT32_MAX;
    if (size && ptx_name_is_ptx(name))
        return ptx_opcode_find(name, opcode);
    *opcode = (struct sass_opcode){SASS_CLASS_UNKNOWN, ITRACE_SPACE_NONE};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        if (size == 0 || rows[i].name[0] != name[0] || strncmp(rows[i].name, name, size) != 0
            || rows[i].name[size])
            continue;
        unsigned far = distance(rows[i].archs, arch);
        if (far < best)
            *opcode = rows[i].opcode;
        best = min(far, best);
    }
    return best != UINT32_MAX;
}
