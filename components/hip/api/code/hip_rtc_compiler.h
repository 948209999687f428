/* Compiling device code while the program runs (hip_rtc.c), by the compiler that hipcc uses, which
 * is started as a process of its own. */
#ifndef HEDDLE_COMPONENTS_HIP_API_CODE_HIP_RTC_COMPILER_H
#define HEDDLE_COMPONENTS_HIP_API_CODE_HIP_RTC_COMPILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hip_rtc_header {
    char *name; /* name in the source's #include */
    char *text;
};

struct hip_rtc_job {
    const char *source; /* with all that the compiler is to read */
    const struct hip_rtc_header *headers;
    size_t header_count;
    const char *target;         /* "gfx803" */
    const char *const *options; /* the program's; NULL entries and empty ones are left out */
    size_t option_count;
};

struct hip_rtc_result {
    uint8_t *code; /* hip_release() frees it, and the log; NULL: there is none */
    size_t code_bytes;
    char *log; /* output of the compiler, or the reason for which there is none; never NULL */
    bool has_compiler;
};

/* Runs the compiler and waits for it. Nothing is written to a file that has a name: source,
 * headers, code and log are files in memory, so that nothing stays on disk however the process
 * ends. */
void hip_rtc_compile(const struct hip_rtc_job *job, struct hip_rtc_result *result);

#endif
