// Barriers and pipelines of libcu++: warps that produce and warps that consume through two
// buffers, copies that complete at a barrier, a pipeline of a block and one of a thread.
// Prints PASS or FAIL.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cstdio>

namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;

__device__ void produce(barrier ready[], barrier filled[], float *buffer, int n, const float *in)
{
    for (int i = 0; i < n; i++) {
        ready[i % 2].arrive_and_wait();
        buffer[(i % 2) * 32 + threadIdx.x % 32] = in[i * 32 + threadIdx.x % 32];
        barrier::arrival_token token = filled[i % 2].arrive();
        (void)token;
    }
}

__device__ void consume(barrier ready[], barrier filled[], float *buffer, int n, float *out)
{
    (void)ready[0].arrive();
    (void)ready[1].arrive();
    for (int i = 0; i < n; i++) {
        filled[i % 2].arrive_and_wait();
        out[i * 32 + threadIdx.x % 32] = 2 * buffer[(i % 2) * 32 + threadIdx.x % 32];
        (void)ready[i % 2].arrive();
    }
}

__global__ void two_roles(const float *in, float *out, int n)
{
    __shared__ float buffer[64];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier bar[4];
    auto block = cg::this_thread_block();
    if (block.thread_rank() < 4)
        init(&bar[block.thread_rank()], block.size());
    block.sync();
    if (block.thread_rank() < 32)
        produce(bar, bar + 2, buffer, n, in);
    else
        consume(bar, bar + 2, buffer, n, out);
}

__global__ void copies(const int *in, int *out, int tiles)
{
    __shared__ int tile[128];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    auto block = cg::this_thread_block();
    if (threadIdx.x == 0)
        init(&bar, blockDim.x);
    block.sync();
    int sum = 0;
    for (int t = 0; t < tiles; t++) {
        cuda::memcpy_async(block, tile, in + t * 128, sizeof(int) * 128, bar);
        bar.arrive_and_wait();
        sum += tile[127 - threadIdx.x];
        block.sync();
    }
    out[threadIdx.x] = sum;
}

template <int Stages> __global__ void staged(const int *in, int *out, int tiles)
{
    __shared__ int buffer[Stages][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, Stages> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int sum = 0;
    for (int compute = 0, fetch = 0; compute < tiles; compute++) {
        for (; fetch < tiles && fetch < compute + Stages; fetch++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, buffer[fetch % Stages], in + fetch * 64, sizeof(int) * 64,
                               pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        block.sync();
        sum += buffer[compute % Stages][(threadIdx.x + 1) % 64];
        block.sync();
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}

__global__ void own_pipeline(const int4 *in, int4 *out)
{
    __shared__ int4 mine[64];
    auto pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    cuda::memcpy_async(&mine[threadIdx.x], &in[threadIdx.x], cuda::aligned_size_t<16>(16), pipe);
    pipe.producer_commit();
    cuda::pipeline_consumer_wait_prior<0>(pipe);
    int4 v = mine[threadIdx.x];
    out[threadIdx.x] = make_int4(v.w, v.z, v.y, v.x);
    pipe.consumer_release();
}

int main()
{
    float *f;
    int *in, *out, bad = 0;
    cudaMallocManaged(&f, 2 * 256 * sizeof(float));
    cudaMallocManaged(&in, 1024 * sizeof(int));
    cudaMallocManaged(&out, 1024 * sizeof(int));
    for (int i = 0; i < 256; i++)
        f[i] = i * 0.5f;
    for (int i = 0; i < 1024; i++)
        in[i] = (i * 31) % 97;
    two_roles<<<1, 64>>>(f, f + 256, 8);
    cudaDeviceSynchronize();
    for (int i = 0; i < 256; i++)
        bad += f[256 + i] != i;
    copies<<<1, 128>>>(in, out, 8);
    cudaDeviceSynchronize();
    for (int t = 0; t < 128; t++) {
        int want = 0;
        for (int k = 0; k < 8; k++)
            want += in[k * 128 + 127 - t];
        bad += out[t] != want;
    }
    staged<2><<<1, 64>>>(in, out, 16);
    cudaDeviceSynchronize();
    for (int t = 0; t < 64; t++) {
        int want = 0;
        for (int k = 0; k < 16; k++)
            want += in[k * 64 + (t + 1) % 64];
        bad += out[t] != want;
    }
    own_pipeline<<<1, 64>>>((const int4 *)in, (int4 *)out);
    bad += cudaDeviceSynchronize() != cudaSuccess;
    for (int i = 0; i < 256; i++)
        bad += out[i] != in[i / 4 * 4 + 3 - i % 4];
    std::printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    cudaFree(f);
    cudaFree(in);
    cudaFree(out);
    return bad != 0;
}
