/*
 * isa_rsq.h - v_rsq_f32 of all lanes with AVX-512, private to isa_valu.c.
 *
 * The table's form, a division by a square root in double, is right to less than 2^-52 of the
 * result and then rounded. 1/sqrt of no float comes nearer than 2^-51.7 to where rounding changes
 * (all 2^25 significands of two octaves were tried), so whatever is right to 2^-51.9 gives the same
 * float. Here that is the processor's estimate, right to 2^-14 on any that has it, and the first
 * four terms of y/sqrt(1 - e) with e = 1 - a*y*y.
 */
#ifndef HEDDLE_ISA_RSQ_H
#define HEDDLE_ISA_RSQ_H

#ifdef __AVX512F__
#include <immintrin.h>
#include <stdint.h>

static inline __m256 rsq_of_eight(__m256 from)
{
    __m512d a = _mm512_cvtps_pd(from), y = _mm512_rsqrt14_pd(a);
    __m512d e = _mm512_fnmadd_pd(_mm512_mul_pd(a, y), y, _mm512_set1_pd(1.0));
    __m512d p = _mm512_fmadd_pd(e, _mm512_set1_pd(5.0 / 16), _mm512_set1_pd(3.0 / 8));
    p = _mm512_fmadd_pd(e, p, _mm512_set1_pd(1.0 / 2));
    return _mm512_cvtpd_ps(_mm512_fmadd_pd(_mm512_mul_pd(y, e), p, y));
}

/* A valu_fast: not 0 when there is a NaN, which is then any. */
static inline uint32_t rsq_of_all(uint32_t *d, const uint32_t *s0, const uint32_t *s1,
                                  const uint32_t *s2, float one)
{
    const __m512i exponent = _mm512_set1_epi32(0x7f800000), sign = _mm512_set1_epi32(INT32_MIN);
    uint32_t nans = 0;
    (void)s1, (void)s2, (void)one;
    for (unsigned i = 0; i < 64; i += 16) {
        __m512i u = _mm512_loadu_si512(s0 + i);
        __m256 low = rsq_of_eight(_mm256_castsi256_ps(_mm512_castsi512_si256(u)));
        __m256 high = rsq_of_eight(_mm256_castsi256_ps(_mm512_extracti64x4_epi64(u, 1)));
        __m512i r = _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_castps_si256(low)),
                                       _mm256_castps_si256(high), 1);
        /* Zeros, and denormals, which are flushed; infinity. */
        r = _mm512_mask_or_epi32(r, _mm512_testn_epi32_mask(u, exponent), exponent,
                                 _mm512_and_si512(u, sign));
        r = _mm512_mask_xor_epi32(r, _mm512_cmpeq_epi32_mask(u, exponent), u, u);
        nans |= _mm512_cmp_ps_mask(_mm512_castsi512_ps(r), _mm512_castsi512_ps(r), _CMP_UNORD_Q);
        _mm512_storeu_si512(d + i, r);
    }
    return nans;
}
#endif

#endif
