"""Engines that start workers: ninja on this machine, Snakemake also on a cluster.

An engine gets batches of points and files that say what is to be done with them: `build.ninja` or
`Snakefile` in the folder of the sweep. Both name files of JSON and nothing that a user has written;
paths of this installation reach ninja by the environment. A batch has many points because starting
a worker costs as much as a small point. Batches become smaller towards the end, so that all
processors end together; where points are few they have one each.
"""
from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
from typing import Any, Sequence

from heddle.mistakes import Mistake

WORKER = pathlib.Path(__file__).with_name("worker.py").resolve()
BUILDER = WORKER.with_name("builder.py")
ENGINES = {"ninja": "ninja-build", "snakemake": "snakemake"}  # and Debian's packages
ALIVE = '[ "$PPID" = "$0" ] && exec "$@"'  # we may have ended before we could be watched
SMALLEST = 8  # a batch has at least this part of what each processor has to do


@dataclasses.dataclass
class Batch:
    """`builds`: command lines that build the platforms of its points."""

    name: str
    points: list[dict[str, Any]]
    builds: set[tuple[str, ...]]


def cut(count: int, jobs: int) -> list[int]:
    """How many points each batch has: half of what is left for each processor, at least a small
    part of all."""
    least = max(1, count // (jobs * SMALLEST))
    sizes = []
    while count:
        sizes.append(min(count, max(least, count // (2 * jobs))))
        count -= sizes[-1]
    return sizes


# Neither site packages nor the user's variables are needed, and each costs time.
INTERPRETER = "-S -E -P -B"


def _session(batches: Sequence[Batch]) -> str:
    return batches[0].name.split("/")[0]


def _write_builds(folder: pathlib.Path, batches: Sequence[Batch],
                  jobs: int) -> dict[tuple[str, ...], str]:
    """A file with the words of each build; their names without the ending, by the words."""
    builds = sorted({build for batch in batches for build in batch.builds})
    each = max(1, jobs // max(len(builds), 1))
    names = {}
    for i, words in enumerate(builds):
        names[words] = f"work/{_session(batches)}/platform-{i}"
        (folder / f"{names[words]}.json").write_text(json.dumps([*words, "--jobs", str(each)]),
                                                     encoding="utf-8")
    return names


def write_ninja(folder: pathlib.Path, batches: Sequence[Batch], jobs: int) -> pathlib.Path:
    """A build that fails is no failure here: the points that need it fail, and say why."""
    names = _write_builds(folder, batches, jobs)
    told = ["# Written by heddle sweep, which collects what `ninja -k 0` runs.",
            "ninja_required_version = 1.8",
            "rule batch",
            f'  command = exec "$$SWEEP_PYTHON" {INTERPRETER} "$$SWEEP_WORKER" $in $$PPID',
            "rule build",
            f'  command = exec "$$SWEEP_PYTHON" {INTERPRETER} "$$SWEEP_BUILDER" $in $out', ""]
    told += [f"build {name}.built: build {name}.json" for name in names.values()]
    for batch in batches:
        path = f"work/{batch.name}.json"
        needs = " ".join(sorted(f"{names[words]}.built" for words in batch.builds))
        told.append(f"build {path}.done: batch {path}" + (f" | {needs}" if needs else ""))
    target = folder / "build.ninja"
    target.write_text("\n".join(told) + "\n", encoding="utf-8")
    return target


def _shell(script: pathlib.Path) -> str:
    """Of a Python script in a Snakefile: words of the shell in a literal of Python."""
    return json.dumps(f"{shlex.quote(sys.executable)} {INTERPRETER} {shlex.quote(str(script))}")


def write_snakefile(folder: pathlib.Path, batches: Sequence[Batch], jobs: int) -> pathlib.Path:
    names = _write_builds(folder, batches, jobs)
    needs = {batch.name.split("/")[1]: sorted(f"{names[words]}.built" for words in batch.builds)
             for batch in batches}
    work = f"work/{_session(batches)}"
    target = folder / "Snakefile"
    target.write_text(f'''# Written by heddle sweep, which collects what it runs.
NEEDS = {json.dumps(needs)}

rule all:
    input: expand("{work}/{{batch}}.json.done", batch=NEEDS)

rule build:
    input: "{work}/platform-{{number}}.json"
    output: "{work}/platform-{{number}}.built"
    params: builder={_shell(BUILDER)}
    shell: "exec {{params.builder}} {{input}} {{output}}"

rule batch:
    input:
        json="{work}/{{batch}}.json",
        built=lambda wildcards: NEEDS[wildcards.batch]
    output: "{work}/{{batch}}.json.done"
    params: worker={_shell(WORKER)}
    shell: "exec {{params.worker}} {{input.json}}"
''', encoding="utf-8")
    return target


class Engine:
    """A running one. `given`: what the user wrote, such as `snakemake --slurm`."""

    def __init__(self, given: str, folder: pathlib.Path, jobs: int):
        self.words = shlex.split(given)
        self.folder, self.jobs = folder, jobs
        name = self.words[0] if self.words else ""
        if name not in ENGINES:
            raise Mistake(f"'--engine {given}' is not one of {', '.join(ENGINES)}", usage=True)
        found = shutil.which(name)
        if not found:
            raise Mistake(f"'{name}' is not there; install the Debian package {ENGINES[name]}")
        self.name, self.program = name, found
        self.log = folder / "engine.log"

    def start(self, batches: Sequence[Batch]) -> subprocess.Popen[bytes]:
        """It ends when we do, whatever ends us."""
        if self.name == "ninja":
            write_ninja(self.folder, batches, self.jobs)
            words = [self.program, "-C", str(self.folder), "-j", str(self.jobs), "-k", "0"]
        else:
            write_snakefile(self.folder, batches, self.jobs)
            words = [self.program, "--snakefile", "Snakefile", "--directory", ".", "--nolock",
                     "--keep-going", "--cores", str(self.jobs)]
        try:
            with open(self.log, "wb") as log:
                return subprocess.Popen(
                    ["setpriv", "--pdeathsig", "KILL", "sh", "-c", ALIVE, str(os.getpid()),
                     *words, *self.words[1:]],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                    cwd=self.folder if self.name == "snakemake" else None, env=environment())
        except OSError as error:
            raise Mistake(f"cannot start '{self.program}': {error.strerror}") from None

    def complaint(self) -> str:
        """What it said at last."""
        text = self.log.read_text(encoding="utf-8", errors="replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        marked = [line for line in lines if line.startswith("cannot ") or "rror" in line]
        return (marked or lines or ["it said nothing"])[-1]


def environment() -> dict[str, str]:
    """Ninja's status line is for terminals, and ours is better. PYTHONPATH has our package, which
    Snakemake must not take for one of its own."""
    kept = {name: value for name, value in os.environ.items()
            if name not in ("NINJA_STATUS", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE")}
    return {**kept, "SWEEP_PYTHON": sys.executable, "SWEEP_WORKER": str(WORKER),
            "SWEEP_BUILDER": str(BUILDER)}


def end(process: subprocess.Popen[bytes]) -> None:
    """With all that it has started."""
    try:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=2)
    except (ProcessLookupError, subprocess.TimeoutExpired):
        pass
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
