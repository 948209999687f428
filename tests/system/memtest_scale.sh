#!/usr/bin/env bash
# The random memory tester at scale: at least EPISODES episodes on each of several memory systems, every load checked.
# memtest_scale.sh HEDDLE EPISODES [SEED [generic]]. Prints what was run, with the seed that repeats it, and how long it took.
set -euo pipefail
heddle=$1 episodes=$2 seed=${3:-2}
build=${4:+--generic} # compiles less and runs slower
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
total=0

# hierarchy NAME FILE PLATFORM THREADS SETTINGS...: THREADS is how many the tester has there, ports times 8.
hierarchy() {
    local name=$1 file=$here/$2 platform=$3 threads=$4 settings=() begin done_count
    shift 4
    [ -z "$build" ] || settings+=("$build")
    for s in "$@"; do settings+=(--set "$s"); done
    settings+=(--set "tester.seed=$seed" --set "tester.episodes=$(((episodes + threads - 1) / threads))")
    "$heddle" build "$file" --platform "$platform" "${settings[@]}" >/dev/null
    begin=$(date +%s.%N)
    if ! "$heddle" run "$file" --platform "$platform" "${settings[@]}" --stats "$scratch/stats.json" >"$scratch/log" 2>&1; then
        cat "$scratch/log"
        echo "memtest: $name failed; again with: heddle run $file --platform $platform ${settings[*]}"
        exit 1
    fi
    done_count=$("$heddle" stats --csv "$scratch/stats.json" | sed -n 's/^component,tester,episodes_done,//p')
    [ "$done_count" -ge "$episodes" ] || { echo "memtest: $name: only $done_count episodes were done"; exit 1; }
    total=$((total + done_count))
    awk -v n="$name" -v c="$done_count" -v s="$seed" -v b="$begin" -v e="$(date +%s.%N)" \
        'BEGIN { printf "%-34s %9d episodes, seed %d, %6.1f s\n", n, c, s, e - b }'
}

hierarchy "L1 above DRAM, write-around"   memtest_levels.heddle memtest_flat 32
hierarchy "L1 above DRAM, write-through"  memtest_levels.heddle memtest_flat 32 l1.write=through
hierarchy "own L1, write-back"            memtest_levels.heddle memtest_flat 8  ports=1 l1.write=back
hierarchy "L1 around, L2 write-back"      memtest.heddle memtest 32
hierarchy "lines stay in the L1"          memtest.heddle memtest 32 l1.size=64KiB tester.span=16KiB
hierarchy "L1 and L2 write-through"       memtest.heddle memtest 32 l1.write=through l2.write=through
hierarchy "L1 write-evict"                memtest.heddle memtest 32 l1.write=evict
hierarchy "L2 write-evict, atomics below" memtest.heddle memtest 32 l2.write=evict
hierarchy "translation and TLBs"          memtest.heddle memtest_translated 32
hierarchy "three clocks and a link"       memtest_levels.heddle memtest_clocks 32
hierarchy "L1, middle, L2, L3"            memtest_levels.heddle memtest_deep 32
hierarchy "8 banks behind a crossbar"     memtest.heddle memtest 128 ports=16 banks=8 xbar.width=16B/cy
hierarchy "4 GPUs, ring, write-back L2"   memtest4.heddle memtest4 64
hierarchy "4 GPUs, ring, write-through"   memtest4.heddle memtest4 64 node.l2_write=through
hierarchy "4 GPUs, narrow one-way ring"   memtest4.heddle memtest4 64 topology=one_way node.depth=2
hierarchy "pages move, write-back L2"     memtest_moves.heddle memtest_moves 64 tester.calm=5000cy
hierarchy "pages move, write-through"     memtest_moves.heddle memtest_moves 64 tester.calm=5000cy node.l2_write=through
hierarchy "few pages, moved in large L1s" memtest_moves.heddle memtest_moves 8 node.l1.size=16KiB node.l1.ways=16 \
    tester.threads=1 tester.frames=2 tester.span=16KiB tester.locations=512 tester.calm=5000cy
hierarchy "copies for reading, write-back" memtest_moves.heddle memtest_moves 64 tester.calm=5000cy tester.copies=true node.policy=pinned
hierarchy "copies for reading, through"   memtest_moves.heddle memtest_moves 64 tester.calm=5000cy tester.copies=true node.policy=pinned \
    node.l2_write=through
echo "memtest: $total episodes, no mistake"
