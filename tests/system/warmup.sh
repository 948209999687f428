# Cases of run.sh: chosen kernels, warm-up, heddle experiment, heddle sample. Sourced by run.sh.

# number FILE LAUNCH KEY: a number of a launch's record.
launch_number() { python3 tests/system/warmup.py number "$@"; }

# Results are right with every warm-up, and the statistics say which launches were simulated how.
t_warmup_modes() {
    local how p platform=platforms/tiny.heddle
    for how in none perfect memory:2 full-memory functional functional:2; do
        for p in dct8x8 ocean kmeans "bfs" "histogram"; do
            expect 0 '^PASS' -- run $platform --kernels 3,5-6 --warmup $how --stats "$out/work/w.json" -- "$programs/$p" || return 1
        done
        expect 0 '^PASS' -- run $platform --kernels 3,5-6 --warmup $how --stats "$out/work/w.json" -- "$programs/dct8x8" || return 1
        python3 tests/system/warmup.py ways "$out/work/w.json" $how 3 5 6 || { fail "$how"; return 1; }
    done
    # The launch behind a detailed one reads what that one left in caches.
    for how in 1 2 3 1,3; do
        for p in dct8x8 scan; do
            expect 0 '^PASS' -- run $platform --kernels $how -- "$programs/$p" || return 1
        done
    done
    expect 0 '^PASS' -- run $platform --kernels weigh,_Z5blendPKfPfi --stats "$out/work/w.json" -- "$programs/dct8x8" || return 1
    python3 tests/system/warmup.py ways "$out/work/w.json" functional 3 6 9 12 15 18 21 24
}

# Every program, with launches simulated here and there: bytes come and go between memory and caches right.
t_warmup_programs() {
    local p how
    for how in functional none memory:1; do
        for p in atomics bfs kmeans radix_sort scratch streams managed halo; do
            expect 0 '^PASS' -- run platforms/r9nano_x4.heddle --kernels 2,4,7-8,11- --warmup $how -- "$programs/$p" || return 1
        done
        expect 0 '^PASS' -- run platforms/tiny.heddle --set gpu.l2_write=through --kernels 2,5 --warmup $how -- "$programs/dct8x8" || return 1
        expect 0 '^PASS' -- run platforms/tiny.heddle --set gpu.l2=8KiB --kernels 2,5,9- --warmup $how -- "$programs/dct8x8" || return 1
    done
}

# Within 2 % of simulating everything, here, where cold caches are 15 % off and more.
t_warmup_accuracy() {
    local p platform=platforms/tiny.heddle
    for p in dct8x8 kmeans ocean; do
        expect 0 '^PASS' -- run $platform --kernels 7-9 --warmup perfect --stats "$out/work/perfect.json" -- "$programs/$p" || return 1
        for how in functional none full-memory; do
            for launch in 7 8 9; do
                expect 0 '^PASS' -- run $platform --kernels $launch --warmup $how --stats "$out/work/$how.$launch.json" -- "$programs/$p" || return 1
            done
        done
        python3 tests/system/warmup.py accuracy "$out/work" 7 8 9 || { fail "$p"; return 1; }
    done
}

# The same bytes whatever the order of ticks, the number of threads, the build.
t_warmup_determinism() {
    local how variant
    for how in functional memory:3; do
        expect 0 '^PASS' -- run platforms/r9nano.heddle --kernels 3,5- --warmup $how --stats "$out/work/ref.json" --stats-no-host -- "$programs/kmeans" || return 1
        for variant in "--tick-order=random:3" "--threads=2" "--tick-all" "--generic"; do
            expect 0 '^PASS' -- run platforms/r9nano.heddle $variant --kernels 3,5- --warmup $how --stats "$out/work/new.json" --stats-no-host -- "$programs/kmeans" || return 1
            same "$out/work/ref.json" "$out/work/new.json" || { fail "$how with '$variant'"; return 1; }
        done
    done
}

# Without arithmetic, accesses of two work-groups meet in another order, and another line is the victim.
t_warmup_interleaving() {
    local how hits=""
    for how in perfect full-memory; do
        expect 0 '^PASS' -- run platforms/tiny.heddle --set gpu.l2.index=plain --kernels 2 --warmup $how --kernel-stats sum --stats "$out/work/i.json" -- "$programs/interleave" || return 1
        hits="$hits $(launch_number "$out/work/i.json" 2 'components/gpu.dram[*]/reads')"
    done
    set -- $hits
    [ "$1" -gt "$2" ] || fail "lines that the second launch reads from memory: $1 behind everything, $2 behind memory instructions alone"
}

t_warmup_mistakes() {
    local platform=platforms/tiny.heddle p=$programs/dct8x8
    expect 2 "'0' is no launch" -- run $platform --kernels 0 -- "$p" || return 1
    expect 2 "'3-2' is no launch" -- run $platform --kernels 1,3-2 -- "$p" || return 1
    expect 2 "'' is no launch" -- run $platform --kernels 1,,2 -- "$p" || return 1
    expect 2 "none, perfect" -- run $platform --kernels 1 --warmup memory:0 -- "$p" || return 1
    expect 2 "none, perfect" -- run $platform --kernels 1 --warmup hot -- "$p" || return 1
    expect 2 "choose them with '--kernels" -- run $platform --warmup none -- "$p" || return 1
    expect 2 "give numbers" -- run $platform --kernels weigh --warmup functional:2 -- "$p" || return 1
    expect 2 "nothing is with" -- run $platform --mode functional --kernels 1 -- "$p" || return 1
    expect 2 "give that, too" -- run $platform --profile blocks -- "$p" || return 1
    expect 2 "it is blocks or memory" -- run $platform --mode functional --profile all -- "$p" || return 1
    expect 2 "name one" -- run tests/system/memtest.heddle --kernels 1 || return 1
    expect 2 "name a program" -- "$heddle" experiment $platform --kernels 1 -o "$out/work/e" || return 1
    expect 2 "which launches" -- "$heddle" experiment $platform -o "$out/work/e" -- "$p" || return 1
    expect 1 "chooses none of the program's 24 launches" -- "$heddle" experiment $platform --kernels 99 -o "$out/work/e" -- "$p" || return 1
    expect 1 "ended with status" -- "$heddle" sample $platform -- "$p" 63 || return 1
    expect 2 "name a program" -- "$heddle" sample $platform || return 1
    expect 2 "give '--stats FILE'" -- run $platform --kernels auto -- "$p" || return 1
    expect 2 "goes on for a whole run" -- run $platform --kernels auto --stats "$out/work/a.json" --checkpoint "$out/work/d" -- "$p" || return 1
    expect 2 "functional or functional:N" -- "$heddle" sample $platform --warmup memory:2 -- "$p" || return 1
    expect 2 "functional or functional:N" -- run $platform --kernels auto --warmup none --stats "$out/work/a.json" -- "$p" || return 1
    expect 2 "how far off the sum may be" -- "$heddle" sample $platform --interval 0 -- "$p" || return 1
    expect 2 "chosen while they run" -- run $platform --interval 2 -- "$p" || return 1
    expect 2 "chosen while they run" -- "$heddle" sample $platform --interval 2 --play sass="$p" || return 1
    expect 2 "chooses while a program runs" -- "$heddle" experiment $platform --kernels auto -o "$out/work/e" -- "$p" || return 1
    expect 1 "launches no kernels" -- "$heddle" sample $platform -- "$programs/copies"
}

t_experiment() {
    expect 0 -- "$heddle" experiment platforms/tiny.heddle --kernels 8,11 -o "$out/work/experiment" -- "$programs/dct8x8" || return 1
    python3 tests/system/warmup.py experiment "$out/work/experiment" 8 11
}

# A chain of loads: what each loses adds up, so the estimate is what simulating everything gives, but for a turn of the SIMD.
# Launches that find all, a part, and nothing of what they need; some that wait, some that are busy.
t_warmup_corrections() {
    local p platform=platforms/tiny.heddle
    expect 0 -- "$heddle" experiment $platform --kernels 2- --corrections -o "$out/work/chain" -- "$programs/chase" || return 1
    python3 tests/system/warmup.py corrections "$out/work/chain" 0.1 || return 1
    for p in "dct8x8" "kmeans" "bitonic 11" "matmul_chain" "bfs 500"; do
        expect 0 -- "$heddle" experiment $platform --kernels 2- --corrections -o "$out/work/e" -- "$programs/${p%% *}" $([ "${p#* }" = "$p" ] || echo "${p#* }") || return 1
        python3 tests/system/warmup.py corrections "$out/work/e" 12 || { fail "$p"; return 1; }
    done
    # All wavefronts wait for the port of instructions, which is full of requests for one page.
    expect 0 -- "$heddle" experiment $platform --kernels 2- --corrections -o "$out/work/e" -- "$programs/life" 128 64 6 || return 1
    python3 tests/system/warmup.py corrections "$out/work/e" 7 || return 1
    # Work-groups that are placed as fast as they can be: what they lose is hidden but for that of the last.
    expect 0 -- "$heddle" experiment platforms/r9nano.heddle --kernels 2- --corrections -o "$out/work/e" -- "$programs/dct8x8" 256 2 || return 1
    python3 tests/system/warmup.py corrections "$out/work/e" 3
}

# What a launch finds is written by a profile and read by a cold run, whose cycles it does not change and whose account it does; in every
# order of ticks. ocean's third launch reads 25 lines for the first time that all of it waits for.
t_warmup_kept() {
    local platform=platforms/tiny.heddle p=$programs/ocean kept=$out/work/kept order all some
    expect 0 '^PASS' -- run $platform --mode functional --profile memory --residency "$kept" -- "$p" || return 1
    expect 0 '^PASS' -- run $platform --kernels 3 --warmup none --stats-no-host --stats "$out/work/all.json" -- "$p" || return 1
    for order in ascending descending random:5; do
        expect 0 '^PASS' -- run $platform --kernels 3 --warmup none --residency "$kept" --tick-order $order --stats-no-host --stats "$out/work/$order.json" -- "$p" || return 1
        [ "$(launch_number "$out/work/$order.json" 3 cold/both)" = "$(launch_number "$out/work/ascending.json" 3 cold/both)" ] || { fail "$order"; return 1; }
    done
    [ "$(launch_number "$out/work/all.json" 3 cycles)" = "$(launch_number "$out/work/ascending.json" 3 cycles)" ] || { fail "cycles changed"; return 1; }
    all=$(launch_number "$out/work/all.json" 3 cold/both) some=$(launch_number "$out/work/ascending.json" 3 cold/both)
    [ "$some" -gt 0 ] && [ $((some * 3)) -lt $((all * 2)) ] || { fail "$some of $all cycles are the launch's own fault"; return 1; }
    [ "$(launch_number "$out/work/ascending.json" 3 cold/kept)" = 1 ] || { fail "it does not say that it knew"; return 1; }
    expect 2 "is written with '--mode functional --profile memory'" -- run $platform --residency "$kept" -- "$p" || return 1
    expect 2 "is written with" -- run $platform --mode functional --residency "$kept" -- "$p" || return 1
    expect 2 "is written with" -- run $platform --kernels 3 --residency "$kept" -- "$p" || return 1
    echo "3 1 64 0x0" >"$kept.bad"
    expect 7 "kept.bad:1: not a line" -- run $platform --kernels 3 --warmup none --residency "$kept.bad" -- "$p" || return 1
    expect 7 "No such file" -- run $platform --kernels 3 --warmup none --residency "$kept.gone" -- "$p" || return 1
    expect 7 "No such file" -- run $platform --mode functional --profile memory --residency "$out/nowhere/kept" -- "$p"
}

# One run, a few launches of each group: the prediction, the interval around it, and the true number.
t_sample() {
    expect 0 '240 launches in 6 groups, 18 simulated' 'inside the interval' -- "$heddle" sample platforms/tiny.heddle --full -- "$programs/dct8x8" 64 40 || return 1
    expect 0 'predicted: [0-9]+ cycles' -- "$heddle" sample platforms/tiny.heddle --warmup functional:3 -- "$programs/kmeans" || return 1
    # The less that is enough, the fewer are simulated.
    expect 0 '240 launches in 6 groups, 16 simulated' -- "$heddle" sample platforms/tiny.heddle --interval 10% -- "$programs/pipeline" 3000 60 || return 1
    expect 0 '240 launches in 6 groups, 19 simulated' -- "$heddle" sample platforms/tiny.heddle --interval 0.1 -- "$programs/pipeline" 3000 60
}

# The estimate against its definition, what was chosen against the rules, counts of instructions and the total against a full run.
t_sample_model() {
    local w p platform=platforms/tiny.heddle
    for w in "dct8x8 64 40 15" "ocean 32 16 15" "radix_sort 2500 10 15" "floyd_warshall 64 15" "network 8 20 20"; do
        set -- $w
        p="$1 ${*:2:$#-2}"
        expect 0 '^PASS' -- run $platform --kernels auto --kernel-stats none --stats "$out/work/auto.json" -- $programs/$p || return 1
        expect 0 '^PASS' -- run $platform --kernel-stats none --stats "$out/work/full.json" -- $programs/$p || return 1
        python3 tests/system/sample.py model "$out/work/auto.json" || { fail "$p"; return 1; }
        python3 tests/system/sample.py choice "$out/work/auto.json" 6 || { fail "$p"; return 1; }
        python3 tests/system/sample.py same_work "$out/work/auto.json" "$out/work/full.json" || { fail "$p"; return 1; }
        python3 tests/system/sample.py accuracy "$out/work/auto.json" "$out/work/full.json" 2 "${!#}" || { fail "$p"; return 1; }
    done
}

# Programs with copies between launches, several streams, processes, GPUs: their results are right, whatever is chosen.
t_sample_programs() {
    local p
    for p in atomics bfs kmeans radix_sort scratch streams many_streams overlap managed halo peer_ring; do
        expect 0 '^PASS' -- run platforms/r9nano_x4.heddle --kernels auto --stats "$out/work/a.json" -- "$programs/$p" || return 1
    done
    expect 0 '^PASS' -- run platforms/r9nano_x4.heddle --unified 0,1,2,3 --kernels auto --stats "$out/work/a.json" -- "$programs/dct8x8" 64 8 || return 1
    expect 0 '^PASS' -- run platforms/tiny.heddle --set gpu.l2=8KiB --kernels auto --warmup functional:1 --stats "$out/work/a.json" -- "$programs/dct8x8" 64 40
}

t_sample_determinism() {
    local variant
    expect 0 '^PASS' -- run platforms/r9nano.heddle --kernels auto --stats "$out/work/ref.json" --stats-no-host -- "$programs/radix_sort" 2500 4 || return 1
    # The account of cold starts takes a sixth of the time, and nobody asks for it here.
    if grep -q '"cold"' "$out/work/ref.json"; then fail "cold starts are accounted for"; return 1; fi
    for variant in "--tick-order=random:3" "--threads=2" "--tick-all" "--generic"; do
        expect 0 '^PASS' -- run platforms/r9nano.heddle $variant --kernels auto --stats "$out/work/new.json" --stats-no-host -- "$programs/radix_sort" 2500 4 || return 1
        same "$out/work/ref.json" "$out/work/new.json" || { fail "with '$variant'"; return 1; }
    done
}
