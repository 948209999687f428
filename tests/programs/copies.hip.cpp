// Copies and fills of all shapes, sizes and offsets, between pageable, pinned and device memory. Arguments: none.
#include "check.hpp"

static bool same_bytes(const char *name, const std::vector<uint8_t> &got, const std::vector<uint8_t> &want)
{
    return same_or_report(name, got, want);
}

int main()
{
    const size_t total = 40000;
    random_source random;
    std::vector<uint8_t> in(total), got(total), want(total);
    for (uint8_t &byte : in) {
        byte = random.next() >> 3;
    }
    uint8_t *a = to_device(in), *b = device_zeros<uint8_t>(total);
    static const struct {
        size_t from, to, size;
    } pieces[] = {{0, 0, 1}, {3, 5, 7}, {63, 129, 65}, {4090, 300, 12}, {17, 4095, 8193}, {20001, 15000, 19999}};
    for (const auto &piece : pieces) {
        HIP_MUST(hipMemcpy(b + piece.to, a + piece.from, piece.size, hipMemcpyDeviceToDevice));
        std::memcpy(&want[piece.to], &in[piece.from], piece.size);
    }
    from_device(got, b);
    if (!same_bytes("copies: within the device", got, want)) {
        return 1;
    }
    for (const auto &piece : pieces) {
        HIP_MUST(hipMemcpy(b + piece.to, &in[piece.from / 2], piece.size, hipMemcpyHostToDevice));
        std::memcpy(&want[piece.to], &in[piece.from / 2], piece.size);
        std::vector<uint8_t> part(piece.size), expected(&want[piece.from], &want[piece.from] + piece.size);
        HIP_MUST(hipMemcpy(part.data(), b + piece.from, piece.size, hipMemcpyDeviceToHost));
        if (!same_bytes("copies: parts to the host", part, expected)) {
            return 1;
        }
    }
    from_device(got, b);
    if (!same_bytes("copies: parts from the host", got, want)) {
        return 1;
    }
    HIP_MUST(hipMemset(b + 33, 0xa5, 5000));
    std::memset(&want[33], 0xa5, 5000);
    HIP_MUST(hipMemsetD32(reinterpret_cast<hipDeviceptr_t>(b + 8192), 0x01020304, 700));
    for (int i = 0; i < 2800; i++) {
        want[8192 + i] = static_cast<uint8_t>(4 - i % 4);
    }
    HIP_MUST(hipMemset2D(b + 12000, 100, 0x3c, 30, 20));
    HIP_MUST(hipMemcpy2D(b + 15000, 200, in.data(), 50, 40, 25, hipMemcpyHostToDevice));
    for (int row = 0; row < 25; row++) {
        if (row < 20) {
            std::memset(&want[12000 + 100 * row], 0x3c, 30);
        }
        std::memcpy(&want[15000 + 200 * row], &in[50 * row], 40);
    }
    from_device(got, b);
    if (!same_bytes("copies: fills and rectangles", got, want)) {
        return 1;
    }
    uint8_t *pinned = nullptr;
    hipStream_t stream;
    HIP_MUST(hipHostMalloc(reinterpret_cast<void **>(&pinned), total));
    HIP_MUST(hipStreamCreate(&stream));
    HIP_MUST(hipMemcpyAsync(pinned, a, total, hipMemcpyDeviceToHost, stream));
    HIP_MUST(hipMemcpyAsync(b, pinned, total, hipMemcpyHostToDevice, stream));
    HIP_MUST(hipMemsetAsync(a, 0, total, stream));
    HIP_MUST(hipStreamSynchronize(stream));
    from_device(got, b);
    HIP_MUST(hipHostFree(pinned));
    HIP_MUST(hipStreamDestroy(stream));
    return same_bytes("copies: asynchronous", got, in) ? pass("copies") : 1;
}
