/* Makes, flushes and ends command queues, and answers what they are (see opencl_queue.h). */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "components/opencl/api/commands/opencl_driver_commands.h"
#include "components/opencl/api/devices/opencl_device.h"

#include "opencl_event.h"

static struct opencl_queue *queues;

/* ---- open commands ---- */

/* Releases commands that are over. Other threads may run when one of them ends, since memory
 * may be freed with it. */
static void tidy(struct opencl_queue *queue)
{
    size_t kept = 0, over = 0, count = queue->open_count;
    struct opencl_event **list = opencl_allocate(count * sizeof(struct opencl_event *));
    for (size_t i = 0; i < count; i++) {
        struct opencl_event *event = queue->open[i];
        if (!opencl_event_is_over(event)) {
            queue->open[kept++] = event;
            continue;
        }
        list[over++] = event;
        if (event->ticket)
            for (uint32_t k = 0; k < queue->lane_count; k++)
                queue->over[k] = queue->lanes[k] == event->lane ? event->ticket : queue->over[k];
    }
    queue->open_count = kept;
    for (size_t i = 0; i < over; i++)
        opencl_drop(&list[i]->object);
    free(list);
}

void opencl_queue_make_room(struct opencl_queue *queue)
{
    if (queue->open_count < queue->open_capacity)
        return;
    tidy(queue);
    if (queue->open_count >= queue->open_capacity / 2)
        grow_list(queue->open, queue->open_capacity + 1, queue->open_capacity, OPENCL_LIBRARY);
}

void opencl_queue_add(struct opencl_queue *queue, struct opencl_event *event)
{
    opencl_hold(&event->object);
    queue->open[queue->open_count++] = event;
}

/* Waits for all commands of the queue, which the caller holds. */
static cl_int finish_queue(struct opencl_queue *queue)
{
    while (queue->open_count > 0 && opencl.hip->device_error() == hipSuccess) {
        struct opencl_event *event = queue->open[queue->open_count - 1];
        opencl_hold(&event->object);
        opencl_event_wait(event);
        opencl_drop(&event->object);
        tidy(queue);
    }
    for (uint32_t i = 0; i < queue->lane_count; i++) /* costs nothing, and tells --check */
        if (queue->over[i] && opencl.hip->device_error() == hipSuccess)
            opencl.api->wait(queue->over[i]);
    return opencl_error_of(opencl.hip->device_error());
}

static void wait_for_lanes(const struct opencl_queue *queue)
{
    for (uint32_t i = 0; i < queue->lane_count; i++)
        opencl_driver_drain(queue->lanes[i]);
}

bool opencl_queues_are_idle(void)
{
    for (const struct opencl_queue *queue = queues; queue; queue = queue->next)
        for (uint32_t i = 0; i < queue->lane_count; i++) {
            uint64_t ticket = 0;
            if (opencl.api->last(queue->lanes[i], &ticket) == DRIVER_OK && ticket != 0)
                return false;
        }
    return true;
}

void opencl_queues_finish(void)
{
    for (const struct opencl_queue *queue = queues; queue; queue = queue->next)
        wait_for_lanes(queue);
    opencl_wake_threads();
}

/* ---- making and ending ---- */

/* The commands of a queue hold it until they are known to be over. */
static void destroy_queue(struct opencl_object *object)
{
    struct opencl_queue *queue = (struct opencl_queue *)object;
    for (struct opencl_queue **link = &queues; *link; link = &(*link)->next)
        if (*link == queue) {
            *link = queue->next;
            break;
        }
    if (opencl.hip->device_error() == hipSuccess)
        wait_for_lanes(queue);
    for (uint32_t i = 0; i < queue->lane_count; i++)
        opencl_driver_end_lane(queue->lanes[i]);
    opencl_drop(&queue->context->object);
    free(queue->properties);
    free(queue->open);
    free(queue);
}

/* Commands that are not over keep a queue that the program has released. */
static cl_int release_queue(cl_command_queue handle)
{
    struct opencl_queue *queue = opencl_find(OPENCL_QUEUE, handle);
    if (!queue)
        return CL_INVALID_COMMAND_QUEUE;
    opencl_release(OPENCL_QUEUE, handle);
    opencl_queues_tidy();
    return CL_SUCCESS;
}

void opencl_queues_tidy(void)
{
    for (struct opencl_queue *queue = queues, *next; queue; queue = next) {
        opencl_hold(&queue->object);
        if (queue->object.references == 0) {
            struct opencl_event *barrier = queue->barrier;
            queue->barrier = NULL;
            opencl_drop(barrier ? &barrier->object : NULL);
        }
        if (queue->open_count > 0)
            tidy(queue);
        next = queue->next;
        opencl_drop(&queue->object);
    }
}

static cl_int make_lanes(struct opencl_queue *queue)
{
    bool orders = !(queue->flags & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    uint32_t wanted = orders ? 1 : OPENCL_LANES;
    cl_int error = CL_SUCCESS;
    while (queue->lane_count < wanted && error == CL_SUCCESS) {
        error = opencl_driver_make_lane(queue->device->number, &queue->lanes[queue->lane_count]);
        queue->lane_count += error == CL_SUCCESS;
    }
    return error;
}

static cl_int read_properties(const cl_queue_properties *properties, size_t *count,
                              cl_command_queue_properties *flags)
{
    bool is_seen = false;
    if (properties)
        for (*count = 0; properties[*count]; *count += 2) {
            if (properties[*count] == CL_QUEUE_SIZE)
                return CL_INVALID_QUEUE_PROPERTIES; /* a property of queues on the device, which
                                                     * there are none
                                                     */
            if (properties[*count] != CL_QUEUE_PROPERTIES || is_seen)
                return CL_INVALID_VALUE;
            *flags = properties[*count + 1];
            is_seen = true;
        }
    *count += properties != NULL;
    return CL_SUCCESS;
}

static cl_int check_flags(cl_command_queue_properties flags)
{
    const cl_command_queue_properties known =
        CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
    const cl_command_queue_properties on_device = CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;
    return (flags & ~(known | on_device)) != 0 ? CL_INVALID_VALUE
           : (flags & on_device) != 0          ? CL_INVALID_QUEUE_PROPERTIES
                                               : CL_SUCCESS;
}

static cl_command_queue create_queue(cl_context context_handle, cl_device_id device_handle,
                                     const cl_queue_properties *properties,
                                     cl_command_queue_properties flags, cl_int *error)
{
    struct opencl_context *context = opencl_find(OPENCL_CONTEXT, context_handle);
    struct opencl_device *device = opencl_find(OPENCL_DEVICE, device_handle);
    size_t count = 0;
    int place = context && device ? opencl_context_place(context, device) : -1;
    *error = !context    ? CL_INVALID_CONTEXT
             : place < 0 ? CL_INVALID_DEVICE
                         : read_properties(properties, &count, &flags);
    if (*error == CL_SUCCESS)
        *error = check_flags(flags);
    if (*error != CL_SUCCESS)
        return NULL;
    struct opencl_queue *queue = opencl_allocate(sizeof *queue);
    queue->context = context;
    queue->device = device;
    queue->place = place;
    queue->flags = flags;
    if (properties) {
        queue->property_count = count;
        queue->properties = opencl_allocate(count * sizeof *properties);
        memcpy(queue->properties, properties, count * sizeof *properties);
    }
    opencl_hold(&context->object);
    queue->next = queues;
    queues = queue;
    *error = make_lanes(queue);
    if (*error != CL_SUCCESS) {
        destroy_queue(&queue->object);
        return NULL;
    }
    opencl_object_begin(&queue->object, OPENCL_QUEUE, destroy_queue);
    return queue->object.handle;
}

OPENCL_CREATE(cl_command_queue, clCreateCommandQueueWithProperties,
              (cl_context context, cl_device_id device, const cl_queue_properties *properties,
               cl_int *errcode_ret),
              create_queue(context, device, properties, 0, &error));

OPENCL_CREATE(cl_command_queue, clCreateCommandQueue,
              (cl_context context, cl_device_id device, cl_command_queue_properties flags,
               cl_int *errcode_ret),
              create_queue(context, device, NULL, flags, &error));

OPENCL_CALL(clRetainCommandQueue, (cl_command_queue queue),
            opencl_retain(OPENCL_QUEUE, queue) ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE);
OPENCL_CALL(clReleaseCommandQueue, (cl_command_queue queue), release_queue(queue));

static cl_int get_queue_info(cl_command_queue handle, cl_command_queue_info query,
                             struct opencl_answer to)
{
    const struct opencl_queue *queue = opencl_find(OPENCL_QUEUE, handle);
    if (!queue)
        return CL_INVALID_COMMAND_QUEUE;
    switch (query) {
    case CL_QUEUE_CONTEXT:
        return OPENCL_ANSWER(to, cl_context, queue->context->object.handle);
    case CL_QUEUE_DEVICE:
        return OPENCL_ANSWER(to, cl_device_id, queue->device->object.handle);
    case CL_QUEUE_REFERENCE_COUNT:
        return OPENCL_ANSWER(to, cl_uint, queue->object.references);
    case CL_QUEUE_PROPERTIES:
        return OPENCL_ANSWER(to, cl_command_queue_properties, queue->flags);
    case CL_QUEUE_PROPERTIES_ARRAY:
        return opencl_answer(to, queue->properties,
                             queue->property_count * sizeof *queue->properties);
    case CL_QUEUE_DEVICE_DEFAULT:
        return OPENCL_ANSWER(to, cl_command_queue, NULL);
    case CL_QUEUE_SIZE: /* only a queue on the device has one */
        return CL_INVALID_COMMAND_QUEUE;
    default:
        return CL_INVALID_VALUE;
    }
}

OPENCL_QUERY(clGetCommandQueueInfo, cl_command_queue, cl_command_queue_info, get_queue_info);

/* Deprecated since 1.1: what a queue is stays as it was made. */
static cl_int set_property(cl_command_queue queue, cl_command_queue_properties *old)
{
    const struct opencl_queue *found = opencl_find(OPENCL_QUEUE, queue);
    if (found && old)
        *old = found->flags;
    return found ? CL_INVALID_OPERATION : CL_INVALID_COMMAND_QUEUE;
}

cl_int CL_API_CALL clSetCommandQueueProperty(cl_command_queue queue,
                                             cl_command_queue_properties flags, cl_bool on,
                                             cl_command_queue_properties *old)
{
    (void)flags, (void)on;
    cl_int error = opencl_enter("clSetCommandQueueProperty");
    return opencl_leave(error == CL_SUCCESS ? set_property(queue, old) : error);
}

static cl_int wait_until_done(cl_command_queue handle)
{
    struct opencl_queue *queue = opencl_find(OPENCL_QUEUE, handle);
    if (!queue)
        return CL_INVALID_COMMAND_QUEUE;
    opencl_hold(&queue->object);
    cl_int error = finish_queue(queue);
    opencl_drop(&queue->object);
    return error;
}

OPENCL_CALL(clFinish, (cl_command_queue queue), wait_until_done(queue));

/* Commands are issued as soon as they can be. */
OPENCL_CALL(clFlush, (cl_command_queue queue),
            opencl_find(OPENCL_QUEUE, queue) ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE);
