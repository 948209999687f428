// One cooperative launch as a whole solver: as many blocks as fit, a barrier of the grid after each
// sweep, a residual that all blocks see, and an end when it is small. Prints PASS or FAIL.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
#include <vector>
namespace cg = cooperative_groups;

struct Problem {
    const float *right;
    float *now, *next, *residuals;
    int *sweeps;
    int side, most;
    float tolerance;
};

__device__ float sweep(const Problem &p, cg::grid_group grid)
{
    float change = 0;
    for (int i = (int)grid.thread_rank(); i < p.side * p.side; i += (int)grid.size()) {
        int x = i % p.side, y = i / p.side;
        float around = (x > 0 ? p.now[i - 1] : 0) + (x + 1 < p.side ? p.now[i + 1] : 0)
                       + (y > 0 ? p.now[i - p.side] : 0) + (y + 1 < p.side ? p.now[i + p.side] : 0);
        p.next[i] = (p.right[i] + around) / 5.0f;
        change = fmaxf(change, fabsf(p.next[i] - p.now[i]));
    }
    return change;
}

__global__ void solve(__grid_constant__ const Problem given)
{
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    __shared__ float largest[8];
    Problem p = given;
    for (int n = 0; n < p.most; n++) {
        auto warp = cg::tiled_partition<32>(block);
        float change = cg::reduce(warp, sweep(p, grid), cg::greater<float>());
        if (warp.thread_rank() == 0)
            largest[warp.meta_group_rank()] = change;
        block.sync();
        if (block.thread_rank() == 0) {
            for (unsigned w = 1; w < warp.meta_group_size(); w++)
                change = fmaxf(change, largest[w]);
            p.residuals[grid.block_rank()] = change;
        }
        grid.sync();
        float all = 0;
        for (unsigned b = 0; b < grid.num_blocks(); b++)
            all = fmaxf(all, p.residuals[b]);
        float *swap = p.now;
        p.now = p.next;
        p.next = swap;
        grid.sync();
        if (all < p.tolerance) {
            if (grid.thread_rank() == 0)
                *p.sweeps = n + 1;
            return;
        }
    }
}

int main()
{
    const int side = 16, n = side * side, threads = 64;
    int can = 0, perSM = 0, sms = 0, bad = 0;
    cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&perSM, solve, threads, 0);
    bad += !can || perSM < 1;
    int blocks = sms * perSM < 4 ? sms * perSM : 4;
    std::vector<float> right(n), got(n);
    for (int i = 0; i < n; i++)
        right[i] = (i * 31 % 17) - 8;
    Problem p = {};
    float *memory;
    cudaMalloc(&memory, (3 * n + blocks) * sizeof(float));
    cudaMallocManaged(&p.sweeps, sizeof(int));
    *p.sweeps = 0;
    cudaMemset(memory, 0, 3 * n * sizeof(float));
    cudaMemcpy(memory, right.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    p.right = memory;
    p.now = memory + n;
    p.next = memory + 2 * n;
    p.residuals = memory + 3 * n;
    p.side = side;
    p.most = 60;
    p.tolerance = 1e-3f;
    void *arguments[] = {&p};
    cudaError_t error = cudaLaunchCooperativeKernel(solve, blocks, threads, arguments, 0, nullptr);
    bad += error != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess;
    cudaMemcpy(got.data(), *p.sweeps % 2 ? p.next : p.now, n * sizeof(float),
               cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) {
        int x = i % side, y = i / side;
        float around = (x > 0 ? got[i - 1] : 0) + (x + 1 < side ? got[i + 1] : 0)
                       + (y > 0 ? got[i - side] : 0) + (y + 1 < side ? got[i + side] : 0);
        float rest = 5 * got[i] - around - right[i];
        bad += rest > 0.05f || rest < -0.05f;
    }
    bad += *p.sweeps < 5 || *p.sweeps == 60;
    error = cudaLaunchCooperativeKernel(solve, sms * perSM + 1, threads, arguments, 0, nullptr);
    bad += error != cudaErrorCooperativeLaunchTooLarge;
    cudaFree(memory);
    cudaFree(p.sweeps);
    std::printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    return bad != 0;
}
