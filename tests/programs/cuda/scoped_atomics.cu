// cuda::atomic and cuda::atomic_ref: counters, a message with release and acquire, a lock, sums of
// doubles, and a flag between host and device. Prints PASS or FAIL.
#include <cuda/atomic>
#include <cstdio>

using Counter = cuda::atomic<int, cuda::thread_scope_device>;

struct Spin {
    cuda::atomic<unsigned, cuda::thread_scope_block> held;
    __device__ void lock()
    {
        unsigned expected = 0;
        while (!held.compare_exchange_weak(expected, 1, cuda::memory_order_acquire))
            expected = 0;
    }
    __device__ void unlock()
    {
        held.store(0, cuda::memory_order_release);
    }
};

__global__ void count(Counter *counter, int *plain, double *sum, unsigned long long *largest)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    counter->fetch_add(t, cuda::memory_order_relaxed);
    cuda::atomic_ref<int, cuda::thread_scope_device> ref(*plain);
    ref.fetch_or(1 << t % 31, cuda::std::memory_order_relaxed);
    cuda::atomic_ref<double, cuda::thread_scope_device>(*sum).fetch_add(0.5 * t);
    cuda::atomic_ref<unsigned long long> most(*largest);
    most.fetch_max(1000ull * t);
}

__global__ void message(int *data, cuda::atomic<int, cuda::thread_scope_device> *flag, int *out)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x * 3;
        __syncthreads();
        if (threadIdx.x == 0)
            flag->store(1, cuda::memory_order_release);
    } else {
        if (threadIdx.x == 0)
            while (flag->load(cuda::memory_order_acquire) == 0)
                ;
        __syncthreads();
        out[threadIdx.x] = data[threadIdx.x];
    }
}

__global__ void locked(int *total)
{
    __shared__ Spin spin;
    __shared__ int inside;
    if (threadIdx.x == 0) {
        spin.held.store(0);
        inside = 0;
    }
    __syncthreads();
    for (int i = 0; i < 3; i++) {
        spin.lock();
        *(volatile int *)&inside = *(volatile int *)&inside * 2 % 1009 + 1;
        spin.unlock();
    }
    __syncthreads();
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    if (threadIdx.x == 0)
        *total = inside;
}

__global__ void ping(cuda::atomic<int, cuda::thread_scope_system> *word)
{
    int before = word->exchange(5);
    word->fetch_sub(before);
    ++*word;
}

int main()
{
    int bad = 0;
    struct State {
        Counter counter{0};
        int plain = 0, total = 0, data[32], out[32];
        double sum = 0;
        unsigned long long largest = 0;
        Counter flag{0};
        cuda::atomic<int, cuda::thread_scope_system> word{2};
    } * s;
    cudaMallocManaged(&s, sizeof *s);
    new (s) State;
    count<<<2, 64>>>(&s->counter, &s->plain, &s->sum, &s->largest);
    message<<<2, 32>>>(s->data, &s->flag, s->out);
    locked<<<1, 48>>>(&s->total);
    ping<<<1, 1>>>(&s->word);
    bad += cudaDeviceSynchronize() != cudaSuccess;
    bad += s->counter.load() != 127 * 64 || s->plain != 0x7fffffff || s->sum != 127 * 32;
    bad += s->largest != 127000 || s->word != 4;
    for (int i = 0; i < 32; i++)
        bad += s->out[i] != i * 3;
    int inside = 0;
    for (int i = 0; i < 144; i++)
        inside = inside * 2 % 1009 + 1;
    bad += s->total != inside;
    s->counter = 7;
    s->counter += 3;
    int expected = 10;
    bad += !s->counter.compare_exchange_strong(expected, 11) || s->counter != 11;
    printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    cudaFree(s);
    return bad != 0;
}
