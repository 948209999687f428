"""Runs of tests/programs/litmus_tests.hip.cpp, and what the models say of them. As a program:
`litmus_runs.py [SEEDS]` runs all of them and prints the table of docs/evidence/litmus.md."""
import itertools
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

import litmus_model
from harness import HEDDLE, PROGRAMS, ROOT, call

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
    call([HEDDLE, "cuda-cc", folder / "litmus_tests.cu", "-o", program])
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


def row(test, totals):
    """How often the outcome that the test asks for has come, by level; '-': it must not."""
    weak, threads = TESTS[test]
    cells = [f"{totals[test, level][weak]}" if weak in litmus_model.outcomes(threads, level)
             else "-" for level in litmus_model.LEVELS]
    return f"| {test} | {' | '.join(cells)} |"


def main():
    seeds = range(1, int(sys.argv[1]) + 1 if len(sys.argv) > 1 else 3)
    with tempfile.TemporaryDirectory() as folder:
        cuda = make_cuda(Path(folder))
        wrong = 0
        for platform in PLATFORMS:
            totals, runs, instances, unscoped = {}, 0, 0, set()
            for place, seed in itertools.product(places_of(platform), seeds):
                program = cuda if PLATFORMS[platform][1] == ".cuda" else None
                text = command(platform, place, seed, program=program)
                done = call([HEDDLE, "run", *text.split()], "PASS litmus_tests")
                seen = read_outcomes(done.output)
                for complaint in forbidden(seen, is_scoped(place)):
                    print(f"forbidden: {platform}, {' '.join(place)}, seed {seed}: {complaint}")
                    wrong += 1
                runs += 1
                for key, counts in seen.items():
                    instances += sum(counts.values())
                    if is_scoped(place):
                        totals.setdefault(key, Counter()).update(counts)
                    elif counts[TESTS[key[0]][0]]:
                        unscoped.add(key[0])
            print(f"\n**{platform}**: {runs} runs, {instances} instances\n")
            print(f"| test | {' | '.join(litmus_model.LEVELS)} |\n|" + " --- |" * 6)
            rows = [row(test, totals) for test in TESTS]
            print("\n".join(r for r in rows if re.search("[1-9]", r.split("|", 2)[2])) or "| none |")
            print(f"\nBetween work-groups at workgroup scope: {', '.join(sorted(unscoped))}",
                  flush=True)
    print(f"\n{wrong} forbidden outcomes")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
