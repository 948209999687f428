"""docs/reference/limits.md names each limit's constant: its value is the one that the page says."""
import re

from house import ROOT

ROW = re.compile(r"^\| (\d+) \|.*`(\w+)`, ([\w/]+\.[ch])", re.MULTILINE)


def value_of(name, text):
    """Of an enumerator or a macro; types and suffixes are no part of it."""
    found = re.search(rf"(?:#define {name}\s+|\b{name} =\s+)((?:[^,/}}\n]|/ \d)+)", text)
    assert found, f"there is no {name}"
    plain = re.sub(r"\(size_t\)|\(uint(?:32|64)_t\)|[uUlL]+\b", "", found[1]).strip(" ,()")
    if named := re.fullmatch(r"([A-Z_]+)(?: / (\d+))?", plain):
        return value_of(named[1], text) // int(named[2] or 1)
    sides = [int(each, 0) for each in re.sub(r"[()]", "", plain).split("<<")]
    return sides[0] << sides[1] if len(sides) == 2 else sides[0]


def test_limits_of_the_page_are_those_of_the_source():
    rows = ROW.findall((ROOT / "docs/reference/limits.md").read_text())
    assert len(rows) > 30
    wrong = [f"{name} of {path} is {found}, not {number}" for number, name, path in rows
             if (found := value_of(name, (ROOT / path).read_text())) != int(number)]
    assert not wrong, "\n".join(wrong)
