/* Types of a platform as JSON. */
#include "json_types.h"

#include "dot_kind.h"
#include "json_from_text.h"
#include "params_value.h"

json_t *json_place(const struct model_place *place)
{
    if (!place->file)
        return json_null();
    return json_pack("{s:o, s:I, s:I}", "file", json_from_text(place->file), "line",
                     (json_int_t)place->line, "column", (json_int_t)place->column);
}

json_t *json_choices(const struct model_enum *choice)
{
    json_t *names = json_array();
    for (uint32_t i = 0; choice && i < choice->count; i++)
        json_array_append_new(names, json_string(choice->names[i]));
    return names;
}

static json_t *param_decls_json(const struct model_type *type)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < type->param_count; i++) {
        const struct model_param_decl *p = &type->params[i];
        json_t *one = json_pack("{s:s, s:s, s:b, s:o, s:o}", "name", p->name, "type",
                                params_dimension_name(p->dimension), "let", p->is_let, "range",
                                json_from_text(p->range_text), "doc", json_from_text(p->doc));
        json_object_set_new(one, "default",
                            p->has_default ? json_from_text(p->default_text) : json_null());
        if (p->choice && p->choice->name)
            json_object_set_new(one, "choice", json_string(p->choice->name));
        if (p->choice)
            json_object_set_new(one, "choices", json_choices(p->choice));
        json_array_append_new(all, one);
    }
    return all;
}

/* The first instance of the type that has such a port: a declaration knows no depth. */
static const struct model_port_group *find_group(const struct model *m,
                                                 const struct model_type *type, uint32_t port)
{
    for (uint32_t i = 0; i < m->instance_count; i++)
        if (m->instances[i]->type == type && m->instances[i]->port_groups[port].count > 0)
            return &m->instances[i]->port_groups[port];
    return NULL;
}

static json_t *port_decls_json(const struct model *m, const struct model_type *type)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < type->port_count; i++) {
        const struct model_port_decl *p = &type->ports[i];
        const struct model_port_group *group = p->is_in ? find_group(m, type, i) : NULL;
        json_t *one =
            json_pack("{s:s, s:s, s:s, s:b, s:b, s:o}", "name", p->name, "direction",
                      p->is_in ? "in" : "out", "protocol", p->protocol_text, "optional",
                      p->is_optional, "array", p->is_array, "doc", json_from_text(p->doc));
        if (group)
            json_object_set_new(one, "depth", json_integer(group->ports[0].depth));
        json_array_append_new(all, one);
    }
    return all;
}

static json_t *slots_json(const struct model_type *type)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < type->part_count; i++) {
        const struct model_part_decl *p = &type->parts[i];
        const char *takes = p->interface ? p->interface->name : p->part_type->name;
        json_array_append_new(all, json_pack("{s:s, s:b, s:b, s:b, s:s, s:o}", "name", p->name,
                                             "slot", p->is_slot, "optional", p->is_optional,
                                             "array", p->is_array, "takes", takes, "doc",
                                             json_from_text(p->doc)));
    }
    return all;
}

static json_t *stores_json(const struct model_type *type)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < type->store_count; i++)
        json_array_append_new(all, json_pack("{s:s, s:b, s:s, s:o}", "name", type->stores[i].name,
                                             "writes", type->stores[i].is_writer, "type",
                                             type->stores[i].type, "doc",
                                             json_from_text(type->stores[i].doc)));
    return all;
}

static json_t *checks_json(const struct model_type *type)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < type->check_count; i++)
        json_array_append_new(all,
                              json_pack("{s:o, s:o}", "holds", json_from_text(type->checks[i].text),
                                        "otherwise", json_from_text(type->checks[i].message)));
    return all;
}

static json_t *stats_json(const struct model_type *type)
{
    static const char *const kinds[] = {"counter", "histogram"};
    json_t *all = json_array();
    for (uint32_t i = 0; i < type->stat_count; i++)
        json_array_append_new(all, json_pack("{s:s, s:s, s:o}", "name", type->stats[i].name, "kind",
                                             kinds[type->stats[i].kind], "doc",
                                             json_from_text(type->stats[i].doc)));
    return all;
}

static json_t *measures_json(const struct model_type *type)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < type->measure_count; i++) {
        const struct model_measure_decl *m = &type->measures[i];
        json_array_append_new(
            all, json_pack("{s:s, s:s, s:s, s:o}", "name", model_measure_names[m->kind], "part",
                           m->part_text, "whole", m->whole_text, "doc", json_from_text(m->doc)));
    }
    return all;
}

/* Parameters without a range are left out. */
static json_t *ranges_json(const struct model_type *type)
{
    json_t *all = json_object();
    for (uint32_t i = 0; i < type->param_count; i++)
        if (type->params[i].range_text && *type->params[i].range_text)
            json_object_set_new(all, type->params[i].name,
                                json_from_text(type->params[i].range_text));
    return all;
}

static json_t *type_json(const struct model *m, const struct model_type *type, bool brief)
{
    json_t *one = json_pack("{s:s, s:s, s:b}", "name", type->name, "what",
                            type->is_platform ? "platform"
                            : type->is_part   ? "part"
                                              : "component",
                            "composite", type->is_composite);
    if (!type->is_part)
        json_object_set_new(one, "kind", json_string(dot_kind_style(dot_kind_of(type))->word));
    if (type->interface)
        json_object_set_new(one, "interface", json_string(type->interface->name));
    if (brief) {
        json_object_set_new(one, "ranges", ranges_json(type));
        return one;
    }
    json_object_set_new(one, "doc", json_from_text(type->doc));
    json_object_set_new(one, "place", json_place(&type->place));
    json_t *files = type->is_composite ? json_null() : json_array();
    for (uint32_t i = 0; i < type->behaviour_count; i++)
        json_array_append_new(files, json_from_text(type->behaviour[i]));
    json_object_set_new(one, "behaviour", files);
    json_object_set_new(one, "params", param_decls_json(type));
    json_object_set_new(one, "ports", port_decls_json(m, type));
    json_object_set_new(one, "checks", checks_json(type));
    json_object_set_new(one, "parts", slots_json(type));
    json_object_set_new(one, "stores", stores_json(type));
    json_object_set_new(one, "stats", stats_json(type));
    json_object_set_new(one, "measures", measures_json(type));
    return one;
}

/* Types of the instances and parts, in order of the model's list. */
json_t *json_types(const struct model *m, bool unused, bool brief)
{
    json_t *all = json_array();
    for (uint32_t t = 0; t < m->type_count; t++) {
        bool used = unused;
        for (uint32_t i = 0; i < m->instance_count && !used; i++)
            used = m->instances[i]->type == m->types[t];
        for (uint32_t i = 0; i < m->part_count && !used; i++)
            used = m->parts[i]->type == m->types[t];
        if (used)
            json_array_append_new(all, type_json(m, m->types[t], brief));
    }
    return all;
}

static const char *field_type(const struct model_field *f)
{
    static const char *const names[] = {
        [MODEL_FIELD_U8] = "u8",     [MODEL_FIELD_U16] = "u16",     [MODEL_FIELD_U32] = "u32",
        [MODEL_FIELD_U64] = "u64",   [MODEL_FIELD_I32] = "i32",     [MODEL_FIELD_I64] = "i64",
        [MODEL_FIELD_BOOL] = "bool", [MODEL_FIELD_ADDR] = "addr",   [MODEL_FIELD_ENUM] = "enum",
        [MODEL_FIELD_BITS] = "bits", [MODEL_FIELD_BYTES] = "bytes",
    };
    return names[f->kind];
}

static json_t *field_json(const struct model_protocol *p, const struct model_message *m,
                          const struct model_field *f)
{
    json_t *one = json_pack("{s:s, s:s, s:I, s:o}", "name", f->name, "type", field_type(f), "size",
                            (json_int_t)f->size, "doc", json_from_text(f->doc));
    if (f->choice && f->choice->name)
        json_object_set_new(one, "choice", json_string(f->choice->name));
    if (f->size_argument >= 0)
        json_object_set_new(one, "argument", json_string(p->param_names[f->size_argument]));
    if (f->length_field)
        json_object_set_new(one, "length", json_string(m->fields[f->length_field - 1].name));
    return one;
}

static json_t *answers_json(const struct model_protocol *p, const struct model_message *m)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < p->request_count; i++)
        if (m->answers >> i & 1)
            json_array_append_new(all, json_string(p->requests[i].name));
    return all;
}

static json_t *messages_json(const struct model_protocol *p, const struct model_message *messages,
                             uint32_t count)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < count; i++) {
        const struct model_message *m = &messages[i];
        json_t *fields = json_array();
        for (uint32_t k = 0; k < m->field_count; k++)
            json_array_append_new(fields, field_json(p, m, &m->fields[k]));
        json_t *one = json_pack("{s:s, s:o, s:o}", "name", m->name, "doc", json_from_text(m->doc),
                                "fields", fields);
        if (m->is_reply)
            json_object_set_new(one, "answers", answers_json(p, m));
        else
            json_object_set_new(one, "answered", json_boolean(m->has_reply));
        json_array_append_new(all, one);
    }
    return all;
}

static json_t *protocol_json(const struct model_protocol *p)
{
    json_t *arguments = json_object();
    for (uint32_t k = 0; k < p->argument_count; k++)
        json_object_set_new(arguments, p->param_names[k], json_integer(p->arguments[k]));
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "name", p->name, "arguments", arguments,
                     "doc", json_from_text(p->doc), "place", json_place(&p->place), "requests",
                     messages_json(p, p->requests, p->request_count), "replies",
                     messages_json(p, p->replies, p->reply_count));
}

json_t *json_protocols(const struct model *m)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < m->protocol_count; i++)
        json_array_append_new(all, protocol_json(m->protocols[i]));
    return all;
}

json_t *json_links(const struct model *m)
{
    char bandwidth[PARAMS_VALUE_MAX], latency[PARAMS_VALUE_MAX];
    json_t *all = json_array();
    for (uint32_t i = 0; i < m->link_count; i++) {
        const struct model_link_type *l = m->links[i];
        json_array_append_new(
            all, json_pack("{s:s, s:o, s:o, s:I, s:I, s:s, s:s}", "name", l->name, "doc",
                           json_from_text(l->doc), "place", json_place(&l->place),
                           "bandwidth_bytes_per_s", (json_int_t)l->bandwidth_bytes_per_s,
                           "latency_ps", (json_int_t)l->latency_ps, "bandwidth",
                           params_bandwidth_text(l->bandwidth_bytes_per_s, bandwidth), "latency",
                           params_time_text(l->latency_ps, latency)));
    }
    return all;
}

json_t *json_interfaces(const struct model *m)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < m->interface_count; i++)
        json_array_append_new(all, json_pack("{s:s, s:o, s:o}", "name", m->interfaces[i]->name,
                                             "doc", json_from_text(m->interfaces[i]->doc), "place",
                                             json_place(&m->interfaces[i]->place)));
    return all;
}

json_t *json_enums(const struct model *m)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < m->enum_count; i++)
        json_array_append_new(all, json_pack("{s:s, s:o, s:o, s:o}", "name", m->enums[i]->name,
                                             "doc", json_from_text(m->enums[i]->doc), "place",
                                             json_place(&m->enums[i]->place), "choices",
                                             json_choices(m->enums[i])));
    return all;
}
