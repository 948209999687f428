#!/usr/bin/env python3
"""Writes what follows from distribution_exports.tab: `map` the linker's version script, `stubs` the
C of all refusals.

Every refusal is a weak definition, so that a function that is implemented in another file replaces
it, and what is missing refuses with its name instead of crashing. Rows without a version are
functions of the C library that ours stand in front of: they are exported without a version, which
fits every reference. Usage: gen_exports.py map|stubs TABLE OUTPUT.
"""
import re
import sys

BODIES = {
    "error": ("int", "return HIP_UNSUPPORTED;", "hipErrorNotSupported"),
    "rtc": ("int", "return HIPRTC_UNSUPPORTED;", "HIPRTC_ERROR_INTERNAL_ERROR"),
    "text": ("const void *", "return 0;", "a null pointer"),
    "number": ("int", "return -1;", "-1"),
    "nothing": ("void", "", "nothing done"),
}
UNVERSIONED = "-"


def read_table(path):
    rows = []
    with open(path, encoding="ascii") as table:
        for number, line in enumerate(table, 1):
            if line.startswith("#") or not line.strip():
                continue
            fields = line.split()
            if len(fields) != 3 or fields[2] not in BODIES and fields[2:] != ["wrapper"]:
                sys.exit(f"{path}:{number}: expected: VERSION NAME {'|'.join(BODIES)}")
            rows.append(fields)
    return rows


def version_script(rows):
    lines = []
    before = ""
    for version in sorted({row[0] for row in rows}):
        if version == UNVERSIONED:
            continue
        names = "".join(f"    {row[1]};\n" for row in rows if row[0] == version)
        lines.append(f"{version} {{\nglobal:\n{names}}}{before};\n")
        before = " " + version
    return "\n".join(lines)


def readable(symbol):
    """The name of a C++ function without its parameters."""
    found = re.match(r"_ZN?(?=\d)", symbol)
    names, rest = [], symbol[found.end():] if found else ""
    while part := re.match(r"\d+", rest):
        end = part.end() + int(part.group())
        names.append(rest[part.end():end])
        rest = rest[end:] if symbol.startswith("_ZN") else ""
    return "::".join(names) or symbol


def stubs(rows):
    parts = ["/* Generated from distribution_exports.tab: a weak refusal for every exported "
             "function. */\n"
             '#include "components/hip/api/hip_unsupported.h"\n']
    for version, name, kind in rows:
        if version == UNVERSIONED:
            continue
        result, body, goes_on = BODIES[kind]
        space = "" if result.endswith("*") else " "
        parts.append("\n__attribute__((weak, visibility(\"default\"))) "
                     f"{result}{space}{name}(void);\n"
                     f"{result}{space}{name}(void)\n{{\n"
                     f"    hip_say_missing(\"{readable(name)}\", \"{goes_on}\");\n"
                     + (f"    {body}\n" if body else "") + "}\n")
    return "".join(parts)


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("map", "stubs"):
        sys.exit(__doc__)
    rows = read_table(sys.argv[2])
    with open(sys.argv[3], "w", encoding="ascii") as output:
        output.write(version_script(rows) if sys.argv[1] == "map" else stubs(rows))


main()
