#!/usr/bin/env bash
# What several threads would gain, from counts: threads_counted.sh BUILD [THREADS...]. No processor
# is needed for a thread and no clock is read, so the table is the same on any machine. Work is
# counted as runtime/scheduler/balance.c does: ticks, instructions, and what handing over a window
# costs. What the threads' caches gain or lose is not in it. Prints Markdown; the
# programs are those of threads.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- 2 4 8 16
heddle=$build/codegen/heddle
stats=$build/bench/threads-counted.json
mkdir -p "$build/bench"
"$heddle" build platforms/r9nano.heddle >/dev/null

counted() { # threads, key, program...
    local n=$1 key=$2
    shift 2
    HEDDLE_THREADS_COUNTED=1 "$heddle" run platforms/r9nano.heddle --threads "$n" \
        --stats "$stats" -- "$build/tests/programs/$1" "${@:2}" >/dev/null
    grep -oE "\"$key\": *[0-9.]+" "$stats" | grep -oE '[0-9.]+$'
}

echo "| program |$(printf ' %s threads |' "$@")"
echo "| --- |$(printf ' ---: |%.0s' "$@")"
while read -r program; do
    printf '| %s |' "$program"
    for threads; do
        # shellcheck disable=SC2086
        printf ' %.2f |' "$(counted "$threads" expected_gain $program)"
    done
    echo
done <tests/bench/threads.txt
