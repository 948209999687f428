// Kernels use memory of the host by the host's own pointers: pinned, registered (from the heap, the stack and static memory, at any
// address, sharing pages with other data), through arguments, through pointers in memory, from all devices. Arguments: [elements].
#include "check.hpp"

static unsigned table[1000];
static unsigned char small[2][48]; // in one page

struct node {
    node *next;
    int value;
};

struct view {
    unsigned *data;
    const unsigned *other;
    unsigned count;
};

__global__ void add(unsigned *data, unsigned count, unsigned salt)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        data[i] = data[i] * 3 + salt + i;
    }
}

__global__ void add_bytes(unsigned char *data, unsigned count)
{
    if (threadIdx.x < count) {
        data[threadIdx.x] += 5;
    }
}

__global__ void through(const view *v)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < v->count) {
        v->data[i] += v->other[i];
    }
}

__global__ void by_value(view v)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < v.count) {
        v.data[i] += 2 * v.other[i];
    }
}

__global__ void walk(const node *list, int *sum)
{
    for (; list; list = list->next) {
        *sum += list->value;
    }
}

static bool check(const char *what, bool good)
{
    if (!good) {
        std::printf("FAIL host_memory: %s\n", what);
    }
    return good;
}

static unsigned expected(unsigned before, unsigned salt, unsigned i)
{
    return before * 3 + salt + i;
}

static bool pinned(unsigned n)
{
    unsigned *data = nullptr, *again = nullptr, flags = 0;
    bool good = true;
    HIP_MUST(hipHostMalloc(&data, n * sizeof *data, hipHostMallocPortable));
    for (unsigned i = 0; i < n; i++) {
        data[i] = i;
    }
    for (unsigned round = 0; round < 3; round++) {
        add<<<blocks_for(n, 64), 64>>>(data, n, round);
        HIP_MUST(hipDeviceSynchronize());
        data[round] += 1000; // and the host goes on with it
    }
    for (unsigned i = 0; i < n; i++) {
        unsigned want = i;
        for (unsigned round = 0; round < 3; round++) {
            want = expected(want, round, i) + (i == round ? 1000 : 0);
        }
        good &= data[i] == want;
    }
    HIP_MUST(hipHostGetDevicePointer(reinterpret_cast<void **>(&again), data + 1, 0));
    HIP_MUST(hipHostGetFlags(&flags, data));
    hipPointerAttribute_t attributes;
    HIP_MUST(hipPointerGetAttributes(&attributes, data + 2));
    good &= again == data + 1 && flags == hipHostMallocPortable && attributes.memoryType == hipMemoryTypeHost
            && attributes.hostPointer == data + 2 && attributes.devicePointer == data + 2;
    HIP_MUST(hipHostFree(data));
    return check("pinned memory", good);
}

// Memory of the heap, the stack and static memory, one beginning inside of a page after the other.
static bool registered(unsigned *data, unsigned n, const char *what)
{
    bool good = true;
    unsigned before = data[-1], behind = data[n];
    for (unsigned i = 0; i < n; i++) {
        data[i] = 7 * i;
    }
    HIP_MUST(hipHostRegister(data, n * sizeof *data, hipHostRegisterDefault));
    good &= hipHostRegister(data, n * sizeof *data, 0) == hipErrorHostMemoryAlreadyRegistered;
    good &= hipHostRegister(data + n - 1, 400, 0) == hipErrorHostMemoryAlreadyRegistered;
    add<<<blocks_for(n, 64), 64>>>(data, n, 1);
    data[-1]++; // its neighbours belong to the host
    HIP_MUST(hipDeviceSynchronize());
    for (unsigned i = 0; i < n; i++) {
        good &= data[i] == expected(7 * i, 1, i);
    }
    data[n / 2] = 11;
    add<<<blocks_for(n, 64), 64>>>(data, n, 2);
    HIP_MUST(hipDeviceSynchronize());
    for (unsigned i = 0; i < n; i++) {
        good &= data[i] == expected(i == n / 2 ? 11 : expected(7 * i, 1, i), 2, i);
    }
    unsigned *device = nullptr;
    HIP_MUST(hipHostGetDevicePointer(reinterpret_cast<void **>(&device), data, 0));
    good &= device == data && hipHostUnregister(data + 1) == hipErrorHostMemoryNotRegistered;
    HIP_MUST(hipMemset(data, 1, 8)); // of memory that HIP knows
    good &= data[0] == 0x01010101u;
    HIP_MUST(hipHostUnregister(data));
    good &= hipHostUnregister(data) == hipErrorHostMemoryNotRegistered;
    good &= data[-1] == before + 1 && data[n] == behind;
    hipGetLastError();
    return check(what, good);
}

// Two ranges in one page, used by one kernel after the other, unregistered in turn.
static bool neighbours()
{
    bool good = true;
    for (int i = 0; i < 2; i++) {
        std::memset(small[i], 10 * i, sizeof small[i]);
        HIP_MUST(hipHostRegister(small[i] + i, 40, 0));
    }
    for (int i = 0; i < 2; i++) {
        add_bytes<<<1, 64>>>(small[i] + i, 40);
    }
    HIP_MUST(hipDeviceSynchronize());
    HIP_MUST(hipHostUnregister(small[0]));
    add_bytes<<<1, 64>>>(small[1] + 1, 40);
    HIP_MUST(hipStreamSynchronize(nullptr));
    HIP_MUST(hipHostUnregister(small[1] + 1));
    good &= small[0][0] == 5 && small[0][39] == 5 && small[0][40] == 0 && small[1][0] == 10 && small[1][1] == 20
            && small[1][40] == 20 && small[1][41] == 10;
    return check("two ranges in a page", good);
}

// Addresses that reach the device in memory: in a structure that is copied, in an argument by value, in a list.
static bool pointers(unsigned n)
{
    unsigned *data = nullptr, *other = nullptr;
    view *device = nullptr;
    bool good = true;
    HIP_MUST(hipHostMalloc(&data, n * sizeof *data));
    HIP_MUST(hipHostMalloc(&other, n * sizeof *data));
    HIP_MUST(hipMalloc(&device, sizeof *device));
    for (unsigned i = 0; i < n; i++) {
        data[i] = i;
        other[i] = 100 * i;
    }
    view v = {data, other, n};
    HIP_MUST(hipMemcpy(device, &v, sizeof v, hipMemcpyHostToDevice));
    through<<<blocks_for(n, 64), 64>>>(device);
    by_value<<<blocks_for(n, 64), 64>>>(v);
    HIP_MUST(hipDeviceSynchronize());
    for (unsigned i = 0; i < n; i++) {
        good &= data[i] == 301 * i;
    }
    node *nodes = nullptr, last = {nullptr, 9};
    int *sum = nullptr;
    HIP_MUST(hipHostMalloc(&nodes, 10 * sizeof *nodes));
    HIP_MUST(hipHostMalloc(&sum, sizeof *sum));
    HIP_MUST(hipHostRegister(&last, sizeof last, 0));
    *sum = 1;
    for (int i = 0; i < 10; i++) {
        nodes[i] = {i < 9 ? &nodes[i + 1] : &last, i};
    }
    walk<<<1, 1>>>(nodes, sum);
    HIP_MUST(hipDeviceSynchronize());
    good &= *sum == 1 + 45 + 9;
    HIP_MUST(hipHostUnregister(&last));
    HIP_MUST(hipHostFree(nodes));
    HIP_MUST(hipHostFree(sum));
    HIP_MUST(hipHostFree(data));
    HIP_MUST(hipHostFree(other));
    HIP_MUST(hipFree(device));
    return check("pointers in memory", good);
}

// Copies to and from memory that kernels use, also while they run.
static bool copies(unsigned n)
{
    size_t bytes = n * sizeof(unsigned);
    std::vector<unsigned> heap(n);
    unsigned *device = nullptr, *host = nullptr;
    bool good = true;
    HIP_MUST(hipMalloc(&device, bytes));
    HIP_MUST(hipHostMalloc(&host, bytes));
    HIP_MUST(hipHostRegister(heap.data(), bytes, 0));
    for (unsigned *data : {heap.data(), host}) {
        for (unsigned i = 0; i < n; i++) {
            data[i] = i;
        }
        add<<<blocks_for(n, 64), 64>>>(data, n, 1);
        HIP_MUST(hipMemcpyAsync(device, data, bytes, hipMemcpyHostToDevice, nullptr)); // what the kernel has made
        add<<<blocks_for(n, 64), 64>>>(device, n, 2);
        HIP_MUST(hipMemcpyAsync(data, device, bytes, hipMemcpyDeviceToHost, nullptr));
        add<<<blocks_for(n, 64), 64>>>(data, n, 3); // of what the copy has brought
        HIP_MUST(hipDeviceSynchronize());
        for (unsigned i = 0; i < n; i++) {
            good &= data[i] == expected(expected(expected(i, 1, i), 2, i), 3, i);
        }
    }
    HIP_MUST(hipHostUnregister(heap.data()));
    HIP_MUST(hipHostFree(host));
    HIP_MUST(hipFree(device));
    return check("copies", good);
}

static bool devices(unsigned n)
{
    int count = 0;
    unsigned *data = nullptr;
    std::vector<unsigned> heap(n, 5);
    bool good = true;
    HIP_MUST(hipGetDeviceCount(&count));
    HIP_MUST(hipHostMalloc(&data, n * sizeof *data));
    std::memset(data, 0, n * sizeof *data);
    HIP_MUST(hipHostRegister(heap.data(), n * sizeof heap[0], hipHostRegisterPortable));
    std::vector<unsigned> want(n, 0), want_heap(n, 5);
    for (int d = 0; d < count; d++) {
        HIP_MUST(hipSetDevice(d));
        for (unsigned i = 0; i < n; i++) {
            want[i] = expected(want[i], static_cast<unsigned>(d), i);
            want_heap[i] = expected(want_heap[i], 1, i);
        }
        add<<<blocks_for(n, 64), 64>>>(data, n, static_cast<unsigned>(d));
        add<<<blocks_for(n, 64), 64>>>(heap.data(), n, 1);
        HIP_MUST(hipDeviceSynchronize());
    }
    for (unsigned i = 0; i < n; i++) {
        good &= data[i] == want[i] && heap[i] == want_heap[i];
    }
    HIP_MUST(hipSetDevice(0));
    HIP_MUST(hipHostUnregister(heap.data()));
    HIP_MUST(hipHostFree(data));
    return check("devices", good);
}

int main(int argc, char **argv)
{
    unsigned n = static_cast<unsigned>(size_argument(argc, argv, 1, 700)), local[500] = {};
    std::vector<unsigned> heap(n + 8);
    bool good = pinned(n) && pinned(40000) && registered(heap.data() + 3, n, "heap")
                && registered(local + 5, 400, "stack") && registered(table + 1, 990, "static memory");
    return good && neighbours() && pointers(n) && copies(n) && devices(n) ? pass("host_memory") : 1;
}
