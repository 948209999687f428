"""Traces in Accel-Sim 2.0's container (.tracez): they play as the text that is in them, and what is
cut or damaged is named with its place."""
import re

import pytest

import harness
from harness import HEDDLE, call, run
from sass_traces import EXIT, Folder, chain, load, store
from sass_tracez import pack

PLAYER = "platforms/rtx3070.heddle --generic"
DICTIONARY = "".join(chain(40)).encode()


def body(block, warp):
    base = 0x7F0100000000 + 4096 * (2 * block + warp)
    return [load(0, base, 2, 8), *chain(20 + 7 * warp), store(0x30, base), EXIT]


@pytest.fixture
def sass(tmp_path):
    folder = Folder(tmp_path)
    folder.text = (tmp_path / folder.trace("kernel-1.traceg", 3, 2, body)).read_text()
    folder.packed = tmp_path / "kernel-1.tracez"
    folder.packed.write_bytes(pack(folder.text))
    return folder


def play(sass, name, options="--no-cache"):
    path = sass.list("list.g", [name])
    return harness.measure(f"{PLAYER} {options} --play sass={path}", folder=sass.path)


@pytest.mark.parametrize("how", [{}, {"part": 5}, {"dictionary": DICTIONARY},
                                 {"part": 1, "dictionary": DICTIONARY}],
                         ids=["whole", "parts", "dictionary", "both"])
def test_container_plays_as_its_text(sass, how):
    sass.packed.write_bytes(pack(sass.text, **how))
    plain, packed = (play(sass, name).stats for name in ("kernel-1.traceg", "kernel-1.tracez"))
    assert plain["kernels"] == packed["kernels"]
    assert plain["components"] == packed["components"]


def test_container_gets_a_binary_copy(sass):
    first = play(sass, "kernel-1.tracez", "").stats
    assert (sass / "kernel-1.tracez.heddle-cache").exists()
    assert play(sass, "kernel-1.tracez", "").stats["kernels"] == first["kernels"]


def test_tools_take_containers(sass):
    whole = call([HEDDLE, "trace", "check", sass.packed])
    assert re.search(r"0 errors, 0 warnings, 159 instructions, \d+ static, 3 thread blocks",
                     whole.stdout)
    call([HEDDLE, "trace", "mem", sass.packed])
    text = (sass / "kernel-mem-1.traceg").read_text()
    assert text.count("LDG") == 6 and text.count("FFMA") == 0
    alone = harness.measure(f"{PLAYER} --no-cache --play sass={sass.packed}", folder=sass.path)
    assert alone.stats["kernels"][0]["work_groups"] == 3


@pytest.mark.parametrize("wrong, says", [
    (lambda b: b[:b.index(0) + 1], "the file ends behind its header: it is cut"),
    (lambda b: b[:len(b) // 2], "the index"),
    (lambda b: b[:-3], "place the index at byte"),
    (lambda b: b[:-8] + b"\xff" * 8, "the last 8 bytes place the index at byte"),
    (lambda b: b[:-20] + b[-8:], "the index ends in the middle, at byte"),
    (lambda b: b[:-8] + b"\0" * 4 + b[-8:], "the index ends at byte"),
    (lambda b: b[:b.index(0) + 1] + b"\xff" * 4 + b[b.index(0) + 5:], "a dictionary of 4294967295"),
], ids=["header", "half", "end", "last", "shorter", "longer", "dictionary"])
def test_container_that_is_cut_is_named(sass, wrong, says):
    sass.packed.write_bytes(wrong(sass.packed.read_bytes()))
    run(f"{PLAYER} --play sass={sass.list('list.g', ['kernel-1.tracez'])}",
        f"kernel-1.tracez: cannot be read: .*{says}", status=3)


def with_count(index, change):
    (place, [(count, at, parts), *warps]), *blocks = index
    return [(place, [change(count, at, parts), *warps]), *blocks]


@pytest.mark.parametrize("change, says", [
    (lambda c, at, p: (c + 1, at, p), "warp 0, part 0 at byte .*: its counts are others"),
    (lambda c, at, p: (c, at, [p[0] + 1] + p[1:]), "part 0 at byte .*: it has another number"),
    (lambda c, at, p: (c, 5, p), "the index places a warp at byte 5, outside of the data"),
    (lambda c, at, p: (c, at + 8, p), "its counts are others than in the index")],
    ids=["count", "part", "place", "shifted"])
def test_index_that_does_not_fit_is_named(sass, change, says):
    altered = pack(sass.text, part=5, alter=lambda index: with_count(index, change))
    sass.packed.write_bytes(altered)
    run(f"{PLAYER} --play sass={sass.list('list.g', ['kernel-1.tracez'])}",
        f"kernel-1.tracez.*{says}", status=3)


def test_frame_that_is_damaged_is_named_with_block_and_warp(sass):
    data = bytearray(sass.packed.read_bytes())
    frames = [m.start() for m in re.finditer(re.escape(b"\x28\xb5\x2f\xfd"), bytes(data))]
    data[frames[3]] ^= 0xFF  # of the second block's second warp
    sass.packed.write_bytes(data)
    run(f"{PLAYER} --play sass={sass.list('list.g', ['kernel-1.tracez'])}",
        "kernel-1.tracez.*thread block 1,0,0, warp 1, part 0 at byte .*zstd data are damaged",
        status=3)


def test_block_that_is_missing_in_the_index_is_a_gap(sass):
    sass.packed.write_bytes(pack(sass.text, alter=lambda index: index[:2]))
    run(f"{PLAYER} --play sass={sass.list('list.g', ['kernel-1.tracez'])}",
        "1 of the grid's 3 thread blocks are missing, the first is 2,0,0", status=3)


def test_line_of_an_error_is_that_of_the_text(sass):
    """As traceDsm writes it: of the header's 15 lines, nine of the block, then the warp's."""
    text = sass.text.replace("FFMA 3", "FFMA 9", 1)
    sass.packed.write_bytes(pack(text))
    header = text[:text.index("#BEGIN_TB")].count("\n")
    run(f"{PLAYER} --play sass={sass.list('list.g', ['kernel-1.tracez'])}",
        f"kernel-1.tracez:{header + 12}: 9 source registers", status=3)
