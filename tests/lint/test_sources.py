"""Rules that are told from the text of a file: where code lies, how long functions and lines
are."""
import functools
import json
import re
import subprocess
from pathlib import Path

import house
from house import CODE, GOLDEN, ROOT, files, text_of

GENERATED = (GOLDEN, "tests/dsl/bad.txt")
FUNCTION_LINES = 60
COLUMNS = 100
TABLE_COLUMNS = 132  # of a table, whose rows are lines


def tags(kinds, *patterns, folders=CODE):
    """What ctags says of these kinds of names in sources. Headers of CUDA are C++ for programs."""
    sources = [file for file in files(*patterns, folders=folders)
               if not file.startswith("components/cuda/include/")]
    command = ["ctags", "--output-format=json", "--languages=C", "--map-C=+.h",
               f"--kinds-C={kinds}", "--fields=+neS", "-f", "-", *sources]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return map(json.loads, printed.splitlines())


@functools.cache
def functions():
    """(file, name, first line, last line) of the functions in all C sources."""
    found = []
    for tag in tags("f", "*.c", "*.h", folders=(*CODE, "tests")):
        if tag.get("kind") == "function" and "end" in tag:
            found.append((tag["path"], tag["name"], tag["line"], tag["end"]))
    assert len(found) > 5000
    return found


def is_inline(file, first, last):
    """A function of a header may be `inline`, or be made by the including file from a template (its
    qualifier or its name is a macro, as in ALWAYS_INLINE and TABLE(find))."""
    lines = text_of(file).splitlines()
    own = " ".join(lines[first - 1:last])
    head = " ".join([*lines[max(first - 3, 0):first - 1], own[:own.find("{")]])
    start = max(head.rfind(";"), head.rfind("}"), head.rfind("*/"))
    head = head[start + 1:]
    return "inline" in head or "INLINE" in head or any(
        word.isupper() and len(word) > 3 for word in head.split("(")[0].split())


def test_header_has_no_body_of_a_plain_function():
    """Its code belongs into a .c file, which another file can be compiled without."""
    found = {f"{file} {name}": f"{file}:{first}: {name}" for file, name, first, last in functions()
             if file.endswith(".h") and not is_inline(file, first, last)}
    house.check(found, "put the body into a .c file, or make it `static inline`")


@functools.cache
def files_by_word():
    """{word: files in which it stands} of sources, descriptions and scripts."""
    found = {}
    for file in files("*.[chyl]", "*.def", "*.tab", "*.heddle", "*.cpp", "*.py",
                      folders=(*CODE, "docs", "tests")):
        for word in set(re.findall(r"\w+", text_of(file))):
            found.setdefault(word, set()).add(file)
    return found


def declared():
    """{function: headers that declare it, not as a static one}."""
    found = {}
    for tag in tags("p", "*.h"):
        if "static" not in tag["pattern"]:
            found.setdefault(tag["name"], set()).add(tag["path"])
    return found


def is_asked_for(file, name, headers, where, read=text_of):
    """Is a function that headers declare called from one of them or from another file?"""
    return set(where) - {file, *headers} or any(
        len(re.findall(rf"\b{name}\b", read(header))) > 1 for header in headers)


def test_header_declares_what_others_call():
    headers = declared()
    found = {f"{file} {name}": f"{file}:{first}: {name}" for file, name, first, last in functions()
             if file.endswith(".c") and name in headers
             and not is_asked_for(file, name, headers[name], files_by_word()[name])}
    house.check(found, "make it static, or delete it where nothing calls it")


def test_function_that_nobody_asks_for_is_found():
    def asked(text, *others):
        return bool(is_asked_for("a.c", "f", {"a.h"}, {"a.c", "a.h", *others}, lambda file: text))
    assert not asked("void f(void);")
    assert asked("void f(void);", "b.c")
    assert asked("void f(void);\nstatic inline void g(void) { f(); }")


GUARD = re.compile(r"^#ifndef (\w+_H)\n#define (\w+_H)$", re.MULTILINE)


def guard_of_another(file, text):
    """The guard of a header, unless it is the header's path. A table has none."""
    found = GUARD.search(text)
    want = "HEDDLE_" + re.sub(r"\W", "_", file.upper())
    return found and not found[1] == found[2] == want and found[1]


def test_header_is_guarded_by_its_path():
    other = set(files(*GENERATED))
    found = {file: f"{file}: {guard}" for file in files("*.h")
             if file not in other and "/include/" not in file
             if (guard := guard_of_another(file, text_of(file)))}
    house.check(found, "a header's guard is its path: HEDDLE_RUNTIME_LINK_RING_H")


def test_guard_of_another_header_is_found():
    guard = "HEDDLE_RUNTIME_ENGINE_WAKE_QUEUE_H"
    text = f"/* Text. */\n#ifndef {guard}\n#define {guard}\n"
    assert not guard_of_another("runtime/engine/wake_queue.h", text)
    assert guard_of_another("runtime/link/wake_queue.h", text)
    assert not guard_of_another("runtime/engine/rows.h", "ROW(1)\n")


def long_includes(file, text):
    """Headers of a file's own folder that it names by their path."""
    folder = re.escape(str(Path(file).parent))
    return re.findall(rf'^#include "({folder}/[^/"]+)"', text, re.MULTILINE)


def test_header_of_the_own_folder_is_bare():
    other = set(files(*GENERATED))
    found = {f"{file} {header}": f"{file}: {header}" for file in files("*.c", "*.h")
             if file not in other for header in long_includes(file, text_of(file))}
    house.check(found, "a header of the own folder is included by its bare name")


def test_path_of_the_own_folder_is_found():
    assert long_includes("dsl/a.c", '#include "dsl/b.h"\n') == ["dsl/b.h"]
    assert not long_includes("dsl/a.c", '#include "b.h"\n#include "dsl/check/b.h"\n')


VERBS = set("add allocate answer append ask attend begin capture check choose compile copy create "
            "describe destroy end enqueue exchange fetch fill find finish forget forward found has "
            "issue join keep launch leave load made make map mark merge note place prepare print "
            "put receive record release run say send serve settle start step store take told unmap "
            "update watch".split())


def verbs_without_object(named):
    """{verb: files} of functions that a search, a profile or a backtrace cannot tell apart."""
    found = {}
    for file, name in named:
        if name in VERBS:
            found.setdefault(name, set()).add(file)
    return {verb: sorted(where) for verb, where in found.items() if len(where) > 3}


def test_function_has_an_object():
    found = verbs_without_object((file, name) for file, name, _, _ in functions()
                                 if file.split("/")[0] in CODE)
    house.check({verb: f"{verb}(): {', '.join(where)}" for verb, where in found.items()},
                "name what it does that to: begin_wave(), add_range()")


def test_verb_without_object_is_found():
    assert set(verbs_without_object((file, "take") for file in "abcd")) == {"take"}
    assert not verbs_without_object((file, "take") for file in "abc")
    assert not verbs_without_object((file, "take_wave") for file in "abcd")


def test_function_is_not_longer_than_a_screen():
    found = {f"{file} {name}": f"{file}:{first}: {name} has {last - first + 1} lines"
             for file, name, first, last in functions() if last - first + 1 > FUNCTION_LINES}
    house.check(found, f"a function has at most {FUNCTION_LINES} lines")


# Words of API calls and of a compiler's option; the time that never comes.
CONSTANTS_OF_OTHERS = {"API_CALL_MAX_BLOCKS", "MMIO_NO_BINARY", "NO_WARNINGS", "ENGINE_NEVER"}
WORD_IN_FRONT = re.compile(r"(?:^|_)(?:MAX|MOST|LEAST|NO)_|(?:^|_)(?:NOTHING|NEVER)$")


def constants():
    """{name: file:line} of enumerators and of macros without arguments."""
    return {tag["name"]: f"{tag['path']}:{tag['line']}" for tag in tags("de", "*.c", "*.h")
            if "signature" not in tag}


def test_constant_ends_in_what_it_is():
    found = {name: f"{place}: {name}" for name, place in constants().items()
             if WORD_IN_FRONT.search(name) and name not in CONSTANTS_OF_OTHERS}
    house.check(found, "end the largest value's name in _MAX, that of none in _NONE")


def test_constant_with_its_word_in_front_is_found():
    for name in ("CU_MAX_SIMDS", "CU_MOST_LGKM", "LEAST_ROWS", "NO_ROUTE", "TRACE_NOTHING"):
        assert WORD_IN_FRONT.search(name), name
    for name in ("CU_SIMDS_MAX", "ROWS_MIN", "ROUTE_NONE", "NOTHING_LEFT", "NORMAL_TURN"):
        assert not WORD_IN_FRONT.search(name), name


def test_platform_is_described_without_code():
    assert not files("platforms/*.c", "platforms/*.h")


def long_lines(file, columns):
    """Lines beyond the limit; in Markdown not tables, blocks of output, or a single long link."""
    in_block = False
    for number, line in enumerate(text_of(file).splitlines(), 1):
        if file.endswith(".md"):
            in_block ^= line.startswith("```")
            if in_block or line.startswith("|") or "](" in line or "http" in line:
                continue
        if len(line) > columns:
            yield f"{file}:{number}: {len(line)} columns, not {columns}"


# Commands, prototypes and instructions of others: a row is as long as they are.
ROWS_OF_OTHERS = ("tests/system/running/results.txt", "components/cuda/api/cuda_calls.tab",
                  "tests/components/nvidia/ptx/instructions.tab")


def test_line_is_not_longer_than_the_limit():
    limits = dict.fromkeys(files("*.def", "*.tab", "*.txt"), TABLE_COLUMNS)
    limits |= dict.fromkeys(files("*.c", "*.h", "*.l", "*.y", "*.py", "*.sh", "*.md", "dev",
                                  "components/amd/isa/*.tab", "components/nvidia/warp/*.def"),
                            COLUMNS)
    found = {file: line for file in limits.keys() - files(*GENERATED, *ROWS_OF_OTHERS)
             for line in long_lines(file, limits[file])}
    house.check(found, "a line is too long")


COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
COMPARED = re.compile(r"== NULL\b|!= NULL\s*(?:&&|\|\||\?)"
                      r"|(?:&&|\|\||\b(?:if|while) \()\s*[\w.>*\[\]-]+(?:\([^()]*\))? != NULL")


def code_lines_with(pattern, text):
    """Numbers of the lines where it begins, comments left out."""
    code = COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
    return [code.count("\n", 0, found.start()) + 1 for found in pattern.finditer(code)]


def test_description_has_no_line_over_the_width():
    """`heddle fmt` breaks what can be broken; a message is one string, which cannot."""
    folders = ("platforms", "components", "docs/examples", "tests/system", "tests/components",
               "tests/bench")
    found = {f"{file} {number}": f"{file}:{number}"
             for file in files("*.heddle", folders=folders)
             for number, line in enumerate(text_of(file).splitlines(), 1)
             if len(line) > COLUMNS and not re.fullmatch(r' *"[^"]*"[;,]?', line)}
    house.check(found, f"at most {COLUMNS} columns: ./dev format")


def test_pointer_is_a_condition_by_itself():
    generated = set(files(*GENERATED))
    found = {f"{file} {line}": f"{file}:{line}" for file in files("*.[chyl]")
             if file not in generated for line in code_lines_with(COMPARED, text_of(file))}
    house.check(found, "write p or !p; p != NULL is for a value, as in `return p != NULL`")


def test_pointer_that_is_compared_is_found():
    for text in ("if (p == NULL)", "x = a->b != NULL ? 1 : 2;", "while (next(p) != NULL)",
                 "return q\n       && *p != NULL;"):
        assert code_lines_with(COMPARED, text), text
    for text in ("return p != NULL;", "if ((p != NULL) != is_set)", "/* p == NULL: none */"):
        assert not code_lines_with(COMPARED, text), text


# A target's name is data: of its row (targets.tab), and of the numbers that ELF files have.
TARGET_NAMES = ("components/amd/isa/targets.tab", "components/amd/isa/object/code_object_kernel.c")
TARGET = re.compile(r'"gfx\d|\b(?:ISA|SASS)_GFX\d')


def test_code_asks_for_traits_not_for_a_target():
    found = {f"{file} {line}": f"{file}:{line}"
             for file in files("*.c", "*.h", folders=CODE) if file not in TARGET_NAMES
             for line in code_lines_with(TARGET, text_of(file))}
    house.check(found, "ask for a trait of isa_target.h, which targets.tab gives")


def test_target_is_found_where_code_names_one():
    text = '/* "gfx803" */\nif (!strcmp(isa, "gfx803"))\n\nx = ISA_GFX90A;'
    assert code_lines_with(TARGET, text) == [2, 4]
