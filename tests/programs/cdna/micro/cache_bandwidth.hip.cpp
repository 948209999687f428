// cache_bandwidth BYTES: every work-group reads a set of BYTES again and again, all the same one (mode=shared) or each its
// own (mode=private). How much the measured program read is not known: here each work-group reads its set `laps` times, and at
// least `kib` KiB.
#include "micro.hpp"

__global__ void read_set(const float4 *set, size_t length, size_t distance, int rounds, float *sink)
{
    const float4 *mine = set + blockIdx.x * distance;
    float4 sum = make_float4(0, 0, 0, 0);
    size_t at = threadIdx.x % length;
    for (int i = 0; i < rounds; i++) {
        float4 v = mine[at];
        sum.x += v.x;
        sum.y += v.y;
        sum.z += v.z;
        sum.w += v.w;
        at += blockDim.x;
        at = at >= length ? at % length : at;
    }
    float all = sum.x + sum.y + sum.z + sum.w;
    if (all != 4 * float(rounds)) { // never, as all cells are 1
        *sink = all;
    }
}

int main(int argc, char **argv)
{
    micro m = micro_arguments(argc, argv, "cache_bandwidth", size_t(1) << 34,
                              {{"mode", "shared"}, {"num_blocks", "0"},
                               {"threads_per_block", "256"}, {"laps", "4"}, {"kib", "256"}});
    bool shared = m.one_of("mode", {"shared", "private"}) == 0;
    unsigned blocks = m.text("num_blocks") == "0" ? micro_cus()
                                                  : unsigned(m.number("num_blocks", 65536));
    unsigned threads = unsigned(m.number("threads_per_block", 1024));
    size_t length = std::max(m.size / 16, size_t(1));
    size_t bytes = std::max(m.number("laps") * m.size, m.number("kib") << 10);
    int rounds = int((bytes / 16 + threads - 1) / threads);
    std::vector<float> ones(4 * length * (shared ? 1 : blocks), 1.0f);
    float *set = to_device(ones), *sink = device_zeros<float>(1);
    label_run(m, [&] {
        read_set<<<dim3(blocks), dim3(threads)>>>(reinterpret_cast<const float4 *>(set), length,
                                                  shared ? 0 : length, rounds, sink);
    });
    if (!m.check) {
        return 0;
    }
    std::vector<float> got(1);
    from_device(got, sink);
    return m.verdict(got[0] == 0);
}
