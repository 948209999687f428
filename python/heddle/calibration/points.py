"""Points: runs of the simulator with their settings, states and results, in a folder.

The folder has `points.sqlite`, a folder `logs` with what each run printed, and a lock, so that one
process at a time works on it. A point's key is a digest of everything that its result depends on,
so a point that is done stays done until any of that changes.

Each change of a state is one transaction. A process that is killed leaves points that are
"running"; the next process that opens the folder makes them wait again.
"""
from __future__ import annotations

import dataclasses
import json
import pathlib
import sqlite3
from typing import Any, Iterable, Sequence

from heddle.base.files import hold
from heddle.base.mistakes import Mistake
from heddle.sweeps import intact

WAITING, RUNNING, DONE, FAILED, LEFT_OUT = "waiting", "running", "done", "failed", "left out"

SCHEMA = """
CREATE TABLE IF NOT EXISTS points (
    key         TEXT PRIMARY KEY,            -- digest of what the result depends on
    label       TEXT NOT NULL,
    name        TEXT NOT NULL,               -- for messages and tables
    settings    TEXT NOT NULL,               -- of the platform: JSON, a list of PATH=VALUE
    command     TEXT NOT NULL,               -- JSON, a list of words
    state       TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed', 'left out')),
    result      TEXT,                        -- JSON, once it is done
    message     TEXT,                        -- why it failed or was left out
    status      INTEGER,                     -- how the process ended
    cpu_seconds REAL,                        -- of the host, with all its processes
    wall_seconds REAL
)"""


@dataclasses.dataclass(frozen=True)
class Point:
    """A run. Points with the same `chain` run one after the other, by `size`: the next is only
    started when the cost of the last says that it will stay within the limit."""

    key: str
    label: str
    name: str
    settings: tuple[str, ...]
    command: tuple[str, ...]
    chain: str = ""
    size: float = 0.0


@dataclasses.dataclass
class Outcome:
    """What is known of a point."""

    state: str
    result: dict[str, Any] | None = None
    message: str | None = None
    cpu_seconds: float | None = None


class Store:
    """The folder. Closing it, or the end of the process, gives it free."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.logs = folder / "logs"
        try:
            self.logs.mkdir(parents=True, exist_ok=True)
            self._lock = open(folder / "lock", "w", encoding="utf-8")
            self.database = sqlite3.connect(folder / "points.sqlite", isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            raise Mistake(f"cannot write to the folder '{folder}': {error}") from None
        hold(folder, self._lock)
        try:
            self.database.execute("PRAGMA journal_mode = WAL")
            self.database.execute("PRAGMA synchronous = NORMAL")
            self.database.execute(SCHEMA)
            intact.check(self.database, SCHEMA, ("status",))
            self.database.execute("UPDATE points SET state = ? WHERE state = ?", (WAITING, RUNNING))
        except sqlite3.Error as error:
            raise Mistake(f"'{folder}/points.sqlite' is not a database of points: {error}; name "
                          "another folder, or remove it") from None

    def close(self) -> None:
        self.database.close()
        self._lock.close()

    def add(self, points: Iterable[Point]) -> None:
        """Points that are there already keep their states and results."""
        with self.database:
            self.database.execute("BEGIN")
            self.database.executemany(
                "INSERT OR IGNORE INTO points (key, label, name, settings, command, state) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                [(p.key, p.label, p.name, json.dumps(p.settings), json.dumps(p.command), WAITING)
                 for p in points])

    def outcome(self, point: Point) -> Outcome:
        row = self.database.execute(
            "SELECT state, result, message, cpu_seconds FROM points WHERE key = ?",
            (point.key,)).fetchone()
        if row is None:
            return Outcome(WAITING)
        return Outcome(row[0], json.loads(row[1]) if row[1] else None, row[2], row[3])

    def start(self, point: Point) -> None:
        self._write(point, state=RUNNING)

    def done(self, point: Point, result: dict[str, Any], cpu: float, wall: float) -> None:
        self._write(point, state=DONE, result=json.dumps(result), message=None, status=0,
                    cpu_seconds=cpu, wall_seconds=wall)

    def failed(self, point: Point, message: str, status: int, cpu: float, wall: float) -> None:
        self._write(point, state=FAILED, result=None, message=message, status=status,
                    cpu_seconds=cpu, wall_seconds=wall)

    def leave_out(self, point: Point, message: str, cpu: float | None = None) -> None:
        """`cpu`: it was started and took so much; None: it never was."""
        self._write(point, state=LEFT_OUT, result=None, message=message, cpu_seconds=cpu)

    def wait_again(self, points: Sequence[Point], states: Sequence[str]) -> None:
        """Makes those of `points` that are in one of `states` wait."""
        with self.database:
            self.database.execute("BEGIN")
            for point in points:
                if self.outcome(point).state in states:
                    self._write(point, state=WAITING, message=None, cpu_seconds=None)

    def _write(self, point: Point, **values: Any) -> None:
        names = ", ".join(f"{name} = ?" for name in values)
        self.database.execute(f"UPDATE points SET {names} WHERE key = ?",
                              (*values.values(), point.key))
