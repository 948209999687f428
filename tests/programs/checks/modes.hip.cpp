// How work-groups and wavefronts hand over data, each way in right and wrong form, as cases.hpp
// says.
#include "cases.hpp"

enum { WORK_GROUP = __HIP_MEMORY_SCOPE_WORKGROUP, AGENT = __HIP_MEMORY_SCOPE_AGENT };

// Two buffers need one barrier a step; a wavefront ahead by two steps writes what is still read.
template <bool wrong> __global__ void two_buffers(int *data, int *more, int) // two_buffers: race
{
    __shared__ int kept[2][256];
    int t = static_cast<int>(threadIdx.x), sum = 0;
    kept[0][t] = kept[1][t] = 0;
    __syncthreads();
    for (int step = 0; step < 6; step++) {
        kept[step % 2][t] = data[256 * step + t]; // two_buffers: first
        if (!wrong || step % 2 == 0) {
            __syncthreads();
        }
        sum += kept[step % 2][(t + 64) % 256]; // two_buffers: second
    }
    more[t] = sum;
}

// Sums of prefixes within one buffer: all read before any writes.
template <bool wrong> __global__ void prefix(int *data, int *, int) // prefix: race
{
    __shared__ int kept[256];
    int t = static_cast<int>(threadIdx.x);
    kept[t] = data[t];
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        int other = t >= step ? kept[t - step] : 0; // prefix: first
        if (!wrong) {
            __syncthreads();
        }
        kept[t] += other; // prefix: second
        __syncthreads();
    }
    data[t] = kept[t];
}

// The last steps of a sum are those of one wavefront, which needs no barrier; of two they are not.
template <bool wrong> __global__ void wave_tail(int *data, int *more, int) // wave_tail: race
{
    __shared__ volatile int kept[256];
    int t = static_cast<int>(threadIdx.x), lanes = wrong ? 128 : 64;
    kept[t] = data[t];
    __syncthreads();
    for (int half = 128; half >= lanes; half /= 2) {
        if (t < half) {
            kept[t] = kept[t] + kept[t + half];
        }
        __syncthreads();
    }
    for (int half = lanes / 2; half > 0 && t < lanes; half /= 2) {
        int sum = kept[t] + kept[(t + half) % 256]; // wave_tail: first
        kept[t] = sum;                              // wave_tail: second
    }
    if (t == 0) {
        more[0] = kept[0];
    }
}

// A row too long by a wavefront's elements lies in the next array.
template <bool wrong> __global__ void next_array(int *data, int *more, int n) // next_array: race
{
    __shared__ struct {
        int row[128], next[128];
    } kept;
    int t = static_cast<int>(threadIdx.x), *row = kept.row;
    kept.next[t] = 2 * data[t]; // next_array: first
    __builtin_amdgcn_s_sleep(1);
    row[t + (wrong ? n / 64 : 0)] = data[t] + 1; // next_array: second
    __syncthreads();
    more[t] = kept.next[t];
}

// Work-groups pass on data and set a flag.
template <bool wrong> __global__ void flag(int *data, int *more, int) // flag: race
{
    constexpr int store = wrong ? __ATOMIC_RELAXED : __ATOMIC_RELEASE;
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        data[0] = 7; // flag: first
        __hip_atomic_store(more, 1, store, AGENT);
    } else if (threadIdx.x == 0) {
        while (__hip_atomic_load(more, __ATOMIC_ACQUIRE, AGENT) == 0) {
        }
        data[1] = data[0]; // flag: second
    }
}

template <bool wrong> __global__ void relaxed_read(int *data, int *more, int) // relaxed_read: race
{
    constexpr int load = wrong ? __ATOMIC_RELAXED : __ATOMIC_ACQUIRE;
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        data[0] = 7; // relaxed_read: first
        __hip_atomic_store(more, 1, __ATOMIC_RELEASE, AGENT);
    } else if (threadIdx.x == 0) {
        while (__hip_atomic_load(more, load, AGENT) == 0) {
            __builtin_amdgcn_s_sleep(1);
        }
        data[1] = data[0]; // relaxed_read: second
    }
}

// Fences of a work-group do not reach others.
template <bool wrong> __global__ void near_fence(int *data, int *more, int) // near_fence: race
{
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        data[0] = 7; // near_fence: first
        wrong ? __threadfence_block() : __threadfence();
        atomicExch(more, 1);
    } else if (threadIdx.x == 0) {
        while (atomicAdd(more, 0) == 0) {
        }
        wrong ? __threadfence_block() : __threadfence();
        data[1] = data[0]; // near_fence: second
    }
}

template <bool wrong> __global__ void near_scope(int *data, int *more, int) // near_scope: race
{
    constexpr int scope = wrong ? WORK_GROUP : AGENT;
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        data[0] = 7; // near_scope: first
        __hip_atomic_fetch_add(more, 1, __ATOMIC_RELEASE, scope);
    } else if (threadIdx.x == 0) {
        while (__hip_atomic_exchange(more, 0, __ATOMIC_ACQUIRE, scope) == 0) {
        }
        data[1] = data[0]; // near_scope: second
    }
}

// Wavefronts of a work-group pass on data in the LDS and set a flag there.
template <bool wrong> __global__ void lds_flag(int *data, int *, int) // lds_flag: race
{
    __shared__ int kept[64], ready;
    int t = static_cast<int>(threadIdx.x);
    if (t == 0) {
        ready = 0;
    }
    __syncthreads();
    if (t < 64) {
        kept[t] = data[t] + 3; // lds_flag: first
        __hip_atomic_store(&ready, 1, __ATOMIC_RELEASE, WORK_GROUP);
    } else {
        while (!wrong && __hip_atomic_load(&ready, __ATOMIC_ACQUIRE, WORK_GROUP) == 0) {
        }
        data[t] = kept[t - 64]; // lds_flag: second
    }
}

template <bool wrong> __global__ void group_flag(int *data, int *more, int) // group_flag: race
{
    int t = static_cast<int>(threadIdx.x);
    if (t < 64) {
        data[t] = t + 3; // group_flag: first
        __hip_atomic_store(more, 1, __ATOMIC_RELEASE, WORK_GROUP);
    } else {
        while (!wrong && __hip_atomic_load(more, __ATOMIC_ACQUIRE, WORK_GROUP) == 0) {
        }
        data[t] = data[t - 64]; // group_flag: second
    }
}

template <bool wrong> __global__ void lds_lock(int *data, int *, int) // lds_lock: race
{
    __shared__ int lock, total;
    if (threadIdx.x == 0) {
        lock = total = 0;
    }
    __syncthreads();
    if (threadIdx.x % 64 == 0) {
        int held = 0;
        while (!wrong
               && !__hip_atomic_compare_exchange_strong(&lock, &held, 1, __ATOMIC_ACQUIRE,
                                                        __ATOMIC_RELAXED, WORK_GROUP)) {
            held = 0;
        }
        int sum = total + data[threadIdx.x] + 1; // lds_lock: first
        total = sum;                             // lds_lock: second
        __hip_atomic_store(&lock, 0, __ATOMIC_RELEASE, WORK_GROUP);
    }
    __syncthreads();
    data[threadIdx.x] = total;
}

// A lock whose holder gives it back without a fence.
template <bool wrong> __global__ void early_unlock(int *data, int *more, int) // early_unlock: race
{
    constexpr int store = wrong ? __ATOMIC_RELAXED : __ATOMIC_RELEASE;
    if (threadIdx.x == 0) {
        while (__hip_atomic_exchange(more, 1, __ATOMIC_ACQUIRE, AGENT) != 0) {
        }
        int sum = data[0] + static_cast<int>(blockIdx.x) + 1; // early_unlock: first
        data[0] = sum;                                        // early_unlock: second
        __hip_atomic_store(more, 0, store, AGENT);
    }
}

// A ticket lock: its holders take turns.
template <bool wrong> __global__ void tickets(int *data, int *more, int) // tickets: race
{
    constexpr int load = wrong ? __ATOMIC_RELAXED : __ATOMIC_ACQUIRE;
    if (threadIdx.x == 0) {
        int own = __hip_atomic_fetch_add(more, 1, __ATOMIC_RELAXED, AGENT);
        while (__hip_atomic_load(more + 64, load, AGENT) != own) {
        }
        int sum = data[0] + own; // tickets: first
        data[0] = sum;           // tickets: second
        __hip_atomic_fetch_add(more + 64, 1, __ATOMIC_RELEASE, AGENT);
    }
}

// Work-groups take items by a counter.
template <bool wrong> __global__ void work_queue(int *data, int *more, int) // work_queue: race
{
    if (threadIdx.x == 0) {
        for (int i = 0; i < 4; i++) {
            int item = wrong ? (*more)++ : atomicAdd(more, 1); // work_queue: first
            data[16 * blockIdx.x + i] = item;
        }
    }
}

// A barrier of all work-groups, made of a counter.
template <bool wrong> __global__ void all_groups(int *data, int *more, int) // all_groups: race
{
    int t = static_cast<int>(threadIdx.x), b = static_cast<int>(blockIdx.x);
    int count = static_cast<int>(gridDim.x);
    data[64 * b + t] = b + 1; // all_groups: first
    __syncthreads();
    if (t == 0) {
        __hip_atomic_fetch_add(more, 1, wrong ? __ATOMIC_RELAXED : __ATOMIC_RELEASE, AGENT);
        while (__hip_atomic_load(more, wrong ? __ATOMIC_RELAXED : __ATOMIC_ACQUIRE, AGENT)
               < count) {
        }
    }
    __syncthreads();
    more[64 + 64 * b + t] = data[64 * ((b + 1) % count) + t]; // all_groups: second
}

// Slots of a ring: one work-group fills them, another one empties them.
template <bool wrong> __global__ void ring(int *data, int *more, int) // ring: race
{
    int *head = more, *tail = more + 64;
    if (threadIdx.x != 0) {
        return;
    }
    for (int i = 0; i < 8; i++) {
        if (blockIdx.x == 0) {
            while (!wrong && i - __hip_atomic_load(tail, __ATOMIC_ACQUIRE, AGENT) >= 2) {
            }
            data[i % 2] = i; // ring: first
            __hip_atomic_store(head, i + 1, __ATOMIC_RELEASE, AGENT);
        } else {
            while (!wrong && __hip_atomic_load(head, __ATOMIC_ACQUIRE, AGENT) <= i) {
            }
            data[64 + i] = data[i % 2]; // ring: second
            __hip_atomic_store(tail, i + 1, __ATOMIC_RELEASE, AGENT);
        }
    }
}

// Bins that some add to by atomics, others as they like.
template <bool wrong> __global__ void mixed(int *data, int *, int) // mixed: race
{
    int bin = static_cast<int>(threadIdx.x % 16);
    if (blockIdx.x % 2 == 0 || !wrong) {
        __hip_atomic_fetch_add(&data[bin], 1, __ATOMIC_RELAXED, AGENT); // mixed: first
    } else if (threadIdx.x < 16) {
        data[bin] += 1; // mixed: second
    }
}

// A result is read by the next launch, or by another work-group of this one.
template <bool wrong> __global__ void first_group(int *data, int *more, int) // first_group: race
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = 9; // first_group: first
    }
    if (blockIdx.x == 0 || wrong) {
        more[64 * blockIdx.x + threadIdx.x] = data[threadIdx.x]; // first_group: second
    }
}

// Wavefronts that go round a loop more often than others meet them at no barrier.
template <bool wrong> __global__ void rounds(int *data, int *more, int) // rounds: skipped-barrier
{
    int t = static_cast<int>(threadIdx.x), count = wrong ? 2 + t / 64 : 3, sum = 0;
    for (int i = 0; i < count; i++) {
        __builtin_amdgcn_s_barrier(); // rounds: first
        sum += data[t + 256 * i];
    }
    more[t] = sum; // rounds: second
}

// Threads behind the end leave their part of the tile as it is.
template <bool wrong> __global__ void edge(int *data, int *more, int n) // edge: uninitialised-store
{
    __shared__ int tile[128];
    int t = static_cast<int>(threadIdx.x), count = n / 4096 * 100;
    if (t < count) {
        tile[t] = data[t];
    } else if (!wrong) {
        tile[t] = 0;
    }
    __syncthreads();
    int value = tile[127 - t]; // edge: second
    more[t] = 3 * value;       // edge: first
}

// A matrix is transposed in its place by pairs of elements; each pair is one work-item's.
template <bool wrong> __global__ void in_place(int *data, int *, int) // in_place: race
{
    int column = static_cast<int>(threadIdx.x % 16);
    int row = static_cast<int>(threadIdx.x / 16 + 4 * blockIdx.x);
    if (wrong ? row != column : row < column) {
        int up = data[16 * row + column], down = data[16 * column + row]; // in_place: first
        data[16 * row + column] = down + 1;                               // in_place: second
        data[16 * column + row] = up + 1;                                 // in_place: second
    }
}

#define CASE(name, groups, block)                                                                  \
    {                                                                                              \
#name, name < false>, name < true>, groups, block, true                                    \
    }

int main(int argc, char **argv)
{
    static const Case cases[] = {
        CASE(two_buffers, 1, 256), CASE(prefix, 1, 256),    CASE(wave_tail, 1, 256),
        CASE(next_array, 1, 128),  CASE(flag, 2, 64),       CASE(relaxed_read, 2, 64),
        CASE(near_fence, 2, 64),   CASE(near_scope, 2, 64), CASE(lds_flag, 1, 128),
        CASE(group_flag, 1, 128),  CASE(lds_lock, 1, 256),  CASE(early_unlock, 4, 64),
        CASE(tickets, 4, 64),      CASE(work_queue, 4, 64), CASE(all_groups, 4, 64),
        CASE(ring, 2, 64),         CASE(mixed, 4, 64),      CASE(first_group, 4, 64),
        CASE(rounds, 1, 256),      CASE(edge, 1, 128),      CASE(in_place, 4, 64)};
    const char *name = argc > 1 ? argv[1] : "";
    bool wrong = argc > 2 && std::strcmp(argv[2], "wrong") == 0;
    return run_case(cases, sizeof cases / sizeof cases[0], name, wrong) ? 0 : 2;
}
