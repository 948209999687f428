// Conway's Game of Life on a torus of bytes, several generations. Arguments: [width] [height] [generations].
#include "check.hpp"

__global__ void generation(const uint8_t *in, uint8_t *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    int neighbours = 0;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            if (dx || dy) {
                neighbours += in[(y + dy + height) % height * width + (x + dx + width) % width];
            }
        }
    }
    out[y * width + x] = neighbours == 3 || (neighbours == 2 && in[y * width + x]);
}

int main(int argc, char **argv)
{
    int width = size_argument(argc, argv, 1, 67), height = size_argument(argc, argv, 2, 39);
    int generations = size_argument(argc, argv, 3, 5);
    random_source random;
    std::vector<uint8_t> cells(width * height), next(cells.size()), got(cells.size());
    for (uint8_t &cell : cells) {
        cell = random.next() >> 9 & 1;
    }
    uint8_t *from = to_device(cells), *to = device_zeros<uint8_t>(cells.size());
    for (int g = 0; g < generations; g++) {
        generation<<<dim3(blocks_for(width, 32), blocks_for(height, 4)), dim3(32, 4)>>>(from, to, width, height);
        std::swap(from, to);
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                int neighbours = -cells[y * width + x];
                for (int k = 0; k < 9; k++) {
                    neighbours += cells[(y + k / 3 - 1 + height) % height * width + (x + k % 3 - 1 + width) % width];
                }
                next[y * width + x] = neighbours == 3 || (neighbours == 2 && cells[y * width + x]);
            }
        }
        cells.swap(next);
    }
    HIP_MUST(hipGetLastError());
    from_device(got, from);
    return same_or_report("life", got, cells) ? pass("life") : 1;
}
