// thrust and cub, as the distribution packages them: sorts, scans, reductions, selections, and
// blocks' and warps' own. Prints PASS or FAIL.
#include <algorithm>
#include <cstdio>
#include <vector>

#include <cub/cub.cuh>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>

static bool failed;

static void expect(bool is_so, const char *what)
{
    if (!is_so)
        std::printf("%s\n", what);
    failed |= !is_so;
}

struct square {
    __host__ __device__ long long operator()(int x) const
    {
        return (long long)x * x;
    }
};

static void test_thrust()
{
    const int count = 1000;
    thrust::device_vector<int> keys(count), values(count), sums(count), found(count), counts(count);
    thrust::sequence(values.begin(), values.end());
    thrust::transform(values.begin(), values.end(), keys.begin(),
                      [] __device__(int i) { return i * 7 % 10; });
    thrust::stable_sort_by_key(keys.begin(), keys.end(), values.begin());
    thrust::host_vector<int> key = keys, value = values;
    for (int i = 1; i < count; i++)
        expect(key[i - 1] < key[i] || (key[i - 1] == key[i] && value[i - 1] < value[i]), "sort");
    auto ends = thrust::reduce_by_key(keys.begin(), keys.end(), thrust::make_constant_iterator(1),
                                      found.begin(), counts.begin());
    expect(ends.first - found.begin() == 10 && counts[3] == 100, "reduce by key");
    thrust::exclusive_scan(thrust::device, values.begin(), values.end(), sums.begin());
    expect(sums[count - 1] + values[count - 1] == count * (count - 1) / 2, "scan");
    expect(thrust::transform_reduce(values.begin(), values.end(), square(), 0ll,
                                    thrust::plus<long long>())
               == 332833500,
           "transform and reduce");
    auto end = thrust::remove_if(keys.begin(), keys.end(), [] __device__(int x) { return x & 1; });
    expect(end - keys.begin() == count / 2, "remove");
}

__global__ void sort_blocks(int *data, int *sums)
{
    using load = cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_TRANSPOSE>;
    using sort = cub::BlockRadixSort<int, 128, 4>;
    using reduce = cub::WarpReduce<int>;
    __shared__ union {
        typename load::TempStorage load;
        typename sort::TempStorage sort;
        typename reduce::TempStorage reduce[4];
    } room;
    int item[4];
    load(room.load).Load(data + blockIdx.x * 512, item);
    __syncthreads();
    sort(room.sort).Sort(item);
    cub::StoreDirectBlocked(threadIdx.x, data + blockIdx.x * 512, item);
    __syncthreads();
    int sum = reduce(room.reduce[threadIdx.x / 32]).Sum(item[0]);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sums, sum);
}

static void test_cub()
{
    const int count = 2048;
    std::vector<int> values(count), sorted(count);
    for (int i = 0; i < count; i++)
        values[i] = (i * 7919 + 13) % 5003;
    int *data, *out, *sum;
    cudaMallocManaged(&data, count * sizeof *data);
    cudaMallocManaged(&out, count * sizeof *out);
    cudaMallocManaged(&sum, sizeof *sum);
    std::copy(values.begin(), values.end(), data);
    void *room = nullptr;
    size_t bytes = 0;
    cub::DeviceRadixSort::SortKeys(room, bytes, data, out, count);
    cudaMalloc(&room, bytes);
    cub::DeviceRadixSort::SortKeys(room, bytes, data, out, count);
    cudaDeviceSynchronize();
    sorted = values;
    std::sort(sorted.begin(), sorted.end());
    expect(std::equal(sorted.begin(), sorted.end(), out), "radix sort");
    *sum = 0;
    sort_blocks<<<count / 512, 128>>>(data, sum);
    cudaDeviceSynchronize();
    int want = 0;
    for (int at = 0; at < count; at += 512) {
        std::sort(values.begin() + at, values.begin() + at + 512);
        for (int i = 0; i < 512; i += 4)
            want += values[at + i];
    }
    expect(std::equal(values.begin(), values.end(), data) && *sum == want, "sort of blocks");
    cudaFree(data);
    cudaFree(out);
    cudaFree(sum);
    cudaFree(room);
}

int main()
{
    test_thrust();
    test_cub();
    expect(cudaGetLastError() == cudaSuccess, "errors");
    std::puts(failed ? "FAIL" : "PASS");
    return failed;
}
