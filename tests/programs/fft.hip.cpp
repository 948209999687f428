// Fast Fourier transforms of 256 points, one a work-group, radix 2 in LDS with twiddle factors from sincosf. Compared
// with the definition in fp64. Arguments: [transforms].
#include "check.hpp"

constexpr int points = 256, stages = 8;

__global__ void fft(const float2 *in, float2 *out)
{
    __shared__ float2 shared[points];
    int item = threadIdx.x;
    for (int i = item; i < points; i += points / 2) {
        shared[__brev(i) >> (32 - stages)] = in[blockIdx.x * points + i];
    }
    for (int half = 1; half < points; half *= 2) {
        __syncthreads();
        int place = item % half, low = (item / half) * 2 * half + place;
        float s, c;
        sincosf(-3.14159265358979f * place / half, &s, &c);
        float2 a = shared[low], b = shared[low + half];
        float2 turned = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
        shared[low] = make_float2(a.x + turned.x, a.y + turned.y);
        shared[low + half] = make_float2(a.x - turned.x, a.y - turned.y);
    }
    __syncthreads();
    for (int i = item; i < points; i += points / 2) {
        out[blockIdx.x * points + i] = shared[i];
    }
}

int main(int argc, char **argv)
{
    int count = size_argument(argc, argv, 1, 7);
    random_source random;
    std::vector<float> in(2 * points * count), out(in.size()), want(in.size());
    for (float &value : in) {
        value = random.small();
    }
    const double step = -2 * 3.14159265358979323846 / points;
    for (int transform = 0; transform < count; transform++) {
        const float *from = &in[2 * points * transform];
        for (int k = 0; k < points; k++) {
            double real = 0, imaginary = 0;
            for (int i = 0; i < points; i++) {
                double c = std::cos(step * (k * i % points)), s = std::sin(step * (k * i % points));
                real += from[2 * i] * c - from[2 * i + 1] * s;
                imaginary += from[2 * i] * s + from[2 * i + 1] * c;
            }
            want[2 * (points * transform + k)] = static_cast<float>(real);
            want[2 * (points * transform + k) + 1] = static_cast<float>(imaginary);
        }
    }
    float *din = to_device(in), *dout = device_zeros<float>(in.size());
    fft<<<count, points / 2>>>(reinterpret_cast<float2 *>(din), reinterpret_cast<float2 *>(dout));
    HIP_MUST(hipGetLastError());
    from_device(out, dout);
    return near_or_report("fft", out, want, 1e-4) ? pass("fft") : 1;
}
