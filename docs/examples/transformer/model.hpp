// A transformer of Llama's kind on some GPUs, which share its heads, its hidden values and its
// words (tensor parallel): weights, activations, and the kernels of a step in their order. Each GPU
// has a stream, and the host waits for none of them.
#pragma once

#include "checkpoint.hpp"
#include "collectives.hpp"
#include "kernels.hpp"

static inline int padded(int64_t n, int to = column_padding)
{
    return static_cast<int>((n + to - 1) / to * to);
}

static inline int padded_rows(int64_t n)
{
    return padded(n, gemm_rows);
}

// Memory of the current GPU, which is given back with the owner.
class device_memory
{
  public:
    device_memory() = default;
    device_memory(const device_memory &) = delete;

    ~device_memory()
    {
        for (void *each : all) {
            HIP_MUST(hipFree(each));
        }
    }

    template <typename T> void allocate(T *&memory, size_t count)
    {
        HIP_MUST(hipMalloc(&memory, count * sizeof(T)));
        all.push_back(memory);
    }

    template <typename T> void allocate_zeros(T *&memory, size_t count)
    {
        allocate(memory, count);
        HIP_MUST(hipMemset(memory, 0, count * sizeof(T)));
    }

    template <typename T> T *copy(const std::vector<T> &host)
    {
        T *memory;
        allocate(memory, host.size());
        HIP_MUST(hipMemcpy(memory, host.data(), host.size() * sizeof(T), hipMemcpyHostToDevice));
        return memory;
    }

  private:
    std::vector<void *> all;
};

// Rows [first, first + rows) of a tensor, and columns of these.
struct piece {
    tensor of;
    int64_t first, rows, first_column, columns;
};

// What a GPU has of a model's heads, hidden values and logits.
struct share {
    int64_t heads, kv_heads, hidden, vocabulary;
};

template <typename W> struct layer_weights {
    matrix<W> qkv, output, gate_up, down;
    const float *attention_norm, *ffn_norm;
};

// Weights and activations of one GPU.
template <typename W> struct gpu_state {
    std::vector<layer_weights<W>> layers;
    matrix<W> table, classifier;
    const float *final_norm;
    const float2 *turns;
    int *tokens;                           // at all positions
    float *x, *qkv, *gate_up, *logits;     // sums of products
    float *parts;                          // of sums
    operand<W> *normed, *attended, *gated; // what enters products
    float *keys, *values;                  // the cache, layer after layer
};

template <typename W> class transformer
{
  public:
    transformer(const weight_source &source, int gpus, int most_tokens)
        : source(source), of(source.shape), ring(gpus), gpu(gpus)
    {
        own = {of.heads / gpus, std::max(1, of.kv_heads / gpus), of.hidden / gpus,
               of.vocabulary / gpus};
        HIP_MUST(hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, 0));
        for (int d = 0; d < gpus; d++) {
            HIP_MUST(hipSetDevice(d));
            load(d);
            make_room(d, padded(most_tokens, gemm_tokens));
        }
    }

    // Puts `count` tokens, which begin at position `start`, through the model, and the next token
    // behind them.
    void step(int start, int count)
    {
        each([&](int d, hipStream_t s) {
            embed<W><<<count, 256, 0, s>>>(gpu[d].x, gpu[d].tokens + start, gpu[d].table, of.dim,
                                           padded_rows(of.dim));
        });
        for (int layer = 0; layer < of.layers; layer++) {
            each([&](int d, hipStream_t s) { attend(d, layer, start, count, s); });
            sum(count);
            each([&](int d, hipStream_t s) { feed_forward(d, layer, count, s); });
            sum(count);
        }
        each([&](int d, hipStream_t s) {
            gpu_state<W> &g = gpu[d];
            const float *last = g.x + static_cast<size_t>(count - 1) * padded_rows(of.dim);
            rmsnorm<<<1, 256, 0, s>>>(g.normed, last, g.final_norm, of.dim, padded(of.dim),
                                      padded_rows(of.dim), of.epsilon);
            int part = (d + 1) % ring.count();
            product(g, g.logits + part * own.vocabulary, nullptr, g.normed, g.classifier, 1, s);
        });
        if (ring.count() > 1) {
            ring.all_gather(all(&gpu_state<W>::logits), of.vocabulary);
        }
        each([&](int d, hipStream_t s) {
            choose<<<1, 256, 0, s>>>(gpu[d].tokens + start + count, gpu[d].logits, of.vocabulary);
        });
    }

    void set_tokens(const std::vector<int> &tokens)
    {
        for (gpu_state<W> &g : gpu) {
            HIP_MUST(hipMemcpy(g.tokens, tokens.data(), tokens.size() * sizeof(int),
                               hipMemcpyHostToDevice));
        }
    }

    std::vector<int> get_tokens(int count)
    {
        std::vector<int> tokens(count);
        each([&](int, hipStream_t s) { HIP_MUST(hipStreamSynchronize(s)); });
        HIP_MUST(hipMemcpy(tokens.data(), gpu.back().tokens, count * sizeof(int),
                           hipMemcpyDeviceToHost));
        return tokens;
    }

    std::vector<float> get_logits()
    {
        std::vector<float> logits(of.vocabulary);
        each([&](int, hipStream_t s) { HIP_MUST(hipStreamSynchronize(s)); });
        HIP_MUST(hipMemcpy(logits.data(), gpu.back().logits, logits.size() * sizeof(float),
                           hipMemcpyDeviceToHost));
        return logits;
    }

    hipStream_t first_stream() const
    {
        return ring.stream(0);
    }

  private:
    const weight_source &source;
    const model_shape of;
    gpu_ring ring;
    device_memory memory;
    std::vector<gpu_state<W>> gpu;
    share own;
    int units; // compute units of a GPU

    template <typename F> void each(F &&todo)
    {
        for (int d = 0; d < ring.count(); d++) {
            HIP_MUST(hipSetDevice(d));
            todo(d, ring.stream(d));
            HIP_MUST(hipGetLastError());
        }
    }

    gpu_ring::vectors all(float *gpu_state<W>::*member)
    {
        gpu_ring::vectors vectors;
        for (gpu_state<W> &g : gpu) {
            vectors.push_back(g.*member);
        }
        return vectors;
    }

    // Each GPU has a part of the sums of x, the first one also what x was.
    void sum(int count)
    {
        if (ring.count() > 1) {
            ring.all_reduce(all(&gpu_state<W>::x),
                            static_cast<int64_t>(count) * padded_rows(of.dim));
        }
    }

    static constexpr int few_tokens = 8;    // for which a tile of 128 would be mostly empty
    static constexpr int least_share = 512; // columns that a work-group takes of a product

    // Columns are divided where tiles are for less than half of the compute units.
    void product(const gpu_state<W> &g, float *out, const float *add, const operand<W> *x,
                 const matrix<W> &w, int count, hipStream_t s)
    {
        int pitch = padded_rows(w.rows), tokens = padded(count, gemm_tokens);
        dim3 grid(pitch / gemm_rows, tokens / gemm_tokens);
        int tiles = grid.x * grid.y, parts = std::max(1, units / 2 / tiles);
        int share = padded((w.pitch + parts - 1) / parts, least_share);
        grid.z = parts = (w.pitch + share - 1) / share;
        if (count <= few_tokens) {
            gemv<W><<<dim3(pitch / gemv_rows, count), gemv_items, 0, s>>>(out, add, pitch, x, w);
        } else if (parts == 1) {
            gemm<W><<<grid, gemm_items, 0, s>>>(out, add, pitch, x, w, share);
        } else {
            size_t apart = static_cast<size_t>(tokens) * pitch,
                   sums = static_cast<size_t>(count) * pitch;
            gemm<W><<<grid, gemm_items, 0, s>>>(g.parts, nullptr, pitch, x, w, share);
            sum_parts<<<(sums / 4 + 255) / 256, 256, 0, s>>>(
                reinterpret_cast<floats4 *>(out), reinterpret_cast<const floats4 *>(add),
                reinterpret_cast<const floats4 *>(g.parts), parts, apart / 4, sums / 4);
        }
    }

    void attend(int d, int layer, int start, int count, hipStream_t s)
    {
        gpu_state<W> &g = gpu[d];
        const layer_weights<W> &w = g.layers[layer];
        attention_shape heads = {static_cast<int>(own.heads), static_cast<int>(own.kv_heads),
                                 of.head_size(), padded_rows(w.qkv.rows)};
        size_t cache = static_cast<size_t>(layer) * of.positions * own.kv_heads * of.head_size();
        rmsnorm<<<count, 256, 0, s>>>(g.normed, g.x, w.attention_norm, of.dim, padded(of.dim),
                                      padded_rows(of.dim), of.epsilon);
        product(g, g.qkv, nullptr, g.normed, w.qkv, count, s);
        rotate<<<count, 256, 0, s>>>(g.qkv, g.keys + cache, g.values + cache, g.turns, start,
                                     heads);
        if (count == 1) {
            attention<1><<<own.heads, 256, 0, s>>>(g.attended, w.output.pitch, g.qkv,
                                                   g.keys + cache, g.values + cache, start, count,
                                                   heads);
        } else {
            attention<4><<<dim3(own.heads, (count + 3) / 4), 64, 0, s>>>(
                g.attended, w.output.pitch, g.qkv, g.keys + cache, g.values + cache, start, count,
                heads);
        }
        product(g, g.x, d == 0 ? g.x : nullptr, g.attended, w.output, count, s);
    }

    void feed_forward(int d, int layer, int count, hipStream_t s)
    {
        gpu_state<W> &g = gpu[d];
        const layer_weights<W> &w = g.layers[layer];
        int hidden = static_cast<int>(own.hidden);
        rmsnorm<<<count, 256, 0, s>>>(g.normed, g.x, w.ffn_norm, of.dim, padded(of.dim),
                                      padded_rows(of.dim), of.epsilon);
        product(g, g.gate_up, nullptr, g.normed, w.gate_up, count, s);
        swiglu<<<dim3(padded(hidden, 256) / 256, count), 256, 0, s>>>(
            g.gated, g.gate_up, hidden, w.down.pitch, padded_rows(w.gate_up.rows));
        product(g, g.x, d == 0 ? g.x : nullptr, g.gated, w.down, count, s);
    }

    // Rows of one kind after the other, as W, padded.
    matrix<W> load_matrix(int layer, const std::vector<piece> &pieces)
    {
        int64_t rows = 0, pitch = padded(pieces[0].columns);
        for (const piece &p : pieces) {
            rows += p.rows;
        }
        std::vector<W> values(padded_rows(rows) * pitch);
        std::vector<float> scales(sizeof(W) == 1 ? values.size() / group : 0),
            row(columns_of(of, pieces[0].of));
        int64_t number = 0;
        for (const piece &p : pieces) {
            for (int64_t r = 0; r < p.rows; r++, number++) {
                source.read(p.of, layer, p.first + r, row.data());
                convert(&values[number * pitch], scales.data() + scale_at(number, 0, pitch),
                        row.data() + p.first_column, p.columns);
            }
        }
        return {memory.copy(values), sizeof(W) == 1 ? memory.copy(scales) : nullptr,
                static_cast<int>(rows), static_cast<int>(pitch)};
    }

    // The largest of a group becomes 127.
    static void convert(W *to, float *scales, const float *from, int64_t count)
    {
        if constexpr (sizeof(W) != 1) {
            std::transform(from, from + count, to, rounded<W>);
            return;
        }
        for (int64_t first = 0; first < count; first += group) {
            int64_t end = std::min<int64_t>(first + group, count);
            float most = 0;
            for (int64_t i = first; i < end; i++) {
                most = std::max(most, std::fabs(from[i]));
            }
            float scale = scales[first / group * 4] = most / 127;
            for (int64_t i = first; i < end; i++) {
                to[i] = rounded<W>(scale > 0 ? std::nearbyint(from[i] / scale) : 0);
            }
        }
    }

    const float *load_norm(tensor t, int layer)
    {
        std::vector<float> weights(of.dim);
        source.read(t, layer, 0, weights.data());
        return memory.copy(weights);
    }

    // The share of GPU d: rows of what makes heads and hidden values, columns of what takes them.
    void load(int d)
    {
        gpu_state<W> &g = gpu[d];
        int64_t size = of.head_size(), dim = of.dim;
        int64_t head = d * own.heads * size, heads = own.heads * size,
                kv_heads = own.kv_heads * size;
        int64_t kv_head = static_cast<int64_t>(d) * of.kv_heads / ring.count() * size;
        int64_t hidden = d * own.hidden;
        for (int layer = 0; layer < of.layers; layer++) {
            g.layers.push_back({load_matrix(layer, {{QUERY, head, heads, 0, dim},
                                                    {KEY, kv_head, kv_heads, 0, dim},
                                                    {VALUE, kv_head, kv_heads, 0, dim}}),
                                load_matrix(layer, {{OUTPUT, 0, dim, head, heads}}),
                                load_matrix(layer, {{GATE, hidden, own.hidden, 0, dim},
                                                    {UP, hidden, own.hidden, 0, dim}}),
                                load_matrix(layer, {{DOWN, 0, dim, hidden, own.hidden}}),
                                load_norm(ATTENTION_NORM, layer), load_norm(FFN_NORM, layer)});
        }
        g.table = load_matrix(0, {{EMBEDDING, 0, of.vocabulary, 0, dim}});
        int64_t first = (d + 1) % ring.count() * own.vocabulary; // what an all-gather begins with
        g.classifier =
            load_matrix(0, {{of.shared ? EMBEDDING : CLASSIFIER, first, own.vocabulary, 0, dim}});
        g.final_norm = load_norm(FINAL_NORM, 0);
    }

    // The angles of pairs at all positions, and room for activations and the cache.
    void make_room(int d, size_t tokens)
    {
        gpu_state<W> &g = gpu[d];
        const layer_weights<W> &w = g.layers[0];
        int half = of.head_size() / 2;
        std::vector<float2> turns(static_cast<size_t>(of.positions) * half);
        for (size_t i = 0; i < turns.size(); i++) {
            double angle = i / half * std::pow(of.base, -2.0 * (i % half) / of.head_size());
            turns[i] = {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
        }
        g.turns = memory.copy(turns);
        memory.allocate(g.tokens, of.positions + 1);
        memory.allocate(g.qkv, tokens * padded_rows(w.qkv.rows));
        memory.allocate(g.gate_up, tokens * padded_rows(w.gate_up.rows));
        memory.allocate(g.logits, of.vocabulary);
        memory.allocate(g.parts, static_cast<size_t>(units) * gemm_tokens * gemm_rows);
        memory.allocate_zeros(g.x, tokens * padded_rows(of.dim));
        memory.allocate_zeros(g.normed, tokens * padded(of.dim));
        memory.allocate_zeros(g.attended, tokens * w.output.pitch);
        memory.allocate_zeros(g.gated, tokens * w.down.pitch);
        size_t cache =
            static_cast<size_t>(of.layers) * of.positions * own.kv_heads * of.head_size();
        memory.allocate(g.keys, cache);
        memory.allocate(g.values, cache);
    }
};
