/* The slots of handles, and the references of objects (see opencl_object.h). */
#include "opencl_object.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "components/opencl/api/opencl_dispatch.h"

struct slot {
    const void *dispatch;
    struct opencl_object *object; /* NULL: it has ended */
};

enum { SLOTS = 1 << 26 }; /* addresses only; memory is taken as slots are used */

static struct {
    struct slot *list;
    size_t count;
} slots;

static void reserve(void)
{
    if (slots.list)
        return;
    void *range = mmap(NULL, SLOTS * sizeof *slots.list, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    slots.list = range == MAP_FAILED ? NULL : range;
}

void opencl_object_begin(struct opencl_object *object, enum opencl_kind kind,
                         void (*destroy)(struct opencl_object *object))
{
    reserve();
    if (!slots.list || slots.count == SLOTS) {
        fprintf(stderr, "heddle: no room for more objects of OpenCL than %zu\n", slots.count);
        abort();
    }
    struct slot *slot = &slots.list[slots.count++];
    *slot = (struct slot){opencl_dispatch(), object};
    object->kind = kind;
    object->references = 1;
    object->handle = slot;
    object->destroy = destroy;
}

void *opencl_find(enum opencl_kind kind, const void *handle)
{
    uintptr_t address = (uintptr_t)handle, first = (uintptr_t)slots.list;
    if (address < first || address - first >= slots.count * sizeof(struct slot)
        || (address - first) % sizeof(struct slot) != 0)
        return NULL;
    struct opencl_object *object = slots.list[(address - first) / sizeof(struct slot)].object;
    return object && object->kind == kind ? object : NULL;
}

static void end_unused(struct opencl_object *object)
{
    if (object->references > 0 || object->holds > 0 || !object->destroy)
        return;
    if (object->handle)
        ((struct slot *)object->handle)->object = NULL;
    object->destroy(object);
}

void opencl_hold(struct opencl_object *object)
{
    if (object)
        object->holds++;
}

void opencl_drop(struct opencl_object *object)
{
    if (!object)
        return;
    object->holds--;
    end_unused(object);
}

bool opencl_retain(enum opencl_kind kind, const void *handle)
{
    struct opencl_object *object = opencl_find(kind, handle);
    if (object && object->destroy)
        object->references++;
    return object != NULL;
}

bool opencl_release(enum opencl_kind kind, const void *handle)
{
    struct opencl_object *object = opencl_find(kind, handle);
    if (!object || !object->destroy)
        return object != NULL;
    if (object->references == 0)
        return false;
    object->references--;
    end_unused(object);
    return true;
}
