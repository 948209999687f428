"""What runs with chosen kernels have written, for test_sampling.py and test_sass_sampling.py."""
import csv
import html
import math
import re
import xml.dom.minidom

EXPERIMENT_MODES = ["perfect", "none", *(f"memory:{n}" for n in range(1, 11)), "full-memory",
                    "functional", "formula"]
# Inputs of the formula of the cold-start thesis, as columns of corrections.csv.
INPUTS = ["cycles", "accesses", "controllers", "line", "reuse", "dram", "l2"]


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


def table(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def rows_of(folder):
    return table(folder / "results.csv")


def corrections_of(folder):
    """By launch. Corrected cycles are computed again from what stands beside them."""
    rounded = {(r["launch"], r["mode"]): r["cycles"] for r in rows_of(folder)}
    found = {row["launch"]: row for row in table(folder / "corrections.csv")}
    for launch, row in found.items():
        cycles, accesses, controllers, line, reuse, dram, l2 = (float(row[k]) for k in INPUTS)
        corrected = cycles - accesses / (controllers * line) * reuse * (dram - l2)
        assert math.isclose(corrected, float(row["corrected_cycles"]), rel_tol=1e-12), row
        assert f"{corrected:.0f}" == rounded[launch, "formula"]
        assert row["cycles"] == rounded[launch, "none"] and dram > l2 and 0 <= reuse <= 1
    assert found.keys() == {launch for launch, _ in rounded}
    return found


def check_page(folder):
    """Formula and numbers stand below each other, and give what stands below them."""
    page = html.unescape((folder / "index.html").read_text())
    rows = corrections_of(folder)
    shown = re.findall(r"<pre>(.*)\n= (.*)\n= (.*)</pre>", page)
    assert len(shown) == len(rows)
    for (formula, filled, result), row in zip(shown, rows.values()):
        for expression in formula, filled:  # our own output
            value = eval(expression, {name: float(row[name]) for name in INPUTS})
            assert math.isclose(value, float(row["corrected_cycles"]))
        assert math.isclose(float(result), value)


def check_experiment(folder, chosen):
    rows = rows_of(folder)
    assert [(r["launch"], r["mode"]) for r in rows] == [(launch, mode) for launch in chosen
                                                        for mode in EXPERIMENT_MODES]
    assert all(float(r["accuracy_percent"]) == 100 for r in rows if r["mode"] == "perfect")
    for launch in chosen:
        accuracy = {r["mode"]: float(r["accuracy_percent"]) for r in rows if r["launch"] == launch}
        assert accuracy["functional"] > accuracy["formula"] > accuracy["none"]
    for name in "ipc.svg", "accuracy.svg":
        curves = xml.dom.minidom.parse(str(folder / name)).getElementsByTagName("polyline")
        assert len(curves) == len(chosen)
    check_page(folder)
