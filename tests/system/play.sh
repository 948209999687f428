# shellcheck shell=bash
# Recorded instructions of AMD programs, played: part of run.sh, which has expect, run, same, programs.

# Statistics without the hash of what ran, which is the player's, and without instructions of launches that were skipped.
played_facts() {
    sed -i '/^ *"program": /d' "$1"
}

# played PLATFORM PROGRAM: a program as it is, recorded, and played on the same platform: the same statistics, byte for byte.
played() {
    local platform=$1 p=$2 work=$out/work/played how
    rm -rf "$work" && mkdir -p "$work" || return 1
    # shellcheck disable=SC2046
    expect 0 '^PASS' "recorded in" -- run "$platform" --record instructions="$work/trace" --stats "$work/ref.json" --stats-no-host \
        -- "$programs/$p" $(arguments_of "$p") || return 1
    expect 0 -- run "$platform" --play instructions="$work/trace" --stats "$work/played.json" --stats-no-host || return 1
    for how in ref played; do played_facts "$work/$how.json"; done
    same "$work/ref.json" "$work/played.json"
}

# All kinds of memory, control flow and copies; `scratch` has private memory, `late_arguments` the ring; `streams` and `prints` poll.
t_play_trace() {
    local p list="vectoradd matmul_tiled bfs scratch shuffles fences dynamic_lds copies late_arguments managed streams prints"
    [ "$full" = no ] || list="$list saxpy matmul transpose reduction histogram stencil atax aes128 bitonic convolution device_variables
        divergence doubles fft fir floyd_warshall grids half integers kmeans layers math narrow nbody pipeline scan spmv structs
        alignment clocks spread life philox radix_sort sha256 occupancy overlap dct8x8 ocean interleave module flushes shared_lines calls host_threads"
    for p in $list; do
        played platforms/tiny.heddle "$p" || { fail "$p"; return 1; }
    done
}

t_play_trace_gpus() {
    local p list="peer_ring"
    [ "$full" = no ] || list="$list allreduce halo matmul_gpus queues peers"
    for p in $list; do
        played platforms/ring4.heddle "$p" || { fail "$p"; return 1; }
    done
}

# A trace is for any platform: what one records, functional mode among them, another plays as if it ran the program. `scratch`
# has pools of other sizes there. (In programs with races, as bfs, timing decides what is executed, and a trace keeps that.)
t_play_trace_elsewhere() {
    local work=$out/work/elsewhere p set how
    for p in floyd_warshall scratch; do
        rm -rf "$work" && mkdir -p "$work" || return 1
        expect 0 '^PASS' -- run platforms/tiny.heddle --mode functional --record instructions="$work/functional" -- "$programs/$p" || return 1
        expect 0 '^PASS' -- run platforms/tiny.heddle --record instructions="$work/timed" -- "$programs/$p" || return 1
        for set in "platforms/tiny.heddle --set gpu.l2=64KiB --set gpu.banks=1" "platforms/r9nano.heddle --set gpu.arrays=2"; do
            # shellcheck disable=SC2086
            expect 0 '^PASS' -- run $set --stats "$work/ref.json" --stats-no-host -- "$programs/$p" || return 1
            for how in functional timed; do
                # shellcheck disable=SC2086
                expect 0 -- run $set --play instructions="$work/$how/kernelslist.g" --stats "$work/$how.json" --stats-no-host || return 1
                played_facts "$work/$how.json"
            done
            played_facts "$work/ref.json"
            same "$work/ref.json" "$work/timed.json" || { fail "$p: $set"; return 1; }
            same "$work/ref.json" "$work/functional.json" || { fail "$p, functional: $set"; return 1; }
        done
    done
}

t_play_trace_deterministic() {
    local work=$out/work/order variant
    mkdir -p "$work"
    expect 0 '^PASS' -- run platforms/tiny.heddle --record instructions="$work/trace" -- "$programs/bfs" || return 1
    expect 0 -- run platforms/tiny.heddle --no-cache --play instructions="$work/trace" --stats "$work/ref.json" --stats-no-host || return 1
    [ "$(find "$work/trace" -name '*.heddle-cache')" = "" ] || { fail "--no-cache writes caches"; return 1; }
    for variant in "" "" --tick-order=descending "--tick-order=random:3 --tick-all" --threads=2 --generic; do # the second reads the cache
        # shellcheck disable=SC2086
        expect 0 -- run platforms/tiny.heddle $variant --play instructions="$work/trace" --stats "$work/new.json" --stats-no-host || return 1
        same "$work/ref.json" "$work/new.json" || { fail "with '$variant'"; return 1; }
        [ "$(find "$work/trace" -name '*.heddle-cache' | wc -l)" = "$(find "$work/trace" -name 'kernel-*.zst' | wc -l)" ] ||
            { fail "not every kernel has its cache"; return 1; }
    done
    HEDDLE_CC=clang expect 0 -- run platforms/tiny.heddle --play instructions="$work/trace" --stats "$work/new.json" --stats-no-host || return 1
    same "$work/ref.json" "$work/new.json" || { fail "with clang"; return 1; }
}

# Chosen kernels of a trace: those of the program, but for the instructions of launches that are skipped, which nobody counts.
t_play_trace_kernels() {
    local work=$out/work/chosen warmup how
    mkdir -p "$work"
    expect 0 '^PASS' -- run platforms/tiny.heddle --record instructions="$work/trace" -- "$programs/floyd_warshall" || return 1
    for warmup in none perfect memory:2 full-memory functional; do
        expect 0 '^PASS' -- run platforms/tiny.heddle --kernels 3,6-7 --warmup $warmup --stats "$work/ref.json" --stats-no-host -- "$programs/floyd_warshall" || return 1
        expect 0 -- run platforms/tiny.heddle --kernels 3,6-7 --warmup $warmup --play instructions="$work/trace" --stats "$work/played.json" --stats-no-host || return 1
        for how in ref played; do
            played_facts "$work/$how.json"
            python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
ways = [k.get("simulated", "detailed") for k in d["kernels"]]
assert ways.count("detailed") >= 3, ways
for k, way in zip(d["kernels"], ways):
    k["wavefront_instructions"] *= way != "skipped"
json.dump(d, open(sys.argv[1], "w"), indent=1)' "$work/$how.json" || return 1
        done
        same "$work/ref.json" "$work/played.json" || { fail "--warmup $warmup"; return 1; }
    done
}

# An address that is wrong by a line, a branch that was not taken: the comparison above must see each.
t_play_trace_sees() {
    local work=$out/work/sees edit
    mkdir -p "$work"
    expect 0 '^PASS' -- run platforms/tiny.heddle --record instructions="$work/trace" -- "$programs/vectoradd" || return 1
    zstd -q -d --rm "$work/trace/kernel-1.traceg.zst" && sed -i 's/\.zst$//' "$work/trace/kernelslist.g" || return 1
    expect 0 -- run platforms/tiny.heddle --no-cache --play instructions="$work/trace" --stats "$work/ref.json" --stats-no-host || return 1
    cp "$work/trace/kernel-1.traceg" "$work/good"
    for edit in '0,/flat_load_dword .* 1 0x[0-9a-f]*00 /s//&0x40 /' '0,/^\([0-9a-f]*\) [0-9a-f]*\( .*_load_dword.* 1 0x[0-9a-f]* 4\)/s//\1 000000000000ffff\2/'; do
        sed "$edit" "$work/good" >"$work/trace/kernel-1.traceg"
        ! cmp -s "$work/good" "$work/trace/kernel-1.traceg" || { fail "'$edit' changes nothing"; return 1; }
        "$heddle" run platforms/tiny.heddle --no-cache --play instructions="$work/trace" --stats "$work/new.json" --stats-no-host >"$work/log" 2>&1
        ! cmp -s "$work/ref.json" "$work/new.json" || { fail "'$edit' is not seen"; return 1; }
        rm -f "$work/new.json"
    done
}

# mistake EDIT TEXT...: a trace of one kernel, edited with sed, ends with an error that names file and place.
mistake() {
    local work=$out/work/mistake
    sed "$1" "$work/good" >"$work/trace/kernel-1.traceg"
    ! cmp -s "$work/good" "$work/trace/kernel-1.traceg" || { fail "'$1' changes nothing"; return 1; }
    expect nonzero "${@:2}" -- run platforms/tiny.heddle --play instructions="$work/trace"
}

t_play_trace_mistakes() {
    local work=$out/work/mistake trace=$out/work/mistake/trace end
    mkdir -p "$work"
    expect 0 '^PASS' -- run platforms/tiny.heddle --record instructions="$trace" -- "$programs/vectoradd" || return 1
    zstd -q -d --rm "$trace/kernel-1.traceg.zst" && sed -i 's/\.zst$//' "$trace/kernelslist.g" && cp "$trace/kernelslist.g" "$work/list" || return 1
    cp "$trace/kernel-1.traceg" "$work/good"
    end=$(grep -n -m 1 's_endpgm' "$work/good" | cut -d: -f1)
    mistake "$((end - 1))d" "kernel-1.traceg:[0-9]+: thread block 0,0,0, warp 0: PC .* does not follow|kernel-1.traceg:[0-9]+: .*insts" || return 1
    mistake "${end}d" 'kernel-1.traceg:[0-9]+: warp 0 ends 1 instructions before' || return 1
    mistake "$((end + 20)),\$d" 'kernel-1.traceg:[0-9]+: ' || return 1
    mistake "${end}s/^[0-9a-f]*/fff0/" "kernel-1.traceg:$end: .*PC fff0 .*'-code' has nothing" || return 1
    mistake '0,/flat_load_dword \(.*\) 0x2000/s//flat_load_dword \1 0x7000/' "kernel 'vectoradd.*load of 4 bytes at 0x7000" || return 1
    mistake '/^warp = 1$/,/^$/d' 'has 1 warps, but is launched with [0-9]+ wavefronts|has no warp 1' || return 1
    mistake '/^-descriptor/d' "kernelslist.g:[0-9]+: error: .*the header has no '-descriptor" || return 1
    mistake '/^-isa/s/gfx803/gfx906/' 'kernelslist.g:[0-9]+: error: .*for gfx906; the GPUs of this platform are gfx803' || return 1
    mistake '/^-isa/d' 'kernelslist.g:[0-9]+: error: .*CUDA program, which --play sass plays' || return 1
    cp "$work/good" "$trace/kernel-1.traceg"
    sed -i 's/^Free/Freed/' "$trace/kernelslist.g"
    expect 1 "kernelslist.g:[0-9]+: error: .*left out: 'Freed" -- run platforms/tiny.heddle --play instructions="$trace" || return 1
    sed '/^kernel-1/s/1/2/' "$work/list" >"$trace/kernelslist.g"
    expect 1 'kernelslist.g:[0-9]+: error: .*kernel-2.traceg: cannot be read' -- run platforms/tiny.heddle --play instructions="$trace" || return 1
    sed '/^Mem/s/,1$/,7/' "$work/list" >"$trace/kernelslist.g"
    expect 1 'kernelslist.g:[0-9]+: error: there is no queue 7' -- run platforms/tiny.heddle --play instructions="$trace" || return 1
    sed 's/^Malloc,0x00002000000/Malloc,0x00002000001/' "$work/list" >"$trace/kernelslist.g"
    expect nonzero 'kernelslist.g:[0-9]+: MemcpyHtoD.*outside of any allocation' -- run platforms/tiny.heddle --play instructions="$trace" || return 1
    cp "$work/list" "$trace/kernelslist.g"
    expect 1 "cannot read '--play instructions=nowhere'" -- run platforms/tiny.heddle --play instructions=nowhere || return 1
    expect 2 "either a program or '--play instructions'" -- run platforms/tiny.heddle --play instructions="$trace" -- "$programs/vectoradd" || return 1
    expect 2 "'--kernels auto' executes all launches of a program" -- run platforms/tiny.heddle --play instructions="$trace" --kernels auto --stats "$work/z.json" || return 1
    expect 2 "'--mode functional' executes programs" -- run platforms/tiny.heddle --play instructions="$trace" --mode functional || return 1
    expect 2 'cannot be recorded' -- run platforms/tiny.heddle --play instructions="$trace" --record instructions="$work/again" || return 1
    expect nonzero 'cannot be played through user queues' -- run tests/system/queues.heddle --set driver.launch_by=queue --play instructions="$trace" || return 1
    [ ! -e "$work/again" ] || fail "left behind: again"
}
