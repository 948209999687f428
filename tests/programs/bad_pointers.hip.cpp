// Host pointers that a copy cannot use are errors of HIP, not crashes: null and near it, where nothing is, a range that ends too early,
// memory that cannot be written, pinned memory that was freed, memory of the simulator. The device goes on.
#include "check.hpp"

#include <sys/mman.h>

static const size_t BYTES = 8192;
static char *device;

static bool refused(const char *what, void *host, bool to_host)
{
    hipError_t error = to_host ? hipMemcpy(host, device, BYTES, hipMemcpyDeviceToHost)
                               : hipMemcpyAsync(device, host, BYTES, hipMemcpyHostToDevice, nullptr);
    if (error != hipErrorInvalidValue) {
        std::printf("FAIL bad_pointers: %s: %s\n", what, hipGetErrorName(error));
    }
    return error == hipErrorInvalidValue;
}

static char *map(int rights)
{
    void *memory = mmap(nullptr, 2 * BYTES, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        std::exit(2);
    }
    return static_cast<char *>(memory);
}

int main()
{
    char *two = map(PROT_READ | PROT_WRITE), *fixed = map(PROT_READ), *pinned = nullptr;
    HIP_MUST(hipMalloc(reinterpret_cast<void **>(&device), BYTES));
    HIP_MUST(hipHostMalloc(&pinned, BYTES));
    HIP_MUST(hipHostFree(pinned));
    munmap(two + BYTES, BYTES);
    bool good = true;
    for (bool to_host : {false, true}) {
        good &= refused("null", nullptr, to_host);
        good &= refused("near null", reinterpret_cast<void *>(uintptr_t{24}), to_host);
        good &= refused("where nothing is", reinterpret_cast<void *>(uintptr_t{0x7000}), to_host);
        good &= refused("ends too early", two + BYTES - 4096, to_host);
        good &= refused("freed pinned memory", pinned, to_host);
        good &= refused("of the simulator", reinterpret_cast<void *>(uintptr_t{0x180000001000}), to_host);
    }
    good &= refused("cannot be written", fixed, true);
    HIP_MUST(hipMemcpy(device, fixed, BYTES, hipMemcpyHostToDevice));
    HIP_MUST(hipMemset(device, 3, BYTES));
    HIP_MUST(hipMemcpy(two, device, BYTES, hipMemcpyDeviceToHost));
    return good && two[0] == 3 && two[BYTES - 1] == 3 ? pass("bad_pointers") : 1;
}
