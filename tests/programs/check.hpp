// What every program of this folder needs: HIP calls that must succeed, reproducible input, and one
// verdict line. A program prints `PASS name` and exits 0, or `FAIL name: why` and exits 1. Each
// program includes this file and nothing else of the project, so `hipcc --offload-arch=...
// x.hip.cpp -o x` builds it.
#pragma once

#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#define HIP_MUST(call)                                                                             \
    do {                                                                                           \
        hipError_t must_error = (call);                                                            \
        if (must_error != hipSuccess) {                                                            \
            std::printf("FAIL %s:%d: %s: %s\n", __FILE__, __LINE__, #call,                         \
                        hipGetErrorName(must_error));                                              \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

// Lanes of a wavefront of AMD's GPUs, and of a warp of NVIDIA's.
#ifdef __CUDACC__
constexpr int wave = 32;
#else
constexpr int wave = 64;
#endif

// The n-th program argument as a size of at least one, or `fallback` when it is not given.
static inline int size_argument(int argc, char **argv, int n, int fallback)
{
    if (argc <= n) {
        return fallback;
    }
    char *end = nullptr;
    long value = std::strtol(argv[n], &end, 10);
    if (*end != '\0' || value < 1 || value > (1L << 28)) {
        std::printf("FAIL argument %d: '%s' is not a size\n", n, argv[n]);
        std::exit(2);
    }
    return static_cast<int>(value);
}

// xorshift32 (Marsaglia 2003): the same numbers on every host.
struct random_source {
    uint32_t state = 2463534242u;
    uint32_t next()
    {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        return state;
    }
    // A multiple of 1/16 in [-8, 8): small sums of products of these are exact in fp32.
    float small()
    {
        return (static_cast<int>(next() % 256u) - 128) / 16.0f;
    }
};

// Device memory that was allocated through this header: pass() gives it back.
static std::vector<void *> check_memory;
static std::mutex check_memory_mutex; // of programs with threads

// hipMalloc() of memory that pass() gives back.
template <typename T> static inline void allocate(T **device, size_t bytes)
{
    HIP_MUST(hipMalloc(reinterpret_cast<void **>(device), bytes));
    std::lock_guard<std::mutex> locked(check_memory_mutex);
    check_memory.push_back(*device);
}

static inline void free_device_memory()
{
    for (void *memory : check_memory) {
        HIP_MUST(hipFree(memory));
    }
    check_memory.clear();
}

static inline int pass(const char *name)
{
    free_device_memory();
    std::printf("PASS %s\n", name);
    return 0;
}

template <typename T>
static inline bool same_or_report(const char *name, const std::vector<T> &got,
                                  const std::vector<T> &want)
{
    for (size_t i = 0; i < want.size(); i++) {
        if (!(got[i] == want[i])) {
            std::printf("FAIL %s: element %zu is %.9g, expected %.9g\n", name, i,
                        static_cast<double>(got[i]), static_cast<double>(want[i]));
            return false;
        }
    }
    return true;
}

template <typename T> static inline T *to_device(const std::vector<T> &host)
{
    T *device = nullptr;
    allocate(&device, host.size() * sizeof(T));
    HIP_MUST(hipMemcpy(device, host.data(), host.size() * sizeof(T), hipMemcpyHostToDevice));
    return device;
}

template <typename T> static inline void from_device(std::vector<T> &host, const T *device)
{
    HIP_MUST(hipMemcpy(host.data(), device, host.size() * sizeof(T), hipMemcpyDeviceToHost));
}

template <typename T> static inline T *device_zeros(size_t count)
{
    return to_device(std::vector<T>(count));
}

// For sums and functions whose last bits are the device's own business: |got - want| may be up to
// `tolerance`, relative where |want| is above one.
template <typename T>
static inline bool near_or_report(const char *name, const std::vector<T> &got,
                                  const std::vector<T> &want, double tolerance)
{
    for (size_t i = 0; i < want.size(); i++) {
        double g = static_cast<double>(got[i]), w = static_cast<double>(want[i]);
        double scale = std::fabs(w) > 1 ? std::fabs(w) : 1;
        bool same = g == w || (std::isnan(g) && std::isnan(w)); // infinities
        if (!same && !(std::fabs(g - w) <= tolerance * scale)) {
            std::printf("FAIL %s: element %zu is %.17g, expected %.17g\n", name, i, g, w);
            return false;
        }
    }
    return true;
}

static inline unsigned blocks_for(size_t items, unsigned block)
{
    return static_cast<unsigned>((items + block - 1) / block);
}
