// stencil2d N: one step of a stencil of nine points over N x N floats with a border of one cell. A work-group of one wavefront
// makes 16 rows of 64 columns from a tile in LDS, a thread a column.
#include "label.hpp"

constexpr int rows = 16, columns = 64;
constexpr float weight_centre = 0.25f, weight_cardinal = 0.15f, weight_diagonal = 0.05f;

__global__ void stencil_kernel(const float *from, float *to, int pitch)
{
    __shared__ float tile[rows + 2][columns + 2];
    int thread = threadIdx.y;
    int row = blockIdx.x * rows + 1, column = blockIdx.y * columns + thread + 1; // of the first cell
    for (int r = 0; r < rows + 2; r++) {
        tile[r][thread + 1] = from[(row + r - 1) * pitch + column];
    }
    if (thread == 0) {
        for (int r = 0; r < rows + 2; r++) {
            tile[r][0] = from[(row + r - 1) * pitch + column - 1];
        }
    }
    if (thread == columns - 1) {
        for (int r = 0; r < rows + 2; r++) {
            tile[r][columns + 1] = from[(row + r - 1) * pitch + column + 1];
        }
    }
    __syncthreads();
    for (int r = 1; r <= rows; r++) {
        int c = thread + 1;
        float cardinal = tile[r - 1][c] + tile[r + 1][c] + tile[r][c - 1] + tile[r][c + 1];
        float diagonal = tile[r - 1][c - 1] + tile[r - 1][c + 1] + tile[r + 1][c - 1]
                         + tile[r + 1][c + 1];
        to[(row + r - 1) * pitch + column] =
            weight_centre * tile[r][c] + weight_cardinal * cardinal + weight_diagonal * diagonal;
    }
}

static std::vector<float> stencil_host(const std::vector<float> &from, size_t n, size_t pitch)
{
    std::vector<float> to(from.size());
    for (size_t y = 1; y <= n; y++) {
        for (size_t x = 1; x <= n; x++) {
            auto at = [&](size_t dy, size_t dx) { return from[(y + dy - 1) * pitch + x + dx - 1]; };
            float cardinal = at(0, 1) + at(2, 1) + at(1, 0) + at(1, 2);
            float diagonal = at(0, 0) + at(0, 2) + at(2, 0) + at(2, 2);
            to[y * pitch + x] = weight_centre * at(1, 1) + weight_cardinal * cardinal
                                + weight_diagonal * diagonal;
        }
    }
    return to;
}

int main(int argc, char **argv)
{
    label l = label_arguments(argc, argv, "stencil2d", 64, 65536 - 64);
    size_t n = l.size, pitch = (n + 2 + 15) / 16 * 16;
    std::vector<float> from((n + 2) * pitch);
    glibc_random random(42);
    for (float &value : from) {
        value = float(random.next()) / float(RAND_MAX);
    }
    float *dfrom = to_device(from), *dto = device_array<float>(from.size());
    HIP_MUST(hipMemset(dto, 0, from.size() * sizeof(float)));
    label_run(l, [&] {
        stencil_kernel<<<dim3(n / rows, n / columns), dim3(1, columns)>>>(dfrom, dto, int(pitch));
    });
    if (!l.check) {
        return 0;
    }
    std::vector<float> got(from.size());
    from_device(got, dto);
    return label_random_is_that_of_glibc(l)
                   && near_or_report("stencil2d", got, stencil_host(from, n, pitch), 1e-6)
               ? pass("stencil2d")
               : 1;
}
