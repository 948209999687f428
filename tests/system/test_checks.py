"""heddle run --check: each mistake of tests/programs/checks is named at its lines, and the right
form of each program is accused of nothing."""
import functools
import json
import re

import pytest

import harness
from programs import GOOD, GPUS, only_full, quick_and_full

SOURCES = harness.ROOT / "tests/programs/checks"
OPENCL_PROGRAM = harness.BUILD / "tests/opencl/opencl_checks"
TABLES = ["races", "memory", "modes", "waits", "calls", "copies"]  # programs of many cases
QUICK = ["lds_barrier", "narrow_scope", "locked", "streams", "branch", "copied", "lds_last",
         "rodata", "lds_flag", "lds_lock", "second_load", "neighbour", "lanes", "free_twice",
         "above", "twice", "chosen"]
# Where else they run, and as what they are compiled for that.
OTHERS = [("mi210", "", "matrix_waits"), ("mi300x", ".gfx942", "matrix_waits"),
          ("mi210", "", "modes"), ("mi300x", ".gfx942", "modes"), ("mi300x", ".gfx942", "races"),
          ("mi300x", ".gfx942", "memory")]


@functools.cache
def marks_of(path, called):
    """{case: (kind, {line of its first or second place})} by the comments of the source."""
    kinds, lines = {}, {}
    for number, text in enumerate(path.read_text().splitlines(), 1):
        for name, word in re.findall(r"\b([a-z]\w*): ([\w-]+)", text.partition("//")[2]):
            if word in ("first", "second"):
                lines.setdefault(name, set()).add(f"{called}:{number}")
            else:
                kinds[name] = word
    return {name: (kinds[name], places) for name, places in lines.items()}


def marks(table):
    return marks_of(SOURCES / f"{table}.hip.cpp", f"{table}.hip.cpp")


CUDA = marks_of(SOURCES / "cuda.cu", "cuda.cu")
OPENCL = marks_of(harness.ROOT / "tests/opencl/checks.cl", "<source>")


def cases():
    found = [(table, name) for table in TABLES for name in marks(table)]
    return ([case for case in found if case[1] in QUICK]
            + only_full(*(case for case in found if case[1] not in QUICK)))


def findings(command, stats, status, platform="tiny"):
    words = harness.words_of(f"platforms/{platform}.heddle --check all --stats {stats} {command}")
    harness.call([harness.HEDDLE, "run", *words], status=status)
    return [f for f in json.loads(stats.read_text())["findings"] if not f["suppressed"]]


def places(finding):
    return {place["source"] for place in finding["places"]
            if not place["source"].startswith("near ")}  # which the compiler names no line of


@pytest.mark.parametrize("table, name", cases())
@pytest.mark.parametrize("mode", ["functional", *only_full("timing")])
def test_a_mistake_is_named_at_its_lines_and_the_right_form_is_not_accused(
        table, name, mode, tmp_path):
    named_and_not_accused(table, name, tmp_path, mode=mode)


def named_and_not_accused(table, name, folder, mode="functional", platform="tiny", suffix=""):
    kind, lines = marks(table)[name]
    program = f"--mode {mode} -- {harness.PROGRAMS}/checks_{table}{suffix} {name}"
    found = findings(f"{program} wrong", folder / "wrong.json", 9, platform)
    assert {f["kind"] for f in found} == {kind}
    assert set().union(*map(places, found)) == lines
    assert findings(f"{program} right", folder / "right.json", 0, platform) == []


def other_cases():
    found = [(*other, name) for other in OTHERS for name in marks(other[2])]
    quick = [case for case in found if case[::3] == ("mi210", "doubles")]
    return quick + only_full(*(case for case in found if case not in quick))


@pytest.mark.parametrize("platform, suffix, table, name", other_cases())
def test_a_mistake_is_named_on_other_gpus(platform, suffix, table, name, tmp_path):
    named_and_not_accused(table, name, tmp_path, platform=platform, suffix=suffix)


@pytest.fixture(scope="session")
def cuda_program(tmp_path_factory):
    program = tmp_path_factory.mktemp("checks") / "cuda"
    harness.call([harness.HEDDLE, "cuda-cc", "-lineinfo", SOURCES / "cuda.cu", "-o", program])
    return program


@pytest.mark.parametrize("mode", ["functional", *only_full("timing")])
@pytest.mark.parametrize("name", quick_and_full("pairs own halves constants", CUDA))
def test_a_mistake_of_a_cuda_program_is_named(name, mode, cuda_program, tmp_path):
    kind, lines = CUDA[name]
    program = f"--mode {mode} -- {cuda_program} {name}"
    found = findings(f"{program} wrong", tmp_path / "wrong.json", 9, "rtx3070")
    assert {f["kind"] for f in found} == {kind}
    assert set().union(*map(places, found)) == lines
    assert findings(f"{program} right", tmp_path / "right.json", 0, "rtx3070") == []


@pytest.mark.parametrize("name", quick_and_full("unordered unwritten", OPENCL))
def test_a_mistake_of_an_opencl_kernel_is_named(name, tmp_path):
    kind, lines = OPENCL[name]
    program = f"--mode functional -- {OPENCL_PROGRAM} tests/opencl/checks.cl {name}"
    found = findings(f"{program} wrong", tmp_path / "wrong.json", 9)
    assert kind in {f["kind"] for f in found}
    assert set().union(*(places(f) for f in found if f["kind"] == kind)) == lines
    assert findings(f"{program} right", tmp_path / "right.json", 0) == []


@pytest.mark.parametrize("name, kind", [("queues", "launch-race"), ("buffers", "leak")])
def test_a_mistake_of_an_opencl_host_program_is_named(name, kind, tmp_path):
    program = f"--mode functional -- {OPENCL_PROGRAM} tests/opencl/checks.cl {name}"
    found = findings(f"{program} wrong", tmp_path / "wrong.json", 9)
    assert {f["kind"] for f in found} == {kind}
    assert findings(f"{program} right", tmp_path / "right.json", 0) == []


@pytest.mark.parametrize("program", ["prints", "events"])
def test_a_right_opencl_program_is_not_accused(program, tmp_path):
    at = OPENCL_PROGRAM.with_name(f"opencl_{program}")
    assert findings(f"--mode functional -- {at}", tmp_path / "s.json", 0) == []


@pytest.mark.parametrize("platform, program", [
    ("tiny", "streams"), ("tiny", "volumes"), ("tiny", "managed"),
    ("r9nano_x4", "allreduce"),
    # `module` has its kernels in a file; `graphs` ends captures that are not joined.
    *only_full(*(("tiny", name) for name in GOOD if name not in ("module", "graphs")),
               *(("r9nano_x4", name) for name in GPUS))])
def test_no_program_of_these_tests_is_accused(platform, program, tmp_path):
    command = f"--mode functional -- {harness.PROGRAMS}/{program}"
    assert findings(command, tmp_path / "s.json", 0, platform) == []


@pytest.mark.parametrize("program", ["reduction 5000", *only_full("bfs 500", "streams")])
def test_checks_change_nothing_that_is_simulated(measure, program):
    checks = "--check races,uninitialised,lds,readonly,hazards,barriers,stack"
    command = f"platforms/tiny.heddle {{}} -- {program}"
    assert harness.of_gpu(measure(command.format(checks)).stats) \
        == harness.of_gpu(measure(command.format("")).stats)


def test_work_items_may_return_before_a_barrier(tmp_path):
    program = f"--mode functional -- {harness.PROGRAMS}/checks_waits returned"
    for form in ("right", "wrong"):
        assert findings(f"{program} {form}", tmp_path / f"{form}.json", 0) == []


def test_the_marks_are_those_of_sixty_mistakes():
    assert sum(len(marks(table)) for table in TABLES) >= 60


# These leave their memory to the end of the process, as many programs do; the others are checked.
UNFREED = ("grid_solver halves image_filters intrinsics managed_variables matrices peer_halo "
           "peer_rate textures warp_tools").split()
# Not here: those that err on purpose or need a library, and clusters, which are not checked.
CUDA_PROGRAMS = sorted(path.stem for path in (SOURCES.parent / "cuda").glob("*.cu")
                       if path.stem not in [*UNFREED, "mistakes", "planted", "math_errors",
                                            "clusters"])


@pytest.mark.parametrize("name", quick_and_full("block_scan", CUDA_PROGRAMS))
def test_no_cuda_program_is_accused(name, tmp_path):
    source = SOURCES.parent / f"cuda/{name}.cu"
    harness.call([harness.HEDDLE, "cuda-cc", source, "-o", tmp_path / name])
    assert findings(f"--mode functional -- {tmp_path / name}", tmp_path / "s.json", 0,
                    "rtx3070") == []
