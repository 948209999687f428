/* Fills of device memory: hipMemset and its relatives. Host memory that HIP allocated may be
 * filled, too. The steps are those of a copy: check, prepare (contents move to where the
 * device needs them), order, record, enqueue. */
#include <inttypes.h>
#include <string.h>

#include "components/hip/api/memory/hip_host_memory.h"
#include "components/hip/api/record/hip_record.h"
#include "components/hip/api/streams/hip_capture.h"
#include "components/hip/api/streams/hip_stream.h"

struct fill {
    struct hip_fill_area area;
    hipStream_t stream;
    bool is_blocking;
    /* Found out on the way. */
    struct hip_use to;
    uint32_t queue;
    uint64_t ticket; /* the fill of the last row; 0: none was enqueued */
};

/* ---- the steps ---- */

static hipError_t check_fill(const struct fill *fill)
{
    const struct hip_fill_area *area = &fill->area;
    void *pointer = (void *)(uintptr_t)area->address;
    if (fill->to.location.allocation.number == 0)
        return hip_fail(hipErrorInvalidValue, "%p is not device memory that is allocated", pointer);
    uint64_t left = hip_location_left(&fill->to.location);
    if (area->address % area->width != 0 || area->count > left / area->width
        || (area->rows > 1
            && (area->pitch < area->count * area->width
                || area->rows - 1 > (left - area->count * area->width) / area->pitch)))
        return hip_fail(
            hipErrorInvalidValue,
            "%zu elements of %u bytes at %p do not fit into the allocation, which has %" PRIu64
            " bytes left there",
            area->count, area->width, pointer, left);
    return hipSuccess;
}

static hipError_t prepare_fill(struct fill *fill)
{
    const struct hip_fill_area *area = &fill->area;
    fill->to.size = (area->rows - 1) * area->pitch + area->count * area->width;
    fill->to.is_written = true;
    return hip_host_memory_prepare(fill->queue, &fill->to, 1, fill->is_blocking);
}

static void record_fill(const struct fill *fill)
{
    const struct hip_fill_area *area = &fill->area;
    uint32_t mask = area->width < 4 ? (1u << 8 * area->width) - 1 : UINT32_MAX;
    hip_record_call_to(area->address,
                       &(struct api_trace_call){.kind = API_TRACE_MEMSET,
                                                .is_async = !fill->is_blocking,
                                                .value = area->value & mask,
                                                .width = area->width,
                                                .size = area->count,
                                                .rows = area->rows,
                                                .pitch = area->pitch,
                                                .stream = hip_stream_number(fill->stream)});
}

static hipError_t enqueue_fill(struct fill *fill)
{
    const struct hip_fill_area *area = &fill->area;
    hipError_t error = hipSuccess;
    for (size_t row = 0; row < area->rows && error == hipSuccess; row++) {
        error = hip_status(hip.api->fill(fill->queue, area->address + row * area->pitch,
                                         &area->value, area->width, area->count, &fill->ticket));
    }
    hip_stream_end_call(fill->stream, fill->ticket);
    return error;
}

static hipError_t fill_on_host(const struct fill *fill)
{
    const struct hip_fill_area *area = &fill->area;
    hipError_t error = hip_stream_wait(fill->stream);
    for (size_t row = 0; row < area->rows && error == hipSuccess; row++) {
        uint8_t *bytes = (uint8_t *)(uintptr_t)(area->address + row * area->pitch);
        for (size_t i = 0; i < area->count; i++)
            memcpy(bytes + i * area->width, &area->value, area->width);
    }
    return error;
}

static hipError_t capture_fill(const struct fill *fill)
{
    struct hip_action action = {.kind = HIP_ACTION_FILL, .fill = fill->area};
    return fill->is_blocking ? hip_capture_spoil(fill->stream)
                             : hip_capture_call(fill->stream, &action);
}

static hipError_t run_fill(struct fill *fill)
{
    int device = 0;
    hipError_t error = hip_stream_queue(fill->stream, &fill->queue, &device);
    if (error != hipSuccess || fill->area.count == 0 || fill->area.rows == 0)
        return error;
    fill->to.location = hip_location_of(fill->area.address);
    error = check_fill(fill);
    if (hip_is_capturing(fill->stream))
        return error == hipSuccess ? capture_fill(fill) : error;
    if (error == hipSuccess)
        error = prepare_fill(fill);
    if (error == hipSuccess && !hip_location_on_device(&fill->to.location))
        return fill_on_host(fill);
    if (error == hipSuccess)
        error = hip_stream_order(fill->stream, DRIVER_STREAM_FILL);
    if (error != hipSuccess)
        return error;
    record_fill(fill);
    error = enqueue_fill(fill);
    return error == hipSuccess && fill->is_blocking && hip.fill_waits
               ? hip_wait_ticket(fill->ticket)
               : error;
}

/* ---- the API ---- */

hipError_t hip_fill(struct hip_fill_area area, hipStream_t stream, bool is_blocking)
{
    return run_fill(&(struct fill){.area = area, .stream = stream, .is_blocking = is_blocking});
}

static hipError_t fill_plain(void *to, uint32_t value, uint32_t width, size_t count,
                             hipStream_t stream, bool is_blocking)
{
    const struct hip_fill_area area = {
        .address = (uintptr_t)to, .value = value, .width = width, .count = count, .rows = 1};
    return hip_fill(area, stream, is_blocking);
}

static hipError_t fill_2d(void *to, size_t pitch, int value, size_t width, size_t rows,
                          hipStream_t stream, bool is_blocking)
{
    const struct hip_fill_area area = {.address = (uintptr_t)to,
                                       .value = (uint32_t)value,
                                       .width = 1,
                                       .count = width,
                                       .rows = rows,
                                       .pitch = pitch};
    return hip_fill(area, stream, is_blocking);
}

hipError_t hip_check_fill(struct hip_fill_area area)
{
    struct fill fill = {.area = area, .to.location = hip_location_of(area.address)};
    return area.count == 0 || area.rows == 0 ? hipSuccess : check_fill(&fill);
}

HIP_DEFINE(hipMemset, (to, value, size), void *to, int value, size_t size)
{
    return fill_plain(to, (uint32_t)value, 1, size, NULL, true);
}

HIP_DEFINE(hipMemsetAsync, (to, value, size, stream), void *to, int value, size_t size,
           hipStream_t stream)
{
    return fill_plain(to, (uint32_t)value, 1, size, stream, false);
}

HIP_DEFINE(hipMemsetD8, (to, value, count), hipDeviceptr_t to, unsigned char value, size_t count)
{
    return fill_plain(to, value, 1, count, NULL, true);
}

HIP_DEFINE(hipMemsetD8Async, (to, value, count, stream), hipDeviceptr_t to, unsigned char value,
           size_t count, hipStream_t stream)
{
    return fill_plain(to, value, 1, count, stream, false);
}

HIP_DEFINE(hipMemsetD16, (to, value, count), hipDeviceptr_t to, unsigned short value, size_t count)
{
    return fill_plain(to, value, 2, count, NULL, true);
}

HIP_DEFINE(hipMemsetD16Async, (to, value, count, stream), hipDeviceptr_t to, unsigned short value,
           size_t count, hipStream_t stream)
{
    return fill_plain(to, value, 2, count, stream, false);
}

HIP_DEFINE(hipMemsetD32, (to, value, count), hipDeviceptr_t to, int value, size_t count)
{
    return fill_plain(to, (uint32_t)value, 4, count, NULL, true);
}

HIP_DEFINE(hipMemsetD32Async, (to, value, count, stream), hipDeviceptr_t to, int value,
           size_t count, hipStream_t stream)
{
    return fill_plain(to, (uint32_t)value, 4, count, stream, false);
}

HIP_DEFINE(hipMemset2D, (to, pitch, value, width, height), void *to, size_t pitch, int value,
           size_t width, size_t height)
{
    return fill_2d(to, pitch, value, width, height, NULL, true);
}

HIP_DEFINE(hipMemset2DAsync, (to, pitch, value, width, height, stream), void *to, size_t pitch,
           int value, size_t width, size_t height, hipStream_t stream)
{
    return fill_2d(to, pitch, value, width, height, stream, false);
}
