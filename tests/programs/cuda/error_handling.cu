// Errors as programs meet them: bad arguments, bad launches, what cudaGetLastError() clears, names
// and texts, queries, and an exception class around calls. Prints PASS or FAIL.
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

class CudaError : public std::runtime_error
{
    cudaError_t code_;

  public:
    CudaError(cudaError_t code, const std::string &where)
        : std::runtime_error(where + ": " + cudaGetErrorName(code) + ": "
                             + cudaGetErrorString(code)),
          code_(code)
    {
    }
    cudaError_t code() const
    {
        return code_;
    }
};

inline void require(cudaError_t code, const char *file, int line)
{
    if (code != cudaSuccess)
        throw CudaError(code, std::string(file) + ":" + std::to_string(line));
}
#define REQUIRE(x) require((x), __FILE__, __LINE__)

static int wrong = 0;
static void expect(cudaError_t got, cudaError_t wanted, const char *what)
{
    if (got != wanted) {
        printf("%s: %s instead of %s\n", what, cudaGetErrorName(got), cudaGetErrorName(wanted));
        wrong++;
    }
}
#define EXPECT(call, error) expect(call, error, #call)

__global__ void nothing()
{
}
__global__ void __launch_bounds__(64) small(int *p)
{
    p[threadIdx.x] = 1;
}

int main()
{
    void *p = nullptr;
    EXPECT(cudaMalloc(&p, (size_t)1 << 60), cudaErrorMemoryAllocation);
    EXPECT(cudaPeekAtLastError(), cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError(), cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError(), cudaSuccess);
    EXPECT(cudaMalloc(&p, 0), cudaSuccess);
    EXPECT(cudaFree(nullptr), cudaSuccess);
    EXPECT(cudaSetDevice(99), cudaErrorInvalidDevice);
    EXPECT(cudaMemcpy(&p, &p, 8, (cudaMemcpyKind)77), cudaErrorInvalidMemcpyDirection);
    nothing<<<1, 2000>>>();
    EXPECT(cudaGetLastError(), cudaErrorInvalidConfiguration);
    nothing<<<0, 32>>>();
    EXPECT(cudaGetLastError(), cudaErrorInvalidConfiguration);
    nothing<<<dim3(1, 70000), 32>>>();
    EXPECT(cudaGetLastError(), cudaErrorInvalidConfiguration);
    nothing<<<1, 32, 1 << 20>>>();
    EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
    nothing<<<1, dim3(1, 1, 65)>>>();
    EXPECT(cudaGetLastError(), cudaErrorInvalidConfiguration);
    int *d;
    REQUIRE(cudaMalloc(&d, 1024));
    small<<<1, 64>>>(d);
    EXPECT(cudaDeviceSynchronize(), cudaSuccess);
    int host[4];
    EXPECT(cudaMemcpyFromSymbol(host, host, 4), cudaErrorInvalidSymbol);
    cudaEvent_t event;
    REQUIRE(cudaEventCreate(&event));
    float ms;
    EXPECT(cudaEventElapsedTime(&ms, event, event), cudaErrorInvalidResourceHandle);
    EXPECT(cudaEventDestroy(event), cudaSuccess);
    EXPECT(cudaStreamQuery(0), cudaSuccess);
    EXPECT(cudaHostUnregister(host), cudaErrorHostMemoryNotRegistered);
    EXPECT(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice);
    cudaGetLastError();
    try {
        REQUIRE(cudaMemset(nullptr, 0, 4));
        wrong++;
    } catch (const CudaError &e) {
        wrong += e.code() != cudaErrorInvalidValue;
        wrong += !strstr(e.what(), "cudaErrorInvalidValue: invalid argument");
    }
    wrong += strcmp(cudaGetErrorString(cudaErrorNoDevice), "no CUDA-capable device is detected");
    wrong += strcmp(cudaGetErrorName(cudaErrorLaunchFailure), "cudaErrorLaunchFailure");
    wrong += strcmp(cudaGetErrorName((cudaError_t)12345), "unrecognized error code");
    cudaGetLastError();
    REQUIRE(cudaFree(d));
    REQUIRE(cudaDeviceReset());
    puts(wrong ? "FAIL" : "PASS");
    return wrong;
}
