// mixbench MIB: every float of a buffer is read, goes through a chain of fused multiply-adds, and is written back. The chain
// has flops_per_byte * 8 / 2 of them, as 8 bytes are moved and an FMA counts as two operations.
#include "micro.hpp"

__global__ void mix(float *data, size_t count, int fmas)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) {
        float x = data[i];
        for (int k = 0; k < fmas; k++) {
            x = fmaf(x, 1.0000001f, 1e-7f);
        }
        data[i] = x;
    }
}

int main(int argc, char **argv)
{
    micro m = micro_arguments(argc, argv, "mixbench", 65536,
                              {{"flops_per_byte", "4"}, {"threads_per_block", "256"}});
    char *end = nullptr;
    double intensity = std::strtod(m.text("flops_per_byte").c_str(), &end);
    if (*end != '\0' || !(intensity >= 0.25 && intensity <= 65536)) {
        m.refuse("flops_per_byte is a number from 0.25 to 65536");
    }
    int fmas = int(intensity * 8 / 2);
    unsigned threads = unsigned(m.number("threads_per_block", 1024));
    size_t count = (m.size << 20) / 4;
    std::vector<float> start(count, 1.0f);
    float *data = to_device(start);
    label_run(m, [&] { mix<<<dim3(blocks_for(count, threads)), dim3(threads)>>>(data, count, fmas); });
    if (!m.check) {
        return 0;
    }
    std::vector<float> got(count);
    from_device(got, data);
    float want = 1.0f;
    for (long k = 0; k < long(fmas) * (m.iterations + 1); k++) { // with the one that warmed up
        want = fused(want, 1.0000001f, 1e-7f);
    }
    return m.verdict(std::count(got.begin(), got.end(), want) == long(count));
}
