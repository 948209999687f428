#!/usr/bin/env python3
"""Records programs and plays the traces on the same platform: cycles of all kernels, executed and
played.

run.py BUILD [DOCUMENT]: prints the table, and writes it between the marks of DOCUMENT
(docs/evidence/playing.md). Needs about 5 minutes.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAMS = ("vectoradd saxpy matmul matmul_tiled transpose reduction histogram stencil nbody bfs "
            "spmv scan dct8x8 ocean kmeans radix_sort floyd_warshall fft scratch").split()
PLATFORMS = ("tiny", "r9nano")
MARKS = ("<!-- table of tests/bench/play/run.py -->", "<!-- end of table -->")


def run(heddle, platform, stats, *arguments):
    command = [heddle, "run", f"platforms/{platform}.heddle", "--stats", str(stats),
               "--stats-no-host", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return json.loads(stats.read_text())


def without_program(statistics):
    """Everything but the hash of what ran, which is the player's."""
    return re.sub(r'"program": "[0-9a-f]*"', "", json.dumps(statistics))


def row(build, platform, program, folder):
    heddle, trace = build / "codegen/heddle", folder / f"{platform}-{program}"
    executed = run(heddle, platform, folder / "executed.json", "--record", f"instructions={trace}",
                   "--", build / "tests/programs" / program)
    played = run(heddle, platform, folder / "played.json", "--no-cache", "--play",
                 f"instructions={trace}")
    cycles = [[kernel["cycles"] for kernel in s["kernels"]] for s in (executed, played)]
    worst = max(abs(a - b) / a for a, b in zip(*cycles))
    instructions = sum(kernel["wavefront_instructions"] for kernel in executed["kernels"])
    size = sum(file.stat().st_size for file in trace.iterdir())
    equal = "yes" if without_program(executed) == without_program(played) else "no"
    return (f"| {platform} | {program} | {len(cycles[0])} | {sum(cycles[0]):,} | "
            f"{sum(cycles[1]):,} | {100 * worst:.2f} % | {equal} | {instructions:,} | "
            f"{8 * size / instructions:.1f} |")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    lines = ["| platform | program | kernels | cycles, executed | played | worst kernel | "
             "statistics equal | wavefront instructions | bits of trace for each |",
             "| --- | --- | ---: | ---: | ---: | ---: | --- | ---: | ---: |"]
    with tempfile.TemporaryDirectory() as folder:
        for platform in PLATFORMS:
            for program in PROGRAMS:
                lines.append(row(build, platform, program, pathlib.Path(folder)))
                print(lines[-1], flush=True)
    if len(sys.argv) > 2:
        document = pathlib.Path(sys.argv[2])
        before, rest = document.read_text().split(MARKS[0])
        document.write_text(before + MARKS[0] + "\n" + "\n".join(lines) + "\n" + MARKS[1]
                            + rest.split(MARKS[1])[1])


main()
