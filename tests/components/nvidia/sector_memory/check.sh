#!/usr/bin/env bash
# The memory side as a whole under synthetic loads: check.sh HEDDLE FOLDER. After every run the
# sums of what components sent each other must agree (check.py); tick orders, threads, a
# checkpoint in between and a compiler that knows the parameters must change no byte. Without
# HEDDLE_FULL in the environment orders and threads change at once, and no compiler knows more.
set -euo pipefail
heddle=$(realpath "$1")
mkdir -p "$2"
work=$(realpath "$2")
export HEDDLE_CACHE=${HEDDLE_CACHE:-$work/cache}
cd "$(dirname "$0")"

run() { # NAME ARGUMENTS...
    local name=$1
    shift
    "$heddle" run memory.heddle --stats-no-host --stats "$work/$name.json" \
        --max-cycles 5000000 "$@" >"$work/$name.log" 2>&1 \
        || { cat "$work/$name.log"; echo "failed: $*"; exit 1; }
}

# one ARGUMENTS...: the sums agree; three other ways to run it give the same.
one() {
    run a --generic "$@"
    python3 check.py "$work/a.json"
    run b --generic --tick-order random:7 --tick-all --threads 2 "$@"
    cmp "$work/a.json" "$work/b.json"
    if [ -n "${HEDDLE_FULL:-}" ]; then
        run c --generic --tick-order descending "$@"
        cmp "$work/a.json" "$work/c.json"
    fi
    runs=$((runs + 1))
}

runs=0
all() { echo --set "first.$1" --set "other.$1"; } # of all loaders
mixed="$(all pattern=random) $(all stores=5) $(all atomics=1) $(all whole=false)"
mixed="$mixed $(all requests=1500)"
# shellcheck disable=SC2046,SC2086
{
    one $(all pattern=stream)
    one $mixed
    one --set kind=gddr6 $mixed
    one --set kind=ideal $mixed $(all footprint=64KiB)
    one $mixed $(all footprint=256KiB) --set l1.allocate=fill --set l1.write_miss=around \
        --set l1.mshrs=8 --set l1.targets=2
    one $mixed $(all footprint=256KiB) --set l1.allocate=streaming --set part.l2.mshrs=2 \
        --set part.l2.targets=1
    one $mixed $(all footprint=128KiB) --set l1.ports=4 --set l1.banks=8 --set l1.size=1KiB \
        --set l1.ways=8 --set part.l2.write_miss=fetch
    one --set kind=gddr6 $mixed $(all stores=12) --set part.l2=4KiB --set part.ways=4 \
        --set part.dram.timing.read_queue=4
    one --set partitions=8 --set loaders=9 $(all pattern=stride)
    one --set partitions=5 $mixed
    one $(all pattern=hot) $(all atomics=12) $(all requests=300)
    one $(all pattern=local) $(all stores=4)

    # bound CASE ARGUMENTS...: latencies of one request at a time, rates of many, against what they
    # must be.
    bound() {
        local case=$1
        shift
        run bound --generic --set "$@"
        python3 bounds.py "$case" "$work/bound.json"
    }
    alone="loaders=2 $(all outstanding=1) --set other.requests=1"
    many="loaders=16 $(all requests=2000)"
    bound l1 $alone --set first.requests=300 $(all pattern=local)
    bound l2 $alone --set first.requests=300 $(all footprint=8KiB) --set l1=1KiB
    bound ideal $alone --set first.requests=300 --set kind=ideal $(all pattern=random)
    bound hbm2 $alone --set first.requests=300 $(all pattern=stride) $(all stride=1MiB) \
        $(all footprint=1GiB)
    bound gddr6 $alone --set first.requests=300 --set kind=gddr6 $(all pattern=stride) \
        $(all stride=1MiB) $(all footprint=1GiB)
    bound l2-rate $many $(all footprint=64KiB) --set l1=1KiB --set l1.allocate=fill \
        $(all outstanding=24)
    bound hbm2-rate $many
    bound gddr6-rate $many --set kind=gddr6

    run whole --generic $mixed
    if [ -n "${HEDDLE_FULL:-}" ]; then
        run special $mixed
        cmp "$work/whole.json" "$work/special.json"
    fi
    run written --generic $mixed --checkpoint "$work/state" --checkpoint-at 1500
    run restored --generic $mixed --restore "$work/state"
    cmp "$work/whole.json" "$work/written.json"
    cmp "$work/whole.json" "$work/restored.json"
}
echo "sector memory: $runs memory sides, each in several ways"
