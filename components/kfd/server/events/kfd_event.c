/* Events as the Linux driver has them (kfd_events.c there): a thread waits for some of up to 4096,
 * and is woken when one, or all, were signalled. An event that resets itself is taken by the
 * threads that wait at that moment, or by the first to ask.
 *
 * Kernels signal by a word in the page of events, the mailbox of an event, which the machine looks
 * through while kernels run. */
#include <errno.h>
#include <linux/kfd_ioctl.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "components/kfd/channel/program_memory.h"
#include "components/kfd/server/kfd_ioctl.h"
#include "components/kfd/server/kfd_machine.h"

struct event {
    bool is_used, is_signalled, resets;
    uint32_t type, gpu;
    uint64_t age; /* signals so far, from 1 on */
};

/* A thread in a wait: the request that it made, and what it waits for. */
struct waiter {
    struct waiter *next;
    struct kfd_request *request;
    struct kfd_event_data *events; /* a copy */
    bool *met;
    uint32_t count;
    bool needs_all;
};

#define UNSIGNALLED UINT64_MAX /* in a mailbox */

struct kfd_events {
    struct event event[KFD_EVENTS_MAX]; /* 0 is none */
    uint32_t end;                       /* numbers below it have been used */
    struct waiter *waiters;
    uint64_t page_handle; /* handle of the program's own page; 0: none */
    uint64_t *page;       /* ours; NULL: not used */
    struct kfd_hsa_memory_exception_data fault;
    struct kfd_hsa_hw_exception_data hang;
};

static struct event *find_event(struct kfd_events *events, uint32_t id)
{
    return id && id < KFD_EVENTS_MAX && events->event[id].is_used ? &events->event[id] : NULL;
}

/* ---- the page ---- */

static uint64_t *event_page(const struct kfd_process *p)
{
    if (!p->events->page_handle)
        return p->events->page;
    const struct kfd_allocation *a = kfd_find_handle(p, p->events->page_handle);
    return a && a->size >= KFD_EVENTS_MAX * sizeof(uint64_t) ? (uint64_t *)(void *)a->bytes : NULL;
}

static int open_page(struct kfd_process *p, uint64_t handle)
{
    struct kfd_events *events = p->events;
    if (events->page_handle || events->page)
        return 0;
    if (handle) {
        events->page_handle = handle;
        if (!event_page(p)) {
            events->page_handle = 0;
            return -EINVAL;
        }
    } else {
        events->page = (uint64_t *)(void *)((char *)p->page + KFD_SHARED_EVENTS);
    }
    memset(event_page(p), 0xff, KFD_EVENTS_MAX * sizeof(uint64_t));
    return 0;
}

/* ---- calls ---- */

int kfd_event_create(struct kfd_process *p, struct kfd_request *request)
{
    struct kfd_events *events = p->events;
    struct kfd_ioctl_create_event_args *call = request->argument;
    uint32_t id = 1;
    if (call->event_type > KFD_IOC_EVENT_MEMORY)
        return -EINVAL;
    int result = open_page(p, call->event_page_offset);
    if (result != 0)
        return result;
    while (id < KFD_EVENTS_MAX && events->event[id].is_used)
        id++;
    if (id == KFD_EVENTS_MAX)
        return -ENOSPC;
    events->event[id] = (struct event){
        .is_used = true, .resets = call->auto_reset != 0, .type = call->event_type, .age = 1};
    events->end = id < events->end ? events->end : id + 1;
    call->event_id = id;
    call->event_trigger_data = id;
    call->event_slot_index = id;
    call->event_page_offset = kfd_map_offset(KFD_MAP_EVENTS, 0);
    return 0;
}

int kfd_event_reset(struct kfd_process *p, struct kfd_request *request)
{
    const struct kfd_ioctl_reset_event_args *call = request->argument;
    struct event *e = find_event(p->events, call->event_id);
    if (!e)
        return -EINVAL;
    e->is_signalled = false;
    return 0;
}

/* ---- waiting ---- */

static bool is_done(const struct waiter *w)
{
    uint32_t met = 0;
    for (uint32_t i = 0; i < w->count; i++)
        met += w->met[i];
    return met && (met == w->count || !w->needs_all);
}

/* The age of an event that a thread has seen, in its list (kfd_hsa_signal_event_data of Linux since
 * 1.14); 0: it has none in mind. A signal that it has missed ends its wait. */
static uint64_t seen_age(const struct event *e, const struct kfd_event_data *data)
{
    uint64_t age = 0;
    if (kfd.minor_version >= 14 && e->type == KFD_IOC_EVENT_SIGNAL)
        memcpy(&age, data, sizeof age);
    return age;
}

/* Tells what exceptions there were, in the program's list of events, unless it has taken that
 * away. */
static void write_exceptions(const struct kfd_process *p, const struct waiter *w, uint64_t list)
{
    struct kfd_events *events = p->events;
    for (uint32_t i = 0; i < w->count; i++) {
        const struct event *e = find_event(p->events, w->events[i].event_id);
        if (!w->met[i] || !e)
            continue;
        uint64_t at = list + i * sizeof(struct kfd_event_data);
        if (e->type == KFD_IOC_EVENT_MEMORY)
            program_write(p->pid, at, &events->fault, sizeof events->fault);
        else if (e->type == KFD_IOC_EVENT_HW_EXCEPTION)
            program_write(p->pid, at, &events->hang, sizeof events->hang);
        else if (seen_age(e, &w->events[i]))
            program_write(p->pid, at, &e->age, sizeof e->age);
    }
}

static void end_wait(const struct kfd_process *p, struct waiter **link, uint32_t outcome,
                     int result)
{
    struct waiter *w = *link;
    struct kfd_ioctl_wait_events_args *call = w->request->argument;
    *link = w->next;
    call->wait_result = outcome;
    if (outcome == KFD_IOC_WAIT_RESULT_COMPLETE)
        write_exceptions(p, w, call->events_ptr);
    kfd_answer(w->request, result);
    free(w->events);
    free(w->met);
    free(w);
}

static void wake_waiters(struct kfd_process *p, uint32_t id)
{
    for (struct waiter **link = &p->events->waiters; *link;) {
        struct waiter *w = *link;
        for (uint32_t i = 0; i < w->count; i++)
            w->met[i] |= w->events[i].event_id == id;
        if (is_done(w))
            end_wait(p, link, KFD_IOC_WAIT_RESULT_COMPLETE, 0);
        else
            link = &w->next;
    }
}

static bool has_waiter(const struct kfd_events *events, uint32_t id)
{
    for (const struct waiter *w = events->waiters; w; w = w->next) {
        for (uint32_t i = 0; i < w->count; i++)
            if (w->events[i].event_id == id)
                return true;
    }
    return false;
}

void kfd_event_signal(struct kfd_process *p, uint32_t id)
{
    struct event *e = find_event(p->events, id);
    if (!e)
        return;
    e->age++;
    e->is_signalled = !e->resets || !has_waiter(p->events, id);
    wake_waiters(p, id);
}

void kfd_event_interrupt(struct kfd_process *p, uint32_t id)
{
    uint64_t *page = id < p->events->end ? event_page(p) : NULL;
    if (page)
        __atomic_store_n(&page[id], UNSIGNALLED, __ATOMIC_RELEASE);
    kfd_event_signal(p, id);
}

int kfd_event_set(struct kfd_process *p, struct kfd_request *request)
{
    const struct kfd_ioctl_set_event_args *call = request->argument;
    if (!find_event(p->events, call->event_id))
        return -EINVAL;
    kfd_event_signal(p, call->event_id);
    return 0;
}

int kfd_event_destroy(struct kfd_process *p, struct kfd_request *request)
{
    const struct kfd_ioctl_destroy_event_args *call = request->argument;
    struct event *e = find_event(p->events, call->event_id);
    if (!e)
        return -EINVAL;
    for (struct waiter **link = &p->events->waiters; *link;) {
        struct waiter *w = *link;
        bool awaited = false;
        for (uint32_t i = 0; i < w->count; i++)
            awaited |= w->events[i].event_id == call->event_id;
        if (awaited)
            end_wait(p, link, KFD_IOC_WAIT_RESULT_FAIL, -EIO);
        else
            link = &w->next;
    }
    e->is_used = false;
    return 0;
}

/* Copies the list of events; false: it is not readable or names what is not there. */
static bool read_list(const struct kfd_process *p, struct waiter *w,
                      const struct kfd_ioctl_wait_events_args *call)
{
    size_t bytes = call->num_events * sizeof(struct kfd_event_data);
    if (!program_read(p->pid, w->events, call->events_ptr, bytes))
        return false;
    for (uint32_t i = 0; i < w->count; i++)
        if (!find_event(p->events, w->events[i].event_id))
            return false;
    return true;
}

int kfd_event_wait(struct kfd_process *p, struct kfd_request *request)
{
    struct kfd_events *events = p->events;
    const struct kfd_ioctl_wait_events_args *call = request->argument;
    if (!call->num_events || call->num_events > KFD_EVENTS_MAX)
        return -EINVAL;
    struct waiter *w = grow_zeroed(sizeof *w, KFD_SERVER);
    *w = (struct waiter){.request = request,
                         .events = grow_zeroed(call->num_events * sizeof *w->events, KFD_SERVER),
                         .met = grow_zeroed(call->num_events, KFD_SERVER),
                         .count = call->num_events,
                         .needs_all = call->wait_for_all != 0};
    if (!read_list(p, w, call)) {
        free(w->events);
        free(w->met);
        free(w);
        return -EINVAL;
    }
    for (uint32_t i = 0; i < w->count; i++) {
        struct event *e = find_event(p->events, w->events[i].event_id);
        uint64_t age = seen_age(e, &w->events[i]);
        w->met[i] = e->is_signalled || (age && age != e->age);
        e->is_signalled = e->is_signalled && !e->resets;
    }
    w->next = events->waiters;
    events->waiters = w;
    if (is_done(w))
        end_wait(p, &events->waiters, KFD_IOC_WAIT_RESULT_COMPLETE, 0);
    return KFD_LATER;
}

void kfd_event_give_up(const struct kfd_process *p, const struct kfd_request *wait)
{
    for (struct waiter **link = &p->events->waiters; *link; link = &(*link)->next) {
        if ((*link)->request == wait) {
            end_wait(p, link, KFD_IOC_WAIT_RESULT_TIMEOUT, 0);
            break;
        }
    }
}

/* ---- from the machine ---- */

bool kfd_events_have_waiters(const struct kfd_process *p)
{
    for (const struct waiter *w = p->events->waiters; w; w = w->next)
        if (kfd_is_submitter(w->request))
            return true;
    return false;
}

bool kfd_events_read_mailboxes(struct kfd_process *p)
{
    struct kfd_events *events = p->events;
    uint64_t *page = events->end ? event_page(p) : NULL;
    bool has_signalled = false;
    if (!page)
        return false;
    for (uint32_t id = 1; id < events->end; id++) {
        if (__atomic_load_n(&page[id], __ATOMIC_ACQUIRE) == UNSIGNALLED)
            continue;
        __atomic_store_n(&page[id], UNSIGNALLED, __ATOMIC_RELEASE);
        kfd_event_signal(p, id);
        has_signalled = true;
    }
    return has_signalled;
}

void kfd_events_fail(struct kfd_process *p, uint32_t gpu, uint64_t address, bool memory)
{
    struct kfd_events *events = p->events;
    events->fault = (struct kfd_hsa_memory_exception_data){
        .failure = {.NotPresent = 1}, .va = address, .gpu_id = kfd_gpu_id(gpu)};
    events->hang =
        (struct kfd_hsa_hw_exception_data){.reset_type = KFD_HW_EXCEPTION_WHOLE_GPU_RESET,
                                           .reset_cause = KFD_HW_EXCEPTION_GPU_HANG,
                                           .memory_lost = 1,
                                           .gpu_id = kfd_gpu_id(gpu)};
    if (memory)
        kfd_smi_events_fault(p, gpu);
    uint32_t type = memory ? KFD_IOC_EVENT_MEMORY : KFD_IOC_EVENT_HW_EXCEPTION;
    for (uint32_t id = 1; id < events->end; id++)
        if (events->event[id].is_used && events->event[id].type == type)
            kfd_event_signal(p, id);
}

void kfd_events_open(struct kfd_process *p)
{
    p->events = grow_zeroed(sizeof *p->events, KFD_SERVER);
}

void kfd_events_end_waits(struct kfd_process *p)
{
    struct kfd_events *events = p->events;
    while (events->waiters)
        end_wait(p, &events->waiters, KFD_IOC_WAIT_RESULT_FAIL, -EIO);
}

void kfd_events_close(struct kfd_process *p)
{
    free(p->events);
    p->events = NULL;
}
