"""States of played calls: a run that goes on from one, in another process, ends with the bytes of
an unbroken one; or it is refused, and the message says why."""
import shutil

import pytest

from harness import FAILS, cuda_cc, same, same_file
from programs import only_full

TINY = "platforms/tiny.heddle"
RTX = "platforms/rtx3070.heddle --generic --set sms=4 --set channels=2"
RING4 = "platforms/ring4.heddle --generic"


def record(run, folder, platform, program):
    run(f"{platform} --record api={folder} -- {program}", "recorded in")
    return f"{platform} --play api={folder}"


@pytest.mark.parametrize("platform, program, options, moments", [
    (TINY, "bfs", "--threads 2", ("kernel:1", "50", "99")),  # kernels, copies between them
    (TINY, "streams", "--generic", ("kernel:2", "10", "90")),  # queues, copies beside kernels
    (TINY, "host_threads", "", ("30", "80")),
    (RING4, "allreduce", "--threads 2", ("20", "70")),  # four GPUs
    *only_full((TINY, "managed", "", ("5", "60")))],
    ids=["kernels", "queues", "threads", "gpus", "managed"])
def test_restored_run_ends_with_the_same_bytes(run, measure, tmp_path, platform, program, options,
                                               moments):
    played = record(run, tmp_path / "api", platform, program)
    state, reference = tmp_path / "state", measure(played)
    for when in moments:
        if when.isdigit():
            when = f"{reference.stats['time_ps'] * int(when) // 100}ps"
        same(reference, measure(f"{played} --checkpoint {state} --checkpoint-at {when}"))
        done = measure(f"{played} {options} --restore {state}")
        same(reference, done)
        assert done.stdout == reference.stdout


@pytest.mark.skipif(not shutil.which("clang++-19"), reason="clang-19 is missing")
def test_state_of_a_cuda_program_waits_for_the_end_of_its_launch(run, measure, tmp_path):
    cuda_cc("tests/programs/cuda/graph_nodes.cu", tmp_path / "program")
    played = record(run, tmp_path / "api", RTX, tmp_path / "program")
    state, reference = tmp_path / "state", measure(played)
    for part in (40, 70):  # while a kernel runs
        when = f"{reference.stats['time_ps'] * part // 100}ps"
        same(reference, measure(f"{played} --checkpoint {state} --checkpoint-at {when}"))
        same(reference, measure(f"{played} --restore {state}"))


@pytest.fixture(scope="module")
def bfs(tmp_path_factory):
    """Its calls, and a state in which its ninth kernel begins."""
    from harness import measure, run  # pylint: disable=import-outside-toplevel
    folder = tmp_path_factory.mktemp("played")
    played = record(run, folder / "api", TINY, "bfs")
    done = measure(f"{played} --checkpoint {folder}/state --checkpoint-at kernel:9", folder=folder)
    return folder, played, done


def test_two_processes_write_the_same_state(bfs, run, tmp_path):
    folder, played, _ = bfs
    run(f"{played} --generic --stats {tmp_path}/s --checkpoint {tmp_path}/again "
        "--checkpoint-at kernel:9")
    same_file(folder / "state", tmp_path / "again")


def test_state_is_written_from_a_restored_run(bfs, measure, tmp_path):
    folder, played, done = bfs
    again = tmp_path / "again"
    same(done, measure(f"{played} --restore {folder}/state --checkpoint {again} "
                       "--checkpoint-at kernel:12"))
    same(done, measure(f"{played} --restore {again}"))


def test_times_may_be_others_from_a_state_on(bfs, measure):
    folder, played, done = bfs
    slow = measure(f"{played} --restore {folder}/state --set gpu.sa[*].cu[*].vmem_latency=60cy "
                   "--set pcie.latency=3us")
    cycles = [[k["cycles"] for k in d.stats["kernels"]] for d in (done, slow)]
    assert cycles[0][:8] == cycles[1][:8]
    assert all(a < b for a, b in zip(cycles[0][8:], cycles[1][8:]))
    # What the link had made of its latency in the state is another now, too.
    gaps = [[b["start_ps"] - a["end_ps"] for a, b in zip(k[8:], k[9:])]
            for k in (done.stats["kernels"], slow.stats["kernels"])]
    assert all(a + 2000000 < b for a, b in zip(*gaps))
    origin = slow.stats["stamp"]["restored"]
    assert origin["model"] == done.stats["stamp"]["model"] != slow.stats["stamp"]["model"]
    assert origin["set"] == [] and origin["time_ps"] < done.stats["time_ps"]
    assert "restored" not in done.stats["stamp"]


@pytest.mark.parametrize("options, says", [
    ("--set gpu.sa[*].l1v[*].size=32KiB", r"what is where .*l1v\[\*\].size is 32768 B, was 16384"),
    ("--set gpu.l2[*].latency=200cy", r"how much is kept.*l2\[\*\].latency is 200 cy, was 114"),
    ("--set gpu.l2[*].index=plain", r"what is where .*l2\[\*\].index"),
    ("--set gpu.cus=2", "another shape of this platform"),
    ("--set core=1.5GHz", "other clocks"),
    ("--kernel-stats all", "another --kernel-stats"),
    ("--profile instructions --set gpu.cus=2", "another shape")])
def test_what_does_not_fit_the_state_is_named(bfs, run, tmp_path, options, says):
    folder, played, _ = bfs
    run(f"{played} --generic --stats {tmp_path}/s --restore {folder}/state {options}", says,
        status=FAILS)
    assert not (tmp_path / "s").exists()


def test_state_of_another_trace_is_refused(bfs, run, tmp_path):
    folder, played, _ = bfs
    other = record(run, tmp_path / "api", TINY, "vectoradd")
    run(f"{other} --restore {folder}/state", "calls are not those before the state",
        "not restored", status=FAILS)
    edited = tmp_path / "edited"
    shutil.copytree(folder / "api", edited)
    data = edited / "data-2.bin"
    data.write_bytes(bytes([data.read_bytes()[0] ^ 1]) + data.read_bytes()[1:])
    run(f"{played.replace(str(folder / 'api'), str(edited))} --restore {folder}/state",
        "calls are not those", status=FAILS)


def test_damaged_state_of_calls_is_refused(bfs, run, tmp_path):
    folder, played, _ = bfs
    content = (folder / "state").read_bytes()
    for name, text in (("cut", content[:-50]),
                       ("flipped", content[:-50] + b"\xa5" + content[-49:])):
        (tmp_path / name).write_bytes(text)
        run(f"{played} --restore {tmp_path}/{name}", "end is missing|damaged", status=FAILS)


def test_moment_that_never_comes_is_told(bfs, run, tmp_path):
    _, played, _ = bfs
    run(f"{played} --checkpoint {tmp_path}/s --checkpoint-at kernel:99", "before --checkpoint-at",
        status=8)
    assert not (tmp_path / "s").exists()


def test_state_without_statistics_has_none_to_go_on_with(bfs, run, tmp_path):
    _, played, _ = bfs
    run(f"{played} --checkpoint {tmp_path}/s --checkpoint-at kernel:3")
    run(f"{played} --restore {tmp_path}/s", "ratio: 1.0")
    run(f"{played} --restore {tmp_path}/s --stats {tmp_path}/j", "written without --stats",
        status=FAILS)


@pytest.mark.parametrize("text, says", [
    ("{PLAYED} --checkpoint S --checkpoint-at kernel:", "number of a launch"),
    ("{PLAYED} --checkpoint S --checkpoint-at kernel:1,2", "number of a launch"),
    ("{PLAYED} --restore {STATE} --mode functional", "simulated time"),
    ("{PLAYED} --restore {STATE} --kernels 3", "counts launches"),
    ("tests/system/platforms/memtest.heddle --checkpoint S --checkpoint-at kernel:1",
     "for '--play api'"),
    (f"{TINY} --restore {{STATE}} -- bfs", "record its calls first")])
def test_mistake_with_a_state_of_calls_is_named(bfs, run, text, says):
    folder, played, _ = bfs
    run(text.format(PLAYED=played, STATE=folder / "state"), says, status=2)


def test_platform_that_needs_its_program_says_so(run, tmp_path):
    played = record(run, tmp_path / "api", TINY, "vectoradd").replace(
        TINY, f"{TINY} --generic --set driver.launch_by=queue")
    run(f"{played} --checkpoint {tmp_path}/s --checkpoint-at 1us", "user queues|doorbell",
        status=FAILS)
