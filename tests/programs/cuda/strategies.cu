// Function pointers that the host fetches, polymorphism, variadic templates, constexpr tables and
// lambdas in kernels. Prints PASS or FAIL.
#include <cmath>
#include <cstdio>
#include <utility>

using unary = float (*)(float);

__device__ float square(float x)
{
    return x * x;
}
__device__ float halve(float x)
{
    return x / 2;
}
__device__ float twist(float x)
{
    return x - truncf(x);
}

__device__ unary d_square = square;
__device__ unary d_table[3] = {halve, twist, square};

__global__ void apply(unary f, const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = f(in[i]);
}

__global__ void chain(const int *which, float *data, int n)
{
    int i = threadIdx.x;
    float v = data[i];
    for (int k = 0; k < n; k++)
        v = d_table[which[(i + k) % 3]](v);
    data[i] = v;
}

struct Primes {
    int p[16];
    constexpr Primes() : p()
    {
        int found = 0;
        for (int c = 2; found < 16; c++) {
            bool prime = true;
            for (int d = 2; d * d <= c; d++)
                prime = prime && c % d != 0;
            if (prime)
                p[found++] = c;
        }
    }
};
__constant__ constexpr Primes primes{};

template <typename... T> __host__ __device__ auto total(T... v)
{
    return (v + ... + 0);
}

template <typename F, typename... Args> __global__ void call(F f, int *out, Args... args)
{
    out[threadIdx.x] = f(threadIdx.x, args...);
}

class Node
{
  public:
    __device__ virtual ~Node()
    {
    }
    __device__ virtual int eval(int x) const = 0;
};
class Const : public Node
{
    int v;

  public:
    __device__ Const(int v) : v(v)
    {
    }
    __device__ int eval(int) const override
    {
        return v;
    }
};
class Var : public Node
{
  public:
    __device__ int eval(int x) const override
    {
        return x;
    }
};
template <int Op> class Binary : public Node
{
    Node *a, *b;

  public:
    __device__ Binary(Node *a, Node *b) : a(a), b(b)
    {
    }
    __device__ ~Binary() override
    {
        delete a;
        delete b;
    }
    __device__ int eval(int x) const override
    {
        if constexpr (Op == 0)
            return a->eval(x) + b->eval(x);
        else
            return a->eval(x) * b->eval(x);
    }
};

__global__ void build(Node **root)
{
    *root = new Binary<0>(new Binary<1>(new Var, new Var), new Binary<1>(new Const(3), new Var));
}
__global__ void evaluate(Node **root, int *out)
{
    out[threadIdx.x] = (*root)->eval(threadIdx.x);
}
__global__ void destroy(Node **root)
{
    delete *root;
}

__global__ void sieve(int *out)
{
    out[threadIdx.x] = primes.p[threadIdx.x % 16];
}

int main()
{
    float *in, *out;
    int *ints, bad = 0;
    cudaMallocManaged(&in, 64 * sizeof(float));
    cudaMallocManaged(&out, 64 * sizeof(float));
    cudaMallocManaged(&ints, 64 * sizeof(int));
    for (int i = 0; i < 64; i++)
        in[i] = i * 0.75f;
    unary f;
    cudaMemcpyFromSymbol(&f, d_square, sizeof f);
    apply<<<2, 32>>>(f, in, out, 64);
    cudaDeviceSynchronize();
    for (int i = 0; i < 64; i++)
        bad += out[i] != in[i] * in[i];
    cudaMemcpyFromSymbol(&f, d_table, sizeof f, sizeof f);
    apply<<<2, 32>>>(f, in, out, 64);
    cudaDeviceSynchronize();
    for (int i = 0; i < 64; i++)
        bad += out[i] != in[i] - std::trunc(in[i]);
    ints[0] = 2, ints[1] = 0, ints[2] = 1;
    chain<<<1, 32>>>(ints, in, 4);
    cudaDeviceSynchronize();
    for (int i = 0; i < 32; i++) {
        float v = i * 0.75f;
        for (int k = 0; k < 4; k++) {
            int w = (i + k) % 3;
            v = w == 0 ? v * v : w == 1 ? v / 2 : v - std::trunc(v);
        }
        bad += in[i] != v;
    }
    sieve<<<1, 16>>>(ints);
    cudaDeviceSynchronize();
    bad += ints[0] != 2 || ints[15] != 53;
    int base = 100;
    call<<<1, 32>>>([=] __device__(int t, int a, int b) { return base + total(t, a, b, 1); }, ints,
                    5, 7);
    cudaDeviceSynchronize();
    for (int i = 0; i < 32; i++)
        bad += ints[i] != 100 + i + 13;
    Node **root;
    cudaMalloc(&root, sizeof *root);
    build<<<1, 1>>>(root);
    evaluate<<<1, 64>>>(root, ints);
    destroy<<<1, 1>>>(root);
    bad += cudaDeviceSynchronize() != cudaSuccess;
    for (int i = 0; i < 64; i++)
        bad += ints[i] != i * i + 3 * i;
    std::printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    cudaFree(in);
    cudaFree(out);
    cudaFree(ints);
    cudaFree(root);
    return bad != 0;
}
