// A program that shares a machine with others: `neighbours GPU LAUNCHES COUNT [HOW]`. Each launch
// works on COUNT elements in memory of the kind that HOW names, and the results are checked.
//
//   device (default), pinned, managed   where the elements lie
//   streams   two streams in turns, ordered by events
//   prints    kernels print, too
//   sleeps    sleeps between the launches
//   computes  computes on the host between two calls for memory, and says what it got
//   free      says how much memory of the GPU is free
//   greedy    takes all memory of the GPU first, and gives it back
//   die       ends by SIGKILL while its last launch runs
//   fault     its last launch writes where nothing is, which has to be told
//   thief     frees and copies what lies where others have their memory, and its kernel looks for
//             arguments of their kernels where its own have been
#include "check.hpp"

#include <csignal>
#include <ctime>
#include <string>

#include <unistd.h>

static __global__ void step(unsigned *data, unsigned seed, int count)
{
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) {
        data[i] = data[i] * 3u + seed;
    }
}

static __global__ void tell(unsigned seed)
{
    if (threadIdx.x == 0) {
        printf("kernel of %u\n", seed);
    }
}

static __global__ void stray()
{
    *reinterpret_cast<volatile int *>(64) = 1;
}

// Where the packet of the first launch is, and whether arguments of another's step() follow it.
static __global__ void peep(const unsigned **first, unsigned *found, unsigned own_count)
{
    if (!*first) {
        *first = (const unsigned *)__builtin_amdgcn_dispatch_ptr();
        return;
    }
    for (int i = 0; i < 8192; i++) {
        const unsigned seed = (*first)[i], count = (*first)[i + 1];
        if (count > 0 && count < 1000 && count != own_count && seed < 100000 && seed > count
            && (seed - count) % 1000 == 0) {
            *found = seed;
        }
    }
}

struct memory {
    std::string how;
    unsigned *data = nullptr; // what kernels use
};

static memory make(const std::string &how, size_t bytes)
{
    memory made;
    made.how = how;
    void *place = nullptr;
    if (how == "pinned") {
        HIP_MUST(hipHostMalloc(&place, bytes, 0));
    } else if (how == "managed") {
        HIP_MUST(hipMallocManaged(&place, bytes, hipMemAttachGlobal));
    } else {
        HIP_MUST(hipMalloc(&place, bytes));
    }
    made.data = static_cast<unsigned *>(place);
    return made;
}

static bool is_seen(const memory &m)
{
    return m.how == "pinned" || m.how == "managed";
}

static void put(const memory &m, const std::vector<unsigned> &from)
{
    const size_t bytes = from.size() * sizeof from[0];
    if (is_seen(m)) {
        std::memcpy(m.data, from.data(), bytes);
    } else {
        HIP_MUST(hipMemcpy(m.data, from.data(), bytes, hipMemcpyHostToDevice));
    }
}

static void get(const memory &m, std::vector<unsigned> &to)
{
    const size_t bytes = to.size() * sizeof to[0];
    HIP_MUST(hipDeviceSynchronize());
    if (is_seen(m)) {
        std::memcpy(to.data(), m.data, bytes);
    } else {
        HIP_MUST(hipMemcpy(to.data(), m.data, bytes, hipMemcpyDeviceToHost));
    }
}

// Where `found` lies, in memory that the host sees; first call: where the packets begin.
static unsigned *look_at_arguments(unsigned count)
{
    static void *seen = nullptr;
    if (!seen) {
        HIP_MUST(hipHostMalloc(&seen, 64, 0));
        std::memset(seen, 0, 64);
    }
    unsigned *found = static_cast<unsigned *>(seen) + 4;
    peep<<<1, 1>>>(static_cast<const unsigned **>(seen), found, count);
    HIP_MUST(hipDeviceSynchronize());
    return found;
}

static void compute(const void *before)
{
    void *behind = nullptr;
    const std::clock_t end = std::clock() + CLOCKS_PER_SEC / 20;
    while (std::clock() < end) {
    }
    allocate(&behind, 64);
    std::printf("has %p and %p\n", before, behind);
}

static void say_free_memory()
{
    size_t available = 0, total = 0;
    HIP_MUST(hipMemGetInfo(&available, &total));
    std::printf("free: %zu\n", available);
}

static void take_all_memory()
{
    size_t available = 0, total = 0;
    void *all = nullptr;
    HIP_MUST(hipMemGetInfo(&available, &total));
    HIP_MUST(hipMalloc(&all, available / 2));
    HIP_MUST(hipFree(all));
}

// What is not this process's can neither be freed nor read.
static void steal(char *own)
{
    char byte;
    for (int i = 1; i < 64; i++) {
        char *other = own + i * 65536;
        if (hipFree(other) == hipSuccess
            || hipMemcpy(&byte, other, 1, hipMemcpyDeviceToHost) == hipSuccess) {
            std::printf("FAIL neighbours: %p is another's\n", static_cast<void *>(other));
            std::exit(1);
        }
    }
}

static int fault()
{
    stray<<<1, 1>>>();
    const hipError_t error = hipDeviceSynchronize();
    std::printf("%s neighbours: the fault is %s\n", error == hipSuccess ? "FAIL" : "PASS",
                hipGetErrorName(error));
    return error == hipSuccess;
}

static void launch_all(const memory &m, unsigned seed, int launches, int count)
{
    const unsigned blocks = (static_cast<unsigned>(count) + 63) / 64;
    hipStream_t stream[2] = {nullptr, nullptr};
    hipEvent_t done[2];
    for (int i = 0; i < 2 && m.how == "streams"; i++) {
        HIP_MUST(hipStreamCreateWithFlags(&stream[i], hipStreamNonBlocking));
        HIP_MUST(hipEventCreate(&done[i]));
    }
    for (int i = 0; i < launches; i++) {
        if (i > 0 && stream[0]) {
            HIP_MUST(hipStreamWaitEvent(stream[i % 2], done[(i + 1) % 2], 0));
        }
        step<<<blocks, 64, 0, stream[i % 2]>>>(m.data, seed, count);
        if (stream[0]) {
            HIP_MUST(hipEventRecord(done[i % 2], stream[i % 2]));
        } else {
            HIP_MUST(hipDeviceSynchronize());
        }
        if (m.how == "prints") {
            tell<<<1, 64>>>(seed);
        }
        if (m.how == "sleeps") {
            usleep(20000);
        }
    }
    for (int i = 0; i < 2 && m.how == "streams"; i++) {
        HIP_MUST(hipEventDestroy(done[i]));
        HIP_MUST(hipStreamDestroy(stream[i])); // once its kernels are done
    }
}

int main(int argc, char **argv)
{
    const int gpu = argc > 1 ? std::atoi(argv[1]) : 0;
    const int launches = size_argument(argc, argv, 2, 3),
              count = size_argument(argc, argv, 3, 1024);
    const std::string how = argc > 4 ? argv[4] : "device";
    const unsigned seed = static_cast<unsigned>(launches * 1000 + count);
    std::vector<unsigned> data(static_cast<size_t>(count)), want(data.size());
    HIP_MUST(hipSetDevice(gpu));
    if (how == "greedy") {
        take_all_memory();
    } else if (how == "free") {
        say_free_memory();
    }
    memory m = make(how, data.size() * sizeof data[0]);
    if (how == "computes") {
        compute(m.data);
    }
    for (size_t i = 0; i < data.size(); i++) {
        want[i] = data[i] = static_cast<unsigned>(i);
        for (int k = 0; k < launches; k++) {
            want[i] = want[i] * 3u + seed;
        }
    }
    put(m, data);
    if (how == "thief") {
        look_at_arguments(static_cast<unsigned>(count));
    }
    launch_all(m, seed, launches, count);
    if (how == "die") {
        for (int i = 0; i < 8; i++) {
            step<<<static_cast<unsigned>(count), 64>>>(m.data, seed, count);
        }
        (void)hipStreamQuery(nullptr);
        raise(SIGKILL);
    }
    if (how == "thief") {
        steal(reinterpret_cast<char *>(m.data));
        if (unsigned found = *look_at_arguments(static_cast<unsigned>(count))) {
            std::printf("FAIL neighbours: arguments of another's kernel are seen, %u\n", found);
            return 1;
        }
    }
    get(m, data);
    if (!same_or_report("neighbours", data, want)) {
        return 1;
    }
    if (how == "fault") {
        return fault();
    }
    HIP_MUST(how == "pinned" ? hipHostFree(m.data) : hipFree(m.data));
    return pass("neighbours");
}
