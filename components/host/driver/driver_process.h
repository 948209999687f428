/* State of the driver outside of the simulation's state, once for each process: the lock, the
 * reason why the simulation ended, loaded code and a recording. A checkpoint does not hold it. All
 * of it is used with the lock held, except what is atomic, and `tells_calls`. */
#ifndef HEDDLE_COMPONENTS_HOST_DRIVER_DRIVER_PROCESS_H
#define HEDDLE_COMPONENTS_HOST_DRIVER_DRIVER_PROCESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "components/host/driver/program/driver_journal.h"

#include "driver_api.h"

struct driver_process {
    struct driver *driver; /* the platform's */
    pthread_mutex_t mutex;
    enum driver_status lost; /* not DRIVER_OK: a kernel failed or the simulation was ended */
    char lost_text[2048];
    uint64_t now_ps; /* atomic: of the driver's clock, when a call came back last */
    bool is_running; /* the engine, in the thread */
    pthread_t runner;
    bool is_nudged;          /* atomic; the engine is to return from its step */
    bool is_stepping;        /* the engine runs in a step */
    bool tells_calls;        /* the front end was answered DRIVER_STREAMS_TELL_CALLS */
    bool has_page_bounds;    /* --bounds page: kernels may access whole pages of an allocation */
    bool is_in_tick;         /* a call over a port is being done: the engine runs already */
    uint32_t functional_gpu; /* GPU of the launch by which it failed */
    enum driver_status functional; /* functional mode: how a launch has ended the run */
    bool ends;                     /* atomic; the program has ended */
    uint64_t patience;    /* cycles that a program that has ended may wait; 0: it has not ended */
    uint64_t patient_to;  /* the cycle by which a command or a work-group is to end */
    uint64_t ended_count; /* commands and work-groups that had ended at the last look */
    void (*attend)(const struct driver_attention *now); /* or NULL */
    bool (*is_alone)(void); /* no thread of the program can run; NULL: unknown */
    void (*print)(uint32_t device, const char *text, size_t size); /* set_printer(); or NULL */
    bool (*caller)(struct driver_call *call);                      /* set_caller(); or NULL */
    uint32_t printing_device;                                      /* device whose output it gets */
    const struct driver_programs *programs; /* NULL: the program is in this process */
    struct code_module *code_modules;       /* loaded; see driver_unimplemented_code.c */
    struct code_lack *code_lacks;           /* kernels that must not be launched */
    struct code_extent *code_extents;       /* where the instructions of registered kernels lie */
    struct code_copy *code_copies;          /* see driver_code_copies.c */
    struct driver_journal journal;          /* for a state that is to be written, or was restored */
};

static struct driver_process *driver_process(void);
static bool driver_is_nudged(void);
/* True if nothing but the launch that is executed can change memory, as no thread of the program
 * can run. False: one can, and the first time a warning says so. */
static bool driver_is_alone(void);

/* Remembers, for this thread, why a call failed; returns the status. */
__attribute__((format(printf, 2, 3))) static enum driver_status
driver_fail(enum driver_status status, const char *format, ...);
/* The text that was remembered last in this thread. */
static const char *driver_failure(void);

#endif
