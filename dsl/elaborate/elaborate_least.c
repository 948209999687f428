/* The least that a type expands to, before anything of it is made: its own entries and those of all
 * instances and parts inside. A number that depends on values counts as its least possible value,
 * and an unknown one as nothing, so a type that exceeds the limit here exceeds it for certain. A
 * type is looked at once, so types that double each other cost a step each.
 *
 * Called by compile.c for all types, and by elaborate_tree.c where a count is known. */
#include "base/number.h"

#include "elaborate.h"

/* Sums and products end there. */
#define MOST (UINT64_C(1) << 40)

static uint64_t sum(uint64_t a, uint64_t b)
{
    return min(a + b, MOST);
}

static uint64_t product(uint64_t a, uint64_t b)
{
    return a > 0 && b > MOST / a ? MOST : a * b;
}

/* Sets the least value of a size. False: nothing is known. Values that are known are not negative,
 * so that sums and products of the least are the least. */
static bool least_value(const struct type_info *type, const struct ast_expr *x, unsigned depth,
                        uint64_t *value)
{
    uint64_t a, b;
    if (!x || depth > AST_DEPTH_MAX)
        return false;
    if (x->kind == AST_NUMBER && x->value >= 0) {
        *value = sum((uint64_t)x->value, 0);
        return true;
    }
    if (x->kind == AST_NAME) {
        int32_t number = item_list_find(&type->params, x->name.text);
        const struct ast_item *param = number >= 0 ? type->params.v.items[number] : NULL;
        return param
               && least_value(type, param->kind == AST_LET ? param->value : param->low, depth + 1,
                              value);
    }
    if (x->kind != AST_BINARY || (x->op != '+' && x->op != '*')
        || !least_value(type, x->a, depth + 1, &a) || !least_value(type, x->b, depth + 1, &b))
        return false;
    *value = x->op == '+' ? sum(a, b) : product(a, b);
    return true;
}

static uint64_t least_of_type(struct program *program, struct type_info *type, unsigned depth);

static uint64_t least_of_body(struct program *program, const struct type_info *type,
                              const struct ast_items *body, unsigned depth);

static uint64_t least_of_item(struct program *program, const struct type_info *type,
                              const struct ast_item *item, unsigned depth)
{
    if (item->kind == AST_IF) {
        uint64_t then = least_of_body(program, type, item->body, depth);
        uint64_t otherwise = least_of_body(program, type, item->otherwise_body, depth);
        return min(then, otherwise);
    }
    struct type_info *inner = item->kind == AST_INSTANCE || item->kind == AST_SUBPART
                                  ? program_type(program, item->target.text)
                                  : NULL;
    uint64_t count = 1;
    if (!inner || (item->size && !least_value(type, item->size, 0, &count)))
        return 0;
    return product(count, least_of_type(program, inner, depth + 1));
}

static uint64_t least_of_body(struct program *program, const struct type_info *type,
                              const struct ast_items *body, unsigned depth)
{
    uint64_t total = 0;
    for (uint32_t i = 0; body && i < body->v.count; i++)
        total = sum(total, least_of_item(program, type, body->v.items[i], depth));
    return total;
}

/* Instances nest no deeper than a limit, so what lies deeper is not looked at. */
static uint64_t least_of_type(struct program *program, struct type_info *type, unsigned depth)
{
    if (type->least > 0 || depth > ELABORATE_DEPTH_MAX)
        return type->least > 0 ? type->least : 1;
    type->least = 1; /* while it is looked at: types that contain themselves are refused later */
    uint64_t own = 1 + type->params.v.count + (type->model.is_part ? 1 : type->ports.v.count);
    type->least = sum(own, least_of_body(program, type, type->decl->body, depth));
    return type->least;
}

uint64_t elaborate_least(struct program *program, struct type_info *type)
{
    return least_of_type(program, type, 0);
}

/* The name of what makes most of a type. */
static struct ast_name most_of(struct program *program, const struct type_info *type)
{
    struct ast_name name = type->decl->name;
    const struct ast_items *body = type->decl->body;
    uint64_t most = 0;
    for (uint32_t i = 0; i < body->v.count; i++) {
        uint64_t least = least_of_item(program, type, body->v.items[i], 0);
        if (least > most && body->v.items[i]->name.text) {
            most = least;
            name = body->v.items[i]->name;
        }
    }
    return name;
}

bool elaborate_fits(struct program *program)
{
    for (uint32_t i = 0; i < program->types.count; i++) {
        struct type_info *type = program->types.items[i];
        if (elaborate_least(program, type) <= ELABORATE_WORK_MAX)
            continue;
        struct ast_name name = most_of(program, type);
        diagnostic_add(program->diagnostics, E0311, name.span,
                       "'%s' in '%s' expands to too much: more than %llu million items", name.text,
                       type->model.name, (unsigned long long)(ELABORATE_WORK_MAX / 1000000));
        return false;
    }
    return true;
}
