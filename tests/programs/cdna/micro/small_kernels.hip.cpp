// small_kernels KIB: `launches` kernels one behind the other, each of which scales KIB of numbers, there and back in turns; the
// time is of all of them.
#include "micro.hpp"

__global__ void scale(double *to, const double *from, size_t count)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) {
        to[i] = 2.0 * from[i];
    }
}

int main(int argc, char **argv)
{
    micro m = micro_arguments(argc, argv, "small_kernels", 1 << 20,
                              {{"launches", "10000"}, {"block_size", "256"}});
    size_t launches = m.number("launches", 1 << 20), count = (m.size << 10) / 2 / sizeof(double);
    unsigned block = unsigned(m.number("block_size", 1024));
    std::vector<double> one(count, 1.0);
    double *from = to_device(one), *to = device_array<double>(count);
    label_run(m, [&] {
        for (size_t i = 0; i < launches; i++) {
            scale<<<dim3(blocks_for(count, block)), dim3(block)>>>(i % 2 ? from : to,
                                                                   i % 2 ? to : from, count);
        }
    });
    if (!m.check) {
        return 0;
    }
    from_device(one, (launches - 1) % 2 ? from : to);
    double made = std::ldexp(1.0, int(2 * launches)); // the first call is one to warm up
    return m.verdict(launches > 500 || std::count(one.begin(), one.end(), made) == long(count));
}
