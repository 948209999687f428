"""Engines that start workers: ninja on this machine, Snakemake also on a cluster.

An engine gets batches of points and files that say what is to be done with them: `build.ninja` or
`Snakefile` in the folder of the sweep. A batch has many points because starting a worker costs as
much as a small point. Batches become smaller towards the end, so that all processors end together;
where points are few they have one each.
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

WORKER = pathlib.Path(__file__).with_name("worker.py")
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


def worker_words() -> list[str]:
    """-S, -E: neither site packages nor the user's variables are needed, and each costs time."""
    return [sys.executable, "-S", "-E", "-P", "-B", str(WORKER.resolve())]


def _shell(words: Sequence[str]) -> str:
    return " ".join(map(shlex.quote, words))


def write_ninja(folder: pathlib.Path, batches: Sequence[Batch], jobs: int) -> pathlib.Path:
    """A build that fails is no failure here: the points that need it fail, and say why."""
    builds = sorted({build for batch in batches for build in batch.builds})
    each = max(1, jobs // max(len(builds), 1))
    told = ["# Written by heddle sweep, which collects what `ninja -k 0` runs.",
            "ninja_required_version = 1.8",
            "rule batch",
            f"  command = exec {_shell(worker_words()).replace('$', '$$')} $in $$PPID",
            "rule build",
            f"  command = $words --jobs {each} >$out.log 2>&1; touch $out", ""]
    stamps = {}
    for i, words in enumerate(builds):
        stamps[words] = f"work/{_session(batches)}/platform-{i}.built"
        told += [f"build {stamps[words]}: build",
                 f"  words = {_shell(words).replace('$', '$$')}"]
    for batch in batches:
        path = f"work/{batch.name}.json"
        needs = " ".join(sorted(stamps[words] for words in batch.builds))
        told.append(f"build {path}.done: batch {path}" + (f" | {needs}" if needs else ""))
    target = folder / "build.ninja"
    target.write_text("\n".join(told) + "\n", encoding="utf-8")
    return target


def _session(batches: Sequence[Batch]) -> str:
    return batches[0].name.split("/")[0]


def write_snakefile(folder: pathlib.Path, batches: Sequence[Batch]) -> pathlib.Path:
    builds = sorted({build for batch in batches for build in batch.builds})
    session = _session(batches)
    of_batch = {batch.name.split("/")[1]: sorted(builds.index(words) for words in batch.builds)
                for batch in batches}
    target = folder / "Snakefile"
    target.write_text(f'''# Written by heddle sweep, which collects what it runs.
BUILDS = {json.dumps([_shell(words) for words in builds])}
NEEDS = {json.dumps(of_batch)}

rule all:
    input: expand("work/{session}/{{batch}}.json.done", batch=NEEDS)

rule build:
    output: "work/{session}/platform-{{number}}.built"
    params: words=lambda wildcards: BUILDS[int(wildcards.number)]
    shell: "{{params.words}} >{{output}}.log 2>&1; touch {{output}}"

rule batch:
    input:
        json="work/{session}/{{batch}}.json",
        built=lambda wildcards: [f"work/{session}/platform-{{n}}.built"
                                 for n in NEEDS[wildcards.batch]]
    output: "work/{session}/{{batch}}.json.done"
    params: worker={json.dumps(_shell(worker_words()))}
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
            write_snakefile(self.folder, batches)
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
    return kept


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
