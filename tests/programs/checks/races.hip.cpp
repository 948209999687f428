// Races, as cases.hpp says.
#include "cases.hpp"

template <bool wrong> __global__ void lds_barrier(int *data, int *, int) // lds_barrier: race
{
    __shared__ int kept[256];
    kept[threadIdx.x] = data[threadIdx.x]; // lds_barrier: first
    if (!wrong) {
        __syncthreads();
    }
    data[threadIdx.x] = kept[255 - threadIdx.x]; // lds_barrier: second
}

template <bool wrong> __global__ void lds_tree(int *data, int *, int) // lds_tree: race
{
    __shared__ int sum[256];
    sum[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    for (unsigned half = 128; half; half /= 2) {
        int other = threadIdx.x < half ? sum[threadIdx.x + half] : 0; // lds_tree: first
        if (threadIdx.x < half) {
            sum[threadIdx.x] += other; // lds_tree: second
        }
        if (!wrong || half == 1) {
            __syncthreads();
        }
    }
    data[threadIdx.x] = sum[0];
}

template <bool wrong> __global__ void lds_tile(int *data, int *more, int) // lds_tile: race
{
    __shared__ int tile[256];
    int sum = 0;
    for (int part = 0; part < 4; part++) {
        tile[threadIdx.x] = data[256 * part + threadIdx.x]; // lds_tile: first
        __syncthreads();
        sum += tile[(threadIdx.x + 64) % 256]; // lds_tile: second
        if (!wrong) {
            __syncthreads();
        }
    }
    more[threadIdx.x] = sum;
}

template <bool wrong> __global__ void lds_bytes(int *data, int *, int) // lds_bytes: race
{
    __shared__ char kept[512];
    unsigned step = wrong ? 1 : 2;
    kept[step * threadIdx.x] = static_cast<char>(data[threadIdx.x]); // lds_bytes: first
    kept[step * threadIdx.x + 1] = 1;                                // lds_bytes: second
    __syncthreads();
    data[threadIdx.x] = kept[threadIdx.x];
}

template <bool wrong> __global__ void lds_total(int *data, int *more, int) // lds_total: race
{
    __shared__ int total;
    if (threadIdx.x == 0) {
        total = 0;
    }
    __syncthreads();
    if (threadIdx.x % 64 == 0) {
        atomicAdd(&total, data[threadIdx.x] + 1); // lds_total: first
    }
    if (!wrong) {
        __syncthreads();
    }
    more[threadIdx.x] = total; // lds_total: second
}

template <bool wrong> __global__ void lds_zero(int *data, int *more, int) // lds_zero: race
{
    __shared__ int total;
    if (threadIdx.x == 0) {
        total = 0; // lds_zero: first
    }
    if (!wrong) {
        __syncthreads();
    }
    if (threadIdx.x % 64 == 0) {
        atomicAdd(&total, data[threadIdx.x] + 1); // lds_zero: second
    }
    __syncthreads();
    more[threadIdx.x] = total;
}

template <bool wrong> __global__ void neighbour(int *data, int *more, int) // neighbour: race
{
    data[threadIdx.x] = static_cast<int>(threadIdx.x); // neighbour: first
    if (!wrong) {
        __syncthreads();
    }
    more[threadIdx.x] = data[(threadIdx.x + 64) % 256]; // neighbour: second
}

template <bool wrong> __global__ void group_sum(int *data, int *, int) // group_sum: race
{
    if (threadIdx.x == 0) {
        if (wrong) {
            data[0] += static_cast<int>(blockIdx.x) + 1; // group_sum: first
        } else {
            atomicAdd(data, static_cast<int>(blockIdx.x) + 1);
        }
    }
}

template <bool wrong> __global__ void halo(int *data, int *more, int n) // halo: race
{
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int *from = wrong ? data : more;
    int left = from[(i + n - 1) % n]; // halo: first
    data[i] = left + i + 1;           // halo: second
}

// The first group writes, the second one waits for the flag.
template <bool wrong> __global__ void no_release(int *data, int *more, int) // no_release: race
{
    volatile int *flag = more;
    if (blockIdx.x == 0) {
        data[threadIdx.x] = 7; // no_release: first
        if (!wrong) {
            __threadfence();
        }
        if (threadIdx.x == 0) {
            *flag = 1;
        }
        return;
    }
    while (*flag == 0) {
    }
    __threadfence();
    more[64 + threadIdx.x] = data[threadIdx.x]; // no_release: second
}

template <bool wrong> __global__ void no_acquire(int *data, int *more, int) // no_acquire: race
{
    volatile int *flag = more;
    if (blockIdx.x == 0) {
        data[threadIdx.x] = 7; // no_acquire: first
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) {
            *flag = 1;
        }
        return;
    }
    while (*flag == 0) {
    }
    if (!wrong) {
        __threadfence();
    }
    more[64 + threadIdx.x] = data[threadIdx.x]; // no_acquire: second
}

template <bool wrong> __global__ void narrow_scope(int *data, int *more, int) // narrow_scope: race
{
    volatile int *flag = more;
    if (blockIdx.x == 0) {
        data[threadIdx.x] = 7; // narrow_scope: first
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) {
            *flag = 1;
        }
        return;
    }
    while (*flag == 0) {
    }
    if (wrong) {
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    } else {
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
    }
    more[64 + threadIdx.x] = data[threadIdx.x]; // narrow_scope: second
}

// The last group adds up what all have left, and sets the count back for the next launch.
template <bool wrong> __global__ void last_group(int *data, int *more, int) // last_group: race
{
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        data[64 * blockIdx.x] = static_cast<int>(blockIdx.x) + 1; // last_group: first
        __threadfence();
        is_last = atomicAdd(more, 1) == static_cast<int>(gridDim.x) - 1;
        if (!wrong) {
            __threadfence();
        }
    }
    __syncthreads();
    if (is_last && threadIdx.x < gridDim.x) {
        more[64 + threadIdx.x] = data[64 * threadIdx.x]; // last_group: second
        more[0] = 0;
    }
}

// The line of an atomic is the caller's, though it is inlined from a header.
template <bool wrong> __global__ void plain_read(int *data, int *more, int) // plain_read: race
{
    if (blockIdx.x == 0) {
        atomicAdd(data, 1); // plain_read: first
    } else {
        more[64 + threadIdx.x] = wrong ? data[0] : atomicAdd(data, 0); // plain_read: second
    }
}

template <bool wrong> __global__ void locked(int *data, int *more, int) // locked: race
{
    if (threadIdx.x != 0) {
        return;
    }
    while (!wrong && atomicCAS(more, 0, 1) != 0) {
    }
    __threadfence();
    data[0] = data[0] + static_cast<int>(blockIdx.x) + 1; // locked: first
    __threadfence();
    if (!wrong) {
        atomicExch(more, 0);
    }
}

template <bool wrong> __global__ void lanes(int *data, int *, int) // lanes: lanes-race
{
    data[wrong ? threadIdx.x / 2 : threadIdx.x] = static_cast<int>(threadIdx.x); // lanes: first
}

template <bool wrong> __global__ void one_more(int *data, int *, int) // one_more: race
{
    int begin = static_cast<int>(64 * blockIdx.x);
    for (int i = static_cast<int>(threadIdx.x); i < (wrong ? 65 : 64); i += 64) {
        data[begin + i] = static_cast<int>(blockIdx.x); // one_more: first
    }
}

template <bool wrong> __global__ void scatter(int *data, int *, int) // scatter: race
{
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    data[wrong ? i % 100 : i] = i; // scatter: first
}

template <bool wrong> __global__ void in_place(int *data, int *more, int n) // in_place: race
{
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    int *to = wrong ? data : more;
    int sum = data[i] + data[(i + 64) % n]; // in_place: first
    to[i] = sum + i;                        // in_place: second
}

template <bool wrong> __global__ void bytes(int *data, int *, int) // bytes: race
{
    if (threadIdx.x != 0) {
        return;
    }
    if (wrong) {
        data[0] |= 1 << 8 * blockIdx.x; // bytes: first
    } else {
        reinterpret_cast<char *>(data)[blockIdx.x] = 1;
    }
}

template <bool wrong> __global__ void branches(int *data, int *more, int) // branches: race
{
    __shared__ int kept[256];
    if (threadIdx.x < 128) {
        kept[threadIdx.x] = data[threadIdx.x]; // branches: first
    }
    if (!wrong) {
        __syncthreads();
    }
    if (threadIdx.x >= 128) {
        more[threadIdx.x] = kept[threadIdx.x - 128]; // branches: second
    }
}

__global__ void fill(int *data, int value)
{
    data[threadIdx.x] = value; // streams: first, events: first
}

// streams: launch-race, events: launch-race
static int run_streams(bool events, bool wrong)
{
    hipStream_t first, second;
    hipEvent_t done;
    int *data;
    HIP_MUST(hipMalloc(reinterpret_cast<void **>(&data), 64 * sizeof(int)));
    HIP_MUST(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
    HIP_MUST(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
    HIP_MUST(hipEventCreate(&done));
    if (events && wrong) {
        HIP_MUST(hipEventRecord(done, first)); // before what is to be awaited
    }
    fill<<<1, 64, 0, first>>>(data, 1);
    if (events && !wrong) {
        HIP_MUST(hipEventRecord(done, first));
    }
    if (events) {
        HIP_MUST(hipStreamWaitEvent(second, done, 0));
    }
    fill<<<1, 64, 0, events || wrong ? second : first>>>(data, 2);
    HIP_MUST(hipDeviceSynchronize());
    HIP_MUST(hipEventDestroy(done));
    HIP_MUST(hipStreamDestroy(first));
    HIP_MUST(hipStreamDestroy(second));
    HIP_MUST(hipFree(data));
    return pass("streams");
}

#define CASE(name, groups, block) {#name, name<false>, name<true>, groups, block, true}

int main(int argc, char **argv)
{
    static const Case cases[] = {
        CASE(lds_barrier, 1, 256), CASE(lds_tree, 1, 256),    CASE(lds_tile, 1, 256),
        CASE(lds_bytes, 1, 256),   CASE(lds_total, 1, 256),   CASE(lds_zero, 1, 256),
        CASE(neighbour, 1, 256),   CASE(group_sum, 4, 64),    CASE(halo, 8, 64),
        CASE(no_release, 2, 64),   CASE(no_acquire, 2, 64),   CASE(narrow_scope, 2, 64),
        CASE(last_group, 4, 64),   CASE(locked, 4, 64),       CASE(lanes, 1, 64),
        CASE(one_more, 4, 64),     CASE(scatter, 4, 64),      CASE(in_place, 8, 64),
        CASE(bytes, 4, 64),        CASE(plain_read, 2, 64),
        CASE(branches, 1, 256)};
    const char *name = argc > 1 ? argv[1] : "";
    bool wrong = argc > 2 && std::strcmp(argv[2], "wrong") == 0;
    if (std::strcmp(name, "streams") == 0 || std::strcmp(name, "events") == 0) {
        return run_streams(name[0] == 'e', wrong);
    }
    return run_case(cases, sizeof cases / sizeof cases[0], name, wrong) ? 0 : 2;
}
