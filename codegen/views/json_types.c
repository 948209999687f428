/* See json_types.h. */
#include "codegen/views/json_types.h"

#include "codegen/views/dot_kind.h"
#include "codegen/views/json_text.h"
#include "codegen/views/params_value.h"

json_t *json_place(const struct model_place *place)
{
    if (!place->file)
        return json_null();
    return json_pack("{s:o, s:I, s:I}", "file", json_text(place->file), "line",
                     (json_int_t)place->line, "column", (json_int_t)place->column);
}

static json_t *choices_json(const struct model_enum *choice)
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
                                json_text(p->range_text), "doc", json_text(p->doc));
        json_object_set_new(one, "default",
                            p->has_default ? json_text(p->default_text) : json_null());
        if (p->choice)
            json_object_set_new(one, "choices", choices_json(p->choice));
        json_array_append_new(all, one);
    }
    return all;
}

static json_t *port_decls_json(const struct model_type *type)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < type->port_count; i++) {
        const struct model_port_decl *p = &type->ports[i];
        json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:b, s:b, s:o}", "name", p->name,
                                             "direction", p->is_in ? "in" : "out", "protocol",
                                             p->protocol_text, "optional", p->optional, "array",
                                             p->is_array, "doc", json_text(p->doc)));
    }
    return all;
}

static json_t *stats_json(const struct model_type *type)
{
    static const char *const kinds[] = {"counter", "average", "histogram"};
    json_t *all = json_array();
    for (uint32_t i = 0; i < type->stat_count; i++)
        json_array_append_new(all, json_pack("{s:s, s:s, s:o}", "name", type->stats[i].name, "kind",
                                             kinds[type->stats[i].kind], "doc",
                                             json_text(type->stats[i].doc)));
    return all;
}

static json_t *measures_json(const struct model_type *type)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < type->measure_count; i++) {
        const struct model_measure_decl *m = &type->measures[i];
        json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:o}", "name",
                                             model_measure_names[m->kind], "part", m->part_text,
                                             "whole", m->whole_text, "doc", json_text(m->doc)));
    }
    return all;
}

static json_t *type_json(const struct model_type *type)
{
    json_t *one = json_pack("{s:s, s:s, s:o, s:o, s:b}", "name", type->name, "what",
                            type->is_platform ? "platform"
                            : type->is_part   ? "part"
                                              : "component",
                            "doc", json_text(type->doc), "place", json_place(&type->place),
                            "composite", type->is_composite);
    if (!type->is_part)
        json_object_set_new(one, "kind", json_string(dot_kind_style(dot_kind_of(type))->word));
    if (type->interface)
        json_object_set_new(one, "interface", json_string(type->interface->name));
    json_t *files = type->is_composite ? json_null() : json_array();
    for (uint32_t i = 0; i < type->behaviour_count; i++)
        json_array_append_new(files, json_text(type->behaviour[i]));
    json_object_set_new(one, "behaviour", files);
    json_object_set_new(one, "params", param_decls_json(type));
    json_object_set_new(one, "ports", port_decls_json(type));
    json_object_set_new(one, "stats", stats_json(type));
    json_object_set_new(one, "measures", measures_json(type));
    return one;
}

/* Types of the instances and parts, in order of the model's list. */
json_t *json_types(const struct model *m)
{
    json_t *all = json_array();
    for (uint32_t t = 0; t < m->type_count; t++) {
        bool used = false;
        for (uint32_t i = 0; i < m->instance_count && !used; i++)
            used = m->instances[i]->type == m->types[t];
        for (uint32_t i = 0; i < m->part_count && !used; i++)
            used = m->parts[i]->type == m->types[t];
        if (used)
            json_array_append_new(all, type_json(m->types[t]));
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

static json_t *messages_json(const struct model_message *messages, uint32_t count)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < count; i++) {
        json_t *fields = json_array();
        for (uint32_t k = 0; k < messages[i].field_count; k++) {
            const struct model_field *f = &messages[i].fields[k];
            json_array_append_new(fields, json_pack("{s:s, s:s, s:I}", "name", f->name, "type",
                                                    field_type(f), "size", (json_int_t)f->size));
        }
        json_array_append_new(all, json_pack("{s:s, s:o, s:o}", "name", messages[i].name, "doc",
                                             json_text(messages[i].doc), "fields", fields));
    }
    return all;
}

json_t *json_protocols(const struct model *m)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < m->protocol_count; i++) {
        const struct model_protocol *p = m->protocols[i];
        json_t *arguments = json_object();
        for (uint32_t k = 0; k < p->argument_count; k++)
            json_object_set_new(arguments, p->param_names[k], json_integer(p->arguments[k]));
        json_array_append_new(all,
                              json_pack("{s:s, s:o, s:o, s:o, s:o}", "name", p->name, "arguments",
                                        arguments, "doc", json_text(p->doc), "requests",
                                        messages_json(p->requests, p->request_count), "replies",
                                        messages_json(p->replies, p->reply_count)));
    }
    return all;
}

json_t *json_links(const struct model *m)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < m->link_count; i++)
        json_array_append_new(all,
                              json_pack("{s:s, s:o, s:I, s:I}", "name", m->links[i]->name, "doc",
                                        json_text(m->links[i]->doc), "bandwidth_bytes_per_s",
                                        (json_int_t)m->links[i]->bandwidth_bytes_per_s,
                                        "latency_ps", (json_int_t)m->links[i]->latency_ps));
    return all;
}
