/* The arithmetic of atomic operations, for caches, functional memory and LDS alike.
 *
 * inc: 0 when the old value has reached the operand, else old + 1. dec: the operand when the old
 * value is 0 or above it, else old - 1 (GCN3 manual, chapter 12). Float minimum and maximum: a NaN
 * in memory or operand gives the other one. Sums round to nearest even and keep denormals, whatever
 * MODE says. */
#include "base/number.h"
#include "components/amd/isa/isa.h"

#include "isa_math.h"

/* Two constant sizes rather than a variable one: these are on the way of every atomic access. */
static uint64_t load_value(const void *memory, unsigned bytes)
{
    uint64_t value = 0;
    if (bytes == 4)
        memcpy(&value, memory, 4);
    else
        memcpy(&value, memory, 8);
    return value;
}

static void store_value(void *memory, unsigned bytes, uint64_t value)
{
    if (bytes == 4)
        memcpy(memory, &value, 4);
    else
        memcpy(memory, &value, 8);
}

static int64_t as_signed(uint64_t value, unsigned bytes)
{
    return bytes == 4 ? (int32_t)value : (int64_t)value;
}

static double as_float(uint64_t value, unsigned bytes)
{
    if (bytes == 4) {
        uint32_t word = (uint32_t)value;
        float x;
        memcpy(&x, &word, 4);
        return (double)x;
    }
    double x;
    memcpy(&x, &value, 8);
    return x;
}

static uint64_t float_sum(uint64_t old, uint64_t operand, unsigned bytes)
{
    uint64_t out = 0;
    if (bytes == 4) {
        float sum = (float)as_float(old, 4) + (float)as_float(operand, 4);
        memcpy(&out, &sum, 4);
    } else {
        double sum = as_float(old, 8) + as_float(operand, 8);
        memcpy(&out, &sum, 8);
    }
    return out;
}

static float bfloat(uint32_t half)
{
    return f32_bits(half << 16);
}

/* Rounded to nearest even; a NaN is quietened. */
static uint32_t to_bfloat(float x)
{
    uint32_t u = bits_f32(x);
    return x != x ? u >> 16 | 0x40 : (u + 0x7fff + (u >> 16 & 1)) >> 16;
}

static uint32_t half_sum(bool bf16, uint32_t a, uint32_t b)
{
    if (bf16)
        return to_bfloat(bfloat(a) + bfloat(b));
    float sum = f32_f16(a) + f32_f16(b);
    return sum != sum ? f16_nan(sum) : f16_f32(sum);
}

/* Halves of words, one by one. Sums of halves are exact in f32, or round the same twice. */
static uint64_t packed_sum(bool bf16, uint64_t old, uint64_t operand)
{
    uint32_t low = half_sum(bf16, old & 0xffff, operand & 0xffff);
    return low | (uint64_t)half_sum(bf16, old >> 16 & 0xffff, operand >> 16 & 0xffff) << 16;
}

static uint64_t float_choice(bool minimum, uint64_t old, uint64_t operand, unsigned bytes)
{
    double a = as_float(old, bytes), b = as_float(operand, bytes);
    if (a != a)
        return operand;
    if (b != b)
        return old;
    return (minimum ? b < a : b > a) ? operand : old;
}

static uint64_t result_of(enum isa_atomic op, unsigned bytes, uint64_t old, uint64_t operand,
                          const void *compare)
{
    int64_t a = as_signed(old, bytes), b = as_signed(operand, bytes);
    switch (op) {
    case ISA_ATOMIC_SWAP:
        return operand;
    case ISA_ATOMIC_CMPSWAP:
        return old == load_value(compare, bytes) ? operand : old;
    case ISA_ATOMIC_ADD:
        return old + operand;
    case ISA_ATOMIC_SUB:
        return old - operand;
    case ISA_ATOMIC_SMIN:
        return a < b ? old : operand;
    case ISA_ATOMIC_UMIN:
        return min(old, operand);
    case ISA_ATOMIC_SMAX:
        return a > b ? old : operand;
    case ISA_ATOMIC_UMAX:
        return max(old, operand);
    case ISA_ATOMIC_AND:
        return old & operand;
    case ISA_ATOMIC_OR:
        return old | operand;
    case ISA_ATOMIC_XOR:
        return old ^ operand;
    case ISA_ATOMIC_INC:
        return old >= operand ? 0 : old + 1;
    case ISA_ATOMIC_DEC:
        return old == 0 || old > operand ? operand : old - 1;
    case ISA_ATOMIC_FCMPSWAP:
        return as_float(old, bytes) == as_float(load_value(compare, bytes), bytes) ? operand : old;
    case ISA_ATOMIC_FMIN:
        return float_choice(true, old, operand, bytes);
    case ISA_ATOMIC_FMAX:
        return float_choice(false, old, operand, bytes);
    case ISA_ATOMIC_FADD:
        return float_sum(old, operand, bytes);
    case ISA_ATOMIC_PK_ADD_F16:
    case ISA_ATOMIC_PK_ADD_BF16:
        return packed_sum(op == ISA_ATOMIC_PK_ADD_BF16, old, operand);
    case ISA_ATOMIC_COUNT:
        break;
    }
    return old;
}

void isa_atomic_apply(enum isa_atomic op, unsigned bytes, void *memory, const void *operand,
                      const void *compare, void *old)
{
    uint64_t before = load_value(memory, bytes);
    uint64_t after = result_of(op, bytes, before, load_value(operand, bytes), compare);
    store_value(memory, bytes, after);
    if (old)
        store_value(old, bytes, before);
}
