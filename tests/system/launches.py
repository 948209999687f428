"""What runs with chosen kernels have written, for test_sampling.py and test_sass_sampling.py."""
import csv
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
    assert (folder / "index.html").stat().st_size >= 1000


def check_corrections(folder, most):
    """Corrected cycles are never above the cold ones, and off by at most so many per cent on
    average; the formula and the cold run by more."""
    rows = rows_of(folder)
    off = {}
    for mode in "none", "formula", "estimate":
        mine = [100 - float(r["accuracy_percent"]) for r in rows if r["mode"] == mode]
        off[mode] = sum(mine) / len(mine)
    cycles = {(r["launch"], r["mode"]): float(r["cycles"]) for r in rows}
    for launch in {r["launch"] for r in rows}:
        assert 0 <= cycles[launch, "estimate"] <= cycles[launch, "none"], launch
    assert off["estimate"] <= most and off["estimate"] <= min(off["formula"], off["none"]), off
