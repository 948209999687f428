// strides STRIDE: one work-group reads an array that the vector L1 keeps, lanes STRIDE floats apart.
#include "micro.hpp"

__global__ void read_apart(const float *data, int stride, int mask, int rounds, float *out)
{
    float sum = 0;
    int at = threadIdx.x * stride;
    for (int i = 0; i < rounds; i++) {
        for (int u = 0; u < 8; u++) {
            sum += data[(at + u) & mask];
        }
        at += 8;
    }
    out[threadIdx.x] = sum;
}

int main(int argc, char **argv)
{
    micro m = micro_arguments(argc, argv, "strides", 1 << 20,
                              {{"block_size", "256"}, {"array_bytes", "16384"},
                               {"rounds", "256"}});
    int block = int(m.number("block_size", 1024)), rounds = int(m.number("rounds", 1 << 20));
    size_t count = m.number("array_bytes") / 4;
    if ((count & (count - 1)) != 0) {
        m.refuse("array_bytes is a power of two");
    }
    float *data = to_device(std::vector<float>(count, 1.0f));
    float *out = device_array<float>(size_t(block));
    label_run(m, [&] {
        read_apart<<<1, dim3(block)>>>(data, int(m.size), int(count - 1), rounds, out);
    });
    if (!m.check) {
        return 0;
    }
    std::vector<float> got(static_cast<size_t>(block));
    from_device(got, out);
    return m.verdict(std::count(got.begin(), got.end(), float(8 * rounds)) == block);
}
