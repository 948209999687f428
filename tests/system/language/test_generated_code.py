"""The generated code of each description that is legal, small ones about a single rule, compiles.
Their components have no behaviour, so each unit gets the least that an author has to write."""
import re
from pathlib import Path

import pytest

from harness import HEDDLE, ROOT, call

COMPILER = "gcc -std=c17 -fsyntax-only -Wall -Wextra -Werror -Wno-unused-function".split()
SOURCES = re.compile(r'(?:^#include "\w+\.c"\n)+', re.MULTILINE)
COMPONENT = """
#include "{header}.gen.h"
struct {name} {{ struct {name}_io io; }};
static void {name}_init(struct {name} *c) {{ (void)c; }}
static bool {name}_tick(struct {name} *c) {{ (void)c; return false; }}
static unsigned {name}_outstanding(const struct {name} *c, struct hang_report *report)
{{ (void)c; (void)report; return 0; }}
"""
PART = """
#include "{header}.gen.h"
struct {name} {{ struct {name}_io io; }};
static void {name}_init(struct {name} *p) {{ (void)p; }}
"""


def behaviour(unit):
    """What the authors of a unit's component and parts have to write."""
    for store in set(re.findall(r"^    sizeof\(struct (\w+)\),", unit, re.MULTILINE)):
        yield f"struct {store} {{ int unused; }};\n"
    for name, header in re.findall(
            r'struct unit_part_type (\w+)_part = {\n    .name = "(\w+)"', unit):
        yield PART.format(name=name, header=header)
    for ops in re.findall(r"^static const struct (\w+_ops \w+_ops); ", unit, re.MULTILINE):
        yield f"static const struct {ops} = {{ 0 }};\n"
    name, header = re.search(r'UNIT_DEFINE_WALK\((\w+)\).*struct unit_type \w+ = {\n'
                             r'    .name = "(\w+)"', unit, re.DOTALL).groups()
    yield COMPONENT.format(name=name, header=header)


def write_behaviours(folder):
    """In each unit, in place of the C files that it includes. Headers of interfaces are authors',
    too."""
    for file in folder.glob("*__*.c"):
        unit = file.read_text()
        file.write_text(SOURCES.sub(lambda _: "".join(behaviour(unit)), unit, 1))
    code = "".join(file.read_text() for file in folder.glob("*.[ch]"))
    for name in set(re.findall(r'^#include "(\w+)\.h"', code, re.MULTILINE)):
        (folder / f"{name}.h").write_text(f"#pragma once\nstruct {name}_ops {{ int unused; }};\n")


def write_user_of_headers(folder):
    """Some are included by no unit."""
    names = sorted(file.name for file in folder.glob("*.gen.h"))
    (folder / "headers.c").write_text("".join(f'#include "{name}"\n' for name in names))


def together(folder):
    """Files to compile: one that includes most, so that headers are read once, and those that
    define what others define, too: more variants of a component, and units with parts."""
    components, alone = {}, []
    for file in sorted(folder.glob("*.c")):
        component = file.stem.split("__")[0]
        if component in components or "part_types[" in file.read_text():
            alone.append(file)
        else:
            components[component] = file.name
    one = folder / "together.c"
    one.write_text("".join(f'#include "{name}"\n' for name in components.values()))
    return [one, *alone]


@pytest.mark.parametrize("file", sorted(Path("tests/dsl/good").glob("*.heddle")),
                         ids=lambda file: file.stem)
def test_legal_description_becomes_code_that_compiles(file, tmp_path, full):
    """With --full each file alone, so that it includes what it needs."""
    text = file.read_text()
    options = [word for value in re.findall("^// set: (.*)", text, re.MULTILINE)
               for word in ("--set", value)]
    options += ["--allow-incoherent"] * ("// allow: incoherent" in text)
    for folder, variant in (tmp_path / "generic", ["--generic"]), (tmp_path / "special", []):
        call([HEDDLE, "gen", file, *options, *variant, "-o", folder])
        write_user_of_headers(folder)
        write_behaviours(folder)
        call([*COMPILER, "-iquote", folder, "-iquote", ROOT,
              *(folder.glob("*.c") if full else together(folder))])
