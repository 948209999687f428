/* Makes buffers, brings their contents to where a command needs them, and ends them (see
 * opencl_memory.h). */
#include "opencl_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "components/opencl/api/commands/opencl_driver_commands.h"

#include "opencl_image.h"

struct opencl_memory *opencl_memory_find(cl_mem handle)
{
    return opencl_find(OPENCL_MEMORY, handle);
}

struct opencl_memory *opencl_buffer_find(cl_mem handle)
{
    struct opencl_memory *memory = opencl_memory_find(handle);
    return memory && !memory->image ? memory : NULL;
}

cl_int opencl_memory_check_enqueue(const struct opencl_enqueue *enqueue,
                                   const struct opencl_memory *memory)
{
    struct opencl_queue *queue = NULL;
    cl_int error = opencl_check_enqueue(enqueue, &queue);
    if (error != CL_SUCCESS)
        return error;
    return !memory                             ? CL_INVALID_MEM_OBJECT
           : memory->context != queue->context ? CL_INVALID_CONTEXT
                                               : CL_SUCCESS;
}

struct opencl_memory *opencl_memory_owner(struct opencl_memory *memory)
{
    return memory->parent ? memory->parent : memory;
}

bool opencl_memory_has(const struct opencl_memory *memory, size_t offset, size_t size)
{
    return offset <= memory->size && size <= memory->size - offset;
}

cl_int opencl_memory_check_host(const struct opencl_memory *memory, bool writes)
{
    cl_mem_flags against =
        CL_MEM_HOST_NO_ACCESS | (writes ? CL_MEM_HOST_READ_ONLY : CL_MEM_HOST_WRITE_ONLY);
    return (memory->flags & against) != 0 ? CL_INVALID_OPERATION : CL_SUCCESS;
}

bool opencl_memory_is_aligned(const struct opencl_memory *memory)
{
    return memory->origin % OPENCL_ALIGN == 0;
}

uint8_t *opencl_memory_shadow(struct opencl_memory *memory)
{
    enum { PAGE = 4096 };
    struct opencl_memory *owner = opencl_memory_owner(memory);
    if (!owner->shadow) {
        void *made = NULL;
        if (posix_memalign(&made, PAGE, round_up(owner->size, PAGE)) != 0)
            return NULL;
        owner->shadow = made;
    }
    return owner->shadow;
}

/* ---- memory of devices ---- */

cl_int opencl_memory_address(struct opencl_memory *memory, int place, uint64_t *address)
{
    struct opencl_memory *owner = opencl_memory_owner(memory);
    cl_int error = CL_SUCCESS;
    if (owner->addresses[place] == 0) {
        opencl_memory_tidy(false);
        int number = owner->context->devices[place]->number;
        hipError_t made = opencl_driver_allocate(number, owner->size, &owner->addresses[place]);
        if (made == hipErrorOutOfMemory) { /* what was released may only wait for its commands */
            opencl_memory_tidy(true);
            made = opencl_driver_allocate(number, owner->size, &owner->addresses[place]);
        }
        error = opencl_error_of(made);
    }
    *address = owner->addresses[place] + (memory->parent ? memory->origin : 0);
    return error;
}

/* A copy from a device waits for the command that made its bytes there, a write or a copy:
 * commands that use other parts of the buffer need no event between them. A queue that is gone has
 * nothing left to do. */
static cl_int wait_for_maker(const struct opencl_maker *maker, uint32_t lane)
{
    uint64_t ticket = maker->ticket;
    if (!maker->lane || maker->lane - 1 == lane
        || (!ticket && opencl.api->mark(maker->lane - 1, true, &ticket) != DRIVER_OK)
        || opencl.hip->is_ticket_done(ticket))
        return CL_SUCCESS;
    return opencl_driver_order(lane, maker->lane - 1, 0, ticket);
}

static cl_int bring_contents(struct opencl_memory *owner, int place, uint32_t from, uint32_t lane)
{
    uint64_t ticket = 0;
    cl_int error = wait_for_maker(&owner->makers[from], lane);
    if (error == CL_SUCCESS)
        opencl.hip->hide_origins(true);
    error = opencl_driver_move(lane, owner->addresses[place], owner->addresses[from], owner->size,
                               &ticket);
    opencl.hip->hide_origins(false);
    owner->has_contents[place] = true;
    owner->makers[place] = (struct opencl_maker){lane + 1, ticket};
    return error;
}

/* The program orders its commands, but knows nothing of copies between devices. */
cl_int opencl_memory_use(struct opencl_memory *memory, int place, uint32_t lane, bool is_written)
{
    struct opencl_memory *owner = opencl_memory_owner(memory);
    uint64_t address = 0;
    cl_int error = opencl_memory_address(owner, place, &address);
    if (owner->is_shared)
        return error;
    if (owner->has_contents[place] && owner->makers[place].ticket && error == CL_SUCCESS)
        error = wait_for_maker(&owner->makers[place], lane);
    for (uint32_t i = 0; i < owner->context->device_count && error == CL_SUCCESS; i++)
        if (!owner->has_contents[place] && owner->has_contents[i])
            error = bring_contents(owner, place, i, lane);
    if (!is_written)
        return error;
    for (uint32_t i = 0; i < owner->context->device_count; i++)
        owner->has_contents[i] = (int)i == place;
    owner->makers[place] = (struct opencl_maker){.lane = lane + 1};
    return error;
}

/* ---- the end ---- */

static void destroy_memory(struct opencl_object *object)
{
    struct opencl_memory *memory = (struct opencl_memory *)object;
    if (memory->addresses && !memory->is_shared)
        for (uint32_t i = 0; i < memory->context->device_count; i++)
            opencl_memory_end(memory->addresses[i]);
    if (memory->shadow != memory->host_pointer)
        free(memory->shadow);
    if (memory->image)
        opencl_image_end(memory);
    opencl_destructors_due(memory->destructors);
    opencl_drop(memory->parent ? &memory->parent->object : NULL);
    opencl_drop(&memory->context->object);
    free(memory->addresses);
    free(memory->has_contents);
    free(memory->makers);
    free(memory->mappings);
    free(memory->properties);
    free(memory);
}

OPENCL_COUNTED(MemObject, cl_mem, OPENCL_MEMORY, CL_INVALID_MEM_OBJECT);

typedef void(CL_CALLBACK *memory_call)(cl_mem, void *);

static cl_int add_destructor(cl_mem handle, memory_call call, void *data)
{
    struct opencl_memory *memory = opencl_memory_find(handle);
    if (!memory || !call)
        return memory ? CL_INVALID_VALUE : CL_INVALID_MEM_OBJECT;
    opencl_destructor_add(&memory->destructors, (void (*)(void *, void *))call, handle, data);
    return CL_SUCCESS;
}

OPENCL_CALL(clSetMemObjectDestructorCallback,
            (cl_mem memory, void(CL_CALLBACK *call)(cl_mem, void *), void *data),
            add_destructor(memory, call, data));

/* ---- making ---- */

#define ACCESS_FLAGS  (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY)
#define POINTER_FLAGS (CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)
#define HOST_FLAGS    (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)

static bool has_several(cl_mem_flags flags)
{
    return (flags & (flags - 1)) != 0;
}

static bool are_flags(cl_mem_flags flags, cl_mem_flags known)
{
    return (flags & ~known) == 0 && !has_several(flags & ACCESS_FLAGS)
           && !has_several(flags & HOST_FLAGS)
           && !((flags & CL_MEM_USE_HOST_PTR) && (flags & POINTER_FLAGS & ~CL_MEM_USE_HOST_PTR));
}

static uint64_t largest_of(const struct opencl_context *context)
{
    uint64_t largest = 0;
    for (uint32_t i = 0; i < context->device_count; i++) {
        uint64_t most = context->devices[i]->info.memory_bytes / 4 * 3;
        largest = max(most, largest);
    }
    return largest;
}

cl_int opencl_memory_check_flags(cl_mem_flags flags, const void *pointer)
{
    bool takes_pointer = (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0;
    return !are_flags(flags, ACCESS_FLAGS | POINTER_FLAGS | HOST_FLAGS) ? CL_INVALID_VALUE
           : takes_pointer != (pointer != NULL)                         ? CL_INVALID_HOST_PTR
                                                                        : CL_SUCCESS;
}

/* The contents are taken over before the call returns, on the first device. */
static cl_int fill_buffer(struct opencl_memory *memory, void *pointer)
{
    uint64_t address = 0;
    struct opencl_context *context = memory->context;
    struct hip_location location = opencl.hip->location_of((uintptr_t)pointer);
    if (pointer && location.kind == HIP_LOCATION_MANAGED
        && (memory->flags & CL_MEM_USE_HOST_PTR)) { /* the program's shared memory is the buffer */
        memory->is_shared = true;
        for (uint32_t i = 0; i < context->device_count; i++) {
            memory->addresses[i] = location.address;
            memory->has_contents[i] = true;
        }
        return CL_SUCCESS;
    }
    cl_int error = opencl_memory_address(memory, 0, &address);
    if (error != CL_SUCCESS || !pointer)
        return error;
    opencl.hip->host_memory_scan(address, pointer, memory->size);
    error = opencl_driver_write_now(context->devices[0]->number, address, pointer, memory->size);
    memory->has_contents[0] = true;
    return error;
}

static struct opencl_memory *begin_memory(struct opencl_context *context, cl_mem_flags flags,
                                          size_t size)
{
    struct opencl_memory *memory = opencl_allocate(sizeof *memory);
    memory->context = context;
    memory->flags = flags & ACCESS_FLAGS ? flags : flags | CL_MEM_READ_WRITE;
    memory->size = size;
    memory->object.destroy = destroy_memory;
    opencl_hold(&context->object);
    return memory;
}

struct opencl_memory *opencl_memory_create(struct opencl_context *context,
                                           const cl_mem_properties *properties, cl_mem_flags flags,
                                           size_t size, void *pointer, cl_int *error)
{
    struct opencl_memory *memory = begin_memory(context, flags, size);
    memory->addresses = opencl_allocate(context->device_count * sizeof *memory->addresses);
    memory->has_contents = opencl_allocate(context->device_count * sizeof *memory->has_contents);
    memory->makers = opencl_allocate(context->device_count * sizeof *memory->makers);
    if (properties) {
        memory->property_count = 1;
        memory->properties = opencl_allocate(sizeof *properties);
    }
    if (flags & CL_MEM_USE_HOST_PTR)
        memory->shadow = memory->host_pointer = pointer;
    *error = fill_buffer(memory, pointer);
    if (*error == CL_SUCCESS)
        return memory;
    destroy_memory(&memory->object);
    return NULL;
}

cl_mem opencl_memory_begin(struct opencl_memory *memory)
{
    opencl_object_begin(&memory->object, OPENCL_MEMORY, destroy_memory);
    return memory->object.handle;
}

static cl_mem create_buffer(cl_context handle, const cl_mem_properties *properties,
                            cl_mem_flags flags, size_t size, void *pointer, cl_int *error)
{
    struct opencl_context *context = opencl_find(OPENCL_CONTEXT, handle);
    *error = !context                      ? CL_INVALID_CONTEXT
             : properties && properties[0] ? CL_INVALID_PROPERTY
                                           : opencl_memory_check_flags(flags, pointer);
    if ((*error == CL_SUCCESS || *error == CL_INVALID_HOST_PTR)
        && (size == 0 || size > largest_of(context)))
        *error = CL_INVALID_BUFFER_SIZE;
    if (*error != CL_SUCCESS)
        return NULL;
    struct opencl_memory *memory =
        opencl_memory_create(context, properties, flags, size, pointer, error);
    return memory ? opencl_memory_begin(memory) : NULL;
}

OPENCL_CREATE(cl_mem, clCreateBuffer,
              (cl_context context, cl_mem_flags flags, size_t size, void *pointer,
               cl_int *errcode_ret),
              create_buffer(context, NULL, flags, size, pointer, &error));
OPENCL_CREATE(cl_mem, clCreateBufferWithProperties,
              (cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
               size_t size, void *pointer, cl_int *errcode_ret),
              create_buffer(context, properties, flags, size, pointer, &error));

/* ---- sub-buffers ---- */

/* A sub-buffer may not be used in ways that its buffer may not. */
bool opencl_memory_allows_part(const struct opencl_memory *parent, cl_mem_flags flags)
{
    cl_mem_flags access = flags & ACCESS_FLAGS, host = flags & HOST_FLAGS;
    if (!are_flags(flags, ACCESS_FLAGS | HOST_FLAGS))
        return false;
    if ((parent->flags & CL_MEM_WRITE_ONLY) && (access & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY)))
        return false;
    if ((parent->flags & CL_MEM_READ_ONLY) && (access & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY)))
        return false;
    if ((parent->flags & CL_MEM_HOST_WRITE_ONLY) && (host & CL_MEM_HOST_READ_ONLY))
        return false;
    if ((parent->flags & CL_MEM_HOST_READ_ONLY) && (host & CL_MEM_HOST_WRITE_ONLY))
        return false;
    return !((parent->flags & CL_MEM_HOST_NO_ACCESS)
             && (host & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY)));
}

static cl_int check_region(const struct opencl_memory *parent, cl_mem_flags flags,
                           cl_buffer_create_type type, const cl_buffer_region *region)
{
    if (!parent || parent->parent)
        return CL_INVALID_MEM_OBJECT;
    if (!opencl_memory_allows_part(parent, flags))
        return CL_INVALID_VALUE;
    if (type != CL_BUFFER_CREATE_TYPE_REGION || !region)
        return CL_INVALID_VALUE;
    if (region->size == 0)
        return CL_INVALID_BUFFER_SIZE;
    if (!opencl_memory_has(parent, region->origin, region->size))
        return CL_INVALID_VALUE;
    return region->origin % OPENCL_ALIGN == 0 ? CL_SUCCESS : CL_MISALIGNED_SUB_BUFFER_OFFSET;
}

cl_mem_flags opencl_memory_part_flags(const struct opencl_memory *parent, cl_mem_flags flags)
{
    flags |= flags & ACCESS_FLAGS ? 0 : parent->flags & ACCESS_FLAGS;
    flags |= flags & HOST_FLAGS ? 0 : parent->flags & HOST_FLAGS;
    return flags | (parent->flags & POINTER_FLAGS);
}

struct opencl_memory *opencl_memory_make_part(struct opencl_memory *parent, cl_mem_flags flags,
                                              size_t origin, size_t size)
{
    struct opencl_memory *memory =
        begin_memory(parent->context, opencl_memory_part_flags(parent, flags), size);
    memory->parent = parent;
    memory->origin = origin;
    memory->host_pointer = parent->host_pointer ? (uint8_t *)parent->host_pointer + origin : NULL;
    memory->shadow = memory->host_pointer;
    opencl_hold(&parent->object);
    return memory;
}

static cl_mem create_part(cl_mem handle, cl_mem_flags flags, cl_buffer_create_type type,
                          const cl_buffer_region *region, cl_int *error)
{
    struct opencl_memory *parent = opencl_buffer_find(handle);
    *error = check_region(parent, flags, type, region);
    if (*error != CL_SUCCESS)
        return NULL;
    return opencl_memory_begin(
        opencl_memory_make_part(parent, flags, region->origin, region->size));
}

OPENCL_CREATE(cl_mem, clCreateSubBuffer,
              (cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type, const void *region,
               cl_int *errcode_ret),
              create_part(parent, flags, type, region, &error));

/* ---- queries ---- */

cl_mem opencl_memory_source(const struct opencl_memory *memory)
{
    const struct opencl_memory *source = memory->image ? memory->image->buffer : memory->parent;
    return source ? source->object.handle : NULL;
}

static cl_int get_memory_info(cl_mem handle, cl_mem_info query, struct opencl_answer to)
{
    struct opencl_memory *memory = opencl_memory_find(handle);
    if (!memory)
        return CL_INVALID_MEM_OBJECT;
    switch (query) {
    case CL_MEM_TYPE:
        return OPENCL_ANSWER(to, cl_mem_object_type,
                             memory->image ? memory->image->type : CL_MEM_OBJECT_BUFFER);
    case CL_MEM_FLAGS:
        return OPENCL_ANSWER(to, cl_mem_flags, memory->flags);
    case CL_MEM_SIZE:
        return OPENCL_ANSWER(to, size_t, memory->size);
    case CL_MEM_HOST_PTR:
        return OPENCL_ANSWER(to, void *, memory->host_pointer);
    case CL_MEM_MAP_COUNT:
        return OPENCL_ANSWER(to, cl_uint, (cl_uint)memory->map_count);
    case CL_MEM_REFERENCE_COUNT:
        return OPENCL_ANSWER(to, cl_uint, memory->object.references);
    case CL_MEM_CONTEXT:
        return OPENCL_ANSWER(to, cl_context, memory->context->object.handle);
    case CL_MEM_ASSOCIATED_MEMOBJECT:
        return OPENCL_ANSWER(to, cl_mem, opencl_memory_source(memory));
    case CL_MEM_OFFSET:
        return OPENCL_ANSWER(to, size_t, memory->image ? 0 : memory->origin);
    case CL_MEM_USES_SVM_POINTER:
        return OPENCL_ANSWER(to, cl_bool, opencl_memory_owner(memory)->is_shared);
    case CL_MEM_PROPERTIES:
        return opencl_answer(to, memory->properties,
                             memory->property_count * sizeof *memory->properties);
    default:
        return CL_INVALID_VALUE;
    }
}

OPENCL_QUERY(clGetMemObjectInfo, cl_mem, cl_mem_info, get_memory_info);
