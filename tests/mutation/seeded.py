#!/usr/bin/python3
"""Puts seeded bugs into a copy of the sources, one at a time. The test that bugs.txt names for it
must fail with it, and pass without it."""
import argparse
import os
import re
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import tree as mutation_tree
from tree import ROOT, Tree

BUGS = Path(__file__).with_name("bugs.txt")
SAMPLE = ("clock-rounding", "ring-lost-credit", "route-tie")  # they need the least of the build
FORM = re.compile(r"^(?P<name>[\w-]+): (?P<what>.+)\nin +(?P<where>\S+) (?P<function>\S+)\n"
                  r"from +(?P<old>.+)\nto *(?P<new>.*)\n"
                  r"test +(?P<test>[^:\n]+)(?:: (?P<case>.+))?$")


def read_bugs():
    """The bugs of the file, each with the heading above it."""
    bugs, heading = [], ""
    for block in BUGS.read_text().split("\n\n"):
        found = FORM.match(block.strip())
        if found:
            bugs.append(SimpleNamespace(heading=heading, **found.groupdict()))
        elif block.startswith("## "):
            heading = block[3:].strip()
        elif not block.startswith("#"):
            raise ValueError(f"{BUGS.name}: this is no bug:\n{block}")
    return bugs


def bug_called(name):
    return next(bug for bug in read_bugs() if bug.name == name)


def region(text, function):
    """Where the definition of a function begins and ends; `-` is the whole file."""
    if function == "-":
        return [(0, len(text))]
    head = rf"^[A-Za-z_][^;{{}}=#]*?\b{function}\([^;{{}}]*\)\s*\{{.*?^\}}"
    return [found.span() for found in re.finditer(head, text, re.MULTILINE | re.DOTALL)]


def pattern(old):
    """The text with any space, also none, between its words and signs."""
    words = [re.escape(each) for each in re.findall(r"\w+|[^\w\s]", old)]
    first, last = (r"\b" if old[i].isalnum() else "" for i in (0, -1))
    return re.compile(first + r"\s*".join(words) + last)


def place(bug):
    """The file of a bug, and its text with the bug. Raises ValueError when the anchor has gone."""
    path, found = ROOT / bug.where, []
    files = [path] if path.is_file() else sorted(path.rglob("*.[ch]"))
    for file in files:
        text = file.read_text()
        for begin, end in region(text, bug.function):
            found += [(file, text, each.span())
                      for each in pattern(bug.old).finditer(text, begin, end)]
    if len(found) != 1:
        raise ValueError(f"{bug.name}: {bug.where} {bug.function} has `{bug.old}` {len(found)}"
                         " times, not once; move the bug to where the same mistake can be made now")
    file, text, (begin, end) = found[0]
    return str(file.relative_to(ROOT)), text[:begin] + bug.new + text[end:]


def show(tree, bug):
    """Runs the test of a bug without it and with it. Returns whether it was caught."""
    verdict, failed = tree.run([bug.test], bug.case)
    if verdict != mutation_tree.OK:
        tell = f"WITHOUT THE BUG: {verdict}"
    else:
        tree.change(*place(bug))
        verdict, failed = tree.run([bug.test], bug.case)
        tree.restore()
        tell = f"caught by {failed[0] if failed else bug.test}" if verdict == mutation_tree.FAILED \
            else "SURVIVED" if verdict == mutation_tree.OK else "DOES NOT COMPILE"
    print(f"{bug.name:26} {tell}", flush=True)
    return tell.startswith("caught")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="the build folder; the copy lies in BUILD/mutation")
    parser.add_argument("name", nargs="*", help="these bugs only")
    parser.add_argument("--sample", action="store_true", help="three bugs only")
    options = parser.parse_args()
    wanted = SAMPLE if options.sample else options.name
    bugs = [bug for bug in read_bugs() if not wanted or bug.name in wanted]
    if not bugs:
        raise SystemExit(f"{BUGS.name} has no bug called {' or '.join(wanted)}")
    begin = time.monotonic()
    tree = Tree(Path(options.build) / "mutation", os.environ.get("HEDDLE_JOBS", os.cpu_count()))
    caught = [bug for bug in bugs if show(tree, bug)]
    print(f"{len(bugs)} bugs, {len(caught)} caught ({time.monotonic() - begin:.0f} s)")
    return len(caught) != len(bugs)


if __name__ == "__main__":
    sys.exit(main())
