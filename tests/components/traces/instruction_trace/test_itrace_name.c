/* Kernels' names out of mangled ones. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "base/number.h"
#include "components/traces/instruction_trace/reader/itrace_name.h"

struct name_case {
    char symbol[48], name[32];
    size_t size;
};

ParameterizedTestParameters(sass_name, plain)
{
    static struct name_case cases[] = {
        {"_Z6KernelP4NodePiPbS2_S2_S1_i", "Kernel", 32},
        {"_Z7Kernel2PbS_S_S_i", "Kernel2", 32},
        {"_ZN5solve3lowEPf", "solve::low", 32},
        {"_ZN2at6native3addEv", "at::native::add", 32},
        {"_Z6reduceILj512EEvPiS0_j", "reduce", 32},
        {"plain_c", "plain_c", 32},
        {"", "", 32},
        {"_Z", "_Z", 32},
        {"_Z0v", "_Z0v", 32},
        {"_Z9short", "_Z9short", 32},
        {"_Z4294967300k", "_Z4294967300k", 32},
        {"_Z6KernelPf", "_Z6Ke", 6}, /* no room: cut off, as it is */
        {"long_name", "long_", 6},
    };
    return cr_make_param_array(struct name_case, cases, ARRAY_COUNT(cases));
}

ParameterizedTest(struct name_case *p, sass_name, plain)
{
    char name[32];
    itrace_name_plain(p->symbol, name, p->size);
    cr_expect_str_eq(name, p->name);
}
