/* Any bytes: no crash, no hang, an error or a model. Also what the printed forms of diagnostics
 * look like. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "dsl/compile.h"
#include "dsl/pipeline/compilation.h"
#include "tests/sanitized.h"

#include "fixtures.h"

static void expect_answer(const char *text, size_t size)
{
    char name[600];
    snprintf(name, sizeof name, "%s/good/text.heddle", fixture_root());
    struct compile_options options = {.library_root = fixture_library(), .max_instances = 5000};
    struct compilation *c = compile_open(&options);
    const struct model *model = compile_text(c, name, text, size, NULL);
    cr_expect_eq(model != NULL, compile_error_count(c) == 0);
    compile_close(c);
}

static struct fixture fixture; /* the example of the language */

static void read_example(void)
{
    char path[600];
    snprintf(path, sizeof path, "%s/good/ring4.heddle", fixture_root());
    fixture_read(&fixture, path);
}

Test(robust, every_prefix_of_the_example_has_an_answer)
{
    read_example();
    const size_t step = tests_amount(7, 47, 71);
    for (size_t size = 0; size < strlen(fixture.text); size += step)
        expect_answer(fixture.text, size);
}

/* A generator of our own, so that a failure can be repeated. */
static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

Test(robust, damaged_examples_have_an_answer)
{
    read_example();
    size_t size = strlen(fixture.text);
    static char text[sizeof fixture.text];
    for (uint32_t seed = 1; seed <= tests_amount(400, 75, 40); seed++) {
        uint32_t state = seed;
        memcpy(text, fixture.text, size);
        for (int i = 0; i < 4; i++) {
            size_t to = next(&state) % size, from = next(&state) % size,
                   length = 1 + next(&state) % 12;
            if (to + length < size && from + length < size)
                memmove(text + to, fixture.text + from, length);
        }
        expect_answer(text, size);
    }
}

/* Every word once at the start of a line, with one brace missing: the reader then guesses where
 * declarations begin. */
Test(robust, broken_lines_and_missing_braces_have_an_answer)
{
    read_example();
    size_t size = strlen(fixture.text);
    static char text[sizeof fixture.text];
    for (uint32_t seed = 1; seed <= tests_amount(100, 25, 20); seed++) {
        uint32_t state = seed;
        memcpy(text, fixture.text, size);
        for (size_t at = 0; at < size; at++)
            if (text[at] == ' ' && next(&state) % 4 == 0)
                text[at] = '\n';
        size_t from = next(&state) % size;
        char *brace = memchr(text + from, '}', size - from);
        if (brace)
            *brace = ' ';
        expect_answer(text, size);
    }
}

Test(robust, expansion_is_bounded)
{
    static const char *const texts[] = {
        "component a { b[1000] : b; } component b { c[1000] : c; } component c { d[1000] : d; } "
        "component d { }\n"
        "platform p { clock k = 1GHz; a[1000] : a; }",
        "platform p { for i in 0 .. 2000000000 { for j in 0 .. 2000000000 { check 1 == 1; } } }",
        "component a { in x[1000000] : w; } protocol w { request r { } } platform p { clock k = "
        "1GHz; a[4000] : a; }",
        "platform p { x[9223372036854775807] : y; } component y { }",
        "part a { part b[60000] : b; } part b { part c[60000] : c; } part c { }\n"
        "component d { part a[60000] : a; } platform p { clock k = 1GHz; d : d; }",
    };
    /* The first ones take long in a sanitized build, and each way of expanding is one of the last.
     */
    for (size_t i = SANITIZED ? 3 : 0; i < ARRAY_COUNT(texts); i++)
        expect_answer(texts[i], strlen(texts[i]));
}

/* How sixty lines double what they expand to: `%1$d` is the line, `%2$d` the one before. */
static const char *const doublings[] = {
    "component c%1$d { a : c%2$d; b : c%2$d; }\n",
    "component c%1$d { a[2] : c%2$d; }\n",
    "component c%1$d { let n = 2; let m = n * 1 + 0; a[m] : c%2$d; }\n",
    "component c%1$d { param n : int = 2 in 2 .. 9; a[n] : c%2$d; }\n",
    "component c%1$d { param n : int = 2; if n > 1 { a : c%2$d; b : c%2$d; } "
    "else { a[3] : c%2$d; } }\n",
    "component c%1$d { in top[2] : w; a : c%2$d; b : c%2$d; top[0] -> a.top[*]; "
    "top[1] -> b.top[*]; }\n",
    "part q%1$d { part a : q%2$d; part b : q%2$d; }\ncomponent c%1$d { part x : q%1$d; }\n",
};

static void expect_too_large(const char *text, bool with_platform)
{
    struct compile_options options = {.library_root = fixture_library()};
    struct compilation *c = compile_open(&options);
    const char *end = strstr(text, "platform");
    size_t size = with_platform ? strlen(text) : (size_t)(end - text);
    compile_text(c, "x.heddle", text, size, NULL);
    cr_assert_geq(compile_error_count(c), 1);
    cr_expect_str_eq(compile_diagnostic_at(c, 0)->code, "E0311", "%s: %s\n%.200s",
                     compile_diagnostic_at(c, 0)->code, compile_diagnostic_at(c, 0)->message, text);
    cr_expect_lt(c->region.total, (size_t)64 << 20, "%zu MiB: %.200s", c->region.total >> 20, text);
    compile_close(c);
}

/* Counted before it is built: the answer costs next to nothing. */
Test(robust, what_doubles_is_refused_before_it_is_built)
{
    static char text[65536];
    for (size_t i = 0; i < ARRAY_COUNT(doublings); i++) {
        size_t n = (size_t)snprintf(text, sizeof text,
                                    "protocol w { request r { } }\npart q0 { }\n"
                                    "component c0 { in top : w optional; }\n");
        for (int line = 1; line <= 60; line++)
            n += (size_t)snprintf(text + n, sizeof text - n, doublings[i], line, line - 1);
        snprintf(text + n, sizeof text - n, "platform p { clock k = 1GHz; x : c60; }\n");
        expect_too_large(text, true);
        expect_too_large(text, false);
    }
}

Test(robust, endless_lists_end_with_a_message)
{
    static const char *const pieces[] = {"a : b; ", "a.b -> c.d; ", "param a : int; ",
                                         "let a = 1; ", "in a : b; "};
    static char text[SANITIZED ? 50000 : 2000000];
    for (size_t i = 0; i < ARRAY_COUNT(pieces); i++) {
        size_t n = (size_t)snprintf(text, sizeof text, "component c { ");
        while (n + strlen(pieces[i]) < sizeof text - 2)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s", pieces[i]);
        n += (size_t)snprintf(text + n, sizeof text - n, "}");
        expect_answer(text, n);
    }
}

Test(robust, deep_nesting_ends_with_a_message)
{
    static const char *const pieces[] = {"{", "(", "[", "-", "a.", "if x {", "a ? b : ", "1 + "};
    static char text[SANITIZED ? 20000 : 300000];
    for (size_t i = 0; i < ARRAY_COUNT(pieces); i++) {
        size_t n = (size_t)snprintf(text, sizeof text, "component c { let x = ");
        while (n + strlen(pieces[i]) < sizeof text - 1)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s", pieces[i]);
        expect_answer(text, n);
    }
}

/* The tokens end where nesting becomes too deep; comments behind that place still point to tokens.
 */
Test(robust, comments_behind_deep_nesting_are_ignored)
{
    static char text[300000];
    size_t n = (size_t)snprintf(text, sizeof text, "component c ");
    while (n < 100000)
        n += (size_t)snprintf(text + n, sizeof text - n, "{");
    while (n < sizeof text - 64)
        n += (size_t)snprintf(text + n, sizeof text - n, "a : b; /// doc\n/// more\n");
    expect_answer(text, n);
}

Test(robust, a_compilation_without_options_and_a_missing_file)
{
    struct compilation *c = compile_open(NULL);
    cr_expect_null(compile_platform(c, "/no/such/file.heddle", NULL));
    cr_assert_eq(compile_diagnostic_count(c), 1);
    cr_expect_str_eq(compile_diagnostic_at(c, 0)->code, "E0102");
    cr_expect_null(compile_diagnostic_at(c, 0)->place.file);
    compile_close(c);
    compile_close(NULL);
}

static char *printed(const struct compilation *c)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    compile_print_diagnostics(c, stream, false);
    fclose(stream);
    return text;
}

Test(robust, diagnostics_show_line_caret_note_and_count)
{
    static const char text[] = "component c {\n    param n : int = 1;\n    param n : int = 2;\n}\n";
    struct compilation *c = compile_open(NULL);
    compile_text(c, "x.heddle", text, strlen(text), NULL);
    char *plain = printed(c);
    cr_expect_str_eq(plain, "x.heddle:1:1: error: there is no platform in this file [E0103]\n"
                            "    1 | component c {\n"
                            "      | ^\n"
                            "x.heddle:3:11: error: the name 'n' is declared twice [E0201]\n"
                            "    3 |     param n : int = 2;\n"
                            "      |           ^\n"
                            "x.heddle:2:11: note: first declared here\n"
                            "    2 |     param n : int = 1;\n"
                            "      |           ^\n"
                            "2 errors\n");
    free(plain);
    compile_close(c);
}
