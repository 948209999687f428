// Counts bytes: atomics on LDS in each work-group, then atomics on memory. Arguments: [elements].
#include "check.hpp"

constexpr int bins = 256;

__global__ void histogram(const unsigned char *in, unsigned *counts, int n)
{
    __shared__ unsigned local[bins];
    for (int bin = threadIdx.x; bin < bins; bin += blockDim.x) {
        local[bin] = 0;
    }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&local[in[i]], 1u);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < bins; bin += blockDim.x) {
        atomicAdd(&counts[bin], local[bin]);
    }
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 16000);
    random_source random;
    std::vector<unsigned char> in(n);
    std::vector<unsigned> counts(bins), want(bins, 0);
    for (int i = 0; i < n; i++) {
        in[i] = static_cast<unsigned char>((random.next() >> 8) & (random.next() >> 16)); // skewed
        want[in[i]]++;
    }
    unsigned char *din = to_device(in);
    unsigned *dcounts = nullptr;
    allocate(&dcounts, bins * sizeof(unsigned));
    HIP_MUST(hipMemset(dcounts, 0, bins * sizeof(unsigned)));
    histogram<<<8, 256>>>(din, dcounts, n);
    HIP_MUST(hipDeviceSynchronize());
    from_device(counts, dcounts);
    return same_or_report("histogram", counts, want) ? pass("histogram") : 1;
}
