#!/usr/bin/python3
"""Writes into by_cause.md how far MI300A's labels are off with each cause of error back, alone.

causes.py HEDDLE [--only CAUSES] [--folder DIR]

A cause that a setting brings back is one of CAUSES: what is on the machine today, and the settings
of the machine before. Each runs the same POINTS, a few of each label, by `heddle calibrate`, which
keeps what is done in DIR/CAUSE (default build/causes): a call runs only what a changed platform or
program affects, and the tables are those of all causes that have been run. No parameter is fitted
again, so a row says what the change does to this machine, not how good one without it could be.
run.py makes the page of by_cause.md afterwards.
"""
import argparse
import dataclasses
import pathlib

import run
from run import ROOT, compare, prose

PAGE = ROOT / "tests/bench/accuracy/by_cause.md"
POINTS = {
    "vectoradd": (1024, 262144, 1048576), "memcopy_h2d": (1, 16, 32), "memcopy_d2h": (1, 16, 32),
    "memcopy_d2d": (1, 4, 16, 32), "matrixtranspose": (192, 1024, 1536),
    "fastwalshtransform": (512, 4096, 32768, 65536), "atax": (48, 128, 256, 512),
    "pagerank": (64, 512, 1024), "stencil2d": (64, 512, 1024),
    "matrixmultiplication": (32, 96, 192), "nbody": (256, 768, 1536)}


@dataclasses.dataclass(frozen=True)
class Cause:
    """A change, the settings of the machine before it, and the page that has its reason."""

    name: str
    change: str
    before: str
    place: str


def below(component, settings):
    return " ".join(f"{component}.{setting}" for setting in settings.split())


QUEUES = "queues=true driver.launch_by=queue"
CAUSES = (
    Cause("as_it_is", "**nothing**", "", ""),
    Cause("driver_launch", "the driver launches, no user queue", QUEUES,
          "[here](#time-between-launches)"),
    Cause("l2_lines", "that, and L2s keep lines, instruction caches code",
          f"{QUEUES} driver.acquire=system", "[here](#what-the-l2s-keep-between-launches)"),
    Cause("event_fence", "events have fences", "driver.event_fence=none", "[here](#events)"),
    Cause("write_back", "L2s write back at a launch's end", "driver.release=none",
          "`docs/design/amd.md`"),
    Cause("packet", "packet and arguments in one copy", "driver.staging=separate",
          "[here](#time-between-launches)"),
    Cause("dispatch", "dispatch as measured, not as on GCN",
          below("gpu.xcd.cp", "dispatch_cost_small=400 dispatch_cost_per_wavefront=103"),
          "[here](#time-between-launches)"),
    Cause("code_kept", "code stays in the instruction caches",
          "gpu.xcd.cp.code_kept=false gpu.xcd.sa.code_kept=false",
          "`docs/design/amd.md`"),
    Cause("host_calls", "events and waits take the host time",
          below("driver", "event_cost=0ns record_cost=0ns wait_cost=0ns"),
          "[here](#time-between-launches)"),
    Cause("copy_setup", "copies are set up, and staged or pinned",
          below("driver", "copy_setup=0ns read_setup=0ns staged=0B staged_read=0B pin_page=0ns "
                "blit_setup=0ns"), "`platforms/mi300a.heddle`"),
    Cause("copy_waits", "no wait for copies inside of a GPU",
          "driver.stream_rules.copy_waits=true", "`platforms/mi300a.heddle`"),
    Cause("copy_lines", "copies have as many lines as the L2s", "gpu.dma.lines=16384",
          "[here](#what-infinity-cache-keeps)"),
    Cause("fragments", "TLBs hold fragments of 2 MiB", "driver.fragment=4KiB",
          "`docs/evidence/memory-path.md`"),
    Cause("walkers", "each die has page walkers of its own", "mmu.walkers=16",
          "`docs/evidence/variants.md`"),
    Cause("tags", "four tag RAMs an L1", "gpu.xcd.sa.l1v.tags=1 "
          + below("gpu.xcd.sa.cu", "vmem_tags=1 vmem_line=64B"),
          "`docs/evidence/memory-path.md`"),
    Cause("lds", "ports of the LDS, and late writes",
          below("gpu.xcd.sa.cu", "lds_ports=0 lds_write_cycles=1 lds_write_delay=0cy "
                "lds_write_hold=0cy"), "`docs/design/amd.md`"),
    Cause("issue_order", "the oldest wavefront issues first",
          "gpu.xcd.sa.cu.issue_order=turns", "`docs/design/amd.md`"),
    Cause("below_l2", "an L2 channel's way below is one for both directions",
          "gpu.xcd.l2.below_interval=1cy", "`components/amd/cdna/cdna.heddle`"),
    Cause("infinity_cache", "Infinity Cache is in front of the memory", "gpu.io.hbm.front=none",
          "[here](#what-infinity-cache-keeps)"),
    Cause("refresh", "banks are refreshed in turn",
          below("gpu.io.hbm.timing", "refresh=all trfc=60ns"),
          "`docs/evidence/memory-path.md`"),
    Cause("banks", "memory has banks and rows",
          below("gpu.io.hbm.timing", "trcd_read=0ns trcd_write=0ns tcl=0ns tcwl=0ns trp=100ps "
                "tras=0ns trc=100ps trtp=0ns twr=0ns twtr_s=0ns twtr_l=0ns trtw=0ns trrd_s=100ps "
                "trrd_l=100ps tfaw=100ps trfc=0ns controller=185ns"),
          "`docs/design/memory.md`"),
    Cause("types", "lines by the type of the page",
          below("gpu.xcd.l2", "fine=through fine_elsewhere=uncached"), "[here](#types-of-memory)"))


def simulate(arguments, cause):
    """The points with the settings of a cause."""
    words = [word for setting in cause.before.split() for word in ("--set", setting)]
    wanted = {("mi300a", label, f"{label} {size}")
              for label, sizes in POINTS.items() for size in sizes}
    rows = run.simulate(argparse.Namespace(
        heddle=arguments.heddle, folder=arguments.folder / cause.name, only=["mi300a"], jobs=1,
        limit=300, assemble=arguments.only is not None and cause.name not in arguments.only),
        "mi300a", wanted, *words)
    return [run.compared(row, 0.0) for row in rows]


def mean(points):
    return f"{100 * compare.errors_of(points).mean:.1f}"


def table(found):
    lines = ["| taken back | " + " | ".join(POINTS) + " | **all** |",
             "| --- |" + " ---: |" * (len(POINTS) + 1)]
    for cause, points in found.items():
        by_label = compare.by_label(points)
        cells = [mean(by_label[label]) for label in POINTS]
        lines.append(f"| {cause.change} | {' | '.join(cells)} | {mean(points)} |")
    return lines


def settings(found):
    lines = ["| taken back | settings | its reason |", "| --- | --- | --- |"]
    return [*lines, *(f"| {cause.change} | `{cause.before}` | {cause.place} |"
                      for cause in found if cause.before)]


def main():
    parser = argparse.ArgumentParser(description="MI300A's labels with each cause of error back")
    parser.add_argument("heddle")
    parser.add_argument("--only", metavar="CAUSES", type=lambda text: text.split(","))
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/causes")
    arguments = parser.parse_args()
    arguments.heddle = str(pathlib.Path(arguments.heddle).resolve())
    arguments.folder = arguments.folder.resolve()
    found = {cause: simulate(arguments, cause) for cause in CAUSES}
    found = {cause: points for cause, points in found.items() if points}
    sizes = "; ".join(f"{label} {', '.join(map(str, of_label))}"
                      for label, of_label in POINTS.items())
    text = PAGE.read_text(encoding="utf-8")
    points = [f"The points, with `{run.commit_now()}`: {sizes}."]
    for name, lines in (("points", points), ("labels", table(found)),
                        ("settings", settings(found))):
        text = prose.put(text, name, [prose.wrap(line) for line in lines])
    PAGE.write_text(text, encoding="utf-8")


main()
