/* Kernels as a program has them: a function of a program, and the arguments that were set. */
#ifndef HEDDLE_COMPONENTS_OPENCL_API_PROGRAMS_OPENCL_KERNEL_OBJECT_H
#define HEDDLE_COMPONENTS_OPENCL_API_PROGRAMS_OPENCL_KERNEL_OBJECT_H

#include "components/opencl/api/memory/opencl_memory.h"

#include "opencl_program.h"

/* The value of an argument. Memory objects are not held: the specification lets a program release
 * them, and wants them whole only until the kernel is enqueued. */
struct opencl_value {
    bool is_set;
    cl_mem memory;  /* BUFFER, where NULL means that `bytes` is an address; IMAGE */
    size_t size;    /* LOCAL: bytes of local memory */
    uint8_t *bytes; /* as many as the argument has */
};

struct opencl_kernel_object {
    struct opencl_object object;
    struct opencl_program *program; /* held */
    char *name;
    const struct opencl_kernel *facts; /* facts from the first build that has it */
    struct opencl_value *values;
};

struct opencl_kernel_object *opencl_kernel_find(cl_kernel handle);
/* The kernel of a loaded module: NULL if it has none. */
const struct hip_function *opencl_kernel_function(const struct hip_module *module,
                                                  const char *name);

#endif
