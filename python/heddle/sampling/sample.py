"""What `heddle run --kernels auto` and `--mode sampled` print: the cycles of all kernels of a
program, or of a list of SASS traces, from a few that are simulated. The run itself chooses and
estimates (components/sampling/stratified_sampler.h says how)."""
from __future__ import annotations

from typing import Any

from heddle.sampling.child_runs import Statistics, cpu_seconds, launches, short
from heddle.statistics.statistics_file import is_whole

Record = dict[str, Any]


def percent(part: float, whole: float) -> float:
    return 100 * part / whole if whole else 0


def head(launches_word: str, simulated: str) -> str:
    return f"{launches_word:>8} {simulated:>9} {'cycles':>14} {'+-':>9}  kernel"


def estimate(sample: Record, record: Record) -> str:
    return (f"{sample['cycles']:14.0f} {percent(sample['interval'], sample['cycles']):7.2f} %  "
            f"{short(record['name'])}")


def kernels(run: Statistics, sample: Record) -> list[str]:
    records = launches(run)
    return [head("launches", "simulated"),
            *(f"{k['launches']:8} {k['simulated']:9} {estimate(k, records[k['first_launch']])}"
              for k in sample["kernels"])]


def cut(run: Statistics, sample: Record) -> list[str]:
    """Launches of which some is in detail."""
    records, parts = launches(run), sample.get("in_parts", [])
    detail = [percent(part["detailed_wavefront_instructions"], part["wavefront_instructions"])
              for part in parts]
    lines = [f"{part['launch']:8} {share:7.2f} % {estimate(part, records[part['launch']])}"
             for part, share in zip(parts, detail)]
    return [head("launch", "in detail"), *lines] if lines else []


def uncut(sample: Record) -> list[str]:
    """Launches of which nothing could be left out."""
    parts = sample.get("in_parts", [])
    number = sum(part["detailed_work_groups"] == part["work_groups"] for part in parts)
    return [f"{number} of {len(parts)} simulated launches have too few generations of work-groups "
            "to be cut, and were simulated whole"] if number else []


def totals(run: Statistics, sample: Record) -> list[str]:
    cycles, rate = sample["cycles"], sample["cycles_per_instruction"]
    traffic = "; ".join(
        f"{sample['memory'][which]['bytes']:.0f} bytes {which}, +- "
        f"{percent(sample['memory'][which]['interval'], sample['memory'][which]['bytes']):.2f} %"
        for which in ("read", "written"))
    return [
        f"{sample['count']} launches in {len(sample['groups'])} groups, {sample['simulated']} "
        f"simulated, {sample['touched']} more warmed caches up",
        f"predicted: {cycles:.0f} cycles, +- {sample['interval']:.0f} "
        f"({percent(sample['interval'], cycles):.2f} %) at 95 %, of which the warm-up "
        f"{percent(sample['warmup_bias'], cycles):.2f} %, a trend "
        f"{percent(sample['trend'], cycles):.2f} %, {cpu_seconds(run):.3f} CPU seconds",
        f"memory: {traffic}; {rate['cycles']:.4f} cycles an instruction, +- {rate['interval']:.4f}"]


def in_detail(sample: Record) -> float:
    """Per cent of the instructions; of a list, of the bytes of its traces."""
    sizes = [(text[0] == "d", int(text.split()[2])) for text in sample["launches"]]
    left_out = sum(part["wavefront_instructions"] - part["detailed_wavefront_instructions"]
                   for part in sample.get("in_parts", []))
    return percent(sum(size for detailed, size in sizes if detailed) - left_out,
                   sum(size for _, size in sizes))


def narrower(run: Statistics, sample: Record) -> str:
    """What halves the part of the interval that launches tell: four times as much in detail."""
    least, share, seconds = sample["least_interval"], in_detail(sample), cpu_seconds(run)
    rest = (sample["interval"] - least) / 2
    if rest < least / 10 or 4 * share > 100:
        return (f"narrower: only without sampling; {percent(least, sample['cycles']):.2f} % does "
                f"not depend on how much is in detail, the rest on {share:.2g} % that is")
    return (f"narrower: --error {percent(rest, sample['cycles']):.2g}% or less; "
            f"{percent(least + rest, sample['cycles']):.2f} % needs about {4 * share:.2g} % of the "
            f"work in detail (now {share:.2g} %), at most {4 * seconds:.2g} CPU seconds")


def lines(run: Statistics) -> list[str]:
    sample = run["sample"]
    if is_whole(sample):
        return [f"{sample['count']} launches, all simulated whole: {sample['cycles']:.0f} cycles, "
                f"{cpu_seconds(run):.3f} CPU seconds", *uncut(sample)]
    return [*kernels(run, sample), *cut(run, sample), *uncut(sample), *totals(run, sample),
            narrower(run, sample)]
