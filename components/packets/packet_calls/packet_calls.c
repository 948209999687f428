/* Calls of the program as packets through a simulated host (platforms/packet_direct.heddle), with
 * the driver's lock held where the program calls.
 *
 * Each call of the program makes a *trip*: its packet (components/packets/api_packet) goes to the
 * host's core, from there over memory to the device that takes calls (mmio), which hands it to the
 * driver again (device_call.execute). Only then a command may begin, and it does what the packet
 * says: its addresses and sizes are taken from there. Trips are made one after the other, as the
 * program's calls are; a trip that only waits for a command (event_synchronize) lets others pass.
 * The bytes of copies go the same way: the core writes them to memory, where the device's DMA
 * engine fetches them for the driver, or the other way around, and the core reads them for the
 * program. So the packet of a copy names the core's buffer; addresses of the program's own memory,
 * which differ from run to run, are in no packet.
 */
#include "packet_calls.gen.h"

#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "components/host/driver/call_path.h"
#include "components/host/driver/calls/driver_device_calls.h"
#include "components/host/driver/commands/driver_command.h"
#include "components/host/driver/driver_state.h"
#include "components/host/driver/program/driver_program.h"
#include "components/packets/api_packet/api_request.h"
#include "components/protocols/host_call/host_call_data.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/run_control.h"
#include "runtime/state/blob.h"

enum { TRIPS = 4 * DRIVER_COMMANDS_MAX, TRIPS_SPARE = 256 /* a call makes a handful of trips */ };

enum trip_kind {
    TRIP_NOTE,    /* has been done already; takes its time */
    TRIP_COMMAND, /* a command waits for it */
    TRIP_READ,    /* a command waits for it, and ends when it comes back with the bytes */
    TRIP_WAIT     /* the program waits for a command */
};

struct driver_trip {
    uint32_t blob; /* the packet */
    uint32_t data; /* blob: bytes of a copy, for the core or from it; 0: none */
    uint32_t read; /* blob: what has been read from a GPU, for the device; 0: none */
    uint32_t command;
    uint64_t ticket;
    uint8_t kind; /* enum trip_kind */
    bool is_executed, is_done;
};

struct packet_calls {
    struct packet_calls_io io;
    uint32_t trips_at; /* arena: struct driver_trip[TRIPS], a ring */
    uint64_t first, sent,
        last;        /* numbers: the first not done, the first not sent, one past the last */
    bool is_sending; /* one that others wait for is under way */
    /* Calls of the program that wait for a trip: its end stops the engine. */
    uint64_t waiting_calls;
};

/* True if the call of the interface that this thread is in has made a trip. */
static _Thread_local bool has_trip;

static struct packet_calls *packets_of(const struct driver *d)
{
    return (struct packet_calls *)(void *)driver_call_path(d);
}

static struct driver_trip *trip_at(const struct driver *d, uint64_t number)
{
    return arena_at(struct driver_trip, packets_of(d)->trips_at) + number % TRIPS;
}

static void packet_calls_init(struct packet_calls *p)
{
    p->trips_at = arena_allocate(TRIPS * sizeof(struct driver_trip));
}

static struct api_request packet_of(enum api_call call)
{
    struct api_request r;
    memset(&r, 0, sizeof r);
    r.call = (uint16_t)call;
    return r;
}

static uint64_t trip_add(struct driver *d, enum trip_kind kind, struct api_request *r,
                         uint32_t command, uint64_t ticket)
{
    struct packet_calls *p = packets_of(d);
    struct packet_fault fault;
    struct blob *blob = blob_new(API_REQUEST_BYTES_MAX);
    has_trip = true;
    r->sequence = (uint32_t)p->last;
    if (!api_request_encode(r, blob->bytes, blob->size, &fault))
        bug("driver: call %u cannot be a packet", r->call);
    *trip_at(d, p->last) = (struct driver_trip){
        .blob = blob->number, .command = command, .ticket = ticket, .kind = (uint8_t)kind};
    return p->last++;
}

/* Notes a call that has no command. */
static void packet_add(struct driver *d, struct api_request r)
{
    trip_add(d, TRIP_NOTE, &r, 0, 0);
}

/* Waits until trip `number` is over. */
static enum driver_status packet_wait_trip(struct driver *d, uint64_t number)
{
    enum driver_status status = run_usable();
    struct packet_calls *p = packets_of(d);
    while (status == DRIVER_OK && number >= p->first && !trip_at(d, number)->is_done) {
        p->waiting_calls++;
        status = run_until_stopped(d);
        p->waiting_calls--;
    }
    return status;
}

static enum driver_status packet_wait_room(struct driver *d)
{
    const struct packet_calls *p = packets_of(d);
    return p->last - p->first < TRIPS - TRIPS_SPARE ? DRIVER_OK
                                                    : packet_wait_trip(d, p->last - TRIPS / 2);
}

static enum driver_status packet_drain(struct driver *d)
{
    const struct packet_calls *p = packets_of(d);
    return p->first < p->last ? packet_wait_trip(d, p->last - 1) : DRIVER_OK;
}

static enum driver_status packet_wait(struct driver *d, uint64_t ticket)
{
    struct api_request r = packet_of(API_CALL_EVENT_SYNCHRONIZE);
    r.event_synchronize.event = ticket;
    enum driver_status status = packet_wait_room(d);
    return status == DRIVER_OK ? packet_wait_trip(d, trip_add(d, TRIP_WAIT, &r, 0, ticket))
                               : status;
}

/* As packet_add(), when there is room. */
static enum driver_status packet_add_later(struct driver *d, struct api_request r)
{
    enum driver_status status = packet_wait_room(d);
    if (status == DRIVER_OK)
        packet_add(d, r);
    return status;
}

static enum driver_status packet_add_allocate(struct driver *d, uint64_t size)
{
    struct api_request r = packet_of(API_CALL_MALLOC);
    r.malloc.size = size;
    return packet_add_later(d, r);
}

static enum driver_status packet_add_release(struct driver *d, uint64_t address)
{
    struct api_request r = packet_of(API_CALL_FREE);
    r.free.address = address;
    return packet_add_later(d, r);
}

static enum driver_status packet_add_register(struct driver *d, uint64_t module, uint64_t size)
{
    struct api_request r = packet_of(API_CALL_REGISTER_MODULE);
    r.register_module.address = module;
    r.register_module.size = size;
    return packet_add_later(d, r);
}

static enum driver_status packet_add_unregister(struct driver *d, uint64_t module)
{
    struct api_request r = packet_of(API_CALL_UNREGISTER_MODULE);
    r.unregister_module.module = module;
    return packet_add_later(d, r);
}

static enum driver_status packet_add_name(struct driver *d, const char *kernel, uint64_t entry)
{
    struct api_request r = packet_of(API_CALL_REGISTER_FUNCTION);
    r.register_function.function = entry;
    snprintf(r.register_function.name, sizeof r.register_function.name, "%s", kernel);
    return packet_add_later(d, r);
}

/* Calls whose packets have nothing but their kind, without HIP's or CUDA's prefix. */
static enum api_call plain_call(const char *function)
{
    static const struct {
        const char *name;
        enum api_call call;
    } known[] = {
        {"MemGetInfo", API_CALL_MEMORY_INFO},
        {"DeviceSynchronize", API_CALL_DEVICE_SYNCHRONIZE},
        {"DeviceReset", API_CALL_DEVICE_RESET},
        {"GetLastError", API_CALL_GET_LAST_ERROR},
        {"PeekAtLastError", API_CALL_PEEK_AT_LAST_ERROR},
        {"GetDeviceCount", API_CALL_GET_DEVICE_COUNT},
        {"GetDevice", API_CALL_GET_DEVICE},
        {"StreamCreate", API_CALL_STREAM_CREATE},
        {"EventCreate", API_CALL_EVENT_CREATE},
    };
    while (*function >= 'a' && *function <= 'z')
        function++;
    for (size_t i = 0; i < ARRAY_COUNT(known); i++)
        if (strcmp(function, known[i].name) == 0)
            return known[i].call;
    return API_CALL_OTHER;
}

static void packet_begin(void)
{
    has_trip = false;
}

static enum driver_status packet_end(struct driver *d, const char *function)
{
    if (has_trip || run_usable() != DRIVER_OK)
        return DRIVER_OK;
    struct api_request r = packet_of(plain_call(function));
    if (r.call == API_CALL_OTHER)
        snprintf(r.other.name, sizeof r.other.name, "%s", function);
    return packet_add_later(d, r);
}

/* A stream of the API is a queue of the driver: one more, since 0 is the default stream. */
static uint64_t packet_stream(uint32_t queue)
{
    return (uint64_t)queue + 1;
}

static void packet_copy(struct api_request *r, const struct driver_command *k,
                        enum api_direction direction)
{
    r->memcpy_async.destination = direction == API_DIRECTION_DEVICE_TO_HOST ? 0 : k->move.address;
    r->memcpy_async.source = direction == API_DIRECTION_DEVICE_TO_HOST     ? k->move.address
                             : direction == API_DIRECTION_DEVICE_TO_DEVICE ? k->move.source
                                                                           : 0;
    r->memcpy_async.size = k->size;
    r->memcpy_async.direction = (uint16_t)direction;
    r->memcpy_async.stream = packet_stream(k->queue);
}

static void packet_command(struct driver *d, uint32_t number)
{
    struct driver_command *k = driver_command_at(d, number);
    struct api_request r = packet_of(API_CALL_MEMCPY_ASYNC);
    if (k->kind == DRIVER_STAGE || k->kind == DRIVER_SHOOTDOWN)
        return;
    switch ((enum driver_kind)k->kind) {
    case DRIVER_WRITE:
        packet_copy(&r, k, API_DIRECTION_HOST_TO_DEVICE);
        break;
    case DRIVER_READ:
        packet_copy(&r, k, API_DIRECTION_DEVICE_TO_HOST);
        break;
    case DRIVER_COPY:
        packet_copy(&r, k, API_DIRECTION_DEVICE_TO_DEVICE);
        break;
    case DRIVER_FILL:
        r.call = API_CALL_MEMSET_ASYNC;
        r.memset_async.address = k->move.address;
        r.memset_async.value = k->move.pattern & 0xff;
        r.memset_async.width = 1;
        r.memset_async.count = k->size;
        r.memset_async.stream = packet_stream(k->queue);
        break;
    case DRIVER_LAUNCH:
        r.call = API_CALL_LAUNCH;
        r.launch.function = k->launch.entry;
        break;
    case DRIVER_MARK:
        r.call = API_CALL_EVENT_RECORD;
        r.event_record.event = k->ticket;
        r.event_record.stream = packet_stream(k->queue);
        break;
    default:
        r.call = API_CALL_STREAM_WAIT_EVENT;
        r.stream_wait_event.event = k->kind == DRIVER_BARRIER ? k->barrier.awaited : 0;
        r.stream_wait_event.stream = packet_stream(k->queue);
    }
    k->is_gated = true;
    trip_add(d, k->kind == DRIVER_READ && k->size ? TRIP_READ : TRIP_COMMAND, &r, number,
             k->ticket);
}

static void packet_launch(struct driver *d, uint32_t queue, const struct driver_launch *l)
{
    struct api_request r = packet_of(API_CALL_CONFIGURE_CALL);
    r.configure_call.grid_x = divide_up(l->grid[0], l->block[0]);
    r.configure_call.grid_y = divide_up(l->grid[1], l->block[1]);
    r.configure_call.grid_z = divide_up(l->grid[2], l->block[2]);
    r.configure_call.block_x = l->block[0];
    r.configure_call.block_y = l->block[1];
    r.configure_call.block_z = l->block[2];
    r.configure_call.shared_bytes = l->group_bytes;
    r.configure_call.stream = packet_stream(queue);
    packet_add(d, r);
    for (uint32_t at = 0; at < l->kernarg_bytes; at += sizeof r.set_argument.value) {
        uint32_t left = l->kernarg_bytes - at, most = sizeof r.set_argument.value;
        r = packet_of(API_CALL_SET_ARGUMENT);
        r.set_argument.offset = at;
        r.set_argument.size = min(left, most);
        memcpy(r.set_argument.value, (const char *)l->kernarg + at, r.set_argument.size);
        packet_add(d, r);
    }
}

/* ---- in ticks ---- */

/* True if a copy that is on its way to the program overlaps the bytes that command `k` takes from
 * it.
 */
static bool packet_awaits_read(const struct driver *d, const struct driver_command *k)
{
    const struct packet_calls *p = packets_of(d);
    for (uint64_t i = p->first; i < p->sent; i++) {
        const struct driver_trip *t = trip_at(d, i);
        const struct driver_command *r = driver_command_at(d, t->command);
        if (t->kind != TRIP_READ || t->is_done || r->ticket != t->ticket)
            continue;
        const char *to = t->is_executed ? r->move.program : r->move.host;
        if (to < k->move.host + k->size && k->move.host < to + r->size)
            return true;
    }
    return false;
}

/* The blob for a copy's bytes; those to a GPU are the program's now. False: not yet. */
static bool packet_fetch_data(const struct driver *d, struct driver_trip *t)
{
    if (t->kind != TRIP_COMMAND && t->kind != TRIP_READ)
        return true;
    const struct driver_command *k = driver_command_at(d, t->command);
    if ((k->kind != DRIVER_WRITE && k->kind != DRIVER_READ) || !k->size)
        return true;
    if (k->kind == DRIVER_WRITE && packet_awaits_read(d, k))
        return false;
    struct blob *blob = blob_new(k->size);
    t->data = blob->number;
    if (k->kind == DRIVER_WRITE)
        memcpy(blob->bytes, k->move.host, k->size);
    return true;
}

static bool packets_send(struct driver *d)
{
    struct packet_calls *p = packets_of(d);
    if (p->is_sending || p->sent == p->last || !driver_host_can_send(d))
        return false;
    struct driver_trip *t = trip_at(d, p->sent);
    bool waits = t->kind == TRIP_WAIT || t->kind == TRIP_READ;
    if ((t->kind == TRIP_COMMAND || t->kind == TRIP_READ)
        && driver_command_at(d, t->command)->not_before > driver_now(d)) {
        driver_wake_at(d, driver_command_at(d, t->command)->not_before);
        return false;
    }
    if (!packet_fetch_data(d, t))
        return false;
    /* Tags come around only after those that wait have been answered: the core has fewer places. */
    driver_host_send_call(d, (uint16_t)(p->sent % UINT16_MAX), t->blob, t->data, waits);
    p->is_sending = !waits;
    p->sent++;
    return true;
}

/* A trip is over; a copy from a GPU ends with it, if it has not ended without time. */
static void packet_deliver(struct driver *d, struct driver_trip *t)
{
    struct driver_command *k = driver_command_at(d, t->command);
    if (t->kind == TRIP_READ && k->ticket == t->ticket && k->phase == PHASE_RUNNING) {
        memcpy(blob_at(t->read)->bytes, blob_at(t->data)->bytes, k->size);
        command_complete(d, driver_queue_at(d, k->queue));
    }
    if (t->read)
        blob_free(t->read);
    if (t->data)
        blob_free(t->data);
}

static void packet_end_copy(struct driver *d, struct driver_command *k)
{
    if (k->kind == DRIVER_READ)
        memcpy(k->move.program, blob_at(k->move.data)->bytes, k->size);
    else if (!d->direct_count)
        blob_free(k->move.data);
}

static bool packet_has_read(const struct driver *d, uint64_t ticket, uint32_t read)
{
    const struct packet_calls *p = packets_of(d);
    for (uint64_t i = p->first; i < p->sent; i++) {
        const struct driver_trip *t = trip_at(d, i);
        const struct driver_command *k = driver_command_at(d, t->command);
        if (t->kind == TRIP_READ && t->ticket == ticket && t->read == read)
            return !d->direct_count
                   && (driver_ticket_done(d, ticket)
                       || (k->ticket == ticket && k->phase == PHASE_RUNNING));
    }
    return true;
}

static bool packets_receive(struct driver *d)
{
    struct packet_calls *p = packets_of(d);
    const struct host_call_reply *m;
    bool has_received = false;
    while ((m = driver_host_peek_reply(d))) {
        uint64_t number = p->first;
        while (trip_at(d, number)->blob != m->done.blob || trip_at(d, number)->is_done)
            number++;
        struct driver_trip *t = trip_at(d, number);
        if (!t->is_executed)
            engine_fail(&d->io.base,
                        "the device has answered packet %" PRIu64
                        " and not handed it to the driver",
                        number);
        if (t->kind != TRIP_WAIT && t->kind != TRIP_READ)
            p->is_sending = false;
        packet_deliver(d, t);
        blob_free(t->blob);
        t->is_done = true;
        while (p->first < p->sent && trip_at(d, p->first)->is_done)
            p->first++;
        d->io.stats.packets++;
        if (p->waiting_calls)
            engine_stop();
        driver_host_pop_reply(d);
        has_received = true;
    }
    return has_received;
}

static bool packets_tick(struct driver *d)
{
    bool progress = packets_receive(d);
    return packets_send(d) || progress;
}

/* The bytes of a copy are, or will be, in blobs. */
static void packet_put_data(struct driver_trip *t, struct driver_command *k, uint32_t data,
                            uint64_t *ticket, uint32_t *read)
{
    if (k->kind == DRIVER_WRITE && data) {
        k->move.data = data;
        k->move.host = (char *)blob_at(data)->bytes;
    } else if (t->kind == TRIP_READ) {
        struct blob *blob = blob_new(k->size);
        k->move.data = t->read = *read = blob->number;
        k->move.program = k->move.host;
        k->move.host = (char *)blob->bytes;
        *ticket = k->ticket;
    }
}

/* The command does what its packet says, which has come back from the simulated host. */
static void packet_run_command(struct driver_trip *t, struct driver_command *k,
                               const struct api_request *r, uint32_t data, uint64_t *ticket,
                               uint32_t *read)
{
    switch ((enum api_call)r->call) {
    case API_CALL_MEMCPY_ASYNC:
        k->size = r->memcpy_async.size;
        k->move.address = r->memcpy_async.direction == API_DIRECTION_DEVICE_TO_HOST
                              ? r->memcpy_async.source
                              : r->memcpy_async.destination;
        if (r->memcpy_async.direction == API_DIRECTION_DEVICE_TO_DEVICE)
            k->move.source = r->memcpy_async.source;
        packet_put_data(t, k, data, ticket, read);
        break;
    case API_CALL_MEMSET_ASYNC:
        k->move.address = r->memset_async.address;
        k->size = r->memset_async.count;
        break;
    case API_CALL_LAUNCH:
        k->launch.entry = r->launch.function;
        break;
    case API_CALL_STREAM_WAIT_EVENT:
        if (k->kind == DRIVER_BARRIER)
            k->barrier.awaited = r->stream_wait_event.event;
        break;
    default:
        break;
    }
}

static bool packets_execute(struct driver *d, uint32_t call, uint32_t data, uint64_t *ticket,
                            uint32_t *read)
{
    const struct packet_calls *p = packets_of(d);
    const struct api_request *r = calls_bytes(call, sizeof *r);
    if (!r)
        return false;
    uint64_t number = p->first + (uint32_t)(r->sequence - (uint32_t)p->first);
    if (number >= p->sent || trip_at(d, number)->is_executed)
        return false;
    struct driver_trip *t = trip_at(d, number);
    t->is_executed = true;
    if (t->kind == TRIP_WAIT)
        *ticket =
            driver_ticket_done(d, r->event_synchronize.event) ? 0 : r->event_synchronize.event;
    if (t->kind != TRIP_COMMAND && t->kind != TRIP_READ)
        return true;
    struct driver_command *k = driver_command_at(d, t->command);
    if (k->ticket != t->ticket || k->phase != PHASE_QUEUED)
        bug("driver: command %" PRIu64 " has begun before its packet came back", t->ticket);
    k->is_gated = false;
    packet_run_command(t, k, r, data, ticket, read);
    return true;
}

static unsigned packets_outstanding(const struct driver *d, struct hang_report *report)
{
    const struct packet_calls *p = packets_of(d);
    if (report && p->first != p->last)
        hang_note(report, "%" PRIu64 " calls are on their way as packets", p->last - p->first);
    return (unsigned)(p->last - p->first);
}

static const struct call_path_ops packet_calls_ops = {
    .copy_bytes = HOST_CALL_DATA,
    .allocated = packet_add_allocate,
    .released = packet_add_release,
    .registered = packet_add_register,
    .unregistered = packet_add_unregister,
    .named = packet_add_name,
    .begin = packet_begin,
    .end = packet_end,
    .wait_room = packet_wait_room,
    .command = packet_command,
    .launch = packet_launch,
    .drain = packet_drain,
    .wait = packet_wait,
    .tick = packets_tick,
    .execute = packets_execute,
    .has_read = packet_has_read,
    .copied = packet_end_copy,
    .outstanding = packets_outstanding,
};
