// Contexts: the stack that each host thread has. Steps that push, pop, replace and destroy, compared with what must be current
// after each; a kernel through a pushed context; a second thread, whose stack is empty. Needs two devices.
#include "check.hpp"

#include <thread>

enum step_kind { CREATE, PUSH, POP, SET, SET_NONE, DESTROY, SET_DEVICE };

struct step {
    step_kind kind;
    int device; // for POP: what comes off
    hipError_t error;
    int current; // behind it
};

static const step steps[] = {
    {POP, 0, hipErrorInvalidContext, 0}, // nothing was pushed
    {CREATE, 1, hipSuccess, 1},          // stack: 1
    {PUSH, 0, hipSuccess, 0},            // 1 0
    {PUSH, 1, hipSuccess, 1},            // 1 0 1
    {SET, 0, hipSuccess, 0},             // 1 0 0
    {SET_NONE, 0, hipSuccess, 0},        // 1 0
    {SET_DEVICE, 1, hipSuccess, 1},      // 1 0, as it was
    {POP, 0, hipSuccess, 1},             // 1
    {DESTROY, 0, hipSuccess, 1},         // not on top
    {SET, 0, hipSuccess, 0},             // 0
    {DESTROY, 0, hipSuccess, 0},         // on top: popped
    {POP, 0, hipErrorInvalidContext, 0},
    {SET_NONE, 0, hipSuccess, 0},
    {PUSH, 2, hipErrorInvalidContext, 0}, // no such context
};

static hipCtx_t contexts[3];

static hipError_t take(const step &s, hipCtx_t *popped)
{
    hipCtx_t made = nullptr;
    switch (s.kind) {
    case CREATE:
        return hipCtxCreate(&made, 0, s.device);
    case PUSH:
        return hipCtxPushCurrent(contexts[s.device]);
    case POP:
        return hipCtxPopCurrent(popped);
    case SET:
        return hipCtxSetCurrent(contexts[s.device]);
    case SET_NONE:
        return hipCtxSetCurrent(nullptr);
    case DESTROY:
        return hipCtxDestroy(contexts[s.device]);
    default:
        return hipSetDevice(s.device);
    }
}

__global__ void fill(int *data, int n, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        data[i] = value + i;
    }
}

static bool runs_on_top()
{
    const int n = 100;
    int *data, got[n];
    hipCtx_t popped;
    HIP_MUST(hipCtxPushCurrent(contexts[1]));
    HIP_MUST(hipMalloc(reinterpret_cast<void **>(&data), sizeof got));
    fill<<<blocks_for(n, 64), 64>>>(data, n, 7);
    HIP_MUST(hipCtxSynchronize());
    HIP_MUST(hipMemcpy(got, data, sizeof got, hipMemcpyDeviceToHost));
    hipPointerAttribute_t attributes;
    HIP_MUST(hipPointerGetAttributes(&attributes, data));
    HIP_MUST(hipFree(data));
    HIP_MUST(hipCtxPopCurrent(&popped));
    for (int i = 0; i < n; i++) {
        if (got[i] != 7 + i) {
            return false;
        }
    }
    return attributes.device == 1 && popped == contexts[1];
}

int main()
{
    int count = 0, number = 0;
    HIP_MUST(hipGetDeviceCount(&count));
    if (count < 2) {
        std::printf("FAIL contexts: the platform has one GPU\n");
        return 1;
    }
    for (int device = 0; device < 2; device++) {
        HIP_MUST(hipDevicePrimaryCtxRetain(&contexts[device], device));
    }
    contexts[2] = reinterpret_cast<hipCtx_t>(&number);
    for (const step &s : steps) {
        hipCtx_t popped = nullptr, current = nullptr;
        int device = -1;
        hipError_t error = take(s, &popped);
        HIP_MUST(hipCtxGetCurrent(&current));
        HIP_MUST(hipCtxGetDevice(&device));
        bool off = s.kind == POP && error == hipSuccess && popped != contexts[s.device];
        if (error != s.error || device != s.current || current != contexts[s.current] || off) {
            std::printf("FAIL contexts: step %d: %s, device %d is current\n", number, hipGetErrorName(error), device);
            return 1;
        }
        number++;
    }
    bool ok = runs_on_top();
    HIP_MUST(hipCtxPushCurrent(contexts[1]));
    hipError_t other = hipSuccess;
    std::thread([&] { other = hipCtxPopCurrent(nullptr); }).join();
    ok = ok && other == hipErrorInvalidContext && hipCtxPopCurrent(nullptr) == hipSuccess;
    std::printf("%s contexts: %d steps\n", ok ? "PASS" : "FAIL", number);
    return ok ? 0 : 1;
}
