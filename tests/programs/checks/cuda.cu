// Mistakes of CUDA kernels, each in right and wrong form, for tests of `heddle run --check`.
// Arguments: the case, and `right` or `wrong`. A comment "NAME: first" or "NAME: second" marks the
// lines that a report of the wrong form names, "NAME: KIND" what kind of finding it is.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

constexpr int elements = 1024, block = 256;
__constant__ int table[4] = {1, 2, 3, 4};

template <bool wrong> __global__ void unordered(int *data, int *) // unordered: race
{
    __shared__ int part[block];
    int i = threadIdx.x;
    part[i] = i; // unordered: first
    if (!wrong) {
        __syncthreads();
    }
    data[i] = part[block - 1 - i]; // unordered: second
}

template <bool wrong> __global__ void branch(int *data, int *fresh) // branch: uninitialised-branch
{
    int i = threadIdx.x;
    if (!wrong) {
        fresh[i] = 3;
    }
    if (fresh[i] > 3) { // branch: first
        data[i] = 1;
    }
}

template <bool wrong> __global__ void index(int *data, int *fresh) // index: uninitialised-address
{
    int i = threadIdx.x;
    if (!wrong) {
        fresh[i] = i;
    }
    int at = fresh[i]; // index: first
    if (i == 7) {
        data[at & 255] = 1; // index: second
    }
}

template <bool wrong> __global__ void shared(int *data, int *) // shared: uninitialised-store
{
    __shared__ int part[2 * block];
    int i = threadIdx.x;
    part[i] = i;
    __syncthreads();
    data[i] = part[wrong ? i + block : i] + 1; // shared: first
}

// Each thread writes half of an array of its own.
template <bool wrong> __global__ void own(int *data, int *) // own: uninitialised-store
{
    int array[16];
    for (int i = 0; i < (wrong ? 8 : 16); i++) {
        array[(5 * i + data[1]) & 15] = i;
    }
    data[block + threadIdx.x] = array[(data[0] + 1) & 15] + 1; // own: first
}

// Copies of what nothing has written are no mistake, not through shared memory either.
template <bool wrong> __global__ void sum(int *data, int *fresh) // sum: uninitialised-store
{
    __shared__ int part[block];
    int i = threadIdx.x;
    part[i] = fresh[i];
    __syncthreads();
    data[i] = part[block - 1 - i] + (wrong ? 1 : 0); // sum: first
}

template <bool wrong> __global__ void constants(int *data, int *) // constants: read-only-store
{
    int *to = wrong ? static_cast<int *>(table) : data;
    asm volatile("" : "+l"(to)); // the compiler forgets that it is constant
    if (threadIdx.x < 4) {
        to[threadIdx.x] = 1; // constants: first
    }
}

template <bool wrong> __global__ void missed(int *data, int *) // missed: divergent-barrier
{
    int i = threadIdx.x;
    data[i] = i;
    if (!wrong || i < 130) {
        __syncthreads(); // missed: first
    }
    data[i] += data[elements - 1]; // missed: second
}

// Half of a warp waits at each of two barriers, or whole warps return before the only one.
template <bool wrong> __global__ void halves(int *data, int *) // halves: divergent-barrier
{
    int i = threadIdx.x;
    if (!wrong && i >= 64) {
        return;
    }
    if (i % 32 < 16 || !wrong) {
        data[i] = 1;
        __syncthreads(); // halves: first
        data[i] = 2;
    } else {
        data[i] = 3;
        __syncthreads(); // halves: second
        data[i] = 4;
    }
}

template <bool wrong> __global__ void apart(int *data, int *) // apart: different-barriers
{
    int i = threadIdx.x;
    if (i < 64 || !wrong) {
        data[i] = 1;
        __syncthreads(); // apart: first
        data[i] = 2;
    } else {
        data[i] = 3;
        __syncthreads(); // apart: second
        data[i] = 4;
    }
}

// Warps that hand on by a barrier of their own number: one arrives, one waits.
template <bool wrong> __global__ void pairs(int *data, int *) // pairs: race
{
    __shared__ int part[32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        part[lane] = lane; // pairs: first
        if (!wrong) {
            asm volatile("bar.arrive 3, 64;" ::: "memory");
        }
    } else if (threadIdx.x < 64) {
        if (!wrong) {
            asm volatile("bar.sync 3, 64;" ::: "memory");
        }
        data[lane] = part[lane]; // pairs: second
    }
}

using Kernel = void (*)(int *data, int *fresh);
#define CASE(name) {#name, name<false>, name<true>}
static const struct {
    const char *name;
    Kernel right, wrong;
} cases[] = {CASE(unordered), CASE(branch),    CASE(index),  CASE(shared), CASE(own),  CASE(sum),
             CASE(constants), CASE(missed), CASE(halves), CASE(apart), CASE(pairs)};

int main(int count, char **arguments)
{
    int *data = nullptr, *fresh = nullptr;
    bool found = false;
    cudaMalloc(&data, elements * sizeof(int));
    cudaMalloc(&fresh, elements * sizeof(int));
    cudaMemset(data, 0, elements * sizeof(int));
    for (const auto &each : cases) {
        if (count == 3 && strcmp(each.name, arguments[1]) == 0) {
            (strcmp(arguments[2], "wrong") == 0 ? each.wrong : each.right)<<<1, block>>>(data, fresh);
            found = true;
        }
    }
    cudaError_t error = cudaDeviceSynchronize();
    cudaFree(data);
    cudaFree(fresh);
    printf("%s: %s\n", found && error == cudaSuccess ? "PASS" : "FAIL", cudaGetErrorString(error));
    return !found || error != cudaSuccess;
}
