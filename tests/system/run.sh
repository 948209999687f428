#!/usr/bin/env bash
# System tests: what a user runs, judged by what a user sees. run.sh BUILD [full: yes|no] [PATTERN]
#
# Each case is a function named t_*; it fails by returning non-zero, and prints why. As many run at a time as there are
# processors (HEDDLE_JOBS), each on its own: nothing that one leaves behind is there for another but the platform cache,
# BUILD/system/cache. Everything is written below BUILD/system, nothing elsewhere; $out is the folder of one runner there.
set -uo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "$1")
full=${2:-no}
pattern=${3:-}
system=$build/system
out=$system/1
heddle=$build/codegen/heddle
programs=$build/tests/programs
export HEDDLE_CACHE=$system/cache

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
    chase floyd_warshall grids half integers kmeans layers math matmul_chain narrow nbody network pipeline scan scratch shuffles spmv streams structs
    alignment clocks devices peers spread fences life philox prints radix_sort sha256 threads host_threads managed occupancy overlap dct8x8 ocean interleave"
gpus_programs="peer_ring allreduce halo matmul_gpus gpu_threads queues managed_pingpong managed_both managed_reads" # for as many GPUs as there are
kernels=$programs/module_kernels.hsaco # what module, bad_missing_kernel and bad_truncated load

t_check_platforms() {
    local f
    for f in platforms/*.heddle tests/system/*.heddle tests/system/hang/*.heddle; do
        expect 0 -- "$heddle" check "$f" || return 1
    done
    for f in components/*/*/*.heddle; do
        expect 0 -- "$heddle" check "$f" || return 1
    done
}

# Who may include whom: docs/design/rooms.md.
t_dependencies() {
    local bad
    bad=$(
        grep -nE '#include "(codegen|runtime|components)/' dsl/*.[chly]
        grep -nE '#include "(codegen|components|dsl)/' runtime/*.[ch]
        grep -nE '#include "dsl/' codegen/*.[ch] | grep -vE 'dsl/(model|compile|diagnostic|explain|format|arena)\.h"'
        grep -nE '#include "components/' codegen/*.[ch] | grep -vE 'components/(isa|sass_trace|api_trace)/'
        grep -rnE '#include "(codegen|dsl)/' components --include='*.[ch]'
        grep -rnE '#include "[^"]*\.c"' components --include='*.[ch]'
        find platforms -name '*.[ch]'
    )
    [ -z "$bad" ] || fail "$bad"
}

t_formatted() {
    expect 0 -- "$heddle" fmt --check platforms/*.heddle components/*/*/*.heddle tests/system/*.heddle tests/system/hang/*.heddle
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
    [ "$full" = yes ] && platform=platforms/r9nano.heddle list=$good_programs
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

# Programs with several host threads do not depend on when the host runs which thread: on one processor, on all, and with
# others that take the processors away.
t_host_threads() {
    local p i burners platform=platforms/tiny.heddle times="1 2"
    [ "$full" = yes ] && platform=platforms/r9nano.heddle times="1 2 3 4 5 6 7 8 9 10"
    for p in threads host_threads managed; do
        expect 0 '^PASS' -- run $platform --stats "$out/work/ref.json" --stats-no-host -- "$programs/$p" || return 1
        for i in $times; do
            expect 0 '^PASS' -- run $platform --stats "$out/work/new.json" --stats-no-host -- "$programs/$p" || return 1
            same "$out/work/ref.json" "$out/work/new.json" || { fail "$p, run $i"; return 1; }
            expect 0 '^PASS' -- taskset -c 0 "$heddle" run $platform --stats "$out/work/new.json" --stats-no-host -- "$programs/$p" || return 1
            same "$out/work/ref.json" "$out/work/new.json" || { fail "$p, run $i on one processor"; return 1; }
        done
        burners=()
        for i in 1 2 3 4; do
            timeout 120 sh -c 'while :; do :; done' &
            burners+=($!)
        done
        for i in $times; do
            run $platform --stats "$out/work/new.json" --stats-no-host -- "$programs/$p" >"$out/work/log" 2>&1 || break
            cmp -s "$out/work/ref.json" "$out/work/new.json" || break
            [ "$i" != "${times##* }" ] || i=good
        done
        kill "${burners[@]}" 2>/dev/null
        wait "${burners[@]}" 2>/dev/null
        [ "$i" = good ] || { tail "$out/work/log"; fail "$p differs under load"; return 1; }
    done
}

# same_by_threads TRACE PLATFORM ARGUMENTS...: 2 and 4 threads write the bytes that one writes, in step with each other or not.
same_by_threads() {
    local traced=$1 n delays trace=()
    shift
    for n in 1 2 4; do
        [ "$traced" = yes ] && trace=(--record perfetto="$out/work/trace-$n.json")
        for delays in "" 7; do
            [ "$n$delays" = 17 ] && continue
            HEDDLE_THREAD_DELAYS=$delays expect 0 -- run "${@:1:1}" --threads $n "${trace[@]}" --stats "$out/work/threads-$n.json" \
                --stats-no-host "${@:2}" || return 1
            same "$out/work/threads-1.json" "$out/work/threads-$n.json" || { fail "$* with $n threads"; return 1; }
            [ "$traced" = no ] || same "$out/work/trace-1.json" "$out/work/trace-$n.json" || { fail "trace of $* with $n threads"; return 1; }
        done
    done
}

# Command queues, by the driver's own interface: who drains them, in which order, and what happens when there are too many.
t_driver_queues() {
    expect 0 '^PASS' -- run platforms/tiny.heddle -- "$programs/driver_queues" || return 1
    expect 0 '^PASS' -- run platforms/tiny.heddle --set driver.commands=8 -- "$programs/driver_queues" small
}

# Which commands of different streams run side by side, and that it does not depend on how the run is made.
t_stream_rules() {
    local variant
    expect 0 '^PASS' -- run platforms/tiny.heddle --stats "$out/work/ref.json" --stats-no-host -- "$programs/stream_rules" || return 1
    for variant in "--tick-order=descending" "--tick-order=random:1 --tick-all" "--generic" "--threads=2"; do
        # shellcheck disable=SC2086
        expect 0 '^PASS' -- run platforms/tiny.heddle $variant --stats "$out/work/new.json" --stats-no-host -- "$programs/stream_rules" || return 1
        same "$out/work/ref.json" "$out/work/new.json" || return 1
    done
    expect 0 '^PASS' -- run platforms/tiny.heddle --set driver.staging=separate -- "$programs/stream_rules" || return 1
    expect 0 '^PASS' -- run platforms/tiny.heddle --set driver.in_flight=1 -- "$programs/streams" || return 1
    expect 0 '^PASS' -- run platforms/tiny.heddle -- "$programs/own_streams"
}

# Which calls wait, under each set of stream rules, as a table; the one in which a call on a busy device is made by the only thread
# there is would deadlock a driver that waits where it takes calls.
t_stream_calls() {
    local rules
    for rules in "hip --max-cycles 100000000" "balar --set driver.stream_rules=balar" "blocking --set driver.stream_rules=balar --set driver.stream_rules.launch_blocking=true"; do
        # shellcheck disable=SC2086
        expect 0 '^PASS' -- run platforms/tiny.heddle --set driver.poll_cost=1cy ${rules#* } -- "$programs/stream_calls" "${rules%% *}" || return 1
    done
    for rules in streams own_streams threads managed device_variables; do
        expect 0 '^PASS' -- run platforms/tiny.heddle --set driver.stream_rules=balar -- "$programs/$rules" || return 1
    done
}

# A thousand random programs over the streams of two GPUs, under each set of rules: every order is legal by a model of its own.
t_random_streams() {
    local seed rules how work=$out/work/streams
    mkdir -p "$work"
    for rules in hip balar; do
        how=
        [ $rules = hip ] || how="--set driver.stream_rules=balar"
        for seed in 1 2 3 4; do
            # shellcheck disable=SC2086
            run tests/system/queues.heddle --set gpus=2 --set gpu.cus=1 --set gpu.banks=1 $how --max-cycles 100000000 --record perfetto="$work/trace.json" \
                -- "$programs/random_streams" 250 $seed >"$work/calls" 2>"$work/log" || { tail -n 3 "$work/calls" "$work/log"; fail "$rules, seed $seed"; return 1; }
            expect 0 '^250 programs, .* 0 wrong' -- python3 tests/system/streams.py $rules "$work/calls" "$work/trace.json" || return 1
            rm "$work/trace.json"
        done
    done
    expect 0 'PASS' -- run tests/system/queues.heddle --set gpus=2 --set gpu.cus=1 --set gpu.banks=1 --set driver.stream_rules=balar \
        --stats "$work/a.json" --stats-no-host -- "$programs/random_streams" 50 9 || return 1
    expect 0 'PASS' -- run tests/system/queues.heddle --set gpus=2 --set gpu.cus=1 --set gpu.banks=1 --set driver.stream_rules=balar \
        --tick-order random:5 --tick-all --stats "$work/b.json" --stats-no-host -- "$programs/random_streams" 50 9 || return 1
    same "$work/a.json" "$work/b.json"
}

# Arguments stay as long as their kernel runs, and those that did not change are not copied again. A launch needs three copies:
# of the code object, once, and of arguments and packet.
t_launch_copies() {
    expect 0 '^PASS' -- run platforms/tiny.heddle --set gpu.vram=2MiB --stats "$out/work/new.json" -- "$programs/late_arguments" 2000 || return 1
    python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))["components"]["driver"]
assert d["launches"] == 2001 and d["launch_copies"] + d["launch_copies_saved"] == 3 * 2001
assert d["launch_copies"] == 1 + 2 * (1 + 2000 / 4), d # the code object, and what changed' "$out/work/new.json" || return 1
    for how in together separate; do
        expect 0 '^PASS' -- run platforms/tiny.heddle --set driver.staging=$how --record perfetto="$out/work/trace.json" --stats "$out/work/$how.json" -- "$programs/saxpy" || return 1
    done
    python3 -c 'import json, sys
together, separate = (json.load(open(name))["components"]["driver"] for name in sys.argv[1:3])
assert separate["commands"] == together["commands"] + 2 * together["launches"], (together, separate)
spans = [e["name"] for e in json.load(open(sys.argv[3]))["traceEvents"] if e["ph"] in "bB" and e["name"] in ("copy code object", "copy arguments", "copy packet", "launch")]
assert spans[:4] == ["copy code object", "copy arguments", "copy packet", "launch"], spans' "$out/work/together.json" "$out/work/separate.json" "$out/work/trace.json"
}

# The L2 is flushed before a copy when a kernel ran since the last flush, and only then: STEPS of tests/programs/flushes and how
# often. The last read is the program's own. Both ways of copying see what kernels wrote.
t_flushes() {
    local platform steps count
    for platform in platforms/tiny.heddle tests/system/no_copy_time.heddle; do
        while read -r steps count; do
            expect 0 '^PASS' -- run $platform --stats "$out/work/new.json" -- "$programs/flushes" "$steps" || return 1
            python3 -c 'import json, sys
flushes = json.load(open(sys.argv[1]))["components"]["driver"]["flushes"]
assert flushes == int(sys.argv[2]), (flushes, sys.argv[2])' "$out/work/new.json" "$count" || { fail "$steps on $platform"; return 1; }
        done <<<'wr 0
            k 1
            kkk 1
            krrr 1
            krkr 2
            kwkr 2
            kcr 1
            kfr 1
            kRr 1
            kKR 1
            kb 1
            kRKr 2'
    done
    expect 0 '^PASS' -- run platforms/tiny.heddle --stats "$out/work/new.json" -- "$programs/context_flushes" || return 1
    grep -q '"flushes": 4,' "$out/work/new.json" || { fail "not 4 flushes in context_flushes"; return 1; }
    expect 0 '^PASS' -- run platforms/tiny.heddle -- "$programs/shared_lines"
}

# Copies that take no time: programs compute the same, kernels run about as long, and the rest of the time is gone.
t_copy_middleware() {
    local p
    for p in copies streams pipeline device_variables scratch managed stream_rules; do
        expect 0 '^PASS' -- run tests/system/no_copy_time.heddle -- "$programs/$p" || return 1
    done
    expect 0 '^PASS' -- run tests/system/no_copy_time.heddle --threads=2 --stats "$out/work/new.json" --stats-no-host -- "$programs/vectoradd" || return 1
    expect 0 '^PASS' -- run tests/system/no_copy_time.heddle --tick-all --generic --stats "$out/work/new2.json" --stats-no-host -- "$programs/vectoradd" || return 1
    same "$out/work/new.json" "$out/work/new2.json" || return 1
    expect 0 '^PASS' -- run platforms/tiny.heddle --stats "$out/work/ref.json" --stats-no-host -- "$programs/vectoradd" || return 1
    python3 -c 'import json, sys
dma, magic = (json.load(open(name)) for name in sys.argv[1:])
a, b = dma["components"], magic["components"]
assert abs(dma["kernels"][0]["cycles"] / magic["kernels"][0]["cycles"] - 1) < 0.02 # it begins in another phase of the memory
assert a["driver"]["bytes_to_gpu"] == b["driver"]["bytes_to_gpu"] == b["driver.copy"]["bytes"] - b["driver"]["bytes_from_gpu"]
assert a["gpu.dma"]["commands_done"] > 600 and b["gpu.dma"]["commands_done"] == 0
outside = magic["time_ps"] - magic["kernels"][0]["cycles"] * 1000
assert outside < 5e6 and outside < (dma["time_ps"] - dma["kernels"][0]["cycles"] * 1000) / 4, outside' "$out/work/ref.json" "$out/work/new.json"
}

# Managed memory goes where the policy says. What must move follows from the program: 4 GPUs change 4 shared pages in turn, in 2
# rounds, and each has a page of its own; all pages begin on the first GPU. First touch moves the three own pages of the
# others. When every touch moves a page, the shared ones move with each turn but the very first.
t_migration() {
    local policy count variant set
    while read -r policy count; do
        set="--set gpu.policy=$policy"
        [ "$policy" = first_touch ] && set=""
        [ "$policy" = pinned ] && set="$set --generic"
        # shellcheck disable=SC2086
        expect 0 '^PASS' -- run platforms/managed4.heddle $set --stats "$out/work/ref.json" --stats-no-host -- "$programs/managed_pingpong" 4 2 || return 1
        python3 -c 'import json, sys
c = json.load(open(sys.argv[1]))["components"]
d, gpus = c["driver"], [c["gpu[%d].pages" % i] for i in range(4)]
assert d["migrations"] == sum(g["pages"] for g in gpus) == int(sys.argv[2]), d
assert d["shootdowns"] == 4 * d["migrations"] and d["migrations_refused"] == 0 and all(g["bytes"] == 4096 * g["pages"] for g in gpus), d' "$out/work/ref.json" "$count" || { fail "$policy"; return 1; }
        [ "$policy" = on_touch ] || continue
        for variant in "--tick-order=random:3 --tick-all" "--threads=2" "--generic"; do
            # shellcheck disable=SC2086
            expect 0 '^PASS' -- run platforms/managed4.heddle $set $variant --stats "$out/work/new.json" --stats-no-host -- "$programs/managed_pingpong" 4 2 || return 1
            same "$out/work/ref.json" "$out/work/new.json" || return 1
        done
    done <<<'pinned 0
        first_touch 3
        on_touch 31'
    # Counted touches, with pages that move between kernels only: the four compute units of a GPU touch a page once in each of the two kernels of its turn, which makes 8. So
    # up to 8 a page moves with each turn; with 9 it does so in the second round only, from GPU 1 on.
    for count in "60000 0" "1 31" "8 31" "9 15"; do
        expect 0 '^PASS' -- run platforms/managed4.heddle --generic --set driver.migration=between_kernels --set gpu.policy=access_counter --set gpu.policy.threshold="${count% *}" --stats "$out/work/new.json" -- "$programs/managed_pingpong" 4 2 || return 1
        grep -q "\"migrations\": ${count#* }," "$out/work/new.json" || { fail "access_counter $count"; return 1; }
    done
}

# Kernels of all GPUs use the same pages at the same time, some for as long as others wait for them; pages move meanwhile, or only
# when none runs.
t_migration_both() {
    local policy variant set pause
    for policy in on_touch access_counter read_duplicate; do
        set="--set gpu.policy=$policy --max-cycles 5000000"
        [ $policy = access_counter ] && set="$set --set gpu.policy.threshold=4"
        # shellcheck disable=SC2086
        expect 0 '^PASS' -- run platforms/managed4.heddle $set --stats "$out/work/ref.json" --stats-no-host -- "$programs/managed_both" 2 2 || return 1
        # shellcheck disable=SC2086
        expect 0 '^PASS' -- run platforms/managed4.heddle $set --generic --set driver.migration=between_kernels --stats "$out/work/between.json" -- "$programs/managed_both" 2 2 || return 1
        python3 -c 'import json, sys
during, between = (json.load(open(f))["components"] for f in sys.argv[1:])
d, cps = during["driver"], [during["gpu[%d].cp" % i] for i in range(4)]
changes = d["migrations"] + d["copies_made"] + d["copies_written"]
assert changes > 20 and d["pauses"] > 5 and d["shootdowns"] == 4 * changes, d
assert max(c["pauses"] for c in cps) <= d["pauses"] <= sum(c["pauses"] for c in cps), (d, cps)
assert max(c["paused_cycles"] for c in cps) < d["pause_cycles"] < sum(c["paused_cycles"] for c in cps), (d, cps)
b = between["driver"] # only writes must not wait for the end of kernels
assert b["pauses"] <= b["copies_written"] and b["migrations"] + b["copies_made"] < d["migrations"] + d["copies_made"], b' "$out/work/ref.json" "$out/work/between.json" || { fail "$policy"; return 1; }
        for variant in "--tick-order=random:3 --tick-all" "--threads=2" "--generic"; do
            # shellcheck disable=SC2086
            HEDDLE_THREAD_DELAYS=2 expect 0 '^PASS' -- run platforms/managed4.heddle $set $variant --stats "$out/work/new.json" --stats-no-host -- "$programs/managed_both" 2 2 || return 1
            same "$out/work/ref.json" "$out/work/new.json" || return 1
        done
    done
}

# Copies for reading. What there must be follows from the program: P pages are read by all 4 GPUs at once, so 3 copies are made of
# each page; in each of R rounds another GPU has written to them before, and the host in the end. What the host reads makes no
# difference.
t_migration_copies() {
    local variant set="--set gpu.policy=read_duplicate --set driver.copy_interval=0cy"
    # shellcheck disable=SC2086
    expect 0 '^PASS' -- run platforms/managed4.heddle $set --stats "$out/work/ref.json" --stats-no-host -- "$programs/managed_reads" 3 3 || return 1
    expect 0 '^PASS' -- run platforms/managed4.heddle --generic --set gpu.policy=pinned --stats "$out/work/pinned.json" --stats-no-host -- "$programs/managed_reads" 3 3 || return 1
    python3 -c 'import json, sys
copies, pinned = (json.load(open(f))["components"] for f in sys.argv[1:])
d = copies["driver"]
assert (d["copies_made"], d["copies_dropped"], d["copies_written"], d["migrations"]) == (36, 27, 9, 0), d
assert sum(copies["gpu[%d].pages" % i]["pages"] for i in range(4)) == 36
sent = [sum(c["gpu[%d].rdma" % i]["sent"] for i in range(4)) for c in (copies, pinned)]
assert sent[0] < sent[1] / 2, sent' "$out/work/ref.json" "$out/work/pinned.json" || { fail "copies"; return 1; }
    for variant in "--tick-order=random:3 --tick-all" "--threads=2" "--generic"; do
        # shellcheck disable=SC2086
        HEDDLE_THREAD_DELAYS=2 expect 0 '^PASS' -- run platforms/managed4.heddle $set $variant --stats "$out/work/new.json" --stats-no-host -- "$programs/managed_reads" 3 3 || return 1
        same "$out/work/ref.json" "$out/work/new.json" || return 1
    done
    # With the interval pages are copied less often.
    expect 0 '^PASS' -- run platforms/managed4.heddle --generic --set gpu.policy=read_duplicate --set driver.copy_interval=1000000cy --stats "$out/work/new.json" -- "$programs/managed_reads" 3 3 || return 1
    grep -q '"copies_written": 3,' "$out/work/new.json" || { grep copies_ "$out/work/new.json"; fail "the interval"; return 1; }
}

t_migration_policies() {
    local part=()
    [ "$full" = yes ] && part=(--all)
    expect 0 'numbers are those of' -- python3 tests/bench/policies/managed.py "$heddle" "$programs" --check docs/evidence/migration-policies.md "${part[@]}"
}

# Results do not depend on the number of threads: statistics, traces, reports of failures and hangs, the exit status.
t_threads() {
    local p n list="vectoradd matmul_tiled histogram streams fft scratch"
    [ "$full" = yes ] && list=${good_programs/ threads/}
    for p in $list; do
        same_by_threads no platforms/r9nano.heddle -- "$programs/$p" $(arguments_of "$p") || return 1
    done
    same_by_threads yes platforms/r9nano.heddle -- "$programs/bfs" || return 1
    same_by_threads yes platforms/r9nano.heddle --set gpu.arrays=3 -- "$programs/vectoradd" 1000 || return 1
    same_by_threads no platforms/ring4.heddle -- "$programs/devices" || return 1
    same_by_threads no tests/system/threads.heddle --set tester.threads=2 || return 1
    same_by_threads yes tests/system/threads.heddle --set tester.threads=1 --set tester.actions=4 || return 1
    for n in --tick-order=random:5 --tick-all --generic; do
        expect 0 -- run tests/system/threads.heddle --set tester.threads=2 $n --threads 2 --stats "$out/work/new.json" --stats-no-host || return 1
        expect 0 -- run tests/system/threads.heddle --set tester.threads=2 --stats "$out/work/ref.json" --stats-no-host || return 1
        same "$out/work/ref.json" "$out/work/new.json" || { fail "two threads with $n"; return 1; }
    done
}

t_threads_ends() {
    local n delays
    for n in 1 3; do
        HEDDLE_THREAD_DELAYS=3 expect 6 'max-cycles' 'hottest' -- run platforms/r9nano.heddle --threads $n --max-cycles 100000 -- "$programs/endless" || return 1
        cp "$out/work/log" "$out/work/limit-$n.log"
        HEDDLE_THREAD_DELAYS=3 expect 3 'flat_load|global_load' 'lane' -- run platforms/r9nano.heddle --threads $n -- "$programs/bad_oob" || return 1
        cp "$out/work/log" "$out/work/oob-$n.log"
    done
    same "$out/work/limit-1.log" "$out/work/limit-3.log" && same "$out/work/oob-1.log" "$out/work/oob-3.log" || return 1
    expect 0 -- "$heddle" build tests/system/hang/deadlock.heddle || return 1
    # What a hang looks like does not depend on who found it: deadlock and stall, in step and at times of their own.
    for n in 1 2 3; do
        for delays in "" 5; do
            [ "$n$delays" = 15 ] && continue
            HEDDLE_THREAD_DELAYS=$delays expect 4 deadlock left right -- run tests/system/hang/deadlock.heddle --threads $n || return 1
            grep -v 'there are processors for' "$out/work/log" >"$out/work/deadlock-$n.log"
            same "$out/work/deadlock-1.log" "$out/work/deadlock-$n.log" || { fail "deadlock on $n threads"; return 1; }
            HEDDLE_THREAD_DELAYS=$delays expect 5 stall -- run platforms/r9nano.heddle --stall-limit 10 --threads $n -- "$programs/vectoradd" || return 1
            grep -v 'there are processors for' "$out/work/log" >"$out/work/stall-$n.log"
            same "$out/work/stall-1.log" "$out/work/stall-$n.log" || { fail "stall on $n threads"; return 1; }
        done
    done
    expect 2 'positive whole number' -- run platforms/r9nano.heddle --threads -1 -- "$programs/vectoradd" || return 1
    expect 0 'no partitions' 'one thread' -- run tests/system/memtest.heddle --threads 2 || return 1
    # More threads than processors are not started, and the run says so.
    unset HEDDLE_THREAD_DELAYS
    expect 0 'processors for 1' PASS -- taskset -c 0 "$heddle" run platforms/r9nano.heddle --threads 2 -- "$programs/vectoradd" || return 1
    expect 2 'positive whole number' -- run platforms/r9nano.heddle --threads 0 -- "$programs/vectoradd" || return 1
    expect 2 'positive whole number' -- run platforms/r9nano.heddle --threads two -- "$programs/vectoradd"
}

# No data races: the runtime and the components under thread sanitizer. The HIP library is the plain one, behind the sanitizer's,
# since both define the functions of threads.
t_threads_sanitized() {
    local folder=$system/tsan tsan hip=$build/components/driver/hip/libamdhip64.so.5
    tsan=$(realpath "$(${CC:-cc} -print-file-name=libtsan.so)")
    [ -f "$tsan" ] && [ -f "$hip" ] || { fail "the thread sanitizer's library or ours is missing"; return 1; }
    [ -f "$folder/build.ninja" ] || meson setup "$folder" -Db_sanitize=thread -Db_lundef=false -Dwerror=false -Dprograms=false -Dtests=false >"$out/work/log" 2>&1 || { tail "$out/work/log"; return 1; }
    ninja -C "$folder" >"$out/work/log" 2>&1 || { tail "$out/work/log"; return 1; }
    local sanitized=("HEDDLE_CACHE=$folder/cache" "HEDDLE_CFLAGS=-fsanitize=thread -g -O1" HEDDLE_LDFLAGS=-fsanitize=thread
        TSAN_OPTIONS=exitcode=66 HEDDLE_THREAD_DELAYS=11)
    expect 0 -- env "${sanitized[@]}" "$folder/codegen/heddle" run tests/system/threads.heddle --threads 3 --set tester.threads=2 || return 1
    expect 0 -- env "${sanitized[@]}" "$folder/codegen/heddle" run tests/system/threads.heddle --threads 2 --set tester.threads=1 --record perfetto="$out/work/trace.json" --stats "$out/work/new.json" || return 1
    expect 0 PASS -- env "${sanitized[@]}" LD_PRELOAD="$tsan $hip" setarch -R "$folder/codegen/heddle" run platforms/r9nano.heddle --threads 2 --stats "$out/work/new.json" -- "$programs/vectoradd"
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
    local cache=$out/work/cache new
    HEDDLE_CFLAGS=-O0 HEDDLE_CACHE=$cache expect 0 -- "$heddle" build platforms/tiny.heddle || return 1
    touch "$out/work/stamp"
    sleep 1
    HEDDLE_CFLAGS=-O0 HEDDLE_CACHE=$cache expect 0 -- "$heddle" build platforms/tiny.heddle || return 1
    new=$(find "$cache" -type f -newer "$out/work/stamp" ! -name '*lock*' | head -n 3)
    [ -z "$new" ] || fail "a second build wrote: $new"
}

t_memtest() {
    expect 0 -- run tests/system/memtest.heddle
}

# Every load of at least so many episodes on each memory system is right.
t_memtest_scale() {
    if [ "$full" = yes ]; then
        tests/system/memtest_scale.sh "$heddle" 1000000 || return 1
    else
        tests/system/memtest_scale.sh "$heddle" 3000 2 generic >"$out/work/log" 2>&1 || { tail -n 20 "$out/work/log"; return 1; }
    fi
}

# A mistake in the caches is reported with the line, who wrote it last, and every hop the line took since: mistakes are put into a
# copy of the cache, or into the platform.
t_memtest_report() {
    local bug folder=$out/work/bugs where='^ *[0-9]+ ps, cycle [0-9]+:'
    for bug in cache-dropped-invalidate cache-stale-fill cache-byte-mask; do
        rm -rf "$folder"
        mkdir -p "$folder/components"
        cp -r components/memory/cache "$folder/components"
        (. tests/mutation/apply.sh && apply tests/mutation/$bug.mutation "$folder") >/dev/null || return 1
        sed 's/std\/cache/cache\/cache/' tests/system/memtest.heddle >"$folder/memtest.heddle"
        expect 3 'port [0-9]+, thread [0-9]+, episode [0-9]+: (load|atomic) of 0x[0-9a-f]+ in line 0x[0-9a-f]+ sent at cycle [0-9]+ returned' \
            'last written by port [0-9]+, thread [0-9]+ at cycle [0-9]+|never written' 'the messages about the line at 0x[0-9a-f]+ from [0-9]+ ps on' \
            "$where tester -> l1\[[0-9]+\]: (write|atomic|read) 0x" "$where l1\[[0-9]+\] -> (xbar|tester): [a-z]+ 0x" \
            -- run "$folder/memtest.heddle" -I "$folder/components" --set l1.size=16KiB --set tester.span=16KiB || { fail "$bug"; return 1; }
    done
    # Every hop of one store: down through all levels, and its answer.
    expect 3 "$where tester -> cluster\[[01]\].l1\[[01]\]: write 0x" "$where cluster\[[01]\].l1\[[01]\] -> cluster\[[01]\].bus: write 0x" \
        "$where cluster\[[01]\].bus -> cluster\[[01]\].mid: write 0x" "$where cluster\[[01]\].mid -> xbar: write 0x" "$where xbar -> l2\[[01]\]: write 0x" \
        "$where l2\[[01]\] -> xbar: done 0x" "$where cluster\[[01]\].l1\[[01]\] -> tester: done 0x" \
        -- run tests/system/memtest_levels.heddle --platform memtest_deep --set cluster.l1.acquire=here --set cluster.mid.size=16KiB --set tester.span=16KiB || return 1
    # Virtual and physical address of the line.
    sed 's/std\/cache/cache\/cache/' tests/system/memtest.heddle >"$folder/memtest.heddle"
    expect 3 'the line at 0x100000[0-9a-f]+ = 0x[0-9a-f]+ from' "$where tester -> l1.*0x100000" "$where (l1.* -> xbar|xbar -> l2).*: [a-z]+ 0x[0-9a-f]{1,5}," \
        -- run "$folder/memtest.heddle" -I "$folder/components" --platform memtest_translated --set l1.size=16KiB --set tester.span=16KiB || return 1
    expect 2 'it is an address' -- run tests/system/memtest.heddle --watch here
}

# A run that is dumped, and one that continues from there in another process and under other circumstances, end with the bytes
# of an unbroken one. Two processes, whose addresses differ, write the same state.
t_dump() {
    local one platform file how when state=$out/work/state
    for one in memtest.heddle:memtest: memtest.heddle:memtest_translated:--generic memtest_levels.heddle:memtest_clocks:--generic \
        memtest_levels.heddle:memtest_deep:--generic; do
        IFS=: read -r file platform how <<<"$one"
        file=tests/system/$file
        expect 0 -- run $file --platform "$platform" $how --stats "$out/work/ref.json" --stats-no-host || return 1
        for when in 1 5000cy 33us; do
            expect 0 -- run $file --platform "$platform" $how --checkpoint "$state" --checkpoint-at $when --stats "$out/work/new.json" --stats-no-host || return 1
            same "$out/work/ref.json" "$out/work/new.json" || { fail "dumping at $when changed $platform"; return 1; }
            expect 0 -- run $file --platform "$platform" $how --restore "$state" --stats "$out/work/new.json" --stats-no-host || return 1
            same "$out/work/ref.json" "$out/work/new.json" || { fail "$platform from its state at $when"; return 1; }
        done
        expect 0 -- run $file --platform "$platform" $how --checkpoint "$state.again" --checkpoint-at 33us || return 1
        same "$state" "$state.again" || return 1
        expect 0 -- run $file --platform "$platform" --restore "$state" --generic --tick-order random:1 --tick-all --stats "$out/work/new.json" --stats-no-host || return 1
        same "$out/work/ref.json" "$out/work/new.json" || { fail "$platform, generic, from its state"; return 1; }
    done
}

t_bad_dump() {
    local memtest=tests/system/memtest.heddle state=$out/work/state
    expect 0 -- run $memtest --checkpoint "$state" --checkpoint-at 10us || return 1
    expect 7 'another platform, or of other parameters' -- run $memtest --generic --set l2.latency=11cy --restore "$state" || return 1
    expect 7 'another platform, or of other parameters' -- run $memtest --generic --platform memtest_translated --restore "$state" || return 1
    head -c 50000 "$state" >"$state.cut"
    expect 7 'its end is missing' -- run $memtest --restore "$state.cut" || return 1
    cp "$state" "$state.bad" && printf x | dd of="$state.bad" bs=1 seek=30001 conv=notrunc 2>/dev/null
    expect 7 'damaged' -- run $memtest --restore "$state.bad" || return 1
    expect 7 'was not written by|is no file of' -- run $memtest --restore $memtest || return 1
    expect 7 'No such file' -- run $memtest --restore "$out/work/none" || return 1
    expect 7 'before --checkpoint-at' -- run $memtest --checkpoint "$state.late" --checkpoint-at 5s || return 1
    [ ! -e "$state.late" ] || { fail "a state was written although the run was over"; return 1; }
    expect 7 'lies before the state' -- run $memtest --restore "$state" --checkpoint "$state.late" --checkpoint-at 5us || return 1
    expect 2 '25us' -- run $memtest --checkpoint "$state" --checkpoint-at 7kg || return 1
    expect 2 'belong together' -- run $memtest --checkpoint "$state" || return 1
    expect 2 "program's own" -- run platforms/tiny.heddle --restore "$state" -- "$programs/vectoradd" || return 1
    expect 7 'host program' -- run platforms/tiny.heddle --checkpoint "$state" --checkpoint-at 5us || return 1
    expect 1 'cannot write there' -- run $memtest --checkpoint /no/folder/x --checkpoint-at 5us || return 1
    expect 1 'give the name of a file' -- run $memtest --stats /dev/stdout
}

t_hang_deadlock() {
    expect nonzero deadlock left right 'waits' -- run tests/system/hang/deadlock.heddle
}

t_hang_livelock() {
    expect nonzero stall spinner -- run tests/system/hang/livelock.heddle --stall-limit 100000
}

t_hang_endless() {
    expect 6 'max-cycles' 'hipErrorLaunchTimeOut' 's_branch|s_cbranch|pc' -- run platforms/tiny.heddle --max-cycles 200000 -- "$programs/endless"
}

t_hang_stall() {
    expect 5 'hipErrorIllegalState' 'stall' -- run platforms/tiny.heddle --stall-limit 10 -- "$programs/vectoradd"
}

# Every slot-cycle of every kernel is in the report once, whatever the program does, and in words there is a reason.
t_report() {
    local p list="vectoradd matmul_tiled nbody histogram aes128"
    [ "$full" = yes ] && list=${good_programs/ copies/} # which launches none
    for p in $list; do
        expect 0 PASS 'of waves' 'occupancy: .* limited by' '^  (limited by|no single limit|short for)' -- \
            run platforms/tiny.heddle --report cpi --stats "$out/work/$p.json" -- "$programs/$p" $(arguments_of "$p") || return 1
        "$heddle" stats "$out/work/$p.json" --report cpi --csv >"$out/work/cpi.csv" || return 1
        python3 - "$out/work/$p.json" "$out/work/cpi.csv" <<'END' || { fail "$p: slot-cycles"; return 1; }
import csv, json, sys
kernels = json.load(open(sys.argv[1]))["kernels"]
every = sum(k["cycles"] * k["slots"] for k in kernels)
told = sum(sum(kinds.values()) for k in kernels for kinds in k["slot_cycles"].values())
report = sum(int(row["slot_cycles"]) for row in csv.DictReader(open(sys.argv[2])))
# What issued is what the compute units count, but for the s_endpgm of each wavefront.
units = [k["components"]["gpu.sa[*].cu[*]"] for k in kernels]
issued = sum(sum(k["slot_cycles"]["issued"].values()) for k in kernels)
counted = sum(u["instructions"] - u["wavefronts_run"] for u in units)
sys.exit(not (kernels and every == told == report and issued == 4 * counted))
END
    done
    # A run without a file of statistics, two runs side by side, and what cannot be reported.
    expect 0 PASS 'limited by' -- run platforms/tiny.heddle --report cpi -- "$programs/vectoradd" || return 1
    expect 0 'difference' '^  issued ' -- "$heddle" stats "$out/work/nbody.json" "$out/work/histogram.json" --report cpi || return 1
    expect 0 'slot_cycles.waiting.vmcnt' -- "$heddle" stats "$out/work/nbody.json" "$out/work/histogram.json" || return 1
    expect 2 'only cpi' -- "$heddle" stats "$out/work/nbody.json" --report ipc || return 1
    expect 2 'only cpi' -- run platforms/tiny.heddle --report ipc -- "$programs/vectoradd" || return 1
    expect 2 'where time went' -- run platforms/tiny.heddle --mode functional --report cpi -- "$programs/vectoradd" || return 1
    expect 0 PASS -- run platforms/tiny.heddle --mode functional --stats "$out/work/functional.json" -- "$programs/vectoradd" || return 1
    expect 1 'nothing to report' -- "$heddle" stats "$out/work/functional.json" --report cpi || return 1
    sed 's/"vmcnt": /"vmcnt": 1/' "$out/work/nbody.json" >"$out/work/wrong.json"
    expect 1 'add up to' -- "$heddle" stats "$out/work/wrong.json" --report cpi
}

# The command processor's pool gives away what the compute units have, all of which are alike.
t_pool_agrees() {
    expect 1 'simds, wavefronts, vgprs, sgprs and lds' -- "$heddle" check platforms/tiny.heddle --set gpu.cp.vgprs=128 || return 1
    expect 1 'simds, wavefronts, vgprs, sgprs and lds' -- "$heddle" check platforms/tiny.heddle --set 'gpu.sa[0].cu[2].lds=32KiB' || return 1
    expect 0 PASS 'limited by' -- run platforms/tiny.heddle --set gpu.sa.cu.wavefronts=2 --report cpi -- "$programs/vectoradd"
}

# The occupancy in the statistics, which is computed, against what the kernels of `occupancy` count when they run.
t_occupancy() {
    expect 0 PASS -- run platforms/r9nano.heddle --stats "$out/work/occupancy.json" -- "$programs/micro/occupancy" || return 1
    python3 - "$out/work/occupancy.json" "$out/work/log" <<'END'
import json, sys
computed = [k["occupancy"] for k in json.load(open(sys.argv[1]))["kernels"]]
counted = [line.split() for line in open(sys.argv[2]) if "/" in line]
wrong = [(c, o) for c, o in zip(counted, computed)
         if float(c[1]) != o["work_groups_per_unit"] * o["wavefronts_per_work_group"]]
print(*wrong, sep="\n")
sys.exit(bool(wrong) or len(counted) != len(computed) or len(counted) < 15)
END
}

t_kernel_stats() {
    local which
    for which in sum all none; do
        expect 0 PASS -- run platforms/tiny.heddle --kernel-stats $which --stats "$out/work/$which.json" -- "$programs/vectoradd" || return 1
    done
    [ "$(grep -c '"gpu.sa\[\*\].cu\[\*\]"' "$out/work/sum.json")" = 1 ] || fail "no sum over compute units" || return 1
    grep -q '"components": {.*"gpu.sa\[0\].cu\[3\]"' "$out/work/all.json" || fail "no single compute unit" || return 1
    [ "$(grep -c '"components"' "$out/work/none.json")" = 1 ] || fail "components of kernels with none" || return 1
    expect 2 'sum, all or none' -- run platforms/tiny.heddle --kernel-stats some -- "$programs/vectoradd"
}

t_trace() {
    expect 0 PASS -- run platforms/tiny.heddle --record perfetto="$out/work/trace.json" -- "$programs/vectoradd" || return 1
    python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); e=d["traceEvents"] if isinstance(d,dict) else d; assert len(e)>100' "$out/work/trace.json" 2>/dev/null ||
        { [ -s "$out/work/trace.json" ] || fail "empty trace"; }
}

# Events around two kernels take what the statistics say the kernels took, and a little for the commands around them.
t_event_times() {
    expect 0 '^PASS' -- run platforms/tiny.heddle --stats "$out/work/ref.json" -- "$programs/saxpy" || return 1
    python3 -c 'import json, re, sys
kernels = json.load(open(sys.argv[1]))["kernels"]
span = max(k["end_ps"] for k in kernels) - min(k["start_ps"] for k in kernels)
told = float(re.search(r"took ([0-9.]+) ms", open(sys.argv[2]).read())[1]) * 1e9
assert len(kernels) == 2 and span <= told <= span + 5e6, (span, told)' "$out/work/ref.json" "$out/work/log" || fail "events and kernels disagree"
}

# An object is never kept under the name of other sources than it was made from: here the compiler changes them just before it
# reads them.
t_build_race() {
    local folder=$out/work/race cache=$out/work/race/cache
    mkdir -p "$folder"
    sed 's/fifo/spool/g' docs/examples/fifo/fifo.c >"$folder/spool.c"
    sed 's/fifo/spool/g' docs/examples/fifo/fifo.heddle >"$folder/spool.heddle"
    sed 's/fifo\/fifo/spool/; s/fifo/spool/g' docs/examples/fifo/fifo_test.heddle >"$folder/test.heddle"
    { cat "$folder/spool.c"; echo 'extern const char spool_marker[]; const char spool_marker[] = "changed behind the back";'; } >"$folder/edited.c"
    printf '#!/bin/sh\nmv "%s/edited.c" "%s/spool.c" 2>/dev/null\nexec cc "$@"\n' "$folder" "$folder" >"$folder/cc"
    chmod +x "$folder/cc"
    HEDDLE_CC=$folder/cc HEDDLE_CACHE=$cache expect 1 'have changed while it was compiled; build again' -- "$heddle" build "$folder/test.heddle" || return 1
    ! grep -rlq 'changed behind the back' "$cache/objects" || { fail "an object was kept under the name of another source"; return 1; }
    HEDDLE_CC=$folder/cc HEDDLE_CACHE=$cache expect 0 -- run "$folder/test.heddle" || return 1
    grep -rlq 'changed behind the back' "$cache/objects" || fail "the second build did not compile the new source"
}

# A cache with a bound forgets what was used longest ago, and nothing that was used just now.
t_cache_limit() {
    local folder=$out/work/bounded
    HEDDLE_CACHE=$folder expect 0 -- "$heddle" build platforms/tiny.heddle --generic || return 1
    find "$folder" -exec touch -d '2 days ago' {} +
    HEDDLE_CACHE=$folder HEDDLE_CACHE_LIMIT=1MiB expect 0 'from the cache' -- "$heddle" build docs/examples/fifo/fifo_test.heddle --generic --verbose || return 1
    [ "$(find "$folder/platforms" -name platform.so | wc -l)" = 1 ] || { fail "the old platform is still there"; return 1; }
    HEDDLE_CACHE=$folder HEDDLE_CACHE_LIMIT=1MiB expect 0 -- "$heddle" build platforms/tiny.heddle --generic || return 1
    [ "$(find "$folder/platforms" -name platform.so | wc -l)" = 2 ] || { fail "what was used just now is gone"; return 1; }
    HEDDLE_CACHE_LIMIT=7GB expect 1 '500MiB' -- "$heddle" build docs/examples/mid_cache/mid_cache_memtest.heddle --set tester.seed=99
}

t_bad_arch() { expect 0 'gfx90a' 'gfx803' 'offload-arch' -- run platforms/tiny.heddle -- "$programs/bad_arch"; }
t_bad_truncated() { expect 0 -- run platforms/tiny.heddle -- "$programs/bad_truncated" "$kernels"; }
t_bad_assert() { expect 3 '^PASS' "Device-side assertion .values\[threadIdx.x\] != 13. failed" "kernel .check_values.int const..." 'trap 2' -- run platforms/tiny.heddle -- "$programs/bad_assert"; }
t_bad_trap() {
    local which
    for which in 0 1; do
        expect 3 '^PASS' "kernel 'traps.int., int.'" 'trap 2' -- run platforms/tiny.heddle -- "$programs/bad_trap" $which || return 1
    done
}
# A program that is not position-independent may have its heap where the arena of platforms is otherwise.
t_fixed_address() {
    expect 0 '^PASS' -- run platforms/tiny.heddle --stats "$out/work/ref.json" --stats-no-host -- "$programs/vectoradd" || return 1
    expect 0 '^PASS' -- run platforms/tiny.heddle --stats "$out/work/new.json" --stats-no-host -- "$programs/fixed_address" || return 1
    python3 - "$out/work/ref.json" "$out/work/new.json" <<'END'
import json, sys
ref, new = (json.load(open(path)) for path in sys.argv[1:])
sys.exit(None if ref["components"] == new["components"] and ref["kernels"] else "statistics differ")
END
}
t_programs_ring4() {
    local p
    for p in devices contexts threads $gpus_programs; do
        expect 0 '^PASS' -- run platforms/ring4.heddle -- "$programs/$p" || return 1
        expect 0 '^PASS' -- run platforms/r9nano_x4.heddle -- "$programs/$p" || return 1
    done
}
ring="platforms/ring4.heddle --generic --set gpu.arrays=2" # four small GPUs that reach each other

# split SIZE GPUS: how many work-groups of vectoradd each GPU got, and how many requests went from GPU to GPU.
split() {
    expect 0 '^PASS' -- run $ring --unified "$2" --stats "$out/work/split.json" --stats-no-host -- "$programs/vectoradd" "$1" || return 1
    python3 - "$out/work/split.json" <<'END'
import json, sys
run = json.load(open(sys.argv[1]))
print(*(f"{k['gpu']}:{k['work_groups']}" for k in sorted(run["kernels"], key=lambda k: k["gpu"])),
      "remote:", sum(v["sent"] for k, v in run["components"].items() if k.endswith(".rdma")))
END
}

# Programs that know nothing of it run on several GPUs as one: work-groups are spread evenly, in consecutive runs, and the
# results are those of one GPU, also with fewer work-groups than GPUs.
t_unified() {
    local p got
    # A page for each run of 4 work-groups: with code, arguments and packets on each GPU, none needs another's memory.
    got=$(split 3840 0,1,2,3); [ "$got" = "0:4 1:4 2:4 3:3 remote: 0" ] || { fail "15 work-groups on 4 GPUs: $got"; return 1; }
    got=$(split 500 3,1,0); [ "${got% remote*}" = "1:1 3:1" ] || { fail "2 work-groups on GPUs 3, 1 and 0: $got"; return 1; }
    got=$(split 2560 2); [ "${got% remote*}" = "2:10" ] || { fail "10 work-groups on GPU 2: $got"; return 1; }
    for p in "vectoradd 100" "atomics" "scan" "managed"; do
        # shellcheck disable=SC2086
        expect 0 '^PASS' -- run $ring --unified 0,1,2,3 -- "$programs/"$p || return 1
        # shellcheck disable=SC2086
        expect 0 '^PASS' -- run $ring --mode functional --unified 0,1,2,3 -- "$programs/"$p || return 1
    done
    expect 0 '^PASS' -- run $ring --unified 0,1 --stats "$out/work/ref.json" --stats-no-host -- "$programs/vectoradd" 2000 || return 1
    expect 0 '^PASS' -- run $ring --unified 0,1 --tick-order=random:1 --threads 2 --stats "$out/work/new.json" --stats-no-host -- "$programs/vectoradd" 2000 || return 1
    same "$out/work/ref.json" "$out/work/new.json" || return 1
    expect 0 '^PASS' -- run platforms/ring4.heddle --set gpu.arrays=2 --unified 0,1 --stats "$out/work/new.json" --stats-no-host -- "$programs/vectoradd" 2000 || return 1
    same "$out/work/ref.json" "$out/work/new.json" || return 1
    expect 7 'unified' 'there is no GPU 7; the GPUs are 0, 1, 2 and 3' -- run $ring --unified 0,7 -- "$programs/vectoradd" || return 1
    expect 7 'GPU 1 is named twice' -- run $ring --unified 1,1 -- "$programs/vectoradd" || return 1
    expect nonzero "'--unified 0,,1'" -- run $ring --unified 0,,1 -- "$programs/vectoradd" || return 1
    expect nonzero "name one" -- run $ring --unified 0,1
}

t_unified_programs() {
    local p
    [ "$full" = yes ] || return 0
    for p in $good_programs; do
        expect 0 '^PASS' -- run platforms/r9nano_x4.heddle --unified 0,1,2,3 -- "$programs/$p" $(arguments_of "$p") || return 1
    done
}

# Remapped pages, contexts and unified devices that a program makes itself, and what it can do wrong with them.
t_own_devices() {
    expect 0 '^PASS' -- run $ring -- "$programs/own_devices" || return 1
    expect 0 '^PASS' -- run $ring --mode functional -- "$programs/own_devices" || return 1
    expect 0 '^PASS' -- run $ring --set driver.page_size=64KiB -- "$programs/own_devices" 65536 || return 1
    expect 0 '^PASS' -- run $ring --set driver.page_size=2MiB -- "$programs/own_devices" 2097152 round || return 1
    expect 3 '^PASS' 'process 2 reads virtual address 0x[0-9a-f]+, which is not mapped' -- run platforms/tiny.heddle -- "$programs/bad_context" || return 1
    expect 3 '^PASS' 'not mapped in process 2' -- run platforms/tiny.heddle --mode functional -- "$programs/bad_context"
}

t_driver_memory() {
    expect 0 '^PASS' -- run $ring -- "$programs/driver_memory" || return 1
    expect 0 '^PASS' -- run $ring --mode functional -- "$programs/driver_memory" || return 1
    expect 0 '^PASS' -- run $ring --set driver.page_size=64KiB -- "$programs/driver_memory"
}

t_page_sizes() {
    local p size list="copies managed scratch module prints"
    [ "$full" = yes ] && list=$good_programs
    for size in 64KiB 2MiB; do
        for p in $list; do
            expect 0 '^PASS' -- run platforms/tiny.heddle --generic --set driver.page_size=$size -- "$programs/$p" $(arguments_of "$p") || return 1
        done
    done
}
# Kernels on the memory of other GPUs, over all ways of the fabrics; the bytes depend on nothing but the platform.
t_peers() {
    local variant
    expect 0 '^PASS' -- run platforms/ring4.heddle --generic --set gpu.arrays=2 -- "$programs/peers" 300 || return 1
    expect 0 '^PASS' -- run platforms/ring4.heddle --generic --set gpu.arrays=2 --set topology=full -- "$programs/peers" 300 || return 1
    expect 0 '^PASS' -- run platforms/r9nano_x4.heddle --generic --mode functional -- "$programs/peers" 300 || return 1
    expect 0 '^PASS' -- run platforms/r9nano_x4.heddle --set gpu.arrays=2 --stats "$out/work/ref.json" --stats-no-host -- "$programs/peers" 300 || return 1
    for variant in "--threads=2" "--generic" "--tick-order=random:1"; do
        expect 0 '^PASS' -- run platforms/r9nano_x4.heddle --set gpu.arrays=2 "$variant" --stats "$out/work/new.json" --stats-no-host -- "$programs/peers" 300 || return 1
        same "$out/work/ref.json" "$out/work/new.json" || { fail "peers with $variant"; return 1; }
    done
}
# One link for all of a GPU's traffic: reads of another GPU's memory (1 MiB, in answers of 72 bytes) and copies from the host (256
# KiB) come in by one direction of it. With wires of their own they take less time together than one link needs for
# their bytes, with shared ones at least that; every byte is counted once, and the order of turns depends on nothing else.
t_wires() {
    local shared variant x4="platforms/r9nano_x4.heddle --stats-no-host"
    for shared in false true; do
        expect 0 '^PASS' -- run $x4 --set shared_wires=$shared --stats "$out/work/$shared.json" -- "$programs/wires" 1024 256 || return 1
    done
    python3 - "$out/work/false.json" "$out/work/true.json" <<'END' || return 1
import json, sys
own, shared = (json.load(open(name)) for name in sys.argv[1:])
def kernel(run):
    k = next(k for k in run["kernels"] if "read_remote" in k["name"])
    return k["end_ps"] - k["start_ps"]
def bytes_of(run, half, port):
    return sum(link[half][port]["bytes"] for link in run["links"].values() if port in link.get(half, ()))
answers = bytes_of(shared, "forward_channels", "pcie_switch[0].from[0]")
assert answers == 72 * 2**20 // 64, answers
bound = (answers + 256 * 1024) * 10**12 // (32 * 10**9)
assert kernel(own) < bound <= kernel(shared), (kernel(own), bound, kernel(shared))
ways = {"forward": 0, "backward": 0}
for name, link in shared["links"].items():
    for half in ways:
        channels = link.get(half + "_channels")
        if channels is None:
            continue
        ways[half] += 1
        for key in "bytes", "messages":
            assert link[half][key] == sum(c[key] for c in channels.values()), (name, half, key)
        assert link[half]["busy_ps"] <= shared["time_ps"], (name, half)
assert ways == {"forward": 4, "backward": 4}, ways
# what each connection sends is what it sends over wires of its own
for connection, count in own["connections"].items():
    assert count == shared["connections"][connection], connection
for port in "driver.gpu[0]", "driver.gpu[1]":
    alone = next(link for name, link in own["links"].items() if name.startswith(port + " -> "))
    assert alone["forward"]["bytes"] == bytes_of(shared, "forward_channels", port), port
END
    expect 0 '^PASS' -- run $x4 --set shared_wires=true --set gpu.arrays=2 --set queues=true --stats "$out/work/ref.json" -- "$programs/peers" 300 || return 1
    for variant in --threads=2 --generic --tick-order=descending --tick-order=random:1 --tick-all; do
        expect 0 '^PASS' -- run $x4 --set shared_wires=true --set gpu.arrays=2 --set queues=true $variant --stats "$out/work/new.json" -- "$programs/peers" 300 || return 1
        same "$out/work/ref.json" "$out/work/new.json" || { fail "shared wires with $variant"; return 1; }
    done
    for variant in full ring mesh switch; do
        expect 0 '^PASS' -- run platforms/r9nano_x8_fabric.heddle --generic --set gpu.arrays=1 --set shared_wires=true --set topology=$variant -- "$programs/peers" 200 || return 1
    done
}
# Eight GPUs in every topology, with small GPUs; the remote side of a request takes what the ways say.
t_fabric() {
    local topology
    for topology in memory=ideal topology=ring topology=mesh topology=switch gpu.l2_write=through; do
        expect 0 '^PASS' -- run platforms/r9nano_x8_fabric.heddle --generic --set gpu.arrays=1 --set $topology -- "$programs/peers" 200 || return 1
    done
    expect 0 '^PASS' -- run platforms/apu.heddle -- "$programs/copies" || return 1
    expect 1 'E0506' 'circle of 8 interconnects' -- "$heddle" check platforms/r9nano_x8_fabric.heddle --set topology=ring --set gpu.router.bubble=false
}
# The library's ring and mesh under the memory tester, with room for two messages at an input and as they come.
t_networks() {
    local platform
    for platform in on_mesh on_ring; do
        expect 0 -- run tests/system/fabrics.heddle --platform $platform --generic || return 1
        expect 0 -- run tests/system/fabrics.heddle --platform $platform --generic --set '**.stop.depth=2' || return 1
        expect 0 -- run tests/system/fabrics.heddle --platform $platform --generic --set tester.episodes=20 --stats "$out/work/ref.json" --stats-no-host || return 1
        expect 0 -- run tests/system/fabrics.heddle --platform $platform --set tester.episodes=20 --tick-order=random:2 --stats "$out/work/new.json" --stats-no-host || return 1
        same "$out/work/ref.json" "$out/work/new.json" || return 1
    done
    # endpoints, several connections on a wire between them; what passes one passes the wire and the other
    expect 0 -- run tests/system/fabrics.heddle --platform on_endpoints --generic --set near.depth=1 --set far.depth=1 --set hub.depth=1 || return 1
    expect 0 -- run tests/system/fabrics.heddle --platform on_endpoints --generic --set tester.episodes=20 --stats "$out/work/ref.json" --stats-no-host || return 1
    expect 0 -- run tests/system/fabrics.heddle --platform on_endpoints --set tester.episodes=20 --tick-all --tick-order=random:2 --stats "$out/work/new.json" --stats-no-host || return 1
    same "$out/work/ref.json" "$out/work/new.json" || return 1
    python3 - "$out/work/ref.json" <<'END'
import json, sys
run = json.load(open(sys.argv[1]))
for k in "01":
    near, far, wire = run["components"][f"near[{k}]"], run["components"][f"far[{k}]"], run["links"][f"wire[{k}] -> far[{k}]"]
    for way in "forward", "backward":
        assert near[way + "_bytes"] == far[way + "_bytes"] == wire[way]["bytes"] > 0, (k, way)
        assert near[way + "_messages"] == far[way + "_messages"] == wire[way]["messages"], (k, way)
END
}
# Four memory systems and the ways between them, too narrow for what the tester does to them.
t_memtest4() {
    local setting n
    for setting in node.l2_write=back node.l2_write=through node.l2_write=evict; do
        for n in ring one_way; do
            expect 0 -- run tests/system/memtest4.heddle --generic --set tester.episodes=50 --set $setting --set topology=$n --set node.depth=2 || return 1
        done
    done
    expect 0 -- run tests/system/memtest4.heddle --set node.depth=2 --set tester.episodes=20 --stats "$out/work/ref.json" --stats-no-host || return 1
    for n in --threads=3 --generic --tick-order=random:4 --tick-all; do
        HEDDLE_THREAD_DELAYS=3 expect 0 -- run tests/system/memtest4.heddle --set node.depth=2 --set tester.episodes=20 $n --stats "$out/work/new.json" --stats-no-host || return 1
        ! grep -q 'no partitions' "$out/work/log" || { fail "one thread"; return 1; }
        same "$out/work/ref.json" "$out/work/new.json" || { fail "memtest4 with $n"; return 1; }
    done
}
# Pages move between four memory systems while they are used; then few pages and first levels that hold all of them, so that what is
# left of a page that has gone is met again.
t_memtest_moves() {
    local policy n memtest=tests/system/memtest_moves.heddle
    local few="--set node.l1.size=16KiB --set node.l1.ways=16 --set tester.frames=2 --set tester.span=16KiB --set tester.locations=512 --set tester.actions=64"
    for policy in back through; do
        for n in "--set tester.episodes=30" "--set tester.episodes=60 --set tester.threads=1 --set tester.seed=3 $few"; do
            # shellcheck disable=SC2086
            expect 0 -- run $memtest --generic --set node.l2_write=$policy $n --stats "$out/work/ref.json" || return 1
            python3 -c 'import json, sys
c = json.load(open(sys.argv[1]))["components"]
moves, nodes = c["tester"]["moves"], [{k: c["node[%d].%s" % (i, k)] for k in ("cp", "pages")} for i in range(4)]
assert moves > 50 and moves == sum(n["pages"]["pages"] for n in nodes), moves
assert all(n["cp"]["shootdowns"] == moves and 0 < n["cp"]["pauses"] <= moves and n["cp"]["paused_cycles"] for n in nodes), nodes' "$out/work/ref.json" || { fail "$policy $n"; return 1; }
        done
    done
    # Pages with copies for reading, which go when somebody writes; further copies of a page take no pause.
    local copies="--set tester.copies=true --set node.policy=read_duplicate"
    for policy in back through; do
        # shellcheck disable=SC2086
        expect 0 -- run $memtest --generic $copies --set node.l2_write=$policy --set tester.episodes=15 --stats "$out/work/ref.json" || return 1
        python3 -c 'import json, sys
c = json.load(open(sys.argv[1]))["components"]
t, pages = c["tester"], [c["node[%d].pages" % i] for i in range(4)]
assert t["moves"] + t["copies_made"] == sum(p["pages"] for p in pages) and min(t["moves"], t["copies_made"], t["copies_written"]) > 50, t
assert all(p["write_faults"] > 50 for p in pages), pages' "$out/work/ref.json" || { fail "copies, $policy"; return 1; }
    done
    # shellcheck disable=SC2086
    expect 0 -- run $memtest --set tester.episodes=5 $copies --stats "$out/work/ref.json" --stats-no-host || return 1
    for n in --threads=3 --generic --tick-order=random:4 --tick-all; do
        # shellcheck disable=SC2086
        HEDDLE_THREAD_DELAYS=3 expect 0 -- run $memtest --set tester.episodes=5 $copies $n --stats "$out/work/new.json" --stats-no-host || return 1
        same "$out/work/ref.json" "$out/work/new.json" || { fail "memtest_moves with $n"; return 1; }
    done
    # A state in which pages are on their way.
    # shellcheck disable=SC2086
    expect 0 -- run $memtest --set tester.episodes=5 $copies --checkpoint "$out/work/state" --checkpoint-at 100us || return 1
    # shellcheck disable=SC2086
    expect 0 -- run $memtest --set tester.episodes=5 $copies --restore "$out/work/state" --stats "$out/work/new.json" --stats-no-host || return 1
    same "$out/work/ref.json" "$out/work/new.json"
}
# Two kernels of docs/evidence/write-policies.md; in full, all of them.
t_write_policies() {
    local part=()
    [ "$full" = yes ] && part=(--all)
    expect 0 'numbers are those of' -- python3 tests/bench/policies/run.py "$heddle" "$programs" --check docs/evidence/write-policies.md "${part[@]}"
}

# Programs for several GPUs give the same bytes however they are run; with --full ten runs of each, and a hundred that end.
t_determinism_gpus() {
    local p i variant list="halo gpu_threads"
    [ "$full" = yes ] && list=$gpus_programs
    for p in $list; do
        expect 0 '^PASS' -- run platforms/ring4.heddle --stats "$out/work/ref.json" --stats-no-host -- "$programs/$p" || return 1
        for variant in "--tick-order=random:5" "--threads=2" "--generic"; do
            expect 0 '^PASS' -- run platforms/ring4.heddle $variant --stats "$out/work/new.json" --stats-no-host -- "$programs/$p" || return 1
            same "$out/work/ref.json" "$out/work/new.json" || { fail "$p with '$variant'"; return 1; }
        done
        [ "$full" = yes ] || continue
        for ((i = 0; i < 100; i++)); do
            expect 0 '^PASS' -- timeout 60 "$heddle" run platforms/ring4.heddle --stats "$out/work/new.json" --stats-no-host -- "$programs/$p" || { fail "$p, run $i"; return 1; }
            [ $i -ge 10 ] || same "$out/work/ref.json" "$out/work/new.json" || { fail "$p, run $i"; return 1; }
        done
    done
}
t_bad_instruction() { expect 3 '^PASS' "warning: kernel 'lacks' .*s_rfe_b64 .* at 0x[0-9a-f]+" -- run platforms/tiny.heddle -- "$programs/bad_instruction" "$(arguments_of bad_instruction)"; }
t_bad_missing_kernel() { expect 0 -- run platforms/tiny.heddle -- "$programs/bad_missing_kernel" "$kernels"; }
t_bad_block() { expect 0 -- run platforms/tiny.heddle -- "$programs/bad_block"; }
t_bad_lds() { expect 0 -- run platforms/tiny.heddle -- "$programs/bad_lds"; }
t_bad_oom() { expect 0 -- run platforms/tiny.heddle -- "$programs/bad_oom"; }
t_bad_peer() {
    expect 3 '^PASS' 'memory of GPU 1' 'hipDeviceEnablePeerAccess.1, 0.' 's_load|flat_load|global_load' -- run platforms/ring4.heddle -- "$programs/bad_peer" || return 1
    expect 3 '^PASS' 'memory of GPU 1' 'hipDeviceEnablePeerAccess.1, 0.' -- run platforms/ring4.heddle --mode functional -- "$programs/bad_peer" || return 1
    expect 0 '^PASS' -- run platforms/ring4.heddle -- "$programs/bad_peer" enabled || return 1
    expect 0 '^PASS' -- run platforms/ring4.heddle --mode functional -- "$programs/bad_peer" enabled
}
t_bad_freed() { expect 3 -- run platforms/tiny.heddle -- "$programs/bad_freed"; }
t_bad_hostptr() { expect 3 -- run platforms/tiny.heddle -- "$programs/bad_hostptr"; }
t_bad_oob() { expect nonzero 'kernel' '0x[0-9a-f]+' 'flat_load|global_load' 'work-group' 'lane' -- run platforms/tiny.heddle -- "$programs/bad_oob"; }
t_bad_spin() { HEDDLE_HOST_PATIENCE=1 expect 0 '^PASS' 'host thread 2 .* has run for 1' 'cycle counts' -- run platforms/tiny.heddle -- "$programs/bad_spin"; }
t_bad_missing_program() { expect nonzero 'no_such_program' -- run platforms/tiny.heddle -- ./no_such_program; }
t_bad_stats_path() {
    expect nonzero 'no_such_folder' -- run platforms/tiny.heddle --stats /no_such_folder/x.json -- "$programs/vectoradd" || return 1
    mkdir -p "$out/work/ro"
    [ ! -e "$out/work/ro/x.json" ]
}
t_bad_option() { expect 2 'stats' -- run platforms/tiny.heddle --stat x -- "$programs/vectoradd"; }
# Traces of its own on rtx3070: closed forms, limits, streams, mistakes, and the same bytes however they are played.
t_sass_trace() {
    expect 0 '^ok$' -- python3 tests/system/sass_play.py "$heddle" platforms "$out/work/sass_play"
}

# Chosen kernels, warm-up, experiment and sample on lists of traces.
t_sass_warmup() {
    expect 0 '^ok$' -- python3 tests/system/sass_warmup.py "$heddle" platforms "$out/work/sass_warmup"
}

# A trace that is many times larger than the memory it is grouped in, and its temporary file.
t_sass_bounds() {
    rm -rf "$out/work/sass_bounds"
    expect 0 '^within bounds' -- python3 tests/bench/sass/bounds.py "$heddle" 8e6 "$out/work/sass_bounds" 1 --generic --set sms=8 --set channels=2
}

# Real traces, which lie outside of the repository, beside the figures of another simulator.
t_sass_reference() {
    local traces=${SASS_DATA:-../shared/data/sass}
    [ -d "$traces" ] || { echo "    SKIPPED: no real traces in '$traces'; name their folder with SASS_DATA"; return 0; }
    expect 0 'rank correlation' -- python3 tests/bench/sass/run.py "$heddle" "$traces" --check --page docs/evidence/nvidia.md || return 1
    [ "$full" = yes ] || return 0
    expect 0 -- python3 tests/bench/sass/warmup.py "$heddle" "$traces" --page docs/evidence/warmup.md
}

t_api_trace() {
    local traces=tests/components/traces/api_trace/traces work=$out/work/api_trace
    expect 0 'vecadd/cuda_calls.trace: 10 calls, no errors' -- "$heddle" api-trace check $traces/vecadd || return 1
    expect 0 '25 calls, no errors' -- "$heddle" api-trace check $traces/pipeline/cuda_calls.trace || return 1
    expect 1 'damaged/cuda_calls.trace:2: error: .* 63 bytes' 'trace:3: error: .*missing.data' 'trace:5: error: dptr-7' '3 errors' \
        -- "$heddle" api-trace check $traces/damaged || return 1
    expect 1 "cannot read 'nowhere'" -- "$heddle" api-trace check nowhere || return 1
    expect 2 "there is no 'play'" -- "$heddle" api-trace play $traces/vecadd || return 1
    expect 1 "trace:6: error: no code object has a kernel '_Z6vecAddPiS_S_i'" \
        -- "$heddle" api-trace check $traces/vecadd --module "$kernels" || return 1
    expect 1 'is neither a code object nor a bundle' -- "$heddle" api-trace check $traces/vecadd --module meson.build || return 1
    mkdir -p "$work"
    cp $traces/vecadd/*.data "$work" && cp "$kernels" "$work/kernels.hsaco" || return 1
    { echo 'heddle api-trace 1' && echo 'HIP code object: file: kernels.hsaco' && sed s/_Z6vecAddPiS_S_i/scale/ $traces/vecadd/cuda_calls.trace; } \
        >"$work/cuda_calls.trace" || return 1
    expect 0 '11 calls, no errors' -- "$heddle" api-trace check "$work" || return 1
    head -c 500 "$kernels" >"$work/kernels.hsaco"
    expect 1 "cuda_calls.trace:2: error: 'kernels.hsaco': " -- "$heddle" api-trace check "$work"
}
. tests/system/packets/cases.sh
. tests/system/record_trace.sh

# A program as it is, recorded, and played: the same statistics, but for the hash of what ran. Recording what is played gives the
# same trace.
recorded() {
    local platform=$1 p=$2 work=$out/work/record how
    rm -rf "$work" && mkdir -p "$work" || return 1
    # shellcheck disable=SC2046
    expect 0 '^PASS' -- run "$platform" --stats "$work/ref.json" --stats-no-host -- "$programs/$p" $(arguments_of "$p") || return 1
    # shellcheck disable=SC2046
    expect 0 '^PASS' "recorded in '$work/trace'" -- run "$platform" --stats "$work/recorded.json" --stats-no-host \
        --record api="$work/trace" -- "$programs/$p" $(arguments_of "$p") || return 1
    same "$work/ref.json" "$work/recorded.json" || return 1
    expect 0 'no errors' -- "$heddle" api-trace check "$work/trace" || return 1
    expect 0 '^ratio: 1.000000$' -- run "$platform" --stats "$work/played.json" --stats-no-host --play api="$work/trace" \
        --record api="$work/again" || return 1
    for how in ref played; do sed -i '/^ *"program": /d' "$work/$how.json"; done
    same "$work/ref.json" "$work/played.json" || return 1
    # at its end the player waits for all devices
    head -n "$(wc -l <"$work/trace/cuda_calls.trace")" "$work/again/cuda_calls.trace" >"$work/again/calls"
    same "$work/trace/cuda_calls.trace" "$work/again/calls"
}

t_record() {
    local p list="vectoradd module copies device_variables prints managed streams host_threads threads"
    [ "$full" = no ] || list="$good_programs own_streams stream_rules flushes late_arguments"
    for p in $list; do
        recorded platforms/tiny.heddle "$p" || { fail "$p"; return 1; }
    done
}

t_record_gpus() {
    local p list="peer_ring gpu_threads own_devices"
    [ "$full" = no ] || list="$gpus_programs own_devices peers devices"
    for p in $list; do
        recorded platforms/ring4.heddle "$p" || { fail "$p"; return 1; }
    done
    [ "$full" = no ] || recorded platforms/managed4.heddle managed_pingpong
}

# What one platform records, another plays; and under every order of ticks.
t_record_elsewhere() {
    local work=$out/work/elsewhere platform
    mkdir -p "$work"
    expect 0 '^PASS' -- run platforms/r9nano.heddle --record api="$work/trace" -- "$programs/streams" || return 1
    for platform in tiny r9nano_x4; do
        expect 0 '^ratio: 1.000000$' -- run platforms/$platform.heddle --play api="$work/trace" || return 1
    done
    expect 0 '^ratio: 1.000000$' -- run platforms/tiny.heddle --mode functional --play api="$work/trace/cuda_calls.trace" || return 1
    expect 0 -- run platforms/tiny.heddle --stats "$work/a.json" --stats-no-host --play api="$work/trace" || return 1
    expect 0 -- run platforms/tiny.heddle --tick-order random:3 --threads 2 --stats "$work/b.json" --stats-no-host --play api="$work/trace" || return 1
    same "$work/a.json" "$work/b.json" || return 1
    expect 0 '^PASS' -- run platforms/ring4.heddle --record api="$work/gpus" -- "$programs/peer_ring" || return 1
    expect 1 "gpus:[0-9]+: error: the trace uses device 1; the platform has 1" -- run platforms/tiny.heddle --play api="$work/gpus"
}

# A recording appears whole or not at all.
t_record_refused() {
    local work=$out/work/refused before
    mkdir -p "$work/there"
    expect 1 "'--record api=$work/there': this exists already" -- run platforms/tiny.heddle --record api="$work/there" -- "$programs/vectoradd" || return 1
    expect 2 'records a program; name one' -- run platforms/tiny.heddle --record api="$work/new" || return 1
    expect 1 'cannot make a folder there' -- run platforms/tiny.heddle --record api="$work/no/new" -- "$programs/vectoradd" || return 1
    expect 1 'has not used HIP' -- run platforms/tiny.heddle --record api="$work/new" -- /bin/true || return 1
    expect 3 'a kernel broke the device' 'nothing is recorded' -- run platforms/tiny.heddle --record api="$work/new" -- "$programs/bad_oob" || return 1
    expect 6 'nothing is recorded' -- run platforms/tiny.heddle --max-cycles 100000 --record api="$work/new" -- "$programs/endless" || return 1
    expect 1 '^PASS' 'cannot be recorded: it writes to user queues' -- run tests/system/queues.heddle --record api="$work/new" -- "$programs/user_queues" || return 1
    before=$(ls "$work")
    [ "$before" = there ] || fail "left behind: $before"
}

# One wrong byte, and traces written by hand with mistakes that only playing finds.
t_play_mistakes() {
    local traces=tests/components/traces/api_trace/traces work=$out/work/play module=$programs/vecadd_kernels.hsaco says
    mkdir -p "$work"
    cp $traces/vecadd/* "$work" && chmod u+w "$work"/* || return 1
    expect 0 '^total: 64 bytes$' '^ratio: 1.000000$' -- run platforms/tiny.heddle --play api="$work" --module "$module" || return 1
    printf '\x07' | dd of="$work/cuMemcpyD2H-0-64.data" bs=1 seek=9 conv=notrunc status=none
    expect 1 "play:7: 'cuMemcpyD2H-0-64.data': byte 9: expected 0x07, found 0x00; 1 of 64" '^correct: 63 bytes$' '^ratio: 0.984375$' \
        -- run platforms/tiny.heddle --play api="$work" --module "$module" || return 1
    cp $traces/vecadd/cuMemcpyD2H-0-64.data "$work"
    # a free in the middle does not end it
    sed -i '/free.*dptr-0/d; /memcpyD2H/i CUDA free detected: dptr: dptr-0' "$work/cuda_calls.trace"
    expect 0 '^total: 64 bytes$' '^ratio: 1.000000$' -- run platforms/tiny.heddle --play api="$work" --module "$module" || return 1
    expect 1 "trace:6: no code object has a kernel|play:6: error: no code object has a kernel '_Z6vecAddPiS_S_i': name one with --module" \
        -- run platforms/tiny.heddle --play api="$work" || return 1
    while IFS='|' read -r edit says; do
        sed "$edit" $traces/vecadd/cuda_calls.trace >"$work/cuda_calls.trace"
        expect 1 "$says" -- run platforms/tiny.heddle --stats "$work/stats.json" --play api="$work" --module "$module" || return 1
        [ ! -e "$work/stats.json" ] || { fail "statistics of a trace that was refused: $edit"; return 1; }
    done <<'END'
s/cuMemcpyH2D-1-64.data/missing.data/|trace:5: error: cannot read the file 'missing.data'
s/dptr-0, host_ptr: 0x7f0000001010, size: 64/dptr-0, host_ptr: 0x7f0000001010, size: 65/|trace:4: error: 65 bytes from byte 0 of dptr-0
1s/64/128/;4s/size: 64/size: 128/|trace:4: error: the file 'cuMemcpyH2D-0-64.data' has 64 bytes, the copy 128
6s/dptr-0/dptr-9/|trace:6: error: dptr-9 does not exist
6s/_Z6vecAdd/_Z6vecSub/|trace:6: error: no code object has a kernel '_Z6vecSub
2s/64/6four/|trace:2: error: 'size' is '6four'
$d;$!{8s/CUDA/HIP/}|trace:8: error: 'HIP free detected.* is no call
END
}

# The extended grammar as somebody may write it: two streams, an event between them, symbols, copies that nobody waits for.
t_play_streams() {
    local traces=tests/components/traces/api_trace/traces work=$out/work/play_streams
    mkdir -p "$work"
    cp $traces/vecadd/*.data "$work" && cp "$programs/vecadd_kernels.hsaco" "$work/k.hsaco" || return 1
    cat >"$work/cuda_calls.trace" <<'END'
heddle api-trace 1
HIP code object: file: k.hsaco
CUDA memalloc: dptr: dptr-0, size: 64
CUDA memalloc: dptr: dptr-1, size: 64
CUDA memalloc: dptr: dptr-2, size: 128
HIP stream create: stream: stream-1, flags: 1
HIP stream create: stream: stream-2, flags: 1
HIP event create: event: event-0, flags: 0
HIP memset: device_ptr: dptr-2, value: 2779096485, width: 4, count: 32
HIP memcpy async H2D: device_ptr: dptr-0, size: 64, data_file: cuMemcpyH2D-0-64.data, stream: stream-1
HIP memcpy async H2D: device_ptr: dptr-1, size: 64, data_file: cuMemcpyH2D-1-64.data, stream: stream-2
HIP event record: event: event-0, stream: stream-2
HIP stream wait event: stream: stream-1, event: event-0
HIP launch: kernel: _Z6vecAddPiS_S_i, gdx: 2, gdy: 1, gdz: 1, bdx: 8, bdy: 1, bdz: 1, sharedBytes: 0, stream: stream-1, args: 0=dptr-0/8=dptr-1/16=dptr-2+64/24=10000000/
HIP memcpy async D2D: to: dptr-2, from: dptr-2+64, size: 64, stream: stream-1
HIP memcpy async D2H: device_ptr: dptr-2, size: 64, data_file: cuMemcpyD2H-0-64.data, stream: stream-1
HIP stream synchronize: stream: stream-1
HIP symbol H2D: symbol: offsets, offset: 0, size: 64, data_file: cuMemcpyH2D-1-64.data
HIP symbol D2H: symbol: offsets, offset: 0, size: 64, data_file: cuMemcpyH2D-1-64.data
HIP event synchronize: event: event-0
HIP event destroy: event: event-0
HIP stream destroy: stream: stream-2
END
    expect 0 '^total: 128 bytes$' '^ratio: 1.000000$' -- run platforms/tiny.heddle --play api="$work" || return 1
    sed -i 's/symbol: offsets, offset: 0, size: 64/symbol: offsets, offset: 8, size: 64/' "$work/cuda_calls.trace"
    expect 1 "play_streams:18: error: 64 bytes from byte 8 of 'offsets' do not lie in its 64 bytes" -- run platforms/tiny.heddle --play api="$work"
}

# A trace that SST's tracer has made; HEDDLE_BALAR_VECADD names its folder.
t_play_balar() {
    local trace=${HEDDLE_BALAR_VECADD:-}
    if [ -z "$trace" ]; then
        echo "    skipped: HEDDLE_BALAR_VECADD does not name balar's vecadd trace"
        return 0
    fi
    expect 0 '^total: 524288 bytes$' '^ratio: 1.000000$' -- run platforms/r9nano.heddle --play api="$trace" --module "$programs/vecadd_kernels.hsaco"
}
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
    deterministic docs/examples/prefetcher/streaming.heddle matmul || return 1
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

# Memory with banks and rows: programs compute the same, statistics do not depend on the order of ticks, and it is not ideal.
t_memory_hbm() {
    local p variant set=(--set gpu.memory=hbm) list="vectoradd matmul_tiled transpose copies atomics streams"
    [ "$full" = yes ] && list=$good_programs
    for p in $list; do
        expect 0 '^PASS' -- run platforms/tiny.heddle --generic "${set[@]}" -- "$programs/$p" $(arguments_of "$p") || return 1
    done
    expect 0 '^PASS' -- run platforms/r9nano.heddle --set memory=hbm --stats "$out/work/ref.json" --stats-no-host -- "$programs/stencil" || return 1
    for variant in --tick-order=random:1 --tick-all --generic; do
        expect 0 '^PASS' -- run platforms/r9nano.heddle --set memory=hbm "$variant" --stats "$out/work/new.json" --stats-no-host -- "$programs/stencil" || return 1
        same "$out/work/ref.json" "$out/work/new.json" || { fail "memory=hbm with $variant"; return 1; }
    done
    [ "$(statistic 'dram.*timing' row_hits)" -gt 0 ] && [ "$(statistic 'dram.*timing' refreshes)" -gt 0 ] || fail "no rows and refreshes"
}

# The quick part of docs/evidence/accuracy.md is what the micro-benchmarks measure today; in full, all of it.
t_validation() {
    local part=()
    [ "$full" = yes ] && part=(--all)
    expect 0 'numbers are those of' -- python3 tests/bench/micro/run.py "$heddle" "$programs/micro" --check docs/evidence/accuracy.md "${part[@]}"
}

# User queues: packets, doorbells, signals, more queues than slots, mistakes; each part of the program checks memory by itself.
t_user_queues() {
    local variant platform=tests/system/queues.heddle
    expect 0 '^PASS' -- run $platform --max-cycles 50000000 --stats "$out/work/ref.json" --stats-no-host -- "$programs/user_queues" || return 1
    [ "$(statistic 'gpu\[0\].pp.scheduler' preemptions)" -gt 0 ] || fail "no queue had to give way" || return 1
    [ "$(statistic 'gpu\[0\].pp$' errors)" = 4 ] || fail "other queues than the four wrong ones were stopped" || return 1
    for variant in --tick-order=descending --tick-order=random:1 --tick-all --generic "--threads 2"; do
        # shellcheck disable=SC2086
        expect 0 '^PASS' -- run $platform $variant --stats "$out/work/new.json" --stats-no-host -- "$programs/user_queues" || return 1
        same "$out/work/ref.json" "$out/work/new.json" || { fail "user queues with $variant"; return 1; }
    done
    # Memory of another GPU is never looked at past a signal that has not come: each GPU told the driver, which flushed the owner.
    [ "$(statistic 'gpu\[0\].pp$' releases)" -gt 0 ] && [ "$(statistic 'gpu\[0\].pp$' waits)" -gt 0 ] || fail "nothing was released or awaited" || return 1
    expect 0 'deadlock: work is unfinished' 'user queue 0 of process 1: packet 0, a barrier, waits for the signal at 0x' -- run $platform -- "$programs/user_queues" stuck || return 1
    grep -q "packet 0, a barrier, waits for the signal at $(sed -n 's/never is //p' "$out/work/log")\$" "$out/work/log" || fail "another signal is named" || return 1
    # What the driver does by itself passes through the packet processor unchanged.
    for variant in vectoradd streams scratch reduction; do
        expect 0 '^PASS' -- run platforms/tiny.heddle --generic --set queues=true -- "$programs/$variant" || return 1
    done
    expect 1 'is 3' -- run platforms/tiny.heddle --generic -- "$programs/user_queues" one || return 1
    expect 1 'is 5' -- run $platform --mode functional -- "$programs/user_queues" one
}

# Launches of HIP programs as packets in user queues: every program computes the same, more streams than queue slots and more
# launches than a ring has room for, and nothing depends on the order of ticks.
t_launch_queues() {
    local p variant set=(--set queues=true --set driver.launch_by=queue)
    local list="many_streams streams scratch calls prints overlap stream_rules host_threads"
    [ "$full" = yes ] && list="$good_programs many_streams stream_rules"
    for p in $list; do
        expect 0 '^PASS' -- run platforms/r9nano.heddle "${set[@]}" --stats "$out/work/ref.json" -- "$programs/$p" $(arguments_of "$p") || return 1
        [ "$(statistic 'gpu.pp$' dispatches)" = "$(statistic 'driver$' launches)" ] || fail "$p: launches went another way" || return 1
    done
    expect 0 '^PASS' -- run platforms/tiny.heddle "${set[@]}" --set driver.queue_packets=4 -- "$programs/many_streams" 4 40 || return 1
    expect 0 '^PASS' -- run platforms/tiny.heddle "${set[@]}" --set driver.staging=separate -- "$programs/many_streams" 12 || return 1
    # Several GPUs: copies, peers, unified devices (each GPU runs a part of the work-groups), managed pages that move.
    for p in peer_ring halo; do
        expect 0 '^PASS' -- run $ring "${set[@]}" -- "$programs/$p" || return 1
    done
    expect 0 '^PASS' -- run $ring "${set[@]}" --unified 0,1,2,3 -- "$programs/vectoradd" 2000 || return 1
    expect 0 '^PASS' -- run platforms/managed4.heddle --generic "${set[@]}" -- "$programs/managed_pingpong" || return 1
    if [ "$full" = yes ]; then
        for p in $gpus_programs; do
            expect 0 '^PASS' -- run platforms/ring4.heddle "${set[@]}" -- "$programs/$p" || return 1
            expect 0 '^PASS' -- run platforms/r9nano_x4.heddle "${set[@]}" -- "$programs/$p" || return 1
        done
    fi
    expect 0 '^PASS' -- run tests/system/queues.heddle "${set[@]:2}" --stats "$out/work/ref.json" --stats-no-host -- "$programs/many_streams" || return 1
    for variant in --tick-order=descending --tick-order=random:1 --tick-all --generic "--threads 2"; do
        # shellcheck disable=SC2086
        expect 0 '^PASS' -- run tests/system/queues.heddle "${set[@]:2}" $variant --stats "$out/work/new.json" --stats-no-host -- "$programs/many_streams" || return 1
        same "$out/work/ref.json" "$out/work/new.json" || { fail "launches through queues with $variant"; return 1; }
    done
    expect nonzero 'launch_by = queue, but .*--set queues=true' -- run platforms/tiny.heddle --generic --set driver.launch_by=queue -- "$programs/vectoradd" || return 1
    expect nonzero 'launch_by = command' -- run platforms/tiny.heddle --generic "${set[@]}" --kernels 3 -- "$programs/many_streams" || return 1
    expect 0 '^PASS' -- run platforms/tiny.heddle "${set[@]}" --mode functional -- "$programs/many_streams"
}

# Copies from GPU to GPU: with access by the fabric, as fast as its links let them; without it through the host.
t_peer_copies() {
    local f a variant fabric=platforms/r9nano_x8_fabric.heddle
    for f in ring4 r9nano_x4; do
        for a in none push pull; do
            expect 0 '^PASS' -- run platforms/$f.heddle --stats "$out/work/ref.json" -- "$programs/peer_copies" 20000 $a || return 1
            [ $a = none ] && [ "$(statistic rdma copied_out)" = 0 ] && continue
            [ "$(statistic rdma copied_out)" -ge $((20000 / 64)) ] || fail "$f: copies with $a took another way" || return 1
            [ "$(statistic rdma copied_out)" = "$(statistic rdma copied_in)" ] || fail "$f: not all that left came in" || return 1
        done
    done
    for f in peer_ring allreduce halo; do
        [ "$full" = yes ] || break
        expect 0 '^PASS' -- run $fabric -- "$programs/$f" || return 1
    done
    # A megabyte: 16,384 answers of 72 bytes each over one link, and less than 6 us for the rest. At full speed the DMA engine is
    # the narrower place: for each line it sends two requests, one a cycle.
    for f in "5GB/s 235930" "10GB/s 117965" "50GB/s 32768"; do
        expect 0 '^PASS' -- run $fabric --generic --set "xgmi.bandwidth=${f% *}" --stats "$out/work/ref.json" -- "$programs/peer_copies" 1048576 pull 2 5 || return 1
        python3 - "$out/work/log" "${f#* }" "$out/work/ref.json" <<'END' || return 1
import json, re, sys
ns, bound = float(re.search(r"copied in (\d+) ns", open(sys.argv[1]).read())[1]), float(sys.argv[2])
assert bound <= ns < bound + 6000, f"{ns} ns, expected {bound} and up to 6000 more"
sent = sum(c["bytes"] for k, v in json.load(open(sys.argv[3]))["links"].items() if k.startswith("hop[") and k.endswith("-> gpu[5]")
           for port, c in v["forward_channels"].items() if port.startswith("gpu[2]."))
assert sent >= 72 * 16384, f"{sent} bytes on the link"
END
    done
    expect 0 '^PASS' -- run platforms/ring4.heddle --stats "$out/work/ref.json" --stats-no-host -- "$programs/peer_copies" 9000 || return 1
    for variant in --tick-order=descending --tick-order=random:1 --tick-all --generic "--threads 2"; do
        # shellcheck disable=SC2086
        expect 0 '^PASS' -- run platforms/ring4.heddle $variant --stats "$out/work/new.json" --stats-no-host -- "$programs/peer_copies" 9000 || return 1
        same "$out/work/ref.json" "$out/work/new.json" || { fail "copies between GPUs with $variant"; return 1; }
    done
}

# Kernels of eight queues run at the same time, on the same compute units.
t_overlap() {
    expect 0 '^PASS' -- run platforms/tiny.heddle --generic --set queues=true --stats "$out/work/ref.json" -- "$programs/user_queues" overlap || return 1
    python3 tests/system/overlap.py "$out/work/ref.json" || return 1
    expect 0 "^PASS" -- run platforms/tiny.heddle --record perfetto="$out/work/trace.json" --stats "$out/work/ref.json" -- "$programs/overlap" || return 1
    python3 tests/system/overlap.py "$out/work/ref.json" || return 1
    python3 tests/bench/dispatch/picture.py "$out/work/trace.json" >"$out/work/overlap.svg" || return 1
    [ "$(grep -c "<rect" "$out/work/overlap.svg")" = $((1 + 8 + 48)) ] || fail "not 8 kernels and 48 work-groups in the picture"
}

# docs/evidence/dispatching.md: what an empty kernel costs, as measured on the card, and what it would cost with ACK and NAK.
t_dispatching() {
    expect 0 '416 numbers simulated, 0 wrong' -- python3 tests/bench/dispatch/run.py "$heddle" "$programs/micro/dispatch" --check docs/evidence/dispatching.md
}

# What the L2 writes back at a flush must not stay in the L3; small caches keep it there if it can.
t_example_l3() {
    local p
    for p in vectoradd histogram streams reduction; do
        expect 0 '^PASS' -- run docs/examples/l3/l3.heddle -- "$programs/$p" || return 1
    done
    deterministic docs/examples/l3/l3.heddle matmul_tiled || return 1
    [ "$(statistic 'l3' writes)" -gt 0 ] || { fail "nothing was written to the L3"; return 1; }
    [ "$(statistic 'l3' writebacks)" -gt 0 ] || fail "the L3 wrote nothing back"
}

# docs/guide/mistakes.md is what the checker says today about tests/system/newcomer.
t_newcomer() {
    expect 0 -- "$heddle" check tests/system/newcomer/base/tiny.heddle || return 1
    expect 0 -- "$heddle" check tests/system/newcomer/base/array.heddle || return 1
    tests/system/newcomer/document.sh "$heddle" >"$out/work/errors-newcomer.md" || return 1
    [ "$(grep -c '^1 error$' "$out/work/errors-newcomer.md")" = 10 ] || { fail "not exactly one error for each of the ten mistakes"; return 1; }
    diff docs/guide/mistakes.md "$out/work/errors-newcomer.md" >"$out/work/log" || { head -n 20 "$out/work/log"; fail "docs/guide/mistakes.md is not up to date"; }
}

# The commands of README.md, in an empty folder, without an error or a warning.
t_readme() {
    local folder=$out/work/readme
    mkdir -p "$folder"
    sed -n '/^## A platform of your own/,/^The \[guide\]/p' README.md | sed -n '/^```$/,/^```$/{/^```$/d;p}' |
        sed "s#^export PATH=.*#export PATH=$(dirname "$heddle"):\$PATH#; s#\.\./tests/#$PWD/tests/#" >"$folder/commands"
    [ "$(wc -l <"$folder/commands")" -ge 8 ] || { fail "README.md has no such commands"; return 1; }
    expect 0 'no errors' '^PASS' 'cycles' -- bash -ec "cd '$folder' && . ./commands" || return 1
    ! grep -q 'warning' "$out/work/log" || { cat "$out/work/log"; fail "a warning"; }
}

t_guide() {
    tests/system/guide.sh "$heddle" "$out/work/guide" >"$out/work/log" 2>&1 </dev/null || { tail -n 20 "$out/work/log"; fail "a command of docs/guide/start.md failed"; }
}

. tests/system/play.sh
. tests/system/warmup.sh

# Those that take longest come first, so that no runner is left alone with one at the end.
long="t_threads_sanitized t_guide"
cases=$(declare -F | awk '{print $3}' | grep '^t_' | grep -F -- "$pattern")
cases="$(for t in $long; do grep -x "$t" <<<"$cases"; done) $(grep -vxF "${long// /$'\n'}" <<<"$cases")"

# Runner NUMBER takes one case after the other that no other runner has taken.
runner() {
    local t begin verdict
    out=$system/$1
    for t in $cases; do
        mkdir "$system/taken/$t" 2>/dev/null || continue
        rm -rf "$out/work"
        mkdir -p "$out/work"
        begin=$(date +%s)
        verdict=FAILED
        ("$t") >"$out/said" 2>&1 && verdict=ok
        printf '%-6s %-28s %4d s\n' "$verdict" "${t#t_}" $(($(date +%s) - begin)) >>"$out/said"
        echo "$verdict" >"$system/taken/$t/verdict"
        cat "$out/said" # in one piece
    done
}

rm -rf "$system/taken"
mkdir -p "$system/taken"
# In groups of their own, so that signals are not ignored there, as they are in a shell's background, and all of a group can be ended.
groups=()
trap 'for g in "${groups[@]}"; do kill -- "-$g" 2>/dev/null; done; exit 130' INT TERM
set -m
for n in $(seq "${HEDDLE_JOBS:-$(nproc)}"); do
    mkdir -p "$system/$n"
    runner "$n" &
    groups+=($!)
done
set +m
wait
count() { cat "$system"/taken/*/verdict 2>/dev/null | grep -cx "$1"; }
passed=$(count ok)
failed=$(($(wc -w <<<"$cases") - passed)) # with those that came to no verdict
printf 'system: %d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
