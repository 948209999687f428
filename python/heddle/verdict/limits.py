"""What limits a kernel, and a run: decided here once, as data with a sentence each. docs/design/
bottlenecks.md says why the rules are as they are.

A kernel's time is divided among causes, each with a share (`heddle.verdict.account`); the largest
is said first, and those worth saying follow. Waiting for memory is no cause yet: what memory waits
for is found from which array was the fullest when (`heddle.verdict.fullness`), and from how long a
load takes against its unloaded latency. Without the former, which only `heddle run --report
limits` records, a sentence says so. Nothing is called latency unless loads take about as long as
the description says that they have to. Kinds of components are those of diagrams, so a machine of
a user's components is judged, too. A setting is named only where the machine has it."""
from __future__ import annotations

import dataclasses
from typing import Iterable, Iterator

from heddle.statistics.kernels import Kernel, per_cent
from heddle.statistics.statistics_file import Statistics, number
from heddle.verdict import account
from heddle.verdict.fullness import FULL, Found, of_file
from heddle.verdict.kernel_facts import (OCCUPANCY, WORTH_FIXING, WORTH_SAYING, Judged, Limit,
                                         Machine, Setting, fits, room, scarce, sure)
from heddle.verdict.memory_limits import makes_the_queue, of_memory

SMALL = 4  # wavefronts of a work-group that costs the dispatcher as much as one of a single one
THE_RUN = "the run"  # beside the labels of kernels: what is said of all of it


def _work_groups(k: Kernel) -> str:
    """The launch's work-groups: '32 work-groups a launch'; a mean that is no whole number has a
    decimal."""
    groups, launches = k.sum("work_groups"), len(k.launches)
    return (f"{groups / launches:.{int(groups % launches != 0)}f} work-group"
            f"{'' if groups == launches else 's'} a launch")


def _hits(j: Judged, name: str, words: str) -> str:
    """Hits of the first cache with accesses whose name, without its index, ends a path."""
    cache = next((c for path, c in j.kernel.caches.items()
                  if c.all and path.rpartition(".")[2].split("[")[0] == name), None)
    return words.format(f"{per_cent(cache.hits, cache.all):.0f} %") if cache else ""


# ---- the other causes


def _launch(j: Judged, share: float) -> Limit:
    k = j.kernel
    delay = k.rows.get(("empty", "launch"), 0) / max(k.sum("slots"), 1)
    scope = f" of each of {len(k.launches)} launches" if len(k.launches) > 1 else ""
    return Limit("launch", share, (
        f"limited by what a launch costs, too short for it: {share:.0f} % of the time passes "
        f"before the first work-group can be placed, {delay:.0f} cycles{scope}; fewer, larger "
        f"launches would share them; {sure(share)}"),
        j.less("a launch costs less", "cp.kernel_overhead", "player.launch_latency"))


def _inner(j: Judged, *without: str) -> tuple[Limit | None, float]:
    """What the wavefronts themselves do longest, where the machine has too few of them: the length
    of their own way is then the length of the kernel. With the share of that in their time."""
    inner = {cause: part for cause, part in j.shares.items()
             if cause not in ("launch", "idle", "empty", "dispatch", *without)}
    if not sum(inner.values()):
        return None, 0.0
    cause, part = max(inner.items(), key=lambda item: item[1])
    return next(iter(_limits(j, cause, 0.0))), per_cent(part, sum(inner.values()))


def _slowest(j: Judged) -> tuple[Setting, ...]:
    """Settings that shorten the way of the wavefronts that others wait for. A working wavefront on
    a SIMD that is not full waits for its own instructions, not for the ALU."""
    own, _ = _inner(j, "barrier", "unequal")
    if own and own.what == "valu" and j.kernel.valu < 100 * FULL:
        return _way(j)
    return own.tries if own else ()


def _way(j: Judged) -> tuple[Setting, ...]:
    units = [f"sm.{unit}_latency" for unit, busy in sorted(j.kernel.busy.items(),
                                                           key=lambda one: -one[1]) if busy]
    return (j.less("a wavefront goes on sooner", "cu.branch_latency", "cu.scalar_latency", *units)
            + _slower(j, "cu.full_rate"))


def _slower(j: Judged, *rates: str) -> tuple[Setting, ...]:
    """A SIMD issues every fourth cycle, so an ALU of full rate that were faster would help nothing;
    a slower one shows that it matters."""
    return tuple(Setting((), "it takes longer for an instruction", one.against)
                 for one in j.less("", *rates) if one.against)


def _own_time(j: Judged) -> tuple[str, tuple[Setting, ...]]:
    own, share = _inner(j)
    if not own:
        return "", ()
    phrase = own.sentence.partition(":")[0].removeprefix("limited by ")
    return f"; its wavefronts' own time is {share:.0f} % {phrase}", own.tries


def _too_few(j: Judged, share: float) -> Limit:
    """Compute units, or SIMDs, without a wavefront. Figures of wavefronts are means over all. They
    say little about the wavefronts of the tail, so settings for the likely way of these are tried,
    too."""
    k, (inner, tries) = j.kernel, _own_time(j)
    launches = len(k.launches)
    if _is_small(k):
        return Limit("grid", share, (
            f"limited by the grid: {_work_groups(k)} for {k['compute_units']} compute units, of "
            f"whose time {share:.0f} % is without any{inner}; {sure(share)}"), tries)
    longest = k["longest_unit_cycles"]
    return Limit("tail", share, (
        "limited by the tail of the launch, unbalanced: one compute unit had wavefronts for "
        f"{longest // launches} cycles, all of them on average for "
        f"{100 - per_cent(k['unit_cycles'], longest * k['compute_units']):.0f} % less; "
        f"{_work_groups(k)}, of which {k['work_groups_per_unit']} fit on each; {sure(share)}"),
        tuple(dict.fromkeys((*_way(j), *tries))))


def _empty_simds(j: Judged, share: float) -> Limit:
    k, short, (inner, tries) = j.kernel, scarce(j.kernel), _own_time(j)
    if short:
        return Limit(f"occupancy_{short}", share, (
            f"limited by occupancy: {OCCUPANCY[short]} let{'s' if short == 'lds' else ''} "
            f"{fits(k)}, so SIMDs have none for {share:.0f} % of the time{inner}; "
            f"{sure(share)}"), room(j, short) + tries)
    return Limit("grid", share, (
        f"limited by the grid: {_work_groups(k)} of {k['wavefronts_per_work_group']} wavefronts "
        f"for {k['compute_units']} compute units of {k['simds']} SIMDs, which have none for "
        f"{share:.0f} % of the time{inner}; {sure(share)}"), tries)


def _dispatch(j: Judged, share: float) -> Limit:
    k = j.kernel
    cycles = k.sum("cycles") * (1 - j.shares["launch"] / 100) / max(k.sum("work_groups"), 1)
    return Limit("dispatch", share, (
        f"limited by the dispatcher: work-groups wait to be placed, though there is room for "
        f"{account.room(k):.1f} times as many; one is placed in {cycles:.1f} cycles, and larger "
        f"ones would be fewer; {sure(share)}"),
        j.less("it places more of them in the same time",
               "cp.dispatch_cost_small" if k["wavefronts_per_work_group"] <= SMALL else
               "cp.dispatch_cost_per_wavefront"))


# Slower instructions of the vector ALUs: what they are called, and the parameters of compute units
# that say how long they take.
SLOWER = {"valu_quarter": ("of a quarter of the rate, as products of integers",
                           "integer_multiply", "quarter_rate"),
          "valu_transcendental": ("transcendental", "transcendental"),
          "valu_f64_add": ("sums of 64 bits", "f64_add"),
          "valu_f64_multiply": ("products of 64 bits", "f64_multiply"),
          "valu_f64_transcendental": ("transcendental of 64 bits", "f64_transcendental")}


def _sm_units(j: Judged, share: float) -> Limit:
    """The fullest of what a sub-core of an SM has."""
    unit, busy = j.kernel.fullest
    shared = j.kernel.sum("work_groups") > len(j.kernel.launches) * j.kernel["compute_units"]
    more = j.more("more SMs share the work", "sms") if shared else ()
    if unit == "issue":
        return Limit("issue", share, (
            f"limited by the issue of instructions: sub-cores issue one in {busy:.0f} % of the "
            f"cycles in which their SM has warps; fewer instructions would do; {sure(share)}"),
            more)
    return Limit(f"unit_{unit}", share, (
        f"limited by the {unit} units: they work for {busy:.0f} % of the time in which their SM "
        f"has warps; {sure(share)}"),
        j.less("an instruction takes less time", f"sm.{unit}_interval") + more
        + _slower(j, f"sm.{unit}_interval"))


def _valu(j: Judged, share: float) -> Limit:
    k = j.kernel
    if k.is_nvidia:
        return _sm_units(j, share)
    issued = {kind: value for (group, kind), value in k.rows.items() if group == "issued"
              and kind.startswith("valu")}
    shares = {kind: per_cent(issued.get(kind, 0), sum(issued.values())) for kind in SLOWER}
    slow, kinds, rates = sum(shares.values()), "", []
    if slow >= WORTH_FIXING:
        kinds = (f"; {slow:.0f} % of their instructions are slower ones ("
                 + ", ".join(f"{shares[kind]:.0f} % {words}"
                             for kind, (words, *_) in SLOWER.items() if shares[kind] >= 1) + ")")
        rates = [f"cu.{rate}" for kind in sorted(SLOWER, key=lambda kind: -shares[kind])
                 if shares[kind] for rate in SLOWER[kind][1:]]
    shared = k.sum("work_groups") > len(k.launches) * k["compute_units"]
    more = j.more("more compute units share the work", "gpu.arrays") if shared else ()
    return Limit("valu", share, (
        f"limited by the vector ALUs: they work for {k.valu:.0f} % of the time in which their "
        f"compute unit has wavefronts{kinds}; {sure(share)}"),
        j.less("an instruction takes less time", *rates) + more + _slower(j, "cu.full_rate"))


def _lds(j: Judged, share: float) -> Limit:
    k = j.kernel
    works, conflicts = (per_cent(k["lds_busy"], k["unit_cycles"]),
                        per_cent(k["lds_conflict"], k["lds_busy"]))
    if conflicts >= 50:  # most of its work
        return Limit("lds_conflicts", share, (
            f"limited by bank conflicts of the LDS: it works for {works:.0f} % of the time, "
            f"{conflicts:.0f} % of that for conflicts; lanes use addresses that differ by "
            f"multiples of 128 bytes, and rows with a word more would spread them; "
            f"{sure(share)}"))
    waits, queues = k.waiting("lgkmcnt_lds", "shared"), k.waiting("lds_busy", "shared_busy")
    if works >= 100 * FULL or queues > waits:
        return Limit("lds", share, (
            f"limited by the LDS: it works for {works:.0f} % of the time in which its compute unit "
            f"has wavefronts, {conflicts:.0f} % of that for bank conflicts; {sure(share)}"),
            j.more("the LDS passes on more bytes a cycle", "cu.lds_ports"))
    return Limit("lds_latency", share, (
        f"limited by the latency of the LDS: {k.of_wavefronts(waits):.0f} % of the wavefronts' "
        f"cycles wait for it, which works for {works:.0f} % of the time; {sure(share)}"),
        j.less("it answers sooner", "cu.lds_latency", "sm.shared_latency"))


def _scalar_memory(j: Judged, share: float) -> Limit:
    k = j.kernel
    return Limit("scalar_memory", share, (
        f"limited by scalar memory: {k.of_wavefronts(k.waiting('lgkmcnt_scalar_memory')):.0f} % of "
        "the wavefronts' cycles wait on lgkmcnt for scalar loads, one after the other"
        f"{_hits(j, 'l1s', '; {} of them hit in the scalar cache')}; {sure(share)}"),
        j.less("each load comes back sooner", "l1s.latency", "l2.latency")
        + j.more("more of them hit", "l1s.size"))


def _barrier(j: Judged, share: float) -> Limit:
    k = j.kernel
    return Limit("barriers", share, (
        f"limited by barriers: {k.of_wavefronts(k.waiting('barrier')):.0f} % of the wavefronts' "
        f"cycles wait at s_barrier for the slowest of the work-group; {sure(share)}"), _slowest(j))


def _fetch(j: Judged, share: float) -> Limit:
    k = j.kernel
    return Limit("fetch", share, (
        f"limited by instruction fetch: {k.of_wavefronts(k.waiting('fetch')):.0f} % of the "
        "wavefronts' cycles wait for code"
        f"{_hits(j, 'l1i', '; {} of the fetches hit in the instruction cache')}; {sure(share)}"),
        j.more("more code is asked for ahead", "cu.instruction_buffer", "sm.buffer", "sm.fetch")
        + j.less("code that is there comes sooner", "cu.fetch_latency")
        + j.more("more of it hits", "l1i.size"))


def _unequal(j: Judged, share: float) -> Limit:
    k = j.kernel
    held = k.wavefronts + k.group("ended")
    return Limit("unequal", share, (
        "limited by the tail of work-groups, whose wavefronts are unequal: those that have ended "
        f"hold {per_cent(k.group('ended'), held):.0f} % of the slots until the slowest of their "
        f"work-group has; {sure(share)}"), _slowest(j))


def _sleep(j: Judged, share: float) -> Limit:
    return Limit("sleep", share, (
        f"limited by s_sleep and s_nop: the kernel waits on purpose, as for another kernel; "
        f"{sure(share)}"))


def _lanes_off(j: Judged, share: float) -> Limit:
    k = j.kernel
    return Limit("lanes", share, (
        f"limited by lanes that are off: of the {k.width} of a wavefront {k.width * k.lanes:.1f} "
        "work in an instruction of the vector ALU on average; branches diverge, or work-groups are "
        f"no multiple of {k.width}; {sure(share)}"), _way(j))


def _program(j: Judged, share: float) -> Limit:
    k, simds = j.kernel, j.kernel["unit_cycles"] * j.kernel["simds"]
    own = k.of_wavefronts(k.group("issued") + k.group("executing"))
    if k.is_nvidia:
        unit, busy = k.fullest
        return Limit("program", share, (
            f"limited by chains of instructions that need each other's results: warps issue, or "
            f"wait for a result of their own, for {own:.0f} % of their cycles, while "
            f"{'sub-cores issue' if unit == 'issue' else f'the {unit} units work'} for {busy:.0f} "
            f"% of the time; {k['wavefront_cycles'] / simds if simds else 0:.2f} warps a sub-core "
            f"are too few to fill them; {sure(share)}"), _way(j))
    return Limit("program", share, (
        f"limited by the length of the program, scalar instructions and branches: wavefronts issue "
        f"or execute for {own:.0f} % of their cycles, while the vector ALUs work for {k.valu:.0f} "
        f"% of the time; {k['wavefront_cycles'] / simds if simds else 0:.2f} wavefronts a SIMD are "
        f"too few to fill them; {sure(share)}"),
        _way(j))


def _others(j: Judged, share: float) -> Limit:
    return Limit("others", share, (
        "limited by blocks that wait for other blocks, at a barrier of the grid, a flag or a lock: "
        f"{j.kernel.of_wavefronts(j.kernel.waiting('other_blocks')):.0f} % of the warps' cycles; "
        f"{sure(share)}"))


def _spinning(j: Judged) -> Limit | None:
    """Most requests to memory repeat the wavefront's last read, and wavefronts wait for them."""
    k = j.kernel
    part = per_cent(k["polls"], k["vector_memory_instructions"])
    share = k.of_wavefronts(k.waiting("vmcnt")) * part / 100
    if part <= 50 or share < WORTH_SAYING:
        return None
    return Limit("spinning", share, (
        f"limited by spinning on a word in memory: {part:.0f} % of the vector memory instructions "
        "read what their wavefront has just read, with no other access between, as a loop does "
        "that waits for a flag or a lock; the kernel takes as long as what they wait for; "
        f"{sure(share)}"))


CAUSES = {"launch": _launch, "idle": _too_few, "empty": _empty_simds, "dispatch": _dispatch,
          "valu": _valu, "lds": _lds,
          "scalar_memory": _scalar_memory, "barrier": _barrier, "fetch": _fetch,
          "unequal": _unequal, "sleep": _sleep, "others": _others, account.LANES_OFF: _lanes_off,
          account.OTHER: _program}


def _limits(j: Judged, cause: str, share: float) -> Iterable[Limit]:
    return of_memory(j, share) if cause == "memory" else [CAUSES[cause](j, share)]


def _is_small(k: Kernel) -> bool:
    return k.sum("work_groups") < len(k.launches) * k["compute_units"]


def _rank(k: Kernel, cause: str) -> int:
    """Where the grid leaves compute units or SIMDs without a wavefront, what its wavefronts wait
    for comes first. When they work, it is the grid."""
    if cause == "empty" or cause == "idle" and _is_small(k):
        return 1
    return 2 if cause in ("valu", account.OTHER, account.LANES_OFF) else 0


def _placing(j: Judged) -> float | None:
    """The share of the time, in per cent, that placing all work-groups takes by the cost of one.
    None: the cost is not known."""
    k, waves = j.kernel, j.kernel["wavefronts_per_work_group"]
    name, times = (("cp.dispatch_cost_small", 1) if waves <= SMALL else
                   ("cp.dispatch_cost_per_wavefront", waves))
    costs = [int(j.machine.settings[one]) for one in j.machine.known(name)]
    return per_cent(k.sum("work_groups") * max(costs) * times / 100, k.sum("cycles")) \
        if costs else None


def _settle(j: Judged) -> None:
    """What more than the counts of cycles is known. Work-groups are placed one by one beside all
    else, so a kernel takes at least as long as that, whatever of the rest is gone."""
    placing = _placing(j)
    if placing is not None:
        j.shares["dispatch"] = min(j.shares.get("dispatch", 0.0), placing)
        most = max(100.0 - placing - j.shares.get("launch", 0.0), 0.0)
        j.shares = {cause: share if cause in ("launch", "dispatch") else min(share, most)
                    for cause, share in j.shares.items()}
    if makes_the_queue(j):
        for cause in ("fetch", "scalar_memory"):
            j.shares["memory"] = j.shares.get("memory", 0.0) + j.shares.pop(cause, 0.0)
    j.shares = dict(sorted(j.shares.items(), key=lambda item: -item[1]))


def of_kernel(kernel: Kernel, found: Found | None, machine: Machine) -> list[Limit]:
    """The largest cause first. A cause of less than a third of the time is named only if it is the
    largest, together with the second largest."""
    j = Judged(kernel, found, machine)
    if not j.shares or not sum(j.shares.values()):
        return []
    _settle(j)
    worth = [item for item in j.shares.items() if item[1] >= WORTH_SAYING]
    if not scarce(kernel):  # more wavefronts help working ones more than waiting ones
        worth.sort(key=lambda item: _rank(kernel, item[0]))
    if worth and worth[0][0] == "idle" and worth[0][1] > 50 and not _is_small(kernel):
        worth = worth[:1]  # what the others waited for is no part of the tail
    limits = [limit for cause, share in worth or list(j.shares.items())[:2] if share
              for limit in _limits(j, cause, share)]
    spinning = _spinning(j)
    if spinning:
        limits.insert(0, spinning)
    conflicts = kernel.of_wavefronts(kernel.waiting("lds_conflict"))
    if conflicts >= WORTH_FIXING and all(limit.what != "lds_conflicts" for limit in limits):
        limits.append(Limit("bank_conflicts", conflicts, (
            f"bank conflicts of the LDS cost {conflicts:.0f} % of the wavefronts' cycles "
            f"({per_cent(kernel['lds_conflict'], kernel['lds_busy']):.0f} % of the cycles in which "
            f"it works): rows with a word more would spread them; {sure(conflicts)}")))
    return [_told(kernel, limit) for limit in limits]


def _told(kernel: Kernel, limit: Limit) -> Limit:
    """The limit in the words of its machine."""
    tries = tuple(dataclasses.replace(one, reason=kernel.worded(one.reason)) for one in limit.tries)
    return dataclasses.replace(limit, sentence=kernel.worded(limit.sentence), tries=tries)


# ---- a run


def of_run(statistics: Statistics, found: Found | None) -> list[Limit]:
    """What the time is that no kernel runs, when it is more than a third of the run."""
    whole = number(statistics, "time_ps")
    if not found or not whole:
        return []
    machine, limits = Machine(statistics, found), []
    copied, nothing = per_cent(found.copied_ps, whole), per_cent(found.nothing_ps, whole)
    if copied >= WORTH_SAYING:
        link, busy = max(found.links.items(), key=lambda item: item[1], default=("", 0))
        share = min(per_cent(busy, found.copied_ps), 100.0)
        where = (f", over a link: {link} is busy for {share:.0f} % of that" if share > 50 else
                 f", inside of a GPU: links are busy for {share:.0f} % of that at most")
        limits.append(Limit("copies", copied, (
            f"limited by copies: for {copied:.0f} % of the run bytes move and no kernel runs"
            f"{where}; {sure(copied)}"),
            machine.link(link) if share > 50 else ()))
    if nothing >= WORTH_SAYING:
        launches = len(statistics.get("kernels", []))
        limits.append(Limit("host", nothing, (
            f"limited by the host, gaps between launches and copies: for {nothing:.0f} % of the "
            f"run neither a kernel runs nor do bytes move, {found.nothing_ps / 1e6:.1f} us with "
            f"{launches} launch{'' if launches == 1 else 'es'}; {sure(nothing)}"),
            machine.less("the host is back sooner",
                         *(name for name in machine.settings if name.startswith("driver.")
                           and name.endswith(("_cost", "_setup"))))))
    return sorted(limits, key=lambda limit: -limit.share)


def judged(kernels: list[Kernel], statistics: Statistics, file: str,
           found: Found | None = None) -> list[Kernel]:
    """Kernels with what limits them. `found` is what a series has; None: what the file has."""
    found = found or of_file(statistics, file)
    machine = Machine(statistics, found)
    for kernel in kernels:
        kernel.limits = of_kernel(kernel, found, machine)
    return kernels


def report(kernels: list[Kernel], statistics: Statistics, file: str,
           found: Found | None = None) -> Iterator[tuple[str, list[Limit]]]:
    """What is reported of, and what limits it. The run comes first when kernels have so little of
    it that nothing in them is worth mending."""
    found = found or of_file(statistics, file)
    run = of_run(statistics, found)
    first = sum(limit.share for limit in run) > 100 - WORTH_FIXING
    if run and first:
        yield THE_RUN, run
    for kernel in judged(kernels, statistics, file, found):
        yield kernel.label, kernel.limits
    if run and not first:
        yield THE_RUN, run
