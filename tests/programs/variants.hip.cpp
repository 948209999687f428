// One piece of work in many forms, to see whether a simulator chooses the fast ones. Arguments:
// stencil N BLOCK_X BLOCK_Y ROWS UNROLL: a sum over five points of an N x N field; a work-item makes
//   ROWS points of a column, UNROLL (1, 2, 4) at a time;
// matmul N TILE DEPTH OUTPUTS UNROLL PAD: N x N; a work-group makes TILE x (TILE * OUTPUTS) elements
//   with panels of DEPTH in LDS, whose rows are PAD longer than that, and unrolls by UNROLL.
#include "check.hpp"

template <int UNROLL> __global__ void stencil(const float *in, float *out, int n, int rows)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = (blockIdx.y * blockDim.y + threadIdx.y) * rows;
    if (x >= n)
        return;
    auto at = [=](int row, int column) {
        return row < 0 || row >= n || column < 0 || column >= n ? 0.0f : in[row * n + column];
    };
#pragma unroll UNROLL
    for (int i = 0; i < rows; i++)
        if (y + i < n)
            out[(y + i) * n + x] = at(y + i, x) + at(y + i - 1, x) + at(y + i + 1, x)
                                   + at(y + i, x - 1) + at(y + i, x + 1);
}

template <int OUTPUTS, int UNROLL>
__global__ void matmul(const float *a, const float *b, float *c, int n, int depth, int pad)
{
    extern __shared__ float panels[];
    const int tile = blockDim.x, width = tile * OUTPUTS;
    float *of_a = panels, *of_b = panels + tile * (depth + pad);
    const int row = blockIdx.y * tile + threadIdx.y, column = blockIdx.x * width + threadIdx.x;
    float sums[OUTPUTS] = {};
    for (int k = 0; k < n; k += depth) {
        for (int i = threadIdx.x; i < depth; i += tile)
            of_a[threadIdx.y * (depth + pad) + i] = a[row * n + k + i];
        for (int j = threadIdx.y; j < depth; j += tile)
            for (int o = 0; o < OUTPUTS; o++)
                of_b[j * (width + pad) + threadIdx.x + o * tile] = b[(k + j) * n + column + o * tile];
        __syncthreads();
#pragma unroll UNROLL
        for (int i = 0; i < depth; i++)
            for (int o = 0; o < OUTPUTS; o++)
                sums[o] += of_a[threadIdx.y * (depth + pad) + i]
                           * of_b[i * (width + pad) + threadIdx.x + o * tile];
        __syncthreads();
    }
    for (int o = 0; o < OUTPUTS; o++)
        c[row * n + column + o * tile] = sums[o];
}

static bool run_stencil(int n, const int *how)
{
    random_source random;
    std::vector<float> in(n * n), got(n * n), want(n * n);
    for (float &value : in)
        value = random.small();
    auto at = [&](int y, int x) {
        return y < 0 || y >= n || x < 0 || x >= n ? 0.0f : in[y * n + x];
    };
    for (int i = 0; i < n * n; i++)
        want[i] = at(i / n, i % n) + at(i / n - 1, i % n) + at(i / n + 1, i % n)
                  + at(i / n, i % n - 1) + at(i / n, i % n + 1);
    float *from = to_device(in), *to = device_zeros<float>(got.size());
    dim3 block(how[0], how[1]), grid(blocks_for(n, how[0]), blocks_for(n, how[1] * how[2]));
    auto kernel = how[3] == 4 ? stencil<4> : how[3] == 2 ? stencil<2> : stencil<1>;
    kernel<<<grid, block>>>(from, to, n, how[2]);
    HIP_MUST(hipGetLastError());
    HIP_MUST(hipDeviceSynchronize());
    from_device(got, to);
    return same_or_report("variants stencil", got, want);
}

template <int OUTPUTS> static auto matmul_of(int unroll)
{
    return unroll == 8   ? matmul<OUTPUTS, 8>
           : unroll == 4 ? matmul<OUTPUTS, 4>
           : unroll == 2 ? matmul<OUTPUTS, 2>
                         : matmul<OUTPUTS, 1>;
}

static bool run_matmul(int n, const int *how)
{
    const int tile = how[0], depth = how[1], outputs = how[2], pad = how[4];
    if (n % (tile * outputs) || n % depth) {
        std::printf("FAIL variants: %d is no multiple of the tile and the depth\n", n);
        return false;
    }
    random_source random;
    std::vector<float> a(n * n), b(n * n), got(n * n), want(n * n);
    for (int i = 0; i < n * n; i++) {
        a[i] = random.small();
        b[i] = random.small();
    }
    for (int y = 0; y < n; y++)
        for (int k = 0; k < n; k++)
            for (int x = 0; x < n; x++)
                want[y * n + x] += a[y * n + k] * b[k * n + x];
    float *da = to_device(a), *db = to_device(b), *dc = device_zeros<float>(got.size());
    auto kernel = outputs == 4   ? matmul_of<4>(how[3])
                  : outputs == 2 ? matmul_of<2>(how[3])
                                 : matmul_of<1>(how[3]);
    size_t lds = sizeof(float) * (tile * (depth + pad) + depth * (tile * outputs + pad));
    kernel<<<dim3(n / (tile * outputs), n / tile), dim3(tile, tile), lds>>>(da, db, dc, n, depth,
                                                                            pad);
    HIP_MUST(hipGetLastError());
    HIP_MUST(hipDeviceSynchronize());
    from_device(got, dc);
    return same_or_report("variants matmul", got, want);
}

int main(int argc, char **argv)
{
    bool is_stencil = argc == 7 && std::strcmp(argv[1], "stencil") == 0;
    if (!is_stencil && (argc != 8 || std::strcmp(argv[1], "matmul") != 0)) {
        std::printf("FAIL variants: stencil N BLOCK_X BLOCK_Y ROWS UNROLL, or matmul N TILE DEPTH "
                    "OUTPUTS UNROLL PAD\n");
        return 2;
    }
    int how[5] = {};
    for (int i = 3; i < argc; i++)
        how[i - 3] = std::atoi(argv[i]);
    int n = size_argument(argc, argv, 2, 64);
    return (is_stencil ? run_stencil(n, how) : run_matmul(n, how)) ? pass("variants") : 1;
}
