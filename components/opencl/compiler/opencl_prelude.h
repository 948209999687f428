/* The prelude of sources: declarations that clang 19 leaves out. */
#ifndef HEDDLE_COMPONENTS_OPENCL_COMPILER_OPENCL_PRELUDE_H
#define HEDDLE_COMPONENTS_OPENCL_COMPILER_OPENCL_PRELUDE_H

extern const char opencl_prelude[];

#endif
