"""`heddle run --report limits`: the first sentence about a kernel names the cause that was planted
in it, and the setting that it proposes helps more than another."""
import re

import pytest

from harness import run
from programs import only_full

# Slices of an L2 enough for some to be full while others idle, and a TLB that is too small.
TINY = ("platforms/tiny.heddle --generic --set gpu.banks=16 --set gpu.l2=1MiB "
        "--set gpu.l2tlb.sets=4")
NANO = "platforms/r9nano.heddle --generic"
# platform, program, kernel, its first sentence, what helps, what does not
CAUSES = [
    (TINY, "planted_channel", "column", r"one hot channel: gpu\.l2\[0\] .* settings to try: "
     r"gpu\.hashed, gpu\.banks$", "gpu.hashed=true", "gpu.l2tlb.sets=64"),
    *only_full(
        (TINY, "planted_pages", "visit", r"limited by address translation.*: mmu is full in .*"
         r"gpu\.l2tlb\.sets", "gpu.l2tlb.sets=256", "gpu.hashed=true"),
        (TINY, "planted_conflicts", "column_sums", "limited by the LDS: .* bank conflicts", None,
         None),
        (NANO, "matmul_tiled 256", "matmul_tiled", r"limited by collisions: in \d+ of \d+ "
         r"intervals of 200 cycles 2\.\d of the 16 of gpu\.l2\[\*\] are full, .*confidence: high; "
         r"settings to try: gpu\.hashed, gpu\.banks$", "gpu.banks=32",
         "gpu.sa.l1v.latency=62cy"))]


def first_sentence(told, kernel):
    lines = told.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(f"{kernel}("))
    return lines[at + 1]


@pytest.mark.parametrize("platform, program, kernel, sentence, helps, other", CAUSES)
def test_first_sentence_names_the_cause_and_what_helps(measure, platform, program, kernel, sentence,
                                                       helps, other):
    def cycles(*settings):
        words = " ".join(f"--set {one}" for one in settings)
        done = measure(f"{platform} {words} --report limits -- {program}")
        return done, next(k["cycles"] for k in done.stats["kernels"]
                          if k["name"].startswith(f"{kernel}("))
    done, before = cycles()
    assert re.match(f"  {sentence}", first_sentence(done.stderr, kernel)), done.stderr
    if helps:
        assert cycles(helps)[1] < 0.85 * before < cycles(other)[1]


def test_queueing_stands_beside_the_way_without_it():
    """Nothing is called latency while loads wait for each other."""
    told = run(f"{TINY} --report limits -- planted_channel").stderr
    found = re.search(r"a load takes (\d+) cycles, where the whole way to gpu\.dram\[\*\] takes "
                      r"(\d+) with nobody in front, so at least (\d+) % of it is queueing", told)
    measured, alone, queued = map(int, found.groups())
    assert queued == pytest.approx(100 * (1 - alone / measured), abs=1)
    assert "one behind the other" not in told


def test_report_that_is_none_is_refused():
    run(f"{TINY} --report nothing -- vectoradd", "there is cpi and limits", status=2)
