// Questions about devices, as programs print them at their start: properties, attributes, limits,
// versions, memory, and a device chosen by its properties. Prints PASS or FAIL.
#include <cuda_runtime_api.h>
#include <cstdio>
#include <cstring>

static int attribute(cudaDeviceAttr which, int device)
{
    int value = -1;
    cudaDeviceGetAttribute(&value, which, device);
    return value;
}

static int coresPerSM(int major, int minor)
{
    struct {
        int sm, cores;
    } table[] = {{0x70, 64}, {0x75, 64}, {0x80, 64}, {0x86, 128}, {0x89, 128}, {0x90, 128}};
    for (auto &row : table)
        if (row.sm == (major << 4) + minor)
            return row.cores;
    return 0;
}

int main()
{
    int count = 0, driver = 0, runtime = 0, bad = 0;
    bad += cudaGetDeviceCount(&count) != cudaSuccess || count < 1;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    bad += driver < runtime || runtime < 12000;
    for (int d = 0; d < count; d++) {
        cudaSetDevice(d);
        cudaDeviceProp p;
        bad += cudaGetDeviceProperties(&p, d) != cudaSuccess;
        int clock = attribute(cudaDevAttrClockRate, d),
            bus = attribute(cudaDevAttrGlobalMemoryBusWidth, d);
        printf("Device %d: \"%s\", %d.%d, %d x %d cores, %.0f MHz\n", d, p.name, p.major, p.minor,
               p.multiProcessorCount, coresPerSM(p.major, p.minor), clock * 1e-3);
        printf("  %.0f MiB, %d bit, L2 %d bytes, shared %zu, %d registers, warp %d\n",
               p.totalGlobalMem / 1048576.0, bus, p.l2CacheSize, p.sharedMemPerBlock,
               p.regsPerBlock, p.warpSize);
        bad += strlen(p.name) == 0 || p.warpSize != 32 || p.major < 7 || clock <= 0;
        bad += p.multiProcessorCount != attribute(cudaDevAttrMultiProcessorCount, d);
        bad += p.major != attribute(cudaDevAttrComputeCapabilityMajor, d);
        bad += p.maxThreadsPerBlock != 1024 || p.maxThreadsDim[2] != 64;
        bad += p.maxGridSize[0] != 2147483647 || p.maxGridSize[1] != 65535;
        bad += p.sharedMemPerBlock < 48 << 10 || p.regsPerBlock != 65536;
        bad += p.totalConstMem != 65536 || p.l2CacheSize <= 0 || bus <= 0;
        bad += !p.concurrentKernels || !p.managedMemory || !p.cooperativeLaunch;
        bad +=
            attribute(cudaDevAttrMaxThreadsPerMultiProcessor, d) != p.maxThreadsPerMultiProcessor;
        bad +=
            attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, d) != (int)p.sharedMemPerBlockOptin;
        size_t free = 0, total = 0, stack = 0;
        cudaMemGetInfo(&free, &total);
        bad += free > total || total != p.totalGlobalMem;
        cudaDeviceGetLimit(&stack, cudaLimitStackSize);
        bad += stack == 0;
        char bus_id[32];
        int same = -1;
        cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, d);
        cudaDeviceGetByPCIBusId(&same, bus_id);
        bad += same != d;
    }
    cudaDeviceProp wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.major = 8;
    int chosen = -1;
    bad += cudaChooseDevice(&chosen, &wanted) != cudaSuccess || chosen < 0 || chosen >= count;
    printf("%s\n", bad ? "FAIL" : "PASS");
    return bad;
}
