/* Every diagnostic against its fixtures: exactly the expected diagnostics at exactly the expected
 * places, no cascades; and every code has a fixture that trips it, one that does not, and an
 * explanation. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

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

static bool is_said(const struct compile_diagnostic *d, const char *words)
{
    if (words == NULL || strstr(d->message, words) != NULL)
        return true;
    for (size_t i = 0; i < d->note_count; i++)
        if (strstr(d->notes[i].message, words) != NULL)
            return true;
    return false;
}

Test(fixtures, newcomers_get_the_place_and_the_help)
{
    char name[600];
    snprintf(name, sizeof name, "%s/newcomer.heddle", fixture_root());
    struct compile_options options = {.library_root = fixture_library()};
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        const struct mistake *m = &mistakes[i];
        struct compilation *c = compile_open(&options);
        cr_expect_null(compile_text(c, name, m->text, strlen(m->text), NULL), "%s", m->what);
        cr_assert_geq(compile_diagnostic_count(c), 1, "%s", m->what);
        const struct compile_diagnostic *d = compile_diagnostic_at(c, 0);
        cr_expect_eq(d->place.line, m->line, "%s: line %u", m->what, d->place.line);
        cr_expect_eq(d->place.column, m->column, "%s: column %u", m->what, d->place.column);
        cr_expect(is_said(d, m->says), "%s: %s", m->what, d->message);
        cr_expect(is_said(d, m->helps), "%s: no help in: %s", m->what, d->message);
        compile_close(c);
    }
}
