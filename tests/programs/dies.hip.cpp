// Compute dies of one GPU, of a target that has a register for the number of the die. Arguments: number of dies, and what is tried:
//   place     work-group i, counted through the grid, runs on die i modulo their number, on several of its compute units
//   right     what one die writes, another sees behind a release and an acquire of agent scope, inside of a kernel
//   released  the same without the acquire: old values come;  acquired: without the release
//   atomics   work-groups of all dies count in the same words
//   kernels   what a kernel writes on all dies, the next one reads on others
#include "check.hpp"

#include <cstring>
#include <set>

constexpr int rounds = 6, items = 64, lines = 16, size = items * lines;

#define READ(id) __builtin_amdgcn_s_getreg((31 << 11) | (id))

struct place {
    unsigned die, hw_id;
};

__global__ void places(place *out)
{
    unsigned group = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    if (threadIdx.x == 0) {
        out[group] = {static_cast<unsigned>(READ(20)), static_cast<unsigned>(READ(4))};
    }
}

static int run_places(unsigned dies)
{
    const dim3 grid(5, 7, 3);
    std::vector<place> all(5 * 7 * 3);
    std::set<unsigned> units;
    place *out = device_zeros<place>(all.size());
    places<<<grid, 64>>>(out);
    from_device(all, out);
    for (unsigned i = 0; i < all.size(); i++) {
        if (all[i].die != i % dies) {
            std::printf("FAIL dies: work-group %u ran on die %u\n", i, all[i].die);
            return 1;
        }
        units.insert(all[i].hw_id >> 8 & 0x7f);
    }
    if (units.size() < 2) {
        std::printf("FAIL dies: all work-groups ran on one compute unit\n");
        return 1;
    }
    return pass("dies");
}

__device__ void count(uint32_t *flag)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __hip_atomic_fetch_add(flag, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    }
}

__device__ void await(uint32_t *flag, uint32_t least)
{
    while (__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) < least) {
        __builtin_amdgcn_s_sleep(8);
    }
    __syncthreads();
}

// Work-group 0 writes rounds of words, work-group 1 reads them: they are on different dies. flags[0]: rounds that were written,
// flags[32]: rounds that were read.
template <bool release, bool acquire> __global__ void exchange(uint32_t *data, uint32_t *flags, uint32_t *to)
{
    for (int round = 1; round <= rounds; round++) {
        if (blockIdx.x == 0) {
            for (int i = threadIdx.x; i < size; i += items) {
                data[i] = round * 65536 + i;
            }
            if (release) {
                __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
            } else {
                __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
            }
            count(&flags[0]);
            await(&flags[32], round);
        } else {
            await(&flags[0], round);
            if (acquire) {
                __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
            } else {
                __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
            }
            for (int i = threadIdx.x; i < size; i += items) {
                to[(round - 1) * size + i] = data[i];
            }
            count(&flags[32]);
        }
    }
}

template <bool release, bool acquire> static int run_exchange(bool old)
{
    std::vector<uint32_t> got(rounds * size);
    uint32_t *data = device_zeros<uint32_t>(size), *flags = device_zeros<uint32_t>(64),
             *to = device_zeros<uint32_t>(got.size());
    int wrong = 0;
    exchange<release, acquire><<<2, items>>>(data, flags, to);
    from_device(got, to);
    for (int round = 1; round <= rounds; round++) {
        for (int i = 0; i < size; i++) {
            wrong += got[(round - 1) * size + i] != static_cast<uint32_t>(round * 65536 + i);
        }
    }
    if ((wrong != 0) != old) {
        std::printf("FAIL dies: %d words are old\n", wrong);
        return 1;
    }
    return pass("dies");
}

__global__ void count_all(uint32_t *words, int n)
{
    for (int i = 0; i < n; i++) {
        atomicAdd(&words[(threadIdx.x + i) % n], 1u);
    }
}

static int run_atomics()
{
    std::vector<uint32_t> got(16), want(16, 50 * 64);
    uint32_t *words = device_zeros<uint32_t>(got.size());
    count_all<<<50, 64>>>(words, 16);
    from_device(got, words);
    return same_or_report("dies", got, want) ? pass("dies") : 1;
}

// Each work-group writes its number to words that are in the same lines as those of others.
__global__ void write(uint32_t *words, int groups, int round)
{
    words[threadIdx.x * groups + (blockIdx.x + round) % groups] += 1 + threadIdx.x;
}

static int run_kernels()
{
    const int groups = 37, times = 5;
    std::vector<uint32_t> got(64 * groups), want(64 * groups);
    uint32_t *words = device_zeros<uint32_t>(got.size());
    for (int round = 0; round < times; round++) {
        write<<<groups, 64>>>(words, groups, round);
    }
    from_device(got, words);
    for (int i = 0; i < 64 * groups; i++) {
        want[i] = times * (1 + i / groups);
    }
    return same_or_report("dies", got, want) ? pass("dies") : 1;
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[2] : "place";
    if (!std::strcmp(what, "place")) {
        return run_places(size_argument(argc, argv, 1, 2));
    }
    if (!std::strcmp(what, "atomics")) {
        return run_atomics();
    }
    if (!std::strcmp(what, "kernels")) {
        return run_kernels();
    }
    return !std::strcmp(what, "released")   ? run_exchange<true, false>(true)
           : !std::strcmp(what, "acquired") ? run_exchange<false, true>(true)
                                            : run_exchange<true, true>(false);
}
