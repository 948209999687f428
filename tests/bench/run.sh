#!/usr/bin/env bash
# Speed, measured as it is claimed: run.sh BUILD [RUNS]. Whole processes, medians over RUNS
# (default 5), CPU seconds of the simulating process and its peak memory, from its own statistics.
# The statistics tell simulation apart from the rest; tables of programs have a rate for each.
# Prints Markdown tables; docs/evidence/speed.md keeps them.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "$1")
runs=${2:-5}
heddle=$build/codegen/heddle
out=$build/bench
mkdir -p "$out"

# The number behind "key": in a statistics file.
field() { grep -oE "\"$1\": *[0-9.e+]+" "$2" | tail -n 1 | grep -oE '[0-9.e+]+$'; }
median() {
    sort -g | awk '{ v[NR] = $1 }
        END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}
milliseconds() { # median wall time of a command
    local i begin
    for i in $(seq "$runs"); do
        begin=$(date +%s%N)
        "$@" >/dev/null 2>&1
        echo $((($(date +%s%N) - begin) / 10000))
    done | median | awk '{ printf "%.1f", $1 / 100 }'
}

echo "## Engine alone"
echo
"$build/tests/bench/bench_engine"
echo
echo "## Memory path: tests/bench/memory_path" \
    "(64 loaders, translation and L1, crossbar, 16 banks of L2, DRAM)"
echo
# What a run costs besides its lines (start-up, build of the tables) cancels in the difference of
# two lengths.
path_seconds() { # pattern, requests: CPU seconds, least of the runs
    local i
    for i in $(seq "$runs"); do
        "$heddle" run "$path" --set pages.page=2MiB --set "cu.pattern=$1" --set "cu.requests=$2" \
            --stats "$out/path.json" >/dev/null 2>&1
        field cpu_seconds "$out/path.json"
    done | sort -g | head -n 1
}
path=tests/bench/memory_path/memory_path.heddle
echo "| pattern | ns a line |"
echo "| --- | ---: |"
for pattern in stream strided random shared local stores; do
    awk -v p="$pattern" -v a="$(path_seconds "$pattern" 10000)" \
        -v b="$(path_seconds "$pattern" 30000)" \
        'BEGIN { printf "| %s | %.0f |\n", p, (b - a) / 20000 / 64 * 1e9 }'
done
echo
echo "## Instruction semantics"
echo
[ ! -x "$build/tests/bench/bench_isa" ] || "$build/tests/bench/bench_isa"

echo
# Sum of a kernel statistic over the launches of a run: key, statistics.
kernel_sum() {
    python3 - "$1" "$2" <<'END'
import json
import sys
key, path = sys.argv[1:]
kernels = json.load(open(path))["kernels"]
print(sum(kernel.get(key, 0) for kernel in kernels) if kernels else sys.exit(f"{path}: no kernel"))
END
}

# options of heddle run...: runs what stands on standard input, a program and its arguments a line
programs_table() {
    local name arguments i stats instructions cycles cpu simulation rss
    echo "| program | wavefront instructions | cycles | CPU s | simulation" \
        "| KIPS | KIPS of simulation | peak MB |"
    echo "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    while read -r name arguments; do
        for i in $(seq "$runs"); do
            # shellcheck disable=SC2086
            "$heddle" run platforms/r9nano.heddle "$@" --stats "$out/$name-$i.json" \
                -- "$build/tests/programs/$name" $arguments >/dev/null </dev/null
        done
        stats=$out/$name-1.json
        of_runs() { for i in $(seq "$runs"); do field "$1" "$out/$name-$i.json"; done | median; }
        cpu=$(of_runs cpu_seconds)
        simulation=$(of_runs simulation_cpu_seconds)
        rss=$(of_runs peak_rss_bytes)
        instructions=$(kernel_sum wavefront_instructions "$stats")
        cycles=$(kernel_sum cycles "$stats")
        [ "$instructions" -gt 0 ] # or all that follows is wrong
        awk -v p="$name $arguments" -v n="$instructions" -v c="$cycles" -v s="$cpu" -v m="$rss" \
            -v e="$simulation" \
            'BEGIN { printf "| %s | %d | %d | %.3f | %.3f | %.0f | %.0f | %.0f |\n",
                            p, n, c, s, e, n / s / 1000, n / e / 1000, m / 1e6 }'
    done | awk -F'|' '{ print; s += log($7); e += log($8); n++ }
        END { printf "\ngeometric means: %.0f KIPS, %.0f of simulation alone\n",
                     exp(s / n), exp(e / n) }'
}
list=tests/bench/programs.txt
"$heddle" build platforms/r9nano.heddle >/dev/null

if [ -x "$build/tests/programs/micro/unit_cost" ]; then
    echo "## Compute unit alone: loops on all 64 units that touch no memory" \
        "(tests/programs/micro/unit_cost.hip.cpp)"
    echo
    unit_run() { # kind, iterations: wavefront instructions and least CPU seconds of the runs
        local i
        for i in $(seq "$runs"); do
            "$heddle" run platforms/r9nano.heddle --stats "$out/unit.json" \
                -- "$build/tests/programs/micro/unit_cost" "$1" "$2" >/dev/null
            echo "$(field cpu_seconds "$out/unit.json")" \
                "$(kernel_sum wavefront_instructions "$out/unit.json")"
        done | sort -g | head -n 1
    }
    echo "| instructions | ns an instruction |"
    echo "| --- | ---: |"
    for kind in vector scalar lds mixed; do
        echo "$(unit_run "$kind" 100) $(unit_run "$kind" 500)" |
            awk -v k="$kind" '{ printf "| %s | %.0f |\n", k, ($3 - $1) / ($4 - $2) * 1e9 }'
    done
    echo
fi

echo "## HIP programs on r9nano, timing mode, one thread (median of $runs)"
echo
programs_table <"$list"
echo
echo "## The same in functional mode"
echo
programs_table --mode functional <"$list"

if [ -x "$build/tests/programs/call_costs" ]; then
    echo
    echo "## Calls of HIP, us of CPU time (least of $runs)"
    echo
    HEDDLE_BUILD=$build tests/bench/calls.py "$runs"
fi

if [ -x "$build/tests/programs/micro/latency" ]; then
    echo
    echo "## Micro-benchmarks on r9nano against their closed forms (docs/evidence/accuracy.md)"
    echo
    python3 tests/bench/micro/run.py "$heddle" "$build/tests/programs/micro" \
        | sed -n '/^|/p; s/^## /### /p'
fi

if [ -x "$build/tests/programs/micro/dispatch" ]; then
    echo
    echo "## Empty kernels on r9nano against the measurement of a card" \
        "(docs/evidence/dispatching.md)"
    echo
    python3 tests/bench/dispatch/run.py "$heddle" "$build/tests/programs/micro/dispatch" \
        | sed -n '/^## Result/,/^From/p' | grep '^|'
fi

echo
echo "## Two threads (pairs of runs in turn)"
echo
tests/bench/threads.sh "$build"

echo
echo "## From a description"
echo
echo "| what | ms |"
echo "| --- | ---: |"
for f in platforms/*.heddle; do
    echo "| check $f | $(milliseconds "$heddle" check "$f") |"
done
cold() { rm -rf "$out/cache"; HEDDLE_CACHE=$out/cache "$heddle" build platforms/r9nano.heddle; }
echo "| build r9nano, empty platform cache | $(milliseconds cold) |"
ways=16
changed() {
    ways=$((ways + 1))
    HEDDLE_CACHE=$out/cache "$heddle" build platforms/r9nano.heddle --set "gpu.l2tlb.ways=$ways"
}
echo "| build r9nano, one parameter changed | $(milliseconds changed) |"
same() { HEDDLE_CACHE=$out/cache "$heddle" build platforms/r9nano.heddle; }
echo "| build r9nano, nothing changed | $(milliseconds same) |"
start() {
    HEDDLE_CACHE=$out/cache "$heddle" run platforms/r9nano.heddle \
        -- "$build/tests/programs/vectoradd" 64
}
echo "| run vectoradd 64 on it, start to end | $(milliseconds start) |"
