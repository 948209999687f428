"""Libraries of ROCm that Debian has, and headers that it has not and heddle brings
(docs/guide/libraries.md). HEDDLE_ROCM names another folder than /usr in which the libraries lie."""
import os
import subprocess
from pathlib import Path

import pytest

from harness import ROOT

TINY = "platforms/tiny.heddle"
ROCM = Path(os.environ.get("HEDDLE_ROCM", "/usr"))
LIBRARIES = ROCM / "lib/x86_64-linux-gnu"
MODES = "functional", "timing"


@pytest.mark.parametrize("mode", MODES)
def test_bfloat16(run, mode):
    run(f"{TINY} --mode {mode} -- bfloat16")


@pytest.mark.full
@pytest.mark.parametrize("name, lacks, linked", [
    ("rocprim", "librocprim-dev is not installed: ./dev setup --full", []),
    ("hiprand", "libhiprand-dev is not installed: ./dev setup --full", ["-lhiprand", "-lrocrand"]),
    ("rocsparse", "librocsparse-dev is not installed: it takes 1.3 GB", ["-lrocsparse"])])
def test_library_of_debian(run, tmp_path, name, lacks, linked):
    if not (ROCM / "include" / name).is_dir():
        pytest.skip(lacks)
    program = tmp_path / name
    subprocess.run(["hipcc", "--offload-arch=gfx803", "-std=c++14", f"-I{ROCM}/include",
                    f"tests/programs/libraries/{name}.hip.cpp", "-o", program, f"-L{LIBRARIES}",
                    *linked], check=True, cwd=ROOT)
    for mode in MODES:
        run(f"{TINY} --mode {mode} -- {program}", "^PASS",
            env={"LD_LIBRARY_PATH": str(LIBRARIES)})


@pytest.mark.full
@pytest.mark.parametrize("name, include, lacks, cases", [
    ("rand_examples", "rocrand", "librocrand-dev is not installed: ./dev setup --full",
     ["circle", "distributions", "kernels"]),
    ("sparse_examples", "rocsparse", "librocsparse-dev is not installed: it takes 1.3 GB",
     ["vectors", "formats", "triangle"])])
def test_examples_of_a_library_run_above_amds_own_stack(run, tmp_path, name, include, lacks, cases):
    if not (ROCM / "include" / include).is_dir():
        pytest.skip(lacks)
    program = tmp_path / name
    subprocess.run(["hipcc", "--offload-arch=gfx803", "-std=c++14", f"-I{ROCM}/include",
                    f"tests/programs/libraries/{name}.hip.cpp", "-o", program, f"-L{LIBRARIES}",
                    f"-l{include}"], check=True, cwd=ROOT)
    for case in cases:
        run(f"platforms/r9nano.heddle --stack rocm --mode functional -- {program} {case}",
            "^PASS", env={"LD_LIBRARY_PATH": str(LIBRARIES)})
