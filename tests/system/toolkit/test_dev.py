"""./dev: what it is not told to do it does not do."""
import os

import pytest

from harness import call

REFUSED = {
    "format x": "format takes nothing, not 'x'",
    "build --all": "build takes nothing, not '--all'",
    "demo quick": "demo takes nothing, not 'quick'",
    "docs all": "docs takes nothing, not 'all'",
    "clean all": "clean takes nothing, not 'all'",
    "lint layout": "lint takes -k NAME or nothing, not 'layout'",
    "fuzz long": "fuzz takes a number of seconds, not 'long'",
    "setup all": "setup takes --full or nothing, not 'all'",
}


@pytest.mark.parametrize("words", REFUSED)
def test_words_that_mean_nothing_are_refused(words):
    call(["./dev", *words.split()], REFUSED[words], status=1)


@pytest.mark.parametrize("words", ["--help", "-h", "format --help", "clean -h", "test unit --help"])
def test_help_does_nothing_else(words):
    done = call(["./dev", *words.split()], "usage: ./dev demo", "remove build folders")
    assert "==" not in done.output


@pytest.mark.parametrize("there, built, again", [("ompi-c", "", True), ("", "openmpi", True),
                                                 ("ompi-c mpich", "openmpi", True),
                                                 ("ompi-c", "openmpi", False), ("", "", False)])
def test_build_configures_again_when_mpi_has_come_or_gone(tmp_path, there, built, again):
    """With stand-ins for all that `./dev build` calls: what it asks of meson."""
    folder = tmp_path / "build"
    stand_ins = {"meson": f'echo "$@" >>{tmp_path}/asked', "ninja": "true", "dpkg-query":
                 "echo install ok installed", "pkg-config": f'case " {there} " in *" $2 "*) ;; '
                 "*) false ;; esac", "build/codegen/heddle": "true"}
    for name, text in stand_ins.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)
    modules = [f"heddle_mpi_{name}.so\n" for name in built.split()]
    (folder / "build.ninja").write_text("".join(modules))
    call(["./dev", "build"], env={"HEDDLE_BUILD": str(folder),
                                  "PATH": f"{tmp_path}:{os.environ['PATH']}"})
    asked = tmp_path / "asked"
    assert (asked.read_text() if asked.exists() else "") == \
        (f"configure {folder} --clearcache\n" if again else "")
