// Grids and work-groups of one, two and three dimensions with odd sizes: every work-item reports its indices and the
// sizes it sees, exactly once. Arguments: none.
#include "check.hpp"

__global__ void report(unsigned *out, unsigned *visits)
{
    unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned item = block * blockDim.x * blockDim.y * blockDim.z + thread;
    atomicAdd(&visits[item], 1u);
    out[item] = (gridDim.x << 27 | gridDim.y << 24 | gridDim.z << 21) ^
                (blockDim.x << 14 | blockDim.y << 9 | blockDim.z << 6) ^
                (blockIdx.x * 7 + blockIdx.y * 5 + blockIdx.z * 3 + threadIdx.x + 13 * threadIdx.y +
                 29 * threadIdx.z);
}

static bool check(dim3 grid, dim3 block)
{
    size_t items = size_t(grid.x) * grid.y * grid.z * block.x * block.y * block.z;
    std::vector<unsigned> want, out(items), visits(items), once(items, 1);
    for (unsigned bz = 0; bz < grid.z; bz++) {
        for (unsigned by = 0; by < grid.y; by++) {
            for (unsigned bx = 0; bx < grid.x; bx++) {
                for (unsigned z = 0; z < block.z; z++) {
                    for (unsigned y = 0; y < block.y; y++) {
                        for (unsigned x = 0; x < block.x; x++) {
                            want.push_back((grid.x << 27 | grid.y << 24 | grid.z << 21) ^
                                           (block.x << 14 | block.y << 9 | block.z << 6) ^
                                           (bx * 7 + by * 5 + bz * 3 + x + 13 * y + 29 * z));
                        }
                    }
                }
            }
        }
    }
    unsigned *dout = device_zeros<unsigned>(items), *dvisits = device_zeros<unsigned>(items);
    report<<<grid, block>>>(dout, dvisits);
    HIP_MUST(hipGetLastError());
    from_device(out, dout);
    from_device(visits, dvisits);
    char name[100];
    std::snprintf(name, sizeof name, "grids: %ux%ux%u of %ux%ux%u", grid.x, grid.y, grid.z, block.x, block.y,
                  block.z);
    return same_or_report(name, visits, once) && same_or_report(name, out, want);
}

int main()
{
    const dim3 cases[][2] = {
        {dim3(1), dim3(1)},          {dim3(3), dim3(7)},           {dim3(5), dim3(65)},
        {dim3(2, 3), dim3(9, 7)},    {dim3(1, 7), dim3(1, 33)},    {dim3(7, 1, 5), dim3(3, 1, 11)},
        {dim3(3, 2, 5), dim3(5, 3, 7)}, {dim3(2, 2, 2), dim3(8, 8, 8)}, {dim3(3), dim3(1024)},
        {dim3(1, 1, 3), dim3(1, 1, 64)}, {dim3(2, 5, 3), dim3(16, 4, 3)}, {dim3(40), dim3(64)},
    };
    for (const auto &each : cases) {
        if (!check(each[0], each[1])) {
            return 1;
        }
    }
    return pass("grids");
}
