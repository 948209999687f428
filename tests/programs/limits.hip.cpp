// Goes to a limit of docs/reference/limits.md and says how it went: `limits WHAT` prints WHAT, how many calls were good, and the
// answer of the one after. What was made is destroyed then, and the same has to work once more.
#include "check.hpp"

#include <cstring>
#include <string>

__global__ void count(int *done)
{
    atomicAdd(done, 1);
}

struct arguments {
    char bytes[4000];
};

__global__ void long_arguments(arguments a, int *done)
{
    atomicAdd(done, a.bytes[threadIdx.x]);
}

__global__ void private_memory(int *done, int from)
{
    volatile int table[200];
    for (int i = 0; i < 200; i++) {
        table[i] = i + from;
    }
    atomicAdd(done, table[from] - 2 * from + 1);
}

static int *done;

static hipError_t stream(hipStream_t *made)
{
    return hipStreamCreate(made);
}

static hipError_t allocation(void **made)
{
    return hipMalloc(made, 256);
}

static hipError_t context(hipCtx_t *made)
{
    return hipCtxCreate(made, 0, 0);
}

static hipError_t depth(hipCtx_t *made)
{
    hipError_t error = hipCtxGetCurrent(made);
    return error == hipSuccess ? hipCtxPushCurrent(*made) : error;
}

static hipError_t pop(hipCtx_t)
{
    hipCtx_t popped;
    return hipCtxPopCurrent(&popped);
}

template <typename T> static int try_all(const char *name, hipError_t (*make)(T *), hipError_t (*destroy)(T))
{
    std::vector<T> all;
    for (int round = 0; round < 2; round++) {
        hipError_t error;
        T made{};
        while ((error = make(&made)) == hipSuccess && all.size() < 1000000) {
            all.push_back(made);
        }
        std::printf("%s %zu %s\n", name, all.size(), hipGetErrorName(error));
        while (!all.empty()) {
            HIP_MUST(destroy(all.back()));
            all.pop_back();
        }
    }
    return pass("limits");
}

// Launches on streams of their own; all are done in the end.
template <typename K> static int try_launches(const char *name, int launches, K launch)
{
    int got = 0;
    std::vector<hipStream_t> streams(40);
    for (hipStream_t &one : streams) {
        HIP_MUST(hipStreamCreate(&one));
    }
    for (int i = 0; i < launches; i++) {
        launch(streams[i % streams.size()]);
        HIP_MUST(hipGetLastError());
    }
    HIP_MUST(hipDeviceSynchronize());
    HIP_MUST(hipMemcpy(&got, done, sizeof got, hipMemcpyDeviceToHost));
    std::printf("%s %d %s\n", name, got, got == launches ? "all done" : "FAIL");
    return got == launches ? pass("limits") : 1;
}

int main(int argc, char **argv)
{
    const std::string what = argc > 1 ? argv[1] : "";
    done = device_zeros<int>(1);
    if (what == "streams") {
        return try_all<hipStream_t>("streams", stream, hipStreamDestroy);
    }
    if (what == "allocations") {
        return try_all<void *>("allocations", allocation, hipFree);
    }
    if (what == "contexts") {
        return try_all<hipCtx_t>("contexts", context, hipCtxDestroy);
    }
    if (what == "depth") {
        return try_all<hipCtx_t>("depth", depth, pop);
    }
    if (what == "work-items") {
        count<<<1, 1024>>>(done);
        hipError_t good = hipGetLastError();
        count<<<1, 1025>>>(done);
        std::printf("work-items %d %s\n", good == hipSuccess ? 1024 : 0, hipGetErrorName(hipGetLastError()));
        return pass("limits");
    }
    if (what == "commands") {
        return try_launches("commands", 3000, [](hipStream_t s) { count<<<1, 1, 0, s>>>(done); });
    }
    if (what == "arguments") {
        arguments a;
        std::memset(a.bytes, 1, sizeof a.bytes);
        return try_launches("arguments", 2000, [&](hipStream_t s) { long_arguments<<<1, 1, 0, s>>>(a, done); });
    }
    if (what == "scratch") {
        return try_launches("scratch", 120, [](hipStream_t s) { private_memory<<<1, 1, 0, s>>>(done, 7); });
    }
    std::printf("FAIL limits: name one\n");
    return 1;
}
