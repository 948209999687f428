/* Clusters of blocks (sm_90): shared memory of other blocks, barriers in two parts, clusters of the
 * kernel and of the launch, blocks that end early. Prints PASS or FAIL. */
#include <cooperative_groups.h>
#include <cstdio>

namespace cg = cooperative_groups;

enum { THREADS = 64, RING = 4, BINS = 32, VALUES = 2048 };

/* Each block reads its neighbour's shared memory, and counts itself there. */
__global__ void __cluster_dims__(RING, 1, 1) ring(int *out)
{
    __shared__ int own[THREADS], count;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned int rank = cluster.block_rank(), next = (rank + 1) % cluster.num_blocks();
    own[threadIdx.x] = blockIdx.x * 1000 + threadIdx.x;
    if (threadIdx.x == 0)
        count = 0;
    cluster.sync();
    int *other = cluster.map_shared_rank(own, next);
    atomicAdd(cluster.map_shared_rank(&count, next), 1);
    int value = other[threadIdx.x];
    cluster.barrier_arrive();
    bool right = cluster.query_shared_rank(other) == next && cluster.query_shared_rank(own) == rank
                 && cluster.map_shared_rank(own, rank) == own && cluster.num_blocks() == RING
                 && cluster.thread_rank() == rank * THREADS + threadIdx.x;
    cluster.barrier_wait();
    out[blockIdx.x * THREADS + threadIdx.x] = right && count == THREADS ? value : -1;
}

/* Registers in three directions, as the manual relates them. */
__global__ void places(int *wrong)
{
    cg::cluster_group cluster = cg::this_cluster();
    dim3 at = cluster.block_index(), size = cluster.dim_blocks();
    unsigned int id[3], ids[3], explicit_cluster;
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(id[0]));
    asm("mov.u32 %0, %%clusterid.y;" : "=r"(id[1]));
    asm("mov.u32 %0, %%clusterid.z;" : "=r"(id[2]));
    asm("mov.u32 %0, %%nclusterid.x;" : "=r"(ids[0]));
    asm("mov.u32 %0, %%nclusterid.y;" : "=r"(ids[1]));
    asm("mov.u32 %0, %%nclusterid.z;" : "=r"(ids[2]));
    asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }"
        : "=r"(explicit_cluster));
    bool right = id[0] * size.x + at.x == blockIdx.x && id[1] * size.y + at.y == blockIdx.y
                 && id[2] * size.z + at.z == blockIdx.z && ids[0] * size.x == gridDim.x
                 && ids[1] * size.y == gridDim.y && ids[2] * size.z == gridDim.z
                 && cluster.block_rank() == at.x + size.x * (at.y + size.y * at.z)
                 && cluster.num_blocks() == size.x * size.y * size.z && explicit_cluster;
    if (!right)
        atomicAdd(wrong, 1);
    if (threadIdx.x % 2 || cluster.block_rank() == 1)
        return; /* those that have ended do not keep the others */
    cluster.sync();
    atomicAdd(wrong + 1, 1);
}

/* A histogram over the shared memory of all blocks of a cluster. */
__global__ void histogram(int *bins, const int *values, int each)
{
    extern __shared__ int mine[];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < each; i += blockDim.x)
        mine[i] = 0;
    cluster.sync();
    for (int i = cg::this_grid().thread_rank(); i < VALUES; i += gridDim.x * blockDim.x)
        atomicAdd(cluster.map_shared_rank(mine, values[i] / each) + values[i] % each, 1);
    cluster.sync();
    for (int i = threadIdx.x; i < each; i += blockDim.x)
        atomicAdd(&bins[cluster.block_rank() * each + i], mine[i]);
}

template <typename... Parameters, typename... Values>
static cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 cluster, size_t shared,
                          Values... values)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = cluster.x;
    attribute[0].val.clusterDim.y = cluster.y;
    attribute[0].val.clusterDim.z = cluster.z;
    config.gridDim = grid;
    config.blockDim = dim3(THREADS);
    config.dynamicSmemBytes = shared;
    config.attrs = attribute;
    config.numAttrs = 1;
    int active = 0;
    cudaError_t error = cudaOccupancyMaxActiveClusters(&active, kernel, &config);
    if (error == cudaSuccess && active == 0)
        return cudaErrorInvalidClusterSize;
    return cudaLaunchKernelEx(&config, kernel, values...);
}

static int largest(void (*kernel)(int *))
{
    cudaLaunchConfig_t config = {};
    int blocks = 0;
    config.blockDim = dim3(THREADS);
    return cudaOccupancyMaxPotentialClusterSize(&blocks, kernel, &config) == cudaSuccess ? blocks
                                                                                         : -1;
}

int main()
{
    int *out, *wrong, *values, *bins;
    cudaMallocManaged(&out, 2 * RING * THREADS * sizeof *out);
    cudaMallocManaged(&wrong, 2 * sizeof *wrong);
    cudaMallocManaged(&values, VALUES * sizeof *values);
    cudaMallocManaged(&bins, BINS * sizeof *bins);
    wrong[0] = wrong[1] = 0;
    int wanted[BINS] = {};
    for (int i = 0; i < BINS; i++)
        bins[i] = 0;
    for (int i = 0; i < VALUES; i++)
        wanted[values[i] = (i * 7919 + i * i) % BINS]++;
    ring<<<2 * RING, THREADS>>>(out);
    bool good = launch(places, dim3(4, 6, 2), dim3(2, 3, 1), 0, wrong) == cudaSuccess;
    good &= launch(histogram, dim3(8), dim3(2), BINS / 2 * sizeof(int), bins, (const int *)values,
                   BINS / 2)
            == cudaSuccess;
    good &= launch(places, dim3(4), dim3(3), 0, wrong) == cudaErrorInvalidClusterSize;
    good &= launch(places, dim3(16), dim3(16), 0, wrong) == cudaErrorInvalidClusterSize;
    good &= largest(places) == 8;
    cudaFuncSetAttribute(places, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    good &= largest(places) == 16;
    good &= cudaGetLastError() == cudaErrorInvalidClusterSize;
    good &= cudaDeviceSynchronize() == cudaSuccess && wrong[0] == 0;
    good &= wrong[1] == 4 * 6 * 2 * 5 / 6 * THREADS / 2;
    for (int b = 0; b < 2 * RING; b++)
        for (int t = 0; t < THREADS; t++)
            good &= out[b * THREADS + t] == (b / RING * RING + (b + 1) % RING) * 1000 + t;
    for (int i = 0; i < BINS; i++)
        good &= bins[i] == wanted[i];
    cudaFree(out);
    cudaFree(wrong);
    cudaFree(values);
    cudaFree(bins);
    std::puts(good ? "PASS" : "FAIL");
    return !good;
}
