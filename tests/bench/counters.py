#!/usr/bin/python3
"""Writes the table of docs/evidence/counters.md: counters of a copy kernel on an MI200 beside those
of mi210 and mi300x.

counters.py HEDDLE [--folder DIR] [--assemble]

Runs stay in DIR (default build/counters); --assemble makes the table from what is there. A row that
differs without a reason ends it with status 1."""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
from heddle.counters import card, report  # noqa: E402
from heddle.statistics.statistics_file import read  # noqa: E402

MACHINES = ("mi210", "mi300x")
PROGRAM = "build/tests/programs/vcopy.cdna"
MEASURED = "docs/evidence/measured/mi200-vcopy.csv"
PAGE = "docs/evidence/counters.md"
# What an MI300X does in another way than the card that was measured.
OTHER_CARD = {
    "SQ_INSTS": "Code of gfx942, which adds 64 bits in one instruction.",
    "SQ_INSTS_VALU": "As SQ_INSTS.", "SQ_ACTIVE_INST_ANY": "As SQ_INSTS.",
    "SQ_ACTIVE_INST_VALU": "As SQ_INSTS.", "SQ_THREAD_CYCLES_VALU": "As SQ_INSTS.",
    "TCP_TCC_READ_REQ": "Lines of its L1 have 128 bytes, those of an MI200 64.",
    "TCP_TCC_WRITE_REQ": "As TCP_TCC_READ_REQ.", "TCC_WRITE": "As TCP_TCC_READ_REQ.",
    "SQC_DCACHE_MISSES": "It has three times as many scalar caches.",
    "SQC_TC_DATA_READ_REQ": "As SQC_DCACHE_MISSES.",
    "SQC_ICACHE_MISSES": "It has three times as many instruction caches.",
    "SQC_TC_INST_REQ": "As SQC_ICACHE_MISSES.", "SQC_TC_REQ": "As SQC_ICACHE_MISSES.",
}


def run(arguments, machine):
    folder = pathlib.Path(arguments.folder)
    folder.mkdir(parents=True, exist_ok=True)
    stats, profile = folder / f"{machine}.json", folder / f"{machine}.csv"
    if not arguments.assemble:
        subprocess.run([arguments.heddle, "run", f"platforms/{machine}.heddle", "--generic",
                        "--stats", stats, "--profile", f"instructions={profile}", "--", PROGRAM],
                       cwd=ROOT, check=True)
    found = report.counted(read(str(stats)), str(stats), str(profile))
    (kernel,), _, _ = card.paired(card.merged([str(ROOT / MEASURED)]), found)
    rows, missing = card.rows(kernel, found, MEASURED)
    return found, {row.name: row for row in rows}, missing


def verdict(row):
    return "**differs**" if row.verdict == "differs" else row.verdict


def table(machines):
    (run_of_card, first, _), (_, other, _) = machines
    lines = ["| counter | unit | MI200 | mi210 | | mi300x | | what makes it differ |",
             "| --- | --- | ---: | ---: | --- | ---: | --- | --- |"]
    unexplained = []
    for name, row in first.items():
        beside = other.get(name) or other[name.replace("TCC_EA_", "TCC_EA0_")]
        reasons = [card.why(row, run_of_card)]
        if beside.verdict == "differs" and (row.verdict != "differs" or name in OTHER_CARD):
            reasons.append(f"mi300x: {OTHER_CARD.get(name) or card.why(beside, run_of_card)}")
            reasons = reasons[1:] if row.verdict != "differs" else reasons
        differ = "differs" in (row.verdict, beside.verdict)
        if differ and not any(reasons):
            unexplained.append(name)
        lines.append(f"| {name} | {row.counter.unit} | {card.cell(row.card)} | "
                     f"{card.cell(row.run)} | {verdict(row)} | {card.cell(beside.run)} | "
                     f"{verdict(beside)} | {' '.join(filter(None, reasons)) if differ else ''} |")
    return lines, unexplained


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("heddle")
    parser.add_argument("--folder", default="build/counters")
    parser.add_argument("--assemble", action="store_true")
    arguments = parser.parse_args()
    if not arguments.assemble:
        subprocess.run(["ninja", "-C", "build", "tests/programs/vcopy.cdna"], cwd=ROOT, check=True,
                       stdout=subprocess.DEVNULL)
    machines = [run(arguments, machine) for machine in MACHINES]
    lines, unexplained = table(machines)
    page = ROOT / PAGE
    text = page.read_text(encoding="utf-8")
    count = ", ".join(
        f"`{name}` {', '.join(f'{sum(r.verdict == v for r in rows.values())} {v}' for v in words)}"
        for name, (_, rows, _), words in zip(MACHINES, machines,
                                             [("equal", "near", "differs")] * 2))
    text = re.sub(r"^Of \d+ rows.*?\n\n", f"Of {len(lines) - 2} rows: {count}.\n\n", text, count=1,
                  flags=re.MULTILINE | re.DOTALL)
    page.write_text(re.sub(r"^\| counter \|.*?\n(?!\|)", lambda _: "\n".join(lines) + "\n", text,
                           count=1, flags=re.MULTILINE | re.DOTALL), encoding="utf-8")
    if unexplained:
        sys.exit(f"without a reason: {', '.join(unexplained)}")


main()
