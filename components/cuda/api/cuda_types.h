/* Structures and numbers of CUDA's runtime that differ from HIP's: own declarations, whose layouts
 * are those of the manual "CUDA Runtime API" (data structures), for x86-64. */
#ifndef HEDDLE_COMPONENTS_CUDA_API_CUDA_TYPES_H
#define HEDDLE_COMPONENTS_CUDA_API_CUDA_TYPES_H

#pragma GCC visibility push(default)
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#pragma GCC visibility pop

#include <stddef.h>
#include <stdint.h>

/* cudaDeviceProp */
typedef struct {
    char bytes[16];
} cudaUUID_t;
#define HEDDLE_PROPERTY(type, name, dimension) type name dimension;
#define HEDDLE_NO_PROPERTY(type, name, dimension)
struct cuda_properties_12 {
#define HEDDLE_PROPERTY_12 HEDDLE_PROPERTY
#define HEDDLE_PROPERTY_13 HEDDLE_NO_PROPERTY
#include "components/cuda/include/heddle/properties.def"
    int reserved[63];
};
struct cuda_properties_13 {
#undef HEDDLE_PROPERTY_12
#undef HEDDLE_PROPERTY_13
#define HEDDLE_PROPERTY_12 HEDDLE_NO_PROPERTY
#define HEDDLE_PROPERTY_13 HEDDLE_PROPERTY
#include "components/cuda/include/heddle/properties.def"
    int reserved[56];
};
#undef HEDDLE_PROPERTY
#undef HEDDLE_PROPERTY_12
#undef HEDDLE_PROPERTY_13
enum { CUDA_PROPERTIES_11_BYTES = offsetof(struct cuda_properties_12, hostRegisterSupported) };
_Static_assert(CUDA_PROPERTIES_11_BYTES == 728, "cudaDeviceProp of CUDA 11");
_Static_assert(sizeof(struct cuda_properties_12) == 1032, "cudaDeviceProp of CUDA 12");
_Static_assert(sizeof(struct cuda_properties_13) == 1008, "cudaDeviceProp of CUDA 13");

enum {
    CUDA_STREAM_LEGACY = 1,
    CUDA_STREAM_PER_THREAD = 2,
    CUDA_MEMORY_UNREGISTERED = 0, /* cudaMemoryType */
    CUDA_MEMORY_HOST,
    CUDA_MEMORY_DEVICE,
    CUDA_MEMORY_MANAGED,
    CUDA_LOCATION_DEVICE = 1, /* cudaMemLocationType */
    CUDA_LOCATION_HOST,
    CUDA_ATTRIBUTE_CLUSTER = 4, /* cudaLaunchAttributeID */
    CUDA_ATTRIBUTE_COOPERATIVE = 2
};

struct cuda_pointer_attributes {
    int type;
    int device;
    void *device_pointer;
    void *host_pointer; /* 13 has 8 reserved words after it */
};

struct cuda_location {
    int type;
    int id;
};

/* cudaChannelFormatDesc */
struct cuda_channel {
    int x, y, z, w;
    int kind;
};

/* cudaResourceDesc of what there is: the union's other members are shorter. */
enum cuda_resource_kind {
    CUDA_RESOURCE_ARRAY,
    CUDA_RESOURCE_MIPMAPS,
    CUDA_RESOURCE_LINEAR,
    CUDA_RESOURCE_PITCHED
};
struct cuda_resource {
    int kind;
    union {
        struct cuda_array *array;
        struct {
            void *pointer;
            struct cuda_channel channel;
            size_t width; /* CUDA_RESOURCE_LINEAR: bytes */
            size_t height, pitch;
        } memory;
    };
};

/* The front of cudaTextureDesc. */
struct cuda_texture {
    int address[3];
    int interpolates, normalised_read, srgb;
    float border[4];
    int normalised_coordinates;
};

struct cuda_function_attributes {
    size_t shared_bytes;
    size_t constant_bytes;
    size_t local_bytes;
    int max_threads;
    int registers;
    int ptx_version;
    int binary_version;
    int cache_mode;
    int max_dynamic_shared_bytes;
    int preferred_carveout;
    int cluster_must_be_set;
    int required_cluster[3];
    int cluster_scheduling_policy;
    int non_portable_cluster;
    int reserved[16];
};

/* cudaKernelNodeParams */
struct cuda_kernel_node {
    void *function;
    dim3 grid;
    dim3 block;
    unsigned shared;
    void **values;
    void **extra;
};

/* cudaMemsetParams */
struct cuda_fill_node {
    void *to;
    size_t pitch;
    unsigned value;
    unsigned element;
    size_t width;
    size_t height;
};

/* cudaGraphExecUpdateResultInfo */
struct cuda_update_result {
    int result;
    hipGraphNode_t wrong;
    hipGraphNode_t from;
};

/* cudaLaunchAttribute and cudaLaunchConfig_t */
struct cuda_launch_attribute {
    int id;
    char padding[4];
    union {
        char bytes[64];
        int cooperative;
        unsigned cluster[3];
    } value;
};
struct cuda_launch_config {
    dim3 grid;
    dim3 block;
    size_t shared;
    hipStream_t stream;
    struct cuda_launch_attribute *attributes;
    unsigned attribute_count;
};

#endif
