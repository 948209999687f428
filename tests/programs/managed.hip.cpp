// Managed memory: host and kernels use the same pointers in turn, also through pointers inside managed structures, managed
// variables, several host threads, hipMemcpy in all directions, prefetches, and freeing. The same for pinned memory that
// kernels reach through a device pointer. Arguments: [elements].
#include "check.hpp"

#include <cstring>
#include <thread>

__managed__ int counters[4] = {10, 20, 30, 40};
__managed__ double unset;

struct node {
    node *next;
    int value;
};

__global__ void scale(int *data, int n, int factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        data[i] = data[i] * factor + i;
    }
}

__global__ void walk(const node *list, int *sum)
{
    for (; list; list = list->next) {
        *sum += list->value;
    }
}

__global__ void count(int rounds)
{
    counters[threadIdx.x] += rounds;
    if (threadIdx.x == 0) {
        unset += 0.5;
    }
}

// Variables are there before any call, keep their values, and are seen by both sides; also by name.
static bool variables()
{
    int copy[4] = {}, seven = 7;
    bool good = counters[2] == 30 && unset == 0;
    counters[1] = 21;
    count<<<1, 4>>>(5);
    HIP_MUST(hipDeviceSynchronize());
    good &= counters[0] == 15 && counters[1] == 26 && counters[3] == 45 && unset == 0.5;
    HIP_MUST(hipMemcpyToSymbol(HIP_SYMBOL(counters), &seven, sizeof seven, 4));
    count<<<1, 4>>>(1);
    HIP_MUST(hipMemcpyFromSymbol(copy, HIP_SYMBOL(counters), sizeof copy));
    good &= copy[0] == 16 && copy[1] == 8 && copy[2] == 36 && counters[1] == 8 && unset == 1.0;
    if (!good) {
        std::printf("FAIL managed: variables %d %d %d %d %g\n", counters[0], counters[1], counters[2], counters[3], unset);
    }
    return good;
}

// Many pages, touched upwards, downwards and here and there, by a host thread of their own for each half.
static bool large()
{
    const int n = 1 << 19;
    int *data = nullptr;
    bool good[2] = {true, true};
    HIP_MUST(hipMallocManaged(&data, n * sizeof(int)));
    for (int i = 0; i < n; i += 1000) {
        data[i] = i;
    }
    scale<<<blocks_for(n, 256), 256>>>(data, n, 3);
    HIP_MUST(hipGetLastError());
    auto half = [&](int part) {
        int first = part * (n / 2);
        for (int i = first; i < first + n / 2; i++) {
            good[part] &= i % 1000 != 0 || data[i] == 4 * i;
        }
        for (int i = first + n / 2 - 1000; i >= first; i -= 30011) {
            data[i] = -i;
        }
    };
    std::thread other(half, 1);
    half(0);
    other.join();
    scale<<<blocks_for(n, 256), 256>>>(data, n, 2);
    HIP_MUST(hipGetLastError());
    for (int part = 0; part < 2; part++) {
        for (int i = (part + 1) * (n / 2) - 1000; i >= part * (n / 2); i -= 30011) {
            good[part] &= data[i] == -i;
        }
    }
    HIP_MUST(hipFree(data));
    if (!good[0] || !good[1]) {
        std::printf("FAIL managed: large allocation\n");
    }
    return good[0] && good[1];
}

// Copies of every kind that HIP has for a managed pointer on either side.
static bool copies(int n)
{
    int *managed = nullptr, *device = nullptr, *pinned = nullptr;
    std::vector<int> want(n), got(n);
    for (int i = 0; i < n; i++) {
        want[i] = i * i + 1;
    }
    size_t bytes = n * sizeof(int);
    HIP_MUST(hipMallocManaged(&managed, bytes));
    HIP_MUST(hipMalloc(&device, bytes));
    HIP_MUST(hipHostMalloc(&pinned, bytes));
    std::memcpy(managed, want.data(), bytes);
    HIP_MUST(hipMemcpy(device, managed, bytes, hipMemcpyHostToDevice));
    managed[0] = 99; // still readable and writable after having been a source
    HIP_MUST(hipMemcpy(managed, device, bytes, hipMemcpyDeviceToHost));
    HIP_MUST(hipMemcpy(pinned, managed, bytes, hipMemcpyHostToHost));
    std::memcpy(got.data(), managed, bytes);
    bool good = same_or_report("managed: device to host", got, want);
    std::memcpy(got.data(), pinned, bytes);
    good &= same_or_report("managed: host to host", got, want);
    HIP_MUST(hipMemsetD32(hipDeviceptr_t(managed), 5, n));
    HIP_MUST(hipMemcpyAsync(device, managed, bytes, hipMemcpyDeviceToDevice, nullptr));
    HIP_MUST(hipMemcpy(got.data(), device, bytes, hipMemcpyDefault));
    good &= same_or_report("managed: device to device", got, std::vector<int>(n, 5));
    HIP_MUST(hipFree(managed));
    HIP_MUST(hipFree(device));
    HIP_MUST(hipHostFree(pinned));
    return good;
}

// Pinned memory with a device address: kernels and copies see what the host wrote, and the host what they did.
static bool mapped(int n)
{
    int *host = nullptr, *device = nullptr, *other = nullptr, *again = nullptr;
    std::vector<int> want(n), got(n);
    size_t bytes = n * sizeof(int);
    HIP_MUST(hipHostMalloc(&host, bytes));
    HIP_MUST(hipMalloc(&other, bytes));
    for (int i = 0; i < n; i++) {
        host[i] = i + 7;
        want[i] = 3 * (2 * (i + 7) + i) + i;
    }
    HIP_MUST(hipMemcpyAsync(other, host, bytes, hipMemcpyHostToDevice, nullptr)); // still under way when it is mapped
    HIP_MUST(hipHostGetDevicePointer(reinterpret_cast<void **>(&device), host, 0));
    HIP_MUST(hipHostGetDevicePointer(reinterpret_cast<void **>(&again), host + n / 2, 0));
    scale<<<blocks_for(n, 64), 64>>>(device, n, 2);
    HIP_MUST(hipMemcpyAsync(other, host, bytes, hipMemcpyHostToDevice, nullptr));
    scale<<<blocks_for(n, 64), 64>>>(other, n, 3);
    HIP_MUST(hipMemcpyAsync(host, other, bytes, hipMemcpyDeviceToHost, nullptr));
    HIP_MUST(hipDeviceSynchronize());
    std::memcpy(got.data(), host, bytes);
    bool good = same_or_report("managed: mapped", got, want) && again == device + n / 2;
    host[0]++;
    HIP_MUST(hipMemcpy(got.data(), device, bytes, hipMemcpyDeviceToHost));
    good &= got[0] == want[0] + 1 && got[n - 1] == want[n - 1];
    hipPointerAttribute_t attributes;
    HIP_MUST(hipPointerGetAttributes(&attributes, host + 1));
    good &= attributes.devicePointer == device + 1 && attributes.hostPointer == host + 1;
    HIP_MUST(hipPointerGetAttributes(&attributes, device + 1));
    good &= attributes.devicePointer == device + 1 && attributes.hostPointer == host + 1;
    HIP_MUST(hipHostFree(host));
    HIP_MUST(hipFree(other));
    if (!good) {
        std::printf("FAIL managed: mapped memory\n");
    }
    return good;
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 3000);
    int *data = nullptr, *other = nullptr;
    HIP_MUST(hipMallocManaged(&data, n * sizeof(int)));
    HIP_MUST(hipMallocManaged(&other, n * sizeof(int)));
    std::vector<int> want(n), got(n);
    for (int i = 0; i < n; i++) {
        data[i] = want[i] = 3 * i - 100;
    }
    for (int round = 0; round < 3; round++) {
        scale<<<blocks_for(n, 64), 64>>>(data, n, round + 2);
        HIP_MUST(hipGetLastError());
        if (round == 1) {
            HIP_MUST(hipDeviceSynchronize());
        }
        for (int i = 0; i < n; i++) {
            want[i] = want[i] * (round + 2) + i;
            got[i] = data[i];
        }
        if (!same_or_report("managed: read by the host", got, want)) {
            return 1;
        }
        data[round * 7] = want[round * 7] = -5; // read and write of the same page on the host, then a kernel again
    }
    HIP_MUST(hipMemcpy(other, data, n * sizeof(int), hipMemcpyDefault));
    HIP_MUST(hipMemset(data, 0, sizeof(int)));
    HIP_MUST(hipMemcpy(got.data(), other, n * sizeof(int), hipMemcpyDeviceToHost));
    if (!same_or_report("managed: copied", got, want) || data[0] != 0 || data[n - 1] != want[n - 1]) {
        std::printf("FAIL managed: %d and %d after a fill\n", data[0], data[n - 1]);
        return 1;
    }
    HIP_MUST(hipMemcpy(data, want.data(), n * sizeof(int), hipMemcpyHostToDevice));
    HIP_MUST(hipMemPrefetchAsync(data, n * sizeof(int), 0));
    if (data[n / 2] != want[n / 2]) {
        std::printf("FAIL managed: after a prefetch\n");
        return 1;
    }

    node *nodes = nullptr;
    int expected = 0, count = 40;
    HIP_MUST(hipMallocManaged(&nodes, count * sizeof(node)));
    for (int i = 0; i < count; i++) {
        nodes[i] = {i + 1 < count ? &nodes[i + 1] : nullptr, i * i};
        expected += i * i;
    }
    other[0] = 0;
    walk<<<1, 1>>>(nodes, other);
    HIP_MUST(hipDeviceSynchronize());
    if (other[0] != expected || nodes[3].value != 9) {
        std::printf("FAIL managed: sum %d, expected %d\n", other[0], expected);
        return 1;
    }
    hipPointerAttribute_t attributes;
    HIP_MUST(hipPointerGetAttributes(&attributes, data + 1));
    if (!attributes.isManaged || attributes.devicePointer != data + 1 || attributes.hostPointer != data + 1) {
        std::printf("FAIL managed: attributes\n");
        return 1;
    }
    if (!variables() || !large() || !copies(n) || !mapped(n)) {
        return 1;
    }
    HIP_MUST(hipMemAdvise(nodes, count * sizeof(node), hipMemAdviseSetReadMostly, 0));
    HIP_MUST(hipFree(nodes));
    HIP_MUST(hipFree(data));
    HIP_MUST(hipFree(other));
    return pass("managed");
}
