/* Fills of device memory: hipMemset and its relatives. Host memory that HIP allocated may be
 * filled, too. */
#include "hip_managed.h"
#include "components/hip/record/hip_record.h"
#include "hip_stream.h"

#include <inttypes.h>
#include <string.h>

/* `rows` rows of `count` elements of `width` bytes, `pitch` bytes apart. */
struct fill {
    uint64_t address;
    uint32_t value, width;
    size_t count, rows, pitch;
};

static hipError_t check_fill(const struct fill *fill, const char *what)
{
    const struct hip_allocation *allocation = hip_find_allocation(fill->address);
    if (!allocation) {
        hip_say("%s: %p is not device memory that is allocated", what,
                (void *)(uintptr_t)fill->address);
        return hipErrorInvalidValue;
    }
    uint64_t left = allocation->size - (fill->address - allocation->address);
    if (fill->address % fill->width != 0 || fill->count > left / fill->width
        || (fill->rows > 1
            && (fill->pitch < fill->count * fill->width
                || fill->rows - 1 > (left - fill->count * fill->width) / fill->pitch))) {
        hip_say(
            "%s: %zu elements of %u bytes at %p do not fit into the allocation, which has %" PRIu64
            " bytes left there",
            what, fill->count, fill->width, (void *)(uintptr_t)fill->address, left);
        return hipErrorInvalidValue;
    }
    return hipSuccess;
}

static void record_fill(const struct fill *fill, hipStream_t stream, bool blocking)
{
    struct api_trace_call call = {
        .kind = API_TRACE_MEMSET,
        .is_async = !blocking,
        .value = fill->width < 4 ? fill->value & ((1u << 8 * fill->width) - 1) : fill->value,
        .width = fill->width,
        .size = fill->count,
        .rows = fill->rows,
        .pitch = fill->pitch,
        .stream = hip_stream_number(stream)};
    if (hip_record_pointer(fill->address, &call.to)) {
        hip_record_add(&call);
    }
}

static hipError_t run_fill(const struct fill *fill, hipStream_t stream, bool blocking,
                           const char *what)
{
    uint32_t queue = 0;
    int device = 0;
    hipError_t error = hip_stream_queue(stream, &queue, &device);
    if (error != hipSuccess || fill->count == 0 || fill->rows == 0) {
        return error;
    }
    error = check_fill(fill, what);
    if (error == hipSuccess) {
        error = hip_managed_before_use(queue, fill->address,
                                       (fill->rows - 1) * fill->pitch + fill->count * fill->width,
                                       true, what);
    }
    if (error == hipSuccess && !hip_is_device_address(fill->address)) {
        error = hip_stream_wait(stream, what);
        for (size_t row = 0; row < fill->rows && error == hipSuccess; row++) {
            uint8_t *at = (uint8_t *)(uintptr_t)(fill->address + row * fill->pitch);
            for (size_t i = 0; i < fill->count; i++) {
                memcpy(at + i * fill->width, &fill->value, fill->width);
            }
        }
        return error;
    }
    uint64_t ticket = 0;
    if (error == hipSuccess) {
        error = hip_stream_order(stream, DRIVER_STREAM_FILL);
    }
    bool begun = error == hipSuccess;
    if (hip_recording && error == hipSuccess) {
        record_fill(fill, stream, blocking);
    }
    for (size_t row = 0; row < fill->rows && error == hipSuccess; row++) {
        error = hip_status(hip.api->fill(queue, fill->address + row * fill->pitch, &fill->value,
                                         fill->width, fill->count, &ticket),
                           what);
    }
    if (begun) {
        hip_stream_note(stream, ticket);
    }
    return error == hipSuccess && blocking && hip.fill_waits ? hip_wait_ticket(ticket, what)
                                                             : error;
}

static hipError_t fill_plain(void *to, uint32_t value, uint32_t width, size_t count,
                             hipStream_t stream, bool blocking, const char *what)
{
    struct fill fill = {
        .address = (uintptr_t)to, .value = value, .width = width, .count = count, .rows = 1};
    return run_fill(&fill, stream, blocking, what);
}

static hipError_t fill_2d(void *to, size_t pitch, int value, size_t width, size_t height,
                          hipStream_t stream, bool blocking, const char *what)
{
    struct fill fill = {.address = (uintptr_t)to,
                        .value = (uint32_t)value,
                        .width = 1,
                        .count = width,
                        .rows = height,
                        .pitch = pitch};
    return run_fill(&fill, stream, blocking, what);
}

hipError_t hipMemset(void *to, int value, size_t size)
{
    HIP_API(fill_plain(to, (uint32_t)value, 1, size, NULL, true, "hipMemset"));
}

hipError_t hipMemsetAsync(void *to, int value, size_t size, hipStream_t stream)
{
    HIP_API(fill_plain(to, (uint32_t)value, 1, size, stream, false, "hipMemsetAsync"));
}

hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, size_t count)
{
    HIP_API(fill_plain(to, value, 1, count, NULL, true, "hipMemsetD8"));
}

hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, size_t count,
                            hipStream_t stream)
{
    HIP_API(fill_plain(to, value, 1, count, stream, false, "hipMemsetD8Async"));
}

hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, size_t count)
{
    HIP_API(fill_plain(to, value, 2, count, NULL, true, "hipMemsetD16"));
}

hipError_t hipMemsetD16Async(hipDeviceptr_t to, unsigned short value, size_t count,
                             hipStream_t stream)
{
    HIP_API(fill_plain(to, value, 2, count, stream, false, "hipMemsetD16Async"));
}

hipError_t hipMemsetD32(hipDeviceptr_t to, int value, size_t count)
{
    HIP_API(fill_plain(to, (uint32_t)value, 4, count, NULL, true, "hipMemsetD32"));
}

hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, size_t count, hipStream_t stream)
{
    HIP_API(fill_plain(to, (uint32_t)value, 4, count, stream, false, "hipMemsetD32Async"));
}

hipError_t hipMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    HIP_API(fill_2d(to, pitch, value, width, height, NULL, true, "hipMemset2D"));
}

hipError_t hipMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                            hipStream_t stream)
{
    HIP_API(fill_2d(to, pitch, value, width, height, stream, false, "hipMemset2DAsync"));
}
