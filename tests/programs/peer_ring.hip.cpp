// Data goes round a ring of GPUs by peer copies, in a stream of each GPU; events hand it from one stream to the next, and the
// host waits only at the end. Arguments: [elements] [rounds].
#include "check.hpp"

__global__ void step(int *data, int n, int device)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        data[i] = data[i] * 3 + device;
    }
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 1000), rounds = size_argument(argc, argv, 2, 2), count = 0;
    size_t bytes = n * sizeof(int);
    HIP_MUST(hipGetDeviceCount(&count));
    std::vector<int *> memory(count);
    std::vector<hipStream_t> streams(count);
    std::vector<hipEvent_t> arrived(count);
    std::vector<int> data(n), got(n);
    for (int i = 0; i < n; i++) {
        data[i] = i;
    }
    for (int d = 0; d < count; d++) {
        HIP_MUST(hipSetDevice(d));
        allocate(&memory[d], bytes);
        HIP_MUST(hipStreamCreateWithFlags(&streams[d], hipStreamNonBlocking));
        HIP_MUST(hipEventCreateWithFlags(&arrived[d], hipEventDisableTiming));
    }
    HIP_MUST(hipMemcpy(memory[0], data.data(), bytes, hipMemcpyHostToDevice));
    for (int hop = 0; hop < rounds * count; hop++) {
        int d = hop % count, next = (d + 1) % count;
        HIP_MUST(hipSetDevice(d));
        step<<<blocks_for(n, 64), 64, 0, streams[d]>>>(memory[d], n, d);
        HIP_MUST(hipGetLastError());
        if (next != d) {
            HIP_MUST(hipMemcpyPeerAsync(memory[next], next, memory[d], d, bytes, streams[d]));
            HIP_MUST(hipEventRecord(arrived[d], streams[d]));
            HIP_MUST(hipSetDevice(next));
            HIP_MUST(hipStreamWaitEvent(streams[next], arrived[d], 0));
        }
        for (int &value : data) {
            value = static_cast<int>(static_cast<unsigned>(value) * 3 + d);
        }
    }
    HIP_MUST(hipSetDevice(0));
    HIP_MUST(hipStreamSynchronize(streams[0]));
    HIP_MUST(hipMemcpy(got.data(), memory[0], bytes, hipMemcpyDeviceToHost));
    for (int d = 0; d < count; d++) {
        HIP_MUST(hipEventDestroy(arrived[d]));
        HIP_MUST(hipStreamDestroy(streams[d]));
    }
    return same_or_report("peer_ring", got, data) ? pass("peer_ring") : 1;
}
