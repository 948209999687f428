// 5x5 convolution of an image of odd size, with a halo in LDS. Arguments: [width] [height].
#include "check.hpp"

constexpr int radius = 2, tile = 16, span = tile + 2 * radius;
__constant__ float mask[2 * radius + 1][2 * radius + 1];

__global__ void convolve(const float *in, float *out, int width, int height)
{
    __shared__ float shared[span][span];
    int x0 = blockIdx.x * tile, y0 = blockIdx.y * tile;
    for (int y = threadIdx.y; y < span; y += tile) {
        for (int x = threadIdx.x; x < span; x += tile) {
            int from_x = x0 + x - radius, from_y = y0 + y - radius;
            bool inside = from_x >= 0 && from_x < width && from_y >= 0 && from_y < height;
            shared[y][x] = inside ? in[from_y * width + from_x] : 0.0f;
        }
    }
    __syncthreads();
    int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    float sum = 0;
    for (int dy = 0; dy <= 2 * radius; dy++) {
        for (int dx = 0; dx <= 2 * radius; dx++) {
            sum += mask[dy][dx] * shared[threadIdx.y + dy][threadIdx.x + dx];
        }
    }
    out[y * width + x] = sum;
}

int main(int argc, char **argv)
{
    int width = size_argument(argc, argv, 1, 93), height = size_argument(argc, argv, 2, 71);
    random_source random;
    std::vector<float> in(width * height), out(width * height), want(width * height);
    float filter[2 * radius + 1][2 * radius + 1];
    for (float &value : in) {
        value = random.small();
    }
    for (auto &row : filter) {
        for (float &value : row) {
            value = random.small();
        }
    }
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            for (int dy = -radius; dy <= radius; dy++) {
                for (int dx = -radius; dx <= radius; dx++) {
                    if (x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height) {
                        want[y * width + x] +=
                            filter[dy + radius][dx + radius] * in[(y + dy) * width + x + dx];
                    }
                }
            }
        }
    }
    HIP_MUST(hipMemcpyToSymbol(HIP_SYMBOL(mask), filter, sizeof filter));
    float *din = to_device(in), *dout = device_zeros<float>(in.size());
    convolve<<<dim3(blocks_for(width, tile), blocks_for(height, tile)), dim3(tile, tile)>>>(
        din, dout, width, height);
    HIP_MUST(hipGetLastError());
    from_device(out, dout);
    return same_or_report("convolution", out, want) ? pass("convolution") : 1;
}
