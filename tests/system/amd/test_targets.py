"""HIP programs that are built for each target verify themselves, in both modes, on a small machine.

tests/programs/meson.build has how they are built: NAME.gfx9 by hipcc, NAME.gfx942 by clang-19."""
import shutil
import subprocess

import pytest

import harness
from harness import FAILS, PROGRAMS
from programs import GOOD, GPUS, built, only_full

TARGETS = {"gfx803": "gfx9", "gfx900": "gfx9", "gfx906": "gfx9", "gfx908": "gfx9",
           "gfx90a": "gfx9", "gfx942": "gfx942"}
QUICK = [(program, target) for program in ("matrix", "scratch", "shuffles")
         for target in ("gfx90a", "gfx942")]
ALL = [(program, target) for program in [*GOOD, *GPUS, "matrix"] for target in TARGETS
       if program != "module"]  # which is C, and loads its code: below


def program_for(program, target):
    """Without --full its usual file, which has the targets that are asked for then."""
    quick = not harness.full and target != "gfx942"
    return built(PROGRAMS / (program if quick else f"{program}.{TARGETS[target]}"))


@pytest.mark.parametrize("mode", ["functional", "timing"])
@pytest.mark.parametrize("program, target",
                         QUICK + only_full(*(case for case in ALL if case not in QUICK)))
def test_program_passes_on_target(run, program, target, mode):
    if (program, mode) == ("prints", "functional"):
        pytest.skip("its kernels are over before the host could answer")
    run(f"platforms/tiny.heddle --generic --set gpu.isa={target} --mode {mode} --"
        f" {program_for(program, target)}")


@pytest.mark.parametrize("mode", ["timing", *only_full("functional")])
@pytest.mark.parametrize("target, version", [
    ("gfx90a", 6), *only_full(*((target, version) for target in TARGETS for version in (4, 5, 6)
                                if (target, version) != ("gfx90a", 6)))])
def test_program_that_loads_its_code_passes_on_target(run, tmp_path, device_libraries, target,
                                                      version, mode):
    """In code objects of each version that there is."""
    if not shutil.which("clang++-19"):
        pytest.skip("clang++-19 is missing: no code was loaded")
    code = tmp_path / "module_kernels.hsaco"
    subprocess.run(["clang++-19", "-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output",
                    "-O2", f"--offload-arch={target}", f"-mcode-object-version={version}",
                    "--rocm-path=/usr", f"--rocm-device-lib-path={device_libraries}", "-w",
                    "tests/programs/module_kernels.hip.cpp", "-o", code], check=True)
    run(f"platforms/tiny.heddle --generic --set gpu.isa={target} --mode {mode} -- module {code}")


MACHINES = {"mi100": ("gfx908", "--set gpu.arrays=2"), "mi210": ("gfx90a", "--set gpu.arrays=2"),
            "mi300a": ("gfx942", "--set gpu.xcds=2 --set gpu.arrays=2"),
            "mi300x": ("gfx942", "--set gpu.xcds=2 --set gpu.arrays=2 --set driver.launch_by=queue"
                                 " --set queues=true")}
ONE_GPU = [program for program in dict.fromkeys(GOOD) if program not in GPUS + ["module"]]
QUICK_MACHINES = [("scratch", "mi300a"), ("shuffles", "mi210"), ("scratch", "mi300x"),
                  ("matrix", "mi100")]


@pytest.mark.parametrize("program, machine", QUICK_MACHINES + only_full(
    *(case for program in ONE_GPU for machine in MACHINES
      if (case := (program, machine)) not in QUICK_MACHINES)))
def test_program_passes_on_a_small_machine_of_cdna(run, program, machine):
    """On mi300x each launch goes through a user queue."""
    target, options = MACHINES[machine]
    run(f"platforms/{machine}.heddle --generic {options} -- {program_for(program, target)}")


@pytest.mark.full
@pytest.mark.parametrize("program", ["peer_ring", "halo", "gpu_threads", "queues", "user_queues"])
def test_program_passes_on_two_gpus_of_dies(run, program):
    """GPUs of CDNA have no links to each other, so copies go through the host."""
    run(f"tests/system/platforms/cdna_x2.heddle --generic -- {program_for(program, 'gfx942')}")


@pytest.mark.parametrize("options", ["", "--mode functional",
                                     "--set queues=true --set driver.launch_by=queue"])
def test_kernel_finds_its_arguments_in_registers(run, options):
    run(f"platforms/tiny.heddle --generic --set gpu.isa=gfx942 {options} --"
        f" {program_for('preloaded', 'gfx942')}")


@pytest.mark.full
@pytest.mark.parametrize("target", ["gfx90a", "gfx942"])
@pytest.mark.parametrize("way, comes", [("fences", "right"), ("kernels", "right"),
                                        ("atomics", "right"), ("released", "old"),
                                        ("acquired", "old")])
def test_l2_fences_of_a_target_order_what_gpus_see_of_each_other(run, target, way, comes):
    """The same as in test_scopes.py, but for atomics, which write back and invalidate here."""
    run(f"platforms/r9nano_x4_l2_all.heddle --set arrays=1 --max-cycles 20000000 --generic"
        f" --set gpu.isa={target} -- {program_for('scopes', target)} {way} {comes}")


def test_program_for_another_target_is_refused_with_the_names_of_what_is_there(run):
    run("platforms/tiny.heddle --generic --set gpu.isa=gfx942 -- scratch",
        "device 0 is gfx942, but the code is only for: gfx803, gfx906, gfx90a",
        "--offload-arch=gfx942.*docs/guide/libraries.md", status=FAILS)
