/* Random numbers for hosts, by the names of the manual "cuRAND Library", "Host API", as kernels of
 * the program: Philox4x32-10 whatever generator is asked for, so what is drawn is not what NVIDIA's
 * library draws. 4096 threads draw in turns, which a generator goes on with at its next call. */
#ifndef HEDDLE_CURAND_H
#define HEDDLE_CURAND_H

#include <curand_kernel.h>

#ifndef __CUDACC__
#error "curand.h has kernels: compile this source as CUDA (a name .cu, or -x cu)"
#endif

typedef enum curandStatus {
    CURAND_STATUS_SUCCESS = 0,
    CURAND_STATUS_VERSION_MISMATCH = 100,
    CURAND_STATUS_NOT_INITIALIZED = 101,
    CURAND_STATUS_ALLOCATION_FAILED = 102,
    CURAND_STATUS_TYPE_ERROR = 103,
    CURAND_STATUS_OUT_OF_RANGE = 104,
    CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
    CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
    CURAND_STATUS_LAUNCH_FAILURE = 201,
    CURAND_STATUS_PREEXISTING_FAILURE = 202,
    CURAND_STATUS_INITIALIZATION_FAILED = 203,
    CURAND_STATUS_ARCH_MISMATCH = 204,
    CURAND_STATUS_INTERNAL_ERROR = 999
} curandStatus_t;

typedef enum curandRngType {
    CURAND_RNG_TEST = 0,
    CURAND_RNG_PSEUDO_DEFAULT = 100,
    CURAND_RNG_PSEUDO_XORWOW = 101,
    CURAND_RNG_PSEUDO_MRG32K3A = 121,
    CURAND_RNG_PSEUDO_MTGP32 = 141,
    CURAND_RNG_PSEUDO_MT19937 = 142,
    CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
    CURAND_RNG_QUASI_DEFAULT = 200,
    CURAND_RNG_QUASI_SOBOL32 = 201
} curandRngType_t;

typedef enum curandOrdering {
    CURAND_ORDERING_PSEUDO_BEST = 100,
    CURAND_ORDERING_PSEUDO_DEFAULT = 101,
    CURAND_ORDERING_PSEUDO_SEEDED = 102,
    CURAND_ORDERING_PSEUDO_LEGACY = 103
} curandOrdering_t;

typedef struct curandGenerator_st {
    unsigned long long seed, turns; /* that were drawn */
    cudaStream_t stream;
    bool for_host;
} * curandGenerator_t;

namespace heddle_curand
{
enum { THREADS = 4096, BLOCK = 256 };

template <typename T, typename Draw>
__global__ void fill(T *out, size_t count, unsigned long long seed, unsigned long long turns,
                     Draw draw)
{
    size_t thread = blockIdx.x * (size_t)BLOCK + threadIdx.x;
    curandStatePhilox4_32_10_t state;
    curand_init(seed, thread, 4 * turns, &state);
    for (size_t i = thread; i < count; i += THREADS)
        out[i] = draw(&state);
}

/* A turn draws no more than four words; those of poisson(), more seldom, may meet others. */
template <typename T, typename Draw>
inline curandStatus_t generate(curandGenerator_t g, T *out, size_t count, Draw draw)
{
    T *to = out;
    if (!g)
        return CURAND_STATUS_NOT_INITIALIZED;
    if (count == 0)
        return CURAND_STATUS_SUCCESS;
    if (g->for_host && cudaMalloc(&to, count * sizeof(T)) != cudaSuccess)
        return CURAND_STATUS_ALLOCATION_FAILED;
    fill<<<THREADS / BLOCK, BLOCK, 0, g->stream>>>(to, count, g->seed, g->turns, draw);
    g->turns += (count + THREADS - 1) / THREADS;
    cudaError_t error = cudaPeekAtLastError();
    if (g->for_host) {
        if (error == cudaSuccess)
            error = cudaMemcpyAsync(out, to, count * sizeof(T), cudaMemcpyDeviceToHost, g->stream);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize(g->stream);
        cudaFree(to);
    }
    return error == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
}

#define HEDDLE_DRAW(name, type, expression)                                                        \
    struct name {                                                                                  \
        double a, b;                                                                               \
        __device__ type operator()(curandStatePhilox4_32_10_t *s) const                            \
        {                                                                                          \
            return (type)(expression);                                                             \
        }                                                                                          \
    };
HEDDLE_DRAW(word, unsigned int, curand(s))
HEDDLE_DRAW(long_word, unsigned long long, (unsigned long long)curand(s) << 32 | curand(s))
HEDDLE_DRAW(uniform, float, curand_uniform(s))
HEDDLE_DRAW(uniform_double, double, curand_uniform_double(s))
HEDDLE_DRAW(normal, float, a + b * (double)curand_normal(s))
HEDDLE_DRAW(normal_double, double, a + b * curand_normal_double(s))
HEDDLE_DRAW(log_normal, float, exp(a + b * (double)curand_normal(s)))
HEDDLE_DRAW(log_normal_double, double, exp(a + b * curand_normal_double(s)))
HEDDLE_DRAW(poisson, unsigned int, curand_poisson(s, a))
#undef HEDDLE_DRAW

inline curandStatus_t create(curandGenerator_t *g, curandRngType_t type, bool for_host)
{
    if (!g || type < CURAND_RNG_PSEUDO_DEFAULT || type >= CURAND_RNG_QUASI_DEFAULT)
        return CURAND_STATUS_TYPE_ERROR;
    *g = new curandGenerator_st{0, 0, 0, for_host};
    return CURAND_STATUS_SUCCESS;
}
} // namespace heddle_curand

static inline curandStatus_t curandCreateGenerator(curandGenerator_t *g, curandRngType_t type)
{
    return heddle_curand::create(g, type, false);
}
static inline curandStatus_t curandCreateGeneratorHost(curandGenerator_t *g, curandRngType_t type)
{
    return heddle_curand::create(g, type, true);
}
static inline curandStatus_t curandDestroyGenerator(curandGenerator_t g)
{
    delete g;
    return CURAND_STATUS_SUCCESS;
}
static inline curandStatus_t curandSetStream(curandGenerator_t g, cudaStream_t stream)
{
    g->stream = stream;
    return CURAND_STATUS_SUCCESS;
}
static inline curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t g,
                                                                unsigned long long seed)
{
    g->seed = seed;
    g->turns = 0;
    return CURAND_STATUS_SUCCESS;
}
static inline curandStatus_t curandSetGeneratorOffset(curandGenerator_t g,
                                                      unsigned long long offset)
{
    g->turns = offset / heddle_curand::THREADS;
    return CURAND_STATUS_SUCCESS;
}
static inline curandStatus_t curandSetGeneratorOrdering(curandGenerator_t, curandOrdering_t)
{
    return CURAND_STATUS_SUCCESS;
}
static inline curandStatus_t curandGetVersion(int *version)
{
    *version = 100300;
    return CURAND_STATUS_SUCCESS;
}

#define HEDDLE_GENERATE(name, type, draw)                                                          \
    static inline curandStatus_t name(curandGenerator_t g, type *out, size_t count)                \
    {                                                                                              \
        return heddle_curand::generate(g, out, count, heddle_curand::draw{0, 0});                  \
    }
/* Numbers of these come in pairs, as the manual says. */
#define HEDDLE_GENERATE_NORMAL(name, type, draw)                                                   \
    static inline curandStatus_t name(curandGenerator_t g, type *out, size_t count, type mean,     \
                                      type width)                                                  \
    {                                                                                              \
        if (count % 2 != 0)                                                                        \
            return CURAND_STATUS_LENGTH_NOT_MULTIPLE;                                              \
        return heddle_curand::generate(g, out, count, heddle_curand::draw{mean, width});           \
    }
HEDDLE_GENERATE(curandGenerate, unsigned int, word)
HEDDLE_GENERATE(curandGenerateLongLong, unsigned long long, long_word)
HEDDLE_GENERATE(curandGenerateUniform, float, uniform)
HEDDLE_GENERATE(curandGenerateUniformDouble, double, uniform_double)
HEDDLE_GENERATE_NORMAL(curandGenerateNormal, float, normal)
HEDDLE_GENERATE_NORMAL(curandGenerateNormalDouble, double, normal_double)
HEDDLE_GENERATE_NORMAL(curandGenerateLogNormal, float, log_normal)
HEDDLE_GENERATE_NORMAL(curandGenerateLogNormalDouble, double, log_normal_double)
#undef HEDDLE_GENERATE
#undef HEDDLE_GENERATE_NORMAL
static inline curandStatus_t curandGeneratePoisson(curandGenerator_t g, unsigned int *out,
                                                   size_t count, double lambda)
{
    return heddle_curand::generate(g, out, count, heddle_curand::poisson{lambda, 0});
}

#endif
