"""What `import heddle` offers: platforms, runs, sweeps. A thin layer over the command and what it
writes.

    import heddle

    tiny = heddle.load("tiny.heddle")
    run = tiny.set({"gpu.l2": "64KiB"}).run(["./matmul_tiled", "128"])
    print(run.cycles, run.kernels)                      # a pandas frame

    found = heddle.sweep("tiny.heddle", ["./matmul_tiled", "{n}"], "out",
                         vary={"gpu.cus": "1..4", "{n}": [64, 128]})
    found.points                                        # a pandas frame
    found.plot("cycles", "gpu.cus", "n")                # shown in a notebook; .save("cycles.svg")

What goes wrong is a `heddle.Mistake` with the command's message. pandas is imported when the first
frame is asked for.
"""
from __future__ import annotations

import csv
import dataclasses
import errno
import io
import json
import math
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from heddle.base.files import write
from heddle.base.mistakes import Mistake

if TYPE_CHECKING:
    import pandas

Path = str | os.PathLike[str]
Values = str | Iterable[object]
_command: list[str] = []


def use(path: Path) -> None:
    """The command `heddle` that everything below starts."""
    found = shutil.which(os.fspath(path))
    if not found:
        raise Mistake(f"'{os.fspath(path)}' is not a program")
    _command[:] = [found]


def command() -> str:
    """The command of `use()`, else the one that this package was installed or built with, else
    `heddle` of PATH."""
    if not _command:
        python = pathlib.Path(__file__).resolve().parents[1]
        for place in (python.parents[2] / "bin/heddle", python.parent / "build/codegen/heddle"):
            if place.is_file() and python.name == "python":
                use(place)
                return _command[0]
        found = shutil.which("heddle")
        if not found:
            raise Mistake("the command 'heddle' is not on PATH; name it with heddle.use(PATH)")
        _command[:] = [found]
    return _command[0]


def _call(*words: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run([command(), *words], capture_output=True, text=True, check=False,
                              errors="replace")
    except ValueError:
        wrong = next((word for word in words if "\0" in word), "")
        raise Mistake(f"heddle {words[0]}: a word of the command line has a NUL: "
                      f"{wrong[:60]!r}") from None
    except OSError as error:
        hint = "it has too many or too long words; write values as ranges, as in 1..4096*2, or a " \
               "sweep file" if error.errno == errno.E2BIG else error.strerror
        raise Mistake(f"cannot start 'heddle {words[0]}': {hint}") from None


def _checked(*words: str) -> str:
    done = _call(*words)
    if done.returncode != 0:
        raise Mistake(done.stderr.strip() or f"heddle {words[0]}: status {done.returncode}")
    return done.stdout


def _frame(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> pandas.DataFrame:
    try:
        import pandas as found
    except ImportError:
        raise Mistake("frames need pandas: Debian's package python3-pandas") from None
    return found.DataFrame(rows, columns=list(columns))


class Figure:
    """An SVG, which notebooks show."""

    def __init__(self, svg: str):
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return "<heddle.Figure>"

    def save(self, path: Path) -> None:
        write(pathlib.Path(path), self.svg)


# ---- platforms


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """What `heddle check` says. `code` is explained by `heddle explain CODE`."""

    code: str
    severity: str
    message: str
    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return (f"{self.file}:{self.line}:{self.column}: {self.severity}: {self.message} "
                f"[{self.code}]")


@dataclasses.dataclass(frozen=True)
class Platform:
    """A description and settings of it. It does not change: `set` makes another."""

    path: str
    settings: tuple[tuple[str, str], ...] = ()

    def set(self, settings: Mapping[str, object]) -> Platform:
        """A copy with these settings, too; a path that is set already gets the new value. What the
        platform refuses is a Mistake."""
        if not isinstance(settings, Mapping):
            raise Mistake(f"settings are {settings!r:.60}; write them as {{'gpu.l2': '64KiB'}}")
        both = {**dict(self.settings), **{name: _word(value) for name, value in settings.items()}}
        made = Platform(self.path, tuple(both.items()))
        wrong = [error for error in made.check() if error.severity == "error"]
        if wrong:
            raise Mistake("\n".join(map(str, wrong)))
        return made

    def _sets(self) -> list[str]:
        return [word for name, value in self.settings for word in ("--set", f"{name}={value}")]

    def check(self) -> list[Diagnostic]:
        """Errors and warnings; none of them is an exception."""
        done = _call("check", "--json", self.path, *self._sets())
        try:
            found = json.loads(done.stdout)
        except ValueError:
            raise Mistake(done.stderr.strip()) from None
        return [Diagnostic(entry["code"], entry["severity"], entry["message"],
                           entry.get("file", self.path), entry.get("line", 0),
                           entry.get("column", 0)) for entry in found]

    @property
    def parameters(self) -> pandas.DataFrame:
        """All, with values, units and what each rests on."""
        rows = json.loads(_checked("params", "--json", self.path, *self._sets()))
        columns = list(dict.fromkeys(name for row in rows for name in row))
        return _frame(columns, [[row.get(name) for name in columns] for row in rows])

    def diagram(self, level: str = "gpu") -> Figure:
        return Figure(_checked("dot", "--svg", "--level", level, self.path, *self._sets()))

    def run(self, program: str | Sequence[object] = (), options: Sequence[str] = (), *,
            every: str | None = None, counters: Sequence[str] = ()) -> Run:
        """Simulates; `program` is its words, or one text as in a shell; `options` are of `heddle
        run`. With `every`, such as "1us" or "1000cy", the run has a series, of all counters or of
        those named. A failure is a Mistake with what was said."""
        with tempfile.TemporaryDirectory() as folder:
            stats, series = pathlib.Path(folder) / "stats.json", pathlib.Path(folder) / "series.csv"
            if every:
                options = [*options, "--every", every, "--series", str(series),
                           *(word for name in counters for word in ("--series-counter", name))]
            done = _call("run", self.path, *self._sets(), "--progress", "none", "--stats",
                         str(stats), *options, *(["--", *_words(program)] if program else []))
            if done.returncode != 0:
                message = (done.stderr.strip() or done.stdout.strip()).splitlines()
                raise Mistake(f"the run ended with status {done.returncode}"
                              + (":\n" + "\n".join(message[-20:]) if message else ""))
            try:
                text = stats.read_text(encoding="utf-8")
                rows = series.read_text(encoding="utf-8") if every else None
            except OSError:
                raise Mistake("the run wrote no statistics; does the program use the GPU?") \
                    from None
        return Run(text, done.stdout, done.stderr, self, rows)


def load(path: Path, settings: Mapping[str, object] | None = None) -> Platform:
    """A platform whose description has no errors."""
    return Platform(os.fspath(path)).set(settings or {})


def _words(program: str | Sequence[object]) -> list[str]:
    try:
        return shlex.split(program) if isinstance(program, str) else [*map(_word, program)]
    except ValueError as error:
        raise Mistake(f"the program is {program!r:.60}, which no shell would read: "
                      f"{error}") from None


def _word(value: object) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        raise Mistake(f"{value} is not a value for a parameter or an input")
    return str(value).lower() if isinstance(value, bool) else str(value)


# ---- runs


class Run:
    """Statistics of a run, and what it printed."""

    def __init__(self, text: str, output: str = "", errors: str = "",
                 platform: Platform | None = None, series: str | None = None):
        self.text, self.output, self.errors, self.platform = text, output, errors, platform
        self._series = series
        self.statistics: dict[str, Any] = json.loads(text)

    @property
    def time_ps(self) -> int:
        return int(self.statistics["time_ps"])

    @property
    def sample(self) -> dict[str, Any] | None:
        """The estimate of a run that simulated only a part: `cycles`, `interval` (half of the 95 %
        interval, in cycles), and what they are made of. None: everything was simulated."""
        return self.statistics.get("sample")

    @property
    def cycles(self) -> int:
        """The cycles of all kernels. A Mistake where not all of them were simulated: see
        `sample`."""
        if self.sample is not None:
            raise Mistake("only a part of this run was simulated, so its cycles are an estimate: "
                          "look at run.sample['cycles'] and run.sample['interval']")
        return sum(kernel["cycles"] for kernel in self.statistics["kernels"])

    @property
    def kernels(self) -> pandas.DataFrame:
        """A row for each launch."""
        columns = ["name", "gpu", "start_ps", "end_ps", "cycles", "wavefront_instructions",
                   "work_groups"]
        return _frame(columns, [[kernel.get(name) for name in columns]
                                for kernel in self.statistics["kernels"]])

    @property
    def components(self) -> pandas.DataFrame:
        """path, name, value of each statistic; of a histogram its count, sum, min and max."""
        rows = []
        for path, values in self.statistics["components"].items():
            for name, value in values.items():
                parts = value.items() if isinstance(value, dict) else [("", value)]
                rows += [[path, f"{name}.{part}".rstrip("."), number] for part, number in parts
                         if not isinstance(number, list)]
        return _frame(["path", "name", "value"], rows)

    @property
    def series(self) -> pandas.DataFrame:
        """A row for each interval: from_ps, to_ps, and by how much every counter grew."""
        if self._series is None:
            raise Mistake("the run has no series: name an interval, as in run(..., every='1us')")
        try:
            names, *rows = csv.reader(io.StringIO(self._series))
            return _frame(names, [[int(cell) for cell in row] for row in rows])
        except (ValueError, csv.Error) as error:
            raise Mistake(f"the series is none that heddle run wrote: {error}") from None

    def report(self, path: Path) -> None:
        """Writes the page of `heddle report`."""
        with tempfile.TemporaryDirectory() as folder:
            stats = pathlib.Path(folder) / f"{pathlib.Path(path).stem}.json"
            write(stats, self.text)
            words = []
            if self._series is not None:
                write(stats.with_suffix(".csv"), self._series)
                words = ["--series", str(stats.with_suffix(".csv"))]
            _checked("report", str(stats), *words, "-o", os.fspath(path))

    def save(self, path: Path) -> None:
        """Writes a statistics file for `heddle stats` and `heddle report`."""
        write(pathlib.Path(path), self.text)


def open_run(path: Path, series: Path | None = None) -> Run:
    """What `heddle run --stats` and `--series` have written."""
    try:
        texts = [pathlib.Path(one).read_text(encoding="utf-8") for one in (path, series) if one]
        return Run(texts[0], series=texts[1] if series else None)
    except OSError as error:
        raise Mistake(f"cannot read '{error.filename}': {error.strerror}") from None
    except ValueError as error:
        raise Mistake(f"'{os.fspath(path)}' is not JSON: {error}") from None


# ---- sweeps


class Sweep:
    """The folder of a sweep, finished or not."""

    def __init__(self, folder: Path):
        from heddle.sweeps.database import is_sweep
        from heddle.sweeps.results import Results
        self.folder = pathlib.Path(folder)
        if not is_sweep(self.folder):
            raise Mistake(f"'{self.folder}' is a folder without a sweep; one has sweep.sqlite")
        self._results = Results(self.folder)

    @property
    def settings(self) -> list[str]:
        """Names of what differs between points."""
        return self._results.settings()

    @property
    def results(self) -> list[str]:
        """Names for `plot` and `result`; there are also those of `statistics`."""
        return self._results.results()

    @property
    def statistics(self) -> list[str]:
        """PATH.NAME of all statistics of components, which are sums over arrays."""
        return self._results.statistics()

    def result(self, name: str) -> pandas.Series:
        """One result by point."""
        values = self._results.result(name)
        rows = [(point, _whole(value)) for point, value in values.items()]
        return _frame(["point", name], rows).set_index("point")[name]

    @property
    def points(self) -> pandas.DataFrame:
        """A row for each point: settings, as numbers if they are, in B, Hz, ps and cycles; state;
        main results."""
        from heddle.sweeps.values import number_of
        found = self._results
        numeric = {name: found.is_number(name) for name in found.settings()}
        values = {name: found.result(name) for name in found.results()}
        rows = []
        for row in found.rows:
            own = [row.settings.get(name) for name in numeric]
            rows.append([row.point, *(_whole(number_of(text)) if text and is_number else text
                                      for text, is_number in zip(own, numeric.values())),
                         row.state, *(_whole(by.get(row.point)) for by in values.values())])
        return _frame(["point", *numeric, "state", *values], rows)

    def _table(self, name: str) -> pandas.DataFrame:
        columns = [row[1] for row in self._results.reading.rows(f"PRAGMA table_info({name})")]
        return _frame(columns, self._results.reading.rows(f"SELECT * FROM {name}"))

    @property
    def kernels(self) -> pandas.DataFrame:
        return self._table("kernels")

    @property
    def components(self) -> pandas.DataFrame:
        """Statistics that are not 0, summed over arrays."""
        return self._table("components")

    @property
    def host(self) -> pandas.DataFrame:
        """What simulating each point cost."""
        return self._table("host")

    @property
    def failed(self) -> dict[int, str]:
        """Messages of points that failed."""
        return {row.point: row.message or "" for row in self._results.rows
                if row.state == "failed"}

    def plot(self, result: str, over: str, by: str = "") -> Figure:
        """The figure of `heddle report --plot RESULT:OVER:BY`."""
        from heddle.sweeps import sweep_figures
        for name in filter(None, (over, by)):
            self._results.check_setting(name)
        return self._shown(sweep_figures.over(self._results, result, over, by))

    def pareto(self, result: str, cost: str, more: bool | None = None) -> Figure:
        """The figure of `heddle report --plot pareto:RESULT:COST`; `more` of the result is
        better."""
        from heddle.sweeps import sweep_figures
        return self._shown(sweep_figures.pareto(self._results, result, cost, more))

    def _shown(self, figure: Any) -> Figure:
        if figure is None:
            raise Mistake(f"no point of '{self.folder}' has that")
        return Figure(figure.svg)


def _whole(value: float | None) -> float | int | None:
    """Counts are shown as such."""
    return value if value is None or not value.is_integer() else int(value)


def open_sweep(folder: Path) -> Sweep:
    return Sweep(folder)


def _vary(name: str, values: Values) -> str:
    listed = values if isinstance(values, str) else ",".join(map(_word, values))
    return f"{name}={listed}"


def sweep(platforms: Path | Platform | Sequence[Path], program: str | Sequence[object],
          folder: Path, *,
          vary: Mapping[str, Values], set: Mapping[str, object] | None = None,
          constraints: Sequence[str] = (), read: Mapping[str, str] | None = None,
          sample: int | None = None, seed: int | None = None, jobs: int | None = None,
          limit: int | None = None, retry: bool = False,
          start: str | None = None) -> Sweep:
    """Runs `heddle sweep`. Points that fail are in `.failed`; other mistakes are exceptions."""
    settings: dict[str, object] = dict(platforms.settings) if isinstance(platforms, Platform) \
        else {}
    settings.update(set or {})
    files = [platforms.path] if isinstance(platforms, Platform) else \
        [os.fspath(platforms)] if isinstance(platforms, (str, os.PathLike)) else \
        [os.fspath(path) for path in platforms]
    words = ["sweep", *files, "-o", os.fspath(folder)]
    for option, given in (("--sample", sample), ("--seed", seed), ("--jobs", jobs),
                          ("--start", start), ("--limit", limit)):
        words += [option, str(given)] if given is not None else []
    for option, pairs in (("--set", settings), ("--read", read or {})):
        words += [w for n, v in pairs.items() for w in (option, f"{n}={_word(v)}")]
    words += [w for name, values in vary.items() for w in ("--vary", _vary(name, values))]
    words += [w for text in constraints for w in ("--constraint", text)]
    words += ["--retry"] if retry else []
    done = _call(*words, *(["--", *_words(program)] if program else []))
    found = Sweep(folder) if done.returncode in (0, 1) and (pathlib.Path(folder)
                                                            / "points.csv").exists() else None
    if found is None or (done.returncode != 0 and not found.failed):
        raise Mistake(done.stderr.strip().removeprefix("heddle sweep: "))
    return found
