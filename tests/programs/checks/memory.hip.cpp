// What was never written, LDS beyond the work-group's, writes to what is only read; as cases.hpp says.
#include "cases.hpp"

template <bool wrong> __global__ void address(int *data, int *more, int n) // address: uninitialised-address
{
    int i = static_cast<int>(threadIdx.x);
    if (!wrong) {
        more[i] = i;
    }
    int at = more[i];           // address: second
    data[at & (n - 1)] = n;     // address: first
}

template <bool wrong> __global__ void branch(int *data, int *more, int) // branch: uninitialised-branch
{
    int i = static_cast<int>(threadIdx.x);
    if (!wrong) {
        more[i] = i;
    }
    if (more[i] > 3) { // branch: first, branch: second
        data[i] = 1;
    }
}

template <bool wrong> __global__ void computed(int *data, int *more, int) // computed: uninitialised-store
{
    int i = static_cast<int>(threadIdx.x);
    if (!wrong) {
        more[i] = i;
    }
    int value = more[i];       // computed: second
    data[i] = 3 * value + i;   // computed: first
}

template <bool wrong> __global__ void copied(int *data, int *more, int) // copied: uninitialised-store
{
    int i = static_cast<int>(threadIdx.x);
    int value = more[i];               // copied: second
    data[i] = wrong ? value + 1 : value; // copied: first
}

template <bool wrong> __global__ void tail(int *data, int *more, int) // tail: uninitialised-store
{
    int i = static_cast<int>(threadIdx.x);
    if (i < (wrong ? 63 : 64)) {
        more[i] = i;
    }
    int value = more[i];  // tail: second
    data[i] = value + 1;  // tail: first
}

template <bool wrong> __global__ void lds_unwritten(int *data, int *, int) // lds_unwritten: uninitialised-branch
{
    __shared__ int kept[64];
    int i = static_cast<int>(threadIdx.x);
    if (!wrong || i == 0) {
        kept[i] = i;
    }
    __syncthreads();
    if (kept[63 - i] > 3) { // lds_unwritten: first, lds_unwritten: second
        data[i] = 1;
    }
}

template <bool wrong> __global__ void lds_count(int *data, int *, int) // lds_count: uninitialised-store
{
    __shared__ int counts[64];
    int i = static_cast<int>(threadIdx.x);
    if (!wrong) {
        counts[i] = 0;
    }
    __syncthreads();
    atomicAdd(&counts[i % 8], 1); // lds_count: first, lds_count: second
    __syncthreads();
    data[i] = counts[i % 8];
}

template <bool wrong> __global__ void private_array(int *data, int *, int n) // private_array: uninitialised-store
{
    volatile int kept[16];
    int i = static_cast<int>(threadIdx.x);
    for (int k = 0; k < (wrong ? n / 4096 : 16); k++) {
        kept[k] = k;
    }
    int value = kept[i % 16];  // private_array: second
    data[i] = value * 5;       // private_array: first
}

// What is not chosen does not matter.
template <bool wrong> __global__ void chosen(int *data, int *, int n) // chosen: uninitialised-store
{
    __shared__ int kept[64];
    int i = static_cast<int>(threadIdx.x), from = n - (wrong ? 4088 : 4080);
    if (i < 48) {
        kept[i] = i;
    }
    __syncthreads();
    int value = kept[63 - i];               // chosen: second
    data[i] = 3 * (i >= from ? value : 0);  // chosen: first
}

template <bool wrong> __global__ void scalar(int *data, int *more, int) // scalar: uninitialised-branch
{
    int all = wrong ? more[blockIdx.x] : 1; // scalar: second
    if (all == 5) {                         // scalar: first
        data[threadIdx.x] = 1;
    }
}

struct Padded {
    char letter;
    int number;
};

template <bool wrong> __global__ void padding(int *data, int *more, int) // padding: uninitialised-store
{
    Padded *from = reinterpret_cast<Padded *>(more), *to = reinterpret_cast<Padded *>(data);
    int i = static_cast<int>(threadIdx.x);
    from[i].letter = 'a';
    if (!wrong) {
        from[i].number = i;
    }
    __syncthreads();
    to[i] = from[(i + 1) % 64];
    __syncthreads();
    int value = to[i].number;        // padding: second
    data[256 + i] = 3 * value;       // padding: first
}

template <bool wrong> __global__ void lds_behind(int *data, int *, int n) // lds_behind: lds-overrun
{
    __shared__ volatile int kept[64];
    int i = static_cast<int>(threadIdx.x);
    kept[i] = i;
    kept[i + (wrong ? n / 64 : 0)] = i; // lds_behind: first
    data[i] = kept[i];
}

template <bool wrong> __global__ void lds_last(int *data, int *, int n) // lds_last: lds-overrun
{
    __shared__ volatile int kept[64];
    int i = static_cast<int>(threadIdx.x);
    kept[i] = i;
    data[i] = kept[wrong ? i + n / 4096 : i]; // lds_last: first
}

extern __shared__ int dynamic[];

template <bool wrong> __global__ void lds_dynamic(int *data, int *, int) // lds_dynamic: lds-overrun
{
    int i = static_cast<int>(threadIdx.x);
    if (wrong) {
        dynamic[i] = i; // lds_dynamic: first
        __syncthreads();
        data[i] = dynamic[63 - i]; // lds_dynamic: first
    } else {
        data[i] = i;
    }
}

template <bool wrong> __global__ void lds_before(int *data, int *, int n) // lds_before: lds-overrun
{
    __shared__ volatile int kept[64];
    int i = static_cast<int>(threadIdx.x);
    kept[i] = i;
    data[i] = kept[wrong ? i - n / 4096 : i]; // lds_before: first
}

template <bool wrong> __global__ void lds_wide(int *data, int *, int n) // lds_wide: lds-overrun
{
    __shared__ long long kept[64];
    int i = static_cast<int>(threadIdx.x);
    kept[i] = 1;
    int at = wrong ? i + n / 4096 : i;
    __atomic_fetch_add(&kept[at], 1ll, __ATOMIC_RELAXED); // lds_wide: first
    if (n < 0) {
        data[i] = static_cast<int>(kept[i]);
    }
}

__constant__ int table[64];
static __device__ const int fixed[4] = {1, 2, 3, 4};

template <bool wrong> __global__ void constant(int *data, int *, int n) // constant: read-only-store
{
    int *to = wrong ? const_cast<int *>(table) : data;
    asm volatile("" : "+v"(to)); // the compiler forgets that it is constant
    to[threadIdx.x] = n; // constant: first
    data[64 + threadIdx.x] = table[threadIdx.x];
}

template <bool wrong> __global__ void constant_atomic(int *data, int *, int) // constant_atomic: read-only-store
{
    int *to = wrong ? const_cast<int *>(table) : data;
    asm volatile("" : "+v"(to)); // the compiler forgets that it is constant
    if (threadIdx.x == 0) {
        __atomic_fetch_add(to, 1, __ATOMIC_RELAXED); // constant_atomic: first
    }
}

template <bool wrong> __global__ void rodata(int *data, int *, int n) // rodata: read-only-store
{
    volatile int *to = wrong ? const_cast<int *>(fixed) : data;
    if (threadIdx.x == 0) {
        to[n & 3] = 9; // rodata: first
    }
}

template <bool wrong> __global__ void arguments(int *data, int *, int n) // arguments: read-only-store
{
    auto *begin = reinterpret_cast<volatile int *>(
        const_cast<void *>((const void *)__builtin_amdgcn_kernarg_segment_ptr()));
    volatile int *to = wrong ? begin : data;
    if (threadIdx.x == 0) {
        to[4] = n; // arguments: first
    }
}

__device__ __attribute__((noinline)) void nothing()
{
    asm volatile("s_nop 0");
}

template <bool wrong> __global__ void code(int *data, int *, int n) // code: read-only-store
{
    volatile int *to = wrong ? reinterpret_cast<volatile int *>(&nothing) : data;
    if (threadIdx.x == 0) {
        to[64] = n; // code: first
    }
}

#define CASE(name, clear) {#name, name<false>, name<true>, 1, 64, clear}

int main(int argc, char **argv)
{
    static const Case cases[] = {
        CASE(address, false),       CASE(branch, false),          CASE(computed, false),
        CASE(copied, false),        CASE(tail, false),            CASE(lds_unwritten, true),
        CASE(lds_count, true),      CASE(private_array, true),    CASE(scalar, false),
        CASE(padding, false),       CASE(lds_behind, true),       CASE(lds_last, true),
        CASE(lds_dynamic, true),    CASE(lds_before, true),       CASE(lds_wide, true),
        CASE(constant, true),       CASE(constant_atomic, true),  CASE(rodata, true),
        CASE(arguments, true),      CASE(code, true),             CASE(chosen, true)};
    const char *name = argc > 1 ? argv[1] : "";
    bool wrong = argc > 2 && std::strcmp(argv[2], "wrong") == 0;
    return run_case(cases, sizeof cases / sizeof cases[0], name, wrong) ? 0 : 2;
}
