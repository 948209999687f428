/* Functions about events: user events, waits, queries, markers and barriers. */
#include "opencl_event.h"

#include <stdlib.h>

#include "components/opencl/api/commands/opencl_driver_commands.h"

OPENCL_COUNTED(Event, cl_event, OPENCL_EVENT, CL_INVALID_EVENT);

/* ---- user events ---- */

static cl_event create_user_event(cl_context handle, cl_int *error)
{
    struct opencl_context *context = opencl_find(OPENCL_CONTEXT, handle);
    if (!context) {
        *error = CL_INVALID_CONTEXT;
        return NULL;
    }
    struct opencl_event *event = opencl_event_create(context);
    event->type = CL_COMMAND_USER;
    opencl_object_begin(&event->object, OPENCL_EVENT, event->object.destroy);
    opencl_drop(&event->object);
    return event->object.handle;
}

OPENCL_CREATE(cl_event, clCreateUserEvent, (cl_context context, cl_int *errcode_ret),
              create_user_event(context, &error));

static cl_int set_user_event(cl_event handle, cl_int state)
{
    struct opencl_event *event = opencl_find(OPENCL_EVENT, handle);
    if (!event || event->queue)
        return CL_INVALID_EVENT;
    if (state > CL_COMPLETE)
        return CL_INVALID_VALUE;
    if (event->state != CL_QUEUED)
        return CL_INVALID_OPERATION; /* it was set before */
    event->state = state;
    opencl_events_issue();
    return CL_SUCCESS;
}

OPENCL_CALL(clSetUserEventStatus, (cl_event event, cl_int state), set_user_event(event, state));

/* ---- waiting ---- */

static cl_int check_list(cl_uint count, const cl_event *list)
{
    const struct opencl_context *context = NULL;
    if (count == 0 || !list)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; i++)
        if (!opencl_find(OPENCL_EVENT, list[i]))
            return CL_INVALID_EVENT;
    for (cl_uint i = 0; i < count; i++) {
        const struct opencl_event *event = opencl_find(OPENCL_EVENT, list[i]);
        if (context && event->context != context)
            return CL_INVALID_CONTEXT;
        context = event->context;
    }
    return CL_SUCCESS;
}

/* The events are held, since another thread may release them meanwhile. */
static cl_int wait_for_events(cl_uint count, const cl_event *list)
{
    cl_int error = check_list(count, list);
    if (error != CL_SUCCESS)
        return error;
    struct opencl_event **events = opencl_allocate(count * sizeof(struct opencl_event *));
    for (cl_uint i = 0; i < count; i++) {
        events[i] = opencl_find(OPENCL_EVENT, list[i]);
        opencl_hold(&events[i]->object);
    }
    for (cl_uint i = 0; i < count; i++)
        if (opencl_event_wait(events[i]) != CL_SUCCESS)
            error = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    for (cl_uint i = 0; i < count; i++)
        opencl_drop(&events[i]->object);
    free(events);
    return opencl.hip->device_error() != hipSuccess ? CL_OUT_OF_RESOURCES : error;
}

OPENCL_CALL(clWaitForEvents, (cl_uint count, const cl_event *list), wait_for_events(count, list));

/* ---- queries ---- */

/* Lets the time of a poll pass, so that programs which ask until an event is over come to an end.
 */
static cl_int poll(struct opencl_event *event)
{
    if (!event->queue && event->state == CL_QUEUED)
        return CL_SUBMITTED;
    if (!opencl_event_is_over(event) && event->state == CL_SUBMITTED) {
        opencl_hold(&event->object);
        opencl.hip->query_ticket(event->ticket);
        if (opencl_event_is_over(event))
            opencl_wake_threads();
        cl_int state = event->state;
        opencl_driver_record_query(event, state == CL_COMPLETE);
        bool runs = event->begin && opencl.hip->is_ticket_done(event->begin);
        opencl_drop(&event->object);
        return state == CL_SUBMITTED && runs ? CL_RUNNING : state;
    }
    return event->state;
}

static cl_int get_event_info(cl_event handle, cl_event_info query, struct opencl_answer to)
{
    struct opencl_event *event = opencl_find(OPENCL_EVENT, handle);
    if (!event)
        return CL_INVALID_EVENT;
    switch (query) {
    case CL_EVENT_COMMAND_QUEUE:
        return OPENCL_ANSWER(to, cl_command_queue,
                             event->queue ? event->queue->object.handle : NULL);
    case CL_EVENT_CONTEXT:
        return OPENCL_ANSWER(to, cl_context, event->context->object.handle);
    case CL_EVENT_COMMAND_TYPE:
        return OPENCL_ANSWER(to, cl_command_type, event->type);
    case CL_EVENT_REFERENCE_COUNT:
        return OPENCL_ANSWER(to, cl_uint, event->object.references);
    case CL_EVENT_COMMAND_EXECUTION_STATUS:
        return OPENCL_ANSWER(to, cl_int, to.value ? poll(event) : 0);
    default:
        return CL_INVALID_VALUE;
    }
}

OPENCL_QUERY(clGetEventInfo, cl_event, cl_event_info, get_event_info);

/* Programs divide by a span of 0 and choose by the quotient: a warning gives the reason once. */
static void warn_timeless(void)
{
    static bool has_warned;
    if (!has_warned && opencl.hip->is_functional())
        opencl.hip->say_call(
            "in functional mode commands take no time: what events measure, and what a "
            "program chooses by it, means nothing; run without '--mode functional' for "
            "times");
    has_warned = true;
}

static uint64_t time_of(uint64_t ticket)
{
    uint64_t ps = 0;
    return opencl.api->time_of(ticket, &ps) == DRIVER_OK ? ps : 0;
}

static cl_int get_profile(cl_event handle, cl_profiling_info query, struct opencl_answer to)
{
    struct opencl_event *event = opencl_find(OPENCL_EVENT, handle);
    if (!event)
        return CL_INVALID_EVENT;
    bool profiles = event->queue && (event->queue->flags & CL_QUEUE_PROFILING_ENABLE);
    if (!profiles || !opencl_event_is_over(event) || event->state < 0)
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    uint64_t ps = 0;
    switch (query) {
    case CL_PROFILING_COMMAND_QUEUED:
        ps = event->queued_ps;
        break;
    case CL_PROFILING_COMMAND_SUBMIT:
        ps = event->submitted_ps;
        break;
    case CL_PROFILING_COMMAND_START:
        ps = time_of(event->begin);
        break;
    case CL_PROFILING_COMMAND_END:
    case CL_PROFILING_COMMAND_COMPLETE:
        ps = time_of(event->end);
        break;
    default:
        return CL_INVALID_VALUE;
    }
    warn_timeless();
    return OPENCL_ANSWER(to, cl_ulong, ps / 1000);
}

OPENCL_QUERY(clGetEventProfilingInfo, cl_event, cl_profiling_info, get_profile);

/* ---- markers and barriers: commands that do nothing ---- */

OPENCL_CALL(clEnqueueMarkerWithWaitList,
            (cl_command_queue queue, cl_uint count, const cl_event *list, cl_event *event),
            opencl_enqueue(&(struct opencl_enqueue){.queue = queue,
                                                    .type = CL_COMMAND_MARKER,
                                                    .wait_count = count,
                                                    .waits = list,
                                                    .event = event,
                                                    .waits_for_all = count == 0},
                           NULL));

OPENCL_CALL(clEnqueueBarrierWithWaitList,
            (cl_command_queue queue, cl_uint count, const cl_event *list, cl_event *event),
            opencl_enqueue(&(struct opencl_enqueue){.queue = queue,
                                                    .type = CL_COMMAND_BARRIER,
                                                    .wait_count = count,
                                                    .waits = list,
                                                    .event = event,
                                                    .waits_for_all = count == 0,
                                                    .holds_back = true},
                           NULL));

static cl_int enqueue_marker(cl_command_queue queue, cl_event *event)
{
    const struct opencl_enqueue enqueue = {
        .queue = queue, .type = CL_COMMAND_MARKER, .event = event, .waits_for_all = true};
    if (!opencl_find(OPENCL_QUEUE, queue))
        return CL_INVALID_COMMAND_QUEUE;
    return event ? opencl_enqueue(&enqueue, NULL) : CL_INVALID_VALUE;
}

OPENCL_CALL(clEnqueueMarker, (cl_command_queue queue, cl_event *event),
            enqueue_marker(queue, event));

OPENCL_CALL(clEnqueueBarrier, (cl_command_queue queue),
            opencl_enqueue(&(struct opencl_enqueue){.queue = queue,
                                                    .type = CL_COMMAND_BARRIER,
                                                    .waits_for_all = true,
                                                    .holds_back = true},
                           NULL));

static cl_int enqueue_wait(cl_command_queue queue, cl_uint count, const cl_event *list)
{
    const struct opencl_enqueue enqueue = {.queue = queue,
                                           .type = CL_COMMAND_BARRIER,
                                           .wait_count = count,
                                           .waits = list,
                                           .holds_back = true};
    if (!opencl_find(OPENCL_QUEUE, queue))
        return CL_INVALID_COMMAND_QUEUE;
    if (count == 0 || !list)
        return CL_INVALID_VALUE;
    cl_int error = opencl_enqueue(&enqueue, NULL);
    return error == CL_INVALID_EVENT_WAIT_LIST ? CL_INVALID_EVENT : error;
}

OPENCL_CALL(clEnqueueWaitForEvents, (cl_command_queue queue, cl_uint count, const cl_event *list),
            enqueue_wait(queue, count, list));
