// A conjugate-gradient solver over a sparse matrix: one warp a row with read-only loads, dot
// products by a tree and an atomic function, scalars that stay on the device, and convergence that
// the host checks. Prints PASS or FAIL.
#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

template <typename T> class DeviceVector
{
    T *data_ = nullptr;
    size_t size_ = 0;

  public:
    explicit DeviceVector(size_t n) : size_(n)
    {
        cudaMalloc(&data_, n * sizeof(T));
        cudaMemset(data_, 0, n * sizeof(T));
    }
    explicit DeviceVector(const std::vector<T> &h) : DeviceVector(h.size())
    {
        cudaMemcpy(data_, h.data(), size_ * sizeof(T), cudaMemcpyHostToDevice);
    }
    DeviceVector(const DeviceVector &) = delete;
    DeviceVector(DeviceVector &&other) noexcept : data_(other.data_), size_(other.size_)
    {
        other.data_ = nullptr;
    }
    ~DeviceVector()
    {
        cudaFree(data_);
    }
    T *get()
    {
        return data_;
    }
    std::vector<T> host() const
    {
        std::vector<T> h(size_);
        cudaMemcpy(h.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost);
        return h;
    }
};

__global__ void multiply(const int *__restrict__ rows, const int *__restrict__ columns,
                         const double *__restrict__ values, const double *__restrict__ x, double *y,
                         int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (row >= n)
        return;
    double sum = 0;
    for (int i = __ldg(&rows[row]) + lane; i < __ldg(&rows[row + 1]); i += 32)
        sum += __ldg(&values[i]) * __ldg(&x[columns[i]]);
    for (int o = 16; o > 0; o /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, o);
    if (lane == 0)
        y[row] = sum;
}

__global__ void dot(const double *a, const double *b, double *result, int n)
{
    __shared__ double part[64];
    double sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += a[i] * b[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(result, part[0]);
}

// y = x + sign (up / down) z
__global__ void combine(double *y, const double *x, const double *z, const double *up,
                        const double *down, double sign, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = fma(sign * *up / *down, z[i], x[i]);
}

int main()
{
    const int side = 8, n = side * side, blocks = (n + 63) / 64;
    std::vector<int> rows{0}, columns;
    std::vector<double> values, right(n);
    for (int i = 0; i < n; i++) {
        int x = i % side, y = i / side;
        auto add = [&](bool there, int column, double v) {
            if (there) {
                columns.push_back(column);
                values.push_back(v);
            }
        };
        add(y > 0, i - side, -1);
        add(x > 0, i - 1, -1);
        add(true, i, 4.5);
        add(x < side - 1, i + 1, -1);
        add(y < side - 1, i + side, -1);
        rows.push_back((int)columns.size());
        right[i] = std::sin(i * 0.7);
    }
    DeviceVector<int> dr(rows), dc(columns);
    DeviceVector<double> dv(values), x(n), r(right), p(right), q(n), scalars(3);
    double *rr = scalars.get(), *pq = rr + 1, *next = rr + 2;
    dot<<<2, 64>>>(r.get(), r.get(), rr, n);
    int steps = 0;
    double residual = 1;
    while (residual > 1e-20 && steps++ < 40) {
        multiply<<<(n * 32 + 127) / 128, 128>>>(dr.get(), dc.get(), dv.get(), p.get(), q.get(), n);
        cudaMemsetAsync(pq, 0, 2 * sizeof(double));
        dot<<<2, 64>>>(p.get(), q.get(), pq, n);
        combine<<<blocks, 64>>>(x.get(), x.get(), p.get(), rr, pq, 1, n);
        combine<<<blocks, 64>>>(r.get(), r.get(), q.get(), rr, pq, -1, n);
        dot<<<2, 64>>>(r.get(), r.get(), next, n);
        combine<<<blocks, 64>>>(p.get(), r.get(), p.get(), next, rr, 1, n);
        cudaMemcpyAsync(rr, next, sizeof(double), cudaMemcpyDeviceToDevice);
        cudaMemcpy(&residual, rr, sizeof residual, cudaMemcpyDeviceToHost);
    }
    std::vector<double> got = x.host();
    double worst = 0;
    for (int i = 0; i < n; i++) {
        double sum = -right[i];
        for (int k = rows[i]; k < rows[i + 1]; k++)
            sum += values[k] * got[columns[k]];
        worst = std::fmax(worst, std::fabs(sum));
    }
    bool good = worst < 1e-8 && steps < 40 && cudaGetLastError() == cudaSuccess;
    std::printf("%s\n%s\n", good ? "converged" : "did not converge", good ? "PASS" : "FAIL");
    return !good;
}
