/* Waits for signals that the server would not see: ROCr looks at the signal's memory for a while,
 * or for good, before it makes a call of the driver. So its functions that wait for a signal, and
 * those that look at one, are interposed: what has to happen first is simulated
 * (kfd_signal_wait.c), then ROCr's own function is called, which does all that it does otherwise.
 * Threads that have asked for no work do not wait.
 *
 * Other functions of ROCr copy by the GPU, and look at the signal of the copy. A doorbell
 * that is rung inside of them holds the thread until the queue is done. */
#include <string.h>

#include "interpose.h"
#include "kfd_client.h"

enum { LESS = 2 }; /* HSA_SIGNAL_CONDITION_LT */

/* The process lets what it waits for be simulated. */
static void simulate_any(const struct kfd_condition *on, size_t count, bool polls)
{
    struct kfd_call call = {.kind = KFD_MESSAGE_WAIT, .word = {polls}};
    struct kfd_reply reply;
    if (!kfd_is_open() || !kfd_is_submitter() || count > KFD_CONDITIONS_MAX)
        return;
    call.size = (uint32_t)(count * sizeof *on);
    memcpy(call.bytes, on, call.size);
    kfd_send(&call, &reply, UINT32_MAX);
}

static void simulate(uint64_t signal, uint32_t condition, int64_t compare, bool polls)
{
    simulate_any(&(struct kfd_condition){signal, compare, condition}, 1, polls);
}

/* ---- functions of ROCr (hsa.h); a handle of a signal is its address ---- */

int64_t kfd_signal_wait_acquire(uint64_t signal, uint32_t condition, int64_t compare,
                                uint64_t limit, uint32_t state)
    INTERPOSE(hsa_signal_wait_scacquire);
int64_t kfd_signal_wait_relaxed(uint64_t signal, uint32_t condition, int64_t compare,
                                uint64_t limit, uint32_t state) INTERPOSE(hsa_signal_wait_relaxed);
int64_t kfd_signal_wait_older(uint64_t signal, uint32_t condition, int64_t compare, uint64_t limit,
                              uint32_t state)
    INTERPOSE_AS(hsa_signal_wait_acquire, hsa_signal_wait_scacquire);
uint32_t kfd_signal_wait_any(uint32_t count, uint64_t *signals, uint32_t *conditions,
                             int64_t *compare, uint64_t limit, uint32_t state, int64_t *met)
    INTERPOSE(hsa_amd_signal_wait_any);
int64_t kfd_signal_load_acquire(uint64_t signal) INTERPOSE(hsa_signal_load_scacquire);
int64_t kfd_signal_load_older(uint64_t signal)
    INTERPOSE_AS(hsa_signal_load_acquire, hsa_signal_load_scacquire);
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

/* Signals of 0 are none of those that are waited for. */
uint32_t kfd_signal_wait_any(uint32_t count, uint64_t *signals, uint32_t *conditions,
                             int64_t *compare, uint64_t limit, uint32_t state, int64_t *met)
{
    struct kfd_condition on[KFD_CONDITIONS_MAX];
    size_t used = 0;
    for (uint32_t i = 0; i < count && used <= KFD_CONDITIONS_MAX; i++) {
        if (signals[i] && used < KFD_CONDITIONS_MAX)
            on[used] = (struct kfd_condition){signals[i], compare[i], conditions[i]};
        used += signals[i] != 0;
    }
    simulate_any(on, used, false);
    return INTERPOSE_NEXT(kfd_signal_wait_any, "hsa_amd_signal_wait_any")(
        count, signals, conditions, compare, limit, state, met);
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

/* ---- functions that wait for what they begin (hsa.h, hsa_ext_amd.h) ---- */

static _Thread_local bool waits __attribute__((tls_model("initial-exec")));

bool kfd_runtime_waits(void)
{
    return waits;
}

int kfd_executable_freeze(uint64_t executable, const char *options)
    INTERPOSE(hsa_executable_freeze);
int kfd_memory_copy(void *to, const void *from, size_t size) INTERPOSE(hsa_memory_copy);
int kfd_memory_fill(void *at, uint32_t value, size_t count) INTERPOSE(hsa_amd_memory_fill);

int kfd_executable_freeze(uint64_t executable, const char *options)
{
    waits = true;
    int result =
        INTERPOSE_NEXT(kfd_executable_freeze, "hsa_executable_freeze")(executable, options);
    waits = false;
    return result;
}

int kfd_memory_copy(void *to, const void *from, size_t size)
{
    waits = true;
    int result = INTERPOSE_NEXT(kfd_memory_copy, "hsa_memory_copy")(to, from, size);
    waits = false;
    return result;
}

int kfd_memory_fill(void *at, uint32_t value, size_t count)
{
    waits = true;
    int result = INTERPOSE_NEXT(kfd_memory_fill, "hsa_amd_memory_fill")(at, value, count);
    waits = false;
    return result;
}
