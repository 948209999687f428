"""`heddle run --report limits`: the first sentence about a kernel names the cause that was planted
in it, and a setting that it proposes makes it faster."""
import json
import re
from types import SimpleNamespace

import pytest

import harness
from harness import heddle, run
from programs import only_full

from heddle.statistics.statistics_file import read
from heddle.verdict import fullness, limits, memory_limits

PLATFORMS = {"r9nano": "platforms/r9nano.heddle --generic",
             "mi210": "platforms/mi210.heddle --generic"}
# Of `planted CAUSE`: what the first sentence begins with, and what stands in it.
CAUSES = {
    "banks": "limited by collisions in the banks or channels of gpu.*(l2|hbm)",
    "channel": r"limited by one hot channel: gpu.*l2\[3\] is the fullest of the machine",
    "bandwidth": r"limited by the bandwidth of gpu\.(dram|hbm)\[\*\]",
    "coalescing": r"limited by lanes that do not coalesce: .* asks for \d\d lines",
    "tlb": "limited by address translation, the reach of the TLBs",
    "chain": "limited by a chain of loads, one after the other: a wavefront has [01]",
    "scalar": "limited by scalar memory: .* one after the other",
    "atomics": "limited by atomics on few words: .* on one word or few",
    "registers": "limited by occupancy: vector registers let only 1.0 of (10|8) wavefronts",
    "lds_occupancy": "limited by occupancy: the LDS lets only 0.5 of (10|8) wavefronts",
    "valu": "limited by the vector ALUs: they work for",
    "transcendental": "limited by the vector ALUs: .* % of their instructions are slower ones",
    "lds_banks": "limited by bank conflicts of the LDS",
    "lds_bandwidth": "limited by the LDS: it works for",
    "barrier": "limited by barriers",
    "fetch": "limited by instruction fetch",
    "tail": "limited by the tail of the launch",
    "wavefronts": "limited by the tail of work-groups",
    "grid": "limited by the grid: (8|13) work-groups",
    "loop": "limited by instruction fetch: .* 8\\d % of the fetches hit",
    "dispatch": "limited by the dispatcher: ",
    "spin": "limited by spinning on a word in memory: 9\\d % of the vector memory instructions",
    "gap": "limited by what a launch costs"}
CHEAP = ("r9nano atomics", "r9nano scalar", "mi210 valu", "r9nano registers",
         "r9nano spin")
# Settings that the sentence proposes, and how much shorter the kernel is with another value.
HELPS = [("r9nano", "channel", "gpu.hashed=true", 0.75),
         *only_full(
             ("r9nano", "banks", "gpu.hashed=true", 0.8),
             ("r9nano", "stores", "gpu.hashed=true", 0.8),
             ("r9nano", "tlb", "gpu.l2tlb.width=16", 0.97),
             ("r9nano", "scalar", "gpu.sa.l1s.latency=10cy", 0.97),
             ("r9nano", "fetch", "gpu.sa.cu.instruction_buffer=256B", 0.7),
             ("r9nano", "dispatch", "gpu.cp.dispatch_cost_small=100", 0.9),
             ("r9nano", "gap", "gpu.cp.kernel_overhead=100cy", 0.6),
             ("r9nano", "chain", "gpu.l2.latency=57cy", 0.95))]


def told(platform, cause, *settings, **how):
    sets = " ".join(f"--set {one}" for one in settings)
    return run(f"{PLATFORMS.get(platform, platform)} {sets} --report limits -- planted {cause}",
               **how)


def sentences(text):
    """Of each kernel, and of the run: its label, then what is said."""
    found = {}
    for line in text.splitlines():
        if not line.startswith("  "):
            label = line
        else:
            found.setdefault(label, []).append(line.strip())
    return found


def longest(done):
    """The first sentence about the kernel that the program is about, its last."""
    of = sentences(done.stderr)
    return of[[label for label in of if label != "the run"][-1]][0]


EACH = [f"{platform} {cause}" for platform in PLATFORMS for cause in CAUSES]


@pytest.mark.parametrize("what", [*CHEAP, *only_full(*(one for one in EACH if one not in CHEAP))])
def test_first_sentence_names_the_planted_cause(what):
    platform, cause = what.split()
    done = told(platform, cause)
    sentence = longest(done)
    assert re.match(CAUSES[cause], sentence), sentence
    for said in (one for of in sentences(done.stderr).values() for one in of):
        assert re.search("confidence: (high|medium|low)", said), said


@pytest.mark.parametrize("platform, sentence", [
    ("platforms/r9nano_x4.heddle --generic", r"limited by a link: slot\[[01]\]"),
    *only_full(("platforms/mi210_x2.heddle --generic", "limited by a link: .*bridge"))])
def test_peer_link_is_named(platform, sentence):
    assert re.match(sentence, longest(told(platform, "peer")))


@pytest.mark.parametrize("platform, cause, sentence", [
    ("r9nano", "copies", "limited by copies: .* over a link: .*pcie.* pcie.bandwidth"),
    ("mi210", "host", "limited by the host, .* driver.record_cost"),
    *only_full(("mi210", "copies", "limited by copies: .* over a link: .*pcie.* pcie.bandwidth"))])
def test_a_run_that_kernels_are_little_of_is_said_first(platform, cause, sentence):
    of = sentences(told(platform, cause).stderr)
    assert list(of)[0] == "the run" and re.match(sentence, of["the run"][0]), of


@pytest.mark.parametrize("platform, cause, setting, most", HELPS)
def test_a_setting_that_it_proposes_helps(measure, platform, cause, setting, most):
    def cycles(*settings):
        words = " ".join(f"--set {one}" for one in settings)
        done = measure(f"{PLATFORMS[platform]} {words} --report limits -- planted {cause}")
        return done, sum(k["cycles"] for k in done.stats["kernels"])
    done, before = cycles()
    assert f"{setting.partition('=')[0]}=" in longest(done)
    assert cycles(setting)[1] < most * before


def test_nothing_has_more_time_than_placing_the_work_groups_leaves(monkeypatch):
    """They are placed one by one, whatever else there is."""
    monkeypatch.setattr(limits, "makes_the_queue", lambda _: False)
    sums = {"work_groups": 4096, "cycles": 20000}
    kernel = type("K", (), {"sum": lambda _, name: sums[name], "__getitem__": lambda *_: 4})()
    machine = SimpleNamespace(settings={"cp.dispatch_cost_small": "400"},
                              known=lambda name: [name] if name == "cp.dispatch_cost_small" else [])
    j = SimpleNamespace(kernel=kernel, machine=machine,
                        shares={"memory": 60.0, "dispatch": 40.0, "launch": 7.0, "valu": 5.0})
    limits._settle(j)
    assert list(j.shares) == ["dispatch", "memory", "launch", "valu"]
    assert j.shares["memory"] == pytest.approx(100 - 7 - 100 * 4096 * 4 / 20000)


def test_what_was_full_stays_in_the_statistics(measure):
    """What speaks of limits says the same then: the run and its file."""
    done = measure(f"{PLATFORMS['r9nano']} --report limits -- planted channel")
    assert heddle(f"stats --report limits {done.stats_file}").stdout == done.stderr
    first = longest(done)
    assert first in heddle(f"stats --report cpi {done.stats_file}").stdout
    without = json.loads(done.stats_file.read_text())
    assert without.pop("fullness")["kernels"][0]["arrays"]
    done.stats_file.write_text(json.dumps(without))
    assert "records which element of the machine was full" in heddle(
        f"stats --report limits {done.stats_file}").stdout


@pytest.mark.parametrize("intervals, arrays, place", [
    (46, {"l2": (14, 0), "mmu": (12, 11)}, "mmu"), (77, {"hbm": (23, 2), "mmu": (21, 19)}, "mmu"),
    (162, {"dram": (128, 0), "mmu": (19, 19)}, "dram"), (40, {"l2": (3, 0), "hbm": (5, 0)}, "hbm")])
def test_requests_queue_where_something_is_full(intervals, arrays, place):
    """At what was the fullest in most intervals; otherwise at what was full most often."""
    found = fullness.Fullness(intervals, 200, [
        fullness.Array(path, "cache", 4, first, full) for path, (first, full) in arrays.items()])
    assert memory_limits._place(SimpleNamespace(full=found, queued=50.0)).path == place


def test_damaged_fullness_is_refused(measure):
    done = measure(f"{PLATFORMS['r9nano']} --report limits -- planted scalar")
    whole = done.stats_file.read_text()
    for good, bad, says in (('"intervals":', '"x":', "fullness is not what"),
                            ('"levels":[', '"levels":[7,', "fullness is not what"),
                            ('"first":', '"first":-', "which nothing counts"),
                            ('"kernels":[{"name"', '"kernels":[{"nome"', "is not a number|nome")):
        at = whole.index('"fullness"')
        done.stats_file.write_text(whole[:at] + whole[at:].replace(good, bad, 1))
        heddle(f"stats --report limits {done.stats_file}", says, status=1)


def test_gpus_keep_apart_what_was_full(tmp_path):
    """Two of them run a kernel of one name: one has its L2 hot, the other waits for its ALUs."""
    done = harness.measure(f"{PLATFORMS['r9nano'].replace('r9nano', 'r9nano_x4')} --report limits "
                           "-- planted two_gpus", folder=tmp_path)
    found = fullness.of_file(read(done.stats_file), "file").kernels
    of = {gpu: max(one.arrays, key=lambda a: a.full) for (_, gpu), one in found.items()}
    assert set(of) == {0, 1}
    assert of[0].path == "gpu[0].l2[*]" and of[0].full > 20 > of[1].full
    assert not any("gpu[0]" in array.path for (_, gpu), one in found.items() if gpu == 1
                   for array in one.arrays)
    first = {label[-1]: told[0] for label, told in sentences(done.stderr).items()
             if " on GPU " in label}
    assert re.match(r"limited by one hot channel: gpu\[0\]\.l2\[3\]", first["0"]), first
    assert "hot channel" not in first["1"], first


@pytest.mark.parametrize("program", only_full("vectoradd", "matmul", "bfs", "matmul_tiled 256"))
def test_programs_without_a_planted_cause(program):
    """What is said of the guide's example is what a changed parameter proves."""
    done = run(f"{PLATFORMS['r9nano']} --report limits -- {program}")
    first = next(told for label, told in sentences(done.stderr).items() if label != "the run")[0]
    assert "atomics" not in first and "barriers" not in first and "fetch" not in first
    if program.endswith("256"):
        assert re.match(r"limited by collisions .* gpu\.l2\[\*\].*; settings to try: "
                        r"gpu\.hashed=true, gpu\.banks=32, gpu\.interleave=256B$", first)


def test_report_that_is_none_is_refused():
    run(f"{PLATFORMS['r9nano']} --report nothing -- vectoradd",
        "it is cpi, limits, trust, counters or dram", status=2)


# ---- streaming multiprocessors

OF_SMS = {
    "bandwidth": r"limited by the bandwidth of (gpu\.)?memory\[\*\]\.dram: ",
    "coalescing": r"limited by lanes that do not coalesce: .* asks for (29|3\d) lines",
    "chain": "limited by a chain of loads, one after the other: a warp has 0",
    "atomics": "limited by atomics on few words: .* on one word or few",
    "occupancy": "limited by occupancy: shared memory lets only 3.0 of 16 warps onto a sub-core",
    "fp32": "limited by the fp32 units: they work for",
    "fp64": "limited by the fp64 units: they work for",
    "sfu": "limited by the sfu units: they work for",
    "shared_banks": "limited by bank conflicts of shared memory",
    "barrier": "limited by barriers: .* wait at a barrier for the slowest of the block",
    "grid": "limited by the grid: 13 blocks a launch for 108 SMs",
    "tail": "limited by the tail of the launch, unbalanced: one SM",
    "launch": "limited by what a launch costs"}
SMS_CHEAP = ("chain", "shared_banks", "grid")


@pytest.mark.parametrize("cause", [
    *SMS_CHEAP, *only_full(*(one for one in OF_SMS if one not in SMS_CHEAP))])
def test_first_sentence_names_the_planted_cause_on_an_sm(planted_cuda, cause):
    """The A100's memory does not come near its bandwidth in this model, the H100's does."""
    machine = "h100" if cause == "bandwidth" else "a100"
    done = run(f"platforms/{machine}.heddle --generic --report limits -- {planted_cuda} {cause}")
    sentence = longest(done)
    assert re.match(OF_SMS[cause], sentence), sentence
    for said in (one for of in sentences(done.stderr).values() for one in of):
        assert re.search("confidence: (high|medium|low)", said), said


def test_account_of_warps_adds_up(measure, planted_cuda):
    """Each slot-cycle once, in words of NVIDIA; the counts are those of the SMs themselves."""
    done = measure(f"platforms/a100.heddle --generic --report cpi -- {planted_cuda} shared_banks")
    kernel = done.stats["kernels"][0]
    sums = [value for kinds in kernel["slot_cycles"].values() for value in kinds.values()]
    assert sum(sums) == kernel["cycles"] * kernel["slots"]
    issued = kernel["slot_cycles"]["issued"]
    assert sum(issued.values()) == kernel["wavefront_instructions"]
    parts = kernel["components"].values()
    assert issued["shared"] == sum(one.get("shared_accesses", 0) for one in parts)
    assert kernel["units"]["lds_conflict"] == sum(one["bank_conflicts"] for one in parts
                                                  if "shared_accesses" in one)
    assert re.search(r"occupancy: [34].\d\d warps a sub-core while its SM had any", done.stderr)
    assert not re.search("wavefront|work-group|SIMD|LDS", done.stderr)
