// Where the weights of a transformer come from: a checkpoint of the small-stories models (`.bin`),
// a GGUF file with plain types, or a seed. A file is input: whatever is wrong with it is said, and
// ends the program with status 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels.hpp"

[[noreturn]] [[gnu::format(printf, 1, 2)]] static void fail(const char *format, ...)
{
    va_list rest;
    va_start(rest, format);
    std::fputs("transformer: ", stderr);
    std::vfprintf(stderr, format, rest);
    std::fputc('\n', stderr);
    va_end(rest);
    std::exit(1);
}

// The numbers of a model. Some are the columns of matrices, others the rows.
struct model_shape {
    int dim, hidden, layers, heads, kv_heads, vocabulary, positions;
    bool shared = true; // the table of tokens is the classifier, too
    float epsilon = 1e-5f, base = 10000;

    int head_size() const
    {
        return dim / heads;
    }

    void check(const char *name) const
    {
        const struct {
            const char *what;
            int64_t value, most;
        } sizes[] = {{"dimension", dim, 1 << 16},
                     {"hidden dimension", hidden, 1 << 18},
                     {"number of layers", layers, 512},
                     {"number of heads", heads, 1 << 10},
                     {"number of KV heads", kv_heads, 1 << 10},
                     {"vocabulary", vocabulary, 1 << 20},
                     {"number of positions", positions, 1 << 20}};
        for (const auto &size : sizes) {
            if (size.value < 1 || size.value > size.most) {
                fail("%s: a %s of %ld is not between 1 and %ld", name, size.what, size.value,
                     size.most);
            }
        }
        if (dim % heads != 0 || heads % kv_heads != 0) {
            fail("%s: %d values, %d heads and %d KV heads do not divide each other", name, dim,
                 heads, kv_heads);
        }
        if (head_size() % 4 != 0 || head_size() > longest_head) {
            fail("%s: a head of %d values; multiples of 4 up to %d are supported", name,
                 head_size(), longest_head);
        }
    }
};

enum tensor {
    EMBEDDING,
    ATTENTION_NORM,
    QUERY,
    KEY,
    VALUE,
    OUTPUT,
    FFN_NORM,
    GATE,
    DOWN,
    UP,
    FINAL_NORM,
    CLASSIFIER
};

// Rows and columns of a layer's tensor; norms have one row.
static inline int64_t rows_of(const model_shape &of, tensor t)
{
    switch (t) {
    case EMBEDDING:
    case CLASSIFIER:
        return of.vocabulary;
    case ATTENTION_NORM:
    case FFN_NORM:
    case FINAL_NORM:
        return 1;
    case KEY:
    case VALUE:
        return of.kv_heads * of.head_size();
    case GATE:
    case UP:
        return of.hidden;
    default:
        return of.dim;
    }
}

static inline int64_t columns_of(const model_shape &of, tensor t)
{
    return t == DOWN ? of.hidden : of.dim;
}

class weight_source
{
  public:
    model_shape shape;
    virtual ~weight_source() = default;
    // A row of the tensor in a layer, as floats.
    virtual void read(tensor t, int layer, int64_t row, float *to) const = 0;
};

// Uniform numbers from a counter: each weight is a function of the seed and of where it is, so any
// part can be made by itself. The function is SplitMix64's (Steele, Lea and Flood, 2014).
class seeded_weights : public weight_source
{
  public:
    seeded_weights(const model_shape &of, uint64_t seed) : seed(seed)
    {
        shape = of;
        shape.check("--shape");
    }

    void read(tensor t, int layer, int64_t row, float *to) const override
    {
        int64_t columns = columns_of(shape, t);
        uint64_t counter = (static_cast<uint64_t>(t * 512 + layer) << 40) + row * columns;
        bool norm = rows_of(shape, t) == 1;
        float range = t == EMBEDDING ? 0.02f : std::sqrt(3.0f / columns); // variance 1 / columns
        for (int64_t i = 0; i < columns; i++) {
            uint64_t z = seed + (counter + i + 1) * 0x9e3779b97f4a7c15;
            z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
            z = (z ^ z >> 27) * 0x94d049bb133111eb;
            z ^= z >> 31;
            to[i] = norm ? 1 : (static_cast<int>(z >> 40) - (1 << 23)) * (range / (1 << 23));
        }
    }

  private:
    uint64_t seed;
};

// The bytes of a file, in memory.
class mapped_file
{
  public:
    const char *name;
    const uint8_t *bytes = nullptr;
    uint64_t size = 0;

    explicit mapped_file(const char *path) : name(path)
    {
        int fd = open(path, O_RDONLY);
        struct stat about;
        if (fd < 0 || fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
            fail("%s: cannot be read: %s", path, fd < 0 ? std::strerror(errno) : "not a file");
        }
        size = about.st_size;
        void *mapped = size ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0) : nullptr;
        if (mapped == nullptr || mapped == MAP_FAILED) {
            fail("%s: %s", path, size ? std::strerror(errno) : "the file is empty");
        }
        close(fd);
        bytes = static_cast<const uint8_t *>(mapped);
    }
};

// Reads a file from front to back, and ends the program where it ends too early.
struct file_reader {
    const mapped_file &file;
    uint64_t at = 0;

    const uint8_t *take(uint64_t size)
    {
        if (size > file.size - at) {
            fail("%s: the file ends after %lu bytes, within a piece of %lu at %lu", file.name,
                 file.size, size, at);
        }
        at += size;
        return file.bytes + at - size;
    }

    template <typename T> T get()
    {
        T value;
        std::memcpy(&value, take(sizeof value), sizeof value);
        return value;
    }
};

// Seven numbers, then float tensors, each of all layers, in the order of `enum tensor`; a negative
// vocabulary means a classifier of its own. In front of it are tables of angles, which we make.
class bin_weights : public weight_source
{
  public:
    explicit bin_weights(const mapped_file &file) : file(file)
    {
        file_reader in{file};
        int head[7];
        std::memcpy(head, in.take(sizeof head), sizeof head);
        shape = {head[0], head[1], head[2], head[3], head[4], head[5], head[6]};
        shape.shared = head[5] > 0;
        if (head[5] < 0 && head[5] > -(1 << 21)) {
            shape.vocabulary = -head[5];
        }
        shape.check(file.name);
        uint64_t end = sizeof head;
        for (int t = EMBEDDING; t <= CLASSIFIER; t++) {
            if (t == CLASSIFIER) {
                end += sizeof(float) * shape.positions * (shape.head_size() / 2) * 2;
            }
            begin[t] = end;
            bool once = t == EMBEDDING || t == FINAL_NORM || t == CLASSIFIER;
            bool there = t != CLASSIFIER || !shape.shared;
            end += there ? size_of(static_cast<tensor>(t)) * (once ? 1 : shape.layers) : 0;
        }
        if (end != file.size) {
            fail("%s: the file has %lu bytes, and its header says %lu", file.name, file.size, end);
        }
    }

    void read(tensor t, int layer, int64_t row, float *to) const override
    {
        uint64_t length = columns_of(shape, t) * sizeof(float);
        std::memcpy(to, file.bytes + begin[t] + layer * size_of(t) + row * length, length);
    }

  private:
    const mapped_file &file;
    uint64_t begin[CLASSIFIER + 1];

    uint64_t size_of(tensor t) const
    {
        return rows_of(shape, t) * columns_of(shape, t) * sizeof(float);
    }
};

// GGUF 2 and 3 (the GGUF specification of ggml): names with values, then names of tensors with
// their sizes, types and places. Read are F32, F16, BF16 and Q8_0, groups of 32 with a scale in
// F16.
class gguf_weights : public weight_source
{
  public:
    explicit gguf_weights(const mapped_file &file) : file(file), in{file}
    {
        in.take(4); // GGUF
        uint32_t version = in.get<uint32_t>();
        if (version != 2 && version != 3) {
            fail("%s: GGUF of version %u; 2 and 3 are supported", file.name, version);
        }
        uint64_t tensors = in.get<uint64_t>(), values = in.get<uint64_t>();
        for (uint64_t i = 0; i < values; i++) {
            std::string key = text();
            value(key, in.get<uint32_t>());
        }
        for (uint64_t i = 0; i < tensors; i++) {
            describe();
        }
        uint64_t alignment = whole("general.alignment", 32);
        if (alignment < 8 || alignment > 1 << 20 || (alignment & (alignment - 1)) != 0) {
            fail("%s: an alignment of %lu", file.name, alignment);
        }
        data = (in.at + alignment - 1) / alignment * alignment;
        find_shape();
        for (int layer = 0; layer < shape.layers; layer++) {
            for (int t = EMBEDDING; t <= CLASSIFIER; t++) {
                if (t != CLASSIFIER || !shape.shared) {
                    find(static_cast<tensor>(t), layer);
                }
            }
        }
    }

    void read(tensor t, int layer, int64_t row, float *to) const override
    {
        const place &p = places.at(name_of(t, layer));
        int64_t columns = columns_of(shape, t);
        const type &kind = types().at(p.kind);
        const uint8_t *from =
            file.bytes + data + p.offset + row * (columns / kind.values * kind.bytes);
        kind.read(to, from, columns);
    }

  private:
    struct place {
        uint64_t columns, rows, offset;
        uint32_t kind;
    };
    struct type {
        int values, bytes; // that lie together
        void (*read)(float *to, const uint8_t *from, int64_t count);
    };
    const mapped_file &file;
    file_reader in;
    uint64_t data;
    std::map<std::string, double> numbers;
    std::map<std::string, place> places;

    template <typename T> static void read_plain(float *to, const uint8_t *from, int64_t count)
    {
        for (int64_t i = 0; i < count; i++) {
            T one;
            std::memcpy(&one, from + i * sizeof one, sizeof one);
            to[i] = to_float(one);
        }
    }

    static void read_q8_0(float *to, const uint8_t *from, int64_t count)
    {
        for (int64_t i = 0; i < count; i++) {
            _Float16 scale;
            const uint8_t *block = from + i / group * (sizeof scale + group);
            std::memcpy(&scale, block, sizeof scale);
            to[i] = static_cast<int8_t>(block[sizeof scale + i % group]) * to_float(scale);
        }
    }

    static const std::map<uint32_t, type> &types()
    {
        static const std::map<uint32_t, type> all = {{0, {1, 4, read_plain<float>}},
                                                     {1, {1, 2, read_plain<_Float16>}},
                                                     {8, {group, 2 + group, read_q8_0}},
                                                     {30, {1, 2, read_plain<bf16>}}};
        return all;
    }

    std::string text()
    {
        uint64_t length = in.get<uint64_t>();
        return std::string(reinterpret_cast<const char *>(in.take(length)), length);
    }

    void value(const std::string &key, uint32_t kind)
    {
        static const uint8_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
        if (kind == 8) {
            std::string word = text();
            if (key == "general.architecture" && word != "llama") {
                fail("%s: the architecture '%s'; only llama is supported", file.name, word.c_str());
            }
        } else if (kind == 9) {
            uint32_t of = in.get<uint32_t>();
            uint64_t count = in.get<uint64_t>();
            if (of == 9) {
                fail("%s: '%s' is an array of arrays", file.name, key.c_str());
            }
            for (uint64_t i = 0; i < count; i++) {
                value(key, of);
            }
        } else if (kind >= sizeof sizes) {
            fail("%s: '%s' has the unknown type %u", file.name, key.c_str(), kind);
        } else if (kind == 4 || kind == 5) {
            numbers[key] = kind == 4 ? in.get<uint32_t>() : in.get<int32_t>();
        } else if (kind == 6) {
            numbers[key] = in.get<float>();
        } else if (kind == 10) {
            numbers[key] = in.get<uint64_t>();
        } else {
            in.take(sizes[kind]);
        }
    }

    void describe()
    {
        std::string name = text();
        uint32_t dimensions = in.get<uint32_t>();
        uint64_t sizes[4] = {1, 1, 1, 1};
        if (dimensions > 4) {
            fail("%s: tensor '%s' has %u dimensions", file.name, name.c_str(), dimensions);
        }
        for (uint32_t i = 0; i < dimensions; i++) {
            sizes[i] = in.get<uint64_t>();
        }
        uint32_t kind = in.get<uint32_t>();
        places[name] = {sizes[0], sizes[1], in.get<uint64_t>(), kind};
    }

    double number(const char *key, double otherwise) const
    {
        auto found = numbers.find(key);
        return found == numbers.end() ? otherwise : found->second;
    }

    int whole(const char *key, int otherwise) const
    {
        double value = number(key, otherwise);
        return value >= 0 && value <= INT32_MAX ? static_cast<int>(value) : -1;
    }

    void find_shape()
    {
        int heads = whole("llama.attention.head_count", 0);
        auto table = places.find("token_embd.weight");
        shape = {whole("llama.embedding_length", 0),
                 whole("llama.feed_forward_length", 0),
                 whole("llama.block_count", 0),
                 heads,
                 whole("llama.attention.head_count_kv", heads),
                 table == places.end()
                     ? 0
                     : static_cast<int>(std::min<uint64_t>(table->second.rows, INT32_MAX)),
                 whole("llama.context_length", 0)};
        shape.shared = places.find("output.weight") == places.end();
        shape.epsilon = static_cast<float>(number("llama.attention.layer_norm_rms_epsilon", 1e-5));
        shape.base = static_cast<float>(number("llama.rope.freq_base", 10000));
        shape.check(file.name);
        if (whole("llama.rope.dimension_count", shape.head_size()) != shape.head_size()) {
            fail("%s: only a part of each head is rotated", file.name);
        }
    }

    static std::string name_of(tensor t, int layer)
    {
        static const char *const names[] = {"token_embd", "attn_norm",   "attn_q",      "attn_k",
                                            "attn_v",     "attn_output", "ffn_norm",    "ffn_gate",
                                            "ffn_down",   "ffn_up",      "output_norm", "output"};
        bool once = t == EMBEDDING || t == FINAL_NORM || t == CLASSIFIER;
        std::string block = once ? "" : "blk." + std::to_string(layer) + ".";
        return block + names[t] + ".weight";
    }

    void find(tensor t, int layer) const
    {
        std::string name = name_of(t, layer);
        auto found = places.find(name);
        if (found == places.end()) {
            fail("%s: tensor '%s' is missing", file.name, name.c_str());
        }
        const place &p = found->second;
        auto kind = types().find(p.kind);
        if (kind == types().end()) {
            fail("%s: tensor '%s' has type %u; F32, F16, BF16 and Q8_0 are supported", file.name,
                 name.c_str(), p.kind);
        }
        uint64_t rows = rows_of(shape, t), columns = columns_of(shape, t);
        if (p.columns != columns || p.rows != rows || columns % kind->second.values != 0) {
            fail("%s: tensor '%s' is %lu x %lu, and the model needs %lu x %lu", file.name,
                 name.c_str(), p.rows, p.columns, rows, columns);
        }
        uint64_t size = rows * (columns / kind->second.values * kind->second.bytes);
        if (data > file.size || p.offset > file.size - data || size > file.size - data - p.offset) {
            fail("%s: tensor '%s' ends behind the end of the file", file.name, name.c_str());
        }
    }
};

// The weights of a file, of whichever format it is.
static inline std::unique_ptr<weight_source> open_weights(const mapped_file &file)
{
    if (file.size >= 4 && std::memcmp(file.bytes, "GGUF", 4) == 0) {
        return std::make_unique<gguf_weights>(file);
    }
    return std::make_unique<bin_weights>(file);
}
