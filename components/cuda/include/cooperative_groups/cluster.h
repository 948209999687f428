/* Clusters of blocks (sm_90) and their shared memory: a part of cooperative_groups.h. */
#ifndef HEDDLE_CUDA_CLUSTER_H
#define HEDDLE_CUDA_CLUSTER_H

#include "../cooperative_groups.h"

#ifdef __CUDA__

namespace cooperative_groups
{

#define HEDDLE_GROUP __device__ __forceinline__

namespace heddle
{
#define HEDDLE_CLUSTER(name, register)                                                             \
    HEDDLE_GROUP unsigned int name()                                                               \
    {                                                                                              \
        unsigned int value;                                                                        \
        asm volatile("mov.u32 %0, %%" register ";" : "=r"(value));                                 \
        return value;                                                                              \
    }
HEDDLE_CLUSTER(cluster_x, "cluster_ctaid.x")
HEDDLE_CLUSTER(cluster_y, "cluster_ctaid.y")
HEDDLE_CLUSTER(cluster_z, "cluster_ctaid.z")
HEDDLE_CLUSTER(cluster_size_x, "cluster_nctaid.x")
HEDDLE_CLUSTER(cluster_size_y, "cluster_nctaid.y")
HEDDLE_CLUSTER(cluster_size_z, "cluster_nctaid.z")
HEDDLE_CLUSTER(cluster_rank, "cluster_ctarank")
HEDDLE_CLUSTER(cluster_blocks, "cluster_nctarank")
#undef HEDDLE_CLUSTER
} // namespace heddle

class cluster_group
{
  public:
    using arrival_token = int;
    static HEDDLE_GROUP void barrier_arrive()
    {
        asm volatile("barrier.cluster.arrive.release;" ::: "memory");
    }
    static HEDDLE_GROUP void barrier_wait()
    {
        asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
    }
    static HEDDLE_GROUP void sync()
    {
        barrier_arrive();
        barrier_wait();
    }
    static HEDDLE_GROUP dim3 block_index()
    {
        return dim3(heddle::cluster_x(), heddle::cluster_y(), heddle::cluster_z());
    }
    static HEDDLE_GROUP unsigned int block_rank() { return heddle::cluster_rank(); }
    static HEDDLE_GROUP dim3 dim_blocks()
    {
        return dim3(heddle::cluster_size_x(), heddle::cluster_size_y(), heddle::cluster_size_z());
    }
    static HEDDLE_GROUP unsigned int num_blocks() { return heddle::cluster_blocks(); }
    static HEDDLE_GROUP dim3 dim_threads()
    {
        const dim3 blocks = dim_blocks();
        return dim3(blocks.x * blockDim.x, blocks.y * blockDim.y, blocks.z * blockDim.z);
    }
    static HEDDLE_GROUP dim3 thread_index()
    {
        const dim3 at = block_index();
        return dim3(at.x * blockDim.x + threadIdx.x, at.y * blockDim.y + threadIdx.y,
                    at.z * blockDim.z + threadIdx.z);
    }
    static HEDDLE_GROUP unsigned int num_threads()
    {
        return num_blocks() * (unsigned int)thread_block::size();
    }
    static HEDDLE_GROUP unsigned int size() { return num_threads(); }
    static HEDDLE_GROUP unsigned int thread_rank()
    {
        return block_rank() * (unsigned int)thread_block::size() + heddle::block_rank();
    }
    /* The place of another block that has this one's offset; whose place it is. */
    template <typename T> static HEDDLE_GROUP T *map_shared_rank(T *place, int rank)
    {
        T *other;
        asm volatile("mapa.u64 %0, %1, %2;" : "=l"(other) : "l"(place), "r"(rank));
        return other;
    }
    template <typename T> static HEDDLE_GROUP unsigned int query_shared_rank(const T *place)
    {
        unsigned int rank;
        asm volatile("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(place));
        return rank;
    }
};
HEDDLE_GROUP cluster_group this_cluster() { return cluster_group(); }

#undef HEDDLE_GROUP
} // namespace cooperative_groups

#endif

#endif
