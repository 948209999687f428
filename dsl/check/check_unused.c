/* Parameters, slots and components that nothing uses. These are questions about the text, not
 * about one elaboration: what is in the branch of an `if` that is not taken is used. Only the
 * user's main file is looked at; what C code reads of a component without instances cannot be known
 * here. */
#include <string.h>

#include "base/number.h"

#include "check.h"

static bool expr_uses(const struct ast_expr *x, const char *name)
{
    if (!x)
        return false;
    if (x->kind == AST_NAME)
        return strcmp(x->name.text, name) == 0;
    for (uint32_t i = 0; x->list && i < x->list->v.count; i++)
        if (expr_uses(x->list->v.items[i], name))
            return true;
    return expr_uses(x->a, name) || expr_uses(x->b, name) || expr_uses(x->c, name);
}

static bool exprs_use(const struct ast_exprs *list, const char *name)
{
    for (uint32_t i = 0; list && i < list->v.count; i++)
        if (expr_uses(list->v.items[i], name))
            return true;
    return false;
}

static bool body_uses(const struct ast_items *body, const char *name);

static bool item_uses(const struct ast_item *item, const char *name)
{
    const struct ast_expr *const exprs[] = {
        item->size,       item->value,   item->low, item->high,      item->depth,
        item->width,      item->latency, item->by,  item->otherwise, item->each,
        item->interleave, item->hashed,  item->at,  item->which,     item->path};
    for (size_t i = 0; i < ARRAY_COUNT(exprs); i++)
        if (expr_uses(exprs[i], name))
            return true;
    return exprs_use(item->args, name) || exprs_use(item->left, name)
           || exprs_use(item->right, name) || body_uses(item->body, name)
           || body_uses(item->fill_body, name) || body_uses(item->otherwise_body, name);
}

static bool body_uses(const struct ast_items *body, const char *name)
{
    for (uint32_t i = 0; body && i < body->v.count; i++)
        if (item_uses(body->v.items[i], name))
            return true;
    return false;
}

static void check_names(struct elaboration *e, const struct type_info *type,
                        const struct item_list *list, const char *help)
{
    for (uint32_t i = 0; i < list->v.count; i++) {
        const struct ast_item *item = list->v.items[i];
        if (body_uses(type->decl->body, item->name.text))
            continue;
        struct diagnostic *d =
            diagnostic_add(e->diagnostics, W0701, item->name.span, "nothing in '%s' uses '%s'",
                           type->model.name, item->name.text);
        diagnostic_help(e->diagnostics, d, "%s, or remove it", help);
    }
}

/* Looks at composites, whose parameters and slots do only what their bodies make of them. */
static void run_unused_parameters(struct elaboration *e)
{
    for (uint32_t i = 0; i < e->program->types.count; i++) {
        const struct type_info *type = e->program->types.items[i];
        bool is_root = type == e->root->object.type;
        if (!type->model.is_composite || !type->is_main
            || (!is_root && (e->is_standalone || type->model.is_platform)))
            continue;
        check_names(e, type, &type->params, "pass it on to an instance");
        check_names(e, type, &type->parts, "hand it down to the slot of an instance");
    }
}

const struct check check_unused_parameters = {
    .name = "unused-parameter", .code = W0701, .run = run_unused_parameters, .in_standalone = true};

static void mark(struct elaboration *e, const struct ast_items *body, bool *used);

static void mark_name(struct elaboration *e, const char *name, bool *used)
{
    for (uint32_t i = 0; name && i < e->program->types.count; i++) {
        const struct type_info *type = e->program->types.items[i];
        if (used[i] || strcmp(type->model.name, name) != 0)
            continue;
        used[i] = true;
        mark(e, type->decl->body, used);
    }
}

static void mark(struct elaboration *e, const struct ast_items *body, bool *used)
{
    for (uint32_t i = 0; body && i < body->v.count; i++) {
        const struct ast_item *item = body->v.items[i];
        bool makes = item->kind == AST_INSTANCE || item->kind == AST_CONNECT
                     || item->kind == AST_INSERT; /* whose braces may insert more */
        if (makes)
            mark_name(e, item->target.text, used);
        mark(e, makes || item->kind == AST_IF || item->kind == AST_FOR ? item->body : NULL, used);
        mark(e, item->otherwise_body, used);
    }
}

static void run_unused_components(struct elaboration *e)
{
    const struct program *program = e->program;
    bool *used = region_take(e->region, program->types.count * sizeof *used);
    for (uint32_t i = 0; i < program->types.count; i++)
        if (program->types.items[i]->model.is_platform)
            mark_name(e, program->types.items[i]->model.name, used);
    for (uint32_t i = 0; i < program->types.count; i++) {
        const struct type_info *type = program->types.items[i];
        if (used[i] || !type->is_main || type->model.is_part || type->model.is_library)
            continue;
        diagnostic_add(e->diagnostics, W0702, type->decl->name.span,
                       "no platform uses the component '%s'", type->model.name);
    }
}

const struct check check_unused_components = {
    .name = "unused-component", .code = W0702, .run = run_unused_components};
