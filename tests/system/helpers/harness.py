"""Runs heddle as a user does, and looks at what a user sees.

Tests get `run`, `measure` and `heddle` from conftest.py; they are the functions below with a folder
of the test's own. A command is written as in a shell, but its program is named without its folder:
run("platforms/tiny.heddle --set gpu.l2=8KiB -- matmul_tiled 128").
"""
import csv
import dataclasses
import functools
import itertools
import json
import os
import re
import resource
import shlex
import signal
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / os.environ.get("HEDDLE_BUILD", "build")
SYSTEM = BUILD / "system"  # everything that tests write lies below
HEDDLE = BUILD / "codegen/heddle"
PROGRAMS = BUILD / "tests/programs"
API_TRACES = "tests/components/traces/api_trace/traces"
# A busy machine must fail no test. What computes for ever is ended by its CPU time; an hour passes
# only where something is waited for that never comes.
CPU_SECONDS = 600
NEVER = 3600

generic = False  # runs use code that is compiled once for all parameters; conftest.py sets it
full = False  # --full; conftest.py sets it

FAILS = "a status that is not 0"
ANY = "any status"
# With --tick-all a component that waits costs as much as one that works: it is for short runs.
SLEEPING = ["--tick-order=descending", "--tick-order=random:1", "--generic"]
ORDERS = [*SLEEPING, "--tick-all"]
numbers = itertools.count(1)
# How many of these there are depends on how busy the machine is.
COMPILERS = re.compile("^heddle: compiled [0-9]+ of [0-9]+ units in .* left\n", re.MULTILINE)


@dataclasses.dataclass
class Done:
    """A command that has ended."""

    command: list
    status: int
    stdout: str
    stderr: str
    stats_file: Path = None

    @property
    def output(self):
        return self.stdout + self.stderr

    @functools.cached_property
    def stats(self):
        return json.loads(self.stats_file.read_text())

    @property
    def components(self):
        return self.stats["components"]

    @functools.cached_property
    def table(self):
        """Rows of `heddle stats --csv`: kind, path, name, value."""
        told = call([HEDDLE, "stats", "--csv", self.stats_file]).stdout
        return [[row["section"], row["where"], name, value]
                for row in csv.DictReader(told.splitlines())
                for name, value in row.items()
                if name not in ("file", "section", "where") and value]

    def total(self, path, name):
        """The sum of a statistic over the components whose path matches."""
        rows = (row for row in self.table if re.search(path, row[1]) and row[2] == name)
        return sum(float(row[3]) for row in rows)


def of_gpu(stats):
    """What statistics say of kernels, and of all that is no host's: neither the driver nor the
    copies and names that only a program has."""
    def kept(paths):
        return {path: {k: v for k, v in counts.items() if k != "copies_done"}
                for path, counts in paths.items() if "driver" not in path}
    kernels = [{k: v for k, v in kernel.items() if k not in ("name", "components")}
               | {"components": kept(kernel["components"])} for kernel in stats["kernels"]]
    return {"kernels": kernels, "components": kept(stats["components"]),
            "connections": kept(stats["connections"])}


COMPILING = ("build", "calibrate", "debug", "experiment", "run")  # the commands that take --generic


def with_usual_code(command):
    """The command with --generic behind each `heddle run` and its like, unless this test compiles
    platforms for their parameters."""
    words = []
    for word in map(str, command):
        words.append(word)
        if generic and words[-2:-1] == [str(HEDDLE)] and word in COMPILING \
                and "--generic" not in command:
            words.append("--generic")
    return words


def limit(process, seconds):
    """Its own CPU time, and that of each process that it starts. These may have limits of their
    own. Set from outside: a function in the child would have the interpreter copied for each."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.prlimit(process.pid, resource.RLIMIT_CPU, (seconds, hard))


def until(what):
    """Waits until what() is true; returns what it is."""
    end = time.monotonic() + NEVER
    while not (found := what()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
    return found


DISTURBANCES = ("HEDDLE_THREAD_DELAYS", "HEDDLE_RANK_DELAYS", "HEDDLE_RANK_DIES")
DISTURBANCE = BUILD / "tests/runtime/heddle_disturbance.so"


def with_disturbance(env):
    """The environment, with the library that delays and ends threads and ranks if it says so."""
    if not any(env.get(name) for name in DISTURBANCES):
        return env
    return {**env, "LD_PRELOAD": f"{DISTURBANCE} {env.get('LD_PRELOAD', '')}".strip()}


def call(command, *says, status=0, env=None, seconds=CPU_SECONDS,
         specialised=False):
    """Runs a command, which must end with `status` and say each of `says` (regular expressions).
    Each of its processes has so many seconds of CPU time. A platform that it compiles is compiled
    for its parameters when `specialised`."""
    __tracebackhide__ = True
    command = [str(word) for word in command]
    if not specialised:
        command = with_usual_code(command)
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace", cwd=ROOT,
                          env={**os.environ, **with_disturbance(env or {})},
                          start_new_session=True) as process:
        limit(process, seconds)
        try:
            out, err = process.communicate(timeout=NEVER)
            done = Done(command, None, out, COMPILERS.sub("", err))
            done.status = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise AssertionError(f"it waits in vain: {shlex.join(command)}") from None
    if status != ANY and (done.status == 0 if status == FAILS else done.status != status):
        raise AssertionError(explain(done, f"exit status {done.status}, expected {status}"))
    for text in says:
        if not re.search(text, done.output, re.MULTILINE):
            raise AssertionError(explain(done, f"no '{text}' in the output"))
    return done


def explain(done, what):
    end = "\n".join(done.output.splitlines()[-20:])
    return f"{what}\n  command: {shlex.join(done.command)}\n  its output ends:\n{end}"


def heddle(text, *says, **how):
    """`heddle TEXT`."""
    __tracebackhide__ = True
    return call([HEDDLE, *words_of(text)], *says, **how)


def run(text, *says, stats=None, status=0, **how):
    """`heddle run TEXT`, with statistics written to `stats`. A program of ours says that it has
    passed, unless another status than 0 is expected."""
    __tracebackhide__ = True
    words = words_of(text)
    own = "--" in words and str(PROGRAMS) in words[words.index("--") + 1]
    if stats:
        end = words.index("--") if "--" in words else len(words)
        words[end:end] = ["--stats", stats, "--stats-no-host"]
    says = ("^PASS", *says) if own and status == 0 else says
    done = call([HEDDLE, "run", *words], *says, status=status, **how)
    done.stats_file = stats
    return done


def measure(text, *says, folder, **how):
    """`run` with a file of statistics in `folder`."""
    __tracebackhide__ = True
    return run(text, *says, stats=folder / f"stats-{next(numbers)}.json", **how)


def toolkit_without(key, folder):
    """The environment of a toolkit whose heddle.home, in `folder`, has no line of the key."""
    home = (BUILD / "codegen/heddle.home").read_text()
    (folder / "heddle.home").write_text(re.sub(f"(?m)^{key}=.*\n", "", home))
    return {"HEDDLE_HOME": str(folder)}


def words_of(text):
    """The words of a command; programs and code objects of the tests are named by their base
    name."""
    words = shlex.split(text)
    if "--" in words and words.index("--") + 1 < len(words):
        at = words.index("--") + 1
        words[at:at + 1] = program(words[at], alone=at + 1 == len(words))
    return [str(PROGRAMS / word) if is_code(word) else word for word in words]


def is_code(word):
    return word.endswith(".hsaco") and "/" not in word and (PROGRAMS / word).exists()


def cuda_headers():
    """Words of `heddle cuda-cc` by which it reads the headers that the build has compiled, for a
    third of the time. None with --full."""
    return [] if full else ["-Xclang", "-include-pch", "-Xclang", PROGRAMS / "cuda_headers.pch"]


def cuda_cc(source, output, *options):
    """`heddle cuda-cc SOURCE -o OUTPUT`, with cuda_headers() unless the source or the options
    change these."""
    __tracebackhide__ = True
    changed = any(not option.startswith("-l") for option in options) or re.search(
        "__managed__|__cluster_dims__", Path(source).read_text(encoding="utf-8"))
    headers = [] if changed else cuda_headers()
    return call([HEDDLE, "cuda-cc", *headers, source, "-o", output, *options])


def hipcc():
    """The beginning of its command. Without --full it reads the headers that the build has
    compiled, and takes the faster linker: a third of the time. Not with -O0 or another language."""
    return ["hipcc", *([] if full else ["-include", PROGRAMS / "headers.hpp", "-fuse-ld=lld"])]


LOADS = {"module": "module_kernels.hsaco", "bad_missing_kernel": "module_kernels.hsaco",
         "bad_truncated": "module_kernels.hsaco",
         "bad_instruction": "bad_instruction_kernels.hsaco"}


def program(name, alone):
    """The path of a program, and the file that it loads, if it loads one and no arguments
    follow."""
    if "/" in name and not (PROGRAMS / name).exists():
        return [name]
    return [str(PROGRAMS / name), *([LOADS[name]] if alone and name in LOADS else [])]


def same_file(a, b, what=""):
    """Two files have the same bytes."""
    __tracebackhide__ = True
    first, second = Path(a).read_bytes(), Path(b).read_bytes()
    if first == second:
        return
    lines = itertools.zip_longest(first.split(b"\n"), second.split(b"\n"), fillvalue=b"(the end)")
    number, pair = next((n, pair) for n, pair in enumerate(lines, 1) if pair[0] != pair[1])
    raise AssertionError(f"{what}\n  {a} and {b} differ in line {number}:\n"
                         + "\n".join("  " + line.decode(errors="replace")[:200] for line in pair))


def same(a, b):
    """Two runs have written the same statistics, byte for byte."""
    __tracebackhide__ = True
    same_file(a.stats_file, b.stats_file,
              f"other statistics\n  {shlex.join(a.command)}\n  {shlex.join(b.command)}")


def ways(variants):
    """Each of the options alone with --full; without it all at once, and of those for one thing the
    last: what one of them changes is seen then, too. Where all code is generic, --generic is
    none."""
    variants = [variant for variant in variants if not generic or "--generic" not in variant]
    if full or len(variants) < 2:
        return variants
    chosen = {}
    for option in re.findall(r"--\S+(?: [^-\s]\S*)?", " ".join(variants)):
        chosen[re.split("[= ]", option)[0]] = option
    return [" ".join(chosen.values())]


def same_bytes(measure, text, variants, **how):
    """Runs `text` without and with `variants`, in the ways() above, in place of {}: no byte of the
    statistics changes. Returns the first run."""
    __tracebackhide__ = True
    reference = measure(text.format(""), **how)
    for variant in ways(variants):
        same(reference, measure(text.format(variant), **how))
    return reference
