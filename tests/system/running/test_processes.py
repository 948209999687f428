"""What becomes of a run's files when a program has children, ends by surprise, or is interrupted:
they are whole and by process, or their lack is said with a status that is not 0."""
import contextlib
import json
import os
import pty
import re
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest

from harness import (FAILS, HEDDLE, NEVER, PROGRAMS, ROOT, heddle, run, until,
                     with_usual_code)

TINY = "platforms/tiny.heddle"
MEMTEST = "tests/system/platforms/memtest.heddle"
PROGRAM = PROGRAMS / "processes"
OUTPUTS = {"stats": "--stats {}/out.json", "perfetto": "--record perfetto={}/out.json",
           "api": "--record api={}/out",
           "addresses": "--mode functional --profile memory --addresses {}/out",
           "series": "--series {}/out --every 1us",
           "profile": "--profile instructions={}/out"}
# What is printed and leaves no file.
PRINTED = ["--report cpi", "--profile instructions", "--mode sampled"]
HAS_NONE = "nothing was written|nothing is recorded"


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """What a run says first is then not that it compiles."""
    heddle(f"build {TINY}", specialised=True)


# A way of ending, its status (None: what stands for a file that is missing), how many processes
# write, and what is said.
WAYS = {
    "plain": (0, 1, None), "quick": (None, 0, HAS_NONE), "abort": (134, 0, HAS_NONE),
    "exec": (None, 0, HAS_NONE), "child-idle": (0, 1, None),
    "child-uses": (7, 1, "was forked after .* had used HIP"), "child-exec": (0, 2, "2 processes"),
    "two": (0, 2, "2 processes"), "nothing": (None, 0, HAS_NONE)}


def kernels(path):
    return json.loads(Path(path).read_text())["kernels"]


def is_whole(path, kind):
    if path.suffix == ".json":
        json.loads(path.read_text())
    return (path / "cuda_calls.trace" if kind == "api" else path).exists()


@pytest.mark.parametrize("kind", OUTPUTS)
@pytest.mark.parametrize("way", WAYS)
def test_each_process_has_files_of_its_own(tmp_path, way, kind):
    status, writers, says = WAYS[way]
    status = 8 if status is None else status
    run(f"{TINY} {OUTPUTS[kind].format(tmp_path)} -- /bin/sh -c 'exec {PROGRAM} {way}'",
        *([says] if says else []), status=status)
    suffix = ".json" if kind in ("stats", "perfetto") else ""
    names = ["out" + suffix, "out.process2" + suffix][:writers]
    assert sorted(os.listdir(tmp_path)) == names
    assert all(is_whole(tmp_path / name, kind) for name in names)


@pytest.mark.parametrize("options", PRINTED)
def test_what_is_not_printed_is_missed(options):
    run(f"{TINY} {options} -- {PROGRAM} nothing", HAS_NONE, status=8)


def test_programs_of_a_script_are_told_apart(tmp_path):
    stats = tmp_path / "s.json"
    run(f"{TINY} --stats {stats} --report cpi -- /bin/sh -c '{PROGRAM} plain; {PROGRAMS}/saxpy 64'",
        "2 processes", r"^process 1 \(processes\)", r"^process 2 \(saxpy\)")
    other = tmp_path / "s.process2.json"
    assert kernels(stats)[0]["name"].startswith("twice")
    assert kernels(other)[0]["name"].startswith("saxpy")
    hashes = [json.loads(file.read_text())["stamp"]["program"] for file in (stats, other)]
    assert len(set(hashes)) == 2  # of the programs, not of the shell


def test_experiment_refuses_several_processes(tmp_path):
    heddle(f"experiment {TINY} --kernels 1 -o {tmp_path}/e -- /bin/sh -c '{PROGRAM} two'",
           "several processes", status=1, env={"TMPDIR": str(tmp_path)})
    assert os.listdir(tmp_path) == ["e"]


def test_statically_linked_program_is_named(tmp_path):
    source, program = tmp_path / "p.c", tmp_path / "p"
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run(["cc", "-static", str(source), "-o", str(program)], check=True)
    run(f"{TINY} --stats {tmp_path}/s.json -- {program}", "linked statically", status=8)
    run(f"{TINY} -- {program}")  # nothing was asked for


# ---- interruption ----

def heed_interrupts():
    """In a child: tests that were started in the background of a script ignore SIGINT, those under
    nohup SIGHUP, and so would everything that they start."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT, signal.SIGXCPU):
        signal.signal(number, signal.SIG_DFL)


def begin(text, folder, ready="ready"):
    """Starts `heddle run`; comes back when the program says so, or what it runs on exists."""
    words = with_usual_code([HEDDLE, "run", *text.split()])
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               cwd=ROOT, env={**os.environ, "TMPDIR": str(folder)},
                               start_new_session=True, preexec_fn=heed_interrupts)
    for line in process.stderr:
        if ready in line:
            break
    return process


def end(process, *signals, group=False):
    for i, number in enumerate(signals):
        time.sleep(0.3)
        (os.killpg if group else os.kill)(process.pid, number)
    try:
        said = process.communicate(timeout=NEVER)
    finally:
        process.poll() is None and os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, "".join(said)


@pytest.fixture
def folders(tmp_path):
    for name in "out", "tmp":
        (tmp_path / name).mkdir()
    return tmp_path / "out", tmp_path / "tmp"


@pytest.mark.parametrize("options, way, group", [
    ("", "spin", False), ("", "spin", True), ("--mode functional", "spin", False),
    ("--threads 2", "spin", False), ("", "host", False)],
    ids=["spin", "group", "functional", "threads", "host"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_run_writes_what_is_known(folders, options, way, group, number):
    out, tmp = folders
    process = begin(f"{TINY} {options} --stats {out}/s.json -- {PROGRAM} {way}", tmp)
    status, said = end(process, number, group=group)
    assert status == 128 + number and "interrupted by signal" in said
    stats = json.loads((out / "s.json").read_text())
    assert stats["partial"] == "interruption"
    assert stats["kernels"][0]["work_groups"] == 1 and "partial" not in stats["kernels"][0]
    if way == "spin":
        assert stats["kernels"][1]["partial"] is True
        assert "functional" in options or stats["kernels"][1]["cycles"] > 1000
    assert os.listdir(out) == ["s.json"] and not os.listdir(tmp)


def test_interrupted_trace_is_whole_and_a_recording_is_none(folders):
    out, tmp = folders
    process = begin(f"{TINY} --record perfetto={out}/p.json --record api={out}/a -- {PROGRAM} spin",
                    tmp)
    status, said = end(process, signal.SIGTERM)
    assert status == 143 and said.count("nothing is recorded") == 1
    assert json.loads((out / "p.json").read_text())["traceEvents"]
    assert os.listdir(out) == ["p.json"] and not os.listdir(tmp)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGXCPU])
def test_other_signals_that_end_a_run_write_what_is_known(folders, number):
    out, tmp = folders
    process = begin(f"{TINY} --stats {out}/s.json -- {PROGRAM} spin", tmp)
    assert end(process, number)[0] == 128 + number
    assert json.loads((out / "s.json").read_text())["partial"] == "interruption"
    assert os.listdir(out) == ["s.json"] and not os.listdir(tmp)


def fill_messages_of(pid):
    """Whatever writes to its standard error from now on waits."""
    pipe = os.open(f"/proc/{pid}/fd/2", os.O_WRONLY | os.O_NONBLOCK)
    with contextlib.suppress(BlockingIOError):
        while os.write(pipe, b"x" * 512):
            pass
    os.close(pipe)


def test_second_signal_ends_at_once(folders):
    """The first one ends the simulation. The run has written its files then, and waits to say so,
    since nobody reads its messages; only the second signal can end it."""
    out, tmp = folders
    process = begin(f"{TINY} --stats {out}/s.json -- {PROGRAM} spin", tmp)
    (simulating,) = descendants(process.pid)
    fill_messages_of(process.pid)
    process.send_signal(signal.SIGTERM)
    until(lambda: os.listdir(out) == ["s.json"])
    time.sleep(0.3)  # what comes sooner counts as the same signal
    assert is_alive(simulating)
    process.send_signal(signal.SIGTERM)
    until(lambda: not is_alive(simulating))
    process.stderr.read()
    assert process.wait(NEVER) == 128 + signal.SIGTERM
    assert os.listdir(out) == ["s.json"] and not os.listdir(tmp)


@pytest.mark.parametrize("signals", [1, 2])
def test_temporary_files_lie_in_tmpdir_and_are_gone_at_the_end(folders, signals):
    """Those of a report, whose statistics nobody else has asked for."""
    out, tmp = folders
    process = begin(f"{TINY} --report cpi -- {PROGRAM} spin", tmp)
    assert [name.split("-")[0] for name in os.listdir(tmp)] == ["heddle"]
    end(process, *[signal.SIGTERM] * signals)
    assert not os.listdir(tmp) and not os.listdir(out)
    run(f"{TINY} --report cpi -- {PROGRAM} plain", f"cannot create a file in '{tmp}/no'",
        status=FAILS, env={"TMPDIR": f"{tmp}/no"})


@pytest.mark.parametrize("way, status, partial", [("flag", 0, False), ("handler", 8, True)])
def test_program_with_a_handler_of_its_own_decides(folders, way, status, partial):
    out, tmp = folders
    process = begin(f"{TINY} --stats {out}/s.json -- {PROGRAM} {way}", tmp)
    assert end(process, signal.SIGTERM)[0] == status
    stats = json.loads((out / "s.json").read_text())
    assert ("partial" in stats) == partial
    assert stats["kernels"][0]["cycles"] > 0


@pytest.mark.parametrize("script", ["{}", "sh -c '{}; true'"], ids=["program", "script"])
def test_killed_run_takes_its_program_along(folders, tmp_path, script):
    out, tmp = folders
    program = tmp_path / "own_name_of_a_program"
    program.symlink_to(PROGRAM)
    process = begin(f"{TINY} --stats {out}/s.json -- {PROGRAM} spin", tmp) if script == "{}" else \
        subprocess.Popen(with_usual_code([HEDDLE, "run", TINY, "--stats", f"{out}/s.json", "--",
                                          "sh", "-c", f"{program} spin; true"]),
                         cwd=ROOT, stderr=subprocess.PIPE, text=True)
    if script != "{}":
        process.stderr.readline()
    children = descendants(process.pid)
    assert children
    process.kill()
    process.communicate(timeout=NEVER)
    until(lambda: not any(is_alive(pid) for pid in children))
    assert not os.listdir(out) and not os.listdir(tmp)


def descendants(pid):
    found = []
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        found += [int(child), *descendants(int(child))]
    return found


def is_alive(pid):
    try:
        return not re.search(r"\) [ZX] ", Path(f"/proc/{pid}/stat").read_text())
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_progress_is_told_in_lines_when_asked_for(folders):
    out, tmp = folders
    process = begin(f"{TINY} --progress lines -- {PROGRAM} spin", tmp)
    line = process.stderr.readline()
    end(process, signal.SIGTERM)
    assert re.match(r"heddle: \d+\.\d{3} us simulated, kernel 2 of 2, 50 % of the work-groups, "
                    r"about \d+ s left, \d+ instructions, \d+ KIPS$", line)
    run(f"{TINY} --progress often -- {PROGRAM} plain", "auto, lines or none", status=2)
    assert not run(f"{TINY} -- {PROGRAM} plain").stderr


def test_progress_is_told_in_one_line_of_a_terminal():
    ours, its = pty.openpty()
    words = with_usual_code([HEDDLE, "run", *f"{TINY} -- {PROGRAM} spin".split()])
    said = ""
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=its, cwd=ROOT,
                          start_new_session=True, preexec_fn=heed_interrupts) as process:
        os.close(its)
        while said.count("kernel 2 of 2") < 2:
            said += os.read(ours, 4096).decode()
        process.send_signal(signal.SIGTERM)
    os.close(ours)
    told = said[said.index("kernel 2 of 2"):]
    assert "\r" in told[:told.rindex("kernel 2 of 2")]
    assert "\n" not in told[:told.rindex("kernel 2 of 2")]


def test_platform_that_drives_itself_is_interrupted(folders):
    out, tmp = folders
    words = f"{MEMTEST} --set tester.episodes=1000000 --stats {out}/s.json --progress lines"
    process = begin(words, tmp, ready="simulated")
    status, said = end(process, signal.SIGTERM)
    assert status == 143 and "interrupted by signal 15" in said
    assert json.loads((out / "s.json").read_text())["partial"] == "interruption"
    assert os.listdir(out) == ["s.json"] and not os.listdir(tmp)


# A signal in the very moment: when files get their names, and when the process ends.
SIGNALS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rename(const char *from, const char *to)
{
    int (*real)(const char *, const char *);
    *(void **)&real = dlsym(RTLD_NEXT, "rename");
    if (strstr(to, "s.json") != NULL && getenv("AT_RENAME") != NULL)
        raise(SIGTERM);
    return real(from, to);
}

static void at_end(void)
{
    if (getenv("AT_EXIT") != NULL)
        raise(SIGTERM);
}

__attribute__((constructor)) static void begin(void)
{
    if (strstr(program_invocation_short_name, "processes") != NULL)
        atexit(at_end);
}
"""


@pytest.mark.parametrize("what", [f"{TINY} --stats {{}} -- {PROGRAM} plain",
                                  f"{TINY} --mode functional --stats {{}} -- {PROGRAM} plain",
                                  f"{MEMTEST} --set tester.episodes=2 --stats {{}}"],
                         ids=["program", "functional", "platform"])
def test_signal_at_the_end_of_a_run_leaves_whole_files(tmp_path, what):
    """All has been simulated, and the run ends by the signal all the same."""
    early = tmp_path / "early.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-", "-o", early], input=SIGNALS, text=True,
                   check=True)
    env = {"LD_PRELOAD": str(early), "AT_RENAME": "1"}
    run(what.format(tmp_path / "s.json"), "interrupted by signal 15", status=143, env=env)
    run(what.format(tmp_path / "t.json"))
    interrupted, whole = [json.loads((tmp_path / name).read_text())
                          for name in ("s.json", "t.json")]
    assert "partial" not in interrupted and interrupted["time_ps"] == whole["time_ps"]
    assert interrupted["components"] == whole["components"]


@pytest.mark.parametrize("mode", ["", "--mode functional"])
def test_signal_before_files_are_written_is_an_interruption(tmp_path, mode):
    """The program has returned from main, and what it registered for its end is not done."""
    early = tmp_path / "early.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-", "-o", early], input=SIGNALS, text=True,
                   check=True)
    run(f"{TINY} {mode} --stats {tmp_path}/s.json -- {PROGRAM} plain", "interrupted by signal 15",
        status=143, env={"LD_PRELOAD": str(early), "AT_EXIT": "1"})
    assert json.loads((tmp_path / "s.json").read_text())["partial"] == "interruption"


def limit_files():
    """Of a size at which writing fails, by a signal unless that is ignored."""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_MAX, resource.RLIM_INFINITY))


FILE_MAX = 60000


@pytest.mark.parametrize("record, program, says", [
    ("perfetto={}/p.json", "matmul_tiled", "cannot write the trace to '.*p.json': File too large"),
    ("api={}/a", "matmul_tiled 160", "cannot be recorded: File too large")])
def test_a_file_that_becomes_too_large_leaves_the_others(tmp_path, record, program, says):
    name, *words = program.split()
    heddle(f"build {TINY}")  # whose compilers have no limit
    done = subprocess.run(
        [str(HEDDLE), "run", "--generic", TINY, "--record", record.format(tmp_path), "--stats",
         f"{tmp_path}/s.json", "--", str(PROGRAMS / name), *words], cwd=ROOT, text=True,
        capture_output=True, preexec_fn=limit_files, check=False)
    assert done.returncode == 7 and re.search(says, done.stderr), done.stderr
    assert "partial" not in json.loads((tmp_path / "s.json").read_text())
    assert os.listdir(tmp_path) == ["s.json"]


def test_run_that_is_ended_by_a_limit_marks_what_has_not_ended(measure):
    done = measure(f"{TINY} --max-cycles 100000 -- processes spin", status=6)
    first, second = done.stats["kernels"]
    assert done.stats["partial"] == "limit"
    assert "partial" not in first and second["partial"] is True
    assert second["cycles"] > 50000 and second["components"]
