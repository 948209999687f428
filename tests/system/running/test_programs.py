"""HIP programs verify themselves; here they run on platforms that results.txt leaves out.
(Most programs on tiny, r9nano and the platforms of several GPUs: test_results.py.)"""
import pytest

from harness import FAILS, same
from programs import GOOD, only_full, quick_and_full


@pytest.mark.parametrize("program", ["contexts", "threads"])
@pytest.mark.parametrize("platform", ["ring4", "r9nano_x4"])
def test_program_passes_on_four_gpus(run, platform, program):
    run(f"platforms/{platform}.heddle -- {program}")


@pytest.mark.full
@pytest.mark.parametrize("program", GOOD)
def test_program_passes_on_unified_gpus(run, program):
    run(f"platforms/r9nano_x4.heddle --unified 0,1,2,3 -- {program}")


@pytest.mark.parametrize("program",
                         quick_and_full("copies managed scratch", GOOD))
@pytest.mark.parametrize("size", ["2MiB", *only_full("64KiB")])
def test_program_passes_with_pages_of(run, size, program):
    run(f"platforms/tiny.heddle --generic --set driver.page_size={size} -- {program}")


# `prints` is left out: its kernels are over before the host could answer.
@pytest.mark.parametrize("program", [p for p in GOOD if p != "prints"])
def test_program_passes_in_functional_mode(run, program):
    run(f"platforms/r9nano.heddle --mode functional -- {program}")


@pytest.mark.parametrize("program", only_full(*GOOD))
def test_program_passes_on_hbm(run, program):
    run(f"platforms/tiny.heddle --generic --set gpu.memory=hbm -- {program}")


@pytest.mark.parametrize("text", ["platforms/tiny.heddle --threads 2", "platforms/r9nano.heddle",
                                  "platforms/tiny.heddle --set gpu.isa=gfx906"])
def test_wavefronts_read_where_the_dispatcher_put_them(run, text):
    run(f"{text} -- hardware_registers")


def test_wavefronts_read_one_place_in_functional_mode(run):
    run("platforms/tiny.heddle --mode functional -- hardware_registers functional")


@pytest.mark.parametrize("isa", ["gfx803", "gfx906"])
def test_instructions_that_compilers_seldom_emit(run, isa):
    for mode in "timing", "functional":
        run(f"platforms/tiny.heddle --set gpu.isa={isa} --mode {mode} -- instructions")


@pytest.mark.parametrize("elements, least, most", [(1000, 0, 0), (20000, 79 - 40, 4 * 79)])
def test_full_compute_units_refuse(measure, elements, least, most):
    """79 work-groups of 4 wavefronts on four compute units of 40."""
    done = measure(f"platforms/tiny.heddle -- vectoradd {elements}")
    assert least <= done.total(r"gpu\.cp\.pool", "refusals") <= most


def test_settings_change_the_platform(run):
    run("platforms/r9nano.heddle --set gpu.arrays=2 --set gpu.l2=1MiB --set pcie.bandwidth=16GB/s"
        " -- vectoradd")


def test_statistics_of_hbm_do_not_depend_on_how_it_is_run(measure):
    text = "platforms/r9nano.heddle --set memory=hbm {} -- stencil"
    reference = measure(text.format(""))
    for variant in "--tick-order=random:1", "--tick-all", "--generic":
        same(reference, measure(text.format(variant)))
    assert reference.total("dram.*timing", "row_hits") > 0
    assert reference.total("dram.*timing", "refreshes") > 0


def test_missing_program_is_named(run):
    run("platforms/tiny.heddle -- ./no_such_program", "no_such_program", status=FAILS)
