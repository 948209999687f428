"""Streams, queues of commands and copies between host and GPU, as the driver orders them."""
import json

import pytest

import stream_order
from harness import same, same_bytes
from programs import only_full

TINY = "platforms/tiny.heddle"
BALAR = "--set driver.stream_rules=balar"


@pytest.mark.parametrize("text", ["-- driver_queues",
                                  "--set driver.commands=8 -- driver_queues small"],
                         ids=["many", "few"])
def test_driver_drains_its_queues_in_order(run, text):
    """By the driver's own interface: who drains them, and what happens when there are too many."""
    run(f"{TINY} {text}")


def test_which_commands_run_side_by_side_does_not_depend_on_the_run(measure, full):
    same_bytes(measure, f"{TINY} {{}} -- stream_rules",
               ["--tick-order=descending", "--tick-order=random:1", "--generic", "--threads=2"])
    same_bytes(measure, f"{TINY} {{}} -- overlap",
               [f"--tick-order=random:1{' --tick-all' * full}"])


@pytest.mark.full
def test_a_command_that_runs_outlasts_a_million_others(run):
    """And the times of events are still known."""
    run(f"{TINY} --generic --set driver.copy=magic_copy -- stream_rules 1100000")


@pytest.mark.parametrize("text", ["--set driver.staging=separate -- stream_rules",
                                  "--set driver.in_flight=1 -- streams", "-- own_streams"])
def test_streams_keep_their_order(run, text):
    run(f"{TINY} {text}")


@pytest.mark.parametrize("rules, options", [
    ("hip", "--max-cycles 100000000"), ("balar", BALAR),
    ("blocking", f"{BALAR} --set driver.stream_rules.launch_blocking=true")])
def test_calls_wait_as_the_rules_say(run, rules, options):
    """As a table. The call on a busy device that is made by the only thread there is would deadlock
    a driver that waits where it takes calls."""
    run(f"{TINY} --set driver.poll_cost=1cy {options} -- stream_calls {rules}")


@pytest.mark.parametrize("program", ["streams", "own_streams", "threads", "managed",
                                     "device_variables"])
def test_program_passes_with_rules_of_balar(run, program):
    run(f"{TINY} {BALAR} -- {program}")


SMALL_GPUS = ("tests/system/platforms/queues.heddle --set gpus=2 --set gpu.cus=1 --set gpu.banks=1"
              " --max-cycles 100000000")


@pytest.mark.parametrize("rules, seed", [
    ("hip", 1), ("balar", 2), *only_full(*((rules, seed) for rules in ("hip", "balar")
                                           for seed in (3, 4)), ("hip", 2), ("balar", 1))])
def test_order_of_random_streams_is_legal(run, tmp_path, rules, seed):
    """Hundreds of programs over the streams of two GPUs, by a model (stream_order.py)."""
    trace = tmp_path / "trace.json"
    done = run(f"{SMALL_GPUS} {BALAR if rules == 'balar' else ''} --record perfetto={trace}"
               f" -- random_streams 250 {seed}")
    assert stream_order.check(rules, done.stdout, trace) == 250


def test_random_streams_count_the_same_in_every_order_of_ticks(measure):
    same_bytes(measure, f"{SMALL_GPUS} {BALAR} {{}} -- random_streams 10 9",
               ["--tick-order random:5 --tick-all"])


def test_arguments_that_did_not_change_are_not_copied_again(measure):
    """They stay as long as their kernel runs. A launch needs three copies: of the code object,
    once, and of arguments and packet."""
    driver = measure(f"{TINY} --set gpu.vram=2MiB -- late_arguments 2000").components["driver"]
    assert driver["launches"] == 2001
    assert driver["launch_copies"] + driver["launch_copies_saved"] == 3 * 2001
    assert driver["launch_copies"] == 1 + 2 * (1 + 2000 / 4)  # the code object, and what changed


def test_launch_copies_code_arguments_and_packet(measure, tmp_path):
    trace = tmp_path / "trace.json"
    text = f"{TINY} --record perfetto={trace} --set driver.staging={{}} -- saxpy"
    together = measure(text.format("together")).components["driver"]
    separate = measure(text.format("separate")).components["driver"]
    assert separate["commands"] == together["commands"] + 2 * together["launches"]
    always = measure(text.format("always")).components["driver"]
    assert always["launch_copies"] == 3 * always["launches"] and not always["launch_copies_saved"]
    parts = ["copy code object", "copy arguments", "copy packet", "launch"]
    events = json.loads(trace.read_text())["traceEvents"]
    begun = [e["name"] for e in events if e["ph"] in "bB" and e["name"] in parts]
    first = begun.index("launch")
    assert begun[first - 3:first + 1] == parts
    copied = {name: begun.count(name) for name in parts[:3]}
    assert copied["copy code object"] == always["launches"] + 1  # and when it was loaded
    assert copied["copy arguments"] == copied["copy packet"] == always["launches"]


# What the program does, a letter a step (tests/programs/flushes.hip.cpp), and how often the L2 must
# be flushed: before a copy when a kernel ran since the last flush. The last read is the program's.
FLUSHES = {"wr": 0, "k": 1, "kkk": 1, "krrr": 1, "krkr": 2, "kwkr": 2, "kcr": 1, "kfr": 1, "kRr": 1,
           "kKR": 1, "kb": 1, "kRKr": 2}


@pytest.mark.parametrize("steps", FLUSHES)
@pytest.mark.parametrize("platform", [TINY, "tests/system/platforms/no_copy_time.heddle"])
def test_l2_is_flushed_before_a_copy_behind_a_kernel(measure, platform, steps):
    driver = measure(f"{platform} -- flushes {steps}").components["driver"]
    assert driver["flushes"] == FLUSHES[steps]


def test_flushes_are_counted_by_context(measure):
    assert measure(f"{TINY} -- context_flushes").components["driver"]["flushes"] == 4


def test_lines_that_host_and_kernel_share_keep_both_writes(run):
    run(f"{TINY} -- shared_lines")


@pytest.mark.parametrize("program", ["copies", "streams", "pipeline", "device_variables", "scratch",
                                     "managed", "stream_rules"])
def test_program_passes_with_copies_that_take_no_time(run, program):
    run(f"tests/system/platforms/no_copy_time.heddle -- {program}")


def test_copies_that_take_no_time_change_nothing_else(measure):
    text = "tests/system/platforms/no_copy_time.heddle {} -- vectoradd"
    magic = measure(text.format("--threads=2"))
    same(magic, measure(text.format("--tick-all --generic")))
    dma = measure(f"{TINY} -- vectoradd")
    a, b = dma.components, magic.components
    cycles = [run.stats["kernels"][0]["cycles"] for run in (dma, magic)]
    assert abs(cycles[0] / cycles[1] - 1) < 0.02  # it begins in another phase of the memory
    assert a["driver"]["bytes_to_gpu"] == b["driver"]["bytes_to_gpu"]
    assert (b["driver.copy"]["bytes"]
            == b["driver"]["bytes_to_gpu"] + b["driver"]["bytes_from_gpu"])
    assert a["gpu.dma"]["commands_done"] > 40 and b["gpu.dma"]["commands_done"] == 0
    outside = [run.stats["time_ps"] - n * 1000 for run, n in zip((dma, magic), cycles)]
    assert outside[1] < 5e6 and outside[1] < outside[0] / 4


def test_events_take_what_the_kernels_between_them_took(measure):
    """And a little for the commands around them."""
    done = measure(f"{TINY} -- saxpy", r"took ([0-9.]+) ms")
    kernels = done.stats["kernels"]
    span = max(k["end_ps"] for k in kernels) - min(k["start_ps"] for k in kernels)
    told = float(done.output.split("took ")[1].split(" ms")[0]) * 1e9
    assert len(kernels) == 2 and span <= told <= span + 5e6
