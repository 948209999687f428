/* Threads of the program that wait for a signal, or look at one (interpose_signal_waits.c). A
 * thread that waits is held until its condition is true or nothing of its process can go on. One
 * that looks lets KFD_POLL_PS pass, so that programs which poll come to an end. */
#include <stdlib.h>

#include "base/grow.h"
#include "components/kfd/server/kfd_machine.h"

struct kfd_wait {
    struct kfd_wait *next;
    struct kfd_request *request;
    const struct kfd_condition *conditions; /* one of them ends it */
    size_t count;
    bool polls;
    uint64_t until_ps;
};

/* The value of a signal, in the machine's view; NULL: there is none. */
static const int64_t *value_at(const struct kfd_process *p, uint64_t signal)
{
    enum { VALUE = 8 }; /* offset, amd_hsa_signal.h */
    const struct kfd_allocation *a = kfd_find_allocation(p, signal);
    if (!a || !a->bytes || signal % 8 || signal - a->address + 2 * VALUE > a->size)
        return NULL;
    return (const int64_t *)(void *)(a->bytes + (signal - a->address) + VALUE);
}

static bool is_over(const struct kfd_process *p, const struct kfd_wait *w)
{
    bool is_met = kfd.api->now() >= w->until_ps;
    for (size_t i = 0; i < w->count && !is_met; i++) {
        const struct kfd_condition *c = &w->conditions[i];
        const int64_t *value = value_at(p, c->signal);
        is_met = !value
                 || kfd_signal_compare((uint32_t)c->condition,
                                       __atomic_load_n(value, __ATOMIC_SEQ_CST), c->compare);
    }
    return is_met;
}

static void end_wait(struct kfd_wait **link)
{
    struct kfd_wait *w = *link;
    *link = w->next;
    kfd_answer(w->request, 0);
    free(w);
}

bool kfd_signal_waits_are_over(const struct kfd_process *p)
{
    bool has_ended = false;
    for (const struct kfd_wait *w = p->waits; w; w = w->next)
        has_ended |= is_over(p, w);
    return has_ended;
}

void kfd_signal_waits_end(struct kfd_process *p, bool all)
{
    for (struct kfd_wait **link = &p->waits; *link;)
        if (all || is_over(p, *link))
            end_wait(link);
        else
            link = &(*link)->next;
}

void kfd_signal_wait_give_up(struct kfd_process *p, const struct kfd_request *request)
{
    struct kfd_wait **link = &p->waits;
    while (*link && (*link)->request != request)
        link = &(*link)->next;
    if (*link)
        end_wait(link);
}

bool kfd_signal_waits_poll(struct kfd_process *p)
{
    bool polls = false;
    for (const struct kfd_wait *w = p->waits; w; w = w->next)
        polls |= w->polls;
    return polls;
}

int kfd_signal_wait_begin(struct kfd_process *p, struct kfd_request *request,
                          const struct kfd_condition *conditions, size_t count, bool polls)
{
    struct kfd_wait wait = {.next = p->waits,
                            .request = request,
                            .conditions = conditions,
                            .count = count,
                            .polls = polls,
                            .until_ps = polls ? kfd.api->now() + KFD_POLL_PS : UINT64_MAX};
    if (kfd.has_ended || is_over(p, &wait))
        return 0;
    struct kfd_wait *w = grow_zeroed(sizeof *w, KFD_SERVER);
    *w = wait;
    p->waits = w;
    return KFD_LATER;
}
