#!/usr/bin/env python3
"""What `heddle run --check` costs: the programs of ./dev bench in functional mode, with and without
checks in turn, so what else the machine does meets all; the medians of CPU time of the simulating
process, and whether the statistics are the same bytes.

    tests/bench/checks.py [ROUNDS [PLATFORM [PROGRAM...]]]

A PROGRAM is a file with its arguments, in quotes."""
import json
import statistics
import sys
import tempfile


from watching import BUILD, ROOT, cpu_seconds

CHECKS = ["races", "uninitialised", "all"]
PROGRAMS = [f"{BUILD}/tests/programs/{line}"
            for line in (ROOT / "tests/bench/programs.txt").read_text().splitlines()]


def simulated(told):
    found = json.loads(told)
    found.pop("findings", None)
    return found


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    platform = sys.argv[2] if len(sys.argv) > 2 else "platforms/r9nano.heddle"
    print(f"{platform}, {rounds} rounds\n\n| program | without | {' | '.join(CHECKS)} |")
    print("| --- |" + " ---: |" * (1 + len(CHECKS)))
    with tempfile.TemporaryDirectory() as folder:
        for program in sys.argv[3:] or PROGRAMS:
            seconds = {check: [] for check in [None, *CHECKS]}
            for _ in range(rounds):
                for check, taken in seconds.items():
                    options = ["--mode", "functional", *(["--check", check] if check else [])]
                    cpu, told = cpu_seconds(folder, platform, program.split(), options, False)
                    taken.append(cpu)
                    if not check:
                        plain = simulated(told)
                    elif simulated(told) != plain:
                        sys.exit(f"{program}, --check {check}: the statistics differ")
            medians = [statistics.median(taken) for taken in seconds.values()]
            print(f"| {program.rpartition('/')[2]} | {medians[0]:.3f} | "
                  + " | ".join(f"{m:.3f} ({m / medians[0]:.1f})" for m in medians[1:]) + " |",
                  flush=True)


main()
