"""Which room may include which: rooms.txt is the table, and the includes of the sources keep it.

A room is a folder of the second level (runtime/link), in components one of the third: a component.
command and lsp are a room each, with their folders.
A folder of components that holds sources itself (components/checks) is one room with its folders.
Its README.md, or that of the folder above, says what is there.
"""
import fnmatch
import os
import re

import pytest

import house
from house import CODE, FILES, files, text_of

TABLE = "tests/lint/rooms.txt"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


WHOLE = {os.path.dirname(file) for file in FILES
         if file.endswith(".c") and file.startswith("components/") and file.count("/") == 2}


def room_of(file):
    parts = file.split("/")[:-1]
    if parts[0] in ("command", "lsp"):
        return parts[0]
    room = "/".join(parts[:2])
    return room if parts[0] != "components" or room in WHOLE else "/".join(parts[:3])


def read_table(text):
    """[(room, included room, reason)]; both rooms may be patterns."""
    edges = []
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            match = re.fullmatch(r"(\S+)\s+->\s+(\S+)\s+(\S.*)", line)
            assert match, f"{TABLE}: '{line}' is no 'ROOM -> ROOM   reason'"
            edges.append(match.groups())
    return edges


def resolve(file, name, known):
    """The included file; None for headers that are generated or of a library."""
    beside = os.path.normpath(os.path.join(os.path.dirname(file), name))
    return next((path for path in (beside, name) if path in known), None)


def includes(sources, known, text=text_of):
    """{(room, included file): 'file includes name'} over the borders of rooms."""
    found = {}
    for file in sources:
        for name in INCLUDE.findall(text(file)):
            target = resolve(file, name, known)
            if target and target.split("/")[0] in CODE and room_of(file) != room_of(target):
                found.setdefault((room_of(file), target), f"{file} includes {name}")
    return found


def between_rooms(edges):
    return {(room, room_of(file)) for room, file in edges}


def is_allowed(edge, table):
    """The table names a room, or a single file of it."""
    room, file = edge
    return any(fnmatch.fnmatch(room, which)
               and (file == target or fnmatch.fnmatch(room_of(file), target))
               for which, target, _ in table)


def reached_from(file, known, text=text_of):
    """The file and all that it includes, also through others."""
    seen, todo = set(), [file]
    while todo:
        file = todo.pop()
        seen.add(file)
        new = {resolve(file, name, known) for name in INCLUDE.findall(text(file))}
        todo += new - seen - {None}
    return seen


def circles(edges):
    """Rooms that reach themselves, each with the rooms it shares a circle with."""
    follow = {}
    for a, b in edges:
        follow.setdefault(a, set()).add(b)

    def reached(room):
        seen, todo = set(), [room]
        while todo:
            new = follow.get(todo.pop(), set()) - seen
            seen |= new
            todo += new
        return seen

    reach = {room: reached(room) for room in follow}
    return {room: sorted(other for other in reach[room] if room in reach.get(other, ()))
            for room in follow if room in reach[room]}


SOURCES = files("*.c", "*.h", "*.l", "*.y", "*.def", folders=CODE)


@pytest.fixture(scope="module")
def edges():
    found = includes(SOURCES, set(FILES))
    assert len(found) > 50
    return found


@pytest.fixture(scope="module")
def table():
    return read_table(text_of(TABLE))


def test_includes_keep_the_table(edges, table):
    wrong = {f"{room} {room_of(file)}": f"{room} -> {room_of(file)}: {where}"
             for (room, file), where in edges.items() if not is_allowed((room, file), table)}
    house.check(wrong, f"an include that {TABLE} does not allow")


def test_table_allows_only_what_is_used(edges, table):
    unused = [f"{room} -> {target}" for room, target, reason in table
              if not any(is_allowed(edge, [(room, target, reason)]) for edge in edges)]
    assert not unused, f"{TABLE}: no file includes so: {unused}"


def test_rooms_are_in_no_circle(edges):
    found = circles(between_rooms(edges))
    wrong = {room: f"{room}, with {', '.join(others)}" for room, others in found.items()}
    house.check(wrong, "rooms that include each other")


def test_interfaces_beside_hip_do_not_see_its_state():
    """Neither `struct hip_library` nor what else hip_internal.h has, through whatever header."""
    wrong = {file: file for file in SOURCES if file.startswith(("components/cuda/api/",
                                                                "components/opencl/"))
             and "components/hip/api/hip_internal.h" in reached_from(file, set(FILES))}
    house.check(wrong, "a source that sees components/hip/api/hip_internal.h")


def layer_of(room):
    """The room as docs/design/rooms.md names it: dsl and runtime are one each."""
    parts = room.split("/")
    return parts[0] if parts[0] in ("dsl", "runtime") else "/".join(parts[:2])


def rows_of_page(table):
    """The table of docs/design/rooms.md, with a row for each room that includes another one."""
    rows = {}
    for room, target, _ in table:
        rows.setdefault(layer_of(room), set()).add(layer_of(target))
    return [f"| `{room}` | {', '.join(f'`{other}`' for other in sorted(others - {room}))} |"
            for room, others in rows.items() if others - {room}]


def lines_of_page(page):
    """{folder: number of its line} in the drawing of the page, counted from the top."""
    drawing = re.search(r"^```\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)[1]
    lines = [line[24:].split() for line in drawing.splitlines()]
    return {name: i for i, names in enumerate(lines) for name in names}


def test_page_draws_the_table(table):
    """Includes point down, but for those that the page names with their reasons."""
    page = text_of("docs/design/rooms.md")
    line = lines_of_page(page)
    assert set(line) == {layer_of(room_of(file)).removeprefix("components/") for file in SOURCES}
    named = set(re.findall(r"^- `(\S+)` includes\s+`(\S+)`:", page, re.MULTILINE))
    up = {(room, target) for room, target, _ in table if "*" not in layer_of(room)
          and layer_of(room) != layer_of(target) and "*" not in layer_of(target)
          and line[layer_of(room).removeprefix("components/")]
          >= line[layer_of(target).removeprefix("components/")]}
    assert up == named


def libraries(table):
    """Rooms that a reason calls so, as a row of the same page."""
    return ", ".join(sorted({f"`{target}`" for _, target, reason in table
                             if reason.startswith(("a library", "libraries"))}))


def test_page_has_the_table(table):
    """In place of what the page has, copy the rows that a failure prints."""
    page = text_of("docs/design/rooms.md")
    rows = "\n".join(rows_of_page(table))
    assert f"\n\n| room | may include |\n| --- | --- |\n{rows}\n\n" in page, rows
    assert libraries(table) in " ".join(page.split()), libraries(table)


def readme_of(room):
    """Of the room, or of the folder that it is in."""
    above = room.rsplit("/", 1)[0]
    return next((f"{folder}/README.md" for folder in (room, above)
                 if f"{folder}/README.md" in FILES), None)


def test_a_room_has_a_readme():
    rooms = {room_of(file) for file in SOURCES}
    house.check({room: room for room in rooms if not readme_of(room)},
                "README.md of a room, or of the folder that it is in, says what is there")


def test_wrong_include_is_found():
    """The test itself: a component that includes another's state, and a circle."""
    table = read_table("components/*/* -> runtime/*   the engine\n")
    text = {"components/memory/cache/a.c": '#include "components/memory/dram/b.h"\n',
            "components/memory/dram/b.h": '#include "runtime/link/c.h"\n',
            "runtime/link/c.h": '#  include "../../components/memory/cache/d.h"\n',
            "components/memory/cache/d.h": ""}
    found = includes(text, set(text), text.get)
    cache, dram, link = "components/memory/cache", "components/memory/dram", "runtime/link"
    assert set(found) == {(cache, f"{dram}/b.h"), (dram, f"{link}/c.h"), (link, f"{cache}/d.h")}
    wrong = [(cache, f"{dram}/b.h"), (link, f"{cache}/d.h")]
    assert [edge for edge in found if not is_allowed(edge, table)] == wrong
    one = read_table(f"{link} -> {cache}/d.h   one header\n{cache} -> {dram}/a.h   another\n")
    assert [is_allowed(edge, one) for edge in wrong] == [False, True]
    assert circles(between_rooms(found))[cache] == sorted([cache, dram, link])
    assert reached_from(f"{dram}/b.h", set(text), text.get) == set(text) - {f"{cache}/a.c"}
