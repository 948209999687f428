#!/usr/bin/env python3
"""What it costs to watch a run: time series, profile, page. Runs with and without alternate, so
what else the machine does meets both; the medians of CPU time of the simulating process are
compared.

    tests/bench/watching.py [PAIRS [PLATFORM PROGRAM ARGUMENTS...]]

WAYS="page, open" in the environment: only ways whose names begin so."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("HEDDLE_BUILD", "build")
HEDDLE = BUILD / "codegen/heddle"
DEFAULT = ["platforms/r9nano.heddle", str(BUILD / "tests/programs/matmul_tiled"), "256"]
WAYS = {
    "series, every 10 us": ["--every", "10us", "--series", "s.csv"],
    "series, every 1000 cycles": ["--every", "1000cy", "--series", "s.csv"],
    "series, every 100 cycles": ["--every", "100cy", "--series", "s.csv"],
    "profile of instructions": ["--profile", "instructions=p.csv"],
    "page, nobody looks": ["--view"],
    "page, open": ["--view"],
}


def look(process, ended):
    """As the page does, once a second."""
    told = ""
    while "shown at" not in told:
        told = process.stderr.readline().decode()
        if not told:
            return
    while not ended.wait(1):
        try:
            urllib.request.urlopen(told.split()[-1] + "state", timeout=5).read()
        except OSError:
            return


def cpu_seconds(folder, platform, program, options, is_open):
    """Of one run, and a hash of its statistics without what depends on the host."""
    command = [HEDDLE, "run", ROOT / platform, *options, "--stats", "stats.json", "--", *program]
    ended = threading.Event()
    with subprocess.Popen(list(map(str, command)), cwd=folder, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as process:
        viewer = threading.Thread(target=look, args=(process, ended)) if is_open else None
        if viewer:
            viewer.start()
        else:
            process.stderr.read()
        status = process.wait()
        ended.set()
        if viewer:
            viewer.join()
    if status != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {status}")
    told = json.loads((Path(folder) / "stats.json").read_text())
    seconds = told.pop("host")["cpu_seconds"]
    return seconds, json.dumps(told)


def main():
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    platform, *program = sys.argv[2:] or DEFAULT
    print(f"{platform}, {Path(program[0]).name} {' '.join(program[1:])}, {pairs} pairs, "
          f"{time.strftime('%Y-%m-%d')}")
    with tempfile.TemporaryDirectory() as folder:
        for name, options in WAYS.items():
            if not name.startswith(os.environ.get("WAYS", "")):
                continue
            runs = {True: [], False: []}
            cpu_seconds(folder, platform, program, options, False)  # is compiled
            for i in range(2 * pairs):
                watched = i % 4 in (1, 2)  # each goes first in half of the pairs
                seconds, told = cpu_seconds(folder, platform, program, options if watched else [],
                                            watched and name == "page, open")
                runs[watched].append(seconds)
                if i == 0:
                    plain = told
                if told != plain:
                    sys.exit(f"{name}: the statistics differ")
            one, other = statistics.median(runs[False]), statistics.median(runs[True])
            print(f"{name:28} {one:7.3f} s without {other:7.3f} s with "
                  f"{(other / one - 1) * 100:+6.1f} %", flush=True)


if __name__ == "__main__":
    main()
