/* Functions beside HIP for programs that know that they run on heddle's HIP library. Other
 * libraries lack these functions: they are weak, so a program tests `if (heddleUnifyDevices)` and
 * links everywhere.
 *
 * A device made here is a further HIP device: hipSetDevice() takes its number, memory is allocated
 * and kernels are launched on it as on any other. Numbers follow those of the platform's GPUs and
 * are used again after heddleDestroyDevice(). */
#ifndef HEDDLE_COMPONENTS_HIP_API_HEDDLE_HIP_H
#define HEDDLE_COMPONENTS_HIP_API_HEDDLE_HIP_H

#ifdef __cplusplus
extern "C" {
#endif

/* Makes one device of several GPUs, which must have the same instruction set: the pages of an
 * allocation and the work-groups of a launch are spread over them, evenly and in consecutive runs.
 * A GPU may be part of several. hipErrorInvalidDevice: no such GPU. hipErrorInvalidValue: none, or
 * one twice. */
__attribute__((weak)) int heddleUnifyDevices(int *device, const int *gpus, int count);

/* Makes a device of a GPU or unified device in a process of its own, with its own page table:
 * allocations and code of other processes are not mapped there, and a kernel that touches them
 * faults. */
__attribute__((weak)) int heddleCreateContext(int *device, int like);

/* Ends a device made by one of the above: its work is waited for, its streams are gone, and with a
 * context all its memory. It must not be the calling thread's current one. */
__attribute__((weak)) int heddleDestroyDevice(int device);

/* Allocates memory of the current device at a given address, which lies on a page's start and in
 * the range of device memory: where the device's own process has nothing. Another process may have
 * memory there; then kernels, copies and hipFree() mean the memory of the device they run on.
 * hipErrorInvalidValue: something of this process lies there. */
__attribute__((weak)) int heddleAllocateAt(void *pointer, unsigned long bytes);

/* Moves the pages that touch [pointer, pointer + bytes), inside of one allocation, to a GPU of the
 * platform. Only the page table changes: contents are lost. */
__attribute__((weak)) int heddleRemap(void *pointer, unsigned long bytes, int gpu);

/* The calling thread's next launch, of a kernel of PTX, is in clusters of blocks: a cluster of
 * `cluster` as recordings of programs have it. */
__attribute__((weak)) int heddleNextCluster(unsigned cluster);

/* The GPU whose memory holds the page of `pointer`; -1: it lies in the host's. */
__attribute__((weak)) int heddlePageOwner(int *gpu, const void *pointer);

#ifdef __cplusplus
}
#endif

#endif
