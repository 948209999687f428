// Copies doubles, an element a work-item, in several launches. Arguments: [elements] [block]
// [launches]. docs/evidence/counters.md puts what it counts beside a card's counters.
#include "check.hpp"

// `count` stands between the pointers, so that each is loaded by an instruction of its own.
__global__ void vcopy(const double *from, int count, double *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        to[i] = from[i];
    }
}

int main(int argc, char **argv)
{
    int count = size_argument(argc, argv, 1, 1 << 20);
    int block = size_argument(argc, argv, 2, 256);
    int launches = size_argument(argc, argv, 3, 3);
    random_source random;
    std::vector<double> want(count), got(count);
    for (double &value : want) {
        value = random.small();
    }
    double *from = to_device(want), *to = device_zeros<double>(count);
    for (int i = 0; i < launches; i++) {
        vcopy<<<blocks_for(count, block), block>>>(from, count, to);
    }
    HIP_MUST(hipGetLastError());
    HIP_MUST(hipDeviceSynchronize());
    from_device(got, to);
    return same_or_report("vcopy", got, want) ? pass("vcopy") : 1;
}
