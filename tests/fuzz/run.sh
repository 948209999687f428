#!/usr/bin/env bash
# Runs every fuzzer: run.sh BUILD SECONDS, or run.sh BUILD --runs N with N inputs that are the same
# every time, since they do not begin with the corpus of earlier runs. The language server, whose
# inputs take longest, reads a fifth of them, the language and PTX half. A crash, a hang, a leak or
# an input that takes all memory fails. As many run at a time as there are processors (HEDDLE_JOBS).
set -euo pipefail
build=$1
same='' limit=-max_total_time=$2
[ "$2" != --runs ] || same=$3 limit="-runs=$3 -seed=1"
here=$(cd "$(dirname "$0")" && pwd)

# Real inputs to start from: without them a fuzzer hardly gets past the magic numbers.
made=$build/tests/components/amd/isa/object/objects # for unit tests, built with the fuzzers
objects=$build/seeds/fuzz_code_object bundles=$build/seeds/fuzz_bundle
mkdir -p "$objects" "$bundles"
if command -v hipcc >/dev/null; then
    kernels=$here/../programs/module_kernels.hip.cpp
    cp "$made"/v[234].hsaco "$objects" 2>/dev/null || true
    hipcc --cuda-device-only --offload-arch=gfx803 --offload-arch=gfx906 -c "$kernels" \
        -o "$bundles/two.hipfb" 2>/dev/null || true
    cp "$objects"/*.hsaco "$bundles" 2>/dev/null || true
fi
[ -n "$(ls "$objects" "$bundles")" ] ||
    echo "hipcc is missing: code objects and bundles are fuzzed without real seeds"

# The code of an object as that of target number N of targets.tab; what executes it reads a byte for
# registers besides.
code() { # OBJECT N
    local text=$build/seeds/code name
    llvm-objcopy-15 -O binary --only-section=.text "$made/$1.hsaco" "$text" 2>/dev/null || return 0
    for name in fuzz_isa_text fuzz_isa_stream; do
        mkdir -p "$build/seeds/$name"
        { printf "\\$2"; [ $name = fuzz_isa_text ] || printf '\0'; cat "$text"; } \
            >"$build/seeds/$name/$1-$2"
    done
}
code v4 0
code gfx906 2
code gfx90a 4
code gfx90a 5
code preload-gfx942-v6 5

traces=$build/seeds/fuzz_itrace
mkdir -p "$traces"
for trace in "$here"/../components/traces/instruction_trace/fixture/*.trace*; do
    cp "$trace" "$traces"
    xz -0 -c "$trace" >"$traces/$(basename "$trace").xz"
    zstd -q -c "$trace" >"$traces/$(basename "$trace").zst"
done

# fuzz FILE: runs one fuzzer and prints the end of what it says; false when it has found something.
fuzz() {
    local fuzzer=$1 name corpus seeds=() folder
    name=$(basename "$fuzzer")
    corpus=$build/corpus/$name
    [ -z "$same" ] || corpus=$(mktemp -d "$build/corpus-$name-XXXXXX")
    mkdir -p "$corpus"
    for folder in "$here/seeds/$name" "$build/seeds/$name"; do
        [ ! -d "$folder" ] || seeds+=("$folder/")
    done
    local verdict=0
    local limit=$limit
    [ -z "$same" ] || case $name in
    fuzz_lsp) limit="-runs=$((same / 5)) -seed=1" ;;
    fuzz_dsl | fuzz_ptx) limit="-runs=$((same / 2)) -seed=1" ;;
    esac
    # shellcheck disable=SC2086
    "$fuzzer" $limit -timeout=600 -rss_limit_mb=2048 \
        -print_final_stats=1 -artifact_prefix="$build/" "$corpus" "${seeds[@]}" \
        >"$build/log-$name.txt" 2>&1 || verdict=1
    echo "== $name"
    tail -n 12 "$build/log-$name.txt"
    [ -z "$same" ] || rm -r "$corpus"
    return $verdict
}

found=0 failed=0 running=0
for fuzzer in "$build"/tests/fuzz/fuzz_*; do
    [ -x "$fuzzer" ] && [ -f "$fuzzer" ] || continue
    found=$((found + 1))
    if [ $running -ge "${HEDDLE_JOBS:-$(nproc)}" ]; then
        wait -n || failed=$((failed + 1))
        running=$((running - 1))
    fi
    fuzz "$fuzzer" &
    running=$((running + 1))
done
while [ $running -gt 0 ]; do
    wait -n || failed=$((failed + 1))
    running=$((running - 1))
done
[ "$found" -gt 0 ] || { echo "no fuzzer was built" >&2; exit 1; }
echo "$found fuzzers, $failed found something"
[ "$failed" = 0 ]
