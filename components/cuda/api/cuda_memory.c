/* Questions about pointers, registered memory, and where managed memory is to be. */
#include <string.h>

#include "cuda_internal.h"

enum { HOST_REGISTER_READ_ONLY = 8, DEVICE_NONE = -2, UNKNOWN_LOCATION = -3 };

/* A pointer of the program's own is no error, as it is with HIP. */
static struct cuda_pointer_attributes unregistered(const void *pointer)
{
    struct cuda_pointer_attributes attributes = {.type = CUDA_MEMORY_UNREGISTERED,
                                                 .device = DEVICE_NONE};
    memcpy(&attributes.host_pointer, &pointer, sizeof pointer);
    return attributes;
}

hipError_t cuda_pointer_attributes(struct cuda_pointer_attributes *attributes, const void *pointer,
                                   size_t more)
{
    hipPointerAttribute_t from;
    if (!attributes)
        return hipErrorInvalidValue;
    const hipError_t last = hipPeekAtLastError();
    hipError_t error = hipPointerGetAttributes(&from, pointer);
    if (error != hipSuccess && error != hipErrorInvalidValue)
        return error;
    cuda_services()->set_last_error(last);
    memset(attributes + 1, 0, more);
    *attributes = unregistered(pointer);
    if (error == hipSuccess)
        *attributes = (struct cuda_pointer_attributes){
            .type = from.isManaged                           ? CUDA_MEMORY_MANAGED
                    : from.memoryType == hipMemoryTypeDevice ? CUDA_MEMORY_DEVICE
                                                             : CUDA_MEMORY_HOST,
            .device = from.device,
            .device_pointer = from.devicePointer,
            .host_pointer = from.hostPointer};
    return hipSuccess;
}

/* That the device only reads is a promise which needs nothing. */
hipError_t cuda_host_register(void *pointer, size_t size, unsigned flags)
{
    return hipHostRegister(pointer, size, flags & ~(unsigned)HOST_REGISTER_READ_ONLY);
}

int cuda_location_device(struct cuda_location location)
{
    return location.type == CUDA_LOCATION_DEVICE ? location.id
           : location.type == CUDA_LOCATION_HOST ? hipCpuDeviceId
                                                 : UNKNOWN_LOCATION;
}

struct cuda_channel cuda_channel(int x, int y, int z, int w, int kind)
{
    cuda_services()->report_call("cudaCreateChannelDesc");
    return (struct cuda_channel){x, y, z, w, kind};
}
