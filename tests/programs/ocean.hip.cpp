// Waves by a two-dimensional FFT in many passes, as ocean simulations do: for each frame the spectrum is turned in time, then
// every butterfly stage of rows, a transposition, every stage of columns, and slopes of the heights. Arguments: [size] [frames];
// with 2^b points a side a frame has 2 b + 5 launches.
#include "check.hpp"

#include <complex>
#include <utility>

__global__ void turn(const float2 *start, float2 *spectrum, int size, float time)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    int kx = x < size / 2 ? x : size - x, ky = y < size / 2 ? y : size - y;
    float phase = time * (kx + ky), c = cosf(phase), s = sinf(phase);
    float2 h = start[y * size + x];
    spectrum[y * size + x] = make_float2(h.x * c - h.y * s, h.x * s + h.y * c);
}

// Point x goes where its bits say backwards.
__global__ void reverse(const float2 *in, float2 *out, int size, int bits)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    out[y * size + (__brev(x) >> (32 - bits))] = in[y * size + x];
}

__global__ void stage(float2 *data, int size, int half)
{
    int pair = blockIdx.x * blockDim.x + threadIdx.x, at = pair % half, low = pair / half * 2 * half + at;
    float angle = 3.14159265f * at / half, c = cosf(angle), s = sinf(angle);
    float2 *row = data + blockIdx.y * size, a = row[low], b = row[low + half];
    float2 t = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
    row[low] = make_float2(a.x + t.x, a.y + t.y);
    row[low + half] = make_float2(a.x - t.x, a.y - t.y);
}

__global__ void transpose(const float2 *in, float2 *out, int size)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    out[x * size + y] = in[y * size + x];
}

__global__ void slopes(const float2 *heights, float2 *slope, int size)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, n = size - 1;
    slope[y * size + x] = make_float2(heights[y * size + ((x + 1) & n)].x - heights[y * size + x].x,
                                      heights[((y + 1) & n) * size + x].x - heights[y * size + x].x);
}

static void host_fft(std::complex<double> *data, int size, int stride)
{
    if (size == 1) {
        return;
    }
    std::vector<std::complex<double>> even(size / 2), odd(size / 2);
    for (int i = 0; i < size / 2; i++) {
        even[i] = data[2 * i * stride];
        odd[i] = data[(2 * i + 1) * stride];
    }
    host_fft(even.data(), size / 2, 1);
    host_fft(odd.data(), size / 2, 1);
    for (int k = 0; k < size / 2; k++) {
        std::complex<double> t = std::polar(1.0, 2 * M_PI * k / size) * odd[k];
        data[k * stride] = even[k] + t;
        data[(k + size / 2) * stride] = even[k] - t;
    }
}

int main(int argc, char **argv)
{
    int size = size_argument(argc, argv, 1, 32), frames = size_argument(argc, argv, 2, 2), n = size * size, bits = 0;
    while (1 << bits < size) {
        bits++;
    }
    if (size != 1 << bits || size < 8 || size > 4096) {
        std::printf("FAIL ocean: the size is a power of two from 8 to 4096\n");
        return 2;
    }
    random_source random;
    std::vector<float2> start(n), got(n);
    for (float2 &value : start) {
        value = make_float2(random.small(), random.small());
    }
    float2 *waves = to_device(start), *a = device_zeros<float2>(n), *b = device_zeros<float2>(n);
    float2 *slope = device_zeros<float2>(n);
    dim3 points(1, size), pairs(1, size);
    float time = 0;
    for (int f = 0; f < frames; f++) {
        time = 0.0625f * f;
        turn<<<points, size>>>(waves, a, size, time);
        for (int direction = 0; direction < 2; direction++) {
            reverse<<<points, size>>>(a, b, size, bits);
            for (int half = 1; half < size; half *= 2) {
                stage<<<pairs, size / 2>>>(b, size, half);
            }
            if (direction == 0) {
                transpose<<<points, size>>>(b, a, size);
            }
        }
        slopes<<<points, size>>>(b, slope, size);
    }
    HIP_MUST(hipGetLastError());
    from_device(got, b);
    std::vector<std::complex<double>> want(n);
    for (int i = 0; i < n; i++) {
        int x = i % size, y = i / size, kx = x < size / 2 ? x : size - x, ky = y < size / 2 ? y : size - y;
        want[i] = std::complex<double>(start[i].x, start[i].y) * std::polar(1.0, double(time) * (kx + ky));
    }
    for (int i = 0; i < size; i++) {
        host_fft(&want[i * size], size, 1);
    }
    for (int i = 0; i < size; i++) {
        host_fft(&want[i], size, size);
    }
    std::vector<float> heights(n), expected(n);
    for (int i = 0; i < n; i++) { // columns lie in rows behind the transposition
        heights[i] = got[i % size * size + i / size].x;
        expected[i] = want[i].real();
    }
    return near_or_report("ocean heights", heights, expected, 0.05) ? pass("ocean") : 1;
}
