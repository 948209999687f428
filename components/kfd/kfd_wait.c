/* Waits for signals that the machine would not see: ROCr looks at the signal's memory for a while,
 * or for good, before it makes a call of the driver. So its functions that wait for a signal, and
 * those that look at one, are interposed: what has to happen first is simulated, then ROCr's own
 * function is called, which does all that it does otherwise. Threads that have asked for no work
 * are not held.
 *
 * A thread that waits is held until its condition is true or nothing can go on. One that looks at a
 * signal lets KFD_POLL_PS pass, so that programs which poll come to an end. */
#include "interpose.h"
#include "kfd_machine.h"

struct wait {
    struct wait *next;
    struct kfd_request *request;
    const int64_t *value; /* of the signal, in the machine's view */
    uint64_t signal;
    uint32_t condition;
    int64_t compare;
    bool polls;
    uint64_t until_ps;
};

static struct wait *waits; /* of the machine's thread */

static bool is_over(const struct wait *w)
{
    return kfd_signal_compare(w->condition, __atomic_load_n(w->value, __ATOMIC_SEQ_CST), w->compare)
           || kfd.api->now() >= w->until_ps;
}

void kfd_waits_look(bool all)
{
    for (struct wait **link = &waits; *link;) {
        struct wait *w = *link;
        if (!all && !is_over(w)) {
            link = &w->next;
            continue;
        }
        *link = w->next;
        kfd_answer(w->request, 0);
    }
}

bool kfd_waits_any(bool *polls)
{
    for (const struct wait *w = waits; w; w = w->next)
        *polls |= w->polls;
    return waits != NULL;
}

static int begin_wait(struct kfd_request *request)
{
    struct wait *w = request->argument;
    const struct kfd_allocation *a = kfd_find_allocation(w->signal);
    enum { VALUE = 8 }; /* offset, amd_hsa_signal.h */
    if (!a || !a->bytes || w->signal % 8 || w->signal - a->address + 2 * VALUE > a->size || kfd.lost
        || kfd.finished)
        return 0;
    w->value = (const int64_t *)(void *)(a->bytes + (w->signal - a->address) + VALUE);
    w->until_ps = w->polls ? kfd.api->now() + KFD_POLL_PS : UINT64_MAX;
    w->request = request;
    if (is_over(w))
        return 0;
    w->next = waits;
    waits = w;
    return KFD_LATER;
}

static void simulate(uint64_t signal, uint32_t condition, int64_t compare, bool polls)
{
    struct wait wait = {
        .signal = signal, .condition = condition, .compare = compare, .polls = polls};
    struct kfd_request request = {
        .run = begin_wait, .argument = &wait, .aside = true, .drives = true};
    if (kfd_machine_is_open() && kfd_is_ringer())
        kfd_ask(&request);
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
    simulate(signal, KFD_SIGNAL_LESS, 1, true);
    return INTERPOSE_NEXT(kfd_signal_load_acquire, "hsa_signal_load_scacquire")(signal);
}

int64_t kfd_signal_load_relaxed(uint64_t signal)
{
    simulate(signal, KFD_SIGNAL_LESS, 1, true);
    return INTERPOSE_NEXT(kfd_signal_load_relaxed, "hsa_signal_load_relaxed")(signal);
}
