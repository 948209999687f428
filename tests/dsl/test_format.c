/* format.c: every description of the fixtures formats to something that formats to itself, with the
 * same tokens and the same words of comments, in lines of at most 100 columns where they can break.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "dsl/diagnostic.h"
#include "dsl/syntax/token.h"

#include "fixtures.h"

struct scanned {
    struct region region;
    struct source_set sources;
    struct diagnostics diagnostics;
    struct token_list list;
    const struct source_file *file;
};

static void scan(struct scanned *s, const char *text, size_t size)
{
    memset(s, 0, sizeof *s);
    region_init(&s->region, "a test");
    source_set_init(&s->sources, &s->region);
    diagnostics_init(&s->diagnostics, &s->region, &s->sources);
    s->file = source_add(&s->sources, "text", text, size);
    token_scan(&s->region, &s->diagnostics, s->file, false, &s->list);
}

static const char *spelling(struct scanned *s, struct span span)
{
    return source_slice(&s->sources, span);
}

/* The words of all comments, without the slashes that begin lines. */
static const char *words_of_comments(struct scanned *s)
{
    const char *words = "";
    for (uint32_t i = 0; i < s->list.comments.count; i++) {
        char *text = region_strdup(&s->region, spelling(s, s->list.comments.items[i].span));
        char *rest = text + strspn(text, "/");
        for (char *word; (word = strtok_r(rest, " \t\r\n", &rest)) != NULL;)
            words = region_printf(&s->region, "%s %s", words, word);
    }
    return words;
}

static void expect_same_tokens(const char *name, const char *a, size_t a_size, const char *b,
                               size_t b_size)
{
    struct scanned x, y;
    scan(&x, a, a_size);
    scan(&y, b, b_size);
    cr_assert_eq(x.list.tokens.count, y.list.tokens.count, "%s", name);
    for (uint32_t i = 0; i < x.list.tokens.count; i++)
        cr_assert_str_eq(spelling(&x, x.list.tokens.items[i].span),
                         spelling(&y, y.list.tokens.items[i].span), "%s", name);
    cr_assert_str_eq(words_of_comments(&x), words_of_comments(&y), "%s", name);
    region_release(&x.region);
    region_release(&y.region);
}

static size_t expect_stable(const char *name, const char *text, size_t size)
{
    struct compilation *c = compile_open(NULL), *again = compile_open(NULL);
    size_t once_size, twice_size;
    const char *once = compile_format_text(c, name, text, size, &once_size);
    if (once) {
        const char *twice = compile_format_text(again, name, once, once_size, &twice_size);
        cr_assert_not_null(twice, "%s", name);
        cr_expect_str_eq(once, twice, "%s", name);
        expect_same_tokens(name, text, size, once, once_size);
    }
    compile_close(c);
    compile_close(again);
    return once != NULL;
}

Test(format, twice_is_the_same_as_once_and_nothing_is_lost)
{
    static const char *const folders[] = {"good", "bad", "lib"};
    size_t formatted = 0;
    for (size_t f = 0; f < 3; f++) {
        const char **names;
        size_t count = fixture_list(folders[f], &names);
        for (size_t i = 0; i < count; i++) {
            static struct fixture fixture;
            fixture_read(&fixture, names[i]);
            formatted += expect_stable(names[i], fixture.text, strlen(fixture.text));
        }
    }
    cr_expect_gt(formatted, 100);
}

Test(format, a_file_with_a_syntax_error_is_left_alone)
{
    struct compilation *c = compile_open(NULL);
    size_t size;
    cr_expect_null(compile_format_text(c, "x", "component c { param }", 21, &size));
    cr_expect_eq(compile_error_count(c), 1);
    compile_close(c);
}

Test(format, columns_and_spaces_are_settled)
{
    static const char before[] =
        "component   c{\n  param size:bytes=16KiB in 1KiB..64KiB pow2;\n"
        "param w :int= 4;  // ways\n\n\n\nin top:mem( 64B );\nout bottom :mem(64B);\n"
        "top->x.y;\n  long.name[ * ]  ->  z.y latency 1cy;\nlet a=-1+2*(3 - b);\n}\n";
    static const char after[] = "component c {\n"
                                "    param size : bytes = 16KiB in 1KiB .. 64KiB pow2;\n"
                                "    param w    : int   = 4;  // ways\n"
                                "\n"
                                "    in  top    : mem(64B);\n"
                                "    out bottom : mem(64B);\n"
                                "    top          -> x.y;\n"
                                "    long.name[*] -> z.y latency 1cy;\n"
                                "    let a = -1 + 2 * (3 - b);\n"
                                "}\n";
    struct compilation *c = compile_open(NULL);
    size_t size;
    const char *result = compile_format_text(c, "x", before, strlen(before), &size);
    cr_assert_not_null(result);
    cr_expect_str_eq(result, after);
    compile_close(c);
}

Test(format, block_comments_stay_in_their_places)
{
    static const char before[] =
        "/* top */ component c{/* a */ // b\n  param /*n*/ size:bytes=16KiB/*d*/;  /* two\r\n"
        "lines */ param w :int= 4;\n/* own\n   block */\n}/* end */";
    static const char after[] = "/* top */\n"
                                "component c {  /* a */ // b\n"
                                "    param /*n*/ size : bytes = 16KiB /*d*/;  /* two\n"
                                "lines */\n"
                                "    param w          : int   = 4;\n"
                                "    /* own\n"
                                "   block */\n"
                                "}  /* end */\n";
    struct compilation *c = compile_open(NULL);
    size_t size;
    const char *result = compile_format_text(c, "x", before, strlen(before), &size);
    cr_assert_not_null(result);
    cr_expect_str_eq(result, after, "%s", result);
    expect_same_tokens("x", before, strlen(before), result, size);
    compile_close(c);
    expect_stable("x", after, strlen(after));
}

/* Formats `before`, and again, and compares. */
static void expect_format(const char *before, const char *after)
{
    struct compilation *c = compile_open(NULL);
    size_t size;
    const char *result = compile_format_text(c, "x", before, strlen(before), &size);
    cr_assert_not_null(result);
    cr_expect_str_eq(result, after, "%s", result);
    expect_same_tokens("x", before, strlen(before), result, size);
    compile_close(c);
    expect_stable("x", after, strlen(after));
}

Test(format, comments_take_the_words_that_do_not_fit_to_the_next_line)
{
    static const char before[] =
        "/// Lines that can be outstanding below, and as many writes in addition, which are all of "
        "the "
        "writes.\n/// Others wait. The next sentence names a source.\n/// Published: a paragraph.\n"
        "// - an item of a list, whose other lines are indented by as much as its text, so that it "
        "may "
        "be "
        "seen\n//   to be one.\n// - the next\nprotocol p { }\n";
    static const char after[] =
        "/// Lines that can be outstanding below, and as many writes in addition, which are all of "
        "the\n/// writes. Others wait. The next sentence names a source.\n"
        "/// Published: a paragraph.\n"
        "// - an item of a list, whose other lines are indented by as much as its text, so that it "
        "may "
        "be\n//   seen to be one.\n// - the next\nprotocol p { }\n";
    expect_format(before, after);
}

Test(format, lists_fill_lines_and_blocks_get_lines_of_their_own)
{
    static const char before[] =
        "component c {\n"
        "behaviour \"first_part_of_all.c\", \"second_part_of_all.c\", \"third_part_of_all.c\", "
        "\"fourth_part_of_all.c\";\n"
        "l2[banks] : cache { size = 2KiB; ways = 4; latency = 10cy; mshrs = 4; targets = 4; "
        "ports = 4; write = back; };\n"
        "l1[*].bottom -> l2[*].top via memory_xbar = crossbar { width = 64B/cy; latency = 10cy; "
        "} by space local;\n"
        "l1[*].bottom -> l2[*].top via memory_xbar = crossbar { width = 64B/cy; latency = 10cy; "
        "depth = 64; } by space local;\n"
        "check kind == first_of_all || kind == second_of_all, \"a message that does not fit on "
        "the same line\";\n}\n";
    static const char after[] =
        "component c {\n"
        "    behaviour \"first_part_of_all.c\", \"second_part_of_all.c\", "
        "\"third_part_of_all.c\",\n            \"fourth_part_of_all.c\";\n"
        "    l2[banks] : cache {\n"
        "        size = 2KiB;  ways = 4;  latency = 10cy;  mshrs = 4;  targets = 4;  ports = 4;\n"
        "        write = back;\n"
        "    };\n"
        "    l1[*].bottom -> l2[*].top via memory_xbar = crossbar { width = 64B/cy; latency = "
        "10cy; }\n            by space local;\n"
        "    l1[*].bottom -> l2[*].top via memory_xbar = crossbar {\n"
        "        width = 64B/cy;  latency = 10cy;  depth = 64;\n"
        "    } by space local;\n"
        "    check kind == first_of_all || kind == second_of_all,\n"
        "            \"a message that does not fit on the same line\";\n"
        "}\n";
    expect_format(before, after);
}

Test(format, comment_after_code_goes_before_it_where_both_do_not_fit)
{
    expect_format(
        "component c {\n\n    in top : mem(64B);  // as much as the cache above asks for at once, "
        "which is no more than a line\n    out bottom : mem(64B);  // short\n}\n",
        "component c {\n\n    // as much as the cache above asks for at once, which is no more "
        "than "
        "a line\n    in  top    : mem(64B);\n    out bottom : mem(64B);  // short\n}\n");
}

Test(format, measures_are_aligned_and_of_is_a_name_elsewhere)
{
    static const char before[] =
        "component c {\nstat of, hits:counter;\nmeasure stall=of of cycles;\n"
        "measure hit_rate = hits of hits+of;\n}\n";
    static const char after[] = "component c {\n"
                                "    stat of, hits : counter;\n"
                                "    measure stall    = of   of cycles;\n"
                                "    measure hit_rate = hits of hits + of;\n"
                                "}\n";
    struct compilation *c = compile_open(NULL);
    size_t size;
    const char *result = compile_format_text(c, "x", before, strlen(before), &size);
    cr_assert_not_null(result);
    cr_expect_str_eq(result, after);
    compile_close(c);
}
