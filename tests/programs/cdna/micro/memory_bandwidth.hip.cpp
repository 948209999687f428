// memory_bandwidth MIB: one hipMemcpy, to another buffer of the device (transfer_type=d2d), from the host or to it.
#include "micro.hpp"

int main(int argc, char **argv)
{
    micro m = micro_arguments(argc, argv, "memory_bandwidth", 65536,
                              {{"transfer_type", "d2d"}, {"use_pinned_memory", "true"}});
    size_t bytes = m.size << 20, way = m.one_of("transfer_type", {"d2d", "h2d", "d2h"});
    bool pinned = m.one_of("use_pinned_memory", {"false", "true"}) == 1;
    unsigned *host = static_cast<unsigned *>(std::malloc(bytes));
    if (pinned) {
        HIP_MUST(hipHostMalloc(reinterpret_cast<void **>(&host), bytes, 0));
    }
    for (size_t i = 0; i < bytes / 4; i++) {
        host[i] = unsigned(i) * 2654435761u;
    }
    unsigned *one = device_array<unsigned>(bytes / 4), *two = device_array<unsigned>(bytes / 4);
    HIP_MUST(hipMemcpy(one, host, bytes, hipMemcpyHostToDevice));
    label_run(m, [&] {
        if (way == 0) {
            HIP_MUST(hipMemcpy(two, one, bytes, hipMemcpyDeviceToDevice));
        } else if (way == 1) {
            HIP_MUST(hipMemcpy(two, host, bytes, hipMemcpyHostToDevice));
        } else {
            HIP_MUST(hipMemcpy(host, one, bytes, hipMemcpyDeviceToHost));
        }
    });
    if (!m.check) {
        return 0;
    }
    std::vector<unsigned> got(bytes / 4);
    from_device(got, way == 2 ? one : two);
    for (size_t i = 0; i < bytes / 4; i++) {
        if (got[i] != unsigned(i) * 2654435761u || host[i] != got[i]) {
            return m.verdict(false);
        }
    }
    return m.verdict(true);
}
