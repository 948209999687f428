"""The platform of a run, elaborated again with the run's own settings by `heddle dump`. It has to
have the model that the statistics name, so that a number never stands at the wrong component."""
from __future__ import annotations

import dataclasses
import json
import pathlib
from typing import Any, Sequence

from heddle.base.mistakes import Mistake
from heddle.statistics.statistics_file import Statistics, collapse

Terms = list[tuple[float, str | None]]  # factor, statistic; None: cycles of the place's clock


@dataclasses.dataclass(slots=True)
class Place:
    """An instance or a part: what has statistics and declares measures."""
    path: str
    type: str
    kind: str  # the word of diagrams; of a part "part"
    clock: str
    measures: list[tuple[str, Terms, Terms]]  # name, part, whole
    carried_bytes: float = 0  # a cycle, at most, that connections bring
    asked_bytes: float = 0  # a cycle, at most, that requests of others can move
    payload_bytes: float = 0  # the most of one of them
    interface: str = ""
    speaks: bool = False    # for its parts: an instance that is no composite
    parts: list[int] = dataclasses.field(default_factory=list)  # indices of the places


@dataclasses.dataclass(slots=True)
class Connection:
    source: str   # path of a port, as in gpu.cp.work[3]
    target: str   # path of an instance
    clock: str    # of the target
    statistics: str  # the key in "connections", or of one over a link in "links"
    rate: float   # messages a cycle
    link: str = ""
    bandwidth: int = 0  # of the link, bytes a second
    latency: int = 0    # cycles of the target; 0 over a link

    @property
    def path(self) -> str:
        return f"{self.source} -> {self.target}" + (f" via {self.link}" if self.link else "")

    @property
    def type(self) -> str:
        return "link" if self.link else "connection"


class Model:
    """`instances` of the places come first, then the parts. `ranges`: of parameters by their paths,
    as declared."""

    def __init__(self, dump: dict[str, Any], description: str, sets: Sequence[str]):
        self.description, self.sets = description, list(sets)
        self.platform: str = dump["platform"]
        self.hz = {clock["name"]: clock["hz"] for clock in dump["clocks"]}
        types = {one["name"]: one for one in dump["types"]}
        self.places = [_instance(one, types[one["type"]]) for one in dump["instances"]]
        self.instances = len(self.places)
        self.ranges = {f"{collapse(one['path'])}.{name}".lstrip("."): text
                       for one in (*dump["instances"], *dump["parts"])
                       for name, text in types[one["type"]].get("ranges", {}).items()}
        self.index = {place.path: i for i, place in enumerate(self.places)}
        for one in dump["parts"]:
            self._add_part(one, types[one["type"]])
        links = {link["name"]: link for link in dump["links"]}
        wires = {wire["path"]: wire for wire in dump.get("wires", [])}
        joins = {one["path"] for one in dump["instances"] if one["interconnect"]}
        self.connections = [self._connection(one, links, wires, joins)
                            for one in dump["connections"]]

    def _add_part(self, part: dict[str, Any], kind: dict[str, Any]) -> None:
        """Parts stand behind what they are in."""
        owner = self.places[self.index[part["path"].rpartition(".")[0]]]
        owner.parts.append(len(self.places))
        self.index[part["path"]] = len(self.places)
        self.places.append(Place(part["path"], part["type"], "part", owner.clock,
                                 _resolved(part["measures"]), interface=kind.get("interface", "")))

    def _connection(self, facts: dict[str, Any], links: dict[str, Any], wires: dict[str, Any],
                    joins: set[str]) -> Connection:
        target = self.places[self.index[facts["to"].rpartition(".")[0]]]
        rate = 1.0 if facts["from"].rpartition(".")[0] in joins else float(facts["width"])
        carried = rate * facts["payload_bytes"]
        target.carried_bytes += carried
        target.asked_bytes += self._most_asked(facts["from"], carried)
        target.payload_bytes = max(target.payload_bytes, facts["payload_bytes"])
        link, wire = facts.get("link", ""), facts.get("wire", "")
        if not link:
            return Connection(facts["from"], target.path, target.clock, facts["from"], rate,
                              latency=facts["latency_cy"])
        key = (f"{wire} -> {wires[wire]['end']}" if wire
               else f"{facts['from']} -> {facts['to']} via {link}")
        medium = wires[wire] if wire else links[link]
        return Connection(facts["from"], target.path, target.clock, key, rate, link,
                          medium["bandwidth_bytes_per_s"])

    def _most_asked(self, port: str, carried: float) -> float:
        """Bytes a cycle that come through a port: at most what the connection carries, and what a
        compute unit asks for by its own bandwidth."""
        source = self.places[self.index[port.rpartition(".")[0]]]
        for name, _, whole in source.measures if source.kind == "compute" else ():
            if name == "bandwidth" and len(whole) == 1 and whole[0][1] is None:
                return min(carried, whole[0][0])
        return carried


def _resolved(measures: list[dict[str, Any]]) -> list[tuple[str, Terms, Terms]]:
    return [(one["name"], one["part"], one["whole"]) for one in measures]


def _instance(facts: dict[str, Any], kind: dict[str, Any]) -> Place:
    return Place(facts["path"], facts["type"], kind["kind"], facts.get("clock", ""),
                 _resolved(facts["measures"]), speaks=not kind["composite"])


def _find(statistics: Statistics, path: str, library: str) -> str:
    """The description that ran, from the folder of the run or from here; for statistics that do
    not name it NAME.heddle where it may be."""
    name, ran = statistics.get("platform", ""), statistics.get("stamp", {}).get("description")
    folder = statistics.get("host", {}).get("folder", ".")
    for found in ([str(pathlib.Path(folder) / ran), ran] if ran else []):
        if pathlib.Path(found).is_file():
            return found
    for folder in (str(pathlib.Path(path).parent), ".", "platforms", f"{library}/../platforms"):
        file = f"{folder}/{name}.heddle"
        if pathlib.Path(file).is_file():
            return file
    raise Mistake(f"'{path}' is of platform {name}, and no {name}.heddle is beside it, here, or in "
                  "platforms; name it with --description FILE")


def dumped(heddle: str, file: str, *words: str) -> dict[str, Any]:
    import subprocess
    made = subprocess.run([heddle, "dump", "--json", "--part", "measures", file,
                           "--allow-incoherent", *words], capture_output=True, check=False)
    if made.returncode != 0:
        raise Mistake(made.stderr.decode(errors="replace").strip())
    return dict(json.loads(made.stdout))


def _kept(built: str, model: str | None, words: list[str]) -> dict[str, Any]:
    """Modules that it seldom needs are imported there: a report of a short run pays for each."""
    file = pathlib.Path(built).with_name("measures.json")
    try:
        dump = dict(json.loads(file.read_bytes()))
        if model in dump["models"]:
            return dump
    except (OSError, ValueError, TypeError, KeyError):
        pass  # it is not there, or not whole: it is made
    dump = dumped(*words)
    from heddle.base.files import write
    try:
        write(file, json.dumps(dump, separators=(",", ":")))
    except Mistake:
        pass  # a folder that cannot be written: it is asked each time
    return dump


def question(tools: Any, statistics: Statistics, path: str, description: str | None = None,
             sets: Sequence[str] = (), include: Sequence[str] = ()) -> tuple[str, list[str]]:
    """The description of the platform that made the statistics in `path` (None: it is looked for),
    and the words by which a command asks for it, with the run's settings, or with `sets`."""
    name = statistics.get("platform", "")
    file = description or _find(statistics, path, tools.library)
    return file, [file, *(["--platform", name] if name else []),
                  *(word for one in sets or statistics.get("stamp", {}).get("set", [])
                    for word in ("--set", one)),
                  *(word for one in include for word in ("-I", one))]


def described(tools: Any, statistics: Statistics, path: str, description: str | None = None,
              sets: Sequence[str] = (), include: Sequence[str] = (),
              built: str | None = None) -> Model:
    """The platform that made the statistics in `path`, from its description (None: it is looked
    for), with the run's settings, or with `sets`. `tools` has the paths of the toolkit. What is
    told of a platform that is `built` is kept beside it, as to ask anew takes a while."""
    stamp = statistics.get("stamp", {})
    sets = sets or stamp.get("set", [])
    file, words = question(tools, statistics, path, description, sets, include)
    words.insert(0, tools.heddle)
    dump = _kept(built, stamp.get("model"), words) if built else dumped(*words)
    if stamp.get("model") not in dump["models"]:
        raise Mistake(f"'{path}' is not a run of '{file}' as it is now: the description, or what "
                      "it imports, has changed since, or --set differs; run it again")
    return Model(dump, file, sets)
