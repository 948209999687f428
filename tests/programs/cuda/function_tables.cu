// Calls of all kinds in device code: tables of function pointers, pointers that the host passes on,
// virtual functions of objects made by a kernel, recursion, and variadic templates. Prints PASS or
// FAIL.
#include <cstdio>

typedef float (*Binary)(float, float);
__device__ float add(float a, float b)
{
    return a + b;
}
__device__ float subtract(float a, float b)
{
    return a - b;
}
__device__ float multiply(float a, float b)
{
    return a * b;
}
__device__ __noinline__ float power(float a, float b)
{
    float r = 1;
    for (int i = 0; i < (int)b; i++)
        r *= a;
    return r;
}

__device__ Binary operations[] = {add, subtract, multiply, power};
__constant__ Binary chosen;
__device__ Binary pointerToPower = power;

struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual int corners() const
    {
        return 0;
    }
    __device__ virtual ~Shape()
    {
    }
};
struct Circle : Shape {
    float r;
    __device__ explicit Circle(float radius) : r(radius)
    {
    }
    __device__ float area() const override
    {
        return 3.0f * r * r;
    }
};
struct Box : Shape {
    float w, h;
    __device__ Box(float width, float height) : w(width), h(height)
    {
    }
    __device__ float area() const override
    {
        return w * h;
    }
    __device__ int corners() const override
    {
        return 4;
    }
};
struct Square : Box {
    __device__ explicit Square(float w) : Box(w, w)
    {
    }
    __device__ int corners() const final
    {
        return 40;
    }
};

__device__ int ackermann(int m, int n)
{
    if (m == 0)
        return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
__device__ int odd(int n);
__device__ __noinline__ int even(int n)
{
    return n == 0 ? 1 : odd(n - 1);
}
__device__ __noinline__ int odd(int n)
{
    return n == 0 ? 0 : even(n - 1);
}

__device__ int hanoi(int n, int from, int to, int via, int *pegs)
{
    if (n == 0)
        return 0;
    int moves = hanoi(n - 1, from, via, to, pegs);
    pegs[from]--;
    pegs[to]++;
    return moves + 1 + hanoi(n - 1, via, to, from, pegs);
}

template <typename T> __device__ T sum(T last)
{
    return last;
}
template <typename T, typename... Rest> __device__ T sum(T first, Rest... rest)
{
    return first + sum<T>(rest...);
}
template <int N> struct Fibonacci {
    static constexpr int value = Fibonacci<N - 1>::value + Fibonacci<N - 2>::value;
};
template <> struct Fibonacci<0> {
    static constexpr int value = 0;
};
template <> struct Fibonacci<1> {
    static constexpr int value = 1;
};

__global__ void tables(float *out, Binary passed)
{
    int t = threadIdx.x;
    out[t] = operations[t % 4]((float)(t + 1), 2.0f);
    out[t + 32] = chosen(2.0f, (float)(t % 5));
    out[t + 64] = passed(t, t);
}

__global__ void make(Shape **shapes)
{
    switch (threadIdx.x % 3) {
    case 0:
        shapes[threadIdx.x] = new Circle(threadIdx.x);
        break;
    case 1:
        shapes[threadIdx.x] = new Box(threadIdx.x, 2);
        break;
    default:
        shapes[threadIdx.x] = new Square(threadIdx.x);
    }
}

__global__ void measure(Shape **shapes, float *out)
{
    Shape *mine = shapes[threadIdx.x];
    out[threadIdx.x] = mine->area() + 1000 * mine->corners();
    delete mine;
}

__global__ void recursion(int *out)
{
    int t = threadIdx.x, pegs[3] = {t, 0, 0};
    out[t] = ackermann(2, t % 4);
    out[t + 32] = even(t);
    out[t + 64] = hanoi(t % 6, 0, 2, 1, pegs) + 100 * pegs[2];
    out[t + 96] = sum(t, 1, 2L, (short)3) + Fibonacci<10>::value;
}

int main()
{
    float *f;
    int *n, bad = 0;
    Shape **shapes;
    cudaMallocManaged(&f, 96 * sizeof(float));
    cudaMallocManaged(&n, 128 * sizeof(int));
    cudaMalloc(&shapes, 32 * sizeof(Shape *));
    Binary p;
    cudaMemcpyFromSymbol(&p, pointerToPower, sizeof p);
    cudaMemcpyToSymbol(chosen, &p, sizeof p);
    cudaMemcpyFromSymbol(&p, operations, sizeof p, 2 * sizeof p);
    cudaDeviceSetLimit(cudaLimitStackSize, 16384);
    tables<<<1, 32>>>(f, p);
    bad += cudaDeviceSynchronize() != cudaSuccess;
    for (int t = 0; t < 32; t++) {
        float a = t + 1, want[] = {a + 2, a - 2, a * 2, a * a};
        bad += f[t] != want[t % 4] || f[t + 32] != 1 << t % 5 || f[t + 64] != t * t;
    }
    make<<<1, 32>>>(shapes);
    measure<<<1, 32>>>(shapes, f);
    bad += cudaDeviceSynchronize() != cudaSuccess;
    for (int t = 0; t < 32; t++) {
        float want[] = {3.0f * t * t, t * 2.0f + 4000, (float)t * t + 40000};
        bad += f[t] != want[t % 3];
    }
    recursion<<<1, 32>>>(n);
    bad += cudaDeviceSynchronize() != cudaSuccess;
    for (int t = 0; t < 32; t++)
        bad += n[t] != 2 * (t % 4) + 3 || n[t + 32] != (t % 2 == 0)
               || n[t + 64] != (1 << t % 6) - 1 + 100 * (t < 6 ? t : t % 6) || n[t + 96] != t + 61;
    printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    cudaFree(f);
    cudaFree(n);
    cudaFree(shapes);
    return bad != 0;
}
