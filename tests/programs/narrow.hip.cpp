// Loads and stores of 8 and 16 bits, signed and unsigned, at all alignments, in memory and LDS; vectors of them; 12- and
// 16-byte accesses. Neighbours must stay as they were. Arguments: [elements].
#include "check.hpp"

__global__ void widen(const int8_t *a, const uint8_t *b, const int16_t *c, const uint16_t *d, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = a[i] + 3 * b[i] + 5 * c[i] + 7 * d[i];
    }
}

// Only every third byte, and every second short, is written.
__global__ void narrow(uint8_t *bytes, uint16_t *shorts, const int *in, int n)
{
    __shared__ uint8_t shared_bytes[256];
    __shared__ int16_t shared_shorts[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    shared_bytes[threadIdx.x] = static_cast<uint8_t>(i);
    shared_shorts[threadIdx.x] = static_cast<int16_t>(-i);
    __syncthreads();
    unsigned other = (threadIdx.x + 77) % 256;
    if (i < n) {
        if (i % 3 == 0) {
            bytes[i] = static_cast<uint8_t>(in[i] + shared_bytes[other]);
        }
        if (i % 2 == 0) {
            shorts[i] = static_cast<uint16_t>(in[i] + shared_shorts[other]);
        }
    }
}

__global__ void vectors(const uchar4 *bytes, const short2 *shorts, const float3 *threes, const int4 *fours, int *out,
                        int4 *copy, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        uchar4 b = bytes[i];
        short2 s = shorts[i];
        float3 t = threes[i];
        int4 f = fours[i];
        out[i] = b.x + 2 * b.y + 3 * b.z + 4 * b.w + 5 * s.x + 6 * s.y + static_cast<int>(t.x + 2 * t.y + 3 * t.z) +
                 f.x + 2 * f.y + 3 * f.z + 4 * f.w;
        copy[i] = make_int4(f.w, f.z, f.y, f.x);
    }
}

template <typename T> static std::vector<T> random_values(random_source &random, size_t n, unsigned range)
{
    std::vector<T> values(n);
    for (T &value : values) {
        value = static_cast<T>(range ? random.next() % range : random.next() >> 7);
    }
    return values;
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 1001);
    random_source random;
    auto a = random_values<int8_t>(random, n, 0);
    auto b = random_values<uint8_t>(random, 4 * n, 0);
    auto c = random_values<int16_t>(random, 2 * n, 0);
    auto d = random_values<uint16_t>(random, n, 0);
    auto threes = random_values<float>(random, 3 * n, 1000);
    auto fours = random_values<int>(random, 4 * n, 100000);
    std::vector<int> out(n), want(n), copy(4 * n), want_copy(4 * n);
    unsigned blocks = blocks_for(n, 256);
    auto *da = to_device(a);
    auto *db = to_device(b);
    auto *dc = to_device(c);
    auto *dd = to_device(d);
    auto *dthrees = to_device(threes);
    auto *dfours = to_device(fours);
    int *dout = device_zeros<int>(n), *dcopy = device_zeros<int>(4 * n);
    widen<<<blocks, 256>>>(da, db, dc, dd, dout, n);
    from_device(out, dout);
    for (int i = 0; i < n; i++) {
        want[i] = a[i] + 3 * b[i] + 5 * c[i] + 7 * d[i];
    }
    if (!same_or_report("narrow: loads", out, want)) {
        return 1;
    }
    vectors<<<blocks, 256>>>(reinterpret_cast<uchar4 *>(db), reinterpret_cast<short2 *>(dc),
                             reinterpret_cast<float3 *>(dthrees), reinterpret_cast<int4 *>(dfours), dout,
                             reinterpret_cast<int4 *>(dcopy), n);
    from_device(out, dout);
    from_device(copy, dcopy);
    for (int i = 0; i < n; i++) {
        want[i] = b[4 * i] + 2 * b[4 * i + 1] + 3 * b[4 * i + 2] + 4 * b[4 * i + 3] + 5 * c[2 * i] + 6 * c[2 * i + 1] +
                  static_cast<int>(threes[3 * i] + 2 * threes[3 * i + 1] + 3 * threes[3 * i + 2]);
        for (int k = 0; k < 4; k++) {
            want[i] += (k + 1) * fours[4 * i + k];
            want_copy[4 * i + k] = fours[4 * i + 3 - k];
        }
    }
    if (!same_or_report("narrow: vectors", out, want) || !same_or_report("narrow: four words", copy, want_copy)) {
        return 1;
    }
    narrow<<<blocks, 256>>>(db, dd, dfours, n);
    std::vector<uint8_t> bytes(4 * n), want_bytes = b;
    std::vector<uint16_t> shorts(n), want_shorts = d;
    from_device(bytes, db);
    from_device(shorts, dd);
    for (int i = 0; i < n; i++) {
        int other = i / 256 * 256 + (i % 256 + 77) % 256;
        want_bytes[i] = i % 3 == 0 ? static_cast<uint8_t>(fours[i] + static_cast<uint8_t>(other)) : b[i];
        want_shorts[i] = i % 2 == 0 ? static_cast<uint16_t>(fours[i] + static_cast<int16_t>(-other)) : d[i];
    }
    return same_or_report("narrow: bytes", bytes, want_bytes) && same_or_report("narrow: shorts", shorts, want_shorts)
               ? pass("narrow")
               : 1;
}
