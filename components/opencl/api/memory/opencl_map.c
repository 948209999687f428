/* Mapping: the host sees an object in a copy of its own (the shadow), or in the memory that the
 * program gave with CL_MEM_USE_HOST_PTR. Mapping reads the region from the device unless its
 * contents do not matter; unmapping what was mapped for writing writes it back. */
#include <string.h>

#include "base/grow.h"
#include "components/opencl/api/commands/opencl_transfer.h"

#include "opencl_memory.h"

#define MAP_FLAGS  (CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)
#define MAP_WRITES (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)

static cl_int check_map(const struct opencl_enqueue *enqueue, const struct opencl_memory *memory,
                        cl_map_flags flags, bool fits)
{
    cl_int error = opencl_memory_check_enqueue(enqueue, memory);
    if (error != CL_SUCCESS)
        return error;
    if ((flags & ~(cl_map_flags)MAP_FLAGS) != 0 || !fits
        || ((flags & CL_MAP_WRITE_INVALIDATE_REGION) && (flags & (CL_MAP_READ | CL_MAP_WRITE))))
        return CL_INVALID_VALUE;
    if (flags & CL_MAP_READ)
        error = opencl_memory_check_host(memory, false);
    if ((flags & MAP_WRITES) && error == CL_SUCCESS)
        error = opencl_memory_check_host(memory, true);
    if (error != CL_SUCCESS)
        return error;
    return opencl_memory_is_aligned(memory) ? CL_SUCCESS : CL_MISALIGNED_SUB_BUFFER_OFFSET;
}

static void add_mapping(struct opencl_memory *memory, const struct opencl_mapping *mapping)
{
    grow_list(memory->mappings, memory->map_count + 1, memory->map_capacity, OPENCL_LIBRARY);
    memory->mappings[memory->map_count++] = *mapping;
}

/* A copy between the device's memory and what the host sees of it, if anything is to be copied. */
static struct opencl_command *exchange_box(struct opencl_memory *owner, void *pointer,
                                           const struct opencl_box *box, bool writes, bool copies)
{
    struct opencl_side device = {owner, NULL, box->offset, box->row, box->slice};
    struct opencl_side host = {NULL, pointer, 0, box->row, box->slice};
    const size_t none[3] = {0, 1, 1};
    return &opencl_transfer_rectangle(writes ? device : host, writes ? host : device,
                                      copies ? box->region : none)
                ->command;
}

void *opencl_memory_map(const struct opencl_enqueue *enqueue, struct opencl_memory *memory,
                        cl_map_flags flags, struct opencl_box box, bool fits, cl_int *error)
{
    *error = check_map(enqueue, memory, flags, fits);
    if (*error != CL_SUCCESS)
        return NULL;
    struct opencl_memory *owner = opencl_memory_owner(memory);
    uint8_t *shadow = opencl_memory_shadow(memory);
    if (!shadow) {
        *error = CL_MAP_FAILURE;
        return NULL;
    }
    box.offset += memory->parent ? memory->origin : 0;
    const struct opencl_mapping mapping = {shadow + box.offset, box, flags};
    /* A program that maps for writing may leave bytes as they are. So the mapped bytes have to be
     * the buffer's, unless the flag says that they do not matter. */
    bool reads = !(flags & CL_MAP_WRITE_INVALIDATE_REGION) && !owner->is_shared;
    opencl_hold(&memory->object);
    *error = opencl_enqueue(enqueue, exchange_box(owner, mapping.pointer, &box, false, reads));
    if (*error == CL_SUCCESS)
        add_mapping(memory, &mapping);
    opencl_drop(&memory->object);
    return *error == CL_SUCCESS ? mapping.pointer : NULL;
}

static void *map_buffer(const struct opencl_enqueue *enqueue, cl_mem handle, cl_map_flags flags,
                        size_t offset, size_t size, cl_int *error)
{
    struct opencl_memory *memory = opencl_buffer_find(handle);
    const struct opencl_box box = {offset, {size, 1, 1}, size, size};
    return opencl_memory_map(enqueue, memory, flags, box,
                             size > 0 && memory && opencl_memory_has(memory, offset, size), error);
}

void *CL_API_CALL clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                     cl_map_flags flags, size_t offset, size_t size, cl_uint count,
                                     const cl_event *list, cl_event *event, cl_int *errcode_ret)
{
    const struct opencl_enqueue enqueue = {.queue = queue,
                                           .type = CL_COMMAND_MAP_BUFFER,
                                           .wait_count = count,
                                           .waits = list,
                                           .event = event,
                                           .is_blocking = blocking};
    cl_int error = opencl_enter("clEnqueueMapBuffer");
    void *pointer =
        error == CL_SUCCESS ? map_buffer(&enqueue, buffer, flags, offset, size, &error) : NULL;
    opencl_leave(error);
    if (errcode_ret)
        *errcode_ret = error;
    return pointer;
}

/* The newest mapping that returned the pointer, or NULL. */
static struct opencl_mapping *find_mapping(struct opencl_memory *memory, const void *pointer)
{
    for (size_t i = memory->map_count; i > 0; i--)
        if (memory->mappings[i - 1].pointer == pointer)
            return &memory->mappings[i - 1];
    return NULL;
}

static cl_int unmap_memory(const struct opencl_enqueue *enqueue, cl_mem handle, void *pointer)
{
    struct opencl_memory *memory = opencl_memory_find(handle);
    cl_int error = opencl_memory_check_enqueue(enqueue, memory);
    if (error != CL_SUCCESS)
        return error;
    struct opencl_mapping *entry = find_mapping(memory, pointer);
    if (!entry)
        return CL_INVALID_VALUE;
    const struct opencl_mapping mapping = *entry;
    size_t later = memory->map_count - (size_t)(entry - memory->mappings) - 1;
    memmove(entry, entry + 1, later * sizeof *entry);
    memory->map_count--;
    struct opencl_memory *owner = opencl_memory_owner(memory);
    bool writes = (mapping.flags & MAP_WRITES) != 0 && !owner->is_shared;
    return opencl_enqueue(enqueue, exchange_box(owner, pointer, &mapping.box, true, writes));
}

OPENCL_CALL(clEnqueueUnmapMemObject,
            (cl_command_queue queue, cl_mem memory, void *pointer, cl_uint count,
             const cl_event *list, cl_event *event),
            unmap_memory(&(struct opencl_enqueue){.queue = queue,
                                                  .type = CL_COMMAND_UNMAP_MEM_OBJECT,
                                                  .wait_count = count,
                                                  .waits = list,
                                                  .event = event},
                         memory, pointer));
