/* Events: marks in the queues of streams. An event remembers the last mark that it was recorded as.
 */
#include "components/hip/api/code/hip_hostcall.h"
#include "components/hip/api/hip_handle.h"
#include "components/hip/api/record/hip_record.h"

#include "hip_capture.h"
#include "hip_stream.h"

struct event {
    unsigned flags;
    int device;
    uint32_t number; /* from 1, in order of creation */
    bool is_recorded;
    uint64_t ticket;
};

/* The extent to which earlier writes are visible when the event is recorded: at most one of these
 * flags. */
#define EVENT_DISABLE_SYSTEM_FENCE 0x20000000u /* since ROCm 5.5 */
#define EVENT_RELEASES                                                                             \
    (hipEventReleaseToDevice | hipEventReleaseToSystem | EVENT_DISABLE_SYSTEM_FENCE)

static uint32_t last_number;

static struct event *find_event(hipEvent_t event)
{
    return hip_handle_find(HIP_HANDLE_EVENT, event);
}

uint32_t hip_event_next_number(void)
{
    return ++last_number;
}

static hipError_t create_event(hipEvent_t *event, unsigned flags)
{
    const unsigned all_flags =
        hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess | EVENT_RELEASES;
    const unsigned releases = flags & EVENT_RELEASES;
    if (!event || (flags & ~all_flags) != 0 || (releases & (releases - 1)) != 0)
        return hipErrorInvalidValue;
    struct event *object = hip_allocate(sizeof *object);
    object->flags = flags;
    object->device = hip_current_device();
    object->number = hip_event_next_number();
    *event = hip_handle_add(HIP_HANDLE_EVENT, object);
    hip_record_call(&(struct api_trace_call){
        .kind = API_TRACE_EVENT_CREATE, .event = object->number, .flags = flags});
    return hipSuccess;
}

HIP_DEFINE_ALWAYS(hipEventDestroy, (event), hipEvent_t event)
{
    struct event *object = find_event(event);
    if (!object)
        return event ? hipErrorInvalidHandle : hipErrorInvalidValue;
    hip_record_call(
        &(struct api_trace_call){.kind = API_TRACE_EVENT_DESTROY, .event = object->number});
    hip_handle_remove(event);
    hip_release(object);
    return hipSuccess;
}

/* Fences of system scope, but where the program says that it needs none (HIP, event flags). */
static bool event_fences(const struct event *event)
{
    return !(event->flags & (hipEventReleaseToDevice | EVENT_DISABLE_SYSTEM_FENCE));
}

HIP_DEFINE(hipEventRecord, (event, stream), hipEvent_t event, hipStream_t stream)
{
    struct event *object = find_event(event);
    uint32_t queue = 0;
    int device = 0;
    hipError_t error = object ? hip_stream_queue(stream, &queue, &device) : hipErrorInvalidHandle;
    uint64_t ticket = 0;
    if (error == hipSuccess && object->device != device)
        error = hip_fail(hipErrorInvalidHandle,
                         "the event belongs to device %d, the stream to device %d", object->device,
                         device);
    if (error == hipSuccess && hip_is_capturing(stream))
        return hip_capture_record(stream, event);
    if (error == hipSuccess)
        error = hip_stream_order(stream, DRIVER_STREAM_EVENT_RECORD);
    if (error == hipSuccess) {
        object = find_event(event); /* the wait may have released the lock */
        enum driver_status status =
            object ? hip.api->mark(queue, event_fences(object), &ticket) : DRIVER_INVALID_VALUE;
        hip_stream_end_call(stream, status == DRIVER_OK ? ticket : 0);
        error = object ? hip_status(status) : hipErrorInvalidHandle;
    }
    if (error == hipSuccess) {
        object->is_recorded = true;
        object->ticket = ticket;
        hip_record_call(&(struct api_trace_call){.kind = API_TRACE_EVENT_RECORD,
                                                 .event = object->number,
                                                 .stream = hip_stream_number(stream)});
    }
    return error;
}

/* An event that was never recorded is done (HIP documentation of hipEventQuery). */
HIP_DEFINE(hipEventSynchronize, (event), hipEvent_t event)
{
    const struct event *object = find_event(event);
    if (!object)
        return event ? hipErrorInvalidHandle : hipErrorInvalidValue;
    hipError_t error = hip_capture_ask(event);
    if (error != hipSuccess)
        return error;
    hip_record_call(
        &(struct api_trace_call){.kind = API_TRACE_EVENT_SYNCHRONIZE, .event = object->number});
    return object->is_recorded ? hip_wait_ticket(object->ticket) : hipSuccess;
}

HIP_DEFINE(hipEventQuery, (event), hipEvent_t event)
{
    const struct event *object = find_event(event);
    if (!object)
        return event ? hipErrorInvalidHandle : hipErrorInvalidValue;
    hipError_t error = hip_capture_ask(event);
    if (error != hipSuccess || !object->is_recorded)
        return error;
    struct api_trace_call call = {.kind = API_TRACE_EVENT_QUERY, .event = object->number};
    size_t line = hip_record_call(&call);
    error = hip_query_ticket(object->ticket);
    hip_record_answer(line, error == hipSuccess);
    return error;
}

/* A program divides by what is next to 0 and prints "inf GB/s": the reason is written once. */
static void warn_timeless(void)
{
    static bool has_warned;
    if (hip.is_functional && !__atomic_exchange_n(&has_warned, true, __ATOMIC_RELAXED)) {
        hip_say_call("in functional mode kernels and copies take no time: what events measure, and "
                     "rates computed from it, mean nothing; run without '--mode functional' for "
                     "times");
    }
}

/* Simulated milliseconds between two events, of which the hardware knows picoseconds. */
HIP_DEFINE(hipEventElapsedTime, (milliseconds, start, stop), float *milliseconds, hipEvent_t start,
           hipEvent_t stop)
{
    const struct event *first = find_event(start), *last = find_event(stop);
    if (!milliseconds)
        return hipErrorInvalidValue;
    if (!first || !last || !first->is_recorded || !last->is_recorded
        || ((first->flags | last->flags) & hipEventDisableTiming) != 0)
        return hipErrorInvalidHandle;
    uint64_t first_ps = 0, last_ps = 0;
    hipError_t error = hip_status(hip.api->time_of(first->ticket, &first_ps));
    if (error == hipSuccess)
        error = hip_status(hip.api->time_of(last->ticket, &last_ps));
    if (error == hipSuccess) {
        warn_timeless();
        *milliseconds = last_ps >= first_ps ? (float)((double)(last_ps - first_ps) * 1e-9)
                                            : -(float)((double)(first_ps - last_ps) * 1e-9);
    }
    return error;
}

HIP_DEFINE(hipStreamWaitEvent, (stream, event, flags), hipStream_t stream, hipEvent_t event,
           unsigned flags)
{
    const struct event *object = find_event(event);
    uint32_t queue = 0;
    int device = 0;
    hipError_t error = object && flags == 0 ? hip_stream_queue(stream, &queue, &device)
                       : object             ? hipErrorInvalidValue
                                            : hipErrorInvalidHandle;
    if (error == hipSuccess && hip_capture_wait(stream, event))
        return hipSuccess;
    if (error == hipSuccess)
        error = hip_stream_order(stream, DRIVER_STREAM_WAIT_EVENT);
    bool has_begun = error == hipSuccess;
    object = find_event(event); /* the wait may have released the lock */
    if (!object)
        error = event ? hipErrorInvalidHandle : hipErrorInvalidValue;
    if (error == hipSuccess) {
        hip_record_call(&(struct api_trace_call){.kind = API_TRACE_STREAM_WAIT_EVENT,
                                                 .stream = hip_stream_number(stream),
                                                 .event = object->number});
    }
    if (error == hipSuccess && object->is_recorded)
        error = hip_status(hip.api->wait_for(queue, object->ticket));
    if (has_begun && !hip.orders_streams) {
        uint64_t ticket = 0; /* the wait; 0: there is nothing to be done */
        if (error == hipSuccess && object->is_recorded)
            hip.api->last(queue, &ticket);
        hip_stream_end_call(stream, ticket);
    }
    return error;
}

HIP_DEFINE(hipEventCreate, (event), hipEvent_t *event)
{
    return create_event(event, hipEventDefault);
}

HIP_DEFINE(hipEventCreateWithFlags, (event, flags), hipEvent_t *event, unsigned flags)
{
    return create_event(event, flags);
}

hipError_t hip_create_event(hipEvent_t *event, unsigned flags)
{
    return create_event(event, flags);
}

void hip_destroy_event(hipEvent_t event)
{
    hipEventDestroy_body(event);
}

hipError_t hip_record_event(hipEvent_t event, hipStream_t stream)
{
    return hipEventRecord_body(event, stream);
}

hipError_t hip_wait_event(hipEvent_t event, hipStream_t stream)
{
    return hipStreamWaitEvent_body(stream, event, 0);
}
