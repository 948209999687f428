// pagerank N: two steps y = M x over a graph of N nodes in which every edge is there with probability one half, as rows of
// sparse entries (CSR). A work-group of one wavefront makes a row: lanes add up every 64th product, and
// a tree in LDS adds up the lanes without barriers. x is copied to the device first, within the time.
#include "label.hpp"

constexpr int lanes = 64, steps = 2;

__global__ void pagerank_kernel(const int *starts, const int *columns,
                                                         const float *values, const float *x,
                                                         float *y)
{
    __shared__ float sums[lanes];
    int row = blockIdx.x, lane = threadIdx.x;
    y[row] = 0;
    float sum = 0;
    for (int j = starts[row] + lane; j < starts[row + 1]; j += lanes) {
        sum += values[j] * x[columns[j]];
    }
    sums[lane] = sum;
    for (int half = lanes / 2; half > 0; half /= 2) {
        if (lane < half) {
            sums[lane] += sums[lane + half];
        }
    }
    if (lane == 0) {
        y[row] += sums[0];
    }
}

struct graph {
    std::vector<int> starts, columns;
    std::vector<float> values;
};

static graph random_graph(size_t nodes)
{
    graph g;
    glibc_random random(42);
    g.starts.push_back(0);
    g.columns.reserve(nodes * nodes / 2 + nodes * 4);
    for (size_t row = 0; row < nodes; row++) {
        for (size_t column = 0; column < nodes; column++) {
            if (random.next() <= RAND_MAX / 2) { // rand() / RAND_MAX < 0.5
                g.columns.push_back(int(column));
            }
        }
        g.starts.push_back(int(g.columns.size()));
        int entries = g.starts[row + 1] - g.starts[row];
        g.values.insert(g.values.end(), entries, 1.0f / float(entries));
    }
    return g;
}

static std::vector<float> pagerank_host(const graph &g, std::vector<float> x)
{
    for (int step = 0; step < steps; step++) {
        std::vector<float> y(x.size());
        for (size_t row = 0; row < x.size(); row++) {
            float sums[lanes] = {};
            for (int j = g.starts[row]; j < g.starts[row + 1]; j++) {
                float &sum = sums[(j - g.starts[row]) % lanes];
                sum = fused(g.values[j], x[g.columns[j]], sum);
            }
            for (int half = lanes / 2; half > 0; half /= 2) {
                for (int lane = 0; lane < half; lane++) {
                    sums[lane] += sums[lane + half];
                }
            }
            y[row] = sums[0];
        }
        x = y;
    }
    return x;
}

int main(int argc, char **argv)
{
    label l = label_arguments(argc, argv, "pagerank", 1, 65536);
    graph g = random_graph(l.size);
    std::vector<float> ranks(l.size, 1.0f / float(l.size)), got(l.size);
    int *starts = to_device(g.starts), *columns = to_device(g.columns);
    float *values = to_device(g.values);
    float *x = device_array<float>(l.size), *y = device_array<float>(l.size);
    label_run(l, [&] {
        HIP_MUST(hipMemcpy(x, ranks.data(), l.size * sizeof(float), hipMemcpyHostToDevice));
        for (int step = 0; step < steps; step++) {
            pagerank_kernel<<<dim3(l.size), dim3(lanes)>>>(starts, columns, values, x, y);
            std::swap(x, y);
        }
    });
    if (!l.check) {
        return 0;
    }
    from_device(got, x);
    return label_random_is_that_of_glibc(l)
                   && same_or_report("pagerank", got, pagerank_host(g, ranks))
               ? pass("pagerank")
               : 1;
}
