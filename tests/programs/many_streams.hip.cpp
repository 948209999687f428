// Many streams, more than a GPU has queue slots: chains of launches without a pause between them, kernels with private memory,
// copies and waits for other streams' events among them. Every stream's numbers depend on the order of all of it.
// Arguments: [streams] [launches a stream].
#include "check.hpp"

constexpr int items = 192;

__host__ __device__ static uint32_t step(uint32_t value, uint32_t number)
{
    return value * 1664525u + 1013904223u + number;
}

// Private memory: the index is not known before it runs.
__host__ __device__ static uint32_t shuffle(uint32_t value)
{
    uint32_t table[40];
    for (uint32_t i = 0; i < 40; i++) {
        table[i] = value ^ (i * 2654435761u);
    }
    for (uint32_t i = 0; i < 30; i++) {
        table[(value + i) % 40] += table[value % 37];
        value = table[(value >> 3) % 40];
    }
    return value;
}

__global__ void step_all(uint32_t *data, uint32_t number)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = step(data[i], number);
}

__global__ void shuffle_all(uint32_t *data)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = shuffle(data[i]);
}

// What another stream has left so far.
__global__ void join_all(uint32_t *data, const uint32_t *other)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] ^= other[i];
}

struct chain {
    hipStream_t stream;
    hipEvent_t half;
    uint32_t *data, *kept; // `kept`: as it was at the event
    std::vector<uint32_t> want, want_kept, got, got_kept;
};

int main(int argc, char **argv)
{
    const int streams = size_argument(argc, argv, 1, 20);
    const uint32_t launches = static_cast<uint32_t>(size_argument(argc, argv, 2, 9));
    std::vector<chain> chains(streams);
    for (int s = 0; s < streams; s++) {
        chain &c = chains[s];
        HIP_MUST(hipStreamCreateWithFlags(&c.stream, hipStreamNonBlocking));
        HIP_MUST(hipEventCreate(&c.half));
        c.want.assign(items, static_cast<uint32_t>(s * 77 + 1));
        c.got.resize(items);
        c.got_kept.resize(items);
        c.data = to_device(c.want);
        allocate(&c.kept, items * sizeof(uint32_t));
    }
    for (int s = 0; s < streams; s++) {
        chain &c = chains[s];
        for (uint32_t n = 0; n < launches; n++) {
            step_all<<<items / 64, 64, 0, c.stream>>>(c.data, n);
            for (uint32_t &value : c.want) {
                value = step(value, n);
            }
            if (n % 4 == 1) {
                shuffle_all<<<items / 64, 64, 0, c.stream>>>(c.data);
                for (uint32_t &value : c.want) {
                    value = shuffle(value);
                }
            }
        }
        HIP_MUST(hipMemcpyAsync(c.kept, c.data, items * sizeof(uint32_t), hipMemcpyDeviceToDevice, c.stream));
        HIP_MUST(hipEventRecord(c.half, c.stream));
        c.want_kept = c.want;
        if (s > 0) { // waits for the stream before it, which waits, ...
            HIP_MUST(hipStreamWaitEvent(c.stream, chains[s - 1].half, 0));
            join_all<<<items / 64, 64, 0, c.stream>>>(c.data, chains[s - 1].kept);
            for (int i = 0; i < items; i++) {
                c.want[i] ^= chains[s - 1].want_kept[i];
            }
        }
        step_all<<<items / 64, 64, 0, c.stream>>>(c.data, 1000);
        for (uint32_t &value : c.want) {
            value = step(value, 1000);
        }
        HIP_MUST(hipMemcpyAsync(c.got.data(), c.data, items * sizeof(uint32_t), hipMemcpyDeviceToHost, c.stream));
        HIP_MUST(hipMemcpyAsync(c.got_kept.data(), c.kept, items * sizeof(uint32_t), hipMemcpyDeviceToHost, c.stream));
    }
    HIP_MUST(hipDeviceSynchronize());
    for (chain &c : chains) {
        if (!same_or_report("many_streams", c.got, c.want) || !same_or_report("many_streams", c.got_kept, c.want_kept)) {
            return 1;
        }
        HIP_MUST(hipStreamDestroy(c.stream));
        HIP_MUST(hipEventDestroy(c.half));
    }
    return pass("many_streams");
}
