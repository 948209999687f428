"""What limits a kernel: decided here once, as data with a sentence each.

Each rule is a function that gives a share in per cent and a sentence, beside the least share at
which it speaks. Rules are asked in order, from the outside to the inside of the machine, and all
that apply speak. A suggestion is only made where the numbers contain it.

With the platform's description (`of_memory`) more is known: how long a load takes with nobody in
front, so how long it queues; and, with a series of short intervals (`heddle.fullness`), which
element was full when: banks or channels that collide, bandwidth, TLBs, links. Without a series
means stand for it, and what they cannot tell is said. Nothing is called latency unless loads take
about as long as the description says that they have to. Kinds of components are those of
diagrams, so a machine of somebody else's components is judged, too. What claims something about
memory needs a third of the wavefronts' cycles to wait for it."""
from __future__ import annotations

import dataclasses
from typing import Callable, Iterable, Iterator

from heddle.fullness import FULL, Array as Filled, Fullness
from heddle.kernels import WAVEFRONTS, Cache, Kernel, per_cent
from heddle.measures import Group, Measured, grouped, least_of_hottest

# Shares below which nothing is said, in per cent. Chosen, not measured: a third of the time is
# worth a sentence, a tenth is when it is a known mistake (bank conflicts). HOT: times the mean of
# the array, of at least FEWEST elements.
WORTH_SAYING, WORTH_FIXING, BUSY, IDLE_UNITS, UNBALANCED = 33, 10, 60, 50, 20
HOT, FEWEST = 4.0, 4
# Loads that a wavefront has under way, below which not even two of them overlap.
IN_FLIGHT = 2.0


@dataclasses.dataclass(frozen=True)
class Limit:
    what: str      # the name of the rule
    share: float   # in per cent, of what the rule looks at
    words: str


# ---- from where its wavefronts' cycles went


def _cache(k: Kernel, name: str) -> Cache | None:
    """The first one with accesses whose name, without its index, ends a path."""
    return next((c for path, c in k.caches.items()
                 if c.all and path.rpartition(".")[2].split("[")[0] == name), None)


def _hits(k: Kernel, name: str, words: str) -> str:
    cache = _cache(k, name)
    return words.format(f"{per_cent(cache.hits, cache.all):.0f} %") if cache else ""


def _more_wavefronts(k: Kernel) -> str:
    """Would more wavefronts hide the latency, and what keeps them out? Only when slots are left and
    the grid would fill them."""
    reasons = {"vgprs": "vector registers let", "sgprs": "scalar registers let",
               "lds": "the LDS lets", "work_group_slots": "the number of work-groups lets"}
    if k.limited_by not in reasons:
        return ""
    fit = k["work_groups_per_unit"] * k["wavefronts_per_work_group"] / k["simds"]
    return (f"; more wavefronts could hide it, but {reasons[k.limited_by]} only {fit:.1f} of "
            f"{k['slots_per_simd']} onto a SIMD")


def _work_groups(k: Kernel) -> str:
    """As in '32 work-groups a launch'; a mean that is no whole number has a decimal."""
    groups, launches = k.sum("work_groups"), len(k.launches)
    return (f"{groups / launches:.{int(groups % launches != 0)}f} work-group"
            f"{'' if groups == launches else 's'} a launch")


def _launch(k: Kernel) -> float:
    return per_cent(k.rows.get(("empty", "launch"), 0), k.total)


def _idle_units(k: Kernel) -> float:
    return (100 - per_cent(k["unit_cycles"], k["all_unit_cycles"]) - _launch(k)
            if "grid" in k.limited_by else 0)


def _unbalanced(k: Kernel) -> float:
    """How much shorter than the longest of the compute units the average of all had wavefronts. A
    grid that leaves units idle anyway is _idle_units'."""
    most = k["longest_unit_cycles"] * k["compute_units"]
    return 100 - per_cent(k["unit_cycles"], most) if _idle_units(k) < IDLE_UNITS and most else 0


def _own_work(k: Kernel) -> float:
    """Issue and execution, where the ALUs have room: then it is the length of each wavefront's
    chain of instructions that counts."""
    return k.of_wavefronts(k.group("issued") + k.group("executing")) if k.valu < BUSY else 0


def _lds(k: Kernel) -> float:
    return per_cent(k["lds_busy"], k["unit_cycles"])


def _lds_latency(k: Kernel) -> float:
    """Behind an LDS that is busy, wavefronts wait for their turn and not for its latency."""
    return 0 if _lds(k) >= BUSY else k.of_wavefronts(k.waiting("lgkmcnt_lds"))


def _waits(*kinds: str) -> Callable[[Kernel], float]:
    return lambda k: k.of_wavefronts(k.waiting(*kinds))


def _own_work_words(k: Kernel, value: float) -> str:
    simd_cycles = k["unit_cycles"] * k["simds"]
    return (f"limited by the length of the program: wavefronts issue or execute for {value:.0f} % "
            f"of their cycles, while the vector ALUs work for {k.valu:.0f} % of the time; "
            f"{k['wavefront_cycles'] / simd_cycles if simd_cycles else 0:.2f} wavefronts a SIMD "
            "are too few to fill them")


def _vector_memory_words(k: Kernel, value: float) -> str:
    words = f"limited by vector memory: {value:.0f} % of the wavefronts' cycles wait on vmcnt"
    if k["vector_memory_instructions"]:
        mean = k["vector_memory_cycles"] / k["vector_memory_instructions"]
        words += f"; an instruction takes {mean:.0f} cycles"
    cache = _cache(k, "l1v")
    words += _hits(k, "l1v", "; {} of the accesses hit in the L1")
    merged = per_cent(cache.merged, cache.all) if cache else 0
    if merged >= 0.5:
        words += f", {merged:.0f} % merged there into a pending miss"
    return words + _hits(k, "l2", ", {} of the rest in the L2") + _more_wavefronts(k)


@dataclasses.dataclass(frozen=True)
class Rule:
    what: str
    share: Callable[[Kernel], float]
    least: float
    words: Callable[[Kernel, float], str]
    inner: bool = True  # about what the wavefronts do


RULES = (
    Rule("launch", _launch, WORTH_SAYING, lambda k, v: (
        f"short for what a launch costs: {v:.0f} % of the slot-cycles pass before the first "
        "work-group can be placed"), False),
    Rule("grid", _idle_units, IDLE_UNITS, lambda k, v: (
        f"limited by the grid: {_work_groups(k)} for {k['compute_units']} compute units, which "
        f"have none for {v:.0f} % of the time"), False),
    Rule("balance", _unbalanced, UNBALANCED, lambda k, v: (
        "unbalanced: one compute unit had wavefronts for "
        f"{k['longest_unit_cycles'] // len(k.launches)} cycles, all of them on average for "
        f"{v:.0f} % less; {_work_groups(k)}, of which {k['work_groups_per_unit']} fit on each"),
         False),
    Rule("valu", lambda k: k.valu, BUSY, lambda k, v: (
        f"limited by the vector ALUs: they work for {v:.0f} % of the time in which their compute "
        "unit has wavefronts")),
    Rule("program", _own_work, BUSY, _own_work_words),
    Rule("lds", _lds, BUSY, lambda k, v: (
        f"limited by the LDS: it works for {v:.0f} % of the time in which its compute unit has "
        f"wavefronts, {per_cent(k['lds_conflict'], k['lds_busy']):.0f} % of that for bank "
        f"conflicts; for {_waits('lgkmcnt_lds', 'lds_conflict', 'lds_busy')(k):.0f} % of their "
        "cycles wavefronts wait for it")),
    Rule("vector_memory", _waits("vmcnt"), WORTH_SAYING, _vector_memory_words),
    Rule("stores", _waits("stores"), WORTH_SAYING, lambda k, v: (
        f"limited by stores: for {v:.0f} % of their cycles wavefronts are behind s_endpgm and wait "
        "for their stores")),
    Rule("scalar_memory", _waits("lgkmcnt_scalar_memory"), WORTH_SAYING, lambda k, v: (
        f"limited by scalar memory: {v:.0f} % of the wavefronts' cycles wait on lgkmcnt for scalar "
        f"loads{_hits(k, 'l1s', '; {} of them hit in the scalar cache')}{_more_wavefronts(k)}")),
    Rule("lds_latency", _lds_latency, WORTH_SAYING, lambda k, v: (
        f"limited by the latency of the LDS: {v:.0f} % of the wavefronts' cycles wait on lgkmcnt "
        f"for it{_more_wavefronts(k)}")),
    Rule("barriers", _waits("barrier"), WORTH_SAYING, lambda k, v: (
        f"limited by barriers: {v:.0f} % of the wavefronts' cycles wait at s_barrier for the "
        "slowest of the work-group")),
    Rule("fetch", _waits("fetch"), WORTH_SAYING, lambda k, v: (
        f"limited by instruction fetch: {v:.0f} % of the wavefronts' cycles"
        f"{_hits(k, 'l1i', '; {} of the fetches hit in the instruction cache')}")),
    Rule("in_flight", _waits("vector_memory_full", "counter_full"), WORTH_SAYING, lambda k, v: (
        "limited by the number of vector memory instructions in flight: "
        f"{v:.0f} % of the wavefronts' cycles")),
    Rule("bank_conflicts", _waits("lds_conflict"), WORTH_FIXING, lambda k, v: (
        f"bank conflicts of the LDS cost {v:.0f} % of the wavefronts' cycles "
        f"({per_cent(k['lds_conflict'], k['lds_busy']):.0f} % of the cycles in which it works): "
        "lanes use addresses that differ by multiples of 128 bytes; rows with a word more would "
        "spread them"), False),
)


def _largest(k: Kernel) -> Iterator[Limit]:
    """The two kinds with most of the wavefronts' cycles."""
    rows = sorted(((value, key) for key, value in k.rows.items() if key[0] in WAVEFRONTS),
                  key=lambda row: -row[0])[:2]
    if len(rows) == 2 and rows[0][0]:
        shares = [f"{k.of_wavefronts(value):.0f} % " for value, _ in rows]
        yield Limit("none", k.of_wavefronts(rows[0][0]), (
            f"no single limit: of the wavefronts' cycles {shares[0]}are {'.'.join(rows[0][1])}, "
            f"{shares[1]}{'.'.join(rows[1][1])}"))


def of_cycles(k: Kernel) -> list[Limit]:
    told = [(rule, value) for rule in RULES if (value := rule.share(k)) >= rule.least]
    limits = [Limit(rule.what, value, rule.words(k, value)) for rule, value in told]
    return limits if any(rule.inner for rule, _ in told) else [*limits, *_largest(k)]


def told(kernels: list[Kernel]) -> list[Kernel]:
    """With their words."""
    for kernel in kernels:
        kernel.words = [limit.words for limit in of_cycles(kernel)]
    return kernels


# ---- from what components measured, too


def _memory_wait(k: Kernel) -> float:
    """Per cent of the wavefronts' cycles that wait for memory."""
    return k.of_wavefronts(k.waiting("vmcnt", "stores", "vector_memory_full", "counter_full",
                                     "lgkmcnt_scalar_memory"))


@dataclasses.dataclass
class Array:
    """The utilisation of an array's elements, in the kernel and in the whole run."""
    path: str
    kind: str
    kernel: Group
    run: Group

    @property
    def share(self) -> float:
        return 100 * self.kernel.share if self.kernel.whole else 0.0

    @property
    def is_memory(self) -> bool:
        return self.kind in ("cache", "memory")


def _arrays(kernel: Measured, run: Measured) -> list[Array]:
    places = kernel.model.places[:kernel.model.instances]
    kinds = {place.path: place.kind for place in places if place.speaks}
    own = [row for row in run.rows("utilisation") if row.path in kinds]
    timed = {group.path: group for group in grouped(
        row for row in kernel.rows("utilisation") if row.path in kinds)}
    return [Array(group.path, group.kind, timed.get(group.path, Group(group.path, "", "")), group)
            for group in grouped(own)]


def _translation(k: Kernel, array: Array, kernel: Measured) -> Limit | None:
    if array.kind != "translation" or array.share < WORTH_SAYING:
        return None
    # All parts that translate, which components keep beside their tags.
    first = [share for place, share in zip(kernel.model.places, kernel.shares["hit_rate"])
             if place.interface == "address_translation"]
    whole = sum(share[1] for share in first)
    hits = (f"; {per_cent(sum(share[0] for share in first), whole):.0f} % of translations hit in "
            "the first TLB" if whole > 0 else "")
    return Limit("translation", array.share, (
        f"limited by address translation, the reach of the TLBs: {array.path} is "
        f"{array.share:.0f} % busy, and wavefronts wait for memory for {_memory_wait(k):.0f} % of "
        f"their cycles{hits}; the kernel uses more pages than the TLBs hold, or few lines of each: "
        "larger pages, or work on one page at a time, would help"))


def _hot_channel(array: Array) -> Limit | None:
    count = len(array.run.rows)
    if not array.is_memory or count < FEWEST or not array.kernel.whole:
        return None
    path, part = least_of_hottest(array.kernel, array.run)
    share = per_cent(part, array.kernel.whole / count)
    if share < WORTH_SAYING or share < HOT * array.share:
        return None
    return Limit("hot_channel", share, (
        f"one hot channel: {path} is {share:.0f} % busy, while the {count} of {array.path} are "
        f"{array.share:.0f} % on average; it carries {per_cent(part, array.kernel.part):.0f} % of "
        "their traffic, so addresses differ by multiples of what they are interleaved by: rows "
        "with some bytes more, or a hashed interleave, would spread them"))


def _bandwidth(array: Array) -> Limit | None:
    if not array.is_memory or array.share < BUSY:
        return None
    return Limit("bandwidth", array.share, f"limited by bandwidth: {array.path} moves "
                                           f"{array.share:.0f} % of what it can")


# ---- from intervals


@dataclasses.dataclass
class Way:
    """A kernel's loads on their way to memory: what they take, and what each level of the way takes
    with nobody in front."""
    measured: float
    levels: list[tuple[str, float]]

    @property
    def queued(self) -> float:
        """Per cent of a load's time that it waits for others, at least."""
        known = self.levels and self.measured > self.levels[-1][1]
        return 100 - per_cent(self.levels[-1][1], self.measured) if known else 0.0

    @property
    def words(self) -> str:
        path, cycles = self.levels[-1]
        return (f"a load takes {self.measured:.0f} cycles, where the whole way to "
                f"{path} takes {cycles:.0f} with nobody in front, so at least {self.queued:.0f} % "
                "of it is queueing")


def _way(k: Kernel, levels: list[tuple[str, float]]) -> Way:
    count = k["vector_memory_instructions"]
    return Way(k["vector_memory_cycles"] / count if count else 0.0, levels)


def _confidence(fullness: Fullness, share: float) -> str:
    """An interval at each end of a launch is only in part the kernel's, so few say little."""
    sure = fullness.intervals >= 20 and share >= 2 * WORTH_SAYING
    return f"confidence: {'high' if sure else 'medium' if fullness.intervals >= 5 else 'low'}"


def _tries(parameters: Iterable[str], path: str, names: Iterable[str]) -> str:
    """The settings of what the array is in, of these names, that the machine has."""
    inside, known = path.replace("[*]", "").rpartition(".")[0], set(parameters)
    found = [f"{inside}.{name}" for name in names if f"{inside}.{name}" in known]
    return f"; settings to try: {', '.join(found)}" if found else ""


def _reach(fullness: Fullness, settings: Iterable[str]) -> str:
    """The settings of what translates that enlarge it."""
    known = set(settings)
    found = [name for a in fullness.arrays.values() if a.kind == "translation"
             for name in (f"{a.path}.sets", f"{a.path}.walkers") if name in known]
    return f"; settings to try: {', '.join(found)}" if found else ""


def _full(array: Filled, fullness: Fullness, settings: dict[str, str]) -> Limit | None:
    """An array of which an element is full for a third of the time, and nothing is fuller."""
    share = per_cent(array.first, fullness.intervals)
    if share < WORTH_SAYING or array.kind == "compute":
        return None
    when = f"in {array.full} of {fullness.intervals} intervals of {fullness.cycles} cycles"
    often, count = array.fullest.most_common(1)[0]
    sure = _confidence(fullness, share)
    size = ("banks", "channels")
    if array.elements >= FEWEST and array.mean < FULL / 2:
        tries = _tries(settings, array.path, ("hashed", *size))
        each = array.full_elements / array.full
        if 2 * count >= array.full:
            return Limit("hot_channel", share, (
                f"one hot channel: {often} is the fullest {when} in which one is full, while the "
                f"{array.elements} of {array.path} are {100 * array.mean:.0f} % busy; addresses "
                f"differ by multiples of what they are interleaved by; {sure}{tries}"))
        return Limit("collisions", share, (
            f"limited by collisions: {when} {each:.1f} of the {array.elements} of {array.path} are "
            f"full, while all are {100 * array.mean:.0f} % busy; it is not always the same ones "
            f"({len(array.fullest)} are the fullest at times): what is asked for at one moment "
            f"lies in few of them; {sure}{tries}"))
    if array.kind == "translation":
        return Limit("translation", share, (
            f"limited by address translation, the reach of the TLBs: {often} is full {when}; the "
            f"kernel uses more pages than the TLBs hold, or few lines of each; {sure}"
            f"{_reach(fullness, settings)}"))
    return Limit("bandwidth", share, (
        f"limited by bandwidth: {array.path} is full {when}, {array.full_elements / array.full:.1f}"
        f" of {array.elements}; {sure}{_tries(settings, array.path, size)}"))


def _queueing(k: Kernel, way: Way, found: bool, looked: bool) -> Iterator[Limit]:
    if way.queued >= WORTH_SAYING:
        where = ("" if found else "; no element is full for a third of the time" if looked else
                 "; where it waits, `heddle run --report limits` tells")
        yield Limit("queueing", way.queued, f"loads queue: {way.words}{where}")
        return
    in_flight = k["vector_memory_cycles"] / k.wavefronts if k.wavefronts else 0.0
    if found or not way.levels or in_flight >= IN_FLIGHT:
        return
    share, (path, cycles) = k.of_wavefronts(k.waiting("vmcnt")), way.levels[-1]
    if share >= WORTH_SAYING:
        yield Limit("chain", share, (
            f"limited by loads one behind the other: a wavefront has {in_flight:.1f} of them under "
            f"way, and each takes {way.measured:.0f} cycles, no more than the way to {path} with "
            f"nobody in front ({cycles:.0f}); more independent loads in each wavefront, or more "
            "wavefronts, would overlap them; confidence: medium, as loads of all levels count"))


def of_memory(k: Kernel, kernel: Measured, run: Measured, levels: list[tuple[str, float]],
              settings: dict[str, str], fullness: Fullness | None = None) -> list[Limit]:
    """What `of_cycles` says comes behind its cause. `levels` are those of fullness.unloaded();
    `settings` the run's, by path."""
    if _memory_wait(k) < WORTH_SAYING:
        return of_cycles(k)
    causes: list[Limit] = []
    if fullness:
        causes = [limit for a in fullness.arrays.values()
                  if (limit := _full(a, fullness, settings))]
    else:
        causes = [limit for a in _arrays(kernel, run)
                  if (limit := _translation(k, a, kernel) or _hot_channel(a) or _bandwidth(a))]
    causes.sort(key=lambda limit: -limit.share)
    if _launch(k) >= WORTH_SAYING:  # too short for anything to queue
        return [*causes, *of_cycles(k)]
    queueing = _queueing(k, _way(k, levels), bool(causes), fullness is not None)
    return [*causes, *queueing, *of_cycles(k)]
