/* What the constructors and launches that hipcc generates call; clang's CGCUDANV.cpp has the types.
 * hip_registration.c and hip_launch.c define them; the registrations of CUDA programs end here,
 * too.
 */
#ifndef HEDDLE_HIP_REGISTRATION_H
#define HEDDLE_HIP_REGISTRATION_H

#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__
#endif
#include <hip/hip_runtime_api.h>

#pragma GCC visibility push(default)
void **__hipRegisterFatBinary(const void *wrapper);
void __hipUnregisterFatBinary(void **handle);
void __hipRegisterFunction(void **handle, const void *host_function, char *device_function,
                           const char *device_name, unsigned thread_limit, void *thread_id,
                           void *block_id, dim3 *block, dim3 *grid, int *wavefront);
void __hipRegisterVar(void **handle, void *host_variable, char *host_name, char *device_name,
                      int external, size_t size, int constant, int global);
void __hipRegisterManagedVar(void *handle, void **pointer, void *initial, const char *name,
                             size_t size, unsigned align);
void __hipRegisterSurface(void **handle, void *host_variable, char *host_name, char *device_name,
                          int type, int external);
void __hipRegisterTexture(void **handle, void *host_variable, char *host_name, char *device_name,
                          int type, int normalised, int external);
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t dynamic_lds,
                                      hipStream_t stream);
hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *dynamic_lds,
                                     hipStream_t *stream);
#pragma GCC visibility pop

#endif
