// What several GPUs do together, around a ring: each GPU reads the memory of the one before it, in
// its own stream, and events say when that has been written. The host waits for nothing. An
// operation begins behind what is in the streams, and what is queued in them next begins behind it.
// A vector of n floats lies on each GPU and has a part for each; part p begins at n * p / GPUs.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <hip/hip_runtime.h>

#define HIP_MUST(call)                                                                             \
    do {                                                                                           \
        hipError_t must_error = (call);                                                            \
        if (must_error != hipSuccess) {                                                            \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                     \
                         hipGetErrorName(must_error));                                             \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

// to = from, or to += from, of `count` floats.
template <bool adds> __global__ void take(float *to, const float *from, int64_t count)
{
    int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) {
        to[i] = adds ? to[i] + from[i] : from[i];
    }
}

class gpu_ring
{
  public:
    using vectors = std::vector<float *>; // the memory of each GPU

    explicit gpu_ring(int gpus) : streams(gpus), events(gpus)
    {
        for (int gpu = 0; gpu < gpus; gpu++) {
            HIP_MUST(hipSetDevice(gpu));
            HIP_MUST(hipStreamCreateWithFlags(&streams[gpu], hipStreamNonBlocking));
            HIP_MUST(hipEventCreateWithFlags(&events[gpu], hipEventDisableTiming));
            if (gpus > 1) {
                HIP_MUST(hipDeviceEnablePeerAccess(before(gpu), 0));
            }
        }
    }

    gpu_ring(const gpu_ring &) = delete;

    ~gpu_ring()
    {
        for (int gpu = 0; gpu < count(); gpu++) {
            HIP_MUST(hipStreamDestroy(streams[gpu]));
            HIP_MUST(hipEventDestroy(events[gpu]));
        }
    }

    int count() const
    {
        return static_cast<int>(streams.size());
    }

    hipStream_t stream(int gpu) const
    {
        return streams[gpu];
    }

    // Part gpu + 1 of each GPU becomes the sum of those of all.
    void reduce_scatter(const vectors &data, int64_t n)
    {
        add_around(data, n);
        end();
    }

    // Part gpu + 1 of each GPU goes to all others.
    void all_gather(const vectors &data, int64_t n)
    {
        pass_around(data, n);
        end();
    }

    void all_reduce(const vectors &data, int64_t n)
    {
        add_around(data, n);
        pass_around(data, n);
        end();
    }

    // What GPU 0 has goes to all others, part after part, so that links work at the same time.
    void broadcast(const vectors &data, int64_t n)
    {
        for (int step = 0; step < 2 * count() - 2; step++) {
            mark();
            for (int gpu = 1; gpu < count(); gpu++) {
                int part = step - gpu + 1;
                if (part >= 0 && part < count()) {
                    read_part(data, n, gpu, part, take<false>);
                }
            }
        }
        end();
    }

  private:
    std::vector<hipStream_t> streams;
    std::vector<hipEvent_t> events; // what is in the streams before a step

    int before(int gpu) const
    {
        return (gpu + count() - 1) % count();
    }

    void mark()
    {
        for (int gpu = 0; gpu < count(); gpu++) {
            HIP_MUST(hipSetDevice(gpu));
            HIP_MUST(hipEventRecord(events[gpu], streams[gpu]));
        }
    }

    // A part of the GPU before comes to this GPU, when that has done its step before.
    void read_part(const vectors &data, int64_t n, int gpu, int part,
                   void (*kernel)(float *, const float *, int64_t))
    {
        int64_t first = n * part / count(), size = n * (part + 1) / count() - first;
        if (size > 0) {
            HIP_MUST(hipSetDevice(gpu));
            HIP_MUST(hipStreamWaitEvent(streams[gpu], events[before(gpu)], 0));
            unsigned blocks = static_cast<unsigned>((size + 255) / 256);
            kernel<<<blocks, 256, 0, streams[gpu]>>>(data[gpu] + first, data[before(gpu)] + first,
                                                     size);
            HIP_MUST(hipGetLastError());
        }
    }

    // A GPU writes a part once, in one step, and the next GPU reads it in the next step.
    void add_around(const vectors &data, int64_t n)
    {
        for (int step = 0; step < count() - 1; step++) {
            mark();
            for (int gpu = 0; gpu < count(); gpu++) {
                read_part(data, n, gpu, (gpu - 1 - step + count()) % count(), take<true>);
            }
        }
    }

    void pass_around(const vectors &data, int64_t n)
    {
        for (int step = 0; step < count() - 1; step++) {
            mark();
            for (int gpu = 0; gpu < count(); gpu++) {
                read_part(data, n, gpu, (gpu - step + count()) % count(), take<false>);
            }
        }
    }

    // Nobody writes to what the next GPU still reads.
    void end()
    {
        mark();
        for (int gpu = 0; gpu < count(); gpu++) {
            HIP_MUST(hipSetDevice(gpu));
            HIP_MUST(hipStreamWaitEvent(streams[gpu], events[(gpu + 1) % count()], 0));
        }
    }
};
