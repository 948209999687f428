/* Matrices of a warp (9.7.14): mma, wmma, wgmma, ldmatrix, stmatrix, movmatrix, at one x86-64
 * level. Called through warp_handler_of().
 *
 * Fragments of mma lie as the manual says. Those of wmma are opaque: element s of a fragment is
 * number (lane * elements of a lane + s) of the matrix by rows, modulo its size. Products of halves
 * and smaller numbers are summed in double with the accumulator and rounded once; the manual leaves
 * order and precision open. */
#include "warp_variant.h"

#include "base/number.h"

#include "warp_lanes.h"

#include "warp_addresses.h"
#include "warp_formats.h"
#include "warp_matrix.h"

enum { MOST = 16 * 256 }; /* elements of a matrix */

static unsigned element_bits(unsigned e)
{
    static const uint8_t bits[] = {
        [WARP_E_F64] = 64,  [WARP_E_F32] = 32, [WARP_E_TF32] = 32, [WARP_E_F16] = 16,
        [WARP_E_BF16] = 16, [WARP_E_E4M3] = 8, [WARP_E_E5M2] = 8,  [WARP_E_S32] = 32,
        [WARP_E_S8] = 8,    [WARP_E_U8] = 8,   [WARP_E_S4] = 4,    [WARP_E_U4] = 4,
        [WARP_E_B1] = 1};
    return bits[e];
}

static f64 element_value(unsigned e, u64 bits)
{
    switch (e) {
    case WARP_E_F64:
        return float64(bits);
    case WARP_E_F32:
        return (f64)float32((u32)bits);
    case WARP_E_TF32:
        return (f64)float32((u32)bits & 0xffffe000u);
    case WARP_E_F16:
        return (f64)half_value((u32)bits & 0xffff);
    case WARP_E_BF16:
        return (f64)bfloat_value((u32)bits & 0xffff);
    case WARP_E_E4M3:
        return warp_format_value(&warp_e4m3, (u32)bits & 255);
    case WARP_E_E5M2:
        return warp_format_value(&warp_e5m2, (u32)bits & 255);
    case WARP_E_S32:
        return (f64)(s32)bits;
    case WARP_E_S8:
        return (f64)(s8)bits;
    case WARP_E_U8:
        return (f64)(u8)bits;
    case WARP_E_S4:
        return (f64)((s32)((u32)bits << 28) >> 28);
    case WARP_E_U4:
        return (f64)(bits & 15);
    default:
        return (f64)(bits & 1);
    }
}

static u64 element_of(unsigned e, f64 x, bool saturates)
{
    switch (e) {
    case WARP_E_F64:
        return bits64(x);
    case WARP_E_F32: {
        f32 y = (f32)x;
        return y == y ? bits32(y) : 0x7fffffff;
    }
    case WARP_E_F16:
        return warp_format_bits(&warp_f16, x, ROUND_NEAREST, false);
    default:
        if (saturates)
            x = x < -2147483648.0 ? -2147483648.0 : x > 2147483647.0 ? 2147483647.0 : x;
        return (u32)(s64)x;
    }
}

/* ---- fragments ---- */

enum matrix_role { ROLE_A, ROLE_B, ROLE_C };

/* Row and column of element `s` of lane `lane`, whose registers hold `each` elements. */
static void element_place(const struct warp_matrix *x, enum matrix_role role, bool is_wmma,
                          unsigned lane, unsigned s, unsigned count, unsigned each, unsigned *row,
                          unsigned *column)
{
    unsigned columns = role == ROLE_A ? x->k : x->n, rows = role == ROLE_B ? x->k : x->m;
    unsigned group = lane >> 2, thread = lane & 3, reg = s / each, j = s % each;
    if (is_wmma) {
        unsigned n = (lane * count + s) % (rows * columns);
        *row = n / columns;
        *column = n % columns;
    } else if (role == ROLE_A && x->m == 16) {
        *row = group + 8 * (reg & 1);
        *column = thread * each + j + (reg >> 1) * 4 * each;
    } else if (role == ROLE_A) {
        *row = group;
        *column = thread * each + j + reg * 4 * each;
    } else if (role == ROLE_B) {
        *row = thread * each + j + reg * 4 * each;
        *column = group;
    } else {
        *row = group + 8 * (s >> 1);
        *column = thread * 2 + (s & 1);
    }
}

/* Elements in a register. */
static unsigned elements_of(unsigned e)
{
    unsigned bits = element_bits(e);
    return bits >= 32 ? 1 : 32 / bits;
}

static void gather(const struct warp_machine *m, const struct warp_matrix *x, bool is_wmma,
                   enum matrix_role role, const struct warp_place *place, unsigned places,
                   f64 *matrix)
{
    unsigned e = role == ROLE_A   ? x->a
                 : role == ROLE_B ? x->b
                                  : x->c,
             each = elements_of(e), bits = element_bits(e), columns = role == ROLE_A ? x->k : x->n;
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        for (unsigned p = 0; p < places; p++) {
            u64 word = lanes_get(m, &place[p], lane);
            for (unsigned j = 0; j < each; j++) {
                unsigned row, column;
                element_place(x, role, is_wmma, lane, p * each + j, places * each, each, &row,
                              &column);
                matrix[row * columns + column] = element_value(e, word >> j * bits);
            }
        }
    }
}

static void scatter(struct warp_machine *m, const struct warp_matrix *x, bool is_wmma,
                    bool saturates, const struct warp_place *place, unsigned places,
                    const f64 *matrix)
{
    unsigned each = elements_of(x->d), bits = element_bits(x->d);
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        for (unsigned p = 0; p < places; p++) {
            u64 word = 0;
            for (unsigned j = 0; j < each; j++) {
                unsigned row, column;
                element_place(x, ROLE_C, is_wmma, lane, p * each + j, places * each, each, &row,
                              &column);
                word |= element_of(x->d, matrix[row * x->n + column], saturates) << j * bits;
            }
            lanes_put(m, &place[p], lane, word);
        }
    }
}

static void multiply(const struct warp_matrix *x, unsigned flags, const f64 *a, const f64 *b,
                     f64 *c)
{
    for (unsigned row = 0; row < x->m; row++) {
        for (unsigned column = 0; column < x->n; column++) {
            f64 sum = 0, *to = &c[row * x->n + column];
            if (x->a == WARP_E_F64) {
                for (unsigned k = 0; k < x->k; k++)
                    *to = __builtin_fma(a[row * x->k + k], b[k * x->n + column], *to);
                continue;
            }
            if (x->a == WARP_E_B1) {
                for (unsigned k = 0; k < x->k; k++) {
                    bool p = a[row * x->k + k] != 0, q = b[k * x->n + column] != 0;
                    sum += flags & WARP_M_AND ? p && q : p != q;
                }
            } else {
                for (unsigned k = 0; k < x->k; k++)
                    sum += a[row * x->k + k] * b[k * x->n + column];
            }
            *to += sum;
        }
    }
}

/* Places: d, a, b, c; how many of d in `written`, of a and b in at[2] and at[3]. */
RUN(MMA)
{
    struct warp_matrix x = warp_matrix_unpack(op->value);
    const struct warp_place *place = m->code->places + op->list;
    unsigned d = op->written, a = op->at[2], b = op->at[3], c = op->count - d - a - b;
    bool is_wmma = op->target & WARP_M_WMMA;
    f64 left[MOST], right[MOST], sum[32 * 32];
    (void)mask;
    gather(m, &x, is_wmma, ROLE_A, place + d, a, left);
    gather(m, &x, is_wmma, ROLE_B, place + d + a, b, right);
    gather(m, &x, is_wmma, ROLE_C, place + d + a + b, c, sum);
    multiply(&x, op->target, left, right, sum);
    scatter(m, &x, is_wmma, op->target & WARP_M_SATURATES, place, d, sum);
}

/* ---- wgmma (9.7.15): at[1] and at[2] the descriptors of A and B, at[3] whether D is added ---- */

/* A matrix in shared memory, by its descriptor (9.7.15.5.1). Eight rows of 16 bytes, or columns
 * where it is transposed, are a core matrix; swizzling exchanges its rows within 32, 64 or 128
 * bytes, by the address. */
struct wgmma_matrix {
    u32 start, leading, stride; /* bytes */
    unsigned units;             /* of 16 bytes that are swizzled together; 1: none */
    bool is_across;
};

static struct wgmma_matrix wgmma_describe(struct warp_machine *m, u64 bits, bool is_across)
{
    static const uint8_t units[] = {1, 8, 4, 2};
    if (bits >> 49 & 7)
        warp_fault_at(m, WARP_FAULT_INSTRUCTION, 0, bits,
                      "a matrix descriptor with a base offset, which is not executed");
    return (struct wgmma_matrix){(u32)(bits & 0x3fff) << 4, (u32)(bits >> 16 & 0x3fff) << 4,
                                 (u32)(bits >> 32 & 0x3fff) << 4, units[bits >> 62], is_across};
}

/* Where the element at `row` of M or N and `byte` of K lies; of a transposed matrix elements of 16
 * bits follow each other in M or N. */
static u32 wgmma_offset(const struct wgmma_matrix *x, unsigned row, unsigned byte)
{
    u32 at = x->start, inner = x->is_across ? 2 * row : byte, outer = x->is_across ? byte / 2 : row;
    u32 unit = inner / 16;
    at += inner % 16 + outer % 8 * 16 * x->units;
    if (!x->is_across)
        at += outer / 8 * x->stride + unit * (x->units > 1 ? 16 : x->leading);
    else if (x->units > 1)
        at += outer / 8 * x->stride + unit % x->units * 16 + unit / x->units * x->leading;
    else
        at += outer / 8 * x->leading + unit * x->stride;
    return at ^ ((at >> 7 & (x->units - 1)) << 4);
}

/* Reads rows from `first` on: `to[row][k]`, or with `turns` `to[k][row]`. */
static void wgmma_read(struct warp_machine *m, const struct wgmma_matrix *x, unsigned e,
                       unsigned first, unsigned rows, unsigned k, bool turns, f64 *to)
{
    unsigned bytes = element_bits(e) / 8;
    for (unsigned row = 0; row < rows; row++) {
        for (unsigned i = 0; i < k; i++) {
            u32 at = wgmma_offset(x, first + row, i * bytes), bits = 0;
            if (at + bytes > m->block->shared) {
                warp_fault_at(m, WARP_FAULT_ADDRESS, 0, at, "outside of the block's shared memory");
                return;
            }
            memcpy(&bits, m->shared + at, bytes);
            to[turns ? i * rows + row : row * k + i] = element_value(e, bits);
        }
    }
}

/* The warp's 16 rows, 8 columns after 8 columns, whose fragments are those of mma. */
RUN(WGMMA)
{
    struct warp_matrix x = warp_matrix_unpack(op->value);
    const struct warp_place *place = m->code->places + op->list;
    unsigned d = op->written, flags = op->target, each = x.d == WARP_E_F16 ? 2 : 4;
    bool negates = !(flags & WARP_M_NEGATED_A) != !(flags & WARP_M_NEGATED_B);
    bool adds = warp_predicate(m, op, 3) & mask;
    f64 left[16 * 32], right[32 * 8], sum[16 * 8] = {0};
    struct wgmma_matrix b =
        wgmma_describe(m, *(const u64 *)warp_source(m, op, 2), flags & WARP_M_TRANSPOSED_B);
    if (flags & WARP_M_HELD) {
        gather(m, &x, false, ROLE_A, place + d, op->count - d, left);
    } else {
        struct wgmma_matrix a =
            wgmma_describe(m, *(const u64 *)warp_source(m, op, 1), flags & WARP_M_TRANSPOSED_A);
        wgmma_read(m, &a, x.a, 16 * (m->number % 4), 16, x.k, false, left);
    }
    if (negates)
        for (unsigned i = 0; i < 16u * x.k; i++)
            left[i] = -left[i];
    for (unsigned at = 0; at < d && !m->fault; at += each) {
        wgmma_read(m, &b, x.b, at / each * 8, 8, x.k, true, right);
        if (adds)
            gather(m, &x, false, ROLE_C, place + at, each, sum);
        else
            memset(sum, 0, sizeof sum);
        multiply(&x, 0, left, right, sum);
        scatter(m, &x, false, flags & WARP_M_SATURATES, place + at, each, sum);
    }
}

/* ---- wmma.load and wmma.store: at[1] the address, at[2] the stride in elements ---- */

/* Address of an element's byte, and the bit in it. */
static char *element_at(const struct warp_op *op, char *start, unsigned row, unsigned column,
                        u64 stride, unsigned bits, unsigned *bit)
{
    u64 n = op->target & WARP_M_COLUMN ? column * stride + row : row * stride + column;
    *bit = (unsigned)(n * bits % 8);
    return start + n * bits / 8;
}

/* Where byte `offset` of what the first lane's address names lies, or NULL. */
static char *matrix_byte(struct warp_machine *m, const struct warp_op *op, unsigned lane,
                         u64 offset, bool writes)
{
    struct warp_op at = *op;
    at.value = (u64)(s64)(s32)op->at[3] + offset;
    return warp_reach(m, &at, 1u << lane, 1, writes) == REACH_NONE ? NULL : m->at[lane];
}

/* The bytes of a matrix, all of which are there; NULL: the access has faulted. */
static char *matrix_start(struct warp_machine *m, const struct warp_op *op, uint32_t mask,
                          unsigned rows, unsigned columns, unsigned bits, u64 *stride, bool writes)
{
    unsigned lane = (unsigned)__builtin_ctz(mask);
    u64 outer = op->target & WARP_M_COLUMN ? columns : rows,
        inner = op->target & WARP_M_COLUMN ? rows : columns;
    *stride = op->bank[2] == WARP_NOTHING ? inner : ((const u32 *)warp_source(m, op, 2))[lane];
    u64 bytes = divide_up(((outer - 1) * *stride + inner) * bits, 8);
    char *end = matrix_byte(m, op, lane, bytes - 1, writes);
    char *start = end ? matrix_byte(m, op, lane, 0, writes) : NULL;
    if (start && (u64)(end - start) != bytes - 1) {
        warp_fault_at(m, WARP_FAULT_ADDRESS, lane, m->address[lane],
                      "a matrix that reaches behind what is allocated");
        return NULL;
    }
    for (unsigned i = 0; i < WARP_LANES; i++) /* observed: a row, or column, for each lane */
        m->address[i] = m->address[lane] + (i % outer) * *stride * bits / 8;
    m->bytes = (u32)(inner * bits / 8);
    return start;
}

static void shape_of(const struct warp_matrix *x, enum matrix_role role, unsigned *rows,
                     unsigned *columns)
{
    *rows = role == ROLE_B ? x->k : x->m;
    *columns = role == ROLE_A ? x->k : x->n;
}

/* `role` in bits 8 and 9 of `target`; the element's type in x.a, x.b or x.c. */
RUN(WMMA_LOAD)
{
    struct warp_matrix x = warp_matrix_unpack(op->value);
    enum matrix_role role = (enum matrix_role)(op->target >> 8 & 3);
    unsigned e = role == ROLE_A   ? x.a
                 : role == ROLE_B ? x.b
                                  : x.c,
             bits = element_bits(e), each = elements_of(e), rows, columns;
    u64 stride;
    shape_of(&x, role, &rows, &columns);
    char *start = matrix_start(m, op, mask, rows, columns, bits, &stride, false);
    const struct warp_place *place = m->code->places + op->list;
    if (start)
        for (unsigned lane = 0; lane < WARP_LANES; lane++) {
            for (unsigned p = 0; p < op->count; p++) {
                u64 word = 0;
                for (unsigned j = 0; j < each; j++) {
                    unsigned row, column, bit;
                    u64 value = 0;
                    element_place(&x, role, true, lane, p * each + j, op->count * each, each, &row,
                                  &column);
                    const char *at = element_at(op, start, row, column, stride, bits, &bit);
                    memcpy(&value, at, bits < 8 ? 1 : bits / 8);
                    value = bits < 64 ? value >> bit & ((1ull << bits) - 1) : value;
                    word |= value << j * bits;
                }
                lanes_put(m, &place[p], lane, word);
            }
        }
}

RUN(WMMA_STORE)
{
    struct warp_matrix x = warp_matrix_unpack(op->value);
    unsigned bits = element_bits(x.c), each = elements_of(x.c);
    u64 stride;
    char *start = matrix_start(m, op, mask, x.m, x.n, bits, &stride, true);
    const struct warp_place *place = m->code->places + op->list;
    if (start)
        for (unsigned lane = 0; lane < WARP_LANES; lane++) {
            for (unsigned p = 0; p < op->count; p++) {
                u64 word = lanes_get(m, &place[p], lane);
                for (unsigned j = 0; j < each; j++) {
                    unsigned row, column, bit;
                    element_place(&x, ROLE_C, true, lane, p * each + j, op->count * each, each,
                                  &row, &column);
                    u64 value = word >> j * bits;
                    memcpy(element_at(op, start, row, column, stride, bits, &bit), &value,
                           bits / 8);
                }
            }
        }
}

/* ---- 8 by 8 matrices of 16 bits: lane 8 n + i has the address of row i of matrix n ---- */

static bool row_addresses(struct warp_machine *m, const struct warp_op *op, unsigned matrices,
                          bool writes)
{
    uint32_t lanes = matrices == 4 ? UINT32_MAX : (1u << 8 * matrices) - 1;
    enum warp_shape shape = warp_reach(m, op, lanes, 16, writes);
    if (shape == REACH_RUN || shape == REACH_UNIFORM)
        for (unsigned i = 1; i < 32; i++)
            m->at[i] = m->at[0] + (shape == REACH_RUN ? 16 * (size_t)i : 0);
    return shape != REACH_NONE;
}

RUN(LDMATRIX)
{
    const struct warp_place *place = m->code->places + op->list;
    u32 word[4][WARP_LANES];
    (void)mask;
    if (!row_addresses(m, op, op->count, false))
        return;
    for (unsigned n = 0; n < op->count; n++) {
        for (unsigned lane = 0; lane < WARP_LANES; lane++) {
            unsigned row = lane >> 2, column = 2 * (lane & 3);
            u16 low, high;
            bool across = op->target & WARP_M_TRANSPOSED;
            memcpy(&low, across ? m->at[8 * n + column] + 2 * row : m->at[8 * n + row] + 2 * column,
                   2);
            memcpy(&high,
                   across ? m->at[8 * n + column + 1] + 2 * row
                          : m->at[8 * n + row] + 2 * column + 2,
                   2);
            word[n][lane] = low | (u32)high << 16;
        }
    }
    for (unsigned n = 0; n < op->count; n++)
        for (unsigned lane = 0; lane < WARP_LANES; lane++)
            lanes_put(m, &place[n], lane, word[n][lane]);
}

RUN(STMATRIX)
{
    const struct warp_place *place = m->code->places + op->list;
    (void)mask;
    if (!row_addresses(m, op, op->count, true))
        return;
    for (unsigned n = 0; n < op->count; n++) {
        for (unsigned lane = 0; lane < WARP_LANES; lane++) {
            unsigned row = lane >> 2, column = 2 * (lane & 3);
            u32 word = (u32)lanes_get(m, &place[n], lane);
            u16 low = (u16)word, high = (u16)(word >> 16);
            bool across = op->target & WARP_M_TRANSPOSED;
            memcpy(across ? m->at[8 * n + column] + 2 * row : m->at[8 * n + row] + 2 * column, &low,
                   2);
            memcpy(across ? m->at[8 * n + column + 1] + 2 * row
                          : m->at[8 * n + row] + 2 * column + 2,
                   &high, 2);
        }
    }
}

RUN(MOVMATRIX)
{
    u32 from[WARP_LANES], *to = warp_target(m, op);
    (void)mask;
    memcpy(from, warp_source(m, op, 1), sizeof from);
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        unsigned row = lane >> 2, column = 2 * (lane & 3), word = 0;
        for (unsigned j = 0; j < 2; j++) {
            unsigned source = (column + j) * 4 + row / 2;
            word |= (from[source] >> 16 * (row & 1) & 0xffff) << 16 * j;
        }
        to[lane] = word;
    }
}

#define HANDLER(id)
#include "warp_matrix.def"

#include "warp_enter.h"

void WARP_NAMED(warp_enter_matrix_)(warp_handler **table)
{
#include "warp_matrix.def"
}
