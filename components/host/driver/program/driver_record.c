/* --record instructions of CUDA programs, and the order of commands for --check: the driver's side.
 * Called with the lock held where the program calls.
 *
 * Kept on the host, outside of the simulation's state: it changes nothing that is simulated. */
#include "driver_program.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "components/checks/check_commands.h"
#include "components/checks/uninitialised.h"
#include "components/host/driver/driver_process.h"
#include "components/host/driver/driver_state.h"
#include "components/host/driver/launch/driver_ptx.h"
#include "components/traces/instruction_trace/nvidia/cuda_recording.h"
#include "runtime/engine/options.h"

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

static void record_enqueued(const struct driver_command *k)
{
    if (k->kind == DRIVER_WRITE || k->kind == DRIVER_FILL)
        check_memory_written(k->move.address, k->size);
    check_command(k->queue, k->ticket, k->kind == DRIVER_BARRIER ? k->barrier.awaited : 0);
}

static void record_start(const struct driver *d, const struct driver_command *k, uint32_t number)
{
    check_command_starts(number, k->ticket);
    if (device_executes_ptx(&d->device[number]))
        cuda_recording_launch(d->io.stats.launches + 1, k->queue);
}

static void record_completed(const struct driver_command *k)
{
    if (k->kind == DRIVER_COPY)
        check_memory_copied(k->move.address, k->move.source, k->size);
}

static void record_wait(uint64_t ticket)
{
    check_command_seen(ticket);
}

static void record_idle(uint32_t queue)
{
    check_queue_seen(queue);
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
