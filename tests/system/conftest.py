"""Fixtures of the system tests, and which tests run when. harness.py has what they are made of."""
import collections
import fcntl
import functools
import os
import resource
import shutil
from pathlib import Path

import pytest

import harness


def pytest_addoption(parser):
    parser.addoption("--no-hashes", action="store_true",
                     help="do not compare with results.txt: what is right, not what was")


LOCK, BEGIN = pytest.StashKey(), pytest.StashKey()


def lock_folder():
    """A second run would take the folders of the first one's tests away."""
    lock = open(harness.SYSTEM / "lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise pytest.UsageError(f"another run of the system tests is using {harness.SYSTEM}: wait "
                                "for its end, or test another build (HEDDLE_BUILD)") from None
    return lock


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    os.chdir(harness.ROOT)
    if not hasattr(config, "workerinput") and not config.option.basetemp:
        config.option.basetemp = str(harness.SYSTEM / "tmp")  # of tmp_path; made anew by pytest
        harness.SYSTEM.mkdir(exist_ok=True)
        config.stash[LOCK] = lock_folder()
    if not config.getoption("--full"):  # compiling platforms costs more than running them: by half
        os.environ.setdefault("HEDDLE_CFLAGS", "-Og")  # less than with -O1, for a tenth of the run
    os.environ["HEDDLE_CACHE"] = str(harness.SYSTEM / "cache")  # of platforms; one for all workers


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.get_closest_marker("first") is None)


def cpu_seconds():
    """Of all commands so far that have ended. Unlike seconds of the clock they say what a test
    costs, whatever else the machine does."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    if call.when == "teardown":
        item.user_properties.append(("cpu", cpu_seconds() - item.stash[BEGIN]))
    outcome = yield
    if call.when == "call":
        item.passed = outcome.get_result().passed


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    item.stash[BEGIN] = cpu_seconds()


def pytest_terminal_summary(terminalreporter):
    costs = {report.nodeid: cpu for reports in terminalreporter.stats.values() for report in reports
             for name, cpu in getattr(report, "user_properties", ()) if name == "cpu"}
    files = collections.Counter()
    for test, cpu in costs.items():
        files[test.split("::")[0]] += cpu
    terminalreporter.section("CPU seconds, of the costliest tests and of all files")
    for name, cpu in [*collections.Counter(costs).most_common(25), *files.most_common()]:
        terminalreporter.line(f"{cpu:8.1f}  {name}")


@pytest.fixture
def tmp_path(request, tmp_path):
    """A folder of the test's own, which stays when the test fails."""
    yield tmp_path
    if getattr(request.node, "passed", False):
        shutil.rmtree(tmp_path, ignore_errors=True)


@pytest.fixture(autouse=True)
def code_of_platforms(request):
    """Compiling a platform for its parameters costs a hundred times what a test's run costs. So
    only --full does it, and the tests of compiling itself; the statistics have the same bytes."""
    harness.full = request.config.getoption("--full")
    harness.generic = not (harness.full or request.node.get_closest_marker("specialised"))


@pytest.fixture
def full(request):
    return request.config.getoption("--full")


@pytest.fixture
def heddle():
    """heddle(TEXT, *SAYS, status=0): the command line."""
    return harness.heddle


@pytest.fixture
def run():
    """run(TEXT, *SAYS, status=0): `heddle run TEXT`."""
    return harness.run


@pytest.fixture
def measure(tmp_path):
    """measure(TEXT, *SAYS, status=0): `heddle run TEXT` with statistics, in `.stats`."""
    return functools.partial(harness.measure, folder=tmp_path)


@pytest.fixture(scope="session")
def device_libraries(tmp_path_factory):
    """Debian's device libraries for HIP and OpenCL, and what clang 19 looks for beside them, which
    says no more than what is there: gfx942's constants, and version 6 of code objects."""
    folder = tmp_path_factory.mktemp("bitcode")
    bitcode = Path("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode")
    for file in bitcode.glob("*.bc"):
        (folder / file.name).symlink_to(file)
    (folder / "oclc_isa_version_942.bc").symlink_to(bitcode / "oclc_isa_version_940.bc")
    (folder / "oclc_abi_version_600.bc").symlink_to(bitcode / "oclc_abi_version_500.bc")
    return folder


@pytest.fixture(scope="session")
def planted_cuda(tmp_path_factory):
    """The program, compiled once."""
    if not shutil.which("clang++-19"):
        pytest.skip("clang-19 is missing")
    program = tmp_path_factory.mktemp("planted") / "planted"
    source = harness.ROOT / "tests/programs/cuda/planted.cu"
    harness.cuda_cc(source, program)
    return program
