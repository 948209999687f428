// Five-point stencil on a grid, several steps between two buffers, with the weights in constant
// memory and a counter of steps in a device variable. Arguments: [width] [height] [steps].
#include "check.hpp"

__constant__ float weights[2];
__device__ int steps_done;

__global__ void stencil(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x == 0 && y == 0) {
        steps_done++;
    }
    if (x >= width || y >= height) {
        return;
    }
    int i = y * width + x;
    if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
        out[i] = in[i];
    } else {
        float around = in[i - 1] + in[i + 1] + in[i - width] + in[i + width];
        out[i] = weights[0] * in[i] + weights[1] * around;
    }
}

int main(int argc, char **argv)
{
    int width = size_argument(argc, argv, 1, 70);
    int height = size_argument(argc, argv, 2, 45);
    int steps = size_argument(argc, argv, 3, 3);
    random_source random;
    std::vector<float> grid(width * height), out(width * height);
    for (float &cell : grid) {
        cell = static_cast<float>(random.next() % 64u);
    }
    const float host_weights[2] = {0.5f, 0.125f}; // powers of two: exact for a few steps
    HIP_MUST(hipMemcpyToSymbol(HIP_SYMBOL(weights), host_weights, sizeof host_weights));
    float *din = to_device(grid), *dout = to_device(grid);
    dim3 block(32, 8), blocks((width + 31) / 32, (height + 7) / 8);
    for (int step = 0; step < steps; step++) {
        stencil<<<blocks, block>>>(din, dout, width, height);
        std::swap(din, dout);
    }
    HIP_MUST(hipDeviceSynchronize());
    from_device(out, din);
    int counted = -1;
    HIP_MUST(hipMemcpyFromSymbol(&counted, HIP_SYMBOL(steps_done), sizeof counted));
    std::vector<float> want = grid;
    for (int step = 0; step < steps; step++) {
        std::vector<float> before = want;
        for (int y = 1; y < height - 1; y++) {
            for (int x = 1; x < width - 1; x++) {
                int i = y * width + x;
                float around =
                    before[i - 1] + before[i + 1] + before[i - width] + before[i + width];
                want[i] = 0.5f * before[i] + 0.125f * around;
            }
        }
    }
    if (counted != steps) {
        std::printf("FAIL stencil: the device variable counted %d steps of %d\n", counted, steps);
        return 1;
    }
    return same_or_report("stencil", out, want) ? pass("stencil") : 1;
}
