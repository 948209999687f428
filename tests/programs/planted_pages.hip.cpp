// A kernel whose every access is to another page: what limits it is planted, for reports to find.
#include "check.hpp"

constexpr int PAGE = 4096 / sizeof(int);

// One line of each page, not the same one in all, so that caches and channels share the work.
__device__ int place_of(int page)
{
    return page * PAGE + page * 5 % 64 * 16;
}

__global__ void mark(int *data)
{
    int page = blockIdx.x * blockDim.x + threadIdx.x;
    data[place_of(page)] = page;
}

__global__ void visit(const int *data, int *out, int pages, int rounds)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int round = 0; round < rounds; round++) {
        sum += data[place_of((thread + round * (pages / 4 + 64)) % pages)];
    }
    out[thread] = sum;
}

int main(int argc, char **argv)
{
    int threads = 1024, rounds = 8, pages = size_argument(argc, argv, 1, 2048);
    int *data;
    HIP_MUST(hipMalloc(&data, static_cast<size_t>(pages) * 4096));
    std::vector<int> out(threads), want(threads);
    for (int i = 0; i < threads; i++) {
        for (int round = 0; round < rounds; round++) {
            want[i] += (i + round * (pages / 4 + 64)) % pages;
        }
    }
    int *dout = to_device(out);
    mark<<<pages / 64, 64>>>(data);
    visit<<<threads / 64, 64>>>(data, dout, pages, rounds);
    from_device(out, dout);
    HIP_MUST(hipFree(data));
    HIP_MUST(hipFree(dout));
    return same_or_report("planted_pages", out, want) ? pass("planted_pages") : 1;
}
