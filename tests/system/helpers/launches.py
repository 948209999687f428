"""What runs with chosen kernels have written, for test_sampling.py and test_sass_sampling.py."""
import csv
import html
import math
import os
import re
import xml.dom.minidom

EXPERIMENT_MODES = ["perfect", "none", *(f"memory:{n}" for n in range(1, 11)), "full-memory",
                    "functional", "formula", "formula-bytes"]
# Inputs of the formula of the cold-start thesis, as columns of corrections.csv.
INPUTS = ["cycles", "accesses", "controllers", "line", "reuse", "dram", "l2", "size"]
CORRECTED = ["corrected_cycles", "corrected_cycles_by_bytes"]


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
        cycles, accesses, controllers, line, reuse, dram, l2, _ = (float(row[k]) for k in INPUTS)
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
    assert len(shown) == 2 * len(rows)
    for i, (formula, filled, result) in enumerate(shown):
        row = list(rows.values())[i // 2]
        for expression in formula, filled:  # our own output
            value = eval(expression, {name: float(row[name]) for name in INPUTS})
            assert math.isclose(value, float(row[CORRECTED[i % 2]]))
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
    head = (folder / "index.html").read_text().partition("</h1>")[2].partition("<section")[0]
    assert "heddle experiment " in head and f"on {os.uname().nodename}, in {os.getcwd()}" in head


def check_factors(folder, chosen, rank):
    """The table of all launches agrees with the ranking and with itself; figures of all kinds."""
    rows = table(folder / "factors.csv")
    cold = {row["launch"]: (row["cold_cycles"], row["perfect_cycles"]) for row in rank}
    assert {r["launch"]: (r["cold_cycles"], r["perfect_cycles"]) for r in rows} == cold
    assert {r["launch"] for r in rows if r["chosen"] == "1"} == chosen
    for row, after in zip(rows, [*rows[1:], None]):
        reads = [float(n) for n in row["dram_reads"].split()]
        assert len(reads) == int(row["controllers"]) >= float(row["controllers_used"]) >= 1
        assert float(row["unique_dram_accesses"]) <= sum(reads)
        assert math.isclose(float(row["l2_miss_rate"]),
                            float(row["l2_misses"]) / float(row["l2_accesses"]), abs_tol=1e-4)
        assert 0 < int(row["memory_instructions"]) < int(row["wavefront_instructions"])
        assert float(row["references"]) >= float(row["unique"]) > 0
        if after:  # the same lines, seen from both sides
            assert math.isclose(float(row["reuse_forward"]) * float(row["unique"]),
                                float(after["reuse_backward"]) * float(after["unique"]), abs_tol=1)
    for name in "launches", "ipc", "accuracy":
        if not (folder / f"{name}.svg").exists():
            continue
        picture = (folder / f"{name}.pgf").read_text()
        assert picture.count("{pgfscope}") > 20 and picture.count("{") == picture.count("}")
        assert (folder / f"{name}.pdf").read_bytes().startswith(b"%PDF")
