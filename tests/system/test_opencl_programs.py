"""OpenCL programs, through the system's loader, on simulated GPUs: our own of tests/opencl, and
those that a distribution has."""
import shutil

import pytest

from harness import BUILD

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


@pytest.mark.parametrize("mode", ["timing", "functional"])
@pytest.mark.parametrize("name,says", [("memory", ""), ("events", ""), (
    "kernel_calls", r"^-3 text  2.50 1,2,3,4 z %\n")])
def test_host_functions_do_what_the_specification_says(run, program, name, says, mode):
    run(f"{R9NANO} --mode {mode} -- {program(name)}", rf"{says}(?s:.*)PASSED: \d+ checks, 0 fail")


@pytest.mark.parametrize("platform,device,units", [(R9NANO, "r9nano gpu", 64),
                                                   (MI210, "mi210 gpu", 104)])
def test_clinfo_lists_the_devices_of_the_description(run, program, platform, device, units):
    program("vector_add")
    clinfo = shutil.which("clinfo")
    if not clinfo:
        pytest.skip("clinfo is missing: no device was listed")
    run(f"{platform} -- {clinfo}", rf"Device Name +{device}\n(?s:.*)Max compute units +{units}\n")
