/* Copies as convoys against the same copies as messages: a DMA engine with lanes over a crossbar to
 * memories. Orders of ticks other than the ascending one do without convoys, so they are the
 * oracle: answers, their cycles, the bytes of memory and all counters must be the same. */
#include <criterion/criterion.h>
#include <string.h>

#include "command.gen.h"
#include "crossbar.gen.h"
#include "dma_engine.gen.h"
#include "dram.gen.h"
#include "hbm.gen.h"
#include "runtime/link/convoy.h"
#include "runtime/scheduler/window.h"
#include "runtime/state/memory.h"
#include "tests/components/harness.h"
#include "tests/components/memory/hbm_times.h"

#define MEMORY   ((uint64_t)1 << 20)
#define MEMORIES 16u
#define LANES    8u

extern const struct unit_type crossbar__generic, dma_engine__generic, dram__generic;

static const struct build_port dma_ports[] = {
    {"command", BUILD_IN, false}, {"mem", BUILD_OUT, false}, {"lane", BUILD_OUT, true}};
static const struct build_type dma_type = {
    .unit = &dma_engine__generic, .ports = dma_ports, .port_count = 3};
static const struct build_port net_ports[] = {{"from", BUILD_IN, true}, {"to", BUILD_OUT, true}};
static const struct build_type net_type = {
    .unit = &crossbar__generic, .ports = net_ports, .port_count = 2};
static const struct build_port dram_ports[] = {{"top", BUILD_IN, false}, {"dma", BUILD_IN, false}};
static const char *const hbm_parts[] = {"hbm", NULL}, *const no_parts[] = {NULL, NULL};
static const uint32_t places[] = {sizeof(struct dram_params) / sizeof(int64_t), 0};
static const struct build_type hbm_type = {.unit = &dram__generic,
                                           .ports = dram_ports,
                                           .port_count = 2,
                                           .parts = hbm_parts,
                                           .part_count = 2,
                                           .part_params = places};
static const struct build_type ideal_type = {.unit = &dram__generic,
                                             .ports = dram_ports,
                                             .port_count = 2,
                                             .parts = no_parts,
                                             .part_count = 2};

struct machine {
    const char *what;
    uint32_t lanes, memories, depth; /* of rings to the memories */
    bool hbm;
    int64_t width;      /* of the crossbar; of answers */
    int64_t controller; /* of a timed memory, ns */
    int64_t commands;   /* at a time */
};

struct load {
    const char *what;
    uint32_t count, gap; /* commands, and cycles between them: up to that, or always */
    bool even;
    bool whole;    /* pages only */
    bool again;    /* always the same page, and lines in between, one for each lane */
    uint32_t tops; /* requests to memories from elsewhere, meanwhile */
    bool convoys;  /* some are expected */
};

static uint32_t dma, net, host, drams[MEMORIES], tops[MEMORIES];

static void build_memories(const struct machine *m)
{
    struct {
        struct dram_params dram;
        struct hbm_params hbm;
    } params = {{.size = (int64_t)(MEMORY / m->memories),
                 .line = 64,
                 .copy = 64,
                 .latency = 60,
                 .width = 1},
                hbm_times()};
    params.hbm.channels = 2;
    params.hbm.row = 2048;
    params.hbm.interleaved = m->memories;
    params.hbm.hash = 1;
    params.hbm.controller = m->controller * NS;
    int64_t values[sizeof params / sizeof(int64_t)];
    memcpy(values, &params, sizeof params);
    for (uint32_t i = 0; i < m->memories; i++)
        drams[i] = build_instance(m->hbm ? &hbm_type : &ideal_type, 0, "dram", values, NULL,
                                  m->hbm ? sizeof params / sizeof(int64_t)
                                         : sizeof(struct dram_params) / sizeof(int64_t));
}

static void set_up(const struct machine *m, int order)
{
    const struct dma_engine_params k = {
        .commands = m->commands, .lines = 512, .lanes = m->lanes, .line = 64};
    int64_t values[sizeof k / sizeof(int64_t)];
    const int64_t crossbar[] = {m->width, 64, 10};
    memcpy(values, &k, sizeof k);
    harness_start();
    int32_t space = (int32_t)build_space("memory", 0, MEMORY, 128, m->memories);
    dma = build_instance(&dma_type, 0, "dma", values, NULL, sizeof k / sizeof(int64_t));
    net = build_instance(&net_type, 0, "net", crossbar, NULL, 3);
    build_memories(m);
    build_route(net, m->memories > 1 ? space : -1, -1);
    host = harness_requester();
    for (uint32_t i = 0; i < m->memories; i++)
        tops[i] = harness_requester();
    harness_wire(HARNESS_COMMAND, (struct build_end){host, 0, 0}, (struct build_end){dma, 0, 0}, 64,
                 1, 9);
    for (uint32_t i = 0; i < m->lanes; i++)
        harness_wire(HARNESS_MEM, (struct build_end){dma, i ? 2 : 1, i ? i - 1 : 0},
                     (struct build_end){net, 0, i}, 20, 1, 1);
    for (uint32_t i = 0; i < m->memories; i++) {
        harness_wire(HARNESS_MEM, (struct build_end){net, 1, i}, (struct build_end){drams[i], 1, 0},
                     m->depth, 1, 1);
        harness_wire(HARNESS_MEM, (struct build_end){tops[i], 0, 0},
                     (struct build_end){drams[i], 0, 0}, 32, 1, 1);
    }
    harness_build();
    harness_tick_order(order, false);
}

static void put(uint64_t cycle, uint16_t tag, unsigned kind, uint64_t address, uint32_t size,
                uint32_t pattern)
{
    struct harness_message m = {.cycle = cycle, .tag = tag, .kind = (uint8_t)kind};
    struct message header;
    memset(&header, 0, sizeof header);
    struct command_request *k = (struct command_request *)(void *)&header;
    if (kind == COMMAND_WRITE) {
        k->write.address = address;
        k->write.size = size;
        for (uint32_t i = 0; i < size && i < sizeof m.payload; i++)
            m.payload[i] = (uint8_t)(pattern + i * 7);
    } else if (kind == COMMAND_FILL) {
        k->fill.address = address;
        k->fill.size = size;
        k->fill.pattern = pattern;
    } else if (kind == COMMAND_COPY) {
        k->copy.destination = address;
        k->copy.source = (address + MEMORY / 2) % MEMORY;
        k->copy.size = size;
    } else {
        k->read.address = address;
        k->read.size = size;
    }
    memcpy(m.fields, header.fields, sizeof m.fields);
    harness_send(host, &m);
}

static void send_commands(const struct machine *m, const struct load *l, uint64_t *random)
{
    uint64_t cycle = 1;
    for (uint32_t i = 0; i < l->count; i++) {
        static const unsigned kinds[] = {COMMAND_WRITE, COMMAND_READ, COMMAND_FILL,
                                         COMMAND_READ,  COMMAND_FILL, COMMAND_COPY};
        uint64_t r = harness_random(random);
        unsigned kind = kinds[r % (l->whole ? 5 : 6)];
        /* Commands of the harness carry no more. */
        uint32_t most = kind == COMMAND_WRITE || kind == COMMAND_READ ? 256 : 4096,
                 size = l->whole ? most : (uint32_t)(r >> 8) % (most + 1);
        uint64_t address = (r >> 24) % (MEMORY - 4096) / (l->whole ? 64 : 4) * (l->whole ? 64 : 4);
        if (l->again) {
            kind = COMMAND_FILL;
            size = i % (m->lanes + 1) ? 64 : 4096;
            address = i % (m->lanes + 1) ? address : 4096;
        }
        put(cycle, (uint16_t)i, kind, address, kind == COMMAND_FILL ? size / 4 * 4 : size,
            (uint32_t)(r >> 32));
        cycle += l->even ? l->gap : (r >> 48) % (l->gap + 1);
    }
}

/* Others come to the memories by themselves. */
static void send_tops(const struct machine *m, const struct load *l, uint64_t *random)
{
    uint64_t cycle = 1;
    for (uint32_t i = 0; i < l->tops; i++) {
        uint64_t r = harness_random(random), line = r % (MEMORY / m->memories / 128);
        uint32_t end = (uint32_t)(r >> 32) % m->memories;
        struct harness_message q =
            harness_read(cycle, (uint16_t)i, (line * m->memories + end) * 128, 64);
        cycle += (r >> 40) % (2 * l->gap * l->count / l->tops + 1);
        harness_send(tops[end], &q);
    }
}

/* A number for everything that can be seen behind a run. */
static uint64_t mix(uint64_t sum, const void *bytes, size_t size)
{
    const uint8_t *b = bytes;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ b[i]) * UINT64_C(1099511628211);
    return sum;
}

static uint64_t mix_log(uint64_t sum, uint32_t leaf)
{
    for (uint32_t i = 0; i < harness_count(leaf); i++) {
        const struct harness_message *m = harness_log(leaf, i);
        sum = mix(sum, &m->cycle, sizeof m->cycle);
        sum = mix(sum, &m->tag, sizeof m->tag);
        sum = mix(sum, m->payload, sizeof m->payload);
    }
    return sum;
}

enum { SEEN_ANSWERS, SEEN_OTHERS, SEEN_BYTES, SEEN_MEMORIES, SEEN_CROSSBAR, SEEN_RINGS, SEEN };
static const char *const names[SEEN] = {"answers",
                                        "answers to others",
                                        "bytes",
                                        "counters of memories",
                                        "counters of the crossbar",
                                        "messages of rings"};

static void look(const struct machine *m, uint64_t seen[SEEN])
{
    for (uint32_t i = 0; i < SEEN; i++)
        seen[i] = 1;
    seen[SEEN_ANSWERS] = mix_log(1, host);
    const struct dma_engine_io *d = harness_instance(dma);
    seen[SEEN_ANSWERS] = mix(seen[SEEN_ANSWERS], &d->stats, sizeof d->stats);
    seen[SEEN_BYTES] = mix(1, memory_span(0, MEMORY), MEMORY);
    const struct crossbar_io *x = harness_instance(net);
    seen[SEEN_CROSSBAR] = mix(1, &x->stats, sizeof x->stats);
    for (uint32_t i = 0; i < m->memories; i++) {
        const struct dram_io *c = harness_instance(drams[i]);
        seen[SEEN_OTHERS] = mix_log(seen[SEEN_OTHERS], tops[i]);
        seen[SEEN_MEMORIES] = mix(seen[SEEN_MEMORIES], &c->stats, sizeof c->stats);
        if (!m->hbm)
            continue;
        const struct hbm_io *p = arena_at(struct hbm_io, c->timing);
        seen[SEEN_MEMORIES] = mix(seen[SEEN_MEMORIES], &p->stats, sizeof p->stats);
    }
    for (uint32_t i = 0; i < engine_base.platform->ring_count; i++)
        seen[SEEN_RINGS] = mix(seen[SEEN_RINGS], &ring_at(i)->messages, sizeof(uint64_t));
}

/* How a platform is run. Of these only the first one may do without messages; in the last one
 * memories put nothing off, either. */
enum way { AS_CONVOYS, IN_ANOTHER_ORDER, AT_ONCE };

/* Returns the messages that were done as convoys. */
static uint64_t run(const struct machine *m, const struct load *l, enum way way,
                    uint64_t seen[SEEN])
{
    uint64_t random = 23;
    engine_keep_up(way == AT_ONCE);
    set_up(m, way == IN_ANOTHER_ORDER ? ENGINE_DESCENDING : ENGINE_ASCENDING);
    send_commands(m, l, &random);
    send_tops(m, l, &random);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_assert_eq(harness_count(host), l->count, "%s, %s", m->what, l->what);
    look(m, seen);
    return convoy_messages();
}

static const struct machine machines[] = {
    {"eight lanes, banks", LANES, MEMORIES, 32, true, 64, 160, 32},
    {"one lane, banks", 1, 4, 32, true, 64, 20, 4},
    {"three lanes, banks, narrow answers", 3, 4, 32, true, 16, 40, 8},
    {"eight lanes, ideal", LANES, MEMORIES, 32, false, 64, 0, 32},
    {"one memory", LANES, 1, 32, true, 64, 100, 32},
    {"shallow rings", LANES, 4, 2, true, 64, 160, 32},
    {"one command at a time", 2, 4, 32, false, 32, 0, 1},
};

static const struct load loads[] = {
    {"pages, far apart", 60, 600, true, true, false, 0, true},
    {"pages, one after the other", 60, 0, true, true, false, 0, false},
    {"pages, close", 120, 70, false, true, false, 0, false},
    {"a page, and lines", 180, 600, true, true, true, 0, false},
    {"anything, far apart", 200, 500, false, false, false, 0, false},
    {"anything, close", 300, 40, false, false, false, 0, false},
    {"pages, and others", 80, 300, false, true, false, 400, false},
    {"anything, and others", 200, 120, false, false, false, 600, false},
};

Test(dma_convoy, leaves_what_messages_leave)
{
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        for (size_t k = 0; k < sizeof loads / sizeof loads[0]; k++) {
            const struct machine *m = &machines[i];
            uint64_t expected[SEEN], seen[SEEN], eager[SEEN];
            cr_assert_eq(run(m, &loads[k], IN_ANOTHER_ORDER, expected), 0);
            cr_assert_eq(run(m, &loads[k], AT_ONCE, eager), 0);
            uint64_t in_convoys = run(m, &loads[k], AS_CONVOYS, seen);
            for (uint32_t n = 0; n < SEEN; n++) {
                cr_expect_eq(seen[n], expected[n], "%s, %s: %s", m->what, loads[k].what, names[n]);
                cr_expect_eq(eager[n], expected[n], "%s, %s: %s, put off", m->what, loads[k].what,
                             names[n]);
            }
            cr_expect(in_convoys || !loads[k].convoys, "%s, %s: no convoys", m->what,
                      loads[k].what);
        }
    }
}
