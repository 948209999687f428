// Bitonic sort: small distances in LDS, large ones by a kernel a step. Arguments: [log2 of elements].
#include "check.hpp"

#include <algorithm>

constexpr unsigned block = 256, part = 2 * block;

__device__ void order(int &a, int &b, bool ascending)
{
    if ((a > b) == ascending) {
        int t = a;
        a = b;
        b = t;
    }
}

__global__ void sort_shared(int *data, unsigned first_size, unsigned last_size)
{
    __shared__ int shared[part];
    unsigned base = blockIdx.x * part;
    shared[threadIdx.x] = data[base + threadIdx.x];
    shared[threadIdx.x + block] = data[base + threadIdx.x + block];
    for (unsigned size = first_size; size <= last_size; size *= 2) {
        bool ascending = (((base + 2 * threadIdx.x) & size) == 0);
        for (unsigned distance = min(size / 2, block); distance > 0; distance /= 2) {
            __syncthreads();
            unsigned i = 2 * threadIdx.x - (threadIdx.x & (distance - 1));
            if (size < part) {
                ascending = ((base + i) & size) == 0;
            }
            order(shared[i], shared[i + distance], ascending);
        }
    }
    __syncthreads();
    data[base + threadIdx.x] = shared[threadIdx.x];
    data[base + threadIdx.x + block] = shared[threadIdx.x + block];
}

__global__ void sort_step(int *data, unsigned size, unsigned distance)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned i = 2 * thread - (thread & (distance - 1));
    order(data[i], data[i + distance], (i & size) == 0);
}

int main(int argc, char **argv)
{
    unsigned n = 1u << std::min(std::max(size_argument(argc, argv, 1, 12), 9), 24);
    random_source random;
    std::vector<int> data(n), want;
    for (int &value : data) {
        value = static_cast<int>(random.next());
    }
    want = data;
    std::sort(want.begin(), want.end());
    int *device = to_device(data);
    sort_shared<<<n / part, block>>>(device, 2, part);
    for (unsigned size = 2 * part; size <= n; size *= 2) {
        for (unsigned distance = size / 2; distance >= part; distance /= 2) {
            sort_step<<<n / part, block>>>(device, size, distance);
        }
        sort_shared<<<n / part, block>>>(device, size, size);
    }
    HIP_MUST(hipGetLastError());
    from_device(data, device);
    return same_or_report("bitonic", data, want) ? pass("bitonic") : 1;
}
