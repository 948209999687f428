"""Runs of a program, or of a list of SASS traces, for commands that compare several: `heddle run`
as a child, whose statistics are read."""
from __future__ import annotations

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
from typing import Any

from heddle.base.command_line import Options
from heddle.base.mistakes import Mistake
from heddle.statistics.model import dumped

Statistics = dict[str, Any]

# Options that a trial hands on to `heddle run`.
HANDED_ON = ("--platform", "--threads", "--play", "--set", "-I", "--generic", "--allow-incoherent",
             "--no-cache", "--allow-incomplete")


def _status_of(words: list[str]) -> int:
    """Runs a command, which gets the signals that are meant for this process, too."""
    with subprocess.Popen(words, stdout=subprocess.DEVNULL,
                          env={**os.environ, "HEDDLE_PARENT": str(os.getpid())}) as child:
        before = {number: signal.signal(number, lambda got, _: child.send_signal(got))
                  for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
        status = child.wait()
        for number, handler in before.items():
            signal.signal(number, handler)
    return status


class Trials:
    """`usage`: how the command is told what to run."""

    def __init__(self, command: str, chosen: Options, usage: str):
        if bool(chosen.program) == bool(chosen.play_sass):
            raise Mistake("either a program or '--play sass=LIST', not both" if chosen.program else
                          f"name a program or a list of traces: heddle {command} {usage} -- "
                          "PROGRAM ARGS..., or --play sass=LIST", usage=True)
        self.command, self.is_list = command, bool(chosen.play_sass)
        self.subject = chosen.play_sass or chosen.program[0]
        self.words = [chosen.heddle, "run", chosen.files[0], *chosen.again(*HANDED_ON)]
        self.program = ["--", *chosen.program] if chosen.program else []
        self.described = [chosen.heddle, chosen.files[0],
                          *chosen.again("--platform", "--set", "-I")]

    def record_instructions(self, folder: pathlib.Path) -> None:
        """A recording of a CUDA program: caches are warmed without time by traces only, so what it
        executes is recorded in the folder, and played from now on. Nothing where programs are
        AMD's."""
        if self.is_list or not any(one["type"] == "trace_player"
                                   for one in dumped(*self.described)["instances"]):
            return
        shutil.rmtree(folder, ignore_errors=True)
        status = _status_of([*self.words, "--record", f"instructions={folder}", *self.program])
        if status != 0:
            raise Mistake(f"a run of '{self.subject}' ended with status {status}")
        self.is_list, self.program = True, []
        self.words += ["--play", f"sass={folder}/kernelslist.g"]

    def run(self, *options: str) -> Statistics:
        """The program's standard output is dropped; messages of the program and the simulator on
        standard error are not. The run ends with this process (HEDDLE_PARENT)."""
        with tempfile.TemporaryDirectory(prefix="heddle-") as folder:
            file = pathlib.Path(folder) / "statistics.json"
            status = _status_of([*self.words, "--stats", str(file), *options, *self.program])
            files = list(pathlib.Path(folder).iterdir())
            if len(files) > 1:
                raise Mistake(f"several processes of '{self.subject}' use HIP; name a program that "
                              "is one process")
            if status != 0:
                raise Mistake(f"a run of '{self.subject}' ended with status {status}")
            if not files:
                raise Mistake(f"a run of '{self.subject}' wrote no statistics (does it use the "
                              "GPU?)")
            return dict(json.loads(file.read_text(encoding="utf-8")))


def launches(run: Statistics) -> dict[int, dict[str, Any]]:
    return {kernel["launch"]: kernel for kernel in run.get("kernels", [])}


def cpu_seconds(run: Statistics) -> float:
    return float(run.get("host", {}).get("cpu_seconds", 0))


def short(name: str) -> str:
    """A kernel without its parameters."""
    return name.split("(")[0]
