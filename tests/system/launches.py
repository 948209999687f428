"""What runs with chosen kernels have written, for test_sampling.py and test_sass_sampling.py."""
import csv
import html
import math
import re
import xml.dom.minidom

EXPERIMENT_MODES = ["perfect", "none", *(f"memory:{n}" for n in range(1, 11)), "full-memory",
                    "functional", "formula", "estimate"]


def kernels(stats):
    return {k["launch"]: k for k in stats["kernels"]}


def check_ways(stats, warmup, chosen):
    """Each launch is there once, executed in the way that its distance to the next chosen one asks
    for."""
    depth = int(warmup.split(":")[1]) if ":" in warmup else 10**9
    words = {"none": "skipped", "perfect": "detailed", "full-memory": "memory"}
    word = words.get(warmup, warmup.split(":")[0])
    seen = kernels(stats)
    assert sorted(seen) == list(range(1, len(seen) + 1))
    for launch, k in seen.items():
        following = [c - launch for c in chosen if c >= launch]
        near = following and following[0] <= depth
        want = "detailed" if launch in chosen else word if near else "skipped"
        assert k["simulated"] == want, launch
        assert (k["cycles"] > 0) == (want in ("detailed", "memory")), launch


def rows_of(folder):
    with open(folder / "results.csv") as file:
        return list(csv.DictReader(file))


def evaluated(law, inputs):
    """A law of corrections.csv: assignments, of which the last is the corrected number."""
    values = {name: float(value) for name, value in inputs.items()}
    *steps, last = law.split("; ")
    for step in steps:
        name, expression = step.split(" = ")
        values[name] = eval(expression, {"max": max, "min": min}, values)  # our own output
    return eval(last, {"max": max, "min": min}, values)


def corrections_of(folder):
    """Corrected cycles by launch and mode, computed again from what stands beside them."""
    rounded = {(r["launch"], r["mode"]): r["cycles"] for r in rows_of(folder)}
    with open(folder / "corrections.csv") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        inputs = dict(term.split("=") for term in row["inputs"].split())
        cycles = evaluated(row["law"], inputs)
        assert math.isclose(cycles, float(row["corrected_cycles"]), rel_tol=1e-12), row
        assert f"{cycles:.0f}" == rounded[row["launch"], row["mode"]]
        assert inputs["cycles"] == rounded[row["launch"], "none"]
    assert len(rows) == 2 * len({launch for launch, _ in rounded})
    return {(row["launch"], row["mode"]): row for row in rows}


def check_page(folder):
    """Under each corrected number of the page stand law and numbers, which give it."""
    page = html.unescape((folder / "index.html").read_text())
    rows = corrections_of(folder)
    shown = re.findall(r"<h3>(\w+), corrected: (\S+) cycles</h3>\n<pre>(.*)\n= (.*)\n= (.*)</pre>",
                       page)
    assert [(mode, law, cycles) for mode, cycles, law, _, _ in shown] == [
        (row["mode"], row["law"], row["corrected_cycles"]) for row in rows.values()]
    for _, cycles, _, filled, result in shown:
        assert cycles == result and math.isclose(evaluated(filled, {}), float(cycles))
    for row in rows.values():
        for term in row["inputs"].split():
            name, value = term.split("=")
            assert re.search(f"<tr><td>{name}</td><td>{re.escape(value)}</td><td>[^<]+</td>", page)


def check_experiment(folder, chosen):
    rows = rows_of(folder)
    assert [(r["launch"], r["mode"]) for r in rows] == [(launch, mode) for launch in chosen
                                                        for mode in EXPERIMENT_MODES]
    accuracy = {r["mode"]: float(r["accuracy_percent"]) for r in rows}
    assert all(float(r["accuracy_percent"]) == 100 for r in rows if r["mode"] == "perfect")
    assert accuracy["functional"] > accuracy["estimate"] > accuracy["none"]
    for name in "ipc.svg", "accuracy.svg":
        curves = xml.dom.minidom.parse(str(folder / name)).getElementsByTagName("polyline")
        assert len(curves) == len(chosen)
    check_page(folder)
