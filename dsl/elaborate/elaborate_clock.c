/* Clock domains: which clock each instance and each of its clock inputs runs on. A domain is made
 * by `clock NAME = F;`; everything else names one. Called by elaborate_tree.c when it makes a node,
 * whose parent has its clocks by then. */
#include "dsl/suggest.h"

#include "elaborate.h"

/* Domain index of the clock called `name` in the body of `node`, DOMAIN_NONE when there is none. */
static uint32_t clocks_find(const struct node *node, const char *name)
{
    int32_t clock = item_list_find(&node->object.type->clocks, name);
    return clock >= 0 ? node->clocks[clock] : DOMAIN_NONE;
}

static uint32_t add_domain(struct elaboration *e, const char *name, uint64_t hz, struct span span)
{
    struct model_domain domain = {.name = name, .hz = hz, .place = program_place(e->program, span)};
    vector_push(e->region, &e->domains, domain);
    return e->domains.count - 1;
}

/* Clocks above 1 THz would have edges closer than the picosecond that time is counted in. */
#define HZ_MAX ((int64_t)1000000000000)

static void add_setting(struct elaboration *e, const struct node *node, const struct ast_item *item,
                        bool is_overridden, struct span place)
{
    struct model_domain *domain = &e->domains.items[e->domains.count - 1];
    struct plain_setting from = {
        .name = item->name.text,
        .doc = item->doc,
        .range = "1Hz .. 1000GHz",
        .declared = item->name.span,
        .dimension = MODEL_DIM_HZ,
        .value = (int64_t)domain->hz,
        .is_overridden = is_overridden,
        .place = place,
        .origins = {item->doc, node->object.type->model.doc},
    };
    domain->path = node->object.path;
    domain->setting = plain_setting(e, &from);
}

static uint32_t own_domain(struct elaboration *e, struct node *node, const struct ast_item *item)
{
    struct scope scope = {&node->object, NULL};
    struct type_spec spec = {MODEL_DIM_HZ, NULL};
    const struct ast_expr *source = item->value;
    struct value value = eval_as(e, source, &scope, spec, NULL);
    struct override *override = override_find(e, &node->object, item->name.text);
    if (override && override->value) {
        struct scope none = {NULL, NULL};
        value = eval_as(e, override->value, &none, spec, NULL);
        source = override->value;
    }
    if (value.ok && (value.integer < 1 || value.integer > HZ_MAX)) {
        diagnostic_add(e->diagnostics, E0302, source->span,
                       "the frequency is %s, which is not in 1Hz .. 1000GHz",
                       value_text(e, &value));
        value.ok = false;
    }
    const char *name = node->object.path[0] != '\0'
                           ? region_printf(e->region, "%s.%s", node->object.path, item->name.text)
                           : item->name.text;
    uint32_t domain =
        add_domain(e, name, value.ok ? (uint64_t)value.integer : 1000000000, item->name.span);
    add_setting(e, node, item, source != item->value, source->span);
    return domain;
}

static uint32_t unknown_clock(struct elaboration *e, const struct node *in, struct ast_name name)
{
    struct diagnostic *d =
        diagnostic_add(e->diagnostics, E0413, name.span, "no clock is called '%s' here", name.text);
    struct suggestion suggestion = suggestion_for(name.text);
    for (uint32_t i = 0; i < in->object.type->clocks.v.count; i++)
        suggestion_try(&suggestion, in->object.type->clocks.v.items[i]->name.text);
    if (suggestion.best)
        diagnostic_suggest(e->diagnostics, d, suggestion.best);
    else
        diagnostic_help(e->diagnostics, d, "declare it: 'clock %s = 1GHz;'", name.text);
    return in->domain != DOMAIN_NONE ? in->domain : add_domain(e, name.text, 1000000000, name.span);
}

/* A clock input is bound in the braces of the instance to a clock of the body around it. */
static uint32_t bound_domain(struct elaboration *e, struct node *node, const struct ast_item *item)
{
    if (!node->parent) /* a component by itself: every input is a domain of its own */
        return add_domain(e, item->name.text, 1000000000, item->name.span);
    const struct ast_item *setting = object_setting(&node->object, item->name.text);
    if (!setting) {
        struct diagnostic *d =
            diagnostic_add(e->diagnostics, E0413, node->span, "clock '%s' of '%s' is not bound",
                           item->name.text, node->object.type->model.name);
        diagnostic_note(e->diagnostics, d, item->name.span, "declared here");
        diagnostic_help(e->diagnostics, d, "bind it where the instance is made: '{ %s = CLOCK; }'",
                        item->name.text);
        return node->domain != DOMAIN_NONE ? node->domain
                                           : add_domain(e, item->name.text, 1000000000, node->span);
    }
    struct ast_name name = setting->value->name;
    if (setting->value->kind != AST_NAME || setting->fill_body) {
        diagnostic_add(e->diagnostics, E0413, setting->value->span,
                       "a clock is bound to the name of a clock");
        return node->domain != DOMAIN_NONE ? node->domain
                                           : add_domain(e, item->name.text, 1000000000, node->span);
    }
    uint32_t domain = clocks_find(node->parent, name.text);
    return domain != DOMAIN_NONE ? domain : unknown_clock(e, node->parent, name);
}

void clocks_bind(struct elaboration *e, struct node *node, struct ast_name on)
{
    const struct item_list *clocks = &node->object.type->clocks;
    node->domain = node->parent ? node->parent->domain : DOMAIN_NONE;
    if (on.text) {
        node->domain = clocks_find(node->parent, on.text);
        if (node->domain == DOMAIN_NONE)
            node->domain = unknown_clock(e, node->parent, on);
    }
    if (!node->parent && e->is_standalone)
        node->domain = add_domain(e, "clock", 1000000000, node->span);
    node->clocks = region_take(e->region, clocks->v.count * sizeof *node->clocks);
    for (uint32_t i = 0; i < clocks->v.count; i++)
        node->clocks[i] = DOMAIN_NONE;
    for (uint32_t i = 0; i < clocks->v.count; i++) {
        const struct ast_item *item = clocks->v.items[i];
        node->clocks[i] = item->value ? own_domain(e, node, item) : bound_domain(e, node, item);
    }
    /* what has clock inputs only runs on the first of them */
    if (node->domain == DOMAIN_NONE && node->parent && clocks->v.count > 0)
        node->domain = node->clocks[0];
    /* the one clock of a platform is that of all instances, unless they say otherwise */
    if (!node->parent && !e->is_standalone && clocks->v.count == 1)
        node->domain = node->clocks[0];
}
