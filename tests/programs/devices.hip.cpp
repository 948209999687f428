// Every device of the platform: its properties, a kernel and memory on each, copies from device to device in a ring, and
// device variables that are each device's own. Arguments: [elements].
#include "check.hpp"

__device__ int own = 5;

__global__ void mix(int *data, int n, int factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        data[i] = data[i] * factor + own;
    }
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 1500), count = 0;
    size_t bytes = n * sizeof(int);
    HIP_MUST(hipGetDeviceCount(&count));
    std::vector<int *> memory(count);
    std::vector<int> data(n), got(n);
    for (int i = 0; i < n; i++) {
        data[i] = i;
    }
    for (int device = 0; device < count; device++) {
        hipDeviceProp_t properties;
        int value = 1000 * device, current = -1;
        HIP_MUST(hipGetDeviceProperties(&properties, device));
        HIP_MUST(hipSetDevice(device));
        HIP_MUST(hipGetDevice(&current));
        if (current != device || properties.warpSize != 64 || properties.multiProcessorCount < 1 ||
            properties.totalGlobalMem == 0) {
            std::printf("FAIL devices: device %d is %d: %d compute units\n", device, current,
                        properties.multiProcessorCount);
            return 1;
        }
        allocate(&memory[device], bytes);
        HIP_MUST(hipMemcpyToSymbol(HIP_SYMBOL(own), &value, sizeof value));
    }
    HIP_MUST(hipSetDevice(0));
    HIP_MUST(hipMemcpy(memory[0], data.data(), bytes, hipMemcpyHostToDevice));
    for (int step = 0; step < 2 * count; step++) {
        int device = step % count, next = (step + 1) % count;
        HIP_MUST(hipSetDevice(device));
        mix<<<blocks_for(n, 64), 64>>>(memory[device], n, step + 2);
        HIP_MUST(hipGetLastError());
        for (int &value : data) {
            value = value * (step + 2) + 1000 * device;
        }
        HIP_MUST(hipDeviceSynchronize());
        if (next != device) {
            HIP_MUST(hipMemcpyPeer(memory[next], next, memory[device], device, bytes));
        }
    }
    HIP_MUST(hipMemcpy(got.data(), memory[0], bytes, hipMemcpyDeviceToHost));
    return same_or_report("devices", got, data) ? pass("devices") : 1;
}
