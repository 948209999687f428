/* What the tests of the HIP library share: its entry points that have no header, the mock
 * platform's state, and an embedded binary as hipcc's constructors would register it. */
#ifndef HEDDLE_TEST_HIP_FIXTURE_H
#define HEDDLE_TEST_HIP_FIXTURE_H

#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>

#include "mock_platform.h"

void **__hipRegisterFatBinary(const void *wrapper);
void __hipUnregisterFatBinary(void **handle);
void __hipRegisterFunction(void **handle, const void *host_function, char *device_function,
                           const char *device_name, unsigned thread_limit, void *thread_id,
                           void *block_id, dim3 *block, dim3 *grid, int *wavefront);
void __hipRegisterVar(void **handle, void *host_variable, char *host_name, char *device_name,
                      int external, size_t size, int constant, int global);
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t dynamic_lds,
                                      hipStream_t stream);
hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *dynamic_lds,
                                     hipStream_t *stream);

/* State of the mock that the library has opened. */
struct mock_state *fixture_mock(void);

/* Registers code object `file` as compiled for `target`; returns the handle. The memory stays for
 * the process. */
void **fixture_register(const char *file, const char *target);

/* Fails the test unless `call` gives `error`. */
#define expect(call, error)                                                                        \
    do {                                                                                           \
        hipError_t expect_got = (call);                                                            \
        cr_assert_eq(expect_got, error, "%s: %s instead of %s", #call,                             \
                     hipGetErrorName(expect_got), hipGetErrorName(error));                         \
    } while (0)

#endif
