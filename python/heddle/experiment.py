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
import sys
from typing import Any, Iterable, Sequence

from heddle import draw, words as command_line
from heddle.correction import Correction, correction
from heddle.draw import escape
from heddle.files import csv_text, write
from heddle.mistakes import Mistake
from heddle.report.page import section, whole
from heddle.trial import Statistics, Trials, add_options, cpu_seconds, launches, short

MEMORY = [f"memory:{n}" for n in range(1, 11)]
SIMULATED = ["perfect", "none", *MEMORY, "full-memory", "functional"]
MODES = [*SIMULATED, "formula"]
PICKED = 4  # of a ranking, as many as the thesis looks at


@dataclasses.dataclass
class Kernel:
    launch: int
    name: str
    instructions: float = 0  # of wavefronts
    cycles: dict[str, float] = dataclasses.field(default_factory=dict)   # by mode
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)  # CPU, of all runs needed
    correction: Correction | None = None

    def set(self, mode: str, run: Statistics) -> None:
        record = launches(run)[self.launch]
        self.cycles[mode], self.seconds[mode] = record["cycles"], cpu_seconds(run)
        self.instructions = record["wavefront_instructions"]

    def correct(self, cold: Statistics, profile: Statistics) -> None:
        self.correction = correction(cold, profile, self.launch)
        self.cycles["formula"] = self.correction.corrected
        self.seconds["formula"] = cpu_seconds(cold) + cpu_seconds(profile)

    def ipc(self, mode: str) -> float:
        return self.instructions / self.cycles[mode] if self.cycles[mode] else 0

    def accuracy(self, mode: str) -> float:
        """Per cent: 100 is the IPC of `perfect`."""
        perfect = self.ipc("perfect")
        return 100 - 100 * abs(self.ipc(mode) - perfect) / perfect if perfect else 0

    @property
    def cost(self) -> float:
        """Cycles that the cold start costs."""
        return self.cycles["none"] - self.cycles["perfect"]


def measure(trials: Trials, kernel: Kernel, profile: Statistics, verbose: bool) -> None:
    for mode in SIMULATED:
        if verbose:
            print(f"heddle experiment: launch {kernel.launch}, {mode}", file=sys.stderr)
        run = trials.run("--kernels", str(kernel.launch), "--warmup", mode, "--kernel-stats", "all")
        kernel.set(mode, run)
        if mode == "none":
            kernel.correct(run, profile)


def measure_together(trials: Trials, chosen: str, profile: Statistics) -> list[Kernel]:
    """Two runs for all kernels. The time of each is that of the whole run."""
    warm = trials.run("--kernels", chosen, "--warmup", "perfect", "--kernel-stats", "none")
    cold = trials.run("--kernels", chosen, "--warmup", "none", "--kernel-stats", "all")
    kernels = simulated(cold)
    for kernel in kernels:
        kernel.set("perfect", warm)
        kernel.set("none", cold)
        kernel.correct(cold, profile)
    return kernels


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


def results(kernels: list[Kernel]) -> str:
    return csv_text(["launch", "kernel", "mode", "cycles", "ipc", "accuracy_percent",
                     "cpu_seconds"],
                    ([k.launch, k.name, mode, f"{k.cycles[mode]:.0f}", f"{k.ipc(mode):.4f}",
                      f"{k.accuracy(mode):.3f}", f"{k.seconds[mode]:.3f}"]
                     for k in kernels for mode in MODES if mode in k.cycles))


def corrections(kernels: list[Kernel]) -> str:
    """Corrected cycles, with all digits of what they come from."""
    return csv_text(["launch", "kernel", *Correction.meanings(), "corrected_cycles"],
                    ([k.launch, k.name, *k.correction.inputs().values(), k.correction.corrected]
                     for k in kernels if k.correction))


# ---- plots

LEGEND = {"perfect": "black", "full-memory": "#c8a27a", "memory:N": "#2a60c0",
          "functional": "#2a8f3a", "formula": "#c03030"}
WIDTH, HEIGHT = 360, 240


def panel(kernel: Kernel, left: float, top: float, accuracy: bool) -> list[str]:
    """IPC, or accuracy, over the number of launches warmed up with."""
    value = kernel.accuracy if accuracy else kernel.ipc
    values = [value(mode) for mode in MODES]
    x = draw.Linear([0, 10], left + 52, left + 342)
    y = draw.Linear(values, top + 190, top + 30, from_zero=False)
    parts = [draw.text(left + 52, top + 22, f"launch {kernel.launch}: {short(kernel.name)[:40]}"),
             draw.text((x.start + x.end) / 2, top + 218, "preceding launches, "
                       + ("accuracy in %" if accuracy else "IPC"), "middle", 11)]
    for at in y.ticks():
        parts += [draw.line(x.start, y.at(at), x.end, y.at(at), "#e4e4e4"),
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
    parts.append(draw.box(x.start - 3.5, y.at(value("formula")) - 3.5, 7, 7, LEGEND["formula"],
                          f"formula: {value('formula'):.4g}"))
    return parts


def plot(kernels: list[Kernel], accuracy: bool) -> str:
    parts = []
    for i, kernel in enumerate(kernels):
        parts += panel(kernel, i % 2 * WIDTH, i // 2 * HEIGHT, accuracy)
    bottom = (len(kernels) + 1) // 2 * HEIGHT
    for i, (name, colour) in enumerate(LEGEND.items()):
        parts += [draw.box(52 + 125 * i, bottom + 8, 10, 10, colour, name),
                  draw.text(66 + 125 * i, bottom + 17, name, size=11)]
    return draw.document(bottom + 30, parts, "accuracy" if accuracy else "IPC", 2 * WIDTH)


# ---- page


def html_table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    def line(cell: str, words: Sequence[Any]) -> str:
        return "<tr>" + "".join(f"<{cell}>{escape(str(w))}</{cell}>" for w in words) + "</tr>"
    lines = [line("th", head), *(line("td", row) for row in rows)]
    return "<table>" + "\n".join(lines) + "</table>"


def page_of(kernel: Kernel) -> str:
    perfect, made = kernel.seconds["perfect"], kernel.correction
    assert made is not None
    inputs = made.inputs()
    filled = re.sub(r"[a-z]\w*", lambda name: f"{inputs[name[0]]:.15g}", made.FORMULA)
    return section(
        f"launch-{kernel.launch}", f"Launch {kernel.launch}: {kernel.name}",
        html_table(["warm-up", "cycles", "IPC", "accuracy, %", "CPU, s", "of perfect's"],
                   ([mode, f"{kernel.cycles[mode]:.0f}", f"{kernel.ipc(mode):.4f}",
                     f"{kernel.accuracy(mode):.2f}", f"{kernel.seconds[mode]:.3f}",
                     f"{kernel.seconds[mode] / perfect:.3f}" if perfect else ""]
                    for mode in MODES)),
        f"<h3>The formula</h3>\n<pre>{made.FORMULA}\n= {filled}\n= {made.corrected:.15g}</pre>",
        html_table(["input", "value", "what it is"],
                   ([name, f"{value:.15g}", Correction.meanings()[name]]
                    for name, value in inputs.items())))


def page(title: str, kernels: list[Kernel]) -> str:
    return whole(title, f"<h1>{escape(title)}</h1>",
                 [section("ipc", "IPC", plot(kernels, False)),
                  section("accuracy", "Accuracy", plot(kernels, True)), *map(page_of, kernels)])


# ---- the command


def experiment(trials: Trials, chosen: Any, folder: pathlib.Path) -> None:
    profile = trials.run("--mode", "functional", "--profile", "memory")
    if not profile.get("kernels"):
        raise Mistake("there is no launch to look at")
    numbers = chosen.kernels
    if not numbers:
        ranked = sorted(measure_together(trials, "1-", profile), key=lambda k: (-k.cost, k.launch))
        write(folder / "ranking.csv", ranking(ranked))
        numbers = ",".join(str(n) for n in sorted(k.launch for k in ranked[:PICKED]))
        print(f"the cold start costs launches {numbers} most; ranking.csv has all {len(ranked)}")
    if chosen.corrections:
        kernels = measure_together(trials, numbers, profile)
    else:
        kernels = simulated(trials.run("--kernels", numbers, "--warmup", "none"))
        for kernel in kernels:
            measure(trials, kernel, profile, chosen.verbose)
    write(folder / "results.csv", results(kernels))
    write(folder / "corrections.csv", corrections(kernels))
    if not chosen.corrections:
        write(folder / "ipc.svg", plot(kernels, False))
        write(folder / "accuracy.svg", plot(kernels, True))
        write(folder / "index.html",
              page(f"Warm-up: {trials.subject} on {chosen.platform_file}", kernels))


def main(words: Sequence[str]) -> int:
    parser = command_line.parser("experiment")
    add_options(parser)
    parser.add_argument("--kernels")
    parser.add_argument("--corrections", action="store_true")
    chosen = command_line.parse(parser, words)
    trials = Trials("experiment", chosen, "PLATFORM [--kernels LIST] -o DIR")
    if not chosen.output:
        raise Mistake("'-o DIR' says where to write", usage=True)
    if chosen.kernels == "auto":
        raise Mistake("'--kernels auto' chooses while a program runs; name the launches to look at",
                      usage=True)
    folder = pathlib.Path(chosen.output)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise Mistake(f"cannot create the folder '{folder}': {error.strerror}") from None
    experiment(trials, chosen, folder)
    return 0
