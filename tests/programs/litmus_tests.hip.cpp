// The litmus tests of litmus_tests.def, for HIP and for CUDA: `litmus_tests PLACE SCOPE SEED
// [TEST,...]`.
// PLACE: `groups` (a work-group for each thread), `group` (a wavefront of one work-group each),
// `lds` (the same, in LDS), `devices` (in turn on two devices). SCOPE: workgroup, agent, system.
// Each test is run at all levels of order, `rounds` times at four distances of its locations, with
// delays by SEED. Prints a line for each test and level: how often which outcome came, as
// litmus_tests.def writes outcomes. What may come is tests/system/helpers/litmus_model.py's to say.
#ifdef __CUDACC__
#include <cuda_runtime.h>
#define GPU(name) cuda##name
#else
#include <hip/hip_runtime.h>
#define GPU(name) hip##name
#endif

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

constexpr int rounds = 8, lanes = 4, instances = rounds * lanes, roles = 4, steps = 2;
constexpr int instance_words = 512, words = instances * instance_words, lds_words = 8;

enum level { RELAXED, ACQ_REL, SEQ_CST, FENCES, SC_FENCES, LEVELS };
enum scope { WORKGROUP, AGENT, SYSTEM };
static const char *const level_names[] = {"relaxed", "acq_rel", "seq_cst", "fences", "sc_fences"};
static const char *const scope_names[] = {"workgroup", "agent", "system"};

struct test {
    const char *name, *weak, *thread[roles];
};

constexpr test tests[] = {
#define LITMUS(name, weak, ...) {#name, weak, {__VA_ARGS__}},
#include "litmus_tests.def"
};

// ---- operations ----

#ifdef __CUDACC__
// Sequentially consistent ones as CUDA's library has them: a fence, then the weaker one.
#define SCOPED(s, before, after, ...)                                                              \
    do {                                                                                           \
        if (s == WORKGROUP) {                                                                      \
            asm volatile(before "cta" after __VA_ARGS__);                                          \
        } else if (s == AGENT) {                                                                   \
            asm volatile(before "gpu" after __VA_ARGS__);                                          \
        } else {                                                                                   \
            asm volatile(before "sys" after __VA_ARGS__);                                          \
        }                                                                                          \
    } while (0)

template <int o, int s> __device__ inline void fence()
{
    if (o == SEQ_CST) {
        SCOPED(s, "fence.sc.", ";", ::: "memory");
    } else {
        SCOPED(s, "fence.acq_rel.", ";", ::: "memory");
    }
}

template <int o, int s> __device__ inline uint32_t load(uint32_t *p)
{
    uint32_t v;
    if (o == SEQ_CST) {
        fence<SEQ_CST, s>();
    }
    if (o == RELAXED) {
        SCOPED(s, "ld.relaxed.", ".u32 %0, [%1];", : "=r"(v) : "l"(p) : "memory");
    } else {
        SCOPED(s, "ld.acquire.", ".u32 %0, [%1];", : "=r"(v) : "l"(p) : "memory");
    }
    return v;
}

template <int o, int s> __device__ inline void store(uint32_t *p, uint32_t v)
{
    if (o == SEQ_CST) {
        fence<SEQ_CST, s>();
    }
    if (o == RELAXED) {
        SCOPED(s, "st.relaxed.", ".u32 [%0], %1;", : : "l"(p), "r"(v) : "memory");
    } else {
        SCOPED(s, "st.release.", ".u32 [%0], %1;", : : "l"(p), "r"(v) : "memory");
    }
}

template <int o, int s> __device__ inline uint32_t exchange(uint32_t *p, uint32_t v)
{
    uint32_t old;
    if (o == SEQ_CST) {
        fence<SEQ_CST, s>();
    }
    if (o == RELAXED) {
        SCOPED(s, "atom.relaxed.", ".exch.b32 %0, [%1], %2;",
               : "=r"(old) : "l"(p), "r"(v) : "memory");
    } else {
        SCOPED(s, "atom.acq_rel.", ".exch.b32 %0, [%1], %2;",
               : "=r"(old) : "l"(p), "r"(v) : "memory");
    }
    return old;
}

__device__ inline void rest(uint32_t times)
{
    for (; times; times--) {
        __nanosleep(1);
    }
}
#else
template <int s> constexpr int hip_scope()
{
    return s == WORKGROUP ? __HIP_MEMORY_SCOPE_WORKGROUP
           : s == AGENT   ? __HIP_MEMORY_SCOPE_AGENT
                          : __HIP_MEMORY_SCOPE_SYSTEM;
}

template <int o, int s> __device__ inline uint32_t load(uint32_t *p)
{
    constexpr int order = o == RELAXED   ? __ATOMIC_RELAXED
                          : o == ACQ_REL ? __ATOMIC_ACQUIRE
                                         : __ATOMIC_SEQ_CST;
    return __hip_atomic_load(p, order, hip_scope<s>());
}

template <int o, int s> __device__ inline void store(uint32_t *p, uint32_t v)
{
    constexpr int order = o == RELAXED   ? __ATOMIC_RELAXED
                          : o == ACQ_REL ? __ATOMIC_RELEASE
                                         : __ATOMIC_SEQ_CST;
    __hip_atomic_store(p, v, order, hip_scope<s>());
}

template <int o, int s> __device__ inline uint32_t exchange(uint32_t *p, uint32_t v)
{
    constexpr int order = o == RELAXED   ? __ATOMIC_RELAXED
                          : o == ACQ_REL ? __ATOMIC_ACQ_REL
                                         : __ATOMIC_SEQ_CST;
    return __hip_atomic_exchange(p, v, order, hip_scope<s>());
}

#define FENCE(order)                                                                               \
    if (s == WORKGROUP) {                                                                          \
        __builtin_amdgcn_fence(order, "workgroup");                                                \
    } else if (s == AGENT) {                                                                       \
        __builtin_amdgcn_fence(order, "agent");                                                    \
    } else {                                                                                       \
        __builtin_amdgcn_fence(order, "");                                                         \
    }

template <int o, int s> __device__ inline void fence()
{
    if (o == SEQ_CST) {
        FENCE(__ATOMIC_SEQ_CST)
    } else {
        FENCE(__ATOMIC_ACQ_REL)
    }
}

__device__ inline void rest(uint32_t times)
{
    for (; times; times--) {
        asm volatile("s_nop 7");
    }
}
#endif

// ---- tests ----

constexpr int length(const char *text)
{
    return !text || !*text ? 0 : 1 + length(text + 1);
}

// An operation as a number, since a template takes no text; 0: there is none.
constexpr int operation(const char *text, int step)
{
    return 4 * step >= length(text)
               ? 0
               : text[4 * step] << 16 | (text[4 * step + 1] - 'x') << 8 | text[4 * step + 2];
}

template <int T, int R, int I> constexpr int operation_of()
{
    return operation(tests[T].thread[R], I);
}

// The operation of step I: at the levels of fences a relaxed one, behind a fence.
template <int OPERATION, int L, int S, int I>
__device__ inline void step(uint32_t *const location[3], uint32_t value[steps])
{
    constexpr int kind = OPERATION >> 16, at = OPERATION >> 8 & 0xff;
    constexpr uint32_t to = (OPERATION & 0xff) - '0';
    constexpr int order = L >= FENCES ? RELAXED : L;
    if (kind && I && L >= FENCES) {
        fence<L == SC_FENCES ? SEQ_CST : ACQ_REL, S>();
    }
    if (kind == 'w') {
        *location[at] = to;
    } else if (kind == 'r') {
        value[I] = *location[at];
    } else if (kind == 'W') {
        store<order, S>(location[at], to);
    } else if (kind == 'R') {
        value[I] = load<order, S>(location[at]);
    } else if (kind == 'U') {
        value[I] = exchange<order, S>(location[at], to);
    }
}

// Many tests have the same threads, so these are instantiated by what they do.
template <int FIRST, int SECOND, int L, int S>
__device__ inline void thread(uint32_t *const location[3], uint32_t value[steps])
{
    step<FIRST, L, S, 0>(location, value);
    step<SECOND, L, S, 1>(location, value);
}

template <int T, int L, int S>
__device__ inline void one_of(int role, uint32_t *const location[3], uint32_t value[steps])
{
    if (role == 0) {
        thread<operation_of<T, 0, 0>(), operation_of<T, 0, 1>(), L, S>(location, value);
    } else if (role == 1) {
        thread<operation_of<T, 1, 0>(), operation_of<T, 1, 1>(), L, S>(location, value);
    } else if (role == 2) {
        thread<operation_of<T, 2, 0>(), operation_of<T, 2, 1>(), L, S>(location, value);
    } else {
        thread<operation_of<T, 3, 0>(), operation_of<T, 3, 1>(), L, S>(location, value);
    }
}

template <int T, int L>
__device__ inline void at_scope(int scope, int role, uint32_t *const location[3],
                                uint32_t value[steps])
{
    if (scope == WORKGROUP) {
        one_of<T, L, WORKGROUP>(role, location, value);
    } else if (scope == AGENT) {
        one_of<T, L, AGENT>(role, location, value);
    } else {
        one_of<T, L, SYSTEM>(role, location, value);
    }
}

template <int T>
__device__ inline void at_level(int level, int scope, int role, uint32_t *const location[3],
                                uint32_t value[steps])
{
    if (level == RELAXED) {
        at_scope<T, RELAXED>(scope, role, location, value);
    } else if (level == ACQ_REL) {
        at_scope<T, ACQ_REL>(scope, role, location, value);
    } else if (level == SEQ_CST) {
        at_scope<T, SEQ_CST>(scope, role, location, value);
    } else if (level == FENCES) {
        at_scope<T, FENCES>(scope, role, location, value);
    } else {
        at_scope<T, SC_FENCES>(scope, role, location, value);
    }
}

// ---- kernels ----

struct order {
    int level, scope, threads, first, apart; // roles first, first + apart, ... are here
    uint32_t seed;
    bool together, in_lds;
    uint32_t *memory, *values, *gate;
};

__host__ __device__ static uint32_t mix(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

// Words from one location to the next, by lane: in one line, in neighbours, further, and backward.
__host__ __device__ static int place_of(int lane, int location)
{
    return lane == 0   ? location
           : lane == 1 ? 32 * location
           : lane == 2 ? 144 * location
                       : 400 - 16 * location;
}

template <int T> __global__ void litmus(order o)
{
    __shared__ uint32_t lds[instances * lds_words];
    int width = blockDim.x / (o.together ? o.threads : 1);
    int wave = threadIdx.x / width, lane = threadIdx.x % width;
    int role = o.first + o.apart * static_cast<int>(o.together ? wave : blockIdx.x);
    for (int i = threadIdx.x; i < instances * lds_words; i += blockDim.x) {
        lds[i] = 0;
    }
    __syncthreads();
    for (int round = 0; round < rounds; round++) {
        if (lane < lanes) {
            int instance = round * lanes + lane;
            uint32_t *location[3], value[steps] = {0, 0}, warm = 0;
            for (int i = 0; i < 3; i++) {
                location[i] = o.in_lds ? &lds[instance * lds_words + i]
                                       : &o.memory[instance * instance_words + place_of(lane, i)];
                warm += o.in_lds ? 0 : *location[i]; // old values in the caches
            }
            if (lane == 0) {
                atomicAdd_system(&o.gate[round], 1u + (warm >> 31));
            }
            while (load<RELAXED, SYSTEM>(&o.gate[round]) < static_cast<uint32_t>(o.threads)) {
            }
            rest(mix(o.seed + role * 977u + round * 131u) % 64);
#if defined(__HIP_DEVICE_COMPILE__) || defined(__CUDA_ARCH__) // thousands of templates
            at_level<T>(o.level, o.scope, role, location, value);
#endif
            for (int i = 0; i < steps; i++) {
                o.values[(role * steps + i) * instances + instance] = value[i];
            }
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; o.in_lds && i < instances * 3; i += blockDim.x) {
        int instance = i / 3, location = i % 3;
        o.memory[instance * instance_words + place_of(instance % lanes, location)] =
            lds[instance * lds_words + location];
    }
}

// ---- host ----

static void must(int error, const char *what)
{
    if (error) {
        std::printf("FAIL litmus_tests: %s: error %d\n", what, error);
        std::exit(1);
    }
}

static void allocate(uint32_t **to, int count)
{
    must(GPU(Malloc)(reinterpret_cast<void **>(to), count * sizeof(uint32_t)), "malloc");
}

static std::string outcome(const test &t, const uint32_t *values, const uint32_t *memory,
                           int instance)
{
    std::string text;
    for (int r = 0; r < roles; r++) {
        for (int i = 0; i < steps && 4 * i < length(t.thread[r]); i++) {
            if (t.thread[r][4 * i] != 'W' && t.thread[r][4 * i] != 'w') {
                text += static_cast<char>('0' + values[(r * steps + i) * instances + instance]);
            }
        }
    }
    text += ' ';
    for (int i = 0; i < 3; i++) {
        int at = instance * instance_words + place_of(instance % lanes, i);
        text += static_cast<char>('0' + memory[at]);
    }
    return text;
}

static const char *only; // or NULL

template <int T> static void run(order o, const char *place)
{
    static uint32_t values[roles * steps * instances], memory[words];
    const test &t = tests[T];
    o.threads = 0;
    while (o.threads < roles && length(t.thread[o.threads])) {
        o.threads++;
    }
    std::string names = std::string(",") + (only ? only : t.name) + ",";
    if (names.find(std::string(",") + t.name + ",") == std::string::npos) {
        return;
    }
    for (o.level = 0; o.level < LEVELS; o.level++) {
        must(GPU(Memset)(o.memory, 0, sizeof memory), "memset");
        must(GPU(Memset)(o.gate, 0, rounds * sizeof(uint32_t)), "memset");
        must(GPU(DeviceSynchronize)(), "memset");
        int devices = !std::strcmp(place, "devices") ? 2 : 1;
        for (int d = devices - 1; d >= 0; d--) {
            order here = o;
            here.first = d, here.apart = devices;
            int mine = (o.threads - d + devices - 1) / devices;
            must(GPU(SetDevice)(d), "device");
            if (mine) {
                litmus<T><<<o.together ? 1 : mine, o.together ? 64 * o.threads : 64>>>(here);
            }
        }
        for (int d = devices - 1; d >= 0; d--) {
            must(GPU(SetDevice)(d), "device");
            must(GPU(DeviceSynchronize)(), t.name);
        }
        must(GPU(Memcpy)(values, o.values, sizeof values, GPU(MemcpyDeviceToHost)), "copy");
        must(GPU(Memcpy)(memory, o.memory, sizeof memory, GPU(MemcpyDeviceToHost)), "copy");
        std::map<std::string, int> seen;
        for (int i = 0; i < instances; i++) {
            seen[outcome(t, values, memory, i)]++;
        }
        std::printf("%s %s:", t.name, level_names[o.level]);
        for (const auto &s : seen) {
            std::printf(" [%s] %d", s.first.c_str(), s.second);
        }
        std::printf("\n");
    }
}

template <int T> struct all {
    static void run_all(const order &o, const char *place)
    {
        all<T - 1>::run_all(o, place);
        run<T - 1>(o, place);
    }
};

template <> struct all<0> {
    static void run_all(const order &, const char *) {}
};

int main(int argc, char **argv)
{
    order o = {};
    const char *place = argc >= 4 ? argv[1] : "";
    for (int s = 0; argc >= 4 && s < 3; s++) {
        if (!std::strcmp(argv[2], scope_names[s])) {
            o.scope = s;
        }
    }
    only = argc == 5 ? argv[4] : nullptr;
    o.in_lds = !std::strcmp(place, "lds");
    o.together = o.in_lds || !std::strcmp(place, "group");
    o.seed = argc >= 4 ? std::strtoul(argv[3], nullptr, 0) : 0;
    if (!std::strcmp(place, "devices")) {
        must(GPU(SetDevice)(1), "second device");
        must(GPU(DeviceEnablePeerAccess)(0, 0), "peer access");
        must(GPU(SetDevice)(0), "first device");
    }
    allocate(&o.memory, words);
    allocate(&o.values, roles * steps * instances);
    allocate(&o.gate, rounds);
    all<sizeof tests / sizeof tests[0]>::run_all(o, place);
    for (void *memory : {(void *)o.memory, (void *)o.values, (void *)o.gate}) {
        must(GPU(Free)(memory), "free");
    }
    std::printf("PASS litmus_tests\n");
}
