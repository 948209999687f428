// Tiles of cooperative groups: warp-aggregated filling, segmented sums in tiles of 4 and 16,
// partitions by label, block-wide sums through the tiles of a block. Prints PASS or FAIL.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
#include <numeric>
#include <vector>

namespace cg = cooperative_groups;

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t err_ = (call);                                                                 \
        if (err_ != cudaSuccess) {                                                                 \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err_));     \
            std::exit(EXIT_FAILURE);                                                               \
        }                                                                                          \
    } while (0)

template <int TileSize> __device__ int tile_sum(const cg::thread_block_tile<TileSize> &tile, int v)
{
#pragma unroll
    for (int offset = tile.size() / 2; offset > 0; offset /= 2)
        v += tile.shfl_down(v, offset);
    return tile.shfl(v, 0);
}

template <int TileSize> __global__ void segments(const int *in, int *sums, int n)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<TileSize>(block);
    auto grid = cg::this_grid();
    for (unsigned i = grid.thread_rank(); i < n; i += grid.size()) {
        int s = tile_sum<TileSize>(tile, in[i]);
        if (s != cg::reduce(tile, in[i], cg::plus<int>()))
            s = -1;
        if (tile.thread_rank() == 0)
            sums[i / TileSize] = s;
    }
}

__global__ void keep_odd(const int *in, int *out, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] % 2) {
        cg::coalesced_group active = cg::coalesced_threads();
        int base = 0;
        if (active.thread_rank() == 0)
            base = atomicAdd(count, (int)active.size());
        base = active.shfl(base, 0);
        out[base + active.thread_rank()] = in[i];
    }
}

__global__ void by_label(int *sizes, int *prefix)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int label = warp.thread_rank() % 3;
    auto group = cg::labeled_partition(warp, label);
    auto half = cg::binary_partition(warp, warp.thread_rank() < 12);
    sizes[threadIdx.x] = group.size() * 100 + half.size();
    prefix[threadIdx.x] = cg::exclusive_scan(warp, (int)threadIdx.x % 32, cg::plus<int>());
}

__global__ void block_total(const int *in, long long *total, int n)
{
    __shared__ long long partial[32];
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    long long mine = 0;
    for (int i = block.thread_rank(); i < n; i += block.size())
        mine += in[i];
    mine = cg::reduce(warp, mine, cg::plus<long long>());
    if (warp.thread_rank() == 0)
        partial[warp.meta_group_rank()] = mine;
    cg::sync(block);
    if (warp.meta_group_rank() == 0) {
        long long v = warp.thread_rank() < warp.meta_group_size() ? partial[warp.thread_rank()] : 0;
        v = cg::reduce(warp, v, cg::plus<long long>());
        cg::thread_block_tile<32> same = warp;
        auto quarter = cg::tiled_partition<8>(same);
        cg::invoke_one(warp, [&] { *total = v; });
        if (quarter.meta_group_rank() != threadIdx.x / 8 || quarter.meta_group_size() != 4)
            *total = -1;
    }
}

int main()
{
    const int n = 4096;
    std::vector<int> h(n), sums(n), kept(n);
    for (int i = 0; i < n; i++)
        h[i] = (i * 7919) % 1013;
    int *in, *out, *count, bad = 0;
    long long *total;
    CHECK(cudaMalloc(&in, n * sizeof(int)));
    CHECK(cudaMalloc(&out, n * sizeof(int)));
    CHECK(cudaMallocManaged(&count, 128 * sizeof(int)));
    CHECK(cudaMallocManaged(&total, sizeof *total));
    CHECK(cudaMemcpy(in, h.data(), n * sizeof(int), cudaMemcpyHostToDevice));

    segments<4><<<8, 128>>>(in, out, n);
    CHECK(cudaMemcpy(sums.data(), out, n / 4 * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n / 4; i++)
        bad += sums[i] != std::accumulate(&h[4 * i], &h[4 * i] + 4, 0);
    segments<16><<<8, 128>>>(in, out, n);
    CHECK(cudaMemcpy(sums.data(), out, n / 16 * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n / 16; i++)
        bad += sums[i] != std::accumulate(&h[16 * i], &h[16 * i] + 16, 0);

    *count = 0;
    keep_odd<<<(n + 255) / 256, 256>>>(in, out, count, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    long long want = 0, got = 0;
    int odd = 0;
    for (int v : h)
        if (v % 2)
            want += v, odd++;
    CHECK(cudaMemcpy(kept.data(), out, odd * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < odd; i++)
        got += kept[i];
    bad += *count != odd || got != want;

    by_label<<<1, 32>>>(count, count + 64);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++)
        bad += count[i] != (i % 3 == 2 ? 10 : 11) * 100 + (i < 12 ? 12 : 20)
               || count[64 + i] != i * (i - 1) / 2;

    block_total<<<1, 256>>>(in, total, n);
    CHECK(cudaDeviceSynchronize());
    bad += *total != std::accumulate(h.begin(), h.end(), 0LL);
    std::printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    cudaFree(in);
    cudaFree(out);
    cudaFree(count);
    cudaFree(total);
    return bad != 0;
}
