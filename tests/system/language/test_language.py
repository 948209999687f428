"""Descriptions: what is checked in is correct and formatted, and mistakes are named."""
import glob
import json
import os
import re
from pathlib import Path

import harness
import pytest

from harness import HEDDLE, ROOT, call
from programs import only_full, quick_and_full

PLATFORMS = (glob.glob("platforms/*.heddle") + glob.glob("tests/system/platforms/*.heddle")
             + glob.glob("tests/system/platforms/hang/*.heddle"))
LIBRARY = glob.glob("components/*/*/*.heddle")
MAPPED = [Path("platforms"), *Path("docs/examples").iterdir()]  # folders of platforms
NEWCOMERS = "tests/system/language/newcomer/base"
EXAMPLES = glob.glob("docs/examples/*/*.heddle") + glob.glob(f"{NEWCOMERS}/*.heddle")


LARGE = "platforms/pod512.heddle"  # which takes seconds to check


def large_with_full(files):
    return [pytest.param(file, marks=[pytest.mark.full] * (file == LARGE))
            for file in sorted(files)]


@pytest.mark.parametrize("file", large_with_full([*PLATFORMS, *LIBRARY]))
def test_checked_in_description_has_no_errors_or_warnings(heddle, file):
    assert "warning" not in heddle(f"check {file}").output


@pytest.mark.parametrize("name", quick_and_full(
    "tiny mi210 ring4 two_kinds",
    ["apu", "managed4", "node8", "pod64", "r9nano_x4", "r9nano_x8_fabric", "chiplets", "l3"]))
def test_missing_map_is_named_wherever_it_breaks_coherence(heddle, tmp_path, name):
    """Each `map` of GPU memory taken away by itself."""
    file, = (found for folder in MAPPED for found in folder.glob(f"{name}.heddle"))
    text = file.read_text()
    maps = [found for found in re.finditer(r"\bmap ([\w.\[\]*]+);", text)
            if found[1] != "system.local"]
    for found in maps:
        (tmp_path / "p.heddle").write_text(text[:found.start()] + text[found.end():])
        space = re.escape(found[1].replace("[*]", "[0]"))
        heddle(f"check {tmp_path}/p.heddle -I {file.parent} -I docs/examples", "E0507",
               f"help: .* no 'map' says which that is: add 'map {space};'", status=1)
    assert maps


@pytest.mark.parametrize("name", ["tiny", "array"])
def test_newcomers_files_have_no_errors_before_the_mistake(heddle, name):
    heddle(f"check {NEWCOMERS}/{name}.heddle")


def test_descriptions_are_formatted(heddle):
    assert len(PLATFORMS) > 10 and len(LIBRARY) > 30 and len(EXAMPLES) > 5
    heddle(" ".join(["fmt --check", *PLATFORMS, *LIBRARY, *EXAMPLES]))


def test_unknown_parameter_is_named(run):
    run("platforms/tiny.heddle --set gpu.array=2 -- vectoradd", "arrays", status=1)


def test_unknown_option_is_answered_with_the_known_one(run):
    run("platforms/tiny.heddle --stat x -- vectoradd", "stats", status=2)


@pytest.mark.parametrize("setting, text", [
    ("gpu.cp.vgprs=128", "simds, wavefronts, vgprs, sgprs and lds"),
    ("gpu.sa[0].cu[2].lds=32KiB", "needs one 'lds': it is 64KiB of .* and 32KiB of ")])
def test_command_processor_and_compute_units_agree_on_resources(heddle, setting, text):
    heddle(f"check platforms/tiny.heddle --set '{setting}'", text, status=1)


def test_circle_of_interconnects_without_bubble_is_an_error(heddle):
    heddle("check platforms/r9nano_x8_fabric.heddle --set topology=ring"
           " --set gpu.router.bubble=false", "E0506", "circle of 8 interconnects", status=1)


@pytest.mark.parametrize("platform", large_with_full(glob.glob("platforms/*.heddle")))
def test_each_number_of_a_platform_says_what_it_rests_on(heddle, platform):
    """One of five kinds, and a source, which only an assumption need not have. A page counts them;
    UPDATE_RESULTS=1 writes a platform's row anew."""
    rows = [r for r in json.loads(heddle(f"params {platform} --json").stdout) if "basis" in r]
    kinds = ["measured", "published", "derived", "fitted", "assumed"]
    assert [r["parameter"] for r in rows if r["basis"] not in kinds] == []
    assert [r["parameter"] for r in rows if r["basis"] != "assumed" and not r["said_by"]] == []
    assert len(rows) > 50
    counts = [sum(r["basis"] == kind for r in rows) for kind in kinds]
    name, page = Path(platform).stem, ROOT / "docs/evidence/sources.md"
    row = f"| {name} | {len(rows)} | {' | '.join(map(str, counts))} |"
    if os.environ.get("UPDATE_RESULTS"):
        page.write_text(re.sub(rf"(?m)^\| {name} \|.*", row, page.read_text()))
    assert row in page.read_text().splitlines()


def stamped(platform, folder, sets):
    """What runs of a platform have in `stamp`, `settings` of their statistics, from its tables."""
    call([HEDDLE, "gen", platform, *sets.split(), "--generic", "-o", folder])
    tables = (folder / "platform.tables").read_bytes()
    return json.loads(re.search(rb'\{\n      "clock.*?\n    \}', tables, re.DOTALL)[0])


SMALLER = {"pod512": "--set side=3 --set gpus=2", "pod64": "--set nodes=2 --set gpus=2",
           "node8": "--set gpus=2", "mi300x_x8": "--set gpus=2",
           "r9nano_x8_fabric": "--set gpu.arrays=1"}


@pytest.mark.parametrize("name", quick_and_full(
    "tiny r9nano_x4_l2_all mi300a managed4 rtx3070 pod64",
    sorted(Path(file).stem for file in glob.glob("platforms/*"))))
def test_stamp_has_each_parameter_that_params_lists(heddle, tmp_path, name):
    """Those of all levels and links, and each slot; one that has its part from another component,
    or hands it on, is known by the other's name."""
    platform, sets = f"platforms/{name}.heddle", SMALLER.get(name, "")
    stamp = stamped(platform, tmp_path, sets)
    known = {re.sub(r"\[\d+\]", "[*]", key.split()[-1]): value for key, value in stamp.items()}
    known |= {".".join(key.replace("[*]", "").split()[-1].split(".")[-2:]): value
              for key, value in stamp.items() if key.startswith("link ")}  # wires, by their names
    wires = set(re.findall(r"^link (\w+)", (ROOT / platform).read_text(), re.MULTILINE))
    assert {*(f"{wire}.{what}" for wire in wires for what in ("bandwidth", "latency"))} <= {*known}
    for row in json.loads(heddle(f"params {platform} {sets} --json").stdout):
        path = re.sub(r"\[\d+\]", "[*]", row["parameter"])
        owner, _, slot = path.rpartition(".")
        handed = any(key.startswith(owner.rpartition(".")[0]) and key.endswith(f".{slot}")
                     and value == row["value"] for key, value in known.items())
        if row["source"] != "slot" or not (row["value"] == "none" or handed):
            assert path in known
        if "basis" in row and "[" not in row["parameter"] and "..." not in row["value"]:
            assert known[path] == row["value"], path


def test_word_of_a_source_is_checked(heddle, tmp_path):
    """A list of sources shows what the comment of a setting says, and --set what is set."""
    source = heddle("params platforms/r9nano.heddle --sources --set gpu.l2.latency=20cy").stdout
    assert re.search(r"^gpu\.sa.*\.l1v.*\.latency +125cy .* measured +a load that", source, re.M)
    assert re.search(r"^gpu\.l2\[\*\]\.latency +20cy .* override", source, re.M)
    text = (ROOT / "platforms/tiny.heddle").read_text().replace("Measured:", "Mesured:", 1)
    (tmp_path / "tiny.heddle").write_text(text)
    heddle(f"check {tmp_path}/tiny.heddle", "warning: 'Mesured:' is not a kind of source .*W0710")
def test_unknown_part_of_another_file_names_the_import(heddle, tmp_path):
    (tmp_path / "mine.heddle").write_text(
        'import "std/cache";\npart bip : replacement_policy { }\n')
    main = tmp_path / "main.heddle"
    main.write_text('import "std/cache";\nimport "std/driver";\nplatform p { clock k = 1GHz;'
                    ' a : cache on k { replacement = bip; }; b : mmu on k; }\n')
    heddle(f"check {main}", "no part is called 'bip'", 'import "mine";',
           "component is called 'mmu'", 'import "std/mmu";', status=1)


@pytest.mark.parametrize("file", ["platforms/r9nano.heddle", "platforms/managed4.heddle",
                                  "platforms/qv100.heddle"])
def test_each_slot_that_params_lists_is_filled_by_each_part_that_it_names(heddle, file):
    rows = [row for row in json.loads(heddle(f"params {file} --json").stdout)
            if row["source"] == "slot"]
    assert rows and {row["parameter"]: row["value"] for row in rows}
    for row in rows:
        path = row["parameter"].replace("[*]", "")
        needed = {part["part"]: any(not p["default"] for p in part["parameters"])
                  for part in row["takes"]}
        assert row["value"] in needed or row["optional"]
        for part in [*needed, *(["none"] if row["optional"] else [])]:
            if part == row["value"] or needed.get(part):
                continue
            heddle(f"check {file} --set {path}={part}")


def test_warnings_of_the_library_are_shown_to_the_library_only(heddle, tmp_path):
    done = heddle("params platforms/r9nano_x4.heddle --set pcie.latency=10us", "W0703")
    assert "components/network/switch/switch.heddle:19:28: note" in done.stderr
    assert "switch.heddle:19:28: warning" not in done.stderr


@pytest.mark.parametrize("name", ["pipe", "device", "folder", *only_full("large")])
def test_files_that_cannot_be_read_whole_are_refused_unopened(heddle, tmp_path, name):
    """A description, an import and a behaviour; a pipe would wait, a device has no end."""
    file = tmp_path / f"{name}.heddle"
    if name == "pipe":
        os.mkfifo(file)
    elif name == "device":
        file.symlink_to("/dev/zero")
    elif name == "folder":
        file.mkdir()
    else:
        with file.open("wb") as out:
            out.truncate((1 << 30) + 1)
    (tmp_path / "import.heddle").write_text(f'import "{name}"; platform p {{ clock k = 1GHz; }}\n')
    (tmp_path / "behaviour.heddle").write_text(
        f'component c {{ behaviour "{name}.heddle"; }}'
        ' platform p { clock k = 1GHz; c : c on k; }\n')
    for command in (f"check {file}", f"fmt {file}", f"check {tmp_path}/import.heddle",
                    f"build {tmp_path}/behaviour.heddle", f"stats {file}", f"disasm {file}",
                    f"trace check {file}", f"trace stats {file}", f"api-trace check {file}",
                    f"run platforms/rtx3070.heddle --play sass={file}",
                    f"run tests/system/platforms/memtest.heddle --restore {file}"):
        if (name, command.split()[0]) in (("large", "trace"), ("folder", "api-trace")):
            continue  # traces may be large; a folder holds a trace
        if name == "large" and "--play" in command:
            continue
        done = heddle(command, status=harness.FAILS, seconds=20)
        assert re.search("not a (regular )?file|director|larger than|folder|no text|not written by",
                         done.stderr), done.stderr
        assert done.status > 0, "ended by a signal"
