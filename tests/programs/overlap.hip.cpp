// Eight kernels on eight streams, each too small to fill the device: they run at the same time, and each computes what it would
// alone. tests/system looks at their times. Argument: [steps].
#include "check.hpp"

constexpr int kernels = 8, blocks = 6, threads = 128, items = blocks * threads;

// `steps` steps of a linear congruential generator of its own for every kernel.
template <int K> __global__ void overlap(uint32_t *data, int steps)
{
    __shared__ uint32_t all[threads];
    uint32_t value = data[blockIdx.x * threads + threadIdx.x];
    for (int i = 0; i < steps; i++) {
        value = value * (1664525u + 8u * K) + 1013904223u;
    }
    all[threadIdx.x] = value;
    __syncthreads();
    data[blockIdx.x * threads + threadIdx.x] = all[threads - 1 - threadIdx.x];
}

static void launch(int k, hipStream_t stream, uint32_t *data, int steps)
{
    static void (*const each[kernels])(uint32_t *, int) = {overlap<0>, overlap<1>, overlap<2>, overlap<3>,
                                                           overlap<4>, overlap<5>, overlap<6>, overlap<7>};
    each[k]<<<blocks, threads, 0, stream>>>(data, steps);
}

int main(int argc, char **argv)
{
    int steps = size_argument(argc, argv, 1, 1000);
    hipStream_t stream[kernels];
    uint32_t *device[kernels];
    random_source random;
    std::vector<std::vector<uint32_t>> want(kernels, std::vector<uint32_t>(items));
    for (int k = 0; k < kernels; k++) {
        std::vector<uint32_t> start(items);
        for (int i = 0; i < items; i++) {
            start[i] = random.next();
            uint32_t value = start[i];
            for (int n = 0; n < steps; n++) {
                value = value * (1664525u + 8u * k) + 1013904223u;
            }
            want[k][i / threads * threads + threads - 1 - i % threads] = value;
        }
        device[k] = to_device(start);
        HIP_MUST(hipStreamCreateWithFlags(&stream[k], hipStreamNonBlocking));
    }
    for (int k = 0; k < kernels; k++) {
        launch(k, stream[k], device[k], steps);
        HIP_MUST(hipGetLastError());
    }
    HIP_MUST(hipDeviceSynchronize());
    for (int k = 0; k < kernels; k++) {
        std::vector<uint32_t> got(items);
        from_device(got, device[k]);
        if (!same_or_report("overlap", got, want[k])) {
            return 1;
        }
        HIP_MUST(hipStreamDestroy(stream[k]));
    }
    return pass("overlap");
}
