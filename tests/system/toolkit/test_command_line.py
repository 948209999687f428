"""Command lines that cannot be right are refused before anything is read, built or simulated, with
a message that names what is wrong; nothing is written."""
import os
import shutil

import harness
import pytest

TINY = "platforms/tiny.heddle"
MEMTEST = "tests/system/platforms/memtest.heddle"
RTX = "platforms/rtx3070.heddle"

# HERE is a folder of the test's own, with a file `file`, a folder `folder`, and a copy of the
# platform, `own.heddle`.
REFUSED = [
    ("check platforms/r9nano.heddle --set memory=hmb", "1 error"),
    ("check platforms/ring4.heddle --set gpus=4000", "E0302"),
    (f"run {TINY}", "needs a program"),
    (f"run {TINY} --", "no program after '--'"),
    (f"run {TINY} -- HERE/nosuch", "cannot find the program"),
    (f"run {TINY} -- HERE/file", "not executable"),
    (f"run {TINY} -- HERE/folder", "a folder"),
    (f"run {MEMTEST} -- vectoradd", "no driver"),
    (f"run {TINY} --play sass=HERE/file", "no trace_player"),
    (f"run {TINY} --unified 0,1 -- vectoradd", "no GPU 1; the platform has 1"),
    (f"run {TINY} --unified 99999999999999999999 -- vectoradd", "no GPU"),
    (f"run {TINY} --unified 0,0 -- vectoradd", "GPU 0 is named twice"),
    (f"run {TINY} --unified , -- vectoradd", "list of GPU numbers"),
    (f"run {TINY} --stats HERE/no/a.json -- vectoradd", "cannot write there: No such file"),
    (f"run {TINY} --stats HERE/folder -- vectoradd", "this is a folder"),
    (f"run {TINY} --stats HERE/new/ -- vectoradd", "folder"),
    (f"run {TINY} --stats /proc/a.json -- vectoradd", "cannot write there"),
    (f"run {TINY} --stats '' -- vectoradd", "is empty"),
    (f"run {TINY} --stats", "needs a FILE"),
    (f"run {TINY} --stats --threads 2 -- vectoradd", "'--threads' is an option"),
    (f"run {TINY} --stats HERE/a --stats HERE/b -- vectoradd", "given twice"),
    (f"run {TINY} --threads 2 --threads 3 -- vectoradd", "given twice"),
    (f"run {TINY} --record perfetto=HERE/folder -- vectoradd", "this is a folder"),
    (f"run {TINY} --record perfetto=HERE/no/t -- vectoradd", "cannot write there"),
    (f"run {TINY} --record api=HERE/no/t -- vectoradd", "No such file"),
    (f"run {TINY} --record api=HERE/folder -- vectoradd", "exists already"),
    (f"run {TINY} --record api=HERE/file/t -- vectoradd", "Not a directory"),
    (f"run {TINY} --record instructions=HERE/file/t -- vectoradd", "Not a directory"),
    (f"run {TINY} --record instructions=HERE/t -- vectoradd", "record its calls with"),
    (f"run {MEMTEST} --checkpoint HERE/no/c --checkpoint-at 10", "cannot write there"),
    (f"run {MEMTEST} --checkpoint HERE/c", "belong together"),
    (f"run {MEMTEST} --checkpoint HERE/c --checkpoint-at -1", "above 0"),
    (f"run {MEMTEST} --checkpoint HERE/c --checkpoint-at nan", "above 0"),
    (f"run {MEMTEST} --restore HERE/nosuch", "cannot read it"),
    (f"run {MEMTEST} --restore HERE/folder", "cannot read it: it is a directory"),
    (f"run {TINY} --mode functional --profile memory --addresses HERE/folder -- vectoradd",
     "this is a folder"),
    (f"run {TINY} --mode functional --profile memory --addresses HERE/no/x -- vectoradd",
     "cannot write there"),
    (f"run {TINY} --mode functional --addresses HERE/x -- vectoradd",
     "give '--mode functional --profile memory', too"),
    (f"run {TINY} --play api=HERE/nosuch", "cannot read it"),
    (f"run {TINY} --play api=HERE/folder --module HERE/nosuch", "cannot read it"),
    (f"run {RTX} --play sass=HERE/nosuch", "cannot read it"),
    (f"run {RTX} --play sass=HERE/folder", "it is a directory"),
    (f"run {TINY} --stats HERE/a --record perfetto=HERE/a -- vectoradd", "writes the same file"),
    (f"run {TINY} --stats HERE/a --record perfetto=HERE/folder/../a -- vectoradd",
     "writes the same file"),
    ("run HERE/own.heddle --stats HERE/own.heddle -- vectoradd", "the command reads this file"),
    ("run HERE/own.heddle --record perfetto=HERE/link.heddle -- vectoradd", "link, pipe or device"),
    (f"run {MEMTEST} --restore HERE/file --stats HERE/file", "'--restore' is read from there"),
    (f"run {TINY} --stats HERE/prog -- HERE/prog", "the command reads this file"),
    ("params HERE/own.heddle -o HERE/own.heddle", "the command reads this file"),
    ("dot HERE/own.heddle -o HERE/link.heddle", "the command reads this file"),
    ("dump HERE/own.heddle --json -o HERE/no/x", "cannot write there"),
    (f"params {TINY} -o HERE/folder", "this is a folder"),
    (f"dot {TINY} --html HERE/file", "this is not a folder"),
    (f"dot {TINY} --html HERE/file/x", "not a folder"),
    (f"build {TINY} -o HERE/file", "this is not a folder"),
    (f"gen {TINY} -o HERE/file", "this is not a folder"),
    ("doc -o HERE/file", "this is not a folder"),
    ("stats HERE/file -o HERE/file", "the command reads this file"),
    ("trace mem HERE/file -o HERE/file", "this is not a folder"),
    ("check ''", "argument 1 is empty"),
    ("check HERE/folder", "it is a directory"),
    (f"check {TINY} --set ''", "is empty"),
    (f"check {TINY} --platform ''", "is empty"),
    (f"run {TINY} --threads 0 -- vectoradd", "positive whole number"),
    (f"run {TINY} --threads -1 -- vectoradd", "positive whole number"),
    (f"run {TINY} --threads ' -1' -- vectoradd", "positive whole number"),
    (f"run {TINY} --threads nan -- vectoradd", "positive whole number"),
    (f"run {TINY} --threads 1e3 -- vectoradd", "positive whole number"),
    (f"run {TINY} --max-cycles 99999999999999999999 -- vectoradd", "positive whole number"),
    (f"run {TINY} --error nan -- vectoradd", "--error"),
    (f"run {TINY} --kernels auto --error nan -- vectoradd", "--error"),
    (f"run {TINY} --kernels auto --error -3 -- vectoradd", "--error"),
    (f"run {TINY} --kernels 0 -- vectoradd", "--kernels"),
    (f"run {TINY} --kernels 5-2 -- vectoradd", "--kernels"),
    (f"run {TINY} --kernels , -- vectoradd", "--kernels"),
    (f"run {TINY} --kernels 99999999999999999999 -- vectoradd", "--kernels"),
    (f"run {TINY} --tick-order random:-1 -- vectoradd", "ascending, descending"),
    (f"run {TINY} --mode fast -- vectoradd", "timing, functional or sampled"),
    (f"run {TINY} --mode functional --record perfetto=HERE/a -- vectoradd", "there are none"),
    (f"run {MEMTEST} --watch nan", "it is an address"),
    (f"run {TINY} --stats-no-host -- vectoradd", "give '--stats FILE'"),
    (f"check {TINY} -I HERE/nosuch", "No such file"),
    (f"check {TINY} -I HERE/file", "this is not a folder"),
    (f"params {TINY} --json --csv", "either '--json' or '--csv'"),
    (f"dot {TINY} --svg --html HERE/h", "either '--svg' or '--html'"),
    (f"dot {TINY} -o HERE/d --html HERE/h", "either '-o' or '--html'"),
    (f"dot {TINY} --level full --html HERE/h", "either '--level' or '--html'"),
    (f"dot {TINY} --expand gpu --html HERE/h", "either '--expand' or '--html'"),
    (f"dot {TINY} --controls --html HERE/h", "either '--controls' or '--html'"),
    (f"dot {TINY} --html /proc/nothing", "cannot write there"),
    (f"dump {TINY} --json --only reference", "'--only' is called '--part' now"),
    ("stats a.json b.json --only gpu", "'--only' is called '--below' now"),
    (f"dump {TINY} --json --part pictures", "'--part pictures'"),
    ("doc -o /proc/nothing", "cannot write there"),
    ("help rnu", "did you mean 'run'"),
]


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    folder = tmp_path_factory.mktemp("command_line")
    (folder / "file").write_text("nothing\n")
    (folder / "folder").mkdir()
    shutil.copy(TINY, folder / "own.heddle")
    (folder / "link.heddle").symlink_to(folder / "own.heddle")
    shutil.copy(harness.PROGRAMS / "vectoradd", folder / "prog")
    return folder


@pytest.mark.parametrize("command, says", REFUSED, ids=[command for command, _ in REFUSED])
def test_it_is_refused_before_anything_happens(heddle, here, tmp_path, command, says):
    before = {file: os.stat(file).st_mtime_ns for file in sorted(here.iterdir())}
    cache = tmp_path / "cache"
    done = heddle(command.replace("HERE", str(here)), says, status=harness.FAILS, seconds=10,
                  env={"HEDDLE_CACHE": str(cache)})
    assert done.status in (1, 2, 7), done.status
    assert not any(cache.rglob("*.o")) and not any(cache.rglob("*.c")), "it was built"
    assert before == {file: os.stat(file).st_mtime_ns for file in sorted(here.iterdir())}
