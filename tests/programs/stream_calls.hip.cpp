// Which calls wait, and for what: a table of HIP's rules, of balar's (components/host/driver/stream_rules.h; SST's "Balar In Depth",
// CUDA stream support) and of balar's launch-blocking mode. `stream_calls hip|balar|blocking` says which the platform has.
//
// Each call is made three times: when nothing is pending, when a kernel runs in another stream that does not block the null
// stream, and when one runs in its own stream. It has waited if that work (or, when there is none, its own) is done when it
// returns, which hipStreamQuery tells. The middle case is the document's deadlock: a call that must not begin while a stream
// has work, made by the only thread that could make time go on.
#include "check.hpp"

static const int CYCLES = 200000;
static const size_t BYTES = 64 << 10;

__global__ void stay(unsigned long long *end, int cycles)
{
    unsigned long long begin = clock64(), now = begin;
    while (now - begin < static_cast<unsigned long long>(cycles)) {
        now = clock64();
    }
    if (threadIdx.x == 0) {
        *end = now;
    }
}

struct lab {
    hipStream_t own, other, stream; // `stream`: own or 0
    hipEvent_t event, of_other;
    void *pinned, *device, *from;
    std::vector<char> pageable;
    unsigned long long *end;
};

static void launch(lab &l, hipStream_t stream)
{
    stay<<<1, 64, 0, stream>>>(l.end, CYCLES);
    HIP_MUST(hipGetLastError());
}

static void call_memcpy(lab &l)
{
    HIP_MUST(l.stream ? hipMemcpyWithStream(l.device, l.pinned, BYTES, hipMemcpyHostToDevice, l.stream)
                      : hipMemcpy(l.device, l.pinned, BYTES, hipMemcpyHostToDevice));
}

static void call_memcpy_async(lab &l)
{
    HIP_MUST(hipMemcpyAsync(l.device, l.pinned, BYTES, hipMemcpyHostToDevice, l.stream));
}

static void call_copy_on_device(lab &l)
{
    HIP_MUST(hipMemcpyDtoDAsync(l.device, l.from, BYTES, l.stream));
}

static void call_memset(lab &l)
{
    HIP_MUST(hipMemset(l.device, 1, BYTES));
}

static void call_memset_async(lab &l)
{
    HIP_MUST(hipMemsetAsync(l.device, 1, BYTES, l.stream));
}

static void call_launch(lab &l)
{
    launch(l, l.stream);
}

static void call_record(lab &l)
{
    HIP_MUST(hipEventRecord(l.event, l.stream));
}

static void call_wait_event(lab &l)
{
    HIP_MUST(hipStreamWaitEvent(l.stream, l.of_other, 0));
}

static void call_stream_synchronize(lab &l)
{
    HIP_MUST(hipStreamSynchronize(l.stream));
}

static void call_event_synchronize(lab &l)
{
    HIP_MUST(hipEventSynchronize(l.of_other));
}

static void call_device_synchronize(lab &)
{
    HIP_MUST(hipDeviceSynchronize());
}

// For each set of rules: nothing pending, a kernel in another stream, one in its own. w: waited, -: did not, ?: cannot be
// told, since what the call itself has left pending, or that it leaves nothing, hides it.
static const struct row {
    const char *name;
    void (*call)(lab &);
    bool null_stream;
    const char *expected[3]; // hip, balar, blocking
} rows[] = {
    {"hipMemcpy", call_memcpy, true, {"w-w", "www", "www"}},
    {"hipMemcpyWithStream", call_memcpy, false, {"w-w", "w-w", "www"}},
    {"hipMemcpyAsync", call_memcpy_async, true, {"--?", "-w?", "-w?"}},
    {"hipMemcpyAsync", call_memcpy_async, false, {"--?", "--?", "-w?"}},
    {"hipMemcpyDtoDAsync", call_copy_on_device, true, {"--?", "-w?", "-w?"}},
    {"hipMemcpyDtoDAsync", call_copy_on_device, false, {"--?", "--?", "-w?"}},
    {"hipMemset", call_memset, true, {"w-w", "-w?", "-w?"}},
    {"hipMemsetAsync", call_memset_async, true, {"--?", "-w?", "-w?"}},
    {"hipMemsetAsync", call_memset_async, false, {"--?", "--?", "-w?"}},
    {"hipLaunchKernel", call_launch, true, {"--?", "-w?", "-w?"}},
    {"hipLaunchKernel", call_launch, false, {"--?", "--?", "-w?"}},
    {"hipEventRecord", call_record, true, {"?--", "?ww", "?ww"}},
    {"hipEventRecord", call_record, false, {"?--", "?--", "?ww"}},
    {"hipStreamWaitEvent", call_wait_event, true, {"?--", "?--", "?--"}},
    {"hipStreamWaitEvent", call_wait_event, false, {"?--", "?--", "?--"}},
    {"hipStreamSynchronize", call_stream_synchronize, true, {"?-w", "?-w", "?-w"}},
    {"hipStreamSynchronize", call_stream_synchronize, false, {"?-w", "?-w", "?-w"}},
    {"hipEventSynchronize", call_event_synchronize, false, {"?w-", "?w-", "?w-"}},
    {"hipDeviceSynchronize", call_device_synchronize, false, {"?ww", "?ww", "?ww"}},
};

static bool check(lab &l, const row &r, int rules, int situation)
{
    hipStream_t busy = nullptr;
    l.stream = r.null_stream ? nullptr : l.own;
    HIP_MUST(hipEventRecord(l.of_other, l.other));
    HIP_MUST(hipDeviceSynchronize());
    if (situation > 0) {
        busy = situation == 1 ? l.other : l.stream;
        launch(l, busy);
        if (situation == 1) {
            // the event stands for the kernel; in launch-blocking mode recording it would wait
            if (rules < 2) {
                HIP_MUST(hipEventRecord(l.of_other, l.other));
            } else if (r.call == call_event_synchronize) {
                return true;
            }
        }
    } else {
        busy = l.stream;
    }
    r.call(l);
    hipError_t state = hipStreamQuery(busy);
    bool waited = state == hipSuccess, expected = r.expected[rules][situation] == 'w';
    HIP_MUST(hipDeviceSynchronize());
    if (r.expected[rules][situation] == '?' || waited == expected) {
        return true;
    }
    static const char *const situations[] = {"nothing pending", "a kernel in another stream", "a kernel in its own stream"};
    std::printf("FAIL stream_calls: %s in %s stream, %s: %s\n", r.name, r.null_stream ? "the null" : "a", situations[situation],
                waited ? "has waited" : "has not waited");
    return false;
}

int main(int argc, char **argv)
{
    const char *names[] = {"hip", "balar", "blocking"};
    int rules = 0;
    while (rules < 3 && !(argc == 2 && std::strcmp(argv[1], names[rules]) == 0)) {
        rules++;
    }
    if (rules == 3) {
        std::printf("usage: stream_calls hip|balar|blocking\n");
        return 2;
    }
    lab l = {};
    HIP_MUST(hipStreamCreate(&l.own));
    HIP_MUST(hipStreamCreateWithFlags(&l.other, hipStreamNonBlocking));
    HIP_MUST(hipEventCreate(&l.event));
    HIP_MUST(hipEventCreate(&l.of_other));
    HIP_MUST(hipHostMalloc(&l.pinned, BYTES));
    allocate(&l.device, BYTES);
    allocate(&l.from, BYTES);
    allocate(&l.end, sizeof *l.end);
    bool good = true;
    for (const row &r : rows) {
        for (int situation = 0; situation < 3; situation++) {
            good &= check(l, r, rules, situation);
        }
    }
    if (good) {
        std::printf("PASS stream_calls\n");
    }
    return good ? 0 : 1;
}
