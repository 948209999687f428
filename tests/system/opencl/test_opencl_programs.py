"""OpenCL programs, through the system's loader, on simulated GPUs: our own of tests/opencl, and
those that a distribution has."""
import hashlib
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from harness import ANY, BUILD, HEDDLE, call, toolkit_without

SOURCES = Path(__file__).parents[2] / "opencl"
PROGRAMS = BUILD / "tests/opencl"
R9NANO = "platforms/r9nano.heddle --generic"
MI210 = "platforms/mi210.heddle --generic"


@pytest.fixture
def program():
    def find(name):
        path = PROGRAMS / f"opencl_{name}"
        if not path.exists():
            pytest.skip("the OpenCL library was not built: its programs were not run")
        return path
    return find


@pytest.mark.parametrize("platform", [R9NANO, MI210])
@pytest.mark.parametrize("mode", ["timing", "functional"])
def test_vector_is_added(measure, program, platform, mode):
    done = measure(f"{platform} --mode {mode} -- {program('vector_add')}", r"PASSED: \d+ checks")
    kernels = [kernel["name"] for kernel in done.stats["kernels"]]
    assert kernels == ["vector_add"]


def test_a_toolkit_without_the_library_says_so(run, program, tmp_path):
    """The loader would open another platform of the host."""
    run(f"{R9NANO} -- {program('vector_add')}", "built without its OpenCL library", status=1,
        env=toolkit_without("opencl", tmp_path))


@pytest.mark.parametrize("mode", ["timing", "functional"])
@pytest.mark.parametrize("name,says", [("memory", ""), ("events", ""), ("image_calls", ""), (
    "kernel_calls", r"^-3 text  2.50 1,2,3,4 z %\n")])
def test_host_functions_do_what_the_specification_says(run, program, name, says, mode):
    run(f"{R9NANO} --mode {mode} -- {program(name)}", rf"{says}(?s:.*)PASSED: \d+ checks, 0 fail")


@pytest.mark.parametrize("target,mode", [("gfx906", "timing"), ("gfx803", "functional")] + [
    pytest.param(target, "timing", marks=pytest.mark.full) for target in ["gfx90a", "gfx942"]])
def test_features_of_the_language_are_those_of_the_specification(run, program, target, mode):
    done = run(f"platforms/tiny.heddle --generic --set gpu.isa={target} --mode {mode}"
               f" -- {program('features')} {SOURCES / 'features.cl'}",
               r"PASSED: 193 checks, 0 failures")
    assert "not on this device" not in done.output


@pytest.mark.parametrize("target,mode", [("gfx906", "timing")] + [
    pytest.param(target, mode, marks=pytest.mark.full) for target, mode in [
        ("gfx803", "timing"), ("gfx906", "functional"), ("gfx90a", "timing"),
        ("gfx942", "functional")]])
def test_kernels_read_and_write_images_as_the_specification_says(run, program, target, mode):
    run(f"platforms/tiny.heddle --generic --set gpu.isa={target} --mode {mode}"
        f" -- {program('images')}", r"PASSED: 3\d{3} checks, 0 failures")


@pytest.mark.parametrize("platform", [R9NANO, MI210])
def test_same_code_takes_the_same_cycles_by_opencl_and_by_hip(measure, program, platform, tmp_path):
    launches = {}
    for face in ["opencl", "hip"]:
        done = measure(f"{platform} -- {program('same_code')} {face} {tmp_path / 'code'}",
                       r"PASSED: \d+ checks")
        launches[face] = kernels_of(done)
    assert len(launches["hip"]) == 6
    assert launches["opencl"] == launches["hip"]


@pytest.mark.parametrize("threads", ["", "threads"])
def test_user_event_that_nobody_can_set_is_a_deadlock_and_fails(run, program, threads):
    done = run(f"{R9NANO} --mode functional -- {program('mistakes')} unset {threads}",
               r"PASSED: \d+ checks")
    assert len(re.findall(r"heddle: cl(?:Finish|WaitForEvents): deadlock: .* user event 0x",
                          done.output)) == 2


def test_callback_that_no_thread_can_call_is_refused(run, program):
    run(f"{R9NANO} --mode functional -- {program('mistakes')} stack",
        "heddle: clSetEventCallback: no thread can be made", r"PASSED: \d+ checks, 0 failures")


def test_call_that_was_given_a_wrong_pointer_is_named(run, program):
    run(f"{R9NANO} --mode functional -- {program('mistakes')} pointer",
        "clEnqueueWriteBuffer touched 0x40, where nothing is", status=139)


def test_what_does_not_fit_into_the_buffer_of_printf_is_told(run, program):
    done = run(f"{R9NANO} --mode functional -- {program('prints')}",
               "has filled the 1024 KiB that a launch has for printf")
    lines = re.findall(r"^(\d+)(?:,\1){15}$", done.output, re.M)
    assert len(lines) == len(set(lines)) == 15420


@pytest.mark.parametrize("platform,mode", [("r9nano_x4", "functional"), ("mi210_x2", "timing")])
def test_devices_of_a_context_share_buffers(run, program, platform, mode):
    run(f"platforms/{platform}.heddle --generic --mode {mode} -- {program('devices')}",
        r"PASSED: \d+ checks, 0 failures")


def kernels_of(done):
    return [[kernel[fact] for fact in ("name", "cycles", "wavefront_instructions")]
            for kernel in done.stats["kernels"]]


@pytest.mark.parametrize("platform,name,share", [
    ("r9nano", "events", 0), pytest.param("r9nano_x4", "devices", 0.03, marks=pytest.mark.full)])
def test_recorded_program_is_played_as_it_ran(measure, program, tmp_path, platform, name, share):
    """On several devices kernels may take a share more or less: commands of two devices that are
    under way at once may come in another order."""
    command = f"platforms/{platform}.heddle --generic"
    plain = measure(f"{command} -- {program(name)}", r"PASSED: \d+ checks")
    recorded = measure(f"{command} --record api={tmp_path}/trace -- {program(name)}",
                       r"recorded in")
    played = measure(f"{command} --play api={tmp_path}/trace", "^ratio: 1.000000$")
    assert plain.stats_file.read_text() == recorded.stats_file.read_text()
    assert len(kernels_of(plain)) > 3
    assert len(kernels_of(played)) == len(kernels_of(plain))
    for ours, theirs in zip(kernels_of(played), kernels_of(plain)):
        assert (ours[0], ours[2]) == (theirs[0], theirs[2])
        assert abs(ours[1] - theirs[1]) <= share * theirs[1]


def test_launch_that_no_trace_says_ends_the_recording(run, program, tmp_path):
    done = run(f"{R9NANO} --mode functional --record api={tmp_path}/trace --"
               f" {program('kernel_calls')}", "a launch begins at an offset, which no trace says",
               status=ANY)
    assert "PASSED" in done.output
    assert not (tmp_path / "trace").exists()


@pytest.mark.parametrize("platform,device,units", [(R9NANO, "r9nano gpu", 64),
                                                   (MI210, "mi210 gpu", 104)])
def test_clinfo_lists_the_devices_of_the_description(run, program, platform, device, units):
    program("vector_add")
    clinfo = shutil.which("clinfo")
    if not clinfo:
        pytest.skip("clinfo is missing: no device was listed")
    run(f"{platform} -- {clinfo}", rf"Device Name +{device}\n(?s:.*)Max compute units +{units}\n")


@pytest.mark.parametrize("calls", [pytest.param(1000, id="1000"), pytest.param(
    100000, id="100000", marks=pytest.mark.full)])
def test_calls_with_wrong_arguments_return_errors(run, program, calls):
    run(f"platforms/tiny.heddle --generic --mode functional -- {program('wrong_calls')} {calls} 7",
        rf"^{calls} calls, \d+ refused\nPASSED: \d+ checks, 0 failures")


@pytest.mark.full
@pytest.mark.parametrize("name", [
    "xswap", "xscal", "xcopy", "xaxpy", "xdot", "xdotu", "xdotc", "xnrm2", "xasum", "xgemv",
    "xgbmv", "xhemv", "xhbmv", "xhpmv", "xsymv", "xsbmv", "xspmv", "xtrmv", "xtbmv", "xtpmv",
    "xtrsv", "xger", "xgeru", "xgerc", "xher", "xhpr", "xher2", "xhpr2", "xsyr", "xspr",
    "xsyr2", "xspr2", "xgemm", "xsymm", "xhemm", "xsyrk", "xherk", "xsyr2k", "xher2k", "xtrmm",
    "xtrsm", "xhad", "xomatcopy", "xim2col", "xcol2im", "xgemmstridedbatched"])
def test_tests_of_clblast_pass(run, program, name):
    """Each tests a routine for single and double precision, both complex ones, and half."""
    program("vector_add")
    path = shutil.which(f"clblast_test_{name}")
    if not path:
        pytest.skip("clblast-tests is missing: no test of CLBlast was run")
    done = run(f"{R9NANO} --mode functional -- {path}", seconds=3600)
    assert re.search(r"[1-9]\d* test\(s\) passed", done.output)
    assert not re.search(r"[1-9]\d* test\(s\) failed", done.output)


@pytest.mark.full
@pytest.mark.parametrize("length", ["-x 64 -b 16", "-x 30 -y 8 --outPlace", "-x 128 --double"])
def test_client_of_clfft_passes(run, program, length):
    program("vector_add")
    path = shutil.which("clFFT-client")
    if not path:
        pytest.skip("clfft-client is missing: no transform was run")
    run(f"{R9NANO} --mode functional -- {path} {length}", "Internal Client Test [*]+PASS")


@pytest.mark.full
@pytest.mark.parametrize("mode,digest", [
    (0, hashlib.md5), (100, hashlib.sha1), (1400, hashlib.sha256)])
def test_hashcat_finds_a_password(run, program, mode, digest):
    program("vector_add")
    path = shutil.which("hashcat")
    if not path:
        pytest.skip("hashcat is missing: no password was looked for")
    text = digest(b"test").hexdigest()
    done = run(f"{R9NANO} --mode functional -- {path} --backend-ignore-hip --potfile-disable"
               f" --self-test-disable --force -m {mode} -a 3 -n 1 -u 1 -T 64 {text} ?l?l?l?l",
               seconds=3600)
    assert f"{text}:test" in done.output


@pytest.mark.full
def test_clpeak_measures_the_rate_of_the_link(run, program):
    program("vector_add")
    path = shutil.which("clpeak")
    if not path:
        pytest.skip("clpeak is missing: nothing was measured")
    done = run(f"{R9NANO} --set gpu.vram=16MiB -- {path} --use-event-timer --transfer-bandwidth")
    rates = re.findall(r"enqueue(?:Read|Write)Buffer .*: ([0-9.]+)", done.output)
    assert len(rates) == 4
    assert all(15.5 < float(rate) <= 15.75 for rate in rates)


@pytest.mark.full
def test_leela_zero_makes_the_move_that_it_makes_on_the_host(run, program, tmp_path):
    """A network with random weights; the tuner's choice is given."""
    program("vector_add")
    path = shutil.which("leelaz", path=f"{os.environ['PATH']}:/usr/games")
    if not path:
        pytest.skip("leela-zero is missing: no move was made")
    call([sys.executable, SOURCES / "go_network.py", tmp_path, "r9nano gpu", "1000"])
    (tmp_path / "commands").write_text("genmove b\nquit\n")
    words = ["sh", "-c", f'exec "$@" < {tmp_path}/commands', "sh", path, "-w",
             tmp_path / "network", *"--gtp --playouts 4 --noponder -t 1 -s 1".split()]
    alone = call([*words, "--cpu-only"])
    words[4:4] = [HEDDLE, "run", *f"{R9NANO} --mode functional --".split()]
    done = call([*words, "--precision", "single"], "Loaded existing SGEMM tuning",
                env={"HOME": str(tmp_path)}, seconds=3600)
    for fact in [r"NN eval=[0-9.]+", r"^= [A-T]\d+"]:
        moved = re.findall(fact, alone.output, re.M)
        assert moved and moved == re.findall(fact, done.output, re.M)
