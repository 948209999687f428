/* Compile-time expressions. Values are exact 63-bit integers with a dimension; overflow is an
 * error, never a wrap.
 *
 * A bare name is, in this order: a choice of the enumeration that the context expects, a loop
 * variable, a parameter or let of the surrounding declaration, `true` or `false`. Called throughout
 * elaboration. */
#include <string.h>

#include "base/number.h"
#include "base/wide.h"
#include "dsl/quantity.h"
#include "dsl/suggest.h"

#include "elaborate.h"
#include "parser.h"

static const struct value bad = {.ok = false};

static struct value number(int64_t integer, enum model_dimension dimension)
{
    return (struct value){.ok = true, .dimension = dimension, .integer = integer};
}

static struct value truth(bool is_true)
{
    return number(is_true, MODEL_DIM_BOOL);
}

const char *value_text(struct elaboration *e, const struct value *value)
{
    if (!value->ok)
        return "?";
    switch (value->dimension) {
    case MODEL_DIM_BOOL:
        return value->integer ? "true" : "false";
    case MODEL_DIM_ENUM:
        return value->choice->names[value->integer];
    case MODEL_DIM_STRING:
        return region_printf(e->region, "\"%s\"", value->string);
    default:
        return quantity_format(e->region, value->integer, value->dimension);
    }
}

/* True if every choice of `part` is one of `all`, in any order. */
static bool enum_includes(const struct model_enum *choices, const struct model_enum *part)
{
    if (choices == part || !choices || !part)
        return choices == part;
    for (uint32_t i = 0; i < part->count; i++)
        if (model_enum_find(choices, part->names[i]) < 0)
            return false;
    return true;
}

/* The number of a choice in an enumeration that includes the choice's own enumeration. */
static int64_t enum_number(const struct model_enum *choices, const struct value *value)
{
    return choices == value->choice
               ? value->integer
               : model_enum_find(choices, value->choice->names[value->integer]);
}

static const struct binding *find_binding(const struct scope *scope, const char *name)
{
    for (const struct binding *b = scope->bindings; b; b = b->outer)
        if (strcmp(b->name, name) == 0)
            return b;
    return NULL;
}

static bool is_known(const struct scope *scope, const char *name)
{
    return find_binding(scope, name)
           || (scope->object && item_list_find(&scope->object->type->params, name) >= 0)
           || strcmp(name, "true") == 0 || strcmp(name, "false") == 0;
}

bool eval_uses_names(const struct ast_expr *x, const struct scope *scope)
{
    if (!x)
        return false;
    if (x->kind == AST_NAME)
        return is_known(scope, x->name.text) && strcmp(x->name.text, "true") != 0
               && strcmp(x->name.text, "false") != 0;
    return x->kind == AST_MEMBER || x->kind == AST_CALL || eval_uses_names(x->a, scope)
           || eval_uses_names(x->b, scope) || eval_uses_names(x->c, scope);
}

static const char *choices_text(struct elaboration *e, const struct model_enum *choice)
{
    const char *text = "";
    for (uint32_t i = 0; i < choice->count && i < 12; i++)
        text = region_printf(e->region, "%s%s%s", text, i > 0 ? ", " : "", choice->names[i]);
    return choice->count > 12 ? region_printf(e->region, "%s, ...", text) : text;
}

static struct value unknown_name(struct elaboration *e, const struct ast_expr *x,
                                 const struct scope *scope, const struct type_spec *expected)
{
    const char *name = x->name.text;
    struct suggestion suggestion = suggestion_for(name);
    if (expected && expected->dimension == MODEL_DIM_ENUM) {
        struct diagnostic *d =
            diagnostic_add(e->diagnostics, E0310, x->span, "'%s' is not one of: %s", name,
                           choices_text(e, expected->choice));
        for (uint32_t i = 0; i < expected->choice->count; i++)
            suggestion_try(&suggestion, expected->choice->names[i]);
        diagnostic_suggest(e->diagnostics, d, suggestion.best);
        return bad;
    }
    struct diagnostic *d = diagnostic_add(e->diagnostics, E0202, x->span,
                                          "no parameter or value is called '%s'", name);
    for (const struct binding *b = scope->bindings; b; b = b->outer)
        suggestion_try(&suggestion, b->name);
    if (scope->object) {
        const struct type_info *type = scope->object->type;
        for (uint32_t i = 0; i < type->params.v.count; i++)
            suggestion_try(&suggestion, type->params.v.items[i]->name.text);
        bool is_thing = item_list_find(&type->ports, name) >= 0
                        || (scope->object == &scope->object->node->object
                            && tree_group(scope->object->node, name));
        if (is_thing) {
            diagnostic_help(e->diagnostics, d, "to count its elements write 'count(%s)'", name);
            return bad;
        }
    }
    diagnostic_suggest(e->diagnostics, d, suggestion.best);
    return bad;
}

static struct value eval_name(struct elaboration *e, const struct ast_expr *x,
                              const struct scope *scope, const struct type_spec *expected)
{
    const char *name = x->name.text;
    if (expected && expected->dimension == MODEL_DIM_ENUM && expected->choice) {
        int32_t literal = model_enum_find(expected->choice, name);
        if (literal >= 0) {
            struct value value = number(literal, MODEL_DIM_ENUM);
            value.choice = expected->choice;
            return value;
        }
    }
    const struct binding *binding = find_binding(scope, name);
    if (binding)
        return binding->value;
    if (scope->object) {
        int32_t param = item_list_find(&scope->object->type->params, name);
        if (param >= 0)
            return object_value(e, scope->object, (uint32_t)param);
    }
    if (strcmp(name, "true") == 0)
        return truth(true);
    if (strcmp(name, "false") == 0)
        return truth(false);
    return unknown_name(e, x, scope, expected);
}

static struct value overflow(struct elaboration *e, const struct ast_expr *x)
{
    diagnostic_add(e->diagnostics, E0306, x->span, "the result does not fit into 63 bits");
    return bad;
}

static struct value fit(struct elaboration *e, const struct ast_expr *x, signed_wide result,
                        enum model_dimension dimension)
{
    if (result > INT64_MAX || result < -INT64_MAX)
        return overflow(e, x);
    return number((int64_t)result, dimension);
}

static const char *op_text(int op)
{
    switch (op) {
    case EQUAL:
        return "==";
    case UNEQUAL:
        return "!=";
    case AT_MOST:
        return "<=";
    case AT_LEAST:
        return ">=";
    case AND:
        return "&&";
    case OR:
        return "||";
    case '+':
        return "+";
    case '-':
        return "-";
    case '*':
        return "*";
    case '/':
        return "/";
    case '%':
        return "%";
    case '<':
        return "<";
    default:
        return ">";
    }
}

static struct value mismatch(struct elaboration *e, const struct ast_expr *x, const struct value *a,
                             const struct value *b)
{
    bool quantities = quantity_is_ordered(a->dimension) && quantity_is_ordered(b->dimension);
    struct diagnostic *d =
        diagnostic_add(e->diagnostics, quantities ? E0301 : E0309, x->span,
                       "'%s' does not go with %s (%s) and %s (%s)", op_text(x->op),
                       quantity_dimension_name(a->dimension), value_text(e, a),
                       quantity_dimension_name(b->dimension), value_text(e, b));
    const struct ast_expr *plain = a->dimension == MODEL_DIM_NONE ? x->a : x->b;
    enum model_dimension other = a->dimension == MODEL_DIM_NONE ? b->dimension : a->dimension;
    bool one_is_plain = (a->dimension == MODEL_DIM_NONE) != (b->dimension == MODEL_DIM_NONE);
    if (quantities && one_is_plain && plain->kind == AST_NUMBER)
        diagnostic_help(e->diagnostics, d, "a unit is missing: write '%lld%s'",
                        (long long)plain->value, quantity_example_unit(other));
    else if ((a->dimension == MODEL_DIM_SECONDS) + (b->dimension == MODEL_DIM_SECONDS) == 1
             && (a->dimension == MODEL_DIM_CYCLES) + (b->dimension == MODEL_DIM_CYCLES) == 1)
        diagnostic_help(e->diagnostics, d, "time becomes cycles by multiplying with a frequency");
    return bad;
}

static bool compare(int op, int64_t a, int64_t b)
{
    switch (op) {
    case EQUAL:
        return a == b;
    case UNEQUAL:
        return a != b;
    case '<':
        return a < b;
    case '>':
        return a > b;
    case AT_MOST:
        return a <= b;
    default:
        return a >= b;
    }
}

/* Seconds are counted in picoseconds; a product or quotient in which they cancel drops the factor.
 * Cycles from a time are rounded up, everything else is exact or rounded down. */

static int seconds_exponent(enum model_dimension d)
{
    return d == MODEL_DIM_SECONDS ? 1 : d == MODEL_DIM_HZ || d == MODEL_DIM_BYTES_PER_S ? -1 : 0;
}

static signed_wide ceiling_of_quotient(signed_wide a, signed_wide b)
{
    return a / b + (a % b != 0 && (a < 0) == (b < 0));
}

static signed_wide divide_down(signed_wide a, signed_wide b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* In base units, 1/s stays 1/s while s is 10^12 ps: multiply(s, Hz) must be divided by 10^12,
 * divide(cy, Hz) (a time) and divide(B, B/s) multiplied by it, divide(cy, s) (Hz) and divide(B, s)
 * multiplied, too. */
static struct value product(struct elaboration *e, const struct ast_expr *x, const struct value *a,
                            const struct value *b)
{
    enum model_dimension dimension;
    if (!quantity_multiply(a->dimension, b->dimension, &dimension))
        return mismatch(e, x, a, b);
    signed_wide result = (signed_wide)a->integer * b->integer;
    bool has_time = a->dimension == MODEL_DIM_SECONDS || b->dimension == MODEL_DIM_SECONDS;
    bool has_rate = seconds_exponent(a->dimension) < 0 || seconds_exponent(b->dimension) < 0;
    if (has_time && has_rate)
        result = dimension == MODEL_DIM_CYCLES ? ceiling_of_quotient(result, PS_PER_S)
                                               : divide_down(result, PS_PER_S);
    return fit(e, x, result, dimension);
}

static struct value quotient(struct elaboration *e, const struct ast_expr *x, const struct value *a,
                             const struct value *b)
{
    enum model_dimension dimension;
    if (!quantity_divide(a->dimension, b->dimension, &dimension))
        return mismatch(e, x, a, b);
    if (b->integer == 0) {
        diagnostic_add(e->diagnostics, E0306, x->span, "division by zero");
        return bad;
    }
    signed_wide dividend = a->integer;
    bool makes_time = dimension == MODEL_DIM_SECONDS && a->dimension != MODEL_DIM_SECONDS;
    bool makes_rate = b->dimension == MODEL_DIM_SECONDS && a->dimension != MODEL_DIM_SECONDS;
    if (makes_time || makes_rate)
        dividend *= PS_PER_S; /* 2^63 * 2^40: fits */
    return fit(e, x, divide_down(dividend, b->integer), dimension);
}

static struct value arithmetic(struct elaboration *e, const struct ast_expr *x,
                               const struct value *a, const struct value *b)
{
    if (!quantity_is_ordered(a->dimension) || !quantity_is_ordered(b->dimension))
        return mismatch(e, x, a, b);
    if (x->op == '*')
        return product(e, x, a, b);
    if (x->op == '/')
        return quotient(e, x, a, b);
    if (a->dimension != b->dimension)
        return mismatch(e, x, a, b);
    if (x->op == '+')
        return fit(e, x, (signed_wide)a->integer + b->integer, a->dimension);
    if (x->op == '-')
        return fit(e, x, (signed_wide)a->integer - b->integer, a->dimension);
    if (b->integer == 0) {
        diagnostic_add(e->diagnostics, E0306, x->span, "division by zero");
        return bad;
    }
    signed_wide whole = divide_down(a->integer, b->integer);
    return fit(e, x, a->integer - whole * b->integer, a->dimension);
}

static struct value eval_logic(struct elaboration *e, const struct ast_expr *x,
                               const struct scope *scope)
{
    struct type_spec boolean = {MODEL_DIM_BOOL, NULL};
    struct value a = eval_as(e, x->a, scope, boolean, NULL);
    if (!a.ok)
        return bad;
    if ((x->op == AND) != (a.integer != 0))
        return a; /* decided: the right side is not looked at */
    return eval_as(e, x->b, scope, boolean, NULL);
}

/* A choice is on either side of a comparison; the side that has a type of its own gives it to
 * the other. */
static bool eval_sides(struct elaboration *e, const struct ast_expr *x, const struct scope *scope,
                       struct value *a, struct value *b)
{
    bool right_first = x->a->kind == AST_NAME && !is_known(scope, x->a->name.text);
    const struct ast_expr *first = right_first ? x->b : x->a, *second = right_first ? x->a : x->b;
    struct value one = eval(e, first, scope, NULL);
    struct type_spec spec = {one.dimension, one.choice};
    struct value two =
        one.ok ? eval(e, second, scope, one.dimension == MODEL_DIM_ENUM ? &spec : NULL) : bad;
    *a = right_first ? two : one;
    *b = right_first ? one : two;
    return one.ok && two.ok;
}

static struct value eval_binary(struct elaboration *e, const struct ast_expr *x,
                                const struct scope *scope)
{
    if (x->op == AND || x->op == OR)
        return eval_logic(e, x, scope);
    struct value a, b;
    if (!eval_sides(e, x, scope, &a, &b))
        return bad;
    bool is_comparison = x->op == EQUAL || x->op == UNEQUAL || x->op == '<' || x->op == '>'
                         || x->op == AT_MOST || x->op == AT_LEAST;
    if (!is_comparison)
        return arithmetic(e, x, &a, &b);
    bool by_size = x->op != EQUAL && x->op != UNEQUAL;
    if (a.dimension != b.dimension || (by_size && !quantity_is_ordered(a.dimension))
        || (a.dimension == MODEL_DIM_ENUM && !enum_includes(a.choice, b.choice)
            && !enum_includes(b.choice, a.choice)))
        return mismatch(e, x, &a, &b);
    if (a.dimension == MODEL_DIM_ENUM)
        return truth((enum_number(a.choice, &b) == a.integer) == (x->op == EQUAL));
    if (a.dimension == MODEL_DIM_STRING)
        return truth((strcmp(a.string, b.string) == 0) == (x->op == EQUAL));
    return truth(compare(x->op, a.integer, b.integer));
}

struct function {
    const char *name, *usage;
    struct value (*eval)(struct elaboration *e, const struct ast_expr *x,
                         const struct scope *scope);
};
static const struct function *find_function(const char *name);

static struct value wrong_arguments(struct elaboration *e, const struct ast_expr *x)
{
    struct diagnostic *d =
        diagnostic_add(e->diagnostics, E0309, x->span, "wrong arguments of '%s'", x->name.text);
    diagnostic_help(e->diagnostics, d, "write '%s'", find_function(x->name.text)->usage);
    return bad;
}

static struct value eval_port_count(struct elaboration *e, const struct ast_expr *x,
                                    const struct scope *scope)
{
    if (!x->list || x->list->v.count != 1 || !scope->object)
        return wrong_arguments(e, x);
    return path_count(e, x->list->v.items[0], scope);
}

static struct value eval_least_most(struct elaboration *e, const struct ast_expr *x,
                                    const struct scope *scope)
{
    bool most = strcmp(x->name.text, "max") == 0;
    if (!x->list)
        return wrong_arguments(e, x);
    struct value best = eval(e, x->list->v.items[0], scope, NULL);
    for (uint32_t i = 0; i < x->list->v.count; i++) {
        struct value next = eval(e, x->list->v.items[i], scope, NULL);
        if (!best.ok || !next.ok)
            return bad;
        if (next.dimension != best.dimension || !quantity_is_ordered(next.dimension))
            return wrong_arguments(e, x);
        if (most ? next.integer > best.integer : next.integer < best.integer)
            best = next;
    }
    return best;
}

static struct value eval_log2(struct elaboration *e, const struct ast_expr *x,
                              const struct scope *scope)
{
    if (!x->list || x->list->v.count != 1)
        return wrong_arguments(e, x);
    struct value n = eval(e, x->list->v.items[0], scope, NULL);
    if (!n.ok)
        return bad;
    if (!quantity_is_ordered(n.dimension))
        return wrong_arguments(e, x);
    if (n.integer < 1) {
        diagnostic_add(e->diagnostics, E0306, x->span, "log2 of %s, which is less than one",
                       value_text(e, &n));
        return bad;
    }
    int64_t result = 0;
    while (n.integer >> (result + 1) != 0)
        result++;
    return number(result, MODEL_DIM_NONE);
}

static struct value eval_divide_up(struct elaboration *e, const struct ast_expr *x,
                                   const struct scope *scope)
{
    if (!x->list || x->list->v.count != 2)
        return wrong_arguments(e, x);
    struct value a = eval(e, x->list->v.items[0], scope, NULL),
                 b = eval(e, x->list->v.items[1], scope, NULL);
    if (!a.ok || !b.ok)
        return bad;
    if (a.dimension != b.dimension && b.dimension != MODEL_DIM_NONE)
        return wrong_arguments(e, x);
    if (!quantity_is_ordered(a.dimension) || b.integer <= 0) {
        diagnostic_add(e->diagnostics, E0306, x->span, "ceil_div needs a divisor above zero");
        return bad;
    }
    return number((int64_t)ceiling_of_quotient(a.integer, b.integer),
                  a.dimension == b.dimension ? MODEL_DIM_NONE : a.dimension);
}

static const struct function functions[] = {
    {"count", "count(port)", eval_port_count},      {"min", "min(a, b)", eval_least_most},
    {"max", "max(a, b)", eval_least_most},          {"log2", "log2(n)", eval_log2},
    {"ceil_div", "ceil_div(a, b)", eval_divide_up},
};

const char *eval_function_name(size_t i)
{
    return i < ARRAY_COUNT(functions) ? functions[i].name : NULL;
}

static const struct function *find_function(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(functions); i++)
        if (strcmp(functions[i].name, name) == 0)
            return &functions[i];
    return NULL;
}

static struct value eval_call(struct elaboration *e, const struct ast_expr *x,
                              const struct scope *scope)
{
    const char *name = x->name.text;
    const struct function *function = find_function(name);
    if (function)
        return function->eval(e, x, scope);
    struct diagnostic *d =
        diagnostic_add(e->diagnostics, E0202, x->name.span, "no function is called '%s'", name);
    struct suggestion nearest = suggestion_for(name);
    const char *all = functions[0].name;
    for (size_t i = 0; i < ARRAY_COUNT(functions); i++) {
        suggestion_try(&nearest, functions[i].name);
        if (i > 0)
            all = region_printf(e->diagnostics->region, "%s, %s", all, functions[i].name);
    }
    if (nearest.best)
        diagnostic_suggest(e->diagnostics, d, nearest.best);
    else
        diagnostic_help(e->diagnostics, d, "the functions are %s", all);
    return bad;
}

static struct value eval_choose(struct elaboration *e, const struct ast_expr *x,
                                const struct scope *scope, const struct type_spec *expected)
{
    struct value which = eval_as(e, x->a, scope, (struct type_spec){MODEL_DIM_BOOL, NULL}, NULL);
    if (!which.ok)
        return bad;
    return eval(e, which.integer ? x->b : x->c, scope, expected);
}

struct value eval(struct elaboration *e, const struct ast_expr *x, const struct scope *scope,
                  const struct type_spec *expected)
{
    switch (x->kind) {
    case AST_NUMBER:
        return number(x->value, x->dimension);
    case AST_STRING: {
        struct value value = number(0, MODEL_DIM_STRING);
        value.string = x->name.text;
        return value;
    }
    case AST_NAME:
        return eval_name(e, x, scope, expected);
    case AST_NEGATE: {
        struct value a = eval(e, x->a, scope, NULL);
        if (!a.ok)
            return bad;
        if (quantity_is_ordered(a.dimension))
            return number(-a.integer, a.dimension);
        diagnostic_add(e->diagnostics, E0309, x->span, "'-' needs a number, this is %s",
                       quantity_dimension_name(a.dimension));
        return bad;
    }
    case AST_NOT: {
        struct value a = eval_as(e, x->a, scope, (struct type_spec){MODEL_DIM_BOOL, NULL}, NULL);
        return a.ok ? truth(!a.integer) : bad;
    }
    case AST_BINARY:
        return eval_binary(e, x, scope);
    case AST_CHOOSE:
        return eval_choose(e, x, scope, expected);
    case AST_CALL:
        return eval_call(e, x, scope);
    case AST_MEMBER:
        if (scope->object)
            return path_value(e, x, scope);
        break;
    default:
        break;
    }
    diagnostic_add(e->diagnostics, E0309, x->span,
                   "a value is needed here, and this names a part of the platform");
    return bad;
}

static const char *type_text(struct elaboration *e, struct type_spec expected)
{
    if (expected.dimension == MODEL_DIM_ENUM)
        return region_printf(e->region, "one of: %s", choices_text(e, expected.choice));
    return quantity_dimension_name(expected.dimension);
}

struct value eval_as(struct elaboration *e, const struct ast_expr *x, const struct scope *scope,
                     struct type_spec expected, const struct node *node)
{
    struct value value = eval(e, x, scope, &expected);
    if (!value.ok)
        return bad;
    if (value.dimension == expected.dimension
        && (value.dimension != MODEL_DIM_ENUM || enum_includes(expected.choice, value.choice))) {
        if (value.dimension == MODEL_DIM_ENUM)
            value.integer = enum_number(expected.choice, &value);
        value.choice = expected.choice;
        return value;
    }
    if (expected.dimension == MODEL_DIM_CYCLES && value.dimension == MODEL_DIM_SECONDS && node
        && node->domain != DOMAIN_NONE) {
        signed_wide hz = (signed_wide)e->domains.items[node->domain].hz;
        return fit(e, x, ceiling_of_quotient((signed_wide)value.integer * hz, PS_PER_S),
                   MODEL_DIM_CYCLES);
    }
    bool quantities =
        quantity_is_ordered(value.dimension) && quantity_is_ordered(expected.dimension);
    struct diagnostic *d = diagnostic_add(
        e->diagnostics, quantities ? E0301 : E0309, x->span, "expected %s, this is %s (%s)",
        type_text(e, expected), type_text(e, (struct type_spec){value.dimension, value.choice}),
        value_text(e, &value));
    if (value.dimension == MODEL_DIM_NONE && quantities) {
        if (x->kind == AST_NUMBER)
            diagnostic_help(e->diagnostics, d, "a unit is missing: write '%lld%s'%s",
                            (long long)value.integer, quantity_example_unit(expected.dimension),
                            expected.dimension == MODEL_DIM_BYTES ? region_printf(
                                e->region, " or '%lldKiB'", (long long)value.integer)
                                                                  : "");
    } else if (quantities && expected.dimension == MODEL_DIM_NONE) {
        diagnostic_help(e->diagnostics, d, "divide by a unit to get a plain number, e.g. '/ 1%s'",
                        quantity_example_unit(value.dimension));
    }
    return bad;
}

bool eval_count(struct elaboration *e, const struct ast_expr *x, const struct scope *scope,
                int64_t least, int64_t most, int64_t *result)
{
    struct value value = eval_as(e, x, scope, (struct type_spec){MODEL_DIM_NONE, NULL}, NULL);
    if (!value.ok)
        return false;
    if (value.integer < least || value.integer > most) {
        diagnostic_add(e->diagnostics, E0302, x->span, "%lld is not in %lld .. %lld",
                       (long long)value.integer, (long long)least, (long long)most);
        return false;
    }
    *result = value.integer;
    return true;
}
