/* corpus_control.cpp - control flow, calls, private memory: what turns into stacks, tables of
 * addresses, indexed registers and divergent loops. */
#include "corpus.h"

/* ---- indexed registers ---- */

typedef u32 v4 __attribute__((ext_vector_type(4)));
typedef u32 v8 __attribute__((ext_vector_type(8)));
typedef u32 v16 __attribute__((ext_vector_type(16)));
typedef u64 w4 __attribute__((ext_vector_type(4)));
typedef f32 f8 __attribute__((ext_vector_type(8)));

KERNEL(vector_read_by_lane)
{
    v8 v = {x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]};
    for (u32 k = 0; k < 8; k++)
        y[k] = v[(x[k] + i) & 7];
}

KERNEL(vector_write_by_lane)
{
    v16 v = (v16)i;
    for (u32 k = 0; k < 8; k++)
        v[(x[k] >> 2) & 15] = x[k] + k;
    for (u32 k = 0; k < 8; k++)
        y[k] = v[k] ^ v[15 - k] << 1;
}

KERNEL(vector_by_loop)
{
    v16 v = (v16)7;
    u32 n = 10 + (x[0] & 63);
#pragma clang loop unroll(disable)
    for (u32 k = 0; k < n; k++) {
        v[k & 15] += x[k & 7] ^ k;
        v[(k * 5) & 15] ^= v[(k + 3) & 15];
    }
    for (u32 k = 0; k < 8; k++)
        y[k] = v[k] + v[k + 8];
}

KERNEL(vector_uniform_index)
{
    v8 v = {x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]};
    u32 at = i >> 6; /* the same in all lanes, though the compiler cannot know */
    for (u32 k = 0; k < 4; k++) {
        y[k] = v[(at + k) & 7];
        v[(at + 2 * k) & 7] = k * 0x01010101 + y[k];
    }
    for (u32 k = 4; k < 8; k++)
        y[k] = v[k] + v[k - 4];
}

KERNEL(vector_of_doubles_words)
{
    w4 v = {wide(x), wide(x + 2), wide(x + 4), wide(x + 6)};
    v[x[1] & 3] += v[x[0] & 3];
    v[x[3] & 3] ^= v[x[2] & 3] >> 7;
    put_wide(y, v[(x[4] + i) & 3]);
    put_wide(y + 2, v.x + v.z);
    put_wide(y + 4, v.y - v.w);
    put_wide(y + 6, v[i & 3]);
}

KERNEL(vector_of_floats)
{
    f8 v;
    for (int k = 0; k < 8; k++)
        v[k] = real(x[k]);
    v[x[0] & 7] *= 2.0f;
    v[x[1] & 7] += v[x[2] & 7];
    for (int k = 0; k < 8; k++)
        y[k] = bits(v[(k + x[3]) & 7]);
}

/* ---- private memory ---- */

KERNEL(array_by_lane)
{
    i32 a[16];
    for (u32 k = 0; k < 16; k++)
        a[k] = (i32)(x[k & 7] + k);
    for (u32 k = 0; k < 40; k++)
        a[x[k & 7] % 16] += a[(k + i) & 15] >> 1;
    for (u32 k = 0; k < 8; k++)
        y[k] = (u32)(a[k] - a[15 - k]);
}

KERNEL(array_large)
{
    u32 a[800];
    for (u32 k = 0; k < 800; k++)
        a[k] = x[k & 7] * (k + 1);
    for (u32 k = 0; k < 300; k++)
        a[(x[k & 7] + k * 37) % 800] ^= a[(k * 13) % 800] + k;
    for (u32 k = 0; k < 8; k++)
        y[k] = a[k * 99] + a[799 - k] + a[(x[k] + i) % 800];
}

KERNEL(array_of_bytes)
{
    u8 a[256], j = 0;
    u32 out[8] = {};
    for (u32 k = 0; k < 256; k++)
        a[k] = (u8)k;
    for (u32 k = 0; k < 256; k++) { /* RC4's key schedule and stream */
        j = (u8)(j + a[k] + (x[k / 4 & 7] >> (k & 3) * 8));
        u8 t = a[k];
        a[k] = a[j], a[j] = t;
    }
    u8 p = 0, q = 0;
    for (u32 k = 0; k < 32; k++) {
        p++, q = (u8)(q + a[p]);
        u8 t = a[p];
        a[p] = a[q], a[q] = t;
        out[k / 4] |= (u32)a[(u8)(a[p] + a[q])] << (k & 3) * 8;
    }
    for (u32 k = 0; k < 8; k++)
        y[k] = out[k];
}

KERNEL(array_of_halves)
{
    i16 a[48];
    u16 b[48];
    for (u32 k = 0; k < 48; k++)
        a[k] = (i16)(x[k & 7] >> (k & 15)), b[k] = (u16)(x[k & 7] + k);
    for (u32 k = 0; k < 48; k++)
        a[(u16)a[k] % 48] = (i16)(a[k] - (i16)b[47 - k]), b[b[k] % 48] += (u16)a[k];
    for (u32 k = 0; k < 8; k++)
        y[k] = (u32)(i32)a[k * 5] ^ (u32)b[k * 6] << 12;
}

struct record {
    u8 tag;
    u64 key;
    i16 parts[5];
    struct {
        u8 a, b;
        f32 c;
    } inner[2];
};
struct __attribute__((packed)) squeezed {
    u8 tag;
    u32 value;
    u16 half;
    u64 key;
    u8 tail[3];
};

FN NOINLINE record make(u32 a, u64 b)
{
    record r = {};
    r.tag = (u8)a, r.key = b ^ a;
    for (int k = 0; k < 5; k++)
        r.parts[k] = (i16)(a >> k);
    r.inner[a & 1].a = (u8)(a >> 8), r.inner[1].c = real(a);
    return r;
}
FN NOINLINE u32 judge(record r, record s, int more)
{
    r.parts[more & 3] = (i16)(r.parts[more & 3] + s.parts[4]);
    return r.tag + (u32)(r.key >> 3) + (u32)(i32)r.parts[more & 3] + bits(s.inner[1].c) + r.inner[more & 1].a;
}

KERNEL(structures_by_value)
{
    record r = make(x[0], wide(x + 1)), s = make(x[3], wide(x + 4));
    for (int k = 0; k < 4; k++)
        y[k] = judge(r, s, k + (int)(x[6] & 1));
    record swap = r;
    r = s, s = swap;
    for (int k = 4; k < 8; k++)
        y[k] = judge(r, s, k);
}

KERNEL(structures_packed)
{
    squeezed s[3] = {};
    for (u32 k = 0; k < 3; k++) {
        s[k].tag = (u8)x[k], s[k].value = x[k + 1], s[k].half = (u16)x[k + 2];
        s[k].key = wide(x + k), s[k].tail[k] = (u8)(x[7] >> k);
    }
    squeezed &t = s[x[0] % 3];
    t.value += t.half, t.key *= 3;
    u32 sum[8] = {};
    const u8 *raw = (const u8 *)s;
    for (u32 k = 0; k < sizeof s; k++)
        sum[k & 7] = sum[k & 7] * 31 + raw[k];
    for (u32 k = 0; k < 8; k++)
        y[k] = sum[k];
}

union mixed {
    u32 words[4];
    u16 halves[8];
    u8 bytes[16];
    u64 wides[2];
    f32 floats[4];
};

KERNEL(unions)
{
    mixed u;
    for (u32 k = 0; k < 4; k++)
        u.words[k] = x[k];
    u.bytes[x[4] & 15] ^= 0x5a;
    u.halves[x[5] & 7] += 3;
    u.wides[1] += u.wides[0];
    u.floats[3] = real(x[6]);
    for (u32 k = 0; k < 4; k++)
        y[k] = u.words[k], y[4 + k] = u.halves[k] * u.bytes[15 - k];
}

KERNEL(memory_functions)
{
    u8 a[64], b[64];
    __builtin_memset(a, (int)(x[0] & 255), 64);
    __builtin_memcpy(a + 5, x, 32);
    __builtin_memcpy(b, a, 64);
    __builtin_memmove(b + 3, b, 41);
    __builtin_memmove(a, a + 7, 50);
    u32 out[8] = {};
    for (u32 k = 0; k < 64; k++)
        out[k & 7] = out[k & 7] * 17 + (a[k] ^ b[63 - k]);
    for (u32 k = 0; k < 8; k++)
        y[k] = out[k];
}

struct __attribute__((packed)) loose32 {
    u32 v;
};
struct __attribute__((packed)) loose64 {
    u64 v;
};
struct __attribute__((packed)) loose16 {
    u16 v;
};

KERNEL(unaligned)
{
    const u8 *raw = (const u8 *)x;
    u8 own[40];
    y[0] = ((const loose32 *)(raw + 1 + (x[0] & 3)))->v;
    put_wide(y + 1, ((const loose64 *)(raw + (x[1] & 15)))->v);
    y[3] = ((const loose16 *)(raw + 3))->v;
    for (u32 k = 0; k < 40; k++)
        own[k] = raw[k % 32];
    ((loose32 *)(own + (x[2] & 7) + 1))->v += 0x01020304;
    ((loose64 *)(own + 17 + (x[3] & 7)))->v ^= 0x1122334455667788ull;
    y[4] = ((loose32 *)(own + 5))->v;
    put_wide(y + 5, ((loose64 *)(own + 19))->v);
    y[7] = ((loose16 *)(own + 33))->v;
}

KERNEL(volatile_memory)
{
    volatile u32 *out = y;
    volatile const u32 *in = x;
    volatile u32 own[3] = {1, 2, 3};
    for (u32 k = 0; k < 8; k++)
        out[k] = in[k];
    for (u32 k = 0; k < 8; k++)
        out[k] = out[k] + out[(k + 1) & 7], own[k % 3] += out[k];
    out[0] = own[0], out[1] = own[1], out[2] = own[2];
}

/* ---- jumps ---- */

FN u32 choose(u32 which, u32 a, u32 b)
{
    switch (which) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * b;
    case 3: return a & b;
    case 4: return a | b;
    case 5: return a ^ b;
    case 6: return a << (b & 31);
    case 7: return a >> (b & 31);
    case 8: return (u32)((i32)a >> (b & 31));
    case 9: return a < b;
    case 10: return ~a;
    case 11: return a / (b | 1);
    case 12: return a % (b | 1);
    case 13: return (a << 8) + (b & 255);
    case 14: return 0u - a;
    case 20: return 77;
    case 31: return a == b;
    default: return b;
    }
}

KERNEL(switch_table)
{
    for (u32 k = 0; k < 8; k++)
        y[k] = choose((x[k] >> 3) & 31, x[k], x[(k + 1) & 7]);
}

KERNEL(switch_falls_through)
{
    for (u32 k = 0; k < 8; k++) {
        u32 r = k;
        switch (x[k] & 7) {
        case 5: r += 5; __attribute__((fallthrough));
        case 4: r *= 3; __attribute__((fallthrough));
        case 3:
            r ^= x[k];
            if (r & 1)
                break;
            __attribute__((fallthrough));
        case 2: r += 2; break;
        case 7: continue;
        default: r = ~r;
        }
        y[k] = r;
    }
}

TABLE u32 constants[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};

KERNEL(constant_table)
{
    for (u32 k = 0; k < 8; k++)
        y[k] = constants[x[k] & 15] * constants[(k + i) & 15] + constants[k];
}

/* A program of small instructions, with jumps back. */
KERNEL(interpreter)
{
    u32 stack[8] = {}, top = 0, pc = 0, acc = i;
    for (u32 steps = 0; steps < 200 && pc < 16; steps++) {
        u32 op = (x[pc / 2] >> (pc & 1) * 4) & 15;
        pc++;
        switch (op) {
        case 0: acc += 1; break;
        case 1: stack[top & 7] = acc, top++; break;
        case 2: top--, acc ^= stack[top & 7]; break;
        case 3: pc = acc & 1 ? pc + 2 : pc; break;
        case 4: pc = steps < 60 ? pc / 2 : pc; break;
        case 5: acc *= 5; break;
        case 6: acc = acc << 3 | acc >> 29; break;
        case 7: acc -= stack[acc & 7]; break;
        case 8: acc = ~acc; break;
        case 9: steps += 3; break;
        default: acc += op;
        }
    }
    y[0] = acc, y[1] = pc, y[2] = top;
    for (u32 k = 3; k < 8; k++)
        y[k] = stack[k];
}

KERNEL(goto_machine)
{
    u32 a = x[0], b = 0, n = 0;
start:
    if (n++ > 60)
        goto end;
    if (a & 1)
        goto odd;
    a >>= 1, b += 1;
    if (a < 10)
        goto small;
    goto start;
odd:
    a = a * 3 + 1, b += 100;
    if (b % 7 == 3)
        goto small;
    goto start;
small:
    b ^= a;
    if (b & 2)
        goto end;
    a += 11;
    goto start;
end:
    y[0] = a, y[1] = b, y[2] = n;
    for (u32 k = 3; k < 8; k++)
        y[k] = x[k] / (n + 1);
}

/* Duff's device. */
KERNEL(copies_by_jump)
{
    u32 own[24] = {}, count = 1 + x[0] % 23, n = (count + 3) / 4, at = 0;
    switch (count & 3) {
        do {
        case 0: own[at] = x[at & 7] + at, at++; __attribute__((fallthrough));
        case 3: own[at] = x[at & 7] + at, at++; __attribute__((fallthrough));
        case 2: own[at] = x[at & 7] + at, at++; __attribute__((fallthrough));
        case 1: own[at] = x[at & 7] + at, at++;
        } while (--n > 0);
    }
    for (u32 k = 0; k < 8; k++)
        y[k] = own[k] + own[k + 8] * 3 + own[k + 16] * 5;
}

KERNEL(nested_loops)
{
    u32 sum = 0;
    for (u32 a = 0; a < 12; a++) {
        if ((x[a & 7] >> a & 3) == 3)
            continue;
        for (u32 b = a; b < 12; b++) {
            if (((sum ^ x[b & 7]) & 15) == 9)
                break;
            u32 c = x[1] & 7;
            while (c--) {
                sum += a * b + c;
                if (sum & 0x400)
                    goto next;
            }
        }
        sum ^= a << 8;
    next:;
    }
    for (u32 k = 0; k < 8; k++)
        y[k] = sum * (k + 1);
}

/* ---- calls ---- */

FN NOINLINE u32 fibonacci(u32 n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
FN NOINLINE u32 ackermann(u32 m, u32 n)
{
    return !m ? n + 1 : !n ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
FN NOINLINE u32 odd(u32 n);
FN NOINLINE u32 even(u32 n)
{
    return n ? odd(n - 1) + 1 : 1000;
}
FN NOINLINE u32 odd(u32 n)
{
    return n ? even(n - 1) + 2 : 2000;
}

KERNEL(recursion)
{
    y[0] = fibonacci(x[0] % 9);
    y[1] = ackermann(x[1] % 3, x[2] % 4);
    y[2] = even(x[3] % 20);
    y[3] = fibonacci(i & 7) + odd(x[4] & 7);
    for (u32 k = 4; k < 8; k++)
        y[k] = fibonacci(k);
}

FN NOINLINE u32 sort_part(i32 *a, i32 low, i32 high)
{
    if (low >= high)
        return 0;
    i32 pivot = a[(low + high) / 2], l = low, h = high;
    while (l <= h) {
        while (a[l] < pivot)
            l++;
        while (a[h] > pivot)
            h--;
        if (l <= h) {
            i32 t = a[l];
            a[l++] = a[h], a[h--] = t;
        }
    }
    return 1 + sort_part(a, low, h) + sort_part(a, l, high);
}

KERNEL(quicksort)
{
    i32 a[24];
    for (u32 k = 0; k < 24; k++)
        a[k] = (i32)(x[k & 7] * (k + 1) ^ k << 20);
    y[0] = sort_part(a, 0, 23);
    for (u32 k = 1; k < 8; k++)
        y[k] = (u32)a[k * 3];
}

FN NOINLINE u32 hanoi(u32 n, u32 from, u32 to, u32 by, u32 *sum)
{
    if (!n)
        return 0;
    u32 moves = hanoi(n - 1, from, by, to, sum);
    *sum = *sum * 3 + from * 4 + to;
    return moves + 1 + hanoi(n - 1, by, to, from, sum);
}

KERNEL(recursion_with_pointers)
{
    u32 sum = i;
    y[0] = hanoi(x[0] % 6, 0, 1, 2, &sum);
    y[1] = sum;
    for (u32 k = 2; k < 8; k++)
        y[k] = x[k] + sum;
}

typedef u32 operation(u32, u32);
FN NOINLINE u32 op_add(u32 a, u32 b) { return a + b; }
FN NOINLINE u32 op_xor(u32 a, u32 b) { return a ^ b << 1; }
FN NOINLINE u32 op_mix(u32 a, u32 b) { return (a | 1) * b + (a >> 7); }
FN NOINLINE u32 op_max(u32 a, u32 b) { return a > b ? a : b; }

FN NOINLINE u32 fold(operation *f, const u32 *x, u32 from)
{
    for (u32 k = 0; k < 8; k++)
        from = f(from, x[k]);
    return from;
}

KERNEL(function_pointers)
{
    operation *const table[4] = {op_add, op_xor, op_mix, op_max};
    for (u32 k = 0; k < 4; k++)
        y[k] = table[(x[k] + i) & 3](x[k], x[k + 4]);
    for (u32 k = 4; k < 8; k++)
        y[k] = fold(table[k & 3], x, k); /* the same in all lanes: clang 19 takes it for that */
}

FN NOINLINE u32 many(u32 a, u32 b, u32 c, u64 d, u8 e, i16 f, u32 g, u64 h, u32 j, u32 k, u32 l, f32 m,
                     u32 n, u32 o, f64 p, u32 q, u32 r, u32 s, u32 t, u32 u, u32 v, u32 w, u32 z,
                     u32 a2, u32 b2, u32 c2, u32 d2, u32 e2, u32 f2, u32 g2, u32 h2, u32 i2, u32 j2)
{
    return a + b * 2 + c * 3 + (u32)(d >> 5) + e + (u32)(i32)f + g * 5 + (u32)h + j * 7 + k + l * 11
           + bits(m) + n * 13 + o + (u32)(i32)p + q * 17 + r + s * 19 + t + u * 23 + v + w * 29 + z
           + a2 * 31 + b2 + c2 * 37 + d2 + e2 * 41 + f2 + g2 * 43 + h2 + i2 * 47 + j2;
}

KERNEL(many_arguments)
{
    for (u32 k = 0; k < 8; k++)
        y[k] = many(x[0], x[1], k, wide(x), (u8)x[2], (i16)x[3], x[4], wide(x + 4), x[5], x[6], x[7],
                    real(x[0]), i, x[1], real64(x[2]) / 65536, x[3], k, x[4], x[5], x[6], x[7], x[0], x[1],
                    x[2], x[3], x[4], x[5], x[6], x[7], x[0], k, x[1], x[2]);
}

/* Sizes that only the program knows. */
KERNEL(dynamic_stack)
{
    u32 n = 4 + (i >> 6) * 4, sum = 0; /* the same in all lanes */
    u32 own[20];
    for (u32 k = 0; k < n; k++)
        own[k] = x[k & 7] + k;
    for (u32 k = 0; k < n; k++)
        sum = sum * 31 + own[n - 1 - k];
    for (u32 k = 0; k < 8; k++)
        y[k] = sum ^ own[k % n];
}

/* ---- loops that end where each lane ends ---- */

KERNEL(collatz)
{
    u32 v = x[0] % 10000 + 1, steps = 0, most = v;
    while (v != 1 && steps < 300) {
        v = v & 1 ? 3 * v + 1 : v / 2;
        most = v > most ? v : most;
        steps++;
    }
    y[0] = steps, y[1] = most;
    u32 a = x[1] | 1, b = x[2] | 1; /* greatest common divisor */
    while (b) {
        u32 t = a % b;
        a = b, b = t;
    }
    y[2] = a;
    u64 r = 0, n = wide(x + 3); /* square root */
    for (u64 bit = 1ull << 62; bit; bit >>= 2) {
        if (n >= r + bit)
            n -= r + bit, r = (r >> 1) + bit;
        else
            r >>= 1;
    }
    put_wide(y + 3, r);
    u64 base = x[5] % 1000003, power = 1; /* power in a ring */
    for (u32 e = x[6] & 0xffff; e; e >>= 1) {
        power = e & 1 ? power * base % 1000003 : power;
        base = base * base % 1000003;
    }
    put_wide(y + 5, power);
    y[7] = i;
}

KERNEL(checksums)
{
    const u8 *raw = (const u8 *)x;
    u32 crc = ~0u, fnv = 2166136261u, a = 1, b = 0, length = x[0] & 31;
    for (u32 k = 0; k < length; k++) {
        crc ^= raw[k];
        for (u32 bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
        fnv = (fnv ^ raw[k]) * 16777619u;
        a = (a + raw[k]) % 65521, b = (b + a) % 65521;
    }
    y[0] = ~crc, y[1] = fnv, y[2] = b << 16 | a;
    u64 h = 0xcbf29ce484222325ull;
    for (u32 k = 0; k < 8; k++)
        h = (h ^ x[k]) * 0x100000001b3ull;
    put_wide(y + 3, h);
    u32 m = x[0] ^ 0x9747b28cu;
    for (u32 k = 0; k < 8; k++)
        m = (m ^ x[k] * 0xcc9e2d51u) << 13 | (m ^ x[k] * 0xcc9e2d51u) >> 19, m = m * 5 + 0xe6546b64u;
    y[5] = m;
    u64 s = wide(x) | 1;
    s ^= s << 13, s ^= s >> 7, s ^= s << 17;
    put_wide(y + 6, s);
}

KERNEL(sha_rounds)
{
    u32 w[64], a[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
#define ROTATE(v, n) ((v) >> (n) | (v) << (32 - (n)))
    for (u32 k = 0; k < 16; k++)
        w[k] = x[k & 7] + k;
    for (u32 k = 16; k < 64; k++)
        w[k] = w[k - 16] + w[k - 7] + (ROTATE(w[k - 15], 7) ^ ROTATE(w[k - 15], 18) ^ w[k - 15] >> 3)
               + (ROTATE(w[k - 2], 17) ^ ROTATE(w[k - 2], 19) ^ w[k - 2] >> 10);
    for (u32 k = 0; k < 64; k++) {
        u32 t = a[7] + (ROTATE(a[4], 6) ^ ROTATE(a[4], 11) ^ ROTATE(a[4], 25))
                + ((a[4] & a[5]) ^ (~a[4] & a[6])) + w[k] + 0x428a2f98 * (k + 1);
        u32 s = (ROTATE(a[0], 2) ^ ROTATE(a[0], 13) ^ ROTATE(a[0], 22))
                + ((a[0] & a[1]) ^ (a[0] & a[2]) ^ (a[1] & a[2]));
        for (u32 j = 7; j > 0; j--)
            a[j] = a[j - 1];
        a[4] += t, a[0] = t + s;
    }
    for (u32 k = 0; k < 8; k++)
        y[k] = a[k];
}

KERNEL(sieve_and_search)
{
    u8 sieve[200] = {};
    u32 primes[50], count = 0;
    for (u32 k = 2; k < 200; k++) {
        if (sieve[k])
            continue;
        primes[count++] = k;
        for (u32 j = k * k; j < 200; j += k)
            sieve[j] = 1;
    }
    y[0] = count;
    for (u32 k = 1; k < 8; k++) { /* binary search */
        u32 low = 0, high = count, wanted = x[k] % 211;
        while (low < high) {
            u32 mid = (low + high) / 2;
            if (primes[mid] < wanted)
                low = mid + 1;
            else
                high = mid;
        }
        y[k] = low;
    }
}

KERNEL(strings)
{
    char digits[24];
    u32 length = 0, out = 0;
    u64 v = wide(x);
    do
        digits[length++] = (char)('0' + v % 10), v /= 10;
    while (v);
    for (u32 k = 0; k < length / 2; k++) {
        char t = digits[k];
        digits[k] = digits[length - 1 - k], digits[length - 1 - k] = t;
    }
    y[0] = length;
    for (u32 k = 0; k < length; k++)
        out = out * 31 + (u32)digits[k];
    y[1] = out;
    v = 0;
    for (u32 k = 0; k < length; k++)
        v = v * 10 + (u64)(digits[k] - '0');
    put_wide(y + 2, v);
    const u8 *raw = (const u8 *)x;
    u32 spaces = 0, words = 0;
    for (u32 k = 0; k < 32; k++)
        spaces += raw[k] == 0, words += k && raw[k] > raw[k - 1];
    y[4] = spaces, y[5] = words;
    TABLE char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    y[6] = (u32)base64[x[6] & 63] << 16 | (u32)base64[x[6] >> 6 & 63] << 8 | (u32)base64[x[7] & 63];
    y[7] = raw[x[7] & 31];
}

KERNEL(dynamic_programming)
{
    const u8 *a = (const u8 *)x, *b = a + 16;
    u8 row[17];
    for (u32 k = 0; k < 17; k++)
        row[k] = (u8)k;
    for (u32 r = 1; r <= 16; r++) { /* edit distance */
        u8 corner = row[0];
        row[0] = (u8)r;
        for (u32 c = 1; c <= 16; c++) {
            u8 best = (u8)(corner + ((a[r - 1] & 3) != (b[c - 1] & 3)));
            best = best < row[c] + 1 ? best : (u8)(row[c] + 1);
            best = best < row[c - 1] + 1 ? best : (u8)(row[c - 1] + 1);
            corner = row[c], row[c] = best;
        }
    }
    for (u32 k = 0; k < 8; k++)
        y[k] = row[k * 2 + 1];
}

KERNEL(big_numbers)
{
    u32 a[8], b[8], product[16] = {};
    for (u32 k = 0; k < 8; k++)
        a[k] = x[k], b[k] = ~x[7 - k];
    for (u32 k = 0; k < 8; k++) {
        u64 carry = 0;
        for (u32 j = 0; j < 8; j++) {
            carry += (u64)a[k] * b[j] + product[k + j];
            product[k + j] = (u32)carry, carry >>= 32;
        }
        product[k + 8] = (u32)carry;
    }
    u64 rest = 0;
    for (u32 k = 16; k-- > 0;) { /* divided by a small one */
        rest = rest << 32 | product[k];
        product[k] = (u32)(rest / 1000000007u), rest %= 1000000007u;
    }
    for (u32 k = 0; k < 8; k++)
        y[k] = product[k] ^ product[15 - k];
    y[7] = (u32)rest;
}

KERNEL(fixed_point)
{
    i32 angle = (i32)(x[0] % 102943) - 51471, c = 39797, s = 0; /* CORDIC, 16 bits of fraction */
    TABLE i32 arcs[16] = {51472, 30386, 16055, 8150, 4091, 2047, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 2};
    for (int k = 0; k < 16; k++) {
        i32 dc = s >> k, ds = c >> k;
        if (angle >= 0)
            c -= dc, s += ds, angle -= arcs[k];
        else
            c += dc, s -= ds, angle += arcs[k];
    }
    y[0] = (u32)c, y[1] = (u32)s, y[2] = (u32)angle;
    i64 product = (i64)(i32)x[1] * (i32)x[2] >> 16;
    put_wide(y + 3, (u64)product);
    y[5] = (u32)(((i64)(i32)x[3] << 16) / ((i32)x[4] | 1));
    y[6] = (u32)((i32)x[5] / 3 * 7 + (i32)x[6] % 11);
    y[7] = (u32)__builtin_elementwise_abs((i32)x[7] | 1);
}

KERNEL(life)
{
    u64 cells = wide(x) ^ wide(x + 2) << 5;
    for (u32 generation = 0; generation < 4; generation++) {
        u64 next = 0;
        for (u32 at = 0; at < 64; at++) {
            u32 neighbours = 0;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++)
                    if (dx || dy)
                        neighbours += (u32)(cells >> (((at / 8 + (u32)dy) & 7) * 8 + ((at + (u32)dx) & 7)) & 1);
            next |= (u64)(neighbours == 3 || (neighbours == 2 && (cells >> at & 1))) << at;
        }
        cells = next;
        y[generation * 2] = (u32)cells, y[generation * 2 + 1] = (u32)(cells >> 32);
    }
}

KERNEL(heap_and_bubble)
{
    u32 a[16];
    for (u32 k = 0; k < 16; k++)
        a[k] = x[k & 7] ^ k * 0x9e3779b9u;
    for (u32 k = 1; k < 16; k++) /* into a heap */
        for (u32 at = k; at && a[(at - 1) / 2] < a[at]; at = (at - 1) / 2) {
            u32 t = a[at];
            a[at] = a[(at - 1) / 2], a[(at - 1) / 2] = t;
        }
    y[0] = a[0], y[1] = a[1] ^ a[2];
    bool swapped = true;
    u32 rounds = 0;
    while (swapped) {
        swapped = false;
        rounds++;
        for (u32 k = 0; k + 1 < 16; k++)
            if (a[k] > a[k + 1]) {
                u32 t = a[k];
                a[k] = a[k + 1], a[k + 1] = t;
                swapped = true;
            }
    }
    y[2] = rounds;
    for (u32 k = 3; k < 8; k++)
        y[k] = a[k * 2];
}
