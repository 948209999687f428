// A kernel reads far behind the end of its only input. Expected: the launch fails as an illegal
// address when it is waited for, and stays failed. Arguments: [elements behind the end] [wrong calls
// before it; the input is a null pointer then].
#include "check.hpp"

__global__ void read_behind(const int *in, int *out, int distance)
{
    out[threadIdx.x] = in[threadIdx.x + distance];
}

int main(int argc, char **argv)
{
    int distance = size_argument(argc, argv, 1, 1 << 26);
    std::vector<int> data(64, 1);
    int *in = to_device(data), *out = to_device(data);
    int wrong = size_argument(argc, argv, 2, 0);
    for (int i = 0; i < wrong; i++) // 50 messages, then the same again
        (void)hipMemcpy(out, reinterpret_cast<void *>(i % 50 * 4ul), 4, hipMemcpyHostToDevice);
    read_behind<<<1, 64>>>(wrong ? nullptr : in, out, wrong ? 0 : 64 + distance);
    hipError_t error = hipDeviceSynchronize();
    if (error != hipErrorIllegalAddress) {
        std::printf("FAIL bad_oob: %s\n", hipGetErrorName(error));
        return 1;
    }
    error = hipMemcpy(data.data(), out, 64 * sizeof(int), hipMemcpyDeviceToHost);
    if (error == hipSuccess) {
        std::printf("FAIL bad_oob: a copy succeeds after the fault\n");
        return 1;
    }
    return pass("bad_oob");
}
