#!/usr/bin/env bash
# Wall time on one thread and on several: threads.sh BUILD [PAIRS] [THREADS]. Runs of both
# kinds take turns, so that what else the machine does meets both; printed is the median of the
# ratios of pairs with its 95 % interval (order statistics of the binomial distribution), as
# Markdown. threads.txt has the programs.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "$1")
pairs=${2:-11}
threads=${3:-2}
heddle=$build/codegen/heddle
out=$build/bench
mkdir -p "$out"
"$heddle" build platforms/r9nano.heddle >/dev/null

wall() { # threads, program...
    local n=$1
    shift
    "$heddle" run platforms/r9nano.heddle --threads "$n" --stats "$out/threads-$n.json" \
        -- "$build/tests/programs/$@" >/dev/null
    grep -oE '"wall_seconds": *[0-9.]+' "$out/threads-$n.json" | grep -oE '[0-9.]+$'
}

echo "| program | one thread, s | $threads threads, s | ratio | 95 % interval |"
echo "| --- | ---: | ---: | ---: | --- |"
while read -r program; do
    for _ in $(seq "$pairs"); do
        # shellcheck disable=SC2086
        echo "$(wall 1 $program) $(wall "$threads" $program)"
    done | awk -v p="$program" '
        function sorted(v, n,    i, j, x) {
            for (i = 2; i <= n; i++) {
                x = v[i]
                for (j = i - 1; j > 0 && v[j] > x; j--) v[j + 1] = v[j]
                v[j + 1] = x
            }
        }
        function median(v, n) { return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2 }
        { one[NR] = $1; many[NR] = $2; ratio[NR] = $1 / $2 }
        END {
            n = NR; sorted(one, n); sorted(many, n); sorted(ratio, n)
            low = 1; tail = term = 0.5 ^ n
            while (tail + (term = term * (n - low + 1) / low) <= 0.025) { tail += term; low++ }
            printf "| %s | %.3f | %.3f | %.2f | %.2f .. %.2f |\n",
                p, median(one, n), median(many, n), median(ratio, n), ratio[low], ratio[n + 1 - low]
        }'
done <tests/bench/threads.txt
