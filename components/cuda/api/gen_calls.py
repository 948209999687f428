#!/usr/bin/env python3
"""Writes what follows from cuda_calls.tab for one major version of CUDA: `calls`, the C of all
exported functions, or `map`, the linker's version script.

A row is a function of CUDA and what it calls:

    NAME(PARAMETERS) = FUNCTION             with the same arguments
    NAME(PARAMETERS) = FUNCTION(ARGUMENTS)
    RESULT NAME(PARAMETERS) = FUNCTION      returns no error: called as it is
    12: NAME(PARAMETERS) = ...              only in that major version
    ! NAME NAME ...                         refused with a message

A parameter of type `stream` is a handle of CUDA, and what is called gets one of HIP. Such a
function has a twin, NAME_ptsz, for programs with one default stream per thread. Functions that use
the default stream without a parameter have a twin NAME_ptds where the row ends in `, own CALL`.

Usage: gen_calls.py calls|map MAJOR TABLE OUTPUT
"""
import re
import sys

ROW = re.compile(r"(?:(?P<major>\d+): )?(?P<result>[\w ]+[ *]+)??"
                 r"(?P<name>\w+)\((?P<parameters>[^=]*)\)"
                 r" = (?P<call>\w+(?:\(.*?\))?)(?:, own (?P<own>\w+(?:\(.*\))?))?$")


class Parameter:
    def __init__(self, text):
        found = re.match(r"(.*?)(\w+)(\[\w*\])?$", text)
        self.type, self.name = found.group(1).strip(), found.group(2)
        self.is_stream = self.type == "stream"
        self.text = f"hipStream_t {self.name}" if self.is_stream else text


class Call:
    def __init__(self, row, where):
        self.name, self.result = row["name"], (row["result"] or "").strip()
        self.call, self.own, self.major = row["call"], row["own"], row["major"]
        text = row["parameters"]
        self.parameters = [] if text == "void" else [Parameter(p.strip()) for p in text.split(",")]
        self.has_stream = any(p.is_stream for p in self.parameters)
        if self.has_stream and self.own:
            sys.exit(f"{where}: the twin of a function with a stream follows from it")

    def expression(self, call, convert):
        name, _, arguments = call.partition("(")
        arguments = arguments[:-1] if "(" in call else ", ".join(p.name for p in self.parameters)
        for parameter in self.parameters:
            if parameter.is_stream:
                arguments = re.sub(rf"\b{parameter.name}\b", f"{convert}({parameter.name})",
                                   arguments)
        return f"{name}({arguments})"

    def define(self, name, call, convert):
        parameters = ", ".join(p.text for p in self.parameters) or "void"
        expression = self.expression(call, convert)
        if self.result:
            result = self.result + ("" if self.result.endswith("*") else " ")
            keep = "" if self.result == "void" else "return "
            body = f"    {keep}{expression};\n"
        else:
            result = "hipError_t "
            body = (f"    const char *caller = cuda_begin(\"{name}\");\n"
                    f"    return cuda_end(caller, {expression});\n")
        return (f"\nCUDA_EXPORTED {result}{name}({parameters});\n"
                f"{result}{name}({parameters})\n{{\n{body}}}\n")

    def definitions(self):
        yield self.name, self.define(self.name, self.call, "cuda_stream")
        if self.has_stream:
            name = self.name + "_ptsz"
            yield name, self.define(name, self.call, "cuda_stream_own")
        if self.own:
            name = self.name + "_ptds"
            yield name, self.define(name, self.own, "cuda_stream")


def refusal(name):
    return (f"\nCUDA_EXPORTED hipError_t {name}(void);\nhipError_t {name}(void)\n{{\n"
            f"    return cuda_fail_missing(\"{name}\");\n}}\n")


def read_table(path, major):
    made = {}
    with open(path, encoding="ascii") as table:
        lines = re.sub(r"\\\n\s*", "", table.read()).split("\n")
    for number, line in enumerate(lines, 1):
        where = f"{path}: row {number}: {line}"
        if line.startswith("#") or not line.strip():
            continue
        if line.startswith("! "):
            rows = [(name, refusal(name)) for name in line.split()[1:]]
        else:
            found = ROW.match(line)
            if not found:
                sys.exit(f"{where}: not a row as gen_calls.py describes them")
            rows = Call(found.groupdict(), where).definitions() \
                if found["major"] in (None, major) else []
        for name, text in rows:
            if name in made:
                sys.exit(f"{where}: {name} is there twice")
            made[name] = text
    return made


def main():
    if len(sys.argv) != 5 or sys.argv[1] not in ("calls", "map"):
        sys.exit(__doc__)
    kind, major, path, output = sys.argv[1:]
    made = read_table(path, major)
    with open(output, "w", encoding="ascii") as file:
        if kind == "map":
            names = "".join(f"    {name};\n" for name in sorted(made))
            file.write(f"libcudart.so.{major} {{\nglobal:\n{names}local:\n    *;\n}};\n")
        else:
            file.write(f"/* Generated from cuda_calls.tab for CUDA {major}. */\n"
                       '#include "components/cuda/api/cuda_internal.h"\n\n'
                       "/* Parameters that a row leaves out, and hipProfilerStart(). */\n"
                       '#pragma GCC diagnostic ignored "-Wunused-parameter"\n'
                       '#pragma GCC diagnostic ignored "-Wdeprecated-declarations"\n')
            file.write("".join(made.values()))


main()
