// Copies between GPUs: with access to the other one on the source's side, on the target's side, or none; odd sizes and places;
// beside kernels that write what is copied. Prints the simulated time of one large copy. Arguments: [bytes] [none|push|pull]
// [source GPU] [target GPU].
#include "check.hpp"

__host__ __device__ static uint8_t filled(uint32_t i, uint32_t seed)
{
    return static_cast<uint8_t>((i + seed * 977u) * 2654435761u >> 24);
}

__global__ void fill(uint8_t *to, uint32_t n, uint32_t seed)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        to[i] = filled(i, seed);
    }
}

static std::vector<uint8_t> host_filled(uint32_t n, uint32_t seed)
{
    std::vector<uint8_t> all(n);
    for (uint32_t i = 0; i < n; i++) {
        all[i] = filled(i, seed);
    }
    return all;
}

static void enable(int from, int to)
{
    HIP_MUST(hipSetDevice(from));
    HIP_MUST(hipDeviceEnablePeerAccess(to, 0));
}

static uint8_t *made_on(int gpu, uint32_t n, uint32_t seed)
{
    uint8_t *p = nullptr;
    HIP_MUST(hipSetDevice(gpu));
    allocate(&p, n);
    fill<<<(n + 255) / 256, 256>>>(p, n, seed);
    HIP_MUST(hipDeviceSynchronize());
    return p;
}

int main(int argc, char **argv)
{
    const uint32_t n = static_cast<uint32_t>(size_argument(argc, argv, 1, 100000));
    const char *access = argc > 2 ? argv[2] : "push";
    const int source = argc > 3 ? std::atoi(argv[3]) : 0, target = argc > 4 ? std::atoi(argv[4]) : 1;
    if (!std::strcmp(access, "push")) {
        enable(source, target);
    } else if (!std::strcmp(access, "pull")) {
        enable(target, source);
    }
    uint8_t *from = made_on(source, n, 1), *to = made_on(target, n, 2);
    std::vector<uint8_t> want(n), got(n);
    hipEvent_t begin, end;
    float ms = 0;
    HIP_MUST(hipSetDevice(source));
    HIP_MUST(hipEventCreate(&begin));
    HIP_MUST(hipEventCreate(&end));
    HIP_MUST(hipEventRecord(begin, nullptr));
    HIP_MUST(hipMemcpyPeerAsync(to, target, from, source, n, nullptr));
    HIP_MUST(hipEventRecord(end, nullptr));
    HIP_MUST(hipDeviceSynchronize());
    HIP_MUST(hipEventElapsedTime(&ms, begin, end));
    std::printf("copied in %.0f ns\n", ms * 1e6);
    want = host_filled(n, 1);
    HIP_MUST(hipMemcpy(got.data(), to, n, hipMemcpyDeviceToHost));
    if (!same_or_report("peer_copies", got, want)) {
        return 1;
    }
    // The source is dirty in its cache, the target was read there; then odd places, and back. The first few pages are enough.
    const uint32_t few = n < 20000 ? n : 20000;
    want.resize(few);
    got.resize(few);
    const uint32_t shifts[][2] = {{1, 0}, {63, 65}, {4095, 3}, {130, 4100}};
    for (uint32_t round = 0; round < 4; round++) {
        uint32_t in = shifts[round][0] % few, out = shifts[round][1] % few, bytes = (few - (in > out ? in : out)) / (round + 1);
        HIP_MUST(hipSetDevice(source));
        fill<<<(few + 255) / 256, 256>>>(from, few, 10 + round);
        HIP_MUST(hipMemcpy(to + out, from + in, bytes, round % 2 ? hipMemcpyDefault : hipMemcpyDeviceToDevice));
        const std::vector<uint8_t> filled_now = host_filled(few, 10 + round);
        std::memcpy(&want[out], &filled_now[in], bytes);
        HIP_MUST(hipMemcpy(got.data(), to, few, hipMemcpyDeviceToHost));
        if (!same_or_report("peer_copies", got, want)) {
            return 1;
        }
        HIP_MUST(hipMemcpyPeer(from, source, to, target, few));
        HIP_MUST(hipMemcpy(got.data(), from, few, hipMemcpyDeviceToHost));
        if (!same_or_report("peer_copies", got, want)) {
            return 1;
        }
    }
    return pass("peer_copies");
}
