"""OpenCL kernels do on a simulated GPU what PoCL makes of them on the host.

tests/opencl has the kernels, the list of cases with the limits of OpenCL C, and the two programs
that execute them. Integers and whatever OpenCL calls exact agree bit for bit."""
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from harness import BUILD, SYSTEM

SOURCES = Path(__file__).parent.parent / "opencl"
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


@pytest.mark.parametrize("target", TARGETS)
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
