"""Several threads of the simulation: statistics and traces are those of one, and there are no
races.

HEDDLE_THREAD_DELAYS makes threads wait at random, so that they are not in step."""
import json
import os
import re
import shlex
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import harness
from harness import BUILD, HEDDLE, PROGRAMS, SYSTEM, call, same, same_file, ways, words_of
from programs import GOOD, only_full, quick_and_full

TESTER = "tests/system/platforms/threads.heddle"


def same_by_threads(measure, text, tmp_path=None):
    """1, 2 and 4 threads, in step and not, write the same statistics, and with a folder the same
    trace of events. Without --full two are not in step and four are."""
    reference = None
    for threads, delays in (1, ""), *[(2, ""), (4, "7")] * harness.full, (2, "7"), (4, ""):
        trace = tmp_path and tmp_path / f"trace-{threads}.json"
        option = f"--record perfetto={trace}" if trace else ""
        done = measure(text.format(f"--threads {threads} {option}"),
                       env={"HEDDLE_THREAD_DELAYS": delays})
        reference = reference or done
        same(reference, done)
        if trace:
            same_file(tmp_path / "trace-1.json", trace)


@pytest.mark.parametrize("program", quick_and_full("vectoradd matmul_tiled histogram streams fft"
                                                   " scratch", [p for p in GOOD if p != "threads"]))
def test_number_of_threads_changes_no_byte(measure, program):
    same_by_threads(measure, f"platforms/r9nano.heddle {{}} -- {program}")


@pytest.mark.parametrize("text", ["platforms/r9nano.heddle {} --set gpu.arrays=3 -- vectoradd 1000",
                                  f"{TESTER} {{}} --set tester.threads=1 --set tester.actions=4",
                                  *only_full("platforms/r9nano.heddle {} -- bfs")],
                         ids=["vectoradd", "tester", "bfs"])
def test_number_of_threads_changes_no_byte_of_traces(measure, tmp_path, text):
    same_by_threads(measure, text, tmp_path)


@pytest.mark.parametrize("text", ["platforms/ring4.heddle {} -- devices",
                                  f"{TESTER} {{}} --set tester.threads=2"],
                         ids=["devices", "tester"])
def test_number_of_threads_changes_no_byte_of_several_gpus(measure, text):
    same_by_threads(measure, text)


def test_two_threads_in_every_order_of_ticks_change_no_byte(measure):
    text = f"{TESTER} --set tester.threads=2 {{}}"
    reference = measure(text.format(""))
    for order in ways(["--tick-order=random:5", "--tick-all", "--generic"]):
        same(reference, measure(text.format(f"{order} --threads 2")))


def test_a_run_that_gives_up_is_repeated_on_all_threads(run):
    """The platform is unloaded before the second run, which shows the messages."""
    text = f"{TESTER} --generic --allow-incoherent --set l1.scope=system"

    def messages(options):
        """Without what building the platform says, which is said once."""
        output = run(text + options, "the messages about the line at", status=3).output
        return output[output.index("heddle: tester: port "):]

    alone = messages("")
    assert messages(" --threads 2") == messages(" --threads 3") == alone


def test_platform_without_partitions_uses_one_thread(run):
    run("tests/system/platforms/memtest.heddle --threads 2", "no partitions", "one thread")


def test_threads_beyond_the_processors_are_warned_of():
    call(["taskset", "-c", "0", HEDDLE, "run",
          *words_of("platforms/r9nano.heddle --threads 2 -- vectoradd")],
         "processors for 1", "^PASS")


@pytest.mark.parametrize("number", ["-1", "0", "two"])
def test_number_of_threads_is_positive(run, number):
    run(f"platforms/r9nano.heddle --threads {number} -- vectoradd", "positive whole number",
        status=2)


def watched_archive(archive, folder, level):
    """A static library, its own objects compiled for the thread sanitizer by the commands of the
    build."""
    objects = []
    for command in json.loads((BUILD / "compile_commands.json").read_text()):
        if command["output"].startswith(f"{archive}.p/"):
            target = folder / command["output"]
            target.parent.mkdir(parents=True, exist_ok=True)
            words = shlex.split(command["command"])
            words[words.index("-o") + 1] = str(target)
            objects.append((target, [*words, "-fsanitize=thread", "-g1", level, "-Wno-error"]))
    assert objects

    def compile_one(job):
        subprocess.run(job[1], cwd=BUILD, check=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_one, objects))
    shutil.copy(BUILD / archive, folder / archive)
    call(["ar", "csr", folder / archive, *(target for target, _ in objects)])


@pytest.mark.first
def test_thread_sanitizer_finds_no_race(tmp_path, full):
    """Platforms with the libraries that threads share are compiled for it, and run by the plain
    heddle and HIP library behind the sanitizer's own. What instructions do on the registers of a
    wavefront (libisa) is the plain library, too: it is half of all code. Without --full it is the
    random memory tester, which needs the runtime only."""
    compiler = os.environ.get("CC", "cc").split()
    sanitizer = Path(call([*compiler, "-print-file-name=libtsan.so"]).stdout.strip()).resolve()
    hip = BUILD / "components/hip/libamdhip64.so.5"
    assert sanitizer.is_file() and hip.is_file()
    folder, level = SYSTEM / "tsan", "-Og" if full else "-O0"  # little is run
    home = (BUILD / "codegen/heddle.home").read_text()
    for archive in re.findall(rf"(?m)^archive={BUILD}/(.*)", home):
        if "libheddle_runtime" in archive or (full and "libisa" not in archive):
            watched_archive(archive, folder, level)
            home = home.replace(f"={BUILD}/{archive}", f"={folder}/{archive}")
    assert str(folder) in home
    (folder / "home").mkdir(exist_ok=True)
    (folder / "home/heddle.home").write_text(home)
    env = {"HEDDLE_HOME": str(folder / "home"), "HEDDLE_CACHE": str(folder / "cache"),
           "HEDDLE_CFLAGS": f"-fsanitize=thread -g1 {level}", "HEDDLE_LDFLAGS": "-fsanitize=thread",
           "TSAN_OPTIONS": "exitcode=66", "HEDDLE_THREAD_DELAYS": "11"}
    for platform in [TESTER, *["platforms/r9nano.heddle"] * full]:
        call([HEDDLE, "build", platform], env=env)

    def watched(preloaded, *command, says=""):
        preload = f"LD_PRELOAD={preloaded} {harness.DISTURBANCE}"
        call(["setarch", "-R", "env", preload, HEDDLE, "run", *command], says, env=env)

    tester = [TESTER, *["--set", "tester.episodes=4"] * (not full)]
    watched(sanitizer, *tester, "--threads", "3", "--set", "tester.threads=2")
    watched(sanitizer, *tester, "--threads", "2", "--set", "tester.threads=1",
            "--record", f"perfetto={tmp_path}/trace.json", "--stats", tmp_path / "stats.json")
    if full:
        watched(f"{sanitizer} {hip}", "platforms/r9nano.heddle", "--threads", "2",
                "--stats", tmp_path / "stats.json", "--", PROGRAMS / "vectoradd", says="^PASS")
