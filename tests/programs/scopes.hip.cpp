// What GPUs see of each other where each has an L2 of its own: with releases and acquires of system scope always what was
// written, and old values where one is left out. Arguments: the way in which two GPUs are ordered, and `right` (no old
// value may come) or `old` (some must; nothing else may come).
//   kernels   the end of one kernel, the begin of the next
//   fences    __threadfence_system() on both sides, inside of running kernels
//   released  the same without the reader's fence;  acquired: without the writer's
//   atomics   __hip_atomic_fetch_add() with release, __hip_atomic_load() with acquire, both of system scope
//   host      a copy of the host behind a kernel
//   agents    __threadfence() of two work-groups on one GPU
#include "check.hpp"

constexpr int rounds = 6, items = 64, lines = 16, size = items * lines;

__host__ __device__ static uint32_t value_of(int round, int i)
{
    return static_cast<uint32_t>(round * 65536 + i);
}

__global__ void write(uint32_t *to, int round)
{
    for (int i = threadIdx.x; i < size; i += items) {
        to[i] = value_of(round, i);
    }
}

__global__ void read(const uint32_t *from, uint32_t *to)
{
    for (int i = threadIdx.x; i < size; i += items) {
        to[i] = from[i];
    }
}

enum order { FENCES, RELEASED, ACQUIRED, ATOMICS, AGENTS };

template <order how> __device__ void count(uint32_t *flag)
{
    if (how == AGENTS) {
        __threadfence();
    } else if (how == FENCES || how == RELEASED) {
        __threadfence_system();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        if (how == ATOMICS) {
            __hip_atomic_fetch_add(flag, 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
        } else {
            atomicAdd(flag, 1u);
        }
    }
}

template <order how> __device__ void await(uint32_t *flag, uint32_t least)
{
    constexpr int acquire = how == ATOMICS ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED;
    while (__hip_atomic_load(flag, acquire, __HIP_MEMORY_SCOPE_SYSTEM) < least) {
        __builtin_amdgcn_s_sleep(8);
    }
    __syncthreads();
    if (how == AGENTS) {
        __threadfence();
    } else if (how == FENCES || how == ACQUIRED) {
        __threadfence_system();
    }
}

// flags[0]: rounds that were written, flags[16]: rounds that were read. Both sides are one work-group of one wavefront.
template <order how> __device__ void write_rounds(uint32_t *data, uint32_t *flags)
{
    for (int round = 1; round <= rounds; round++) {
        for (int i = threadIdx.x; i < size; i += items) {
            data[i] = value_of(round, i);
        }
        count<how>(&flags[0]);
        await<RELEASED>(&flags[16], round); // no fence
    }
}

template <order how> __device__ void read_rounds(const uint32_t *data, uint32_t *flags, uint32_t *to)
{
    for (int round = 1; round <= rounds; round++) {
        await<how>(&flags[0], round);
        for (int i = threadIdx.x; i < size; i += items) {
            to[(round - 1) * size + i] = data[i];
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            atomicAdd(&flags[16], 1u);
        }
    }
}

template <order how> __global__ void writer(uint32_t *data, uint32_t *flags)
{
    write_rounds<how>(data, flags);
}

template <order how> __global__ void reader(const uint32_t *data, uint32_t *flags, uint32_t *to)
{
    read_rounds<how>(data, flags, to);
}

__global__ void both(uint32_t *data, uint32_t *flags, uint32_t *to)
{
    if (blockIdx.x == 0) {
        write_rounds<AGENTS>(data, flags);
    } else {
        read_rounds<AGENTS>(data, flags, to);
    }
}

struct memory {
    uint32_t *data, *flags, *to;
};

template <order how> static void run_beside(int from, int to, const memory &m)
{
    HIP_MUST(hipSetDevice(to));
    reader<how><<<1, items>>>(m.data, m.flags, m.to);
    HIP_MUST(hipSetDevice(from));
    writer<how><<<1, items>>>(m.data, m.flags);
    HIP_MUST(hipDeviceSynchronize());
    HIP_MUST(hipSetDevice(to));
}

static void run_kernels(int from, int to, const memory &m)
{
    for (int round = 1; round <= rounds; round++) {
        HIP_MUST(hipSetDevice(from));
        write<<<1, items>>>(m.data, round);
        HIP_MUST(hipDeviceSynchronize());
        HIP_MUST(hipSetDevice(to));
        read<<<1, items>>>(m.data, m.to + (round - 1) * size);
        HIP_MUST(hipDeviceSynchronize());
    }
}

static void run_host(int from, const memory &m)
{
    for (int round = 1; round <= rounds; round++) {
        std::vector<uint32_t> words(size);
        HIP_MUST(hipSetDevice(from));
        write<<<1, items>>>(m.data, round);
        from_device(words, m.data);
        HIP_MUST(hipMemcpy(m.to + (round - 1) * size, words.data(), size * sizeof(uint32_t), hipMemcpyHostToDevice));
    }
}

static void run_ordered(const char *how, int from, int to, const memory &m)
{
    if (!std::strcmp(how, "kernels")) {
        run_kernels(from, to, m);
    } else if (!std::strcmp(how, "host")) {
        run_host(from, m);
    } else if (!std::strcmp(how, "fences")) {
        run_beside<FENCES>(from, to, m);
    } else if (!std::strcmp(how, "released")) {
        run_beside<RELEASED>(from, to, m);
    } else if (!std::strcmp(how, "acquired")) {
        run_beside<ACQUIRED>(from, to, m);
    } else if (!std::strcmp(how, "atomics")) {
        run_beside<ATOMICS>(from, to, m);
    } else if (!std::strcmp(how, "agents")) {
        HIP_MUST(hipSetDevice(to));
        both<<<2, items>>>(m.data, m.flags, m.to);
    } else {
        std::printf("FAIL scopes: no way is called '%s'\n", how);
        std::exit(2);
    }
    HIP_MUST(hipDeviceSynchronize());
}

// The number of old values that were read; others than that must not come.
static int old_values(const std::vector<uint32_t> &got)
{
    int old = 0;
    for (int round = 1; round <= rounds; round++) {
        for (int i = 0; i < size; i++) {
            uint32_t value = got[(round - 1) * size + i];
            bool earlier = value == 0 || (value % 65536 == static_cast<uint32_t>(i) && value < value_of(round, i));
            if (value != value_of(round, i) && !earlier) {
                std::printf("FAIL scopes: round %d, word %d is 0x%x, which it never was\n", round, i, value);
                std::exit(1);
            }
            old += value != value_of(round, i);
        }
    }
    return old;
}

// Device `from` writes into memory of `owner`, device `to` reads it.
static int run_once(const char *how, int owner, int from, int to)
{
    memory m;
    HIP_MUST(hipSetDevice(owner));
    m.data = device_zeros<uint32_t>(size);
    m.flags = device_zeros<uint32_t>(32);
    HIP_MUST(hipSetDevice(to));
    m.to = device_zeros<uint32_t>(size * rounds);
    run_ordered(how, from, to, m);
    std::vector<uint32_t> got(size * rounds);
    from_device(got, m.to);
    return old_values(got);
}

int main(int argc, char **argv)
{
    int devices = 0, old = 0;
    HIP_MUST(hipGetDeviceCount(&devices));
    if (argc != 3 || devices < 3) {
        std::printf("FAIL scopes: needs three devices, a way and `right` or `old`\n");
        return 2;
    }
    for (int d = 0; d < 3; d++) {
        HIP_MUST(hipSetDevice(d));
        for (int other = 0; other < 3; other++) {
            if (other != d) {
                HIP_MUST(hipDeviceEnablePeerAccess(other, 0));
            }
        }
    }
    // Memory of a third device, of the writer, of the reader.
    for (int owner = 0; owner < 3; owner++) {
        int now = run_once(argv[1], owner, 1, 2);
        std::printf("memory of device %d: %d of %d values are old\n", owner, now, size * rounds);
        old += now;
    }
    if ((old > 0) != !std::strcmp(argv[2], "old")) {
        std::printf("FAIL scopes: %d old values\n", old);
        return 1;
    }
    return pass("scopes");
}
