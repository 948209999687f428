// The three labels of hipMemcpy, of MiB between host memory from malloc and device memory.
#pragma once

#include "label.hpp"

enum copy_way { copy_h2d, copy_d2h, copy_d2d };

struct memcopy_buffers {
    size_t bytes;
    uint32_t *out, *back; // of the host
    uint32_t *one, *two;  // of the device; `two` is there for copy_d2d only
};

static inline memcopy_buffers memcopy_prepare(size_t bytes, copy_way way)
{
    memcopy_buffers b = {bytes, static_cast<uint32_t *>(std::malloc(bytes)),
                         static_cast<uint32_t *>(std::malloc(bytes)), nullptr, nullptr};
    if (b.out == nullptr || b.back == nullptr) {
        std::printf("FAIL memcopy: no memory for two buffers of %zu bytes\n", bytes);
        std::exit(1);
    }
    for (size_t i = 0; i < bytes / 4; i++) {
        b.out[i] = uint32_t(i) * 2654435761u;
        b.back[i] = 0;
    }
    b.one = device_array<uint32_t>(bytes / 4);
    if (way == copy_d2d) {
        b.two = device_array<uint32_t>(bytes / 4);
    }
    if (way != copy_h2d) {
        HIP_MUST(hipMemcpy(b.one, b.out, bytes, hipMemcpyHostToDevice));
    }
    return b;
}

static inline int memcopy_main(int argc, char **argv, const char *name, copy_way way)
{
    label l = label_arguments(argc, argv, name, 1, 65536);
    memcopy_buffers b = memcopy_prepare(l.size << 20, way);
    label_run(l, [&] {
        if (way == copy_h2d) {
            HIP_MUST(hipMemcpy(b.one, b.out, b.bytes, hipMemcpyHostToDevice));
        } else if (way == copy_d2h) {
            HIP_MUST(hipMemcpy(b.back, b.one, b.bytes, hipMemcpyDeviceToHost));
        } else {
            HIP_MUST(hipMemcpy(b.two, b.one, b.bytes, hipMemcpyDeviceToDevice));
        }
    });
    if (!l.check) {
        return 0;
    }
    if (way != copy_d2h) {
        uint32_t *from = way == copy_d2d ? b.two : b.one;
        HIP_MUST(hipMemcpy(b.back, from, b.bytes, hipMemcpyDeviceToHost));
    }
    for (size_t i = 0; i < b.bytes / 4; i++) {
        if (b.back[i] != b.out[i]) {
            std::printf("FAIL %s: word %zu is %u, expected %u\n", name, i, b.back[i], b.out[i]);
            return 1;
        }
    }
    return pass(name);
}
