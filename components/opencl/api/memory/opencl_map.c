/* Mapping: the host sees a buffer in a copy of its own (the shadow), or in the memory that the
 * program gave with CL_MEM_USE_HOST_PTR. Mapping reads the region from the device unless its
 * contents do not matter; unmapping what was mapped for writing writes it back. */
#include "opencl_memory.h"

#include "components/opencl/api/commands/opencl_transfer.h"

#include <string.h>

#define MAP_FLAGS  (CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)
#define MAP_WRITES (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)

static cl_int check_map(const struct opencl_enqueue *how, const struct opencl_memory *memory,
                        cl_map_flags flags, size_t offset, size_t size)
{
    cl_int error = opencl_memory_check_enqueue(how, memory);
    if (error != CL_SUCCESS)
        return error;
    if ((flags & ~(cl_map_flags)MAP_FLAGS) != 0 || size == 0
        || ((flags & CL_MAP_WRITE_INVALIDATE_REGION) && (flags & (CL_MAP_READ | CL_MAP_WRITE)))
        || !opencl_memory_has(memory, offset, size))
        return CL_INVALID_VALUE;
    if (((flags & CL_MAP_READ)
         && (memory->flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)))
        || ((flags & MAP_WRITES)
            && (memory->flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS))))
        return CL_INVALID_OPERATION;
    return opencl_memory_is_aligned(memory) ? CL_SUCCESS : CL_MISALIGNED_SUB_BUFFER_OFFSET;
}

static void add_mapping(struct opencl_memory *memory, void *pointer, size_t offset, size_t size,
                        cl_map_flags flags)
{
    if (memory->map_count == memory->map_room) {
        memory->map_room = memory->map_room ? 2 * memory->map_room : 4;
        memory->mappings =
            opencl_grow(memory->mappings, memory->map_room * sizeof *memory->mappings);
    }
    memory->mappings[memory->map_count++] = (struct opencl_mapping){pointer, offset, size, flags};
}

static void *map(const struct opencl_enqueue *how, cl_mem handle, cl_map_flags flags, size_t offset,
                 size_t size, cl_int *error)
{
    struct opencl_memory *memory = opencl_memory_find(handle);
    *error = check_map(how, memory, flags, offset, size);
    if (*error != CL_SUCCESS)
        return NULL;
    struct opencl_memory *whole = opencl_memory_whole(memory);
    uint8_t *shadow = opencl_memory_shadow(memory);
    if (!shadow) {
        *error = CL_MAP_FAILURE;
        return NULL;
    }
    size_t first = (memory->parent ? memory->origin : 0) + offset;
    bool reads = !(flags & CL_MAP_WRITE_INVALIDATE_REGION) && !whole->is_shared;
    /* A program that maps for writing may leave bytes as they are. So they have to be those of the
     * buffer, unless the flag says that they do not matter. */
    struct opencl_transfer *copy = opencl_transfer_bytes(
        (struct opencl_side){.pointer = shadow + first},
        (struct opencl_side){.memory = whole, .offset = first}, reads ? size : 0);
    opencl_hold(&memory->object);
    *error = opencl_enqueue(how, &copy->command);
    if (*error == CL_SUCCESS)
        add_mapping(memory, shadow + first, first, size, flags);
    opencl_drop(&memory->object);
    return *error == CL_SUCCESS ? shadow + first : NULL;
}

void *CL_API_CALL clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                     cl_map_flags flags, size_t offset, size_t size, cl_uint count,
                                     const cl_event *list, cl_event *event, cl_int *errcode_ret)
{
    const struct opencl_enqueue how = {.queue = queue,
                                       .type = CL_COMMAND_MAP_BUFFER,
                                       .wait_count = count,
                                       .waits = list,
                                       .event = event,
                                       .blocking = blocking};
    cl_int error = opencl_enter("clEnqueueMapBuffer");
    void *pointer = error == CL_SUCCESS ? map(&how, buffer, flags, offset, size, &error) : NULL;
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

static cl_int unmap(const struct opencl_enqueue *how, cl_mem handle, void *pointer)
{
    struct opencl_memory *memory = opencl_memory_find(handle);
    cl_int error = opencl_memory_check_enqueue(how, memory);
    if (error != CL_SUCCESS)
        return error;
    struct opencl_mapping *found = find_mapping(memory, pointer);
    if (!found)
        return CL_INVALID_VALUE;
    const struct opencl_mapping mapping = *found;
    size_t behind = memory->map_count - (size_t)(found - memory->mappings) - 1;
    memmove(found, found + 1, behind * sizeof *found);
    memory->map_count--;
    struct opencl_memory *whole = opencl_memory_whole(memory);
    bool writes = (mapping.flags & MAP_WRITES) != 0 && !whole->is_shared;
    struct opencl_transfer *copy =
        opencl_transfer_bytes((struct opencl_side){.memory = whole, .offset = mapping.offset},
                              (struct opencl_side){.pointer = pointer}, writes ? mapping.size : 0);
    return opencl_enqueue(how, &copy->command);
}

OPENCL_CALL(clEnqueueUnmapMemObject,
            (cl_command_queue queue, cl_mem memory, void *pointer, cl_uint count,
             const cl_event *list, cl_event *event),
            unmap(&(struct opencl_enqueue){.queue = queue,
                                           .type = CL_COMMAND_UNMAP_MEM_OBJECT,
                                           .wait_count = count,
                                           .waits = list,
                                           .event = event},
                  memory, pointer));

/* ---- migration ---- */

struct migration {
    struct opencl_command command;
    size_t count;
    bool to_host;
    struct opencl_memory *list[]; /* held */
};

static cl_int issue_migration(struct opencl_command *command, struct opencl_event *event)
{
    const struct migration *m = (const struct migration *)command;
    cl_int error = CL_SUCCESS;
    for (size_t i = 0; i < m->count && error == CL_SUCCESS && !m->to_host; i++)
        error = opencl_memory_use(m->list[i], event->queue->place, event->lane, false);
    return error;
}

static void release_migration(struct opencl_command *command)
{
    const struct migration *m = (const struct migration *)command;
    for (size_t i = 0; i < m->count; i++)
        opencl_drop(&m->list[i]->object);
}

/* To the host: its copies are made when they are mapped, so nothing moves. */
static cl_int migrate(const struct opencl_enqueue *how, cl_uint count, const cl_mem *list,
                      cl_mem_migration_flags flags)
{
    const cl_mem_migration_flags known =
        CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    struct opencl_queue *queue = NULL;
    cl_int error = opencl_check_enqueue(how, &queue);
    if (error != CL_SUCCESS)
        return error;
    if (count == 0 || !list || (flags & ~known) != 0)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; i++) {
        const struct opencl_memory *memory = opencl_memory_find(list[i]);
        if (!memory)
            return CL_INVALID_MEM_OBJECT;
        if (memory->context != queue->context)
            return CL_INVALID_CONTEXT;
    }
    struct migration *m = opencl_allocate(sizeof *m + count * sizeof m->list[0]);
    m->command = (struct opencl_command){issue_migration, release_migration};
    m->to_host = (flags & CL_MIGRATE_MEM_OBJECT_HOST) != 0;
    m->count = count;
    for (cl_uint i = 0; i < count; i++) {
        m->list[i] = opencl_memory_find(list[i]);
        opencl_hold(&m->list[i]->object);
    }
    return opencl_enqueue(how, &m->command);
}

OPENCL_CALL(clEnqueueMigrateMemObjects,
            (cl_command_queue queue, cl_uint number, const cl_mem *objects,
             cl_mem_migration_flags flags, cl_uint count, const cl_event *list, cl_event *event),
            migrate(&(struct opencl_enqueue){.queue = queue,
                                             .type = CL_COMMAND_MIGRATE_MEM_OBJECTS,
                                             .wait_count = count,
                                             .waits = list,
                                             .event = event},
                    number, objects, flags));
