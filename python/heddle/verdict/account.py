"""What the time of a kernel went to: for each cause the largest share that removing the cause can
save.

A launch begins with `launch`: nothing can be placed yet. After that, the compute unit that has
work-groups for longest decides when the launch ends. The time of its wavefronts is divided by what
they do and wait for. A SIMD with wavefronts works with its vector ALU (`valu`), or all of its
wavefronts wait. Waiting time is divided in proportion to the model's counts of slot-cycles
(components/protocols/work/work_cycles.h), without those of the ALU and of waits for it. These
shares add up to the kernel's time, without its start.

Beside them stands what has no wavefront meanwhile, which could do a part of the work: compute units
(`idle`, while that one has some), SIMDs of the others (`empty`: wavefronts are so few that at least
so many SIMDs have none), and slots while work-groups come one by one (`dispatch`). What the ALUs of
the rest do is the ALUs' limit only as far as all of them work; otherwise it is the length of the
wavefronts' own way (`program`). Of both, the part of the lanes that are off is `lanes`: with all of
them on, so many instructions fewer would do."""
from __future__ import annotations

from heddle.statistics.kernels import WAVEFRONTS, Kernel

# Time of wavefronts' own instructions, as far as lanes of them are off.
LANES_OFF = "lanes"
CAUSES = {
    "memory": ("waiting.vmcnt", "waiting.stores", "waiting.vector_memory_full",
               "waiting.counter_full", "waiting.vector_memory_busy", "issued.vector_memory",
               "waiting.memory", "waiting.memory_busy", "waiting.copies", "waiting.fence",
               "waiting.end", "issued.memory", "issued.copier"),
    "scalar_memory": ("waiting.lgkmcnt_scalar_memory", "waiting.scalar_memory_full",
                      "issued.scalar_memory"),
    "lds": ("waiting.lgkmcnt_lds", "waiting.lds_busy", "waiting.lds_conflict", "issued.lds",
            "waiting.shared", "waiting.shared_busy", "issued.shared"),
    "barrier": ("waiting.barrier",),
    "fetch": ("waiting.fetch",),
    "sleep": ("executing.sleep",),
    "unequal": ("ended.work_group", "ended.block"),
    "others": ("waiting.other_blocks",),
    "valu": ("executing.valu", "waiting.valu_busy", "waiting.unit_busy", "waiting.products",
             "issued.fp32", "issued.int", "issued.sfu", "issued.fp64", "issued.tensor",
             "issued.texture", "issued.uniform")}
# What is left: scalar instructions, branches, and chains of instructions that need each other's
# results. Their time is each wavefront's own.
OTHER = "program"
_CAUSE = {row: cause for cause, rows in CAUSES.items() for row in rows}


def _cause(group: str, kind: str) -> str:
    return "valu" if group == "issued" and kind.startswith("valu") else \
        _CAUSE.get(f"{group}.{kind}", OTHER)


def waits(kernel: Kernel) -> dict[str, float]:
    """The share of the slots of its work-groups that waited for each cause; the ALU is left out."""
    slots: dict[str, float] = {}
    for (group, kind), value in kernel.rows.items():
        if group in WAVEFRONTS or group == "ended":
            slots[_cause(group, kind)] = slots.get(_cause(group, kind), 0.0) + value
    slots.pop("valu", None)
    whole = sum(slots.values())
    return {cause: value / whole for cause, value in slots.items() if value}


def room(kernel: Kernel) -> float:
    """The room for slots, as a multiple of those that were taken, behind the start of a launch."""
    taken = kernel.wavefronts + kernel.group("ended") + kernel.group("moving")
    slots = kernel.total - kernel.rows.get(("empty", "launch"), 0)
    fit = kernel["work_groups_per_unit"] * kernel["wavefronts_per_work_group"]
    return slots * fit / max(kernel["simds"] * kernel["slots_per_simd"] * taken, 1)


def _dispatch(kernel: Kernel) -> float:
    """Work-groups wait to be placed for a part of the time, though there is room for more. With all
    of the room taken, that many more would be under way, and by Little's law the kernel would take
    so much less if each took no longer. What is known is how many slots were empty meanwhile; as
    many as on average are taken at any time."""
    taken = kernel.wavefronts + kernel.group("ended") + kernel.group("moving")
    start = kernel.rows.get(("empty", "launch"), 0)
    if kernel.total <= start + taken:
        return 0.0
    waited = kernel.rows.get(("empty", "placing"), 0) / (kernel.total - start - taken)
    more = waited * max(room(kernel) - 1.0, 0.0)
    return more / (1.0 + more) * (1.0 - start / kernel.total)


def shares_of(kernel: Kernel) -> dict[str, float]:
    """A kernel's account: shares in per cent, the largest first. Slots that other kernels held
    count as not there."""
    everywhere, here = kernel["all_unit_cycles"], kernel["unit_cycles"]
    cycles, simds = kernel.sum("cycles"), here * kernel["simds"]
    if not everywhere or not simds or not kernel.total:
        return {}
    start = kernel.rows.get(("empty", "launch"), 0) / kernel.total
    busy = min(here / everywhere, 1.0)
    own = min(max(kernel["longest_unit_cycles"] / cycles, busy), 1.0)
    present = min((kernel.wavefronts + kernel.group("ended")) / simds, 1.0)
    valu = min(kernel.valu / 100, present)
    shares = {"launch": start, "idle": own - busy,
              "empty": busy * (1.0 - present), "dispatch": _dispatch(kernel), "valu": own * valu,
              OTHER: own * valu * (1.0 / present - 1.0)}
    for cause, part in waits(kernel).items():
        shares[cause] = shares.get(cause, 0.0) + own * (1.0 - valu / present) * part
    instructions = shares["valu"] + shares[OTHER]
    shares["valu"] *= kernel.lanes
    shares[OTHER] *= kernel.lanes
    shares[LANES_OFF] = instructions * (1.0 - kernel.lanes)
    return dict(sorted(((cause, 100 * share) for cause, share in shares.items()),
                       key=lambda item: -item[1]))
