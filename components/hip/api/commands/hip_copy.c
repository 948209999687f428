/* Copies: hipMemcpy in all its forms, to and from device variables too.
 *
 * Every copy is a rectangle of rows that goes through the same steps: check, prepare (contents
 * move to where the copy needs them), order (what streams promise), record, enqueue, finish. Copies
 * inside of the host's memory are made at once. A copy is checked before anything else happens, so
 * a refused one has no effect. Invariant: pageable host memory is not read or written after the
 * call returned.
 */
#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "components/hip/api/memory/hip_host_memory.h"
#include "components/hip/api/record/hip_record.h"
#include "components/hip/api/streams/hip_capture.h"
#include "components/hip/api/streams/hip_stream.h"

struct copy {
    struct hip_copy_area area;
    hipStream_t stream;
    bool is_blocking;
    /* Found out on the way. */
    struct hip_use uses[2]; /* FROM and TO */
    uint32_t queue;
    bool waits;      /* the call returns when the copy is complete */
    uint64_t ticket; /* the copy of the last row; 0: none was enqueued */
    struct hip_recorded_copy recorded;
    size_t line; /* in the recording */
};
enum { FROM, TO };

static bool is_on_device(const struct copy *copy, int side)
{
    return hip_location_on_device(&copy->uses[side].location);
}

/* ---- the steps ---- */

static hipError_t check_copy(struct copy *copy)
{
    const struct hip_copy_area *area = &copy->area;
    struct hip_use *to = &copy->uses[TO], *from = &copy->uses[FROM];
    size_t widest = max(area->to_pitch, area->from_pitch);
    size_t last = area->rows - 1;
    to->location = hip_location_of(area->to);
    from->location = hip_location_of(area->from);
    if (last > 0 && (area->width > area->to_pitch || area->width > area->from_pitch))
        return hipErrorInvalidPitchValue;
    if (last > 0 && widest > (SIZE_MAX - area->width) / last)
        return hipErrorInvalidValue;
    to->size = last * area->to_pitch + area->width;
    to->is_written = true;
    from->size = last * area->from_pitch + area->width;
    return hip_location_check_copy(&to->location, to->size, &from->location, from->size,
                                   area->kind);
}

static hipError_t prepare_copy(struct copy *copy)
{
    const struct hip_location *to = &copy->uses[TO].location, *from = &copy->uses[FROM].location;
    /* Managed memory may be the host's before and afterwards. */
    bool is_inside = is_on_device(copy, TO) && is_on_device(copy, FROM)
                     && hip_location_device(to) == hip_location_device(from) && !to->is_managed
                     && !from->is_managed;
    copy->waits = (copy->is_blocking && !(is_inside && hip.copy_returns))
                  || !hip_location_stays(to, copy->area.width)
                  || !hip_location_stays(from, copy->area.width);
    return hip_host_memory_prepare(copy->queue, copy->uses, 2, copy->waits);
}

/* The null stream's copies are in order with the null streams of all devices that they touch. */
static hipError_t order_copy(const struct copy *copy)
{
    const int devices[] = {hip_location_device(&copy->uses[TO].location),
                           hip_location_device(&copy->uses[FROM].location)};
    hipError_t error = hip_stream_order(copy->stream, copy->is_blocking ? DRIVER_STREAM_COPY
                                                                        : DRIVER_STREAM_COPY_ASYNC);
    for (int i = 0; i < 2 && error == hipSuccess; i++)
        if (devices[i] >= 0)
            error = hip_stream_order_device(copy->stream, devices[i]);
    return error;
}

static hipError_t order_after(const struct copy *copy)
{
    const int devices[] = {hip_location_device(&copy->uses[TO].location),
                           hip_location_device(&copy->uses[FROM].location)};
    hipError_t error = hipSuccess;
    for (int i = 0; i < 2 && error == hipSuccess; i++)
        if (devices[i] >= 0)
            error = hip_stream_order_after(copy->stream, devices[i], copy->ticket);
    return error;
}

static void record_copy(struct copy *copy, int device)
{
    const struct hip_copy_area *area = &copy->area;
    bool writes_device = is_on_device(copy, TO);
    copy->recorded = (struct hip_recorded_copy){
        .to = area->to,
        .from = area->from,
        .host = (void *)(uintptr_t)copy->uses[writes_device ? FROM : TO].memory,
        .size = area->width,
        .rows = area->rows,
        .to_pitch = area->to_pitch,
        .from_pitch = area->from_pitch,
        .writes_device = writes_device,
        .reads_device = is_on_device(copy, FROM),
        .waits = copy->waits,
        .stream = hip_stream_number(copy->stream),
        .device = device,
    };
    copy->line = hip_record_copy(&copy->recorded);
}

static hipError_t enqueue_rows(struct copy *copy)
{
    const struct hip_copy_area *area = &copy->area;
    bool writes_device = is_on_device(copy, TO), reads_device = is_on_device(copy, FROM);
    hipError_t error = hipSuccess;
    for (size_t row = 0; row < area->rows && error == hipSuccess; row++) {
        uint64_t to = copy->uses[TO].memory + row * area->to_pitch, ticket = 0;
        uint64_t from = copy->uses[FROM].memory + row * area->from_pitch;
        void *host = (void *)(uintptr_t)(writes_device ? from : to);
        if (writes_device && !reads_device)
            hip_host_memory_scan(to, host, area->width);
        enum driver_status status =
            writes_device && reads_device
                ? hip.api->copy(copy->queue, to, from, area->width, &ticket)
            : writes_device ? hip.api->write(copy->queue, to, host, area->width, &ticket)
                            : hip.api->read(copy->queue, host, from, area->width, &ticket);
        copy->ticket = status == DRIVER_OK ? ticket : copy->ticket;
        error = hip_status(status);
    }
    hip_stream_end_call(copy->stream, copy->ticket);
    if (copy->ticket != 0)
        hip_host_memory_add_writer(copy->ticket, &copy->uses[TO]);
    return error;
}

/* Earlier copies of the stream may still fill the source. */
static hipError_t copy_on_host(const struct copy *copy)
{
    const struct hip_copy_area *area = &copy->area;
    hipError_t error = hip_stream_wait(copy->stream);
    for (size_t row = 0; row < area->rows && error == hipSuccess; row++) {
        memmove((void *)(uintptr_t)(area->to + row * area->to_pitch),
                (const void *)(uintptr_t)(area->from + row * area->from_pitch), area->width);
    }
    return error;
}

/* After an error the call waits for the rows that were enqueued before. */
static hipError_t finish_copy(const struct copy *copy, hipError_t error)
{
    if (copy->waits || error != hipSuccess) {
        hipError_t waited = hip_wait_ticket(copy->ticket);
        error = error != hipSuccess ? error : waited;
    }
    if (copy->waits)
        hip_record_copy_end(copy->line, &copy->recorded);
    return error;
}

static hipError_t capture_copy(const struct copy *copy)
{
    const struct hip_copy_area *area = &copy->area;
    struct hip_action action = {.kind = HIP_ACTION_COPY};
    hipMemcpy3DParms *p = &action.copy;
    if (copy->is_blocking)
        return hip_capture_spoil(copy->stream);
    p->dstPtr.ptr = (void *)(uintptr_t)area->to;
    p->dstPtr.pitch = area->to_pitch;
    p->srcPtr.ptr = (void *)(uintptr_t)area->from;
    p->srcPtr.pitch = area->from_pitch;
    p->extent = (hipExtent){area->width, area->rows, 1};
    p->kind = area->kind;
    return hip_capture_call(copy->stream, &action);
}

static hipError_t run_copy(struct copy *copy)
{
    int device = 0;
    hipError_t error = hip_stream_queue(copy->stream, &copy->queue, &device);
    if (error != hipSuccess || copy->area.width == 0 || copy->area.rows == 0)
        return error;
    error = check_copy(copy);
    if (hip_is_capturing(copy->stream))
        return error == hipSuccess ? capture_copy(copy) : error;
    if (error == hipSuccess)
        error = prepare_copy(copy);
    if (error == hipSuccess && !is_on_device(copy, TO) && !is_on_device(copy, FROM))
        return copy_on_host(copy);
    if (error == hipSuccess)
        error = order_copy(copy);
    if (error != hipSuccess)
        return error;
    record_copy(copy, device);
    error = enqueue_rows(copy);
    if (copy->ticket == 0)
        return error;
    if (error == hipSuccess)
        error = order_after(copy);
    hip_record_copy_sent(copy->line, &copy->recorded, copy->ticket);
    return finish_copy(copy, error);
}

/* ---- the API ---- */

static struct hip_copy_area area_of(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                    size_t width, size_t rows, hipMemcpyKind kind)
{
    return (struct hip_copy_area){.to = (uintptr_t)to,
                                  .from = (uintptr_t)from,
                                  .to_pitch = to_pitch,
                                  .from_pitch = from_pitch,
                                  .width = width,
                                  .rows = rows,
                                  .kind = kind};
}

hipError_t hip_copy(void *to, const void *from, size_t size, hipMemcpyKind kind, hipStream_t stream,
                    bool is_blocking)
{
    return hip_copy_2d(area_of(to, 0, from, 0, size, 1, kind), stream, is_blocking);
}

HIP_DEFINE(hipMemcpy, (to, from, size, kind), void *to, const void *from, size_t size,
           hipMemcpyKind kind)
{
    return hip_copy(to, from, size, kind, NULL, true);
}

HIP_DEFINE(hipMemcpyWithStream, (to, from, size, kind, stream), void *to, const void *from,
           size_t size, hipMemcpyKind kind, hipStream_t stream)
{
    return hip_copy(to, from, size, kind, stream, true);
}

HIP_DEFINE(hipMemcpyAsync, (to, from, size, kind, stream), void *to, const void *from, size_t size,
           hipMemcpyKind kind, hipStream_t stream)
{
    return hip_copy(to, from, size, kind, stream, false);
}

HIP_DEFINE(hipMemcpyHtoD, (to, from, size), hipDeviceptr_t to, void *from, size_t size)
{
    return hip_copy(to, from, size, hipMemcpyHostToDevice, NULL, true);
}

HIP_DEFINE(hipMemcpyDtoH, (to, from, size), void *to, hipDeviceptr_t from, size_t size)
{
    return hip_copy(to, from, size, hipMemcpyDeviceToHost, NULL, true);
}

HIP_DEFINE(hipMemcpyDtoD, (to, from, size), hipDeviceptr_t to, hipDeviceptr_t from, size_t size)
{
    return hip_copy(to, from, size, hipMemcpyDeviceToDevice, NULL, true);
}

HIP_DEFINE(hipMemcpyHtoDAsync, (to, from, size, stream), hipDeviceptr_t to, void *from, size_t size,
           hipStream_t stream)
{
    return hip_copy(to, from, size, hipMemcpyHostToDevice, stream, false);
}

HIP_DEFINE(hipMemcpyDtoHAsync, (to, from, size, stream), void *to, hipDeviceptr_t from, size_t size,
           hipStream_t stream)
{
    return hip_copy(to, from, size, hipMemcpyDeviceToHost, stream, false);
}

HIP_DEFINE(hipMemcpyDtoDAsync, (to, from, size, stream), hipDeviceptr_t to, hipDeviceptr_t from,
           size_t size, hipStream_t stream)
{
    return hip_copy(to, from, size, hipMemcpyDeviceToDevice, stream, false);
}

static hipError_t copy_peer(void *to, int to_device, const void *from, int from_device, size_t size,
                            hipStream_t stream, bool is_blocking)
{
    if (!hip_is_device(to_device) || !hip_is_device(from_device))
        return hipErrorInvalidDevice;
    return hip_copy(to, from, size, hipMemcpyDeviceToDevice, stream, is_blocking);
}

HIP_DEFINE(hipMemcpyPeer, (to, to_device, from, from_device, size), void *to, int to_device,
           const void *from, int from_device, size_t size)
{
    return copy_peer(to, to_device, from, from_device, size, NULL, true);
}

HIP_DEFINE(hipMemcpyPeerAsync, (to, to_device, from, from_device, size, stream), void *to,
           int to_device, const void *from, int from_device, size_t size, hipStream_t stream)
{
    return copy_peer(to, to_device, from, from_device, size, stream, false);
}

hipError_t hip_copy_2d(struct hip_copy_area area, hipStream_t stream, bool is_blocking)
{
    return run_copy(&(struct copy){.area = area, .stream = stream, .is_blocking = is_blocking});
}

hipError_t hip_check_copy_2d(struct hip_copy_area area)
{
    struct copy copy = {.area = area};
    return area.width == 0 || area.rows == 0 ? hipSuccess : check_copy(&copy);
}

HIP_DEFINE(hipMemcpy2D, (to, to_pitch, from, from_pitch, width, height, kind), void *to,
           size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
           hipMemcpyKind kind)
{
    return hip_copy_2d(area_of(to, to_pitch, from, from_pitch, width, height, kind), NULL, true);
}

HIP_DEFINE(hipMemcpy2DAsync, (to, to_pitch, from, from_pitch, width, height, kind, stream),
           void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
           size_t height, hipMemcpyKind kind, hipStream_t stream)
{
    return hip_copy_2d(area_of(to, to_pitch, from, from_pitch, width, height, kind), stream, false);
}

/* ---- device variables ---- */

static hipError_t find_bytes(const void *symbol, size_t size, size_t offset, void **bytes)
{
    uint64_t address = 0, symbol_size = 0;
    hipError_t error = hip_find_host_variable(symbol, hip_current_device(), &address, &symbol_size);
    if (error != hipSuccess)
        return error;
    if (offset > symbol_size || size > symbol_size - offset)
        return hip_fail(hipErrorInvalidValue,
                        "%zu bytes at offset %zu leave the device variable of %" PRIu64 " bytes",
                        size, offset, symbol_size);
    *bytes = (void *)(uintptr_t)(address + offset);
    return hipSuccess;
}

static hipError_t copy_to_symbol(const void *symbol, const void *from, size_t size, size_t offset,
                                 hipMemcpyKind kind, hipStream_t stream, bool is_blocking)
{
    void *to;
    hipError_t error = find_bytes(symbol, size, offset, &to);
    return error == hipSuccess ? hip_copy(to, from, size, kind, stream, is_blocking) : error;
}

static hipError_t copy_from_symbol(void *to, const void *symbol, size_t size, size_t offset,
                                   hipMemcpyKind kind, hipStream_t stream, bool is_blocking)
{
    void *from;
    hipError_t error = find_bytes(symbol, size, offset, &from);
    return error == hipSuccess ? hip_copy(to, from, size, kind, stream, is_blocking) : error;
}

HIP_DEFINE(hipMemcpyToSymbol, (symbol, from, size, offset, kind), const void *symbol,
           const void *from, size_t size, size_t offset, hipMemcpyKind kind)
{
    return copy_to_symbol(symbol, from, size, offset, kind, NULL, true);
}

HIP_DEFINE(hipMemcpyToSymbolAsync, (symbol, from, size, offset, kind, stream), const void *symbol,
           const void *from, size_t size, size_t offset, hipMemcpyKind kind, hipStream_t stream)
{
    return copy_to_symbol(symbol, from, size, offset, kind, stream, false);
}

HIP_DEFINE(hipMemcpyFromSymbol, (to, symbol, size, offset, kind), void *to, const void *symbol,
           size_t size, size_t offset, hipMemcpyKind kind)
{
    return copy_from_symbol(to, symbol, size, offset, kind, NULL, true);
}

HIP_DEFINE(hipMemcpyFromSymbolAsync, (to, symbol, size, offset, kind, stream), void *to,
           const void *symbol, size_t size, size_t offset, hipMemcpyKind kind, hipStream_t stream)
{
    return copy_from_symbol(to, symbol, size, offset, kind, stream, false);
}
