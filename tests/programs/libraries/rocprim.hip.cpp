// rocPRIM: algorithms of the whole device (scan, reduction, sorts, selection, run lengths), of a
// work-group and of a wavefront, on random numbers. Arguments: [elements].
#include "../check.hpp"

#include <rocprim/rocprim.hpp>

#include <algorithm>
#include <numeric>

enum { BLOCK = 256, WAVEFRONT = 64 };

__global__ void by_block(const int *in, int *sums, int *scanned, int *largest)
{
    using reduce = rocprim::block_reduce<int, BLOCK>;
    using scan = rocprim::block_scan<int, BLOCK>;
    using warp = rocprim::warp_reduce<int, WAVEFRONT>;
    __shared__ typename reduce::storage_type reduce_storage;
    __shared__ typename scan::storage_type scan_storage;
    __shared__ typename warp::storage_type warp_storage[BLOCK / WAVEFRONT];
    unsigned i = blockIdx.x * BLOCK + threadIdx.x, wavefront = threadIdx.x / WAVEFRONT;
    int sum, most;
    reduce().reduce(in[i], sum, reduce_storage);
    scan().inclusive_scan(in[i], scanned[i], scan_storage);
    warp().reduce(in[i], most, warp_storage[wavefront], rocprim::maximum<int>());
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
    if (threadIdx.x % WAVEFRONT == 0)
        largest[i / WAVEFRONT] = most;
}

// Calls twice, as all algorithms want it: for the size of the memory that they need, and with it.
template <typename Call> static void with_storage(Call call)
{
    size_t bytes = 0;
    void *storage = nullptr;
    HIP_MUST(call(storage, bytes));
    HIP_MUST(hipMalloc(&storage, bytes));
    HIP_MUST(call(storage, bytes));
    HIP_MUST(hipFree(storage));
}

struct is_odd {
    __host__ __device__ bool operator()(int x) const { return x & 1; }
};

static bool check_blocks(const std::vector<int> &in, const int *din)
{
    size_t blocks = in.size() / BLOCK;
    std::vector<int> sums(blocks), scanned(blocks * BLOCK), largest(blocks * BLOCK / WAVEFRONT);
    std::vector<int> want_sums(sums), want_scanned(scanned), want_largest(largest);
    int *dsums = device_zeros<int>(sums.size()), *dscanned = device_zeros<int>(scanned.size());
    int *dlargest = device_zeros<int>(largest.size());
    by_block<<<blocks, BLOCK>>>(din, dsums, dscanned, dlargest);
    from_device(sums, dsums);
    from_device(scanned, dscanned);
    from_device(largest, dlargest);
    for (size_t b = 0; b < blocks; b++) {
        auto begin = in.begin() + b * BLOCK;
        std::partial_sum(begin, begin + BLOCK, want_scanned.begin() + b * BLOCK);
        want_sums[b] = want_scanned[(b + 1) * BLOCK - 1];
    }
    for (size_t w = 0; w < largest.size(); w++)
        want_largest[w] = *std::max_element(in.begin() + w * WAVEFRONT,
                                            in.begin() + (w + 1) * WAVEFRONT);
    return same_or_report("block_reduce", sums, want_sums)
           && same_or_report("block_scan", scanned, want_scanned)
           && same_or_report("warp_reduce", largest, want_largest);
}

static bool check_device(const std::vector<int> &in, int *din)
{
    size_t n = in.size();
    std::vector<int> out(n), want(n), order(n), want_order(n), count(1);
    int *dout = device_zeros<int>(n), *dorder = device_zeros<int>(n), *dcount = device_zeros<int>(1);
    with_storage([&](void *storage, size_t &bytes) {
        return rocprim::inclusive_scan(storage, bytes, din, dout, n, rocprim::plus<int>());
    });
    from_device(out, dout);
    std::partial_sum(in.begin(), in.end(), want.begin());
    if (!same_or_report("inclusive_scan", out, want))
        return false;
    with_storage([&](void *storage, size_t &bytes) {
        return rocprim::reduce(storage, bytes, din, dcount, n, rocprim::plus<int>());
    });
    from_device(count, dcount);
    if (!same_or_report("reduce", count, {want.back()}))
        return false;
    std::iota(want_order.begin(), want_order.end(), 0);
    int *dnumbers = to_device(want_order);
    with_storage([&](void *storage, size_t &bytes) {
        return rocprim::radix_sort_pairs(storage, bytes, din, dout, dnumbers, dorder, n);
    });
    from_device(out, dout);
    from_device(order, dorder);
    std::stable_sort(want_order.begin(), want_order.end(),
                     [&](int a, int b) { return in[a] < in[b]; });
    want = in;
    std::sort(want.begin(), want.end());
    if (!same_or_report("radix_sort_pairs", out, want)
        || !same_or_report("its values", order, want_order))
        return false;
    with_storage([&](void *storage, size_t &bytes) {
        return rocprim::merge_sort(storage, bytes, din, dout, n, rocprim::greater<int>());
    });
    from_device(out, dout);
    std::reverse(want.begin(), want.end());
    return same_or_report("merge_sort", out, want);
}

static bool check_selection(const std::vector<int> &in, int *din)
{
    size_t n = in.size();
    std::vector<int> out(n), want, count(1);
    int *dout = device_zeros<int>(n), *dcount = device_zeros<int>(1);
    with_storage([&](void *storage, size_t &bytes) {
        return rocprim::select(storage, bytes, din, dout, dcount, n, is_odd());
    });
    from_device(out, dout);
    from_device(count, dcount);
    std::copy_if(in.begin(), in.end(), std::back_inserter(want), is_odd());
    if (!same_or_report("select: number", count, {static_cast<int>(want.size())})
        || !same_or_report("select", out, want))
        return false;
    std::vector<int> runs(in), lengths;
    std::sort(runs.begin(), runs.end());
    HIP_MUST(hipMemcpy(din, runs.data(), n * sizeof(int), hipMemcpyHostToDevice));
    int *dlengths = device_zeros<int>(n);
    with_storage([&](void *storage, size_t &bytes) {
        return rocprim::run_length_encode(storage, bytes, din, n, dout, dlengths, dcount);
    });
    from_device(out, dlengths);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || runs[i] != runs[i - 1])
            lengths.push_back(1);
        else
            lengths.back()++;
    return same_or_report("run_length_encode", out, lengths);
}

int main(int argc, char **argv)
{
    std::vector<int> in(size_argument(argc, argv, 1, 10000));
    random_source random;
    for (int &x : in)
        x = static_cast<int>(random.next() % 2000u) - 1000;
    int *din = to_device(in);
    return check_blocks(in, din) && check_device(in, din) && check_selection(in, din)
               ? pass("rocprim")
               : 1;
}
