// Managed memory that may be larger than the card, in three patterns of access: `stream` reads and writes each element once a round, in
// order; `random` updates elements anywhere, of 64 neighbours at a time; `stencil` goes to and fro between two halves. The host changes and
// checks elements between rounds. `walk` is one thread that changes a word of one page after the other, 256 a round, as a test predicts.
// At the end it says how many pages lie on GPUs. Arguments: pattern [KiB] [rounds] [advice], the advice none, prefetch, back (to the host after
// each round), remote, read, accessed, allocate (half a mebibyte by hipMalloc after the
// first round), or private (a kernel with private memory after it).
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "check.hpp"

constexpr int block = 64, groups = 32, page_words = 1024, walk_steps = 256;

extern "C" __attribute__((weak)) int heddlePageOwner(int *gpu, const void *pointer);

__global__ void stream(unsigned *data, unsigned n, unsigned round)
{
    for (unsigned i = blockIdx.x * block + threadIdx.x; i < n; i += groups * block) {
        data[i] = data[i] * 3 + round;
    }
}

__host__ __device__ static unsigned scatter(unsigned i, unsigned round)
{
    unsigned x = (i + round * 0x9e3779b9u) * 0x85ebca6bu;
    x ^= x >> 15;
    return x * 0xc2b2ae35u >> 8;
}

// One wavefront updates 64 neighbours, an eighth of all in a round.
__global__ void random_updates(unsigned *data, unsigned n, unsigned round)
{
    for (unsigned step = blockIdx.x; step < n / block / 8; step += groups) {
        unsigned at = scatter(step, round) % (n / block) * block + threadIdx.x;
        atomicAdd(&data[at], step * 7 + round);
    }
}

__global__ void stencil(const unsigned *from, unsigned *to, unsigned n)
{
    for (unsigned i = blockIdx.x * block + threadIdx.x; i < n; i += groups * block) {
        to[i] = from[i ? i - 1 : n - 1] + 2 * from[i] + from[i + 1 < n ? i + 1 : 0];
    }
}

__host__ __device__ static unsigned walk_page(unsigned step, unsigned pages)
{
    unsigned near = step % 4 ? step / 4 * 4 : step; // three of four steps stay near the last one that did not
    return (scatter(near, 0) + step % 4) % pages;
}

__global__ void walk(unsigned *data, unsigned n, unsigned round)
{
    for (unsigned step = round * walk_steps; step < (round + 1) * walk_steps; step++) {
        volatile unsigned *word = &data[walk_page(step, n / page_words) * page_words + step % page_words];
        *word = *word + step;
    }
}

// The array is in private memory, since its index is not known before.
__global__ void sort_privately(unsigned *out)
{
    unsigned own[48], x = threadIdx.x + blockIdx.x * block;
    for (unsigned &value : own) {
        value = x = x * 1664525 + 1013904223;
    }
    for (unsigned i = 1; i < 48; i++) {
        for (unsigned k = i; k && own[k - 1] > own[k]; k--) {
            unsigned swapped = own[k];
            own[k] = own[k - 1];
            own[k - 1] = swapped;
        }
    }
    out[threadIdx.x + blockIdx.x * block] = own[own[0] % 48];
}

static unsigned sort_here(unsigned x)
{
    std::vector<unsigned> own(48);
    for (unsigned &value : own) {
        value = x = x * 1664525 + 1013904223;
    }
    std::sort(own.begin(), own.end());
    return own[own[0] % 48];
}

static void expect_round(const char *pattern, std::vector<unsigned> &want, unsigned round)
{
    unsigned n = static_cast<unsigned>(want.size()), half = n / 2;
    if (!std::strcmp(pattern, "stream")) {
        for (unsigned &value : want) {
            value = value * 3 + round;
        }
    } else if (!std::strcmp(pattern, "random")) {
        for (unsigned step = 0; step < n / block / 8; step++) {
            for (unsigned i = 0; i < block; i++) {
                want[scatter(step, round) % (n / block) * block + i] += step * 7 + round;
            }
        }
    } else if (!std::strcmp(pattern, "walk")) {
        for (unsigned step = round * walk_steps; step < (round + 1) * walk_steps; step++) {
            want[walk_page(step, n / page_words) * page_words + step % page_words] += step;
        }
    } else {
        const unsigned *from = want.data() + (round % 2 ? half : 0);
        unsigned *to = want.data() + (round % 2 ? 0 : half);
        for (unsigned i = 0; i < half; i++) {
            to[i] = from[i ? i - 1 : half - 1] + 2 * from[i] + from[i + 1 < half ? i + 1 : 0];
        }
    }
}

static void launch_round(const char *pattern, unsigned *data, unsigned n, unsigned round)
{
    if (!std::strcmp(pattern, "stream")) {
        stream<<<groups, block>>>(data, n, round);
    } else if (!std::strcmp(pattern, "random")) {
        random_updates<<<groups, block>>>(data, n, round);
    } else if (!std::strcmp(pattern, "walk")) {
        walk<<<1, 1>>>(data, n, round);
    } else {
        unsigned half = n / 2;
        stencil<<<groups, block>>>(data + (round % 2 ? half : 0), data + (round % 2 ? 0 : half), half);
    }
    HIP_MUST(hipGetLastError());
}

// Pages on GPUs; -1: the library does not say.
static int resident_pages(const unsigned *data, unsigned n)
{
    int resident = 0;
    for (unsigned at = 0; heddlePageOwner && at < n; at += page_words) {
        int gpu = -1;
        HIP_MUST(static_cast<hipError_t>(heddlePageOwner(&gpu, data + at)));
        resident += gpu >= 0;
    }
    return heddlePageOwner ? resident : -1;
}

static void advise(const char *advice, unsigned *data, size_t size)
{
    if (!std::strcmp(advice, "prefetch")) {
        HIP_MUST(hipMemPrefetchAsync(data, size, 0, nullptr));
    } else if (!std::strcmp(advice, "remote")) {
        HIP_MUST(hipMemAdvise(data, size, hipMemAdviseSetPreferredLocation, hipCpuDeviceId));
    } else if (!std::strcmp(advice, "read")) {
        HIP_MUST(hipMemAdvise(data, size, hipMemAdviseSetReadMostly, 0));
    } else if (!std::strcmp(advice, "accessed")) {
        HIP_MUST(hipMemAdvise(data, size, hipMemAdviseSetAccessedBy, 0));
    }
}

static void between_rounds(const char *advice, unsigned *data, size_t size, unsigned round, const std::vector<unsigned> &keep)
{
    if (!std::strcmp(advice, "back")) {
        HIP_MUST(hipMemPrefetchAsync(data, size, hipCpuDeviceId, nullptr));
    } else if (!std::strcmp(advice, "private") && round == 0) {
        std::vector<unsigned> want(4 * block);
        for (unsigned i = 0; i < want.size(); i++) {
            want[i] = sort_here(i);
            data[i] = 0;
        }
        sort_privately<<<4, block>>>(data);
        HIP_MUST(hipDeviceSynchronize());
        std::vector<unsigned> got(data, data + want.size());
        if (!same_or_report("oversubscribe", got, want)) {
            std::exit(1);
        }
        std::copy(keep.begin(), keep.begin() + 4 * block, data);
    } else if (!std::strcmp(advice, "allocate") && round == 0) {
        std::vector<unsigned> want(1 << 17, 0x05050505), got(want.size());
        unsigned *own = nullptr;
        HIP_MUST(hipMalloc(reinterpret_cast<void **>(&own), want.size() * sizeof(unsigned)));
        HIP_MUST(hipMemset(own, 5, want.size() * sizeof(unsigned)));
        HIP_MUST(hipMemcpy(got.data(), own, want.size() * sizeof(unsigned), hipMemcpyDeviceToHost));
        if (!same_or_report("oversubscribe", got, want)) {
            std::exit(1);
        }
    }
}

int main(int argc, char **argv)
{
    const char *pattern = argc > 1 ? argv[1] : "stream", *advice = argc > 4 ? argv[4] : "none";
    unsigned n = static_cast<unsigned>(size_argument(argc, argv, 2, 512)) * 256;
    unsigned rounds = static_cast<unsigned>(size_argument(argc, argv, 3, 3));
    unsigned *data = nullptr;
    int devices = 0;
    HIP_MUST(hipGetDeviceCount(&devices));
    hipError_t allocated = hipMallocManaged(reinterpret_cast<void **>(&data), n * sizeof(unsigned));
    if (allocated != hipSuccess) {
        std::printf("FAIL oversubscribe: %s\n", hipGetErrorName(allocated));
        return 1;
    }
    std::vector<unsigned> want(n);
    for (unsigned i = 0; i < n; i++) {
        data[i] = want[i] = i * 2654435761u;
    }
    advise(advice, data, n * sizeof(unsigned));
    for (unsigned round = 0; round < rounds; round++) {
        HIP_MUST(hipSetDevice(static_cast<int>(round) % devices));
        launch_round(pattern, data, n, round);
        HIP_MUST(hipDeviceSynchronize());
        expect_round(pattern, want, round);
        unsigned at = scatter(round, 77) % n;
        if (data[at] != want[at]) {
            std::printf("FAIL oversubscribe: round %u, element %u is %u, expected %u\n", round, at, data[at], want[at]);
            return 1;
        }
        data[at] = want[at] = round;
        between_rounds(advice, data, n * sizeof(unsigned), round, want);
    }
    std::vector<unsigned> got(data, data + n);
    if (!same_or_report("oversubscribe", got, want)) {
        return 1;
    }
    std::printf("resident %d\n", resident_pages(data, n));
    HIP_MUST(hipFree(data));
    return pass("oversubscribe");
}
