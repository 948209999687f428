/* Says where coherence has a violation (E0507): the writer, the reader, what keeps the line, the
 * routes of both, and what would close it; which fences find no way (E0509); and which leaves say
 * nothing of their accesses (W0706). */
#include <string.h>

#include "coherence.h"

static const char *actor_text(const struct coherence *c, const struct actor *actor)
{
    struct wire_end at = {actor->node, actor->port, actor->element};
    return wire_end_text(c->e, &at);
}

/* "a -> b -> c": the leaves that an access passes. */
static const char *route_text(struct coherence *c, const struct actor *actor,
                              const struct coherence_violation *violation)
{
    struct route route;
    route_find(c, actor, violation->space, violation->address, &route);
    const char *text = actor_text(c, actor);
    for (uint32_t i = 0; i < route.count; i++)
        text = region_printf(c->e->region, "%s -> %s", text, route.steps[i].node->object.path);
    return region_printf(c->e->region, "%s -> %s", text, route.end->object.path);
}

static struct diagnostic *begin_diagnostic(struct coherence *c,
                                           const struct coherence_violation *violation)
{
    struct diagnostics *d = c->e->diagnostics;
    const char *path = violation->cache->node->object.path;
    struct span span = violation->cache->node->span;
    enum diagnostic_code code = c->e->program->options->allow_incoherent ? W0707 : E0507;
    const char *in = actor_text(c, violation->inside), *out = actor_text(c, violation->outside);
    const char *scope = fence_scope_name(violation->scope);
    if (violation->missing == 0 && strncmp(violation->request, "write", 5) == 0)
        return diagnostic_add(d, code, span,
                              "'%s' keeps what '%s' writes at %s scope, and '%s' reads past it",
                              path, in, scope, out);
    if (violation->missing == 0)
        return diagnostic_add(d, code, span,
                              "'%s' answers '%s' of '%s' by itself, and '%s' writes past it", path,
                              violation->request, in, out);
    bool drop = violation->missing == EFFECT_DROP;
    const char *writer = drop ? out : in, *reader = drop ? in : out;
    const char *lines = drop ? "old" : "written";
    if (violation->in_band)
        return diagnostic_add(d, code, span,
                              "'%s' keeps %s lines: after fences of %s scope '%s' does not see "
                              "what '%s' has written",
                              path, lines, scope, reader, writer);
    return diagnostic_add(d, code, span,
                          "'%s' keeps %s lines: what '%s' writes in a '%s' is not seen by '%s' in "
                          "the next '%s'",
                          path, lines, writer, moment_name(c, violation->before), reader,
                          moment_name(c, violation->after));
}

/* ---- fences ---- */

/* The step that keeps a fence from the cache; NULL: none does. */
static const struct route_step *fence_stop(const struct coherence_violation *violation,
                                           const struct route *route)
{
    bool spread = false;
    for (uint32_t i = 0; i < route->count && route->steps[i].cache != violation->cache; i++)
        if (!route_fence_passes(&route->steps[i], violation->scope,
                                violation->missing != EFFECT_DROP, &spread))
            return &route->steps[i];
    return NULL;
}

static bool speaks_of(struct coherence *c, const struct ast_item *fact, const char *request)
{
    for (uint32_t i = 0; i < fact->left->v.count; i++) {
        const char *text = source_slice(c->e->program->sources, fact->left->v.items[i]->span);
        const char *dot = strchr(text, '.');
        if (dot && strcmp(dot + 1, request) == 0)
            return true;
    }
    return false;
}

/* The condition, as written, of a component's first statement of this kind about this request at
 * the scope, with one of these effects (0: any). NULL: it has none. */
static const char *condition_of(struct coherence *c, const struct node *node, enum fact_verb verb,
                                const char *request, enum fence_scope scope, unsigned effects)
{
    const struct ast_items *facts = facts_of(node);
    for (uint32_t i = 0; facts && i < facts->v.count; i++) {
        const struct ast_item *fact = facts->v.items[i];
        if (fact_verb(fact) == verb && fact->value && speaks_of(c, fact, request)
            && fact_is_at(fact, fence_scope_name(scope))
            && (effects == 0 || (fact_says(fact) & effects)))
            return source_slice(c->e->program->sources, fact->value->span);
    }
    return NULL;
}

/* Fences have no address: past several outputs gets only what the step before sends to each. */
static void help_split(struct coherence *c, const struct coherence_violation *violation,
                       const struct route *route, const struct route_step *stop,
                       struct diagnostic *d)
{
    struct diagnostics *diagnostics = c->e->diagnostics;
    diagnostic_help(diagnostics, d,
                    "fences have no address and do not pass '%s', which has several outputs",
                    stop->node->object.path);
    const struct route_step *before = route_cache_before(route, stop);
    const char *condition =
        !before
            ? NULL
            : condition_of(c, before->node, FACT_ON,
                           violation->missing == EFFECT_DROP ? "fence.acquire" : "fence.release",
                           violation->scope, EFFECT_SPREAD);
    if (condition)
        diagnostic_help(diagnostics, d, "'%s' sends one to each output with '%s'",
                        before->node->object.path, condition);
}

static void help_fence(struct coherence *c, const struct coherence_violation *violation,
                       struct diagnostic *d)
{
    const struct actor_class *class = &c->classes.items[violation->inside->class];
    struct diagnostics *diagnostics = c->e->diagnostics;
    struct route route;
    route_find(c, violation->inside, violation->space, violation->address, &route);
    const struct route_step *stop = fence_stop(violation, &route);
    if (violation->missing == EFFECT_WRITE_BACK && !class->release) {
        diagnostic_help(diagnostics, d,
                        "'%s' sends no release fences, its writes are visible when they are "
                        "answered: let the cache pass them on%s%s%s",
                        class->type->model.name, violation->cache->delays->value ? " (not '" : "",
                        violation->cache->delays->value ? source_slice(
                            c->e->program->sources, violation->cache->delays->value->span)
                                                        : "",
                        violation->cache->delays->value ? "')" : "");
        return;
    }
    const struct node *at = stop ? stop->node : violation->cache->node;
    const char *condition = condition_of(
        c, at, FACT_ON, violation->missing == EFFECT_DROP ? "fence.acquire" : "fence.release",
        violation->scope, stop ? EFFECT_PASS : violation->missing);
    if (!stop) {
        diagnostic_help(
            diagnostics, d, "'%s' does not say that it does this on a fence of %s scope%s%s%s",
            at->object.type->model.name, fence_scope_name(violation->scope),
            condition ? ": it does with '" : "", condition ? condition : "", condition ? "'" : "");
        return;
    }
    if (stop->splits)
        help_split(c, violation, &route, stop, d);
    else if (condition)
        diagnostic_help(diagnostics, d, "the fences end at '%s'; it passes them on with '%s'",
                        stop->node->object.path, condition);
    else
        diagnostic_help(diagnostics, d, "the fences end at '%s'", stop->node->object.path);
}

/* ---- controls ---- */

/* The port by which the cache takes a request that has the missing effect. */
static uint32_t control_port(struct coherence *c, const struct coherence_violation *violation,
                             const char *protocol, const char *request, const char *moment)
{
    struct node *node = violation->cache->node;
    const struct item_list *ports = &node->object.type->ports;
    for (uint32_t i = 0; i < ports->v.count; i++)
        if (ports->v.items[i]->is_in && strcmp(ports->v.items[i]->target.text, protocol) == 0
            && (fact_effects(c, node, i, request, NULL, moment) & violation->missing))
            return i;
    return PORT_NONE;
}

/* Would this statement of `by` close the violation, if its port led to the cache? */
static bool would_act(const struct coherence *c, const struct coherence_violation *violation,
                      const struct node *by, const struct ast_item *fact)
{
    const struct actor_class *class = &c->classes.items[violation->inside->class];
    bool drop = violation->missing == EFFECT_DROP, after = fact_verb(fact) == FACT_AFTER;
    const char *moment = fact_member(fact->left->v.items[0], 0);
    bool is_port = fact->at_what && strcmp(fact_member(fact->at_what->v.items[0], 0), "own");
    if (is_port)
        return by == class->controller && after != drop
               && strcmp(moment, moment_name(c, drop ? violation->after : violation->before)) == 0;
    if (fact->at_what && violation->owner && !node_is_inside(by, violation->owner))
        return false;
    return !after
           && (strcmp(moment, moment_name(c, violation->before)) == 0
               || strcmp(moment, moment_name(c, violation->after)) == 0);
}

/* The ports by which a statement could reach the cache, "'a' or 'b'", and the cache's own port. A
 * port that is called after the cache ("l3_control" after "l3") is the intended one. NULL: there
 * is none. With `free`, only unconnected ports count, and the intended one. */
struct control_ports {
    const char *text;
    const struct ast_item *only, *control; /* only: there is one, or one is meant */
};

static bool is_called_after(const struct ast_item *port, const struct node *node)
{
    const char *name = node->object.name;
    size_t size = strlen(name);
    return strncmp(port->name.text, name, size) == 0 && port->name.text[size] == '_';
}

static struct control_ports find_control_ports(struct coherence *c,
                                               const struct coherence_violation *violation,
                                               const struct node *by, const struct ast_item *fact,
                                               bool free)
{
    const struct type_info *type = by->object.type;
    const struct node *cache = violation->cache->node;
    struct control_ports ports = {.text = NULL};
    bool meant = false;
    for (uint32_t i = 0; i < fact->operands->v.count && !meant; i++) {
        const struct ast_expr *path = fact->operands->v.items[i];
        uint32_t number = fact_port(type, path);
        const struct ast_item *port = type->ports.v.items[number];
        uint32_t in = control_port(c, violation, port->target.text, fact_member(path, 1),
                                   fact_member(fact->left->v.items[0], 0));
        meant = in != PORT_NONE && is_called_after(port, cache);
        if (in == PORT_NONE || (free && !meant && by->ports[number].count > 0))
            continue;
        ports.control = cache->object.type->ports.v.items[in];
        ports.only = meant || !ports.text ? port : NULL;
        ports.text = meant || !ports.text
                         ? region_printf(c->e->region, "'%s'", port->name.text)
                         : region_printf(c->e->region, "%s or '%s'", ports.text, port->name.text);
    }
    return ports;
}

static bool is_port_array(const struct ast_item *port)
{
    return port->unsized || port->size;
}

/* "sa[*].mid[*]": a path to all elements, from the body of `from`; NULL: it does not lie inside. */
static const char *path_inside(struct coherence *c, const struct node *node,
                               const struct node *from)
{
    if (!node->parent)
        return NULL;
    const char *name = region_printf(c->e->region, "%s%s", node->object.name,
                                     node->object.is_in_array ? "[*]" : "");
    if (node->parent == from)
        return name;
    const char *before = path_inside(c, node->parent, from);
    return before ? region_printf(c->e->region, "%s.%s", before, name) : NULL;
}

/* The connection as it would be written, or "". */
static const char *connection_text(struct coherence *c, const struct node *by,
                                   const struct control_ports *ports, const struct node *cache)
{
    bool inserted = cache->item && cache->item->kind == AST_INSERT;
    const char *to = path_inside(c, cache, by->parent);
    if (!to || !ports->only || (by->parent != cache->parent && !inserted))
        return "";
    return region_printf(c->e->region, " ('%s%s.%s%s -> %s.%s%s;')", inserted ? "insert " : "",
                         path_inside(c, by, by->parent), ports->only->name.text,
                         is_port_array(ports->only) ? "[*]" : "", to, ports->control->name.text,
                         is_port_array(ports->control) ? "[*]" : "");
}

static bool help_connect(struct coherence *c, const struct coherence_violation *violation,
                         struct diagnostic *d, struct node *by, const struct ast_item *fact,
                         bool free)
{
    const char *condition =
        fact_holds(c, by, fact) ? NULL : source_slice(c->e->program->sources, fact->value->span);
    const struct node *cache = violation->cache->node;
    struct control_ports ports = find_control_ports(c, violation, by, fact, free);
    if (!ports.text)
        return false;
    diagnostic_help(
        c->e->diagnostics, d, "connect %s of '%s' to '%s.%s'%s: it is asked %s a '%s'%s%s%s",
        ports.text, by->object.path, cache->object.path, ports.control->name.text,
        connection_text(c, by, &ports, cache), fact_verb(fact) == FACT_AFTER ? "after" : "before",
        fact_member(fact->left->v.items[0], 0), condition ? ", with '" : "",
        condition ? condition : "", condition ? "'" : "");
    return true;
}

/* Statements that hold, or those that would with another value of a parameter. */
static bool help_statements(struct coherence *c, const struct coherence_violation *violation,
                            struct diagnostic *d, bool that_hold, bool free)
{
    bool has_help = false;
    for (uint32_t i = 0; i < c->e->nodes.count; i++) {
        struct node *node = c->e->nodes.items[i];
        const struct ast_items *facts = facts_of(node);
        for (uint32_t k = 0; facts && k < facts->v.count; k++) {
            const struct ast_item *fact = facts->v.items[k];
            enum fact_verb verb = fact_verb(fact);
            if ((verb == FACT_BEFORE || verb == FACT_AFTER) && would_act(c, violation, node, fact)
                && fact_holds(c, node, fact) == that_hold)
                has_help |= help_connect(c, violation, d, node, fact, free);
        }
    }
    return has_help;
}

/* The outermost space around `node` that no `map` names, or NULL. */
static const struct model_space *space_off_map(const struct node *node)
{
    const struct model_space *space = NULL;
    for (; node; node = node->parent)
        for (uint32_t i = 0; i < node->spaces.count; i++)
            if (node->spaces.items[i].model && !node->spaces.items[i].model->mapped)
                space = node->spaces.items[i].model;
    return space;
}

/* A statement `at own` concerns the memory around its component, which the map tells. Is there one
 * beside the cache whose memory is on no map? */
static bool help_map(struct coherence *c, const struct coherence_violation *violation,
                     struct diagnostic *d)
{
    for (uint32_t i = 0; i < c->e->nodes.count; i++) {
        const struct node *node = c->e->nodes.items[i];
        const struct ast_items *facts = facts_of(node);
        const struct model_space *space = space_off_map(node);
        if (!facts || !space || !node_is_inside(violation->cache->node, node->parent)
            || (violation->owner && node_is_inside(node, violation->owner)))
            continue;
        for (uint32_t k = 0; k < facts->v.count; k++) {
            const struct ast_item *fact = facts->v.items[k];
            if (!fact->at_what || strcmp(fact_member(fact->at_what->v.items[0], 0), "own"))
                continue;
            diagnostic_help(c->e->diagnostics, d,
                            "'%s' looks after memory of its own, but no 'map' says which that is: "
                            "add 'map %s;' to the platform",
                            node->object.path, space->path);
            return true;
        }
    }
    return false;
}

static void help_control(struct coherence *c, const struct coherence_violation *violation,
                         struct diagnostic *d)
{
    const char *effect = violation->missing == EFFECT_DROP ? "drop" : "write_back";
    if (help_map(c, violation, d))
        return;
    for (unsigned i = 0; i < 4; i++) /* the likeliest first */
        if (help_statements(c, violation, d, i < 2, i % 2 == 0))
            return;
    diagnostic_help(c->e->diagnostics, d,
                    "nothing that could reach it says so: '%s' needs 'on PORT.REQUEST : %s', and a "
                    "component that sends this request 'before' or 'after' the moment",
                    violation->cache->node->object.type->model.name, effect);
}

void violation_report(struct coherence *c, const struct coherence_violation *violation)
{
    struct diagnostics *diagnostics = c->e->diagnostics;
    struct diagnostic *d = begin_diagnostic(c, violation);
    diagnostic_note(diagnostics, d, violation->inside->node->span, "one route: %s",
                    route_text(c, violation->inside, violation));
    diagnostic_note(diagnostics, d, violation->outside->node->span, "the other: %s",
                    route_text(c, violation->outside, violation));
    const char *condition = violation->missing == 0
                                ? condition_of(c, violation->cache->node, FACT_ANSWERS,
                                               violation->request, violation->scope, 0)
                                : NULL;
    if (violation->missing == 0)
        diagnostic_help(diagnostics, d, "let it go on to where both routes meet%s%s%s",
                        condition ? ": it ends here with '" : "", condition ? condition : "",
                        condition ? "'" : "");
    else if (violation->in_band)
        help_fence(c, violation, d);
    else
        help_control(c, violation, d);
}

/* ---- fences that find no way ---- */

static void report_lost(struct coherence *c, const struct lost_fence *lost)
{
    struct diagnostics *diagnostics = c->e->diagnostics;
    const char *fence = lost->release ? "fence.release" : "fence.acquire";
    const char *branch = lost->branch->object.path, *scope = fence_scope_name(lost->scope);
    struct diagnostic *d =
        diagnostic_add(diagnostics, E0509, lost->sender->span,
                       "'%s' %s fences of %s scope to '%s', which has several outputs and finds no "
                       "address in them",
                       lost->sender->object.path, lost->passes ? "passes" : "sends", scope, branch);
    const char *spreads = condition_of(c, lost->sender, FACT_ON, fence, lost->scope, EFFECT_SPREAD);
    const char *passes = condition_of(c, lost->sender, FACT_ON, fence, lost->scope, EFFECT_PASS);
    if (spreads)
        diagnostic_help(diagnostics, d, "it sends one to each output with '%s'", spreads);
    if (passes)
        diagnostic_help(diagnostics, d, "they end at '%s' without '%s'", lost->sender->object.path,
                        passes);
    if (!spreads && !passes)
        diagnostic_help(diagnostics, d, "put a cache at which they end before '%s'", branch);
}

void lost_fences_report(struct coherence *c)
{
    const struct diagnostics *diagnostics = c->e->diagnostics;
    for (uint32_t i = 0; i < diagnostics->list.count; i++)
        if (diagnostics->list.items[i]->code == E0507 || diagnostics->list.items[i]->code == W0707)
            return;
    for (uint32_t i = 0; i < c->lost.count; i++)
        report_lost(c, &c->lost.items[i]);
}

/* ---- leaves that say nothing ---- */

/* True if some component says what accesses of this port's protocol do. */
static bool is_spoken_of(const struct coherence *c, const struct node *node, uint32_t port)
{
    const char *name = node->object.type->ports.v.items[port]->target.text;
    for (uint32_t i = 0; i < c->kept.count; i++)
        if (strcmp(c->kept.items[i], name) == 0)
            return true;
    return false;
}

void silence_report(struct coherence *c, const struct node *node)
{
    const struct type_info *type = node->object.type;
    if (type->model.is_composite || facts_of(node))
        return;
    for (uint32_t i = 0; i < c->silent.count; i++)
        if (c->silent.items[i] == type)
            return;
    for (uint32_t port = 0; port < type->ports.v.count; port++) {
        if (type->ports.v.items[port]->is_in || type->port_decls[port].is_any
            || node->ports[port].count == 0 || !is_spoken_of(c, node, port))
            continue;
        vector_push(c->e->region, &c->silent, type);
        struct diagnostic *d = diagnostic_add(
            c->e->diagnostics, W0706, type->ports.v.items[port]->name.span,
            "'%s' does not say what its accesses to memory are: coherence is proved without them",
            type->model.name);
        diagnostic_help(c->e->diagnostics, d,
                        "say it: 'coherence { accesses %s at fence.acquire : read, write; }', or "
                        "'passes', 'keeps' and 'delays' for what comes from elsewhere",
                        type->ports.v.items[port]->name.text);
        return;
    }
}
