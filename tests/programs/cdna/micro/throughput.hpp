// Four chains of dependent multiply-adds a thread: the programs *_throughput. `Step` has the type, the start of each chain
// and the operation, which the host can do as well.
#pragma once

#include "micro.hpp"

template <typename Step>
__global__ void throughput_kernel(typename Step::type *out, int steps)
{
    using type = typename Step::type;
    int thread = threadIdx.x;
    type a = Step::start(thread, 0), b = Step::start(thread, 1), c = Step::start(thread, 2),
         d = Step::start(thread, 3);
    for (int i = 0; i < steps; i += 4) {
        a = Step::next(a);
        b = Step::next(b);
        c = Step::next(c);
        d = Step::next(d);
    }
    Step::store(out, Step::sum(Step::sum(a, b), Step::sum(c, d)));
}

template <typename Step>
static inline int throughput_main(int argc, char **argv, const char *name)
{
    using type = typename Step::type;
    micro m = micro_arguments(argc, argv, name, size_t(1) << 30,
                              {{"num_blocks", "1"}, {"threads_per_block", "256"}});
    unsigned blocks = unsigned(m.number("num_blocks", 1 << 20));
    unsigned threads = unsigned(m.number("threads_per_block", 1024));
    type *out = device_array<type>(size_t(blocks) * threads);
    label_run(m, [&] {
        throughput_kernel<Step><<<dim3(blocks), dim3(threads)>>>(out, int(m.size));
    });
    if (!m.check) {
        return 0;
    }
    std::vector<type> got(Step::stores_all ? threads : 1);
    from_device(got, out);
    for (size_t t = 0; t < got.size(); t++) {
        type chain[4];
        for (int k = 0; k < 4; k++) {
            chain[k] = Step::start(int(t), k);
            for (size_t i = 0; i < m.size; i += 4) {
                chain[k] = Step::next(chain[k]);
            }
        }
        type want = Step::sum(Step::sum(chain[0], chain[1]), Step::sum(chain[2], chain[3]));
        if (!Step::same(got[t], want)) {
            return m.verdict(false);
        }
    }
    return m.verdict(true);
}

// Of float and double.
template <typename T> struct real_step {
    using type = T;
    static constexpr bool stores_all = true;
    __host__ __device__ static T start(int thread, int chain)
    {
        return T(1) + T(0.001) * T(thread) + T(0.1) * T(chain);
    }
    __host__ __device__ static T next(T a)
    {
        return fma(a, T(1.0000001), T(1e-7));
    }
    __host__ __device__ static T sum(T a, T b)
    {
        return a + b;
    }
    __device__ static void store(T *out, T value)
    {
        out[blockIdx.x * blockDim.x + threadIdx.x] = value;
    }
    static bool same(T got, T want)
    {
        return std::fabs(got - want) <= std::fabs(want) * T(1e-6); // contraction of the start
    }
};
