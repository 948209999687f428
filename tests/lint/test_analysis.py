"""cppcheck finds nothing: null pointers, uninitialised variables, leaks, bounds, wrong formats; and
pyflakes nothing in Python: names that are not there, imports that nothing uses.

cppcheck.txt has what is left out and why. Kinds "warning", "performance" and "portability" are on.
"style" is not: it has opinions where compilers' warnings and the rules of the house already decide.
Components are half of the code, which tests with sanitizers of --full run: it reads them, too.
"""
import os
import subprocess
import sys

import pytest

import house
from house import CODE, ROOT, files

OPTIONS = ["--std=c11", "--enable=warning,performance,portability", "--inline-suppr", "--quiet",
           "--suppressions-list=tests/lint/cppcheck.txt", "--library=tests/lint/cppcheck.cfg",
           "-I.", "--max-configs=1",
           "--template={file}:{line}: {id}: {message}"]


@pytest.mark.parametrize("folder", [pytest.param(folder, marks=pytest.mark.full)
                                    if folder == "components" else folder for folder in CODE])
def test_static_analysis_finds_nothing(folder):
    sources = files(f"{folder}/*.c")
    told = subprocess.run(["cppcheck", f"-j{os.cpu_count()}", *OPTIONS, *sources], cwd=ROOT,
                          capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    found = {}
    for line in told.stderr.splitlines():
        file, _, rest = line.partition(":")
        kind = rest.split(": ")[1] if rest.count(": ") > 1 else ""
        found[f"{file} {kind}"] = line
    house.check(found, "cppcheck finds a mistake")


def test_python_has_no_unknown_and_no_unused_name():
    told = subprocess.run([sys.executable, "-m", "pyflakes", *files("*.py")], cwd=ROOT,
                          capture_output=True, text=True)
    assert told.returncode == 0, told.stdout + told.stderr
