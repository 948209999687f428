// Launches one behind the other, each of which reads its own dispatch packet, and arguments beside which the packet of the
// next one will lie. Arguments: none.
#include "check.hpp"

// With what the compiler adds, the arguments take 128 bytes behind the packet of 64: the next packet is in the same 128.
struct line {
    int value[16];
};

__global__ void geometry(line t, int *out)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *out = t.value[15] + int(1000 * gridDim.x + blockDim.x);
    }
}

int main()
{
    std::vector<int> got(16), want(16);
    int *out = device_zeros<int>(16);
    for (int i = 0; i < 16; i++) {
        line t = {};
        t.value[15] = 7 * i;
        geometry<<<1 + i, 64 + i>>>(t, out + i);
        HIP_MUST(hipGetLastError());
        want[i] = 7 * i + 1000 * (1 + i) + 64 + i;
    }
    from_device(got, out);
    return same_or_report("own_packets", got, want) ? pass("own_packets") : 1;
}

