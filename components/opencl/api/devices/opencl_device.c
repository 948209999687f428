/* Devices: what each GPU of the description answers. */
#include "opencl_device.h"

#include "components/opencl/compiler/opencl_compiler.h"

#include "opencl_features.h"

void opencl_device_open(struct opencl_device *device, int number)
{
    opencl_object_begin(&device->object, OPENCL_DEVICE, NULL);
    device->number = number;
    device->info = *opencl.hip->device_info(number);
}

static cl_device_fp_config floats_of(const struct opencl_device *device)
{
    return CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF
           | CL_FP_FMA | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT
           | (opencl_compiler_keeps_denormals(device->info.isa) ? CL_FP_DENORM : 0);
}

static cl_int answer_sizes(const struct opencl_device *device, cl_device_info query,
                           struct opencl_answer to)
{
    const struct driver_device_info *info = &device->info;
    size_t most = OPENCL_GROUP_MAX;
    switch (query) {
    case CL_DEVICE_SINGLE_FP_CONFIG:
        return OPENCL_ANSWER(to, cl_device_fp_config, floats_of(device));
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        return OPENCL_ANSWER(to, cl_uint, info->compute_units);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
        return opencl_answer(to, (size_t[3]){most, most, most}, 3 * sizeof most);
    case CL_DEVICE_MAX_CLOCK_FREQUENCY:
        return OPENCL_ANSWER(to, cl_uint, (cl_uint)(info->clock_hz / 1000000));
    case CL_DEVICE_GLOBAL_MEM_SIZE:
        return OPENCL_ANSWER(to, cl_ulong, info->memory_bytes);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        return OPENCL_ANSWER(to, cl_ulong, info->memory_bytes / 4 * 3);
    case CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE: /* constant memory is global memory */
        return OPENCL_ANSWER(to, cl_ulong, info->memory_bytes / 4 * 3);
    case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE:
        return OPENCL_ANSWER(to, cl_ulong, info->l2_bytes);
    case CL_DEVICE_LOCAL_MEM_SIZE:
        return OPENCL_ANSWER(to, cl_ulong, info->lds_bytes_per_cu);
    case CL_DEVICE_MAX_NUM_SUB_GROUPS:
        return OPENCL_ANSWER(to, cl_uint, OPENCL_GROUP_MAX / HIP_WAVEFRONT);
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
        return OPENCL_ANSWER(to, cl_bool, info->shares_memory);
    case CL_DEVICE_COMPILER_AVAILABLE:
    case CL_DEVICE_LINKER_AVAILABLE:
        return OPENCL_ANSWER(to, cl_bool, opencl_compiler_is_available(info->isa));
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_int get_device_info(cl_device_id handle, cl_device_info query, struct opencl_answer to)
{
    const struct opencl_device *device = opencl_find(OPENCL_DEVICE, handle);
    if (!device)
        return CL_INVALID_DEVICE;
    size_t needed = 0;
    switch (query) {
    case CL_DEVICE_NAME:
        return opencl_answer_text(to, device->info.name);
    case CL_DEVICE_PLATFORM:
        return OPENCL_ANSWER(to, cl_platform_id, opencl.platform.handle);
    case CL_DEVICE_EXTENSIONS:
    case CL_DEVICE_EXTENSIONS_WITH_VERSION:
        return opencl_extensions_answer(device->info.isa,
                                        query == CL_DEVICE_EXTENSIONS_WITH_VERSION, to);
    default:
        break;
    }
    if (answer_sizes(device, query, (struct opencl_answer){.needed = &needed}) == CL_SUCCESS)
        return answer_sizes(device, query, to);
    return opencl_feature_answer(query, to);
}

OPENCL_QUERY(clGetDeviceInfo, cl_device_id, cl_device_info, get_device_info);
