#!/usr/bin/env bash
# Mutation tests: are the tests able to fail? run.sh BUILD [--document FILE | --sample] [NAME...]
#
# Each NAME.mutation beside this script is one bug: a comment that says what it breaks, and edits of
# the form
#
#   file PATH
#   <<<<
#   text that stands in the file exactly once
#   ====
#   what stands there instead
#   >>>>
#
# The sources are copied to BUILD/mutation, where each bug in turn is put in and the tests run until
# one fails: unit tests of the folder it is in, all unit tests, the random memory tester, system
# tests (without the hashes of results.txt: a test must know what is right). The copy without a bug
# must pass them all first. A bug that nothing catches, that no longer applies, or that does not
# compile, is a failure of this script. The HIP programs are those of BUILD. --document writes the
# table of bugs and the tests that caught them; what earlier runs in this build folder found of bugs
# that are not named counts, too. --sample takes three bugs of the runtime, builds and runs the unit
# tests of their files only.
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath "$1")
shift
document=
sample=no
[ "${1:-}" = --document ] && { document=$2; shift 2; }
if [ "${1:-}" = --sample ]; then
    sample=yes
    sampled=(clock ring checkpoint) # tests of the runtime for these:
    set -- clock-rounding ring-lost-credit checkpoint-arrivals
fi
work=$build/mutation
pristine=$work/pristine # the checkout as it was when we began
source=$work/source
mutant=$work/build
here=$root/tests/mutation
. "$here/apply.sh"
jobs=${HEDDLE_JOBS:-$(nproc)}
export HEDDLE_CFLAGS=-O1 # of platforms: compiling costs more than running here
# Files of system tests that a bug is shown to when no unit test sees it, the likely ones first.
system_tests=(memtest peers sampling checkpoint user_queues report streams copies results api_traces
    played_states profile packets migration determinism functional faults hang examples traces
    programs fabric sass sass_sampling opencl recordings lsp completion ranks sweep threads)
timeout=${HEDDLE_MUTATION_TIMEOUT:-1200} # seconds of a file; one that does not end has caught it

die() { printf 'mutation: %s\n' "$*" >&2; exit 1; }

what_of() { sed -n '1s/^# *//p' "$1"; }

# restore FILE...: without the bug, newer than everything that was built from it.
restore() {
    local file
    for file in "$@"; do
        cp "$pristine/$file" "$source/$file"
    done
}

prepare() {
    local file
    rm -rf "$pristine" "$source"
    mkdir -p "$pristine"
    for file in dsl codegen runtime components platforms python docs tests meson.build \
        meson_options.txt; do
        cp -a "$root/$file" "$pristine"
    done
    cp -a "$pristine" "$source"
    # What an interrupted run may have left in the build.
    for file in $(sed -n 's/^file //p' "$here"/*.mutation | sort -u); do
        touch "$source/$file"
    done
    [ -f "$mutant/build.ninja" ] ||
        meson setup "$mutant" "$source" -Dprograms=false -Doptimization=0 -Ddebug=false \
            >"$work/log" 2>&1 || { tail -n 20 "$work/log"; die "meson failed"; }
    compile || { tail -n 20 "$work/log"; die "the sources do not compile"; }
    mkdir -p "$mutant/tests/programs"
    for folder in cdna micro; do
        ln -sfn "$build/tests/programs/$folder" "$mutant/tests/programs/$folder"
    done
    for file in "$build"/tests/programs/*; do
        [ -f "$file" ] && ln -sf "$file" "$mutant/tests/programs/"
    done
}

compile() {
    local targets=()
    if [ $sample = yes ]; then
        targets=("${sampled[@]/#/tests/runtime/test_}")
    fi
    ninja -C "$mutant" -j"$jobs" ${targets[@]+"${targets[@]}"} >"$work/log" 2>&1
}

# units ARGUMENTS...: the unit tests that meson chooses by them. On failure `caught` names the
# first.
units() {
    local name
    timeout "$timeout" meson test -C "$mutant" --no-rebuild --num-processes "$jobs" --maxfail 1 \
        "$@" >"$work/log" 2>&1 && return 0
    # The report of the test that failed, whatever others stood beside it.
    name=$(sed -nE 's#^ *[0-9]+/[0-9]+ heddle:[a-z+]* */ *(.*[^ ])  *(FAIL|TIMEOUT|ERROR).*#\1#p' \
        "$work/log" | head -n 1)
    caught="${name:-unit tests}$(python3 - "$mutant/meson-logs/testlog.json" "$name" <<'END'
import json, re, sys
for line in open(sys.argv[1]):
    test = json.loads(line)
    if sys.argv[2] and test["name"].endswith(sys.argv[2]):
        failed = re.findall(r"^not ok - (\S+)", test.get("stdout", ""), re.M)
        print("".join(": " + m for m in failed[:1]))
END
)"
    return 1
}

# system FILE: the system tests of tests/system/test_FILE.py. On failure `caught` names the first.
system() {
    local name
    HEDDLE_BUILD=$mutant HEDDLE_TEST_SECONDS=120 timeout "$timeout" \
        /usr/bin/python3 -m pytest -q -x -n "$jobs" --no-hashes \
        "$source/tests/system/test_$1.py" >"$work/log" 2>&1 && return 0
    name=$(sed -n 's/^FAILED .*test_[a-z_]*\.py::\([^ ]*\).*/\1/p' "$work/log" | head -n 1)
    caught="system test ${name:-$1, which did not end}"
    return 1
}

# The unit tests nearest to a file.
suite_of() {
    case $1 in
    runtime/*) echo runtime ;;
    components/amd/isa/*) echo isa ;;
    components/hip/*) echo hip ;;
    dsl/*) echo dsl ;;
    *) echo components ;;
    esac
}

# run_tests SUITE: 0 when all pass; 1 with `caught` set.
run_tests() {
    local file
    if [ $sample = yes ]; then
        units "${sampled[@]/#/runtime }"
        return
    fi
    units --suite "$1" --no-suite platform || return 1
    units --no-suite bench --no-suite platform --no-suite dsl --no-suite codegen --no-suite views ||
        return 1
    units "random memory tester" || return 1
    for file in "${system_tests[@]}"; do
        system "$file" || return 1
    done
}

# show NAME: one bug; prints its line.
show() {
    local mutation=$here/$1.mutation files caught=''
    rm -f "$work/results/$1"
    [ -f "$mutation" ] || { printf '%-26s there is no such bug\n' "$1"; return 1; }
    if ! files=$(apply "$mutation" "$source"); then
        # shellcheck disable=SC2046
        restore $(sed -n 's/^file //p' "$mutation")
        printf '%-26s DOES NOT APPLY\n' "$1"
        return 1
    fi
    # shellcheck disable=SC2086
    if ! compile; then
        restore $files
        grep -m 3 'error:' "$work/log"
        printf '%-26s DOES NOT COMPILE\n' "$1"
        return 1
    fi
    # shellcheck disable=SC2046
    run_tests "$(suite_of $(echo "$files" | head -n 1))"
    # shellcheck disable=SC2086
    restore $files
    [ -n "$caught" ] || { printf '%-26s SURVIVED\n' "$1"; return 1; }
    printf '%-26s caught by %s\n' "$1" "$caught"
    printf '| %s | %s | %s |\n' "$1" "$(what_of "$mutation")" "$caught" >"$work/results/$1"
}

write_document() {
    local mutation rows=()
    for mutation in "$here"/*.mutation; do
        rows+=("$work/results/$(basename "$mutation" .mutation)")
        [ -f "${rows[-1]}" ] ||
            die "there is no result of $(basename "$mutation" .mutation) yet: run without names"
    done
    {
        printf '# Seeded bugs\n\n'
        printf 'Does a test fail when the sources are wrong? Each bug was put into a copy of the '
        printf 'sources, one at a\ntime; the last column is the first test that failed. '
        printf 'Unit tests run before system cases.\n\n'
        printf '```sh\ntests/mutation/run.sh BUILD --document docs/evidence/mutations.md\n```\n\n'
        printf '`./dev test mutations --full` repeats it.\n\n'
        printf '| bug | what it breaks | caught by |\n| --- | --- | --- |\n'
        cat "${rows[@]}"
        printf '\n%s bugs, all caught; the sources without them pass the same tests.\n' ${#rows[@]}
    } >"$document.tmp"
    mv "$document.tmp" "$document"
}

[ -d "$build/tests/programs" ] || die "'$build' is not a build folder with HIP programs"
names=("$@")
if [ ${#names[@]} = 0 ]; then
    for file in "$here"/*.mutation; do
        names+=("$(basename "$file" .mutation)")
    done
fi
mkdir -p "$work/results"
begin=$(date +%s)
prepare
caught=''
if [ "${HEDDLE_MUTATION_TRUST:-no}" = no ]; then
    run_tests runtime || { tail -n 30 "$work/log"; die "the tests fail without any bug: $caught"; }
    printf 'without a bug all tests pass (%d s)\n' $(($(date +%s) - begin))
fi
failed=0
for name in "${names[@]}"; do
    show "$name" || failed=$((failed + 1))
done
printf 'mutation: %d bugs, %d caught, %d not (%d s)\n' ${#names[@]} $((${#names[@]} - failed)) \
    "$failed" $(($(date +%s) - begin))
[ "$failed" = 0 ] || exit 1
[ -z "$document" ] || write_document
