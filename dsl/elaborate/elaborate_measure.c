/* `measure NAME = PART of WHOLE;`: each side becomes a sum of statistics and cycles, every one with
 * a factor that follows from the parameters. Nothing else is allowed: sums of the statistics of
 * several instances, or of one kernel alone, then mean the same as those of one instance.
 *
 * Factors count bytes, and cycles of the component's clock; times and bandwidths are converted. */
#include <string.h>

#include "dsl/suggest.h"

#include "elaborate.h"

const char *const model_measure_names[MODEL_MEASURE_COUNT] = {
    [MODEL_MEASURE_UTILISATION] = "utilisation",
    [MODEL_MEASURE_HIT_RATE] = "hit_rate",
    [MODEL_MEASURE_BANDWIDTH] = "bandwidth",
    [MODEL_MEASURE_STALL] = "stall",
    [MODEL_MEASURE_ISSUE] = "issue",
};

#define CYCLES (-1)

struct sum {
    bool ok;
    bool is_number; /* `number` is the value, and there are no terms */
    double number;
    VECTOR(struct model_measure_term) terms;
};

/* The statistic or the cycles that a name stands for. False: neither. Parameters come first. */
static bool find_term(const struct object *object, const struct ast_expr *x, int32_t *stat)
{
    if (x->kind != AST_NAME || item_list_find(&object->type->params, x->name.text) >= 0)
        return false;
    *stat = item_list_find(&object->type->stats, x->name.text);
    return *stat >= 0 || strcmp(x->name.text, "cycles") == 0;
}

static bool has_terms(const struct object *object, const struct ast_expr *x)
{
    int32_t stat;
    return x
           && (find_term(object, x, &stat) || has_terms(object, x->a) || has_terms(object, x->b)
               || has_terms(object, x->c));
}

static struct sum bad_sum(struct elaboration *e, struct span span, const char *text)
{
    struct diagnostic *d = diagnostic_add(e->diagnostics, E0314, span, "%s", text);
    diagnostic_help(e->diagnostics, d,
                    "a side of a measure is a sum of statistics and 'cycles', each multiplied or "
                    "divided by numbers");
    return (struct sum){.ok = false};
}

/* A value in bytes and cycles of the object's clock. */
static struct sum constant(struct elaboration *e, const struct object *object,
                           const struct ast_expr *x)
{
    struct scope scope = {(struct object *)(uintptr_t)object, NULL};
    struct value value = eval(e, x, &scope, NULL);
    uint32_t domain = object->node->domain;
    double hz = domain != DOMAIN_NONE ? (double)e->domains.items[domain].hz : 1e9;
    struct sum sum = {.ok = value.ok, .is_number = true, .number = (double)value.integer};
    if (!value.ok)
        return sum;
    switch (value.dimension) {
    case MODEL_DIM_SECONDS:
        sum.number *= hz / 1e12;
        break;
    case MODEL_DIM_BYTES_PER_S:
    case MODEL_DIM_HZ:
        sum.number /= hz;
        break;
    case MODEL_DIM_ENUM:
    case MODEL_DIM_STRING:
        return bad_sum(e, x->span, "this is not a number");
    default:
        break;
    }
    return sum;
}

static void add_sum(struct elaboration *e, struct sum *sum, const struct sum *more, double factor)
{
    for (uint32_t i = 0; i < more->terms.count; i++) {
        struct model_measure_term term = more->terms.items[i];
        term.factor *= factor;
        vector_push(e->region, &sum->terms, term);
    }
}

static struct sum sum_of(struct elaboration *e, const struct object *object,
                         const struct ast_expr *x);

static struct sum join_measure(struct elaboration *e, const struct object *object,
                               const struct ast_expr *x)
{
    struct sum a = sum_of(e, object, x->a), b = sum_of(e, object, x->b);
    struct sum sum = {.ok = a.ok && b.ok};
    if (!sum.ok)
        return sum;
    if ((x->op == '+' || x->op == '-') && !a.is_number && !b.is_number) {
        add_sum(e, &sum, &a, 1);
        add_sum(e, &sum, &b, x->op == '+' ? 1 : -1);
    } else if (x->op == '*' && (a.is_number || b.is_number)) {
        add_sum(e, &sum, a.is_number ? &b : &a, a.is_number ? a.number : b.number);
    } else if (x->op == '/' && b.is_number && b.number > 0) {
        add_sum(e, &sum, &a, 1 / b.number);
    } else {
        return bad_sum(e, x->span, "this is not a sum of statistics");
    }
    return sum;
}

static struct sum sum_of(struct elaboration *e, const struct object *object,
                         const struct ast_expr *x)
{
    struct sum sum = {.ok = true};
    int32_t stat;
    if (!has_terms(object, x))
        return constant(e, object, x);
    if (x->kind == AST_BINARY)
        return join_measure(e, object, x);
    if (!find_term(object, x, &stat))
        return bad_sum(e, x->span, "this is not a sum of statistics");
    if (stat >= 0 && object->type->model.stats[stat].kind != MODEL_STAT_COUNTER)
        return bad_sum(e, x->span, "only counters can be measured");
    vector_push(e->region, &sum.terms, ((struct model_measure_term){1, stat >= 0 ? stat : CYCLES}));
    return sum;
}

static void make_side(struct elaboration *e, const struct object *object, const struct ast_expr *x,
                      struct model_measure_side *side)
{
    struct sum sum = sum_of(e, object, x);
    if (sum.ok && sum.is_number)
        sum = bad_sum(e, x->span, "a number alone measures nothing");
    *side = (struct model_measure_side){sum.terms.items, sum.terms.count};
}

void measures_make(struct elaboration *e, struct object *object)
{
    const struct type_info *type = object->type;
    object->measures = region_take(e->region, type->measures.v.count * sizeof *object->measures);
    for (uint32_t i = 0; i < type->measures.v.count; i++) {
        const struct ast_item *item = type->measures.v.items[i];
        struct model_measure *measure = &object->measures[i];
        measure->decl = &type->model.measures[i];
        make_side(e, object, item->value, &measure->part);
        make_side(e, object, item->whole, &measure->whole);
    }
}
