// Block-wide primitives as collective classes with temporary storage in shared memory: scans,
// reductions, exchanges and radix ranks; and a scan of a whole array in one pass with look-back.
// Prints PASS or FAIL.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

template <typename T, int BLOCK> class BlockScan
{
  public:
    struct TempStorage {
        T warps[BLOCK / 32];
    };

  private:
    TempStorage &storage;

  public:
    __device__ explicit BlockScan(TempStorage &s) : storage(s)
    {
    }
    template <typename Op> __device__ T inclusive(T value, Op op, T &all)
    {
        int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
        for (int o = 1; o < 32; o <<= 1) {
            T left = __shfl_up_sync(0xffffffff, value, o);
            if (lane >= o)
                value = op(left, value);
        }
        if (lane == 31)
            storage.warps[warp] = value;
        __syncthreads();
        T prefix{};
        all = storage.warps[0];
        for (int w = 1; w < BLOCK / 32; w++) {
            if (w == warp)
                prefix = all;
            all = op(all, storage.warps[w]);
        }
        __syncthreads();
        return warp ? op(prefix, value) : value;
    }
};

struct Plus {
    template <typename T> __device__ T operator()(T a, T b) const
    {
        return a + b;
    }
};

enum Status : unsigned { EMPTY, PARTIAL, PREFIX };

// One state a block: its status above its sum, written at once.
__device__ void publish(volatile unsigned long long *state, Status status, unsigned sum)
{
    __threadfence();
    *state = (unsigned long long)status << 32 | sum;
}

template <int BLOCK, int ITEMS>
__global__ void scanOnePass(const unsigned *in, unsigned *out, int n,
                            volatile unsigned long long *states, unsigned *ticket)
{
    using Scan = BlockScan<unsigned, BLOCK>;
    __shared__ union {
        typename Scan::TempStorage scan;
        unsigned exchange[BLOCK * ITEMS];
    } temp;
    __shared__ unsigned tile, before;
    if (threadIdx.x == 0)
        tile = atomicAdd(ticket, 1);
    __syncthreads();
    unsigned items[ITEMS], sum = 0, all;
    int base = tile * BLOCK * ITEMS;
    for (int i = 0; i < ITEMS; i++) {
        int at = base + i * BLOCK + threadIdx.x;
        temp.exchange[i * BLOCK + threadIdx.x] = at < n ? in[at] : 0;
    }
    __syncthreads();
    for (int i = 0; i < ITEMS; i++)
        sum += items[i] = temp.exchange[threadIdx.x * ITEMS + i];
    __syncthreads();
    unsigned inclusive = Scan(temp.scan).inclusive(sum, Plus(), all);
    if (threadIdx.x == 0) {
        publish(&states[tile], tile ? PARTIAL : PREFIX, all);
        unsigned prefix = 0;
        for (int look = (int)tile - 1; look >= 0; look--) {
            unsigned long long state;
            do
                state = states[look];
            while (state >> 32 == EMPTY);
            prefix += (unsigned)state;
            if (state >> 32 == PREFIX)
                break;
        }
        if (tile)
            publish(&states[tile], PREFIX, prefix + all);
        before = prefix;
    }
    __syncthreads();
    unsigned running = before + inclusive - sum;
    for (int i = 0; i < ITEMS; i++) {
        int at = base + threadIdx.x * ITEMS + i;
        running += items[i];
        if (at < n)
            out[at] = running;
    }
}

// Stable ranks of one digit by ballots.
template <int BLOCK> __global__ void sortDigit(const unsigned *in, unsigned *out, int shift)
{
    using Scan = BlockScan<unsigned, BLOCK>;
    __shared__ typename Scan::TempStorage temp;
    __shared__ unsigned data[BLOCK];
    unsigned value = in[threadIdx.x], all;
    for (int bit = shift; bit < shift + 8; bit++) {
        unsigned zero = !(value >> bit & 1);
        unsigned rank = Scan(temp).inclusive(zero, Plus(), all) - zero;
        data[zero ? rank : all + threadIdx.x - rank] = value;
        __syncthreads();
        value = data[threadIdx.x];
        __syncthreads();
    }
    out[threadIdx.x] = value;
}

int main()
{
    const int block = 64, items = 3, n = 1500, tiles = (n + block * items - 1) / (block * items);
    std::vector<unsigned> h(n), want(n), got(n);
    for (int i = 0; i < n; i++)
        h[i] = i * 2654435761u >> 20;
    std::partial_sum(h.begin(), h.end(), want.begin());
    unsigned *in, *out, *ticket;
    unsigned long long *states;
    cudaMalloc(&in, n * sizeof *in);
    cudaMalloc(&out, n * sizeof *out);
    cudaMalloc(&states, tiles * sizeof *states);
    cudaMalloc(&ticket, sizeof *ticket);
    cudaMemcpy(in, h.data(), n * sizeof *in, cudaMemcpyHostToDevice);
    cudaMemset(states, 0, tiles * sizeof *states);
    cudaMemset(ticket, 0, sizeof *ticket);
    scanOnePass<block, items><<<tiles, block>>>(in, out, n, states, ticket);
    cudaMemcpy(got.data(), out, n * sizeof *out, cudaMemcpyDeviceToHost);
    bool good = got == want;
    sortDigit<256><<<1, 256>>>(in, out, 0);
    sortDigit<256><<<1, 256>>>(out, out, 8);
    cudaMemcpy(got.data(), out, 256 * sizeof *out, cudaMemcpyDeviceToHost);
    std::sort(h.begin(), h.begin() + 256);
    good = good && std::equal(h.begin(), h.begin() + 256, got.begin());
    puts(good && cudaGetLastError() == cudaSuccess ? "PASS" : "FAIL");
    cudaFree(in);
    cudaFree(out);
    cudaFree(states);
    cudaFree(ticket);
    return !good;
}
