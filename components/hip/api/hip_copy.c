/* Copies: hipMemcpy in all its forms, to and from device variables too.
 *
 * Every copy is a rectangle of rows, checked against the map of allocations before anything is
 * enqueued, so a refused copy has no effect. Invariant: pageable host memory is not read or written
 * after the call returned.
 */
#include "hip_managed.h"
#include "components/hip/record/hip_record.h"
#include "hip_stream.h"

#include <inttypes.h>
#include <string.h>

/* Says and refuses a device range that is not inside one allocation. */
static hipError_t check_device_range(uint64_t address, uint64_t size, const char *what)
{
    const struct hip_allocation *allocation = hip_find_allocation(address);
    if (!hip_is_device_address(address)) {
        hip_say("%s: %p is a host pointer where a device pointer is needed", what,
                (void *)(uintptr_t)address);
    } else if (!allocation) {
        hip_say("%s: %p is not, or no longer, allocated", what, (void *)(uintptr_t)address);
    } else if (size > allocation->size - (address - allocation->address)) {
        hip_say("%s: %" PRIu64 " bytes at %p leave the allocation of %" PRIu64
                " bytes at %p, of which %" PRIu64 " are left there",
                what, size, (void *)(uintptr_t)address, allocation->size,
                (void *)(uintptr_t)allocation->address,
                allocation->size - (address - allocation->address));
    } else {
        return hipSuccess;
    }
    return hipErrorInvalidValue;
}

static hipError_t check_host_range(uint64_t address, uint64_t size, const char *what)
{
    if (address == 0 || size > UINT64_MAX - address) {
        hip_say("%s: %p is not a host pointer to %" PRIu64 " bytes", what,
                (void *)(uintptr_t)address, size);
        return hipErrorInvalidValue;
    }
    if (hip_is_device_address(address)) {
        hip_say("%s: %p is a device pointer where a host pointer is needed", what,
                (void *)(uintptr_t)address);
        return hipErrorInvalidValue;
    }
    const struct hip_allocation *pinned = hip_find_allocation(address);
    if (pinned && pinned->kind == HIP_PINNED_MEMORY
        && size > pinned->size - (address - pinned->address)) {
        hip_say("%s: %" PRIu64 " bytes at %p leave the pinned allocation of %" PRIu64 " bytes",
                what, size, (void *)(uintptr_t)address, pinned->size);
        return hipErrorInvalidValue;
    }
    return hipSuccess;
}

static hipError_t check_range(uint64_t address, uint64_t size, bool on_device, const char *what)
{
    return on_device ? check_device_range(address, size, what)
                     : check_host_range(address, size, what);
}

/* HIP reads pageable memory before an asynchronous copy returns; only pinned memory may be read
 * later. */
static bool is_pinned(uint64_t address, uint64_t size)
{
    const struct hip_allocation *allocation = hip_find_allocation(address);
    return allocation && size <= allocation->size - (address - allocation->address);
}

/* Enqueues one copy whose ranges have been checked; `pending` is set when there is something to
 * wait for. */
static hipError_t enqueue_copy(uint64_t to, uint64_t from, size_t size, uint32_t queue,
                               uint64_t *ticket, bool *pending, const char *what)
{
    bool to_device = hip_is_device_address(to), from_device = hip_is_device_address(from);
    if (!to_device && !from_device) {
        memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, size);
        return hipSuccess;
    }
    enum driver_status status =
        to_device && from_device ? hip.api->copy(queue, to, from, size, ticket)
        : to_device ? hip.api->write(queue, to, (const void *)(uintptr_t)from, size, ticket)
                    : hip.api->read(queue, (void *)(uintptr_t)to, from, size, ticket);
    *pending = *pending || status == DRIVER_OK;
    return hip_status(status, what);
}

/* A rectangle of `rows` rows; a plain copy has one. */
struct copy {
    uint64_t to, from;
    size_t to_pitch, from_pitch, width, rows;
};

static hipError_t check_copy(const struct copy *copy, hipMemcpyKind kind, const char *what)
{
    static const struct {
        bool to_device, from_device;
    } sides[] = {
        [hipMemcpyHostToHost] = {false, false},
        [hipMemcpyHostToDevice] = {true, false},
        [hipMemcpyDeviceToHost] = {false, true},
        [hipMemcpyDeviceToDevice] = {true, true},
    };
    bool to_device = hip_is_device_address(copy->to),
         from_device = hip_is_device_address(copy->from);
    if ((unsigned)kind > hipMemcpyDefault) {
        return hipErrorInvalidMemcpyDirection;
    }
    if (kind != hipMemcpyDefault) {
        to_device = sides[kind].to_device;
        from_device = sides[kind].from_device;
    }
    to_device = to_device || hip_is_managed(copy->to); /* either side, whatever `kind` says */
    from_device = from_device || hip_is_managed(copy->from);
    if (copy->rows > 1 && (copy->width > copy->to_pitch || copy->width > copy->from_pitch)) {
        return hipErrorInvalidPitchValue;
    }
    size_t widest = copy->to_pitch > copy->from_pitch ? copy->to_pitch : copy->from_pitch;
    if (copy->rows > 1 && widest > (SIZE_MAX - copy->width) / (copy->rows - 1)) {
        return hipErrorInvalidValue;
    }
    size_t last = copy->rows - 1;
    hipError_t error = check_range(copy->to, last * copy->to_pitch + copy->width, to_device, what);
    return error != hipSuccess
               ? error
               : check_range(copy->from, last * copy->from_pitch + copy->width, from_device, what);
}

/* Devices whose memory the copy touches; -1: the host's. */
static int device_of(uint64_t address)
{
    const struct hip_allocation *allocation = hip_find_allocation(address);
    return allocation && hip_is_device_address(address) ? allocation->device : -1;
}

/* The null stream's copies are in order with the null streams of all devices that they touch. */
static hipError_t order_copy(const struct copy *copy, hipStream_t stream, bool waits)
{
    int devices[] = {device_of(copy->to), device_of(copy->from)};
    hipError_t error =
        hip_stream_order(stream, waits ? DRIVER_STREAM_COPY : DRIVER_STREAM_COPY_ASYNC);
    for (int i = 0; i < 2 && error == hipSuccess; i++) {
        if (devices[i] >= 0) {
            error = hip_stream_order_device(stream, devices[i]);
        }
    }
    return error;
}

static hipError_t order_after_copy(const struct copy *copy, hipStream_t stream, uint64_t ticket)
{
    int devices[] = {device_of(copy->to), device_of(copy->from)};
    hipError_t error = hipSuccess;
    for (int i = 0; i < 2 && error == hipSuccess; i++) {
        if (devices[i] >= 0) {
            error = hip_stream_order_after(stream, devices[i], ticket);
        }
    }
    return error;
}

static struct hip_record_copy record_of(const struct copy *copy, hipStream_t stream, void *host,
                                        bool waits)
{
    return (struct hip_record_copy){.to = copy->to,
                                    .from = copy->from,
                                    .host = host,
                                    .size = copy->width,
                                    .rows = copy->rows,
                                    .to_pitch = copy->to_pitch,
                                    .from_pitch = copy->from_pitch,
                                    .to_device = hip_is_device_address(copy->to),
                                    .from_device = hip_is_device_address(copy->from),
                                    .waits = waits,
                                    .stream = hip_stream_number(stream)};
}

static hipError_t run_copy(const struct copy *copy, hipMemcpyKind kind, hipStream_t stream,
                           bool blocking, const char *what)
{
    uint32_t queue = 0;
    int device = 0;
    hipError_t error = hip_stream_queue(stream, &queue, &device);
    if (error != hipSuccess || copy->width == 0 || copy->rows == 0) {
        return error;
    }
    error = check_copy(copy, kind, what);
    if (error == hipSuccess) {
        error = hip_managed_before_use(
            queue, copy->from, (copy->rows - 1) * copy->from_pitch + copy->width, false, what);
    }
    if (error == hipSuccess) {
        error = hip_managed_before_use(queue, copy->to,
                                       (copy->rows - 1) * copy->to_pitch + copy->width, true, what);
    }
    if (error != hipSuccess) {
        return error;
    }
    bool to_device = hip_is_device_address(copy->to),
         from_device = hip_is_device_address(copy->from);
    if (!to_device && !from_device) {
        error = hip_stream_wait(stream, what); /* earlier copies may still fill the source */
    }
    uint64_t ticket = 0, to = copy->to, from = copy->from;
    bool pending = false, begun = false;
    bool pageable = (!to_device && !is_pinned(copy->to, copy->width))
                    || (!from_device && !is_pinned(copy->from, copy->width));
    if (hip_recording && to_device != from_device) {
        const uint64_t pitch = to_device ? copy->from_pitch : copy->to_pitch;
        hip_managed_record_pinned(to_device ? from : to, (copy->rows - 1) * pitch + copy->width,
                                  from_device, blocking || pageable);
    }
    if (to_device && !from_device) {
        from = hip_managed_pinned(from, (copy->rows - 1) * copy->from_pitch + copy->width, false);
    } else if (from_device && !to_device) {
        to = hip_managed_pinned(to, (copy->rows - 1) * copy->to_pitch + copy->width, true);
    }
    error = to && from ? error : hip.lost;
    if (error == hipSuccess && (to_device || from_device)) {
        error = order_copy(copy, stream, blocking);
        begun = error == hipSuccess;
    }
    bool records = hip_recording && error == hipSuccess && (to_device || from_device);
    struct hip_record_copy recorded =
        record_of(copy, stream, (void *)(uintptr_t)(to_device ? from : to), blocking || pageable);
    size_t line = records ? hip_record_copy(&recorded) : 0;
    for (size_t row = 0; row < copy->rows && error == hipSuccess; row++) {
        error = enqueue_copy(to + row * copy->to_pitch, from + row * copy->from_pitch, copy->width,
                             queue, &ticket, &pending, what);
    }
    if (begun) {
        hip_stream_note(stream, pending ? ticket : 0);
    }
    if (!pending) {
        return error;
    }
    if (error == hipSuccess) {
        error = order_after_copy(copy, stream, ticket);
    }
    if (records) {
        hip_record_copy_sent(line, &recorded, ticket);
    }
    if (blocking || pageable || error != hipSuccess) {
        hipError_t waited = hip_wait_ticket(ticket, what);
        error = error != hipSuccess ? error : waited;
    }
    if (records && recorded.waits) {
        hip_record_copy_done(line, &recorded);
    }
    return error;
}

hipError_t hip_copy(void *to, const void *from, size_t size, hipMemcpyKind kind, hipStream_t stream,
                    bool blocking, const char *what)
{
    struct copy copy = {.to = (uintptr_t)to, .from = (uintptr_t)from, .width = size, .rows = 1};
    return run_copy(&copy, kind, stream, blocking, what);
}

hipError_t hipMemcpy(void *to, const void *from, size_t size, hipMemcpyKind kind)
{
    HIP_API(hip_copy(to, from, size, kind, NULL, true, "hipMemcpy"));
}

hipError_t hipMemcpyWithStream(void *to, const void *from, size_t size, hipMemcpyKind kind,
                               hipStream_t stream)
{
    HIP_API(hip_copy(to, from, size, kind, stream, true, "hipMemcpyWithStream"));
}

hipError_t hipMemcpyAsync(void *to, const void *from, size_t size, hipMemcpyKind kind,
                          hipStream_t stream)
{
    HIP_API(hip_copy(to, from, size, kind, stream, false, "hipMemcpyAsync"));
}

hipError_t hipMemcpyHtoD(hipDeviceptr_t to, void *from, size_t size)
{
    HIP_API(hip_copy(to, from, size, hipMemcpyHostToDevice, NULL, true, "hipMemcpyHtoD"));
}

hipError_t hipMemcpyDtoH(void *to, hipDeviceptr_t from, size_t size)
{
    HIP_API(hip_copy(to, from, size, hipMemcpyDeviceToHost, NULL, true, "hipMemcpyDtoH"));
}

hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t size)
{
    HIP_API(hip_copy(to, from, size, hipMemcpyDeviceToDevice, NULL, true, "hipMemcpyDtoD"));
}

hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, void *from, size_t size, hipStream_t stream)
{
    HIP_API(hip_copy(to, from, size, hipMemcpyHostToDevice, stream, false, "hipMemcpyHtoDAsync"));
}

hipError_t hipMemcpyDtoHAsync(void *to, hipDeviceptr_t from, size_t size, hipStream_t stream)
{
    HIP_API(hip_copy(to, from, size, hipMemcpyDeviceToHost, stream, false, "hipMemcpyDtoHAsync"));
}

hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t size,
                              hipStream_t stream)
{
    HIP_API(hip_copy(to, from, size, hipMemcpyDeviceToDevice, stream, false, "hipMemcpyDtoDAsync"));
}

static hipError_t copy_peer(void *to, int to_device, const void *from, int from_device, size_t size,
                            hipStream_t stream, bool blocking, const char *what)
{
    if (!hip_is_device(to_device) || !hip_is_device(from_device)) {
        return hipErrorInvalidDevice;
    }
    return hip_copy(to, from, size, hipMemcpyDeviceToDevice, stream, blocking, what);
}

hipError_t hipMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t size)
{
    HIP_API(copy_peer(to, to_device, from, from_device, size, NULL, true, "hipMemcpyPeer"));
}

hipError_t hipMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                              size_t size, hipStream_t stream)
{
    HIP_API(copy_peer(to, to_device, from, from_device, size, stream, false, "hipMemcpyPeerAsync"));
}

static hipError_t copy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                          size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream,
                          bool blocking)
{
    struct copy copy = {.to = (uintptr_t)to,
                        .from = (uintptr_t)from,
                        .to_pitch = to_pitch,
                        .from_pitch = from_pitch,
                        .width = width,
                        .rows = height};
    return run_copy(&copy, kind, stream, blocking, "hipMemcpy2D");
}

hipError_t hipMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                       size_t height, hipMemcpyKind kind)
{
    HIP_API(copy_2d(to, to_pitch, from, from_pitch, width, height, kind, NULL, true));
}

hipError_t hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                            size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream)
{
    HIP_API(copy_2d(to, to_pitch, from, from_pitch, width, height, kind, stream, false));
}

/* ---- device variables ---- */

static hipError_t copy_symbol(const void *symbol, void *host, size_t size, size_t offset,
                              bool to_symbol, hipMemcpyKind kind, hipStream_t stream, bool blocking,
                              const char *what)
{
    uint64_t address = 0, symbol_size = 0;
    hipError_t error = hip_find_host_variable(symbol, hip_current_device(), &address, &symbol_size);
    if (error != hipSuccess) {
        return error;
    }
    if (offset > symbol_size || size > symbol_size - offset) {
        hip_say("%s: %zu bytes at offset %zu leave the device variable of %" PRIu64 " bytes", what,
                size, offset, symbol_size);
        return hipErrorInvalidValue;
    }
    void *device = (void *)(uintptr_t)(address + offset);
    return to_symbol ? hip_copy(device, host, size, kind, stream, blocking, what)
                     : hip_copy(host, device, size, kind, stream, blocking, what);
}

hipError_t hipMemcpyToSymbol(const void *symbol, const void *from, size_t size, size_t offset,
                             hipMemcpyKind kind)
{
    HIP_API(copy_symbol(symbol, (void *)(uintptr_t)from, size, offset, true, kind, NULL, true,
                        "hipMemcpyToSymbol"));
}

hipError_t hipMemcpyToSymbolAsync(const void *symbol, const void *from, size_t size, size_t offset,
                                  hipMemcpyKind kind, hipStream_t stream)
{
    HIP_API(copy_symbol(symbol, (void *)(uintptr_t)from, size, offset, true, kind, stream, false,
                        "hipMemcpyToSymbolAsync"));
}

hipError_t hipMemcpyFromSymbol(void *to, const void *symbol, size_t size, size_t offset,
                               hipMemcpyKind kind)
{
    HIP_API(copy_symbol(symbol, to, size, offset, false, kind, NULL, true, "hipMemcpyFromSymbol"));
}

hipError_t hipMemcpyFromSymbolAsync(void *to, const void *symbol, size_t size, size_t offset,
                                    hipMemcpyKind kind, hipStream_t stream)
{
    HIP_API(copy_symbol(symbol, to, size, offset, false, kind, stream, false,
                        "hipMemcpyFromSymbolAsync"));
}
