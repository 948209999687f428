/* Answers clGetDeviceInfo() for what is the same on all devices. The minimum of what the
 * specification asks is in its table of clGetDeviceInfo. All targets have IEEE floats of 16, 32 and
 * 64 bits (AMD's instruction set manuals of GCN 3, Vega and CDNA). */
#include "opencl_features.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "components/opencl/api/memory/opencl_image.h"
#include "components/opencl/compiler/opencl_compiler.h"

#define WIDE_FLOAT                                                                                 \
    (CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_ROUND_TO_ZERO                   \
     | CL_FP_ROUND_TO_INF | CL_FP_FMA)

/* Facts, by the width of their type. */
static const struct {
    cl_device_info query;
    uint8_t bytes;
    uint64_t value;
} facts[] = {
#define UINT(query, value)                                                                         \
    {                                                                                              \
        query, sizeof(cl_uint), value                                                              \
    }
#define ULONG(query, value)                                                                        \
    {                                                                                              \
        query, sizeof(cl_ulong), value                                                             \
    }
#define SIZE(query, value)                                                                         \
    {                                                                                              \
        query, sizeof(size_t), value                                                               \
    }
    ULONG(CL_DEVICE_TYPE, CL_DEVICE_TYPE_GPU),
    UINT(CL_DEVICE_VENDOR_ID, 0x1002), /* AMD's number on PCI */
    UINT(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, 3),
    SIZE(CL_DEVICE_MAX_WORK_GROUP_SIZE, OPENCL_GROUP_MAX),
    UINT(CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, 4),
    UINT(CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, 2),
    UINT(CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, 1),
    UINT(CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, 1),
    UINT(CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, 1),
    UINT(CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, 1),
    UINT(CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, 1),
    UINT(CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, 4),
    UINT(CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, 2),
    UINT(CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, 1),
    UINT(CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, 1),
    UINT(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, 1),
    UINT(CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, 1),
    UINT(CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, 1),
    UINT(CL_DEVICE_ADDRESS_BITS, 64),
    UINT(CL_DEVICE_IMAGE_SUPPORT, CL_TRUE),
    UINT(CL_DEVICE_MAX_READ_IMAGE_ARGS, OPENCL_IMAGES_MAX),
    UINT(CL_DEVICE_MAX_WRITE_IMAGE_ARGS, OPENCL_IMAGES_MAX),
    UINT(CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, OPENCL_IMAGES_MAX),
    SIZE(CL_DEVICE_IMAGE2D_MAX_WIDTH, OPENCL_IMAGE_WIDTH_MAX),
    SIZE(CL_DEVICE_IMAGE2D_MAX_HEIGHT, OPENCL_IMAGE_WIDTH_MAX),
    SIZE(CL_DEVICE_IMAGE3D_MAX_WIDTH, OPENCL_IMAGE_DEPTH_MAX),
    SIZE(CL_DEVICE_IMAGE3D_MAX_HEIGHT, OPENCL_IMAGE_DEPTH_MAX),
    SIZE(CL_DEVICE_IMAGE3D_MAX_DEPTH, OPENCL_IMAGE_DEPTH_MAX),
    SIZE(CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, OPENCL_IMAGE_BUFFER_MAX),
    SIZE(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, OPENCL_IMAGE_DEPTH_MAX),
    UINT(CL_DEVICE_IMAGE_PITCH_ALIGNMENT, 1),
    UINT(CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, 1),
    UINT(CL_DEVICE_MAX_SAMPLERS, 16),
    UINT(CL_DEVICE_MAX_PIPE_ARGS, 0),
    UINT(CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, 0),
    UINT(CL_DEVICE_PIPE_MAX_PACKET_SIZE, 0),
    UINT(CL_DEVICE_PIPE_SUPPORT, CL_FALSE),
    SIZE(CL_DEVICE_MAX_PARAMETER_SIZE, OPENCL_ARGUMENTS_MAX),
    UINT(CL_DEVICE_MEM_BASE_ADDR_ALIGN, OPENCL_ALIGN * 8), /* bits */
    UINT(CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, 128),
    ULONG(CL_DEVICE_HALF_FP_CONFIG, WIDE_FLOAT),
    ULONG(CL_DEVICE_DOUBLE_FP_CONFIG, WIDE_FLOAT),
    UINT(CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, CL_READ_WRITE_CACHE),
    UINT(CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, 64),
    UINT(CL_DEVICE_MAX_CONSTANT_ARGS, 8),
    UINT(CL_DEVICE_LOCAL_MEM_TYPE, CL_LOCAL),
    UINT(CL_DEVICE_ERROR_CORRECTION_SUPPORT, CL_FALSE),
    SIZE(CL_DEVICE_PROFILING_TIMER_RESOLUTION, OPENCL_TIMER_NS),
    UINT(CL_DEVICE_ENDIAN_LITTLE, CL_TRUE),
    UINT(CL_DEVICE_AVAILABLE, CL_TRUE),
    ULONG(CL_DEVICE_EXECUTION_CAPABILITIES, CL_EXEC_KERNEL),
    ULONG(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES,
          CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE),
    ULONG(CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, 0),
    UINT(CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, 0),
    UINT(CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, 0),
    UINT(CL_DEVICE_MAX_ON_DEVICE_QUEUES, 0),
    UINT(CL_DEVICE_MAX_ON_DEVICE_EVENTS, 0),
    ULONG(CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, 0),
    SIZE(CL_DEVICE_PRINTF_BUFFER_SIZE, OPENCL_PRINTF_BYTES),
    UINT(CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, CL_TRUE),
    UINT(CL_DEVICE_PARTITION_MAX_SUB_DEVICES, 0),
    ULONG(CL_DEVICE_PARTITION_AFFINITY_DOMAIN, 0),
    SIZE(CL_DEVICE_PARENT_DEVICE, 0),
    UINT(CL_DEVICE_REFERENCE_COUNT, 1),
    ULONG(CL_DEVICE_SVM_CAPABILITIES,
          CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER),
    UINT(CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT, 0),
    UINT(CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT, 0),
    UINT(CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT, 0),
    UINT(CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, CL_FALSE),
    ULONG(CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES,
          CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_ORDER_ACQ_REL
              | CL_DEVICE_ATOMIC_ORDER_SEQ_CST | CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM
              | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP | CL_DEVICE_ATOMIC_SCOPE_DEVICE),
    ULONG(CL_DEVICE_ATOMIC_FENCE_CAPABILITIES,
          CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_ORDER_ACQ_REL
              | CL_DEVICE_ATOMIC_ORDER_SEQ_CST | CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM
              | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP | CL_DEVICE_ATOMIC_SCOPE_DEVICE),
    UINT(CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, CL_TRUE),
    UINT(CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, CL_TRUE),
    UINT(CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT, CL_TRUE),
    SIZE(CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, HIP_WAVEFRONT),
    SIZE(CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, 64 << 10),
    SIZE(CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE, 64 << 10),
    UINT(CL_DEVICE_NUMERIC_VERSION, CL_MAKE_VERSION(3, 0, 0)),
#undef UINT
#undef ULONG
#undef SIZE
};

static const struct {
    cl_device_info query;
    const char *text;
} texts[] = {
    {CL_DEVICE_VENDOR, "heddle"},
    {CL_DRIVER_VERSION, "3.0"},
    {CL_DEVICE_PROFILE, "FULL_PROFILE"},
    {CL_DEVICE_VERSION, "OpenCL 3.0 heddle"},
    {CL_DEVICE_OPENCL_C_VERSION, "OpenCL C 1.2 heddle"},
    {CL_DEVICE_BUILT_IN_KERNELS, ""},
    {CL_DEVICE_IL_VERSION, ""},
    {CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED, ""},
};

static const cl_name_version languages[] = {
    {CL_MAKE_VERSION(1, 0, 0), "OpenCL C"}, {CL_MAKE_VERSION(1, 1, 0), "OpenCL C"},
    {CL_MAKE_VERSION(1, 2, 0), "OpenCL C"}, {CL_MAKE_VERSION(2, 0, 0), "OpenCL C"},
    {CL_MAKE_VERSION(3, 0, 0), "OpenCL C"},
};

static const cl_name_version features[] = {
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_3d_image_writes"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_atomic_order_acq_rel"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_atomic_order_seq_cst"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_atomic_scope_device"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_fp64"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_generic_address_space"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_images"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_int64"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_program_scope_global_variables"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_read_write_images"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_subgroups"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_work_group_collective_functions"},
};

static cl_int answer_list(cl_device_info query, struct opencl_answer to)
{
    switch (query) {
    case CL_DEVICE_OPENCL_C_ALL_VERSIONS:
        return opencl_answer(to, languages, sizeof languages);
    case CL_DEVICE_OPENCL_C_FEATURES:
        return opencl_answer(to, features, sizeof features);
    case CL_DEVICE_ILS_WITH_VERSION:
    case CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION:
        return opencl_answer(to, NULL, 0);
    case CL_DEVICE_PARTITION_PROPERTIES:
    case CL_DEVICE_PARTITION_TYPE:
        return OPENCL_ANSWER(to, cl_device_partition_property, 0);
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int opencl_feature_answer(cl_device_info query, struct opencl_answer to)
{
    for (size_t i = 0; i < ARRAY_COUNT(facts); i++)
        if (facts[i].query == query)
            return opencl_answer(to, &facts[i].value, facts[i].bytes); /* little-endian host */
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++)
        if (texts[i].query == query)
            return opencl_answer_text(to, texts[i].text);
    return answer_list(query, to);
}

/* Extensions come from the library, and from the compiler for the device. */
static char *extensions_of(const char *isa)
{
    const char *compiled = opencl_compiler_extensions(isa);
    size_t size = strlen(compiled) + 64;
    char *text = opencl_allocate(size);
    snprintf(text, size, "cl_khr_icd cl_khr_image2d_from_buffer%s%s", *compiled ? " " : "",
             compiled);
    return text;
}

cl_int opencl_extensions_answer(const char *isa, bool versions, struct opencl_answer to)
{
    char *text = extensions_of(isa), *rest = NULL;
    cl_int error;
    if (versions) {
        cl_name_version list[64] = {{0}};
        size_t count = 0;
        for (char *name = strtok_r(text, " ", &rest); name && count < 64;
             name = strtok_r(NULL, " ", &rest)) {
            list[count].version = CL_MAKE_VERSION(1, 0, 0);
            snprintf(list[count++].name, sizeof list[0].name, "%s", name);
        }
        error = opencl_answer(to, list, count * sizeof list[0]);
    } else {
        error = opencl_answer_text(to, text);
    }
    free(text);
    return error;
}
