// Mistakes of CUDA kernels, each in right and wrong form, for tests of `heddle run --check`.
// Arguments: the case, and `right` or `wrong`. A comment "NAME: first" or "NAME: second" marks the
// lines that a report of the wrong form names, "NAME: KIND" what kind of finding it is.
#pragma once
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

constexpr int elements = 1024, block = 256;

using Kernel = void (*)(int *data, int *fresh);
struct Case {
    const char *name;
    Kernel right, wrong;
    int blocks;
};
#define CASE(name, blocks) {#name, name<false>, name<true>, blocks}

// `data` is zeros, nothing has written `fresh`.
template <size_t count> int run_case(const Case (&cases)[count], int words, char **arguments)
{
    int *data = nullptr, *fresh = nullptr;
    bool found = false;
    cudaMalloc(&data, elements * sizeof(int));
    cudaMalloc(&fresh, elements * sizeof(int));
    cudaMemset(data, 0, elements * sizeof(int));
    for (const Case &each : cases) {
        if (words == 3 && strcmp(each.name, arguments[1]) == 0) {
            Kernel kernel = strcmp(arguments[2], "wrong") == 0 ? each.wrong : each.right;
            kernel<<<each.blocks, block>>>(data, fresh);
            found = true;
        }
    }
    cudaError_t error = cudaDeviceSynchronize();
    cudaFree(data);
    cudaFree(fresh);
    printf("%s: %s\n", found && error == cudaSuccess ? "PASS" : "FAIL", cudaGetErrorString(error));
    return !found || error != cudaSuccess;
}
