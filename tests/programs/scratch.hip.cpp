// Private arrays too large for registers, indexed dynamically, and register spills forced by a bound on work-group size.
// Several work-groups a compute unit, so that every wavefront needs scratch of its own. Arguments: [work-items].
#include "check.hpp"

constexpr int size = 200;

__host__ __device__ static int walk(int seed)
{
    int heap[size];
    for (int i = 0; i < size; i++) {
        heap[i] = (i * 7919 + seed * 104729) % 1009;
    }
    int position = seed % size;
    for (int step = 0; step < 60; step++) {
        int next = heap[position] % size;
        heap[position] += step ^ seed;
        position = next;
    }
    int sum = 0;
    for (int i = 0; i < size; i += 9) {
        sum += heap[(i + position) % size];
    }
    return sum;
}

__global__ void walk_all(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = walk(i);
    }
}

// 96 live values, but 64 registers at most when 1,024 work-items must fit.
__global__ __launch_bounds__(1024) void spill(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float live[96];
#pragma unroll
    for (int k = 0; k < 96; k++) {
        live[k] = in[(i + k * 5) % n];
    }
    for (int round = 0; round < 2; round++) {
#pragma unroll
        for (int k = 0; k < 96; k++) {
            live[k] = live[k] * 0.5f + live[(k + 37) % 96];
        }
    }
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 96; k++) {
        sum += live[k] * (k % 4);
    }
    if (i < n) {
        out[i] = sum;
    }
}

static float host_spill(const std::vector<float> &in, int i)
{
    int n = in.size();
    float live[96], sum = 0;
    for (int k = 0; k < 96; k++) {
        live[k] = in[(i + k * 5) % n];
    }
    for (int round = 0; round < 2; round++) {
        for (int k = 0; k < 96; k++) {
            live[k] = live[k] * 0.5f + live[(k + 37) % 96];
        }
    }
    for (int k = 0; k < 96; k++) {
        sum += live[k] * (k % 4);
    }
    return sum;
}

// A small private array with a dynamic index, which the compiler keeps in registers.
__global__ void indexed(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int small[8] = {i, 2 * i, 3, 5, i ^ 9, 7, 8, 1};
    for (int step = 0; step < 8; step++) {
        small[(i + step * 3) & 7] += small[(i * 5 + step) & 7];
    }
    if (i < n) {
        out[i] = small[i & 7] + small[(i + 3) & 7] * 5;
    }
}

static int host_indexed(int i)
{
    int small[8] = {i, 2 * i, 3, 5, i ^ 9, 7, 8, 1};
    for (int step = 0; step < 8; step++) {
        small[(i + step * 3) & 7] += small[(i * 5 + step) & 7];
    }
    return small[i & 7] + small[(i + 3) & 7] * 5;
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 300);
    random_source random;
    std::vector<int> out(n), want(n);
    std::vector<float> in(n), sums(n), want_sums(n);
    for (float &value : in) {
        value = random.small();
    }
    for (int i = 0; i < n; i++) {
        want[i] = walk(i);
        want_sums[i] = host_spill(in, i);
    }
    int *dout = device_zeros<int>(n);
    float *din = to_device(in), *dsums = device_zeros<float>(n);
    walk_all<<<blocks_for(n, 64), 64>>>(dout, n);
    from_device(out, dout);
    if (!same_or_report("scratch: private arrays", out, want)) {
        return 1;
    }
    spill<<<blocks_for(n, 256), 256>>>(din, dsums, n);
    from_device(sums, dsums);
    if (!near_or_report("scratch: spills", sums, want_sums, 1e-5)) {
        return 1;
    }
    for (int i = 0; i < n; i++) {
        want[i] = host_indexed(i);
    }
    indexed<<<blocks_for(n, 64), 64>>>(dout, n);
    from_device(out, dout);
    return same_or_report("scratch: indexed registers", out, want) ? pass("scratch") : 1;
}
