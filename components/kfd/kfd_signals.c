/* Waits for signals that the server would not see: ROCr looks at the signal's memory for a while,
 * or for good, before it makes a call of the driver. So its functions that wait for a signal, and
 * those that look at one, are interposed: what has to happen first is simulated (kfd_wait.c), then
 * ROCr's own function is called, which does all that it does otherwise. Threads that have asked for
 * no work are not held. */
#include "interpose.h"
#include "kfd_client.h"

enum { LESS = 2 }; /* HSA_SIGNAL_CONDITION_LT */

/* The process lets what it waits for be simulated. */
static void simulate(uint64_t signal, uint32_t condition, int64_t compare, bool polls)
{
    struct kfd_call call = {.kind = KFD_SAY_WAIT,
                            .word = {signal, condition, (uint64_t)compare, polls}};
    struct kfd_reply reply;
    if (kfd_is_open() && kfd_is_ringer())
        kfd_send(&call, &reply, UINT32_MAX);
}

/* ---- functions of ROCr (hsa.h); a handle of a signal is its address ---- */

int64_t kfd_signal_wait_acquire(uint64_t signal, uint32_t condition, int64_t compare,
                                uint64_t limit, uint32_t state)
    INTERPOSE(hsa_signal_wait_scacquire);
int64_t kfd_signal_wait_relaxed(uint64_t signal, uint32_t condition, int64_t compare,
                                uint64_t limit, uint32_t state) INTERPOSE(hsa_signal_wait_relaxed);
int64_t kfd_signal_load_acquire(uint64_t signal) INTERPOSE(hsa_signal_load_scacquire);
int64_t kfd_signal_load_relaxed(uint64_t signal) INTERPOSE(hsa_signal_load_relaxed);

int64_t kfd_signal_wait_acquire(uint64_t signal, uint32_t condition, int64_t compare,
                                uint64_t limit, uint32_t state)
{
    simulate(signal, condition, compare, false);
    return INTERPOSE_NEXT(kfd_signal_wait_acquire,
                          "hsa_signal_wait_scacquire")(signal, condition, compare, limit, state);
}

int64_t kfd_signal_wait_relaxed(uint64_t signal, uint32_t condition, int64_t compare,
                                uint64_t limit, uint32_t state)
{
    simulate(signal, condition, compare, false);
    return INTERPOSE_NEXT(kfd_signal_wait_relaxed,
                          "hsa_signal_wait_relaxed")(signal, condition, compare, limit, state);
}

/* Work that is not over has left 1 or more. */
int64_t kfd_signal_load_acquire(uint64_t signal)
{
    simulate(signal, LESS, 1, true);
    return INTERPOSE_NEXT(kfd_signal_load_acquire, "hsa_signal_load_scacquire")(signal);
}

int64_t kfd_signal_load_relaxed(uint64_t signal)
{
    simulate(signal, LESS, 1, true);
    return INTERPOSE_NEXT(kfd_signal_load_relaxed, "hsa_signal_load_relaxed")(signal);
}
