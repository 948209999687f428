/* --record instructions: the driver's side. What the program asks for goes to the list of the recording, in its order; a launch is
 * announced when it goes to its GPU, and written when it is over. Included by driver.c, with the lock held where the program calls.
 *
 * Kept on the host, outside of the simulation's state: it changes nothing that is simulated. */
#ifndef HEDDLE_DRIVER_RECORD_H
#define HEDDLE_DRIVER_RECORD_H

#include <errno.h>

#include "components/traces/instruction_trace/amd/amd_recording.h"
#include "driver_code.h"
#include "driver_state.h"

/* The number that a ticket's command has in the list, by ticket; 0: none. */
static uint64_t *record_numbers;
static uint64_t record_room;

/* Launches that do not come from this driver cannot be told apart. */
static void record_init(const struct driver *d)
{
    const char *folder = platform_record_trace();
    if (!folder)
        return;
    if (driver_params(d)->launch_by == DRIVER_LAUNCH_BY_QUEUE && platform_mode() != PLATFORM_FUNCTIONAL)
        die("--record instructions: on this platform launches go through user queues (driver.launch_by = queue), which cannot be "
            "recorded; use --set driver.launch_by=command, or --mode functional");
    if (!amd_recording_open(folder, engine_base.platform->instance_count + 1)) {
        if (errno == EEXIST)
            die("--record instructions records one process; this is a second one");
        die("--record instructions: cannot write in '%s': %s", folder, strerror(errno));
    }
    instruction_recorder = amd_recording_ops();
}

/* A last field, which is left out when it is 0. */
static const char *record_last(uint32_t value)
{
    static char text[16];
    text[0] = '\0';
    if (value)
        snprintf(text, sizeof text, ",%u", value);
    return text;
}

static uint64_t record_number_of(uint64_t ticket)
{
    return ticket < record_room ? record_numbers[ticket] : 0;
}

static void record_set_number(uint64_t ticket, uint64_t number)
{
    uint64_t room = record_room ? record_room : 1024;
    while (ticket >= room)
        room *= 2;
    if (room > record_room) {
        record_numbers = realloc(record_numbers, room * sizeof *record_numbers);
        if (!record_numbers)
            die("out of memory for %" PRIu64 " bytes", room * (uint64_t)sizeof *record_numbers);
        memset(record_numbers + record_room, 0, (room - record_room) * sizeof *record_numbers);
        record_room = room;
    }
    record_numbers[ticket] = number;
}

static void record_allocated(uint32_t gpu, uint64_t address, uint64_t bytes, bool managed)
{
    if (managed)
        amd_recording_line("Malloc,0x%016" PRIx64 ",%" PRIu64 ",%u,managed", address, bytes, gpu);
    else
        amd_recording_line("Malloc,0x%016" PRIx64 ",%" PRIu64 "%s", address, bytes, record_last(gpu));
}

/* A command was appended to its queue. */
static void record_enqueued(const struct driver_command *k)
{
    uint64_t number = 0, awaited = record_number_of(k->awaited);
    const char *queue = record_last(k->queue);
    if (!amd_recording_is_on())
        return;
    switch ((enum driver_kind)k->kind) {
    case DRIVER_WRITE:
        number = amd_recording_command("MemcpyHtoD,0x%016" PRIx64 ",%" PRIu64 "%s", k->device_address, k->size, queue);
        break;
    case DRIVER_READ:
        number = amd_recording_command("MemcpyDtoH,0x%016" PRIx64 ",%" PRIu64 "%s", k->device_address, k->size, queue);
        break;
    case DRIVER_COPY:
        number = amd_recording_command("MemcpyDtoD,0x%016" PRIx64 ",0x%016" PRIx64 ",%" PRIu64 "%s", k->device_address, k->source,
                                     k->size, queue);
        break;
    case DRIVER_FILL:
        number = amd_recording_command("Memset,0x%016" PRIx64 ",%" PRIu64 "%s", k->device_address, k->size, queue);
        break;
    case DRIVER_LAUNCH:
        number = amd_recording_command("kernel-%" PRIu64 ".traceg.zst", k->launch);
        break;
    case DRIVER_BARRIER:
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

/* The launch that was enqueued last. */
static void record_launch(const struct driver *d, uint32_t queue, const struct driver_launch *l)
{
    amd_recording_launch(&(struct amd_recording_launch){.kernel = d->launches_asked,
                                                    .symbol = l->symbol,
                                                    .title = l->name,
                                                    .queue = queue,
                                                    .arguments = l->kernarg,
                                                    .argument_bytes = l->kernarg_bytes});
}

/* A launch goes to GPU `number`. */
static void record_start(const struct driver *d, const struct driver_command *k, uint32_t number)
{
    if (!instruction_recorder)
        return;
    const struct driver_device *device = &d->device[number];
    const struct code_module *m = code_find(k->entry);
    struct aql_packet packet = k->packet;
    struct aql_descriptor descriptor;
    struct amd_recording_start start = {.gpu = number,
                                      .packet = &packet,
                                      .descriptor = &descriptor,
                                      .entry = k->entry,
                                      .packet_address = device->ring_address + k->ring_offset,
                                      .ring = {device->ring_address, device->ring_bytes},
                                      .code = m ? m->bytes : NULL,
                                      .code_address = m ? m->address : 0,
                                      .code_bytes = m ? m->size : 0};
    if (isa_target_by_name(device->info.isa, &start.target) < 0)
        bug("driver: device %u has no known instruction set", number);
    if (k->scratch_pool != DRIVER_NONE) {
        start.scratch[0] = device->scratch[k->scratch_pool].address;
        start.scratch[1] = device->scratch[k->scratch_pool].bytes;
    }
    aql_set_groups(&packet, k->first_group, launch_count(k));
    memcpy(&descriptor, k->descriptor, sizeof descriptor);
    amd_recording_start(k->launch, &start);
}

static void record_completed(const struct driver_command *k)
{
    if (instruction_recorder && k->kind == DRIVER_LAUNCH)
        amd_recording_end(k->launch);
}

/* The host knows that the ticket is done. */
static void record_wait(uint64_t ticket)
{
    uint64_t number = instruction_recorder ? record_number_of(ticket) : 0;
    if (number)
        amd_recording_line("Wait,%" PRIu64, number);
}

/* It asked, and time passed. */
static void record_query(uint64_t ticket)
{
    uint64_t number = instruction_recorder ? record_number_of(ticket) : 0;
    if (number)
        amd_recording_line("Query,%" PRIu64, number);
}

/* The end of the program. */
static void record_finish(void)
{
    if (!instruction_recorder)
        return;
    const char *why = amd_recording_finish(driver_lost == DRIVER_OK);
    if (why)
        fprintf(stderr, "heddle: the program cannot be recorded: %s\n", why);
}

#endif
