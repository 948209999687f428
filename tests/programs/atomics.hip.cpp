// Atomics of every kind on memory and LDS, 32 and 64 bits and float, with and without their old values. Old values are
// checked through properties that hold in any order. Arguments: [work-items].
#include "check.hpp"

typedef unsigned long long u64;
enum { slots = 16 };

template <typename T> __device__ static void all_kinds(T *slot, T value)
{
    atomicAdd(&slot[0], value);
    atomicSub(&slot[1], value);
    atomicMin(&slot[2], value);
    atomicMax(&slot[3], value);
    atomicAnd(&slot[4], ~(static_cast<T>(1) << (value % (8 * sizeof(T) - 1))));
    atomicOr(&slot[5], static_cast<T>(1) << (value % (8 * sizeof(T) - 1)));
    atomicXor(&slot[6], value);
    T old = slot[7], seen;
    while ((seen = atomicCAS(&slot[7], old, old + 2 * value)) != old) {
        old = seen;
    }
}

template <typename T> __device__ static void store_all(T *to, const T *from)
{
    __syncthreads();
    if (threadIdx.x < slots) {
        to[threadIdx.x] = from[threadIdx.x];
    }
}

template <typename T> __global__ void on_memory(T *slot, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        all_kinds(slot, static_cast<T>(i + 1));
    }
}

template <typename T> __global__ void on_lds(T *slot, const T *initial, int n)
{
    __shared__ T shared[slots];
    if (threadIdx.x < slots) {
        shared[threadIdx.x] = initial[threadIdx.x];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        all_kinds(shared, static_cast<T>(i + 1));
    }
    store_all(slot, shared);
}

// HIP's headers before 5.5 call them by a name that LLVM has no longer since 17.
__device__ void count_up(unsigned *slot, unsigned most)
{
#if defined(__HIP_DEVICE_COMPILE__) && __clang_major__ >= 17
    __builtin_amdgcn_atomic_inc32(slot, most, __ATOMIC_RELAXED, "agent");
#else
    atomicInc(slot, most);
#endif
}

__device__ void count_down(unsigned *slot, unsigned most)
{
#if defined(__HIP_DEVICE_COMPILE__) && __clang_major__ >= 17
    __builtin_amdgcn_atomic_dec32(slot, most, __ATOMIC_RELAXED, "agent");
#else
    atomicDec(slot, most);
#endif
}

// Kinds of 32 bits only, and exchange: every ticket is drawn once, every exchanged value is seen once.
__global__ void special(unsigned *slot, float *sums, double *precise, unsigned *tickets, u64 *chain, int n)
{
    __shared__ unsigned shared_ticket;
    __shared__ float shared_sum;
    if (threadIdx.x == 0) {
        shared_ticket = 0;
        shared_sum = 0;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&tickets[atomicAdd(&slot[0], 1u)], 1u);
        count_up(&slot[1], 12);
        count_down(&slot[2], 12);
        atomicAdd(&sums[0], 0.5f * (i % 7));
        atomicAdd(&precise[0], 0.25 * (i % 5));
        atomicExch(&sums[1], 1.0f);
        atomicAdd(&chain[0], atomicExch(&chain[1], static_cast<u64>(i + 1) << 33));
        atomicAdd(&shared_ticket, 1u);
        atomicAdd(&shared_sum, 0.125f * (i % 3));
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&slot[3], shared_ticket);
        atomicAdd(&sums[2], shared_sum);
    }
}

template <typename T> static std::vector<T> start()
{
    std::vector<T> slot(slots);
    slot[1] = 1000000;
    slot[2] = 500;
    slot[4] = static_cast<T>(-1);
    return slot;
}

template <typename T> static std::vector<T> expected(int n)
{
    std::vector<T> slot = start<T>();
    for (int i = 0; i < n; i++) {
        T value = i + 1, bit = static_cast<T>(1) << (value % (8 * sizeof(T) - 1));
        slot[0] += value;
        slot[1] -= value;
        slot[2] = std::min(slot[2], value);
        slot[3] = std::max(slot[3], value);
        slot[4] &= ~bit;
        slot[5] |= bit;
        slot[6] ^= value;
        slot[7] += 2 * value;
    }
    return slot;
}

template <typename T> static bool check(const char *name, int n)
{
    std::vector<T> initial = start<T>(), got(slots);
    T *slot = to_device(initial), *copy = to_device(initial);
    on_memory<T><<<blocks_for(n, 64), 64>>>(slot, n);
    from_device(got, slot);
    if (!same_or_report(name, got, expected<T>(n))) {
        return false;
    }
    on_lds<T><<<1, 128>>>(slot, copy, n);
    from_device(got, slot);
    return same_or_report(name, got, expected<T>(n));
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 200);
    if (!check<unsigned>("atomics: unsigned", n) || !check<int>("atomics: int", n) ||
        !check<u64>("atomics: unsigned long long", n)) {
        return 1;
    }
    unsigned *slot = device_zeros<unsigned>(4), *tickets = device_zeros<unsigned>(n);
    float *sums = device_zeros<float>(3);
    double *precise = device_zeros<double>(1);
    u64 *chain = device_zeros<u64>(2);
    special<<<blocks_for(n, 64), 64>>>(slot, sums, precise, tickets, chain, n);
    std::vector<unsigned> slots_got(4), tickets_got(n), once(n, 1);
    std::vector<float> sums_got(3), sums_want(3);
    std::vector<double> precise_got(1), precise_want(1);
    std::vector<u64> chain_got(2);
    from_device(slots_got, slot);
    from_device(tickets_got, tickets);
    from_device(sums_got, sums);
    from_device(precise_got, precise);
    from_device(chain_got, chain);
    unsigned up = 0, down = 0, count = n;
    u64 all = 0;
    for (int i = 0; i < n; i++) {
        up = up >= 12 ? 0 : up + 1;
        down = down == 0 || down > 12 ? 12 : down - 1;
        sums_want[0] += 0.5f * (i % 7);
        sums_want[2] += 0.125f * (i % 3);
        precise_want[0] += 0.25 * (i % 5);
        all += static_cast<u64>(i + 1) << 33;
    }
    sums_want[1] = 1;
    std::vector<unsigned> slots_want = {count, up, down, count};
    std::vector<u64> chain_want = {all}, chain_sum = {chain_got[0] + chain_got[1]};
    return same_or_report("atomics: tickets", tickets_got, once) &&
                   same_or_report("atomics: counters", slots_got, slots_want) &&
                   same_or_report("atomics: float", sums_got, sums_want) &&
                   same_or_report("atomics: double", precise_got, precise_want) &&
                   same_or_report("atomics: exchange", chain_sum, chain_want)
               ? pass("atomics")
               : 1;
}
