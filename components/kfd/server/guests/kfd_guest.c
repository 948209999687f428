/* Guests: whose turn it is, and what they wait for. See kfd_guest.h.
 *
 * Guests take turns as host threads of one program do (docs/design/host-threads.md). The guest with
 * the turn is the first, in the order of processes, that does not wait; calls of others stay where
 * they are until it waits too. When all wait, the engine runs until something that one of them
 * waits for is over. So what a machine does is a function of its programs and of the order in which
 * they came, whatever the host does meanwhile.
 *
 * A guest that sleeps, or computes for long, without a call loses its turn until its next call
 * (`has_lost_turn` of struct kfd_process): it may wait for another one by means that are not seen
 * here.
 */
#include "kfd_guest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/proc_stat.h"

#include "kfd_start_barrier.h"

static struct {
    uint32_t last_poller; /* number of the process whose wait of limited time was done last */
    struct kfd_connection *attendant; /* which does what a kernel waits for */
} guests;

static uint32_t name_in(const struct kfd_connection *c)
{
    struct guest_call call;
    memcpy(&call, c->call.bytes, sizeof call);
    return call.name;
}

static uint64_t word_in(const struct kfd_connection *c, uint32_t number)
{
    struct guest_call call;
    memcpy(&call, c->call.bytes, sizeof call);
    return call.word[number];
}

static void answer_call(struct kfd_connection *c, int status)
{
    struct kfd_guest *g = c->process->guest;
    c->reply.word[2] = name_in(c) == GUEST_printed ? 0 : g->printed_bytes;
    c->reply.word[3] = kfd.api->now();
    kfd_answer(&c->request, status);
}

/* ---- calls ---- */

bool kfd_guest_call_runs_mid_kernel(const struct kfd_call *call)
{
    struct guest_call c;
    memcpy(&c, call->bytes, sizeof c);
    return call->size == sizeof c && c.name < GUEST_CALLS
           && kfd_guest_kind_of(c.name) == GUEST_MID_KERNEL;
}

static bool has_work(const struct kfd_guest *g)
{
    uint64_t ticket = 0;
    if (!g->has_entered)
        return false;
    for (size_t i = 0; i < g->queue_count && !ticket && !kfd.has_ended; i++)
        if (g->queues[i].is_used)
            kfd.api->last(g->queues[i].number, &ticket);
    return ticket != 0;
}

/* A wait for any command, which kfd_guests_advanced() ends. */
static bool is_for_any(const struct kfd_connection *c)
{
    return name_in(c) == GUEST_advance && !word_in(c, 0);
}

/* True if the event is over that the wait is for. */
static bool is_over(const struct kfd_connection *c)
{
    uint64_t done_ps;
    const struct kfd_guest *g = c->process->guest;
    bool ticket = name_in(c) == GUEST_wait || name_in(c) == GUEST_query;
    return kfd.has_ended || g->fault || (is_for_any(c) && !has_work(g))
           || (ticket
               && (!word_in(c, 0)
                   || kfd.api->time_of(word_in(c, 0), &done_ps) != DRIVER_NOT_READY));
}

static enum kfd_guest_kind kind_of(const struct kfd_connection *c)
{
    return c->has_begun || name_in(c) == GUEST_go_on ? GUEST_WAITS : kfd_guest_kind_of(name_in(c));
}

static void append_call(struct kfd_guest *g, struct kfd_request *request)
{
    struct kfd_request **end = &g->calls;
    while (*end)
        end = &(*end)->next;
    request->next = NULL;
    *end = request;
}

/* GO_ON has the arguments of the wait that was interrupted, which continues. */
static void go_on(struct kfd_connection *c)
{
    if (guests.attendant == c)
        guests.attendant = NULL;
    c->call = c->waits;
}

void kfd_guest_drop(const struct kfd_request *request)
{
    const struct kfd_process *p = kfd_process_of(request);
    struct kfd_request **link = p && p->guest ? &p->guest->calls : NULL;
    while (link && *link && *link != request)
        link = &(*link)->next;
    if (link && *link)
        *link = request->next;
    if (guests.attendant && request == &guests.attendant->request)
        guests.attendant = NULL;
}

static void finish_call(struct kfd_connection *c)
{
    struct kfd_guest *g = c->process->guest;
    kfd_guest_drop(&c->request);
    if (g->fault) {
        c->has_begun = false;
        kfd_guest_put_text(c, g->fault);
        answer_call(c, DRIVER_FAULT);
        return;
    }
    bool waited = c->has_begun && name_in(c) == GUEST_wait && !kfd.has_ended;
    enum driver_status status = is_for_any(c) && !kfd.has_ended ? DRIVER_OK : kfd_guest_do(c);
    if (waited && status == DRIVER_OK)
        kfd.api->waited(word_in(c, 0));
    if (status >= DRIVER_FAULT)
        kfd_note_end_of_simulation(status);
    c->has_begun = false;
    answer_call(c, (int)status);
}

int kfd_guest_call(struct kfd_connection *c)
{
    struct kfd_guest *g = c->process->guest;
    if (!g || c->call.size != sizeof(struct guest_call) || name_in(c) >= GUEST_CALLS)
        return -EPROTO;
    if (name_in(c) == GUEST_go_on) {
        go_on(c);
    } else if (kfd_guest_kind_of(name_in(c)) == GUEST_MID_KERNEL) {
        answer_call(c, (int)kfd_guest_do(c));
        return KFD_LATER;
    } else {
        c->has_begun = kfd_guest_kind_of(name_in(c)) == GUEST_WAITS && !is_over(c);
    }
    append_call(g, &c->request);
    if (!g->has_entered && kfd_guest_kind_of(name_in(c)) == GUEST_LOOKS) {
        finish_call(c);
    } else if (!g->has_entered && !g->is_joining) {
        g->is_joining = true;
        kfd_start_barrier_enter(c);
    }
    return KFD_LATER;
}

void kfd_guest_enter(struct kfd_connection *c)
{
    struct kfd_guest *g = c->process->guest;
    g->has_entered = kfd_process_enter(c->process);
    if (g->has_entered)
        kfd_guest_make_queues(c->process);
    else
        kfd_guest_refuse(c, kfd.has_ended ? kfd.end_reason
                                          : "the machine has no room for another process");
}

void kfd_guest_refuse(struct kfd_connection *c, const char *text)
{
    struct kfd_guest *g = c->process->guest;
    kfd_guest_put_text(c, text);
    g->fault = strcpy(grow_zeroed(sizeof((struct driver_fault *)0)->text, KFD_SERVER),
                      (char *)c->reply.bytes);
    g->has_entered = true;
}

/* The first call of such a kind; NULL: the guest makes none. */
static struct kfd_connection *find_call(const struct kfd_process *p, enum kfd_guest_kind kind)
{
    for (const struct kfd_request *r = p->guest->calls; r; r = r->next)
        if (kind_of(r->connection) == kind)
            return r->connection;
    return NULL;
}

static bool has_waiting_call(const struct kfd_process *p)
{
    bool waits = false;
    for (const struct kfd_request *r = p->guest->calls; r; r = r->next)
        waits |= r->connection->has_begun || kind_of(r->connection) == GUEST_RUNS;
    return waits;
}

bool kfd_guest_lives(struct kfd_process *p)
{
    return p->guest && p->guest->has_entered && p->life != KFD_ENDED;
}

static enum kfd_state state_of(struct kfd_process *p)
{
    if (kfd_guest_lives(p) && !p->has_lost_turn && !has_waiting_call(p))
        return KFD_COMPUTES;
    bool waits = p->guest->has_entered && (p->life == KFD_ENDED || has_waiting_call(p));
    return waits || p->delayed_answers ? KFD_WAITS : KFD_IDLE;
}

/* ---- turns ---- */

/* The guest with the turn; NULL: all wait. */
static struct kfd_process *find_holder(void)
{
    for (struct kfd_process *p = kfd.processes; p; p = p->next)
        if (p->guest && state_of(p) == KFD_COMPUTES)
            return p;
    return NULL;
}

/* Calls in which no time passes: the holder's calls or, without a holder, calls of guests that have
 * lost their turn or whose other threads wait. */
static bool do_now(const struct kfd_process *holder)
{
    for (struct kfd_process *p = kfd.processes; p; p = p->next) {
        if (!kfd_guest_lives(p) || (holder && p != holder))
            continue;
        struct kfd_connection *c = find_call(p, GUEST_NOW);
        c = c ? c : find_call(p, GUEST_LOOKS);
        c = c ? c : find_call(p, GUEST_WAITS);
        if (c && !c->has_begun) {
            finish_call(c);
            return true;
        }
    }
    return false;
}

static bool do_runs(void)
{
    for (struct kfd_process *p = kfd.processes; p; p = p->next) {
        struct kfd_connection *c = kfd_guest_lives(p) ? find_call(p, GUEST_RUNS) : NULL;
        if (c) {
            finish_call(c);
            return true;
        }
    }
    return false;
}

/* All waits that are over. */
static bool end_waits(void)
{
    bool has_ended = false;
    for (const struct kfd_process *p = kfd.processes; p; p = p->next) {
        struct kfd_request *next, *r = p->guest && p->life != KFD_ENDED ? p->guest->calls : NULL;
        for (; r; r = next) {
            next = r->next;
            if (!r->connection->has_begun || !is_over(r->connection))
                continue;
            finish_call(r->connection);
            has_ended = true;
        }
    }
    return has_ended;
}

/* A wait that takes little time itself, one of each process after the other. */
static bool do_poll(void)
{
    struct kfd_connection *first = NULL, *later = NULL;
    for (const struct kfd_process *p = kfd.processes; p; p = p->next) {
        for (const struct kfd_request *r = p->guest ? p->guest->calls : NULL; r; r = r->next) {
            struct kfd_connection *c = r->connection;
            if (p->life == KFD_ENDED || !c->has_begun || name_in(c) == GUEST_wait || is_for_any(c))
                continue;
            first = first ? first : c;
            later = !later && p->number > guests.last_poller ? c : later;
        }
    }
    struct kfd_connection *c = later ? later : first;
    if (!c)
        return false;
    guests.last_poller = c->process->number;
    finish_call(c);
    return true;
}

bool kfd_guests_step(void)
{
    const struct kfd_process *holder = find_holder();
    return do_now(holder) || (!holder && (end_waits() || do_runs() || do_poll()));
}

void kfd_guests_advanced(void)
{
    for (const struct kfd_process *p = kfd.processes; p; p = p->next) {
        struct kfd_request *next, *r = p->guest ? p->guest->calls : NULL;
        for (; r; r = next) {
            struct kfd_connection *c = r->connection;
            next = r->next;
            if (!c->has_begun || !is_for_any(c))
                continue;
            kfd_guest_drop(r);
            c->has_begun = false;
            answer_call(c, DRIVER_OK);
        }
    }
}

static bool has_call_or_work(struct kfd_process *p)
{
    const struct kfd_guest *g = p->guest;
    return (g->has_entered && g->calls && p->life != KFD_ENDED) || has_work(g);
}

static bool thread_is_asleep(const struct kfd_process *p, int thread)
{
    return proc_thread_sleeps(p->pid, thread);
}

/* No thread of the process runs or waits for the disk. One with a call waits for the turn. */
static bool is_asleep(const struct kfd_process *p)
{
    return !p->guest->calls && kfd_all_threads(p, thread_is_asleep);
}

/* In the middle of a kernel the driver cannot be asked whether a guest has work. */
static bool is_executing(struct kfd_process *p)
{
    return kfd_is_mid_kernel() ? p->guest->has_entered : has_call_or_work(p);
}

static bool may_resume(struct kfd_process *p)
{
    (void)p; /* the order of turns has let its thread run */
    return true;
}

/* ---- the end ---- */

static void report_fault(struct kfd_process *p, const struct driver_fault *fault)
{
    p->guest->fault = grow_zeroed(sizeof fault->text, KFD_SERVER);
    memcpy(p->guest->fault, fault->text, sizeof fault->text);
}

const struct kfd_process_kind kfd_guest_process = {
    .takes_turns = true,
    .state = state_of,
    .is_asleep = is_asleep,
    .has_work = has_call_or_work,
    .is_executing = is_executing,
    .may_resume = may_resume,
    .report_fault = report_fault,
};

void kfd_guest_close(struct kfd_process *p)
{
    struct kfd_guest *g = p->guest;
    if (g)
        for (uint32_t i = 0; i < p->context_count && !kfd.has_ended; i++)
            kfd_status(kfd.api->context_destroy(p->contexts[i]), "the end of a process");
    if (g) {
        kfd_guest_calls_release(g);
        free(g->queues);
        free(g->fault);
        free(g->printed);
    }
    free(g);
    p->guest = NULL;
}

/* ---- kernels that are executed without timing ---- */

/* A guest that is to attend to a kernel asks for something else, and so gives up its wait. */
static bool has_other_call(const struct kfd_connection *c)
{
    return __atomic_load_n(&c->is_pending, __ATOMIC_ACQUIRE)
           && !kfd_guest_call_runs_mid_kernel(&c->call);
}

/* The guests that have asked for it, and wait, look for what a kernel wants of them. */
void kfd_guests_attend(const struct driver_attention *attention)
{
    kfd_guest_set_attention(attention);
    for (struct kfd_process *p = kfd.processes; p; p = p->next) {
        struct kfd_connection *c = p->guest && p->guest->attends && p->life != KFD_ENDED
                                       ? find_call(p, GUEST_WAITS)
                                       : NULL;
        if (!c)
            continue;
        kfd_guest_drop(&c->request);
        c->waits = c->call;
        guests.attendant = c;
        answer_call(c, GUEST_ATTEND);
        while (guests.attendant && !has_other_call(c))
            kfd_serve_mid_kernel();
        guests.attendant = NULL;
    }
    kfd_guest_set_attention(NULL);
}
