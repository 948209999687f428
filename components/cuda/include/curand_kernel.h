/* Random numbers for device code, by the names of the manual "cuRAND Library", "Device API": XORWOW
 * (Marsaglia, "Xorshift RNGs"), Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as
 * 1, 2, 3") and MRG32k3a (L'Ecuyer, "Good parameters and implementations for combined multiple
 * recursive random number generators").
 *
 * Philox counts as its authors do: the key is the seed, the upper half of the counter is the
 * sequence. Where a sequence of the others begins is a hash (SplitMix64) of seed and number, so
 * their numbers are as random as those of NVIDIA's library, but not the same. */
#ifndef HEDDLE_CURAND_KERNEL_H
#define HEDDLE_CURAND_KERNEL_H

#include <cuda_runtime.h>

#define HEDDLE_RANDOM static __device__ __forceinline__

struct curandStateXORWOW {
    unsigned int d, v[5];
    int has_normal, has_normal_double;
    float normal;
    double normal_double;
};
struct curandStatePhilox4_32_10 {
    uint4 counter, output;
    uint2 key;
    unsigned int at;
    int has_normal, has_normal_double;
    float normal;
    double normal_double;
};
struct curandStateMRG32k3a {
    unsigned int s1[3], s2[3];
    int has_normal, has_normal_double;
    float normal;
    double normal_double;
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;

namespace heddle
{
HEDDLE_RANDOM unsigned long long random_hash(unsigned long long *at)
{
    unsigned long long z = *at += 0x9e3779b97f4a7c15ULL;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
}
HEDDLE_RANDOM unsigned long long random_start(unsigned long long seed, unsigned long long sequence)
{
    unsigned long long at = seed;
    at = random_hash(&at) ^ sequence;
    return random_hash(&at);
}
HEDDLE_RANDOM uint4 philox(uint4 c, uint2 k)
{
    for (int round = 0; round < 10; round++) {
        unsigned int high0 = __umulhi(0xd2511f53u, c.x), low0 = 0xd2511f53u * c.x,
                     high1 = __umulhi(0xcd9e8d57u, c.z), low1 = 0xcd9e8d57u * c.z;
        c = make_uint4(high1 ^ c.y ^ k.x, low1, high0 ^ c.w ^ k.y, low0);
        k.x += 0x9e3779b9u;
        k.y += 0xbb67ae85u;
    }
    return c;
}
HEDDLE_RANDOM void philox_count(curandStatePhilox4_32_10 *s, unsigned long long blocks)
{
    unsigned long long low = ((unsigned long long)s->counter.y << 32 | s->counter.x) + blocks;
    if (low < blocks && ++s->counter.z == 0)
        s->counter.w++;
    s->counter.x = (unsigned int)low;
    s->counter.y = (unsigned int)(low >> 32);
}
template <typename State> HEDDLE_RANDOM void random_begin(State *s)
{
    s->has_normal = s->has_normal_double = 0;
    s->normal = 0;
    s->normal_double = 0;
}
} // namespace heddle

/* ---- 32 bits, and where they begin ---- */

HEDDLE_RANDOM unsigned int curand(curandStateXORWOW *s)
{
    unsigned int t = s->v[0] ^ s->v[0] >> 2;
    s->v[0] = s->v[1];
    s->v[1] = s->v[2];
    s->v[2] = s->v[3];
    s->v[3] = s->v[4];
    s->v[4] = s->v[4] ^ s->v[4] << 4 ^ t ^ t << 1;
    s->d += 362437;
    return s->v[4] + s->d;
}
HEDDLE_RANDOM unsigned int curand(curandStatePhilox4_32_10 *s)
{
    unsigned int result = s->at == 0   ? s->output.x
                          : s->at == 1 ? s->output.y
                          : s->at == 2 ? s->output.z
                                       : s->output.w;
    if (++s->at == 4) {
        s->at = 0;
        heddle::philox_count(s, 1);
        s->output = heddle::philox(s->counter, s->key);
    }
    return result;
}
HEDDLE_RANDOM uint4 curand4(curandStatePhilox4_32_10 *s)
{
    uint4 result;
    result.x = curand(s);
    result.y = curand(s);
    result.z = curand(s);
    result.w = curand(s);
    return result;
}
HEDDLE_RANDOM unsigned int curand(curandStateMRG32k3a *s)
{
    const long long m1 = 4294967087LL, m2 = 4294944443LL;
    long long p1 = (1403580LL * s->s1[1] - 810728LL * s->s1[0]) % m1,
              p2 = (527612LL * s->s2[2] - 1370589LL * s->s2[0]) % m2;
    p1 += p1 < 0 ? m1 : 0;
    p2 += p2 < 0 ? m2 : 0;
    s->s1[0] = s->s1[1];
    s->s1[1] = s->s1[2];
    s->s1[2] = (unsigned int)p1;
    s->s2[0] = s->s2[1];
    s->s2[1] = s->s2[2];
    s->s2[2] = (unsigned int)p2;
    return (unsigned int)(p1 > p2 ? p1 - p2 : p1 - p2 + m1);
}

HEDDLE_RANDOM void skipahead(unsigned long long n, curandStatePhilox4_32_10 *s)
{
    s->at += (unsigned int)(n & 3);
    heddle::philox_count(s, n / 4 + s->at / 4);
    s->at &= 3;
    s->output = heddle::philox(s->counter, s->key);
}
HEDDLE_RANDOM void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10 *s)
{
    unsigned long long high = ((unsigned long long)s->counter.w << 32 | s->counter.z) + n;
    s->counter.z = (unsigned int)high;
    s->counter.w = (unsigned int)(high >> 32);
    s->output = heddle::philox(s->counter, s->key);
}
/* One step after another: n is small where programs use it. */
template <typename State> HEDDLE_RANDOM void skipahead(unsigned long long n, State *s)
{
    for (; n > 0; n--)
        curand(s);
}

HEDDLE_RANDOM void curand_init(unsigned long long seed, unsigned long long sequence,
                               unsigned long long offset, curandStateXORWOW *s)
{
    unsigned long long at = heddle::random_start(seed, sequence);
    for (int i = 0; i < 5; i++)
        s->v[i] = (unsigned int)(heddle::random_hash(&at) >> 32) | (i == 0);
    s->d = (unsigned int)heddle::random_hash(&at);
    heddle::random_begin(s);
    skipahead(offset, s);
}
HEDDLE_RANDOM void curand_init(unsigned long long seed, unsigned long long sequence,
                               unsigned long long offset, curandStatePhilox4_32_10 *s)
{
    s->key = make_uint2((unsigned int)seed, (unsigned int)(seed >> 32));
    s->counter = make_uint4(0, 0, (unsigned int)sequence, (unsigned int)(sequence >> 32));
    s->at = 0;
    heddle::random_begin(s);
    skipahead(offset, s);
}
HEDDLE_RANDOM void curand_init(unsigned long long seed, unsigned long long sequence,
                               unsigned long long offset, curandStateMRG32k3a *s)
{
    unsigned long long at = heddle::random_start(seed, sequence);
    for (int i = 0; i < 3; i++) {
        s->s1[i] = (unsigned int)(1 + heddle::random_hash(&at) % 4294967086ULL);
        s->s2[i] = (unsigned int)(1 + heddle::random_hash(&at) % 4294944442ULL);
    }
    heddle::random_begin(s);
    skipahead(offset, s);
}

/* ---- distributions ---- */

namespace heddle
{
/* In (0, 1], by 32 bits: the middles of 2^32 intervals. */
HEDDLE_RANDOM float random_uniform(unsigned int x)
{
    return x * 2.3283064e-10f + 2.3283064e-10f / 2.0f;
}
HEDDLE_RANDOM double random_uniform_double(unsigned int x, unsigned int y)
{
    unsigned long long z = (unsigned long long)x ^ (unsigned long long)y << 21;
    return z * 0x1p-53 + 0x1p-54;
}
HEDDLE_RANDOM float2 box_muller(unsigned int x, unsigned int y)
{
    float u = random_uniform(x), v = random_uniform(y) * 6.2831853f, s = sqrtf(-2.0f * logf(u));
    return make_float2(s * sinf(v), s * cosf(v));
}
HEDDLE_RANDOM double2 box_muller(double u, double v)
{
    double s = sqrt(-2.0 * log(u));
    return make_double2(s * sinpi(2 * v), s * cospi(2 * v));
}
} // namespace heddle

template <typename State> HEDDLE_RANDOM float curand_uniform(State *s)
{
    return heddle::random_uniform(curand(s));
}
template <typename State> HEDDLE_RANDOM double curand_uniform_double(State *s)
{
    unsigned int x = curand(s), y = curand(s);
    return heddle::random_uniform_double(x, y);
}
template <typename State> HEDDLE_RANDOM double2 curand_uniform2_double(State *s)
{
    double x = curand_uniform_double(s), y = curand_uniform_double(s);
    return make_double2(x, y);
}
HEDDLE_RANDOM float4 curand_uniform4(curandStatePhilox4_32_10 *s)
{
    uint4 x = curand4(s);
    return make_float4(heddle::random_uniform(x.x), heddle::random_uniform(x.y),
                       heddle::random_uniform(x.z), heddle::random_uniform(x.w));
}
template <typename State> HEDDLE_RANDOM float2 curand_normal2(State *s)
{
    unsigned int x = curand(s), y = curand(s);
    return heddle::box_muller(x, y);
}
template <typename State> HEDDLE_RANDOM double2 curand_normal2_double(State *s)
{
    double2 x = curand_uniform2_double(s);
    return heddle::box_muller(x.x, x.y);
}
/* Normal numbers come in pairs: the second of one is kept. */
template <typename State> HEDDLE_RANDOM float curand_normal(State *s)
{
    if (s->has_normal) {
        s->has_normal = 0;
        return s->normal;
    }
    float2 pair = curand_normal2(s);
    s->normal = pair.y;
    s->has_normal = 1;
    return pair.x;
}
template <typename State> HEDDLE_RANDOM double curand_normal_double(State *s)
{
    if (s->has_normal_double) {
        s->has_normal_double = 0;
        return s->normal_double;
    }
    double2 pair = curand_normal2_double(s);
    s->normal_double = pair.y;
    s->has_normal_double = 1;
    return pair.x;
}
HEDDLE_RANDOM float4 curand_normal4(curandStatePhilox4_32_10 *s)
{
    float2 a = curand_normal2(s), b = curand_normal2(s);
    return make_float4(a.x, a.y, b.x, b.y);
}
template <typename State> HEDDLE_RANDOM float curand_log_normal(State *s, float mean, float width)
{
    return expf(mean + width * curand_normal(s));
}
template <typename State> HEDDLE_RANDOM float2 curand_log_normal2(State *s, float mean, float width)
{
    float2 x = curand_normal2(s);
    return make_float2(expf(mean + width * x.x), expf(mean + width * x.y));
}
HEDDLE_RANDOM float4 curand_log_normal4(curandStatePhilox4_32_10 *s, float mean, float width)
{
    float2 a = curand_log_normal2(s, mean, width), b = curand_log_normal2(s, mean, width);
    return make_float4(a.x, a.y, b.x, b.y);
}
template <typename State>
HEDDLE_RANDOM double curand_log_normal_double(State *s, double mean, double width)
{
    return exp(mean + width * curand_normal_double(s));
}
/* Products of uniform numbers (Knuth) for small means, rounded normal numbers for large ones. */
template <typename State> HEDDLE_RANDOM unsigned int curand_poisson(State *s, double lambda)
{
    if (lambda > 64) {
        double x = lambda + sqrt(lambda) * curand_normal_double(s);
        return x < 0 ? 0 : (unsigned int)(x + 0.5);
    }
    double product = 1, limit = exp(-lambda);
    unsigned int count = 0;
    while ((product *= curand_uniform_double(s)) > limit)
        count++;
    return count;
}
HEDDLE_RANDOM uint4 curand_poisson4(curandStatePhilox4_32_10 *s, double lambda)
{
    uint4 result;
    result.x = curand_poisson(s, lambda);
    result.y = curand_poisson(s, lambda);
    result.z = curand_poisson(s, lambda);
    result.w = curand_poisson(s, lambda);
    return result;
}

#undef HEDDLE_RANDOM

#endif
