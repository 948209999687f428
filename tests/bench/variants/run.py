#!/usr/bin/python3
"""Writes the table of docs/evidence/variants.md: can a simulator choose the fastest of 200 forms of
a kernel?

run.py HEDDLE [--folder DIR] [--jobs N]

A machine stands for the card: `heddle sweep` measures the forms on it (NAME-card.toml). `heddle
calibrate --variants` compares other machines with its table. What is done stays in DIR (default
build/variants)."""
import argparse
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "python"))
from heddle.base.toml import load  # noqa: E402

PAGE = ROOT / "docs/evidence/variants.md"
# All that is fitted, at twice the time or half the room.
SLOWER = ("gpu.xcd.cp.kernel_overhead=1400cy", "gpu.xcd.sa.cu.branch_latency=40cy",
          "gpu.xcd.sa.cu.lds_write_delay=88cy", "gpu.xcd.sa.cu.lds_write_hold=136cy",
          "gpu.xcd.sa.cu.fetch_latency=52cy", "gpu.xcd.l2.mshrs=38",
          "gpu.hbm.timing.controller=274ns")
MACHINES = {"mi210, all that is fitted doubled": ("mi210", SLOWER), "mi300x": ("mi300x", ())}
KERNELS = ("stencil", "matmul")


def call(*command):
    print(*command, file=sys.stderr)
    return subprocess.run([str(word) for word in command], cwd=ROOT, check=True,
                          stdout=subprocess.PIPE, text=True).stdout


def description(kernel, platform, sets, card):
    """The table of the card's sweep as a table for calibrate."""
    command = load(ROOT / f"tests/bench/variants/{kernel}-card.toml")["programs"][kernel]["command"]
    return (f'title = "{kernel}"\nplatform = "platforms/{platform}.heddle"\nset = {list(sets)}\n'
            f'[table]\nfile = "{card}/points.csv"\nvalue = "kernels_ps"\nunit = "ps"\n'
            f'where = {{ state = "done" }}\n[labels.{kernel}]\ncommand = {command}\n')


def row(arguments, kernel, machine):
    folder = pathlib.Path(arguments.folder).resolve()
    platform, sets = MACHINES[machine]
    path = folder / f"{kernel}-{platform}.toml"
    path.write_text(description(kernel, platform, sets, folder / f"{kernel}-card"),
                    encoding="utf-8")
    told = call(arguments.heddle, "calibrate", path, "--variants", "-o", path.with_suffix(""),
                "--jobs", arguments.jobs)
    found = re.search(r"^## Variants\n\n(.*)\n.*\n(.*)\n", told, re.MULTILINE)
    return found[1], found[2].replace(f"| {kernel} |", f"| {kernel} | {machine} |", 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("heddle")
    parser.add_argument("--folder", default="build/variants")
    parser.add_argument("--jobs", default=os.cpu_count())
    arguments = parser.parse_args()
    call("ninja", "-C", "build", "tests/programs/variants.cdna")
    rows = []
    for kernel in KERNELS:
        call(arguments.heddle, "sweep", f"tests/bench/variants/{kernel}-card.toml", "-o",
             pathlib.Path(arguments.folder) / f"{kernel}-card", "--jobs", arguments.jobs)
        for machine in MACHINES:
            head, line = row(arguments, kernel, machine)
            rows.append(line)
    head = head.replace("| label |", "| kernel | machine |", 1)
    rule = re.sub(r"[^|]+", " --- ", head)
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(re.sub(r"^\| kernel \|.*?\n(?!\|)",
                           lambda _: "\n".join([head, rule, *rows]) + "\n", page, count=1,
                           flags=re.MULTILINE | re.DOTALL), encoding="utf-8")


main()
