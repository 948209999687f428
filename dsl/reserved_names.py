#!/usr/bin/env python3
"""The names that are taken in generated C, as the compiler finds them: reserved_names.py OUTPUT
DEPFILE ROOT COMPILER...

Three sorted tables (dsl/reserved.h): `words` are the keywords and the macros of the standard
headers and the runtime's; `tags` are the runtime's structures and enumerations; `symbols` are the
functions and types of both, and the runtime's constants and macros, with a '_' in them.
"""
import pathlib
import re
import subprocess
import sys

KEYWORDS = """alignas alignof asm auto bool break case char complex const constexpr continue default
    do double else enum extern false float for goto if imaginary inline int long main noreturn
    nullptr register restrict return short signed sizeof static static_assert struct switch
    thread_local true typedef typeof typeof_unqual union unsigned void volatile while""".split()
STANDARD = """assert ctype errno fenv float inttypes limits locale math setjmp signal stdalign
    stdarg stdbool stddef stdint stdio stdlib stdnoreturn string time wchar""".split()
RUNTIME = """engine/engine engine/part engine/stat engine/unit link/port link/ring
    state/platform""".split()
FLAGS = ["-std=c17", "-D_POSIX_C_SOURCE=200809L", "-D_DEFAULT_SOURCE", "-DUNIT_CODE", "-E", "-xc",
         "-"]

output, depfile, root, *compiler = sys.argv[1:]
standard = "".join(f"#include <{name}.h>\n" for name in STANDARD)
runtime = "".join(f'#include "runtime/{name}.h"\n' for name in RUNTIME)


def preprocessed(text, *options):
    return subprocess.run([*compiler, *FLAGS, "-I", root, *options], input=text, text=True,
                          stdout=subprocess.PIPE, check=True).stdout


def table(name, names):
    rows = "".join(f'    "{one}",\n' for one in sorted(set(names)) if not one.startswith("__"))
    return f"static const char *const {name}[] = {{\n{rows}}};\n"


macros = re.findall(r"^#define (\w+) ", preprocessed(standard + runtime, "-dM"), re.M)
of_runtime = re.findall(r"^#define (\w+)", preprocessed(runtime, "-dM"), re.M)
text = preprocessed(runtime, "-P", "-MD", "-MF", depfile, "-MT", output)
constants = [name for body in re.findall(r"\benum(?: \w+)? \{(.*?)\}", text, re.S)
             for name in re.findall(r"\b[A-Z]\w+", body)]
both = preprocessed(standard + runtime, "-P")
symbols = [*re.findall(r"\b([a-z]\w*_\w*) ?\(", both), *re.findall(r"\b[a-z]\w*_t\b", both),
           *constants, *of_runtime]
pathlib.Path(output).write_text(
    table("words", KEYWORDS + macros)
    + table("tags", re.findall(r"\b(?:struct|enum) (\w+) \{", text))
    + table("symbols", [name for name in symbols if "_" in name]))
