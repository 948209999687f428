/* The table is searched from front to back: this happens once for each static instruction. */
#include "components/traces/instruction_trace/nvidia/opcode_classes.h"

#include "components/traces/instruction_trace/amd/amd_opcodes.h"

#include <string.h>

#define KEPLER       (1u << SASS_KEPLER)
#define MAXWELL      (1u << SASS_MAXWELL)
#define PASCAL       (1u << SASS_PASCAL)
#define HOPPER       (1u << SASS_HOPPER)
#define ALL          ((1u << SASS_ARCH_COUNT) - 1)
#define FROM(arch)   (ALL & ~((1u << (arch)) - 1))
#define FROM_MAXWELL FROM(SASS_MAXWELL)
#define FROM_PASCAL  FROM(SASS_PASCAL)
#define FROM_VOLTA   FROM(SASS_VOLTA)
#define FROM_TURING  FROM(SASS_TURING)
#define FROM_AMPERE  FROM(SASS_AMPERE)
#define FROM_ADA     FROM(SASS_ADA)
#define OLD          (ALL & ~FROM_VOLTA) /* before Volta */

static const struct row {
    const char *name;
    unsigned archs;
    struct sass_opcode opcode;
} rows[] = {
#define X(name, unit, space, archs) {#name, archs, {SASS_CLASS_##unit, SASS_SPACE_##space, 0}},
#include "components/traces/instruction_trace/nvidia/opcode_classes.def"
};

static const struct {
    const char *name;
    unsigned least, most; /* binary versions */
} archs[SASS_ARCH_COUNT] = {
    [SASS_KEPLER] = {"Kepler", 30, 37}, [SASS_MAXWELL] = {"Maxwell", 50, 53},
    [SASS_PASCAL] = {"Pascal", 60, 62}, [SASS_VOLTA] = {"Volta", 70, 72},
    [SASS_TURING] = {"Turing", 75, 75}, [SASS_AMPERE] = {"Ampere", 80, 88},
    [SASS_ADA] = {"Ada", 89, 89},       [SASS_HOPPER] = {"Hopper", 90, 90},
};

enum sass_arch sass_arch_of(uint64_t binary_version)
{
    for (unsigned i = 0; i < SASS_ARCH_COUNT; i++)
        if (binary_version >= archs[i].least && binary_version <= archs[i].most)
            return (enum sass_arch)i;
    return SASS_ARCH_UNKNOWN;
}

const char *sass_arch_name(enum sass_arch arch)
{
    if (sass_arch_is_amd(arch))
        return isa_target_name(sass_arch_target(arch));
    return arch < SASS_ARCH_COUNT ? archs[arch].name : "unknown";
}

const char *sass_class_name(enum sass_class unit)
{
    static const char *const names[SASS_CLASS_COUNT] = {
#define SASS_CLASS(NAME, name, unit, kind) #name,
#include "components/traces/instruction_trace/nvidia/opcode_classes.def"
    };
    return names[unit];
}

/* How far a row is from what is asked for: 0 this architecture, then newer ones, then older ones.
 */
static unsigned distance(unsigned row_archs, enum sass_arch arch)
{
    unsigned newest = SASS_ARCH_COUNT - 1, best = 2 * SASS_ARCH_COUNT;
    for (unsigned a = 0; a < SASS_ARCH_COUNT; a++) {
        if (!(row_archs >> a & 1))
            continue;
        unsigned far = arch == SASS_ARCH_UNKNOWN ? newest - a
                       : a >= arch               ? a - arch
                                                 : SASS_ARCH_COUNT + arch - a;
        best = far < best ? far : best;
    }
    return best;
}

bool sass_opcode_find(enum sass_arch arch, const char *name, size_t size,
                      struct sass_opcode *opcode)
{
    unsigned best = UINT32_MAX;
    *opcode = (struct sass_opcode){SASS_CLASS_UNKNOWN, SASS_SPACE_NONE, 0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (size == 0 || rows[i].name[0] != name[0] || strncmp(rows[i].name, name, size) != 0
            || rows[i].name[size])
            continue;
        unsigned far = distance(rows[i].archs, arch);
        if (far < best)
            *opcode = rows[i].opcode;
        best = far < best ? far : best;
    }
    return best != UINT32_MAX;
}
