// A five-point stencil on a grid whose rows are divided over all GPUs: after each step, neighbours exchange their outermost rows
// by peer copies, each GPU in its own stream. Arguments: [columns] [rows a GPU] [steps].
#include "check.hpp"

__global__ void smooth(const int *in, int *out, int columns, int rows)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y + 1;
    if (x < columns && y <= rows) {
        int left = x > 0 ? in[y * columns + x - 1] : 0, right = x < columns - 1 ? in[y * columns + x + 1] : 0;
        out[y * columns + x] = in[y * columns + x] + (left + right + in[(y - 1) * columns + x] + in[(y + 1) * columns + x]) % 7;
    }
}

int main(int argc, char **argv)
{
    int columns = size_argument(argc, argv, 1, 100), rows = size_argument(argc, argv, 2, 6), steps = size_argument(argc, argv, 3, 3),
        count = 0;
    HIP_MUST(hipGetDeviceCount(&count));
    size_t row = columns * sizeof(int), bytes = row * (rows + 2);
    int all = rows * count + 2;
    std::vector<int> grid(all * columns), next(all * columns), got(rows * count * columns);
    std::vector<int *> in(count), out(count);
    std::vector<hipStream_t> streams(count);
    std::vector<hipEvent_t> done(count);
    for (int i = columns; i < (all - 1) * columns; i++) {
        grid[i] = i % 101;
    }
    for (int d = 0; d < count; d++) {
        HIP_MUST(hipSetDevice(d));
        allocate(&in[d], bytes);
        allocate(&out[d], bytes);
        HIP_MUST(hipMemset(out[d], 0, bytes));
        HIP_MUST(hipMemcpy(in[d], &grid[d * rows * columns], bytes, hipMemcpyHostToDevice));
        HIP_MUST(hipStreamCreateWithFlags(&streams[d], hipStreamNonBlocking));
        HIP_MUST(hipEventCreateWithFlags(&done[d], hipEventDisableTiming));
    }
    for (int step = 0; step < steps; step++) {
        for (int d = 0; d < count; d++) {
            HIP_MUST(hipSetDevice(d));
            smooth<<<dim3(blocks_for(columns, 64), rows), 64, 0, streams[d]>>>(in[d], out[d], columns, rows);
            HIP_MUST(hipGetLastError());
            if (d > 0) {
                HIP_MUST(hipMemcpyPeerAsync(out[d - 1] + (rows + 1) * columns, d - 1, out[d] + columns, d, row, streams[d]));
            }
            if (d < count - 1) {
                HIP_MUST(hipMemcpyPeerAsync(out[d + 1], d + 1, out[d] + rows * columns, d, row, streams[d]));
            }
            HIP_MUST(hipEventRecord(done[d], streams[d]));
        }
        for (int d = 0; d < count; d++) { // the next step begins when the neighbours' rows are here
            HIP_MUST(hipSetDevice(d));
            for (int other : {d - 1, d + 1}) {
                if (other >= 0 && other < count) {
                    HIP_MUST(hipStreamWaitEvent(streams[d], done[other], 0));
                }
            }
            std::swap(in[d], out[d]);
        }
        for (int y = 1; y < all - 1; y++) {
            for (int x = 0; x < columns; x++) {
                int at = y * columns + x, left = x > 0 ? grid[at - 1] : 0, right = x < columns - 1 ? grid[at + 1] : 0;
                next[at] = grid[at] + (left + right + grid[at - columns] + grid[at + columns]) % 7;
            }
        }
        grid.swap(next);
    }
    for (int d = 0; d < count; d++) {
        HIP_MUST(hipSetDevice(d));
        HIP_MUST(hipDeviceSynchronize());
        HIP_MUST(hipMemcpy(&got[d * rows * columns], in[d] + columns, rows * row, hipMemcpyDeviceToHost));
        HIP_MUST(hipEventDestroy(done[d]));
        HIP_MUST(hipStreamDestroy(streams[d]));
    }
    std::vector<int> want(grid.begin() + columns, grid.end() - columns);
    return same_or_report("halo", got, want) ? pass("halo") : 1;
}
