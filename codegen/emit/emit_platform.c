/* The platform's C file: the tables of runtime/state/platform.h, one function per table, in the
 * order of the header. Rows say in a comment what they stand for and where the description has it.
 */
#include "codegen/emit/emitters.h"
#include "codegen/emit/names.h"

#include <inttypes.h>
#include <string.h>

#define PER_LINE 16

static const char *text_at(const struct layout *layout, uint32_t offset)
{
    return layout->table.strings + offset;
}

static void emit_strings(struct emit *e, const struct layout *layout)
{
    const struct platform_table *t = &layout->table;
    emit(e, "static const char strings[] = {\n");
    for (uint32_t at = 0; at < t->string_bytes; at += (uint32_t)strlen(t->strings + at) + 1) {
        emit(e, "    /* %5u */ \"", at);
        for (const char *c = t->strings + at; *c; c++)
            if (*c == '\n')
                emit(e, "\\n");
            else
                emit(e, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
        emit(e, "\\0\"\n");
    }
    emit(e, "};\n\n");
}

static void emit_word(struct emit *e, uint32_t word)
{
    if (word == UINT32_MAX)
        emit(e, "NONE,");
    else
        emit(e, "%u,", word);
}

/* Words first .. first + count - 1, with a comment that says whose they are. */
static void emit_row(struct emit *e, const uint32_t *words, uint32_t first, uint32_t count,
                     const char *whose)
{
    if (count == 0)
        return;
    emit(e, "    /* %s */", whose);
    for (uint32_t i = 0; i < count; i++) {
        emit(e, count > PER_LINE && i % PER_LINE == 0 ? "\n    " : " ");
        emit_word(e, words[first + i]);
    }
    emit(e, "\n");
}

static void emit_words(struct emit *e, const char *name, const uint32_t *words, uint32_t count)
{
    if (count == 0)
        return;
    emit(e, "static const uint32_t %s[] = {", name);
    for (uint32_t i = 0; i < count; i++) {
        emit(e, i % PER_LINE == 0 ? "\n    " : " ");
        emit_word(e, words[i]);
    }
    emit(e, "\n};\n\n");
}

static void emit_units(struct emit *e, const struct layout *layout)
{
    for (uint32_t i = 0; i < layout->units.count; i++)
        emit(e, "extern const struct unit_type %s;\n", layout->units.items[i]->symbol);
    emit(e, "\nstatic const struct unit_type *const units[] = {\n");
    for (uint32_t i = 0; i < layout->units.count; i++)
        emit(e, "    &%s, /* %u */\n", layout->units.items[i]->symbol, i);
    emit(e, "};\n\n");
}

static void emit_domains(struct emit *e, const struct layout *layout)
{
    const struct platform_table *t = &layout->table;
    if (t->domain_count == 0)
        return;
    emit(e, "static const struct platform_domain domains[] = {\n");
    for (uint32_t i = 0; i < t->domain_count; i++)
        emit(e, "    { .name = %u, .hz = %" PRIu64 " }, /* %s, %s */\n", t->domains[i].name,
             t->domains[i].hz, text_at(layout, t->domains[i].name),
             name_place(e->arena, layout->model->domains[i].place));
    emit(e, "};\n\n");
}

static void emit_groups(struct emit *e, const struct layout *layout)
{
    const struct platform_table *t = &layout->table;
    if (t->group_count == 0)
        return;
    emit(e, "static const struct platform_group groups[] = {\n");
    for (uint32_t i = 0; i < t->group_count; i++)
        emit(e, "    { .unit = %u, .first = %u, .count = %u, .domain = %u }, /* %s */\n",
             t->groups[i].unit, t->groups[i].first, t->groups[i].count, t->groups[i].domain,
             layout->units.items[t->groups[i].unit]->symbol);
    emit(e, "};\n\n");
}

static void emit_instances(struct emit *e, const struct layout *layout)
{
    const struct platform_table *t = &layout->table;
    if (t->instance_count == 0)
        return;
    emit(e, "static const struct platform_instance instances[] = {\n");
    for (uint32_t i = 0; i < t->instance_count; i++) {
        const struct platform_instance *row = &t->instances[i];
        emit(e, "    /* %u: %s : %s, %s */\n", i, text_at(layout, row->path),
             text_at(layout, row->type), name_place(e->arena, layout->instances.items[i]->place));
        emit(e, "    { .path = %u, .type = %u, .partition = %u, .params = %u, .param_count = %u,\n",
             row->path, row->type, row->partition, row->params, row->param_count);
        emit(e, "      .bindings = %u, .binding_count = %u, .route_space = %d, .route_else = %d,\n",
             row->bindings, row->binding_count, row->route_space, row->route_else);
        if (row->route_count > 0)
            emit(e, "      .routes = %u, .route_count = %u,\n", row->routes, row->route_count);
        emit(e, "      .incoming = %u, .incoming_count = %u, .stores = %u },\n", row->incoming,
             row->incoming_count, row->stores);
    }
    emit(e, "};\n\n");
}

static void emit_rings(struct emit *e, const struct layout *layout)
{
    const struct platform_table *t = &layout->table;
    if (t->ring_count == 0)
        return;
    emit(e, "static const struct platform_ring rings[] = {\n");
    for (uint32_t i = 0; i < t->ring_count; i++) {
        const struct platform_ring *row = &t->rings[i];
        const struct model_connection *connection = layout->rings.items[i];
        emit(e, "    /* %u: %s of %s, %s */\n", i, row->is_reply ? "replies" : "requests",
             text_at(layout, row->name), name_place(e->arena, connection->place));
        emit(e, "    { .name = %u, .sender = %u, .receiver = %u, .peer = ", row->name, row->sender,
             row->receiver);
        emit_word(e, row->peer);
        emit(e, " .depth = %u, .width = %u, .latency = %u,\n", row->depth, row->width,
             row->latency);
        emit(e,
             "      .link = %u, .payload_bytes = %u, .protocol = %u, .is_reply = %u, .pending = %u",
             row->link, row->payload_bytes, row->protocol, row->is_reply, row->pending);
        emit(e, "%s },\n", row->reversed ? ", .reversed = 1" : "");
    }
    emit(e, "};\n\n");
}

static void emit_links(struct emit *e, const struct layout *layout)
{
    const struct platform_table *t = &layout->table;
    if (t->link_count == 0)
        return;
    emit(e, "static const struct platform_link links[] = {\n");
    for (uint32_t i = 0; i < t->link_count; i++)
        emit(e,
             "    { .name = %u, .shared = %u, .bandwidth_bytes_per_s = %" PRIu64
             ", .latency_ps = %" PRIu64 " }, /* %s */\n",
             t->links[i].name, t->links[i].shared, t->links[i].bandwidth_bytes_per_s,
             t->links[i].latency_ps, text_at(layout, t->links[i].name));
    emit(e, "};\n\n");
}

static void emit_parts(struct emit *e, const struct layout *layout)
{
    const struct platform_table *t = &layout->table;
    if (t->part_count == 0)
        return;
    emit(e, "static const struct platform_part parts[] = {\n");
    for (uint32_t i = 0; i < t->part_count; i++) {
        const struct platform_part *row = &t->parts[i];
        emit(e, "    /* %u: %s : %s, %s */\n", i, text_at(layout, row->path),
             text_at(layout, row->type), name_place(e->arena, layout->parts.items[i]->decl->place));
        emit(e, "    { .path = %u, .type = %u, .owner_instance = %u, .owner_part = ", row->path,
             row->type, row->owner_instance);
        emit_word(e, row->owner_part);
        emit(e, "\n      .params = %u, .param_count = %u, .bindings = %u, .binding_count = %u },\n",
             row->params, row->param_count, row->bindings, row->binding_count);
    }
    emit(e, "};\n\n");
}

static void emit_protocols(struct emit *e, const struct layout *layout)
{
    const struct platform_table *t = &layout->table;
    if (t->protocol_count == 0)
        return;
    emit(e, "static const struct platform_protocol protocols[] = {\n");
    for (uint32_t i = 0; i < t->protocol_count; i++)
        emit(e,
             "    { .name = %u, .first_message = %u, .request_count = %u, .reply_count = %u }, /* "
             "%s, %s */\n",
             t->protocols[i].name, t->protocols[i].first_message, t->protocols[i].request_count,
             t->protocols[i].reply_count, text_at(layout, t->protocols[i].name),
             name_place(e->arena, layout->model->protocols[i]->place));
    emit(e, "};\n\n");
    emit(e, "static const struct platform_message messages[] = {\n");
    for (uint32_t i = 0; i < t->message_count; i++)
        emit(
            e,
            "    { .name = %u, .wire_bytes = %u, .awaited = %u, .payload_bytes = %u, .fields = %u, "
            ".length_at = %u, .variable = %u }, /* %u: %s */\n",
            t->messages[i].name, t->messages[i].wire_bytes, t->messages[i].awaited,
            t->messages[i].payload_bytes, t->messages[i].fields, t->messages[i].length_at,
            t->messages[i].variable, i, text_at(layout, t->messages[i].name));
    emit(e, "};\n\n");
}

static void emit_spaces(struct emit *e, const struct layout *layout)
{
    const struct platform_table *t = &layout->table;
    if (t->space_count == 0)
        return;
    emit(e, "static const struct platform_space spaces[] = {\n");
    for (uint32_t i = 0; i < t->space_count; i++)
        emit(e,
             "    { .name = %u, .target_count = %u, .base = 0x%" PRIx64 ", .size = 0x%" PRIx64
             ", .interleave = %" PRIu64 "%s }, /* %s, %s */\n",
             t->spaces[i].name, t->spaces[i].target_count, t->spaces[i].base, t->spaces[i].size,
             t->spaces[i].interleave, t->spaces[i].hashed ? ", .hashed = true" : "",
             text_at(layout, t->spaces[i].name),
             name_place(e->arena, layout->model->spaces[i]->place));
    emit(e, "};\n\n");
    if (t->map_count == 0)
        return;
    emit(e, "static const struct platform_map maps[] = {\n");
    for (uint32_t i = 0; i < t->map_count; i++)
        emit(e, "    { .space = %u }, /* %s */\n", t->maps[i].space,
             text_at(layout, t->spaces[t->maps[i].space].name));
    emit(e, "};\n\n");
}

static void emit_params(struct emit *e, const struct layout *layout)
{
    const struct platform_table *t = &layout->table;
    if (t->param_words == 0)
        return;
    emit_words(e, "param_names", t->param_names, t->param_words);
    emit_words(e, "param_units", t->param_units, t->param_words);
    emit(e, "static const int64_t params[] = {\n");
    for (uint32_t i = 0; i < t->param_words; i++)
        emit(e, "    %" PRId64 ", /* %u: %s%s%s */\n", t->params[i], i,
             text_at(layout, t->param_names[i]), *text_at(layout, t->param_units[i]) ? ", " : "",
             text_at(layout, t->param_units[i]));
    emit(e, "};\n\n");
}

static void emit_bindings(struct emit *e, const struct layout *layout)
{
    const struct platform_table *t = &layout->table;
    if (t->binding_words == 0)
        return;
    emit(e, "static const uint32_t bindings[] = {\n");
    for (uint32_t i = 0; i < t->part_count; i++)
        emit_row(e, t->bindings, t->parts[i].bindings, t->parts[i].binding_count,
                 text_at(layout, t->parts[i].path));
    for (uint32_t i = 0; i < t->instance_count; i++)
        emit_row(e, t->bindings, t->instances[i].bindings, t->instances[i].binding_count,
                 text_at(layout, t->instances[i].path));
    emit(e, "};\n\n");
    static const char *const kinds[] = {"BIND_RING", "BIND_COUNT",      "BIND_FIRST_RING",
                                        "BIND_PART", "BIND_FIRST_PART", "BIND_STORE"};
    emit(e, "static const uint8_t binding_kinds[] = {");
    for (uint32_t i = 0; i < t->binding_words; i++)
        emit(e, "%s%s,", i % 6 == 0 ? "\n    " : " ", kinds[t->binding_kinds[i]]);
    emit(e, "\n};\n\n");
}

/* Routes of interconnects that route by the map: an output for each space. */
static void emit_routes(struct emit *e, const struct layout *layout)
{
    const struct platform_table *t = &layout->table;
    if (t->route_words == 0)
        return;
    emit(e, "static const uint32_t routes[] = {\n");
    for (uint32_t i = 0; i < t->instance_count; i++)
        if (t->instances[i].route_count > 0)
            emit_row(e, t->routes, t->instances[i].routes, t->instances[i].route_count,
                     text_at(layout, t->instances[i].path));
    emit(e, "};\n\n");
}

static void emit_incoming(struct emit *e, const struct layout *layout)
{
    const struct platform_table *t = &layout->table;
    if (t->incoming_count == 0)
        return;
    emit(e, "static const uint32_t incoming[] = {\n");
    for (uint32_t i = 0; i < t->instance_count; i++)
        emit_row(e, t->incoming, t->instances[i].incoming, t->instances[i].incoming_count,
                 text_at(layout, t->instances[i].path));
    emit(e, "};\n\n");
}

/* A member with its count, left out when the table is empty. */
static void emit_member(struct emit *e, const char *list, const char *counter, uint32_t count)
{
    if (count > 0)
        emit(e, "    .%s = %s,\n    .%s = %u,\n", list, list, counter, count);
}

static void emit_table(struct emit *e, const struct layout *layout)
{
    const struct platform_table *t = &layout->table;
    emit(
        e,
        "static const struct platform_table table = {\n    .abi = PLATFORM_ABI,\n    .name = %u,\n",
        t->name);
    emit(e,
         "    .model_hash = \"%s\",\n    .strings = strings,\n    .settings = strings + "
         "%u,\n    .string_bytes = %u,\n    .store_count = %u,\n",
         t->model_hash, (unsigned)(t->settings - t->strings), t->string_bytes, t->store_count);
    emit_member(e, "units", "unit_count", t->unit_count);
    emit_member(e, "domains", "domain_count", t->domain_count);
    emit_member(e, "groups", "group_count", t->group_count);
    emit_member(e, "instances", "instance_count", t->instance_count);
    emit_member(e, "rings", "ring_count", t->ring_count);
    emit_member(e, "links", "link_count", t->link_count);
    emit_member(e, "parts", "part_count", t->part_count);
    emit_member(e, "protocols", "protocol_count", t->protocol_count);
    emit_member(e, "messages", "message_count", t->message_count);
    emit_member(e, "spaces", "space_count", t->space_count);
    emit_member(e, "maps", "map_count", t->map_count);
    if (t->param_words > 0)
        emit(e, "    .param_names = param_names,\n    .param_units = param_units,\n");
    emit_member(e, "params", "param_words", t->param_words);
    if (t->binding_words > 0)
        emit(e, "    .binding_kinds = binding_kinds,\n");
    emit_member(e, "bindings", "binding_words", t->binding_words);
    emit_member(e, "port_rings", "port_ring_words", t->port_ring_words);
    emit_member(e, "part_refs", "part_ref_count", t->part_ref_count);
    emit_member(e, "incoming", "incoming_count", t->incoming_count);
    emit_member(e, "partitions", "partition_count", t->partition_count);
    emit_member(e, "routes", "route_words", t->route_words);
    emit(e, "};\n\n");
}

void emit_platform(struct emit *e, const struct layout *layout)
{
    const struct platform_table *t = &layout->table;
    if (layout->generic) {
        emit(e, "/* Components compiled for any parameters; the platform comes as a .tables file. "
                "Generated by heddle. */\n");
        emit(e, "#include \"runtime/state/platform.h\"\n\n");
        emit_units(e, layout);
        emit(e,
             "const struct platform_image platform_image = { .units = units, .unit_count = %u };\n",
             layout->units.count);
        return;
    }
    emit_banner(e, arena_printf(e->arena, "Platform %s", layout->model->name),
                layout->model->place);
    emit(e, "#include \"runtime/state/platform.h\"\n\n#define NONE UINT32_MAX\n\n");
    emit_units(e, layout);
    emit_strings(e, layout);
    emit_domains(e, layout);
    emit_groups(e, layout);
    emit_instances(e, layout);
    emit_rings(e, layout);
    emit_links(e, layout);
    emit_parts(e, layout);
    emit_protocols(e, layout);
    emit_spaces(e, layout);
    emit_params(e, layout);
    emit_bindings(e, layout);
    emit_words(e, "port_rings", t->port_rings, t->port_ring_words);
    emit_words(e, "part_refs", t->part_refs, t->part_ref_count);
    emit_incoming(e, layout);
    emit_words(e, "partitions", t->partitions, t->partition_count);
    emit_routes(e, layout);
    emit_table(e, layout);
    emit(e, "const struct platform_image platform_image = { .table = &table };\n");
}
