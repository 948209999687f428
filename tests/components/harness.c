/* See harness.h. The ends are ordinary units over one array of messages each. */
#include "harness.h"

#include "mem.gen.h"
#include "translate.gen.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/region.h"
#include "base/splitmix64.h"
#include "components/amd/isa/isa.h"
#include "dsl/compile.h"
#include "dsl/message_layout.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/run_control.h"
#include "runtime/engine/unit.h"
#include "runtime/link/port.h"
#include "runtime/observe/hang.h"
#include "runtime/scheduler/run.h"
#include "runtime/state/platform.h"

#define ENDS_MAX     24u
#define MESSAGES_MAX 32u

struct end_io {
    struct component base;
    uint32_t request, reply;
};

struct requester {
    struct end_io io;
};

struct server {
    struct end_io io;
};

/* What the tests see of an end; outside of the arena, since it is no state of a machine. */
struct end {
    struct harness_message log[HARNESS_LOG];
    struct harness_message queue[HARNESS_LOG];
    uint64_t due[HARNESS_LOG];
    uint32_t log_count, queue_count, next, answered;
    uint64_t not_before;
    uint64_t latency;
    harness_answer *answer;
};

uint8_t harness_memory[1 << 20];
static struct end *ends[ENDS_MAX];
static uint32_t end_count;
static struct build_wire protocols[HARNESS_PROTOCOLS]; /* the protocol and its payloads */
static uint32_t end_of_leaf[4096];

static struct end *end_at(const struct component *c)
{
    return ends[end_of_leaf[c->leaf]];
}

/* A message out of a ring into the log. */
static struct harness_message *note(struct end *e, uint32_t ring, const struct message *m,
                                    uint64_t now)
{
    if (e->log_count == HARNESS_LOG)
        bug("the log of an end is full");
    struct harness_message *l = &e->log[e->log_count++];
    memset(l, 0, sizeof *l);
    l->cycle = now;
    l->kind = (uint8_t)message_kind(m);
    l->tag = m->tag;
    memcpy(l->fields, m->fields, sizeof l->fields);
    uint32_t bytes = port_messages(ring_number(ring))[l->kind].payload_bytes;
    memcpy(l->payload, ring_peek_payload(ring), min(bytes, HARNESS_PAYLOAD));
    return l;
}

static void put(uint32_t ring, const struct harness_message *m, uint64_t now)
{
    struct message *to = ring_next(ring);
    const struct platform_message *about = &port_messages(ring_number(ring))[m->kind];
    memcpy(to->fields, m->fields, sizeof to->fields);
    to->tag = m->tag;
    memcpy(ring_payload(ring_placed(ring)->tail), m->payload,
           min(about->payload_bytes, HARNESS_PAYLOAD));
    ring_put(ring_placed(ring), ring_limit(now), m->kind, about->wire_bytes, about->awaited);
}

/* No generator writes these units, so none writes their empty init, either. */
static void requester_init(struct requester *c)
{
    (void)c;
}

static bool requester_tick(struct requester *c)
{
    struct end *e = end_at(&c->io.base);
    uint64_t now = component_now(&c->io.base);
    bool progress = false;
    const struct message *m;
    if (now < e->not_before)
        component_wake_at(&c->io.base, e->not_before);
    while (now >= e->not_before && (m = ring_peek(c->io.reply, ring_limit(now)))) {
        note(e, c->io.reply, m, now);
        ring_pop(c->io.reply, ring_limit(now));
        progress = true;
    }
    while (e->next < e->queue_count) {
        if (e->queue[e->next].cycle > now) {
            component_wake_at(&c->io.base, e->queue[e->next].cycle);
            break;
        }
        if (!ring_can_send(c->io.request, ring_limit(now)))
            break;
        put(c->io.request, &e->queue[e->next++], now);
        progress = true;
    }
    return progress;
}

static unsigned requester_outstanding(const struct requester *c, struct hang_report *report)
{
    const struct end *e = end_at(&c->io.base);
    if (report)
        hang_note(report, "%u of %u messages sent, %u answers", e->next, e->queue_count,
                  e->log_count);
    return e->queue_count - e->log_count;
}

static void server_init(struct server *c)
{
    (void)c;
}

static bool server_tick(struct server *c)
{
    struct end *e = end_at(&c->io.base);
    uint64_t now = component_now(&c->io.base);
    bool progress = false;
    const struct message *m;
    if (now < e->not_before)
        component_wake_at(&c->io.base, e->not_before);
    while (now >= e->not_before && (m = ring_peek(c->io.request, ring_limit(now)))) {
        e->due[e->log_count] = now + e->latency - 1;
        note(e, c->io.request, m, now);
        ring_pop(c->io.request, ring_limit(now));
        progress = true;
    }
    while (e->answer && e->answered < e->log_count) {
        struct harness_message reply = {0};
        if (e->due[e->answered] > now) {
            component_wake_at(&c->io.base, e->due[e->answered]);
            break;
        }
        if (!ring_can_send(c->io.reply, ring_limit(now)))
            break;
        reply.tag = e->log[e->answered].tag;
        e->answer(&e->log[e->answered++], &reply);
        put(c->io.reply, &reply, now);
        progress = true;
    }
    return progress;
}

static unsigned server_outstanding(const struct server *c, struct hang_report *report)
{
    const struct end *e = end_at(&c->io.base);
    (void)report;
    return e->answer ? e->log_count - e->answered : 0;
}

UNIT_DEFINE_WALK(requester)
UNIT_DEFINE_WALK(server)

static const struct unit_type requester_unit = {
    .name = "requester",
    .source = "harness.c",
    .instance_bytes = sizeof(struct requester),
    .io_words_offset = sizeof(struct component),
    .init = requester_init_one,
    .tick = requester_tick_one,
    .walk = requester_walk,
    .outstanding = requester_outstanding_one,
};

static const struct unit_type server_unit = {
    .name = "server",
    .source = "harness.c",
    .instance_bytes = sizeof(struct server),
    .io_words_offset = sizeof(struct component),
    .init = server_init_one,
    .tick = server_tick_one,
    .walk = server_walk,
    .outstanding = server_outstanding_one,
};

static const struct build_port requester_port = {"out", BUILD_OUT, false};
static const struct build_port server_port = {"in", BUILD_IN, false};
static const struct build_type requester_type = {
    .unit = &requester_unit, .ports = &requester_port, .port_count = 1};
static const struct build_type server_type = {
    .unit = &server_unit, .ports = &server_port, .port_count = 1};

/* The ports of harness.heddle, one for each protocol in the order of enum harness_protocol. They
 * are read once in a process, and stay until its end. */
static const struct model_port_decl *described_ports(void)
{
    static struct compilation *c;
    static const struct model_port_decl *ports;
    if (ports)
        return ports;
    c = compile_open(&(struct compile_options){.library_root = HARNESS_LIBRARY});
    const struct model *model = compile_components(c, HARNESS_DESCRIPTION);
    compile_print_diagnostics(c, stderr, false);
    for (uint32_t i = 0; model && i < model->type_count; i++)
        if (strcmp(model->types[i]->name, "harness") == 0
            && model->types[i]->port_count == HARNESS_PROTOCOLS)
            ports = model->types[i]->ports;
    if (!ports)
        bug("harness.heddle does not describe all protocols");
    return ports;
}

static void add_protocol(enum harness_protocol number, const struct model_protocol *p)
{
    struct platform_message messages[MESSAGES_MAX] = {0};
    const char *names[MESSAGES_MAX];
    struct region region;
    region_init(&region, "the layout of messages");
    if (p->request_count + p->reply_count > MESSAGES_MAX)
        bug("%s has too many messages", p->name);
    for (uint32_t i = 0; i < p->request_count + p->reply_count; i++) {
        const struct model_message *m =
            i < p->request_count ? &p->requests[i] : &p->replies[i - p->request_count];
        names[i] = m->name;
        messages[i].wire_bytes = message_wire_bytes(&region, m);
        messages[i].awaited = m->has_reply;
        messages[i].payload_bytes = message_payload_bytes(&region, m);
    }
    protocols[number] = (struct build_wire){
        .protocol = build_protocol(p->name, p->request_count, p->reply_count, messages, names),
        .request_payload = message_slot_bytes(&region, p->requests, p->request_count),
        .reply_payload = message_slot_bytes(&region, p->replies, p->reply_count)};
    region_release(&region);
}

void harness_start(void)
{
    end_count = 0;
    memset(harness_memory, 0, sizeof harness_memory);
    build_start("test");
    build_domain("core", 1000000000);
    for (enum harness_protocol i = 0; i < HARNESS_PROTOCOLS; i++)
        add_protocol(i, described_ports()[i].protocol);
}

static uint32_t add_end(const struct build_type *type, const char *name)
{
    static struct end storage[ENDS_MAX];
    if (end_count == ENDS_MAX)
        bug("too many ends");
    uint32_t leaf = build_instance(type, 0, name, NULL, NULL, 0);
    end_of_leaf[leaf] = end_count;
    ends[end_count] = &storage[end_count];
    struct end *e = ends[end_count++];
    e->log_count = e->queue_count = e->next = e->answered = 0;
    e->not_before = 0;
    e->latency = 1;
    e->answer = NULL;
    return leaf;
}

uint32_t harness_requester(void)
{
    return add_end(&requester_type, "requester");
}

static uint32_t add_server(const struct build_type *type, uint64_t latency, harness_answer *answer)
{
    uint32_t leaf = add_end(type, "server");
    ends[end_of_leaf[leaf]]->latency = latency;
    ends[end_of_leaf[leaf]]->answer = answer;
    return leaf;
}

uint32_t harness_server(uint64_t latency, harness_answer *answer)
{
    return add_server(&server_type, latency, answer);
}

uint32_t harness_dma_engine(uint64_t latency, harness_answer *answer)
{
    static struct unit_type unit;
    static struct build_type type;
    unit = server_unit;
    unit.name = "dma_engine";
    type = server_type;
    type.unit = &unit;
    return add_server(&type, latency, answer);
}

static uint32_t wire(enum harness_protocol protocol, struct build_end from, struct build_end to,
                     struct build_wire about)
{
    about.protocol = protocols[protocol].protocol;
    about.request_payload = protocols[protocol].request_payload;
    about.reply_payload = protocols[protocol].reply_payload;
    return build_connect(from, to, about);
}

void harness_wire(enum harness_protocol protocol, struct build_end from, struct build_end to,
                  uint32_t depth, uint32_t width, uint32_t latency)
{
    wire(protocol, from, to,
         (struct build_wire){.depth = depth, .width = width, .latency = latency});
}

uint32_t harness_wire_link(enum harness_protocol protocol, struct build_end from,
                           struct build_end to, uint32_t depth, uint32_t link)
{
    return wire(protocol, from, to,
                (struct build_wire){.depth = depth, .width = 1, .link = link + 1});
}

void harness_tick_order(int order, bool tick_all)
{
    engine_set_limits(&(struct engine_limits){
        .max_cycles = 10000000, .tick_order = order, .seed = 1, .ticks_all = tick_all});
}

void harness_build(void)
{
    if (!platform_build(build_finish()))
        bug("the test's platform does not build");
    harness_tick_order(ENGINE_ASCENDING, false);
}

void harness_send(uint32_t requester, const struct harness_message *m)
{
    struct end *e = ends[end_of_leaf[requester]];
    if (e->queue_count == HARNESS_LOG)
        bug("the queue of an end is full");
    e->queue[e->queue_count++] = *m;
}

void harness_take_nothing_before(uint32_t leaf, uint64_t cycle)
{
    ends[end_of_leaf[leaf]]->not_before = cycle;
}

enum engine_result harness_run(void)
{
    for (uint32_t leaf = 0; leaf < engine_base.platform->instance_count; leaf++)
        engine_wake_from_host(platform_component(leaf)->id);
    return engine_run();
}

uint32_t harness_count(uint32_t leaf)
{
    return ends[end_of_leaf[leaf]]->log_count;
}

const struct harness_message *harness_log(uint32_t leaf, uint32_t i)
{
    return &ends[end_of_leaf[leaf]]->log[i];
}

const struct harness_message *harness_reply(uint32_t requester, uint16_t tag)
{
    const struct end *e = ends[end_of_leaf[requester]];
    for (uint32_t i = e->log_count; i-- > 0;)
        if (e->log[i].tag == tag)
            return &e->log[i];
    return NULL;
}

void *harness_instance(uint32_t leaf)
{
    return platform_component(leaf);
}

/* ---- messages of mem ---- */

static const struct mem_request *as_mem(const struct harness_message *m, struct message *header)
{
    memset(header, 0, sizeof *header);
    memcpy(header->fields, m->fields, sizeof header->fields);
    return (const struct mem_request *)(const void *)header;
}

void harness_answer_memory(const struct harness_message *request, struct harness_message *reply)
{
    struct message header;
    const struct mem_request *m = as_mem(request, &header);
    void *payload = (void *)(uintptr_t)request->payload;
    reply->kind = request->kind == MEM_READ || request->kind == MEM_ATOMIC ? MEM_DATA : MEM_DONE;
    if (request->kind == MEM_FENCE)
        return;
    uint8_t *line = harness_memory + m->read.address % sizeof harness_memory / 64 * 64;
    if (reply->kind == MEM_DATA)
        memcpy(reply->payload, line, 64);
    for (unsigned b = 0; b < 64 && request->kind == MEM_WRITE; b++)
        if (*mem_write_mask(payload, 64) >> b & 1)
            line[b] = mem_write_data(payload, 64)[b];
    for (unsigned b = 0; b < 64 && request->kind == MEM_ATOMIC; b += m->atomic.size)
        if (*mem_atomic_mask(payload, 64) >> b & 1)
            isa_atomic_apply((enum isa_atomic)m->atomic.op, m->atomic.size, line + b,
                             mem_atomic_operand(payload, 64) + b,
                             mem_atomic_compare(payload, 64) + b, NULL);
}

static struct harness_message finish(uint64_t cycle, uint16_t tag, unsigned kind,
                                     const struct message *header)
{
    struct harness_message m = {.cycle = cycle, .tag = tag, .kind = (uint8_t)kind};
    memcpy(m.fields, header->fields, sizeof m.fields);
    return m;
}

static struct harness_message read_message(uint64_t cycle, uint16_t tag, uint64_t address,
                                           uint32_t size, bool coherent)
{
    struct message header = {0};
    struct mem_request *m = (struct mem_request *)(void *)&header;
    m->read.address = address;
    m->read.size = size;
    m->read.pid = 1;
    m->read.coherent = coherent;
    return finish(cycle, tag, MEM_READ, &header);
}

struct harness_message harness_read(uint64_t cycle, uint16_t tag, uint64_t address, uint32_t size)
{
    return read_message(cycle, tag, address, size, false);
}

struct harness_message harness_coherent_read(uint64_t cycle, uint16_t tag, uint64_t address,
                                             uint32_t size)
{
    return read_message(cycle, tag, address, size, true);
}

struct harness_message harness_write(uint64_t cycle, uint16_t tag, uint64_t line, uint64_t mask,
                                     const void *bytes)
{
    struct message header = {0};
    struct mem_request *m = (struct mem_request *)(void *)&header;
    m->write.address = line;
    m->write.pid = 1;
    struct harness_message out = finish(cycle, tag, MEM_WRITE, &header);
    *mem_write_mask(out.payload, 64) = mask;
    memcpy(mem_write_data(out.payload, 64), bytes, 64);
    return out;
}

struct harness_message harness_atomic(uint64_t cycle, uint16_t tag, uint64_t line, uint64_t mask,
                                      unsigned op, unsigned size, const void *operand,
                                      const void *compare)
{
    struct message header = {0};
    struct mem_request *m = (struct mem_request *)(void *)&header;
    m->atomic.address = line;
    m->atomic.pid = 1;
    m->atomic.op = (uint8_t)op;
    m->atomic.size = (uint8_t)size;
    m->atomic.returns = true;
    struct harness_message out = finish(cycle, tag, MEM_ATOMIC, &header);
    *mem_atomic_mask(out.payload, 64) = mask;
    memcpy(mem_atomic_operand(out.payload, 64), operand, 64);
    memcpy(mem_atomic_compare(out.payload, 64), compare, 64);
    return out;
}

struct harness_message harness_fence(uint64_t cycle, uint16_t tag, unsigned scope, bool acquire,
                                     bool release)
{
    struct message header = {0};
    struct mem_request *m = (struct mem_request *)(void *)&header;
    m->fence.scope = (uint8_t)scope;
    m->fence.acquire = acquire;
    m->fence.release = release;
    return finish(cycle, tag, MEM_FENCE, &header);
}

uint64_t harness_random(uint64_t *state)
{
    return splitmix64(state);
}
