// memory_types KIB [memory=coarse|fine|uncached|coherent|noncoherent|managed] [access=read|write|add] [launches=N]: N launches of a
// kernel whose threads read, write or add to a number each, all in one array of KIB. So the caches show what they keep of its type of
// memory: hipMalloc, hipExtMallocWithFlags, hipHostMalloc, hipMallocManaged.
#include "micro.hpp"

enum memory { COARSE, FINE, UNCACHED, COHERENT, NONCOHERENT, MANAGED };
enum access { READ, WRITE, ADD };
static const unsigned device_malloc_uncached = 3; // of later versions of HIP

template <access how> __global__ void touch(unsigned *data, unsigned value)
{
    unsigned *mine = data + blockIdx.x * blockDim.x + threadIdx.x;
    if (how == WRITE) {
        *mine = value;
    } else if (how == ADD) {
        atomicAdd(mine, value);
    } else if (*mine == value) {
        *mine = ~value; // never
    }
}

static unsigned *allocate(memory kind, size_t bytes)
{
    void *address = nullptr;
    if (kind == MANAGED) {
        HIP_MUST(hipMallocManaged(&address, bytes));
    } else if (kind == COHERENT || kind == NONCOHERENT) {
        HIP_MUST(hipHostMalloc(&address, bytes, kind == COHERENT ? hipHostMallocCoherent : hipHostMallocNonCoherent));
    } else {
        const unsigned flags[] = {hipDeviceMallocDefault, hipDeviceMallocFinegrained, device_malloc_uncached};
        HIP_MUST(hipExtMallocWithFlags(&address, bytes, flags[kind]));
    }
    HIP_MUST(hipMemset(address, 0, bytes));
    return static_cast<unsigned *>(address);
}

int main(int argc, char **argv)
{
    micro m = micro_arguments(argc, argv, "memory_types", 1 << 20,
                              {{"memory", "coarse"}, {"access", "read"}, {"launches", "4"}});
    auto kind = memory(m.one_of("memory", {"coarse", "fine", "uncached", "coherent", "noncoherent", "managed"}));
    auto how = access(m.one_of("access", {"read", "write", "add"}));
    size_t count = m.size * 1024 / sizeof(unsigned), launches = m.number("launches");
    unsigned *data = allocate(kind, m.size * 1024);
    auto kernel = how == READ ? touch<READ> : how == WRITE ? touch<WRITE> : touch<ADD>;
    unsigned value = how == READ ? 7 : 1;
    label_run(m, [&] {
        for (size_t i = 0; i < launches; i++) {
            kernel<<<dim3(unsigned(count / 256)), dim3(256)>>>(data, value);
        }
        HIP_MUST(hipDeviceSynchronize());
    });
    if (!m.check) {
        return 0;
    }
    std::vector<unsigned> got(count);
    HIP_MUST(hipMemcpy(got.data(), data, count * sizeof(unsigned), hipMemcpyDefault));
    unsigned runs = got[0] / (how == ADD ? unsigned(launches) : 1); // warm-up, too
    unsigned wanted = how == READ ? 0 : how == WRITE ? 1 : runs * unsigned(launches);
    return m.verdict((how == READ || got[0] > 0) && std::count(got.begin(), got.end(), wanted) == long(count));
}
