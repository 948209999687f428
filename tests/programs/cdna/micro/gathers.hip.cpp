// gathers BYTES: lanes load elements of 1, 4 or 8 bytes that a hash of lane and step chooses, anywhere in an array of BYTES, or, with
// `window`, inside of as many bytes that the lanes of a wavefront share. So the lines that a load touches are told apart from the level
// that has them: addresses and tags of the vector L1 for small arrays, TLBs, L2 and memory for larger ones.
#include "micro.hpp"

__host__ __device__ static inline unsigned mixed(unsigned value)
{
    value = (value ^ value >> 15) * 0x9e3779b1u;
    return value ^ value >> 13;
}

// Which element a thread loads in a step; the masks are numbers of elements less one.
__host__ __device__ static inline unsigned element_of(unsigned thread, unsigned step, unsigned mask,
                                                      unsigned window)
{
    unsigned shared = mixed(thread / 64 * 977 + step * 31337), own = mixed(thread + step * 65599);
    return ((shared & ~window) | (own & window)) & mask;
}

template <class element>
__global__ void gather(const element *data, unsigned mask, unsigned window, int steps, unsigned *out)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int i = 0; i < steps; i += 4) {
        for (int k = 0; k < 4; k++) {
            sum += unsigned(data[element_of(thread, i + k, mask, window)]);
        }
    }
    out[thread] = sum;
}

template <class element> static int run(const micro &m, unsigned blocks, unsigned block, int steps)
{
    unsigned count = unsigned(m.size / sizeof(element)), mask = count - 1;
    size_t bytes = m.number("window", m.size);
    unsigned window = unsigned((bytes > 1 ? bytes : m.size) / sizeof(element)) - 1;
    if ((count & mask) != 0 || (window & (window + 1)) != 0) {
        m.refuse("array and window are powers of two");
    }
    std::vector<element> host(count);
    for (unsigned i = 0; i < count; i++) {
        host[i] = element(i * 7 + i / 251);
    }
    element *data = to_device(host);
    std::vector<unsigned> got(size_t(blocks) * block);
    unsigned *out = device_array<unsigned>(got.size());
    label_run(m, [&] { gather<element><<<dim3(blocks), dim3(block)>>>(data, mask, window, steps, out); });
    if (!m.check) {
        return 0;
    }
    from_device(got, out);
    for (unsigned thread = 0; thread < got.size(); thread++) {
        for (int i = 0; i < steps; i++) {
            got[thread] -= unsigned(host[element_of(thread, i, mask, window)]);
        }
    }
    return m.verdict(std::count(got.begin(), got.end(), 0u) == long(got.size()));
}

int main(int argc, char **argv)
{
    micro m = micro_arguments(argc, argv, "gathers", size_t(1) << 30,
                              {{"element", "4"}, {"window", "1"}, {"block_size", "256"},
                               {"num_blocks", "1"}, {"steps", "64"}});
    unsigned block = unsigned(m.number("block_size", 1024)), blocks = unsigned(m.number("num_blocks"));
    int steps = int(m.number("steps", 1 << 20));
    switch (m.one_of("element", {"1", "4", "8"})) {
    case 0:
        return run<unsigned char>(m, blocks, block, steps);
    case 1:
        return run<unsigned>(m, blocks, block, steps);
    default:
        return run<unsigned long long>(m, blocks, block, steps);
    }
}
