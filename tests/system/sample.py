"""The estimate of `--kernels auto`, computed again from the launches in the statistics, by its definition in docs/design/sampling.md:
every launch that was not simulated by itself, no running sums. Called by warmup.sh."""
import json
import math
import sys

EXACT = 12  # simulated launches in succession, behind which nothing is left of a functional warm-up


def fail(text):
    print("    " + text)
    sys.exit(1)


def read(path):
    with open(path) as file:
        sample = json.load(file)["sample"]
    launches = []
    before = math.inf
    for text in sample["launches"]:
        way, group, instructions, cycles = text.split()
        launches.append({"way": way, "group": int(group), "x": int(instructions), "y": int(cycles), "before": before})
        before = before + 1 if way == "d" else 0
    return sample, launches


def weights(number, knots):
    """Of each knot in the rate of launch `number`."""
    if len(knots) == 1 or number < knots[0]:
        return {knots[0]: 1.0}
    if number > knots[-1]:
        return {knots[-2]: 0.5, knots[-1]: 0.5}
    right = min(k for k in knots if k > number)
    left = max(k for k in knots if k < number)
    return {left: (right - number) / (right - left), right: (number - left) / (right - left)}


def group_estimate(own):
    """Cycles, variance and degrees of freedom (None: too few knots), bias, trend."""
    simulated = [i for i, l in enumerate(own) if l["y"]]
    knots = simulated if len(simulated) < 2 or simulated[0] else simulated[1:]
    rate = {k: own[k]["y"] / own[k]["x"] for k in knots}
    cycles, stands_for, squares = 0.0, dict.fromkeys(knots, 0.0), 0.0
    for i, l in enumerate(own):
        if l["y"]:
            cycles += l["y"]
            continue
        for k, w in weights(i, knots).items():
            cycles += l["x"] * w * rate[k]
            stands_for[k] += l["x"] * w
        squares += l["x"] ** 2
    exact = {k for k in knots if own[k]["before"] >= EXACT}
    pairs = [(a, b) if a in exact else (b, a) for a, b in zip(knots, knots[1:]) if (a in exact) != (b in exact)]
    bias = 0.0
    if pairs:
        apart = sum(rate[warmed] - rate[sure] for sure, warmed in pairs) / len(pairs)
        bias = apart * sum(stands_for[k] for k in knots if k not in exact)
    trend = 0.0  # if launches behind the last knot went on from the middle of the last two as they went from the first to the last
    if len(knots) > 1:
        slope = (rate[knots[-1]] - rate[knots[0]]) / (knots[-1] - knots[0])
        trend = sum(slope * (i - (knots[-1] + knots[-2]) / 2) * l["x"] for i, l in enumerate(own) if i > knots[-1])
    if squares == 0:
        return cycles, 0.0, None, 0.0, 0.0
    if len(knots) < 2:
        return cycles, None, None, bias, trend
    freedom = len(knots) - 1
    spread = sum((rate[b] - rate[a]) ** 2 for a, b in zip(knots, knots[1:])) / 2 / freedom
    variance = spread * (sum(w**2 for w in stands_for.values()) + squares)
    return cycles, variance, freedom, bias, trend


def close(what, got, want):
    if abs(got - want) > 1e-3 + 1e-6 * abs(want):
        fail(f"{what} is {got}, expected {want}")


def model(path):
    sample, launches = read(path)
    total = bias_of_all = trend_of_all = 0.0
    for number, group in enumerate(sample["groups"]):
        own = [l for l in launches if l["group"] == number]
        if group["per_launch"]:
            own = [dict(l, x=1) for l in own]
        if len(own) != group["launches"] or sum(1 for l in own if l["y"]) != group["simulated"]:
            fail(f"group {number} has {len(own)} launches: {group}")
        if not group["simulated"]:
            fail(f"group {number} has no simulated launch: not this model's")
        cycles, variance, freedom, bias, trend = group_estimate(own)
        close(f"cycles of group {number}", group["cycles"], cycles)
        close(f"bias of group {number}", group["warmup_bias"], abs(bias))
        close(f"trend of group {number}", group["trend"], abs(trend))
        allowance = 0.005 * (cycles - sum(l["y"] for l in own))
        if variance == 0:
            close(f"interval of group {number}", group["interval"], abs(bias) + abs(trend) + allowance)
        elif variance:
            half = group["interval"] - group["warmup_bias"] - group["trend"] - allowance
            ratio = half / math.sqrt(variance)  # Student's t, from tables
            table = [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (6, 2.447), (8, 2.306), (10, 2.228), (30, 2.042), (1e9, 1.96)]
            low = min(t for f, t in table if f <= freedom)
            high = max(t for f, t in table if f >= freedom)
            if not 0.99 * high <= ratio <= 1.01 * low:
                fail(f"group {number}: {ratio} standard deviations with {freedom} degrees of freedom")
        total += cycles
        bias_of_all += bias
        trend_of_all += trend
    close("the total", sample["cycles"], total)
    close("the total bias", sample["warmup_bias"], abs(bias_of_all))
    close("the total trend", sample["trend"], abs(trend_of_all))


def choice(path, depth):
    """No launch is simulated behind fewer than `depth` that left a trace, once one left none, unless it is its group's first."""
    _, launches = read(path)
    touched, seen, depth = math.inf, set(), int(depth)
    for number, l in enumerate(launches):
        if l["way"] == "d" and touched < depth and l["group"] in seen:
            fail(f"launch {number + 1} is simulated behind {touched} that touched caches")
        seen.add(l["group"])
        touched = 0 if l["way"] == "s" else touched + 1
        if (l["way"] == "d") != (l["y"] > 0):
            fail(f"launch {number + 1}: {l}")


def same_work(sampled, full):
    """What launches execute is counted alike in both ways, and launches simulated on the way take what they take in a full run."""
    _, launches = read(sampled)
    with open(full) as file:
        kernels = json.load(file)["kernels"]
    if len(kernels) != len(launches):
        fail(f"{len(launches)} launches of {len(kernels)}")
    for number, (l, k) in enumerate(zip(launches, kernels)):
        if l["x"] != k["wavefront_instructions"]:
            fail(f"launch {number + 1} executed {l['x']} instructions, {k['wavefront_instructions']} in a full run")


def accuracy(sampled, full, most, share):
    """Within `most` per cent of the truth, and at most `share` per cent of the launches simulated."""
    sample, launches = read(sampled)
    with open(full) as file:
        true = sum(k["cycles"] for k in json.load(file)["kernels"])
    error = 100 * (sample["cycles"] / true - 1)
    if abs(error) > float(most):
        fail(f"{error} % off, interval {100 * sample['interval'] / true} %")
    if sample["simulated"] > float(share) / 100 * len(launches):
        fail(f"{sample['simulated']} of {len(launches)} launches simulated")


globals()[sys.argv[1]](*sys.argv[2:])
