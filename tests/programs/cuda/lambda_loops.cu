// Loops over lambdas, as portable layers write them: forall, reductions and transforms take
// __device__ and __host__ __device__ lambdas with captures, and functors with operator(). Prints
// PASS or FAIL.
#include <cstdio>
#include <memory>
#include <tuple>
#include <type_traits>
#include <vector>

struct DeviceTag {
};
struct HostTag {
};

template <typename F> __global__ void forallKernel(int n, F body)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        body(i);
}
template <typename F> void forall(DeviceTag, int n, F &&body)
{
    forallKernel<<<(n + 127) / 128, 128>>>(n, std::forward<F>(body));
}
template <typename F> void forall(HostTag, int n, F &&body)
{
    for (int i = 0; i < n; i++)
        body(i);
}

template <typename T, typename F> __global__ void sumKernel(int n, T *result, F value)
{
    __shared__ T partial[32];
    T mine{};
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        mine += value(i);
    for (int o = 16; o; o >>= 1)
        mine += __shfl_xor_sync(~0u, mine, o);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (unsigned w = 1; w < blockDim.x / 32; w++)
            mine += partial[w];
        *result = mine;
    }
}

struct Deleter {
    void operator()(void *p) const
    {
        cudaFree(p);
    }
};
template <typename T> using DeviceArray = std::unique_ptr<T[], Deleter>;
template <typename T> DeviceArray<T> makeArray(size_t n)
{
    T *p = nullptr;
    cudaMallocManaged(&p, n * sizeof(T));
    return DeviceArray<T>(p);
}

template <typename T> struct View {
    T *data;
    int rows, columns;
    __host__ __device__ T &operator()(int r, int c) const
    {
        return data[r * columns + c];
    }
};

template <typename... F> struct Compose;
template <typename F> struct Compose<F> {
    F f;
    template <typename T> __device__ auto operator()(T v) const
    {
        return f(v);
    }
};
template <typename F, typename... G> struct Compose<F, G...> {
    F f;
    Compose<G...> g;
    template <typename T> __device__ auto operator()(T v) const
    {
        return f(g(v));
    }
};
struct Increment {
    template <typename T> __host__ __device__ constexpr T operator()(T v) const
    {
        return v + 1;
    }
};
struct Doubled {
    template <typename T> __host__ __device__ constexpr T operator()(T v) const
    {
        return v * 2;
    }
};

class Simulation
{
    DeviceArray<float> u_ = makeArray<float>(64), v_ = makeArray<float>(64);

  public:
    void step(float dt)
    {
        float *u = u_.get(), *v = v_.get();
        forall(DeviceTag{}, 64, [=] __device__(int i) {
            float left = i ? u[i - 1] : 0, right = i < 63 ? u[i + 1] : 0;
            v[i] = u[i] + dt * (left - 2 * u[i] + right) + (i == 31);
        });
        cudaDeviceSynchronize();
        std::swap(u_, v_);
    }
    float at(int i) const
    {
        return u_[i];
    }
};

int main()
{
    int bad = 0;
    const int n = 1000;
    auto x = makeArray<double>(n), y = makeArray<double>(n);
    double *px = x.get(), *py = y.get(), a = 2.5;
    auto initial = [=] __host__ __device__(int i) {
        px[i] = i;
        py[i] = n - i;
    };
    forall(HostTag{}, n / 2, initial);
    forall(DeviceTag{}, n, initial);
    forall(DeviceTag{}, n, [=] __device__(int i) { py[i] = a * px[i] + py[i]; });
    auto sum = makeArray<double>(1);
    sumKernel<<<1, 128>>>(n, sum.get(), [py] __device__(int i) { return py[i]; });
    bad += cudaDeviceSynchronize() != cudaSuccess;
    bad += *sum.get() != 1.5 * n * (n - 1) / 2 + (double)n * n;

    auto m = makeArray<int>(12 * 20);
    View<int> view{m.get(), 12, 20};
    forall(DeviceTag{}, 240, [view] __device__(int i) { view(i / 20, i % 20) = i / 20 - i % 20; });
    cudaDeviceSynchronize();
    for (int r = 0; r < 12; r++)
        for (int c = 0; c < 20; c++)
            bad += view(r, c) != r - c;

    Compose<Increment, Doubled, Increment> composed{};
    auto out = makeArray<long>(64);
    long *po = out.get();
    forall(DeviceTag{}, 64, [=] __device__(int i) { po[i] = composed((long)i); });
    cudaDeviceSynchronize();
    static_assert(Increment()(Doubled()(3)) == 7, "at compile time");
    for (int i = 0; i < 64; i++)
        bad += out[i] != 2 * (i + 1) + 1;

    Simulation simulation;
    for (int i = 0; i < 10; i++)
        simulation.step(0.25f);
    float mass = 0;
    for (int i = 0; i < 64; i++)
        mass += simulation.at(i);
    bad += mass < 9.999f || mass > 10.001f || simulation.at(30) != simulation.at(32);
    std::printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    return bad != 0;
}
