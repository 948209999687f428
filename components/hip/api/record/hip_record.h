/* Recording the calls of a program, as the API sees them: a table of functions that note calls,
 * which the room record/ defines. The trace is one of API calls (docs/reference/api-traces.md,
 * version 2).
 *
 * Lines are in the order in which calls begin, that is, take `hip.lock`. A call that waits, while
 * others begin calls, gets a second line where it returned. A line is noted right before the call
 * has its effect, so what a call needs (a module that is loaded, bytes that the host has written to
 * managed memory) is before it.
 *
 * All functions are called with `hip.lock` held and, except for the first group, only while
 * `hip.is_recording` is set; HIP_RECORD() and HIP_RECORD_STEP() see to that.
 *
 * Not recorded: calls that only ask (properties, pointers, elapsed times), and calls that fail
 * without an effect. A call that cannot be recorded ends the recording, not the program. */
#ifndef HEDDLE_HIP_RECORD_H
#define HEDDLE_HIP_RECORD_H

#include "components/traces/api_trace/api_trace.h"

#include "hip_objects.h"

/* A copy: addresses as the program gave them, and where its host side really is. */
struct hip_recorded_copy {
    uint64_t to, from;
    void *host; /* NULL: both sides are on devices */
    uint64_t size, rows, to_pitch, from_pitch;
    bool to_device, from_device, waits;
    bool pageable;   /* the host side is no allocation, also where the caller does not wait */
    uint32_t stream; /* hip_stream_number() */
    int device;      /* the device of the stream */
};

struct hip_recorder {
    /* Sets hip.is_recording when the environment asks for a recording, once the platform is open.
     * Prints why and returns false when nothing can be written. */
    bool (*open)(void);
    /* The program has ended and its work is done: writes the trace. */
    void (*close)(void);
    /* The calling thread's API call is over. */
    void (*leave)(void);
    /* Gives the recording up, for a reason that is written. */
    void (*refuse)(const char *reason);

    /* Notes a call; returns its line, valid until the end. `call_to` fills in the place that the
     * call is about, and notes nothing when `to` lies in no allocation. */
    size_t (*call)(const struct api_trace_call *call);
    void (*call_to)(struct api_trace_call *call, uint64_t to);
    /* The noted call, to be completed once the answer is known. */
    struct api_trace_call *(*find_line)(size_t line);
    /* The call did not happen. */
    void (*drop)(size_t line);

    /* A copy begins; its last command was enqueued; and, for one that waits, it is complete. */
    size_t (*copy)(const struct hip_recorded_copy *copy);
    void (*copy_sent)(size_t line, const struct hip_recorded_copy *copy, uint64_t ticket);
    void (*copy_done)(size_t line, const struct hip_recorded_copy *copy);
    /* A launch, which `call` describes but for kernel and arguments; these are laid out in
     * `kernarg`. */
    size_t (*launch)(struct api_trace_call *call, const struct hip_function *function,
                     const uint8_t *kernarg);
    /* A module was loaded from a bundle, a code object or PTX of `size` bytes. */
    void (*module)(const struct hip_module *module, const void *bytes, size_t size);
    /* Pinned memory is going to be freed: before it is waited for, and when that is done. */
    void (*host_free)(uint64_t address, int device);
    void (*host_freed)(uint64_t address);

    /* The host stores into managed or mapped memory at `view`; they are at `bytes`. */
    void (*host_write)(uint64_t view, const void *bytes, uint64_t size);
    /* The host touches it; and after a wait, what it finds there. */
    void (*host_access)(uint64_t view, bool write);
    void (*host_fetched)(uint64_t view, const void *bytes, uint64_t size);
};
extern const struct hip_recorder hip_recorder;

/* For files that include hip_internal.h. */
#define HIP_RECORD_STEP(step)                                                                      \
    do {                                                                                           \
        if (hip.is_recording)                                                                      \
            hip_recorder.step;                                                                     \
    } while (0)
/* Notes a call of which only the given members matter. */
#define HIP_RECORD(...) HIP_RECORD_STEP(call(&(struct api_trace_call){__VA_ARGS__}))
/* A query, and whether what it asked for was ready. */
#define HIP_RECORD_ANSWER(line, error)                                                             \
    HIP_RECORD_STEP(find_line(line)->value = (error) == hipSuccess)

#endif
