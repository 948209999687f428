"""hipRTC: device code that is text of the program, compiled while it runs. The program looks at the
results, at the log, at names and at the errors of wrong calls."""
import os
import shlex

import pytest

from harness import FAILS, PROGRAMS
from programs import only_full

TINY = "platforms/tiny.heddle"


@pytest.mark.parametrize("mode", ["timing", *only_full("functional")])
def test_text_is_compiled_and_run(run, mode):
    run(f"{TINY} --mode {mode} -- rtc")


@pytest.mark.full
@pytest.mark.parametrize("target", ["gfx900", "gfx906", "gfx908", "gfx90a", "gfx942"])
def test_it_is_compiled_for_the_device(run, target):
    run(f"{TINY} --generic --set gpu.isa={target} --mode functional -- rtc")


def test_options_are_words_and_leave_nothing_behind(run, tmp_path):
    """They reach the compiler as they are, and no file is made, neither by a shell nor by us. That
    the program ignores SIGCHLD is no failure."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    option = f"-DTEXT=$(touch {folder}/a) `touch {folder}/b` ; touch {folder}/c; '\""
    program = f"/usr/bin/env --ignore-signal=CHLD {PROGRAMS}/rtc"
    run(f"{TINY} --mode functional -- {program} 100 -arch=gfx906 --offload-arch gfx803 "
        f"{shlex.quote(option)}", "^PASS", env={"TMPDIR": str(folder)})
    assert not os.listdir(folder)


def test_code_for_another_target_is_refused_when_it_is_loaded(run):
    run(f"{TINY} --mode functional -- rtc 100 --gpu-architecture=gfx90a",
        "device 0 is gfx803, but the code is only for: gfx90a", "FAIL rtc", status=FAILS)


def test_missing_compiler_is_named(run):
    run(f"{TINY} --mode functional -- rtc", "hiprtcCompileProgram: hipRTC finds no compiler",
        "install clang-15, lld-15 and rocm-device-libs", "FAIL rtc: the program does not compile",
        status=FAILS, env={"HIP_CLANG_PATH": "/nowhere"})
