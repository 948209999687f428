// Copies to the device and back, timed by events. `copy_rate BYTES` prints the picoseconds of each direction, of a
// launch, alone and while another stream copies, and of the second of two fills behind a kernel. Checks what came back.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void touch(int *word)
{
    *word += 1;
}

static double elapsed_ps(hipEvent_t from, hipEvent_t to)
{
    float ms = 0;
    hipEventElapsedTime(&ms, from, to);
    return ms * 1e9;
}

int main(int argc, char **argv)
{
    size_t bytes = argc > 1 ? strtoull(argv[1], nullptr, 0) : 1 << 20;
    std::vector<unsigned char> out(bytes), back(bytes);
    for (size_t i = 0; i < bytes; i++)
        out[i] = (unsigned char)(i * 13 + i / 4096);
    unsigned char *there, *pinned;
    int *word;
    hipEvent_t e[4];
    hipStream_t one, two;
    if (hipMalloc(&there, bytes) || hipMalloc(&word, 4) || hipMemset(word, 0, 4)
        || hipHostMalloc(&pinned, bytes)) {
        printf("FAIL copy_rate: no memory\n");
        return 1;
    }
    for (hipEvent_t &event : e)
        hipEventCreate(&event);
    hipStreamCreate(&one);
    hipStreamCreate(&two);
    hipDeviceSynchronize();
    hipEventRecord(e[0], one);
    hipMemcpyAsync(there, out.data(), bytes, hipMemcpyHostToDevice, one);
    hipEventRecord(e[1], one);
    hipStreamSynchronize(one);
    hipEventRecord(e[2], one);
    hipMemcpyAsync(back.data(), there, bytes, hipMemcpyDeviceToHost, one);
    hipEventRecord(e[3], one);
    hipStreamSynchronize(one);
    touch<<<1, 1, 0, two>>>(word);
    hipDeviceSynchronize();
    printf("bytes %zu there_ps %.0f back_ps %.0f\n", bytes, elapsed_ps(e[0], e[1]),
           elapsed_ps(e[2], e[3]));
    hipEventRecord(e[0], two);
    touch<<<1, 1, 0, two>>>(word);
    hipEventRecord(e[1], two);
    hipDeviceSynchronize();
    hipMemcpyAsync(there, pinned, bytes, hipMemcpyHostToDevice, one);
    touch<<<1, 1, 0, two>>>(word); // the copy is in full swing when it is over
    hipEventRecord(e[2], two);
    touch<<<1, 1, 0, two>>>(word);
    hipEventRecord(e[3], two);
    hipDeviceSynchronize();
    printf("launch_alone_ps %.0f launch_beside_ps %.0f\n", elapsed_ps(e[0], e[1]),
           elapsed_ps(e[2], e[3]));
    touch<<<1, 1, 0, one>>>(word);
    hipMemsetAsync(there, 1, bytes, one);
    hipEventRecord(e[0], one);
    hipMemsetAsync(there, 2, bytes, one);
    hipEventRecord(e[1], one);
    hipStreamSynchronize(one);
    printf("queued_ps %.0f\n", elapsed_ps(e[0], e[1]));
    int count = 0;
    hipMemcpy(&count, word, 4, hipMemcpyDeviceToHost);
    if (back != out || count != 5) {
        printf("FAIL copy_rate: wrong bytes\n");
        return 1;
    }
    for (hipEvent_t event : e)
        hipEventDestroy(event);
    hipStreamDestroy(one);
    hipStreamDestroy(two);
    hipFree(there);
    hipFree(word);
    hipHostFree(pinned);
    printf("PASS copy_rate\n");
    return 0;
}
