// A network of eight dense layers of different widths, batch after batch: each layer is a product of matrices and an
// activation (bias and ReLU), the same two kernels with other sizes each time; sixteen launches a batch, and a copy of the next
// batch's inputs. Arguments: [rows of a batch] [batches].
#include "check.hpp"

constexpr int layer_count = 8, tile = 64;
constexpr int widths[layer_count + 1] = {64, 128, 256, 192, 128, 128, 64, 128, 64};

__global__ void dense(const float *in, const float *weights, float *out, int inputs, int outputs)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    float sum = 0;
    for (int i = 0; i < inputs; i++) {
        sum += in[row * inputs + i] * weights[i * outputs + column];
    }
    out[row * outputs + column] = sum;
}

__global__ void activate(float *data, const float *bias, int outputs)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, at = blockIdx.y * outputs + column;
    data[at] = fmaxf(data[at] + bias[column], 0.0f);
}

static std::vector<float> draw(random_source &random, int n, float scale)
{
    std::vector<float> values(n);
    for (float &value : values) {
        value = random.small() * scale;
    }
    return values;
}

int main(int argc, char **argv)
{
    int rows = size_argument(argc, argv, 1, 8), batches = size_argument(argc, argv, 2, 2);
    random_source random;
    std::vector<float> weights[layer_count], biases[layer_count], got(rows * widths[layer_count]);
    float *weight[layer_count], *bias[layer_count], *data[layer_count + 1];
    for (int l = 0; l < layer_count; l++) {
        weights[l] = draw(random, widths[l] * widths[l + 1], 1.0f / 64);
        biases[l] = draw(random, widths[l + 1], 1.0f / 16);
        weight[l] = to_device(weights[l]);
        bias[l] = to_device(biases[l]);
    }
    for (int l = 0; l <= layer_count; l++) {
        data[l] = device_zeros<float>(rows * widths[l]);
    }
    for (int batch = 0; batch < batches; batch++) {
        std::vector<float> in = draw(random, rows * widths[0], 1.0f / 4);
        HIP_MUST(hipMemcpy(data[0], in.data(), in.size() * sizeof(float), hipMemcpyHostToDevice));
        for (int l = 0; l < layer_count; l++) {
            dim3 grid(widths[l + 1] / tile, rows);
            dense<<<grid, tile>>>(data[l], weight[l], data[l + 1], widths[l], widths[l + 1]);
            activate<<<grid, tile>>>(data[l + 1], bias[l], widths[l + 1]);
        }
        HIP_MUST(hipGetLastError());
        from_device(got, data[layer_count]);
        if (batch != 0 && batch != batches - 1) {
            continue; // the host would take longer than the GPU
        }
        std::vector<float> now = in;
        for (int l = 0; l < layer_count; l++) {
            std::vector<float> next(rows * widths[l + 1]);
            for (int at = 0; at < rows * widths[l + 1]; at++) {
                int row = at / widths[l + 1], column = at % widths[l + 1];
                double sum = biases[l][column];
                for (int i = 0; i < widths[l]; i++) {
                    sum += double(now[row * widths[l] + i]) * weights[l][i * widths[l + 1] + column];
                }
                next[at] = static_cast<float>(std::fmax(sum, 0));
            }
            now = next;
        }
        if (!near_or_report("network", got, now, 1e-3)) {
            return 1;
        }
    }
    return pass("network");
}
