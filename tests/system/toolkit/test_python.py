"""`import heddle`: platforms, runs, sweeps; the notebook of the guide; installing by pip."""
import importlib.util
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness import HEDDLE, PROGRAMS, ROOT, call
from test_docs import GENERIC, PLAIN

import heddle

TINY = ROOT / "platforms/tiny.heddle"
NOTEBOOK = ROOT / "docs/guide/sweep.ipynb"
DEBIAN = "/usr/bin/python3"


@pytest.fixture(autouse=True)
def built():
    heddle.use(HEDDLE)


def test_platform_is_checked_and_does_not_change():
    tiny = heddle.load(TINY)
    other = tiny.set({"gpu.l2": "64KiB", "queues": False})
    assert tiny.settings == () and dict(other.settings)["queues"] == "false"
    assert other.set({"gpu.l2": "128KiB"}).settings[0] == ("gpu.l2", "128KiB")
    assert [said.severity for said in tiny.check() if said.severity == "error"] == []
    for make in (tiny.set, lambda settings: heddle.load(TINY, settings)):
        with pytest.raises(heddle.Mistake, match="has no parameter 'l3'"):
            make({"gpu.l3": 1})
    with pytest.raises(heddle.Mistake, match="nowhere"):
        heddle.load("nowhere.heddle")
    with pytest.raises(heddle.Mistake, match="write them as"):
        tiny.set("gpu.l2=64KiB")
    values = other.parameters.set_index("parameter")["value"]
    assert values["gpu.l2"] == "64KiB" and values["gpu.cus"] == "4"
    assert tiny.diagram().svg.count("<svg") == 1


def test_run_has_the_statistics_of_the_command(measure, tmp_path):
    tiny = heddle.load(TINY.relative_to(ROOT))
    run = tiny.run([PROGRAMS / "vectoradd", 512], ["--stats-no-host"])
    stats = measure("platforms/tiny.heddle -- vectoradd 512").stats
    assert run.statistics == stats and "PASS" in run.output
    text = tiny.run(f"'{PROGRAMS}/vectoradd' 512", ["--stats-no-host"])
    assert text.statistics == stats
    with pytest.raises(heddle.Mistake, match="no shell would read: No closing quotation"):
        tiny.run("./vectoradd '512")
    assert list(run.kernels["cycles"]) == [k["cycles"] for k in stats["kernels"]]
    assert run.cycles == sum(run.kernels["cycles"])
    found = run.components.set_index(["path", "name"])["value"]
    assert found["gpu.l2[1]", "misses"] == stats["components"]["gpu.l2[1]"]["misses"]
    with pytest.raises(heddle.Mistake, match="has no series: name an interval"):
        _ = run.series
    run.save(tmp_path / "s.json")
    assert heddle.open_run(tmp_path / "s.json").time_ps == stats["time_ps"]
    with pytest.raises(heddle.Mistake, match="status 3:\n.*\nerror: this"):
        heddle.load(TINY).run(["/bin/sh", "-c", "echo heddle: >&2; echo error: this >&2; exit 3"])
    with pytest.raises(heddle.Mistake, match="has used HIP"):
        heddle.load(TINY).run(["/bin/true"])


def test_run_has_a_series_and_a_page(tmp_path):
    run = heddle.load(TINY).run([PROGRAMS / "vectoradd", 512], every="1us", counters=["gpu.l2"])
    grown = run.series
    assert list(grown["from_ps"])[1:] == list(grown["to_ps"])[:-1] and len(grown) > 3
    misses = run.components.query("path == 'gpu.l2[0]' and name == 'misses'")["value"]
    assert [grown["gpu.l2[0].misses"].sum()] == list(misses)
    run.report(tmp_path / "page.html")
    assert "Over time" in (tmp_path / "page.html").read_text()
    (tmp_path / "bad.csv").write_text("from_ps\nx\n")
    run.save(tmp_path / "s.json")
    with pytest.raises(heddle.Mistake, match="none that heddle run wrote"):
        _ = heddle.open_run(tmp_path / "s.json", tmp_path / "bad.csv").series


def test_sweep_has_frames_of_its_tables(tmp_path):
    tiny = heddle.load(TINY, {"gpu.l2": "64KiB"})
    words = [tiny, [PROGRAMS / "vectoradd", "{n}"], tmp_path / "out"]
    found = heddle.sweep(*words, vary={"{n}": [64, 128], "gpu.sa.l1v.size": "8KiB,16KiB"},
                         jobs=1)
    assert found.settings == ["gpu.sa.l1v.size", "n"] and not found.failed
    points = found.points
    assert list(points["gpu.sa.l1v.size"]) == [8192, 16384] * 2
    by_kernel = found.kernels.groupby("point")["cycles"].sum()
    assert list(points["cycles"]) == list(by_kernel)
    read = found.components.query("path == 'gpu.dram[*]' and name == 'bytes_read'")
    assert list(found.result("gpu.dram[*].bytes_read")) == list(read["value"])
    assert len(found.host) == 4 and "<svg" in found.plot("cycles", "n")._repr_svg_()
    assert "<svg" in heddle.open_sweep(tmp_path / "out").pareto("time", "gpu.sa.l1v.size").svg
    with pytest.raises(heddle.Mistake, match="'m' is not varied"):
        found.plot("cycles", "m")
    with pytest.raises(heddle.Mistake, match="is another sweep"):
        heddle.sweep(*words, vary={"{n}": [64], "gpu.sa.l1v.size": "8KiB,16KiB"})
    with pytest.raises(heddle.Mistake, match="folder without a sweep"):
        heddle.open_sweep(tmp_path)


@pytest.mark.parametrize("values, says", [
    ([float("nan")], "nan is not a value"), ([1, float("inf")], "inf is not a value"),
    (["1\0"], "has a NUL"), (range(3_000_000), "too many or too long words")])
def test_values_that_cannot_be_given_are_mistakes(tmp_path, values, says):
    with pytest.raises(heddle.Mistake, match=says):
        heddle.sweep(TINY, [PROGRAMS / "vectoradd", "{n}"], tmp_path / "out", vary={"{n}": values})
    with pytest.raises(heddle.Mistake, match=says):
        heddle.load(TINY, {"gpu.cus": "1" * 3_000_000 if len(values) > 2 else values[-1]})
    assert not (tmp_path / "out").exists()


def test_program_of_the_guide_page_runs(tmp_path, full):
    page = (ROOT / "docs/guide/python.md").read_text(encoding="utf-8")
    program, = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
    commands, = re.findall(r"^```sh\n(.*?)^```$", page, re.M | re.S)  # in an empty folder
    folder = HEDDLE.parent if full else GENERIC.parent
    env = {**PLAIN, "PYTHONPATH": str(ROOT / "python"), "HEDDLE": str(ROOT),
           "PATH": f"{folder}:{os.environ['PATH']}"}
    call(["bash", "-ec", f"cd '{tmp_path}'\n{commands}"], env=env)
    call([DEBIAN, "-c", f"import os; os.chdir('{tmp_path}')\n{program}"], env=env)
    assert "<svg" in (tmp_path / "cycles.svg").read_text()


def folder_of_the_guide(folder):
    (folder / "tiny.heddle").symlink_to(TINY)
    for name in ("vectoradd", "matmul_tiled"):
        (folder / name).symlink_to(PROGRAMS / name)


RUN_NOTEBOOK = """
import nbformat, sys
from nbclient import NotebookClient
book = nbformat.read(sys.argv[1], 4)
NotebookClient(book, timeout=300, kernel_name="python3").execute()
for cell in book.cells:
    if cell.cell_type == "code":
        cell.execution_count, cell.metadata = None, {}
        for output in cell.outputs:
            if "execution_count" in output:
                output["execution_count"] = None
nbformat.write(book, "done.ipynb")
"""


@pytest.mark.full
def test_notebook_says_what_it_shows(tmp_path):
    """Executed; UPDATE_GOLDEN=1 takes what it shows now."""
    assert importlib.util.find_spec("nbclient"), "python3-nbclient is missing: ./dev setup --full"
    folder_of_the_guide(tmp_path)
    done = subprocess.run([DEBIAN, "-Xfrozen_modules=off", "-c", RUN_NOTEBOOK, NOTEBOOK],
                          cwd=tmp_path, check=False, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "python"),
                               "PATH": f"{HEDDLE.parent}:{os.environ['PATH']}"})
    assert done.returncode == 0, done.stderr
    if os.environ.get("UPDATE_GOLDEN"):
        NOTEBOOK.write_bytes((tmp_path / "done.ipynb").read_bytes())
    for before, now in zip(*(json.loads(path.read_text())["cells"]
                             for path in (NOTEBOOK, tmp_path / "done.ipynb"))):
        assert before.get("outputs") == now.get("outputs"), before["source"]


@pytest.mark.full
def test_pip_installs_the_package(tmp_path):
    source = shutil.copytree(ROOT / "python", tmp_path / "source")  # pip builds beside it
    call([DEBIAN, "-m", "pip", "install", "--no-build-isolation", "--no-index", "--quiet",
          "--root-user-action", "ignore", "--target", tmp_path / "pip", source])
    told = call([DEBIAN, "-c", "import heddle; print(heddle.__file__, heddle.command())"],
                env={"PYTHONPATH": str(tmp_path / "pip"),
                     "PATH": f"{HEDDLE.parent}:{os.environ['PATH']}"}).stdout
    assert str(tmp_path / "pip") in told and str(HEDDLE) in told
    version = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text())[1]
    assert heddle.__version__ == version
    assert f'version = "{version}"' in (ROOT / "python/pyproject.toml").read_text()


def test_package_needs_nothing_until_it_is_asked():
    """Starting commands must not cost more."""
    told = call([DEBIAN, "-c", "import sys; sys.path.insert(0, 'python'); import heddle; "
                 "print([name for name in ('pandas', 'numpy', 'sqlite3') if name in sys.modules])"])
    assert told.stdout == "[]\n"
    assert Path(heddle.command()) == HEDDLE
