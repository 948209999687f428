// Function calls that are not inlined, recursion, function pointers, and local arrays whose addresses are passed:
// compiled without optimisation, so that everything lives in scratch memory. Arguments: [elements].
#include "check.hpp"

typedef int (*operation)(int, int);

__host__ __device__ __attribute__((noinline)) int add(int a, int b)
{
    return a + b;
}

__host__ __device__ __attribute__((noinline)) int twist(int a, int b)
{
    return (a ^ b) * 3 - b;
}

__host__ __device__ __attribute__((noinline)) int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__host__ __device__ __attribute__((noinline)) void sort(int *values, int n)
{
    for (int i = 1; i < n; i++) {
        for (int j = i; j > 0 && values[j - 1] > values[j]; j--) {
            int t = values[j];
            values[j] = values[j - 1];
            values[j - 1] = t;
        }
    }
}

__host__ __device__ static int work(int i)
{
    int values[12];
    for (int k = 0; k < 12; k++) {
        values[k] = (i * 31 + k * 17) % 101;
    }
    sort(values, 12);
    operation chosen = i % 2 ? add : twist;
    double mean = 0;
    for (int k = 0; k < 12; k++) {
        mean += values[k] / 12.0;
    }
    return chosen(values[i % 12], values[3]) + fibonacci(i % 6) + static_cast<int>(mean);
}

__global__ void run(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = work(i);
    }
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 130);
    std::vector<int> out(n), want(n);
    for (int i = 0; i < n; i++) {
        want[i] = work(i);
    }
    int *dout = device_zeros<int>(n);
    run<<<blocks_for(n, 64), 64>>>(dout, n);
    HIP_MUST(hipGetLastError());
    from_device(out, dout);
    return same_or_report("calls", out, want) ? pass("calls") : 1;
}
