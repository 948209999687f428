// What programs for as many GPUs as there are share: a stream each, access to those they name, and
// events that order the streams, so that nothing waits for the host.
#pragma once

#include "check.hpp"

#include <set>
#include <utility>

struct gpu_group {
    int count = 0;
    std::vector<hipStream_t> stream;

    gpu_group()
    {
        HIP_MUST(hipGetDeviceCount(&count));
        stream.resize(count);
        for (int d = 0; d < count; d++) {
            HIP_MUST(hipSetDevice(d));
            HIP_MUST(hipStreamCreateWithFlags(&stream[d], hipStreamNonBlocking));
        }
    }

    ~gpu_group()
    {
        for (hipStream_t each : stream) {
            HIP_MUST(hipStreamDestroy(each));
        }
    }

    // Kernels and copies of `d` may use memory of `other`.
    void join(int d, int other)
    {
        if (d != other && joined.emplace(d, other).second) {
            HIP_MUST(hipSetDevice(d));
            HIP_MUST(hipDeviceEnablePeerAccess(other, 0));
        }
    }

    // What is queued at `d` from here on begins when what is queued at `other` now is done.
    void follow(int d, int other)
    {
        if (d != other) {
            follow(d, mark(other));
        }
    }

    // The same in two steps: a mark at the end of what is queued at `d`, of which others take note
    // when more has been queued behind it.
    hipEvent_t mark(int d)
    {
        hipEvent_t event;
        HIP_MUST(hipSetDevice(d));
        HIP_MUST(hipEventCreateWithFlags(&event, hipEventDisableTiming));
        HIP_MUST(hipEventRecord(event, stream[d]));
        marks.push_back(event);
        return event;
    }

    void follow(int d, hipEvent_t event)
    {
        HIP_MUST(hipSetDevice(d));
        HIP_MUST(hipStreamWaitEvent(stream[d], event, 0));
    }

    std::vector<hipEvent_t> mark_all()
    {
        std::vector<hipEvent_t> all(count);
        for (int d = 0; d < count; d++) {
            all[d] = mark(d);
        }
        return all;
    }

    void wait()
    {
        for (int d = 0; d < count; d++) {
            HIP_MUST(hipSetDevice(d));
            HIP_MUST(hipStreamSynchronize(stream[d]));
        }
        for (hipEvent_t event : marks) {
            HIP_MUST(hipEventDestroy(event));
        }
        marks.clear();
    }

    // From `from` of GPU `source` to `to` of GPU `target`, in the stream of the source.
    template <typename T> void copy(T *to, int target, const T *from, int source, size_t count)
    {
        HIP_MUST(hipSetDevice(source));
        HIP_MUST(hipMemcpyPeerAsync(to, target, from, source, count * sizeof(T), stream[source]));
    }

    template <typename T> std::vector<T *> allocate(size_t elements)
    {
        std::vector<T *> memory(count);
        for (int d = 0; d < count; d++) {
            HIP_MUST(hipSetDevice(d));
            ::allocate(&memory[d], elements * sizeof(T));
        }
        return memory;
    }

    template <typename T> void fill(int d, T *to, const std::vector<T> &from)
    {
        HIP_MUST(hipSetDevice(d));
        HIP_MUST(hipMemcpy(to, from.data(), from.size() * sizeof(T), hipMemcpyHostToDevice));
    }

private:
    std::vector<hipEvent_t> marks;
    std::set<std::pair<int, int>> joined;
};
