// cache_latency BYTES: one thread follows a cycle through all lines of an array in random order. Its address is the same in
// all lanes and the array is only read, so the compiler loads by the scalar path; with path=vector it cannot know.
// hops=0 takes as many as measured: `measure_laps` times the array, from 131072 to 16777216.
#include "micro.hpp"

__global__ void follow_scalar(const unsigned *__restrict__ next, int hops, unsigned *result)
{
    unsigned at = 0;
    for (int i = 0; i < hops; i++) {
        at = next[at];
    }
    *result = at;
}

__global__ void follow_vector(const unsigned *__restrict__ next, int hops, unsigned *result)
{
    unsigned at = threadIdx.x;
    for (int i = 0; i < hops; i++) {
        at = next[at];
    }
    *result = at;
}

// One cycle through `cells` cells of `stride` words (Sattolo).
static std::vector<unsigned> random_cycle(size_t cells, size_t stride, uint32_t seed)
{
    glibc_random random(seed);
    std::vector<unsigned> order(cells), next(cells * stride);
    for (size_t i = 0; i < cells; i++) {
        order[i] = unsigned(i);
    }
    for (size_t i = cells - 1; i > 0; i--) {
        std::swap(order[i], order[size_t(random.next()) % i]);
    }
    for (size_t i = 0; i < cells; i++) {
        next[i * stride] = unsigned(order[i] * stride);
    }
    return next;
}

int main(int argc, char **argv)
{
    micro m = micro_arguments(argc, argv, "cache_latency", size_t(1) << 33,
                              {{"cacheline_bytes", "64"}, {"measure_laps", "4"},
                               {"rng_seed", "42"}, {"path", "scalar"}, {"hops", "0"}});
    size_t line = m.number("cacheline_bytes", 4096), laps = m.number("measure_laps");
    if (line % 4 != 0 || m.size < 2 * line) {
        m.refuse("the array has at least two lines, of a multiple of 4 bytes");
    }
    bool vector = m.one_of("path", {"scalar", "vector"}) == 1;
    size_t cells = m.size / line;
    size_t hops = m.text("hops") == "0"
                      ? std::min(std::max(laps * cells, size_t(131072)), size_t(16777216))
                      : m.number("hops");
    std::vector<unsigned> next =
        random_cycle(cells, line / 4, uint32_t(m.number("rng_seed", 0x7fffffff)));
    unsigned *device = to_device(next), *result = device_array<unsigned>(1);
    label_run(m, [&] {
        if (vector) {
            follow_vector<<<1, 1>>>(device, int(hops), result);
        } else {
            follow_scalar<<<1, 1>>>(device, int(hops), result);
        }
    });
    if (!m.check) {
        return 0;
    }
    std::vector<unsigned> got(1);
    from_device(got, result);
    unsigned at = 0;
    for (size_t i = 0; i < hops; i++) {
        at = next[at];
    }
    return m.verdict(at == got[0]);
}
