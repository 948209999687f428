/* Header of a component: what its author writes against. One block per port; the functions of a
 * port are thin casts around runtime/link/ring.h, with ring numbers out of the binding words that
 * start-up copied behind `struct component`. */
#include <string.h>

#include "dsl/message_layout.h"
#include "dsl/reserved.h"

#include "emitters.h"
#include "names.h"

/* The words that the functions of one port are made of. */
struct port_words {
    const struct model_port_decl *port;
    const char *io;     /* "cache_io" */
    const char *prefix; /* "cache_top" */
    const char *self;   /* "const struct cache *c" or "const struct cache *c, uint32_t i" */
    const char *call;   /* "c" or "c, i" */
    const char *now;    /* "cache_io(c)->base.limit": port functions are called inside ticks only */
    const char *request; /* expression of the request ring's number */
    const char *reply;
    const char *request_type; /* "mem_request", or "message" for `any` */
    const char *reply_type;
    bool has_replies;
};

static struct port_words port_words(struct emit *e, const struct model_type *type,
                                    const struct model_port_decl *port)
{
    const char *name = name_c(e->region, type->name);
    struct port_words w = {.port = port};
    w.io = region_printf(e->region, "%s_io", name);
    w.prefix = region_printf(e->region, "%s_%s", name, port->name);
    w.self = region_printf(e->region, "const struct %s *c%s", name,
                           port->is_array ? ", uint32_t i" : "");
    w.call = port->is_array ? "c, i" : "c";
    w.now = region_printf(e->region, "%s_io(c)->base.limit", name);
    if (port->is_array) {
        w.request =
            region_printf(e->region, "port_place(2 * (%s_io(c)->%s_first + i))", name, port->name);
        w.reply = region_printf(e->region, "port_place(2 * (%s_io(c)->%s_first + i) + 1)", name,
                                port->name);
    } else {
        w.request = region_printf(e->region, "%s_io(c)->%s_request", name, port->name);
        w.reply = region_printf(e->region, "%s_io(c)->%s_reply", name, port->name);
    }
    w.has_replies = port->is_any || port->protocol->reply_count > 0;
    w.request_type =
        port->is_any ? "message" : region_printf(e->region, "%s_request", port->protocol->name);
    w.reply_type =
        port->is_any ? "message" : region_printf(e->region, "%s_reply", port->protocol->name);
    return w;
}

static void emit_count(struct emit *e, const struct model_type *type, const struct port_words *w)
{
    const char *name = name_c(e->region, type->name);
    if (w->port->is_array)
        emit(e,
             "static inline uint32_t %s_count(const struct %s *c)\n{\n    return "
             "%s_io(c)->%s_count;\n}\n\n",
             w->prefix, name, name, w->port->name);
}

static void emit_is_connected(struct emit *e, const struct port_words *w)
{
    if (w->port->is_optional)
        emit(e, "static inline bool %s_is_connected(%s)\n{\n    return %s != RING_NONE;\n}\n\n",
             w->prefix, w->self, w->request);
}

/* Position of the port's first incoming ring among the component's pending bits: one bit for each
 * port before it. */
static void emit_first_pending(struct emit *e, const struct model_type *type,
                               const struct port_words *w)
{
    const char *name = name_c(e->region, type->name);
    uint32_t before = 0;
    bool computed = false;
    emit(e, "static inline uint32_t %s_first_pending(const struct %s *c)\n{\n", w->prefix, name);
    for (const struct model_port_decl *p = type->ports; p < w->port; p++)
        if (!p->is_array)
            before++;
        else
            computed = true;
    if (computed)
        emit(e, "    return %u", before);
    else
        emit(e, "    (void)c;\n    return %u", before);
    for (const struct model_port_decl *p = type->ports; p < w->port; p++)
        if (p->is_array)
            emit(e, " + %s_io(c)->%s_count", name, p->name);
    emit(e, ";\n}\n\n");
}

/* The receiving functions of the ring of replies or requests: peek, payload, pop. */
static void emit_receive(struct emit *e, const struct port_words *w, bool replies)
{
    const char *ring = replies ? w->reply : w->request;
    const char *type = replies ? w->reply_type : w->request_type;
    const char *peek = replies ? "peek_reply" : "peek";
    const char *payload = replies ? "reply_payload" : "payload";
    const char *pop = replies ? "pop_reply" : "pop";
    emit(e, "static inline const struct %s *%s_%s(%s)\n{\n", type, w->prefix, peek, w->self);
    emit(e, "    return (const struct %s *)%s(%s, %s);\n}\n\n", type,
         w->port->is_optional ? "port_peek_optional" : "ring_peek", ring, w->now);
    emit(e, "static inline void *%s_%s(%s)\n{\n    return ring_peek_payload(%s);\n}\n\n", w->prefix,
         payload, w->self, ring);
    emit(e, "static inline void %s_%s(%s)\n{\n    ring_pop(%s, %s);\n}\n\n", w->prefix, pop,
         w->self, ring, w->now);
}

static void emit_can_send(struct emit *e, const struct port_words *w, const char *verb,
                          const char *ring)
{
    emit(e, "static inline bool %s_%s(%s)\n{\n    return %s(%s, %s);\n}\n\n", w->prefix, verb,
         w->self, w->port->is_optional ? "port_can_send_optional" : "ring_can_send", ring, w->now);
}

static const char *argument_type(struct emit *e, const struct model_message *message,
                                 const struct model_protocol *protocol,
                                 const struct model_field *field)
{
    static const char *const types[] = {
        [MODEL_FIELD_U8] = "uint8_t",   [MODEL_FIELD_U16] = "uint16_t",
        [MODEL_FIELD_U32] = "uint32_t", [MODEL_FIELD_U64] = "uint64_t",
        [MODEL_FIELD_I32] = "int32_t",  [MODEL_FIELD_I64] = "int64_t",
        [MODEL_FIELD_BOOL] = "bool",    [MODEL_FIELD_ADDR] = "uint64_t",
    };
    if (field->kind != MODEL_FIELD_ENUM)
        return types[field->kind];
    const char *owner = region_printf(e->region, "%s_%s", protocol->name, message->name);
    return region_printf(e->region, "enum %s",
                         name_enum(e->region, field->choice, owner, field->name));
}

/* A field as argument; names that the function uses itself get a '_'. */
static const char *argument_name(struct emit *e, const struct port_words *w, const char *kind,
                                 const struct model_field *field)
{
    const char *const local_names[] = {"c",          "i",         "m",           "tag",
                                       "ring",       "payload",   w->io,         kind,
                                       "ring_post",  "ring_slot", "ring_placed", "ring_payload",
                                       "port_place", "uint8_t",   "uint16_t",    "uint32_t",
                                       "uint64_t",   "int32_t",   "int64_t",     NULL};
    return reserved_besides(e->region, field->name, local_names);
}

/* Sends one kind of message. Returns its payload slot, which the caller fills before it ends its
 * tick. */
static void emit_send(struct emit *e, const struct port_words *w,
                      const struct model_message *message, const char *verb, const char *ring,
                      const char *type)
{
    const struct model_protocol *protocol = w->port->protocol;
    const char *kind = region_printf(e->region, "%s_%s", name_upper(e->region, protocol->name),
                                     name_upper(e->region, message->name));
    struct message_layout layout = message_layout(e->region, message);
    bool has_payload = layout.payload_count > 0;
    emit(e, "static inline void %s%s_%s_%s(%s, uint16_t tag", has_payload ? "*" : "", w->prefix,
         verb, message->name, w->self);
    for (uint32_t i = 0; i < message->field_count; i++)
        for (uint32_t h = 0; h < layout.header_count; h++)
            if (layout.header[h] == &message->fields[i])
                emit(e, ", %s %s", argument_type(e, message, protocol, layout.header[h]),
                     argument_name(e, w, kind, layout.header[h]));
    emit(e, ")\n{\n    struct ring *ring = ring_placed(%s);\n", ring);
    emit(e, "    struct %s *m = (struct %s *)ring_slot(ring->tail);\n", type, type);
    if (has_payload)
        emit(e, "    void *payload = ring_payload(ring->tail);\n");
    for (uint32_t h = 0; h < layout.header_count; h++)
        emit(e, "    m->%s.%s = %s%s;\n", name_message(e->region, message->name),
             name_c(e->region, layout.header[h]->name),
             layout.header[h]->kind == MODEL_FIELD_ENUM ? "(uint8_t)" : "",
             argument_name(e, w, kind, layout.header[h]));
    emit(e, "    m->tag = tag;\n");
    emit(e, "    ring_post(ring, %s, %s, %d);\n", w->now, kind, message->has_reply);
    if (has_payload)
        emit(e, "    return payload;\n");
    emit(e, "}\n\n");
}

/* Ports of protocol `any` pass messages on; the wrapper may know what they hold. */
static void emit_forward(struct emit *e, const struct model_type *type, const struct port_words *w,
                         const char *verb, const char *ring, const char *direction)
{
    const char *macro = region_printf(e->region, "%s_%s_%s", name_upper(e->region, type->name),
                                      name_upper(e->region, w->port->name), direction);
    emit(e,
         "static inline void %s_%s(%s, const struct message *m, const void *payload, uint16_t "
         "tag)\n{\n",
         w->prefix, verb, w->self);
    emit(e, "    uint32_t ring = %s;\n", ring);
    emit(e, "#ifdef %s\n", macro);
    emit(e, "    static const struct platform_message messages[] = %s;\n", macro);
    emit(e, "#else\n    const struct platform_message *messages = "
            "port_messages(ring_number(ring));\n#endif\n");
    emit(e, "    port_forward(ring, %s, messages, m, payload, tag);\n}\n\n", w->now);
}

static void emit_in_port(struct emit *e, const struct model_type *type, const struct port_words *w)
{
    emit_receive(e, w, false);
    if (!w->has_replies)
        return;
    emit_can_send(e, w, "can_reply", w->reply);
    if (w->port->is_any)
        emit_forward(e, type, w, "forward_reply", w->reply, "REPLIES");
    else
        for (uint32_t i = 0; i < w->port->protocol->reply_count; i++)
            emit_send(e, w, &w->port->protocol->replies[i], "reply", w->reply, w->reply_type);
}

static void emit_out_port(struct emit *e, const struct model_type *type, const struct port_words *w)
{
    emit_can_send(e, w, "can_send", w->request);
    if (w->port->is_any)
        emit_forward(e, type, w, "forward", w->request, "REQUESTS");
    else
        for (uint32_t i = 0; i < w->port->protocol->request_count; i++)
            emit_send(e, w, &w->port->protocol->requests[i], "send", w->request, w->request_type);
    if (w->has_replies)
        emit_receive(e, w, true);
}

static void emit_port(struct emit *e, const struct model_type *type,
                      const struct model_port_decl *port)
{
    struct port_words w = port_words(e, type, port);
    emit(e, "/* %s %s%s : %s%s (%s) */\n", port->is_in ? "in" : "out", port->name,
         port->is_array ? "[]" : "", port->protocol_text, port->is_optional ? " optional" : "",
         name_place(e->region, port->place));
    emit_comment(e, "", port->doc);
    emit_count(e, type, &w);
    emit_is_connected(e, &w);
    emit_first_pending(e, type, &w);
    if (port->is_in)
        emit_in_port(e, type, &w);
    else
        emit_out_port(e, type, &w);
}

static void emit_stores(struct emit *e, const struct model_type *type)
{
    const char *name = name_c(e->region, type->name);
    for (uint32_t i = 0; i < type->store_count; i++) {
        const struct model_store_decl *store = &type->stores[i];
        emit(e, "/* %s %s */\n", store->is_writer ? "store" : "reads", store->name);
        emit_comment(e, "", store->doc);
        emit(e, "static inline %sstruct %s *%s_%s(const struct %s *c)\n{\n",
             store->is_writer ? "" : "const ", store->type, name, store->name, name);
        emit(e, "    return arena_at(%sstruct %s, %s_io(c)->%s);\n}\n\n",
             store->is_writer ? "" : "const ", store->type, name, name_c(e->region, store->name));
    }
}

static void emit_io(struct emit *e, const struct model_type *type)
{
    emit(e,
         "/* First member of struct %s. Between `base` and `stats`: what the component is "
         "connected to. */\n",
         name_c(e->region, type->name));
    emit(e, "struct %s_io {\n    struct component base;\n", name_c(e->region, type->name));
    for (uint32_t i = 0; i < type->port_count; i++)
        emit(e,
             type->ports[i].is_array ? "    uint32_t %s_count, %s_first;\n"
                                     : "    uint32_t %s_request, %s_reply;\n",
             type->ports[i].name, type->ports[i].name);
    emit_part_words(e, type);
    for (uint32_t i = 0; i < type->store_count; i++)
        emit(e, "    uint32_t %s;\n", name_c(e->region, type->stores[i].name));
    if (type->stat_count > 0)
        emit(e, "    struct %s_stats stats;\n", name_c(e->region, type->name));
    emit(e, "};\n\n");
}

static void emit_basics(struct emit *e, const struct model_type *type)
{
    const char *name = name_c(e->region, type->name);
    emit(e, "static inline const struct %s_io *%s_io(const struct %s *c)\n{\n", name, name, name);
    emit(e, "    return (const struct %s_io *)(const void *)c;\n}\n\n", name);
    emit(e, "/* The current cycle of the component's clock. */\n");
    emit(e, "static inline uint64_t %s_now(const struct %s *c)\n{\n", name, name);
    emit(e, "    return component_now(&%s_io(c)->base);\n}\n\n", name);
    emit(e, "static inline void %s_wake_at(struct %s *c, uint64_t cycle)\n{\n", name, name);
    emit(e, "    component_wake_at((struct component *)(void *)c, cycle);\n}\n\n");
}

static bool emit_include_once(struct emit *e, const char **included, uint32_t *count,
                              const char *file)
{
    for (uint32_t i = 0; i < *count; i++)
        if (strcmp(included[i], file) == 0)
            return false;
    included[(*count)++] = file;
    emit(e, "#include \"%s\"\n", file);
    return true;
}

static void emit_includes(struct emit *e, const struct model_type *type)
{
    size_t most = type->param_count + type->port_count + type->part_count + 1u;
    const char **included = region_take(e->region, most * sizeof *included);
    uint32_t count = 0;
    emit(e, "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n");
    for (uint32_t i = 0; i < type->param_count; i++)
        if (type->params[i].choice && type->params[i].choice->name)
            emit_include_once(e, included, &count,
                              region_printf(e->region, "%s.gen.h", type->params[i].choice->name));
    for (uint32_t i = 0; i < type->port_count; i++)
        if (!type->ports[i].is_any)
            emit_include_once(e, included, &count,
                              region_printf(e->region, "%s.gen.h", type->ports[i].protocol->name));
    for (uint32_t i = 0; i < type->part_count; i++)
        if (type->parts[i].interface)
            emit_include_once(e, included, &count,
                              region_printf(e->region, "%s.h", type->parts[i].interface->name));
}

/* Types whose structs are named by accessors: of parts and of stores. */
static void emit_forward_declarations(struct emit *e, const struct model_type *type)
{
    emit(e, "\nstruct %s;\n", name_c(e->region, type->name));
    for (uint32_t i = 0; i < type->part_count; i++)
        if (type->parts[i].part_type)
            emit(e, "struct %s;\n", name_c(e->region, type->parts[i].part_type->name));
    for (uint32_t i = 0; i < type->store_count; i++)
        emit(e, "struct %s;\n", type->stores[i].type);
    emit(e, "\n");
}

void emit_component_header(struct emit *e, const struct model *model, const struct model_type *type)
{
    const char *upper = name_upper(e->region, type->name);
    emit_banner(e, region_printf(e->region, "Component %s", type->name), type->place);
    emit_comment(e, "", type->doc);
    emit(e, "#ifndef HEDDLE_GEN_%s_H\n#define HEDDLE_GEN_%s_H\n\n", upper, upper);
    emit_includes(e, type);
    emit(e, "#include \"runtime/engine/engine.h\"\n"
            "#include \"runtime/engine/part.h\"\n"
            "#include \"runtime/link/port.h\"\n"
            "#include \"runtime/engine/stat.h\"\n");
    emit_forward_declarations(e, type);
    emit_params_struct(e, type);
    emit_stats_struct(e, type);
    emit_io(e, type);
    emit_basics(e, type);
    emit_params_accessor(e, type, "c");
    for (uint32_t i = 0; i < type->port_count; i++)
        emit_port(e, type, &type->ports[i]);
    emit_part_accessors(e, model, type, "c");
    emit_stores(e, type);
    emit(e, "#endif\n");
}

static void emit_part_io(struct emit *e, const struct model_type *type)
{
    const char *name = name_c(e->region, type->name);
    emit(e, "/* First member of struct %s. */\n", name);
    emit(e, "struct %s_io {\n    struct part base;\n", name);
    emit_part_words(e, type);
    if (type->stat_count > 0)
        emit(e, "    struct %s_stats stats;\n", name_c(e->region, type->name));
    emit(e, "};\n\n");
    emit(e, "static inline const struct %s_io *%s_io(const struct %s *p)\n{\n", name, name, name);
    emit(e, "    return (const struct %s_io *)(const void *)p;\n}\n\n", name);
}

void emit_part_header(struct emit *e, const struct model *model, const struct model_type *type)
{
    const char *upper = name_upper(e->region, type->name);
    emit_banner(e, region_printf(e->region, "Part %s", type->name), type->place);
    emit_comment(e, "", type->doc);
    emit(e, "#ifndef HEDDLE_GEN_%s_H\n#define HEDDLE_GEN_%s_H\n\n", upper, upper);
    if (type->interface)
        emit(e, "#include \"%s.h\"\n", type->interface->name);
    emit_includes(e, type);
    emit(e, "#include \"runtime/engine/engine.h\"\n#include \"runtime/engine/part.h\"\n#include "
            "\"runtime/state/platform.h\"\n"
            "#include \"runtime/engine/stat.h\"\n");
    emit_forward_declarations(e, type);
    emit_params_struct(e, type);
    emit_stats_struct(e, type);
    emit_part_io(e, type);
    emit_params_accessor(e, type, "p");
    emit_part_accessors(e, model, type, "p");
    emit(e, "#endif\n");
}
