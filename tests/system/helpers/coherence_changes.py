"""Changes coherence settings of a platform, or removes a control or such a setting from its text,
and judges what becomes of it.

Whatever `heddle check` lets pass must show every litmus test of the memory model right, at every
scope, and what kernels and copies leave to each other; a platform of the memory tester must end
without a mistake.

    nice python3 tests/system/helpers/coherence_changes.py --count 1000 --seed 1 [--among mi300a]
"""
import argparse
import collections
import csv
import dataclasses
import io
import itertools
import random
import re
import sys
import tempfile
from pathlib import Path

from removals import (GOOD, HEDDLE, PROGRAMS, REFUSED, RIGHT, ROOT, SMALL, TINY_CDNA, TINY_DIES,
                      CRASH, CYCLES, ENDLESS, HANG, Mutant, Subject, call, judge_run, on, removals)

CDNA = "components/amd/cdna/cdna.heddle"
GCN3 = "components/amd/gcn3/gcn3.heddle"
L2_ALL = "arrays=1 gpu.banks=2 gpu.vram=256MiB"
KERNELS = ["flushes", "shared_lines", "copies", "fences"]
SCOPED = "tester.order=scoped tester.agents="
SUBJECTS = [
    *on("tiny", library=GCN3), *on("tiny", sets="gpu.l2_write=through", library=GCN3),
    *on("apu", library=GCN3), *on("r9nano", sets=SMALL, library=GCN3),
    *on("r9nano_mgpusim", sets=SMALL, library=GCN3),
    *on("r9nano_x4", sets=SMALL, programs=["peers"], library=GCN3),
    *on("r9nano_x4_l2_all", sets=L2_ALL, library=GCN3,
        programs=["scopes kernels right", "scopes fences right", "scopes agents right"]),
    *on("ring4", sets=SMALL, programs=["peers"]), *on("managed4", sets="gpus=2"),
    *on("node8", sets="gpus=3 node.vram=256MiB", programs=["peers"],
        library="components/amd/gpu_node/gpu_node.heddle"),
    *on("mi210", sets=TINY_CDNA, library=CDNA), *on("mi300a", sets=TINY_DIES, library=CDNA),
    *on("mi210_x2", sets="arrays=1 channels=2 l2=64KiB vram=256MiB", programs=["peers"],
        library=CDNA),
    *on("mi300x", sets=TINY_DIES, library=CDNA),
    *on("mi300x_x8", sets="gpus=2 xcds=2 arrays=1 vram=1GiB", library=CDNA,
        programs=["peers.gfx942"]),
    *[Subject(f"docs/examples/{name}.heddle")
      for name in ("l3/l3", "mid_cache/mid_cache", "chiplets/chiplets", "prefetcher/streaming")],
    *[Subject("tests/system/platforms/memtest.heddle", platform=p)
      for p in ("memtest", "memtest_translated")],
    *[Subject("tests/system/platforms/memtest_levels.heddle", platform=p)
      for p in ("memtest_flat", "memtest_deep", "memtest_lines", "memtest_dies", "memtest_nodes")],
    Subject("tests/system/platforms/memtest_levels.heddle", platform="memtest_nodes",
            sets=SCOPED + "2"),
    Subject("tests/system/platforms/memtest4.heddle", platform="memtest4"),
    Subject("tests/system/platforms/memtest4.heddle", platform="memtest4", sets=SCOPED + "4"),
    Subject("tests/system/platforms/memtest4.heddle", platform="memtest4",
            sets=SCOPED + "4 node.l2_caches=all"),
    Subject("docs/examples/prefetcher/prefetcher_memtest.heddle"),
    Subject("docs/examples/mid_cache/mid_cache_memtest.heddle"),
]
# What the proof looks at. `acquire` and `release` of the driver are not of the platform: they say
# what programs ask for.
VALUES = {
    "scope": ["agent", "system"], "acquire": ["here", "below"], "release": ["agent", "system"],
    "atomics_at": ["here", "below"], "write": ["back", "through", "around", "evict"],
    "shared": ["true", "false"], "banks_below": ["1", "2", "4"], "dies": ["one", "several"],
    "l2_caches": ["own", "all"], "l2_write": ["back", "through"]}


@dataclasses.dataclass
class Change:
    """Settings that differ, on a platform whose text may lack something (`removal`)."""

    subject: Subject
    settings: list
    removal: Mutant = None

    def __str__(self):
        text = str(self.removal) if self.removal else \
            f"{self.subject.file} ({self.subject.platform or self.subject.sets})"
        return " ".join([text, *self.settings])

    def arguments(self, folder):
        mutant = self.removal or Mutant(self.subject, self.subject.file, "", 0, 0)
        sets = itertools.chain.from_iterable(("--set", s) for s in self.settings)
        return [mutant.write(folder), *mutant.options(), *sets]


def settings_of(subject):
    """Path and value of all that the proof looks at."""
    with tempfile.TemporaryDirectory() as folder:
        text = call([HEDDLE, "params", "--csv", *Change(subject, []).arguments(Path(folder))])[1]
    for row in csv.DictReader(io.StringIO(text[text.index("parameter,"):])):
        path = row["parameter"]
        if path.rsplit(".", 1)[-1] in VALUES and not path.startswith(("driver.", "tester.")):
            yield path.replace("[*]", ""), row["value"]


def removals_of(subject):
    for file in filter(None, [subject.file, subject.library]):
        source = (ROOT / file).read_text()
        for kind, begin, end in removals(source):
            name = re.match(r"\s*(?:\w+\.)*(\w+)\s*=", source[begin:end])
            if "control" in source[begin:end] or (name and name[1] in VALUES):
                yield Mutant(subject, file, kind, begin, end)


def choose(count, seed, among=""):
    """So many at random: one to three settings, or one removal and up to one setting."""
    source = random.Random(seed)
    subjects = [s for s in SUBJECTS if among in s.file]
    known = {}
    for _ in range(count):
        number = source.randrange(len(subjects))
        subject = subjects[number]
        if number not in known:
            known[number] = list(settings_of(subject)), list(removals_of(subject))
        settings, parts = known[number]
        removal = source.choice(parts) if parts and source.random() < .3 else None
        many = source.randrange(2) if removal else source.randint(1, 3)
        chosen = []
        for path, value in source.sample(settings, min(many, len(settings))):
            others = [v for v in VALUES[path.rsplit(".", 1)[-1]] if v != value]
            chosen.append(f"{path}={source.choice(others)}")
        yield Change(subject, chosen, removal)


def programs_of(subject):
    """What must pass: litmus tests at neighbours and at work-groups of one die."""
    newest = "mi300" in subject.file
    for scope in "wavefront 1", "workgroup 1", "agent 1 2 3", "system 1 3", "bits 1 3":
        yield ("litmus.gfx942" if newest else "litmus") + f" device {scope}"
    yield from subject.programs
    if not newest and "mi210" not in subject.file:
        yield from KERNELS


def judge(change, folder):
    """What becomes of a change, and the output that says so."""
    arguments = change.arguments(folder)
    status, output = call([HEDDLE, "check", *arguments])
    if status in ENDLESS:
        return HANG, output
    if status != 0:
        return (REFUSED if "[E" in output else CRASH), output
    run = [HEDDLE, "run", *arguments, "--generic", "--max-cycles", CYCLES]
    if "memtest" in change.subject.file:
        runs = [("tester", [*run, "--set", "tester.episodes=60", "--set", f"tester.seed={seed}"])
                for seed in (1, 2)]
    else:
        runs = [(text, [*run, "--", PROGRAMS / text.split()[0], *text.split()[1:]])
                for text in programs_of(change.subject)]
    for text, command in runs:
        status, output = call(command)
        outcome = judge_run(status, output)
        if outcome != RIGHT:
            return outcome, f"{text}: {output}"
    return RIGHT, ""


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--count", type=int, default=1000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--among", default="", help="only of files with this in their name")
    options.add_argument("--from", dest="first", type=int, default=0)
    o = options.parse_args()
    counts = collections.Counter()
    changes = itertools.islice(enumerate(choose(o.count, o.seed, o.among)), o.first, None)
    for number, change in changes:
        with tempfile.TemporaryDirectory() as folder:
            outcome, output = judge(change, Path(folder))
        counts[outcome] += 1
        print(f"{number} {outcome}: {change}", flush=True)
        if outcome not in GOOD:
            print("    " + output.strip()[-1500:].replace("\n", "\n    "), flush=True)
    for outcome, count in counts.most_common():
        print(f"{count:5} {outcome}")
    return int(any(outcome not in GOOD for outcome in counts))


if __name__ == "__main__":
    sys.exit(main())
