// Mistakes of kernels for GPUs with clusters of blocks (sm_90), as cuda_cases.hpp says.
#include "cuda_cases.hpp"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;
#define CLUSTER __global__ void __cluster_dims__(4, 1, 1)

// The neighbour's shared memory is read before all have written.
template <bool wrong> CLUSTER unordered(int *data, int *) // unordered: race
{
    __shared__ int own[block];
    cg::cluster_group cluster = cg::this_cluster();
    cluster.sync(); // all blocks have begun
    own[threadIdx.x] = threadIdx.x; // unordered: first
    if (wrong) {
        __syncthreads();
    } else {
        cluster.sync();
    }
    int *other = cluster.map_shared_rank(own, (cluster.block_rank() + 1) % 4);
    data[block * cluster.block_rank() + threadIdx.x] = other[threadIdx.x]; // unordered: second
    cluster.sync();
}

// A block writes again what its neighbour may still read: two phases are two.
template <bool wrong> CLUSTER again(int *data, int *) // again: race
{
    __shared__ int own[block];
    cg::cluster_group cluster = cg::this_cluster();
    int *other = cluster.map_shared_rank(own, cluster.block_rank() ^ 1), sum = 0;
    for (int step = 0; step < 3; step++) {
        own[threadIdx.x] = step; // again: first
        cluster.sync();
        sum += other[threadIdx.x]; // again: second
        if (!wrong || step == 2) {
            cluster.sync();
        }
    }
    data[block * cluster.block_rank() + threadIdx.x] = sum;
}

// Shared memory is over with its block.
template <bool wrong> CLUSTER early(int *data, int *) // early: race
{
    __shared__ int own[block];
    cg::cluster_group cluster = cg::this_cluster();
    own[threadIdx.x] = threadIdx.x;
    cluster.sync();
    int *other = cluster.map_shared_rank(own, (cluster.block_rank() + 1) % 4);
    if (cluster.block_rank() == 0) {
        data[threadIdx.x] = other[threadIdx.x]; // early: first
    }
    if (!wrong) {
        cluster.sync();
    }
} // early: second

// The neighbour's count begins with nothing.
template <bool wrong> CLUSTER count(int *data, int *) // count: uninitialised-store
{
    __shared__ int own;
    cg::cluster_group cluster = cg::this_cluster();
    if (!wrong && threadIdx.x == 0) {
        own = 0;
    }
    cluster.sync();
    atomicAdd(cluster.map_shared_rank(&own, (cluster.block_rank() + 1) % 4), 1); // count: first
    cluster.sync();
    data[block * cluster.block_rank() + threadIdx.x] = own;
}

int main(int words, char **arguments)
{
    static const Case cases[] = {CASE(unordered, 4), CASE(again, 4), CASE(early, 4),
                                 CASE(count, 4)};
    return run_case(cases, words, arguments);
}
