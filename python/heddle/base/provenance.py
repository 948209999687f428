"""Provenance: the words, time, place and heddle that something was made with, as folders, pages and
files of results say of themselves, as statistics do in their member `host`."""
from __future__ import annotations

import os
import shlex
import sys
import time
from typing import Mapping

from heddle.base import command_line


def collect(heddle: str) -> dict[str, str]:
    return {"date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "command": shlex.join(sys.argv),
            "version": (command_line.asked(heddle, "--version") or "").removeprefix("heddle ")
            .strip(), "name": os.uname().nodename, "folder": os.getcwd()}


def lines(made: Mapping[str, str]) -> list[str]:
    """Two lines: the command, and its date and place. Fewer where they are not known."""
    version = f", heddle {made['version']}" if made.get("version") else ""
    return [*([made["command"]] if made.get("command") else []),
            *([f"{made['date']}, on {made.get('name', '?')}, in {made.get('folder', '?')}{version}"]
              if made.get("date") else [])]
