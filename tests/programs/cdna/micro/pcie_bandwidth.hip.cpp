// pcie_bandwidth MIB: a copy to the device and one back (transfer_type=all), or one of them.
#include "micro.hpp"

int main(int argc, char **argv)
{
    micro m = micro_arguments(argc, argv, "pcie_bandwidth", 65536,
                              {{"transfer_type", "all"}, {"use_pinned_memory", "true"}});
    size_t bytes = m.size << 20, way = m.one_of("transfer_type", {"all", "h2d", "d2h"});
    unsigned *out = nullptr, *back = nullptr;
    if (m.one_of("use_pinned_memory", {"false", "true"}) == 1) {
        HIP_MUST(hipHostMalloc(reinterpret_cast<void **>(&out), bytes, 0));
        HIP_MUST(hipHostMalloc(reinterpret_cast<void **>(&back), bytes, 0));
    } else {
        out = static_cast<unsigned *>(std::malloc(bytes));
        back = static_cast<unsigned *>(std::malloc(bytes));
    }
    for (size_t i = 0; i < bytes / 4; i++) {
        out[i] = unsigned(i) * 2654435761u;
        back[i] = 0;
    }
    unsigned *device = device_array<unsigned>(bytes / 4);
    label_run(m, [&] {
        if (way != 2) {
            HIP_MUST(hipMemcpy(device, out, bytes, hipMemcpyHostToDevice));
        }
        if (way != 1) {
            HIP_MUST(hipMemcpy(back, device, bytes, hipMemcpyDeviceToHost));
        }
    });
    return m.check ? m.verdict(way != 0 || std::equal(out, out + bytes / 4, back)) : 0;
}
