// Kernels of which each has one known reason to be slow on streaming multiprocessors, for reports to
// find: `planted CAUSE`. What a kernel reads is full of the same word.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

static constexpr uint32_t WORD = 0x01010101u;
static int sms;

static uint32_t *filled(size_t words)
{
    uint32_t *data;
    cudaMalloc(&data, words * sizeof *data);
    cudaMemset(data, 1, words * sizeof *data);
    return data;
}

__global__ void stream(const uint4 *in, uint32_t *out, int rounds)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    uint32_t sum = 0;
#pragma unroll 4
    for (int round = 0; round < rounds; round++) {
        uint4 part = in[round * threads + thread];
        sum += part.x + part.y + part.z + part.w;
    }
    out[thread] = sum;
}

static void bandwidth()
{
    int threads = sms * 2048, rounds = 4;
    stream<<<threads / 256, 256>>>(reinterpret_cast<uint4 *>(filled(threads * rounds * 4)),
                                   filled(threads), rounds);
}

// A word of a line for each lane.
__global__ void columns(const uint32_t *in, uint32_t *out, int rows)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t sum = 0;
    for (int column = 0; column < 8; column++) {
        sum += in[(thread * 33 + column * 8) % (rows * 33)];
    }
    out[thread] = sum;
}

static void coalescing()
{
    int threads = sms * 512;
    columns<<<threads / 256, 256>>>(filled(threads * 33), filled(threads), threads);
}

__global__ void follow(const uint32_t *next, uint32_t *out, int steps)
{
    uint32_t at = blockIdx.x * 32;
    for (int step = 0; step < steps; step++) {
        at = (next[at] - WORD + at + 1057) & 0xffff;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

static void chain()
{
    follow<<<sms, 128>>>(filled(1 << 16), filled(sms * 128), 48);
}

__global__ void count(uint32_t *bins, int rounds)
{
    for (int round = 0; round < rounds; round++) {
        atomicAdd(bins + (round & 1), threadIdx.x);
    }
}

static void atomics()
{
    count<<<sms, 256>>>(filled(32), 8);
}

// A load for each round, which waits for the one before it.
static __device__ uint32_t reads(const uint32_t *in, int rounds)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t sum = 0;
#pragma unroll 1
    for (int round = 0; round < rounds; round++) {
        sum += in[(thread + (round * 1031 << 6) + sum % 2) & 0xffff];
    }
    return sum;
}

__global__ void much_shared(const uint32_t *in, uint32_t *out, int rounds)
{
    __shared__ uint32_t held[11 * 1024];
    held[threadIdx.x * 83] = threadIdx.x;
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = reads(in, rounds) + held[(threadIdx.x ^ 1) * 83];
}

static void occupancy()
{
    int blocks = sms * 16;
    much_shared<<<blocks, 128>>>(filled(1 << 16), filled(blocks * 128), 12);
}

template <typename T> __global__ void polynomials(T *out, int rounds)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    T a = thread, b = thread + 1, c = thread + 2, d = thread + 3;
    for (int round = 0; round < rounds; round++) {
        a = a * a + b;
        b = b * c + d;
        c = c * a + a;
        d = d * d + b;
    }
    out[thread] = a + b + c + d;
}

static void fp32()
{
    polynomials<<<sms * 2, 512>>>(reinterpret_cast<float *>(filled(sms * 1024)), 256);
}

static void fp64()
{
    polynomials<<<sms * 2, 512>>>(reinterpret_cast<double *>(filled(sms * 2048)), 160);
}

__global__ void waves(float *out, int rounds)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    float x = thread;
    for (int round = 0; round < rounds; round++) {
        x += __sinf(x);
    }
    out[thread] = x;
}

static void sfu()
{
    waves<<<sms * 2, 512>>>(reinterpret_cast<float *>(filled(sms * 1024)), 256);
}

__global__ void rows(uint32_t *out, int rounds)
{
    __shared__ uint32_t held[32 * 64];
    for (int i = threadIdx.x; i < 32 * 64; i += blockDim.x) {
        held[i] = WORD;
    }
    __syncthreads();
    uint32_t sum = 0;
    for (int round = 0; round < rounds; round++) {
        sum += held[(threadIdx.x * 32 + round) % (32 * 64)];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static void shared_banks()
{
    rows<<<sms * 2, 256>>>(filled(sms * 512), 64);
}

static __device__ uint32_t work(uint32_t x, int rounds)
{
    for (int round = 0; round < rounds; round++) {
        x = (x ^ x >> 3) + 12345;
    }
    return x;
}

// In each round another warp works, and the others wait for it.
__global__ void take_turns(uint32_t *out, int length)
{
    uint32_t x = threadIdx.x;
    for (unsigned round = 0; round < blockDim.x / 32; round++) {
        if (threadIdx.x / 32 == round) {
            x = work(x, length);
        }
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

static void barrier()
{
    take_turns<<<sms, 256>>>(filled(sms * 256), 64);
}

__global__ void compute(uint32_t *out, int rounds, unsigned longer, int longest)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    out[thread] = work(thread, blockIdx.x == longer ? longest : rounds);
}

static void grid()
{
    compute<<<sms / 8, 64>>>(filled(sms * 8), 2048, ~0u, 0);
}

static void tail()
{
    compute<<<sms * 2, 64>>>(filled(sms * 128), 64, 3, 4096);
}

static void launch()
{
    uint32_t *out = filled(64);
    for (int i = 0; i < 20; i++) {
        compute<<<1, 64>>>(out, i, ~0u, 0);
    }
}

static const struct {
    const char *name;
    void (*run)();
} causes[] = {{"bandwidth", bandwidth}, {"coalescing", coalescing}, {"chain", chain},
              {"atomics", atomics},     {"occupancy", occupancy},   {"fp32", fp32},
              {"fp64", fp64},           {"sfu", sfu},               {"shared_banks", shared_banks},
              {"barrier", barrier},     {"grid", grid},             {"tail", tail},
              {"launch", launch}};

int main(int argc, char **argv)
{
    cudaDeviceProp properties;
    cudaGetDeviceProperties(&properties, 0);
    sms = properties.multiProcessorCount;
    for (const auto &cause : causes) {
        if (argc > 1 && std::strcmp(argv[1], cause.name) == 0) {
            cause.run();
            cudaError_t error = cudaDeviceSynchronize();
            std::puts(cudaGetErrorString(error));
            return error != cudaSuccess;
        }
    }
    std::puts("name a cause");
    return 1;
}
