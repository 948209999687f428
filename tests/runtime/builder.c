/* Platform tables built by hand; see builder.h. */
#include "builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/engine/bug.h"
#include "runtime/engine/options.h"
#include "runtime/link/ring.h"

#define STRINGS_MAX    (1u << 20)
#define INSTANCES_MAX  4096u
#define RINGS_MAX      16384u
#define WORDS_MAX      65536u
#define PARTITIONS_MAX 32
#define SMALL_MAX      64u

struct connection {
    struct build_end from;
    struct build_end to;
    uint32_t request;
};

static struct platform_table t;
static char strings[STRINGS_MAX];
static const struct unit_type *units[SMALL_MAX];
static struct platform_domain domains[SMALL_MAX];
static struct platform_group groups[SMALL_MAX];
static struct platform_instance instances[INSTANCES_MAX];
static const struct build_type *types[INSTANCES_MAX];
static struct platform_ring rings[RINGS_MAX];
static struct platform_link links[INSTANCES_MAX];
static struct platform_part parts[INSTANCES_MAX];
static struct platform_protocol protocols[SMALL_MAX];
static struct platform_message messages[SMALL_MAX];
static struct platform_space spaces[SMALL_MAX];
static struct platform_map maps[SMALL_MAX];
static uint32_t param_names[WORDS_MAX];
static uint32_t param_units[WORDS_MAX];
static int64_t params[WORDS_MAX];
static uint32_t bindings[WORDS_MAX];
static uint8_t binding_kinds[WORDS_MAX];
static uint32_t port_rings[WORDS_MAX];
static uint32_t incoming[WORDS_MAX];
static uint32_t partitions[PARTITIONS_MAX];
static struct connection connections[RINGS_MAX];
static uint32_t connection_count;

static void room(uint32_t used, uint32_t limit, const char *what)
{
    if (used >= limit)
        bug("builder: too many %s", what);
}

static uint32_t text(const char *s)
{
    size_t bytes = strlen(s) + 1;
    uint32_t at = t.string_bytes;
    if (at + bytes > STRINGS_MAX)
        bug("builder: too many strings");
    memcpy(strings + at, s, bytes);
    t.string_bytes += (uint32_t)bytes;
    return at;
}

void build_start(const char *name)
{
    memset(&t, 0, sizeof t);
    connection_count = 0;
    text("");
    t = (struct platform_table){
        .abi = PLATFORM_ABI,
        .strings = strings,
        .string_bytes = t.string_bytes,
        .units = units,
        .domains = domains,
        .groups = groups,
        .instances = instances,
        .rings = rings,
        .links = links,
        .parts = parts,
        .protocols = protocols,
        .messages = messages,
        .spaces = spaces,
        .maps = maps,
        .param_names = param_names,
        .param_units = param_units,
        .params = params,
        .bindings = bindings,
        .binding_kinds = binding_kinds,
        .port_rings = port_rings,
        .incoming = incoming,
        .partitions = partitions,
        .partition_count = 1,
    };
    t.name = text(name);
    t.model_hash = strings + text("0123456789abcdef");
}

uint32_t build_domain(const char *name, uint64_t hz)
{
    room(t.domain_count, SMALL_MAX, "domains");
    domains[t.domain_count] = (struct platform_domain){.name = text(name), .hz = hz};
    return t.domain_count++;
}

uint32_t build_protocol(const char *name, uint32_t requests, uint32_t replies,
                        const struct platform_message *kinds, const char *const *names)
{
    room(t.protocol_count, SMALL_MAX, "protocols");
    protocols[t.protocol_count] =
        (struct platform_protocol){text(name), t.message_count, requests, replies};
    for (uint32_t i = 0; i < requests + replies; i++) {
        room(t.message_count, SMALL_MAX, "messages");
        messages[t.message_count] = kinds[i];
        messages[t.message_count++].name = text(names[i]);
    }
    return t.protocol_count++;
}

uint32_t build_link(const char *name, uint64_t bandwidth, uint64_t latency_ps,
                    enum platform_sharing sharing)
{
    room(t.link_count, INSTANCES_MAX, "links");
    links[t.link_count] = (struct platform_link){text(name), sharing, bandwidth, latency_ps};
    return t.link_count++;
}

uint32_t build_space(const char *name, uint64_t base, uint64_t size, uint64_t interleave,
                     uint32_t targets)
{
    room(t.space_count, SMALL_MAX, "spaces");
    spaces[t.space_count] =
        (struct platform_space){text(name), targets, base, size, interleave, false};
    return t.space_count++;
}

void build_map(uint32_t space)
{
    room(t.map_count, SMALL_MAX, "maps");
    maps[t.map_count++] = (struct platform_map){.space = space};
}

static uint32_t find_unit(const struct unit_type *unit)
{
    for (uint32_t i = 0; i < t.unit_count; i++)
        if (units[i] == unit)
            return i;
    room(t.unit_count, SMALL_MAX, "units");
    units[t.unit_count] = unit;
    text(unit->name);
    return t.unit_count++;
}

static void extend_groups(uint32_t unit, uint32_t domain)
{
    struct platform_group *last = t.group_count ? &groups[t.group_count - 1] : NULL;
    if (!last || last->unit != unit || last->domain != domain) {
        room(t.group_count, SMALL_MAX, "groups");
        groups[t.group_count] = (struct platform_group){unit, t.instance_count, 0, domain};
        last = &groups[t.group_count++];
    }
    last->count++;
}

uint32_t build_instance(const struct build_type *type, uint32_t domain, const char *path,
                        const int64_t *values, const char *const *names, uint32_t count)
{
    uint32_t leaf = t.instance_count;
    room(leaf, INSTANCES_MAX, "instances");
    extend_groups(find_unit(type->unit), domain);
    types[leaf] = type;
    instances[leaf] = (struct platform_instance){
        .path = text(path),
        .type = text(type->unit->name),
        .params = t.param_words,
        .param_count = count,
        .route_space = -1,
        .route_else = -1,
    };
    for (uint32_t i = 0; i < count; i++) {
        room(t.param_words, WORDS_MAX, "parameters");
        param_names[t.param_words] = names ? text(names[i]) : 0;
        param_units[t.param_words] = 0;
        params[t.param_words++] = values[i];
    }
    t.instance_count++;
    return leaf;
}

void build_route(uint32_t leaf, int32_t space, int32_t otherwise)
{
    instances[leaf].route_space = space;
    instances[leaf].route_else = otherwise;
}

static uint32_t port_name(struct build_end end)
{
    char name[256];
    const struct build_port *port = &types[end.leaf]->ports[end.port];
    int n = snprintf(name, sizeof name, "%s.%s", strings + instances[end.leaf].path, port->name);
    if (port->array)
        snprintf(name + n, sizeof name - (size_t)n, "[%u]", end.element);
    return text(name);
}

uint32_t build_connect(struct build_end from, struct build_end to, struct build_wire w)
{
    uint32_t request = t.ring_count;
    room(request + 1, RINGS_MAX, "rings");
    struct platform_ring ring = {
        .sender = from.leaf,
        .receiver = to.leaf,
        .peer = request + 1,
        .depth = w.depth,
        .width = w.width,
        .latency = w.latency,
        .link = w.link,
        .payload_bytes = w.request_payload,
        .protocol = w.protocol,
        .is_reversed = w.reversed,
    };
    ring.name = port_name(from);
    rings[request] = ring;
    ring.name = port_name(to);
    ring.sender = to.leaf;
    ring.receiver = from.leaf;
    ring.peer = request;
    ring.payload_bytes = w.reply_payload;
    ring.depth = w.reply_depth ? w.reply_depth : w.depth;
    ring.is_reply = 1;
    rings[request + 1] = ring;
    t.ring_count += 2;
    connections[connection_count++] = (struct connection){from, to, request};
    return request;
}

static uint32_t ring_of(struct build_end end, bool reply)
{
    bool out = types[end.leaf]->ports[end.port].direction == BUILD_OUT;
    for (uint32_t i = 0; i < connection_count; i++) {
        const struct build_end *e = out ? &connections[i].from : &connections[i].to;
        if (e->leaf == end.leaf && e->port == end.port && e->element == end.element)
            return connections[i].request + reply;
    }
    return RING_NONE;
}

static void add_incoming(uint32_t leaf, uint32_t ring)
{
    room(t.incoming_count, WORDS_MAX, "incoming rings");
    if (ring != RING_NONE)
        rings[ring].pending = instances[leaf].incoming_count;
    instances[leaf].incoming_count++;
    incoming[t.incoming_count++] = ring;
}

static void add_binding(uint32_t leaf, uint8_t kind, uint32_t value)
{
    room(t.binding_words, WORDS_MAX, "bindings");
    binding_kinds[t.binding_words] = kind;
    bindings[t.binding_words++] = value;
    instances[leaf].binding_count++;
}

static void bind_port(uint32_t leaf, uint32_t port)
{
    const struct build_port *p = &types[leaf]->ports[port];
    bool out = p->direction == BUILD_OUT;
    if (!p->array) {
        struct build_end end = {leaf, port, 0};
        add_binding(leaf, BIND_RING, ring_of(end, false));
        add_binding(leaf, BIND_RING, ring_of(end, true));
        add_incoming(leaf, ring_of(end, out));
        return;
    }
    uint32_t count = 0;
    uint32_t first = t.port_ring_words / 2;
    for (; ring_of((struct build_end){leaf, port, count}, false) != RING_NONE; count++) {
        struct build_end end = {leaf, port, count};
        room(t.port_ring_words + 1, WORDS_MAX, "port arrays");
        port_rings[t.port_ring_words++] = ring_of(end, false);
        port_rings[t.port_ring_words++] = ring_of(end, true);
        add_incoming(leaf, ring_of(end, out));
    }
    add_binding(leaf, BIND_COUNT, count);
    add_binding(leaf, BIND_FIRST_RING, first);
}

static void add_part(uint32_t leaf, uint32_t number)
{
    char path[256];
    const char *type = types[leaf]->parts[number];
    const uint32_t *places = types[leaf]->part_params;
    if (!type) {
        add_binding(leaf, BIND_PART, UINT32_MAX);
        return;
    }
    room(t.part_count, INSTANCES_MAX, "parts");
    snprintf(path, sizeof path, "%s.%s", strings + instances[leaf].path, type);
    add_binding(leaf, BIND_PART, t.part_count);
    parts[t.part_count++] =
        (struct platform_part){.path = text(path),
                               .type = text(type),
                               .owner_instance = leaf,
                               .owner_part = UINT32_MAX,
                               .params = instances[leaf].params + (places ? places[number] : 0)};
}

void build_partition(uint32_t leaf, uint32_t partition)
{
    room(partition, PARTITIONS_MAX, "partitions");
    instances[leaf].partition = partition;
    while (t.partition_count < partition)
        partitions[t.partition_count++] = text("partition");
}

const struct platform_table *build_finish(void)
{
    for (uint32_t leaf = 0; leaf < t.instance_count; leaf++) {
        instances[leaf].bindings = t.binding_words;
        instances[leaf].incoming = t.incoming_count;
        for (uint32_t port = 0; port < types[leaf]->port_count; port++)
            bind_port(leaf, port);
        for (uint32_t part = 0; part < types[leaf]->part_count; part++)
            add_part(leaf, part);
        for (uint32_t store = 0; store < types[leaf]->store_count; store++) {
            uint32_t number = types[leaf]->unit->store_count ? store : 0;
            add_binding(leaf, BIND_STORE, number);
            t.store_count = number < t.store_count ? t.store_count : number + 1;
        }
    }
    return &t;
}

void build_options(const char *format, ...)
{
    char given[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(given, sizeof given, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof given || !options_open(given))
        bug("builder: options '%s'", given);
}
