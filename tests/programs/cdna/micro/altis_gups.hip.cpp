// altis_gups ENTRIES: each thread changes random entries of 8 bytes of a table, by atomic exclusive-or.
#include "micro.hpp"

__host__ __device__ static inline unsigned long long next_random(unsigned long long &state)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull; // Knuth, MMIX
    return state >> 16;
}

__host__ __device__ static inline unsigned long long first_random(unsigned thread)
{
    return (thread + 1ull) * 0x9e3779b97f4a7c15ull;
}

__global__ void update(unsigned long long *table, unsigned entries, int updates)
{
    unsigned long long state = first_random(blockIdx.x * blockDim.x + threadIdx.x);
    for (int i = 0; i < updates; i++) {
        unsigned long long r = next_random(state);
        atomicXor(&table[unsigned(r) % entries], r);
    }
}

int main(int argc, char **argv)
{
    micro m = micro_arguments(
        argc, argv, "altis_gups", size_t(1) << 31,
        {{"block_size", "256"}, {"num_threads", "65536"}, {"num_updates", "128"}});
    unsigned block = unsigned(m.number("block_size", 1024));
    unsigned blocks = blocks_for(m.number("num_threads", 1 << 26), block);
    int updates = int(m.number("num_updates", 1 << 20));
    unsigned long long *table = device_zeros<unsigned long long>(m.size);
    label_run(m, [&] { update<<<dim3(blocks), dim3(block)>>>(table, unsigned(m.size), updates); });
    if (!m.check) {
        return 0;
    }
    std::vector<unsigned long long> got(m.size), want(m.size);
    from_device(got, table);
    for (unsigned thread = 0; (m.iterations + 1) % 2 == 1 && thread < blocks * block; thread++) {
        unsigned long long state = first_random(thread);
        for (int i = 0; i < updates; i++) {
            unsigned long long r = next_random(state);
            want[unsigned(r) % m.size] ^= r;
        }
    }
    return m.verdict(got == want);
}
