// Intrinsic functions whose arguments are easily exchanged: reductions of a warp, sums of products
// of bytes; loads and stores with a cache operator; objects on the heap, without a header for them.
// Prints PASS or FAIL.
#include <cstdio>

const int LANES = 32, RESULTS = 10;

__global__ void reduce(unsigned *out)
{
    unsigned lane = threadIdx.x, all = ~0u, value = lane * 3 + 1;
    unsigned *to = out + lane * RESULTS;
    to[0] = __reduce_add_sync(all, value);
    to[1] = __reduce_min_sync(all, value);
    to[2] = __reduce_max_sync(all, value);
    to[3] = __reduce_min_sync(all, 5 - (int)lane);
    to[4] = __reduce_max_sync(all, 5 - (int)lane);
    to[5] = __reduce_or_sync(all, 1u << lane / 2);
    to[6] = __reduce_and_sync(all, ~(1u << lane / 4));
    to[7] = __reduce_xor_sync(all, value);
    unsigned *room = new unsigned[2]{lane, all};
    delete[] room;
    to[8] = __dp4a((int)0x01ff7f80, (int)0x02030401, (int)lane);
    to[9] = __dp2a_hi(0x00020003u, 0x04050607u, lane);
}

template <typename type> __global__ void copy(const type *from, type *to)
{
    int i = 4 * threadIdx.x;
    __stcg(to + i, __ldcg(from + i));
    __stcs(to + i + 1, __ldcs(from + i + 1));
    __stwt(to + i + 2, __ldcv(from + i + 2));
    __stwb(to + i + 3, __ldca(from + i + 3));
}

template <typename type> static int copies()
{
    unsigned char bytes[4 * LANES * sizeof(type)], got[sizeof bytes];
    type *from, *to;
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 37 + sizeof(type));
    cudaMalloc(&from, sizeof bytes);
    cudaMalloc(&to, sizeof bytes);
    cudaMemcpy(from, bytes, sizeof bytes, cudaMemcpyHostToDevice);
    copy<<<1, LANES>>>(from, to);
    cudaMemcpy(got, to, sizeof bytes, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (unsigned i = 0; i < sizeof bytes; i++)
        wrong += got[i] != bytes[i];
    cudaFree(from);
    cudaFree(to);
    if (wrong)
        printf("%zu bytes: %d are wrong\n", sizeof(type), wrong);
    return wrong;
}

int main()
{
    unsigned *out, got[LANES * RESULTS];
    unsigned want[RESULTS] = {0, 1, 94, (unsigned)-26, 5, 0xffff, 0xffffff00};
    for (unsigned lane = 0; lane < LANES; lane++) {
        want[0] += lane * 3 + 1;
        want[7] ^= lane * 3 + 1;
    }
    cudaMalloc(&out, sizeof got);
    reduce<<<1, LANES>>>(out);
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    int wrong = copies<char>() + copies<short>() + copies<float>() + copies<double>() +
                copies<float4>();
    for (unsigned lane = 0; lane < LANES; lane++) {
        want[8] = lane + 1 * 2 - 1 * 3 + 127 * 4 - 128 * 1;
        want[9] = lane + 3 * 5 + 2 * 4;
        for (int i = 0; i < RESULTS; i++)
            if (got[lane * RESULTS + i] != want[i] && wrong++ < 5)
                printf("lane %u, %d: %u, not %u\n", lane, i, got[lane * RESULTS + i], want[i]);
    }
    cudaFree(out);
    printf("%s\n", wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
