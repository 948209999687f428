/* `heddle dump --json`: the whole model as one JSON object, for scripts and other tools. The
 * schema, which is a promise, is docs/reference/dump.md. Order is that of the model's lists;
 * references are paths, never indices. */
#include <jansson.h>
#include <string.h>

#include "base/number.h"

#include "json_diagrams.h"
#include "json_from_text.h"
#include "json_types.h"
#include "params_value.h"
#include "view.h"

#define DUMP_VERSION 1

/* Numbers in the base unit of their dimension; enums and strings as strings. */
static json_t *value_json(const struct model_value *value)
{
    char buffer[PARAMS_VALUE_MAX];
    switch (value->dimension) {
    case MODEL_DIM_BOOL:
        return json_boolean(value->integer);
    case MODEL_DIM_ENUM:
    case MODEL_DIM_STRING:
        return json_from_text(params_value_text(value, buffer));
    default:
        return json_integer(value->integer);
    }
}

static json_t *params_json(const struct model_param *params, uint32_t count)
{
    char buffer[PARAMS_VALUE_MAX];
    json_t *all = json_object();
    for (uint32_t i = 0; i < count; i++) {
        const struct model_param *p = &params[i];
        json_object_set_new(all, p->decl->name,
                            json_pack("{s:o, s:o, s:s, s:o}", "value", value_json(&p->value),
                                      "text", json_from_text(params_value_text(&p->value, buffer)),
                                      "source", params_source_name(p->source), "place",
                                      json_place(&p->place)));
    }
    return all;
}

/* [factor, statistic] each; null stands for the cycles of the clock. */
static json_t *terms_json(const struct model_type *type, const struct model_measure_side *side)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < side->count; i++) {
        const struct model_measure_term *t = &side->terms[i];
        json_array_append_new(
            all, json_pack("[f, s?]", t->factor, t->stat < 0 ? NULL : type->stats[t->stat].name));
    }
    return all;
}

/* The measures of one instance or part, with its parameters put in. */
static void set_resolved(json_t *one, const struct model_type *type,
                         const struct model_measure *measures)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < type->measure_count; i++)
        json_array_append_new(all, json_pack("{s:s, s:o, s:o}", "name",
                                             model_measure_names[measures[i].decl->kind], "part",
                                             terms_json(type, &measures[i].part), "whole",
                                             terms_json(type, &measures[i].whole)));
    json_object_set_new(one, "measures", all);
}

static json_t *ports_json(const struct model_instance *instance)
{
    json_t *all = json_array();
    for (uint32_t g = 0; g < instance->port_group_count; g++) {
        const struct model_port_group *group = &instance->port_groups[g];
        json_t *one =
            json_pack("{s:s, s:s, s:I}", "name", group->decl->name, "direction",
                      group->decl->is_in ? "in" : "out", "count", (json_int_t)group->count);
        if (group->count > 0) {
            json_object_set_new(one, "depth", json_integer(group->ports[0].depth));
            json_object_set_new(one, "width", json_integer(group->ports[0].width));
        }
        json_array_append_new(all, one);
    }
    return all;
}

/* {path of a space: output} */
static json_t *routes_json(const struct model *m, const struct model_route *route)
{
    json_t *all = json_object();
    for (uint32_t i = 0; i < m->space_count; i++)
        if (route->outputs[i] >= 0)
            json_object_set_new(all, m->spaces[i]->path, json_integer(route->outputs[i]));
    return all;
}

static json_t *instance_json(const struct model *m, const struct model_instance *i, bool brief)
{
    json_t *one = json_pack("{s:s, s:s}", "path", i->path, "type", i->type->name);
    json_object_set_new(one, "parent", i->parent ? json_string(i->parent->path) : json_null());
    json_object_set_new(one, "leaf", json_boolean(i->leaf_id != UINT32_MAX));
    json_object_set_new(one, "interconnect", json_boolean(i->is_interconnect));
    if (i->domain < m->domain_count)
        json_object_set_new(one, "clock", json_string(m->domains[i->domain].name));
    set_resolved(one, i->type, i->measures);
    if (brief)
        return one;
    if (i->partition < m->partition_count)
        json_object_set_new(one, "partition", json_integer(i->partition));
    if (i->route.space)
        json_object_set_new(one, "routes_by", json_string(i->route.space->path));
    if (i->route.outputs)
        json_object_set_new(one, "routes", routes_json(m, &i->route));
    json_object_set_new(one, "place", json_place(&i->place));
    json_object_set_new(one, "params", params_json(i->params, i->param_count));
    json_object_set_new(one, "ports", ports_json(i));
    return one;
}

static json_t *port_ref_json(const struct model_port *port)
{
    const char *dot = *port->owner->path ? "." : "";
    if (!port->decl->is_array)
        return json_sprintf("%s%s%s", port->owner->path, dot, port->decl->name);
    return json_sprintf("%s%s%s[%u]", port->owner->path, dot, port->decl->name, port->element);
}

/* Size of the largest block of bytes that a message carries. */
static uint32_t payload_of(const struct model_message *messages, uint32_t count)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t f = 0; f < messages[i].field_count; f++)
            if (messages[i].fields[f].kind == MODEL_FIELD_BYTES
                && messages[i].fields[f].size > most)
                most = messages[i].fields[f].size;
    return most;
}

static json_t *payload_json(const struct model_protocol *p)
{
    uint32_t there = payload_of(p->requests, p->request_count);
    uint32_t back = payload_of(p->replies, p->reply_count);
    return json_integer(max(there, back));
}

static json_t *connection_json(const struct model *m, const struct model_connection *c, bool brief)
{
    json_t *one =
        json_pack("{s:I, s:o, s:o, s:s}", "id", (json_int_t)c->id, "from", port_ref_json(c->from),
                  "to", port_ref_json(c->to), "protocol", c->protocol->name);
    if (c->link)
        json_object_set_new(one, "link", json_string(c->link->name));
    if (c->wire) {
        json_object_set_new(one, "wire", json_string(m->wires[c->wire - 1].path));
        json_object_set_new(one, "reversed", json_boolean(c->reversed));
    }
    if (!c->link)
        json_object_set_new(one, "latency_cy", json_integer(c->latency_cy));
    json_object_set_new(one, "depth", json_integer(c->depth));
    json_object_set_new(one, "reply_depth", json_integer(c->reply_depth));
    json_object_set_new(one, "width", json_integer(c->width));
    json_object_set_new(one, "payload_bytes", payload_json(c->protocol));
    json_object_set_new(one, "crosses_partitions", json_boolean(c->crosses));
    if (!brief)
        json_object_set_new(one, "place", json_place(&c->place));
    return one;
}

static json_t *wires_json(const struct model *m)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < m->wire_count; i++) {
        const struct model_wire *w = &m->wires[i];
        json_array_append_new(all, json_pack("{s:s, s:o, s:s, s:s, s:I, s:I, s:o}", "path", w->path,
                                             "doc", json_from_text(w->doc), "link", w->link->name,
                                             "end", w->end->path, "bandwidth_bytes_per_s",
                                             (json_int_t)w->link->bandwidth_bytes_per_s,
                                             "latency_ps", (json_int_t)w->link->latency_ps, "place",
                                             json_place(&w->place)));
    }
    return all;
}

static json_t *space_json(const struct model_space *s)
{
    char size[PARAMS_VALUE_MAX], interleave[PARAMS_VALUE_MAX];
    json_t *targets = json_array();
    for (uint32_t i = 0; i < s->target_count; i++)
        json_array_append_new(targets, json_string(s->targets[i]->path));
    json_t *one = json_pack("{s:s, s:o, s:I, s:I, s:s, s:s}", "path", s->path, "targets", targets,
                            "each_bytes", (json_int_t)s->each_bytes, "interleave_bytes",
                            (json_int_t)s->interleave_bytes, "size",
                            params_bytes_text(s->each_bytes * s->target_count, size), "interleave",
                            params_bytes_text(s->interleave_bytes, interleave));
    if (s->hashed)
        json_object_set_new(one, "hashed", json_true());
    json_object_set_new(one, "base", s->mapped ? json_integer((json_int_t)s->base) : json_null());
    return one;
}

static json_t *clocks_json(const struct model *m)
{
    char text[PARAMS_VALUE_MAX];
    json_t *all = json_array();
    for (uint32_t i = 0; i < m->domain_count; i++)
        json_array_append_new(all, json_pack("{s:s, s:I, s:s}", "name", m->domains[i].name, "hz",
                                             (json_int_t)m->domains[i].hz, "text",
                                             params_hz_text(m->domains[i].hz, text)));
    return all;
}

static json_t *partitions_json(const struct model *m)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < m->partition_count; i++)
        json_array_append_new(all, json_string(m->partitions[i].name ? m->partitions[i].name : ""));
    return all;
}

static json_t *instances_json(const struct model *m, bool brief)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < m->instance_count; i++)
        json_array_append_new(all, instance_json(m, m->instances[i], brief));
    return all;
}

static json_t *parts_json(const struct model *m, bool brief)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < m->part_count; i++) {
        const struct model_part *p = m->parts[i];
        json_t *one = json_pack("{s:s, s:s}", "path", p->path, "type", p->type->name);
        set_resolved(one, p->type, p->measures);
        if (!brief)
            json_object_set_new(one, "params", params_json(p->params, p->param_count));
        json_array_append_new(all, one);
    }
    return all;
}

static json_t *connections_json(const struct model *m, bool brief)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < m->connection_count; i++)
        json_array_append_new(all, connection_json(m, m->connections[i], brief));
    return all;
}

static json_t *spaces_json(const struct model *m)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < m->space_count; i++)
        json_array_append_new(all, space_json(m->spaces[i]));
    return all;
}

static void set_reference(json_t *root, const struct model *m)
{
    struct view_error error = {""};
    json_t *svg = m->root ? json_svg(m, &error) : NULL;
    if (svg)
        json_object_set_new(root, "svg", svg);
    else if (m->root)
        json_object_set_new(root, "no_svg", json_string(error.text));
    json_object_set_new(root, "counts",
                        json_pack("{s:I, s:I}", "components", (json_int_t)m->leaf_count,
                                  "connections", (json_int_t)m->connection_count));
    json_object_set_new(root, "clocks", clocks_json(m));
    json_object_set_new(root, "partitions", partitions_json(m));
    json_object_set_new(root, "protocols", json_protocols(m));
    json_object_set_new(root, "links", json_links(m));
    json_object_set_new(root, "interfaces", json_interfaces(m));
    json_object_set_new(root, "enums", json_enums(m));
    json_object_set_new(root, "types", json_types(m, true, false));
    json_object_set_new(root, "spaces", spaces_json(m));
}

static bool set_diagrams(json_t *root, const struct model *m, struct view_error *error)
{
    json_t *tree = json_tree(m, error);
    json_object_set_new(root, "kinds", json_kinds());
    json_object_set_new(root, "types", json_types(m, false, false));
    return tree && json_object_set_new(root, "tree", tree) == 0;
}

static void set_whole(json_t *root, const struct model *m, const char *const hashes[2], bool brief)
{
    json_object_set_new(root, "models", json_pack("[s, s]", hashes[0], hashes[1]));
    json_object_set_new(root, "clocks", clocks_json(m));
    json_object_set_new(root, "partitions", partitions_json(m));
    json_object_set_new(root, "window_ps", json_integer((json_int_t)m->window_ps));
    if (!brief)
        json_object_set_new(root, "protocols", json_protocols(m));
    json_object_set_new(root, "links", json_links(m));
    json_object_set_new(root, "types", json_types(m, false, brief));
    json_object_set_new(root, "instances", instances_json(m, brief));
    json_object_set_new(root, "parts", parts_json(m, brief));
    if (m->wire_count > 0)
        json_object_set_new(root, "wires", wires_json(m));
    json_object_set_new(root, "connections", connections_json(m, brief));
    if (!brief)
        json_object_set_new(root, "spaces", spaces_json(m));
}

bool view_json(const struct model *model, const char *only, const char *const hashes[2], FILE *out,
               struct view_error *error)
{
    json_t *root =
        json_pack("{s:i, s:s, s:o, s:o}", "dump_version", DUMP_VERSION, "platform", model->name,
                  "doc", json_from_text(model->doc), "place", json_place(&model->place));
    bool ok = true;
    if (only && strcmp(only, "reference") == 0)
        set_reference(root, model);
    else if (only && strcmp(only, "diagrams") == 0)
        ok = set_diagrams(root, model, error);
    else
        set_whole(root, model, hashes, only != NULL);
    if (ok && (json_dumpf(root, out, JSON_INDENT(1)) != 0 || putc('\n', out) == EOF)) {
        snprintf(error->text, sizeof error->text, "cannot write the dump of platform '%s'",
                 model->name);
        ok = false;
    }
    json_decref(root);
    return ok;
}
