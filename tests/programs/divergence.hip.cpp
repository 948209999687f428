// Lanes that go different ways: Collatz sequences, Mandelbrot iterations, nested conditions with early exits, and a
// switch. Arguments: [elements].
#include "check.hpp"

#define BOTH __host__ __device__ static inline

BOTH int collatz(unsigned value)
{
    int steps = 0;
    while (value > 1) {
        value = value % 2 ? 3 * value + 1 : value / 2;
        steps++;
    }
    return steps;
}

BOTH int mandelbrot(int i, int n)
{
#pragma clang fp contract(off) // a device fuses where the host cannot
    float cx = (i % 32) * (3.0f / 32) - 2.25f, cy = i * (2.0f / n) - 1, x = 0, y = 0;
    int count = 0;
    while (count < 60) {
        float xx = x * x, yy = y * y;
        if (xx + yy > 4) {
            break;
        }
        float xy = x * y;
        y = xy + xy + cy;
        x = (xx - yy) + cx;
        count++;
    }
    return count;
}

BOTH int branches(int i)
{
    int result = 0;
    for (int round = 0; round < 8; round++) {
        if ((i >> round) & 1) {
            if (round == 5 && i % 3 == 0) {
                return -result;
            }
            if (i % 5 == round) {
                continue;
            }
            result += round * i;
        } else if (i % 7 == round) {
            result ^= 0x55;
            if (result > 1000) {
                break;
            }
        }
        switch ((i + round) % 6) {
        case 0: result += 11; break;
        case 1: result *= 3; // falls through
        case 2: result -= 4; break;
        case 4: result ^= i; break;
        default: result++; break;
        }
    }
    return result;
}

__global__ void diverge(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[3 * i] = collatz(i + 1);
        out[3 * i + 1] = mandelbrot(i, n);
        out[3 * i + 2] = branches(i);
    }
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 1000);
    std::vector<int> out(3 * n), want(3 * n);
    for (int i = 0; i < n; i++) {
        want[3 * i] = collatz(i + 1);
        want[3 * i + 1] = mandelbrot(i, n);
        want[3 * i + 2] = branches(i);
    }
    int *dout = device_zeros<int>(out.size());
    diverge<<<blocks_for(n, 128), 128>>>(dout, n);
    HIP_MUST(hipGetLastError());
    from_device(out, dout);
    return same_or_report("divergence", out, want) ? pass("divergence") : 1;
}
