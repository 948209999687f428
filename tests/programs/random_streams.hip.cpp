// Random programs of copies, launches, fills, events and waits over the streams of all devices, each program between two
// synchronisations. What was called is printed, one call a line, for tests/system/hip/stream_order.py, which knows the rules and sees
// in the event trace in which order the commands ran: `random_streams PROGRAMS SEED`.
//
// Streams of a device: 0 the null stream, 1 to 4 blocking, 5 to 7 not. A call is
//   KIND device stream [event] with KIND copy, copy_wait, copy_on, fill, fill_wait, launch, record, wait,
//   sync_stream, sync_event, sync_device.
#include "check.hpp"

static const int STREAMS = 8, EVENTS = 4, CALLS = 14;
static const size_t BYTES = 4096;

__global__ void work(unsigned *data, int rounds)
{
    unsigned value = data[threadIdx.x];
    for (int i = 0; i < rounds; i++) {
        value = value * 1664525u + 1013904223u;
    }
    data[threadIdx.x] = value;
}

struct device {
    hipStream_t streams[STREAMS];
    hipEvent_t events[EVENTS];
    void *memory[STREAMS];
    char *pinned;
};

static uint64_t state;

static unsigned random_below(unsigned limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<unsigned>(state >> 33) % limit;
}

static void set_up(device &d)
{
    for (int i = 0; i < STREAMS; i++) {
        if (i > 0) {
            HIP_MUST(hipStreamCreateWithFlags(&d.streams[i], i < 5 ? hipStreamDefault : hipStreamNonBlocking));
        }
        allocate(&d.memory[i], 2 * BYTES);
        HIP_MUST(hipMemset(d.memory[i], i, 2 * BYTES));
    }
    for (hipEvent_t &event : d.events) {
        HIP_MUST(hipEventCreate(&event));
    }
    HIP_MUST(hipHostMalloc(reinterpret_cast<void **>(&d.pinned), STREAMS * BYTES));
    std::memset(d.pinned, 1, STREAMS * BYTES);
    work<<<1, 64>>>(static_cast<unsigned *>(d.memory[0]), 1); // loads the code
    HIP_MUST(hipDeviceSynchronize());
}

static void print_call(const char *name, int number, int stream, int event)
{
    if (event < 0) {
        std::printf("%s %d %d\n", name, number, stream);
    } else {
        std::printf("%s %d %d %d\n", name, number, stream, event);
    }
}

static void call(device &d, int number)
{
    int s = static_cast<int>(random_below(STREAMS)), event = -1;
    hipStream_t stream = d.streams[s];
    char *memory = static_cast<char *>(d.memory[s]), *host = d.pinned + static_cast<size_t>(s) * BYTES;
    size_t bytes = 64u << random_below(7);
    const char *name = nullptr;
    switch (random_below(16)) {
    case 0:
    case 1:
        name = "copy";
        HIP_MUST(random_below(2) ? hipMemcpyAsync(memory, host, bytes, hipMemcpyHostToDevice, stream)
                                 : hipMemcpyAsync(host, memory, bytes, hipMemcpyDeviceToHost, stream));
        break;
    case 2:
        name = "copy_wait";
        HIP_MUST(s == 0 ? hipMemcpy(memory, host, bytes, hipMemcpyHostToDevice)
                        : hipMemcpyWithStream(memory, host, bytes, hipMemcpyHostToDevice, stream));
        break;
    case 3:
        name = "copy_on";
        HIP_MUST(hipMemcpyDtoDAsync(memory, memory + BYTES, bytes, stream));
        break;
    case 4:
        name = "fill";
        HIP_MUST(hipMemsetAsync(memory, 7, bytes, stream));
        break;
    case 5:
        name = "fill_wait";
        s = 0;
        HIP_MUST(hipMemset(d.memory[0], 7, bytes));
        break;
    case 6:
    case 7:
    case 8:
        name = "record";
        event = static_cast<int>(random_below(EVENTS));
        HIP_MUST(hipEventRecord(d.events[event], stream));
        break;
    case 9:
    case 10:
        name = "wait";
        event = static_cast<int>(random_below(EVENTS));
        HIP_MUST(hipStreamWaitEvent(stream, d.events[event], 0));
        break;
    case 11:
        switch (random_below(4)) {
        case 0:
            name = "sync_stream";
            HIP_MUST(hipStreamSynchronize(stream));
            break;
        case 1:
            name = "sync_event";
            event = static_cast<int>(random_below(EVENTS));
            HIP_MUST(hipEventSynchronize(d.events[event]));
            break;
        case 2:
            name = "sync_device";
            HIP_MUST(hipDeviceSynchronize());
            break;
        default:
            return;
        }
        break;
    default:
        name = "launch";
        work<<<1, 64, 0, stream>>>(reinterpret_cast<unsigned *>(memory), static_cast<int>(random_below(40)));
        HIP_MUST(hipGetLastError());
    }
    print_call(name, number, s, event);
}

int main(int argc, char **argv)
{
    int programs = size_argument(argc, argv, 1, 10), count = 0;
    state = static_cast<uint64_t>(size_argument(argc, argv, 2, 1));
    HIP_MUST(hipGetDeviceCount(&count));
    std::vector<device> devices(static_cast<size_t>(count < 2 ? count : 2));
    count = static_cast<int>(devices.size());
    for (int i = 0; i < count; i++) {
        HIP_MUST(hipSetDevice(i));
        set_up(devices[static_cast<size_t>(i)]);
    }
    for (int p = 0; p < programs; p++) {
        std::printf("program\n");
        for (int i = 0; i < CALLS; i++) {
            int number = static_cast<int>(random_below(static_cast<unsigned>(count)));
            HIP_MUST(hipSetDevice(number));
            call(devices[static_cast<size_t>(number)], number);
        }
        for (int i = 0; i < count; i++) {
            HIP_MUST(hipSetDevice(i));
            HIP_MUST(hipDeviceSynchronize());
        }
    }
    for (device &d : devices) {
        for (int i = 1; i < STREAMS; i++) {
            HIP_MUST(hipStreamDestroy(d.streams[i]));
        }
        for (hipEvent_t event : d.events) {
            HIP_MUST(hipEventDestroy(event));
        }
        HIP_MUST(hipHostFree(d.pinned));
    }
    return pass("random_streams");
}
