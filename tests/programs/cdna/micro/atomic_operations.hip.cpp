// atomic_operations OPS: every thread does OPS atomic operations on the same word.
#include "micro.hpp"

__global__ void add_all(int *word, int ops)
{
    for (int i = 0; i < ops; i++) {
        atomicAdd(word, 1);
    }
}

__global__ void min_all(int *word, int ops)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < ops; i++) {
        atomicMin(word, thread + i);
    }
}

__global__ void swap_all(int *word, int ops)
{
    int expected = 0;
    for (int i = 0; i < ops; i++) {
        expected = atomicCAS(word, expected, expected + 1);
    }
}

int main(int argc, char **argv)
{
    micro m = micro_arguments(
        argc, argv, "atomic_operations", 1 << 20,
        {{"atomic_op", "atomicAdd"}, {"num_blocks", "2048"}, {"threads_per_block", "256"}});
    size_t op = m.one_of("atomic_op", {"atomicAdd", "atomicMin", "atomicCAS"});
    unsigned blocks = unsigned(m.number("num_blocks", 1 << 20));
    unsigned threads = unsigned(m.number("threads_per_block", 1024));
    int start = op == 1 ? 1 << 30 : 0;
    int *word = to_device(std::vector<int>(1, start));
    label_run(m, [&] {
        auto kernel = op == 0 ? add_all : op == 1 ? min_all : swap_all;
        kernel<<<dim3(blocks), dim3(threads)>>>(word, int(m.size));
    });
    if (!m.check) {
        return 0;
    }
    std::vector<int> got(1);
    from_device(got, word);
    uint64_t all = uint64_t(blocks) * threads * m.size * uint64_t(m.iterations + 1);
    return m.verdict(op == 0   ? unsigned(got[0]) == unsigned(all)
                     : op == 1 ? got[0] == 0
                               : got[0] >= 1 && uint64_t(got[0]) <= all);
}
