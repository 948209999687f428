"""Committed pages name only what there is: files, tests, functions, variables of the environment.

A path is named from the checkout's root, in code or in plain text. Other names are looked at where
a page shows them as code, outside the guide, whose files the reader makes. CHANGELOG.md may name
what has gone. Links are a matter of tests/system/toolkit/test_docs.py, and so are options, which
the built command knows."""
import functools
import re
from pathlib import Path

import pytest

import house
from house import FILES, files, text_of

FOLDERS = "base|dsl|codegen|command|lsp|runtime|components|platforms|python|packaging|tests|docs"
BLOCK = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
SPAN = re.compile(r"`([^`\n]+)`")
PATH = re.compile(rf"(?<![\w/.-])((?:build/)?(?:{FOLDERS})/[\w./*{{}},-]*[\w*/}}])")
PLACEHOLDER = re.compile(r"\b[A-Z]{2,}\b|NAME")
SOURCE = r"[\w-]+\.(?:c|h|l|y|py|sh|tab|def|heddle|hip\.cpp)"


def pages():
    """Without CHANGELOG.md, and without templates, whose paths are the written page's."""
    return [page for page in files("*.md") if page != "CHANGELOG.md"]


def references():
    """Pages whose code is the toolkit's own."""
    return [page for page in pages() if not page.startswith(("docs/guide/", "tests/bench/"))]


@functools.cache
def sources():
    """Text of all that is not a page."""
    return "\n".join(text_of(f) for f in FILES if not f.endswith((".md", ".svg", ".mutation")))


@functools.cache
def words():
    return set(re.findall(r"\w+", sources()))


@functools.cache
def folders():
    return {str(folder) for file in FILES for folder in Path(file).parents}


def braces(path):
    """`a.{c,h}` as `a.c` and `a.h`."""
    found = re.match(r"(.*?)\{([^{}]*)\}(.*)", path)
    if not found:
        return [path]
    return [each for choice in found[2].split(",") for each in braces(found[1] + choice + found[3])]


def exists(path):
    """A file or folder; what is built from a source of the same name counts, too."""
    built = path.startswith("build/")
    path = path.removeprefix("build/").rstrip("/")
    if path.startswith("docs/") and built:
        return True  # docs/generate.sh makes it; a test follows its links
    pattern = re.compile(re.escape(path).replace(r"\*", "[^/]*") + r"(?:\.[\w.]+)?$")
    return path in folders() or any(pattern.match(name) for name in (*FILES, *folders())) \
        or built and path.startswith("codegen/")


def named_paths(text):
    for path in PATH.findall(re.sub(r"https?://\S+", "", text)):
        if not PLACEHOLDER.search(path):
            yield from braces(path)


def spans(text):
    """What stands between backquotes, but for blocks."""
    return SPAN.findall(BLOCK.sub("", text))


def is_known(name):
    """False if a name in code is one that a file, a test or a function would have, and none has."""
    if re.fullmatch(SOURCE, name):
        return PLACEHOLDER.search(name) or any(Path(file).name == name for file in FILES)
    if re.fullmatch(r"test_\w+|HEDDLE_[A-Z_]+", name):
        return name in words() or any(Path(file).stem == name for file in FILES)
    if re.fullmatch(r"[a-z]\w+\(\)", name):
        return name[:-2] in words()
    return True


def test_path_on_a_page_exists():
    found = {f"{page} {path}": f"{page}: {path}" for page in pages()
             for path in named_paths(text_of(page)) if not exists(path)}
    house.check(found, "a page names a file or folder that is not there")


def test_name_on_a_page_exists():
    found = {f"{page} {name}": f"{page}: {name}" for page in references()
             for name in spans(text_of(page)) if not is_known(name)}
    house.check(found, "a page names a test, function or variable that is not there")


ITEM = re.compile(r"^(?:- |\| )((?:`[^`]+`(?:, | and )?)+)|; (`\w+`):", re.MULTILINE)


def items(text):
    """Words that stand first in an item of a list, or before a colon in it: modules."""
    return [word for found in ITEM.finditer(text) for word in re.findall(r"`([a-z]\w+)`", found[0])]


def test_modules_in_a_readme_are_in_its_folder():
    found = {}
    for page in files("*README.md", folders=[*house.CODE, "python", "tests"]):
        folder = str(Path(page).parent)
        there = {part.split(".")[0] for f in FILES if f.startswith(f"{folder}/")
                 for part in f.split("/")}
        found.update({f"{page} {name}": f"{page}: {name}" for name in items(text_of(page))
                      if name not in there})
    house.check(found, "a README names a file or folder that is not there")
    assert items("- `ring`: a; `part`: b.\n| `x1`, `y.c` | `no` |") == ["ring", "part", "x1"]


HEADING = re.compile(r"# ([\w/]+): \S")


def complaint_of_readme(page, text):
    """How a README departs from the form that those of folders share; None: it does not."""
    heading = HEADING.match(text)
    if not heading or not f"/{Path(page).parent}".endswith(f"/{heading[1]}"):
        return "the heading is not 'folder: what it is'"
    for label in "Begin", "Tests":
        lines = [line for line in text.splitlines()
                 if re.match(rf"(?:\*\*|#+ )?{label}\b", line)]
        form = "**Begin with** " if label == "Begin" else "**Tests**: "
        if len(lines) > 1 or any(not line.startswith(form) for line in lines):
            return f"not one line '{form}...'"
    if re.search(r"(?<!\*)\b(?:Begin (?:with|here)|Tests:)", text):
        return "'Begin with' or 'Tests' inside a paragraph"
    return None


def test_readmes_of_folders_have_one_form():
    found = {page: f"{page}: {complaint}" for page in files("*/README.md")
             if not page.startswith("docs/")
             and (complaint := complaint_of_readme(page, text_of(page)))}
    house.check(found, "the README of a folder has the form of the others")
    for text in ("# A", "# room: it\nBegin with `a.c`.", "# room: it\n\nIt. Tests: `a`.",
                 "# room: it\n\n## Tests", "# other: it"):
        assert complaint_of_readme("a/room/README.md", text)
    assert not complaint_of_readme("a/room/README.md", "# room: it\n\n**Begin with** `a`.\n")


COMMENT = re.compile(r"^<!--.*?-->$", re.DOTALL | re.MULTILINE)
DASHES = re.compile(r"\|(?: *:?-+:? *\|)+")


def broken_tables(text):
    """Lines that begin tables which do not render as such. A table stands between empty lines: each
    line is a row with bars at both ends, the second one of dashes, all with the same cells."""
    for paragraph in re.split(r"\n\s*\n", COMMENT.sub("", BLOCK.sub("", text))):
        rows = [row.strip() for row in paragraph.strip().splitlines()]
        plain = [re.sub(r"`[^`]*`", "", row) for row in rows]
        if not any(row.startswith("|") or "| --" in row for row in plain):
            continue
        cells = {len(re.findall(r"(?<!\\)\|", row)) for row in rows}
        if len(rows) < 2 or not DASHES.fullmatch(rows[1]) or len(cells) > 1 \
                or not all(row.startswith("|") and row.endswith("|") for row in rows):
            yield rows[0]


def test_table_on_a_page_renders():
    found = {f"{page} {row}": f"{page}: {row}" for page in files("*.md")
             for row in broken_tables(text_of(page))}
    house.check(found, "a table of a page does not render: empty lines about it, one row a line")


@pytest.mark.parametrize("text, broken", [
    ("| a | b |\n| --- | ---: |\n| `x \\| y` | 1 |\n", False),
    ("```\n| a | b\n```\n", False),
    ("| a | b | | --- | --- | | c | d |\n", True),
    ("| a | b |\n| --- | --- |\nend\n", True),
    ("begin\n| a | b |\n| --- | --- |\n", True),
    ("| a | b |\n| --- | --- |\n| `x|y` | 1 |\n", True)])
def test_table_that_does_not_render_is_found(text, broken):
    assert bool(list(broken_tables(text))) == broken


def test_readme_begins_with_the_two_commands():
    screen = "\n".join(text_of("README.md").splitlines()[:24])
    assert "./dev demo" in screen and "./dev test" in screen


def row(page, name):
    """The numbers of the first row of a page that begins with the name."""
    return re.search(rf"^\| {name} \|(.*)\|$", text_of(page), re.MULTILINE)[1].split(" | ")


def described(file):
    """Lines without comments and empty ones."""
    return len([line for line in text_of(file).splitlines() if re.match(r"\s*(?!//)\S", line)])


def test_figures_of_the_readme_are_those_of_their_pages():
    accuracy, readme = "docs/evidence/accuracy-cdna.md", " ".join(text_of("README.md").split())
    points, mean, weighted = re.search(
        r"^(\d+) points: \*\*mean error ([\d.]+) %, time-weighted ([\d.]+) %",
        text_of(accuracy), re.MULTILINE).groups()
    numbers, _, _, _, fitted, _ = row(accuracy, "mi300a")
    known, _, _, _, _, assumed = row("docs/evidence/sources.md", "r9nano")
    platform, gpu = (described(f) for f in ("platforms/r9nano.heddle",
                                            "components/amd/gcn3/gcn3.heddle"))
    for words in (f"Over {points} measured points of MI300A", f"[{mean} %]({accuracy})",
                  f"weighted by time {weighted} %",
                  f"{fitted.strip()} of the {numbers.strip()} numbers of `mi300a`",
                  f"of {known.strip()}, {assumed.strip()} are [assumed]",
                  f"{platform + gpu} lines of heddle", f"r9nano.heddle` ({platform})",
                  f"gcn3.heddle` ({gpu})"):
        assert words in readme, f"README.md does not say '{words}'"


def test_names_that_are_gone_are_found():
    text = "`./dev`, runtime/no_room, docs/README.md, tests/lint/house.{py,sh}, build/docs/page"
    assert [path for path in named_paths(text) if not exists(path)] == [
        "runtime/no_room", "tests/lint/house.sh"]
    for name in "house.py", "test_name_on_a_page_exists", "exists()", "HEDDLE_BUILD":
        assert is_known(name)
    for name in "no_house.py", "test_of_" + "nothing", "exists_" + "not()", "HEDDLE_" + "NOTHING":
        assert not is_known(name)


@pytest.mark.parametrize("folder", sorted({
    str(Path(f).parent) for f in FILES if f.startswith("python/heddle/") and f.endswith(".py")}))
def test_modules_of_python_are_listed(folder):
    """Those of the package in a table, those of its folders in the text of `__init__.py`."""
    there = {part for f in FILES if f.startswith(f"{folder}/") and f.endswith(".py")
             for part in [Path(f).relative_to(folder).parts[0].removesuffix(".py")]
             if not part.startswith("__")}
    if folder == "python/heddle":
        cells = re.findall(r"^\| (`.*?) \|", text_of("python/README.md"), re.MULTILINE)
        listed = set(re.findall(r"`(\w+)/?`", " ".join(cells)))
    else:
        listed = set(re.findall(r"^(\w+)  +", text_of(f"{folder}/__init__.py"), re.MULTILINE))
    assert there == listed
