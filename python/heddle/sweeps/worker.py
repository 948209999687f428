"""Runs a batch of points, one after the other: python3 .../worker.py BATCH.json [PARENT]

An engine starts it (see heddle.sweeps.engine). It writes a line of JSON for each point to
BATCH.jsonl, at once, so that what is done stays done, and at the end the file
BATCH.json.done; the command reads these into the database,
which no worker touches: they may run on other machines. A point that fails is a result, too; the
worker itself fails only when it cannot write.

Processes end with those that started them (PR_SET_PDEATHSIG; the simulator asks for it by
HEDDLE_PARENT), so killing the command leaves none behind on its machine.

A small point takes 15 ms, so this file imports little and does nothing twice.
"""
from __future__ import annotations

import json
import os
import re
import resource
import select
import signal
import sys
import time
from typing import Any, Iterable

WALL_FACTOR = 20    # of the limit of CPU time: then a process waits for something in vain
MOST_OUTPUT = 1 << 20
INDEX = re.compile(r"\[\d+\]")
LIMITED = "took more than the limit of {:g} CPU seconds"


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


def run(words: list[str], log: str, limit: float | None) -> tuple[int, float, float]:
    """Exit status (negative: a signal), CPU and wall seconds."""
    began = time.monotonic()
    pid = os.posix_spawn(words[0], words, os.environ, file_actions=logged(log), setpgroup=0)
    if limit is not None:
        most = max(int(limit + 0.999), 1)
        resource.prlimit(pid, resource.RLIMIT_CPU, (most, most + 5))
        watch(pid, WALL_FACTOR * limit + 60)
    _, status, usage = os.wait4(pid, 0)
    return (os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime,
            time.monotonic() - began)


def watch(pid: int, seconds: float) -> None:
    """Until it ends; or ends it."""
    descriptor = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    if not poll.poll(seconds * 1000):
        os.killpg(pid, signal.SIGKILL)
    os.close(descriptor)


def was_limited(status: int, cpu: float, limit: float | None) -> bool:
    """The kernel counts the time of one process, and by its clock's ticks."""
    if limit is None:
        return False
    return status in (128 + signal.SIGXCPU, -signal.SIGXCPU) or (
        status in (128 + signal.SIGKILL, -signal.SIGKILL) and cpu > 0.8 * limit)


# ---- what is kept of a run


def kernels(statistics: dict[str, Any]) -> list[list[Any]]:
    """name, launches, cycles, picoseconds, instructions; in the order of their first launch."""
    rows: dict[str, list[Any]] = {}
    for launch in statistics.get("kernels", ()):
        row = rows.setdefault(launch["name"], [launch["name"], 0, 0, 0, 0])
        row[1] += 1
        row[2] += launch.get("cycles", 0)
        row[3] += launch.get("end_ps", 0) - launch.get("start_ps", 0)
        row[4] += launch.get("wavefront_instructions", 0)
    return list(rows.values())


def components(statistics: dict[str, Any]) -> list[list[Any]]:
    """path, name, value: sums over arrays; what is 0 is left out. Of a histogram count and sum."""
    sums: dict[tuple[str, str], int] = {}
    for section in ("components", "links"):
        for path, values in statistics.get(section, {}).items():
            whole = INDEX.sub("[*]", path) if "[" in path else path
            for name, value in values.items():
                if isinstance(value, dict):
                    for part, number in value.items():
                        if number and part not in ("min", "max") and type(number) is int:
                            key = whole, f"{name}.{part}"
                            sums[key] = sums.get(key, 0) + number
                elif value and type(value) is int and name != "latency_ps":
                    sums[whole, name] = sums.get((whole, name), 0) + value
    for clock, values in statistics.get("clocks", {}).items():
        sums[f"clock {clock}", "cycles"] = values.get("cycles", 0)
    return [[path, name, value] for (path, name), value in sums.items()]


def read_tail(path: str) -> str:
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - MOST_OUTPUT))
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
    said = (marked or lines or ["it printed nothing"])[-1]
    return f"{f'signal {-status}' if status < 0 else f'status {status}'}: {said[:300]}"


def result(status: int, log: str, batch: dict[str, Any], cpu: float) -> dict[str, Any]:
    if status != 0:
        limit = batch["limit"]
        limited = was_limited(status, cpu, limit)
        return {"failed": LIMITED.format(limit) if limited else complaint(
            map(read_tail, (f"{log}.out", f"{log}.err")), status)}
    try:
        with open(f"{log}.json", encoding="utf-8") as file:
            statistics = json.load(file)
    except (OSError, ValueError):
        return {"failed": "it wrote no statistics; does it use the GPU?"}
    numbers, missing = printed(batch["results"], log)
    if missing:
        return {"failed": missing}
    host = statistics.get("host", {})
    return {"time_ps": statistics.get("time_ps", 0), "kernels": kernels(statistics),
            "components": components(statistics), "printed": numbers,
            "model": statistics.get("stamp", {}).get("model", ""),
            "host": [host.get("kips"), host.get("peak_rss_bytes")]}


# ---- a batch


def keep(log: str, folder: str, number: int, statistics: bool) -> None:
    """Logs get their places when they are whole: another worker may run the same point."""
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


def run_point(point: dict[str, Any], batch: dict[str, Any]) -> dict[str, Any]:
    log = f"{batch['work']}/{point['key']}"
    words = [batch["heddle"], "run", *point["words"]]
    words[words.index("{statistics}")] = f"{log}.json"
    try:
        status, cpu, wall = run(words, log, batch["limit"])
    except OSError as error:
        sys.exit(f"cannot run '{words[0]}': {error}")
    told = result(status, log, batch, cpu)
    keep(log, batch["folder"], point["number"], batch["keep"])
    return {"point": point["number"], "key": point["key"], "status": status,
            "cpu": round(cpu, 6), "wall": round(wall, 6), **told}


def already_done(out: int) -> set[str]:
    """Keys of points that an earlier worker of this batch has run; what it left half is ended."""
    with open(out, encoding="utf-8", errors="replace", closefd=False) as file:
        text = file.read()
    if text and not text.endswith("\n"):
        os.write(out, b"\n")
    keys = set()
    for line in text.splitlines():
        try:
            keys.add(json.loads(line).get("key", ""))
        except ValueError:
            continue
    return keys


def main() -> int:
    path = os.path.abspath(sys.argv[1])
    with open(path, encoding="utf-8") as file:
        batch = json.load(file)
    end_with_parent()
    os.chdir(batch["directory"])
    os.environ.update(batch["environment"])
    os.environ["HEDDLE_PARENT"] = str(os.getpid())
    try:
        out = os.open(f"{path}l", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        done = already_done(out)
        for point in batch["points"]:
            if point["key"] in done:
                continue
            line = json.dumps(run_point(point, batch), separators=(",", ":")).encode() + b"\n"
            if os.write(out, line) != len(line):  # nothing of it counts
                os.write(out, b"\n")
                raise OSError("the line was cut off: is the disk full?")
        spent = json.dumps({"worker_seconds": time.process_time()}).encode() + b"\n"
        os.write(out, spent)
        os.close(os.open(f"{path}.done", os.O_WRONLY | os.O_CREAT, 0o666))
    except OSError as error:
        print(f"cannot write '{path}l': {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
