/* Every diagnostic against its fixtures: exactly the expected diagnostics at exactly the expected
 * places, no cascades; and every code has a fixture that trips it, one that does not, and an
 * explanation. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "dsl/compile.h"

#include "fixtures.h"

static void check_folder(const char *folder, bool clean)
{
    const char **names;
    size_t count = fixture_list(folder, &names);
    cr_assert(count > 40, "%s has %zu fixtures", folder, count);
    for (size_t i = 0; i < count; i++) {
        static struct fixture fixture;
        fixture_read(&fixture, names[i]);
        struct compilation *c = fixture_compile(&fixture);
        cr_expect_eq(fixture.expected_count == 0, clean, "%s", names[i]);
        cr_expect(fixture_matches(&fixture, c), "%s", names[i]);
        compile_close(c);
    }
}

Test(fixtures, bad_ones_give_exactly_what_they_expect)
{
    check_folder("bad", false);
}

Test(fixtures, good_ones_give_nothing)
{
    check_folder("good", true);
}

/* The lines of `text` without the folder of the fixtures, to `to`. */
static void write_without_folder(FILE *to, const char *text)
{
    const char *root = fixture_root();
    for (const char *found; (found = strstr(text, root)); text = found + strlen(root) + 1)
        fwrite(text, 1, (size_t)(found - text), to);
    fputs(text, to);
}

/* Everything that is printed of the bad fixtures, in the order of their names; the caller frees
 * it. */
static char *print_bad(void)
{
    const char **names;
    char *all = NULL;
    size_t size = 0, count = fixture_list("bad", &names);
    FILE *to = open_memstream(&all, &size);
    for (size_t i = 0; i < count; i++) {
        static struct fixture fixture;
        fixture_read(&fixture, names[i]);
        struct compilation *c = fixture_compile(&fixture);
        char *text = NULL;
        FILE *memory = open_memstream(&text, &size);
        compile_print_diagnostics(c, memory, false);
        fclose(memory);
        fprintf(to, "== %s\n", strrchr(names[i], '/') + 1);
        write_without_folder(to, text);
        fputc('\n', to);
        free(text);
        compile_close(c);
    }
    fclose(to);
    return all;
}

/* tests/dsl/bad.txt has the words of all messages, notes and helps. UPDATE_GOLDEN=1 writes it. */
Test(fixtures, bad_ones_are_told_in_the_words_of_the_golden_copy)
{
    char path[400], *now = print_bad();
    static char before[1 << 20];
    snprintf(path, sizeof path, "%s/bad.txt", fixture_root());
    FILE *file = fopen(path, getenv("UPDATE_GOLDEN") ? "w+" : "r");
    cr_assert_not_null(file, "cannot open %s", path);
    if (getenv("UPDATE_GOLDEN")) {
        fputs(now, file);
        rewind(file);
    }
    before[fread(before, 1, sizeof before - 1, file)] = '\0';
    fclose(file);
    size_t same = 0;
    while (now[same] && now[same] == before[same])
        same++;
    while (same > 0 && now[same - 1] != '\n')
        same--;
    cr_expect_str_eq(now, before, "bad.txt has other words; there are now:\n%.2000s", now + same);
    free(now);
}

static bool has_fixture(const char *folder, const char *code)
{
    const char **names;
    size_t count = fixture_list(folder, &names);
    for (size_t i = 0; i < count; i++)
        if (strncmp(strrchr(names[i], '/') + 1, code, 5) == 0)
            return true;
    return false;
}

Test(fixtures, every_code_has_both_fixtures_and_an_explanation)
{
    for (size_t i = 0; i < compile_explanation_count(); i++) {
        const struct compile_explanation *e = compile_explanation_at(i);
        cr_expect(has_fixture("bad", e->code), "%s has no bad fixture", e->code);
        cr_expect(has_fixture("good", e->code), "%s has no good fixture", e->code);
        cr_expect(strlen(e->summary) > 10 && strlen(e->text) > 100, "%s is not explained", e->code);
        cr_expect_not_null(strstr(e->text, "Wrong:"), "%s has no wrong example", e->code);
        cr_expect_not_null(strstr(e->text, "Right:"), "%s has no right example", e->code);
        cr_expect_eq(e->severity, e->code[0] == 'E' ? COMPILE_ERROR : COMPILE_WARNING);
        cr_expect_eq(compile_explain(e->code), e);
        cr_expect_eq(compile_explain(e->name), e);
    }
    cr_expect_null(compile_explain("E9999"));
}

/* Mistakes a newcomer makes: the text, where it is reported, and what must be in the message or its
 * notes. */
struct mistake {
    const char *what;
    const char *text;
    unsigned line, column;
    const char *says, *helps;
};

#define PARTS "import \"lib/parts\";\nplatform p {\nclock core = 1GHz;\n"

#define COHERENCE "import \"lib/coherence\";\n"
#define MACHINE                                                                                    \
    "component machine {\nboss : boss;  worker : worker;  copier : copier;  memory : memory;\n"    \
    "near : keep { write = back; };\nspace all : memory, each 1MiB;\n"                             \
    "boss.work[0] -> worker.work;\nboss.far[0] -> near.control;\nworker.mem -> near.top;\n"        \
    "near.bottom, copier.mem -> memory.top via net = crossbar by space all;\n}\n"

static const struct mistake mistakes[] = {
    {"typo in a parameter", PARTS "a : requester { rat = 2; };\nm : memory;\na.mem -> m.top;\n}\n",
     4, 17, "has no parameter 'rat'", "did you mean 'rate'?"},
    {"port left open", PARTS "a : requester;\nm : memory;\nb : requester;\na.mem -> m.top;\n}\n", 6,
     1, "'mem' of 'b' is not connected", "connect it"},
    {"a port of another name", PARTS "a : requester;\nm : memory;\na.data -> m.top;\n}\n", 6, 3,
     "'requester' has no port or instance called 'data'", "its ports are mem"},
    {"swapped directions", PARTS "a : requester;\nm : memory;\nm.top -> a.mem;\n}\n", 6, 1,
     "right of '->'", "a.mem -> m.top"},
    {"4 sources to 16 sinks",
     PARTS "a[4] : requester;\nm[16] : memory;\na[*].mem -> m[*].top;\n}\n", 6, 1,
     "4 ports on the left, 16 on the right", "via NAME = crossbar"},
    {"missing unit", PARTS "a : requester;\nm : memory { latency = 4; };\na.mem -> m.top;\n}\n", 5,
     24, "expected cycles", "4cy"},
    {"missing semicolon", PARTS "a : requester\nm : memory;\na.mem -> m.top;\n}\n", 4, 14,
     "expected ';'", NULL},
    {"unbalanced brace", PARTS "a : requester;\nif 1 == 1 {\nm : memory;\n", 5, 11, "never closed",
     "'}'"},
    {"unknown import", "import \"std/cahce\";\nplatform p { }\n", 1, 8, "cannot find", "std/cache"},
    {"duplicate name", PARTS "a : requester;\nm : memory;\na : memory;\na.mem -> m.top;\n}\n", 6, 1,
     "'a' is declared twice", "first declared here"},
    {"overlapping addresses",
     PARTS "a[2] : requester;\nm[2] : memory;\na[*].mem -> m[*].top;\nspace s : m[0], each 1MiB;\n"
           "space t : m[1], each 1MiB;\nmap s at 0x0;\nmap t at 0x1000;\n}\n",
     10, 5, "overlaps", "is mapped here"},
    {"memory on no map",
     COHERENCE MACHINE "platform p {\nclock core = 1GHz;\nmachine : machine;\n}\n", 4, 1,
     "'machine.near' keeps written lines", "add 'map machine.all;'"},
    {"memory of one of two machines on no map",
     COHERENCE MACHINE "platform p {\nclock core = 1GHz;\nmachine[2] : machine;\n"
                       "map machine[0].all;\n}\n",
     4, 1, "'machine[1].near' keeps written lines", "add 'map machine[1].all;'"},
    {"fences to one of two banks",
     COHERENCE "platform p {\nclock core = 1GHz;\nboss : boss;\nworker[2] : worker;\n"
               "upper[2] : wide { to_all = false; passes = true; scope = far; };\nbank[4] : keep;\n"
               "memory[2] : memory;\nspace all : memory[*], each 1MiB, interleave 128B;\n"
               "boss.work[*] -> worker[*].work;\n"
               "boss.near[*] -> upper[*].control, bank[*].control;\n"
               "worker[*].mem -> upper[*].top;\n"
               "upper[0].bottom -> bank[0 .. 1].top via one = crossbar by space all;\n"
               "upper[1].bottom -> bank[2 .. 3].top via two = crossbar by space all;\n"
               "bank[*].bottom -> memory[*].top via net = crossbar by space all;\nmap all;\n}\n",
     7, 1, "behind fences", "'upper[0]' sends one to each output with 'to_all'"},
};

/* What interconnects in loops, parts in parts and slots in slots cannot do, in the order of the
 * language reference. */
#define PAIRS PARTS "a[2] : requester;\nm[2] : memory;\n"
#define NESTED                                                                                     \
    "import \"lib/parts\";\ninterface inner;\npart leaf : inner { param k : int = 1; }\n"          \
    "part wrap : policy { slot inner : inner; }\npart chain : policy { slot next : policy "        \
    "optional = none; }\n"
#define WITH(policy)                                                                               \
    NESTED "platform p {\nclock core = 1GHz;\na : requester;\nm : memory { policy = " policy       \
           "; };\na.mem -> m.top;\n}\n"

static const struct mistake nested[] = {
    {"an interconnect that a loop makes twice",
     PAIRS "for i in 0 ..< 2 {\na[i].mem -> m[*].top via x = crossbar;\n}\n}\n", 7, 26,
     "the 'for' makes 'x' more than once", "make it before the loop: 'via x' inside adds sources"},
    {"an interconnect with an index",
     PAIRS
     "for i in 0 ..< 2 {\na[i].mem -> m[i].top via x[i] = crossbar { latency = 3cy; };\n}\n}\n",
     7, 27, "an interconnect has a name and no index", "an array of a component"},
    {"via an array of instances",
     PAIRS "x[2] : crossbar;\nfor i in 0 ..< 2 {\na[i].mem -> m[i].top via x[i];\n}\n}\n", 8, 26,
     "no link or interconnect is called 'x'", "connect their ports, as in '-> x[0].from[*];'"},
    {"other targets in a loop",
     PAIRS "a[0].mem -> m[0].top via x = crossbar;\nfor i in 1 ..< 2 {\n"
           "a[i].mem -> m[i].top via x;\n}\n}\n",
     8, 13, "'x' has other targets already", "later connections add sources only"},
    {"an instance in a loop",
     PAIRS "a[*].mem -> m[*].top;\nfor i in 0 ..< 2 {\nx : memory;\n}\n}\n", 8, 1,
     "an instance cannot stand in a 'for'", "'x[n] : memory;', and connect 'x[i]'"},
    {"a port in a part", NESTED "part odd : policy { in top : work; }\nplatform p { }\n", 6, 24,
     "a port cannot stand in a part", "its owner speaks for it"},
    {"a loop in a part",
     NESTED "part odd : policy { for i in 0 .. 1 { part l : leaf; } }\nplatform p { }\n", 6, 25,
     "a 'for' cannot stand in a part", "'part NAME[n] : PART;'"},
    {"an interface owned as a part",
     NESTED "part odd : policy { part p : inner; }\nplatform p { }\n", 6, 30,
     "no part is called 'inner'", "'slot NAME : inner;'"},
    {"a part of a composite",
     NESTED "component c { part p : leaf; m : memory; }\nplatform p {\nc : c;\n}\n", 6, 20,
     "a part cannot stand in a component that is made of other components", "is handed down"},
    {"a slot in an 'if'",
     NESTED "component c { if true { slot s : policy; } m : memory; }\nplatform p {\nc : c;\n}\n",
     6, 30, "a slot cannot stand in an 'if'", "declare it at the top of the body"},
    {"an array of slots", NESTED "component c { slot s[2] : policy; m : memory; }\n", 6, 21,
     "a slot takes one part", "'part NAME[n] : PART;'"},
    {"a slot in a slot left open", WITH("wrap"), 9, 23, "slot 'inner' of 'wrap' is not filled",
     "'{ inner = PART; }'"},
    {"a slot in a slot left empty", WITH("wrap { inner = none; }"), 9, 38,
     "the slot 'inner' is not optional", "only 'slot NAME : INTERFACE optional' may stay empty"},
    {"a part of another interface in a slot in a slot", WITH("wrap { inner = newest; }"), 9, 38,
     "'newest' does not fit the slot 'inner'", "'part NAME : inner'"},
    {"a part in itself", WITH("chain { next = chain; }"), 9, 38, "part 'chain' contains itself",
     "parts of other types"},
    {"a slot handed down with braces",
     NESTED "component c { slot s : policy = newest; in t : mem(64B); t -> m.top; "
            "m : memory { policy = s { age = 2; }; }; }\n"
            "platform p {\nclock core = 1GHz;\nc : c;\n}\n",
     6, 92, "no part is called 's'", "hand it down as it is, 'policy = s;'"},
    {"a part of another component", WITH("wrap { inner = a.leaf; }"), 9, 38,
     "a part cannot be shared by several components", "components speak through ports"},
};

/* Mistakes that must not be said a second time by what follows from them. */
static const struct mistake single[] = {
    {"two letters of four in a parameter",
     PARTS "a : requester { rait = 2; };\nm : memory;\na.mem -> m.top;\n}\n", 4, 17,
     "has no parameter 'rait'", "did you mean 'rate'?"},
    {"an interconnect in a loop, which connections name",
     PAIRS "for i in 0 ..< 2 {\nx : crossbar;\na[i].mem -> m[i].top via x;\n}\n}\n", 7, 1,
     "an instance cannot stand in a 'for'", "'x[n] : crossbar;', and connect 'x[i]'"},
    {"an instance in a loop that connections name",
     PAIRS "for i in 0 ..< 2 {\nx : memory;\na[i].mem -> x.top;\n}\n}\n", 7, 1,
     "an instance cannot stand in a 'for'", "'x[n] : memory;', and connect 'x[i]'"},
    {"an instance in a part", NESTED "part odd : policy { m : memory; }\nplatform p { }\n", 6, 21,
     "an instance cannot stand in a part", "'part m : PART;'"},
};

static bool is_said(const struct compile_diagnostic *d, const char *words)
{
    if (!words || strstr(d->message, words))
        return true;
    for (size_t i = 0; i < d->note_count; i++)
        if (strstr(d->notes[i].message, words))
            return true;
    return false;
}

static void check_mistakes(const struct mistake *all, size_t count, size_t most)
{
    char name[600];
    snprintf(name, sizeof name, "%s/newcomer.heddle", fixture_root());
    struct compile_options options = {.library_root = fixture_library()};
    for (size_t i = 0; i < count; i++) {
        const struct mistake *m = &all[i];
        struct compilation *c = compile_open(&options);
        cr_expect_null(compile_text(c, name, m->text, strlen(m->text), NULL), "%s", m->what);
        cr_assert_geq(compile_diagnostic_count(c), 1, "%s", m->what);
        cr_expect_leq(compile_diagnostic_count(c), most, "%s", m->what);
        const struct compile_diagnostic *d = compile_diagnostic_at(c, 0);
        cr_expect_eq(d->place.line, m->line, "%s: line %u", m->what, d->place.line);
        cr_expect_eq(d->place.column, m->column, "%s: column %u", m->what, d->place.column);
        cr_expect(is_said(d, m->says), "%s: %s", m->what, d->message);
        cr_expect(is_said(d, m->helps), "%s: no help in: %s", m->what, d->message);
        compile_close(c);
    }
}

Test(fixtures, newcomers_get_the_place_and_the_help)
{
    check_mistakes(mistakes, ARRAY_COUNT(mistakes), SIZE_MAX);
}

Test(fixtures, what_cannot_nest_is_named_with_what_can)
{
    check_mistakes(nested, ARRAY_COUNT(nested), SIZE_MAX);
}

Test(fixtures, nothing_follows_from_a_mistake_that_is_said)
{
    check_mistakes(single, ARRAY_COUNT(single), 1);
}
