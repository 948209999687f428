/* Reads the statements of `coherence { }`. check_coherence_facts says what makes no sense in them
 * (E0508), so everything else may trust them. */
#include <string.h>

#include "check.h"
#include "coherence.h"

struct verb_rule {
    const char *name;
    bool in_first;          /* the first ports answer requests, or send them */
    bool has_right, may_at; /* `-> PORT`; `at ...` */
    bool has_operands;      /* `: ...` */
    bool is_moment;         /* no port in front, but the name of a moment */
    const char *form;
};

static const struct verb_rule verbs[FACT_VERBS] = {
    [FACT_ACCESSES] = {"accesses", false, false, true, true, false,
                       "accesses OUT at MOMENT, fence.acquire : read, write;"},
    [FACT_KEEPS] = {"keeps", true, true, false, false, false, "keeps IN -> OUT;"},
    [FACT_DELAYS] = {"delays", true, true, false, false, false,
                     "delays IN -> OUT if write == back;"},
    [FACT_PASSES] = {"passes", true, true, true, false, false, "passes IN -> OUT at MOMENT;"},
    [FACT_ANSWERS] = {"answers", true, false, true, false, false, "answers IN.atomic at SCOPE;"},
    [FACT_ON] =
        {"on", true, false, true, true, false,
         "on IN.REQUEST at MOMENT : write_back, drop; or on IN.fence.acquire at SCOPE : drop;"},
    [FACT_BEFORE] = {"before", false, false, true, true, true,
                     "before MOMENT at PORT : OUT.REQUEST;"},
    [FACT_AFTER] = {"after", false, false, true, true, true, "after MOMENT at PORT : OUT.REQUEST;"},
    [FACT_AGENTS] = {"agents", false, false, false, false, false,
                     "agents OUT; or agents OUT : HOW_MANY;"},
};

const struct ast_items *facts_of(const struct node *node)
{
    const struct item_list *list = &node->object.type->coherence;
    return list->v.count > 0 ? list->v.items[0]->body : NULL;
}

enum fact_verb fact_verb(const struct ast_item *fact)
{
    const char *name = fact->name.text;
    for (unsigned i = 0; i < FACT_VERBS; i++)
        if (verbs[i].name[0] == name[0] && strcmp(verbs[i].name, name) == 0)
            return (enum fact_verb)i;
    return FACT_VERBS;
}

bool fact_holds(struct coherence *c, struct node *node, const struct ast_item *fact)
{
    struct scope scope = {&node->object, NULL};
    struct type_spec type = {.dimension = MODEL_DIM_BOOL};
    if (!fact->value)
        return true;
    struct value value = eval_as(c->e, fact->value, &scope, type, node);
    return value.ok && value.integer != 0;
}

/* The names of "a.b.c": a is number 0. */
static const struct ast_name *path_name(const struct ast_expr *path, unsigned number)
{
    unsigned depth = 0;
    for (const struct ast_expr *x = path; x->kind == AST_MEMBER; x = x->a)
        depth++;
    for (; number < depth; depth--)
        path = path->a;
    return number == depth && (path->kind == AST_NAME || path->kind == AST_MEMBER) ? &path->name
                                                                                   : NULL;
}

uint32_t fact_port(const struct type_info *type, const struct ast_expr *path)
{
    const struct ast_name *name = path_name(path, 0);
    int32_t port = name ? item_list_find(&type->ports, name->text) : -1;
    return port >= 0 ? (uint32_t)port : PORT_NONE;
}

const char *fact_member(const struct ast_expr *path, unsigned number)
{
    const struct ast_name *name = path_name(path, number);
    return name ? name->text : NULL;
}

static unsigned effects_of(const struct ast_exprs *operands)
{
    unsigned effects = 0;
    for (uint32_t i = 0; operands && i < operands->v.count; i++) {
        const char *word = fact_member(operands->v.items[i], 0);
        effects |= !word                             ? 0
                   : strcmp(word, "write_back") == 0 ? EFFECT_WRITE_BACK
                   : strcmp(word, "drop") == 0       ? EFFECT_DROP
                   : strcmp(word, "pass") == 0       ? EFFECT_PASS
                   : strcmp(word, "spread") == 0     ? EFFECT_PASS | EFFECT_SPREAD
                                                     : 0;
    }
    return effects;
}

unsigned fact_says(const struct ast_item *fact)
{
    return effects_of(fact->operands);
}

static bool same_word(const char *a, const char *b)
{
    return !a || !b ? a == b : strcmp(a, b) == 0;
}

bool fact_is_at(const struct ast_item *fact, const char *name)
{
    bool fits = !fact->at_what;
    for (uint32_t i = 0; !fits && i < fact->at_what->v.count; i++)
        fits = same_word(fact_member(fact->at_what->v.items[i], 0), name);
    return fits;
}

static const char *const scope_names[FENCE_SCOPES] = {"agent", "system"};

const char *fence_scope_name(enum fence_scope scope)
{
    return scope_names[scope];
}

unsigned fact_effects(struct coherence *c, struct node *node, uint32_t port, const char *request,
                      const char *field, const char *moment)
{
    const struct ast_items *facts = facts_of(node);
    unsigned effects = 0;
    for (uint32_t i = 0; facts && i < facts->v.count; i++) {
        const struct ast_item *fact = facts->v.items[i];
        if (fact_verb(fact) != FACT_ON || !fact_is_at(fact, moment))
            continue;
        for (uint32_t k = 0; k < fact->left->v.count; k++) {
            const struct ast_expr *path = fact->left->v.items[k];
            if (fact_port(node->object.type, path) == port
                && same_word(fact_member(path, 1), request)
                && same_word(fact_member(path, 2), field) && fact_holds(c, node, fact))
                effects |= effects_of(fact->operands);
        }
    }
    return effects;
}

static uint32_t bit_of(const char **names, uint32_t *count, uint32_t most, const char *name)
{
    for (uint32_t i = 0; i < *count; i++)
        if (strcmp(names[i], name) == 0)
            return UINT32_C(1) << i;
    if (*count == most)
        return 0;
    names[*count] = name;
    return UINT32_C(1) << (*count)++;
}

uint32_t moment_bit(struct coherence *c, const char *name)
{
    return bit_of(c->moments, &c->moment_count, MOMENTS_MAX, name);
}

const char *moment_name(const struct coherence *c, uint32_t bits)
{
    return c->moments[__builtin_ctz(bits)];
}

uint32_t request_bit(struct coherence *c, const char *text)
{
    return bit_of(c->requests, &c->request_count, REQUESTS_MAX, text);
}

/* ---- E0508 ---- */

struct reading {
    struct elaboration *e;
    struct node *node;
    const struct ast_item *fact;
};

static void wrong(const struct reading *r, struct span span, const char *format, const char *name)
{
    struct diagnostic *d = diagnostic_add(r->e->diagnostics, E0508, span, format, name);
    enum fact_verb verb = fact_verb(r->fact);
    if (verb != FACT_VERBS)
        diagnostic_help(r->e->diagnostics, d, "it is written '%s'", verbs[verb].form);
}

static const struct ast_item *find_item(const struct item_list *list, const char *name)
{
    int32_t at = item_list_find(list, name);
    return at >= 0 ? list->v.items[at] : NULL;
}

/* ".REQUEST" or ".REQUEST.FIELD" behind a port, from name number `from` on. */
static void read_request(const struct reading *r, uint32_t port, const struct ast_expr *path,
                         unsigned from)
{
    const struct ast_item *item = r->node->object.type->ports.v.items[port];
    const struct protocol_info *protocol = program_protocol(r->e->program, item->target.text);
    const struct ast_name *request = path_name(path, from), *field = path_name(path, from + 1);
    const struct ast_item *message =
        protocol && request ? find_item(&protocol->requests, request->text) : NULL;
    if (!message) {
        wrong(r, path->span, "'%s' names no request of its port",
              source_slice(r->e->program->sources, path->span));
        return;
    }
    for (uint32_t i = 0; field && i < message->body->v.count; i++)
        if (strcmp(message->body->v.items[i]->name.text, field->text) == 0)
            return;
    if (field)
        wrong(r, field->span, "the request has no field '%s'", field->text);
}

static uint32_t read_port(const struct reading *r, const struct ast_expr *path, bool is_in)
{
    const struct type_info *type = r->node->object.type;
    uint32_t port = fact_port(type, path);
    if (port != PORT_NONE && type->ports.v.items[port]->is_in == is_in)
        return port;
    wrong(r, path->span,
          is_in ? "'%s' is not a port that answers requests"
                : "'%s' is not a port that sends requests",
          source_slice(r->e->program->sources, path->span));
    return PORT_NONE;
}

static void read_left(const struct reading *r, const struct verb_rule *rule)
{
    for (uint32_t i = 0; i < r->fact->left->v.count && !rule->is_moment; i++) {
        const struct ast_expr *path = r->fact->left->v.items[i];
        uint32_t port = read_port(r, path, rule->in_first);
        bool has_request = rule == &verbs[FACT_ANSWERS] || rule == &verbs[FACT_ON];
        if (port != PORT_NONE && has_request)
            read_request(r, port, path, 1);
        else if (port != PORT_NONE && path->kind != AST_NAME)
            wrong(r, path->span, "'%s' is more than a port",
                  source_slice(r->e->program->sources, path->span));
    }
    for (uint32_t i = 0; r->fact->right && i < r->fact->right->v.count; i++)
        read_port(r, r->fact->right->v.items[i], false);
}

static void read_effects(const struct reading *r)
{
    for (uint32_t i = 0; i < r->fact->operands->v.count; i++) {
        struct ast_exprs exprs = {.span = r->fact->operands->v.items[i]->span};
        vector_push(r->e->region, &exprs.v, r->fact->operands->v.items[i]);
        if (effects_of(&exprs) == 0)
            wrong(r, exprs.span,
                  "'%s' is not an effect: effects are write_back, drop, pass and spread",
                  source_slice(r->e->program->sources, exprs.span));
    }
}

static void read_operands(const struct reading *r)
{
    const struct type_info *type = r->node->object.type;
    enum fact_verb verb = fact_verb(r->fact);
    if (verb == FACT_ON)
        read_effects(r);
    if (verb == FACT_ON || verb == FACT_AGENTS)
        return;
    for (uint32_t i = 0; i < r->fact->operands->v.count; i++) {
        const struct ast_expr *path = r->fact->operands->v.items[i];
        if (verb == FACT_ACCESSES) {
            uint32_t port = fact_port(type, r->fact->left->v.items[0]);
            if (port != PORT_NONE)
                read_request(r, port, path, 0);
        } else {
            uint32_t port = read_port(r, path, false);
            if (port != PORT_NONE)
                read_request(r, port, path, 1);
        }
    }
}

/* True if the statement depends on a scope: it says what a fence does, or what ends in a cache. */
static bool has_scope(const struct reading *r)
{
    enum fact_verb verb = fact_verb(r->fact);
    const char *request = fact_member(r->fact->left->v.items[0], 1);
    return verb == FACT_ANSWERS || (verb == FACT_ON && request && strcmp(request, "fence") == 0);
}

static void read_scopes(const struct reading *r)
{
    for (uint32_t i = 0; r->fact->at_what && i < r->fact->at_what->v.count; i++) {
        const struct ast_expr *path = r->fact->at_what->v.items[i];
        bool known = false;
        for (unsigned s = 0; s < FENCE_SCOPES; s++)
            known |= path->kind == AST_NAME && same_word(path->name.text, scope_names[s]);
        if (!known)
            wrong(r, path->span, "'%s' is not a scope: scopes are agent and system",
                  source_slice(r->e->program->sources, path->span));
    }
}

static void read_when(const struct reading *r)
{
    enum fact_verb verb = fact_verb(r->fact);
    for (uint32_t i = 0; r->fact->at_what && i < r->fact->at_what->v.count; i++) {
        const struct ast_expr *path = r->fact->at_what->v.items[i];
        uint32_t port = fact_port(r->node->object.type, r->fact->left->v.items[0]);
        if (verb == FACT_ACCESSES && path->kind == AST_MEMBER && port != PORT_NONE)
            read_request(r, port, path, 0);
        else if ((verb == FACT_BEFORE || verb == FACT_AFTER)
                 && !same_word(fact_member(path, 0), "own"))
            read_port(r, path, false);
    }
}

static void read_fact(const struct reading *r)
{
    enum fact_verb verb = fact_verb(r->fact);
    if (verb == FACT_VERBS) {
        struct diagnostic *d =
            diagnostic_add(r->e->diagnostics, E0508, r->fact->name.span,
                           "'%s' begins no statement about coherence", r->fact->name.text);
        diagnostic_help(r->e->diagnostics, d,
                        "statements begin with accesses, keeps, delays, passes, answers, on, "
                        "before, after or agents");
        return;
    }
    const struct verb_rule *rule = &verbs[verb];
    if ((r->fact->right != NULL) != rule->has_right
        || ((r->fact->operands != NULL) != rule->has_operands && verb != FACT_AGENTS)
        || (r->fact->at_what && !rule->may_at)) {
        wrong(r, r->fact->span, "something is missing in '%s', or does not belong there",
              r->fact->name.text);
        return;
    }
    read_left(r, rule);
    if (r->fact->operands)
        read_operands(r);
    if (has_scope(r))
        read_scopes(r);
    read_when(r);
    struct coherence c = {.e = r->e};
    fact_holds(&c, r->node, r->fact);
}

static void run_facts(struct elaboration *e)
{
    VECTOR(const struct type_info *) seen = {0};
    for (uint32_t i = 0; i < e->nodes.count; i++) {
        struct node *node = e->nodes.items[i];
        const struct ast_items *facts = facts_of(node);
        bool is_first = facts != NULL;
        for (uint32_t k = 0; k < seen.count && is_first; k++)
            is_first = seen.items[k] != node->object.type;
        if (!is_first)
            continue;
        vector_push(e->region, &seen, node->object.type);
        for (uint32_t k = 0; k < facts->v.count; k++) {
            struct reading r = {e, node, facts->v.items[k]};
            read_fact(&r);
        }
    }
}

const struct check check_coherence_facts = {
    .name = "coherence-statement", .code = E0508, .run = run_facts, .in_standalone = true};
