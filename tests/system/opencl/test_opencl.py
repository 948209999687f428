"""OpenCL kernels do on a simulated GPU what PoCL makes of them on the host.

tests/opencl has the kernels, the list of cases with the limits of OpenCL C, and the two programs
that execute them. Integers and whatever OpenCL calls exact agree bit for bit."""
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from harness import BUILD, SYSTEM
from programs import only_full

SOURCES = Path(__file__).parents[2] / "opencl"
ORACLE, KERNELS = (BUILD / "tests/opencl" / name for name in ("opencl_oracle", "opencl_kernels"))
FILES = ["integers", "vectors", "floats", "math", "groups", "atomics", "programs"]
TARGETS = ["gfx803", "gfx906", "gfx90a", "gfx942"]
# For code of gfx803 clang flushes denormals, unless it is told otherwise.
OPTIONS = ["-x", "cl", "-cl-std=CL2.0", "-Xclang", "-finclude-default-header", "-w", "-target",
           "amdgcn-amd-amdhsa", "-Xclang", "-fdenormal-fp-math-f32=ieee", "--rocm-path=/usr"]
# What CI runs: each kind of kernel that is not long, and each target.
QUICK = {"gfx803": "groups", "gfx906": "integers", "gfx90a": "atomics", "gfx942": "programs"}


def must(*command, **how):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **how)
    assert done.returncode == 0, done.stdout + done.stderr


def compare(run, folder, device_libraries, target, files, options, mode):
    if not (shutil.which("clang-19") and ORACLE.exists() and KERNELS.exists()):
        pytest.skip("clang-19 or PoCL is missing: no OpenCL kernel was executed")
    for file in files:
        must("clang-19", *OPTIONS, f"--rocm-device-lib-path={device_libraries}", f"-mcpu={target}",
             *options, SOURCES / f"{file}.cl", "-o", folder / f"{file}.{target}")
    kept = SYSTEM / "pocl"
    kept.mkdir(exist_ok=True)
    # Names of kernels begin like those of their files, if there are fewer files than all.
    cases = [] if files == FILES else [f"{file}_*" for file in files]
    must(ORACLE, SOURCES, folder / "results", *cases,
         env={**os.environ, "POCL_CACHE_DIR": str(kept)})
    run(f"platforms/tiny.heddle --generic --set gpu.isa={target} --mode {mode} -- {KERNELS}"
        f" {folder} {target} {folder / 'results'} {' '.join(cases)}",
        r"^PASS opencl_kernels: \d+ kernels")


@pytest.mark.parametrize("target", ["gfx803", "gfx942", *only_full("gfx906", "gfx90a")])
def test_kernels_do_what_they_do_on_the_host(run, tmp_path, device_libraries, target):
    mode = "timing" if target == "gfx803" else "functional"
    compare(run, tmp_path, device_libraries, target, [QUICK[target]], ["-O3"], mode)


@pytest.mark.full
@pytest.mark.parametrize("mode", ["functional", "timing"])
@pytest.mark.parametrize("options", ["-O3", "-O0", "-O1 -mcode-object-version=4"])
@pytest.mark.parametrize("target", TARGETS)
def test_all_kernels_do_what_they_do_on_the_host(run, tmp_path, device_libraries, target, options,
                                                 mode):
    compare(run, tmp_path, device_libraries, target, FILES, options.split(), mode)


def test_other_results_of_the_host_are_noticed(run, tmp_path, device_libraries):
    """Were the comparison blind, all tests here would pass."""
    with pytest.raises(AssertionError, match="FAIL atomics_global: argument 1, element 0"):
        compare_with_damage(run, tmp_path, device_libraries)


def compare_with_damage(run, folder, device_libraries):
    def damaged(*arguments, **how):
        results = folder / "results"
        data = bytearray(results.read_bytes())
        data[0] ^= 1
        results.write_bytes(data)
        return run(*arguments, **how)
    compare(damaged, folder, device_libraries, "gfx90a", ["atomics"], ["-O3"], "functional")


# Built-in functions against MPFR, by programs that have heddle's compiler inside.
BUILTINS, CONVERSIONS, FUZZ = (BUILD / f"tests/opencl/opencl_{name}"
                               for name in ("builtins", "conversions", "fuzz"))
SAMPLE = "sin pow exp log tgamma fma sqrt 'x / y'"


def check_built_ins(run, target, program, words):
    if not (shutil.which("clang-19") and program.exists()):
        pytest.skip("clang-19 or MPFR is missing: no built-in function was compared")
    run(f"platforms/tiny.heddle --generic --set gpu.isa={target} --mode functional --"
        f" {program} {words}", rf"^PASS {program.name}: 0 of \d+")


@pytest.mark.parametrize("form", ["float", "half"])
def test_built_in_functions_are_as_exact_as_opencl_says(run, form):
    check_built_ins(run, "gfx906", BUILTINS, f"--values 512 --format {form} {SAMPLE}")


@pytest.mark.full
@pytest.mark.parametrize("form", ["float", "double", "half"])
@pytest.mark.parametrize("target", TARGETS)
def test_all_built_in_functions_are_as_exact_as_opencl_says(run, target, form):
    check_built_ins(run, target, BUILTINS, f"--values 4096 --format {form}")


def test_conversions_are_exact(run):
    check_built_ins(run, "gfx906", CONVERSIONS, "float")


@pytest.mark.full
@pytest.mark.parametrize("target", TARGETS)
def test_all_conversions_are_exact(run, target):
    check_built_ins(run, target, CONVERSIONS, "")


@pytest.mark.parametrize("count", [24, pytest.param(2000, marks=pytest.mark.full)])
def test_sources_with_errors_are_builds_that_fail(count):
    if not (shutil.which("clang-19") and FUZZ.exists()):
        pytest.skip("clang-19 is missing: nothing was compiled")
    done = subprocess.run([FUZZ, str(count), "1", *SOURCES.glob("[ap]*.cl")], capture_output=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.full
def test_piglit_passes_but_for_what_is_explained(run, tmp_path):
    """tests/opencl/piglit.txt lists what does not pass, with reasons."""
    if not shutil.which("piglit"):
        pytest.skip("piglit is missing: its OpenCL tests did not run")
    heddle = BUILD / "codegen/heddle"
    clinfo = shutil.which("clinfo")
    run(f"platforms/tiny.heddle --mode functional -- {clinfo}", "heddle")  # builds the platform
    must("python3", SOURCES / "piglit_opencl.py", tmp_path / "results", "--", heddle, "run",
         SOURCES.parent.parent / "platforms/tiny.heddle", "--mode", "functional",
         "--bounds", "page", "--")
    lines = [line.split("\t") for line in (tmp_path / "results").read_text().splitlines()]
    explained = [line.split("\t")[:2] for line in (SOURCES / "piglit.txt").read_text().splitlines()
                 if not line.startswith("#")]
    assert len(lines) > 700
    assert sorted(line for line in lines if line[0] != "pass") == sorted(explained)
