// matrixtranspose N: the transpose of N x N floats in tiles of 64 x 64 floats through LDS. A thread moves a block of 4 x 4.
// Work-groups take the tiles in diagonal order.
#include "label.hpp"

constexpr int side = 16; // threads along an edge of a work-group

__global__ void transpose_kernel(float4 *out, const float4 *in,
                                                               int row_length, int tiles)
{
    extern __shared__ float4 tile[];
    int tile_x = (blockIdx.x + blockIdx.y) % tiles, tile_y = blockIdx.x;
    int lx = threadIdx.x, ly = threadIdx.y;
    int from = side * tile_x + lx + (side * tile_y + ly) * 4 * row_length;
    for (int r = 0; r < 4; r++) {
        tile[lx + 4 * side * ly + side * r] = in[from + r * row_length];
    }
    __syncthreads();
    float4 v[4];
    for (int r = 0; r < 4; r++) {
        v[r] = tile[ly + 4 * side * lx + side * r];
    }
    int to = side * tile_y + lx + (side * tile_x + ly) * 4 * row_length;
    out[to] = make_float4(v[0].x, v[1].x, v[2].x, v[3].x);
    out[to + row_length] = make_float4(v[0].y, v[1].y, v[2].y, v[3].y);
    out[to + 2 * row_length] = make_float4(v[0].z, v[1].z, v[2].z, v[3].z);
    out[to + 3 * row_length] = make_float4(v[0].w, v[1].w, v[2].w, v[3].w);
}

int main(int argc, char **argv)
{
    label l = label_arguments(argc, argv, "matrixtranspose", 64, 65536);
    size_t n = l.size;
    std::vector<float> in(n * n);
    for (size_t i = 0; i < n * n; i++) {
        in[i] = float(i);
    }
    float *din = to_device(in), *dout = device_array<float>(n * n);
    int tiles = int(n / 64);
    label_run(l, [&] {
        transpose_kernel<<<dim3(tiles, tiles), dim3(side, side), 4 * side * side * sizeof(float4)>>>(
            reinterpret_cast<float4 *>(dout), reinterpret_cast<const float4 *>(din), int(n / 4),
            tiles);
    });
    if (!l.check) {
        return 0;
    }
    std::vector<float> got(n * n), want(n * n);
    from_device(got, dout);
    for (size_t y = 0; y < n; y++) {
        for (size_t x = 0; x < n; x++) {
            want[x * n + y] = in[y * n + x];
        }
    }
    return same_or_report("matrixtranspose", got, want) ? pass("matrixtranspose") : 1;
}
