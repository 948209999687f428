/* Descriptions that are right but for one thing: every setting of every component, part and
 * platform with values that do not fit it, and every token of every description put in place of
 * another, left out or joined by an option. Whatever it is, the compiler answers with a model or
 * with an error, and editors get their answers.
 *
 * Settings are tried with some of the values, tokens in some of the ways. HEDDLE_FULL in the
 * environment asks for all. A crash prints what was compiled. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "base/region.h"
#include "dsl/compile.h"
#include "dsl/diagnostic.h"
#include "dsl/language_service.h"
#include "dsl/source.h"
#include "dsl/syntax/token.h"
#include "tests/sanitized.h"

#include "fixtures.h"
#include "parser.h"

/* ---- one case ---- */

/* What is compiled, for the message of a crash. */
static struct {
    const char *name, *text, *set;
    size_t size;
} tried;

static void say(const char *text, size_t size)
{
    if (write(STDERR_FILENO, text, size) < 0)
        return;
}

static void say_what_was_tried(int number)
{
    static const char head[] = "\nthe compiler died of this description: ";
    say(head, sizeof head - 1);
    say(tried.name, strlen(tried.name));
    if (tried.set) {
        say(" --set ", 7);
        say(tried.set, strlen(tried.set));
    }
    say("\n", 1);
    say(tried.text, tried.size);
    signal(number, SIG_DFL);
    raise(number);
}

static void watch(void)
{
    signal(SIGSEGV, say_what_was_tried);
    signal(SIGBUS, say_what_was_tried);
    signal(SIGABRT, say_what_was_tried);
    signal(SIGFPE, say_what_was_tried);
}

static const char *tried_text(void *context, const char *name, size_t *size)
{
    (void)context;
    if (strcmp(name, tried.name) != 0)
        return NULL;
    *size = tried.size;
    return tried.text;
}

static void expect_printable(const struct compilation *c)
{
    static FILE *sink;
    if (!sink)
        sink = fopen("/dev/null", "w");
    compile_print_diagnostics(c, sink, false);
    for (size_t i = 0; i < compile_diagnostic_count(c); i++) {
        const struct compile_diagnostic *d = compile_diagnostic_at(c, i);
        cr_expect(d->message[0] != '\0' && !strstr(d->message, "(null)"), "%s: %s\n%.*s",
                  tried.name, d->message, (int)tried.size, tried.text);
    }
}

/* The number of errors. */
static size_t expect_answer(const char *name, const char *text, const char *const *sets,
                            size_t set_count)
{
    tried.name = name;
    tried.text = text;
    tried.size = strlen(text);
    tried.set = set_count > 0 ? sets[0] : NULL;
    struct compile_options options = {.library_root = fixture_library(),
                                      .max_instances = 4000,
                                      .overrides = sets,
                                      .override_count = set_count,
                                      .open_text = tried_text};
    struct compilation *c = compile_open(&options);
    const struct model *model = compile_check(c, name, NULL);
    size_t errors = compile_error_count(c);
    cr_expect_eq(model != NULL, errors == 0, "%s: no answer\n%s", name, text);
    expect_printable(c);
    compile_close(c);
    return errors;
}

/* What an editor asks with the cursor at a place. */
static void expect_service(const char *name, uint32_t at)
{
    struct compile_options options = {.library_root = fixture_library(), .open_text = tried_text};
    struct service *service = service_open(&options, name);
    struct service_hover hover;
    size_t count;
    const struct service_symbol *symbol = service_symbol_at(service, at, NULL);
    if (symbol)
        service_occurrences(service, symbol, &count);
    service_hover_at(service, at, &hover);
    service_complete(service, at, &count);
    service_outline(service, &count);
    service_close(service);
}

/* ---- settings ---- */

/* One of them fits some parameter of each kind; most do not fit most. */
static const char *const values[] = {
    "-1",
    "0",
    "1",
    "3",
    "100000",
    "9223372036854775807",
    "0 - 9223372036854775807 - 1",
    "1 / 0",
    "3B",
    "1TiB",
    "3Hz",
    "900GHz",
    "0cy",
    "100000cy",
    "0s",
    "9000000s",
    "0B/cy",
    "3B/s",
    "true",
    "\"\"",
    "\"text\"",
    "no_such_name",
    "no.such[3].name",
    "min(1)",
    "x0",
};
#define VALUES ARRAY_COUNT(values)

static char paths[256][512]; /* of descriptions */
static size_t path_count;

static int add_path(const char *path, const struct stat *status, int kind)
{
    (void)status;
    const char *dot = strrchr(path, '.');
    if (kind == FTW_F && dot && strcmp(dot, ".heddle") == 0) {
        cr_assert_lt(path_count, ARRAY_COUNT(paths));
        snprintf(paths[path_count++], sizeof paths[0], "%s", path);
    }
    return 0;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* All descriptions below a folder beside or below the library. */
static void list_paths(const char *folder)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", fixture_library(), folder);
    path_count = 0;
    cr_assert_eq(ftw(path, add_path, 16), 0, "%s", path);
    qsort(paths, path_count, sizeof paths[0], by_text);
    cr_assert_gt(path_count, 0);
}

/* A composite of the library has many instances inside, so only two of it stand in one platform. */
#define INSTANCES_MAX(type) ((type)->is_composite ? 2u : 50u)

/* Instances of one component, each with one wrong setting: in its braces, or by --set. */
static void try_component(const struct model_type *type, const char *file, const char *value,
                          bool by_override)
{
    static char text[65536], sets[64][512];
    const char *set_pointers[64];
    uint32_t done = 0;
    while (done < type->param_count) {
        size_t n = (size_t)snprintf(text, sizeof text,
                                    "import \"%s\";\nplatform p {\n    clock k = 1GHz;\n", file);
        uint32_t made = 0;
        for (; done < type->param_count && made < INSTANCES_MAX(type); done++, made++) {
            const char *param = type->params[done].name;
            n += (size_t)snprintf(text + n, sizeof text - n,
                                  by_override ? "    x%u : %s;\n" : "    x%u : %s { %s = %s; }\n",
                                  made, type->name, param, value);
            snprintf(sets[made], sizeof sets[0], "x%u.%s=%s", made, param, value);
            set_pointers[made] = sets[made];
        }
        snprintf(text + n, sizeof text - n, "}\n");
        expect_answer("one_wrong.heddle", text, set_pointers, by_override ? made : 0);
    }
}

/* A part stands in a component of its own. */
static void try_part(const struct model_type *type, const char *file, const char *value)
{
    static char text[65536];
    size_t n = (size_t)snprintf(text, sizeof text, "import \"%s\";\n", file);
    for (uint32_t i = 0; i < type->param_count; i++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "component c%u { part x : %s { %s = %s; } behaviour \"c.c\"; }\n", i,
                              type->name, type->params[i].name, value);
    n += (size_t)snprintf(text + n, sizeof text - n, "platform p {\n    clock k = 1GHz;\n");
    for (uint32_t i = 0; i < type->param_count; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "    y%u : c%u;\n", i, i);
    snprintf(text + n, sizeof text - n, "}\n");
    expect_answer("one_wrong.heddle", text, NULL, 0);
}

/* Of all values of all types one in so many is tried. */
static size_t step(const struct model_type *type)
{
    return type->is_composite ? tests_amount(1, 61, 499) : tests_amount(1, 23, 97);
}

static void try_types_of(const char *path)
{
    static size_t turn;
    char file[512];
    struct compile_options options = {.library_root = fixture_library()};
    struct compilation *c = compile_open(&options);
    const struct model *model = compile_components(c, path);
    cr_assert_not_null(model, "%s", path);
    snprintf(file, sizeof file, "%.*s", (int)(strlen(path) - strlen(".heddle")), path);
    for (uint32_t i = 0; i < model->type_count; i++) {
        const struct model_type *type = model->types[i];
        if (!type->place.file || strcmp(type->place.file, path) != 0)
            continue;
        for (size_t k = 0; k < VALUES; k++) {
            if (turn++ % step(type) != 0)
                continue;
            if (type->is_part) {
                try_part(type, file, values[k]);
                continue;
            }
            try_component(type, file, values[k], false);
            try_component(type, file, values[k], true);
        }
    }
    compile_close(c);
}

Test(one_wrong, each_setting_of_each_component_and_part_has_an_answer_to_each_value)
{
    watch();
    list_paths(".");
    for (size_t i = 0; i < path_count; i++)
        try_types_of(paths[i]);
}

/* Every parameter of every instance of a platform by --set, as a user tries numbers. */
static void try_platform(const char *path)
{
    const size_t every = tests_amount(2, 107, 499);
    size_t turn = 0;
    static char text[1 << 18];
    char set[600];
    const char *sets[1] = {set};
    struct compile_options options = {.library_root = fixture_library()};
    struct compilation *c = compile_open(&options);
    const struct model *model = compile_platform(c, path, NULL);
    cr_assert_not_null(model, "%s", path);
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    for (uint32_t i = 0; i < model->instance_count; i++) {
        const struct model_instance *instance = model->instances[i];
        for (uint32_t k = 0; instance->element == 0 && k < instance->param_count; k++)
            for (size_t v = 0; v < VALUES; v++) {
                if (turn++ % every != 0)
                    continue;
                snprintf(set, sizeof set, "%s%s%s=%s", instance->path,
                         instance->path[0] != '\0' ? "." : "", instance->params[k].decl->name,
                         values[v]);
                expect_answer(path, text, sets, 1);
            }
    }
    compile_close(c);
}

Test(one_wrong, each_set_of_a_platform_has_an_answer)
{
    watch();
    list_paths("../platforms");
    for (size_t i = 0; i < path_count; i++) {
        bool is_small = strstr(paths[i], "/tiny.") != NULL;
        if (is_small || (tests_are_full() && !strstr(paths[i], "/pod")))
            try_platform(paths[i]);
    }
}

/* The least case that once ended the compiler: a range, and neither a default nor a value in it. */
Test(one_wrong, a_range_without_a_default_is_reported_wherever_the_value_comes_from)
{
    static const char text[] = "component c { param n : int in 1 .. 10; behaviour \"c.c\"; }\n"
                               "platform p { clock k = 1GHz; c : c { n = 100; } }\n";
    static const char unset[] = "component c { param n : int in 1 .. 10; behaviour \"c.c\"; }\n"
                                "platform p { clock k = 1GHz; c : c; }\n";
    static const char *const sets[] = {"c.n=100"};
    watch();
    cr_expect_eq(expect_answer("range.heddle", text, NULL, 0), 1);
    cr_expect_eq(expect_answer("range.heddle", unset, sets, 1), 1);
    cr_expect_eq(expect_answer("range.heddle", unset, NULL, 0), 1);
}

/* ---- tokens ---- */

static const char *const operators[] = {
    "+", "-", "*", "/", "%", "<", ">", "<=", ">=", "==", "!=", "&&", "||", ".", ".."};
static const char *const additions[] = {
    " in 1 .. 2",
    " in 5 .. 1",
    " in true .. 3B",
    " pow2",
    " optional",
    " depth 0",
    " depth true",
    " width 3B",
    " latency 0cy",
    " latency 3",
    " = no_such",
    " via no_such",
    " over no_such",
    " by space no_such",
    " else no_such",
    " at 1",
    " on no_such",
    ", \"text\"",
    " if 3",
    ", interleave 3",
    " { no_such = 1; }",
    "[3]",
    "[*]",
    ".no_such",
    "(3)",
};

/* The words before which an optional part begins. */
static const int optional_words[] = {
    IN, POW2, OPTIONAL, DEPTH, WIDTH, LATENCY, VIA, OVER, BY,  ELSE, EACH, INTERLEAVE, HASHED,
    AT, ON,   IF,       '=',   ':',   ARROW,   ',', '[',  '(', '{',  OF,   TO,         UNTIL};

static bool is_one_of(int kind, const int *kinds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (kinds[i] == kind)
            return true;
    return false;
}

static bool begins_option(int kind)
{
    return is_one_of(kind, optional_words, ARRAY_COUNT(optional_words));
}

static int closing(int kind)
{
    return kind == '(' ? ')' : kind == '[' ? ']' : kind == '{' ? '}' : 0;
}

/* The index behind the optional part that begins at token `i`. */
static uint32_t end_of_option(const struct token_list *list, uint32_t i)
{
    const struct token *tokens = list->tokens.items;
    int close = closing(tokens[i].kind), depth = 0;
    for (uint32_t k = i + 1; k + 1 < list->tokens.count; k++) {
        int kind = tokens[k].kind;
        if (depth == 0 && close != 0 && kind == close)
            return k + 1;
        if (depth == 0 && close == 0
            && (kind == ';' || kind == ')' || kind == ']' || kind == '}' || begins_option(kind)))
            return k;
        depth += closing(kind) != 0;
        depth -= kind == ')' || kind == ']' || kind == '}';
    }
    return list->tokens.count - 1;
}

/* One file and what is done with its tokens: of `every` changes one is tried. */
struct mutation {
    const struct source_file *source;
    struct token_list list;
    unsigned every, counted, tried;
};

/* Compiles the text with `instead` in place of what is between two offsets of the file. */
static void try_change(struct mutation *m, uint32_t begin, uint32_t end, const char *instead)
{
    static char text[1 << 18];
    if (m->counted++ % m->every != 0)
        return;
    const struct source_file *source = m->source;
    int size = snprintf(text, sizeof text, "%.*s%s%s", (int)begin, source->text, instead,
                        source->text + end);
    cr_assert(size > 0 && (size_t)size < sizeof text);
    expect_answer(source->name, text, NULL, 0);
    expect_service(source->name, min(begin, (uint32_t)size));
    m->tried++;
}

static void try_all(struct mutation *m, struct span span, const char *const *with, size_t count)
{
    for (size_t i = 0; i < count; i++)
        try_change(m, span.begin - m->source->base, span.end - m->source->base, with[i]);
}

static void try_token(struct mutation *m, uint32_t i)
{
    const struct token *tokens = m->list.tokens.items, *token = &tokens[i];
    struct span before = {token->span.begin, token->span.begin};
    int kind = token->kind;
    if (kind == NUMBER || kind == STRING)
        try_all(m, token->span, values, VALUES);
    if (kind == WORD) {
        static const char *const words[] = {"no_such", "1", "\"text\"", "none", "true", ""};
        try_all(m, token->span, words, ARRAY_COUNT(words));
    }
    bool is_operator = (kind > 0 && kind < 128 && strchr("+-*/%<>!?", kind)) || kind == EQUAL
                       || kind == UNEQUAL || kind == AT_MOST || kind == AT_LEAST || kind == AND
                       || kind == OR || kind == TO || kind == UNTIL;
    if (is_operator)
        try_all(m, token->span, operators, ARRAY_COUNT(operators));
    if (kind == NUMBER || kind == WORD || kind == '(') {
        static const char *const signs[] = {"-", "!"};
        try_all(m, before, signs, 2);
    }
    if (kind == ';')
        try_all(m, before, additions, ARRAY_COUNT(additions));
    if (begins_option(kind)) {
        uint32_t end = tokens[end_of_option(&m->list, i)].span.begin;
        try_change(m, token->span.begin - m->source->base, end - m->source->base,
                   kind == '{' ? ";" : "");
        try_change(m, token->span.begin - m->source->base, end - m->source->base,
                   kind == '{' ? "{ }" : " ");
    }
    if (token->first_on_line && kind != '}' && kind != 0) { /* all of a statement */
        uint32_t end = i;
        while (tokens[end].kind != 0 && tokens[end].kind != ';' && tokens[end].kind != '{')
            end++;
        if (tokens[end].kind == ';')
            try_change(m, token->span.begin - m->source->base,
                       tokens[end].span.end - m->source->base, "");
    }
}

/* Returns how many changes were tried. `first` makes that the chosen ones differ between files. */
static unsigned mutate(const char *path, unsigned every, unsigned first)
{
    struct region region;
    struct source_set sources;
    struct diagnostics diagnostics;
    const char *reason = "";
    region_init(&region, "a test");
    source_set_init(&sources, &region);
    diagnostics_init(&diagnostics, &region, &sources);
    struct mutation m = {.every = every, .counted = first};
    m.source = source_read(&sources, path, &reason);
    cr_assert_not_null(m.source, "%s: %s", path, reason);
    token_scan(&region, &diagnostics, m.source, false, &m.list);
    for (uint32_t i = 0; i + 1 < m.list.tokens.count; i++)
        try_token(&m, i);
    region_release(&region);
    return m.tried;
}

static void mutate_all(const char *folder, unsigned every)
{
    watch();
    list_paths(folder);
    unsigned sum = 0;
    for (size_t i = 0; i < path_count; i++)
        sum += mutate(paths[i], (unsigned)tests_amount(1, every, every * 9), (unsigned)i * 7);
    cr_expect_gt(sum, 0);
    if (tests_are_full())
        fprintf(stderr, "%s: %u descriptions with one change\n", folder, sum);
}

Test(one_wrong, each_token_of_the_library_in_another_way_has_an_answer)
{
    mutate_all(".", 3989);
}

Test(one_wrong, each_token_of_the_examples_in_another_way_has_an_answer)
{
    mutate_all("../tests/dsl/good", 479);
}

Test(one_wrong, each_token_of_a_platform_in_another_way_has_an_answer)
{
    watch();
    list_paths("../platforms");
    for (size_t i = 0; i < path_count; i++)
        if (strstr(paths[i], "/tiny.")
            || (tests_are_full() && !strstr(paths[i], "/pod") && !strstr(paths[i], "_x8")))
            mutate(paths[i], (unsigned)tests_amount(1, 149, 331), 0);
}
