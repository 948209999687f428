/* The nodes that keep copies, those that send accesses, and the controllers of each. */
#include <string.h>

#include "base/number.h"

#include "coherence.h"

static void add_kept(struct coherence *c, const char *protocol)
{
    for (uint32_t i = 0; i < c->kept.count; i++)
        if (strcmp(c->kept.items[i], protocol) == 0)
            return;
    vector_push(c->e->region, &c->kept, protocol);
}

static void find_cache(struct coherence *c, struct node *node)
{
    const struct ast_items *facts = facts_of(node);
    struct cache cache = {.node = node, .in_port = PORT_NONE};
    for (uint32_t i = 0; facts && i < facts->v.count; i++) {
        const struct ast_item *fact = facts->v.items[i];
        enum fact_verb verb = fact_verb(fact);
        if ((verb == FACT_KEEPS || verb == FACT_DELAYS) && fact_holds(c, node, fact)) {
            cache.in_port = fact_port(node->object.type, fact->left->v.items[0]);
            cache.delays = verb == FACT_DELAYS ? fact : cache.delays;
        }
        for (uint32_t k = 0; verb == FACT_ANSWERS && k < fact->left->v.count; k++) {
            const struct ast_expr *path = fact->left->v.items[k];
            const char *field = fact_member(path, 2);
            uint32_t bit =
                request_bit(c, region_printf(c->e->region, "%s%s%s", fact_member(path, 1),
                                             field ? "." : "", field ? field : ""));
            for (enum fence_scope s = 0; s < FENCE_SCOPES && fact_holds(c, node, fact); s++)
                cache.answers[s] |= fact_is_at(fact, fence_scope_name(s)) ? bit : 0;
        }
    }
    if (cache.in_port == PORT_NONE)
        return;
    for (enum fence_scope s = 0; s < FENCE_SCOPES; s++) {
        const char *scope = fence_scope_name(s);
        cache.acquire[s] = fact_effects(c, node, cache.in_port, "fence", "acquire", scope);
        cache.release[s] = fact_effects(c, node, cache.in_port, "fence", "release", scope);
    }
    struct cache *made = region_take(c->e->region, sizeof *made);
    *made = cache;
    c->cache[node->model.id] = made;
    vector_push(c->e->region, &c->caches, made);
    add_kept(c, node->object.type->ports.v.items[cache.in_port]->target.text);
}

/* ---- controls ---- */

struct setting_out {
    struct node *by;
    const struct ast_item *fact;
    const char *request;
    enum control_reach reach;
};

static void meets_cache(struct coherence *c, struct wire_end to, void *data)
{
    const struct setting_out *s = data;
    struct cache *cache = c->cache[to.node->model.id];
    if (!cache)
        return;
    const char *moment = fact_member(s->fact->left->v.items[0], 0);
    struct control control = {.by = s->by,
                              .fact = s->fact,
                              .moment = moment_bit(c, moment),
                              .after = fact_verb(s->fact) == FACT_AFTER,
                              .reach = s->reach,
                              .effects =
                                  fact_effects(c, to.node, to.port, s->request, NULL, moment)};
    vector_push(c->e->region, &cache->controls, control);
}

static void meets_actor(struct coherence *c, struct wire_end to, void *data)
{
    const struct setting_out *s = data;
    c->controller[to.node->model.id] = s->by;
}

static void find_controls(struct coherence *c, struct node *node, const struct ast_item *fact)
{
    struct setting_out s = {.by = node, .fact = fact, .reach = REACH_ALL};
    for (uint32_t i = 0; fact->at_what && i < fact->at_what->v.count; i++) {
        uint32_t port = fact_port(node->object.type, fact->at_what->v.items[i]);
        s.reach = port == PORT_NONE ? REACH_OWN : REACH_PORT;
        if (port != PORT_NONE)
            route_reach(c, node, port, meets_actor, &s);
    }
    for (uint32_t i = 0; i < fact->operands->v.count; i++) {
        uint32_t port = fact_port(node->object.type, fact->operands->v.items[i]);
        s.request = fact_member(fact->operands->v.items[i], 1);
        route_reach(c, node, port, meets_cache, &s);
    }
}

/* ---- agents ---- */

static void meets_agent(struct coherence *c, struct wire_end to, void *data)
{
    const uint32_t *number = data;
    if (c->agent[to.node->model.id] == 0)
        c->agent[to.node->model.id] = *number;
}

/* The number of agents that the elements of a port belong to, in equal runs. */
static uint32_t agents_of(struct coherence *c, struct node *node, const struct ast_item *fact,
                          uint32_t elements)
{
    struct scope scope = {&node->object, NULL};
    struct type_spec type = {.dimension = MODEL_DIM_NONE};
    if (!fact->operands)
        return elements;
    struct value value = eval_as(c->e, fact->operands->v.items[0], &scope, type, node);
    return value.ok && value.integer > 0 && value.integer < elements ? (uint32_t)value.integer
                                                                     : elements;
}

/* The agent of what an element leads to, or of the actor that it is. */
static uint32_t agent_at(struct coherence *c, struct node *node, uint32_t port, uint32_t element,
                         uint32_t first, const struct ast_item *fact)
{
    uint32_t elements = node->ports[port].count;
    return first + 1 + element / (elements / agents_of(c, node, fact, elements));
}

static void find_agents(struct coherence *c, struct node *node, const struct ast_item *fact)
{
    uint32_t port = fact_port(node->object.type, fact->left->v.items[0]);
    uint32_t first = c->agents;
    for (uint32_t i = 0; port != PORT_NONE && node->ports && i < node->ports[port].count; i++) {
        uint32_t number = agent_at(c, node, port, i, first, fact);
        route_reach_from(c, node, port, i, meets_agent, &number);
        c->agents = max(number, c->agents);
    }
    c->first_agent[node->model.id] = first;
    c->agents_by[node->model.id] = fact;
}

/* The agent of a node's controller, of the node itself, or of the element by which it acts. */
static uint32_t agent_of(struct coherence *c, struct node *node, uint32_t port, uint32_t element)
{
    const struct ast_item *fact = c->agents_by[node->model.id];
    const struct node *controller = c->controller[node->model.id];
    if (fact && fact_port(node->object.type, fact->left->v.items[0]) == port)
        return agent_at(c, node, port, element, c->first_agent[node->model.id], fact);
    return controller ? c->agent[controller->model.id] : c->agent[node->model.id];
}

/* Classes of one shape and agent are looked at together. */
static void find_agent_shapes(struct coherence *c)
{
    c->agent_shape_of = region_take(c->e->region, (c->agents + 1) * sizeof *c->agent_shape_of);
    for (uint32_t i = 0; i < c->classes.count; i++) {
        struct actor_class *class = &c->classes.items[i];
        uint32_t at = c->agent_shape_of[class->agent];
        while (at != 0
               && c->classes.items[c->agent_shapes.items[at - 1].class].shape != class->shape)
            at = c->agent_shapes.items[at - 1].next;
        if (at == 0) {
            struct agent_shape agent_shape = {i, c->agent_shape_of[class->agent]};
            vector_push(c->e->region, &c->agent_shapes, agent_shape);
            at = c->agent_shape_of[class->agent] = c->agent_shapes.count;
        }
        class->agent_shape = at - 1;
    }
}

/* ---- actors ---- */

static void read_kinds(struct coherence *c, struct actor_class *class, const struct ast_item *fact)
{
    for (uint32_t i = 0; i < fact->operands->v.count; i++) {
        const char *text = source_slice(c->e->program->sources, fact->operands->v.items[i]->span);
        if (strcmp(text, "read") == 0)
            class->reads = true;
        else if (strcmp(text, "write") == 0)
            class->writes = true;
        else
            class->others |= request_bit(c, text);
    }
    for (uint32_t i = 0; fact->at_what && i < fact->at_what->v.count; i++) {
        const struct ast_expr *path = fact->at_what->v.items[i];
        if (path->kind == AST_NAME && strcmp(path->name.text, "own") == 0)
            class->own = true;
        else if (path->kind == AST_NAME)
            class->moments |= moment_bit(c, path->name.text);
        else if (strcmp(fact_member(path, 1), "acquire") == 0)
            class->acquire = true;
        else
            class->release = true;
    }
}

static bool same_shape(const struct actor_class *a, const struct actor_class *b)
{
    return a->reads == b->reads && a->writes == b->writes && a->acquire == b->acquire
           && a->release == b->release && a->others == b->others && a->moments == b->moments
           && a->own == b->own;
}

static uint32_t class_number(struct coherence *c, struct actor_class *class)
{
    class->shape = c->classes.count;
    for (uint32_t i = 0; i < c->classes.count; i++) {
        const struct actor_class *known = &c->classes.items[i];
        if (!same_shape(known, class))
            continue;
        class->shape = min(class->shape, known->shape);
        if (known->type == class->type && known->port == class->port
            && known->controller == class->controller && known->agent == class->agent)
            return i;
    }
    vector_push(c->e->region, &c->classes, *class);
    return c->classes.count - 1;
}

static bool speaks_of(const struct node *node, const struct ast_item *fact, uint32_t port)
{
    for (uint32_t i = 0; i < fact->left->v.count; i++)
        if (fact_port(node->object.type, fact->left->v.items[i]) == port)
            return true;
    return false;
}

static void find_actors(struct coherence *c, struct node *node)
{
    const struct ast_items *facts = facts_of(node);
    for (uint32_t port = 0; facts && port < node->object.type->ports.v.count; port++) {
        struct actor_class class = {
            .type = node->object.type, .port = port, .controller = c->controller[node->model.id]};
        for (uint32_t i = 0; i < facts->v.count; i++)
            if (fact_verb(facts->v.items[i]) == FACT_ACCESSES
                && speaks_of(node, facts->v.items[i], port)
                && fact_holds(c, node, facts->v.items[i]))
                read_kinds(c, &class, facts->v.items[i]);
        if (!class.reads && !class.writes && class.others == 0)
            continue;
        for (uint32_t k = 0; k < node->ports[port].count; k++) {
            if (!route_next_path(c, node, port, k))
                continue;
            class.agent = agent_of(c, node, port, k);
            struct actor actor = {node, port, k, class_number(c, &class)};
            vector_push(c->e->region, &c->actors, actor);
        }
    }
}

void units_find(struct coherence *c)
{
    struct elaboration *e = c->e;
    c->cache = region_take(e->region, (e->nodes.count + 1) * sizeof(struct cache *));
    c->controller = region_take(e->region, (e->nodes.count + 1) * sizeof(struct node *));
    c->agent = region_take(e->region, (e->nodes.count + 1) * sizeof *c->agent);
    c->first_agent = region_take(e->region, (e->nodes.count + 1) * sizeof *c->first_agent);
    c->agents_by = region_take(e->region, (e->nodes.count + 1) * sizeof *c->agents_by);
    for (uint32_t i = 0; i < e->nodes.count; i++)
        find_cache(c, e->nodes.items[i]);
    for (uint32_t i = 0; i < e->nodes.count; i++) {
        const struct ast_items *facts = facts_of(e->nodes.items[i]);
        for (uint32_t k = 0; facts && k < facts->v.count; k++) {
            enum fact_verb verb = fact_verb(facts->v.items[k]);
            if ((verb == FACT_BEFORE || verb == FACT_AFTER)
                && fact_holds(c, e->nodes.items[i], facts->v.items[k]))
                find_controls(c, e->nodes.items[i], facts->v.items[k]);
            if (verb == FACT_AGENTS && fact_holds(c, e->nodes.items[i], facts->v.items[k]))
                find_agents(c, e->nodes.items[i], facts->v.items[k]);
        }
    }
    for (uint32_t i = 0; i < e->nodes.count; i++)
        find_actors(c, e->nodes.items[i]);
    find_agent_shapes(c);
    c->arrivals = region_take(e->region, (c->classes.count + 1) * sizeof(struct arrival *));
    for (uint32_t i = 0; i < c->caches.count; i++) {
        struct cache *cache = c->caches.items[i];
        cache->inside = region_take(e->region, (c->classes.count + 1) * sizeof(struct presence));
    }
}
