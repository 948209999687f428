/* The `heddle` command as a user runs it. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "tests/codegen/support.h"

/* What a command line must give: status, and text on standard output or error. */
static const struct {
    const char *line;
    int status;
    const char *output, *errors; /* parts of them; "" for nothing asked */
} cases[] = {
    {"\"$HEDDLE\"", 2, "", "usage: heddle COMMAND"},
    {"\"$HEDDLE\" --help", 0, "build", ""},
    {"\"$HEDDLE\" --version", 0, "heddle 0", ""},
    {"\"$HEDDLE\" help run", 0, "--max-cycles", ""},
    {"\"$HEDDLE\" help nothing", 2, "", "unknown command 'nothing'"},
    {"\"$HEDDLE\" help --markdown", 0, "## heddle disasm", ""},
    {"\"$HEDDLE\" help --man", 0, ".TH HEDDLE 1", ""},
    {"\"$HEDDLE\" chekc x", 2, "", "did you mean 'check'?"},
    {"\"$HEDDLE\" check \"$FIXTURE/weave.heddle\"", 0, "platform weave", ""},
    {"\"$HEDDLE\" check /nowhere.heddle", 1, "", "/nowhere.heddle"},
    {"\"$HEDDLE\" check --json \"$FIXTURE/weave.heddle\"", 0, "[]", ""},
    {"\"$HEDDLE\" check --json \"$FIXTURE/weave.heddle\" --set nothing=1", 1, "\"code\"", ""},
    {"\"$HEDDLE\" check \"$FIXTURE/weave.heddle\" --set lines=0", 1, "", "error"},
    {"\"$HEDDLE\" gen \"$FIXTURE/weave.heddle\"", 2, "", "-o DIR"},
    {"\"$HEDDLE\" build \"$FIXTURE/names.heddle\"", 0, "platform.so", ""},
    {"\"$HEDDLE\" explain", 0, "E0", ""},
    {"\"$HEDDLE\" explain nonsense", 1, "", "no diagnostic or finding 'nonsense'"},
    {"\"$HEDDLE\" explain", 0, "lanes-race  --check races", ""},
    {"\"$HEDDLE\" explain freed-twice", 0, "`heddle run --check leaks`", ""},
    {"\"$HEDDLE\" explain laek", 1, "", "did you mean 'leak'"},
    {"\"$HEDDLE\" dot \"$FIXTURE/weave.heddle\"", 0, "digraph", ""},
    {"\"$HEDDLE\" dot \"$FIXTURE/weave.heddle\" --level far", 2, "", "platform, gpu or full"},
    {"\"$HEDDLE\" dump \"$FIXTURE/weave.heddle\" --json", 0, "\"weave\"", ""},
    {"\"$HEDDLE\" params \"$FIXTURE/weave.heddle\"", 0, "lines", ""},
    {"\"$HEDDLE\" run \"$FIXTURE/weave.heddle\" --threads 2", 0, "", "one thread"},
    {"\"$HEDDLE\" run \"$FIXTURE/weave.heddle\" --mode fast", 2, "",
     "timing, functional or sampled"},
    {"\"$HEDDLE\" run \"$FIXTURE/weave.heddle\" --mode functional", 2, "", "executes a program"},
    {"\"$HEDDLE\" run \"$FIXTURE/weave.heddle\" --tick-order random", 2, "", "random:SEED"},
    {"\"$HEDDLE\" run \"$FIXTURE/weave.heddle\" -- /nowhere/program", 1, "",
     "cannot find the program '/nowhere/program'"},
    {"\"$HEDDLE\" run \"$FIXTURE/weave.heddle\" -- no-such-program-here", 1, "", "on the PATH"},
    {"\"$HEDDLE\" run \"$FIXTURE/weave.heddle\" -- \"$FIXTURE\"", 1, "", "is a folder"},
    {"\"$HEDDLE\" run \"$FIXTURE/weave.heddle\" --", 2, "", "no program after '--'"},
    {"\"$HEDDLE\" run \"$FIXTURE/weave.heddle\" program", 2, "", "the program comes after `--`"},
    {"\"$HEDDLE\" run \"$FIXTURE/weave.heddle\" --stats /nowhere/s.json", 1, "", "/nowhere/s.json"},
    {"\"$HEDDLE\" run \"$FIXTURE/weave.heddle\" -- sh -c 'exit 9'", 9, "", ""},
    {"\"$HEDDLE\" run \"$FIXTURE/weave.heddle\" -- sh -c 'printf \"status 0 4\\n\" "
     ">>$HEDDLE_STATUS; exit 1'",
     4, "", ""},
    {"\"$HEDDLE\" run \"$FIXTURE/weave.heddle\" -- sh -c 'kill -9 $$'", 137, "",
     "ended by signal 9"},
    {"\"$HEDDLE\" run \"$FIXTURE/weave.heddle\" --max-cycles 8 --tick-all -- sh -c 'echo "
     "$HEDDLE_OPTIONS'",
     0, "max-cycles=8;tick-all=1", ""},
    {"\"$HEDDLE\" run \"$FIXTURE/weave.heddle\" -- sh -c 'test -r $HEDDLE_PLATFORM && echo "
     "$LD_LIBRARY_PATH'",
     0, "hip", ""},
    {"\"$HEDDLE\" run \"$FIXTURE/weave.heddle\" --max-cycles 8", 6, "", ""},
    {"\"$HEDDLE\" stats /nowhere.json", 1, "", "cannot read '/nowhere.json'"},
    {"\"$HEDDLE\" stats \"$FIXTURE/weave.heddle\"", 1, "", "weave.heddle' is not JSON"},
    {"echo '7e000280 bf810000' | \"$HEDDLE\" disasm --mcpu gfx803 -", 0, "v_mov_b32", ""},
    {"echo '7e000280' | \"$HEDDLE\" disasm", 1, "", "add --mcpu"},
    {"echo '7e000280' | \"$HEDDLE\" disasm --mcpu gfx999", 1, "", "gfx803 gfx900 gfx906 gfx908"},
    {"printf '7e000280\\n\\n0x00,0x00,0x81,0xbf' | \"$HEDDLE\" disasm --lines --mcpu gfx942", 0,
     "v_mov_b32_e32 v0, 0\n\ns_endpgm\n", ""},
    {"printf 'd3c08000 04020300\\nffffffff\\nno\\nd3d0' | \"$HEDDLE\" disasm --lines --mcpu gfx90a",
     1, "v_mfma_f32_32x32x1f32 a[0:31], v0, v1, a[0:31]\ninvalid: no instruction\ninvalid: not hex",
     "3 of 4 lines are not instructions of gfx90a; the first is line 2"},
    {"printf 'no\\n' | \"$HEDDLE\" disasm --lines", 1, "", "gfx908, gfx90a or gfx942"},
    {"HEDDLE_HOME=/nowhere \"$HEDDLE\" check x", 1, "", "HEDDLE_HOME"},
    {"HEDDLE_CC=no-such-compiler HEDDLE_CACHE=$(mktemp -d) \"$HEDDLE\" build "
     "\"$FIXTURE/weave.heddle\"",
     1, "", "no C compiler"},
};

Test(command, answers_as_expected)
{
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct support_result r = support_run("%s", cases[i].line);
        cr_expect_eq(r.status, cases[i].status, "%s: status %d\n%s%s", cases[i].line, r.status,
                     r.output, r.errors);
        cr_expect(strstr(r.output, cases[i].output), "%s:\n%s", cases[i].line, r.output);
        cr_expect(strstr(r.errors, cases[i].errors), "%s:\n%s", cases[i].line, r.errors);
        if (cases[i].status != 0)
            cr_expect(*r.errors || strstr(cases[i].line, "--json")
                          || strstr(cases[i].line, "sh -c"),
                      "%s fails in silence", cases[i].line);
        support_release(&r);
    }
}

Test(command, a_second_build_compiles_nothing_and_a_changed_parameter_only_its_units)
{
    char *folder = support_folder();
    const char *line = "HEDDLE_CACHE='%s' \"$HEDDLE\" build --verbose \"$FIXTURE/weave.heddle\" %s";
    struct support_result first = support_run(line, folder, ""),
                          second = support_run(line, folder, "");
    struct support_result third = support_run(line, folder, "--set lines=11");
    struct support_result generic = support_run(line, folder, "--generic");
    struct support_result fourth = support_run(line, folder, "--generic --set lines=12");
    cr_expect_eq(first.status, 0, "%s", first.errors);
    cr_expect(strstr(second.errors, "0 compiled, nothing to link"), "%s", second.errors);
    cr_expect(strstr(third.errors, "compiling producer__1"), "%s", third.errors);
    cr_expect_null(strstr(third.errors, "compiling consumer__1"), "%s", third.errors);
    cr_expect(strstr(generic.errors, "compiling producer__generic"), "%s", generic.errors);
    cr_expect(strstr(fourth.errors, "0 compiled, nothing to link"), "%s", fourth.errors);
    support_release(&first);
    support_release(&second);
    support_release(&third);
    support_release(&generic);
    support_release(&fourth);
    support_remove(folder);
}

Test(command, a_changed_source_file_is_compiled_again)
{
    char *folder = support_folder();
    struct support_result copy = support_run("cp -r \"$FIXTURE\" '%s/f'", folder);
    const char *line = "HEDDLE_CACHE='%s/cache' \"$HEDDLE\" build --verbose '%s/f/weave.heddle'";
    struct support_result first = support_run(line, folder, folder);
    struct support_result edit = support_run("echo '/* more */' >> '%s/f/ledger.h'", folder);
    struct support_result second = support_run(line, folder, folder);
    cr_expect_eq(copy.status + edit.status + first.status + second.status, 0, "%s%s", first.errors,
                 second.errors);
    cr_expect(strstr(second.errors, "compiling consumer__1"), "%s", second.errors);
    cr_expect(strstr(second.errors, "compiling auditor__1"), "%s", second.errors);
    cr_expect_null(strstr(second.errors, "compiling producer__1"), "%s", second.errors);
    struct support_result broken =
        support_run("echo 'int x = ;' >> '%s/f/relay.c'; HEDDLE_CACHE='%s/cache' \"$HEDDLE\" build "
                    "'%s/f/weave.heddle'",
                    folder, folder, folder);
    cr_expect_eq(broken.status, 1);
    cr_expect(strstr(broken.errors, "relay.c"), "%s", broken.errors);
    support_release(&copy);
    support_release(&first);
    support_release(&edit);
    support_release(&second);
    support_release(&broken);
    support_remove(folder);
}

Test(command, builds_at_the_same_time_do_not_disturb_each_other)
{
    char *folder = support_folder();
    struct support_result r =
        support_run("export HEDDLE_CACHE='%s'; for i in 1 2 3; do "
                    "\"$HEDDLE\" run \"$FIXTURE/weave.heddle\" & pids=\"$pids $!\"; done; "
                    "for pid in $pids; do wait $pid || bad=1; echo waited; done; test -z \"$bad\"",
                    folder);
    cr_expect_eq(r.status, 0, "%s%s", r.output, r.errors);
    const char *waited = strstr(r.output, "waited\n"); /* for all three, not only the first */
    cr_expect(waited && strstr(waited, "waited\nwaited\nwaited\n"), "%s", r.output);
    support_release(&r);
    support_remove(folder);
}

Test(command, build_writes_into_the_folder_it_is_given)
{
    char *folder = support_folder();
    struct support_result r = support_run(
        "HEDDLE_CACHE='%s/c' \"$HEDDLE\" build \"$FIXTURE/weave.heddle\" -o '%s/out' && "
        "test -s '%s/out/platform.so' && test -s '%s/out/platform.c'",
        folder, folder, folder, folder);
    cr_expect_eq(r.status, 0, "%s%s", r.output, r.errors);
    support_release(&r);
    support_remove(folder);
}

Test(command, fmt_check_tells_and_fmt_changes)
{
    char *folder = support_folder();
    struct support_result r = support_run(
        "cd '%s' && printf 'link  x { bandwidth=1GB/s;latency =1ns ; }\\n' > a.heddle && "
        "\"$HEDDLE\" fmt --check a.heddle; test $? = 1 && \"$HEDDLE\" fmt a.heddle && "
        "\"$HEDDLE\" fmt --check a.heddle",
        folder);
    cr_expect_eq(r.status, 0, "%s%s", r.output, r.errors);
    support_release(&r);
    support_remove(folder);
}

Test(command, stats_shows_one_run_and_the_difference_of_two)
{
    char *folder = support_folder();
    const char *run = "HEDDLE_CACHE='%s/cache' \"$HEDDLE\" run --generic \"$FIXTURE/weave.heddle\" "
                      "%s --stats '%s/%s.json'";
    struct support_result a = support_run(run, folder, "", folder, "a");
    struct support_result b = support_run(run, folder, "--set lines=12", folder, "b");
    cr_assert_eq(a.status + b.status, 0, "%s%s", a.errors, b.errors);
    struct support_result one = support_run("\"$HEDDLE\" stats '%s/a.json'", folder);
    struct support_result two =
        support_run("\"$HEDDLE\" stats '%s/a.json' '%s/b.json' --csv", folder, folder);
    struct support_result same =
        support_run("\"$HEDDLE\" stats '%s/a.json' '%s/a.json'", folder, folder);
    cr_expect(strstr(one.output, "producer[0]"), "%s", one.output);
    cr_expect(strstr(two.output, "a.json,10,10,component,producer[0],"), "%s", two.output);
    cr_expect(strstr(two.output, "b.json,12,12,component,producer[0],"), "%s", two.output);
    cr_expect(strstr(two.output, "file,param:lines,param:producer[*].lines,section,where,"), "%s",
              two.output);
    cr_expect(strstr(same.output, "no setting differs\n"), "%s", same.output);
    cr_expect(strstr(same.output, "no counter differs\n"), "%s", same.output);
    support_release(&a);
    support_release(&b);
    support_release(&one);
    support_release(&two);
    support_release(&same);
    support_remove(folder);
}
