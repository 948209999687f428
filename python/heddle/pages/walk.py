"""The command `heddle dot`, as far as it is Python's: with --html the platform as one page to walk
through, otherwise what colours a diagram.

The page has a section for each composite, with its picture, its documentation and parameters, and
what it holds. All elements of an array share a section. A click on a composite leads to its
section, a click on a leaf to its details beside the picture; breadcrumbs lead up."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Iterator, Sequence

from heddle.base import command_line
from heddle.base.command_line import Options
from heddle.drawing.draw import escape
from heddle.pages.markup import FOOT, file, head, inline, paragraphs, save, table
from heddle.statistics import diagram_shares

Node = dict[str, Any]  # of the tree in the dump

TOOLS = """<div class="tools"><input id="search" type="search" autocomplete="off"
placeholder="search: a path, a type, a parameter" aria-label="search"><ul id="hits"></ul>
<button data-key="+" title="closer">+</button>
<button data-key="-" title="farther">−</button>
<button data-key="0" title="the whole picture">fit</button>
<button data-key="u" title="one level up">up</button>
<small>keys: / search, + − 0 zoom, h j k l move, u up; drag, shift and wheel</small></div>
"""


def times(name: str, count: int) -> str:
    return escape(name) + (f" ×{count}" if count > 1 else "")


def identity(node: Node) -> str:
    """A node's name in links of the pictures."""
    return escape(f"{'v' if 'inside' in node else 'd'}-{node['path']}:{node['type']}")


def of_type(node: Node) -> str:
    return f'<span class="type">{escape(node["type"])}</span>'


class Walk:
    """The dump of a platform, as a page."""

    def __init__(self, dump: dict[str, Any]):
        self.dump = dump
        self.types = {one["name"]: one for one in dump["types"]}
        self.pictures = 0

    def params(self, node: Node) -> str:
        declared = self.types[node["type"]]["params"]
        return table(("parameter", "value", "meaning"),
                     [(escape(one["name"]),
                       f'<span class="value">{escape(node["params"][one["name"]])}</span>',
                       inline(one["doc"])) for one in declared]) if declared else ""

    def ports(self, node: Node) -> str:
        declared = self.types[node["type"]]["ports"]
        return table(("port", "", "protocol", "count"),
                     [(escape(one["name"]),
                       one["direction"] + (", optional" if one["optional"] else ""),
                       escape(one["protocol"]), str(node["ports"][one["name"]]))
                      for one in declared]) if declared else ""

    @staticmethod
    def parts(node: Node) -> str:
        return table(("part", "type", "parameters"),
                     [(times(one["name"], one["count"]), escape(one["type"] or "none"),
                       escape(", ".join(f"{name} = {value}"
                                        for name, value in one["params"].items())))
                      for one in node["parts"]]) if node["parts"] else ""

    def leaf(self, node: Node) -> str:
        kind = self.types[node["type"]]["kind"]
        colour, ink = self.dump["kinds"][kind]
        return (f'<details id="{identity(node)}"><summary><strong>'
                f'{times(node["name"], node["each"])}</strong> {of_type(node)} '
                f'<span class="kind" style="background:{colour};color:{ink}">{kind}</span>'
                f"</summary>\n{paragraphs(self.types[node['type']]['doc'])}{self.params(node)}"
                f"{self.ports(node)}{self.parts(node)}</details>\n")

    def aside(self, node: Node) -> str:
        inside = "".join(f'<p><a href="#{identity(one)}"><strong>'
                         f'{times(one["name"], one["each"])}</strong></a> {of_type(one)}</p>\n'
                         for one in node["inside"] if "inside" in one)
        inside += "".join(self.leaf(one) for one in node["inside"] if "inside" not in one)
        return (f"<aside>\n{paragraphs(self.types[node['type']]['doc'])}{self.params(node)}"
                f"<h2>Inside</h2>\n{inside}</aside>\n")

    def picture(self, node: Node) -> str:
        """An element of the page, with ids that no other picture has."""
        svg, prefix = node["svg"], f"s{self.pictures}-"
        self.pictures += 1
        return str(svg[svg.index("<svg"):].replace(' id="', f' id="{prefix}'))

    def sections(self, node: Node, above: Sequence[Node] = ()) -> Iterator[str]:
        trail = [f'<a href="#{identity(one)}">{escape(one["name"])}</a>' for one in above]
        yield (f'<section id="{identity(node)}">\n'
               f"<nav>{' › '.join([*trail, escape(node['name'])])}</nav>\n"
               f"<h1>{times(node['path'] or node['name'], node['instances'])} {of_type(node)}</h1>"
               f'\n<div class="view">\n<div class="picture">\n{self.picture(node)}</div>\n'
               f"{self.aside(node)}</div>\n</section>\n")
        for one in node["inside"]:
            if "inside" in one:
                yield from self.sections(one, [*above, node])

    def page(self) -> str:
        return (head(self.dump["platform"]) + TOOLS + "".join(self.sections(self.dump["tree"]))
                + f"<script>\n{file('walk.js')}</script>\n{FOOT}")


def main(chosen: Options) -> int:
    if not chosen.html_folder:
        return diagram_shares.main(chosen)
    text = command_line.asked(chosen.heddle, "dump", "--json", "--part", "diagrams", *chosen.files,
                              *chosen.again("--set", "--platform", "-I", "--allow-incoherent"))
    if text is None:
        return 1
    save(Path(chosen.html_folder), {"index.html": Walk(json.loads(text)).page()})
    return 0
