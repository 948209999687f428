#!/usr/bin/env bash
# Runs every fuzzer for SECONDS: run.sh BUILD SECONDS. A crash, a hang, a leak or an out-of-memory input fails.
set -euo pipefail
build=$1 seconds=$2
here=$(cd "$(dirname "$0")" && pwd)
found=0
for fuzzer in "$build"/tests/fuzz/fuzz_*; do
    [ -x "$fuzzer" ] && [ -f "$fuzzer" ] || continue
    found=$((found + 1))
    name=$(basename "$fuzzer")
    corpus=$build/corpus/$name
    mkdir -p "$corpus"
    seeds=$here/seeds/$name
    [ -d "$seeds" ] || seeds=
    echo "== $name"
    # Generated seeds (compiled code objects, the project's own descriptions) are put beside the corpus by meson.
    "$fuzzer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$build/" "$corpus" $seeds 2>&1 | tail -n 12
done
[ "$found" -gt 0 ] || { echo "no fuzzer was built" >&2; exit 1; }
echo "$found fuzzers, no crash"
