/* Makes and ends contexts, and answers what they are (see opencl_context.h). */
#include "opencl_context.h"

#include <stdlib.h>
#include <string.h>

#include "opencl_device.h"

int opencl_context_place(const struct opencl_context *context, const struct opencl_device *device)
{
    for (uint32_t i = 0; i < context->device_count; i++)
        if (context->devices[i] == device)
            return (int)i;
    return -1;
}

/* ---- calls at the end of objects ---- */

static struct opencl_destructor *due_destructors; /* in the order in which they are made */

void opencl_destructor_add(struct opencl_destructor **list, void (*call)(void *object, void *data),
                           void *object, void *data)
{
    struct opencl_destructor *destructor = opencl_allocate(sizeof *destructor);
    *destructor = (struct opencl_destructor){*list, call, object, data};
    *list = destructor;
}

void opencl_destructors_due(struct opencl_destructor *list)
{
    struct opencl_destructor **end = &due_destructors;
    while (*end)
        end = &(*end)->next;
    *end = list;
}

struct opencl_destructor *opencl_destructors_pop(void)
{
    struct opencl_destructor *list = due_destructors;
    due_destructors = NULL;
    return list;
}

void opencl_destructors_run(struct opencl_destructor *list)
{
    for (struct opencl_destructor *next; list; list = next) {
        next = list->next;
        list->call(list->object, list->data);
        free(list);
    }
}

/* ---- contexts ---- */

static void destroy_context(struct opencl_object *object)
{
    struct opencl_context *context = (struct opencl_context *)object;
    opencl_destructors_due(context->destructors);
    free(context->devices);
    free(context->properties);
    free(context);
}

static cl_int check_properties(const cl_context_properties *properties, size_t *count)
{
    *count = 0;
    if (!properties)
        return CL_SUCCESS;
    bool has_platform = false, has_sync = false;
    for (; properties[*count]; *count += 2) {
        cl_context_properties key = properties[*count];
        bool *is_given = key == CL_CONTEXT_PLATFORM            ? &has_platform
                         : key == CL_CONTEXT_INTEROP_USER_SYNC ? &has_sync
                                                               : NULL;
        if (!is_given || *is_given)
            return CL_INVALID_PROPERTY;
        *is_given = true;
        const void *value = (const void *)properties[*count + 1];
        if (key == CL_CONTEXT_PLATFORM && !opencl_find(OPENCL_PLATFORM, value))
            return CL_INVALID_PLATFORM;
    }
    ++*count;
    return CL_SUCCESS;
}

/* Errors of a device end the program's use of it, with a message; so there is nothing to notify. */
static cl_context create_context(const cl_context_properties *properties, cl_uint count,
                                 const cl_device_id *handles, bool has_notify, const void *data,
                                 cl_int *error)
{
    size_t property_count = 0;
    struct opencl_device **devices = NULL;
    *error = check_properties(properties, &property_count);
    if (*error == CL_SUCCESS && !has_notify && data)
        *error = CL_INVALID_VALUE;
    if (*error == CL_SUCCESS)
        *error = opencl_devices_find(handles, count, &devices);
    if (*error != CL_SUCCESS)
        return NULL;
    struct opencl_context *context = opencl_allocate(sizeof *context);
    for (cl_uint i = 0; i < count; i++) /* one that is given twice counts once */
        if (opencl_context_place(
                &(struct opencl_context){.devices = devices, .device_count = context->device_count},
                devices[i])
            < 0)
            devices[context->device_count++] = devices[i];
    context->devices = devices;
    if (properties) {
        context->property_count = property_count;
        context->properties = opencl_allocate(property_count * sizeof *properties);
        memcpy(context->properties, properties, property_count * sizeof *properties);
    }
    opencl_object_begin(&context->object, OPENCL_CONTEXT, destroy_context);
    return context->object.handle;
}

OPENCL_CREATE(cl_context, clCreateContext,
              (const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
               void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data,
               cl_int *errcode_ret),
              create_context(properties, count, devices, notify != NULL, data, &error));

static cl_context create_from_type(const cl_context_properties *properties, cl_device_type type,
                                   bool has_notify, const void *data, cl_int *error)
{
    const cl_device_type known = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU
                                 | CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM;
    cl_device_id devices[OPENCL_DEVICES_MAX];
    for (uint32_t i = 0; i < opencl.device_count; i++)
        devices[i] = opencl.devices[i].object.handle;
    bool includes_gpus = (type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT)) != 0;
    if (type == 0 || (type != CL_DEVICE_TYPE_ALL && (type & ~known) != 0)) {
        *error = CL_INVALID_DEVICE_TYPE;
        return NULL;
    }
    if (!includes_gpus) {
        *error = CL_DEVICE_NOT_FOUND;
        return NULL;
    }
    cl_uint count = type == CL_DEVICE_TYPE_DEFAULT ? 1 : opencl.device_count;
    return create_context(properties, count, devices, has_notify, data, error);
}

OPENCL_CREATE(cl_context, clCreateContextFromType,
              (const cl_context_properties *properties, cl_device_type type,
               void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data,
               cl_int *errcode_ret),
              create_from_type(properties, type, notify != NULL, data, &error));

OPENCL_COUNTED(Context, cl_context, OPENCL_CONTEXT, CL_INVALID_CONTEXT);

static cl_int get_context_info(cl_context handle, cl_context_info query, struct opencl_answer to)
{
    const struct opencl_context *context = opencl_find(OPENCL_CONTEXT, handle);
    cl_device_id devices[OPENCL_DEVICES_MAX];
    if (!context)
        return CL_INVALID_CONTEXT;
    switch (query) {
    case CL_CONTEXT_REFERENCE_COUNT:
        return OPENCL_ANSWER(to, cl_uint, context->object.references);
    case CL_CONTEXT_NUM_DEVICES:
        return OPENCL_ANSWER(to, cl_uint, context->device_count);
    case CL_CONTEXT_DEVICES:
        for (uint32_t i = 0; i < context->device_count; i++)
            devices[i] = context->devices[i]->object.handle;
        return opencl_answer(to, devices, context->device_count * sizeof devices[0]);
    case CL_CONTEXT_PROPERTIES:
        return opencl_answer(to, context->properties,
                             context->property_count * sizeof *context->properties);
    default:
        return CL_INVALID_VALUE;
    }
}

OPENCL_QUERY(clGetContextInfo, cl_context, cl_context_info, get_context_info);

typedef void(CL_CALLBACK *context_call)(cl_context, void *);

static cl_int add_destructor(cl_context handle, context_call call, void *data)
{
    struct opencl_context *context = opencl_find(OPENCL_CONTEXT, handle);
    if (!context || !call)
        return context ? CL_INVALID_VALUE : CL_INVALID_CONTEXT;
    opencl_destructor_add(&context->destructors, (void (*)(void *, void *))call, handle, data);
    return CL_SUCCESS;
}

OPENCL_CALL(clSetContextDestructorCallback,
            (cl_context context, void(CL_CALLBACK *notify)(cl_context, void *), void *data),
            add_destructor(context, notify, data));
