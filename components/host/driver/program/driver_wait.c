/* Running the engine for a thread of the program that waits. Called with the lock held, so that
 * the engine is entered once; only a waiting thread runs it, so enqueueing alone takes no
 * simulated time. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "components/host/driver/commands/driver_commands.h"
#include "components/host/driver/driver_process.h"
#include "components/host/driver/driver_state.h"
#include "components/host/driver/launch/driver_ptx.h"
#include "components/nvidia/program/ptx_services.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/extension.h"
#include "runtime/engine/run_control.h"
#include "runtime/state/checkpoint.h"

#include "driver_journal.h"
#include "driver_program.h"

static enum driver_status run_lose(enum driver_status status, const char *format, const char *text)
{
    driver_process()->lost = status;
    if (ptx_services())
        ptx_services()->output_give_all(driver_process()->print ? ptx_print_for : NULL);
    snprintf(driver_process()->lost_text, sizeof driver_process()->lost_text, format, text);
    return driver_fail(status, "%s", driver_process()->lost_text);
}

/* A signal has interrupted the run: another thread writes what is known and ends the process. The
 * program must not run meanwhile, as what it waits for will not be done. */
__attribute__((noreturn)) static void run_park(void)
{
    run_lose(DRIVER_LIMIT, "%s", "the simulation was interrupted");
    pthread_mutex_unlock(&driver_process()->mutex);
    for (;;)
        pause();
}

static enum driver_status run_until_stopped(struct driver *d)
{
    if (driver_process()->is_in_tick)
        return driver_fail(DRIVER_NOT_READY, "nothing can wait in a tick");
    bool was_woken;
    enum journal_answer answer = journal_answer(d, &was_woken);
    if (answer != JOURNAL_LIVE)
        return answer == JOURNAL_ANSWERED ? DRIVER_OK : driver_process()->lost;
    if (!was_woken)
        engine_wake_from_host(d->io.base.id);
    driver_process()->runner = pthread_self();
    driver_process()->is_running = true;
    enum engine_result result = checkpoint_run();
    driver_process()->is_running = false;
    journal_ran(d);
    switch (result) {
    case ENGINE_STOPPED:
        return DRIVER_OK; /* what the caller waits for is done, or a pause is wanted */
    case ENGINE_FAILED:
        return run_lose(driver_process()->functional == DRIVER_OK ? DRIVER_FAULT
                                                                  : driver_process()->functional,
                        "%s", engine_failure());
    case ENGINE_INTERRUPTED:
        run_park();
    case ENGINE_IDLE:
        bug("driver: nothing left to simulate, but a command is not done");
    case ENGINE_LIMIT:
        return run_lose(DRIVER_LIMIT, "%s",
                        "the simulation was ended: the limit of cycles or instructions is reached "
                        "(--max-cycles, --max-instructions)");
    case ENGINE_STALL:
        return run_lose(DRIVER_STALL, "%s",
                        "the simulation was ended: nothing moves any more (stall)");
    default:
        return run_lose(DRIVER_DEADLOCK, "%s", "the simulation was ended: deadlock");
    }
}

static enum driver_status run_usable(void)
{
    return driver_process()->lost == DRIVER_OK
               ? DRIVER_OK
               : driver_fail(driver_process()->lost, "%s", driver_process()->lost_text);
}

/* Commands and work-groups that have come to their end, and commands that the GPU has taken. */
static uint64_t ended(const struct driver *d)
{
    struct run_counts of;
    extensions_progress(&of);
    return of.done + of.begun - d->undone;
}

/* From the first wait after the end of the program on, until another one begins. */
static void run_expect_end(struct driver *d)
{
    struct driver_process *p = driver_process();
    bool ends = __atomic_load_n(&p->ends, __ATOMIC_SEQ_CST);
    if (!ends)
        p->patience = 0;
    if (p->patience || !ends)
        return;
    p->patience = engine_stall_limit();
    p->patient_to = driver_now(d) + p->patience;
    p->ended_count = ended(d);
}

/* Behind the end of the program a kernel may wait for what nothing sets any more. */
static enum driver_status run_lose_patience(struct driver *d)
{
    struct driver_process *p = driver_process();
    if (!p->patience || driver_now(d) < p->patient_to)
        return DRIVER_OK;
    if (ended(d) == p->ended_count)
        return run_lose(DRIVER_STALL, "%s",
                        "the program has ended, but what it has launched does not end: for as many "
                        "cycles as --stall-limit says no work-group has (a kernel that waits for "
                        "the program waits for ever)");
    p->ended_count = ended(d);
    p->patient_to = driver_now(d) + p->patience;
    return DRIVER_OK;
}

static enum driver_status await_ticket(struct driver *d, uint64_t ticket)
{
    enum driver_status status = run_usable();
    run_expect_end(d);
    if (call_path(d) && !driver_process()->is_in_tick && status == DRIVER_OK
        && !driver_ticket_done(d, ticket))
        status = call_path(d)->wait(d, ticket);
    bool waits = !driver_ticket_done(d, ticket);
    while (status == DRIVER_OK && !driver_ticket_done(d, ticket)) {
        d->awaited = ticket;
        d->stop_at = driver_process()->patience ? driver_process()->patient_to : d->stop_at;
        status = run_until_stopped(d);
        if (status == DRIVER_OK && !driver_ticket_done(d, ticket))
            status = run_lose_patience(d);
    }
    d->stop_at = driver_process()->patience ? 0 : d->stop_at;
    d->awaited = 0;
    if (status == DRIVER_OK && waits)
        host_note_wait(d, ticket);
    if (status == DRIVER_OK)
        record_wait(ticket);
    return status;
}

static enum driver_status await_some(struct driver *d, uint32_t most)
{
    enum driver_status status = run_usable();
    while (status == DRIVER_OK && d->undone >= most) {
        d->awaits_any = true;
        status = run_until_stopped(d);
    }
    d->awaits_any = false;
    return status;
}

static enum driver_status await_migration(struct driver *d)
{
    enum driver_status status = run_usable();
    d->awaits_migration = true;
    while (status == DRIVER_OK && (d->migrate.state != MIGRATE_NONE || d->migrate.count))
        status = run_until_stopped(d);
    d->awaits_migration = false;
    return status;
}

static enum driver_status await_queue(struct driver *d, uint32_t queue)
{
    const struct driver_queue *q = driver_queue_at(d, queue);
    return q->last == DRIVER_NONE ? run_usable()
                                  : await_ticket(d, driver_command_at(d, q->last)->ticket);
}
