// The kernels of a transformer of Llama's kind. Matrices are kept as W: float, _Float16, bf16, or
// int8_t with a scale for each group of 32 in a row. Products are taken of operands
// (operand_of<W>), which a kernel in front of a product rounds to, and summed in fp32; so each
// target gets the same numbers but for the order of sums. Columns of what products use are padded
// with zeros to multiples of 64, rows of matrices to 256 and tokens to 128, so no product looks for
// an end.
#pragma once

#include <cstdint>

#include <hip/hip_runtime.h>

struct bf16 {
    uint16_t bits;
};

template <typename W> struct operand_of {
    using type = W;
};
template <> struct operand_of<int8_t> {
    using type = _Float16;
};
template <typename W> using operand = typename operand_of<W>::type;

constexpr int group = 32, column_padding = 64;

template <typename W> struct matrix {
    const W *values;
    const float *scales; // of int8_t; see scale_at()
    int rows, pitch;
};

// Scales lie by fours of rows: those of the first group, of the second group ...
__host__ __device__ inline size_t scale_at(size_t row, size_t column, size_t pitch)
{
    return (row / 4 * (pitch / group) + column / group) * 4 + row % 4;
}

__host__ __device__ inline float to_float(float x)
{
    return x;
}

__host__ __device__ inline float to_float(_Float16 x)
{
    return static_cast<float>(x);
}

__host__ __device__ inline float to_float(bf16 x)
{
    return __builtin_bit_cast(float, static_cast<uint32_t>(x.bits) << 16);
}

template <typename T> __host__ __device__ inline T rounded(float x)
{
    return static_cast<T>(x);
}

template <> __host__ __device__ inline bf16 rounded<bf16>(float x) // to nearest, ties to even
{
    uint32_t bits = __builtin_bit_cast(uint32_t, x);
    return {static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

template <typename T> struct alignas(8 * sizeof(T)) eight {
    T at[8];
};

template <typename T> __device__ eight<T> load_eight(const T *from)
{
    return *reinterpret_cast<const eight<T> *>(from);
}

// Small integers are exact in half precision.
__device__ inline eight<_Float16> load_eight(const int8_t *from)
{
    eight<int8_t> bytes = *reinterpret_cast<const eight<int8_t> *>(from);
    eight<_Float16> halves;
    for (int i = 0; i < 8; i++) {
        halves.at[i] = static_cast<_Float16>(bytes.at[i]);
    }
    return halves;
}

// The sum over `lanes` neighbouring lanes, in each of them.
__device__ inline float sum_over(float x, int lanes)
{
    for (int distance = lanes / 2; distance > 0; distance /= 2) {
        x += __shfl_xor(x, distance);
    }
    return x;
}

// The sum over a work-group of at most 1024 work-items, in each of them.
__device__ inline float sum_over_group(float x)
{
    __shared__ float parts[16];
    x = sum_over(x, 64);
    parts[threadIdx.x / 64] = x;
    __syncthreads();
    x = 0;
    for (int wave = 0; wave < static_cast<int>(blockDim.x) / 64; wave++) {
        x += parts[wave];
    }
    return x;
}

// Rows of the table for tokens; a work-group each.
template <typename W>
__global__ void embed(float *x, const int *tokens, matrix<W> table, int columns, int x_pitch)
{
    size_t row = tokens[blockIdx.x];
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        size_t at = row * table.pitch + i, to = static_cast<size_t>(blockIdx.x) * x_pitch + i;
        if constexpr (sizeof(W) == 1) {
            x[to] = table.values[at] * table.scales[scale_at(row, i, table.pitch)];
        } else {
            x[to] = to_float(table.values[at]);
        }
    }
}

// y = x / sqrt(mean(x * x) + epsilon) * weight; a work-group for each token.
template <typename T>
__global__ void rmsnorm(T *y, const float *x, const float *weight, int columns, int y_pitch,
                        int x_pitch, float epsilon)
{
    x += static_cast<size_t>(blockIdx.x) * x_pitch;
    y += static_cast<size_t>(blockIdx.x) * y_pitch;
    float squares = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        squares += x[i] * x[i];
    }
    float scale = 1 / sqrtf(sum_over_group(squares) / columns + epsilon);
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        y[i] = rounded<T>(weight[i] * (x[i] * scale));
    }
}

constexpr int gemv_items = 256, gemv_each = 4, gemv_rows = gemv_items / 64 * gemv_each;

// out = w * x, and `add` if there is one, for a token. A wavefront makes four rows, so that it has
// four loads of weights under way.
template <typename W>
__global__ __launch_bounds__(gemv_items) void gemv(float *out, const float *add, int out_pitch,
                                                   const operand<W> *x, matrix<W> w)
{
    constexpr int each = gemv_each;
    size_t token = blockIdx.y;
    x += token * w.pitch;
    out += token * out_pitch;
    int lane = threadIdx.x % 64, first = (blockIdx.x * blockDim.x + threadIdx.x) / 64 * each;
    const W *row = w.values + static_cast<size_t>(first) * w.pitch;
    float sum[each] = {};
    for (int k = 8 * lane; k < w.pitch; k += 8 * 64) {
        eight<operand<W>> b = load_eight(x + k), a[each];
        for (int r = 0; r < each; r++) {
            a[r] = load_eight(row + static_cast<size_t>(r) * w.pitch + k);
        }
        for (int r = 0; r < each; r++) {
            float part = 0;
            for (int i = 0; i < 8; i++) {
                part += to_float(a[r].at[i]) * to_float(b.at[i]);
            }
            if constexpr (sizeof(W) == 1) {
                part *= w.scales[scale_at(first + r, k, w.pitch)];
            }
            sum[r] += part;
        }
    }
    for (int r = 0; r < each; r++) {
        float whole = sum_over(sum[r], 64);
        if (lane == 0 && first + r < w.rows) {
            out[first + r] = add ? add[token * out_pitch + first + r] + whole : whole;
        }
    }
}

typedef float floats16 __attribute__((ext_vector_type(16)));
typedef _Float16 halves4 __attribute__((ext_vector_type(4)));
typedef short shorts4 __attribute__((ext_vector_type(4)));

// Which of 32 rows the r-th of a lane's 16 sums belongs to; its column is that of the lane.
__device__ inline int row_of(int r, int lane)
{
    return 8 * (r / 4) + 4 * (lane / 32) + r % 4;
}

// A tile of 32 x 32 of a product grows by 8 columns of `a` and `b`, whose rows are `pitch` apart.
#if defined(__gfx90a__) || defined(__gfx942__)
template <int pitch>
__device__ floats16 multiply(const _Float16 *a, const _Float16 *b, floats16 sum, int lane)
{
    int at = lane % 32 * pitch + 4 * (lane / 32);
    return __builtin_amdgcn_mfma_f32_32x32x8f16(*reinterpret_cast<const halves4 *>(a + at),
                                                *reinterpret_cast<const halves4 *>(b + at), sum, 0,
                                                0, 0);
}

template <int pitch>
__device__ floats16 multiply(const bf16 *a, const bf16 *b, floats16 sum, int lane)
{
    int at = lane % 32 * pitch + 4 * (lane / 32);
    return __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(*reinterpret_cast<const shorts4 *>(a + at),
                                                    *reinterpret_cast<const shorts4 *>(b + at), sum,
                                                    0, 0, 0);
}

template <int pitch>
__device__ floats16 multiply(const float *a, const float *b, floats16 sum, int lane)
{
    int at = lane % 32 * pitch + lane / 32;
    for (int k = 0; k < 8; k += 2) {
        sum = __builtin_amdgcn_mfma_f32_32x32x2f32(a[at + k], b[at + k], sum, 0, 0, 0);
    }
    return sum;
}
#else
template <int pitch, typename T>
__device__ floats16 multiply(const T *a, const T *b, floats16 sum, int lane)
{
    eight<float> y;
    for (int k = 0; k < 8; k++) {
        y.at[k] = to_float(b[lane % 32 * pitch + k]);
    }
    for (int r = 0; r < 16; r++) {
        for (int k = 0; k < 8; k++) {
            sum[r] += to_float(a[row_of(r, lane) * pitch + k]) * y.at[k];
        }
    }
    return sum;
}
#endif

constexpr int gemm_tokens = 128, gemm_rows = 256, gemm_items = 512;

// out = w * x, and `add` if there is one, for many tokens: a work-group for 128 tokens and 256 rows
// of w, a wavefront for 64 of each, and for `share` columns; sums of such shares lie one behind the
// other in `out`. Tiles as deep as a line of 128 bytes go through LDS; what comes next is on its
// way in registers. Rows in LDS are 8 bytes longer, so that they begin in different banks.
template <typename W>
__global__ __launch_bounds__(gemm_items) void gemm(float *out, const float *add, int out_pitch,
                                                   const operand<W> *x, matrix<W> w, int share)
{
    using T = operand<W>;
    constexpr int depth = 128 / sizeof(T), pitch = depth + 8 / sizeof(T), vectors = depth / 8;
    constexpr int own_a = gemm_tokens * vectors / gemm_items,
                  own_b = gemm_rows * vectors / gemm_items;
    constexpr int together = sizeof(W) == 1 ? group : depth; // columns with one scale
    constexpr int groups = depth / together;
    alignas(16) __shared__ T a[gemm_tokens * pitch], b[gemm_rows * pitch];
    __shared__ float scales[sizeof(W) == 1 ? gemm_items : 1]; // groups of a row's part
    int item = threadIdx.x, lane = item % 64, own_token = item / 256 * 64,
        own_row = item / 64 % 4 * 64;
    int begin = blockIdx.z * share, end = begin + share < w.pitch ? begin + share : w.pitch;
    size_t token = blockIdx.y * gemm_tokens, row = blockIdx.x * gemm_rows;
    eight<T> next_a[own_a], next_b[own_b];
    float next_scale;
    auto fetch = [&](int k) {
        if constexpr (sizeof(W) == 1) {
            int scaled = item / (4 * groups) * 4 + item % 4;
            next_scale = w.scales[scale_at(row + scaled, k + item / 4 % groups * group, w.pitch)];
        }
        for (int i = 0; i < own_a; i++) {
            int at = item + i * gemm_items;
            next_a[i] = load_eight(x + (token + at / vectors) * w.pitch + k + at % vectors * 8);
        }
        for (int i = 0; i < own_b; i++) {
            int at = item + i * gemm_items;
            next_b[i] =
                load_eight(w.values + (row + at / vectors) * w.pitch + k + at % vectors * 8);
        }
    };
    auto keep = [&](T *to, const eight<T> *next, int count) {
        for (int i = 0; i < count; i++) {
            int at = item + i * gemm_items;
            __builtin_memcpy(to + at / vectors * pitch + at % vectors * 8, next + i, sizeof *next);
        }
    };
    floats16 sum[2][2] = {};
    fetch(begin);
    for (int k = begin; k < end; k += depth) {
        __syncthreads();
        keep(a, next_a, own_a);
        keep(b, next_b, own_b);
        if constexpr (sizeof(W) == 1) {
            scales[item] = next_scale;
        }
        __syncthreads();
        if (k + depth < end) {
            fetch(k + depth);
        }
        for (int from = 0; from < depth; from += together) {
#pragma unroll // what is indexed by a variable would lie in memory
            for (int tile = 0; tile < 4; tile++) {
                const T *tile_a = a + (own_token + tile / 2 * 32) * pitch;
                const T *tile_b = b + (own_row + tile % 2 * 32) * pitch;
                floats16 part = {}, &whole = sum[tile / 2][tile % 2];
                part = sizeof(W) == 1 ? part : whole;
                for (int at = from; at < from + together; at += 8) {
                    part = multiply<pitch>(tile_a + at, tile_b + at, part, lane);
                }
                if constexpr (sizeof(W) == 1) {
                    int scaled = own_row + tile % 2 * 32 + lane % 32;
                    part = whole
                           + part * scales[(scaled / 4 * groups + from / group) * 4 + scaled % 4];
                }
                whole = part;
            }
        }
    }
    out += static_cast<size_t>(blockIdx.z) * gridDim.y * gemm_tokens * out_pitch;
#pragma unroll
    for (int i = 0; i < 64; i++) {
        int tile = i / 16, r = i % 16;
        size_t at = (token + own_token + tile / 2 * 32 + row_of(r, lane)) * out_pitch + row
                    + own_row + tile % 2 * 32 + lane % 32;
        float one = sum[tile / 2][tile % 2][r];
        out[at] = add ? add[at] + one : one;
    }
}

typedef float floats4 __attribute__((ext_vector_type(4)));

// out = the sum of `parts` vectors that lie `apart`, and of `add` if there is one; in fours.
__global__ void sum_parts(floats4 *out, const floats4 *add, const floats4 *from, int parts,
                          size_t apart, size_t count)
{
    size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) {
        floats4 sum = add ? add[i] : floats4{};
        for (int part = 0; part < parts; part++) {
            sum += from[part * apart + i];
        }
        out[i] = sum;
    }
}

// Heads of a GPU, and what their queries, keys and values lie in: a row for each token, `pitch`
// apart. Queries share a head of keys and values in turn: query h has number h * kv_heads / heads.
struct attention_shape {
    int heads, kv_heads, head_size, pitch;
};

// Turns pairs of queries and keys by their position's angles (cosine, sine), and puts keys and
// values into the cache, [position][head][value]. A work-group for each token.
__global__ void rotate(float *qkv, float *keys, float *values, const float2 *turns, int start,
                       attention_shape of)
{
    int position = start + blockIdx.x, half = of.head_size / 2, kv = of.kv_heads * of.head_size;
    float *token = qkv + static_cast<size_t>(blockIdx.x) * of.pitch;
    float *first_key = token + of.heads * of.head_size;
    keys += static_cast<size_t>(position) * kv;
    values += static_cast<size_t>(position) * kv;
    for (int i = threadIdx.x; i < (of.heads + of.kv_heads) * half; i += blockDim.x) {
        float2 turn = turns[position * half + i % half];
        float x = token[2 * i], y = token[2 * i + 1];
        bool query = i < of.heads * half;
        float *to = query ? token + 2 * i : keys + 2 * (i - of.heads * half);
        to[0] = x * turn.x - y * turn.y;
        to[1] = x * turn.y + y * turn.x;
    }
    for (int i = threadIdx.x; i < kv; i += blockDim.x) {
        values[i] = first_key[kv + i];
    }
}

constexpr int team = 16; // lanes that share a position; each has some fours of its values
constexpr int longest_head = 128, fours = longest_head / team / 4;

// Softmax of the scores of positions so far, seen so far: their maximum, and, relative to it, the
// sum of their exponentials and that of the values times these.
struct running_softmax {
    float most = -3e38f, total = 0;
    floats4 mean[fours] = {};

    // Others have a maximum, a total and values that are relative to it.
    __device__ void join(float other_most, float other_total, const floats4 *other)
    {
        float larger = fmaxf(most, other_most);
        float own = __expf(most - larger), theirs = __expf(other_most - larger);
        total = total * own + other_total * theirs;
        for (int j = 0; j < fours; j++) {
            mean[j] = mean[j] * own + other[j] * theirs;
        }
        most = larger;
    }
};

// y = softmax(q * keys / sqrt(size)) * values; a work-group for each head and `each` tokens, whose
// teams share the positions, and at the end join what they have.
template <int each, typename T>
__global__ __launch_bounds__(256) void attention(T *y, int y_pitch, const float *qkv,
                                                 const float *keys, const float *values, int start,
                                                 int tokens, attention_shape of)
{
    __shared__ floats4 means[16][longest_head / 4];
    __shared__ float mosts[16], totals[16];
    int head = blockIdx.x, token = blockIdx.y * each, teams = blockDim.x / team;
    int lane = threadIdx.x % team, own = threadIdx.x / team, count = of.head_size / 4;
    int step = of.kv_heads * count, first = head * of.kv_heads / of.heads * count;
    int end = start + (token + each < tokens ? token + each : tokens);
    auto load = [&](floats4 *to, const float *from) {
        for (int j = 0; j < fours; j++) {
            int at = lane + j * team;
            to[j] = at < count ? reinterpret_cast<const floats4 *>(from)[at] : floats4{};
        }
    };
    floats4 query[each][fours], key[fours], value[fours];
    running_softmax sum[each];
    for (int t = 0; t < each; t++) {
        load(query[t], qkv + static_cast<size_t>(token + t) * of.pitch + head * of.head_size);
    }
    for (int position = own; position < end; position += teams) {
        size_t at = 4 * (static_cast<size_t>(position) * step + first);
        load(key, keys + at);
        load(value, values + at);
        for (int t = 0; t < each; t++) {
            floats4 products = {};
            for (int j = 0; j < fours; j++) {
                products += query[t][j] * key[j];
            }
            float score = sum_over(products.x + products.y + products.z + products.w, team);
            if (position <= start + token + t) {
                sum[t].join(score / sqrtf(of.head_size), 1, value);
            }
        }
    }
    for (int t = 0; t < each && token + t < tokens; t++) {
        for (int apart = teams / 2; apart > 0;
             apart /= 2) { // the upper half of the teams hands over
            if (own >= apart && own < 2 * apart) {
                for (int j = 0; j < fours; j++) {
                    means[own][lane + j * team] = sum[t].mean[j];
                }
                mosts[own] = sum[t].most;
                totals[own] = sum[t].total;
            }
            __syncthreads();
            if (own < apart) {
                for (int j = 0; j < fours; j++) {
                    value[j] = means[own + apart][lane + j * team];
                }
                sum[t].join(mosts[own + apart], totals[own + apart], value);
            }
            __syncthreads();
        }
        T *to = y + static_cast<size_t>(token + t) * y_pitch + head * of.head_size;
        for (int j = 0; j < fours && own == 0; j++) {
            for (int i = 0; i < 4 && lane + j * team < count; i++) {
                to[4 * (lane + j * team) + i] = rounded<T>(sum[t].mean[j][i] / sum[t].total);
            }
        }
    }
}

// y = gate / (1 + exp(-gate)) * up, of rows that have `columns` gates, then as many ups.
template <typename T>
__global__ void swiglu(T *y, const float *x, int columns, int y_pitch, int x_pitch)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x += static_cast<size_t>(blockIdx.y) * x_pitch;
    if (i < columns) {
        float gate = x[i], up = x[columns + i];
        y[static_cast<size_t>(blockIdx.y) * y_pitch + i] =
            rounded<T>(gate / (1 + __expf(-gate)) * up);
    }
}

// The index of the largest logit, of equal ones the first; by one work-group of 256.
__global__ void choose(int *token, const float *logits, int count)
{
    __shared__ float most[256];
    __shared__ int index[256];
    int item = threadIdx.x, best = item;
    for (int i = item; i < count; i += 256) {
        best = logits[i] > logits[best] ? i : best;
    }
    most[item] = item < count ? logits[best] : -3e38f;
    index[item] = best;
    for (int apart = 128; apart > 0; apart /= 2) {
        __syncthreads();
        int other = item + apart;
        if (item < apart
            && (most[other] > most[item]
                || (most[other] == most[item] && index[other] < index[item]))) {
            most[item] = most[other];
            index[item] = index[other];
        }
    }
    if (item == 0) {
        *token = index[0];
    }
}
