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

    VOID = {"meta", "br", "img", "link", "hr"}

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


KINDS = {"trace_player": "host", "streaming_multiprocessor": "compute", "sector_cache": "cache",
         "sector_crossbar": "interconnect", "sector_dram": "memory",
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
    assert sum(int(r["members"]) for r in rows if r["source"] != "slot") == params, \
        f"{platform}: rows do not add up to {params}"
    run(heddle, "dot", platform, "--html", folder)
    check_page(folder, "index.html")


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


def main():
    heddle, platforms = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as scratch:
        for platform in platforms:
            check_platform(heddle, platform, pathlib.Path(scratch) / pathlib.Path(platform).stem)
        check_reference(heddle, platforms, pathlib.Path(scratch) / "reference")
    seen = set().union(*(check_kinds(heddle, platform) for platform in platforms))
    assert not KINDS.keys() - seen, f"no platform shows {KINDS.keys() - seen}"
    print(f"{len(platforms)} platforms")


main()
