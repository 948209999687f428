"""`heddle run --mode sampled`: results, estimates, and what is written of them."""
import json
import re

import pytest

import parts_model
from harness import PROGRAMS, same_bytes

from heddle import api
from heddle.base.mistakes import Mistake

TINY = "platforms/tiny.heddle"
PARTS = "aes128 80000" # a launch of 20 generations on tiny
ASLEEP = ["--tick-order=random:3", "--threads=2", "--generic"]
ORDERS = [*ASLEEP, "--tick-all"]


def test_large_launch_is_simulated_in_parts(measure):
    """Less than half of it in detail; results right, counts exact, the truth inside."""
    done = measure(f"{TINY} --mode sampled --kernel-stats none -- {PARTS}", "PASS aes128",
                   r"1 +4[0-9]\.[0-9]+ % +[0-9]+ +[0-9.]+ %  encrypt", "predicted: [0-9]+ cycles",
                   "narrower: only without sampling",
                   r"memory: [0-9]+ bytes read, \+- [0-9.]+ %; [0-9]+ bytes written, .*; "
                   r"0\.19[0-9]+ cycles an instruction, \+- 0\.0[0-9]+$")
    full = measure(f"{TINY} -- {PARTS}").stats["kernels"][0]
    stats, launch = done.stats, done.stats["sample"]["in_parts"][0]
    assert stats["mode"] == "sampled"
    assert stats["components"]["driver"]["launches"] == 1
    parts_model.check_all(stats)
    assert launch["detailed_work_groups"] < launch["work_groups"] / 2
    assert launch["wavefront_instructions"] == full["wavefront_instructions"]
    assert abs(launch["cycles"] - full["cycles"]) <= launch["interval"] < 0.08 * full["cycles"]
    for which in ("read", "written"):
        moved = sum(part[f"bytes_{which}"] for part in full["components"].values()
                    if "reads" in part and f"bytes_{which}" in part)
        told = launch["memory"][which]
        assert abs(told["bytes"] - moved) <= told["interval"] < 0.5 * moved, which
    ways = [record["simulated"] for record in stats["kernels"]]
    assert ways[0] == ways[-1] == "part" and "functional" in ways
    assert all((r["cycles"] > 0) == (r["simulated"] == "part") for r in stats["kernels"])


def test_reader_says_that_it_is_a_sample(heddle, measure):
    done = measure(f"{TINY} --mode sampled -- {PARTS}")
    says = r"is a sample: .* all launches would take [0-9]+ cycles, \+- [0-9.]+ %"
    heddle(f"stats {done.stats_file}", says)
    heddle(f"report {done.stats_file} -o {done.stats_file.parent}/page.html")
    page = (done.stats_file.parent / "page.html").read_text()
    assert "A sample: cycles and counters" in page
    table = page.partition('<table id="estimates"')[2].partition("</table>")[0]
    assert "encrypt" in table and re.search(r"± [0-9.]+\s%", table)
    run = api.Run(done.stats_file.read_text())
    with pytest.raises(Mistake, match="its cycles are an estimate"):
        assert run.cycles
    assert run.sample["cycles"] > run.sample["interval"] > 0


# Solver, training and graph, at a size at which all can be simulated as well.
@pytest.mark.parametrize("program, most", [
    ("conjugate_gradients", 0.02), ("training", 0.05), ("scale_free", 0.2)])
def test_estimate_of_an_application_has_the_truth_in_its_interval(measure, program, most):
    sample = measure(f"{TINY} --mode sampled --kernel-stats none -- {program}",
                     f"PASS {program}").stats["sample"]
    truth = sum(k["cycles"] for k in measure(f"{TINY} -- {program}").stats["kernels"])
    assert sample["simulated"] < sample["count"]
    assert abs(sample["cycles"] - truth) <= sample["interval"] <= most * truth


def test_estimate_of_a_transformer_has_the_truth_in_its_interval(heddle, tmp_path):
    def stats_of(mode):
        heddle(f"run {TINY} --generic --mode {mode} --kernel-stats none --stats {tmp_path}/s.json"
               f" -- {PROGRAMS}/transformer --tokens 10", "^tokens: ")
        return json.loads((tmp_path / "s.json").read_text())
    sample = stats_of("sampled")["sample"]
    truth = sum(k["cycles"] for k in stats_of("timing")["kernels"])
    assert sample["simulated"] < sample["count"]
    assert abs(sample["cycles"] - truth) <= sample["interval"] <= 0.05 * truth


def test_nothing_is_estimated_where_all_is_simulated(heddle, measure, tmp_path):
    """As in timing mode, but for the cycles in which the parts of launches begin and end."""
    sample = measure(f"{TINY} --mode sampled -- vectoradd 256",
                     r"^1 launches, all simulated whole: \d+ cycles",
                     "^1 of 1 simulated launches have too few generations of work-groups")
    done = sample.output
    told = heddle(f"stats {sample.stats_file}", "all launches were simulated whole").output
    heddle(f"report {sample.stats_file} -o {tmp_path}/page.html")
    page = (tmp_path / "page.html").read_text()
    assert "but all launches were simulated whole" in page
    assert "+-" not in told and "±" not in page.partition("<script")[0]
    cycles = measure(f"{TINY} -- vectoradd 256").stats["kernels"][0]["cycles"]
    assert int(re.search(r"whole: (\d+)", done)[1]) == pytest.approx(cycles, rel=0.001)
    assert "+-" not in done


def test_sampled_mode_counts_the_same_however_it_is_run(measure, full):
    same_bytes(measure, f"{TINY} {{}} --mode sampled -- {PARTS}", ORDERS if full else ASLEEP)


# Many launches; atomics and several GPUs; private memory; a device of several GPUs; no statistics.
@pytest.mark.parametrize("text", [
    f"{TINY} --mode sampled --error 5% -- dct8x8 64 8",
    "platforms/r9nano_x4.heddle --mode sampled -- atomics",
    f"{TINY} --mode sampled -- scratch",
    "platforms/r9nano_x4.heddle --mode sampled --unified 0,1,2,3 -- dct8x8 64 8"],
    ids=["dct8x8", "atomics", "scratch", "unified"])
def test_program_passes_in_sampled_mode(run, text):
    run(text, "PASS", r"predicted: [0-9]+ cycles, \+- [0-9]+|all simulated whole: [0-9]+ cycles")


@pytest.mark.parametrize("text, says", [
    ("--mode sample -- saxpy", "it is timing, functional or sampled"),
    ("--mode sampled", "name one"),
    ("--mode sampled --kernels 1 -- saxpy", "'--kernels' cannot be combined with"),
    ("--mode sampled --report cpi -- saxpy", "'--report' cannot be combined with"),
    ("--mode sampled --error 0 -- saxpy", "how far off the sum may be"),
    ("--error 2 -- saxpy", "'--error 2' is for launches that are chosen")],
    ids=["mode", "program", "kernels", "report", "zero", "error"])
def test_mistake_is_named(run, text, says):
    run(f"{TINY} {text}", says, status=2)
