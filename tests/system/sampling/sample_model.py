"""The estimates of `--kernels auto`, of cycles and of memory's bytes, computed again from the
launches in the statistics, by their definition in docs/design/sampling.md: every launch that was
not simulated by itself, no running sums. For test_sampling.py."""
import itertools
import math

UNSTEADY = 0.01  # of cycles, assumed of all launches; counts like one difference
EXACT = 12  # simulated launches in succession, behind which nothing is left of a functional warm-up


# Student's t for an interval of 95 %, from tables: degrees of freedom, and how many deviations.
STUDENT = [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (6, 2.447), (8, 2.306),
           (10, 2.228), (30, 2.042), (1e9, 1.96)]


def read(stats, quantity="cycles"):
    """`y`: what is estimated of a launch that was simulated."""
    sample = stats["sample"]
    launches = []
    before = math.inf
    for text in sample["launches"]:
        way, group, instructions, longest, cycles, *traffic = text.split()
        value = dict(zip(("cycles", "read", "written"), (cycles, *traffic)))[quantity]
        launches.append({"way": way, "group": int(group), "x": int(instructions), "y": int(value),
                         "longest": int(longest), "instructions": int(instructions),
                         "simulated": int(cycles) > 0, "before": before})
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


def solve(matrix, right):
    """Cramer's rule."""
    def determinant(m):
        return sum((-1) ** i * m[0][i] * determinant([r[:i] + r[i + 1:] for r in m[1:]])
                   for i in range(len(m))) if m else 1
    whole = determinant(matrix)
    return [determinant([[right[j] if k == i else v for k, v in enumerate(row)]
                         for j, row in enumerate(matrix)]) / whole for i in range(len(right))]


def size_of(launches):
    """What amounts of a kernel's launches are in proportion to, a function: the sum of positive
    weights times instructions, those of the longest wavefront, and 1, whose relative errors are
    least in squares. The first launch was cold."""
    told = [l for l in launches if l["simulated"]][1:]
    told = [([l["x"], l["longest"], 1], l["y"]) for l in told if l["y"]]
    if not told:
        return lambda l: l["x"]
    (unit, amount), best = told[0], (math.inf, None)
    rows = [([t / u * amount / y for t, u in zip(terms, unit)], 1) for terms, y in told]
    rows += [([0.05 * (i == j) for j in range(3)], 0.05 * (i == 0)) for i in range(3)]
    for used in itertools.chain(*(itertools.combinations(range(3), n) for n in (1, 2, 3))):
        weights = solve([[sum(r[i] * r[j] for r, _ in rows) for j in used] for i in used],
                        [sum(r[i] * y for r, y in rows) for i in used])
        squares = sum((y - sum(w * r[i] for w, i in zip(weights, used))) ** 2 for r, y in rows)
        if min(weights) >= 0 and squares < best[0]:
            best = squares, [(w / unit[i], i) for w, i in zip(weights, used)]
    return lambda l: sum(w * (l["x"], l["longest"], 1)[i] for w, i in best[1])


def knots_of(own):
    """Launches that tell, and their rates."""
    simulated = [i for i, l in enumerate(own) if l["simulated"]]
    knots = simulated if len(simulated) < 2 or simulated[0] else simulated[1:]
    return knots, {k: own[k]["y"] / own[k]["x"] for k in knots}


def scatter_of(own):
    """Half the sum of squared differences of successive rates, and how many there are."""
    knots, rate = knots_of(own)
    return sum((rate[b] - rate[a]) ** 2 for a, b in zip(knots, knots[1:])) / 2, len(knots) - 1


def shared_spread(own, spread, prior):
    """The part of the variance that all launches of a run of all may share, and its degrees of
    freedom: launches tell it that execute as much."""
    knots, rate = knots_of(own)
    alike = [(rate[b] - rate[a]) ** 2 / 2 for a, b in zip(knots, knots[1:])
             if all(own[a][key] == own[b][key] for key in ("instructions", "longest"))]
    freedom = len(alike) + prior
    assumed = prior * (UNSTEADY * rate[knots[-1]]) ** 2
    return (min(spread, (sum(alike) + assumed) / freedom), freedom) if freedom else (0, 1)


def common_scatter(others):
    """Relative variance of rates in other groups of a kernel, which counts twice at most."""
    total = freedom = 0
    for own in others:
        knots, rate = knots_of(own)
        if len(knots) > 1 and rate[knots[-1]]:
            total += scatter_of(own)[0] / rate[knots[-1]] ** 2
            freedom += len(knots) - 1
    return (total / freedom if freedom else 0), min(freedom, 2)


def group_estimate(own, others, prior):
    """Cycles, variance and degrees of freedom (None: too few knots), bias, trend, and the variance
    that launches share."""
    knots, rate = knots_of(own)
    cycles, stands_for, squares = 0.0, dict.fromkeys(knots, 0.0), 0.0
    for i, l in enumerate(own):
        if l["simulated"]:
            cycles += l["y"]
            continue
        for k, w in weights(i, knots).items():
            cycles += l["x"] * w * rate[k]
            stands_for[k] += l["x"] * w
        squares += l["x"] ** 2
    exact = {k for k in knots if own[k]["before"] >= EXACT}
    pairs = [(a, b) if a in exact else (b, a) for a, b in zip(knots, knots[1:])
             if (a in exact) != (b in exact)]
    bias = 0.0
    if pairs:
        apart = sum(rate[warmed] - rate[sure] for sure, warmed in pairs) / len(pairs)
        bias = apart * sum(stands_for[k] for k in knots if k not in exact)
    trend = 0.0  # if launches behind the last knot went on from the middle of the last two as they
    if len(knots) > 1:  # went from the first to the last
        slope = (rate[knots[-1]] - rate[knots[0]]) / (knots[-1] - knots[0])
        middle = (knots[-1] + knots[-2]) / 2
        trend = sum(slope * (i - middle) * l["x"] for i, l in enumerate(own) if i > knots[-1])
    if squares == 0:
        return cycles, 0.0, None, 0.0, 0.0, 0.0
    if len(knots) < 2:
        return cycles, None, None, bias, trend, 0.0
    (squared, freedom), (common, count) = scatter_of(own), common_scatter(others)
    freedom += count + prior
    square = rate[knots[-1]] ** 2
    spread = (squared + (count * common + prior * UNSTEADY**2) * square) / freedom
    left_out = sum(l["x"] for l in own if not l["simulated"])
    shared, of_shared = shared_spread(own, spread, prior)
    parts = [(spread * (sum(w**2 for w in stands_for.values()) + squares), freedom),
             (shared * (left_out**2 - squares), of_shared)]
    variance = sum(v for v, _ in parts)
    if variance:
        freedom = variance**2 / sum(v**2 / f for v, f in parts)
    return cycles, variance, freedom, bias, trend, parts[1][0]


def check_close(what, got, want):
    assert abs(got - want) <= 1e-3 + 1e-6 * abs(want), f"{what} is {got}, expected {want}"


def check_deviations(ratio, freedom):
    low = min(t for f, t in STUDENT if f <= freedom)
    high = max(t for f, t in STUDENT if f >= freedom)
    assert 0.99 * high <= ratio <= 1.01 * low, f"{ratio} deviations, {freedom} degrees of freedom"


def check_group(number, group, own, others, name, prior):
    """Returns what of it goes into the total: cycles or bytes, bias and trend."""
    cycles, variance, freedom, bias, trend, shared = group_estimate(own, others, prior)
    check_close(f"{name} of group {number}", group[name], cycles)
    check_close(f"bias of group {number}", group["warmup_bias"], abs(bias))
    check_close(f"trend of group {number}", group["trend"], abs(trend))
    allowance = 0.005 * (cycles - sum(l["y"] for l in own))
    check_close(f"what group {number} shares", group["least_interval"],
                1.959964 * math.sqrt(shared) + allowance)
    if variance == 0:
        check_close(f"interval of group {number}", group["interval"],
                    abs(bias) + abs(trend) + allowance)
    elif variance:
        half = group["interval"] - group["warmup_bias"] - group["trend"] - allowance
        check_deviations(half / math.sqrt(variance), freedom)
    return cycles, bias, trend


def check_estimate(stats):
    for quantity, name in (("cycles", "cycles"), ("read", "bytes"), ("written", "bytes")):
        check_quantity(stats, quantity, name)
    sample, launches = read(stats)
    rate, instructions = sample["cycles_per_instruction"], sum(l["x"] for l in launches)
    for name, of in (("cycles", "cycles"), ("interval", "interval")):
        assert abs(rate[name] - sample[of] / instructions) < 1e-6


def sizes(stats, launches):
    """Launches of each group with their sizes for `x`, and the kernel of each group."""
    groups = stats["sample"]["groups"]
    kernels = [stats["kernels"][g["first_launch"] - 1]["symbol"] for g in groups]
    own = [[l for l in launches if l["group"] == i] for i in range(len(groups))]
    size = {k: size_of([l for l in launches if kernels[l["group"]] == k]) for k in kernels}
    return [[dict(l, x=1 if g["per_launch"] else size[k](l)) for l in o]
            for o, g, k in zip(own, groups, kernels)], kernels


def check_quantity(stats, quantity, name):
    sample, launches = read(stats, quantity)
    total = sample if quantity == "cycles" else sample["memory"][quantity]
    totals = [0.0, 0.0, 0.0]
    sized, kernels = sizes(stats, launches)
    for number, group in enumerate(sample["groups"]):
        own = sized[number]
        others = [sized[i] for i, k in enumerate(kernels)
                  if i != number and k == kernels[number] and quantity == "cycles"]
        assert len(own) == group["launches"]
        assert sum(1 for l in own if l["simulated"]) == group["simulated"]
        assert group["simulated"], f"group {number} has no simulated launch: not this model's"
        of_group = group if quantity == "cycles" else group["memory"][quantity]
        totals = [a + b for a, b in zip(totals, check_group(number, of_group, own, others, name,
                                                             quantity == "cycles"))]
    kernels = sample["kernels"]
    of_kernels = [k if quantity == "cycles" else k["memory"][quantity] for k in kernels]
    check_close(f"{name} of all kernels", sum(k[name] for k in of_kernels), totals[0])
    for key, of in (("launches", "count"), ("simulated", "simulated")):
        assert sum(k[key] for k in kernels) == sample[of]
    most = sum(k["interval"] for k in of_kernels)
    assert max(k["interval"] for k in of_kernels) <= 2 * total["interval"] <= 4 * most + 1
    for key, want in zip((name, "warmup_bias", "trend"), totals):
        check_close(f"the total of {key}", total[key], want if key == name else abs(want))


def check_choice(stats, depth):
    """No launch is simulated behind fewer than `depth` that left a trace, once one left none,
    unless it is its group's first."""
    touched, seen = math.inf, set()
    for number, l in enumerate(read(stats)[1], 1):
        wrong = l["way"] == "d" and touched < depth and l["group"] in seen
        assert not wrong, f"launch {number} is simulated behind {touched} that touched caches"
        assert (l["way"] == "d") == (l["y"] > 0), f"launch {number}: {l}"
        seen.add(l["group"])
        touched = 0 if l["way"] == "s" else touched + 1


def check_instructions(sampled, full):
    """What launches execute is counted alike in both ways, in all and of the longest wavefront."""
    launches = read(sampled)[1]
    assert [l["x"] for l in launches] == [k["wavefront_instructions"] for k in full["kernels"]]
    longest = {way: {(l["group"], l["x"], l["longest"]) for l in launches
                     if (l["way"] == "d") == way} for way in (False, True)}
    same = {(g, x): longest for g, x, longest in longest[True]}
    assert same and all(same.get((g, x), longest) == longest for g, x, longest in longest[False])
    assert all(1 < l["longest"] <= l["x"] for l in launches)


def check_accuracy(sampled, full, most, share):
    """Within `most` per cent of the truth, and at most `share` per cent of the launches
    simulated."""
    sample, launches = read(sampled)
    true = sum(k["cycles"] for k in full["kernels"])
    error = 100 * (sample["cycles"] / true - 1)
    assert abs(error) <= most, f"{error} % off, interval {100 * sample['interval'] / true} %"
    assert sample["simulated"] <= share / 100 * len(launches)
