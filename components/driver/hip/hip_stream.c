/* Streams and events.
 *
 * All streams of a device share its one hardware queue, which executes in order. That gives every
 * order that HIP promises (the null stream's included); it only overlaps less. A stream remembers
 * its last command, so that waiting for it does not wait for other streams' later work. Invariant:
 * a handle that a program gives is looked up in the list of living ones before it is used. */
#include "hip_hostcall.h"
#include "hip_turns.h"

enum { PRIORITY_LOW = 1, PRIORITY_HIGH = -1 };

struct ihipStream_t {
    struct ihipStream_t *next;
    int device, priority;
    unsigned flags;
    bool has_ticket;
    uint64_t ticket;
};

struct ihipEvent_t {
    struct ihipEvent_t *next;
    unsigned flags;
    bool recorded;
    uint64_t ticket;
};

static struct ihipStream_t *streams;
static struct ihipStream_t null_streams[HIP_DEVICES_MAX];
static struct ihipEvent_t *events;

/* The null stream has several names: 0, 1 (legacy) and 2 (per thread). */
static bool is_null_stream(hipStream_t stream)
{
    return (uintptr_t)stream <= (uintptr_t)hipStreamPerThread;
}

static struct ihipStream_t *find_stream(hipStream_t stream)
{
    if (is_null_stream(stream)) {
        struct ihipStream_t *null_stream = &null_streams[hip_current_device()];
        null_stream->device = hip_current_device();
        return null_stream;
    }
    struct ihipStream_t *each = streams;
    while (each && each != stream) {
        each = each->next;
    }
    return each;
}

hipError_t hip_stream_queue(hipStream_t stream, uint32_t *queue, int *device)
{
    const struct ihipStream_t *found = find_stream(stream);
    if (!found) {
        return hipErrorInvalidHandle;
    }
    *queue = hip.devices[found->device].queue;
    *device = found->device;
    return hipSuccess;
}

void hip_stream_note(hipStream_t stream, uint64_t ticket)
{
    struct ihipStream_t *found = find_stream(stream);
    hip_turns_progress();
    if (found) {
        found->has_ticket = true;
        found->ticket = ticket;
    }
}

/* The null stream waits for all others of its device. */
hipError_t hip_stream_wait(hipStream_t stream, const char *what)
{
    const struct ihipStream_t *found = find_stream(stream);
    if (!found) {
        return hipErrorInvalidHandle;
    }
    if (is_null_stream(stream)) {
        return hip_wait_device(found->device, what);
    }
    return found->has_ticket ? hip_wait_ticket(found->ticket, what) : hipSuccess;
}

static hipError_t create_stream(hipStream_t *stream, unsigned flags, int priority)
{
    if (!stream || (flags & ~(unsigned)hipStreamNonBlocking) != 0) {
        return hipErrorInvalidValue;
    }
    struct ihipStream_t *made = hip_allocate(sizeof *made);
    made->device = hip_current_device();
    made->flags = flags;
    made->priority = priority < PRIORITY_HIGH  ? PRIORITY_HIGH
                     : priority > PRIORITY_LOW ? PRIORITY_LOW
                                               : priority;
    made->next = streams;
    streams = made;
    *stream = made;
    return hipSuccess;
}

static hipError_t destroy_stream(hipStream_t stream)
{
    for (struct ihipStream_t **link = &streams; *link; link = &(*link)->next) {
        if (*link == stream && !is_null_stream(stream)) {
            *link = stream->next;
            hip_release(stream);
            return hipSuccess;
        }
    }
    return hipErrorInvalidHandle;
}

static hipError_t query(uint64_t ticket, const char *what)
{
    hipError_t error = hip_hostcall_serve();
    if (error != hipSuccess) {
        return error;
    }
    if (hip_take_turn(ticket, true) && !hip_ticket_done(ticket)) {
        return hipErrorNotReady;
    }
    pthread_mutex_unlock(&hip.lock);
    enum driver_status status = hip.api->query(ticket);
    pthread_mutex_lock(&hip.lock);
    return hip_status(status, what);
}

static hipError_t query_stream(hipStream_t stream)
{
    const struct ihipStream_t *found = find_stream(stream);
    if (!found) {
        return hipErrorInvalidHandle;
    }
    if (!found->has_ticket) {
        return hipSuccess;
    }
    return query(found->ticket, "hipStreamQuery");
}

static hipError_t stream_flags(hipStream_t stream, unsigned *flags)
{
    const struct ihipStream_t *found = find_stream(stream);
    if (!found || !flags) {
        return found ? hipErrorInvalidValue : hipErrorInvalidHandle;
    }
    *flags = found->flags;
    return hipSuccess;
}

static hipError_t stream_priority(hipStream_t stream, int *priority)
{
    const struct ihipStream_t *found = find_stream(stream);
    if (!found || !priority) {
        return found ? hipErrorInvalidValue : hipErrorInvalidHandle;
    }
    *priority = found->priority;
    return hipSuccess;
}

/* The callback may call HIP only in ways that do not wait (the HIP documentation's rule), so it
 * runs here. */
static hipError_t call_back(hipStream_t stream, hipStreamCallback_t callback, void *data,
                            unsigned flags)
{
    if (!callback || flags != 0) {
        return hipErrorInvalidValue;
    }
    hipError_t error = hip_stream_wait(stream, "hipStreamAddCallback");
    hip_unlock();
    callback(stream, error, data);
    hip_lock();
    return error;
}

hipError_t hipStreamCreate(hipStream_t *stream)
{
    HIP_API(create_stream(stream, hipStreamDefault, 0));
}

hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags)
{
    HIP_API(create_stream(stream, flags, 0));
}

hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned flags, int priority)
{
    HIP_API(create_stream(stream, flags, priority));
}

hipError_t hipDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least) {
        *least = PRIORITY_LOW;
    }
    if (greatest) {
        *greatest = PRIORITY_HIGH;
    }
    return hipSuccess;
}

hipError_t hipStreamDestroy(hipStream_t stream)
{
    HIP_API_ALWAYS(destroy_stream(stream));
}

hipError_t hipStreamSynchronize(hipStream_t stream)
{
    HIP_API(hip_stream_wait(stream, "hipStreamSynchronize"));
}

hipError_t hipStreamQuery(hipStream_t stream)
{
    HIP_API(query_stream(stream));
}

hipError_t hipStreamGetFlags(hipStream_t stream, unsigned *flags)
{
    HIP_API_ALWAYS(stream_flags(stream, flags));
}

hipError_t hipStreamGetPriority(hipStream_t stream, int *priority)
{
    HIP_API_ALWAYS(stream_priority(stream, priority));
}

hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void *data,
                                unsigned flags)
{
    HIP_API(call_back(stream, callback, data, flags));
}

static int stream_device(hipStream_t stream)
{
    hipError_t error = hip_enter();
    const struct ihipStream_t *found = error == hipSuccess ? find_stream(stream) : NULL;
    int device = found ? found->device : -1;
    hip_leave(error);
    return device;
}

int hipGetStreamDeviceId(hipStream_t stream)
{
    return stream_device(stream);
}

/* ---- events ---- */

static struct ihipEvent_t *find_event(hipEvent_t event)
{
    struct ihipEvent_t *each = events;
    while (each && each != event) {
        each = each->next;
    }
    return each;
}

static hipError_t create_event(hipEvent_t *event, unsigned flags)
{
    const unsigned known = hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess
                           | hipEventReleaseToDevice | hipEventReleaseToSystem;
    if (!event || (flags & ~known) != 0) {
        return hipErrorInvalidValue;
    }
    struct ihipEvent_t *made = hip_allocate(sizeof *made);
    made->flags = flags;
    made->next = events;
    events = made;
    *event = made;
    return hipSuccess;
}

static hipError_t destroy_event(hipEvent_t event)
{
    for (struct ihipEvent_t **link = &events; *link; link = &(*link)->next) {
        if (*link == event) {
            *link = event->next;
            hip_release(event);
            return hipSuccess;
        }
    }
    return event ? hipErrorInvalidHandle : hipErrorInvalidValue;
}

static hipError_t record_event(hipEvent_t event, hipStream_t stream)
{
    struct ihipEvent_t *found = find_event(event);
    uint32_t queue = 0;
    int device = 0;
    hipError_t error = found ? hip_stream_queue(stream, &queue, &device) : hipErrorInvalidHandle;
    uint64_t ticket = 0;
    if (error == hipSuccess) {
        error = hip_status(hip.api->mark(queue, &ticket), "hipEventRecord");
    }
    if (error == hipSuccess) {
        found->recorded = true;
        found->ticket = ticket;
        hip_stream_note(stream, ticket);
    }
    return error;
}

/* An event that was never recorded is done (HIP documentation of hipEventQuery). */
static hipError_t wait_event(hipEvent_t event)
{
    const struct ihipEvent_t *found = find_event(event);
    if (!found) {
        return event ? hipErrorInvalidHandle : hipErrorInvalidValue;
    }
    return found->recorded ? hip_wait_ticket(found->ticket, "hipEventSynchronize") : hipSuccess;
}

static hipError_t query_event(hipEvent_t event)
{
    const struct ihipEvent_t *found = find_event(event);
    if (!found) {
        return event ? hipErrorInvalidHandle : hipErrorInvalidValue;
    }
    if (!found->recorded) {
        return hipSuccess;
    }
    return query(found->ticket, "hipEventQuery");
}

/* Simulated milliseconds between two events, of which the hardware knows picoseconds. */
static hipError_t elapsed_time(float *milliseconds, hipEvent_t start, hipEvent_t stop)
{
    const struct ihipEvent_t *first = find_event(start), *last = find_event(stop);
    if (!milliseconds) {
        return hipErrorInvalidValue;
    }
    if (!first || !last || !first->recorded || !last->recorded
        || ((first->flags | last->flags) & hipEventDisableTiming) != 0) {
        return hipErrorInvalidHandle;
    }
    uint64_t first_ps = 0, last_ps = 0;
    hipError_t error =
        hip_status(hip.api->time_of(first->ticket, &first_ps), "hipEventElapsedTime");
    if (error == hipSuccess) {
        error = hip_status(hip.api->time_of(last->ticket, &last_ps), "hipEventElapsedTime");
    }
    if (error == hipSuccess) {
        *milliseconds = last_ps >= first_ps ? (float)((double)(last_ps - first_ps) * 1e-9)
                                            : -(float)((double)(first_ps - last_ps) * 1e-9);
    }
    return error;
}

static hipError_t wait_for_event(hipStream_t stream, hipEvent_t event, unsigned flags)
{
    const struct ihipEvent_t *found = find_event(event);
    uint32_t queue = 0;
    int device = 0;
    hipError_t error = found && flags == 0 ? hip_stream_queue(stream, &queue, &device)
                       : found             ? hipErrorInvalidValue
                                           : hipErrorInvalidHandle;
    if (error == hipSuccess && found->recorded) {
        error = hip_status(hip.api->wait_for(queue, found->ticket), "hipStreamWaitEvent");
    }
    return error;
}

hipError_t hipEventCreate(hipEvent_t *event)
{
    HIP_API(create_event(event, hipEventDefault));
}

hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags)
{
    HIP_API(create_event(event, flags));
}

hipError_t hipEventDestroy(hipEvent_t event)
{
    HIP_API_ALWAYS(destroy_event(event));
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream)
{
    HIP_API(record_event(event, stream));
}

hipError_t hipEventSynchronize(hipEvent_t event)
{
    HIP_API(wait_event(event));
}

hipError_t hipEventQuery(hipEvent_t event)
{
    HIP_API(query_event(event));
}

hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t start, hipEvent_t stop)
{
    HIP_API(elapsed_time(milliseconds, start, stop));
}

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags)
{
    HIP_API(wait_for_event(stream, event, flags));
}
