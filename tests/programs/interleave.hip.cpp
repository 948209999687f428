// Two work-groups whose loads compete for one set of the L2: the first loads and then computes, the second computes and then
// loads. A second launch loads the first work-group's lines again. What it finds depends on the order in which the loads met,
// so on whether the arithmetic took time. Lines lie 8 KiB apart. Argument: [lines of each].
#include "check.hpp"

constexpr int apart = 8192 / sizeof(int);

__device__ static int load(const volatile int *from, int lines)
{
    int sum = 0;
    for (int i = 0; i < lines; i++) {
        sum += from[i * apart];
    }
    return sum;
}

__device__ static int compute(int value, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        value = value * 1664525 + 1013904223;
    }
    return value;
}

__global__ void meet(const int *data, int *out, int lines, int rounds)
{
    if (threadIdx.x) {
        return;
    }
    const int *own = data + blockIdx.x * lines * apart;
    int value = 0;
    if (blockIdx.x == 0) {
        value = compute(load(own, lines), rounds);
    } else {
        value = compute(blockIdx.x, rounds);
        value += load(own, lines);
    }
    out[blockIdx.x] = value;
}

__global__ void again(const int *data, int *out, int lines)
{
    if (threadIdx.x == 0) {
        out[2] = load(data, lines);
    }
}

static int host_compute(uint32_t value, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        value = value * 1664525u + 1013904223u;
    }
    return static_cast<int>(value);
}

int main(int argc, char **argv)
{
    int lines = size_argument(argc, argv, 1, 12), rounds = 4000;
    std::vector<int> data(2 * lines * apart), out(3), want(3);
    random_source random;
    int sums[2] = {0, 0};
    for (int i = 0; i < 2 * lines; i++) {
        data[i * apart] = random.next() % 1000;
        sums[i / lines] += data[i * apart];
    }
    want[0] = host_compute(sums[0], rounds);
    want[1] = static_cast<int>(static_cast<uint32_t>(host_compute(1, rounds)) + sums[1]);
    want[2] = sums[0];
    int *ddata = to_device(data), *dout = device_zeros<int>(3);
    meet<<<2, 64>>>(ddata, dout, lines, rounds);
    again<<<1, 64>>>(ddata, dout, lines);
    HIP_MUST(hipGetLastError());
    from_device(out, dout);
    return same_or_report("interleave", out, want) ? pass("interleave") : 1;
}
