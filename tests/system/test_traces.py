"""Traces of events for Perfetto, and what runs at the same time."""
import json
import re
import sys

from harness import call


def test_trace_of_events_is_written(run, tmp_path):
    trace = tmp_path / "trace.json"
    run(f"platforms/tiny.heddle --record perfetto={trace} -- vectoradd")
    assert len(json.loads(trace.read_text())["traceEvents"]) > 100


def check_overlap(kernels):
    """Eight kernels run at the same time, and hold each other's slots."""
    assert len(kernels) == 8
    assert max(k["start_ps"] for k in kernels) < min(k["end_ps"] for k in kernels)
    alone = max(k["end_ps"] - k["start_ps"] for k in kernels)
    together = max(k["end_ps"] for k in kernels) - min(k["start_ps"] for k in kernels)
    assert together <= 1.5 * alone
    for k in kernels:
        assert k["overlaps"] and k["slot_cycles"]["others"]["kernels"], k["name"]


def test_kernels_of_eight_user_queues_run_side_by_side(measure):
    check_overlap(measure("platforms/tiny.heddle --generic --set queues=true"
                          " -- user_queues overlap").stats["kernels"])


def test_kernels_of_eight_streams_run_side_by_side(measure, tmp_path):
    trace = tmp_path / "trace.json"
    text = f"platforms/tiny.heddle --record perfetto={trace} -- overlap"
    check_overlap(measure(text).stats["kernels"])
    picture = call([sys.executable, "tests/bench/dispatch/picture.py", trace]).stdout
    shapes = re.findall("<rect", picture)
    assert len(shapes) == 1 + 8 + 48  # the ground, kernels and work-groups
