// Sparse matrix times vector, compressed rows: a work-item a row, and a wavefront a row with a reduction by shuffles.
// Arguments: [rows].
#include "check.hpp"

__global__ void rows_by_item(const int *starts, const int *columns, const float *values, const float *x, float *y,
                             int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0;
        for (int i = starts[row]; i < starts[row + 1]; i++) {
            sum += values[i] * x[columns[i]];
        }
        y[row] = sum;
    }
}

__global__ void rows_by_wavefront(const int *starts, const int *columns, const float *values, const float *x, float *y,
                                  int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
    int lane = threadIdx.x % warpSize;
    if (row < rows) {
        float sum = 0;
        for (int i = starts[row] + lane; i < starts[row + 1]; i += warpSize) {
            sum += values[i] * x[columns[i]];
        }
        for (int distance = warpSize / 2; distance > 0; distance /= 2) {
            sum += __shfl_down(sum, distance);
        }
        if (lane == 0) {
            y[row] = sum;
        }
    }
}

int main(int argc, char **argv)
{
    int rows = size_argument(argc, argv, 1, 600);
    random_source random;
    std::vector<int> starts(1, 0), columns;
    std::vector<float> values, x(rows), y(rows), want(rows);
    for (float &value : x) {
        value = random.small();
    }
    for (int row = 0; row < rows; row++) {
        int length = random.next() % 8 == 0 ? random.next() % 150 : random.next() % 10;
        for (int i = 0; i < length; i++) {
            columns.push_back(random.next() % rows);
            values.push_back(random.small());
            want[row] += values.back() * x[columns.back()];
        }
        starts.push_back(columns.size());
    }
    int *dstarts = to_device(starts), *dcolumns = to_device(columns);
    float *dvalues = to_device(values), *dx = to_device(x), *dy = device_zeros<float>(rows);
    rows_by_item<<<blocks_for(rows, 64), 64>>>(dstarts, dcolumns, dvalues, dx, dy, rows);
    from_device(y, dy);
    if (!same_or_report("spmv by items", y, want)) {
        return 1;
    }
    HIP_MUST(hipMemset(dy, 0xff, rows * sizeof(float)));
    rows_by_wavefront<<<blocks_for(rows, 4), 256>>>(dstarts, dcolumns, dvalues, dx, dy, rows);
    from_device(y, dy);
    return same_or_report("spmv by wavefronts", y, want) ? pass("spmv") : 1;
}
