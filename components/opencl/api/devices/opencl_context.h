/* Contexts: the devices that share objects. */
#ifndef HEDDLE_COMPONENTS_OPENCL_API_DEVICES_OPENCL_CONTEXT_H
#define HEDDLE_COMPONENTS_OPENCL_API_DEVICES_OPENCL_CONTEXT_H

#include "components/opencl/api/opencl_internal.h"

struct opencl_context {
    struct opencl_object object;
    struct opencl_device **devices;
    uint32_t device_count;
    cl_context_properties *properties; /* as given, with the zero at the end; NULL: none */
    size_t property_count;
    struct opencl_destructor *destructors;
};

/* Functions of the program that are called when an object ends, the last first. */
struct opencl_destructor {
    struct opencl_destructor *next;
    void (*call)(void *object, void *data);
    void *object, *data;
};

/* The place of the device in the context; -1: it is not in there. */
int opencl_context_place(const struct opencl_context *context, const struct opencl_device *device);

/* Notes a call for the end of an object. */
void opencl_destructor_add(struct opencl_destructor **list, void (*call)(void *object, void *data),
                           void *object, void *data);
/* The object is gone: its calls are made when the function of OpenCL that ended it returns. */
void opencl_destructors_due(struct opencl_destructor *list);
/* The calls that are due; and making them, without the lock. */
struct opencl_destructor *opencl_destructors_pop(void);
void opencl_destructors_run(struct opencl_destructor *list);

#endif
