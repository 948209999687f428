/* heddle-play-api TRACE [MODULE...]: issues the calls of a trace of API calls
 * (docs/reference/api-traces.md) through HIP, and compares what comes back. `heddle run PLATFORM
 * --play api=DIR` starts it as it starts any program; it knows nothing of the simulator.
 *
 * play_api.c keeps the order of lines and the host threads, play_calls.c makes the calls,
 * play_objects.c finds what the trace has numbers for, and play_data.c reads files and compares.
 * The whole trace was read without a mistake before any of them runs. A mistake that is found while
 * it is played is reported with its line and ends the program. */
#ifndef HEDDLE_COMPONENTS_HIP_PLAY_PLAY_API_H
#define HEDDLE_COMPONENTS_HIP_PLAY_PLAY_API_H

#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "components/traces/api_trace/api_trace.h"

extern struct api_trace play_trace;
extern const char *play_path; /* path of the trace, for messages */

/* Writes what is wrong with the call and ends the program with status 1. */
__attribute__((noreturn, format(printf, 2, 3))) void play_die(const struct api_trace_call *call,
                                                              const char *format, ...);
/* A HIP call of the trace must succeed. */
void play_check(const struct api_trace_call *call, hipError_t error, const char *call_name);
void *play_allocate(size_t size);

/* ---- play_objects.c ---- */

enum play_kind { PLAY_DEVICE, PLAY_HOST, PLAY_STREAM, PLAY_EVENT, PLAY_MODULE, PLAY_KINDS };

struct play_object {
    uint32_t number;
    uint8_t kind;
    bool is_used;
    bool is_mapped; /* host memory that moves to the device and back: lines of their own say what
                       the host stores there */
    int device;     /* the device of a stream */
    uint64_t size;  /* host memory */
    void *handle;   /* the address, stream, event or module */
};

/* An object that the trace names; play_die() if it does not exist. Threads may look up and add at
 * the same time only in turn, which the order of lines gives. */
struct play_object *play_get(const struct api_trace_call *call, enum play_kind kind,
                             uint32_t number);
struct play_object *play_add(enum play_kind kind, uint32_t number, void *handle);
void play_remove(enum play_kind kind, uint32_t number);
/* Addresses of places; on the device, or where the host may touch. */
void *play_address(const struct api_trace_call *call, const struct api_trace_pointer *pointer);
hipStream_t play_stream(const struct api_trace_call *call);

/* Code objects without a number: those of --module and of `HIP code object` lines, loaded on a
 * device when first needed. */
void play_add_source(const char *path, const struct api_trace_call *call);
hipFunction_t play_function(const struct api_trace_call *call);
void *play_symbol(const struct api_trace_call *call, uint64_t *size);
hipModule_t play_load(const struct api_trace_call *call, const char *path);

/* ---- play_data.c ---- */

/* The call's data file, `size` bytes of it; free() gives it back. */
uint8_t *play_read_file(const struct api_trace_call *call, uint64_t size);
const char *play_file_path(const char *file);
/* Compares `rows` rows at `bytes` with the call's file, and counts. */
void play_compare(const struct api_trace_call *call, const uint8_t *bytes, uint64_t pitch);
/* Compares at the end: an asynchronous copy to memory of the player. */
void play_compare_later(const struct api_trace_call *call, uint8_t *bytes);
void play_run_comparisons(void);
/* Prints the sums. True if every byte was right. */
bool play_report(void);

/* ---- play_calls.c ---- */

void play_call(const struct api_trace_call *call);

#endif
