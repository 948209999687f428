// A host thread that spins on a flag that another sets after its GPU work: the run says that the order of host threads is
// no longer kept, and ends well.
#include "check.hpp"

#include <atomic>
#include <thread>

__global__ void add(int *data)
{
    data[threadIdx.x] += 1;
}

int main()
{
    std::vector<int> data(64);
    int *device = to_device(data);
    std::atomic<bool> ready{false};
    auto use = [&] {
        add<<<1, 64>>>(device);
        HIP_MUST(hipGetLastError());
        HIP_MUST(hipDeviceSynchronize());
    };
    std::thread spinner([&] {
        while (!ready) {
        }
        use();
    });
    std::thread setter([&] {
        use();
        ready = true;
    });
    spinner.join();
    setter.join();
    HIP_MUST(hipMemcpy(data.data(), device, data.size() * sizeof(int), hipMemcpyDeviceToHost));
    return same_or_report("bad_spin", data, std::vector<int>(64, 2)) ? pass("bad_spin") : 1;
}
