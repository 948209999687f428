// y = A^T (A x), by rows and then by columns of the same matrix. Arguments: [rows] [columns].
#include "check.hpp"

__global__ void by_rows(const float *a, const float *x, float *t, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0;
        for (int column = 0; column < columns; column++) {
            sum += a[row * columns + column] * x[column];
        }
        t[row] = sum;
    }
}

__global__ void by_columns(const float *a, const float *t, float *y, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < columns) {
        float sum = 0;
        for (int row = 0; row < rows; row++) {
            sum += a[row * columns + column] * t[row];
        }
        y[column] = sum;
    }
}

int main(int argc, char **argv)
{
    int rows = size_argument(argc, argv, 1, 130), columns = size_argument(argc, argv, 2, 97);
    random_source random;
    std::vector<float> a(rows * columns), x(columns), t(rows), y(columns), want(columns);
    for (float &value : a) {
        value = random.next() % 8 * 0.5f;
    }
    for (float &value : x) {
        value = random.next() % 8 * 0.5f;
    }
    for (int row = 0; row < rows; row++) {
        for (int column = 0; column < columns; column++) {
            t[row] += a[row * columns + column] * x[column];
        }
    }
    for (int column = 0; column < columns; column++) {
        for (int row = 0; row < rows; row++) {
            want[column] += a[row * columns + column] * t[row];
        }
    }
    float *da = to_device(a), *dx = to_device(x), *dt = device_zeros<float>(rows);
    float *dy = device_zeros<float>(columns);
    by_rows<<<blocks_for(rows, 64), 64>>>(da, dx, dt, rows, columns);
    by_columns<<<blocks_for(columns, 64), 64>>>(da, dt, dy, rows, columns);
    HIP_MUST(hipGetLastError());
    from_device(y, dy);
    return same_or_report("atax", y, want) ? pass("atax") : 1;
}
