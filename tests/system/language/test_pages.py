"""The reference (`heddle doc`) and the page of a platform (`heddle dot --html`): what is in them,
and that nothing stays behind of one that cannot be made."""
import os
import re

import pytest

from harness import heddle

TINY = "platforms/tiny.heddle"
OWN = """/// Who may see it.
enum reach { near, far };

/// Words: a sentence. Another one with `code` | bar.
///
/// A second paragraph.
protocol talk(width: bytes) {
    /// Asks.
    request ask { where: addr; mask: bits[width]; text: bytes[width]; reach: reach; }
    request note { size: u32; flags: bits[12]; body: bytes[32] by size; }
    reply answer for ask { word: u16; }
}
/// Slow.
link line { bandwidth = 3GB/s; latency = 2us; }
/// Guesses.
interface guesser;
/// Always the same: no guess.
part constant : guesser { param value : int in 1 .. 9; check value < 9, "too large"; }
/// Says `it` & <more>. Not in the index.
component speaker {
    behaviour "speaker.c";
    /// How far.
    param scope : reach = far;
    param mode  : enum { a, b } = b;
    param line  : bytes = 64B in 16B .. 1KiB pow2;
    let half = line / 2;
    check line >= 16B ||
          half > 1B, "too | short";
    /// The guess.
    slot guess : guesser;
    in  hears : talk(line) optional;
    out speaks[] : talk(line);
    stat words : counter;
    /// Of all cycles.
    measure utilisation = words of cycles;
}
"""
IMPORTS = 'import "std/dram"; import "std/memory_tester";\n'
MACHINE = """/// Tests memory.
platform machine {
    clock core = 1500MHz;
    tester  : memory_tester on core;
    dram[2] : dram on core { size = 1MiB; };
    space local : dram[*], each 1MiB, interleave 128B;
    tester.mem[*] -> dram[*].top;
    map local;
}
"""
SPEAKER = """# speaker

Says `it` & <more>. Not in the index.

Kind: cache. Declared in `HERE/own.heddle`, line 20; behaviour in `HERE/speaker.c`.

## Ports

| name | direction | protocol | depth | meaning |
| --- | --- | --- | --- | --- |
| `hears` | in, optional | `talk(line)` |  |  |
| `speaks[]` | out | `talk(line)` |  |  |

## Parameters

| name | type | default | range | meaning |
| --- | --- | --- | --- | --- |
| `scope` | reach | `far` |  | How far. |
| `mode` | one of a, b | `b` |  |  |
| `line` | bytes | `64B` | `16B .. 1KiB pow2` |  |
| `half` | int | (derived) |  |  |

## Checks

| must hold | otherwise |
| --- | --- |
| `line >= 16B \\|\\| half > 1B` | too \\| short |

## Parts and slots

| name | what | takes | meaning |
| --- | --- | --- | --- |
| `guess` | slot | `guesser` | The guess. |

## Statistics

| name | kind | meaning |
| --- | --- | --- |
| `words` | counter |  |

## Measures

| name | part | of | meaning |
| --- | --- | --- | --- |
| utilisation | `words` | `cycles` | Of all cycles. |

"""
TALK = """## talk(width)

Words: a sentence. Another one with `code` | bar.

A second paragraph.

### request ask

Asks.

| field | type | bytes | meaning |
| --- | --- | --- | --- |
| `where` | `addr` | 8 |  |
| `mask` | `bits[width]` | width / 8 |  |
| `text` | `bytes[width]` | width |  |
| `reach` | `reach` | 1 |  |

### request note

Not answered.

| field | type | bytes | meaning |
| --- | --- | --- | --- |
| `size` | `u32` | 4 |  |
| `flags` | `bits[12]` | 2 |  |
| `body` | `bytes[32], cut to its length on links` | 32 |  |

### reply answer

Answers `ask`.

| field | type | bytes | meaning |
| --- | --- | --- | --- |
| `word` | `u16` | 2 |  |

"""


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference")
    (folder / "own.heddle").write_text(OWN)
    (folder / "machine.heddle").write_text(IMPORTS + MACHINE)
    heddle(f"doc {folder}/own.heddle {folder}/machine.heddle -o {folder}/made/doc")
    return folder


def page(reference, name):
    return (reference / "made/doc" / name).read_text()


def test_reference_says_what_is_declared(reference):
    assert page(reference, "component-speaker.md") == SPEAKER.replace("HERE", str(reference))
    assert TALK in page(reference, "protocols.md")
    assert "### reach\n\nWho may see it.\n\n`near`, `far`\n\n" in page(reference, "protocols.md")
    assert "\n| `line` | 3GB/s | 2us | Slow. |\n" in page(reference, "links.md")
    parts = page(reference, "parts.md")
    assert "\n- `guesser`: Guesses.\n" in parts
    assert ("## constant\n\nImplements `guesser`.\n\nAlways the same: no guess.\n\n"
            "### Parameters\n\n") in parts
    assert "\n| `value` | int | required | `1 .. 9` |  |\n" in parts


def test_reference_of_a_platform_has_clocks_spaces_and_the_diagram(reference):
    told = page(reference, "platform-machine.md")
    assert "![diagram of platform machine](platform-machine.svg)" in told
    drawn = heddle(f"dot --svg {reference}/machine.heddle").stdout
    assert page(reference, "platform-machine.svg") == drawn
    assert "3 components, 2 connections, 1 partition. " in told
    assert "| `core` | 1500MHz |" in told
    assert "| `local` | 0x0 | 2MiB | 128B |" in told
    assert re.search(r"^\| `top` \| in \| `mem\(line\)` \| \d+ \|",
                     page(reference, "component-dram.md"), re.M), "the depth of an instance"


def test_index_has_first_sentences_and_each_page_both_forms(reference):
    index = page(reference, "index.md")
    assert "\n- [speaker](component-speaker.md): Says `it` & <more>\n" in index
    assert "\n- [machine](platform-machine.md): Tests memory\n" in index
    names = {file.stem for file in (reference / "made/doc").glob("*.md")}
    assert names == {file.stem for file in (reference / "made/doc").glob("*.html")}
    assert {target[:-3] for target in re.findall(r"\]\((.*?)\)", index)} | {"index"} == names
    speaker = page(reference, "component-speaker.html")
    assert "<p>Says <code>it</code> &amp; &lt;more&gt;. Not in the index.</p>" in speaker
    assert "<td><code>line &gt;= 16B || half &gt; 1B</code></td><td>too | short</td>" in speaker


def test_page_of_a_platform_has_parameters_ports_and_parts(tmp_path):
    heddle(f"dot {TINY} --html {tmp_path}/made/page --set gpu.l2=128KiB")
    told = (tmp_path / "made/page/index.html").read_text()
    assert [re.sub(":.*", "", name) for name in re.findall('<section id="(.*?)"', told)] == [
        "v-", "v-gpu", "v-gpu.sa"]
    assert told.count("<svg ") == 3 and "src=" not in told
    l2 = told.partition('<details id="d-gpu.l2:cache">')[2].partition("</details>")[0]
    assert "<strong>l2 ×2</strong>" in l2 and ">cache</span>" in l2
    assert '<td>size</td><td><span class="value">64KiB</span></td><td>' in l2
    assert "<td>translate</td><td>out, optional</td><td>translate</td><td>1</td>" in l2
    assert "<td>replacement</td><td>lru</td><td></td>" in l2
    assert "<td>translation</td><td>none</td><td></td>" in l2
    unit = told.partition('<section id="v-gpu.sa:')[2]
    path = '<a href="#v-:tiny">tiny</a> › <a href="#v-gpu:gcn3_gpu">gpu</a> › sa'
    assert f"<nav>{path}</nav>" in unit
    assert "<td>translation</td><td>tlb_l1</td><td>sets = 1, ways = " in unit


def test_comments_and_folders_need_not_be_utf_8(tmp_path):
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(folder)
    own = (IMPORTS + OWN + MACHINE).encode()
    for was, now in ((b"/// Slow.", b"/// tr\xe8s."), (b"too |", b"\xfc |"),
                     (b"/// How far.", b"/// o\xf9")):
        own = own.replace(was, now)
    with open(folder + b"/own.heddle", "wb") as file:
        file.write(own)
    file, out = os.fsdecode(folder + b"/own.heddle"), tmp_path / "made"
    heddle(f"doc '{file}' -o {out}")
    assert "| `line` | 3GB/s | 2us | tr?s. |" in (out / "links.md").read_text()
    speaker = (out / "component-speaker.md").read_text()
    assert "caf?/own.heddle`" in speaker
    assert "| `scope` | reach | `far` |  | o? |" in speaker and "| ? \\| short |" in speaker
    heddle(f"dot '{file}' --html {out}/page")
    assert '"otherwise": "? | short"' in heddle(f"dump --json --part reference '{file}'").stdout
    assert "caf?/own.heddle:" in heddle(f"params --json '{file}'").stdout


def test_a_file_with_mistakes_leaves_no_page(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.heddle").write_text(f"link {name} {{ latency = 2m; }}\n")
    done = heddle(f"doc {tmp_path}/a.heddle {TINY} {tmp_path}/b.heddle -o {tmp_path}/doc",
                  "a.heddle:1", "b.heddle:1", status=1)
    assert "Traceback" not in done.output and not (tmp_path / "doc").exists()
    heddle(f"dot {tmp_path}/a.heddle --html {tmp_path}/page", "a.heddle:1", status=1)
    assert not (tmp_path / "page").exists()


def test_without_graphviz_the_reference_says_so_and_there_is_no_page(tmp_path):
    empty = {"PATH": str(tmp_path / "empty")}
    heddle(f"doc {TINY} -o {tmp_path}/doc", env=empty)
    told = (tmp_path / "doc/platform-tiny.md").read_text()
    assert "\nNo diagram: cannot lay out the diagram: program 'dot' is not on the PATH" in told
    assert not (tmp_path / "doc/platform-tiny.svg").exists() and "![" not in told
    heddle(f"dot {TINY} --html {tmp_path}/page", "program 'dot' is not on the PATH", status=1,
           env=empty)
    assert not (tmp_path / "page").exists()


def test_pages_that_cannot_be_written_are_named(tmp_path):
    """What is in the way is a folder, which no file replaces."""
    for folder, name in (("doc", "links.md"), ("page", "index.html")):
        (tmp_path / folder / name).mkdir(parents=True)
    heddle(f"doc -o {tmp_path}/doc", f"cannot write '{tmp_path}/doc/links.md'", status=1)
    heddle(f"dot {TINY} --html {tmp_path}/page", f"cannot write '{tmp_path}/page/index.html'",
           status=1)
    left = [file.name for file in (tmp_path / "page").iterdir()]
    assert left == ["index.html"], "a part of the page"
    assert not [file for file in (tmp_path / "doc").iterdir() if file.name.startswith("tmp")]


def test_where_the_reference_goes_is_to_be_said():
    heddle("doc", "heddle doc: say where to write: -o DIR", status=2)
