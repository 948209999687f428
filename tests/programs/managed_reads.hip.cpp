// A table in managed memory that all GPUs read and one GPU changes, another one each round; the host reads some of it in between
// and changes it at the end. Kernels that read run on all GPUs at the same time. Arguments: [pages] [rounds].
#include "check.hpp"

constexpr int page = 1024, block = 128, groups = 4, passes = 3; // ints, threads, work-groups

__global__ void change(int *table, int n, int factor, int offset)
{
    for (int i = blockIdx.x * block + threadIdx.x; i < n; i += groups * block) {
        table[i] = table[i] * factor + offset;
    }
}

// Each work-group reads all of the table, several times, and adds up what each thread meets.
__global__ void add_up(const volatile int *table, int n, int *sums)
{
    unsigned sum = 0;
    for (int pass = 0; pass < passes; pass++) {
        for (int i = threadIdx.x; i < n; i += block) {
            sum = sum * 7 + table[(i + blockIdx.x * block) % n];
        }
    }
    sums[blockIdx.x * block + threadIdx.x] = sum;
}

static std::vector<int> add_up_here(const std::vector<int> &table)
{
    int n = static_cast<int>(table.size());
    std::vector<int> sums(groups * block);
    for (int group = 0; group < groups; group++) {
        for (int thread = 0; thread < block; thread++) {
            unsigned sum = 0;
            for (int pass = 0; pass < passes; pass++) {
                for (int i = thread; i < n; i += block) {
                    sum = sum * 7 + table[(i + group * block) % n];
                }
            }
            sums[group * block + thread] = sum;
        }
    }
    return sums;
}

static bool all_agree(const int *table, const std::vector<int> &want, const std::vector<int *> &sums)
{
    int count = static_cast<int>(sums.size());
    std::vector<int> want_sums = add_up_here(want), got(groups * block);
    for (int device = 0; device < count; device++) {
        HIP_MUST(hipSetDevice(device));
        add_up<<<groups, block>>>(table, static_cast<int>(want.size()), sums[device]);
        HIP_MUST(hipGetLastError());
    }
    for (int device = 0; device < count; device++) {
        HIP_MUST(hipSetDevice(device));
        HIP_MUST(hipMemcpy(got.data(), sums[device], got.size() * sizeof(int), hipMemcpyDeviceToHost));
        if (!same_or_report("managed_reads", got, want_sums)) {
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    int pages = size_argument(argc, argv, 1, 3), rounds = size_argument(argc, argv, 2, 3), count = 0, n = pages * page;
    int *table = nullptr;
    std::vector<int> want(n);
    HIP_MUST(hipGetDeviceCount(&count));
    std::vector<int *> sums(count);
    HIP_MUST(hipMallocManaged(reinterpret_cast<void **>(&table), n * sizeof(int)));
    for (int device = 0; device < count; device++) {
        HIP_MUST(hipSetDevice(device));
        allocate(&sums[device], groups * block * sizeof(int));
    }
    for (int i = 0; i < n; i++) {
        table[i] = want[i] = i;
    }
    for (int round = 0; round < rounds; round++) {
        HIP_MUST(hipSetDevice(round % count));
        change<<<groups, block>>>(table, n, 3, round);
        HIP_MUST(hipGetLastError());
        HIP_MUST(hipDeviceSynchronize());
        for (int &value : want) {
            value = static_cast<int>(static_cast<unsigned>(value) * 3 + round);
        }
        if (!all_agree(table, want, sums)) {
            return 1;
        }
        for (int i = round; i < n; i += 500) {
            if (table[i] != want[i]) {
                std::printf("FAIL managed_reads: round %d, element %d is %d, expected %d\n", round, i, table[i], want[i]);
                return 1;
            }
        }
    }
    table[n / 2] = want[n / 2] = -1;
    if (!all_agree(table, want, sums)) {
        return 1;
    }
    HIP_MUST(hipFree(table));
    return pass("managed_reads");
}
