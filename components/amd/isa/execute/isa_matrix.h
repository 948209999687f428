/* The arithmetic of matrix instructions: D = A x B + C on registers of 64 lanes.
 * Private to components/amd/isa; compiled for each x86-64 level, as isa_valu.c is.
 *
 * The place of a value follows from the form. Let `each` be M * K * blocks / 64, the values of K
 * that a lane holds (packed upwards from the low bits of its first register), and `group` k / each:
 *   A[i][k] of a block   lane i + M * (block + blocks * group), value k % each
 *   B[k][j]              lane j + M * (block + blocks * group), value k % each  (N is M always)
 *   C, D of 32 bits      with t = block * M / 4 + i / 4 and L = 64 / M:
 *                        lane j + M * (t % L), register 4 * (t / L) + i % 4
 *   C, D of 64 bits      with t = i * blocks + block: lane j + M * (t % L), register pair t / L
 * A sparse A lies as a dense one of half the K would, with two of each four k; the index register
 * of the lane says which: two bits a value, from the low bits up.
 *
 * Rounding (arXiv 2511.10909, "MMA-Sim"), by generation:
 *   F64, F32   a chain of fused multiply-adds over ascending k that begins with C
 *   CDNA1      f16, bf16: the k of one lane are a group: products, then their sum by halves, each
 *              step rounded to f32; C + group rounded; groups in ascending k
 *   CDNA2      the same with denormal sources taken as +0 and denormal f32 results as signed 0
 *   CDNA3      f16, bf16: groups of 8 or of K, if that is less; xf32 (low 13 bits dropped): of 4.
 *              The products of a group are aligned to the largest exponent, a sum of the factors'
 *              exponents, cut to 24 fractional bits and added without error. Then sum and C are
 *              aligned to the larger exponent, floored to 31 and to 24 fractional bits, added, and
 *              rounded to f32. Zeros count as of exponent -126. Denormals are kept.
 *   CDNA3 fp8  groups of 16: the even and the odd products are summed as above, these two sums
 *              aligned and floored to 24 fractional bits; C as above, but 0 if its exponent is more
 *              than 25 below the sum's
 *   I8         modulo 2^32
 * Where a product is of 2^128 or more, or any value is infinite or NaN, the sum of infinities
 * decides. A NaN result is 0x7fc00000 or 0x7ff8000000000000. MODE is without influence. Sparse
 * products group as dense ones of half the K do (assumed: nothing is published). */
#ifndef HEDDLE_COMPONENTS_AMD_ISA_EXECUTE_ISA_MATRIX_H
#define HEDDLE_COMPONENTS_AMD_ISA_EXECUTE_ISA_MATRIX_H

#include "components/amd/isa/isa_target.h"

enum isa_matrix_type {
    MATRIX_F64,
    MATRIX_F32,
    MATRIX_XF32,
    MATRIX_F16,
    MATRIX_BF16,
    MATRIX_FP8, /* e4m3 and e5m2 with one zero, one NaN (0x80), no infinities */
    MATRIX_BF8,
    MATRIX_I8
};

struct isa_matrix_form {
    uint8_t m, k, blocks; /* A is m x k, B k x m */
    uint8_t a, b;         /* enum isa_matrix_type */
    uint8_t rules;        /* enum isa_matrix */
    bool sparse;
};

/* Operands: lane l of register r is at [64 * r + l]. d may be c or overlap any of the others. */
struct isa_matrix_operands {
    const uint32_t *a, *b, *c;
    const uint32_t *index; /* indices of a sparse A */
    uint32_t *d;
    uint64_t value;   /* C where c is NULL */
    uint8_t negative; /* f64: bit 0 negates A, 1 B, 2 C */
    /* A of 2^cbsz neighbouring blocks is that of block abid among them. Of a sparse A: abid is the
     * part of the index register, if cbsz is 0. */
    uint8_t cbsz, abid;
    uint8_t blgp; /* lanes of B: 1 low half twice, 2 high half, 3 down by 16, 4 to 7 a quarter */
};

/* Registers (dwords) of A, B, and of C and D. */
unsigned isa_matrix_dwords_a(const struct isa_matrix_form *form);
unsigned isa_matrix_dwords_b(const struct isa_matrix_form *form);
unsigned isa_matrix_dwords_d(const struct isa_matrix_form *form);

void isa_matrix_multiply_v2(const struct isa_matrix_form *, const struct isa_matrix_operands *);
void isa_matrix_multiply_v3(const struct isa_matrix_form *, const struct isa_matrix_operands *);

#endif
