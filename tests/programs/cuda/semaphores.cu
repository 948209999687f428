// Latches, semaphores and fences of libcu++, a queue whose slots have sequence numbers, and
// counters that the host reads while the device counts. Prints PASS or FAIL.
#include <cuda/atomic>
#include <cuda/latch>
#include <cuda/semaphore>
#include <cuda/std/atomic>
#include <cuda/std/cstdint>
#include <cuda/std/type_traits>
#include <cstdio>
#include <new>

template <typename T, unsigned Size> struct Queue {
    struct Slot {
        cuda::atomic<unsigned, cuda::thread_scope_device> sequence;
        T value;
    };
    Slot slots[Size];
    cuda::atomic<unsigned, cuda::thread_scope_device> head, tail;

    __device__ void clear()
    {
        for (unsigned i = 0; i < Size; i++)
            slots[i].sequence.store(i, cuda::std::memory_order_relaxed);
        head.store(0);
        tail.store(0);
    }
    __device__ void push(T value)
    {
        unsigned at = tail.fetch_add(1, cuda::std::memory_order_relaxed);
        Slot &slot = slots[at % Size];
        while (slot.sequence.load(cuda::std::memory_order_acquire) != at)
            __nanosleep(20);
        slot.value = value;
        slot.sequence.store(at + 1, cuda::std::memory_order_release);
    }
    __device__ T pop()
    {
        unsigned at = head.fetch_add(1, cuda::std::memory_order_relaxed);
        Slot &slot = slots[at % Size];
        while (slot.sequence.load(cuda::std::memory_order_acquire) != at + 1)
            __nanosleep(20);
        T value = slot.value;
        slot.sequence.store(at + Size, cuda::std::memory_order_release);
        return value;
    }
};

using IntQueue = Queue<int, 16>;
static_assert(cuda::std::is_same<cuda::std::uint32_t, unsigned>::value, "");

__global__ void clear(IntQueue *q)
{
    q->clear();
}
__global__ void exchange(IntQueue *q, unsigned long long *sum, int each)
{
    if (threadIdx.x % 2 == 0) {
        for (int i = 0; i < each; i++)
            q->push((int)(blockIdx.x * blockDim.x + threadIdx.x) * each + i);
    } else {
        unsigned long long mine = 0;
        for (int i = 0; i < each; i++)
            mine += q->pop();
        cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>(*sum).fetch_add(mine);
    }
}

__global__ void limited(int *most, int *total)
{
    using semaphore = cuda::counting_semaphore<cuda::thread_scope_block, 4>;
    using latch = cuda::latch<cuda::thread_scope_block>;
    alignas(16) __shared__ char places[2][64];
    __shared__ int inside, high;
    semaphore &room = *reinterpret_cast<semaphore *>(places[0]);
    latch &all = *reinterpret_cast<latch *>(places[1]);
    if (threadIdx.x == 0) {
        new (&room) semaphore(4);
        new (&all) latch(blockDim.x);
        inside = high = 0;
    }
    __syncthreads();
    room.acquire();
    int now = atomicAdd(&inside, 1) + 1;
    atomicMax(&high, now);
    atomicAdd(total, 1);
    atomicSub(&inside, 1);
    room.release();
    all.arrive_and_wait();
    if (threadIdx.x == 0)
        *most = high;
}

__global__ void publish(cuda::atomic<int, cuda::thread_scope_system> *flag, int *data)
{
    *data = 4711;
    flag->store(1, cuda::memory_order_release);
    flag->notify_all();
}

int main()
{
    IntQueue *q;
    unsigned long long *sum;
    int *numbers, bad = 0;
    cudaMalloc(&q, sizeof *q);
    cudaMallocManaged(&sum, sizeof *sum);
    cudaMallocManaged(&numbers, 4 * sizeof *numbers);
    *sum = 0;
    numbers[0] = numbers[1] = 0;
    clear<<<1, 1>>>(q);
    exchange<<<2, 32>>>(q, sum, 4);
    limited<<<1, 64>>>(&numbers[0], &numbers[1]);
    bad += cudaDeviceSynchronize() != cudaSuccess;
    unsigned long long want = 0;
    for (int t = 0; t < 64; t += 2)
        for (int i = 0; i < 4; i++)
            want += t * 4 + i;
    bad += *sum != want;
    bad += numbers[0] < 1 || numbers[0] > 4 || numbers[1] != 64;
    auto *flag = new (&numbers[2]) cuda::atomic<int, cuda::thread_scope_system>(0);
    publish<<<1, 1>>>(flag, &numbers[3]);
    bad += cudaDeviceSynchronize() != cudaSuccess;
    bad += flag->load(cuda::std::memory_order_acquire) != 1 || numbers[3] != 4711;
    std::printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    cudaFree(q);
    cudaFree(sum);
    cudaFree(numbers);
    return bad != 0;
}
