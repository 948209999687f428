/* Matrices of a warp (9.7.14): mma, wmma, wgmma, ldmatrix, stmatrix, movmatrix, at one x86-64
 * level.
 *
 * Fragments of mma lie as the manual says. Those of wmma are opaque: element s of a fragment is
 * number (lane * elements of a lane + s) of the matrix by rows, modulo its size. Products of halves
 * and smaller numbers are summed in double with the accumulator and rounded once; the manual leaves
 * order and precision open. */
#include "warp_matrix.h"

#include "base/number.h"

#include "warp_addresses.h"
#include "warp_formats.h"
#include "warp_lanes.h"
#include "warp_variant.h"

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

enum matrix_role { ROLE_A, ROLE_B, ROLE_C, ROLE_D };

/* A matrix in the registers of a warp. */
struct fragment {
    const struct warp_place *places; /* [registers] of each lane */
    unsigned registers;
    enum matrix_role role;
    bool is_wmma;
    unsigned rows, columns;
    unsigned element; /* enum warp_element */
    unsigned bits;    /* size of an element */
    unsigned each;    /* elements of a register */
};

static struct fragment fragment_of(const struct warp_matrix *x, enum matrix_role role, bool is_wmma,
                                   const struct warp_place *places, unsigned registers)
{
    const uint8_t elements[] = {x->a, x->b, x->c, x->d};
    unsigned bits = element_bits(elements[role]);
    return (struct fragment){.places = places,
                             .registers = registers,
                             .role = role,
                             .is_wmma = is_wmma,
                             .rows = role == ROLE_B ? x->k : x->m,
                             .columns = role == ROLE_A ? x->k : x->n,
                             .element = elements[role],
                             .bits = bits,
                             .each = bits >= 32 ? 1 : 32 / bits};
}

struct matrix_place {
    unsigned row, column;
};

/* The place of a lane's element `s`. */
static struct matrix_place element_place(const struct fragment *f, unsigned lane, unsigned s)
{
    unsigned group = lane >> 2, thread = lane & 3, reg = s / f->each, j = s % f->each;
    if (f->is_wmma) {
        unsigned n = (lane * f->registers * f->each + s) % (f->rows * f->columns);
        return (struct matrix_place){n / f->columns, n % f->columns};
    }
    if (f->role == ROLE_A && f->rows == 16)
        return (struct matrix_place){group + 8 * (reg & 1),
                                     (thread + (reg >> 1) * 4) * f->each + j};
    if (f->role == ROLE_A)
        return (struct matrix_place){group, (thread + reg * 4) * f->each + j};
    if (f->role == ROLE_B)
        return (struct matrix_place){(thread + reg * 4) * f->each + j, group};
    return (struct matrix_place){group + 8 * (s >> 1), thread * 2 + (s & 1)};
}

static void gather(const struct warp_machine *m, const struct fragment *f, f64 *matrix)
{
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        for (unsigned p = 0; p < f->registers; p++) {
            u64 word = lanes_get(m, &f->places[p], lane);
            for (unsigned j = 0; j < f->each; j++) {
                struct matrix_place at = element_place(f, lane, p * f->each + j);
                matrix[at.row * f->columns + at.column] =
                    element_value(f->element, word >> j * f->bits);
            }
        }
    }
}

static void scatter(struct warp_machine *m, const struct fragment *f, bool saturates,
                    const f64 *matrix)
{
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        for (unsigned p = 0; p < f->registers; p++) {
            u64 word = 0;
            for (unsigned j = 0; j < f->each; j++) {
                struct matrix_place at = element_place(f, lane, p * f->each + j);
                f64 value = matrix[at.row * f->columns + at.column];
                word |= element_of(f->element, value, saturates) << j * f->bits;
            }
            lanes_put(m, &f->places[p], lane, word);
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

/* The places are those of d, a, b and c. Their numbers: of d `written`, of a and b at[2] and at[3].
 */
RUN(MMA)
{
    struct warp_matrix x = warp_matrix_unpack(op->value);
    const struct warp_place *place = m->code->places + op->list;
    bool is_wmma = op->target & WARP_M_WMMA;
    struct fragment d = fragment_of(&x, ROLE_D, is_wmma, place, op->written),
                    a = fragment_of(&x, ROLE_A, is_wmma, d.places + d.registers, op->at[2]),
                    b = fragment_of(&x, ROLE_B, is_wmma, a.places + a.registers, op->at[3]),
                    c = fragment_of(&x, ROLE_C, is_wmma, b.places + b.registers, 0);
    f64 left[MOST], right[MOST], sum[32 * 32];
    (void)mask;
    c.registers = op->count - (unsigned)(c.places - place);
    gather(m, &a, left);
    gather(m, &b, right);
    gather(m, &c, sum);
    multiply(&x, op->target, left, right, sum);
    scatter(m, &d, op->target & WARP_M_SATURATES, sum);
}

/* ---- wgmma (9.7.15): at[1] and at[2] the descriptors of A and B, at[3] whether D is added ---- */

/* A matrix in shared memory, by its descriptor (9.7.15.5.1). Eight rows of 16 bytes, or columns
 * where it is transposed, are a core matrix; swizzling exchanges its rows within 32, 64 or 128
 * bytes, by the address. */
struct wgmma_matrix {
    u32 start, leading, stride; /* bytes */
    unsigned units;             /* 16 bytes each, swizzled together; 1: no swizzling */
    bool is_across;             /* transposed */
    unsigned element;           /* enum warp_element */
    unsigned k;                 /* elements of a row */
};

static struct wgmma_matrix wgmma_describe(struct warp_machine *m, u64 bits, unsigned element,
                                          unsigned k, bool is_across)
{
    static const uint8_t units[] = {1, 8, 4, 2};
    if (bits >> 49 & 7)
        warp_fault_at(m, WARP_FAULT_INSTRUCTION, 0, bits,
                      "a matrix descriptor with a base offset, which is not executed");
    return (struct wgmma_matrix){.start = (u32)(bits & 0x3fff) << 4,
                                 .leading = (u32)(bits >> 16 & 0x3fff) << 4,
                                 .stride = (u32)(bits >> 32 & 0x3fff) << 4,
                                 .units = units[bits >> 62],
                                 .is_across = is_across,
                                 .element = element,
                                 .k = k};
}

/* The offset of the element at `row` of M or N and `byte` of K. Of a transposed matrix elements of
 * 16 bits follow each other in M or N. */
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
static void wgmma_read(struct warp_machine *m, const struct wgmma_matrix *x, unsigned first,
                       unsigned rows, bool turns, f64 *to)
{
    unsigned bytes = element_bits(x->element) / 8;
    for (unsigned row = 0; row < rows; row++) {
        for (unsigned i = 0; i < x->k; i++) {
            u32 at = wgmma_offset(x, first + row, i * bytes), bits = 0;
            if (at + bytes > m->block->shared) {
                warp_fault_at(m, WARP_FAULT_ADDRESS, 0, at, "outside of the block's shared memory");
                return;
            }
            memcpy(&bits, m->shared + at, bytes);
            to[turns ? i * rows + row : row * x->k + i] = element_value(x->element, bits);
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
    struct wgmma_matrix b = wgmma_describe(m, *(const u64 *)warp_source(m, op, 2), x.b, x.k,
                                           flags & WARP_M_TRANSPOSED_B);
    if (flags & WARP_M_HELD) {
        struct fragment a = fragment_of(&x, ROLE_A, false, place + d, op->count - d);
        gather(m, &a, left);
    } else {
        struct wgmma_matrix a = wgmma_describe(m, *(const u64 *)warp_source(m, op, 1), x.a, x.k,
                                               flags & WARP_M_TRANSPOSED_A);
        wgmma_read(m, &a, 16 * (m->number % 4), 16, false, left);
    }
    if (negates)
        for (unsigned i = 0; i < 16u * x.k; i++)
            left[i] = -left[i];
    for (unsigned at = 0; at < d && !m->fault; at += each) {
        struct fragment sums = fragment_of(&x, ROLE_D, false, place + at, each);
        wgmma_read(m, &b, at / each * 8, 8, true, right);
        memset(sum, 0, sizeof sum);
        if (adds)
            gather(m, &sums, sum);
        multiply(&x, 0, left, right, sum);
        scatter(m, &sums, flags & WARP_M_SATURATES, sum);
    }
}

/* ---- wmma.load and wmma.store: at[1] the address, at[2] the stride in elements ---- */

/* A matrix in memory, all of whose bytes are there. */
struct stored_matrix {
    char *start; /* NULL: the access has faulted */
    u64 stride;  /* elements from a row, or column, to the next */
    unsigned bits;
    bool is_by_columns;
};

/* The byte in which an element begins, and the bit in it. */
static char *element_at(const struct stored_matrix *x, struct matrix_place at, unsigned *bit)
{
    u64 n = x->is_by_columns ? at.column * x->stride + at.row : at.row * x->stride + at.column;
    *bit = (unsigned)(n * x->bits % 8);
    return x->start + n * x->bits / 8;
}

/* The place of the byte that is `offset` bytes after the lane's address, or NULL. */
static char *matrix_byte(struct warp_machine *m, const struct warp_op *op, unsigned lane,
                         u64 offset, bool writes)
{
    struct warp_op at = *op;
    at.value = (u64)(s64)(s32)op->at[3] + offset;
    return warp_reach(m, &at, 1u << lane, 1, writes) == REACH_NONE ? NULL : m->at[lane];
}

/* The matrix at the address of the first lane. Observers see a row, or column, for each lane. */
static struct stored_matrix stored_matrix_of(struct warp_machine *m, const struct warp_op *op,
                                             uint32_t mask, const struct fragment *f, bool writes)
{
    unsigned lane = (unsigned)__builtin_ctz(mask);
    struct stored_matrix x = {.bits = f->bits, .is_by_columns = op->target & WARP_M_COLUMN};
    u64 outer = x.is_by_columns ? f->columns : f->rows,
        inner = x.is_by_columns ? f->rows : f->columns;
    x.stride = op->bank[2] == WARP_BANK_NONE ? inner : ((const u32 *)warp_source(m, op, 2))[lane];
    u64 bytes = divide_up(((outer - 1) * x.stride + inner) * x.bits, 8);
    char *end = matrix_byte(m, op, lane, bytes - 1, writes);
    char *start = end ? matrix_byte(m, op, lane, 0, writes) : NULL;
    if (start && (u64)(end - start) != bytes - 1) {
        warp_fault_at(m, WARP_FAULT_ADDRESS, lane, m->address[lane],
                      "a matrix that reaches behind what is allocated");
        return x;
    }
    for (unsigned i = 0; i < WARP_LANES; i++)
        m->address[i] = m->address[lane] + (i % outer) * x.stride * x.bits / 8;
    m->bytes = (u32)(inner * x.bits / 8);
    x.start = start;
    return x;
}

static u64 load_element(const struct stored_matrix *x, struct matrix_place at)
{
    u64 value = 0;
    unsigned bit;
    const char *byte = element_at(x, at, &bit);
    memcpy(&value, byte, x->bits < 8 ? 1 : x->bits / 8);
    return x->bits < 64 ? value >> bit & ((1ull << x->bits) - 1) : value;
}

/* The role is in bits 8 and 9 of `target`. */
RUN(WMMA_LOAD)
{
    struct warp_matrix x = warp_matrix_unpack(op->value);
    struct fragment f = fragment_of(&x, (enum matrix_role)(op->target >> 8 & 3), true,
                                    m->code->places + op->list, op->count);
    struct stored_matrix stored = stored_matrix_of(m, op, mask, &f, false);
    if (!stored.start)
        return;
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        for (unsigned p = 0; p < f.registers; p++) {
            u64 word = 0;
            for (unsigned j = 0; j < f.each; j++)
                word |= load_element(&stored, element_place(&f, lane, p * f.each + j))
                        << j * f.bits;
            lanes_put(m, &f.places[p], lane, word);
        }
    }
}

RUN(WMMA_STORE)
{
    struct warp_matrix x = warp_matrix_unpack(op->value);
    struct fragment f = fragment_of(&x, ROLE_D, true, m->code->places + op->list, op->count);
    struct stored_matrix stored = stored_matrix_of(m, op, mask, &f, true);
    if (!stored.start)
        return;
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        for (unsigned p = 0; p < f.registers; p++) {
            u64 word = lanes_get(m, &f.places[p], lane);
            for (unsigned j = 0; j < f.each; j++) {
                unsigned bit;
                u64 value = word >> j * f.bits;
                memcpy(element_at(&stored, element_place(&f, lane, p * f.each + j), &bit), &value,
                       f.bits / 8);
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

/* From here on, a row of the table is an entry. */
#include "warp_enter.h"

void WARP_NAMED(warp_enter_matrix_)(warp_handler **table)
{
#include "warp_matrix.def"
}
