"""The editor files: valid JSON, no dead references, and patterns that find what they are for.

Usage: editor_check.py EDITOR_FOLDER DESCRIPTION...
The patterns keep to what TextMate's regular expressions and Python's have in common.
"""
import json
import pathlib
import re
import sys

# (line, text in it, scope that the text must get)
SAMPLES = [
    ("    param size : bytes = 16KiB in 1KiB .. 64MiB pow2;", "param", "storage.modifier.heddle"),
    ("    param size : bytes = 16KiB in 1KiB .. 64MiB pow2;", "size", "variable.parameter.heddle"),
    ("    param size : bytes = 16KiB in 1KiB .. 64MiB pow2;", "KiB", "keyword.other.unit.heddle"),
    ("component cache {", "cache", "entity.name.type.heddle"),
    ("link pcie { bandwidth = 32GB/s;  latency = 140ns; }", "GB/s", "keyword.other.unit.heddle"),
    ("    l2[*].bottom -> dram[*].top latency 1cy;", "->", "keyword.operator.connection.heddle"),
    ("    l2[*].bottom -> dram[*].top latency 1cy;", "latency", "keyword.other.connection.heddle"),
    ("/// Set-associative cache.", "Set", "comment.line.documentation.heddle"),
    ("    out work[] : work;", "out", "storage.modifier.heddle"),
    ('import "std/cache";', "std", "string.quoted.double.heddle"),
]


def rules(grammar, patterns):
    for pattern in patterns:
        if "include" in pattern:
            yield from rules(grammar, grammar["repository"][pattern["include"][1:]]["patterns"])
        else:
            yield pattern


def scopes(grammar, line):
    """The scope of each character, as an editor finds it: at each place the first rule that matches
    earliest."""
    found, at = [None] * len(line), 0
    while at < len(line):
        best = None
        for rule in rules(grammar, grammar["patterns"]):
            match = re.compile(rule.get("match") or rule["begin"]).search(line, at)
            if match and match.end() > match.start() and (
                    best is None or match.start() < best[0].start()):
                best = (match, rule)
        if best is None:
            break
        match, rule = best
        end = match.end()
        if "begin" in rule:
            close = re.compile(rule["end"]).search(line, end)
            end = close.end() if close else len(line)
        found[match.start():end] = [rule.get("name")] * (end - match.start())
        for group, capture in rule.get("captures", {}).items():
            first, last = match.span(int(group))
            if first >= 0:
                found[first:last] = [capture["name"]] * (last - first)
        at = end
    return found


def main():
    folder = pathlib.Path(sys.argv[1])
    grammar = json.loads((folder / "heddle.tmLanguage.json").read_text())
    json.loads((folder / "language-configuration.json").read_text())
    package = json.loads((folder / "package.json").read_text())
    for entry in package["contributes"]["grammars"]:
        assert (folder / entry["path"]).exists(), entry
        assert entry["scopeName"] == grammar["scopeName"]
    used = {rule["include"][1:] for rule in grammar["patterns"]}
    assert used == set(grammar["repository"]), used ^ set(grammar["repository"])
    for line, text, scope in SAMPLES:
        got = scopes(grammar, line)[line.index(text)]
        assert got == scope, f"{text!r} in {line!r}: {got}, not {scope}"
    for path in sys.argv[2:]:
        for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
            found = scopes(grammar, line)
            comment = line.find("//")
            if comment >= 0 and '"' not in line[:comment]:
                assert str(found[comment]).startswith("comment."), \
                    f"{path}:{number}: comment not seen"
    print(f"{len(SAMPLES)} samples, {len(sys.argv) - 2} files")


main()
