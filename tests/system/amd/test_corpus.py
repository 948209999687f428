"""Kernels made by compilers from unusual source, against the same source on the host.

tests/components/amd/isa/corpus holds the kernels; run_corpus executes their instructions one by
one. Every compiler here builds them for every target that it knows, from -O0 to -O3: nothing may be
refused, and all results must be the host's."""
import functools
import pathlib
import shutil
import subprocess

import pytest

from harness import BUILD

SOURCES = pathlib.Path(__file__).parents[2] / "components/amd/isa/corpus"
RUN = BUILD / "tests/components/amd/isa/corpus/run_corpus"
FILES = ["integers", "control", "floats", "groups"]
# The compiler of hipcc 5.2, and a newer one, which takes other instructions and other registers at
# the start.
COMPILERS = {"clang++-15": ["gfx803", "gfx900", "gfx906", "gfx908", "gfx90a"],
             "clang++-19": ["gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942"]}
SHARED = ["-ffp-contract=off", "-fwrapv", "-Wno-everything"]
# (compiler, target, level, file) that CI builds; all others are --full.
QUICK = {("clang++-15", "gfx803", "O0", "groups"), ("clang++-15", "gfx906", "O1", "control"),
         ("clang++-15", "gfx900", "O1", "floats")}

# What compilers get wrong themselves.
WRONG = {
    # An element of 64 bits goes to its register twice, and its upper half nowhere.
    ("clang++-15", "O0", "control"): ["vector_of_doubles_words"],
}


def options(compiler, target, level):
    """clang 19 forgets the pointer to hidden arguments in functions at -O0; version 4 of objects
    does without."""
    forgets = (compiler, target, level) == ("clang++-19", "gfx803", "O0")
    return ["-mcode-object-version=4"] if forgets else []


def compiled(arguments):
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@functools.cache
def host_library(folder, compiler, file):
    library = folder / f"{file}-{compiler}.so"
    compiled([compiler, "-shared", "-fPIC", "-O1", *SHARED, SOURCES / f"corpus_{file}.cpp", "-o",
              library])
    return library


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("corpus")


def every_build():
    for compiler, targets in COMPILERS.items():
        for target in targets:
            for level in ["O0", "O1", "O2", "O3"]:
                for file in FILES:
                    build = (compiler, target, level, file)
                    yield pytest.param(*build, id="-".join(build),
                                       marks=[] if build in QUICK else [pytest.mark.full])


@pytest.mark.parametrize("compiler, target, level, file", every_build())
def test_compiled_kernels_do_what_the_host_does(folder, compiler, target, level, file):
    if not shutil.which(compiler) or not RUN.exists():
        pytest.skip(f"{compiler} or {RUN.name} is missing: no kernel was compiled")
    device = folder / f"{file}-{target}-{level}-{compiler}.hsaco"
    compiled([compiler, "-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output", "-nogpuinc",
              "-nogpulib",
              f"--offload-arch={target}", f"-{level}", *options(compiler, target, level), *SHARED,
              "-c", SOURCES / f"corpus_{file}.cpp", "-o", device])
    left_out = WRONG.get((compiler, level, file), [])
    without = [option for kernel in left_out for option in ("-x", kernel)]
    done = subprocess.run([RUN, *without, host_library(folder, compiler, file), device],
                          capture_output=True, text=True,
                          timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
