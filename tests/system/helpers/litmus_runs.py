"""Runs of tests/programs/litmus_tests.hip.cpp, and what the models say of them. As a program:
`litmus_runs.py [SEEDS]` runs all of them and prints the table of docs/evidence/litmus.md."""
import itertools
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

import litmus_model
from harness import HEDDLE, PROGRAMS, ROOT, call, cuda_cc

TESTS = litmus_model.read_tests()
CDNA = "--set gpu.arrays=2 --set gpu.channels=2 --set gpu.l2=32KiB --set gpu.vram=256MiB"
DIES = (f"{CDNA} --set gpu.xcds=3 --set gpu.io_dies=2 --set gpu.memory_channels=2"
        " --set gpu.infinity_cache=64KiB")
GCN3 = "--set gpu.arrays=2 --set gpu.banks=2 --set gpu.vram=256MiB"
L2_ALL = "--set arrays=2 --set gpu.banks=2 --set gpu.vram=256MiB"
# Name: settings beside the platform of that name, suffix of the program.
PLATFORMS = {
    "tiny": ("", ""),
    "r9nano": (GCN3, ""),
    "r9nano_x4": (GCN3, ""),
    "r9nano_x4_l2_all": (L2_ALL, ""),
    "mi210": (CDNA, ".gfx9"),
    "mi300a": (DIES, ".gfx942"),
    "mi300x": (DIES, ".gfx942"),
    "mi300x_x8": ("--set gpus=2 --set xcds=2 --set arrays=1 --set vram=1GiB", ".gfx942"),
    "rtx3070": ("", ".cuda"),
    "a100": ("", ".cuda"),
    "h100": ("", ".cuda"),
}
# Where the threads of a test are, and at which scope they speak; wider ones include the others.
PLACES = [("groups", "agent"), ("groups", "system"), ("group", "workgroup"), ("group", "agent"),
          ("lds", "workgroup"), ("groups", "workgroup")]
SEVERAL = ["r9nano_x4", "mi300x_x8"]
DEVICES = ("devices", "system")


def places_of(platform):
    return PLACES + [DEVICES] * (platform in SEVERAL)


def is_scoped(place):
    return place != ("groups", "workgroup")


def make_cuda(folder):
    """The program, for NVIDIA's machines."""
    for name in "litmus_tests.hip.cpp", "litmus_tests.def":
        text = (ROOT / "tests/programs" / name).read_text(encoding="utf-8")
        (folder / name.replace(".hip.cpp", ".cu")).write_text(text, encoding="utf-8")
    program = folder / "litmus_tests"
    cuda_cc(folder / "litmus_tests.cu", program)
    return program


def command(platform, place, seed, only="", options="", program=None):
    """The text of a run."""
    settings, suffix = PLATFORMS[platform]
    program = program or PROGRAMS / f"litmus_tests{suffix}"
    return (f"platforms/{platform}.heddle {settings} --generic --max-cycles 400000000 {options}"
            f" -- {program} {' '.join(place)} {seed} {only}")


def read_outcomes(output):
    """(test, level) to a counter of outcomes."""
    seen = {}
    for line in output.splitlines():
        found = re.fullmatch(r"(\S+) (\w+):((?: \[[^]]*\] \d+)+)", line)
        if found:
            seen[found[1], found[2]] = Counter({
                outcome: int(count)
                for outcome, count in re.findall(r"\[([^]]*)\] (\d+)", found[3])})
    return seen


def forbidden(seen, scoped=True):
    """Outcomes that the model forbids, in words."""
    return [f"{test} {level}: {outcome}, {count} times"
            for (test, level), counts in seen.items() for outcome, count in counts.items()
            if outcome not in litmus_model.outcomes(TESTS[test][1], level, scoped)]


def came(totals):
    """The outcomes that tests ask for and that came where they may, in words."""
    return ", ".join(f"{test} ({level}, {counts[TESTS[test][0]]} times)"
                     for (test, level), counts in totals.items() if counts[TESTS[test][0]])


def judge(platform, seeds, cuda):
    """A row of the table, and complaints."""
    scoped, unscoped, runs, complaints = {}, {}, 0, []
    for place, seed in itertools.product(places_of(platform), seeds):
        program = cuda if PLATFORMS[platform][1] == ".cuda" else None
        text = command(platform, place, seed, program=program)
        seen = read_outcomes(call([HEDDLE, "run", *text.split()], "PASS litmus_tests").output)
        complaints += [f"{platform}, {' '.join(place)}, seed {seed}: {complaint}"
                       for complaint in forbidden(seen, is_scoped(place))]
        runs += 1
        for key, counts in seen.items():
            (scoped if is_scoped(place) else unscoped).setdefault(key, Counter()).update(counts)
    instances = sum(sum(counts.values()) for counts in [*scoped.values(), *unscoped.values()])
    tests = dict.fromkeys(test for (test, _), counts in unscoped.items()
                          if counts[TESTS[test][0]])
    return (f"| {platform} | {runs} | {instances} | {len(complaints)} | {came(scoped) or 'none'} |"
            f" {', '.join(tests) or 'none'} |", complaints)


def main():
    seeds = range(1, int(sys.argv[1]) + 1 if len(sys.argv) > 1 else 3)
    wrong = []
    print("| platform | runs | instances | forbidden outcomes | allowed weak outcomes "
          "| weak outcomes at too narrow a scope |\n|" + " --- |" * 6)
    with tempfile.TemporaryDirectory() as folder:
        cuda = make_cuda(Path(folder))
        for platform in PLATFORMS:
            row, complaints = judge(platform, seeds, cuda)
            print(row, flush=True)
            wrong += complaints
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
