// warp_shuffle OPS: OPS rounds of exchange between lanes, of each kind (shuffle_variant=all) or of one.
#include "micro.hpp"

constexpr int all = 0, direct = 1, up = 2, down = 3, crosswise = 4;

template <int kind> __global__ void exchange(int *out, int ops)
{
    int lane = threadIdx.x % warpSize, value = threadIdx.x;
    for (int i = 0; i < ops; i++) {
        if (kind == all || kind == direct) {
            value += __shfl(value, (lane + i) % 64);
        }
        if (kind == all || kind == up) {
            value += __shfl_up(value, 1);
        }
        if (kind == all || kind == down) {
            value += __shfl_down(value, 1);
        }
        if (kind == all || kind == crosswise) {
            value += __shfl_xor(value, 1);
        }
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

// The lane that a lane reads in round i.
static int source_lane(int kind, int lane, int i)
{
    return kind == direct ? (lane + i) % 64
           : kind == up   ? std::max(lane - 1, 0)
           : kind == down ? std::min(lane + 1, 63)
                          : lane ^ 1;
}

// The same for a wavefront of 64 lanes.
static void exchange_host(uint32_t *value, int kind, int ops)
{
    for (int i = 0; i < ops; i++) {
        for (int one = direct; one <= crosswise; one++) {
            uint32_t old[64];
            std::copy(value, value + 64, old);
            for (int lane = 0; lane < 64 && (kind == all || kind == one); lane++) {
                value[lane] += old[source_lane(one, lane, i)];
            }
        }
    }
}

int main(int argc, char **argv)
{
    micro m = micro_arguments(
        argc, argv, "warp_shuffle", 1 << 24,
        {{"num_blocks", "1"}, {"shuffle_variant", "all"}, {"threads_per_block", "256"}});
    size_t kind = m.one_of("shuffle_variant", {"all", "shfl", "up", "down", "xor"});
    unsigned blocks = unsigned(m.number("num_blocks", 65536));
    unsigned threads = unsigned(m.number("threads_per_block", 1024));
    if (threads % 64 != 0) {
        m.refuse("threads_per_block is a multiple of 64");
    }
    int *out = device_array<int>(size_t(blocks) * threads);
    auto kernel = kind == 0   ? exchange<all>
                  : kind == 1 ? exchange<direct>
                  : kind == 2 ? exchange<up>
                  : kind == 3 ? exchange<down>
                              : exchange<crosswise>;
    label_run(m, [&] { kernel<<<dim3(blocks), dim3(threads)>>>(out, int(m.size)); });
    if (!m.check) {
        return 0;
    }
    std::vector<int> got(size_t(blocks) * threads);
    from_device(got, out);
    std::vector<uint32_t> want(threads);
    for (unsigned t = 0; t < threads; t++) {
        want[t] = t;
    }
    for (unsigned t = 0; t < threads; t += 64) {
        exchange_host(&want[t], int(kind), int(m.size));
    }
    for (size_t i = 0; i < got.size(); i++) {
        if (uint32_t(got[i]) != want[i % threads]) {
            return m.verdict(false);
        }
    }
    return m.verdict(true);
}
