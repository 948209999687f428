/* How fast the engine is by itself: trivial ticks, message deliveries, wake-ups.
 *
 * A tick is one call of a component that says it made progress. A delivery is a message sent, seen
 * and taken: each of 64 pairs passes one a cycle, and its credit goes back. A wake-up is set and
 * taken ("hold" model: each component that wakes asks for another time). CPU seconds, best of
 * several runs. Usage: bench_engine [seconds a case] */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "runtime/engine/engine.h"
#include "runtime/engine/run_control.h"
#include "runtime/engine/unit.h"
#include "runtime/engine/wake_queue.h"
#include "runtime/link/ring.h"
#include "runtime/state/platform.h"
#include "tests/runtime/builder.h"

#define RUNS     5
#define PAIRS    64
#define WAKE_IDS 1024

/* ---- trivial component ---- */

struct spinner_io {
    struct component base;
    uint32_t none;
};

struct spinner {
    struct spinner_io io;
    uint64_t ticks;
};

static uint64_t tick_limit;

static void spinner_init(struct spinner *c)
{
    c->ticks = 0;
}

static bool spinner_tick(struct spinner *c)
{
    return ++c->ticks < tick_limit;
}

static unsigned spinner_outstanding(const struct spinner *c, struct hang_report *report)
{
    (void)c;
    (void)report;
    return 0;
}

UNIT_DEFINE_WALK(spinner)

static const struct unit_type spinner_unit = {
    .name = "spinner",
    .source = "bench_engine.c",
    .instance_bytes = sizeof(struct spinner),
    .io_words_offset = offsetof(struct spinner_io, none),
    .init = spinner_init_one,
    .tick = spinner_tick_one,
    .walk = spinner_walk,
    .outstanding = spinner_outstanding_one,
};

/* ---- a sender and a receiver of bare headers ---- */

struct peer_io {
    struct component base;
    uint32_t request, reply;
};

struct sender {
    struct peer_io io;
    uint64_t sent;
};

struct receiver {
    struct peer_io io;
    uint64_t sum;
};

static uint64_t send_limit;

static void sender_init(struct sender *c)
{
    c->sent = 0;
}

static bool sender_tick(struct sender *c)
{
    uint64_t now = component_now(&c->io.base);
    if (c->sent == send_limit || !ring_can_send(c->io.request, ring_limit(now)))
        return false;
    struct message *m = ring_next(c->io.request);
    __builtin_memcpy(m->fields, &c->sent, sizeof c->sent);
    c->sent++;
    ring_put(ring_placed(c->io.request), ring_limit(now), 0, 0, 0);
    return true;
}

static unsigned sender_outstanding(const struct sender *c, struct hang_report *report)
{
    (void)c;
    (void)report;
    return 0;
}

static void receiver_init(struct receiver *c)
{
    c->sum = 0;
}

static bool receiver_tick(struct receiver *c)
{
    uint64_t now = component_now(&c->io.base);
    const struct message *m = ring_peek(c->io.request, ring_limit(now));
    uint64_t value;
    if (!m)
        return false;
    __builtin_memcpy(&value, m->fields, sizeof value);
    c->sum += value;
    ring_pop(c->io.request, ring_limit(now));
    return true;
}

static unsigned receiver_outstanding(const struct receiver *c, struct hang_report *report)
{
    (void)c;
    (void)report;
    return 0;
}

UNIT_DEFINE_WALK(sender)
UNIT_DEFINE_WALK(receiver)

static const struct unit_type sender_unit = {
    .name = "sender",
    .source = "bench_engine.c",
    .instance_bytes = sizeof(struct sender),
    .io_words_offset = offsetof(struct peer_io, request),
    .init = sender_init_one,
    .tick = sender_tick_one,
    .walk = sender_walk,
    .outstanding = sender_outstanding_one,
};

static const struct unit_type receiver_unit = {
    .name = "receiver",
    .source = "bench_engine.c",
    .instance_bytes = sizeof(struct receiver),
    .io_words_offset = offsetof(struct peer_io, request),
    .init = receiver_init_one,
    .tick = receiver_tick_one,
    .walk = receiver_walk,
    .outstanding = receiver_outstanding_one,
};

static const struct build_port sender_ports[] = {{"to", BUILD_OUT, false}};
static const struct build_port receiver_ports[] = {{"from", BUILD_IN, false}};
static const struct build_type spinner_type = {.unit = &spinner_unit};
static const struct build_type sender_type = {
    .unit = &sender_unit, .ports = sender_ports, .port_count = 1};
static const struct build_type receiver_type = {
    .unit = &receiver_unit, .ports = receiver_ports, .port_count = 1};

/* ---- cases ---- */

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double timed_run(void)
{
    if (!platform_build(build_finish()))
        exit(1);
    double start = cpu_seconds();
    engine_run();
    return cpu_seconds() - start;
}

static double ticks(uint32_t components, uint64_t each)
{
    char path[32];
    tick_limit = each;
    build_start("ticks");
    uint32_t core = build_domain("core", 1000000000);
    for (uint32_t i = 0; i < components; i++) {
        snprintf(path, sizeof path, "spinner[%u]", i);
        build_instance(&spinner_type, core, path, NULL, NULL, 0);
    }
    return (double)components * (double)each / timed_run();
}

static double deliveries(uint32_t latency, uint64_t each)
{
    static const struct platform_message kinds[] = {{.wire_bytes = 16}};
    static const char *const names[] = {"word"};
    char path[32];
    send_limit = each;
    build_start("deliveries");
    uint32_t core = build_domain("core", 1000000000);
    uint32_t protocol = build_protocol("word", 1, 0, kinds, names);
    for (uint32_t i = 0; i < 2 * PAIRS; i++) {
        snprintf(path, sizeof path, "%s[%u]", i < PAIRS ? "sender" : "receiver", i % PAIRS);
        build_instance(i < PAIRS ? &sender_type : &receiver_type, core, path, NULL, NULL, 0);
    }
    for (uint32_t i = 0; i < PAIRS; i++)
        build_connect(
            (struct build_end){i, 0, 0}, (struct build_end){PAIRS + i, 0, 0},
            (struct build_wire){
                .protocol = protocol, .depth = 2 * latency, .width = 1, .latency = latency});
    return PAIRS * (double)each / timed_run();
}

/* Nanoseconds an operation, waking times uniform below `horizon` cycles. */
static double wake_hold(uint64_t horizon, uint64_t operations)
{
    static struct wake_queue queue;
    static struct wake_node nodes[WAKE_IDS];
    static uint32_t heap[WAKE_IDS];
    uint64_t random = 88172645463325252u;
    uint64_t done = 0;
    queue = (struct wake_queue){0};
    uint64_t now = 0;
    wake_queue_open(&queue, nodes, heap);
    for (uint32_t i = 0; i < WAKE_IDS; i++)
        wake_queue_set(&queue, i, 1 + i % horizon);
    double start = cpu_seconds();
    while (done < operations) {
        uint64_t bitmap[WAKE_IDS / 64] = {0};
        now = wake_queue_next(&queue);
        wake_queue_pop(&queue, now, bitmap);
        for (uint32_t w = 0; w < WAKE_IDS / 64; w++) {
            for (uint64_t bits = bitmap[w]; bits; bits &= bits - 1, done++) {
                random ^= random << 13, random ^= random >> 7, random ^= random << 17;
                wake_queue_set(&queue, w * 64 + (unsigned)__builtin_ctzll(bits),
                               now + 1 + random % horizon);
            }
        }
    }
    double seconds = cpu_seconds() - start;
    uint64_t bitmap[WAKE_IDS / 64];
    while (wake_queue_next(&queue) != ENGINE_NEVER)
        wake_queue_pop(&queue, wake_queue_next(&queue), bitmap);
    return seconds / (double)done * 1e9;
}

int main(int argc, char **argv)
{
    double scale = argc > 1 ? atof(argv[1]) : 0.2;
    double best[7] = {0};
    for (int run = 0; run < RUNS; run++) {
        double now[7] = {
            ticks(64, (uint64_t)(scale * 8e6)),         ticks(1000, (uint64_t)(scale * 5e5)),
            ticks(1, (uint64_t)(scale * 5e7)),          deliveries(1, (uint64_t)(scale * 5e5)),
            deliveries(5, (uint64_t)(scale * 5e5)),     -wake_hold(1000, (uint64_t)(scale * 2e7)),
            -wake_hold(20000, (uint64_t)(scale * 1e7)),
        };
        for (int i = 0; i < 7; i++)
            best[i] = !run || now[i] > best[i] ? now[i] : best[i];
    }
    printf("ticks, 64 components      %8.1f M/s\n", best[0] / 1e6);
    printf("ticks, 1000 components    %8.1f M/s\n", best[1] / 1e6);
    printf("ticks, 1 component        %8.1f M/s (a step of the loop each)\n", best[2] / 1e6);
    printf("deliveries, latency 1     %8.1f M/s\n", best[3] / 1e6);
    printf("deliveries, latency 5     %8.1f M/s\n", best[4] / 1e6);
    printf("wake-ups, within 1000     %8.1f ns/operation\n", -best[5]);
    printf("wake-ups, within 20000    %8.1f ns/operation\n", -best[6]);
    printf("overhead: %zu bytes a component, %zu a ring beyond its slots\n",
           sizeof(struct component) + sizeof(struct wake_node) + sizeof(void *) + sizeof(uint32_t),
           sizeof(struct ring));
    return 0;
}
