"""The cache of built platforms: nothing is built twice, and nothing wrong is kept."""
import os
import time
from pathlib import Path

TINY = "platforms/tiny.heddle"


def platforms_in(cache):
    return len(list((cache / "platforms").rglob("platform.so")))


def test_second_build_writes_nothing(heddle, tmp_path):
    env = {"HEDDLE_CFLAGS": "-O0", "HEDDLE_CACHE": str(tmp_path / "cache")}
    heddle(f"build {TINY}", env=env)
    before = time.time_ns()
    heddle(f"build {TINY}", env=env)
    new = [file for file in (tmp_path / "cache").rglob("*")
           if file.is_file() and "lock" not in file.name and file.stat().st_mtime_ns > before]
    assert not new


def changed_while_it_is_read(folder):
    """docs/examples/fifo under other names, and a compiler that changes it just before it reads
    it."""
    fifo = Path("docs/examples/fifo")
    source = (fifo / "fifo.c").read_text().replace("fifo", "spool")
    (folder / "spool.c").write_text(source)
    (folder / "edited.c").write_text(
        source + 'extern const char spool_marker[];'
        ' const char spool_marker[] = "changed behind the back";\n')
    (folder / "spool.heddle").write_text(
        (fifo / "fifo.heddle").read_text().replace("fifo", "spool"))
    test = (fifo / "fifo_test.heddle").read_text().replace("fifo/fifo", "spool", 1)
    (folder / "test.heddle").write_text(test.replace("fifo", "spool"))
    compiler = folder / "cc"
    compiler.write_text(f'#!/bin/sh\nmv "{folder}/edited.c" "{folder}/spool.c" 2>/dev/null\n'
                        'exec cc "$@"\n')
    compiler.chmod(0o755)
    return {"HEDDLE_CC": str(compiler), "HEDDLE_CACHE": str(folder / "cache"),
            "HEDDLE_CFLAGS": "-O0"}


def test_object_is_not_kept_under_the_name_of_another_source(heddle, run, tmp_path):
    env = changed_while_it_is_read(tmp_path)

    def is_kept():
        return any(b"changed behind the back" in file.read_bytes()
                   for file in (tmp_path / "cache/objects").rglob("*") if file.is_file())

    heddle(f"build {tmp_path}/test.heddle", "have changed while it was compiled; build again",
           status=1, env=env)
    assert not is_kept()
    run(f"{tmp_path}/test.heddle", env=env)
    assert is_kept()


def test_full_cache_forgets_what_was_used_longest_ago(heddle, tmp_path):
    cache = tmp_path / "cache"
    env = {"HEDDLE_CACHE": str(cache), "HEDDLE_CFLAGS": "-O0"}
    bounded = {**env, "HEDDLE_CACHE_LIMIT": "1MiB"}
    heddle(f"build {TINY} --generic", env=env)
    for file in [cache, *cache.rglob("*")]:
        os.utime(file, (time.time() - 2 * 86400,) * 2)
    heddle("build docs/examples/fifo/fifo_test.heddle --generic --verbose", "from the cache",
           env=bounded)
    assert platforms_in(cache) == 1
    heddle(f"build {TINY} --generic", env=bounded)
    assert platforms_in(cache) == 2  # nothing that was used just now is gone


def test_limit_of_the_cache_has_a_unit(heddle):
    heddle("build docs/examples/mid_cache/mid_cache_memtest.heddle --set tester.seed=99", "500MiB",
           status=1, env={"HEDDLE_CACHE_LIMIT": "7GB"})
