// __device__ and __constant__ variables: initial values, hipMemcpyToSymbol with offset, hipMemcpyFromSymbol,
// hipGetSymbolAddress and size, and a kernel that changes them. Arguments: none.
#include "check.hpp"

__device__ int counters[4] = {10, 20, 30, 40};
__device__ float scale = 1.5f;
__device__ unsigned long long total;
__constant__ int offsets[3] = {7, 8, 9};
__device__ int *pointer_to_counter = &counters[2];
__device__ static short hidden[2] = {-5, 6};

__global__ void use(int *out)
{
    int i = threadIdx.x;
    if (i < 4) {
        out[i] = counters[i] + offsets[i % 3];
        counters[i] *= 2;
    }
    atomicAdd(&total, static_cast<unsigned long long>(i) << 30);
    if (i == 4) {
        out[4] = static_cast<int>(scale * 100);
    }
    if (i == 5) {
        out[5] = hidden[0] * hidden[1];
    }
    __syncthreads();
    if (i == 6) {
        out[6] = *pointer_to_counter;
    }
}

int main()
{
    std::vector<int> out(7), first = {17, 28, 39, 47, 150, -30, 60}, second = {27, 1045, 69, 87, -225, -30, 120};
    int *dout = device_zeros<int>(7);
    use<<<1, 64>>>(dout);
    from_device(out, dout);
    if (!same_or_report("device_variables: initial values", out, first)) {
        return 1;
    }
    int replacement[2] = {1005, 5}, constants[1] = {40}, read_back[4] = {};
    float new_scale = -2.25f;
    HIP_MUST(hipMemcpyFromSymbol(read_back, HIP_SYMBOL(counters), sizeof read_back));
    const int doubled[4] = {20, 40, 60, 80};
    if (std::memcmp(read_back, doubled, sizeof doubled) != 0) {
        std::printf("FAIL device_variables: read back %d %d %d %d\n", read_back[0], read_back[1], read_back[2],
                    read_back[3]);
        return 1;
    }
    HIP_MUST(hipMemcpyToSymbol(HIP_SYMBOL(counters), replacement, sizeof(int), sizeof(int)));
    HIP_MUST(hipMemcpyToSymbol(HIP_SYMBOL(offsets), constants, sizeof(int), sizeof(int)));
    HIP_MUST(hipMemcpyToSymbol(HIP_SYMBOL(offsets), replacement + 1, 0));
    HIP_MUST(hipMemcpyToSymbol(HIP_SYMBOL(scale), &new_scale, sizeof new_scale));
    size_t size = 0;
    void *address = nullptr;
    HIP_MUST(hipGetSymbolSize(&size, HIP_SYMBOL(counters)));
    HIP_MUST(hipGetSymbolAddress(&address, HIP_SYMBOL(counters)));
    int last = 0;
    HIP_MUST(hipMemcpy(&last, static_cast<int *>(address) + 3, sizeof last, hipMemcpyDeviceToHost));
    if (size != sizeof counters || last != 80) {
        std::printf("FAIL device_variables: size %zu, last element %d\n", size, last);
        return 1;
    }
    use<<<1, 64>>>(dout);
    from_device(out, dout);
    if (!same_or_report("device_variables: after copies", out, second)) {
        return 1;
    }
    unsigned long long sum = 0;
    HIP_MUST(hipMemcpyFromSymbol(&sum, HIP_SYMBOL(total), sizeof sum));
    if (sum != 2ull * 2016 << 30) {
        std::printf("FAIL device_variables: total %llu\n", sum);
        return 1;
    }
    return pass("device_variables");
}
