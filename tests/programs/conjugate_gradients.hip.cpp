// An implicit heat equation: each time step solves (I + dt L) x = x_before by conjugate gradients on
// a sparse matrix (CSR), so the number of iterations changes from step to step. Scalars stay on the
// device; the host reads the residual after every ten iterations. The last system is checked by its
// residual, in doubles. Arguments: [side of the grid] [time steps] [seed].
#include "check.hpp"

constexpr int block = 256, check_every = 10, most_iterations = 1000;
constexpr float tolerance = 1e-5f; // of the residual, as a share of the right side

struct scalars {
    float rr, alpha, beta;
};

__global__ void multiply(const int *starts, const int *columns, const float *values, const float *p,
                         float *q, int n)
{
    int row = blockIdx.x * block + threadIdx.x;
    if (row >= n) {
        return;
    }
    float sum = 0;
    for (int e = starts[row]; e < starts[row + 1]; e++) {
        sum = fmaf(values[e], p[columns[e]], sum);
    }
    q[row] = sum;
}

__device__ float block_sum(float value)
{
    __shared__ float parts[block];
    parts[threadIdx.x] = value;
    for (int half = block / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            parts[threadIdx.x] += parts[threadIdx.x + half];
        }
    }
    __syncthreads();
    return parts[0];
}

__global__ void dot(const float *a, const float *b, float *partial, int n)
{
    int i = blockIdx.x * block + threadIdx.x;
    float sum = block_sum(i < n ? a[i] * b[i] : 0);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
    }
}

__device__ float sum_of(const float *partial, int count)
{
    float sum = 0;
    for (int i = threadIdx.x; i < count; i += block) {
        sum += partial[i];
    }
    return block_sum(sum);
}

__global__ void first_residual(const float *partial, int count, scalars *s)
{
    float sum = sum_of(partial, count);
    if (threadIdx.x == 0) {
        s->rr = sum;
    }
}

__global__ void step_length(const float *partial, int count, scalars *s)
{
    float sum = sum_of(partial, count);
    if (threadIdx.x == 0) {
        s->alpha = sum > 0 ? s->rr / sum : 0;
    }
}

__global__ void step_direction(const float *partial, int count, scalars *s)
{
    float sum = sum_of(partial, count);
    if (threadIdx.x == 0) {
        s->beta = s->rr > 0 ? sum / s->rr : 0;
        s->rr = sum;
    }
}

__global__ void advance(float *x, float *r, const float *p, const float *q, const scalars *s,
                        float *partial, int n)
{
    int i = blockIdx.x * block + threadIdx.x;
    float rest = 0;
    if (i < n) {
        x[i] += s->alpha * p[i];
        rest = r[i] - s->alpha * q[i];
        r[i] = rest;
    }
    float sum = block_sum(rest * rest);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
    }
}

__global__ void turn(float *p, const float *r, const scalars *s, int n)
{
    int i = blockIdx.x * block + threadIdx.x;
    if (i < n) {
        p[i] = r[i] + s->beta * p[i];
    }
}

// r = b - q, where q = A x, and p = r: the solution of the step before is the first guess.
__global__ void begin(const float *b, const float *q, float *r, float *p, int n)
{
    int i = blockIdx.x * block + threadIdx.x;
    if (i < n) {
        r[i] = p[i] = b[i] - q[i];
    }
}

struct matrix {
    std::vector<int> starts{0}, columns;
    std::vector<float> values;
};

// I + dt L of a square grid whose cells conduct differently.
static matrix heat_matrix(int side, random_source &random)
{
    matrix a;
    std::vector<float> conducts(side * side);
    for (float &value : conducts) {
        value = 0.5f + (random.next() % 256u) / 64.0f;
    }
    const int dx[] = {0, -1, 1, 0}, dy[] = {-1, 0, 0, 1};
    for (int cell = 0; cell < side * side; cell++) {
        int x = cell % side, y = cell / side;
        float diagonal = 1;
        for (int i = 0; i < 4; i++) {
            int nx = x + dx[i], ny = y + dy[i], other = ny * side + nx;
            if (nx < 0 || ny < 0 || nx == side || ny == side) {
                continue;
            }
            float flow = 2 * conducts[cell] * conducts[other] / (conducts[cell] + conducts[other]);
            a.columns.push_back(other);
            a.values.push_back(-flow);
            diagonal += flow;
        }
        a.columns.push_back(cell);
        a.values.push_back(diagonal);
        a.starts.push_back(a.columns.size());
    }
    return a;
}

// The share of `b` that A x lacks.
static double residual(const matrix &a, const std::vector<float> &x, const std::vector<float> &b)
{
    double lacks = 0, all = 0;
    for (size_t row = 0; row < b.size(); row++) {
        double sum = b[row];
        for (int e = a.starts[row]; e < a.starts[row + 1]; e++) {
            sum -= double(a.values[e]) * x[a.columns[e]];
        }
        lacks += sum * sum;
        all += double(b[row]) * b[row];
    }
    return std::sqrt(lacks / all);
}

int main(int argc, char **argv)
{
    int side = size_argument(argc, argv, 1, 24), steps = size_argument(argc, argv, 2, 2);
    int n = side * side, iterations = 0;
    unsigned blocks = blocks_for(n, block);
    random_source random;
    random.state += 7919u * size_argument(argc, argv, 3, 1);
    matrix a = heat_matrix(side, random);
    std::vector<float> x(n), before;
    for (int i = 0; i < n; i++) {
        x[i] = i == 0 || random.next() % 64 == 0 ? 1 + random.next() % 100 : 0;
    }
    int *starts = to_device(a.starts), *columns = to_device(a.columns);
    float *values = to_device(a.values), *dx = to_device(x), *b = to_device(x);
    float *r = device_zeros<float>(n), *p = device_zeros<float>(n), *q = device_zeros<float>(n);
    float *partial = device_zeros<float>(blocks);
    scalars *s = device_zeros<scalars>(1);
    for (int step = 0; step < steps; step++) {
        scalars now;
        HIP_MUST(hipMemcpy(b, dx, n * sizeof *b, hipMemcpyDeviceToDevice));
        dot<<<blocks, block>>>(b, b, partial, n);
        first_residual<<<1, block>>>(partial, blocks, s);
        HIP_MUST(hipMemcpy(&now, s, sizeof now, hipMemcpyDeviceToHost));
        float enough = tolerance * tolerance * now.rr;
        multiply<<<blocks, block>>>(starts, columns, values, dx, q, n);
        begin<<<blocks, block>>>(b, q, r, p, n);
        dot<<<blocks, block>>>(r, r, partial, n);
        first_residual<<<1, block>>>(partial, blocks, s);
        for (int i = 0; i < most_iterations; i++) {
            multiply<<<blocks, block>>>(starts, columns, values, p, q, n);
            dot<<<blocks, block>>>(p, q, partial, n);
            step_length<<<1, block>>>(partial, blocks, s);
            advance<<<blocks, block>>>(dx, r, p, q, s, partial, n);
            step_direction<<<1, block>>>(partial, blocks, s);
            turn<<<blocks, block>>>(p, r, s, n);
            iterations++;
            if (i % check_every != check_every - 1) {
                continue;
            }
            HIP_MUST(hipMemcpy(&now, s, sizeof now, hipMemcpyDeviceToHost));
            if (now.rr <= enough) {
                break;
            }
        }
    }
    HIP_MUST(hipGetLastError());
    before.resize(n);
    from_device(before, b);
    from_device(x, dx);
    double lacks = residual(a, x, before);
    if (!(lacks < 10 * tolerance)) {
        std::printf("FAIL conjugate_gradients: residual %g after %d iterations\n", lacks, iterations);
        return 1;
    }
    return pass("conjugate_gradients");
}
