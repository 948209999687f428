// What calls of HIP cost the host: CPU time of the process a call. With `keyless` it takes all keys
// for pages first, so that the simulator has none, as on a processor without them.
#include "check.hpp"

#include <ctime>
#include <sys/mman.h>

static double microseconds()
{
    timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) * 1e6 + static_cast<double>(used.tv_nsec) / 1e3;
}

template <typename body> static void measure(const char *name, int rounds, body run)
{
    run(); // is set up
    HIP_MUST(hipDeviceSynchronize());
    double begin = microseconds();
    for (int i = 0; i < rounds; i++) {
        run();
    }
    std::printf("%s: %.2f us\n", name, (microseconds() - begin) / rounds);
    HIP_MUST(hipDeviceSynchronize());
}

__global__ void count(int *counter)
{
    counter[0]++;
}

int main(int argc, char **argv)
{
    int rounds = size_argument(argc, argv, 1, 8);
    bool keyless = argc > 2 && !std::strcmp(argv[2], "keyless");
    while (keyless && pkey_alloc(0, 0) > 0) {
    }
    int *counter, value = 0;
    allocate(&counter, sizeof *counter);
    HIP_MUST(hipMemset(counter, 0, sizeof *counter));
    measure("hipGetDevice", rounds, [] {
        int device;
        HIP_MUST(hipGetDevice(&device));
    });
    measure("hipMalloc and hipFree", rounds, [] {
        void *memory;
        HIP_MUST(hipMalloc(&memory, 4096));
        HIP_MUST(hipFree(memory));
    });
    measure("launch", rounds, [=] { count<<<1, 1>>>(counter); });
    measure("launch and synchronise", rounds, [=] {
        count<<<1, 1>>>(counter);
        HIP_MUST(hipDeviceSynchronize());
    });
    measure("hipMemcpy of 4 bytes", rounds,
            [&] { HIP_MUST(hipMemcpy(&value, counter, sizeof value, hipMemcpyDeviceToHost)); });
    std::vector<int> got{value}, want{2 * (rounds + 1)};
    return same_or_report("call_costs", got, want) ? pass("call_costs") : 1;
}
