#!/bin/sh
# The random memory tester over many memory systems: every value that a load or atomic returns is
# checked inside, so a run that ends well is a test passed. Each platform is also run with other
# tick orders, which must not change a byte.
# usage: memtest.sh HEDDLE FOLDER_OF_MEMTEST
set -eu
heddle=$1
file=$2/memtest.heddle
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
runs=0
orders="ascending ${HEDDLE_FULL:+descending} random:5"
every=--tick-all # of random:5; such a run takes four times as long as others

# one NAME ARGUMENTS...: several tick orders, one result
one() {
    name=$1
    shift
    [ -n "${HEDDLE_FULL:-}" ] || case $* in
    *tester.episodes=*) ;;
    *) set -- "$@" --set tester.episodes=15 ;;
    esac
    for order in $orders; do
        all=
        [ "$order" = random:5 ] && all=$every
        if ! "$heddle" run "$file" --generic --tick-order "$order" $all \
            --stats-no-host --stats "$work/$order.json" \
            --max-cycles 50000000 "$@" >"$work/out" 2>&1; then
            echo "memtest: $name ($*) with tick order $order:"
            cat "$work/out"
            exit 1
        fi
        cmp "$work/${orders%% *}.json" "$work/$order.json"
    done
    runs=$((runs + 1))
}

for seed in 1 ${HEDDLE_FULL:+2}; do
    for policy in through around evict; do
        for platform in memtest memtest_translated; do
            one "$platform $policy" --platform "$platform" --set "l1.write=$policy" \
                --set "tester.seed=$seed"
        done
    done
done
# Without --full each of these in one order, so that nothing would show what more ticks change, and
# those of results.txt not at all.
[ -n "${HEDDLE_FULL:-}" ] || orders=random:5 every=
listed() { [ -z "${HEDDLE_FULL:-}" ] || one "$@"; }
listed "slow answers" --set l2.latency=1cy --set dram.latency=500cy --set tester.episodes=40
one "one cycle"        --set l1.latency=1cy --set l2.latency=1cy --set dram.latency=1cy \
    --set xbar.latency=2cy
listed "one MSHR" --set l1.mshrs=1 --set l1.targets=1 --set l2.mshrs=1 \
    --set tester.episodes=30
one "dense words"      --set tester.span=8KiB --set tester.locations=1900
one "few words"        --set tester.locations=40 --set tester.counters=2
one "all fits"         --set l1.size=64KiB --set l1.ways=4 --set tester.locations=200 \
    --set tester.span=8KiB
one "narrow crossbar"  --set xbar.width=16B/cy --set tester.episodes=40
one "wide ports"       --set l1.ports=4 --set l1.latency=20cy --set l1.mshrs=64
listed "through twice" --set l1.write=through --set l2.write=through
listed "atomics in DRAM" --set l2.write=evict --set tester.episodes=50
one "own write-back"   --set ports=1 --set l1.write=back
one "own, translated"  --platform memtest_translated --set ports=1 --set l1.write=back
one "many ports"       --set ports=16 --set banks=4 --set tester.episodes=25
one "large pages"      --platform memtest_translated --set tester.page=16KiB
listed "odd number of sets" --set l2.size=3KiB
listed "plain index" --set l1.index=plain --set l2.index=plain
# Memory that reorders: small queues and rows, then two slices as they are in a GPU.
hbm="--set dram.timing=hbm --set dram.timing.interleaved=2"
listed "banks and rows" $hbm
one "banks, translated"   --platform memtest_translated $hbm
one "banks, small queues" $hbm --set dram.timing.read_queue=2 --set dram.timing.write_queue=3 \
    --set dram.timing.drain=3 --set dram.timing.resume=0 --set dram.timing.row=256B \
    --set dram.timing.tck=1300ps
one "banks, atomics"      $hbm --set l2.write=evict --set tester.episodes=50
echo "memtest: $runs memory systems, in one tick order or more"
