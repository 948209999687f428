// What the programs of this folder share. A program is called `LABEL SIZE [--iterations N] [--check]`. `label_run` calls the
// measured function f once to warm up and then N times (1 by default), each between two events of the null stream, and
// prints one line, `LABEL SIZE MILLISECONDS`: the least of the N times, with 7 decimals. Copies, memsets and
// synchronisations that f does are within the time. With --check the program then compares what the device made with its
// own result and prints `PASS LABEL` or `FAIL LABEL: why` (exit status 1). Wrong arguments end it with status 2.
#pragma once

#include "../check.hpp"

#include <algorithm>
#include <string>

struct label {
    std::string name;
    size_t size = 0;
    int iterations = 1;
    bool check = false;
};

[[noreturn]] static inline void label_refuse(const std::string &name, const std::string &why)
{
    std::fprintf(stderr, "%s: %s\nusage: %s SIZE [--iterations N] [--check]\n", name.c_str(),
                 why.c_str(), name.c_str());
    std::exit(2);
}

// `text` as a number in [1, most]; ends the program where it is none.
static inline size_t label_number(const std::string &name, const char *text, size_t most)
{
    char *end = nullptr;
    unsigned long long value = std::strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || value < 1 || value > most) {
        label_refuse(name, "'" + std::string(text) + "' is not a number from 1 to "
                               + std::to_string(most));
    }
    return value;
}

// The arguments of a program. The size is a multiple of `multiple` and at most `most`.
static inline label label_arguments(int argc, char **argv, const char *name, size_t multiple,
                                    size_t most)
{
    label l;
    l.name = name;
    for (int i = 1; i < argc; i++) {
        if (std::strcmp(argv[i], "--check") == 0) {
            l.check = true;
        } else if (std::strcmp(argv[i], "--iterations") == 0) {
            if (++i == argc) {
                label_refuse(name, "--iterations is followed by a number");
            }
            l.iterations = static_cast<int>(label_number(name, argv[i], 1000000));
        } else if (l.size == 0) {
            l.size = label_number(name, argv[i], most);
        } else {
            label_refuse(name, "'" + std::string(argv[i]) + "' is one argument too many");
        }
    }
    if (l.size == 0) {
        label_refuse(name, "a size is missing");
    }
    if (l.size % multiple != 0) {
        label_refuse(name, "the size is not a multiple of " + std::to_string(multiple));
    }
    return l;
}

// The numbers of glibc's rand() after srand(seed), without its lock: r[i] = r[i-3] + r[i-31], of which the lowest bit is
// dropped. Large matrices need a billion of them.
struct glibc_random {
    static constexpr int lags = 31;
    uint32_t state[lags];
    int front = 3, rear = 0;

    explicit glibc_random(uint32_t seed)
    {
        int64_t word = seed == 0 ? 1 : static_cast<int32_t>(seed);
        for (uint32_t &one : state) {
            one = static_cast<uint32_t>(word);
            word = 16807 * (word % 127773) - 2836 * (word / 127773);
            word += word < 0 ? 2147483647 : 0;
        }
        for (int i = 0; i < 10 * lags; i++) {
            next();
        }
    }
    int next()
    {
        uint32_t sum = state[front] += state[rear];
        front = front + 1 == lags ? 0 : front + 1;
        rear = rear + 1 == lags ? 0 : rear + 1;
        return static_cast<int>(sum >> 1);
    }
};

// That they are the same: part of every --check.
static inline bool label_random_is_that_of_glibc(const label &l)
{
    std::srand(42);
    glibc_random random(42);
    for (int i = 0; i < 1000; i++) {
        int want = std::rand(), got = random.next();
        if (want != got) {
            std::printf("FAIL %s: number %d of rand() is %d, not %d\n", l.name.c_str(), i, want,
                        got);
            return false;
        }
    }
    return true;
}

template <typename F> static inline void label_run(const label &l, F f)
{
    hipEvent_t start, stop;
    HIP_MUST(hipEventCreate(&start));
    HIP_MUST(hipEventCreate(&stop));
    f();
    HIP_MUST(hipDeviceSynchronize());
    float least = 0;
    for (int i = 0; i < l.iterations; i++) {
        float ms = 0;
        HIP_MUST(hipEventRecord(start, 0));
        f();
        HIP_MUST(hipEventRecord(stop, 0));
        HIP_MUST(hipEventSynchronize(stop));
        HIP_MUST(hipGetLastError());
        HIP_MUST(hipEventElapsedTime(&ms, start, stop));
        least = i == 0 ? ms : std::min(least, ms);
    }
    HIP_MUST(hipEventDestroy(start));
    HIP_MUST(hipEventDestroy(stop));
    std::printf("%s %zu %.7f\n", l.name.c_str(), l.size, static_cast<double>(least));
    std::fflush(stdout);
}

// Device memory without contents.
template <typename T> static inline T *device_array(size_t count)
{
    T *device = nullptr;
    allocate(&device, count * sizeof(T));
    return device;
}

// a * b + c, rounded once: what the device does with a product that is added.
static inline float fused(float a, float b, float c)
{
    return std::fmaf(a, b, c);
}
