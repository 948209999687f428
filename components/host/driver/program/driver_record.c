/* --record instructions, and the order of commands for --check: the driver's side. What the program asks for goes to the list of the
 * recording, in its order; a launch is announced when it goes to its GPU, and written when it is
 * over. Called with the lock held where the program calls.
 *
 * Kept on the host, outside of the simulation's state: it changes nothing that is simulated. */
#include "driver_program.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "components/checks/check_commands.h"
#include "components/checks/finding.h"
#include "components/checks/uninitialised.h"
#include "components/host/driver/driver_process.h"
#include "components/host/driver/driver_state.h"
#include "components/host/driver/launch/driver_ptx.h"
#include "components/traces/instruction_trace/amd/amd_recording.h"
#include "components/traces/instruction_trace/nvidia/cuda_recording.h"
#include "components/statistics/execution_observer.h"
#include "runtime/engine/options.h"

static bool record_open(uint32_t units)
{
    const char *folder = option_folder("record instructions");
    if (mkdir(folder, 0755) != 0 && errno != EEXIST) /* a process after the first one */
        die("--record instructions: cannot make '%s': %s", folder, strerror(errno));
    if (!amd_recording_open(folder, units))
        return false;
    execution_observer = amd_recording_ops();
    return true;
}

/* Blocks of PTX are recorded as the trace player executes them. */
static void record_init_ptx(const char *folder)
{
    if (platform_mode() == PLATFORM_FUNCTIONAL)
        die("--record instructions: kernels in PTX are recorded while they are simulated; leave "
            "out "
            "--mode functional");
    if (mkdir(folder, 0755) != 0 && errno != EEXIST)
        die("--record instructions: cannot make '%s': %s", folder, strerror(errno));
    static const char *const addresses[] = {"stride", "each", "difference"}; /* the default first */
    const struct cuda_recording_form form = {
        .raw = option_flag("record-raw"),
        .addresses = (enum cuda_recording_addresses)option_word("record-addresses", addresses, 3)};
    if (!cuda_recording_open(folder, form))
        die("--record instructions: cannot write in '%s': %s", folder, strerror(errno));
}

static void record_init(const struct driver *d)
{
    const char *folder = option_folder("record instructions");
    if (!folder)
        return;
    if (d->gpu_count && device_executes_ptx(&d->device[0])) {
        record_init_ptx(folder);
        return;
    }
    if (driver_params(d)->launch_by == DRIVER_LAUNCH_BY_QUEUE
        && platform_mode() != PLATFORM_FUNCTIONAL)
        die("--record instructions: on this platform launches go through user queues "
            "(driver.launch_by = queue), which cannot be recorded; use --set "
            "driver.launch_by=command, or --mode functional");
    if (execution_observer_open(engine_base.platform->instance_count + 1, record_open))
        return;
    if (errno == EEXIST)
        die("--record instructions records one process; this is a second one");
    die("--record instructions: cannot write in '%s': %s", folder, strerror(errno));
}

/* Is it a recording that observes? */
static bool record_is_on(void)
{
    return execution_observer && !finding_wanted_any();
}

/* A last field, which is left out when it is 0. */
struct last_field {
    char text[16];
};

static struct last_field record_last(uint32_t value)
{
    struct last_field field = {""};
    if (value)
        snprintf(field.text, sizeof field.text, ",%u", value);
    return field;
}

static uint64_t record_number_of(uint64_t ticket)
{
    return ticket < driver_process()->record_room ? driver_process()->record_numbers[ticket] : 0;
}

static void record_set_number(uint64_t ticket, uint64_t number)
{
    uint64_t room = driver_process()->record_room ? driver_process()->record_room : 1024;
    while (ticket >= room)
        room *= 2;
    if (room > driver_process()->record_room) {
        driver_process()->record_numbers = realloc(driver_process()->record_numbers,
                                                   room * sizeof *driver_process()->record_numbers);
        if (!driver_process()->record_numbers)
            die("out of memory for %" PRIu64 " bytes of a recording",
                room * (uint64_t)sizeof *driver_process()->record_numbers);
        memset(driver_process()->record_numbers + driver_process()->record_room, 0,
               (room - driver_process()->record_room) * sizeof *driver_process()->record_numbers);
        driver_process()->record_room = room;
    }
    driver_process()->record_numbers[ticket] = number;
}

static void record_allocated(uint32_t gpu, uint64_t address, uint64_t bytes, bool managed)
{
    if (managed)
        amd_recording_line("Malloc,0x%016" PRIx64 ",%" PRIu64 ",%u,managed", address, bytes, gpu);
    else
        amd_recording_line("Malloc,0x%016" PRIx64 ",%" PRIu64 "%s", address, bytes,
                           record_last(gpu).text);
}

static void record_enqueued(const struct driver_command *k)
{
    uint64_t number = 0, awaited = 0;
    if (k->kind == DRIVER_WRITE || k->kind == DRIVER_FILL)
        check_memory_written(k->move.address, k->size);
    check_command(k->queue, k->ticket, k->kind == DRIVER_BARRIER ? k->barrier.awaited : 0);
    const struct last_field last = record_last(k->queue);
    const char *queue = last.text;
    if (!amd_recording_is_on())
        return;
    switch ((enum driver_kind)k->kind) {
    case DRIVER_WRITE:
        number = amd_recording_command("MemcpyHtoD,0x%016" PRIx64 ",%" PRIu64 "%s", k->move.address,
                                       k->size, queue);
        break;
    case DRIVER_READ:
        number = amd_recording_command("MemcpyDtoH,0x%016" PRIx64 ",%" PRIu64 "%s", k->move.address,
                                       k->size, queue);
        break;
    case DRIVER_COPY:
        number = amd_recording_command("MemcpyDtoD,0x%016" PRIx64 ",0x%016" PRIx64 ",%" PRIu64 "%s",
                                       k->move.address, k->move.source, k->size, queue);
        break;
    case DRIVER_FILL:
        number = amd_recording_command("Memset,0x%016" PRIx64 ",%" PRIu64 "%s", k->move.address,
                                       k->size, queue);
        break;
    case DRIVER_LAUNCH:
        number = amd_recording_command("kernel-%" PRIu64 ".traceg.zst", k->launch.number);
        break;
    case DRIVER_BARRIER:
        awaited = record_number_of(k->barrier.awaited);
        number = awaited ? amd_recording_command("After,%u,%" PRIu64, k->queue, awaited)
                         : amd_recording_command("Mark,%u", k->queue);
        break;
    case DRIVER_MARK:
        number = amd_recording_command("Mark,%u", k->queue);
        break;
    default:
        return; /* the driver's own */
    }
    record_set_number(k->ticket, number);
}

static void record_launch(const struct driver *d, uint32_t queue, const struct driver_launch *l)
{
    amd_recording_launch(&(struct amd_recording_launch){.kernel = d->launches_asked,
                                                        .symbol = l->symbol,
                                                        .title = l->name,
                                                        .queue = queue,
                                                        .arguments = l->kernarg,
                                                        .argument_bytes = l->kernarg_bytes});
}

static void record_start(const struct driver *d, const struct driver_command *k, uint32_t number)
{
    const struct driver_device *device = &d->device[number];
    check_command_starts(number, k->ticket);
    if (device_executes_ptx(device)) {
        cuda_recording_launch(d->io.stats.launches + 1, k->queue);
        return;
    }
    if (!record_is_on())
        return;
    const struct code_module *m = code_find(k->launch.entry);
    struct aql_packet packet = k->launch.packet;
    struct aql_descriptor descriptor;
    struct amd_recording_start start = {.gpu = number,
                                        .packet = &packet,
                                        .descriptor = &descriptor,
                                        .entry = k->launch.entry,
                                        .packet_address = device->ring_address + k->ring_offset,
                                        .ring = {device->ring_address, device->ring_bytes},
                                        .code = m ? m->bytes : NULL,
                                        .code_address = m ? m->address : 0,
                                        .code_bytes = m ? m->size : 0};
    if (isa_target_by_name(device->info.isa, &start.target) < 0)
        bug("driver: device %u has no known instruction set", number);
    if (k->launch.scratch_pool != DRIVER_NONE) {
        start.scratch[0] = device->scratch[k->launch.scratch_pool].address;
        start.scratch[1] = device->scratch[k->launch.scratch_pool].bytes;
    }
    aql_set_groups(&packet, k->launch.first_group, launch_count(k));
    memcpy(&descriptor, k->launch.descriptor, sizeof descriptor);
    amd_recording_start(k->launch.number, &start);
}

static void record_completed(const struct driver_command *k)
{
    if (k->kind == DRIVER_COPY)
        check_memory_copied(k->move.address, k->move.source, k->size);
    if (record_is_on() && k->kind == DRIVER_LAUNCH)
        amd_recording_end(k->launch.number);
}

static void record_wait(uint64_t ticket)
{
    check_command_seen(ticket);
    uint64_t number = record_is_on() ? record_number_of(ticket) : 0;
    if (number)
        amd_recording_line("Wait,%" PRIu64, number);
}

static void record_query(uint64_t ticket)
{
    uint64_t number = record_is_on() ? record_number_of(ticket) : 0;
    if (number)
        amd_recording_line("Query,%" PRIu64, number);
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
    if (!record_is_on())
        return true;
    const char *why = amd_recording_finish(driver_process()->lost == DRIVER_OK);
    if (why && !engine_is_interrupted())
        fprintf(stderr, "heddle: the program cannot be recorded: %s\n", why);
    return !amd_recording_is_unwritten();
}
