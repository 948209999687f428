/* eval.c through a description: `let` values of a component, read from the model. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "dsl/compile.h"

struct expression {
    const char *text;
    enum model_dimension dimension;
    int64_t value;
};

static const struct expression expressions[] = {
    {"1 + 2 * 3", MODEL_DIM_NONE, 7},
    {"(1 + 2) * 3", MODEL_DIM_NONE, 9},
    {"10 - 4 - 3", MODEL_DIM_NONE, 3},
    {"-7 / 2", MODEL_DIM_NONE, -4}, /* rounded down, so that a / b * b + a % b is a */
    {"-7 % 2", MODEL_DIM_NONE, 1},
    {"7 / -2", MODEL_DIM_NONE, -4},
    {"7 % -2", MODEL_DIM_NONE, -1},
    {"-8 / 2", MODEL_DIM_NONE, -4},
    {"-8 % 2", MODEL_DIM_NONE, 0},
    {"4KiB / 64B", MODEL_DIM_NONE, 64},
    {"4KiB / 64", MODEL_DIM_BYTES, 64},
    {"1ns * 1.5GHz", MODEL_DIM_CYCLES, 2}, /* rounded up */
    {"3cy / 1GHz", MODEL_DIM_SECONDS, 3000},
    {"64B/cy * 1GHz", MODEL_DIM_BYTES_PER_S, 64000000000},
    {"32GB/s / 1GHz", MODEL_DIM_BYTES_PER_CY, 32},
    {"1KiB / 1GB/s", MODEL_DIM_SECONDS, 1024000},
    {"100 / 1", MODEL_DIM_NONE, 100},
    {"log2(64)", MODEL_DIM_NONE, 6},
    {"log2(65)", MODEL_DIM_NONE, 6},
    {"min(3, 2, 5)", MODEL_DIM_NONE, 2},
    {"max(3cy, 2cy)", MODEL_DIM_CYCLES, 3},
    {"ceil_div(9, 4)", MODEL_DIM_NONE, 3},
    {"ceil_div(100B, 64B)", MODEL_DIM_NONE, 2},
    {"1 < 2 && 2 <= 2 && !(3 > 4)", MODEL_DIM_BOOL, 1},
    {"false && 1 / 0 == 1", MODEL_DIM_BOOL, 0}, /* the right side is not looked at */
    {"mode == slow ? 10cy : 1cy", MODEL_DIM_CYCLES, 10},
    {"slow == mode", MODEL_DIM_BOOL, 1},
    {"mode != slow", MODEL_DIM_BOOL, 0},
    {"word == \"abc\"", MODEL_DIM_BOOL, 1},
    {"count(top)", MODEL_DIM_NONE, 3},
    {"later + 1", MODEL_DIM_NONE, 6},
};

#define COUNT ARRAY_COUNT(expressions)

Test(eval, expressions_have_their_values)
{
    static char text[8192];
    int n = snprintf(
        text, sizeof text,
        "component c {\n param mode : enum { fast, slow } = slow; param word : string = \"abc\";\n"
        "in top[] : p; let later = 5;\n");
    for (size_t i = 0; i < COUNT; i++)
        n +=
            snprintf(text + n, sizeof text - (size_t)n, "let v%zu = %s;\n", i, expressions[i].text);
    snprintf(text + n, sizeof text - (size_t)n,
             "}\nprotocol p { request r { } }\ncomponent s { out o : p; }\n"
             "platform t { clock k = 1GHz; x : c; s[3] : s; s[*].o -> x.top[*]; }\n");
    struct compilation *c = compile_open(NULL);
    const struct model *model = compile_text(c, "eval.heddle", text, strlen(text), NULL);
    if (!model)
        compile_print_diagnostics(c, stderr, false);
    cr_assert_not_null(model);
    const struct model_instance *x = model->leaves[0];
    for (size_t i = 0; i < COUNT; i++) {
        const struct model_param *param = &x->params[3 + i];
        cr_expect_eq(param->value.dimension, expressions[i].dimension, "%s", expressions[i].text);
        cr_expect_eq(param->value.integer, expressions[i].value, "%s is %lld", expressions[i].text,
                     (long long)param->value.integer);
        cr_expect_eq(param->source, MODEL_FROM_LET);
    }
    compile_close(c);
}
