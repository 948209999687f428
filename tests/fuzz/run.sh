#!/usr/bin/env bash
# Runs every fuzzer for SECONDS: run.sh BUILD SECONDS [SEED]. A crash, a hang, a leak or an out-of-memory input fails.
# With a SEED the corpus of earlier runs is left out, so that the inputs are the same every time (as many as fit into SECONDS).
set -euo pipefail
build=$1 seconds=$2 seed=${3:-}
here=$(cd "$(dirname "$0")" && pwd)

# Real inputs to start from: without them a fuzzer hardly gets past the magic numbers.
objects=$build/seeds/fuzz_code_object bundles=$build/seeds/fuzz_bundle
mkdir -p "$objects" "$bundles"
if command -v hipcc >/dev/null; then
    kernels=$here/../programs/module_kernels.hip.cpp
    for version in 2 3 4; do
        hipcc --cuda-device-only --no-gpu-bundle-output --offload-arch=gfx803 -mcode-object-version=$version -c "$kernels" \
            -o "$objects/v$version.hsaco" 2>/dev/null || true
    done
    hipcc --cuda-device-only --offload-arch=gfx803 --offload-arch=gfx906 -c "$kernels" -o "$bundles/two.hipfb" 2>/dev/null || true
    cp "$objects"/*.hsaco "$bundles" 2>/dev/null || true
fi
[ -n "$(ls "$objects" "$bundles")" ] || echo "hipcc is missing: code objects and bundles are fuzzed without real seeds"

traces=$build/seeds/fuzz_sass_trace
mkdir -p "$traces"
for trace in "$here"/../components/traces/instruction_trace/fixture/*.trace*; do
    cp "$trace" "$traces"
    xz -0 -c "$trace" >"$traces/$(basename "$trace").xz"
    zstd -q -c "$trace" >"$traces/$(basename "$trace").zst"
done

found=0
for fuzzer in "$build"/tests/fuzz/fuzz_*; do
    [ -x "$fuzzer" ] && [ -f "$fuzzer" ] || continue
    found=$((found + 1))
    name=$(basename "$fuzzer")
    corpus=$build/corpus/$name
    [ -z "$seed" ] || corpus=$(mktemp -d "$build/corpus-$name-XXXXXX")
    mkdir -p "$corpus"
    seeds=
    for folder in "$here/seeds/$name" "$build/seeds/$name"; do
        [ ! -d "$folder" ] || seeds="$seeds $folder/"
    done
    echo "== $name"
    # shellcheck disable=SC2086
    "$fuzzer" -max_total_time="$seconds" ${seed:+-seed="$seed"} -timeout=30 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$build/" "$corpus" $seeds 2>&1 | tail -n 12
    [ -z "$seed" ] || rm -r "$corpus"
done
[ "$found" -gt 0 ] || { echo "no fuzzer was built" >&2; exit 1; }
echo "$found fuzzers, no crash"
