"""Traces of events for Perfetto, and what runs at the same time."""
import json
import re
import sys

import pytest

from harness import FAILS, call

FLOW = ("bind_id", "flow_in", "flow_out")


def test_trace_of_events_is_written(run, tmp_path):
    trace = tmp_path / "trace.json"
    run(f"platforms/tiny.heddle --record perfetto={trace} -- vectoradd")
    assert len(json.loads(trace.read_text())["traceEvents"]) > 100


def events_of(run, tmp_path, options, program="streams"):
    trace = tmp_path / "trace.json"
    run(f"platforms/tiny.heddle --record perfetto={trace} {options} -- {program}")
    return json.loads(trace.read_text())["traceEvents"]


def of(events, phase, category=None):
    return [e for e in events if e["ph"] == phase and category in (None, e.get("cat"))]


def without_flows(events):
    """A flow begins with what is shown of it, so a window changes it."""
    return [{**{key: value for key, value in e.items() if key not in FLOW},
             "args": {**e["args"], "flow": None, "merged": None}} for e in events]


def test_flow_follows_a_request_to_memory_and_back(run, tmp_path):
    """And ends at a merge, which names the flow that fetched the line."""
    events = events_of(run, tmp_path, "", "vectoradd")
    name = {e["tid"]: re.sub(r"\[\d+\]", "", e["args"]["name"]) for e in of(events, "M", None)
            if e["name"] == "thread_name" and e["pid"] == 2}
    messages = of(events, "b", "message")
    flows = {}
    for e in messages:
        if "bind_id" in e:
            assert e["bind_id"] == e["args"]["flow"]
            flows.setdefault(e["bind_id"], []).append(e)
    hops = {key: " ".join(name[e["tid"]].replace(" (replies)", "'") for e in flow)
            for key, flow in flows.items()}
    answered = ("gpu.sa.l1v.bottom gpu.memory_xbar.to gpu.l2.bottom gpu.dram.top' gpu.l2.top' "
                "gpu.memory_xbar.from' gpu.sa.l1v.top'")
    walked = "gpu.sa.l1v.translate gpu.l2tlb.bottom mmu.top' gpu.l2tlb.top' "
    assert {f"gpu.sa.cu.vmem {answered}",
            f"gpu.sa.cu.vmem {walked}{answered}"} <= set(hops.values())
    # A request that the compute unit sends begins a flow, whose last message is its answer.
    for key, flow in flows.items():
        assert key == flow[0]["id"] and [e["ts"] for e in flow] == sorted(e["ts"] for e in flow)
        assert not flow[0].get("flow_in") and all(e["flow_in"] for e in flow[1:])
        if hops[key].startswith("gpu.sa.cu."):
            assert hops[key].count("gpu.l2.bottom") <= 1
            assert [e.get("flow_out", False) for e in flow] == [True] * (len(flow) - 1) + [False]
    merged = [e for e in messages if "merged" in e["args"]]
    assert merged
    for e in merged:
        assert "gpu.l2.bottom" in hops[e["args"]["merged"]] and "gpu.l2." not in hops[e["bind_id"]]


def test_messages_of_a_shared_wire_have_numbers_of_their_own(run, tmp_path):
    """The wire may grant a message when its ring has taken others; with threads that is later."""
    texts = []
    for threads in 1, 2:
        trace = tmp_path / f"{threads}.json"
        run(f"platforms/r9nano_x4.heddle --generic --set gpu.arrays=1 --threads {threads}"
            f" --record perfetto={trace} --record-path driver -- peers 256")
        texts.append(trace.read_text())
        messages = [e["id"] for e in of(json.loads(texts[-1])["traceEvents"], "b", "message")]
        assert len(set(messages)) == len(messages)
    assert texts[0] == texts[1]


def test_fields_have_their_names_and_wavefronts_their_spans(run, tmp_path):
    events = events_of(run, tmp_path, "", "vectoradd")
    reads = [e["args"] for e in of(events, "b", "message") if e["name"] == "read"]
    assert all(set(r) >= {"tag", "address", "size"} and int(r["address"], 16) >= 0 for r in reads)
    waves = [e for e in of(events, "b", "compute_unit") if e["name"] == "wavefront"]
    groups = [e for e in of(events, "b", "compute_unit") if e["name"] != "wavefront"]
    assert waves and len(waves) >= len(groups)
    last = {}
    for e in of(events, "C"):
        for name, value in e["args"].items():
            last[e["name"], name] = value
    assert {name for _, name in last} >= {"wavefront"} and not any(last.values())


def test_window_limits_what_is_shown(run, tmp_path):
    whole = events_of(run, tmp_path, "")
    events = events_of(run, tmp_path, "--record-window 5us..6us")
    messages = of(events, "b", "message")
    assert messages and all(5 <= e["ts"] < 6 for e in messages)
    assert without_flows(messages) == without_flows(
        e for e in of(whole, "b", "message") if 5 <= e["ts"] < 6)
    ends = {(e["cat"], e["id"], e["name"]): e["ts"] for e in of(events, "e")}
    for e in of(events, "b"):
        assert e["ts"] < 6 and ends[e["cat"], e["id"], e["name"]] >= 5


def test_path_limits_what_is_shown(run, tmp_path):
    events = events_of(run, tmp_path, "--record-path gpu.sa.cu[1]")
    names = {e["tid"]: e["args"]["name"] for e in of(events, "M") if e["pid"] == 1 and "tid" in e}
    shown = {names[e["tid"]] for e in of(events, "b") if e["pid"] == 1}
    assert shown == {"gpu.sa[0].cu[1]"}, shown


def test_kernel_limits_what_is_shown(run, tmp_path):
    """To all that happens between the beginning and the end of its span. The driver has a span of
    the same name, which ends later, and another launch has the same number in its component."""
    whole = events_of(run, tmp_path, "")
    begin = of(whole, "b", "command_processor")[1]
    end = next(e for e in whole[whole.index(begin):] if e["ph"] == "e" and e["id"] == begin["id"]
               and e["name"] == begin["name"] and e["cat"] == begin["cat"])
    during = of(whole[whole.index(begin):whole.index(end)], "b", "message")
    shown = of(events_of(run, tmp_path, "--record-kernel 2"), "b", "message")
    assert len(shown) > 100 and without_flows(shown) == without_flows(during)


@pytest.mark.parametrize("options, says", [
    ("--record-path gpu.nosuch", "'--record-path gpu.nosuch': no component of the platform"),
    ("--record-kernel nosuch", "to show 'nosuch', but nothing of this name was launched"),
    ("--record-kernel 99", "to show launch 99 of 1"),
    ("--record-window 1s..", "the run ended at [0-9.]+us, before the window begins"),
    ("--record-window 3us..2us", "it is two times, the earlier one first"),
    ("--record-window us..5us", "it is two times, the earlier one first"),
    ("--record-window 1.0.0us..5us", "it is two times, the earlier one first"),
    ("--record-window 3..4", "it is two times, the earlier one first"),
])
def test_selection_of_nothing_is_an_error(run, tmp_path, options, says):
    run(f"platforms/tiny.heddle --record perfetto={tmp_path}/t.json {options} -- vectoradd", says,
        status=FAILS)


def test_selection_needs_a_trace(run):
    run("platforms/tiny.heddle --record-window 1us..2us -- vectoradd",
        "says what '--record perfetto=FILE' shows", status=2)


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
