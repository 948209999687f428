"""The page of a run that goes on: what it shows, what it obeys, whom it refuses."""
import contextlib
import json
import re
import signal
import socket
import subprocess
import time

import pytest

from browser import Dom, chromium, needs_chromium
import harness
from harness import HEDDLE, PROGRAMS, call, same_file
from live_page import view

TINY = "platforms/tiny.heddle"
TESTER = "tests/system/platforms/threads.heddle --set tester.threads=2"


@needs_chromium
def test_page_of_a_paused_run_shows_its_statistics(tmp_path):
    """A kernel is stepped; the run is ended there."""
    with view(f"{TINY} -- bfs", tmp_path / "s.json") as shown:
        assert shown.state()["time_ps"] == 0
        assert shown.ask("step", "POST")[0] == 200
        while not shown.state()["kernels_ended"]:
            time.sleep(0.02)
        state = shown.wait_for("paused")
        assert shown.ask("waits", "POST")[0] == 200
        text = chromium(tmp_path, "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
                        "--dump-dom", shown.address)
        waits = json.loads(shown.ask("waits")[1])
        topology = shown.ask("topology?of=run")[1]
        status, statistics = shown.ask("statistics")
        assert status == 200 and shown.ask("end", "POST")[0] == 200
        said, status = shown.end()
        assert status == 128 + signal.SIGTERM and "what had been simulated" in said
        done = shown.stats
    page = Dom(text)
    numbers = {e["id"][7:]: e for e in page.with_attribute("id") if e["id"].startswith("number-")}
    assert "kernels_ended" in numbers and "paused" in page.words
    told = {row[0][1]: float(row[1][0]["data-value"]) for row in page.tables["numbers"]
            if "data-value" in row[1][0]}
    assert done["partial"] == "interruption" and state["kernels_ended"] == 1
    assert told["simulated time"] == done["time_ps"] == state["time_ps"]
    assert [row[3] for row in page.rows("kernels")] == [done["kernels"][0]["cycles"]]
    measures = {(e["data-path"], e["data-measure"]): float(e["data-part"])
                for e in page.with_attribute("data-part")}
    asked = sum(done["components"][f"gpu.l2[{i}]"][name] for i in range(2)
                for name in ("reads", "writes", "atomics"))
    assert measures["gpu.l2[*]", "bandwidth"] == 64 * asked
    assert measures["gpu.l2tlb", "utilisation"] == done["components"]["gpu.l2tlb"]["lookups"]
    assert " to " in page.words and "of the whole run" in topology  # the latter so far
    shown_time = f"{done['time_ps'] / 1e6:.6g} µs"
    assert next(row[1][1] for row in page.tables["numbers"]
                if row[0][1] == "simulated time").startswith(shown_time[:5])
    assert state["groups_done"] == done["kernels"][0]["work_groups"] <= state["groups"]
    assert re.search(r"[\d.]+ % of the work-groups of the (launch|\d+ launches) known so far",
                     page.words)
    assert "the longest chain" in waits["text"] and "unfinished" in waits["text"]
    so_far = json.loads(statistics)["components"]
    for path, values in done["components"].items():
        for name, value in values.items():
            if isinstance(value, dict):
                assert so_far[path][name] == {k: value[k] for k in ("count", "sum")}
            else:
                assert so_far[path][name] == value, (path, name)


@needs_chromium
def test_page_says_that_nothing_has_been_simulated_yet(tmp_path):
    with view(f"{TINY} -- vectoradd", tmp_path / "s.json") as shown:
        text = chromium(tmp_path, "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
                        "--dump-dom", shown.address)
        for says in ("nothing has been simulated yet: 'Go on' starts the run", "None has begun.",
                     "Nothing has been simulated since the page was opened."):
            assert says in Dom(text).words
        shown.ask("go", "POST")
        assert shown.end()[1] == 0


def test_topology_is_of_the_last_second(tmp_path):
    """What was done before it does not count: the second kernel uses what the first did not."""
    with view(f"{TINY} -- bfs", tmp_path / "s.json") as shown:
        spans = []
        for _ in range(3):
            before = shown.state()["kernels_ended"]
            shown.ask("step", "POST")
            harness.until(lambda b=before: shown.state()["kernels_ended"] > b)
            now = shown.wait_for("paused")["time_ps"]
            time.sleep(1.1)
            drawn = shown.ask("topology?of=now")[1]
            spans.append(tuple(map(float, re.search(
                r"from ([\d.]+) to ([\d.]+) µs", drawn).groups())))
            assert spans[-1][1] == pytest.approx(now / 1e6, rel=1e-4)
        assert spans[0][0] < spans[1][0] < spans[2][0]
        assert shown.ask("topology?of=never")[0] == 400


SLOW_ANSWERS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>
#define SLOWLY(NAME, CALL, ...) \\
    ssize_t NAME(__VA_ARGS__) \\
    { \\
        ssize_t (*real)(__VA_ARGS__) = dlsym(RTLD_NEXT, #NAME); \\
        usleep(500000); \\
        return real CALL; \\
    }
SLOWLY(send, (a, b, c, d), int a, const void *b, size_t c, int d)
SLOWLY(sendmsg, (a, b, c), int a, const struct msghdr *b, int c)
"""


def test_end_of_a_run_leaves_no_request_unanswered(tmp_path):
    """Not even the one that ends it, though the answer takes longer than the run."""
    slow = tmp_path / "slow.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-", "-o", str(slow)],
                   input=SLOW_ANSWERS, text=True, check=True)
    with view(f"{TINY} -- vectoradd", tmp_path / "s.json",
              ["env", f"LD_PRELOAD={slow}"]) as shown:
        assert shown.ask("end", "POST") == (200, "done\n")
        assert shown.end()[1] == 128 + signal.SIGTERM


def test_strangers_and_wrong_requests_are_refused(measure, tmp_path):
    """And change nothing."""
    plain = measure(f"{TINY} -- matmul_tiled")
    with view(f"{TINY} -- matmul_tiled", tmp_path / "s.json") as shown:
        base, token, _ = re.match(r"(http://127\.0\.0\.1:\d+/)([0-9a-f]{32})(/)",
                                  shown.address).groups()
        for wrong in "", "0" * 32, token[:-1], token + "0", token.upper() + "x", "%00" * 32:
            assert shown.ask(f"{wrong}/state", base=base)[0] == 403, wrong
            assert shown.ask(f"{wrong}/end", "POST", base=base)[0] == 403, wrong
        assert shown.ask("nothing")[0] == shown.ask("nothing", "POST")[0] == 404
        assert shown.ask("pause?process=2", "POST")[0] == 404
        assert shown.ask("topology?measure=beauty")[0] == 400
        assert shown.ask("pause", "PUT")[0] == 405
        assert shown.ask("pause", "POST", data=b"x" * 100000)[0] == 413
        assert shown.ask("a" * 200000)[0] in (414, 431)
        port = int(base.split(":")[2].strip("/"))
        for half in b"", b"GET /", f"GET /{token}/state HTTP/1.1\r\n".encode(), b"\0" * 5000:
            with socket.create_connection(("127.0.0.1", port)) as gone:
                gone.sendall(half)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
            # By what address of this machine others are reached; nothing is sent to them. Without a
            # network there is none.
            with contextlib.suppress(OSError):
                asked.connect(("192.0.2.1", port))
            outer = asked.getsockname()[0]
        if outer != "0.0.0.0":
            with pytest.raises(OSError), socket.create_connection((outer, port), timeout=2):
                pass
        assert shown.ask("go", "POST")[0] == 200
        assert shown.end()[1] == 0
        same_file(plain.stats_file, shown.stats_file)


def test_connections_that_do_not_ask_make_room(measure, tmp_path):
    plain = measure(f"{TINY} -- vectoradd")
    with view(f"{TINY} -- vectoradd", tmp_path / "s.json") as shown, \
            contextlib.ExitStack() as idle:
        port = int(shown.address.split(":")[2].partition("/")[0])
        for i in range(60):
            one = idle.enter_context(socket.create_connection(("127.0.0.1", port)))
            one.sendall(b"GET /" * (i % 2))
        assert shown.state()["state"] == "paused"
        assert shown.ask("go", "POST")[0] == 200
        assert shown.end()[1] == 0
        same_file(plain.stats_file, shown.stats_file)


def test_a_platform_that_drives_itself_is_shown(measure, tmp_path):
    plain = measure(TESTER)
    with view(f"{TESTER} --threads 2", tmp_path / "s.json") as shown:
        assert shown.state()["processes"][0]["pid"] == shown.process.pid
        assert shown.ask("go", "POST")[0] == 200
        assert shown.end()[1] == 0
        same_file(plain.stats_file, shown.stats_file)


def test_each_process_has_a_place(tmp_path):
    script = "$0 64 && $0 64"
    program = PROGRAMS / "vectoradd"
    with view(f"{TINY} -- /bin/sh -c '{script}' {program}", tmp_path / "s.json") as shown:
        shown.ask("go", "POST")
        state = shown.wait_for("paused", 2)
        assert [p["number"] for p in state["processes"]] == [1, 2]
        assert shown.state(1)["state"] == "ended"
        shown.ask("go?process=2", "POST")
        assert shown.end()[1] == 0


def test_wrong_ports_are_refused(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for text, says in ((port, "Address already in use"), ("no", "from 1 to 65535"),
                           (70000, "from 1 to 65535")):
            call([HEDDLE, "run", TINY, f"--view={text}", "--", "/bin/true"], says, status=1)
    call([HEDDLE, "run", TINY, "--view-paused", "--", "/bin/true"], "give '--view'", status=2)
