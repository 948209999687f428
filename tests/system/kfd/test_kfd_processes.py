"""Several processes on one simulated machine: each has its memory, queues and doorbells, and what
becomes of one of them is nothing to the others."""
import contextlib
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

import harness
from harness import BUILD, HEDDLE, PROGRAMS, ROOT, call
from programs import only_full

KFD = BUILD / "tests/kfd"
KERNEL = f"{PROGRAMS / 'vecadd_kernels.hsaco'} _Z6vecAddPiS_S_i.kd"
NANO = "platforms/r9nano.heddle"
TOGETHER = f"{KFD / 'hsa_together'} {KERNEL}"
NOTHING_LEFT = "; 0 are left with queues and memory$"


@pytest.fixture(autouse=True)
def needs_rocr():
    if not (KFD / "hsa_together").exists():
        pytest.skip("libhsa-runtime-dev is missing: no program ran on ROCr")


def at_once(run, platform, programs, *says, **how):
    """Runs programs beside each other; each says that it has passed."""
    script = " & ".join(programs) + " & wait"
    done = run(f"{platform} --stack rocm -- /bin/sh -c '{script}'", NOTHING_LEFT, *says, **how)
    return done, len(re.findall("^PASS hsa_together", done.stdout, re.M))


def ended(killed):
    return f"processes have used GPUs, {killed} of them ended while their kernels ran"


def test_two_processes_share_a_gpu(run):
    programs = [f"{TOGETHER} 0 5 4096", f"{TOGETHER} 0 7 1024"]
    done, passed = at_once(run, f"{NANO} --mode functional", programs,
                           "^heddle: 2 " + ended(0))
    assert passed == 2, done.output


def test_processes_that_wait_for_more_than_can_come_are_refused(run):
    run(f"{NANO} --stack rocm --mode functional --shared 3 -- /bin/sh -c '{TOGETHER} 0 1 64'",
        "^heddle: 1 of 3 processes have come, and all others of the command wait",
        r"^FAIL hsa_init\(\)", status=8)


@pytest.mark.full
def test_kernels_of_two_processes_overlap(measure):
    done, passed = at_once(measure, NANO, 2 * [f"{TOGETHER} 0 3 4096"])
    assert passed == 2, done.output
    kernels = done.stats["kernels"]
    assert len([k for k in kernels if "vecAdd" in k["name"]]) == 6
    assert any(k["overlaps"] for k in kernels)


@pytest.mark.parametrize("how, mode", [
    ("", "functional"), ("turn", "timing"),
    *only_full(("", "timing"), ("turn", "functional"))])
def test_kernels_of_a_killed_process_end(run, how, mode):
    """With `turn` they access no memory."""
    script = f"{PROGRAMS}/endless {how} & sleep 3; kill -9 $!; {TOGETHER} 0 3 64"
    run(f"{NANO} --stack rocm --mode {mode} -- /bin/sh -c '{script}'",
        "^PASS hsa_together", NOTHING_LEFT)


@pytest.mark.full
@pytest.mark.parametrize("mode", ["functional", "timing"])
def test_four_processes_share_two_gpus(measure, mode):
    programs = [f"{TOGETHER} {i % 2} {2 + i} {1024 << i}" for i in range(4)]
    done, passed = at_once(measure, f"platforms/r9nano_x4.heddle --mode {mode}", programs,
                           "^heddle: 4 " + ended(0))
    assert passed == 4, done.output
    assert [sum("vecAdd" in k["name"] and k["gpu"] == gpu for k in done.stats["kernels"])
            for gpu in (0, 1)] == [2 + 4, 3 + 5]


@pytest.mark.full
def test_a_process_that_is_killed_in_a_kernel_takes_nobody_with_it(measure):
    programs = [f"{TOGETHER} 0 1 400000 die", f"{TOGETHER} 0 20 4096"]
    done, passed = at_once(measure, NANO, programs, "^heddle: 2 " + ended(1))
    assert passed == 1, done.output
    assert sum("vecAdd" in k["name"] for k in done.stats["kernels"]) >= 20


@pytest.mark.parametrize("mode", ["functional", pytest.param("timing", marks=pytest.mark.full)])
def test_a_kernel_that_faults_ends_its_own_process(run, mode):
    programs = [f"{TOGETHER} 0 1 4096 fault", f"{TOGETHER} 0 20 4096"]
    done, passed = at_once(run, f"{NANO} --mode {mode}", programs, "store of 4 bytes at 0x",
                           "^Memory access fault by GPU node-1", status=3)
    assert passed == 1, done.output


def test_a_ring_that_lies_stops_its_own_queue(run):
    programs = [f"{TOGETHER} 0 1 64 lie", f"{TOGETHER} 0 5 4096"]
    done, passed = at_once(run, f"{NANO} --mode functional", programs,
                           "announces more packets than its ring has")
    assert passed == 2, done.output


@pytest.mark.parametrize("case, said", [
    ("random", "is cut off: it"), ("close", "0 of them ended"),
    *only_full(
        ("twice", "is cut off: it makes a call before the last one of the thread was answered"),
        ("version", "0 of them"), ("foreign", "0 of them ended"))])
def test_hostile_clients_get_errors_and_hurt_nobody(run, case, said):
    programs = [f"{KFD / 'kfd_peer'} {case}", f"{TOGETHER} 0 5 4096"]
    done, passed = at_once(run, f"{NANO} --mode functional", programs, f"^PASS kfd_peer {case}",
                           said)
    assert passed == 1, done.output


# ---- a machine that stays ----


@contextlib.contextmanager
def served(tmp_path, *options):
    """The folder of a server, its process, and a list that gets what it has said."""
    command = [HEDDLE, "serve", NANO, "--stack", "rocm", "--mode", "functional", *options]
    command = [str(word) for word in command] + harness.generic * ["--generic"]
    said = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          cwd=ROOT, env={**os.environ, "TMPDIR": str(tmp_path)}) as server:
        try:
            yield server.stdout.readline().strip(), server, said
        finally:
            server.send_signal(signal.SIGTERM)
            said.append(server.communicate()[1])


def children(process):
    return subprocess.run(["pgrep", "-P", str(process)], capture_output=True, text=True,
                          check=False).stdout.split()


def name(process):
    return Path(f"/proc/{process}/comm").read_text().strip()


def look(folder, server):
    """Free memory of the machine, and descriptors of its server, which has one child."""
    done = call([HEDDLE, "join", folder, "--", KFD / "kfd_peer", "memory"])
    [simulator] = children(server.pid)
    return re.search(r"^free: \d+", done.stdout)[0], len(os.listdir(f"/proc/{simulator}/fd"))


def test_programs_join_a_server_one_after_another(tmp_path):
    stats = tmp_path / "stats.json"
    with served(tmp_path, "--stats", stats) as (folder, server, said):
        for _ in range(2):
            call([HEDDLE, "join", folder, "--", *f"{TOGETHER} 0 2 1024".split()], "^PASS",
                 env={"TMPDIR": str(tmp_path)})
        call([HEDDLE, "join", "--", "/bin/false"], status=1, env={"TMPDIR": str(tmp_path)})
        call([HEDDLE, "join", tmp_path, "--", "/bin/true"], "is not the folder of a server",
             status=1)
    assert server.returncode == 0 and re.search("^heddle: 2 " + ended(0), said[0], re.M), said
    assert len([k for k in harness.json.loads(stats.read_text())["kernels"]
                if "vecAdd" in k["name"]]) == 4
    call([HEDDLE, "join", "--", "/bin/true"], "there is no server", status=1,
         env={"TMPDIR": str(tmp_path)})


def test_a_program_ends_when_its_simulator_is_killed():
    command = [HEDDLE, "run", NANO, "--stack", "rocm", "--mode", "functional", "--",
               PROGRAMS / "endless"]
    command = [str(word) for word in command[:-2]] + harness.generic * ["--generic"] + command[-2:]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          cwd=ROOT) as running:
        while not (names := {name(child): child for child in children(running.pid)}) \
                or not {"heddle-kfd", "endless"} <= {*names}:
            time.sleep(0.1)
        time.sleep(2)
        os.kill(int(names["heddle-kfd"]), signal.SIGKILL)
        said = running.communicate(timeout=60)[1]
    assert running.returncode == 3 and "the simulator was ended by signal 9" in said, said


@pytest.mark.full
def test_a_storm_of_processes_leaks_nothing(tmp_path):
    with served(tmp_path) as (folder, server, said):
        def storm():
            programs = [subprocess.Popen([HEDDLE, "join", folder, "--",
                                          *f"{TOGETHER} 0 3 4096".split(), *how], cwd=ROOT,
                                         stdout=subprocess.PIPE, text=True)
                        for how in 8 * [[]] + 2 * [["die"]]]
            return [program.communicate()[0] for program in programs]
        storm()  # what the driver keeps from its first launches on is there
        before = look(folder, server)
        outputs = storm()
        assert sum("PASS" in text for text in outputs) >= 8
        assert look(folder, server) == before
    assert re.search(NOTHING_LEFT, said[0], re.M), said


def test_programs_that_join_a_machine_that_has_ended_are_told(tmp_path):
    with served(tmp_path, "--stall-limit", "300000") as (folder, server, said):
        call([HEDDLE, "join", folder, "--", PROGRAMS / "endless", "exit"],
             "Device::callbackQueue aborting", status=-signal.SIGABRT)
        call([HEDDLE, "join", folder, "--", *TOGETHER.split(), "0", "1", "64"],
             "the machine has ended: .*--stall-limit", r"^FAIL hsa_init\(\)", status=1)
    assert server.returncode == 6, said
