/* Objects that a program has handles of.
 *
 * A handle is the address of a slot, which begins with the table that the loader calls through.
 * Slots lie in a range of their own, in the order in which objects were made, and are never used
 * again. So a handle of an object that has ended, or of another kind, is refused and never
 * followed, and handles do not depend on the heap. An object may keep another one that the program
 * has released: asked for it (CL_QUEUE_CONTEXT), it gives the handle, which the program may use
 * again. All functions are called with the lock held. */
#ifndef HEDDLE_COMPONENTS_OPENCL_API_OBJECTS_OPENCL_OBJECT_H
#define HEDDLE_COMPONENTS_OPENCL_API_OBJECTS_OPENCL_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

enum opencl_kind {
    OPENCL_NONE,
    OPENCL_PLATFORM,
    OPENCL_DEVICE,
    OPENCL_CONTEXT,
    OPENCL_QUEUE,
    OPENCL_MEMORY,
    OPENCL_SAMPLER,
    OPENCL_PROGRAM,
    OPENCL_KERNEL,
    OPENCL_EVENT
};

/* The first member of each object. The object lives as long as the program has references or the
 * library holds it. */
struct opencl_object {
    enum opencl_kind kind;
    uint32_t references; /* those that the program holds */
    uint32_t holds;      /* by other objects and calls that wait */
    void *handle;
    void (*destroy)(struct opencl_object *object);
};

/* Gives the object a handle, and the program one reference. Without `destroy` it stays for ever. */
void opencl_object_begin(struct opencl_object *object, enum opencl_kind kind,
                         void (*destroy)(struct opencl_object *object));
/* The handle's object. NULL: it has ended, or is of another kind. */
void *opencl_find(enum opencl_kind kind, const void *handle);
void opencl_hold(struct opencl_object *object);
void opencl_drop(struct opencl_object *object);
/* One reference of the program more, or less. */
bool opencl_retain(enum opencl_kind kind, const void *handle);
bool opencl_release(enum opencl_kind kind, const void *handle);

#endif
