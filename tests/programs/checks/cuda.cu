// Mistakes of kernels for any GPU, as cuda_cases.hpp says.
#include "cuda_cases.hpp"

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

// The last block adds up what all have left, and sets the count back for the next launch.
template <bool wrong> __global__ void last(int *data, int *) // last: race
{
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        data[1 + blockIdx.x] = 1; // last: first
        if (!wrong) {
            __threadfence();
        }
        is_last = atomicAdd(data, 1) + 1 == gridDim.x;
    }
    __syncthreads();
    if (is_last) {
        __threadfence();
        data[256 + threadIdx.x] = data[1 + threadIdx.x % gridDim.x]; // last: second
        if (threadIdx.x == 0) {
            data[0] = 0;
        }
    }
}

int main(int words, char **arguments)
{
    static const Case cases[] = {CASE(unordered, 1), CASE(branch, 1), CASE(index, 1),
                                 CASE(shared, 1),    CASE(own, 1),    CASE(sum, 1),
                                 CASE(constants, 1), CASE(missed, 1), CASE(halves, 1),
                                 CASE(apart, 1),     CASE(pairs, 1),  CASE(last, 4)};
    return run_case(cases, words, arguments);
}
