/* Decides at each event of a thread whether the process stops. If the debugger has asked for
 * nothing, an event costs two comparisons. */
#include "debugger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "components/checks/finding.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/options.h"

#include "debug_serve.h"
#include "debug_stores.h"

enum { POLL_EVERY = 1 << 12, THREAD_MAX = 1024 };

static bool is_open;
static struct debug_thread *threads, **threads_end = &threads;
static uint64_t thread_count, event, findings; /* so far */
/* The thread that was stepped past its last instruction. */
static union {
    struct debug_thread thread;
    _Alignas(16) char bytes[THREAD_MAX];
} ended;
static struct debug_request go;      /* what was asked for last */
static struct debug_stopped present; /* the last event */
static struct debug_stopped last;    /* DEBUG_SCAN: what was found so far */
static bool has_stepped;             /* DEBUG_STEP: the thread's event is being executed */

static bool is_fresh; /* code has been loaded since the last stop */

bool debugger_is_open(void)
{
    return is_open;
}

struct debug_thread *debugger_threads(void)
{
    return threads;
}

const struct debug_thread *debugger_thread(uint64_t number)
{
    if (number && ended.thread.identity.wavefront == number)
        return &ended.thread;
    const struct debug_thread *t = threads;
    while (t && (t->identity.wavefront != number || !t->has_come))
        t = t->next;
    return t;
}

uint64_t debugger_pc(const struct debug_thread *t)
{
    return t == &ended.thread ? t->identity.pc : t->kind->pc(t);
}

/* ---- stops ---- */

static void stop(const struct debug_stopped *answer)
{
    is_fresh = false;
    debug_serve(&present, answer, &go);
    last = (struct debug_stopped){.reason = DEBUG_CAME};
    if (go.a == DEBUG_CYCLE)
        go.b += present.cycle;
    has_stepped = go.c == present.wavefront;
}

/* Describes the stop after the step of the stepped thread. The present event may be another
 * thread's. */
static void end_step(struct debug_stopped *at)
{
    const struct debug_thread *t = debugger_thread(go.c);
    if (!t)
        return;
    at->reason = t->is_watched ? DEBUG_WATCHED : DEBUG_STEPPED;
    at->wavefront = t->identity.wavefront;
    at->pc = debugger_pc(t);
    at->address = t->access.address;
    at->rule = t->access.rule;
}

/* The reason to stop before this event, to which `t` has come; DEBUG_CAME: there is none. */
static void end_run(const struct debug_thread *t, struct debug_stopped *at)
{
    if (t->is_watched) {
        at->reason = DEBUG_WATCHED;
        at->address = t->access.address;
        at->rule = t->access.rule;
    } else if (debug_breakpoints_break(at->pc)) {
        at->reason = DEBUG_BROKE;
    } else if (go.a == DEBUG_CYCLE && at->cycle >= go.b) {
        at->reason = DEBUG_STEPPED;
    } else if (is_fresh && go.a == DEBUG_CONTINUE) {
        at->reason = DEBUG_LOADED;
    } else if (event % POLL_EVERY == 0 && debug_serve_interrupted()) {
        at->reason = DEBUG_INTERRUPTED;
    }
}

/* Before the event of a scan: what it looks for. */
static void note_thread(const struct debug_thread *t, bool has_finding)
{
    struct debug_stopped at = present;
    if (go.c == t->identity.wavefront)
        at.reason = DEBUG_STEPPED;
    else if (!go.c && debug_breakpoints_break(at.pc))
        at.reason = DEBUG_BROKE;
    else if (!go.c && has_finding)
        at.reason = DEBUG_FOUND;
    if (at.reason != DEBUG_CAME)
        last = at;
}

static void run_thread(const struct debug_thread *t, bool has_finding)
{
    struct debug_stopped at = present;
    if (has_finding)
        at.reason = DEBUG_FOUND;
    else if (go.a == DEBUG_STEP && has_stepped)
        end_step(&at);
    else
        end_run(t, &at);
    bool again = at.wavefront != t->identity.wavefront || at.reason == DEBUG_LOADED;
    has_stepped |= go.c == t->identity.wavefront;
    if (at.reason != DEBUG_CAME)
        stop(&at);
    ended.thread.identity.wavefront = 0;
    if (again && go.a == DEBUG_CONTINUE && debug_breakpoints_break(present.pc)) {
        at = present;
        at.reason = DEBUG_BROKE;
        stop(&at);
    }
}

/* ---- events of executors ---- */

void debugger_begin(struct debug_thread *t, const char *kernel)
{
    if (!threads)
        debug_serve_settle(t);
    t->identity.wavefront = ++thread_count;
    snprintf(t->identity.kernel, sizeof t->identity.kernel, "%s", kernel);
    *threads_end = t;
    threads_end = &t->next;
}

void debugger_event(struct debug_thread *t, uint64_t pc, uint64_t cycle)
{
    present = (struct debug_stopped){.event = ++event,
                                     .wavefront = t->identity.wavefront,
                                     .pc = pc,
                                     .reason = DEBUG_CAME,
                                     .cycle = cycle};
    bool has_finding = finding_count() > findings;
    findings = finding_count();
    t->has_come = true;
    t->identity.pc = pc;
    if (event == 1) {
        present.reason = DEBUG_BEGAN;
        stop(&present);
    } else if (go.a == DEBUG_SCAN || go.a == DEBUG_TO) {
        if (event >= go.b)
            stop(go.a == DEBUG_SCAN ? &last : &present);
        else if (go.a == DEBUG_SCAN)
            note_thread(t, has_finding);
    } else {
        run_thread(t, has_finding);
    }
    t->is_watched = false;
}

/* Going back over an access to watched bytes is seen in a step, too. */
void debugger_access(struct debug_thread *t, const struct debug_access *access)
{
    struct debug_stopped at = present;
    if (go.a == DEBUG_TO || !debug_breakpoints_access(access, &at))
        return;
    at.reason = DEBUG_WATCHED;
    if (go.a == DEBUG_SCAN)
        last = at;
    t->is_watched = go.a != DEBUG_SCAN;
    t->access = at;
}

void debugger_end(struct debug_thread *t)
{
    struct debug_thread **link = &threads;
    while (*link != t)
        link = &(*link)->next;
    *link = t->next;
    if (threads_end == &t->next)
        threads_end = link;
    if (go.a != DEBUG_STEP || go.c != t->identity.wavefront || !t->has_come)
        return;
    if (t->kind->bytes > THREAD_MAX)
        bug("a thread of the debugger has %zu bytes", t->kind->bytes);
    memcpy(ended.bytes, t, t->kind->bytes);
    ended.thread.identity.pc += t->kind->end_bytes;
}

void debugger_written(uint64_t address, uint64_t size)
{
    if (is_open)
        debug_stores_forget(address, size);
}

void debugger_waited(void)
{
    if (is_open)
        debug_serve_settle(NULL);
}

void debugger_code(const char *kind, uint64_t address, const void *file, size_t size)
{
    is_fresh = is_open;
    if (is_open)
        debug_serve_keep(kind, address, file, size);
}

/* However the program ends, but by a signal. */
static void finish_debugger(int status, void *unused)
{
    (void)unused;
    debug_serve_end(&(struct debug_stopped){
        .reason = DEBUG_ENDED, .event = event, .address = (uint64_t)status & 0xff});
}

bool debugger_open(const struct page_table *pages)
{
    const char *folder = getenv(OPTIONS_ENV_DEBUG);
    is_open = folder && debug_serve_open(folder, pages);
    if (is_open)
        on_exit(finish_debugger, NULL);
    return is_open;
}
