"""Checks of what runs with chosen kernels wrote; called by warmup.sh."""
import csv
import json
import os
import sys
import xml.dom.minidom


def fail(text):
    print("    " + text)
    sys.exit(1)


def kernels(path):
    with open(path) as file:
        return {k["launch"]: k for k in json.load(file)["kernels"]}


def number(path, launch, key):
    value = kernels(path)[int(launch)]
    for name in key.split("/"):
        value = value.get(name, 0)
    print(value)


def ways(path, how, *chosen):
    """Each launch is there once, executed in the way that its distance to the next chosen one asks for."""
    chosen = [int(c) for c in chosen]
    depth = int(how.split(":")[1]) if ":" in how else 10**9
    word = {"none": "skipped", "perfect": "detailed", "full-memory": "memory"}.get(how, how.split(":")[0])
    seen = kernels(path)
    if sorted(seen) != list(range(1, len(seen) + 1)):
        fail(f"launches {sorted(seen)}")
    for launch, k in seen.items():
        following = [c - launch for c in chosen if c >= launch]
        near = following and following[0] <= depth
        want = "detailed" if launch in chosen else word if near else "skipped"
        if k["simulated"] != want:
            fail(f"launch {launch} is {k['simulated']}, expected {want}")
        if (k["cycles"] > 0) != (want in ("detailed", "memory")):
            fail(f"launch {launch}, {want}, took {k['cycles']} cycles")


def accuracy(folder, *launches):
    perfect = kernels(f"{folder}/perfect.json")
    for launch in map(int, launches):
        want = perfect[launch]["cycles"]
        error = {}
        for how in ("functional", "none", "full-memory"):
            error[how] = abs(kernels(f"{folder}/{how}.{launch}.json")[launch]["cycles"] / want - 1)
        if error["functional"] > 0.02 or error["full-memory"] > 0.03 or error["none"] < 0.15:
            fail(f"launch {launch} of {want} cycles: {error}")


def experiment(folder, *launches):
    with open(f"{folder}/results.csv") as file:
        rows = list(csv.DictReader(file))
    modes = ["perfect", "none"] + [f"memory:{n}" for n in range(1, 11)]
    modes += ["full-memory", "functional", "formula", "estimate"]
    if [(r["launch"], r["mode"]) for r in rows] != [(launch, mode) for launch in launches for mode in modes]:
        fail("results.csv has other rows")
    best = {r["mode"]: float(r["accuracy_percent"]) for r in rows}
    for r in rows:
        if r["mode"] == "perfect" and float(r["accuracy_percent"]) != 100:
            fail("perfect is not perfect")
    if not best["functional"] > best["estimate"] > best["none"]:
        fail(f"accuracies {best}")
    for name in ("ipc.svg", "accuracy.svg"):
        drawn = xml.dom.minidom.parse(f"{folder}/{name}").getElementsByTagName("polyline")
        if len(drawn) != len(launches):
            fail(f"{name} has {len(drawn)} curves")
    if os.path.getsize(f"{folder}/index.html") < 1000:
        fail("index.html is empty")


def corrections(folder, most):
    """Corrected cycles are never above the cold ones, and off by at most so many per cent on average; the formula and the cold
    run by more."""
    with open(f"{folder}/results.csv") as file:
        rows = list(csv.DictReader(file))
    off = {}
    for mode in ("none", "formula", "estimate"):
        mine = [100 - float(r["accuracy_percent"]) for r in rows if r["mode"] == mode]
        off[mode] = sum(mine) / len(mine)
    cycles = {(r["launch"], r["mode"]): float(r["cycles"]) for r in rows}
    for launch, mode in cycles:
        if not 0 <= cycles[launch, "estimate"] <= cycles[launch, "none"]:
            fail(f"launch {launch}: {cycles[launch, 'estimate']} of {cycles[launch, 'none']} cycles")
    if off["estimate"] > float(most) or off["estimate"] > off["formula"] or off["estimate"] > off["none"]:
        fail(f"errors {off}")


def sample(path, most):
    with open(path) as file:
        line = [text for text in file if text.startswith("full simulation")][0]
    error = float(line.split("error")[1].split("%")[0])
    if abs(error) > float(most):
        fail(line)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
