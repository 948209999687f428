// Reductions as templates: block size, element type and operation are parameters, the last steps
// are a warp's. Prints PASS or FAIL.
#include <cfloat>
#include <cstdio>
#include <limits>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t err_ = (call);                                                                 \
        if (err_ != cudaSuccess) {                                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err_));          \
            exit(EXIT_FAILURE);                                                                    \
        }                                                                                          \
    } while (0)

template <typename T> struct SharedMemory {
    __device__ operator T *()
    {
        extern __shared__ int memory[];
        return (T *)memory;
    }
};

template <> struct SharedMemory<double> {
    __device__ operator double *()
    {
        extern __shared__ double memory_d[];
        return memory_d;
    }
};

struct Sum {
    template <typename T> static __host__ __device__ T identity()
    {
        return T(0);
    }
    template <typename T> __host__ __device__ T operator()(T a, T b) const
    {
        return a + b;
    }
};
struct Max {
    template <typename T> static __host__ __device__ T identity()
    {
        return std::numeric_limits<T>::lowest();
    }
    template <typename T> __host__ __device__ T operator()(T a, T b) const
    {
        return a < b ? b : a;
    }
};
template <typename Op> struct Twice {
    Op op;
    template <typename T> static __host__ __device__ T identity()
    {
        return Op::template identity<T>();
    }
    template <typename T> __host__ __device__ T operator()(T a, T b) const
    {
        return op(op(a, b), b);
    }
};

template <typename T, typename Op> __device__ __forceinline__ T warpReduce(T value, Op op)
{
#pragma unroll
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        value = op(value, T(__shfl_down_sync(0xffffffffu, value, offset)));
    return value;
}

template <typename T, typename Op, unsigned BlockSize>
__global__ void __launch_bounds__(BlockSize) reduce(const T *__restrict__ in, T *out, size_t n)
{
    T *sdata = SharedMemory<T>();
    Op op;
    T mine = Op::template identity<T>();
    for (size_t i = blockIdx.x * (size_t)BlockSize * 2 + threadIdx.x; i < n;
         i += (size_t)BlockSize * 2 * gridDim.x) {
        mine = op(mine, in[i]);
        if (i + BlockSize < n)
            mine = op(mine, in[i + BlockSize]);
    }
    sdata[threadIdx.x] = mine;
    __syncthreads();
    if constexpr (BlockSize >= 256) {
        if (threadIdx.x < 128)
            sdata[threadIdx.x] = op(sdata[threadIdx.x], sdata[threadIdx.x + 128]);
        __syncthreads();
    }
    if constexpr (BlockSize >= 128) {
        if (threadIdx.x < 64)
            sdata[threadIdx.x] = op(sdata[threadIdx.x], sdata[threadIdx.x + 64]);
        __syncthreads();
    }
    if (threadIdx.x < 32) {
        T v =
            BlockSize >= 64 ? op(sdata[threadIdx.x], sdata[threadIdx.x + 32]) : sdata[threadIdx.x];
        v = warpReduce(v, op);
        if (threadIdx.x == 0)
            out[blockIdx.x] = v;
    }
}

template <typename T, typename Op> T launch(unsigned block, const T *in, T *out, size_t n)
{
    const unsigned blocks = 4;
    size_t shared = block * sizeof(T);
    switch (block) {
    case 256:
        reduce<T, Op, 256><<<blocks, 256, shared>>>(in, out, n);
        break;
    case 128:
        reduce<T, Op, 128><<<blocks, 128, shared>>>(in, out, n);
        break;
    case 64:
        reduce<T, Op, 64><<<blocks, 64, shared>>>(in, out, n);
        break;
    default:
        reduce<T, Op, 32><<<blocks, 32, shared>>>(in, out, n);
    }
    CHECK(cudaGetLastError());
    T partial[blocks];
    CHECK(cudaMemcpy(partial, out, sizeof partial, cudaMemcpyDeviceToHost));
    T result = Op::template identity<T>();
    for (T p : partial)
        result = Op()(result, p);
    return result;
}

template <typename T, typename Op> int test(const char *name, size_t n)
{
    std::vector<T> h(n);
    for (size_t i = 0; i < n; i++)
        h[i] = T((i * 7919) % 101) - T(50);
    T expected = Op::template identity<T>();
    for (T v : h)
        expected = Op()(expected, v);
    T *in, *out;
    CHECK(cudaMalloc(&in, n * sizeof(T)));
    CHECK(cudaMalloc(&out, 4 * sizeof(T)));
    CHECK(cudaMemcpy(in, h.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    int bad = 0;
    for (unsigned block : {32u, 64u, 128u, 256u})
        bad += launch<T, Op>(block, in, out, n) != expected;
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    printf("%s: %s\n", name, bad ? "wrong" : "ok");
    return bad;
}

int main()
{
    int bad = test<int, Sum>("int sum", 1000) + test<float, Sum>("float sum", 1537)
              + test<double, Max>("double max", 999) + test<unsigned char, Max>("byte max", 700)
              + test<long long, Sum>("long sum", 513) + test<short, Twice<Max>>("twice max", 65);
    puts(bad ? "FAIL" : "PASS");
    return bad != 0;
}
