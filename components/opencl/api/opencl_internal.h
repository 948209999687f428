/* Declarations that the files of the OpenCL library share.
 *
 * The library is an installable client driver (cl_khr_icd): the system's loader opens it and calls
 * through the table of opencl_dispatch.c. Platform, lock, turns of host threads, memory and modules
 * are those of the HIP library, which it reaches through hip_services.h.
 *
 * Threads: each function of OpenCL holds the lock for its whole body, by OPENCL_CALL() and
 * OPENCL_CREATE(). Waits release it, so whatever is used after a wait is held (opencl_object.h).
 * Functions of the program are called without it. */
#ifndef HEDDLE_COMPONENTS_OPENCL_API_OPENCL_INTERNAL_H
#define HEDDLE_COMPONENTS_OPENCL_API_OPENCL_INTERNAL_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "components/hip/api/hip_services.h"
#include "components/opencl/api/objects/opencl_object.h"

enum {
    OPENCL_DEVICES_MAX = 64, /* GPUs of a platform that OpenCL shows */
    OPENCL_GROUP_MAX = 256,  /* work-items of a work-group that compilers expect without an
                                attribute, as AMD's own OpenCL answers */
    OPENCL_ALIGN = 256       /* bytes, of memory objects */
};

struct opencl_device {
    struct opencl_object object;
    int number; /* in HIP */
    struct driver_device_info info;
};

struct opencl_library {
    const struct hip_services *hip;
    const struct driver_api *api;
    struct opencl_object platform;
    struct opencl_device devices[OPENCL_DEVICES_MAX];
    uint32_t device_count;
};
extern struct opencl_library opencl;

/* ---- opencl_library.c ---- */

/* Locks and opens the platform. CL_SUCCESS, or why nothing can be done. opencl_leave() follows in
 * any case and returns `error`. */
cl_int opencl_enter(const char *function);
cl_int opencl_leave(cl_int error);
/* The error of OpenCL for one of the HIP library. */
cl_int opencl_error_of(hipError_t error);
cl_int opencl_status(enum driver_status status);
/* A line on stderr, with the function of OpenCL in front. */

/* A function of OpenCL that returns an error, `parameters` in parentheses, and one that makes an
 * object, whose last parameter is `errcode_ret`; its expression may set `error`. */
#define OPENCL_EXPORTED __attribute__((visibility("default"))) /* the loader looks for it */
#define OPENCL_CALL(name, parameters, ...)                                                         \
    cl_int CL_API_CALL name parameters                                                             \
    {                                                                                              \
        cl_int error = opencl_enter(#name);                                                        \
        return opencl_leave(error == CL_SUCCESS ? (__VA_ARGS__) : error);                          \
    }                                                                                              \
    cl_int CL_API_CALL name parameters
#define OPENCL_CREATE(type, name, parameters, ...)                                                 \
    type CL_API_CALL name parameters                                                               \
    {                                                                                              \
        cl_int error = opencl_enter(#name);                                                        \
        type made = error == CL_SUCCESS ? (__VA_ARGS__) : NULL;                                    \
        opencl_leave(error);                                                                       \
        if (errcode_ret)                                                                           \
            *errcode_ret = error;                                                                  \
        return made;                                                                               \
    }                                                                                              \
    type CL_API_CALL name parameters

/* A query of an object, by a function that takes a struct opencl_answer. */
#define OPENCL_QUERY(name, type, query_type, get)                                                  \
    OPENCL_CALL(name,                                                                              \
                (type handle, query_type query, size_t capacity, void *value, size_t *needed),     \
                get(handle, query, (struct opencl_answer){capacity, value, needed}))
/* The two functions that count the references of an object. */
#define OPENCL_COUNTED(name, type, kind, invalid)                                                  \
    OPENCL_CALL(clRetain##name, (type handle),                                                     \
                opencl_retain(kind, handle) ? CL_SUCCESS : invalid);                               \
    OPENCL_CALL(clRelease##name, (type handle), opencl_release(kind, handle) ? CL_SUCCESS : invalid)

/* The user of memory in messages of base/grow.h. */
#define OPENCL_LIBRARY "the OpenCL library"
/* Host memory: zeroed; the program ends when there is none. */
void *opencl_allocate(size_t size);
char *opencl_copy_text(const char *text); /* NULL as "" */

/* ---- answers to queries ---- */

struct opencl_answer {
    size_t capacity;
    void *value;
    size_t *needed;
};
cl_int opencl_answer(struct opencl_answer to, const void *bytes, size_t size);
cl_int opencl_answer_text(struct opencl_answer to, const char *text);
#define OPENCL_ANSWER(to, type, ...) opencl_answer(to, &(type){__VA_ARGS__}, sizeof(type))

#endif
