"""`heddle calibrate --counters`: the counters of a card, as a profiler wrote them, beside those of
a run, kernel by kernel and dispatch by dispatch.

The n-th dispatch of a kernel on the card is that of the n-th launch of the kernel in the run.
Kernels go by their names without arguments; where both have one kernel only, these are compared
whatever they are called."""
from __future__ import annotations

import dataclasses
import math
import pathlib
import re
from typing import Collection, Iterator, Mapping, Sequence

from heddle.base.command_line import Options
from heddle.base.files import csv_text, write
from heddle.base.mistakes import Mistake
from heddle.counters import profiler
from heddle.counters import table as tables, report
from heddle.counters.profiler import Profiled
from heddle.counters.report import Counted, Dispatch
from heddle.counters.table import Counter
from heddle.statistics.statistics_file import number, read

NEAR = 0.05  # what counts as near
BLOCKS = re.compile(r"(GRBM|SPI|SQC?|TA|TD|TCP|TCA|TCC|CPC|CPF)_\w+")
STARTS, ENDS = ("Start_Timestamp", "BeginNs", "StartNs"), ("End_Timestamp", "EndNs")
TIME = Counter(("time",), "us", tables.DIFFERS, "launch", None,  # type: ignore[arg-type]
               "From all that differs above; a profiler's own packets are no part of it.")


def plain(column: str) -> str:
    """The counter of a column: NAME, NAME_sum, NAME[channel]."""
    return re.sub(r"(_sum|\[\d+\])$", "", column)


def card_counters(launch: Profiled, place: str, known: Collection[str] = ()) -> dict[str, float]:
    """The columns that are counters by their names, or are in `known`. Channels are added up if
    there is no column with their sum."""
    found: dict[str, float] = {}
    for column, text in launch.texts.items():
        if (BLOCKS.fullmatch(plain(column)) or column in known) and text.strip():
            raise Mistake(f"{place}: '{text:.40}' of {column} is not a number")
    for column, value in launch.values.items():
        name = plain(column)
        if not BLOCKS.fullmatch(name) and name not in known or math.isnan(value):
            continue
        if not 0 <= value < 1e18:
            raise Mistake(f"{place}: {column} is {value:g}, which nothing counts")
        if not column.endswith("]"):
            found[name] = value
        elif name not in launch.values and f"{name}_sum" not in launch.values:
            found[name] = found.get(name, 0.0) + value
    return found


def nanoseconds(launch: Profiled) -> float | None:
    begin, end = (next((launch.values[name] for name in names if name in launch.values), None)
                  for names in (STARTS, ENDS))
    return end - begin if begin is not None and end is not None and end > begin else None


def merged(files: Sequence[str]) -> list[Profiled]:
    """Files of one program, each with other counters: dispatches go by their numbers."""
    found: dict[str, Profiled] = {}
    for file in files:
        for launch in profiler.read(file):
            into = found.setdefault(launch.number, launch)
            if profiler.short(into.name) != profiler.short(launch.name):
                raise Mistake(f"'{file}': dispatch {launch.number} is '{launch.name}', in "
                              f"'{files[0]}' '{into.name}': the files are of different runs")
            into.values.update(launch.values)
            into.texts.update(launch.texts)
    return list(found.values())


# ---- pairs of dispatches


@dataclasses.dataclass
class Kernel:
    """A kernel of both, with its dispatches in pairs. `left`: how many more the card has."""
    label: str
    on_card: str
    pairs: list[tuple[Profiled, Dispatch]]
    left: int


@dataclasses.dataclass
class Row:
    counter: Counter
    name: str
    card: list[float]
    run: list[float]

    @property
    def ratio(self) -> float:
        card = sum(self.card)
        return sum(self.run) / card if card else math.inf if sum(self.run) else 1.0

    @property
    def verdict(self) -> str:
        apart = 1e-6 if self.counter.unit in ("us", "per cent", "KiB") else 0.5
        if all(abs(a - b) < apart for a, b in zip(self.card, self.run)):
            return "equal"
        near = all(abs(b - a) <= NEAR * a for a, b in zip(self.card, self.run))
        return "near" if near else "differs"


def paired(card: Sequence[Profiled], run: Counted) -> tuple[list[Kernel], list[str], list[str]]:
    """And the names of kernels that only the card, and only the run has."""
    on_card: dict[str, list[Profiled]] = {}
    for launch in card:
        on_card.setdefault(profiler.short(launch.name), []).append(launch)
    in_run: dict[str, list[Dispatch]] = {}
    for dispatch in run.dispatches:
        in_run.setdefault(profiler.short(dispatch.kernel[0]), []).append(dispatch)
    names = {name: name for name in in_run if name in on_card}
    if len(on_card) == len(in_run) == 1:
        names = {next(iter(in_run)): next(iter(on_card))}
    found = []
    for name, other in names.items():
        own, its = in_run[name], on_card[other]
        found.append(Kernel(run.labels[own[0].kernel], its[0].name, list(zip(its, own)),
                            len(its) - len(own)))
    return (found, [name for name in on_card if name not in names.values()],
            [name for name in in_run if name not in names])


def rows(kernel: Kernel, run: Counted, place: str) -> tuple[list[Row], dict[str, list[str]]]:
    """The counters that both have, in the order of the table; and counters that only the card has,
    by the reason."""
    known = {name for one in run.table.counters for name in one.names}
    cards = [card_counters(card, f"{place}, dispatch {card.number}", known)
             for card, _ in kernel.pairs]
    has = {name for counted in cards for name in counted}
    found, missing = [], dict[str, list[str]]()
    for one in run.table.counters:
        name = next((name for name in one.names if name in has), None)
        if not name:
            continue
        both = [(counted[name], dispatch.values[one.names[0]])
                for counted, (_, dispatch) in zip(cards, kernel.pairs) if name in counted]
        given = [(a, b) for a, b in both if isinstance(b, float)]
        if given:
            found.append(Row(one, name, [a for a, _ in given], [b for _, b in given]))
        else:
            missing.setdefault(str(both[0][1]), []).append(name)
        has -= {name}
    for name in sorted(has):
        missing.setdefault(run.table.absent.get(name, "it is not in heddle's table"),
                           []).append(name)
    times = [(ns / 1e3, (number(dispatch.launch, "end_ps") - number(dispatch.launch, "start_ps"))
              / 1e6) for card, dispatch in kernel.pairs if (ns := nanoseconds(card))]
    if times:
        found.append(Row(TIME, "time", [a for a, _ in times], [b for _, b in times]))
    return found, missing


# ---- what is told


def cell(values: Sequence[float]) -> str:
    texts = list(dict.fromkeys(f"{value:,.0f}" if value == int(value) or value >= 1000
                               else f"{value:.2f}" for value in values))
    return " / ".join(texts) if len(texts) <= 3 else \
        f"{min(values):,.0f} to {max(values):,.0f}"


def why(row: Row, run: Counted) -> str:
    """Reasons why they differ: by definition, by what the model does, or both."""
    if row.verdict == "equal":
        return ""
    part = "" if row.counter.kind == tables.DIFFERS else run.table.parts[row.counter.part]
    return " ".join(filter(None, (row.counter.note, part and f"{part[0].upper()}{part[1:]}.")))


def kernel_page(kernel: Kernel, found: Sequence[Row], missing: Mapping[str, list[str]],
                run: Counted) -> Iterator[str]:
    yield f"## {kernel.label}"
    yield ""
    called = "" if profiler.short(kernel.label) == profiler.short(kernel.on_card) else \
        f", on the card {kernel.on_card.strip()}"
    count = len(kernel.pairs)
    yield (f"{count} dispatch{'es' if count > 1 else ''}{called}"
           + (f"; {'the card' if kernel.left > 0 else 'heddle'} has {abs(kernel.left)} more"
              if kernel.left else "") + ".")
    must = [row for row in found if row.counter.kind == tables.EQUAL]
    wrong = [row.name for row in must if row.verdict != "equal"]
    yield ""
    yield (f"{len(must) - len(wrong)} of {len(must)} that must be equal are"
           + (f"; not {', '.join(wrong)}" if wrong else "") + ". Of all counters: "
           + ", ".join(f"{sum(row.verdict == verdict for row in found)} {word}" for verdict, word
                       in (("equal", "equal"), ("near", "near"), ("differs", "different"))) + ".")
    yield ""
    yield "| counter | unit | card | heddle | heddle / card | | what makes it differ |"
    yield "| --- | --- | ---: | ---: | ---: | --- | --- |"
    for row in found:
        verdict = f"**{row.verdict}**" if row.verdict == "differs" else row.verdict
        yield (f"| {row.name} | {row.counter.unit} | {cell(row.card)} | {cell(row.run)} | "
               f"{row.ratio:.3f} | {verdict} | {why(row, run)} |")
    yield ""
    if missing:
        yield "The card's file has more that heddle does not give:"
        yield ""
        yield from (f"- {', '.join(names)}: {reason}" for reason, names in missing.items())
        yield ""


def dispatches_csv(kernels: Sequence[tuple[Kernel, list[Row]]]) -> str:
    return csv_text(["kernel", "dispatch", "counter", "unit", "kind", "card", "heddle", "verdict",
                     "part"],
                    ([kernel.label, number_of, row.name, row.counter.unit, row.counter.kind,
                      f"{card:.10g}", f"{own:.10g}", row.verdict, row.counter.part]
                     for kernel, found in kernels for row in found
                     for number_of, (card, own) in enumerate(zip(row.card, row.run))))


def main(options: Options) -> int:
    """The file is the statistics file of the run."""
    file = options.files[0]
    run = report.counted(read(file), file, options.profile)
    kernels, on_card, in_run = paired(merged(options.counters), run)
    if not kernels:
        raise Mistake(f"no kernel of '{options.counters[0]}' ({', '.join(on_card)}) is one of "
                      f"'{file}' ({', '.join(in_run)})")
    page = [f"# Counters of {' and '.join(options.counters)} and of {pathlib.Path(file)}", "",
            f"Near is within {100 * NEAR:.0f} % in each dispatch.", ""]
    compared = []
    for kernel in kernels:
        found, missing = rows(kernel, run, f"'{options.counters[0]}'")
        compared.append((kernel, found))
        page += kernel_page(kernel, found, missing, run)
    for names, where in ((on_card, "the card"), (in_run, "the run")):
        if names:
            page += [f"Only {where} has {', '.join(names)}.", ""]
    folder = pathlib.Path(options.output or f"{pathlib.Path(file).stem}.calibration")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Mistake(f"cannot write to the folder '{folder}': {error.strerror}") from None
    write(folder / "counters.md", "\n".join(page))
    write(folder / "counters.csv", dispatches_csv(compared))
    print("\n".join(page), end="")
    return 0
