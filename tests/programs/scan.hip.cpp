// Exclusive prefix sum by three kernels: each work-group scans its part in LDS, one work-group scans the totals, and
// every part gets what comes before it. Arguments: [elements].
#include "check.hpp"

constexpr unsigned block = 256;

__device__ unsigned scan_group(unsigned value, unsigned *shared)
{
    unsigned lane = threadIdx.x;
    shared[lane] = value;
    __syncthreads();
    for (unsigned step = 1; step < block; step *= 2) {
        unsigned left = lane >= step ? shared[lane - step] : 0;
        __syncthreads();
        shared[lane] += left;
        __syncthreads();
    }
    return shared[lane];
}

__global__ void scan_parts(const unsigned *in, unsigned *out, unsigned *totals, unsigned n)
{
    __shared__ unsigned shared[block];
    unsigned i = blockIdx.x * block + threadIdx.x;
    unsigned value = i < n ? in[i] : 0;
    unsigned sum = scan_group(value, shared);
    if (i < n) {
        out[i] = sum - value;
    }
    if (threadIdx.x == block - 1) {
        totals[blockIdx.x] = sum;
    }
}

__global__ void scan_totals(unsigned *totals, unsigned parts)
{
    __shared__ unsigned shared[block];
    unsigned before = 0;
    for (unsigned start = 0; start < parts; start += block) {
        unsigned i = start + threadIdx.x;
        unsigned value = i < parts ? totals[i] : 0;
        unsigned sum = scan_group(value, shared);
        if (i < parts) {
            totals[i] = before + sum - value;
        }
        before += shared[block - 1];
        __syncthreads();
    }
}

__global__ void add_totals(unsigned *out, const unsigned *totals, unsigned n)
{
    unsigned i = blockIdx.x * block + threadIdx.x;
    if (i < n) {
        out[i] += totals[blockIdx.x];
    }
}

int main(int argc, char **argv)
{
    unsigned n = size_argument(argc, argv, 1, 20000);
    random_source random;
    std::vector<unsigned> in(n), out(n), want(n);
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++) {
        in[i] = random.next();
        want[i] = sum;
        sum += in[i];
    }
    unsigned parts = blocks_for(n, block);
    unsigned *din = to_device(in), *dout = device_zeros<unsigned>(n);
    unsigned *dtotals = device_zeros<unsigned>(parts);
    scan_parts<<<parts, block>>>(din, dout, dtotals, n);
    scan_totals<<<1, block>>>(dtotals, parts);
    add_totals<<<parts, block>>>(dout, dtotals, n);
    from_device(out, dout);
    return same_or_report("scan", out, want) ? pass("scan") : 1;
}
