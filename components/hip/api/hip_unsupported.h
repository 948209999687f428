/* Declarations for generated functions that are missing in this library (see gen_exports.py),
 * without the HIP headers: there every function has its real type. */
#ifndef HEDDLE_COMPONENTS_HIP_API_HIP_UNSUPPORTED_H
#define HEDDLE_COMPONENTS_HIP_API_HIP_UNSUPPORTED_H

enum {
    HIP_UNSUPPORTED = 801 /* hipErrorNotSupported */,
    HIPRTC_UNSUPPORTED = 11 /* HIPRTC_ERROR_INTERNAL_ERROR */
};

/* Says that `name` is not supported and has `result`, and leaves hipErrorNotSupported as the
 * thread's last error. */
void hip_say_missing(const char *name, const char *result);

#endif
