#!/usr/bin/env python3
"""compile_commands.json for editors: compile_commands.py [--check CLANG] HEDDLE ROOT BUILD OUT.

`heddle build` compiles the components for one platform at a time, in its cache, so meson knows no
command for their C files. This writes the generated headers of the whole library to OUT/library,
and OUT/compile_commands.json: the commands of BUILD, and one for each C file of a component, as if
it were compiled alone. .clangd at the root points there. With --check each of the latter commands
is run, to see that an editor can open the file (without HEDDLE_FULL every fourth); OUT is as an
earlier call left it.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

# A C file of a unit sees functions that another file of the unit defines or calls.
ALONE = ["-Wno-undefined-internal", "-Wno-unused-function", "-Wno-unused-const-variable"]
SLOT = re.compile(r"#ifdef (\w+_OPS)\nstatic inline (const struct \w+ \*)")
SKIP = 77  # as meson understands it
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wwrite-strings", "-Wcast-qual"]


def descriptions(root):
    return sorted((root / "components").glob("*/*/*.heddle"))


def make_headers(heddle, root, out):
    """Headers of all components that `import "std/NAME"` finds; a depfile for the build."""
    files = descriptions(root)
    library = out / "library" / "library.heddle"
    library.parent.mkdir(exist_ok=True)
    found = [f.stem for f in files if f.stem == f.parent.name]
    library.write_text("".join(f'import "std/{name}";\n' for name in found))
    subprocess.run([heddle, "gen", library, "-o", library.parent], check=True)
    (out / "library.d").write_text(f"codegen/compile_commands.json: {' '.join(map(str, files))}\n")


def make_slots(out):
    """A unit's generated file says what fills its slots, by macros; here nothing does."""
    slots = {}
    for header in sorted((out / "library").glob("*.gen.h")):
        slots.update(SLOT.findall(header.read_text()))
    lines = [f"#define {name}(part) ((void)(part), ({type})0)\n" for name, type in slots.items()]
    text = "/* What fills the slots of the unit. */\n" + "".join(lines)
    (out / "library" / "slots.h").write_text(text)


def unit_files(root):
    """The C files beside a description."""
    folders = sorted({f.parent for f in descriptions(root)})
    return [file for folder in folders for file in sorted(folder.glob("*.c"))]


def command(root, out, file):
    """The folder of the file comes first: names of headers are those of its own component then."""
    folders = [file.parent, out / "library", *sorted({f.parent for f in descriptions(root)}), root]
    quoted = [word for folder in folders for word in ("-iquote", str(folder))]
    macros = ["-D_GNU_SOURCE", "-DUNIT_CODE", "-include", str(out / "library" / "slots.h")]
    return ["cc", "-std=c17", *macros, *WARNINGS, *ALONE, *quoted, "-c", str(file)]


def write_commands(root, out, build):
    known = json.loads((build / "compile_commands.json").read_text())
    compiled = {os.path.realpath(os.path.join(c["directory"], c["file"])) for c in known}
    units = [{"directory": str(root), "file": str(f), "arguments": command(root, out, f)}
             for f in unit_files(root) if str(f) not in compiled]
    (out / "compile_commands.json").write_text(json.dumps(known + units, indent=1))


def check(clang, root, out):
    """The exit status."""
    if not shutil.which(clang):
        print(f"{clang} is not installed: whether an editor can open the components is not checked")
        return SKIP
    known = json.loads((out / "compile_commands.json").read_text())
    commands = [c["arguments"] for c in known if "arguments" in c]
    if not os.environ.get("HEDDLE_FULL"):
        commands = commands[::4]

    def run(words):
        words = [clang, "-fsyntax-only", *words[1:]]
        return subprocess.run(words, cwd=root, capture_output=True, text=True)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = [got for got in pool.map(run, commands) if got.returncode != 0]
    for got in failed:
        print(got.stderr, file=sys.stderr)
    print(f"{len(commands)} files, {len(failed)} cannot be read alone")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check")
    parser.add_argument("heddle")
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    o = parser.parse_args()
    root, out = o.root.resolve(), o.out.resolve()
    if o.check:
        return check(o.check, root, out)
    make_headers(o.heddle, root, out)
    make_slots(out)
    write_commands(root, out, o.build)
    return 0


if __name__ == "__main__":
    sys.exit(main())
