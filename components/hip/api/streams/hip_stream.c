/* Streams: each is a queue of the driver. A queue executes in order; queues run side by side.
 *
 * HIP promises an order between the streams of a device (HIP programming guide, "Default stream";
 * the same as CUDA's): a command of the null stream begins when all earlier ones in blocking
 * streams are done, and a command of a blocking stream begins when all earlier ones in the null
 * stream are done. Streams made with hipStreamNonBlocking take no part in that. hip_stream_order()
 * turns it into waits in the queues, right before a command is enqueued. On a platform whose driver
 * has stream rules of its own (components/host/driver/stream_rules.h), a call waits there until
 * they let it begin. The streams per host thread (hipStreamPerThread) are blocking ones.
 *
 * A destroyed stream finishes its commands. Until then it is kept, but its handle no longer finds
 * it (hip_handle.h). */
#include "hip_stream.h"

#include "base/grow.h"
#include "base/number.h"
#include "components/hip/api/code/hip_hostcall.h"
#include "components/hip/api/hip_handle.h"
#include "components/hip/api/memory/hip_host_memory.h"
#include "components/hip/api/record/hip_record.h"
#include "components/hip/turns/hip_turns.h"

#include "hip_capture.h"

enum { PRIORITY_LOW = 1, PRIORITY_HIGH = -1 };

struct stream {
    struct stream *next;
    hipStream_t handle; /* NULL: found by its thread */
    uint64_t thread;    /* the thread that it belongs to, from 1; 0: all threads */
    int device, priority;
    unsigned flags;
    uint32_t queue;
    uint32_t number; /* from 1, in order of creation */
    bool is_destroyed;
    uint64_t awaited_of_null; /* the last command of the null stream that this queue waits for */
    uint64_t awaited_by_null; /* the last command of this stream that the null stream waits for */
};

static struct stream *streams; /* newest first */
static uint32_t last_number;
static struct stream null_streams[HIP_DEVICES_MAX];
static uint64_t last_thread;
static _Thread_local uint64_t thread_number; /* from 1; 0: the thread has no streams of its own */

/* The null stream has two names, 0 and hipStreamLegacy (1). */
static bool is_null_stream(hipStream_t stream)
{
    return (uintptr_t)stream < (uintptr_t)hipStreamPerThread;
}

/* The ticket of a queue's last command that is not done. 0: there is none, or the device is lost.
 */
static uint64_t last_ticket_of(uint32_t queue)
{
    uint64_t ticket = 0;
    return hip.api->last(queue, &ticket) == DRIVER_OK ? ticket : 0;
}

/* Frees destroyed streams whose work is done. */
static void release_destroyed(void)
{
    for (struct stream **link = &streams; *link;) {
        struct stream *stream = *link;
        if (!stream->is_destroyed || last_ticket_of(stream->queue)) {
            link = &stream->next;
            continue;
        }
        *link = stream->next;
        hip.api->queue_destroy(stream->queue);
        hip_release(stream);
    }
}

uint32_t hip_stream_next_number(void)
{
    return ++last_number;
}

static hipError_t add_stream(struct stream **stream, unsigned flags, int priority)
{
    uint32_t queue = 0;
    release_destroyed();
    hipError_t error =
        hip_status_of(hip.api->queue_create(hip.devices[hip_current_device()].number, 0, &queue),
                      "creating a stream");
    if (error != hipSuccess)
        return error;
    struct stream *object = hip_allocate(sizeof *object);
    *object = (struct stream){.next = streams,
                              .device = hip_current_device(),
                              .priority = priority,
                              .flags = flags,
                              .queue = queue,
                              .number = hip_stream_next_number()};
    streams = object;
    *stream = object;
    return hipSuccess;
}

/* The stream's handle is refused from now on. */
static void remove_stream(struct stream *stream)
{
    stream->is_destroyed = true;
    hip_handle_remove(stream->handle);
}

void hip_release_streams(int device)
{
    for (struct stream *entry = streams; entry; entry = entry->next)
        if (entry->device == device)
            remove_stream(entry);
    release_destroyed();
}

/* The calling thread's own stream on its current device, which may have been destroyed and made
 * anew. */
static struct stream *thread_stream(void)
{
    struct stream *entry = thread_number > 0 ? streams : NULL;
    while (entry
           && (entry->thread != thread_number || entry->device != hip_current_device()
               || entry->is_destroyed))
        entry = entry->next;
    if (!entry && add_stream(&entry, hipStreamDefault, 0) == hipSuccess) {
        thread_number = thread_number > 0 ? thread_number : ++last_thread;
        entry->thread = thread_number;
    }
    return entry;
}

static struct stream *find_stream(hipStream_t stream)
{
    if (is_null_stream(stream)) {
        struct stream *null_stream = &null_streams[hip_current_device()];
        null_stream->device = hip_current_device();
        null_stream->queue = hip.devices[null_stream->device].queue;
        return null_stream;
    }
    if (stream == hipStreamPerThread)
        return thread_stream();
    return hip_handle_find(HIP_HANDLE_STREAM, stream);
}

hipError_t hip_stream_queue(hipStream_t stream, uint32_t *queue, int *device)
{
    const struct stream *object = find_stream(stream);
    if (!object)
        return hipErrorInvalidHandle;
    *queue = object->queue;
    *device = object->device;
    return hipSuccess;
}

uint32_t hip_stream_number(hipStream_t stream)
{
    const struct stream *object =
        is_null_stream(stream) || stream == hipStreamPerThread ? NULL : find_stream(stream);
    return stream == hipStreamPerThread ? API_TRACE_STREAM_OF_THREAD : object ? object->number : 0;
}

static bool is_blocking(const struct stream *stream)
{
    return (stream->flags & hipStreamNonBlocking) == 0;
}

/* The queue waits for those commands of another queue that it does not wait for yet: the ones after
 * `*awaited`. */
static hipError_t wait_for_queue(uint32_t queue, uint32_t awaited_queue, uint64_t *awaited)
{
    uint64_t ticket = last_ticket_of(awaited_queue);
    if (ticket == 0 || ticket == *awaited || queue == awaited_queue)
        return hipSuccess;
    *awaited = ticket;
    return hip_status_of(hip.api->wait_for(queue, ticket), "waiting for another stream");
}

/* Orders a command of `queue`, which has the null stream's place on `device`. */
static hipError_t order_null(uint32_t queue, int device)
{
    hipError_t error = hipSuccess;
    for (struct stream *entry = streams; entry && error == hipSuccess; entry = entry->next) {
        if (entry->device == device && is_blocking(entry)) {
            uint64_t awaited = 0;
            bool is_null = queue == hip.devices[device].queue;
            error =
                wait_for_queue(queue, entry->queue, is_null ? &entry->awaited_by_null : &awaited);
        }
    }
    return error;
}

/* A call that the driver's rules do not let begin yet is tried again when something is done. */
static hipError_t wait_for_rules(hipStream_t stream, enum driver_stream_call call)
{
    for (;;) {
        const struct stream *object = find_stream(stream);
        uint64_t blocker = 0;
        if (!object)
            return hipErrorInvalidHandle; /* destroyed while we waited */
        enum driver_status status =
            hip.api->call_begin(object->queue, call, is_null_stream(stream), &blocker);
        if (status != DRIVER_NOT_READY)
            return hip_status(status);
        if (hip_is_ticket_done(blocker)) {
            hip_say("the driver's stream rules wait for a command that is done already");
            return hip.device_error != hipSuccess ? hip.device_error : hipErrorUnknown;
        }
        hipError_t error = hip_wait_ticket(blocker);
        if (error != hipSuccess)
            return error;
    }
}

hipError_t hip_stream_order(hipStream_t stream, enum driver_stream_call call)
{
    if (!hip.orders_streams) {
        const char *before = hip_set_step("waiting for other streams");
        hipError_t error = wait_for_rules(stream, call);
        hip_set_step(before);
        return error;
    }
    struct stream *object = find_stream(stream);
    if (!object)
        return hipErrorInvalidHandle;
    if (is_null_stream(stream))
        return order_null(object->queue, object->device);
    return is_blocking(object) ? wait_for_queue(object->queue, hip.devices[object->device].queue,
                                                &object->awaited_of_null)
                               : hipSuccess;
}

void hip_stream_end_call(hipStream_t stream, uint64_t ticket)
{
    const struct stream *object = hip.orders_streams ? NULL : find_stream(stream);
    if (object)
        hip.api->call_end(object->queue, ticket);
    if (ticket != 0)
        hip_turns_progress();
}

hipError_t hip_stream_order_device(hipStream_t stream, int device)
{
    const struct stream *object = find_stream(stream);
    uint64_t awaited = 0;
    if (!object || !is_null_stream(stream) || object->device == device || !hip.orders_streams)
        return object ? hipSuccess : hipErrorInvalidHandle;
    hipError_t error = wait_for_queue(object->queue, hip.devices[device].queue, &awaited);
    return error == hipSuccess ? order_null(object->queue, device) : error;
}

hipError_t hip_stream_order_after(hipStream_t stream, int device, uint64_t ticket)
{
    const struct stream *object = find_stream(stream);
    if (!object || !is_null_stream(stream) || object->device == device || !hip.orders_streams)
        return object ? hipSuccess : hipErrorInvalidHandle;
    return hip_status_of(hip.api->wait_for(hip.devices[device].queue, ticket),
                         "waiting for another device");
}

/* ---- waiting ---- */

/* The last commands of one stream, of the null stream and the blocking ones, or of all. */
struct tickets {
    uint64_t *list;
    size_t count, capacity;
};

static void tickets_add(struct tickets *tickets, uint32_t queue)
{
    uint64_t ticket = last_ticket_of(queue);
    if (ticket) {
        grow_list(tickets->list, tickets->count + 1, tickets->capacity, HIP_LIBRARY);
        tickets->list[tickets->count++] = ticket;
    }
}

static struct tickets tickets_of_device(int device, bool includes_nonblocking)
{
    struct tickets tickets = {0};
    tickets_add(&tickets, hip.devices[device].queue);
    for (const struct stream *entry = streams; entry; entry = entry->next)
        if (entry->device == device && (includes_nonblocking || is_blocking(entry)))
            tickets_add(&tickets, entry->queue);
    return tickets;
}

static struct tickets tickets_of(const struct stream *stream)
{
    if (stream == &null_streams[stream->device] && hip.orders_streams)
        return tickets_of_device(stream->device, false);
    struct tickets tickets = {0};
    tickets_add(&tickets, stream->queue);
    return tickets;
}

static hipError_t wait_for_tickets(struct tickets tickets, hipError_t (*wait)(uint64_t ticket))
{
    hipError_t error = hip.device_error;
    hip_host_memory_mark_waited();
    for (size_t i = 0; i < tickets.count && error == hipSuccess; i++)
        error = wait(tickets.list[i]);
    hip_release(tickets.list);
    return error;
}

hipError_t hip_streams_wait(int device, hipError_t (*wait)(uint64_t ticket))
{
    return wait_for_tickets(tickets_of_device(device, true), wait);
}

/* The null stream counts for the blocking ones, too. */
hipError_t hip_stream_wait(hipStream_t stream)
{
    const struct stream *object = find_stream(stream);
    if (!object)
        return hipErrorInvalidHandle;
    hip_record_call(&(struct api_trace_call){.kind = API_TRACE_STREAM_SYNCHRONIZE,
                                             .stream = hip_stream_number(stream)});
    return wait_for_tickets(tickets_of(object), hip_wait_ticket);
}

hipError_t hip_query_ticket(uint64_t ticket)
{
    hip_host_memory_mark_waited();
    hipError_t error = hip_hostcall_serve();
    if (error != hipSuccess)
        return error;
    if (hip_yield_turn(ticket, true) && !hip_is_ticket_done(ticket))
        return hipErrorNotReady;
    hip_lock_pause();
    enum driver_status status = hip.api->query(ticket);
    hip_lock_resume();
    return hip_status(status);
}

static hipError_t query_stream(hipStream_t stream)
{
    const struct stream *object = find_stream(stream);
    if (!object)
        return hipErrorInvalidHandle;
    struct api_trace_call call = {.kind = API_TRACE_STREAM_QUERY,
                                  .stream = hip_stream_number(stream)};
    size_t line = hip_record_call(&call);
    struct tickets tickets = tickets_of(object);
    hip_host_memory_mark_waited();
    hipError_t error = tickets.count ? hip_query_ticket(tickets.list[0]) : hip.device_error;
    for (size_t i = 1; i < tickets.count && error == hipSuccess; i++)
        error = hip_is_ticket_done(tickets.list[i]) ? hip.device_error : hipErrorNotReady;
    hip_release(tickets.list);
    hip_record_answer(line, error == hipSuccess);
    return error;
}

/* ---- the API ---- */

static hipError_t create_stream(hipStream_t *stream, unsigned flags, int priority)
{
    if (!stream || (flags & ~(unsigned)hipStreamNonBlocking) != 0)
        return hipErrorInvalidValue;
    struct stream *object = NULL;
    hipError_t error = add_stream(&object, flags, max(min(priority, PRIORITY_LOW), PRIORITY_HIGH));
    if (error == hipSuccess) {
        *stream = object->handle = hip_handle_add(HIP_HANDLE_STREAM, object);
        hip_record_call(&(struct api_trace_call){
            .kind = API_TRACE_STREAM_CREATE, .stream = object->number, .flags = flags});
    }
    return error;
}

HIP_DEFINE_ALWAYS(hipStreamDestroy, (stream), hipStream_t stream)
{
    struct stream *object = find_stream(stream);
    if (!object || is_null_stream(stream) || stream == hipStreamPerThread)
        return hipErrorInvalidHandle;
    hip_record_call(
        &(struct api_trace_call){.kind = API_TRACE_STREAM_DESTROY, .stream = object->number});
    remove_stream(object);
    release_destroyed();
    return hipSuccess;
}

hipError_t hip_create_stream(hipStream_t *stream)
{
    return create_stream(stream, hipStreamNonBlocking, 0);
}

void hip_destroy_stream(hipStream_t stream)
{
    hipStreamDestroy_body(stream);
}

HIP_DEFINE_ALWAYS(hipStreamGetFlags, (stream, flags), hipStream_t stream, unsigned *flags)
{
    const struct stream *object = find_stream(stream);
    if (!object || !flags)
        return object ? hipErrorInvalidValue : hipErrorInvalidHandle;
    *flags = object->flags;
    return hipSuccess;
}

HIP_DEFINE_ALWAYS(hipStreamGetPriority, (stream, priority), hipStream_t stream, int *priority)
{
    const struct stream *object = find_stream(stream);
    if (!object || !priority)
        return object ? hipErrorInvalidValue : hipErrorInvalidHandle;
    *priority = object->priority;
    return hipSuccess;
}

/* The program may call HIP from there only in ways that do not wait (the HIP documentation's rule),
 * so that runs here. `host` is a copy: a graph that has it may be gone by then. */
hipError_t hip_call_host(hipStream_t stream, struct hip_host_action host)
{
    if (hip_is_capturing(stream)) {
        struct hip_action action = {.kind = HIP_ACTION_HOST, .host = host};
        return hip_capture_call(stream, &action);
    }
    hipError_t error = hip_stream_wait(stream);
    hip_unlock();
    const char *call = hip_set_step("");
    if (host.callback)
        host.callback(stream, error, host.data);
    else
        host.function(host.data);
    hip_set_step(call);
    hip_lock();
    return error;
}

HIP_DEFINE(hipStreamAddCallback, (stream, callback, data, flags), hipStream_t stream,
           hipStreamCallback_t callback, void *data, unsigned flags)
{
    return callback && flags == 0
               ? hip_call_host(stream, (struct hip_host_action){.callback = callback, .data = data})
               : hipErrorInvalidValue;
}

HIP_DEFINE(hipStreamCreate, (stream), hipStream_t *stream)
{
    return create_stream(stream, hipStreamDefault, 0);
}

HIP_DEFINE(hipStreamCreateWithFlags, (stream, flags), hipStream_t *stream, unsigned flags)
{
    return create_stream(stream, flags, 0);
}

HIP_DEFINE(hipStreamCreateWithPriority, (stream, flags, priority), hipStream_t *stream,
           unsigned flags, int priority)
{
    return create_stream(stream, flags, priority);
}

hipError_t hipDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    hip_report_call(__func__);
    if (least)
        *least = PRIORITY_LOW;
    if (greatest)
        *greatest = PRIORITY_HIGH;
    return hipSuccess;
}

HIP_DEFINE(hipStreamSynchronize, (stream), hipStream_t stream)
{
    return hip_is_capturing(stream) ? hip_capture_spoil(stream) : hip_stream_wait(stream);
}

HIP_DEFINE(hipStreamQuery, (stream), hipStream_t stream)
{
    return hip_is_capturing(stream) ? hip_capture_spoil(stream) : query_stream(stream);
}

static int stream_device(hipStream_t stream)
{
    hipError_t error = hip_enter("hipGetStreamDeviceId");
    const struct stream *object = error == hipSuccess ? find_stream(stream) : NULL;
    int device = object ? object->device : -1;
    hip_leave(error);
    return device;
}

int hipGetStreamDeviceId(hipStream_t stream)
{
    hip_report_call(__func__);
    return stream_device(stream);
}
