/* Compiled sources that are not linked yet: modules of LLVM bitcode, for one target, and what the
 * linker must know of their options. Libraries are the same with several modules. */
#ifndef HEDDLE_COMPONENTS_OPENCL_COMPILER_OPENCL_BITCODE_H
#define HEDDLE_COMPONENTS_OPENCL_COMPILER_OPENCL_BITCODE_H

#include "opencl_compiler.h"

struct opencl_module {
    const char *bytes; /* bitcode */
    size_t size;
};

struct opencl_object {
    enum opencl_binary_kind kind; /* OPENCL_BINARY_OBJECT or OPENCL_BINARY_LIBRARY */
    char target[16];
    uint32_t math;
    uint32_t module_count;
    struct opencl_module *modules; /* to be released by clang_release() */
};

/* The bytes of an object; clang_release() frees them. */
uint8_t *opencl_object_write(const struct opencl_object *object, size_t *size);
/* Reads an object, whose modules refer to `bytes`. False: it is not sound. */
bool opencl_object_read(struct opencl_object *object, const void *bytes, size_t size);

#endif
