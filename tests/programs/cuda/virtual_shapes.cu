// Polymorphism on the device: virtual functions of objects that kernels make and delete, tables of
// functions, a pointer to one from the host, recursion, parameter packs. Prints PASS or FAIL.
#include <cuda_runtime.h>
#include <cassert>
#include <cstdio>
#include <cmath>
struct Shape {
    __device__ virtual ~Shape()
    {
    }
    __device__ virtual float area() const = 0;
    __device__ virtual int kind() const
    {
        return 0;
    }
};
struct Circle : Shape {
    float r;
    __device__ Circle(float r) : r(r)
    {
    }
    __device__ float area() const override
    {
        return 3.14159265f * r * r;
    }
    __device__ int kind() const override
    {
        return 1;
    }
};
struct Rect : Shape {
    float w, h;
    __device__ Rect(float w, float h) : w(w), h(h)
    {
    }
    __device__ float area() const override
    {
        return w * h;
    }
};
struct Square final : Rect {
    __device__ Square(float a) : Rect(a, a)
    {
    }
    __device__ int kind() const override
    {
        return 2;
    }
};
__global__ void make(Shape **s, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        s[i] = i % 3 == 0   ? (Shape *)new Circle(i * .5f)
               : i % 3 == 1 ? (Shape *)new Rect(i, 2)
                            : new Square(i * .25f);
}
__global__ void measure(Shape *const *s, float *a, int *k, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        a[i] = s[i]->area();
        k[i] = s[i]->kind();
        assert(a[i] >= 0);
    }
}
__global__ void drop(Shape **s, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        delete s[i];
}
typedef float (*op_t)(float, float);
__device__ float add(float a, float b)
{
    return a + b;
}
__device__ float mul(float a, float b)
{
    return a * b;
}
__device__ float pw(float a, float b)
{
    return powf(a, b);
}
__device__ op_t table[] = {add, mul, pw};
__device__ op_t chosen = mul;
__device__ int ack(int m, int n)
{
    return m == 0 ? n + 1 : n == 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1));
}
template <typename... A> __device__ float sum_of(A... a)
{
    float s = 0;
    ((s += a), ...);
    return s;
}
__global__ void calls(op_t f, float *o)
{
    int i = threadIdx.x;
    o[i] = sum_of(table[i % 3](i, 2.f), f(i, i), (float)ack(2, i & 3));
    if (i == 5)
        printf("thread %d of %s: %.2f %5d %c %llu\n", i, "calls", o[i], -i, 'x', 1ull << 40);
}
int main()
{
    const int n = 90;
    Shape **s;
    float *a;
    int *k;
    cudaMalloc(&s, n * sizeof *s);
    cudaMallocManaged(&a, n * 4);
    cudaMallocManaged(&k, n * 4);
    cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20);
    cudaDeviceSetLimit(cudaLimitStackSize, 4096);
    make<<<3, 32>>>(s, n);
    measure<<<3, 32>>>(s, a, k, n);
    drop<<<3, 32>>>(s, n);
    cudaError_t e = cudaDeviceSynchronize();
    int bad = e != cudaSuccess;
    for (int i = 0; i < n; i++) {
        float w = i % 3 == 0 ? 3.14159265f * i * i * .25f : i % 3 == 1 ? 2.f * i : i * i * .0625f;
        bad += fabsf(a[i] - w) > 1e-3f * w + 1e-5f || k[i] != (i % 3 == 0 ? 1 : i % 3 == 1 ? 0 : 2);
    }
    op_t f;
    cudaMemcpyFromSymbol(&f, chosen, sizeof f);
    calls<<<1, 32>>>(f, a);
    e = cudaDeviceSynchronize();
    bad += e != cudaSuccess;
    for (int i = 0; i < 32; i++) {
        float t = i % 3 == 0   ? i + 2.f
                  : i % 3 == 1 ? i * 2.f
                               : (float)i * i,
              w = t + (float)i * i + 2 * (i & 3) + 3;
        bad += fabsf(a[i] - w) > 1e-3f * w;
    }
    cudaFree(s);
    cudaFree(a);
    cudaFree(k);
    printf("%s, %d wrong\n%s\n", cudaGetErrorString(e), bad, bad ? "FAIL" : "PASS");
    return bad != 0;
}
