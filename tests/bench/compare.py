#!/usr/bin/env python3
"""Two trees, side by side: the programs of ./dev bench on each in turn, so what else the machine
does meets both. CPU seconds of the simulating process, start-up included.

    tests/bench/compare.py OLD [--runs N] [--platform NAME[,NAME]] [--functional] [--without-keys]
                           [PROGRAM...]

OLD is another checkout that has been built (git worktree add ../old COMMIT), of which NAME is the
platform; with two names the second is that of this tree. A PROGRAM is one of those of ./dev bench
with its arguments, in quotes. --without-keys has the system refuse keys for pages, as on processors
that have none. Prints for each the medians, the median of the ratios of pairs, the
ratio of the least times, page faults, and whether both have the same statistics, apart from what
depends on the host; the last line has the geometric means. Short programs have three times as many
runs."""
import argparse
import ctypes
import json
import math
import os
import resource
import statistics
import struct
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = (ROOT / "tests/bench/programs.txt").read_text().splitlines()
SHORT = {"transpose", "reduction", "histogram", "stencil"}


def refuse_keys():
    """A filter of seccomp, which programs inherit: pkey_alloc() of x86-64 fails by ENOSPC."""
    load, equal, give, number = 0x20, 0x15, 0x06, 330
    code = [(load, 0, 0, 0), (equal, 0, 1, number), (give, 0, 0, 0x50000 | 28),
            (give, 0, 0, 0x7fff0000)]
    text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
    program = ctypes.create_string_buffer(struct.pack("H6xQ", len(code), ctypes.addressof(text)))
    libc, no_new_privileges, set_seccomp, filters = ctypes.CDLL(None), 38, 22, 2
    if libc.prctl(no_new_privileges, 1, 0, 0, 0) or libc.prctl(set_seccomp, filters, program):
        raise SystemExit("compare.py: the system takes no filter, so keys cannot be refused")


class Tree:
    def __init__(self, root, platform, scratch, options):
        self.root = Path(root).resolve()
        self.platform = f"platforms/{platform}.heddle"
        self.heddle = self.root / "build/codegen/heddle"
        self.statistics = scratch / f"{len(list(scratch.iterdir()))}.json"
        self.statistics.touch()
        self.options = options
        self.seconds, self.faults, self.text = [], 0, ""
        if not self.heddle.exists():
            raise SystemExit(f"compare.py: '{self.root}' has no build/codegen/heddle; run "
                             "./dev build there")
        self.call("build", self.platform)

    def call(self, *words):
        """A command of this tree's heddle, which must succeed."""
        done = subprocess.run([self.heddle, *words], cwd=self.root, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, errors="replace")
        if done.returncode:
            raise SystemExit(f"{done.stderr}compare.py: 'heddle {' '.join(map(str, words))}' in "
                             f"'{self.root}' failed")

    def run(self, program):
        name, *arguments = program.split()
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
        self.call("run", self.platform, "--stats", self.statistics, *self.options, "--",
                  ROOT / "build/tests/programs" / name, *arguments)
        self.faults = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt - before
        told = json.loads(self.statistics.read_text())
        self.seconds.append(told.pop("host")["cpu_seconds"])
        self.text = json.dumps(told, sort_keys=True)


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", metavar="OLD")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--platform", default="r9nano")
    parser.add_argument("--functional", action="store_true")
    parser.add_argument("--without-keys", action="store_true")
    parser.add_argument("programs", nargs="*", default=PROGRAMS, metavar="PROGRAM")
    args = parser.parse_intermixed_args()
    if args.without_keys:
        refuse_keys()
    platforms = args.platform.split(",")
    options = ["--mode", "functional"] if args.functional else []
    os.environ.pop("HEDDLE_CACHE", None)  # each tree compiles for itself
    with tempfile.TemporaryDirectory() as scratch:
        trees = [Tree(root, platform, Path(scratch), options)
                 for root, platform in ((args.old, platforms[0]), (ROOT, platforms[-1]))]
        old, new = trees
        print("| program | old, s | new, s | ratio | of least | faults, old | new | statistics |\n"
              "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |", flush=True)
        ratios, least = [], []
        for program in args.programs:
            old.seconds, new.seconds = [], []
            for _ in range(args.runs * (3 if program.split()[0] in SHORT else 1)):
                for tree in trees:
                    tree.run(program)
            ratios.append(statistics.median(b / a for a, b in zip(old.seconds, new.seconds)))
            least.append(min(new.seconds) / min(old.seconds))
            print(f"| {program} | {statistics.median(old.seconds):.3f} "
                  f"| {statistics.median(new.seconds):.3f} | {ratios[-1]:.3f} | {least[-1]:.3f} "
                  f"| {old.faults} | {new.faults} "
                  f"| {'same' if old.text == new.text else 'differ'} |", flush=True)
        print(f"| geometric mean | | | {geometric_mean(ratios):.3f} | {geometric_mean(least):.3f} "
              "| | | |")


if __name__ == "__main__":
    main()
