"""Removes one connection, parameter or control from a platform, and judges what becomes of it.

A mutant is the text of a description without one statement or setting, or one part of it. It must
be refused by `heddle check`, end with an error that heddle names, or give right results: every
program passes, and so does the memory tester. A wrong result, a crash or a hang is a failure of the
checker or of the simulator.

    nice python3 tests/system/helpers/removals.py --count 1000 --seed 1 [--among mi300a]
         [--report FILE]

A report can be written in several runs (--from, --count); --table prints how many of its mutants
became what, by platform.
"""
import argparse
import collections
import dataclasses
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import limit
from sass_traces import EXIT, Folder, chain, load, store

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / os.environ.get("HEDDLE_BUILD", "build")
HEDDLE = BUILD / "codegen/heddle"
PROGRAMS = BUILD / "tests/programs"
SECONDS = 120  # of CPU time, of a run; the longest takes one or two
CYCLES = 50_000_000  # of a run; the longest takes two millions

ONE_GPU = """vectoradd saxpy matmul_tiled transpose reduction histogram stencil atomics bitonic
    copies device_variables fences kmeans life pipeline scan spmv streams shared_lines flushes
    """.split()
SEVERAL_GPUS = "peers spread devices peer_copies halo".split() + ONE_GPU[:15]
SMALL = "gpu.arrays=1 gpu.banks=2 gpu.vram=256MiB"
# What is built for targets of CDNA (NAME, NAME.gfx942), and where it is built for all targets.
CDNA = "scratch shuffles matrix".split()
CDNA_ALL = """copies fences atomics flushes shared_lines spmv streams device_variables life pipeline
    """.split()
LABELS = """vectoradd 4096, memcopy_d2d 1, matrixtranspose 64, stencil2d 64, nbody 256, atax 64,
    matrixmultiplication 64, pagerank 64, fastwalshtransform 1024""".split(",")
TINY_CDNA = "gpu.arrays=2 gpu.channels=2 gpu.l2=32KiB gpu.vram=256MiB"
TINY_DIES = f"{TINY_CDNA} gpu.xcds=2 gpu.io_dies=2 gpu.memory_channels=2 gpu.infinity_cache=64KiB"


@dataclasses.dataclass
class Subject:
    """A platform, the library files whose composites it is made of, and how it is tried."""

    file: str
    sets: str = ""
    programs: list = dataclasses.field(default_factory=list)
    platform: str = ""
    library: str = ""  # also mutated
    play: str = ""  # what is played: `api`, or `sass`, whose instructions are counted


def on(*names, **how):
    return [Subject(f"platforms/{name}.heddle", **how) for name in names]


def for_cdna(target, suffix):
    """Programs, with their arguments."""
    labels = [(f"cdna/{name}.{target}", size) for name, size in map(str.split, LABELS)]
    return [*(name if suffix == "gfx9" else f"{name}.{suffix}" for name in CDNA),
            *(f"{label} {size} --check" for label, size in labels if (PROGRAMS / label).exists()),
            *(f"{name}.{suffix}" for name in CDNA_ALL if (PROGRAMS / f"{name}.{suffix}").exists())]


GCN3 = "components/amd/gcn3/gcn3.heddle"
CDNA_PARTS = "components/amd/cdna/cdna.heddle"
NODE = "components/amd/gpu_node/gpu_node.heddle"
TORUS = "components/network/torus/torus.heddle"
SECTORS = "components/nvidia/sector_memory/sector_memory.heddle"
API = [f"--play=api={ROOT}/tests/components/traces/api_trace/traces/vecadd",
       f"--module={PROGRAMS}/vecadd_kernels.hsaco"]
SUBJECTS = [
    *on("tiny", programs=ONE_GPU, library=GCN3),
    *on("tiny", sets="queues=true", programs=[*ONE_GPU[:17], "user_queues"], library=GCN3),
    *on("tiny", sets="gpu.l2_write=through", programs=ONE_GPU, library=GCN3),
    *on("apu", programs=ONE_GPU, library=GCN3),
    *on("r9nano", sets=SMALL, programs=ONE_GPU, library=GCN3),
    *on("r9nano_mgpusim", sets=SMALL, programs=ONE_GPU, library=GCN3),
    *on("r9nano_x4", sets=SMALL, programs=SEVERAL_GPUS, library=GCN3),
    *on("r9nano_x4_l2_all", sets="arrays=1 gpu.banks=2 gpu.vram=256MiB", library=GCN3,
        programs=SEVERAL_GPUS),
    *on("node8", sets="gpus=3 node.vram=256MiB", programs=SEVERAL_GPUS, library=NODE),
    *on("pod64", sets="nodes=2 gpus=2 node.vram=256MiB", programs=SEVERAL_GPUS, library=NODE),
    *on("pod512", sets="side=3 gpus=2 node.vram=64MiB", library=TORUS,
        programs=["vectoradd", "peers", "collectives ring 64"]),
    *[s for t in ("full", "ring", "mesh", "switch")
      for s in on("r9nano_x8_fabric", sets=f"{SMALL} topology={t}", programs=SEVERAL_GPUS)],
    *on("ring4", sets=SMALL, programs=SEVERAL_GPUS),
    *on("managed4", sets="gpus=2", programs=[*SEVERAL_GPUS, "managed", "managed_reads"]),
    *on("packet_direct", sets="arrays=1 banks=2 vram=256MiB", programs=ONE_GPU[:8]),
    *on("packet_trace", sets="arrays=1 banks=2 vram=256MiB", play="api"),
    *[Subject(f"platforms/{name}.heddle", sets="sms=2 channels=2", play="sass", library=SECTORS)
      for name in ("rtx3070", "qv100", "titanx", "rtx2060", "a100", "h100")],
    *on("mi210", sets=TINY_CDNA, programs=for_cdna("gfx90a", "gfx9"), library=CDNA_PARTS),
    *on("mi300a", sets=TINY_DIES, programs=for_cdna("gfx942", "gfx942"), library=CDNA_PARTS),
    *on("mi300x", sets=f"{TINY_DIES} queues=true driver.launch_by=queue",
        programs=for_cdna("gfx942", "gfx942"), library=CDNA_PARTS),
    *[Subject(f"docs/examples/{name}.heddle", programs=ONE_GPU)
      for name in ("l3/l3", "mid_cache/mid_cache", "chiplets/chiplets", "prefetcher/streaming")],
    *[Subject("tests/system/platforms/memtest.heddle", platform=p)
      for p in ("memtest", "memtest_translated")],
    *[Subject("tests/system/platforms/memtest_levels.heddle", platform=p)
      for p in ("memtest_flat", "memtest_clocks", "memtest_deep")],
    *[Subject(f"tests/system/platforms/{name}.heddle", platform=name)
      for name in ("memtest4", "memtest_moves", "threads")],
    Subject("tests/system/platforms/fabrics.heddle", platform="on_mesh",
            library="components/network/mesh/mesh.heddle"),
    Subject("tests/system/platforms/fabrics.heddle", platform="on_ring",
            library="components/network/ring/ring.heddle"),
    Subject("docs/examples/prefetcher/prefetcher_memtest.heddle"),
]

# ---- what can be removed ----


def blank(text):
    """The text with its comments and strings blanked, so that offsets stay."""
    return re.sub(r'//[^\n]*|/\*.*?\*/|"[^"\n]*"', lambda m: re.sub(r"[^\n]", " ", m[0]), text,
                  flags=re.DOTALL)


def closing(text, at):
    """The offset of the brace that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == "{") - (text[i] == "}")
        if not depth:
            return i
    return len(text)


def statements(text, begin, end):
    """Spans of the statements of a body, those of `if` and `for` inside them too."""
    start = begin
    while start < end:
        if text[start].isspace() or text[start] == ";":
            start += 1
            continue
        at = start
        while at < end and text[at] not in ";{":
            at += 1
        if at == end:
            return
        nested = re.match(r"(if|for|else)\b", text[start:end])
        if text[at] == "{" and nested:
            close = closing(text, at)
            yield from statements(text, at + 1, close)
            start = close + 1
            continue
        while at < end and text[at] != ";":
            if text[at] == "{":
                at = closing(text, at)
                if not re.match(r"\s*(;|latency|by|over|else|via|on)", text[at + 1:end]):
                    break
            at += 1
        yield start, at + 1
        start = at + 1


def split(text, begin, end, mark):
    """Spans between marks that stand outside of all brackets."""
    depth, start = 0, begin
    for i in range(begin, end):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if text[i] == mark and not depth:
            yield start, i
            start = i + 1
    if text[start:end].strip():
        yield start, end


def settings(text, begin, end):
    """Spans of `name = value;` in the braces of a statement, those of parts too."""
    for brace in (i for i in range(begin, end) if text[i] == "{"):
        start = brace + 1
        for first, last in split(text, start, closing(text, brace), ";"):
            if "=" in text[first:last]:
                yield first, min(last + 1, end)


def parts_of_connection(text, begin, end):
    """Spans of a list's elements, with a comma, and of options."""
    arrow = text.index("->", begin, end)
    options = re.search(r"\b(latency|via|over|by|else)\b", text[arrow:end - 1])
    right_end = arrow + options.start() if options else end - 1
    for first, last in (begin, arrow), (arrow + 2, right_end):
        elements = list(split(text, first, last, ","))
        if len(elements) > 1:
            for a, b in elements:
                yield (a, b + 1) if b < last else (a - 1, b)
    for pattern in r"\blatency\s+\w+", r"\bby\s+space\s+[\w.\[\]]+", r"\belse\s+[\w.\[\]]+", \
            r"\bvia\s+(shared\s+)?[\w\[\]*]+(?=\s*;)", r"\bover\s+\w+":
        for found in re.finditer(pattern, text[right_end:end]):
            yield right_end + found.start(), right_end + found.end()


def removals(source):
    """All spans of a description that can be removed, each with what it is."""
    text = blank(source)
    for found in re.finditer(r"\b(component|platform)\s+\w+\s*\{", text):
        body = found.end() - 1
        for begin, end in statements(text, body + 1, closing(text, body)):
            statement = text[begin:end]
            if "->" in re.sub(r"\{.*\}", "", statement, flags=re.DOTALL):
                kind = "control" if "control" in statement else "connection"
                yield kind, begin, end
                for span in parts_of_connection(text, begin, end):
                    yield ("connection part", *span)
            elif re.match(r"(map|partition|space)\b", statement):
                yield statement.split()[0], begin, end
            elif re.match(r"(param|let|check|in|out|slot|clock|coherence)\b[^:]*\s\w", statement):
                continue
            for span in settings(text, begin, end):
                yield ("parameter", *span)


# ---- mutants ----


@dataclasses.dataclass
class Mutant:
    subject: Subject
    file: str  # the one that is changed
    kind: str
    begin: int
    end: int

    def __str__(self):
        source = (ROOT / self.file).read_text()
        line = source.count("\n", 0, self.begin) + 1
        what = " ".join(source[self.begin:self.end].split())
        return f"{self.subject.file} ({self.subject.platform or self.subject.sets}): " \
               f"{self.file}:{line} {self.kind}: {what}"

    def write(self, folder):
        """The description, and the mutated library file beside it; the path of the former. Spaces
        stand for what is removed, so that all else keeps its place."""
        text = (ROOT / self.subject.file).read_text()
        source = (ROOT / self.file).read_text()
        removed = re.sub(r"[^\n]", " ", source[self.begin:self.end])
        changed = source[:self.begin] + removed + source[self.end:]
        if self.file != self.subject.file:
            name = Path(self.file).stem
            (folder / f"{name}_mutant.heddle").write_text(changed)
            changed = text.replace(f'import "std/{name}"', f'import "{name}_mutant"')
        path = folder / Path(self.subject.file).name
        path.write_text(changed)
        return path


    def options(self):
        """Of heddle, for this subject."""
        sets = itertools.chain.from_iterable(("--set", s) for s in self.subject.sets.split())
        chosen = ["--platform", self.subject.platform] if self.subject.platform else []
        return ["-I", (ROOT / self.subject.file).parent, *chosen, *sets]

    def has_effect(self):
        """False: the platform elaborates to the same, since another one of the file, or a branch
        that is not taken, has the statement."""
        dumps = []
        for mutant in self, dataclasses.replace(self, end=self.begin):
            with tempfile.TemporaryDirectory() as folder:
                path = mutant.write(Path(folder))
                dumps.append(call([HEDDLE, "dump", "--json", path, *self.options()])[1]
                             .replace(folder, ""))
        return dumps[0] != dumps[1]


def all_mutants(among=""):
    for subject in SUBJECTS:
        if among not in subject.file:
            continue
        for file in filter(None, [subject.file, subject.library]):
            for kind, begin, end in removals((ROOT / file).read_text()):
                yield Mutant(subject, file, kind, begin, end)


def choose(count, seed, among=""):
    """So many at random, of those that change the platform."""
    mutants = list(all_mutants(among))
    random.Random(seed).shuffle(mutants)
    yield from itertools.islice((m for m in mutants if m.has_effect()), count)


# ---- judgement ----

REFUSED, NAMED, RIGHT = "refused by check", "ends with a named error", "gives right results"
WRONG, CRASH, HANG = "WRONG RESULT", "CRASH", "HANG"
GOOD = REFUSED, NAMED, RIGHT
ENDLESS = [sign * number for number in (signal.SIGXCPU, signal.SIGKILL) for sign in (-1, 1)] + \
    [128 + signal.SIGXCPU, 128 + signal.SIGKILL]  # of CPU time there was not enough


def call(command):
    with subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, cwd=ROOT,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", start_new_session=True) as process:
        limit(process, SECONDS)
        output = process.communicate()[0]
        return process.returncode, output


def is_named(output):
    """Has heddle said what went wrong? "heddle: kernel ...", "error: ... [E0123]"."""
    return re.search(r"\[E\d{4}\]|^heddle: (?!.*ended by (a )?signal)\S|hipError\w+", output,
                     re.MULTILINE)


def judge_run(status, output):
    if status in ENDLESS or "max-cycles" in output:
        return HANG
    if status < 0 or status >= 128 or "Sanitizer" in output or "BUG" in output:
        return CRASH
    if status == 0:
        return RIGHT
    if re.search("returned .* instead of|returned .*, which|was answered with", output):
        return WRONG  # so say the testers
    return NAMED if is_named(output) else WRONG


def sass_trace(folder):
    """Options that play two kernels, and how many instructions they have in all."""
    trace = Folder(folder)
    body = [load(0, 0x7000), *chain(8), store(0x100, 0x8000), load(0x110, 0x8000), EXIT]
    names = [trace.trace(f"kernel-{i}.traceg", 6, 4, body) for i in (1, 2)]
    options = [f"--play=sass={trace.list('list.g', names)}", f"--stats={folder}/stats.json"]
    return options, 2 * 6 * 4 * len(body)


def judge_played(mutant, run, folder):
    """A trace of calls is checked by its player; one of instructions must be played to its end."""
    if mutant.subject.play == "api":
        status, output = call([*run, *API])
        return judge_run(status, output), output
    options, expected = sass_trace(folder)
    status, output = call([*run, *options])
    outcome = judge_run(status, output)
    if outcome == RIGHT:
        kernels = json.loads((folder / "stats.json").read_text())["kernels"]
        played = sum(kernel["wavefront_instructions"] for kernel in kernels)
        outcome = RIGHT if played == expected else WRONG
        output = f"{played} instructions were played, {expected} expected"
    return outcome, output


def judge(mutant, folder):
    """What becomes of a mutant, and the output that says so."""
    path = mutant.write(folder)
    status, output = call([HEDDLE, "check", path, *mutant.options()])
    if status in ENDLESS:
        return HANG, output
    if status != 0:
        return (REFUSED if "[E" in output else CRASH), output
    run = [HEDDLE, "run", path, *mutant.options(), "--generic", "--max-cycles", CYCLES]
    if mutant.subject.play:
        return judge_played(mutant, run, folder)
    for program in mutant.subject.programs or [None]:
        own = ["--set", "tester.episodes=20"]
        if program:
            name, *arguments = program.split()
            own = ["--", PROGRAMS / name, *arguments]
        status, output = call([*run, *own])
        outcome = judge_run(status, output)
        if outcome != RIGHT:
            return outcome, f"{program}: {output}"
    return RIGHT, ""


def table(report):
    """Markdown: by platform, how many mutants of a report there are, and what became of them."""
    outcomes = [*GOOD, WRONG, CRASH, HANG]
    found = re.findall(rf"^\d+ ({'|'.join(outcomes)}): \S*?(\w+)\.heddle ", report, re.MULTILINE)
    counts = collections.Counter(found)
    print("| platform | removals | refused | named error | right | wrong | crash | hang |")
    print("| --- |" + " ---: |" * (len(outcomes) + 1))
    for platform in [*sorted({platform for _, platform in found}), None]:
        row = [sum(n for (outcome, of), n in counts.items()
                   if outcome == wanted and platform in (None, of)) for wanted in outcomes]
        print(f"| {platform or 'all'} | {sum(row)} |", " | ".join(map(str, row)), "|")


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--count", type=int, default=1000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--among", default="", help="only of files with this in their name")
    options.add_argument("--from", dest="first", type=int, default=0)
    options.add_argument("--only", type=int, help="number of one mutant of the sample")
    options.add_argument("--report", type=Path, default=Path("/dev/stdout"))
    options.add_argument("--table", type=Path, help="of a report; nothing is run")
    o = options.parse_args()
    if o.table:
        return table(o.table.read_text())
    mutants = itertools.islice(enumerate(choose(o.count, o.seed, o.among)), o.first, None)
    if o.only is not None:
        mutants = itertools.islice(mutants, o.only - o.first, o.only - o.first + 1)
    counts = collections.Counter()
    with o.report.open("w") as report:
        for number, mutant in mutants:
            with tempfile.TemporaryDirectory() as folder:
                outcome, output = judge(mutant, Path(folder))
            counts[outcome] += 1
            print(f"{number} {outcome}: {mutant}", file=report)
            if outcome not in GOOD or o.only is not None:
                print("    " + output.strip().replace("\n", "\n    "), file=report)
            report.flush()
    for outcome, count in counts.most_common():
        print(f"{count:5} {outcome}")
    return any(outcome not in GOOD for outcome in counts)


if __name__ == "__main__":
    sys.exit(main())
