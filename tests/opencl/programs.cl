/* Whole small programs: control flow, private arrays, structures, unions, constant memory, calls. */
#include "prelude.h"

constant uint round_constants[8] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5,
                                    0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5};
constant char letters[] = "the quick brown fox jumps over the lazy dog";

kernel void programs_hailstone(global const uint *in, global uint *out)
{
    ulong x = in[get_global_id(0)] % 100000 + 1;
    uint steps = 0;
    ulong highest = x;
    while (x != 1) {
        x = x & 1 ? 3 * x + 1 : x >> 1;
        highest = max(highest, x);
        steps++;
    }
    int put = 0;
    PUT(steps);
    PUT((uint)highest);
    PUT((uint)(highest >> 32));
}

/* Nested loops that are left and begun again, a switch that falls through, a goto. */
kernel void programs_tangled(global const int *in, global int *out)
{
    int a = in[get_global_id(0)], sum = 0;
    for (int i = 0; i < 12; i++) {
        for (int j = i; j < 16; j += 1 + (a & 1)) {
            if (((a >> j) & 3) == 3) {
                continue;
            }
            if (sum > 5000) {
                goto enough;
            }
            switch ((a >> i) & 7) {
            case 0:
                sum += j;
                break;
            case 1:
                sum ^= i * 5;
            case 2:
                sum += 3;
                break;
            case 3:
                sum = -sum;
                break;
            case 5: {
                int k = 0;
                do {
                    k += i + 1;
                } while (k < j);
                sum += k;
                break;
            }
            case 6:
                if (i < j) {
                    goto next;
                }
                break;
            default:
                sum += (a >> 3) % (j + 1);
            }
        }
    next:
        sum += i & 1 ? 1 : -1;
    }
enough:
    out[get_global_id(0)] = sum;
}

/* A private array whose elements are chosen at run time: a permutation and its inverse. */
kernel void programs_permuted(global const uint *in, global uint *out)
{
    uint seed = in[get_global_id(0)];
    uchar order[32], inverse[32];
    for (uint k = 0; k < 32; k++) {
        order[k] = k;
    }
    for (uint k = 31; k > 0; k--) {
        seed = seed * 1664525u + 1013904223u;
        uint other = (seed >> 8) % (k + 1);
        uchar kept = order[k];
        order[k] = order[other];
        order[other] = kept;
    }
    for (uint k = 0; k < 32; k++) {
        inverse[order[k]] = k;
    }
    uint sum = 0;
    for (uint k = 0; k < 32; k++) {
        sum = sum * 31 + inverse[k] * 7 + order[inverse[k]];
    }
    out[get_global_id(0)] = sum;
}

struct inner {
    char tag;
    short2 at;
    union {
        float f;
        uint bits;
    } value;
};

struct outer {
    struct inner first[2];
    long total;
    uchar3 colour;
    ushort narrow;
    short signed_narrow;
};

static struct outer changed(struct outer o, int by)
{
    o.first[by & 1].tag += by;
    o.first[1].at = o.first[0].at.yx + (short2)(by, -by);
    o.first[0].value.bits ^= (uint)by << 3;
    o.total += o.first[by & 1].tag * (long)by;
    o.colour = o.colour.zxy + (uchar)1;
    o.narrow += by;
    o.signed_narrow -= by;
    return o;
}

kernel void programs_structures(global struct outer *all, struct outer pattern, global long *out)
{
    size_t i = get_global_id(0);
    struct outer o = changed(changed(pattern, (int)i), all[i].first[0].tag);
    o.total += all[i].total;
    o.first[1].value = all[i].first[1].value;
    all[i] = o;
    int put = 0;
    PUT(all[i].first[0].tag * 256 + all[i].first[1].tag);
    PUT(all[i].first[0].value.bits);
    PUT(all[i].first[1].value.bits);
    PUT(all[i].total);
    PUT(o.narrow * 1000 + o.signed_narrow);
    PUT(sizeof(struct outer) * 1000 + (o.colour.x | o.colour.y << 8));
    PUT(as_int(o.first[1].at));
}

static __attribute__((noinline)) uint rotated(uint x, uint by)
{
    return rotate(x, by) ^ (x >> 3);
}

static __attribute__((noinline)) void mixed(private uint *state, uint word, constant uint *k)
{
    uint e = state[4], f = state[5], g = state[6], h = state[7];
    uint t = h + rotated(e, 26) + ((e & f) ^ (~e & g)) + *k + word;
    for (int i = 7; i > 0; i--) {
        state[i] = state[i - 1];
    }
    state[4] += t;
    state[0] = t + rotated(state[1], 30);
}

kernel void programs_hashed(global const uint *in, global uint *out)
{
    size_t i = get_global_id(0);
    uint state[8];
    for (int k = 0; k < 8; k++) {
        state[k] = round_constants[7 - k] + i;
    }
    for (int k = 0; k < 24; k++) {
        mixed(state, in[(i + k) % get_global_size(0)], round_constants + (k & 7));
    }
    int put = 0;
    for (int k = 0; k < 8; k++) {
        PUT(state[k]);
    }
}

kernel void programs_letters(global const uchar *in, global uint *out)
{
    uint crc = 0xffffffff, found = 0;
    uchar wanted = in[get_global_id(0)];
    for (int k = 0; letters[k]; k++) {
        crc ^= letters[k] + wanted;
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
        }
        found += letters[k] == 'a' + wanted % 26;
    }
    int put = 0;
    PUT(~crc);
    PUT(found);
}

kernel void programs_mandelbrot(global uint *out, float left, float top, float step_size)
{
    float cx = left + get_global_id(0) * step_size, cy = top - get_global_id(1) * step_size;
    float x = 0, y = 0;
    uint n = 0;
    while (n < 60 && x * x + y * y < 4) {
        float next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
        n++;
    }
    out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = n;
}

/* Queens that do not attack each other, the first one where the work-item says. */
kernel void programs_queens(global uint *out)
{
    uint columns[8], first = get_global_id(0) % 7, count = 0;
    int row = 1;
    columns[0] = first;
    columns[1] = 0;
    while (row > 0) {
        if (columns[row] >= 7) {
            row--;
            columns[row]++;
            continue;
        }
        bool safe = true;
        for (int k = 0; k < row && safe; k++) {
            uint apart = abs_diff(columns[k], columns[row]);
            safe = apart != 0 && apart != (uint)(row - k);
        }
        if (!safe) {
            columns[row]++;
        } else if (row == 6) {
            count++;
            columns[row]++;
        } else {
            columns[++row] = 0;
        }
        if (row == 0) {
            break;
        }
    }
    out[get_global_id(0)] = count;
}

kernel void programs_filtered(global const float *in, constant float *taps, global float *out,
                              int count)
{
    size_t i = get_global_id(0);
    float sum = 0;
    for (int k = 0; k < count; k++) {
        sum = fma(taps[k], in[(i + k) % get_global_size(0)], sum);
    }
    out[i] = sum;
}

/* A system of equations over doubles, in private memory. */
kernel void programs_solved(global const double *in, global double *out)
{
    double m[5][6];
    size_t i = get_global_id(0);
    for (int r = 0; r < 5; r++) {
        for (int c = 0; c < 6; c++) {
            m[r][c] = in[(i * 30 + r * 6 + c) % 960] + (r == c ? 40 : 0);
        }
    }
    for (int k = 0; k < 5; k++) {
        for (int r = k + 1; r < 5; r++) {
            double factor = m[r][k] / m[k][k];
            for (int c = k; c < 6; c++) {
                m[r][c] -= factor * m[k][c];
            }
        }
    }
    for (int k = 4; k >= 0; k--) {
        double sum = m[k][5];
        for (int c = k + 1; c < 5; c++) {
            sum -= m[k][c] * m[c][5];
        }
        m[k][5] = sum / m[k][k];
        out[k * get_global_size(0) + i] = m[k][5];
    }
}

kernel void programs_arguments(char a, uchar b, short c, ushort d, int e, uint f, long g, ulong h,
                               float x, double y, char3 v3, int4 v4, float2 v2, long2 w2,
                               global long *out)
{
    long sum = a + b * 2 + c * 3 + d * 4 + e * 5L + f * 6L + g * 7 + (long)h * 8 + (long)(x * 16) +
               (long)(y * 32) + v3.x + v3.y * 2 + v3.z * 3 + v4.x - v4.y + v4.z - v4.w +
               (long)(v2.x * 8 - v2.y * 4) + w2.x * 5 - w2.y;
    out[get_global_id(0)] = sum * (long)(get_global_id(0) + 1);
}

/* 16 doubles at once: more registers than there are, so that some are spilled. */
kernel void programs_spilled(global const double16 *in, global double16 *out)
{
    size_t i = get_global_id(0);
    double16 a[6];
    for (int k = 0; k < 6; k++) {
        a[k] = in[(i + k * 7) % get_global_size(0)];
    }
    for (int round_ = 0; round_ < 3; round_++) {
        for (int k = 0; k < 6; k++) {
            a[k] = a[k] * 0.5 + a[(k + 1) % 6].s89abcdef01234567 - a[(k + 5) % 6].s76543210fedcba98;
        }
    }
    double16 sum = a[0] + a[1] * 2.0 + a[2] * 4.0 + a[3] + a[4] * 0.25 + a[5];
    out[i] = sum;
}
