// DCT of 8x8 blocks, many kernels that share buffers: each frame is transformed (rows, columns), weighted, transformed back
// (columns, rows) and blended into the next one. Arguments: [size] [frames]; six launches a frame.
#include "check.hpp"

constexpr int block = 8;

__constant__ float basis[block * block]; // basis[k * 8 + x]

__global__ void transform_rows(const float *in, float *out, int size)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, k = x % block, first = x - k;
    float sum = 0;
    for (int i = 0; i < block; i++) {
        sum += in[y * size + first + i] * basis[k * block + i];
    }
    out[y * size + x] = sum;
}

__global__ void transform_columns(const float *in, float *out, int size)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, k = y % block, first = y - k;
    float sum = 0;
    for (int i = 0; i < block; i++) {
        sum += in[(first + i) * size + x] * basis[k * block + i];
    }
    out[y * size + x] = sum;
}

__global__ void weigh(float *coefficients, const float *weights, int size)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    coefficients[y * size + x] *= weights[y % block * block + x % block];
}

__global__ void restore_columns(const float *in, float *out, int size)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, at = y % block, first = y - at;
    float sum = 0;
    for (int k = 0; k < block; k++) {
        sum += in[(first + k) * size + x] * basis[k * block + at];
    }
    out[y * size + x] = sum;
}

__global__ void restore_rows(const float *in, float *out, int size)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, at = x % block, first = x - at;
    float sum = 0;
    for (int k = 0; k < block; k++) {
        sum += in[y * size + first + k] * basis[k * block + at];
    }
    out[y * size + x] = sum;
}

__global__ void blend(const float *restored, float *frame, int size)
{
    int i = blockIdx.y * size + blockIdx.x * blockDim.x + threadIdx.x;
    frame[i] = 0.5f * frame[i] + restored[i];
}

int main(int argc, char **argv)
{
    int size = size_argument(argc, argv, 1, 64), frames = size_argument(argc, argv, 2, 4), n = size * size;
    if (size % 64) {
        std::printf("FAIL dct8x8: the size is a multiple of 64\n");
        return 2;
    }
    random_source random;
    std::vector<float> image(n), cosines(block * block), weights(block * block, 0.5f), got(n), coefficients(n);
    for (float &value : image) {
        value = random.small();
    }
    for (int k = 0; k < block; k++) {
        for (int x = 0; x < block; x++) {
            cosines[k * block + x] = std::sqrt(k ? 0.25 : 0.125) * std::cos((2 * x + 1) * k * M_PI / 16);
        }
    }
    HIP_MUST(hipMemcpyToSymbol(HIP_SYMBOL(basis), cosines.data(), cosines.size() * sizeof(float)));
    float *frame = to_device(image), *weight = to_device(weights);
    float *rows = device_zeros<float>(n), *spectrum = device_zeros<float>(n), *columns = device_zeros<float>(n);
    dim3 grid(size / 64, size);
    for (int f = 0; f < frames; f++) { // weights of a half: restored is half of the frame, and blend gives it back
        transform_rows<<<grid, 64>>>(frame, rows, size);
        transform_columns<<<grid, 64>>>(rows, spectrum, size);
        weigh<<<grid, 64>>>(spectrum, weight, size);
        restore_columns<<<grid, 64>>>(spectrum, columns, size);
        restore_rows<<<grid, 64>>>(columns, rows, size);
        blend<<<grid, 64>>>(rows, frame, size);
    }
    HIP_MUST(hipGetLastError());
    from_device(got, frame);
    from_device(coefficients, spectrum);
    std::vector<float> want(n);
    for (int i = 0; i < n; i++) { // coefficient (i / size % 8, i % 8) of its block, halved
        int by = i / size / block * block, bx = i % size / block * block, v = i / size % block, u = i % block;
        double sum = 0;
        for (int y = 0; y < block; y++) {
            for (int x = 0; x < block; x++) {
                sum += image[(by + y) * size + bx + x] * double(cosines[v * block + y]) * cosines[u * block + x];
            }
        }
        want[i] = 0.5 * sum;
    }
    return near_or_report("dct8x8 coefficients", coefficients, want, 1e-3)
                   && near_or_report("dct8x8 image", got, image, 1e-3)
               ? pass("dct8x8")
               : 1;
}
