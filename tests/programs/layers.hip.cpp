// Two layers of a neural network and softmax: dense, bias, ReLU, dense, then exp over the row's sum with a reduction in
// LDS. Arguments: [batch].
#include "check.hpp"

constexpr int inputs = 48, hidden = 64, classes = 10;

__global__ void dense_relu(const float *in, const float *weights, const float *bias, float *out)
{
    float sum = bias[threadIdx.x];
    for (int i = 0; i < inputs; i++) {
        sum += in[blockIdx.x * inputs + i] * weights[i * hidden + threadIdx.x];
    }
    out[blockIdx.x * hidden + threadIdx.x] = fmaxf(sum, 0.0f);
}

__global__ void dense_softmax(const float *in, const float *weights, float *out)
{
    __shared__ float logits[classes];
    __shared__ float largest, total;
    if (threadIdx.x < classes) {
        float sum = 0;
        for (int i = 0; i < hidden; i++) {
            sum += in[blockIdx.x * hidden + i] * weights[i * classes + threadIdx.x];
        }
        logits[threadIdx.x] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        largest = logits[0];
        for (int i = 1; i < classes; i++) {
            largest = fmaxf(largest, logits[i]);
        }
        total = 0;
        for (int i = 0; i < classes; i++) {
            total += expf(logits[i] - largest);
        }
    }
    __syncthreads();
    if (threadIdx.x < classes) {
        out[blockIdx.x * classes + threadIdx.x] = expf(logits[threadIdx.x] - largest) / total;
    }
}

int main(int argc, char **argv)
{
    int batch = size_argument(argc, argv, 1, 40);
    random_source random;
    std::vector<float> in(batch * inputs), first(inputs * hidden), bias(hidden), second(hidden * classes);
    std::vector<float> out(batch * classes), want(batch * classes);
    for (std::vector<float> *each : {&in, &first, &bias, &second}) {
        for (float &value : *each) {
            value = random.small() / 16;
        }
    }
    for (int b = 0; b < batch; b++) {
        double between[hidden], logits[classes] = {}, total = 0;
        for (int h = 0; h < hidden; h++) {
            double sum = bias[h];
            for (int i = 0; i < inputs; i++) {
                sum += static_cast<double>(in[b * inputs + i]) * first[i * hidden + h];
            }
            between[h] = std::fmax(sum, 0);
        }
        for (int c = 0; c < classes; c++) {
            for (int h = 0; h < hidden; h++) {
                logits[c] += between[h] * second[h * classes + c];
            }
            total += std::exp(logits[c]);
        }
        for (int c = 0; c < classes; c++) {
            want[b * classes + c] = static_cast<float>(std::exp(logits[c]) / total);
        }
    }
    float *din = to_device(in), *dfirst = to_device(first), *dbias = to_device(bias), *dsecond = to_device(second);
    float *dhidden = device_zeros<float>(batch * hidden), *dout = device_zeros<float>(out.size());
    dense_relu<<<batch, hidden>>>(din, dfirst, dbias, dhidden);
    dense_softmax<<<batch, 64>>>(dhidden, dsecond, dout);
    HIP_MUST(hipGetLastError());
    from_device(out, dout);
    return near_or_report("layers", out, want, 1e-5) ? pass("layers") : 1;
}
