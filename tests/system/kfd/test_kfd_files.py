"""`heddle run --stack rocm`: which calls of the C library are answered, and how."""
import os
import shutil
import sys

import pytest

import harness
from harness import HEDDLE, call, toolkit_without

TINY = [HEDDLE, "run", "platforms/tiny.heddle", "--mode", "functional", "--stack", "rocm", "--"]
PYTHON = os.path.realpath(sys.executable)
CLIENT = "tests/system/kfd/kfd_files.py"


def test_hostile_calls_get_the_kernels_answers(tmp_path):
    done = call([*TINY, PYTHON, CLIENT], "^PASS", env={"TMPDIR": str(tmp_path)})
    assert done.stderr.count("0xc0086478") == 1, "an unknown call is named once"
    assert not list(tmp_path.glob("heddle-*")), "the folder of the run is gone"


def test_folder_is_removed_after_a_signal(tmp_path):
    call([*TINY, "/bin/sh", "-c", "kill -KILL $$"], "ended by signal 9", status=128 + 9,
         env={"TMPDIR": str(tmp_path)})
    assert not list(tmp_path.iterdir())
    call([*TINY, "/bin/true"], "cannot create a folder in '/nowhere'", status=7,
         env={"TMPDIR": "/nowhere"})


OTHER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
FILE *fopen(const char *path, const char *mode)
{
    FILE *(*next)(const char *, const char *) = dlsym(RTLD_NEXT, "fopen");
    if (strstr(path, "gpu_id"))
        fprintf(stderr, "other: %s\\n", path);
    return next(path, mode);
}
"""
READER = """
#include <stdio.h>
int main(void)
{
    char text[16] = "";
    FILE *file = fopen("/sys/class/kfd/kfd/topology/nodes/1/gpu_id", "r");
    return !file || !fgets(text, sizeof text, file) || puts(text) < 0;
}
"""


def test_other_preloaded_libraries_stay_behind_it(tmp_path):
    compiler = shutil.which("cc")
    for name, source, *options in (("other.so", OTHER, "-shared", "-fPIC", "-ldl"),
                                   ("reader", READER)):
        (tmp_path / f"{name}.c").write_text(source)
        call([compiler, tmp_path / f"{name}.c", "-o", tmp_path / name, *options])
    done = call([*TINY, tmp_path / "reader"], "^4096$",
                env={"LD_PRELOAD": str(tmp_path / "other.so"), "TMPDIR": str(tmp_path)})
    assert f"other: {tmp_path}/heddle-rocm-" in done.stderr  # it sees what the call became


def test_a_missing_library_is_said(tmp_path):
    """An installation whose libraries were taken apart."""
    call([*TINY, "/bin/true"], "this installation has no libheddle_kfd.so", status=7,
         env=toolkit_without("kfd", tmp_path))


@pytest.mark.parametrize("program", ["rocm_agent_enumerator"])
def test_tools_of_rocm_see_the_gpus(program):
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed: ./dev setup --full")
    done = call([HEDDLE, "run", "platforms/tiny.heddle", "--mode", "functional", "--set",
                 "gpu.isa=gfx906", "--stack", "rocm", "--", shutil.which(program)])
    assert done.stdout.split() == ["gfx000", "gfx906"], harness.explain(done, "other GPUs")
