// A transformer's decode: tokens one after another for 16 sequences at once, each by products of
// matrices and vectors and by attention to all positions before it, so attention grows from token
// to token. Weights are random. The last token's scores of one sequence are compared with the
// host's, which takes keys and values of earlier positions from the device.
// Arguments: [width] [layers] [tokens] [seed].
#include "check.hpp"

constexpr int sequences = 16, head = 64, words = 512;

// out[s][row] = sum of weights[row][k] * x[s][k], added to what is there if `add`. A wavefront takes
// a row, for all sequences.
__global__ void product(const float *weights, const float *x, float *out, int out_stride, int rows,
                        int columns, bool add)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / wave, lane = threadIdx.x % wave;
    float sum[sequences] = {};
    if (row >= rows) {
        return;
    }
    for (int k = lane; k < columns; k += wave) {
        float weight = weights[row * columns + k];
        for (int s = 0; s < sequences; s++) {
            sum[s] = fmaf(weight, x[s * columns + k], sum[s]);
        }
    }
    for (int s = 0; s < sequences; s++) {
        for (int half = wave / 2; half > 0; half /= 2) {
            sum[s] += __shfl_xor(sum[s], half);
        }
        if (lane == s) {
            float *to = out + s * out_stride + row;
            *to = add ? *to + sum[s] : sum[s];
        }
    }
}

__device__ float wave_sum(float value)
{
    for (int half = wave / 2; half > 0; half /= 2) {
        value += __shfl_xor(value, half);
    }
    return value;
}

__device__ float wave_max(float value)
{
    for (int half = wave / 2; half > 0; half /= 2) {
        value = fmaxf(value, __shfl_xor(value, half));
    }
    return value;
}

// Root mean square becomes 1. A wavefront takes a sequence.
__global__ void normalise(const float *x, float *out, int width)
{
    x += blockIdx.x * width;
    out += blockIdx.x * width;
    float squares = 0;
    for (int i = threadIdx.x; i < width; i += wave) {
        squares = fmaf(x[i], x[i], squares);
    }
    float scale = rsqrtf(wave_sum(squares) / width + 1e-5f);
    for (int i = threadIdx.x; i < width; i += wave) {
        out[i] = x[i] * scale;
    }
}

// A wavefront takes a head of a sequence. Caches: [sequence][position][width].
__global__ void attend(const float *query, const float *keys, const float *values, float *out,
                       int count, int most, int width)
{
    extern __shared__ float score[];
    int s = blockIdx.y, at = blockIdx.x * head, lane = threadIdx.x;
    const float *q = query + s * width + at;
    float largest = -INFINITY, sum = 0;
    for (int j = lane; j < count; j += wave) {
        const float *k = keys + (s * most + j) * width + at;
        float dot = 0;
        for (int i = 0; i < head; i++) {
            dot = fmaf(q[i], k[i], dot);
        }
        score[j] = dot / 8;
        largest = fmaxf(largest, score[j]);
    }
    largest = wave_max(largest);
    for (int j = lane; j < count; j += wave) {
        score[j] = __expf(score[j] - largest);
        sum += score[j];
    }
    sum = wave_sum(sum);
    __syncthreads();
    for (int i = lane; i < head; i += wave) {
        float mixed = 0;
        for (int j = 0; j < count; j++) {
            mixed = fmaf(score[j], values[(s * most + j) * width + at + i], mixed);
        }
        out[s * width + at + i] = mixed / sum;
    }
}

__global__ void gate(float *a, const float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        a[i] = a[i] / (1 + __expf(-a[i])) * b[i];
    }
}

// The word with the highest score, the first of these; and its row of the table. A wavefront takes
// a sequence.
__global__ void choose(const float *scores, const float *table, float *x, int width)
{
    int s = blockIdx.x, lane = threadIdx.x, word = lane;
    for (int i = lane; i < words; i += wave) {
        word = scores[s * words + i] > scores[s * words + word] ? i : word;
    }
    float best = wave_max(scores[s * words + word]);
    int candidate = scores[s * words + word] == best ? word : words;
    for (int half = wave / 2; half > 0; half /= 2) {
        candidate = min(candidate, __shfl_xor(candidate, half));
    }
    for (int i = lane; i < width; i += wave) {
        x[s * width + i] = table[candidate * width + i];
    }
}

enum matrix { QUERY, KEY, VALUE, OUTPUT, GATE, UP, DOWN, MATRICES };

struct model {
    int width, inner, layers;
    std::vector<std::vector<float>> weights; // layers * MATRICES, then the table of words
    std::vector<float *> device;
};

static model make_model(int width, int layers, random_source &random)
{
    model m{width, 11 * width / 4, layers, {}, {}};
    for (int i = 0; i <= layers * MATRICES; i++) {
        int kind = i < layers * MATRICES ? i % MATRICES : MATRICES;
        int longer = kind == MATRICES ? words : kind >= GATE ? m.inner : width;
        std::vector<float> own(size_t(longer) * width);
        for (float &value : own) {
            value = random.small() / 8 / std::sqrt(float(width));
        }
        m.weights.push_back(own);
        m.device.push_back(to_device(own));
    }
    return m;
}

struct state {
    float *x, *normal, *query, *mixed, *inner, *up, *scores;
    std::vector<float *> keys, values; // of a layer
};

static void multiply(const float *weights, const float *x, float *out, int stride, int rows,
                     int columns, bool add = false)
{
    product<<<blocks_for(rows, 4), 4 * wave>>>(weights, x, out, stride, rows, columns, add);
}

static void decode(const model &m, const state &t, int position, int most)
{
    int width = m.width, cached = most * width, at = position * width;
    for (int l = 0; l < m.layers; l++) {
        const float *const *w = &m.device[l * MATRICES];
        normalise<<<sequences, wave>>>(t.x, t.normal, width);
        multiply(w[QUERY], t.normal, t.query, width, width, width);
        multiply(w[KEY], t.normal, t.keys[l] + at, cached, width, width);
        multiply(w[VALUE], t.normal, t.values[l] + at, cached, width, width);
        attend<<<dim3(width / head, sequences), wave, most * sizeof(float)>>>(
            t.query, t.keys[l], t.values[l], t.mixed, position + 1, most, width);
        multiply(w[OUTPUT], t.mixed, t.x, width, width, width, true);
        normalise<<<sequences, wave>>>(t.x, t.normal, width);
        multiply(w[GATE], t.normal, t.inner, m.inner, m.inner, width);
        multiply(w[UP], t.normal, t.up, m.inner, m.inner, width);
        gate<<<blocks_for(sequences * m.inner, 256), 256>>>(t.inner, t.up, sequences * m.inner);
        multiply(w[DOWN], t.inner, t.x, width, width, m.inner, true);
    }
    normalise<<<sequences, wave>>>(t.x, t.normal, width);
    multiply(m.device.back(), t.normal, t.scores, words, words, width);
}

// ---- on the host, of one sequence ----

using vec = std::vector<double>;

static vec host_product(const std::vector<float> &weights, const vec &x)
{
    vec out(weights.size() / x.size());
    for (size_t row = 0; row < out.size(); row++) {
        for (size_t k = 0; k < x.size(); k++) {
            out[row] += weights[row * x.size() + k] * x[k];
        }
    }
    return out;
}

static vec host_normal(const vec &x)
{
    double squares = 0;
    for (double value : x) {
        squares += value * value;
    }
    vec out = x;
    for (double &value : out) {
        value /= std::sqrt(squares / x.size() + 1e-5);
    }
    return out;
}

static vec host_attend(const vec &query, const std::vector<float> &keys,
                       const std::vector<float> &values, int count)
{
    size_t width = query.size();
    vec out(width);
    for (size_t at = 0; at < width; at += head) {
        vec score(count);
        double sum = 0;
        for (int j = 0; j < count; j++) {
            for (int i = 0; i < head; i++) {
                score[j] += query[at + i] * keys[j * width + at + i];
            }
            sum += score[j] = std::exp(score[j] / 8);
        }
        for (int j = 0; j < count; j++) {
            for (int i = 0; i < head; i++) {
                out[at + i] += score[j] / sum * values[j * width + at + i];
            }
        }
    }
    return out;
}

static void host_add(vec &x, const vec &more)
{
    for (size_t i = 0; i < x.size(); i++) {
        x[i] += more[i];
    }
}

// Scores behind the embedded word `x`; keys and values of its own position are the device's, too.
static vec host_decode(const model &m, const state &t, vec x, int position)
{
    std::vector<float> keys((position + 1) * m.width), values(keys.size());
    for (int l = 0; l < m.layers; l++) {
        const std::vector<float> *w = &m.weights[l * MATRICES];
        from_device(keys, t.keys[l]);
        from_device(values, t.values[l]);
        vec query = host_product(w[QUERY], host_normal(x));
        host_add(x, host_product(w[OUTPUT], host_attend(query, keys, values, position + 1)));
        vec normal = host_normal(x), inner = host_product(w[GATE], normal);
        vec up = host_product(w[UP], normal);
        for (size_t i = 0; i < inner.size(); i++) {
            inner[i] *= up[i] / (1 + std::exp(-inner[i]));
        }
        host_add(x, host_product(w[DOWN], inner));
    }
    return host_product(m.weights.back(), host_normal(x));
}

int main(int argc, char **argv)
{
    int width = size_argument(argc, argv, 1, 1) * head, layers = size_argument(argc, argv, 2, 1);
    int tokens = size_argument(argc, argv, 3, 2);
    random_source random;
    random.state += 7919u * size_argument(argc, argv, 4, 1);
    model m = make_model(width, layers, random);
    state t;
    for (float **one : {&t.x, &t.normal, &t.query, &t.mixed}) {
        *one = device_zeros<float>(sequences * width);
    }
    t.inner = device_zeros<float>(sequences * m.inner);
    t.up = device_zeros<float>(sequences * m.inner);
    for (int l = 0; l < layers; l++) {
        t.keys.push_back(device_zeros<float>(sequences * tokens * width));
        t.values.push_back(device_zeros<float>(sequences * tokens * width));
    }
    std::vector<float> scores(sequences * words), x(width);
    for (float &value : scores) {
        value = random.small();
    }
    t.scores = to_device(scores);
    for (int position = 0; position < tokens; position++) {
        choose<<<sequences, wave>>>(t.scores, m.device.back(), t.x, width);
        if (position + 1 == tokens) {
            from_device(x, t.x);
        }
        decode(m, t, position, tokens);
    }
    HIP_MUST(hipGetLastError());
    from_device(scores, t.scores);
    vec sums = host_decode(m, t, {x.begin(), x.end()}, tokens - 1);
    std::vector<float> want(sums.begin(), sums.end());
    return near_or_report("decode", scores, want, 1e-3) ? pass("decode") : 1;
}
