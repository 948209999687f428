// A scan in one pass: blocks take tickets, publish sums and look back at those before them through
// cuda::atomic_ref. Prints PASS or FAIL.
#include <cuda_runtime.h>
#include <cuda/atomic>
#include <cstdio>
#include <vector>
#include <numeric>
template <int B, int I>
__global__ void scan(const int *in, int *out, unsigned long long *tiles, unsigned *ticket, int n)
{
    __shared__ int warp_sum[B / 32];
    __shared__ int prefix, mine;
    if (threadIdx.x == 0)
        mine = atomicAdd(ticket, 1u);
    __syncthreads();
    int tile = mine, base = tile * B * I, v[I], sum = 0;
#pragma unroll
    for (int i = 0; i < I; i++) {
        int at = base + threadIdx.x * I + i;
        v[i] = at < n ? in[at] : 0;
        sum += v[i];
    }
    int lane = threadIdx.x & 31, w = threadIdx.x >> 5, x = sum;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        int y = __shfl_up_sync(0xffffffff, x, d);
        if (lane >= d)
            x += y;
    }
    if (lane == 31)
        warp_sum[w] = x;
    __syncthreads();
    if (w == 0) {
        int y = lane < B / 32 ? warp_sum[lane] : 0;
        for (int d = 1; d < B / 32; d <<= 1) {
            int z = __shfl_up_sync(0xffffffff, y, d);
            if (lane >= d)
                y += z;
        }
        if (lane < B / 32)
            warp_sum[lane] = y;
    }
    __syncthreads();
    int total = warp_sum[B / 32 - 1];
    if (threadIdx.x == 0) {
        cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> own(tiles[tile]);
        if (tile == 0) {
            own.store(2ull << 32 | (unsigned)total, cuda::memory_order_release);
            prefix = 0;
        } else {
            own.store(1ull << 32 | (unsigned)total, cuda::memory_order_release);
            int p = 0;
            for (int j = tile - 1; j >= 0;) {
                cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> o(tiles[j]);
                unsigned long long s = o.load(cuda::memory_order_acquire);
                if (!(s >> 32))
                    continue;
                p += (int)(unsigned)s;
                if (s >> 32 == 2)
                    break;
                j--;
            }
            prefix = p;
            own.store(2ull << 32 | (unsigned)(p + total), cuda::memory_order_release);
        }
    }
    __syncthreads();
    int run = prefix + (w ? warp_sum[w - 1] : 0) + x - sum;
#pragma unroll
    for (int i = 0; i < I; i++) {
        int at = base + threadIdx.x * I + i;
        run += v[i];
        if (at < n)
            out[at] = run;
    }
}
int main()
{
    const int n = 20011;
    std::vector<int> h(n), r(n);
    for (int i = 0; i < n; i++)
        h[i] = i * 31 % 17 - 6;
    int *in, *out;
    unsigned long long *tiles;
    unsigned *ticket;
    int nt = (n + 511) / 512;
    cudaMalloc(&in, n * 4);
    cudaMalloc(&out, n * 4);
    cudaMalloc(&tiles, nt * 8);
    cudaMalloc(&ticket, 4);
    cudaMemcpy(in, h.data(), n * 4, cudaMemcpyHostToDevice);
    cudaMemset(tiles, 0, nt * 8);
    cudaMemset(ticket, 0, 4);
    scan<128, 4><<<nt, 128>>>(in, out, tiles, ticket, n);
    cudaError_t e = cudaDeviceSynchronize();
    cudaMemcpy(r.data(), out, n * 4, cudaMemcpyDeviceToHost);
    std::partial_sum(h.begin(), h.end(), h.begin());
    int bad = e != cudaSuccess;
    for (int i = 0; i < n; i++)
        bad += h[i] != r[i];
    cudaFree(in);
    cudaFree(out);
    cudaFree(tiles);
    cudaFree(ticket);
    printf("%s, %d wrong\n%s\n", cudaGetErrorString(e), bad, bad ? "FAIL" : "PASS");
    return bad != 0;
}
