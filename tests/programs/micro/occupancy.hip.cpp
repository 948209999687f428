// Wavefronts of a kernel that a compute unit holds at a time, for kernels that need much of one
// resource: all wavefronts count themselves in, stay for a long time and count themselves out.
// Argument: the number of compute units; a second one: which kernel.
#include "micro.hpp"

// counter[0] is there now, counter[1] the most that ever were. A wavefront stays until nobody has
// come for a long time.
static __device__ inline void stay(int *counter)
{
    if (threadIdx.x % 64 == 0) {
        int before = atomicAdd(&counter[0], 1);
        atomicMax(&counter[1], before + 1);
    }
    uint64_t begin = micro_now();
    while (micro_now() - begin < 60000) {
        __builtin_amdgcn_s_sleep(127);
    }
    if (threadIdx.x % 64 == 0) {
        atomicSub(&counter[0], 1);
    }
}

#define HOLD(name, ...)                                                                            \
    __global__ __launch_bounds__(1024) void hold_##name(int *counter)                              \
    {                                                                                              \
        asm volatile("" ::: __VA_ARGS__);                                                          \
        stay(counter);                                                                             \
    }
#define HOLD_FEW(name, ...)                                                                        \
    __global__ __launch_bounds__(64) void hold_##name(int *counter)                                \
    {                                                                                              \
        asm volatile("" ::: __VA_ARGS__);                                                          \
        stay(counter);                                                                             \
    }

HOLD(plain, "v7")
HOLD(vgpr_28, "v27")
HOLD(vgpr_36, "v35")
HOLD(vgpr_64, "v63")
HOLD_FEW(vgpr_84, "v83")
HOLD_FEW(vgpr_128, "v127")
HOLD_FEW(vgpr_256, "v255")
HOLD(sgpr_80, "s73")
HOLD(sgpr_96, "s89")
HOLD(sgpr_102, "s95")

__global__ __launch_bounds__(1024) void hold_lds(int *counter)
{
    extern __shared__ char bytes[];
    asm volatile("" ::"v"(bytes));
    stay(counter);
}

struct one {
    const char *name;
    void (*kernel)(int *);
    int threads, lds;
};

int main(int argc, char **argv)
{
    static const one all[] = {
        {"plain/64", hold_plain, 64, 0},         {"plain/256", hold_plain, 256, 0},
        {"plain/320", hold_plain, 320, 0},       {"plain/1024", hold_plain, 1024, 0},
        {"vgpr_28/256", hold_vgpr_28, 256, 0},   {"vgpr_36/256", hold_vgpr_36, 256, 0},
        {"vgpr_64/256", hold_vgpr_64, 256, 0},   {"vgpr_84/64", hold_vgpr_84, 64, 0},
        {"vgpr_128/64", hold_vgpr_128, 64, 0},   {"vgpr_256/64", hold_vgpr_256, 64, 0},
        {"sgpr_80/256", hold_sgpr_80, 256, 0},   {"sgpr_96/256", hold_sgpr_96, 256, 0},
        {"sgpr_102/256", hold_sgpr_102, 256, 0}, {"lds_4096/256", hold_lds, 256, 4096},
        {"lds_8192/256", hold_lds, 256, 8192},   {"lds_20000/256", hold_lds, 256, 20000},
        {"lds_32768/128", hold_lds, 128, 32768}, {"lds_65536/1024", hold_lds, 1024, 65536},
    };
    int units = size_argument(argc, argv, 1, 64);
    for (const one &o : all) {
        if (argc > 2 && std::strcmp(argv[2], o.name) != 0) {
            continue;
        }
        std::vector<int> counts(2);
        int *counter = device_zeros<int>(2);
        o.kernel<<<units * 48 * 64 / o.threads, o.threads, o.lds>>>(counter);
        from_device(counts, counter);
        micro_result(o.name, static_cast<double>(counts[1]) / units);
        micro_release(counter);
    }
    return pass("micro_occupancy");
}
