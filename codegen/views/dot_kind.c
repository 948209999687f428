/* The kind of a component in diagrams, by its ports and their protocols. */
#include "dot_kind.h"

#include <stdbool.h>
#include <stddef.h>

static const struct dot_kind_style styles[DOT_KIND_COUNT] = {
    [DOT_KIND_HOST] = {"host", "#F0E442", "#FDFBD9", "#000000"},
    [DOT_KIND_CONTROL] = {"control", "#E69F00", "#FCEFD2", "#000000"},
    [DOT_KIND_COMPUTE] = {"compute", "#0072B2", "#DCEBF6", "#FFFFFF"},
    [DOT_KIND_TRANSFER] = {"transfer", "#56B4E9", "#E3F3FC", "#000000"},
    [DOT_KIND_TESTER] = {"tester", "#F0E442", "#FDFBD9", "#000000"},
    [DOT_KIND_CACHE] = {"cache", "#009E73", "#DAF2EA", "#FFFFFF"},
    [DOT_KIND_BRIDGE] = {"bridge", "#999999", "#EFEFEF", "#000000"},
    [DOT_KIND_TRANSLATION] = {"translation", "#CC79A7", "#F8E7F0", "#000000"},
    [DOT_KIND_INTERCONNECT] = {"interconnect", "#444444", "#E9E9E9", "#FFFFFF"},
    [DOT_KIND_MEMORY] = {"memory", "#D55E00", "#FBE5D6", "#FFFFFF"},
    [DOT_KIND_COMPOSITE] = {"composite", "#D9D9D9", "#FFFFFF", "#000000"},
};

const struct dot_kind_style *dot_kind_style(enum dot_kind kind)
{
    return &styles[kind];
}

static uint32_t address_count(const struct model_message *m)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->field_count; i++)
        count += m->fields[i].kind == MODEL_FIELD_ADDR;
    return count;
}

static bool any_names_address(const struct model_message *messages, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (address_count(&messages[i]))
            return true;
    return false;
}

static bool any_carries_line(const struct model_message *messages, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < messages[i].field_count; k++)
            if (messages[i].fields[k].kind == MODEL_FIELD_BYTES
                && messages[i].fields[k].size_argument >= 0)
                return true;
    return false;
}

/* Every request names one place; some are answered with something, others only confirmed. */
static bool reads_and_writes(const struct model_protocol *p)
{
    uint32_t answered = 0, confirmed = 0;
    for (uint32_t i = 0; i < p->request_count; i++)
        if (address_count(&p->requests[i]) != 1)
            return false;
    for (uint32_t i = 0; i < p->reply_count; i++) {
        answered += p->replies[i].field_count != 0;
        confirmed += p->replies[i].field_count == 0;
    }
    return answered && confirmed && !any_names_address(p->replies, p->reply_count);
}

/* Something is asked for that names no place, and only confirmed: a cache is to be emptied. */
static bool is_housekeeping(const struct model_protocol *p)
{
    bool plain = p->reply_count && !any_names_address(p->requests, p->request_count);
    for (uint32_t i = 0; plain && i < p->reply_count; i++)
        plain = p->replies[i].field_count == 0;
    return plain;
}

enum dot_traffic dot_traffic_of(const struct model_protocol *p)
{
    if (!p)
        return DOT_WORK;
    if (any_carries_line(p->requests, p->request_count)
        || any_carries_line(p->replies, p->reply_count))
        return DOT_MEMORY;
    if (any_names_address(p->requests, p->request_count)
        && any_names_address(p->replies, p->reply_count))
        return DOT_TRANSLATION;
    if (reads_and_writes(p))
        return DOT_MEMORY;
    return is_housekeeping(p) ? DOT_CONTROL : DOT_WORK;
}

/* The number of ports of each sort that a type has. */
struct port_census {
    uint32_t any;
    uint32_t in[DOT_TRAFFIC_COUNT], out[DOT_TRAFFIC_COUNT];
    uint32_t orders; /* ports that bring any: work and control */
    bool orders_name_addresses;
};

static struct port_census census_of(const struct model_type *type)
{
    struct port_census n = {0};
    for (uint32_t i = 0; i < type->port_count; i++) {
        const struct model_port_decl *port = &type->ports[i];
        enum dot_traffic traffic = dot_traffic_of(port->protocol);
        bool orders = traffic == DOT_WORK || traffic == DOT_CONTROL;
        if (port->is_any)
            n.any++;
        else
            (port->is_in ? n.in : n.out)[traffic]++;
        if (!port->is_in || port->is_any || !orders)
            continue;
        n.orders++;
        if (port->protocol)
            n.orders_name_addresses |=
                any_names_address(port->protocol->requests, port->protocol->request_count);
    }
    return n;
}

/* Arrays of ports of one protocol on both sides, and nothing else. */
static bool only_connects(const struct model_type *type)
{
    bool in = false, out = false;
    for (uint32_t i = 0; i < type->port_count; i++) {
        const struct model_port_decl *port = &type->ports[i];
        if (!port->is_array || port->protocol != type->ports[0].protocol)
            return false;
        in |= port->is_in;
        out |= !port->is_in;
    }
    return in && out;
}

static bool has_size(const struct model_type *type)
{
    for (uint32_t i = 0; i < type->param_count; i++)
        if (!type->params[i].is_let && type->params[i].dimension == MODEL_DIM_BYTES)
            return true;
    return false;
}

static enum dot_kind kind_without_memory(const struct port_census *n)
{
    if (n->in[DOT_TRANSLATION])
        return DOT_KIND_TRANSLATION;
    return n->orders || !n->out[DOT_WORK] ? DOT_KIND_CONTROL : DOT_KIND_HOST;
}

enum dot_kind dot_kind_of(const struct model_type *type)
{
    if (type->is_composite || type->is_platform)
        return DOT_KIND_COMPOSITE;
    struct port_census n = census_of(type);
    if (n.any || only_connects(type))
        return DOT_KIND_INTERCONNECT;
    if (n.in[DOT_MEMORY] && !n.out[DOT_MEMORY])
        return DOT_KIND_MEMORY;
    if (n.in[DOT_MEMORY] && n.out[DOT_WORK])
        return DOT_KIND_CONTROL; /* a device with registers */
    if (n.in[DOT_MEMORY])
        return has_size(type) ? DOT_KIND_CACHE : DOT_KIND_BRIDGE;
    if (!n.out[DOT_MEMORY])
        return kind_without_memory(&n);
    if (n.out[DOT_WORK])
        return n.orders + n.in[DOT_TRANSLATION] ? DOT_KIND_CONTROL : DOT_KIND_HOST;
    if (!n.orders)
        return DOT_KIND_TESTER;
    return n.orders_name_addresses ? DOT_KIND_TRANSFER : DOT_KIND_COMPUTE;
}
