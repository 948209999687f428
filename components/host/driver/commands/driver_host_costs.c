/* Times of host and runtime that no message takes: what an event costs, what is done before the
 * bytes of a copy move, and what a program needs after a wait.
 *
 * A set-up is time in the queue: it delays the commands after it, and nothing else.
 *
 * A launch of a sample begins at a moment that is drawn. In a run of all, the moments at which
 * launches begin follow from each other, and what depends on them (turns of units and crossbars,
 * refreshes of DRAM) may be the same each time. Where the moments are drawn, launches of a sample
 * differ by such effects, and their scatter contains them (randomisation: Cochran, Sampling
 * Techniques, chapter 1). */
#include "base/hash.h"
#include "base/number.h"
#include "base/wide.h"
#include "components/host/driver/driver_state.h"
#include "components/sampling/sampling_options.h"

#include "driver_commands.h"

enum { SMALL_PAGE = 4096, HUGE_PAGE = 2 << 20 }; /* the host's pages, in bytes */

static uint64_t cycles_of(const struct driver *d, uint64_t ps)
{
    uint64_t now_ps = engine.domains[d->io.base.domain].time_ps;
    return ps ? engine_cycle_at(d->io.base.domain, now_ps + ps) - driver_now(d) : 0;
}

static uint64_t host_copy_ps(const struct driver_params *p, const struct driver_command *k)
{
    bool read = k->kind == DRIVER_READ;
    uint64_t wait = read ? p->read_setup : 0;
    uint64_t staged = (uint64_t)(read ? p->staged_read : p->staged);
    uint64_t rate = (uint64_t)(read ? p->staged_read_rate : p->staged_rate);
    if (k->size <= staged)
        return wait + p->staged_setup + k->size * PS_PER_S / rate;
    uint64_t pages = k->size < HUGE_PAGE ? divide_up(k->size, SMALL_PAGE) : 0;
    return wait + p->copy_setup + pages * p->pin_page;
}

static uint64_t setup_ps(const struct driver *d, const struct driver_command *k)
{
    const struct driver_params *p = driver_params(d);
    if (k->kind == DRIVER_MARK)
        return p->event_cost;
    if (!command_is_move(k) || k->move.is_shared || driver_copy_ops(d)->takes_no_time)
        return 0;
    bool by_host = k->kind == DRIVER_WRITE || k->kind == DRIVER_READ;
    return by_host ? host_copy_ps(p, k) : p->blit_setup;
}

/* Cycles: less than 8192, more than two intervals of refreshes of DRAM at 2 GHz. */
static uint64_t moment_of(const struct driver_command *k)
{
    enum { MOMENT_BITS = 13 };
    bool drawn = platform_sampling()->automatic && k->kind == DRIVER_LAUNCH;
    return drawn ? hash_multiply(k->launch.number) >> (64 - MOMENT_BITS) : 0;
}

static bool command_set_up(struct driver *d, struct driver_command *k)
{
    if (k->is_set_up)
        return true;
    k->is_set_up = true;
    uint64_t cycles = cycles_of(d, setup_ps(d, k)) + moment_of(k);
    if (!cycles)
        return true;
    k->not_before = driver_now(d) + cycles;
    driver_wake_at(d, k->not_before);
    return false;
}

static uint64_t host_call_cycles(const struct driver *d, const struct driver_command *k)
{
    const struct driver_params *p = driver_params(d);
    bool records = k->kind == DRIVER_MARK && !driver_copy_ops(d)->takes_no_time;
    return p->api_cost + (records ? cycles_of(d, p->record_cost) : 0);
}

static void host_note_wait(struct driver *d, uint64_t ticket)
{
    const struct driver_ticket *t = driver_ticket_at(d, ticket);
    uint64_t cycles = cycles_of(d, driver_params(d)->wait_cost);
    if (!cycles || platform_mode() == PLATFORM_FUNCTIONAL)
        return;
    if (t->ticket == ticket && t->done_ps & DRIVER_TICKET_MOVE)
        return;
    if (d->host_cycle < driver_now(d) + cycles)
        d->host_cycle = driver_now(d) + cycles;
}
