/* `check CONDITION, "text";` of every instance and part. */
#include <string.h>

#include "check.h"

/* "size = 512B, ways = 4": the names in a condition with their values here. */
static void gather(struct elaboration *e, const struct ast_expr *x, const struct scope *scope,
                   const char **text, int *count)
{
    if (!x || *count >= 6)
        return;
    if (x->kind == AST_NAME && !strstr(*text, region_printf(e->region, "%s = ", x->name.text))) {
        e->diagnostics->muted++;
        struct value value = eval(e, x, scope, NULL);
        e->diagnostics->muted--;
        if (value.ok) {
            *text = region_printf(e->region, "%s%s%s = %s", *text, *count > 0 ? ", " : "",
                                  x->name.text, value_text(e, &value));
            ++*count;
        }
    }
    if (x->kind == AST_MEMBER || x->kind == AST_CALL)
        return;
    gather(e, x->a, scope, text, count);
    gather(e, x->b, scope, text, count);
    gather(e, x->c, scope, text, count);
}

static void check_one(struct elaboration *e, const struct object *object,
                      const struct ast_item *item, const struct scope *scope)
{
    struct value holds =
        eval_as(e, item->value, scope, (struct type_spec){MODEL_DIM_BOOL, NULL}, NULL);
    if (!holds.ok || holds.integer)
        return;
    const char *message = item->name.text ? item->name.text : "a check does not hold";
    bool is_root = !object->owner;
    e->diagnostics->key = item;
    struct diagnostic *d =
        is_root
            ? diagnostic_add(e->diagnostics, E0307, item->value->span, "%s", message)
            : diagnostic_add(e->diagnostics, E0307, object->span, "%s: %s", object->path, message);
    const char *values = "";
    int count = 0;
    gather(e, item->value, scope, &values, &count);
    if (!is_root)
        diagnostic_note(e->diagnostics, d, item->value->span,
                        count > 0 ? "this does not hold: %s" : "this does not hold", values);
    else if (count > 0)
        diagnostic_help(e->diagnostics, d, "here %s", values);
}

static void run_conditions(struct elaboration *e)
{
    for (uint32_t i = 0; i < e->nodes.count; i++) {
        struct node *node = e->nodes.items[i];
        for (uint32_t k = 0; k < node->later.count; k++)
            if (node->later.items[k].item->kind == AST_CHECK)
                check_one(e, &node->object, node->later.items[k].item, &node->later.items[k].scope);
    }
    for (uint32_t i = 0; i < e->parts.count; i++) {
        struct object *part = &e->parts.items[i]->object;
        const struct ast_items *body = part->type->decl->body;
        struct scope scope = {part, NULL};
        for (uint32_t k = 0; k < body->v.count; k++)
            if (body->v.items[k]->kind == AST_CHECK)
                check_one(e, part, body->v.items[k], &scope);
    }
}

const struct check check_conditions = {
    .name = "check-failed", .code = E0307, .run = run_conditions};
