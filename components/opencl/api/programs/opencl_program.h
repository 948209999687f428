/* Programs and kernels. A program has a build for each of its devices: a binary, and a module on
 * the device from the first kernel on. */
#ifndef HEDDLE_COMPONENTS_OPENCL_API_PROGRAMS_OPENCL_PROGRAM_H
#define HEDDLE_COMPONENTS_OPENCL_API_PROGRAMS_OPENCL_PROGRAM_H

#include "components/opencl/api/devices/opencl_context.h"
#include "components/opencl/compiler/opencl_compiler.h"

struct opencl_build {
    struct opencl_device *device;
    cl_build_status status;
    char *options, *log;
    uint8_t *binary;
    size_t size;
    enum opencl_binary_kind kind;
    struct opencl_facts facts; /* an executable's kernels */
    bool has_facts;
    struct hip_module *module; /* NULL: not loaded yet */
};

struct opencl_program {
    struct opencl_object object;
    struct opencl_context *context;
    char *source; /* NULL: made from binaries, or by linking */
    struct opencl_build *builds;
    uint32_t build_count;
    uint32_t kernels; /* kernels that the program has created and not released */
    struct opencl_destructor *destructors;
};

/* The build for the device; NULL: the program has none. */
struct opencl_build *opencl_program_build(const struct opencl_program *program,
                                          const struct opencl_device *device);
/* The facts of its kernel `name` from the build; NULL: it is no executable, or has none. */
const struct opencl_kernel *opencl_build_kernel(const struct opencl_build *build, const char *name);
/* True if the last work-groups of its kernels may be smaller than the others. */
bool opencl_build_allows_remainder(const struct opencl_build *build);
/* Loads the module when that was not done. */
cl_int opencl_build_load(struct opencl_build *build);
/* A program without builds; `context` is held. */
struct opencl_program *opencl_program_create(struct opencl_context *context,
                                             struct opencl_device **devices, uint32_t count);
/* The build is of these bytes from now on. False: they are no binary; the log says why. */
bool opencl_build_set(struct opencl_build *build, const void *bytes, size_t size);
/* The build is of nothing again. */
void opencl_build_clear(struct opencl_build *build);

#endif
