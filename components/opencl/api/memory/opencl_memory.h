/* Memory objects: buffers, sub-buffers and images (opencl_image.h).
 *
 * A buffer has memory on each device that has used it, made when first wanted. `has_contents` says
 * which of these hold the contents; a command on another device brings them there first. A
 * sub-buffer is a range of its parent. */
#ifndef HEDDLE_COMPONENTS_OPENCL_API_MEMORY_OPENCL_MEMORY_H
#define HEDDLE_COMPONENTS_OPENCL_API_MEMORY_OPENCL_MEMORY_H

#include "components/opencl/api/devices/opencl_context.h"
#include "components/opencl/api/queues/opencl_event.h"

/* A box of bytes in memory. */
struct opencl_box {
    size_t offset;     /* where its first byte is */
    size_t region[3];  /* bytes of a row, rows, slices */
    size_t row, slice; /* bytes from row to row, and from slice to slice */
};

struct opencl_mapping {
    void *pointer;
    struct opencl_box box; /* in the owner */
    cl_map_flags flags;
};

/* The command that makes a device's memory hold the contents of a buffer. */
struct opencl_maker {
    uint32_t lane;   /* lane of the command, plus 1; 0: none */
    uint64_t ticket; /* ticket of a copy from another device; 0: the command writes */
};

struct opencl_memory {
    struct opencl_object object;
    struct opencl_context *context;
    struct opencl_image *image;   /* NULL: a buffer */
    struct opencl_memory *parent; /* held; NULL: memory of its own */
    size_t origin, size;          /* origin in the parent */
    cl_mem_flags flags;
    void *host_pointer; /* as given, with CL_MEM_USE_HOST_PTR */
    cl_mem_properties *properties;
    size_t property_count;
    struct opencl_destructor *destructors;
    /* The rest is the parent's in a sub-buffer. */
    uint64_t *addresses; /* one a device of the context; 0: none yet */
    bool *has_contents;
    struct opencl_maker *makers; /* one a device */
    bool is_shared;              /* memory of clSVMAlloc: one address for all devices */
    uint8_t *shadow;             /* memory that clEnqueueMapBuffer shows; NULL: none yet */
    struct opencl_mapping *mappings;
    size_t map_count, map_capacity;
};

/* The object of the handle, or NULL: any, or a buffer only. */
struct opencl_memory *opencl_memory_find(cl_mem handle);
struct opencl_memory *opencl_buffer_find(cl_mem handle);
/* CL_SUCCESS: the flags of a new object are sound and fit the pointer. */
cl_int opencl_memory_check_flags(cl_mem_flags flags, const void *pointer);
/* True if a part of `parent` may have the flags. Then the flags of a part, with those that it takes
 * over from its parent. */
bool opencl_memory_allows_part(const struct opencl_memory *parent, cl_mem_flags flags);
cl_mem_flags opencl_memory_part_flags(const struct opencl_memory *parent, cl_mem_flags flags);
/* An object without a handle yet, with memory that holds what `pointer` points to. NULL: `*error`
 * says why. */
struct opencl_memory *opencl_memory_create(struct opencl_context *context,
                                           const cl_mem_properties *properties, cl_mem_flags flags,
                                           size_t size, void *pointer, cl_int *error);
/* An object that is a part of another, without a handle yet. */
struct opencl_memory *opencl_memory_make_part(struct opencl_memory *parent, cl_mem_flags flags,
                                              size_t origin, size_t size);
/* Gives the object a handle. */
cl_mem opencl_memory_begin(struct opencl_memory *memory);
/* The buffer that the object was made of, or NULL. */
cl_mem opencl_memory_source(const struct opencl_memory *memory);
/* CL_SUCCESS: the host may read the object, or write it. */
cl_int opencl_memory_check_host(const struct opencl_memory *memory, bool writes);
/* The queue and the wait list are sound, and the object, which may be NULL, is of the queue's
 * context. */
cl_int opencl_memory_check_enqueue(const struct opencl_enqueue *enqueue,
                                   const struct opencl_memory *memory);
/* The object that has the bytes, and where a sub-buffer begins in it. */
struct opencl_memory *opencl_memory_owner(struct opencl_memory *memory);
/* The object's memory on the device at `place` of the context, made if need be. */
cl_int opencl_memory_address(struct opencl_memory *memory, int place, uint64_t *address);
/* A command on `lane` of the device at `place` is about to use it: the contents come there. */
cl_int opencl_memory_use(struct opencl_memory *memory, int place, uint32_t lane, bool is_written);
/* True if [offset, offset + size) lies in it. */
bool opencl_memory_has(const struct opencl_memory *memory, size_t offset, size_t size);
/* True if the device can use the sub-buffer's start. */
bool opencl_memory_is_aligned(const struct opencl_memory *memory);
/* The whole object as the host sees it. */
uint8_t *opencl_memory_shadow(struct opencl_memory *memory);

/* Maps a part (opencl_map.c). `fits`: the box lies in the object, which may be NULL. */
void *opencl_memory_map(const struct opencl_enqueue *enqueue, struct opencl_memory *memory,
                        cl_map_flags flags, struct opencl_box box, bool fits, cl_int *error);

/* Frees what is no longer used by commands (opencl_memory_release.c). */
void opencl_memory_end(uint64_t address);
void opencl_memory_tidy(bool waits);

#endif
