/* The table of opcodes: what each architecture's real instructions are, by a list that was written
 * from the manual's descriptions, not from the table. */
#include <criterion/criterion.h>

#include <string.h>

#include "components/sass_trace/sass_opcode.h"

static const struct {
    enum sass_arch arch;
    const char *name;
    enum sass_class unit;
    enum sass_space space;
} cases[] = {
    {SASS_KEPLER, "LD", SASS_CLASS_LOAD, SASS_SPACE_GENERIC},
    {SASS_KEPLER, "ISUB", SASS_CLASS_INT, SASS_SPACE_NONE},
    {SASS_KEPLER, "SSY", SASS_CLASS_BRANCH, SASS_SPACE_NONE},
    {SASS_MAXWELL, "XMAD", SASS_CLASS_INT, SASS_SPACE_NONE},
    {SASS_PASCAL, "TEXS", SASS_CLASS_TEXTURE, SASS_SPACE_NONE},
    {SASS_PASCAL, "DMNMX", SASS_CLASS_DP, SASS_SPACE_NONE},
    {SASS_VOLTA, "HMMA", SASS_CLASS_TENSOR, SASS_SPACE_NONE},
    {SASS_VOLTA, "MUFU", SASS_CLASS_SFU, SASS_SPACE_NONE},
    {SASS_VOLTA, "BSSY", SASS_CLASS_BRANCH, SASS_SPACE_NONE},
    {SASS_TURING, "ULDC", SASS_CLASS_UNIFORM, SASS_SPACE_NONE},
    {SASS_TURING, "LDSM", SASS_CLASS_LOAD, SASS_SPACE_SHARED},
    {SASS_AMPERE, "LDGSTS", SASS_CLASS_LOAD, SASS_SPACE_GENERIC},
    {SASS_AMPERE, "DMMA", SASS_CLASS_TENSOR, SASS_SPACE_NONE},
    {SASS_AMPERE, "RED", SASS_CLASS_ATOMIC, SASS_SPACE_GENERIC},
    {SASS_AMPERE, "ATOMS", SASS_CLASS_ATOMIC, SASS_SPACE_SHARED},
    {SASS_AMPERE, "STL", SASS_CLASS_STORE, SASS_SPACE_LOCAL},
    {SASS_ADA, "FFMA", SASS_CLASS_SP, SASS_SPACE_NONE},
    {SASS_HOPPER, "UTMALDG", SASS_CLASS_TMA, SASS_SPACE_NONE},
    {SASS_HOPPER, "BAR", SASS_CLASS_BARRIER, SASS_SPACE_NONE},
    {SASS_HOPPER, "EXIT", SASS_CLASS_EXIT, SASS_SPACE_NONE},
    {SASS_HOPPER, "MEMBAR", SASS_CLASS_MEMBAR, SASS_SPACE_NONE},
    {SASS_HOPPER, "LDG", SASS_CLASS_LOAD, SASS_SPACE_GLOBAL},
    {SASS_HOPPER, "STG", SASS_CLASS_STORE, SASS_SPACE_GLOBAL},
    {SASS_HOPPER, "LDC", SASS_CLASS_ALU, SASS_SPACE_NONE},
    /* Not of this architecture, but known elsewhere. */
    {SASS_KEPLER, "HMMA", SASS_CLASS_TENSOR, SASS_SPACE_NONE},
    {SASS_HOPPER, "SSY", SASS_CLASS_BRANCH, SASS_SPACE_NONE},
    {SASS_ARCH_UNKNOWN, "XMAD", SASS_CLASS_INT, SASS_SPACE_NONE},
};

Test(sass_opcode, units_and_spaces)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sass_opcode opcode;
        cr_expect(sass_opcode_find(cases[i].arch, cases[i].name, strlen(cases[i].name), &opcode),
                  "%s", cases[i].name);
        cr_expect_eq(opcode.unit, cases[i].unit, "%s is %s", cases[i].name,
                     sass_class_name(opcode.unit));
        cr_expect_eq(opcode.space, cases[i].space, "%s", cases[i].name);
    }
}

Test(sass_opcode, unknown_ones_are_unknown)
{
    static const char *const names[] = {"", "F", "FADDX", "FAD", "fadd", "MO", "EXITT"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct sass_opcode opcode;
        cr_expect_not(sass_opcode_find(SASS_AMPERE, names[i], strlen(names[i]), &opcode), "'%s'",
                      names[i]);
        cr_expect_eq(opcode.unit, SASS_CLASS_UNKNOWN);
    }
}

Test(sass_opcode, architectures_by_binary_version)
{
    static const struct {
        unsigned version;
        enum sass_arch arch;
    } versions[] = {{0, SASS_ARCH_UNKNOWN},  {35, SASS_KEPLER},       {52, SASS_MAXWELL},
                    {61, SASS_PASCAL},       {70, SASS_VOLTA},        {75, SASS_TURING},
                    {80, SASS_AMPERE},       {86, SASS_AMPERE},       {89, SASS_ADA},
                    {90, SASS_HOPPER},       {40, SASS_ARCH_UNKNOWN}, {73, SASS_ARCH_UNKNOWN},
                    {91, SASS_ARCH_UNKNOWN}, {100, SASS_ARCH_UNKNOWN}};
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++)
        cr_expect_eq(sass_arch_of(versions[i].version), versions[i].arch, "%u",
                     versions[i].version);
}
