/* Fills the tables of runtime/engine/platform_table.h: one function per table. Numbers that others
 * need (positions of instances, ring numbers of connections, part numbers) are fixed first; see
 * layout.h for the orders. */
#include "layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "dsl/compiler_bug.h"
#include "runtime/link/ring.h"

#include "layout_builder.h"
#include "settings.h"

static void add_domains(struct builder *b)
{
    for (uint32_t i = 0; i < b->model->domain_count; i++) {
        struct platform_domain domain = {.name = layout_add_string(b, b->model->domains[i].name),
                                         .hz = b->model->domains[i].hz};
        vector_push(b->region, &b->domains, domain);
    }
}

/* Instances by domain, then specialised unit, then declaration. */
static void order_instances(struct builder *b)
{
    const struct model *model = b->model;
    struct layout *layout = b->layout;
    uint32_t units = b->assignment.count;
    uint32_t *heads =
        region_take(b->region, ((size_t)model->domain_count * units + 1) * sizeof(uint32_t));
    uint32_t *next = region_take(b->region, (model->leaf_count + 1) * sizeof(uint32_t));
    layout->positions = region_take(b->region, (model->leaf_count + 1) * sizeof(uint32_t));
    for (uint32_t i = model->leaf_count; i-- > 0;) {
        uint32_t bucket = model->leaves[i]->domain * units + b->assignment.unit_of_leaf[i];
        next[i] = heads[bucket];
        heads[bucket] = i + 1;
    }
    for (uint32_t bucket = 0; bucket < model->domain_count * units; bucket++) {
        if (!heads[bucket])
            continue;
        struct platform_group group = {.unit = b->assignment.compiled[bucket % units],
                                       .first = layout->instances.count,
                                       .domain = bucket / units};
        for (uint32_t leaf = heads[bucket]; leaf; leaf = next[leaf - 1]) {
            layout->positions[leaf - 1] = layout->instances.count;
            vector_push(b->region, &layout->instances, model->leaves[leaf - 1]);
            group.count++;
        }
        vector_push(b->region, &b->groups, group);
    }
}

static void number_rings(struct builder *b)
{
    uint32_t count = 0;
    b->request_ring = region_take(b->region, (b->model->connection_count + 1) * sizeof(uint32_t));
    b->reply_ring = region_take(b->region, (b->model->connection_count + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < b->model->connection_count; i++) {
        b->request_ring[i] = count++;
        b->reply_ring[i] =
            b->model->connections[i]->protocol->reply_count > 0 ? count++ : RING_NONE;
    }
    b->pending = region_take(b->region, (count + 1) * sizeof(uint32_t));
}

static void number_stores(struct builder *b)
{
    uint32_t count = 0;
    b->first_store = region_take(b->region, (b->model->leaf_count + 1) * sizeof(uint32_t));
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
static uint32_t add_params(struct builder *b, const char *type, const struct model_param *params,
                           uint32_t count)
{
    struct emit key;
    emit_init(&key, b->region);
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
        int64_t value =
            text ? (int64_t)layout_add_string(b, params[i].value.string) : params[i].value.integer;
        vector_push(b->region, &b->params, value);
        vector_push(b->region, &b->param_names, layout_add_string(b, params[i].decl->name));
        vector_push(b->region, &b->param_units,
                    layout_add_string(b, param_unit(params[i].value.dimension)));
    }
    intern_add(&b->param_blocks, key.text, first);
    return first;
}

static void add_binding(struct builder *b, enum platform_binding kind, uint32_t value)
{
    vector_push(b->region, &b->bindings, value);
    vector_push(b->region, &b->binding_kinds, (uint8_t)kind);
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
        vector_push(b->region, &b->port_rings, ring_of(b->request_ring, &group->ports[i]));
        vector_push(b->region, &b->port_rings, ring_of(b->reply_ring, &group->ports[i]));
    }
}

static void bind_places(struct builder *b, const struct model_type *type,
                        const struct model_part_place *places)
{
    for (uint32_t i = 0; i < type->part_count; i++) {
        if (!type->parts[i].is_array) {
            add_binding(b, BIND_PART,
                        places[i].count ? b->part_number[places[i].parts[0]->id] : UINT32_MAX);
            continue;
        }
        add_binding(b, BIND_COUNT, places[i].count);
        add_binding(b, BIND_FIRST_PART, b->part_refs.count);
        for (uint32_t p = 0; p < places[i].count; p++)
            vector_push(b->region, &b->part_refs, b->part_number[places[i].parts[p]->id]);
    }
}

/* Stores are numbered by writer; a writer's own are in order of its declarations. */
static uint32_t store_number(struct builder *b, const struct model_instance *writer,
                             const struct model_store_decl *store)
{
    uint32_t number = b->first_store[writer->leaf_id];
    for (uint32_t s = 0; s < writer->type->store_count; s++) {
        if (!writer->type->stores[s].is_writer)
            continue;
        if (strcmp(writer->type->stores[s].type, store->type) == 0)
            return number;
        number++;
    }
    compiler_bug("%s writes no store of type %s", writer->path, store->type);
}

static void bind_stores(struct builder *b, const struct model_instance *instance)
{
    for (uint32_t s = 0; s < instance->type->store_count; s++) {
        const struct model_instance *writer = instance->readers_of[s];
        add_binding(b, BIND_STORE,
                    writer ? store_number(b, writer, &instance->type->stores[s]) : UINT32_MAX);
    }
}

static void add_incoming(struct builder *b, const struct model_instance *instance, uint32_t first)
{
    for (uint32_t g = 0; g < instance->port_group_count; g++) {
        const struct model_port_group *group = &instance->port_groups[g];
        for (uint32_t p = 0; p < group->count; p++) {
            uint32_t ring =
                ring_of(group->decl->is_in ? b->request_ring : b->reply_ring, &group->ports[p]);
            if (ring != RING_NONE)
                b->pending[ring] = b->incoming.count - first;
            vector_push(b->region, &b->incoming, ring);
        }
    }
}

static void number_parts(struct builder *b, const struct model_type *type,
                         const struct model_part_place *places, uint32_t owner_instance,
                         uint32_t owner_part)
{
    for (uint32_t i = 0; i < type->part_count; i++)
        for (uint32_t p = 0; p < places[i].count && !places[i].is_shared; p++) {
            const struct model_part *part = places[i].parts[p];
            uint32_t number = b->parts.count;
            struct platform_part row = {
                .path = layout_add_string(b, part->path),
                .type = layout_add_string(b, part->type->name),
                .owner_instance = owner_instance,
                .owner_part = owner_part,
                .params = add_params(b, part->type->name, part->params, part->param_count),
                .param_count = part->param_count};
            b->part_number[part->id] = number;
            vector_push(b->region, &b->parts, row);
            vector_push(b->region, &b->layout->parts, part);
            number_parts(b, part->type, part->places, owner_instance, number);
        }
}

static void add_parts(struct builder *b)
{
    b->part_number = region_take(b->region, (b->model->part_count + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < b->layout->instances.count; i++)
        number_parts(b, b->layout->instances.items[i]->type, b->layout->instances.items[i]->places,
                     i, UINT32_MAX);
    for (uint32_t i = 0; i < b->parts.count; i++) {
        const struct model_part *part = b->layout->parts.items[i];
        b->parts.items[i].bindings = b->bindings.count;
        bind_places(b, part->type, part->places);
        b->parts.items[i].binding_count = b->bindings.count - b->parts.items[i].bindings;
    }
}

/* Routes by the map: an output for each space. */
static void add_routes(struct builder *b, const struct model_route *route,
                       struct platform_instance *row)
{
    row->routes = b->routes.count;
    if (!route->outputs)
        return;
    for (uint32_t i = 0; i < b->model->space_count; i++)
        vector_push(b->region, &b->routes,
                    route->outputs[i] < 0 ? RING_NONE : (uint32_t)route->outputs[i]);
    row->route_count = b->model->space_count;
}

static void add_instances(struct builder *b)
{
    for (uint32_t i = 0; i < b->layout->instances.count; i++) {
        const struct model_instance *instance = b->layout->instances.items[i];
        struct platform_instance row = {
            .path = layout_add_string(b, instance->path),
            .type = layout_add_string(b, instance->type->name),
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
        add_routes(b, &instance->route, &row);
        add_incoming(b, instance, row.incoming);
        row.incoming_count = b->incoming.count - row.incoming;
        vector_push(b->region, &b->instances, row);
    }
}

static void add_partitions(struct builder *b)
{
    for (uint32_t i = 0; i < b->model->partition_count; i++)
        vector_push(b->region, &b->partitions, layout_add_string(b, b->model->partitions[i].name));
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
    ADD(b->routes);
#undef ADD
    sha256_finish(&hash, b->layout->model_hash);
}

static void finish_table(struct builder *b)
{
    struct platform_table *t = &b->layout->table;
    hash_model(b);
    t->abi = PLATFORM_ABI;
    t->name = layout_add_string(b, b->model->name);
    t->model_hash = b->layout->model_hash;
    layout_add_string(b, t->model_hash);
    uint32_t settings = layout_add_string(b, settings_text(b->region, b->model));
    for (uint32_t i = 0; i < b->layout->units.count; i++)
        layout_add_string(b, b->layout->units.items[i]->type->name);
    t->strings = b->strings.text;
    t->settings = t->strings + settings;
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
    TAKE(routes, route_words);
#undef TAKE
    t->param_names = b->param_names.items;
    t->param_units = b->param_units.items;
    t->binding_kinds = b->binding_kinds.items;
    t->unit_count = b->layout->units.count;
}

struct layout *layout_make(struct region *region, const struct model *model, bool generic)
{
    struct layout *layout = region_take(region, sizeof *layout);
    layout->region = region;
    layout->model = model;
    layout->generic = generic;
    struct builder *b = layout_builder_new(layout);
    b->assignment = layout_assign_units(layout);
    add_domains(b);
    order_instances(b);
    number_rings(b);
    number_stores(b);
    add_parts(b);
    add_instances(b);
    layout_add_rings(b);
    layout_add_protocols(b);
    layout_add_spaces(b);
    add_partitions(b);
    finish_table(b);
    return layout;
}
