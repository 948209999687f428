/* The one struct driver_process; see driver_process.h. */
#include "driver_process.h"

#include <stdarg.h>
#include <stdio.h>

static struct driver_process the_process = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
};

/* Each thread has its own, as it has its own errno. */
static _Thread_local char failure[2048];

static struct driver_process *driver_process(void)
{
    return &the_process;
}

static bool driver_is_alone(void)
{
    static bool has_warned;
    bool alone = the_process.is_alone && the_process.is_alone();
    if (!alone && !has_warned)
        fprintf(stderr, "heddle: warning: all wavefronts of a launch only repeat themselves, so it "
                        "ends only if another thread of the program changes memory "
                        "(--max-instructions ends such a run)\n");
    has_warned = has_warned || !alone;
    return alone;
}

static bool driver_is_nudged(void)
{
    return the_process.is_stepping && __atomic_load_n(&the_process.is_nudged, __ATOMIC_RELAXED);
}

static enum driver_status driver_fail(enum driver_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(failure, sizeof failure, format, arguments);
    va_end(arguments);
    return status;
}

static const char *driver_failure(void)
{
    return failure;
}
