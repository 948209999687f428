/* Declarations that the files of CUDA's runtime library share, and the types in which CUDA differs
 * from HIP.
 *
 * The library is a second front end of the HIP library: gen_calls.py makes its exported functions
 * of cuda_calls.tab, and nearly all of them call a function of HIP. Errors have the same numbers,
 * so have most flags, and handles are those of HIP. The functions below convert values that differ.
 * Functions of HIP are called between cuda_begin() and cuda_end(), by which they know that the
 * program uses CUDA, and under which name. No function here holds the lock of the HIP library
 * unless it says so. */
#ifndef HEDDLE_COMPONENTS_CUDA_API_CUDA_INTERNAL_H
#define HEDDLE_COMPONENTS_CUDA_API_CUDA_INTERNAL_H

#include "components/hip/api/hip_services.h"

#include "cuda_types.h"

#define CUDA_EXPORTED __attribute__((visibility("default")))

/* The services of the HIP library that this library uses. */
const struct hip_services *cuda_services(void);
/* Around a function of CUDA. The second one keeps the error for cudaGetLastError() and returns it.
 */
const char *cuda_begin(const char *function);
hipError_t cuda_end(const char *before, hipError_t error);
/* A function that is not there: a message, and cudaErrorNotSupported. */
hipError_t cuda_fail_missing(const char *function);
hipError_t cuda_nothing(void); /* a call without effect succeeds */

/* A handle of CUDA as one of HIP: the two of the default streams have numbers of their own. The
 * second one is for programs with a default stream for each thread. */
hipStream_t cuda_stream(hipStream_t stream);
hipStream_t cuda_stream_own(hipStream_t stream);

/* ---- cuda_error.c ---- */

const char *cuda_error_name(int error);
const char *cuda_error_text(int error);

/* ---- cuda_device.c ---- */

/* The structure as versions 11, 12 and 13 have it; version 11's is the front of version 12's. */
hipError_t cuda_properties_11(void *properties, int device);
hipError_t cuda_properties_12(struct cuda_properties_12 *properties, int device);
hipError_t cuda_properties_13(struct cuda_properties_13 *properties, int device);
hipError_t cuda_attribute(int *value, int attribute, int device);
hipError_t cuda_peer_attribute(int *value, int attribute, int device, int peer);
hipError_t cuda_choose_device(int *device, const void *wanted);
hipError_t cuda_set_valid_devices(const int *devices, int count);
hipError_t cuda_get_limit(size_t *value, int limit);
hipError_t cuda_set_limit(int limit, size_t value);
hipError_t cuda_version(int *version, int number);

/* ---- cuda_memory.c ---- */

/* `more` bytes after the structure are zeroed, too. */
hipError_t cuda_pointer_attributes(struct cuda_pointer_attributes *attributes, const void *pointer,
                                   size_t more);
hipError_t cuda_host_register(void *pointer, size_t size, unsigned flags);
/* The number of the device, hipCpuDeviceId for the host, or one that HIP refuses. */
int cuda_location_device(struct cuda_location location);
struct cuda_channel cuda_channel(int x, int y, int z, int w, int kind);

/* ---- cuda_texture.c ---- */

hipError_t cuda_make_array(struct cuda_array **array, const struct cuda_channel *channel,
                           size_t width, size_t height, unsigned flags);
hipError_t cuda_make_volume(struct cuda_array **array, const struct cuda_channel *channel,
                            hipExtent size, unsigned flags);
hipError_t cuda_free_array(struct cuda_array *array);
hipError_t cuda_array_info(struct cuda_channel *channel, hipExtent *size, unsigned *flags,
                           const struct cuda_array *array);
/* A byte of an array, for copies of rectangles; a copy from or to NULL is refused. */
void *cuda_array_at(const struct cuda_array *array, size_t x, size_t y);
size_t cuda_array_pitch(const struct cuda_array *array);
hipError_t cuda_copy_to_array(struct cuda_array *array, size_t x, size_t y, const void *from,
                              size_t count, hipMemcpyKind kind);
hipError_t cuda_copy_from_array(void *to, const struct cuda_array *array, size_t x, size_t y,
                                size_t count, hipMemcpyKind kind);
/* Arrays of the copy become what they are: pitched memory, with widths in bytes. */
const hipMemcpy3DParms *cuda_copy_without_arrays(const hipMemcpy3DParms *copy,
                                                 hipMemcpy3DParms *converted);
hipError_t cuda_make_texture(uint64_t *object, const struct cuda_resource *resource,
                             const struct cuda_texture *texture, const void *view);
hipError_t cuda_make_surface(uint64_t *object, const struct cuda_resource *resource);
hipError_t cuda_free_object(uint64_t object);

/* ---- cuda_stream.c ---- */

hipError_t cuda_launch_host_function(hipStream_t stream, hipHostFn_t function, void *data);
hipError_t cuda_stream_id(hipStream_t stream, unsigned long long *id);
hipError_t cuda_stream_device(hipStream_t stream, int *device);
/* Windows of caches and priorities, which change nothing: what was set is not kept. */
hipError_t cuda_set_stream_attribute(hipStream_t stream, int attribute, const void *value);
hipError_t cuda_get_stream_attribute(hipStream_t stream, int attribute, void *value);
hipError_t cuda_copy_stream_attributes(hipStream_t to, hipStream_t from);
hipError_t cuda_exchange_capture_mode(hipStreamCaptureMode *mode);
/* `graph` and `dependencies`, which a program may ask for, are not known. */
hipError_t cuda_capture_info(hipStream_t stream, hipStreamCaptureStatus *status,
                             unsigned long long *id, const void *graph, const void *dependencies);

/* ---- cuda_graph.c ---- */

/* Parameters of a node as HIP has them, in `params`; NULL for NULL, which HIP refuses. */
const hipKernelNodeParams *cuda_kernel_node(const struct cuda_kernel_node *kernel,
                                            hipKernelNodeParams *params);
const hipMemsetParams *cuda_fill_node(const struct cuda_fill_node *fill, hipMemsetParams *params);
#define CUDA_KERNEL_NODE(kernel) cuda_kernel_node(kernel, &(hipKernelNodeParams){0})
#define CUDA_FILL_NODE(fill)     cuda_fill_node(fill, &(hipMemsetParams){0})
hipError_t cuda_update_graph(hipGraphExec_t exec, hipGraph_t graph,
                             struct cuda_update_result *result);
hipError_t cuda_node_attribute(hipGraphNode_t node);
hipError_t cuda_add_copy_to_symbol(hipGraphNode_t *node, hipGraph_t graph,
                                   const hipGraphNode_t *dependencies, size_t count,
                                   const void *symbol, const void *from, size_t size, size_t offset,
                                   hipMemcpyKind kind);
hipError_t cuda_add_copy_from_symbol(hipGraphNode_t *node, hipGraph_t graph,
                                     const hipGraphNode_t *dependencies, size_t count, void *to,
                                     const void *symbol, size_t size, size_t offset,
                                     hipMemcpyKind kind);
/* `edges`: kinds of dependencies, of which only the plain one is there. */
hipError_t cuda_add_dependencies(hipGraph_t graph, const hipGraphNode_t *from,
                                 const hipGraphNode_t *to, const void *edges, size_t count);
hipError_t cuda_get_kernel_node(hipGraphNode_t node, struct cuda_kernel_node *kernel);
hipError_t cuda_get_fill_node(hipGraphNode_t node, struct cuda_fill_node *fill);
/* All edges are plain; `edges` may be NULL. */
hipError_t cuda_get_edges(hipGraph_t graph, hipGraphNode_t *from, hipGraphNode_t *to, void *edges,
                          size_t *count);
hipError_t cuda_get_dependencies(hipGraphNode_t node, hipGraphNode_t *dependencies, void *edges,
                                 size_t *count);
hipError_t cuda_get_dependents(hipGraphNode_t node, hipGraphNode_t *dependents, void *edges,
                               size_t *count);
hipError_t cuda_set_enabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned enabled);
hipError_t cuda_get_enabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned *enabled);
hipError_t cuda_node_type(hipGraphNode_t node, int *type);

/* ---- cuda_launch.c ---- */

hipError_t cuda_launch(const void *function, dim3 grid, dim3 block, void **values, size_t shared,
                       hipStream_t stream);
hipError_t cuda_launch_cooperative(const void *function, dim3 grid, dim3 block, void **values,
                                   size_t shared, hipStream_t stream);
hipError_t cuda_launch_config(const struct cuda_launch_config *config, const void *function,
                              void **values, int per_thread);
hipError_t cuda_function_attributes(struct cuda_function_attributes *attributes,
                                    const void *function);
hipError_t cuda_set_function_attribute(const void *function, int attribute, int value);
hipError_t cuda_function_name(const char **name, const void *function);
/* Kernels are known by their host functions. */
hipError_t cuda_same_handle(const void **handle, const void *symbol);
hipError_t cuda_most_clusters(int *count, const void *function,
                              const struct cuda_launch_config *config);
hipError_t cuda_largest_cluster(int *blocks, const void *function,
                                const struct cuda_launch_config *config);
hipError_t cuda_available_shared(size_t *bytes, const void *function, int blocks, int threads);

/* ---- cuda_registration.c ---- */

void **cuda_register_binary(const void *wrapper);
void cuda_registration_step(void **handle); /* a step that needs nothing */
void cuda_register_managed(void **handle, void **pointer, char *name, size_t size);
char cuda_init_module(void **handle);

hipError_t hipProfilerStart(void);
hipError_t hipProfilerStop(void);
#include <hip/amd_detail/amd_hip_runtime_pt_api.h>

#endif
