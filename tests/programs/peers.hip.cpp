// Kernels that reach into the memory of other devices: each device reads the memory of the next one, writes into that of the
// one behind it, and all count in the memory of the first at the same time; then the owners read what others wrote, and
// what the host writes between two kernels is seen by the second. Arguments: [elements].
#include "check.hpp"

__global__ void gather(const int *from, int *to, int *remote, int n, int factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int value = from[i] * factor + i;
        to[i] = value;
        remote[n - 1 - i] = value + 7;
    }
}

__global__ void count(unsigned *bins, const int *keys, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&bins[keys[i] & 15], 1u);
        atomicMax(&bins[16], static_cast<unsigned>(keys[i] & 0xffff));
    }
}

__global__ void accumulate(int *to, const int *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        to[i] += from[i];
    }
}

struct device_memory {
    int *data;   // read by the device before
    int *result; // its own
    int *landed; // written by the device before
    unsigned *bins;
};

static std::vector<int> fetch(const int *from, int n)
{
    std::vector<int> got(n);
    HIP_MUST(hipMemcpy(got.data(), from, n * sizeof(int), hipMemcpyDeviceToHost));
    return got;
}

static void synchronize_all(int devices)
{
    for (int d = 0; d < devices; d++) {
        HIP_MUST(hipSetDevice(d));
        HIP_MUST(hipDeviceSynchronize());
    }
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 1000), devices = 0;
    size_t bytes = n * sizeof(int);
    HIP_MUST(hipGetDeviceCount(&devices));
    std::vector<device_memory> memory(devices);
    std::vector<std::vector<int>> data(devices, std::vector<int>(n));
    random_source random;
    for (int d = 0; d < devices; d++) {
        HIP_MUST(hipSetDevice(d));
        for (int other = 0; other < devices; other++) {
            int can = 0;
            HIP_MUST(hipDeviceCanAccessPeer(&can, d, other));
            if (can) {
                HIP_MUST(hipDeviceEnablePeerAccess(other, 0));
            } else if (other != d) {
                std::printf("FAIL peers: device %d cannot reach device %d\n", d, other);
                return 1;
            }
        }
        allocate(&memory[d].data, bytes);
        allocate(&memory[d].result, bytes);
        allocate(&memory[d].landed, bytes);
        allocate(&memory[d].bins, 17 * sizeof(unsigned));
        HIP_MUST(hipMemset(memory[d].bins, 0, 17 * sizeof(unsigned)));
        for (int &value : data[d]) {
            value = static_cast<int>(random.next() >> 8);
        }
        HIP_MUST(hipMemcpy(memory[d].data, data[d].data(), bytes, hipMemcpyHostToDevice));
    }
    for (int round = 0; round < 2; round++) {
        for (int d = 0; d < devices; d++) {
            int next = (d + 1) % devices;
            HIP_MUST(hipSetDevice(d));
            gather<<<blocks_for(n, 64), 64>>>(memory[next].data, memory[d].result, memory[next].landed, n, d + 3);
            HIP_MUST(hipGetLastError());
        }
        synchronize_all(devices);
        for (int d = 0; d < devices; d++) {
            int next = (d + 1) % devices;
            std::vector<int> own(n), away(n);
            for (int i = 0; i < n; i++) {
                own[i] = data[next][i] * (d + 3) + i;
                away[n - 1 - i] = own[i] + 7;
            }
            HIP_MUST(hipSetDevice(d));
            if (!same_or_report("peers: read from afar", fetch(memory[d].result, n), own) ||
                !same_or_report("peers: written from afar", fetch(memory[next].landed, n), away)) {
                return 1;
            }
            HIP_MUST(hipSetDevice(next)); // the owner sees it, too
            accumulate<<<blocks_for(n, 64), 64>>>(memory[next].landed, memory[next].data, n);
            HIP_MUST(hipDeviceSynchronize());
            for (int i = 0; i < n; i++) {
                away[i] += data[next][i];
            }
            if (!same_or_report("peers: read by the owner", fetch(memory[next].landed, n), away)) {
                return 1;
            }
        }
        for (int d = 0; d < devices; d++) { // what the host changes is seen in the next round
            for (int &value : data[d]) {
                value ^= 0x1234;
            }
            HIP_MUST(hipMemcpy(memory[d].data, data[d].data(), bytes, hipMemcpyHostToDevice));
        }
    }
    std::vector<unsigned> bins(17), want(17);
    for (int d = 0; d < devices; d++) {
        HIP_MUST(hipSetDevice(d));
        count<<<blocks_for(n, 64), 64>>>(memory[0].bins, memory[d].data, n);
        for (int value : data[d]) {
            unsigned low = static_cast<unsigned>(value) & 0xffff;
            want[value & 15]++;
            want[16] = low > want[16] ? low : want[16];
        }
    }
    synchronize_all(devices);
    HIP_MUST(hipMemcpy(bins.data(), memory[0].bins, 17 * sizeof(unsigned), hipMemcpyDeviceToHost));
    if (!same_or_report("peers: counted together", bins, want)) {
        return 1;
    }
    // Only the first device works; what it leaves in the caches of the last one is seen by copies, and copies by it.
    int last = devices - 1;
    HIP_MUST(hipSetDevice(0));
    for (int round = 0; round < 3; round++) {
        std::vector<int> away(n);
        gather<<<blocks_for(n, 64), 64>>>(memory[last].data, memory[0].result, memory[last].landed, n, round);
        for (int i = 0; i < n; i++) {
            away[n - 1 - i] = data[last][i] * round + i + 7;
            data[last][i] += round + 1;
        }
        if (!same_or_report("peers: alone", fetch(memory[last].landed, n), away)) {
            return 1;
        }
        HIP_MUST(hipMemcpy(memory[last].data, data[last].data(), bytes, hipMemcpyHostToDevice));
    }
    return pass("peers");
}
