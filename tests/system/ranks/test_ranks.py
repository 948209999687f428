"""One simulation by several processes (mpirun): the statistics and traces of one process, and a
clear end when a rank cannot go on."""
import contextlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from harness import (ANY, FAILS, HEDDLE, NEVER, PROGRAMS, call, same_file, toolkit_without, until,
                     with_usual_code, words_of)
from launchers import LAUNCHERS, PASS_AS_ROOT, by_ranks, launcher, outputs
from live_page import view

PLATFORM = ("platforms/ring4.heddle --set gpus=2 --set gpu.arrays=1 --set gpu.banks=2"
            " --set gpu.vram=64MiB")
TESTER = "tests/system/platforms/memtest4.heddle"


@pytest.mark.parametrize("library", LAUNCHERS)
def test_number_of_ranks_changes_no_byte(run, tmp_path, library):
    """A kernel on each GPU reads, writes and counts in the memory of the other."""
    run(f"{PLATFORM} {outputs(tmp_path, 'one')} -- peers 64")
    by_ranks(2, f"{PLATFORM} --threads 2 {outputs(tmp_path, 'two')} -- peers 64", "^PASS",
             library=library)
    same_file(tmp_path / "one.json", tmp_path / "two.json")
    same_file(tmp_path / "one.trace", tmp_path / "two.trace")


# Whatever can be cut: GPUs, shader arrays, a processor beside them.
SPLIT = {
    "ring4": "platforms/ring4.heddle --set gpu.arrays=2 --set gpu.banks=2 --set gpu.vram=64MiB",
    "full4": "platforms/ring4.heddle --set topology=full --set gpu.arrays=2 --set gpu.vram=64MiB",
    "managed4": "platforms/managed4.heddle",
    "x4": "platforms/r9nano_x4.heddle",
    "node8": "platforms/node8.heddle",
    "r9nano": "platforms/r9nano.heddle",
    "l2_all": "platforms/r9nano_x4_l2_all.heddle --set gpu.arrays=2",
}
TWENTY = ("vectoradd peers devices peer_copies contexts allreduce halo matmul_gpus gpu_threads"
          " managed managed_both streams bad_oob bad_trap bfs reduction histogram each_gpu"
          " random_streams stencil").split()
WAYS = [(ranks, threads, library) for ranks in (1, 2, 3, 4, 8) for threads in (1, 2)
        for library in LAUNCHERS]


@pytest.mark.full
@pytest.mark.parametrize("program", TWENTY)
@pytest.mark.parametrize("platform", SPLIT)
def test_no_way_to_run_changes_a_byte(run, tmp_path, platform, program):
    """Each program on each platform in three of the ways, which differ from case to case."""
    case = list(SPLIT).index(platform) * len(TWENTY) + TWENTY.index(program)
    kind = ["sum", "none", "all"][case % 3]
    text = f"{SPLIT[platform]} --kernel-stats {kind} --stats-no-host --stats {tmp_path}/NAME.json"
    if case % 4 == 0:
        text += f" --record perfetto={tmp_path}/NAME.trace"
    run(f"{text.replace('NAME', 'one')} -- {program}", status=ANY)
    for step in (0, 7, 14):
        ranks, threads, library = WAYS[(case + step) % len(WAYS)]
        call([*launcher(library), "-n", ranks, HEDDLE, "run", *words_of(
            f"{text.replace('NAME', 'more')} --threads {threads} -- {program}")], status=ANY,
             env={**PASS_AS_ROOT, "HEDDLE_RANK_DELAYS": str(case)}, seconds=600)
        same_file(tmp_path / "one.json", tmp_path / "more.json", f"{ranks} ranks, {library}")
        if case % 4 == 0:
            same_file(tmp_path / "one.trace", tmp_path / "more.trace", f"{ranks} ranks, {library}")
        (tmp_path / "more.json").unlink()


def test_ticks_at_every_edge_move_no_end(run, tmp_path):
    """A rank that has nothing left to do does not tick on until ranks meet."""
    text = (f"{TESTER} --set tester.episodes=4 --tick-all --stats-no-host"
            f" --stats {tmp_path}")
    run(f"{text}/one.json")
    by_ranks(2, f"{text}/two.json")
    same_file(tmp_path / "one.json", tmp_path / "two.json")


@pytest.mark.full
@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("own", ["", " --set node.l2_write=through", " --set topology=one_way",
                                 " --tick-all --tick-order random:5",
                                 " --set node.l2_caches=all --set tester.order=scoped"
                                 " --set tester.agents=4"])
def test_memory_tester_finds_no_mistake_across_ranks(run, tmp_path, own, ranks):
    text = (f"{TESTER} --set tester.episodes=50 --set tester.seed=SEED"
            f"{own} --stats-no-host --stats {tmp_path}")
    for seed in (1, 2):
        seeded = text.replace("SEED", str(100 * ranks + seed))
        run(f"{seeded}/one.json")
        by_ranks(ranks, f"{seeded}/more.json", library=list(LAUNCHERS)[seed % 2], seconds=600)
        same_file(tmp_path / "one.json", tmp_path / "more.json")


def test_report_of_a_run_that_is_cut_is_that_of_one_process(run):
    text = f"{PLATFORM} --max-cycles 9000 -- peers 64"

    def report(done):
        lines = [line for line in done.stderr.splitlines() if line[:1] != "-"]
        return lines[lines.index("unfinished:") - 4:][:8]

    assert report(run(text, status=6)) == report(by_ranks(2, text, status=6))


# The GPU of several dies: they are partitions, and share kernels.
DIES = ("platforms/mi300x.heddle --set gpu.xcds=4 --set gpu.arrays=1 --set gpu.io_dies=2"
        " --set gpu.memory_channels=2 --set gpu.channels=4 --set gpu.l2=64KiB"
        " --set gpu.infinity_cache=1MiB --set gpu.vram=256MiB")
OTHERS = {
    "mi300x": (DIES, "dies.gfx942 4 kernels", 4),
    "mi300x_place": (DIES, "dies.gfx942 4 place", 3),
    "mi300x_queues": (f"{DIES} --set queues=true --set driver.launch_by=queue",
                      "dies.gfx942 4 kernels", 2),
    "mi300a": (DIES.replace("mi300x", "mi300a"), "dies.gfx942 4 released", 2),
    "mi300x_x8": ("platforms/mi300x_x8.heddle --set gpus=3 --set xcds=2 --set arrays=1"
                  " --set vram=1GiB", "collectives.gfx942 ring 1024", 3),
    "apu": ("platforms/apu.heddle", "vectoradd", 2),
    "x8_fabric": ("platforms/r9nano_x8_fabric.heddle --set gpu.arrays=2", "allreduce", 4),
    "mgpusim": ("platforms/r9nano_mgpusim.heddle", "vectoradd", 2),
    "pod64": ("platforms/pod64.heddle --set nodes=2", "collectives halving 1024", 3),
}


@pytest.mark.parametrize("name", [name if name == "mi300x" else
                                  pytest.param(name, marks=pytest.mark.full) for name in OTHERS])
def test_ranks_of_other_platforms_change_no_byte(run, tmp_path, name):
    platform, program, ranks = OTHERS[name]
    text = (f"{platform} --generic --kernel-stats all --stats-no-host"
            f" --stats {tmp_path}/NAME.json --record perfetto={tmp_path}/NAME.trace -- {program}")
    run(text.replace("NAME", "one"))
    for number, library in ((2, "openmpi"), (ranks, "mpich")):
        more = text.replace("NAME", "more").replace(" -- ", f" --threads {number - 1} -- ")
        call([*launcher(library), "-n", number, HEDDLE, "run", *words_of(more)],
             env={**PASS_AS_ROOT, "HEDDLE_RANK_DELAYS": str(number)}, seconds=300)
        same_file(tmp_path / "one.json", tmp_path / "more.json", f"{number} ranks, {library}")
        same_file(tmp_path / "one.trace", tmp_path / "more.trace", f"{number} ranks, {library}")


@pytest.mark.parametrize("text, says, status", [
    (f"{PLATFORM} -- /bin/true", "no process of '/bin/true' has used HIP", 8),
    (f"{PLATFORM} --kernels 1 -- devices",
     "'--kernels' cannot be used with several ranks: .* in one process", 7),
    (f"{TESTER} --checkpoint state --checkpoint-at 1us",
     "'--checkpoint' cannot be used with several ranks: a state is that of one process", 7),
    (f"{TESTER} --watch 0x4b00",
     "'--watch' cannot be used with several ranks: messages are printed in the order of one", 7),
    (f"{PLATFORM} --mode sampled -- devices",
     "'--mode sampled' cannot be used with several ranks: .* in one process", 7),
    ("platforms/tiny.heddle -- devices", "2 ranks: this platform has 1 partition", 7),
    ("platforms/ring4.heddle --generic --set driver.copy=magic_copy -- devices",
     "copies that take no time .* reach into the memory of other ranks", FAILS)],
    ids=["no-hip", "kernels", "state", "watch", "sampled", "one-partition", "magic-copy"])
def test_what_ranks_cannot_do_is_said(text, says, status):
    by_ranks(2, text, says, status=status)


@pytest.mark.parametrize("option, says", [
    ("--kernel-stats all --stats ", "cannot write the statistics"),
    ("--record perfetto=", "cannot write the trace")], ids=["stats", "trace"])
def test_full_disk_ends_all_ranks(run, tmp_path, option, says):
    """The limit is that of rank 0, which alone writes. Run once, the platform is built."""
    run(f"{PLATFORM} -- peers 64")
    words = [HEDDLE, "run", *words_of(f"{PLATFORM} {option}{tmp_path}/file -- peers 64")]
    limited = ["sh", "-c", "trap '' XFSZ; ulimit -f 40; exec \"$@\"", "sh", *words]
    by_tcp = words_of("--mca pml ob1 --mca btl tcp,self")  # needs no files of its own
    call([*launcher("openmpi"), *by_tcp, "-n", 1, *limited, ":", *by_tcp, "-n", 1, *words], says,
         status=FAILS, env=PASS_AS_ROOT)
    assert not (tmp_path / "file").exists()


@pytest.mark.parametrize("how", ["", "--view"])
def test_stall_is_found_when_one_process_finds_it(run, how):
    """Rank 0 is told of the messages of others, for the page: they count where they were sent."""
    text = f"tests/system/platforms/hang/stall_of_ranks.heddle --stall-limit 100000 {how}"

    def report(done):
        return [line for line in done.stderr.splitlines() if line[:1] != "-"
                and " is shown at " not in line]

    assert report(run(text, "stall", "spinner", status=FAILS)) \
        == report(by_ranks(2, text, "stall", "spinner", status=FAILS, library="mpich"))


def test_functional_mode_is_for_rank_0_alone():
    done = by_ranks(2, f"{PLATFORM} --mode functional -- devices", "note: functional mode uses one")
    assert done.stdout.count("PASS") == 1


@pytest.mark.parametrize("option", ["--record-path gpu[0]", "--record-window 1us..3us",
                                    "--record-kernel 1", "--max-cycles 99999"])
def test_option_in_which_ranks_differ_is_named(tmp_path, option):
    words = [HEDDLE, "run", *words_of(f"{PLATFORM} --record perfetto={tmp_path}/trace")]
    given = option.replace("1us..3us", "1000000..3000000").replace("[", r"\[")
    call([*launcher("openmpi"), "-n", 1, *words, *words_of(option), "--", PROGRAMS / "devices", ":",
          "-n", 1, *words, "--", PROGRAMS / "devices"],
         f"ranks 0 and 1 differ in the options: '{given}' and ''; ", status=7, env=PASS_AS_ROOT)


def test_rank_without_mpi_says_so(tmp_path):
    """Its heddle is another one than that of rank 0, which has MPI."""
    home = toolkit_without("mpi", tmp_path)["HEDDLE_HOME"]
    words = [HEDDLE, "run", *words_of(f"{PLATFORM} -- devices")]
    call([*launcher("openmpi"), "-n", 1, *words, ":", "-n", 1, "env", f"HEDDLE_HOME={home}",
          *words], "the heddle of rank 1 was built without the MPI of openmpi; install", status=7,
         env=PASS_AS_ROOT)


def test_ranks_of_different_platforms_end_at_once():
    words = [HEDDLE, "run", *words_of(PLATFORM), "--", PROGRAMS / "devices"]
    other = [str(word).replace("banks=2", "banks=4") for word in words]
    call([*launcher("openmpi"), "-n", 1, *words, ":", "-n", 1, *other],
         "ranks 0 and 1 differ in the platform", status=7, env=PASS_AS_ROOT)


@pytest.mark.full
def test_memory_of_a_rank_is_its_share(run, tmp_path):
    """A rank with four of sixteen GPUs takes what a process with four takes, and what MPI and the
    tables of the others need; not what one with sixteen takes."""
    text = "platforms/ring4.heddle --generic --set gpu.arrays=8"
    peaks = {}
    for gpus in (4, 16):
        run(f"{text} --set gpus={gpus} --stats {tmp_path}/one.json -- devices")
        peaks[gpus] = json.loads((tmp_path / "one.json").read_text())["host"]["peak_rss_bytes"]
    by_ranks(4, f"{text} --set gpus=16 --stats {tmp_path}/four.json -- devices")
    ranks = json.loads((tmp_path / "four.json").read_text())["host"]["ranks"]
    assert len(ranks) == 4
    for rank in ranks:
        assert rank["peak_rss_bytes"] < peaks[4] + 40e6 < peaks[16]
        assert rank["meetings"] > 0 and rank["cpu_seconds"] > 0


# ---- when a rank cannot go on ----

LAUNCHES = f"{PLATFORM} --stats FILE --stats-no-host -- each_gpu 64 8"


def started(library, text, **env):
    command = [*launcher(library), "-n", "2", HEDDLE, "run", *words_of(text)]
    return subprocess.Popen(with_usual_code(command), stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            start_new_session=True, env={**os.environ, **PASS_AS_ROOT, **env})


def below(pid):
    told = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    own = [int(word) for word in told.stdout.split()]
    return own + [found for child in own for found in below(child)]


def rank_1(launched):
    """Its process."""
    def found():
        assert launched.poll() is None
        for pid in below(launched.pid):
            try:
                words = Path(f"/proc/{pid}/environ").read_text(errors="replace").split("\0")
            except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
                continue
            if {"OMPI_COMM_WORLD_RANK=1", "PMI_RANK=1"} & set(words):
                return pid
        return None
    return until(found)


def until_file(path):
    until(path.exists)
    return json.loads(path.read_text())


@pytest.mark.parametrize("library", LAUNCHERS)
def test_statistics_of_ended_kernels_outlive_a_rank(tmp_path, library):
    stats = tmp_path / "stats.json"
    with started(library, f"{LAUNCHES.replace('FILE', str(stats))} 100000") as launched:
        while "launch 2 is done" not in launched.stdout.readline():
            assert launched.poll() is None
        os.kill(rank_1(launched), signal.SIGKILL)
        launched.stdout.read()
        assert launched.wait(NEVER) != 0
    kernels = until_file(stats)["kernels"]
    assert sum("partial" not in kernel for kernel in kernels) >= 4
    assert until_file(stats)["partial"] == "interruption"


@pytest.mark.parametrize("library", LAUNCHERS)
def test_interruption_ends_all_ranks(tmp_path, library):
    """As Ctrl-C does, by the launcher, which tells all."""
    stats = tmp_path / "stats.json"
    with started(library, f"{LAUNCHES.replace('FILE', str(stats))} 100000") as launched:
        while "launch 2 is done" not in launched.stdout.readline():
            assert launched.poll() is None
        launched.send_signal(signal.SIGINT)
        launched.stdout.read()
        assert launched.wait(NEVER) != 0 or library == "mpich"  # whose launcher says 0
    told = until_file(stats)
    assert told["partial"] == "interruption" and len(told["kernels"]) >= 4


@pytest.mark.parametrize("death", ["1:4", "1:40", "1:100", *(
    pytest.param(death, marks=pytest.mark.full) for death in "0:1 1:1 1:6 0:40".split())])
def test_run_ends_whenever_a_rank_dies(tmp_path, death):
    """While they agree, begin, copy, or run kernels."""
    text = LAUNCHES.replace("FILE", f"{tmp_path}/stats.json")
    call([*launcher("mpich" if death[0] == "1" else "openmpi"), "-n", 2, HEDDLE, "run",
          *words_of(f"{text} 2")], status=FAILS,
         env={**PASS_AS_ROOT, "HEDDLE_RANK_DIES": death})


def test_rank_that_is_stopped_for_a_while_changes_no_byte(run, tmp_path):
    text = f"{LAUNCHES} 24"
    run(text.replace("FILE", f"{tmp_path}/one.json"))
    with started("openmpi", text.replace("FILE", f"{tmp_path}/two.json")) as launched:
        rank = rank_1(launched)
        for number in [signal.SIGSTOP, signal.SIGCONT]:
            os.kill(rank, number)
            time.sleep(0.3)
        while "launch 1 is done" not in launched.stdout.readline():
            assert launched.poll() is None
        with contextlib.suppress(ProcessLookupError):  # where this process was late, all is done
            for number in [signal.SIGSTOP, signal.SIGCONT]:
                os.kill(rank, number)
                time.sleep(0.3)
        launched.stdout.read()
        assert launched.wait(NEVER) == 0
    same_file(tmp_path / "one.json", tmp_path / "two.json")


def test_delays_of_ranks_change_no_byte(run, tmp_path):
    """Kernels end at one rank while others rest; each takes samples of its own counters."""
    text = (f"{PLATFORM} --generic --set gpus=3 --stats {tmp_path}/NAME.json --stats-no-host"
            f" --series {tmp_path}/NAME.csv --record perfetto={tmp_path}/NAME.trace --every 333ns"
            " -- allreduce")
    run(text.replace("NAME", "one"))
    call([*launcher("mpich"), "-n", 3, HEDDLE, "run", *words_of(text.replace("NAME", "three"))],
         "^PASS", env={"HEDDLE_RANK_DELAYS": "3"})
    same_file(tmp_path / "one.json", tmp_path / "three.json")
    same_file(tmp_path / "one.trace", tmp_path / "three.trace")
    same_file(tmp_path / "one.csv", tmp_path / "three.csv")


@pytest.mark.parametrize("kernel", [1, pytest.param(2, marks=pytest.mark.full)])
def test_trace_of_a_kernel_is_that_of_one_process(run, tmp_path, kernel):
    text = (f"{PLATFORM} --record perfetto={tmp_path}/NAME.trace --record-kernel {kernel}"
            " -- peers 64")
    run(text.replace("NAME", "one"))
    by_ranks(2, text.replace("NAME", "two"))
    same_file(tmp_path / "one.trace", tmp_path / "two.trace")


def test_page_of_a_run_shows_all_ranks(tmp_path):
    """Kernel by kernel: the same numbers, at the same time, and what waits for what."""

    def look(name, launched_by=()):
        with view(f"{PLATFORM} -- peers 64", tmp_path / name, launched_by) as shown:
            seen = []
            for _ in range(2):
                ended = shown.state()["kernels_ended"]
                shown.ask("step", "POST")
                while shown.state()["kernels_ended"] == ended:
                    time.sleep(0.02)
                state = shown.wait_for("paused")
                before = json.loads(shown.ask("waits")[1])["told"]
                shown.ask("waits", "POST")
                while (told := json.loads(shown.ask("waits")[1]))["told"] == before:
                    time.sleep(0.02)
                seen.append([state["time_ps"], state["instructions"], state["messages"],
                             told["text"], shown.ask("statistics")[1]])
            shown.ask("end", "POST")
            assert shown.end()[1] == 128 + signal.SIGTERM
        return seen

    one = look("one.json")
    two = look("two.json", [*launcher("mpich"), "-n", 2])
    for alone, together in zip(one, two):
        assert alone == together
    same_file(tmp_path / "one.json", tmp_path / "two.json")


def test_profile_is_that_of_all_ranks(run, tmp_path):
    text = f"{PLATFORM} --generic --profile instructions={tmp_path}/NAME.csv -- peers 64"
    run(text.replace("NAME", "one"))
    by_ranks(2, text.replace("NAME", "two"))
    same_file(tmp_path / "one.csv", tmp_path / "two.csv")


def test_no_allocation_is_too_large_to_be_told(run, tmp_path):
    """A million pages of one call, and more before ranks meet again."""
    text = PLATFORM.replace("64MiB", "4GiB")
    run(f"{text} --stats {tmp_path}/one.json --stats-no-host -- bad_oom", "^PASS")
    by_ranks(2, f"{text} --stats {tmp_path}/two.json --stats-no-host -- bad_oom", "^PASS")
    same_file(tmp_path / "one.json", tmp_path / "two.json")


def test_only_rank_0_writes_and_all_end_when_it_cannot(tmp_path):
    """Rank 1 names another file, where it looks whether it could write."""
    def one_each(text, own, *says, **options):
        words = [HEDDLE, "run", *words_of(f"{PLATFORM} --stats {own} -- {text}")]
        other = [str(word).replace(str(own), f"{tmp_path}/other.json") for word in words]
        call([*launcher("openmpi"), "-n", 1, *words, ":", "-n", 1, *other], *says,
             env=PASS_AS_ROOT, **options)
    one_each("devices", f"{tmp_path}/own.json", "^PASS")
    assert os.listdir(tmp_path) == ["own.json"]
    folder = tmp_path / "gone"
    folder.mkdir()
    one_each(f"/bin/sh -c 'rmdir {folder}; exec {PROGRAMS}/devices'", f"{folder}/own.json",
             "cannot write the statistics", status=FAILS)


def test_launcher_of_another_library_is_named():
    script = ("export PMI_SIZE=2 PMI_RANK=$OMPI_COMM_WORLD_RANK; unset OMPI_COMM_WORLD_SIZE;"
              ' exec "$0" "$@"')
    launcher("mpich")
    call([*launcher("openmpi"), "-n", 2, "sh", "-c", script, HEDDLE, "run",
          *words_of(f"{PLATFORM} -- devices")],
         "the launcher has started 2 ranks, of which .* sees 1", status=FAILS, env=PASS_AS_ROOT)


def test_ranks_of_different_code_end_at_once():
    words = [HEDDLE, "run", "tests/system/platforms/hang/deadlock.heddle"]
    call([*launcher("openmpi"), "-n", 1, *words, ":", "-n", 1, *words, "--generic"],
         "ranks 0 and 1 differ in the code of the platform", status=7, env=PASS_AS_ROOT)
