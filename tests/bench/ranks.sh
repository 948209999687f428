#!/usr/bin/env bash
# What ranks cost and gain: ranks.sh BUILD [PAIRS] [GROUPS] [ROUNDS] [MPIRUN]. A kernel on each of
# four GPUs (1024 and 256 are about ten million instructions each). Runs of one process, of one
# rank and of two take turns, so that what else the machine does meets all; printed, as Markdown,
# are medians of wall time and of the ratio to one process with its 95 % interval (order statistics
# of the binomial distribution), and for one run of each how many ranks met how often, what they
# told each other, and the processor time of the busiest without what it spent waiting: on a
# machine with other work it says what wall time would be, but for waiting.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "$1")
pairs=${2:-11}
groups=${3:-1024}
rounds=${4:-256}
mpirun=${5:-mpirun.openmpi}
out=$build/bench
mkdir -p "$out"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
case $mpirun in *openmpi*) how="--oversubscribe --bind-to none" ;; *) how= ;; esac

run() { # name, words before heddle, kernel statistics
    # shellcheck disable=SC2086
    $2 "$build/codegen/heddle" run platforms/ring4.heddle --set gpu.arrays=4 --set gpu.banks=4 \
        --kernel-stats "$3" --stats "$out/ranks-$1.json" \
        -- "$build/tests/programs/each_gpu" "$groups" "$rounds" >/dev/null
}

report() { # kernel statistics
    python3 - "$out" "$1" "$out/ranks-wall-$1" <<'PYTHON'
import json
import statistics
import sys

folder, kind, walls = sys.argv[1:]
rows = [[float(word) for word in line.split()] for line in open(walls, encoding="utf-8")]
tail, low = 0.5 ** len(rows), 1
term = tail
while low <= len(rows) and tail + term * (len(rows) - low + 1) / low <= 0.025:
    term *= (len(rows) - low + 1) / low
    tail += term
    low += 1
for column, name in enumerate(["alone", "one", "two"]):
    host = json.load(open(f"{folder}/ranks-{name}-{kind}.json", encoding="utf-8"))["host"]
    each = host.get("ranks", [{"cpu_seconds": host["cpu_seconds"], "meetings": 0,
                               "bytes_sent": 0, "waited_seconds": 0, "waited_cpu_seconds": 0,
                               "peak_rss_bytes": host["peak_rss_bytes"]}])
    ratio = sorted(row[0] / row[column] for row in rows)
    print(f"| {name}, {kind} | {statistics.median(row[column] for row in rows):.2f}"
          f" | {statistics.median(ratio):.2f} | {ratio[low - 1]:.2f} .. {ratio[-low]:.2f}"
          f" | {max(r['cpu_seconds'] - r['waited_cpu_seconds'] for r in each):.2f}"
          f" | {max(r['waited_seconds'] for r in each):.2f} | {each[0]['meetings']}"
          f" | {sum(r['bytes_sent'] for r in each)}"
          f" | {max(r['peak_rss_bytes'] for r in each) >> 20} |")
PYTHON
}

wall() {
    grep -oE '"wall_seconds": *[0-9.]+' "$out/ranks-$1.json" | grep -oE '[0-9.]+$'
}

echo "| run, statistics of kernels | wall, s | gain | 95 % | busiest, CPU s | waits, s | meetings" \
    "| bytes | MiB |"
echo "| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |"
for kind in none sum; do
    run "alone-$kind" "" $kind # compiles the platform
    : >"$out/ranks-wall-$kind"
    for _ in $(seq "$pairs"); do
        run "alone-$kind" "" $kind
        run "one-$kind" "$mpirun $how -n 1" $kind
        run "two-$kind" "$mpirun $how -n 2" $kind
        echo "$(wall "alone-$kind") $(wall "one-$kind") $(wall "two-$kind")" \
            >>"$out/ranks-wall-$kind"
    done
    report $kind
done
