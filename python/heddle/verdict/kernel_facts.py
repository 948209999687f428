"""A kernel with all facts that `heddle.verdict.limits` and `heddle.verdict.memory_limits` judge by,
and the words that sentences about it share."""
from __future__ import annotations

import dataclasses
from typing import Iterable, Sequence

from heddle.statistics.kernels import Cache, Kernel, per_cent
from heddle.statistics.statistics_file import Statistics, collapse, number
from heddle.sweeps.values import FLIPPED, halved_and_doubled
from heddle.verdict import account
from heddle.verdict.fullness import Array, Found, Fullness

# In per cent. A cause with a third of the time is worth a sentence: without it, the kernel would
# take two thirds. A known mistake in the program is worth one from a tenth on.
WORTH_SAYING, WORTH_FIXING = 100 / 3, 10
OCCUPANCY = {"vgprs": "vector registers", "sgprs": "scalar registers", "lds": "the LDS",
             "work_group_slots": "the number of work-groups"}


LESS, MORE = ("half", "double"), ("double", "half")  # values of a setting: that helps, and not


@dataclasses.dataclass(frozen=True)
class Setting:
    """Parameters that are changed together, each with its value as `--set` has it. `against` has
    them the other way: it makes the cause worse, so it proves the cause where no value helps."""
    sets: tuple[str, ...]  # none: no value of them is allowed, or helps
    reason: str            # why that would help
    against: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        return " with ".join(self.sets)


@dataclasses.dataclass(frozen=True)
class Limit:
    what: str      # the name of the cause
    share: float   # in per cent of the kernel's time, or of the run's
    sentence: str
    tries: tuple[Setting, ...] = ()  # the most promising first

    @property
    def words(self) -> str:
        tries = ", ".join(setting.words for setting in self.tries if setting.sets)
        return self.sentence + (f"; settings to try: {tries}" if tries else "")


class Machine:
    """What can be set on the machine of a run, from the stamp of its statistics. `found`: of a run
    with `--report limits`, which knows what the values may be; without it no number is proposed."""

    def __init__(self, statistics: Statistics, found: Found | None):
        stamp = statistics.get("stamp", {})
        self.settings: dict[str, str] = {
            name.removeprefix("link ").replace("[*]", ""): value
            for name, value in stamp.get("settings", {}).items()
            if not name.startswith("clock ")}
        self.links = [name.removeprefix("link ") for name in stamp.get("settings", {})
                      if name.startswith("link ")]
        self.ranges = found and {name.replace("[*]", ""): text
                                 for name, text in found.ranges.items()}

    def known(self, name: str, inside: str = "") -> list[str]:
        """Settings whose path ends with that name. With `inside`, the setting of the outermost
        component around that path, which inner ones follow."""
        if not inside:
            return [setting for setting in self.settings
                    if setting == name or setting.endswith(f".{name}")]
        parts = collapse(inside).replace("[*]", "").split(".")
        around = (".".join([*parts[:i], name]) for i in range(len(parts) + 1))
        return [setting for setting in around if setting in self.settings][:1]

    def setting(self, reason: str, names: Sequence[str], ways: tuple[str, str]) -> Setting | None:
        """All of these together; None: they have no other value, or none is known."""
        ranges = self.ranges
        if ranges is None:
            return None

        def to(which: str) -> tuple[str, ...]:
            found = []
            for name in names:
                others = halved_and_doubled(self.settings[name], ranges.get(name, ""))
                value = others.get(which, others.get("other") if which == ways[0] else None)
                if value is None or value == "false":
                    return ()
                found.append(f"{name}={value}")
            return tuple(found)
        found = Setting(to(ways[0]), reason, to(ways[1]))
        return found if found.sets or found.against else None

    def _each(self, reason: str, names: Iterable[str], ways: tuple[str, str],
              inside: str) -> tuple[Setting, ...]:
        settings = dict.fromkeys(one for name in names for one in self.known(name, inside))
        return tuple(found for one in settings if (found := self.setting(reason, [one], ways)))

    def more(self, reason: str, *names: str, inside: str = "") -> tuple[Setting, ...]:
        """Settings of these names that the machine has, doubled, or `true`."""
        return self._each(reason, names, MORE, inside)

    def less(self, reason: str, *names: str) -> tuple[Setting, ...]:
        """Halved: latencies and costs."""
        return self._each(reason, names, LESS, "")

    def flipped(self, reason: str, name: str, inside: str) -> tuple[Setting, ...]:
        """A bool, whatever it is."""
        return tuple(Setting((f"{one}={FLIPPED[self.settings[one]]}",), reason)
                     for one in self.known(name, inside) if self.settings[one] in FLIPPED)

    def more_of_all(self, reason: str, *names: str) -> tuple[Setting, ...]:
        """Doubled together, as one says to the other what there is."""
        known = [one for name in names for one in self.known(name)]
        found = self.setting(reason, known, MORE) if known else None
        return (found,) if found else ()

    def link(self, name: str = "") -> tuple[Setting, ...]:
        """The bandwidth of a link, by the name of its kind or of its stand-in; of all links if the
        name is not known."""
        kind = name.rpartition(" via ")[2].partition(" ->")[0].split("[")[0]
        return self.more("it carries more in the same time",
                         f"{kind}.bandwidth") if f"{kind}.bandwidth" in self.settings else (
            self.more("it carries more in the same time",
                      *(one for one in self.links if one.endswith(".bandwidth"))))


class Judged:
    """A kernel with what is known of it."""

    def __init__(self, kernel: Kernel, found: Found | None, machine: Machine):
        self.kernel, self.machine = kernel, machine
        self.full: Fullness | None = found.kernels.get((kernel.name, kernel.gpu)) if found else None
        self.levels = found.levels if found else []
        self.translation = found.translation if found else []
        self.shares = account.shares_of(kernel)
        self.sums: dict[str, dict[str, int]] = {}
        for launch in kernel.launches:
            for path, stats in launch.get("components", {}).items():
                into = self.sums.setdefault(collapse(path), {})
                for name in stats:
                    into[name] = into.get(name, 0) + number(stats, name)

    def stat(self, name: str, path: str = "") -> int:
        return sum(stats.get(name, 0) for owner, stats in self.sums.items()
                   if not path or owner == path)

    def miss_rate(self, path: str) -> float:
        cache = Cache()
        cache.add(self.sums.get(path, {}))
        return cache.misses / cache.all if cache.all else 1.0

    # -- loads

    @property
    def lines(self) -> float:
        """The cache lines of an instruction of vector memory."""
        count = self.kernel["vector_memory_instructions"]
        return self.kernel["vector_memory_lines"] / count if count else 0.0

    @property
    def measured(self) -> float:
        """Cycles of an instruction of vector memory from issue to return."""
        count = self.kernel["vector_memory_instructions"]
        return self.kernel["vector_memory_cycles"] / count if count else 0.0

    @property
    def in_flight(self) -> float:
        """The loads in flight of a wavefront, by Little's law."""
        waves = self.kernel.wavefronts
        return self.kernel["vector_memory_cycles"] / waves if waves else 0.0

    @property
    def unloaded(self) -> float:
        """The largest unloaded latency that a load may have. It comes back with its slowest line,
        and at most as many of its lines as it has, times the share that goes on, reach a level."""
        reach, total, before = self.lines, 0.0, 0.0
        for path, cycles in self.levels:
            total += min(1.0, reach) * (cycles - before)
            reach, before = reach * self.miss_rate(path), cycles
        return total

    @property
    def translating(self) -> float:
        """The most cycles by which misses of TLBs lengthen the unloaded latency."""
        if not self.levels or not self.translation:
            return 0.0
        first = f"{self.levels[0][0]}.translation"
        if first not in self.sums:
            return 0.0
        reach, total, before = self.lines * self.miss_rate(first), 0.0, 0.0
        for path, cycles in self.translation:
            total += min(1.0, reach) * (cycles - before)
            reach, before = reach * self.miss_rate(path), cycles
        return total

    @property
    def queued(self) -> float:
        """The least share of an access's time, in per cent, that it waits for other accesses."""
        least = self.unloaded
        return 100 - per_cent(least, self.measured) if least and self.measured > least else 0.0

    # -- sentences

    def more(self, reason: str, *names: str, inside: str = "") -> tuple[Setting, ...]:
        return self.machine.more(reason, *names, inside=inside)

    def less(self, reason: str, *names: str) -> tuple[Setting, ...]:
        return self.machine.less(reason, *names)

    def sure_of_place(self, array: Array) -> str:
        """An interval at each end of a launch is only in part the kernel's, so few say little."""
        full = self.full
        if not full or full.intervals < 5:
            return "confidence: low"
        high = full.intervals >= 20 and 2 * array.full >= full.intervals
        return f"confidence: {'high' if high else 'medium'}"


def sure(share: float) -> str:
    """Counts of all cycles are exact. More than a half of the time is more than anything else can
    have."""
    return f"confidence: {'high' if share > 50 else 'medium'}"


def fits(k: Kernel) -> str:
    fit = k["work_groups_per_unit"] * k["wavefronts_per_work_group"] / k["simds"]
    return f"only {fit:.1f} of {k['slots_per_simd']} wavefronts onto a SIMD"


def scarce(k: Kernel) -> str:
    """What keeps more wavefronts out that the grid has; a platform's own slots do not."""
    return next((name for name in OCCUPANCY if name in k.limiters), "")


def room(j: Judged, scarce: str) -> tuple[Setting, ...]:
    """The command processor places work-groups by its own count of what a compute unit has."""
    names = {"lds": ("cu.lds", "cp.lds", "player.shared", "l1.size"),
             "vgprs": ("cu.vgprs", "cp.vgprs", "player.registers"),
             "work_group_slots": ("cp.work_groups", "player.blocks")}.get(
                 scarce, (f"cu.{scarce}", f"cp.{scarce}"))
    return j.machine.more_of_all("more wavefronts fit on a SIMD", *names)
