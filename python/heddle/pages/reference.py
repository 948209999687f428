"""The command `heddle doc`: the reference, from documentation comments. Pages: index;
component-NAME for each component; parts (with interfaces); protocols (with enumerations); links;
platform-NAME with its diagram. Each is made as .md and .html, which say the same."""
from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Iterable, Sequence

from heddle.base import command_line
from heddle.base.command_line import Options
from heddle.base.mistakes import Mistake
from heddle.drawing.draw import escape
from heddle.pages import markup

Facts = dict[str, Any]  # of the dump


class Page:
    """Every function appends to both files."""

    def __init__(self, name: str, title: str):
        self.name, self.markdown, self.html = name, "", markup.head(title)
        self.heading(1, title)

    def heading(self, level: int, text: str) -> None:
        self.markdown += f"{'#' * level} {text}\n\n"
        self.html += f"<h{level}>{escape(text)}</h{level}>\n"

    def text(self, text: str) -> None:
        if text:
            self.markdown += f"{text}\n\n"
            self.html += markup.paragraphs(text)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        self.markdown += "".join(f"| {' | '.join(row)} |\n" for row in [
            columns, ["---"] * len(columns), *([cell(one) for one in row] for row in rows)]) + "\n"
        self.html += markup.table(columns, ([markup.inline(one) for one in row] for row in rows))

    def section(self, level: int, title: str, columns: Sequence[str],
                rows: Sequence[Sequence[str]]) -> None:
        """Nothing without rows."""
        if rows:
            self.heading(level, title)
            self.table(columns, rows)

    def items(self, items: Iterable[tuple[str, str, str]]) -> None:
        """Name, the page that it leads to ("": none), text."""
        self.html += "<ul>\n"
        for name, target, text in items:
            self.markdown += (f"- [{name}]({target}.md)" if target else f"- `{name}`") + (
                f": {cell(text)}" if text else "") + "\n"
            shown = (f'<a href="{escape(target)}.html">{escape(name)}</a>' if target
                     else f"<code>{escape(name)}</code>")
            self.html += f"<li>{shown}{': ' + markup.inline(text) if text else ''}</li>\n"
        self.markdown += "\n"
        self.html += "</ul>\n"

    def picture(self, file: str, words: str) -> None:
        self.markdown += f"![{words}]({file})\n\n"
        self.html += (f'<p><img style="max-width:100%" src="{escape(file)}" '
                      f'alt="{escape(words)}"></p>\n')

    @property
    def files(self) -> dict[str, str]:
        return {f"{self.name}.md": self.markdown, f"{self.name}.html": self.html + markup.FOOT}


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def code(text: str) -> str:
    return f"`{text}`" if text else ""


def codes(names: Iterable[str]) -> str:
    return ", ".join(map(code, names))


def counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def array(facts: Facts) -> str:
    return code(facts["name"] + ("[]" if facts["array"] else ""))


def first_sentence(text: str) -> str:
    return str(re.match(r".*?(?=\n\n|[.:](?=[ \n]|\Z)|\Z)", text, re.DOTALL)[0])


class Library:
    """What several files declare, each once, in order of first appearance. Declarations are the
    same when they have the same name and place."""

    def __init__(self, scopes: Iterable[Facts]) -> None:
        self.found: dict[str, dict[tuple[Any, ...], Facts]] = {
            kind: {} for kind in ("types", "protocols", "links", "interfaces", "enums")}
        self.platforms: list[Facts] = []
        for scope in scopes:
            for kind, known in self.found.items():
                for one in scope[kind]:
                    self.add(known, one)
            if scope["platform"]:
                self.platforms.append(scope)

    @staticmethod
    def add(known: dict[tuple[Any, ...], Facts], facts: Facts) -> None:
        """A port has its depth from the first file in which there is such a component."""
        first = known.setdefault((facts["name"], *(facts["place"] or {}).values()), facts)
        for port, now in zip(first.get("ports", ()), facts.get("ports", ())):
            if "depth" in now:
                port.setdefault("depth", now["depth"])

    def all(self, kind: str) -> list[Facts]:
        return list(self.found[kind].values())

    def types(self, kind: str) -> list[Facts]:
        return [one for one in self.all("types") if one["what"] == kind]


# ---- components and parts ----

def type_of(param: Facts) -> str:
    """"bytes", or the names of a choice."""
    if "choices" in param:
        return str(param.get("choice") or "one of " + ", ".join(param["choices"]))
    return str(param["type"])


def default_of(param: Facts) -> str:
    if param["let"]:
        return "(derived)"
    return "required" if param["default"] is None else code(param["default"])


def params(page: Page, level: int, facts: Facts) -> None:
    page.section(level, "Parameters", ("name", "type", "default", "range", "meaning"),
                 [(code(p["name"]), type_of(p), default_of(p), code(p["range"]), p["doc"])
                  for p in facts["params"]])


def members(page: Page, level: int, facts: Facts) -> None:
    """What components and parts have in common."""
    params(page, level, facts)
    page.section(level, "Checks", ("must hold", "otherwise"),
                 [(code(" ".join(c["holds"].split())), c["otherwise"]) for c in facts["checks"]])
    page.section(level, "Parts and slots", ("name", "what", "takes", "meaning"),
                 [(array(p), "part" if not p["slot"] else
                   "slot, optional" if p["optional"] else "slot", code(p["takes"]), p["doc"])
                  for p in facts["parts"]])
    if facts["what"] != "part":
        page.section(level, "Stores", ("name", "access", "type", "meaning"),
                     [(code(s["name"]), "writes" if s["writes"] else "reads", code(s["type"]),
                       s["doc"]) for s in facts["stores"]])
    page.section(level, "Statistics", ("name", "kind", "meaning"),
                 [(code(s["name"]), s["kind"], s["doc"]) for s in facts["stats"]])
    page.section(level, "Measures", ("name", "part", "of", "meaning"),
                 [(m["name"], code(m["part"]), code(m["whole"]), m["doc"])
                  for m in facts["measures"]])


def component(facts: Facts) -> Page:
    page = Page(f"component-{facts['name']}", facts["name"])
    page.text(facts["doc"])
    behaviour = f"; behaviour in {codes(facts['behaviour'])}" if facts["behaviour"] else ""
    page.text(f"Kind: {facts['kind']}. Declared in `{facts['place']['file']}`, line "
              f"{facts['place']['line']}{behaviour}.")
    page.section(2, "Ports", ("name", "direction", "protocol", "depth", "meaning"),
                 [(array(p), p["direction"] + (", optional" if p["optional"] else ""),
                   code(p["protocol"]), str(p.get("depth", "")), p["doc"]) for p in facts["ports"]])
    members(page, 2, facts)
    return page


def parts(library: Library) -> Page:
    page = Page("parts", "Interfaces and parts")
    page.text("A part is behaviour without a clock, called by the component or part that owns it. "
              "Parts that implement the same interface fill the same slots.")
    page.items((facts["name"], "", facts["doc"]) for facts in library.all("interfaces"))
    for facts in library.types("part"):
        page.heading(2, facts["name"])
        if "interface" in facts:
            page.text(f"Implements `{facts['interface']}`.")
        page.text(facts["doc"])
        members(page, 3, facts)
    return page


# ---- protocols and links ----

def field(facts: Facts) -> tuple[str, str, str, str]:
    """A row: name, type, bytes, meaning."""
    kind, size = facts.get("choice") or facts["type"], str(facts["size"])
    if kind in ("bits", "bytes"):
        cut = ", cut to its length on links" if "length" in facts else ""
        argument = facts.get("argument")
        size = argument + (" / 8" if kind == "bits" else "") if argument else str(
            (facts["size"] + 7) // 8 if kind == "bits" else facts["size"])
        kind = f"{kind}[{argument or facts['size']}]{'' if argument else cut}"
    return code(facts["name"]), code(kind), size, facts["doc"]


def message(page: Page, word: str, facts: Facts) -> None:
    page.heading(3, f"{word} {facts['name']}")
    page.text(facts["doc"])
    if word == "reply":
        page.text(f"Answers {codes(facts['answers'])}.")
    elif not facts["answered"]:
        page.text("Not answered.")
    if facts["fields"]:
        page.table(("field", "type", "bytes", "meaning"), list(map(field, facts["fields"])))


def protocols(library: Library) -> Page:
    page = Page("protocols", "Protocols")
    for one in library.all("protocols"):
        arguments = ", ".join(one["arguments"])
        page.heading(2, one["name"] + (f"({arguments})" if arguments else ""))
        page.text(one["doc"])
        for request in one["requests"]:
            message(page, "request", request)
        for reply in one["replies"]:
            message(page, "reply", reply)
    if library.all("enums"):
        page.heading(2, "Enumerations")
    for one in library.all("enums"):
        page.heading(3, one["name"])
        page.text(one["doc"])
        page.text(codes(one["choices"]))
    return page


def links(library: Library) -> Page:
    page = Page("links", "Links")
    page.table(("name", "bandwidth", "latency", "meaning"),
               [(code(one["name"]), one["bandwidth"], one["latency"], one["doc"])
                for one in library.all("links")])
    return page


# ---- platforms ----

def platform(scope: Facts) -> Page:
    name, counts = scope["platform"], scope["counts"]
    page = Page(f"platform-{name}", f"Platform {name}")
    page.text(scope["doc"])
    if "svg" in scope:
        page.picture(f"platform-{name}.svg", f"diagram of platform {name}")
    else:
        page.text(f"No diagram: {scope['no_svg']}.")
    page.text(f"{counts['components']} components, {counts['connections']} connections, "
              f"{counted(len(scope['partitions']), 'partition')}. Declared in "
              f"`{scope['place']['file']}`.")
    page.table(("clock", "frequency"), [(code(c["name"]), c["text"]) for c in scope["clocks"]])
    if scope["spaces"]:
        page.table(("address space", "first address", "size", "interleave"),
                   [(code(s["path"]), "not mapped" if s["base"] is None else f"{s['base']:#x}",
                     s["size"], s["interleave"] + (", hashed" if "hashed" in s else ""))
                    for s in scope["spaces"]])
    params(page, 2, next(one for one in scope["types"]
                         if one["what"] == "platform" and one["name"] == name))
    return page


def index(library: Library) -> Page:
    page = Page("index", "Reference")
    for title, composite in (("Components", False), ("Composites", True)):
        page.heading(2, title)
        page.items((one["name"], f"component-{one['name']}", first_sentence(one["doc"]))
                   for one in library.types("component") if one["composite"] == composite)
    page.heading(2, "What they are made of")
    page.items([("Interfaces and parts", "parts", "behaviour that fills slots"),
                ("Protocols", "protocols", "messages, their fields and sizes"),
                ("Links", "links", "bandwidth and latency")])
    if library.platforms:
        page.heading(2, "Platforms")
    page.items((scope["platform"], f"platform-{scope['platform']}", first_sentence(scope["doc"]))
               for scope in library.platforms)
    return page


def reference(scopes: Iterable[Facts]) -> dict[str, str]:
    """The files, by name."""
    library = Library(scopes)
    made = {f"platform-{scope['platform']}.svg": scope["svg"]
            for scope in library.platforms if "svg" in scope}
    for page in [*map(component, library.types("component")), *map(platform, library.platforms),
                 parts(library), protocols(library), links(library), index(library)]:
        made |= page.files
    return made


def files_of(library: str) -> list[str]:
    """ROOM/NAME/NAME.heddle, room by room in alphabetical order."""
    found = sorted(Path(library).glob("*/*/")) if library else []
    return [str(file) for folder in found
            if (file := folder / f"{folder.name}.heddle").is_file()]


def main(chosen: Options) -> int:
    if not chosen.output:
        raise Mistake("say where to write: -o DIR", usage=True)
    texts = [command_line.asked(chosen.heddle, "dump", "--json", "--part", "reference", file,
                                *chosen.again("-I"))
             for file in files_of(chosen.library) + chosen.files]
    if None in texts:
        return 1
    markup.save(Path(chosen.output), reference(json.loads(one) for one in texts if one))
    return 0
