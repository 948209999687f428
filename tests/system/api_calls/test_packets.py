"""Calls of the API as packets: a simulated host plays traces of calls, or runs a program whose
calls go as packets over its core, TLB, cache, bus and memory."""
import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

import damage
from harness import API_TRACES, ANY, HEDDLE, call, cuda_cc, measure as measure_in, same
from harness import same_bytes, ways
from programs import GOOD, GPUS, only_full, quick_and_full

TINY = "platforms/tiny.heddle"
TRACE = "platforms/packet_trace.heddle"
DIRECT = "platforms/packet_direct.heddle"
SMALL = "--set arrays=1 --set banks=2"  # a GPU that is quickly built
MODULE = "--module packet_kernels.hsaco"
NVIDIA = "--generic --set gpus_are=nvidia"
VECADD = f"{API_TRACES}/vecadd"
CUDA = "platforms/a100.heddle --generic --set sms=4 --set channels=2"
EACH_CALL = "tests/system/api_calls/packets/each_call.py"
ON_READ = "--set device.return_on_read=true --set cpu.read_device=true"


def play(trace, options="", kernels=MODULE):
    """Arguments of `heddle run`: on a small GPU, with the kernels of the tests."""
    return f"{TRACE} {SMALL} --play api={trace} {kernels} {options}"


@pytest.fixture(scope="session")
def cuda_kernels(tmp_path_factory):
    """Options for those of CUDA's source, as PTX."""
    folder = tmp_path_factory.mktemp("kernels")
    call(["sh", "tests/programs/as_cuda.sh", "packet_kernels", folder])
    call([HEDDLE, "cuda-cc", "--ptx", folder / "packet_kernels.cu", "-o", folder / "kernels.ptx"])
    return f"{NVIDIA} --module {folder}/kernels.ptx"


def make_trace(kind, folder, *sizes):
    """With golden data computed on the host; what balar gets wrong is in them."""
    call([sys.executable, "tests/system/api_calls/packets/make_trace.py", kind, folder, *sizes])
    return folder


@pytest.mark.parametrize("kind", ["streams", "busy", *only_full("order")])
def test_played_calls_return_the_golden_data(measure, run, tmp_path, kind):
    trace = make_trace(kind, tmp_path / kind)
    right = r"ratio 1\.000000"
    reference = measure(play(trace, "--max-cycles 10000000"), right)
    cpu, device = reference.components["cpu"], reference.components["device"]
    assert cpu["correct"] == cpu["total"] >= 512 and cpu["ratio"] == 1000000
    assert 0 < cpu["retries"] == device["blocked"]  # blocked calls were tried again
    if kind == "busy":  # the default stream waits for the long kernel
        assert cpu["retries"] >= 20
    for order in ways(["--tick-order=random:1", "--tick-all", "--threads 2"]):
        same(reference, measure(play(trace, order), right))
    run(play(trace, ON_READ), right)


@pytest.mark.parametrize("kind", ["streams", "busy", "order"])
def test_played_calls_return_the_golden_data_from_kernels_of_cuda(run, cuda_kernels, tmp_path,
                                                                  kind):
    run(play(make_trace(kind, tmp_path / kind), kernels=cuda_kernels), r"ratio 1\.000000")


def check_steps(file, number, on_read=False):
    """The seven steps of the sequence diagram of "Balar In Depth" in the trace of events of the
    host's call NUMBER, from 0. They begin in the order of the diagram; with `on_read`, the answer
    is written (6) only after the host has been told (7)."""
    order = "1234576" if on_read else "1234567"
    events = [e for e in json.loads(file.read_text())["traceEvents"]
              if e["ph"] in "be" and e["name"][1:2] == " "]
    calls = [e["ts"] for e in events if e["ph"] == "b" and e["name"][0] == "1"]
    events = [e for e in events if calls[number] <= e["ts"] < calls[number + 1]]
    begun = {}
    for e in events:
        if e["ph"] == "b":
            begun.setdefault(e["name"][0], e)
    assert set(order) <= set(begun)
    steps = [begun[step] for step in order]
    for a, b in zip(steps, steps[1:]):
        assert a["ts"] <= b["ts"]
    # Only 4 and 5, and the last two, may be at once: the others are apart by a message at least.
    for a, b in zip(steps[:5], steps[1:5]):
        assert a["ts"] < b["ts"] or a["name"][0] + b["name"][0] == "45"
    who = [begun[step]["cat"] for step in "1234567"]
    assert who[:2] in (["trace_cpu"] * 2, ["host_core"] * 2)
    assert who[2:] == ["mmio", "packet_dma", "mmio", "mmio", "mmio"]
    told = [e["ts"] for e in events if e["name"][0] == "2" and e["ph"] == "e"]
    assert told[0] > begun["7"]["ts"]  # the host's write is answered when the device said so


@pytest.mark.parametrize("options, on_read", [("", False), (ON_READ, True)],
                         ids=["interrupt", "read"])
def test_call_takes_the_seven_steps_of_the_diagram(run, tmp_path, options, on_read):
    trace = tmp_path / "steps.json"
    run(play(VECADD, f"--record perfetto={trace} {options}"),
        r"10 calls, total 64, correct 64, ratio 1\.000000")
    check_steps(trace, 3, on_read)


# Modules with variables, several streams, pinned memory, rows, events, host threads.
# `structs`: pointers in data; `managed`: mapped memory, too.
@pytest.mark.parametrize("program", quick_and_full(
    "vectoradd device_variables volumes host_threads shared_buffer structs managed",
    ["copies", "pipeline", "streams", "aes128", "gpu_threads", "scan"]))
def test_recording_of_a_program_is_played(run, tmp_path, program):
    run(f"{TINY} --mode functional --record api={tmp_path}/calls -- {program}")
    run(play(tmp_path / "calls", kernels=""), r"total [1-9].*ratio 1\.000000")


@pytest.mark.parametrize("line", ["HIP peer: device: 1, on: 1",
                                  "HIP unify devices: device: 2, gpus: 0+1"])
def test_call_without_a_packet_is_named(run, tmp_path, line):
    (tmp_path / "cuda_calls.trace").write_text(f"heddle api-trace 2\n{line}\n")
    run(play(tmp_path, kernels=""), "trace:2: no packet says this call; play the trace on a "
        "platform without a trace_cpu; nothing was played", status=3)


def test_wrong_byte_is_named(run, tmp_path):
    trace = tmp_path / "wrong"
    trace.mkdir()
    for file in Path(VECADD).iterdir():
        (trace / file.name).write_bytes(file.read_bytes())
    golden = bytearray((trace / "cuMemcpyD2H-0-64.data").read_bytes())
    golden[13] = 0xFF
    (trace / "cuMemcpyD2H-0-64.data").write_bytes(golden)
    run(play(trace), r"correct 63, ratio 0\.984375", "line 7: 'cuMemcpyD2H-0-64.data': byte 13 is"
        " 0x00, expected 0xff; 1 of 64 bytes are wrong", status=3)


def test_calls_go_to_the_second_gpu(run, measure, tmp_path):
    trace = make_trace("streams", tmp_path / "streams")
    calls = (trace / "cuda_calls.trace").read_text()
    calls = calls.replace("heddle api-trace 1\n",
                          "heddle api-trace 1\nHIP set device: device: 1\n", 1)
    calls = re.sub("^HIP set device: device: 0", r"# \g<0>", calls, flags=re.M)
    (trace / "cuda_calls.trace").write_text(calls)
    done = measure(play(trace, "--set gpus=2"), r"ratio 1\.000000")
    assert done.total(r"^gpu\[1\]", "work_groups") > 0
    assert done.total(r"^gpu\[0\]", "work_groups") == 0
    run(play(trace), r"trace:2: hipSetDevice failed: hipErrorInvalidDevice \(101\)", status=3)


@pytest.mark.parametrize("text, status, says", [
    (play(f"{API_TRACES}/damaged"), 1, ["trace:2: error: .* 63 bytes",
                                        "trace:3: error: .*missing.data", "^3 errors"]),
    (f"{TRACE} {SMALL} --play api={VECADD}", 3,
     ["trace:6: no code object has a kernel '_Z6vecAddPiS_S_i'; name one: --module"]),
    (f"{TRACE} {SMALL} --play api={VECADD} --module meson.build", 1,
     ["'meson.build' is not a code object, a bundle or PTX"]),
    (f"{TRACE} {SMALL} --play api={VECADD} --module nowhere.hsaco", 1,
     ["nowhere.hsaco.*cannot read"]),
    (f"{TRACE} {SMALL}", 2, ["plays traces of API calls: .* --play api=DIR"]),
    (f"{TRACE} {SMALL} --play api={VECADD} -- vectoradd", 2,
     ["'--play api' plays a trace instead of a program"]),
    (f"{TRACE} {MODULE}", 2, ["'--module' is for the kernels of a trace"])],
    ids=["damaged", "no-module", "no-object", "nowhere", "no-trace", "program", "module-alone"])
def test_mistake_is_named(run, text, status, says):
    run(text, *says, status=status)


@pytest.mark.parametrize("trace", only_full("vecadd"))
def test_damaged_traces_are_refused_with_their_line_or_play(run, tmp_path, trace):
    folder = tmp_path / trace
    shutil.copytree(f"{API_TRACES}/{trace}", folder)
    whole = (folder / "cuda_calls.trace").read_text()
    for seed in range(200):
        (folder / "cuda_calls.trace").write_text(damage.damaged(whole, seed))
        done = run(play(folder, "--max-cycles 3000000"), status=ANY)
        damage.check(done, seed, r"trace(:[0-9]+)?: |: no calls")


def test_trace_that_does_not_fit_into_the_hosts_memory_is_refused(run, tmp_path):
    trace = make_trace("large", tmp_path / "large", 65536)
    run(play(trace, "--set cpu.memory_size=64KiB"),
        "65536 bytes do not fit into the host's memory", status=3)


@pytest.mark.parametrize("options", [
    "", "--tick-order=descending",
    "--set device.return_on_read=true --set probe.read_device=true --set device.calls=64"],
    ids=["ascending", "descending", "on-read"])
def test_every_packet_is_answered(measure, options):
    """Damaged packets, calls that cannot be, more calls in flight than the device takes, a driver
    without room."""
    counted = measure("tests/system/api_calls/packets/probe.heddle --generic --max-cycles 10000000"
                      f" {options}", "probe: 191 answers checked, 1 blocked").components
    assert counted["device"]["malformed"] == 17
    assert counted["dma"]["refused"] >= 3 and counted["dma"]["bytes_written"] > 4000


def test_calls_are_played_on_a_gpu_of_the_size_of_the_r9_nano(run):
    run(f"{TRACE} --play api={VECADD} {MODULE}", r"10 calls, total 64, correct 64, ratio 1\.000000")


BALAR = os.environ.get("HEDDLE_BALAR_TRACE", "../shared/data/balar-vecadd")


@pytest.mark.skipif(not os.path.exists(f"{BALAR}/cuda_calls.trace"),
                    reason="no trace of balar (HEDDLE_BALAR_TRACE)")
@pytest.mark.parametrize("gpus", ["amd", "nvidia"])
def test_trace_of_balar_is_played(run, cuda_kernels, gpus):
    """Its kernel from HIP's source, and from CUDA's."""
    run(f"{TRACE} --play api={BALAR} {cuda_kernels if gpus == 'nvidia' else MODULE}",
        r"10 calls, total 524288, correct 524288, ratio 1\.000000")


@pytest.fixture(scope="session")
def recorded_cuda(tmp_path_factory):
    """Calls of a CUDA program, recorded once."""
    folder = tmp_path_factory.mktemp("cuda_calls")

    def record(name):
        if not (folder / f"{name}.calls").exists():
            cuda_cc(f"tests/programs/cuda/{name}.cu", folder / name)
            call([HEDDLE, "run", *CUDA.split(), "--record", f"api={folder}/{name}.calls", "--",
                  folder / name], "PASS")
        return folder / f"{name}.calls"
    return record


@pytest.mark.parametrize("program", quick_and_full(
    "graph_nodes managed_variables",
    ["block_scan", "intrinsics", "half_gemm", "launch_by_hand", "mapped_host", "thread_streams"]))
def test_recording_of_a_cuda_program_is_played(run, recorded_cuda, program):
    """Its kernels in PTX, in its streams, with managed memory, and variables: by packets, by a
    program's calls as packets, and without any."""
    trace = recorded_cuda(program)
    call([HEDDLE, "api-trace", "check", trace], "no errors")
    run(play(trace, kernels=NVIDIA), r"total [1-9].*ratio 1\.000000")
    run(f"{DIRECT} {SMALL} {NVIDIA} --play api={trace}", r"ratio: 1\.000000")
    run(f"{CUDA} --play api={trace}", r"ratio: 1\.000000")


def test_recording_of_a_cuda_program_wants_its_gpus(run, recorded_cuda):
    trace = recorded_cuda("graph_nodes")
    run(f"{TINY} --play api={trace}", r"executes no PTX", status=1)
    run(f"{TRACE} {SMALL} --play api={trace}",
        r"cannot use 'data-.*': hipErrorInvalidImage \(200", status=3)


@pytest.mark.parametrize("program", quick_and_full("vectoradd streams prints threads module",
                                                   GOOD + GPUS))
def test_every_call_of_a_program_is_a_packet(measure, program):
    counted = measure(f"{DIRECT} {SMALL} -- {program}").components
    assert (0 < counted["driver"]["packets"] == counted["cpu"]["packets"]
            == counted["device"]["calls_done"])
    assert counted["device"]["malformed"] == 0


@pytest.mark.parametrize("gpus, interface, least", [("amd", "", 23), ("nvidia", "cuda", 23),
                                                    ("nvidia", "cuda every", 200)])
def test_calls_that_ask_the_gpu_for_nothing_are_packets_too(measure, gpus, interface, least):
    """Queries, creations, errors: as many more packets as calls."""
    def packets(rounds):
        done = measure(f"{DIRECT} {SMALL} --set gpus_are={gpus} -- {sys.executable} {EACH_CALL}"
                       f" {rounds} {interface}", "calls a round")
        return done.components["device"]["calls_done"], int(done.stdout.split()[0])
    (once, calls), (thrice, _) = packets(1), packets(3)
    assert thrice - once == 2 * calls >= 2 * least


@pytest.mark.parametrize("program", only_full("streams"))
def test_program_passes_with_rules_of_balar(run, program):
    run(f"{DIRECT} {SMALL} --set driver.stream_rules=balar -- {program}")


def test_calls_of_a_program_pass_tlb_and_cache(measure):
    done = same_bytes(measure, f"{DIRECT} {{}} -- vectoradd",
                      ["--tick-order=random:1", "--tick-all"])
    assert done.total("_tlb$", "misses") >= 3 and done.total("^core_cache$", "hits") > 0


def test_functional_mode_needs_no_packets(run):
    run(f"{DIRECT} --mode functional -- vectoradd")


def test_data_of_copies_take_the_device_and_its_dma_engine(measure):
    """In both directions, through the host's memory, also past what one packet moves."""
    done = measure(f"{DIRECT} {SMALL} -- copy_rate 100001")
    cpu, device, dma, driver = map(done.components.get, ("cpu", "device", "dma", "driver"))
    assert cpu["bytes_written"] == device["bytes_to_gpu"] > 2 * 100001
    assert cpu["bytes_read"] == device["bytes_from_gpu"] == 100001 + 4
    assert dma["bytes_read"] > cpu["bytes_written"] and dma["bytes_written"] > cpu["bytes_read"]
    assert driver["bytes_from_gpu"] == cpu["bytes_read"]


@pytest.mark.parametrize("program", ["copies", "pipeline", "shared_buffer"])
@pytest.mark.parametrize("options", ["", "--set driver.copy=magic_copy"])
def test_copies_through_memory_keep_the_order_of_the_program(run, program, options):
    run(f"{DIRECT} {SMALL} {options} -- {program}")


def test_address_beyond_the_page_table_is_named_with_its_setting(run):
    run(f"{DIRECT} {SMALL} --set os.virtual=256TiB -- vectoradd",
        "virtual address 0x1000000000000 has more than the 48 bits .* lower the setting virtual",
        status=1)


def test_program_that_waits_looks_at_the_status(measure):
    """More often when it looks more often; a call in which nobody waits is not looked after."""
    polls = [measure(f"{DIRECT} {SMALL} --set cpu.poll={cycles}cy -- vectoradd").components["cpu"]
             for cycles in (100, 10000)]
    assert polls[0]["polls"] > 2 * polls[1]["polls"] > 0


def test_copies_through_memory_count_the_same_however_they_are_run(measure):
    same_bytes(measure, f"{DIRECT} {SMALL} {{}} -- copies",
               ["--tick-all", "--tick-order random:1", "--threads 2"])


# The figures of "Trace-driven mode component setup" and "Direct-execution mode component setup",
# edge by edge; names are those of the platform. Then what a figure of heddle shows in addition: the
# device gives commands to its DMA engine; accesses of registers pass the cache by; the program is
# outside, and so are the GPUs.
FIGURES = {
    TRACE: ({("cpu", "router"), ("router", "device"), ("dma", "router"), ("router", "dma"),
             ("router", "memory")},
            {("device", "router"), ("device", "driver")}),
    DIRECT: ({("cpu", "core_tlb"), ("core_tlb", "core_cache_bus"), ("core_cache_bus", "core_cache"),
              ("os", "os_mmu"), ("device_tlb", "core_cache_bus"), ("device_tlb", "os_mmu"),
              ("cpu", "os"), ("core_tlb", "os_mmu"), ("dma", "device_tlb"), ("router", "device"),
              ("core_cache", "router"), ("router", "dma"), ("router", "memory")},
             {("core_cache_bus", "router"), ("device", "router"), ("driver", "cpu"),
              ("device", "driver"), ("os_mmu", "core_tlb"), ("os_mmu", "device_tlb")})}


@pytest.mark.parametrize("platform", FIGURES)
def test_platform_is_joined_as_drawn(heddle, platform):
    """In the description, and in the picture as it is drawn when nothing is asked for."""
    as_drawn, beside = FIGURES[platform]
    model = json.loads(heddle(f"dump {platform} {SMALL}").stdout)
    ends = {(c["from"].split(".")[0], c["to"].split(".")[0]) for c in model["connections"]}
    host = {name for edge in as_drawn | beside for name in edge}
    assert {edge for edge in ends if set(edge) <= host} == as_drawn | beside
    picture = heddle(f"dot {platform} {SMALL} --level platform").stdout
    drawn = set(re.findall(r'^n\d+ -> n\d+ \[tooltip="(\w+) -> (\w+)', picture, re.M))
    both = drawn | {(b, a) for a, b in drawn}
    assert as_drawn <= both, as_drawn - both


@pytest.fixture(scope="module", params=["amd", "nvidia"])
def direct_trace(request, tmp_path_factory):
    """A small run of a HIP program and of a CUDA program, whose costs are set: its statistics, and
    the file of its events."""
    folder, program, options = tmp_path_factory.mktemp("direct"), "vectoradd 100", ""
    if request.param == "nvidia":
        recorded = request.getfixturevalue("recorded_cuda")("graph_nodes")
        program, options = recorded.with_suffix(""), NVIDIA
    done = measure_in(f"{DIRECT} {SMALL} {options} --set cpu.fence=30cy --set os.map_time=200cy"
                      f" --set os.unmap_time=100cy --record perfetto={folder}/trace.json"
                      f" -- {program}", "^PASS", folder=folder)
    return done, folder / "trace.json"


def test_call_of_a_program_takes_the_seven_steps_of_the_diagram(direct_trace):
    check_steps(direct_trace[1], 5)


def test_copy_goes_memory_dma_device_in_this_order(direct_trace):
    at = {}  # of a call: when its steps began and ended
    for event in json.loads(direct_trace[1].read_text())["traceEvents"]:
        if event["ph"] in "be" and event["name"][0].isdigit():
            at.setdefault(event["id"], {})[event["name"][0] + event["ph"]] = event["ts"]
    calls = list(at.values())
    there = [call for call in calls if "0b" in call]
    back = [call for call in calls if "8b" in call]
    assert there and back
    assert all(call["0e"] <= call["1b"] < call["1e"] <= call["2b"] for call in there)
    assert all(call["1e"] <= call["2b"] < call["2e"] < call["8b"] < call["8e"] for call in back)


@pytest.fixture(scope="module")
def direct_steps(direct_trace):
    """Statistics, and spans of the core, as (begin, end, call, name), and of the device."""
    done, trace = direct_trace
    spans, begun = {"host_core": [], "mmio": []}, {}
    for e in json.loads(trace.read_text())["traceEvents"]:
        if e.get("cat") not in spans:
            continue
        call, key = int(e["id"], 16) % 2**32, (e["id"], e["name"])
        if e["ph"] == "b":
            begun[key] = e["ts"]
        else:
            spans[e["cat"]].append((round(begun.pop(key) * 1000), round(e["ts"] * 1000), call,
                                    e["name"]))
    assert not begun
    return done.components, sorted(spans["host_core"]), spans["mmio"]


FENCE, MAP, UNMAP = "fence before the registers", "map the registers", "unmap the registers"
TOUCH = ("2 write its address to the device", "look at the status")
FENCE_BEHIND = "fence behind the registers"


def test_registers_are_mapped_and_unmapped_around_each_access_with_fences(direct_steps):
    components, spans, _ = direct_steps
    cpu, system, tlb = map(components.get, ("cpu", "os", "core_tlb"))
    accesses = cpu["packets"] + cpu["polls"]
    assert cpu["polls"] >= 3 and system["maps"] == system["unmaps"] == accesses
    assert cpu["fences"] == 2 * accesses
    assert tlb["forgotten"] == accesses < tlb["misses"]  # no translation is used again
    around = [s for s in spans if "registers" in s[3] or s[3] in TOUCH]
    assert len(around) == 5 * accesses
    for i in range(0, len(around), 5):  # one access at a time, each in this order
        steps = around[i:i + 5]
        assert [s[3] for s in steps[:2] + steps[3:]] == [FENCE, MAP, FENCE_BEHIND, UNMAP]
        assert steps[2][3] in TOUCH and len({s[2] for s in steps}) == 1
        assert all(a[1] <= b[0] for a, b in zip(steps, steps[1:]))


def test_fences_and_system_calls_cost_what_the_platform_says(direct_steps):
    spans = direct_steps[1]
    lasted = {name: {s[1] - s[0] for s in spans if s[3] == name}
              for name in (FENCE, FENCE_BEHIND, MAP, UNMAP)}
    assert lasted[FENCE] == lasted[FENCE_BEHIND] == {30}
    assert lasted[MAP] == {200 + 3}  # there, back, and a cycle in which it returns
    assert lasted[UNMAP] == {100 + 3 + 4}  # and to the MMU, to the TLBs, and back


def test_blocking_call_polls_the_status_and_others_return_at_once(direct_steps):
    """A call that waits is told so, and looks until the status says that it is over. Nobody else
    looks, and the answer to the write of no call waits for the GPU."""
    components, spans, device = direct_steps
    answers = [s[2] for s in device if s[3] == "6 write the answer"]
    pending = {call for call in answers if answers.count(call) == 2}
    assert 3 <= len(pending) < components["cpu"]["packets"] == len(set(answers))
    looked = {s[2] for s in spans if s[3] == TOUCH[1]}
    assert looked and looked <= pending
    assert {s[2] for s in spans if s[3][0] == "8"} <= pending  # copies to the host
    executed = {s[2]: s for s in device if s[3][0] == "5"}
    written = {s[2]: s for s in spans if s[3] == TOUCH[0]}
    assert any(written[call][1] < executed[call][1] - 500 for call in pending)


def test_chosen_launches_do_not_wait_for_the_host(measure):
    """The host is never quiet while it waits for them; what is chosen has its own cycles."""
    text = f"{DIRECT} {SMALL} --max-cycles 50000000 {{}} -- matmul_chain"
    whole = measure(text.format("")).stats["kernels"]
    chosen = same_bytes(measure, text.format("--kernels 3 {}"), ["--tick-all", "--threads 2"])
    cycles = [k["cycles"] for k in chosen.stats["kernels"]]
    assert cycles[:2] + cycles[3:4] == [0, 0, 0]
    assert abs(cycles[2] - whole[2]["cycles"]) < 0.01 * whole[2]["cycles"]
