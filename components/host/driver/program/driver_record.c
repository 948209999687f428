/* --record instructions of CUDA programs, and the order of commands for --check: the driver's side.
 * Called with the lock held where the program calls.
 *
 * Kept on the host, outside of the simulation's state: it changes nothing that is simulated. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "components/host/driver/driver_process.h"
#include "components/host/driver/driver_state.h"
#include "components/host/driver/launch/driver_ptx.h"
#include "components/statistics/program_observer.h"
#include "components/traces/instruction_trace/nvidia/cuda_recording.h"
#include "runtime/engine/options.h"
#include "runtime/engine/run_control.h"

#include "driver_program.h"

/* Blocks of PTX are recorded as the trace player executes them. */
static void record_init(void)
{
    const char *folder = option_folder("record instructions");
    if (!folder)
        return;
    if (platform_mode() == PLATFORM_FUNCTIONAL)
        die("--record instructions: kernels in PTX are recorded while they are simulated; leave "
            "out --mode functional");
    if (mkdir(folder, 0755) != 0 && errno != EEXIST)
        die("--record instructions: cannot make '%s': %s", folder, strerror(errno));
    static const char *const addresses[] = {"stride", "each", "difference"}; /* the default first */
    const struct cuda_recording_form form = {
        .raw = option_flag("record-raw"),
        .addresses = (enum cuda_recording_addresses)option_word("record-addresses", addresses, 3)};
    if (!cuda_recording_open(folder, form))
        die("--record instructions: cannot write in '%s': %s", folder, strerror(errno));
}

/* For the check of races: the call that makes the copy or the fill. */
static void record_caller(const struct driver_command *k)
{
    bool (*caller)(struct driver_call * call) = driver_process()->caller;
    struct driver_call call = {.name = "a copy or a fill", .source = ""};
    if (!command_is_move(k) || k->move.is_of_library || !program_observer->needs_calls()
        || (caller && !caller(&call)))
        return;
    program_observer->move_called(k->ticket, &call);
}

static void record_enqueued(const struct driver *d, const struct driver_command *k)
{
    if (k->kind == DRIVER_WRITE || k->kind == DRIVER_FILL)
        program_observer->memory_written(k->move.address, k->size);
    if (driver_queue_at(d, k->queue)->flags & DRIVER_QUEUE_SIGNALLED)
        return;
    program_observer->command_enqueued(k->queue, k->ticket,
                                       k->kind == DRIVER_BARRIER ? k->barrier.awaited : 0);
    record_caller(k);
}

static void record_start(const struct driver *d, const struct driver_command *k, uint32_t number)
{
    program_observer->launch_started(number, k->ticket);
    if (device_executes_ptx(&d->device[number]))
        cuda_recording_launch(d->io.stats.launches + 1, k->queue);
}

/* A read changes no memory, and only a copy reads what it writes. */
static void record_completed(const struct driver *d, const struct driver_command *k)
{
    if (!command_is_move(k))
        return;
    struct observed_move move = {.ticket = k->ticket,
                                 .to = k->kind == DRIVER_READ ? 0 : k->move.address,
                                 .from = k->kind == DRIVER_READ   ? k->move.address
                                         : k->kind == DRIVER_COPY ? k->move.source
                                                                  : 0,
                                 .bytes = k->size,
                                 .program = driver_program(d)};
    program_observer->move_done(&move);
}

static void record_wait(uint64_t ticket)
{
    program_observer->command_awaited(ticket);
}

static void record_idle(uint32_t queue)
{
    program_observer->queue_awaited(queue);
}

static void record_copy(const struct driver_command *k)
{
    if (k->kind == DRIVER_WRITE)
        cuda_recording_copy(k->move.address, k->size);
}

/* false: a file could not be written. */
static bool record_finish(void)
{
    const char *cuda = cuda_recording_finish(driver_process()->lost == DRIVER_OK);
    if (cuda && !engine_is_interrupted()) {
        fprintf(stderr, "heddle: the program cannot be recorded: %s\n", cuda);
        return false;
    }
    return true;
}
