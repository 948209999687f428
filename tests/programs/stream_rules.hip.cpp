// Which commands of different streams run side by side: HIP's rules as a table, each case checked on the simulated clock
// that its kernels read. The rules: HIP programming guide, "Default stream", and the CUDA runtime API, "Stream
// synchronization behavior", which HIP follows.
#include "check.hpp"

// One work-group that stays for a while and notes when it began and ended.
__global__ void stay(unsigned long long *times, int cycles)
{
    unsigned long long begin = clock64(), now = begin;
    while (now - begin < static_cast<unsigned long long>(cycles)) {
        now = clock64();
    }
    if (threadIdx.x == 0) {
        times[0] = begin;
        times[1] = now;
    }
}

// Steps: a letter launches a kernel on a stream: N null, A B blocking, X Y not blocking, T the host thread's own. r and w
// and a letter: record the event in that stream, let the stream wait for it. s and a letter: the host waits for the stream;
// e: for the event; d: for the device. c and a letter: a callback in that stream. q: the stream A is destroyed.
// `together`: pairs of kernels, by their numbers, that run side by side; all other pairs run one after the other.
struct rule {
    const char *name, *steps, *together;
};

static const rule rules[] = {
    {"one stream is in order", "A A A", ""},
    {"blocking streams run side by side", "A B", "01"},
    {"the null stream waits for blocking streams", "A B N", "01"},
    {"blocking streams wait for the null stream", "N A B", "12"},
    {"the null stream separates", "A N B", ""},
    {"also twice", "A N B N A", ""},
    {"streams that do not block ignore the null stream", "X N Y", "01 02 12"},
    {"beside blocking ones", "A X N B", "01 12 13"},
    {"a thread's own stream blocks", "T N T", ""},
    {"a thread's own stream is beside others", "T A X", "01 02 12"},
    {"an event orders two streams", "A rA wB B", ""},
    {"an event orders only what comes after", "B A rA wB B", "01"},
    {"an event orders what comes before it only", "A rA A wB B", "12"},
    {"an event in a stream that does not block", "X rX wY Y", ""},
    {"an event of the null stream", "N rN wX X", ""},
    {"an event before the null stream's kernel", "rN wX N X", "01"},
    {"an event that the null stream waits for", "X rX wN N A", ""},
    {"an event recorded again stands for the last time", "A rA A rA wX X", ""},
    {"an event that was never recorded", "wB A B", "01"},
    {"the host waits for one stream", "A B sA A", "01 12"},
    {"the host waits for an event", "A rA B e X", "01 12"},
    {"the host waits for the null stream", "A X sN B", "01 12"},
    {"the host waits for the device", "A X d B", "01"},
    {"a callback comes after what is before it", "A cA B", ""},
    {"a callback waits for its stream only", "X A cA B", "01 02"},
    {"a destroyed stream does its work", "A q N", ""},
};

struct lab {
    hipStream_t a, b, x, y;
    hipEvent_t event;
    unsigned long long *times; // of the device
    int called;

    hipStream_t stream(char name) const
    {
        switch (name) {
        case 'A':
            return a;
        case 'B':
            return b;
        case 'X':
            return x;
        case 'Y':
            return y;
        case 'T':
            return hipStreamPerThread;
        default:
            return nullptr;
        }
    }
};

static void call(hipStream_t, hipError_t, void *data)
{
    ++*static_cast<int *>(data);
}

// Kernels on streams of which others are independent stay longer, so that it shows.
static int cycles_of(char stream)
{
    return stream == 'X' || stream == 'Y' ? 80000 : stream == 'B' || stream == 'T' ? 40000 : 12000;
}

static void take_step(lab &l, const char *step, int &kernels)
{
    hipStream_t stream = l.stream(step[1]);
    switch (step[0]) {
    case 'r':
        HIP_MUST(hipEventRecord(l.event, stream));
        break;
    case 'w':
        HIP_MUST(hipStreamWaitEvent(stream, l.event, 0));
        break;
    case 's':
        HIP_MUST(hipStreamSynchronize(stream));
        break;
    case 'e':
        HIP_MUST(hipEventSynchronize(l.event));
        break;
    case 'd':
        HIP_MUST(hipDeviceSynchronize());
        break;
    case 'c':
        HIP_MUST(hipStreamAddCallback(stream, call, &l.called, 0));
        break;
    case 'q':
        HIP_MUST(hipStreamDestroy(l.a));
        l.a = nullptr;
        break;
    default:
        stay<<<1, 64, 0, l.stream(step[0])>>>(l.times + 2 * kernels, cycles_of(step[0]));
        HIP_MUST(hipGetLastError());
        kernels++;
    }
}

static bool is_listed(const char *pairs, int i, int j)
{
    for (const char *at = pairs; *at; at += *at == ' ' ? 1 : 2) {
        if (at[0] == '0' + i && at[1] == '0' + j) {
            return true;
        }
    }
    return false;
}

static bool check_rule(const rule &r, lab &l)
{
    std::vector<unsigned long long> times(16);
    int kernels = 0;
    HIP_MUST(hipStreamCreate(&l.a));
    HIP_MUST(hipStreamCreateWithFlags(&l.b, hipStreamDefault));
    HIP_MUST(hipStreamCreateWithFlags(&l.x, hipStreamNonBlocking));
    HIP_MUST(hipStreamCreateWithFlags(&l.y, hipStreamNonBlocking));
    HIP_MUST(hipEventCreateWithFlags(&l.event, hipEventDisableTiming));
    l.called = 0;
    int calls = 0;
    for (const char *step = r.steps; step; step = std::strchr(step, ' ') ? std::strchr(step, ' ') + 1 : nullptr) {
        take_step(l, step, kernels);
        calls += step[0] == 'c';
    }
    HIP_MUST(hipDeviceSynchronize());
    from_device(times, l.times);
    bool good = l.called == calls;
    for (int j = 0; j < kernels; j++) {
        for (int i = 0; i < j; i++) {
            bool together = times[2 * j] < times[2 * i + 1], before = times[2 * i] > times[2 * j + 1];
            if (together != is_listed(r.together, i, j) || before) {
                std::printf("FAIL stream_rules: %s (%s): kernel %d ran %llu to %llu, kernel %d %llu to %llu\n", r.name,
                            r.steps, i, times[2 * i], times[2 * i + 1], j, times[2 * j], times[2 * j + 1]);
                good = false;
            }
        }
    }
    if (l.a) {
        HIP_MUST(hipStreamDestroy(l.a));
    }
    HIP_MUST(hipStreamDestroy(l.b));
    HIP_MUST(hipStreamDestroy(l.x));
    HIP_MUST(hipStreamDestroy(l.y));
    HIP_MUST(hipEventDestroy(l.event));
    return good;
}

// A copy in one stream goes on while a kernel runs in another, and one in the null stream does not.
static bool check_copy(lab &l, bool null_stream)
{
    const size_t bytes = 64 << 10;
    hipEvent_t events[4];
    hipStream_t copies = nullptr, kernels = nullptr;
    void *host = nullptr, *device = nullptr;
    HIP_MUST(hipHostMalloc(&host, bytes));
    allocate(&device, bytes);
    HIP_MUST(hipStreamCreate(&kernels));
    if (!null_stream) {
        HIP_MUST(hipStreamCreate(&copies));
    }
    for (hipEvent_t &event : events) {
        HIP_MUST(hipEventCreate(&event));
    }
    HIP_MUST(hipEventRecord(events[0], kernels));
    stay<<<1, 64, 0, kernels>>>(l.times, 20000);
    HIP_MUST(hipEventRecord(events[1], kernels));
    HIP_MUST(hipEventRecord(events[2], copies));
    HIP_MUST(hipMemcpyAsync(device, host, bytes, hipMemcpyHostToDevice, copies));
    HIP_MUST(hipEventRecord(events[3], copies));
    HIP_MUST(hipDeviceSynchronize());
    float kernel_took = 0, copy_began = 0;
    HIP_MUST(hipEventElapsedTime(&kernel_took, events[0], events[1]));
    HIP_MUST(hipEventElapsedTime(&copy_began, events[0], events[2]));
    bool together = copy_began < kernel_took / 2;
    for (hipEvent_t event : events) {
        HIP_MUST(hipEventDestroy(event));
    }
    HIP_MUST(hipStreamDestroy(kernels));
    if (copies) {
        HIP_MUST(hipStreamDestroy(copies));
    }
    HIP_MUST(hipHostFree(host));
    if (together == null_stream) {
        std::printf("FAIL stream_rules: the copy began %g ms after the kernel, which took %g ms\n",
                    static_cast<double>(copy_began), static_cast<double>(kernel_took));
    }
    return together != null_stream;
}

// What is no stream any more, and what never was one.
static bool check_handles()
{
    hipStream_t stream = nullptr;
    HIP_MUST(hipStreamCreate(&stream));
    HIP_MUST(hipStreamDestroy(stream));
    stay<<<1, 64, 0, stream>>>(nullptr, 1);
    bool good = hipGetLastError() == hipErrorInvalidHandle && hipStreamSynchronize(stream) == hipErrorInvalidHandle &&
                hipStreamDestroy(stream) == hipErrorInvalidHandle && hipStreamDestroy(nullptr) == hipErrorInvalidHandle &&
                hipStreamDestroy(hipStreamPerThread) == hipErrorInvalidHandle;
    hipGetLastError();
    if (!good) {
        std::printf("FAIL stream_rules: a destroyed stream is still of use\n");
    }
    return good;
}

// A kernel that is still running, and an event whose times are asked for, after more commands than the driver has room for in
// the table of their ends.
static bool check_long_run(lab &l, int commands)
{
    hipEvent_t begun, ended;
    hipStream_t kernels, copies;
    void *host = nullptr, *device = nullptr;
    float took = 0;
    HIP_MUST(hipHostMalloc(&host, 64));
    allocate(&device, 64);
    HIP_MUST(hipStreamCreateWithFlags(&kernels, hipStreamNonBlocking));
    HIP_MUST(hipStreamCreateWithFlags(&copies, hipStreamNonBlocking));
    HIP_MUST(hipEventCreate(&begun));
    HIP_MUST(hipEventCreate(&ended));
    HIP_MUST(hipEventRecord(begun, kernels));
    stay<<<1, 64, 0, kernels>>>(l.times, 4000000);
    HIP_MUST(hipEventRecord(ended, kernels));
    for (int i = 1; i <= commands; i++) {
        HIP_MUST(hipMemcpyAsync(device, host, 4, hipMemcpyHostToDevice, copies));
        if (i % 1000 == 0)
            HIP_MUST(hipStreamSynchronize(copies));
    }
    bool good = hipEventQuery(ended) == hipErrorNotReady;
    if (!good)
        std::printf("FAIL stream_rules: a kernel that runs has ended\n");
    HIP_MUST(hipEventSynchronize(ended));
    HIP_MUST(hipEventElapsedTime(&took, begun, ended));
    if (took < 4 || took > 4.1f) {
        std::printf("FAIL stream_rules: a kernel of 4 ms took %g ms\n", static_cast<double>(took));
        good = false;
    }
    return good;
}

int main(int argc, char **argv)
{
    lab l = {};
    bool good = true;
    allocate(&l.times, 16 * sizeof *l.times);
    if (argc > 1)
        return check_long_run(l, std::atoi(argv[1])) ? pass("stream_rules") : 1;
    for (const rule &r : rules) {
        good = check_rule(r, l) && good;
    }
    good = check_copy(l, false) && good;
    good = check_copy(l, true) && good;
    good = check_handles() && good;
    return good ? pass("stream_rules") : 1;
}
