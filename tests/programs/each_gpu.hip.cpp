// A kernel on every GPU at once, each with its own memory: sums over a window of a vector, through the caches.
// Arguments: [work-groups] [rounds] [launches]. Says when each of several launches is done.
#include "check.hpp"

__global__ void sum_windows(const int *in, int *out, int n, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int k = 0; k < rounds; k++) {
        sum += in[(i + 17 * k) % n] * (k + 1);
    }
    out[i] = sum;
}

int main(int argc, char **argv)
{
    int groups = size_argument(argc, argv, 1, 8), rounds = size_argument(argc, argv, 2, 8);
    int launches = size_argument(argc, argv, 3, 1), count = 0;
    int n = groups * 64;
    HIP_MUST(hipGetDeviceCount(&count));
    std::vector<std::vector<int>> want(count, std::vector<int>(n)), got = want;
    std::vector<int *> in(count), out(count);
    for (int d = 0; d < count; d++) {
        std::vector<int> data(n);
        for (int i = 0; i < n; i++) {
            data[i] = 3 * i + 7 * d;
        }
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < rounds; k++) {
                want[d][i] += data[(i + 17 * k) % n] * (k + 1);
            }
        }
        HIP_MUST(hipSetDevice(d));
        in[d] = to_device(data);
        out[d] = device_zeros<int>(n);
    }
    for (int i = 1; i <= launches; i++) {
        for (int d = 0; d < count; d++) {
            HIP_MUST(hipSetDevice(d));
            sum_windows<<<groups, 64>>>(in[d], out[d], n, rounds);
            HIP_MUST(hipGetLastError());
        }
        for (int d = 0; d < count && launches > 1; d++) {
            HIP_MUST(hipSetDevice(d));
            HIP_MUST(hipDeviceSynchronize());
        }
        if (launches > 1) {
            printf("launch %d is done\n", i);
            fflush(stdout);
        }
    }
    bool same = true;
    for (int d = 0; d < count; d++) {
        HIP_MUST(hipSetDevice(d));
        HIP_MUST(hipMemcpy(got[d].data(), out[d], n * sizeof(int), hipMemcpyDeviceToHost));
        same = same_or_report("each_gpu", got[d], want[d]) && same;
    }
    return same ? pass("each_gpu") : 1;
}
