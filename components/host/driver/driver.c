/* The driver: host and runtime of a simulated system.
 *
 * Two sides. The program's side (program/driver_api_table.c) runs in the program's threads under
 * one lock: it allocates memory, checks, and appends commands to queues. A call that waits runs the
 * engine in its own thread until the awaited command is done, so the engine is never entered twice.
 * The other side ticks like every component and turns commands into messages to the GPUs
 * (commands/driver_command_queues.c). */
#include "driver.gen.h"

#define UNIT_COLD

#include <inttypes.h>

#include "components/host/driver/calls/driver_device_calls.h"
#include "components/host/driver/commands/driver_commands.h"
#include "components/host/driver/migration/driver_migration.h"
#include "components/host/driver/program/driver_journal.h"
#include "components/host/driver/program/driver_program.h"
#include "components/host/driver/user_queues/driver_user_queue.h"
#include "components/nvidia/program/ptx_services.h"
#include "components/statistics/program_observer.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/options.h"
#include "runtime/engine/run_control.h"
#include "runtime/engine/store_log.h"

#include "driver_process.h"
#include "driver_state.h"

static void read_options(void)
{
    static const char *const bounds[] = {"exact", "page"};
    driver_process()->has_page_bounds = option_word("bounds", bounds, 2) == 1;
}

static void open_tables(struct driver *d)
{
    d->commands = arena_allocate((DRIVER_COMMANDS_MAX + 2) * sizeof(struct driver_command));
    d->queues = arena_allocate(DRIVER_QUEUES_MAX * sizeof(struct driver_queue));
    d->tickets = arena_allocate(DRIVER_TICKETS * sizeof(struct driver_ticket));
    index_pool_init(&d->command_numbers, DRIVER_COMMANDS_MAX);
    memory_init(&d->memory, driver_page_bytes(d), driver_params(d)->fragment);
    d->memory.skip = driver_params(d)->first_page;
    driver_program(d)->page_bytes = (uint32_t)driver_page_bytes(d);
    store_offer(driver_program(d));
}

/* A driver that devices call, and no simulated host, is driven by them and not by a program. One
 * whose GPU plays traces has no program. */
static void open_to_program(struct driver *d)
{
    bool is_driven = !driver_calls_count(d) || driver_host_is_connected(d);
    if (is_driven && !option_text("play sass")) {
        platform_register_driver(driver_api_table());
        record_init();
        program_observer->open(engine_base.platform->instance_count, driver_page_table(d));
        journal_open(d);
    }
}

static void driver_init(struct driver *d)
{
    uint64_t pages = 0;
    read_options();
    d->device_count = d->gpu_count = driver_gpu_count(d);
    if (d->device_count > 1 && device_is_memory(d, d->device_count - 1))
        d->gpu_count--;
    if (d->device_count > DRIVER_DEVICES)
        engine_die(&d->io.base, "%u GPUs are connected, it can use %d", d->device_count,
                   DRIVER_DEVICES);
    open_tables(d);
    for (uint32_t i = 0; i < d->device_count; i++) {
        device_init(d, i);
        pages += d->device[i].size / driver_page_bytes(d);
    }
    for (uint32_t i = 0; i < d->gpu_count; i++)
        queue_open(d, i, i); /* queue number = device number */
    handles_init(d);
    l2_init(d);
    bounce_init(d);
    page_table_init(driver_page_table(d), (unsigned)__builtin_ctzll(driver_page_bytes(d)), pages);
    ptx_tables_set(driver_program(d), driver_page_table(d));
    driver_page_table(d)->fragment_bits = (unsigned)__builtin_ctzll(driver_params(d)->fragment);
    residence_init(d);
    migrate_init(d);
    user_queue_init(d);
    direct_init(d);
    sample_init(d);
    calls_init(d);
    driver_process()->driver = d;
    open_to_program(d);
}

static bool driver_tick(struct driver *d)
{
    bool progress = driver_work(d);
    progress |= user_queue_tick(d);
    progress |= calls_tick(d, driver_window_end);
    progress |= call_path(d) && call_path(d)->tick(d);
    if (driver_is_nudged())
        engine_stop();
    if (d->stop_at && driver_now(d) >= d->stop_at) {
        d->stop_at = 0;
        engine_stop();
        progress = true;
    }
    if (!progress && d->stop_at)
        driver_wake_at(d, d->stop_at);
    return progress;
}

/* Reports the reason why the first command of the queue waits. */
static void report_queue(const struct driver *d, uint32_t queue, struct hang_report *report)
{
    static const char *const phases[] = {[PHASE_QUEUED] = "is queued",
                                         [PHASE_FLUSHING] = "waits for a flush",
                                         [PHASE_DIRECT] = "takes no time",
                                         [PHASE_MOVE] = "moves data",
                                         [PHASE_LAUNCH_FIRST] = "is to start",
                                         [PHASE_RUNNING] = "runs",
                                         [PHASE_UNTIMED] = "waits until nothing is under way",
                                         [PHASE_UNTIMED_RETRY] = "waits until nothing is under way",
                                         [PHASE_UNTIMED_DONE] = "is done",
                                         [PHASE_YIELDED] = "waits for others"};
    const struct driver_queue *q = driver_queue_at(d, queue);
    const struct driver_command *k = driver_command_at(d, q->first);
    bool is_launch = k->kind == DRIVER_LAUNCH;
    if (is_launch && k->launch.user != DRIVER_NONE && k->phase == PHASE_RUNNING) {
        const struct user_queue_entry *user = &user_queues_of(d)->queue[k->launch.user];
        hang_note(report,
                  "queue %u: its launches are in user queue %u of GPU %u (doorbell %u), %" PRIu64
                  " of %" PRIu64 " have ended",
                  queue, k->launch.user, q->device, user->slot, user->done, user->written);
    }
    hang_note(report, "queue %u: %s %s%s%s, %u messages in flight", queue, command_name(k),
              is_launch ? program_kernel_name(driver_program(d), k->launch.kernel) : "",
              is_launch ? " " : "", phases[k->phase], k->in_flight);
}

static void report_queues(const struct driver *d, struct hang_report *report)
{
    enum { QUEUES_SHOWN = 8 };
    unsigned shown = 0;
    for (uint32_t i = 0; i < d->queue_count && shown < QUEUES_SHOWN; i++) {
        if (driver_queue_at(d, i)->first == DRIVER_NONE)
            continue;
        report_queue(d, i, report);
        shown++;
    }
}

static unsigned driver_outstanding(const struct driver *d, struct hang_report *report)
{
    bool moves_pages = d->migrate.state != MIGRATE_NONE;
    if (report)
        report_queues(d, report);
    if (report && moves_pages)
        hang_note(report, "moves pages: %u are asked for", d->migrate.count);
    return d->undone + moves_pages + user_queue_outstanding(d, report)
           + calls_outstanding(d, report)
           + (call_path(d) ? call_path(d)->outstanding(d, report) : 0);
}
