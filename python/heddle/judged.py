"""A kernel with what is known of it, and the words that sentences about it share: what
`heddle.limits` and `heddle.memory_limits` judge by."""
from __future__ import annotations

import dataclasses

from heddle import account
from heddle.fullness import Array, Found, Fullness
from heddle.kernels import Kernel, per_cent
from heddle.statistics_file import collapse, number

# In per cent. A cause with a third of the time is worth a sentence: without it, the kernel would
# take two thirds. A known mistake in the program is worth one from a tenth on.
WORTH_SAYING, WORTH_FIXING = 100 / 3, 10
OCCUPANCY = {"vgprs": "vector registers", "sgprs": "scalar registers", "lds": "the LDS",
             "work_group_slots": "the number of work-groups"}


@dataclasses.dataclass(frozen=True)
class Limit:
    what: str      # the name of the cause
    share: float   # in per cent of the kernel's time, or of the run's
    words: str


class Judged:
    """A kernel with what is known of it."""

    def __init__(self, kernel: Kernel, found: Found | None, settings: dict[str, str]):
        self.kernel, self.settings = kernel, settings
        self.full: Fullness | None = found.kernels.get((kernel.name, kernel.gpu)) if found else None
        self.levels = found.levels if found else []
        self.translation = found.translation if found else []
        self.shares = account.of(kernel)
        self.sums: dict[str, dict[str, int]] = {}
        for launch in kernel.launches:
            for path, stats in launch.get("components", {}).items():
                into = self.sums.setdefault(collapse(path), {})
                for name in stats:
                    into[name] = into.get(name, 0) + number(stats, name)

    def stat(self, name: str, path: str = "") -> int:
        return sum(stats.get(name, 0) for of, stats in self.sums.items() if not path or of == path)

    def miss_rate(self, path: str) -> float:
        hits, misses = self.stat("hits", path), self.stat("misses", path)
        return misses / (hits + misses) if hits + misses else 1.0

    # -- loads

    @property
    def lines(self) -> float:
        """Of an instruction of vector memory."""
        count = self.kernel["vector_memory_instructions"]
        return self.kernel["vector_memory_lines"] / count if count else 0.0

    @property
    def measured(self) -> float:
        """Cycles of an instruction of vector memory from issue to return."""
        count = self.kernel["vector_memory_instructions"]
        return self.kernel["vector_memory_cycles"] / count if count else 0.0

    @property
    def in_flight(self) -> float:
        """Of a wavefront, by Little's law."""
        waves = self.kernel.wavefronts
        return self.kernel["vector_memory_cycles"] / waves if waves else 0.0

    @property
    def alone(self) -> float:
        """What it takes at most with nobody in front. It comes back with its slowest line, and at
        most as many of its lines as it has, times the share that goes on, reach a level."""
        reach, total, before = self.lines, 0.0, 0.0
        for path, cycles in self.levels:
            total += min(1.0, reach) * (cycles - before)
            reach, before = reach * self.miss_rate(path), cycles
        return total

    @property
    def translating(self) -> float:
        """Cycles by which misses of TLBs lengthen it, at most, with nobody in front."""
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
        """Per cent of its time that it waits for others, at least."""
        alone = self.alone
        return 100 - per_cent(alone, self.measured) if alone and self.measured > alone else 0.0

    # -- sentences

    def tries(self, *names: str, inside: str = "") -> str:
        """The settings of these names that the machine has. With `inside` those of what is around
        that path, the outermost: what is inside of it follows."""
        found = []
        for name in names:
            if inside:
                parts = collapse(inside).replace("[*]", "").split(".")
                known = (".".join([*parts[:i], name]) for i in range(len(parts) + 1))
                has = {setting.replace("[*]", ""): value
                       for setting, value in self.settings.items() if value != "true"}
                found += [setting for setting in known if setting in has][:1]
            else:
                plain = (setting.replace("[*]", "") for setting in self.settings)
                found += [setting for setting in plain
                          if setting == name or setting.endswith(f".{name}")]
        found = list(dict.fromkeys(found))
        return f"; settings to try: {', '.join(found)}" if found else ""

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


def link_setting(settings: dict[str, str], link: str = "") -> str:
    """The bandwidth of a link of a platform, by the name of its kind or of what stands for it; of
    all of them where that is not known."""
    name = link.rpartition(" via ")[2].partition(" ->")[0].split("[")[0]
    found = [setting.removeprefix("link ") for setting in settings
             if setting.startswith("link ") and setting.endswith(".bandwidth")]
    own = [setting for setting in found if setting == f"{name}.bandwidth"]
    return f"; settings to try: {', '.join(own or found)}" if found else ""


def fits(k: Kernel) -> str:
    fit = k["work_groups_per_unit"] * k["wavefronts_per_work_group"] / k["simds"]
    return f"only {fit:.1f} of {k['slots_per_simd']} wavefronts onto a SIMD"


def scarce(k: Kernel) -> str:
    """What keeps more wavefronts out that the grid has; a platform's own slots do not."""
    return next((name for name in OCCUPANCY if name in k.limiters), "")


def room(scarce: str) -> tuple[str, ...]:
    return {"lds": ("cu.lds", "cp.lds"), "work_group_slots": ("cp.work_groups",)}.get(
        scarce, (f"cu.{scarce}", f"cp.{scarce}"))
