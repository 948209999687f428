/* Cooperative groups of the CUDA C++ Programming Guide: own declarations of thread_block,
 * grid_group, thread_block_tile and coalesced_group with what they synchronise and exchange.
 * cooperative_groups/reduce.h, scan.h and memcpy_async.h are parts of this file. */
#ifndef HEDDLE_CUDA_COOPERATIVE_GROUPS_H
#define HEDDLE_CUDA_COOPERATIVE_GROUPS_H

#include <type_traits>

#include "cuda_runtime.h"

#ifdef __CUDA__

namespace cooperative_groups
{

#define HEDDLE_GROUP __device__ __forceinline__

namespace heddle
{
/* A value of any size as words, which shuffles exchange. */
template <typename T, typename Exchange>
HEDDLE_GROUP T exchange(const T &value, Exchange exchange_word)
{
    enum { words = (sizeof(T) + 3) / 4 };
    int in[words] = {}, out[words];
    __builtin_memcpy(in, &value, sizeof(T));
    for (int i = 0; i < words; i++)
        out[i] = exchange_word(in[i]);
    T result;
    __builtin_memcpy(&result, out, sizeof(T));
    return result;
}
HEDDLE_GROUP unsigned int lane()
{
    unsigned int lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}
HEDDLE_GROUP unsigned int lanes_below()
{
    unsigned int mask;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    return mask;
}
HEDDLE_GROUP unsigned int block_rank()
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
HEDDLE_GROUP unsigned long long grid_block_rank()
{
    return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}

/* The barrier of a grid whose blocks are all resident (cooperative launches): the last arrival
 * opens the next phase. */
static __device__ unsigned int grid_arrived;
static __device__ unsigned int grid_phase;
HEDDLE_GROUP void sync_grid()
{
    __syncthreads();
    if (block_rank() == 0) {
        unsigned int blocks = gridDim.x * gridDim.y * gridDim.z;
        unsigned int phase = *(volatile unsigned int *)&grid_phase;
        __threadfence();
        if (::atomicAdd(&grid_arrived, 1u) == blocks - 1) {
            *(volatile unsigned int *)&grid_arrived = 0;
            __threadfence();
            ::atomicAdd(&grid_phase, 1u);
        } else {
            while (*(volatile unsigned int *)&grid_phase == phase)
                __nanosleep(100);
        }
        __threadfence();
    }
    __syncthreads();
}
} // namespace heddle

/* ---- groups ---- */

class thread_group
{
  public:
    HEDDLE_GROUP void sync() const
    {
        if (kind == of_block)
            __syncthreads();
        else if (kind == of_grid)
            heddle::sync_grid();
        else
            __syncwarp(mask);
    }
    HEDDLE_GROUP unsigned long long size() const { return count; }
    HEDDLE_GROUP unsigned long long num_threads() const { return count; }
    HEDDLE_GROUP unsigned long long thread_rank() const { return rank; }
    HEDDLE_GROUP bool is_valid() const { return true; }

  protected:
    enum group_kind { of_block, of_grid, of_warp };
    HEDDLE_GROUP thread_group(group_kind kind_, unsigned int mask_, unsigned long long count_,
                              unsigned long long rank_)
        : kind(kind_), mask(mask_), count(count_), rank(rank_)
    {
    }
    group_kind kind;
    unsigned int mask;
    unsigned long long count, rank;
};

class thread_block : public thread_group
{
  public:
    HEDDLE_GROUP thread_block()
        : thread_group(of_block, 0, blockDim.x * blockDim.y * blockDim.z, heddle::block_rank())
    {
    }
    static HEDDLE_GROUP void sync() { __syncthreads(); }
    static HEDDLE_GROUP unsigned int size() { return blockDim.x * blockDim.y * blockDim.z; }
    static HEDDLE_GROUP unsigned int num_threads() { return size(); }
    static HEDDLE_GROUP unsigned int thread_rank() { return heddle::block_rank(); }
    static HEDDLE_GROUP dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static HEDDLE_GROUP dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    static HEDDLE_GROUP dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    static HEDDLE_GROUP dim3 dim_threads() { return group_dim(); }
};
HEDDLE_GROUP thread_block this_thread_block() { return thread_block(); }

class grid_group : public thread_group
{
  public:
    HEDDLE_GROUP grid_group()
        : thread_group(of_grid, 0,
                       (unsigned long long)gridDim.x * gridDim.y * gridDim.z * thread_block::size(),
                       heddle::grid_block_rank() * thread_block::size() + heddle::block_rank())
    {
    }
    HEDDLE_GROUP bool is_valid() const { return true; }
    HEDDLE_GROUP void sync() const { heddle::sync_grid(); }
    static HEDDLE_GROUP dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    static HEDDLE_GROUP dim3 dim_blocks() { return group_dim(); }
    static HEDDLE_GROUP unsigned long long num_blocks()
    {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    static HEDDLE_GROUP dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static HEDDLE_GROUP unsigned long long block_rank() { return heddle::grid_block_rank(); }
};
HEDDLE_GROUP grid_group this_grid() { return grid_group(); }

/* Lanes of a warp: what tiles and coalesced groups have in common. `Group` says which lane has a
 * rank. */
template <typename Group> class lanes : public thread_group
{
  public:
    HEDDLE_GROUP lanes(unsigned int mask_, unsigned int count_, unsigned int rank_)
        : thread_group(of_warp, mask_, count_, rank_)
    {
    }
    HEDDLE_GROUP void sync() const { __syncwarp(mask); }
    HEDDLE_GROUP unsigned int size() const { return (unsigned int)count; }
    HEDDLE_GROUP unsigned int num_threads() const { return (unsigned int)count; }
    HEDDLE_GROUP unsigned int thread_rank() const { return (unsigned int)rank; }
    HEDDLE_GROUP unsigned int lane_mask() const { return mask; }
    template <typename T> HEDDLE_GROUP T shfl(T value, unsigned int from) const
    {
        unsigned int source = own().lane_of(from);
        return heddle::exchange(value,
                                [&](int word) { return __shfl_sync(mask, word, (int)source); });
    }
    template <typename T> HEDDLE_GROUP T shfl_down(T value, unsigned int delta) const
    {
        return from_rank(value, rank + delta < count ? rank + delta : rank);
    }
    template <typename T> HEDDLE_GROUP T shfl_up(T value, unsigned int delta) const
    {
        return from_rank(value, rank >= delta ? rank - delta : rank);
    }
    HEDDLE_GROUP int any(int predicate) const
    {
        return __ballot_sync(mask, predicate) & mask ? 1 : 0;
    }
    HEDDLE_GROUP int all(int predicate) const
    {
        return (__ballot_sync(mask, predicate) & mask) == mask;
    }
    HEDDLE_GROUP unsigned int ballot(int predicate) const
    {
        return own().ranks_of(__ballot_sync(mask, predicate) & mask);
    }
    template <typename T> HEDDLE_GROUP unsigned int match_any(T value) const
    {
        return own().ranks_of(__match_any_sync(mask, value));
    }
    template <typename T> HEDDLE_GROUP unsigned int match_all(T value, int &all_same) const
    {
        return own().ranks_of(__match_all_sync(mask, value, &all_same));
    }

  private:
    HEDDLE_GROUP const Group &own() const { return *static_cast<const Group *>(this); }
    template <typename T> HEDDLE_GROUP T from_rank(T value, unsigned long long from) const
    {
        return shfl(value, (unsigned int)from);
    }
};

template <unsigned int Size, typename Parent = void>
class thread_block_tile : public lanes<thread_block_tile<Size, Parent>>
{
    static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                  "a tile has a power of two up to 32 threads");
    using base = lanes<thread_block_tile<Size, Parent>>;
    unsigned int number, numbers; /* among those that the parent was cut into */

  public:
    HEDDLE_GROUP explicit thread_block_tile(const thread_group &parent)
        : base((Size == 32 ? 0xffffffffu : (1u << Size % 32) - 1) << heddle::lane() / Size * Size,
               Size, heddle::lane() % Size),
          number((unsigned int)parent.thread_rank() / Size),
          numbers(((unsigned int)parent.size() + Size - 1) / Size)
    {
    }
    /* The parent may be any. */
    template <typename Other>
    HEDDLE_GROUP thread_block_tile(const thread_block_tile<Size, Other> &other)
        : base(other.lane_mask(), Size, other.thread_rank()), number(other.meta_group_rank()),
          numbers(other.meta_group_size())
    {
        static_assert(std::is_void<Parent>::value, "tiles of two parents are of two types");
    }
    static constexpr __device__ unsigned int size() { return Size; }
    static constexpr __device__ unsigned int num_threads() { return Size; }
    HEDDLE_GROUP unsigned int meta_group_rank() const { return number; }
    HEDDLE_GROUP unsigned int meta_group_size() const { return numbers; }
    template <typename T> HEDDLE_GROUP T shfl_xor(T value, unsigned int bits) const
    {
        unsigned int to = this->thread_rank() ^ bits;
        return this->shfl(value, to < Size ? to : this->thread_rank());
    }
    HEDDLE_GROUP unsigned int lane_of(unsigned int rank) const
    {
        return heddle::lane() / Size * Size + rank % Size;
    }
    HEDDLE_GROUP unsigned int ranks_of(unsigned int lanes) const
    {
        return lanes >> heddle::lane() / Size * Size
               & (Size == 32 ? 0xffffffffu : (1u << Size % 32) - 1);
    }
};

class coalesced_group : public lanes<coalesced_group>
{
  public:
    HEDDLE_GROUP explicit coalesced_group(unsigned int mask_)
        : lanes<coalesced_group>(mask_, __popc(mask_), __popc(mask_ & heddle::lanes_below()))
    {
    }
    HEDDLE_GROUP unsigned int meta_group_rank() const { return 0; }
    HEDDLE_GROUP unsigned int meta_group_size() const { return 1; }
    HEDDLE_GROUP unsigned int lane_of(unsigned int wanted) const
    {
        unsigned int rest = mask;
        for (unsigned int i = 0; i < wanted % count; i++)
            rest &= rest - 1;
        return __ffs(rest) - 1;
    }
    HEDDLE_GROUP unsigned int ranks_of(unsigned int lanes_) const
    {
        unsigned int ranks = 0, position = 0;
        for (unsigned int rest = mask; rest; rest &= rest - 1, position++)
            ranks |= (lanes_ >> (__ffs(rest) - 1) & 1) << position;
        return ranks;
    }
};
HEDDLE_GROUP coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

/* ---- partitions ---- */

template <unsigned int Size, typename Parent>
HEDDLE_GROUP thread_block_tile<Size, Parent> tiled_partition(const Parent &parent)
{
    return thread_block_tile<Size, Parent>(parent);
}
HEDDLE_GROUP coalesced_group tiled_partition(const thread_group &, unsigned int size)
{
    unsigned int first = heddle::lane() / size * size;
    return coalesced_group((size == 32 ? 0xffffffffu : (1u << size) - 1) << first);
}
template <typename Group, typename Label>
HEDDLE_GROUP coalesced_group labeled_partition(const lanes<Group> &parent, Label label)
{
    return coalesced_group(__match_any_sync(parent.lane_mask(), label));
}
template <typename Group>
HEDDLE_GROUP coalesced_group binary_partition(const lanes<Group> &parent, bool predicate)
{
    unsigned int those = __ballot_sync(parent.lane_mask(), predicate);
    return coalesced_group(predicate ? those : parent.lane_mask() & ~those);
}

template <typename Group> HEDDLE_GROUP void sync(const Group &group) { group.sync(); }
template <typename Group> HEDDLE_GROUP auto thread_rank(const Group &group)
{
    return group.thread_rank();
}
template <typename Group> HEDDLE_GROUP auto group_size(const Group &group) { return group.size(); }

/* ---- operators, reductions and scans (cooperative_groups/reduce.h and scan.h) ---- */

#define HEDDLE_OPERATOR(name, expression)                                                          \
    template <typename T = void> struct name {                                                     \
        HEDDLE_GROUP T operator()(const T &a, const T &b) const { return expression; }             \
    };                                                                                             \
    template <> struct name<void> {                                                                \
        template <typename T> HEDDLE_GROUP T operator()(const T &a, const T &b) const              \
        {                                                                                          \
            return expression;                                                                     \
        }                                                                                          \
    };
HEDDLE_OPERATOR(plus, a + b)
HEDDLE_OPERATOR(less, b < a ? b : a)
HEDDLE_OPERATOR(greater, a < b ? b : a)
HEDDLE_OPERATOR(bit_and, a &b)
HEDDLE_OPERATOR(bit_or, a | b)
HEDDLE_OPERATOR(bit_xor, a ^ b)
#undef HEDDLE_OPERATOR

template <typename Group, typename T, typename Operator>
HEDDLE_GROUP T reduce(const Group &group, T value, Operator &&combine)
{
    for (unsigned int step = 1; step < group.size(); step *= 2) {
        unsigned int from = group.thread_rank() + step;
        T other = group.shfl(value, from < group.size() ? from : group.thread_rank());
        if (group.thread_rank() % (2 * step) == 0 && from < group.size())
            value = combine(value, other);
    }
    return group.shfl(value, 0);
}
template <typename Group, typename T, typename Operator>
HEDDLE_GROUP T inclusive_scan(const Group &group, T value, Operator &&combine)
{
    for (unsigned int step = 1; step < group.size(); step *= 2) {
        T other = group.shfl_up(value, step);
        if (group.thread_rank() >= step)
            value = combine(other, value);
    }
    return value;
}
template <typename Group, typename T> HEDDLE_GROUP T inclusive_scan(const Group &group, T value)
{
    return inclusive_scan(group, value, plus<T>());
}
template <typename Group, typename T, typename Operator>
HEDDLE_GROUP T exclusive_scan(const Group &group, T value, Operator &&combine)
{
    T before = group.shfl_up(inclusive_scan(group, value, combine), 1);
    return group.thread_rank() ? before : T{};
}
template <typename Group, typename T> HEDDLE_GROUP T exclusive_scan(const Group &group, T value)
{
    return exclusive_scan(group, value, plus<T>());
}
template <typename Group, typename F> HEDDLE_GROUP void invoke_one(const Group &group, F &&function)
{
    if (group.thread_rank() == 0)
        function();
}

/* ---- copies (cooperative_groups/memcpy_async.h): complete when they return ---- */

template <typename Group, typename T>
HEDDLE_GROUP void memcpy_async(const Group &group, T *to, const T *from, size_t bytes)
{
    for (size_t i = group.thread_rank(); i < bytes / sizeof(T); i += group.size())
        to[i] = from[i];
}
template <typename Group> HEDDLE_GROUP void wait(const Group &group) { group.sync(); }
template <unsigned int Stages, typename Group> HEDDLE_GROUP void wait_prior(const Group &group)
{
    group.sync();
}

#undef HEDDLE_GROUP
} // namespace cooperative_groups
#include "cooperative_groups/cluster.h"
#endif

#endif
