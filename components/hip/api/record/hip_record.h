/* Recording the calls of a program, as the API sees them. The trace is one of API calls
 * (docs/reference/api-traces.md, version 2).
 *
 * Lines are in the order in which calls begin, that is, acquire `hip.lock`. A call that waits,
 * while others begin calls, gets a second line where it returned. A line is added right before the
 * call has its effect, so what a call needs (a module that is loaded, bytes that the host has
 * written to managed memory) is before it.
 *
 * All functions are called with `hip.lock` held. They do nothing while nothing is recorded, and
 * return 0 for the line.
 *
 * Not recorded: calls that only ask (properties, pointers, elapsed times), and calls that fail
 * without an effect. A call that cannot be recorded ends the recording, not the program. */
#ifndef HEDDLE_COMPONENTS_HIP_API_RECORD_HIP_RECORD_H
#define HEDDLE_COMPONENTS_HIP_API_RECORD_HIP_RECORD_H

#include "components/hip/api/hip_objects.h"
#include "components/traces/api_trace/api_trace.h"

/* A copy: addresses as the program gave them, and where its host side really is. */
struct hip_recorded_copy {
    uint64_t to, from;
    void *host; /* NULL: both sides are on devices */
    uint64_t size, rows, to_pitch, from_pitch;
    bool writes_device, reads_device, waits;
    bool is_pageable; /* the host side is no allocation, also where the caller does not wait */
    uint32_t stream;  /* hip_stream_number() */
    int device;       /* the device of the stream */
};

/* Begins a recording if the environment asks for one, once the platform is open. False: nothing can
 * be written, and the reason was printed. */
bool hip_record_open(void);
/* Writes the trace, when the program has ended and its work is done. */
void hip_record_close(void);
bool hip_is_recording(void);
/* Ends the recording without a trace, for a reason that is printed. */
void hip_record_give_up(const char *reason);
/* The calling thread's API call is over. */
void hip_record_end_call(void);

/* Adds a call and returns its line, valid until the end. The second function fills in the place
 * that the call is about, and adds nothing when that lies in no allocation. */
size_t hip_record_call(const struct api_trace_call *call);
void hip_record_call_to(uint64_t to, const struct api_trace_call *call);
/* Complete a line once the answer is known: whether what a query asked for was ready; the number
 * of the allocation as device memory. */
void hip_record_answer(size_t line, bool is_ready);
void hip_record_mapped_number(size_t line, uint32_t number);
/* The call did not happen. */
void hip_record_drop(size_t line);

/* A copy begins; its last command was enqueued; and, for one that waits, it is complete. */
size_t hip_record_copy(const struct hip_recorded_copy *copy);
void hip_record_copy_sent(size_t line, const struct hip_recorded_copy *copy, uint64_t ticket);
void hip_record_copy_end(size_t line, const struct hip_recorded_copy *copy);
/* A launch, which `call` describes but for kernel and arguments; these are laid out in
 * `kernarg`. */
size_t hip_record_launch(const struct api_trace_call *call, const struct hip_function *function,
                         const uint8_t *kernarg);
/* A module was loaded from a bundle, a code object or PTX of `size` bytes. */
void hip_record_module(const struct hip_module *module, const void *bytes, size_t size);
/* Pinned memory is going to be freed: before it is waited for, and when that is done. */
void hip_record_host_free(uint64_t address, int device);
void hip_record_host_free_end(uint64_t address);

/* The host stores into managed or mapped memory at `view`; they are at `bytes`. */
void hip_record_host_write(uint64_t view, const void *bytes, uint64_t size);
/* The host touches it; and after a wait, what it finds there. */
void hip_record_host_access(uint64_t view, bool is_write);
void hip_record_host_access_end(uint64_t view, const void *bytes, uint64_t size);

#endif
