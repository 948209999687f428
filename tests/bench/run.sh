#!/usr/bin/env bash
# Speed, measured as it is claimed: run.sh BUILD [RUNS]. Whole processes, medians over RUNS (default 5), CPU seconds of
# the simulating process and its peak memory, from its own statistics. Prints Markdown tables; docs/speed.md keeps them.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "$1")
runs=${2:-5}
heddle=$build/codegen/heddle
out=$build/bench
mkdir -p "$out"

# The number behind "key": in a statistics file.
field() { grep -oE "\"$1\": *[0-9.e+]+" "$2" | tail -n 1 | grep -oE '[0-9.e+]+$'; }
median() { sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
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
echo "## Memory path (64 CUs, translation and L1, 16 L2, DRAM)"
echo
"$build/tests/bench/spike/spike"
echo
echo "## Instruction semantics"
echo
[ ! -x "$build/tests/bench/bench_isa" ] || "$build/tests/bench/bench_isa"

echo
echo "## HIP programs on r9nano, timing mode, one thread (median of $runs)"
echo
echo "| program | wavefront instructions | cycles | CPU s | KIPS | peak MB |"
echo "| --- | ---: | ---: | ---: | ---: | ---: |"
"$heddle" build platforms/r9nano.heddle >/dev/null
while read -r name arguments; do
    for i in $(seq "$runs"); do
        # shellcheck disable=SC2086
        "$heddle" run platforms/r9nano.heddle --stats "$out/$name-$i.json" -- "$build/tests/programs/$name" $arguments >/dev/null
    done
    stats=$out/$name-1.json
    instructions=$(grep -oE '"wavefront_instructions": *[0-9]+' "$stats" | grep -oE '[0-9]+$' | paste -sd+ | sed 's/$/+0/' | bc 2>/dev/null || true)
    [ -n "$instructions" ] || instructions=$(grep -oE '"wavefront_instructions": *[0-9]+' "$stats" | grep -oE '[0-9]+$' | awk '{ s += $1 } END { print s }')
    cycles=$(grep -oE '"cycles": *[0-9]+' "$stats" | grep -oE '[0-9]+$' | awk '{ s += $1 } END { print s }')
    cpu=$(for i in $(seq "$runs"); do field cpu_seconds "$out/$name-$i.json"; done | median)
    rss=$(for i in $(seq "$runs"); do field peak_rss_bytes "$out/$name-$i.json"; done | median)
    awk -v p="$name $arguments" -v n="$instructions" -v c="$cycles" -v s="$cpu" -v m="$rss" \
        'BEGIN { printf "| %s | %d | %d | %.3f | %.0f | %.0f |\n", p, n, c, s, n / s / 1000, m / 1e6 }'
done <<'END'
vectoradd 1000000
saxpy 1000000
matmul 256
matmul_tiled 256
transpose 1024
reduction 1000000
histogram 1000000
stencil 512
END

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
changed() { ways=$((ways + 1)); HEDDLE_CACHE=$out/cache "$heddle" build platforms/r9nano.heddle --set "gpu.l2tlb.ways=$ways"; }
echo "| build r9nano, one parameter changed | $(milliseconds changed) |"
same() { HEDDLE_CACHE=$out/cache "$heddle" build platforms/r9nano.heddle; }
echo "| build r9nano, nothing changed | $(milliseconds same) |"
start() { HEDDLE_CACHE=$out/cache "$heddle" run platforms/r9nano.heddle -- "$build/tests/programs/vectoradd" 64; }
echo "| run vectoradd 64 on it, start to end | $(milliseconds start) |"
