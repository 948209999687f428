// Bulk copies (sm_90) by inline PTX: a ring of stages in shared memory that an mbarrier fills, and
// results that go back in bulk. Prints PASS or FAIL.
#include <cstdint>
#include <cstdio>

static const int STAGES = 3, PIECE = 1024, PIECES = 24; // floats of a stage; pieces of a block

__device__ uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

__device__ void fetch(void *to, const void *from, uint32_t bytes, uint64_t *barrier)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                     shared_address(barrier)),
                 "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
}

__device__ void wait(uint64_t *barrier, uint32_t parity)
{
    asm volatile("{ .reg .pred p;\nW: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@!p bra W; }" ::"r"(shared_address(barrier)),
                 "r"(parity)
                 : "memory");
}

__global__ void scale(const float *in, float *out, float factor)
{
    alignas(128) __shared__ float stage[STAGES][PIECE], result[PIECE];
    __shared__ uint64_t barrier[STAGES];
    in += (size_t)blockIdx.x * PIECES * PIECE;
    out += (size_t)blockIdx.x * PIECES * PIECE;
    if (threadIdx.x == 0)
        for (int i = 0; i < STAGES; i++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(
                shared_address(&barrier[i])));
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0)
        for (int i = 0; i < STAGES; i++)
            fetch(stage[i], in + i * PIECE, sizeof stage[i], &barrier[i]);
    for (int piece = 0; piece < PIECES; piece++) {
        int at = piece % STAGES;
        wait(&barrier[at], piece / STAGES & 1);
        for (int i = threadIdx.x; i < PIECE; i += blockDim.x)
            result[i] = factor * stage[at][i] + piece;
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n"
                         "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::"l"(
                             out + piece * PIECE),
                         "r"(shared_address(result)), "r"((uint32_t)sizeof result)
                         : "memory");
            if (piece + STAGES < PIECES)
                fetch(stage[at], in + (piece + STAGES) * PIECE, sizeof stage[at], &barrier[at]);
        }
        __syncthreads();
    }
}

int main()
{
    const int blocks = 4, n = blocks * PIECES * PIECE;
    float *in, *out;
    int bad = 0;
    cudaMallocManaged(&in, n * sizeof *in);
    cudaMallocManaged(&out, n * sizeof *out);
    for (int i = 0; i < n; i++)
        in[i] = i % 1000, out[i] = -1;
    scale<<<blocks, 128>>>(in, out, 2);
    bad += cudaDeviceSynchronize() != cudaSuccess;
    for (int i = 0; i < n; i++)
        bad += out[i] != 2 * in[i] + i / PIECE % PIECES;
    cudaFree(in);
    cudaFree(out);
    std::printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    return bad != 0;
}
