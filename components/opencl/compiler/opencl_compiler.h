/* The compiler of the OpenCL library: sources become code objects, objects are linked, and a code
 * object says what its kernels are.
 *
 * Nothing here knows the OpenCL objects of a program, and no function keeps anything between calls
 * but a cache of what was built. Functions may be called by several threads at once. What a result
 * refers to belongs to it until its release function. */
#ifndef HEDDLE_COMPONENTS_OPENCL_COMPILER_OPENCL_COMPILER_H
#define HEDDLE_COMPONENTS_OPENCL_COMPILER_OPENCL_COMPILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum opencl_build_status {
    OPENCL_BUILD_OK,
    OPENCL_BUILD_INVALID_OPTIONS, /* the options string; the log says which word */
    OPENCL_BUILD_FAILED,          /* the log has the compiler's or the linker's errors */
    OPENCL_BUILD_COMPILER_MISSING /* compiler or device library is missing; the log says which */
};

struct opencl_text {
    const char *name; /* path of a header as sources include it; NULL for a source */
    const char *bytes;
    size_t size;
};

struct opencl_built {
    uint8_t *bytes; /* NULL unless OPENCL_BUILD_OK */
    size_t size;
    char *log; /* warnings and errors, never NULL, ends with a zero byte */
};

/* True if sources can be compiled for the target, "gfx803". */
bool opencl_compiler_is_available(const char *target);
/* True if code for the target keeps denormal floats. Clang lets code for gfx8 flush them, as gfx8
 * has no fast instructions for denormals. */
bool opencl_compiler_keeps_denormals(const char *target);
/* The OpenCL C extensions, separated by spaces, that sources for the target may use. */
const char *opencl_compiler_extensions(const char *target);

/* The input of a compilation. The sources are joined into one text. `options` are those of
 * clBuildProgram or clCompileProgram, or NULL. */
struct opencl_job {
    const struct opencl_text *sources, *headers;
    size_t source_count, header_count;
    const char *options, *target;
    bool links;
};

/* With `links` the result is a code object that can be loaded (clBuildProgram); otherwise it is an
 * object for opencl_link() (clCompileProgram). */
enum opencl_build_status opencl_compile(const struct opencl_job *job, struct opencl_built *built);

/* Links objects and libraries. The result is a code object or, with -create-library in the options,
 * a library for a further link. `options`: of clLinkProgram; NULL: none. */
enum opencl_build_status opencl_link(const struct opencl_text *objects, size_t object_count,
                                     const char *options, const char *target,
                                     struct opencl_built *built);
void opencl_built_release(struct opencl_built *built);

/* The kind of bytes that a program hands over (clCreateProgramWithBinary). */
enum opencl_binary_kind {
    OPENCL_BINARY_UNKNOWN,
    OPENCL_BINARY_EXECUTABLE, /* a code object */
    OPENCL_BINARY_OBJECT,     /* result of opencl_compile() without `link` */
    OPENCL_BINARY_LIBRARY     /* result of opencl_link() with -create-library */
};
enum opencl_binary_kind opencl_binary_kind(const void *bytes, size_t size);

/* ---- facts of kernels ---- */

enum opencl_address_space {
    OPENCL_ADDRESS_PRIVATE, /* a value */
    OPENCL_ADDRESS_GLOBAL,
    OPENCL_ADDRESS_CONSTANT,
    OPENCL_ADDRESS_LOCAL
};

enum opencl_access {
    OPENCL_ACCESS_NONE,
    OPENCL_ACCESS_READ_ONLY,
    OPENCL_ACCESS_WRITE_ONLY,
    OPENCL_ACCESS_READ_WRITE
};

enum opencl_argument_kind {
    OPENCL_ARGUMENT_VALUE,
    OPENCL_ARGUMENT_BUFFER, /* a pointer to global or constant memory */
    OPENCL_ARGUMENT_LOCAL,  /* a pointer to local memory, whose size clSetKernelArg() gives */
    OPENCL_ARGUMENT_IMAGE,
    OPENCL_ARGUMENT_SAMPLER,
    OPENCL_ARGUMENT_PIPE,
    OPENCL_ARGUMENT_QUEUE
};

struct opencl_argument {
    enum opencl_argument_kind kind;
    enum opencl_address_space address_space;
    enum opencl_access access; /* access to images and pipes */
    bool is_const, is_restrict, is_volatile, is_pipe;
    const char *type_name;  /* "float*"; "": the code object does not say */
    const char *name;       /* "": the code object does not say (-cl-kernel-arg-info) */
    uint32_t offset, size;  /* bytes, in the kernel's arguments */
    uint32_t pointee_align; /* bytes, of LOCAL; 0: unknown */
};

struct opencl_kernel {
    const char *name;                  /* as in the source */
    struct opencl_argument *arguments; /* those that the program sets; no hidden ones */
    uint32_t argument_count;
    uint32_t required_group[3]; /* reqd_work_group_size; zeros: none */
    uint32_t group_hint[3];     /* work_group_size_hint; zeros: none */
    const char *attributes;     /* CL_KERNEL_ATTRIBUTES: "reqd_work_group_size(8,8,1)"; never
                                   NULL */
};

/* A call of printf, whose number kernels write into the buffer (hidden_printf_buffer). */
struct opencl_format {
    uint32_t number;
    uint32_t argument_count;
    const uint32_t *argument_bytes;
    const char *text; /* without escapes */
};

struct opencl_facts {
    struct opencl_kernel *kernels; /* in the order of the code object's list */
    size_t kernel_count;
    struct opencl_format *formats;
    size_t format_count;
    uint64_t variable_bytes; /* size of the program's variables that kernels may write */
    void *memory;
};

/* Reads the facts of a code object. False: `error` says what is wrong with it; nothing needs to be
 * released then. */
bool opencl_facts_read(struct opencl_facts *facts, const void *bytes, size_t size, char error[320]);
void opencl_facts_release(struct opencl_facts *facts);

#endif
