# shellcheck shell=bash
# Calls of the API as packets: part of run.sh, which has expect, run, same, deterministic.

packet_small="--set arrays=1 --set banks=2" # a GPU that is quickly built
packet_module=$programs/packet_kernels.hsaco

# play TRACE OPTIONS...: on a small GPU, with the kernels of the tests.
# shellcheck disable=SC2086
play() { run platforms/packet_trace.heddle $packet_small --play api="$1" --module "$packet_module" "${@:2}"; }

# packet_trace OPTIONS...: the statistic of a component of work/packets.json.
packet_statistic() {
    python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["components"][sys.argv[2]][sys.argv[3]])' "$out/work/packets.json" "$1" "$2"
}

# Traces with golden data computed on the host; what balar gets wrong is in them.
t_packet_traces() {
    local kind variant
    # shellcheck disable=SC2086
    for kind in order streams busy; do
        python3 tests/system/packets/make_trace.py $kind "$out/work/$kind" || return 1
        expect 0 'ratio 1\.000000' -- play "$out/work/$kind" --max-cycles 10000000 \
            --stats "$out/work/packets.json" --stats-no-host || return 1
        [ "$(packet_statistic cpu correct)" = "$(packet_statistic cpu total)" ] && [ "$(packet_statistic cpu total)" -ge 512 ] &&
            [ "$(packet_statistic cpu ratio)" = 1000000 ] || { fail "the statistics of $kind"; return 1; }
        [ "$(packet_statistic cpu retries)" -gt 0 ] && [ "$(packet_statistic cpu retries)" = "$(packet_statistic device blocked)" ] ||
            { fail "blocked calls of $kind were not tried again"; return 1; }
        for variant in --tick-order=random:1 --tick-all "--threads 2" "--set device.return_on_read=true --set cpu.read_device=true"; do
            expect 0 'ratio 1\.000000' -- play "$out/work/$kind" $variant \
                --stats "$out/work/new.json" --stats-no-host || return 1
            [[ $variant == *set* ]] || same "$out/work/packets.json" "$out/work/new.json" || { fail "$kind with $variant"; return 1; }
        done
    done
    # The default stream waits for the long kernel: it was blocked for about as long as that takes.
    [ "$(packet_statistic cpu retries)" -ge 20 ] || fail "a blocking call on a stream with active work was not blocked"
}

t_packet_vecadd() {
    local traces=tests/components/traces/api_trace/traces
    expect 0 '10 calls, total 64, correct 64, ratio 1\.000000' -- play $traces/vecadd \
        --record perfetto="$out/work/steps.json" || return 1
    # The first `set argument` of the launch, a packet that is fetched at once: malloc x 3, copies x 2, configure before it.
    python3 tests/system/packets/steps.py "$out/work/steps.json" 3 || return 1
    expect 0 'ratio 1\.000000' -- play $traces/vecadd --record perfetto="$out/work/steps.json" \
        --set device.return_on_read=true --set cpu.read_device=true || return 1
    python3 tests/system/packets/steps.py "$out/work/steps.json" 3 read || return 1
    # One wrong byte is named.
    rm -rf "$out/work/wrong" && cp -r $traces/vecadd "$out/work/wrong" && chmod -R u+w "$out/work/wrong" || return 1
    printf '\377' | dd of="$out/work/wrong/cuMemcpyD2H-0-64.data" bs=1 seek=13 conv=notrunc 2>/dev/null
    expect 3 'correct 63, ratio 0\.984375' "line 7: 'cuMemcpyD2H-0-64.data': byte 13 is 0x00, expected 0xff; 1 of 64 bytes are wrong" \
        -- play "$out/work/wrong" || return 1
    # On the second of two GPUs.
    python3 tests/system/packets/make_trace.py streams "$out/work/streams" || return 1
    sed 's/^heddle api-trace 1$/&\nHIP set device: device: 1/; s/^HIP set device: device: 0/# &/' "$out/work/streams/cuda_calls.trace" \
        >"$out/work/trace" && cp "$out/work/trace" "$out/work/streams/cuda_calls.trace" || return 1
    expect 0 'ratio 1\.000000' -- play "$out/work/streams" --set gpus=2 \
        --stats "$out/work/ref.json" || return 1
    [ "$(statistic '^gpu\[1\]' work_groups)" -gt 0 ] && [ "$(statistic '^gpu\[0\]' work_groups)" = 0 ] || { fail "not on GPU 1"; return 1; }
    expect 3 'trace:2: hipSetDevice failed: error 101' -- play "$out/work/streams"
}

t_packet_mistakes() {
    # shellcheck disable=SC2086
    local traces=tests/components/traces/api_trace/traces platform=platforms/packet_trace.heddle
    python3 tests/system/packets/make_trace.py large "$out/work/large" 65536 || return 1
    expect 3 'trace:2: error: .* 63 bytes' 'trace:3: error: .*missing.data' 'has errors; nothing was played' -- play $traces/damaged || return 1
    expect 3 "trace:6: no code object has a kernel '_Z6vecAddPiS_S_i'; name one: --module" -- run $platform $packet_small --play api=$traces/vecadd || return 1
    expect 3 "the device cannot use '.*meson.build': error 200" -- run $platform $packet_small --play api=$traces/vecadd --module meson.build || return 1
    expect 3 "cannot read '.*nowhere.hsaco'" -- run $platform $packet_small --play api=$traces/vecadd --module nowhere.hsaco || return 1
    expect 3 "65536 bytes do not fit into the host's memory" -- play "$out/work/large" --set cpu.memory_size=64KiB || return 1
    expect 2 'plays traces of API calls: .* --play api=DIR' -- run $platform $packet_small || return 1
    expect 2 "either a program or '--play api'" -- run $platform $packet_small --play api=$traces/vecadd -- "$programs/vectoradd" || return 1
    expect 2 "'--module' is for the kernels of a trace" -- run $platform --module "$packet_module"
}

# Damaged packets, calls that cannot be, more calls in flight than the device takes, a driver without room: every one is answered.
t_packet_probe() {
    local order
    for order in "" "--tick-order=descending" "--set device.return_on_read=true --set probe.read_device=true --set device.calls=64"; do
        # shellcheck disable=SC2086
        expect 0 'probe: 190 answers checked, 1 blocked' -- run tests/system/packets/probe.heddle --generic --max-cycles 10000000 $order \
            --stats "$out/work/packets.json" || return 1
        [ "$(packet_statistic device malformed)" = 16 ] && [ "$(packet_statistic dma refused)" -ge 3 ] &&
            [ "$(packet_statistic dma bytes_written)" -gt 4000 ] || { fail "what the device counted"; return 1; }
    done
}

# On a GPU of the size of the R9 Nano; with the real trace of balar's example, where there is one.
t_packet_balar() {
    expect 0 'total 64, correct 64, ratio 1\.000000' -- run platforms/packet_trace.heddle --play api=tests/components/traces/api_trace/traces/vecadd \
        --module "$packet_module" || return 1
    local trace=${HEDDLE_BALAR_TRACE:-../shared/data/balar-vecadd}
    [ -f "$trace/cuda_calls.trace" ] || { printf '    SKIPPED: no trace of balar (HEDDLE_BALAR_TRACE)\n'; return 0; }
    expect 0 '10 calls, total 524288, correct 524288, ratio 1\.000000' -- run platforms/packet_trace.heddle --play api="$trace" --module "$packet_module"
}

# Unmodified programs whose calls go as packets over core, TLB, cache, bus and memory of a simulated host.
t_packet_direct() {
    local p list="vectoradd streams prints threads module"
    [ "$full" = yes ] && list="$good_programs $gpus_programs"
    # shellcheck disable=SC2046,SC2086
    for p in $list; do
        expect 0 '^PASS' -- run platforms/packet_direct.heddle $packet_small --stats "$out/work/packets.json" -- "$programs/$p" $(arguments_of $p) || return 1
        [ "$(packet_statistic driver packets)" -gt 0 ] && [ "$(packet_statistic driver packets)" = "$(packet_statistic device calls_done)" ] &&
            [ "$(packet_statistic cpu packets)" = "$(packet_statistic device calls_done)" ] &&
            [ "$(packet_statistic device malformed)" = 0 ] || { fail "packets of $p"; return 1; }
    done
    # shellcheck disable=SC2086
    if [ "$full" = yes ]; then
        expect 0 '^PASS' -- run platforms/packet_direct.heddle $packet_small --set driver.stream_rules=balar -- "$programs/streams" || return 1
    fi
    deterministic platforms/packet_direct.heddle vectoradd || return 1
    [ "$(statistic '_tlb$' misses)" -ge 3 ] && [ "$(statistic '^core_cache$' hits)" -gt 0 ] || { fail "TLBs or cache took no part"; return 1; }
    expect 0 '^PASS' -- run platforms/packet_direct.heddle $packet_small --record perfetto="$out/work/steps.json" -- "$programs/vectoradd" || return 1
    python3 tests/system/packets/steps.py "$out/work/steps.json" 5 || return 1
    expect 0 '^PASS' -- run platforms/packet_direct.heddle --mode functional -- "$programs/vectoradd"
}

# docs/evidence/packets-cost.md: some of its numbers, with --full all of them.
t_packet_cost() {
    local all=()
    [ "$full" = yes ] && all=(--all)
    expect 0 'copies simulated, as on the page' -- python3 tests/bench/packets/run.py "$heddle" --check docs/evidence/packets-cost.md "${all[@]}"
}
