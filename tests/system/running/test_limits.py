"""What happens at the limits of docs/reference/limits.md: the answer that the page says, a message
that names the limit, and no harm to what comes after. tests/lint compares the page's numbers with
the source."""
import re

import pytest

from harness import ROOT, run, same
from programs import only_full
from sass_traces import EXIT, Folder

TINY = "platforms/tiny.heddle --generic"
MEMTEST = "tests/system/platforms/memtest.heddle --generic"


def page_says(number, what):
    """The row of the page, which has to be there."""
    page = (ROOT / "docs/reference/limits.md").read_text()
    found = re.search(rf"^\| {number} \| {what}.*", page, re.MULTILINE)
    assert found, f"no row of {number} {what}"
    return found[0]


# What `limits` makes until it is refused, how often, those of heddle itself, and the message.
@pytest.mark.parametrize("what, number, own, row, says", [
    ("streams", 4096, 2, "streams of all GPUs", "more than 4096 queues"),
    ("contexts", 65536, 0, "contexts on the stack", "more than 65536 contexts"),
    ("depth", 65536, 0, "contexts on the stack", "more than 65536 contexts"),
    *only_full(("allocations", 65536, 1, "allocations at the same time",
                "more than 65536 allocations"))])
def test_call_at_a_limit_is_refused_and_named(run, what, number, own, row, says):
    """Twice the same, with all destroyed in between."""
    done = run(f"{TINY} --mode functional -- limits {what}", says)
    assert "`hipErrorOutOfMemory`" in page_says(number, row)
    told = f"{what} {number - own} hipErrorOutOfMemory\n"
    assert done.stdout == told + told + "PASS limits\n"


def test_work_group_that_is_too_large_is_refused(run):
    assert "`hipErrorInvalidConfiguration`" in page_says(1024, "work-items of a work-group")
    run(f"{TINY} -- limits work-items", "^work-items 1024 hipErrorInvalidConfiguration",
        "allowed are 1 to 1024")


@pytest.mark.parametrize("options, what, row", [
    ("--set driver.commands=64", "commands", (65536, "commands that are queued")),
    ("--set driver.in_flight=2", "commands", (256, "messages to a GPU")),
    ("", "arguments", (4194304, "bytes of packets and arguments")),
    ("--mode functional", "arguments", (4194304, "bytes of packets and arguments")),
    ("", "scratch", (16, "launches of a GPU with private memory"))])
def test_call_at_a_limit_waits(run, options, what, row):
    """3,000 launches for 64 commands or two messages, 8 MB of arguments, 40 streams with private
    memory: all are done in the end."""
    assert "wait" in page_says(*row)
    run(f"{TINY} {options} -- limits {what}", "^.* all done")


@pytest.mark.parametrize("text, says, status", [
    (MEMTEST + "".join(f" --watch 0x{i}40" for i in range(1, 6)), "at most 4 lines", 2),
    (f"{TINY} --set driver.in_flight=1025 -- vectoradd", "1024", 1),
    (f"{TINY} --set driver.commands=16777216 -- vectoradd", "commands", 1)],
    ids=["watch", "in_flight", "commands"])
def test_option_beyond_a_limit_is_refused(run, text, says, status):
    run(text, says, status=status)


def test_more_threads_than_are_of_use_change_nothing(measure):
    same(measure(f"{TINY} -- vectoradd"), measure(f"{TINY} --threads 65 -- vectoradd"))


def test_seventeenth_clock_is_refused(tmp_path):
    page_says(16, "clocks")
    clocks = "\n".join(f"clock c{i} = {i + 1}MHz; m{i} : mmu on c{i};" for i in range(17))
    (tmp_path / "clocks.heddle").write_text(f'import "std/mmu";\nplatform clocks {{ {clocks} }}\n')
    run(f"{tmp_path}/clocks.heddle --generic --max-cycles 10", "clocks", status=1)


@pytest.mark.parametrize("row, body, says", [
    ((1024, "threads of a SASS block"), [EXIT] * 2, "1024"),
    *only_full(((65536, "different instructions"),
                [f"{16 * i:04x} ffffffff 1 R4 FFMA 3 R4 R2 R6 0" for i in range(65537)] + [EXIT],
                "65,536"))], ids=["threads", "instructions"])
def test_sass_trace_beyond_a_limit_is_refused(tmp_path, row, body, says):
    page_says(*row)
    traces = Folder(tmp_path)
    warps = 33 if row[0] == 1024 else 1
    path = traces.list("list.g", [traces.trace("kernel-1.traceg", 1, warps, body)])
    run(f"platforms/rtx3070.heddle --generic --no-cache --play sass={path}", says, "kernel-1",
        status=3)
