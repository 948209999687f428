/* Calls that come over ports (protocol device_call), from a device that takes them from its host:
 * the same functions as for a program, without a thread that could wait.
 *
 * A call is taken by the tick and done at the end of the window, since it may change page table and
 * allocations. What would have to wait there (a full list of commands, memory that is in use) says
 * DRIVER_NOT_READY instead, has changed nothing, and is tried again when a command is done. What
 * goes to a queue is answered when its ticket is done. */
#include "driver_device_calls.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "components/host/driver/driver_memory.h"
#include "components/host/driver/driver_process.h"
#include "components/host/driver/driver_state.h"
#include "components/host/driver/launch/driver_launch.h"
#include "components/host/driver/launch/driver_ptx.h"
#include "components/host/driver/program/driver_program.h"
#include "runtime/engine/deferral.h"
#include "runtime/state/blob.h"

struct driver_waiting {
    uint64_t ticket;
    uint32_t port;
    uint32_t read; /* blob: of a copy from a GPU through a simulated host; 0: none */
    uint16_t tag;
};

struct driver_calls {
    uint32_t phase; /* enum calls_phase, of the call in `request` */
    uint32_t port;
    uint32_t status; /* enum driver_status, of the answer */
    uint32_t undone; /* commands, when it was refused */
    uint64_t value;
    struct device_call_request request;
    uint64_t size; /* fields that may follow the header */
    uint32_t queue;
    uint32_t waiting_count;
    struct driver_waiting waiting[CALLS_WAITING]; /* as they came */
};

static struct driver_calls *calls_of(const struct driver *d)
{
    return arena_at(struct driver_calls, d->calls_state);
}

static void calls_init(struct driver *d)
{
    if (!driver_calls_count(d))
        return;
    d->calls_state = arena_allocate(sizeof(struct driver_calls));
}

/* ---- at the end of a window ---- */

/* The first bytes of a blob. NULL: it has fewer than `bytes`. */
static void *calls_bytes(uint32_t number, uint64_t bytes)
{
    struct blob *blob = blob_at(number);
    if (blob && bytes <= blob->size)
        return blob->bytes;
    driver_fail(DRIVER_INVALID_VALUE, "a call with a blob that has not %" PRIu64 " bytes", bytes);
    return NULL;
}

static enum driver_status calls_info(struct driver *d, const struct device_call_request *m,
                                     uint64_t *value)
{
    struct driver_device_info *info = calls_bytes(m->info.blob, sizeof *info);
    enum driver_status status = info ? handle_check(d, m->info.device) : DRIVER_INVALID_VALUE;
    if (status == DRIVER_OK)
        handle_info(d, driver_handle_at(d, m->info.device), info);
    *value = d->gpu_count;
    return status;
}

static enum driver_status calls_room(struct driver *d, uint32_t device, uint64_t *value)
{
    enum driver_status status = handle_check(d, device);
    if (status == DRIVER_OK)
        *value = d->memory.device[driver_handle_at(d, device)->member[0]].pages.free_pages
                 * driver_page_bytes(d);
    return status;
}

static enum driver_status calls_allocate(struct driver *d, const struct device_call_request *m,
                                         uint64_t *value)
{
    enum driver_place place = (enum driver_place)m->allocate.place;
    if (!m->allocate.address)
        return mapping_allocate(d, m->allocate.device, m->allocate.size, 0, place, value);
    *value = m->allocate.address;
    return mapping_allocate_at(d, m->allocate.device, *value, m->allocate.size, place);
}

static enum driver_status calls_code(struct driver *d, const struct device_call_request *m)
{
    char *bytes = calls_bytes(m->code.blob, (uint64_t)m->code.size + 1), *name;
    enum driver_status status = bytes ? handle_check(d, m->code.device) : DRIVER_INVALID_VALUE;
    if (status != DRIVER_OK)
        return status;
    name = bytes + m->code.size;
    return device_executes_ptx(&d->device[driver_handle_at(d, m->code.device)->member[0]])
               ? call_register_ptx(d, m->code.device, name, m->code.address, bytes, m->code.size)
               : code_register(d, m->code.device, name, m->code.address, bytes, m->code.size);
}

static enum driver_status calls_blocks(struct driver *d, const struct device_call_request *m,
                                       uint64_t *value)
{
    uint32_t blocks = 0;
    enum driver_status status = call_ptx_blocks(d, m->blocks.device, m->blocks.entry,
                                                m->blocks.threads, m->blocks.shared, &blocks);
    *value = blocks;
    return status;
}

static enum driver_status calls_kernel(struct driver *d, const struct device_call_request *m)
{
    const char *name = calls_bytes(m->kernel.blob, 1);
    return name ? code_register_kernel(d, m->kernel.device, name, m->kernel.entry)
                : DRIVER_INVALID_VALUE;
}

static enum driver_status calls_open(struct driver *d, uint32_t device, uint64_t *value)
{
    uint32_t queue = 0;
    enum driver_status status = call_queue_create(d, device, 0, &queue);
    *value = queue;
    return status;
}

/* Executes a call of the program itself. The device cannot ask for what the program does not ask
 * for. */
static enum driver_status calls_execute(struct driver *d, const struct device_call_request *m,
                                        uint64_t *ticket, uint32_t *read)
{
    if (call_path(d) && call_path(d)->execute(d, m->execute.blob, m->execute.data, ticket, read))
        return DRIVER_OK;
    return driver_fail(DRIVER_INVALID_VALUE, "a call that the program has not sent");
}

static enum driver_status calls_enqueue(struct driver *d, const struct driver_calls *s,
                                        uint64_t *ticket)
{
    const struct device_call_request *m = &s->request;
    struct command_move move;
    uint8_t pattern[4];
    char *bytes;
    if (d->undone + CALLS_SPARE > driver_params(d)->commands && d->undone)
        return driver_fail(DRIVER_NOT_READY, "%u commands are queued", d->undone);
    switch (message_kind(m)) {
    case DEVICE_CALL_WRITE:
        bytes = calls_bytes(m->write.blob, m->write.size);
        move = (struct command_move){.address = m->write.address, .host = bytes};
        return bytes ? enqueue_move(d, m->write.queue, DRIVER_WRITE, move, m->write.size, ticket)
                     : DRIVER_INVALID_VALUE;
    case DEVICE_CALL_READ:
        bytes = calls_bytes(m->read.blob, m->read.size);
        move = (struct command_move){.address = m->read.address, .host = bytes};
        return bytes ? enqueue_move(d, m->read.queue, DRIVER_READ, move, m->read.size, ticket)
                     : DRIVER_INVALID_VALUE;
    case DEVICE_CALL_COPY:
        return call_copy(d, s->queue, m->copy.to, m->copy.from, s->size, ticket);
    case DEVICE_CALL_FILL:
        memcpy(pattern, (const char *)m + offsetof(struct device_call_request, fill.pattern),
               sizeof pattern);
        return call_fill(d, s->queue, m->fill.address, pattern, m->fill.width, m->fill.count,
                         ticket);
    default:
        bytes = calls_bytes(m->launch.blob, sizeof(struct driver_launch));
        return bytes ? call_launch(d, m->launch.queue,
                                   (const struct driver_launch *)(const void *)bytes, ticket)
                     : DRIVER_INVALID_VALUE;
    }
}

/* Executes the call. *ticket is that of a command in a queue now; 0: the call is over. */
static enum driver_status calls_do(struct driver *d, struct driver_calls *s, uint64_t *ticket,
                                   uint32_t *read)
{
    const struct device_call_request *m = &s->request;
    enum driver_status status = run_usable();
    if (status != DRIVER_OK)
        return status;
    switch (message_kind(m)) {
    case DEVICE_CALL_INFO:
        return calls_info(d, m, &s->value);
    case DEVICE_CALL_ROOM:
        return calls_room(d, m->room.device, &s->value);
    case DEVICE_CALL_ALLOCATE:
        return calls_allocate(d, m, &s->value);
    case DEVICE_CALL_RELEASE:
        return mapping_release(d, m->release.address);
    case DEVICE_CALL_OPEN:
        return calls_open(d, m->open.device, &s->value);
    case DEVICE_CALL_CLOSE:
        return call_queue_destroy(d, m->close.queue);
    case DEVICE_CALL_CODE:
        return calls_code(d, m);
    case DEVICE_CALL_KERNEL:
        return calls_kernel(d, m);
    case DEVICE_CALL_BLOCKS:
        return calls_blocks(d, m, &s->value);
    case DEVICE_CALL_FORGET:
        return code_unregister(d, m->forget.address);
    case DEVICE_CALL_EXECUTE:
        return calls_execute(d, m, ticket, read);
    default:
        return calls_enqueue(d, s, ticket);
    }
}

static void calls_window_end(struct driver *d)
{
    if (!driver_calls_count(d) || calls_of(d)->phase != CALLS_TAKEN)
        return;
    struct driver_calls *s = calls_of(d);
    uint64_t ticket = 0;
    uint32_t read = 0;
    if (!d->memory.end)
        memory_set_range(&d->memory, DRIVER_WINDOW, DRIVER_WINDOW + DRIVER_WINDOW_BYTES);
    driver_process()->is_in_tick = true;
    enum driver_status status = calls_do(d, s, &ticket, &read);
    driver_process()->is_in_tick = false;
    s->status = status;
    s->undone = d->undone;
    s->phase = status == DRIVER_NOT_READY ? CALLS_REFUSED : CALLS_ANSWER;
    if (status != DRIVER_OK && status != DRIVER_NOT_READY)
        fprintf(stderr, "heddle: driver: %s\n", driver_failure());
    if (status == DRIVER_OK && ticket) {
        s->waiting[s->waiting_count++] =
            (struct driver_waiting){ticket, s->port, read, s->request.tag};
        s->phase = CALLS_FREE;
    }
}

/* ---- in ticks ---- */

/* Takes the next call and keeps its payload. */
static bool calls_take(struct driver *d, void (*at_window_end)(struct component *))
{
    struct driver_calls *s = calls_of(d);
    for (uint32_t i = 0; i < driver_calls_count(d); i++) {
        const struct device_call_request *m = driver_calls_peek(d, i);
        if (!m)
            continue;
        s->request = *m;
        s->port = i;
        s->value = 0;
        if (message_kind(m) == DEVICE_CALL_COPY) {
            s->size = *device_call_copy_size(driver_calls_payload(d, i));
            s->queue = m->copy.queue;
        }
        if (message_kind(m) == DEVICE_CALL_FILL)
            s->queue = *device_call_fill_queue(driver_calls_payload(d, i));
        driver_calls_pop(d, i);
        s->phase = CALLS_TAKEN;
        engine_at_window_end(&d->io.base, at_window_end);
        d->io.stats.device_calls++;
        return true;
    }
    return false;
}

/* Answers what has waited long enough, in the order in which it came. */
static bool calls_answer(struct driver *d)
{
    struct driver_calls *s = calls_of(d);
    uint32_t kept = 0, before = s->waiting_count;
    for (uint32_t i = 0; i < before; i++) {
        const struct driver_waiting w = s->waiting[i];
        bool over =
            w.read ? call_path(d)->has_read(d, w.ticket, w.read) : driver_ticket_done(d, w.ticket);
        if (over && driver_calls_can_reply(d, w.port))
            driver_calls_reply_done(d, w.port, w.tag, w.read, DRIVER_OK);
        else
            s->waiting[kept++] = w;
    }
    s->waiting_count = kept;
    if (s->phase == CALLS_ANSWER && driver_calls_can_reply(d, s->port)) {
        driver_calls_reply_done(d, s->port, s->request.tag, s->value, s->status);
        s->phase = CALLS_FREE;
        return true;
    }
    return kept != before;
}

static bool calls_tick(struct driver *d, void (*at_window_end)(struct component *))
{
    if (!driver_calls_count(d))
        return false;
    struct driver_calls *s = calls_of(d);
    bool progress = calls_answer(d);
    if (s->phase == CALLS_REFUSED && s->undone != d->undone) {
        s->phase = CALLS_TAKEN;
        engine_at_window_end(&d->io.base, at_window_end);
        return true;
    }
    if (s->phase == CALLS_FREE && s->waiting_count < CALLS_WAITING)
        progress |= calls_take(d, at_window_end);
    return progress;
}

static unsigned calls_outstanding(const struct driver *d, struct hang_report *report)
{
    if (!driver_calls_count(d))
        return 0;
    const struct driver_calls *s = calls_of(d);
    if (report && s->phase == CALLS_REFUSED)
        hang_note(report, "a call of a device waits for room, or for memory that is in use");
    return (s->phase != CALLS_FREE) + s->waiting_count;
}
