/* See hip_services.h. */
#include "hip_services.h"

/* The lock of turns is taken first, so that no wake() of the table comes in between. */
static bool wait_for_wake(const void *address, bool watches)
{
    const struct timespec until = hip_turns_later(&(struct timespec){.tv_sec = 1});
    hip_turns_lock();
    pthread_mutex_unlock(&hip.lock);
    bool woken = hip_turns_wait(address, HIP_TURNS_SIGNAL, watches ? &until : NULL)
                 || !hip_turns_order_all();
    hip_turns_unlock();
    pthread_mutex_lock(&hip.lock);
    return woken;
}

static void wake_waiters(const void *address)
{
    hip_turns_wake(address, HIP_TURNS_SIGNAL, UINT32_MAX);
}

/* The thread is ordered if the program's are, as code that uses this library has created it. */
static int make_thread(void *(*start)(void *), void *argument)
{
    pthread_t thread;
    pthread_attr_t attributes;
    const void *code = NULL;
    memcpy(&code, &start, sizeof code);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int error = hip_turns_create(&thread, &attributes, start, argument, code);
    pthread_attr_destroy(&attributes);
    return error;
}

const struct hip_services *heddleServices(void)
{
    static const struct hip_services services = {
        .library = &hip,
        .recorder = &hip_recorder,
#define HIP_SERVICE(name, function) .name = (function),
#include "hip_services.def"
#undef HIP_SERVICE
        .wait_for = wait_for_wake,
        .wake = wake_waiters,
        .make_thread = make_thread,
    };
    return &services;
}
