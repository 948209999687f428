"""The language server, by raw messages: what is asked, and what comes back."""
import json
import re
import statistics
import subprocess
import time

import pytest

import harness
from lsp_client import Server, apply, cut, frame, place

GPU = """\
import "std/cache";  import "std/tlb";  import "std/crossbar";

/// A wire to the host. Assumed: a number of this test.
link pcie { bandwidth = 16GB/s; latency = 140ns; }

/// Two caches over each other.
component pair {
    /// Lines that fit. Assumed: a number of this test.
    param lines : int = 64 in 1 .. 1024 pow2;
    param mode  : enum { back, through } = back;
    let size = lines * 64B;
    clock fast;
    in  top    : mem(64B);
    out bottom : mem(64B);
    in  control : cache_control;
    upper : cache { size = size; ways = 4; write = mode == back ? back : through; };
    lower[2] : cache { size = size * 2; ways = 4; };
    top -> upper.top;
    upper.bottom -> lower[*].top via bus = crossbar { latency = 3cy; };
    lower[*].bottom -> bottom via out_bus = crossbar;
    control -> upper.control;
    for i in 0 ..< 2 { check i < lines; }
}
"""

PLATFORM = """\
import "gpu";

platform small {
    clock core = 1GHz;
    pair : pair on core { lines = 128; lower.ways = 8; };
}
"""


@pytest.fixture
def server(tmp_path):
    made = Server(tmp_path)
    yield made
    made.kill()


@pytest.fixture
def gpu(server, tmp_path):
    path = tmp_path / "gpu.heddle"
    path.write_text(GPU)
    server.open(path)
    return path


def with_line(text, line, before="    top -> upper.top;"):
    """The text with one more line, and where the cursor is in it: at `|`."""
    at = text.index(before)
    left, right = line.split("|")
    return text[:at] + left + right + "\n" + text[at:], text[:at] + left


# ---- diagnostics

def test_diagnostics_have_code_range_help_and_other_places(server, gpu):
    assert server.diagnostics(gpu) == []
    server.change(gpu, GPU.replace("ways = 4; write", "wais = 4; write"))
    found, = server.diagnostics(gpu)
    assert (found["code"], found["severity"], found["source"]) == ("E0204", 1, "heddle")
    assert cut(server.texts[gpu], found["range"]) == "wais"
    assert found["message"].endswith("\nhelp: did you mean 'ways'?")
    other, = found["relatedInformation"]
    assert other["location"]["uri"].endswith("/cache/cache.heddle")
    server.change(gpu, GPU)
    assert server.diagnostics(gpu) == []


def test_diagnostics_are_those_of_check(server, tmp_path, heddle):
    bad = sorted((harness.ROOT / "tests/dsl/bad").glob("E0[1-4]*.heddle"))[::12]
    assert len(bad) > 5
    for source in bad:
        server.open(source)
        shown = server.diagnostics(source)
        told = json.loads(heddle(f"check {source} --json", status=harness.ANY).stdout)
        here = [(one["code"], one["line"] - 1) for one in told
                if one.get("file", str(source)) == str(source)]
        assert [(one["code"], one["range"]["start"]["line"]) for one in shown] == here, source


def test_imports_of_open_files_are_their_open_text(server, gpu, tmp_path):
    platform = tmp_path / "small.heddle"
    server.open(platform, PLATFORM)  # is in no file yet
    before = server.diagnostics(platform)
    assert "E0204" not in {one["code"] for one in before}
    server.change(gpu, GPU.replace("param lines", "param rows").replace("lines", "rows"))
    server.notes = []
    while True:
        note = server.read()
        if note.get("params", {}).get("uri") == server.uri(platform):
            break
    assert "E0204" in {one["code"] for one in note["params"]["diagnostics"]}


def test_mistakes_in_imports_are_shown_there_until_they_are_mended(server, gpu, tmp_path):
    platform, other = tmp_path / "small.heddle", tmp_path / "other.heddle"
    other.write_text("component x { param a : int = 4 }\n")
    server.open(platform, 'import "other";\n' + PLATFORM)
    found = server.diagnostics(other)
    assert [one["message"] for one in found] == ["expected ';'"]
    other.write_text("component x { param a : int = 4; }\n")
    server.tell("workspace/didChangeWatchedFiles", {"changes": []})
    assert server.diagnostics(other) == []


def test_positions_are_utf16(server, tmp_path):
    path = tmp_path / "music.heddle"
    text = "/* 𝄞é */ component a { param n : int = 4KB; }\r\ncomponent b { x : nothing; }\r\n"
    server.open(path, "\ufeff" + text)
    first, second = server.diagnostics(path)
    wrong = 1 + place(text, "int = ")["character"]
    assert first["range"]["start"] == {"line": 0, "character": wrong}
    assert second["range"]["start"] == {"line": 1, "character": len("component b { x : ")}
    hover = server.ask("textDocument/hover", {
        "textDocument": {"uri": server.uri(path)},
        "position": {"line": 0, "character": 1 + place(text, "param ")["character"]}})
    assert "param n : int" in hover["contents"]["value"]
    assert hover["range"]["start"]["character"] == 1 + place(text, "param ")["character"]


def test_edits_of_ranges_add_up(server, gpu):
    server.diagnostics(gpu)
    where = place(GPU, "A wire to the ")
    server.versions[gpu] += 1
    server.tell("textDocument/didChange", {
        "textDocument": {"uri": server.uri(gpu), "version": server.versions[gpu]},
        "contentChanges": [
            {"range": {"start": where, "end": {**where, "character": where["character"] + 4}},
             "text": "𝄞\nlink"},
            {"range": {"start": {"line": 3, "character": 0}, "end": {"line": 3, "character": 4}},
             "text": "/// "}]})
    found = server.diagnostics(gpu)
    assert found == [] or {one["code"] for one in found} <= {"E0001"}
    hover = server.ask("textDocument/hover", {"textDocument": {"uri": server.uri(gpu)},
                                              "position": {"line": 7, "character": 12}})
    assert "component pair" in hover["contents"]["value"]


# ---- completion

COMPLETIONS = [
    ("    |", {"param", "upper", "top", "if", "coherence"}, {"size", "via", "import"}),
    ("    upper.|", {"top", "bottom", "control"}, {"size", "write", "upper"}),
    ("    lower[*].bo|", {"top", "bottom"}, {"upper"}),
    ("    x : |", {"cache", "tlb", "crossbar", "pair", "pcie"}, {"lru", "mem", "upper"}),
    ("    x : cache on |", {"fast"}, {"cache", "top"}),
    ("    x : cache { |", {"size", "write", "replacement", "translation"}, {"top", "upper"}),
    ("    x : cache { write = |", {"back", "through", "around", "lines"}, {"write", "cache"}),
    ("    x : cache { replacement = |", {"lru"}, {"tlb_l1", "back", "lines"}),
    ("    x : cache { translation = tlb_l1 { |", {"sets", "ways"}, {"size", "write"}),
    ("    x : pair { lower.|", {"size", "ways", "write"}, {"top", "lines"}),
    ("    x : pair { lower.write = |", {"back", "around"}, {"write"}),
    ("    x : pair { mode = |", {"back", "through"}, {"around"}),
    ("    upper.bottom -> |", {"lower", "bottom"}, {"size", "lines", "back"}),
    ("    upper.bottom -> lower[*].top via |", {"bus", "pcie"}, {"upper", "top"}),
    ("    upper.bottom -> lower[*].top |", {"via", "latency", "over", "by"}, {"upper", "param"}),
    ("    upper.bottom -> lower[*].top via q = crossbar { |", {"latency", "width"}, {"size"}),
    ("    param x : |", {"int", "bytes", "cycles", "B/s", "enum"}, {"cache", "top"}),
    ("    param x : bytes = |", {"lines", "size", "max"}, {"back", "cache"}),
    ("    in x : |", {"mem", "cache_control", "any"}, {"cache", "int"}),
    ("    in x : mem(64B) |", {"optional", "depth", "width"}, {"via"}),
    ("    slot s : |", {"replacement_policy", "address_translation"}, {"cache", "mem"}),
    ("    check lower[0].|", {"ways", "size"}, {"top", "control"}),
    ("    if mode == |", {"back", "through", "lines"}, {"around"}),
    ("    for k in 0 .. 3 { check |", {"k", "lines", "count"}, {"via"}),
    ("    stat hits : |", {"counter", "histogram"}, {"int"}),
    ("    // upper.|", set(), {"top", "param"}),
    ("    x : cache { size = 4Ki|", set(), {"size"}),
]


@pytest.mark.parametrize("line, wanted, unwanted", COMPLETIONS, ids=[one[0] for one in COMPLETIONS])
def test_completion_lists_what_can_stand_there(server, gpu, line, wanted, unwanted):
    text, before = with_line(GPU, line)
    server.change(gpu, text)
    labels = set(server.labels(gpu, before, text[len(before):]))
    assert wanted <= labels, f"missing: {wanted - labels}"
    assert not unwanted & labels


@pytest.mark.parametrize("text, wanted", [
    ("|", {"import", "platform", "component", "protocol", "link", "enum", "part"}),
    ('import "|', {"std/cache", "std/gcn3", "gpu"}),
    ('import "std/ca|";', {"std/cache"}),
    ("interface i;\npart p : |", {"i"}),
    ("enum e { a, b }\nprotocol p { request r { f : |", {"u32", "addr", "bits", "e"}),
    ("protocol p { request r { } reply s for |", {"r"}),
    ("protocol p { |", {"request", "reply"}),
    ("link l { |", {"bandwidth", "latency"}),
    ("component c { in a : mem; coherence { keeps |", {"a"}),
    ("component c { coherence { |", {"keeps", "answers"}),
])
def test_completion_outside_of_bodies(server, gpu, tmp_path, text, wanted):
    path = tmp_path / "new.heddle"
    before, after = text.split("|")
    server.open(path, before + after)
    labels = set(server.labels(path, before, after))
    assert wanted <= labels, f"missing: {wanted - labels} of {labels}"


def test_completion_replaces_the_word_and_tells_of_it(server, gpu):
    text, before = with_line(GPU, "    x : cache { wri|; };")
    server.change(gpu, text)
    found = server.ask("textDocument/completion", server.at(gpu, before, text[len(before):]))
    write, = (one for one in found if one["label"] == "write")
    assert write["detail"] == "enum { back, through, around, evict } = through"
    assert "atomics" in write["documentation"]["value"]
    assert "x : cache { write; };" in apply(text, [write["textEdit"]])


# ---- hover, definition, references

@pytest.mark.parametrize("before, after, wanted", [
    ("    param li", "nes", ["param lines : int = 64 in 1 .. 1024 pow2", "Lines that fit",
                              "component `pair`"]),
    ("{ si", "ze = size; ways = 4; write", ["param size : bytes = 16KiB in 1KiB .. 64MiB",
                                            "component `cache`", "unit is `B`"]),
    ("let si", "ze", ["let size = lines * 64B"]),
    ("upper : ca", "che", ["component cache"]),
    ("in  to", "p ", ["in top : mem(64B)"]),
    ("? ba", "ck : through", ["enum { back, through, around, evict }"]),
    ("lines * 6", "4B", ["64B = 64B"]),
    ("latency = 14", "0ns", ["140ns = 140000ps"]),
    ("link pc", "ie", ["link pcie { bandwidth = 16GB/s; latency = 140ns; }", "A wire"]),
    ("for ", "i in", ["for i"]),
    ("std/ca", "che", ["/cache/cache.heddle"]),
])
def test_hover_shows_units_ranges_defaults_and_docs(server, gpu, before, after, wanted):
    hover = server.ask("textDocument/hover", server.at(gpu, before, after))
    for text in wanted:
        assert text in hover["contents"]["value"]


def test_hover_shows_values_of_a_platform_that_is_right(server):
    path = harness.ROOT / "platforms/tiny.heddle"
    text = server.open(path)
    assert server.diagnostics(path) == []
    name = re.search(r"(\w+) = \w+;\s*(\w+) = \w+;.*vram = ", text).group(1)
    assert name
    hover = server.ask("textDocument/hover", server.at(path, "vr", "am = "))
    assert re.search(r"Here: `\w+` in `gpu`", hover["contents"]["value"])


@pytest.mark.parametrize("before, after, file, line", [
    ("    top -> up", "per.top", "gpu.heddle", "upper : cache"),
    ("    top -> upper.to", "p;", "cache.heddle", " top"),
    ("mode == ba", "ck", "gpu.heddle", "param mode"),
    ("? ba", "ck", "cache.heddle", "write "),
    ("check i < li", "nes", "gpu.heddle", "param lines"),
    ("check ", "i <", "gpu.heddle", "for i"),
    ("std/tl", "b", "tlb.heddle", ""),
    ("via b", "us", "gpu.heddle", "via bus"),
])
def test_definition_is_found_in_all_files(server, gpu, before, after, file, line):
    found = server.ask("textDocument/definition", server.at(gpu, before, after))
    path = found["uri"].removeprefix("file://")
    assert path.endswith("/" + file)
    with open(path, encoding="utf-8") as source:
        assert line in source.read().split("\n")[found["range"]["start"]["line"]]


def test_references_go_over_files_that_are_not_open(server, gpu, tmp_path):
    (tmp_path / "small.heddle").write_text(PLATFORM)
    where = {**server.at(gpu, "    param li", "nes"), "context": {"includeDeclaration": True}}
    found = server.ask("textDocument/references", where)
    files = [one["uri"].rsplit("/", 1)[1] for one in found]
    assert files == ["gpu.heddle"] * 3 + ["small.heddle"]
    where["context"]["includeDeclaration"] = False
    assert len(server.ask("textDocument/references", where)) == 3
    shown = server.ask("textDocument/documentHighlight", server.at(gpu, "    param li", "nes"))
    assert [cut(GPU, one["range"]) for one in shown] == ["lines"] * 3


# ---- rename, fixes, layout, symbols

def test_rename_changes_all_files_and_they_stay_right(server, gpu, tmp_path, heddle):
    platform = tmp_path / "small.heddle"
    platform.write_text(PLATFORM)

    def wrong():
        told = heddle(f"check {platform} --json", status=harness.ANY).stdout
        return [(one["code"], one["line"]) for one in json.loads(told)]

    before = wrong()
    where = server.at(gpu, "    param li", "nes")
    assert server.ask("textDocument/prepareRename", where)["placeholder"] == "lines"
    edit = server.ask("textDocument/rename", {**where, "newName": "rows"})
    assert set(edit["changes"]) == {server.uri(gpu), server.uri(platform)}
    for path in (gpu, platform):
        path.write_text(apply(path.read_text(), edit["changes"][server.uri(path)]))
    assert "lines" not in platform.read_text() + gpu.read_text().replace("Lines", "")
    assert wrong() == before


INSERTING = """\
import "gpu";  import "std/tester";  import "std/dram";

platform inserting {
    clock core = 1GHz;
    tester : tester on core;
    memory : dram on core { size = 1MiB; };
    pair   : pair on core {
        insert extra : cache { size = 1KiB; ways = 2; } at lower.bottom;
        extra.latency = 3cy;
    };
    tester.mem  -> pair.top;
    pair.bottom -> memory.top;
}
"""


def test_inserted_instances_are_hovered_found_and_renamed(server, gpu, tmp_path):
    path = tmp_path / "inserting.heddle"
    path.write_text(INSERTING)
    server.open(path)
    for before, after in ("insert ex", "tra : cache"), ("        ex", "tra.latency"):
        where = server.at(path, before, after)
        shown = server.ask("textDocument/hover", where)["contents"]["value"]
        assert "insert extra : cache" in shown and "Of component `pair`." in shown
        assert len(server.ask("textDocument/references", {
            **where, "context": {"includeDeclaration": True}})) == 2
        edit = server.ask("textDocument/rename", {**where, "newName": "other"})
        changed = apply(INSERTING, edit["changes"][server.uri(path)])
        assert changed == INSERTING.replace("extra", "other")
    hover = server.ask("textDocument/hover", server.at(path, "        extra.la", "tency"))
    assert "param latency" in hover["contents"]["value"]


@pytest.mark.parametrize("before, after, name, says", [
    ("    param li", "nes", "mode", "declared twice"),
    ("    param li", "nes", "4x", "does not begin with a digit"),
    ("{ si", "ze = size; ways = 4; write", "bytes", "not in the workspace"),
    ("lines * 6", "4B", "x", "no name"),
])
def test_rename_says_why_it_is_refused(server, gpu, before, after, name, says):
    where = server.at(gpu, before, after)
    error = server.refused("textDocument/rename", {**where, "newName": name})
    assert says in error["message"]


@pytest.mark.parametrize("wrong, right", [
    ("wais = 4; write", "ways = 4; write"),
    ("ways = 4; wriet", "ways = 4; write"),
    ("lines * 64K", "lines * 64B"),
    ('"std/chache"', '"std/cache"'),
    ("let size = lines * 64B\n", "let size = lines * 64B;\n"),
])
def test_fixes_are_those_of_the_help(server, gpu, wrong, right):
    text = GPU.replace(right, wrong)
    assert text != GPU
    server.change(gpu, text)
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    actions = server.ask("textDocument/codeAction", {
        "textDocument": {"uri": server.uri(gpu)}, "range": everything, "context": {}})
    mended = [apply(text, one["edit"]["changes"][server.uri(gpu)]) for one in actions]
    if wrong == "lines * 64K":
        return  # no unit is near enough: nothing wrong may be offered
    assert GPU in mended


def test_import_of_what_is_declared_elsewhere_is_offered(server, gpu):
    server.change(gpu, GPU.replace('import "std/crossbar";', ""))
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    actions = server.ask("textDocument/codeAction", {
        "textDocument": {"uri": server.uri(gpu)}, "range": everything, "context": {}})
    assert 'import "std/crossbar";' in [one["title"] for one in actions]


def test_layout_is_that_of_fmt_and_keeps_what_is_right(server, tmp_path, heddle):
    path = tmp_path / "loose.heddle"
    text = "component a {\n  param n:int=4;\n    in top : mem(64B);\n}\n// end\n"
    path.write_text(text)
    server.open(path)
    asked = {"textDocument": {"uri": server.uri(path)}, "options": {}}
    edits = server.ask("textDocument/formatting", asked)
    heddle(f"fmt {path}")
    assert apply(text, edits) == path.read_text()
    assert edits[0]["range"]["start"]["line"] >= 1 and edits[0]["range"]["end"]["line"] <= 3
    server.change(path, path.read_text())
    assert server.ask("textDocument/formatting", asked) == []
    server.change(path, "component a {\n  param n:int=;\n")
    error = server.refused("textDocument/formatting", asked)
    assert "line 2" in error["message"] or "line 1" in error["message"]


def test_symbols_are_a_tree(server, gpu):
    found = server.ask("textDocument/documentSymbol", {"textDocument": {"uri": server.uri(gpu)}})
    assert [one["name"] for one in found] == ["pcie", "pair"]
    names = [one["name"] for one in found[1]["children"]]
    assert names == ["lines", "mode", "size", "fast", "top", "bottom", "control", "upper", "lower",
                     "bus", "out_bus"]
    assert found[1]["range"]["end"]["line"] == GPU.count("\n") - 1


# ---- robustness

def test_half_a_text_is_answered_at_every_length(server, gpu):
    """Whatever is missing, there are answers and no crash."""
    for at in range(0, len(GPU), 37):
        server.change(gpu, GPU[:at])
        end = {"textDocument": {"uri": server.uri(gpu)},
               "position": {"line": GPU[:at].count("\n"), "character": 99}}
        for method in ("completion", "hover", "definition", "documentSymbol", "documentHighlight"):
            server.ask("textDocument/" + method, end)
    server.change(gpu, GPU)
    assert server.diagnostics(gpu) == []


def test_messages_that_are_wrong_are_answered_by_json_rpc(tmp_path):
    server = Server()

    def code(message):
        server.raw(message)
        return server.read()["error"]["code"]

    def asked(**more):
        return frame({"jsonrpc": "2.0", "id": 1, **more})

    assert code(asked(method="textDocument/hover", params={})) == -32002
    assert code(asked(method="no/such", params={})) == -32601
    assert code(frame(b"{")) == -32700
    assert code(frame(b"\xff\xfe")) == -32700
    assert code(frame(b"[1]")) == -32600
    assert code(frame(b'"text"')) == -32600
    assert code(frame({"id": 1, "method": "initialize"})) == -32600
    assert code(asked()) == -32600
    assert code(b"Content-Size: 4\r\n\r\n") == -32700
    assert code(b"Content-Length: -4\r\n\r\n") == -32700
    assert code(b"Content-Length: 99999999999\r\n\r\n") == -32600
    server.kill()
    server = Server(tmp_path)
    assert code(asked(method="initialize", params={})) == -32600
    assert code(asked(method="textDocument/hover", params={})) == -32602
    assert code(asked(method="textDocument/hover", params=[1])) == -32602
    assert code(asked(method="textDocument/hover",
                      params={"textDocument": {"uri": "file:///nowhere"}})) == -32602
    server.tell("no/such/notification", {})
    server.tell("textDocument/didChange", {"textDocument": {"uri": "file:///nowhere"}})
    assert server.end() == 0


def test_the_end_of_input_is_the_end():
    server = Server()
    server.process.stdin.close()
    assert server.process.wait(10) == 1  # it was not shut down
    server.process.stdout.close()


# A crash of the checker: the file "crash.heddle" ends whatever process opens it, and "loop.heddle"
# holds it up for ever.
CRASHES = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

FILE *fopen64(const char *name, const char *mode)
{
    FILE *(*real)(const char *, const char *);
    *(void **)&real = dlsym(RTLD_NEXT, "fopen64");
    if (strstr(name, "crash.heddle") != NULL)
        raise(SIGSEGV);
    if (strstr(name, "loop.heddle") != NULL) {
        struct rlimit limit = {1, 1};
        setrlimit(RLIMIT_CPU, &limit); /* so that the test need not wait for the server's */
        for (volatile int i = 0;; i++)
            ;
    }
    return real(name, mode);
}
"""


@pytest.mark.parametrize("name, says", [("crash", "crashed: \"Segmentation fault\""),
                                        ("loop", "CPU time")])
def test_a_crash_of_the_checker_is_an_answer(tmp_path, monkeypatch, name, says):
    crashes, path = tmp_path / "crashes.so", tmp_path / "here.heddle"
    subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-", "-o", str(crashes)], input=CRASHES,
                   text=True, check=True)
    (tmp_path / f"{name}.heddle").write_text("component ghost { }\n")
    monkeypatch.setenv("LD_PRELOAD", str(crashes))
    server = Server(tmp_path)
    monkeypatch.delenv("LD_PRELOAD")
    good = "component fine { param n : int = 1; }\n"
    server.open(path, good)
    assert server.diagnostics(path) == []
    server.change(path, f'import "{name}";\n' + good)
    found, = server.diagnostics(path)
    assert says in found["message"] and found["severity"] == 1
    refused = server.refused("textDocument/hover", server.at(path, "param ", "n"))
    assert refused["code"] == -32603 and "textDocument/hover" in refused["message"] \
        and says in refused["message"]
    server.change(path, good)
    assert server.diagnostics(path) == []
    assert "param n" in server.ask("textDocument/hover",
                                   server.at(path, "param ", "n"))["contents"]["value"]
    assert server.end() == 0


def test_many_changes_do_not_leak(server, gpu):
    def resident():
        with open(f"/proc/{server.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4096

    def strokes(count):
        for i in range(count):
            server.change(gpu, GPU.replace("64 in", f"{64 << i % 4} in"))
            server.ask("textDocument/completion", server.at(gpu, "    top -> upper.", "top"))
            server.diagnostics(gpu) if i % 8 == 0 else None

    strokes(16)
    before = resident()
    strokes(64)
    assert resident() < before + (4 << 20)


def test_answers_come_while_one_types(server):
    """Prints response times, which are not judged here."""
    path = harness.ROOT / "platforms/r9nano_x8_fabric.heddle"
    text = server.open(path)
    server.diagnostics(path)
    times = {}

    def measure(name, action):
        begin = time.perf_counter()
        action()
        times.setdefault(name, []).append(1000 * (time.perf_counter() - begin))

    for i in range(5):
        changed = text + f"// {i}\n"
        begin = time.perf_counter()
        server.change(path, changed)
        server.diagnostics(path)
        times.setdefault("diagnostics", []).append(1000 * (time.perf_counter() - begin))
        end = {"textDocument": {"uri": server.uri(path)}, "position": {"line": 30, "character": 8}}
        measure("completion", lambda: server.ask("textDocument/completion", end))
        measure("hover", lambda: server.ask("textDocument/hover", end))
        measure("definition", lambda: server.ask("textDocument/definition", end))
    for name, values in times.items():
        print(f"{name:12} {statistics.median(values):8.1f} ms")
