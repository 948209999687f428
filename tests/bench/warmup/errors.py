#!/usr/bin/env python3
"""Error and interval of samples against the share of the work in detail.

    tests/bench/warmup/errors.py HEDDLE PROGRAMS LOG [docs/evidence/generated/sampled-errors.svg]

samples four small applications of seeds.py on tiny with several values of --error, those that are
not in LOG yet, and draws a line of intervals and points of errors for each. Cycles do not depend on
the machine."""
import json
import math
import os
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), folder)
                for folder in ("../micro", "../../../python")]
import plot  # noqa: E402
from heddle.sampling.sample import in_detail  # noqa: E402
from sampled import read  # noqa: E402
from seeds import run  # noqa: E402

PROGRAMS, SEED = ["conjugate_gradients", "training", "scale_free", "transformer"], 8
ERRORS = ["10", "2", "1", "0.5", "0.2", "0.1"]
LEAST, MOST = 5, 80  # per cent in detail, the ends of the x axis


def measure(heddle, programs, program, done):
    wanted = [error for error in ERRORS if (program, error) not in done]
    if not wanted:
        return
    truth = sum(k["cycles"] for k in run(heddle, programs, program, SEED)["kernels"])
    for error in wanted:
        sample = run(heddle, programs, program, SEED,
                     "--kernels", "auto", "--error", error)["sample"]
        yield {"program": program, "aim": error, "share": in_detail(sample),
               "error": 100 * abs(sample["cycles"] / truth - 1),
               "interval": 100 * sample["interval"] / truth}


def across(share):
    width = plot.WIDTH - plot.LEFT - plot.RIGHT
    return plot.LEFT + width * math.log(max(share, LEAST) / LEAST) / math.log(MOST / LEAST)


def picture(records):
    top = plot.round_up(max(r["interval"] for r in records))
    parts = [plot.text(across(x), plot.HEIGHT - plot.BOTTOM + 18, f"{x} %")
             for x in (5, 10, 20, 50)]
    parts.append(plot.text(plot.WIDTH / 2, plot.HEIGHT - 14, "instructions in detail"))
    for colour, program in zip(plot.COLOURS, PROGRAMS):
        own = sorted((r for r in records if r["program"] == program), key=lambda r: r["share"])
        path = " ".join(f"{across(r['share']):.1f},{plot.height(r['interval'], top):.1f}"
                        for r in own)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{across(r["share"]):.1f}" cy="{plot.height(r["error"], top):.1f}" '
                  f'r="4" fill="{colour}"/>' for r in own]
    return plot.frame("Samples: intervals (lines) and errors (points)", "per cent of all cycles",
                      top, parts, PROGRAMS)


def main(arguments):
    heddle, programs, log, *figure = arguments
    records = read(log)
    done = {(r["program"], r["aim"]) for r in records}
    for program in PROGRAMS:
        for record in measure(heddle, programs, program, done):
            records.append(record)
            with open(log, "a") as file:
                file.write(json.dumps(record) + "\n")
    for r in records:
        print("{program:20} {aim:>5} {share:6.1f} % {error:6.2f} % {interval:6.2f} %".format(**r))
    for path in figure:
        with open(path, "w") as file:
            file.write(picture(records))


if __name__ == "__main__":
    main(sys.argv[1:])
