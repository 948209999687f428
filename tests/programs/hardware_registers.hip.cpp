// What a wavefront reads of its own place (s_getreg_b32): HW_ID, GPR_ALLOC, LDS_ALLOC. No two wavefronts that are there at the same
// time have the same slot, registers or LDS; work-groups go to all compute units, wavefronts to all SIMDs. Argument: "functional" when
// nothing is placed.
#include "check.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>

#define READ(id) __builtin_amdgcn_s_getreg((31 << 11) | (id))

struct place {
    unsigned hw_id, gpr, lds, dispatch;
};

// All work-groups wait for each other, so all are there at the same time.
__global__ __launch_bounds__(256) void places(place *out, unsigned *arrived, unsigned groups)
{
    __shared__ int used[300]; // 1,200 bytes: three granules of 512
    used[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1u);
        while (__hip_atomic_load(arrived, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) < groups) {
        }
    }
    __syncthreads();
    if (threadIdx.x % 64 == 0) {
        unsigned wave = blockIdx.x * 4 + threadIdx.x / 64;
        out[wave] = {static_cast<unsigned>(READ(4)), static_cast<unsigned>(READ(5)),
                     static_cast<unsigned>(READ(6)), static_cast<unsigned>(used[threadIdx.x])};
    }
}

static unsigned bits(unsigned value, int high, int low)
{
    return value >> low & ((2u << (high - low)) - 1);
}

#define EXPECT(condition)                                                                              \
    do {                                                                                               \
        if (!(condition)) {                                                                            \
            std::printf("FAIL hardware_registers: line %d: %s\n", __LINE__, #condition);               \
            return 1;                                                                                  \
        }                                                                                              \
    } while (0)

int main(int argc, char **argv)
{
    hipDeviceProp_t device;
    HIP_MUST(hipGetDeviceProperties(&device, 0));
    bool placed = argc < 2 || std::strcmp(argv[1], "functional") != 0;
    unsigned units = device.multiProcessorCount, groups = placed ? 3 * units : 1;
    std::vector<place> all(4 * groups);
    place *out = device_zeros<place>(all.size());
    unsigned *arrived = device_zeros<unsigned>(1);
    places<<<groups, 256>>>(out, arrived, groups);
    from_device(all, out);
    std::set<std::tuple<unsigned, unsigned, unsigned>> slots;
    std::set<unsigned> seen, simds;
    for (size_t i = 0; i < all.size(); i++) {
        const place &p = all[i], &first = all[i / 4 * 4];
        unsigned unit = bits(p.hw_id, 12, 8) | bits(p.hw_id, 14, 13) << 5; // CU, SH, SE
        EXPECT(bits(p.hw_id, 3, 0) < 10 && bits(p.hw_id, 31, 30) == 1);
        EXPECT(unit == (bits(first.hw_id, 12, 8) | bits(first.hw_id, 14, 13) << 5));
        EXPECT(bits(p.hw_id, 29, 16) == bits(first.hw_id, 29, 16)); // of the work-group: slot, VMID, queue
        EXPECT(slots.insert({unit, bits(p.hw_id, 5, 4), bits(p.hw_id, 3, 0)}).second || !placed);
        EXPECT(p.lds == first.lds && bits(p.lds, 20, 12) == 6);
        EXPECT(bits(p.gpr, 13, 8) < 64 && bits(p.gpr, 5, 0) + bits(p.gpr, 13, 8) < 64);
        EXPECT((bits(p.gpr, 21, 16) + bits(p.gpr, 27, 24) + 1) * 16 <= 800);
        seen.insert(unit);
        simds.insert(bits(p.hw_id, 5, 4));
        // The third work-group of a compute unit stands behind two others, in registers and in LDS.
        for (size_t k = 0; placed && k < i; k++) {
            const place &q = all[k];
            if ((bits(q.hw_id, 12, 8) | bits(q.hw_id, 14, 13) << 5) != unit) {
                continue;
            }
            EXPECT(bits(q.hw_id, 5, 4) != bits(p.hw_id, 5, 4) || bits(q.gpr, 5, 0) != bits(p.gpr, 5, 0));
            EXPECT(bits(q.hw_id, 5, 4) != bits(p.hw_id, 5, 4) || bits(q.gpr, 21, 16) != bits(p.gpr, 21, 16));
            EXPECT(i / 4 == k / 4 || bits(q.lds, 7, 0) != bits(p.lds, 7, 0));
        }
    }
    EXPECT(!placed || (seen.size() == units && simds.size() == 4));
    return pass("hardware_registers");
}
