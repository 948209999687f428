// Litmus tests of the memory model: one thread hands values to another through a flag, in every way that the compiler
// knows, at every scope, and takes their return back in the same way. Arguments: the memory of data and flags (device,
// host, noncoherent, managed, finegrained), the scope (wavefront, workgroup, agent, system, or bits: all cache policy
// bits of loads, stores and atomics), the distance in work-groups of both threads ...; or `devices` as the scope: system
// scope, and the threads are on two devices, of which the distance says the second.
// Prints how many rows there were. A flag that never comes and a value that is old are failures.
#include "check.hpp"

constexpr int rounds = 3, words = 6, stride = 32, spins = 600;

enum writer { STORE, FENCE_STORE, EXCHANGE, ADD, THREADFENCE, STORE_SEQ, WRITERS, STORE_RELAXED = WRITERS, ADD_RELAXED };
enum reader { LOAD, LOAD_FENCE, LOAD_ADD, LOAD_CAS, LOAD_THREADFENCE, LOAD_SEQ, READERS, LOAD_RELAXED = READERS, CAS_RELAXED };
enum payload { NOTHING, PLAIN, RELAXED, NONTEMPORAL, VOLATILE };

static const char *const writer_names[] = {"store release", "fence, store", "exchange release", "add acq_rel",
                                           "__threadfence, volatile store", "store seq_cst", "store relaxed", "add relaxed"};
static const char *const reader_names[] = {"load acquire", "load, fence", "add acquire", "compare acq_rel",
                                           "volatile load, __threadfence", "load seq_cst", "load relaxed", "compare relaxed"};
static const char *const payload_names[] = {"nothing", "plain", "relaxed", "nontemporal", "volatile"};

struct row {
    int writer, reader, payload;
};

#define FENCE(order)                                                                                                            \
    if (scope == __HIP_MEMORY_SCOPE_WAVEFRONT) {                                                                                \
        __builtin_amdgcn_fence(order, "wavefront");                                                                             \
    } else if (scope == __HIP_MEMORY_SCOPE_WORKGROUP) {                                                                         \
        __builtin_amdgcn_fence(order, "workgroup");                                                                             \
    } else if (scope == __HIP_MEMORY_SCOPE_AGENT) {                                                                             \
        __builtin_amdgcn_fence(order, "agent");                                                                                 \
    } else {                                                                                                                    \
        __builtin_amdgcn_fence(order, "");                                                                                      \
    }

template <int scope> __device__ static void fence_release()
{
    FENCE(__ATOMIC_RELEASE)
}

template <int scope> __device__ static void fence_acquire()
{
    FENCE(__ATOMIC_ACQUIRE)
}

template <int scope> __device__ static void threadfence()
{
    if (scope == __HIP_MEMORY_SCOPE_SYSTEM) {
        __threadfence_system();
    } else if (scope == __HIP_MEMORY_SCOPE_AGENT) {
        __threadfence();
    } else {
        __threadfence_block();
    }
}

template <int scope> __device__ static void give(int how, uint32_t *flag, uint32_t value)
{
    switch (how) {
    case STORE:
        __hip_atomic_store(flag, value, __ATOMIC_RELEASE, scope);
        break;
    case FENCE_STORE:
        fence_release<scope>();
        __hip_atomic_store(flag, value, __ATOMIC_RELAXED, scope);
        break;
    case EXCHANGE:
        __hip_atomic_exchange(flag, value, __ATOMIC_RELEASE, scope);
        break;
    case ADD:
        __hip_atomic_fetch_add(flag, 1u, __ATOMIC_ACQ_REL, scope);
        break;
    case THREADFENCE:
        threadfence<scope>();
        *static_cast<volatile uint32_t *>(flag) = value;
        break;
    case STORE_SEQ:
        __hip_atomic_store(flag, value, __ATOMIC_SEQ_CST, scope);
        break;
    case STORE_RELAXED:
        __hip_atomic_store(flag, value, __ATOMIC_RELAXED, scope);
        break;
    default:
        __hip_atomic_fetch_add(flag, 1u, __ATOMIC_RELAXED, scope);
        break;
    }
}

template <int scope> __device__ static uint32_t look(int how, uint32_t *flag, uint32_t value)
{
    uint32_t expected = value;
    switch (how) {
    case LOAD:
        return __hip_atomic_load(flag, __ATOMIC_ACQUIRE, scope);
    case LOAD_ADD:
        return __hip_atomic_fetch_add(flag, 0u, __ATOMIC_ACQUIRE, scope);
    case LOAD_CAS:
        __hip_atomic_compare_exchange_strong(flag, &expected, value, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE, scope);
        return expected;
    case CAS_RELAXED:
        __hip_atomic_compare_exchange_strong(flag, &expected, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED, scope);
        return expected;
    case LOAD_THREADFENCE:
        return *static_cast<volatile uint32_t *>(flag);
    case LOAD_SEQ:
        return __hip_atomic_load(flag, __ATOMIC_SEQ_CST, scope);
    default:
        return __hip_atomic_load(flag, __ATOMIC_RELAXED, scope);
    }
}

// False: it never came.
template <int scope> __device__ static bool await(int how, uint32_t *flag, uint32_t value)
{
    for (int i = 0; i < spins; i++) {
        if (look<scope>(how, flag, value) >= value) {
            if (how == LOAD_FENCE) {
                fence_acquire<scope>();
            } else if (how == LOAD_THREADFENCE) {
                threadfence<scope>();
            }
            return true;
        }
        __builtin_amdgcn_s_sleep(4);
    }
    return false;
}

template <int scope> __device__ static void put(int how, uint32_t *to, uint32_t value)
{
    if (how == RELAXED) {
        __hip_atomic_store(to, value, __ATOMIC_RELAXED, scope);
    } else if (how == NONTEMPORAL) {
        __builtin_nontemporal_store(value, to);
    } else if (how == VOLATILE) {
        *static_cast<volatile uint32_t *>(to) = value;
    } else {
        *to = value;
    }
}

template <int scope> __device__ static uint32_t take(int how, uint32_t *from)
{
    if (how == RELAXED) {
        return __hip_atomic_load(from, __ATOMIC_RELAXED, scope);
    }
    if (how == NONTEMPORAL) {
        return __builtin_nontemporal_load(from);
    }
    return how == VOLATILE ? *static_cast<volatile uint32_t *>(from) : *from;
}

// wrong[0]: flags that never came; wrong[1]: old values.
template <int scope> __device__ static void write_side(row r, uint32_t *data, uint32_t *flags, uint32_t *wrong)
{
    for (uint32_t round = 1; round <= rounds; round++) {
        if (scope != __HIP_MEMORY_SCOPE_WAVEFRONT && !await<scope>(r.reader, &flags[stride], round)) {
            atomicAdd(&wrong[0], 1u);
        }
        for (int i = 0; i < words && r.payload; i++) {
            put<scope>(r.payload, &data[i * stride], round * 1000 + i);
        }
        give<scope>(r.writer, &flags[0], round);
        if (scope == __HIP_MEMORY_SCOPE_WAVEFRONT) {
            return;
        }
    }
}

template <int scope> __device__ static void read_side(row r, uint32_t *data, uint32_t *flags, uint32_t *wrong)
{
    uint32_t old = 0;
    for (uint32_t round = 1; round <= rounds; round++) {
        for (int i = 0; i < words && r.payload && scope != __HIP_MEMORY_SCOPE_WAVEFRONT; i++) { // into the caches
            old += take<scope>(r.payload, &data[i * stride]) != (round == 1 ? 0 : round * 1000 - 1000 + i);
        }
        if (scope != __HIP_MEMORY_SCOPE_WAVEFRONT) {
            give<scope>(r.writer, &flags[stride], round);
        }
        if (!await<scope>(r.reader, &flags[0], round)) {
            atomicAdd(&wrong[0], 1u);
        }
        for (int i = 0; i < words && r.payload; i++) {
            old += take<scope>(r.payload, &data[i * stride]) != round * 1000 + i;
        }
        if (scope == __HIP_MEMORY_SCOPE_WAVEFRONT) {
            break;
        }
    }
    if (old) {
        atomicAdd(&wrong[1], old);
    }
}

// Two work-groups `distance` apart; at narrower scopes two wavefronts of a work-group, or two lanes of one.
template <int scope> __global__ void hand_over(row r, int distance, uint32_t *data, uint32_t *flags, uint32_t *wrong)
{
    constexpr bool wide = scope == __HIP_MEMORY_SCOPE_AGENT || scope == __HIP_MEMORY_SCOPE_SYSTEM;
    int pair = wide ? blockIdx.x % distance : blockIdx.x;
    bool writes = wide ? static_cast<int>(blockIdx.x) < distance : threadIdx.x == 0;
    bool reads = wide ? !writes : threadIdx.x == (scope == __HIP_MEMORY_SCOPE_WORKGROUP ? 64 : 63);
    data += pair * words * stride;
    flags += pair * 2 * stride;
    if (writes && threadIdx.x == 0) {
        write_side<scope>(r, data, flags, wrong);
    }
    if (scope == __HIP_MEMORY_SCOPE_WAVEFRONT) { // the lanes of a wavefront take their branches in no order of their own
        __builtin_amdgcn_wave_barrier();
    }
    if (reads && (!wide || threadIdx.x == 0)) {
        read_side<scope>(r, data, flags, wrong);
    }
}

// One side of a pair, on a device of its own.
__global__ void one_side(row r, bool writes, uint32_t *data, uint32_t *flags, uint32_t *wrong)
{
    if (writes) {
        write_side<__HIP_MEMORY_SCOPE_SYSTEM>(r, data, flags, wrong);
    } else {
        read_side<__HIP_MEMORY_SCOPE_SYSTEM>(r, data, flags, wrong);
    }
}

// ---- all bits of the cache policy ----

#if defined(__gfx942__)
// Bit 0 is sc0, bit 1 sc1, bit 2 nt; on the others bit 0 is glc, bit 2 slc. No compiler here writes the scc of gfx90a.
#define BITS(macro)                                                                                                       \
    macro(0, "") macro(1, " sc0") macro(2, " sc1") macro(3, " sc0 sc1") macro(4, " nt")            \
        macro(5, " sc0 nt") macro(6, " sc1 nt") macro(7, " sc0 sc1 nt")
#define STORE_TEXT "global_store_dword %0, %1, off"
#define LOAD_TEXT "global_load_dword %0, %1, off"
#define ATOMIC_TEXT "global_atomic_swap %0, %1, off"
#else
#define BITS(macro)                                                                                                       \
    macro(0, "") macro(1, " glc") macro(2, "") macro(3, " glc") macro(4, " slc")                   \
        macro(5, " glc slc") macro(6, " slc") macro(7, " glc slc")
#define STORE_TEXT "flat_store_dword %0, %1"
#define LOAD_TEXT "flat_load_dword %0, %1"
#define ATOMIC_TEXT "flat_atomic_swap %0, %1"
#endif
#define STORE_CASE(bits, text)                                                                                            \
    case bits:                                                                                                                  \
        asm volatile(STORE_TEXT text : : "v"(flag), "v"(value) : "memory");                                                     \
        break;
#define LOAD_CASE(bits, text)                                                                                             \
    case bits:                                                                                                                  \
        asm volatile(LOAD_TEXT text "\n s_waitcnt vmcnt(0) lgkmcnt(0)" : "=v"(value) : "v"(flag) : "memory");                   \
        break;

__device__ static void store_bits(int bits, uint32_t *flag, uint32_t value)
{
    switch (bits) {
        BITS(STORE_CASE)
    default: // an atomic
        asm volatile(ATOMIC_TEXT : : "v"(flag), "v"(value) : "memory");
        break;
    }
}

__device__ static uint32_t load_with_bits(int bits, uint32_t *flag)
{
    uint32_t value = 0;
    switch (bits) {
        BITS(LOAD_CASE)
    }
    return value;
}

// Rounds that only exchange flags. Work-groups, or wavefronts of one where `together`.
__global__ void exchange_bits(int store, int load, bool together, int distance, uint32_t *flags, uint32_t *wrong)
{
    int pair = together ? blockIdx.x : blockIdx.x % distance;
    bool first = together ? threadIdx.x < 64 : static_cast<int>(blockIdx.x) < distance;
    flags += pair * 2 * stride;
    if (threadIdx.x % 64 || (!together && threadIdx.x)) {
        return;
    }
    for (uint32_t round = 1; round <= rounds; round++) {
        if (first) {
            store_bits(store, &flags[0], round);
        }
        uint32_t *from = first ? &flags[stride] : &flags[0];
        int i = 0;
        while (load_with_bits(load, from) != round && i++ < spins) {
            __builtin_amdgcn_s_sleep(4);
        }
        if (i > spins) {
            atomicAdd(&wrong[0], 1u);
        }
        if (!first) {
            store_bits(store, &flags[stride], round);
        }
    }
}

// ---- host ----

struct memory {
    uint32_t *data, *flags, *wrong;
};

static void allocate(const char *kind, void **to, size_t bytes)
{
    if (!std::strcmp(kind, "device")) {
        HIP_MUST(hipMalloc(to, bytes));
    } else if (!std::strcmp(kind, "host")) {
        HIP_MUST(hipHostMalloc(to, bytes, hipHostMallocCoherent));
    } else if (!std::strcmp(kind, "noncoherent")) {
        HIP_MUST(hipHostMalloc(to, bytes, hipHostMallocNonCoherent));
    } else if (!std::strcmp(kind, "managed")) {
        HIP_MUST(hipMallocManaged(to, bytes));
    } else if (!std::strcmp(kind, "finegrained")) {
        HIP_MUST(hipExtMallocWithFlags(to, bytes, hipDeviceMallocFinegrained));
    } else {
        std::printf("FAIL litmus: no memory is called '%s'\n", kind);
        std::exit(2);
    }
}

constexpr int pairs_most = 64;
static int rows_run, rows_wrong;

static void judge(const memory &m, const char *what, const std::string &how, int distance)
{
    std::vector<uint32_t> wrong(2);
    HIP_MUST(hipDeviceSynchronize());
    from_device(wrong, m.wrong);
    rows_run++;
    if (wrong[0] || wrong[1]) {
        rows_wrong++;
        std::printf("%s, %d apart, %s: %u flags never came, %u values are old\n", what, distance, how.c_str(), wrong[0], wrong[1]);
    }
}

static std::string name_of(row r)
{
    return std::string(writer_names[r.writer]) + " -> " + reader_names[r.reader] + ", " + payload_names[r.payload];
}

static void clear(const memory &m)
{
    HIP_MUST(hipMemset(m.data, 0, pairs_most * words * stride * sizeof(uint32_t)));
    HIP_MUST(hipMemset(m.flags, 0, pairs_most * 2 * stride * sizeof(uint32_t)));
    HIP_MUST(hipMemset(m.wrong, 0, 2 * sizeof(uint32_t)));
}

template <int scope> static void run_row(const memory &m, const char *what, row r, int distance)
{
    bool wide = scope == __HIP_MEMORY_SCOPE_AGENT || scope == __HIP_MEMORY_SCOPE_SYSTEM;
    clear(m);
    if (scope == __HIP_MEMORY_SCOPE_SYSTEM && !std::strcmp(what, "devices")) {
        HIP_MUST(hipDeviceSynchronize());
        HIP_MUST(hipSetDevice(distance));
        one_side<<<1, 1>>>(r, false, m.data, m.flags, m.wrong);
        HIP_MUST(hipSetDevice(0));
        one_side<<<1, 1>>>(r, true, m.data, m.flags, m.wrong);
        HIP_MUST(hipDeviceSynchronize());
        HIP_MUST(hipSetDevice(distance));
        HIP_MUST(hipDeviceSynchronize());
        HIP_MUST(hipSetDevice(0));
        judge(m, what, name_of(r), distance);
        return;
    }
    hand_over<scope><<<wide ? 2 * distance : 2, scope == __HIP_MEMORY_SCOPE_WORKGROUP ? 128 : 64>>>(r, distance, m.data, m.flags,
                                                                                                    m.wrong);
    judge(m, what, name_of(r), distance);
}

template <int scope> static void run_rows(const memory &m, const char *what, int distance)
{
    for (int w = 0; w < WRITERS; w++) {
        for (int r = 0; r < READERS; r++) {
            run_row<scope>(m, what, {w, r, PLAIN}, distance);
        }
    }
    for (int p = RELAXED; p <= VOLATILE; p++) {
        run_row<scope>(m, what, {STORE, LOAD, p}, distance);
        run_row<scope>(m, what, {FENCE_STORE, LOAD_FENCE, p}, distance);
    }
    for (int w = STORE_RELAXED; w <= ADD_RELAXED; w++) {
        for (int r = LOAD_RELAXED; r <= CAS_RELAXED; r++) {
            run_row<scope>(m, what, {w, r, NOTHING}, distance);
        }
    }
}

// Stores that go as far as the other work-group, by the bits that say so on this target, and loads that come from there;
// within a work-group all bits do.
static void run_bits(const memory &m, int distance)
{
    hipDeviceProp_t properties;
    HIP_MUST(hipGetDeviceProperties(&properties, 0));
    std::string arch = properties.gcnArchName;
    bool scopes = arch.substr(0, 6) == "gfx942";
    for (int together = 0; together < 2; together++) {
        for (int store = 0; store <= 8; store++) {
            for (int load = 0; load < 8; load++) {
                int loads = scopes ? 2 : 1;
                if (!scopes && ((store < 8 && (store & 2)) || (load & 2))) {
                    continue;
                }
                if (!together && (!(load & loads) || (scopes && store < 8 && !(store & 2)))) {
                    continue;
                }
                clear(m);
                exchange_bits<<<together ? 2 : 2 * distance, together ? 128 : 64>>>(store, load, together, distance, m.flags, m.wrong);
                judge(m, together ? "bits in a work-group" : "bits", "store " + std::to_string(store) + ", load " + std::to_string(load),
                      distance);
            }
        }
    }
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        std::printf("FAIL litmus: memory, scope, distances\n");
        return 2;
    }
    memory m;
    allocate(argv[1], reinterpret_cast<void **>(&m.data), pairs_most * words * stride * sizeof(uint32_t));
    allocate(argv[1], reinterpret_cast<void **>(&m.flags), pairs_most * 2 * stride * sizeof(uint32_t));
    m.wrong = device_zeros<uint32_t>(2);
    for (int i = 3; i < argc; i++) {
        int distance = std::atoi(argv[i]);
        if (distance < 1 || distance > pairs_most) {
            std::printf("FAIL litmus: a distance is 1 to %d\n", pairs_most);
            return 2;
        }
        if (!std::strcmp(argv[2], "wavefront")) {
            run_rows<__HIP_MEMORY_SCOPE_WAVEFRONT>(m, argv[2], distance);
        } else if (!std::strcmp(argv[2], "workgroup")) {
            run_rows<__HIP_MEMORY_SCOPE_WORKGROUP>(m, argv[2], distance);
        } else if (!std::strcmp(argv[2], "agent")) {
            run_rows<__HIP_MEMORY_SCOPE_AGENT>(m, argv[2], distance);
        } else if (!std::strcmp(argv[2], "system")) {
            run_rows<__HIP_MEMORY_SCOPE_SYSTEM>(m, argv[2], distance);
        } else if (!std::strcmp(argv[2], "devices")) {
            HIP_MUST(hipSetDevice(distance));
            HIP_MUST(hipDeviceEnablePeerAccess(0, 0));
            HIP_MUST(hipSetDevice(0));
            run_rows<__HIP_MEMORY_SCOPE_SYSTEM>(m, argv[2], distance);
        } else if (!std::strcmp(argv[2], "bits")) {
            run_bits(m, distance);
        } else {
            std::printf("FAIL litmus: no scope is called '%s'\n", argv[2]);
            return 2;
        }
    }
    std::printf("%d rows, %d of them wrong\n", rows_run, rows_wrong);
    if (rows_wrong) {
        std::printf("FAIL litmus: %d rows\n", rows_wrong);
        return 1;
    }
    return pass("litmus");
}
