/* Migration of memory objects to the device of a queue, before a command needs them there. */
#include "opencl_memory.h"

struct migration {
    struct opencl_command command;
    size_t count;
    bool goes_to_host;
    struct opencl_memory *list[]; /* held */
};

static cl_int issue_migration(struct opencl_command *command, struct opencl_event *event)
{
    const struct migration *m = (const struct migration *)command;
    cl_int error = CL_SUCCESS;
    if (m->goes_to_host)
        return error;
    for (size_t i = 0; i < m->count && error == CL_SUCCESS; i++)
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
static cl_int migrate_memories(const struct opencl_enqueue *enqueue, cl_uint count,
                               const cl_mem *list, cl_mem_migration_flags flags)
{
    const cl_mem_migration_flags known =
        CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    struct opencl_queue *queue = NULL;
    cl_int error = opencl_check_enqueue(enqueue, &queue);
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
    m->goes_to_host = (flags & CL_MIGRATE_MEM_OBJECT_HOST) != 0;
    m->count = count;
    for (cl_uint i = 0; i < count; i++) {
        m->list[i] = opencl_memory_find(list[i]);
        opencl_hold(&m->list[i]->object);
    }
    return opencl_enqueue(enqueue, &m->command);
}

OPENCL_CALL(clEnqueueMigrateMemObjects,
            (cl_command_queue queue, cl_uint number, const cl_mem *objects,
             cl_mem_migration_flags flags, cl_uint count, const cl_event *list, cl_event *event),
            migrate_memories(&(struct opencl_enqueue){.queue = queue,
                                                      .type = CL_COMMAND_MIGRATE_MEM_OBJECTS,
                                                      .wait_count = count,
                                                      .waits = list,
                                                      .event = event},
                             number, objects, flags));
