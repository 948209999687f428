"""Comments of C sources and descriptions, and docstrings of Python, stand by themselves: each names
its subject. Tests are left out."""
import ast
import re
from pathlib import Path

import house
from house import files, text_of

TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.DOTALL)
FRAGMENT = re.compile(r"(?:Of|The same|Its?|They|Their|One has|Whose|Nor)\b")
OF_DOCSTRING = re.compile(  # "By point." in place of "Results by point."
    r"(?:Those|After|As|At|Before|By|For|From|In|On|To|Until|With|Without)\b")
OUTCOME = re.compile(r"(?<![A-Za-z\"`'])(?:false|true):(?= |$)")
ELSEWHERE = re.compile(r"(?:Measured|Published|Derived|Assumed|Fitted): (?:likewise|as above)\b"
                       r"|[:,] there(?=[.,;:]| *$)")
PERSON = re.compile(r"(?<!user )\b(?:who|whom|whoever|somebody|nobody|everybody)\b", re.IGNORECASE)


def comments(text):
    """(line, text) of each; strings and characters are none."""
    for found in TOKEN.finditer(text):
        if found[0].startswith("/"):
            words = re.sub(r"\s*\*+/$|^\s*\*+ ?|^/[/*]+", "", found[0], flags=re.MULTILINE).split()
            yield text.count("\n", 0, found.start()) + 1, " ".join(words)


def complaint(comment):
    if fragment := FRAGMENT.match(comment):
        return f"begins with '{fragment[0]}'"
    if person := PERSON.search(comment):
        return f"has '{person[0]}'"
    if comment.startswith("---") and not re.fullmatch(r"---- .* ----", comment):
        return "is no section mark of the form /* ---- name ---- */"
    if outcome := OUTCOME.search(comment):
        return f"has '{outcome[0]}', not 'False:' or 'True if' at the beginning of a sentence"
    if re.match(r"\w+\.[ch] - ", comment):
        return "begins with the name of its file"
    if comment.endswith(",") or comment.startswith("..."):
        return "goes on in another comment"
    return None


BLOCK = re.compile(r"(?:^ *//[^\n]*\n)+|(?<=\S) +//[^\n]*", re.MULTILINE)


def blocks(text):
    """(line, text) of each comment of a description; lines of slashes that follow each other are
    one. Pages and editors show a user what stands here."""
    for found in BLOCK.finditer(text):
        words = re.sub(r"^\s*//+", "", found[0], flags=re.MULTILINE).split()
        yield text.count("\n", 0, found.start()) + 1, " ".join(words)


def complaint_of_description(comment):
    if source := ELSEWHERE.search(comment):
        return f"has '{source[0]}' in place of a source"
    return complaint(comment)


def docstrings(text):
    """(line, text) of each in a Python file."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and (
                found := ast.get_docstring(node)):
            yield node.body[0].lineno, " ".join(found.split())


def complaint_of_docstring(text):
    fragment = OF_DOCSTRING.match(text)
    return f"begins with '{fragment[0]}'" if fragment else complaint(text)


def sources():
    return [file for file in files("*.c", "*.h", "*.cl", "*.l", "*.y")
            if not file.startswith("tests/")]


def test_comment_has_a_subject_and_components_are_things():
    found = {f"{file} {comment}": f"{file}:{line}: {complaint(comment)}: {comment[:70]}"
             for file in sources() for line, comment in comments(text_of(file))
             if complaint(comment)}
    house.check(found, "a comment is a sentence with a noun as its subject, and a "
                                  "component is 'that' or 'which'")


def test_comment_of_a_description_has_a_subject_and_names_its_source():
    found = {f"{file} {comment}": f"{file}:{line}: {complaint_of_description(comment)}: "
                                  f"{comment[:70]}"
             for file in files("*.heddle") if not file.startswith("tests/")
             for line, comment in blocks(text_of(file)) if complaint_of_description(comment)}
    house.check(found, "a comment of a description names its subject, and the source of a number")


def test_docstring_has_a_subject_and_components_are_things():
    found = {f"{file} {text}": f"{file}:{line}: {complaint_of_docstring(text)}: {text[:70]}"
             for file in files("*.py") if not file.startswith("tests/")
             for line, text in docstrings(text_of(file)) if complaint_of_docstring(text)}
    house.check(found, "a docstring names the thing that it is about")


def test_header_begins_with_what_it_is():
    """'The order of a dispatcher', not 'What a dispatcher asks of its order'."""
    first = {file: next(comments(text_of(file)), (1, "")) for file in sources()
             if file.endswith(".h")}
    house.check({file: f"{file}:{line}: {text[:70]}" for file, (line, text) in first.items()
                 if text.startswith("What ")}, "a header's first comment names what the header is")


NAMED = re.compile(r"(?<![\w.*<{>/-])(?:[\w.-]+/)*([a-z]\w+\.(?:c|h|py|heddle))(?![\w(])")
SYSTEM = re.compile(r"^\s*# *include <(.*)>", re.MULTILINE)
FOREIGN = {  # sources of Linux, glibc, libdrm and ROCr
    "amd_hsa_queue.h", "amd_hsa_signal.h", "amdgpu_drm.h", "drm.h", "gca_8_0_enum.h", "gfx_v8_0.c",
    "kfd_chardev.c", "kfd_crat.c", "kfd_crat.h", "kfd_device.c", "kfd_events.c",
    "kfd_flat_memory.c", "kfd_priv.h", "kfd_sysfs.h", "kfd_topology.c", "pthread_cond_init.c",
    "sdma_registers.h", "soc15d.h", "tonga_sdma_pkt_open.h", "vega10_enum.h",
    "vega10_sdma_pkt_open.h", "vid.h"}


def files_to_name():
    """Base names: of the tree, of what it includes from a system, and of what its build makes."""
    names = {Path(file).name for file in house.FILES}
    for file in files("*.c", "*.h", "*.cpp"):
        names.update(Path(header).name for header in SYSTEM.findall(text_of(file)))
    for file in files("*meson.build"):
        names.update(re.findall(r"'(\w+\.[ch])'", text_of(file)))
    return names | FOREIGN


def unknown_files(comment, known):
    return [name for name in NAMED.findall(comment) if name not in known]


def test_comment_names_files_that_exist():
    known = files_to_name()
    found = {f"{file} {name}": f"{file}:{line}: there is no {name}"
             for file in files("*.c", "*.h", "*.cl", "*.l", "*.y", "*.heddle")
             for line, comment in comments(text_of(file))
             for name in unknown_files(comment, known)}
    house.check(found, "name a file by its present name; a file of another project "
                       "is in FOREIGN of tests/lint/test_comments.py")


STRUCT = re.compile(r"\bstruct (\w+) of (?:[\w.-]+/)*(\w+\.(?:c|h|cl))\b")


def misplaced(comment, text_by_name):
    """Structs that the files of the tree that the comment names with them do not have."""
    return [f"struct {name} of {file}" for name, file in STRUCT.findall(comment)
            if file in text_by_name and not re.search(rf"\bstruct {name}\b", text_by_name[file])]


def test_comment_names_structs_in_their_files():
    texts = {}
    for file in files("*.c", "*.h", "*.cl"):
        name = Path(file).name
        texts[name] = texts.get(name, "") + text_of(file)
    found = {f"{file} {what}": f"{file}:{line}: there is no {what}"
             for file in files("*.c", "*.h", "*.cl", "*.l", "*.y", "*.heddle")
             for line, comment in comments(text_of(file)) for what in misplaced(comment, texts)}
    house.check(found, "name a struct by its present name and file")


def test_misplaced_struct_is_found_in_a_comment():
    comment = "See struct a of x.h, struct b of room/x.h and struct c of strange.h."
    assert misplaced(comment, {"x.h": "struct b {"}) == ["struct a of x.h"]


def test_unknown_file_is_found_in_a_comment():
    comment = "See gone.h, `engine.h`, room/left.c, unit.gen.h, a.c and left.h()."
    assert unknown_files(comment, {"engine.h"}) == ["gone.h", "left.c"]


def test_fragments_are_told_from_sentences():
    text = 'f("/* Of */"); /* Of one port. */\n// The same for two.\n/* The\n * same of three. */\n'
    assert [(line, bool(complaint(comment))) for line, comment in comments(text)] == [
        (1, True), (2, True), (3, True)]
    for comment in ("A cache whose port is open.", "Offsets.", "A user who asks.", "s_nop, ...",
                    "---- hits ----"):
        assert not complaint(comment)
    for comment in ("The owner, whoever that is.", "cache.c - a cache.", "cycles of it,",
                    "... comes here.", "---- hits", "Sends it; false: the port is full."):
        assert complaint(comment)
    assert complaint_of_docstring("By point.") and not complaint_of_docstring("Results by point.")
    text = "/// Of a hub.\nparam a : int;  // A. Measured: 4, there.\n/// A size\n/// of it.\n"
    assert [(line, bool(complaint_of_description(comment))) for line, comment in blocks(text)] == [
        (1, True), (2, True), (3, False)]
