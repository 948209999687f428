#!/usr/bin/env bash
# System tests: what a user runs, judged by what a user sees. run.sh BUILD [full: yes|no] [PATTERN]
#
# Each case is a function named t_*; it fails by returning non-zero, and prints why. Everything is written below
# BUILD/system, nothing elsewhere; the platform cache is BUILD/system/cache.
set -uo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "$1")
full=${2:-no}
pattern=${3:-}
out=$build/system
heddle=$build/codegen/heddle
programs=$build/tests/programs
export HEDDLE_CACHE=$out/cache
rm -rf "$out/work"
mkdir -p "$out/work"

fail() { printf '    %s\n' "$*"; return 1; }

# expect STATUS TEXT... -- COMMAND...: the exit status, and each TEXT (extended regex) in what it prints.
expect() {
    local status=$1 texts=() got
    shift
    while [ "$1" != -- ]; do texts+=("$1"); shift; done
    shift
    "$@" >"$out/work/log" 2>&1 </dev/null
    got=$?
    if [ "$status" = nonzero ] && [ $got = 0 ] || [ "$status" != nonzero ] && [ $got != "$status" ]; then
        tail -n 20 "$out/work/log"
        fail "exit status $got, expected $status: $*"
        return 1
    fi
    local text
    for text in "${texts[@]}"; do
        grep -qE -- "$text" "$out/work/log" || { tail -n 20 "$out/work/log"; fail "no '$text' in the output of: $*"; return 1; }
    done
}

# The file that a program loads, if it loads one; the others take sizes and have defaults.
arguments_of() {
    case $1 in
    module | bad_missing_kernel | bad_truncated) echo "$kernels" ;;
    bad_instruction) echo "$programs/bad_instruction_kernels.hsaco" ;;
    esac
}
run() { "$heddle" run "$@"; }
same() { cmp "$1" "$2" || fail "$1 and $2 differ"; }

good_programs="vectoradd saxpy matmul matmul_tiled transpose reduction histogram stencil module
    atax aes128 atomics bfs bitonic calls convolution copies device_variables divergence doubles dynamic_lds fft fir
    floyd_warshall grids half integers kmeans layers math narrow nbody pipeline scan scratch shuffles spmv streams structs
    alignment clocks devices fences life philox prints radix_sort sha256 threads"
kernels=$programs/module_kernels.hsaco # what module, bad_missing_kernel and bad_truncated load

t_check_platforms() {
    local f
    for f in platforms/*.heddle tests/system/*.heddle tests/system/hang/*.heddle; do
        expect 0 -- "$heddle" check "$f" || return 1
    done
    for f in components/*/*.heddle; do
        expect 0 -- "$heddle" check "$f" || return 1
    done
}

# Who may include whom: docs/architecture.md, "Dependencies".
t_dependencies() {
    local bad
    bad=$(
        grep -nE '#include "(codegen|runtime|components)/' dsl/*.[chly]
        grep -nE '#include "(codegen|components|dsl)/' runtime/*.[ch]
        grep -nE '#include "dsl/' codegen/*.[ch] | grep -vE 'dsl/(model|compile|diagnostic|explain|format|arena)\.h"'
        grep -nE '#include "components/' codegen/*.[ch] | grep -vE 'components/isa/'
        grep -rnE '#include "(codegen|dsl)/' components --include='*.[ch]' | grep -v 'components/driver/hip/.*codegen/options_env.h'
        grep -rnE '#include "[^"]*\.c"' components --include='*.[ch]'
        find platforms -name '*.[ch]'
    )
    [ -z "$bad" ] || fail "$bad"
}

t_formatted() {
    expect 0 -- "$heddle" fmt --check platforms/*.heddle components/*/*.heddle tests/system/*.heddle tests/system/hang/*.heddle
}

# Generated pages are as the tools make them now; pictures depend on the version of Graphviz and are not compared.
t_docs() {
    rm -rf "$out/work/docs"
    docs/generate.sh "$heddle" "$out/work/docs" >"$out/work/log" 2>&1 || { tail "$out/work/log"; return 1; }
    local page
    for page in $(cd "$out/work/docs" && find . -name '*.md'); do
        cmp -s "docs/$page" "$out/work/docs/$page" || { fail "docs/$page is out of date: run docs/generate.sh"; return 1; }
    done
}

t_programs_tiny() {
    local p
    for p in $good_programs; do
        expect 0 '^PASS' -- run platforms/tiny.heddle -- "$programs/$p" $(arguments_of "$p") || return 1
    done
}

t_programs_r9nano() {
    local p
    for p in $good_programs; do
        expect 0 '^PASS' -- run platforms/r9nano.heddle -- "$programs/$p" $(arguments_of "$p") || return 1
    done
}

# Fat binaries: each architecture finds its own code, and computes the same.
t_programs_gfx906() {
    local p
    for p in atomics calls divergence doubles fft half integers math narrow scratch shuffles; do
        expect 0 '^PASS' -- run platforms/tiny.heddle --set gpu.isa=gfx906 -- "$programs/$p" || return 1
    done
}

# The same program under every order of ticks, with every component ticked at every edge, generic and specialised:
# byte-identical statistics.
t_determinism() {
    local p i variant n=0 platform=platforms/tiny.heddle list="vectoradd matmul_tiled histogram"
    [ "$full" = yes ] && platform=platforms/r9nano.heddle list=${good_programs/ threads/}
    # `threads` is left out: the order in which its host threads call is the host's, and nothing orders it yet.
    for p in $list; do
        expect 0 PASS -- run $platform --stats "$out/work/ref.json" --stats-no-host -- "$programs/$p" $(arguments_of "$p") || return 1
        for variant in "" "--tick-order=descending" "--tick-order=random:1" "--tick-order=random:2" "--tick-all" "--generic" \
            "--generic --tick-order=random:3"; do
            # shellcheck disable=SC2086
            expect 0 PASS -- run $platform $variant --stats "$out/work/new.json" --stats-no-host -- "$programs/$p" $(arguments_of "$p") || return 1
            same "$out/work/ref.json" "$out/work/new.json" || { fail "$p with '$variant'"; return 1; }
            n=$((n + 1))
        done
        [ "$full" = yes ] || continue
        for i in 1 2 3 4 5 6 7 8 9 10; do
            expect 0 PASS -- run $platform --stats "$out/work/new.json" --stats-no-host -- "$programs/$p" $(arguments_of "$p") || return 1
            same "$out/work/ref.json" "$out/work/new.json" || return 1
        done
    done
    [ $n -ge 21 ]
}

t_determinism_clang() {
    command -v clang >/dev/null || { fail "clang is missing"; return 1; }
    expect 0 PASS -- run platforms/tiny.heddle --stats "$out/work/gcc.json" --stats-no-host -- "$programs/matmul_tiled" || return 1
    HEDDLE_CC=clang expect 0 PASS -- run platforms/tiny.heddle --stats "$out/work/clang.json" --stats-no-host -- "$programs/matmul_tiled" || return 1
    same "$out/work/gcc.json" "$out/work/clang.json"
}

# Instructions without timing. `prints` is left out: its kernels are over before the host could answer.
t_functional() {
    local p platform
    for platform in tiny r9nano; do
        for p in ${good_programs/ prints/}; do
            expect 0 '^PASS' -- run platforms/$platform.heddle --mode functional -- "$programs/$p" $(arguments_of "$p") || return 1
        done
    done
}

# Kernels as (name, GPU, work-groups, instructions), in order of their names: kernels of several queues may swap.
kernels_of() {
    python3 -c 'import json,sys
d = json.load(open(sys.argv[1]))
assert d["mode"] == sys.argv[2], d["mode"]
print(*sorted((k["name"], k["gpu"], k["work_groups"], k["wavefront_instructions"]) for k in d["kernels"]), sep="\n")' "$1" "$2"
}

# Programs without loops that depend on timing (locks, compare-and-swap) execute the same instructions in both modes; generic
# and specialised builds give the same bytes.
t_functional_counts() {
    local p n=0
    for p in vectoradd matmul_tiled reduction scan scratch calls divergence shuffles module; do
        expect 0 PASS -- run platforms/tiny.heddle --stats "$out/work/timing.json" -- "$programs/$p" $(arguments_of "$p") || return 1
        expect 0 PASS -- run platforms/tiny.heddle --mode functional --stats "$out/work/ref.json" --stats-no-host -- "$programs/$p" $(arguments_of "$p") || return 1
        expect 0 PASS -- run platforms/tiny.heddle --mode functional --generic --stats "$out/work/new.json" --stats-no-host -- "$programs/$p" $(arguments_of "$p") || return 1
        same "$out/work/ref.json" "$out/work/new.json" || { fail "$p"; return 1; }
        kernels_of "$out/work/timing.json" timing >"$out/work/a" && kernels_of "$out/work/ref.json" functional >"$out/work/b" || return 1
        same "$out/work/a" "$out/work/b" || { diff "$out/work/a" "$out/work/b" | head -n 4; fail "$p"; return 1; }
        n=$((n + $(wc -l <"$out/work/a")))
    done
    [ "$n" -ge 9 ]
}

t_functional_faults() {
    expect nonzero 'load of 4 bytes at' 'lane 0' -- run platforms/tiny.heddle --mode timing -- "$programs/bad_oob" || return 1
    cp "$out/work/log" "$out/work/timing.log"
    expect nonzero 'load of 4 bytes at' 'lane 0' -- run platforms/tiny.heddle --mode functional -- "$programs/bad_oob" || return 1
    same "$out/work/timing.log" "$out/work/log" || return 1
    expect 6 'max-cycles' 's_branch|s_cbranch' "kernel '" -- run platforms/tiny.heddle --mode functional --max-cycles 200000 -- "$programs/endless" || return 1
    expect 3 '^PASS' "warning: kernel 'lacks'" -- run platforms/tiny.heddle --mode functional -- "$programs/bad_instruction" "$(arguments_of bad_instruction)" || return 1
    expect 2 'executes a program' -- run tests/system/memtest.heddle --mode functional
}

t_set() {
    expect 0 PASS -- run platforms/r9nano.heddle --set gpu.arrays=2 --set gpu.l2=1MiB --set pcie.bandwidth=16GB/s -- "$programs/vectoradd"
}

t_rebuilds_nothing() {
    expect 0 -- "$heddle" build platforms/tiny.heddle || return 1
    touch "$out/work/stamp"
    sleep 1
    expect 0 -- "$heddle" build platforms/tiny.heddle || return 1
    [ -z "$(find "$HEDDLE_CACHE" -type f -newer "$out/work/stamp" ! -name '*lock*' | head -n 1)" ] || fail "a second build wrote: $(find "$HEDDLE_CACHE" -type f -newer "$out/work/stamp" | head -n 3)"
}

t_memtest() {
    expect 0 -- run tests/system/memtest.heddle
}

t_hang_deadlock() {
    expect nonzero deadlock left right 'waits' -- run tests/system/hang/deadlock.heddle
}

t_hang_livelock() {
    expect nonzero stall spinner -- run tests/system/hang/livelock.heddle --stall-limit 100000
}

t_hang_endless() {
    expect nonzero 'max-cycles' 's_branch|s_cbranch|pc' -- run platforms/tiny.heddle --max-cycles 200000 -- "$programs/endless"
}

t_trace() {
    expect 0 PASS -- run platforms/tiny.heddle --trace "$out/work/trace.json" -- "$programs/vectoradd" || return 1
    python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); e=d["traceEvents"] if isinstance(d,dict) else d; assert len(e)>100' "$out/work/trace.json" 2>/dev/null ||
        { [ -s "$out/work/trace.json" ] || fail "empty trace"; }
}

t_bad_arch() { expect 0 'gfx90a' 'gfx803' 'offload-arch' -- run platforms/tiny.heddle -- "$programs/bad_arch"; }
t_bad_truncated() { expect 0 -- run platforms/tiny.heddle -- "$programs/bad_truncated" "$kernels"; }
t_bad_assert() { expect 3 '^PASS' "Device-side assertion .values\[threadIdx.x\] != 13. failed" "_Z12check_valuesPKi" 'trap 2' -- run platforms/tiny.heddle -- "$programs/bad_assert"; }
t_programs_ring4() {
    local p
    for p in devices threads; do
        expect 0 '^PASS' -- run platforms/ring4.heddle -- "$programs/$p" || return 1
    done
}
t_bad_instruction() { expect 3 '^PASS' "warning: kernel 'lacks' .*s_rfe_b64 .* at 0x[0-9a-f]+" -- run platforms/tiny.heddle -- "$programs/bad_instruction" "$(arguments_of bad_instruction)"; }
t_bad_missing_kernel() { expect 0 -- run platforms/tiny.heddle -- "$programs/bad_missing_kernel" "$kernels"; }
t_bad_block() { expect 0 -- run platforms/tiny.heddle -- "$programs/bad_block"; }
t_bad_lds() { expect 0 -- run platforms/tiny.heddle -- "$programs/bad_lds"; }
t_bad_oom() { expect 0 -- run platforms/tiny.heddle -- "$programs/bad_oom"; }
t_bad_freed() { expect 3 -- run platforms/tiny.heddle -- "$programs/bad_freed"; }
t_bad_hostptr() { expect 3 -- run platforms/tiny.heddle -- "$programs/bad_hostptr"; }
t_bad_oob() { expect nonzero 'kernel' '0x[0-9a-f]+' 'flat_load|global_load' 'work-group' 'lane' -- run platforms/tiny.heddle -- "$programs/bad_oob"; }
t_bad_missing_program() { expect nonzero 'no_such_program' -- run platforms/tiny.heddle -- ./no_such_program; }
t_bad_stats_path() {
    expect nonzero 'no_such_folder' -- run platforms/tiny.heddle --stats /no_such_folder/x.json -- "$programs/vectoradd" || return 1
    mkdir -p "$out/work/ro"
    [ ! -e "$out/work/ro/x.json" ]
}
t_bad_option() { expect 2 'stats' -- run platforms/tiny.heddle --stat x -- "$programs/vectoradd"; }
t_bad_set() { expect 1 'arrays' -- run platforms/tiny.heddle --set gpu.array=2 -- "$programs/vectoradd"; }

# The statistics are the same bytes in another order of ticks and with every component ticked at every edge.
# deterministic PLATFORM PROGRAM: leaves them in work/ref.json.
deterministic() {
    local variant
    expect 0 '^PASS' -- run "$1" --stats "$out/work/ref.json" --stats-no-host -- "$programs/$2" || return 1
    for variant in --tick-order=random:1 --tick-all; do
        expect 0 '^PASS' -- run "$1" "$variant" --stats "$out/work/new.json" --stats-no-host -- "$programs/$2" || return 1
        same "$out/work/ref.json" "$out/work/new.json" || { fail "$1 with $variant"; return 1; }
    done
}

# statistic PATH NAME: its sum over all components of work/ref.json whose path matches.
statistic() {
    "$heddle" stats --csv "$out/work/ref.json" | awk -F, -v path="$1" -v name="$2" '$2 ~ path && $3 == name { n += $4 } END { print n + 0 }'
}

t_example_formatted() {
    expect 0 -- "$heddle" fmt --check docs/examples/*/*.heddle tests/system/newcomer/base/*.heddle
}

# The policy is used: the same program on the same platform, other misses.
t_example_fifo() {
    local policy settings=(--set gpu.l2=8KiB --stats-no-host)
    sed '1i import "fifo/fifo";' platforms/tiny.heddle >"$out/work/fifo_tiny.heddle"
    expect 0 -- run docs/examples/fifo/fifo_test.heddle || return 1
    for policy in lru fifo second_chance; do
        [ $policy = fifo ] && settings+=(--set gpu.l2.replacement=fifo)
        [ $policy = second_chance ] && settings+=(--set gpu.l2.replacement.second_chance=true)
        expect 0 '^PASS' -- run "$out/work/fifo_tiny.heddle" -I docs/examples "${settings[@]}" --stats "$out/work/$policy.json" -- \
            "$programs/matmul_tiled" 128 || return 1
        "$heddle" stats --csv "$out/work/$policy.json" | grep -E 'gpu\.l2\[.*,(hits|misses|evictions),' >"$out/work/$policy.csv"
        [ -s "$out/work/$policy.csv" ] || { fail "no statistics of the L2"; return 1; }
    done
    ! cmp -s "$out/work/lru.csv" "$out/work/fifo.csv" || { fail "fifo does what lru does"; return 1; }
    ! cmp -s "$out/work/fifo.csv" "$out/work/second_chance.csv" || { fail "second_chance changes nothing"; return 1; }
}

# With `acquire = here` the prefetcher does not hear of fences, and the memory tester reads what is too old.
t_example_prefetcher() {
    local memtest=docs/examples/prefetcher/prefetcher_memtest.heddle
    expect 0 -- run docs/examples/prefetcher/prefetcher_test.heddle || return 1
    expect 0 -- run $memtest --set tester.span=16KiB || return 1
    expect 3 'instead of' -- run $memtest --set tester.span=16KiB --set l1.acquire=here || return 1
    deterministic docs/examples/prefetcher/streaming.heddle matmul_tiled || return 1
    [ "$(statistic 'ahead' useful)" -gt 0 ] || fail "no prefetched line was used"
}

t_example_mid_cache() {
    local memtest=docs/examples/mid_cache/mid_cache_memtest.heddle p
    expect 0 -- run $memtest || return 1
    expect 0 -- run $memtest --set tester.seed=2 || return 1
    for p in vectoradd reduction histogram; do
        expect 0 '^PASS' -- run docs/examples/mid_cache/mid_cache.heddle -- "$programs/$p" || return 1
    done
    deterministic docs/examples/mid_cache/mid_cache.heddle matmul_tiled || return 1
    [ "$(statistic 'mid$' hits)" -gt 0 ] || fail "nothing was found in the middle caches"
}

# docs/errors-newcomer.md is what the checker says today about tests/system/newcomer.
t_newcomer() {
    expect 0 -- "$heddle" check tests/system/newcomer/base/tiny.heddle || return 1
    expect 0 -- "$heddle" check tests/system/newcomer/base/array.heddle || return 1
    tests/system/newcomer/document.sh "$heddle" >"$out/work/errors-newcomer.md" || return 1
    [ "$(grep -c '^1 error$' "$out/work/errors-newcomer.md")" = 10 ] || { fail "not exactly one error for each of the ten mistakes"; return 1; }
    diff docs/errors-newcomer.md "$out/work/errors-newcomer.md" >"$out/work/log" || { head -n 20 "$out/work/log"; fail "docs/errors-newcomer.md is not up to date"; }
}

t_guide() {
    tests/system/guide.sh "$heddle" "$out/work/guide" >"$out/work/log" 2>&1 </dev/null || { tail -n 20 "$out/work/log"; fail "a command of docs/guide.md failed"; }
}

passed=0
failed=0
for t in $(declare -F | awk '{print $3}' | grep '^t_'); do
    [[ $t == *"$pattern"* ]] || continue
    begin=$(date +%s)
    if "$t"; then
        passed=$((passed + 1))
        printf 'ok     %-28s %4d s\n' "${t#t_}" $(($(date +%s) - begin))
    else
        failed=$((failed + 1))
        printf 'FAILED %-28s %4d s\n' "${t#t_}" $(($(date +%s) - begin))
    fi
done
printf 'system: %d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
