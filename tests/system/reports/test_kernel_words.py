"""What limits a kernel, from numbers that are made here: launches added up, the table of two runs,
and the words."""

import pytest

from heddle.base.mistakes import Mistake
from heddle.statistics import kernels
from heddle.verdict import account, limits

UNITS, CYCLES = 64, 1000
SLOTS, BUSY = UNITS * 40, UNITS * CYCLES


def launch(name="plain", limiter="wavefront_slots", unit_cycles=BUSY, longest=None, l1=(0, 0, 0),
           groups=32, cycles=CYCLES, **spent):
    """64 compute units with 40 slots; what is not spent is idle."""
    waiting = {kind: spent.get(kind, 0) for kind in ("vmcnt", "barrier", "lds_conflict", "stores")}
    valu, start = spent.get("valu", 1000 if not spent else 0), spent.get("launch", 0)
    ended = spent.get("ended", 0)
    used = valu + sum(waiting.values())
    return {
        "name": name, "cycles": cycles, "slots": SLOTS, "wavefront_instructions": 100,
        "work_groups": groups, "overlaps": False,
        "slot_cycles": {"issued": {"valu": valu}, "waiting": waiting,
                        "ended": {"work_group": ended},
                        "empty": {"launch": start,
                                  "draining": SLOTS * CYCLES - used - ended - start}},
        "occupancy": {
            "compute_units": UNITS, "simds": 4, "slots_per_simd": 10,
            "wavefronts_per_work_group": 4, "work_groups_per_unit": 3, "vgprs": 84, "sgprs": 16,
            "lds_bytes": 0, "limited_by": limiter,
            "achieved": {"wavefront_cycles": used, "unit_cycles": unit_cycles,
                         "longest_unit_cycles": longest or unit_cycles // UNITS}},
        "units": {"lds_busy": 100, "lds_conflict": 50, "vector_memory_instructions": 10,
                  "vector_memory_cycles": 1230, "vector_memory_lines": 25},
        "components": {"gpu.sa[0].l1v[3]": dict(zip(("hits", "misses", "mshr_hits"), l1)),
                       "gpu.sa[0].cu[3]": {"valu": 3}}}


def read(*launches):
    run = {"kernels": list(launches), "components": {}}
    return limits.judged(kernels.read(run, "file"), run, "file")


def words(*launches):
    return "\n".join(read(*launches)[0].words)


def test_launches_of_the_same_kernel_are_added():
    first, other = read(launch(), launch("other"), launch(valu=500, limiter="grid"))
    assert (first.name, other.name, len(first.launches)) == ("plain", "other", 2)
    assert first.sum("cycles") == 2 * CYCLES and first.total == 2 * SLOTS * CYCLES
    assert first.wavefronts == first.rows["issued", "valu"] == 1500
    assert first.group("empty") == first.total - 1500
    assert first.limited_by == "wavefront_slots, grid"


def test_slot_cycles_that_do_not_add_up_are_refused():
    with pytest.raises(Mistake, match="add up to"):
        read(launch(cycles=CYCLES + 1))
    with pytest.raises(Mistake, match="nothing to report"):
        read({"name": "functional"})


def test_two_runs_are_compared_by_kernel_and_kind():
    runs = [read(launch()), read(launch(valu=400, vmcnt=1600), launch("new"))]
    table = kernels.rows_csv(runs).splitlines()
    assert table[0] == "kernel,group,kind,a,b,difference"
    assert {'"plain",issued,valu,1000,400,-600', '"plain",waiting,vmcnt,0,1600,1600',
            '"new",issued,valu,0,1000,1000'} <= set(table)
    shown = kernels.table(runs)
    assert "+1600" in shown
    assert "  a: 1 launch, 1000 cycles" in shown and "  b: 1 launch, 1000 cycles" in shown


def test_work_groups_a_launch_are_a_mean():
    one, two = (launch(groups=n, unit_cycles=CYCLES, longest=CYCLES, limiter="grid")
                for n in (1, 2))
    assert "limited by the grid: 1 work-group a launch for" in words(one)
    assert "limited by the grid: 1.5 work-groups a launch for" in words(one, two)


@pytest.mark.parametrize("made, says, says_not", [
    ({"vmcnt": 610, "valu": 390},
     "limited by vector memory: a wavefront has 1.2 loads under way, and each takes 123 cycles; "
     "`heddle run --report limits` records which", "chain"),
    ({"limiter": "vgprs", "vmcnt": 610, "valu": 390},
     "limited by occupancy: vector registers let only 3.0 of 10 wavefronts onto a SIMD", "grid"),
    ({"limiter": "lds", "vmcnt": BUSY * 4, "valu": 390},
     "limited by occupancy: the LDS lets only 3.0 of 10 wavefronts onto a SIMD, too few to hide "
     "loads", "chain"),
    ({"limiter": "grid", "vmcnt": 610, "valu": 390, "unit_cycles": BUSY // 4,
      "longest": CYCLES, "groups": 16},
     "limited by the grid: 16 work-groups a launch for 64 compute units, of whose time 75 % is "
     "without any", "occupancy"),
    ({"valu": BUSY * 4 * 8 // 10, "vmcnt": BUSY * 4},
     "limited by the vector ALUs: they work for 80 % of the time", "grid"),
    ({"barrier": BUSY * 4, "valu": 500}, "limited by barriers: 100 %", "chain"),
    ({"lds_conflict": BUSY, "vmcnt": BUSY * 3},
     "bank conflicts of the LDS cost 25 % of the wavefronts' cycles (50 %", "limited by bank"),
    ({"lds_conflict": BUSY * 3, "vmcnt": BUSY},
     "limited by bank conflicts of the LDS: it works for 0 % of the time, 50 % of that", "chain"),
    ({"ended": BUSY * 3, "vmcnt": BUSY},
     "limited by the tail of work-groups, whose wavefronts are unequal: those that have ended hold "
     "75 % of the slots", "chain"),
    ({"launch": SLOTS * CYCLES // 2, "valu": 1000, "unit_cycles": BUSY // 2},
     "limited by what a launch costs, too short for it: 50 % of the time passes before the first "
     "work-group can be placed, 500 cycles;", "occupancy"),
    ({"barrier": BUSY * 4, "unit_cycles": BUSY // 10, "longest": CYCLES},
     "limited by barriers", "confidence: low"),
    ({"valu": BUSY // 10, "unit_cycles": BUSY // 10, "longest": CYCLES, "groups": 65},
     "limited by the tail of the launch, unbalanced: one compute unit had wavefronts for 1000 "
     "cycles, all of them on average for 90 % less; 65 work-groups a launch, of which 3 fit on "
     "each", "limited by the grid")])
def test_words_say_what_the_numbers_say(made, says, says_not):
    told = words(launch("k", **made))
    assert says in told and says_not not in told


def test_shares_of_wavefronts_add_up_to_the_time():
    """Beside the start of the launch; what stands beside them is no part of the sum."""
    made = launch(launch=SLOTS * CYCLES // 4, unit_cycles=BUSY * 3 // 4, longest=CYCLES * 3 // 4,
                  vmcnt=BUSY, barrier=BUSY, valu=BUSY)
    shares = account.shares_of(kernels.read({"kernels": [made], "components": {}}, "file")[0])
    assert shares["launch"] == pytest.approx(25)
    assert shares["memory"] == pytest.approx(shares["barrier"])
    own = sum(share for cause, share in shares.items() if cause not in ("idle", "empty"))
    assert own == pytest.approx(100)
