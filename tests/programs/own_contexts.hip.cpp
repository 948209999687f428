// Contexts as a program makes them: three on one device, each a process of its own. The same kernel runs in all at once on
// memory of each, what one writes no other sees, the stack says who is current, and what a context had is free when it ends.
#include "check.hpp"

__global__ void fill(int *to, int value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        to[i] = value + i;
    }
}

#define EXPECT(call, code)                                                                                                          \
    do {                                                                                                                            \
        hipError_t status = (call);                                                                                                  \
        if (status != (code)) {                                                                                                     \
            std::printf("FAIL own_contexts: line %d: %s, not %s\n", __LINE__, hipGetErrorName(status), hipGetErrorName(code));             \
            return 1;                                                                                                               \
        }                                                                                                                           \
    } while (0)

#define CHECK(condition)                                                                                                            \
    do {                                                                                                                            \
        if (!(condition)) {                                                                                                         \
            std::printf("FAIL own_contexts: line %d: %s\n", __LINE__, #condition);                                                      \
            return 1;                                                                                                               \
        }                                                                                                                           \
    } while (0)

#define CURRENT(expected)                                                                                                           \
    do {                                                                                                                            \
        hipCtx_t now = nullptr;                                                                                                     \
        EXPECT(hipCtxGetCurrent(&now), hipSuccess);                                                                                 \
        CHECK(now == (expected));                                                                                                   \
    } while (0)

int main()
{
    const int n = 5000;
    hipCtx_t primary = nullptr, contexts[3], popped = nullptr;
    hipDevice_t device = -1;
    int *memory[3], count = 0, after = 0;
    size_t before = 0, available = 0, total = 0;
    EXPECT(hipInit(0), hipSuccess);
    EXPECT(hipGetDeviceCount(&count), hipSuccess);
    EXPECT(hipDevicePrimaryCtxRetain(&primary, 0), hipSuccess);
    EXPECT(hipCtxPopCurrent(&popped), hipErrorInvalidContext);
    // the driver keeps what its first launch on a device needs
    EXPECT(hipCtxCreate(&contexts[0], 0, 0), hipSuccess);
    EXPECT(hipMalloc(reinterpret_cast<void **>(&memory[0]), n * sizeof(int)), hipSuccess);
    fill<<<1, 64>>>(memory[0], 0, 64);
    EXPECT(hipCtxDestroy(contexts[0]), hipSuccess);
    CURRENT(primary);
    EXPECT(hipMemGetInfo(&before, &total), hipSuccess);
    EXPECT(hipCtxCreate(&contexts[0], 0, count), hipErrorInvalidDevice);
    EXPECT(hipCtxCreate(nullptr, 0, 0), hipErrorInvalidValue);
    EXPECT(hipGetLastError(), hipErrorInvalidValue);
    for (int c = 0; c < 3; c++) {
        EXPECT(hipCtxCreate(&contexts[c], 0, 0), hipSuccess);
        CURRENT(contexts[c]);
        EXPECT(hipCtxGetDevice(&device), hipSuccess);
        CHECK(device == 0);
        EXPECT(hipMalloc(reinterpret_cast<void **>(&memory[c]), n * sizeof(int)), hipSuccess);
        fill<<<(n + 255) / 256, 256>>>(memory[c], 1000000 * c, n);
        EXPECT(hipGetLastError(), hipSuccess);
    }
    EXPECT(hipGetDeviceCount(&after), hipSuccess);
    CHECK(after == count);
    CHECK(contexts[0] != contexts[1] && contexts[1] != contexts[2] && contexts[0] != primary);
    for (int c = 2; c >= 0; c--) {
        std::vector<int> got(n);
        EXPECT(hipCtxSynchronize(), hipSuccess);
        EXPECT(hipMemcpy(got.data(), memory[c], n * sizeof(int), hipMemcpyDeviceToHost), hipSuccess);
        for (int i = 0; i < n; i++) {
            CHECK(got[i] == 1000000 * c + i);
        }
        EXPECT(hipCtxPopCurrent(&popped), hipSuccess);
        CHECK(popped == contexts[c]);
    }
    CURRENT(primary);
    EXPECT(hipCtxPushCurrent(contexts[1]), hipSuccess);
    EXPECT(hipCtxPushCurrent(contexts[2]), hipSuccess);
    EXPECT(hipCtxSetCurrent(contexts[0]), hipSuccess); // in place of the third
    CURRENT(contexts[0]);
    EXPECT(hipCtxPopCurrent(nullptr), hipSuccess);
    CURRENT(contexts[1]);
    EXPECT(hipCtxDestroy(contexts[1]), hipSuccess); // current, so popped
    CURRENT(primary);
    EXPECT(hipCtxDestroy(contexts[1]), hipErrorInvalidContext);
    EXPECT(hipCtxPushCurrent(contexts[1]), hipErrorInvalidContext);
    EXPECT(hipCtxSetCurrent(contexts[1]), hipErrorInvalidContext);
    EXPECT(hipCtxSetCurrent(contexts[2]), hipSuccess);
    EXPECT(hipSetDevice(0), hipSuccess);
    CURRENT(primary);
    EXPECT(hipCtxDestroy(contexts[2]), hipSuccess);
    EXPECT(hipCtxDestroy(contexts[0]), hipSuccess);
    EXPECT(hipMemGetInfo(&available, &total), hipSuccess);
    CHECK(available == before);
    return pass("own_contexts");
}
