// A kernel of assembly on 64 integers, for the programs of this folder that leave a wait out.
#pragma once

#include "../check.hpp"

#ifdef WRONG
#define UNLESS_WRONG(text) ""
#else
#define UNLESS_WRONG(text) text "\n"
#endif

static int run_on_integers(void (*kernel)(int *))
{
    std::vector<int> in(64, 1);
    int *data = to_device(in);
    kernel<<<1, 64>>>(data);
    HIP_MUST(hipDeviceSynchronize());
    HIP_MUST(hipFree(data));
    return 0;
}
