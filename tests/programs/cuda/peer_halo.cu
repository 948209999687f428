// Several GPUs: a heat equation whose halves exchange their edges by cudaMemcpyPeerAsync, a kernel
// that reads the other GPU's memory directly, and events between GPUs. One GPU does without. Prints
// PASS or FAIL.
#include <cmath>
#include <cstdio>
#include <vector>

#define CHECK(x)                                                                                   \
    do {                                                                                           \
        cudaError_t e = (x);                                                                       \
        if (e != cudaSuccess) {                                                                    \
            printf("%s: %s\nFAIL\n", #x, cudaGetErrorString(e));                                   \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

__global__ void heat(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i <= n)
        out[i] = 0.25f * in[i - 1] + 0.5f * in[i] + 0.25f * in[i + 1];
}

__global__ void gather(const int *remote, int *local, int n)
{
    int i = threadIdx.x;
    if (i < n)
        local[i] = remote[n - 1 - i] + 1;
}

int main()
{
    int count = 0, bad = 0;
    CHECK(cudaGetDeviceCount(&count));
    const int gpus = count < 4 ? count : 4, per = 96, steps = 6;
    for (int g = 0; g < gpus; g++) {
        CHECK(cudaSetDevice(g));
        for (int p = 0; p < gpus; p++) {
            int can = 0;
            if (p != g)
                CHECK(cudaDeviceCanAccessPeer(&can, g, p));
            if (can)
                CHECK(cudaDeviceEnablePeerAccess(p, 0));
        }
    }
    std::vector<float> host(gpus * per + 2), next(host.size());
    for (size_t i = 0; i < host.size(); i++)
        host[i] = i % 37 == 5 ? 100 : 0;
    std::vector<float *> now(gpus), then(gpus);
    std::vector<cudaStream_t> streams(gpus);
    std::vector<cudaEvent_t> done(gpus);
    for (int g = 0; g < gpus; g++) {
        CHECK(cudaSetDevice(g));
        CHECK(cudaMalloc(&now[g], (per + 2) * sizeof(float)));
        CHECK(cudaMalloc(&then[g], (per + 2) * sizeof(float)));
        CHECK(cudaStreamCreate(&streams[g]));
        CHECK(cudaEventCreateWithFlags(&done[g], cudaEventDisableTiming));
        for (float *p : {now[g], then[g]})
            CHECK(cudaMemcpy(p, &host[g * per], (per + 2) * sizeof(float), cudaMemcpyHostToDevice));
    }
    for (int s = 0; s < steps; s++) {
        for (int g = 0; g < gpus; g++) {
            CHECK(cudaSetDevice(g));
            heat<<<(per + 31) / 32, 32, 0, streams[g]>>>(now[g], then[g], per);
            CHECK(cudaEventRecord(done[g], streams[g]));
        }
        for (int g = 0; g < gpus; g++) {
            CHECK(cudaSetDevice(g));
            for (int p : {g - 1, g + 1}) {
                if (p < 0 || p >= gpus)
                    continue;
                CHECK(cudaStreamWaitEvent(streams[g], done[p], 0));
                CHECK(cudaMemcpyPeerAsync(then[g] + (p < g ? 0 : per + 1), g,
                                          then[p] + (p < g ? per : 1), p, sizeof(float),
                                          streams[g]));
            }
            CHECK(cudaEventRecord(done[g], streams[g]));
        }
        for (int g = 0; g < gpus; g++)
            for (int p : {g - 1, g + 1})
                if (p >= 0 && p < gpus)
                    CHECK(cudaStreamWaitEvent(streams[g], done[p], 0));
        now.swap(then);
        next = host;
        for (int i = 1; i <= gpus * per; i++)
            next[i] = 0.25f * host[i - 1] + 0.5f * host[i] + 0.25f * host[i + 1];
        host.swap(next);
    }
    for (int g = 0; g < gpus; g++) {
        std::vector<float> got(per + 2);
        CHECK(cudaSetDevice(g));
        CHECK(cudaStreamSynchronize(streams[g]));
        CHECK(cudaMemcpy(got.data(), now[g], (per + 2) * sizeof(float), cudaMemcpyDeviceToHost));
        for (int i = 1; i <= per; i++)
            bad += std::fabs(got[i] - host[g * per + i]) > 1e-4f;
    }

    int last = gpus - 1, *there, *here, out[64], first[64];
    for (int i = 0; i < 64; i++)
        first[i] = i * 3;
    CHECK(cudaSetDevice(last));
    CHECK(cudaMalloc(&there, sizeof first));
    CHECK(cudaMemcpy(there, first, sizeof first, cudaMemcpyDefault));
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, there));
    bad += attributes.device != last || attributes.type != cudaMemoryTypeDevice;
    CHECK(cudaSetDevice(0));
    CHECK(cudaMalloc(&here, sizeof out));
    gather<<<1, 64>>>(there, here, 64);
    CHECK(cudaMemcpy(out, here, sizeof out, cudaMemcpyDefault));
    for (int i = 0; i < 64; i++)
        bad += out[i] != (63 - i) * 3 + 1;
    CHECK(cudaMemcpyPeer(here, 0, there, last, sizeof out));
    CHECK(cudaMemcpy(out, here, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++)
        bad += out[i] != first[i];
    for (int g = 0; g < gpus; g++) {
        CHECK(cudaFree(now[g]));
        CHECK(cudaFree(then[g]));
        CHECK(cudaStreamDestroy(streams[g]));
        CHECK(cudaEventDestroy(done[g]));
    }
    CHECK(cudaFree(there));
    CHECK(cudaFree(here));
    printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    return bad != 0;
}
