#!/usr/bin/python3
"""Are tests able to see a change? Makes small mistakes in the lines of C that have changed since
BASE, one at a time, and runs the unit tests. A mistake that no test sees is a survivor: a test is
missing, or the text has no effect. Which mistakes are tried is fixed by the text of each line."""
import argparse
import hashlib
import os
import re
import sys
import time
from pathlib import Path

import tree as mutation_tree
from tree import ROOT, Tree, git

CODE = ("base", "dsl", "codegen", "command", "lsp", "runtime", "components")
RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
             "&&": "||", "||": "&&", "+=": "-=", "-=": "+=", "++": "--", "--": "++"}
SIGN = re.compile(r"<<=|>>=|->|<<|>>|<=|>=|==|!=|&&|\|\||\+=|-=|\+\+|--|[<>]")
NUMBER = re.compile(r"(?<![\w.\"'])(0x[0-9a-fA-F]+|\d+)(?=[uUlL]*\b)(?![\w.]*\.)")
STATEMENT = re.compile(r"^\s+(?!return\b|break\b|continue\b|goto\b|case\b|default\b|typedef\b"
                       r"|static\b|const\b|struct\b|enum\b|union\b)[A-Za-z_*(][^{}]*;\s*$")
DECLARES = re.compile(r"^\s+(?:\w+\s+)+\**\w+(?:\[[^]]*\])?\s*(?:=|,|;)")
SKIPPED = re.compile(r"^\s*(?:#|//|/?\*|assert\b)|\bbug\(|\bTest\(")
HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")


def changed_lines(base):
    """{file: numbers of its lines that are new or different}, of C code outside of tests."""
    lines, name = {}, None
    for line in git("diff", "--unified=0", "--no-renames", base, "--", *CODE).splitlines():
        if line.startswith("+++ "):
            name = line[6:] if line.endswith((".c", ".h")) else None
        elif (hunk := HUNK.match(line)) and name:
            first, count = int(hunk[1]), int(hunk[2] or 1)
            lines.setdefault(name, set()).update(range(first, first + count))
    return lines


def code_only(line):
    """The line with texts and comments blanked, so that places stay the same."""
    blank = lambda found: " " * len(found[0])  # noqa: E731
    return re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|/\*.*?\*/|/\*.*$|//.*$', blank, line)


def mutants_of(line):
    """(what is done, the line with it), of one line of C."""
    code = code_only(line)
    if SKIPPED.search(code):
        return
    for found in SIGN.finditer(code):
        other = RELATIONS.get(found[0])
        spaced = code[found.start() - 1:found.start()] == " " and code[found.end():][:1] == " "
        if other and (spaced or found[0] in ("++", "--")):
            yield (f"{found[0]} becomes {other}",
                   line[:found.start()] + other + line[found.end():])
    for found in NUMBER.finditer(code):
        yield (f"{found[0]} becomes {found[0]} + 1",
               f"{line[:found.start()]}({found[0]} + 1){line[found.end():]}")
    if STATEMENT.match(code) and not DECLARES.match(code) and code.count("(") == code.count(")"):
        yield "statement dropped", re.match(r"\s*", line)[0] + ";"


def mutants(base):
    """(file, number, what is done, the line with it) of all changed lines."""
    for name, numbers in sorted(changed_lines(base).items()):
        text = (ROOT / name).read_text().splitlines()
        in_comment = False
        for number, line in enumerate(text, 1):
            begins = in_comment
            in_comment = (in_comment or "/*" in line) and \
                line.rfind("*/") <= (line.rfind("/*") if "/*" in line else -1)
            if number in numbers and not begins:
                for what, mutant in mutants_of(line):
                    yield name, number, what, mutant


def suites_of(name):
    """The suites of the tests nearest to a file come first."""
    if name.startswith("components/amd/isa/"):
        return ["isa"]
    if name.startswith("components/hip/"):
        return ["hip"]
    return [name.split("/")[0]]


def order(one):
    """An order that does not follow the text, and changes with the text of the line only."""
    name, number, what, _ = one
    line = (ROOT / name).read_text().splitlines()[number - 1]
    return hashlib.sha256(f"{name} {what} {line}".encode()).digest()


def judge(tree, tests, one):
    """survived, caught or does not compile; and what caught it."""
    name, number, _, mutant = one
    lines = (ROOT / name).read_text().splitlines(keepends=True)
    lines[number - 1] = mutant + "\n"
    tree.change(name, "".join(lines))
    near = [test for test, suite in tests.items() if suite in suites_of(name)]
    verdict, failed = tree.run(near)
    if verdict == mutation_tree.OK:
        verdict, failed = tree.run([test for test in tests if test not in near])
    tree.restore()
    return verdict, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="the build folder; the copy lies in BUILD/mutation")
    parser.add_argument("base", help="a commit; mistakes are made in what has changed since")
    parser.add_argument("--most", type=int, default=40, metavar="N", help="so many mistakes (40)")
    parser.add_argument("--tests", action="append", metavar="TEXT",
                        help="only tests whose names contain TEXT (may be given several times)")
    parser.add_argument("--list", action="store_true", help="only list the mistakes")
    options = parser.parse_args()
    chosen = sorted(mutants(options.base), key=order)[:options.most]
    if options.list:
        print("\n".join(f"{name}:{number}: {what}" for name, number, what, _ in chosen))
        return 0
    begin = time.monotonic()
    tree = Tree(Path(options.build) / "mutation", os.environ.get("HEDDLE_JOBS", os.cpu_count()))
    tests = {test: suite for test, suite in tree.tests().items()
             if not options.tests or any(text in test for text in options.tests)}
    verdict, failed = tree.run(list(tests))
    if verdict != mutation_tree.OK:
        raise SystemExit(f"without a mistake: {verdict}: {failed}; see {tree.folder / 'log'}")
    survivors = 0
    for one in chosen:
        verdict, failed = judge(tree, tests, one)
        tell = "SURVIVED" if verdict == mutation_tree.OK else f"caught by {failed[0]}" if failed \
            else verdict
        survivors += verdict == mutation_tree.OK
        print(f"{one[0]}:{one[1]}: {one[2]}: {tell}", flush=True)
    print(f"{len(chosen)} mistakes, {survivors} survived ({time.monotonic() - begin:.0f} s)")
    return survivors > 0


if __name__ == "__main__":
    sys.exit(main())
