/* Shapes and fragments of matrices, between warp_lower_matrix.c and warp_matrix.c. Private to
 * components/nvidia/warp. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_WARP_HANDLERS_WARP_MATRIX_H
#define HEDDLE_COMPONENTS_NVIDIA_WARP_HANDLERS_WARP_MATRIX_H

#include <string.h>

#include "components/nvidia/warp/warp_code.h"

enum warp_element {
    WARP_E_F64,
    WARP_E_F32,
    WARP_E_TF32,
    WARP_E_F16,
    WARP_E_BF16,
    WARP_E_E4M3,
    WARP_E_E5M2,
    WARP_E_S32,
    WARP_E_S8,
    WARP_E_U8,
    WARP_E_S4,
    WARP_E_U4,
    WARP_E_B1
};

enum warp_matrix_flag {
    WARP_M_WMMA = 1,      /* fragments as wmma.load makes them, else as mma has them */
    WARP_M_COLUMN = 2,    /* wmma.load, wmma.store: the matrix lies in memory by columns */
    WARP_M_SATURATES = 4, /* integers are clamped, not wrapped */
    WARP_M_AND = 8,       /* b1: and, else xor */
    WARP_M_TRANSPOSED = 16,
    /* wgmma: A in registers, by columns in shared memory, negated; the latter two of B */
    WARP_M_HELD = 32,
    WARP_M_TRANSPOSED_A = 64,
    WARP_M_NEGATED_A = 128,
    WARP_M_TRANSPOSED_B = 256,
    WARP_M_NEGATED_B = 512
};

/* Packed into warp_op.value by warp_matrix_pack(). */
struct warp_matrix {
    uint8_t m, n;
    uint16_t k;
    uint8_t a, b, c, d; /* enum warp_element */
};

static inline uint64_t warp_matrix_pack(const struct warp_matrix *x)
{
    uint64_t value;
    _Static_assert(sizeof *x == sizeof value, "a shape is a word");
    memcpy(&value, x, sizeof value);
    return value;
}

static inline struct warp_matrix warp_matrix_unpack(uint64_t value)
{
    struct warp_matrix x;
    memcpy(&x, &value, sizeof x);
    return x;
}

#endif
