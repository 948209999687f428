/* token.c and lexer.l: numbers with units, contextual keywords, places. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/number.h"
#include "dsl/diagnostic.h"
#include "dsl/parser.h"
#include "dsl/syntax/token.h"

static struct region region;
static struct source_set sources;
static struct diagnostics diagnostics;
static struct token_list list;

static void scan(const char *text)
{
    region_init(&region, "a test");
    source_set_init(&sources, &region);
    diagnostics_init(&diagnostics, &region, &sources);
    token_scan(&region, &diagnostics, source_add(&sources, "test", text, strlen(text)), true,
               &list);
}

static void done(void)
{
    region_release(&region);
}

static int kind(size_t i)
{
    return list.tokens.items[i].kind;
}

Test(lexer, a_number_and_its_unit_are_one_token)
{
    scan("64KiB 32GB/s 64B/cy 0x10 1_000 1.5KiB");
    static const struct {
        int64_t value;
        enum model_dimension dimension;
    } expected[] = {{65536, MODEL_DIM_BYTES},     {32000000000, MODEL_DIM_BYTES_PER_S},
                    {64, MODEL_DIM_BYTES_PER_CY}, {16, MODEL_DIM_NONE},
                    {1000, MODEL_DIM_NONE},       {1536, MODEL_DIM_BYTES}};
    cr_assert_eq(list.tokens.count, 7);
    for (size_t i = 0; i < 6; i++) {
        cr_expect_eq(kind(i), NUMBER);
        cr_expect_eq(list.tokens.items[i].value, expected[i].value, "token %zu", i);
        cr_expect_eq(list.tokens.items[i].dimension, expected[i].dimension, "token %zu", i);
    }
    cr_expect_eq(diagnostics.error_count, 0);
    done();
}

Test(lexer, a_quotient_is_a_unit_only_when_the_list_has_it)
{
    scan("64KiB/sets 4B/cy2");
    static const int kinds[] = {NUMBER, '/', WORD, NUMBER, '/', WORD, 0};
    cr_assert_eq(list.tokens.count, 7);
    for (size_t i = 0; i < 7; i++)
        cr_expect_eq(kind(i), kinds[i], "token %zu", i);
    done();
}

Test(lexer, no_number_ends_in_a_dot)
{
    scan("1..8 0 ..< n");
    static const int kinds[] = {NUMBER, TO, NUMBER, NUMBER, UNTIL, WORD, 0};
    for (size_t i = 0; i < 7; i++)
        cr_expect_eq(kind(i), kinds[i], "token %zu", i);
    done();
}

struct keyword_case {
    const char *text;
    size_t token;
    int kind;
};

/* Each text is a statement in a body; the numbered token (the body's '{' is 2) must have this kind.
 */
static const struct keyword_case cases[] = {
    {"in top : mem;", 3, IN},
    {"in : cache;", 3, WORD},
    {"in[2] : cache;", 3, WORD},
    {"in in : mem;", 4, WORD},
    {"part p : x;", 3, PART},
    {"part : x;", 3, WORD},
    {"map = 3;", 3, WORD},
    {"map map;", 4, WORD},
    {"link.mem -> x.y;", 3, WORD},
    {"a.in -> b.out;", 5, WORD},
    {"a.b -> c.d via via;", 10, VIA},
    {"a.b -> c.d via via;", 11, WORD},
    {"param in : int in 1 .. 2;", 4, WORD},
    {"param in : int in 1 .. 2;", 7, IN},
    {"check check > 1;", 3, CHECK},
    {"check check > 1;", 4, WORD},
    {"space s : each, each 4B;", 6, WORD},
    {"space s : each, each 4B;", 8, EACH},
    {"if if == x { }", 3, IF},
    {"if if == x { }", 4, WORD},
    {"in a : m depth depth;", 7, DEPTH},
    {"in a : m depth depth;", 8, WORD},
    {"a : b on on;", 6, ON},
    {"a : b on on;", 7, WORD},
};

Test(lexer, any_keyword_may_be_a_name)
{
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char text[200];
        snprintf(text, sizeof text, "component c { %s }", cases[i].text);
        scan(text);
        cr_expect_eq(kind(cases[i].token), cases[i].kind, "%s: token %zu is %d", cases[i].text,
                     cases[i].token, kind(cases[i].token));
        done();
    }
}

Test(lexer, columns_count_characters_not_bytes)
{
    scan("// ä\nx ö y");
    struct source_position at = source_locate(&sources, list.tokens.items[1].span.begin);
    cr_expect_eq(at.line, 2);
    cr_expect_eq(at.column, 5);
    cr_expect_eq(diagnostics.error_count, 1);
    done();
}

Test(lexer, documentation_names_the_token_behind_it)
{
    scan("/// one\n/// two\ncomponent c { } // not this\n");
    cr_assert_eq(list.comments.count, 3);
    cr_expect(list.comments.items[0].is_doc && list.comments.items[1].is_doc
              && !list.comments.items[2].is_doc);
    cr_expect_eq(list.comments.items[1].token, 0);
    done();
}

Test(lexer, block_comments_end_lines_and_hide_everything)
{
    scan("a /* // \" { */ b /* x\n*/ in top : c; /**/ /***/");
    static const int kinds[] = {WORD, WORD, IN, WORD, ':', WORD, ';', 0};
    cr_assert_eq(list.tokens.count, 8);
    for (size_t i = 0; i < 8; i++)
        cr_expect_eq(kind(i), kinds[i], "token %zu", i);
    cr_expect(list.tokens.items[2].first_on_line);
    cr_assert_eq(list.comments.count, 4);
    cr_expect_eq(list.comments.items[0].token, 1);
    cr_expect_eq(list.comments.items[1].token, 2);
    cr_expect(!list.comments.items[0].is_doc && !list.comments.items[0].own_line);
    cr_expect_eq(diagnostics.error_count, 0);
    done();
}

Test(lexer, every_kind_of_line_end_and_a_byte_order_mark_are_the_same_text)
{
    static const char *const texts[] = {"// one\n/// two\nx ;\ny",
                                        "\xEF\xBB\xBF// one\n/// two\nx ;\ny",
                                        "// one\r\n/// two\r\nx ;\r\ny", "// one\r/// two\rx ;\ry"};
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        scan(texts[i]);
        cr_assert_eq(list.tokens.count, 4, "text %zu", i);
        cr_expect_eq(list.comments.count, 2, "text %zu", i);
        struct source_position at = source_locate(&sources, list.tokens.items[2].span.begin);
        cr_expect(at.line == 4 && at.column == 1, "text %zu: %u:%u", i, at.line, at.column);
        cr_expect_eq(sources.files.items[0]->is_plain, i == 0);
        cr_expect_eq(diagnostics.error_count, 0);
        done();
    }
}

Test(lexer, utf16_is_one_mistake)
{
    scan("\xFF\xFEp\0l\0a\0");
    cr_expect_eq(list.tokens.count, 1);
    cr_expect_eq(diagnostics.error_count, 1);
    done();
}
