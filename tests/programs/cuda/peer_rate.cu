// How long a copy between two GPUs takes, in events of the stream: peer_rate LEAST MOST, in bytes a
// nanosecond. Prints PASS or FAIL.
#include <cstdio>
#include <cstdlib>

int main(int, char **argv)
{
    const size_t bytes = 1 << 20;
    char *from, *to;
    cudaEvent_t begin, end;
    cudaStream_t stream;
    int can = 0;
    cudaSetDevice(1);
    cudaMalloc(&to, bytes);
    cudaSetDevice(0);
    cudaMalloc(&from, bytes);
    cudaMemset(from, 7, bytes);
    cudaDeviceCanAccessPeer(&can, 0, 1);
    if (can)
        cudaDeviceEnablePeerAccess(1, 0);
    cudaStreamCreate(&stream);
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaEventRecord(begin, stream);
    cudaMemcpyPeerAsync(to, 1, from, 0, bytes, stream);
    cudaEventRecord(end, stream);
    cudaError_t error = cudaStreamSynchronize(stream);
    float ms = 0;
    cudaEventElapsedTime(&ms, begin, end);
    double rate = bytes / (ms * 1e6);
    char last = 0;
    cudaMemcpy(&last, to + bytes - 1, 1, cudaMemcpyDeviceToHost);
    bool good = error == cudaSuccess && last == 7 && rate > atof(argv[1]) && rate < atof(argv[2]);
    cudaFree(to);
    cudaFree(from);
    cudaStreamDestroy(stream);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    printf("%s, %.1f GB/s\n%s\n", can ? "peers" : "no peers", rate, good ? "PASS" : "FAIL");
    return !good;
}
