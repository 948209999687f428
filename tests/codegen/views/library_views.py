"""Every view of the platforms that come with the toolkit, by the command as a user runs it.

Usage: library_views.py HEDDLE PLATFORM.heddle...
"""
import csv
import html.parser
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile

WIDEST = 2500  # points; a screen of 1920 pixels shows about 1440 without scrolling


def run(*arguments):
    return subprocess.run(arguments, check=True, capture_output=True, text=True).stdout


def width(heddle, platform, level):
    source = run(heddle, "dot", platform, "--level", level)
    laid_out = subprocess.run(["dot", "-Tdot"], input=source, check=True, capture_output=True,
                              text=True).stdout
    return float(re.search(r'bb="0,0,([\d.]+),', laid_out).group(1))


class Page(html.parser.HTMLParser):
    """Ids, links, and whether elements close in the order in which they opened."""

    VOID = {"meta", "br", "img", "link", "hr", "input"}

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.open = [], [], []
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids += [values["id"]] if "id" in values else []
        self.links += [v for k, v in attributes if k in ("href", "xlink:href", "src")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


def check_page(folder, name):
    page = Page((folder / name).read_text())
    assert len(page.ids) == len(set(page.ids)), "an id occurs twice"
    for link in page.links:
        assert link[1:] in page.ids if link.startswith("#") else (folder / link).exists(), \
            f"{name}: {link}"
    return page


KINDS = {"trace_player": "control", "streaming_multiprocessor": "compute", "sector_cache": "cache",
         "sector_dram": "memory",
         "command_processor": "control", "compute_unit": "compute", "cache": "cache",
         "crossbar": "interconnect", "dram": "memory", "dma_engine": "transfer",
         "tlb": "translation", "mmu": "translation"}


def check_kinds(heddle, platform):
    """What a person would call each component. Returns the types that were seen."""
    seen = re.findall(r'tooltip="[^":]+ : (\w+)[^"]*", '
                      r'label=<<TABLE[^\n]*\n<TR><TD[^>]*><FONT[^>]*>(\w+)</FONT>',
                      run(heddle, "dot", platform, "--level", "full"))
    for component, kind in seen:
        assert KINDS.get(component, kind) == kind, f"{platform}: {component} is shown as {kind}"
    return {component for component, _ in seen}


def check_platform(heddle, platform, folder):
    for level in ("platform", "gpu", "full"):
        points = width(heddle, platform, level)
        assert points <= WIDEST, f"{platform} at level {level} is {points} points wide"
    dump = json.loads(run(heddle, "dump", platform, "--json"))
    leaves = sum(i["leaf"] for i in dump["instances"])
    counts = f"{leaves} components, {len(dump['connections'])} connections"
    assert counts in run(heddle, "check", platform), counts
    assert dump["instances"][0]["path"] == ""
    paths = {i["path"] for i in dump["instances"]}
    assert all(i["parent"] in paths for i in dump["instances"][1:])
    params = (sum(len(i["params"]) for i in dump["instances"])
              + sum(len(p["params"]) for p in dump["parts"]))
    rows = list(csv.DictReader(io.StringIO(run(heddle, "params", platform, "--csv"))))
    links = {one.get("link") for one in [*dump.get("wires", []), *dump["connections"]]} - {None}
    params += len(dump["clocks"]) + 2 * len(links)
    assert sum(int(r["members"]) for r in rows if r["source"] != "slot") == params, \
        f"{platform}: rows do not add up to {params}"


def positions(heddle, platform, *options):
    """Where Graphviz puts each node, by the path in its tooltip."""
    source = run(heddle, "dot", platform, *options)
    plain = subprocess.run(["dot", "-Tplain"], input=source, check=True, capture_output=True,
                           text=True).stdout
    at = {m[1]: (float(m[2]), float(m[3]))
          for m in re.finditer(r"^node (\S+) (\S+) (\S+) ", plain, re.M)}
    return {m[2]: at[m[1]] for m in re.finditer(r'^(\w+) \[tooltip="([^" ]+) : ', source, re.M)}


def check_ring(heddle, platform):
    """Four corners of a rectangle, neighbours of the ring beside each other."""
    at = positions(heddle, platform, "--level", "platform")
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = (at[f"gpu[{i}]"] for i in range(4))
    assert x0 == x1 < x2 == x3, at
    assert y0 > y1 and y3 > y2, at
    source = run(heddle, "dot", platform)
    assert "inside each <B>gpu ×4</B>" in source and "xgmi<BR/>50GB/s<BR/>120ns" in source


def check_tree(heddle, platform):
    """Root, switches, wires and GPUs, each behind what leads to it."""
    at = positions(heddle, platform)
    root, switches = at["root"][0], [at[f"pcie_switch[{i}]"] for i in range(2)]
    gpus = [at[f"gpu[{i}]"] for i in range(4)]
    assert root < min(x for x, _ in switches) < min(x for x, _ in gpus), at
    upper = max(switches, key=lambda s: s[1])
    above = sorted(gpus, key=lambda g: g[1])[2:]
    assert set(above) == set(gpus[:2] if upper == switches[0] else gpus[2:]), at


def check_contents(heddle, platform):
    """What people look for first: compute units, totals, bandwidth, no lines for house-keeping."""
    source = run(heddle, "dot", platform)
    for text in ("<B>cu ×4</B> (64 in all)", "size 128KiB (2MiB in 16)", "512GB/s in 16)",
                 "core 1GHz"):
        assert text in source, text
    assert not re.search(r"l1v_control|tlb_control", source)
    assert "tlb_control" in run(heddle, "dot", platform, "--controls")
    wide, column = (run(heddle, "dot", platform, "--layout", w) for w in ("wide", "column"))
    boxes = [re.search(r'bb="0,0,([\d.]+),([\d.]+)', subprocess.run(
        ["dot", "-Tdot"], input=s, check=True, capture_output=True, text=True).stdout)
        for s in (wide, column)]
    (w, h), (cw, ch) = (map(float, b.groups()) for b in boxes)
    assert w > 2 * h and ch > 2 * cw and cw < 600, (w, h, cw, ch)


def check_reference(heddle, platforms, folder):
    run(heddle, "doc", *platforms, "-o", folder)
    pages = sorted(p.name for p in folder.glob("*.html"))
    for name in pages:
        check_page(folder, name)
    for platform in platforms:
        assert f"platform-{pathlib.Path(platform).stem}.html" in pages, platform
    for text in (p.read_text() for p in folder.glob("*.md")):
        for target in re.findall(r"\]\(([^)]+)\)", text):
            assert (folder / target).exists(), target


PICTURES = {"ring4": check_ring, "r9nano_x4": check_tree, "r9nano": check_contents}


def main():
    heddle, platforms = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as scratch:
        for platform in platforms:
            check_platform(heddle, platform, pathlib.Path(scratch) / pathlib.Path(platform).stem)
            name = pathlib.Path(platform).stem
            if name in PICTURES:
                PICTURES[name](heddle, platform)
        check_reference(heddle, platforms, pathlib.Path(scratch) / "reference")
    seen = set().union(*(check_kinds(heddle, platform) for platform in platforms))
    assert not KINDS.keys() - seen, f"no platform shows {KINDS.keys() - seen}"
    print(f"{len(platforms)} platforms")


main()
