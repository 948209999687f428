"""Programs on AMD's own ROCm, which speaks to a simulated kernel driver: HSA programs of ours, and
the HIP programs of the other tests through the distribution's libamdhip64."""
import pytest

from harness import BUILD, PROGRAMS

KERNELS = PROGRAMS / "vecadd_kernels.hsaco"
KFD = BUILD / "tests/kfd"
VECTORADD = f"-- {KFD / 'hsa_vectoradd'} {KERNELS} _Z6vecAddPiS_S_i.kd"


@pytest.fixture(autouse=True)
def needs_rocr():
    if not (KFD / "hsa_vectoradd").exists():
        pytest.skip("libhsa-runtime-dev is missing: no program ran on ROCr")


def test_an_hsa_program_runs_as_it_is(run):
    run(f"platforms/r9nano.heddle --stack rocm --mode functional {VECTORADD}",
        r"^PASS hsa_vectoradd on gfx803")


def test_kernels_of_an_hsa_program_take_time_and_have_names(measure):
    ran = measure(f"platforms/r9nano.heddle --stack rocm {VECTORADD}",
                  r"^PASS hsa_vectoradd on gfx803, [1-9]\d{3,} ns$")
    named = [kernel for kernel in ran.stats["kernels"] if kernel["symbol"] == "_Z6vecAddPiS_S_i"]
    assert [kernel["name"] for kernel in named] == 2 * ["vecAdd(int*, int*, int*, int)"]
    assert all(kernel["cycles"] > 1000 for kernel in named)


def test_a_hip_program_runs_on_the_distributions_library(run):
    run(f"platforms/r9nano.heddle --stack rocm --mode functional -- {PROGRAMS / 'vectoradd'}",
        r"^PASS vectoradd")
