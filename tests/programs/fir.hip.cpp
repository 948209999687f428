// Finite impulse response filter with its taps in constant memory. Arguments: [samples].
#include "check.hpp"

constexpr int taps = 16;
__constant__ float coefficients[taps];

__global__ void fir(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    float sum = 0;
    for (int tap = 0; tap < taps; tap++) {
        if (i >= tap) {
            sum += coefficients[tap] * in[i - tap];
        }
    }
    out[i] = sum;
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 8191);
    random_source random;
    std::vector<float> in(n), out(n), want(n), filter(taps);
    for (float &value : in) {
        value = random.small();
    }
    for (float &value : filter) {
        value = random.small();
    }
    for (int i = 0; i < n; i++) {
        for (int tap = 0; tap < taps && tap <= i; tap++) {
            want[i] += filter[tap] * in[i - tap];
        }
    }
    HIP_MUST(hipMemcpyToSymbol(HIP_SYMBOL(coefficients), filter.data(), sizeof coefficients));
    float *din = to_device(in), *dout = device_zeros<float>(n);
    fir<<<blocks_for(n, 192), 192>>>(din, dout, n);
    HIP_MUST(hipGetLastError());
    from_device(out, dout);
    return same_or_report("fir", out, want) ? pass("fir") : 1;
}
