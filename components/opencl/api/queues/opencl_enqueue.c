/* Enqueuing: a call's command waits here until it can be issued, and then in the driver. See
 * opencl_event.h. */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/grow.h"
#include "components/opencl/api/commands/opencl_driver_commands.h"
#include "components/opencl/api/programs/opencl_printf.h"

#include "opencl_event.h"

static struct opencl_event *waiting, **waiting_end = &waiting; /* in the order of calls */

/* ---- checks ---- */

static cl_int check_wait_list(const struct opencl_enqueue *enqueue,
                              const struct opencl_context *context)
{
    if ((enqueue->wait_count > 0) != (enqueue->waits != NULL))
        return CL_INVALID_EVENT_WAIT_LIST;
    for (cl_uint i = 0; i < enqueue->wait_count; i++)
        if (!opencl_find(OPENCL_EVENT, enqueue->waits[i]))
            return CL_INVALID_EVENT_WAIT_LIST;
    for (cl_uint i = 0; i < enqueue->wait_count; i++) {
        const struct opencl_event *event = opencl_find(OPENCL_EVENT, enqueue->waits[i]);
        if (event->context != context)
            return CL_INVALID_CONTEXT;
    }
    return CL_SUCCESS;
}

cl_int opencl_check_enqueue(const struct opencl_enqueue *enqueue, struct opencl_queue **queue)
{
    *queue = opencl_find(OPENCL_QUEUE, enqueue->queue);
    if (!*queue)
        return CL_INVALID_COMMAND_QUEUE;
    return check_wait_list(enqueue, (*queue)->context);
}

/* ---- events of commands ---- */

static void destroy_event(struct opencl_object *object)
{
    struct opencl_event *event = (struct opencl_event *)object;
    opencl_driver_record_end(event);
    for (uint32_t i = 0; i < event->wait_count; i++)
        opencl_drop(&event->waits[i]->object);
    if (event->command && event->command->release)
        event->command->release(event->command);
    opencl_drop(event->queue ? &event->queue->object : NULL);
    opencl_drop(&event->context->object);
    free(event->command);
    free(event->waits);
    free(event);
}

static void add_wait(struct opencl_event *event, struct opencl_event *dependency)
{
    grow_list(event->waits, event->wait_count + (size_t)1, event->wait_capacity, OPENCL_LIBRARY);
    event->waits[event->wait_count++] = dependency;
    opencl_hold(&dependency->object);
}

static void add_order(struct opencl_event *event, const struct opencl_enqueue *enqueue)
{
    const struct opencl_queue *queue = event->queue;
    event->listed = event->wait_count;
    if (!(queue->flags & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)) {
        if (queue->open_count > 0)
            add_wait(event, queue->open[queue->open_count - 1]);
        return;
    }
    if (enqueue->waits_for_all)
        for (size_t i = 0; i < queue->open_count; i++)
            add_wait(event, queue->open[i]);
    if (queue->barrier)
        add_wait(event, queue->barrier);
}

struct opencl_event *opencl_event_create(struct opencl_context *context)
{
    struct opencl_event *event = opencl_allocate(sizeof *event);
    event->object.destroy = destroy_event;
    event->object.holds = 1;
    event->context = context;
    event->state = CL_QUEUED;
    event->queued_ps = opencl.api->now();
    opencl_hold(&context->object);
    return event;
}

static struct opencl_event *create_event(const struct opencl_enqueue *enqueue,
                                         struct opencl_queue *queue, struct opencl_command *command)
{
    struct opencl_event *event = opencl_event_create(queue->context);
    event->queue = queue;
    event->type = enqueue->type;
    event->command = command;
    event->is_named = enqueue->event || queue->lane_count > 1;
    event->lane = queue->lanes[queue->turn];
    queue->turn = (queue->turn + 1) % queue->lane_count;
    opencl_hold(&queue->object);
    for (cl_uint i = 0; i < enqueue->wait_count; i++)
        add_wait(event, opencl_find(OPENCL_EVENT, enqueue->waits[i]));
    add_order(event, enqueue);
    return event;
}

/* ---- issuing ---- */

/* The error of a command that the call's wait list names ends the command; that of an earlier
 * command of the queue does not. */
static bool event_failed(const struct opencl_event *event)
{
    for (uint32_t i = 0; i < event->listed; i++)
        if (event->waits[i]->state < 0)
            return true;
    return false;
}

static bool can_issue(const struct opencl_event *event)
{
    for (uint32_t i = 0; i < event->wait_count; i++)
        if (event->waits[i]->state == CL_QUEUED)
            return false;
    return true;
}

static cl_int order_event(const struct opencl_event *event)
{
    cl_int error = CL_SUCCESS;
    for (uint32_t i = 0; i < event->wait_count && error == CL_SUCCESS; i++) {
        const struct opencl_event *dependency = event->waits[i];
        bool is_done = dependency->state <= CL_COMPLETE || dependency->ticket == 0;
        if (is_done || dependency->lane == event->lane)
            continue;
        if (opencl.hip->is_ticket_done(dependency->ticket)) /* costs nothing, and tells --check */
            error = opencl_status(opencl.api->wait(dependency->ticket));
        else
            error = opencl_driver_order(event->lane, dependency->lane, dependency->recorded,
                                        dependency->ticket);
    }
    return error;
}

static cl_int mark_event(const struct opencl_event *event, uint64_t *ticket)
{
    return opencl_status(opencl.api->mark(event->lane, true, ticket));
}

static cl_int run_event(struct opencl_event *event)
{
    bool profiles = (event->queue->flags & CL_QUEUE_PROFILING_ENABLE) != 0;
    cl_int error = order_event(event);
    if (error == CL_SUCCESS && profiles)
        error = mark_event(event, &event->begin);
    if (error == CL_SUCCESS && event->command)
        error = event->command->issue(event->command, event);
    if (error == CL_SUCCESS && profiles)
        error = mark_event(event, &event->end);
    event->ticket = profiles ? event->end : event->ticket;
    if (error == CL_SUCCESS && event->ticket == 0)
        error = mark_event(event, &event->ticket);
    if (error == CL_SUCCESS)
        opencl_driver_record_event(event);
    return error;
}

static void drop_waits(struct opencl_event *event)
{
    uint32_t count = event->wait_count;
    event->wait_count = event->listed = 0;
    for (uint32_t i = 0; i < count; i++)
        opencl_drop(&event->waits[i]->object);
}

static cl_int issue_event(struct opencl_event *event)
{
    event->submitted_ps = opencl.api->now();
    cl_int error =
        event_failed(event) ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : run_event(event);
    event->state = error == CL_SUCCESS ? CL_SUBMITTED : error;
    drop_waits(event);
    opencl.hip->turns_progress();
    return error;
}

/* The first command that waits and can be issued, taken out of the list; NULL: there is none. */
static struct opencl_event *pop_ready(void)
{
    for (struct opencl_event **link = &waiting; *link; link = &(*link)->next) {
        struct opencl_event *event = *link;
        if (can_issue(event)) {
            *link = event->next;
            if (!*link)
                waiting_end = link;
            return event;
        }
    }
    return NULL;
}

void opencl_events_issue(void)
{
    for (struct opencl_event *event; (event = pop_ready());) {
        issue_event(event);
        opencl_drop(&event->object);
    }
    opencl_wake_threads();
}

static void keep_event(struct opencl_event *event)
{
    event->next = NULL;
    *waiting_end = event;
    waiting_end = &event->next;
    opencl_hold(&event->object);
}

static void discard(struct opencl_command *command)
{
    if (command && command->release)
        command->release(command);
    free(command);
}

static void become_barrier(struct opencl_event *event)
{
    struct opencl_event *old_barrier = event->queue->barrier;
    event->queue->barrier = event;
    opencl_hold(&event->object);
    opencl_drop(old_barrier ? &old_barrier->object : NULL);
}

/* An error of a command that could not be issued is the call's; one that comes from the wait list
 * is the event's. */
static cl_int start_event(const struct opencl_enqueue *enqueue, struct opencl_event *event)
{
    if (!can_issue(event)) {
        keep_event(event);
        return CL_SUCCESS;
    }
    cl_int error = issue_event(event);
    bool is_from_list = error == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    return is_from_list && !enqueue->is_blocking ? CL_SUCCESS : error;
}

cl_int opencl_enqueue(const struct opencl_enqueue *enqueue, struct opencl_command *command)
{
    struct opencl_queue *queue = NULL;
    cl_int error = opencl_check_enqueue(enqueue, &queue);
    if (error == CL_SUCCESS && opencl.hip->device_error() != hipSuccess)
        error = CL_OUT_OF_RESOURCES;
    if (error != CL_SUCCESS) {
        discard(command);
        return error;
    }
    opencl_queue_make_room(queue);
    struct opencl_event *event = create_event(enqueue, queue, command);
    opencl_queue_add(queue, event);
    if (enqueue->holds_back && (queue->flags & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE))
        become_barrier(event);
    error = start_event(enqueue, event);
    if (error == CL_SUCCESS && enqueue->event) {
        opencl_object_begin(&event->object, OPENCL_EVENT, destroy_event);
        *enqueue->event = event->object.handle;
    }
    if (error == CL_SUCCESS && enqueue->is_blocking && opencl_event_wait(event) != CL_SUCCESS)
        error = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    opencl_drop(&event->object);
    return error;
}

/* ---- waiting ---- */

bool opencl_event_is_over(struct opencl_event *event)
{
    if (event->state == CL_SUBMITTED && opencl.hip->is_ticket_done(event->ticket))
        event->state = opencl.hip->device_error() != hipSuccess ? CL_OUT_OF_RESOURCES : CL_COMPLETE;
    return event->state <= CL_COMPLETE;
}

/* The user event that keeps a command from being issued, or a user event itself. */
static struct opencl_event *find_unset(struct opencl_event *event)
{
    while (event->queue) {
        uint32_t i = 0;
        while (event->waits[i]->state != CL_QUEUED)
            i++;
        event = event->waits[i];
    }
    return event;
}

/* The folder of a process' threads has a link for each of them, and two more. */
static bool is_only_thread(void)
{
    struct stat status;
    return stat("/proc/self/task", &status) == 0 && status.st_nlink == 3;
}

/* No thread can set the user event that this one waits for, so it fails. */
static void end_deadlock(struct opencl_event *event)
{
    if (event->state != CL_QUEUED)
        return;
    struct opencl_event *user_event = find_unset(event);
    opencl.hip->say_call(
        "deadlock: the program waits for user event %p, which it has not set "
        "(clSetUserEventStatus), and no thread can go on; the event is taken for failed",
        user_event->object.handle);
    user_event->state = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    opencl_events_issue();
}

cl_int opencl_event_wait(struct opencl_event *event)
{
    while (event->state == CL_QUEUED && opencl.hip->device_error() == hipSuccess)
        if (is_only_thread() || !opencl.hip->wait_for(opencl_changes(), true))
            end_deadlock(event);
    if (event->state == CL_SUBMITTED) {
        opencl_driver_record_wait(event);
        opencl.hip->wait_ticket(event->ticket);
    }
    if (event->state > CL_COMPLETE && opencl.hip->device_error() != hipSuccess)
        event->state = CL_OUT_OF_RESOURCES;
    opencl_event_is_over(event);
    opencl_wake_threads();
    return event->state < 0 ? event->state : CL_SUCCESS;
}

void opencl_wake_threads(void)
{
    opencl_printf_flush();
    opencl_queues_tidy();
    opencl.hip->wake(opencl_changes());
}

const void *opencl_changes(void)
{
    return &waiting;
}
