/* What the tests of the HIP library share: its entry points that have no header, the mock
 * platform's state, and an embedded binary as hipcc's constructors would register it. */
#ifndef HEDDLE_TESTS_COMPONENTS_HIP_HIP_FIXTURE_H
#define HEDDLE_TESTS_COMPONENTS_HIP_HIP_FIXTURE_H

#include "components/hip/api/code/hip_registration.h"

#include "mock_platform.h"

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
