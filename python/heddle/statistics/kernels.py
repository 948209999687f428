"""The kernels of a run: all launches of the same kernel on a GPU added up, and the table of
`heddle stats --report cpi`.

A kernel's *slot-cycles* (wavefront slots of all compute units times cycles) are divided as
components/protocols/work/work_cycles.h and components/amd/command_processor/kernel_account.c say.
Here they are rows of a group and a kind, whatever their names, and have to add up to
cycles * slots. Streaming multiprocessors have kinds of their own
(components/protocols/thread_block/warp_cycles.h)."""
from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING, Any, Iterable, Sequence

from heddle.base import vocabulary
from heddle.base.mistakes import Mistake
from heddle.statistics.statistics_file import Statistics, collapse, identity, labels, number

if TYPE_CHECKING:
    from heddle.verdict.kernel_facts import Limit

WAVEFRONTS = ("issued", "executing", "waiting")  # groups of wavefronts that have not ended
# What a work-group takes: the same in all launches of a kernel.
SHAPE = ("compute_units", "simds", "slots_per_simd", "wavefronts_per_work_group",
         "work_groups_per_unit", "vgprs", "sgprs", "lds_bytes", "lanes")
ACHIEVED = ("wavefront_cycles", "unit_cycles", "longest_unit_cycles")
UNITS = ("lds_busy", "lds_conflict", "vector_memory_instructions", "vector_memory_cycles",
         "vector_memory_lines", "scratch_lines", "valu_idle_lanes", "polls")
BUSY = "_busy"  # of the units of a sub-core, behind their names
LANES = 64  # of a wavefront of AMD's


def per_cent(part: float, whole: float) -> float:
    return part / whole * 100 if whole else 0.0


@dataclasses.dataclass
class Cache:
    """What a kind of component did with requests. Misses whose line was already asked for
    (`merged`) sent no request below."""
    hits: int = 0
    misses: int = 0
    merged: int = 0

    @property
    def all(self) -> int:
        return self.hits + self.misses

    def add(self, stats: dict[str, Any]) -> None:
        """Adds the requests of a cache; those of a cache of sectors are to sectors."""
        merged = number(stats, "mshr_hits") + number(stats, "pending_hits")
        self.hits += number(stats, "hits")
        self.misses += (number(stats, "misses") + number(stats, "sector_misses")
                        + number(stats, "pending_hits"))
        self.merged += merged


@dataclasses.dataclass
class Kernel:
    name: str
    gpu: int = 0
    label: str = ""  # in reports; see tell_apart()
    launches: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    rows: dict[tuple[str, str], int] = dataclasses.field(default_factory=dict)
    caches: dict[str, Cache] = dataclasses.field(default_factory=dict)
    sums: dict[str, int] = dataclasses.field(
        default_factory=lambda: dict.fromkeys((*SHAPE, *ACHIEVED, *UNITS, "all_unit_cycles"), 0))
    busy: dict[str, int] = dataclasses.field(default_factory=dict)  # cycles of an SM's units
    limiters: list[str] = dataclasses.field(default_factory=list)
    limits: list[Limit] = dataclasses.field(default_factory=list)  # see heddle.verdict.limits

    @property
    def short(self) -> str:
        return (self.name.split("(")[0] or self.name) + self.label[len(self.name):]

    @property
    def words(self) -> list[str]:
        return [limit.words for limit in self.limits]

    @property
    def total(self) -> int:
        return sum(self.rows.values())

    @property
    def wavefronts(self) -> int:
        return sum(value for (group, _), value in self.rows.items() if group in WAVEFRONTS)

    def sum(self, *keys: str) -> int:
        return sum(number(launch, *keys) for launch in self.launches)

    def group(self, name: str) -> int:
        return sum(value for (group, _), value in self.rows.items() if group == name)

    def waiting(self, *kinds: str) -> int:
        return sum(self.rows.get(("waiting", kind), 0) for kind in kinds)

    def of_wavefronts(self, part: int) -> float:
        return per_cent(part, self.wavefronts)

    def __getitem__(self, name: str) -> int:
        return self.sums[name]

    @property
    def limited_by(self) -> str:
        return ", ".join(self.limiters)

    @property
    def is_nvidia(self) -> bool:
        """True if the kernel's warps ran on streaming multiprocessors."""
        return self["lanes"] != 0

    @property
    def width(self) -> int:
        """Lanes of a wavefront."""
        return self["lanes"] or LANES

    def worded(self, sentence: str) -> str:
        return vocabulary.nvidia(sentence) if self.is_nvidia else sentence

    @property
    def fullest(self) -> tuple[str, float]:
        """What of a sub-core of an SM works most: a unit, or `issue` of an instruction a cycle; in
        per cent of the cycles in which its SM has warps."""
        unit, busy = max((("issue", self.group("issued")), *self.busy.items()),
                         key=lambda item: item[1])
        return unit, per_cent(busy, self["unit_cycles"] * self["simds"])

    @property
    def valu(self) -> float:
        """The share, in per cent, of SIMD-cycles in which the VALU works, among SIMD-cycles of
        compute units with wavefronts. Of an SM: the fullest of its units."""
        if self.is_nvidia:
            return min(self.fullest[1], 100.0)
        busy = self.rows.get(("executing", "valu"), 0) + sum(
            value for (group, kind), value in self.rows.items()
            if group == "issued" and kind.startswith("valu"))
        return per_cent(busy, self["unit_cycles"] * self["simds"])

    @property
    def lanes(self) -> float:
        """The share of active lanes in instructions of the vector ALU, or in all instructions of an
        SM. An instruction of the vector ALU issues for as many cycles as there are SIMDs, which
        take turns."""
        issued = self.group("issued") if self.is_nvidia else sum(
            value for (group, kind), value in self.rows.items()
            if group == "issued" and kind.startswith("valu"))
        turn = 1 if self.is_nvidia else self["simds"]
        count = issued / turn if turn else 0.0
        return 1.0 - self["valu_idle_lanes"] / (self.width * count) if count else 1.0

    def add(self, launch: dict[str, Any], file: str) -> None:
        before, occupancy = self.total, launch.get("occupancy", {})
        for group, kinds in launch["slot_cycles"].items():
            for kind in kinds:
                self.rows[group, kind] = self.rows.get((group, kind), 0) + number(kinds, kind)
        expected = number(launch, "cycles") * number(launch, "slots")
        if self.total - before != expected:
            raise Mistake(f"'{file}': the slot-cycles of kernel '{self.name}' add up to "
                          f"{self.total - before}, not {expected}")
        if not self["compute_units"]:
            self.sums.update((name, number(occupancy, name)) for name in SHAPE)
        limiter = occupancy.get("limited_by")
        if limiter and limiter not in self.limited_by:
            self.limiters.append(limiter)
        for name in ACHIEVED:
            self.sums[name] += number(occupancy, "achieved", name)
        for name in UNITS:
            self.sums[name] += number(launch, "units", name)
        for name in launch.get("units", {}) if self.is_nvidia else ():
            if name.endswith(BUSY) and name not in UNITS:
                unit = name.removesuffix(BUSY)
                self.busy[unit] = self.busy.get(unit, 0) + number(launch, "units", name)
        self.sums["all_unit_cycles"] += (number(launch, "cycles")
                                         * number(occupancy, "compute_units"))
        for path, stats in launch.get("components", {}).items():
            if "hits" in stats or "misses" in stats:
                self.caches.setdefault(collapse(path), Cache()).add(stats)
        self.launches.append(launch)


def timed(statistics: Statistics, file: str) -> list[Kernel]:
    """The kernels that ran with timing, in order of their first launch."""
    kernels: dict[tuple[str, int], Kernel] = {}
    for launch in statistics.get("kernels", []):
        if isinstance(launch.get("slot_cycles"), dict):
            key = identity(launch)
            kernels.setdefault(key, Kernel(*key)).add(launch, file)
    tell_apart([list(kernels.values())])
    return list(kernels.values())


def tell_apart(runs: Sequence[list[Kernel]]) -> None:
    """Gives the kernels of runs that are shown together labels that fit each other."""
    known = labels([(k.name, k.gpu) for k in kernels] for kernels in runs)
    for kernel in itertools.chain(*runs):
        kernel.label = known[kernel.name, kernel.gpu]


def read(statistics: Statistics, file: str) -> list[Kernel]:
    """A run without any of them, though it launched kernels, is a mistake."""
    kernels = timed(statistics, file)
    if statistics.get("kernels") and not kernels:
        raise Mistake(f"'{file}' has no kernel that was simulated with timing, so there is nothing "
                      "to report")
    return kernels


# ---- the table of one run, or of two


def _head(sides: Sequence[Kernel]) -> Iterable[str]:
    yield sides[0].label
    for letter, k in zip("ab", sides):
        count, instructions = len(k.launches), k.sum("wavefront_instructions")
        yield k.worded(f"  {f'{letter}: ' if len(sides) > 1 else ''}{count} launch"
                       f"{'' if count == 1 else 'es'}, {k.sum('cycles')} cycles, "
                       f"{k.sum('work_groups')} work-groups, {instructions} instructions, "
                       f"{k.wavefronts / instructions if instructions else 0:.2f} wavefront-cycles "
                       "an instruction")
        overlapping = sum(launch.get("overlaps") is True for launch in k.launches)
        if overlapping:
            yield (f"  {overlapping} of them while another kernel ran, whose work is in the "
                   "numbers of caches below")


def _line(sides: Sequence[Kernel], label: str, group: str, values: Sequence[int]) -> str:
    """A line with the share of all slot-cycles, and of those of wavefronts."""
    columns = [f"  {label:<26}"] + [f"{value:>16} {per_cent(value, k.total):6.1f} %"
                                    for k, value in zip(sides, values)]
    if len(sides) > 1:
        columns.append(f"{values[1] - values[0]:>+16}")
    elif group in WAVEFRONTS:
        columns.append(f"{sides[0].of_wavefronts(values[0]):6.1f} %")
    return " ".join(columns)


def _keys(sides: Sequence[Kernel]) -> list[tuple[str, str]]:
    return list(dict.fromkeys(key for k in sides for key in k.rows))


def _rows(sides: Sequence[Kernel]) -> Iterable[str]:
    before = ""
    for group, kind in _keys(sides):
        sums = [k.group(group) for k in sides]
        if group != before and any(sums):
            yield _line(sides, group, group, sums)
        before = group
        values = [k.rows.get((group, kind), 0) for k in sides]
        if any(values):
            yield _line(sides, f"  {kind}", group, values)
    yield _line(sides, "all", "", [k.total for k in sides])


def _details(k: Kernel) -> Iterable[str]:
    busy, everywhere = k["unit_cycles"] * k["simds"], k["all_unit_cycles"] * k["simds"]
    fit = k["work_groups_per_unit"] * k["wavefronts_per_work_group"]
    waves = k["wavefront_cycles"]
    yield (f"  occupancy: {waves / busy if busy else 0:.2f} wavefronts a SIMD while its compute "
           f"unit had any, {waves / everywhere if everywhere else 0:.2f} over all; "
           f"{fit / k['simds'] if k['simds'] else 0:.2f} of {k['slots_per_simd']} fit; limited by "
           f"{k.limited_by or 'nothing known'}")
    registers = (f"{k['vgprs']} registers a thread" if k.is_nvidia else
                 f"{k['vgprs']} vector and {k['sgprs']} scalar registers each")
    yield (f"  a work-group: {k['wavefronts_per_work_group']} wavefronts with {registers}, "
           f"{k['lds_bytes']} bytes of LDS")
    alus = f"vector ALUs work {k.valu:.1f} %" if not k.is_nvidia else ", ".join(
        f"{unit} {per_cent(busy, k['unit_cycles'] * k['simds']):.1f} %"
        for unit, busy in (("issue", k.group("issued")), *k.busy.items()) if busy)
    yield (f"  units, while their compute unit had wavefronts: {alus}, "
           f"LDS {per_cent(k['lds_busy'], k['unit_cycles']):.1f} %")
    instructions, lines = k["vector_memory_instructions"], k["vector_memory_lines"]
    if instructions:
        yield (f"  vector memory: {instructions} instructions of {lines / instructions:.2f} lines, "
               f"{k['vector_memory_cycles'] / instructions:.0f} cycles from issue to return; "
               f"{lines / k['unit_cycles'] if k['unit_cycles'] else 0:.2f} lines a cycle and "
               "compute unit")
    for path, c in k.caches.items():
        if c.all:
            merged = (f", {per_cent(c.merged, c.all):5.1f} % merged into a pending miss, "
                      f"{per_cent(c.misses - c.merged, c.all):5.1f} % missed" if c.merged else "")
            yield f"  {path:<34} {c.all:>12} accesses, {per_cent(c.hits, c.all):5.1f} % hit{merged}"


def _sides(runs: Sequence[list[Kernel]]) -> list[list[Kernel]]:
    """The kernels of all runs, each as it is in every run."""
    tell_apart(runs)
    names = list(dict.fromkeys(k.label for kernels in runs for k in kernels))
    known = [{k.label: k for k in kernels} for kernels in runs]
    return [[kernels.get(name, Kernel(name, label=name)) for kernels in known] for name in names]


def table(runs: Sequence[list[Kernel]]) -> str:
    """Each kernel's slot-cycles, details, and words."""
    two, blocks = len(runs) > 1, []
    heads = f" {'a' if two else '':>16} {'of all':>8} " + (
        f"{'b':>16} {'of all':>8} {'difference':>16}" if two else f"{'of waves':>8}")
    for sides in _sides(runs):
        lines = [*_head(sides), "", f"  {'slot-cycles':<26}{heads}", *_rows(sides)]
        for letter, k in zip("ab", sides):
            if k.launches:
                lines += [f"\n  {letter}" if two else "", *map(k.worded, _details(k)),
                          *(f"  {words}" for words in k.words)]
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks) or "no kernel has ended\n"


def rows_csv(runs: Sequence[list[Kernel]]) -> str:
    """One line for each kernel and kind."""
    two = len(runs) > 1
    lines = ["kernel,group,kind," + ("a,b,difference" if two else "slot_cycles")]
    for sides in _sides(runs):
        name = sides[0].label.replace('"', '""')
        for group, kind in _keys(sides):
            values = [k.rows.get((group, kind), 0) for k in sides]
            values += [values[1] - values[0]] if two else []
            lines.append(f'"{name}",{group},{kind},' + ",".join(map(str, values)))
    return "\n".join(lines) + "\n"
