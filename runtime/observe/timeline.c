/* The trace file; see timeline.h. Process 1 holds the components, a thread each, numbered 1 + leaf;
 * process 2 the connections, a thread for each ring; process 3 the counters. A message is an
 * asynchronous span from its sending to its arrival. Where times or launches are limited, a span is
 * written when it ends, as only then it is known whether it belongs.
 *
 * With one shard events are written as they happen: in order of time, and in a step in the order of
 * instances, which is that of ticks. Several shards collect theirs, and between windows they are
 * written in that order. */
#include "timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/options.h"
#include "runtime/engine/output_file.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/rank_channel.h"
#include "runtime/engine/shard.h"
#include "runtime/link/ring.h"
#include "runtime/link/ring_run.h"
#include "runtime/state/lookup.h"

#include "json.h"
#include "timeline_internal.h"
#include "watch.h"

#define COMPONENTS      1
#define CONNECTIONS     2
#define COUNTERS        3
#define GROWTHS         4                 /* counters of series.c */
#define SHARD_BYTES_MAX ((size_t)1 << 30) /* reserved for what a shard collects in a window */

#define FILLING ((uint64_t)1 << 14) /* events */

/* Something to be written: a span of a component (`phase` 'b', of a launch 'k', or 'e'), a
 * message ('m'), or what a counter grew by ('c': `name` is its path, `layout` its own name, `id`
 * the growth since `arrival_ps`). */
struct event {
    uint64_t time_ps;
    uint64_t order_ps; /* when it happened: of what a shared wire granted, when it did so */
    uint32_t order;    /* instance; ORDER_WIRE: granted, after all instances */
    uint32_t sequence;
    char phase;
    uint8_t fields[RING_FIELD_BYTES];
    uint16_t tag;
    uint32_t number; /* instance or ring */
    uint32_t kind;   /* a message's number in its direction */
    uint64_t id;
    uint64_t arrival_ps;
    const char *name;
    const char *layout; /* how the fields lie */
};

#define ORDER_WIRE UINT32_MAX

struct collection {
    _Alignas(64) struct event *events;
    uint32_t count;
};

static struct {
    const struct platform_table *table;
    struct json out;
    struct output_file file;
    struct collection collections[ENGINE_DOMAINS_MAX]; /* by shard */
    struct collection foreign; /* at rank 0: what the other ranks have sent */
    struct event *merged;      /* all collections in order */
} timeline;

static void start_event(const char *phase, const char *category, const char *name, uint64_t time_ps,
                        int process, uint32_t thread, uint64_t id)
{
    json_open(&timeline.out, NULL, '{');
    json_text(&timeline.out, "ph", phase);
    json_text(&timeline.out, "cat", category);
    json_text(&timeline.out, "name", name);
    json_key(&timeline.out, "ts");
    json_print(&timeline.out, "%" PRIu64 ".%06" PRIu64, time_ps / 1000000, time_ps % 1000000);
    json_int(&timeline.out, "pid", process);
    json_uint(&timeline.out, "tid", thread);
    json_key(&timeline.out, "id");
    json_print(&timeline.out, "\"0x%" PRIx64 "\"", id);
}

static void write_id(const char *key, uint64_t id)
{
    json_key(&timeline.out, key);
    json_print(&timeline.out, "\"0x%" PRIx64 "\"", id);
}

static void write_message(const struct event *e)
{
    bool is_shown = timeline_selects_now(e->time_ps);
    struct timeline_hop hop = {e->number, e->kind,    e->tag,       e->fields,
                               e->id,     e->time_ps, e->arrival_ps};
    struct timeline_flow flow = timeline_flows_add(&hop, is_shown);
    if (!is_shown)
        return;
    start_event("b", "message", e->name, e->time_ps, CONNECTIONS, e->number + 1, e->id);
    if (flow.id && !(flow.is_first && flow.is_last)) {
        write_id("bind_id", flow.id);
        if (!flow.is_first)
            json_bool(&timeline.out, "flow_in", true);
        if (!flow.is_last)
            json_bool(&timeline.out, "flow_out", true);
    }
    json_open(&timeline.out, "args", '{');
    json_uint(&timeline.out, "tag", e->tag);
    if (flow.id)
        write_id("flow", flow.id);
    if (flow.merged)
        write_id("merged", flow.merged);
    timeline_write_fields(&timeline.out, e->layout, e->fields);
    json_close(&timeline.out, '}');
    json_close(&timeline.out, '}');
    start_event("e", "message", e->name, e->arrival_ps, CONNECTIONS, e->number + 1, e->id);
    json_close(&timeline.out, '}');
    json_raw(&timeline.out, "\n", 1);
}

static void write_span(uint32_t instance, char phase, uint64_t id, const char *name,
                       uint64_t time_ps)
{
    /* Asynchronous spans are matched by (category, id, name): the component makes the id unique. */
    const char *category = platform_string(timeline.table->instances[instance].type);
    start_event((const char[]){phase, '\0'}, category, name, time_ps, COMPONENTS, instance + 1,
                id ^ (uint64_t)(instance + 1) << 40);
    json_close(&timeline.out, '}');
    json_raw(&timeline.out, "\n", 1);
}

/* Writes the number of spans of this name that the component has open now. */
static void write_counter(const struct event *e)
{
    json_open(&timeline.out, NULL, '{');
    json_text(&timeline.out, "ph", "C");
    json_text(&timeline.out, "name", platform_string(timeline.table->instances[e->number].path));
    json_key(&timeline.out, "ts");
    json_print(&timeline.out, "%" PRIu64 ".%06" PRIu64, e->time_ps / 1000000, e->time_ps % 1000000);
    json_int(&timeline.out, "pid", COUNTERS);
    json_open(&timeline.out, "args", '{');
    json_uint(&timeline.out, e->name, timeline_spans_count(e->number, e->name));
    json_close(&timeline.out, '}');
    json_close(&timeline.out, '}');
    json_raw(&timeline.out, "\n", 1);
}

/* Writes a counter where its interval begins: a track keeps its value until the next. */
static void write_growth(const struct event *e)
{
    if (!timeline_selects_now(e->time_ps))
        return;
    json_open(&timeline.out, NULL, '{');
    json_text(&timeline.out, "ph", "C");
    json_text(&timeline.out, "name", e->name);
    json_key(&timeline.out, "ts");
    json_print(&timeline.out, "%" PRIu64 ".%06" PRIu64, e->arrival_ps / 1000000,
               e->arrival_ps % 1000000);
    json_int(&timeline.out, "pid", GROWTHS);
    json_open(&timeline.out, "args", '{');
    json_uint(&timeline.out, e->layout, e->id);
    json_close(&timeline.out, '}');
    json_close(&timeline.out, '}');
    json_raw(&timeline.out, "\n", 1);
}

static void begin_span(const struct event *e)
{
    if (e->phase == 'k')
        timeline_select_launch_begin(e->number, e->name, e->id);
    if (!timeline_selects_instance(e->number))
        return;
    timeline_spans_add(e->number, (struct timeline_span){e->id, e->time_ps, e->name});
    if (!timeline_select_limits_time())
        write_span(e->number, 'b', e->id, e->name, e->time_ps);
    if (timeline_selects_now(e->time_ps))
        write_counter(e);
}

static void end_span(const struct event *e)
{
    struct timeline_span span;
    bool is_counted = timeline_selects_now(e->time_ps);
    bool is_known = timeline_spans_remove(e->number, e->id, e->name, &span);
    bool is_shown = is_known && timeline_selects_span(span.begin_ps, e->time_ps);
    timeline_select_launch_end(e->number, e->name, e->id, e->time_ps);
    if (is_shown && timeline_select_limits_time())
        write_span(e->number, 'b', span.id, span.name, span.begin_ps);
    if (is_shown)
        write_span(e->number, 'e', e->id, e->name, e->time_ps);
    if (is_known && is_counted)
        write_counter(e);
}

/* Spans that are open at the end of the run begin, and do not end. */
static void write_open_spans(void)
{
    uint32_t instance;
    struct timeline_span span;
    while (timeline_spans_drain(&instance, &span))
        if (timeline_select_limits_time() && timeline_selects_span(span.begin_ps, UINT64_MAX))
            write_span(instance, 'b', span.id, span.name, span.begin_ps);
}

static void write_event(const struct event *e)
{
    switch (e->phase) {
    case 'm':
        write_message(e);
        break;
    case 'c':
        write_growth(e);
        break;
    case 'e':
        end_span(e);
        break;
    default:
        begin_span(e);
    }
}

static __attribute__((noreturn)) void die_full(void)
{
    die("more trace events in a window than fit into %zu MiB; choose less with --record-window or "
        "--record-path",
        SHARD_BYTES_MAX >> 20);
}

static void add_event(uint32_t shard, const struct event *e)
{
    struct collection *c = &timeline.collections[shard];
    if (engine.shard_count == 1) {
        write_event(e);
        return;
    }
    if (c->count == SHARD_BYTES_MAX / sizeof *e)
        die_full();
    c->events[c->count] = *e;
    c->events[c->count].sequence = c->count;
    c->count++;
    if (c->count == SHARD_BYTES_MAX / sizeof *e / 2)
        window_ask_end();
}

static void add_span(char phase, const struct component *c, uint64_t id, const char *name)
{
    add_event(component_shard(c), &(struct event){.time_ps = shard_now(c->domain),
                                                  .order_ps = shard_now(c->domain),
                                                  .order = c->leaf,
                                                  .phase = phase,
                                                  .number = c->leaf,
                                                  .id = id,
                                                  .name = name});
}

void timeline_write_begin(const struct component *c, uint64_t id, const char *name)
{
    add_span('b', c, id, name);
}

const char *timeline_name(const char *name)
{
    static char **names;
    static size_t count, capacity;
    if (!(engine.tracing & ENGINE_TIMELINE))
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return names[i];
    grow_list(names, count + 1, capacity, "names");
    names[count] = grow_text(name, "names");
    return names[count++];
}

void timeline_write_launch(const struct component *c, uint64_t id, const char *name)
{
    add_span('k', c, id, name);
}

void timeline_write_end(const struct component *c, uint64_t id, const char *name)
{
    add_span('e', c, id, name);
}

void timeline_write_growth(const char *path, const char *counter, uint64_t from_ps, uint64_t to_ps,
                           uint64_t growth)
{
    add_event(0, &(struct event){.time_ps = to_ps,
                                 .order_ps = to_ps,
                                 .phase = 'c',
                                 .id = growth,
                                 .arrival_ps = from_ps,
                                 .name = path,
                                 .layout = counter});
}

static uint32_t order_of(uint32_t ring, uint64_t granted_ps)
{
    return granted_ps == RING_OWN ? timeline.table->rings[ring].sender : ORDER_WIRE;
}

/* In a step wires grant in order of links, each its two ways. */
static uint32_t place_of(const struct event *e)
{
    if (e->order != ORDER_WIRE)
        return 0;
    const struct platform_ring *p = &timeline.table->rings[e->number];
    return 2 * p->link + (p->is_reply ^ p->is_reversed);
}

void ring_trace(const struct ring *r, const struct message *m, uint64_t nth, uint64_t time_ps,
                uint64_t granted_ps)
{
    uint32_t number = (uint32_t)(r - ring_at(0));
    if (engine.tracing & ENGINE_WATCHES)
        watch_message(r, m, time_ps);
    if (!(engine.tracing & ENGINE_TIMELINE))
        return;
    if (!timeline_selects_ring(number) || !timeline_selects_time(time_ps))
        return;
    const struct platform_ring *p = &timeline.table->rings[number];
    const struct platform_protocol *protocol = &timeline.table->protocols[p->protocol];
    uint32_t kind = message_kind(m) + (p->is_reply ? protocol->request_count : 0);
    if (message_cycle(m) == RING_UNKNOWN || kind >= protocol->request_count + protocol->reply_count)
        return;
    struct event e = {
        .time_ps = time_ps,
        .order_ps = granted_ps == RING_OWN ? time_ps : granted_ps,
        .order = order_of(number, granted_ps),
        .phase = 'm',
        .tag = m->tag,
        .number = number,
        .kind = message_kind(m),
        .id = (uint64_t)(number + 1) << 40 | (nth & 0xffffffffffu),
        .arrival_ps = engine_time_of(ring_receiver_domain(r), message_cycle(m)),
        .name = platform_string(timeline.table->messages[protocol->first_message + kind].name),
        .layout = platform_string(timeline.table->messages[protocol->first_message + kind].fields)};
    memcpy(e.fields, m->fields, RING_FIELD_BYTES);
    add_event(ring_sender_domain(r) / engine.clock_count, &e);
}

/* Events of one instance are in the collection of one shard, in order; grants of shared wires, in
 * that of the senders' shards. */
static int by_time(const void *a, const void *b)
{
    const struct event *x = a;
    const struct event *y = b;
    if (x->order_ps != y->order_ps)
        return x->order_ps < y->order_ps ? -1 : 1;
    if ((x->phase == 'c') != (y->phase == 'c')) /* a counter shows the time before it */
        return x->phase == 'c' ? -1 : 1;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    uint32_t place_x = place_of(x), place_y = place_of(y);
    if (place_x != place_y)
        return place_x < place_y ? -1 : 1;
    return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

/* ---- several ranks ---- */

/* An event on its way to rank 0: names of messages by their place in the platform's strings, those
 * of spans as text after it. */
struct sent_event {
    struct event event;
    uint32_t name, layout;
    uint32_t text; /* bytes that follow */
};

static void encode(uint32_t to, uint64_t end_ps)
{
    (void)end_ps;
    for (uint32_t i = 0; i < engine.shard_count; i++) {
        for (uint32_t k = 0; k < timeline.collections[i].count; k++) {
            const struct event *e = &timeline.collections[i].events[k];
            bool is_message = e->phase == 'm';
            struct sent_event sent = {.event = *e,
                                      .text = is_message ? 0 : (uint32_t)strlen(e->name) + 1};
            sent.name = is_message ? (uint32_t)(e->name - timeline.table->strings) : 0;
            sent.layout = is_message ? (uint32_t)(e->layout - timeline.table->strings) : 0;
            rank_put(to, &sent, sizeof sent);
            rank_put(to, e->name, sent.text);
        }
        timeline.collections[i].count = 0;
    }
}

static void merge(struct rank_reader *from)
{
    struct sent_event sent;
    while (from->left) {
        memcpy(&sent, rank_read(from, sizeof sent), sizeof sent);
        if (timeline.foreign.count == SHARD_BYTES_MAX / sizeof *timeline.foreign.events)
            die_full();
        struct event *e = &timeline.foreign.events[timeline.foreign.count++];
        *e = sent.event;
        e->name =
            sent.text ? timeline_name(rank_read(from, sent.text)) : platform_string(sent.name);
        e->layout = sent.text ? NULL : platform_string(sent.layout);
    }
}

static bool is_filling(void)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < engine.shard_count; i++)
        count += timeline.collections[i].count;
    return count > FILLING;
}

void timeline_settle(void)
{
    size_t count = timeline.foreign.count;
    if (!(engine.tracing & ENGINE_TIMELINE) || engine.shard_count == 1)
        return;
    if (count)
        memcpy(timeline.merged, timeline.foreign.events, count * sizeof *timeline.merged);
    timeline.foreign.count = 0;
    for (uint32_t i = 0; i < engine.shard_count; i++) {
        memcpy(timeline.merged + count, timeline.collections[i].events,
               timeline.collections[i].count * sizeof *timeline.merged);
        count += timeline.collections[i].count;
        timeline.collections[i].count = 0;
    }
    qsort(timeline.merged, count, sizeof *timeline.merged, by_time);
    for (size_t i = 0; i < count; i++)
        write_event(&timeline.merged[i]);
}

static void open_collections(void)
{
    static const struct rank_channel channel = {
        .times = RANK_CHANNEL_BARRIER, .encode = encode, .merge = merge, .is_filling = is_filling};
    rank_channel_register(&channel);
    if (engine.shard_count > 1)
        for (uint32_t i = 0; i < engine.shard_count; i++)
            timeline.collections[i] = (struct collection){arena_reserve(SHARD_BYTES_MAX), 0};
    timeline.merged = arena_reserve(SHARD_BYTES_MAX * (engine.shard_count + 1));
    timeline.foreign = (struct collection){arena_reserve(SHARD_BYTES_MAX), 0};
}

static void name_thread(int process, uint32_t thread, const char *kind, const char *name,
                        const char *suffix)
{
    char text[512];
    snprintf(text, sizeof text, "%s%s", name, suffix);
    json_open(&timeline.out, NULL, '{');
    json_text(&timeline.out, "ph", "M");
    json_text(&timeline.out, "name", kind);
    json_int(&timeline.out, "pid", process);
    json_uint(&timeline.out, "tid", thread);
    json_open(&timeline.out, "args", '{');
    json_text(&timeline.out, "name", text);
    json_close(&timeline.out, '}');
    json_close(&timeline.out, '}');
    json_raw(&timeline.out, "\n", 1);
}

bool timeline_open(const struct platform_table *described)
{
    const char *path = option_file("record perfetto");
    timeline.table = described;
    if (!path)
        return true;
    if (!timeline_select_open(timeline.table))
        return false;
    if (!rank_is_first()) {
        open_collections();
        engine.tracing |= ENGINE_TIMELINE;
        ring_trace_all(true);
        return true;
    }
    if (!output_file_open(&timeline.file, path)) {
        fprintf(stderr, "heddle: cannot write the trace to '%s': %s\n", path, strerror(errno));
        return false;
    }
    json_start(&timeline.out, timeline.file.fd);
    timeline.out.is_flat = true;
    json_open(&timeline.out, NULL, '{');
    json_text(&timeline.out, "displayTimeUnit", "ns");
    json_open(&timeline.out, "traceEvents", '[');
    name_thread(COMPONENTS, 0, "process_name", "components", "");
    name_thread(CONNECTIONS, 0, "process_name", "connections", "");
    name_thread(COUNTERS, 0, "process_name", "counters: open spans", "");
    if (option_number("every-ps") || option_number("every-cycles"))
        name_thread(GROWTHS, 0, "process_name", "counters: growth by interval", "");
    timeline_spans_open(timeline.table->instance_count);
    timeline_flows_open(timeline.table);
    for (uint32_t i = 0; i < timeline.table->instance_count; i++)
        name_thread(COMPONENTS, i + 1, "thread_name",
                    platform_string(timeline.table->instances[i].path), "");
    for (uint32_t i = 0; i < timeline.table->ring_count; i++)
        name_thread(CONNECTIONS, i + 1, "thread_name",
                    platform_string(timeline.table->rings[i].name),
                    timeline.table->rings[i].is_reply ? " (replies)" : "");
    open_collections();
    engine.tracing |= ENGINE_TIMELINE;
    ring_trace_all(true);
    return true;
}

bool timeline_close(void)
{
    if (!(engine.tracing & ENGINE_TIMELINE))
        return true;
    timeline_settle(); /* events after the last window */
    engine.tracing &= ~ENGINE_TIMELINE;
    ring_trace_all(engine.tracing != 0);
    write_open_spans();
    timeline_spans_close();
    timeline_flows_close();
    json_close(&timeline.out, ']');
    json_close(&timeline.out, '}');
    json_raw(&timeline.out, "\n", 1);
    bool is_selected = timeline_select_close(shard_now(0));
    int reason = json_publish(&timeline.out, &timeline.file);
    if (!reason)
        return is_selected;
    fprintf(stderr, "heddle: cannot write the trace to '%s': %s\n", timeline.file.path,
            strerror(reason));
    return false;
}
