// The collectives of collectives.hpp on as many GPUs as there are. Results are compared with what
// they must be. Times stand beside steps * (a + bytes of a part / bandwidth), where a step of one
// element a GPU takes `a`. Arguments: [elements] [GB/s of a link].
#include <cstring>

#include "collectives.hpp"

struct collective {
    const char *name;
    void (gpu_ring::*run)(const gpu_ring::vectors &, int64_t);
    int steps; // of GPUs - 1
};

static const collective collectives[] = {{"reduce-scatter", &gpu_ring::reduce_scatter, 1},
                                         {"all-gather", &gpu_ring::all_gather, 1},
                                         {"all-reduce", &gpu_ring::all_reduce, 2},
                                         {"broadcast", &gpu_ring::broadcast, 2}};

static float before(int gpu, int64_t i)
{
    return static_cast<float>((gpu + 1) * (i % 97));
}

// What a GPU must have; true where the collective leaves nothing of use.
static bool right(const collective &c, int gpu, int gpus, int64_t i, int64_t n, float got)
{
    float sum = static_cast<float>(gpus * (gpus + 1) / 2 * (i % 97));
    int part = 0;
    while (n * (part + 1) / gpus <= i) {
        part++;
    }
    bool own = part == (gpu + 1) % gpus;
    switch (&c - collectives) {
    case 0:
        return !own || got == sum;
    case 1:
        return got == before((part + gpus - 1) % gpus, i);
    case 2:
        return got == sum;
    default:
        return got == before(0, i);
    }
}

// Microseconds from the first GPU's beginning until all have ended; less than 0: a wrong result.
static float run(gpu_ring &ring, const collective &c, int64_t n)
{
    std::vector<float> values(n);
    gpu_ring::vectors data(ring.count());
    std::vector<hipEvent_t> ends(ring.count());
    hipEvent_t begin, end;
    for (int gpu = 0; gpu < ring.count(); gpu++) {
        for (int64_t i = 0; i < n; i++) {
            values[i] = before(gpu, i);
        }
        HIP_MUST(hipSetDevice(gpu));
        HIP_MUST(hipEventCreateWithFlags(&ends[gpu], hipEventDisableTiming));
        HIP_MUST(hipMalloc(&data[gpu], n * sizeof(float)));
        HIP_MUST(hipMemcpy(data[gpu], values.data(), n * sizeof(float), hipMemcpyHostToDevice));
    }
    HIP_MUST(hipSetDevice(0));
    HIP_MUST(hipEventCreate(&begin));
    HIP_MUST(hipEventCreate(&end));
    HIP_MUST(hipEventRecord(begin, ring.stream(0)));
    (ring.*c.run)(data, n);
    for (int gpu = ring.count() - 1; gpu >= 0; gpu--) {
        HIP_MUST(hipSetDevice(gpu));
        HIP_MUST(hipEventRecord(ends[gpu], ring.stream(gpu)));
        HIP_MUST(hipStreamWaitEvent(ring.stream(0), ends[gpu], 0));
    }
    HIP_MUST(hipEventRecord(end, ring.stream(0)));
    HIP_MUST(hipEventSynchronize(end));
    float time;
    HIP_MUST(hipEventElapsedTime(&time, begin, end));
    HIP_MUST(hipEventDestroy(begin));
    HIP_MUST(hipEventDestroy(end));
    for (int gpu = 0; gpu < ring.count(); gpu++) {
        HIP_MUST(hipMemcpy(values.data(), data[gpu], n * sizeof(float), hipMemcpyDeviceToHost));
        HIP_MUST(hipFree(data[gpu]));
        HIP_MUST(hipEventDestroy(ends[gpu]));
        for (int64_t i = 0; i < n; i++) {
            if (!right(c, gpu, ring.count(), i, n, values[i])) {
                std::printf("FAIL %s: element %ld of GPU %d is %g\n", c.name, i, gpu, values[i]);
                return -1;
            }
        }
    }
    return 1000 * time;
}

int main(int argc, char **argv)
{
    int64_t n = argc > 1 ? std::atoll(argv[1]) : 1000;
    double bandwidth = argc > 2 ? std::atof(argv[2]) : 0;
    int gpus;
    HIP_MUST(hipGetDeviceCount(&gpus));
    if (n < gpus || n > 1 << 28 || gpus < 2) {
        std::printf("FAIL ring_collectives: %ld elements on %d GPUs\n", n, gpus);
        return 2;
    }
    gpu_ring ring(gpus);
    for (const collective &c : collectives) {
        run(ring, c, gpus); // fetches the kernel's code
        float least = run(ring, c, gpus), time = least < 0 ? least : run(ring, c, n);
        if (time < 0) {
            return 1;
        }
        double moved =
            bandwidth > 0 ? c.steps * (gpus - 1) * (n * 4.0 / gpus) / bandwidth / 1000 : 0;
        std::printf("%-14s %9.2f us, closed form %9.2f us\n", c.name, time, least + moved);
    }
    std::printf("PASS ring_collectives\n");
    return 0;
}
