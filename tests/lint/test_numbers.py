"""Base has the lesser of two numbers, rounding, lengths of arrays, hints for branches, lists that
grow and the multiplier of hashes: no source writes them out. Headers of programs, which are
installed alone, may."""
import re

import house
from house import CODE, files, text_of
from test_sources import code_lines_with

OPERAND = r"[\w.]+(?:->[\w.]+|\[\w+\])*"
FORMS = {
    "min() or max()": re.compile(
        rf"(?:[=(,]|\breturn)\s*\(?({OPERAND})\s[<>]\s({OPERAND})\s\?\s"
        r"(?:\1\s:\s\2|\2\s:\s\1)\s*[;,)]"),
    "round_up() or divide_up()": re.compile(
        rf"[=(+]\s*\([^()\n;?]+\s\+\s"
        rf"(?:({OPERAND})\s-\s1\)\s/\s\1|(?:63\)\s/\s64|7\)\s/\s8))\b(?!\])"),
    "round_up() or round_down()": re.compile(r"& ~(?:\((?:uint64_t|size_t)\))?\([A-Z_]+ - 1\)"),
    "ARRAY_COUNT()": re.compile(rf"sizeof \(?({OPERAND})\)? / sizeof \(?(?:\*\1|\1\[0\])"),
    "likely() or unlikely()": re.compile(r"\b__builtin_expect\("),
    "grow_list() or grow_capacity()": re.compile(
        r"\brealloc\(|\b(?:room|capacity) \? 2 \*|= 2 \* [\w>.-]*(?:room|capacity)\b"
        r"|\b(?:room|capacity) \*= 2"),
    "base/hash_table.h": re.compile(r"\((?:slot|at|i) \+ 1\) & "),
    "base/hash.h": re.compile(r"(?i:0x9e3779b|\b2654435761)"),
}


def raw_forms(text):
    return [(line, advice) for advice, form in FORMS.items()
            for line in code_lines_with(form, text)]


def test_base_has_what_sources_write_out():
    found = {f"{file} {line}": f"{file}:{line}: {advice}"
             for file in files("*.[chyl]", folders=CODE)
             if not file.startswith("base/") and "/include/" not in file
             for line, advice in raw_forms(text_of(file))}
    house.check(found, "take it from base")


def test_form_that_is_written_out_is_found():
    for text in ("x = a < b ? a : b;", "return p->size > most ? most : p->size;",
                 "n = (n + 63) / 64;", "f((size + PAGE - 1) / PAGE * PAGE);",
                 "x = (size_t)at & ~(uint64_t)(LINE - 1);", "sizeof rows / sizeof *rows",
                 "if (__builtin_expect(found, 1))", "realloc(list, 8)",
                 "l->room = l->room ? 2 * l->room : 8;", "l->capacity = 2 * l->capacity + 1;",
                 "room *= 2;", "slot = (slot + 1) & (capacity - 1);", "hash * 0x9e3779b97f4a7c15"):
        assert raw_forms(text), text
    for text in ("x < low ? low : x > high ? high : x;", "min(a, b)",
                 "uint64_t bits[(N + 63) / 64];",
                 "size / sizeof *rows", "a < b ? b - a : 0"):
        assert not raw_forms(text), text
