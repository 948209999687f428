/* Command queues. An in-order queue is a queue of the driver; one that is out of order has several
 * (lanes), to which commands go in turn. */
#ifndef HEDDLE_COMPONENTS_OPENCL_API_QUEUES_OPENCL_QUEUE_H
#define HEDDLE_COMPONENTS_OPENCL_API_QUEUES_OPENCL_QUEUE_H

#include "components/opencl/api/opencl_internal.h"

struct opencl_context;
struct opencl_event;

enum { OPENCL_LANES = 4 };

struct opencl_queue {
    struct opencl_object object;
    struct opencl_queue *next; /* in the list of all queues */
    struct opencl_context *context;
    struct opencl_device *device;
    int place; /* number of the device in the context */
    cl_command_queue_properties flags;
    cl_queue_properties *properties; /* as given; NULL: none */
    size_t property_count;
    uint32_t lanes[OPENCL_LANES];
    uint64_t over[OPENCL_LANES]; /* tickets of the last commands that are known to be over */
    uint32_t lane_count, turn;
    /* Commands that may not be done, held, oldest first. */
    struct opencl_event **open;
    size_t open_count, open_capacity;
    struct opencl_event *barrier; /* later commands wait for it, and hold it; NULL: none */
};

/* Makes room for one more command, before anything is decided by those that there are. */
void opencl_queue_make_room(struct opencl_queue *queue);
/* Notes a command; the queue holds it. */
void opencl_queue_add(struct opencl_queue *queue, struct opencl_event *event);
/* Lets go of commands that are over, and of queues that the program has released. */
void opencl_queues_tidy(void);
/* True if all commands of all queues are done. */
bool opencl_queues_are_idle(void);
/* The end of the program: waits for all commands that were issued. */
void opencl_queues_finish(void);

#endif
