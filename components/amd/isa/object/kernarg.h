/* Kernel arguments: the contents of the buffer that the kernel's argument pointer points to.
 *
 * The program gives the explicit arguments; hidden ones follow from the geometry of the launch
 * (LLVM AMDGPU guide, "Kernel Argument" and the value kinds of the metadata, versions 2 to 6). A
 * hidden argument for a service that the host does not offer is zero if kernels test it (printf,
 * synchronisation of grids). Otherwise it is an address that is never mapped and that lets a fault
 * say which service was wanted. Used by front ends when they launch. */
#ifndef HEDDLE_COMPONENTS_AMD_ISA_OBJECT_KERNARG_H
#define HEDDLE_COMPONENTS_AMD_ISA_OBJECT_KERNARG_H

#include "code_object.h"

/* Pointers to what a kernel can't have, below the lowest address that a program on the host can
 * have (Linux, vm.mmap_min_addr). */
enum {
    KERNARG_QUEUE_NONE = 0x2000, /* the default queue of the device */
    KERNARG_HEAP_NONE = 0x4000,  /* the heap of malloc and new in device code */
    KERNARG_NONE_END = 0x10000
};

struct kernarg_geometry {
    uint32_t grid[3];  /* work-items */
    uint32_t block[3]; /* work-items a work-group */
    uint32_t dynamic_lds_bytes;
    uint64_t shared_aperture,
        private_aperture;     /* flat address of LDS and scratch; low 32 bits zero */
    uint64_t queue;           /* device address of the queue object, 0 for none */
    bool meets;               /* the work-groups of the launch may meet (grid sync) */
    uint64_t hostcall_buffer; /* device address of the buffer for calls of the host, 0 for none */
    uint64_t printf_buffer;   /* and of that for printf of OpenCL */
    uint64_t offset[3];       /* offset of the grid's first work-item */
    uint32_t dimensions;      /* number that the program gave; 0: as many as the grid needs */
};

/* The flat addresses of LDS and scratch on a device of architecture `gfx` ("gfx906"). */
void kernarg_set_apertures(struct kernarg_geometry *geometry, const char *gfx);

/* Bytes of the buffer that the kernel needs; at least 1, so that it has an address. */
uint32_t kernarg_size(const struct code_object_kernel *kernel);

/* Writes all arguments into `buffer` (kernarg_size() bytes). `values[i]` points to explicit
 * argument i, whose size is in the metadata. Returns the number of the first argument without a
 * value, or -1. */
int kernarg_fill(const struct code_object_kernel *kernel, void *const *values,
                 const struct kernarg_geometry *geometry, uint8_t *buffer);

/* Writes all arguments as kernarg_fill() does, from explicit arguments that are already laid out,
 * `size` bytes of them. Returns the number of the first argument that is not whole in there, or
 * -1. */
int kernarg_fill_packed(const struct code_object_kernel *kernel, const void *packed, size_t size,
                        const struct kernarg_geometry *geometry, uint8_t *buffer);

/* The 64-byte kernel descriptor of version 3 and later; for version 2 one that says the same. */
void kernarg_make_descriptor(const struct code_object *object,
                             const struct code_object_kernel *kernel, uint8_t descriptor[64]);

#endif
