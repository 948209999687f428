"""The folder of a sweep: `sweep.sqlite`, logs, and what workers work on.

| table | what it has |
| --- | --- |
| `sweep` | what the sweep consists of, and the version of this layout |
| `points` | state, message and main results of each point |
| `settings` | value of each parameter and input of each point |
| `kernels` | launches, cycles, time and instructions of each kernel of each point, by GPU |
| `components` | statistics of components and links, summed over arrays; 0 is left out |
| `printed` | named numbers that the program printed |
| `host` | what simulating each point cost |
| `sessions` | when, where and by which command points were run |

All but the last two depend on nothing but the sweep: not on the order of points, nor on
interruptions.

One process writes it, and each change is one transaction. Workers append results to files of their
own in `work/`, which are read here; so what they have done is there after any kill, and is read
when the folder is opened next.
"""
from __future__ import annotations

import contextlib
import json
import pathlib
import shutil
import sqlite3
from typing import Any, Iterator, Sequence

from heddle.base.files import hold
from heddle.base.mistakes import Mistake
from heddle.sweeps import intact
from heddle.sweeps.plan import Plan, Point
from heddle.sweeps.values import number_of

VERSION = "3"
FILE = "sweep.sqlite"
WAITING, DONE, FAILED = "waiting", "done", "failed"

SCHEMA = """
CREATE TABLE IF NOT EXISTS sweep (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS points (
    point        INTEGER PRIMARY KEY,      -- its number, from 1
    key          TEXT NOT NULL,            -- digest of what the result depends on
    platform     TEXT NOT NULL,
    program      TEXT NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('waiting', 'done', 'failed')),
    message      TEXT,                     -- why it failed
    status       INTEGER,                  -- how its process ended; negative: a signal
    time_ps      INTEGER,                  -- simulated time
    kernels_ps   INTEGER,                  -- sum of the kernels' durations
    cycles       INTEGER,                  -- of all kernels
    instructions INTEGER,                  -- of wavefronts, of all kernels
    model        TEXT                      -- hash of the elaborated platform
);
CREATE TABLE IF NOT EXISTS settings (
    point INTEGER, name TEXT, value TEXT,
    number REAL,                           -- in B, Hz, ps, B/s or cycles; NULL: a word
    PRIMARY KEY (point, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS kernels (
    point INTEGER, name TEXT, gpu INTEGER, launches INTEGER, cycles INTEGER, time_ps INTEGER,
    instructions INTEGER, PRIMARY KEY (point, name, gpu)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS components (
    point INTEGER, path TEXT, name TEXT, value INTEGER,
    PRIMARY KEY (point, path, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS printed (
    point INTEGER, name TEXT, value REAL, PRIMARY KEY (point, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS host (
    point INTEGER PRIMARY KEY, cpu_seconds REAL, wall_seconds REAL, kips REAL, peak_rss INTEGER);
CREATE TABLE IF NOT EXISTS sessions (
    date TEXT PRIMARY KEY, command TEXT, version TEXT, name TEXT, folder TEXT) WITHOUT ROWID;
"""
SIGNED = ("number", "status", "value")  # settings, signals and what programs print
OF_POINT = ("kernels", "components", "printed", "host")


def is_sweep(folder: pathlib.Path) -> bool:
    return (folder / FILE).is_file()


@contextlib.contextmanager
def errors_named(path: pathlib.Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        message = " ".join(str(error).split())
        if "full" in message or "disk I/O" in message:
            raise Mistake(f"cannot write '{path}': {message}; what was done before is kept, and "
                          "the same command goes on when there is room") from None
        raise Mistake(f"'{path}' cannot be used: {message}; if it is damaged, remove it, and the "
                      "points are run again") from None


def plan_of(path: pathlib.Path, text: str) -> dict[str, Any]:
    try:
        return dict(json.loads(text))
    except (TypeError, ValueError):
        raise Mistake(f"'{path}' cannot be used: it does not say what the sweep consists of; if it "
                      "is damaged, remove it, and the points are run again") from None


class Reading:
    """The database as it is; a session may be writing it."""

    def __init__(self, folder: pathlib.Path):
        self.path = folder / FILE
        with errors_named(self.path):
            self.connection = sqlite3.connect(self.path.resolve().as_uri() + "?mode=ro", uri=True)
            found = self.connection.execute(
                "SELECT value FROM sweep WHERE name = 'version'").fetchone()
        if not found or found[0] != VERSION:
            raise Mistake(f"'{self.path}' is of another version of heddle")
        with errors_named(self.path):
            intact.check(self.connection, SCHEMA, SIGNED)

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with errors_named(self.path):
            return self.connection.execute(query, values).fetchall()

    def plan(self) -> dict[str, Any]:
        rows = self.rows("SELECT value FROM sweep WHERE name = 'plan'")
        return plan_of(self.path, rows[0][0] if rows else "")

    def sessions(self) -> list[dict[str, str]]:
        """Sessions in their order; see heddle.made."""
        names = ("date", "command", "version", "name", "folder")
        return [dict(zip(names, row)) for row in self.rows(
            f"SELECT {', '.join(names)} FROM sessions ORDER BY date")]

    def close(self) -> None:
        self.connection.close()


class Database:
    """The folder, for the one process that writes it. Closing it, or the end of the process, gives
    it free."""

    def __init__(self, folder: pathlib.Path):
        self.folder, self.path = folder, folder / FILE
        if folder.is_dir() and any(folder.iterdir()) and not is_sweep(folder) \
                and not (folder / "lock").exists():
            raise Mistake(f"'{folder}' has other files and no sweep; name another folder")
        try:
            (folder / "logs").mkdir(parents=True, exist_ok=True)
            self._lock = open(folder / "lock", "w", encoding="utf-8")
        except OSError as error:
            raise Mistake(f"cannot write to the folder '{folder}': {error.strerror}") from None
        hold(folder, self._lock)
        self._kept: dict[str, int] = {}  # bytes read of each file of results
        self.finished: list[tuple[str, float]] = []  # state and CPU seconds, of this session
        self.worker_seconds = 0.0
        with errors_named(self.path):
            self.connection = sqlite3.connect(self.path, isolation_level=None)
            self.connection.execute("PRAGMA journal_mode = WAL")
            self.connection.execute("PRAGMA synchronous = NORMAL")
            found = self.connection.execute("PRAGMA quick_check(1)").fetchone()
            if found[0] != "ok":
                raise sqlite3.DatabaseError(found[0])

    def close(self) -> None:
        self.connection.close()
        self._lock.close()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        with errors_named(self.path):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self.connection.execute("ROLLBACK")
                raise
            self.connection.execute("COMMIT")

    # ---- what there is to do

    def open_plan(self, plan: Plan) -> None:
        """The folder is of this sweep and of no other."""
        text = json.dumps(plan.identity())
        with errors_named(self.path):
            has = self.connection.execute(
                "SELECT 1 FROM sqlite_master WHERE name = 'sweep'").fetchone()
            rows = dict(self.connection.execute("SELECT name, value FROM sweep")) if has else {}
        if rows.get("version", VERSION) != VERSION:
            raise Mistake(f"'{self.folder}' is of another version of heddle; name another folder")
        if has:
            with errors_named(self.path):
                intact.check(self.connection, SCHEMA, SIGNED)
        if "plan" in rows and rows["plan"] != text:
            before, now = plan_of(self.path, rows["plan"]), json.loads(text)
            names = sorted(name for name in {**before, **now} if json.dumps(before.get(name))
                           != json.dumps(now.get(name)))  # the order counts, too
            changes = "; ".join(f"{name}: {_short(before.get(name))}, not {_short(now.get(name))}"
                                for name in names)
            raise Mistake(f"'{self.folder}' is another sweep, with {changes}. Name another folder "
                          "with -o, or remove this one")
        if "plan" not in rows:
            with errors_named(self.path):
                self.connection.executescript(
                    "BEGIN;" + SCHEMA + "COMMIT;")
            with self.transaction() as sql:
                sql.executemany("INSERT OR REPLACE INTO sweep VALUES (?, ?)",
                                [("version", VERSION), ("plan", text)])

    def add(self, points: Sequence[Point], keys: Sequence[str]) -> int:
        """Points that are known keep their results, unless what these depend on has changed.
        Returns how many of those that were done wait again."""
        with errors_named(self.path):
            before = {number: (key, state) for number, key, state in
                      self.connection.execute("SELECT point, key, state FROM points")}
        new = [(point, key) for point, key in zip(points, keys)
               if before.get(point.number, ("", ""))[0] != key]
        again = sum(before.get(p.number, ("", ""))[1] == DONE for p, _ in new)
        with self.transaction() as sql:
            for point, _ in new:
                if point.number in before:
                    self._forget(point.number)
            sql.executemany(
                "INSERT OR REPLACE INTO points (point, key, platform, program, state) "
                "VALUES (?, ?, ?, ?, ?)",
                [(p.number, key, p.platform, p.program, WAITING) for p, key in new])
            sql.executemany(
                "INSERT OR REPLACE INTO settings VALUES (?, ?, ?, ?)",
                [(p.number, name, value, number_of(value)) for p, _ in new
                 for name, value in p.values.items()])
        return again

    def _forget(self, number: int) -> None:
        for table in OF_POINT:
            self.connection.execute(f"DELETE FROM {table} WHERE point = ?", (number,))

    def retry(self) -> None:
        """Points that failed wait again."""
        with self.transaction() as sql:
            for (number,) in sql.execute("SELECT point FROM points WHERE state = ?",
                                         (FAILED,)).fetchall():
                self._forget(number)
            sql.execute("UPDATE points SET state = ?, message = NULL, status = NULL "
                        "WHERE state = ?", (WAITING, FAILED))

    def begin(self, made: dict[str, str]) -> None:
        """A session, which runs points."""
        with self.transaction() as sql:
            sql.execute("INSERT OR IGNORE INTO sessions (date, command, version, name, folder) "
                        "VALUES (:date, :command, :version, :name, :folder)", made)

    def waiting(self) -> set[int]:
        with errors_named(self.path):
            return {row[0] for row in self.connection.execute(
                "SELECT point FROM points WHERE state = ?", (WAITING,))}

    def mean_cost(self) -> float | None:
        """CPU seconds of the points that are done; None: none is."""
        with errors_named(self.path):
            found: float | None = self.connection.execute(
                "SELECT avg(cpu_seconds) FROM host JOIN points USING (point) WHERE state = ?",
                (DONE,)).fetchone()[0]
        return found

    def failures(self) -> list[tuple[int, str]]:
        with errors_named(self.path):
            return self.connection.execute(
                "SELECT point, message FROM points WHERE state = ? ORDER BY point",
                (FAILED,)).fetchall()

    # ---- results of workers

    def collect(self) -> int:
        """Reads what workers have appended since the last time. Returns how many points."""
        lines: list[dict[str, Any]] = []
        for path in sorted((self.folder / "work").glob("*/*.jsonl")):
            lines += self._new_lines(path)
        results = [line for line in lines if "key" in line]
        self.worker_seconds += sum(line.get("worker_seconds", 0.0) for line in lines)
        if not results:
            return 0
        with self.transaction() as sql:
            taken = [line for line in results if self._take(sql, line)]
        self.finished += [(FAILED if "failed" in line else DONE, line["cpu"]) for line in taken]
        return len(taken)

    def _new_lines(self, path: pathlib.Path) -> list[dict[str, Any]]:
        """Whole lines only: the last one may be half written."""
        begin = self._kept.get(str(path), 0)
        try:
            if path.stat().st_size == begin:
                return []
            with open(path, "rb") as file:
                file.seek(begin)
                text = file.read()
        except OSError as error:
            raise Mistake(f"cannot read '{path}': {error.strerror}") from None
        end = text.rfind(b"\n") + 1
        self._kept[str(path)] = begin + end
        found = []
        for line in text[:end].splitlines():
            try:
                found.append(json.loads(line))
            except ValueError:  # its worker was killed or could not write; it runs again
                continue
        return [line for line in found if isinstance(line, dict)]

    def _take(self, sql: sqlite3.Connection, line: dict[str, Any]) -> bool:
        """Claims a point that waits and whose key is the same still."""
        number = line["point"]
        row = sql.execute("SELECT key, state FROM points WHERE point = ?", (number,)).fetchone()
        if row != (line["key"], WAITING):
            return False
        sql.execute("INSERT OR REPLACE INTO host (point, cpu_seconds, wall_seconds) "
                    "VALUES (?, ?, ?)", (number, line["cpu"], line["wall"]))
        if "failed" in line:
            sql.execute("UPDATE points SET state = ?, message = ?, status = ? WHERE point = ?",
                        (FAILED, line["failed"], line["status"], number))
            return True
        kernels = line["kernels"]
        sql.execute("UPDATE points SET state = ?, message = NULL, status = 0, time_ps = ?, "
                    "kernels_ps = ?, cycles = ?, instructions = ?, model = ? WHERE point = ?",
                    (DONE, line["time_ps"], sum(k[4] for k in kernels),
                     sum(k[3] for k in kernels), sum(k[5] for k in kernels), line["model"],
                     number))
        sql.execute("UPDATE host SET kips = ?, peak_rss = ? WHERE point = ?",
                    (*line["host"], number))
        sql.executemany("INSERT INTO kernels VALUES (?, ?, ?, ?, ?, ?, ?)",
                        [(number, *row) for row in kernels])
        # In the order of the key, in which a table grows at its end.
        sql.executemany("INSERT INTO components VALUES (?, ?, ?, ?)",
                        [(number, path, name, value)
                         for path, row in sorted(line["components"].items())
                         for name, value in sorted(row.items())])
        sql.executemany("INSERT INTO printed VALUES (?, ?, ?)",
                        [(number, *row) for row in line["printed"].items()])
        return True

    def clear_work(self) -> None:
        """All that it has was collected."""
        shutil.rmtree(self.folder / "work", ignore_errors=True)
        self._kept.clear()


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 200 else text[:200] + "..."
