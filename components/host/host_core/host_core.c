/* Carries packets for a program. Each call in flight has a slot, with a page of memory of its own;
 * its lines have the slot's number and their own as tags. The call that is not waiting for the
 * program's sake has its turn alone, so packets reach the device in the order of calls. */
#include "host_core.gen.h"

#include <string.h>

#include "api_answer.gen.h"
#include "api_request.gen.h"
#include "components/protocols/mem/mem_mask.h"
#include "runtime/state/blob.h"
#include "runtime/observe/hang.h"
#include "runtime/observe/timeline.h"

enum { CORE_LINE = 64, CORE_LINES = 32, CORE_ROOM = 4096, CORE_DEVICE = 31 };
_Static_assert(API_REQUEST_MOST_BYTES < CORE_DEVICE * CORE_LINE, "a tag for each line of a packet");

enum core_phase { CORE_FREE, CORE_WRITE, CORE_RING, CORE_WAIT, CORE_READ, CORE_DONE };

struct core_call {
    uint32_t phase; /* enum core_phase */
    uint32_t blob;
    uint32_t bytes, issued, finished; /* of the packet, in this phase */
    uint16_t tag;
    uint16_t call; /* enum api_call */
    bool wait;
    uint64_t order, since;
};

struct host_core {
    struct host_core_io io;
    uint32_t calls; /* arena */
    uint32_t used;
    bool busy; /* with a call that others wait for */
    uint64_t taken;
};

static uint32_t call_count(const struct host_core *c)
{
    return (uint32_t)host_core_params(c)->calls;
}

static struct core_call *call_at(const struct host_core *c, uint32_t i)
{
    return arena_at(struct core_call, c->calls) + i;
}

static void host_core_init(struct host_core *c)
{
    c->calls = arena_allocate(call_count(c) * sizeof(struct core_call));
}

static uint64_t address_of(const struct host_core *c, uint32_t slot)
{
    return (uint64_t)host_core_params(c)->memory + (uint64_t)slot * CORE_ROOM;
}

static uint32_t pid_of(const struct host_core *c)
{
    return (uint32_t)host_core_params(c)->pid;
}

static bool take_call(struct host_core *c)
{
    const struct host_call_request *m = host_core_host_peek(c);
    uint32_t slot = 0;
    if (!m || c->used == call_count(c) || c->busy)
        return false;
    while (call_at(c, slot)->phase != CORE_FREE)
        slot++;
    const uint8_t *bytes = blob_at(m->call.blob)->bytes;
    struct core_call *k = call_at(c, slot);
    *k = (struct core_call){.phase = CORE_WRITE,
                            .blob = m->call.blob,
                            .tag = m->tag,
                            .wait = m->call.wait,
                            .order = c->taken++,
                            .since = host_core_now(c)};
    memcpy(&k->bytes, bytes + 4, sizeof k->bytes); /* length and call of the packet */
    memcpy(&k->call, bytes + 16, sizeof k->call);
    c->busy = true;
    c->used++;
    c->io.stats.packets++;
    timeline_begin(&c->io.base, k->order, "1 write the packet to memory");
    host_core_host_pop(c);
    return true;
}

/* Lines of the packet begin at a line, so a line of it is a line of memory. */
static bool send_lines(struct host_core *c, uint32_t slot)
{
    struct core_call *k = call_at(c, slot);
    bool sent = false;
    while (k->issued < k->bytes && host_core_mem_can_send(c)) {
        uint32_t left = k->bytes - k->issued, bytes = left < CORE_LINE ? left : CORE_LINE;
        uint16_t tag = (uint16_t)(slot * CORE_LINES + k->issued / CORE_LINE);
        uint64_t address = address_of(c, slot) + k->issued;
        if (k->phase == CORE_READ) {
            host_core_mem_send_read(c, tag, address, bytes, pid_of(c), false);
        } else {
            void *payload = host_core_mem_send_write(c, tag, address, pid_of(c));
            mem_mask_store(mem_write_mask(payload, CORE_LINE), mem_mask_range(0, bytes, CORE_LINE),
                           CORE_LINE);
            memcpy(mem_write_data(payload, CORE_LINE), blob_at(k->blob)->bytes + k->issued, bytes);
        }
        k->issued += bytes;
        sent = true;
    }
    return sent;
}

static bool ring(struct host_core *c, uint32_t slot)
{
    struct core_call *k = call_at(c, slot);
    uint64_t address = address_of(c, slot);
    if (!host_core_mem_can_send(c))
        return false;
    void *payload =
        host_core_mem_send_write(c, (uint16_t)(slot * CORE_LINES + CORE_DEVICE),
                                 (uint64_t)host_core_params(c)->device_register, pid_of(c));
    mem_mask_store(mem_write_mask(payload, CORE_LINE), mem_mask_range(0, sizeof address, CORE_LINE),
                   CORE_LINE);
    memcpy(mem_write_data(payload, CORE_LINE), &address, sizeof address);
    timeline_begin(&c->io.base, k->order, "2 write its address to the device");
    k->phase = CORE_WAIT;
    if (k->wait)
        c->busy = false;
    return true;
}

static void lap(struct host_core *c, struct core_call *k, struct stat_histogram *stat)
{
    stat_histogram_add(stat, host_core_now(c) - k->since);
    k->since = host_core_now(c);
}

static void device_answered(struct host_core *c, struct core_call *k)
{
    timeline_end(&c->io.base, k->order, "2 write its address to the device");
    lap(c, k, &c->io.stats.wait_device);
    k->phase = CORE_READ;
    k->bytes = packet_bytes(&api_answer_layout, k->call);
    k->issued = k->finished = 0;
}

static void line_over(struct host_core *c, struct core_call *k, uint32_t offset,
                      const uint8_t *line)
{
    uint32_t left = k->bytes - offset, bytes = left < CORE_LINE ? left : CORE_LINE;
    if (line)
        memcpy(blob_at(k->blob)->bytes + offset, line, bytes);
    k->finished += bytes;
    if (k->finished < k->bytes)
        return;
    if (k->phase == CORE_WRITE) {
        timeline_end(&c->io.base, k->order, "1 write the packet to memory");
        lap(c, k, &c->io.stats.write_packet);
        k->phase = CORE_RING;
    } else {
        lap(c, k, &c->io.stats.read_answer);
        k->phase = CORE_DONE;
    }
}

static bool receive(struct host_core *c)
{
    const struct mem_reply *m;
    bool progress = false;
    while ((m = host_core_mem_peek_reply(c))) {
        struct core_call *k = call_at(c, m->tag / CORE_LINES);
        uint32_t line = m->tag % CORE_LINES;
        const uint8_t *bytes = message_kind(m) == MEM_DATA
                                   ? mem_data_data(host_core_mem_reply_payload(c), CORE_LINE)
                                   : NULL;
        if (line == CORE_DEVICE)
            device_answered(c, k);
        else
            line_over(c, k, line * CORE_LINE, bytes);
        host_core_mem_pop_reply(c);
        progress = true;
    }
    return progress;
}

static bool call_step(struct host_core *c, uint32_t slot)
{
    struct core_call *k = call_at(c, slot);
    switch ((enum core_phase)k->phase) {
    case CORE_WRITE:
    case CORE_READ:
        return send_lines(c, slot);
    case CORE_RING:
        return ring(c, slot);
    case CORE_DONE:
        if (!host_core_host_can_reply(c))
            return false;
        host_core_host_reply_done(c, k->tag, k->blob);
        if (!k->wait)
            c->busy = false;
        k->phase = CORE_FREE;
        c->used--;
        return true;
    default:
        return false;
    }
}

static bool host_core_tick(struct host_core *c)
{
    bool progress = receive(c);
    progress |= take_call(c);
    for (uint32_t i = 0; i < call_count(c) && c->used; i++)
        progress |= call_step(c, i);
    return progress;
}

static unsigned host_core_outstanding(const struct host_core *c, struct hang_report *report)
{
    static const char *const phases[] = {"",        "is written", "is written", "is waited for",
                                         "is read", "is done"};
    for (uint32_t i = 0; report && i < call_count(c); i++)
        if (call_at(c, i)->phase != CORE_FREE)
            hang_note(report, "call %u of the API %s", call_at(c, i)->call,
                      phases[call_at(c, i)->phase]);
    return c->used;
}
