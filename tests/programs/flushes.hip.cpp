// A sequence of kernels and copies, step by step; every read must see what came before it. How often caches are flushed for
// that is in the statistics. Argument: the steps. k: a kernel; w: copy from the host; r: copy to the host; c: copy on the
// device; f: fill; b: copies to the host in both streams at once, when everything else is done; other letters in capitals: the same in a second stream, after what the first one has been given.
// Second argument: flags of the event that is recorded before each step.
#include "check.hpp"

constexpr int n = 1024;

__global__ void increment(int *data)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

int main(int argc, char **argv)
{
    const char *steps = argc > 1 ? argv[1] : "kkrrkwrkcrfr";
    const size_t bytes = n * sizeof(int);
    std::vector<int> want(n), got(n), fresh(n, 100);
    int *data = nullptr, *other = nullptr, *pinned = nullptr;
    hipStream_t streams[2];
    hipEvent_t event;
    allocate(&data, bytes);
    allocate(&other, bytes);
    HIP_MUST(hipHostMalloc(reinterpret_cast<void **>(&pinned), 2 * bytes));
    unsigned flags = argc > 2 ? unsigned(std::strtoul(argv[2], nullptr, 0)) : 0;
    HIP_MUST(hipEventCreateWithFlags(&event, hipEventDisableTiming | flags));
    for (hipStream_t &stream : streams) {
        HIP_MUST(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    }
    HIP_MUST(hipMemset(data, 0, bytes));
    bool good = true;
    for (const char *step = steps; *step; step++) {
        bool second = *step < 'a';
        hipStream_t stream = streams[second];
        HIP_MUST(hipEventRecord(event, streams[!second]));
        HIP_MUST(hipStreamWaitEvent(stream, event, 0));
        if (*step == 'b') {
            HIP_MUST(hipDeviceSynchronize());
        }
        switch (*step | 32) {
        case 'k':
            increment<<<n / 64, 64, 0, stream>>>(data);
            HIP_MUST(hipGetLastError());
            for (int &value : want) {
                value++;
            }
            break;
        case 'w':
            HIP_MUST(hipMemcpyAsync(data, fresh.data(), bytes, hipMemcpyHostToDevice, stream));
            want = fresh;
            break;
        case 'r':
            HIP_MUST(hipMemcpyAsync(got.data(), data, bytes, hipMemcpyDeviceToHost, stream));
            HIP_MUST(hipStreamSynchronize(stream));
            good = good && same_or_report("flushes", got, want);
            break;
        case 'b':
            HIP_MUST(hipMemcpyAsync(pinned, data, bytes, hipMemcpyDeviceToHost, stream));
            HIP_MUST(hipMemcpyAsync(pinned + n, data, bytes, hipMemcpyDeviceToHost, streams[!second]));
            HIP_MUST(hipDeviceSynchronize());
            got.assign(pinned, pinned + n);
            good = good && same_or_report("flushes: first stream", got, want);
            got.assign(pinned + n, pinned + 2 * n);
            good = good && same_or_report("flushes: second stream", got, want);
            break;
        case 'c':
            HIP_MUST(hipMemcpyAsync(other, data, bytes, hipMemcpyDeviceToDevice, stream));
            HIP_MUST(hipMemcpyAsync(data, other, bytes, hipMemcpyDeviceToDevice, stream));
            break;
        default:
            HIP_MUST(hipMemsetAsync(data, 0, bytes, stream));
            want.assign(n, 0);
        }
    }
    HIP_MUST(hipDeviceSynchronize());
    from_device(got, data);
    HIP_MUST(hipHostFree(pinned));
    HIP_MUST(hipEventDestroy(event));
    for (hipStream_t stream : streams) {
        HIP_MUST(hipStreamDestroy(stream));
    }
    return good && same_or_report("flushes at the end", got, want) ? pass("flushes") : 1;
}
