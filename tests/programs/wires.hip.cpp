// Reads of another GPU's memory beside copies from the host, to the same GPU: a kernel of device 0 sums what a kernel of
// device 1 has written into its own memory, while the host copies to device 0. Both come in over the link of device 0. The
// reads and the copies are checked; how they share the link is in the statistics. Arguments: [KiB read] [KiB copied].
#include "check.hpp"

__global__ void write_own(unsigned *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        to[i] = 2654435761u * i;
    }
}

// Each thread reads `rounds` words, all threads one stretch after the other.
__global__ void read_remote(const unsigned *from, unsigned *sums, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    unsigned sum = 0;
    for (int r = 0; r < rounds; r++) {
        sum += from[r * threads + i];
    }
    sums[i] = sum;
}

int main(int argc, char **argv)
{
    const int threads = 16384;
    int rounds = size_argument(argc, argv, 1, 1024) * 256 / threads, words = rounds * threads;
    size_t copied = size_argument(argc, argv, 2, 192) * 1024;
    unsigned *remote, *sums, *host;
    char *landed;
    hipStream_t reads, copies;
    HIP_MUST(hipSetDevice(1));
    allocate(&remote, words * sizeof *remote);
    write_own<<<words / 256, 256>>>(remote, words);
    HIP_MUST(hipDeviceSynchronize());
    HIP_MUST(hipSetDevice(0));
    HIP_MUST(hipDeviceEnablePeerAccess(1, 0));
    HIP_MUST(hipStreamCreateWithFlags(&reads, hipStreamNonBlocking));
    HIP_MUST(hipStreamCreateWithFlags(&copies, hipStreamNonBlocking));
    allocate(&sums, threads * sizeof *sums);
    allocate(&landed, copied);
    HIP_MUST(hipHostMalloc(reinterpret_cast<void **>(&host), copied, 0));
    random_source random;
    for (size_t i = 0; i < copied / 4; i++) {
        host[i] = random.next();
    }
    read_remote<<<threads / 256, 256, 0, reads>>>(remote, sums, rounds);
    HIP_MUST(hipMemcpyAsync(landed, host, copied, hipMemcpyHostToDevice, copies));
    HIP_MUST(hipDeviceSynchronize());
    std::vector<unsigned> got(threads), back(copied / 4);
    HIP_MUST(hipMemcpy(got.data(), sums, threads * sizeof *sums, hipMemcpyDeviceToHost));
    for (int i = 0; i < threads; i++) {
        unsigned sum = 0;
        for (int r = 0; r < rounds; r++) {
            sum += 2654435761u * (r * threads + i);
        }
        if (got[i] != sum) {
            std::printf("FAIL wires: sum %d is %u, not %u\n", i, got[i], sum);
            return 1;
        }
    }
    HIP_MUST(hipMemcpy(back.data(), landed, copied, hipMemcpyDeviceToHost));
    for (size_t i = 0; i < copied / 4; i++) {
        if (back[i] != host[i]) {
            std::printf("FAIL wires: word %zu of the copy is %u, not %u\n", i, back[i], host[i]);
            return 1;
        }
    }
    std::printf("PASS wires\n");
    return 0;
}
