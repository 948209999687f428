/* Shared virtual memory: managed memory of the HIP library, which moves between host and devices as
 * they touch it. So mapping has nothing to do but to be in order, and memory that is shared in fine
 * grain needs nothing more: what a kernel has written is there when it is done. */
#include <stdlib.h>

#include "components/opencl/api/commands/opencl_driver_commands.h"
#include "components/opencl/api/commands/opencl_fill.h"
#include "components/opencl/api/commands/opencl_transfer.h"

#include "opencl_memory.h"

enum { SVM_ALIGN_MAX = 4096 };

static void *allocate_svm(cl_context handle, cl_svm_mem_flags flags, size_t size, cl_uint align)
{
    const cl_svm_mem_flags known =
        CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY | CL_MEM_SVM_FINE_GRAIN_BUFFER;
    const struct opencl_context *context = opencl_find(OPENCL_CONTEXT, handle);
    cl_svm_mem_flags access = flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY);
    uint64_t address = 0;
    if (!context || (flags & ~known) != 0 || (access & (access - 1)) != 0 || size == 0
        || (align & (align - 1)) != 0 || align > SVM_ALIGN_MAX)
        return NULL;
    if (size > context->devices[0]->info.memory_bytes / 4 * 3)
        return NULL;
    hipError_t error = opencl.hip->allocate_managed_on(context->devices[0]->number, size, &address);
    return error == hipSuccess ? (void *)(uintptr_t)address : NULL;
}

void *CL_API_CALL clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint align)
{
    cl_int error = opencl_enter("clSVMAlloc");
    void *pointer = error == CL_SUCCESS ? allocate_svm(context, flags, size, align) : NULL;
    opencl_leave(error);
    return pointer;
}

/* The start of an allocation of shared memory. */
static bool is_start(const void *pointer)
{
    struct hip_location location = opencl.hip->location_of((uintptr_t)pointer);
    return location.kind == HIP_LOCATION_MANAGED
           && location.allocation.address == (uintptr_t)pointer;
}

void CL_API_CALL clSVMFree(cl_context context, void *pointer)
{
    cl_int error = opencl_enter("clSVMFree");
    if (error == CL_SUCCESS && opencl_find(OPENCL_CONTEXT, context) && pointer && is_start(pointer))
        opencl_driver_release((uintptr_t)pointer);
    opencl_leave(error);
}

/* ---- freeing in a queue ---- */

struct freeing {
    struct opencl_command command;
    cl_command_queue queue;
    void(CL_CALLBACK *call)(cl_command_queue, cl_uint, void *[], void *);
    void *data;
    cl_uint count;
    void *list[];
};

static void free_all(void *object, void *data)
{
    struct freeing *freeing = data;
    (void)object;
    freeing->call(freeing->queue, freeing->count, freeing->list, freeing->data);
    free(freeing);
}

/* The driver waits for what is before the command. The program's own function is called when the
 * call of OpenCL that issues the command returns. */
static cl_int issue_free(struct opencl_command *command, struct opencl_event *event)
{
    const struct freeing *freeing = (const struct freeing *)command;
    cl_int error = opencl_driver_drain(event->lane);
    if (freeing->call && error == CL_SUCCESS) {
        size_t size = sizeof *freeing + freeing->count * sizeof freeing->list[0];
        struct freeing *copy = opencl_allocate(size);
        struct opencl_destructor *list = NULL;
        memcpy(copy, freeing, size);
        opencl_destructor_add(&list, free_all, NULL, copy);
        opencl_destructors_due(list);
        return CL_SUCCESS;
    }
    for (cl_uint i = 0; i < freeing->count && error == CL_SUCCESS; i++)
        if (freeing->list[i] && is_start(freeing->list[i]))
            error = opencl_error_of(opencl_driver_release((uintptr_t)freeing->list[i]));
    return error;
}

static cl_int enqueue_free(const struct opencl_enqueue *enqueue, cl_uint count, void **list,
                           void(CL_CALLBACK *call)(cl_command_queue, cl_uint, void *[], void *),
                           void *data)
{
    struct opencl_queue *queue = NULL;
    cl_int error = opencl_check_enqueue(enqueue, &queue);
    if (error != CL_SUCCESS)
        return error;
    if ((count == 0) != !list)
        return CL_INVALID_VALUE;
    struct freeing *freeing = opencl_allocate(sizeof *freeing + count * sizeof freeing->list[0]);
    *freeing = (struct freeing){.command = {issue_free, NULL},
                                .queue = enqueue->queue,
                                .call = call,
                                .data = data,
                                .count = count};
    for (cl_uint i = 0; i < count; i++)
        freeing->list[i] = list[i];
    return opencl_enqueue(enqueue, &freeing->command);
}

#define HOW(command, blocks)                                                                       \
    &(struct opencl_enqueue)                                                                       \
    {                                                                                              \
        .queue = queue, .type = command, .wait_count = count, .waits = list, .event = event,       \
        .is_blocking = blocks                                                                      \
    }

OPENCL_CALL(clEnqueueSVMFree,
            (cl_command_queue queue, cl_uint number, void *pointers[],
             void(CL_CALLBACK *call)(cl_command_queue, cl_uint, void *[], void *), void *data,
             cl_uint count, const cl_event *list, cl_event *event),
            enqueue_free(HOW(CL_COMMAND_SVM_FREE, false), number, pointers, call, data));

/* ---- copies and fills ---- */

static cl_int copy_svm(const struct opencl_enqueue *enqueue, void *to, const void *from,
                       size_t size)
{
    struct opencl_queue *queue = NULL;
    cl_int error = opencl_check_enqueue(enqueue, &queue);
    if (error != CL_SUCCESS)
        return error;
    uintptr_t a = (uintptr_t)to, b = (uintptr_t)from;
    if (size > 0 && (!to || !from))
        return CL_INVALID_VALUE;
    if (size > 0 && (a < b ? b - a : a - b) < size)
        return CL_MEM_COPY_OVERLAP;
    struct opencl_transfer *transfer =
        opencl_transfer_bytes((struct opencl_side){.pointer = to},
                              (struct opencl_side){.pointer = (void *)(uintptr_t)from}, size);
    return opencl_enqueue(enqueue, &transfer->command);
}

OPENCL_CALL(clEnqueueSVMMemcpy,
            (cl_command_queue queue, cl_bool blocking, void *to, const void *from, size_t size,
             cl_uint count, const cl_event *list, cl_event *event),
            copy_svm(HOW(CL_COMMAND_SVM_MEMCPY, blocking), to, from, size));

static bool is_shared(const void *pointer, size_t size)
{
    struct hip_location location = opencl.hip->location_of((uintptr_t)pointer);
    return location.kind == HIP_LOCATION_MANAGED && size <= hip_location_left(&location);
}

static cl_int fill_svm(const struct opencl_enqueue *enqueue, void *pointer, const void *pattern,
                       size_t bytes, size_t size)
{
    struct opencl_queue *queue = NULL;
    cl_int error = opencl_check_enqueue(enqueue, &queue);
    if (error != CL_SUCCESS)
        return error;
    if (!pointer || !opencl_fill_is_sound(pattern, bytes, (uintptr_t)pointer, size)
        || !is_shared(pointer, size))
        return CL_INVALID_VALUE;
    return opencl_enqueue(enqueue, opencl_fill_create(NULL, pointer,
                                                      (struct opencl_box){0, {size, 1, 1}, 0, 0},
                                                      pattern, bytes));
}

OPENCL_CALL(clEnqueueSVMMemFill,
            (cl_command_queue queue, void *pointer, const void *pattern, size_t bytes, size_t size,
             cl_uint count, const cl_event *list, cl_event *event),
            fill_svm(HOW(CL_COMMAND_SVM_MEMFILL, false), pointer, pattern, bytes, size));

/* ---- mapping ---- */

static cl_int map_svm(const struct opencl_enqueue *enqueue, cl_map_flags flags, const void *pointer,
                      size_t size)
{
    struct opencl_queue *queue = NULL;
    cl_int error = opencl_check_enqueue(enqueue, &queue);
    if (error != CL_SUCCESS)
        return error;
    bool has_known_flags =
        (flags & ~(cl_map_flags)(CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) == 0;
    if (!pointer || size == 0 || !has_known_flags || !is_shared(pointer, size))
        return CL_INVALID_VALUE;
    return opencl_enqueue(enqueue, NULL);
}

OPENCL_CALL(clEnqueueSVMMap,
            (cl_command_queue queue, cl_bool blocking, cl_map_flags flags, void *pointer,
             size_t size, cl_uint count, const cl_event *list, cl_event *event),
            map_svm(HOW(CL_COMMAND_SVM_MAP, blocking), flags, pointer, size));

static cl_int unmap_svm(const struct opencl_enqueue *enqueue, const void *pointer)
{
    struct opencl_queue *queue = NULL;
    cl_int error = opencl_check_enqueue(enqueue, &queue);
    if (error != CL_SUCCESS)
        return error;
    return pointer && is_shared(pointer, 1) ? opencl_enqueue(enqueue, NULL) : CL_INVALID_VALUE;
}

OPENCL_CALL(clEnqueueSVMUnmap,
            (cl_command_queue queue, void *pointer, cl_uint count, const cl_event *list,
             cl_event *event),
            unmap_svm(HOW(CL_COMMAND_SVM_UNMAP, false), pointer));

/* Memory goes to where it is touched, so that a migration is only in order. */
static cl_int migrate_svm(const struct opencl_enqueue *enqueue, cl_uint number,
                          const void **pointers, const size_t *sizes, cl_mem_migration_flags flags)
{
    const cl_mem_migration_flags known =
        CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    struct opencl_queue *queue = NULL;
    cl_int error = opencl_check_enqueue(enqueue, &queue);
    if (error != CL_SUCCESS)
        return error;
    if (number == 0 || !pointers || (flags & ~known) != 0)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < number; i++)
        if (!is_shared(pointers[i], sizes && sizes[i] ? sizes[i] : 1))
            return CL_INVALID_VALUE;
    return opencl_enqueue(enqueue, NULL);
}

OPENCL_CALL(clEnqueueSVMMigrateMem,
            (cl_command_queue queue, cl_uint number, const void **pointers, const size_t *sizes,
             cl_mem_migration_flags flags, cl_uint count, const cl_event *list, cl_event *event),
            migrate_svm(HOW(CL_COMMAND_SVM_MIGRATE_MEM, false), number, pointers, sizes, flags));
