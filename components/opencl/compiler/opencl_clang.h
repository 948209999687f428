/* The steps from OpenCL C to a code object, each of which starts a process. */
#ifndef HEDDLE_COMPONENTS_OPENCL_COMPILER_OPENCL_CLANG_H
#define HEDDLE_COMPONENTS_OPENCL_COMPILER_OPENCL_CLANG_H

#include "opencl_bitcode.h"
#include "opencl_compiler.h"
#include "opencl_options.h"

#define OPENCL_COMPILER "clang-19"
#define OPENCL_LINKER   "ld.lld-19"

/* The device library's files that hold functions. */
enum { OPENCL_LIBRARIES = 3 };
extern const char *const opencl_libraries[OPENCL_LIBRARIES];

/* Adds a line to the log, and returns `status`. */
enum opencl_build_status opencl_fail(struct opencl_built *built, enum opencl_build_status status,
                                     const char *message);
/* Makes bitcode of OpenCL C. `options` are the job's, as read. `*dependencies` gets the makefile's
 * rule of what was read, which the caller releases. */
enum opencl_build_status opencl_compile_source(const struct opencl_job *job,
                                               const struct opencl_options *options,
                                               struct opencl_built *built, char **dependencies);
/* True if it calls functions that opencl_functions.cl has. */
bool opencl_needs_functions(const struct opencl_object *object);
/* Bitcode to a code object. `functions`: their module, or NULL. */
enum opencl_build_status opencl_link_object(const struct opencl_object *object,
                                            const struct opencl_module *functions,
                                            struct opencl_built *built);

#endif
