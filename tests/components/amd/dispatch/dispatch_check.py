#!/usr/bin/env python3
"""The command processor through its ports (dispatch.heddle): times, slot-cycles and occupancy
against closed forms.

dispatch_check.py HEDDLE FOLDER. Nothing here is taken from the model: cycles follow from the costs
in the description, occupancy from AMD's table of wavefronts a SIMD by registers (GCN3: 256 vector
registers, 800 scalar ones)."""
import json
import os
import subprocess
import sys

heddle, folder = sys.argv[1:3]
os.makedirs(folder, exist_ok=True)
os.environ.setdefault("HEDDLE_CACHE", os.path.join(folder, "cache"))
here = os.path.dirname(os.path.abspath(__file__))
wrong = 0

OVERHEAD, WIRE, COST = 200, 10, 4
DEADLOCK = 4  # exit status
SLOTS = 40  # of a compute unit


def run(units=2, duration=100, parts=(), **launcher):
    stats = os.path.join(folder, "stats.json")
    settings = [f"units={units}", f"cu.duration={duration}cy", *parts]
    for name, value in launcher.items():
        settings.append(f"host.{name}={value}")
    command = [heddle, "run", os.path.join(here, "dispatch.heddle"), "--generic", "--stats", stats]
    for setting in settings:
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        if done.returncode == DEADLOCK:
            return done.stderr
        sys.exit(f"{' '.join(command)}:\n{done.stderr}")
    with open(stats) as file:
        kernels = json.load(file)["kernels"]
    for kernel in kernels:
        total = sum(sum(kinds.values()) for kinds in kernel["slot_cycles"].values())
        equal(f"sum of {settings}", total, kernel["cycles"] * units * SLOTS)
    return kernels


def equal(what, got, expected):
    global wrong
    if got != expected:
        wrong += 1
        print(f"{what}: {got} instead of {expected}")


def everything_fits():
    """Work-groups go out every 4 cycles and none ends before the last is placed."""
    for units, groups, wavefronts, duration in [(2, 10, 4, 100), (1, 1, 1, 1), (4, 16, 2, 500),
                                                (3, 9, 3, 64)]:
        (k,) = run(units, duration, work_groups=groups, wavefronts=wavefronts)
        name = f"{units} units, {groups} work-groups"
        slots, held, placing = units * SLOTS, 2 * WIRE + duration, COST * (groups - 1)
        cycles = k["slot_cycles"]
        equal(f"{name}: cycles", k["cycles"], OVERHEAD + 1 + placing + held)
        in_placing = wavefronts * COST * groups * (groups - 1) // 2
        equal(f"{name}: launch", cycles["empty"]["launch"], slots * (OVERHEAD + 1))
        equal(f"{name}: placing", cycles["empty"]["placing"], slots * placing - in_placing)
        equal(f"{name}: draining", cycles["empty"]["draining"],
              slots * held - (groups * wavefronts * held - in_placing))
        equal(f"{name}: dispatch", cycles["moving"]["dispatch"], groups * wavefronts * 2 * WIRE)
        equal(f"{name}: others", cycles["others"]["kernels"], 0)
        achieved = k["occupancy"]["achieved"]
        equal(f"{name}: units used", achieved["units_used"], min(units, groups))
        equal(f"{name}: longest", achieved["longest_unit_cycles"], -(-groups // units) * duration)
        equal(f"{name}: sum", achieved["unit_cycles"], groups * duration)
        equal(f"{name}: limit", k["occupancy"]["limited_by"], "grid")


def large_work_groups():
    """1.03 cycles a wavefront and 0.02 above 4 wavefronts; the sum is rounded up once, not each
    time."""
    groups, wavefronts = 5, 8
    (k,) = run(2, 100, work_groups=groups, wavefronts=wavefronts)
    hundredths = (groups - 1) * (103 * wavefronts + 2)
    equal("large work-groups", k["cycles"], OVERHEAD + 1 + -(-hundredths // 100) + 2 * WIRE + 100)


def rounds():
    """Two work-groups fit on each of two units; each place is taken again in the cycle in which it
    becomes free."""
    rounds, duration = 5, 300
    (k,) = run(2, duration, work_groups=4 * rounds, wavefronts=2, lds="32KiB")
    held = 2 * WIRE + duration
    equal("rounds: cycles", k["cycles"], OVERHEAD + 1 + (rounds - 1) * held + 3 * COST + held)
    equal("rounds: limit", k["occupancy"]["limited_by"], "lds")
    equal("rounds: fit", k["occupancy"]["work_groups_per_unit"], 2)


def overlapping():
    """Two kernels of one work-group, the second one a gap later; each sees the slots of the
    other."""
    gap, duration, wavefronts = 50, 400, 3
    first, second = run(1, duration, kernels=2, gap=f"{gap}cy", wavefronts=wavefronts)
    held = 2 * WIRE + duration
    for name, k, others in [("first", first, held - gap), ("second", second, held)]:
        equal(f"{name}: cycles", k["cycles"], OVERHEAD + 1 + held)
        equal(f"{name}: overlaps", k["overlaps"], True)
        equal(f"{name}: others", k["slot_cycles"]["others"]["kernels"], wavefronts * others)
        equal(f"{name}: own", k["slot_cycles"]["executing"]["sleep"], wavefronts * duration)
    first, second = run(1, duration, kernels=2, gap="5000cy", wavefronts=wavefronts)
    equal("apart: overlaps", [first["overlaps"], second["overlaps"]], [False, False])
    equal("apart: others", second["slot_cycles"]["others"]["kernels"], 0)


def completion():
    """The only dispatcher is busy until its kernel's completion has been signalled, and the kernel
    itself has ended before."""
    for cost in (0, 1, 300):
        first, second = run(1, 100, ("dispatchers=1", f"cp.completion_cost={cost}cy"), kernels=2)
        equal(f"completion {cost}: cycles", first["cycles"], OVERHEAD + 1 + 2 * WIRE + 100)
        equal(f"completion {cost}: apart", second["start_ps"] - first["end_ps"],
              1000 * (cost + 1))


def occupancy():
    """Wavefronts a SIMD by registers; work-groups of one wavefront would be limited by their
    number, so 4 each."""
    tables = {"vgprs": [(24, 10), (28, 9), (32, 8), (36, 7), (40, 6), (44, 5), (48, 5), (64, 4),
                        (84, 3), (128, 2), (132, 1), (256, 1)],
              "sgprs": [(80, 10), (88, 8), (96, 8), (104, 7), (112, 7)]}
    for name, table in tables.items():
        for registers, wavefronts in table:
            (k,) = run(1, 10, work_groups=40, wavefronts=4, **{name: registers})
            equal(f"{name} {registers}", min(10, k["occupancy"]["limits"][name]), wavefronts)
            equal(f"{name} {registers}: fit", k["occupancy"]["work_groups_per_unit"], wavefronts)
            equal(f"{name} {registers}: limit", k["occupancy"]["limited_by"],
                  name if wavefronts < 10 else "wavefront_slots")
    for wavefronts, lds, groups, fit, limit in [(1, "0B", 100, 16, "work_group_slots"),
                                                (1, "4KiB", 100, 16, "work_group_slots"),
                                                (1, "5KiB", 100, 12, "lds"),
                                                (2, "0B", 100, 16, "work_group_slots"),
                                                (3, "0B", 100, 13, "wavefront_slots"),
                                                (16, "0B", 100, 2, "wavefront_slots"),
                                                (4, "64KiB", 100, 1, "lds"),
                                                (4, "0B", 9, 10, "grid")]:
        (k,) = run(1, 10, work_groups=groups, wavefronts=wavefronts, lds=lds)
        name = f"{wavefronts} wavefronts, {lds}"
        equal(f"{name}: fit", k["occupancy"]["work_groups_per_unit"], fit)
        equal(f"{name}: limit", k["occupancy"]["limited_by"], limit)


ACK_NAK = "cp.dispatcher.protocol=ack_nak"


def ack_nak():
    """A round trip for each work-group; cost of dispatching and waiting for the answer go on side
    by side."""
    for groups, wavefronts in [(1, 1), (10, 4), (7, 16)]:
        (k,) = run(4, 1000, (ACK_NAK,), work_groups=groups, wavefronts=wavefronts)
        equal(f"ack, {groups} of {wavefronts}", k["cycles"],
              OVERHEAD + 1 + (groups - 1) * 2 * WIRE + 2 * WIRE + 1000)
    # Each of two units holds one work-group; a third one is asked for in vain at both, then runs
    # where the first has ended.
    (k,) = run(2, 500, (ACK_NAK,), work_groups=3, lds="64KiB")
    equal("nak", k["cycles"], OVERHEAD + 1 + 2 * (2 * WIRE + 500))


def freed_by_others():
    """The second kernel finds no room and has nothing running whose end could wake it: any
    work-group's end must. The previous scheme tells only the dispatcher that placed it; then the
    run hangs, and the report says who waits for what."""
    held = 2 * WIRE + 1000
    for parts in ((), (ACK_NAK,), (ACK_NAK, "cp.dispatcher.protocol.hears=all"),
                  ("cp.dispatcher.order=greedy",), ("cp.dispatcher.order=partitioned",)):
        kernels = run(1, 1000, parts, kernels=2, lds="64KiB")
        if isinstance(kernels, str):
            equal(f"freed by others, {parts}", "deadlock", "two kernels")
            continue
        equal(f"freed by others, {parts}: first", kernels[0]["cycles"], OVERHEAD + 1 + held)
        equal(f"freed by others, {parts}: second", kernels[1]["cycles"],
              OVERHEAD + 1 + 2 * held - 1)
    told = run(1, 1000, (ACK_NAK, "cp.dispatcher.protocol.hears=own"), kernels=2, lds="64KiB")
    equal("own: hangs", isinstance(told, str), True)
    for words in ("deadlock", "dispatcher 1: kernel 'test', 0 work-groups running, 1 to be placed, "
                              "no compute unit has room"):
        equal(f"own: '{words}' is said", words in str(told), True)
    # One kernel alone hears of all its own work-groups.
    equal("own: one kernel",
          len(run(1, 1000, (ACK_NAK, "cp.dispatcher.protocol.hears=own"), work_groups=3,
                  lds="64KiB")), 1)


def orders():
    """Which units are used, and for how long."""
    for order, used, longest in [("round_robin", 4, 200), ("greedy", 2, 400),
                                 ("partitioned", 4, 200)]:
        (k,) = run(4, 100, (f"cp.dispatcher.order={order}",), work_groups=8, lds="16KiB")
        achieved = k["occupancy"]["achieved"]
        equal(f"{order}: units", achieved["units_used"], used)
        equal(f"{order}: longest", achieved["longest_unit_cycles"], longest)


for check in (everything_fits, large_work_groups, rounds, overlapping, completion, occupancy,
              ack_nak, freed_by_others, orders):
    before = wrong
    check()
    print(f"{'ok' if wrong == before else 'not ok'} - {check.__name__}")
sys.exit(wrong != 0)
