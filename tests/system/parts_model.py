"""The estimate of a launch in parts, computed again from its windows in the statistics, by its
definition in components/sampling/launch_parts.h. For test_sampled_mode.py."""
import math

from sample_model import check_close, check_deviations

ALLOWANCE, PRIOR, PRIOR_FREEDOM = 0.01, 0.03, 1


def windows_of(launch):
    keys = ("first", "groups", "instructions", "cycles", "before", "rate", "rates")
    return [dict(zip(keys, map(float, text.split()))) for text in launch["windows"]]


def check_launch(launch):
    """Windows and what lies between them are all of the launch, and the cycles of what lies between
    are a line; the interval is Student's t of the scatter."""
    windows = windows_of(launch)
    counted = sum(w["instructions"] + w["before"] for w in windows)
    assert math.isclose(counted, launch["wavefront_instructions"], rel_tol=1e-9)
    assert sum(w["groups"] for w in windows) == launch["detailed_work_groups"]
    ends = [w["first"] + w["groups"] for w in windows]
    assert windows[0]["first"] == 0 and ends[-1] == launch["work_groups"]
    assert all(w["first"] >= end for w, end in zip(windows[1:], ends))
    far = sum(b["before"] * (a["rate"] + b["rate"]) / 2 for a, b in zip(windows, windows[1:]))
    cycles = sum(w["cycles"] for w in windows) + far
    check_close(f"cycles of launch {launch['launch']}", launch["cycles"], cycles)
    differences, pairs, generation, drain = map(float, launch["scatter"].split())
    freedom = PRIOR_FREEDOM + pairs
    variance = (2 * differences + PRIOR_FREEDOM * PRIOR**2) / freedom
    behind = [w["before"] for w in windows[1:]] + [0]
    weights = sum(((w["before"] + b) / 2 * w["rate"])**2 / max(w["rates"], 1)
                  for w, b in zip(windows, behind))
    own = cycles**2 * generation / launch["wavefront_instructions"]
    half = launch["interval"] - ALLOWANCE * far
    scatter = math.sqrt(half**2 - (1.96 * 0.25 * drain)**2)
    check_deviations(scatter / math.sqrt(variance * (weights + own)), freedom)


def check_all(stats):
    sample = stats["sample"]
    for launch in sample["in_parts"]:
        check_launch(launch)
    records = {}
    for record in stats["kernels"]:
        groups, instructions = records.get(record["launch"], (0, 0))
        records[record["launch"]] = (groups + record["work_groups"],
                                     instructions + record["wavefront_instructions"])
    for launch in sample["in_parts"]: # the parts are the launch
        assert records[launch["launch"]] == (launch["work_groups"],
                                             launch["wavefront_instructions"])
