/* See play_instructions.h: the commands of a list, given to the driver one after the other.
 *
 * Allocations begin where they began in the recorded run, so page numbers agree with it. All of
 * them, the driver's own included, are made in the same order, so physical pages agree, too. The
 * driver makes its ring of arguments and its pools of private memory by itself, as always; where
 * these lie elsewhere than they did, compute units move the addresses. */
#include "play_instructions.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "components/protocols/command/aql_packet.h"
#include "components/hip/api/heddle_driver.h"
#include "components/traces/instruction_trace/reader/itrace_memory.h"

/* The ring of arguments is aligned to lines; code objects ask for no more. */
#define KERNARG_ALIGN 64

static const char *path; /* of the list */
static const struct driver_api *driver;
static struct itrace_list list;
static uint64_t *tickets; /* by command number */
static uint32_t *queues;  /* the driver's number of each of the list's */
static size_t queue_count, queue_capacity;

void play_fail(uint64_t line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s:", path);
    if (line)
        fprintf(stderr, "%" PRIu64 ":", line);
    fprintf(stderr, " error: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(1);
}

/* The driver has said why. */
static void check(const struct itrace_command *c, enum driver_status status)
{
    char what[4200];
    snprintf(what, sizeof what, "%s:%" PRIu64 ": %.80s", path, c->line,
             c->text ? c->text : c->name);
    if (heddlePlayStatus(status, what) != 0)
        exit(1);
}

static void say(void *context, bool is_error, const char *file, uint64_t line, const char *text)
{
    bool *wrong = context;
    *wrong = true; /* what is left out would be missing */
    (void)is_error;
    fprintf(stderr, "%s:", file);
    if (line)
        fprintf(stderr, "%" PRIu64 ":", line);
    fprintf(stderr, " error: %s\n", text);
}

/* ---- queues ---- */

#define NO_QUEUE UINT32_MAX

static void set_queue(uint32_t number, uint32_t queue)
{
    queues = itrace_reserve(queues, (size_t)number + 1, &queue_capacity, sizeof *queues);
    while (queue_count <= number)
        queues[queue_count++] = NO_QUEUE;
    queues[number] = queue;
}

/* Each GPU has a queue with its number. */
static uint32_t queue_of(const struct itrace_command *c, uint64_t number)
{
    if (number < queue_count && queues[number] != NO_QUEUE)
        return queues[number];
    if (number >= driver->device_count())
        play_fail(c->line, "there is no queue %" PRIu64 ": no 'Stream,%" PRIu64 ",GPU' has made it",
                  number, number);
    return (uint32_t)number;
}

/* ---- commands ---- */

static void play_malloc(const struct itrace_command *c)
{
    check(c, driver->allocate_at(c->gpu, c->address, c->bytes,
                                 c->managed ? DRIVER_PLACE_MANAGED : DRIVER_PLACE_DEVICE));
    uint8_t *bytes = c->managed ? NULL : calloc(1, c->bytes < ITRACE_AMD_MOST_BYTES ? c->bytes : 1);
    if (bytes && c->bytes < ITRACE_AMD_MOST_BYTES && play_code_fill(c->address, c->bytes, bytes))
        check(c, driver->register_code(c->gpu, "recorded code", c->address, bytes, c->bytes));
    free(bytes);
}

static void play_free(const struct itrace_command *c)
{
    driver->unregister_code(c->address); /* if it was code */
    check(c, driver->release(c->address));
}

static void play_write(const struct itrace_command *c)
{
    check(c, driver->write(queue_of(c, c->queue), c->address, play_source(c->bytes), c->bytes,
                           &tickets[c->number]));
}

static void play_read(const struct itrace_command *c)
{
    check(c, driver->read(queue_of(c, c->queue), play_drain(c->bytes), c->address, c->bytes,
                          &tickets[c->number]));
}

static void play_copy(const struct itrace_command *c)
{
    check(c, driver->copy(queue_of(c, c->queue), c->address, c->source, c->bytes,
                          &tickets[c->number]));
}

static void play_fill(const struct itrace_command *c)
{
    check(c, driver->fill(queue_of(c, c->queue), c->address, "", 1, c->bytes, &tickets[c->number]));
}

static void play_stream(const struct itrace_command *c)
{
    uint32_t queue = 0;
    check(c, driver->queue_create(c->gpu, &queue));
    set_queue(c->queue, queue);
}

static void play_stream_end(const struct itrace_command *c)
{
    check(c, driver->queue_destroy(queue_of(c, c->queue)));
    set_queue(c->queue, NO_QUEUE);
}

static void play_peer(const struct itrace_command *c)
{
    check(c, driver->set_peer(c->gpu, c->peer, c->on));
}

static void play_mark(const struct itrace_command *c)
{
    check(c, driver->mark(queue_of(c, c->queue), &tickets[c->number]));
}

static void play_after(const struct itrace_command *c)
{
    uint32_t queue = queue_of(c, c->queue);
    check(c, driver->wait_for(queue, tickets[c->awaited]));
    check(c, driver->last(queue, &tickets[c->number]));
}

static void play_wait(const struct itrace_command *c)
{
    if (tickets[c->awaited])
        check(c, driver->wait(tickets[c->awaited]));
}

/* The answer is the platform's own; the program of the recording was told that it was not done. */
static void play_query(const struct itrace_command *c)
{
    enum driver_status status =
        tickets[c->awaited] ? driver->query(tickets[c->awaited]) : DRIVER_OK;
    if (status != DRIVER_NOT_READY)
        check(c, status);
}

static void play_poll(const struct itrace_command *c)
{
    check(c, driver->advance(true));
}

/* What was launched, out of the header. `entry` stands for the descriptor's address: the driver
 * only tells kernels with equal arguments apart by it. */
static void play_kernel(const struct itrace_command *c)
{
    const struct itrace_options quiet = {0};
    struct itrace trace;
    struct aql_packet packet;
    if (!itrace_open(&trace, c->path, &quiet))
        play_fail(c->line, "%s cannot be read any more", c->path);
    const struct itrace_header *header = &trace.header;
    memcpy(&packet, header->packet, sizeof packet);
    struct driver_launch launch = {.name = *header->title ? header->title : header->kernel_name,
                                   .symbol = header->kernel_name,
                                   .entry = header->entry,
                                   .kernel_object = header->entry,
                                   .group_bytes = packet.group_bytes,
                                   .private_bytes = packet.private_bytes,
                                   .kernarg = header->arguments,
                                   .kernarg_bytes = (uint32_t)header->argument_bytes,
                                   .kernarg_align = KERNARG_ALIGN,
                                   .trace = c->path};
    memcpy(launch.descriptor, header->descriptor, sizeof launch.descriptor);
    for (unsigned i = 0; i < 3; i++) {
        launch.grid[i] = packet.grid[i];
        launch.block[i] = packet.work_group[i];
        if (!launch.block[i]
            || (launch.grid[i] + launch.block[i] - 1) / launch.block[i] != header->grid[i]
            || launch.block[i] != header->block[i])
            play_fail(c->line, "%s: 'grid dim' and 'block dim' are not those of '-packet'",
                      c->path);
    }
    check(c, driver->launch(queue_of(c, header->stream), &launch, &tickets[c->number]));
    itrace_close(&trace);
}

static void (*const players[ITRACE_COMMAND_KINDS])(const struct itrace_command *) = {
    [ITRACE_COMMAND_KERNEL] = play_kernel,
    [ITRACE_COMMAND_WRITE] = play_write,
    [ITRACE_COMMAND_READ] = play_read,
    [ITRACE_COMMAND_COPY] = play_copy,
    [ITRACE_COMMAND_FILL] = play_fill,
    [ITRACE_COMMAND_MALLOC] = play_malloc,
    [ITRACE_COMMAND_FREE] = play_free,
    [ITRACE_COMMAND_STREAM] = play_stream,
    [ITRACE_COMMAND_STREAM_END] = play_stream_end,
    [ITRACE_COMMAND_PEER] = play_peer,
    [ITRACE_COMMAND_MARK] = play_mark,
    [ITRACE_COMMAND_AFTER] = play_after,
    [ITRACE_COMMAND_WAIT] = play_wait,
    [ITRACE_COMMAND_QUERY] = play_query,
    [ITRACE_COMMAND_POLL] = play_poll};

/* ---- before the first command ---- */

/* All kernels can be read, and run on the GPUs they were launched on. */
static void look_ahead(void)
{
    for (size_t i = 0; i < list.count; i++) {
        const struct itrace_command *c = &list.commands[i];
        struct driver_device_info info;
        if (c->kind != ITRACE_COMMAND_KERNEL)
            continue;
        struct play_kernel kernel = play_code_learn(c);
        if (kernel.gpu >= driver->device_count())
            play_fail(c->line, "%s was launched on GPU %u; the platform has %u", c->path,
                      kernel.gpu, driver->device_count());
        check(c, driver->device_info(kernel.gpu, &info));
        if (strcmp(info.isa, kernel.isa) != 0)
            play_fail(c->line,
                      "%s is a trace of a program for %s; the GPUs of this platform are %s",
                      c->path, kernel.isa, info.isa);
    }
}

int main(int argc, char **argv)
{
    bool wrong = false;
    if (argc != 2) {
        fprintf(stderr, "usage: heddle run PLATFORM --play instructions=DIR\n");
        return 2;
    }
    path = argv[1];
    if (!itrace_list_read(&list, &(struct itrace_list_reader){path, say, &wrong, false, NULL})
        || wrong)
        return 1;
    if (heddlePlayDriver(&driver) != 0)
        return 1;
    look_ahead();
    tickets = itrace_allocate(list.numbers + 1, sizeof *tickets);
    for (size_t i = 0; i < list.count; i++)
        players[list.commands[i].kind](&list.commands[i]);
    for (uint32_t device = 0; device < driver->device_count(); device++)
        if (heddlePlayStatus(driver->wait_all(device), path) != 0)
            return 1;
    play_code_release();
    itrace_list_release(&list);
    itrace_free(tickets);
    itrace_free(queues);
    return 0;
}
