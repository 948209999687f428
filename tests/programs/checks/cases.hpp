// Mistakes of kernels, each in right and wrong form, for tests of `heddle run --check`. Arguments: the
// case, and `right` or `wrong`. A comment "NAME: first" or "NAME: second" marks the lines that a
// report of the wrong form names, "NAME: KIND" what kind of finding it is.
#pragma once
#include "../check.hpp"
#include <cstring>

using Kernel = void (*)(int *data, int *more, int n);

struct Case {
    const char *name;
    Kernel right, wrong;
    int groups, block;
    bool clear; // both buffers are zeros; else nothing has written them
};

constexpr int elements = 4096;

// The assembly with and without what `wait` says.
#define UNLESS(before, wait, after, ...)                                                           \
    if (wrong)                                                                                     \
        asm volatile(before "\n" after __VA_ARGS__);                                               \
    else                                                                                           \
        asm volatile(before "\n" wait "\n" after __VA_ARGS__)
#define DONE "\ns_waitcnt vmcnt(0) lgkmcnt(0)"

// Runs the case of that name; false: there is none.
static inline bool run_case(const Case *cases, size_t count, const char *name, bool wrong)
{
    for (size_t i = 0; i < count; i++) {
        if (std::strcmp(cases[i].name, name) != 0) {
            continue;
        }
        int *data, *more;
        HIP_MUST(hipMalloc(reinterpret_cast<void **>(&data), elements * sizeof(int)));
        HIP_MUST(hipMalloc(reinterpret_cast<void **>(&more), elements * sizeof(int)));
        if (cases[i].clear) {
            HIP_MUST(hipMemset(data, 0, elements * sizeof(int)));
            HIP_MUST(hipMemset(more, 0, elements * sizeof(int)));
        }
        Kernel kernel = wrong ? cases[i].wrong : cases[i].right;
        kernel<<<cases[i].groups, cases[i].block>>>(data, more, elements);
        HIP_MUST(hipDeviceSynchronize());
        HIP_MUST(hipFree(data));
        HIP_MUST(hipFree(more));
        pass(name);
        return true;
    }
    return false;
}
