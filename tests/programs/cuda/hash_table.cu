// A hash table without locks: 64-bit compare-and-swap of keys and sums, read-only loads, lambdas of
// the device, managed memory with advice. Prints PASS or FAIL.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdint>
#include <unordered_map>
constexpr uint32_t kEmpty = 0xffffffffu;
struct KV {
    uint32_t k, v;
};
template <int Log2> class Table
{
  public:
    KV *slots;
    static constexpr uint32_t capacity = 1u << Log2;
    __device__ __forceinline__ static uint32_t hash(uint32_t k)
    {
        k ^= k >> 16;
        k *= 0x85ebca6b;
        k ^= k >> 13;
        k *= 0xc2b2ae35;
        k ^= k >> 16;
        return k & (capacity - 1);
    }
    __device__ bool insert(uint32_t k, uint32_t v)
    {
        uint32_t s = hash(k);
        for (uint32_t i = 0; i < capacity; i++, s = (s + 1) & (capacity - 1)) {
            unsigned long long *p = reinterpret_cast<unsigned long long *>(slots + s);
            unsigned long long want = (unsigned long long)v << 32 | k, none = ~0ull;
            unsigned long long old = atomicCAS(p, none, want);
            if (old == none)
                return true;
            if ((uint32_t)old == k) {
                atomicAdd(&slots[s].v, v);
                return false;
            }
        }
        return false;
    }
    __device__ uint32_t find(uint32_t k) const
    {
        for (uint32_t s = hash(k);; s = (s + 1) & (capacity - 1)) {
            uint2 e = __ldg(reinterpret_cast<const uint2 *>(slots) + s);
            if (e.x == k)
                return e.y;
            if (e.x == kEmpty)
                return 0;
        }
    }
};
template <typename F> __global__ void for_each(int n, F f)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        f(i);
}
int main()
{
    const int n = 6000;
    using T = Table<13>;
    uint32_t *keys, *out;
    KV *slots;
    int dev;
    cudaGetDevice(&dev);
    cudaMallocManaged(&keys, n * 4);
    cudaMallocManaged(&out, n * 4);
    cudaMallocManaged(&slots, sizeof(KV) * T::capacity);
    std::unordered_map<uint32_t, uint32_t> ref;
    uint32_t x = 12345;
    for (int i = 0; i < n; i++) {
        x = x * 1664525 + 1013904223;
        keys[i] = x >> 20;
        ref[keys[i]] += i % 7;
    }
    cudaMemset(slots, 0xff, sizeof(KV) * T::capacity);
    cudaMemAdvise(keys, n * 4, cudaMemAdviseSetReadMostly, dev);
    cudaMemPrefetchAsync(keys, n * 4, dev, 0);
    T t{slots};
    int *fresh;
    cudaMallocManaged(&fresh, 4);
    *fresh = 0;
    for_each<<<16, 128>>>(n, [=] __device__(int i) mutable {
        if (t.insert(keys[i], i % 7))
            atomicAdd(fresh, 1);
    });
    for_each<<<16, 128>>>(n, [=] __device__(int i) { out[i] = t.find(keys[i]); });
    cudaError_t e = cudaDeviceSynchronize();
    if (e != cudaSuccess) {
        printf("FAIL %s\n", cudaGetErrorString(e));
        return 1;
    }
    int bad = *fresh != (int)ref.size();
    for (int i = 0; i < n; i++)
        bad += out[i] != ref[keys[i]];
    printf("%d distinct, %d wrong\n%s\n", *fresh, bad, bad ? "FAIL" : "PASS");
    cudaFree(keys);
    cudaFree(out);
    cudaFree(slots);
    cudaFree(fresh);
    return bad != 0;
}
