# Recordings of what wavefronts execute (--record instructions). Sourced by run.sh.

# A program as it is and recorded: the same statistics, and a recording that agrees with them, with the disassembler, and with
# what functional mode records, unless the program does by timing what it does.
traced() {
    local platform=$1 p=$2 timing=$3 work=$out/work/traces/$2 code=$programs/$2
    [ "$p" = module ] && code=$kernels
    mkdir -p "$work" || return 1
    # shellcheck disable=SC2046
    expect 0 '^PASS' -- run "$platform" --stats "$work/ref.json" --stats-no-host -- "$programs/$p" $(arguments_of "$p") || return 1
    # shellcheck disable=SC2046
    expect 0 '^PASS' "recorded in '$work/trace'" -- run "$platform" --stats "$work/stats.json" --stats-no-host \
        --record instructions="$work/trace" -- "$programs/$p" $(arguments_of "$p") || return 1
    same "$work/ref.json" "$work/stats.json" || return 1
    python3 tests/system/record_trace.py check "$heddle" "$work/trace" "$work/stats.json" "$code" || return 1
    # shellcheck disable=SC2046
    expect 0 '^PASS' -- run "$platform" --mode functional --profile blocks --stats "$work/quick.json" --stats-no-host --record instructions="$work/quick" \
        -- "$programs/$p" $(arguments_of "$p") || return 1
    python3 tests/system/record_trace.py check "$heddle" "$work/quick" "$work/quick.json" "$code" || return 1
    [ "$timing" = timing ] && return 0
    cmp "$work/trace/kernelslist.g" "$work/quick/kernelslist.g" || return 1
    python3 tests/system/record_trace.py same "$work/trace" "$work/quick"
}

t_steps_programs() {
    local p list="vectoradd matmul_tiled histogram scratch shuffles module divergence"
    [ "$full" = no ] || list="$list saxpy matmul transpose stencil atax bitonic convolution device_variables doubles
        dynamic_lds fft fir floyd_warshall grids half integers math narrow nbody scan spmv structs alignment dct8x8 aes128"
    for p in $list; do
        traced platforms/tiny.heddle "$p" same || { fail "$p"; return 1; }
    done
    python3 tests/system/record_trace.py vectoradd "$out/work/traces/vectoradd/trace"
}

# Programs whose steps depend on time (order of atomics and of streams, waiting, clocks), or whose host serves their kernels
# meanwhile, which there is no time for in functional mode.
t_steps_programs_timing() {
    local p list="atomics streams calls"
    [ "$full" = no ] || list="$list bfs clocks overlap life philox fences host_threads kmeans managed pipeline reduction threads"
    for p in $list; do
        traced platforms/tiny.heddle "$p" timing || { fail "$p"; return 1; }
    done
}

t_steps_gfx906() {
    local work=$out/work/traces906
    mkdir -p "$work"
    expect 0 '^PASS' -- run platforms/tiny.heddle --set gpu.isa=gfx906 --stats "$work/stats.json" --record instructions="$work/trace" \
        -- "$programs/fft" || return 1
    python3 tests/system/record_trace.py check "$heddle" "$work/trace" "$work/stats.json" "$programs/fft"
}

# The same bytes under every order of ticks, with several threads, and generic; on several GPUs, too.
t_steps_determinism() {
    local work=$out/work/trace-order variant n=0
    mkdir -p "$work"
    expect 0 '^PASS' -- run platforms/ring4.heddle --stats "$work/stats.json" --record instructions="$work/ref" -- "$programs/peer_ring" || return 1
    python3 tests/system/record_trace.py check "$heddle" "$work/ref" "$work/stats.json" "$programs/peer_ring" || return 1
    [ "$(grep -c '^MemcpyDtoD' "$work/ref/kernelslist.g")" = 8 ] && grep -q '^After,9,' "$work/ref/kernelslist.g" \
        || { fail 'the list lacks copies between GPUs, or the order of their queues'; return 1; }
    for variant in "--tick-order=random:5" "--threads=2" "--generic"; do
        n=$((n + 1))
        # shellcheck disable=SC2086
        HEDDLE_THREAD_DELAYS=3 expect 0 '^PASS' -- run platforms/ring4.heddle $variant --record instructions="$work/$n" -- "$programs/peer_ring" || return 1
        diff -r "$work/ref" "$work/$n" || { fail "$variant"; return 1; }
    done
}

# A recording appears whole or not at all.
t_steps_refused() {
    local work=$out/work/trace-refused before
    mkdir -p "$work/there"
    expect 1 "'--record instructions=$work/there': this exists already" -- run platforms/tiny.heddle --record instructions="$work/there" -- "$programs/vectoradd" || return 1
    expect 2 'records a program; name one' -- run platforms/tiny.heddle --record instructions="$work/new" || return 1
    expect 2 "leave out '--kernels'" -- run platforms/tiny.heddle --kernels 1 --record instructions="$work/new" -- "$programs/vectoradd" || return 1
    expect 2 "leave out '--unified'" -- run platforms/ring4.heddle --unified 0,1 --record instructions="$work/new" -- "$programs/vectoradd" || return 1
    expect 1 'cannot make a folder there' -- run platforms/tiny.heddle --record instructions="$work/no/new" -- "$programs/vectoradd" || return 1
    expect 1 'has not used HIP' -- run platforms/tiny.heddle --record instructions="$work/new" -- /bin/true || return 1
    expect 3 'cannot be recorded: a kernel broke the device' 'nothing is recorded' -- run platforms/tiny.heddle --record instructions="$work/new" -- "$programs/bad_oob" || return 1
    expect 3 'nothing is recorded' -- run platforms/tiny.heddle --mode functional --record instructions="$work/new" -- "$programs/bad_oob" || return 1
    expect 6 'nothing is recorded' -- run platforms/tiny.heddle --max-cycles 100000 --record instructions="$work/new" -- "$programs/endless" || return 1
    expect 1 '^PASS' 'cannot be recorded: it writes to user queues' -- run tests/system/queues.heddle --record instructions="$work/new" -- "$programs/user_queues" || return 1
    expect 1 '^PASS' 'cannot be recorded: it moves pages between GPUs' -- run platforms/ring4.heddle --record instructions="$work/new" -- "$programs/own_devices" || return 1
    expect nonzero 'driver.launch_by = queue' -- run tests/system/queues.heddle --set driver.launch_by=queue --record instructions="$work/new" -- "$programs/vectoradd" || return 1
    before=$(ls "$work")
    [ "$before" = there ] || fail "left behind: $before"
}

# With the other recording, of calls; and of a trace of calls that is played.
t_steps_both() {
    local work=$out/work/trace-both
    mkdir -p "$work"
    expect 0 '^PASS' -- run platforms/tiny.heddle --record instructions="$work/steps" --record api="$work/calls" -- "$programs/saxpy" || return 1
    expect 0 '^ratio: 1.000000$' -- run platforms/tiny.heddle --play api="$work/calls" --record instructions="$work/again" || return 1
    python3 tests/system/record_trace.py same "$work/steps" "$work/again"
}
