// Training of a perceptron with two hidden layers by stochastic gradient descent: matrix products
// in tiles, ReLU, softmax and cross entropy, updates. The weights after the first step are compared
// with the host's, and the loss has to fall by half.
// Arguments: [samples of a batch] [width of the layers] [steps] [seed].
#include "check.hpp"

constexpr int tile = 16, block = 256, classes = 16, layers = 3;
constexpr float rate = 0.1f;

// An element of a matrix is at row * rows + column * columns, so a transposed one is no other.
struct view {
    float *data;
    int rows, columns;
};

// c = a b, and what is below zero becomes zero if `relu`. a: m x k, b: k x n.
__global__ void product(view a, view b, view c, int m, int n, int k, bool relu)
{
    __shared__ float left[tile][tile + 1], right[tile][tile + 1];
    int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * tile + x;
    int row = blockIdx.y * tile + y;
    float sum = 0;
    for (int at = 0; at < k; at += tile) {
        left[y][x] = row < m && at + x < k ? a.data[row * a.rows + (at + x) * a.columns] : 0;
        right[y][x] =
            column < n && at + y < k ? b.data[(at + y) * b.rows + column * b.columns] : 0;
        __syncthreads();
        for (int i = 0; i < tile; i++) {
            sum = fmaf(left[y][i], right[i][x], sum);
        }
        __syncthreads();
    }
    if (row < m && column < n) {
        c.data[row * c.rows + column * c.columns] = relu && sum < 0 ? 0 : sum;
    }
}

// Scores become the gradient of the loss with respect to them; a sample's loss is kept.
__global__ void cross_entropy(float *scores, const int *labels, float *loss, int samples)
{
    int i = blockIdx.x * block + threadIdx.x;
    if (i >= samples) {
        return;
    }
    float *own = scores + i * classes, most = own[0], sum = 0;
    for (int c = 1; c < classes; c++) {
        most = fmaxf(most, own[c]);
    }
    for (int c = 0; c < classes; c++) {
        own[c] = __expf(own[c] - most);
        sum += own[c];
    }
    loss[i] = -__logf(own[labels[i]] / sum);
    for (int c = 0; c < classes; c++) {
        own[c] = (own[c] / sum - (c == labels[i])) / samples;
    }
}

// Gradients do not pass where the layer was zero.
__global__ void relu_backward(float *gradient, const float *layer, int n)
{
    int i = blockIdx.x * block + threadIdx.x;
    if (i < n && !(layer[i] > 0)) {
        gradient[i] = 0;
    }
}

__global__ void update(float *weights, const float *gradient, int n)
{
    int i = blockIdx.x * block + threadIdx.x;
    if (i < n) {
        weights[i] -= rate * gradient[i];
    }
}

static void multiply(view a, view b, view c, int m, int n, int k, bool relu = false)
{
    dim3 blocks(blocks_for(n, tile), blocks_for(m, tile));
    product<<<blocks, dim3(tile, tile)>>>(a, b, c, m, n, k, relu);
}

struct perceptron {
    int samples, width[layers + 1];
    float *weights[layers], *change[layers]; // width[l] x width[l + 1]
    float *layer[layers + 1], *gradient[layers + 1];
    float *loss;
};

static view plain(float *data, int columns)
{
    return {data, columns, 1};
}

static view transposed(float *data, int columns)
{
    return {data, 1, columns};
}

static void train(const perceptron &p, const int *labels)
{
    for (int l = 0; l < layers; l++) {
        int from = p.width[l], to = p.width[l + 1];
        multiply(plain(p.layer[l], from), plain(p.weights[l], to), plain(p.layer[l + 1], to),
                 p.samples, to, from, l + 1 < layers);
    }
    float *scores = p.layer[layers];
    cross_entropy<<<blocks_for(p.samples, block), block>>>(scores, labels, p.loss, p.samples);
    for (int l = layers - 1; l >= 0; l--) {
        int from = p.width[l], to = p.width[l + 1], count = p.samples * from;
        float *gradient = l + 1 < layers ? p.gradient[l + 1] : scores;
        multiply(transposed(p.layer[l], from), plain(gradient, to), plain(p.change[l], to), from,
                 to, p.samples);
        if (l > 0) {
            multiply(plain(gradient, to), transposed(p.weights[l], to), plain(p.gradient[l], from),
                     p.samples, from, to);
            relu_backward<<<blocks_for(count, block), block>>>(p.gradient[l], p.layer[l], count);
        }
    }
    for (int l = 0; l < layers; l++) {
        int count = p.width[l] * p.width[l + 1];
        update<<<blocks_for(count, block), block>>>(p.weights[l], p.change[l], count);
    }
}

// c = a b on the host; a and b by their views.
static std::vector<double> host_product(const std::vector<double> &a, bool turned_a,
                                        const std::vector<double> &b, bool turned_b, int m, int n,
                                        int k)
{
    std::vector<double> c(size_t(m) * n);
    for (int i = 0; i < m; i++) {
        for (int l = 0; l < k; l++) {
            double value = a[turned_a ? l * m + i : i * k + l];
            for (int j = 0; j < n; j++) {
                c[i * n + j] += value * b[turned_b ? j * k + l : l * n + j];
            }
        }
    }
    return c;
}

using matrices = std::vector<std::vector<double>>;

// One step in doubles. Returns the new weights.
static matrices host_step(const perceptron &p, matrices weights, const std::vector<float> &input,
                          const std::vector<int> &labels)
{
    matrices layer(1, {input.begin(), input.end()}), before = weights;
    for (int l = 0; l < layers; l++) {
        layer.push_back(host_product(layer[l], false, weights[l], false, p.samples, p.width[l + 1],
                                     p.width[l]));
        for (double &value : layer[l + 1]) {
            value = l + 1 < layers && value < 0 ? 0 : value;
        }
    }
    std::vector<double> gradient = layer[layers];
    for (int i = 0; i < p.samples; i++) {
        double sum = 0;
        for (int c = 0; c < classes; c++) {
            sum += std::exp(gradient[i * classes + c]);
        }
        for (int c = 0; c < classes; c++) {
            double &own = gradient[i * classes + c];
            own = (std::exp(own) / sum - (c == labels[i])) / p.samples;
        }
    }
    for (int l = layers - 1; l >= 0; l--) {
        int from = p.width[l], to = p.width[l + 1];
        auto change = host_product(layer[l], true, gradient, false, from, to, p.samples);
        for (size_t i = 0; i < change.size(); i++) {
            weights[l][i] -= rate * change[i];
        }
        gradient = host_product(gradient, false, before[l], true, p.samples, from, to);
        for (size_t i = 0; i < gradient.size(); i++) {
            gradient[i] *= layer[l][i] > 0;
        }
    }
    return weights;
}

static double mean_loss(const perceptron &p)
{
    std::vector<float> loss(p.samples);
    from_device(loss, p.loss);
    double sum = 0;
    for (float value : loss) {
        sum += value;
    }
    return sum / p.samples;
}

// Batches of samples: noise about the centre of their class.
static void make_batch(std::vector<float> &input, std::vector<int> &labels,
                       const std::vector<float> &centres, int width, random_source &random)
{
    for (size_t i = 0; i < labels.size(); i++) {
        labels[i] = random.next() % classes;
        for (int d = 0; d < width; d++) {
            input[i * width + d] = centres[labels[i] * width + d] + random.small() / 16;
        }
    }
}

int main(int argc, char **argv)
{
    perceptron p;
    p.samples = size_argument(argc, argv, 1, 32);
    int width = size_argument(argc, argv, 2, 32), steps = size_argument(argc, argv, 3, 30);
    random_source random;
    random.state += 7919u * size_argument(argc, argv, 4, 1);
    std::vector<float> input(p.samples * width), centres(classes * width);
    std::vector<int> labels(p.samples);
    matrices weights(layers);
    for (int l = 0; l <= layers; l++) {
        p.width[l] = l < layers ? width : classes;
        p.layer[l] = device_zeros<float>(p.samples * p.width[l]);
        p.gradient[l] = device_zeros<float>(p.samples * p.width[l]);
    }
    for (int l = 0; l < layers; l++) {
        std::vector<float> own(width * p.width[l + 1]);
        for (float &value : own) {
            value = random.small() / 8 * std::sqrt(6.0f / width);
        }
        weights[l].assign(own.begin(), own.end());
        p.weights[l] = to_device(own);
        p.change[l] = device_zeros<float>(own.size());
    }
    for (float &value : centres) {
        value = random.small() / 4;
    }
    p.loss = device_zeros<float>(p.samples);
    int *dlabels = to_device(labels);
    double first = 0;
    for (int step = 0; step < steps; step++) {
        make_batch(input, labels, centres, width, random);
        HIP_MUST(hipMemcpy(p.layer[0], input.data(), input.size() * sizeof input[0],
                           hipMemcpyHostToDevice));
        HIP_MUST(hipMemcpy(dlabels, labels.data(), labels.size() * sizeof labels[0],
                           hipMemcpyHostToDevice));
        train(p, dlabels);
        if (step > 0) {
            continue;
        }
        first = mean_loss(p);
        weights = host_step(p, weights, input, labels);
        for (int l = 0; l < layers; l++) {
            std::vector<float> got(weights[l].size()), want(weights[l].begin(), weights[l].end());
            from_device(got, p.weights[l]);
            if (!near_or_report("training", got, want, 1e-4)) {
                return 1;
            }
        }
    }
    HIP_MUST(hipGetLastError());
    double last = mean_loss(p);
    if (!(last < first / 2)) {
        std::printf("FAIL training: the loss went from %g to %g\n", first, last);
        return 1;
    }
    return pass("training");
}
