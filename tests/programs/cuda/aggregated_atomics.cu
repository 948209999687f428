// Cooperative groups: filters with one atomic function per coalesced group, groups by label and by
// predicate, tiles of several warps, and sorting inside of a tile. Prints PASS or FAIL.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <algorithm>
#include <iostream>
#include <vector>

namespace cg = cooperative_groups;

__device__ int atomicAggInc(int *counter)
{
    cg::coalesced_group active = cg::coalesced_threads();
    int first;
    if (active.thread_rank() == 0)
        first = atomicAdd(counter, (int)active.size());
    return active.shfl(first, 0) + active.thread_rank();
}

__global__ void filter(int *dst, int *count, const int *src, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (src[i] % 3 == 1)
            dst[atomicAggInc(count)] = src[i];
}

__global__ void byLabel(const int *keys, int *sums, int *odd, int n)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    int i = block.group_index().x * block.size() + block.thread_rank();
    if (i >= n)
        return;
    auto mates = cg::labeled_partition(tile, keys[i]);
    int sum = cg::reduce(mates, i, cg::plus<int>());
    if (mates.thread_rank() == 0)
        atomicAdd(&sums[keys[i]], sum);
    auto half = cg::binary_partition(tile, (i & 1) != 0);
    if ((i & 1) && half.thread_rank() == half.num_threads() - 1)
        atomicAdd(odd, (int)half.num_threads());
}

template <unsigned Size, typename Parent>
__device__ int bitonic(const cg::thread_block_tile<Size, Parent> &tile, int value)
{
    for (unsigned k = 2; k <= Size; k *= 2)
        for (unsigned j = k / 2; j > 0; j /= 2) {
            int other = tile.shfl_xor(value, j);
            bool up = (tile.thread_rank() & k) == 0, low = (tile.thread_rank() & j) == 0;
            value = (up == low) ? min(value, other) : max(value, other);
        }
    return value;
}

__global__ void sortTiles(int *data)
{
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = bitonic(tile, data[i]);
    if (tile.any(data[i] < 0) && tile.meta_group_rank() == 0 && tile.thread_rank() == 0)
        printf("negative in %d of %d\n", (int)tile.meta_group_rank(), (int)tile.meta_group_size());
}

__global__ void staged(const float *in, float *out)
{
    __shared__ float buffer[2][128];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, buffer[0], in, sizeof(float) * 128);
    cg::memcpy_async(block, buffer[1], in + 128, sizeof(float) * 128);
    cg::wait(block);
    int t = block.thread_index().x;
    out[t] = buffer[0][t] + buffer[1][127 - t];
    block.sync();
    int scan = cg::exclusive_scan(cg::tiled_partition<32>(block), t & 31, cg::plus<int>());
    out[128 + t] = scan;
}

int main()
{
    const int n = 1024;
    std::vector<int> h(n), keys(n);
    for (int i = 0; i < n; i++) {
        h[i] = (i * 37) % 211;
        keys[i] = (i * i) % 7;
    }
    int *src, *dst, *count, bad = 0;
    cudaMalloc(&src, n * sizeof(int));
    cudaMalloc(&dst, n * sizeof(int));
    cudaMallocManaged(&count, 16 * sizeof(int));
    std::fill(count, count + 16, 0);
    cudaMemcpy(src, h.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    filter<<<2, 96>>>(dst, count, src, n);
    cudaDeviceSynchronize();
    std::vector<int> got(*count), want;
    cudaMemcpy(got.data(), dst, got.size() * sizeof(int), cudaMemcpyDeviceToHost);
    std::copy_if(h.begin(), h.end(), std::back_inserter(want), [](int v) { return v % 3 == 1; });
    std::sort(got.begin(), got.end());
    std::sort(want.begin(), want.end());
    bad += got != want;

    cudaMemcpy(src, keys.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    byLabel<<<(n + 63) / 64, 64>>>(src, count + 1, count + 9, n);
    cudaDeviceSynchronize();
    std::vector<int> sums(7);
    for (int i = 0; i < n; i++)
        sums[keys[i]] += i;
    bad += !std::equal(sums.begin(), sums.end(), count + 1) || count[9] != n / 2;

    sortTiles<<<2, 64>>>(dst);
    std::vector<int> tiles(128), sorted(128);
    cudaMemcpy(sorted.data(), dst, 512, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 128; i += 16)
        bad += !std::is_sorted(sorted.begin() + i, sorted.begin() + i + 16);

    float *f;
    cudaMallocManaged(&f, 512 * sizeof(float));
    for (int i = 0; i < 256; i++)
        f[i] = i;
    staged<<<1, 128>>>(f, f + 256);
    cudaDeviceSynchronize();
    for (int t = 0; t < 128; t++)
        bad += f[256 + t] != 255 || f[384 + t] != (t & 31) * ((t & 31) - 1) / 2;
    std::cout << cudaGetErrorString(cudaGetLastError()) << ", " << bad << " wrong\n"
              << (bad ? "FAIL" : "PASS") << std::endl;
    cudaFree(src);
    cudaFree(dst);
    cudaFree(count);
    cudaFree(f);
    return bad;
}
