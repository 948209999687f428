// Thousands of launches that are queued before any of them is waited for; and work-groups with all the LDS that the device has.
// Arguments: [launches].
#include "check.hpp"

__global__ void add(unsigned *data)
{
    data[threadIdx.x] += threadIdx.x;
}

extern __shared__ unsigned lds[];

// The first and the last words of LDS, and all between, by one wavefront.
__global__ void turn_around(unsigned *data, unsigned words)
{
    for (unsigned i = threadIdx.x; i < words; i += 64) {
        lds[i] = i * 5 + blockIdx.x;
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < words; i += 64) {
        data[blockIdx.x * words + i] = lds[words - 1 - i];
    }
}

static bool launches(int count)
{
    std::vector<unsigned> got(64);
    unsigned *data = device_zeros<unsigned>(64);
    for (int i = 0; i < count; i++) {
        add<<<1, 64>>>(data);
    }
    from_device(got, data);
    for (unsigned i = 0; i < 64; i++) {
        if (got[i] != i * static_cast<unsigned>(count)) {
            std::printf("FAIL queued: element %u is %u\n", i, got[i]);
            return false;
        }
    }
    return true;
}

static bool whole_lds()
{
    const unsigned groups = 12;
    hipDeviceProp_t properties;
    HIP_MUST(hipGetDeviceProperties(&properties, 0));
    unsigned words = static_cast<unsigned>(properties.sharedMemPerBlock / sizeof(unsigned));
    std::vector<unsigned> got(groups * words);
    unsigned *data = device_zeros<unsigned>(groups * words);
    turn_around<<<groups, 64, properties.sharedMemPerBlock>>>(data, words);
    HIP_MUST(hipGetLastError());
    from_device(got, data);
    for (unsigned i = 0; i < groups * words; i++) {
        if (got[i] != (words - 1 - i % words) * 5 + i / words) {
            std::printf("FAIL queued: word %u of LDS is %u\n", i, got[i]);
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    return launches(size_argument(argc, argv, 1, 3000)) && whole_lds() ? pass("queued") : 1;
}
