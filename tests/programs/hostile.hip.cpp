// Random calls of a program that keeps no rule: streams and events are used after they were
// destroyed, memory after it was freed, twice, from its middle, by the wrong kind of pointer, on
// the wrong device. Every answer is printed, and what copies and kernels left in memory: the same
// bytes whatever the number of threads and the order of ticks. `hostile SEED [CALLS]`.
#include "check.hpp"

static const unsigned STREAMS = 6, EVENTS = 6, BUFFERS = 8, PINNED = 4;
static const size_t WORDS = 1024;

__global__ void mix(unsigned *to, const unsigned *from, unsigned count, unsigned salt)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        to[i] = to[i] * 31u + from[count - 1 - i] + salt;
    }
}

static uint64_t state;
static hipStream_t streams[STREAMS];
static hipEvent_t events[EVENTS];
static unsigned *buffers[BUFFERS], *pinned[PINNED];
static bool living[BUFFERS], usable[PINNED]; // as the program should know
static unsigned plain[4 * WORDS];

static unsigned random_below(unsigned limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<unsigned>(state >> 33) % limit;
}

static bool seldom()
{
    return random_below(12) == 0;
}

// Any stream that was ever made, or nonsense.
static hipStream_t some_stream()
{
    static int nowhere;
    switch (random_below(24)) {
    case 0:
        return reinterpret_cast<hipStream_t>(events[random_below(EVENTS)]);
    case 1:
        return reinterpret_cast<hipStream_t>(&nowhere);
    case 2:
        return reinterpret_cast<hipStream_t>(buffers[random_below(BUFFERS)]);
    case 3:
    case 4:
        return nullptr;
    case 5:
        return hipStreamPerThread;
    default:
        return streams[random_below(STREAMS)];
    }
}

static hipEvent_t some_event()
{
    return random_below(24) == 0 ? reinterpret_cast<hipEvent_t>(streams[random_below(STREAMS)])
                                 : events[random_below(EVENTS)];
}

static unsigned *some_buffer()
{
    unsigned *buffer = buffers[random_below(BUFFERS)];
    switch (random_below(24)) {
    case 0:
        return buffer + random_below(3 * WORDS); // its middle, or past its end
    case 1:
        return pinned[random_below(PINNED)];
    case 2:
        return plain;
    case 3:
        return nullptr;
    case 4:
        return reinterpret_cast<unsigned *>(static_cast<uintptr_t>(random_below(4096)));
    default:
        return buffer;
    }
}

static unsigned *some_host()
{
    switch (random_below(16)) {
    case 0:
        return some_buffer();
    case 1:
        return reinterpret_cast<unsigned *>(uintptr_t{0x3000}
                                            + random_below(4096)); // nothing is there
    case 2:
    case 3:
        return pinned[random_below(PINNED)];
    default:
        return plain;
    }
}

static unsigned *buffer_for_kernel()
{
    unsigned slot = random_below(BUFFERS);
    for (unsigned i = 0; i < BUFFERS && !living[slot]; i++) {
        slot = (slot + 1) % BUFFERS;
    }
    return living[slot] ? buffers[slot] : nullptr;
}

static unsigned hash_of(const unsigned *words)
{
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < WORDS; i++) {
        hash = (hash ^ words[i]) * 16777619u;
    }
    return hash;
}

static void tell(const char *call, hipError_t error)
{
    std::printf("%s %s\n", call, hipGetErrorName(error));
}

static void memory_call()
{
    unsigned slot = random_below(BUFFERS), host = random_below(PINNED);
    switch (random_below(7)) {
    case 0:
    case 1:
        if (!living[slot] || seldom()) {
            hipError_t error = hipMalloc(reinterpret_cast<void **>(&buffers[slot]),
                                         (1 + random_below(2)) * WORDS * sizeof(unsigned));
            living[slot] = error == hipSuccess;
            tell("malloc", error);
            tell("clear",
                 hipMemset(buffers[slot], static_cast<int>(slot), WORDS * sizeof(unsigned)));
        }
        break;
    case 2:
        living[slot] = false; // its address stays in the table
        tell("free", hipFree(buffers[slot]));
        break;
    case 3:
        tell("free some", hipFree(some_buffer() + (seldom() ? 1 : BUFFERS * WORDS)));
        break;
    case 4:
        if (!usable[host]) {
            hipError_t error =
                hipHostMalloc(reinterpret_cast<void **>(&pinned[host]), WORDS * sizeof(unsigned));
            usable[host] = error == hipSuccess;
            tell("host malloc", error);
            if (usable[host]) {
                std::memset(pinned[host], 3, WORDS * sizeof(unsigned));
            }
        }
        break;
    case 5:
        usable[host] = false;
        tell("host free", hipHostFree(pinned[host]));
        break;
    default:
        tell("host free some",
             hipHostFree(seldom() ? static_cast<void *>(plain) : some_buffer() + 7));
    }
}

static void object_call()
{
    unsigned stream = random_below(STREAMS), event = random_below(EVENTS);
    switch (random_below(8)) {
    case 0:
    case 1:
        tell("create stream", hipStreamCreateWithFlags(&streams[stream], random_below(2)));
        break;
    case 2:
        tell("destroy stream", hipStreamDestroy(some_stream()));
        break;
    case 3:
    case 4:
        tell("create event", hipEventCreate(&events[event]));
        break;
    case 5:
        tell("destroy event", hipEventDestroy(some_event()));
        break;
    case 6:
        tell("set device", hipSetDevice(static_cast<int>(random_below(5)) - 1));
        break;
    default:
        tell("query stream", hipStreamQuery(some_stream()));
    }
}

static void order_call()
{
    float milliseconds = 0;
    switch (random_below(7)) {
    case 0:
        tell("record", hipEventRecord(some_event(), some_stream()));
        break;
    case 1:
        tell("wait", hipStreamWaitEvent(some_stream(), some_event(), seldom()));
        break;
    case 2:
        tell("query event", hipEventQuery(some_event()));
        break;
    case 3:
        tell("synchronize event", hipEventSynchronize(some_event()));
        break;
    case 4:
        tell("synchronize stream", hipStreamSynchronize(some_stream()));
        break;
    case 5:
        tell("elapsed", hipEventElapsedTime(&milliseconds, some_event(), some_event()));
        std::printf("%a\n", static_cast<double>(milliseconds));
        break;
    default:
        tell("synchronize", hipDeviceSynchronize());
    }
}

static void data_call()
{
    static const hipMemcpyKind kinds[] = {hipMemcpyHostToDevice,   hipMemcpyDeviceToHost,
                                          hipMemcpyDeviceToDevice, hipMemcpyDefault,
                                          hipMemcpyHostToHost,     static_cast<hipMemcpyKind>(9)};
    size_t bytes = sizeof(unsigned) * (1 + random_below(seldom() ? 4 * WORDS : WORDS));
    switch (random_below(8)) {
    case 0:
    case 1:
        tell("write", hipMemcpyAsync(some_buffer(), some_host(), bytes, hipMemcpyHostToDevice,
                                     some_stream()));
        break;
    case 2:
    case 3:
        tell("read", hipMemcpy(plain, some_buffer(), bytes, hipMemcpyDeviceToHost));
        std::printf("%08x\n", hash_of(plain));
        break;
    case 4:
        tell("copy", hipMemcpy(some_buffer(), some_buffer(), WORDS * sizeof(unsigned),
                               kinds[random_below(6)]));
        break;
    case 5:
        tell("fill", hipMemsetAsync(some_buffer(), 9, bytes, some_stream()));
        break;
    default: {
        unsigned *to = buffer_for_kernel(), *from = buffer_for_kernel();
        if (random_below(200) == 0) {
            to = some_buffer();
        }
        if (to && from) {
            mix<<<1 + random_below(8), seldom() ? 2000 : 64, 0, some_stream()>>>(to, from, 512,
                                                                                 random_below(99));
            tell("launch", hipGetLastError());
        }
    }
    }
}

int main(int argc, char **argv)
{
    state = static_cast<uint64_t>(size_argument(argc, argv, 1, 1));
    int calls = size_argument(argc, argv, 2, 200), count = 0;
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    HIP_MUST(hipGetDeviceCount(&count));
    for (int i = 0; i < count * count; i++) {
        HIP_MUST(hipSetDevice(i / count));
        hipDeviceEnablePeerAccess(i % count, 0);
    }
    hipGetLastError();
    for (int i = 0; i < calls; i++) {
        switch (random_below(5)) {
        case 0:
            memory_call();
            break;
        case 1:
            object_call();
            break;
        case 2:
            order_call();
            break;
        default:
            data_call();
        }
    }
    std::printf("%08x\n", hash_of(plain));
    return pass("hostile");
}
