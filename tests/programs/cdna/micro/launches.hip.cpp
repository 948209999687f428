// launches COUNT [mode=queue|free|wait|events]: COUNT launches of an empty kernel of one wavefront, each with an argument of
// its own, and the wait for them.
// queue: in one stream, each behind the one before. free: in four streams. wait: with a wait for each. events: in one
// stream, with an event recorded behind each.
#include "micro.hpp"

enum mode { QUEUE, FREE, WAIT, EVENTS };

__global__ void empty(size_t)
{
}

int main(int argc, char **argv)
{
    micro m = micro_arguments(argc, argv, "launches", 1 << 20, {{"mode", "queue"}});
    size_t mode = m.one_of("mode", {"queue", "free", "wait", "events"});
    std::vector<hipStream_t> streams(mode == FREE ? 4 : 0);
    for (hipStream_t &s : streams) {
        HIP_MUST(hipStreamCreate(&s));
    }
    hipEvent_t event;
    HIP_MUST(hipEventCreate(&event));
    label_run(m, [&] {
        for (size_t i = 0; i < m.size; i++) {
            empty<<<dim3(1), dim3(64), 0, mode == FREE ? streams[i % 4] : nullptr>>>(i);
            if (mode == EVENTS) {
                HIP_MUST(hipEventRecord(event, nullptr));
            }
            if (mode == WAIT) {
                HIP_MUST(hipDeviceSynchronize());
            }
        }
        HIP_MUST(hipDeviceSynchronize());
    });
    return m.check ? m.verdict(true) : 0; // there is nothing to check but that all end
}
