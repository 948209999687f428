/* See probe.heddle. Packets go in rounds: those of a round are written to memory, their addresses
 * to the device as fast as it takes them, then the answers are awaited, read and checked. */
#include "packet_probe.gen.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "components/packets/api_packet/api_answer.h"
#include "components/packets/api_packet/api_request.h"
#include "components/protocols/mem/mem_mask.h"
#include "runtime/engine/component_failure.h"
#include "runtime/observe/hang.h"

enum { LINE = 64, SLOT = 2048, SLOT_LINES = SLOT / LINE, SLOTS = 44, DATA = 1 << 20, BYTES = 4096 };
enum { TAG_RING = 0x8000, TAG_READ = 0x9000, OUTSIDE = 1 };

enum phase { MAKE, WRITE, RING, TELL, LOOK, ASK, READ, CHECK, OVER };

struct packet_probe {
    struct packet_probe_io io;
    uint32_t phase; /* enum phase */
    uint32_t round, count, sent, answered;
    uint64_t device_memory;     /* from malloc */
    uint8_t bytes[SLOTS][SLOT]; /* as written, then as read */
    uint32_t told[SLOTS];       /* order of the device's answers */
    uint64_t asked[SLOTS];      /* addresses that the device gave */
    bool again[SLOTS];          /* was blocked */
};

/* ---- rounds: what is written, and what must come back ---- */

struct round {
    const char *name;
    uint32_t count;
    /* Fills the packet; flags: OUTSIDE: its address is one that is none. */
    uint32_t (*make)(struct packet_probe *c, uint32_t i, uint8_t *bytes);
    /* NULL: it is as it must be. */
    const char *(*check)(struct packet_probe *c, uint32_t i, const struct api_answer *a);
};

static struct api_request request(uint32_t i, enum api_call call)
{
    struct api_request r;
    memset(&r, 0, sizeof r);
    r.sequence = 1000 + i;
    r.call = (uint16_t)call;
    return r;
}

static void encode(const struct api_request *r, uint8_t *bytes)
{
    struct packet_fault fault;
    api_request_encode(r, bytes, SLOT, &fault);
}

static uint32_t make_count(struct packet_probe *c, uint32_t i, uint8_t *bytes)
{
    (void)c;
    struct api_request r = request(i, API_CALL_GET_DEVICE_COUNT);
    encode(&r, bytes);
    return 0;
}

static const char *check_count(struct packet_probe *c, uint32_t i, const struct api_answer *a)
{
    (void)c;
    bool good = a->error == 0 && a->sequence == 1000 + i && a->call == API_CALL_GET_DEVICE_COUNT
                && a->get_device_count.count == 1;
    return good ? NULL : "the number of devices";
}

/* Damages a good packet: `at` gets `value`, four bytes. */
static const struct {
    uint32_t call, at, value;
} damages[] = {
    {API_CALL_GET_DEVICE_COUNT, 0, 2},          /* version */
    {API_CALL_GET_DEVICE_COUNT, 0, 0},          /* the same */
    {API_CALL_GET_DEVICE_COUNT, 4, 19},         /* a byte too long */
    {API_CALL_GET_DEVICE_COUNT, 4, 17},         /* too short */
    {API_CALL_GET_DEVICE_COUNT, 4, 0},          /* nothing */
    {API_CALL_GET_DEVICE_COUNT, 4, UINT32_MAX}, /* everything */
    {API_CALL_GET_DEVICE_COUNT, 12, 64},        /* a thread more than the device knows */
    {API_CALL_GET_DEVICE_COUNT, 16, 999},       /* no such call */
    {API_CALL_GET_DEVICE_COUNT, 16, API_CALL_NONE},
    {API_CALL_GET_DEVICE_COUNT, 16, API_CALL_BIND_TEXTURE}, /* a number without a packet */
    {API_CALL_GET_DEVICE_COUNT, 16, API_CALL_MALLOC},       /* the length of another call */
    {API_CALL_REGISTER_FUNCTION, 34 + 1020, 0x41414141},    /* text behind its end */
    {API_CALL_REGISTER_FUNCTION, 4, 1068},                  /* longer than the longest */
    {API_CALL_MEMCPY, 42, 0x00770077},                      /* a direction that does not exist */
};

static uint32_t make_damaged(struct packet_probe *c, uint32_t i, uint8_t *bytes)
{
    (void)c;
    struct api_request r = request(i, (enum api_call)damages[i].call);
    encode(&r, bytes);
    uint32_t size = damages[i].at == 16 ? 2 : 4;
    memcpy(bytes + damages[i].at, &damages[i].value, size);
    return 0;
}

static const char *check_damaged(struct packet_probe *c, uint32_t i, const struct api_answer *a)
{
    (void)c;
    (void)i;
    return a->error == 1 && a->state == API_STATE_DONE ? NULL : "a damaged packet is an error 1";
}

/* Good packets that ask for what cannot be; the errors are those of HIP. */
static const struct {
    uint32_t call;
    uint64_t first; /* value of the call's first field of eight bytes, or of `device` */
    int32_t error;
} wrongs[] = {
    {API_CALL_STREAM_SYNCHRONIZE, 77, 400},
    {API_CALL_STREAM_SYNCHRONIZE, UINT64_MAX, 400},
    {API_CALL_STREAM_DESTROY, 0, 400},
    {API_CALL_EVENT_SYNCHRONIZE, 5, 400},
    {API_CALL_EVENT_DESTROY, UINT64_MAX, 400},
    {API_CALL_SET_DEVICE, 9, 101},
    {API_CALL_FREE, 0x1234, 1},
    {API_CALL_MALLOC, (uint64_t)1 << 40, 2},
    {API_CALL_MALLOC, 0, 1},
    {API_CALL_LAUNCH, 0x1000, 52},
    {API_CALL_SET_ARGUMENT, 0, 52},
    {API_CALL_UNREGISTER_MODULE, 3, 400},
    {API_CALL_GET_SYMBOL, 4, 13},
    {API_CALL_MALLOC_HOST, 64, 801},
    {API_CALL_GET_LAST_ERROR, 0, 801}, /* the last one, which is then forgotten */
    {API_CALL_GET_LAST_ERROR, 0, 0},
    {API_CALL_FREE, 0, 0},
};

static uint32_t make_wrong(struct packet_probe *c, uint32_t i, uint8_t *bytes)
{
    (void)c;
    struct api_request r = request(i, (enum api_call)wrongs[i].call);
    if (wrongs[i].call == API_CALL_SET_DEVICE)
        r.set_device.device = (uint32_t)wrongs[i].first;
    else
        r.malloc.size = wrongs[i].first; /* all others begin with a field of eight bytes */
    encode(&r, bytes);
    return 0;
}

static const char *check_wrong(struct packet_probe *c, uint32_t i, const struct api_answer *a)
{
    (void)c;
    bool good = a->error == wrongs[i].error && a->sequence == 1000 + i && a->call == wrongs[i].call;
    return good ? NULL : "the error of a call that cannot be";
}

static uint32_t make_text(struct packet_probe *c, uint32_t i, uint8_t *bytes)
{
    (void)c;
    struct api_request r = request(i, API_CALL_GET_ERROR_STRING);
    r.get_error_string.code = i % 2 ? 1 : 0;
    encode(&r, bytes);
    return 0;
}

static const char *check_text(struct packet_probe *c, uint32_t i, const struct api_answer *a)
{
    if (a->sequence != 1000 + i || c->told[i] != i)
        return "calls in flight are answered in their order, each with its own answer";
    return strcmp(a->get_error_string.text, i % 2 ? "invalid argument" : "no error") == 0
               ? NULL
               : "the text of an error";
}

static uint32_t make_outside(struct packet_probe *c, uint32_t i, uint8_t *bytes)
{
    make_count(c, i, bytes);
    return i % 2 ? OUTSIDE : 0;
}

static const char *check_outside(struct packet_probe *c, uint32_t i, const struct api_answer *a)
{
    return i % 2 ? NULL : check_count(c, i, a); /* nothing can be written where nothing is */
}

static uint32_t make_memory(struct packet_probe *c, uint32_t i, uint8_t *bytes)
{
    (void)c;
    struct api_request r = request(i, i == 0 ? API_CALL_MALLOC : API_CALL_STREAM_CREATE);
    r.malloc.size = i == 0 ? BYTES : 0;
    encode(&r, bytes);
    return 0;
}

static const char *check_memory(struct packet_probe *c, uint32_t i, const struct api_answer *a)
{
    if (i == 0)
        c->device_memory = a->malloc.address;
    if (i == 0)
        return a->error == 0 && a->malloc.address ? NULL : "malloc";
    return a->error == 0 && a->stream_create.stream == i ? NULL : "streams are numbered from 1";
}

/* The driver has room for one command: all the others wait for it. The last one, on the default
 * stream, may not be taken while they are pending. */
static uint32_t make_full(struct packet_probe *c, uint32_t i, uint8_t *bytes)
{
    struct api_request r = request(i, i < 40 ? API_CALL_MEMSET_ASYNC : API_CALL_MEMSET);
    if (i < 40) {
        r.memset_async.address = c->device_memory + i * 100;
        r.memset_async.value = i + 1;
        r.memset_async.width = 1;
        r.memset_async.count = 100;
        r.memset_async.stream = 1 + i % 4;
    } else {
        r.memset.address = c->device_memory + 4000;
        r.memset.value = 99;
        r.memset.width = 1;
        r.memset.count = 96;
    }
    encode(&r, bytes);
    return 0;
}

static const char *check_full(struct packet_probe *c, uint32_t i, const struct api_answer *a)
{
    if (i < 40)
        return a->error == 0 && a->state == API_STATE_DONE ? NULL
                                                           : "a call for a full driver waits";
    if (a->state == API_STATE_BLOCKED)
        c->io.stats.blocked++;
    return a->state == API_STATE_BLOCKED ? NULL : "the default stream is blocked by others";
}

static uint32_t make_sync(struct packet_probe *c, uint32_t i, uint8_t *bytes)
{
    (void)c;
    struct api_request r = request(i, API_CALL_DEVICE_SYNCHRONIZE);
    encode(&r, bytes);
    return 0;
}

static const char *check_done(struct packet_probe *c, uint32_t i, const struct api_answer *a)
{
    (void)c;
    (void)i;
    return a->error == 0 && a->state == API_STATE_DONE ? NULL : "the call succeeds";
}

/* Not a multiple of anything, to an odd address. */
static uint32_t make_back(struct packet_probe *c, uint32_t i, uint8_t *bytes)
{
    struct api_request r = request(i, API_CALL_MEMCPY);
    r.memcpy.destination = packet_probe_params(c)->memory + DATA + 13;
    r.memcpy.source = c->device_memory;
    r.memcpy.size = 3999;
    r.memcpy.direction = API_DIRECTION_BY_ADDRESS;
    encode(&r, bytes);
    return 0;
}

static const struct round rounds[] = {
    {"one call", 1, make_count, check_count},
    {"damaged packets", ARRAY_COUNT(damages), make_damaged, check_damaged},
    {"a call after them", 1, make_count, check_count},
    {"calls that cannot be", ARRAY_COUNT(wrongs), make_wrong, check_wrong},
    {"calls in flight", 40, make_text, check_text},
    {"addresses that are none", 6, make_outside, check_outside},
    {"memory and streams", 5, make_memory, check_memory},
    {"a full driver", 41, make_full, check_full},
    {"waiting for it", 1, make_sync, check_done},
    {"reading it back", 1, make_back, check_done},
};

/* ---- the way of a round ---- */

static uint64_t slot_address(const struct packet_probe *c, uint32_t slot)
{
    return packet_probe_params(c)->memory + (uint64_t)slot * SLOT;
}

static bool is_outside(const struct packet_probe *c, uint32_t i)
{
    return rounds[c->round].make == make_outside && i % 2 && c->count;
}

static void wrong(struct packet_probe *c, uint32_t i, const char *what)
{
    engine_fail(&c->io.base, "probe: %s, packet %" PRIu32 ": not so: %s", rounds[c->round].name, i,
                what);
    c->phase = OVER;
}

static void next_phase(struct packet_probe *c, enum phase phase)
{
    c->phase = phase;
    c->sent = c->answered = 0;
}

static void make_round(struct packet_probe *c)
{
    memset(c->bytes, 0, sizeof c->bytes);
    c->count = rounds[c->round].count;
    for (uint32_t i = 0; i < c->count; i++)
        rounds[c->round].make(c, i, c->bytes[i]);
    next_phase(c, WRITE);
}

static void send_line(struct packet_probe *c, uint32_t slot, uint32_t line, bool read)
{
    uint64_t address = slot_address(c, slot) + line * LINE;
    uint16_t tag = (uint16_t)(slot * SLOT_LINES + line);
    if (read) {
        packet_probe_mem_send_read(c, tag, address, LINE, 0, false);
        return;
    }
    void *payload = packet_probe_mem_send_write(c, tag, address, 0, SCOPE_WAVEFRONT);
    mem_mask_store(mem_write_mask(payload, LINE), mem_mask_full(LINE), LINE);
    memcpy(mem_write_data(payload, LINE), c->bytes[slot] + line * LINE, LINE);
}

static void send_ring(struct packet_probe *c, uint32_t i)
{
    uint64_t address = is_outside(c, i) ? (uint64_t)1 << 45 : slot_address(c, i);
    void *payload = packet_probe_mem_send_write(
        c, (uint16_t)(TAG_RING + i), packet_probe_params(c)->device_register, 0, SCOPE_WAVEFRONT);
    mem_mask_store(mem_write_mask(payload, LINE), mem_mask_range(0, sizeof address, LINE), LINE);
    memcpy(mem_write_data(payload, LINE), &address, sizeof address);
}

/* Before the device is read, requests stand in memory as they were written. */
static void look(struct packet_probe *c, uint32_t slot, uint32_t line, const uint8_t *bytes)
{
    if (memcmp(bytes, c->bytes[slot] + line * LINE, LINE) != 0)
        wrong(c, slot, "the answer is in memory only when the device has been read");
}

static void check_round(struct packet_probe *c)
{
    for (uint32_t i = 0; i < c->count && c->phase != OVER; i++) {
        struct api_answer answer;
        struct packet_fault fault;
        memset(&answer, 0, sizeof answer);
        uint32_t length;
        memcpy(&length, c->bytes[i] + 4, sizeof length);
        if (!is_outside(c, i)
            && !api_answer_decode(&answer, c->bytes[i], length < SLOT ? length : 0, &fault)) {
            wrong(c, i, "the answer can be read");
            return;
        }
        const char *what = rounds[c->round].check(c, i, &answer);
        if (!what && packet_probe_params(c)->read_device && c->asked[i] != slot_address(c, i)
            && rounds[c->round].make != make_outside)
            what = "a read gives the address of the next packet that was answered";
        if (what)
            wrong(c, i, what);
        else
            c->io.stats.checked++;
    }
}

/* What was copied back: each hundred bytes have their number. The neighbours are as they were. */
static void check_data(struct packet_probe *c, uint64_t offset, const uint8_t *line)
{
    for (uint64_t i = 0; i < LINE; i++) {
        uint64_t at = offset + i;
        uint8_t expected = at < 13 || at >= 13 + 3999 ? 0 : (uint8_t)((at - 13) / 100 + 1);
        if (line[i] != expected) {
            wrong(c, (uint32_t)at, "the bytes that were filled");
            return;
        }
    }
    c->io.stats.checked++;
}

static void take_reply(struct packet_probe *c, const struct mem_reply *m)
{
    const uint8_t *line =
        message_kind(m) == MEM_DATA ? mem_data_data(packet_probe_mem_reply_payload(c), LINE) : NULL;
    if (c->phase == TELL)
        c->told[m->tag - TAG_RING] = c->answered;
    else if (c->phase == LOOK)
        look(c, m->tag / SLOT_LINES, m->tag % SLOT_LINES, line);
    else if (c->phase == ASK)
        memcpy(&c->asked[m->tag - TAG_READ], line, sizeof c->asked[0]);
    else if (c->phase == READ)
        memcpy(c->bytes[m->tag / SLOT_LINES] + m->tag % SLOT_LINES * LINE, line, LINE);
    else if (c->phase == CHECK)
        check_data(c, (uint64_t)m->tag * LINE, line);
    c->answered++;
}

/* Messages of the phase. */
static uint32_t messages(const struct packet_probe *c)
{
    bool lines = c->phase == WRITE || c->phase == LOOK || c->phase == READ;
    return c->phase == CHECK ? BYTES / LINE : lines ? c->count * SLOT_LINES : c->count;
}

static void send(struct packet_probe *c, uint32_t i)
{
    if (c->phase == TELL)
        send_ring(c, i);
    else if (c->phase == ASK)
        packet_probe_mem_send_read(c, (uint16_t)(TAG_READ + i),
                                   packet_probe_params(c)->device_register, 8, 0, false);
    else if (c->phase == CHECK)
        packet_probe_mem_send_read(c, (uint16_t)i,
                                   packet_probe_params(c)->memory + DATA + (uint64_t)i * LINE, LINE,
                                   0, false);
    else
        send_line(c, i / SLOT_LINES, i % SLOT_LINES, c->phase != WRITE);
}

static void phase_over(struct packet_probe *c)
{
    bool read = packet_probe_params(c)->read_device != 0;
    switch ((enum phase)c->phase) {
    case WRITE:
        next_phase(c, TELL);
        break;
    case TELL:
        next_phase(c, read ? LOOK : READ);
        break;
    case LOOK:
        next_phase(c, ASK);
        break;
    case ASK:
        next_phase(c, READ);
        break;
    case READ:
        check_round(c);
        if (c->phase == OVER)
            return;
        next_phase(c, ++c->round < ARRAY_COUNT(rounds) ? MAKE : CHECK);
        break;
    default:
        printf("probe: %" PRIu64 " answers checked, %" PRIu64 " blocked\n", c->io.stats.checked,
               c->io.stats.blocked);
        fflush(stdout);
        c->phase = OVER;
    }
}

static bool packet_probe_tick(struct packet_probe *c)
{
    const struct mem_reply *m;
    bool progress = false;
    if (c->phase == MAKE)
        make_round(c);
    while (c->phase != OVER && (m = packet_probe_mem_peek_reply(c))) {
        take_reply(c, m);
        packet_probe_mem_pop_reply(c);
        progress = true;
    }
    while (c->phase != OVER && c->sent < messages(c) && packet_probe_mem_can_send(c)) {
        send(c, c->sent++);
        progress = true;
    }
    if (c->phase != OVER && c->sent == messages(c) && c->answered == c->sent) {
        phase_over(c);
        progress = true;
    }
    return progress;
}

static unsigned packet_probe_outstanding(const struct packet_probe *c, struct hang_report *report)
{
    if (report && c->phase != OVER)
        hang_note(report, "round '%s': %" PRIu32 " of %" PRIu32 " answered", rounds[c->round].name,
                  c->answered, c->count);
    return c->phase != OVER;
}
