"""Figures for LaTeX: SVG as draw.py writes it, as a picture of the package pgf. Fonts and text
sizes are those of the surrounding document."""
from __future__ import annotations

import re
import xml.etree.ElementTree as ET

ESCAPED = {"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "#": r"\#", "$": r"\$", "%": r"\%",
           "&": r"\&", "_": r"\_", "^": r"\^{}", "~": r"\~{}", "<": r"\textless{}",
           ">": r"\textgreater{}"}
ANCHORS = {"start": "left,base", "middle": "base", "end": "right,base"}
NAMED = {"black": "000000", "white": "FFFFFF"}


def _colour(name: str) -> str:
    found = NAMED.get(name, name.lstrip("#")).upper()
    return "".join(2 * c for c in found) if len(found) == 3 else found


def _set(kind: str, name: str) -> str:
    return f"\\definecolor{{c}}{{HTML}}{{{_colour(name)}}}\\pgfset{kind}color{{c}}"


def _at(x: float, y: float, height: float) -> str:
    return f"\\pgfpoint{{{x:.2f}bp}}{{{height - y:.2f}bp}}"


def _path(points: list[tuple[float, float]], height: float) -> str:
    return "".join(f"\\pgfpath{'lineto' if i else 'moveto'}{{{_at(x, y, height)}}}"
                   for i, (x, y) in enumerate(points))


def _stroke(element: ET.Element, points: list[tuple[float, float]], height: float) -> str:
    dash = element.get("stroke-dasharray")
    parts = [_set("stroke", element.get("stroke", "black")),
             f"\\pgfsetlinewidth{{{element.get('stroke-width', '1')}bp}}"]
    if dash:
        parts.append("\\pgfsetdash{" + "".join(f"{{{n}bp}}" for n in dash.split()) + "}{0bp}")
    return "".join([*parts, _path(points, height), "\\pgfusepath{stroke}"])


def _shape(element: ET.Element, height: float) -> str | None:
    """A shape; None: it has none in PGF (pictures), or is not drawn."""
    def number(name: str) -> float:
        return float(element.get(name, "0"))
    kind = element.tag.rsplit("}", 1)[-1]
    if kind == "rect":
        return (_set("fill", element.get("fill", "black"))
                + "\\pgfpathrectangle"
                f"{{{_at(number('x'), number('y') + number('height'), height)}}}"
                f"{{\\pgfpoint{{{number('width'):.2f}bp}}{{{number('height'):.2f}bp}}}}"
                "\\pgfusepath{fill}")
    if kind in ("path", "polyline"):
        text = element.get("d" if kind == "path" else "points", "")
        found = [float(n) for n in re.findall(r"-?\d+\.?\d*", text)]
        return _stroke(element, list(zip(found[::2], found[1::2])), height)
    if kind == "circle":
        return (_set("fill", element.get("fill", "black"))
                + f"\\pgfpathcircle{{{_at(number('cx'), number('cy'), height)}}}"
                f"{{{number('r'):.2f}bp}}\\pgfusepath{{fill}}")
    if kind == "text":
        words = "".join(ESCAPED.get(c, c) for c in element.text or "")
        anchor = ANCHORS[element.get("text-anchor", "start")]
        return (f"\\pgftext[x={number('x'):.2f}bp,y={height - number('y'):.2f}bp,{anchor}]"
                f"{{\\fontsize{{{element.get('font-size', '12')}}}{{12}}\\selectfont {words}}}")
    return None


def from_svg(svg: str) -> str:
    root = ET.fromstring(svg)
    height = float(root.get("height", "0"))
    shapes = [_shape(element, height) for element in root.iter()]
    return "\n".join(["% Needs \\usepackage{pgf} and \\usepackage{xcolor}.", "\\begin{pgfpicture}",
                      *(f"\\begin{{pgfscope}}{shape}\\end{{pgfscope}}"
                        for shape in shapes if shape),
                      "\\end{pgfpicture}", ""])
