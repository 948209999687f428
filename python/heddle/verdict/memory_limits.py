"""What memory waits for, of a kernel that waits for memory: which array was the fullest when
(`heddle.verdict.fullness`), and how the latency of a load compares with its unloaded latency. Rules
are asked in the order of docs/design/bottlenecks.md, section "What memory waits for"."""
from __future__ import annotations

from typing import Iterator

from heddle.statistics.kernels import per_cent
from heddle.verdict.fullness import Array
from heddle.verdict.kernel_facts import (OCCUPANCY, WORTH_SAYING, Judged, Limit, Setting, fits,
                                         room, scarce, sure)

# An array is out of balance when its traffic, spread evenly, would take two thirds of the time.
BALANCED, FEWEST = 2 / 3, 4
# With 16 bytes a lane, the most that an instruction moves for one, 64 lanes are 16 lines of 64
# bytes, and the 32 of a warp 4 of 128.
LINES_MAX, WARP_LINES_MAX = 16, 4
# Loads that a wavefront has under way, below which not even two of them overlap.
IN_FLIGHT = 2.0
CACHES = ("l1v.latency", "l1.latency", "l2.latency")
RECORDS = "`heddle run --report limits` records which element of the machine was full when"


def _most_lines(j: Judged) -> int:
    return WARP_LINES_MAX if j.kernel.is_nvidia else LINES_MAX


def _place(j: Judged) -> Array | None:
    """Where requests queue, if they do: the array that was the fullest in most intervals; where
    there is none, the one that was full most often."""
    full = j.full
    if not full or not full.arrays:
        return None
    array = max(full.arrays, key=lambda a: (2 * a.first > full.intervals, a.full, a.first))
    often = per_cent(array.full, full.intervals) >= WORTH_SAYING
    return array if often or j.queued >= WORTH_SAYING else None


def makes_the_queue(j: Judged) -> bool:
    """Vector memory fills an array that code and scalars come from, too: they wait in its queue."""
    array = _place(j)
    if not array or array.path not in (path for path, _ in j.levels[1:]):
        return False
    second = j.levels[1][0]
    return 2 * j.stat("misses", j.levels[0][0]) > j.stat("hits", second) + j.stat("misses", second)


def _when(j: Judged, array: Array) -> str:
    assert j.full
    return (f"the fullest of the machine in {array.first} of {j.full.intervals} intervals of "
            f"{j.full.cycles} cycles, and busy for "
            f"{min(100 * array.top / array.first, 100):.0f} % of them")


def _atomics(j: Judged) -> tuple[str, float]:
    """The array that executes atomics (the last one that sees any), and their share in its
    requests."""
    done = [path for path, stats in j.sums.items() if stats.get("atomics")
            or stats.get("atomics_done")]
    if not done:
        return "", 0.0
    ways = [path for path, _ in j.levels if path in done] or done
    atomics = j.stat("atomics", ways[-1]) + j.stat("atomic_requests", ways[-1])
    others = sum(j.stat(name, ways[-1]) for name in ("reads", "writes", "loads", "stores"))
    return ways[-1], per_cent(atomics, atomics + others)


def _hot(array: Array) -> tuple[str, float]:
    path, count = max(array.fullest.items(), key=lambda item: item[1])
    return path, count / array.first


def _more_elements(j: Judged, array: Array) -> tuple[Setting, ...]:
    return j.more("there are more elements", "banks", "channels",
                  inside=array.path.rpartition(".")[0])


def _migration(j: Judged, share: float) -> Limit | None:
    paused = per_cent(j.stat("paused_cycles"), j.kernel.sum("cycles"))
    if paused < WORTH_SAYING:
        return None
    return Limit("migration", share, (
        f"limited by pages that move: for {paused:.0f} % of the time the memory accesses of the "
        f"kernel are paused for it; {sure(paused)}"),
        j.less("the next pages move sooner", "driver.migration_interval"))


def _translation(j: Judged, share: float, array: Array | None) -> Limit | None:
    busy = array if array and array.kind == "translation" else None
    extra = min(j.translating, max(j.measured - j.unloaded, 0.0))
    if not busy and (j.queued < WORTH_SAYING or extra < 0.5 * (j.measured - j.unloaded)):
        return None
    own = [f"{busy.path.replace('[*]', '')}.{name}" for name in ("width", "walkers")
           ] if busy else []
    tries = (j.more("more lookups at a time", *own)
             + j.more("it holds more pages", "l2tlb.sets", "l1v.translation.sets")
             + j.more("an entry holds more pages", "driver.fragment")
             + j.less("what misses is found sooner", "mmu.walk_latency"))
    where = (f"{_hot(busy)[0]} is {_when(j, busy)}; {j.sure_of_place(busy)}" if busy else
             f"of the {j.measured:.0f} cycles of a load misses of TLBs are up to {extra:.0f}; "
             "confidence: medium")
    return Limit("translation", share, (
        f"limited by address translation, the reach of the TLBs: {where}; the kernel uses more "
        f"pages than the TLBs hold, or few lines of each"), tries)


def _of_atomics(j: Judged, share: float, array: Array | None) -> Limit | None:
    path, part = _atomics(j)
    if part < 50 or not (array or j.queued >= WORTH_SAYING):
        return None
    where = ""
    if array and array.elements >= FEWEST and array.mean < BALANCED * array.top:
        hot, often = _hot(array)
        where = (f", nearly all at {hot}, so on one word or few" if often > 0.5 else
                 f", which meet in few of the {array.elements} at a time")
    return Limit("atomics", share, (
        f"limited by atomics{' on few words' if where else ''}: they are {part:.0f} % of what "
        f"{path} is asked for{where}; an instruction takes {j.measured:.0f} cycles; adding up in "
        f"registers or the LDS first would leave fewer; {sure(share)}"),
        j.more("more operands come in a cycle", "memory_xbar.request_width"))


def _scratch(j: Judged, share: float, array: Array | None) -> Limit | None:
    k, where = j.kernel, f"; {array.path} is {_when(j, array)}" if array else ""
    part = per_cent(k["scratch_lines"], k["vector_memory_lines"])
    if part < 50:
        return None
    return Limit("scratch", share, (
        f"limited by scratch memory: {part:.0f} % of the lines that vector memory asks for hold "
        f"registers that were spilled, or arrays that are indexed{where}; "
        f"a wavefront has {k['vgprs']} vector registers; {sure(share)}"),
        (_more_elements(j, array) if array else ())
        + j.less("each load comes back sooner", *CACHES))


def _uneven(j: Judged, share: float, array: Array) -> Limit | None:
    uneven = 1 - array.mean / array.top  # so much less time its traffic takes when it is spread
    if j.levels and array.path == j.levels[0][0]:
        return None  # each compute unit has its own: no address chooses
    if (array.elements < FEWEST or uneven < 1 - BALANCED or array.kind not in ("cache", "memory")
            or uneven < 1 - _most_lines(j) / max(j.lines, 1.0)):  # and so much when lanes coalesce
        return None
    hot, often = _hot(array)
    rest = (f"while the {array.elements} of {array.path} are {100 * array.mean / array.first:.0f} %"
            " busy")
    inside = array.path.rpartition(".")[0]
    other = "other bits of an address choose the element"
    tries = (j.machine.flipped(other, "hashed", inside) + _more_elements(j, array)
             + j.more(other, "interleave", inside=inside))
    if often > 0.5:
        return Limit("hot_channel", share, (
            f"limited by one hot channel: {hot} is {_when(j, array)}, {rest}; addresses differ by "
            "multiples of what they are interleaved by, or are the same; "
            f"{j.sure_of_place(array)}"), tries)
    return Limit("collisions", share, (
        f"limited by collisions in the banks or channels of {array.path}: one of them is "
        f"{_when(j, array)}, {rest}; it is not always the same one ({len(array.fullest)} are the "
        "fullest at times): what is asked for at one moment lies in few of them; "
        f"{j.sure_of_place(array)}"), tries)


def _spread_lanes(j: Judged, share: float, array: Array | None) -> Limit | None:
    if j.lines <= _most_lines(j):
        return None
    where = f"; {array.path} is {_when(j, array)}" if array else ""
    sure = j.sure_of_place(array) if array else "confidence: medium"
    return Limit("coalescing", share, (
        f"limited by lanes that do not coalesce: an instruction of vector memory asks for "
        f"{j.lines:.0f} lines, where all that {j.kernel.width} lanes can load is in "
        f"{_most_lines(j)}{where}; "
        f"neighbouring lanes should use neighbouring words; {sure}"),
        (_more_elements(j, array) if array and array.elements >= FEWEST else ())
        + j.more("a compute unit asks for more lines a cycle", "cu.vmem_width", "sm.requests"))


def _bandwidth(j: Judged, share: float, array: Array) -> Limit | None:
    assert j.full
    if 2 * array.full < array.first and 2 * array.first <= j.full.intervals:
        return None
    if array.kind == "link":
        sent = per_cent(j.stat("sent"), j.stat("misses", j.levels[0][0]) if j.levels else 0)
        peer = f"; {min(sent, 100):.0f} % of what misses the L1 goes to other GPUs" if sent else ""
        return Limit("link", share, (
            f"limited by a link: {_hot(array)[0]} is {_when(j, array)}{peer}; "
            f"{j.sure_of_place(array)}"), j.machine.link(_hot(array)[0]))
    return Limit("bandwidth", share, (
        f"limited by the bandwidth of {array.path}: one of them is {_when(j, array)}, all "
        f"{array.elements} for {100 * array.mean / array.first:.0f} %; {j.sure_of_place(array)}"),
        _more_elements(j, array))


def _remote(j: Judged, share: float) -> Limit | None:
    """Memory of other GPUs, of which no link is full."""
    sent, lines = j.stat("sent"), j.stat("misses", j.levels[0][0]) if j.levels else 0
    if not lines or 3 * sent < lines:
        return None
    return Limit("peer", share, (
        f"limited by the memory of another GPU, over a link: {min(per_cent(sent, lines), 100):.0f} "
        f"% of what misses the L1 goes there; a load takes {j.measured:.0f} cycles, and "
        f"{j.unloaded:.0f} to the own memory without load; {sure(share)}"), j.machine.link())


def _latency(j: Judged, share: float) -> Limit:
    """Loads take as long as they have to, and too few are under way."""
    k, few = j.kernel, (f"a wavefront has {j.in_flight:.1f} loads under way, and each takes "
                        f"{j.measured:.0f} cycles")
    full = k.waiting("vector_memory_full", "counter_full")
    if 2 * full > k.waiting("vmcnt") + full:
        return Limit("in_flight", share, (
            "limited by the number of vector memory instructions in flight: "
            f"{k.of_wavefronts(full):.0f} % of the wavefronts' cycles wait for room; {few}; "
            f"{sure(share)}"), j.more("more of them can be in flight", "cu.vmem_queue"))
    known = j.full or j.levels
    way = ("" if known else f"; {RECORDS}") if not j.levels else (
        f", of which at most {j.unloaded:.0f} are unloaded latency"
        if j.measured > j.unloaded else
        f", no more than its unloaded latency may be ({j.unloaded:.0f})")
    short = scarce(k)
    if short:
        return Limit(f"occupancy_{short}", share, (
            f"limited by occupancy: {OCCUPANCY[short]} let{'s' if short == 'lds' else ''} "
            f"{fits(k)}, too few to hide loads: {few}{way}; {sure(share)}"),
            room(j, short))
    if not known:
        return Limit("memory", share, (
            f"limited by vector memory: {few}{way}, and says whether loads queue or take as long "
            f"as they have to; {sure(share)}"))
    if j.in_flight < IN_FLIGHT:
        return Limit("chain", share, (
            f"limited by a chain of loads, one after the other: {few}{way}; more independent "
            f"loads in each wavefront, or more wavefronts, would overlap them; {sure(share)}"),
            j.less("each load comes back sooner", *CACHES))
    return Limit("latency", share, (
        f"limited by loads that too few others hide: {few}{way}; more wavefronts, or more loads in "
        f"each, would; {sure(share)}"),
        j.less("each load comes back sooner", *CACHES))


def _levels(j: Judged) -> str:
    """The unloaded latency to each level, and which of them was the fullest most often."""
    levels = ", ".join(f"{cycles:.0f} to {path}" for path, cycles in j.levels)
    of_way = [array for array in (j.full.arrays if j.full else [])
              if array.path in (path for path, _ in j.levels)]
    if not j.full or not of_way:
        return f"the unloaded latency is {levels}"
    array = max(of_way, key=lambda one: one.first)
    return (f"the unloaded latency is {levels}, and {array.path} was the fullest array in "
            f"{array.first} of {j.full.intervals} intervals")


def of_memory(j: Judged, share: float) -> Iterator[Limit]:
    array = _place(j)
    queues = j.queued >= WORTH_SAYING
    first = (_migration(j, share) or _translation(j, share, array)
             or _scratch(j, share, array) or _of_atomics(j, share, array)
             or array and _uneven(j, share, array)
             or (array or queues) and _spread_lanes(j, share, array)
             or array and _bandwidth(j, share, array) or _remote(j, share))
    if not first and queues:
        first = Limit("queueing", share, (
            "limited by vector memory, where loads queue; "
            + ("no element is full" if j.full else RECORDS) + f"; {sure(share)}"))
    yield first or _latency(j, share)
    if queues:
        yield Limit("queueing", share * j.queued / 100, (
            f"loads queue: a load takes {j.measured:.0f} cycles, of which at most "
            f"{j.unloaded:.0f} are unloaded latency, so at least {j.queued:.0f} % is queueing; "
            f"{_levels(j)}; {sure(j.queued)}"))
