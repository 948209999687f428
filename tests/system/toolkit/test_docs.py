"""The documents say what is so: built pages, commands, and numbers that can be measured again."""
import json
import os
import re
import sys
from html import unescape
from pathlib import Path

import pytest

from browser import chromium, needs_chromium
from harness import HEDDLE, PROGRAMS, ROOT, call, heddle


def anchors(page):
    """The fragments by which a page's headings are reached."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def dead_links(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        if not re.match("https?:", target) and not (
                file.exists() and (not anchor or anchor in anchors(file))):
            yield f"{page}: {target}"


def test_built_pages_are_whole_and_their_links_lead_somewhere(tmp_path):
    call(["docs/generate.sh", HEDDLE, tmp_path])
    pages = list(tmp_path.rglob("*.md"))
    built = {str(page.relative_to(tmp_path)) for page in pages}
    assert built > {"README.md", "guide/mistakes.md", "reference/cli.md", "reference/errors.md",
                    "reference/hip.md", "reference/library/platform-r9nano.md"}
    assert [link for page in pages for link in dead_links(page)] == []
    assert "](reference/errors.md)" in (tmp_path / "README.md").read_text(encoding="utf-8")
    assert len(re.findall("^1 error$", (tmp_path / "guide/mistakes.md").read_text(), re.M)) == 10


def test_links_of_pages_lead_somewhere():
    listed = call(["git", "ls-files", "*.md", ":!tests/bench/*/page.md"]).stdout.split()
    pages = [ROOT / name for name in listed]
    assert [link for page in pages for link in dead_links(page)] == []


OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?![\w-])")
CODE = re.compile(r"^```.*?^```$|^    .*$|`[^`\n]+`", re.DOTALL | re.MULTILINE)
OF_OTHERS = {"--cache-sim", "--toggle-collect", "--tool", "--trace-children",  # valgrind
             "--backend-ignore-hip", "--force", "--self-test-disable",  # hashcat
             "--gtp", "--precision",  # leela-zero
             "--transfer-bandwidth", "--use-event-timer",  # clpeak
             "--extended-lambda", "--use_fast_math", "--default-stream"}  # nvcc
SCRIPTS = ["dev", "packaging/*.sh", "docs/examples/transformer/transformer.hip.cpp",
           "tests/bench/*.sh", "tests/bench/*.py", "tests/fuzz/*.sh",
           "tests/mutation/*.sh", "tests/opencl/opencl_builtins.c", "tests/opencl/piglit_opencl.py",
           "tests/system/conftest.py", "tests/system/helpers/removals.py"]


def test_options_on_pages_exist():
    """Those of heddle as `heddle help` has them, and those of the scripts that pages start."""
    scripts = call(["git", "ls-files", *SCRIPTS]).stdout.split()
    known = OF_OTHERS.union(
        OPTION.findall(heddle("help --markdown").stdout),
        *(OPTION.findall((ROOT / name).read_text()) for name in scripts))
    pages = call(["git", "ls-files", "*.md", ":!CHANGELOG.md"]).stdout.split()
    unknown = [f"{page}: {option}" for page in pages
               for code in CODE.findall((ROOT / page).read_text(encoding="utf-8"))
               for option in OPTION.findall(code) if option not in known]
    assert unknown == []


def drawn(picture):
    """What a diagram shows, without the places and sizes that a version of Graphviz chooses."""
    shapes = re.findall(r"<(?:polygon|path|ellipse|text|title|g)\b[^>]*>[^<]*", picture)
    return [re.sub(r' (?:points|d|x|y|cx|cy|rx|ry|transform)="[^"]*"', "", shape)
            for shape in shapes]


def test_picture_of_the_readme_is_what_heddle_draws(tmp_path):
    """After a change: heddle dot platforms/r9nano.heddle --svg -o docs/r9nano.svg"""
    heddle(f"dot platforms/r9nano.heddle --svg -o {tmp_path}/r9nano.svg")
    today, committed = tmp_path / "r9nano.svg", ROOT / "docs/r9nano.svg"
    assert drawn(today.read_text()) == drawn(committed.read_text())


# Text and the smallest shape around its beginning, in the fonts of viewers.
IN_BOXES = """<script>
document.body.setAttribute('data-told', JSON.stringify(FONTS.map(function (font) {
  document.querySelectorAll('text').forEach(t => t.style.fontFamily = font);
  var boxes = [...document.querySelectorAll('polygon, path')].map(p => p.getBBox());
  return [...document.querySelectorAll('text')].filter(function (t) {
    var b = t.getBBox(), x = b.x + 1, y = b.y + b.height / 2;
    var around = boxes.filter(p => p.x <= x && x <= p.x + p.width && p.y <= y &&
                                   y <= p.y + p.height);
    return around.length && b.x + b.width > Math.min(...around.map(p => p.x + p.width)) + 0.5;
  }).map(t => t.textContent);
})));
</script>"""


@needs_chromium
def test_text_of_the_picture_fits_its_boxes_in_any_font_of_a_page(tmp_path):
    """Proportional ones, with and without serifs; a viewer need not have the first that is asked
    for. And no text begins with a space, which is not shown."""
    fonts = ["DejaVu Sans", "DejaVu Serif", "Verdana", "Helvetica", "Arial", "sans-serif", "serif"]
    svg = (ROOT / "docs/r9nano.svg").read_text()
    assert svg.count("<text") > 100 and not re.search(r"<text[^>]*> ", svg)
    page = tmp_path / "page.html"
    page.write_text(f"<body>{svg[svg.index('<svg'):]}"
                    + IN_BOXES.replace("FONTS", json.dumps(fonts)) + "</body>")
    shown = chromium(tmp_path, "--dump-dom", f"file://{page}")
    assert json.loads(unescape(re.search('data-told="(.*?)"', shown)[1])) == [[]] * len(fonts)


GENERIC = ROOT / "tests/system/toolkit/generic/heddle"
PLAIN = {"HEDDLE_PLAIN": str(HEDDLE), "HEDDLE_PROGRAMS": str(PROGRAMS)}


def test_commands_of_the_readme_work_in_an_empty_folder(tmp_path, full):
    """Without an error or a warning, with --full also none of a compiler that does its best. As of
    the guide, only that compiles a platform for its parameters."""
    page = Path("README.md").read_text(encoding="utf-8")
    part = re.search(r"^## A platform of your own.*?^The \[guide\]", page, re.M | re.S)[0]
    commands = "".join(re.findall(r"^```\n(.*?)^```$", part, re.M | re.S))
    command = HEDDLE if full else GENERIC
    commands = re.sub("^export PATH=.*", f"export PATH={command.parent}:$PATH", commands,
                      flags=re.M)
    commands = commands.replace("../tests/", f"{ROOT}/tests/")
    assert commands.count("\n") >= 8
    (tmp_path / "commands").write_text(commands)
    done = call(["bash", "-ec", f"cd '{tmp_path}' && . ./commands"], "no errors", "^PASS", "cycles",
                env={**PLAIN, **({"HEDDLE_CFLAGS": ""} if full else {})})
    assert "warning" not in done.output


def printed(text):
    """Its lines without the width of their columns."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def not_printed(shown, text):
    """The first line of a page's block that the command has not printed there, in order; "..."
    stands for anything."""
    rest = iter(printed(text))
    for line in printed(shown):
        pattern = re.escape(line).replace(re.escape("..."), ".*")
        if not any(re.fullmatch(pattern, told) for told in rest):
            return line
    return None


def blocks(page, begin):
    """Blocks of a page, without a language, that begin with this."""
    return re.findall(rf"^```\n({begin}.*?)^```$", Path(page).read_text(encoding="utf-8"),
                      re.M | re.S)


def quotes(page):
    """Quoted paragraphs of a page as plain text."""
    found = re.findall(r"^> (.*?)\n\n", Path(page).read_text(encoding="utf-8"), re.M | re.S)
    return [" ".join(text.replace("\\", "").replace("`", "").split()) for text in found]


def test_description_and_messages_of_the_readme_are_what_is_printed(tmp_path):
    file, readme = tmp_path / "mygpu.heddle", Path("README.md").read_text(encoding="utf-8")
    heddle(f"new platform mygpu -o {tmp_path}")
    shown = re.search("^```heddle\n(.*?)^```$", readme, re.M | re.S)[1]
    assert not_printed(shown, file.read_text()) is None
    race, = blocks("README.md", "heddle: race")
    assert not_printed(race, heddle(f"run {file} --check races -- checks_races lds_barrier wrong",
                                    status=9).output) is None
    misspelt, = blocks("README.md", r"mygpu\.heddle:")
    file.write_text(file.read_text().replace("gpu.host via", "gpu.hots via"))
    told = heddle(f"check {file}", status=1).output.replace(f"{tmp_path}/", "")
    assert not_printed(misspelt, told) is None


def test_figures_of_the_page_on_results_are_what_is_printed(measure, tmp_path):
    """docs/guide/results.md and the README: tables and sentences; without --full only those that
    runs of a second or two print."""
    page = "docs/guide/results.md"
    small, = blocks("README.md", "  slot-cycles")
    assert not_printed(small, heddle("run platforms/r9nano.heddle --report cpi -- matmul_tiled")
                       .output) is None
    done = measure("platforms/r9nano.heddle --report limits -- matmul_tiled 256")
    table, = blocks(page, "matmul_tiled")
    assert not_printed(table, heddle(f"stats {done.stats_file} --report cpi").stdout) is None
    known = json.loads(done.stats_file.read_text())
    del known["fullness"]  # as --report cpi leaves it
    (tmp_path / "cpi.json").write_text(json.dumps(known))
    told = " ".join(printed(heddle(f"stats {tmp_path}/cpi.json --report cpi").stdout + done.output))
    sentences = quotes(page)
    assert len(sentences) == 3
    assert [one for one in sentences if one not in told.replace("`", "")] == []
    profile, = blocks(page, "    offset executions")
    assert not_printed(profile, heddle("run platforms/tiny.heddle --profile instructions -- "
                                       "matmul_tiled 64").output) is None
    command, *answers = blocks(page, r"\$ printf")[0].splitlines()
    words = re.fullmatch(r"\$ (printf .* \| )heddle (.*)", command)
    assert call(["bash", "-c", f"{words[1]}{HEDDLE} {words[2]}"],
                status=1).stdout.splitlines() == answers


@pytest.mark.full
@pytest.mark.parametrize("setting, most", [
    ("gpu.hashed=true", 0.82), ("gpu.banks=32", 0.72), ("gpu.sa.l1v.latency=62cy", 1.0)])
def test_settings_help_as_the_page_on_results_says(measure, setting, most):
    before, after = (measure(f"platforms/r9nano.heddle {words} -- matmul_tiled 256")
                     .stats["kernels"][0]["cycles"] for words in ("", f"--set {setting}"))
    assert most - 0.05 < after / before < most


GUIDE = ["start", "results", "watch", "component", "policy", "coherence", "multi-gpu", "placement",
         "traces-and-sampling", "calibrate"]


def guide_script(pages):
    """The guide's blocks as one script: ```sh is run, a block with a file's name behind its
    language is that file, and others are only to read."""
    page = "".join(Path(f"docs/guide/{name}.md").read_text(encoding="utf-8") for name in pages)
    for kind, name, body in re.findall(r"^```([a-z]*)(?: (\S+))?\n(.*?)^```", page, re.M | re.S):
        if name:
            yield f"mkdir -p $(dirname {name})\ncat > {name} <<'END_OF_FILE'\n{body}END_OF_FILE\n"
        elif kind == "sh":
            yield body


# By the first of the pages.
SMALLER = {"start": {"--evaluations 12": "--evaluations 3", "matmul_tiled 256": "matmul_tiled 96"},
           "sweep": {"gpu.cus=1..5": "gpu.cus=1..2", "points = 20": "points = 6"},
           "transformer": {
               "--shape 15m": "--shape tiny", "768,2048,1,12,12,1024,256": "64,160,1,4,4,256,256",
               "512,1408,1,8,8,512,256": "64,160,1,4,4,256,256", "1048576": "4096",
               "--prompt-tokens 128": "--prompt-tokens 16", "channels=8,16,32": "channels=8,16",
               "gpu.arrays=13,26": "gpu.arrays=2", "10GB/s,20GB/s,40GB/s,80GB/s": "10GB/s"}}


@pytest.mark.first
@pytest.mark.parametrize("pages", [
    pytest.param(GUIDE, id="guide"), pytest.param(["sweep"], id="sweep"),
    pytest.param(["transformer"], id="transformer", marks=pytest.mark.full),
    pytest.param(["whatif"], id="whatif", marks=pytest.mark.full),
    pytest.param(["opencl"], id="opencl", marks=pytest.mark.full),
    pytest.param(["cuda"], id="cuda", marks=pytest.mark.full)])
def test_commands_of_the_guide_work(tmp_path, full, pages):
    """In the order of the pages, in an empty folder; the first that fails ends it. Without --full
    some of them with smaller numbers."""
    script, text = tmp_path / "guide.sh", "".join(guide_script(pages))
    shrunk = not full or pages == ["transformer"]  # whose sweeps take two CPU minutes
    for large, small in (SMALLER.get(pages[0], {}) if shrunk else {}).items():
        assert large in text
        text = text.replace(large, small)
    script.write_text(f"set -euxo pipefail\n{text}")
    command = HEDDLE if full else GENERIC
    call(["bash", "-c", f"cd {tmp_path} && source {script}"],
         env={**PLAIN, "HEDDLE": str(ROOT), "PATH": f"{command.parent}:{os.environ['PATH']}"})


def check_numbers(*command, says, full):
    """A script with its arguments; without --full it is given a `heddle` that compiles less."""
    command = [GENERIC if word == HEDDLE and not full else word for word in command]
    call([sys.executable, *command, *(["--all"] if full else [])], says, seconds=3600, env=PLAIN)


# Each page has a part that is measured always; with --full it is all of it.
def test_numbers_of_the_micro_benchmarks(full):
    check_numbers("tests/bench/micro/run.py", HEDDLE, PROGRAMS / "micro", "--check",
                  "docs/evidence/accuracy.md", says="numbers are those of", full=full)


def test_numbers_of_dispatching(full):
    """What an empty kernel costs, as measured on the card, and what it would cost with ACK and
    NAK."""
    check_numbers("tests/bench/dispatch/run.py", HEDDLE, PROGRAMS / "micro/dispatch", "--check",
                  "docs/evidence/dispatching.md",
                  says=f"{416 if full else 78} numbers simulated, 0 wrong", full=full)


@pytest.mark.full
def test_numbers_of_write_policies(full):
    check_numbers("tests/bench/policies/run.py", HEDDLE, PROGRAMS, "--check",
                  "docs/evidence/write-policies.md", says="numbers are those of", full=full)


@pytest.mark.full
def test_numbers_of_migration_policies(full):
    check_numbers("tests/bench/policies/managed.py", HEDDLE, PROGRAMS, "--check",
                  "docs/evidence/migration-policies.md", says="numbers are those of", full=full)


@pytest.mark.full
def test_numbers_of_packets(full):
    check_numbers("tests/bench/packets/run.py", HEDDLE, "--check", "docs/evidence/packets-cost.md",
                  says="copies simulated, as on the page", full=full)


# Real traces lie outside of the repository.
SASS_DATA = os.environ.get("SASS_DATA", "../shared/data/sass")


@pytest.mark.skipif(not os.path.isdir(ROOT / SASS_DATA),
                    reason=f"no real traces in '{SASS_DATA}'; name their folder with SASS_DATA")
def test_real_traces_beside_another_simulator(full):
    call([sys.executable, "tests/bench/sass/run.py", HEDDLE if full else GENERIC, SASS_DATA,
          "--check", "--page", "docs/evidence/nvidia.md"], "rank correlation", seconds=3600,
         env=PLAIN)
    if full:
        call([sys.executable, "tests/bench/sass/warmup.py", HEDDLE, SASS_DATA, "--page",
              "docs/evidence/warmup.md"], seconds=3600)
