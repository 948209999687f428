/* Random numbers of curand_kernel.h: Philox by the known answers of its authors' library
 * (Random123, kat_vectors), all generators by mean and variance of what they give; the price of an
 * option by them against the formula of Black and Scholes. Prints PASS or FAIL. */
#include <cmath>
#include <cstdio>
#include <cuda_profiler_api.h>
#include <curand_kernel.h>
#include <device_launch_parameters.h>
#include <math_constants.h>
#include <nvtx3/nvToolsExt.h>

enum { THREADS = 64, BLOCKS = 8, EACH = 128, MOMENTS = 8 };

__global__ void known(uint4 *out)
{
    curandStatePhilox4_32_10_t state, far;
    curand_init(0, 0, 0, &state);
    out[0] = curand4(&state);
    curand_init(~0ULL, ~0ULL, 0, &far);
    for (int i = 0; i < 4; i++) // to the last of 2^64 fours
        skipahead(~3ULL, &far);
    skipahead(12, &far);
    out[1] = curand4(&far);
    curand_init(0, 0, 6, &far); // the second half of the second four
    uint4 second = curand4(&state), half = curand4(&far);
    out[2] = make_uint4(second.z ^ half.x, second.w ^ half.y, 0, 0);
}

template <typename State> __global__ void moments(double *sums)
{
    State state;
    curand_init(1234, blockIdx.x * blockDim.x + threadIdx.x, 0, &state);
    double sum[MOMENTS] = {};
    for (int i = 0; i < EACH; i++) {
        double u = curand_uniform(&state), v = curand_uniform_double(&state),
               n = curand_normal(&state), m = curand_normal_double(&state);
        sum[0] += u, sum[1] += u * u, sum[2] += v, sum[3] += v * v;
        sum[4] += n, sum[5] += n * n, sum[6] += m * m, sum[7] += curand_poisson(&state, 3.0);
    }
    for (int i = 0; i < MOMENTS; i++)
        atomicAdd(&sums[i], sum[i] / (THREADS * BLOCKS * EACH));
}

/* A call with price and strike 100, one year, no interest, a volatility of a half. */
__global__ void price(float *sum)
{
    curandState state;
    curand_init(7, blockIdx.x * blockDim.x + threadIdx.x, 4, &state);
    float mine = 0;
    for (int i = 0; i < EACH; i++)
        mine += fmaxf(100 * curand_log_normal(&state, -0.125f, 0.5f) - 100, 0.0f);
    atomicAdd(sum, mine / (THREADS * BLOCKS * EACH));
}

static bool near(double is, double wanted, double most)
{
    if (std::fabs(is - wanted) <= most)
        return true;
    std::printf("%g in place of %g\n", is, wanted);
    return false;
}

template <typename State> static bool check_moments(double *sums)
{
    static const double wanted[MOMENTS] = {0.5, 1 / 3., 0.5, 1 / 3., 0, 1, 1, 3};
    for (int i = 0; i < MOMENTS; i++)
        sums[i] = 0;
    moments<State><<<BLOCKS, THREADS>>>(sums);
    bool good = cudaDeviceSynchronize() == cudaSuccess;
    for (int i = 0; i < MOMENTS; i++)
        good &= near(sums[i], wanted[i], 0.03);
    return good;
}

int main()
{
    static const uint4 answers[] = {{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u},
                                    {0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu},
                                    {0, 0, 0, 0}};
    uint4 *out;
    double *sums;
    float *sum;
    cudaMallocManaged(&out, sizeof answers);
    cudaMallocManaged(&sums, MOMENTS * sizeof *sums);
    cudaMallocManaged(&sum, sizeof *sum);
    nvtxRangePushA("numbers");
    cudaProfilerStart();
    known<<<1, 1>>>(out);
    bool good = cudaDeviceSynchronize() == cudaSuccess;
    for (int i = 0; i < 3; i++)
        good &= out[i].x == answers[i].x && out[i].y == answers[i].y && out[i].z == answers[i].z
                && out[i].w == answers[i].w;
    good &= check_moments<curandState>(sums);
    good &= check_moments<curandStatePhilox4_32_10_t>(sums);
    good &= check_moments<curandStateMRG32k3a>(sums);
    *sum = 0;
    price<<<BLOCKS, THREADS>>>(sum);
    good &= cudaDeviceSynchronize() == cudaSuccess;
    double normal = 0.5 * std::erfc(-0.25 / CUDART_SQRT_TWO);
    good &= near(*sum, 100 * (2 * normal - 1), 0.5);
    cudaProfilerStop();
    nvtxRangePop();
    cudaFree(out);
    cudaFree(sums);
    cudaFree(sum);
    std::puts(good ? "PASS" : "FAIL");
    return !good;
}
