/* Recording what a program asks of HIP: a trace of API calls (docs/reference/api-traces.md, version 2) with
 * its data, in a folder that `heddle run --record api` names and takes when it is complete.
 *
 * Lines stand in the order in which calls begin, which is the order in which they take `hip.lock`.
 * A call that waits, while others begin calls, gets a second line where it returned. A line is
 * noted right before the call has its effect, so what a call needs (a module that is loaded, bytes
 * that the host has written to managed memory) stands before it. All functions are called with
 * `hip.lock` held, and do nothing unless the program is recorded.
 *
 * Not recorded: calls that only ask (properties, pointers, elapsed times), and calls that fail
 * without an effect. What cannot be recorded ends the recording, not the program. */
#ifndef HEDDLE_HIP_RECORD_H
#define HEDDLE_HIP_RECORD_H

#include "components/traces/api_trace/api_trace.h"
#include "components/hip/api/hip_internal.h"

extern bool hip_recording;

/* The platform is open: begins when the environment asks for it. False: it cannot, and was said. */
bool hip_record_open(void);
/* The program has ended and its work is done: writes the trace. */
void hip_record_finish(void);
/* The recording is given up: `why` is said. */
void hip_record_refuse(const char *why);

/* Notes a call; returns its place, valid until the end. */
size_t hip_record_add(const struct api_trace_call *call);
#define HIP_RECORD(...)                                                                            \
    do {                                                                                           \
        if (hip_recording) {                                                                       \
            hip_record_add(&(struct api_trace_call){__VA_ARGS__});                                 \
        }                                                                                          \
    } while (0)
struct api_trace_call *hip_record_at(size_t place);
/* A query, and whether what it asked for was ready. */
#define HIP_RECORD_ANSWER(line, error)                                                             \
    do {                                                                                           \
        if (hip_recording) {                                                                       \
            hip_record_at(line)->value = (error) == hipSuccess;                                    \
        }                                                                                          \
    } while (0)
/* The call did not happen. */
void hip_record_drop(size_t place);
/* The calling thread's API call is over. */
void hip_record_leave(void);

/* `address` as the trace calls it; false: it is in no allocation. */
bool hip_record_pointer(uint64_t address, struct api_trace_pointer *pointer);
/* The number of the allocation that begins at `address`. */
uint32_t hip_record_number(uint64_t address);
/* A file with `rows` rows of `size` bytes, one that is there already if there is one. */
const char *hip_record_data(const void *bytes, uint64_t size, uint64_t rows, uint64_t pitch);

/* A copy: addresses as the program gave them, and where its host side really is. */
struct hip_record_copy {
    uint64_t to, from;
    void *host; /* NULL: both sides are on devices */
    uint64_t size, rows, to_pitch, from_pitch;
    bool to_device, from_device, waits;
    uint32_t stream; /* hip_stream_number() */
};
size_t hip_record_copy(const struct hip_record_copy *copy);
/* The copy's ticket; and, for one that waits, that it is complete. */
void hip_record_copy_sent(size_t place, const struct hip_record_copy *copy, uint64_t ticket);
void hip_record_copy_done(size_t place, const struct hip_record_copy *copy);

/* A launch of `grid` blocks with all arguments laid out in `kernarg`. */
size_t hip_record_launch(const struct hip_function *function, const uint64_t grid[3],
                         const uint64_t block[3], uint64_t dynamic_lds, uint32_t stream,
                         const uint8_t *kernarg);
/* A module was loaded from a bundle or code object of at most `size` bytes. */
void hip_record_module(const struct hip_module *module, const void *bytes, size_t size);

/* Pinned memory is going to be freed: before it is waited for, and when that is done. */
void hip_record_host_free(uint64_t address, int device);
void hip_record_host_freed(uint64_t address);

/* The host stores into managed or mapped memory at `view`; the bytes stand at `own`. */
void hip_record_host_write(uint64_t view, const void *own, uint64_t size);
/* The host touches it; and after a wait, what it finds there. */
void hip_record_access(uint64_t view, bool write);
void hip_record_fetched(uint64_t view, const void *own, uint64_t size);

#endif
