/* The test component; see probe.h. */
#include "probe.h"

#include <string.h>

#include "base/number.h"
#include "components/statistics/kernel_stats.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/component_failure.h"
#include "runtime/observe/hang.h"
#include "runtime/observe/timeline.h"
#include "runtime/state/platform.h"

struct probe_stats {
    uint64_t received;
    uint64_t replies;
    struct stat_histogram values;
};

struct probe_io {
    struct component base;
    uint32_t in_count, in_first;
    uint32_t out_count, out_first;
    struct probe_stats stats;
};

struct probe {
    struct probe_io io;
    uint64_t random;
    uint64_t hash;
    uint64_t sent;
    uint64_t ticks; /* that made progress or not: not part of the hash */
    uint64_t due;   /* cycle of the next send or take */
    uint32_t port;  /* of the next send */
    uint32_t kernel;
    uint32_t owed; /* requests taken and not answered */
};

struct probe_entry probe_log[PROBE_LOG];
uint32_t probe_logged;
bool probe_quiet;

const char *const probe_param_names[PROBE_PARAMS] = {"behaviour", "count", "period", "answers",
                                                     "bytes"};

static int64_t param(const struct probe *c, enum probe_param p)
{
    return engine_base.params[c->io.base.params + p];
}

static uint64_t now(const struct probe *c)
{
    return component_now(&c->io.base);
}

static uint32_t ring(uint32_t first, uint32_t element, bool reply)
{
    return ring_place_of(engine_base.port_rings[2 * (first + element) + reply]);
}

static uint64_t random_next(struct probe *c)
{
    c->random ^= c->random << 13;
    c->random ^= c->random >> 7;
    c->random ^= c->random << 17;
    return c->random;
}

static void note(struct probe *c, enum probe_event event, uint64_t value)
{
    c->hash = (c->hash ^ now(c) ^ value << 20 ^ (uint64_t)event << 60) * 0x9e3779b97f4a7c15u;
    c->hash ^= c->hash >> 29;
    if (!probe_quiet && probe_logged < PROBE_LOG)
        probe_log[probe_logged++] = (struct probe_entry){now(c), value, c->io.base.leaf, event};
}

static void probe_init(struct probe *c)
{
    c->random = 0x2545f4914f6cdd1du ^ (uint64_t)(c->io.base.leaf + 1) << 32;
    c->due = 1;
}

static bool send(struct probe *c, uint32_t port)
{
    uint32_t number = ring(c->io.out_first, port, false);
    if (!ring_can_send(number, ring_limit(now(c))))
        return false;
    uint64_t value = c->sent++ << 8 | port;
    memcpy(ring_next(number)->fields, &value, sizeof value);
    ring_next(number)->tag = (uint16_t)value;
    ring_put(ring_placed(number), ring_limit(now(c)), 0, (unsigned)param(c, PROBE_BYTES),
             param(c, PROBE_ANSWERS) != 0);
    note(c, PROBE_SENT, value);
    return true;
}

static bool take_replies(struct probe *c)
{
    bool progress = false;
    for (uint32_t port = 0; port < c->io.out_count; port++) {
        uint32_t number = ring(c->io.out_first, port, true);
        const struct message *m;
        while ((m = ring_peek(number, ring_limit(now(c))))) {
            note(c, PROBE_REPLIED, m->tag);
            c->io.stats.replies++;
            ring_pop(number, ring_limit(now(c)));
            progress = true;
        }
    }
    return progress;
}

/* Takes one request of a port and answers it. */
static bool take(struct probe *c, uint32_t port)
{
    const struct message *m = ring_peek(ring(c->io.in_first, port, false), ring_limit(now(c)));
    uint32_t back = ring(c->io.in_first, port, true);
    uint64_t value;
    if (!m || (param(c, PROBE_ANSWERS) && !ring_can_send(back, ring_limit(now(c)))))
        return false;
    memcpy(&value, m->fields, sizeof value);
    note(c, PROBE_RECEIVED, value << 8 | port);
    c->io.stats.received++;
    stat_histogram_add(&c->io.stats.values, value);
    if (param(c, PROBE_ANSWERS)) {
        ring_next(back)->tag = m->tag;
        ring_put(ring_placed(back), ring_limit(now(c)), 0, (unsigned)param(c, PROBE_BYTES), 0);
    }
    ring_pop(ring(c->io.in_first, port, false), ring_limit(now(c)));
    return true;
}

static bool source(struct probe *c)
{
    bool progress = take_replies(c);
    while (c->sent < (uint64_t)param(c, PROBE_COUNT) && send(c, 0))
        progress = true;
    return progress;
}

static bool sink(struct probe *c)
{
    bool progress = false;
    if (now(c) < c->due) {
        component_wake_at(&c->io.base, c->due);
        return false;
    }
    for (uint32_t port = 0; port < c->io.in_count; port++) {
        while (take(c, port)) {
            progress = true;
            if (param(c, PROBE_PERIOD) > 1)
                break;
        }
    }
    if (progress)
        c->due = now(c) + (uint64_t)param(c, PROBE_PERIOD);
    return progress;
}

static bool mixer(struct probe *c)
{
    bool progress = take_replies(c);
    for (uint32_t port = 0; port < c->io.in_count; port++)
        progress |= take(c, port);
    if (!c->io.out_count || c->sent == (uint64_t)param(c, PROBE_COUNT))
        return progress;
    if (now(c) < c->due) {
        component_wake_at(&c->io.base, c->due);
        return progress;
    }
    if (!send(c, c->port))
        return progress;
    uint64_t r = random_next(c);
    c->port = (uint32_t)(r % c->io.out_count);
    c->due = now(c) + (r >> 8) % 8 * ((r >> 16) % 16 ? 1 : (r >> 24) % 2000);
    return true;
}

static bool relay(struct probe *c)
{
    if (c->sent < (uint64_t)param(c, PROBE_COUNT) && send(c, 0))
        return true;
    if (!ring_peek(ring(c->io.in_first, 0, false), ring_limit(now(c))) || !send(c, 0))
        return false;
    return take(c, 0);
}

static bool silent(struct probe *c)
{
    if (!ring_peek(ring(c->io.in_first, 0, false), ring_limit(now(c))))
        return false;
    ring_pop(ring(c->io.in_first, 0, false), ring_limit(now(c)));
    c->owed++;
    return true;
}

static bool clock_tick(struct probe *c, uint64_t count)
{
    if (now(c) >= c->due && c->sent < count) {
        note(c, PROBE_WOKE, now(c));
        c->sent++;
        c->due = now(c) + (uint64_t)param(c, PROBE_PERIOD);
    }
    if (c->sent < count)
        component_wake_at(&c->io.base, c->due);
    return false;
}

static bool ticker(struct probe *c)
{
    if (c->sent == (uint64_t)param(c, PROBE_COUNT))
        return false;
    if (c->sent++ == 0) {
        c->kernel = kernel_begin(&c->io.base, "ticking \"kernel\"", "_Z7ticking", c->io.base.leaf);
        timeline_begin(&c->io.base, 1, "ticking");
    }
    c->io.stats.received += 2;
    if (c->sent == (uint64_t)param(c, PROBE_COUNT)) {
        const struct kernel_detail details[] = {{NULL, "slots", NULL, 7},
                                                {"time.spent", "well", NULL, 5},
                                                {"time.spent", "badly", NULL, c->sent},
                                                {"time.lost", "all", NULL, 2},
                                                {"time", "of", "day", 0}};
        kernel_count(c->kernel, 3, c->sent);
        kernel_describe(c->kernel, details, ARRAY_COUNT(details));
        kernel_end(&c->io.base, c->kernel);
        timeline_end(&c->io.base, 1, "ticking");
    }
    return true;
}

static bool probe_tick(struct probe *c)
{
    c->ticks++;
    switch ((enum probe_behaviour)param(c, PROBE_BEHAVIOUR)) {
    case PROBE_SOURCE:
        return source(c);
    case PROBE_SINK:
        return sink(c);
    case PROBE_MIXER:
        return mixer(c);
    case PROBE_RELAY:
        return relay(c);
    case PROBE_SILENT:
        return silent(c);
    case PROBE_TICKER:
        return ticker(c);
    case PROBE_CLOCK:
        return clock_tick(c, (uint64_t)param(c, PROBE_COUNT));
    case PROBE_RESTLESS:
        return clock_tick(c, UINT64_MAX);
    case PROBE_FAILER:
        if (now(c) == (uint64_t)param(c, PROBE_PERIOD))
            engine_fail(&c->io.base, "probe %u failed", c->io.base.leaf);
        return now(c) < (uint64_t)param(c, PROBE_PERIOD);
    case PROBE_STUBBORN:
    case PROBE_DAWDLER:
        break;
    }
    return false;
}

static unsigned probe_outstanding(const struct probe *c, struct hang_report *report)
{
    int64_t behaviour = param(c, PROBE_BEHAVIOUR);
    unsigned count = c->owed + (behaviour == PROBE_RESTLESS || behaviour == PROBE_DAWDLER);
    if (c->owed)
        hang_note(report, "%u replies are owed", c->owed);
    return count;
}

UNIT_DEFINE_WALK(probe)

static const struct stat_descriptor stats[] = {
    {"received", "Requests taken.", STAT_COUNTER, offsetof(struct probe_stats, received), 0},
    {"replies", "Replies taken.", STAT_COUNTER, offsetof(struct probe_stats, replies), 0},
    {"values", "", STAT_HISTOGRAM, offsetof(struct probe_stats, values), 0},
};

static const struct unit_type probe_unit = {
    .name = "probe",
    .source = "probe.c",
    .instance_bytes = sizeof(struct probe),
    .io_words_offset = offsetof(struct probe_io, in_count),
    .stats_offset = offsetof(struct probe_io, stats),
    .stat_count = ARRAY_COUNT(stats),
    .stats = stats,
    .init = probe_init_one,
    .tick = probe_tick_one,
    .walk = probe_walk,
    .outstanding = probe_outstanding_one,
};

static const struct build_port ports[] = {{"in", BUILD_IN, true}, {"out", BUILD_OUT, true}};

const struct build_type probe_type = {.unit = &probe_unit, .ports = ports, .port_count = 2};

/* ---- building ---- */

static uint32_t wire_bytes_now;

uint32_t probe_protocol(uint32_t wire_bytes, bool awaited)
{
    const struct platform_message kinds[] = {{.wire_bytes = wire_bytes, .awaited = awaited},
                                             {.wire_bytes = wire_bytes}};
    static const char *const names[] = {"ask", "answer"};
    wire_bytes_now = wire_bytes;
    return build_protocol("probe", 1, 1, kinds, names);
}

uint32_t probe_instance(uint32_t domain, const char *path, enum probe_behaviour behaviour,
                        int64_t count, int64_t period, bool answers)
{
    const int64_t values[PROBE_PARAMS] = {behaviour, count, period, answers, wire_bytes_now};
    return build_instance(&probe_type, domain, path, values, probe_param_names, PROBE_PARAMS);
}

struct build_wire probe_wire(uint32_t protocol, uint32_t depth, uint32_t width, uint32_t latency)
{
    return (struct build_wire){
        .protocol = protocol, .depth = depth, .width = width, .latency = latency};
}

void probe_build(void)
{
    probe_logged = 0;
    if (!platform_build(build_finish()))
        die("the test's platform is wrong");
}

static const struct probe *probe_at(uint32_t leaf)
{
    return (const struct probe *)(const void *)platform_component(leaf);
}

uint64_t probe_hash(void)
{
    uint64_t hash = engine.time_ps;
    for (uint32_t leaf = 0; leaf < engine_base.platform->instance_count; leaf++) {
        const struct probe *c = probe_at(leaf);
        hash = (hash ^ c->hash ^ c->io.stats.received << 32 ^ c->io.stats.replies)
               * 0x9e3779b97f4a7c15u;
    }
    return hash;
}

uint64_t probe_received(uint32_t leaf)
{
    return probe_at(leaf)->io.stats.received;
}

uint64_t probe_ticks(uint32_t leaf)
{
    return probe_at(leaf)->ticks;
}
