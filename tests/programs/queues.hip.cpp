// Producers and consumers: on each GPU, a stream that fills buffers and one that consumes them, which events hand over. The
// first GPU makes the blocks, the others copy them from the one before. Arguments: [elements a block] [blocks].
#include "check.hpp"

constexpr int buffers = 3;

__global__ void produce(int *block, int n, int number)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        block[i] = number * 1000 + i;
    }
}

__global__ void consume(const int *block, int *sums, int n, int number)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        sums[i] = sums[i] * 3 + block[i] - number;
    }
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 300), blocks = size_argument(argc, argv, 2, 7), count = 0;
    size_t bytes = n * sizeof(int);
    HIP_MUST(hipGetDeviceCount(&count));
    std::vector<int> want(n), got(n);
    for (int number = 0; number < blocks; number++) {
        for (int i = 0; i < n; i++) {
            want[i] = static_cast<int>(static_cast<unsigned>(want[i]) * 3 + number * 1000 + i - number);
        }
    }
    struct lane {
        hipStream_t producer, consumer;
        hipEvent_t full[buffers], empty[buffers], copied[buffers];
        int *block[buffers], *sums;
    };
    std::vector<lane> lanes(count);
    for (int d = 0; d < count; d++) {
        lane &l = lanes[d];
        HIP_MUST(hipSetDevice(d));
        HIP_MUST(hipStreamCreateWithFlags(&l.producer, hipStreamNonBlocking));
        HIP_MUST(hipStreamCreateWithFlags(&l.consumer, hipStreamNonBlocking));
        l.sums = device_zeros<int>(n);
        for (int b = 0; b < buffers; b++) {
            allocate(&l.block[b], bytes);
            HIP_MUST(hipEventCreateWithFlags(&l.full[b], hipEventDisableTiming));
            HIP_MUST(hipEventCreateWithFlags(&l.empty[b], hipEventDisableTiming));
            HIP_MUST(hipEventCreateWithFlags(&l.copied[b], hipEventDisableTiming));
        }
    }
    for (int number = 0; number < blocks; number++) {
        for (int d = 0; d < count; d++) {
            lane &l = lanes[d];
            int b = number % buffers;
            HIP_MUST(hipSetDevice(d));
            // A buffer is filled again when it has been consumed here and copied to the next GPU.
            HIP_MUST(hipStreamWaitEvent(l.producer, l.empty[b], 0));
            if (d < count - 1) {
                HIP_MUST(hipStreamWaitEvent(l.producer, lanes[d + 1].copied[b], 0));
            }
            if (d == 0) {
                produce<<<blocks_for(n, 64), 64, 0, l.producer>>>(l.block[b], n, number);
                HIP_MUST(hipGetLastError());
            } else {
                HIP_MUST(hipStreamWaitEvent(l.producer, lanes[d - 1].full[b], 0));
                HIP_MUST(hipMemcpyPeerAsync(l.block[b], d, lanes[d - 1].block[b], d - 1, bytes, l.producer));
                HIP_MUST(hipEventRecord(l.copied[b], l.producer));
            }
            HIP_MUST(hipEventRecord(l.full[b], l.producer));
            HIP_MUST(hipStreamWaitEvent(l.consumer, l.full[b], 0));
            consume<<<blocks_for(n, 64), 64, 0, l.consumer>>>(l.block[b], l.sums, n, number);
            HIP_MUST(hipGetLastError());
            HIP_MUST(hipEventRecord(l.empty[b], l.consumer));
        }
    }
    for (int d = 0; d < count; d++) {
        HIP_MUST(hipSetDevice(d));
        HIP_MUST(hipDeviceSynchronize());
        from_device(got, lanes[d].sums);
        if (!same_or_report("queues", got, want)) {
            return 1;
        }
        HIP_MUST(hipStreamDestroy(lanes[d].producer));
        HIP_MUST(hipStreamDestroy(lanes[d].consumer));
        for (int b = 0; b < buffers; b++) {
            HIP_MUST(hipEventDestroy(lanes[d].full[b]));
            HIP_MUST(hipEventDestroy(lanes[d].empty[b]));
            HIP_MUST(hipEventDestroy(lanes[d].copied[b]));
        }
    }
    return pass("queues");
}
