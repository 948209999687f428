"""heddle run --check: each mistake of tests/programs/checks is named at its lines, and the right
form of each program is accused of nothing."""
import functools
import json
import re

import pytest

import harness
from programs import GOOD, GPUS, built, only_full, quick_and_full

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


# Programs of CUDA, with the machine that each is for.
CUDA = {"cuda": ("rtx3070", []), "cuda_hopper": ("h100", ["-arch=sm_90"])}
CUDA_MARKS = {f"{program} {name}": mark for program in CUDA
              for name, mark in marks_of(SOURCES / f"{program}.cu", f"{program}.cu").items()}
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
    path = built(harness.PROGRAMS / f"checks_{table}{suffix}")
    program = f"--mode {mode} -- {path} {name}"
    found = findings(f"{program} wrong", folder / "wrong.json", 9, platform)
    assert {f["kind"] for f in found} == {kind}
    assert set().union(*map(places, found)) == lines
    assert findings(f"{program} right", folder / "right.json", 0, platform) == []


@pytest.mark.parametrize("program", ["copies down right", "memory rodata right"])
def test_runtimes_whose_signals_order_commands_are_not_accused(program, tmp_path):
    table, name, form = program.split()
    path = built(harness.PROGRAMS / f"checks_{table}")
    assert findings(f"--stack rocm --mode functional -- {path} {name} {form}",
                    tmp_path / "right.json", 0) == []


def test_processes_with_code_at_the_same_addresses_are_told_apart(tmp_path):
    cases = [("memory", "lds_count"), ("races", "lanes"), ("memory", "private_array")]
    script = " & ".join(f"setarch -R {built(harness.PROGRAMS / f'checks_{table}')} {name} wrong"
                        for table, name in cases)
    found = findings(f"--stack rocm --mode functional -- /bin/sh -c '{script} & wait'",
                     tmp_path / "wrong.json", 9)
    expected = [marks(table)[name] for table, name in cases]
    assert sorted((f["kind"], sorted(places(f))) for f in found) == sorted(
        (kind, sorted(lines)) for kind, lines in expected)
    assert all(f["address"] < 32 for f in found if f["space"] == "private memory")


@pytest.mark.parametrize("stack", ["hip", "rocm"])
def test_a_program_that_fails_itself_keeps_its_status(stack, tmp_path):
    path = built(harness.PROGRAMS / "checks_memory")
    assert findings(f"--stack {stack} --mode functional -- /bin/sh -c '{path} lds_count wrong; "
                    "exit 3'", tmp_path / "wrong.json", 3) != []


def other_cases():
    found = [(*other, name) for other in OTHERS for name in marks(other[2])]
    quick = [case for case in found if case[::3] == ("mi210", "doubles")]
    return quick + only_full(*(case for case in found if case not in quick))


@pytest.mark.parametrize("platform, suffix, table, name", other_cases())
def test_a_mistake_is_named_on_other_gpus(platform, suffix, table, name, tmp_path):
    named_and_not_accused(table, name, tmp_path, platform=platform, suffix=suffix)


@pytest.fixture(scope="session")
def cuda_program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checks")

    @functools.cache
    def compiled(name):
        harness.cuda_cc(SOURCES / f"{name}.cu", folder / name, "-lineinfo", *CUDA[name][1])
        return folder / name
    return compiled


CUDA_QUICK = [f"cuda {name}" for name in ("pairs", "own", "halves", "constants")] + [
    f"cuda_hopper {name}" for name in ("again", "early")]


@pytest.mark.parametrize("mode", ["functional", *only_full("timing")])
@pytest.mark.parametrize("case", CUDA_QUICK + only_full(
    *(case for case in CUDA_MARKS if case not in CUDA_QUICK)))
def test_a_mistake_of_a_cuda_program_is_named(case, mode, cuda_program, tmp_path):
    kind, lines = CUDA_MARKS[case]
    source, name = case.split()
    machine = CUDA[source][0]
    program = f"--mode {mode} -- {cuda_program(source)} {name}"
    found = findings(f"{program} wrong", tmp_path / "wrong.json", 9, machine)
    assert {f["kind"] for f in found} == {kind}
    assert set().union(*map(places, found)) == lines
    assert findings(f"{program} right", tmp_path / "right.json", 0, machine) == []


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


# Programs by the machine that they run on, in folders of the build.
RIGHT = {"tiny": [*(f"programs/{name}" for name in GOOD if name not in ("graphs", "module")),
                  f"programs/module {harness.PROGRAMS}/module_kernels.hsaco",
                  "programs/transformer",
                  *(f"opencl/opencl_{name}" for name in "events image_calls images kernel_calls "
                    "memory prints vector_add".split()),
                  f"opencl/opencl_features {harness.ROOT}/tests/opencl/features.cl"],
         "r9nano_x4": [*(f"programs/{name}" for name in GPUS), "programs/ring_collectives",
                       "programs/transformer --gpus 4", "opencl/opencl_devices"]}


QUICK_RIGHT = [("tiny", f"programs/{name}") for name in ("streams", "volumes", "managed")] + [
    ("tiny", "opencl/opencl_events"), ("tiny", "opencl/opencl_prints"),
    ("r9nano_x4", "programs/allreduce")]


@pytest.mark.parametrize("platform, program", QUICK_RIGHT + only_full(
    *(each for platform, names in RIGHT.items() for each in ((platform, name) for name in names)
      if each not in QUICK_RIGHT)))
def test_no_program_of_these_tests_is_accused(platform, program, tmp_path):
    command = f"--mode functional -- {harness.BUILD}/tests/{program}"
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


def test_file_of_suppressions_that_cannot_be_read_is_named_with_the_reason():
    harness.heddle(f"run platforms/tiny.heddle --check races,suppress=nowhere -- "
                   f"{harness.PROGRAMS}/dct8x8", "cannot read 'nowhere': No such file", status=7)


def test_each_wrong_line_of_suppressions_is_named(tmp_path):
    rules = tmp_path / "rules"
    rules.write_text("race\nrace; a; b; c\n\n# x; y; z; w\n;;;;\nrace; kernel; \n",
                     encoding="utf-8")
    lines = [f"{rules}:{number}: a line is 'KIND; KERNEL; FILE:LINE', all patterns"
             for number in (2, 6)]
    harness.heddle(f"run platforms/tiny.heddle --check races,suppress={rules} -- "
                   f"{harness.PROGRAMS}/dct8x8", *lines, status=7)


def test_line_of_suppressions_may_be_long(tmp_path):
    (tmp_path / "rules").write_text("# " + "why " * 1000 + "\n", encoding="utf-8")
    harness.heddle(f"run platforms/tiny.heddle --mode functional --check "
                   f"races,suppress={tmp_path}/rules -- {harness.PROGRAMS}/vectoradd 64")


def test_the_marks_are_those_of_sixty_mistakes():
    assert sum(len(marks(table)) for table in TABLES) >= 60


# Those that err on purpose are not here.
CUDA_PROGRAMS = sorted(path.stem for path in (SOURCES.parent / "cuda").glob("*.cu")
                       if path.stem not in ("mistakes", "planted"))
# What a program needs that is not as most.
CUDA_MACHINE = {"clusters": "h100", "peer_rate": "a100_x4", "peer_halo": "a100_x4"}
CUDA_ARGUMENTS = {"math_errors": "32", "peer_rate": "1 1000"}


@pytest.mark.parametrize("name", quick_and_full("block_scan clusters", CUDA_PROGRAMS))
def test_no_cuda_program_is_accused(name, tmp_path):
    source = SOURCES.parent / f"cuda/{name}.cu"
    harness.cuda_cc(source, tmp_path / name, "-lmpfr", "-lgmp")
    mode = "timing" if name == "peer_rate" else "functional"  # which compares rates
    command = f"--generic --mode {mode} -- {tmp_path / name} {CUDA_ARGUMENTS.get(name, '')}"
    assert findings(command, tmp_path / "s.json", 0, CUDA_MACHINE.get(name, "rtx3070")) == []
