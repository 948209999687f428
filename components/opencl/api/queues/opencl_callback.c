/* Functions of the program that are called when a command comes to a state. They are called by a
 * thread of the library's own, which takes turns with those of the program. The thread is made with
 * the first callback. It waits for the first command that has one; the states before the end are
 * told at the end, too, since the driver does not say when a command began. */
#include <stdlib.h>
#include <string.h>

#include "components/opencl/api/commands/opencl_driver_commands.h"

#include "opencl_event.h"

struct opencl_callback {
    struct opencl_callback *next;
    struct opencl_event *event; /* held */
    void *handle;
    cl_int state;
    void(CL_CALLBACK *call)(cl_event, cl_int, void *);
    void *data;
};

static struct opencl_callback *callbacks, **callbacks_end = &callbacks; /* in the order of calls */
static bool has_thread;

static struct opencl_callback *unlink_callback(struct opencl_callback **link)
{
    struct opencl_callback *callback = *link;
    *link = callback->next;
    if (!*link)
        callbacks_end = link;
    return callback;
}

static void free_callback(struct opencl_callback *callback)
{
    opencl_drop(&callback->event->object);
    free(callback);
}

/* The first callback whose event is over, taken out of the list. */
static struct opencl_callback *pop_due(void)
{
    for (struct opencl_callback **link = &callbacks; *link; link = &(*link)->next) {
        struct opencl_callback *callback = *link;
        bool is_user = !callback->event->queue;
        bool is_due = opencl_event_is_over(callback->event)
                      || (callback->state >= CL_SUBMITTED
                          && (is_user || callback->event->state != CL_QUEUED));
        if (is_due)
            return unlink_callback(link);
    }
    return NULL;
}

/* Waits until some event with a callback may be over. */
static void wait_for_event(void)
{
    struct opencl_callback *callback = callbacks;
    while (callback && callback->event->state != CL_SUBMITTED)
        callback = callback->next;
    if (callback && opencl.hip->device_error() == hipSuccess) {
        opencl_driver_record_wait(callback->event);
        opencl.hip->wait_ticket(callback->event->ticket);
    } else {
        opencl.hip->wait_for(opencl_changes(), false);
    }
}

static void make_call(struct opencl_callback *callback)
{
    cl_int state = callback->event->state;
    cl_event handle = callback->handle;
    opencl_leave(CL_SUCCESS);
    callback->call(handle, state < 0 ? state : callback->state, callback->data);
    opencl_enter("clSetEventCallback");
    free_callback(callback);
}

static void *serve_callbacks(void *unused)
{
    (void)unused;
    if (opencl_enter("clSetEventCallback") != CL_SUCCESS) {
        opencl_leave(CL_SUCCESS);
        return NULL;
    }
    for (;;) {
        struct opencl_callback *callback = pop_due();
        if (callback)
            make_call(callback);
        else
            wait_for_event();
    }
    return NULL;
}

/* Refuses a callback that is listed: there can be no thread, of which the next callback makes
 * another attempt. */
static cl_int refuse_callback(const struct opencl_callback *callback, int error)
{
    struct opencl_callback **link = &callbacks;
    opencl_enter("clSetEventCallback");
    opencl.hip->say_call("no thread can be made that would call the function: %s", strerror(error));
    while (*link != callback)
        link = &(*link)->next;
    free_callback(unlink_callback(link));
    has_thread = false;
    return opencl_leave(CL_OUT_OF_HOST_MEMORY);
}

static cl_int add_callback(cl_event handle, cl_int state,
                           void(CL_CALLBACK *call)(cl_event, cl_int, void *), void *data,
                           struct opencl_callback **added)
{
    struct opencl_event *event = opencl_find(OPENCL_EVENT, handle);
    if (!event)
        return CL_INVALID_EVENT;
    if (!call || (state != CL_SUBMITTED && state != CL_RUNNING && state != CL_COMPLETE))
        return CL_INVALID_VALUE;
    struct opencl_callback *callback = *added = opencl_allocate(sizeof *callback);
    *callback = (struct opencl_callback){
        .event = event, .handle = handle, .state = state, .call = call, .data = data};
    opencl_hold(&event->object);
    *callbacks_end = callback;
    callbacks_end = &callback->next;
    opencl.hip->wake(opencl_changes());
    return CL_SUCCESS;
}

cl_int CL_API_CALL clSetEventCallback(cl_event event, cl_int state,
                                      void(CL_CALLBACK *call)(cl_event, cl_int, void *), void *data)
{
    struct opencl_callback *added = NULL;
    cl_int error = opencl_enter("clSetEventCallback");
    if (error == CL_SUCCESS)
        error = add_callback(event, state, call, data, &added);
    bool is_first = added && !has_thread;
    has_thread |= is_first;
    opencl_leave(error);
    int failure = is_first ? opencl.hip->make_thread(serve_callbacks, NULL) : 0;
    return failure ? refuse_callback(added, failure) : error;
}
