"""Every name that a description accepts compiles: what C reserves, what the runtime has, and names
that would be one in C are answered by `heddle check`, or get a '_' in C."""
import json
import re
import subprocess

import harness
import pytest

FLAGS = ["-std=c17", "-D_POSIX_C_SOURCE=200809L", "-D_DEFAULT_SOURCE", "-I", str(harness.ROOT)]
STANDARD = ("assert ctype errno fenv float inttypes limits locale math setjmp signal stdalign"
            " stdarg stdbool stddef stdint stdio stdlib stdnoreturn string time wchar").split()

NASTY = """int int_ int__ for for_ _ a _a a_ A a__1 a__generic __LINE__ __func__ _Bool _Generic
    main NULL EOF errno stdin assert offsetof bool true NAN SIZE_MAX UINT32_MAX INT_MAX PRIx64 EPERM
    SIGINT M_PI RAND_MAX UNIT_CODE RING_NONE constexpr nullptr typeof static_assert asm
    uint8_t
    uint32_t int64_t size_t memcpy printf c i p m tag tag_ ring payload payload_ at offset self base
    stats params io limit now wake_at init init_part part part_ component component_ message struct_
    state state_ kind ready fields nothing peek pop send reply request count first first_pending
    engine engine_base arena arena_at port port_place ring_post ring_slot stat stat_list stat_kind
    unit_type platform tick walk tick_one outstanding ops x x_count x_first x_request
    x_reply x_ops x_fields x_cases x_payload layout cases encode decode VERSION CONSTANTS
    CACHE cache Cache""".split()

OWNER = "component owner {{ {0} }} platform whole {{ clock k = 1GHz; o : owner on k; }}"
PORTS = "interface other; protocol w {{ request q {{ f: u8; }} reply r for q {{ }} }}"
IN_OWNER = PORTS + " part filler : other {{ }}\n" + OWNER

# What stands around all names, and each name on a line of its own.
KINDS = {
    "component": ("{0}", "component {0} {{ in w : any optional; param n : int = 1; }}"),
    "part": ("interface f;\n{0}", "part {0} : f {{ param n : int = 1; stat s : counter; }}"),
    "parameter": (OWNER, "param {0} : int = 3;"),
    "text": (OWNER, 'param {0} : string = "x";'),
    "choice": (OWNER, "param {0} : enum {{ one, two }} = one;"),
    "member": (OWNER.replace("{0}", "param z : enum {{ first_one\n{0}\n}} = first_one;"), ", {0}"),
    "statistic": (OWNER, "stat {0} : counter;"),
    "input": (IN_OWNER, "in {0} : w optional;"),
    "output": (IN_OWNER, "out {0} : w optional;"),
    "array": (IN_OWNER, "in {0}[2] : w optional;"),
    "any": (IN_OWNER, "in {0} : any optional;"),
    "slot": (IN_OWNER, "slot {0} : other = filler;"),
    "optional slot": (IN_OWNER, "slot {0} : other optional;"),
    "subpart": (IN_OWNER, "part {0} : filler;"),
    "subparts": (IN_OWNER, "part {0}[2] : filler;"),
    "store": (IN_OWNER, "store {0} : thing;"),
    "structure": (IN_OWNER, "store s_{1} : {0};"),
    "enum": ("{0}", "enum {0} {{ one, two }};"),
    "literal": ("enum e {{ first_one\n{0}\n}};", ", {0}"),
    "interface": ("{0}", "interface {0};"),
    "protocol": ("{0}", "protocol {0} {{ request q {{ f: u8; g: bytes[4]; }}"
                 " reply r for q {{ }} }}"),
    "request": ("protocol w {{\n{0}\n}}", "request {0} {{ f: u8; g: bytes[4]; }}"),
    "field": ("protocol w {{ request q {{\n{0}\n}} reply r for q {{ }} }}"
              " component owner {{ out o : w optional; }}", "{0}: bool;"),
    "data": ("protocol w {{ request q {{\n{0}\n}} reply r for q {{ }} }}"
             " component owner {{ out o : w optional; }}", "{0}: bytes[8];"),
    "argument": ("protocol w({0}\n last: int) {{ request q {{ a: bytes[last]; b: bytes[last]; }}"
                 " reply r for q {{ }} }}", "{0}: bytes,"),
}


def describe(kind, names):
    around, line = KINDS[kind]
    lines = "\n".join(line.format(name, number) for number, name in enumerate(names))
    return around.format(lines, "\n".join(f", {name}" for name in names)) + "\n"


def accepted(kind, names, folder):
    """The names that are left when those with an error of their own are taken out."""
    file = folder / "names.heddle"
    for _ in range(12):
        text = describe(kind, names)
        file.write_text(text)
        done = harness.heddle(f"check --json {file}", status=harness.ANY)
        assert done.status in (0, 1), harness.explain(done, "it ended otherwise")
        errors = [one for one in json.loads(done.stdout) if one["severity"] == "error"]
        if not errors:
            return names
        assert {one["code"] for one in errors} <= {"E0212", "E0201"}, errors[0]["message"]
        lines = {one["line"] for one in errors}
        refused = {name for number, line in enumerate(text.splitlines(), 1) if number in lines
                   for name in names if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", line)}
        assert refused, errors[0]["message"]
        names = [name for name in names if name not in refused]
    raise AssertionError(f"{kind}: errors without an end")


def stubs(folder, header):
    """What an author would write for a component or part."""
    text = header.read_text()
    name = re.search(r"^struct (\w+)_io \{", text, re.M).group(1)
    stores = set(re.findall(r"^struct (\w+);", text, re.M)) - {
        name, *re.findall(r"^struct (\w+) \{", text, re.M)}
    lines = [f'#include "{header.name}"', f"struct {name} {{ struct {name}_io io; }};",
             *(f"struct {store} {{ int x; }};" for store in sorted(stores)
               if not header.with_name(f"{store}.gen.h").exists()),  # a part of the unit
             f"static void {name}_init(struct {name} *c) {{ (void)c; }}"]
    if "struct component base" in text:
        lines += [f"static bool {name}_tick(struct {name} *c) {{ (void)c; return false; }}",
                  f"static unsigned {name}_outstanding(const struct {name} *c,"
                  " struct hang_report *r) { (void)c; (void)r; return 0; }"]
    elif interface := re.search(r'^#include "(\w+)\.h"$', text, re.M):
        lines += [f"static const struct {interface.group(1)}_ops {name}_ops = {{0}};"]
    (folder / (header.name.removesuffix(".gen.h") + ".c")).write_text("\n".join(lines) + "\n")


def compile_all(folder, out):
    for header in out.glob("*.gen.h"):
        text = header.read_text()
        for name in re.findall(r'#include "(\w+)\.h"', text):
            ops = f"struct {name}_ops {{ int unused; }};" if name in ("f", "other") else ""
            (folder / f"{name}.h").write_text(
                f"#ifndef {name}_GUARD\n#define {name}_GUARD\n{ops}\nstruct {name} {{ int x; }};\n"
                "#endif\n")
        if re.search(r"^struct \w+_io \{", text, re.M):
            stubs(folder, header)
    everything = folder / "everything.c"
    everything.write_text("".join(f"#include <{name}.h>\n" for name in STANDARD)
                          + '#include "runtime/engine/unit.h"\n'
                          + "".join(f'#include "{header.name}"\n' for header in sorted(
                              out.glob("*.gen.h"))))
    sources = [everything, *sorted(out.glob("*.c"))]
    done = subprocess.run(
        ["cc", "-fsyntax-only", *FLAGS, "-Wall", "-Wextra", "-Werror", "-Wno-unused-function",
         "-Wno-unused-const-variable", "-iquote", out, "-iquote", folder, *sources],
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]


@pytest.mark.parametrize("kind", KINDS)
def test_each_accepted_name_compiles(kind, heddle, tmp_path):
    names = accepted(kind, NASTY, tmp_path)
    assert len(names) > 60, f"only {names}"
    if kind in ("component", "part"):  # used, so that there are units
        file = tmp_path / "names.heddle"
        use = " ".join(f"i{n} : {name} on k;" for n, name in enumerate(names)) if (
            kind == "component") else "o : owner on k;"
        slots = " ".join(f"slot s{n} : f = {name};" for n, name in enumerate(names)) if (
            kind == "part") else ""
        owner = f"component owner {{ {slots} }}" if kind == "part" else ""
        file.write_text(file.read_text() + f"{owner} platform whole {{ clock k = 1GHz; {use} }}\n")
    for header in tmp_path.glob("*.c"):
        header.unlink()
    heddle(f"gen {tmp_path}/names.heddle -o {tmp_path}/out")
    compile_all(tmp_path, tmp_path / "out")
