"""The cache of built platforms: nothing is built twice, and nothing wrong is kept."""
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path

import harness
import pytest

TINY = "platforms/tiny.heddle"
SMALL = "tests/system/platforms/small/small.heddle"  # is compiled in a fiftieth of the time
OTHER = "tests/system/platforms/hang/deadlock.heddle"


def platforms_in(cache):
    return len(list((cache / "platforms").rglob("platform.so")))


def test_second_build_writes_nothing(heddle, tmp_path):
    env = {"HEDDLE_CFLAGS": "-O0", "HEDDLE_CACHE": str(tmp_path / "cache")}
    heddle(f"build {SMALL}", env=env)
    before = time.time_ns()
    heddle(f"build {SMALL}", env=env)
    new = [file for file in (tmp_path / "cache").rglob("*")
           if file.is_file() and "lock" not in file.name and file.stat().st_mtime_ns > before]
    assert not new


def test_what_is_written_beside_a_description_makes_no_build(heddle, tmp_path):
    """Only a file that would be imported instead of another one does."""
    own, more = tmp_path / "own", tmp_path / "more"
    for folder in own, more:
        folder.mkdir()
    hang = Path("tests/system/platforms/hang")
    relays = (hang / "deadlock.heddle").read_text().replace("latency 2cy", "via pcie")
    (own / "relays.heddle").write_text(f'import "beside";  import "mine";\n{relays}')
    shutil.copy(hang / "relay.c", own)
    (own / "beside.heddle").write_text("")
    (more / "mine.heddle").write_text("link pcie { bandwidth = 8GB/s; latency = 5ns; }\n")
    env = {"HEDDLE_CACHE": str(tmp_path / "cache")}

    def built():
        time.sleep(0.05)  # what is as new as a build has no stamp
        heddle(f"build --generic -I {more} {own}/relays.heddle", env=env)
        [stamp] = (tmp_path / "cache").glob("platforms/*/platform.stamp")
        return stamp.stat().st_mtime_ns, (stamp.parent / "platform.tables").read_bytes()
    first = built()
    (own / "statistics.json").write_text("{}")
    assert built() == first
    (own / "mine.heddle").write_text("link pcie { bandwidth = 4GB/s; latency = 7ns; }\n")
    assert built()[1] != first[1]


def test_names_of_folders_are_no_options_and_no_commands(heddle, tmp_path):
    folder = tmp_path / "it's \"1\",-z $(touch hurt); `touch hurt`\n#include \\ %s"
    heddle(f"new component pipe -o {shlex.quote(str(folder / 'pipe'))}")
    told = harness.call([harness.HEDDLE, "run", folder / "pipe/pipe_test.heddle"],
                        env={"HEDDLE_CFLAGS": "-O0", "HEDDLE_CACHE": str(folder / "cache")})
    assert not told.output and platforms_in(folder / "cache") == 1
    assert not list(tmp_path.rglob("hurt")) and not Path("hurt").exists()


@pytest.fixture
def home(tmp_path):
    """The environment of a toolkit with the compiled objects of `objects`, and an empty cache."""
    def with_objects(objects):
        home = (harness.BUILD / "codegen/heddle.home").read_text()
        (tmp_path / "heddle.home").write_text(
            re.sub("(?m)^objects=.*", f"objects={objects}", home))
        return {"HEDDLE_HOME": str(tmp_path), "HEDDLE_CACHE": str(tmp_path / "cache")}
    return with_objects


def test_what_came_compiled_is_not_compiled(heddle, home, tmp_path):
    """Nor trusted when it is damaged."""
    env = {**home(tmp_path / "shipped/objects"), "HEDDLE_CFLAGS": "-O0"}

    def build(cache, says):
        heddle(f"build {SMALL} --verbose", says,
               env={**env, "HEDDLE_CACHE": str(tmp_path / cache)})

    build("shipped", "[1-9][0-9]* compiled, linked")
    build("second", " 0 compiled, linked")
    one = next((tmp_path / "shipped/objects").rglob("*.o"))
    one.write_bytes(one.read_bytes()[:-20])
    build("third", " 1 compiled, linked")


@pytest.mark.specialised
def test_functional_mode_compiles_no_platform_of_known_components(heddle, run, home, tmp_path):
    heddle(f"build {TINY} --generic")
    done = run(f"{TINY} --set gpu.l2=8KiB --mode functional --verbose -- vectoradd",
               env=home(harness.SYSTEM / "cache/objects"))
    assert re.findall("compiling .*", done.stderr) == ["compiling platform.so"]  # it is linked


@pytest.mark.full
@pytest.mark.specialised
def test_functional_mode_takes_a_platform_that_is_compiled(heddle, measure, tmp_path):
    env = {"HEDDLE_CFLAGS": "-O0", "HEDDLE_CACHE": str(tmp_path / "cache")}
    heddle(f"build {TINY}", env=env)
    compiled = measure(f"{TINY} --mode functional -- bfs", env=env)
    assert platforms_in(tmp_path / "cache") == 1
    harness.same(compiled, measure(f"{TINY} --mode functional --generic -- bfs", env=env))


def levels_of(heddle, platform, folder):
    """{C file: levels of optimisation}, by a compiler that writes down what it is told."""
    compiler, log = folder / "cc", folder / "log"
    compiler.write_text(f'#!/bin/sh\necho "$@" >>"{log}"\nfor last; do :; done\n'
                        'case $last in /*) echo >"$last" ;; esac\n')  # not when it is to link
    compiler.chmod(0o755)
    heddle(f"build {platform}", "cannot write", status=1,  # there is no library to be renamed
           env={"HEDDLE_CC": str(compiler), "HEDDLE_CACHE": str(folder / "cache"),
                "HEDDLE_CFLAGS": ""})
    return {words.split()[-3].rsplit("/")[-1]: [w for w in words.split() if w.startswith("-O")]
            for words in log.read_text().splitlines()}


@pytest.mark.specialised
def test_units_that_say_so_are_compiled_with_less_effort(heddle, tmp_path):
    levels = levels_of(heddle, TINY, tmp_path)
    assert levels["driver__1.c"] == ["-Og"]
    assert levels["compute_unit__1.c"] == levels["cache__1.c"] == ["-O3"]


@pytest.mark.specialised
@pytest.mark.parametrize("line, level", [
    ("#define UNIT_COLD", "-Og"), ("/* Unlike the driver, no UNIT_COLD. */", "-O3"),
    ("// #define UNIT_COLD", "-O3"), ("#define UNIT_COLD_START", "-O3"),
    ("#define UNIT_COLD  ", "-Og")])
def test_a_comment_makes_no_unit_cold(heddle, tmp_path, line, level):
    heddle(f"new component pipe -o {tmp_path}/pipe")
    source = tmp_path / "pipe/pipe.c"
    source.write_text(f"{line}\n{source.read_text()}")
    assert levels_of(heddle, f"{tmp_path}/pipe/pipe_test.heddle", tmp_path)["pipe__1.c"] == [level]


def test_clang_has_nothing_to_say(heddle, tmp_path):
    """With the warnings of its own choice, as users have them."""
    built = heddle(f"build {TINY}", env={"HEDDLE_CC": "clang", "HEDDLE_CFLAGS": "-O0",
                                         "HEDDLE_CACHE": str(tmp_path / "cache")})
    assert not built.stderr


def changed_while_it_is_read(folder):
    """A copy of the small platform, and a compiler that changes it just before it reads it."""
    shutil.copytree(Path(SMALL).parent, folder, dirs_exist_ok=True)
    (folder / "edited.c").write_text(
        (folder / "ticker.c").read_text() + 'extern const char ticker_marker[];'
        ' const char ticker_marker[] = "changed behind the back";\n')
    compiler = folder / "cc"
    compiler.write_text(f'#!/bin/sh\nmv "{folder}/edited.c" "{folder}/ticker.c" 2>/dev/null\n'
                        'exec cc "$@"\n')
    compiler.chmod(0o755)
    return {"HEDDLE_CC": str(compiler), "HEDDLE_CACHE": str(folder / "cache"),
            "HEDDLE_CFLAGS": "-O0"}


def test_object_is_not_kept_under_the_name_of_another_source(heddle, run, tmp_path):
    env = changed_while_it_is_read(tmp_path)

    def is_kept():
        return any(b"changed behind the back" in file.read_bytes()
                   for file in (tmp_path / "cache/objects").rglob("*") if file.is_file())

    heddle(f"build {tmp_path}/small.heddle", "have changed while it was compiled; build again",
           status=1, env=env)
    assert not is_kept()
    run(f"{tmp_path}/small.heddle", env=env)
    assert is_kept()


def test_full_cache_forgets_what_was_used_longest_ago(heddle, tmp_path):
    cache = tmp_path / "cache"
    env = {"HEDDLE_CACHE": str(cache), "HEDDLE_CFLAGS": "-O0"}
    bounded = {**env, "HEDDLE_CACHE_LIMIT": "100KiB"}
    heddle(f"build {OTHER}", env=env)
    for file in [cache, *cache.rglob("*")]:
        os.utime(file, (time.time() - 2 * 86400,) * 2)
    heddle(f"build {SMALL} --verbose", "from the cache", env=bounded)
    assert platforms_in(cache) == 1
    heddle(f"build {OTHER}", env=bounded)
    assert platforms_in(cache) == 2  # nothing that was used just now is gone


def test_limit_of_the_cache_has_a_unit(heddle):
    heddle("build docs/examples/mid_cache/mid_cache_memtest.heddle --set tester.seed=99", "500MiB",
           status=1, env={"HEDDLE_CACHE_LIMIT": "7GB"})


def files_in(cache):
    return [file for file in sorted(cache.rglob("*")) if file.is_file()]


def left_over(cache):
    return [file.name for file in files_in(cache) if file.suffix in (".tmp", ".log")]


def damage(file, how):
    content = file.read_bytes()
    if how == "truncated":
        os.truncate(file, len(content) // 2)
    else:  # in place, as a disk would: the time of change is the same
        times = os.stat(file)
        with file.open("r+b") as opened:
            opened.seek(len(content) // 2)
            opened.write(bytes([content[len(content) // 2] ^ 0x20]))
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


@pytest.mark.specialised
@pytest.mark.parametrize("how", [pytest.param("truncated", marks=pytest.mark.full), "altered"])
def test_damaged_cache_is_mended(run, tmp_path, how):
    cache = tmp_path / "cache"
    env = {"HEDDLE_CACHE": str(cache), "HEDDLE_CFLAGS": "-O0"}
    for options in ("", " --generic"):
        run(SMALL + options, env=env)
    whole = {file: file.read_bytes() for file in files_in(cache) if file.stat().st_size > 0}
    stamps = [file for file in whole if file.suffix == ".stamp"]
    results = [file for file in whole if file.suffix in (".so", ".tables")]
    assert len(stamps) == 2 and len(results) == 6
    for file in whole:  # whatever the stamps say, each file is noticed when it is needed
        if file in results or file in stamps:
            damage(file, how)
            for options in ("", " --generic"):
                run(SMALL + options, env=env)
    seen = set()  # platform.so is a library under another name
    for file in whole:
        if file.exists() and file.stat().st_ino not in seen:
            seen.add(file.stat().st_ino)
            damage(file, how)
    for options in ("", " --generic"):
        run(SMALL + options, env=env)
    for file, content in whole.items():
        if file.suffix != ".stamp":
            assert file.read_bytes() == content, file


def compiler_that_waits(folder):
    """Notes that it runs, and goes on when there is a file."""
    compiler = folder / "waiting-cc"
    compiler.write_text(f'#!/bin/sh\ntouch "{folder}/runs"\n'
                        f'while [ ! -e "{folder}/go" ]; do sleep 0.02; done\nexec cc "$@"\n')
    compiler.chmod(0o755)
    return str(compiler)


def start_build(folder, env):
    process = subprocess.Popen([harness.HEDDLE, "build", SMALL], env={**os.environ, **env},
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True)
    harness.until((folder / "runs").exists)
    return process


def kill_build(process):
    """With its compilers, which may take longer to go than it does."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()

    def has_gone():
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return True
        return False
    harness.until(has_gone)


def test_what_killed_builds_leave_goes_and_what_running_ones_write_stays(heddle, run, tmp_path):
    cache = tmp_path / "cache"
    env = {"HEDDLE_CACHE": str(cache), "HEDDLE_CFLAGS": "-O0"}
    waiting = {**env, "HEDDLE_CC": compiler_that_waits(tmp_path)}
    killed = start_build(tmp_path, waiting)
    kill_build(killed)
    (cache / "platforms/some").mkdir()
    left = f"platform.c.{killed.pid}.tmp"  # that of a process that runs would stay
    (cache / "platforms/some" / left).write_text("half")
    assert len(left_over(cache)) > 1
    (tmp_path / "runs").unlink()
    running = start_build(tmp_path, waiting)
    mine = set(left_over(cache))
    assert left not in mine and mine and all(
        f".{running.pid}." in name for name in mine)
    heddle(f"build {OTHER}", env=env)  # beside it
    assert mine <= set(left_over(cache))
    (tmp_path / "go").touch()
    assert running.wait(timeout=harness.NEVER) == 0 and not left_over(cache)
    run(SMALL, env=env)


def test_two_builds_at_once_give_one_platform(run, tmp_path):
    env = {"HEDDLE_CACHE": str(tmp_path / "cache"), "HEDDLE_CFLAGS": "-O0"}
    both = [subprocess.Popen([harness.HEDDLE, "run", SMALL, "--progress", "none"],
                             env={**os.environ, **env}, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE) for _ in range(2)]
    for one in both:
        assert one.communicate(timeout=harness.NEVER)[1] == b"" and one.returncode == 0
    assert platforms_in(tmp_path / "cache") == 1 and not left_over(tmp_path / "cache")


@pytest.mark.parametrize("most", [pytest.param(100, marks=pytest.mark.full), 3000, 20000,
                                  pytest.param(200000, marks=pytest.mark.full)])
def test_disk_that_is_full_is_named_and_nothing_is_half_written(run, tmp_path, most):
    """A limit of bytes a file, at which writing fails as on a full disk."""
    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))

    cache = tmp_path / "cache"
    env = {"HEDDLE_CACHE": str(cache), "HEDDLE_CFLAGS": "-O0"}
    done = subprocess.run([harness.HEDDLE, "build", SMALL], env={**os.environ, **env}, text=True,
                          capture_output=True, preexec_fn=limited, restore_signals=False,
                          check=False)
    assert done.returncode == 1
    assert "File too large" in done.stderr or "without a word" in done.stderr, done.stderr
    assert not left_over(cache)
    assert not platforms_in(cache)
    run(SMALL, env=env)


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o773])
@pytest.mark.parametrize("folder", ["", "platforms", "objects"])
def test_cache_that_others_can_write_to_is_refused(heddle, run, tmp_path, folder, mode):
    """Nor does it matter that the group is one's own: others may be in it."""
    cache = tmp_path / "cache"
    env = {"HEDDLE_CACHE": str(cache), "HEDDLE_CFLAGS": "-O0"}
    (cache / folder).mkdir(parents=True)
    (cache / folder).chmod(mode)
    heddle(f"build {SMALL}", "other users can write to the cache", "chmod go-w", status=1, env=env)
    run(SMALL, "other users can write to the cache", status=1, env=env)
    assert not any(cache.rglob("*.o"))
    if os.geteuid() == 0 and mode == 0o777:
        (cache / folder).chmod(0o755)
        os.chown(cache / folder, 12345, -1)
        heddle(f"build {SMALL}", "belongs to another user .12345", "set HEDDLE_CACHE", status=1,
               env=env)
        assert not any(cache.rglob("*.o"))


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("through_link", [False, True])
def test_cache_that_others_can_replace_is_refused(heddle, tmp_path, depth, through_link):
    """As one who can write to a folder above it can, unless names there are their owners'."""
    cache = tmp_path / "a/b/cache"
    above = cache.parents[depth - 1]
    cache.mkdir(parents=True)
    (tmp_path / "link").symlink_to(cache)
    env = {"HEDDLE_CACHE": str(tmp_path / "link" if through_link else cache),
           "HEDDLE_CFLAGS": "-O0"}
    for mode in 0o777, 0o770:
        above.chmod(mode)
        heddle(f"build {SMALL}", f"other users can write to the folder above the cache, '{above}'",
               "chmod go-w", status=1, env=env)
    if os.geteuid() == 0:
        above.chmod(0o755)
        os.chown(above, 12345, -1)
        heddle(f"build {SMALL}", f"the cache lies in '{above}', which belongs to another user",
               status=1, env=env)
        os.chown(above, 0, -1)
    assert not any(cache.iterdir())
    above.chmod(0o1777)
    heddle(f"build {SMALL}", status=1, env={**env, "HEDDLE_CC": "false"})
    assert any(cache.iterdir())  # it came as far as its compiler


def test_cache_that_nobody_else_can_enter_is_fine(heddle, tmp_path):
    """Whatever may be written inside."""
    env = {"HEDDLE_CACHE": str(tmp_path / "cache"), "HEDDLE_CFLAGS": "-O0"}
    (tmp_path / "cache/objects").mkdir(parents=True)
    (tmp_path / "cache/objects").chmod(0o777)
    (tmp_path / "cache").chmod(0o700)
    heddle(f"build {SMALL}", env=env)


def test_damage_in_a_copy_of_the_cache_is_not_run(run, tmp_path):
    """The original is as it was."""
    env = {"HEDDLE_CACHE": str(tmp_path / "cache"), "HEDDLE_CFLAGS": "-O0"}
    run(SMALL, env=env)
    shutil.copytree(tmp_path / "cache", tmp_path / "copy")
    good, = (tmp_path / "cache/platforms").rglob("platform.so")
    copied, = (tmp_path / "copy/platforms").rglob("platform.so")
    damaged = bytearray(copied.read_bytes())
    for at in range(0, len(damaged), 512):
        damaged[at] ^= 0xff
    copied.write_bytes(damaged)
    shutil.copystat(good, copied)
    run(SMALL, env={**env, "HEDDLE_CACHE": str(tmp_path / "copy")})
    assert copied.read_bytes() != damaged
