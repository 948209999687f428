/* Checks on wires and on the paths between leaves. */
#include <string.h>

#include "check.h"

static const struct ast_item *port_item(const struct wire_end *at)
{
    return at->node->object.type->ports.v.items[at->port];
}

static struct span statement_span(const struct wire *wire)
{
    const struct ast_item *item = wire->statement->item;
    return (struct span){item->left->span.begin, item->right->span.end};
}

static void mismatch(struct elaboration *e, const struct wire *wire, const struct wire_end *left,
                     const struct model_protocol *a, const struct wire_end *right,
                     const struct model_protocol *b)
{
    struct diagnostic *d = diagnostic_add(
        e->diagnostics, E0403, statement_span(wire), "%s speaks %s, %s speaks %s",
        wire_end_text(e, left), protocol_text(e, a), wire_end_text(e, right), protocol_text(e, b));
    diagnostic_note(e->diagnostics, d, port_item(left)->span, "'%s' is declared here",
                    port_item(left)->name.text);
    diagnostic_note(e->diagnostics, d, port_item(right)->span, "'%s' is declared here",
                    port_item(right)->name.text);
    if (strcmp(a->name, b->name) == 0)
        diagnostic_help(e->diagnostics, d, "both must have the same arguments");
}

static void run_protocols(struct elaboration *e)
{
    for (uint32_t i = 0; i < e->wires.count; i++) {
        const struct wire *wire = e->wires.items[i];
        const struct model_protocol *a = protocol_of_port(e, wire->left.node, wire->left.port);
        const struct model_protocol *b = protocol_of_port(e, wire->right.node, wire->right.port);
        if (a && b && a != b)
            mismatch(e, wire, &wire->left, a, &wire->right, b);
    }
    uint32_t errors = e->diagnostics->error_count;
    for (uint32_t i = 0; i < e->paths.count && e->diagnostics->error_count == errors; i++) {
        const struct route_path *path = &e->paths.items[i];
        if (!path->is_complete)
            continue;
        const struct model_protocol *a = protocol_bound(e, &path->from),
                                    *b = protocol_bound(e, &path->to);
        if (a && b && a != b)
            mismatch(e, path->first, &path->from, a, &path->to, b);
    }
}

const struct check check_protocols = {
    .name = "protocol-mismatch", .code = E0403, .run = run_protocols, .in_standalone = true};

static void run_unbound(struct elaboration *e)
{
    for (uint32_t i = 0; i < e->paths.count; i++) {
        const struct route_path *path = &e->paths.items[i];
        if (!path->is_complete || protocol_bound(e, &path->from)
            || !port_item(&path->from)->target.text
            || !path->from.node->object.type->port_decls[path->from.port].is_any)
            continue;
        struct diagnostic *d =
            diagnostic_add(e->diagnostics, E0409, statement_span(path->first),
                           "nothing determines which protocol '%s' and '%s' speak",
                           wire_end_text(e, &path->from), wire_end_text(e, &path->to));
        diagnostic_help(e->diagnostics, d,
                        "an 'any' port takes the protocol of what it is connected to");
    }
}

const struct check check_unbound = {.name = "unbound-protocol",
                                    .code = E0409,
                                    .run = run_unbound,
                                    .prerequisites = {&check_protocols}};

/* A boundary on the way from a leaf that is open outside although it may be: then the leaf's port
 * is open, too. */
static struct wire_end open_boundary(struct elaboration *e, const struct wire_end *leaf,
                                     struct wire *wire)
{
    struct wire_end at = *leaf;
    for (int i = 0; wire && i <= 2 * ELABORATE_DEPTH_MAX; i++) {
        bool from_left = wire->left.node == at.node && wire->left.port == at.port
                         && wire->left.element == at.element;
        at = from_left ? wire->right : wire->left;
        if (!at.node->object.type->model.is_composite)
            return (struct wire_end){NULL, 0, 0};
        struct port_end *end = wire_end_at(e, &at);
        struct wire *next = !end ? NULL : wire == end->inner ? end->outer : end->inner;
        if (!next)
            return at;
        wire = next;
    }
    return (struct wire_end){NULL, 0, 0};
}

/* Open ports as they are found. `kinds` has the first one of each declaration: elements of arrays
 * and instances that were written together are one mistake. */
struct open_port {
    struct wire_end at;
    bool is_array;
    const char *why;
};

struct open_ports {
    VECTOR(struct open_port) all;
    VECTOR(struct open_port) kinds;
};

static bool is_same_kind(const struct open_port *a, const struct open_port *b)
{
    return a->at.node->span.begin == b->at.node->span.begin
           && port_item(&a->at) == port_item(&b->at);
}

static void open_port(struct elaboration *e, struct open_ports *open, const struct wire_end *at,
                      bool is_array, const char *why)
{
    struct open_port port = {*at, is_array, why};
    vector_push(e->region, &open->all, port);
    for (uint32_t i = 0; i < open->kinds.count; i++)
        if (is_same_kind(&open->kinds.items[i], &port))
            return;
    vector_push(e->region, &open->kinds, port);
}

/* The one open port in the same body that the given one could be connected to; NULL: none, or
 * several. */
static const struct open_port *partner_of(struct elaboration *e, const struct open_ports *open,
                                          const struct open_port *port)
{
    const struct model_protocol *protocol = protocol_of_port(e, port->at.node, port->at.port);
    const struct open_port *match = NULL;
    for (uint32_t i = 0; i < open->kinds.count; i++) {
        const struct open_port *other = &open->kinds.items[i];
        if (other->at.node->parent != port->at.node->parent || *other->why != '\0'
            || port_item(&other->at)->is_in == port_item(&port->at)->is_in
            || protocol_of_port(e, other->at.node, other->at.port) != protocol)
            continue;
        if (match)
            return NULL;
        match = other;
    }
    return *port->why == '\0' && protocol ? match : NULL;
}

/* The spelling that names all elements: "cu[*].vmem". */
static const char *all_of(struct elaboration *e, const struct open_port *one)
{
    const struct ast_item *instance = one->at.node->item, *port = port_item(&one->at);
    bool is_array = port->unsized || port->size;
    return region_printf(e->region, "%s%s.%s%s", instance->name.text, instance->size ? "[*]" : "",
                         port->name.text, is_array ? "[*]" : "");
}

static void report_open(struct elaboration *e, const struct open_ports *open,
                        const struct open_port *port)
{
    const struct wire_end *at = &port->at;
    const struct ast_item *item = port_item(at);
    const struct open_port *partner = partner_of(e, open, port), *back = NULL;
    if (partner)
        back = partner_of(e, open, partner);
    bool is_pair = back && is_same_kind(back, port);
    if (is_pair && item->is_in)
        return; /* reported with the other end, which asks */
    const char *name = port->is_array
                           ? region_printf(e->region, "%s[%u]", item->name.text, at->element)
                           : item->name.text;
    e->diagnostics->key = item;
    struct diagnostic *d =
        diagnostic_add(e->diagnostics, E0401, at->node->span, "'%s' of '%s' is not connected%s",
                       name, at->node->object.path, port->why);
    if (is_pair) {
        diagnostic_note(e->diagnostics, d, partner->at.node->span, "nor is '%s' of '%s'",
                        port_item(&partner->at)->name.text, partner->at.node->object.path);
        diagnostic_help(e->diagnostics, d, "connect them: '%s -> %s;'", all_of(e, port),
                        all_of(e, partner));
        return;
    }
    diagnostic_note(e->diagnostics, d, item->name.span, "'%s' is declared here", item->name.text);
    const char *otherwise =
        at->node->object.type->model.is_library ? "" : ", or declare it 'optional'";
    diagnostic_help(e->diagnostics, d,
                    item->is_in ? "connect it: '... -> %s.%s;'%s" : "connect it: '%s.%s -> ...;'%s",
                    at->node->object.name, item->name.text, otherwise);
}

static void check_outside(struct elaboration *e, struct open_ports *open, const struct wire_end *at,
                          const struct port_end *end, bool is_array)
{
    const struct ast_item *item = port_item(at);
    struct node *parent = at->node->parent;
    if (!parent || parent->is_damaged)
        return;
    if (!end || !end->outer) {
        if (!item->is_optional)
            open_port(e, open, at, is_array, "");
        return;
    }
    if (item->is_optional || at->node->object.type->model.is_composite)
        return;
    struct wire_end boundary = open_boundary(e, at, end->outer);
    if (!boundary.node || !boundary.node->parent || boundary.node->is_damaged
        || boundary.node->parent->is_damaged || !port_item(&boundary)->is_optional)
        return;
    struct port_end *there = wire_end_at(e, &boundary);
    if (there && !there->outer)
        open_port(e, open, at, is_array,
                  region_printf(e->region, ": '%s', where it leads, is optional and open",
                                wire_end_text(e, &boundary)));
}

static void check_inside(struct elaboration *e, const struct wire_end *at,
                         const struct port_end *end)
{
    if (!at->node->object.type->model.is_composite || at->node->is_damaged || (end && end->inner))
        return;
    const struct ast_item *item = port_item(at);
    if (item->is_optional && (!end || !end->outer)) /* open on both sides */
        return;
    struct diagnostic *d =
        diagnostic_add(e->diagnostics, E0401, item->name.span, "'%s' of '%s' leads nowhere inside",
                       item->name.text, at->node->object.type->model.name);
    if (item->is_in)
        diagnostic_help(e->diagnostics, d, "connect it in the body: '%s -> INSTANCE.PORT;'",
                        item->name.text);
    else
        diagnostic_help(e->diagnostics, d, "connect it in the body: 'INSTANCE.PORT -> %s;'",
                        item->name.text);
}

static void run_unconnected(struct elaboration *e)
{
    struct open_ports open = {0};
    for (uint32_t i = 0; i < e->nodes.count; i++) {
        struct node *node = e->nodes.items[i];
        for (uint32_t port = 0; port < node->object.type->ports.v.count; port++) {
            const struct ast_item *item = node->object.type->ports.v.items[port];
            int64_t count = port_count(e, node, port);
            struct wire_end at = {node, port, 0};
            bool is_array = item->unsized || item->size;
            if (count == 0 && item->unsized && !item->is_optional && node->parent
                && !node->parent->is_damaged && !node->model.is_interconnect)
                open_port(e, &open, &at, false, "");
            for (; count > 0 && at.element < count; at.element++) {
                struct port_end *end = wire_end_at(e, &at);
                check_outside(e, &open, &at, end, is_array);
                check_inside(e, &at, end);
            }
        }
    }
    for (uint32_t i = 0; i < open.all.count; i++)
        report_open(e, &open, &open.all.items[i]);
}

const struct check check_unconnected = {
    .name = "unconnected", .code = E0401, .run = run_unconnected, .in_standalone = true};

static void run_two_latencies(struct elaboration *e)
{
    for (uint32_t i = 0; i < e->paths.count; i++) {
        const struct route_path *path = &e->paths.items[i];
        if (!path->second_carrier)
            continue;
        struct diagnostic *d =
            diagnostic_add(e->diagnostics, E0410, path->second_carrier->statement->item->span,
                           "a second latency or link on the way from '%s' to '%s'",
                           wire_end_text(e, &path->from), wire_end_text(e, &path->to));
        diagnostic_note(e->diagnostics, d, path->carrier->statement->item->span,
                        "the first one is here");
        diagnostic_help(e->diagnostics, d,
                        "one connection on the way has the latency; a boundary port is only "
                        "another name");
    }
}

const struct check check_two_latencies = {
    .name = "two-latencies", .code = E0410, .run = run_two_latencies, .in_standalone = true};

#define LATENCY_CY_MAX ((int64_t)1000000000)

/* The latency that a connection on the way states, else that of the first boundary with one; NULL:
 * there is none. */
static const struct ast_expr *stated_latency(const struct route_path *path, struct scope *scope)
{
    const struct wire_end *boundary = &path->boundary;
    if (path->carrier) {
        *scope = path->carrier->statement->scope;
        return path->carrier->latency;
    }
    if (!boundary->node)
        return NULL;
    *scope = (struct scope){&boundary->node->object, NULL};
    return boundary->node->object.type->ports.v.items[boundary->port]->latency;
}

static void run_latency(struct elaboration *e)
{
    for (uint32_t i = 0; i < e->paths.count; i++) {
        struct route_path *path = &e->paths.items[i];
        struct scope scope;
        const struct ast_expr *latency = stated_latency(path, &scope);
        path->latency_cy = 1;
        if (!latency)
            continue;
        if (path->carrier && path->carrier->link) {
            diagnostic_add(e->diagnostics, E0410, latency->span,
                           "the link has a latency of its own");
            continue;
        }
        struct value value =
            eval_as(e, latency, &scope, (struct type_spec){MODEL_DIM_CYCLES, NULL}, path->to.node);
        if (!value.ok)
            continue;
        if (value.integer < 1) {
            struct diagnostic *d = diagnostic_add(e->diagnostics, E0411, latency->span,
                                                  "the latency is %s; it is at least one cycle",
                                                  value_text(e, &value));
            diagnostic_help(
                e->diagnostics, d,
                "nothing arrives in the cycle it is sent: leave the latency out for 1cy");
        } else if (value.integer > LATENCY_CY_MAX) {
            diagnostic_add(e->diagnostics, E0302, latency->span,
                           "the latency is %s, which is more than %lldcy", value_text(e, &value),
                           (long long)LATENCY_CY_MAX);
        } else {
            path->latency_cy = (uint32_t)value.integer;
        }
    }
}

const struct check check_latency = {.name = "latency",
                                    .code = E0411,
                                    .run = run_latency,
                                    .prerequisites = {&check_two_latencies},
                                    .in_standalone = true};

/* A leaf has the clock it is in and the clock inputs bound to it. */
static bool has_clock(const struct node *node, uint32_t domain)
{
    if (node->domain == domain)
        return true;
    for (uint32_t i = 0; i < node->object.type->clocks.v.count; i++)
        if (node->clocks[i] == domain)
            return true;
    return false;
}

static bool share_clock(const struct node *a, const struct node *b)
{
    if (has_clock(b, a->domain))
        return true;
    for (uint32_t i = 0; i < a->object.type->clocks.v.count; i++)
        if (has_clock(b, a->clocks[i]))
            return true;
    return false;
}

static void run_clock_crossing(struct elaboration *e)
{
    for (uint32_t i = 0; i < e->paths.count; i++) {
        const struct route_path *path = &e->paths.items[i];
        const struct node *a = path->from.node, *b = path->to.node;
        bool has_link = path->carrier && path->carrier->link;
        if (!path->is_complete || has_link || a->domain == DOMAIN_NONE || b->domain == DOMAIN_NONE
            || share_clock(a, b))
            continue;
        struct diagnostic *d = diagnostic_add(
            e->diagnostics, E0412, statement_span(path->outermost),
            "'%s' runs on clock '%s', '%s' on '%s', and no link is between them", a->object.path,
            e->domains.items[a->domain].name, b->object.path, e->domains.items[b->domain].name);
        diagnostic_help(e->diagnostics, d,
                        "only a link crosses clocks: 'via LINK', or 'over LINK' after an "
                        "interconnect");
    }
}

const struct check check_clock_crossing = {.name = "clock-crossing",
                                           .code = E0412,
                                           .run = run_clock_crossing,
                                           .prerequisites = {&check_clocks}};

static void run_clocks(struct elaboration *e)
{
    for (uint32_t i = 0; i < e->nodes.count; i++) {
        const struct node *node = e->nodes.items[i];
        if (node->object.type->model.is_composite || node->domain != DOMAIN_NONE)
            continue;
        const struct node *top = node;
        while (top->parent && top->parent->parent)
            top = top->parent;
        struct diagnostic *d = diagnostic_add(e->diagnostics, E0413, top->span, "'%s' has no clock",
                                              node->object.path);
        if (e->root->object.type->clocks.v.count == 0)
            diagnostic_help(e->diagnostics, d, "declare one in the platform: 'clock core = 1GHz;'");
        else
            diagnostic_help(e->diagnostics, d, "say which: '%s : %s on %s;'", top->object.name,
                            top->object.type->model.name,
                            e->root->object.type->clocks.v.items[0]->name.text);
    }
}

const struct check check_clocks = {.name = "clock", .code = E0413, .run = run_clocks};
