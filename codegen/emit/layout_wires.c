/* Tables of what connects instances: rings, links, protocols, address spaces. Called by layout.c.
 */
#include <inttypes.h>
#include <string.h>

#include "dsl/compiler_bug.h"
#include "dsl/message_layout.h"
#include "runtime/link/ring.h"

#include "layout_builder.h"

static const char *port_path(struct builder *b, const struct model_port *port)
{
    return port->decl->is_array
               ? region_printf(b->region, "%s.%s[%u]", port->owner->path, port->decl->name,
                               port->element)
               : region_printf(b->region, "%s.%s", port->owner->path, port->decl->name);
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
    compiler_bug("protocol %s is not among those of the platform", protocol->name);
}

static bool share_link(const struct model_connection *a, const struct model_connection *b)
{
    return a->wire && a->wire == b->wire;
}

/* "wire[2] -> gpu[2]": its forward half leads there. */
static const char *link_name(struct builder *b, const struct model_connection *connection)
{
    if (!connection->wire)
        return region_printf(b->region, "%s -> %s via %s", port_path(b, connection->from),
                             port_path(b, connection->to), connection->link->name);
    const struct model_wire *wire = &b->model->wires[connection->wire - 1];
    return region_printf(b->region, "%s -> %s", wire->path,
                         *wire->end->path ? wire->end->path : b->model->name);
}

/* 1 + the link's index. Connections of one wire share theirs. */
static uint32_t add_link(struct builder *b, const struct model_connection *connection)
{
    if (!connection->link)
        return 0;
    for (uint32_t i = 0; i < connection->id; i++)
        if (share_link(connection, b->model->connections[i]))
            return b->rings.items[b->request_ring[i]].link;
    struct platform_link link = {.name = layout_add_string(b, link_name(b, connection)),
                                 .shared = connection->wire ? LINK_WIRE : LINK_OWN,
                                 .bandwidth_bytes_per_s = connection->link->bandwidth_bytes_per_s,
                                 .latency_ps = connection->link->latency_ps};
    vector_push(b->region, &b->links, link);
    return b->links.count;
}

void layout_add_rings(struct builder *b)
{
    for (uint32_t i = 0; i < b->model->connection_count; i++) {
        const struct model_connection *connection = b->model->connections[i];
        const struct model_protocol *protocol = connection->protocol;
        struct platform_ring request = {
            .name = layout_add_string(b, port_path(b, connection->from)),
            .sender = b->layout->positions[connection->from->owner->leaf_id],
            .receiver = b->layout->positions[connection->to->owner->leaf_id],
            .peer = b->reply_ring[i],
            .depth = connection->depth,
            .width = connection->width,
            .latency = connection->link ? 0 : connection->latency_cy,
            .link = add_link(b, connection),
            .payload_bytes =
                message_slot_bytes(b->region, protocol->requests, protocol->request_count),
            .protocol = protocol_number(b, protocol),
            .pending = b->pending[b->request_ring[i]],
            .is_reversed = connection->reversed,
        };
        vector_push(b->region, &b->rings, request);
        if (b->reply_ring[i] == RING_NONE)
            continue;
        struct platform_ring reply = request;
        reply.name = layout_add_string(b, port_path(b, connection->to));
        reply.sender = request.receiver;
        reply.receiver = request.sender;
        reply.peer = b->request_ring[i];
        reply.depth = connection->reply_depth;
        reply.payload_bytes =
            message_slot_bytes(b->region, protocol->replies, protocol->reply_count);
        reply.is_reply = 1;
        reply.pending = b->pending[b->reply_ring[i]];
        vector_push(b->region, &b->rings, reply);
    }
}

static const char *protocol_text(struct builder *b, const struct model_protocol *protocol)
{
    struct emit text;
    emit_init(&text, b->region);
    emit(&text, "%s", protocol->name);
    for (uint32_t i = 0; i < protocol->argument_count; i++)
        emit(&text, "%s%" PRId64, i ? ", " : "(", protocol->arguments[i]);
    emit(&text, "%s", protocol->argument_count ? ")" : "");
    return text.text;
}

static char field_letter(enum model_field_kind kind)
{
    switch (kind) {
    case MODEL_FIELD_ADDR:
        return 'a';
    case MODEL_FIELD_BOOL:
        return 'b';
    case MODEL_FIELD_ENUM:
        return 'e';
    case MODEL_FIELD_I32:
    case MODEL_FIELD_I64:
        return 'i';
    default:
        return 'u';
    }
}

/* The fields of a message as struct platform_message describes them. */
static const char *fields_text(struct builder *b, const struct model_message *message)
{
    struct emit text;
    struct message_layout layout = message_layout(b->region, message);
    emit_init(&text, b->region);
    emit(&text, "%s", "");
    for (uint32_t i = 0; i < layout.header_count; i++) {
        const struct model_field *f = layout.header[i];
        emit(&text, "%s%s:%c%u", i ? "," : "", f->name, field_letter(f->kind), f->size);
        for (uint32_t k = 0; f->kind == MODEL_FIELD_ENUM && f->choice && k < f->choice->count; k++)
            emit(&text, "%c%s", k ? '|' : '=', f->choice->names[k]);
    }
    return text.text;
}

static void add_messages(struct builder *b, const struct model_message *messages, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct platform_message row = {.name = layout_add_string(b, messages[i].name),
                                       .wire_bytes = message_wire_bytes(b->region, &messages[i]),
                                       .awaited = !messages[i].is_reply && messages[i].has_reply,
                                       .payload_bytes =
                                           message_payload_bytes(b->region, &messages[i]),
                                       .fields = layout_add_string(b, fields_text(b, &messages[i])),
                                       .length_at = message_length_offset(b->region, &messages[i]),
                                       .variable_bytes = message_variable_bytes(&messages[i])};
        vector_push(b->region, &b->messages, row);
    }
}

void layout_add_protocols(struct builder *b)
{
    for (uint32_t i = 0; i < b->model->protocol_count; i++) {
        const struct model_protocol *protocol = b->model->protocols[i];
        struct platform_protocol row = {.name = layout_add_string(b, protocol_text(b, protocol)),
                                        .first_message = b->messages.count,
                                        .request_count = protocol->request_count,
                                        .reply_count = protocol->reply_count};
        vector_push(b->region, &b->protocols, row);
        add_messages(b, protocol->requests, protocol->request_count);
        add_messages(b, protocol->replies, protocol->reply_count);
    }
}

void layout_add_spaces(struct builder *b)
{
    for (uint32_t i = 0; i < b->model->space_count; i++) {
        const struct model_space *space = b->model->spaces[i];
        struct platform_space row = {.name = layout_add_string(b, space->path),
                                     .target_count = space->target_count,
                                     .base = space->base,
                                     .size = space->each_bytes * space->target_count,
                                     .interleave = space->interleave_bytes ? space->interleave_bytes
                                                                           : space->each_bytes,
                                     .is_hashed = space->hashed};
        vector_push(b->region, &b->spaces, row);
        struct platform_map map = {.space = i};
        if (space->mapped)
            vector_push(b->region, &b->maps, map);
    }
}
