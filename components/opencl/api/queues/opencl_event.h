/* Events: a command of a queue, or a state that the program sets (a user event).
 *
 * A command is issued to the driver as soon as everything that it waits for has been; the driver
 * orders the rest. A command that waits for a user event stays here until the event is set. Each
 * command has a ticket of the driver, by which it is known to be done. */
#ifndef HEDDLE_COMPONENTS_OPENCL_API_QUEUES_OPENCL_EVENT_H
#define HEDDLE_COMPONENTS_OPENCL_API_QUEUES_OPENCL_EVENT_H

#include "components/opencl/api/devices/opencl_context.h"

#include "opencl_queue.h"

struct opencl_command;

struct opencl_event {
    struct opencl_object object;
    struct opencl_context *context;
    struct opencl_queue *queue; /* NULL: a user event */
    cl_command_type type;
    /* CL_QUEUED: not issued, or a user event that is not set (CL_SUBMITTED to the program);
     * CL_SUBMITTED: issued; CL_COMPLETE; negative: an error. */
    cl_int state;
    uint32_t lane; /* queue of the driver */
    uint64_t ticket;
    uint64_t begin, end; /* tickets of marks, with CL_QUEUE_PROFILING_ENABLE */
    uint64_t queued_ps, submitted_ps;
    bool is_named;               /* the program, or another lane, may wait for it */
    uint32_t recorded;           /* number of its event in a recording; 0: it has none */
    struct opencl_event **waits; /* a reference to each */
    size_t wait_capacity;
    uint32_t wait_count, listed; /* the first ones are those of the call's wait list */
    struct opencl_command *command;
    struct opencl_event *next; /* the next that is not issued */
};

/* The functions of a command. `issue` enqueues it on `event->lane` and sets the ticket of the last
 * step, or leaves it 0 when there is nothing to do. Its memory begins with this struct and lives as
 * long as the event. */
struct opencl_command {
    cl_int (*issue)(struct opencl_command *command, struct opencl_event *event);
    /* Lets go of what the command holds; NULL: nothing. */
    void (*release)(struct opencl_command *command);
};

/* The way in which a call enqueues. */
struct opencl_enqueue {
    cl_command_queue queue;
    cl_command_type type;
    cl_uint wait_count;
    const cl_event *waits;
    cl_event *event;
    bool is_blocking;
    bool waits_for_all; /* earlier commands of the queue, also where it is out of order */
    bool holds_back;    /* later ones wait for this */
};

/* The queue and the wait list are sound; fills `*queue`. */
cl_int opencl_check_enqueue(const struct opencl_enqueue *enqueue, struct opencl_queue **queue);
/* Enqueues `command`, of which it becomes the owner also when it fails. Waits when the call is
 * blocking. */
cl_int opencl_enqueue(const struct opencl_enqueue *enqueue, struct opencl_command *command);

/* True if the command is done or has failed. Asking takes no simulated time. */
bool opencl_event_is_over(struct opencl_event *event);
/* Waits; the event is held by the caller. CL_SUCCESS or the error of the command. */
cl_int opencl_event_wait(struct opencl_event *event);
/* The first members of an event, whose state is CL_QUEUED; the caller holds it. */
struct opencl_event *opencl_event_create(struct opencl_context *context);
/* Issues commands that waited for a user event which has been set. */
void opencl_events_issue(void);
/* Something may be done that threads of the library wait for. */
void opencl_wake_threads(void);
/* The object that opencl_wake_threads() wakes; for hip_services.wait_for(). */
const void *opencl_changes(void);

#endif
