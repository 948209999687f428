/* Fills the tables of runtime/platform.h: one function per table. Numbers that others need (positions of instances, ring
 * numbers of connections, part numbers) are fixed first; see layout.h for the orders. */
#include "codegen/layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/emit.h"
#include "codegen/layout_units.h"
#include "codegen/message_layout.h"
#include "codegen/sha256.h"
#include "runtime/ring.h"

/* The tables while they grow. */
struct builder {
    struct layout *layout;
    struct arena *arena;
    const struct model *model;
    struct layout_assignment assignment;
    struct emit strings;
    struct intern string_offsets;
    struct intern param_blocks;
    uint32_t *request_ring; /* by connection id */
    uint32_t *reply_ring;   /* RING_NONE for one-way protocols */
    uint32_t *part_number;  /* by model id */
    uint32_t *first_store;  /* by leaf id: number of its first store */
    uint32_t *pending;      /* by ring: position among the receiver's incoming rings */
    VECTOR(struct platform_domain) domains;
    VECTOR(struct platform_group) groups;
    VECTOR(struct platform_instance) instances;
    VECTOR(struct platform_ring) rings;
    VECTOR(struct platform_link) links;
    VECTOR(struct platform_part) parts;
    VECTOR(struct platform_protocol) protocols;
    VECTOR(struct platform_message) messages;
    VECTOR(struct platform_space) spaces;
    VECTOR(struct platform_map) maps;
    VECTOR(uint32_t) param_names;
    VECTOR(uint32_t) param_units;
    VECTOR(int64_t) params;
    VECTOR(uint32_t) bindings;
    VECTOR(uint8_t) binding_kinds;
    VECTOR(uint32_t) port_rings;
    VECTOR(uint32_t) part_refs;
    VECTOR(uint32_t) incoming;
    VECTOR(uint32_t) partitions;
};

static uint32_t add_string(struct builder *b, const char *text)
{
    if (!text)
        text = "";
    const struct intern_entry *known = intern_find(&b->string_offsets, text);
    if (known)
        return known->value;
    uint32_t offset = (uint32_t)b->strings.size;
    emit_bytes(&b->strings, text, strlen(text) + 1);
    intern_add(&b->string_offsets, arena_strdup(b->arena, text), offset);
    return offset;
}

static const char *port_path(struct builder *b, const struct model_port *port)
{
    return port->decl->is_array ? arena_printf(b->arena, "%s.%s[%u]", port->owner->path, port->decl->name, port->element)
                                : arena_printf(b->arena, "%s.%s", port->owner->path, port->decl->name);
}

static void add_domains(struct builder *b)
{
    for (uint32_t i = 0; i < b->model->domain_count; i++) {
        struct platform_domain domain = { .name = add_string(b, b->model->domains[i].name),
                                          .hz = b->model->domains[i].hz };
        vector_push(b->arena, &b->domains, domain);
    }
}

/* Instances by domain, then specialised unit, then declaration. */
static void order_instances(struct builder *b)
{
    const struct model *model = b->model;
    struct layout *layout = b->layout;
    uint32_t units = b->assignment.count;
    uint32_t *heads = arena_alloc(b->arena, ((size_t)model->domain_count * units + 1) * sizeof(uint32_t));
    uint32_t *next = arena_alloc(b->arena, (model->leaf_count + 1) * sizeof(uint32_t));
    layout->positions = arena_alloc(b->arena, (model->leaf_count + 1) * sizeof(uint32_t));
    for (uint32_t i = model->leaf_count; i-- > 0;) {
        uint32_t bucket = model->leaves[i]->domain * units + b->assignment.unit_of_leaf[i];
        next[i] = heads[bucket];
        heads[bucket] = i + 1;
    }
    for (uint32_t bucket = 0; bucket < model->domain_count * units; bucket++) {
        if (!heads[bucket])
            continue;
        struct platform_group group = { .unit = b->assignment.compiled[bucket % units],
                                        .first = layout->instances.count,
                                        .domain = bucket / units };
        for (uint32_t leaf = heads[bucket]; leaf; leaf = next[leaf - 1]) {
            layout->positions[leaf - 1] = layout->instances.count;
            vector_push(b->arena, &layout->instances, model->leaves[leaf - 1]);
            group.count++;
        }
        vector_push(b->arena, &b->groups, group);
    }
}

static void number_rings(struct builder *b)
{
    uint32_t count = 0;
    b->request_ring = arena_alloc(b->arena, (b->model->connection_count + 1) * sizeof(uint32_t));
    b->reply_ring = arena_alloc(b->arena, (b->model->connection_count + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < b->model->connection_count; i++) {
        b->request_ring[i] = count++;
        b->reply_ring[i] = b->model->connections[i]->protocol->reply_count > 0 ? count++ : RING_NONE;
    }
    b->pending = arena_alloc(b->arena, (count + 1) * sizeof(uint32_t));
}

static void number_stores(struct builder *b)
{
    uint32_t count = 0;
    b->first_store = arena_alloc(b->arena, (b->model->leaf_count + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < b->layout->instances.count; i++) {
        const struct model_instance *instance = b->layout->instances.items[i];
        b->first_store[instance->leaf_id] = count;
        for (uint32_t s = 0; s < instance->type->store_count; s++)
            count += instance->type->stores[s].is_writer;
    }
    b->layout->table.store_count = count;
}

static const char *param_unit(enum model_dimension dimension)
{
    switch (dimension) {
    case MODEL_DIM_BYTES:
        return "B";
    case MODEL_DIM_CYCLES:
        return "cy";
    case MODEL_DIM_HZ:
        return "Hz";
    case MODEL_DIM_SECONDS:
        return "ps";
    case MODEL_DIM_BYTES_PER_S:
        return "B/s";
    case MODEL_DIM_BYTES_PER_CY:
        return "B/cy";
    default:
        return "";
    }
}

/* First word of the values; equal blocks of one type share theirs. */
static uint32_t add_params(struct builder *b, const char *type, const struct model_param *params, uint32_t count)
{
    struct emit key;
    emit_init(&key, b->arena);
    emit(&key, "%s", type);
    for (uint32_t i = 0; i < count; i++)
        if (params[i].value.dimension == MODEL_DIM_STRING)
            emit(&key, ",\"%s\"", params[i].value.string);
        else
            emit(&key, ",%" PRId64, params[i].value.integer);
    const struct intern_entry *known = intern_find(&b->param_blocks, key.text);
    if (known)
        return known->value;
    uint32_t first = b->params.count;
    for (uint32_t i = 0; i < count; i++) {
        bool text = params[i].value.dimension == MODEL_DIM_STRING;
        int64_t value = text ? (int64_t)add_string(b, params[i].value.string) : params[i].value.integer;
        vector_push(b->arena, &b->params, value);
        vector_push(b->arena, &b->param_names, add_string(b, params[i].decl->name));
        vector_push(b->arena, &b->param_units, add_string(b, param_unit(params[i].value.dimension)));
    }
    intern_add(&b->param_blocks, key.text, first);
    return first;
}

static void add_binding(struct builder *b, enum platform_binding kind, uint32_t value)
{
    vector_push(b->arena, &b->bindings, value);
    vector_push(b->arena, &b->binding_kinds, (uint8_t)kind);
}

static uint32_t ring_of(const uint32_t *rings, const struct model_port *port)
{
    return port->connection ? rings[port->connection->id] : RING_NONE;
}

static void bind_ports(struct builder *b, const struct model_port_group *group)
{
    if (!group->decl->is_array) {
        add_binding(b, BIND_RING, ring_of(b->request_ring, &group->ports[0]));
        add_binding(b, BIND_RING, ring_of(b->reply_ring, &group->ports[0]));
        return;
    }
    add_binding(b, BIND_COUNT, group->count);
    add_binding(b, BIND_FIRST_RING, b->port_rings.count / 2);
    for (uint32_t i = 0; i < group->count; i++) {
        vector_push(b->arena, &b->port_rings, ring_of(b->request_ring, &group->ports[i]));
        vector_push(b->arena, &b->port_rings, ring_of(b->reply_ring, &group->ports[i]));
    }
}

static void bind_places(struct builder *b, const struct model_type *type, const struct model_part_place *places)
{
    for (uint32_t i = 0; i < type->part_count; i++) {
        if (!type->parts[i].is_array) {
            add_binding(b, BIND_PART, places[i].count ? b->part_number[places[i].parts[0]->id] : UINT32_MAX);
            continue;
        }
        add_binding(b, BIND_COUNT, places[i].count);
        add_binding(b, BIND_FIRST_PART, b->part_refs.count);
        for (uint32_t p = 0; p < places[i].count; p++)
            vector_push(b->arena, &b->part_refs, b->part_number[places[i].parts[p]->id]);
    }
}

/* Stores are numbered by writer; a writer's own stand in order of its declarations. */
static uint32_t store_number(struct builder *b, const struct model_instance *writer, const struct model_store_decl *store)
{
    uint32_t number = b->first_store[writer->leaf_id];
    for (uint32_t s = 0; s < writer->type->store_count; s++) {
        if (!writer->type->stores[s].is_writer)
            continue;
        if (strcmp(writer->type->stores[s].type, store->type) == 0)
            return number;
        number++;
    }
    bug("%s writes no store of type %s", writer->path, store->type);
}

static void bind_stores(struct builder *b, const struct model_instance *instance)
{
    for (uint32_t s = 0; s < instance->type->store_count; s++) {
        const struct model_instance *writer = instance->readers_of[s];
        add_binding(b, BIND_STORE, writer ? store_number(b, writer, &instance->type->stores[s]) : UINT32_MAX);
    }
}

static void add_incoming(struct builder *b, const struct model_instance *instance, uint32_t first)
{
    for (uint32_t g = 0; g < instance->port_group_count; g++) {
        const struct model_port_group *group = &instance->port_groups[g];
        for (uint32_t p = 0; p < group->count; p++) {
            uint32_t ring = ring_of(group->decl->is_in ? b->request_ring : b->reply_ring, &group->ports[p]);
            if (ring != RING_NONE)
                b->pending[ring] = b->incoming.count - first;
            vector_push(b->arena, &b->incoming, ring);
        }
    }
}

static void number_parts(struct builder *b, const struct model_type *type, const struct model_part_place *places,
                         uint32_t owner_instance, uint32_t owner_part)
{
    for (uint32_t i = 0; i < type->part_count; i++)
        for (uint32_t p = 0; p < places[i].count && !places[i].shared; p++) {
            const struct model_part *part = places[i].parts[p];
            uint32_t number = b->parts.count;
            struct platform_part row = { .path = add_string(b, part->path),
                                         .type = add_string(b, part->type->name),
                                         .owner_instance = owner_instance,
                                         .owner_part = owner_part,
                                         .params = add_params(b, part->type->name, part->params, part->param_count),
                                         .param_count = part->param_count };
            b->part_number[part->id] = number;
            vector_push(b->arena, &b->parts, row);
            vector_push(b->arena, &b->layout->parts, part);
            number_parts(b, part->type, part->places, owner_instance, number);
        }
}

static void add_parts(struct builder *b)
{
    b->part_number = arena_alloc(b->arena, (b->model->part_count + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < b->layout->instances.count; i++)
        number_parts(b, b->layout->instances.items[i]->type, b->layout->instances.items[i]->places, i, UINT32_MAX);
    for (uint32_t i = 0; i < b->parts.count; i++) {
        const struct model_part *part = b->layout->parts.items[i];
        b->parts.items[i].bindings = b->bindings.count;
        bind_places(b, part->type, part->places);
        b->parts.items[i].binding_count = b->bindings.count - b->parts.items[i].bindings;
    }
}

static void add_instances(struct builder *b)
{
    for (uint32_t i = 0; i < b->layout->instances.count; i++) {
        const struct model_instance *instance = b->layout->instances.items[i];
        struct platform_instance row = {
            .path = add_string(b, instance->path),
            .type = add_string(b, instance->type->name),
            .partition = instance->partition,
            .params = add_params(b, instance->type->name, instance->params, instance->param_count),
            .param_count = instance->param_count,
            .bindings = b->bindings.count,
            .route_space = instance->route.space ? (int32_t)instance->route.space->id : -1,
            .route_else = instance->route.space ? instance->route.else_output : -1,
            .incoming = b->incoming.count,
            .stores = b->first_store[instance->leaf_id],
        };
        for (uint32_t g = 0; g < instance->port_group_count; g++)
            bind_ports(b, &instance->port_groups[g]);
        bind_places(b, instance->type, instance->places);
        bind_stores(b, instance);
        row.binding_count = b->bindings.count - row.bindings;
        add_incoming(b, instance, row.incoming);
        row.incoming_count = b->incoming.count - row.incoming;
        vector_push(b->arena, &b->instances, row);
    }
}

static bool same_protocol(const struct model_protocol *a, const struct model_protocol *b)
{
    if (a == b)
        return true;
    if (strcmp(a->name, b->name) != 0 || a->argument_count != b->argument_count)
        return false;
    for (uint32_t i = 0; i < a->argument_count; i++)
        if (a->arguments[i] != b->arguments[i])
            return false;
    return true;
}

static uint32_t protocol_number(struct builder *b, const struct model_protocol *protocol)
{
    for (uint32_t i = 0; i < b->model->protocol_count; i++)
        if (same_protocol(b->model->protocols[i], protocol))
            return i;
    bug("protocol %s is not among those of the platform", protocol->name);
}

/* 1 + the link's index. Connections of one bus share theirs; it is named by the first of them. */
static uint32_t add_link(struct builder *b, const struct model_connection *connection)
{
    if (!connection->link)
        return 0;
    for (uint32_t i = 0; connection->bus && i < connection->id; i++)
        if (b->model->connections[i]->bus == connection->bus)
            return b->rings.items[b->request_ring[i]].link;
    struct platform_link link = { .name = add_string(b, arena_printf(b->arena, "%s -> %s via %s",
                                                                     port_path(b, connection->from),
                                                                     port_path(b, connection->to),
                                                                     connection->link->name)),
                                  .shared = connection->bus != 0,
                                  .bandwidth_bytes_per_s = connection->link->bandwidth_bytes_per_s,
                                  .latency_ps = connection->link->latency_ps };
    vector_push(b->arena, &b->links, link);
    return b->links.count;
}

static void add_rings(struct builder *b)
{
    for (uint32_t i = 0; i < b->model->connection_count; i++) {
        const struct model_connection *connection = b->model->connections[i];
        const struct model_protocol *protocol = connection->protocol;
        struct platform_ring request = {
            .name = add_string(b, port_path(b, connection->from)),
            .sender = b->layout->positions[connection->from->owner->leaf_id],
            .receiver = b->layout->positions[connection->to->owner->leaf_id],
            .peer = b->reply_ring[i],
            .depth = connection->depth,
            .width = connection->width,
            .latency = connection->link ? 0 : connection->latency_cy,
            .link = add_link(b, connection),
            .payload_bytes = message_slot_bytes(b->arena, protocol->requests, protocol->request_count),
            .protocol = protocol_number(b, protocol),
            .pending = b->pending[b->request_ring[i]],
        };
        vector_push(b->arena, &b->rings, request);
        vector_push(b->arena, &b->layout->rings, connection);
        if (b->reply_ring[i] == RING_NONE)
            continue;
        struct platform_ring reply = request;
        reply.name = add_string(b, port_path(b, connection->to));
        reply.sender = request.receiver;
        reply.receiver = request.sender;
        reply.peer = b->request_ring[i];
        reply.depth = connection->reply_depth;
        reply.payload_bytes = message_slot_bytes(b->arena, protocol->replies, protocol->reply_count);
        reply.is_reply = 1;
        reply.pending = b->pending[b->reply_ring[i]];
        vector_push(b->arena, &b->rings, reply);
        vector_push(b->arena, &b->layout->rings, connection);
    }
}

static const char *protocol_text(struct builder *b, const struct model_protocol *protocol)
{
    struct emit text;
    emit_init(&text, b->arena);
    emit(&text, "%s", protocol->name);
    for (uint32_t i = 0; i < protocol->argument_count; i++)
        emit(&text, "%s%" PRId64, i ? ", " : "(", protocol->arguments[i]);
    emit(&text, "%s", protocol->argument_count ? ")" : "");
    return text.text;
}

static void add_messages(struct builder *b, const struct model_message *messages, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct platform_message row = { .name = add_string(b, messages[i].name),
                                        .wire_bytes = message_wire_bytes(b->arena, &messages[i]),
                                        .awaited = !messages[i].is_reply && messages[i].has_reply,
                                        .payload_bytes = message_payload_bytes(b->arena, &messages[i]) };
        vector_push(b->arena, &b->messages, row);
    }
}

static void add_protocols(struct builder *b)
{
    for (uint32_t i = 0; i < b->model->protocol_count; i++) {
        const struct model_protocol *protocol = b->model->protocols[i];
        struct platform_protocol row = { .name = add_string(b, protocol_text(b, protocol)),
                                         .first_message = b->messages.count,
                                         .request_count = protocol->request_count,
                                         .reply_count = protocol->reply_count };
        vector_push(b->arena, &b->protocols, row);
        add_messages(b, protocol->requests, protocol->request_count);
        add_messages(b, protocol->replies, protocol->reply_count);
    }
}

static void add_spaces(struct builder *b)
{
    for (uint32_t i = 0; i < b->model->space_count; i++) {
        const struct model_space *space = b->model->spaces[i];
        struct platform_space row = { .name = add_string(b, space->path),
                                      .target_count = space->target_count,
                                      .base = space->base,
                                      .size = space->each_bytes * space->target_count,
                                      .interleave = space->interleave_bytes ? space->interleave_bytes : space->each_bytes };
        vector_push(b->arena, &b->spaces, row);
        struct platform_map map = { .space = i };
        if (space->mapped)
            vector_push(b->arena, &b->maps, map);
    }
}

static void add_partitions(struct builder *b)
{
    for (uint32_t i = 0; i < b->model->partition_count; i++)
        vector_push(b->arena, &b->partitions, add_string(b, b->model->partitions[i].name));
}

/* Everything that says what the platform is; which unit implements a group is not part of it. */
static void hash_model(struct builder *b)
{
    struct sha256 hash;
    sha256_init(&hash);
#define ADD(vector) sha256_add(&hash, (vector).items, (vector).count * sizeof *(vector).items)
    for (uint32_t i = 0; i < b->groups.count; i++) {
        struct platform_group group = b->groups.items[i];
        group.unit = 0;
        sha256_add(&hash, &group, sizeof group);
    }
    sha256_add(&hash, b->strings.text, b->strings.size);
    ADD(b->domains);
    ADD(b->instances);
    ADD(b->rings);
    ADD(b->links);
    ADD(b->parts);
    ADD(b->protocols);
    ADD(b->messages);
    ADD(b->spaces);
    ADD(b->maps);
    ADD(b->param_names);
    ADD(b->param_units);
    ADD(b->params);
    ADD(b->bindings);
    ADD(b->binding_kinds);
    ADD(b->port_rings);
    ADD(b->part_refs);
    ADD(b->incoming);
    ADD(b->partitions);
#undef ADD
    sha256_finish(&hash, b->layout->model_hash);
}

static void finish_table(struct builder *b)
{
    struct platform_table *t = &b->layout->table;
    hash_model(b);
    t->abi = PLATFORM_ABI;
    t->name = add_string(b, b->model->name);
    t->model_hash = b->layout->model_hash;
    add_string(b, t->model_hash);
    for (uint32_t i = 0; i < b->layout->units.count; i++)
        add_string(b, b->layout->units.items[i]->type->name);
    t->strings = b->strings.text;
    t->string_bytes = (uint32_t)b->strings.size;
#define TAKE(list, counter) (t->list = b->list.items, t->counter = b->list.count)
    TAKE(domains, domain_count);
    TAKE(groups, group_count);
    TAKE(instances, instance_count);
    TAKE(rings, ring_count);
    TAKE(links, link_count);
    TAKE(parts, part_count);
    TAKE(protocols, protocol_count);
    TAKE(messages, message_count);
    TAKE(spaces, space_count);
    TAKE(maps, map_count);
    TAKE(params, param_words);
    TAKE(bindings, binding_words);
    TAKE(port_rings, port_ring_words);
    TAKE(part_refs, part_ref_count);
    TAKE(incoming, incoming_count);
    TAKE(partitions, partition_count);
#undef TAKE
    t->param_names = b->param_names.items;
    t->param_units = b->param_units.items;
    t->binding_kinds = b->binding_kinds.items;
    t->unit_count = b->layout->units.count;
}

struct layout *layout_make(struct arena *arena, const struct model *model, bool generic)
{
    struct layout *layout = arena_alloc(arena, sizeof *layout);
    layout->arena = arena;
    layout->model = model;
    layout->generic = generic;
    struct builder *b = arena_alloc(arena, sizeof *b);
    b->layout = layout;
    b->arena = arena;
    b->model = model;
    emit_init(&b->strings, arena);
    intern_init(&b->string_offsets, arena);
    intern_init(&b->param_blocks, arena);
    add_string(b, "");
    b->assignment = layout_assign_units(layout);
    add_domains(b);
    order_instances(b);
    number_rings(b);
    number_stores(b);
    add_parts(b);
    add_instances(b);
    add_rings(b);
    add_protocols(b);
    add_spaces(b);
    add_partitions(b);
    finish_table(b);
    return layout;
}
