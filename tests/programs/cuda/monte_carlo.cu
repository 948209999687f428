// Generators of random numbers of a program's own, with a state for each thread as curand has it:
// xorwow with skipped sequences, pi by counting, normal numbers by Box and Muller, an option's
// price. Prints PASS or FAIL.
#include <cmath>
#include <cstdint>
#include <cstdio>

struct State {
    uint32_t x[5], d;
    float spare;
    bool has_spare;
};

__host__ __device__ inline uint32_t mix(uint32_t h)
{
    h ^= h >> 16;
    h *= 0x7feb352du;
    h ^= h >> 15;
    h *= 0x846ca68bu;
    return h ^ h >> 16;
}
__host__ __device__ inline void seed(State *s, uint64_t seed, uint64_t sequence)
{
    for (int i = 0; i < 5; i++)
        s->x[i] =
            mix((uint32_t)(seed + 0x9e3779b9u * (i + 1)) ^ (uint32_t)(sequence * 0x85ebca6bu)) | 1;
    s->d = 362437u + (uint32_t)sequence;
    s->has_spare = false;
}
__host__ __device__ inline uint32_t next(State *s)
{
    uint32_t t = s->x[0] ^ s->x[0] >> 2;
    for (int i = 0; i < 4; i++)
        s->x[i] = s->x[i + 1];
    s->x[4] = s->x[4] ^ s->x[4] << 4 ^ t ^ t << 1;
    s->d += 362437u;
    return s->d + s->x[4];
}
__host__ __device__ inline float uniform(State *s)
{
    return (float)(next(s) >> 8) * (1.f / 16777216.f) + 0.5f / 16777216.f;
}
__device__ inline float normal(State *s)
{
    if (s->has_spare) {
        s->has_spare = false;
        return s->spare;
    }
    float r = sqrtf(-2.f * logf(uniform(s))), sine, cosine;
    sincospif(2.f * uniform(s), &sine, &cosine);
    s->spare = r * sine;
    s->has_spare = true;
    return r * cosine;
}

__global__ void setup(State *states, uint64_t s)
{
    uint64_t id = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    seed(&states[id], s, id);
}
__global__ void count_inside(State *states, unsigned long long *inside, int tries)
{
    State local = states[blockIdx.x * blockDim.x + threadIdx.x];
    unsigned mine = 0;
    for (int i = 0; i < tries; i++) {
        float x = uniform(&local), y = uniform(&local);
        mine += x * x + y * y <= 1.0f;
    }
    mine = __reduce_add_sync(0xffffffff, mine);
    if (threadIdx.x % 32 == 0)
        atomicAdd(inside, (unsigned long long)mine);
    states[blockIdx.x * blockDim.x + threadIdx.x] = local;
}
__global__ void price(State *states, double *sums, int paths)
{
    __shared__ double partial[4];
    State local = states[blockIdx.x * blockDim.x + threadIdx.x];
    double payoff = 0, squares = 0;
    for (int i = 0; i < paths; i++) {
        float z = normal(&local);
        float value = 100.f * __expf((0.05f - 0.02f) * 1.f + 0.2f * z);
        payoff += fmaxf(value - 100.f, 0.f);
        squares += (double)z * z;
    }
    for (int offset = 16; offset; offset >>= 1) {
        payoff += __shfl_down_sync(~0u, payoff, offset);
        squares += __shfl_down_sync(~0u, squares, offset);
    }
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = payoff;
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(&sums[0], partial[0] + partial[1]);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&sums[1], squares);
}

int main()
{
    const int blocks = 4, threads = 64, all = blocks * threads, tries = 100, paths = 50;
    State *states, host;
    unsigned long long *inside, want = 0;
    double *sums;
    cudaMalloc(&states, all * sizeof(State));
    cudaMallocManaged(&inside, sizeof *inside);
    cudaMallocManaged(&sums, 2 * sizeof *sums);
    *inside = 0;
    sums[0] = sums[1] = 0;
    setup<<<blocks, threads>>>(states, 1234ULL);
    count_inside<<<blocks, threads>>>(states, inside, tries);
    price<<<blocks, threads>>>(states, sums, paths);
    int bad = cudaDeviceSynchronize() != cudaSuccess;
    for (int t = 0; t < all; t++) {
        seed(&host, 1234, t);
        for (int i = 0; i < tries; i++) {
            float x = uniform(&host), y = uniform(&host);
            want += x * x + y * y <= 1.0f;
        }
    }
    double pi = 4. * *inside / (all * tries), mean = sums[0] / (all * paths) * std::exp(-0.05);
    double variance = sums[1] / (all * paths);
    long long apart = (long long)*inside - (long long)want;
    bad += apart < -2 || apart > 2; /* contraction may move a point over the edge */
    bad += std::fabs(pi - 3.14159) > 0.05 || std::fabs(mean - 10.45) > 1
           || std::fabs(variance - 1) > 0.06;
    std::printf("pi within 0.05, price within 1, %d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    cudaFree(states);
    cudaFree(inside);
    cudaFree(sums);
    return bad != 0;
}
