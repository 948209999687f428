// Managed memory that several GPUs change in turn, with the host in between; each GPU also has pages of its own in the same
// allocation. Arguments: [pages] [rounds].
#include "check.hpp"

constexpr int page = 1024; // ints

__global__ void change(int *data, int n, int factor, int offset)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        data[i] = data[i] * factor + offset;
    }
}

static void change_here(std::vector<int> &want, int first, int n, int factor, int offset)
{
    for (int i = first; i < first + n; i++) {
        want[i] = static_cast<int>(static_cast<unsigned>(want[i]) * factor + offset);
    }
}

int main(int argc, char **argv)
{
    int pages = size_argument(argc, argv, 1, 4), rounds = size_argument(argc, argv, 2, 2), count = 0;
    HIP_MUST(hipGetDeviceCount(&count));
    int shared = pages * page, n = shared + count * page;
    int *data = nullptr;
    std::vector<int> want(n), got(n);
    HIP_MUST(hipMallocManaged(reinterpret_cast<void **>(&data), n * sizeof(int)));
    for (int i = 0; i < n; i++) {
        data[i] = want[i] = i;
    }
    for (int round = 0; round < rounds; round++) {
        for (int device = 0; device < count; device++) {
            HIP_MUST(hipSetDevice(device));
            for (int twice = 0; twice < 2; twice++) {
                change<<<blocks_for(shared, 256), 256>>>(data, shared, 3, device);
                HIP_MUST(hipGetLastError());
                change_here(want, 0, shared, 3, device);
                change<<<blocks_for(page, 256), 256>>>(data + shared + device * page, page, 5, round);
                HIP_MUST(hipGetLastError());
                change_here(want, shared + device * page, page, 5, round);
            }
            HIP_MUST(hipDeviceSynchronize());
        }
        for (int i = round; i < n; i += 700) {
            if (data[i] != want[i]) {
                std::printf("FAIL managed_pingpong: round %d, element %d is %d, expected %d\n", round, i, data[i], want[i]);
                return 1;
            }
            data[i] = want[i] = -i;
        }
    }
    for (int i = 0; i < n; i++) {
        got[i] = data[i];
    }
    HIP_MUST(hipFree(data));
    return same_or_report("managed_pingpong", got, want) ? pass("managed_pingpong") : 1;
}
