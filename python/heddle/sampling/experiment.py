"""`heddle experiment`: how well each kind of warm-up does before chosen kernels, against a
simulation of everything; the experiment of the cold-start thesis (docs/evidence/warmup.md).

Each kernel is simulated once with each warm-up, alone, so that the time that a run takes is the
time that this warm-up costs. A functional profile of the whole program gives the formula of
the thesis what it needs; it corrects the run without warm-up. Plots are as in the thesis: perfect
in black, full memory in light brown, memory:N in blue; what the thesis lacks is dashed green
(functional) or a mark (formula)."""
from __future__ import annotations

import dataclasses
import pathlib
import re
import shutil
import subprocess
import sys
from typing import Any, Iterable, Sequence

from heddle.base import provenance
from heddle.base.command_line import Options
from heddle.base.files import csv_text, write
from heddle.base.mistakes import Mistake
from heddle.counters import profiler
from heddle.drawing import draw, pgf
from heddle.drawing.draw import escape
from heddle.report.page import figure, section, whole
from heddle.sampling import cold_launches as all_launches
from heddle.sampling.child_runs import Statistics, Trials, cpu_seconds, launches, short
from heddle.sampling.correction import Correction, correction

MEMORY = [f"memory:{n}" for n in range(1, 11)]
SIMULATED = ["perfect", "none", *MEMORY, "full-memory", "functional"]
FORMULAS = ("formula", "formula-bytes")
MODES = [*SIMULATED, *FORMULAS, "profiler"]
PICKED = 4  # of a ranking, as many as the thesis looks at
COLD, WARM = 0, 1  # tables of a profiler


Tables = list[tuple[str, list[profiler.Profiled]]]  # of a profiler, by path


@dataclasses.dataclass
class Kernel:
    launch: int
    name: str
    instructions: float = 0  # of wavefronts, of warps
    thread_instructions: float | None = None  # where they are counted
    cycles: dict[str, float] = dataclasses.field(default_factory=dict)   # by mode
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)  # CPU, of all runs needed
    correction: Correction | None = None

    def set(self, mode: str, run: Statistics) -> None:
        record = launches(run)[self.launch]
        self.cycles[mode], self.seconds[mode] = record["cycles"], cpu_seconds(run)
        self.instructions = record["wavefront_instructions"]
        self.thread_instructions = record.get("thread_instructions")

    def correct(self, cold: Statistics, profile: Statistics, tables: Tables) -> None:
        found = [profiler.launch_of(table, path, self.launch, self.name) for path, table in tables]
        counted = found[COLD].dram_bytes if found else None
        self.correction = correction(cold, profile, self.launch, counted)
        self.cycles["formula"] = self.correction.corrected
        self.cycles["formula-bytes"] = self.correction.corrected_by_bytes
        for mode in FORMULAS:
            self.seconds[mode] = cpu_seconds(cold) + cpu_seconds(profile)
        if len(found) > WARM and found[COLD].time and found[WARM].time:
            self.cycles["profiler"] = self.cycles["none"] * found[WARM].time / found[COLD].time
            self.seconds["profiler"] = cpu_seconds(cold)

    def ipc(self, mode: str) -> float:
        return self.instructions / self.cycles[mode] if self.cycles[mode] > 0 else 0

    def thread_ipc(self, mode: str) -> str:
        if self.thread_instructions is None or self.cycles[mode] <= 0:
            return ""
        return f"{self.thread_instructions / self.cycles[mode]:.4f}"

    def accuracy(self, mode: str) -> float:
        """Per cent: 100 is the IPC of `perfect`."""
        perfect = self.ipc("perfect")
        return 100 - 100 * abs(self.ipc(mode) - perfect) / perfect if perfect else 0

    @property
    def cost(self) -> float:
        """Cycles that the cold start costs."""
        return self.cycles["none"] - self.cycles["perfect"]


def measure(trials: Trials, kernel: Kernel, profile: Statistics, tables: Tables,
            verbose: bool) -> None:
    for mode in SIMULATED:
        if verbose:
            print(f"heddle experiment: launch {kernel.launch}, {mode}", file=sys.stderr)
        run = trials.run("--kernels", str(kernel.launch), "--warmup", mode, "--kernel-stats", "all")
        kernel.set(mode, run)
        if mode == "none":
            kernel.correct(run, profile, tables)


def measure_together(trials: Trials, chosen: str, profile: Statistics,
                     tables: Tables) -> tuple[list[Kernel], Statistics]:
    """Two runs for all kernels, and the cold one. The time of each is that of the whole run."""
    warm = trials.run("--kernels", chosen, "--warmup", "perfect", "--kernel-stats", "none")
    cold = trials.run("--kernels", chosen, "--warmup", "none", "--kernel-stats", "all")
    kernels = simulated(cold)
    for kernel in kernels:
        kernel.set("perfect", warm)
        kernel.set("none", cold)
        kernel.correct(cold, profile, tables)
    return kernels, cold


def simulated(run: Statistics) -> list[Kernel]:
    return [Kernel(number, record["name"]) for number, record in launches(run).items()
            if record["simulated"] == "detailed"]


def ranking(kernels: list[Kernel]) -> str:
    return csv_text(["launch", "kernel", "cold_cycles", "perfect_cycles", "formula_cycles",
                     "cost_cycles", "cost_percent"],
                    ([k.launch, k.name, k.cycles["none"], k.cycles["perfect"],
                      f"{k.cycles['formula']:.0f}", k.cost,
                      f"{100 * k.cost / k.cycles['none']:.2f}"]
                     for k in kernels))


def picked(ranked: list[Kernel]) -> list[int]:
    """The launches that lose most, of each kernel one; if there are not enough kernels, further
    ones of the same."""
    first = list({k.name: k for k in reversed(ranked)}.values())
    order = sorted(first, key=ranked.index) + [k for k in ranked if k not in first]
    return sorted(k.launch for k in order[:PICKED])


def results(kernels: list[Kernel]) -> str:
    return csv_text(["launch", "kernel", "mode", "cycles", "wavefront_ipc", "thread_ipc",
                     "accuracy_percent", "cpu_seconds"],
                    ([k.launch, k.name, mode, f"{k.cycles[mode]:.0f}", f"{k.ipc(mode):.4f}",
                      k.thread_ipc(mode), f"{k.accuracy(mode):.3f}", f"{k.seconds[mode]:.3f}"]
                     for k in kernels for mode in MODES if mode in k.cycles))


def corrections(kernels: list[Kernel]) -> str:
    """Corrected cycles, with all digits of what they come from."""
    return csv_text(["launch", "kernel", *Correction.meanings(), "corrected_cycles",
                     "corrected_cycles_by_bytes"],
                    ([k.launch, k.name, *k.correction.inputs().values(), k.correction.corrected,
                      k.correction.corrected_by_bytes]
                     for k in kernels if k.correction))


# ---- plots

LEGEND = {"perfect": draw.BLACK, "full-memory": "#c8a27a", "memory:N": "#2a60c0",
          "functional": "#2a8f3a", "formula": "#c03030", "formula-bytes": "#8040a0"}
WIDTH, HEIGHT = 360, 240
CONVERTER = "rsvg-convert"
ACCURACY = "accuracy in %"


def panel(kernel: Kernel, left: float, top: float, quantity: str) -> list[str]:
    """IPC, or accuracy, over the number of launches warmed up with."""
    value = kernel.accuracy if quantity == ACCURACY else kernel.ipc
    values = [value(mode) for mode in MODES if kernel.cycles.get(mode, 0) > 0]
    x = draw.Linear([0, 10], left + 52, left + 342)
    y = draw.Linear(values, top + 190, top + 30, from_zero=False)
    parts = [draw.text(left + 52, top + 22, f"launch {kernel.launch}: {short(kernel.name)[:40]}"),
             draw.text((x.start + x.end) / 2, top + 218, f"preceding launches, {quantity}",
                       "middle", 11)]
    for at in y.ticks():
        parts += [draw.line(x.start, y.at(at), x.end, y.at(at), "#e8e8e8"),
                  draw.text(x.start - 5, y.at(at) + 4, draw.tick_text(at), "end", 11)]
    parts += [draw.text(x.at(n), top + 204, str(n), "middle", 11) for n in range(0, 11, 2)]
    for mode, more in (("perfect", ""), ("full-memory", ""),
                       ("functional", ' stroke-dasharray="5 3"')):
        parts.append(draw.line(x.start, y.at(value(mode)), x.end, y.at(value(mode)), LEGEND[mode],
                               1.5, more))
    points = " ".join(f"{x.at(n):.1f},{y.at(value(mode)):.1f}"
                      for n, mode in enumerate(["none", *MEMORY]))
    parts.append(f'<polyline fill="none" stroke="{LEGEND["memory:N"]}" stroke-width="1.5" '
                 f'points="{points}"/>')
    for mode in FORMULAS:
        if kernel.cycles[mode] <= 0:
            continue  # more than there is was taken off
        parts.append(draw.box(x.start - 3.5, y.at(value(mode)) - 3.5, 7, 7, LEGEND[mode],
                              f"{mode}: {value(mode):.4g}"))
    return parts


def plot(kernels: list[Kernel], quantity: str) -> str:
    parts = []
    for i, kernel in enumerate(kernels):
        parts += panel(kernel, i % 2 * WIDTH, i // 2 * HEIGHT, quantity)
    bottom = (len(kernels) + 1) // 2 * HEIGHT
    for i, (name, colour) in enumerate(LEGEND.items()):
        parts += [draw.box(52 + 110 * i, bottom + 8, 10, 10, colour, name),
                  draw.text(66 + 110 * i, bottom + 17, name, size=11)]
    return draw.document(bottom + 30, parts, quantity, 2 * WIDTH)


# ---- page


def html_table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """An HTML table without columns that are empty."""
    listed = list(rows)
    kept = [i for i in range(len(head)) if any(str(row[i]) for row in listed)]

    def line(cell: str, words: Sequence[Any]) -> str:
        return "<tr>" + "".join(f"<{cell}>{escape(str(words[i]))}</{cell}>" for i in kept) + "</tr>"
    lines = [line("th", head), *(line("td", row) for row in listed)]
    return "<table>" + "\n".join(lines) + "</table>"


def page_of(kernel: Kernel) -> str:
    perfect, cured = kernel.seconds["perfect"], kernel.correction
    assert cured is not None
    inputs = cured.inputs()

    def fill(formula: str) -> str:
        return re.sub(r"[a-z]\w*", lambda name: f"{inputs[name[0]]:.15g}", formula)
    return section(
        f"launch-{kernel.launch}", f"Launch {kernel.launch}: {kernel.name}",
        html_table(["warm-up", "cycles", "IPC of wavefronts or warps", "IPC of threads",
                    "accuracy, %", "CPU, s", "of perfect's"],
                   ([mode, f"{kernel.cycles[mode]:.0f}", f"{kernel.ipc(mode):.4f}",
                     kernel.thread_ipc(mode), f"{kernel.accuracy(mode):.2f}",
                     f"{kernel.seconds[mode]:.3f}",
                     f"{kernel.seconds[mode] / perfect:.3f}" if perfect else ""]
                    for mode in MODES if mode in kernel.cycles)),
        *(f"<h3>The formula, accesses {how}</h3>\n<pre>{formula}\n= {fill(formula)}\n"
          f"= {result:.15g}</pre>"
          for how, formula, result in (
              ("counted (as it is printed)", cured.FORMULA, cured.corrected),
              ("in bytes", cured.BYTES, cured.corrected_by_bytes))),
        html_table(["input", "value", "what it is"],
                   ([name, f"{value:.15g}", Correction.meanings()[name]]
                    for name, value in inputs.items())))


def page(title: str, facts: Sequence[str], figures: dict[str, tuple[str, str]],
         kernels: list[Kernel]) -> str:
    head = "".join(f'<p class="soft">{escape(line)}</p>' for line in facts)
    return whole(title, f"<div><h1>{escape(title)}</h1>{head}</div>",
                 [*(section(name, heading, figure(svg, ""))
                    for name, (heading, svg) in figures.items()), *map(page_of, kernels)])


def write_figure(folder: pathlib.Path, name: str, svg: str) -> None:
    """Writes a figure as SVG, for LaTeX, and as PDF where the converter is installed (see
    main())."""
    write(folder / f"{name}.svg", svg)
    write(folder / f"{name}.pgf", pgf.from_svg(svg))
    if shutil.which(CONVERTER):
        subprocess.run([CONVERTER, "--format=pdf", "--output", folder / f"{name}.pdf",
                        folder / f"{name}.svg"], check=True)


# ---- the command


def rank(trials: Trials, profile: Statistics, tables: Tables, folder: pathlib.Path,
         figures: dict[str, tuple[str, str]], unit: str) -> str:
    """All launches, cold and warm; those to be looked at."""
    kernels, run = measure_together(trials, "1-", profile, tables)
    ranked = sorted(kernels, key=lambda k: (-k.cost, k.launch))
    numbers = picked(ranked)
    write(folder / "ranking.csv", ranking(ranked))
    write(folder / "factors.csv", all_launches.factors(kernels, set(numbers), run, profile))
    figures["launches"] = ("All launches", all_launches.plot(kernels, set(numbers), unit))
    listed = ",".join(map(str, numbers))
    print(f"launches {listed} lose most by a cold start, of each kernel the worst; ranking.csv and "
          f"factors.csv have all {len(ranked)}")
    return listed


def experiment(trials: Trials, chosen: Any, folder: pathlib.Path) -> None:
    tables = [(path, profiler.read(path)) for path in chosen.profiler]
    profile = trials.run("--mode", "functional", "--profile", "memory")
    if not profile.get("kernels"):
        raise Mistake("there is no launch to examine")
    figures: dict[str, tuple[str, str]] = {}
    unit = "warps" if trials.is_list else "wavefronts"
    numbers = chosen.kernels or rank(trials, profile, tables, folder, figures, unit)
    if chosen.corrections:
        kernels, _ = measure_together(trials, numbers, profile, tables)
    else:
        kernels = simulated(trials.run("--kernels", numbers, "--warmup", "none"))
        for kernel in kernels:
            measure(trials, kernel, profile, tables, chosen.verbose)
        figures["ipc"] = ("IPC", plot(kernels, f"IPC of {unit}"))
        figures["accuracy"] = ("Accuracy", plot(kernels, ACCURACY))
    write(folder / "results.csv", results(kernels))
    write(folder / "corrections.csv", corrections(kernels))
    written = ["results.csv", "corrections.csv", *(f"{name}.svg" for name in figures)]
    for name, (_, svg) in figures.items():
        write_figure(folder, name, svg)
    if not chosen.corrections:
        written.append("index.html")
        write(folder / "index.html",
              page(f"Warm-up: {pathlib.Path(trials.subject).name} on "
                   f"{pathlib.Path(chosen.files[0]).stem}",
                   provenance.lines(provenance.collect(chosen.heddle)), figures, kernels))
    if not shutil.which(CONVERTER):
        print(f"heddle experiment: no figure is a PDF, since '{CONVERTER}' is not installed "
              "(Debian: librsvg2-bin)", file=sys.stderr)
    print(f"wrote {', '.join(written)} to {folder}")


def main(chosen: Options) -> int:
    trials = Trials("experiment", chosen, "PLATFORM [--kernels LIST] -o DIR")
    if not chosen.output:
        raise Mistake("'-o DIR' says where to write", usage=True)
    if chosen.kernels == "auto":
        raise Mistake("'--kernels auto' chooses while a program runs; name the launches to examine",
                      usage=True)
    if len(chosen.profiler) > 2:
        raise Mistake("'--profiler' is one table, or two: caches flushed before launches, and not",
                      usage=True)
    folder = pathlib.Path(chosen.output)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise Mistake(f"cannot create the folder '{folder}': {error.strerror}") from None
    trials.record_instructions(folder / "traces")
    experiment(trials, chosen, folder)
    return 0
