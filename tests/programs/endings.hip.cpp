// Waits in kernels, for HIP and for CUDA: `endings CASE`. Those of the first list never end, and a
// run has to say so; those of the second end after a long wait, and a run must not end them.
#ifdef __CUDACC__
#include <cuda_runtime.h>
#define GPU(name) cuda##name
#else
#include <hip/hip_runtime.h>
#define GPU(name) hip##name
#endif

#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

constexpr int words = 1 << 16;

__device__ static int read(int *word)
{
    return *static_cast<volatile int *>(word);
}

__device__ static void lock(int *word)
{
    while (atomicCAS(word, 0, 1) != 0) {
    }
}

// ---- never end ----

__global__ void flag(int *word) // that nobody sets
{
    while (read(&word[3]) == 0) {
    }
}

__global__ void held(int *word) // a lock that its first owner keeps
{
    if (threadIdx.x == 0) {
        lock(word);
        word[1] = blockIdx.x;
    }
}

__global__ void crossed(int *word) // two locks, in two orders
{
    if (threadIdx.x == 0) {
        lock(&word[blockIdx.x % 2]);
        atomicAdd(&word[2], 1);
        while (read(&word[2]) < 2) {
        }
        lock(&word[1 - blockIdx.x % 2]);
        word[3] = 1;
    }
}

__global__ void exchanged(int *word) // a lock that is taken by an exchange
{
    if (threadIdx.x == 0) {
        while (atomicExch(word, 1) != 0) {
        }
    }
}

__global__ void barrier(int *word) // one wavefront waits for another, which is at the barrier
{
    if (threadIdx.x < 64) {
        while (read(word) == 0) {
        }
    }
    __syncthreads();
    word[0] = 1;
}

__global__ void shared(int *word)
{
    __shared__ int there[64];
    there[threadIdx.x % 64] = 0;
    __syncthreads();
    while (read(&there[5]) == 0) {
    }
    word[0] = there[0];
}

__global__ void crowd(int *word) // a barrier of more blocks than the device holds
{
    if (threadIdx.x == 0) {
        atomicAdd(word, 1);
        while (read(word) < static_cast<int>(gridDim.x)) {
        }
    }
}

__global__ void nothing(int *word) // loops without an access
{
    while (word) {
#ifdef __CUDACC__
        asm volatile("nanosleep.u32 100;");
#else
        __builtin_amdgcn_s_sleep(1);
#endif
    }
}

// ---- end ----

__global__ void bounded(int *word) // gives up after a while
{
    for (int i = 0; i < 300000 && read(word) == 0; i++) {
    }
}

__global__ void clocked(int *word) // until a time
{
    long long until = clock64() + 200000;
    while (read(word) == 0 && clock64() < until) {
    }
}

__global__ void worked(int *word) // the block that is waited for has much to do
{
    if (blockIdx.x == 0) {
        while (read(word) == 0) {
        }
    } else {
        unsigned x = 1;
        for (int i = 0; i < 300000; i++) {
            x = x * 1664525u + 1013904223u;
        }
        word[1] = static_cast<int>(x);
        atomicExch(word, 1);
    }
}

__global__ void stored(int *word) // it does so in memory only
{
    if (blockIdx.x == 0) {
        while (read(word) == 0) {
        }
    } else {
        for (int i = 0; i < 20000; i++) {
            for (int k = 8; k < 24; k++) {
                *static_cast<volatile int *>(&word[k]) = 0;
            }
            if (atomicAdd(&word[1], 1) == 19999) {
                atomicExch(word, 1);
            }
        }
    }
}

__global__ void passed(int *word) // a token that goes round between the lanes' blocks
{
    if (threadIdx.x == 0) {
        for (int turn = 0; turn < 200; turn++) {
            while (read(word) != static_cast<int>(blockIdx.x)) {
            }
            __threadfence();
            atomicExch(word, static_cast<int>((blockIdx.x + 1) % gridDim.x));
        }
    }
}

struct ending {
    const char *name;
    void (*kernel)(int *);
    int blocks, threads;
};

static const ending endings[] = {
    {"flag", flag, 2, 64},        {"held", held, 4, 64},         {"crossed", crossed, 2, 64},
    {"exchanged", exchanged, 3, 64}, {"barrier", barrier, 1, 128}, {"shared", shared, 1, 128},
    {"crowd", crowd, 5000, 64},   {"nothing", nothing, 1, 64},   {"host", flag, 1, 64},
    {"streams", flag, 1, 64},     {"copied", flag, 1, 64},
    {"bounded", bounded, 1, 64},  {"clocked", clocked, 1, 64},   {"worked", worked, 2, 64},
    {"stored", stored, 2, 64},    {"passed", passed, 8, 64}};

// In another stream: a kernel that waits as well, or a copy to the flag.
static void beside(const char *name, int *word)
{
    static const int one = 1;
    GPU(Stream_t) stream;
    GPU(StreamCreateWithFlags)(&stream, GPU(StreamNonBlocking));
    if (!std::strcmp(name, "copied")) {
        GPU(MemcpyAsync)(&word[3], &one, sizeof one, GPU(MemcpyHostToDevice), stream);
    } else {
        crossed<<<1, 64, 0, stream>>>(&word[8]);
    }
}

int main(int argc, char **argv)
{
    int *word = nullptr;
    bool host = argc > 1 && !std::strcmp(argv[1], "host");
    for (const ending &e : endings) {
        if (argc != 2 || std::strcmp(argv[1], e.name)) {
            continue;
        }
        GPU(Malloc)(reinterpret_cast<void **>(&word), words * sizeof(int));
        GPU(Memset)(word, 0, words * sizeof(int));
        std::thread sets;
        if (host) { // another thread has the flag set, after a while
            sets = std::thread([word] {
                std::this_thread::sleep_for(std::chrono::seconds(1));
                beside("copied", word);
            });
        }
        e.kernel<<<e.blocks, e.threads>>>(word);
        if (!std::strcmp(e.name, "streams") || !std::strcmp(e.name, "copied")) {
            beside(e.name, word);
        }
        int error = static_cast<int>(GPU(DeviceSynchronize)());
        if (host) {
            sets.join();
        }
        std::printf("%s endings %s: %d\n", error ? "FAIL" : "PASS", e.name, error);
        return error != 0;
    }
    std::printf("FAIL endings: no case of that name\n");
    return 2;
}
