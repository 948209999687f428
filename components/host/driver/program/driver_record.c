/* --record instructions of CUDA programs, and the order of commands for --check: the driver's side.
 * Called with the lock held where the program calls.
 *
 * Kept on the host, outside of the simulation's state: it changes nothing that is simulated. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "components/checks/debugger/debugger.h"
#include "components/checks/finding.h"
#include "components/checks/races/command_order.h"
#include "components/checks/races/race_copies.h"
#include "components/checks/uninitialised/uninitialised.h"
#include "components/host/driver/driver_process.h"
#include "components/host/driver/driver_state.h"
#include "components/host/driver/launch/driver_ptx.h"
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
    struct finding_place place;
    if (!command_is_move(k) || k->move.is_of_library || !finding_is_wanted(FINDING_CHECK_RACES)
        || (caller && !caller(&call)))
        return;
    mistake_place(&call, &place);
    check_copy_called(k->ticket, &place);
}

static void record_enqueued(const struct driver *d, const struct driver_command *k)
{
    if (k->kind == DRIVER_WRITE || k->kind == DRIVER_FILL)
        check_memory_written(k->move.address, k->size);
    if (driver_queue_at(d, k->queue)->flags & DRIVER_QUEUE_SIGNALLED)
        return;
    check_command_given(k->queue, k->ticket, k->kind == DRIVER_BARRIER ? k->barrier.awaited : 0);
    record_caller(k);
}

static void record_start(const struct driver *d, const struct driver_command *k, uint32_t number)
{
    check_command_starts(number, k->ticket);
    if (device_executes_ptx(&d->device[number]))
        cuda_recording_launch(d->io.stats.launches + 1, k->queue);
}

/* A read only takes from memory, a write only puts there. */
static void check_copy(const struct driver_command *k, uint32_t pid,
                       const struct program_table *program)
{
    uint64_t to = k->kind == DRIVER_READ ? 0 : k->move.address, from = 0;
    if (k->kind == DRIVER_READ)
        from = k->move.address;
    else if (k->kind == DRIVER_COPY)
        from = k->move.source;
    check_copy_done(k->ticket, pid, to, from, k->size, program);
}

static void record_completed(const struct driver *d, const struct driver_command *k)
{
    const struct program_table *program = driver_program(d);
    const struct program_allocation *a = NULL;
    if (command_is_move(k) && k->kind != DRIVER_READ)
        debugger_written(k->move.address, k->size);
    if (k->kind == DRIVER_COPY)
        check_memory_copied(k->move.address, k->move.source, k->size);
    if (command_is_move(k) && finding_is_wanted(FINDING_CHECK_RACES))
        a = program_find(program, k->move.address);
    if (a)
        check_copy(k, a->pid, program);
}

static void record_wait(uint64_t ticket)
{
    check_command_seen(ticket);
    debugger_waited();
}

static void record_idle(uint32_t queue)
{
    check_queue_seen(queue);
    debugger_waited();
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
