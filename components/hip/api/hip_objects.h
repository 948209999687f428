/* Types of what the library makes for programs: allocations, modules and functions. The interfaces
 * of hip_services.h see them, too, but not the state of the library (hip_internal.h). */
#ifndef HEDDLE_COMPONENTS_HIP_API_HIP_OBJECTS_H
#define HEDDLE_COMPONENTS_HIP_API_HIP_OBJECTS_H

/* The library is compiled with hidden names; what its users may call is declared here. */
#pragma GCC visibility push(default)
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#pragma GCC visibility pop

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "components/amd/isa/object/code_object.h"

enum {
    HIP_DEVICES_MAX = 576,     /* as many as a driver has, and some of the program's own */
    HIP_WAVEFRONT = 64,        /* work-items; all supported architectures of AMD's */
    HIP_ALLOCATION_ALIGN = 256 /* bytes; what hipMalloc promises (HIP programming guide) */
};

enum hip_allocation_kind {
    HIP_DEVICE_MEMORY,
    HIP_MODULE_MEMORY,
    HIP_MANAGED_MEMORY,
    HIP_PINNED_MEMORY,
    HIP_REGISTERED_MEMORY
};

/* The call of the program that made something: what a check of the program names. */
struct hip_origin {
    const char *call; /* "hipMalloc"; NULL: the library itself */
    uint64_t code;    /* where the program continues after the call; 0: unknown */
};

struct hip_allocation {
    uint64_t address;
    uint64_t size;
    enum hip_allocation_kind kind;
    int device;
    unsigned flags;
    uint32_t number;        /* from 1, in order of allocation: its name in a recording */
    uint32_t mapped_number; /* host memory that kernels use: its name as device memory, or 0 */
    bool is_wanted;         /* its address went to the device: mapped before the next launch */
    const void *pool;       /* handle of the pool that it was made from; NULL: none */
    struct hip_origin origin;
};

struct hip_function {
    struct hip_module *module;
    void *handle; /* NULL: the program has not asked for one */
    const struct code_object_kernel *kernel;
    char *name;      /* as in the source, for people; the kernel's own name is the symbol */
    bool is_refused; /* it cannot be launched; the reason was written */
    uint32_t dynamic_lds_max;   /* bytes that a launch may have; 0: the device's default */
    bool allows_large_clusters; /* PTX only: more blocks in a cluster than all devices have */
    uint8_t descriptor[64];
};

struct hip_module {
    struct hip_module *next;   /* in order of loading */
    void *handle;              /* NULL: code that the program contains */
    struct code_object object; /* for PTX only its kernels and variables */
    bool is_ptx;
    int device;
    uint64_t base;                  /* device address of linked address 0 */
    struct hip_function *functions; /* parallel to object.kernels */
};

/* A function of the program that a stream calls. */
struct hip_host_action {
    hipHostFn_t function;
    hipStreamCallback_t callback; /* or this one, of a captured stream */
    void *data;
};

#endif
