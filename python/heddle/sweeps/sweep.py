"""`heddle sweep`: plans, checks, has workers run what is not done, and writes tables.

The command only reads what workers write, so it costs next to nothing while they work. What it is
told is checked before anything runs: parameters and values by `heddle check`, programs by whether
they are there. A combination that the platform refuses is a point that fails, and is named.
"""
from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
from typing import Any, Callable, Iterator, Sequence

from heddle.base import provenance
from heddle.base.command_line import Options
from heddle.base.files import csv_text, digest, digest_of, write
from heddle.base.mistakes import Mistake
from heddle.base.progress import duration, progress_on
from heddle.sweeps import plan as plans
from heddle.sweeps.database import DONE, FAILED, Database, Reading
from heddle.sweeps.plan import Plan, Point
from heddle.sweeps.pool import Pool, cut
from heddle.sweeps.values import QUANTITY, family_of, number_of, range_of

POLL = 0.5           # seconds between looks at what workers have done
# Neither site packages nor the user's variables are needed, and each costs time.
WORKER = [sys.executable, *"-S -E -P -B".split(),
          str(pathlib.Path(__file__).with_name("worker.py").resolve())]
BUILD_SECONDS = 2.0  # CPU time to compile a platform for its parameters ...
SAVED = 0.1          # ... which saves this part of its points' CPU time (tiny, matmul_tiled: 0.06)
SHOWN = 40           # points of the table on the terminal
NAMED = 20           # failures on the terminal


def plan_of(options: Options) -> Plan:
    """The plan of a sweep file, or of the command line."""
    more: dict[str, Any] = {"limit": options.limit} if options.limit else {}
    if options.generic:
        more["generic"] = True
    if options.files[0].endswith(".toml"):
        if len(options.files) > 1:
            raise Mistake(f"'{options.files[1]}' is one argument too many after a sweep file",
                          usage=True)
        for name, given in (("--vary", options.vary), ("--set", options.set),
                            ("--constraint", options.constraint), ("--read", options.read),
                            ("--sample", options.sample), ("--seed", options.seed),
                            ("--", options.program)):
            if given:
                raise Mistake(f"'{name}' does not go with a sweep file; "
                              f"set it in {options.files[0]}", usage=True)
        return dataclasses.replace(plans.read(pathlib.Path(options.files[0])), **more)
    results = {}
    for text in options.read:
        name, equals, pattern = text.partition("=")
        if not equals or not name or not pattern:
            raise Mistake(f"'--read {text}' is not NAME=REGEX", usage=True)
        results[name] = pattern
    return plans.of_command_line(
        options.files, options.vary, options.program, set=tuple(options.set),
        constraints=tuple(options.constraint), sample=options.sample, seed=options.seed or 1,
        results=results, **more)


# ---- checks before anything runs


def plain(path: str) -> str:
    return re.sub(r"\[[^]]*\]", "", path)


def _is_allowed(row: dict[str, Any] | None, value: str) -> bool:
    """True if the declarations allow the point; otherwise `heddle check` is asked, which takes as
    long as a small point."""
    if not row:
        return False
    if "choices" in row:
        return value in row["choices"]
    now, other = QUANTITY.fullmatch(row["value"]), QUANTITY.fullmatch(value)
    family = family_of(now[2]) if now else None
    if not row["range"] or not other or not family or other[2] not in family:
        return False
    number, ends = number_of(value) or 0, range_of(row["range"])
    return ends is not None and ends[0] <= number <= ends[1] and number == int(number) and (
        "pow2" not in row["range"] or int(number).bit_count() == 1)


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Toolkit:
    """The command `heddle`, as a program."""

    def __init__(self, path: str, hip: str):
        self.path, self.hip = path, hip
        self.seconds = 0.0  # CPU time of what was asked, but for compiling

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        before = _of_children()
        done = subprocess.run([self.path, *words], capture_output=True, text=True, check=False)
        if words[0] != "build":
            self.seconds += _of_children() - before
        return done

    def check_platform(self, plan: Plan, platform: str) -> None:
        """Checks the description, then each value of what is varied, all names at once."""
        sets = [word for setting in plan.set for word in ("--set", setting)]
        known = self._rows(platform, sets)
        asked = {name: [value for value in values if not _is_allowed(known.get(plain(name)), value)]
                 for name, values in plan.vary.items()}
        mistakes: list[str] = []
        for i in range(max((len(values) for values in asked.values()), default=0)):
            varied = [f"{name}={values[i]}" for name, values in asked.items() if i < len(values)]
            mistakes += [line for line in self._mistakes(platform, sets, varied)
                         if line not in mistakes]
        if mistakes:
            raise Mistake(f"{plan.place}: on '{platform}':\n" + "\n".join(mistakes), usage=True)

    def _rows(self, platform: str, sets: list[str]) -> dict[str, dict[str, Any]]:
        """What `heddle params` says of each parameter, by its path without indices."""
        made = self.call("params", "--json", platform, *sets)
        if made.returncode != 0:
            raise Mistake(f"'{platform}' cannot be used:\n{made.stderr.strip()}")
        return {plain(row["parameter"]): row for row in json.loads(made.stdout)
                if row["source"] not in ("let", "slot")}

    def _mistakes(self, platform: str, sets: list[str], varied: list[str]) -> list[str]:
        """What is wrong with these values by themselves. That they do not go together is for the
        points to say."""
        words = [word for setting in varied for word in ("--set", setting)]
        if self.call("check", platform, *sets, *words).returncode == 0:
            return []
        return [line for setting in varied for line in self._mistakes_of(platform, sets, setting)]

    def _mistakes_of(self, platform: str, sets: list[str], setting: str) -> Iterator[str]:
        made = self.call("check", "--json", platform, *sets, "--set", setting)
        try:
            found = json.loads(made.stdout)
        except ValueError:
            raise Mistake(f"'{platform}' cannot be checked:\n{made.stderr.strip()}") from None
        for entry in found:
            if entry["severity"] == "error" and entry["file"] == "--set":
                notes = "".join(f" ({note['message']})" for note in entry["notes"]
                                if note["kind"] == "help")
                yield f"  {setting}: {entry['message']} [{entry['code']}]{notes}"

    def program_digest(self, program: plans.Program) -> str:
        if not program.command:
            return ""
        word = program.command[0]
        path = word if "/" in word else shutil.which(word)
        if not path:
            raise Mistake(f"there is no program '{word}'", usage=True)
        found = digest_of(path, "cannot read the program")
        if not os.access(path, os.X_OK):
            raise Mistake(f"'{path}' is not a program: it is not executable", usage=True)
        return found

    def platform_digest(self, platform: str, settings: Sequence[str], generic: bool) -> str:
        """A digest of all that the description and its components consist of, by building it once.
        The dump has the hash of the model, and so of all that results depend on."""
        sets = [word for setting in settings for word in ("--set", setting)]
        dumped = self.call("dump", "--json", "--part", "measures", platform)
        built = self.call("build", platform, *sets, *(["--generic"] if generic else []))
        names = [pathlib.Path(line).parent.name for line in built.stdout.splitlines()]
        return digest(dumped.stdout, *names)


# ---- what is run


class Sweep:
    """A plan in its folder."""

    def __init__(self, plan: Plan, folder: pathlib.Path, toolkit: Toolkit, jobs: int = 1,
                 keep: bool = False, start: Sequence[str] = ()):
        self.plan, self.folder, self.toolkit = plan, folder, toolkit
        self.jobs, self.keep, self.start = jobs, keep, start
        self.points = plan.points()
        for platform in plan.platforms:
            toolkit.check_platform(plan, platform)
        self.platforms = len({(p.platform, p.settings) for p in self.points})
        self.programs = {p.name: toolkit.program_digest(p) for p in plan.programs}
        self.driver_seconds = 0.0

    def keys(self) -> list[str]:
        """Digests of what the result of each point depends on."""
        hip = digest_of(self.toolkit.hip, "cannot read") if self.toolkit.hip else ""
        firsts = {p.platform: p.settings for p in reversed(self.points)}
        generic = self.plan.generic or self.platforms > 1  # what is built anyway
        of_platform = {platform: self.toolkit.platform_digest(platform, settings, generic)
                       for platform, settings in firsts.items()}
        same = digest(hip, digest_of(self.toolkit.path, "cannot read"),
                      json.dumps(self.plan.results), *self.plan.options)
        return [digest(same, of_platform[p.platform], self.programs[p.program],
                       json.dumps([p.platform, p.settings, p.command])) for p in self.points]

    def is_worth_compiling(self, cpu_seconds: float) -> bool:
        """Points that take so long on platforms that read their parameters at run time. Results
        are the same, byte for byte."""
        of_platform = len(self.points) / self.platforms
        return self.platforms == 1 or SAVED * cpu_seconds * of_platform > BUILD_SECONDS

    def _words(self, point: Point, generic: bool) -> list[str]:
        return [point.platform, *(w for s in point.settings for w in ("--set", s)),
                *(["--generic"] if generic else []), "--stats", "{statistics}",
                "--progress", "none", *self.plan.options,
                *(["--", *point.command] if point.command else [])]

    def builds(self, points: Sequence[Point]) -> list[list[str]]:
        """Commands that build the platforms of `points`. One that fails is no failure here: the
        points that need it fail, and say why."""
        platforms = sorted({(str(pathlib.Path(p.platform).resolve()), p.settings) for p in points})
        jobs_each = max(1, self.jobs // max(len(platforms), 1))
        return [["setpriv", "--pdeathsig", "KILL", self.toolkit.path, "build", platform,
                 *(w for s in settings for w in ("--set", s)), "--jobs", str(jobs_each)]
                for platform, settings in platforms]

    def batches(self, points: Sequence[Point], keys: dict[int, str],
                generic: bool) -> list[list[str]]:
        """Commands of workers. Their batches are written to a folder of this session."""
        work = self.folder.resolve() / "work" / f"{time.time_ns()}-{os.getpid()}"
        work.mkdir(parents=True)
        if self.keep:
            (self.folder / "statistics").mkdir(exist_ok=True)
        same = {"heddle": self.toolkit.path, "folder": str(self.folder.resolve()),
                "work": str(work), "limit": self.plan.limit, "results": dict(self.plan.results),
                "keep": self.keep}
        commands, at = [], 0
        for i, size in enumerate(cut(len(points), self.jobs)):
            listed = [{"number": p.number, "key": keys[p.number], "words": self._words(p, generic)}
                      for p in points[at:at + size]]
            at += size
            path = work / f"{i:04}.json"
            path.write_text(json.dumps({**same, "points": listed}), encoding="utf-8")
            commands.append([*self.start, *WORKER, str(path),
                             *([] if self.start else [str(os.getpid())])])
        return commands

    # ---- running

    def run(self, retry: bool = False, say: Callable[[str], None] | None = None) -> Database:
        """Returns the database, open. Ctrl-C and SIGTERM end it and keep what is done."""
        keys = self.keys()
        database = Database(self.folder)
        database.open_plan(self.plan)
        again = database.add(self.points, keys)
        if again and say:
            print(f"{again} points are run again: what they depend on has changed",
                  file=sys.stderr)
        database.collect()  # what workers did before a kill
        database.clear_work()
        if retry:
            database.retry()
        waiting = database.waiting()
        database.finished.clear()
        if waiting:
            database.begin(provenance.collect(self.toolkit.path))
            before = signal.signal(signal.SIGTERM, _interrupt)
            try:
                self._run(database, {p.number: key for p, key in zip(self.points, keys)}, say)
            except KeyboardInterrupt:
                raise Mistake("interrupted; the same command goes on") from None
            finally:
                signal.signal(signal.SIGTERM, before)
                database.collect()
        self.driver_seconds = time.process_time() + database.worker_seconds + self.toolkit.seconds
        return database

    def _run(self, database: Database, keys: dict[int, str],
             say: Callable[[str], None] | None) -> None:
        generic = self.plan.generic
        if generic is None and (self.platforms == 1 or len(database.waiting()) <= 2 * self.jobs):
            generic = False
        began = time.monotonic()
        if generic is None and database.mean_cost() is None:
            waiting = self._waiting(database)
            some = [waiting[i * len(waiting) // self.jobs] for i in range(self.jobs)]
            self._run_some(database, some, keys, True, began, say)
        if generic is None:
            generic = not self.is_worth_compiling(database.mean_cost() or 0.0)
        self._run_some(database, self._waiting(database), keys, generic, began, say)

    def _waiting(self, database: Database) -> list[Point]:
        waiting = database.waiting()
        return [point for point in self.points if point.number in waiting]

    def _run_some(self, database: Database, points: Sequence[Point], keys: dict[int, str],
                  generic: bool, began: float, say: Callable[[str], None] | None) -> None:
        if not points:
            return
        reported = time.monotonic()

        def look() -> None:
            nonlocal reported
            if time.monotonic() - reported < POLL:
                return
            reported = time.monotonic()
            database.collect()
            if say:
                say(self._progress(database, reported - began))

        try:
            with Pool(self.jobs, self.folder / "workers.log") as pool:
                pool.run(() if generic else self.builds(points), look, POLL)
                pool.run(self.batches(points, keys, generic), look, POLL)
        except OSError as error:
            raise Mistake(f"cannot write to the folder '{self.folder}': {error.strerror}") from None
        database.collect()
        left = database.waiting() & {point.number for point in points}
        if left:
            raise Mistake(f"{len(left)} points have not been run: {pool.complaint()} (all that "
                          f"workers said is in {pool.path})")
        database.clear_work()

    def _progress(self, database: Database, seconds: float) -> str:
        done = len(database.finished)
        total = done + len(database.waiting())
        failed = sum(state == FAILED for state, _ in database.finished)
        left = f", about {duration(seconds * (total - done) / done)} left" if done else ""
        return (f"{done} of {total} points" + (f", {failed} failed" if failed else "")
                + f", {sum(cpu for _, cpu in database.finished):.0f} CPU s{left}")


def _interrupt(_signal: int, _frame: Any) -> None:
    raise KeyboardInterrupt


# ---- what is told


def tables(folder: pathlib.Path) -> tuple[list[str], list[list[str]]]:
    """Names of columns and a row for each point: settings and main results."""
    reading = Reading(folder)
    plan = reading.plan()
    names = [name for name in _axes(plan)]
    columns = ["point", "platform", "program", *(name.strip("{}") for name in names), "state",
               "time_ps", "kernels_ps", "cycles", "instructions", *plan["results"]]
    settings = _by_point(reading.rows("SELECT point, name, value FROM settings"))
    printed = _by_point(reading.rows("SELECT point, name, value FROM printed"))
    rows = []
    for row in reading.rows("SELECT point, platform, program, state, time_ps, kernels_ps, cycles, "
                            "instructions FROM points ORDER BY point"):
        own, values = settings.get(row[0], {}), printed.get(row[0], {})
        cells = [*row[:3], *(own.get(name, "") for name in names), *row[3:],
                 *(values.get(name) for name in plan["results"])]
        rows.append(["" if cell is None else f"{cell:.9g}" if isinstance(cell, float)
                     else str(cell) for cell in cells])
    reading.close()
    return columns, rows


def _axes(plan: dict[str, Any]) -> list[str]:
    inputs = dict.fromkeys(f"{{{name}}}" for p in plan["programs"] for name in p["inputs"])
    return [*inputs, *plan["vary"]]


def _by_point(rows: Sequence[tuple[Any, ...]]) -> dict[int, dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    for point, name, value in rows:
        found.setdefault(point, {})[name] = value
    return found


def host_csv(folder: pathlib.Path) -> str:
    reading = Reading(folder)
    rows = reading.rows("SELECT point, cpu_seconds, wall_seconds, kips, peak_rss FROM host "
                        "ORDER BY point")
    reading.close()
    return csv_text(["point", "cpu_seconds", "wall_seconds", "kips", "peak_rss_bytes"],
                    [["" if cell is None else cell for cell in row] for row in rows])


def aligned(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table for a terminal, without columns that are the same or empty in all rows."""
    shown = [i for i, name in enumerate(columns)
             if i == 0 or name == "cycles" or len({row[i] for row in rows}) > 1]
    lines = [[columns[i] for i in shown], *([row[i] for i in shown] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(shown))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths)).rstrip()
                     for line in lines)


def name_failures(database: Database, points: Sequence[Point]) -> int:
    """Names failures, those with the same message together. Returns how many there are."""
    failures = database.failures()
    names = {point.number: point.name for point in points}
    by_message: dict[str, list[str]] = {}
    for number, message in failures:
        by_message.setdefault(message, []).append(f"{number} ({names[number]})")
    if failures:
        print(f"{len(failures)} points failed:", file=sys.stderr)
    for message, which in list(by_message.items())[:NAMED]:
        more = f" and {len(which) - 3} more" if len(which) > 3 else ""
        print(f"  {', '.join(which[:3])}{more}: {message}", file=sys.stderr)
    if len(by_message) > NAMED:
        print(f"  and {len(by_message) - NAMED} other messages", file=sys.stderr)
    if failures:
        print(f"what they printed is in {database.folder}/logs; --retry runs them again",
              file=sys.stderr)
    return len(failures)


def main(options: Options) -> int:
    if not options.output:
        raise Mistake("'-o DIR' is missing: the folder that keeps the results", usage=True)
    options.output = pathlib.Path(options.output)
    sweep = Sweep(plan_of(options), options.output, Toolkit(options.heddle, options.hip),
                  options.jobs or os.cpu_count() or 1, options.keep,
                  shlex.split(options.start or ""))
    database = sweep.run(options.retry, progress_on())
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")
    ran = database.finished
    if ran:
        spent = sum(cpu for _, cpu in ran)
        print(f"{len(ran)} points run in {spent:.1f} CPU seconds, {sweep.driver_seconds:.1f} more "
              "to drive them", file=sys.stderr)
    columns, rows = tables(options.output)
    write(options.output / "points.csv", csv_text(columns, rows))
    write(options.output / "host.csv", host_csv(options.output))
    failed = name_failures(database, sweep.points)
    if len(rows) <= SHOWN:
        print(aligned(columns, rows))
    print(f"{sum(row[columns.index('state')] == DONE for row in rows)} of {len(rows)} points are "
          f"in {options.output}; heddle report {options.output} makes a page of them",
          file=sys.stderr)
    database.close()
    return 1 if failed else 0
