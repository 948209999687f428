// shoc_devicememory MIB: streams over memory. transfer_mode=read or write is one launch; readwrite adds up the times of three: a
// read, a write and a copy, which is what the measured times of small arrays say. A thread has one float, and beyond 65536
// work-groups those that lie as many threads apart: from 8 to 64 MiB the measured times of reads and writes grow by 0.49 us a MiB,
// the time in which MI300X starts as many work-groups of 1 KiB (empty_kernel), and by less from there.
#include "micro.hpp"

constexpr unsigned most_blocks = 65536;

__global__ void read_all(const float *from, size_t count, float *sink)
{
    float sum = 0;
    size_t step = size_t(gridDim.x) * blockDim.x;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
        sum += from[i];
    }
    if (sum < 0) { // never: there is nothing below zero
        *sink = sum;
    }
}

__global__ void write_all(float *to, size_t count)
{
    size_t step = size_t(gridDim.x) * blockDim.x;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
        to[i] = float(i % 1024);
    }
}

__global__ void copy_all(const float *from, float *to, size_t count)
{
    size_t step = size_t(gridDim.x) * blockDim.x;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
        to[i] = from[i];
    }
}

template <typename F> static float timed(F launch)
{
    hipEvent_t start, stop;
    float ms = 0;
    HIP_MUST(hipEventCreate(&start));
    HIP_MUST(hipEventCreate(&stop));
    launch(); // once to warm up
    HIP_MUST(hipDeviceSynchronize());
    HIP_MUST(hipEventRecord(start, 0));
    launch();
    HIP_MUST(hipEventRecord(stop, 0));
    HIP_MUST(hipEventSynchronize(stop));
    HIP_MUST(hipEventElapsedTime(&ms, start, stop));
    return ms;
}

int main(int argc, char **argv)
{
    micro m = micro_arguments(argc, argv, "shoc_devicememory", 65536,
                              {{"block_size", "256"}, {"transfer_mode", "readwrite"}});
    size_t mode = m.one_of("transfer_mode", {"read", "write", "readwrite"});
    unsigned block = unsigned(m.number("block_size", 1024));
    size_t count = (m.size << 20) / sizeof(float);
    unsigned blocks = std::min(blocks_for(count, block), most_blocks);
    float *one = device_array<float>(count), *two = device_array<float>(count);
    float *sink = device_zeros<float>(1);
    HIP_MUST(hipMemset(one, 0, m.size << 20));
    float least = 0;
    for (int i = 0; i < m.iterations; i++) {
        float ms = 0;
        if (mode != 1) {
            ms += timed([&] { read_all<<<dim3(blocks), dim3(block)>>>(one, count, sink); });
        }
        if (mode != 0) {
            ms += timed([&] { write_all<<<dim3(blocks), dim3(block)>>>(one, count); });
        }
        if (mode == 2) {
            ms += timed([&] { copy_all<<<dim3(blocks), dim3(block)>>>(one, two, count); });
        }
        least = i == 0 ? ms : std::min(least, ms);
    }
    std::printf("%s %zu %.7f\n", m.name.c_str(), m.size, double(least));
    if (!m.check) {
        return 0;
    }
    std::vector<float> got(count), nothing(1);
    from_device(nothing, sink);
    from_device(got, mode == 2 ? two : one);
    for (size_t i = 0; i < got.size(); i++) {
        if (got[i] != (mode == 0 ? 0.0f : float(i % 1024))) {
            return m.verdict(false);
        }
    }
    return m.verdict(nothing[0] == 0);
}
