// Sort by digits of four bits: counts a work-group in LDS, a scan of all counts, and a stable scatter that ranks equal
// digits by ballots; again for other keys. Arguments: [elements] [rounds]; 24 launches a round.
#include "check.hpp"

#include <algorithm>

constexpr int digits = 16, block = wave; // one wavefront a work-group

__global__ void count(const unsigned *keys, unsigned *counts, int n, int shift, int groups)
{
    __shared__ unsigned local[digits];
    if (threadIdx.x < digits) {
        local[threadIdx.x] = 0;
    }
    __syncthreads();
    int i = blockIdx.x * block + threadIdx.x;
    if (i < n) {
        atomicAdd(&local[keys[i] >> shift & (digits - 1)], 1u);
    }
    __syncthreads();
    if (threadIdx.x < digits) {
        counts[threadIdx.x * groups + blockIdx.x] = local[threadIdx.x];
    }
}

__global__ void scan(unsigned *counts, int n)
{
    __shared__ unsigned shared[256];
    unsigned before = 0;
    for (int start = 0; start < n; start += 256) {
        int i = start + threadIdx.x;
        unsigned value = i < n ? counts[i] : 0;
        shared[threadIdx.x] = value;
        __syncthreads();
        for (unsigned step = 1; step < 256; step *= 2) {
            unsigned left = threadIdx.x >= step ? shared[threadIdx.x - step] : 0;
            __syncthreads();
            shared[threadIdx.x] += left;
            __syncthreads();
        }
        if (i < n) {
            counts[i] = before + shared[threadIdx.x] - value;
        }
        before += shared[255];
        __syncthreads();
    }
}

__global__ void scatter(const unsigned *keys, unsigned *sorted, const unsigned *starts, int n, int shift, int groups)
{
    int i = blockIdx.x * block + threadIdx.x;
    bool valid = i < n;
    unsigned key = valid ? keys[i] : 0, digit = key >> shift & (digits - 1);
    unsigned long long same = __ballot(valid);
    for (int bit = 0; bit < 4; bit++) {
        unsigned long long set = __ballot(digit >> bit & 1);
        same &= digit >> bit & 1 ? set : ~set;
    }
    if (valid) {
        unsigned rank = __popcll(same & ((1ull << threadIdx.x) - 1));
        sorted[starts[digit * groups + blockIdx.x] + rank] = key;
    }
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 2500), rounds = size_argument(argc, argv, 2, 1), groups = blocks_for(n, block);
    random_source random;
    std::vector<unsigned> keys(n), got(n);
    for (unsigned &key : keys) {
        key = random.next();
    }
    unsigned *from = to_device(keys), *to = device_zeros<unsigned>(n), *counts = device_zeros<unsigned>(digits * groups);
    for (int round = 0; round < rounds; round++) {
        if (round) {
            for (unsigned &key : keys) {
                key = random.next();
            }
            HIP_MUST(hipMemcpy(from, keys.data(), n * sizeof(unsigned), hipMemcpyHostToDevice));
        }
        for (int shift = 0; shift < 32; shift += 4) {
            count<<<groups, block>>>(from, counts, n, shift, groups);
            scan<<<1, 256>>>(counts, digits * groups);
            scatter<<<groups, block>>>(from, to, counts, n, shift, groups);
            std::swap(from, to);
        }
        HIP_MUST(hipGetLastError());
        from_device(got, from);
        std::sort(keys.begin(), keys.end());
        if (!same_or_report("radix_sort", got, keys)) {
            return 1;
        }
    }
    return pass("radix_sort");
}
