/* Memory of the program that becomes a view of the GPUs' memory, or its own again, is copied first
 * and then replaced. What another thread stores between the two would be lost, and pages hold more
 * than the buffer that is meant. So they are closed to stores meanwhile: one that comes then
 * faults, waits in the handler (kfd_doorbell_trap.c), and is done again.
 *
 * Invariant: what the closing thread itself needs, its stack and data of this library, is never
 * closed. A store may fault and find the range open again, so each thread tries once more whenever
 * a range was opened since it tried last. */
#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>

#include "kfd_client.h"

enum { CLOSED_MAX = 64 };

struct kfd_closed {
    uint64_t start, end; /* atomic; end 0: free */
};

static struct kfd_closed closed[CLOSED_MAX];
static bool taken[CLOSED_MAX]; /* atomic */
static uint32_t opened;        /* atomic: how often */
static _Thread_local uint32_t tried __attribute__((tls_model("initial-exec")));

static bool range_holds(uint64_t start, uint64_t end, const void *at)
{
    return (uintptr_t)at >= start && (uintptr_t)at < end;
}

struct kfd_closed *kfd_close_range(uint64_t start, uint64_t size)
{
    const uint64_t end = start + size;
    const char stack = 0;
    size_t i = 0;
    if (!size || end < start || range_holds(start, end, &stack) || range_holds(start, end, &errno)
        || (start < (uintptr_t)(closed + CLOSED_MAX) && end > (uintptr_t)closed))
        return NULL;
    kfd_faults_watch();
    while (i < CLOSED_MAX && __atomic_exchange_n(&taken[i], true, __ATOMIC_ACQ_REL))
        i++;
    if (i == CLOSED_MAX)
        return NULL;
    __atomic_store_n(&closed[i].start, start, __ATOMIC_RELAXED);
    __atomic_store_n(&closed[i].end, end, __ATOMIC_RELEASE);
    mprotect((void *)(uintptr_t)start, size, PROT_READ);
    return &closed[i];
}

void kfd_open_range(struct kfd_closed *c, bool replaced)
{
    if (!c)
        return;
    if (!replaced)
        mprotect((void *)(uintptr_t)c->start, c->end - c->start, PROT_READ | PROT_WRITE);
    __atomic_add_fetch(&opened, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&c->end, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&taken[c - closed], false, __ATOMIC_RELEASE);
}

void kfd_close_reset(void)
{
    for (size_t i = 0; i < CLOSED_MAX; i++) {
        if (closed[i].end)
            kfd_open_range(&closed[i], false);
        taken[i] = false;
    }
}

static bool is_closed(uint64_t address)
{
    bool is = false;
    for (size_t i = 0; i < CLOSED_MAX; i++)
        is |= address < __atomic_load_n(&closed[i].end, __ATOMIC_ACQUIRE)
              && address >= __atomic_load_n(&closed[i].start, __ATOMIC_RELAXED);
    return is;
}

bool kfd_close_waits(uint64_t address)
{
    bool waited = false;
    for (; is_closed(address); waited = true)
        sched_yield();
    uint32_t now = __atomic_load_n(&opened, __ATOMIC_SEQ_CST), before = tried;
    tried = now;
    return waited || before != now;
}
