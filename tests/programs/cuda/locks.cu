// Locks and queues between threads: a spin lock in each bucket of a hash table, ticket locks, a
// work queue that blocks take from until it is empty, and compare-and-swap loops for types without
// atomic functions of their own. Prints PASS or FAIL.
#include <cstdio>
#include <vector>

class Mutex
{
    int state = 0;

  public:
    __device__ void lock()
    {
        while (atomicCAS(&state, 0, 1) != 0)
            __nanosleep(20);
        __threadfence();
    }
    __device__ void unlock()
    {
        __threadfence();
        atomicExch(&state, 0);
    }
};

struct Ticket {
    unsigned next, serving;
    __device__ void lock()
    {
        unsigned mine = atomicAdd(&next, 1);
        while (*(volatile unsigned *)&serving != mine)
            ;
        __threadfence();
    }
    __device__ void unlock()
    {
        __threadfence();
        *(volatile unsigned *)&serving = serving + 1;
    }
};

struct Bucket {
    Mutex mutex;
    int count, keys[30];
};

__global__ void insert(Bucket *buckets, int n, int keys)
{
    int key = blockIdx.x * blockDim.x + threadIdx.x;
    if (key >= keys)
        return;
    Bucket *b = &buckets[key * 31 % n];
    b->mutex.lock();
    volatile int *count = &b->count;
    ((volatile int *)b->keys)[*count] = key;
    *count = *count + 1;
    b->mutex.unlock();
}

__global__ void tickets(Ticket *t, volatile int *shared, int rounds)
{
    for (int i = 0; i < rounds; i++)
        if (threadIdx.x % 16 == 0) {
            t->lock();
            *shared = *shared * 3 % 1000 + 1;
            t->unlock();
        }
}

__device__ float atomicMaxFloat(float *address, float value)
{
    int *word = (int *)address, old = *word, assumed;
    do {
        assumed = old;
        if (__int_as_float(assumed) >= value)
            break;
        old = atomicCAS(word, assumed, __float_as_int(value));
    } while (assumed != old);
    return __int_as_float(old);
}
__device__ double atomicMulDouble(double *address, double value)
{
    unsigned long long *word = (unsigned long long *)address, old = *word, assumed;
    do {
        assumed = old;
        old = atomicCAS(word, assumed, __double_as_longlong(value * __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}

__device__ int head, tail;

// Items are ranges; long ones are split and put back.
__global__ void workers(int2 *queue, int capacity, int *done, int *pending)
{
    __shared__ int2 item;
    __shared__ bool has;
    while (true) {
        if (threadIdx.x == 0) {
            has = false;
            while (atomicAdd(pending, 0) > 0) {
                int h = atomicAdd(&head, 0);
                if (h < *(volatile int *)&tail && atomicCAS(&head, h, h + 1) == h) {
                    volatile int2 *slot = &queue[h % capacity];
                    while (slot->y == 0)
                        ;
                    item = make_int2(slot->x, slot->y);
                    slot->y = 0;
                    has = true;
                    break;
                }
            }
        }
        __syncthreads();
        if (!has)
            return;
        if (item.y > 64) {
            if (threadIdx.x < 2) {
                int half = item.y / 2;
                int2 part =
                    threadIdx.x ? make_int2(item.x + half, item.y - half) : make_int2(item.x, half);
                atomicAdd(pending, 1);
                int at = atomicAdd(&tail, 1) % capacity;
                ((volatile int *)queue)[2 * at] = part.x;
                __threadfence();
                ((volatile int *)queue)[2 * at + 1] = part.y;
            }
        } else {
            for (int i = threadIdx.x; i < item.y; i += blockDim.x)
                atomicAdd(&done[item.x + i], 1);
        }
        __syncthreads();
        if (threadIdx.x == 0)
            atomicSub(pending, 1);
    }
}

__global__ void extremes(float *largest, double *product, unsigned *wrapped, short *bits)
{
    atomicMaxFloat(largest, (float)((threadIdx.x * 37 + blockIdx.x) % 101) - 50.5f);
    if (threadIdx.x < 10)
        atomicMulDouble(product, 2.0);
    atomicInc(wrapped, 9);
    atomicDec(wrapped + 1, 6);
    atomicCAS((unsigned short *)bits + threadIdx.x % 2, (unsigned short)0,
              (unsigned short)(threadIdx.x % 2 + 1));
}

int main()
{
    const int n = 13, keys = 256;
    int bad = 0;
    Bucket *buckets;
    cudaMallocManaged(&buckets, n * sizeof(Bucket));
    cudaMemset(buckets, 0, n * sizeof(Bucket));
    insert<<<4, 64>>>(buckets, n, keys);
    bad += cudaDeviceSynchronize() != cudaSuccess;
    std::vector<int> seen(keys);
    for (int b = 0; b < n; b++)
        for (int i = 0; i < buckets[b].count; i++) {
            seen[buckets[b].keys[i]]++;
            bad += buckets[b].keys[i] * 31 % n != b;
        }
    for (int k : seen)
        bad += k != 1;

    Ticket *ticket;
    int *shared, value = 0;
    cudaMallocManaged(&ticket, sizeof *ticket);
    cudaMallocManaged(&shared, sizeof *shared);
    *ticket = {};
    *shared = 0;
    tickets<<<3, 64>>>(ticket, shared, 4);
    bad += cudaDeviceSynchronize() != cudaSuccess;
    for (int i = 0; i < 48; i++)
        value = value * 3 % 1000 + 1;
    bad += *shared != value || ticket->serving != 48;

    const int capacity = 64, items = 1000;
    int2 *queue;
    int *done, *pending, one = 1;
    cudaMallocManaged(&queue, capacity * sizeof(int2));
    cudaMallocManaged(&done, items * sizeof(int));
    cudaMallocManaged(&pending, sizeof(int));
    cudaMemset(queue, 0, capacity * sizeof(int2));
    cudaMemset(done, 0, items * sizeof(int));
    cudaDeviceSynchronize();
    queue[0] = make_int2(0, items);
    *pending = 1;
    cudaMemcpyToSymbol(tail, &one, sizeof one);
    workers<<<3, 32>>>(queue, capacity, done, pending);
    bad += cudaDeviceSynchronize() != cudaSuccess;
    for (int i = 0; i < items; i++)
        bad += done[i] != 1;

    struct Extremes {
        float largest;
        unsigned wrapped[2];
        double product;
        short bits[2];
    } * e;
    cudaMallocManaged(&e, sizeof *e);
    *e = {-1000, {0, 0}, 1, {0, 0}};
    extremes<<<2, 64>>>(&e->largest, &e->product, e->wrapped, e->bits);
    bad += cudaDeviceSynchronize() != cudaSuccess;
    unsigned up = 0, down = 0;
    for (int i = 0; i < 128; i++) {
        up = up >= 9 ? 0 : up + 1;
        down = down == 0 || down > 6 ? 6 : down - 1;
    }
    bad += e->largest != 49.5f || e->product != 1 << 20 || e->wrapped[0] != up;
    bad += e->wrapped[1] != down || e->bits[0] != 1 || e->bits[1] != 2;
    printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    cudaFree(buckets);
    cudaFree(ticket);
    cudaFree(shared);
    cudaFree(queue);
    cudaFree(done);
    cudaFree(pending);
    cudaFree(e);
    return bad != 0;
}
