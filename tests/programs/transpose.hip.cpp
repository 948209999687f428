// Transposes a matrix through LDS. Arguments: [rows] [columns]; neither need be a multiple of the
// tile.
#include "check.hpp"

constexpr int tile = 16;

__global__ void transpose(const uint32_t *in, uint32_t *out, int rows, int columns)
{
    __shared__ uint32_t block[tile][tile + 1];
    int x = blockIdx.x * tile + threadIdx.x;
    int y = blockIdx.y * tile + threadIdx.y;
    if (x < columns && y < rows) {
        block[threadIdx.y][threadIdx.x] = in[y * columns + x];
    }
    __syncthreads();
    x = blockIdx.y * tile + threadIdx.x;
    y = blockIdx.x * tile + threadIdx.y;
    if (x < rows && y < columns) {
        out[y * rows + x] = block[threadIdx.x][threadIdx.y];
    }
}

int main(int argc, char **argv)
{
    int rows = size_argument(argc, argv, 1, 100);
    int columns = size_argument(argc, argv, 2, 75);
    random_source random;
    std::vector<uint32_t> in(rows * columns), out(rows * columns), want(rows * columns);
    for (int y = 0; y < rows; y++) {
        for (int x = 0; x < columns; x++) {
            in[y * columns + x] = random.next();
            want[x * rows + y] = in[y * columns + x];
        }
    }
    uint32_t *din = to_device(in), *dout = to_device(out);
    dim3 grid((columns + tile - 1) / tile, (rows + tile - 1) / tile);
    transpose<<<grid, dim3(tile, tile)>>>(din, dout, rows, columns);
    HIP_MUST(hipDeviceSynchronize());
    from_device(out, dout);
    return same_or_report("transpose", out, want) ? pass("transpose") : 1;
}
