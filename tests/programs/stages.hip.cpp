// A pipeline of matrix products: each GPU has a matrix of its own, multiplies what the one before sends by it and sends the result
// on by a peer copy. Several matrices are on their way, so all GPUs work at once. Arguments: [order] [matrices].
#include "gpus.hpp"

__global__ void multiply(const unsigned *a, const unsigned *b, unsigned *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / n, column = i % n;
    if (row < n) {
        unsigned sum = 0;
        for (int k = 0; k < n; k++) {
            sum += a[row * n + k] * b[k * n + column];
        }
        c[i] = sum;
    }
}

static std::vector<unsigned> product(const std::vector<unsigned> &a, const std::vector<unsigned> &b, int n)
{
    std::vector<unsigned> c(n * n);
    for (int i = 0; i < n * n; i++) {
        for (int k = 0; k < n; k++) {
            c[i] += a[i / n * n + k] * b[k * n + i % n];
        }
    }
    return c;
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 8), many = size_argument(argc, argv, 2, 4), size = n * n;
    gpu_group g;
    random_source random;
    std::vector<std::vector<unsigned>> weight(g.count), want(many);
    std::vector<unsigned *> w = g.allocate<unsigned>(size), in = g.allocate<unsigned>(size * many), out = g.allocate<unsigned>(size * many);
    for (int d = 0; d < g.count; d++) {
        for (int i = 0; i < size; i++) {
            weight[d].push_back(random.next());
        }
        g.fill(d, w[d], weight[d]);
        if (d > 0) {
            g.join(d - 1, d);
        }
    }
    for (int m = 0; m < many; m++) {
        for (int i = 0; i < size; i++) {
            want[m].push_back(random.next());
        }
        g.fill(0, in[0] + m * size, want[m]);
        for (const std::vector<unsigned> &by : weight) {
            want[m] = product(want[m], by, n);
        }
    }
    for (int m = 0; m < many; m++) {
        for (int d = 0; d < g.count; d++) {
            if (d > 0) {
                g.follow(d, d - 1);
            }
            HIP_MUST(hipSetDevice(d));
            multiply<<<blocks_for(size, 64), 64, 0, g.stream[d]>>>(in[d] + m * size, w[d], out[d] + m * size, n);
            HIP_MUST(hipGetLastError());
            if (d < g.count - 1) {
                g.copy(in[d + 1] + m * size, d + 1, out[d] + m * size, d, size);
            }
        }
    }
    g.wait();
    for (int m = 0; m < many; m++) {
        std::vector<unsigned> got(size);
        HIP_MUST(hipSetDevice(g.count - 1));
        from_device(got, out[g.count - 1] + m * size);
        if (!same_or_report("stages", got, want[m])) {
            return 1;
        }
    }
    return pass("stages");
}
