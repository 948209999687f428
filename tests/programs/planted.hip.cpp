// Kernels of which each has one known reason to be slow, for reports to find: `planted CAUSE`. What
// a kernel reads is full of the same word, so what it has to write is known.
#include "check.hpp"

static constexpr uint32_t WORD = 0x01010101u;
static constexpr int LINE = 16, PAGE = 1024; // in words; lines of 64 bytes

struct machine {
    int units;
    bool hashed;         // channels are the exclusive or of all address bits
    unsigned interleave; // words
    unsigned channels;   // of the L2
    unsigned channel;    // the one that is hot
};
static machine here;

// ---- memory

// The word where the k-th piece of channel `channel` begins.
static __host__ __device__ size_t piece(const machine &m, unsigned k, unsigned channel)
{
    unsigned low = channel;
    for (unsigned rest = m.hashed && m.channels > 1 ? k : 0; rest; rest /= m.channels) {
        low ^= rest % m.channels;
    }
    return (static_cast<size_t>(k) * m.channels + low) * m.interleave;
}

// All wavefronts go through the channels, and are in the same one at any time.
__global__ void one_channel_behind_the_other(const uint32_t *in, uint32_t *out, machine m,
                                             int rounds)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int round = 0; round < rounds; round++) {
        sum += in[piece(m, thread / LINE % 512, round * 5 % m.channels) + thread % LINE];
        __syncthreads();
    }
    out[thread] = sum;
}

__global__ void one_channel(const uint32_t *in, uint32_t *out, machine m, int rounds)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int round = 0; round < rounds; round++) {
        sum += in[piece(m, (thread / LINE + round * 37) % 512, m.channel) + thread % LINE];
    }
    out[thread] = sum;
}

// Each work-item reads 16 bytes behind those of the one before it, and all of them once.
__global__ void stream(const uint4 *in, uint32_t *out, int rounds)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    uint32_t sum = 0;
#pragma unroll 4
    for (int round = 0; round < rounds; round++) {
        uint4 part = in[round * threads + thread];
        sum += part.x + part.y + part.z + part.w;
    }
    out[thread] = sum;
}

__global__ void write(uint4 *to, int rounds)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (int round = 0; round < rounds; round++) {
        to[round % 2 * threads + thread] = make_uint4(WORD, WORD, WORD, WORD);
    }
}

// A word of a line for each lane, in lines side by side.
__global__ void lines(const uint32_t *in, uint32_t *out, int rounds)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t sum = 0;
#pragma unroll 4
    for (int round = 0; round < rounds; round++) {
        sum += in[(thread + round * 3000) * LINE % (1 << 18)];
    }
    out[thread] = sum;
}

// One line of each page, not the same one in all, so that caches and channels share the work.
static __device__ size_t place_of(size_t number, size_t words)
{
    return number * words + number * 5 % 64 * LINE;
}

__global__ void mark(uint32_t *data, size_t words)
{
    data[place_of(blockIdx.x * blockDim.x + threadIdx.x, words)] = WORD;
}

__global__ void pages(const uint32_t *data, uint32_t *out, size_t words, int count, int rounds)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t sum = 0;
    for (int round = 0; round < rounds; round++) {
        sum += data[place_of((thread + round * (count / rounds + 64)) % count, words)];
    }
    out[thread] = sum;
}

// `steps` loads, each of which has the place of the next; a line for each wavefront.
__global__ void chain(const uint32_t *next, uint32_t *out, int lines, int steps)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t at = thread / 64 % lines * LINE + thread % LINE;
    for (int step = 0; step < steps; step++) {
        at = next[at];
    }
    out[thread] = at == UINT32_MAX ? 0 : WORD;
}

__global__ void add_to_one_word(uint32_t *word, uint32_t *out, int rounds)
{
    for (int round = 0; round < rounds; round++) {
        atomicAdd(word + (threadIdx.x >> 10), 1 + (threadIdx.x >> 12));
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = WORD;
}

// ---- compute units

// A load for each round, which waits for the one before it.
static __device__ uint32_t single_reads(const uint32_t *in, int rounds)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t sum = 0;
#pragma unroll 1
    for (int round = 0; round < rounds; round++) {
        sum += in[(thread + (round * 1031 << 6)) & 0xffff];
    }
    return sum;
}

__global__ void many_registers(const uint32_t *in, uint32_t *out, int rounds)
{
#ifdef __gfx90a__
    asm volatile("" ::: "v255", "a255");
#else
    asm volatile("" ::: "v255");
#endif
    out[blockIdx.x * blockDim.x + threadIdx.x] = single_reads(in, rounds);
}

__global__ void much_lds(const uint32_t *in, uint32_t *out, int rounds)
{
    __shared__ uint32_t held[10 * 1024];
    held[threadIdx.x * 37] = threadIdx.x;
    __syncthreads();
    uint32_t other = held[(threadIdx.x ^ 1) * 37] ^ 1 ^ threadIdx.x; // 0
    out[blockIdx.x * blockDim.x + threadIdx.x] = single_reads(in, rounds) + other;
}

static __host__ __device__ uint32_t work(uint32_t x, int rounds)
{
    for (int round = 0; round < rounds; round++) {
        x = (x ^ x >> 3) + 12345;
    }
    return x;
}

// The block `longer` works for `longest` rounds.
__global__ void compute(uint32_t *out, int rounds, int longer, int longest)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    out[thread] = work(thread, static_cast<int>(blockIdx.x) == longer ? longest : rounds);
}

// Of each work-group the first wavefront works for longer.
__global__ void unequal(uint32_t *out, int rounds, int longest)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    out[thread] = work(thread, threadIdx.x < 64 ? longest : rounds);
}

// In each round another wavefront works, and the others wait for it.
__global__ void take_turns(uint32_t *out, int rounds, int length)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t x = thread;
    for (int round = 0; round < rounds; round++) {
        if (__builtin_amdgcn_readfirstlane(threadIdx.x / 64) == round) {
            x = work(x, length);
        }
        __syncthreads();
    }
    out[thread] = x;
}

// The first work-group works, and all others ask in a loop whether it is done.
__global__ void wait_for_one(volatile uint32_t *done, uint32_t *out, int length)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x == 0) {
        out[thread] = work(thread, length);
        __threadfence();
        *done = 1;
    } else {
        while (*done != 1) {
        }
        out[thread] = thread;
    }
}

__global__ void roots(float *out, int rounds)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    float x = thread;
    for (int round = 0; round < rounds; round++) {
        x = __builtin_amdgcn_sqrtf(x) + 1;
    }
    out[thread] = x;
}

// Lanes use words of the LDS that are `apart` from each other.
__global__ void lds(uint32_t *out, int rounds, int apart)
{
    __shared__ uint32_t held[64 * 32];
    for (int i = threadIdx.x; i < 64 * 32; i += blockDim.x) {
        held[i] = WORD;
    }
    __syncthreads();
    uint32_t sum = 0;
    for (int round = 0; round < rounds; round++) {
#pragma unroll
        for (int i = 0; i < 16; i++) {
            sum += held[(threadIdx.x * apart + i + round) % (64 * 32)];
        }
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static constexpr int STEPS = 800;

static __host__ __device__ constexpr uint32_t number(int step)
{
    return 2654435761u * static_cast<uint32_t>(step + 1);
}

// No instruction is executed twice: 16 bytes of code for each step.
__global__ void long_code(uint32_t *out)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t x = thread;
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
        x = (x ^ number(step)) + number(~step);
    }
    out[thread] = x;
}

// Loads of wavefronts, not of lanes, each of which has the place of the next.
__global__ void scalar_chain(const uint32_t *__restrict__ next, uint32_t *__restrict__ out,
                             int lines, int steps)
{
    uint32_t at = blockIdx.x % lines * LINE;
    for (int step = 0; step < steps; step++) {
        at = next[at];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = at == UINT32_MAX ? 0 : WORD;
}

// All lanes read 16 bytes side by side.
__global__ void lds_wide(uint32_t *out, int rounds)
{
    __shared__ uint4 held[1024];
    held[threadIdx.x] = held[threadIdx.x + 512] = make_uint4(WORD, WORD, WORD, WORD);
    __syncthreads();
    uint32_t sum = 0;
    for (int round = 0; round < rounds; round++) {
#pragma unroll
        for (int i = 0; i < 16; i++) {
            uint4 part = held[threadIdx.x + i * 32];
            sum += part.x ^ part.y ^ part.z;
        }
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// ---- the host's side

static uint32_t *filled(size_t words)
{
    uint32_t *data;
    allocate(&data, words * sizeof *data);
    HIP_MUST(hipMemset(data, WORD & 0xff, words * sizeof *data));
    return data;
}

template <typename Want> static bool holds(const uint32_t *out, size_t words, Want want)
{
    std::vector<uint32_t> got(words), expected(words);
    for (size_t i = 0; i < words; i++) {
        expected[i] = want(i);
    }
    HIP_MUST(hipMemcpy(got.data(), out, words * sizeof *out, hipMemcpyDeviceToHost));
    return same_or_report("planted", got, expected);
}

static bool all_are(const uint32_t *out, size_t words, uint32_t want)
{
    return holds(out, words, [want](size_t) { return want; });
}

static bool banks()
{
    int blocks = here.units, rounds = 32;
    uint32_t *in = filled(512 * here.channels * here.interleave), *out = filled(blocks * 512);
    one_channel_behind_the_other<<<blocks, 512>>>(in, out, here, rounds);
    return all_are(out, blocks * 512, rounds * WORD);
}

static bool channel()
{
    int blocks = here.units < 32 ? 32 : here.units, rounds = 16;
    uint32_t *in = filled(512 * here.channels * here.interleave), *out = filled(blocks * 256);
    one_channel<<<blocks, 256>>>(in, out, here, rounds);
    return all_are(out, blocks * 256, rounds * WORD);
}

static bool bandwidth()
{
    int threads = here.units * 512, rounds = 8;
    uint32_t *in = filled(threads * rounds * 4), *out = filled(threads);
    stream<<<threads / 256, 256>>>(reinterpret_cast<uint4 *>(in), out, rounds);
    return all_are(out, threads, rounds * 4 * WORD);
}

static bool stores()
{
    int threads = here.units * 256, rounds = 8;
    uint32_t *to = filled(threads * rounds * 4);
    write<<<threads / 256, 256>>>(reinterpret_cast<uint4 *>(to), rounds);
    return all_are(to, 4 * threads, WORD);
}

static bool coalescing()
{
    int threads = here.units * 256, rounds = 8;
    uint32_t *in = filled((1 << 18) + LINE), *out = filled(threads);
    lines<<<threads / 256, 256>>>(in, out, rounds);
    return all_are(out, threads, rounds * WORD);
}

static bool tlb()
{
    int count = here.hashed ? 2048 : 8192, rounds = here.hashed ? 8 : 4;
    size_t words = here.hashed ? 512 * PAGE : PAGE;
    uint32_t *data, *out = filled(count);
    allocate(&data, count * words * sizeof *data);
    mark<<<count / 64, 64>>>(data, words);
    pages<<<count / 64, 64>>>(data, out, words, count, rounds);
    return all_are(out, count, rounds * WORD);
}

// A way through all lines, in the first word of each.
static uint32_t *way(int lines)
{
    std::vector<uint32_t> next(lines * LINE);
    for (int i = 0; i < lines * LINE; i++) {
        next[i] = (i / LINE + 37) % lines * LINE + i % LINE;
    }
    return to_device(next);
}

static bool dependent_loads()
{
    int lines = 1024, threads = here.units * 256;
    uint32_t *next = way(lines), *out = filled(threads);
    chain<<<here.units, 256>>>(next, out, lines, 24);
    return all_are(out, threads, WORD);
}

static bool scalar()
{
    int lines = 1024, threads = here.units * 64;
    uint32_t *next = way(lines), *out = filled(threads);
    scalar_chain<<<here.units, 64>>>(next, out, lines, 40);
    return all_are(out, threads, WORD);
}

static bool atomics()
{
    int blocks = here.units, rounds = 4;
    uint32_t *word = filled(1), *out = filled(blocks * 64);
    add_to_one_word<<<blocks, 64>>>(word, out, rounds);
    return all_are(word, 1, WORD + blocks * 64 * rounds) && all_are(out, blocks * 64, WORD);
}

static bool registers()
{
    int threads = here.units * 64 * 8, rounds = 12;
    uint32_t *in = filled(1 << 16), *out = filled(threads);
    many_registers<<<threads / 64, 64>>>(in, out, rounds);
    return all_are(out, threads, rounds * WORD);
}

static bool lds_occupancy()
{
    int threads = here.units * 128 * 4, rounds = 12;
    uint32_t *in = filled(1 << 16), *out = filled(threads);
    much_lds<<<threads / 128, 128>>>(in, out, rounds);
    return all_are(out, threads, rounds * WORD);
}

static bool worked(const uint32_t *out, int blocks, int threads, int rounds, int longer,
                   int longest)
{
    return holds(out, static_cast<size_t>(blocks) * threads, [=](size_t i) {
        return work(i, static_cast<int>(i) / threads == longer ? longest : rounds);
    });
}

static bool ran(int blocks, int threads, int rounds, int longer, int longest)
{
    uint32_t *out = filled(blocks * threads);
    compute<<<blocks, threads>>>(out, rounds, longer, longest);
    return worked(out, blocks, threads, rounds, longer, longest);
}

static bool valu()
{
    return ran(here.units, 1024, 160, -1, 0);
}

static bool tail()
{
    return ran(here.units * 4, 64, 64, here.units, 4096);
}

static bool spin()
{
    int blocks = here.units, length = 2048;
    uint32_t *done = filled(1), *out = filled(blocks * 64);
    wait_for_one<<<blocks, 64>>>(done, out, length);
    return holds(out, blocks * 64, [=](size_t i) { return i < 64 ? work(i, length) : i; });
}

static bool grid()
{
    return ran(here.units / 8, 64, 2048, -1, 0);
}

static bool wavefronts()
{
    int blocks = here.units;
    uint32_t *out = filled(blocks * 512);
    unequal<<<blocks, 512>>>(out, 16, 1024);
    return holds(out, blocks * 512, [](size_t i) { return work(i, i % 512 < 64 ? 1024 : 16); });
}

static bool barrier()
{
    int blocks = here.units, length = 128;
    uint32_t *out = filled(blocks * 512);
    take_turns<<<blocks, 512>>>(out, 8, length);
    return holds(out, blocks * 512, [=](size_t i) { return work(i, length); });
}

static bool transcendental()
{
    int threads = here.units * 512;
    float *out = reinterpret_cast<float *>(filled(threads));
    roots<<<threads / 512, 512>>>(out, 128);
    std::vector<float> got(threads);
    from_device(got, out);
    for (float x : got) {
        if (std::fabs(x - 2.618034f) > 1e-3f) { // x = sqrt(x) + 1
            std::printf("FAIL planted: %g\n", x);
            return false;
        }
    }
    return true;
}

static bool lds_banks()
{
    int blocks = here.units, rounds = 8;
    uint32_t *out = filled(blocks * 256);
    lds<<<blocks, 256>>>(out, rounds, 32);
    return all_are(out, blocks * 256, rounds * 16 * WORD);
}

static bool lds_bandwidth()
{
    int blocks = here.units, rounds = 8;
    uint32_t *out = filled(blocks * 512);
    lds_wide<<<blocks, 512>>>(out, rounds);
    return all_are(out, blocks * 512, rounds * 16 * WORD);
}

static bool fetch()
{
    int blocks = here.units;
    uint32_t *out = filled(blocks * 64);
    long_code<<<blocks, 64>>>(out);
    return holds(out, blocks * 64, [](size_t i) {
        uint32_t x = i;
        for (int step = 0; step < STEPS; step++) {
            x = (x ^ number(step)) + number(~step);
        }
        return x;
    });
}

static bool gap()
{
    uint32_t *out = filled(64);
    for (int i = 0; i < 40; i++) {
        compute<<<1, 64>>>(out, i, -1, 0);
    }
    return worked(out, 1, 64, 39, -1, 0);
}

static bool host()
{
    uint32_t *out = filled(64);
    hipEvent_t event;
    HIP_MUST(hipEventCreate(&event));
    for (int i = 0; i < 20; i++) {
        HIP_MUST(hipEventRecord(event));
    }
    compute<<<1, 64>>>(out, 8, -1, 0);
    return worked(out, 1, 64, 8, -1, 0);
}

static bool copies()
{
    std::vector<uint32_t> bytes(1 << 19, WORD);
    uint32_t *data = to_device(bytes), *out = filled(64);
    compute<<<1, 64>>>(out, 8, -1, 0);
    return all_are(data, bytes.size(), WORD) && worked(out, 1, 64, 8, -1, 0);
}

// Work-groups that are done when the next one comes.
static bool dispatch()
{
    return ran(here.units * 16, 64, 0, -1, 0);
}

// A loop that is longer than the instruction cache.
__global__ void long_loop(uint32_t *out, int rounds)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t x = thread;
#pragma unroll 1
    for (int round = 0; round < rounds; round++) {
#pragma unroll
        for (int step = 0; step < 4 * STEPS; step++) {
            x = (x ^ number(step)) + number(~step);
        }
    }
    out[thread] = x;
}

static bool loop()
{
    int blocks = here.units;
    uint32_t *out = filled(blocks * 64);
    long_loop<<<blocks, 64>>>(out, 2);
    return holds(out, blocks * 64, [](size_t i) {
        uint32_t x = i;
        for (int step = 0; step < 8 * STEPS; step++) {
            x = (x ^ number(step % (4 * STEPS))) + number(~(step % (4 * STEPS)));
        }
        return x;
    });
}

// The first GPU reads what lies in the memory of the second.
static bool peer()
{
    int threads = here.units * 64, rounds = 4;
    HIP_MUST(hipSetDevice(1));
    uint32_t *in = filled(threads * rounds * 4);
    HIP_MUST(hipSetDevice(0));
    HIP_MUST(hipDeviceEnablePeerAccess(1, 0));
    uint32_t *out = filled(threads);
    stream<<<threads / 64, 64>>>(reinterpret_cast<uint4 *>(in), out, rounds);
    return all_are(out, threads, rounds * 4 * WORD);
}

// The same kernel on two GPUs, of which only the first has one hot channel.
static bool two_gpus()
{
    int blocks = here.units, rounds = 16;
    bool good = true;
    uint32_t *in[2], *out[2];
    for (int gpu = 0; gpu < 2; gpu++) {
        HIP_MUST(hipSetDevice(gpu));
        in[gpu] = filled(512 * here.channels * here.interleave);
        out[gpu] = filled(blocks * 256);
    }
    for (int gpu = 0; gpu < 2; gpu++) {
        machine spread = here;
        spread.channels = gpu ? 1 : here.channels;
        spread.channel = gpu ? 0 : here.channel;
        HIP_MUST(hipSetDevice(gpu));
        one_channel<<<blocks, 256>>>(in[gpu], out[gpu], spread, rounds);
    }
    for (int gpu = 0; gpu < 2; gpu++) {
        HIP_MUST(hipSetDevice(gpu));
        good = all_are(out[gpu], blocks * 256, rounds * WORD) && good;
    }
    return good;
}

static const struct {
    const char *name;
    bool (*run)();
} causes[] = {{"banks", banks},
              {"channel", channel},
              {"bandwidth", bandwidth},
              {"stores", stores},
              {"coalescing", coalescing},
              {"tlb", tlb},
              {"chain", dependent_loads},
              {"scalar", scalar},
              {"atomics", atomics},
              {"registers", registers},
              {"lds_occupancy", lds_occupancy},
              {"valu", valu},
              {"tail", tail},
              {"spin", spin},
              {"grid", grid},
              {"wavefronts", wavefronts},
              {"barrier", barrier},
              {"transcendental", transcendental},
              {"lds_banks", lds_banks},
              {"lds_bandwidth", lds_bandwidth},
              {"fetch", fetch},
              {"gap", gap},
              {"host", host},
              {"copies", copies},
              {"peer", peer},
              {"two_gpus", two_gpus},
              {"dispatch", dispatch},
              {"loop", loop}};

int main(int argc, char **argv)
{
    hipDeviceProp_t properties;
    HIP_MUST(hipGetDeviceProperties(&properties, 0));
    bool cdna = std::strncmp(properties.gcnArchName, "gfx90a", 6) == 0;
    here = {properties.multiProcessorCount, cdna, cdna ? 64u : 32u, cdna ? 64u : 16u, 3};
    for (const auto &cause : causes) {
        if (argc > 1 && std::strcmp(argv[1], cause.name) == 0) {
            return cause.run() ? pass("planted") : 1;
        }
    }
    std::printf("FAIL planted: name a cause\n");
    return 1;
}
