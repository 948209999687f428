"""An installed heddle works from anywhere: as meson installs it, and as a Debian package."""
import os
import re
import shutil
import subprocess

import pytest

import harness
from programs import only_full
from test_docs import GENERIC, GUIDE, dead_links, guide_script

# What lintian says of a package that nobody publishes: it has no address for mail.
ACCEPTED = {"bogus-mail-host", "bogus-mail-host-in-debian-changelog"}


def call(command, folder, **environment):
    done = subprocess.run(command, cwd=folder, env={**os.environ, **environment}, text=True,
                          capture_output=True, timeout=1200, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """A prefix to which the build was installed, with bytecode of Python in the checkout, and which
    was moved then."""
    folder = tmp_path_factory.mktemp("installed")
    call(["/usr/bin/python3", "-m", "compileall", "-q", "python/heddle/base"], harness.ROOT)
    call(["meson", "install", "-C", str(harness.BUILD), "--no-rebuild", "--quiet"], harness.ROOT,
         DESTDIR=str(folder / "first"))
    first = next((folder / "first").glob("**/bin/heddle")).parent.parent
    moved = folder / "elsewhere"
    shutil.move(first, moved)
    (folder / "list").write_text("\n".join(str(file.relative_to(moved))
                                           for file in moved.rglob("*")))
    yield moved
    shutil.rmtree(folder, ignore_errors=True)


def installed(prefix, folder, *words):
    return call([prefix / "bin/heddle", *words], folder, HEDDLE_CFLAGS="-Og")


def test_installed_toolkit_runs_a_program_from_anywhere(prefix, tmp_path):
    tiny = prefix / "share/heddle/platforms/tiny.heddle"
    checked = subprocess.run([prefix / "bin/heddle", "check", tiny], cwd=tmp_path, text=True,
                             capture_output=True, check=True)
    assert "no errors" in checked.stdout
    assert checked.stderr == ""  # the library is known as such: its warnings are for its authors
    program = harness.PROGRAMS / "vectoradd"
    installed(prefix, tmp_path, "run", tiny, "--stats", "s.json", "--", program)
    assert "kernel" in installed(prefix, tmp_path, "stats", "s.json")
    for built in installed(prefix, tmp_path, "build", tiny).split():
        assert str(harness.ROOT / "components").encode() not in open(built, "rb").read()


def test_headers_that_components_include_are_installed(prefix):
    """Those of the library's C files, which are compiled where heddle is installed."""
    share, include = prefix / "share/heddle", prefix / "include/heddle"
    missing = set()
    for file in [*share.glob("components/**/*.[ch]"), *include.glob("runtime/**/*.h")]:
        for name in re.findall(r'^\s*#\s*include "((?:runtime|components)/[^"]+)"',
                               file.read_text(), re.M):
            if not (share / name).exists() and not (include / name).exists():
                missing.add(f"{file.relative_to(prefix)}: {name}")
    assert not missing


@pytest.mark.parametrize("room", ["cuda", "hip"])
def test_headers_for_programs_are_installed(prefix, room):
    """`heddle cuda-cc` and hipRTC name their folders to the compiler."""
    folder = harness.ROOT / "components" / room / "include"
    headers = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}
    there = prefix / "share/heddle/components" / room / "include"
    assert {name for name in headers if not (there / name).exists()} <= {".clang-format",
                                                                         "README.md"}


def test_guide_is_installed_with_all_that_it_uses(prefix, tmp_path):
    """`heddle help` names it; its links lead somewhere, and what its commands name is there."""
    home = prefix / "share/heddle"
    start, = re.findall("^The guide begins with (.*)[.]$", installed(prefix, tmp_path, "help"),
                        re.M)
    assert start == str(home / "docs/guide/start.md") and os.path.exists(start)
    pages = [page for page in home.glob("docs/**/*.md") if page.name != "mutations.md"]
    assert len(pages) > 50 and [link for page in pages for link in dead_links(page)] == []
    used = {name for page in pages for name in re.findall(r"\$HEDDLE/([\w./*-]+)", page.read_text())
            if not name.startswith("build/")}
    assert len(used) > 20 and [name for name in used if not list(home.glob(name))] == []


@pytest.mark.parametrize("pages", [
    ["placement"], *only_full(GUIDE, ["sweep"], ["whatif"], ["opencl"])],
    ids=lambda pages: pages[0])
def test_commands_of_the_guide_work_where_it_is_installed(prefix, tmp_path, pages):
    """All of a page in an empty folder, as someone types them who has no checkout."""
    (tmp_path / "guide.sh").write_text("set -euo pipefail\n" + "".join(guide_script(pages)))
    library = next(prefix.rglob("libheddle_start.a")).parent
    call(["bash", "guide.sh"], tmp_path, HEDDLE=str(prefix / "share/heddle"), HEDDLE_CFLAGS="-Og",
         LIBRARY_PATH=str(library), HEDDLE_PLAIN=str(prefix / "bin/heddle"),
         PATH=f"{GENERIC.parent}:{prefix}/bin:{os.environ['PATH']}")


@pytest.mark.parametrize("compiler, language", [("cc", "c"), ("c++", "c++")])
def test_program_for_the_driver_is_built_from_what_is_installed(prefix, tmp_path, compiler,
                                                                language):
    """As the guide says: no path of the checkout, in C and in C++."""
    library = next(prefix.rglob("libheddle_start.a")).parent
    shutil.copy(harness.ROOT / "docs/examples/placement/placement.c", tmp_path)
    words = [compiler, "-x", language, "-Wall", f"-I{prefix}/share/heddle", "placement.c", "-o",
             "placement", f"-L{library}", "-lheddle_start", "-ldl"]
    if language == "c++":  # the header alone: the example is C
        (tmp_path / "placement.c").write_text(
            '#include "components/host/start/heddle_start.h"\nint main() { return heddle_start()'
            ' && heddle_start() == heddle_start() ? 0 : 9; }\n')
    call(words, tmp_path)
    tiny = prefix / "share/heddle/platforms/tiny.heddle"
    ring = prefix / "share/heddle/platforms/ring4.heddle"
    told = installed(prefix, tmp_path, "run", ring if language == "c" else tiny, "--generic",
                     "--stats", "s.json", "--", "./placement")
    assert language == "c++" or "PASS placement" in told
    assert (tmp_path / "s.json").exists()


def test_installed_files_are_those_that_are_needed(prefix):
    files = (prefix.parent / "list").read_text().splitlines()  # before anything was run
    for wanted in ("share/man/man1/heddle.1", "share/bash-completion/completions/heddle.bash",
                   "share/heddle/editor/vscode/extension.js",
                   "share/heddle/editor/vim/syntax/heddle.vim"):
        assert wanted in files
    assert not [file for file in files if file.endswith(("meson.build", ".pyc"))]


def test_containerfile_copies_what_the_package_is():
    text = (harness.ROOT / "packaging/Containerfile").read_text()
    assert "./dev package" in text and "/usr/share/doc/heddle/examples/demo.sh" in text
    assert os.access(harness.ROOT / "packaging/demo.sh", os.X_OK)
    # A build folder of the host has its paths, which meson does not forgive.
    assert "build*" in (harness.ROOT / ".dockerignore").read_text().splitlines()


@pytest.mark.full
def test_package_is_clean_and_runs_its_demo(tmp_path):
    """Unpacked beside the system, not installed: the test has no right to change the machine."""
    call(["./dev", "package", str(tmp_path)], harness.ROOT)
    package, = tmp_path.glob("heddle_*.deb")
    told = subprocess.run(["lintian", package], capture_output=True, text=True, check=False).stdout
    assert set(re.findall(r"^E: heddle: ([\w-]+)", told, re.M)) <= ACCEPTED, told
    depends = call(["dpkg-deb", "-f", package, "Depends"], tmp_path)
    for name in re.findall(r"(?:^|, )([\w.+-]+)", depends.replace("\n", "")):
        call(["dpkg-query", "-W", name], tmp_path)
    call(["dpkg-deb", "-x", package, tmp_path / "root"], tmp_path)
    call([tmp_path / "root/usr/share/doc/heddle/examples/demo.sh"], tmp_path,
         PATH=f"{tmp_path}/root/usr/bin:{os.environ['PATH']}", HEDDLE_CACHE=str(tmp_path / "cache"))
    assert (tmp_path / "heddle-demo/report.txt").stat().st_size > 1000
