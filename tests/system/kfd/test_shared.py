"""Several processes with heddle's HIP library on one simulated machine: what each sees is its own,
what the machine does is the same every time, and one that ends or fails is nothing to others."""
import contextlib
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

import harness
from harness import BUILD, FAILS, HEDDLE, PROGRAMS, ROOT, call, heddle, same
from launchers import PASS_AS_ROOT

TINY = "platforms/tiny.heddle"
MINE = PROGRAMS / "neighbours"
NOTHING_LEFT = "; 0 are left with queues and memory$"


def at_once(run, platform, programs, *says, **how):
    """Runs programs beside each other, which come in the order of the list."""
    script = " & ".join(str(program) for program in programs) + " & wait"
    done = run(f"{platform} --shared {len(programs)} -- /bin/sh -c '{script}'", *says, **how)
    return done, len(re.findall("^PASS neighbours", done.stdout, re.M))


@pytest.mark.parametrize("what", ["neighbours 0 3 500 managed", "neighbours 0 2 500 prints",
                                  "streams", "stream_rules", "host_threads", "prints"])
def test_a_program_alone_does_what_it_does_with_a_machine_of_its_own(measure, what):
    alone = measure(f"{TINY} -- {PROGRAMS}/{what}")
    shared = measure(f"{TINY} --shared 1 -- {PROGRAMS}/{what}")
    assert alone.stdout == shared.stdout
    for stats in (alone.stats, shared.stats):
        del stats["stamp"]
    assert alone.stats == shared.stats


FOUR = [f"{MINE} 0 3 1000", f"{MINE} 0 5 2000 pinned", f"{MINE} 0 4 500 managed",
        f"{MINE} 0 6 700 streams"]


def test_four_processes_on_a_gpu_do_the_same_every_time(measure):
    """Their kernels overlap; each program has its own memory at its own or at the same address."""
    times = []
    for _ in range(2):
        done, passed = at_once(measure, TINY, FOUR, "^heddle: 4 processes have .*" + NOTHING_LEFT)
        assert passed == 4, done.output
        times.append(done)
    kernels = times[0].stats["kernels"]
    assert len(kernels) == 3 + 5 + 4 + 6 and any(k["overlaps"] for k in kernels)
    same(*times)


LAST_NUMBER = "/proc/sys/kernel/ns_last_pid"


@pytest.mark.skipif(not os.access(LAST_NUMBER, os.W_OK),
                    reason="this system does not let processes choose their numbers")
def test_processes_are_in_the_order_of_their_start_though_their_numbers_begin_anew(measure):
    last = int(Path("/proc/sys/kernel/pid_max").read_text()) - 3
    same(*[measure(f"{TINY} --mode functional --shared 3 -- /bin/sh -c '{anew} {MINE} 0 2 100 & "
                   f"{MINE} 0 3 200 & {MINE} 0 1 300 & wait'", NOTHING_LEFT)
           for anew in (f"echo {last} > {LAST_NUMBER};", f"echo {last - 500} > {LAST_NUMBER};")])


def test_a_process_has_its_turn_however_long_it_computes(run):
    """Addresses are given out one behind the other."""
    done, passed = at_once(run, TINY, 3 * [f"{MINE} 0 1 64 computes"])
    given = re.findall("^has (0x[0-9a-f]+) and (0x[0-9a-f]+)$", done.stdout, re.M)
    assert passed == len(given) == 3, done.output
    assert sorted(sum(given, ())) == list(sum(sorted(given), ()))


@pytest.mark.parametrize("how, unordered", [("device", None), ("sleeps", True)])
def test_statistics_say_whether_the_host_had_a_say(run, tmp_path, how, unordered):
    stats = tmp_path / "stats.json"
    script = f"{MINE} 0 8 500 & {MINE} 0 2 500 {how} & wait"
    run(f"{TINY} --shared 2 --stats {stats} -- /bin/sh -c '{script}'")
    host = harness.json.loads(stats.read_text())["host"]
    assert host.get("unordered") is unordered


def test_four_processes_share_two_gpus(measure):
    """In any order, and without waiting for each other first."""
    programs = [f"{MINE} {i % 2} {2 + i} {500 << i} {how}"
                for i, how in enumerate(["device", "managed", "pinned", "streams"])]
    script = " & ".join(reversed(programs)) + " & wait"
    done = measure(f"platforms/r9nano_x4.heddle --mode functional --shared 1 -- "
                   f"/bin/sh -c '{script}'", NOTHING_LEFT)
    assert len(re.findall("^PASS", done.stdout, re.M)) == 4, done.output
    assert [sum(k["gpu"] == gpu for k in done.stats["kernels"]) for gpu in (0, 1)] == [2 + 4, 3 + 5]


@pytest.mark.parametrize("mode", ["timing", "functional"])
@pytest.mark.parametrize("how, status, says", [
    ("die", 0, "^heddle: 2 processes have used GPUs, [01] of them ended while their kernels ran"),
    ("fault", 3, "store of 4 bytes through a null pointer"),
    ("thief", 0, "is device memory that is not, or no longer, allocated"),
    ("greedy", 0, NOTHING_LEFT), ("sleeps", 0, NOTHING_LEFT)])
def test_others_go_on(run, how, status, says, mode):
    programs = [f"{MINE} 0 2 600 {how}", f"{MINE} 0 20 500"]
    done, passed = at_once(run, f"{TINY} --mode {mode}", programs, says, status=status)
    assert passed == (1 if how == "die" else 2), done.output


@pytest.mark.parametrize("mode", ["timing", "functional"])
def test_kernels_of_a_killed_program_end(run, mode):
    script = f"{PROGRAMS}/endless & sleep 1.5; kill -9 $!; {MINE} 0 3 500"
    done = run(f"{TINY} --mode {mode} --shared 1 -- /bin/sh -c '{script}'",
               "^heddle: 2 processes have used GPUs, [01] of them ended while", NOTHING_LEFT)
    assert "PASS neighbours" in done.stdout


def test_an_opencl_program_shares_with_a_hip_program(run):
    program = BUILD / "tests/opencl/opencl_vector_add"
    if not program.exists():
        pytest.skip("clang-19 or OpenCL's headers are missing")
    done, passed = at_once(run, TINY, [program, f"{MINE} 0 3 500"], "^PASSED", NOTHING_LEFT)
    assert passed == 1, done.output


def test_an_estimate_is_that_of_a_machine_of_its_own(run):
    said = [re.search("^predicted: .* %, of", run(
        f"{TINY} {shared} --mode sampled -- {PROGRAMS}/kmeans", "^PASS").output, re.M)[0]
            for shared in ("", "--shared 1")]
    assert said[0] == said[1]


def test_processes_of_mpi_share(run):
    """mpirun itself looks at the devices of OpenCL, and is none of the two."""
    if not shutil.which("mpirun.openmpi"):
        pytest.skip("openmpi is missing: ./dev setup installs it")
    done = run(f"{TINY} --shared 2 -- {shutil.which('mpirun.openmpi')} --oversubscribe -n 2"
               f" {MINE} 0 3 500",
               "^heddle: 2 processes have .*" + NOTHING_LEFT, env=PASS_AS_ROOT)
    assert done.stdout.count("PASS neighbours") == 2


@pytest.mark.parametrize("script, come, awaited", [
    (f"{MINE} & {MINE} & wait", 2, 3), (f"{MINE}; {MINE}", 1, 2)], ids=["beside", "behind"])
def test_processes_that_wait_for_more_than_can_come_are_refused(run, script, come, awaited):
    run(f"{TINY} --shared {awaited} -- /bin/sh -c '{script}'",
        f"^heddle: {come} of {awaited} processes have come, and all others of the command wait",
        "^FAIL .*neighbours", status=8)


def test_processes_that_can_still_come_are_waited_for(run):
    done = run(f"{TINY} --shared 2 -- /bin/sh -c '{MINE} 0 2 64 & sleep 1.5; {MINE} 0 2 64; wait'",
               "^heddle: 1 of 2 processes have come", NOTHING_LEFT)
    assert done.stdout.count("PASS neighbours") == 2


@pytest.mark.parametrize("options, says", [
    ("--record api=x", "'--record api' needs the machine in the program's own process"),
    ("--unified 0", "'--unified' needs the machine"), ("--checkpoint x", "exclude each other")])
def test_what_needs_the_machine_inside_is_refused(options, says):
    heddle(f"run {TINY} --shared 2 {options} -- {MINE}", says, status=FAILS)


def test_user_queues_and_unified_devices_are_refused(run):
    done = run(f"{TINY} --shared 1 -- {PROGRAMS}/own_packets", status=FAILS)
    assert "PASS" not in done.stdout


@pytest.mark.parametrize("mode", ["functional", "timing"])
def test_a_hostile_guest_gets_errors_and_hurts_nobody(run, mode):
    programs = [f"{BUILD}/tests/kfd/guest_random {seed}" for seed in (1, 2)]
    done, passed = at_once(run, f"{TINY} --mode {mode}", [f"{MINE} 0 5 500", *programs])
    assert passed == 1 and done.stdout.count("PASS guest_random") == 2, done.output


# ---- a machine that stays ----


@contextlib.contextmanager
def served(tmp_path, *options):
    """The folder of a server, its process, and a list that gets what it has said."""
    command = [str(word) for word in [HEDDLE, "serve", TINY, *options]]
    said = []
    with subprocess.Popen(command + harness.generic * ["--generic"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, cwd=ROOT,
                          env={**os.environ, "TMPDIR": str(tmp_path)}) as server:
        try:
            yield server.stdout.readline().strip(), server, said
        finally:
            server.send_signal(signal.SIGTERM)
            said.append(server.communicate()[1])


def join(folder, *words):
    return [str(word) for word in (HEDDLE, "join", folder, "--", MINE, *words)]


def test_programs_join_a_server_one_after_another(tmp_path):
    stats = tmp_path / "stats.json"
    with served(tmp_path, "--stats", stats) as (folder, server, said):
        for how in ("device", "managed"):
            call(join(folder, 0, 2, 500, how), "^PASS")
    assert server.returncode == 0 and re.search(NOTHING_LEFT, said[0], re.M), said
    assert len(harness.json.loads(stats.read_text())["kernels"]) == 4


def test_a_storm_of_processes_leaves_nothing(tmp_path):
    def look():
        done = call(join(folder, 0, 1, 64, "free"))
        [simulator] = subprocess.run(["pgrep", "-P", str(server.pid)], capture_output=True,
                                     text=True, check=False).stdout.split()
        return re.search(r"^free: \d+", done.stdout, re.M)[0], len(
            os.listdir(f"/proc/{simulator}/fd"))

    def storm():
        programs = [subprocess.Popen(join(folder, 0, 3, 500, how), cwd=ROOT, text=True,
                                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                    for how in 4 * ["device", "managed"] + 2 * ["die"]]
        return [program.communicate()[0] for program in programs]

    with served(tmp_path, "--mode", "functional") as (folder, server, said):
        storm()  # what the driver keeps from its first launches on is there
        before = look()
        assert sum("PASS" in text for text in storm()) == 8
        assert look() == before
    assert re.search(NOTHING_LEFT, said[0], re.M), said


def test_programs_that_join_a_machine_that_has_ended_are_told(tmp_path):
    with served(tmp_path, "--stall-limit", "300000") as (folder, server, said):
        call([HEDDLE, "join", folder, "--", PROGRAMS / "endless", "exit"])
        call([HEDDLE, "join", folder, "--", MINE],
             "the machine has ended: .*--stall-limit", status=1)
    assert server.returncode == 5, said
