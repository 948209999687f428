// Cooperative groups: reductions and scans in tiles and coalesced groups, and barriers of a grid.
// Prints PASS or FAIL.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
namespace cg = cooperative_groups;
__global__ void k(int *out)
{
    cg::thread_block b = cg::this_thread_block();
    auto w = cg::tiled_partition<32>(b);
    auto t = cg::tiled_partition<8>(b);
    int r = cg::reduce(w, (int)b.thread_rank(), cg::plus<int>());
    int m = cg::reduce(t, (int)b.thread_rank(), cg::greater<int>());
    if (threadIdx.x % 3 == 0) {
        auto c = cg::coalesced_threads();
        m += cg::reduce(c, 1, cg::plus<int>()) * 1000;
        m += (c.shfl((int)threadIdx.x, 1) ==
              3 + 32 * (threadIdx.x / 32) - (threadIdx.x / 32) % 3 * 0) *
             0;
    }
    double d = w.shfl_xor(1.5 * threadIdx.x, 1);
    long long s = cg::inclusive_scan(t, (long long)threadIdx.x);
    b.sync();
    out[threadIdx.x * 4] = r;
    out[threadIdx.x * 4 + 1] = m;
    out[threadIdx.x * 4 + 2] = (int)(2 * d);
    out[threadIdx.x * 4 + 3] = (int)s;
}
__global__ void gridk(int *x, int n)
{
    cg::grid_group g = cg::this_grid();
    for (int i = 0; i < n; i++) {
        if (g.thread_rank() == 0)
            x[0]++;
        g.sync();
        if (x[0] != i + 1)
            atomicAdd(x + 1, 1);
        g.sync();
    }
}
int main()
{
    int *o;
    cudaMallocManaged(&o, 64 * 16);
    k<<<1, 64>>>(o);
    cudaDeviceSynchronize();
    int bad = 0;
    for (int i = 0; i < 64; i++) {
        int w = i / 32;
        int sum = w ? 32 * 47 + 16 : 496;
        int mx = i / 8 * 8 + 7;
        int cnt = 0;
        for (int j = w * 32; j < w * 32 + 32; j++)
            cnt += j % 3 == 0;
        if (i % 3 == 0)
            mx += cnt * 1000;
        int sc = 0;
        for (int j = i / 8 * 8; j <= i; j++)
            sc += j;
        if (o[4 * i] != sum || o[4 * i + 1] != mx || o[4 * i + 2] != 3 * (i ^ 1) ||
            o[4 * i + 3] != sc) {
            bad++;
            if (bad < 4)
                printf("%d: %d %d, %d %d, %d %d, %d %d\n", i, o[4 * i], sum, o[4 * i + 1], mx,
                       o[4 * i + 2], 3 * (i ^ 1), o[4 * i + 3], sc);
        }
    }
    int *x;
    cudaMalloc(&x, 8);
    cudaMemset(x, 0, 8);
    int n = 5;
    void *args[] = {&x, &n};
    cudaError_t e = cudaLaunchCooperativeKernel(gridk, dim3(8), dim3(64), args);
    int h[2];
    cudaMemcpy(h, x, 8, cudaMemcpyDeviceToHost);
    printf("%s %d %d, %d bad\n", cudaGetErrorString(e), h[0], h[1], bad);
    puts(bad || h[0] != 5 || h[1] ? "FAIL" : "PASS");
    cudaFree(o);
    cudaFree(x);
    return bad;
}
