"""Runs a batch of points, one after the other: python3 .../worker.py BATCH.json [PARENT]

A sweep starts it (see heddle.sweeps.pool). It writes a line of JSON for each point to BATCH.jsonl,
at most a quarter of a second late, so that what is done stays done. The command reads these into
the database, which no worker touches. A point that fails is a result, too; the worker itself fails
only when it cannot write.

Processes end with those that started them (PR_SET_PDEATHSIG; the simulator asks for it by
HEDDLE_PARENT), so killing the command leaves none behind on its machine.

A small point takes 13 ms, so this file imports little and does nothing twice.
"""
from __future__ import annotations

import functools
import gc
import json
import os
import re
import resource
import select
import signal
import sys
import time

TYPE_CHECKING = False  # as type checkers know it: typing takes as long to import as all the rest
if TYPE_CHECKING:
    from typing import Any, Iterable

WALL_FACTOR = 20    # of the limit of CPU time: then a process waits for something in vain
OUTPUT_MAX = 1 << 20
TOGETHER = 0.25     # seconds of points that a kill may cost
ENCODER = json.JSONEncoder(separators=(",", ":"))
INDEX = re.compile(r"\[\d+\]")
LIMITED = "took more than the limit of {:g} CPU seconds"
OVERDUE = "took more than {:g} seconds of the clock, with a limit of {:g} CPU seconds"


def end_with_parent() -> None:
    import ctypes  # takes 3 ms, so once a batch
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if len(sys.argv) > 2 and os.getppid() != int(sys.argv[2]):  # it has ended before
        sys.exit(1)


def logged(log: str) -> list[tuple[int, int, str, int, int]]:
    """What a process opens when it is spawned: nothing to read, and LOG.out and LOG.err."""
    actions = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0)]
    for descriptor, ending in ((1, "out"), (2, "err")):
        actions.append((os.POSIX_SPAWN_OPEN, descriptor, f"{log}.{ending}",
                        os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666))
    return actions


@functools.cache
def environment() -> dict[bytes, bytes]:
    """The environment at the first point. To encode it each time costs a tenth of a millisecond."""
    return dict(os.environb)


def allowance(limit: float) -> tuple[int, int]:
    """Two limits of CPU time: for a program that obeys SIGXCPU, and for one that does not."""
    soft, hard = max(int(limit + 0.999), 1), resource.getrlimit(resource.RLIMIT_CPU)[1]
    return (soft, soft + 5) if hard == resource.RLIM_INFINITY else (min(soft, hard),
                                                                    min(soft + 5, hard))


def limit_what_starts(soft: int) -> None:
    """A process may start others before its parent runs again to limit it, and these would never be
    limited. So child processes inherit the limit. The worker has it, too, and ignores it."""
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def longest(limit: float) -> float:
    """Seconds of the clock that a process has for so many of CPU time."""
    return WALL_FACTOR * limit + 60


def run(words: list[str], log: str, limit: float | None) -> tuple[int, float, float]:
    """Exit status (negative: a signal), CPU and wall seconds."""
    began = time.monotonic()
    if limit is not None:
        soft, hard = allowance(limit)
        limit_what_starts(soft)
    pid = os.posix_spawn(words[0], words, environment(), file_actions=logged(log), setpgroup=0,
                         setsigdef=[signal.SIGXCPU])
    if limit is not None:
        resource.prlimit(pid, resource.RLIMIT_CPU, (soft, hard))
        watch(pid, longest(limit))
    _, status, usage = os.wait4(pid, 0)
    return (os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime,
            time.monotonic() - began)


def watch(pid: int, seconds: float) -> None:
    """Waits until the process ends, or ends it when the time is over."""
    descriptor = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    if not poll.poll(seconds * 1000):
        os.killpg(pid, signal.SIGKILL)
    os.close(descriptor)


def was_limited(status: int, cpu: float, wall: float, limit: float | None) -> str | None:
    """What to say of a process that a limit ended. The kernel counts the time of one process, and
    by its clock's ticks; that of a process whose parent was killed is not counted."""
    killed = status in (128 + signal.SIGKILL, -signal.SIGKILL)
    if limit is None:
        return None
    if status in (128 + signal.SIGXCPU, -signal.SIGXCPU) or (killed and cpu > 0.8 * limit):
        return LIMITED.format(limit)
    return OVERDUE.format(longest(limit), limit) if killed and wall > longest(limit) else None


# ---- what is kept of a run


def kernels(launches: list[dict[str, Any]]) -> list[list[Any]]:
    """name, GPU, launches, cycles, picoseconds, instructions; in the order of their first
    launch."""
    rows: dict[tuple[str, int], list[Any]] = {}
    for launch in launches:
        name, gpu = launch["name"], launch.get("gpu", 0)
        row = rows.setdefault((name, gpu), [name, gpu, 0, 0, 0, 0])
        row[2] += 1
        row[3] += launch.get("cycles", 0)
        row[4] += launch.get("end_ps", 0) - launch.get("start_ps", 0)
        row[5] += launch.get("wavefront_instructions", 0)
    return list(rows.values())


@functools.cache
def over_arrays(path: str) -> str:
    return INDEX.sub("[*]", path)


def components(statistics: dict[str, Any]) -> dict[str, dict[str, int]]:
    """Counters by path and name: sums over arrays; what is 0 is left out. A histogram gives its
    count and sum."""
    sums: dict[str, dict[str, int]] = {}
    for section in ("components", "links"):
        for path, values in statistics.get(section, {}).items():
            row = sums.setdefault(over_arrays(path), {})
            for name, value in values.items():
                if not value or name == "latency_ps":
                    continue
                if type(value) is int:
                    row[name] = row.get(name, 0) + value
                elif type(value) is dict:
                    for part, number in value.items():
                        if number and type(number) is int and part not in ("min", "max"):
                            part = f"{name}.{part}"
                            row[part] = row.get(part, 0) + number
    for clock, values in statistics.get("clocks", {}).items():
        sums[f"clock {clock}"] = {"cycles": values.get("cycles", 0)}
    return sums


def kept(path: str) -> dict[str, Any]:
    """The part of a statistics file that is kept."""
    with open(path, encoding="utf-8") as file:
        statistics = json.load(file)
    host = statistics.get("host", {})
    return {"time_ps": statistics["time_ps"],
            "kernels": kernels(statistics.get("kernels", [])),
            "components": components(statistics),
            "model": statistics.get("stamp", {}).get("model", ""),
            "host": [host.get("kips"), host.get("peak_rss_bytes")]}


def read_tail(path: str) -> str:
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - OUTPUT_MAX))
        return file.read().decode(errors="replace")


def printed(patterns: dict[str, str], log: str) -> tuple[dict[str, float], str]:
    """Named numbers of what the program printed, the last of each, and what is missing."""
    lines = read_tail(f"{log}.out").splitlines() if patterns else []
    found: dict[str, float] = {}
    for name, pattern in patterns.items():
        matches = [match[1] for line in lines if (match := re.search(pattern, line))]
        try:
            found[name] = float(matches[-1])
        except IndexError:
            return found, f"no line of what it printed matches '{pattern}'"
        except (TypeError, ValueError):
            return found, f"'{matches[-1]}', which '{pattern}' found, is not a number"
    return found, ""


def complaint(texts: Iterable[str], status: int) -> str:
    """The last thing that a run complained about; what heddle says of statistics after a failure
    is none."""
    lines = [line.strip() for text in texts for line in text.splitlines()
             if line.strip() and "nothing was written to" not in line]
    marked = [line for line in lines if "error:" in line or line.startswith(("heddle", "FAIL"))]
    message = (marked or lines or ["it printed nothing"])[-1]
    return f"{f'signal {-status}' if status < 0 else f'status {status}'}: {message[:300]}"


def result(ran: Ran, batch: dict[str, Any]) -> dict[str, Any]:
    status, log = ran.status, ran.log
    if status != 0:
        return {"failed": was_limited(status, ran.cpu, ran.wall, batch["limit"]) or complaint(
            map(read_tail, (f"{log}.out", f"{log}.err")), status)}
    try:
        statistics = kept(f"{log}.json")
    except (OSError, ValueError, KeyError):
        return {"failed": "it wrote no statistics; does it use the GPU?"}
    numbers, missing = printed(batch["results"], log)
    return {"failed": missing} if missing else {**statistics, "printed": numbers}


# ---- a batch


class Ran:
    """A point that has ended, and whose files are where it wrote them."""

    def __init__(self, point: dict[str, Any], log: str, status: int, cpu: float, wall: float):
        self.point, self.log, self.status, self.cpu, self.wall = point, log, status, cpu, wall


def run_point(point: dict[str, Any], batch: dict[str, Any]) -> Ran:
    log = f"{batch['work']}/{point['key']}"
    words = [batch["heddle"], "run", *point["words"]]
    words[words.index("{statistics}")] = f"{log}.json"
    try:
        return Ran(point, log, *run(words, log, batch["limit"]))
    except OSError as error:
        sys.exit(f"cannot run '{words[0]}': {error}")


def keep(log: str, folder: str, number: int, statistics: bool) -> None:
    """Logs get their places when they are whole: the worker may be killed."""
    for ending in ("out", "err"):
        if os.stat(f"{log}.{ending}").st_size:
            os.rename(f"{log}.{ending}", f"{folder}/logs/{number:06}.{ending}")
        else:
            os.unlink(f"{log}.{ending}")
    try:
        if statistics:
            os.rename(f"{log}.json", f"{folder}/statistics/{number:06}.json")
        else:
            os.unlink(f"{log}.json")
    except FileNotFoundError:
        pass


def tell(ran: Ran, batch: dict[str, Any]) -> bytes:
    """A line of the results. Its files are in their places then."""
    number = ran.point["number"]
    record = result(ran, batch)
    keep(ran.log, batch["folder"], number, batch["keep"])
    return ENCODER.encode({
        "point": number, "key": ran.point["key"], "status": ran.status,
        "cpu": round(ran.cpu, 6), "wall": round(ran.wall, 6), **record}).encode() + b"\n"


def write(out: int, lines: bytes) -> None:
    if os.write(out, lines) != len(lines):  # nothing of the last one counts
        os.write(out, b"\n")
        raise OSError("the line was cut off: is the disk full?")


def run_points(points: Iterable[dict[str, Any]], batch: dict[str, Any], out: int) -> None:
    """What small points wrote is read for some of them at once: behind a simulation the caches of
    the processor have nothing of this program, and reading takes three times as long."""
    ran: list[Ran] = []
    reported = time.monotonic()
    for point in points:
        ran.append(run_point(point, batch))
        if time.monotonic() - reported >= TOGETHER:
            write(out, b"".join([tell(one, batch) for one in ran]))
            ran.clear()
            reported = time.monotonic()
    write(out, b"".join([tell(one, batch) for one in ran]))


def main() -> int:
    path = os.path.abspath(sys.argv[1])
    with open(path, encoding="utf-8") as file:
        batch = json.load(file)
    end_with_parent()
    gc.disable()  # there are no cycles
    os.environ["HEDDLE_PARENT"] = str(os.getpid())
    try:
        out = os.open(f"{path}l", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        run_points(batch["points"], batch, out)
        spent = json.dumps({"worker_seconds": time.process_time()}).encode() + b"\n"
        os.write(out, spent)
    except OSError as error:
        print(f"cannot write '{path}l': {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
