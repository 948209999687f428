"""Copies between host and GPUs: pages over a link that they fill, and copies that take no time."""
import re

import pytest

from harness import ORDERS, same_bytes

NANO = "platforms/r9nano.heddle --generic"
MAGIC = "tests/system/platforms/no_copy_time.heddle"
PAGE = 4096


def rates(done):
    """What copy_rate has said: there, back, a launch alone and beside a copy; picoseconds."""
    said = re.findall(r"(\w+)_ps (\d+)", done.output)
    return {name: int(value) for name, value in said}


# Bytes over bandwidth is what a full link takes. The rest is the way there and back, a page that
# stands before it moves, and memory; 20 bytes of each message are no data.
@pytest.mark.parametrize("gb_s,latency_ns", [(16, 300), (33, 100), (64, 900), (512, 141)])
def test_copy_fills_its_link(measure, gb_s, latency_ns):
    size = 1 << 20
    done = measure(f"{NANO} --set pcie.bandwidth={gb_s}GB/s --set pcie.latency={latency_ns}ns"
                   f" -- copy_rate {size}")
    full = size * 1000 / gb_s
    for way in ("there", "back"):
        took = rates(done)[way]
        assert full + 2000 * latency_ns < took < (
            1.006 * full + 2000 * latency_ns + PAGE * 1000 / gb_s + 450e3)
    link = done.stats["links"]["driver.gpu[0] -> gpu.cp.host via pcie"]
    assert link["forward"]["bytes"] < 2 * size + 20 * 2 * size / PAGE + 40000


@pytest.mark.parametrize("option,message", [("", PAGE), ("--set driver.page_size=16KiB", PAGE),
                                            ("--set driver.copy.message=256B", 256)])
def test_copy_is_a_message_a_page(measure, option, message):
    few, many = (measure(f"platforms/tiny.heddle --generic {option} -- copy_rate {pages * PAGE}")
                 for pages in (8, 40))
    copy = [done.components["driver.copy"] for done in (few, many)]
    # The program copies three times and fills twice; fills have no data.
    assert copy[1]["bytes"] - copy[0]["bytes"] == 5 * 32 * PAGE
    fills = 2 * 32 * PAGE // (16384 if "16KiB" in option else PAGE)
    assert copy[1]["messages"] - copy[0]["messages"] == 3 * 32 * PAGE // message + fills


def test_short_message_costs_a_link_what_it_carries(measure):
    sent = []
    for size in (PAGE, 100):
        done = measure(f"platforms/tiny.heddle --generic -- copy_rate {size}")
        sent.append(done.stats["links"]["driver.gpu[0] -> gpu.cp.host via pcie"])
    assert abs(sent[0]["forward"]["bytes"] - sent[1]["forward"]["bytes"] - 2 * (PAGE - 100)) < 64
    assert abs(sent[0]["backward"]["bytes"] - sent[1]["backward"]["bytes"] - (PAGE - 100)) < 64


def test_launch_beside_a_copy_waits_for_pages_and_not_for_the_copy(measure):
    ps = rates(measure(f"{NANO} --set pcie.bandwidth=2GB/s -- copy_rate 400000"))
    assert ps["there"] > 200e6
    assert ps["launch_beside"] < ps["launch_alone"] + 4 * PAGE * 1000 / 2


@pytest.mark.parametrize("near", ["false", "true"])
def test_magic_copy_takes_no_simulated_time(measure, near):
    text = f"{MAGIC} --generic --set near={near} {{}} -- copy_rate 100000"
    done = same_bytes(measure, text, [*ORDERS[:3], "--threads 2"])
    ps = rates(done)
    assert ps["there"] == ps["back"] == ps["queued"] == 0
    assert done.components["driver.copy"]["copies"] >= 5


def test_copies_alone_leave_time_where_it_was(measure):
    done = measure(f"{MAGIC} --generic -- copies")
    flushed = done.components["driver"]["flushes"]
    assert flushed == 0 and done.stats["time_ps"] == 0


def test_pages_over_links_count_the_same_however_they_are_run(measure):
    same_bytes(measure, "platforms/tiny.heddle --generic {} -- copy_rate 100000",
               ORDERS[:3] + ["--threads 2"])


def test_host_may_write_managed_memory_when_a_copy_of_it_has_returned(run):
    run("platforms/tiny.heddle --generic --set driver.stream_rules.copy_waits=false -- managed")
