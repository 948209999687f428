// Copies into stages of shared memory and work on them (sm_90): copy_stages WAY STAGES PIECES, where
// WAY says how pieces are copied and waited for. Prints PASS or FAIL.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

static const int PIECE = 1024, MOST = 3; // floats; stages

enum way { BULK, MBARRIER, GROUPS, ALL };

__device__ uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

__device__ void copy_mine(float *to, const float *from)
{
    for (int i = 4 * threadIdx.x; i < PIECE; i += 4 * blockDim.x)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to + i)),
                     "l"(from + i)
                     : "memory");
}

__device__ void fetch(way how, float *to, const float *from, uint64_t *barrier)
{
    if (how != BULK)
        copy_mine(to, from);
    if (how == MBARRIER)
        asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(
                         shared_address(barrier))
                     : "memory");
    else if (how == GROUPS)
        asm volatile("cp.async.commit_group;" ::: "memory");
    else if (how == BULK && threadIdx.x == 0)
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n"
                     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                     " [%2], [%3], %1, [%0];" ::"r"(shared_address(barrier)),
                     "r"((uint32_t)(PIECE * sizeof *to)), "r"(shared_address(to)), "l"(from)
                     : "memory");
}

// GROUPS: fetch() is called once a piece, so those behind this one are `behind` groups.
__device__ void wait(way how, uint64_t *barrier, uint32_t parity, int behind)
{
    if (how == ALL)
        asm volatile("cp.async.wait_all;" ::: "memory");
    else if (how == GROUPS && behind == 0)
        asm volatile("cp.async.wait_group 0;" ::: "memory");
    else if (how == GROUPS && behind == 1)
        asm volatile("cp.async.wait_group 1;" ::: "memory");
    else if (how == GROUPS)
        asm volatile("cp.async.wait_group 2;" ::: "memory");
    else
        asm volatile("{ .reg .pred p;\nW: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                     "@!p bra W; }" ::"r"(shared_address(barrier)),
                     "r"(parity)
                     : "memory");
}

__global__ void work(way how, int stages, int pieces, const float *in, float *out)
{
    alignas(128) __shared__ float stage[MOST][PIECE];
    __shared__ uint64_t barrier[MOST];
    float sum = 0;
    if (threadIdx.x < MOST)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(
                         shared_address(&barrier[threadIdx.x])),
                     "r"(how == BULK ? 1 : blockDim.x));
    __syncthreads();
    for (int ahead = 0; ahead < stages - 1; ahead++)
        fetch(how, stage[ahead], in + ahead * PIECE, &barrier[ahead]);
    for (int piece = 0; piece < pieces; piece++) {
        int next = piece + stages - 1;
        if (next < pieces)
            fetch(how, stage[next % stages], in + next * PIECE, &barrier[next % stages]);
        wait(how, &barrier[piece % stages], piece / stages & 1,
             next < pieces ? stages - 1 : pieces - 1 - piece);
        __syncthreads();
        float value = stage[piece % stages][threadIdx.x];
        for (int i = 0; i < 64; i++)
            value = value * 0.5f + 1;
        sum += value + stage[piece % stages][PIECE - 1 - threadIdx.x];
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}

int main(int count, char **words)
{
    if (count != 4)
        return 2;
    way how = (way)atoi(words[1]);
    int stages = atoi(words[2]), pieces = atoi(words[3]), bad = 0;
    const int threads = 128;
    float *in, *out;
    if (stages < 1 || stages > MOST || pieces < stages)
        return 2;
    cudaMallocManaged(&in, pieces * PIECE * sizeof *in);
    cudaMallocManaged(&out, threads * sizeof *out);
    for (int i = 0; i < pieces * PIECE; i++)
        in[i] = i % 1000;
    work<<<1, threads>>>(how, stages, pieces, in, out);
    bad += cudaDeviceSynchronize() != cudaSuccess;
    for (int t = 0; t < threads; t++) {
        float sum = 0;
        for (int piece = 0; piece < pieces; piece++) {
            float value = in[piece * PIECE + t];
            for (int i = 0; i < 64; i++)
                value = value * 0.5f + 1;
            sum += value + in[piece * PIECE + PIECE - 1 - t];
        }
        bad += out[t] != sum;
    }
    std::printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    return bad != 0;
}
