// Devices and mappings that a program makes through heddle_hip.h: remapped pages, contexts, unified GPUs, and misuse, after
// each of which everything goes on. Needs two GPUs that reach each other. Arguments: [bytes of a page]; with a second
// argument, device addresses come round once, which takes as much memory as there are addresses: use large pages.
#include "check.hpp"
#include "components/hip/api/heddle_hip.h"

static const char *const name = "own_devices";

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::printf("FAIL %s: line %d: %s\n", name, __LINE__, #condition);                     \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

__device__ int base = 7;

__global__ void add(const int *from, int *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        to[i] = from[i] + base;
    }
}

// Writes numbers from `seed` on, lets the kernel add 7 to them, and looks at the result.
static void use(int *from, int *to, int n, int seed)
{
    std::vector<int> data(n), got(n);
    for (int i = 0; i < n; i++) {
        data[i] = seed * 100003 + i;
    }
    HIP_MUST(hipMemcpy(from, data.data(), n * sizeof(int), hipMemcpyHostToDevice));
    add<<<blocks_for(n, 64), 64>>>(from, to, n);
    HIP_MUST(hipGetLastError());
    HIP_MUST(hipMemcpy(got.data(), to, n * sizeof(int), hipMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        CHECK(got[i] == data[i] + 7);
    }
}

static int *allocate(size_t bytes)
{
    void *pointer = nullptr;
    HIP_MUST(hipMalloc(&pointer, bytes));
    return static_cast<int *>(pointer);
}

static int owner(const void *pointer)
{
    int gpu = -1;
    HIP_MUST(static_cast<hipError_t>(heddlePageOwner(&gpu, pointer)));
    return gpu;
}

// TLBs that were filled by a kernel must not find the old pages any more.
static void remaps(size_t page)
{
    int n = 200;
    char *from = reinterpret_cast<char *>(allocate(3 * page)), *to = reinterpret_cast<char *>(allocate(page));
    int *late = reinterpret_cast<int *>(from + page);
    use(late, reinterpret_cast<int *>(to), n, 1);
    CHECK(heddleRemap(from + page, n * sizeof(int), 1) == hipSuccess);
    CHECK(owner(from) == 0 && owner(late) == 1 && owner(from + 2 * page) == 0);
    use(late, reinterpret_cast<int *>(to), n, 2);
    CHECK(heddleRemap(to, 1, 1) == hipSuccess);
    CHECK(heddleRemap(late, 1, 0) == hipSuccess);
    CHECK(owner(late) == 0 && owner(to) == 1);
    use(late, reinterpret_cast<int *>(to), n, 3);
    CHECK(heddleRemap(from, 3 * page + 1, 1) == hipErrorInvalidValue);
    CHECK(heddleRemap(from, 1, 99) == hipErrorInvalidDevice && heddleRemap(from, 1, -1) == hipErrorInvalidDevice);
    CHECK(heddleRemap(&n, 4, 1) == hipErrorInvalidValue);
    CHECK(hipGetLastError() == hipErrorInvalidValue);
    HIP_MUST(hipFree(from));
    HIP_MUST(hipFree(to));
}

// Two contexts on one GPU: each with memory, code, device variables, streams and managed memory of its own.
static void contexts()
{
    int first = -1, second = -1, n = 300, value = 7;
    size_t before = 0, after = 0, total = 0;
    HIP_MUST(hipMemGetInfo(&before, &total));
    CHECK(heddleCreateContext(&first, 0) == hipSuccess && heddleCreateContext(&second, 0) == hipSuccess);
    CHECK(first != second && first > 0 && second > 0);
    int *memory[2][2], other = 1000;
    hipStream_t stream;
    for (int c = 0; c < 2; c++) {
        HIP_MUST(hipSetDevice(c ? second : first));
        memory[c][0] = allocate(n * sizeof(int));
        memory[c][1] = allocate(n * sizeof(int));
        HIP_MUST(hipMemcpyToSymbol(HIP_SYMBOL(base), c ? &other : &value, sizeof value));
        HIP_MUST(hipStreamCreate(&stream));
    }
    HIP_MUST(hipSetDevice(first));
    use(memory[0][0], memory[0][1], n, 4); // its variable is still 7
    HIP_MUST(hipMemcpy(memory[1][0], memory[0][1], n * sizeof(int), hipMemcpyDefault)); // copies go between them
    HIP_MUST(hipSetDevice(0));
    CHECK(heddleDestroyDevice(second) == hipSuccess);
    CHECK(heddleDestroyDevice(second) == hipErrorInvalidDevice && hipSetDevice(second) == hipErrorInvalidDevice);
    CHECK(hipFree(memory[1][0]) == hipErrorInvalidValue);
    CHECK(hipStreamSynchronize(stream) == hipErrorInvalidHandle);
    add<<<1, 64, 0, stream>>>(memory[0][0], memory[0][1], 1);
    CHECK(hipGetLastError() == hipErrorInvalidHandle);
    HIP_MUST(hipSetDevice(first));
    CHECK(heddleDestroyDevice(first) == hipErrorInvalidDevice); // it is in use by this thread
    CHECK(hipGetLastError() == hipErrorInvalidDevice);
    use(memory[0][0], memory[0][1], n, 5);
    CHECK(heddleCreateContext(&second, first) == hipSuccess); // a place that is free again
    HIP_MUST(hipSetDevice(second));
    int *again = allocate(n * sizeof(int));
    use(again, again, n, 6);
    HIP_MUST(hipSetDevice(0));
    CHECK(heddleDestroyDevice(first) == hipSuccess && heddleDestroyDevice(second) == hipSuccess);
    HIP_MUST(hipMemGetInfo(&after, &total));
    CHECK(before == after);
    CHECK(heddleDestroyDevice(0) == hipErrorInvalidDevice && heddleDestroyDevice(99) == hipErrorInvalidDevice);
    CHECK(heddleCreateContext(&first, 99) == hipErrorInvalidDevice);
    CHECK(heddleCreateContext(nullptr, 0) == hipErrorInvalidValue);
    CHECK(hipGetLastError() == hipErrorInvalidValue);
}

// GPU 0 is part of two unified devices and of none. 15 pages: 0-7 and 8-14.
static void unified(size_t page)
{
    const int both[] = {0, 1}, turned[] = {1, 0}, wrong[] = {0, 99}, twice[] = {1, 1};
    int device = -1, other = -1, one = -1, n = 700;
    CHECK(heddleUnifyDevices(&device, both, 2) == hipSuccess && heddleUnifyDevices(&other, turned, 2) == hipSuccess);
    CHECK(heddleUnifyDevices(&one, wrong, 2) == hipErrorInvalidDevice);
    CHECK(heddleUnifyDevices(&one, twice, 2) == hipErrorInvalidValue);
    CHECK(heddleUnifyDevices(&one, both, 0) == hipErrorInvalidValue);
    CHECK(hipGetLastError() == hipErrorInvalidValue);
    hipDeviceProp_t gpu, whole;
    HIP_MUST(hipGetDeviceProperties(&gpu, 0));
    HIP_MUST(hipGetDeviceProperties(&whole, device));
    CHECK(whole.multiProcessorCount == 2 * gpu.multiProcessorCount && whole.totalGlobalMem == 2 * gpu.totalGlobalMem);
    for (int d = 0; d < 2; d++) {
        HIP_MUST(hipSetDevice(d ? other : device));
        int *memory = allocate(15 * page), *to = allocate(n * sizeof(int));
        for (int i = 0; i < 15; i++) {
            CHECK(owner(reinterpret_cast<char *>(memory) + i * page) == (i < 8 ? d : 1 - d));
        }
        use(memory, to, n, 7 + d);
        use(memory, to, 1, 9 + d); // one work-group: one GPU has nothing to do
        HIP_MUST(hipFree(memory));
        HIP_MUST(hipFree(to));
    }
    HIP_MUST(hipSetDevice(0));
    CHECK(heddleDestroyDevice(device) == hipSuccess && heddleDestroyDevice(other) == hipSuccess);
}

// Addresses that were freed are handed out again after all others, and find the new pages.
static void addresses_come_round()
{
    size_t most = 0, total = 0, bytes;
    HIP_MUST(hipMemGetInfo(&most, &total));
    bytes = most / 2;
    int *first = allocate(bytes), *to = allocate(4096), rounds = 0, *again = nullptr;
    use(first, to, 900, 20);
    HIP_MUST(hipFree(first));
    int *held = allocate(4096); // has the physical page that was the first one's
    while (again != first && rounds++ < 100000) {
        again = allocate(bytes);
        if (again != first) {
            HIP_MUST(hipFree(again));
        }
    }
    CHECK(again == first);
    use(held, to, 900, 21);
    use(again, to, 900, 22);
    HIP_MUST(hipFree(again));
    HIP_MUST(hipFree(held));
    HIP_MUST(hipFree(to));
}

int main(int argc, char **argv)
{
    size_t page = size_argument(argc, argv, 1, 4096);
    int count = 0, device = 0;
    HIP_MUST(hipGetDeviceCount(&count));
    CHECK(heddleRemap && heddleCreateContext && heddleUnifyDevices && heddleDestroyDevice && heddlePageOwner);
    CHECK(count >= 2);
    if (argc > 2) {
        addresses_come_round();
        return pass(name);
    }
    remaps(page);
    contexts();
    unified(page);
    HIP_MUST(hipGetDevice(&device));
    CHECK(device == 0);
    remaps(page);
    return pass(name);
}
