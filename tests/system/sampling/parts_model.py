"""The estimate of a launch in parts, computed again from its windows in the statistics, by its
definition in components/sampling/launch_parts.h. For test_sampled_mode.py."""
import math

from sample_model import check_close, check_deviations

ALLOWANCE, PRIOR, PRIOR_FREEDOM, UNSTEADY = 0.01, 0.03, 1, 0.01
BYTES_ALLOWANCE, BYTES_PRIOR_FREEDOM = {"read": 0.02, "written": 0.1}, 2


def windows_of(launch):
    keys = ("first", "groups", "instructions", "cycles", "before", "rate", "rates", "skipped",
            "timed", "read", "written")
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


def check_traffic(launch, which):
    """Parts in detail as they are, and what lies between as the mean of its neighbours, of which
    the first part is none."""
    windows, told = windows_of(launch), launch["memory"][which]
    rates = [w[which] / w["timed"] for w in windows]
    befores = [i - 1 if i > 1 else i for i in range(len(windows))]
    far = sum(w["skipped"] * (rates[i] + rates[befores[i]]) / 2 for i, w in enumerate(windows))
    value = sum(w[which] for w in windows) + far
    check_close(f"bytes {which} of launch {launch['launch']}", told["bytes"], value)
    assert math.isclose(sum(w["skipped"] + w["timed"] for w in windows),
                        launch["wavefront_instructions"], rel_tol=1e-9)
    pairs = list(zip(rates[1:], rates[2:]))
    scatter = [((b - a) / ((a + b) / 2))**2 / 2 for a, b in pairs if a + b]
    freedom = BYTES_PRIOR_FREEDOM + len(pairs)
    variance = (sum(scatter) + BYTES_PRIOR_FREEDOM * PRIOR**2) / freedom
    stands_for = [0.0] * len(windows)
    for i, w in enumerate(windows):
        stands_for[i] += w["skipped"] / 2
        stands_for[befores[i]] += w["skipped"] / 2
    weights = sum((w * rate)**2 for w, rate in zip(stands_for, rates))
    own = 1.96 * UNSTEADY * value
    half = math.sqrt((told["interval"] - BYTES_ALLOWANCE[which] * far)**2 - own**2)
    if weights:
        check_deviations(half / math.sqrt(variance * weights), freedom)


def check_all(stats):
    sample = stats["sample"]
    for launch in sample["in_parts"]:
        check_launch(launch)
        check_traffic(launch, "read")
        check_traffic(launch, "written")
    records = {}
    for record in stats["kernels"]:
        groups, instructions = records.get(record["launch"], (0, 0))
        records[record["launch"]] = (groups + record["work_groups"],
                                     instructions + record["wavefront_instructions"])
    for launch in sample["in_parts"]: # the parts are the launch
        assert records[launch["launch"]] == (launch["work_groups"],
                                             launch["wavefront_instructions"])
